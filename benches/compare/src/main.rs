//! Does what `run.py` asks for on standard input, a line a request, with an answer of one line on
//! standard output:
//!
//! - `open NAME DIRECTORY`: reads the inputs of a workload; `ok` and its tasks.
//! - `run TASK`: calls it; `ok` and how many nanoseconds the call took.
//! - `save TASK DIRECTORY`: calls it, and writes each result to `NAME.npy`; `ok` and the results'
//!   names.
//!
//! What cannot be done is answered with `error` and why. The argument says whose tasks are run:
//! `pointful` or `rust`.

use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use pointful::prelude::*;
use pointful_compare::{By, Failure, Inputs, Task, WORKLOADS};

fn main() -> ExitCode {
    let by = match env::args().nth(1).as_deref() {
        Some("pointful") => By::Pointful,
        Some("rust") => By::Hand,
        _ => {
            eprintln!("`pointful` or `rust` is expected");
            return ExitCode::FAILURE;
        }
    };
    let mut tasks = Vec::new();
    for line in io::stdin().lines() {
        let Ok(line) = line else { break };
        let answer = respond(&mut tasks, by, &line);
        let line = match answer {
            Ok(words) => format!("ok {words}"),
            Err(error) => format!("error {}", error.to_string().replace('\n', " ")),
        };
        println!("{}", line.trim_end());
        if io::stdout().flush().is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

fn respond(tasks: &mut Vec<Task>, by: By, line: &str) -> Result<String, Failure> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["open", name, directory] => {
            let workload = WORKLOADS.iter().find(|workload| workload.name == name);
            let workload = workload.ok_or("there is no such workload")?;
            *tasks = (workload.open)(&Inputs::Directory(directory.into()))?;
            tasks.retain(|task| task.by == by);
            let names: Vec<&str> = tasks.iter().map(|task| task.name).collect();
            Ok(names.join(" "))
        }
        ["run", name] => Ok(find(tasks, name)?.time().as_nanos().to_string()),
        ["save", name, directory] => {
            let task = find(tasks, name)?;
            for (name, numbers) in task.answer() {
                let path = Path::new(directory).join(format!("{name}.npy"));
                let table = Table::<Dyn, f64>::from(numbers);
                table.write_npy(BufWriter::new(File::create(path)?))?;
            }
            Ok(task.results.join(" "))
        }
        _ => Err("not a request".into()),
    }
}

fn find<'a>(tasks: &'a [Task], name: &str) -> Result<&'a Task, Failure> {
    let task = tasks.iter().find(|task| task.name == name);
    Ok(task.ok_or("there is no such task")?)
}

//! A crate of many functions, compiled by rustc in release mode and run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A function, and what compares it with something.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// That of its module.
    pub(crate) name: String,
    /// The module: it has a function `check`.
    pub(crate) text: String,
}

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Agrees,
    Wrong(String),
    /// A message of the language's compiler.
    Refused(String),
    /// A message of rustc's.
    Rejected(String),
    /// The compiler panicked.
    Panics(String),
    Discarded,
}

/// Nobody waits longer for rustc, and for each function of a batch.
const LONGEST: Duration = Duration::from_secs(300);
const LONGEST_FOR_EACH: Duration = Duration::from_secs(15);

/// What rustc makes of a batch.
enum Build {
    Program(PathBuf),
    /// The first error of each module that has one.
    Errors(BTreeMap<String, Outcome>),
    Endless,
}

/// Where batches are compiled.
pub(crate) struct Workshop {
    root: PathBuf,
    target: PathBuf,
}

impl Workshop {
    /// A folder below the workspace's target folder, with this name. The language's compiler has
    /// its own assertions there, or not; functions run on the emulated device, or on the host.
    pub(crate) fn new(name: &str, assertions: bool, device: bool) -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workspace = workspace.canonicalize().expect("the workspace is there");
        let target = workspace.join("target/fuzz");
        let root = target.join(name);
        std::fs::create_dir_all(root.join("src")).expect("a folder can be made");
        let path = workspace.display();
        let (emulated, there) = match device {
            true => (r#", features = ["emulated"]"#, r#", features = ["device"]"#),
            false => ("", ""),
        };
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             pointful = {{ path = \"{path}/pointful\"{emulated} }}\npointful-runtime = {{ path = \"{path}/pointful-runtime\" }}\n\
             pointful-fuzz = {{ path = \"{path}/tests/fuzz\", default-features = false{there} }}\n\n\
             [profile.release]\nlto = \"off\"\n\n[profile.release.build-override]\nopt-level = 1\ndebug-assertions = {assertions}\n"
        );
        write(&root.join("Cargo.toml"), &manifest);
        let lock = workspace.join("Cargo.lock");
        std::fs::copy(lock, root.join("Cargo.lock")).expect("the workspace has a lock file");
        Self {
            target: target.join("target"),
            root,
        }
    }

    /// Compiles the entries, without those that are refused, and runs them.
    pub(crate) fn outcomes(&self, entries: &[Entry]) -> BTreeMap<String, Outcome> {
        let mut outcomes = BTreeMap::new();
        let mut batches: Vec<Vec<&Entry>> = vec![entries.iter().collect()];
        while let Some(mut batch) = batches.pop() {
            self.written(&batch);
            match self.build(batch.len()) {
                Build::Program(program) => self.run(&program, &batch, &mut outcomes),
                Build::Errors(errors) => {
                    let before = batch.len();
                    batch.retain(|entry| !errors.contains_key(&entry.name));
                    assert!(
                        batch.len() < before,
                        "rustc says what belongs to no function: {errors:?}"
                    );
                    outcomes.extend(errors);
                    batches.push(batch);
                }
                Build::Endless if batch.len() > 1 => {
                    batches.push(batch.split_off(batch.len() / 2));
                    batches.push(batch);
                }
                Build::Endless => {
                    let rejected = Outcome::Rejected("rustc takes too long".to_owned());
                    outcomes.insert(batch[0].name.clone(), rejected);
                }
            }
        }
        outcomes
    }

    fn written(&self, entries: &[&Entry]) {
        let mut main = String::from("#![allow(warnings, clippy::all)]\n");
        let mut checks = String::new();
        for entry in entries {
            let name = &entry.name;
            write(&self.root.join(format!("src/{name}.rs")), &entry.text);
            main.push_str(&format!("mod {name};\n"));
            checks.push_str(&format!("        (\"{name}\", {name}::check),\n"));
        }
        main.push_str(&format!(
            "fn main() {{\n    pointful_fuzz::run::all(&[\n{checks}    ]);\n}}\n"
        ));
        write(&self.root.join("src/main.rs"), &main);
    }

    fn build(&self, functions: usize) -> Build {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--release", "--offline", "--message-format=json"])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        let longest = LONGEST + LONGEST_FOR_EACH * functions as u32;
        let Some(output) = output_within(longest, &mut cargo) else {
            return Build::Endless;
        };
        let (mut errors, mut program, mut others) = (BTreeMap::new(), None, Vec::new());
        for line in output.stdout.lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if let Some(path) = message["executable"].as_str() {
                program = Some(PathBuf::from(path));
            }
            let message = &message["message"];
            if message["level"] != "error" {
                continue;
            }
            let text = message["message"].as_str().unwrap_or_default().to_owned();
            let Some(module) = module_of(message) else {
                others.push(text);
                continue;
            };
            let outcome = outcome(message, text);
            let known = errors.entry(module).or_insert_with(|| outcome.clone());
            if matches!(outcome, Outcome::Panics(_)) {
                *known = outcome;
            }
        }
        match program {
            Some(program) if output.status.success() => Build::Program(program),
            _ => {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(!errors.is_empty(), "cargo fails: {said}\n{others:?}");
                Build::Errors(errors)
            }
        }
    }

    fn run(&self, program: &Path, entries: &[&Entry], outcomes: &mut BTreeMap<String, Outcome>) {
        let mut first = 0;
        while first < entries.len() {
            let mut child = Command::new(program)
                .arg(first.to_string())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program runs");
            let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
            let mut begun = None;
            for line in lines.map_while(Result::ok) {
                if let Some(name) = line.strip_prefix("begin ") {
                    begun = Some(name.to_owned());
                    first += 1;
                } else if let Some(name) = begun.take() {
                    let outcome = match line.strip_prefix("wrong ") {
                        Some(why) => Outcome::Wrong(why.to_owned()),
                        None if line == "agrees" => Outcome::Agrees,
                        None => Outcome::Discarded,
                    };
                    outcomes.insert(name, outcome);
                }
            }
            let status = child.wait().expect("it was begun");
            if let Some(name) = begun {
                outcomes.insert(name, Outcome::Wrong(format!("the process ends: {status}")));
            } else if !status.success() && status.code() != Some(3) {
                break;
            }
        }
        let known: BTreeSet<String> = outcomes.keys().cloned().collect();
        for entry in entries.iter().filter(|entry| !known.contains(&entry.name)) {
            outcomes.insert(
                entry.name.clone(),
                Outcome::Wrong("it did not run".to_owned()),
            );
        }
    }
}

/// What a command says, unless it takes longer. Then it ends, and with it what it began.
fn output_within(longest: Duration, command: &mut Command) -> Option<Output> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = (command.stdout(Stdio::piped()).stderr(Stdio::piped()))
        .spawn()
        .expect("the command runs");
    let group = child.id();
    thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let watch = scope.spawn(move || {
            let late = end.recv_timeout(longest) == Err(RecvTimeoutError::Timeout);
            if late {
                let group = format!("-{group}");
                let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
                killed.expect("a process can be ended");
            }
            late
        });
        let output = child.wait_with_output().expect("it was begun");
        drop(ended);
        (!watch.join().expect("it waits")).then_some(output)
    })
}

/// The module in which a message's first place is.
fn module_of(message: &Value) -> Option<String> {
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().filter(|span| span["is_primary"] == true);
    primary.chain(spans).find_map(|span| {
        let file = Path::new(span["file_name"].as_str()?);
        let stem = file.file_stem()?.to_str()?;
        let ours =
            file.parent().is_some_and(|parent| parent.ends_with("src")) && file.is_relative();
        (ours && stem != "main").then(|| stem.to_owned())
    })
}

fn outcome(message: &Value, text: String) -> Outcome {
    let rendered = message["rendered"].as_str().unwrap_or_default();
    if rendered.contains("panicked") || rendered.contains("bug in pointful") {
        Outcome::Panics(rendered.to_owned())
    } else if message["code"].is_null() {
        Outcome::Refused(text)
    } else {
        Outcome::Rejected(text)
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file can be written");
}

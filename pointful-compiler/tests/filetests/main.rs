//! Runs the files in `tests/filetests/<command>/` at the root of the workspace: see [`file`] for
//! their format, [`commands`] for what there is, and [`runs`] for how programs are run.
//!
//! `BLESS=1` writes down what the commands give, after the first section of each file; `run` lines
//! are never rewritten. `FILETEST=word` runs only the files whose path contains that word.

mod commands;
mod diff;
mod file;
mod runs;
mod stages;
mod value;

use std::path::{Path, PathBuf};
use std::{env, fs};

use commands::{COMMANDS, Command};
use file::File;

#[test]
fn filetests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests");
    let filter = env::var("FILETEST").unwrap_or_default();
    let bless = env::var_os("BLESS").is_some_and(|value| value == "1");
    let (mut run, mut failures) = (0, Vec::new());
    for directory in entries(&root) {
        let name = file_name(&directory);
        let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
            failures.push(format!("{name}: no command is called so"));
            continue;
        };
        for path in entries(&directory) {
            let shown = format!("tests/filetests/{name}/{}", file_name(&path));
            if !shown.contains(&filter) {
                continue;
            }
            run += 1;
            if let Err(message) = check(command, &path, bless) {
                failures.push(format!("{shown}: {message}"));
            }
        }
    }
    assert!(run > 0, "no file matches");
    assert!(
        failures.is_empty(),
        "{} of {run} files fail:\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

/// What is in a directory, in the order of names.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Runs one file.
fn check(command: &Command, path: &Path, bless: bool) -> Result<(), String> {
    if path.extension().is_none_or(|extension| extension != "pt") {
        return Err("expected a file that ends in `.pt`".into());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file = File::parse(&text)?;
    if file.command != command.name {
        return Err(format!(
            "line 1: `test {}` belongs into another directory",
            file.command
        ));
    }
    let given = (command.run)(&file)?;
    runs::check(&file, &given)?;
    let now = file.with(&given).to_string();
    if now == text {
        return Ok(());
    }
    if bless {
        return fs::write(path, now).map_err(|error| error.to_string());
    }
    Err(format!(
        "not as written down; if this is right, run again with BLESS=1\n{}",
        diff::diff(&text, &now)
    ))
}

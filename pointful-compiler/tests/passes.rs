//! Every program of the filetests goes through all passes, and is valid after each.

use std::fs;
use std::path::Path;

use pointful_compiler::ir::stages::point::Point;
use pointful_compiler::ir::{Program, Verify, parse, print, verify};
use pointful_compiler::passes::{bulk, cse, dce, simplify};

/// The Point programs in the filetests: every section `point` of every file.
fn corpus() -> Vec<(String, Program<Point>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests");
    let mut files: Vec<_> = fs::read_dir(root)
        .expect("the filetests are there")
        .map(|directory| directory.expect("a readable directory").path())
        .filter(|directory| !directory.ends_with("verify"))
        .flat_map(|directory| fs::read_dir(directory).expect("a readable directory"))
        .map(|file| file.expect("a readable file").path())
        .collect();
    files.sort();
    let mut programs = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable file");
        for section in text.split("---- ").skip(1) {
            let Some(program) = section.strip_prefix("point\n") else {
                continue;
            };
            let name = format!(
                "{}: {}",
                file.display(),
                program.lines().next().unwrap_or("")
            );
            programs.push((
                name,
                parse(program).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
            ));
        }
    }
    assert!(programs.len() > 20, "too few programs are found");
    programs
}

fn check<S: Verify>(name: &str, pass: &str, program: Program<S>) -> Program<S> {
    if let Err(error) = verify(&program) {
        panic!("{name}\nafter {pass}: {error}\n{}", print(&program));
    }
    program
}

#[test]
fn every_pass_keeps_programs_valid() {
    for (name, program) in corpus() {
        check(&name, "bulk", bulk(&program));
        let program = check(&name, "cse", cse(&program));
        let program = check(&name, "simplify", simplify(&program));
        let program = check(&name, "dce", dce(&program));
        let program = check(&name, "bulk", bulk(&program));
        let program = check(&name, "simplify", simplify(&program));
        let program = check(&name, "cse", cse(&program));
        let program = check(&name, "simplify", simplify(&program));
        check(&name, "dce", dce(&program));
    }
}

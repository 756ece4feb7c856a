//! Rank polymorphism: what is applied cell by cell becomes the loops that one would have written,
//! and nothing replicated is stored.
//!
//! `programs.txt` has, for each program, what it is, its source and its loops; `BLESS=1` writes the
//! loops anew. Of each the derivatives are checked, and that all stages give the same.

use std::fmt::Write;
use std::{env, fs};

use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use pointful_compiler::testing::skeleton;
use pointful_compiler::testing::source::{check_source, check_stages};

/// A program of the file.
struct Case {
    name: String,
    source: String,
    loops: String,
}

fn path() -> String {
    format!("{}/tests/frames/programs.txt", env!("CARGO_MANIFEST_DIR"))
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(path()).expect("the programs are there");
    let cases: Vec<Case> = text
        .split("---- ")
        .skip(1)
        .map(|part| {
            let (name, rest) = part.split_once('\n').expect("a name");
            let (source, loops) = rest.split_once("====\n").expect("a source, then its loops");
            Case {
                name: name.to_owned(),
                source: source.to_owned(),
                loops: loops.trim_end().to_owned(),
            }
        })
        .collect();
    assert!(cases.len() >= 25, "too few programs are found");
    cases
}

fn loops(source: &str) -> String {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    skeleton(&stages.kernels).trim_end().to_owned()
}

#[test]
fn cells_become_loops() {
    let mut blessed = String::new();
    let mut changed = Vec::new();
    for case in cases() {
        let found = loops(&case.source);
        if found != case.loops {
            changed.push(format!("{}:\n{}\nis now\n{found}\n", case.name, case.loops));
        }
        let Case { name, source, .. } = case;
        write!(blessed, "---- {name}\n{source}====\n{found}\n\n").expect("a string grows");
    }
    if env::var_os("BLESS").is_some() {
        fs::write(path(), blessed).expect("the programs are written");
    } else {
        assert!(changed.is_empty(), "{}", changed.join("\n"));
    }
}

#[test]
fn cells_have_derivatives() {
    for case in cases() {
        // A function of no floats has none.
        if !case.name.ends_with("(no derivative)") {
            check_source(&case.source);
        }
        check_stages(&case.source);
    }
}

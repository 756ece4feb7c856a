//! Who may see whom: the IR, its operations and the passes know nothing of tokens; the parser knows
//! nothing of programs.

use std::path::{Path, PathBuf};

/// What writes tokens.
const PRINTERS: [&str; 2] = ["targets/cpu/rust", "targets/gpu/cuda"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The lines of the sources below `src/<part>` that name one of `words`.
fn naming(part: &str, words: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(part),
        &mut files,
    );
    if !PRINTERS.contains(&part) {
        files.retain(|file| {
            let folder = file.parent().expect("a file stands in a folder");
            !PRINTERS.iter().any(|printer| folder.ends_with(printer))
        });
    }
    assert!(!files.is_empty(), "`{part}` has no sources");
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the source can be read");
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                lines.push(format!("{}:{}: {line}", file.display(), number + 1));
            }
        }
    }
    lines
}

#[test]
fn programs_know_nothing_of_tokens() {
    for part in [
        "ir",
        "ops",
        "eval",
        "analysis",
        "canonicalize",
        "expand",
        "differentiate",
        "contract",
        "targets",
    ] {
        assert_eq!(
            naming(part, &["syn::", "quote::", "proc_macro2::"]),
            Vec::<String>::new()
        );
    }
}

#[test]
fn the_parser_knows_nothing_of_programs() {
    let words = [
        "crate::ir::Program",
        "crate::analysis",
        "crate::canonicalize",
        "crate::expand",
        "crate::differentiate",
        "crate::contract",
        "crate::targets",
        "crate::lower",
    ];
    assert_eq!(naming("syntax", &words), Vec::<String>::new());
}

#[test]
fn printers_decide_nothing() {
    let passes = ["cpu", "gpu"].into_iter().flat_map(|target| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/targets");
        let entries = std::fs::read_dir(folder.join(target)).expect("the folder is there");
        entries
            .map(|entry| entry.expect("its entries can be read").path())
            .filter(|path| {
                let is_pass = !["mod", "missing"].contains(&name(path));
                is_pass && !PRINTERS.iter().any(|printer| path.ends_with(printer))
            })
            .map(move |path| format!("use crate::targets::{target}::{}", name(&path)))
    });
    let others = [
        "canonicalize",
        "expand",
        "differentiate",
        "contract",
        "explain",
    ];
    let others = others.map(|part| format!("use crate::{part}"));
    let words: Vec<String> = passes.chain(others).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(words.len() > 15, "passes are not found: {words:?}");
    assert!(words.contains(&"use crate::targets::gpu::map"), "{words:?}");
    for printer in PRINTERS {
        assert_eq!(naming(printer, &words), Vec::<String>::new());
    }
}

/// What a file or a folder is called, without an extension.
fn name(path: &Path) -> &str {
    let name = path.file_stem().and_then(|name| name.to_str());
    name.expect("a file has a name")
}

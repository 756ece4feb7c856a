//! Who may see whom: the IR, its operations and the passes know nothing of tokens; the parser knows
//! nothing of programs.

use std::path::{Path, PathBuf};

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
        "crate::emit",
        "crate::lower",
    ];
    assert_eq!(naming("syntax", &words), Vec::<String>::new());
}

#[test]
fn the_printer_decides_nothing() {
    let words = [
        "use crate::canonicalize",
        "use crate::expand",
        "use crate::differentiate",
        "use crate::contract",
        "use crate::targets",
        "use crate::explain",
    ];
    assert_eq!(naming("emit", &words), Vec::<String>::new());
}

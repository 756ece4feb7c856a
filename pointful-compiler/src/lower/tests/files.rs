//! The programs in `tests/filetests/lower`: source text and the Point program it becomes.
//! `BLESS=1` rewrites the program.

use std::fs;
use std::path::PathBuf;

use super::point;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests/lower")
}

#[test]
fn every_source_becomes_its_program() {
    let mut files: Vec<PathBuf> = fs::read_dir(directory())
        .expect("the directory of filetests")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 60, "{} files", files.len());
    let mut failed = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable file");
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let rest = text.strip_prefix("test lower\n---- source\n");
        let (source, want) = rest
            .and_then(|rest| rest.split_once("---- point\n"))
            .unwrap_or_else(|| panic!("{name}: sections `source` and `point` are missing"));
        let found = point(source);
        if found.trim_end() == want.trim_end() {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            let text = format!(
                "test lower\n---- source\n{source}---- point\n{}\n",
                found.trim_end()
            );
            fs::write(&path, text).expect("a writable file");
        } else {
            failed.push(format!("{name}: found\n{found}\nwant\n{want}"));
        }
    }
    assert!(
        failed.is_empty(),
        "{}\nBLESS=1 rewrites them",
        failed.join("\n")
    );
}

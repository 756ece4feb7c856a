//! Whatever is written, there is a program or an error: the golden sources with single tokens left
//! out, doubled or replaced.

use std::fs;
use std::path::PathBuf;

use proc_macro2::TokenStream;

use super::lower_source;
use crate::testing::tokens::{Change, changed, flat};

#[test]
fn every_change_gives_a_valid_program_or_an_error() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests/lower");
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the directory of golden sources")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let sources: Vec<TokenStream> = files
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).expect("a readable file");
            let (source, _) = text.split_once("---- point").expect("a section `point`");
            let (_, source) = source
                .split_once("---- source")
                .expect("a section `source`");
            source.parse().expect("tokens")
        })
        .collect();
    let mut words = Vec::new();
    sources.iter().for_each(|s| flat(s.clone(), &mut words));
    let (mut tried, mut valid) = (0, 0);
    // A prime step visits other tokens and other words in every file.
    for (k, source) in sources.iter().enumerate() {
        let mut own = Vec::new();
        flat(source.clone(), &mut own);
        for at in (k % 7..own.len()).step_by(7) {
            let word = &words[(at * 7919 + k * 104_729) % words.len()];
            for change in [
                Change::LeaveOut,
                Change::Double,
                Change::Replace(word.clone()),
            ] {
                let text = changed(source.clone(), &mut { at }, &change).to_string();
                if syn::parse_str::<syn::File>(&text).is_err() {
                    continue;
                }
                tried += 1;
                match lower_source(&text) {
                    Ok(lowered) => {
                        valid += 1;
                        if let Err(error) = crate::ir::verify(&lowered.program) {
                            panic!("{text}\n{}", error.message);
                        }
                    }
                    Err(errors) => {
                        assert!(!errors.is_empty(), "{text}");
                        let bug = errors.iter().find(|e| e.message.contains("bug"));
                        assert!(bug.is_none(), "{text}\n{}", super::rendered(&errors));
                    }
                }
            }
        }
    }
    assert!(tried > 300 && valid > 50, "{tried} tried, {valid} valid");
}

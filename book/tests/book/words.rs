//! Every word of the language occurs in a program of the book.

use pointful_compiler::testing::{Place, words};

use crate::markdown::chapters;

/// Whether a word occurs at such a place in a program.
fn occurs(program: &str, place: Place, word: &str) -> bool {
    let mut rest = program;
    while let Some(at) = rest.find(word) {
        let start = program.len() - rest.len() + at;
        let before = &program[..start];
        rest = &rest[at + word.len()..];
        let whole = !before.ends_with(is_part) && !rest.starts_with(is_part);
        let fits = match place {
            Place::Function => rest.starts_with('(') && !before.ends_with(['.', ':']),
            Place::Method => rest.starts_with('(') && before.ends_with('.'),
            Place::Accumulator => rest.starts_with('(') && before.ends_with("Accum::"),
            Place::Type => true,
            Place::Macro => rest.starts_with('!') || before.ends_with("#["),
            Place::Option => before.ends_with('(') || before.ends_with(", "),
            Place::Attribute => before.ends_with("#["),
        };
        if whole && fits {
            return true;
        }
    }
    false
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn every_word_occurs_in_a_program() {
    let programs: Vec<String> = chapters()
        .into_iter()
        .flat_map(|chapter| chapter.programs)
        .collect();
    // `Self` is a keyword, so that no type has its name; bodies have no use for it.
    let missing: Vec<_> = words()
        .into_iter()
        .filter(|word| *word != (Place::Type, "Self"))
        .filter(|(place, word)| !programs.iter().any(|text| occurs(text, *place, word)))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn words_are_told_from_parts_of_others() {
    assert!(occurs("let y = sum(x);", Place::Function, "sum"));
    assert!(!occurs("let y = cumsum(x);", Place::Function, "sum"));
    assert!(!occurs("x.max(y)", Place::Function, "max"));
    assert!(occurs("x.exp().exp_m1()", Place::Method, "exp_m1"));
    assert!(!occurs("x.exp_m1()", Place::Method, "exp"));
    assert!(occurs("#[checkpoint(every = 3)]", Place::Option, "every"));
}

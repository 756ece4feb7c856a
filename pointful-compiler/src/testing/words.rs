//! All words of the language, from the tables that the compiler reads: for tests that ask of each
//! whether something is said about it.

use crate::lower;
use crate::syntax::names::{OWN_MACROS, TYPES, WORDS};
use crate::syntax::parse::{
    ADAPTORS, CHECKPOINTS, CONSTANT, FLAGS, LOOP_ATTRIBUTES, RULES, TRANSFORMS,
};

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// `sum(…)`
    Function,
    /// `x.sin()`, `N.rev()`
    Method,
    /// `Accum::zero()`
    Accumulator,
    /// `Table`
    Type,
    /// `grad!(f)`, `define! { … }`, and `#[pointful]` with them
    Macro,
    /// `#[pointful(remat)]`, `#[checkpoint(every = 8)]`
    Option,
    /// `#[checkpoint]`, `#[constant]`
    Attribute,
}

/// Every word, with where it stands.
pub fn words() -> Vec<(Place, &'static str)> {
    let at = |place| move |word| (place, word);
    let mut all: Vec<(Place, &'static str)> = Vec::new();
    all.extend(WORDS.map(at(Place::Function)));
    all.extend(lower::methods().map(at(Place::Method)));
    all.extend(ADAPTORS.map(at(Place::Method)));
    all.extend(lower::accumulators().map(at(Place::Accumulator)));
    all.extend(TYPES.map(at(Place::Type)));
    all.extend(TRANSFORMS.map(at(Place::Macro)));
    all.extend(OWN_MACROS.map(at(Place::Macro)));
    all.extend(RULES.map(at(Place::Option)));
    all.extend(FLAGS.map(at(Place::Option)));
    all.extend(CHECKPOINTS.map(|(word, _)| (Place::Option, word)));
    all.extend(LOOP_ATTRIBUTES.map(|(word, _)| (Place::Attribute, word)));
    all.push((Place::Attribute, CONSTANT));
    all
}

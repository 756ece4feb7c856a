//! What devices cannot do yet.

use std::fmt;

/// What of a program devices cannot do yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// It calls a function that it knows nothing of.
    Call,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "functions that are no `#[pointful]` functions run on the host only",
        })
    }
}

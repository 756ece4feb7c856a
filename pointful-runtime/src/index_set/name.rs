//! The name of an index set in messages.

use std::fmt;
use std::marker::PhantomData;

use crate::extent::OfSet;

/// Writes the type's name without the paths in front of it: `(Row, Fin<3>)`.
///
/// `std::any::type_name` promises nothing but a text for people, which is all it is used for.
pub(crate) struct SetName<I>(OfSet<I>);

impl<I> SetName<I> {
    pub(crate) fn new() -> Self {
        SetName(PhantomData)
    }
}

impl<I> fmt::Display for SetName<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_paths(std::any::type_name::<I>()))
    }
}

/// Keeps of every path its last segment.
fn without_paths(full: &str) -> String {
    let in_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::with_capacity(full.len());
    let mut rest = full;
    while !rest.is_empty() {
        let end = rest.find(|c| !in_path(c)).unwrap_or(rest.len());
        let (path, after) = rest.split_at(end);
        short.push_str(path.rsplit("::").next().unwrap_or(path));
        let next = after.find(in_path).unwrap_or(after.len());
        short.push_str(&after[..next]);
        rest = &after[next..];
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_dropped_and_nothing_else() {
        for (full, short) in [
            ("usize", "usize"),
            ("a::b::Row", "Row"),
            ("(a::Row, b::c_d::Fin<3>)", "(Row, Fin<3>)"),
            (
                "a::Either<(x::Row, y::Col), bool>",
                "Either<(Row, Col), bool>",
            ),
            ("()", "()"),
        ] {
            assert_eq!(without_paths(full), short);
        }
    }
}

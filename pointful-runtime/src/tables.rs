//! Tables of structs.

use crate::index_set::IndexSet;

/// Structs of which there are tables: `#[pointful]` implements it for those whose fields can all be
/// elements or rows.
#[diagnostic::on_unimplemented(
    message = "there are no tables of `{Self}`",
    label = "not a struct marked `#[pointful]`, or one with a field of which there are no tables"
)]
pub trait Columns<I: IndexSet> {
    /// The struct with a table for each field.
    type Tables;
}

/// A table of structs marked `#[pointful]`, as it is outside of bodies: a struct with the same
/// fields, each a table with `I` as its first axis.
pub type Tables<I, S> = <S as Columns<I>>::Tables;

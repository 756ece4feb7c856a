//! Messages of `#[derive(IndexSet)]`.

use proc_macro2::Span;

use super::Diagnostic;

/// `struct Pixel<T>(usize);`
pub fn generic_index_set(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a derived index set has no generic parameters")
        .help("combine sets where they are used: `(Row, Col)`, `Either<Row, Col>`")
}

/// `#[derive(IndexSet)] struct Pixel(usize);`
pub fn index_set_not_copy(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an index set is `Copy`").help("write `#[derive(Clone, Copy, IndexSet)]`")
}

/// `union U { … }`
pub fn union_index_set(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a union cannot be an index set").help(KINDS)
}

/// `struct Pixel;`
pub fn unit_struct_index_set(span: Span) -> Diagnostic {
    Diagnostic::new(span, "an index set is a struct with fields or an enum").help(KINDS)
}

/// `struct Cell {}`
pub fn index_set_without_parts(span: Span) -> Diagnostic {
    Diagnostic::new(span, "a product of index sets has at least one part").help(KINDS)
}

/// `struct Pixel(usize, usize);`
pub fn unnamed_parts(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "a set whose members are numbered has one field, its `usize`",
    )
    .help("a product names its parts: `struct Cell { row: Row, col: Col }`")
}

/// `struct Pixel(u32);`
pub fn ordinal_not_usize(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the number of a member is a `usize`, not `{found}`"),
    )
    .help("a product names its parts, even a single one: `struct Cell { row: Row }`")
}

/// `struct Pixel { id: usize }`
pub fn named_number(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        "a set whose members are numbered has one field without a name",
    )
    .help(format!("write `struct {name}(usize);`"))
}

/// `struct Cell { row: Row, col: usize }`
pub fn number_as_part(span: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{found}` is no index set, of which a product's parts are"),
    )
    .help("give the part a set of its own: `#[derive(Clone, Copy, IndexSet)] struct Col(usize);`, and `col: Col`")
}

/// A struct of more named parts than a tuple of index sets may have.
pub fn too_many_parts(span: Span, most: usize) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("a product of index sets has at most {most} parts"),
    )
    .help("make some of them a product of their own")
}

/// `enum Channel { R(u8) }`
pub fn variant_with_fields(span: Span, variant: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{variant}` has fields, but every variant of an index set is one member"),
    )
    .help("the disjoint union of two sets is `Either<A, B>`")
}

const KINDS: &str = "an index set is `struct Pixel(usize);`, `enum Channel { R, G, B }` or `struct Cell { row: Row, col: Col }`";

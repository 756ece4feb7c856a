//! The procedural macros of pointful.

use proc_macro::TokenStream;

/// Makes a type an index set: `struct Pixel(usize);` one whose size is known at run time, `enum Channel { R, G, B }` one of
/// named members, `struct Cell { row: Row, col: Col }` the product of its parts' sets.
///
/// The type must be `Copy`: `#[derive(Clone, Copy, IndexSet)]`. Members of the set may be elements of tables as well.
#[proc_macro_derive(IndexSet)]
pub fn derive_index_set(input: TokenStream) -> TokenStream {
    pointful_compiler::derive::index_set(input.into()).into()
}

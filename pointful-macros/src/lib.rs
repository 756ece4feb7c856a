//! The procedural macros of pointful.

use proc_macro::TokenStream;

/// Compiles a function of the language: its signature is kept, its body becomes fused parallel code.
///
/// Before a struct or a type alias: lets annotated functions use it.
#[proc_macro_attribute]
pub fn pointful(options: TokenStream, item: TokenStream) -> TokenStream {
    pointful_compiler::driver::pointful(options.into(), item.into(), &place()).into()
}

/// The stages of an annotated function as a `&'static str`: what was written, the arrays it means, the kernels that run.
///
/// ```ignore
/// println!("{}", explain!(matmul));
/// ```
#[proc_macro]
pub fn explain(path: TokenStream) -> TokenStream {
    pointful_compiler::driver::explain(path.into()).into()
}

/// Goes on with linking; for expansions only.
#[doc(hidden)]
#[proc_macro]
pub fn link(request: TokenStream) -> TokenStream {
    pointful_compiler::driver::link(request.into()).into()
}

/// Makes a type an index set: `struct Pixel(usize);` one whose size is known at run time, `enum Channel { R, G, B }` one of
/// named members, `struct Cell { row: Row, col: Col }` the product of its parts' sets.
///
/// The type must be `Copy`: `#[derive(Clone, Copy, IndexSet)]`. Members of the set may be elements of tables as well.
#[proc_macro_derive(IndexSet)]
pub fn derive_index_set(input: TokenStream) -> TokenStream {
    pointful_compiler::driver::derive_index_set(input.into(), &place()).into()
}

/// Where the macro was called, which tells equal items apart.
fn place() -> String {
    let span = proc_macro::Span::call_site();
    format!("{}:{}:{}", span.file(), span.line(), span.column())
}

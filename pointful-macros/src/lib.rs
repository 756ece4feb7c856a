//! The procedural macros of pointful: tokens in, [`pointful_compiler`], tokens out.

mod name;

use pointful_compiler::driver::{self, Options};
use proc_macro::{Span, TokenStream};

use self::name::emitted;

/// What expansions are asked for in this build.
const OPTIONS: Options = Options {
    devices: cfg!(feature = "device"),
};

/// Compiles a function of arrays, or lets a struct or a type alias be named by such functions.
///
/// The options are `vjp = path` and `jvp = path`, the author's own derivatives, `remat`,
/// `associative`, which answers for the operators of the function, and `extern`, whose body is any
/// Rust.
#[proc_macro_attribute]
pub fn pointful(args: TokenStream, item: TokenStream) -> TokenStream {
    emitted(driver::attribute(
        args.into(),
        item.into(),
        &site(),
        OPTIONS,
    ))
}

/// Makes a type an index set: `struct Pixel(usize);` one whose size is known at run time,
/// `enum Channel { R, G, B }` one of named members, `struct Cell { row: Row, col: Col }` the
/// product of its parts' sets.
///
/// The type must be `Copy`: `#[derive(Clone, Copy, IndexSet)]`. Members of the set may be elements
/// of tables as well.
#[proc_macro_derive(IndexSet)]
pub fn derive_index_set(input: TokenStream) -> TokenStream {
    emitted(driver::index_set(input.into(), &site()))
}

/// Names transformed functions: `define! { pub fn loss_grad = grad!(loss, wrt = w); }`.
///
/// What it defines is a function like those marked `#[pointful]`: it can be called from their
/// bodies, transformed again and used from other modules and crates. Attributes and a visibility
/// may stand in front, and any number of definitions after each other.
#[proc_macro]
pub fn define(definitions: TokenStream) -> TokenStream {
    emitted(driver::define(definitions.into(), &site(), OPTIONS))
}

/// What becomes of a function or of a transformation of one, as text: its kernels, its memory, and
/// its program at each stage.
///
/// Of a kernel it says what it costs, as formulas of the extents: operations on numbers that are no
/// indices, an elementary function being one, and the bytes of the tables that it reads or writes.
/// Of a branch both sides count, of a `while` one round.
///
/// On memory it lists every buffer that is allocated, with its purpose and its bytes as a formula
/// of the extents, and says of each sequential loop of a derivative what it keeps for its way back:
/// what its steps are not linear in, or less of it under `#[checkpoint]`.
///
/// ```text
/// memory: 8·N·T + 32·N bytes
///   the loop at 4:5 keeps 8·N·T bytes for its way back
///   …
/// ```
///
/// It takes a path, `explain!(f)`, or a transformation, `explain!(grad!(f))`.
#[proc_macro]
pub fn explain(path: TokenStream) -> TokenStream {
    emitted(driver::explain(path.into()))
}

/// The step after a companion's answer; only expansions name it.
#[doc(hidden)]
#[proc_macro]
pub fn __link(tokens: TokenStream) -> TokenStream {
    emitted(driver::linked(tokens.into(), OPTIONS))
}

/// Where the expansion's call stands, which tells items of the same name apart.
fn site() -> String {
    let span = Span::call_site();
    format!("{}:{}:{}", span.file(), span.line(), span.column())
}

macro_rules! transformations {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #[proc_macro]
            pub fn $name(args: TokenStream) -> TokenStream {
                emitted(driver::transform(stringify!($name), args.into(), OPTIONS))
            }
        )*
    };
}

transformations! {
    /// The gradient of a function with a scalar result.
    grad
    /// The value and the gradient.
    value_and_grad
    /// The value and the cotangents of the parameters, given that of the result.
    vjp
    /// The value and the tangent of the result, given those of the parameters.
    jvp
    /// The value and the derivative as a linear map.
    linearize
    /// The matrix of first derivatives.
    jacobian
    /// The matrix of second derivatives.
    hessian
    /// The product of the Hessian and a vector.
    hvp
    /// The function along one more axis.
    vmap
    /// The function, with parameters that disagree on the size of an index set as an `Err` rather
    /// than a panic.
    try_call
}

//! Messages about transformations.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;

use super::Diagnostic;

/// A gradient of something that is not one float.
pub fn not_scalar(span: Span, transform: &str, of: &str, result: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{transform}!` needs a function that gives one float, and `{of}` gives {result}"),
    )
    .help("`vjp!` takes a cotangent for any result, `jacobian!` gives all derivatives")
}

/// A derivative of a function whose result has none.
pub fn no_float_result(span: Span, transform: &str, of: &str, result: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{transform}!` has nothing to differentiate: `{of}` gives {result}"),
    )
    .help("only floats have derivatives")
}

/// A derivative of a function without a parameter that has one.
pub fn nothing_to_differentiate(span: Span, of: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{of}` has no parameter that can be differentiated"),
    )
    .help("a parameter can if it holds floats and is not marked `#[constant]`")
}

/// A name in `wrt` or `over` that is none of the parameters.
pub fn no_parameter(span: Span, of: &str, name: &str, known: &[String]) -> Diagnostic {
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let help = if known.is_empty() {
        "only parameters of `#[pointful]` functions and of closures have names here".into()
    } else {
        format!("its parameters are {}", known.join(", "))
    };
    Diagnostic::new(span, format!("`{of}` has no parameter `{name}`")).help(help)
}

/// A name in `wrt` or `over` that is there already.
pub fn named_twice(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(span, format!("the parameter `{name}` is named twice"))
}

/// A parameter in `wrt` that has no derivative.
pub fn not_differentiable(span: Span, name: &str, why: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the parameter `{name}` cannot be differentiated: {why}"),
    )
}

/// A transformation of something that is not a function.
pub fn no_function(span: Span, name: &str, found: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` is {found}, not a function"))
}

/// A transformation of a word of the language.
pub fn of_word(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{name}` is a word of the language, not a function"),
    )
    .help("write a `#[pointful]` function that uses it")
}

/// A transformation, in ordinary Rust, of a function that is known only where another one calls it.
pub fn only_inlined(span: Span, of: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{of}` takes or gives functions that are not known here, and nothing can be derived through those"),
    )
    .help(format!(
        "write a `#[pointful]` function that calls `{of}` with them, and transform that one"
    ))
}

/// A transformation of a function that changes its arguments.
pub fn of_exclusive(span: Span, of: &str, param: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{of}` changes its parameter `{param}`, so it cannot be transformed"),
    )
    .help("take it by value and give the changed one as a result")
}

/// A Jacobian of something other than tables and floats.
pub fn jacobian_of(word: &Ident, of: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        word.span(),
        format!("`{word}!` of `{of}` would need axes for {found}: only floats and tables of floats have them"),
    )
    .help("name the parameters with `wrt`")
}

/// A parameter that has no axis in front of it.
pub fn not_mappable(span: Span, name: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("the parameter `{name}` is {found}, which cannot be given an axis in front"),
    )
    .help("name the parameters to map with `over`")
}

/// A result that cannot be given an axis.
pub fn result_not_mappable(span: Span, of: &str, found: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{of}` gives {found}, which cannot be given an axis in front"),
    )
    .help("in a body write `for i in _ { f(x[i]) }` and look at each element")
}

/// A function without parameters to map.
pub fn nothing_to_map(span: Span, of: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{of}` has no parameter to map"))
}

/// A result whose shape depends on what is differentiated.
pub fn shape_inside(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "the length of this result is computed inside of the function that is differentiated",
    )
    .help("pass the length as a parameter")
}

/// A function with more than one derivative of its own.
pub fn two_rules(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "a function has one derivative of its own, `vjp` or `jvp`",
    )
    .help("a `jvp` serves reverse derivatives too")
}

/// A derivative of its own for a function that changes its arguments.
pub fn rule_of_exclusive(span: Span, param: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!(
            "a function that changes its parameter `{param}` cannot have a derivative of its own"
        ),
    )
    .help("take it by value and give the changed one as a result")
}

/// A derivative of its own for a function whose result has none.
pub fn rule_without_result(span: Span, of: &str, result: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{of}` gives {result}, which has no derivative"),
    )
}

/// A rule that takes or gives something else than it must.
pub fn rule_signature(span: Span, option: &str, name: &str, of: &str, wanted: &str) -> Diagnostic {
    let (seeds, given) = match option {
        "vjp" => (
            "the cotangent of its result",
            "a cotangent for each parameter that has one",
        ),
        _ => (
            "a tangent for each parameter that has one",
            "the tangent of its result",
        ),
    };
    Diagnostic::new(
        span,
        format!("`{name}` does not have the signature of the `{option}` of `{of}`, `{wanted}`"),
    )
    .help(format!(
        "it takes the parameters of `{of}`, then {seeds}, and gives {given}"
    ))
}

/// A rule that gives tables of other lengths.
pub fn rule_shape(span: Span, of: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!(
            "what this gives as the derivative of `{of}` is not known to be of the same lengths"
        ),
    )
    .help("let its types name the same index sets")
}

/// A forward derivative of what calls a function that is known backwards only.
pub fn only_backwards(span: Span, of: &str) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("`{of}` has a derivative of its own for the way back only, a `vjp`, so this cannot be differentiated forwards"),
    )
    .help("use `grad!`, `vjp!`, `jacobian!`, `hvp!` or `hessian!`, or give it a `jvp`, which serves both ways")
}

/// A transformation of a function that has errors.
pub fn of_broken(path: &syn::Path) -> Diagnostic {
    let name = path.segments.last().map(|last| last.ident.to_string());
    let name = name.unwrap_or_default();
    Diagnostic::new(
        path.span(),
        format!("`{name}` cannot be transformed before its own errors are mended"),
    )
}

/// A transformation that would make a table of rows of different lengths.
pub fn ragged_vmap(span: Span) -> Diagnostic {
    Diagnostic::new(
        span,
        "`vmap!` would make a table of `Ragged`, which there is not",
    )
    .help("call the function in a loop: `for b in _ { f(…) }`; what is the same for all is left out by `over`: `vmap!(f, over = x)`")
}

//! Parsing: items as syn reads them become the Surface tree.
//!
//! Errors accumulate: where a construct is not of the language, its diagnostic is recorded and a
//! placeholder (`_`) takes its place, so that the rest is checked too. A tree is given out only if
//! there was no error.

mod assert;
mod assign;
mod attributes;
mod expr;
mod items;
mod iter;
mod literal;
mod pattern;
mod print;
mod signature;
mod stmt;
mod transform;
mod types;

use proc_macro2::TokenStream;

use self::attributes::is_extern;
use crate::diag::{Diagnostic, Diagnostics};
use crate::syntax::tree::{Function, TypeItem};

pub use attributes::{
    CHECKPOINTS, EXTERN, FLAGS, FunctionOptions, LOOP_ATTRIBUTES, RULES, parse_options,
};
pub use iter::ADAPTORS;
pub use signature::{CONSTANT, axes, strip_parameter_attributes};
pub use transform::{TRANSFORMS, parse_transform, transform_name};

/// Parses a function. Its scope is empty: gathering fills it.
pub fn parse_function(item: &syn::ItemFn) -> Result<Function, Vec<Diagnostic>> {
    let mut parser = Parser::default();
    let function = parser.function(item);
    parser.errors.gate(function)
}

/// Parses a function with the options of its attribute. A body that is `extern` is not read.
pub fn parse_annotated(
    item: &syn::ItemFn,
    options: TokenStream,
) -> Result<Function, Vec<Diagnostic>> {
    let options = parse_options(options);
    let function = match &options {
        Ok(options) if is_extern(options) => {
            let mut item = item.clone();
            item.block.stmts.clear();
            parse_function(&item)
        }
        Ok(_) | Err(_) => parse_function(item),
    };
    match (function, options) {
        (Ok(function), Ok(options)) => Ok(Function {
            options,
            ..function
        }),
        (function, options) => {
            let errors = options.err().into_iter().chain(function.err());
            Err(errors.flatten().collect())
        }
    }
}

/// Parses a struct or alias marked `#[pointful]`.
pub fn parse_type(item: &syn::Item) -> Result<TypeItem, Vec<Diagnostic>> {
    let mut parser = Parser::default();
    let kind = parser.type_item(item);
    parser.errors.gate(kind)
}

/// Parses a struct or enum that derives `IndexSet`; what the derive itself rejects is taken for a
/// nominal set.
pub fn parse_index_set(item: &syn::DeriveInput) -> Result<TypeItem, Vec<Diagnostic>> {
    let mut parser = Parser::default();
    let kind = parser.index_set_item(item);
    parser.errors.gate(kind)
}

/// What the parser remembers: the errors so far.
#[derive(Default)]
struct Parser {
    errors: Diagnostics,
    /// Whether what is read stands in a function, where more types are known.
    in_function: bool,
}

impl Parser {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }
}

#[cfg(test)]
mod tests;

//! The options of `#[pointful(…)]` and the attributes before loops.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Token, parse::Parser as _};

use super::Parser;
use crate::diag::{Diagnostic, syntax as diag};
use crate::ir::Checkpoint;
use crate::syntax::tree::{LoopAttr, LoopAttrKind};

/// The options of `#[pointful(…)]` by name.
pub type FunctionOptions = Vec<(Ident, Option<syn::Path>)>;

/// The options that name a function.
pub const RULES: [&str; 2] = ["vjp", "jvp"];

/// The options that say something by being there.
pub const FLAGS: [&str; 3] = ["remat", "associative", EXTERN];

/// The option of a function whose body is not read.
pub const EXTERN: &str = "extern";

/// The attributes of loops, and whether the loop is a `while`.
pub const LOOP_ATTRIBUTES: [(&str, bool); 2] = [("checkpoint", false), ("bound", true)];

/// What `#[checkpoint(… = n)]` may say.
pub const CHECKPOINTS: [(&str, fn(u64) -> Checkpoint); 2] =
    [("every", Checkpoint::Every), ("levels", Checkpoint::Levels)];

/// One `name`, `name = value` or `name(…)`.
enum OptionSyntax {
    Flag(Ident),
    Value(Ident, Box<syn::Expr>),
}

impl Parse for OptionSyntax {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let name = input.call(syn::ext::IdentExt::parse_any)?;
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            return Ok(Self::Value(name, Box::new(input.parse()?)));
        }
        Ok(Self::Flag(name))
    }
}

/// Parses what stands in the parentheses of `#[pointful(…)]`.
pub fn parse_options(tokens: TokenStream) -> Result<FunctionOptions, Vec<Diagnostic>> {
    let list = Punctuated::<OptionSyntax, Token![,]>::parse_terminated
        .parse2(tokens)
        .map_err(|error| vec![error.into()])?;
    let mut errors = Vec::new();
    let mut options = FunctionOptions::new();
    for option in list {
        let (name, value) = match option {
            OptionSyntax::Flag(name) => (name, None),
            OptionSyntax::Value(name, value) => (name, Some(value)),
        };
        if options.iter().any(|(known, _)| *known == name) {
            errors.push(diag::repeated(name.span(), &name.to_string()));
            continue;
        }
        match (name.to_string().as_str(), value) {
            (word, Some(value)) if RULES.contains(&word) && is_path(&value) => {
                if let syn::Expr::Path(path) = *value {
                    errors.extend(value_arguments(&path.path));
                    options.push((name, Some(path.path)));
                }
            }
            (word, _) if RULES.contains(&word) => {
                errors.push(diag::option_form(name.span(), &format!("{word} = path")));
            }
            (word, None) if FLAGS.contains(&word) => options.push((name, None)),
            (word, Some(_)) if FLAGS.contains(&word) => {
                errors.push(diag::option_form(name.span(), word));
            }
            (word, _) => errors.push(diag::unknown_option(name.span(), word)),
        }
    }
    if is_extern(&options) {
        let beside = options.iter().filter(|(name, _)| {
            let name = name.to_string();
            FLAGS.contains(&name.as_str()) && name != EXTERN
        });
        errors.extend(beside.map(|(name, _)| diag::beside_extern(name.span(), &name.to_string())));
    }
    if errors.is_empty() {
        Ok(options)
    } else {
        Err(errors)
    }
}

/// Whether the body of a function with these options is not read.
pub(super) fn is_extern(options: &FunctionOptions) -> bool {
    options.iter().any(|(name, _)| name == EXTERN)
}

impl Parser {
    /// Only loops have attributes; `#[allow]` and its like say nothing to this compiler.
    pub(super) fn no_attributes(&mut self, attrs: &[syn::Attribute], before: &str) {
        for attr in attrs {
            let name = tokens_text(attr.path());
            if !is_lint(&name) {
                self.error(diag::unknown_attribute(attr.path().span(), &name, before));
            }
        }
    }

    /// `#[checkpoint]` and, before a `while`, `#[bound(n)]`.
    pub(super) fn loop_attributes(
        &mut self,
        attrs: &[syn::Attribute],
        is_while: bool,
    ) -> Vec<LoopAttr> {
        let mut found: Vec<LoopAttr> = Vec::new();
        for attr in attrs {
            let Some(name) = attr.path().get_ident() else {
                self.error(diag::unknown_attribute(
                    attr.path().span(),
                    &tokens_text(attr.path()),
                    if is_while { "a `while`" } else { "a `for`" },
                ));
                continue;
            };
            let word = name.to_string();
            if is_lint(&word) {
                continue;
            }
            if !LOOP_ATTRIBUTES.contains(&(word.as_str(), is_while)) {
                let before = if is_while { "a `while`" } else { "a `for`" };
                self.error(diag::unknown_attribute(attr.path().span(), &word, before));
                continue;
            }
            let kind = if is_while {
                match attr.parse_args::<syn::Expr>() {
                    Ok(value) => LoopAttrKind::Bound(self.expr(&value)),
                    Err(_) => {
                        self.error(diag::attribute_form(attr.path().span(), "#[bound(n)]"));
                        continue;
                    }
                }
            } else {
                match checkpoint(attr) {
                    Ok(checkpoint) => LoopAttrKind::Checkpoint(checkpoint),
                    Err(error) => {
                        self.error(error);
                        continue;
                    }
                }
            };
            if found.iter().any(|known| known.name == *name) {
                self.error(diag::repeated(attr.path().span(), &name.to_string()));
                continue;
            }
            found.push(LoopAttr {
                name: name.clone(),
                kind,
            });
        }
        found
    }
}

/// What `#[checkpoint]` says. Its numbers decide what the program is, so they are written out.
fn checkpoint(attr: &syn::Attribute) -> Result<Checkpoint, Diagnostic> {
    if matches!(attr.meta, syn::Meta::Path(_)) {
        return Ok(Checkpoint::Log);
    }
    let form = || diag::checkpoint_form(attr.path().span());
    let Ok(OptionSyntax::Value(key, value)) = attr.parse_args::<OptionSyntax>() else {
        return Err(form());
    };
    let Some((_, kind)) = CHECKPOINTS.iter().find(|(known, _)| key == known) else {
        return Err(form());
    };
    let number = match &*value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Int(number),
            ..
        }) => number.base10_parse::<u64>().ok(),
        _ => None,
    };
    match number {
        Some(number) if number > 0 => Ok(kind(number)),
        _ => Err(diag::checkpoint_number(value.span(), &key.to_string())),
    }
}

/// The error for generic arguments in a path to a value: nothing says what they stand for.
pub(super) fn value_arguments(path: &syn::Path) -> Option<Diagnostic> {
    let given = path
        .segments
        .iter()
        .find(|segment| !segment.arguments.is_none())?;
    let name = given.ident.to_string();
    Some(diag::value_arguments(given.arguments.span(), &name))
}

fn is_path(value: &syn::Expr) -> bool {
    matches!(value, syn::Expr::Path(path) if path.qself.is_none())
}

/// Attributes that only rustc and other tools read.
fn is_lint(name: &str) -> bool {
    matches!(
        name,
        "allow" | "expect" | "warn" | "deny" | "forbid" | "doc"
    )
}

/// A path as text without spaces.
fn tokens_text(path: &syn::Path) -> String {
    crate::syntax::tree::path_key(path)
}

/// The attributes before a pattern, which syn reads before a closure's parameters alone.
pub(super) fn attributes_of_pattern(pattern: &syn::Pat) -> &[syn::Attribute] {
    match pattern {
        syn::Pat::Const(p) => &p.attrs,
        syn::Pat::Ident(p) => &p.attrs,
        syn::Pat::Lit(p) => &p.attrs,
        syn::Pat::Macro(p) => &p.attrs,
        syn::Pat::Or(p) => &p.attrs,
        syn::Pat::Paren(p) => &p.attrs,
        syn::Pat::Path(p) => &p.attrs,
        syn::Pat::Range(p) => &p.attrs,
        syn::Pat::Reference(p) => &p.attrs,
        syn::Pat::Rest(p) => &p.attrs,
        syn::Pat::Slice(p) => &p.attrs,
        syn::Pat::Struct(p) => &p.attrs,
        syn::Pat::Tuple(p) => &p.attrs,
        syn::Pat::TupleStruct(p) => &p.attrs,
        syn::Pat::Type(p) => &p.attrs,
        syn::Pat::Wild(p) => &p.attrs,
        _ => &[],
    }
}

/// The attributes before an expression that is no loop.
pub(super) fn attributes_of(expr: &syn::Expr) -> &[syn::Attribute] {
    match expr {
        syn::Expr::Array(e) => &e.attrs,
        syn::Expr::Assign(e) => &e.attrs,
        syn::Expr::Binary(e) => &e.attrs,
        syn::Expr::Block(e) => &e.attrs,
        syn::Expr::Call(e) => &e.attrs,
        syn::Expr::Cast(e) => &e.attrs,
        syn::Expr::Closure(e) => &e.attrs,
        syn::Expr::Field(e) => &e.attrs,
        syn::Expr::Group(e) => &e.attrs,
        syn::Expr::If(e) => &e.attrs,
        syn::Expr::Index(e) => &e.attrs,
        syn::Expr::Infer(e) => &e.attrs,
        syn::Expr::Lit(e) => &e.attrs,
        syn::Expr::Macro(e) => &e.attrs,
        syn::Expr::Match(e) => &e.attrs,
        syn::Expr::MethodCall(e) => &e.attrs,
        syn::Expr::Paren(e) => &e.attrs,
        syn::Expr::Path(e) => &e.attrs,
        syn::Expr::Range(e) => &e.attrs,
        syn::Expr::Reference(e) => &e.attrs,
        syn::Expr::Repeat(e) => &e.attrs,
        syn::Expr::Struct(e) => &e.attrs,
        syn::Expr::Tuple(e) => &e.attrs,
        syn::Expr::Unary(e) => &e.attrs,
        // Loops have theirs, and what else there is is an error of its own.
        _ => &[],
    }
}

//! Where a construct starts.
//!
//! It is what syn's own `span` is on stable Rust, which cannot join spans. But syn writes all of a
//! construct down as tokens to look at the first one: asked of each expression of a body, that is
//! as much again for every level of nesting.

use proc_macro2::Span;
use syn::spanned::Spanned;

/// The first token of an expression.
pub(crate) fn of_expr(expr: &syn::Expr) -> Span {
    match expr {
        syn::Expr::Lit(lit) if lit.attrs.is_empty() => lit.lit.span(),
        syn::Expr::Path(path) if path.attrs.is_empty() && path.qself.is_none() => {
            of_path(&path.path)
        }
        syn::Expr::Unary(unary) if unary.attrs.is_empty() => match unary.op {
            syn::UnOp::Deref(token) => token.span,
            syn::UnOp::Not(token) => token.span,
            syn::UnOp::Neg(token) => token.span,
            _ => unary.span(),
        },
        syn::Expr::Reference(reference) if reference.attrs.is_empty() => reference.and_token.span,
        syn::Expr::Paren(inner) if inner.attrs.is_empty() => inner.paren_token.span.join(),
        syn::Expr::Tuple(tuple) if tuple.attrs.is_empty() => tuple.paren_token.span.join(),
        syn::Expr::Array(array) if array.attrs.is_empty() => array.bracket_token.span.join(),
        syn::Expr::Repeat(repeat) if repeat.attrs.is_empty() => repeat.bracket_token.span.join(),
        syn::Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => {
            block.block.brace_token.span.join()
        }
        syn::Expr::If(branch) if branch.attrs.is_empty() => branch.if_token.span,
        syn::Expr::Match(choice) if choice.attrs.is_empty() => choice.match_token.span,
        syn::Expr::Struct(literal) if literal.attrs.is_empty() && literal.qself.is_none() => {
            of_path(&literal.path)
        }
        syn::Expr::Macro(call) if call.attrs.is_empty() => of_path(&call.mac.path),
        syn::Expr::ForLoop(each) if each.attrs.is_empty() && each.label.is_none() => {
            each.for_token.span
        }
        syn::Expr::While(each) if each.attrs.is_empty() && each.label.is_none() => {
            each.while_token.span
        }
        // What starts with another expression.
        syn::Expr::Assign(assign) if assign.attrs.is_empty() => of_expr(&assign.left),
        syn::Expr::Binary(binary) if binary.attrs.is_empty() => of_expr(&binary.left),
        syn::Expr::Call(call) if call.attrs.is_empty() => of_expr(&call.func),
        syn::Expr::Cast(cast) if cast.attrs.is_empty() => of_expr(&cast.expr),
        syn::Expr::Field(field) if field.attrs.is_empty() => of_expr(&field.base),
        syn::Expr::Index(index) if index.attrs.is_empty() => of_expr(&index.expr),
        syn::Expr::MethodCall(call) if call.attrs.is_empty() => of_expr(&call.receiver),
        syn::Expr::Range(range) if range.attrs.is_empty() => of_range(range),
        other => other.span(),
    }
}

/// The first token of a range.
pub(crate) fn of_range(range: &syn::ExprRange) -> Span {
    match &range.start {
        Some(start) => of_expr(start),
        None => range.limits.span(),
    }
}

/// The first token of a pattern.
pub(crate) fn of_pattern(pattern: &syn::Pat) -> Span {
    match pattern {
        syn::Pat::Ident(name) if name.attrs.is_empty() && name.by_ref.is_none() => {
            let mutable = name.mutability.map(|token| token.span);
            mutable.unwrap_or_else(|| name.ident.span())
        }
        syn::Pat::Tuple(tuple) if tuple.attrs.is_empty() => tuple.paren_token.span.join(),
        syn::Pat::Wild(wild) if wild.attrs.is_empty() => wild.underscore_token.span,
        syn::Pat::Type(typed) if typed.attrs.is_empty() => of_pattern(&typed.pat),
        other => other.span(),
    }
}

/// The first token of a type.
pub(crate) fn of_type(ty: &syn::Type) -> Span {
    match ty {
        syn::Type::Path(path) if path.qself.is_none() => of_path(&path.path),
        syn::Type::Reference(reference) => reference.and_token.span,
        syn::Type::Tuple(tuple) => tuple.paren_token.span.join(),
        syn::Type::Array(array) => array.bracket_token.span.join(),
        other => other.span(),
    }
}

/// The first token of a path.
pub(crate) fn of_path(path: &syn::Path) -> Span {
    match &path.leading_colon {
        Some(colons) => colons.spans[0],
        None => path.segments[0].ident.span(),
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::ToTokens;

    use super::*;

    /// The line and column where the first token of something is written.
    fn first(tokens: &impl ToTokens) -> (usize, usize) {
        let stream: TokenStream = tokens.to_token_stream();
        let tree = stream.into_iter().next().expect("it has tokens");
        let at = tree.span().start();
        (at.line, at.column)
    }

    #[test]
    fn expressions_start_at_their_first_token() {
        for text in [
            "1.5",
            "a",
            "::m::a",
            "<T as S>::a",
            "-a",
            "!a",
            "*a",
            "&mut a",
            "(a)",
            "(a, b)",
            "[a, b]",
            "[a; 3]",
            "{ a }",
            "'l: { a }",
            "if a { b } else { c }",
            "match a { _ => b }",
            "m::S { a }",
            "m::call!(a)",
            "for i in a { b }",
            "#[bound(3)] while a { b }",
            "a = b",
            "a += b",
            "a[i][j] * b + c",
            "a.b(c).d.0[i] as f64",
            "f(a)(b)",
            "a..b",
            "..=b",
            "|a, b| a",
            "move || a",
            "#[x] a + b",
            "a?",
        ] {
            let text = format!("  {text}");
            let expr: syn::Expr = syn::parse_str(&text).expect(&text);
            let at = of_expr(&expr).start();
            assert_eq!((at.line, at.column), first(&expr), "{text}");
        }
    }

    #[test]
    fn types_start_at_their_first_token() {
        for text in [
            "f64",
            "::m::T<A>",
            "<A as B>::C",
            "&mut [A; 3]",
            "(A, B)",
            "[A; 3]",
            "[A]",
            "impl Fn(A) -> B",
            "fn(A) -> B",
            "(A)",
            "_",
        ] {
            let text = format!("  {text}");
            let ty: syn::Type = syn::parse_str(&text).expect(&text);
            let at = of_type(&ty).start();
            assert_eq!((at.line, at.column), first(&ty), "{text}");
        }
    }

    #[test]
    fn patterns_start_at_their_first_token() {
        for text in [
            "a",
            "mut a",
            "ref a",
            "(a, _)",
            "_",
            "m::S { a, .. }",
            "Some(a)",
            "-1",
            "&a",
        ] {
            let text = format!("|\n {text}| 0");
            let syn::Expr::Closure(closure) = syn::parse_str(&text).expect(&text) else {
                panic!("{text} is a closure");
            };
            let at = of_pattern(&closure.inputs[0]).start();
            assert_eq!((at.line, at.column), first(&closure.inputs[0]), "{text}");
        }
    }
}

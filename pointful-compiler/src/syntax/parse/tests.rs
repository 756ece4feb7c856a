//! Tests of the parser: every form of the language is read, every other one is named at its token.

use super::*;
use crate::syntax::tree::*;

fn parse(source: &str) -> Result<Function, Vec<Diagnostic>> {
    let item = syn::parse_str(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    parse_function(&item)
}

fn accept(source: &str) -> Function {
    match parse(source) {
        Ok(function) => function,
        Err(errors) => panic!("{source}: {errors:?}"),
    }
}

/// The value of `fn f() { <expr> }`.
fn value(expr: &str) -> ExprKind {
    accept(&format!("fn f() {{ {expr} }}"))
        .body
        .value
        .expect("the body has a value")
        .kind
}

/// Each error: the text of its token and a part of its message.
#[track_caller]
fn reject(source: &str, expected: &[(&str, &str)]) {
    let errors = parse(source).expect_err("this must be rejected");
    let found: Vec<_> = errors
        .iter()
        .map(|error| {
            (
                error.span.source_text().unwrap_or_default(),
                error.message.clone(),
            )
        })
        .collect();
    assert_eq!(found.len(), expected.len(), "{source}: {found:?}");
    for ((token, message), (want_token, want_message)) in found.iter().zip(expected) {
        assert_eq!(token, want_token, "{source}: {message}");
        assert!(
            message.contains(want_message),
            "{source}: {message:?} lacks {want_message:?}"
        );
    }
}

#[test]
fn a_signature_is_read() {
    let f = accept(
        "fn f<'a, N: IndexSet, const K: usize, T, G>(a: &'a Table<(N, Fin<K>), T>, mut u: Table<N, f64>, \
         #[constant] dt: f64, g: G, h: impl Fn(f64, f64) -> f64, e: Extent<N>) -> (f64, Table<Either<N, Fin<3>>, f64>) \
         where T: Float, G: Fn(f64) -> f64 + Sync { dt }",
    );
    let kinds: Vec<_> = f.generics.iter().map(|g| &g.kind).collect();
    assert!(matches!(
        kinds[..],
        [
            GenericKind::IndexSet,
            GenericKind::Const,
            GenericKind::Float,
            GenericKind::Function(..)
        ]
    ));
    assert_eq!(f.params.len(), 6);
    assert!(f.params[1].mutable && !f.params[1].constant);
    assert!(f.params[2].constant);
    assert!(matches!(&f.params[4].ty.kind, TypeKind::Function(args, _) if args.len() == 2));
    assert!(matches!(
        &f.params[5].ty.kind,
        TypeKind::Extent(Set {
            kind: SetKind::Path(..),
            ..
        })
    ));
    let TypeKind::Tuple(results) = &f.result.kind else {
        panic!("{:?}", f.result)
    };
    assert!(matches!(
        &results[1].kind,
        TypeKind::Table(
            Set {
                kind: SetKind::Either(..),
                ..
            },
            _
        )
    ));
}

#[test]
fn no_result_is_the_empty_tuple() {
    assert!(matches!(accept("fn f() {}").result.kind, TypeKind::Tuple(parts) if parts.is_empty()));
}

#[test]
fn every_iterator_is_read() {
    let iter = |text: &str| match value(&format!("for i in {text} {{ i }}")) {
        ExprKind::For { iter, .. } => iter,
        other => panic!("{other:?}"),
    };
    let set = |text: &str| match iter(text) {
        Iter::Set(set) => set.kind,
        other => panic!("{other:?}"),
    };
    assert!(matches!(set("_"), SetKind::Infer));
    assert!(matches!(set("N"), SetKind::Path(..)));
    assert!(matches!(set("m::Pixel"), SetKind::Path(..)));
    assert!(matches!(set("(N, _)"), SetKind::Product(parts) if parts.len() == 2));
    assert!(matches!(set("()"), SetKind::Unit));
    assert!(matches!(set("bool"), SetKind::Bool));
    assert!(matches!(set("Fin::<3>"), SetKind::Fin(_)));
    assert!(
        matches!(set("Fin::<{ K + 1 }>"), SetKind::Fin(e) if matches!(e.kind, ExprKind::Binary(..)))
    );
    assert!(matches!(set("Either::<A, (B, C)>"), SetKind::Either(..)));
    assert!(matches!(
        iter("0..m"),
        Iter::Range {
            start: Some(_),
            end: Some(_),
            inclusive: false,
            ..
        }
    ));
    assert!(matches!(
        iter("..=i"),
        Iter::Range {
            start: None,
            end: Some(_),
            inclusive: true,
            ..
        }
    ));
    assert!(matches!(
        iter("i.."),
        Iter::Range {
            start: Some(_),
            end: None,
            ..
        }
    ));
    assert!(
        matches!(iter("(0..m).rev()"), Iter::Rev(inner, _) if matches!(*inner, Iter::Range { .. }))
    );
    assert!(
        matches!(iter("N.rev().skip(1)"), Iter::Skip(inner, ..) if matches!(*inner, Iter::Rev(..)))
    );
}

#[test]
fn statements_keep_their_semicolons() {
    let f = accept("fn f() { for i in N { a[i] } for i in N { b[i] }; let x: f64 = 1.0; x }");
    assert!(matches!(
        f.body.stmts[0],
        Stmt::Expr {
            semicolon: false,
            ..
        }
    ));
    assert!(matches!(
        f.body.stmts[1],
        Stmt::Expr {
            semicolon: true,
            ..
        }
    ));
    assert!(matches!(f.body.stmts[2], Stmt::Let { ty: Some(_), .. }));
    assert!(f.body.value.is_some());
    // Rust reads this as two statements; the first one's table is lost, which lowering reports.
    let f = accept("fn f() { for i in N { a[i] } - b }");
    assert!(matches!(
        f.body.stmts[0],
        Stmt::Expr {
            semicolon: false,
            ..
        }
    ));
    assert!(matches!(
        f.body.value.unwrap().kind,
        ExprKind::Unary(UnaryOp::Neg, _)
    ));
}

#[test]
fn every_expression_is_read() {
    assert!(matches!(
        value("x += 1"),
        ExprKind::Assign {
            op: Some(BinaryOp::Add),
            ..
        }
    ));
    assert!(matches!(
        value("t[(a, b)] = 1"),
        ExprKind::Assign { op: None, .. }
    ));
    assert!(matches!(value("a && b || c"), ExprKind::Or(..)));
    assert!(matches!(value("x as f32"), ExprKind::Cast(..)));
    assert!(
        matches!(value("move |x: f64, (a, _)| x"), ExprKind::Closure { params, .. } if params.len() == 2)
    );
    assert!(matches!(
        value("&mut acc[i]"),
        ExprKind::Ref { mutable: true, .. }
    ));
    assert!(matches!(value("*x"), ExprKind::Deref(_)));
    assert!(
        matches!(value("Model { w, b: 1.0, ..m }"), ExprKind::Struct { fields, base: Some(_), .. } if fields.len() == 2)
    );
    assert!(matches!(value("[0.0; 3]"), ExprKind::Repeat(..)));
    assert!(matches!(value("1..n"), ExprKind::Range { .. }));
    assert!(
        matches!(value("assert!(a, \"b {{}}\")"), ExprKind::Assert { message: m, .. } if m.to_string() == "b {{}}")
    );
    assert!(
        matches!(value("match c { Channel::R | Channel::G => 1, Either::Left(x) if x > 0 => 2, Cell { row, .. } => 3, 0 => 4, _ => 5 }"),
        ExprKind::Match(_, arms) if arms.len() == 5 && arms[0].patterns.len() == 2 && arms[1].guard.is_some())
    );
    assert!(
        matches!(value("#[bound(100)] while a { b = c; }"), ExprKind::While { attrs, .. } if attrs.len() == 1)
    );
    assert!(matches!(
        value("1u8"),
        ExprKind::Lit(Lit {
            kind: LitKind::Int {
                value: 1,
                suffix: Some(crate::ir::Scalar::U8)
            },
            ..
        })
    ));
    assert!(matches!(
        value("2f32"),
        ExprKind::Lit(Lit {
            kind: LitKind::Float {
                value: 2.0,
                suffix: Some(crate::ir::Scalar::F32)
            },
            ..
        })
    ));
}

#[test]
fn transformations_are_read_to_any_depth() {
    let ExprKind::Call(function, _) = value("jvp!(grad!(m::f, wrt = (a, b)))(x, y)") else {
        panic!()
    };
    let ExprKind::Transform(outer) = function.kind else {
        panic!()
    };
    let Transformed::Transform(inner) = outer.of else {
        panic!()
    };
    assert!(outer.name == "jvp" && inner.name == "grad");
    assert!(matches!(&inner.of, Transformed::Path(path) if path_key(path) == "m::f"));
    assert!(inner.options[0].0 == "wrt" && inner.options[0].1.len() == 2);
}

#[test]
fn unsupported_constructs_are_named_at_their_tokens() {
    reject("fn f() { loop {} }", &[("loop", "`loop`")]);
    reject("fn f() { while a { break; } }", &[("break", "`break`")]);
    reject(
        "fn f() { for i in N { continue } }",
        &[("continue", "`continue`")],
    );
    reject("fn f() { return 1.0; }", &[("return", "`return`")]);
    reject("fn f() { g()? }", &[("?", "`?`")]);
    reject("fn f() { unsafe { 1 } }", &[("unsafe", "`unsafe`")]);
    reject("async fn f() {}", &[("async", "`async`")]);
    reject("unsafe fn f() {}", &[("unsafe", "`unsafe`")]);
    reject("const fn f() {}", &[("const", "`const`")]);
    reject("fn f() { let x; }", &[("let x;", "must have a value")]);
    reject(
        "fn f() { while let Some(x) = y {} }",
        &[("let", "`let` in a condition")],
    );
    reject(
        "fn f() { let Some(x) = y else { 1 }; }",
        &[("else", "`let … else`")],
    );
    reject("fn f() { 'a: for i in N {} }", &[("'a:", "a label")]);
    reject(
        "fn f() { fn g() {} }",
        &[("fn g() {}", "a function inside")],
    );
    reject("fn f() { format!(\"a\") }", &[("format", "`format!`")]);
    reject(
        "fn f() { println!(a) }",
        &[("a", "not what `println!` prints")],
    );
    reject(
        "fn f() { eprint!(\"{a}\", b) }",
        &[("b", "does not show this")],
    );
    reject("fn f() { vec![1.0] }", &[("vec", "`vec!`")]);
    reject("fn f() { \"text\" }", &[("\"text\"", "a literal is")]);
    reject("fn f() { 1i128 }", &[("1i128", "`i128`")]);
    reject(
        "fn f() { assert!(a, \"{:x}\", b) }",
        &[("\"{:x}\"", "the message of an `assert!`")],
    );
    reject("fn f() { x.g::<f64>() }", &[("::<f64>", "a turbofish")]);
    reject(
        "fn f() { match x { 0..=3 => 1, _ => 2 } }",
        &[("0..=3", "a range pattern")],
    );
}

/// What would change a program's meaning in Rust, or be an error there, is not read over.
#[test]
fn nothing_is_read_over() {
    // Closures.
    reject(
        "fn f() { let g = static |x| x; }",
        &[("static", "a `static` closure")],
    );
    reject(
        "fn f() { let g = const |x| x; }",
        &[("const", "a `const` closure")],
    );
    reject("fn f() { let g = async |x| x; }", &[("async", "`async`")]);
    reject(
        "fn f() { let g = for<'a> |x: &'a f64| x; }",
        &[("for<'a>", "a closure with lifetimes")],
    );
    reject("fn f() { |x| -> f64 { x } }", &[("->", "the result type")]);
    accept("fn f() { move |x| x }");
    // Attributes.
    for (source, place) in [
        ("fn f() { |#[cfg(a)] x| x }", "a parameter of a closure"),
        ("fn f() { match x { #[cfg(a)] 1 => 2, _ => 3 } }", "an arm"),
        ("fn f() { M { a, #[cfg(a)] b: 1 } }", "a field"),
        ("fn f() { let M { a, #[cfg(a)] b } = m; }", "a field"),
        ("fn f() { let M { a, #[cfg(a)] .. } = m; }", "`..`"),
        ("fn f() { for i in #[cfg(a)] N {} }", "an expression"),
        ("fn f() { for i in (N, #[cfg(a)] M) {} }", "an expression"),
        ("fn f() { for i in #[cfg(a)] N.rev() {} }", "an expression"),
        ("fn f() { (#[cfg(a)] g)(x) }", "an expression"),
        ("fn f() { g(#[cfg(a)] _) }", "an expression"),
        ("fn f() { #[cfg(a)] let x = 1; }", "a `let`"),
        ("fn f() { #[cfg(a)] assert!(x); }", "a macro"),
        ("fn f() { { #![cfg(a)] x } }", "an expression"),
        ("fn f(#[cfg(a)] x: f64) {}", "a parameter"),
        ("fn f(g: fn(#[cfg(a)] f64)) {}", "a parameter"),
        ("fn f<#[cfg(a)] N: IndexSet>() {}", "a generic parameter"),
    ] {
        reject(source, &[("cfg", place)]);
    }
    reject(
        "fn f(#[constant] #[constant] x: f64) {}",
        &[("constant", "given twice")],
    );
    let field: syn::Item =
        syn::parse_str("struct M { #[cfg(a)] a: f64, #[serde(skip)] b: f64 }").expect("a struct");
    let errors = parse_type(&field).expect_err("a field that may not be there");
    assert!(errors.len() == 1 && errors[0].message.contains("before a field"));
    // Generic arguments.
    for (source, token, message) in [
        ("fn f() { sum::<f64>(x) }", "::<f64>", "arguments of `sum`"),
        (
            "fn f() { LIMIT::<f64> + 1 }",
            "::<f64>",
            "arguments of `LIMIT`",
        ),
        ("fn f() { Accum::<f64>::zero() }", "::<f64>", "of `Accum`"),
        ("fn f() { Accum::zero::<f64>() }", "::<f64>", "of `zero`"),
        (
            "fn f() { N::from_ordinal::<u8>(k) }",
            "::<u8>",
            "of `from_ordinal`",
        ),
        (
            "fn f() { Either::<A, B>::Left(x) }",
            "::<A, B>",
            "of `Either`",
        ),
        ("fn f() { let M::<f64> { a } = m; }", "::<f64>", "of `M`"),
        ("fn f() { grad!(g::<f64>) }", "::<f64>", "arguments of `g`"),
        (
            "fn f() { for i in N.rev::<u8>() {} }",
            "::<u8>",
            "a turbofish",
        ),
        ("fn f() { x as f64<u8> }", "f64<u8>", "wrong arguments"),
        (
            "fn f() { for i in Dyn::<3> {} }",
            "Dyn::<3>",
            "wrong arguments",
        ),
        (
            "fn f() { let x: Extent<'a, N> = y; }",
            "Extent<'a, N>",
            "wrong arguments",
        ),
    ] {
        reject(source, &[(token, message)]);
    }
    accept("fn f() { g::<f64, 3, { K }, _>(m::h::<N>) }");
    accept("fn f() { M::<N, f64> { a: size(Pair::<A, B>) } }");
    // Structs and names.
    reject(
        "fn f() { M { a, .. } }",
        &[("..", "where the other fields")],
    );
    reject("fn f() { M { a: 1, a: 2 } }", &[("a", "given twice")]);
    reject("fn f() { let M { a, a } = m; }", &[("a", "given twice")]);
    for source in [
        "fn f() { let (a, a) = x; }",
        "fn f() { |a, (b, a)| a }",
        "fn f() { for (a, a) in N {} }",
        "fn f() { match x { (a, Some(a)) => 1, _ => 2 } }",
        "fn f() { let M { a, b: a } = m; }",
    ] {
        reject(source, &[("a", "bound twice")]);
    }
    reject(
        "fn f() { match e { A(i) | B(j) => 1 } }",
        &[("i", "some alternatives")],
    );
    reject(
        "fn f() { match e { A() => 1 } }",
        &[("A()", "empty parentheses")],
    );
    reject(
        "fn f() { match e { mut None => 1 } }",
        &[("mut", "`mut None`")],
    );
    // Literals.
    for literal in ["b'a'u8", "0b1f64", "0o7f32", "1.5i64"] {
        reject(
            &format!("fn f() {{ {literal} }}"),
            &[(literal, "cannot have the suffix")],
        );
    }
    for literal in ["b\"a\"", "c\"a\"", "'a'"] {
        reject(
            &format!("fn f() {{ {literal} }}"),
            &[(literal, "a literal is")],
        );
    }
    // Macros of other modules, and types of functions.
    reject("fn f() { m::assert!(x) }", &[("m::assert", "`m::assert!`")]);
    reject("fn f() { m::grad!(g) }", &[("m::grad", "`m::grad!`")]);
    reject("fn f() { grad!(m::grad!(g)) }", &[("m", "takes a path")]);
    accept("fn f() { std::assert!(x); pointful::grad!(g) }");
    reject(
        "fn f(g: unsafe fn(f64)) {}",
        &[("unsafe", "an `unsafe` function")],
    );
    reject(
        "fn f(g: extern \"C\" fn(f64)) {}",
        &[("extern \"C\"", "an `extern` function")],
    );
}

#[test]
fn a_semicolon_alone_is_nothing() {
    let body = accept("fn f() { ; let x = 1;; x }").body;
    assert!(body.stmts.len() == 1 && body.value.is_some());
}

#[test]
fn iterators_that_do_not_exist_are_named() {
    reject(
        "fn f() { for x in a.iter() { x } }",
        &[("a.iter()", "as it is")],
    );
    reject("fn f() { for x in &a { x } }", &[("&a", "as it is")]);
    reject(
        "fn f() { for x in N.step_by(2) { x } }",
        &[("step_by", "`.step_by(…)`")],
    );
    reject(
        "fn f() { for x in N.rev(1) { x } }",
        &[("N.rev(1)", "`.rev()`")],
    );
    reject(
        "fn f() { for x in (0..n, 0..m) { x } }",
        &[("0..n", "part of a product"), ("0..m", "part of a product")],
    );
    reject(
        "fn f() { for x in f64 { x } }",
        &[("f64", "not an index set")],
    );
}

#[test]
fn signatures_that_mean_nothing_are_rejected() {
    reject("fn f(&self, x: f64) {}", &[("self", "method")]);
    reject("fn f<T>(x: T) {}", &[("T", "nothing says what `T`")]);
    reject("fn f<const B: bool>() {}", &[("bool", "must be a `usize`")]);
    reject(
        "fn f((a, b): (f64, f64)) {}",
        &[("(a, b)", "must have a name")],
    );
    reject("fn f(x: &[f64]) {}", &[("[f64]", "a slice")]);
    reject("fn f(x: Vec<f64>) {}", &[("Vec<f64>", "`Vec`")]);
    reject("fn f(x: i128) {}", &[("i128", "`i128`")]);
    reject(
        "fn f(x: Table<usize, f64>) {}",
        &[("usize", "not an index set")],
    );
    reject("fn f(x: Table<N>) {}", &[("Table<N>", "wrong arguments")]);
}

#[test]
fn a_nested_table_shows_the_flat_one() {
    let errors =
        parse("fn f(x: &Table<A, Table<(B, C), Table<Fin<3>, f64>>>) {}").expect_err("nested");
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].help[0].contains("`Table<(A, (B, C), Fin<3>), f64>`"),
        "{errors:?}"
    );
}

#[test]
fn errors_accumulate() {
    reject(
        "fn f(x: Vec<f64>) { return 1; break; for i in 1 + 1 { loop {} } }",
        &[
            ("Vec<f64>", "`Vec`"),
            ("return", "`return`"),
            ("break", "`break`"),
            ("1 + 1", "runs over"),
            ("loop", "`loop`"),
        ],
    );
}

#[test]
fn options_are_checked() {
    let parse = |text: &str| parse_options(text.parse().expect("tokens"));
    assert_eq!(parse("vjp = m::g, remat").expect("both exist").len(), 2);
    for (text, message) in [
        ("inline", "no option `inline`"),
        ("vjp", "`vjp = path`"),
        ("remat = 1", "`remat`"),
        ("associative = true", "`associative`"),
        ("remat, remat", "given twice"),
        ("vjp = g::<f64>", "arguments of `g`"),
    ] {
        let errors = parse(text).expect_err(text);
        assert!(errors[0].message.contains(message), "{errors:?}");
    }
}

#[test]
fn transformations_are_checked() {
    for (text, message) in [
        ("grad!()", "takes a path"),
        ("grad!(1)", "takes a path"),
        ("grad!(f, over = x)", "no option `over`"),
        ("vmap!(f, wrt = x)", "no option `wrt`"),
        ("grad!(f, wrt = x, wrt = y)", "given twice"),
        ("grad!(vec!(f))", "takes a path"),
    ] {
        let errors =
            super::parse_function(&syn::parse_str(&format!("fn f() {{ {text} }}")).unwrap())
                .expect_err(text);
        assert!(
            errors.len() == 1 && errors[0].message.contains(message),
            "{text}: {errors:?}"
        );
    }
}

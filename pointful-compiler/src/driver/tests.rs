use super::*;
use quote::format_ident;

use crate::link::{Entry, EntryKind};

fn expand(args: &str, item: &str) -> String {
    let tokens = |text: &str| text.parse::<TokenStream>().expect("the test is tokens");
    attribute(tokens(args), tokens(item), "file:1:1", Options::default()).to_string()
}

#[test]
fn the_same_item_gives_the_same_tokens() {
    let item = "pub fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 { sum(for i in _ { a[i] }) }";
    assert_eq!(expand("", item), expand("", item));
}

/// Where tables live on devices, a function asks where its own do, and a struct can be moved.
#[test]
fn devices_are_spoken_of_only_where_they_are_asked_for() {
    let expand = |item: &str, devices| {
        let item = item.parse().expect("tokens");
        attribute(TokenStream::new(), item, "file:1:1", Options { devices }).to_string()
    };
    let function = "fn f(a: &Table<Dyn, f64>, n: usize) -> f64 { sum(for i in _ { a[i] }) }";
    let record = "struct S { a: Table<Dyn, f64>, n: usize }";
    for item in [function, record] {
        let (without, with) = (expand(item, false), expand(item, true));
        assert!(!without.to_lowercase().contains("device"), "{without}");
        assert!(with.contains("device ! {"), "{with}");
    }
    let asks = "check_devices (\"f\" , & [(\"a\" , a . device ())]) ;";
    assert!(expand(function, true).contains(asks));
    // All that is said of devices is said to macros that are empty where there are none.
    assert!(expand(function, true).contains("on_device ! {"));
    let calls =
        "fn f(a: &Table<Dyn, f64>, g: impl Fn(f64) -> f64) -> f64 { sum(for i in _ { g(a[i]) }) }";
    let refused = expand(calls, true);
    assert!(
        refused.contains("check_places (\"f\" , & [(\"a\" , a . device ())] , \"functions"),
        "{refused}"
    );
    assert!(!refused.contains("on_device"), "{refused}");
    // The struct, and the struct of tables.
    assert_eq!(expand(record, true).matches("ToDevice for").count(), 2);
    // What has no tables has nothing to ask, and a reference is not moved.
    for item in [
        "fn f(x: f64) -> f64 { x }",
        "struct S<'a> { a: &'a Table<Dyn, f64> }",
    ] {
        assert_eq!(expand(item, true), expand(item, false));
    }
}

#[test]
fn what_calls_others_only_asks() {
    let asked = expand("", "fn f(x: f64) -> f64 { m::g(x) + column(x) }");
    assert!(asked.starts_with("m :: g ! {"), "{asked}");
    assert!(!asked.contains("macro_rules"), "{asked}");
}

/// What becomes of a question that `g` is the answer to.
fn answered(question: TokenStream, g: &str) -> TokenStream {
    let Some(TokenTree::Group(state)) = question.into_iter().last() else {
        panic!("a question ends with its state");
    };
    let state = state.stream();
    let entry = Entry {
        kind: EntryKind::Function,
        name: unique_name(&format_ident!("g"), "file:2:1", &TokenStream::new()),
        args: TokenStream::new(),
        item: g.parse().expect("tokens"),
        names: Names::default(),
        constants: Vec::new(),
    };
    let payload = Payload {
        broken: false,
        errors: TokenStream::new(),
        entries: vec![entry],
    };
    linked(quote!({ #payload } #state), Options::default())
}

#[test]
fn what_is_defined_is_documented_as_the_user_would_write_it() {
    let definition = "/** Up. */ pub fn slope = grad!(g, wrt = (x, a));";
    let question = define(
        definition.parse().expect("tokens"),
        "file:3:1",
        Options::default(),
    );
    let g = "fn g<N: IndexSet>(x: &Table<N, f64>, a: f64, k: i64) -> f64 { sum(for n in N { a * x[n] }) + k as f64 }";
    let defined = answered(question, g).to_string();
    for line in [
        "`grad!(g, wrt = (x, a))`, which is",
        "fn slope<N: IndexSet>(x: &Table<N, f64>, a: f64, k: i64) -> (Table<N, f64>, f64,)",
    ] {
        assert!(defined.contains(line), "{defined}");
    }
    let (up, own) = (defined.find("Up."), defined.find("which is"));
    assert!(up < own, "{defined}");
}

#[test]
fn an_answer_is_read_back() {
    let item = "fn f(x: f64) -> f64 { g(x) }";
    let question: TokenStream = expand("", item).parse().expect("tokens");
    let done = answered(question, "fn g(x: f64) -> f64 { 2.0 * x }").to_string();
    assert!(!done.contains("compile_error"), "{done}");
    assert!(done.contains("fn f (x : f64) -> f64"), "{done}");
    // What f hands on has g in front of f.
    let at = |text: &str| done.rfind(text).expect("it is handed on");
    assert!(at("fn g (x : f64)") < at("fn f (x : f64)"), "{done}");
}

#[test]
fn errors_keep_the_signature_and_what_asks_stays_quiet() {
    let item = "pub fn f<'a, N: IndexSet>(#[constant] x: f64) -> f64 where N: Copy { return x; }";
    let wrong = expand("", item);
    // The companion has the error as well, for what can be nothing else.
    let (shown, companion) = wrong.split_once("macro_rules").expect("a companion");
    assert_eq!(shown.matches("compile_error").count(), 1, "{wrong}");
    assert!(wrong.contains("pub fn f < 'a , N : IndexSet > (x : f64) -> f64 where N : Copy"));
    assert!(
        companion.contains("{ broken { :: core :: compile_error"),
        "{wrong}"
    );
}

#[test]
fn attributes_inside_of_a_body_stand_before_the_function() {
    for body in ["x", "return x;"] {
        let item = format!("fn f(x: f64) -> f64 {{ #![inline] {body} }}");
        let expansion = expand("", &item);
        assert!(!expansion.contains("# !"), "{expansion}");
        assert!(expansion.contains("# [inline]"), "{expansion}");
    }
}

#[test]
fn a_panic_is_one_error() {
    let function = expand(
        "",
        "pub fn provokes_a_panic<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(x) }",
    );
    let item = expand("", "pub struct provokes_a_panic { x: f64 }");
    let report = "pointful has a bug: compiling `provokes_a_panic` failed";
    let (shown, companion) = function.split_once("macro_rules").expect("a companion");
    assert_eq!(shown.matches("compile_error").count(), 1, "{function}");
    assert!(
        shown.contains(report) && shown.contains("provoked 1"),
        "{shown}"
    );
    assert!(shown.contains("please report it"), "{shown}");
    assert!(
        shown.contains("pub fn provokes_a_panic < N : IndexSet > (x : & Table < N , f64 >) -> f64")
    );
    assert!(
        companion.contains("broken"),
        "who calls it stays quiet: {companion}"
    );
    assert_eq!(
        item.split("macro_rules")
            .next()
            .expect("text")
            .matches("compile_error")
            .count(),
        1
    );

    // An expression is one, of any type.
    let error = fail(
        &Request {
            kind: RequestKind::Transform,
            site: String::new(),
            args: quote!(grad),
            item: quote!(f),
        },
        &[diag::internal(Span::call_site(), "grad", "lost")],
    );
    assert!(syn::parse2::<syn::ExprBlock>(error).is_ok());
}

#[test]
fn what_is_no_function_is_refused() {
    for item in [
        "const X: f64 = 1.0;",
        "struct S(f64);",
        "enum E {}",
        "enum E { A }",
        "union U { a: f64 }",
        "fn f(",
        "struct S<T> { x: T }",
    ] {
        let Ok(tokens) = item.parse::<TokenStream>() else {
            continue;
        };
        let expansion =
            attribute(TokenStream::new(), tokens, "file:1:1", Options::default()).to_string();
        assert!(expansion.contains("compile_error"), "{item}: {expansion}");
    }
}

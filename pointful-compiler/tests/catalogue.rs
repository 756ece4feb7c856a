//! Every message that a user may meet has a test that provokes it: a program of `tests/ui`, or one
//! of those below.

use std::path::Path;

use pointful_compiler::driver::{Options, attribute};
use pointful_compiler::lower::source::lower_source;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;

/// Functions that are rejected, for messages that no program of `tests/ui` shows.
const REJECTED: &[&str] = &[
    "type Number = f64; fn f(x: f64) -> f64 { let y = Number { a: x }; x }",
    "fn f(x: f64) -> f64 { x + nothing }",
    "fn f(x: Picture) -> f64 { 1.0 }",
    "fn f(x: &Table<Pixel, f64>) -> f64 { sum(x) }",
    "fn f<T: Float>(x: T) -> T { x + T }",
    "fn f<N: IndexSet>(x: &Table<Fin<N>, f64>) -> f64 { sum(x) }",
    "fn f(x: f64) -> f64 { helper(x) }",
    "fn f(x: f64) -> f64 { x + _ }",
    "fn f(x: f64) -> f64 { let g = |t| sum(t); x }",
    "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let mut total = Accum::zero(); for i in N { total += x[i]; } total[0] }",
    "fn f<N: IndexSet>(mut x: Table<N, f64>) -> f64 { let y = &mut x; sum(y) }",
    "fn f(c: bool, n: usize) -> f64 { sum(if c { for k in 0..n { 1.0 } } else { for k in 0..2 * n { 2.0 } }) }",
    "fn f<N: IndexSet>(x: f64) -> f64 { (x as Table<N, f64>) + x }",
    "fn f(x: f64) -> f64 { sum([]) }",
    "fn v(x: f64, ct: f64) -> f64 { x * ct } #[pointful(vjp = v)] fn h(x: f64) -> f64 { x } fn f(x: f64) -> f64 { jvp!(h)(x, x).1 }",
    "fn f(x: f64) -> (f64, Table<Fin<2>, (f64, f64)>) { (x, [(x, x), (x, x)]) }",
    "fn f<N: IndexSet>(g: impl Fn(&Table<N, f64>) -> f64, x: &Table<N, f64>) -> f64 { g(x) }",
    "fn f<N: IndexSet>(g: impl Fn(f64) -> Table<N, f64>, x: &Table<N, f64>) -> f64 { sum(g(1.0)) + sum(x) }",
    "fn f(g: impl Fn(f64) -> f64, x: f64) -> f64 { grad!(g)(x) }",
    "fn f(x: f64) -> (f64, impl Fn(f64) -> f64) { (x, |y| y) }",
    "fn f(x: &Table<bool, f64>) -> f64 { sum(for b in bool { x[b] * TABLE[b] }) }",
    "fn f(x: f64) -> [f64; 2] { [x, x] }",
    "fn f(x: f64) -> f64 { match x { 1.0..=2.0 | ref y => x } }",
    "fn f<const N: i32>(x: f64) -> f64 { x }",
    "fn f(x: &Table<f64>) -> f64 { 1.0 }",
    "fn f(x: &Table<&f64, f64>) -> f64 { 1.0 }",
    "fn f(x: &Table<f64, f64>) -> f64 { 1.0 }",
    "fn f(x: f64) -> f64 { sum(for k in 3 { x }) }",
    "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N.rev(1) { x[i] }) }",
    "fn f(x: f64) -> f64 { let y; y = x; y }",
    "fn f(x: f64) -> f64 { 'c'; x }",
    "fn f(x: f64) -> f64 { x + 340282366920938463463374607431768211456 }",
    "fn f(x: f64) -> f64 { 1i128; x }",
    "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { x[i][i] }) }",
    "fn f<N: IndexSet>(x: &Table<N, bool>) -> f64 { let s = for i in N { let n = i.ordinal(); for k in 0..n { 1.0 } }; sum(s) }",
    "fn f(c: bool, n: usize) -> f64 { let t = if c { let m = 2 * n; for k in 0..m { 1.0 } } else { let m = n; for k in 0..m { 2.0 } }; sum(t) }",
    "fn f(x: f64) -> Extent<Fin<3>> { LENGTH }",
    "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let mut o = None; for i in N { o = Some(i + 1); } o.map_or(0.0, |i| x[i]) }",
    "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let o = if sum(x) > 0.0 { Some(|y: f64| y) } else { None }; o.map_or(0.0, |g| g(1.0)) }",
    "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N { let e = if x[i] > 0.0 { Either::Left(i) } else { Either::Right(2.0) }; match e { Either::Left(j) => x[j], Either::Right(y) => y } }) }",
    "fn g(m: usize) -> Table<Dyn, f64> { for k in 0..m { 1.0 } } fn f(c: bool, n: usize) -> f64 { let t = if c { g(n) } else { g(2 * n) }; sum(t) }",
    "fn f<N: IndexSet>(x: &Table<N, f64>, i: N) -> f64 { x[(i, i)] }",
    "fn f(x: f64) -> f64 { builtin # offset_of(x, y) }",
    "fn f(a: &mut Accum<f64>, x: f64) { a.put(x); }",
    "#[pointful(remat)] fn h(k: usize, x: f64) -> Table<Dyn, f64> { let m = 2 * k; for i in 0..m { x } } fn f(k: usize, x: f64) -> f64 { grad!(|y: f64| sum(h(k, y)))(x) }",
    "fn f<N: IndexSet>(x: &Tables<N, f64>) -> f64 { 1.0 }",
    "fn f<N: IndexSet>(a: &Table<Fin<2>, Ragged<N, f64>>) -> f64 { 1.0 }",
    "fn f<N: IndexSet>(x: Option<&Table<N, f64>>) -> f64 { 1.0 }",
    "fn f(x: &mut Option<f64>) { *x = None; }",
    "#[pointful] struct S { a: Option<f64> } fn f(x: f64) -> f64 { x }",
    "fn g(x: f64) -> Option<f64> { Some(x) } fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let t = vmap!(g)(x); 1.0 }",
    "#[pointful(extern, remat)] fn f(x: f64) -> f64 { any::code() }",
    "#[pointful(extern)] fn f(x: &f64) -> f64 { any::code() }",
    "#[pointful(extern)] fn f<T: Float>(x: T) -> f64 { any::code() }",
    "#[pointful(extern)] fn g(x: f64) -> f64 { any::code() } fn f(x: f64) -> f64 { grad!(g)(x) }",
];

/// Messages that no program can be made to show, and why.
const UNPROVOKED: &[(&str, &str)] = &[
    ("internal", "it says that the compiler is wrong"),
    (
        "escaping_range",
        "two ranges are two index sets, which inference says first",
    ),
    (
        "of_broken",
        "the errors themselves are said again, unless the compiler is wrong",
    ),
    (
        "untransformable",
        "lowering says first why a function has no derivative",
    ),
];

/// A message: what says it, and the texts between what it fills in.
struct Message {
    name: String,
    texts: Vec<Vec<String>>,
}

impl Message {
    /// Whether this is what it says.
    fn says(&self, shown: &str) -> bool {
        self.texts.iter().any(|texts| {
            let mut rest = shown;
            texts.iter().enumerate().all(|(k, text)| {
                let found = rest.find(text.as_str());
                let found = found.filter(|&at| k > 0 || at == 0);
                if let Some(at) = found {
                    rest = &rest[at + text.len()..];
                }
                found.is_some()
            })
        })
    }
}

/// The texts of a format string.
fn texts(format: &str) -> Vec<String> {
    let (mut texts, mut text, mut inside) = (Vec::new(), String::new(), false);
    let plain = format.replace("{{", "\u{1}").replace("}}", "\u{2}");
    for c in plain.chars() {
        match c {
            '{' => {
                texts.push(std::mem::take(&mut text));
                inside = true;
            }
            '}' => inside = false,
            _ if inside => {}
            '\u{1}' => text.push('{'),
            '\u{2}' => text.push('}'),
            c => text.push(c),
        }
    }
    texts.push(text);
    texts
}

/// The literals in what a diagnostic is made with: of each call the first one, which is the
/// message.
#[derive(Default)]
struct Made {
    texts: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Made {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if call.func.to_token_stream().to_string() == "Diagnostic :: new" {
            let mut first = First(None);
            call.args
                .iter()
                .skip(1)
                .for_each(|arg| first.visit_expr(arg));
            self.texts.extend(first.0.as_deref().map(texts));
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        // `let message = format!(…);`
        if local.pat.to_token_stream().to_string() == "message" {
            let mut first = First(None);
            first.visit_local(local);
            self.texts.extend(first.0.as_deref().map(texts));
        }
        syn::visit::visit_local(self, local);
    }
}

/// The first literal, also in a macro's tokens.
struct First(Option<String>);

impl<'ast> Visit<'ast> for First {
    fn visit_lit_str(&mut self, lit: &'ast syn::LitStr) {
        self.0.get_or_insert_with(|| lit.value());
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let first = call.tokens.clone().into_iter().next();
        if let Some(Ok(lit)) = first.map(|tree| syn::parse2::<syn::LitStr>(tree.into())) {
            self.visit_lit_str(&lit);
        }
    }
}

/// The catalogue.
fn catalogue() -> Vec<Message> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diag");
    let mut messages = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the catalogue is there") {
        let path = entry.expect("its files can be read").path();
        let text = std::fs::read_to_string(path).expect("a file is text");
        let file = syn::parse_file(&text).expect("a file is Rust");
        for item in &file.items {
            let syn::Item::Fn(function) = item else {
                continue;
            };
            let result = function.sig.output.to_token_stream().to_string();
            if result != "-> Diagnostic" || matches!(function.vis, syn::Visibility::Inherited) {
                continue;
            }
            let mut made = Made::default();
            made.visit_block(&function.block);
            messages.push(Message {
                name: function.sig.ident.to_string(),
                texts: made.texts,
            });
        }
    }
    messages.sort_by(|a, b| a.name.cmp(&b.name));
    messages
}

/// What the tests provoke.
fn provoked() -> Vec<String> {
    let mut shown = Vec::new();
    for source in REJECTED {
        match lower_source(source) {
            Ok(_) => panic!("this is not rejected: {source}"),
            Err(errors) => shown.extend(errors.into_iter().map(|error| error.message)),
        }
    }
    // What the macros refuse before they read it.
    let deep = format!(
        "fn f(x: f64) -> f64 {{ {}x{} }}",
        "(".repeat(3000),
        ")".repeat(3000)
    );
    for item in [deep.as_str(), "const X: f64 = 1.0;"] {
        let tokens = attribute(
            TokenStream::new(),
            item.parse().expect("tokens"),
            "here",
            Options::default(),
        );
        shown.extend(errors(tokens));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
    for entry in std::fs::read_dir(folder).expect("the programs are there") {
        let path = entry.expect("their files can be read").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "stderr")
        {
            let text = std::fs::read_to_string(path).expect("a file is text");
            let errors = text.lines().filter_map(|line| line.strip_prefix("error: "));
            shown.extend(errors.map(str::to_owned));
        }
    }
    shown
}

/// The first lines of the errors in an expansion.
fn errors(tokens: TokenStream) -> Vec<String> {
    let (mut shown, mut said) = (Vec::new(), false);
    for tree in tokens {
        match tree {
            TokenTree::Ident(name) if name == "compile_error" => said = true,
            TokenTree::Group(group) if said => {
                said = false;
                let text = syn::parse2::<syn::LitStr>(group.stream()).expect("a text");
                shown.extend(text.value().lines().next().map(str::to_owned));
            }
            TokenTree::Group(_)
            | TokenTree::Ident(_)
            | TokenTree::Punct(_)
            | TokenTree::Literal(_) => {}
        }
    }
    shown
}

#[test]
fn every_message_has_a_test() {
    let (messages, shown) = (catalogue(), provoked());
    assert!(
        messages.len() > 150,
        "only {} messages were found",
        messages.len()
    );
    let mut without = Vec::new();
    for message in &messages {
        let provoked = shown.iter().any(|shown| message.says(shown));
        let excused = UNPROVOKED.iter().any(|(name, _)| *name == message.name);
        assert!(
            !(provoked && excused),
            "`{}` is provoked after all",
            message.name
        );
        if !provoked && !excused {
            without.push(format!("{}: {:?}", message.name, message.texts));
        }
    }
    assert!(
        without.is_empty(),
        "no test provokes these messages:\n{}",
        without.join("\n")
    );
    for (name, _) in UNPROVOKED {
        assert!(
            messages.iter().any(|message| message.name == *name),
            "there is no message `{name}`"
        );
    }
}

#[test]
fn a_message_without_a_test_would_be_found() {
    let message = Message {
        name: "invented".to_owned(),
        texts: vec![texts("nobody says `{this}` of {{that}}")],
    };
    assert!(message.says("nobody says `x` of {that}"));
    assert!(!message.says("nobody says `x` of that"));
    assert!(!provoked().iter().any(|shown| message.says(shown)));
}

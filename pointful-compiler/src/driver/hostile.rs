//! Whatever is written, an expansion ends soon and is code or diagnostics: never a panic, never an
//! overflow of the stack.
//!
//! Sources are the programs of the corpus with tokens left out, doubled, exchanged, replaced or
//! wrapped. `cargo test --release -p pointful-compiler --lib hostile -- --ignored` tries 20 000 of
//! them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::{Options, attribute, define, explain, index_set_companion, linked, transform};
use crate::link::{Entry, EntryKind, Names, Payload, unique_name};
use crate::syntax::names::function_uses;
use crate::syntax::parse::parse_function;
use crate::syntax::tree::path_key;
use crate::testing::Rng;
use crate::testing::tokens::{Change, changed, flat};

const FUNCTIONS: &str = include_str!("../../../tests/corpus/functions.rs");
const DERIVATIVES: &str = include_str!("../../../tests/corpus/derivatives.rs");

/// What the compiler's thread has in rustc.
const STACK: usize = 8 << 20;

/// How long an expansion may take. A debug build of the compiler is not what users run, and
/// verifies after every pass.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 });

/// Runs on a stack as large as rustc's.
fn on_a_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, run);
        match thread.expect("a thread").join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Functions by name, with their own annotations left out.
struct Program {
    items: BTreeMap<String, TokenStream>,
}

impl Program {
    fn of(items: impl IntoIterator<Item = TokenStream>) -> Self {
        let named = items.into_iter().filter_map(|item| {
            let function: syn::ItemFn = syn::parse2(item.clone()).ok()?;
            Some((function.sig.ident.to_string(), item))
        });
        Self {
            items: named.collect(),
        }
    }

    /// A function and what it calls, callees first.
    fn entries(&self, name: &str, entries: &mut Vec<Entry>) {
        let Some(item) = self.items.get(name) else {
            return;
        };
        let Ok(parsed) = syn::parse2::<syn::ItemFn>(item.clone()) else {
            return;
        };
        let unique = unique_name(&parsed.sig.ident, "file:1:1", item);
        if entries.iter().any(|entry| entry.name == unique) {
            return;
        }
        let Ok(function) = parse_function(&parsed) else {
            return;
        };
        let mut names = Names::default();
        for path in &function_uses(&function).functions {
            let key = path_key(path);
            if let Some(callee) = self.items.get(&key).filter(|_| key != name)
                && let Ok(callee_item) = syn::parse2::<syn::ItemFn>(callee.clone())
            {
                self.entries(&key, entries);
                names
                    .functions
                    .push((key, unique_name(&callee_item.sig.ident, "file:1:1", callee)));
            }
        }
        entries.push(Entry {
            kind: EntryKind::Function,
            name: unique,
            args: TokenStream::new(),
            item: item.clone(),
            names,
            constants: Vec::new(),
        });
    }

    /// Answers what an expansion asks until it is one, as rustc would.
    fn answered(&self, mut tokens: TokenStream) -> TokenStream {
        for _ in 0..100 {
            let parts: Vec<TokenTree> = tokens.clone().into_iter().collect();
            let [path @ .., TokenTree::Punct(bang), TokenTree::Group(state)] = &parts[..] else {
                return tokens;
            };
            let Some(TokenTree::Ident(name)) = path.last() else {
                return tokens;
            };
            if bang.as_char() != '!' || name == "macro_rules" || name == "compile_error" {
                return tokens;
            }
            let mut entries = Vec::new();
            self.entries(&name.to_string(), &mut entries);
            // What does not exist rustc itself refuses.
            if entries.is_empty() {
                return tokens;
            }
            let payload = Payload {
                broken: false,
                errors: TokenStream::new(),
                entries,
            };
            let state = state.stream();
            tokens = linked(quote!({ #payload } #state), Options::default());
        }
        panic!("it asks for ever");
    }

    /// The expansion of one function, which must come soon; whether it is without an error.
    fn expands(&self, item: &TokenStream) -> bool {
        let start = Instant::now();
        let expansion = self.answered(attribute(
            TokenStream::new(),
            item.clone(),
            "file:1:1",
            Options::default(),
        ));
        judge(&expansion, start.elapsed(), item)
    }
}

/// No bug, and not late.
fn judge(expansion: &TokenStream, took: Duration, source: &TokenStream) -> bool {
    assert!(took < LIMIT, "{took:?} for\n{source}");
    assert!(!expansion.is_empty(), "nothing for\n{source}");
    let wrong = mentions(expansion, "compile_error");
    if wrong {
        let text = expansion.to_string();
        assert!(!text.contains("has a bug"), "{source}\n{text}");
    }
    !wrong
}

fn mentions(tokens: &TokenStream, word: &str) -> bool {
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(rest) = open.last_mut() {
        match rest.next() {
            Some(TokenTree::Ident(ident)) if ident == word => return true,
            Some(TokenTree::Group(group)) => open.push(group.stream().into_iter()),
            Some(_) => {}
            None => {
                open.pop();
            }
        }
    }
    false
}

/// The functions of a file as tokens.
fn items(text: &str) -> Vec<TokenStream> {
    let file = syn::parse_file(text).expect("the corpus parses");
    file.items
        .iter()
        .filter(|item| matches!(item, syn::Item::Fn(_)))
        .map(ToTokens::to_token_stream)
        .collect()
}

/// So many changes of the corpus: some give code, most do not.
fn try_changes(count: usize) {
    let files = [items(FUNCTIONS), items(DERIVATIVES)];
    let programs: Vec<Program> = files
        .iter()
        .map(|items| Program::of(items.clone()))
        .collect();
    let sources: Vec<(usize, &TokenStream)> = files
        .iter()
        .enumerate()
        .flat_map(|(file, items)| items.iter().map(move |item| (file, item)))
        .collect();
    let mut words = Vec::new();
    sources
        .iter()
        .for_each(|(_, item)| flat((*item).clone(), &mut words));
    let rng = &mut Rng::new(42);
    let mut valid = 0;
    for _ in 0..count {
        let (file, item) = sources[rng.below(sources.len())];
        let mut item = item.clone();
        // Most programs with one change are nearly right, which reaches furthest.
        for _ in 0..rng.pick(&[1, 1, 1, 2, 5]) {
            let mut own = Vec::new();
            flat(item.clone(), &mut own);
            let change = match rng.below(14) {
                0..=2 => Change::LeaveOut,
                3..=4 => Change::Double,
                5..=6 => Change::Exchange,
                7..=10 => Change::Replace(words[rng.below(words.len())].clone()),
                11 => Change::Empty,
                12 => Change::Wrap(rng.pick(&[1, 30, 200])),
                _ => Change::Repeat(rng.pick(&[3, 70, 600])),
            };
            item = changed(item, &mut rng.below(own.len().max(1)), &change);
        }
        valid += usize::from(programs[file].expands(&item));
    }
    assert!(
        valid > count / 50 && valid < count,
        "{valid} of {count} are valid"
    );
}

#[test]
fn a_changed_program_is_code_or_diagnostics() {
    let count = if cfg!(debug_assertions) { 250 } else { 2000 };
    on_a_stack(|| try_changes(count));
}

#[test]
#[ignore = "minutes in a release build"]
fn many_changed_programs_are_code_or_diagnostics() {
    on_a_stack(|| try_changes(20_000));
}

/// A function of this body.
fn body(text: &str) -> String {
    format!("fn f<N: IndexSet>(x: &Table<N, f64>, a: f64, n: usize) -> f64 {{ {text} }}")
}

/// Code that is nested in every way there is, so many times.
fn nested(times: usize) -> Vec<(&'static str, String)> {
    let around = |open: &str, inner: &str, close: &str| {
        body(&format!(
            "{}{inner}{}",
            open.repeat(times),
            close.repeat(times)
        ))
    };
    vec![
        ("parentheses", around("(", "a", ")")),
        ("blocks", around("{", "a", "}")),
        ("tuples", around("(", "a", ", 1.0)")),
        ("arrays", around("[", "a", "]")),
        ("negations", around("-", "a", "")),
        ("negations apart", around("- ", "a", "")),
        ("sums", around("a + ", "a", "")),
        ("sums from the left", around("", "a", " + a")),
        ("products of sums", around("(a + ", "a", ") * a")),
        ("comparisons", around("a < ", "a", "")),
        (
            "conjunctions",
            format!("fn f(a: bool) -> bool {{ {}a }}", "a && ".repeat(times)),
        ),
        ("methods", around("", "a", ".sin()")),
        ("arguments", around("a.max(", "a", ")")),
        ("fields", around("", "a", ".0")),
        ("indices", around("", "x", "[n]")),
        ("indices in indices", around("x[", "n", "]")),
        ("casts", around("", "a", " as f64")),
        ("closures", around("|b: f64| ", "a", "")),
        (
            "closures in transformations",
            around("vmap!(|b: f64| ", "a", ")(a)"),
        ),
        (
            "sums in transformations",
            body(&format!("grad!(|b: f64| {}b)(a)", "b + ".repeat(times))),
        ),
        (
            "conjunctions in assertions",
            body(&format!(
                "assert!({}a > 0.0); a",
                "a > 0.0 && ".repeat(times)
            )),
        ),
        ("calls", around("a(", "a", ")")),
        (
            "conditions",
            around("if a > 1.0 { ", "a", " } else { 2.0 }"),
        ),
        (
            "conditions in conditions",
            around("if ", "a > 1.0", " { true } else { false }"),
        ),
        (
            "alternatives",
            around("if a > 1.0 { a } else ", "{ a }", ""),
        ),
        ("loops", around("sum(for i in N { ", "x[i]", " })")),
        (
            "sequential loops",
            body(&format!(
                "let mut s = a; {} s += a; {} s",
                "for t in 0..n { ".repeat(times),
                "} ".repeat(times)
            )),
        ),
        (
            "whiles",
            body(&format!(
                "let mut s = a; {} s += a; {} s",
                "while s < 1.0 { ".repeat(times),
                "} ".repeat(times)
            )),
        ),
        (
            "matches",
            around("match a > 1.0 { true => ", "a", ", false => a }"),
        ),
        ("references", around("&", "a", "")),
        ("returns", around("return ", "a", "")),
        ("ranges", around("..", "a", "")),
        ("assignments", around("a = ", "a", "")),
        (
            "transformations",
            format!(
                "fn f(x: f64) -> f64 {{ {}g{}(x) }}",
                "grad!(".repeat(times),
                ")".repeat(times)
            ),
        ),
        (
            "types",
            format!(
                "fn f(x: {}f64{}) -> f64 {{ 1.0 }}",
                "(".repeat(times),
                ",)".repeat(times)
            ),
        ),
        (
            "references to types",
            format!("fn f(x: {}f64) -> f64 {{ 1.0 }}", "&".repeat(times)),
        ),
        (
            "generics",
            format!(
                "fn f(x: {}f64{}) -> f64 {{ 1.0 }}",
                "Table<".repeat(times),
                ">".repeat(times)
            ),
        ),
        (
            "products",
            format!(
                "fn f<N: IndexSet>(x: &Table<{}N{}, f64>) -> f64 {{ 1.0 }}",
                "(".repeat(times),
                ", N)".repeat(times)
            ),
        ),
        (
            "patterns",
            body(&format!(
                "let {}b{} = a; b",
                "(".repeat(times),
                ", _)".repeat(times)
            )),
        ),
        (
            "names for patterns",
            body(&format!("let {}b = a; b", "b @ ".repeat(times))),
        ),
        (
            "attributes",
            format!("{} fn f(x: f64) -> f64 {{ x }}", "#[inline] ".repeat(times)),
        ),
        ("brackets of unknown macros", around("m![", "a", "]")),
    ]
}

#[test]
fn what_is_nested_is_code_or_diagnostics() {
    for times in [20, 120, 250, 1000, 20_000] {
        // A debug build takes long for what users do not write anyway.
        if cfg!(debug_assertions) && times == 250 {
            continue;
        }
        for (what, text) in nested(times) {
            println!("{what}, {times} times");
            // The parser of tokens needs a stack of its own size for the deepest.
            on_a_stack(|| {
                if let Ok(tokens) = text.parse::<TokenStream>() {
                    Program::of([]).expands(&tokens);
                }
            });
        }
    }
}

#[test]
fn other_macros_refuse_what_is_nested_too_deeply() {
    on_a_stack(|| {
        for times in [200, 20_000] {
            let inner = |open: &str, close: &str| -> TokenStream {
                format!("{}f{}", open.repeat(times), close.repeat(times))
                    .parse()
                    .expect("tokens")
            };
            for (open, close) in [("(", ")"), ("!", ""), ("grad!(", ")")] {
                assert!(mentions(
                    &transform("grad", inner(open, close), Options::default()),
                    "compile_error"
                ));
                assert!(mentions(&explain(inner(open, close)), "compile_error"));
                assert!(mentions(
                    &define(inner(open, close), "file:1:1", Options::default()),
                    "compile_error"
                ));
                assert!(mentions(
                    &crate::derive::index_set(inner(open, close)),
                    "compile_error"
                ));
                assert!(index_set_companion(inner(open, close), "file:1:1").is_empty());
            }
        }
    });
}

#[test]
fn a_long_chain_of_calls_is_code_or_a_diagnostic() {
    for times in [30, 2000] {
        on_a_stack(|| {
            let first = "fn f0(x: f64) -> f64 { x * 2.0 }".to_owned();
            let others =
                (1..times).map(|k| format!("fn f{k}(x: f64) -> f64 {{ f{}(x) + 1.0 }}", k - 1));
            let items: Vec<TokenStream> = std::iter::once(first)
                .chain(others)
                .map(|text| text.parse().expect("tokens"))
                .collect();
            let last = items.last().expect("some").clone();
            let program = Program::of(items);
            let start = Instant::now();
            let expansion = program.answered(attribute(
                TokenStream::new(),
                last.clone(),
                "file:1:1",
                Options::default(),
            ));
            assert_eq!(mentions(&expansion, "compile_error"), times > 1000);
            if times < 1000 {
                judge(&expansion, start.elapsed(), &last);
            }
        });
    }
}

/// A body need not be parsed to keep the function's name and type known.
#[test]
fn what_is_too_deep_keeps_its_signature() {
    let text = body(&format!("{}a{}", "(".repeat(300), ")".repeat(300)));
    let expansion = attribute(
        TokenStream::new(),
        text.parse().expect("tokens"),
        "file:1:1",
        Options::default(),
    );
    let text = expansion.to_string();
    assert!(text.contains("this is nested too deeply"), "{text}");
    assert!(text.contains("fn f < N : IndexSet >"), "{text}");
}

//! Whatever an author calls things, emitted code is the same but for that name, and the name meets
//! none of its own.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use pointful_compiler::syntax::names::{is_reserved, is_reserved_type};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;

/// A name that emitted code does not have.
const NEUTRAL: &str = "qqz";

/// Programs in which a parameter, a local, a field, and a function have a name.
const PROGRAMS: [&str; 5] = [
    "fn f<N: IndexSet, M: IndexSet>(zzis: &Table<N, M>, qqz: &Table<N, f32>) -> Table<M, f32> {
         let mut zzh = Accum::zero(); for zzn in N { zzh[zzis[zzn]] += qqz[zzn]; } zzh.get()
     }",
    "fn f<N: IndexSet>(zzw: &Table<N, f64>, qqz: f64) -> f64 {
         let mut zzs = 0.0; let mut zzmost = 0.0;
         for zzi in N { zzs = zzs * qqz + zzw[zzi]; zzmost = zzs.max(zzmost); }
         zzmost
     }",
    "fn f<N: IndexSet>(zzw: &Table<N, f64>) -> Table<N, f64> {
         let qqz = for zzn in N { zzw[zzn].exp() };
         for zzi in N { sum(for zzj in N { qqz[zzi] * (qqz[zzj] - zzw[zzi]).sin() }) }
     }",
    "struct S<N: IndexSet> { qqz: Table<N, f64>, zzb: f64 }
     fn f<N: IndexSet>(zzs: &S<N>) -> f64 { sum(zzs.qqz) + zzs.zzb }",
    "fn qqz(zzx: f64) -> f64 { if zzx > 0.0 { zzx.sin() } else { zzx } }
     fn f<N: IndexSet>(zzw: &Table<N, f64>) -> f64 { let mut zzt = 0.0; for zzi in N { zzt = qqz(zzw[zzi] + zzt); } zzt }",
];

const CONSTANT: &str = "fn f<N: IndexSet>(zzw: &Table<N, f64>) -> f64 { sum(QQZ * zzw) + QQZ }";

fn emitted(source: &str) -> TokenStream {
    let linked = link(source).unwrap_or_else(|e| panic!("{source}: {}", e[0].message));
    let stages = pipeline::stages(&linked).unwrap_or_else(|e| panic!("{source}: {}", e[0].message));
    pipeline::emit(&stages)
}

fn flat(tokens: TokenStream, out: &mut Vec<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => flat(group.stream(), out),
            other => out.push(other.to_string()),
        }
    }
}

fn is_identifier(text: &str) -> bool {
    syn::parse_str::<Ident>(text).is_ok()
}

/// All identifiers that expansions of the corpus mention.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for file in [
        "scatters",
        "steps",
        "stencils",
        "windows",
        "angles",
        "derivatives",
    ] {
        let path = format!("{}/../tests/corpus/{file}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a file of the corpus");
        let file: syn::File = syn::parse_str(&text).expect("Rust");
        let mut before = String::new();
        for item in file.items {
            let syn::Item::Fn(function) = item else {
                continue;
            };
            before.push_str(&function.to_token_stream().to_string());
            if matches!(function.vis, syn::Visibility::Public(_)) {
                let mut texts = Vec::new();
                flat(emitted(&before), &mut texts);
                words.extend(texts.into_iter().filter(|text| is_identifier(text)));
            }
        }
    }
    words
}

/// The block that holds the host function.
fn host(tokens: TokenStream) -> Option<TokenStream> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is =
        |at: usize, word: &str| matches!(&trees.get(at), Some(TokenTree::Ident(i)) if *i == word);
    if (0..trees.len()).any(|at| is(at, "fn") && is(at + 1, "host")) {
        return Some(trees.into_iter().collect());
    }
    trees.into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => host(group.stream()),
        _ => None,
    })
}

/// A program with the neutral name, and what is emitted for it.
struct Plain {
    source: &'static str,
    neutral: &'static str,
    texts: Vec<String>,
    /// Of these those of the host function.
    inner: Vec<String>,
}

impl Plain {
    fn new(source: &'static str, neutral: &'static str) -> Self {
        let (mut texts, mut inner) = (Vec::new(), Vec::new());
        let tokens = emitted(source);
        flat(host(tokens.clone()).expect("a host function"), &mut inner);
        flat(tokens, &mut texts);
        // The author's own token stands outside of what has names of its own.
        assert!(!inner.iter().any(|text| text == neutral), "{source}");
        Self {
            source,
            neutral,
            texts,
            inner,
        }
    }

    /// Holds that the program is the same with a word for the neutral name, and that the word meets
    /// nothing.
    fn check(&self, word: &str) {
        let source = self.source;
        let mut named = Vec::new();
        flat(emitted(&source.replace(self.neutral, word)), &mut named);
        assert_eq!(self.texts.len(), named.len(), "{word} in {source}");
        let is_its = |text: &str| text.to_lowercase().contains(NEUTRAL);
        let own: BTreeSet<&String> = self.inner.iter().filter(|text| !is_its(text)).collect();
        for (plain, named) in self.texts.iter().zip(&named) {
            if !is_its(plain) {
                assert_eq!(plain, named, "{word} in {source}");
            } else if is_identifier(plain) && plain != self.neutral {
                assert!(
                    !own.contains(named),
                    "`{word}` becomes `{named}` in {source}"
                );
            }
        }
    }
}

#[test]
fn every_identifier_can_be_a_name() {
    let words = words();
    assert!(words.len() > 200, "{} words", words.len());
    for known in ["launch", "contract", "most", "range", "acc", "host"] {
        assert!(
            words.iter().any(|word| word
                .trim_end_matches('_')
                .trim_end_matches(|c: char| c.is_ascii_digit())
                == known),
            "{known}"
        );
    }
    let programs = PROGRAMS.map(|source| Plain::new(source, NEUTRAL));
    let constants = Plain::new(CONSTANT, "QQZ");
    let (next, tried) = (Mutex::new(words.iter()), AtomicUsize::new(0));
    let some = || {
        loop {
            let Some(word) = next.lock().expect("no word has failed").next() else {
                return;
            };
            let small = word.chars().all(|c| !c.is_uppercase());
            let is_word = is_reserved(word) || is_reserved_type(word);
            if small && !is_word && word != "f" {
                programs.iter().for_each(|program| program.check(word));
                tried.fetch_add(1, Ordering::Relaxed);
            }
            let constant = word.to_uppercase();
            if constant.len() > 1
                && is_identifier(&constant)
                && constant.starts_with(char::is_alphabetic)
            {
                constants.check(&constant);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(some);
        }
    });
    let tried = tried.into_inner();
    assert!(tried > 150, "{tried} words");
}

//! How long the compiler takes for large functions, optimised as little as it is where users' debug
//! builds run it: this script is built as a macro is.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pointful_compiler::driver::count_tokens;
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use proc_macro2::TokenStream;
use quote::quote;

/// Large functions: what each is called, how many microseconds it took, and how many tokens were
/// emitted.
pub(super) fn measured() -> TokenStream {
    let times = sources().into_iter().map(|(name, source)| {
        let runs: Vec<(Duration, usize)> = (0..5).map(|_| run(&source)).collect();
        // The machine may do other things beside: the fastest run says what the compiler needs.
        let fastest = runs.iter().map(|(time, _)| *time).min().unwrap_or_default();
        let micros = u64::try_from(fastest.as_micros()).unwrap_or(u64::MAX);
        let tokens = runs[0].1;
        quote!((#name, #micros, #tokens))
    });
    quote! { /** What was measured: a name, microseconds, tokens. */ pub const MEASURED: &[(&str, u64, usize)] = &[#(#times),*]; }
}

fn run(source: &str) -> (Duration, usize) {
    let start = clock();
    let linked = link(source).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    let stages = pipeline::stages(&linked).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    let tokens = pipeline::emit(&stages);
    (clock().saturating_sub(start), count_tokens(tokens))
}

/// The time that this thread has run, where the system says it; else the time.
fn clock() -> Duration {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match schedule
        .split(' ')
        .next()
        .and_then(|nanos| nanos.parse().ok())
    {
        Some(nanos) => Duration::from_nanos(nanos),
        None => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
    }
}

fn sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for count in [200, 400] {
        let program = format!(
            "fn large<N: IndexSet>(t: &Table<N, f64>, y: f64) -> f64 {{ {} sum(for i in N {{ let x = t[i] + total; {} v{} }}) }}",
            tables(count / 8),
            statements(count - count / 8),
            count - count / 8 - 1,
        );
        all.push((
            format!("{count} statements"),
            program.replace("fn large", "fn f"),
        ));
        all.push((
            format!("the gradient of {count} statements"),
            format!(
                "{program} fn f<N: IndexSet>(t: &Table<N, f64>, y: f64) -> (Table<N, f64>, f64) {{ grad!(large)(t, y) }}"
            ),
        ));
    }
    for (kind, sequential) in [("loops", true), ("sums", false)] {
        let nest = nest(8, sequential);
        let generics: String = (0..8).map(|k| format!("A{k}: IndexSet, ")).collect();
        let params: String = (0..8)
            .map(|k| format!("x{k}: &Table<A{k}, f64>, "))
            .collect();
        all.push((
            format!("a nest of 8 {kind}"),
            format!("fn f<{generics}>({params}) -> f64 {{ {nest} }}"),
        ));
        all.push((
            format!("the gradient of a nest of 8 {kind}"),
            format!(
                "fn nest<{generics}>({params}) -> f64 {{ {nest} }}
                fn f<{generics}>({params}) -> (Table<A0, f64>, Table<A7, f64>) {{
                    grad!(nest, wrt = (x0, x7))(x0, x1, x2, x3, x4, x5, x6, x7)
                }}"
            ),
        ));
    }
    all
}

/// Statements of scalars, each of which reads some before it.
fn statements(count: usize) -> String {
    let mut text = "let v0 = x * y;".to_owned();
    for k in 1..count {
        let (last, half) = (k - 1, k / 2);
        let value = match k % 6 {
            0 => format!("v{last} * x + {k}.5"),
            1 => format!("v{last}.sin() + y"),
            2 => format!("v{last} * v{half}"),
            3 => format!("if v{last} > 0.0 {{ v{half} }} else {{ x }}"),
            4 => format!("v{last}.exp() / (v{half} + 3.0)"),
            _ => format!("v{last}.tanh() - v{half}"),
        };
        write!(text, "let v{k} = {value};").expect("a string grows");
    }
    text
}

/// Statements of tables, and the sum of the last.
fn tables(count: usize) -> String {
    let mut text = "let w0 = for i in N { t[i] * 2.0 };".to_owned();
    for k in 1..count {
        let (last, half) = (k - 1, k / 2);
        let value = match k % 4 {
            0 => format!("for i in N {{ w{last}[(i + 1).wrap()] + w{half}[i] }}"),
            1 => format!("for i in N {{ w{last}[i].sin() * t[i] }}"),
            2 => format!("{{ let s = sum(w{last}); for i in N {{ w{last}[i] * s }} }}"),
            _ => format!("w{last} * w{half}"),
        };
        write!(text, "let w{k} = {value};").expect("a string grows");
    }
    write!(text, "let total = sum(w{});", count - 1).expect("a string grows");
    text
}

fn nest(depth: usize, sequential: bool) -> String {
    let factors: Vec<String> = (0..depth).map(|k| format!("x{k}[i{k}]")).collect();
    (0..depth).rev().fold(factors.join(" * "), |body, k| {
        if sequential {
            format!(
                "let mut s{k} = 0.1; for i{k} in A{k} {{ s{k} = s{k} * 0.5 + {{ {body} }}; }} s{k}"
            )
        } else {
            format!("sum(for i{k} in A{k} {{ {body} }})")
        }
    })
}

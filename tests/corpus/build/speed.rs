//! What the compiler does for large functions, counted in allocations: these are the same in each
//! run on any machine, and what the compiler walks through it mostly allocates for.

use std::fmt::Write;

use allocation_counter::measure;
use pointful_compiler::driver::count_tokens;
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use proc_macro2::TokenStream;
use quote::quote;

/// Large functions: what each is called, how often memory was asked for, and how many tokens were
/// emitted.
pub(super) fn measured() -> TokenStream {
    let counts = sources().into_iter().map(|(name, source)| {
        let mut tokens = 0;
        let allocations = measure(|| tokens = compile(&source)).count_total;
        quote!((#name, #allocations, #tokens))
    });
    quote! { /** What was counted: a name, allocations, tokens. */ pub const COUNTED: &[(&str, u64, usize)] = &[#(#counts),*]; }
}

/// How many tokens a function becomes.
fn compile(source: &str) -> usize {
    let linked = link(source).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    let stages = pipeline::stages(&linked).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    count_tokens(pipeline::emit(&stages))
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

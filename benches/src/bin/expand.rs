//! What the macro costs for each example: `cargo run -p pointful-benches --bin expand`, in a debug
//! build of the compiler, as users have it.

use std::time::{Duration, Instant};

use pointful_compiler::driver::count_tokens;
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;

fn main() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    println!("| example | functions | median time, ms | emitted tokens |");
    println!("|---|---|---|---|");
    for name in [
        "matmul",
        "histogram",
        "mandelbrot",
        "hotspot",
        "mriq",
        "kmeans",
    ] {
        let text =
            std::fs::read_to_string(format!("{folder}/{name}.rs")).expect("the example is there");
        let source = annotated(&text);
        let functions = source.matches("fn ").count();
        let mut times: Vec<Duration> = Vec::new();
        let mut tokens = 0;
        for _ in 0..11 {
            let start = Instant::now();
            let linked = link(&source).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            let stages =
                pipeline::stages(&linked).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            tokens = count_tokens(pipeline::emit(&stages));
            times.push(start.elapsed());
        }
        times.sort();
        println!(
            "| {name} | {functions} | {:.2} | {tokens} |",
            times[times.len() / 2].as_secs_f64() * 1e3
        );
    }
}

/// The index sets and annotated functions of an example; the last function is compiled with those
/// in front of it.
fn annotated(text: &str) -> String {
    let file = syn::parse_file(text).expect("examples are Rust");
    let is = |attrs: &[syn::Attribute], name: &str| attrs.iter().any(|a| a.path().is_ident(name));
    file.items
        .iter()
        .filter(|item| match item {
            syn::Item::Fn(item) => is(&item.attrs, "pointful"),
            syn::Item::Struct(item) => is(&item.attrs, "derive"),
            syn::Item::Enum(item) => is(&item.attrs, "derive"),
            _ => false,
        })
        .map(|item| quote::quote!(#item).to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

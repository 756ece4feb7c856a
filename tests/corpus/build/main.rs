//! Emits every program of the corpus as a Rust function.

mod programs;
mod random;
mod signature;
mod source;
mod speed;

use std::path::Path;

use proc_macro2::TokenStream;

/// Files of functions as authors write them.
const FUNCTIONS: [&str; 10] = [
    "functions.rs",
    "derivatives.rs",
    "steps.rs",
    "diagonals.rs",
    "stencils.rs",
    "sequences.rs",
    "angles.rs",
    "scatters.rs",
    "windows.rs",
    "states.rs",
];

fn main() {
    println!("cargo::rerun-if-changed=build");
    for name in FUNCTIONS {
        println!("cargo::rerun-if-changed={name}");
        let text = std::fs::read_to_string(name).expect("the file is there");
        write(name, source::functions(&text));
    }
    write(
        "programs.rs",
        programs::all().into_iter().map(|program| {
            pointful_compiler::ir::verify_after("writing it down", &program);
            signature::function(&program)
        }),
    );
    write("random.rs", random::functions());
    write("speed.rs", [speed::measured()]);
}

fn write(name: &str, functions: impl IntoIterator<Item = TokenStream>) {
    let functions = functions.into_iter();
    let file: syn::File = syn::parse_quote! { #(#functions)* };
    let target = std::env::var_os("OUT_DIR").expect("cargo names a directory for what is built");
    std::fs::write(Path::new(&target).join(name), prettyplease::unparse(&file))
        .expect("the directory can be written to");
}

//! Emits every program of the corpus as a Rust function.

mod programs;
mod random;
mod signature;
mod source;
mod speed;

use std::path::Path;

use proc_macro2::TokenStream;

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=functions.rs");
    println!("cargo::rerun-if-changed=derivatives.rs");
    println!("cargo::rerun-if-changed=angles.rs");
    println!("cargo::rerun-if-changed=steps.rs");
    println!("cargo::rerun-if-changed=stencils.rs");
    write(
        "programs.rs",
        programs::all().into_iter().map(|program| {
            pointful_compiler::ir::verify_after("writing it down", &program);
            signature::function(&program)
        }),
    );
    write("random.rs", random::functions());
    write(
        "functions.rs",
        source::functions(include_str!("../functions.rs")),
    );
    write(
        "derivatives.rs",
        source::functions(include_str!("../derivatives.rs")),
    );
    write("steps.rs", source::functions(include_str!("../steps.rs")));
    write(
        "stencils.rs",
        source::functions(include_str!("../stencils.rs")),
    );
    write("angles.rs", source::functions(include_str!("../angles.rs")));
    write("speed.rs", [speed::measured()]);
}

fn write(name: &str, functions: impl IntoIterator<Item = TokenStream>) {
    let functions = functions.into_iter();
    let file: syn::File = syn::parse_quote! { #(#functions)* };
    let target = std::env::var_os("OUT_DIR").expect("cargo names a directory for what is built");
    std::fs::write(Path::new(&target).join(name), prettyplease::unparse(&file))
        .expect("the directory can be written to");
}

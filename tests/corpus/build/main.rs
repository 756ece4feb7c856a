//! Emits every program of the corpus as a Rust function.

mod programs;
mod signature;

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build");
    let functions = programs::all()
        .into_iter()
        .map(|program| signature::function(&program));
    let file: syn::File = syn::parse_quote! { #(#functions)* };
    let target = std::env::var_os("OUT_DIR").expect("cargo names a directory for what is built");
    std::fs::write(
        Path::new(&target).join("programs.rs"),
        prettyplease::unparse(&file),
    )
    .expect("the directory can be written to");
}

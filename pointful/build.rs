//! There is nothing to build: cargo knows the key `links` only of packages that have a script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

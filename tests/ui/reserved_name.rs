//! Functions by the name of a word, or of a macro of Rust's; types by the name of a type.

use pointful::prelude::*;

#[pointful]
fn sum(x: f64) -> f64 {
    x
}

#[pointful]
fn vec(x: f64) -> f64 {
    x
}

#[pointful]
fn assert(x: f64) -> f64 {
    vec(x)
}

#[derive(Clone, Copy, IndexSet)]
struct Accum(usize);

mod inner {
    #[pointful::pointful]
    pub struct Option {
        pub x: f64,
    }
}

fn main() {
    sum(1.0);
    assert(vec![1.0][0]);
    assert!(true);
}

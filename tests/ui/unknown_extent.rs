use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(x: f64) -> f64 {
    sum(for i in N { x })
}

fn main() {}

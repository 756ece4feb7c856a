use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    for i in N { a[i] = 0.0; }
    0.0
}

fn main() {}

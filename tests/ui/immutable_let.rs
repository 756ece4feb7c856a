use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    let x = 0.0;
    for i in N { x = a[i]; }
    x
}

fn main() {}

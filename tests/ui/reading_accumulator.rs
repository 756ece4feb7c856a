use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    let mut s = Accum::zero();
    for i in N { s += a[i]; }
    s * 2.0
}

fn main() {}

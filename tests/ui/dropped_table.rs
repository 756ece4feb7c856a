use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    for i in N { a[i] }
    sum(for i in N { a[i] })
}

fn main() {}

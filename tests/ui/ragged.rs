use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(a: &Table<N, f64>) -> f64 {
    let t = for i in N { for j in ..i { a[j] } };
    sum(for i in N { sum(t[i]) })
}

fn main() {}

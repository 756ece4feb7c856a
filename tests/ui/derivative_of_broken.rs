//! A function with a mistake has no derivatives: one error for the mistake, and one where it is transformed.

use pointful::prelude::*;

#[pointful]
fn broken<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x) + x.nothing()
}

fn main() {
    let x = Table::<Fin<2>, f64>::zeros(Extent::new(()));
    let (value, gradient) = value_and_grad!(broken)(&x);
    println!("{} {}", value + 1.0, gradient.iter().sum::<f64>());
}

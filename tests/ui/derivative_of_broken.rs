//! A function with a mistake, what calls it, and what is derived of both: one error, for the mistake.

use pointful::prelude::*;

#[pointful]
fn broken<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x) + x.nothing()
}

#[pointful]
fn caller<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 {
    broken(x) * w
}

define! {
    pub fn slope = grad!(caller, wrt = w);
    pub fn bend = hessian!(caller, wrt = w);
}

fn main() {
    let x = Table::<Fin<2>, f64>::zeros(Extent::new(()));
    let (value, gradient) = value_and_grad!(broken)(&x);
    println!("{} {}", value + 1.0, gradient.iter().sum::<f64>());
    let (value, map) = linearize!(caller, wrt = w)(&x, 1.0);
    println!("{}", value + map(1.0) + slope(&x, 1.0) + bend(&x, 1.0));
    let rows = jacobian!(caller, wrt = x)(&x, 2.0);
    println!("{}", rows.as_slice()[0] + grad!(grad!(caller, wrt = w), wrt = w)(&x, 3.0));
    println!("{:?} {}", [1.0, 2.0].map(|w| jvp!(caller, wrt = w)(&x, w, 1.0).1), explain!(broken));
}

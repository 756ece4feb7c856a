//! In host code a variable of the name of a function is no function that can be differentiated.

use pointful::prelude::*;

#[pointful]
fn f(x: f64) -> f64 {
    x * x
}

#[pointful]
fn total<N: IndexSet, T: Float, const K: usize>(x: &Table<(N, Fin<K>), T>) -> T {
    sum(x)
}

fn parameter(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let _ = &f;
    grad!(f)(x)
}

fn closure(x: f64) -> f64 {
    let f = |y: f64| 10.0 * y;
    f(x) + vmap!(f)(&Table::<Dyn, f64>::from(vec![x])).as_slice()[0]
}

fn others(total: f64, f: f64) -> f64 {
    let _text = explain!(f);
    let _map = linearize!(f)(1.0);
    let _value = try_call!(f)(1.0);
    let table = Table::<(Dyn, Fin<2>), f64>::zeros(Extent::<(Dyn, Fin<2>)>::new((1, ())));
    let _ones = grad!(total)(&table);
    total + f
}

// Its value is the function's.
fn capital() -> f64 {
    let function = f;
    function(3.0) + grad!(f)(3.0)
}

fn main() {
    parameter(|x| x, closure(1.0) + others(1.0, 2.0) + capital());
}

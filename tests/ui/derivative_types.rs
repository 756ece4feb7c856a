//! What rustc says where a transformed function in ordinary Rust is given something else than it takes.

use pointful::prelude::*;

#[pointful]
fn times(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn squares<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x * x
}

#[derive(Clone, Copy, Debug, IndexSet)]
struct Row(usize);

#[derive(Clone, Copy, Debug, IndexSet)]
struct Column(usize);

fn main() {
    let rows = Table::<Row, f64>::zeros(Extent::new(2));
    let columns = Table::<Column, f64>::zeros(Extent::new(2));
    grad!(times)(1.0);
    let _ = jvp!(times)(1.0, 2.0, 1.0);
    let _ = vjp!(squares)(&rows, &columns);
    let _ = vjp!(squares)(&rows, rows);
    let _: f64 = grad!(times)(1.0, 2.0);
    let _ = grad!(times)(1.0, 2);
}

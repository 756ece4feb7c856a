//! `wrt` that names what cannot be differentiated: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
struct Line {
    slope: f64,
    many: usize,
}

#[pointful]
fn f<N: IndexSet>(
    x: &Table<N, f64>,
    a: f64,
    k: i64,
    b: bool,
    i: N,
    at: &Table<N, N>,
    n: Extent<N>,
    #[constant] step: f64,
) -> f64 {
    let s = x[at[i]] * a * step * k as f64;
    if b { s } else { s + n.len() as f64 }
}

#[pointful]
fn changed<N: IndexSet>(x: &mut Table<N, f64>, a: f64) -> f64 {
    for i in N { x[i] *= a; }
    sum(x)
}

#[pointful]
fn integer<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    grad!(f, wrt = k)(x, 1.0, 1, true, i, at, n, 1.0)
}

#[pointful]
fn boolean<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    grad!(f, wrt = (a, b))(x, 1.0, 1, true, i, at, n, 1.0)
}

#[pointful]
fn index<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    vjp!(f, wrt = i)(x, 1.0, 1, true, i, at, n, 1.0, 1.0).0
}

#[pointful]
fn indices<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    jvp!(f, wrt = at)(x, 1.0, 1, true, i, at, n, 1.0, at).0
}

#[pointful]
fn extent<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    grad!(f, wrt = n)(x, 1.0, 1, true, i, at, n, 1.0)
}

#[pointful]
fn constant<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    grad!(f, wrt = step)(x, 1.0, 1, true, i, at, n, 1.0)
}

#[pointful]
fn nothing<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    grad!(f, wrt = w)(x, 1.0, 1, true, i, at, n, 1.0)
}

#[pointful]
fn twice<N: IndexSet>(x: &Table<N, f64>, i: N, at: &Table<N, N>, n: Extent<N>) -> f64 {
    grad!(f, wrt = (a, a))(x, 1.0, 1, true, i, at, n, 1.0).0
}

#[pointful]
fn exclusive<N: IndexSet>(mut x: Table<N, f64>) -> f64 {
    grad!(changed, wrt = a)(&mut x, 1.0)
}

#[pointful]
fn field(line: &Line) -> f64 {
    line.slope * line.many as f64
}

#[pointful]
fn of_a_field(line: &Line) -> f64 {
    grad!(field, wrt = slope)(line)
}

#[pointful]
fn of_a_cotangent(x: f64, y: f64) -> f64 {
    grad!(grad!(powered, wrt = y), wrt = seed)(x, y)
}

#[pointful]
fn powered(x: f64, y: f64) -> f64 {
    x.powf(y)
}

fn main() {}

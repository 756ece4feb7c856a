//! Calls of which nobody knows over what they are repeated.

use pointful::prelude::*;

#[pointful]
pub fn pair<N: IndexSet, M: IndexSet>(
    x: &Table<N, f64>,
    u: &Table<N, f64>,
    y: &Table<M, f64>,
    v: &Table<M, f64>,
) -> f64 {
    sum(x * u) + sum(y * v)
}

#[pointful]
pub fn two_readings<A: IndexSet, B: IndexSet, C: IndexSet, D: IndexSet>(
    x: &Table<(C, A, B), f64>,
    u: &Table<(A, B), f64>,
    y: &Table<(A, C, D), f64>,
    v: &Table<(C, D), f64>,
) -> Table<(C, A), f64> {
    pair(x, u, y, v)
}

#[pointful]
pub fn scale(u: &mut Table<Fin<3>, f64>, by: f64) {
    for i in _ {
        u[i] *= by;
    }
}

#[pointful]
pub fn several_change_one<N: IndexSet>(
    mut x: Table<Fin<3>, f64>,
    by: &Table<N, f64>,
) -> Table<Fin<3>, f64> {
    scale(&mut x, by);
    x
}

#[pointful]
pub fn dot(x: &Table<Fin<3>, f64>, y: &Table<Fin<3>, f64>) -> f64 {
    sum(for i in _ { x[i] * y[i] })
}

#[pointful]
pub fn frames_of_a_call<A: IndexSet, B: IndexSet>(
    a: &Table<(A, Fin<3>), f64>,
    b: &Table<(B, Fin<3>), f64>,
) -> Table<(A, B), f64> {
    dot(a, b)
}

#[pointful]
pub fn a_table_is_no_condition<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    if x > 0.0 { x } else { -x }
}

#[pointful]
pub fn an_integer_beside_a_table<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x * 2
}

fn main() {}

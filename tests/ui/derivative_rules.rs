//! Derivatives of authors' own that do not fit: one mistake a function.

use pointful::prelude::*;

#[pointful]
fn one(x: f64) -> f64 {
    x
}

#[pointful]
fn two(x: f64, ct: f64) -> f64 {
    x * ct
}

#[pointful]
fn two_single(x: f64, ct: f32) -> f64 {
    x * ct as f64
}

#[pointful]
fn two_given(x: f64, ct: f64) -> (f64, f64) {
    (x, ct)
}

fn unmarked(x: f64, ct: f64) -> f64 {
    x * ct
}

#[pointful(vjp = one)]
fn takes_no_cotangent(x: f64) -> f64 {
    x
}

#[pointful(vjp = two_single)]
fn takes_another_float(x: f64) -> f64 {
    x
}

#[pointful(vjp = two_given)]
fn gives_too_much(x: f64) -> f64 {
    x
}

#[pointful(jvp = two)]
fn takes_too_few_tangents(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn rows<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, ct: &Table<M, f64>) -> Table<M, f64> {
    sum(x) * ct
}

#[pointful(vjp = rows)]
fn gives_another_shape<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, n: Extent<M>) -> Table<M, f64> {
    for _i in n { sum(x) }
}

#[pointful(vjp = two, jvp = two)]
fn has_two(x: f64) -> f64 {
    x
}

#[pointful(vjp = two, vjp = two)]
fn has_one_twice(x: f64) -> f64 {
    x
}

#[pointful(vjp = two)]
fn of_an_integer(k: i64) -> f64 {
    k as f64
}

#[pointful(vjp = two)]
fn gives_an_integer(x: f64) -> i64 {
    x as i64
}

#[pointful]
fn halved<N: IndexSet>(x: &Table<N, f64>, ct: f64) -> Table<N, f64> {
    ct * x
}

#[pointful(vjp = halved)]
fn changes<N: IndexSet>(x: &mut Table<N, f64>) -> f64 {
    for i in N { x[i] *= 0.5; }
    sum(x)
}

#[pointful(vjp)]
fn names_none(x: f64) -> f64 {
    x
}

#[pointful(vjp = |x, ct| x * ct)]
fn is_a_closure(x: f64) -> f64 {
    x
}

#[pointful(gradient = two)]
fn is_no_option(x: f64) -> f64 {
    x
}

#[pointful(remat = two)]
fn remat_of_something(x: f64) -> f64 {
    x
}

#[pointful(vjp = unmarked)]
fn is_not_pointful(x: f64) -> f64 {
    x
}

#[pointful]
fn three(x: &Table<Dyn, f64>, ct: f64) -> Table<Dyn, f64> {
    for k in 0..3 { ct * k as f64 * x[0] }
}

#[pointful(vjp = three)]
fn gives_another_length(x: &Table<Dyn, f64>) -> f64 {
    sum(x)
}

fn main() {}

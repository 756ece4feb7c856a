//! Functions whose result, or whose parameters, have no derivative: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
fn counted(k: i64) -> i64 {
    k + 1
}

#[pointful]
fn rounded(x: f64) -> i64 {
    x as i64
}

#[pointful]
fn positive(x: f64) -> bool {
    x > 0.0
}

#[pointful]
fn first<N: IndexSet>(x: &Table<N, f64>) -> N {
    argmax(x)
}

#[pointful]
fn pair(x: f64) -> (f64, f64) {
    (x, x)
}

#[pointful]
fn squares<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x * x
}

#[pointful]
fn integers(k: i64) -> f64 {
    grad!(counted)(k) as f64
}

#[pointful]
fn of_an_integer_result(x: f64) -> f64 {
    grad!(rounded)(x)
}

#[pointful]
fn of_a_bool(x: f64) -> f64 {
    value_and_grad!(positive)(x).1
}

#[pointful]
fn tangent_of_an_integer(x: f64) -> f64 {
    jvp!(rounded)(x, 1.0).1
}

#[pointful]
fn cotangent_of_an_index<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    vjp!(first)(x).1
}

#[pointful]
fn of_a_tuple(x: f64) -> f64 {
    grad!(pair)(x)
}

#[pointful]
fn of_a_table<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    grad!(squares)(x)
}

#[pointful]
fn curvature_of_a_table<N: IndexSet>(x: &Table<N, f64>) -> Table<(N, N, N), f64> {
    hessian!(squares)(x)
}

#[pointful]
fn product_with_a_table<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    hvp!(squares)(x, x)
}

#[pointful]
fn times(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn of_two_gradients(x: f64) -> f64 {
    grad!(grad!(times))(x, x)
}

fn main() {}

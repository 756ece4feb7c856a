//! Transformations written in another way than they are: one mistake a function, in bodies.

use pointful::prelude::*;

#[pointful]
fn times(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn of_nothing(x: f64) -> f64 {
    grad!()(x, x).0
}

#[pointful]
fn of_a_call(x: f64) -> f64 {
    grad!(times(x, x))
}

#[pointful]
fn of_a_closure(x: f64) -> f64 {
    grad!(|y| y * y, wrt = x)(x)
}

#[pointful]
fn names_no_option(x: f64) -> f64 {
    grad!(times, x)(x, x)
}

#[pointful]
fn another_option(x: f64) -> f64 {
    grad!(times, over = x)(x, x)
}

#[pointful]
fn a_number(x: f64) -> f64 {
    grad!(times, wrt = 0)(x, x)
}

#[pointful]
fn no_names(x: f64) -> f64 {
    grad!(times, wrt = ())(x, x)
}

#[pointful]
fn of_a_word<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    grad!(sum)(x)
}

#[pointful]
fn of_a_local(x: f64) -> f64 {
    grad!(x)(x)
}

#[pointful]
fn names_a_part_of_a_parameter(x: f64) -> f64 {
    let square = |(y, z): (f64, f64)| y * z;
    grad!(square, wrt = y)((x, x)).0
}

#[pointful]
fn is_not_called(x: f64) -> f64 {
    x + grad!(times, wrt = x)
}

#[pointful]
fn explains(x: f64) -> f64 {
    explain!(times);
    x
}

#[pointful]
fn itself(x: f64) -> f64 {
    x + grad!(itself)(x)
}

fn main() {}

//! Index sets, ranges and members where something else must stand.

use pointful::prelude::*;

#[derive(Clone, Copy, IndexSet)]
pub struct Pixel(usize);

#[pointful]
pub fn unknown_set(x: f64) -> f64 {
    sum(for i in Nowhere { x })
}

#[pointful]
pub fn a_number_is_no_set(n: usize) -> f64 {
    sum(for i in n { 1.0 })
}

#[pointful]
pub fn a_float_range() -> f64 {
    sum(for i in 0..2.0 { 1.0 })
}

#[pointful]
pub fn an_endless_range() -> f64 {
    sum(for i in 0.. { 1.0 })
}

#[pointful]
pub fn a_range_alone<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let r = 0..3;
    sum(x)
}

#[pointful]
pub fn nothing_says_which() -> f64 {
    sum(for i in _ { 1.0 })
}

#[pointful]
pub fn size_of_a_number(n: usize) -> usize {
    size(n)
}

#[pointful]
pub fn members_are_not_numbers<N: IndexSet>(x: &Table<N, f64>, i: N) -> f64 {
    x[i] * (i * 2) as f64
}

#[pointful]
pub fn members_of_two_sets<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, i: N, j: M) -> bool {
    x[i][j] > 0.0 && i == j
}

#[pointful]
pub fn a_float_is_no_index<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x[1.0]
}

#[pointful]
pub fn another_set_in_a_call(x: &Table<Pixel, f64>) -> f64 {
    of_three(x)
}

#[pointful]
pub fn of_three(x: &Table<Fin<3>, f64>) -> f64 {
    x[0]
}

#[pointful]
pub fn unknown_type(x: Complex) -> f64 {
    1.0
}

#[pointful]
pub fn a_scalar_is_not_indexed(x: f64) -> f64 {
    x[0]
}

fn main() {}

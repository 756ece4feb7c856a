//! Values of other types, and what nobody declared.

use pointful::prelude::*;

#[pointful]
pub struct Model {
    pub w: f64,
    pub b: f64,
}

#[pointful]
pub fn a_number_as_truth(x: f64) -> bool {
    x as bool
}

#[pointful]
pub fn a_truth_as_number(b: bool) -> f64 {
    b as f64
}

#[pointful]
pub fn a_member_as_number<N: IndexSet>(x: &Table<N, f64>, i: N) -> f64 {
    x[i] + i as f64
}

#[pointful]
pub fn too_large(x: u8) -> u8 {
    x + 256
}

#[pointful]
pub fn not_a_condition(x: f64, n: usize) -> f64 {
    if n { x } else { -x }
}

#[pointful]
pub fn not_negative(b: bool) -> bool {
    -b
}

#[pointful]
pub fn a_method_of_floats(k: i64) -> i64 {
    k.sin()
}

#[pointful]
pub fn unknown_field(m: &Model) -> f64 {
    m.c
}

#[pointful]
pub fn missing_field(x: f64) -> Model {
    Model { w: x }
}

#[pointful]
pub fn unknown_name(x: f64) -> f64 {
    x + y
}

#[pointful]
pub fn a_number_is_not_called(x: f64) -> f64 {
    x(2.0)
}

#[pointful]
pub fn a_closure_assigns(x: f64) -> f64 {
    let mut s = 0.0;
    let f = |y: f64| {
        s += y;
        s
    };
    f(x)
}

#[pointful]
pub fn min_of_two(x: f64) -> f64 {
    min(x, 1.0)
}

#[pointful]
pub fn sum_of_a_number(x: f64) -> f64 {
    sum(x)
}

#[pointful]
pub fn any_of_numbers<N: IndexSet>(x: &Table<N, f64>) -> bool {
    any(x)
}

#[pointful]
pub fn not_a_place(x: f64) -> f64 {
    x + 1.0 = 2.0;
    x
}

#[pointful]
pub fn operator_of_a_reduction<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(0.0, |a, b| a > b, x)
}

#[pointful]
pub fn nothing_says_what(x: f64) -> f64 {
    let f = |y| y;
    x
}

#[pointful]
pub fn result_of_another_type(x: f64) -> usize {
    x
}

fn main() {}

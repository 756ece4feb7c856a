//! Patterns that do not fit, or may not.

use pointful::prelude::*;

#[derive(Clone, Copy, IndexSet)]
pub enum Channel {
    R,
    G,
}

#[pointful]
pub struct Model {
    pub w: f64,
    pub b: f64,
}

#[pointful]
pub fn may_not_be_there<N: IndexSet>(u: &Table<N, f64>) -> f64 {
    let Some(v) = u.get(0);
    v
}

#[pointful]
pub fn may_be_the_other<A: IndexSet, B: IndexSet>(e: Either<A, B>) -> usize {
    let Either::Left(a) = e;
    a.ordinal()
}

#[pointful]
pub fn a_name_in_capitals(c: Channel) -> f64 {
    match c {
        R => 1.0,
        _ => 2.0,
    }
}

#[pointful]
pub fn a_combination_is_missing(a: bool, b: bool) -> f64 {
    match (a, b) {
        (true, _) => 1.0,
        (_, true) => 2.0,
    }
}

#[pointful]
pub fn nothing_is_missing<N: IndexSet>(u: &Table<N, f64>) -> f64 {
    match u.get(0) {
        Some(v) => v,
    }
}

#[pointful]
pub fn no_such_member(c: Channel) -> f64 {
    match c {
        Channel::B => 1.0,
        _ => 2.0,
    }
}

#[pointful]
pub fn not_an_option(x: f64) -> f64 {
    if let Some(v) = x { v } else { 0.0 }
}

#[pointful]
pub fn another_number_of_parts(x: f64) -> f64 {
    let (a, b, c) = (x, x);
    a + b + c
}

#[pointful]
pub fn no_such_field(m: &Model) -> f64 {
    let Model { w, c } = m;
    w + c
}

#[pointful]
pub fn not_a_struct(x: f64) -> f64 {
    let Model { w, b } = x;
    w + b
}

#[pointful]
pub fn arms_of_two_types(c: Channel, x: f64, k: i64) -> f64 {
    match c {
        Channel::R => x,
        Channel::G => k,
    }
}

#[pointful]
pub fn the_rest_of_a_tuple(t: (f64, f64, f64)) -> f64 {
    let (a, ..) = t;
    a
}

#[pointful]
pub fn a_range(k: i64) -> f64 {
    match k {
        0..=3 => 1.0,
        _ => 2.0,
    }
}

fn main() {}

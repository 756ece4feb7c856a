//! What bodies would take from libraries of plain Rust.

#[allow(unused_imports)] // Bodies alone name them, and none of these is emitted.
use std::{collections::HashSet, mem};

use pointful::prelude::*;

#[pointful]
fn swapped(x: f64) -> f64 {
    let (mut a, mut b) = (x, 2.0 * x);
    std::mem::swap(&mut a, &mut b);
    a - b
}

#[pointful]
fn replaced(x: f64) -> f64 {
    let mut a = x;
    let b = mem::replace(&mut a, 2.0);
    a - b
}

#[pointful]
fn not_imported(x: f64) -> f64 {
    swap(x, x)
}

#[pointful]
fn larger(x: f64) -> f64 {
    std::cmp::max(x, 1.0)
}

#[pointful]
fn a_type(x: f64) -> f64 {
    let seen = HashSet::new();
    x
}

#[pointful]
fn of_another_crate(x: f64) -> f64 {
    x * rand::random::<f64>()
}

fn main() {}

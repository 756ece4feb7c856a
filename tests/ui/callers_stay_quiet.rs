//! One mistake is one error, however many functions call the one that has it.

use pointful::prelude::*;

#[pointful]
fn wrong(x: f64) -> f64 {
    return x;
}

#[pointful]
fn caller(x: f64) -> f64 {
    wrong(x)
}

#[pointful]
fn callers_caller(x: f64) -> f64 {
    caller(x) + wrong(x)
}

fn main() {
    callers_caller(1.0);
    println!("{}", explain!(caller));
}

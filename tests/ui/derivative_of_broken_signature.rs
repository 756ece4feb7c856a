//! Of a function whose signature has a mistake nothing is known, nor of a struct: one error for each mistake, whatever is made of them.

use pointful::prelude::*;

#[pointful]
fn broken(x: Vec<f64>) -> f64 {
    x.len() as f64
}

#[pointful]
struct Held {
    x: i128,
}

#[pointful]
fn of_held(held: &Held, x: f64) -> f64 {
    x
}

#[pointful]
fn caller(x: f64) -> f64 {
    broken(x) + of_held(x, x)
}

define! {
    pub fn slope = grad!(broken);
}

fn main() {
    println!("{}", grad!(broken)(&[1.0]));
    let (value, map) = linearize!(broken)(1.0);
    println!("{}", value + map(1.0));
    println!("{} {}", grad!(slope)(1.0), grad!(of_held)(&Held { x: 1 }, 2.0));
    println!("{} {}", caller(1.0), grad!(caller)(1.0) + 1.0);
}

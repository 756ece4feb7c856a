//! Vectors: what is no vector, and what does not fit.

use pointful::prelude::*;

#[pointful]
struct Counts {
    many: usize,
}

#[pointful]
struct Mixed {
    x: f32,
    y: f64,
}

#[pointful]
struct Model {
    w: Table<Fin<3>, f64>,
    b: f64,
}

#[pointful]
fn no_coordinates(c: &Counts) -> usize {
    c.zeros_like().many
}

#[pointful]
fn two_types(m: &Mixed) -> f64 {
    m.dot(m)
}

#[pointful]
fn other_vector(m: &Model, x: &Table<Fin<3>, f64>) -> f64 {
    m.dot(x)
}

#[pointful]
fn through_a_reference(m: &Model) -> f64 {
    m.scale(2.0);
    m.b
}

#[pointful]
fn arguments(m: Model) -> f64 {
    let mut m = m;
    m.axpy(&m);
    m.b
}

fn main() {}

//! Structs: fields, updates, and what cannot be a field.

use pointful::prelude::*;

#[pointful]
#[derive(Clone, Copy)]
struct Body {
    place: f64,
    speed: f64,
}

#[pointful]
fn unknown_field(b: Body) -> f64 {
    b.mass
}

#[pointful]
fn missing(b: Body) -> Body {
    Body { place: b.speed }
}

#[pointful]
fn wrong_type(b: Body) -> Body {
    Body { place: true, ..b }
}

#[pointful]
fn wrong_base(b: Body) -> Body {
    Body { place: 1.0, ..b.speed }
}

#[pointful]
struct Pair(f64, f64);

#[pointful]
struct Held {
    many: Vec<f64>,
}

#[pointful]
#[pointful]
#[derive(Clone)]
struct Twice {
    x: f64,
}

struct Unmarked {
    x: f64,
}

#[pointful]
fn unmarked(u: &Unmarked) -> f64 {
    u.x
}

fn main() {}

// Mistakes with enums whose variants hold values.

use pointful::prelude::*;

#[pointful]
#[derive(Clone, Debug)]
enum Shape {
    Circle(f64),
    Rect { w: f64, h: f64 },
    Nothing,
}

#[pointful]
enum Empty {}

#[pointful]
enum List {
    End,
    Link(f64, Box<List>),
}

#[pointful]
enum Held {
    Row(Table<Dyn, f64>),
    Maybe(Option<f64>),
}

#[pointful]
enum Rows {
    Row(Table<Dyn, f64>),
    None,
}

#[pointful]
fn missing(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle(r) if r > 0.0 => r,
        Shape::Rect { w, .. } => w,
    }
}

#[pointful]
fn unknown(shape: &Shape) -> f64 {
    match shape {
        Shape::Square(a) => a,
        _ => 0.0,
    }
}

#[pointful]
fn number_of_fields(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle(x, y) => x + y,
        _ => 0.0,
    }
}

#[pointful]
fn names_of_fields(shape: &Shape) -> f64 {
    match shape {
        Shape::Rect { w, height } => w * height,
        _ => 0.0,
    }
}

#[pointful]
fn made_of_too_little(x: f64) -> Shape {
    Shape::Rect { w: x }
}

#[pointful]
fn made_of_too_much(x: f64) -> Shape {
    Shape::Nothing(x)
}

#[pointful]
fn made_of_no_float(n: usize) -> Shape {
    Shape::Circle(n)
}

#[pointful]
fn of_another(x: Option<f64>) -> f64 {
    match x {
        Shape::Circle(x) => x,
        _ => 0.0,
    }
}

#[pointful]
fn table_outside(rows: &Rows) -> f64 {
    0.0
}

#[pointful]
fn changed(shape: &mut Shape) {
    *shape = Shape::Nothing;
}

fn main() {}

//! What nobody has marked, in the same file.

use pointful::prelude::*;

fn square(x: f64) -> f64 {
    x * x
}

#[pointful]
fn of_a_function(x: f64) -> f64 {
    square(x) + 1.0
}

type Real = f64;

#[pointful]
fn of_an_alias(x: Real) -> f64 {
    2.0 * x
}

#[derive(Clone)]
struct Line {
    slope: f64,
    offset: f64,
}

#[pointful]
fn of_a_struct(line: &Line, x: f64) -> f64 {
    line.slope * x + line.offset
}

enum Shape {
    Round,
    Flat,
}

#[pointful]
fn of_an_enum(shape: Shape, x: f64) -> f64 {
    match shape {
        Shape::Round => x * x,
        Shape::Flat => x,
    }
}

mod physics {
    pub fn force(x: f64) -> f64 {
        -x
    }

    pub struct Ball {
        pub radius: f64,
    }
}

#[pointful]
fn of_another_module(x: f64) -> f64 {
    physics::force(x)
}

#[pointful]
struct Court {
    ball: physics::Ball,
}

#[pointful]
fn of_a_broken_struct(court: &Court) -> f64 {
    court.ball.radius
}

#[pointful]
fn of_nothing(x: f64) -> f64 {
    of_a_funktion(x) + somewhere_else(x) + sqrt(x)
}

#[pointful]
fn over_nothing(x: &Table<Rows, f64>) -> f64 {
    sum(x)
}

#[derive(Clone, Copy, IndexSet)]
struct Row(usize);

fn main() {
    of_nothing(1.0);
    of_a_function(1.0);
    of_an_alias(1.0);
    of_a_struct(&Line { slope: 1.0, offset: 0.0 }, 1.0);
    of_an_enum(Shape::Round, 1.0);
    of_another_module(1.0);
    grad!(square)(1.0);
    let ball = physics::Ball { radius: 1.0 };
    of_a_broken_struct(&Court { ball });
}

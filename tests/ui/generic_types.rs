//! Generic structs and aliases: wrong arguments, and what they cannot be generic in.

use pointful::prelude::*;

#[pointful]
struct Layer<I: IndexSet, T: Float> {
    w: Table<I, T>,
}

#[pointful]
fn arguments(x: &Table<Fin<3>, f64>) -> f64 {
    let layer: Layer<Fin<3>> = Layer { w: x };
    sum(layer.w)
}

#[pointful]
fn float(x: &Table<Fin<3>, f64>) -> f64 {
    let layer: Layer<Fin<3>, i64> = Layer { w: x };
    sum(layer.w)
}

#[pointful]
fn other_float(layer: &Layer<Fin<3>, f32>) -> f64 {
    0.5 * sum(layer.w)
}

#[pointful]
fn other_set(layer: &Layer<Fin<3>, f64>) -> Layer<Fin<2>, f64> {
    Layer { w: layer.w }
}

#[pointful]
struct Default<T: Float = f64> {
    x: T,
}

#[pointful]
struct Function<F: Fn(f64) -> f64> {
    f: F,
}

fn main() {}

//! A crate that calls pointful `pf`. What it re-exports can be used as pointful itself.

pub use pf::*;

use pointful_link_lib::element;

/// The length of a step.
pub const STEP: f64 = 0.5;

/// Where something is.
#[pointful]
#[derive(Clone, Debug)]
pub struct Place {
    /// In one direction.
    pub x: f64,
    /// And each other one.
    pub rest: Table<Axis, f64>,
}

/// Directions.
#[derive(Clone, Copy, Debug, PartialEq, pf::IndexSet)]
pub enum Axis {
    /// The first.
    First,
    /// The second.
    Second,
}

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
pub struct Thing(usize);

/// Half of the square of the distance.
#[pf::pointful]
pub fn energy(place: &Place) -> f64 {
    STEP * (place.x * place.x
        + sum(for a in Axis {
            place.rest[a].powi(2)
        }))
}

define! {
    /// Where energy grows.
    pub fn force = grad!(energy);
}

/// Twice an element of a table.
#[pointful]
pub fn second<T: Float>(x: &Table<Dyn, f64>, factor: T) -> T {
    let _ = element(x, 1);
    factor * 2.0
}

/// The sum of the energies of all.
#[pointful]
pub fn total(things: &Table<Thing, f64>) -> f64 {
    let slope = grad!(cube);
    sum(for t in Thing {
        slope(things[t])
    })
}

#[pointful]
fn cube(x: f64) -> f64 {
    x * x * x
}

//! What `unmarked_elsewhere.rs` names.

#![allow(dead_code, reason = "names are looked for, and nothing is called")]

pub mod physics;

use pointful::prelude::*;

pub fn square(x: f64) -> f64 {
    x * x
}

#[pointful]
pub fn cube(x: f64) -> f64 {
    x * x * x
}

#[pointful]
pub fn deeper(x: f64) -> f64 {
    physics::nested(x)
}

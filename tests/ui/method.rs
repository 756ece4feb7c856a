//! A method cannot have a companion.

use pointful::prelude::*;

struct Model {
    w: f64,
}

impl Model {
    #[pointful]
    fn apply(&self, x: f64) -> f64 {
        x * self.w
    }
}

fn main() {
    Model { w: 1.0 }.apply(2.0);
}

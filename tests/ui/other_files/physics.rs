use pointful::prelude::*;

pub struct Ball {
    pub radius: f64,
}

pub fn force(x: f64) -> f64 {
    -x
}

#[pointful]
pub fn weight(x: f64) -> f64 {
    9.81 * x
}

#[pointful]
pub fn nested(x: f64) -> f64 {
    super::square(weight(x))
}

//! A crate that has pointful from another one, of which it makes it by a name.

extern crate pointful_link_renamed as pointful;

use pointful::prelude::*;
use pointful::{Place, energy};

/// As far again.
#[pointful]
pub fn doubled(place: &Place) -> f64 {
    2.0 * energy(place)
}

define! {
    /// How that grows.
    pub fn slope = grad!(doubled);
}

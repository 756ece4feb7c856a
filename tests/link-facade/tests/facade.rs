//! pointful from another crate.

extern crate pointful_link_renamed as pointful;

use pointful::prelude::*;
use pointful::{Place, force};
use pointful_link_facade::{doubled, slope};

#[pointful]
fn both(place: &Place) -> f64 {
    doubled(place) * force(place).x
}

#[test]
fn what_is_handed_on_is_pointful() {
    let place = Place {
        x: 3.0,
        rest: Table::from_fn(Extent::default(), |_| 1.0),
    };
    assert_eq!(doubled(&place), 11.0);
    assert_eq!(slope(&place).x, 6.0);
    assert_eq!(both(&place), 33.0);
    assert_eq!(grad!(both)(&place).x, 29.0);
}

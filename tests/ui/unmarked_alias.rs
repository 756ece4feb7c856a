//! An alias in a signature that is not marked, and users of the function.

use pointful::prelude::*;

type Image = Table<(Fin<2>, Fin<3>), f64>;

#[pointful]
fn brightness(image: &Image) -> f64 {
    sum(image)
}

fn main() {
    let image = Table::from([[0.0; 3]; 2]);
    brightness(&image);
}

//! A length that is no number must be the number that it meets; only rustc knows.

use pointful::prelude::*;

const WIDTH: usize = 4;

#[pointful]
fn added(x: &Table<Fin<WIDTH>, f64>, y: &Table<Fin<3>, f64>) -> Table<Fin<WIDTH>, f64> {
    for i in _ {
        x[i] + y[i]
    }
}

fn main() {
    added(&Table::from([1.0; 4]), &Table::from([1.0; 3]));
}

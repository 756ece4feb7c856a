//! Sets with a name and static sets, whose tables are made by bare numbers.

use pointful::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
struct Day(usize);

fn main() {
    let _ = Table::<Day, f64>::zeros(7);
    let _ = Table::<(Day, Dyn), f64>::full((7, 2), 1.0);
    let _ = Table::<Fin<3>, f64>::from_vec(3, vec![1.0, 2.0, 3.0]);
}

//! Fields that a module keeps to itself.

use pointful::prelude::*;

mod model {
    use pointful::prelude::*;

    #[pointful]
    pub struct Line<N: IndexSet> {
        slopes: Table<N, f64>,
        pub offset: f64,
    }

    #[pointful]
    pub fn loss<N: IndexSet>(line: &Line<N>) -> f64 {
        sum(line.slopes) + line.offset
    }

    // Where the fields can be named, everything may be derived.
    define! { pub fn slope = grad!(loss); }
}

fn steep(line: &model::Line<Fin<2>>) -> f64 {
    grad!(model::loss)(line).offset
}

fn main() {}

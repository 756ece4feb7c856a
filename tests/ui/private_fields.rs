//! Fields that a module keeps to itself: what others' own text names is private, and nothing else.

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
}

fn steep(line: &model::Line<Fin<2>>) -> f64 {
    grad!(model::loss)(line).offset
}

#[pointful]
fn twice<N: IndexSet>(line: &model::Line<N>) -> f64 {
    model::loss(line) * 2.0
}

#[pointful]
fn slope(line: &model::Line<Fin<2>>) -> f64 {
    line.slopes[0]
}

fn main() {}

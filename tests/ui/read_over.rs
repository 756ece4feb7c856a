//! What Rust means by more than the language can is not read over.

use pointful::prelude::*;

#[pointful]
pub struct Model {
    pub w: f64,
    pub b: f64,
}

#[pointful]
pub struct Other {
    pub w: f64,
}

#[pointful]
pub fn asynchronous(x: f64) -> f64 {
    let g = async |y: f64| y + x;
    g(x)
}

#[pointful]
pub fn an_arm_that_may_not_be_there(x: bool) -> f64 {
    match x {
        #[cfg(test)]
        true => 1.0,
        _ => 2.0,
    }
}

#[pointful]
pub fn a_parameter_that_may_not_be_there(#[cfg(test)] x: f64) -> f64 {
    1.0
}

#[pointful]
pub fn arguments_of_a_word<N: IndexSet>(n: Extent<N>) -> usize {
    size::<N>()
}

#[pointful]
pub fn arguments_of_a_generic<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N::<u8> { x[i] })
}

#[pointful]
pub fn fields_from_nowhere(x: f64) -> Model {
    Model { w: x, b: x, .. }
}

#[pointful]
pub fn a_field_twice(x: f64) -> Model {
    Model { w: x, b: x, w: 1.0 }
}

#[pointful]
pub fn a_field_without_mention(m: &Model) -> f64 {
    let Model { w } = m;
    w
}

#[pointful]
pub fn another_struct(m: &Model) -> f64 {
    let Other { w, .. } = m;
    w
}

#[pointful]
pub fn a_name_twice(x: f64) -> f64 {
    let (a, a) = (x, 1.0);
    a
}

#[pointful]
pub fn other_names<N: IndexSet>(x: &Table<N, f64>, e: Either<N, N>) -> f64 {
    match e {
        Either::Left(i) | Either::Right(j) => x[i],
    }
}

#[pointful]
fn raise<N: IndexSet>(x: &mut Table<N, f64>) {
    for i in N {
        x[i] += 1.0;
    }
}

#[pointful]
pub fn a_value_to_change<N: IndexSet>(mut x: Table<N, f64>) -> Table<N, f64> {
    raise(x);
    x
}

#[pointful]
pub fn changes_by_a_value<N: IndexSet>(mut x: Table<N, f64>) -> Table<N, f64> {
    let up = raise;
    up(x);
    x
}

#[pointful]
pub fn another_suffix(x: u8) -> u8 {
    x + b'a'u8
}

#[pointful]
pub fn too_large(x: f64) -> f64 {
    x + 1e400
}

#[pointful]
pub fn too_large_for_half(x: f32) -> f32 {
    x + 1e39
}

fn main() {}

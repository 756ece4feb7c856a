//! Constants that a generic does not have.

use pointful::prelude::*;

#[pointful]
fn of_a_float<T: Float>(x: T) -> T {
    x * T::GOLDEN_RATIO
}

#[pointful]
fn of_a_set<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x) / N::SIZE as f64
}

#[pointful]
fn of_a_number<const K: usize>(x: &Table<Fin<K>, f64>) -> f64 {
    sum(x) / K::MAX as f64
}

#[pointful]
fn as_another_type<T: Float>(x: T) -> f64 {
    x * T::EPSILON
}

#[pointful]
fn an_integer<T: Float>(x: T) -> T {
    x * T::DIGITS
}

#[pointful]
fn made_of_an_integer<T: Float>(x: T, n: i64) -> T {
    x * T::from_f64(n)
}

#[pointful]
fn made_of_nothing<T: Float>(x: T) -> T {
    x + T::zero()
}

#[pointful]
fn made_of_bits<T: Float>(x: T) -> T {
    x + T::from_bits(1)
}

fn main() {}

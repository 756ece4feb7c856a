//! A name that is computed with and is no variable is one error, and callers stay quiet.

use pointful::prelude::*;

#[pointful]
fn loss<N: IndexSet>(weights: &Table<N, f64>) -> f64 {
    let weight_sum = sum(weights);
    weigth_sum * 2.0 + weigth_sum
}

#[pointful]
fn moved<N: IndexSet>(x: &Table<N, f64>, k: i64) -> Table<N, f64> {
    for i in N {
        -x[j] + k as f64 * shift.abs()
    }
}

#[pointful]
fn repeated(x: f64, steps: usize) -> f64 {
    let mut y = x;
    for _k in 0..step {
        while flag {
            y = if positiv { y + *z } else { y };
        }
    }
    y * steps as f64
}

#[pointful]
fn called<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    loss(x) + sum(moved(x, 1)) + repeated(1.0, 2)
}

fn main() {
    let x = Table::<Dyn, f64>::from(vec![1.0]);
    println!("{} {}", loss(&x), called(&x));
}

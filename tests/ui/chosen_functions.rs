//! Functions chosen otherwise than by the value of a branch, or by a branch that does more than choose.

use pointful::prelude::*;

#[pointful]
fn half(x: f64) -> f64 {
    x / 2.0
}

#[pointful]
fn assigned(x: f64, sure: bool) -> f64 {
    let mut f = |y: f64| y;
    if sure {
        f = |y: f64| y * 2.0;
    }
    f(x)
}

#[pointful]
fn counted<N: IndexSet>(x: &Table<N, f64>, at: &Table<N, bool>) -> Table<bool, f64> {
    let mut seen = Accum::zero();
    for i in N {
        let f = if at[i] {
            seen[true] += 1.0;
            half
        } else {
            |y| y
        };
        seen[at[i]] += f(x[i]);
    }
    seen.get()
}

#[pointful]
fn different(x: f64, sure: bool) -> f64 {
    let f = if sure { half } else { |y: f64, z: f64| y * z };
    f(x)
}

fn main() {}

//! Checkpoints and bounds where they say nothing, or written in another way: one mistake a function.

use pointful::prelude::*;

#[pointful]
fn of_a_map<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    #[checkpoint]
    for i in N { x[i] * 2.0 }
}

#[pointful]
fn of_a_sum<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut s = 0.0;
    #[checkpoint(every = 2)]
    for i in N { s += x[i]; }
    s
}

#[pointful]
fn of_a_while(x: f64) -> f64 {
    let mut s = x;
    #[checkpoint]
    while s > 1.0 { s = s * 0.5; }
    s
}

#[pointful]
fn of_a_let(x: f64) -> f64 {
    #[checkpoint]
    let s = x;
    s
}

#[pointful]
fn of_a_branch(x: f64) -> f64 {
    let mut s = x;
    #[bound(3)]
    if x > 0.0 { s = 1.0; }
    s
}

#[pointful]
fn of_a_block(x: f64) -> f64 {
    #[checkpoint]
    { x }
}

#[pointful]
fn configured(x: f64) -> f64 {
    #[cfg(test)]
    let y = x;
    x
}

#[pointful]
fn twice(x: f64) -> f64 {
    let mut s = x;
    #[checkpoint(every = 2)]
    #[checkpoint(every = 3)]
    for _t in 0..9 { s = s.sin(); }
    s
}

#[pointful]
fn of_zero(x: f64) -> f64 {
    let mut s = x;
    #[checkpoint(every = 0)]
    for _t in 0..9 { s = s.sin(); }
    s
}

#[pointful]
fn of_a_variable(x: f64, k: usize) -> f64 {
    let mut s = x;
    #[checkpoint(every = k)]
    for _t in 0..9 { s = s.sin(); }
    s
}

#[pointful]
fn of_another_key(x: f64) -> f64 {
    let mut s = x;
    #[checkpoint(often = 2)]
    for _t in 0..9 { s = s.sin(); }
    s
}

#[pointful]
fn bound_of_a_for(x: f64) -> f64 {
    let mut s = x;
    #[bound(9)]
    for _t in 0..9 { s = s.sin(); }
    s
}

#[pointful]
fn bound_of_nothing(x: f64) -> f64 {
    let mut s = x;
    #[bound]
    while s > 1.0 { s = s * 0.5; }
    s
}

#[pointful]
fn bound_of_a_float(x: f64) -> f64 {
    let mut s = x;
    #[bound(x)]
    while s > 1.0 { s = s * 0.5; }
    s
}

fn main() {}

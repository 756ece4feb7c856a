//! What those write who come from NumPy and JAX.

use pointful::prelude::*;

#[pointful]
fn n1<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.sum()
}

#[pointful]
fn n2<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.mean()
}

#[pointful]
fn n3<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<M, f64> {
    sum(x, 0)
}

#[pointful]
fn n4<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<M, f64> {
    sum(x, axis = 0)
}

#[pointful]
fn n6<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.shape[0] as f64
}

#[pointful]
fn n7<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.shape()
}

#[pointful]
fn n9<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<(M, N), f64> {
    x.t()
}

#[pointful]
fn n10<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<(M, N), f64> {
    x.T
}

#[pointful]
fn n11<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, y: &Table<M, f64>) -> Table<N, f64> {
    x.dot(y)
}

#[pointful]
fn n12<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, y: &Table<M, f64>) -> Table<N, f64> {
    x * y
}

#[pointful]
fn n15<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x.reshape(-1)
}

#[pointful]
fn n20<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x.at[0].set(1.0)
}

#[pointful]
fn n22<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x[x > 0.0]
}

#[pointful]
fn n31<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x.clip(0.0, 1.0)
}

#[pointful]
fn n33<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    vmap(sq)(x)
}

#[pointful]
fn n34(x: f64) -> f64 {
    grad(sq)(x)
}

#[pointful]
fn n35(x: f64) -> f64 {
    grad!(sq, 0)(x)
}

#[pointful]
fn n36(x: f64) -> f64 {
    grad!(sq, argnums = 0)(x)
}

#[pointful]
fn n37(x: f64) -> f64 {
    grad!(sq)(x, x)
}

#[pointful]
fn n39(x: f64) -> f64 {
    grad!(sq(x))
}

#[pointful]
fn sq(x: f64) -> f64 {
    x * x
}

fn main() {}

//! What users of arrays and iterators write first.

use pointful::prelude::*;

#[pointful]
fn zeros<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let y = Table::zeros(3);
    sum(x) + y[0]
}

#[pointful]
fn grown<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut v = Vec::new();
    for i in N {
        v.push(x[i]);
    }
    sum(v)
}

#[pointful]
fn every_other<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut total = 0.0;
    for i in (0..4).step_by(2) {
        total += i as f64;
    }
    total * sum(x)
}

#[pointful]
fn pairs<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N { sum(for j in i..N { x[i] * x[j] }) })
}

#[pointful]
fn doubled<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in 0..size(N) { 2.0 * x[N::from_ordinal(i)] }
}

#[pointful]
fn halves<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let (a, b) = x.split_at(2);
    sum(a) + sum(b)
}

#[pointful]
pub fn mean_of_pairs<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let t = for i in N { (x[i], 2.0 * x[i]) };
    mean(t).0
}

#[pointful]
pub fn largest_pair<N: IndexSet>(x: &Table<N, f64>) -> N {
    argmax(for i in N { (x[i], 2.0 * x[i]) })
}

#[pointful]
pub fn sum_of_truth<N: IndexSet>(x: &Table<N, bool>) -> usize {
    sum(x)
}

#[pointful]
pub fn any_number<N: IndexSet>(x: &Table<N, f64>) -> bool {
    any(x)
}

#[pointful]
pub fn mean_of_members<N: IndexSet>(x: &Table<N, N>) -> f64 {
    mean(x)
}

fn main() {}

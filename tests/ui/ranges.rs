//! Tables whose length is known only where they are made.

use pointful::prelude::*;

#[pointful]
pub fn a_triangle<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let t = for i in N { for j in ..i { x[j] } };
    0.0
}

#[pointful]
pub fn a_member_leaves<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let t = for i in N { argmin(for j in ..=i { x[j] }) };
    0.0
}

#[pointful]
pub fn two_lengths(c: bool, n: usize, m: usize) -> f64 {
    let t = if c { for k in 0..n * 2 { 1.0 } } else { for k in 0..m * 3 { 2.0 } };
    sum(t)
}

#[pointful]
pub fn a_state_of_another_length<N: IndexSet>(n: usize) -> f64 {
    let mut t: Table<Dyn, f64> = for k in 0..n { 1.0 };
    for s in 0..3 {
        t = for k in 0..s { 1.0 };
    }
    sum(t)
}

#[pointful]
pub fn halves(x: &Table<Fin<8>, f64>) -> f64 {
    let mut u = for i in 0..8 { x[i] };
    let mut n = 8;
    while n > 1 {
        n = n / 2;
        u = for i in 0..n { u[2 * i] * u[2 * i + 1] };
    }
    u[0]
}

#[pointful]
pub fn an_extent_that_is_known<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let e = Extent::<N>::new(3);
    sum(for i in e { x[i] })
}

#[pointful]
pub fn a_size_that_is_no_number(x: f64) -> f64 {
    let e = Extent::new(x);
    sum(for _i in e { x })
}

#[pointful]
pub fn an_extent_as_a_result(n: usize) -> Extent<Dyn> {
    Extent::new(n)
}

fn main() {}

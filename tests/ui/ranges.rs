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

#[pointful]
pub fn of_different_sets<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, p: (N, M), q: (M, N)) -> f64 {
    sum(for r in p..q { x[r] })
}

#[pointful]
pub fn of_a_part<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, p: (N, M), i: N) -> f64 {
    sum(for r in i..p { x[r] })
}

#[pointful]
pub fn read_by_another<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, p: (N, M), q: (M, N)) -> f64 {
    let t = for r in ..=p { x[r] };
    t[q]
}

#[pointful]
pub fn read_by_a_part<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, p: (N, M)) -> f64 {
    let t = for r in ..=p { x[r] };
    t[p.0]
}

#[pointful]
pub fn read_beside<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, p: (N, M)) -> f64 {
    let t = for r in ..=p { x[r] };
    t[(p.0, p.1 + 1)]
}

#[pointful]
pub fn up_to_a_pair_of_numbers<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> f64 {
    sum(for r in ..(2, 3) { x[r] })
}

#[pointful]
pub fn any_set(x: f64) -> f64 {
    sum(for _i in Dyn { x })
}

#[pointful]
pub fn the_size_of_any_set(x: f64) -> usize {
    size(Dyn)
}

#[pointful]
pub fn two_axes(n: usize, m: usize) -> f64 {
    let e = Extent::<(Dyn, Dyn)>::new((n, m));
    sum(sum(for (i, j) in e { 1.0 }))
}

#[pointful]
pub fn an_extent_with_a_name(n: usize) -> f64 {
    let e = Extent::<Fin<3>>::default();
    sum(for i in e { 1.0 })
}

fn main() {}

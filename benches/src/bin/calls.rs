//! What a call costs beside the work it does, and a launch in a loop of the host: on few elements,
//! against plain loops. `cargo run --release -p pointful-benches --bin calls`.

use std::hint::black_box;

use pointful::prelude::*;
use pointful_benches::{Comparison, compare};

/// A number of a table.
#[pointful]
fn squares<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        x[i] * x[i]
    })
}

/// A table of a table, which is allocated.
#[pointful]
fn scaled<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N {
        a * x[i] + 1.0
    }
}

/// Many launches: each point needs its neighbour of the step before.
#[pointful]
fn smoothed<N: IndexSet>(x: &Table<N, f64>, times: usize) -> Table<N, f64> {
    let mut u = x;
    for _t in 0..times {
        u = for i in N {
            0.75 * u[i] + 0.25 * u[(i + 1).wrap()]
        };
    }
    u
}

#[inline(never)]
fn squares_by_hand(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[inline(never)]
fn scaled_by_hand(x: &[f64], a: f64) -> Vec<f64> {
    x.iter().map(|x| a * x + 1.0).collect()
}

#[inline(never)]
fn smoothed_by_hand(x: &[f64], times: usize) -> Vec<f64> {
    let mut u = x.to_vec();
    let mut next = u.clone();
    for _ in 0..times {
        for (i, next) in next.iter_mut().enumerate() {
            let after = if i + 1 == u.len() { 0 } else { i + 1 };
            *next = 0.75 * u[i] + 0.25 * u[after];
        }
        std::mem::swap(&mut u, &mut next);
    }
    u
}

/// How many calls a measurement is of, or steps.
const CALLS: usize = 10_000;

fn report(name: &str, elements: usize, c: &Comparison) {
    let ns = |d: std::time::Duration| d.as_secs_f64() * 1e9 / CALLS as f64;
    let (ours, theirs) = (ns(c.ours), ns(c.theirs));
    println!(
        "| {name} | {elements} | {ours:.0} | {theirs:.0} | {:.0} |",
        ours - theirs
    );
}

fn main() {
    println!("| what | elements | pointful, ns | by hand, ns | difference, ns |");
    println!("|---|---|---|---|---|");
    for elements in [1, 10, 64, 1000] {
        let numbers: Vec<f64> = (0..elements).map(|i| 0.5 + i as f64).collect();
        let x = Table::<Dyn, f64>::from_vec(Extent::new(elements), numbers.clone());
        let x = x.expect("as many");
        let each = |f: &dyn Fn() -> f64| (0..CALLS).map(|_| f()).sum::<f64>();
        let c = compare(
            31,
            || each(&|| squares(black_box(&x))),
            || each(&|| squares_by_hand(black_box(&numbers))),
        );
        report("a call that gives a number", elements, &c);
        let c = compare(
            31,
            || each(&|| scaled(black_box(&x), 0.5).as_slice()[0]),
            || each(&|| scaled_by_hand(black_box(&numbers), 0.5)[0]),
        );
        report("a call that gives a table", elements, &c);
        let c = compare(
            31,
            || smoothed(black_box(&x), CALLS),
            || smoothed_by_hand(black_box(&numbers), CALLS),
        );
        report("a step of a loop", elements, &c);
    }
}

//! What those write who come from Julia, and what anybody writes.

use pointful::prelude::*;

#[pointful]
fn j1<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x[1] + x[end]
}

#[pointful]
fn j2(x: f64) -> f64 {
    2x
}

#[pointful]
fn p1<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        x[i + 1] - x[i];
    }
}

#[pointful]
fn p2<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let y = x[i];
    }
}

#[pointful]
fn p3<N: IndexSet, M: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in M {
        x[i]
    }
}

#[pointful]
fn p4<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in _ {
        1.0
    })
}

#[pointful]
fn p12<N: IndexSet>(x: Table<N, f64>) -> Table<N, f64> {
    x[0] = 1.0;
    x
}

#[pointful]
fn p13<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let a = Accum::zero();
    for i in N {
        a += x[i];
    }
    a.get()
}

#[pointful]
fn p14<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::zero();
    for i in N {
        a += x[i];
    }
    a
}

#[pointful]
fn p16<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(|i| x[i])
}

#[pointful]
fn p17<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(0.0, x, |a, b| a + b)
}

#[pointful]
fn p19<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        if x[i] > 0.0 {
            continue;
        }
        x[i]
    }
}

#[pointful]
fn p21<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x)(1)
}

#[pointful]
fn p22<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    min(x, 0.0)
}

#[pointful]
fn p23(x: f64, y: f64) -> f64 {
    max(x, y)
}

#[pointful]
fn p24(x: f64) {
    x
}

#[pointful]
fn p25(x: f64) -> f64 {
    x;
}

#[pointful]
fn p26(x: f64) -> f64 {}

#[pointful]
struct P30(f64);

#[pointful]
enum P31 {
    A,
    B,
}

#[pointful]
mod p32 {}

#[pointful]
trait P33 {}

#[pointful(jvp)]
fn p34(x: f64) -> f64 {
    x
}

#[pointful(vjp = "g")]
fn p35(x: f64) -> f64 {
    x
}

fn main() {}

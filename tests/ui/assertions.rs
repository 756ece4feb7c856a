//! Messages that are no format strings, or show what they cannot.

use pointful::prelude::*;

#[pointful]
fn f<N: IndexSet>(x: &Table<N, f64>, sure: bool) -> f64 {
    let text = 1.0;
    assert!(sure, text);
    assert!(sure, "half of {");
    assert!(sure, "in hexadecimal {:x}", 3);
    assert!(sure, "{} and {}", 1.0);
    assert!(sure, "{2}", 1.0);
    assert!(sure, "{}", 1.0, text);
    sum(x)
}

#[pointful]
fn tables<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    assert!(sum(x) > 0.0, "{:?}", x);
    sum(x)
}

#[pointful]
fn members<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        assert!(x[i] > 0.0, "at {i}");
        x[i]
    }
}

#[pointful]
fn exponents(sure: bool) -> f64 {
    assert!(sure, "{sure:e}");
    1.0
}

fn main() {}

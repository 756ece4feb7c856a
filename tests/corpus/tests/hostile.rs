//! Input that does not fit: a clear panic, or what Rust gives; never a read or write outside of a
//! table.

mod common;

use common::*;
use pointful_corpus::functions as corpus;
use pointful_runtime::{Dyn, Extent, Table};

/// Offsets that are ordinary, far out, and at the ends of their type.
const OFFSETS: [i64; 12] = [
    0,
    1,
    -1,
    7,
    -8,
    1_000_003,
    -1_000_003,
    i64::MAX / 2,
    i64::MIN / 2,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN,
];

#[test]
fn data_that_is_no_index_panics_with_both_numbers() {
    for n in [1_usize, 2, 1000] {
        let x = vector(&floats::<f64>(1, n));
        for wrong in [n as i64, -1, i64::MAX, i64::MIN] {
            let message = panic_of(|| corpus::picked(&x, &vector(&[0, wrong])));
            assert!(
                message.contains(&format!("index {wrong} is out of range")),
                "{message}"
            );
            assert!(message.contains(&format!("of {n} member")), "{message}");
        }
    }
    let empty = vector::<f64>(&[]);
    let message = panic_of(|| corpus::picked(&empty, &vector(&[0])));
    assert!(message.contains("index 0 is out of range"), "{message}");
    assert_eq!(
        corpus::picked(&empty, &vector(&[])).as_slice(),
        &[] as &[f64]
    );
}

#[test]
fn a_panic_in_a_parallel_loop_is_passed_on_and_the_next_call_works() {
    let n = 200_000;
    let x = vector(&floats::<f64>(1, n));
    let mut at: Vec<i64> = (0..n as i64).rev().collect();
    let good = vector(&at);
    // Somewhere in the middle, and at the end: the first one is told, whatever thread finds which.
    at[n / 2] = -5;
    at[n - 1] = n as i64;
    let bad = vector(&at);
    for _ in 0..20 {
        let message = panic_of(|| corpus::picked(&x, &bad));
        assert!(message.contains("index -5 is out of range"), "{message}");
        assert_eq!(corpus::picked(&x, &good).as_slice()[0], x.as_slice()[n - 1]);
    }
}

#[test]
fn offsets_of_any_size_stay_in_the_table() {
    for n in [1_usize, 2, 7, 1000] {
        let values = floats::<f64>(3, n);
        let x = vector(&values);
        for by in OFFSETS {
            let (wrapped, clamped, mirrored, got) = corpus::picked_near(&x, by);
            for i in 0..n {
                // Integers wrap, as in release Rust.
                let at = i128::from((i as i64).wrapping_add(by));
                let n = n as i128;
                let period = (2 * (n - 1)).max(1);
                let folded = at.rem_euclid(period);
                let expected = (
                    values[at.rem_euclid(n) as usize],
                    values[at.clamp(0, n - 1) as usize],
                    values[folded.min(period - folded) as usize],
                    if (0..n).contains(&at) {
                        values[at as usize]
                    } else {
                        -1.0
                    },
                );
                let found = (
                    wrapped.as_slice()[i],
                    clamped.as_slice()[i],
                    mirrored.as_slice()[i],
                    got.as_slice()[i],
                );
                assert_eq!(found, expected, "{i} + {by} of {n}");
            }
        }
    }
    // Nothing has no neighbours, and nobody asks for them.
    let (wrapped, ..) = corpus::picked_near(&vector(&[]), 1);
    assert!(wrapped.as_slice().is_empty());
}

#[test]
fn floats_as_indices_saturate_and_are_checked() {
    let x = vector(&[1.0, 2.0, 3.0]);
    assert_eq!(corpus::picked_by_float(&x, 2.9), 3.0);
    assert_eq!(corpus::picked_by_float(&x, f64::NAN), 1.0);
    for wrong in [3.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let message = panic_of(|| corpus::picked_by_float(&x, wrong));
        assert!(message.contains("is out of range"), "{message}");
    }
}

#[test]
fn tables_that_no_memory_holds_are_refused() {
    let pairs = |n: usize, m: usize| {
        panic_of(move || corpus::all_pairs(Extent::<Dyn>::new(n), Extent::<Dyn>::new(m)))
    };
    // The product of both does not fit into a number, then not into an address, then not into a machine.
    for (n, m) in [
        (1 << 40, 1 << 40),
        (1 << 62, 2),
        (1 << 30, 1 << 31),
        (1 << 58, 1),
    ] {
        let message = pairs(n, m);
        let clear = [
            "more than memory",
            "could ever hold",
            "bytes of memory were asked for",
            "more members than",
        ];
        assert!(
            clear.iter().any(|text| message.contains(text)),
            "{n} × {m}: {message}"
        );
    }
    for (n, m) in [(0, 1 << 40), (1 << 40, 0)] {
        let none = corpus::all_pairs(Extent::<Dyn>::new(n), Extent::<Dyn>::new(m));
        assert!(none.as_slice().is_empty());
        assert_eq!(none.extent().size(), (n, m));
    }
}

#[test]
fn parameters_that_disagree_are_refused_before_anything_runs() {
    let message = panic_of(|| corpus::axpy(1.0, &vector(&[1.0; 3]), &vector(&[1.0; 4])));
    assert_eq!(
        message,
        "`axpy`: parameters `x` and `y` disagree on the size of `N`: 3 in `x`, 4 in `y`"
    );
    let message = panic_of(|| corpus::matmul(&matrix(0, 3, &[]), &matrix::<f64>(0, 3, &[])));
    assert!(message.contains("disagree on the size of `K`"), "{message}");
}

#[test]
fn not_a_number_goes_through() {
    let nan = f64::NAN;
    let rows = corpus::softmax_rows(&matrix(2, 2, &[nan, 1.0, f64::INFINITY, 1.0]));
    assert!(rows.as_slice().iter().any(|x| x.is_nan()));
    let means = corpus::column_means(
        &Table::<(Dyn, Dyn), f64>::from_vec(Extent::new((0, 2)), vec![]).expect("empty"),
    );
    assert!(means.as_slice().iter().all(|x| x.is_nan()));
}

//! Sorting: against the standard library's stable sort, with derivatives, of rows, in both floats.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use pointful::lib::{argsort, sort, top_k};
use pointful::prelude::*;

type Vector<T = f64> = Table<Dyn, T>;

const SIZES: [usize; 11] = [0, 1, 2, 3, 4, 5, 7, 17, 40, 64, 1000];

/// Numbers of which some are equal.
fn noise(n: usize, seed: f64) -> Vector {
    (0..n)
        .map(|k| (((k as f64 + seed) * 12.9898).sin() * 30.0).round())
        .collect()
}

/// NaN after all numbers.
fn compared(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn places(x: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..x.len()).collect();
    places.sort_by(|&a, &b| compared(x[a], x[b]));
    places
}

#[test]
fn members_in_order() {
    for n in SIZES {
        let x = noise(n, 0.3);
        let holes = x.map(|x| if x > 20.0 { f64::NAN } else { x });
        let zeros = x.map(|x| if x > 0.0 { 0.0 } else { -0.0 });
        let ends = x.map(|x| x / 0.0);
        let falling: Vector = (0..n).map(|k| -(k as f64)).collect();
        for x in [x, holes, zeros, ends, falling] {
            let expected = places(x.as_slice());
            assert_eq!(argsort(&x).ordinals().as_ref(), expected);
            let single: Vector<f32> = x.iter().map(|&x| x as f32).collect();
            assert_eq!(argsort(&single).ordinals().as_ref(), expected);
            let sorted: Vec<u64> = expected
                .iter()
                .map(|&k| x.as_slice()[k].to_bits())
                .collect();
            let found: Vec<u64> = sort(&x).iter().map(|x| x.to_bits()).collect();
            assert_eq!(found, sorted);
        }
    }
    let x = Table::<Fin<4>, f64>::from([3.0, 1.0, 2.0, 0.0]);
    assert_eq!(argsort(&x).ordinals().as_ref(), [3, 1, 2, 0]);
}

#[test]
fn derivatives_go_where_elements_came_from() {
    for n in SIZES {
        let (x, ct) = (noise(n, 0.3), noise(n, 0.7));
        let places = places(x.as_slice());
        let (value, back) = vjp!(sort)(&x, &ct);
        assert_eq!(value, sort(&x));
        let mut expected = vec![0.0; n];
        for (k, place) in places.iter().enumerate() {
            expected[*place] += ct.as_slice()[k];
        }
        assert_eq!(back.as_slice(), expected);
        let along = jvp!(sort)(&x, &ct).1;
        let expected: Vec<f64> = places.iter().map(|&k| ct.as_slice()[k]).collect();
        assert_eq!(along.as_slice(), expected);
    }
}

#[test]
fn the_largest_elements() {
    for n in SIZES {
        let x = noise(n, 0.3).map(|x| if x > 28.0 { f64::NAN } else { x });
        let turned: Vec<f64> = x.iter().map(|x| -x).collect();
        let expected = places(&turned);
        for k in [0, 1, 3, 64, 65, n].into_iter().filter(|&k| k <= n) {
            let (values, found) = top_k(&x, Extent::<Dyn>::new(k));
            assert_eq!(found.ordinals().as_ref(), &expected[..k]);
            for (value, &place) in values.iter().zip(&expected) {
                assert_eq!(value.to_bits(), x.as_slice()[place].to_bits());
            }
            let ct = noise(k, 0.7);
            let (_, back) = vjp!(top_k)(&x, Extent::<Dyn>::new(k), &ct);
            let mut slopes = vec![0.0; n];
            for (place, ct) in expected.iter().zip(ct.iter()) {
                slopes[*place] += ct;
            }
            assert_eq!(back.as_slice(), slopes);
        }
    }
    let panic = std::panic::catch_unwind(|| top_k(&noise(2, 0.1), Extent::<Dyn>::new(3)));
    assert_eq!(
        panic.unwrap_err().downcast_ref::<String>().expect("a text"),
        "there are 2 elements, less than 3"
    );
}

#[pointful]
fn of_rows<B: IndexSet, N: IndexSet>(x: &Table<(B, N), f64>) -> Table<(B, N), f64> {
    for b in B {
        sort(x[b])
    }
}

#[test]
fn rows_of_tables() {
    for (rows, n) in [(3, 17), (1000, 5), (2, 3000), (0, 3), (3, 0)] {
        let numbers = noise(rows * n, 0.3);
        let x = Table::from_vec((rows, n), numbers.as_slice().to_vec()).expect("its length");
        let (found, back) = vjp!(of_rows)(&x, &x);
        for k in 0..rows {
            let row = Vector::from(numbers.as_slice()[k * n..][..n].to_vec());
            let (expected, by) = vjp!(sort)(&row, &row);
            assert_eq!(found.row(Dyn(k)).as_slice(), expected.as_slice());
            assert_eq!(back.row(Dyn(k)).as_slice(), by.as_slice());
        }
    }
}

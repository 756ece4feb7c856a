//! Reductions by operators that are no monoids of the language, over as many elements as are folded
//! in pieces, and over few and none.

mod common;

use common::*;
use pointful_corpus::functions as corpus;
use pointful_runtime::{Dyn, Either, Extent, Table};

const LENGTHS: [usize; 7] = [0, 1, 2, 7, 1000, 100_000, 300_001];

#[test]
fn operators_that_do_not_commute() {
    for n in LENGTHS {
        let x = ints(1, n);
        let last = x.iter().rev().find(|&&x| x >= 0).copied().unwrap_or(-1);
        assert_eq!(corpus::last_known(&vector(&x)), last, "{n}");
        // Nothing is known but one element, wherever that is.
        for at in [0, n / 2, n.saturating_sub(1)]
            .into_iter()
            .filter(|&at| at < n)
        {
            let one: Vec<i64> = (0..n).map(|k| if k == at { 5 } else { -2 }).collect();
            assert_eq!(corpus::last_known(&vector(&one)), 5, "{at} of {n}");
        }
        let (mut closing, mut opening) = (0, 0);
        for &x in &x {
            match (x < 0, opening) {
                (true, 0) => closing += 1,
                (true, _) => opening -= 1,
                (false, _) => opening += 1,
            }
        }
        assert_eq!(corpus::unmatched(&vector(&x)), (closing, opening), "{n}");
    }
}

#[test]
fn operators_on_tuples() {
    for n in LENGTHS {
        let x = floats::<f64>(2, n);
        let (count, mean, squares) = corpus::moments(&vector(&x));
        let m = if n == 0 {
            0.0
        } else {
            x.iter().sum::<f64>() / n as f64
        };
        let s = x.iter().map(|x| (x - m).powi(2)).sum::<f64>();
        close(&[count, mean, squares], &[n as f64, m, s]);
        for m in [0, 1, 3] {
            let x = ints(3, n * m);
            let expected = x.iter().fold((1_i64, 9_i64), |(a, b), &x| {
                let c = x | 1;
                (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(x))
            });
            assert_eq!(corpus::composed_affine(&matrix(n, m, &x), 9), expected);
        }
    }
}

#[test]
fn tables_as_elements() {
    for n in LENGTHS {
        let x = ints(4, n * 3);
        let column = |k: usize, below: i64| {
            let column = x.chunks(3).map(|row| row[k]);
            column.rev().find(|&x| x >= below)
        };
        let expected = [0, 1, 2].map(|k| column(k, 0).unwrap_or(k as i64 + 1));
        let rows = corpus::rows_joined(&matrix(n, 3, &x), &vector(&[1, 2, 3]));
        assert_eq!(rows.as_slice(), expected);
        let below = [-50, 0, 50];
        let expected = [0, 1, 2].map(|k| column(k, below[k]).unwrap_or(below[k]));
        let found = corpus::last_known_in_columns(&matrix(n, 3, &x), &vector(&below));
        assert_eq!(found.as_slice(), expected);

        let x = ints(5, n * 4);
        let expected = x.chunks(4).fold([1_i64, 0, 0, 1], |a, b| {
            let at = |i: usize, j: usize| {
                let product = |k: usize| a[2 * i + k].wrapping_mul(b[2 * k + j]);
                product(0).wrapping_add(product(1))
            };
            [at(0, 0), at(0, 1), at(1, 0), at(1, 1)]
        });
        let matrices = Table::<(Dyn, Dyn, Dyn), i64>::from_vec(Extent::new((n, 2, 2)), x);
        let found = corpus::composed_matrices(&matrices.unwrap(), &matrix(2, 2, &[1, 0, 0, 1]));
        assert_eq!(found.as_slice(), expected);
    }
}

#[test]
fn columns_of_many_widths() {
    for (n, k) in [
        (0, 2),
        (1, 70),
        (3, 100_000),
        (5000, 70),
        (100_000, 1),
        (7, 0),
    ] {
        let x = ints(6, n * k);
        let below = vec![0; k];
        let expected: Vec<i64> = (0..k)
            .map(|at| {
                (0..n)
                    .rev()
                    .map(|i| x[i * k + at])
                    .find(|&x| x >= 0)
                    .unwrap_or(0)
            })
            .collect();
        let found = corpus::last_known_in_columns(&matrix(n, k, &x), &vector(&below));
        assert_eq!(found.as_slice(), expected, "{n} rows of {k}");
        if n > 0 {
            let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let found = corpus::largest_in_columns(&matrix(n, k, &x));
            let first = |at: usize| {
                let column = |i: usize| x[i * k + at];
                (1..n).fold(0, |best, i| if column(i) > column(best) { i } else { best })
            };
            let expected: Vec<usize> = (0..k).map(first).collect();
            assert_eq!(found.as_slice(), expected, "{n} rows of {k}");
        }
    }
}

fn first_best(x: &[f64], better: impl Fn(f64, f64) -> bool) -> usize {
    let replaces = |best: f64, x: f64| better(x, best) || (best.is_nan() && !x.is_nan());
    (1..x.len()).fold(
        0,
        |best, at| if replaces(x[best], x[at]) { at } else { best },
    )
}

#[test]
fn places_of_extrema() {
    // As many as do or do not fill lanes, too.
    for n in LENGTHS.into_iter().chain(3..=70).chain(120..=136) {
        let plain = floats::<f64>(7, n);
        let mut inputs = vec![
            plain.clone(),
            vec![f64::NAN; n],
            vec![f64::NEG_INFINITY; n],
            vec![f64::INFINITY; n],
        ];
        // Numbers at the end, at the beginning and in the middle only.
        for (first, last) in [(0, n / 2), (n / 2, n), (n / 3, n / 2)] {
            let mut some = plain.clone();
            some[first..last].fill(f64::NAN);
            inputs.push(some);
        }
        for x in inputs {
            if n == 0 {
                assert!(panic_of(|| corpus::least_and_largest(&vector(&x))).contains("argm"));
                continue;
            }
            let (least, largest, ..) = corpus::least_and_largest(&vector(&x));
            let expected = (first_best(&x, |a, b| a < b), first_best(&x, |a, b| a > b));
            assert_eq!((least.0, largest.0), expected, "{n}");
        }
        for m in [1, 3] {
            if n > 0 {
                let x = ints(8, n * m);
                let at = (1..x.len()).fold(0, |best, at| if x[at] > x[best] { at } else { best });
                assert_eq!(
                    corpus::largest_of_all(&matrix(n, m, &x)),
                    (Dyn(at / m), Dyn(at % m))
                );
            }
        }
    }
}

/// The places of the first least and the first largest element.
fn first_extrema<T: PartialOrd>(x: &[T]) -> (usize, usize) {
    (1..x.len()).fold((0, 0), |(least, most), at| {
        let least = if x[at] < x[least] { at } else { least };
        (least, if x[at] > x[most] { at } else { most })
    })
}

#[test]
fn places_of_truth_values_and_members() {
    for n in LENGTHS {
        for k in [1, 2, 7] {
            let numbers = ints(11, n);
            let bins: Vec<usize> = numbers
                .iter()
                .map(|x| x.unsigned_abs() as usize % k)
                .collect();
            let bin = Table::from_indices(Extent::new(n), Extent::new(k), bins.clone());
            let bin: Table<Dyn, Dyn> = bin.expect("members");
            let (none, every) = (vec![false; n], vec![true; n]);
            let some = numbers.iter().map(|x| x % 5 == 0).collect();
            for flags in [none, every, some] {
                let found = || corpus::places_of_other_extrema(&vector(&flags), &bin);
                if n == 0 {
                    assert!(panic_of(found).contains("argm"));
                    continue;
                }
                let (most, least, highest, lowest, (pairs, nested), first) = found();
                assert_eq!((least.0, most.0), first_extrema(&flags));
                assert_eq!((lowest.0, highest.0), first_extrema(&bins));
                let both: Vec<_> = flags.iter().zip(&bins).collect();
                let swapped: Vec<_> = bins.iter().zip(&flags).collect();
                assert_eq!(
                    (pairs.0, nested.0),
                    (first_extrema(&both).1, first_extrema(&swapped).0)
                );
                for (bin, found) in first.as_slice().iter().enumerate() {
                    let place = (0..n).position(|at| flags[at] && bins[at] == bin);
                    assert_eq!(*found, place.unwrap_or(0));
                }
            }
        }
    }
}

#[test]
fn places_in_products() {
    for (n, m) in [(1, 1), (2, 7), (7, 2), (1000, 3)] {
        let x: Vec<u8> = ints(12, n * m)
            .iter()
            .map(|x| (x + 128).clamp(0, 255) as u8)
            .collect();
        let (side, (column, row), rows) = corpus::places_in_products(&matrix(n, m, &x));
        assert_eq!(side, Either::Right(Dyn(m - 1)));
        let pairs: Vec<_> = (0..m).flat_map(|c| (0..n).map(move |r| (c, r))).collect();
        let large: Vec<_> = pairs
            .iter()
            .map(|&(c, r)| (x[r * m + c] > 100, r))
            .collect();
        assert_eq!((column.0, row.0), pairs[first_extrema(&large).0]);
        for (column, found) in rows.as_slice().iter().enumerate() {
            let large: Vec<_> = (0..n).map(|r| x[r * m + column] > 100).collect();
            assert_eq!(*found, first_extrema(&large).1);
        }
    }
}

#[test]
fn scans_in_blocks() {
    for n in [0, 1, 2, 7, 1000, 1983, 1984, 1985, 100_000, 300_001] {
        let x = floats::<f64>(9, n);
        let sum = |a: f64, b: f64| a.max(b) + (-(a - b).abs()).exp().ln_1p();
        let mut so_far = -100.0;
        let expected: Vec<f64> = x
            .iter()
            .map(|x| {
                so_far = sum(so_far, 2.0 * x);
                so_far
            })
            .collect();
        let (found, all) = corpus::softmaxed(&vector(&x));
        close(found.as_slice(), &expected);
        close(&[all], &[x.iter().copied().fold(-100.0, sum)]);

        let x = ints(10, n);
        let (last, lengths) = corpus::last_known_and_lengths(&vector(&x));
        let (mut known, mut count) = (-1, 0);
        for (at, &x) in x.iter().enumerate() {
            known = if x < 0 { known } else { x };
            count += i64::from(x == 3);
            assert_eq!(last.as_slice()[at], known, "{at} of {n}");
            close(&[lengths.as_slice()[at]], &[(count as f64).sqrt()]);
        }
    }
}

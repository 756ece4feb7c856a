//! Running extrema and logarithms of sums, and interpolation: against their definitions, with
//! derivatives, of rows, in both floats.
#![deny(warnings)]
#![forbid(unsafe_code)]

mod close;

use close::all_close;
use pointful::lib::{cummax, cummin, interp, logcumsumexp, logsumexp, searchsorted};
use pointful::prelude::*;

type Vector<T = f64> = Table<Dyn, T>;

const SIZES: [usize; 8] = [0, 1, 2, 3, 7, 17, 40, 5000];

fn noise(n: usize, seed: f64) -> Vector {
    (0..n)
        .map(|k| ((k as f64 + seed) * 12.9898).sin() * 3.0)
        .collect()
}

fn single(x: &Vector) -> Vector<f32> {
    x.iter().map(|&x| x as f32).collect()
}

#[test]
fn running_extrema() {
    for n in SIZES {
        let x = noise(n, 0.3).map(|x| x.round());
        let best = |better: fn(f64, f64) -> bool| {
            let mut best = 0;
            (0..n)
                .map(|k| {
                    if better(x.as_slice()[k], x.as_slice()[best]) {
                        best = k;
                    }
                    best
                })
                .collect::<Vec<_>>()
        };
        let ct = noise(n, 0.7);
        for (found, (again, back), places) in [
            (cummax(&x), vjp!(cummax)(&x, &ct), best(|a, b| a > b)),
            (cummin(&x), vjp!(cummin)(&x, &ct), best(|a, b| a < b)),
        ] {
            let expected: Vec<f64> = places.iter().map(|&k| x.as_slice()[k]).collect();
            assert_eq!(found.as_slice(), expected);
            assert_eq!(again, found);
            // The first of equal elements has the derivative.
            let mut slopes = vec![0.0; n];
            for (place, ct) in places.iter().zip(ct.iter()) {
                slopes[*place] += ct;
            }
            all_close(back.as_slice(), &slopes, 1e-12);
        }
        let along = jvp!(cummax)(&x, &ct).1;
        let expected: Vec<f64> = best(|a, b| a > b)
            .iter()
            .map(|&k| ct.as_slice()[k])
            .collect();
        assert_eq!(along.as_slice(), expected);
        assert_eq!(cummax(&single(&x)), single(&cummax(&x)));
        assert_eq!(cummin(&single(&x)), single(&cummin(&x)));
    }
    let x = Vector::from(vec![f64::NAN, 1.0, f64::NAN, 2.0]);
    assert_eq!(cummax(&x).as_slice(), [f64::NEG_INFINITY, 1.0, 1.0, 2.0]);
    assert_eq!(cummin(&x).as_slice(), [f64::INFINITY, 1.0, 1.0, 1.0]);
}

#[test]
fn running_logarithms_of_sums() {
    for n in SIZES {
        let x = noise(n, 0.3).map(|x| 100.0 * x);
        let found = logcumsumexp(&x);
        let some = (0..n).step_by(1 + n / 50);
        for k in some.clone() {
            let before: Vector = x.as_slice()[..=k].iter().copied().collect();
            all_close(&[found.as_slice()[k]], &[logsumexp(&before)], 1e-13);
        }
        // The cotangents of later elements, by their parts of the sums.
        let ct = noise(n, 0.7);
        let back = vjp!(logcumsumexp)(&x, &ct).1;
        let (_, along) = jvp!(logcumsumexp)(&x, &ct);
        for k in some {
            let part = |j: usize, of: usize| (x.as_slice()[j] - found.as_slice()[of]).exp();
            let by: f64 = (k..n).map(|j| ct.as_slice()[j] * part(k, j)).sum();
            let slope: f64 = (0..=k).map(|j| ct.as_slice()[j] * part(j, k)).sum();
            all_close(
                &[back.as_slice()[k], along.as_slice()[k]],
                &[by, slope],
                1e-10,
            );
        }
        let singles = logcumsumexp(&single(&x));
        let singles: Vec<f64> = singles.iter().map(|&x| f64::from(x)).collect();
        all_close(&singles, found.as_slice(), 1e-6);
    }
}

#[test]
fn running_logarithms_of_infinities() {
    const INFINITY: f64 = f64::INFINITY;
    for (x, expected, slopes) in [
        (
            vec![-INFINITY, -INFINITY],
            vec![-INFINITY; 2],
            vec![0.0, 0.0],
        ),
        (vec![-INFINITY, 3.0], vec![-INFINITY, 3.0], vec![0.0, 1.0]),
        (vec![3.0, -INFINITY], vec![3.0, 3.0], vec![2.0, 0.0]),
        (vec![INFINITY, -INFINITY], vec![INFINITY; 2], vec![0.0, 0.0]),
        (vec![1e308, -1e308], vec![1e308; 2], vec![2.0, 0.0]),
    ] {
        let x = Vector::from(x);
        let ct = Vector::from(vec![1.0, 1.0]);
        let (value, back) = vjp!(logcumsumexp)(&x, &ct);
        assert_eq!(
            (value.as_slice(), back.as_slice()),
            (&expected[..], &slopes[..])
        );
    }
    for x in [vec![f64::NAN, 1.0], vec![f64::NAN, INFINITY]] {
        assert!(logcumsumexp(&Vector::from(x)).iter().all(|x| x.is_nan()));
    }
    let last = |x: f64| logcumsumexp(&Vector::from(vec![x, f64::NAN])).as_slice()[1];
    assert!(
        [1.0, -INFINITY, INFINITY]
            .into_iter()
            .all(|x| last(x).is_nan())
    );
}

#[test]
fn places_among_sorted_numbers() {
    for n in SIZES {
        let mut sorted = noise(n, 0.3).map(|x| (8.0 * x).round()).into_vec();
        sorted.sort_by(f64::total_cmp);
        let mut asked: Vec<f64> = sorted.iter().flat_map(|x| [x - 0.5, *x]).collect();
        asked.extend([f64::INFINITY, f64::NEG_INFINITY, 0.0]);
        let table = Vector::from(sorted.clone());
        for x in asked {
            let expected = sorted.partition_point(|&y| y < x);
            assert_eq!(searchsorted(&table, x), expected);
            assert_eq!(searchsorted(&single(&table), x as f32), expected);
        }
        assert_eq!(searchsorted(&table, f64::NAN), n);
        sorted.extend([f64::NAN; 2]);
        assert_eq!(searchsorted(&Vector::from(sorted), f64::NAN), n);
    }
}

/// By looking for the place one after the other.
fn line(x: &[f64], y: &[f64], t: f64) -> f64 {
    let after = x.iter().position(|&x| x >= t);
    match after {
        None => y[y.len() - 1],
        Some(0) => y[0],
        Some(k) => {
            let share = (t - x[k - 1]) / (x[k] - x[k - 1]);
            (1.0 - share) * y[k - 1] + share * y[k]
        }
    }
}

#[pointful]
fn many<N: IndexSet, M: IndexSet, T: Float>(
    x: &Table<N, T>,
    y: &Table<N, T>,
    t: &Table<M, T>,
) -> Table<M, T> {
    for m in M {
        interp(x, y, t[m])
    }
}

#[test]
fn lines_between_points() {
    for n in SIZES.into_iter().filter(|&n| n > 0) {
        let x: Vector = (0..n).map(|k| k as f64 + 0.4 * (k as f64).sin()).collect();
        let (y, t) = (noise(n, 0.2), noise(60, 0.5));
        // Some before the first point and behind the last one.
        let t = t.map(|t| (t / 3.0 + 0.8) * 0.6 * n as f64);
        let found = many(&x, &y, &t);
        let expected = |x: &Vector, y: &Vector, t: &Vector| -> Vec<f64> {
            t.iter()
                .map(|&t| line(x.as_slice(), y.as_slice(), t))
                .collect()
        };
        all_close(found.as_slice(), &expected(&x, &y, &t), 1e-12);
        for k in 0..n {
            assert_eq!(interp(&x, &y, x.as_slice()[k]), y.as_slice()[k]);
        }
        let (dx, dy, dt) = (
            noise(n, 1.2).map(|x| 0.1 * x),
            noise(n, 2.2),
            noise(60, 3.2),
        );
        let (_, tangent) = jvp!(many)(&x, &y, &t, &dx, &dy, &dt);
        let h = 1e-6;
        let moved = |h: f64| {
            let by = |x: &Vector, d: &Vector| x.map_with(d, |x, d| x + h * d);
            many(&by(&x, &dx), &by(&y, &dy), &by(&t, &dt))
        };
        let slopes = moved(h).map_with(&moved(-h), |x, y| (x - y) / (2.0 * h));
        all_close(tangent.as_slice(), slopes.as_slice(), 1e-6);
        let ct = noise(60, 4.2);
        let (_, (by_x, by_y, by_t)) = vjp!(many)(&x, &y, &t, &ct);
        let right = by_x.dot(&dx) + by_y.dot(&dy) + by_t.dot(&dt);
        all_close(&[right], &[tangent.dot(&ct)], 1e-11);
        let singles = many(&single(&x), &single(&y), &single(&t));
        let singles: Vec<f64> = singles.iter().map(|&x| f64::from(x)).collect();
        if n < 100 {
            all_close(&singles, found.as_slice(), 1e-3);
        }
    }
}

#[test]
fn ends_of_lines() {
    let (x, y) = (
        Vector::from(vec![0.0, 1.0, 3.0]),
        Vector::from(vec![1.0, 2.0, 8.0]),
    );
    // At a point the line before it, outside of all points none.
    let slopes = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0].map(|t| grad!(interp, wrt = t)(&x, &y, t));
    assert_eq!(slopes, [0.0, 0.0, 1.0, 1.0, 3.0, 3.0, 0.0]);
    assert_eq!(interp(&x, &y, f64::INFINITY), 8.0);
    assert!(interp(&x, &y, f64::NAN).is_nan());
    let (x, y) = (Vector::from(vec![2.0]), Vector::from(vec![5.0]));
    assert_eq!([1.0, 2.0, 3.0].map(|t| interp(&x, &y, t)), [5.0; 3]);
    assert!(interp(&x, &y, f64::NAN).is_nan());
    let none = Vector::from(vec![]);
    let panic = std::panic::catch_unwind(|| interp(&none, &none, 1.0)).unwrap_err();
    assert_eq!(
        panic
            .downcast_ref::<&str>()
            .map(|&text| text.to_owned())
            .or(panic.downcast_ref::<String>().cloned()),
        Some("there is no point to interpolate".to_owned())
    );
}

#[pointful]
fn of_rows<B: IndexSet, N: IndexSet, T: Float>(x: &Table<(B, N), T>) -> Table<(B, N), T> {
    for b in B {
        cummax(x[b]) * cummin(x[b]) + logcumsumexp(x[b])
    }
}

#[pointful]
fn of_all<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    cummax(x) * cummin(x) + logcumsumexp(x)
}

#[test]
fn rows_of_tables() {
    for (rows, n) in [(3, 17), (100, 3), (2, 3000), (0, 3), (3, 0)] {
        let numbers = noise(rows * n, 0.3);
        let x = Table::from_vec((rows, n), numbers.as_slice().to_vec()).unwrap();
        let (found, back) = vjp!(of_rows)(&x, &x);
        for k in 0..rows {
            let row = Vector::from(numbers.as_slice()[k * n..][..n].to_vec());
            let (expected, by) = vjp!(of_all)(&row, &row);
            all_close(found.row(Dyn(k)).as_slice(), expected.as_slice(), 1e-12);
            all_close(back.row(Dyn(k)).as_slice(), by.as_slice(), 1e-10);
        }
    }
}

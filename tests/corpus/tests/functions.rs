//! What every function of the corpus computes, said again in plain Rust.

mod common;

use common::*;
use pointful_corpus::functions as corpus;
use pointful_runtime::{Dyn, Extent, Fin, Table};

const LENGTHS: [usize; 6] = [0, 1, 2, 7, 41, 1000];
const WIDTHS: [usize; 5] = [0, 1, 2, 17, 40];

fn for_each_shape(mut check: impl FnMut(usize, usize)) {
    for n in LENGTHS {
        for m in WIDTHS {
            check(n, m);
        }
    }
}

#[test]
fn axpy() {
    for n in LENGTHS {
        let (x, y) = (floats::<f64>(1, n), floats::<f64>(2, n));
        let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
        close(
            corpus::axpy(2.5, &vector(&x), &vector(&y)).as_slice(),
            &expected,
        );
    }
    // The same function at another rank.
    let (x, y) = (floats::<f64>(1, 12), floats::<f64>(2, 12));
    let z = corpus::axpy(1.0, &matrix(3, 4, &x), &matrix(3, 4, &y));
    assert_eq!(z.extent().size(), (3, 4));
    let message = panic_of(|| corpus::axpy(1.0, &matrix(3, 4, &x), &matrix(4, 3, &y)));
    assert_eq!(
        message,
        "`axpy`: parameters `x` and `y` disagree on the size of `N`: (3, 4) in `x`, (4, 3) in `y`"
    );
}

#[test]
fn ends() {
    for n in LENGTHS.into_iter().chain([3, 4, 5]) {
        let x = floats::<f64>(3, n);
        let expected: Vec<f64> = (0..n)
            .map(|k| match k {
                0 => 10.0 * x[k],
                _ if k + 1 == n => -x[k],
                1 | 2 => x[k] * x[k],
                _ => x[k] + 1.0,
            })
            .collect();
        close(corpus::ends(&vector(&x)).as_slice(), &expected);
    }
}

#[test]
fn matmul() {
    for (n, k) in [(0, 3), (3, 0), (1, 1), (9, 33), (40, 70)] {
        for m in [0, 1, 15, 16, 33, 100] {
            let (a, b) = (floats::<f64>(1, n * k), floats::<f64>(2, k * m));
            let expected: Vec<f64> = (0..n * m)
                .map(|at| (0..k).map(|q| a[at / m * k + q] * b[q * m + at % m]).sum())
                .collect();
            close(
                corpus::matmul(&matrix(n, k, &a), &matrix(k, m, &b)).as_slice(),
                &expected,
            );
        }
    }
}

fn squared_distance(p: &[f64], c: &[f64]) -> f64 {
    p.iter().zip(c).map(|(p, c)| (p - c).powi(2)).sum()
}

#[test]
fn kmeans_cost() {
    for (n, k) in [(0, 2), (3, 0), (1, 1), (50, 7)] {
        for d in WIDTHS {
            let (p, c) = (floats::<f64>(24, n * d), floats::<f64>(25, k * d));
            let expected: f64 = (0..n)
                .map(|i| {
                    (0..k)
                        .map(|j| squared_distance(&p[i * d..(i + 1) * d], &c[j * d..(j + 1) * d]))
                        .fold(f64::INFINITY, f64::min)
                })
                .sum();
            close(
                &[corpus::kmeans_cost(&matrix(n, d, &p), &matrix(k, d, &c))],
                &[expected],
            );
        }
    }
}

fn classes(n: usize, k: usize) -> Vec<usize> {
    ints(6, if k == 0 { 0 } else { n })
        .iter()
        .map(|&c| (c + 128) as usize % k)
        .collect()
}

fn indices(k: usize, class: &[usize]) -> Table<Dyn, Dyn> {
    Table::from_indices(Extent::new(class.len()), Extent::new(k), class.to_vec()).expect("valid")
}

#[test]
fn histogram() {
    for_each_shape(|n, k| {
        let class = classes(n, k);
        let mut expected = vec![0.0; k];
        class.iter().for_each(|&c| expected[c] += 1.0);
        assert_eq!(corpus::histogram(&indices(k, &class)).as_slice(), expected);
    });
}

#[test]
fn products_and_extrema_in_bins() {
    for_each_shape(|n, k| {
        let class = classes(n, k);
        // Near a half: products of many do not overflow, and neither do products of sums of pairs.
        let x = floats::<f64>(7, class.len());
        let x: Vec<f64> = x.iter().map(|x| 0.5 + x / 8.0).collect();
        let in_bins = |start: f64, combine: fn(f64, f64) -> f64| {
            let mut bins = vec![start; k];
            for (&c, &x) in class.iter().zip(&x) {
                bins[c] = combine(bins[c], x);
            }
            bins
        };
        let bin = indices(k, &class);
        close(
            corpus::product_in_bins(&vector(&x), &bin).as_slice(),
            &in_bins(1.0, |a, b| a * b),
        );
        let (least, most) = corpus::extrema_in_bins(&vector(&x), &bin);
        assert_eq!(least.as_slice(), in_bins(f64::INFINITY, f64::min));
        assert_eq!(most.as_slice(), in_bins(f64::NEG_INFINITY, f64::max));
        let rows: Vec<f64> = x.iter().flat_map(|&x| [x, -1.0]).collect();
        let rows = corpus::rows_multiplied_in_bins(&matrix(class.len(), 2, &rows), &bin);
        let expected = in_bins(1.0, |a, b| a * b);
        let signs = in_bins(1.0, |sign, _| -sign);
        let expected: Vec<f64> = expected
            .into_iter()
            .zip(signs)
            .flat_map(|(x, s)| [x, s])
            .collect();
        close(rows.as_slice(), &expected);
        let mut pairs = vec![1.0; k];
        for i in 0..class.len() {
            for j in 0..i {
                pairs[class[j]] *= x[i] + x[j];
            }
        }
        close(
            corpus::pairs_multiplied_in_bins(&vector(&x), &bin).as_slice(),
            &pairs,
        );
    });
}

#[test]
fn softmax_rows() {
    for_each_shape(|n, k| {
        let x = floats::<f64>(3, n * k);
        let mut expected = x.clone();
        if k > 0 {
            for row in expected.chunks_mut(k) {
                let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter_mut().for_each(|x| *x = (*x - top).exp());
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= total);
            }
        }
        close(
            corpus::softmax_rows(&matrix(n, k, &x)).as_slice(),
            &expected,
        );
    });
}

#[test]
fn transpose() {
    for_each_shape(|n, m| {
        let x: Vec<i32> = (0..(n * m) as i32).collect();
        let y = corpus::transpose(&matrix(n, m, &x));
        assert_eq!(y.extent().size(), (m, n));
        assert!(
            y.indices()
                .all(|(Dyn(b), Dyn(a))| y[(Dyn(b), Dyn(a))] == x[a * m + b])
        );
    });
}

#[test]
fn heat() {
    for n in LENGTHS {
        for steps in [0, 1, 5] {
            let mut u = floats::<f64>(9, n);
            let found = corpus::heat(vector(&u), steps, 0.1);
            for _ in 0..steps {
                u = (0..n)
                    .map(|i| u[i] + 0.1 * (u[(i + n - 1) % n] - 2.0 * u[i] + u[(i + 1) % n]))
                    .collect();
            }
            close(found.as_slice(), &u);
        }
    }
}

#[test]
fn blur() {
    for (n, m) in [(1, 2), (2, 2), (3, 5), (40, 41)] {
        let x = floats::<f32>(10, n * m);
        let at = |r: usize, c: usize| x[r * m + c];
        let expected: Vec<f32> = (0..n * m)
            .map(|k| {
                let (r, c) = (k / m, k % m);
                let left = if c == 0 { 1 } else { c - 1 };
                let right = if c + 1 == m { m - 2 } else { c + 1 };
                (at(r.saturating_sub(1), c)
                    + at((r + 1).min(n - 1), c)
                    + at(r, left)
                    + at(r, right))
                    * 0.25
            })
            .collect();
        close_f32(corpus::blur(&matrix(n, m, &x)).as_slice(), &expected);
    }
}

#[test]
fn differences() {
    for n in LENGTHS {
        let x = floats::<f64>(11, n);
        let expected: Vec<f64> = (0..n)
            .map(|i| x[i] - if i == 0 { 0.0 } else { x[i - 1] })
            .collect();
        assert_eq!(corpus::differences(&vector(&x)).as_slice(), expected);
    }
}

#[test]
fn running() {
    for n in LENGTHS {
        let x = floats::<f64>(12, n);
        let mut total = 0.0;
        let expected: Vec<f64> = x
            .iter()
            .map(|x| {
                total = total * 0.5 + x;
                total
            })
            .collect();
        assert_eq!(corpus::running(&vector(&x)).as_slice(), expected);
    }
}

#[test]
fn roots() {
    assert!((corpus::newton(2.0) - 2_f64.sqrt()).abs() < 1e-12);
    for n in LENGTHS {
        let x = floats::<f64>(13, n);
        let expected: Vec<f64> = x
            .iter()
            .map(|&x| if x > 0.0 { x.sqrt() } else { 0.0 })
            .collect();
        close(corpus::roots(&vector(&x)).as_slice(), &expected);
    }
}

#[test]
fn largest() {
    assert_eq!(
        corpus::largest(&vector(&[1.0, 5.0, 2.0, 5.0])),
        (Dyn(1), 5.0)
    );
    assert!(panic_of(|| corpus::largest(&vector(&[]))).contains("argmax"));
}

#[test]
fn triangle() {
    for n in LENGTHS {
        let x = floats::<f64>(14, n);
        let expected: Vec<f64> = (0..n)
            .map(|i| x[..i].iter().map(|x| x * 2.0).sum())
            .collect();
        close(corpus::triangle(&vector(&x)).as_slice(), &expected);
    }
}

#[test]
fn statistics() {
    for n in [1, 2, 7, 1000] {
        let x = floats::<f64>(15, n);
        let (mean, variance, above, finite) = corpus::statistics(&vector(&x));
        let m = x.iter().sum::<f64>() / n as f64;
        close(
            &[mean, variance],
            &[m, x.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n as f64],
        );
        assert_eq!(
            (above, finite),
            (x.iter().filter(|&&x| x > mean).count(), true)
        );
    }
    let (mean, _, above, finite) = corpus::statistics(&vector(&[]));
    assert!(mean.is_nan() && above == 0 && finite);
}

#[test]
fn gather() {
    let x = vector(&[1.0, 2.0, 3.0]);
    assert_eq!(corpus::gather(&x, &vector(&[2, 0])).as_slice(), [3.0, 1.0]);
    assert_eq!(
        panic_of(|| corpus::gather(&x, &vector(&[3]))),
        "index 3 is out of range for `N` of 3 members"
    );
}

#[test]
fn segments() {
    for_each_shape(|n, k| {
        let class = classes(n, k);
        let w = floats::<f64>(16, class.len() * k);
        let mut expected = vec![0.0; k];
        for (i, &c) in class.iter().enumerate() {
            (0..k).for_each(|j| expected[j] += w[i * k + j]);
            expected[c] += 10.0;
        }
        close(
            corpus::segments(&matrix(class.len(), k, &w), &indices(k, &class)).as_slice(),
            &expected,
        );
    });
}

#[test]
fn double_in_place() {
    for n in LENGTHS {
        let x = floats::<f64>(17, n);
        let mut table = vector(&x);
        corpus::double_in_place(&mut table);
        assert_eq!(
            table.as_slice(),
            x.iter().map(|x| x * 2.0).collect::<Vec<_>>()
        );
    }
}

#[test]
fn sweep() {
    for n in LENGTHS {
        let mut x = floats::<f64>(18, n);
        let given = vector(&x);
        let address = given.as_slice().as_ptr();
        let found = corpus::sweep(given);
        for i in 1..n {
            x[i] = 0.5 * (x[i] + x[i - 1]);
        }
        assert_eq!(found.as_slice(), x);
        assert_eq!(
            found.as_slice().as_ptr(),
            address,
            "what the caller gave away is not copied"
        );
    }
}

#[test]
fn prefix() {
    for n in LENGTHS {
        let x = ints(19, n);
        let mut sum = 0;
        let expected: Vec<i64> = x
            .iter()
            .map(|x| {
                sum += x;
                sum
            })
            .collect();
        assert_eq!(corpus::prefix(&vector(&x)).as_slice(), expected);
    }
}

#[test]
fn linspace() {
    let x = corpus::linspace(Extent::<Dyn>::new(5), 1.0, 3.0);
    assert_eq!(x.as_slice(), [1.0, 1.5, 2.0, 2.5, 3.0]);
}

#[test]
fn conv() {
    let x = floats::<f64>(20, 50);
    let expected: Vec<f64> = (0..50_usize)
        .map(|i| 0.5 * x[i.saturating_sub(1)] - x[i] + 2.0 * x[(i + 1).min(49)])
        .collect();
    close(
        corpus::conv(&vector(&x), [0.5, -1.0, 2.0]).as_slice(),
        &expected,
    );
}

#[test]
fn outer() {
    let z = corpus::outer(&vector(&[1, 2, u32::MAX]), &vector(&[3, 4]));
    assert_eq!(
        z.as_slice(),
        [3, 4, 6, 8, 3_u32.wrapping_neg(), 4_u32.wrapping_neg()]
    );
}

#[test]
fn nearest() {
    let points = matrix(3, 2, &[0.0_f32, 0.0, 5.0, 5.0, 1.0, 0.0]);
    let centres = matrix(2, 2, &[4.0_f32, 4.0, 0.5, 0.0]);
    let found = corpus::nearest(&points, &centres);
    assert_eq!(
        (&found.ordinals()[..], found.target()),
        (&[1, 0, 1][..], Extent::new(2))
    );
}

#[test]
fn rk4() {
    for n in LENGTHS {
        let y = floats::<f64>(21, n);
        let found = corpus::rk4(&vector(&y), 0.5, 0.01, 100);
        for (found, y) in found.as_slice().iter().zip(&y) {
            assert!((found - y * (-0.5_f64).exp()).abs() < 1e-9);
        }
    }
}

#[test]
fn covariance() {
    for (n, d) in [(1, 1), (7, 3), (100, 20)] {
        let x = floats::<f64>(22, n * d);
        let mean = |a: usize| (0..n).map(|i| x[i * d + a]).sum::<f64>() / n as f64;
        let means: Vec<f64> = (0..d).map(mean).collect();
        close(corpus::column_means(&matrix(n, d, &x)).as_slice(), &means);
        let expected: Vec<f64> = (0..d * d)
            .map(|at| {
                (0..n)
                    .map(|i| {
                        (x[i * d + at / d] - means[at / d]) * (x[i * d + at % d] - means[at % d])
                    })
                    .sum()
            })
            .collect();
        close(corpus::covariance(&matrix(n, d, &x)).as_slice(), &expected);
    }
}

#[test]
fn life() {
    let mut x = vec![0_u8; 36];
    for (r, c) in [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)] {
        x[6 * r + c] = 1;
    }
    // A glider moves by one along the diagonal in four generations.
    let mut table = matrix(6, 6, &x);
    for _ in 0..4 {
        table = corpus::life(&table);
    }
    for r in 0..6 {
        for c in 0..6 {
            assert_eq!(table[(Dyn((r + 1) % 6), Dyn((c + 1) % 6))], x[6 * r + c]);
        }
    }
}

#[test]
fn checked_roots() {
    let x: Vec<f64> = (0..3000).map(f64::from).map(|x| x + 0.25).collect();
    let expected: Vec<f64> = x.iter().map(|x| x.sqrt()).collect();
    close(
        corpus::checked_roots(&matrix(30, 100, &x), 0.2, true, 1.5).as_slice(),
        &expected,
    );
    let mut broken = x.clone();
    broken[1234] = -0.5;
    for (n, k) in [(30, 100), (3000, 1), (1, 3000)] {
        let message = panic_of(|| corpus::checked_roots(&matrix(n, k, &broken), 0.2, true, 1.5));
        let (row, column) = (1234 / k, 1234 % k);
        assert_eq!(
            message,
            format!("x[{row}][{column}] is -0.5, not above -0000.200 (  true, -0.5, -1e0, 1.5)")
        );
        // What does not have to hold is not looked at, nor is the message.
        assert!(
            corpus::checked_roots(&matrix(n, k, &broken), 0.2, false, 1.5).as_slice()[1234]
                .is_nan()
        );
    }
    for (n, k) in [(0, 0), (0, 3), (3, 0)] {
        assert!(
            corpus::checked_roots(&matrix(n, k, &[]), 0.2, true, 1.5)
                .as_slice()
                .is_empty()
        );
    }
    assert_eq!(
        panic_of(|| corpus::checked_roots(&matrix(1, 1, &[1.0]), -1.0, true, 1.5)),
        "{low} is -1.00"
    );
}

#[test]
fn stepped() {
    assert_eq!(corpus::stepped(3, 20), 14);
    assert_eq!(
        panic_of(|| corpus::stepped(12, 40)),
        "after 10 of 12 steps  88574 is not below 40    |"
    );
}

#[test]
fn numbered() {
    for n in [1, 2, 7, 1000] {
        let x: Table<(Dyn, bool), f64> = Table::from_fn(Extent::new((n, ())), |(Dyn(i), b)| {
            i as f64 + 0.5 * f64::from(u8::from(b))
        });
        for k in [0, n / 2, n - 1] {
            let (sizes, found, numbers) = corpus::numbered(&x, Extent::new(n), k);
            assert_eq!(sizes, 2 * n + 4);
            assert_eq!(found, k as f64 + 0.5 * (k % 2) as f64);
            let expected: Vec<usize> = (0..2 * n).map(|at| at + 100 * (at % 2)).collect();
            assert_eq!(numbers.as_slice(), expected);
        }
        let message = panic_of(|| corpus::numbered(&x, Extent::new(n), n + 1));
        assert!(
            message.contains(&n.to_string()) && message.contains(&(n + 1).to_string()),
            "{message}"
        );
    }
}

#[test]
fn only() {
    let x = Table::<(), f64>::from_fn(Extent::new(()), |()| 3.0);
    let (product, folded, scanned) = corpus::only(&x, 0.25);
    assert_eq!((product, folded), (3.0 * 6.5, 2.5));
    assert_eq!(scanned.as_slice(), [7.5]);
}

#[test]
fn smoothed() {
    let functions: [(f64, fn(f64) -> f64); 4] = [
        (1.0, |x| x / 2.0),
        (2.0, |x| x * 0.75),
        (3.0, |x| 0.75 * (x / 0.75).tanh()),
        (3.0, |x| x.clamp(-0.75, 0.75)),
    ];
    for n in LENGTHS {
        let x = floats::<f64>(5, n);
        for (how, (weight, f)) in functions.iter().enumerate() {
            let (y, one) = corpus::smoothed(&vector(&x), how as u8, 0.75);
            let expected: Vec<f64> = x.iter().map(|&x| f(x)).collect();
            close(y.as_slice(), &expected);
            close(&[one], &[weight * f(1.0)]);
        }
    }
}

#[test]
fn normalized() {
    for_each_shape(|n, m| {
        let (x, y) = (floats::<f64>(3, n * m), floats::<f64>(4, n));
        let largest = x.iter().fold(f64::NEG_INFINITY, |a, b| a.max(b.abs()));
        let scaled: Vec<f64> = x.iter().map(|x| x / largest).collect();
        let clamped: Vec<f64> = y.iter().map(|y| y.clamp(0.25, 0.5)).collect();
        let (u, v) = (matrix(n, m, &x), vector(&y));
        let ((u, v), stats) =
            pointful_runtime::stats::measure(move || corpus::normalized(u, v, 0.25));
        close(u.as_slice(), &scaled);
        close(v.as_slice(), &clamped);
        assert_eq!(stats.allocations, 0);
    });
}

/// Few classes are gone through by all lanes, many in lanes of their own.
#[test]
fn logarithms_of_short_and_long_sums() {
    for n in [0, 1, 15, 16, 17, 3000] {
        for k in [1, 2, 3, 5, 12, 13, 40] {
            let x = floats::<f64>(1, n * k);
            let rows = || x.chunks(k);
            let top = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total = |row: &[f64]| row.iter().map(|x| (x - top(row)).exp()).sum::<f64>();
            let value: f64 = rows().map(|row| top(row) + total(row).ln()).sum();
            let slope: Vec<f64> = rows()
                .flat_map(|row| row.iter().map(|x| (x - top(row)).exp() / total(row)))
                .collect();
            let x = matrix(n, k, &x);
            close(&[on_threads(|| corpus::log_sums(&x))], &[value]);
            let (again, back) = on_threads(|| {
                let (value, back) = corpus::log_sums_back(&x);
                (value, back.as_slice().to_vec())
            });
            close(&[again], &[value]);
            close(&back, &slope);
            if k == 3 {
                let extent = Extent::<(Dyn, Fin<3>)>::new((n, ()));
                let x = Table::from_vec(extent, x.as_slice().to_vec()).expect("as many values");
                close(&[on_threads(|| corpus::log_sums_of_three(&x))], &[value]);
            }
        }
    }
}

#[test]
fn mixtures_of_few_and_many() {
    for (n, k, d) in [
        (0, 2, 2),
        (33, 0, 1),
        (33, 2, 0),
        (1000, 5, 2),
        (1000, 2, 13),
        (1000, 40, 3),
    ] {
        let (x, m) = (floats::<f32>(1, n * d), floats::<f32>(2, k * d));
        let at = |p: &[f32], c: &[f32]| -> f64 {
            let apart = p.iter().zip(c).map(|(p, c)| f64::from(p - c).powi(2));
            (-apart.sum::<f64>()).exp()
        };
        let point = |i: usize| &x[i * d..][..d];
        let centre = |j: usize| &m[j * d..][..d];
        let total = |i: usize| 1.0 + (0..k).map(|j| at(point(i), centre(j))).sum::<f64>();
        let value: f64 = (0..n).map(|i| total(i).ln()).sum();
        let slope = |j: usize, c: usize| -> f64 {
            let of = |i: usize| {
                let apart = f64::from(point(i)[c] - centre(j)[c]);
                2.0 * apart * at(point(i), centre(j)) / total(i)
            };
            (0..n).map(of).sum()
        };
        let (x, m) = (matrix(n, d, &x), matrix(k, d, &m));
        let (found, back) = on_threads(|| {
            let (value, back) = corpus::mixture_back(&x, &m);
            (value, back.as_slice().to_vec())
        });
        let near = |found: f32, expected: f64| {
            let wrong = (f64::from(found) - expected).abs();
            assert!(wrong < 1e-4 * (1.0 + value.abs()), "{found} and {expected}");
        };
        near(found, value);
        near(corpus::mixture(&x, &m), value);
        for (place, &found) in back.iter().enumerate() {
            near(found, slope(place / d, place % d));
        }
    }
}

#[test]
fn ranked_and_its_derivative() {
    for n in LENGTHS {
        let (s, y) = (floats::<f32>(1, n), floats::<f32>(2, n));
        let (mut value, mut back) = (0.0, vec![0.0; n]);
        for i in 0..n {
            for j in (0..n).filter(|&j| y[i] > y[j]) {
                let e = f64::from(s[j] - s[i]).exp();
                value += (1.0 + e).ln();
                back[i] -= e / (1.0 + e);
                back[j] += e / (1.0 + e);
            }
        }
        let found = on_threads(|| corpus::ranked_back(&vector(&s), &vector(&y)));
        let back: Vec<f32> = back.iter().map(|&slope| slope as f32).collect();
        close_f32(&[found.0], &[value as f32]);
        close_f32(found.1.as_slice(), &back);
    }
}

#[test]
fn near_pairs() {
    for_each_shape(|n, m| {
        let (x, y) = (floats::<f64>(1, n), floats::<f64>(2, m));
        // Every third is zero.
        let weights: Vec<f64> = (0..m)
            .map(|at| (at % 3) as f64 - f64::from(at % 2 == 0))
            .collect();
        for far in [-1.0, 0.05, 1.0, 1e9, f64::NAN] {
            let expected: (Vec<f64>, Vec<f64>) = x
                .iter()
                .map(|x| {
                    let (mut close, mut others) = (0.0, 0.0);
                    for (y, &w) in y.iter().zip(&weights) {
                        let d = (x - y).abs();
                        if d < far {
                            close += w * (-d * d).exp();
                            others += if w > 0.0 { d } else { -0.5 };
                        } else if w == 0.0 {
                            others += 2.0;
                        }
                    }
                    (close, others)
                })
                .unzip();
            let found =
                on_threads(|| corpus::near_pairs(&vector(&x), &vector(&y), &vector(&weights), far));
            close(found.0.as_slice(), &expected.0);
            close(found.1.as_slice(), &expected.1);
        }
    });
}

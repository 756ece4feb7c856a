//! What programs mean: lowered, interpreted, and compared with plain Rust, at extents 0, 1, 2, 7
//! and 1000.

use super::{lower_source, rendered};
use crate::eval::{Data, EvalError, Inputs, approx_eq, run};
use crate::testing::entered::ROWS_STAY;

/// Extents at which loops are tried.
const SIZES: [usize; 5] = [0, 1, 2, 7, 1000];

fn results(source: &str, sizes: &[usize], params: &[Data]) -> Result<Vec<Data>, EvalError> {
    let lowered = match lower_source(source) {
        Ok(lowered) => lowered,
        Err(errors) => panic!("{source}\n{}", rendered(&errors)),
    };
    crate::ir::verify_after("lower", &lowered.program);
    let inputs = Inputs {
        sizes: sizes.to_vec(),
        params: params.to_vec(),
    };
    run(&lowered.program, &inputs).map(|(results, _)| results)
}

fn gives(source: &str, sizes: &[usize], params: &[Data], want: &[Data]) {
    let found = results(source, sizes, params).unwrap_or_else(|error| panic!("{source}\n{error}"));
    assert_eq!(found.len(), want.len(), "{source}");
    for (found, want) in found.iter().zip(want) {
        assert!(
            approx_eq(found, want),
            "{source}\nat {sizes:?}: {found:?}\nnot {want:?}"
        );
    }
}

fn panics(source: &str, sizes: &[usize], params: &[Data], why: &str) {
    match results(source, sizes, params) {
        Err(EvalError::Panic(message)) => assert!(message.contains(why), "{message}"),
        other => panic!("{source}\n{other:?}"),
    }
}

/// Numbers between -1 and 1 that look random.
fn noise(len: usize, seed: u64) -> Vec<f64> {
    (0..len as u64)
        .map(|k| {
            let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ seed.wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 32)) % 2001) as f64 / 1000.0 - 1.0
        })
        .collect()
}

fn vector(values: &[f64]) -> Data {
    Data::f64s(&[values.len()], values.iter().copied())
}

fn matrix(rows: usize, columns: usize, values: &[f64]) -> Data {
    Data::f64s(&[rows, columns], values.iter().copied())
}

#[test]
fn a_matrix_product() {
    let source = "fn matmul<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> Table<(I, J), f64> {
        for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) }
    }";
    for (i, k, j) in [(0, 2, 2), (2, 0, 3), (1, 1, 1), (7, 2, 3)] {
        let (a, b) = (noise(i * k, 1), noise(k * j, 2));
        let product: Vec<f64> = (0..i * j)
            .map(|at| {
                (0..k)
                    .map(|k1| a[at / j * k + k1] * b[k1 * j + at % j])
                    .sum()
            })
            .collect();
        gives(
            source,
            &[i, k, j],
            &[matrix(i, k, &a), matrix(k, j, &b)],
            &[matrix(i, j, &product)],
        );
    }
}

#[test]
fn a_histogram_and_what_is_added_to_an_existing_table() {
    let source = "fn counts<N: IndexSet, K: IndexSet>(class: &Table<N, K>, w: &Table<N, f64>, start: &Table<K, f64>) -> (Table<K, f64>, Table<K, f64>, f64) {
        let mut hist = Accum::zero();
        let mut t = start.clone();
        let mut total = 1.0;
        for n in N {
            hist[class[n]] += 1.0;
            t[class[n]] -= w[n];
            if w[n] > 0.0 { total += w[n]; }
        }
        (hist.get(), t, total)
    }";
    for n in SIZES {
        let k = 3;
        let class: Vec<usize> = (0..n).map(|i| i * 7 % k).collect();
        let (w, start) = (noise(n, 3), noise(k, 4));
        let mut hist = vec![0.0; k];
        let mut t = start.clone();
        let mut total = 1.0;
        for i in 0..n {
            hist[class[i]] += 1.0;
            t[class[i]] -= w[i];
            total += w[i].max(0.0);
        }
        gives(
            source,
            &[n, k],
            &[Data::usizes(&[n], class), vector(&w), vector(&start)],
            &[vector(&hist), vector(&t), total.into()],
        );
    }
}

#[test]
fn states_in_order_and_backwards() {
    let source =
        "fn smooth<T: IndexSet>(a: &Table<T, f64>) -> (Table<T, f64>, Table<T, f64>, f64) {
        let mut v = 0.0;
        let forward = for t in T { v = 0.9 * v + a[t]; v };
        let mut w = v;
        let mut out = for t in T { 0.0 };
        for t in T.rev() { w = 0.5 * w - a[t]; out[t] = w; }
        (forward, out, w)
    }";
    for n in SIZES {
        let a = noise(n, 5);
        let mut v = 0.0;
        let forward: Vec<f64> = a
            .iter()
            .map(|x| {
                v = 0.9 * v + x;
                v
            })
            .collect();
        let mut w = v;
        let mut out = vec![0.0; n];
        for t in (0..n).rev() {
            w = 0.5 * w - a[t];
            out[t] = w;
        }
        gives(
            source,
            &[n],
            &[vector(&a)],
            &[vector(&forward), vector(&out), w.into()],
        );
    }
}

#[test]
fn offsets_at_both_ends() {
    let source = "fn ends<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>, Table<N, f64>, Table<N, f64>) {
        (
            for i in N { x[(i + 2).wrap()] },
            for i in N { x[(i - 3).clamp()] },
            for i in N { x[(i - 2).mirror()] },
            for i in N { x.get(i - 1).unwrap_or(9.0) },
        )
    }";
    for n in SIZES {
        let x = noise(n, 6);
        let size = n as i64;
        let read =
            |f: &dyn Fn(i64) -> i64| -> Vec<f64> { (0..size).map(|i| x[f(i) as usize]).collect() };
        let mirror = |k: i64| {
            let mut k = k;
            if size == 1 {
                return 0;
            }
            while !(0..size).contains(&k) {
                k = if k < 0 { -k } else { 2 * (size - 1) - k };
            }
            k
        };
        let before: Vec<f64> = (0..n)
            .map(|i| if i == 0 { 9.0 } else { x[i - 1] })
            .collect();
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[
                vector(&read(&|i| (i + 2).rem_euclid(size))),
                vector(&read(&|i| (i - 3).clamp(0, size - 1))),
                vector(&read(&|i| mirror(i - 2))),
                vector(&before),
            ],
        );
    }
}

#[test]
fn offsets_move_through_a_product_by_ordinal() {
    let source = "fn shift<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        for i in N { x.get(i - 1).unwrap_or(0.0) + 10.0 * x[(i + 1).wrap()] }
    }
    fn shift_matrix<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>) -> Table<(A, B), f64> { shift(x) }";
    for (a, b) in [(0, 3), (1, 1), (2, 7), (7, 2)] {
        let x = noise(a * b, 7);
        let n = a * b;
        let want: Vec<f64> = (0..n)
            .map(|i| if i == 0 { 0.0 } else { x[i - 1] } + 10.0 * x[(i + 1) % n])
            .collect();
        gives(source, &[a, b], &[matrix(a, b, &x)], &[matrix(a, b, &want)]);
    }
}

#[test]
fn indices_out_of_range_panic() {
    let source = "fn pick<N: IndexSet>(x: &Table<N, f64>, k: i64) -> f64 { x[k] }";
    gives(
        source,
        &[3],
        &[vector(&[1.0, 2.0, 3.0]), 2i64.into()],
        &[3.0.into()],
    );
    panics(source, &[3], &[vector(&[1.0, 2.0, 3.0]), 3i64.into()], "3");
    panics(
        source,
        &[3],
        &[vector(&[1.0, 2.0, 3.0]), (-1i64).into()],
        "-1",
    );
    panics(
        "fn next<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { for i in N { x[i + 1] } }",
        &[2],
        &[vector(&[1.0, 2.0])],
        "2",
    );
}

#[test]
fn triangular_loops() {
    let source = "fn triangle<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>, f64, Table<N, f64>) {
        let mut acc = Accum::zero();
        for i in N { for j in (..i).rev() { acc[j] += x[i]; } }
        (
            for i in N { sum(for j in ..i { x[j] }) },
            for i in N { max(for j in i.. { x[j] }) },
            sum(for i in N { sum(for j in ..=i { x[i] * x[j] }) }),
            acc.get(),
        )
    }";
    for n in SIZES {
        let n = n.min(60);
        let x = noise(n, 8);
        let below: Vec<f64> = (0..n).map(|i| x[..i].iter().sum()).collect();
        let above: Vec<f64> = (0..n)
            .map(|i| x[i..].iter().copied().fold(f64::NEG_INFINITY, f64::max))
            .collect();
        let all = (0..n)
            .map(|i| x[..=i].iter().map(|y| x[i] * y).sum::<f64>())
            .sum::<f64>();
        let after: Vec<f64> = (0..n).map(|i| x[i + 1..].iter().sum()).collect();
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[vector(&below), vector(&above), all.into(), vector(&after)],
        );
    }
}

/// `for row in t`: the rows of a parameter, of a table that the body makes, of a field and of an
/// element, forwards and backwards; of a variable that the body changes, as they were.
#[test]
fn rows_of_tables() {
    let source = "fn rows<N: IndexSet, M: IndexSet>(a: &Table<(N, M), f64>, w: &Table<N, f64>) -> (Table<N, f64>, Table<(N, M), f64>, f64, f64, f64, f64) {
        let mut last = 0.25;
        for row in a.rev() { last = 0.5 * last + sum(row); }
        let mut u = w;
        let mut s = 0.0;
        for x in u { u = for i in N { u[i] + 1.0 }; s += x; }
        let pair = (a, 2.0);
        (
            for row in a { sum(for x in row { x * x }) },
            for row in a.rows() { row * 2.0 },
            last,
            sum(for x in w.skip(1) { x }) + s + sum(u),
            sum(for row in pair.0 { sum(row) * pair.1 }),
            sum(for i in N { sum(for x in a[i] { x * w[i] }) }),
        )
    }";
    for (n, m) in [(0, 3), (3, 0), (1, 1), (4, 3)] {
        let (a, w) = (noise(n * m, 3), noise(n, 4));
        let row = |i: usize| &a[i * m..(i + 1) * m];
        let squares: Vec<f64> = (0..n).map(|i| row(i).iter().map(|x| x * x).sum()).collect();
        let twice: Vec<f64> = a.iter().map(|x| 2.0 * x).collect();
        let last = (0..n)
            .rev()
            .fold(0.25, |s, i| 0.5 * s + row(i).iter().sum::<f64>());
        let skipped: f64 = w.iter().skip(1).sum();
        let changed = 2.0 * w.iter().sum::<f64>() + (n * n) as f64;
        let weighted: f64 = (0..n).map(|i| w[i] * row(i).iter().sum::<f64>()).sum();
        gives(
            source,
            &[n, m],
            &[matrix(n, m, &a), vector(&w)],
            &[
                vector(&squares),
                matrix(n, m, &twice),
                last.into(),
                (skipped + changed).into(),
                (2.0 * a.iter().sum::<f64>()).into(),
                weighted.into(),
            ],
        );
    }
}

/// `T::EPSILON` and its like are those of the float that a call makes of `T`.
#[test]
fn constants_of_generic_floats() {
    let source = "fn known<T: Float>(x: T) -> (T, T, T, T, u32, i32, T) {
            (x * T::EPSILON, T::MAX - T::MIN * T::ZERO, T::PI, T::MIN_POSITIVE * T::ONE, T::DIGITS + T::RADIX, T::MIN_EXP, T::from_f64(0.1))
        }
        fn both(x: f32, y: f64) -> (f32, f32, f32, f32, u32, i32, f32, f64, f64, f64, f64, u32, i32, f64, f64) {
            let (a, b, c, d, e, f, g) = known(x);
            let (h, i, j, k, l, m, n) = known(y);
            (a, b, c, d, e, f, g, h, i, j, k, l, m, n, x.to_f64())
        }";
    use std::f32::consts::PI;
    gives(
        source,
        &[],
        &[2.0_f32.into(), 2.0_f64.into()],
        &[
            (2.0 * f32::EPSILON).into(),
            f32::MAX.into(),
            PI.into(),
            f32::MIN_POSITIVE.into(),
            (f32::DIGITS + 2).into(),
            f32::MIN_EXP.into(),
            0.1_f32.into(),
            (2.0 * f64::EPSILON).into(),
            f64::MAX.into(),
            std::f64::consts::PI.into(),
            f64::MIN_POSITIVE.into(),
            (f64::DIGITS + 2).into(),
            f64::MIN_EXP.into(),
            0.1_f64.into(),
            2.0_f64.into(),
        ],
    );
}

#[test]
fn integer_ranges() {
    let source = "fn ranges<N: IndexSet>(x: &Table<N, f64>, lo: i32, hi: i32, m: usize) -> (i32, f64, i64, usize) {
        let mut order = 0;
        for k in (0..4i64).rev().skip(1) { order = order * 10 + k; }
        let mut left = 0;
        for k in (2..m).skip(3) { left += k; }
        (sum(for k in lo..=hi { k }), sum(for k in 0..size(N) { x[k] }), order, left)
    }";
    for (lo, hi) in [(0, 3), (-2, 2), (3, 2), (5, -5)] {
        for m in SIZES {
            let x = noise(m, 9);
            let want: i32 = (lo..=hi).sum();
            let left: usize = (2..m).skip(3).sum();
            gives(
                source,
                &[m],
                &[vector(&x), lo.into(), hi.into(), m.into()],
                &[
                    want.into(),
                    x.iter().sum::<f64>().into(),
                    210i64.into(),
                    left.into(),
                ],
            );
        }
    }
}

#[test]
fn members_from_the_second_and_without_the_last() {
    let source = "fn parts<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, f64) {
        let mut v = 0.0;
        for i in N.rev().skip(1) { v = v * 0.5 + x[i]; }
        (sum(for i in N.skip(1) { x[i] - x[i - 1] }), sum(for i in N.skip(2) { x[i] }), v)
    }";
    for n in SIZES {
        let x = noise(n, 10);
        let steps: f64 = x.windows(2).map(|w| w[1] - w[0]).sum();
        let tail: f64 = x.iter().skip(2).sum();
        let v = x.iter().rev().skip(1).fold(0.0, |v, y| v * 0.5 + y);
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[steps.into(), tail.into(), v.into()],
        );
    }
}

/// Beside a state of another kind, a row stays in its table if all that is changed of it are places.
#[test]
fn rows_of_loops_with_states() {
    // What is done to row `i` with `s` and `j`, in plain Rust, and whether the row stays.
    type Plain = fn(&mut [f64], &mut f64, usize, usize);
    fn at(row: &mut [f64], s: &mut f64, j: usize) {
        *s = 0.5 * *s + row[j];
        row[j] = *s;
    }
    let cases: [(&str, Plain, bool); 7] = [
        (
            "s = 0.5 * s + t[i][j]; t[i][j] = s;",
            |row, s, _, j| at(row, s, j),
            true,
        ),
        (
            "s = 0.5 * s + t[i][i]; t[i][i] = s;",
            |row, s, i, _| at(row, s, i),
            true,
        ),
        (
            "for _k in 0..2 { s = 0.5 * s + t[i][j]; t[i][j] = s; }",
            |row, s, _, j| (0..2).for_each(|_| at(row, s, j)),
            true,
        ),
        (
            "let m = (i + 1).wrap(); if s > 0.0 { t[i][m] = s; } else { t[i][j] += s; } s -= 0.1;",
            |row, s, i, j| {
                match *s > 0.0 {
                    true => row[(i + 1) % row.len()] = *s,
                    false => row[j] += *s,
                }
                *s -= 0.1;
            },
            true,
        ),
        (
            "put(&mut t, i, j, s); s += t[i][j];",
            |row, s, _, j| {
                row[j] = *s;
                *s += row[j];
            },
            true,
        ),
        (
            "for k in N { s = 0.5 * s + t[i][k]; t[i][k] = s; }",
            |row, s, _, _| (0..row.len()).for_each(|k| at(row, s, k)),
            false,
        ),
        (
            "t[i] = 0.5 * t[i]; t[i][j] = s; s += t[i][i];",
            |row, s, i, j| {
                row.iter_mut().for_each(|x| *x *= 0.5);
                row[j] = *s;
                *s += row[i];
            },
            false,
        ),
    ];
    for (body, plain, stays) in cases {
        let source = format!(
            "fn put<N: IndexSet>(t: &mut Table<(N, N), f64>, i: N, j: N, s: f64) {{ t[i][j] = s; }}
            fn all<N: IndexSet>(x: &Table<(N, N), f64>) -> (Table<(N, N), f64>, f64) {{
                let mut t = x.clone();
                let mut s = 0.1;
                for j in N {{ for i in N {{ {body} }} }}
                (t, s)
            }}"
        );
        for n in [0, 1, 2, 7] {
            let x = noise(n * n, 15);
            let (mut t, mut s) = (x.clone(), 0.1);
            for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (j, i))) {
                plain(&mut t[i * n..][..n], &mut s, i, j);
            }
            ROWS_STAY.set(0);
            gives(
                &source,
                &[n],
                &[matrix(n, n, &x)],
                &[matrix(n, n, &t), s.into()],
            );
            assert_eq!(ROWS_STAY.get() > 0, stays, "{body}");
        }
    }
}

#[test]
fn ranges_of_a_function_are_those_of_each_call() {
    let source = "fn tail<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(for i in N.skip(1) { x[i] }) }
        fn first<const K: usize>(x: &Table<Fin<K>, f64>) -> usize { let mut n = 0; for _k in 0..K { n += 1; } n }
        fn all<M: IndexSet, N: IndexSet>(x: &Table<M, f64>, y: &Table<N, f64>) -> (f64, f64, f64, usize) {
            let short = [1.0, 2.0, 4.0];
            (tail(x), tail(y), tail(short), 10 * first(short) + first([1.0, 2.0]))
        }";
    for n in SIZES {
        let (x, y) = (noise(n, 12), noise(4, 13));
        let tail = |x: &[f64]| x.iter().skip(1).sum::<f64>();
        gives(
            source,
            &[n, 4],
            &[vector(&x), vector(&y)],
            &[
                tail(&x).into(),
                tail(&y).into(),
                6.0.into(),
                32_usize.into(),
            ],
        );
    }
}

#[test]
fn reductions_of_nothing_and_of_something() {
    let source =
        "fn all_of<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, f64, f64, usize, bool, bool) {
        (sum(x), prod(x), min(x), max(x), count(x > 0.5), any(x > 0.5), all(x > -2.0))
    }";
    for n in SIZES {
        let x = noise(n, 11);
        let large = x.iter().filter(|v| **v > 0.5).count();
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[
                x.iter().sum::<f64>().into(),
                x.iter().product::<f64>().into(),
                x.iter().copied().fold(f64::INFINITY, f64::min).into(),
                x.iter().copied().fold(f64::NEG_INFINITY, f64::max).into(),
                large.into(),
                (large > 0).into(),
                true.into(),
            ],
        );
    }
}

#[test]
fn the_first_extremal_element_of_a_matrix() {
    let source = "fn extremes<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> ((N, M), Table<M, N>, Table<N, M>) {
        (argmin(x), argmax(for i in N { for j in M { x[i][j] } }), for i in N { argmin(x[i]) })
    }";
    for (n, m) in [(1, 1), (2, 7), (7, 2)] {
        let x = noise(n * m, 12);
        let first = |better: &dyn Fn(f64, f64) -> bool, values: Vec<f64>| {
            (0..values.len()).fold(0, |best, k| {
                if better(values[k], values[best]) {
                    k
                } else {
                    best
                }
            })
        };
        let less = |a: f64, b: f64| a < b;
        let more = |a: f64, b: f64| a > b;
        let at = first(&less, x.clone());
        let columns: Vec<usize> = (0..m)
            .map(|j| first(&more, (0..n).map(|i| x[i * m + j]).collect()))
            .collect();
        let rows: Vec<usize> = (0..n)
            .map(|i| first(&less, x[i * m..(i + 1) * m].to_vec()))
            .collect();
        gives(
            source,
            &[n, m],
            &[matrix(n, m, &x)],
            &[
                (at / m).into(),
                (at % m).into(),
                Data::usizes(&[m], columns),
                Data::usizes(&[n], rows),
            ],
        );
    }
}

#[test]
fn the_first_extremal_truth_value_and_member() {
    let source = "fn f<N: IndexSet, K: IndexSet>(x: &Table<(N, K), bool>, at: &Table<N, K>) -> ((N, K), N, N, N, Table<K, N>) {
        let pairs = for n in N { (x[n][at[n]], (at[n], ())) };
        (argmax(x), argmin(at), argmax(for n in N { at[n] }), argmin(pairs), for k in K { argmax(for n in N { x[n][k] }) })
    }";
    let x = [
        false, false, false, true, false, true, true, false, true, true, true, false,
    ];
    let at = [1, 2, 0, 2];
    gives(
        source,
        &[4, 3],
        &[
            Data::bools(&[4, 3], x.to_vec()),
            Data::usizes(&[4], at.to_vec()),
        ],
        &[
            1_usize.into(),
            0_usize.into(),
            2_usize.into(),
            1_usize.into(),
            0_usize.into(),
            Data::usizes(&[3], vec![1, 3, 1]),
        ],
    );
}

/// `None` is no variable that takes every value, wherever in a pattern it stands.
#[test]
fn what_is_not_there() {
    let source = "fn around<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>, Table<N, f64>, Table<N, f64>) {
        (
            for i in N { match x.get(i + 1) { None => -1.0, Some(v) => v } },
            for i in N { match x.get(i - 1) { Some(v) if v > 0.0 => v, None => -1.0, Option::Some(_) => 0.0 } },
            for i in N { match (x.get(i - 1), x.get(i + 1)) { (None, None) => 1.0, (None, Some(b)) => b, (Some(a), None) => a, (Some(a), Some(b)) => a * b } },
            for i in N { if let Option::None = x.get(i + 2) { 1.0 } else { 0.0 } }
        )
    }";
    for n in [0, 1, 2, 7] {
        let x = noise(n, 14);
        let at = |k: usize| x.get(k).copied();
        let before = |k: usize| k.checked_sub(1).and_then(at);
        let table = |f: &dyn Fn(usize) -> f64| vector(&(0..n).map(f).collect::<Vec<_>>());
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[
                table(&|k| at(k + 1).unwrap_or(-1.0)),
                table(&|k| before(k).map_or(-1.0, |v| if v > 0.0 { v } else { 0.0 })),
                table(&|k| match (before(k), at(k + 1)) {
                    (None, None) => 1.0,
                    (a, b) => a.unwrap_or(1.0) * b.unwrap_or(1.0),
                }),
                table(&|k| f64::from(u8::from(at(k + 2).is_none()))),
            ],
        );
    }
}

/// A parameter that is `&mut` is passed on as what it is.
#[test]
fn what_a_callee_of_a_callee_changes() {
    let source = "fn raise<N: IndexSet>(u: &mut Table<N, f64>, by: f64) -> f64 { for i in N { u[i] += by; } u[0] }
    fn twice<N: IndexSet>(u: &mut Table<N, f64>, by: f64) -> f64 { raise(u, by) + raise((u), by) + raise(&mut u, 0.0) }
    fn all<N: IndexSet>(mut u: Table<N, f64>, by: f64) -> (Table<N, f64>, f64) { let first = twice(&mut u, by); (u, first) }";
    gives(
        source,
        &[2],
        &[vector(&[1.0, 2.0]), 0.5.into()],
        &[vector(&[2.0, 3.0]), 5.5.into()],
    );
}

#[test]
fn the_groups_that_a_reduction_takes() {
    let source = "fn groups<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> (f64, Table<M, f64>, Table<N, f64>, Table<M, f64>) {
        (mean(x), sum(for i in N { x[i] }), for i in N { sum(x[i]) }, sum(for i in N { for j in M { x[i][j] } }))
    }";
    for (n, m) in [(1, 1), (2, 7), (7, 2)] {
        let x = noise(n * m, 13);
        let columns: Vec<f64> = (0..m).map(|j| (0..n).map(|i| x[i * m + j]).sum()).collect();
        let rows: Vec<f64> = x.chunks(m).map(|row| row.iter().sum()).collect();
        let mean = x.iter().sum::<f64>() / (n * m) as f64;
        gives(
            source,
            &[n, m],
            &[matrix(n, m, &x)],
            &[
                mean.into(),
                vector(&columns),
                vector(&rows),
                vector(&columns),
            ],
        );
    }
}

#[test]
fn own_operators() {
    let source = "fn own<N: IndexSet>(x: &Table<N, f64>) -> (f64, (f64, usize), Table<N, f64>, Table<N, f64>) {
        let best = reduce((-9.0, 0usize), |a, b| if b.0 > a.0 { b } else { a }, for i in N { (x[i], i.ordinal()) });
        (reduce(2.0, |a, b| a + b, x), best, scan(1.0, |a, b| a.max(b), x), cumsum(x))
    }";
    for n in SIZES {
        let x = noise(n, 14);
        let best = (0..n).fold((-9.0, 0), |a, k| if x[k] > a.0 { (x[k], k) } else { a });
        let mut most = 1.0f64;
        let maxima: Vec<f64> = x
            .iter()
            .map(|v| {
                most = most.max(*v);
                most
            })
            .collect();
        let mut total = 0.0;
        let sums: Vec<f64> = x
            .iter()
            .map(|v| {
                total += v;
                total
            })
            .collect();
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[
                (2.0 + total).into(),
                best.0.into(),
                best.1.into(),
                vector(&maxima),
                vector(&sums),
            ],
        );
    }
}

#[test]
fn a_scan_over_a_product_goes_row_by_row() {
    let source = "fn prefix<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> (Table<(N, M), f64>, Table<(N, M), f64>) {
        (cumsum(x), cumsum(for i in N { x[i] }))
    }";
    for (n, m) in [(0, 2), (1, 1), (2, 7), (7, 2)] {
        let x = noise(n * m, 15);
        let mut total = 0.0;
        let flat: Vec<f64> = x
            .iter()
            .map(|v| {
                total += v;
                total
            })
            .collect();
        let columns: Vec<f64> = (0..n * m)
            .map(|at| (0..=at / m).map(|i| x[i * m + at % m]).sum())
            .collect();
        gives(
            source,
            &[n, m],
            &[matrix(n, m, &x)],
            &[matrix(n, m, &flat), matrix(n, m, &columns)],
        );
    }
}

#[test]
fn functions_of_scalars_on_tables() {
    let source = "fn lerp(a: f64, b: f64, t: f64) -> f64 { a + (b - a) * t }
    fn mixed<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>, y: &Table<A, f64>, t: &Table<B, f64>) -> Table<(A, B), f64> {
        lerp(x, y, 0.5) + lerp(1.0, x, t).max(y) * 2.0
    }";
    for (a, b) in [(0, 2), (1, 1), (2, 7)] {
        let (x, y, t) = (noise(a * b, 16), noise(a, 17), noise(b, 18));
        let want: Vec<f64> = (0..a * b)
            .map(|at| {
                let (i, j) = (at / b, at % b);
                let first = x[at] + (y[i] - x[at]) * 0.5;
                first + (1.0 + (x[at] - 1.0) * t[j]).max(y[i]) * 2.0
            })
            .collect();
        gives(
            source,
            &[a, b],
            &[matrix(a, b, &x), vector(&y), vector(&t)],
            &[matrix(a, b, &want)],
        );
    }
}

#[test]
fn several_places_at_once() {
    let source =
        "fn fibonacci<N: IndexSet>(n: u32, x: &Table<N, f64>) -> (u32, u32, f64, Table<N, f64>) {
        let (mut a, mut b) = (0, 1u32);
        let mut last = 0.0;
        let mut out = x.clone();
        for _ in 0..n { (a, (b, _)) = (b, (a + b, b)); }
        for i in N { let before = last; (last, out[i]) = (x[i], before); }
        _ = a;
        (a, b, last, out)
    }";
    let x = [3.0, 4.0, 5.0];
    let want = [
        Data::u32s(&[], [55]),
        Data::u32s(&[], [89]),
        5.0.into(),
        vector(&[0.0, 3.0, 4.0]),
    ];
    gives(source, &[3], &[Data::u32s(&[], [10]), vector(&x)], &want);
}

#[test]
fn while_until_it_is_done_or_too_long() {
    let source = "fn halve(x: f64) -> (f64, i64) {
        let mut y = x;
        let mut n = 0;
        #[bound(10)]
        while y > 1.0 { y /= 2.0; n += 1; }
        (y, n)
    }";
    gives(
        source,
        &[],
        &[100.0.into()],
        &[(100.0 / 128.0).into(), 7i64.into()],
    );
    gives(source, &[], &[0.5.into()], &[0.5.into(), 0i64.into()]);
    panics(source, &[], &[1e9.into()], "");
}

#[test]
fn lazy_operators_do_not_look() {
    let source = "fn guarded<N: IndexSet>(x: &Table<N, f64>, k: i64) -> (bool, bool) {
        (k >= 0 && x[k] > 0.0, k < 0 || x[k] > 0.0)
    }";
    gives(
        source,
        &[1],
        &[vector(&[1.0]), 0i64.into()],
        &[true.into(), true.into()],
    );
    gives(
        source,
        &[1],
        &[vector(&[1.0]), (-1i64).into()],
        &[false.into(), true.into()],
    );
}

#[test]
fn branches_assign() {
    let source = "fn walk<N: IndexSet>(x: &Table<N, f64>) -> (f64, i64) {
        let mut v = 1.0;
        let mut n = 0;
        for i in N {
            if x[i] > 0.0 { let w = v; v = w * x[i]; n += 1; } else if x[i] < -0.5 { v -= 1.0; }
        }
        (v, n)
    }";
    for n in SIZES {
        let x = noise(n, 19);
        let (mut v, mut count) = (1.0, 0i64);
        for y in &x {
            if *y > 0.0 {
                v *= y;
                count += 1;
            } else if *y < -0.5 {
                v -= 1.0;
            }
        }
        gives(source, &[n], &[vector(&x)], &[v.into(), count.into()]);
    }
}

#[test]
fn a_callee_writes_back() {
    let source =
        "fn scale(u: &mut Table<Fin<3>, f64>, by: f64) -> f64 { for i in _ { u[i] *= by; } u[0] }
    fn rows<N: IndexSet>(mut x: Table<(N, Fin<3>), f64>) -> (Table<(N, Fin<3>), f64>, f64) {
        let mut firsts = 0.0;
        for i in N { firsts += scale(&mut x[i], i.ordinal() as f64); }
        (x, firsts)
    }";
    for n in [0, 1, 2, 7] {
        let x = noise(n * 3, 20);
        let scaled: Vec<f64> = (0..n * 3).map(|at| x[at] * (at / 3) as f64).collect();
        let firsts: f64 = scaled.iter().step_by(3).sum();
        gives(
            source,
            &[n],
            &[matrix(n, 3, &x)],
            &[matrix(n, 3, &scaled), firsts.into()],
        );
    }
}

#[test]
fn closures_keep_the_value_they_saw() {
    let source = "fn twice(f: impl Fn(f64) -> f64, x: f64) -> f64 { f(f(x)) }
    fn adder(a: f64) -> impl Fn(f64) -> f64 { move |x| x + a }
    fn apply<N: IndexSet>(x: &Table<N, f64>) -> (f64, Table<N, f64>) {
        let mut c = 3.0;
        let g = |y| y * c;
        c = 4.0;
        let table = for i in N { move |y: f64| y - x[i] };
        (twice(g, c) + adder(2.0)(c), for i in N { table[i](1.0) })
    }";
    let x = noise(7, 21);
    let rest: Vec<f64> = x.iter().map(|v| 1.0 - v).collect();
    gives(
        source,
        &[7],
        &[vector(&x)],
        &[(36.0 + 6.0).into(), vector(&rest)],
    );
}

#[test]
fn numbers_as_in_rust() {
    let source = "fn numbers(x: f64, k: i64, n: u8, b: bool) -> (f64, i64, u8, bool, u32, f64, usize) {
        let e = x.mul_add(2.0, 1.0).clamp(-1.0, 1.0) + x.log(2.0) + x.hypot(3.0).copysign(-1.0);
        let q = (k.rem_euclid(3) + k.abs() - k.pow(2) / 2) << 1;
        let m = n.abs_diff(3).min(7) | 1 & !n;
        (e, q, m, b ^ (x >= 1.0 || x.is_nan()) && k.is_negative(), (k as i32).abs_diff(3), -3 as f64 + i64::MIN as f64, n as usize + b as usize)
    }";
    for (x, k, n, b) in [
        (0.7, -5i64, 200u8, true),
        (3.5, 4, 1, false),
        (0.1, -1, 7, true),
    ] {
        let x: f64 = x;
        let e = x.mul_add(2.0, 1.0).clamp(-1.0, 1.0) + x.log(2.0) + x.hypot(3.0).copysign(-1.0);
        let q = (k.rem_euclid(3) + k.abs() - k.pow(2) / 2) << 1;
        let m = n.abs_diff(3).min(7) | 1 & !n;
        gives(
            source,
            &[],
            &[x.into(), k.into(), n.into(), b.into()],
            &[
                e.into(),
                q.into(),
                m.into(),
                (b ^ (x >= 1.0 || x.is_nan()) && k.is_negative()).into(),
                (k as i32).abs_diff(3).into(),
                (-3f64 + i64::MIN as f64).into(),
                (usize::from(n) + usize::from(b)).into(),
            ],
        );
    }
}

#[test]
fn matching() {
    let source = "#[derive(IndexSet)] enum Channel { R, G, B }
    fn choose(c: Channel, b: bool, n: i32) -> f64 {
        let x = match c { Channel::R => 1.0, Channel::G | Channel::B => 2.0 };
        let y = match (b, n) { (true, 0) => 10.0, (false, k) if k > 5 => 20.0, (_, k) => k as f64 };
        x + y
    }";
    let cases = [
        ((0usize, true, 0), 11.0),
        ((1, false, 6), 22.0),
        ((2, false, 5), 7.0),
        ((2, true, 6), 8.0),
    ];
    for ((c, b, n), want) in cases {
        gives(source, &[], &[c.into(), b.into(), n.into()], &[want.into()]);
    }
}

#[test]
fn variants_hold_values() {
    let source = "enum Inner { Only(i32) }
    enum Shape { Circle(f64), Rect { w: f64, inner: Inner }, Nothing }
    fn made(x: f64, n: i32) -> Shape {
        if n > 9 { Shape::Rect { inner: Inner::Only(n), w: x } } else if n > 0 { Shape::Circle(x) } else { Shape::Nothing }
    }
    fn area(x: f64, n: i32) -> f64 {
        let mut last = Shape::Nothing;
        for k in 0..2 { last = match last { Shape::Nothing => made(x, n), Shape::Circle(r) => Shape::Circle(2.0 * r), other => other }; }
        match last {
            Shape::Circle(r) if r < 0.0 => 0.0,
            Shape::Rect { inner: Inner::Only(m), w } => { let Inner::Only(k) = Inner::Only(m); w * k as f64 }
            Shape::Circle(r) => r,
            Shape::Nothing => -1.0,
        }
    }";
    for ((x, n), want) in [
        ((3.0, 10), 30.0),
        ((3.0, 9), 6.0),
        ((-3.0, 1), 0.0),
        ((3.0, 0), -1.0),
    ] {
        gives(source, &[], &[x.into(), n.into()], &[want.into()]);
    }
}

#[test]
fn an_assertion_says_what_it_says() {
    let source = "fn checked(x: f64) -> f64 { assert!(x > 0.0, \"x must be positive\"); x.sqrt() }";
    gives(source, &[], &[4.0.into()], &[2.0.into()]);
    panics(source, &[], &[(-4.0).into()], "x must be positive");
}

#[test]
fn unions_are_concatenations() {
    let source = "fn concat<A: IndexSet, B: IndexSet>(x: &Table<A, f64>, y: &Table<B, f64>) -> Table<Either<A, B>, f64> {
        for e in _ { match e { Either::Left(a) => x[a], Either::Right(b) => y[b] } }
    }
    fn both<N: IndexSet>(x: &Table<N, f64>, y: &Table<(bool, Dyn), f64>) -> (Table<Either<N, (bool, Dyn)>, f64>, Table<N, f64>, f64) {
        let z = concat(x, y);
        let back = for n in N { z[Either::Left(n)] };
        let (yes, _) = (y, 0);
        let odd = sum(for e in Either::<N, (bool, Dyn)> {
            match e { Either::Right((true, d)) => yes[true][d], Either::Right(_) => 0.0, Either::Left(n) if n.ordinal() == 0 => x[n], _ => 0.5 }
        });
        (z, back, odd)
    }";
    for (n, d) in [(1, 0), (2, 3), (7, 1)] {
        let (x, y) = (noise(n, 22), noise(2 * d, 23));
        let z: Vec<f64> = x.iter().chain(&y).copied().collect();
        let odd = y[d..].iter().sum::<f64>() + x[0] + 0.5 * (n - 1) as f64;
        gives(
            source,
            &[n, d],
            &[vector(&x), matrix(2, d, &y)],
            &[vector(&z), vector(&x), odd.into()],
        );
    }
}

/// How many members a union has is known outside of the loop in which it is met first.
#[test]
fn unions_in_rows_are_stored() {
    let source = "fn append<M: IndexSet, N: IndexSet>(x: &Table<M, f64>, y: &Table<N, f64>) -> Table<Either<M, N>, f64> {
        for e in _ { match e { Either::Left(m) => x[m], Either::Right(n) => y[n] } }
    }
    fn beside<R: IndexSet, M: IndexSet, N: IndexSet>(x: &Table<(R, M), f64>, y: &Table<(R, N), f64>) -> Table<(R, Either<M, N>), f64> {
        for r in R { append(&x[r], &y[r]) }
    }";
    for (r, m, n) in [(2, 3, 1), (0, 2, 2), (3, 0, 1), (2, 0, 0), (1, 7, 2)] {
        let (x, y) = (noise(r * m, 26), noise(r * n, 27));
        let rows = (0..r).flat_map(|k| [&x[k * m..][..m], &y[k * n..][..n]].concat());
        let z: Vec<f64> = rows.collect();
        gives(
            source,
            &[r, m, n],
            &[matrix(r, m, &x), matrix(r, n, &y)],
            &[matrix(r, m + n, &z)],
        );
    }
}

/// Operators that are those of sums and extrema need no order; one that is nearly so does.
#[test]
fn operators_of_monoids_reduce() {
    let source = "fn f<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, f64, f64) {
        let (low, high) = reduce((9.0, -9.0), |a, b| (a.0.min(b.0), a.1.max(b.1)), for i in _ { (x[i], x[i]) });
        let total = reduce(1.0, |a, b| a + b, x);
        let last = reduce(0.5, |a, b| b, x);
        (low, high, total, last)
    }";
    for n in [0, 1, 2, 7] {
        let x = noise(n, 28);
        let low = x.iter().copied().fold(9.0, f64::min);
        let high = x.iter().copied().fold(-9.0, f64::max);
        let total = 1.0 + x.iter().sum::<f64>();
        let last = x.last().copied().unwrap_or(0.5);
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[low.into(), high.into(), total.into(), last.into()],
        );
    }
}

#[test]
fn an_operator_with_a_loop_of_its_own() {
    let source = "fn chain<N: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>, one: &Table<D, f64>) -> Table<D, f64> {
        reduce(one, |a, b| { let mut s = 0.0; for d in D { s += a[d]; } for d in D { b[d] * 0.5 + s * 0.1 } }, for n in N { x[n] })
    }";
    let (n, d) = (1, 3);
    let (x, one) = (noise(n * d, 24), noise(d, 25));
    let total: f64 = one.iter().sum();
    let want: Vec<f64> = x.iter().map(|v| v * 0.5 + total * 0.1).collect();
    gives(
        source,
        &[n, d],
        &[matrix(n, d, &x), vector(&one)],
        &[vector(&want)],
    );
}

#[test]
fn computed_lengths_are_anonymous_sets() {
    let source = "fn total(x: &Table<Dyn, f64>) -> f64 { sum(x) }
    fn ramp(m: usize) -> Table<Dyn, f64> { for k in 0..m { k as f64 } }
    fn both(m: usize, y: &Table<Dyn, f64>) -> f64 {
        let t: Table<Dyn, f64> = for k in 0..m { k as f64 };
        let r = ramp(m + 1);
        total(t) + total(y) + total(r) + r[m]
    }";
    for m in SIZES {
        let y = noise(3, 26);
        let m64 = m as f64;
        let want = m64 * (m64 - 1.0) / 2.0 + y.iter().sum::<f64>() + m64 * (m64 + 1.0) / 2.0 + m64;
        gives(source, &[3], &[m.into(), vector(&y)], &[want.into()]);
    }
}

#[test]
fn a_loop_that_writes_its_own_elements_needs_no_order() {
    let source = "fn own<N: IndexSet, M: IndexSet>(mut u: Table<(N, M), f64>, x: &Table<N, f64>) -> (Table<(N, M), f64>, Table<N, f64>, Table<N, f64>) {
        let mut v = 0.0;
        let mut out = x.clone();
        for i in N.rev() { v = 0.5 * v + x[i]; out[i] = out[i] * 2.0 + v; }
        let mut p = x.clone();
        for i in N {
            for j in M {
                if u[i][j] > 0.0 { u[i][j] *= x[i]; } else { u[(i, j)] = p[i]; }
                p[i] = p[i] * 0.5 + u[i][j];
            }
        }
        (u, out, p)
    }";
    let lowered = lower_source(source).expect("a right program");
    let text = crate::ir::print(&lowered.program);
    assert!(!text.contains("update"), "{text}");
    assert_eq!(text.matches("loop").count(), 2, "{text}");
    for (n, m) in [(0, 2), (1, 0), (2, 7), (7, 3)] {
        let (mut u, x) = (noise(n * m, 27), noise(n, 28));
        let before = u.clone();
        let (mut out, mut p, mut v) = (x.clone(), x.clone(), 0.0);
        for i in (0..n).rev() {
            v = 0.5 * v + x[i];
            out[i] = out[i] * 2.0 + v;
        }
        for i in 0..n {
            for j in 0..m {
                let at = i * m + j;
                if u[at] > 0.0 {
                    u[at] *= x[i];
                } else {
                    u[at] = p[i];
                }
                p[i] = p[i] * 0.5 + u[at];
            }
        }
        gives(
            source,
            &[n, m],
            &[matrix(n, m, &before), vector(&x)],
            &[matrix(n, m, &u), vector(&out), vector(&p)],
        );
    }
}

#[test]
fn a_loop_that_looks_at_other_elements_goes_in_order() {
    let source = "fn sweep<N: IndexSet>(mut u: Table<N, f64>, at: &Table<N, N>) -> (Table<N, f64>, Table<N, f64>) {
        let mut w = u.clone();
        for i in N { u[i] = u[i] + 0.5 * u.get(i - 1).unwrap_or(0.0); }
        for i in N { w[at[i]] = w[i] * 0.5; }
        (u, w)
    }";
    for n in SIZES {
        let x = noise(n, 29);
        let at: Vec<usize> = (0..n).map(|i| i * 3 % n).collect();
        let (mut u, mut w) = (x.clone(), x.clone());
        for i in 0..n {
            u[i] += 0.5 * if i == 0 { 0.0 } else { u[i - 1] };
        }
        for i in 0..n {
            w[at[i]] = w[i] * 0.5;
        }
        gives(
            source,
            &[n],
            &[vector(&x), Data::usizes(&[n], at)],
            &[vector(&u), vector(&w)],
        );
    }
}

#[test]
fn an_accumulator_with_its_own_operator() {
    let source = "fn best<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, at: &Table<N, K>) -> (f64, usize, Table<K, f64>) {
        let mut most = Accum::monoid((-9.0, 0), |p, q| if q.0 > p.0 { q } else { p });
        let mut last = Accum::monoid(0.0, |p, q| p * 0.0 + q);
        for i in N { most.put((x[i], i.ordinal())); last[at[i]].put(x[i]); }
        let (value, place) = most.get();
        (value, place, last.get())
    }";
    for n in SIZES {
        let x = noise(n, 30);
        let at: Vec<usize> = (0..n).map(|i| i * i % 3).collect();
        let best = (0..n).fold((-9.0, 0), |a, k| if x[k] > a.0 { (x[k], k) } else { a });
        let mut last = [0.0; 3];
        for i in 0..n {
            last[at[i]] = x[i];
        }
        gives(
            source,
            &[n, 3],
            &[vector(&x), Data::usizes(&[n], at)],
            &[best.0.into(), best.1.into(), vector(&last)],
        );
    }
}

#[test]
fn sizes_of_products() {
    let source = "fn cells<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> (usize, Table<(N, M), f64>) {
        let mut twice = Accum::zeros((N, M));
        for (i, j) in (N, M) { twice[i][j] += x[i][j]; twice[(i, j)] += x[i][j]; }
        (size((N, M)), twice.get())
    }";
    let x = noise(14, 31);
    let twice: Vec<f64> = x.iter().map(|v| 2.0 * v).collect();
    let want = [14usize.into(), matrix(7, 2, &twice)];
    gives(source, &[7, 2], &[matrix(7, 2, &x)], &want);
}

#[test]
fn accumulators_over_sets_of_a_computed_size() {
    let source = "fn bins<N: IndexSet>(x: &Table<N, f64>, k: usize) -> (f64, f64, f64) {
        let mut sums = Accum::zeros(Extent::new(k));
        let mut most = Accum::max(Extent::new(k));
        let mut own = Accum::monoid(Extent::new((k, 2)), 0.0, |a: f64, b: f64| a + b);
        for n in N {
            sums[n.ordinal() % k] += x[n];
            most[n.ordinal() % k].put(x[n]);
            own[n.ordinal() % k][1].put(x[n]);
        }
        let sums = sums.get();
        (sum(sums * sums), sum(most.get()), sum(own.get()))
    }";
    let x = noise(7, 33);
    let groups = [[0, 3, 6].to_vec(), vec![1, 4], vec![2, 5]];
    let sums = (groups.iter()).map(|group| group.iter().map(|&n| x[n]).sum::<f64>());
    let most = (groups.iter()).map(|group| group.iter().map(|&n| x[n]).fold(f64::MIN, f64::max));
    let squares: f64 = sums.map(|sum| sum * sum).sum();
    let want = [
        squares.into(),
        most.sum::<f64>().into(),
        x.iter().sum::<f64>().into(),
    ];
    gives(source, &[7], &[vector(&x), 3usize.into()], &want);
}

#[test]
fn what_is_there_and_what_is_not() {
    let source = "fn neighbours<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>) {
        let first = for i in N { match (x.get(i - 1), x.get(i + 1)) {
            (Some(a), Some(b)) => a - b,
            (Some(a), None) | (None, Some(a)) => 10.0 * a,
            (None, None) => 7.0,
        } };
        let second = for i in N { if let Some(v) = x.get(i - 2) { v } else if let Some(v) = x.get(i + 1) { -v } else { 0.0 } };
        (first, second)
    }";
    for n in SIZES {
        let x = noise(n, 32);
        let at = |k: i64| usize::try_from(k).ok().and_then(|k| x.get(k)).copied();
        let first = (0..n as i64).map(|i| match (at(i - 1), at(i + 1)) {
            (Some(a), Some(b)) => a - b,
            (Some(a), None) | (None, Some(a)) => 10.0 * a,
            (None, None) => 7.0,
        });
        let second = (0..n as i64).map(|i| at(i - 2).or(at(i + 1).map(|v| -v)).unwrap_or(0.0));
        let (first, second): (Vec<f64>, Vec<f64>) = (first.collect(), second.collect());
        gives(
            source,
            &[n],
            &[vector(&x)],
            &[vector(&first), vector(&second)],
        );
    }
}

#[test]
fn alternatives_bind_their_own_values() {
    let source = "fn digit(e: Either<Fin<3>, Fin<5>>, k: i64) -> (usize, i64) {
        let first = match e { Either::Left(i) | Either::Right(i) if i.ordinal() < 4 => i.ordinal(), _ => 99 };
        (first, match k { -1 => 10, -2 | 2 => 20, _ => 30 })
    }";
    for (e, k, first, second) in [
        (2usize, -1i64, 2usize, 10i64),
        (3, -2, 0, 20),
        (7, 1, 99, 30),
    ] {
        gives(
            source,
            &[],
            &[e.into(), k.into()],
            &[first.into(), second.into()],
        );
    }
}

#[test]
fn a_pattern_of_a_generic_struct() {
    let source = "struct Model<N: IndexSet> { w: Table<N, f64>, b: f64 }
    fn f<N: IndexSet>(m: &Model<N>) -> f64 {
        let Model { w, b } = m;
        let Model { w: v, .. } = Model { w: for i in N { 2.0 * w[i] }, b };
        sum(v) + b
    }";
    gives(
        source,
        &[2],
        &[vector(&[1.0, 2.0]), 0.5.into()],
        &[6.5.into()],
    );
}

//! Dense linear algebra of the standard library: values against 50 digits, derivatives against
//! differences and against each other, in both floats, of stacks of matrices, and what singular
//! matrices give. Derivatives against those of bodies stand beside the bodies.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::collections::HashMap;

use pointful::lib::{
    cholesky, det, inverse, lstsq, lu, matmul, matvec, qr, slogdet, solve, solve_lower,
    solve_lower_t, solve_upper, solve_upper_t, transpose,
};
use pointful::prelude::*;

type Matrix<T = f64> = Table<(Dyn, Dyn), T>;
type Vector<T = f64> = Table<Dyn, T>;

const SIZES: [usize; 7] = [0, 1, 2, 3, 7, 17, 40];

/// The formula of `benches/references/dense.py`.
fn number(k: usize, seed: usize) -> f64 {
    ((k * k * 7919 + k * 104_729 + seed * 1_299_709 + 13) % 1009) as f64 / 1009.0 - 0.5
}

fn matrix(rows: usize, columns: usize, seed: usize) -> Matrix {
    let numbers = (0..rows * columns).map(|k| number(k, seed)).collect();
    Table::from_vec((rows, columns), numbers).expect("its length")
}

fn vector(n: usize, seed: usize) -> Vector {
    (0..n).map(|k| number(k, seed)).collect()
}

/// One whose diagonal is the largest part of both of its triangles.
fn heavy(n: usize) -> Matrix {
    let t = matrix(n, n, 5);
    Table::from_fn((n, n).into(), |(Dyn(i), Dyn(j))| {
        let x = t[(i, j)];
        if i == j { x + 2.0 } else { x / 4.0 }
    })
}

fn definite(n: usize) -> Matrix {
    let m = |i: usize, j: usize| (((i * 31 + j * 17 + i * j * 7) % 64) as f64 - 32.0) / 32.0;
    Table::from_fn((n, n).into(), |(Dyn(i), Dyn(j))| {
        (0..n).map(|k| m(i, k) * m(j, k)).sum::<f64>() + f64::from(u8::from(i == j))
    })
}

/// What a function gives for a size: the weighed sum, and some elements.
struct Reference {
    weighed: f64,
    some: Vec<(usize, f64)>,
}

fn references() -> HashMap<(String, usize), Reference> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dense/references.txt");
    let text = std::fs::read_to_string(path).expect("a file");
    let float = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("bits"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let all: HashMap<_, _> = lines
        .map(|line| {
            let mut words = line.split(' ');
            let mut word = || words.next().expect("a word");
            let key = (word().to_owned(), word().parse().expect("a size"));
            let weighed = float(word());
            let some = words.map(|word| {
                let (place, value) = word.split_once(':').expect("a place");
                (place.parse().expect("a place"), float(value))
            });
            let some = some.collect();
            (key, Reference { weighed, some })
        })
        .collect();
    assert_eq!(all.len(), 15 * SIZES.len());
    all
}

#[track_caller]
fn close(found: f64, expected: f64, within: f64) {
    assert!(
        (found - expected).abs() <= within * (1.0 + expected.abs()),
        "{found} is not {expected}"
    );
}

#[track_caller]
fn all_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let near = (found - expected).abs() <= within * size;
        assert!(near, "{found} is not {expected}, of at most {size}");
    }
}

#[test]
fn values() {
    let references = references();
    let check = |name: &str, n: usize, found: &[f64]| {
        let reference = &references[&(name.to_owned(), n)];
        let weighed: f64 = found
            .iter()
            .enumerate()
            .map(|(k, x)| x * number(k, 99))
            .sum();
        let size = found.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        let error = |found: f64, expected: f64| (found - expected).abs() / size;
        let wrong = error(weighed, reference.weighed);
        assert!(wrong < 1e-11, "{name} of {n}: {wrong}");
        assert_eq!(found.is_empty(), reference.some.is_empty());
        for &(place, expected) in &reference.some {
            let wrong = error(found[place], expected);
            assert!(wrong < 1e-12, "{name} of {n} at {place}: {wrong}");
        }
    };
    for n in SIZES {
        let (a, b, t) = (matrix(n, n, 1), vector(n, 3), heavy(n));
        check("solve_lower", n, solve_lower(&t, &b).as_slice());
        check("solve_upper", n, solve_upper(&t, &b).as_slice());
        check("solve_lower_t", n, solve_lower_t(&t, &b).as_slice());
        check("solve_upper_t", n, solve_upper_t(&t, &b).as_slice());
        check("cholesky", n, cholesky(&definite(n)).as_slice());
        let (l, u, p) = lu(&a);
        check("lu_l", n, l.as_slice());
        check("lu_u", n, u.as_slice());
        let places: Vec<f64> = p.ordinals().iter().map(|&k| k as f64).collect();
        check("lu_p", n, &places);
        check("solve", n, solve(&a, &b).as_slice());
        check("inverse", n, inverse(&a).as_slice());
        check("det", n, &[det(&a)]);
        let (sign, logarithm) = slogdet(&a);
        check("slogdet", n, &[sign, logarithm]);
        let (tall, long) = (matrix(n + 3, n, 2), vector(n + 3, 4));
        let (q, r) = qr(&tall);
        check("qr_q", n, q.as_slice());
        check("qr_r", n, r.as_slice());
        check("lstsq", n, lstsq(&tall, &long).as_slice());
    }
}

fn single<I: IndexSet>(t: &Table<I, f64>) -> Table<I, f32> {
    Table::from_fn(t.extent(), |i| t[i] as f32)
}

fn double<I: IndexSet>(t: &Table<I, f32>) -> Vec<f64> {
    t.iter().map(|&x| f64::from(x)).collect()
}

// Functions of a matrix and a vector that give one table.

#[pointful]
fn factored<I: IndexSet, T: Float>(a: &Table<(I, I), T>, b: &Table<I, T>) -> Table<(I, I), T> {
    let l = cholesky(a);
    for (i, j) in (I, I) {
        l[i][j] * b[j]
    }
}

#[pointful]
fn eliminated<I: IndexSet, T: Float>(a: &Table<(I, I), T>, b: &Table<I, T>) -> Table<(I, I), T> {
    let (l, u, p) = lu(a);
    for (i, j) in (I, I) {
        l[i][j] + 2.0 * u[i][j] * b[p[i]]
    }
}

#[pointful]
fn inverted<I: IndexSet, T: Float>(a: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    matvec(inverse(a), b)
}

#[pointful]
fn determined<I: IndexSet, T: Float>(a: &Table<(I, I), T>, b: &Table<I, T>) -> Table<I, T> {
    let (sign, logarithm) = slogdet(a);
    for i in I {
        b[i] * det(a) + sign * logarithm
    }
}

#[pointful]
fn orthogonal<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
    b: &Table<I, T>,
) -> Table<(I, J), T> {
    let (q, r) = qr(a);
    let shares = for j in J {
        sum(for k in J {
            r[j][k] * (1.0 + k.ordinal() as T)
        })
    };
    for (i, j) in (I, J) {
        q[i][j] + b[i] * shares[j]
    }
}

/// Derivatives of a function along a direction, by a rule forwards, backwards, and by differences
/// of sixth order; and forwards of singles.
macro_rules! agree {
    ($f:ident, $a:expr, $b:expr) => {{
        let (a, b) = (&$a, &$b);
        let (Dyn(rows), Dyn(columns)) = (Dyn(b.len()), Dyn(a.len() / b.len().max(1)));
        let (da, db) = (matrix(rows, columns, 11), vector(rows, 12));
        let (value, tangent) = jvp!($f)(a, b, &da, &db);
        all_close(value.as_slice(), $f(a, b).as_slice(), 1e-13);
        let ct = Table::from_vec(
            value.extent(),
            (0..value.len()).map(|k| number(k, 13)).collect(),
        )
        .expect("its length");
        let (_, (by_a, by_b)) = vjp!($f)(a, b, &ct);
        let left = tangent.dot(&ct);
        let right = by_a.dot(&da) + by_b.dot(&db);
        close(right, left, 1e-11);
        let even = |h: f64| {
            let moved = |h: f64| {
                $f(
                    &a.map_with(&da, |x, d| x + h * d),
                    &b.map_with(&db, |x, d| x + h * d),
                )
            };
            moved(h).map_with(&moved(-h), |x, y| (x - y) / (2.0 * h))
        };
        let h = 1e-4;
        let (one, two, three) = (even(h), even(2.0 * h), even(3.0 * h));
        let slopes: Vec<f64> = (0..value.len())
            .map(|k| 1.5 * one.as_slice()[k] - 0.6 * two.as_slice()[k] + 0.1 * three.as_slice()[k])
            .collect();
        all_close(tangent.as_slice(), &slopes, 1e-7);
        let singles = jvp!($f)(&single(a), &single(b), &single(&da), &single(&db));
        all_close(&double(&singles.0), value.as_slice(), 1e-4);
        all_close(&double(&singles.1), tangent.as_slice(), 1e-3);
        let (_, back) = vjp!($f)(&single(a), &single(b), &single(&ct));
        all_close(&double(&back.0), by_a.as_slice(), 1e-3);
        all_close(&double(&back.1), by_b.as_slice(), 1e-3);
    }};
}

#[test]
fn derivatives_of_triangular_solutions() {
    for n in SIZES {
        agree!(solve_lower, heavy(n), vector(n, 3));
        agree!(solve_upper, heavy(n), vector(n, 3));
        agree!(solve_lower_t, heavy(n), vector(n, 3));
        agree!(solve_upper_t, heavy(n), vector(n, 3));
    }
}

#[test]
fn derivatives_of_factorizations() {
    for n in SIZES {
        agree!(factored, definite(n), vector(n, 3));
        agree!(eliminated, heavy(n), vector(n, 3));
        let wide = if n > 3 { n - 3 } else { n };
        let a = matrix(n, wide, 5);
        let a = Table::from_fn(a.extent(), |(Dyn(i), Dyn(j))| {
            a[(i, j)] + if i == j { 2.0 } else { 0.0 }
        });
        agree!(orthogonal, a, vector(n, 3));
    }
}

#[test]
fn derivatives_of_solutions() {
    for n in SIZES {
        agree!(solve, heavy(n), vector(n, 3));
        agree!(inverted, heavy(n), vector(n, 3));
        let wide = if n > 3 { n - 3 } else { n };
        let a = matrix(n, wide, 5);
        let a = Table::from_fn(a.extent(), |(Dyn(i), Dyn(j))| {
            a[(i, j)] + if i == j { 2.0 } else { 0.0 }
        });
        agree!(lstsq, a, vector(n, 3));
        if n < 40 {
            agree!(determined, heavy(n), vector(n, 3));
        }
    }
}

/// Singular matrices, and those that are not definite.
#[test]
fn degenerate_matrices() {
    let of = |n: usize, numbers: Vec<f64>| Table::from_vec((n, n), numbers).expect("its length");
    // Rows from the failing one on: zero, then what is divided by it.
    let indefinite = of(3, vec![4.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 5.0]);
    let l = cholesky(&indefinite);
    assert_eq!(l.as_slice()[..3], [2.0, 0.0, 0.0]);
    assert_eq!((l[(1, 0)], l[(2, 0)], l[(1, 2)]), (1.0, 0.5, 0.0));
    assert!([(1, 1), (2, 1), (2, 2)].iter().all(|&at| l[at].is_nan()));
    assert!(cholesky(&of(1, vec![-1.0]))[(0, 0)].is_nan());
    assert!(cholesky(&of(1, vec![f64::NAN]))[(0, 0)].is_nan());
    // What is above the diagonal is not read, and has no derivative.
    let half = of(2, vec![4.0, f64::NAN, 2.0, 10.0]);
    assert_eq!(cholesky(&half).as_slice(), [2.0, 0.0, 1.0, 3.0]);
    let ct = of(2, vec![1.0, 1.0, 1.0, 1.0]);
    let back = vjp!(cholesky)(&half, &ct).1;
    assert!(back[(0, 1)] == 0.0 && back.iter().all(|x| x.is_finite()));

    let zero = of(2, vec![0.0; 4]);
    let (l, u, p) = lu(&zero);
    assert_eq!((l.as_slice(), &u), (&[1.0, 0.0, 0.0, 1.0][..], &zero));
    assert_eq!(p.ordinals().as_ref(), [0, 1]);
    let singular = of(3, vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0]);
    let (l, u, p) = lu(&singular);
    let product = matmul(&l, &u);
    for i in 0..3 {
        let row = p.ordinals()[i];
        assert_eq!(
            product.row(Dyn(i)).as_slice(),
            singular.row(Dyn(row)).as_slice()
        );
    }
    assert_eq!(slogdet(&singular), (0.0, f64::NEG_INFINITY));
    assert_eq!(slogdet(&zero), (0.0, f64::NEG_INFINITY));
    let (_, slopes) = vjp!(slogdet)(&singular, 1.0, 1.0);
    assert!(slopes.iter().all(|x| x.is_nan()));
    let (_, slope) = vjp!(slogdet)(&of(1, vec![0.0]), 1.0, 1.0);
    assert!(slope[(0, 0)].is_nan());
    assert!(
        !solve(&singular, &vector(3, 1))
            .iter()
            .all(|x| x.is_finite())
    );
    assert!(!inverse(&zero).iter().any(|x| x.is_finite()));
    assert_eq!(slogdet(&of(2, vec![0.0, -2.0, -2.0, 0.0])).0, -1.0);
    assert_eq!(slogdet(&of(0, vec![])), (1.0, 0.0));
    // NaN in one place, wherever it is, is NaN in all of a solution.
    for at in 0..9 {
        let mut a = matrix(3, 3, 1);
        a.as_mut_slice()[at] = f64::NAN;
        assert!(solve(&a, &vector(3, 1)).iter().all(|x| x.is_nan()));
        assert!(det(&a).is_nan() && slogdet(&a).0.is_nan() && slogdet(&a).1.is_nan());
    }
    assert!(det(&of(1, vec![f64::NAN])).is_nan() && slogdet(&of(1, vec![f64::NAN])).0.is_nan());
}

/// The cofactor of each element, by its definition.
fn cofactors(a: &Matrix) -> Vec<f64> {
    let n = a.row(Dyn(0)).as_slice().len();
    let minor = |row: usize, column: usize| {
        let numbers = (0..n * n)
            .filter(|k| k / n != row && k % n != column)
            .map(|k| a.as_slice()[k]);
        let minor = Table::from_vec((n - 1, n - 1), numbers.collect()).expect("its length");
        let sign = if (row + column).is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        sign * det(&minor)
    };
    (0..n * n).map(|k| minor(k / n, k % n)).collect()
}

/// Wherever the pivot of zero is, and however many there are.
#[test]
fn determinants_of_singular_matrices_have_derivatives() {
    for n in [2, 3, 4, 6] {
        for from in 0..n {
            for to in 0..n {
                // One column is twice another one, or zero.
                let mut a = matrix(n, n, 1 + from);
                // All numbers are exact, so the pivot is zero and not just small.
                a.iter_mut().for_each(|x| *x = (*x * 16.0).round());
                for i in 0..n {
                    a[(i, to)] = if from == to { 0.0 } else { 2.0 * a[(i, from)] };
                }
                let slopes = grad!(det)(&a);
                all_close(slopes.as_slice(), &cofactors(&a), 1e-10);
                // Another one: all cofactors are zero.
                let third = (from.max(to) + 1) % n;
                if n > 2 && third != from && third != to {
                    for i in 0..n {
                        a[(i, third)] = 0.0;
                    }
                    assert_eq!(det(&a), 0.0);
                    assert!(grad!(det)(&a).iter().all(|x| x.abs() < 1e-9));
                }
            }
        }
    }
    assert_eq!(
        grad!(det)(&Table::from_vec((1, 1), vec![0.0]).unwrap()).as_slice(),
        [1.0]
    );
}

/// Of matrices that are not singular, against differences of first ones.
#[test]
fn second_derivatives() {
    #[pointful]
    fn slopes<I: IndexSet>(a: &Table<(I, I), f64>, b: &Table<I, f64>) -> Table<(I, I), f64> {
        grad!(
            |a, b| {
                let (q, r) = qr(a);
                det(a)
                    + slogdet(a).1
                    + sum(q * r)
                    + sum(solve(a, b))
                    + sum(cholesky(matmul(a, transpose(a))))
            },
            wrt = a
        )(a, b)
    }
    for n in [1, 2, 5] {
        let (a, b, d) = (heavy(n), vector(n, 3), matrix(n, n, 11));
        let (_, turned) = jvp!(slopes, wrt = a)(&a, &b, &d);
        let moved = |h: f64| slopes(&a.map_with(&d, |x, d| x + h * d), &b);
        let h = 1e-5;
        let expected = moved(h).map_with(&moved(-h), |x, y| (x - y) / (2.0 * h));
        all_close(turned.as_slice(), expected.as_slice(), 1e-6);
    }
}

#[pointful]
fn all_of<I: IndexSet>(a: &Table<(I, I), f64>, b: &Table<I, f64>) -> Table<I, f64> {
    let l = cholesky(matmul(a, transpose(a)));
    let (q, r) = qr(a);
    let x = solve_lower(l, b) + solve_upper_t(a, solve_lower_t(a, solve_upper(r, b)));
    let (sign, logarithm) = slogdet(a);
    let (w, u, _p) = lu(a);
    det(a) * logarithm * sign * x
        + solve(a, lstsq(q, b))
        + matvec(matmul(w, inverse(a)), matvec(u, b))
}

#[pointful]
fn stacked<B: IndexSet, I: IndexSet>(
    a: &Table<(B, I, I), f64>,
    b: &Table<(B, I), f64>,
) -> Table<(B, I), f64> {
    let l = cholesky(matmul(a, transpose(a)));
    let (q, r) = qr(a);
    let x = solve_lower(l, b) + solve_upper_t(a, solve_lower_t(a, solve_upper(r, b)));
    let (sign, logarithm) = slogdet(a);
    let (w, u, _p) = lu(a);
    det(a) * logarithm * sign * x
        + solve(a, lstsq(q, b))
        + matvec(matmul(w, inverse(a)), matvec(u, b))
}

fn stack<I: IndexSet>(n: Extent<I>, count: usize) -> (Table<(Dyn, I, I), f64>, Table<(Dyn, I), f64>)
where
    (Dyn, I, I): IndexSet<Size = (usize, I::Size, I::Size)>,
    (Dyn, I): IndexSet<Size = (usize, I::Size)>,
{
    let size = n.len();
    let matrix = |k: usize| {
        number(k, 5)
            + if (k % (size * size)).is_multiple_of(size + 1) {
                2.0
            } else {
                0.0
            }
    };
    let numbers = (0..count * size * size).map(matrix).collect();
    let a = Table::from_vec(
        Extent::<(Dyn, I, I)>::new((count, n.size(), n.size())),
        numbers,
    );
    let b = (0..count * size).map(|k| number(k, 6)).collect();
    let b = Table::from_vec(Extent::<(Dyn, I)>::new((count, n.size())), b);
    (a.expect("its length"), b.expect("its length"))
}

/// Axes in front are lifted over, for a static and for a dynamic size, with derivatives.
#[test]
fn stacks_of_matrices() {
    for (n, count) in [(1, 3), (2, 40), (3, 1000), (8, 5), (3, 0)] {
        let (a, b) = stack(Extent::<Dyn>::new(n), count);
        let (found, (by_a, by_b)) = vjp!(stacked)(&a, &b, &b);
        let mut expected = (vec![], vec![], vec![]);
        for k in 0..count {
            let a = Table::from_vec((n, n), a.as_slice()[k * n * n..][..n * n].to_vec()).unwrap();
            let b: Vector = b.as_slice()[k * n..][..n].iter().copied().collect();
            let (x, (by_a, by_b)) = vjp!(all_of)(&a, &b, &b);
            expected.0.extend(x.into_vec());
            expected.1.extend(by_a.into_vec());
            expected.2.extend(by_b.into_vec());
        }
        all_close(found.as_slice(), &expected.0, 1e-11);
        all_close(by_a.as_slice(), &expected.1, 1e-11);
        all_close(by_b.as_slice(), &expected.2, 1e-11);
        if n == 3 {
            let (a, b) = stack(Extent::<Fin<3>>::default(), count);
            let (fixed, back) = vjp!(stacked)(&a, &b, &b);
            all_close(fixed.as_slice(), &expected.0, 1e-11);
            all_close(back.0.as_slice(), &expected.1, 1e-11);
        }
    }
}

#[test]
fn a_wide_matrix_has_no_qr() {
    let panic = std::panic::catch_unwind(|| qr(&matrix(2, 3, 1))).unwrap_err();
    assert_eq!(
        panic.downcast_ref::<String>().expect("a text"),
        "a matrix of 2 rows and 3 columns has less rows than columns"
    );
}

//! Every compiled derivative against differences of the function and against the other mode, with
//! the same bits on any number of threads.

mod common;

use common::{matrix, vector};
use pointful_corpus::derivatives as corpus;
use pointful_runtime::{Dyn, Extent, Table, stats};

const LENGTHS: [usize; 5] = [0, 1, 2, 7, 1000];
const SHAPES: [(usize, usize); 8] = [
    (0, 0),
    (0, 2),
    (2, 0),
    (1, 1),
    (1, 7),
    (7, 2),
    (1000, 7),
    (2, 1000),
];

type Numbers = Vec<f64>;

/// Numbers between -1 and 1, none of which are equal or on a kink.
fn numbers(seed: u64, len: usize) -> Numbers {
    let mut source = common::Source::new(seed);
    (0..len)
        .map(|_| (source.next() as f64 + source.next() as f64 / 257.0) / 129.1)
        .collect()
}

/// The inner product, and the sum of its terms' magnitudes.
fn dot(a: &[f64], b: &[f64]) -> (f64, f64) {
    assert_eq!(a.len(), b.len());
    let terms = || a.iter().zip(b).map(|(a, b)| a * b);
    (terms().sum(), terms().map(f64::abs).sum())
}

/// What it gives on one thread, which is what it gives on others to the bit.
fn on_all_pools<R: Send>(run: impl Fn() -> R + Sync, bits: impl Fn(&R) -> Vec<u64>) -> R {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(&run)
    };
    let alone = on(1);
    for threads in [2, 5] {
        assert_eq!(bits(&on(threads)), bits(&alone), "on {threads} threads");
    }
    assert_eq!(bits(&run()), bits(&alone), "on a thread of no pool");
    alone
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// How exactly a derivative agrees with differences: those of single numbers see little.
#[derive(Clone, Copy)]
struct Precision {
    step: f64,
    bound: f64,
}

const DOUBLE: Precision = Precision {
    step: 1e-5,
    bound: 1e-6,
};
const SINGLE: Precision = Precision {
    step: 1e-2,
    bound: 1e-2,
};

/// Checks a reverse derivative, which gives the results and, for a cotangent, the cotangents, all
/// of them flat.
#[track_caller]
fn reverse(
    inputs: usize,
    Precision { step, bound }: Precision,
    vjp: impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) + Sync,
    results: usize,
) {
    let (x, ct, direction) = (numbers(1, inputs), numbers(2, results), numbers(3, inputs));
    let (value, gradient) = on_all_pools(|| vjp(&x, &ct), |(v, g)| [bits(v), bits(g)].concat());
    assert_eq!((value.len(), gradient.len()), (results, inputs));
    let (slope, scale) = dot(&gradient, &direction);
    assert!(slope.is_finite(), "{inputs} inputs: {slope}");
    assert!(inputs < 8 || results == 0 || gradient.iter().any(|&d| d != 0.0));
    let at = |h: f64| {
        let moved: Numbers = x.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
        dot(&vjp(&moved, &ct).0, &ct).0
    };
    let difference = (at(step) - at(-step)) / (2.0 * step);
    let (_, size) = dot(&value, &ct);
    assert!(
        (slope - difference).abs() <= bound * (1.0 + scale + size),
        "{inputs} inputs: the derivative is {slope}, differences give {difference}"
    );
}

/// Checks a forward derivative against a reverse one.
#[track_caller]
fn forward(
    inputs: usize,
    jvp: impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) + Sync,
    vjp: impl Fn(&[f64], &[f64]) -> (Numbers, Numbers),
    results: usize,
) {
    let (x, ct, direction) = (numbers(1, inputs), numbers(2, results), numbers(3, inputs));
    let (value, tangent) =
        on_all_pools(|| jvp(&x, &direction), |(v, t)| [bits(v), bits(t)].concat());
    let (same, gradient) = vjp(&x, &ct);
    let apart = |a: f64, b: f64| (a - b).abs() > 1e-9 * (1.0 + a.abs());
    assert!(!value.iter().zip(&same).any(|(a, b)| apart(*a, *b)));
    let ((along, one), (back, other)) = (dot(&tangent, &ct), dot(&gradient, &direction));
    assert!(
        (along - back).abs() <= 1e-9 * (1.0 + one + other),
        "{inputs} inputs: forward gives {along}, backward {back}"
    );
}

type Vector = Table<Dyn, f64>;
type Matrix = Table<(Dyn, Dyn), f64>;

fn flat(parts: &[&[f64]]) -> Numbers {
    parts.concat()
}

// ---- A vector and a number ----

/// A gradient as the reverse derivative of a function with one result.
fn of_gradient(
    gradient: impl Fn(&Vector, f64) -> (f64, (Vector, f64)),
) -> impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) {
    move |x, ct| {
        let (a, x) = x.split_last().expect("the number");
        let (value, (dx, da)) = gradient(&vector(x), *a);
        let all = flat(&[dx.as_slice(), &[da]]);
        (vec![value], all.iter().map(|d| d * ct[0]).collect())
    }
}

fn of_vjp(
    vjp: impl Fn(&Vector, f64, &Vector) -> (Vector, (Vector, f64)),
) -> impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) {
    move |x, ct| {
        let (a, x) = x.split_last().expect("the number");
        let (value, (dx, da)) = vjp(&vector(x), *a, &vector(ct));
        (value.as_slice().to_vec(), flat(&[dx.as_slice(), &[da]]))
    }
}

fn of_jvp(
    jvp: impl Fn(&Vector, f64, &Vector, f64) -> (Vector, Vector),
) -> impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) {
    move |x, d| {
        let ((a, x), (da, dx)) = (
            x.split_last().expect("the number"),
            d.split_last().expect("the number"),
        );
        let (value, tangent) = jvp(&vector(x), *a, &vector(dx), *da);
        (value.as_slice().to_vec(), tangent.as_slice().to_vec())
    }
}

/// Tests of gradients with respect to a vector and a number.
macro_rules! gradients {
    ($($name:ident: $f:ident;)*) => {$(
        #[test]
        fn $name() {
            for n in LENGTHS {
                reverse(n + 1, DOUBLE, of_gradient(corpus::$f), 1);
            }
        }
    )*};
}

gradients! {
    maps: chained_grad;
    branches: branched_grad;
    kinks: kinked_grad;
    several_uses: two_floats_grad;
    folds: folded_grad;
    folds_of_pairs: affine_grad;
    means: variance_grad;
    scalar_states: scalar_state_grad;
    tuple_states: tuple_state_grad;
    checkpoints: checkpointed_grad;
    bounded_while: bounded_grad;
    triangles: triangle_grad;
    energies: energy_grad;
    gradients_of_tangents: along_grad;
    lags: lagged_grad;
    gradients_in_loops: descended_grad;
    own_rules: ruled_grad;
}

/// Tests of cotangents of a vector and a number.
macro_rules! vjps {
    ($($name:ident: $f:ident $(, $jvp:ident)?;)*) => {$(
        #[test]
        fn $name() {
            for n in LENGTHS {
                reverse(n + 1, DOUBLE, of_vjp(corpus::$f), n);
                $(forward(n + 1, of_jvp(corpus::$jvp), of_vjp(corpus::$f), n);)?
            }
        }
    )*};
}

vjps! {
    stencils: stencil_vjp, stencil_jvp;
    cumulative_sums: summed_vjp, summed_jvp;
    cumulative_products: multiplied_vjp, multiplied_jvp;
    cumulative_maxima: highest_vjp;
    scans_of_pairs: recurrence_vjp;
    table_states: table_state_vjp, table_state_jvp;
    tables_in_place: in_place_vjp;
    loops_of_unknown_length: whiles_vjp;
    loops_over_triangles: triangle_loop_vjp;
}

#[test]
fn forward_substitution() {
    for n in [0, 1, 2, 7, 300] {
        reverse(n + 1, DOUBLE, of_vjp(corpus::solved_vjp), n);
    }
}

#[test]
fn a_tangent_of_a_scalar_state() {
    for n in LENGTHS {
        let jvp = |x: &[f64], d: &[f64]| {
            let ((a, x), (da, dx)) = (
                x.split_last().expect("the number"),
                d.split_last().expect("the number"),
            );
            let (value, tangent) = corpus::scalar_state_jvp(&vector(x), *a, &vector(dx), *da);
            (vec![value], vec![tangent])
        };
        forward(n + 1, jvp, of_gradient(corpus::scalar_state_grad), 1);
    }
}

#[test]
fn single_numbers() {
    let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    for n in [0, 1, 2, 7, 100] {
        let vjp = |x: &[f64], ct: &[f64]| {
            let (a, x) = x.split_last().expect("the number");
            let (value, (dx, da)) = corpus::chained_single_grad(&vector(&single(x)), *a as f32);
            let all = dx.as_slice().iter().copied().chain([da]);
            (
                vec![f64::from(value)],
                all.map(|d| f64::from(d) * ct[0]).collect(),
            )
        };
        reverse(n + 1, SINGLE, vjp, 1);
    }
}

// ---- A matrix and a vector ----

fn of_rows_vjp(
    n: usize,
    m: usize,
    vjp: impl Fn(&Matrix, &Vector, &Vector) -> (Vector, (Matrix, Vector)),
) -> impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) {
    move |x, ct| {
        let (x, w) = x.split_at(n * m);
        let (value, (dx, dw)) = vjp(&matrix(n, m, x), &vector(w), &vector(ct));
        (
            value.as_slice().to_vec(),
            flat(&[dx.as_slice(), dw.as_slice()]),
        )
    }
}

fn of_rows_jvp(
    n: usize,
    m: usize,
    jvp: impl Fn(&Matrix, &Vector, &Matrix, &Vector) -> (Vector, Vector),
) -> impl Fn(&[f64], &[f64]) -> (Numbers, Numbers) {
    move |x, d| {
        let ((x, w), (dx, dw)) = (x.split_at(n * m), d.split_at(n * m));
        let (value, tangent) = jvp(&matrix(n, m, x), &vector(w), &matrix(n, m, dx), &vector(dw));
        (value.as_slice().to_vec(), tangent.as_slice().to_vec())
    }
}

/// Tests of cotangents of a matrix and a vector that is as long as its rows.
macro_rules! rows {
    ($($name:ident: $f:ident $(, $jvp:ident)?;)*) => {$(
        #[test]
        fn $name() {
            for (n, m) in SHAPES {
                let vjp = || of_rows_vjp(n, m, corpus::$f);
                reverse(n * m + m, DOUBLE, vjp(), n);
                $(forward(n * m + m, of_rows_jvp(n, m, corpus::$jvp), vjp(), n);)?
            }
        }
    )*};
}

rows! {
    lifted_functions: lifted_rows_vjp;
    rows_at_a_maximum: at_largest_vjp;
    sums: sums_vjp, sums_jvp;
    products: products_vjp, products_jvp;
    extremes: extremes_vjp, extremes_jvp;
    log_sum_exp: log_sum_exp_vjp;
    scans_in_maps: scanned_rows_vjp;
    loops_in_maps: loops_in_maps_vjp, loops_in_maps_jvp;
    maps_in_loops: maps_in_loops_vjp;
    loops_in_loops: loops_in_loops_vjp;
    recurrent_networks: elman_vjp;
}

#[test]
fn matrix_products() {
    for (i, k, j) in [
        (0, 2, 2),
        (2, 0, 2),
        (2, 2, 0),
        (1, 1, 1),
        (7, 2, 7),
        (33, 70, 40),
    ] {
        let vjp = |x: &[f64], ct: &[f64]| {
            let (a, b) = x.split_at(i * k);
            let (value, (da, db)) =
                corpus::product_vjp(&matrix(i, k, a), &matrix(k, j, b), &matrix(i, j, ct));
            (
                value.as_slice().to_vec(),
                flat(&[da.as_slice(), db.as_slice()]),
            )
        };
        reverse(i * k + k * j, DOUBLE, vjp, i * j);
        let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let double = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let vjp = |x: &[f64], ct: &[f64]| {
            let (a, b) = x.split_at(i * k);
            let (value, (da, db)) = corpus::product_single_vjp(
                &matrix(i, k, &single(a)),
                &matrix(k, j, &single(b)),
                &matrix(i, j, &single(ct)),
            );
            (
                double(value.as_slice()),
                [double(da.as_slice()), double(db.as_slice())].concat(),
            )
        };
        reverse(i * k + k * j, SINGLE, vjp, i * j);
    }
}

#[test]
fn clusters() {
    for (n, k, d) in [(0, 2, 2), (2, 0, 2), (1, 1, 1), (7, 2, 3), (1000, 7, 2)] {
        let vjp = |x: &[f64], ct: &[f64]| {
            let (p, c) = x.split_at(n * d);
            let (value, (dp, dc)) = corpus::clusters_grad(&matrix(n, d, p), &matrix(k, d, c));
            let all = flat(&[dp.as_slice(), dc.as_slice()]);
            (vec![value], all.iter().map(|d| d * ct[0]).collect())
        };
        reverse(n * d + k * d, DOUBLE, vjp, 1);
    }
}

// ---- Places ----

/// Places of `n` in `k`, most of them more than once.
fn places(n: usize, k: usize) -> Table<Dyn, Dyn> {
    let mut source = common::Source::new(5);
    let at = (0..n).map(|_| (source.next() + 128) as usize % k).collect();
    Table::from_indices(Extent::new(n), Extent::new(k), at).expect("valid")
}

const PLACES: [(usize, usize); 8] = [
    (0, 0),
    (0, 2),
    (1, 1),
    (2, 1),
    (7, 2),
    (7, 1000),
    (1000, 7),
    (1000, 1000),
];

/// Tests of gradients with respect to what is at places and what is brought there.
macro_rules! places {
    ($($name:ident: $f:ident;)*) => {$(
        #[test]
        fn $name() {
            for (n, k) in PLACES {
                let at = places(n, k);
                let vjp = |x: &[f64], ct: &[f64]| {
                    let (x, w) = x.split_at(k);
                    let (value, (dx, dw)) = corpus::$f(&vector(x), &vector(w), &at);
                    let all = flat(&[dx.as_slice(), dw.as_slice()]);
                    (vec![value], all.iter().map(|d| d * ct[0]).collect())
                };
                reverse(k + n, DOUBLE, vjp, 1);
            }
        }
    )*};
}

places! {
    gathers: gathered_grad;
    histograms: scattered_grad;
    largest_of_bins: largest_of_bins_grad;
    products_of_bins: products_of_bins_grad;
    writes_at_places: written_grad;
    steps_that_push: pushed_grad;
    steps_that_pull: pulled_grad;
    steps_that_pull_where_a_condition_holds: pulled_if_grad;
    steps_that_pull_twice: pulled_twice_grad;
    steps_that_pull_rows: pulled_rows_grad;
    steps_that_pull_in_pairs: pulled_in_pairs_grad;
}

/// The way back adds to a few places in each step: a copy of the table for each step would make it
/// quadratic.
#[test]
fn steps_make_no_copies() {
    let n = 3000;
    let (x, w) = (numbers(1, n), numbers(2, 5));
    let at = places(5, n);
    let runs: [&dyn Fn() -> f64; 3] = [
        &|| corpus::lagged_grad(&vector(&x), 0.7).0,
        &|| corpus::pulled_grad(&vector(&x), &vector(&w), &at).0,
        &|| corpus::pushed_grad(&vector(&x), &vector(&w), &at).0,
    ];
    for run in runs {
        let (_, stats) = stats::measure(run);
        let most = 64 * n as u64;
        assert!(stats.accumulator_bytes <= most, "{stats:?}");
    }
}

// ---- Factorizations ----

#[test]
fn factorizations() {
    for n in [0, 1, 2, 7, 40] {
        let vjp = |inputs: &[f64], ct: &[f64]| {
            let (a, y) = inputs.split_at(n * n);
            let (value, (da, dy)) = corpus::evidence_grad(&matrix(n, n, a), &vector(y));
            let gradient = da.as_slice().iter().chain(dy.as_slice());
            (vec![value], gradient.map(|slope| slope * ct[0]).collect())
        };
        reverse(n * n + n, DOUBLE, vjp, 1);
        // The way back adds to rows of the matrix, and to none but these: a copy of it for each row would make it slower by as much as there are rows.
        let (a, y) = (matrix(n, n, &numbers(1, n * n)), vector(&numbers(2, n)));
        let (_, stats) = stats::measure(|| corpus::evidence_grad(&a, &y));
        assert!(stats.accumulator_bytes <= 8 * stats.pieces, "{stats:?}");
    }
}

// ---- Higher derivatives ----

#[track_caller]
fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
            "element {at} is {found}, not {expected}"
        );
    }
}

type Product = fn(&Vector, f64, &Vector, f64) -> (Vector, f64);

/// Checks a product with a Hessian against differences of the gradient.
#[track_caller]
fn product_with_hessian(
    n: usize,
    gradient: fn(&Vector, f64) -> (f64, (Vector, f64)),
    hvp: Product,
    others: &[Product],
) {
    let (x, d, ct) = (numbers(1, n + 1), numbers(3, n + 1), numbers(2, n + 1));
    let product = |hvp: Product| {
        let (hx, ha) = hvp(&vector(&x[..n]), x[n], &vector(&d[..n]), d[n]);
        flat(&[hx.as_slice(), &[ha]])
    };
    let found = on_all_pools(|| product(hvp), |found| bits(found));
    for &other in others {
        near(&product(other), &found);
    }
    let at = |h: f64| {
        let moved: Numbers = x.iter().zip(&d).map(|(x, d)| x + h * d).collect();
        let (_, (dx, da)) = gradient(&vector(&moved[..n]), moved[n]);
        dot(&flat(&[dx.as_slice(), &[da]]), &ct).0
    };
    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
    let (slope, scale) = dot(&found, &ct);
    assert!(
        (slope - difference).abs() <= 1e-5 * (1.0 + scale),
        "{n}: the product is {slope}, differences give {difference}"
    );
}

#[test]
fn products_with_hessians() {
    for n in LENGTHS {
        product_with_hessian(
            n,
            corpus::energy_grad,
            corpus::energy_hvp,
            &[corpus::energy_reverse],
        );
        product_with_hessian(n, corpus::folded_grad, corpus::folded_hvp, &[]);
        product_with_hessian(
            n,
            corpus::scalar_state_grad,
            corpus::scalar_state_hvp,
            &[corpus::scalar_state_reverse],
        );
    }
}

#[test]
fn a_product_with_the_hessian_of_a_gather() {
    for (n, k) in PLACES {
        let at = places(n, k);
        let (x, d, ct) = (numbers(1, k + n), numbers(3, k + n), numbers(2, k + n));
        let split = |x: &[f64]| (vector(&x[..k]), vector(&x[k..]));
        let run = || {
            let ((x, w), (dx, dw)) = (split(&x), split(&d));
            let (hx, hw) = corpus::gathered_hvp(&x, &w, &at, &dx, &dw);
            flat(&[hx.as_slice(), hw.as_slice()])
        };
        let found = on_all_pools(run, |found| bits(found));
        let gradient = |h: f64| {
            let moved: Numbers = x.iter().zip(&d).map(|(x, d)| x + h * d).collect();
            let (x, w) = split(&moved);
            let (_, (dx, dw)) = corpus::gathered_grad(&x, &w, &at);
            dot(&flat(&[dx.as_slice(), dw.as_slice()]), &ct).0
        };
        let difference = (gradient(1e-5) - gradient(-1e-5)) / 2e-5;
        let (slope, scale) = dot(&found, &ct);
        assert!((slope - difference).abs() <= 1e-6 * (1.0 + scale));
    }
}

#[test]
fn whole_hessians_and_jacobians() {
    for n in [0, 1, 2, 7, 60] {
        let (x, a) = (numbers(1, n), 0.7);
        let hessian = on_all_pools(
            || corpus::energy_hessian(&vector(&x), a).as_slice().to_vec(),
            |found| bits(found),
        );
        let (jacobian, by_a) = corpus::stencil_jacobian(&vector(&x), a);
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            let (column, _) = corpus::energy_hvp(&vector(&x), a, &vector(&unit), 0.0);
            near(&hessian[k * n..(k + 1) * n], column.as_slice());
            let (_, (row, of_a)) = corpus::stencil_vjp(&vector(&x), a, &vector(&unit));
            near(&jacobian.as_slice()[k * n..(k + 1) * n], row.as_slice());
            near(&by_a.as_slice()[k..=k], &[of_a]);
        }
    }
}

#[test]
fn third_derivatives_and_mapped_ones() {
    for n in LENGTHS {
        let (x, a) = (numbers(1, n), 0.7_f64);
        let third = |x: &f64| 60.0 * a * x * x + a.powi(3) * (x * a).exp();
        let expected: Numbers = x.iter().map(third).collect();
        let found = on_all_pools(
            || corpus::third(&vector(&x), a).as_slice().to_vec(),
            |found| bits(found),
        );
        near(&found, &expected);
        near(corpus::third_forward(&vector(&x), a).as_slice(), &expected);
        let first = |x: &f64| 5.0 * a * x.powi(4) + a * (x * a).exp();
        let expected: Numbers = x.iter().map(first).collect();
        near(corpus::mapped(&vector(&x), a).as_slice(), &expected);
    }
}

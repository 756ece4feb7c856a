//! The standard library: values against their definitions, from plain Rust and from bodies, in both
//! floats, and derivatives.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::lib::{
    cross, diagonal, distance, dot, kron, lerp, linspace, log_softmax, logsumexp, matmul, matvec,
    mean_squared_error, mean_variance, norm, norm_l1, norm_max, normalize, outer, relu, sigmoid,
    softmax, softplus, trace, transpose, vecmat,
};
use pointful::prelude::*;

const EXTENTS: [usize; 5] = [0, 1, 2, 7, 1000];

/// Numbers without a pattern, all in `-1..1`.
fn noise<I: IndexSet>(extent: Extent<I>, seed: f64) -> Table<I, f64> {
    let mut at = seed;
    Table::from_fn(extent, |_| {
        at += 1.0;
        (at * at * 0.7 + seed).sin()
    })
}

fn list(n: usize, seed: f64) -> Table<Dyn, f64> {
    noise(Extent::new(n), seed)
}

fn matrix(rows: usize, columns: usize, seed: f64) -> Table<(Dyn, Dyn), f64> {
    noise(Extent::<(Dyn, Dyn)>::new((rows, columns)), seed)
}

#[track_caller]
fn close(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-9 * (1.0 + left.abs() + right.abs()),
        "{left} is not {right}"
    );
}

#[track_caller]
fn all_close(left: &[f64], right: &[f64]) {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).for_each(|(l, r)| close(*l, *r));
}

#[test]
fn products_of_vectors_and_matrices() {
    for n in EXTENTS {
        let (x, y) = (list(n, 0.1), list(n, 0.2));
        let (a, b) = (matrix(n, 3, 0.3), matrix(3, n, 0.4));
        let at = |t: &Table<(Dyn, Dyn), f64>, i: usize, j: usize| {
            t.as_slice()[i * t.extent().len() / n.max(1) + j]
        };
        let expected: f64 = x.iter().zip(y.iter()).map(|(x, y)| x * y).sum();
        close(dot(&x, &y), expected);
        let row = list(3, 0.5);
        let images: Vec<f64> = (0..n)
            .map(|i| (0..3).map(|k| at(&a, i, k) * row.as_slice()[k]).sum())
            .collect();
        all_close(matvec(&a, &row).as_slice(), &images);
        all_close(vecmat(&row, &transpose(&a)).as_slice(), &images);
        let square = matmul(&b, &a);
        for (i, j) in [(0, 0), (1, 2), (2, 1)] {
            let expected: f64 = (0..n)
                .map(|k| b.as_slice()[i * n + k] * a.as_slice()[k * 3 + j])
                .sum();
            close(square.as_slice()[i * 3 + j], expected);
        }
        close(trace(&square), diagonal(&square).iter().sum());
        let products = outer(&x, &row);
        assert_eq!(products.as_slice().len(), 3 * n);
        for (at, product) in products.iter().enumerate() {
            close(*product, x.as_slice()[at / 3] * row.as_slice()[at % 3]);
        }
    }
}

#[test]
fn products_of_axes() {
    let (a, b) = (matrix(2, 3, 0.1), matrix(3, 2, 0.2));
    let k = kron(&a, &b);
    for i in 0..6 {
        for j in 0..6 {
            let expected = a.as_slice()[i / 3 * 3 + j / 2] * b.as_slice()[i % 3 * 2 + j % 2];
            close(k.as_slice()[i * 6 + j], expected);
        }
    }
    let axis = |k: usize| {
        Table::from_fn(Extent::<Fin<3>>::default(), |i| {
            f64::from(u8::from(i.ordinal(Extent::default()) == k))
        })
    };
    assert_eq!(cross(&axis(0), &axis(1)), axis(2));
    assert_eq!(cross(&axis(2), &axis(0)), axis(1));
}

#[test]
fn both_floats_and_every_rank() {
    let single = Table::<Dyn, f32>::from(vec![3.0, 4.0]);
    assert_eq!(norm(&single), 5.0_f32);
    assert_eq!(dot(&single, &single), 25.0_f32);
    assert_eq!(normalize(&single).as_slice(), [0.6_f32, 0.8]);
    assert_eq!(sigmoid(0.0_f32), 0.5);
    assert_eq!(mean_variance(&single), (3.5_f32, 0.25));
    let a = matrix(3, 5, 0.1);
    close(norm(&a), a.iter().map(|x| x * x).sum::<f64>().sqrt());
    close(softmax(&a).iter().sum(), 1.0);
    let scalar = Table::from_fn(Extent::<()>::default(), |()| 2.0);
    assert_eq!(dot(&scalar, &scalar), 4.0);
}

#[test]
fn lengths() {
    for n in EXTENTS {
        let (x, y) = (list(n, 0.1), list(n, 0.2));
        let squares: f64 = x.iter().map(|x| x * x).sum();
        close(norm(&x), squares.sqrt());
        close(norm_l1(&x), x.iter().map(|x| x.abs()).sum());
        close(norm_max(&x), x.iter().fold(0.0, |m, x| m.max(x.abs())));
        let apart: f64 = x.iter().zip(y.iter()).map(|(x, y)| (x - y).powi(2)).sum();
        close(distance(&x, &y), apart.sqrt());
        if n > 0 {
            close(norm(&normalize(&x)), 1.0);
            close(mean_squared_error(&x, &y), apart / n as f64);
        }
    }
    let zero = Table::<Dyn, _>::from(vec![0.0; 3]);
    assert_eq!(norm(&zero), 0.0);
    assert_eq!(normalize(&zero), zero);
    assert!(norm(&Table::<Dyn, _>::from(vec![f64::NAN])).is_nan());
}

#[test]
fn lengths_have_derivatives_at_zero() {
    let zero = Table::<Dyn, _>::from(vec![0.0; 3]);
    assert_eq!(grad!(norm)(&zero), zero);
    assert_eq!(grad!(norm_l1)(&zero), zero);
    assert_eq!(grad!(distance)(&zero, &zero), (zero.clone(), zero.clone()));
    let (value, tangent) = jvp!(normalize)(&zero, &Table::from(vec![1.0, 2.0, 3.0]));
    assert_eq!((value, tangent), (zero.clone(), zero));
    let x = Table::<Dyn, _>::from(vec![3.0, -4.0]);
    all_close(grad!(norm)(&x).as_slice(), &[0.6, -0.8]);
    assert_eq!(grad!(norm_max)(&x).as_slice(), [0.0, -1.0]);
    assert_eq!(
        grad!(norm)(&Table::<Dyn, _>::from(vec![3.0_f32, 4.0])).as_slice(),
        [0.6_f32, 0.8]
    );
}

#[test]
fn scores_that_overflow() {
    let infinite = f64::NEG_INFINITY;
    for (scores, expected, parts) in [
        (vec![0.0, 0.0], 2.0_f64.ln(), vec![0.5, 0.5]),
        (vec![1e3, 1e3], 1e3 + 2.0_f64.ln(), vec![0.5, 0.5]),
        (vec![-1e3, -1e3], -1e3 + 2.0_f64.ln(), vec![0.5, 0.5]),
        (vec![1e308, -1e308], 1e308, vec![1.0, 0.0]),
        (vec![infinite, 3.0], 3.0, vec![0.0, 1.0]),
        (vec![5.0], 5.0, vec![1.0]),
    ] {
        let x = Table::<Dyn, _>::from(scores);
        close(logsumexp(&x), expected);
        assert_eq!(softmax(&x).as_slice(), parts);
        // The gradient of the one is the other.
        assert_eq!(grad!(logsumexp)(&x).as_slice(), parts);
    }
    for nothing in [vec![], vec![infinite; 3]] {
        let x = Table::<Dyn, _>::from(nothing);
        assert_eq!(logsumexp(&x), infinite);
        assert!(grad!(logsumexp)(&x).iter().all(|slope| *slope == 0.0));
    }
    assert_eq!(
        logsumexp(&Table::<Dyn, _>::from(vec![f64::INFINITY, 1.0])),
        f64::INFINITY
    );
    assert!(logsumexp(&Table::<Dyn, _>::from(vec![f64::NAN, 1.0])).is_nan());
    let masked = Table::<Dyn, _>::from(vec![infinite, 1e3, 1e3]);
    let ct = Table::<Dyn, _>::from(vec![1.0, 2.0, 4.0]);
    assert_eq!(vjp!(softmax)(&masked, &ct).1.as_slice(), [0.0, -0.5, 0.5]);
    let single = Table::<Dyn, _>::from(vec![-100.0_f32, -300.0]);
    assert_eq!(softmax(&single).as_slice(), [1.0, 0.0]);
    assert_eq!(logsumexp(&single), -100.0);
}

#[test]
fn scores_by_their_definitions() {
    for n in EXTENTS {
        let x = list(n, 0.3);
        let total: f64 = x.iter().map(|x| x.exp()).sum();
        let parts: Vec<f64> = x.iter().map(|x| x.exp() / total).collect();
        let logs: Vec<f64> = parts.iter().map(|p| p.ln()).collect();
        close(logsumexp(&x).exp(), total);
        all_close(softmax(&x).as_slice(), &parts);
        all_close(log_softmax(&x).as_slice(), &logs);
    }
}

/// Vectors that are taken whole and in tiles, of which some are of nothing but minus infinity and
/// others far below the rest.
#[test]
fn scores_of_long_vectors() {
    for n in [5000, (1 << 19) - 1, (1 << 19) + 700] {
        let score = |(at, x): (usize, &f64)| match at / 1024 % 7 {
            1 => f64::NEG_INFINITY,
            tile => 300.0 * (x + 2.0 - tile as f64),
        };
        let x: Vec<f64> = list(n, 0.5).iter().enumerate().map(score).collect();
        let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = x.iter().map(|x| (x - largest).exp()).sum();
        let parts: Vec<f64> = x.iter().map(|x| (x - largest).exp() / total).collect();
        let x = Table::<Dyn, _>::from(x);
        all_close(softmax(&x).as_slice(), &parts);
        let (value, slope) = value_and_grad!(logsumexp)(&x);
        close(value, largest + total.ln());
        all_close(slope.as_slice(), &parts);
        let weights = list(n, 0.7);
        let mean: f64 = parts.iter().zip(weights.iter()).map(|(p, w)| p * w).sum();
        let back: Vec<f64> = parts
            .iter()
            .zip(weights.iter())
            .map(|(p, w)| p * (w - mean))
            .collect();
        all_close(vjp!(softmax)(&x, &weights).1.as_slice(), &back);
        let single: Table<Dyn, f32> = x.iter().map(|&x| x as f32).collect::<Vec<_>>().into();
        let sum: f32 = softmax(&single).iter().sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    }
}

#[test]
fn functions_of_numbers() {
    assert_eq!([-2.0, -0.0, 0.0, 3.0].map(relu), [0.0, 0.0, 0.0, 3.0]);
    assert_eq!([-2.0, 0.0, 3.0].map(grad!(relu)), [0.0, 0.0, 1.0]);
    assert!(relu(f64::NAN).is_nan());
    assert_eq!([-1e4, 0.0, 1e4].map(sigmoid), [0.0, 0.5, 1.0]);
    assert_eq!([-1e4, 0.0, 1e4].map(grad!(sigmoid)), [0.0, 0.25, 0.0]);
    assert_eq!([-1e4, 0.0, 1e4].map(softplus), [0.0, 2.0_f64.ln(), 1e4]);
    assert_eq!([-1e4, 0.0, 1e4].map(grad!(softplus)), [0.0, 0.5, 1.0]);
    assert_eq!(lerp(1.0, 3.0, 0.25), 1.5);
    assert_eq!(
        linspace(Extent::<Dyn>::new(3), 1.0, 2.0).as_slice(),
        [1.0, 1.5, 2.0]
    );
    assert_eq!(
        linspace(Extent::<Dyn>::new(1), 1.0_f32, 2.0).as_slice(),
        [1.0]
    );
    assert!(
        linspace(Extent::<Dyn>::new(0), 1.0, 2.0)
            .as_slice()
            .is_empty()
    );
}

#[pointful]
fn attention<Q: IndexSet, K: IndexSet, D: IndexSet, T: Float>(
    q: &Table<(Q, D), T>,
    k: &Table<(K, D), T>,
    v: &Table<(K, D), T>,
) -> Table<(Q, D), T> {
    let scores = matmul(q, transpose(k));
    for i in Q {
        vecmat(softmax(scores[i]), v)
    }
}

#[pointful]
fn loss<Q: IndexSet, K: IndexSet, D: IndexSet, T: Float>(
    q: &Table<(Q, D), T>,
    k: &Table<(K, D), T>,
    v: &Table<(K, D), T>,
) -> T {
    let out = attention(q, k, v);
    sum(sigmoid(out)) + norm_l1(relu(out)) + norm(out) + logsumexp(log_softmax(out))
}

#[test]
fn in_bodies_with_derivatives() {
    let (q, k, v) = (matrix(3, 4, 0.1), matrix(5, 4, 0.2), matrix(5, 4, 0.3));
    let (by_q, by_k, by_v) = grad!(loss)(&q, &k, &v);
    let step = 1e-6;
    for at in [0, 5, 11] {
        for (which, slope) in [(0, &by_q), (1, &by_k), (2, &by_v)] {
            let moved = |by: f64| {
                let mut all = [q.clone(), k.clone(), v.clone()];
                all[which].as_mut_slice()[at] += by;
                loss(&all[0], &all[1], &all[2])
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            let slope = slope.as_slice()[at];
            assert!(
                (slope - difference).abs() < 1e-7,
                "{slope} is not {difference}"
            );
        }
    }
}

#[pointful]
fn layered<B: IndexSet, I: IndexSet>(a: &Table<(B, I, I), f64>) -> Table<B, f64> {
    trace(matmul(a, a))
}

#[test]
fn lifted_over_axes_in_front() {
    let a = noise(Extent::<(Dyn, Fin<2>)>::new((3, ())), 0.1);
    let a = Table::from_vec(
        Extent::<(Dyn, Fin<2>, Fin<2>)>::new((3, (), ())),
        [a.as_slice(), a.as_slice()].concat(),
    );
    let a = a.expect("twelve");
    let expected: Vec<f64> = a
        .as_slice()
        .chunks(4)
        .map(|m| m[0] * m[0] + 2.0 * m[1] * m[2] + m[3] * m[3])
        .collect();
    all_close(layered(&a).as_slice(), &expected);
}

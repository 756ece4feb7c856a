//! Roots and fixed points: derivatives by the implicit function theorem against those of the loops
//! that find them, up to the third; in both floats, of no number, in batches, in both directions.
#![deny(warnings)]
#![forbid(unsafe_code)]

mod close;

use close::all_close;
use pointful::lib::{fixed_point, implicit, implicit_scalar};
use pointful::prelude::*;

type Vector<T = f64> = Table<Dyn, T>;

/// Monotone in each number, with weak bonds between them: by `p` the sides, by `c` the bond.
#[pointful]
fn residual<N: IndexSet, T: Float>(x: &Table<N, T>, p: &Table<N, T>, c: T) -> Table<N, T> {
    let all = sum(for i in N {
        x[i].sin()
    });
    for i in N {
        x[i] * x[i] * x[i] + 2.0 * x[i] + c * all - p[i]
    }
}

/// By a contraction, whose derivatives are those of the root when it has converged.
#[pointful]
fn by_steps<N: IndexSet, T: Float>(p: &Table<N, T>, c: T) -> Table<N, T> {
    let mut x = for i in N {
        0.3 * p[i]
    };
    for _k in 0..400 {
        x = x - 0.2 * residual(x, p, c);
    }
    x
}

#[pointful]
fn by_theorem<N: IndexSet, T: Float>(p: &Table<N, T>, c: T) -> Table<N, T> {
    implicit(|x: &Table<N, T>| residual(x, p, c), by_steps(p, c))
}

#[pointful]
fn by_fixed_point<N: IndexSet, T: Float>(p: &Table<N, T>, c: T) -> Table<N, T> {
    fixed_point(
        |x: &Table<N, T>| x - 0.2 * residual(x, p, c),
        by_steps(p, c),
    )
}

/// From numbers that nothing connects with the parameters.
#[pointful]
fn from_elsewhere<N: IndexSet>(p: &Table<N, f64>, c: f64, found: &Table<N, f64>) -> Table<N, f64> {
    implicit(|x: &Table<N, f64>| residual(x, p, c), found)
}

#[pointful]
fn total_from_elsewhere<N: IndexSet>(p: &Table<N, f64>, c: f64, found: &Table<N, f64>) -> f64 {
    sum(from_elsewhere(p, c, found))
}

#[pointful]
fn total_by_steps<N: IndexSet>(p: &Table<N, f64>, c: f64) -> f64 {
    sum(by_steps(p, c))
}

#[pointful]
fn of_steps<N: IndexSet>(p: &Table<N, f64>, c: f64) -> f64 {
    let x = by_steps(p, c);
    sum(for i in N {
        (x[i] + 0.5).sin() * (c + p[i])
    })
}

#[pointful]
fn of_theorem<N: IndexSet>(p: &Table<N, f64>, c: f64) -> f64 {
    let x = by_theorem(p, c);
    sum(for i in N {
        (x[i] + 0.5).sin() * (c + p[i])
    })
}

fn sides(n: usize) -> Vector {
    (0..n)
        .map(|k| ((k as f64 + 0.4) * 2.3).sin() * 1.5)
        .collect()
}

const SIZES: [usize; 5] = [0, 1, 2, 3, 7];
const BOND: f64 = 0.08;

#[test]
fn first_derivatives_are_those_of_the_loop() {
    for n in SIZES {
        let p = sides(n);
        let expected = by_steps(&p, BOND);
        let (by_p, by_c) = jacobian!(by_steps)(&p, BOND);
        for (x, (by_p_too, by_c_too)) in [
            (by_theorem(&p, BOND), jacobian!(by_theorem)(&p, BOND)),
            (
                by_fixed_point(&p, BOND),
                jacobian!(by_fixed_point)(&p, BOND),
            ),
        ] {
            all_close(x.as_slice(), expected.as_slice(), 1e-14);
            all_close(by_p_too.as_slice(), by_p.as_slice(), 1e-13);
            all_close(by_c_too.as_slice(), by_c.as_slice(), 1e-13);
        }
        let elsewhere = grad!(total_from_elsewhere)(&p, BOND, &expected);
        let of_loop = grad!(total_by_steps)(&p, BOND);
        all_close(elsewhere.0.as_slice(), of_loop.0.as_slice(), 1e-13);
        all_close(&[elsewhere.1], &[of_loop.1], 1e-13);
        // How it was found has no part.
        assert!(elsewhere.2.iter().all(|&slope| slope == 0.0));
    }
}

#[test]
fn forwards_and_backwards_agree() {
    for n in SIZES {
        let (p, dp, ct) = (
            sides(n),
            sides(n + 1).iter().take(n).copied().collect::<Vector>(),
            sides(n).map(|x| x.cos()),
        );
        let (_, forwards) = jvp!(by_theorem)(&p, BOND, &dp, 0.3);
        let (_, (by_p, by_c)) = vjp!(by_theorem)(&p, BOND, &ct);
        let ahead: f64 = forwards.iter().zip(ct.iter()).map(|(a, b)| a * b).sum();
        let back: f64 = by_p.iter().zip(dp.iter()).map(|(a, b)| a * b).sum::<f64>() + by_c * 0.3;
        assert!(
            (ahead - back).abs() < 1e-13 * (1.0 + ahead.abs()),
            "{ahead} {back}"
        );
    }
}

#[test]
fn second_derivatives_are_those_of_the_loop() {
    for n in SIZES {
        let p = sides(n);
        let ((pp, pc), (cp, cc)) = hessian!(of_theorem)(&p, BOND);
        let ((pp_too, pc_too), (_, cc_too)) = hessian!(of_steps)(&p, BOND);
        all_close(pp.as_slice(), pp_too.as_slice(), 1e-12);
        all_close(pc.as_slice(), pc_too.as_slice(), 1e-12);
        all_close(cp.as_slice(), pc_too.as_slice(), 1e-12);
        all_close(&[cc], &[cc_too], 1e-12);
    }
}

/// Kepler's equation.
#[pointful]
fn anomaly<T: Float>(mean: T, e: T) -> T {
    let mut x = mean;
    for _k in 0..200 {
        x = mean + e * x.sin();
    }
    implicit_scalar(|x: T| x - e * x.sin() - mean, x)
}

#[pointful]
fn third(mean: f64, e: f64) -> f64 {
    let slope = |e: f64| grad!(anomaly, wrt = e)(mean, e);
    let curvature = |e: f64| grad!(slope)(e);
    grad!(curvature)(e)
}

/// `X(M, e) = M + Σ 2/n Jₙ(ne) sin(nM)`: by `e` at `e = 0` these are derivatives of Lagrange's
/// series, `∂ᵏX/∂eᵏ = dᵏ⁻¹/dMᵏ⁻¹ sinᵏ M`.
#[test]
fn derivatives_of_a_number_up_to_the_third() {
    for mean in [0.3_f64, 1.0, 2.5] {
        let (sin, cos) = mean.sin_cos();
        let first = grad!(anomaly, wrt = e)(mean, 0.0);
        let second = hessian!(anomaly, wrt = e)(mean, 0.0);
        assert!((first - sin).abs() < 1e-14);
        assert!((second - 2.0 * sin * cos).abs() < 1e-14);
        let expected = 6.0 * sin * cos * cos - 3.0 * sin * sin * sin;
        assert!((third(mean, 0.0) - expected).abs() < 1e-13);
    }
    let (by_mean, by_e) = grad!(anomaly)(1.0_f32, 0.3);
    let slope = 1.0 / (1.0 - 0.3 * anomaly(1.0_f32, 0.3).cos());
    assert!(
        (by_mean - slope).abs() < 1e-6 && (by_e - anomaly(1.0_f32, 0.3).sin() * slope).abs() < 1e-6
    );
}

#[pointful]
fn anomalies<B: IndexSet>(means: &Table<B, f64>, e: f64) -> Table<B, f64> {
    for b in B {
        anomaly(means[b], e)
    }
}

#[pointful]
fn batch<B: IndexSet, N: IndexSet>(p: &Table<(B, N), f64>, c: f64) -> Table<(B, N), f64> {
    for b in B {
        by_theorem(p[b], c)
    }
}

#[test]
fn batches() {
    let means = sides(9);
    let (_, (back, by_e)) = vjp!(anomalies)(&means, 0.4, &Vector::ones(9));
    let each: Vec<(f64, f64)> = means
        .iter()
        .map(|&mean| grad!(anomaly)(mean, 0.4))
        .collect();
    all_close(
        back.as_slice(),
        &each.iter().map(|e| e.0).collect::<Vec<_>>(),
        1e-14,
    );
    all_close(&[by_e], &[each.iter().map(|e| e.1).sum()], 1e-13);
    let p =
        Table::<(Dyn, Dyn), f64>::from_fn((4, 3).into(), |(b, n)| ((b.0 * 3 + n.0) as f64).cos());
    let ones = Table::ones((4, 3));
    let (x, (by_p, _)) = vjp!(batch)(&p, BOND, &ones);
    for b in 0..4 {
        let row: Vector = p.as_slice()[3 * b..][..3].iter().copied().collect();
        let (x_too, (by_p_too, _)) = vjp!(by_theorem)(&row, BOND, &Vector::ones(3));
        all_close(&x.as_slice()[3 * b..][..3], x_too.as_slice(), 1e-14);
        all_close(&by_p.as_slice()[3 * b..][..3], by_p_too.as_slice(), 1e-13);
    }
}

#[test]
fn singles() {
    let p: Vector<f32> = sides(3).iter().map(|&x| x as f32).collect();
    let (by_p, _) = jacobian!(by_theorem)(&p, 0.08_f32);
    let (expected, _) = jacobian!(by_theorem)(&sides(3), BOND);
    for (found, expected) in by_p.iter().zip(expected.iter()) {
        assert!((f64::from(*found) - expected).abs() < 1e-6);
    }
}

/// `x² = p` at zero has no derivative.
#[pointful]
fn root_of_square(p: f64, found: f64) -> f64 {
    implicit_scalar(|x: f64| x * x - p, found)
}

#[test]
fn singular_roots_are_not_finite() {
    assert!(!grad!(root_of_square)(0.0, 0.0).0.is_finite());
    assert!((grad!(root_of_square)(4.0, 2.0).0 - 0.25).abs() < 1e-15);
}

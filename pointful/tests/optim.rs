//! Optimisers on the problems of Moré, Garbow and Hillstrom (1981), whose minima are known, and the
//! reasons for which they stop.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::optim::{Adam, Lbfgs, LevenbergMarquardt, Minimum, NewtonCg, Reason, Sgd};
use pointful::prelude::*;

#[pointful]
fn rosenbrock<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        let k = i.ordinal();
        if k % 2 == 1 {
            100.0 * (x[k] - x[k - 1].powi(2)).powi(2) + (1.0 - x[k - 1]).powi(2)
        } else {
            0.0
        }
    })
}

#[pointful]
fn beale(x: &Table<Fin<2>, f64>) -> f64 {
    (1.5 - x[0] * (1.0 - x[1])).powi(2)
        + (2.25 - x[0] * (1.0 - x[1].powi(2))).powi(2)
        + (2.625 - x[0] * (1.0 - x[1].powi(3))).powi(2)
}

#[pointful]
fn powell_singular(x: &Table<Fin<4>, f64>) -> f64 {
    (x[0] + 10.0 * x[1]).powi(2)
        + 5.0 * (x[2] - x[3]).powi(2)
        + (x[1] - 2.0 * x[2]).powi(4)
        + 10.0 * (x[0] - x[3]).powi(4)
}

#[pointful]
fn wood(x: &Table<Fin<4>, f64>) -> f64 {
    100.0 * (x[1] - x[0].powi(2)).powi(2)
        + (1.0 - x[0]).powi(2)
        + 90.0 * (x[3] - x[2].powi(2)).powi(2)
        + (1.0 - x[2]).powi(2)
        + 10.0 * (x[1] + x[3] - 2.0).powi(2)
        + 0.1 * (x[1] - x[3]).powi(2)
}

#[pointful]
fn helical_valley(x: &Table<Fin<3>, f64>) -> Table<Fin<3>, f64> {
    let angle = x[1].atan2(x[0]) / (2.0 * PI);
    [
        10.0 * (x[2] - 10.0 * angle),
        10.0 * (x[0].hypot(x[1]) - 1.0),
        x[2],
    ]
}

const PI: f64 = std::f64::consts::PI;

/// What Bard measured.
const BARD: [f64; 15] = [
    0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39,
];

#[pointful]
fn bard(x: &Table<Fin<3>, f64>) -> Table<Fin<15>, f64> {
    for i in Fin::<15> {
        let u = (i.ordinal() + 1) as f64;
        let v = 16.0 - u;
        BARD[i] - (x[0] + u / (v * x[1] + u.min(v) * x[2]))
    }
}

#[pointful]
fn freudenstein_and_roth(x: &Table<Fin<2>, f64>) -> Table<Fin<2>, f64> {
    [
        -13.0 + x[0] + ((5.0 - x[1]) * x[1] - 2.0) * x[1],
        -29.0 + x[0] + ((x[1] + 1.0) * x[1] - 14.0) * x[1],
    ]
}

#[track_caller]
fn is_at<const N: usize>(found: &Minimum<Table<Fin<N>, f64>>, expected: [f64; N], near: f64) {
    assert_eq!(found.reason, Reason::Converged, "{found}");
    for (x, expected) in found.x.iter().zip(expected) {
        assert!((x - expected).abs() <= near, "{found:?}");
    }
}

#[test]
fn by_gradients() {
    let lbfgs = Lbfgs::default();
    let start = Table::from([-1.2, 1.0]);
    let found = lbfgs.minimize(start, |x: &Table<Fin<2>, f64>| {
        value_and_grad!(rosenbrock)(x)
    });
    is_at(&found, [1.0; 2], 1e-7);
    assert!(found.evaluations < 80, "{found}");
    let found = lbfgs.minimize(Table::from([1.0, 1.0]), |x| value_and_grad!(beale)(x));
    is_at(&found, [3.0, 0.5], 1e-7);
    let start = Table::from([-3.0, -1.0, -3.0, -1.0]);
    let found = lbfgs.minimize(start, |x| value_and_grad!(wood)(x));
    is_at(&found, [1.0; 4], 1e-7);
    let start = Table::from([3.0, -1.0, 0.0, 1.0]);
    let found = lbfgs.minimize(start, |x| value_and_grad!(powell_singular)(x));
    is_at(&found, [0.0; 4], 1e-2);
    assert!(found.value < 1e-9);
    let start = Table::from_fn(Extent::new(100), |Dyn(k)| [-1.2, 1.0][k % 2]);
    let found = lbfgs.minimize(start, |x: &Table<Dyn, f64>| value_and_grad!(rosenbrock)(x));
    assert_eq!(found.reason, Reason::Converged, "{found}");
    assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-7));
}

#[test]
fn by_products_with_the_hessian() {
    let newton = NewtonCg::default();
    let start = Table::from([-1.2, 1.0]);
    let found = newton.minimize(
        start,
        |x: &Table<Fin<2>, f64>| value_and_grad!(rosenbrock)(x),
        |x, v| hvp!(rosenbrock)(x, v),
    );
    is_at(&found, [1.0; 2], 1e-7);
    assert!(found.iterations < 100, "{found}");
    let start = Table::from([-3.0, -1.0, -3.0, -1.0]);
    let wood = newton.minimize(start, |x| value_and_grad!(wood)(x), |x, v| hvp!(wood)(x, v));
    is_at(&wood, [1.0; 4], 1e-7);
    let start = Table::from([1.0, 1.0]);
    let found = newton.minimize(
        start,
        |x| value_and_grad!(beale)(x),
        |x, v| hvp!(beale)(x, v),
    );
    is_at(&found, [3.0, 0.5], 1e-7);
}

#[test]
fn by_residuals() {
    let squares = LevenbergMarquardt::default();
    let start = Table::from([-1.0, 0.0, 0.0]);
    let found = squares.minimize(start, helical_valley, |x| jacobian!(helical_valley)(x));
    is_at(&found, [1.0, 0.0, 0.0], 1e-9);
    let found = squares.minimize(Table::from([1.0; 3]), bard, |x| jacobian!(bard)(x));
    is_at(&found, [0.08241056, 1.133036, 2.343695], 1e-6);
    assert!(
        (2.0 * found.value - 8.214877306578963e-3).abs() < 1e-14,
        "{found}"
    );
    // From here the way leads to a minimum that is not the least.
    let loose = LevenbergMarquardt {
        tolerance: 1e-6,
        ..squares
    };
    let start = Table::from([0.5, -2.0]);
    let found = loose.minimize(start, freudenstein_and_roth, |x| {
        jacobian!(freudenstein_and_roth)(x)
    });
    is_at(&found, [11.412779, -0.896805], 1e-5);
    assert!((2.0 * found.value - 48.98425367924).abs() < 1e-6, "{found}");
    // An unknown that nothing depends on.
    let found = squares.minimize([3.0, 5.0], |x| vec![x[0] - 1.0], |_| vec![1.0, 0.0]);
    assert_eq!(found.reason, Reason::Converged);
    assert!((found.x[0] - 1.0).abs() < 1e-9 && found.x[1] == 5.0);
}

#[test]
fn steps_with_momentum_and_decay() {
    let slope = |x: &[f64; 2]| [2.0 * (x[0] - 1.0), 200.0 * (x[1] - 0.5)];
    let mut x = [3.0, -2.0];
    let mut adam = Adam::new(0.05, &x);
    for _ in 0..2000 {
        let slope = slope(&x);
        adam.step(&mut x, &slope);
    }
    assert!(
        (x[0] - 1.0).abs() < 1e-3 && (x[1] - 0.5).abs() < 1e-3,
        "{x:?}"
    );
    let mut sgd = Sgd::new(0.005, &x).momentum(0.9);
    let mut x = [3.0_f64, -2.0];
    for _ in 0..2000 {
        let slope = slope(&x);
        sgd.step(&mut x, &slope);
    }
    assert!(
        (x[0] - 1.0).abs() < 1e-9 && (x[1] - 0.5).abs() < 1e-9,
        "{x:?}"
    );
    // Without slopes there is the decay alone.
    let mut x = 1.0_f32;
    let mut adam = Adam::new(0.5, &x).decay(0.5);
    adam.step(&mut x, &0.0);
    assert_eq!(x, 0.75);
    // The first step of Adam goes as far as the rate, whatever the slope, if that is beyond epsilon.
    let mut x = 0.0_f64;
    Adam::new(0.1, &x)
        .memory(0.5, 0.9)
        .epsilon(1e-12)
        .step(&mut x, &1e-3);
    assert!((x + 0.1).abs() < 1e-9, "{x}");
}

#[test]
fn reasons() {
    let few = Lbfgs {
        iterations: 3,
        ..Lbfgs::default()
    };
    let start = Table::from([-1.2, 1.0]);
    let found = few.minimize(start, |x: &Table<Fin<2>, f64>| {
        value_and_grad!(rosenbrock)(x)
    });
    assert_eq!((found.reason, found.iterations), (Reason::Iterations, 3));
    // A gradient of the wrong sign.
    let found = Lbfgs::default().minimize(1.0, |x| (x * x, -2.0 * x));
    assert_eq!(found.reason, Reason::Stalled);
    let found = Lbfgs::default().minimize(1.0, |x| (f64::NAN, *x));
    assert_eq!(found.reason, Reason::NotFinite);
    let found = LevenbergMarquardt::default().minimize(1.0, |_| f64::NAN, |_| 1.0);
    assert_eq!(found.reason, Reason::NotFinite);
    // Beyond -1 there is no value; the search comes back.
    let found = Lbfgs::default().minimize(5.0_f64, |x| (x - (x + 1.0).ln(), 1.0 - 1.0 / (x + 1.0)));
    assert_eq!(found.reason, Reason::Converged);
    assert!(found.x.abs() < 1e-7);
    let words = "value 0e0, gradient 0e0, after 0 iterations and 1 evaluations: \
                 the gradient is small enough";
    let found = NewtonCg::default().minimize(0.0_f32, |x| (x * x, 2.0 * x), |_, v| 2.0 * v);
    assert_eq!(found.to_string(), words);
}

#[test]
#[should_panic(expected = "a Jacobian of 1 residuals by 2 unknowns has 2 coordinates")]
fn a_jacobian_of_another_shape() {
    LevenbergMarquardt::default().minimize([0.0, 0.0], |x| x[0], |_| 1.0);
}

//! Maps of `linearize!` keep what they need of the function, and are the derivative wherever they
//! are used.

use pointful::prelude::*;
use pointful::stats::measure;

#[pointful]
fn waves<N: IndexSet, F: Float>(x: &Table<N, F>, k: F) -> (Table<N, F>, F) {
    let y = for i in N {
        (x[i] * k).sin().exp()
    };
    let mut s = k;
    for i in N {
        s = (s * y[i]).cos() + x[(i - 1).wrap()];
    }
    (y, s)
}

#[pointful]
fn nearest<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, c: &Table<K, f64>) -> (f64, Table<N, K>) {
    let at = for n in N {
        argmin(for k in K {
            (x[n] - c[k]).powi(2)
        })
    };
    (
        sum(for n in N {
            (x[n] - c[at[n]]).powi(3)
        }),
        at,
    )
}

#[pointful]
fn triangle<N: IndexSet>(x: &Table<N, f64>, mut u: Table<N, f64>) -> f64 {
    for i in N {
        u[i] = sum(for j in ..i {
            (x[j] * u[j]).sin()
        }) + if x[i] > 0.0 { x[i].sqrt() } else { 0.5 };
    }
    sum(for i in N {
        u[i].tanh()
    })
}

#[pointful]
fn newton(a: f64) -> f64 {
    let mut x = a;
    while (x * x - a).abs() > 1e-12 {
        x = 0.5 * (x + a / x);
    }
    x
}

#[derive(Clone)]
#[pointful]
struct Model<N: IndexSet> {
    weights: Table<N, f64>,
    bias: f64,
}

#[pointful]
fn fitted<N: IndexSet, B: IndexSet>(model: &Model<N>, x: &Table<(B, N), f64>) -> Table<B, f64> {
    for b in B {
        (sum(for n in N {
            model.weights[n] * x[b][n]
        }) + model.bias)
            .tanh()
    }
}

fn row(n: usize, seed: f64) -> Table<Dyn, f64> {
    (0..n)
        .map(|k| (k as f64 * 0.7 + seed).sin())
        .collect::<Vec<_>>()
        .into()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} and {b}");
}

fn all_near(a: &Table<Dyn, f64>, b: &Table<Dyn, f64>) {
    assert_eq!(a.as_slice().len(), b.as_slice().len());
    a.as_slice()
        .iter()
        .zip(b.as_slice())
        .for_each(|(&a, &b)| near(a, b));
}

#[test]
fn a_map_is_the_derivative_at_any_length() {
    for n in [0, 1, 3, 8, 17, 70] {
        let x = row(n, 0.1);
        let ((y, s), map) = linearize!(waves)(&x, 0.9);
        let (plain, total) = waves(&x, 0.9);
        all_near(&y, &plain);
        near(s, total);
        for seed in [0.3, 0.5] {
            let t = row(n, seed);
            let (_, (dy, ds)) = jvp!(waves)(&x, 0.9, &t, seed);
            let (found, sum) = map(&t, seed);
            all_near(&found, &dy);
            near(sum, ds);
        }
    }
}

#[test]
fn maps_of_single_precision() {
    let x = Table::<Dyn, f32>::from(vec![0.25, 0.5, 0.75]);
    let (_, map) = linearize!(waves)(&x, 0.5f32);
    let (_, (dy, ds)) = jvp!(waves)(&x, 0.5f32, &x, 1.0f32);
    let (found, sum) = map(&x, 1.0);
    assert_eq!(found.as_slice(), dy.as_slice());
    assert!((sum - ds).abs() < 1e-5);
}

#[test]
fn members_and_lengths_that_are_computed() {
    for (n, k) in [(0, 2), (5, 1), (9, 4)] {
        let (x, c) = (row(n, 0.0), row(k, 2.0));
        let ((value, at), map) = linearize!(nearest)(&x, &c);
        let (plain, places) = nearest(&x, &c);
        near(value, plain);
        assert_eq!(at, places);
        near(map(&x, &c), jvp!(nearest)(&x, &c, &x, &c).1);
    }
    for n in [0, 1, 4, 20] {
        let (x, u) = (row(n, 0.4), row(n, 0.9));
        let (value, map) = linearize!(triangle)(&x, u.clone());
        near(value, triangle(&x, u.clone()));
        for _ in 0..2 {
            near(map(&x, &u), jvp!(triangle)(&x, u.clone(), &x, &u).1);
        }
    }
}

#[test]
fn loops_whose_length_is_found() {
    let (root, map) = linearize!(newton)(2.0);
    near(root, 2f64.sqrt());
    near(map(1.0), 0.5 / 2f64.sqrt());
}

#[test]
fn a_map_of_a_struct_outlives_its_arguments() {
    let x = Table::<(Dyn, Dyn), f64>::from_vec(
        Extent::<(Dyn, Dyn)>::new((2, 3)),
        vec![0.5, 1.0, -1.0, 0.2, 0.3, 0.4],
    )
    .unwrap();
    let map = {
        let model = Model {
            weights: row(3, 0.2),
            bias: 0.1,
        };
        linearize!(fitted, wrt = model)(&model, &x).1
    };
    let model = Model {
        weights: row(3, 0.2),
        bias: 0.1,
    };
    let tangent = Model {
        weights: row(3, 1.2),
        bias: 1.0,
    };
    let (_, expected) = jvp!(fitted, wrt = model)(&model, &x, &tangent);
    let found = std::thread::spawn(move || map(&tangent)).join().unwrap();
    all_near(&found, &expected);
}

#[pointful]
fn dear<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let y = for i in N {
        (x[i].exp() * x[i]).exp().sin()
    };
    sum(for i in N {
        y[i].cos() * (y[i] + y[(i + 1).wrap()]).tanh()
    })
}

#[test]
fn a_map_does_not_run_the_function_again() {
    let x = row(1000, 0.3);
    let (_, map) = linearize!(dear)(&x);
    let function = measure(|| dear(&x)).1.operations;
    let again = measure(|| map(&x)).1.operations;
    assert!(2 * again < function, "function {function}, its map {again}");
}

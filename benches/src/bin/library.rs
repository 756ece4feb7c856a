//! Functions of `pointful::lib`, the least time of a few calls, for `benches/references/library.py`
//! beside it: `cargo run --release -p pointful-benches --bin library`. Words of names choose.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pointful::lib::{
    Key, cholesky, conv2, erf, fold, inverse, ln_gamma, lu, normal, qr, solve, uniform,
};
use pointful::prelude::*;

#[pointful]
fn sum_of_factor<N: IndexSet>(a: &Table<(N, N), f64>) -> f64 {
    sum(cholesky(a))
}

#[pointful]
fn sum_of_solution<N: IndexSet>(a: &Table<(N, N), f64>, b: &Table<N, f64>) -> f64 {
    sum(solve(a, b))
}

#[pointful]
fn sum_of_factors<N: IndexSet>(a: &Table<(N, N), f64>) -> f64 {
    let (q, r) = qr(a);
    sum(q) + sum(r)
}

#[pointful]
fn solutions<B: IndexSet>(
    a: &Table<(B, Fin<3>, Fin<3>), f64>,
    b: &Table<(B, Fin<3>), f64>,
) -> Table<(B, Fin<3>), f64> {
    for n in B {
        solve(a[n], b[n])
    }
}

#[pointful]
fn sum_of_solutions<B: IndexSet>(
    a: &Table<(B, Fin<3>, Fin<3>), f64>,
    b: &Table<(B, Fin<3>), f64>,
) -> f64 {
    sum(for n in B {
        sum(solve(a[n], b[n]))
    })
}

#[pointful]
fn erfs<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for n in N {
        erf(x[n])
    }
}

#[pointful]
fn sum_of_erfs<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for n in N {
        erf(x[n])
    })
}

#[pointful]
fn ln_gammas<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for n in N {
        ln_gamma(x[n])
    }
}

#[pointful]
fn sum_of_ln_gammas<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for n in N {
        ln_gamma(x[n])
    })
}

#[pointful]
fn normals<N: IndexSet>(key: Key, x: &Table<N, f64>) -> Table<N, f64> {
    for n in N {
        x[n] + normal::<f64>(fold(key, n.ordinal()))
    }
}

#[pointful]
fn convolved<B: IndexSet>(
    x: &Table<(B, Fin<16>, Fin<64>, Fin<64>), f32>,
    w: &Table<(Fin<32>, Fin<16>, Fin<3>, Fin<3>), f32>,
    out: Extent<(Fin<64>, Fin<64>)>,
) -> Table<(B, Fin<32>, Fin<64>, Fin<64>), f32> {
    for n in B {
        conv2(x[n], w, out, (1, 1), (1, 1), (1, 1))
    }
}

#[pointful]
fn square_of_convolved<B: IndexSet>(
    x: &Table<(B, Fin<16>, Fin<64>, Fin<64>), f32>,
    w: &Table<(Fin<32>, Fin<16>, Fin<3>, Fin<3>), f32>,
    out: Extent<(Fin<64>, Fin<64>)>,
) -> f32 {
    sum(for n in B {
        let y = conv2(x[n], w, out, (1, 1), (1, 1), (1, 1));
        0.5 * sum(y * y)
    })
}

/// What is measured, if its name has one of the words that were asked for.
fn measure<R>(name: &str, mut call: impl FnMut() -> R) {
    let mut words = std::env::args().skip(1).peekable();
    if words.peek().is_some() && !words.any(|word| name.contains(&word)) {
        return;
    }
    let (start, mut least) = (Instant::now(), Duration::MAX);
    let mut calls = 0;
    while calls < 3 || calls < 15 && start.elapsed() < Duration::from_secs(3) {
        let before = Instant::now();
        black_box(call());
        least = least.min(before.elapsed());
        calls += 1;
    }
    println!("{name:24} {:9.3} ms", least.as_secs_f64() * 1e3);
}

#[pointful]
fn uniforms<N: IndexSet>(members: Extent<N>) -> Table<N, f64> {
    for n in members {
        uniform::<f64>(fold(Key { high: 1, low: 2 }, n.ordinal())) - 0.5
    }
}

/// Numbers between -1/2 and 1/2.
fn numbers(count: usize) -> impl Iterator<Item = f64> {
    uniforms(Extent::<Dyn>::new(count)).into_vec().into_iter()
}

fn table<I: IndexSet, T: pointful::Element<Meta = ()>>(
    extent: impl Into<Extent<I>>,
    values: Vec<T>,
) -> Table<I, T> {
    Table::from_vec(extent.into(), values).expect("as many values as members")
}

fn main() {
    let n = 1000;
    let general: Vec<f64> = numbers(n * n).collect();
    let mut definite = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let products = (0..8).map(|k| general[i * n + k] * general[j * n + k]);
            definite[i * n + j] = products.sum::<f64>() + f64::from(u8::from(i == j));
        }
    }
    let a = table::<(Dyn, Dyn), _>((n, n), definite);
    let m = table::<(Dyn, Dyn), _>((n, n), general);
    let b = Table::from(numbers(n).collect::<Vec<_>>());
    measure("cholesky", || cholesky(&a));
    measure("cholesky, gradient", || grad!(sum_of_factor)(&a));
    measure("lu", || lu(&m));
    measure("solve", || solve(&m, &b));
    measure("solve, gradient", || grad!(sum_of_solution)(&m, &b));
    measure("inverse", || inverse(&m));
    measure("qr", || qr(&m));
    measure("qr, gradient", || grad!(sum_of_factors)(&m));

    let many = 1_000_000;
    let threes = table::<(Dyn, Fin<3>, Fin<3>), _>((many, (), ()), numbers(9 * many).collect());
    let sides = table::<(Dyn, Fin<3>), _>((many, ()), numbers(3 * many).collect());
    measure("solve 3", || solutions(&threes, &sides));
    measure("solve 3, gradient", || {
        grad!(sum_of_solutions)(&threes, &sides)
    });

    let count = 10_000_000;
    let x = Table::from(numbers(count).map(|x| 6.0 * x).collect::<Vec<_>>());
    let y = Table::from(numbers(count).map(|x| 10.0 + 20.0 * x).collect::<Vec<_>>());
    measure("erf", || erfs(&x));
    measure("erf, gradient", || grad!(sum_of_erfs)(&x));
    measure("ln_gamma", || ln_gammas(&y));
    measure("ln_gamma, gradient", || grad!(sum_of_ln_gammas)(&y));
    measure("normal", || normals(Key { high: 1, low: 2 }, &x));

    let singles = |count| numbers(count).map(|x| x as f32).collect::<Vec<_>>();
    let images =
        table::<(Dyn, Fin<16>, Fin<64>, Fin<64>), _>((8, (), (), ()), singles(8 * 16 * 64 * 64));
    let kernels = table::<(Fin<32>, Fin<16>, Fin<3>, Fin<3>), _>((), singles(32 * 16 * 9));
    let out = Extent::default();
    measure("conv2", || convolved(&images, &kernels, out));
    measure("conv2, gradient", || {
        grad!(square_of_convolved)(&images, &kernels, out)
    });
}

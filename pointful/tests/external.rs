//! Functions whose bodies are not read: any Rust, called from bodies, with derivatives of its
//! author's.
#![deny(warnings)]

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pointful::prelude::*;

/// The threads that have called [`gamma`].
static THREADS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// How many threads there are to await, of large tables.
static AWAITED: Mutex<usize> = Mutex::new(0);

fn name(thread: ThreadId) -> String {
    format!("{thread:?}")
}

mod special {
    use pointful::prelude::*;

    /// What nobody outside can name, and no body could say.
    #[pointful(extern, jvp = slope)]
    fn logistic(x: f64) -> f64 {
        let terms: Vec<f64> = std::iter::once(x).chain([1.0]).collect();
        let Some(x) = terms.first() else {
            return 0.0;
        };
        1.0 / (1.0 + (-x).exp())
    }

    #[pointful]
    fn slope(x: f64, tangent: f64) -> f64 {
        let e = (-x).exp();
        tangent * e / ((1.0 + e) * (1.0 + e))
    }

    #[pointful]
    pub fn unit(w: f64, x: f64) -> f64 {
        logistic(w * x)
    }
}

#[pointful(extern, vjp = back)]
fn product(x: f64, y: f64, n: i32) -> f64 {
    [x, y].iter().product::<f64>().powi(n)
}

#[pointful]
fn back(x: f64, y: f64, n: i32, ct: f64) -> (f64, f64) {
    let slope = ct * n as f64 * (x * y).powi(n - 1);
    (slope * y, slope * x)
}

#[pointful(extern)]
fn even(n: u8, yes: bool) -> bool {
    n.is_multiple_of(2) == yes
}

#[pointful(extern)]
fn half() -> f32 {
    0.5
}

/// Waits until a second thread has called it, for as long as that can take.
#[pointful(extern)]
fn gamma(x: f64) -> f64 {
    let begun = Instant::now();
    let awaited = *AWAITED.lock().expect("nobody panics");
    let mut threads = THREADS.lock().expect("nobody panics");
    threads.insert(name(std::thread::current().id()));
    while threads.len() < awaited && begun.elapsed() < Duration::from_secs(10) {
        drop(threads);
        std::thread::yield_now();
        threads = THREADS.lock().expect("nobody panics");
    }
    x + 1.0
}

#[pointful]
fn layer<N: IndexSet, M: IndexSet>(w: &Table<(N, M), f64>, x: &Table<M, f64>) -> Table<N, f64> {
    for n in N {
        sum(for m in M {
            special::unit(w[n][m], x[m])
        })
    }
}

#[pointful]
fn loss<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    sum(product(x, y, 3))
}

#[pointful]
fn counted<N: IndexSet>(n: &Table<N, u8>) -> (usize, f32) {
    (
        count(for i in _ {
            even(n[i], true)
        }),
        half() + half(),
    )
}

#[pointful]
fn shifted<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    gamma(x)
}

#[pointful]
fn powers<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    product(x, 1.0, 2)
}

#[pointful]
fn stepped(x: f64, n: usize) -> f64 {
    let mut y = x;
    for _ in 0..n {
        y = special::unit(y, 2.0) + product(y, 0.5, 2);
    }
    y
}

fn list(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

fn sigma(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[track_caller]
fn close(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-9 * (1.0 + right.abs()),
        "{left} {right}"
    );
}

#[test]
fn bodies_call_them_by_name() {
    assert_eq!(product(2.0, 3.0, 2), 36.0);
    assert_eq!(special::unit(0.0, 1.0), 0.5);
    assert_eq!(counted(&Table::<Dyn, u8>::from(vec![1, 2, 4])), (2, 1.0));
    for n in [0, 1, 7, 1000] {
        let x = list(&vec![0.25; n]);
        assert_eq!(powers(&x).as_slice(), vec![0.0625; n]);
    }
}

#[test]
fn all_threads_call_them() {
    let x = Table::<Dyn, f64>::from(vec![1.0; 1 << 18]);
    THREADS.lock().expect("nobody panics").clear();
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    *AWAITED.lock().expect("nobody panics") = most.min(2);
    assert_eq!(shifted(&x).as_slice()[7], 2.0);
    assert!(THREADS.lock().expect("nobody panics").len() >= most.min(2));
}

#[test]
fn their_derivatives_are_their_authors() {
    let (x, y) = (list(&[1.0, 2.0]), list(&[3.0, 0.5]));
    assert_eq!(loss(&x, &y), 28.0);
    let (by_x, by_y) = grad!(loss)(&x, &y);
    assert_eq!(
        (by_x.as_slice(), by_y.as_slice()),
        (&[81.0, 1.5][..], &[27.0, 6.0][..])
    );
    assert_eq!(
        hessian!(loss, wrt = x)(&x, &y).as_slice(),
        [162.0, 0.0, 0.0, 1.5]
    );
    let w = Table::<(Fin<1>, Dyn), f64>::from_vec(Extent::new(((), 2)), vec![0.3, -0.4]);
    let w = w.expect("its length");
    let slope = |t: f64| sigma(t) * (1.0 - sigma(t));
    let ct = Table::<Fin<1>, f64>::from([2.0]);
    let by_w = vjp!(layer, wrt = w)(&w, &x, &ct).1;
    close(by_w.as_slice()[0], 2.0 * slope(0.3));
    close(by_w.as_slice()[1], 2.0 * 2.0 * slope(-0.8));
    let along = jvp!(layer, wrt = x)(&w, &x, &list(&[1.0, 0.0])).1;
    close(along.as_slice()[0], 0.3 * slope(0.3));
}

#[test]
fn loops_of_them_have_derivatives() {
    let h = 1e-6;
    for n in [0, 1, 5] {
        let difference = (stepped(0.4 + h, n) - stepped(0.4 - h, n)) / (2.0 * h);
        assert!((grad!(stepped)(0.4, n) - difference).abs() < 1e-7, "{n}");
    }
}

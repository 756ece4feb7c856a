//! Convolutions and pools: values against SciPy's, derivatives against differences and each other, in
//! both floats, and of stacks.
#![deny(warnings)]
#![forbid(unsafe_code)]

mod close;

use close::all_close;
use pointful::lib::{conv1, conv2, max_pool1, max_pool2, mean_pool1, mean_pool2, windows};
use pointful::prelude::*;

fn number(k: usize, seed: usize) -> f64 {
    ((k * k * 7919 + k * 104_729 + seed * 1_299_709 + 13) % 1009) as f64 / 1009.0 - 0.5
}

fn numbers<I: IndexSet>(extent: Extent<I>, seed: usize) -> Table<I, f64> {
    let numbers = (0..extent.len()).map(|k| number(k, seed)).collect();
    Table::from_vec(extent, numbers).expect("its length")
}

type One = (Dyn, Dyn);
type Two = (Dyn, Dyn, Dyn);
type Four = (Dyn, Dyn, Dyn, Dyn);

fn one(c: usize, n: usize, seed: usize) -> Table<One, f64> {
    numbers(Extent::new((c, n)), seed)
}

fn two(c: usize, h: usize, w: usize, seed: usize) -> Table<Two, f64> {
    numbers(Extent::new((c, h, w)), seed)
}

fn single<I: IndexSet>(t: &Table<I, f64>) -> Table<I, f32> {
    Table::from_fn(t.extent(), |i| t[i] as f32)
}

/// The shape as text, and the elements.
fn shown<I: IndexSet>(y: &Table<I, f64>, shape: &[usize]) -> (String, Vec<f64>) {
    assert_eq!(y.len(), shape.iter().product::<usize>());
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    (shape.join("x"), y.as_slice().to_vec())
}

fn shown1(y: &Table<One, f64>) -> (String, Vec<f64>) {
    let (c, n) = y.extent().size();
    shown(y, &[c, n])
}

fn shown2(y: &Table<Two, f64>) -> (String, Vec<f64>) {
    let (c, h, w) = y.extent().size();
    shown(y, &[c, h, w])
}

/// All windows of an axis.
fn along(n: usize, kernel: usize, stride: usize, dilation: usize, padding: usize) -> Extent<Dyn> {
    Extent::new(windows(n, kernel, stride, dilation, padding))
}

#[test]
fn values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/windows/references.txt");
    let text = std::fs::read_to_string(path).expect("a file");
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words: Vec<&str> = line.split(' ').collect();
        let weighed = u64::from_str_radix(words.pop().expect("a sum"), 16).expect("bits");
        let shape = words.pop().expect("a shape");
        let sizes: Vec<usize> = words[1..]
            .iter()
            .map(|n| n.parse().expect("a number"))
            .collect();
        let (found, y) = match (words[0], &sizes[..]) {
            ("conv1", &[n, r, s, d, p]) => {
                let w = numbers(Extent::<Two>::new((3, 2, r)), 2);
                shown1(&conv1(&one(2, n, 1), &w, along(n, r, s, d, p), s, d, p))
            }
            ("conv2", &[h, w, p, q, a, b, c, d, e, f]) => {
                let kernels = numbers(Extent::<Four>::new((3, 2, p, q)), 2);
                let out = Extent::new((along(h, p, a, c, e).size(), along(w, q, b, d, f).size()));
                shown2(&conv2(
                    &two(2, h, w, 1),
                    &kernels,
                    out,
                    (a, b),
                    (c, d),
                    (e, f),
                ))
            }
            ("max_pool1", &[n, window, s]) => shown1(&max_pool1(
                &one(2, n, 1),
                along(n, window, s, 1, 0),
                window,
                s,
            )),
            ("mean_pool1", &[n, window, s]) => shown1(&mean_pool1(
                &one(2, n, 1),
                along(n, window, s, 1, 0),
                window,
                s,
            )),
            ("max_pool2", &[h, w, p, q, a, b]) => {
                let out = Extent::new((along(h, p, a, 1, 0).size(), along(w, q, b, 1, 0).size()));
                shown2(&max_pool2(&two(2, h, w, 1), out, (p, q), (a, b)))
            }
            ("mean_pool2", &[h, w, p, q, a, b]) => {
                let out = Extent::new((along(h, p, a, 1, 0).size(), along(w, q, b, 1, 0).size()));
                shown2(&mean_pool2(&two(2, h, w, 1), out, (p, q), (a, b)))
            }
            _ => panic!("{line}"),
        };
        assert_eq!(found, shape, "{line}");
        let sum: f64 = y.iter().enumerate().map(|(k, y)| y * number(k, 99)).sum();
        assert!(
            (sum - f64::from_bits(weighed)).abs() < 1e-12,
            "{line}: {sum}"
        );
        lines += 1;
    }
    assert_eq!(lines, 7 * 4 * 4 + 6 * 3 + 2 * 7 * 4 * 3 + 2 * 4);
}

#[pointful]
fn pools1<C: IndexSet, N: IndexSet, T: Float>(x: &Table<(C, N), T>) -> Table<(C, Dyn), T> {
    let out = Extent::new(windows(size(N), 3, 2, 1, 0));
    let (most, middle) = (max_pool1(x, out, 3, 2), mean_pool1(x, out, 3, 2));
    for (c, o) in _ {
        most[c][o] * middle[c][o]
    }
}

#[pointful]
fn pools2<C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet, T: Float>(
    x: &Table<(C, H, W), T>,
    out: Extent<(P, Q)>,
) -> Table<(C, P, Q), T> {
    let most = max_pool2(x, out, (2, 3), (2, 1));
    let middle = mean_pool2(x, out, (2, 3), (2, 1));
    for (c, i, j) in _ {
        most[c][i][j] * middle[c][i][j]
    }
}

macro_rules! agree {
    ($jvp:expr, $vjp:expr, $f:expr, [$(($x:expr, $d:expr)),*]) => {{
        let (value, tangent) = $jvp;
        let ct = numbers(value.extent(), 13);
        let (again, back): (_, Vec<Vec<f64>>) = $vjp(&ct);
        assert_eq!(again.as_slice(), value.as_slice());
        let moved = |h: f64| $f($(&$x.map_with(&$d, |x, d| x + h * d)),*);
        let h = 1e-6;
        let slopes = moved(h).map_with(&moved(-h), |x, y| (x - y) / (2.0 * h));
        all_close(tangent.as_slice(), slopes.as_slice(), 1e-8);
        let tangents = [$($d.as_slice().to_vec()),*];
        let right: f64 = back.iter().flatten().zip(tangents.iter().flatten()).map(|(b, d)| b * d).sum();
        all_close(&[right], &[tangent.dot(&ct)], 1e-12);
    }};
}

#[test]
fn derivatives_of_convolutions() {
    for (n, r, s, d, p) in [
        (7, 3, 1, 1, 1),
        (17, 3, 2, 2, 0),
        (40, 5, 3, 1, 4),
        (2, 3, 1, 1, 0),
    ] {
        let (x, w) = (one(2, n, 1), numbers(Extent::<Two>::new((3, 2, r)), 2));
        let (dx, dw) = (one(2, n, 3), numbers(Extent::<Two>::new((3, 2, r)), 4));
        let out = along(n, r, s, d, p);
        agree!(
            jvp!(conv1)(&x, &w, out, s, d, p, &dx, &dw),
            |ct| {
                let (value, (by_x, by_w)) = vjp!(conv1)(&x, &w, out, s, d, p, ct);
                (value, vec![by_x.into_vec(), by_w.into_vec()])
            },
            |x: &_, w: &_| conv1(x, w, out, s, d, p),
            [(x, dx), (w, dw)]
        );
        let y = conv1(&single(&x), &single(&w), out, s, d, p);
        let y: Vec<f64> = y.iter().map(|&y| f64::from(y)).collect();
        all_close(&y, conv1(&x, &w, out, s, d, p).as_slice(), 1e-5);
    }
    for (h, w, s, d, p) in [
        (5, 7, (1, 1), (1, 1), (1, 1)),
        (9, 8, (2, 3), (2, 1), (0, 2)),
        (12, 17, (3, 2), (1, 2), (2, 0)),
    ] {
        let (x, k) = (
            two(2, h, w, 1),
            numbers(Extent::<Four>::new((3, 2, 3, 2)), 2),
        );
        let down = along(h, 3, s.0, d.0, p.0).size();
        let out = Extent::<(Dyn, Dyn)>::new((down, along(w, 2, s.1, d.1, p.1).size()));
        let (dx, dk) = (
            two(2, h, w, 3),
            numbers(Extent::<Four>::new((3, 2, 3, 2)), 4),
        );
        agree!(
            jvp!(conv2)(&x, &k, out, s, d, p, &dx, &dk),
            |ct| {
                let (value, (by_x, by_k)) = vjp!(conv2)(&x, &k, out, s, d, p, ct);
                (value, vec![by_x.into_vec(), by_k.into_vec()])
            },
            |x: &_, k: &_| conv2(x, k, out, s, d, p),
            [(x, dx), (k, dk)]
        );
        let y = conv2(&single(&x), &single(&k), out, s, d, p);
        let y: Vec<f64> = y.iter().map(|&y| f64::from(y)).collect();
        all_close(&y, conv2(&x, &k, out, s, d, p).as_slice(), 1e-5);
    }
}

#[test]
fn derivatives_of_pools() {
    for n in [1, 3, 7, 17, 40] {
        let (x, dx) = (one(2, n, 1), one(2, n, 3));
        agree!(
            jvp!(pools1)(&x, &dx),
            |ct| {
                let (value, back) = vjp!(pools1)(&x, ct);
                (value, vec![back.into_vec()])
            },
            pools1,
            [(x, dx)]
        );
        let (x, dx) = (two(2, n, 6, 1), two(2, n, 6, 3));
        let out = Extent::<(Dyn, Dyn)>::new((windows(n, 2, 2, 1, 0), 4));
        agree!(
            jvp!(pools2)(&x, out, &dx),
            |ct| {
                let (value, back) = vjp!(pools2)(&x, out, ct);
                (value, vec![back.into_vec()])
            },
            |x: &_| pools2(x, out),
            [(x, dx)]
        );
        let y = pools2(&single(&x), out);
        let y: Vec<f64> = y.iter().map(|&y| f64::from(y)).collect();
        all_close(&y, pools2(&x, out).as_slice(), 1e-5);
    }
}

/// What is not there is no number of a window.
#[test]
fn ends_and_errors() {
    let x = Table::<One, f64>::from_vec((1, 3), vec![-1.0, f64::NAN, -2.0]).expect("three");
    assert_eq!(
        max_pool1(&x, Extent::<Dyn>::new(2), 2, 1).as_slice(),
        [-1.0, -2.0]
    );
    // The first ones.
    assert_eq!(
        max_pool1(&x, Extent::<Dyn>::new(1), 2, 1).as_slice(),
        [-1.0]
    );
    let message = |run: fn(Extent<Dyn>)| {
        let panic = std::panic::catch_unwind(|| run(Extent::new(3))).unwrap_err();
        let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
        text.or(panic.downcast_ref::<String>().cloned())
            .expect("a text")
    };
    for (message, text) in [
        (
            message(|out| drop(max_pool1(&one(1, 3, 1), out, 0, 1))),
            "a window is empty",
        ),
        (
            message(|out| drop(mean_pool1(&one(1, 3, 1), out, 1, 0))),
            "a stride is zero",
        ),
        (
            message(|out| drop(max_pool1(&one(1, 3, 1), out, 2, 1))),
            "there are 2 windows, fewer than 3",
        ),
        (
            message(|out| drop(conv1(&one(1, 3, 1), &two(1, 1, 4, 1), out, 1, 1, 1))),
            "there are 2 windows, fewer than 3",
        ),
        (
            message(|out| drop(conv1(&one(1, 3, 1), &two(1, 1, 0, 1), out, 1, 1, 0))),
            "a window is empty",
        ),
    ] {
        assert_eq!(message, text);
    }
}

#[pointful]
fn batch<B: IndexSet, K: IndexSet, C: IndexSet, N: IndexSet, R: IndexSet>(
    x: &Table<(B, C, N), f64>,
    w: &Table<(K, C, R), f64>,
) -> f64 {
    let out = Extent::new(windows(size(N), size(R), 2, 1, 1));
    let y = conv1(x, w, out, 2, 1, 1);
    let z = max_pool1(y, Extent::new(windows(out.len(), 2, 2, 1, 0)), 2, 2);
    sum(for b in B {
        sum(z[b])
    })
}

#[pointful]
fn each<K: IndexSet, C: IndexSet, N: IndexSet, R: IndexSet>(
    x: &Table<(C, N), f64>,
    w: &Table<(K, C, R), f64>,
) -> f64 {
    let out = Extent::new(windows(size(N), size(R), 2, 1, 1));
    sum(max_pool1(
        conv1(x, w, out, 2, 1, 1),
        Extent::new(windows(out.len(), 2, 2, 1, 0)),
        2,
        2,
    ))
}

#[test]
fn stacks() {
    let (x, w) = (two(4, 2, 17, 1), two(3, 2, 3, 2));
    let (total, (by_x, by_w)) = value_and_grad!(batch)(&x, &w);
    let mut expected = (0.0, vec![], vec![0.0; w.len()]);
    for row in x.rows() {
        let x = Table::from_vec((2, 17), row.as_slice().to_vec()).expect("its length");
        let (value, (by_x, by_w)) = value_and_grad!(each)(&x, &w);
        expected.0 += value;
        expected.1.extend(by_x.into_vec());
        expected
            .2
            .iter_mut()
            .zip(by_w.iter())
            .for_each(|(sum, by)| *sum += by);
    }
    all_close(&[total], &[expected.0], 1e-12);
    all_close(by_x.as_slice(), &expected.1, 1e-12);
    all_close(by_w.as_slice(), &expected.2, 1e-12);
}

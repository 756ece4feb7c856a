//! Functions of angles that are near, far, or no number at all: pieces of a kernel's work that bet
//! on near ones and lose.

mod common;

use common::{Source, close, matrix, panic_of, vector};
use pointful_corpus::angles as corpus;
use pointful_runtime::kernel::math;
use pointful_runtime::{Dyn, Extent, Table};

const LENGTHS: [usize; 6] = [0, 1, 2, 7, 1000, 100_000];

/// On both sides of where angles become far, and around zero.
const NEAR: [f64; 9] = [
    0.0,
    -0.0,
    5e-324,
    -1e-310,
    1e-9,
    -1_048_575.999_999_999_9,
    1_048_575.5,
    std::f64::consts::PI,
    -std::f64::consts::FRAC_PI_2,
];
const FAR: [f64; 7] = [
    1_048_576.0,
    -1_048_576.000_000_000_2,
    4_294_967_296.5,
    -1e22,
    f64::MAX,
    f64::MIN,
    6_381_956_970_095_103.0 * 7.067_388_259_113_537e239,
];
const NO_ANGLES: [f64; 3] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Small angles, none of which is special.
fn small(len: usize) -> Vec<f64> {
    let mut source = Source::new(5);
    (0..len)
        .map(|_| source.next() as f64 / 16.0 + source.next() as f64 / 4096.0)
        .collect()
}

/// Small angles, and every so often one of these instead: in some of the pieces of the work, or in
/// all.
fn with(len: usize, others: &[f64], distance: usize) -> Vec<f64> {
    let mut x = small(len);
    for (at, x) in x.iter_mut().skip(len / 3).step_by(distance).enumerate() {
        *x = others[at % others.len()];
    }
    x
}

/// Angles of which sums and sines are numbers.
fn finite(len: usize) -> Vec<Vec<f64>> {
    vec![
        small(len),
        with(len, &NEAR, 3),
        with(len, &FAR, 50_000),
        with(len, &FAR, 5),
    ]
}

/// Any at all.
fn all(len: usize) -> Vec<Vec<f64>> {
    let mut all = finite(len);
    all.push(with(len, &NO_ANGLES, 2));
    all.push(with(len, &[NEAR.as_slice(), &FAR, &NO_ANGLES].concat(), 2));
    all
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    let canonical = |x: &f64| if x.is_nan() { f64::NAN } else { *x }.to_bits();
    numbers.iter().map(canonical).collect()
}

#[track_caller]
fn same(found: &[f64], expected: impl IntoIterator<Item = f64>) {
    let expected: Vec<f64> = expected.into_iter().collect();
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(
            bits(&[*found]),
            bits(&[*expected]),
            "element {at} is {found:e}, not {expected:e}"
        );
    }
}

/// What it gives on one thread, which is what it gives on others to the bit.
#[track_caller]
fn on_all_pools<R: Send>(run: impl Fn() -> R + Sync, numbers: impl Fn(&R) -> Vec<f64>) -> R {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads").install(&run)
    };
    let alone = on(1);
    for threads in [2, 5] {
        let others = on(threads);
        assert!(
            bits(&numbers(&others)) == bits(&numbers(&alone)),
            "other bits on {threads} threads"
        );
    }
    alone
}

fn each(x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|&x| f(x)).collect()
}

/// A map, of any angles at all.
#[track_caller]
fn maps(run: impl Fn(&Table<Dyn, f64>) -> Table<Dyn, f64> + Sync, f: impl Fn(f64) -> f64) {
    for x in LENGTHS.into_iter().flat_map(all) {
        let x = vector(&x);
        let found = on_all_pools(|| run(&x), |y| y.as_slice().to_vec());
        same(found.as_slice(), each(x.as_slice(), &f));
    }
}

#[test]
fn maps_give_the_same_bits() {
    for x in LENGTHS.into_iter().flat_map(all) {
        let table = vector(&x);
        let (sin, cos, tan) = on_all_pools(
            || corpus::waves(&table),
            |(a, b, c)| [a.as_slice(), b.as_slice(), c.as_slice()].concat(),
        );
        same(sin.as_slice(), each(&x, math::sin));
        same(cos.as_slice(), each(&x, math::cos));
        same(tan.as_slice(), each(&x, math::tan));
    }
    maps(corpus::half_waves, |x| {
        if x > 0.0 { math::sin(x) } else { 2.0 * x }
    });
}

/// The same angles, which are all sorts of `f32` too: some are far for one type, some for both.
fn singles(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

fn widened(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

#[test]
fn maps_of_singles_give_the_same_bits() {
    let mut angles: Vec<_> = LENGTHS.into_iter().flat_map(all).collect();
    angles.push(with(1000, &[4_095.999_9, -4_096.0, 4_096.000_5], 300));
    for doubles in angles {
        let x = singles(&doubles);
        let table = vector(&x);
        let (sin, cos, tan) = on_all_pools(
            || corpus::waves_of_singles(&table),
            |(a, b, c)| widened(&[a.as_slice(), b.as_slice(), c.as_slice()].concat()),
        );
        let each = |f: fn(f32) -> f32| x.iter().map(move |&x| f64::from(f(x)));
        same(&widened(sin.as_slice()), each(math::sin));
        same(&widened(cos.as_slice()), each(math::cos));
        same(&widened(tan.as_slice()), each(math::tan));
        let y = vector(&doubles);
        let found = on_all_pools(
            || corpus::of_both_widths(&table, &y),
            |y| y.as_slice().to_vec(),
        );
        let pairs = x.iter().zip(&doubles);
        let expected = pairs.map(|(&x, &y)| f64::from(math::sin(x)) * math::cos(y));
        same(found.as_slice(), expected);
    }
}

#[test]
fn neighbours_give_the_same_bits() {
    for x in LENGTHS.into_iter().flat_map(all) {
        let n = x.len();
        let found = on_all_pools(
            || corpus::neighbours(&vector(&x)),
            |y| y.as_slice().to_vec(),
        );
        let expected =
            (0..n).map(|i| math::sin(x[(i + n - 1) % n]) + math::cos(x[(i + 1).min(n - 1)]));
        same(found.as_slice(), expected);
    }
}

#[test]
fn what_is_the_same_in_a_row_is_computed_again_with_it() {
    for (n, m) in [(0, 3), (3, 0), (1, 1), (2, 7), (300, 400)] {
        for x in all(n * m) {
            for a in all(n) {
                let found = on_all_pools(
                    || corpus::by_rows(&matrix(n, m, &x), &vector(&a)),
                    |y| y.as_slice().to_vec(),
                );
                let expected = (0..n * m).map(|k| math::sin(a[k / m]) * x[k] + math::cos(x[k]));
                same(found.as_slice(), expected);
            }
        }
    }
}

#[test]
fn sums_count_nothing_twice() {
    for x in LENGTHS.into_iter().flat_map(finite) {
        let (sum, max, count) = on_all_pools(
            || corpus::totals(&vector(&x)),
            |&(sum, max, count)| vec![sum, max, count as f64],
        );
        close(&[sum], &[each(&x, math::sin).iter().sum()]);
        same(
            &[max],
            [each(&x, math::cos)
                .iter()
                .fold(f64::NEG_INFINITY, |a, b| a.max(*b))],
        );
        assert_eq!(count, x.iter().filter(|&&x| math::tan(x) > 0.5).count());
    }
    for n in LENGTHS {
        for x in [with(n, &NO_ANGLES, 70), with(n, &NO_ANGLES[2..], 40_000)] {
            let (sum, ..) = corpus::totals(&vector(&x));
            assert_eq!(sum.is_nan(), n > 0, "{n} angles");
        }
    }
}

#[test]
fn lanes_and_strips() {
    for (n, m) in [
        (0, 3),
        (3, 0),
        (1, 1),
        (2, 7),
        (7, 2),
        (3, 1000),
        (1000, 3),
        (250, 400),
    ] {
        for x in finite(n * m) {
            let x = matrix(n, m, &x);
            let at = |i: usize, j: usize| x.as_slice()[i * m + j];
            let rows = on_all_pools(|| corpus::of_rows(&x), |y| y.as_slice().to_vec());
            let expected: Vec<f64> = (0..n)
                .map(|i| (0..m).map(|j| math::cos(at(i, j))).sum())
                .collect();
            close(rows.as_slice(), &expected);
            let columns = on_all_pools(|| corpus::of_columns(&x), |y| y.as_slice().to_vec());
            let expected: Vec<f64> = (0..m)
                .map(|j| (0..n).map(|i| math::sin(at(i, j))).sum())
                .collect();
            close(columns.as_slice(), &expected);
        }
    }
}

/// A piece that is columns bets on all of its rows, and begins its columns of the shared table anew.
#[test]
fn columns_begin_anew() {
    let (rows, columns) = (3, 100_003);
    for x in finite(rows * columns) {
        let x = matrix(rows, columns, &x);
        let (_, stats) = pointful_runtime::stats::measure(|| corpus::of_columns(&x));
        assert!(stats.pieces > 8, "{stats:?}");
        assert_eq!(stats.accumulator_bytes, 8 * columns as u64);
        let sums = on_all_pools(|| corpus::of_columns(&x), |y| y.as_slice().to_vec());
        let at = |row: usize, column: usize| math::sin(x.as_slice()[row * columns + column]);
        let expected: Vec<f64> = (0..columns)
            .map(|column| (0..rows).map(|row| at(row, column)).sum())
            .collect();
        close(sums.as_slice(), &expected);
    }
}

#[test]
fn bins_and_folds_begin_anew() {
    for x in LENGTHS.into_iter().flat_map(finite) {
        let k = 5;
        let class: Vec<usize> = (0..x.len()).map(|n| n * n % k).collect();
        let table: Result<Table<Dyn, Dyn>, _> =
            Table::from_indices(Extent::new(x.len()), Extent::new(k), class.clone());
        let (table, x) = (table.expect("valid"), vector(&x));
        let (bins, total) = on_all_pools(
            || corpus::in_bins(&x, &table),
            |(bins, total)| [bins.as_slice(), &[*total]].concat(),
        );
        let mut expected = vec![0.0; k];
        for (&class, &x) in class.iter().zip(x.as_slice()) {
            expected[class] += math::sin(x);
        }
        close(bins.as_slice(), &expected);
        close(&[total], &[each(x.as_slice(), math::cos).iter().sum()]);

        let last = on_all_pools(|| corpus::last_wave(&x), |&y| vec![y]);
        let expected = x.as_slice().iter().rev().find(|x| **x > 0.0);
        same(&[last], [expected.map_or(-9.0, |&x| math::sin(x))]);

        let counts = on_all_pools(
            || corpus::histogram(&x, &vector(&[0.0; 9])),
            |y: &Table<Dyn, f64>| y.as_slice().to_vec(),
        );
        let mut expected = [0.0; 9];
        for &x in x.as_slice() {
            expected[((math::sin(x) + 1.0) * 4.0) as usize] += 1.0;
        }
        same(counts.as_slice(), expected);
    }
}

#[test]
fn nothing_false_is_decided_by_far_angles() {
    let y: Vec<f64> = (0..9).map(f64::from).collect();
    for x in LENGTHS.into_iter().flat_map(finite) {
        let x = vector(&x);
        let values = |y: &Table<Dyn, f64>| y.as_slice().to_vec();
        let found = on_all_pools(|| corpus::picked(&x, &vector(&y)), values);
        let at = |x: f64| y[((math::sin(x) + 1.0) * 4.0) as usize];
        same(found.as_slice(), each(x.as_slice(), at));
        same(
            on_all_pools(|| corpus::asserted(&x), values).as_slice(),
            each(x.as_slice(), math::sin),
        );
        let iterated = |x: f64| {
            let mut y = math::sin(x);
            while y.abs() > 0.6 {
                y = math::sin(y);
            }
            y
        };
        same(
            on_all_pools(|| corpus::iterated(&x), values).as_slice(),
            each(x.as_slice(), iterated),
        );
        let repeated = |x: f64| {
            let times = ((math::sin(x) + 1.0) * 4.0) as usize;
            (0..times).fold(x, |y, _| math::cos(y))
        };
        same(
            on_all_pools(|| corpus::repeated(&x), values).as_slice(),
            each(x.as_slice(), repeated),
        );
    }
    let message = panic_of(|| corpus::asserted(&vector(&[1.0, 1e22, f64::INFINITY])));
    assert_eq!(message, "the sine of inf is NaN");
    let message = panic_of(|| corpus::picked(&vector(&[1e22, 2.0]), &vector(&y[..1])));
    assert_eq!(message, "index 7 is out of range for `K` of 1 member");
}

#[test]
fn tables_in_place_are_changed_once() {
    let changed = |u: &Table<Dyn, f64>| {
        let mut u = u.clone();
        corpus::in_place(&mut u);
        u
    };
    maps(changed, |x| x + math::sin(x));
    maps(
        |u| corpus::given_away(u.clone()),
        |x| math::sin(x) * math::cos(x),
    );
    maps(
        |x| corpus::overwritten(vector(&vec![5.0; x.as_slice().len()]), x),
        math::sin,
    );
    maps(
        |x| corpus::overwritten_in_part(vector(&vec![5.0; x.as_slice().len()]), x),
        |x| if math::sin(x) > 0.5 { x } else { 5.0 },
    );
    for x in LENGTHS.into_iter().flat_map(finite) {
        let n = x.len();
        let found = on_all_pools(
            || corpus::steps(vector(&x), 0.25),
            |u| u.as_slice().to_vec(),
        );
        let mut u = x.clone();
        for _ in 0..3 {
            u = (0..n)
                .map(|i| u[i] + 0.25 * math::sin(u[(i + n - 1) % n] - u[i]))
                .collect();
        }
        same(found.as_slice(), u);
    }
}

#[test]
fn derivatives() {
    for x in LENGTHS.into_iter().flat_map(finite) {
        let x = vector(&x);
        let (value, gradient) = on_all_pools(
            || corpus::energy_grad(&x),
            |(value, gradient)| [&[*value], gradient.as_slice()].concat(),
        );
        let terms = each(x.as_slice(), |x| 0.5 * math::sin(x) * math::tan(x));
        let (sum, size) = terms
            .iter()
            .fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        assert!(
            (value - sum).abs() <= 1e-12 * (1.0 + size),
            "{value}, not {sum}"
        );
        let slope = |x: f64| {
            let (sin, cos) = (math::sin(x), math::cos(x));
            0.5 * (sin + sin / (cos * cos))
        };
        for (&found, &x) in gradient.as_slice().iter().zip(x.as_slice()) {
            let expected = slope(x);
            assert!(
                (found - expected).abs() <= 1e-10 * (1.0 + expected.abs()),
                "the derivative at {x:e} is {found}, not {expected}"
            );
        }
        let d = vector(&small(x.as_slice().len()));
        let values = |y: &Table<Dyn, f64>| y.as_slice().to_vec();
        let product = || x.as_slice().iter().zip(d.as_slice());
        let expected: Vec<f64> = product().map(|(&x, d)| math::cos(x) * d).collect();
        same(
            on_all_pools(|| corpus::wave_vjp(&x, &d), values).as_slice(),
            expected.iter().copied(),
        );
        same(
            on_all_pools(|| corpus::wave_jvp(&x, &d), values).as_slice(),
            expected,
        );
    }
}

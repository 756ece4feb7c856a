//! What bodies say of their sets, their constants and their failures, compiled as users compile it.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::prelude::*;

fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run))
        .err()
        .expect("it must panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

fn ramp(n: usize) -> Table<Dyn, f64> {
    Table::from_fn(Extent::new(n), |Dyn(k)| k as f64)
}

const WIDTH: usize = 3;

#[pointful]
fn of_three(x: &Table<Fin<3>, f64>) -> f64 {
    sum(x)
}

#[pointful]
fn of_a_known_width(x: &Table<Fin<WIDTH>, f64>, y: &Table<Fin<3>, f64>) -> Table<Fin<WIDTH>, f64> {
    let s = of_three(x);
    for i in _ {
        x[i] + y[i] * s
    }
}

#[test]
fn a_constant_may_be_a_number() {
    let (x, y) = (Table::from([1.0, 2.0, 3.0]), Table::from([1.0, 0.0, -1.0]));
    assert_eq!(of_a_known_width(&x, &y).as_slice(), [7.0, 2.0, -3.0]);
}

const LOWEST: f64 = -1.0;

// A variable may be named in the message and nowhere else.
#[pointful]
fn logarithms<N: IndexSet>(x: &Table<N, f64>, run: usize) -> Table<N, f64> {
    for i in N {
        assert!(
            x[i] > LOWEST,
            "run {run}: {:?} at {} is not above {LOWEST}",
            x[i],
            i.ordinal()
        );
        x[i].ln_1p()
    }
}

#[pointful]
fn total_logarithm<N: IndexSet>(x: &Table<N, f64>, run: usize) -> f64 {
    sum(logarithms(x, run))
}

#[test]
fn failures_show_values() {
    for n in [0, 1, 7, 100_000] {
        let x = ramp(n);
        assert_eq!(logarithms(&x, 4).len(), n);
        let slope = grad!(total_logarithm)(&x, 4);
        assert_eq!(
            slope.as_slice(),
            x.iter().map(|x| 1.0 / (1.0 + x)).collect::<Vec<_>>()
        );
    }
    let mut x = ramp(100_000);
    x[Dyn(70_001)] = -2.5;
    let expected = "run 4: -2.5 at 70001 is not above -1";
    assert_eq!(panic_of(|| logarithms(&x, 4)), expected);
    assert_eq!(panic_of(|| grad!(total_logarithm)(&x, 4)), expected);
}

#[pointful]
fn chosen(steep: bool, w: f64) -> impl Fn(f64) -> f64 {
    if steep {
        move |x| w * x * x
    } else {
        move |x| w * x
    }
}

#[pointful]
fn slopes<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 {
    sum(for i in N {
        chosen(x[i] > 2.0, w)(x[i])
    })
}

#[pointful]
fn applied(given: impl Fn(f64) -> f64, own: bool, x: f64) -> f64 {
    let f = if own { |y| y + 1.0 } else { given };
    f(f(x))
}

#[test]
fn branches_choose_functions() {
    let (line, square) = (chosen(false, 3.0), chosen(true, 3.0));
    assert_eq!((line(2.0), square(2.0)), (6.0, 12.0));
    assert_eq!(slopes(&ramp(5), 2.0), 2.0 * (1.0 + 2.0 + 9.0 + 16.0));
    let (by_x, by_w) = grad!(slopes)(&ramp(5), 2.0);
    assert_eq!(
        (by_x.as_slice(), by_w),
        (&[2.0, 2.0, 2.0, 12.0, 16.0][..], 28.0)
    );
    assert_eq!(applied(|y| y * 3.0, false, 2.0), 18.0);
    assert_eq!(applied(|y| y * 3.0, true, 2.0), 4.0);
}

#[pointful]
fn scaled<N: IndexSet>(mut u: Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N {
        u[i] *= a;
    }
    u
}

#[pointful]
fn scaled_behind<N: IndexSet>(u: &mut Table<N, f64>, a: f64) {
    for i in N {
        u[i] *= a;
    }
}

#[test]
fn owned_tables_are_changed_in_place() {
    for n in [0, 1, 2, 7, 1000, 100_000] {
        let (mut u, expected) = (ramp(n), ramp(n));
        let expected: Vec<f64> = expected.iter().map(|x| 2.5 * x).collect();
        scaled_behind(&mut u, 2.5);
        assert_eq!(u.as_slice(), expected);
        let u = ramp(n);
        let address = u.as_slice().as_ptr();
        let (u, stats) = pointful::stats::measure(|| scaled(u, 2.5));
        assert_eq!(u.as_slice(), expected);
        assert_eq!(stats.allocations, 0);
        assert_eq!(u.as_slice().as_ptr(), address);
    }
}

#[pointful]
fn sets<N: IndexSet>(n: Extent<N>, k: usize) -> (usize, usize, Table<(N, bool), usize>) {
    let last = N::from_ordinal(size(N) - 1, n);
    let numbers = for (i, b) in (N, bool) {
        if i == last {
            (i, b).ordinal() + 1000
        } else {
            b.ordinal()
        }
    };
    (
        size((bool, Fin::<3>)),
        bool::from_ordinal(k).ordinal(),
        numbers,
    )
}

#[test]
fn sets_have_sizes_and_members_numbers() {
    let (size, own, numbers) = sets(Extent::<Dyn>::new(2), 1);
    assert_eq!(
        (size, own, numbers.as_slice()),
        (6, 1, &[0, 1, 1002, 1003][..])
    );
    assert!(panic_of(|| sets(Extent::<Dyn>::new(2), 2)).contains('2'));
}

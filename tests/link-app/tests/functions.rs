//! Functions that take and give functions: called from plain Rust with any closure, inlined where
//! they are known.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};

use pointful::prelude::*;
use pointful_link_lib::{Channel, Row};

const EXTENTS: [usize; 5] = [0, 1, 2, 7, 100_000];

#[pointful]
fn total<N: IndexSet>(f: impl Fn(f64) -> f64, x: &Table<N, f64>) -> f64 {
    sum(for n in N {
        f(x[n])
    })
}

#[pointful]
fn mapped<N: IndexSet, T: Float, F: Fn(T) -> T>(f: F, x: &Table<N, T>) -> Table<N, T> {
    for n in N {
        f(x[n])
    }
}

fn ramp(n: usize) -> Table<Dyn, f64> {
    Table::from_fn(Extent::new(n), |Dyn(k)| k as f64)
}

#[test]
fn any_closure_from_plain_rust() {
    for n in EXTENTS {
        let x = ramp(n);
        // Neither `Sync` nor `Send`.
        let calls = Cell::new(0);
        let found = total(
            |x| {
                calls.set(calls.get() + 1);
                x * 2.0
            },
            &x,
        );
        let doubled = n.saturating_sub(1) as f64 * n as f64;
        assert_eq!((found, calls.get()), (doubled, n));
        let factor = RefCell::new(vec![3.0]);
        let scaled = mapped(|x: f64| x * factor.borrow()[0], &x);
        assert!(scaled.iter().zip(x.iter()).all(|(s, x)| *s == 3.0 * x));
    }
    assert_eq!(total(f64::sqrt, &Table::from(vec![4.0, 9.0])), 5.0);
    let single = Table::<Dyn, f32>::from(vec![1.0, 2.0]);
    assert_eq!(mapped(|x: f32| -x, &single).as_slice(), [-1.0, -2.0]);
}

#[pointful]
fn root(f: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let mut a = low;
    let mut b = high;
    while b - a > 1e-12 {
        let middle = 0.5 * (a + b);
        if f(middle) < 0.0 {
            a = middle;
        } else {
            b = middle;
        }
    }
    0.5 * (a + b)
}

#[pointful]
fn twice_by_pointer(f: fn(f64) -> f64, x: f64) -> f64 {
    f(f(x))
}

#[test]
fn in_loops_by_reference_and_by_pointer() {
    let two = 2.0;
    assert!((root(&|x| x * x - two, 0.0, 2.0) - 2.0_f64.sqrt()).abs() < 1e-11);
    assert_eq!(twice_by_pointer(f64::abs, -3.0), 3.0);
}

/// A point in the plane.
#[pointful]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

#[pointful]
fn turned(by: impl Fn(Point, f64) -> Point, n: usize, start: Point) -> Point {
    let mut at = start;
    for k in 0..n {
        at = by(at, k as f64);
    }
    at
}

#[pointful]
fn chosen<N: IndexSet>(
    pick: impl Fn(N, f64) -> (Channel, bool),
    x: &Table<N, f64>,
    weight: &Table<Channel, f64>,
) -> Table<N, f64> {
    for n in N {
        let (channel, keep) = pick(n, x[n]);
        if keep { weight[channel] * x[n] } else { -1.0 }
    }
}

#[pointful]
fn neighbour<N: IndexSet>(next: impl Fn(N) -> N, x: &Table<N, f64>) -> Table<N, f64> {
    for n in N {
        x[next(n)]
    }
}

#[pointful]
fn constant(f: impl Fn() -> f64, g: impl Fn(usize, i64, bool, f32) -> u32) -> f64 {
    f() + g(1, 2, true, 4.0) as f64
}

#[test]
fn all_that_scalars_make() {
    let end = turned(
        |p, k| Point {
            x: p.y + k,
            y: -p.x,
        },
        3,
        Point { x: 1.0, y: 2.0 },
    );
    assert_eq!(end, Point { x: 0.0, y: 0.0 });
    let x = Table::from_fn(Extent::<Row>::new(3), |row| {
        row.ordinal(Extent::new(3)) as f64 + 1.0
    });
    let weight = Table::from_fn(Extent::<Channel>::default(), |c| match c {
        Channel::R => 10.0,
        Channel::G => 20.0,
        Channel::B => 30.0,
    });
    let found = chosen(
        |row, x| {
            let channel = if x > 1.0 { Channel::B } else { Channel::G };
            (channel, row.ordinal(Extent::new(3)) != 1)
        },
        &x,
        &weight,
    );
    assert_eq!(found.as_slice(), [20.0, -1.0, 90.0]);
    let extent = Extent::<Row>::new(3);
    let back = |row: Row| Row::from_ordinal((row.ordinal(extent) + 2) % 3, extent);
    assert_eq!(neighbour(back, &x).as_slice(), [3.0, 1.0, 2.0]);
    let sum = |a: usize, b: i64, c: bool, d: f32| a as u32 + b as u32 + u32::from(c) + d as u32;
    assert_eq!(constant(|| 0.5, sum), 8.5);
}

#[test]
#[should_panic(expected = "no member")]
fn what_is_no_member_is_refused() {
    let far = Extent::<Row>::new(9);
    let x = Table::from_fn(Extent::<Row>::new(3), |_| 1.0);
    assert!(neighbour(|_| Row::from_ordinal(7, far), &x).is_empty());
}

#[pointful]
fn guarded<N: IndexSet>(f: impl Fn(f64) -> f64, x: &Table<N, f64>) -> Table<N, f64> {
    for n in N {
        if x[n] > 0.0 { f(x[n]) } else { 0.0 }
    }
}

#[test]
fn is_not_called_where_it_is_not_asked_for() {
    let positive = |x: f64| {
        assert!(x > 0.0);
        x.ln()
    };
    let x = Table::<Dyn, _>::from(vec![1.0, 0.0, -1.0]);
    assert_eq!(guarded(positive, &x).as_slice(), [0.0; 3]);
}

#[test]
#[should_panic(expected = "the caller's own words")]
fn a_panic_comes_through() {
    total(|_| panic!("the caller's own words"), &ramp(10));
}

#[pointful]
fn adder(a: f64) -> impl Fn(f64) -> f64 {
    move |x| x + a
}

#[pointful]
fn polynomial<N: IndexSet, T: Float>(coefficients: &Table<N, T>) -> impl Fn(T) -> T {
    move |x| {
        sum(for n in N {
            coefficients[n] * x.powi(n.ordinal() as i32)
        })
    }
}

#[pointful]
fn composed(f: impl Fn(f64) -> f64, g: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    move |x| g(f(x))
}

#[pointful]
fn scaled<N: IndexSet>(mut by: Table<N, f64>) -> impl Fn(&Table<N, f64>, f64) -> Table<N, f64> {
    by = by * 2.0;
    move |x, offset| x * by + offset
}

#[test]
fn functions_that_are_returned() {
    let add = adder(2.0);
    assert_eq!((add(1.0), add(5.0)), (3.0, 7.0));
    let coefficients = Table::<Dyn, _>::from(vec![1.0, 2.0, 3.0]);
    let p = polynomial(&coefficients);
    assert_eq!([0.0, 1.0, 2.0].map(p), [1.0, 6.0, 17.0]);
    let single = Table::<Dyn, _>::from(vec![1.0_f32, 2.0]);
    assert_eq!(polynomial(&single)(3.0_f32), 7.0);
    let f = composed(add, f64::sqrt);
    assert_eq!((f(7.0), f(14.0)), (3.0, 4.0));
    let x = Table::<Dyn, _>::from(vec![1.0, 2.0, 3.0]);
    let scale = scaled(x.clone());
    assert_eq!(scale(&x, 1.0).as_slice(), [3.0, 9.0, 19.0]);
    assert_eq!(scale(&x, 0.0).as_slice(), [2.0, 8.0, 18.0]);
}

#[pointful]
fn square(x: f64) -> f64 {
    x * x
}

#[pointful]
fn cube(x: f64) -> f64 {
    x * x * x
}

#[pointful]
fn of_a_table(x: f64) -> f64 {
    let powers = [square, cube];
    sum(for k in Fin::<2> {
        powers[k](x)
    })
}

#[pointful]
fn by_index(x: &Table<Dyn, f64>) -> f64 {
    let shifts = for i in _ {
        move |y: f64| y * x[i] + i.ordinal() as f64
    };
    sum(for i in _ {
        shifts[i](x[i])
    })
}

#[pointful]
fn inlined(x: f64, a: f64) -> f64 {
    let add = adder(a);
    let both = composed(add, |y| y * a);
    composed(both, square)(x) + of_a_table(x)
}

#[pointful]
fn power(n: usize) -> impl Fn(f64) -> f64 {
    move |x| {
        let mut y = 1.0;
        for _k in 0..n {
            y *= x;
        }
        y
    }
}

#[pointful]
fn loss<N: IndexSet>(w: &Table<N, f64>, x: f64) -> f64 {
    let p = polynomial(w);
    total(|y| p(y) * x, w) + power(3)(x)
}

#[test]
fn derivatives_through_what_is_inlined() {
    assert_eq!(of_a_table(2.0), 12.0);
    assert_eq!(grad!(of_a_table)(2.0), 16.0);
    let x = Table::<Dyn, _>::from(vec![1.0, 2.0, 3.0]);
    assert_eq!(by_index(&x), 14.0 + 3.0);
    assert_eq!(grad!(by_index)(&x).as_slice(), [2.0, 4.0, 6.0]);
    // ((x + a) a)² + x² + x³
    assert_eq!(inlined(1.0, 2.0), 36.0 + 2.0);
    assert_eq!(grad!(inlined)(1.0, 2.0), (24.0 + 5.0, 2.0 * 6.0 * 5.0));
    let (slope, by_x) = grad!(loss)(&x, 0.5);
    let step = 1e-6;
    for at in 0..3 {
        let moved = |by: f64| {
            let mut x = x.clone();
            x.as_mut_slice()[at] += by;
            loss(&x, 0.5)
        };
        let difference = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((difference - slope.as_slice()[at]).abs() < 1e-6 * difference.abs());
    }
    let difference = (loss(&x, 0.5 + step) - loss(&x, 0.5 - step)) / (2.0 * step);
    assert!((difference - by_x).abs() < 1e-6 * by_x.abs());
}

#[pointful]
fn newton<T: Float>(f: impl Fn(T) -> T, start: T) -> T {
    let mut x = start;
    for _step in 0..20 {
        x -= f(x) / grad!(f)(x);
    }
    x
}

#[pointful]
fn root_of(a: f64) -> f64 {
    newton(|x| x * x - a, 1.0)
}

#[test]
fn a_derivative_of_what_only_callers_know() {
    assert!((root_of(2.0) - 2.0_f64.sqrt()).abs() < 1e-12);
    assert!((grad!(root_of)(2.0) - 0.5 / 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn is_explained() {
    let text = explain!(total);
    assert!(text.contains("call 0 f64"), "{text}");
}

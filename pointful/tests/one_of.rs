//! `Option` and `Either` as parameters and results: of numbers, members, tuples and structs, and
//! in derivatives.
#![deny(warnings)]

use pointful::prelude::*;

#[derive(IndexSet, Clone, Copy, Debug, PartialEq)]
struct Row(usize);

#[pointful]
#[derive(Debug, PartialEq)]
struct Pair {
    left: f64,
    count: i64,
}

#[pointful]
fn scaled(x: f64, by: Option<f64>) -> f64 {
    match by {
        Some(by) => x * by * by,
        None => x,
    }
}

#[pointful]
fn root(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x.sqrt()) } else { None }
}

#[pointful]
fn element<N: IndexSet>(x: &Table<N, f64>, at: usize) -> Option<f64> {
    x.get(at)
}

#[pointful]
fn chosen(x: &Table<Row, f64>, at: Option<Row>) -> (Option<Row>, f64) {
    let best = if x.len() > 0 { Some(argmax(x)) } else { None };
    (best, at.map_or(0.0, |r| x[r]))
}

#[pointful]
fn either(e: Either<f64, (i64, f32)>) -> Either<(f64, bool), i64> {
    match e {
        Either::Left(x) => Either::Left((x * 2.0, x > 1.0)),
        Either::Right((n, y)) => Either::Right(n + y as i64),
    }
}

#[pointful]
fn cost(x: f64, e: &Either<f64, (i64, f64)>) -> f64 {
    match e {
        Either::Left(y) => x * y,
        Either::Right((n, z)) => x * n as f64 * z * z,
    }
}

#[pointful]
fn nested(x: Option<Option<f64>>, p: Option<Pair>) -> (Option<Option<f64>>, Option<Pair>) {
    let y = x.map(|inner| inner.map(|x| x + 1.0));
    let q = p.map(|p| Pair {
        left: -p.left,
        count: p.count + 1,
    });
    (y, q)
}

#[pointful]
fn generic<T: Float>(x: Option<T>, y: T) -> Option<T> {
    match x {
        Some(x) => Some(x * y),
        None => None,
    }
}

#[pointful]
fn looped<N: IndexSet>(x: &Table<N, f64>, start: Option<f64>) -> Option<f64> {
    let mut best = start;
    for i in N {
        best = match best {
            Some(b) => Some(if x[i] > b { x[i] } else { 0.5 * b }),
            None => {
                if x[i] > 0.0 {
                    Some(x[i])
                } else {
                    None
                }
            }
        };
    }
    best
}

#[pointful]
fn through(x: f64, by: Option<f64>) -> f64 {
    let (a, b) = grad!(scaled)(x, by);
    a + b.unwrap_or(0.0)
}

fn rows(values: &[f64]) -> Table<Row, f64> {
    Table::from_vec(Extent::new(values.len()), values.to_vec()).expect("its length")
}

fn list(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

#[test]
fn parameters_and_results() {
    assert_eq!((scaled(3.0, Some(2.0)), scaled(3.0, None)), (12.0, 3.0));
    assert_eq!((root(4.0), root(-4.0)), (Some(2.0), None));
    assert_eq!(element(&list(&[1.0, 2.0]), 1), Some(2.0));
    assert_eq!(element(&list(&[]), 0), None);
    let x = rows(&[1.0, 3.0, 2.0]);
    let (two, one) = (
        Row::from_ordinal(2, x.extent()),
        Row::from_ordinal(1, x.extent()),
    );
    assert_eq!(chosen(&x, Some(two)), (Some(one), 2.0));
    assert_eq!(chosen(&rows(&[]), None), (None, 0.0));
    assert_eq!(either(Either::Left(1.5)), Either::Left((3.0, true)));
    assert_eq!(either(Either::Right((2, 3.5))), Either::Right(5));
    let pair = Some(Pair {
        left: 1.5,
        count: 2,
    });
    let made = Some(Pair {
        left: -1.5,
        count: 3,
    });
    assert_eq!(nested(Some(Some(1.0)), pair), (Some(Some(2.0)), made));
    assert_eq!(nested(Some(None), None), (Some(None), None));
    assert_eq!(nested(None, None), (None, None));
    assert_eq!(
        (generic(Some(2.0_f32), 3.0), generic(None, 1.0_f64)),
        (Some(6.0), None)
    );
    let x = list(&[-1.0, 2.0, 1.0]);
    assert_eq!(
        (looped(&x, None), looped(&list(&[]), None)),
        (Some(1.0), None)
    );
    assert_eq!(looped(&x, Some(8.0)), Some(1.0_f64.max(8.0 * 0.125)));
}

#[test]
fn a_derivative_is_of_the_kind_of_its_value() {
    assert_eq!(grad!(scaled)(3.0, Some(2.0)), (4.0, Some(12.0)));
    assert_eq!(grad!(scaled)(3.0, None), (1.0, None));
    assert_eq!(grad!(scaled, wrt = by)(3.0, Some(2.0)), Some(12.0));
    assert_eq!(vjp!(root)(4.0, Some(8.0)), (Some(2.0), 2.0));
    assert_eq!(vjp!(root)(-4.0, None), (None, 0.0));
    // A cotangent of the other kind is zero.
    assert_eq!(vjp!(root)(4.0, None), (Some(2.0), 0.0));
    assert_eq!(jvp!(root)(4.0, 8.0), (Some(2.0), Some(2.0)));
    assert_eq!(jvp!(root)(-4.0, 8.0), (None, None));
    assert_eq!(jvp!(scaled)(3.0, Some(2.0), 1.0, Some(1.0)).1, 16.0);
    assert_eq!(
        grad!(cost)(3.0, &Either::Left(2.0)),
        (2.0, Either::Left(3.0))
    );
    let right = Either::Right((2, 5.0));
    assert_eq!(grad!(cost)(3.0, &right), (50.0, Either::Right((2, 60.0))));
    let (value, by) = value_and_grad!(cost, wrt = e)(3.0, &right);
    assert_eq!((value, by), (150.0, Either::Right((2, 60.0))));
    assert_eq!((through(3.0, Some(2.0)), through(3.0, None)), (16.0, 1.0));
    assert_eq!(grad!(through, wrt = x)(3.0, Some(2.0)), 4.0);
}

#[test]
fn loops_that_carry_them_have_derivatives() {
    let x = list(&[-1.0, 2.0, 1.0]);
    let (value, (by_x, by_start)) = vjp!(looped)(&x, Some(8.0), Some(4.0));
    assert_eq!(
        (value, by_x.as_slice(), by_start),
        (Some(1.0), &[0.0; 3][..], Some(0.5))
    );
    let (value, (by_x, by_start)) = vjp!(looped)(&x, None, Some(4.0));
    assert_eq!(
        (value, by_x.as_slice(), by_start),
        (Some(1.0), &[0.0, 2.0, 0.0][..], None)
    );
}

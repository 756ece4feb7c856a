//! `try_call!`: what does not fit together is an error to handle.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::Error;
use pointful::prelude::*;
use pointful_link_lib::net;

#[pointful]
fn rows<N: IndexSet, M: IndexSet>(
    x: &Table<(N, M), f64>,
    y: &Table<M, f64>,
    limit: f64,
) -> Table<N, f64> {
    for n in N {
        let mut s = 0.0;
        for m in M {
            s += x[n][m] * y[m];
            assert!(s.abs() < limit, "row {} is {s:.2}", n.ordinal());
        }
        s
    }
}

#[pointful]
fn inner<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    sum(x * y)
}

#[pointful]
fn raise<N: IndexSet, T: Float>(x: &mut Table<N, T>, y: &Table<N, T>) {
    for n in N {
        x[n] += y[n];
    }
}

#[pointful]
fn twice(x: f64) -> (f64, Table<Fin<2>, f64>) {
    (x, [x, x])
}

fn vector(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

#[test]
fn what_fits_gives_the_result() {
    let extent = Extent::<(Dyn, Dyn)>::new((2, 2));
    let x = Table::from_vec(extent, vec![1.0, 2.0, 3.0, 4.0]).expect("four");
    let ones = vector(&[1.0, 1.0]);
    let result = try_call!(rows)(&x, &ones, 10.0).expect("they fit");
    assert_eq!(result.as_slice(), [3.0, 7.0]);
    assert_eq!(try_call!(twice)(1.0).map(|(x, _)| x), Ok(1.0));
    let (by_x, by_y) = try_call!(grad!(inner))(&ones, &vector(&[2.0, 3.0])).expect("they fit");
    assert_eq!(
        (by_x.as_slice(), by_y.as_slice()),
        (&[2.0, 3.0][..], &[1.0, 1.0][..])
    );
    // What else may go wrong panics.
    let panic = catch_unwind(AssertUnwindSafe(|| try_call!(rows)(&x, &ones, 5.0)));
    assert!(panic.is_err());
    let _: fn(&net::Net<Fin<2>, f64>, &net::Batch<Dyn, Fin<2>, f64>, &Table<Dyn, f64>) -> _ =
        try_call!(net::loss);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (two, one, none) = (vector(&[1.0, 2.0]), vector(&[1.0]), vector(&[]));
    let call = try_call!(inner);
    let fits = [(&two, &two), (&two, &one), (&none, &one), (&none, &none)];
    assert_eq!(
        fits.map(|(x, y)| call(x, y).is_ok()),
        [true, false, false, true]
    );
    let attempt = || {
        let value = try_call!(inner)(&two, &one)?;
        Ok::<f64, Error>(value)
    };
    let error = attempt().expect_err("they do not fit");
    assert_eq!(
        error.to_string(),
        "`inner`: parameters `x` and `y` disagree on the size of `N`: 2 in `x`, 1 in `y`"
    );
    let error = try_call!(grad!(inner, wrt = y))(&two, &one).expect_err("they do not fit");
    assert!(error.to_string().starts_with("`grad_inner`"), "{error}");
    // Nothing has been changed.
    let mut changed = two.clone();
    assert!(try_call!(raise)(&mut changed, &one).is_err());
    assert_eq!(changed, two);
    try_call!(raise)(&mut changed, &two).expect("they fit");
    assert_eq!(changed.as_slice(), [2.0, 4.0]);
}

//! Generic arguments that a call writes.

use pointful::prelude::*;

#[pointful]
fn append<A: IndexSet, B: IndexSet>(
    x: &Table<A, f64>,
    y: &Table<B, f64>,
) -> Table<Either<A, B>, f64> {
    for e in Either::<A, B> {
        match e {
            Either::Left(a) => x[a],
            Either::Right(b) => y[b],
        }
    }
}
#[pointful]
fn f(x: &Table<Fin<2>, f64>, y: &Table<Fin<1>, f64>) -> Table<Either<Fin<2>, Fin<1>>, f64> {
    append::<Fin<2>, Fin<1>>(x, y)
}
#[pointful]
fn g(x: &Table<Fin<2>, f64>, y: &Table<Fin<1>, f64>) -> Table<Either<Fin<2>, Fin<1>>, f64> {
    append::<_, Fin<1>>(x, y)
}
#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x)
}
#[pointful]
fn rows(x: &Table<(Fin<3>, Fin<2>), f64>) -> Table<Fin<3>, f64> {
    total::<Fin<2>>(x)
}
#[pointful]
fn power<const K: usize, T: Float>(x: T) -> T {
    let mut y = 1.0;
    for _i in Fin::<K> {
        y *= x;
    }
    y
}
#[pointful]
fn cube(x: f32) -> f32 {
    power::<3, f32>(x) + power::<{ 2 }, _>(x)
}
#[pointful]
fn mapped(x: &Table<Fin<2>, f64>) -> Table<Fin<2>, f64> {
    let p = power::<2, f64>;
    for i in _ {
        p(x[i])
    }
}

#[test]
fn sets_may_be_written() {
    let (x, y) = (Table::from([1.0, 2.0]), Table::from([3.0]));
    assert_eq!(f(&x, &y).as_slice(), [1.0, 2.0, 3.0]);
    assert_eq!(g(&x, &y).as_slice(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_set_that_is_written_says_what_is_repeated() {
    let x = Table::<(Fin<3>, Fin<2>), f64>::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(rows(&x).as_slice(), [3.0, 7.0, 11.0]);
}

#[test]
fn lengths_and_floats_may_be_written() {
    assert_eq!((cube(2.0), grad!(cube)(2.0)), (12.0, 16.0));
    assert_eq!(mapped(&Table::from([2.0, 3.0])).as_slice(), [4.0, 9.0]);
}

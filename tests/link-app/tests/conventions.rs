//! What the guide promises of numbers, and of the functions that transformations take.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::prelude::*;

#[pointful]
fn quotients(a: i64, b: i64) -> (i64, i64) {
    (a / b, a % b)
}

#[pointful]
fn by_minus_one(a: i32) -> i32 {
    a / -1
}

#[pointful]
fn quotient(a: i32, b: i32) -> i32 {
    a / b
}

#[pointful]
fn remainder(a: i32, b: i32) -> i32 {
    a % b
}

#[pointful]
fn euclidean<N: IndexSet>(a: &Table<N, i64>, b: i64) -> Table<N, i64> {
    a.div_euclid(b)
}

#[pointful]
fn euclidean_rest<N: IndexSet>(a: &Table<N, i64>, b: i64) -> Table<N, i64> {
    a.rem_euclid(b)
}

#[pointful]
fn wrapping<N: IndexSet>(a: &Table<N, i64>, b: &Table<N, i64>) -> (Table<N, i64>, Table<N, i64>) {
    (a.wrapping_div(b), a.wrapping_rem(b))
}

#[pointful]
fn magnitudes(a: i64) -> (i64, i64) {
    (a.abs(), -a)
}

#[pointful]
fn exclusive(a: i64, b: u8) -> (i64, u8) {
    (a ^ 5, b ^ 3)
}

fn panics<T>(f: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("a panic");
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => (*payload.downcast_ref::<&str>().expect("a text")).to_owned(),
    }
}

#[test]
fn the_least_integer_by_minus_one_overflows() {
    assert_eq!(quotients(7, -2), (-3, 1));
    assert_eq!(quotients(i64::MIN, 1), (i64::MIN, 0));
    assert_eq!(quotients(-i64::MAX, -1), (i64::MAX, 0));
    let table = Table::<Dyn, _>::from(vec![1, i64::MIN, 2]);
    let overflows = [
        panics(|| quotients(i64::MIN, -1)),
        panics(|| by_minus_one(i32::MIN)),
        panics(|| quotient(i32::MIN, -1)),
        panics(|| remainder(i32::MIN, -1)),
        panics(|| euclidean(&table, -1)),
        panics(|| euclidean_rest(&table, -1)),
    ];
    for text in overflows {
        assert!(text.contains("divided by -1, which overflows"), "{text}");
    }
    assert_eq!(by_minus_one(3), -3);
    assert_eq!(euclidean(&table, 2).as_slice(), [0, i64::MIN / 2, 1]);
    assert!(panics(|| quotient(1, 0)).contains("divided by zero"));
    assert_eq!(magnitudes(i64::MIN), (i64::MIN, i64::MIN));
    assert_eq!(exclusive(6, 1), (6 ^ 5, 1 ^ 3));
}

#[test]
fn wrapping_methods_wrap() {
    let (a, b) = (
        Table::<Dyn, _>::from(vec![i64::MIN, i64::MIN, 7, -7]),
        Table::<Dyn, _>::from(vec![-1, 3, -1, 2]),
    );
    let (quotients, rests) = wrapping(&a, &b);
    for k in 0..4 {
        let (a, b) = (a.as_slice()[k], b.as_slice()[k]);
        assert_eq!(quotients.as_slice()[k], a.wrapping_div(b));
        assert_eq!(rests.as_slice()[k], a.wrapping_rem(b));
    }
    let zero = Table::<Dyn, _>::from(vec![0; 4]);
    assert!(panics(|| wrapping(&a, &zero)).contains("divided by zero"));
}

#[pointful]
fn number_of<N: IndexSet, M: IndexSet>(_n: Extent<N>, _m: Extent<M>) -> usize {
    size((N, M))
}

#[pointful]
fn number_of_three<N: IndexSet>(_n: Extent<N>) -> usize {
    size((N, Fin::<4>, N))
}

#[pointful]
fn ones<N: IndexSet, M: IndexSet>(n: Extent<N>, m: Extent<M>) -> f64 {
    sum(for (_i, _j) in (n, m) {
        1.0
    })
}

#[pointful]
fn chosen<N: IndexSet, M: IndexSet>(_n: Extent<N>, _m: Extent<M>, all: bool) -> usize {
    if all { size((N, M)) } else { size(N) }
}

#[pointful]
fn of_table<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> (usize, f64) {
    (
        size((N, M)),
        mean(for (i, j) in _ {
            x[i][j]
        }),
    )
}

#[test]
fn products_that_cannot_be_counted() {
    let e = |n: usize| Extent::<Dyn>::new(n);
    let huge = 1 << 32;
    for text in [
        panics(|| number_of(e(huge), e(huge))),
        panics(|| number_of_three(e(huge / 2))),
        panics(|| ones(e(1 << 62), e(8))),
        panics(|| chosen(e(huge), e(huge), true)),
    ] {
        assert!(text.contains("more members than can be counted"), "{text}");
    }
    assert_eq!(number_of(e(huge), e(huge - 1)), huge * (huge - 1));
    assert_eq!(number_of(e(huge), e(0)), 0);
    assert_eq!(number_of(e(0), e(huge)), 0);
    assert_eq!(number_of_three(e(3)), 36);
    assert_eq!(ones(e(3), e(5)), 15.0);
    assert_eq!(ones(e(0), e(5)), 0.0);
    assert_eq!(chosen(e(huge), e(huge), false), huge);
    let table = Table::<(Dyn, Dyn), _>::from_vec(Extent::<(Dyn, Dyn)>::new((2, 2)), vec![1.0; 4]);
    assert_eq!(of_table(&table.unwrap()), (4, 1.0));
}

mod inner {
    use pointful::prelude::*;

    /// Generic in everything.
    #[pointful]
    pub fn total<const K: usize, N: IndexSet, T>(x: &Table<(N, Fin<K>), T>, by: T) -> T
    where
        T: Float,
    {
        sum(x) * by
    }

    /// Of a name that its parameter has.
    #[pointful]
    pub fn own(own: f64) -> f64 {
        own * own
    }

    define! { pub fn slope = grad!(own); }
}

use inner::{own, slope, total};
use inner::{own as renamed, total as everything};

#[test]
fn functions_are_found_by_their_names() {
    let x = Table::<(Dyn, Fin<2>), f64>::from_vec(
        Extent::<(Dyn, Fin<2>)>::new((1, ())),
        vec![1.0, 2.0],
    )
    .unwrap();
    assert_eq!(grad!(total, wrt = by)(&x, 2.0), 3.0);
    assert_eq!(grad!(inner::total, wrt = by)(&x, 2.0), 3.0);
    assert_eq!(vjp!(everything)(&x, 2.0, 1.0).0, 6.0);
    assert_eq!(grad!(own)(3.0), 6.0);
    assert_eq!(grad!(renamed)(3.0), 6.0);
    assert_eq!(grad!(slope)(3.0), 2.0);
    assert_eq!(linearize!(own)(3.0).1(2.0), 12.0);
    assert_eq!(try_call!(own)(3.0), Ok(9.0));
    assert!(!explain!(total).is_empty());
    fn inside() -> f64 {
        #[pointful]
        fn local(x: f64) -> f64 {
            3.0 * x
        }
        grad!(local)(1.0)
    }
    assert_eq!(inside(), 3.0);
    // A variable of another function's name is none of its.
    let slope = 2.0;
    assert_eq!(grad!(own)(slope), 4.0);
}

#[pointful]
fn lagged<N: IndexSet>(u: &Table<N, f64>, lag: i64) -> f64 {
    sum(for i in N {
        let weight = i.ordinal() as f64 + 1.0;
        weight
            * (u[(i - lag).wrap()]
                + 8.0 * u[(i + lag).clamp()]
                + 64.0 * u.get(i - lag).unwrap_or(0.0)
                + 512.0 * u.get(i + lag).unwrap_or(0.0))
    })
}
#[pointful]
fn at_a_lag<N: IndexSet>(u: &Table<N, f64>, lag: i64) -> Table<N, f64> {
    for i in N {
        u[i + lag]
    }
}

#[pointful]
fn ahead<N: IndexSet>(u: &Table<N, f64>, lag: i64) -> f64 {
    sum(for i in N {
        (i.ordinal() as f64 + 1.0) * u[(i + lag).wrap()]
    })
}

/// Where the sums of some indices and a lag leave `i64`, and those of others do not, a gradient
/// says so.
#[test]
fn lags_that_leave_the_integers_for_some_indices() {
    let u = Table::<Dyn, f64>::from(vec![1.0, 10.0, 100.0]);
    for lag in [i64::MAX - 3, i64::MAX - 2, i64::MIN, -7] {
        let gradient = grad!(ahead)(&u, lag);
        let product: f64 = gradient.iter().zip(u.iter()).map(|(a, b)| a * b).sum();
        assert_eq!(product, ahead(&u, lag), "{lag}");
    }
    for lag in [i64::MAX - 1, i64::MAX] {
        assert!(ahead(&u, lag).is_finite());
        let text = panics(|| grad!(ahead)(&u, lag).as_slice().len());
        assert!(text.contains("leave `i64`"), "{text}");
    }
    assert!(grad!(ahead)(&Table::<Dyn, f64>::from(vec![]), i64::MAX).is_empty());
}

/// Places are computed as `i64` is in release builds; what is out of range is so however far.
#[test]
fn lags_as_far_as_integers_go() {
    for n in [1_i64, 3, 9, 33] {
        let x: Vec<f64> = (0..n).map(|i| (i * i) as f64 + 1.0).collect();
        let u = Table::<Dyn, f64>::from(x.clone());
        let half = i64::MAX / 2;
        for lag in [
            0,
            1,
            -5,
            half,
            half + 1,
            -half - 2,
            i64::MAX - 40,
            i64::MAX,
            i64::MIN,
        ] {
            let at = |place: i64| x[place as usize];
            let get = |place: i64| {
                if (0..n).contains(&place) {
                    at(place)
                } else {
                    0.0
                }
            };
            let want = (0..n).map(|i| {
                let (before, after) = (i.wrapping_sub(lag), i.wrapping_add(lag));
                let here = at(before.rem_euclid(n)) + 8.0 * at(after.clamp(0, n - 1));
                (i + 1) as f64 * (here + 64.0 * get(before) + 512.0 * get(after))
            });
            let want: f64 = want.sum();
            assert_eq!(lagged(&u, lag), want, "{n} {lag}");
            // It is linear, so the gradient says the same.
            let gradient = grad!(lagged)(&u, lag);
            let product: f64 = gradient.iter().zip(&x).map(|(a, b)| a * b).sum();
            assert_eq!(product, want, "{n} {lag}");
            if lag != 0 {
                let text = panics(|| at_a_lag(&u, lag).as_slice().len());
                assert!(text.contains("out of"), "{text}");
            }
        }
    }
}

//! Accumulators: their shapes, parts that may not be there, and functions that they are lent to.
#![deny(warnings)]

use pointful::prelude::*;

#[pointful]
fn products<N: IndexSet, M: IndexSet>(
    at: &Table<N, i64>,
    x: &Table<N, f32>,
    c: &Table<M, f32>,
) -> Table<M, f32> {
    let mut r = Accum::prod();
    for n in N {
        if at[n] >= 0 && at[n] < size(M) as i64 {
            r[at[n]].put(x[n]);
        }
    }
    r.get() * c
}

#[pointful]
fn own_products<N: IndexSet, M: IndexSet>(
    at: &Table<N, i64>,
    x: &Table<N, f32>,
    c: &Table<M, f32>,
) -> Table<M, f32> {
    let mut r = Accum::monoid(1.0, |a, b| a * b);
    for n in N {
        r.get(at[n]).put(x[n]);
    }
    r.get() * c
}

#[pointful]
fn of_extents<N: IndexSet, M: IndexSet>(
    at: &Table<N, i64>,
    x: &Table<N, f64>,
    m: Extent<M>,
) -> (
    Table<M, f64>,
    Table<M, f64>,
    Table<M, f64>,
    Table<M, f64>,
    Table<M, bool>,
    Table<M, bool>,
) {
    let (mut product, mut most) = (Accum::prod(m), Accum::max(M));
    let (mut least, mut total) = (Accum::min(m), Accum::monoid(m, 0.0, |a, b| a + b));
    let (mut large, mut small) = (Accum::any(m), Accum::all(m));
    for n in N {
        let k = at[n];
        product.get(k).put(x[n]);
        most.get(k).put(x[n]);
        least.get(k).put(x[n]);
        total.get(k).put(x[n]);
        large.get(k).put(x[n] > 4.0);
        small.get(k).put(x[n] < 4.0);
    }
    (
        product.get(),
        most.get(),
        least.get(),
        total.get(),
        large.get(),
        small.get(),
    )
}

#[test]
fn shapes_are_told_or_found() {
    let at = Table::<Dyn, i64>::from(vec![0, 2, -1, 0, 7]);
    let x = Table::<Dyn, f32>::from(vec![2.0, 3.0, 5.0, 7.0, 11.0]);
    let c = Table::<Dyn, f32>::from(vec![1.0, 1.0, 10.0]);
    assert_eq!(products(&at, &x, &c).as_slice(), [14.0, 1.0, 30.0]);
    assert_eq!(own_products(&at, &x, &c).as_slice(), [14.0, 1.0, 30.0]);
    let x = Table::from(vec![2.0, 3.0, 5.0, 7.0, 11.0]);
    let (product, most, least, total, large, small) = of_extents(&at, &x, Extent::<Dyn>::new(3));
    assert_eq!(product.as_slice(), [14.0, 1.0, 3.0]);
    assert_eq!(most.as_slice(), [7.0, f64::NEG_INFINITY, 3.0]);
    assert_eq!(least.as_slice(), [2.0, f64::INFINITY, 3.0]);
    assert_eq!(total.as_slice(), [9.0, 0.0, 3.0]);
    assert_eq!(large.as_slice(), [true, false, false]);
    assert_eq!(small.as_slice(), [false, true, true]);
    let (product, ..) = of_extents(&at, &x, Extent::<Dyn>::new(0));
    assert_eq!(product.as_slice(), [0.0; 0]);
}

#[pointful]
fn rows<N: IndexSet, M: IndexSet, D: IndexSet>(
    at: &Table<N, i64>,
    x: &Table<(N, D), f64>,
    c: &Table<(M, D), f64>,
) -> Table<(M, D), f64> {
    let mut t = Accum::zero();
    for n in N {
        t.get(at[n]).put(x[n]);
        for d in D {
            t[0].get(d + 1).put(100.0 * x[n][d]);
        }
    }
    t.get() + c
}

#[pointful]
fn of_rows<N: IndexSet, M: IndexSet, D: IndexSet>(
    at: &Table<N, i64>,
    x: &Table<(N, D), f64>,
    c: &Table<(M, D), f64>,
) -> f64 {
    sum(rows(at, x, c) * c)
}

#[test]
fn what_is_out_of_range_is_skipped() {
    let square = |rows: [[f64; 2]; 2]| Table::<(Dyn, Dyn), f64>::from(rows);
    let (x, at) = (square([[1.0, 2.0], [3.0, 4.0]]), Table::from(vec![1, 5]));
    let zeros = square([[0.0; 2]; 2]);
    assert_eq!(rows(&at, &x, &zeros).as_slice(), [0.0, 400.0, 1.0, 2.0]);
    let c = square([[5.0, 6.0], [7.0, 8.0]]);
    let slope = grad!(of_rows, wrt = x)(&at, &x, &c);
    assert_eq!(slope.as_slice(), [607.0, 8.0, 600.0, 0.0]);
    let (_, tangent) = jvp!(of_rows, wrt = x)(&at, &x, &c, &square([[1.0, 0.0], [0.0, 1.0]]));
    assert_eq!(tangent, 607.0);
}

#[pointful]
fn add<K: IndexSet>(h: &mut Table<K, f64>, k: K, x: f64) {
    h[k] += x;
}

#[pointful]
fn added<N: IndexSet, K: IndexSet>(
    at: &Table<N, K>,
    x: &Table<N, f64>,
    k: Extent<K>,
) -> Table<K, f64> {
    let mut h = for _k in k {
        0.0
    };
    for n in N {
        add(&mut h, at[n], x[n]);
    }
    h
}

#[pointful]
fn set<K: IndexSet, J: IndexSet>(h: &mut Table<(K, J), f64>, k: K, x: &Table<J, f64>) {
    for j in J {
        h[k][j] = h[k][j] * 2.0 + x[j];
    }
}

#[pointful]
fn each_its_own<N: IndexSet, J: IndexSet>(
    x: &Table<(N, J), f64>,
    mut h: Table<(N, J), f64>,
) -> Table<(N, J), f64> {
    for n in N {
        set(&mut h, n, x[n]);
    }
    h
}

#[pointful]
fn put<K: IndexSet>(acc: &mut Accum<Table<K, f64>>, k: K, x: f64) {
    acc[k] += x;
    put_one(acc, k);
    put_to(&mut acc[k], 1000.0);
}

#[pointful]
fn put_one<K: IndexSet>(acc: &mut Accum<Table<K, f64>>, k: K) {
    acc[k].put(1.0);
}

#[pointful]
fn put_to(acc: &mut Accum<f64>, x: f64) {
    acc.put(x);
}

#[pointful]
fn lent<N: IndexSet, K: IndexSet>(at: &Table<N, K>, x: &Table<N, f64>) -> Table<K, f64> {
    let mut h = Accum::zero();
    for n in N {
        put(&mut h, at[n], x[n]);
    }
    h.get()
}

#[pointful]
fn of_any_monoid<N: IndexSet, K: IndexSet>(
    at: &Table<N, K>,
    x: &Table<N, f64>,
) -> (f64, Table<K, f64>) {
    let mut most: Accum<f64> = Accum::max();
    let mut own = Accum::monoid(0.0, |a, b| a + b);
    for n in N {
        put_to(&mut most, x[n]);
        let row = &mut own[at[n]];
        put_to(row, x[n]);
        put_to(&mut own[at[n]], 10.0);
    }
    (most.get(), own.get())
}

#[pointful]
fn squared<N: IndexSet, K: IndexSet>(at: &Table<N, K>, x: &Table<N, f64>) -> f64 {
    let (most, own) = of_any_monoid(at, x * x);
    sum(lent(at, x * x)) + most + sum(own)
}

#[test]
fn functions_add_to_what_they_are_lent() {
    let at = Table::<Dyn, Fin<2>>::from_indices(Extent::new(3), Extent::default(), vec![1, 0, 1]);
    let (at, x) = (
        at.expect("they are below 2"),
        Table::from(vec![1.0, 2.0, 4.0]),
    );
    assert_eq!(added(&at, &x, Extent::default()).as_slice(), [2.0, 5.0]);
    assert_eq!(lent(&at, &x).as_slice(), [1003.0, 2007.0]);
    let (most, own) = of_any_monoid(&at, &x);
    assert_eq!((most, own.as_slice()), (4.0, &[12.0, 25.0][..]));
    assert_eq!(grad!(squared)(&at, &x).as_slice(), [4.0, 8.0, 24.0]);
    assert_eq!(
        jvp!(squared)(&at, &x, &Table::from(vec![1.0, 1.0, 1.0])).1,
        36.0
    );
    let square = |rows: [[f64; 2]; 2]| Table::<(Dyn, Dyn), f64>::from(rows);
    let h = each_its_own(&square([[1.0, 2.0], [3.0, 4.0]]), square([[1.0; 2]; 2]));
    assert_eq!(h.as_slice(), [3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn they_do_so_in_parallel() {
    for text in [explain!(added), explain!(lent), explain!(each_its_own)] {
        assert!(text.contains("parallel over n"), "{text}");
    }
}

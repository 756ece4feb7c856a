//! What is lifted: the beginnings and operators of reductions, and the application of tables of
//! functions. Also tables of lengths that a body computes.
#![deny(warnings)]

use pointful::prelude::*;

fn square(rows: [[f64; 2]; 2]) -> Table<(Dyn, Dyn), f64> {
    Table::from(rows)
}

fn vector(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

#[pointful]
fn plus(a: f64, b: f64) -> f64 {
    a + b
}

#[pointful]
fn of_rows<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>) -> (Table<B, f64>, Table<B, f64>) {
    let rows = for a in A {
        x[a]
    };
    (reduce(0.0, |a, b| a + b, rows), reduce(0.0, plus, rows))
}

#[pointful]
fn prefixes<A: IndexSet, B: IndexSet, C: IndexSet>(
    x: &Table<(A, B, C), f64>,
    first: &Table<C, f64>,
) -> (Table<(A, B, C), f64>, Table<(B, C), f64>) {
    (
        scan(
            0.0,
            plus,
            for a in A {
                x[a]
            },
        ),
        reduce(
            first,
            |a, b| a + b,
            for a in A {
                x[a]
            },
        ),
    )
}

#[pointful]
fn places<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>) -> (Table<B, f64>, Table<B, usize>) {
    let larger = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
    reduce(
        (f64::NEG_INFINITY, 0),
        larger,
        for a in A {
            for b in B {
                (x[a][b], a.ordinal())
            }
        },
    )
}

#[pointful]
fn product<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f32>) -> Table<B, f32> {
    let mut t = Accum::monoid(1.0, |a: f32, b: f32| a * b);
    for a in A {
        t.put(x[a]);
    }
    t.get()
}

#[pointful]
fn total<A: IndexSet, B: IndexSet>(x: &Table<(A, B), f64>) -> f64 {
    let (closure, function) = of_rows(x * x);
    sum(closure) + 2.0 * sum(function)
}

#[test]
fn the_beginning_of_a_reduction_is_lifted_to_rows() {
    let x = square([[1.0, 2.0], [3.0, 4.0]]);
    let (closure, function) = of_rows(&x);
    assert_eq!(
        (closure.as_slice(), function.as_slice()),
        (&[4.0, 6.0][..], &[4.0, 6.0][..])
    );
    let none = Table::<(Dyn, Dyn), f64>::zeros(Extent::<(Dyn, Dyn)>::new((0, 2)));
    assert_eq!(of_rows(&none).0.as_slice(), [0.0, 0.0]);
    assert_eq!(grad!(total)(&x).as_slice(), [6.0, 12.0, 18.0, 24.0]);
    assert_eq!(jvp!(total)(&x, &x).1, 180.0);
    let cube = Table::from_vec(
        Extent::<(Dyn, Dyn, Dyn)>::new((2, 1, 2)),
        vec![1.0, 2.0, 3.0, 4.0],
    );
    let (all, sums) = prefixes(&cube.expect("four"), &vector(&[10.0, 20.0]));
    assert_eq!(all.as_slice(), [1.0, 2.0, 4.0, 6.0]);
    assert_eq!(sums.as_slice(), [14.0, 26.0]);
    let (most, at) = places(&square([[1.0, 9.0], [3.0, 4.0]]));
    assert_eq!(
        (most.as_slice(), at.as_slice()),
        (&[3.0, 9.0][..], &[1, 0][..])
    );
    assert_eq!(
        product(&Table::<(Dyn, Dyn), f32>::from([[1.0, 2.0], [3.0, 4.0]])).as_slice(),
        [3.0, 8.0]
    );
}

#[pointful]
fn curry_add(x: f64) -> impl Fn(f64) -> f64 {
    move |y| x + y
}

#[pointful]
fn double(x: f64) -> f64 {
    2.0 * x
}

#[pointful]
fn applied(x: &Table<Dyn, f64>, y: &Table<Dyn, f64>) -> Table<Dyn, f64> {
    curry_add(x)(y)
}

#[pointful]
fn to_one<N: IndexSet, M: IndexSet>(
    x: &Table<(N, M), f64>,
    y: f64,
) -> (Table<(N, M), f64>, Table<M, f64>) {
    let fs = curry_add(x);
    (
        fs(y),
        for m in M {
            sum(for n in N {
                fs[n][m](1.0)
            })
        },
    )
}

#[pointful]
fn of_an_array<N: IndexSet>(
    x: &Table<(Fin<2>, N), f64>,
    y: f64,
) -> (Table<(Fin<2>, N), f64>, Table<Fin<2>, f64>) {
    let fs = [double, |x| x * x];
    (fs(x), fs(y))
}

#[pointful]
fn of_a_loop<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    let scale = |a| move |b: f64| a * b;
    let fs = for n in N {
        scale(x[n])
    };
    sum(fs(y) * fs(2.0))
}

#[test]
fn a_table_of_functions_is_applied_cell_by_cell() {
    assert_eq!(
        applied(&vector(&[1.0, 2.0]), &vector(&[20.0, 30.0])).as_slice(),
        [21.0, 32.0]
    );
    let (all, sums) = to_one(&square([[1.0, 2.0], [3.0, 4.0]]), 10.0);
    assert_eq!(all.as_slice(), [11.0, 12.0, 13.0, 14.0]);
    assert_eq!(sums.as_slice(), [6.0, 8.0]);
    let x = Table::from_vec(
        Extent::<(Fin<2>, Dyn)>::new(((), 2)),
        vec![1.0, 2.0, 3.0, 4.0],
    );
    let (rows, ones) = of_an_array(&x.expect("four"), 3.0);
    assert_eq!(rows.as_slice(), [2.0, 4.0, 9.0, 16.0]);
    assert_eq!(ones.as_slice(), [6.0, 9.0]);
    let (by_x, by_y) = grad!(of_a_loop)(&vector(&[1.0, 2.0]), &vector(&[20.0, 30.0]));
    assert_eq!(
        (by_x.as_slice(), by_y.as_slice()),
        (&[80.0, 240.0][..], &[2.0, 8.0][..])
    );
}

#[pointful]
fn of_a_sum(m: usize) -> Table<Dyn, f64> {
    let n = sum(for i in 0..m {
        i * i
    });
    let e: Extent<Dyn> = Extent::new(n);
    for i in e {
        i.ordinal() as f64
    }
}

#[pointful]
fn of_two(m: usize, x: f64) -> Table<(Dyn, Dyn), f64> {
    let e = Extent::<(Dyn, Dyn)>::new((m + 1, m * 2));
    let t = for (i, j) in e {
        x * (i.ordinal() + 10 * j.ordinal()) as f64
    };
    for (i, j) in e {
        t[i][j] + t[(i, (j + 1).wrap())]
    }
}

#[pointful]
fn squares(m: usize, x: f64) -> f64 {
    let t = of_two(m, x);
    sum(t * t)
}

#[pointful]
fn counted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let e = Extent::new(count(x > 1.0));
    let mut u = for _i in e {
        1.0
    };
    for n in N {
        for i in e {
            u[i] = u[i] * x[n] + i.ordinal() as f64;
        }
    }
    sum(u)
}

#[pointful]
fn both(n: usize, x: f64) -> (Table<Dyn, f64>, f64) {
    let m = 2 * n;
    (
        for i in 0..m {
            x * x * i as f64
        },
        x,
    )
}

#[pointful]
fn twice(n: usize, x: f64) -> Table<Dyn, f64> {
    let f = jvp!(both, wrt = x);
    let (_, (shorter, _)) = f(n, x, 1.0);
    let (_, (longer, _)) = f(n + 1, x, 1.0);
    let doubled = for i in _ {
        2.0 * longer[i]
    };
    sum(shorter) + doubled
}

#[test]
fn a_body_computes_lengths() {
    let fourteen: Vec<f64> = (0..14).map(f64::from).collect();
    assert_eq!(of_a_sum(4).as_slice(), fourteen);
    assert_eq!(of_a_sum(0).as_slice(), [0.0; 0]);
    let t = of_two(1, 1.0);
    assert_eq!(t.extent().len(), 4);
    assert_eq!(t.as_slice(), [10.0, 10.0, 12.0, 12.0]);
    assert_eq!(squares(1, 2.0), 1952.0);
    assert_eq!(
        (grad!(squares)(1, 2.0), grad!(grad!(squares))(1, 2.0)),
        (1952.0, 976.0)
    );
    let (value, slope) = value_and_grad!(counted)(&vector(&[2.0, 0.5, 3.0]));
    assert_eq!((value, slope.as_slice()), (11.5, &[3.0, 15.0, 3.5][..]));
}

#[test]
fn results_of_computed_lengths_have_derivatives() {
    let (_, (tangent, one)) = jvp!(both, wrt = x)(2, 3.0, 1.0);
    assert_eq!(
        (tangent.as_slice(), one),
        (&[0.0, 6.0, 12.0, 18.0][..], 1.0)
    );
    let ones = vector(&[1.0; 4]);
    assert_eq!(vjp!(both, wrt = x)(2, 3.0, &ones, 1.0).1, 37.0);
    let short = || vjp!(both, wrt = x)(2, 3.0, &vector(&[1.0; 3]), 1.0);
    assert!(std::panic::catch_unwind(short).is_err());
    let (rows, one) = jacobian!(both, wrt = x)(2, 3.0);
    assert_eq!((rows.as_slice(), one), (&[0.0, 6.0, 12.0, 18.0][..], 1.0));
    let (_, map) = linearize!(both, wrt = x)(1, 3.0);
    assert_eq!(map(2.0).0.as_slice(), [0.0, 12.0]);
    let (_, (_, (second, _))) = jvp!(jvp!(both, wrt = x), wrt = x)(1, 3.0, 1.0, 1.0);
    assert_eq!(second.as_slice(), [0.0, 2.0]);
    assert_eq!(twice(1, 3.0).as_slice(), [6.0, 18.0, 30.0, 42.0]);
    let (_, by_x) = vjp!(of_two, wrt = x)(
        1,
        2.0,
        &Table::from_vec(Extent::<(Dyn, Dyn)>::new((2, 2)), vec![1.0; 4]).expect("four"),
    );
    assert_eq!(by_x, 44.0);
}

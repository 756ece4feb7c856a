//! `vmap!` over tangents and cotangents, and of functions of structs; transformations of closures
//! that are written in them.
#![deny(warnings, missing_docs)]

use pointful::prelude::*;

#[pointful]
fn times<N: IndexSet>(xs: &Table<N, f32>, ys: &Table<N, f32>) -> Table<N, f32> {
    xs * ys
}

#[pointful]
fn cube(x: f64) -> f64 {
    x * x * x
}

#[pointful]
fn pair(x: f64, y: f64) -> (f64, i64, f64) {
    (x * y, 1, x + y)
}

#[pointful]
fn rows_of_jacobian<N: IndexSet>(
    x: &Table<N, f64>,
    seeds: &Table<(N, N), f64>,
) -> Table<(N, N), f64> {
    vmap!(vjp!(|t: &Table<N, f64>| t * t), over = ct)(x, seeds).1
}

fn vector(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

fn square(n: usize, values: &[f64]) -> Table<(Dyn, Dyn), f64> {
    Table::from_vec(Extent::<(Dyn, Dyn)>::new((n, n)), values.to_vec()).expect("they are a square")
}

#[test]
fn tangents_are_named() {
    let (x, y) = (
        Table::<Dyn, f32>::from(vec![1.0, 2.0]),
        Table::from(vec![4.0, 5.0]),
    );
    let seeds = Table::<(Dyn, Dyn), f32>::from([[1.0, 0.0], [0.0, 1.0]]);
    let (values, tangents) = vmap!(jvp!(times), over = (d_xs, d_ys))(&x, &y, &seeds, &seeds);
    assert_eq!(values.as_slice(), [4.0, 10.0, 4.0, 10.0]);
    assert_eq!(tangents.as_slice(), [5.0, 0.0, 0.0, 7.0]);
    let none = Table::<(Dyn, Dyn), f32>::zeros(Extent::<(Dyn, Dyn)>::new((0, 2)));
    let (_, tangents) = vmap!(jvp!(times, wrt = ys), over = d_ys)(&x, &y, &none);
    assert_eq!(tangents.extent().len(), 0);
    let lanes = vector(&[1.0, 2.0]);
    assert_eq!(
        vmap!(hvp!(cube), over = d_x)(2.0, &lanes).as_slice(),
        [12.0, 24.0]
    );
    assert_eq!(grad!(hvp!(cube), wrt = d_x)(2.0, 1.0), 12.0);
}

#[test]
fn a_name_that_is_taken_gets_an_underscore() {
    let lanes = vector(&[1.0, 2.0]);
    let (_, (along, second)) =
        vmap!(jvp!(jvp!(cube)), over = (d_x_, d_d_x))(2.0, 1.0, &lanes, &lanes);
    assert_eq!(along.as_slice(), [12.0, 24.0]);
    // 6 x · d_x · d_x_ + 3 x² · d_d_x
    assert_eq!(second.as_slice(), [24.0, 48.0]);
}

#[test]
fn cotangents_are_named() {
    let (x, y) = (
        Table::<Dyn, f32>::from(vec![1.0, 2.0]),
        Table::from(vec![4.0, 5.0]),
    );
    let seeds = Table::<(Dyn, Dyn), f32>::from([[1.0, 0.0], [0.0, 1.0]]);
    let (_, (by_x, by_y)) = vmap!(vjp!(times), over = ct)(&x, &y, &seeds);
    assert_eq!(by_x.as_slice(), [4.0, 0.0, 0.0, 5.0]);
    assert_eq!(by_y.as_slice(), [1.0, 0.0, 0.0, 2.0]);
    // Of the parts that have a cotangent, the second.
    let (_, (by_x, by_y)) = vmap!(vjp!(pair), over = ct_1)(2.0, 3.0, 1.0, &vector(&[0.0, 10.0]));
    assert_eq!(
        (by_x.as_slice(), by_y.as_slice()),
        (&[3.0, 13.0][..], &[2.0, 12.0][..])
    );
    let rows = rows_of_jacobian(&vector(&[3.0, 5.0]), &square(2, &[1.0, 0.0, 0.0, 1.0]));
    assert_eq!(rows.as_slice(), [6.0, 0.0, 0.0, 10.0]);
}

/// A model of which there are many.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Model<I: IndexSet> {
    /// The weights.
    pub w: Table<I, f64>,
    b: f64,
}

#[pointful]
type Square<A, T> = Table<(A, A), T>;

/// Fields of every kind.
#[pointful]
#[derive(Clone, Debug)]
struct Deep<const K: usize, T: Float> {
    model: Model<(Fin<2>, Dyn)>,
    pair: (T, Fin<K>),
    array: [T; 3],
    square: Square<Fin<K>, T>,
    count: usize,
}

#[pointful]
fn predicted<I: IndexSet>(model: &Model<I>, x: f64) -> f64 {
    sum(model.w) * x * model.b
}

#[pointful]
fn scaled<I: IndexSet>(model: &Model<I>, x: f64) -> Model<I> {
    Model {
        w: x * model.w,
        b: model.b + x,
    }
}

#[pointful]
fn deep<const K: usize>(d: &Deep<K, f64>, x: f64) -> f64 {
    sum(d.model.w) * x + d.pair.0 * d.array[0] + sum(d.square) * d.count as f64
}

#[pointful]
fn totals<N: IndexSet, I: IndexSet>(models: &Tables<N, Model<I>>) -> (Table<N, f64>, f64) {
    (
        for n in N {
            sum(models[n].w)
        },
        sum(models.b),
    )
}

#[pointful]
fn made<N: IndexSet, I: IndexSet>(model: &Model<I>, x: &Table<N, f64>) -> Tables<N, Model<I>> {
    for n in N {
        scaled(model, x[n])
    }
}

define! { fn gradients = vmap!(grad!(predicted), over = x); }

#[pointful]
fn of_gradients<N: IndexSet, I: IndexSet>(model: &Model<I>, x: &Table<N, f64>) -> f64 {
    let (by_model, by_x) = gradients(model, x);
    sum(by_model.b) + sum(by_x) + sum(sum(by_model.w))
}

#[pointful]
fn doubled<N: IndexSet, I: IndexSet>(mut models: Tables<N, Model<I>>) -> Tables<N, Model<I>> {
    for n in N {
        models.b[n] *= 2.0;
    }
    models
}

fn model() -> Model<Dyn> {
    Model {
        w: vector(&[0.5, 0.25]),
        b: 0.25,
    }
}

#[test]
fn a_gradient_for_each_lane_is_a_struct_of_tables() {
    let x = vector(&[1.0, 4.0, 2.0]);
    let (by_model, by_x) = vmap!(grad!(predicted), over = x)(&model(), &x);
    assert_eq!(by_model.w.as_slice(), [0.25, 0.25, 1.0, 1.0, 0.5, 0.5]);
    assert_eq!(by_model.b.as_slice(), [0.75, 3.0, 1.5]);
    assert_eq!(by_x.as_slice(), [0.1875; 3]);
    let (none, _) = vmap!(grad!(predicted), over = x)(&model(), &vector(&[]));
    assert_eq!(none.w.extent().len(), 0);
    // 3 · 0.1875 + 5.25 + 3.5, and its slopes.
    assert_eq!(of_gradients(&model(), &x), 9.3125);
    assert_eq!(
        grad!(of_gradients, wrt = x)(&model(), &x).as_slice(),
        [1.25; 3]
    );
}

#[test]
fn a_table_of_structs_is_a_struct_of_tables() {
    let x = vector(&[1.0, 4.0, 2.0]);
    let models = vmap!(scaled, over = x)(&model(), &x);
    assert_eq!(models, made(&model(), &x));
    let (sums, offsets) = totals(&models);
    assert_eq!((sums.as_slice(), offsets), (&[0.75, 3.0, 1.5][..], 7.75));
    let (by_model, _) = vmap!(grad!(predicted))(&models, &x);
    assert_eq!(by_model.b.as_slice(), [0.75, 12.0, 3.0]);
    let (_, (by_model, _)) = vmap!(vjp!(scaled), over = (model, ct))(&models, 2.0, &models);
    assert_eq!(by_model.b, models.b);
    assert_eq!(doubled(models.clone()).b.as_slice(), [2.5, 8.5, 4.5]);
    // They are vectors, as the struct is.
    assert_eq!(models.dimension(), 9);
    assert_eq!(models.zeros_like().flatten(), [0.0; 9]);
    let gradient = grad!(totals_of_offsets)(&models);
    assert_eq!(gradient.b.as_slice(), [1.0; 3]);
    assert_eq!(gradient.w.as_slice(), [2.0; 6]);
}

#[pointful]
fn totals_of_offsets<N: IndexSet, I: IndexSet>(models: &Tables<N, Model<I>>) -> f64 {
    let (sums, offsets) = totals(models);
    2.0 * sum(sums) + offsets
}

#[test]
fn fields_of_every_kind_have_tables() {
    let w = Table::from_vec(
        Extent::<(Fin<2>, Dyn)>::new(((), 2)),
        vec![0.5, 0.25, 1.0, 2.0],
    );
    let d = Deep::<2, f64> {
        model: Model {
            w: w.expect("two rows of two"),
            b: 0.25,
        },
        pair: (2.0, Fin::new(1)),
        array: [1.0, 2.0, 3.0],
        square: Table::from([[1.0, 2.0], [3.0, 4.0]]),
        count: 2,
    };
    let x = vector(&[1.0, 4.0]);
    let (values, gradients) = vmap!(value_and_grad!(deep, wrt = d), over = x)(&d, &x);
    assert_eq!(values.as_slice(), [25.75, 37.0]);
    assert_eq!(
        gradients.model.w.as_slice(),
        [1.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0]
    );
    assert_eq!(gradients.pair.0.as_slice(), [1.0, 1.0]);
    assert_eq!(gradients.array.as_slice(), [2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!(gradients.square.as_slice(), [2.0; 8]);
    assert_eq!(gradients.count.as_slice(), [2, 2]);
    assert_eq!(vmap!(deep)(&gradients, &x).as_slice(), [22.0, 82.0]);
}

mod elsewhere {
    use super::{Dyn, Model, Table, vmap};

    pub(super) fn offsets(model: &Model<Dyn>, x: &Table<Dyn, f64>) -> Table<Dyn, f64> {
        vmap!(grad!(super::predicted), over = x)(model, x).0.b
    }
}

#[test]
fn private_fields_are_private() {
    let offsets = elsewhere::offsets(&model(), &vector(&[1.0, 2.0]));
    assert_eq!(offsets.as_slice(), [0.75, 1.5]);
}

#[pointful]
fn slope(x: f64) -> f64 {
    grad!(|y: f64| x * y * y)(1.0)
}

#[pointful]
fn slopes<N: IndexSet>(x: &Table<N, f64>, s: f64) -> (Table<N, f64>, Table<(N, N), f64>) {
    (
        grad!(|y| s * sum(y * y))(x),
        hessian!(|y| s * sum(y * y * y))(x),
    )
}

#[pointful]
fn jacobians<N: IndexSet>(x: &Table<N, f64>) -> (Table<(N, N), f64>, f64, f64) {
    let (value, map) = linearize!(|y: f64| y.sin() * x[0])(0.0);
    (jacobian!(|y| y * y)(x), value, map(2.0))
}

#[pointful]
fn products(x: f64) -> (f64, f64, f64, (f64, f64)) {
    let (_, by_c) = vjp!(|(a, b): (f64, f64), c: f64| a * b * c * x, wrt = c)((1.0, 2.0), 3.0, 1.0);
    let turn = hvp!(|y: f64| y * y * y)(x, 1.0);
    let (value, _) = value_and_grad!(move |y| y * x)(2.0);
    (
        by_c,
        turn,
        value,
        jvp!(grad!(|y, z| x * y * y * z), wrt = y)(1.0, 2.0, 3.0).1,
    )
}

#[pointful]
fn mapped<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, s: f64) -> (Table<N, f64>, f64) {
    let square = |t: f64, factor: f64| factor * t * t;
    let by_name = grad!(square, wrt = t)(3.0, s);
    (vmap!(|y, f| f * sum(y * y), over = y)(x, s), by_name)
}

#[test]
fn closures_are_transformed_where_they_are_written() {
    assert_eq!(slope(3.0), 6.0);
    // What it captures is constant within, and not for the function around.
    assert_eq!(grad!(slope)(3.0), 2.0);
    let x = vector(&[1.0, 2.0]);
    let (first, second) = slopes(&x, 2.0);
    assert_eq!(first.as_slice(), [4.0, 8.0]);
    assert_eq!(second.as_slice(), [12.0, 0.0, 0.0, 24.0]);
    let (jacobian, value, tangent) = jacobians(&x);
    assert_eq!(
        (jacobian.as_slice(), value, tangent),
        (&[2.0, 0.0, 0.0, 4.0][..], 0.0, 2.0)
    );
    assert_eq!(products(2.0), (4.0, 12.0, 4.0, (24.0, 12.0)));
    let (sums, by_name) = mapped(&square(2, &[1.0, 2.0, 0.0, 4.0]), 2.0);
    assert_eq!((sums.as_slice(), by_name), (&[10.0, 32.0][..], 12.0));
}

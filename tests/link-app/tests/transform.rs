//! Transformations in ordinary Rust: of functions of other crates and modules, as values, in
//! generic code, and each of them once.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;
use pointful_link_lib::{self as lib, Channel, fit};

const EXTENTS: [usize; 5] = [0, 1, 2, 7, 1000];

fn table<N: IndexSet>(extent: Extent<N>, f: impl Fn(f64) -> f64) -> Table<N, f64> {
    let mut at = 0.0;
    Table::from_fn(extent, |_| {
        at += 1.0;
        f(at)
    })
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}

#[track_caller]
fn all_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        near(*found, *expected);
    }
}

// ---- Linking ----

#[allow(
    unreachable_pub,
    reason = "a function that says that it is public, of a type that says that it is not, is what is tested"
)]
mod models {
    use pointful::prelude::{IndexSet, pointful};

    use super::hidden::Row;

    const HALF: f64 = 0.5;
    const LEN: usize = 3;

    #[pointful]
    pub fn energy(
        x: &::pointful::Table<Row, f64>,
        w: &::pointful::Table<::pointful::Fin<LEN>, f64>,
    ) -> f64 {
        HALF * sum(for r in _ {
            x[r] * x[r]
        }) * sum(for k in _ {
            w[k]
        })
    }

    #[derive(Clone, Copy, Debug, IndexSet)]
    pub(super) struct Cell {
        pub(super) row: Row,
        pub(super) side: Side,
    }

    #[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
    pub(super) enum Side {
        Left,
        Right,
    }

    #[pointful]
    pub(super) fn weighed(
        x: &::pointful::Table<Cell, f64>,
        y: &::pointful::Table<::pointful::Either<Side, bool>, f64>,
        side: Side,
    ) -> ::pointful::Table<Side, f64> {
        let total = sum(y) * if side == Side::Left { 1.0 } else { 10.0 };
        for s in Side {
            total
                * sum(for r in Row {
                    x[Cell { row: r, side: s }]
                })
        }
    }
}

mod hidden {
    use pointful::prelude::*;

    // Less visible than `models::energy` says that it is.
    #[derive(Clone, Copy, Debug, IndexSet)]
    pub(crate) struct Row(usize);
}

mod far {
    // Nothing of the prelude, and no type of the function's signature, can be named here.
    pub(super) fn energy_grad(
        x: &pointful::Table<super::hidden::Row, f64>,
        w: &pointful::Table<pointful::Fin<3>, f64>,
    ) -> (f64, f64) {
        let (dx, dw) = pointful::grad!(super::models::energy)(x, w);
        let forward = pointful::jvp!(super::models::energy, wrt = w)(x, w, w);
        assert_eq!(forward.0, forward.1);
        (dx.as_slice().iter().sum(), dw.as_slice().iter().sum())
    }
}

#[test]
fn types_and_constants_come_by_the_carrier() {
    let w = table(Extent::<Fin<3>>::new(()), |_| 1.0);
    for rows in EXTENTS {
        let x = table(Extent::new(rows), |at| at);
        let (dx, dw) = far::energy_grad(&x, &w);
        let (once, twice) = x
            .as_slice()
            .iter()
            .fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
        near(dx, 3.0 * once);
        near(dw, 1.5 * twice);
    }
}

#[test]
fn products_unions_and_enums_of_another_module() {
    use models::{Cell, Side};
    let x = table(
        Extent::<Cell>::join((Extent::new(2), Extent::new(()))),
        |at| at,
    );
    let y = table(
        Extent::<Either<Side, bool>>::join((Extent::new(()), Extent::new(()))),
        |_| 0.5,
    );
    let ct = table(Extent::<Side>::new(()), |at| at);
    for (side, factor) in [(Side::Left, 1.0), (Side::Right, 10.0)] {
        let (value, (dx, dy)) = vjp!(models::weighed)(&x, &y, side, &ct);
        all_near(value.as_slice(), &[2.0 * 4.0 * factor, 2.0 * 6.0 * factor]);
        all_near(dx.as_slice(), &[2.0, 4.0, 2.0, 4.0].map(|v| v * factor));
        all_near(dy.as_slice(), &[(4.0 + 12.0) * factor; 4]);
    }
}

fn data(
    samples: usize,
) -> (
    Table<fit::Sample, f64>,
    Table<fit::Sample, Channel>,
    Table<fit::Sample, f64>,
) {
    let extent = Extent::<fit::Sample>::new(samples);
    let mut at = 0;
    let channel = Table::from_fn(extent, |_| {
        at += 1;
        Channel::from_ordinal(at % 3, Extent::new(()))
    });
    (
        table(extent, |at| (0.1 * at).sin()),
        channel,
        table(extent, |at| (0.1 * at).cos()),
    )
}

#[test]
fn structs_of_another_crate_and_named_gradients() {
    let line = fit::Line {
        slope: table(Extent::new(()), |at| at),
        offset: 0.25,
    };
    for samples in EXTENTS {
        let (x, channel, y) = data(samples);
        let mut slope: Vec<f64> = line.slope.as_slice().to_vec();
        let mut offset = 0.0;
        let mut by_x = Vec::new();
        for k in 0..samples {
            let c = channel.as_slice()[k];
            let a = line.slope.as_slice()[c];
            let rest = a * x.as_slice()[k] + line.offset - y.as_slice()[k];
            slope[c] += rest * x.as_slice()[k];
            offset += rest;
            by_x.push(rest * a);
        }
        let here = grad!(fit::loss, wrt = line)(&line, &x, &channel, &y);
        assert_eq!(here, fit::loss_grad(&line, &x, &channel, &y));
        all_near(here.slope.as_slice(), &slope);
        near(here.offset, offset);
        let (value, found) = fit::loss_by_x(&line, &x, &channel, &y);
        near(value, fit::loss(&line, &x, &channel, &y));
        all_near(found.as_slice(), &by_x);
    }
}

/// A named gradient in a body.
#[pointful]
fn steepness(
    line: &fit::Line,
    x: &Table<fit::Sample, f64>,
    channel: &Table<fit::Sample, Channel>,
    y: &Table<fit::Sample, f64>,
) -> f64 {
    let g = fit::loss_grad(line, x, channel, y);
    g.offset * g.offset
}

#[test]
fn named_gradients_are_called_and_transformed() {
    let line = fit::Line {
        slope: table(Extent::new(()), |at| at),
        offset: 0.25,
    };
    for samples in EXTENTS {
        let (x, channel, y) = data(samples);
        let g = fit::loss_grad(&line, &x, &channel, &y);
        near(steepness(&line, &x, &channel, &y), g.offset * g.offset);
        // The second derivative by the offset is the number of samples.
        let direction = fit::Line {
            slope: table(Extent::new(()), |_| 0.0),
            offset: 1.0,
        };
        let (_, h) = jvp!(fit::loss_grad, wrt = line)(&line, &x, &channel, &y, &direction);
        near(h.offset, samples as f64);
        let d = grad!(steepness, wrt = line)(&line, &x, &channel, &y);
        near(d.offset, 2.0 * g.offset * samples as f64);
    }
}

#[test]
fn an_alias_of_another_crate() {
    let b = table(Extent::<Fin<2>>::new(()), |at| at);
    for samples in EXTENTS {
        let x = table(Extent::<fit::Sample>::new(samples), |at| 0.5 * at);
        let by_b: Table<(fit::Sample, Fin<2>), f64> = jacobian!(fit::curve, wrt = b)(&b, &x);
        let expected: Vec<f64> = x.as_slice().iter().flat_map(|x| [*x, x * x]).collect();
        all_near(by_b.as_slice(), &expected);
        let each =
            vmap!(fit::curve, over = b)(&table(Extent::<(Dyn, Fin<2>)>::new((2, ())), |at| at), &x);
        let curve = |b: f64, c: f64| x.as_slice().iter().map(move |x| b * x + c * x * x);
        let expected: Vec<f64> = curve(1.0, 2.0).chain(curve(3.0, 4.0)).collect();
        all_near(each.as_slice(), &expected);
    }
}

#[test]
fn through_re_exports_and_chains() {
    // 2 slow(v) t + 0, where slow halves.
    assert_eq!(grad!(lib::deep::double)(3.0, 5.0), (5.0, 3.0));
    assert_eq!(
        grad!(grad!(::pointful_link_lib::deep::double, wrt = v), wrt = t)(3.0, 5.0),
        1.0
    );
}

// ---- Values ----

#[pointful]
fn quadratic<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    a * sum(for i in _ {
        x[i] * x[i]
    })
}

fn twice(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(f(x))
}

fn for_all<N: IndexSet>(
    f: impl for<'a> Fn(&'a Table<N, f64>, f64) -> Table<N, f64>,
    extent: Extent<N>,
) -> Vec<f64> {
    let x = table(extent, |at| at);
    f(&x, 1.0).as_slice().to_vec()
}

#[test]
fn a_transformation_is_a_value() {
    #[pointful]
    fn cube(x: f64) -> f64 {
        x * x * x
    }
    let slope = grad!(cube);
    let copy = slope;
    assert_eq!([slope(2.0), copy(3.0)], [12.0, 27.0]);
    assert_eq!(twice(grad!(cube), 1.0), 27.0);
    let named: fn(f64) -> f64 = grad!(grad!(cube));
    assert_eq!(
        (0..3).map(f64::from).map(named).collect::<Vec<_>>(),
        [0.0, 6.0, 12.0]
    );
    let inside = |a: f64| [1.0, 2.0].map(|x| a * grad!(cube)(x));
    assert_eq!(inside(2.0), [6.0, 24.0]);
    assert_eq!(
        for_all(grad!(quadratic, wrt = x), Extent::<Dyn>::new(2)),
        [2.0, 4.0]
    );
    std::thread::scope(|scope| {
        let run = scope.spawn(move || slope(1.0));
        assert_eq!(run.join().expect("it ends"), 3.0);
    });
}

fn descend<N: IndexSet>(mut x: Table<N, f64>, steps: usize) -> Table<N, f64> {
    let gradient = grad!(quadratic, wrt = x);
    for _ in 0..steps {
        let g = gradient(&x, 0.5);
        let moved = x
            .as_slice()
            .iter()
            .zip(g.as_slice())
            .map(|(x, g)| x - 0.5 * g);
        x = Table::from_vec(x.extent(), moved.collect()).expect("as many");
    }
    x
}

#[test]
fn in_generic_code() {
    for n in EXTENTS {
        let x = descend(table(Extent::<Dyn>::new(n), |at| at), 3);
        let expected: Vec<f64> = (1..=n).map(|at| at as f64 / 8.0).collect();
        all_near(x.as_slice(), &expected);
    }
    let x = descend(table(Extent::<(Fin<2>, Dyn)>::new(((), 2)), |at| at), 1);
    assert_eq!(x.as_slice(), [0.5, 1.0, 1.5, 2.0]);
}

struct Owner {
    weight: f64,
}

impl Owner {
    fn slope(&self, x: &Table<Dyn, f64>) -> f64 {
        grad!(quadratic, wrt = a)(x, self.weight)
    }
}

#[test]
fn in_a_method() {
    let x = table(Extent::new(3), |at| at);
    assert_eq!(Owner { weight: 2.0 }.slope(&x), 14.0);
}

/// The names of parameters are those of the function, of its own name and of what expansions use.
#[pointful]
fn named(named: f64, inputs: f64, outputs: f64) -> f64 {
    named * inputs * outputs
}

#[test]
fn awkward_names() {
    assert_eq!(grad!(named)(2.0, 3.0, 5.0), (15.0, 10.0, 6.0));
    assert_eq!(
        grad!(self::named, wrt = (outputs, named))(2.0, 3.0, 5.0),
        (6.0, 15.0)
    );
    let (value, map) = linearize!(named)(2.0, 3.0, 5.0);
    assert_eq!((value, map(1.0, 0.0, 1.0)), (30.0, 21.0));
}

// ---- Each of them ----

/// `y_i = x_i^2 sum(a)`
#[pointful]
fn scaled<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, a: &Table<K, f64>) -> Table<N, f64> {
    let s = sum(a);
    for i in _ {
        x[i] * x[i] * s
    }
}

/// `(sum x, x, how many)`
#[pointful]
fn several<N: IndexSet>(x: &Table<N, f64>, #[constant] by: f64) -> (f64, Table<N, f64>, usize) {
    (
        sum(x),
        for i in _ {
            x[i] * by
        },
        size(N),
    )
}

#[test]
fn vjp_and_jvp() {
    for n in EXTENTS {
        let x = table(Extent::<Dyn>::new(n), |at| 0.1 * at);
        let a = table(Extent::<Fin<2>>::new(()), |at| at);
        let ct = table(Extent::<Dyn>::new(n), |at| (at * 7.0).sin());
        let (value, (dx, da)) = vjp!(scaled)(&x, &a, &ct);
        all_near(value.as_slice(), scaled(&x, &a).as_slice());
        let pairs = || x.as_slice().iter().zip(ct.as_slice());
        let expected: Vec<f64> = pairs().map(|(x, c)| 6.0 * x * c).collect();
        all_near(dx.as_slice(), &expected);
        let total: f64 = pairs().map(|(x, c)| x * x * c).sum();
        all_near(da.as_slice(), &[total; 2]);
        let (value, tangent) = jvp!(scaled)(&x, &a, &ct, &a);
        all_near(value.as_slice(), scaled(&x, &a).as_slice());
        let expected: Vec<f64> = pairs().map(|(x, c)| 6.0 * x * c + 3.0 * x * x).collect();
        all_near(tangent.as_slice(), &expected);
    }
}

#[test]
fn tuples_have_a_cotangent_for_every_float_part() {
    for n in EXTENTS {
        let x = table(Extent::<Dyn>::new(n), |at| at);
        let ((total, _, count), dx) = vjp!(several)(&x, 3.0, 10.0, &x);
        near(total, x.as_slice().iter().sum());
        assert_eq!(count, n);
        let expected: Vec<f64> = x.as_slice().iter().map(|x| 10.0 + 3.0 * x).collect();
        all_near(dx.as_slice(), &expected);
        let (_, (total, rows)) = jvp!(several)(&x, 3.0, &x);
        near(total, x.as_slice().iter().sum());
        let expected: Vec<f64> = x.as_slice().iter().map(|x| 3.0 * x).collect();
        all_near(rows.as_slice(), &expected);
    }
}

#[test]
fn linear_maps_own_what_they_keep() {
    for n in EXTENTS {
        let (value, map) = {
            let x = table(Extent::<Dyn>::new(n), |at| at);
            let a = table(Extent::<Fin<2>>::new(()), |at| at);
            linearize!(scaled, wrt = x)(&x, &a)
        };
        let x = table(Extent::<Dyn>::new(n), |at| at);
        all_near(
            value.as_slice(),
            &x.as_slice().iter().map(|x| 3.0 * x * x).collect::<Vec<_>>(),
        );
        for factor in [1.0, -2.0] {
            let v = table(Extent::<Dyn>::new(n), |_| factor);
            let expected: Vec<f64> = x.as_slice().iter().map(|x| 6.0 * x * factor).collect();
            all_near(map(&v).as_slice(), &expected);
        }
    }
}

#[test]
fn jacobians_hessians_and_products_with_them() {
    for n in [0, 1, 2, 7, 60] {
        let x = table(Extent::<Dyn>::new(n), |at| 0.1 * at);
        let a = table(Extent::<Fin<2>>::new(()), |at| at);
        let (dx, da) = jacobian!(scaled)(&x, &a);
        let square = |diagonal: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let entry = |k: usize| {
                if k / n == k % n {
                    diagonal(x.as_slice()[k % n])
                } else {
                    0.0
                }
            };
            (0..n * n).map(entry).collect()
        };
        all_near(dx.as_slice(), &square(&|x| 6.0 * x));
        let expected: Vec<f64> = x.as_slice().iter().flat_map(|x| [x * x; 2]).collect();
        all_near(da.as_slice(), &expected);
        let ((xx, xa), (ax, aa)) = hessian!(quadratic)(&x, 3.0);
        all_near(xx.as_slice(), &square(&|_| 6.0));
        let expected: Vec<f64> = x.as_slice().iter().map(|x| 2.0 * x).collect();
        all_near(xa.as_slice(), &expected);
        all_near(ax.as_slice(), &expected);
        assert_eq!(aa, 0.0);
        let v = table(Extent::<Dyn>::new(n), |at| (3.0 * at).cos());
        let product = hvp!(quadratic, wrt = x)(&x, 3.0, &v);
        let expected: Vec<f64> = v.as_slice().iter().map(|v| 6.0 * v).collect();
        all_near(product.as_slice(), &expected);
    }
}

/// Weighs members of a set, some of them twice.
#[pointful]
fn picked(w: &Table<Channel, f64>, c: Channel, more: bool, k: i64) -> f64 {
    w[c] * if more { 2.0 } else { 1.0 } + k as f64
}

#[test]
fn one_more_axis() {
    for n in EXTENTS {
        let extent = Extent::<fit::Sample>::new(n);
        let xs = table(extent, |at| at);
        let squares: Table<fit::Sample, f64> = vmap!(grad!(cubed))(&xs);
        let expected: Vec<f64> = xs.as_slice().iter().map(|x| 3.0 * x * x).collect();
        all_near(squares.as_slice(), &expected);
        // What has no derivative is mapped, too; what is not chosen is not.
        let w = table(Extent::<Channel>::new(()), |at| at);
        let cs = Table::from_fn(extent, |s| {
            Channel::from_ordinal(s.ordinal(extent) % 3, Extent::new(()))
        });
        let more = Table::from_fn(extent, |s| s.ordinal(extent) % 2 == 0);
        let ks = Table::from_fn(extent, |s| s.ordinal(extent) as i64);
        let found = vmap!(picked, over = (c, more, k))(&w, &cs, &more, &ks);
        let one =
            |k: usize| (k % 3 + 1) as f64 * if k.is_multiple_of(2) { 2.0 } else { 1.0 } + k as f64;
        all_near(found.as_slice(), &(0..n).map(one).collect::<Vec<_>>());
        // A table with an axis of its own, by a gradient with respect to it.
        let rows = table(Extent::<(fit::Sample, Fin<2>)>::new((n, ())), |at| at);
        let each = vmap!(grad!(quadratic, wrt = x), over = x)(&rows, 2.0);
        let expected: Vec<f64> = rows.as_slice().iter().map(|x| 4.0 * x).collect();
        all_near(each.as_slice(), &expected);
    }
}

#[pointful]
fn cubed(x: f64) -> f64 {
    x * x * x
}

define! {
    fn by_two_names = grad!(by_one_name);
    fn by_one_name = grad!(cubed);
}

#[test]
fn to_any_depth() {
    assert_eq!(value_and_grad!(cubed)(2.0), (8.0, 12.0));
    assert_eq!(grad!(grad!(cubed))(2.0), 12.0);
    assert_eq!(grad!(grad!(grad!(cubed)))(2.0), 6.0);
    assert_eq!(jvp!(grad!(cubed))(2.0, 10.0), (12.0, 120.0));
    assert_eq!(
        vjp!(jvp!(cubed))(2.0, 1.0, 1.0, 1.0),
        ((8.0, 12.0), (24.0, 12.0))
    );
    assert_eq!(by_two_names(2.0), 12.0);
    assert_eq!(grad!(by_two_names)(2.0), 6.0);
    assert_eq!(hessian!(cubed)(2.0), 12.0);
    let (value, map) = linearize!(grad!(cubed))(2.0);
    assert_eq!((value, map(1.0)), (12.0, 12.0));
}

#[pointful]
fn single(x: &Table<Fin<4>, f32>, y: f32) -> f32 {
    sum(for i in _ {
        x[i].sin() * y
    })
}

#[pointful]
fn owned<const N: usize>(mut u: Table<Fin<N>, f64>, p: (f64, i64), n: Extent<Dyn>) -> f64 {
    for i in _ {
        u[i] = u[i] * p.0;
    }
    sum(u)
        * p.1 as f64
        * sum(for k in n {
            k.ordinal() as f64
        })
}

#[test]
fn other_parameters() {
    let x = Table::from_vec(Extent::<Fin<4>>::new(()), vec![0.0_f32, 1.0, 2.0, 3.0]).expect("four");
    let dx: Table<Fin<4>, f32> = grad!(single, wrt = x)(&x, 2.0);
    for (x, d) in x.as_slice().iter().zip(dx.as_slice()) {
        assert!((d - 2.0 * x.cos()).abs() < 1e-5);
    }
    let u = table(Extent::<Fin<3>>::new(()), |at| at);
    let n = Extent::<Dyn>::new(3);
    let (du, dp) = grad!(owned)(u.clone(), (2.0, 5), n);
    assert_eq!(du.as_slice(), [30.0; 3]);
    assert_eq!(dp.0, 90.0);
    let (value, map) = linearize!(owned)(u.clone(), (2.0, 5), n);
    assert_eq!(value, 180.0);
    assert_eq!(map(&u, (0.0, 0)), 180.0);
    assert_eq!(map(&u, (1.0, 0)), 270.0);
}

/// The sum of the products of all pairs of rows by the sum of their squares: each product is needed
/// by several loops.
#[pointful]
fn pairs<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> f64 {
    let squares = sum(for i in N {
        sum(for j in ..i {
            sum(for m in M {
                x[i][m] * x[j][m]
            })
            .powi(2)
        })
    });
    sum(for i in N {
        sum(for j in ..i {
            squares
                * sum(for m in M {
                    x[i][m] * x[j][m]
                })
        })
    })
}

#[test]
fn triangular_loops() {
    for n in [0, 1, 2, 7, 60] {
        let x = table(Extent::<(Dyn, Fin<2>)>::new((n, ())), |at| at.sin());
        let row = |i: usize| [x.as_slice()[2 * i], x.as_slice()[2 * i + 1]];
        let product = |i, j| row(i)[0] * row(j)[0] + row(i)[1] * row(j)[1];
        let below = |f: &dyn Fn(f64) -> f64| -> f64 {
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            pairs.map(|(i, j)| f(product(i, j))).sum()
        };
        let (products, squares) = (below(&|p| p), below(&|p| p * p));
        let (value, slope) = value_and_grad!(pairs)(&x);
        near(value, products * squares);
        let mut expected = Vec::new();
        for i in 0..n {
            for m in 0..2 {
                let by = |j| (squares + 2.0 * products * product(i, j)) * row(j)[m];
                expected.push((0..n).filter(|&j| j != i).map(by).sum());
            }
        }
        all_near(slope.as_slice(), &expected);
    }
}

#[pointful]
fn iterated(x: f64, steps: usize) -> f64 {
    let mut s = x;
    for _step in 0..steps {
        s = (s * x).sin();
    }
    s
}

/// Where the loop stands.
const LOOP: u32 = line!() - 7;

#[test]
fn an_explanation_says_what_loops_keep() {
    let text = explain!(grad!(iterated));
    let expected = format!("  the loop at {LOOP}:5 keeps 8·steps bytes for its way back\n");
    assert!(text.contains(&expected), "no {expected:?} in {text}");
}

#[test]
fn an_explanation_of_a_transformation() {
    let text = explain!(grad!(fit::loss, wrt = line));
    assert!(
        text.starts_with("grad_loss:")
            && text.contains("\nmemory: ")
            && text.contains("---- kernels"),
        "{text}"
    );
    assert!(explain!(fit::loss_grad).contains("---- kernels"));
    assert!(explain!(linearize!(cubed)).contains("---- kernels"));
}

// Rules that are wrong by a factor of ten, or altogether, which shows that they are taken.
#[pointful(vjp = square_vjp)]
fn square(x: f64) -> f64 {
    x * x
}
#[pointful]
fn square_vjp(x: f64, ct: f64) -> f64 {
    20.0 * x * ct
}
#[pointful(vjp = scaled_square_vjp)]
fn itself(x: f64) -> f64 {
    x
}
#[pointful]
fn scaled_square_vjp(x: f64, ct: f64) -> f64 {
    ct * square(x)
}
#[pointful]
fn energy<N: IndexSet>(x: &Table<N, f64>, w: f64) -> f64 {
    let s = sum(for i in N {
        square(x[i])
    });
    let mut t = 1.0;
    for i in N {
        t = t * square(x[i]) * 0.5;
    }
    w * s * s + t
}
#[pointful]
fn met_again<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        itself(x[i])
    })
}
#[test]
fn second_derivatives_go_over_rules_for_the_way_back() {
    for n in [0, 1, 2, 3, 9] {
        let x: Vec<f64> = (0..n).map(|i| 0.3 + 0.25 * i as f64).collect();
        let table = Table::<Dyn, f64>::from(x.clone());
        let w = 1.5;
        // As if the square's derivative were twenty times the number, and that one's twenty.
        let s: f64 = x.iter().map(|x| x * x).sum();
        let product = |without: &[usize]| -> f64 {
            let others = (0..n).filter(|i| !without.contains(i));
            others.map(|i| x[i] * x[i]).product::<f64>() * 0.5f64.powi(n as i32)
        };
        let entry = |i: usize, j: usize| {
            let (di, dj) = (20.0 * x[i], 20.0 * x[j]);
            let both = w * 2.0 * di * dj;
            if i == j {
                both + w * 2.0 * s * 20.0 + 20.0 * product(&[i])
            } else {
                both + di * dj * product(&[i, j])
            }
        };
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
        let (h, again) = (
            hessian!(energy, wrt = x)(&table, w),
            jacobian!(grad!(energy, wrt = x), wrt = x)(&table, w),
        );
        let hv = hvp!(energy, wrt = x)(&table, w, &table);
        for i in 0..n {
            for j in 0..n {
                close(h.as_slice()[i * n + j], entry(i, j));
                close(again.as_slice()[i * n + j], entry(i, j));
            }
            close(hv.as_slice()[i], (0..n).map(|j| entry(i, j) * x[j]).sum());
        }
        // The rule that is met in a rule is taken as well: of a square, twenty times the number.
        let twice = hvp!(met_again)(&table, &table);
        let second = hessian!(met_again)(&table);
        for (i, x) in x.iter().enumerate() {
            close(twice.as_slice()[i], 20.0 * x * x);
            close(second.as_slice()[i * n + i], 20.0 * x);
        }
    }
}

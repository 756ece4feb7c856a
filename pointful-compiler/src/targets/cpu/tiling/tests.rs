use super::{Size, tiling_of};
use crate::contract::schedule::schedule;
use crate::eval::compare::{Tolerance, difference};
use crate::eval::run;
use crate::explain::Structure;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::verify::verify;
use crate::ir::{Block, Operation};
use crate::lower::source::link;
use crate::pipeline;
use crate::testing::Rng;
use crate::testing::source::inputs;

/// Products in a block, at any depth.
fn products(block: &Block<Kernels>) -> usize {
    let of = |op: &KernelOp| usize::from(matches!(op, KernelOp::Contract { .. }));
    block
        .stmts
        .iter()
        .map(|stmt| of(&stmt.op) + stmt.op.blocks().into_iter().map(products).sum::<usize>())
        .sum()
}

/// Checks that the last function of a source means the same in tiles of several sizes, and that so
/// many products are multiplied.
#[track_caller]
fn check(source: &str, expected: usize) {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    let plain = schedule(stages.bulk.clone());
    let outside = Structure::of(&plain).contractions;
    for points in [1, 2, 3, 64] {
        let tiled = tiling_of(plain.clone(), Size::of(points));
        verify(&tiled).unwrap_or_else(|e| panic!("{source}\n{e:?}\n{}", crate::ir::print(&tiled)));
        assert_eq!(
            products(&tiled.body) - outside,
            expected,
            "{source}\n{}",
            crate::ir::print(&tiled)
        );
        for n in [0, 1, 2, 3, 7] {
            let inputs = inputs(&stages.point, n, &mut Rng::new(n as u64));
            match (run(&plain, &inputs), run(&tiled, &inputs)) {
                (Ok((a, _)), Ok((b, _))) => {
                    for (a, b) in a.iter().zip(&b) {
                        if let Some(what) = difference(a, b, Tolerance::default()) {
                            panic!("{source}\nat size {n} in tiles of {points}: {what}");
                        }
                    }
                }
                (Err(_), Err(_)) if n == 0 => {}
                (a, b) => panic!("{source}\nat size {n} in tiles of {points}: {a:?}\n{b:?}"),
            }
        }
    }
}

/// The squared lengths of differences in other coordinates, for each point and centre.
const SQUARES: &str = "
    #[pointful]
    fn squares<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, m: &Table<(K, D), f64>) -> Table<(N, K), f64> {
        for (n, k) in _ {
            sum(for i in D { sum(for j in D { f[k][i][j] * (x[n][j] - m[k][j]) }).powi(2) })
        }
    }";

#[test]
fn factors_made_on_the_way_are_written_down() {
    check(SQUARES, 1);
    // Both of them; in the other order; in f32.
    check(
        "#[pointful]
        fn both<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f32>, x: &Table<(N, D), f32>, s: &Table<K, f32>) -> Table<(N, K), f32> {
            for (n, k) in _ {
                max(for i in D { sum(for j in D { (x[n][j] * s[k]).sin() * (s[k] + f[k][j][i]).cos() }) })
            }
        }",
        1,
    );
}

#[test]
fn what_comes_before_and_after_is_kept_for_the_tile() {
    // The extremum is known when all products are, and what they were of is needed again.
    check(
        &format!(
            "{SQUARES}
            #[pointful]
            fn likelihood<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, m: &Table<(K, D), f64>, a: &Table<K, f64>) -> f64 {{
                sum(for n in N {{
                    let scale = sum(for j in D {{ x[n][j] * x[n][j] }}) + 1.0;
                    let y = for k in K {{
                        a[k] - sum(for i in D {{ sum(for j in D {{ f[k][i][j] * ((x[n][j] - m[k][j]) / scale) }}).powi(2) }})
                    }};
                    let top = max(y);
                    top + sum(for k in K {{ (y[k] - top).exp() }}).ln() + scale
                }})
            }}"
        ),
        1,
    );
}

#[test]
fn derivatives_add_products_up() {
    check(
        &format!(
            "{SQUARES}
            #[pointful]
            fn cost<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, m: &Table<(K, D), f64>) -> f64 {{
                let all = squares(&for (k, i, j) in _ {{ sum(for l in D {{ f[k][i][l] * f[k][j][l] }}) }}, x, m);
                sum(for n in N {{ sum(for k in K {{ (-all[n][k]).exp() }}).ln() }})
            }}
            #[pointful]
            fn slope<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, m: &Table<(K, D), f64>) -> (Table<(K, D, D), f64>, Table<(K, D), f64>) {{
                grad!(cost, wrt = (f, m))(f, x, m)
            }}"
        ),
        2,
    );
}

#[test]
fn a_product_may_follow_another() {
    check(
        "#[pointful]
        fn twice<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f64>, g: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, m: &Table<(K, D), f64>) -> Table<(N, K), f64> {
            for (n, k) in _ {
                let y = for i in D { sum(for j in D { f[k][i][j] * (x[n][j] - m[k][j]) }).tanh() };
                sum(for i in D { sum(for j in D { g[k][i][j] * y[j] }).abs() })
            }
        }",
        2,
    );
}

/// The squares of distances.
const NEAREST: &str = "
    #[pointful]
    fn nearest<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f32>, c: &Table<(K, D), f32>) -> f32 {
        sum(for n in N { min(for k in K { sum(for d in D { (x[n][d] - c[k][d]).powi(2) }) }) })
    }";

#[test]
fn pairs_of_points_and_rows_are_read_once_for_a_few_points() {
    check(NEAREST, 0);
    changed(NEAREST, true);
    // The place of the nearest, and what depends on it.
    let slope = format!(
        "{NEAREST}
        #[pointful]
        fn slope<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f32>, c: &Table<(K, D), f32>) -> Table<(K, D), f32> {{
            grad!(nearest, wrt = c)(x, c)
        }}"
    );
    check(&slope, 0);
    changed(&slope, true);
    // Other monoids; what a point has of its own, and what is known only after another sum.
    let widest = "
        #[pointful]
        fn widest<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>, c: &Table<(K, D), f64>, w: &Table<D, f64>) -> Table<N, f64> {
            for n in N {
                let scale = sum(for d in D { x[n][d].abs() }) + 1.0;
                let far = for k in K { max(for d in D { w[d] * (x[n][d] / scale - c[k][d]).abs() }) };
                let near = sum(far);
                sum(for k in K { prod(for d in D { near - x[n][d] * c[k][d].cos() }) * far[k] })
            }
        }";
    check(widest, 0);
    changed(widest, true);
    // Rows that are neighbours in memory are computed at once as they are.
    changed(
        "#[pointful]
        fn turned<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f32>, c: &Table<(D, K), f32>) -> f32 {
            sum(for n in N { min(for k in K { sum(for d in D { (x[n][d] - c[d][k]).powi(2) }) }) })
        }",
        false,
    );
}

/// Checks whether the last function of a source is changed.
#[track_caller]
fn changed(source: &str, expected: bool) {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    let plain = schedule(stages.bulk.clone());
    let tiled = crate::ir::print(&tiling_of(plain.clone(), Size::of(5)));
    assert_eq!(crate::ir::print(&plain) != tiled, expected, "{tiled}");
}

#[test]
fn what_is_no_product_of_matrices_stays() {
    // Both factors depend on the point, or an axis is short.
    check(
        "#[pointful]
        fn forms<N: IndexSet, K: IndexSet, D: IndexSet>(f: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>) -> Table<(N, K), f64> {
            for (n, k) in _ { sum(for i in D { sum(for j in D { (f[k][i][j] + x[n][i]) * x[n][j] }).powi(2) }) }
        }",
        0,
    );
    check(
        "#[pointful]
        fn short<N: IndexSet, K: IndexSet>(f: &Table<(K, Fin<3>, Fin<3>), f64>, x: &Table<(N, Fin<3>), f64>) -> Table<(N, K), f64> {
            for (n, k) in _ { sum(for i in Fin::<3> { sum(for j in Fin::<3> { f[k][i][j] * (x[n][j] - 1.0) }).powi(2) }) }
        }",
        0,
    );
}

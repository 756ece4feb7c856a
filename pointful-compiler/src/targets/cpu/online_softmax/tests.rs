use super::{Size, online_softmax, online_softmax_of};
use crate::contract::in_place;
use crate::contract::schedule::schedule;
use crate::eval::compare::{Tolerance, difference};
use crate::eval::{Inputs, ScalarValue, run};
use crate::explain::{Structure, explain};
use crate::ir::stages::kernels::Kernels;
use crate::ir::stages::point::Point;
use crate::ir::verify::verify;
use crate::ir::{Program, print};
use crate::lower::source::link;
use crate::pipeline;
use crate::testing::Rng;
use crate::testing::source::inputs;

/// The last function of a source as written, and as kernels to which the pass has not come yet.
#[track_caller]
fn kernels(source: &str) -> (Program<Point>, Program<Kernels>) {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    (stages.point, in_place(schedule(stages.bulk)))
}

/// Tiles of one point and of several, and axes that are too short for them.
const SIZES: [Size; 4] = [
    Size { tile: 1, least: 0 },
    Size { tile: 2, least: 0 },
    Size { tile: 3, least: 3 },
    Size { tile: 64, least: 2 },
];

/// Checks that two programs give the same.
#[track_caller]
fn compare(plain: &Program<Kernels>, tiled: &Program<Kernels>, inputs: &Inputs, what: &str) {
    let text = print(tiled);
    verify(tiled).unwrap_or_else(|e| panic!("{what}\n{e:?}\n{text}"));
    let (Ok((a, _)), Ok((b, _))) = (run(plain, inputs), run(tiled, inputs)) else {
        panic!("{what}\n{text}")
    };
    for (a, b) in a.iter().zip(&b) {
        if let Some(difference) = difference(a, b, Tolerance::default()) {
            panic!("{what}: {difference}\n{text}");
        }
    }
}

/// Checks that the last function of a source means the same in tiles of several sizes, and that
/// this is done to so many maxima.
#[track_caller]
fn check(source: &str, expected: usize) {
    let (point, plain) = kernels(source);
    for size in SIZES {
        let tiled = online_softmax_of(plain.clone(), size);
        // Tables of the tiles' maxima, and of one sum each.
        let made = Structure::of(&tiled).allocations - Structure::of(&plain).allocations;
        assert_eq!(made, 2 * expected, "{source}\n{}", print(&tiled));
        for n in [0, 1, 2, 3, 7] {
            let inputs = inputs(&point, n, &mut Rng::new(n as u64));
            let what = format!("{source}\nat size {n}, {size:?}");
            compare(&plain, &tiled, &inputs, &what);
        }
    }
}

const SOFTMAX: &str = "
    fn softmax<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        let largest = max(x);
        let e = for n in N { (x[n] - largest).exp() };
        let total = sum(e);
        for n in N { e[n] / total }
    }";

/// As the library has it: nothing is shifted by infinity.
const SHIFTED: &str = "
    fn shift<N: IndexSet>(x: &Table<N, f64>) -> f64 {
        let largest = stop_gradient(max(x));
        if largest.is_finite() { largest } else { 0.0 }
    }
    fn softmax<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        let shift = shift(x);
        let e = for n in N { (x[n] - shift).exp() };
        let total = sum(e);
        for n in N { e[n] / total }
    }";

#[test]
fn a_softmax_is_tiled() {
    check(SOFTMAX, 1);
    check(SHIFTED, 1);
    check(&SOFTMAX.replace("f64", "f32"), 1);
}

#[test]
fn scores_may_be_computed_on_the_way() {
    check(
        "fn attention<N: IndexSet, D: IndexSet>(k: &Table<(N, D), f64>, q: &Table<D, f64>) -> (Table<N, f64>, Table<N, f64>) {
            let z = for n in N { sum(for d in D { k[n][d] * q[d] }) };
            let largest = max(z);
            let e = for n in N { (z[n] - largest).exp() };
            let total = sum(e);
            (for n in N { e[n] / total }, z)
        }",
        1,
    );
    check(
        "fn cold<N: IndexSet>(x: &Table<N, f64>, heat: f64) -> (Table<N, f64>, f64) {
            let largest = max(for n in N { x[n] / heat });
            let e = for n in N { (x[n] / heat - largest).exp() };
            let total = sum(e);
            (for n in N { e[n] / total }, largest + total.ln() + min(x))
        }",
        1,
    );
    // In a table of each point's own, with something else added up on the way.
    check(
        "fn own<N: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>) -> (Table<N, f64>, f64) {
            let z = for n in N {
                let mut row = for d in D { x[n][d] };
                for d in D { row[d] *= row[d]; }
                sum(row) - max(row)
            };
            let largest = max(z);
            let e = for n in N { (z[n] - largest).exp() };
            let (total, squares) = (sum(e), sum(for n in N { z[n] * z[n] }));
            (for n in N { e[n] / total }, squares)
        }",
        1,
    );
}

#[test]
fn derivatives_and_loops_are_tiled() {
    check(
        &format!(
            "{SHIFTED}
            fn back<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>) {{
                vjp!(softmax)(x, y)
            }}"
        ),
        1,
    );
    check(
        "fn shift<N: IndexSet>(x: &Table<N, f64>) -> f64 { stop_gradient(max(x)) }
        fn logsumexp<N: IndexSet>(x: &Table<N, f64>) -> f64 {
            let shift = shift(x);
            shift + sum(for n in N { (x[n] - shift).exp() }).ln()
        }
        fn both<N: IndexSet>(x: &Table<N, f64>) -> (f64, Table<N, f64>) {
            value_and_grad!(logsumexp)(x)
        }",
        1,
    );
    check(
        &format!(
            "{SOFTMAX}
            fn again<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {{
                let mut y = x.clone();
                for t in 0..3 {{
                    y = 2.0 * softmax(&y);
                }}
                y
            }}"
        ),
        1,
    );
}

#[test]
fn what_is_needed_otherwise_stays() {
    // The exponentials are a result; nobody keeps them; they are read all by each point.
    check(
        "fn powers<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, f64) {
            let largest = max(x);
            let e = for n in N { (x[n] - largest).exp() };
            let total = sum(e);
            (e, total)
        }",
        0,
    );
    check(
        "fn logsumexp<N: IndexSet>(x: &Table<N, f64>) -> f64 {
            let largest = max(x);
            largest + sum(for n in N { (x[n] - largest).exp() }).ln()
        }",
        0,
    );
    check(
        "fn mean<N: IndexSet, D: IndexSet>(x: &Table<N, f64>, v: &Table<(N, D), f64>) -> Table<D, f64> {
            let largest = max(x);
            let e = for n in N { (x[n] - largest).exp() };
            let total = sum(e);
            for d in D { sum(for n in N { e[n] / total * v[n][d] }) }
        }",
        0,
    );
}

#[test]
fn other_maxima_and_other_uses_stay() {
    // What is added up beside the exponentials needs the minimum of all.
    check(
        "fn spread<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, f64) {
            let (largest, least) = (max(x), min(x));
            let e = for n in N { (x[n] - largest).exp() };
            let total = sum(e);
            let spread = sum(for n in N { (x[n] - least).powi(2) });
            (for n in N { e[n] / total }, spread)
        }",
        0,
    );
    // It is not the maximum of what it is taken from; it is used otherwise, too; exponentials are squared.
    for exponential in [
        "(2.0 * x[n] - largest).exp()",
        "(x[n] - largest).exp() * largest",
        "(x[n] - largest).exp().powi(2)",
        "(x[n] - largest).exp2()",
        "(largest - x[n]).exp()",
    ] {
        check(&SOFTMAX.replace("(x[n] - largest).exp()", exponential), 0);
    }
}

#[test]
fn an_axis_that_is_known_to_be_short_stays() {
    let (_, plain) = kernels(
        "fn short(x: &Table<Fin<5000>, f64>) -> Table<Fin<5000>, f64> {
            let largest = max(x);
            let e = for n in _ { (x[n] - largest).exp() };
            let total = sum(e);
            for n in _ { e[n] / total }
        }",
    );
    assert_eq!(online_softmax(plain.clone()), plain);
    let size = Size {
        tile: 64,
        least: 5000,
    };
    assert_ne!(online_softmax_of(plain.clone(), size), plain);
}

#[test]
fn what_is_chosen_is_explained() {
    let linked = link(SOFTMAX).expect("a program");
    let text = explain(&pipeline::stages(&linked).expect("a right program"));
    for line in [
        "the host, if N ≥ 524288",
        "largest, then e_total, tile by tile while a cache holds it",
        "parallel over tile: ⌈N / 1024⌉",
        "otherwise",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn infinities_and_what_is_no_number_stay_what_they_are() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for source in [SOFTMAX, SHIFTED] {
        let (point, plain) = kernels(source);
        for x in [
            [-inf, -inf, 1.0, -inf, 2.0],
            [-inf, -inf, -900.0, -901.0, -inf],
            [-inf; 5],
            [0.0, 1.0, inf, 2.0, -inf],
            [inf, 1.0, inf, 2.0, 3.0],
            [0.0, nan, 1.0, 2.0, -inf],
            [nan; 5],
            [800.0, -800.0, 801.0, -1e300, 1e300],
            [-1.7e308, 1.7e308, 0.0, -1e308, 1e308],
        ] {
            let mut inputs = inputs(&point, 5, &mut Rng::new(0));
            for (at, x) in x.into_iter().enumerate() {
                inputs.params[0].values[at] = ScalarValue::F64(x);
            }
            for size in SIZES {
                let tiled = online_softmax_of(plain.clone(), size);
                let what = format!("{source}\nof {x:?}, {size:?}");
                compare(&plain, &tiled, &inputs, &what);
            }
        }
    }
}

//! Loops by diagonals mean what they meant.

use super::loop_skewing_of;
use crate::contract::in_place::in_place;
use crate::contract::schedule::schedule;
use crate::eval::compare::{Tolerance, difference};
use crate::eval::run;
use crate::eval::{Data, Inputs, ScalarValue};
use crate::ir::stages::kernels::Kernels;
use crate::ir::verify::verify;
use crate::ir::{Program, Scalar, parse, print};
use crate::lower::source::link;
use crate::pipeline;
use crate::testing::Rng;
use crate::testing::entered::SKEWED;
use crate::testing::source::inputs;

/// Checks that the last function of a source means the same diagonal by diagonal, and of how
/// many of its nests that is made. Sums of all cells are added up in another order.
#[track_caller]
fn check(source: &str, nests: u32) {
    let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
    let stages = pipeline::stages(&linked)
        .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
    let plain: Program<Kernels> = in_place(schedule(stages.bulk));
    for least in [1, 2, 5] {
        let before = SKEWED.get();
        let skewed = loop_skewing_of(plain.clone(), least);
        let text = print(&skewed);
        verify(&skewed).unwrap_or_else(|e| panic!("{source}\n{e:?}\n{text}"));
        assert_eq!(SKEWED.get() - before, nests, "{source}\n{text}");
        for n in [0, 1, 2, 3, 7] {
            let inputs = inputs(&stages.point, n, &mut Rng::new(n as u64));
            let (a, b) = match (run(&plain, &inputs), run(&skewed, &inputs)) {
                (Ok((a, _)), Ok((b, _))) => (a, b),
                (Err(a), Err(b)) if a == b => continue,
                (a, b) => panic!("{source}\n{a:?}\n{b:?}\n{text}"),
            };
            for (a, b) in a.iter().zip(&b) {
                let tolerance = Tolerance {
                    f32: 0.0,
                    f64: 1e-13,
                };
                if let Some(difference) = difference(a, b, tolerance) {
                    panic!("{source}\nat {n}, {least}: {difference}\n{text}");
                }
            }
        }
    }
}

/// A function of two series that fills in a table by loops over both.
fn table(loops: &str) -> String {
    format!(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<(N, K), f64> {{
            let mut t = for (i, j) in (N, K) {{ 0.1 * x[i] + y[j] }};
            {loops}
            t
        }}"
    )
}

/// Dynamic time warping with a smooth minimum, by rows.
const WARPING: &str = "
    fn soft(a: f64, b: f64, c: f64, gamma: f64) -> f64 {
        let least = a.min(b).min(c);
        let near = |x: f64| ((least - x) / gamma).exp();
        least - gamma * (near(a) + near(b) + near(c)).ln()
    }
    fn warped<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> Table<K, f64> {
        let mut row = for _j in K { 50.0 };
        let mut corner = 0.0;
        for i in N {
            let mut diagonal = corner;
            let mut left = 50.0;
            row = for j in K {
                let best = soft(diagonal, row[j], left, gamma);
                diagonal = row[j];
                left = (x[i] - y[j]).powi(2) + best;
                left
            };
            corner = 50.0;
        }
        row
    }";

#[test]
fn a_table_filled_in_from_its_neighbours() {
    let cell = "let up = t.get((i - 1, j)).unwrap_or(1.0);
        let left = t.get((i, j - 1)).unwrap_or(x[i]);
        let corner = t.get((i - 1, j - 1)).unwrap_or(0.5);
        t[(i, j)] = (up * left - corner).sin() + y[j];";
    check(
        &table(&format!("for i in N {{ for j in K {{ {cell} }} }}")),
        1,
    );
}

#[test]
fn loops_may_go_backwards() {
    let cell = "let down = t.get((i + 1, j)).unwrap_or(1.0);
        let right = t.get((i, j + 1)).unwrap_or(x[i]);
        t[(i, j)] = (down - right).exp() + t[(i, j)];";
    check(
        &table(&format!(
            "for i in N.rev() {{ for j in K.rev() {{ {cell} }} }}"
        )),
        1,
    );
    let cell = "let down = t.get((i + 1, j)).unwrap_or(1.0);
        let left = t.get((i, j - 1)).unwrap_or(x[i]);
        t[(i, j)] = (down - left).exp() + t[(i, j)];";
    check(
        &table(&format!("for i in N.rev() {{ for j in K {{ {cell} }} }}")),
        1,
    );
}

#[test]
fn what_would_be_read_too_early_or_too_late_stays() {
    for read in ["(i - 1, j + 1)", "(i - 2, j + 1)", "(i - 1, j + 2)"] {
        let cell = format!(
            "t[(i, j)] = t.get({read}).unwrap_or(1.0).exp() - t.get((i, j - 1)).unwrap_or(2.0);"
        );
        let skewed = u32::from(read == "(i - 2, j + 1)");
        check(
            &table(&format!("for i in N {{ for j in K {{ {cell} }} }}")),
            skewed,
        );
    }
}

#[test]
fn rows_and_variables_of_a_row() {
    check(WARPING, 1);
}

#[test]
fn what_a_row_waits_for_stays() {
    // The next row begins with what the last one ended with.
    check(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> f64 {
            let mut s = 1.0;
            for i in N { for j in K { s = (s * x[i] + y[j]).sin(); } }
            s
        }",
        0,
    );
}

#[test]
fn what_later_rows_change_is_looked_at_in_its_row() {
    check(
        "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<N, f64> {
            let mut u = y.clone();
            let mut last = x.clone();
            let mut s = 0.0;
            for i in N {
                let mut left = x[i];
                for j in K { left = (u[j] - left).sin(); u[j] = left; s += left; }
                last[i] = s * u.get(0).unwrap_or(0.5);
            }
            last
        }",
        0,
    );
}

#[test]
fn what_is_done_after_a_row() {
    let cell = "let left = t.get((i, j - 1)).unwrap_or(x[i]);
        t[(i, j)] = (t.get((i - 1, j)).unwrap_or(0.3) * left).cos();";
    let loops = format!(
        "let mut last = x[..]; for i in N {{ let mut s = 0.0; for j in K {{ {cell} s += t[(i, j)]; }} last[i] = s * s; }}"
    );
    let source = table(&loops)
        .replace("x[..]", "for i in N { x[i] }")
        .replace(
            "                t\n            }",
            "                for (i, j) in (N, K) { t[(i, j)] + last[i] }\n            }",
        );
    check(&source, 1);
}

#[test]
fn gradients_both_ways() {
    let source = format!(
        "{WARPING}
        fn loss<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> f64 {{
            sum(warped(x, y, gamma))
        }}
        fn g<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> (Table<N, f64>, Table<K, f64>, f64) {{
            grad!(loss)(x, y, 1.5 + gamma * gamma)
        }}"
    );
    check(&source, 2);
}

#[test]
fn extrema_where_nothing_is_a_number() {
    for start in ["f64::NAN", "2.0"] {
        let source = format!(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> f64 {{
                let mut row = for j in K {{ y[j] }};
                let mut most = {start};
                for i in N {{
                    for j in K {{
                        row[j] = (row[j] + x[i] * f64::NAN).sin();
                        most = most.max(row[j]);
                    }}
                }}
                most
            }}"
        );
        check(&source, 1);
    }
}

/// Checks that a program of kernels, of `x: f64[N]` and an own `t: f64[N, K]`, whose outer loop has
/// this body, stays as it is or not, and means the same.
#[track_caller]
fn check_kernels(body: &str, is_skewed: bool) {
    let text = format!(
        "fn f(x: f64[N], own t: f64[N, K]) -> (f64[N, K], f64[N], f64) {{
           %0 = alloc f64[N] fill 0.0f64
           %1 = const 0.0f64
           %2 = var %1
           for %3: N {{ {body} }}
           %90 = get %2
           return t, %0, %90
         }}"
    );
    let plain = parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let skewed = loop_skewing_of(plain.clone(), 1);
    let text = print(&skewed);
    verify(&skewed).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(skewed.body != plain.body, is_skewed, "{text}");
    for [n, k] in [[1, 1], [1, 4], [4, 1], [3, 5], [6, 4]] {
        let number = |at: usize| ScalarValue::F64(((at * 7 + 3) % 11) as f64 / 8.0);
        let floats = |shape: Vec<usize>| {
            let count = shape.iter().product();
            Data::new(Scalar::F64, shape, (0..count).map(number).collect())
        };
        let inputs = Inputs {
            sizes: vec![n, k],
            params: vec![floats(vec![n]), floats(vec![n, k])],
        };
        let [a, b] = [&plain, &skewed].map(|program| run(program, &inputs).map(|(a, _)| a));
        assert_eq!(a, b, "{n} by {k}\n{text}");
    }
}

/// A loop over `K` whose cell sets `t[i, j]` to a function of itself and these statements.
fn cells(statements: &str) -> String {
    format!(
        "for %20: K {{
           %21 = load t[%3, %20]
           {statements}
           %29 = exp %28
           store t[%3, %20], %29
         }}"
    )
}

#[test]
fn variables_that_change_between_loops_or_after_them_stay() {
    let cell = cells("%27 = get %11 %28 = sub %21, %27");
    let map = "par %12: K { %14 = neg %1 }";
    let start = "%10 = load x[%3] %11 = var %10";
    check_kernels(&format!("{start} {map} {cell}"), true);
    // The cells see what it is set to after the first loop.
    check_kernels(&format!("{start} {map} set %11, %1 {cell}"), false);
    // What waits for them sees it after they have.
    let late = "%30 = get %16 %31 = get %11 %32 = add %30, %31 store %0[%3], %32";
    let sums = cells("%27 = get %11 %28 = sub %21, %27 set %16, %28");
    check_kernels(&format!("{start} %16 = var %10 {sums} {late}"), true);
    check_kernels(
        &format!("{start} %16 = var %10 {sums} set %11, %1 {late}"),
        false,
    );
    // A variable from outside that each row changes before or after its cells.
    let cell = cells("%27 = get %2 %28 = sub %21, %27");
    check_kernels(&format!("{cell} set %2, %1"), false);
    check_kernels(&format!("{start} set %2, %10 {cell}"), false);
    // One that the cells do not look at.
    let cell = cells("%28 = sub %21, %1");
    check_kernels(
        &format!("{start} set %2, %10 {cell} %30 = get %2 store %0[%3], %30"),
        true,
    );
}

#[test]
fn numbers_that_are_far_from_an_index_are_no_distance_from_it() {
    // Twice the largest number wraps around to 2 less: a cell of the same diagonal.
    for (by, is_skewed) in [("-1i64", true), ("9223372036854775807i64", false)] {
        let cell = cells(&format!(
            "%22 = cast i64 %3 %23 = const {by} %24 = add %22, %23 %25 = add %24, %23
             %26 = cast i64 %20 %27 = const 2i64 %30 = add %26, %27
             %31 = in_range N %25 %32 = in_range K %30 %33 = and %31, %32 %34 = var %21
             if %33 {{ %40 = trust N %25 %41 = trust K %30 %42 = load t[%40, %41] set %34, %42 }}
             %35 = get %34 %28 = neg %35"
        ));
        let beside = cell.replace("const 2i64", "const 1i64");
        check_kernels(&cell, false);
        check_kernels(&beside, is_skewed);
    }
}

#[test]
fn what_is_handed_on_is_combined() {
    let start = "%10 = get %2 %11 = var %10";
    let end = "%50 = get %11 set %2, %50";
    let row = |statements: &str| cells(&format!("{statements} %28 = sub %21, %1"));
    let sum = row(
        "%22 = load x[%3] %23 = get %11 %24 = add %22, %23 %25 = sub %24, %22 %26 = add %25, %22 set %11, %26",
    );
    check_kernels(&format!("{start} {sum} {end}"), true);
    let difference = row("%22 = load x[%3] %23 = get %11 %24 = sub %23, %22 set %11, %24");
    check_kernels(&format!("{start} {difference} {end}"), true);
    let sometimes = row(
        "%22 = load x[%3] %23 = gt %22, %1\n if %23 { %24 = get %11 %25 = max %24, %22 set %11, %25 } else { %34 = get %11 %35 = max %22, %34 set %11, %35 }",
    );
    check_kernels(&format!("{start} {sometimes} {end}"), true);
    // What a cell has made of it is seen.
    let seen = format!("{end} store %0[%3], %50");
    check_kernels(&format!("{start} {sum} {seen}"), false);
    let seen = row("%23 = get %11 %24 = add %23, %21 set %11, %24 store %0[%3], %24");
    check_kernels(&format!("{start} {seen} {end}"), false);
    // By two operations, by none, or twice the same.
    let two = row(
        "%23 = get %11 %24 = max %21, %23 set %11, %24 %25 = get %11 %26 = add %25, %1 set %11, %26",
    );
    check_kernels(&format!("{start} {two} {end}"), false);
    let from = row("%23 = get %11 %24 = sub %21, %23 set %11, %24");
    check_kernels(&format!("{start} {from} {end}"), false);
    let twice = row("%23 = get %11 %24 = add %23, %23 set %11, %24");
    check_kernels(&format!("{start} {twice} {end}"), false);
    // Each row begins anew, or leaves what was there.
    let sum = row("%23 = get %11 %24 = add %23, %21 set %11, %24");
    check_kernels(&format!("{start} %50 = get %11 {sum} set %2, %50"), true);
    check_kernels(&format!("%10 = load x[%3] %11 = var %10 {sum} {end}"), true);
}

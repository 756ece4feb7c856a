//! Random programs, and programs that were scheduled wrongly once, made small.

use super::schedule;
use crate::canonicalize::{cse, dce, simplify};
use crate::eval::{Data, Inputs, ScalarValue, run};
use crate::expand::expand;
use crate::ir::parse::parse;
use crate::ir::print::print;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::point::Point;
use crate::ir::verify::verify;
use crate::ir::{Program, Scalar};
use crate::testing::check_between;

#[test]
fn random_programs_are_scheduled() {
    let lifted = |program: Program<Point>| {
        let point = dce(cse(simplify(program)));
        dce(cse(simplify(expand(point))))
    };
    check_between(300, lifted, schedule);
}

/// Checks that the kernels compute what the definitions do.
fn check(text: &str, sizes: &[usize], params: Vec<Data>) {
    let program = parse::<Bulk>(text).unwrap_or_else(|error| panic!("{error}"));
    let kernels = schedule(program.clone());
    verify(&kernels).unwrap_or_else(|error| panic!("{error}"));
    let sizes = sizes.to_vec();
    let inputs = Inputs { sizes, params };
    let (expected, _) = run(&program, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let (found, _) =
        run(&kernels, &inputs).unwrap_or_else(|error| panic!("{error}\n{}", print(&kernels)));
    assert_eq!(found, expected);
    let kept = crate::contract::scalar_replacement(kernels.clone());
    let (found, _) =
        run(&kept, &inputs).unwrap_or_else(|error| panic!("{error}\n{}", print(&kept)));
    assert_eq!(found, expected);
}

#[test]
fn what_is_ragged_has_room_for_the_longest_where_a_later_loop_needs_it() {
    // Products that do not depend on the outermost axis; and lengths that are themselves computed, by a loop that must end before.
    let text = "
axes i: C, k: K, p: P, a: %0
fn f(x: i64[i, k], y: i64[p], n: usize[i, k]) -> i64[p] {
  %0[i] = reduce add [k] n
  %1[i, a] = iota a
  %2[i, a] = cast i64 %1
  %3[i, a, k] = mul x, %2
  %4[i, a] = reduce add [k] %3
  %5[p, i, a] = mul %4, y
  %6[p, i] = reduce max [a] %5
  %7[p] = reduce add [i] %6
  return %7[p]
}";
    for (c, k, p) in [(0, 2, 3), (2, 0, 2), (1, 1, 1), (3, 3, 2), (7, 4, 5)] {
        let params = vec![
            Data::i64s(&[c, k], (0..c * k).map(|n| n as i64 - 5)),
            Data::i64s(&[p], (0..p).map(|n| 3 - 2 * n as i64)),
            Data::new(
                Scalar::Usize,
                vec![c, k],
                (0..c * k).map(|n| ScalarValue::Usize(n % 4)).collect(),
            ),
        ];
        check(text, &[c, k, p], params);
    }
}

#[test]
fn extrema_and_their_places_are_found_together() {
    let text = "
axes n: N, k: K
fn f(x: f64[n, k], y: i64[n, k], z: idx<K>[n, k]) -> (f64[n], usize[n], f64[k], usize[k], i64[n], usize[n], usize[n]) {
  %0[n] = reduce min [k] x
  %1[n] = reduce argmin [k] x
  %2[n] = cast usize %1
  %3[k] = reduce max [n] x
  %4[k] = reduce argmax [n] x
  %5[k] = cast usize %4
  %6[n] = reduce max [k] y
  %7[n] = reduce argmax [k] y
  %8[n] = cast usize %7
  %9[n] = reduce argmin [k] z
  %10[n] = cast usize %9
  return %0[n], %2[n], %3[k], %5[k], %6[n], %8[n], %10[n]
}";
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let rows = [
        [1.0, nan, 3.0],
        [nan, nan, nan],
        [nan, 2.0, 2.0],
        [inf, nan, inf],
        [-inf, -0.0, 0.0],
        [nan, -inf, -inf],
        [0.0, -0.0, nan],
    ];
    let ints = |shape: &[usize], i: usize| {
        let extremes = [i64::MAX, i64::MIN, 3, 3, -7];
        let count = shape.iter().product::<usize>();
        Data::i64s(shape, (0..count).map(|n| extremes[(n * i) % 5]))
    };
    for (n, k) in [(7, 3), (7, 2), (7, 1), (2, 3), (1, 1), (0, 0)] {
        let elements = rows.iter().take(n).flat_map(|row| row.iter().take(k));
        let places = (0..n * k).map(|i| ScalarValue::Usize((i * 5 + 1) % k.max(1)));
        let params = |i: usize| {
            vec![
                Data::f64s(&[n, k], elements.clone().copied()),
                ints(&[n, k], i),
                Data::new(Scalar::Usize, vec![n, k], places.clone().collect()),
            ]
        };
        (0..4).for_each(|i| check(text, &[n, k], params(i)));
    }
}

#[test]
#[should_panic(expected = "argmin or argmax of an empty table")]
fn of_nothing_there_is_no_extremum() {
    let text = "
axes n: N, k: K
fn f(x: f64[n, k]) -> usize[n] {
  %0[n] = reduce argmin [k] x
  %1[n] = cast usize %0
  return %1[n]
}";
    let kernels = schedule(parse::<Bulk>(text).unwrap_or_else(|error| panic!("{error}")));
    let inputs = Inputs {
        sizes: vec![2, 0],
        params: vec![Data::f64s(&[2, 0], [])],
    };
    run(&kernels, &inputs).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_runs_along_an_axis_that_may_not_exist_is_not_begun() {
    let text = "
axes i: C, a: %1
fn f(x: f64[i], all: bool) -> f64[i] {
  %0 = or all, all
  %1 = cast usize %0
  %2[a] = iota a
  %3[a] = cast f64 %2
  %4[i] = mul x, x
  %5[i, a] = sub %4, %3
  %6[i] = reduce max [a] %5
  return %6[i]
}";
    let program = parse::<Bulk>(text).unwrap_or_else(|error| panic!("{error}"));
    let mut ops = [false, true].map(|all| {
        let x = Data::f64s(&[50], (0..50).map(f64::from));
        let all = Data::scalar(ScalarValue::Bool(all));
        let params = vec![x, all];
        check(text, &[50], params.clone());
        let inputs = Inputs {
            sizes: vec![50],
            params,
        };
        let (_, counts) =
            run(&schedule(program.clone()), &inputs).unwrap_or_else(|e| panic!("{e}"));
        counts.ops
    });
    ops[0] += 100;
    assert!(ops[0] <= ops[1], "{ops:?}");
}

#[test]
fn in_a_loop_over_a_set_the_set_has_members() {
    let text = "
axes p: P, i: C, a: %1
fn f(y: i64[p], x: i64[i]) -> i64[p] {
  %0[i] = iota i
  %1[i] = cast usize %0
  %2[i, a] = iota a
  %3 = size P
  %4 = const 0usize
  %5 = gt %3, %4
  %6[i, a] = trust C %2 if %5
  %7[i, a] = gather x [i := %6] if %5
  %8[i, a] = add x, %7 if %5
  %9[p, i, a] = mul %8, y
  %10[p, i] = reduce add [a] %9
  %11[p] = reduce add [i] %10
  return %11[p]
}";
    for (p, c) in [(0, 2), (1, 0), (2, 1), (3, 7)] {
        let params = vec![
            Data::i64s(&[p], (0..p).map(|n| 3 - 2 * n as i64)),
            Data::i64s(&[c], (0..c).map(|n| n as i64 - 5)),
        ];
        check(text, &[p, c], params);
    }
    let program = parse::<Bulk>(text).unwrap_or_else(|error| panic!("{error}"));
    let kernels = print(&schedule(program.clone()));
    assert!(!kernels.contains("if "), "{kernels}");
}

#[test]
fn an_update_of_an_update_begins_with_all_of_it() {
    let text = "
axes a: 2, n: N
fn f(x: i64[a, n], y: i64[n], i: idx<2>, j: idx<2>) -> i64[a, n] {
  %0[a, n] = update x [a := i] y
  %1[a, n] = update %0 [a := j] y
  return %1[a, n]
}";
    for n in [0, 1, 2] {
        let params = vec![
            Data::i64s(&[2, n], (0..2 * n).map(|k| k as i64)),
            Data::i64s(&[n], (0..n).map(|k| -(k as i64))),
            Data::from(1usize),
            Data::from(1usize),
        ];
        check(text, &[n], params);
    }
}

#[test]
fn what_begins_with_another_sum_comes_after_it_behind_one_condition() {
    let text = "
axes m: M, n: N
fn f(c: bool, i: idx<M>, v: i64[n]) -> i64[m] {
  %0 = const 0i64
  %1[m] = scatter add %0 [m := i] over [n] v if c
  %2[m] = scatter add %1 [m := i] over [n] v if c
  %3[m] = select c, %2, %0
  return %3[m]
}";
    for c in [false, true] {
        let v = Data::i64s(&[3], [1, 2, 3]);
        check(text, &[2, 3], vec![Data::from(c), Data::from(1usize), v]);
    }
}

#[test]
fn a_fold_may_begin_with_a_fold() {
    let text = "
axes k: K, a: n
fn f(c: bool, x: f64[k], y: f64, n: usize) -> f64 {
  %0 = reduce (y) [a] y { |%1, %2|
    %3 = add %1, %2
    yield %3
  }
  %4 = reduce (%0) [k] x { |%5, %6|
    %7 = add %5, %6
    yield %7
  }
  %8 = select c, y, %4
  return %8
}";
    for c in [false, true] {
        let x = Data::f64s(&[2], [1.0, 2.0]);
        check(
            text,
            &[2],
            vec![Data::from(c), x, Data::from(0.5f64), Data::from(3usize)],
        );
    }
}

#[test]
fn a_condition_may_wait_for_a_later_loop() {
    let text = "
axes n: N, a: 3
fn f(i: idx<N>, x: f64[n], y: f64, j: idx<N>) -> f64[a] {
  %0[n] = update x [n := i] y
  %1 = const 0i64
  %2 = const false
  %3 = while (%4 = %1) {
    yield %2
  } do { |%5|
    yield %1
  }
  %6 = in_range N %3
  %7 = gather %0 [n := j]
  %8 = select %6, y, %7
  return %8[a]
}";
    let x = Data::f64s(&[2], [1.0, 2.0]);
    let params = vec![
        Data::from(0usize),
        x,
        Data::from(5.0f64),
        Data::from(1usize),
    ];
    check(text, &[2], params);
}

#[test]
fn what_may_panic_stays_in_a_loop_that_may_not_run() {
    let text = "
axes n: N, m: M
fn f(x: f64[n, m], y: f64, k: i64) -> f64 {
  %0 = loop %1: m (%2 = y) {
    %3 = wrap N k
    %4 = gather x [n := %3, m := %1]
    yield %4
  }
  return %0
}";
    for (n, m) in [(0, 0), (2, 0), (2, 3)] {
        let x = Data::f64s(&[n, m], (0..n * m).map(|k| k as f64));
        check(text, &[n, m], vec![x, Data::from(7.0f64), Data::from(5i64)]);
    }
}

#[test]
fn a_buffer_is_made_between_its_length_and_what_fills_it_though_all_are_behind_one_condition() {
    let text = "
axes d: 2, t: %5
fn f(x: f64[d], y: f64, i: idx<2>) -> f64 {
  %0 = const 0usize
  %1 = const 0.0f64
  %2 = const 1usize
  %14 = gt y, %1
  %4[d], %5 = while (%6[d] = x, %7 = %0) {
    %8 = gather %6 [d := i]
    %9 = lt %8, y
    yield %9
  } do { |%10[d], %11|
    %12[d] = add %10, %10
    %13 = add %11, %2
    yield %12, %13
  } if %14
  %15[d], %16[t, d] = loop %17: t (%18[d] = x) {
    %19[d] = add %18, %18
    yield %19; %18
  } if %14
  %20[d] = scatter add %1 [d := i] over [] y if %14
  %21 = gather %4 [d := i] if %14
  %22[d] = scatter add %20 [d := i] over [] %21 if %14
  %23[d] = loop rev %24: t (%25[d] = %22) {
    %26[d] = gather %16 [t := %24]
    %27[d] = mul %25, %26
    yield %27
  } if %14
  %28 = gather %23 [d := i] if %14
  %29 = select %14, %28, %1
  return %29
}";
    for y in [-1.0, 0.5, 9.0] {
        let x = Data::f64s(&[2], [1.0, 2.0]);
        let params = vec![x, Data::from(y), Data::from(1usize)];
        check(text, &[], params);
    }
}

#[test]
fn lanes_that_a_result_lacks_do_not_race() {
    let text = "
axes n: N, t: N
fn f(k: i64) -> idx<N>[t] {
  %0[t] = loop %1: t lanes [n] () {
    %2 = wrap N k
    yield; %2
  }
  return %0[t]
}";
    for n in [1, 2, 7] {
        check(text, &[n], vec![Data::from(5i64)]);
    }
}

#[test]
fn what_is_read_elsewhere_is_computed_where_the_reader_does_not_read() {
    // A member reads its predecessor if it has one. The first has none and is a predecessor.
    let text = "
axes n: N, t: 2
fn f(x: f64[n]) -> f64[n] {
  %0 = const 1i64
  %1[n] = iota n
  %2[n] = cast i64 %1
  %3[n] = sub %2, %0
  %4[n] = in_range N %3
  %5 = const 1.0f64
  %6[n] = trust N %3 if %4
  %7[n] = loop %8: t (%9[n] = x) {
    %10[n] = gather %9 [n := %6] if %4
    %11[n] = select %4, %10, %5
    %12[n] = mul %9, %11
    %13[n] = gather %12 [n := %6] if %4
    %14[n] = select %4, %13, %5
    yield %14
  }
  return %7[n]
}";
    for n in [0, 1, 2, 7] {
        let x = Data::f64s(&[n], (0..n).map(|k| k as f64 + 2.0));
        check(text, &[n], vec![x]);
    }
}

#[test]
fn what_a_guard_leaves_out_may_be_read_when_nobody_uses_it() {
    let text = "
axes n: N, a: k, t: N
fn f(own x: f64[n], k: usize) -> f64[n] {
  %0 = const 0usize
  %1 = gt k, %0
  %2 = const 0i32
  %3[n] = loop %4: t (%5[n] = x) {
    %6 = wrap N %2
    %7 = gather x [n := %6]
    %8[n] = update %5 [n := %4] %7
    yield %8
  } if %1
  %9[n] = reduce min [a] %3
  return %9[n]
}";
    for (n, k) in [(0, 0usize), (1, 0), (3, 0), (3, 2)] {
        let x = Data::f64s(&[n], (0..n).map(|k| k as f64));
        check(text, &[n], vec![x, Data::from(k)]);
    }
}

#[test]
fn elements_of_a_scan_that_are_arrays_need_not_be_stored() {
    let text = "
axes a: 2, b: 2, k: K
fn f(x: i64, y: i64[k]) -> i64[k, a, b] {
  %0[k, a, b] = scan (x) [k] y { |%1[a, b], %2[a, b]|
    %3[a] = reduce add [b] %1
    %4[a, b] = add %3, %2
    yield %4
  }
  return %0[k, a, b]
}";
    for k in [0, 1, 3] {
        let y = Data::i64s(&[k], (0..k).map(|k| k as i64));
        check(text, &[k], vec![Data::from(1i64), y]);
    }
}

#[test]
fn a_kernel_stores_into_what_is_outside() {
    let text = "
axes m: M, n: N, k: N
fn f(i: idx<M>, y: i64, x: i64[m]) -> i64[n, m] {
  %0 = const false
  %1[n] = while (%2[n] = y) {
    yield %0
  } do { |%3[n]|
    yield y
  }
  %4[n, m] = scatter min x [m := i] over [k] %1
  return %4[n, m]
}";
    for n in [0, 1, 3] {
        let x = Data::i64s(&[2], [1, 9]);
        check(text, &[2, n], vec![Data::from(1usize), Data::from(4i64), x]);
    }
}

#[test]
fn lanes_do_not_share_what_they_begin_with() {
    let text = "
axes n: N, m: M, k: M
fn f(j: idx<M>, y: i64, own x: i64[k]) -> i64[m, k] {
  %0[m] = iota m
  %1[k] = update x [k := j] y
  %2[m, k] = loop %3: n lanes [m] (%4[m, k] = %1) {
    %5[m, k] = update %4 [k := %0] y
    yield %5
  }
  return %2[m, k]
}";
    for (m, n) in [(1, 1), (3, 2), (2, 0)] {
        let x = Data::i64s(&[m], (0..m).map(|k| k as i64));
        let params = vec![Data::from(0usize), Data::from(9i64), x];
        check(text, &[n, m], params);
    }
}

#[test]
fn whatever_is_done_with_what_a_loop_collects() {
    // `L` stands for the axis of lanes, `#` for numbers of a consumer's own. Each with the axes of its last value.
    let consumers = [
        ("%#0 = reduce add [L t] %1", ""),
        ("%#1[L t] = mul %1, w\n  %#0[L] = reduce max [t] %#1", "L"),
        ("%#0[k] = scatter add z [k := at] over [L t] %2", "k"),
        ("%#0[L k] = reduce add [t] %3", "L k"),
        ("%#0[k] = reduce add [L t] %3", "k"),
        ("%#0[L t] = sub %2, w", "L t"),
        (
            "%#1[L] = reduce argmax [t] %2\n  %#0[L] = cast i64 %#1",
            "L",
        ),
        ("%#1[L t] = mul %1, %0\n  %#0[L] = reduce add [t] %#1", "L"),
        (
            "%#1[L t] = reduce add [k] %3\n  %#2[L t] = mul %#1, %#1\n  %#0 = reduce add [L t] %#2",
            "",
        ),
        (
            "%#0[L] = reduce (y) [t] %1 { |%#1[L], %#2[L]|\n    %#3[L] = lt %#2, y\n    %#4[L] = select %#3, %#1, %#2\n    yield %#4\n  }",
            "L",
        ),
        (
            "%#1[L t] = gt %1, %2\n  %#2[L t] = div %1, %2 if %#1\n  %#3[L t] = select %#1, %#2, %2\n  %#0 = reduce add [L t] %#3",
            "",
        ),
        (
            "%#1[L t] = lt %1, %2\n  %#0[k] = scatter add z [k := at] over [L t] %1 where %#1",
            "k",
        ),
        ("%#0[L] = gather %1 [t := j]", "L"),
        (
            "%#1[L t k] = mul %1, v\n  %#0[k] = reduce add [L t] %#1",
            "k",
        ),
        ("%#1[t] = reduce min [L] %1\n  %#0 = reduce add [t] %#1", ""),
        ("%#0[t L] = add %1, w", "t L"),
        (
            "%#1[t] = reduce (y) [L] %1 { |%#2[t], %#3[t]|\n    %#4[t] = lt %#3, y\n    %#5[t] = select %#4, %#2, %#3\n    yield %#5\n  }\n  %#0 = reduce add [t] %#1",
            "",
        ),
    ];
    let folds_lanes = |text: &str| text.contains("reduce (y) [L]");
    let listed = |text: &str, lane: &str| {
        let text = text.replace('L', lane);
        let (mut list, mut depth) = (String::new(), 0);
        // Axes stand between brackets, parted by commas.
        for part in text.split_inclusive(['[', ']']) {
            let (body, bracket) = part.split_at(part.len() - part.ends_with(['[', ']']) as usize);
            let axes = || body.split_whitespace().collect::<Vec<_>>().join(", ");
            list += &if depth > 0 && !body.contains(":=") {
                axes()
            } else {
                body.to_string()
            };
            list += bracket;
            depth += match bracket {
                "[" => 1,
                "]" => -1,
                _ => 0,
            };
        }
        list.replace("[]", "")
    };
    for (reverse, lane) in [("", ""), ("rev ", ""), ("", "i"), ("rev ", "i")] {
        for (number, first) in consumers.iter().enumerate() {
            for second in &consumers[number..] {
                if lane.is_empty() && (folds_lanes(first.0) || folds_lanes(second.0)) {
                    continue;
                }
                let lanes = if lane.is_empty() { "" } else { "lanes [i] " };
                let start = if lane.is_empty() { "y" } else { "x" };
                let done: Vec<String> = [first, second]
                    .iter()
                    .zip(["10", "20"])
                    .map(|((text, _), own)| listed(&text.replace('#', own), lane))
                    // Without lanes there is nothing to combine along them.
                    .map(|text| text.replace("reduce min  %1", "neg %1"))
                    .collect();
                let given = |axes: &str, name: &str| {
                    let axes = axes.replace('L', lane);
                    let axes: Vec<&str> = axes.split_whitespace().collect();
                    match axes.is_empty() {
                        true => (name.to_string(), "i64".to_string()),
                        false => {
                            let axes = axes.join(", ");
                            (format!("{name}[{axes}]"), format!("i64[{axes}]"))
                        }
                    }
                };
                let (one, two) = (given(first.1, "%100"), given(second.1, "%200"));
                let body = listed(
                    &format!(
                        "%0[L], %1[L t], %2[L t], %3[L t k] = loop {reverse}%4: t {lanes}(%5[L] = {start}) {{
    %6 = gather w [t := %4]
    %7[L] = mul %5, %6
    %8[L k] = add %7, z
    yield %7; %5, %7, %8
  }}"
                    ),
                    lane,
                );
                let text = format!(
                    "
axes i: I, t: T, k: K
fn f(x: i64[i], y: i64, w: i64[t], at: idx<K>[t], j: idx<T>, z: i64[k], v: i64[k]) -> ({}, {}) {{
  {body}
  {}
  {}
  return {}, {}
}}",
                    one.1, two.1, done[0], done[1], one.0, two.0
                );
                for (i, t, k) in [(0, 1, 1), (1, 2, 1), (2, 3, 2)] {
                    let params = vec![
                        Data::i64s(&[i], (0..i).map(|k| k as i64 + 2)),
                        Data::from(3i64),
                        Data::i64s(&[t], (0..t).map(|k| 3 - 2 * k as i64)),
                        Data::usizes(&[t], (0..t).map(|n| n % k)),
                        Data::from(0usize),
                        Data::i64s(&[k], (0..k).map(|k| k as i64 - 1)),
                        Data::i64s(&[k], (0..k).map(|k| k as i64 + 5)),
                    ];
                    check(&text, &[i, t, k], params);
                }
            }
        }
    }
}

#[test]
fn scans_in_blocks() {
    // Of hypotenuses, and of pairs of which the second does not commute; what is scanned is dear, too.
    let text = "
axes n: N
fn f(x: f64[n], y: i64[n], c: i64) -> (f64[n], i64[n], f64) {
  %0 = const 0.0f64
  %1[n] = exp x
  %2[n], %3[n] = scan (%0, c) [n] %1, y { |%4, %5, %6, %7|
    %8 = hypot %4, %6
    %9 = lt %7, c
    %10 = select %9, %5, %7
    yield %8, %10
  }
  %11 = reduce max [n] %2
  return %2[n], %3[n], %11
}";
    for n in [0, 1, 2, 7, 1985, 5000] {
        let params = vec![
            // Hypotenuses of squares that are whole are exact in any order but for rounding, which `check` does not forgive: one is not zero.
            Data::f64s(&[n], (0..n).map(|k| if k == n / 2 { 0.0 } else { -1e9 })),
            Data::i64s(&[n], (0..n).map(|k| (k as i64 * 7919) % 257 - 128)),
            Data::from(100i64),
        ];
        check(text, &[n], params);
    }
    let program = schedule(parse::<Bulk>(text).unwrap_or_else(|e| panic!("{e}")));
    let loops = crate::testing::skeleton(&program);
    assert_eq!(loops.matches("par ").count(), 5, "{loops}");
}

#[test]
fn full_scans() {
    // Outside of kernels in blocks and in order, in lanes, and with elements that have an axis of their own; not all results are read.
    for way in ["", "rev "] {
        for (op, unit) in [("hypot", "0.0"), ("max", "-3.0")] {
            let text = format!(
                "
axes n: N, l: L, m: L
fn f(x: f64[n], y: f64[l, n], z: f64[n, l]) -> (f64, f64[n], f64[n], f64[l], f64[l, n], f64[n, l], f64[n, l]) {{
  %0 = const {unit}f64
  %1[n] = exp x
  %2, %3[n], %4[n] = scan {way}full (%0) [n] %1 {{ |%5, %6|
    %7 = {op} %5, %6
    yield %7
  }}
  %8[l], %9[l, n], %10[l, n] = scan {way}full (%0) [n] y {{ |%11[l], %12[l]|
    %13[l] = {op} %11, %12
    yield %13
  }}
  %14[l], %15[n, l], %16[n, l] = scan {way}full (%2) [n] z {{ |%17[l], %18[l]|
    %19[m] = iota m
    %20[m] = gather %18 [l := %19]
    %21 = reduce max [m] %20
    %22[l] = {op} %17, %21
    yield %22
  }}
  return %2, %3[n], %4[n], %8[l], %9[l, n], %15[n, l], %16[n, l]
}}"
            );
            for n in [0, 1, 2, 7, 1984, 1985] {
                for l in [0, 1, 3] {
                    let params = vec![
                        Data::f64s(&[n], (0..n).map(|k| if k == n / 2 { 0.0 } else { -1e9 })),
                        Data::f64s(
                            &[l, n],
                            (0..l * n).map(|k| if k % 5 == 0 { 3.0 } else { 0.0 }),
                        ),
                        Data::f64s(&[n, l], (0..n * l).map(|k| (k % 3) as f64)),
                    ];
                    check(&text, &[n, l], params);
                }
            }
        }
    }
}

#[test]
fn contractions() {
    // Factors with axes in any order, of which one is computed; several axes of each kind; and products of what a loop of the host hands on.
    let text = "
axes i: I, j: J, k: K, l: 2, b: I, t: 3
fn f(x: f64[k, i], y: f64[j, k], z: f32[b, i, k, l], w: f32[k, b, j, l], m: f64[i, b]) -> (f64[i, j], f32[b, j, i], f64[i, b], f64[j]) {
  %0[k, i] = mul x, x
  %1[k, i, j] = mul %0, y
  %2[i, j] = reduce add [k] %1
  %3[b, i, k, l, j] = mul z, w
  %4[b, j, i] = reduce add [k, l] %3
  %5[i, b] = loop %6: t (%7[i, b] = m) {
    %8[i] = iota i
    %9[i, b] = mul %7, m
    %10[b] = iota b
    %11[b, i] = gather m [i := %10, b := %8]
    %12[b, i] = mul %11, %7
    %13[b] = reduce add [i] %12
    %14[i, b] = sub %9, %13
    yield %14
  }
  %15[j] = reduce max [i] %2
  return %2[i, j], %4[b, j, i], %5[i, b], %15[j]
}";
    let program = schedule(parse::<Bulk>(text).unwrap_or_else(|e| panic!("{e}")));
    let loops = crate::testing::skeleton(&program);
    assert_eq!(loops.matches("contract ").count(), 2, "{loops}");
    for i in [0, 1, 2, 5] {
        for j in [0, 1, 3] {
            for k in [0, 1, 2, 7] {
                let f64s = |shape: &[usize]| {
                    let count = shape.iter().product::<usize>();
                    Data::f64s(shape, (0..count).map(|n| (n * 7 % 11) as f64 - 5.0))
                };
                let f32s = |shape: &[usize]| {
                    let count = shape.iter().product::<usize>();
                    let values = (0..count).map(|n| ScalarValue::F32((n * 5 % 13) as f32 - 6.0));
                    Data::new(Scalar::F32, shape.to_vec(), values.collect())
                };
                let params = vec![
                    f64s(&[k, i]),
                    f64s(&[j, k]),
                    f32s(&[i, i, k, 2]),
                    f32s(&[k, i, j, 2]),
                    f64s(&[i, i]),
                ];
                check(text, &[i, j, k], params);
            }
        }
    }
}

#[test]
fn what_a_loop_adds_up_is_added_in_place() {
    // Of rows of what is known before, and of what the loop carries besides; the other sum is looked at in between, and has to be kept.
    let text = "
axes i: I, j: J, k: K, t: T, s: T
fn f(x: f64[t, k, i], y: f64[k, j, t], m: f64[i, j]) -> (f64[i, j], f64[i, j], f64[k, j]) {
  %19 = const 0usize
  %20 = trust T %19
  %9[k, j] = gather y [t := %20]
  %0[k, j], %1[i, j], %2[i, j] = loop %3: s (%4[k, j] = %9, %5[i, j] = m, %6[i, j] = m) {
    %7[k, i] = gather x [t := %3]
    %8[k, j] = gather y [t := %3]
    %10[k, j] = add %4, %8
    %11[k, i, j] = mul %7, %10
    %12[i, j] = reduce add [k] %11
    %13[i, j] = add %12, %5
    %14[k, i, j] = mul %7, %8
    %15[i, j] = reduce add [k] %14
    %16[i, j] = mul %6, %6
    %17[i, j] = sub %15, %16
    %18[i, j] = add %6, %17
    yield %10, %13, %18
  }
  return %1[i, j], %2[i, j], %0[k, j]
}";
    let program = schedule(parse::<Bulk>(text).unwrap_or_else(|e| panic!("{e}")));
    let loops = crate::testing::skeleton(&program);
    assert_eq!(loops.matches("contract add ").count(), 1, "{loops}");
    assert_eq!(loops.matches("contract ").count(), 2, "{loops}");
    for i in [0, 1, 2, 5] {
        for k in [0, 1, 3] {
            for t in [1, 2, 4] {
                let f64s = |shape: &[usize]| {
                    let count = shape.iter().product::<usize>();
                    Data::f64s(shape, (0..count).map(|n| (n * 7 % 5) as f64 - 2.0))
                };
                let params = vec![f64s(&[t, k, i]), f64s(&[k, i + 1, t]), f64s(&[i, i + 1])];
                check(text, &[i, i + 1, k, t], params);
            }
        }
    }
}

#[test]
fn what_is_added_up_at_once_is_not_stored_for_a_contraction() {
    let loops = |text: &str| {
        crate::testing::skeleton(&schedule(
            parse::<Bulk>(text).unwrap_or_else(|e| panic!("{e}")),
        ))
    };
    // A result of three axes of which nobody needs the whole.
    let text = loops(
        "
axes n: N, k: K, i: D, j: D
fn f(x: f64[n, j], q: f64[k, i, j]) -> f64[n, k] {
  %0[n, k, i, j] = mul q, x
  %1[n, k, i] = reduce add [j] %0
  %2[n, k, i] = mul %1, %1
  %3[n, k] = reduce add [i] %2
  return %3[n, k]
}",
    );
    assert!(!text.contains("contract"), "{text}");
    // Of a batch the same.
    let text = loops(
        "
axes n: N, k: K, i: D, j: D
fn f(x: f64[n, i, j], q: f64[n, k, j]) -> f64[n, k] {
  %0[n, k, i, j] = mul q, x
  %1[n, k, i] = reduce add [j] %0
  %2[n, k, i] = mul %1, %1
  %3[n, k] = reduce add [i] %2
  return %3[n, k]
}",
    );
    assert!(!text.contains("contract"), "{text}");
    // Matrices that are known to be small.
    let text = loops(
        "
axes i: 3, j: 3, k: 3
fn f(x: f64[i, k], y: f64[k, j]) -> f64[i, j] {
  %0[i, j, k] = mul x, y
  %1[i, j] = reduce add [k] %0
  return %1[i, j]
}",
    );
    assert!(!text.contains("contract"), "{text}");
}

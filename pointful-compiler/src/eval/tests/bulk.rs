use super::{eval_briefly, ramp};
use crate::eval::{Data, EvalError};
use crate::ir::stages::bulk::Bulk;

fn eval(text: &str, sizes: &[usize], params: Vec<Data>) -> Result<Vec<Data>, EvalError> {
    super::eval::<Bulk>(text, sizes, params)
}

#[test]
fn operands_are_read_at_the_same_point() {
    let text = "
axes i: I, k: K
fn mv(a: f64[i, k], x: f64[k]) -> (f64[i], f64[k, i]) {
  %0[i, k] = mul a, x
  %1[i] = reduce add [k] %0
  return %1[i], %0[k, i]
}";
    let run = |i, k| eval(text, &[i, k], vec![ramp(&[i, k]), ramp(&[k])]).unwrap();
    assert_eq!(
        run(2, 3),
        [
            Data::f64s(&[2], [5.0, 14.0]),
            Data::f64s(&[3, 2], [0.0, 0.0, 1.0, 4.0, 4.0, 10.0])
        ]
    );
    assert_eq!(
        run(2, 0),
        [Data::f64s(&[2], [0.0, 0.0]), Data::f64s(&[0, 2], [])]
    );
    assert_eq!(run(0, 2)[0], Data::f64s(&[0], []));
}

#[test]
fn what_lacks_an_axis_is_the_same_along_it() {
    let text = "
axes i: I
fn f(x: f64) -> (f64, f64[i]) {
  %0 = reduce add [i] x
  return %0, %0[i]
}";
    assert_eq!(
        eval(text, &[3], vec![Data::from(2.0f64)]).unwrap(),
        [Data::from(6.0f64), Data::f64s(&[3], [6.0; 3])]
    );
}

#[test]
fn gathers_read_elsewhere() {
    let text = "
axes i: I, j: I, two: 2
fn f(a: f64[i, j], x: f64[i]) -> (f64[i, j], f64[i], f64[two, i]) {
  %0[j] = iota j
  %1[i] = iota i
  %2[i, j] = gather a [i := %0, j := %1]
  %3[i] = cast i64 %1
  %4 = const 1i64
  %5[i] = sub %3, %4
  %6[i] = wrap I %5
  %7[i] = gather x [i := %6]
  %8[two, i] = pack two [x, %7]
  return %2[i, j], %7[i], %8[two, i]
}";
    assert_eq!(
        eval(text, &[3], vec![ramp(&[3, 3]), ramp(&[3])]).unwrap(),
        [
            Data::f64s(&[3, 3], [0., 3., 6., 1., 4., 7., 2., 5., 8.]),
            Data::f64s(&[3], [2., 0., 1.]),
            Data::f64s(&[2, 3], [0., 1., 2., 2., 0., 1.])
        ]
    );
    let empty = eval(text, &[0], vec![ramp(&[0, 0]), ramp(&[0])]).unwrap();
    assert_eq!(empty[2], Data::f64s(&[2, 0], []));
}

const GUARDED: &str = "
axes i: I
fn f(x: i64[i], d: i64[i]) -> i64[i] {
  %0 = const 0i64
  %1[i] = ne d, %0
  %2[i] = div x, d if %1
  %3[i] = add %2, x
  %4[i] = select %1, %3, %0
  return %4[i]
}";

#[test]
fn guarded_statements_are_evaluated_where_the_guard_holds() {
    let params = vec![Data::i64s(&[3], [6, 7, 8]), Data::i64s(&[3], [2, 0, 4])];
    assert_eq!(
        eval(GUARDED, &[3], params.clone()).unwrap(),
        [Data::i64s(&[3], [9, 0, 10])]
    );
    let unguarded = GUARDED.replace(" if %1", "");
    assert_eq!(
        eval(&unguarded, &[3], params.clone()),
        Err(EvalError::panic("attempt to divide by zero"))
    );
    let escaping = GUARDED.replace("return %4", "return %3");
    assert!(matches!(
        eval(&escaping, &[3], params),
        Err(EvalError::Bug(_))
    ));
}

#[test]
fn reductions_with_an_operator_work_on_tables() {
    let text = "
axes i: I, k: K
fn f(a: f64[k, i], zero: f64[i]) -> (f64[i], f64[k, i]) {
  %0[i] = reduce (zero) [k] a { |%1[i], %2[i]|
    %3 = reduce add [i] %1
    %4[i] = add %2, %3
    yield %4
  }
  %5[k, i] = scan (zero) [k] a { |%6[i], %7[i]|
    %8[i] = add %6, %7
    yield %8
  }
  return %0[i], %5[k, i]
}";
    let params = |k| vec![ramp(&[k, 2]), Data::f64s(&[2], [1.0, 1.0])];
    // Sizes come in the order of the axes: I, K.
    assert_eq!(
        eval(text, &[2, 2], params(2)).unwrap(),
        [
            Data::f64s(&[2], [7.0, 8.0]),
            Data::f64s(&[2, 2], [1.0, 2.0, 3.0, 5.0])
        ]
    );
    assert_eq!(
        eval(text, &[2, 0], params(0)).unwrap(),
        [Data::f64s(&[2], [1.0, 1.0]), Data::f64s(&[0, 2], [])]
    );
}

#[test]
fn extremes_along_an_axis() {
    let text = "
axes i: I, j: J
fn f(a: f64[i, j]) -> (idx<J>[i], idx<J>[i], f64[j]) {
  %0[i] = reduce argmin [j] a
  %1[i] = reduce argmax [j] a
  %2[j] = reduce max [i] a
  return %0[i], %1[i], %2[j]
}";
    let a = Data::f64s(&[2, 3], [1.0, 0.0, 0.0, 5.0, f64::NAN, 5.0]);
    assert_eq!(
        eval(text, &[2, 3], vec![a]).unwrap(),
        [
            Data::usizes(&[2], [1, 0]),
            Data::usizes(&[2], [0, 0]),
            Data::f64s(&[3], [5.0, 0.0, 5.0])
        ]
    );
    assert!(matches!(
        eval(text, &[2, 0], vec![Data::f64s(&[2, 0], [])]),
        Err(EvalError::Panic(_))
    ));
}

#[test]
fn scatters_combine_where_the_mask_holds() {
    let text = "
axes i: I, b: B
fn f(ids: idx<B>[i], v: f64[i], hist: f64[b]) -> (f64[b], f64[b]) {
  %0 = const 1.0f64
  %1[i] = ge v, %0
  %2[b] = scatter add hist [b := ids] over [i] v where %1
  %3[b] = scatter max %0 [b := ids] over [i] v
  return %2[b], %3[b]
}";
    let params = vec![
        Data::usizes(&[4], [0, 2, 0, 0]),
        Data::f64s(&[4], [1.0, 2.0, 3.0, 0.5]),
        Data::f64s(&[3], [10.0, 20.0, 30.0]),
    ];
    assert_eq!(
        eval(text, &[4, 3], params).unwrap(),
        [
            Data::f64s(&[3], [14.0, 20.0, 32.0]),
            Data::f64s(&[3], [3.0, 1.0, 2.0])
        ]
    );
}

#[test]
fn a_scatter_may_shift_along_the_axis_it_reads() {
    let text = "
axes i: I, k: K
fn f(x: f64[i, k]) -> f64[i, k] {
  %0 = const 0.0f64
  %1[i] = iota i
  %2[i] = cast i64 %1
  %3 = const 1i64
  %4[i] = add %2, %3
  %5[i] = wrap I %4
  %6[i, k] = scatter add %0 [i := %5] over [i] x
  return %6[i, k]
}";
    assert_eq!(
        eval(text, &[3, 2], vec![ramp(&[3, 2])]).unwrap(),
        [Data::f64s(&[3, 2], [4.0, 5.0, 0.0, 1.0, 2.0, 3.0])]
    );
}

#[test]
fn updates_replace_one_slice() {
    let text = "
axes i: I, k: K
fn f(x: f64[k], at: idx<K>[i], v: f64[i]) -> f64[i, k] {
  %0[i, k] = update x [k := at] v
  return %0[i, k]
}";
    let params = vec![
        ramp(&[3]),
        Data::usizes(&[2], [2, 0]),
        Data::f64s(&[2], [8.0, 9.0]),
    ];
    assert_eq!(
        eval(text, &[2, 3], params).unwrap(),
        [Data::f64s(&[2, 3], [0.0, 1.0, 8.0, 9.0, 1.0, 2.0])]
    );
}

#[test]
fn each_lane_runs_a_loop_of_its_own() {
    for (keyword, order) in [("loop", [0, 1]), ("loop rev", [1, 0])] {
        let text = format!(
            "
axes i: I, t: T
fn f(x: f64[i], a: f64[t], start: f64) -> (f64[i], f64[t, i]) {{
  %0[i], %1[t, i] = {keyword} %2: t lanes [i] (%3[i] = start) {{
    %4 = gather a [t := %2]
    %5[i] = mul %3, x
    %6[i] = add %5, %4
    yield %6; %3
  }}
  return %0[i], %1[t, i]
}}"
        );
        let params = |t: usize| {
            vec![
                Data::f64s(&[2], [2.0, 3.0]),
                Data::f64s(&[t], (0..t).map(|k| 1.0 + 2.0 * k as f64)),
                Data::from(1.0f64),
            ]
        };
        let step = |s: f64, x: f64, t: usize| s * x + 1.0 + 2.0 * t as f64;
        let results = eval(&text, &[2, 2], params(2)).unwrap();
        let mut last = [1.0; 2];
        let mut seen = [[0.0; 2]; 2];
        for t in order {
            seen[t] = last;
            last = [step(last[0], 2.0, t), step(last[1], 3.0, t)];
        }
        assert_eq!(
            results,
            [
                Data::f64s(&[2], last),
                Data::f64s(&[2, 2], seen.into_iter().flatten())
            ]
        );
        assert_eq!(
            eval(&text, &[2, 0], params(0)).unwrap(),
            [Data::f64s(&[2], [1.0, 1.0]), Data::f64s(&[0, 2], [])]
        );
    }
}

#[test]
fn lanes_of_a_while_end_by_themselves() {
    let text = "
axes i: I
fn f(n: i64[i], bound: usize) -> (i64[i], i64[i]) {
  %0 = const 0i64
  %1 = const 1i64
  %2[i], %3[i] = while bound bound lanes [i] (%4[i] = n, %5[i] = %0) {
    %6[i] = gt %4, %0
    yield %6
  } do { |%7[i], %8[i]|
    %9[i] = sub %7, %1
    %10[i] = add %8, %7
    yield %9, %10
  }
  return %2[i], %3[i]
}";
    let n = Data::i64s(&[4], [3, 0, -2, 1]);
    let at = |bound: usize| eval(text, &[4], vec![n.clone(), Data::from(bound)]);
    assert_eq!(
        at(3).unwrap(),
        [
            Data::i64s(&[4], [0, 0, -2, 0]),
            Data::i64s(&[4], [6, 0, 0, 1])
        ]
    );
    assert!(matches!(at(2), Err(EvalError::Panic(_))));
}

#[test]
fn a_loop_behind_a_guard_does_not_run_elsewhere() {
    let text = "
axes i: I
fn f(n: i64[i]) -> i64[i] {
  %0 = const 0i64
  %1 = const 1i64
  %2[i] = ge n, %0
  %3[i] = while lanes [i] (%4[i] = n) {
    %5[i] = ne %4, %0
    yield %5
  } do { |%6[i]|
    %7[i] = div %6, %6
    %8[i] = sub %6, %7
    yield %8
  } if %2
  %9[i] = select %2, %3, n
  return %9[i]
}";
    assert_eq!(
        eval(text, &[3], vec![Data::i64s(&[3], [2, -1, 0])]).unwrap(),
        [Data::i64s(&[3], [0, -1, 0])]
    );
}

#[test]
fn axes_may_be_ragged() {
    let text = "
axes i: I, k: %0
fn f(x: f64[i]) -> (f64[i], idx<I>[i]) {
  %1[i] = iota i
  %0[i] = cast usize %1
  %2[i, k] = iota k
  %3[i, k] = trust I %2
  %4[i, k] = gather x [i := %3]
  %5[i] = reduce add [k] %4
  return %5[i], %1[i]
}";
    let x = Data::f64s(&[4], [1.0, 2.0, 4.0, 8.0]);
    assert_eq!(
        eval(text, &[4], vec![x]).unwrap()[0],
        Data::f64s(&[4], [0.0, 1.0, 3.0, 7.0])
    );
}

#[test]
fn assertions_hold_at_every_point() {
    let text = "
axes i: I
fn f(c: bool[i], g: bool[i]) {
  assert c, \"no\" if g
}";
    let at = |c: [bool; 2], g: [bool; 2]| {
        eval(text, &[2], vec![Data::bools(&[2], c), Data::bools(&[2], g)])
    };
    assert_eq!(at([true, false], [true, false]), Ok(vec![]));
    assert_eq!(at([true, false], [true, true]), Err(EvalError::panic("no")));
}

#[test]
fn a_program_that_does_not_end_is_stopped() {
    let text = "
fn f() {
  %0 = const true
  while () {
    yield %0
  } do {
  }
}";
    assert_eq!(eval_briefly::<Bulk>(text, 1000), Err(EvalError::StepLimit));
}

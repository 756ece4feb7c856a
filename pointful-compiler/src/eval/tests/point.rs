use super::{eval_briefly, ramp};
use crate::eval::{Data, EvalError, Inputs, approx_eq, run};
use crate::ir::parse::parse;
use crate::ir::stages::point::Point;

fn eval(text: &str, sizes: &[usize], params: Vec<Data>) -> Result<Vec<Data>, EvalError> {
    super::eval::<Point>(text, sizes, params)
}

const MATVEC: &str = "
fn mv(a: f64[I, K], x: f64[K]) -> f64[I] {
  %0 = for %1: I {
    %2 = for %3: K {
      %4 = index a[%1, %3]
      %5 = index x[%3]
      %6 = mul %4, %5
      yield %6
    }
    %7 = reduce add %2
    yield %7
  }
  return %0
}";

#[test]
fn loops_and_reductions_of_all_extents() {
    for (i, k) in [(0, 2), (1, 1), (2, 0), (2, 7), (3, 1000)] {
        let results = eval(MATVEC, &[i, k], vec![ramp(&[i, k]), ramp(&[k])]).unwrap();
        let rows = (0..i).map(|r| (0..k).map(|c| (r * k + c) as f64 * c as f64).sum::<f64>());
        assert!(approx_eq(&results[0], &Data::f64s(&[i], rows)), "{i} {k}");
    }
}

#[test]
fn what_is_done_is_counted() {
    let program = parse::<Point>(MATVEC).unwrap();
    let inputs = Inputs {
        sizes: vec![2, 3],
        params: vec![ramp(&[2, 3]), ramp(&[3])],
    };
    // Six products and six sums.
    assert_eq!(run(&program, &inputs).unwrap().1.ops, 12);
}

#[test]
fn reductions_of_nothing_are_identities() {
    let text = "
fn f(x: f64[N, K], n: i32[N], b: bool[N]) -> (f64[K], f64[K], f64[K], f64[K], i32, i32, bool, bool) {
  %0 = reduce add x
  %1 = reduce mul x
  %2 = reduce min x
  %3 = reduce max x
  %4 = reduce min n
  %5 = reduce max n
  %6 = reduce and b
  %7 = reduce or b
  return %0, %1, %2, %3, %4, %5, %6, %7
}";
    let params = vec![
        Data::f64s(&[0, 2], []),
        Data::i32s(&[0], []),
        Data::bools(&[0], []),
    ];
    let results = eval(text, &[0, 2], params).unwrap();
    let both = |x: f64| Data::f64s(&[2], [x, x]);
    assert_eq!(
        results,
        [
            both(0.0),
            both(1.0),
            both(f64::INFINITY),
            both(f64::NEG_INFINITY),
            Data::from(i32::MAX),
            Data::from(i32::MIN),
            Data::from(true),
            Data::from(false),
        ]
    );
}

#[test]
fn the_first_extremal_element_wins_and_nan_never_does() {
    let text = "
fn f(x: f64[N]) -> (idx<N>, idx<N>) {
  %0 = argmin x
  %1 = argmax x
  return %0, %1
}";
    let at = |values: &[f64]| {
        let x = Data::f64s(&[values.len()], values.iter().copied());
        eval(text, &[values.len()], vec![x])
    };
    let pair = |a: usize, b: usize| Ok(vec![Data::from(a), Data::from(b)]);
    assert_eq!(at(&[2.0, 1.0, 3.0, 1.0, 3.0]), pair(1, 2));
    assert_eq!(at(&[f64::NAN, 1.0, f64::NAN]), pair(1, 1));
    assert_eq!(at(&[f64::NAN]), pair(0, 0));
    assert_eq!(at(&[]), Err(EvalError::panic("`argmin` of nothing")));
}

#[test]
fn folds_and_scans_begin_with_init() {
    let text = "
fn f(init: i64, x: i64[N]) -> (i64, i64[N]) {
  %0 = fold (init) x { |%1, %2|
    %3 = mul %1, %2
    yield %3
  }
  %4 = scan (init) x { |%5, %6|
    %7 = mul %5, %6
    yield %7
  }
  return %0, %4
}";
    let x = |values: &[i64]| Data::i64s(&[values.len()], values.iter().copied());
    assert_eq!(
        eval(text, &[3], vec![Data::from(2i64), x(&[3, 4, 5])]).unwrap(),
        [Data::from(120i64), x(&[6, 24, 120])]
    );
    assert_eq!(
        eval(text, &[0], vec![Data::from(2i64), x(&[])]).unwrap(),
        [Data::from(2i64), x(&[])]
    );
}

#[test]
fn loops_carry_and_collect_forwards_and_backwards() {
    for (keyword, last, collected) in [
        ("loop", 210i64, [0, 0, 2, 21]),
        ("loop rev", 120i64, [12, 1, 0, 0]),
    ] {
        let text = format!(
            "
fn f(x: i64[N]) -> (i64, i64[N]) {{
  %0 = const 0i64
  %1, %2 = {keyword} %3: N (%4 = %0) {{
    %5 = index x[%3]
    %6 = const 10i64
    %7 = mul %4, %6
    %8 = add %7, %5
    yield %8; %4
  }}
  return %1, %2
}}"
        );
        let x = Data::i64s(&[4], [0, 2, 1, 0]);
        assert_eq!(
            eval(&text, &[4], vec![x]).unwrap(),
            [Data::from(last), Data::i64s(&[4], collected)]
        );
        assert_eq!(
            eval(&text, &[0], vec![Data::i64s(&[0], [])]).unwrap(),
            [Data::from(0i64), Data::i64s(&[0], [])]
        );
    }
}

const COUNT_DOWN: &str = "
fn f(n: i64, limit: usize) -> (i64, i64) {
  %0 = const 0i64
  %1 = const 1i64
  %2, %3 = while bound limit (%4 = n, %5 = %0) {
    %6 = gt %4, %0
    yield %6
  } do { |%7, %8|
    %9 = sub %7, %1
    %10 = add %8, %7
    yield %9, %10
  }
  return %2, %3
}";

#[test]
fn while_goes_on_within_its_bound() {
    let at = |n: i64, bound: usize| eval(COUNT_DOWN, &[], vec![Data::from(n), Data::from(bound)]);
    assert_eq!(at(4, 4).unwrap(), [Data::from(0i64), Data::from(10i64)]);
    assert_eq!(at(0, 0).unwrap(), [Data::from(0i64), Data::from(0i64)]);
    assert!(matches!(at(4, 3), Err(EvalError::Panic(_))));
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
    assert_eq!(eval_briefly::<Point>(text, 1000), Err(EvalError::StepLimit));
}

#[test]
fn a_branch_not_taken_is_not_evaluated() {
    let text = "
fn f(x: i64[N], d: i64[N]) -> i64[N] {
  %0 = const 0i64
  %1 = for %2: N {
    %3 = index x[%2]
    %4 = index d[%2]
    %5 = ne %4, %0
    %6 = if %5 {
      %7 = div %3, %4
      yield %7
    } else {
      yield %0
    }
    yield %6
  }
  return %1
}";
    let params = vec![Data::i64s(&[3], [6, 7, 8]), Data::i64s(&[3], [2, 0, 3])];
    assert_eq!(
        eval(text, &[3], params).unwrap(),
        [Data::i64s(&[3], [3, 0, 2])]
    );
}

#[test]
fn accumulators_add_to_their_base() {
    let text = "
fn f(base: f64[K, D], class: idx<K>[N], w: f64[N, D]) -> (f64[K, D], f64) {
  %0 = accum add base
  %1 = const 0.0f64
  %2 = accum max %1
  for %3: N {
    %4 = index class[%3]
    %5 = index w[%3]
    accumulate %0[%4], %5
    for %6: D {
      %7 = index w[%3, %6]
      %8 = gt %7, %1
      if %8 {
        accumulate %2[], %7
      }
    }
  }
  %9 = get %0
  %10 = get %2
  return %9, %10
}";
    let params = vec![
        Data::f64s(&[2, 2], [10.0, 20.0, 30.0, 40.0]),
        Data::usizes(&[3], [1, 0, 1]),
        Data::f64s(&[3, 2], [1.0, 2.0, 3.0, -4.0, 5.0, 6.0]),
    ];
    assert_eq!(
        eval(text, &[2, 2, 3], params).unwrap(),
        [
            Data::f64s(&[2, 2], [13.0, 16.0, 36.0, 48.0]),
            Data::from(6.0f64)
        ]
    );
}

#[test]
fn tables_are_stacked_selected_and_updated() {
    let text = "
fn f(a: f64[I, J], row: f64[J]) -> (f64[I, J], f64[2, J], f64[J]) {
  %0 = const 1usize
  %1 = check I %0
  %2 = update a[%1], row
  %3 = index a[%1]
  %4 = array [%3, row]
  %5 = check 2 %0
  %6 = index %4[%5]
  return %2, %4, %6
}";
    let row = Data::f64s(&[2], [8.0, 9.0]);
    assert_eq!(
        eval(text, &[3, 2], vec![ramp(&[3, 2]), row.clone()]).unwrap(),
        [
            Data::f64s(&[3, 2], [0.0, 1.0, 8.0, 9.0, 4.0, 5.0]),
            Data::f64s(&[2, 2], [2.0, 3.0, 8.0, 9.0]),
            row.clone(),
        ]
    );
    assert_eq!(
        eval(text, &[1, 2], vec![ramp(&[1, 2]), row]),
        Err(EvalError::panic(
            "index out of bounds: the len is 1 but the index is 1"
        ))
    );
}

#[test]
fn triangles_are_reduced() {
    let text = "
fn f(x: f64[N]) -> f64[N] {
  %0 = for %1: N {
    %2 = cast usize %1
    %3 = for %4: %2 {
      %5 = trust N %4
      %6 = index x[%5]
      yield %6
    }
    %7 = reduce add %3
    yield %7
  }
  return %0
}";
    let x = Data::f64s(&[4], [1.0, 2.0, 4.0, 8.0]);
    assert_eq!(
        eval(text, &[4], vec![x]).unwrap(),
        [Data::f64s(&[4], [0.0, 1.0, 3.0, 7.0])]
    );
}

#[test]
fn assertions_panic_with_their_message() {
    let text = "
fn f(c: bool) {
  assert c, \"no\"
}";
    assert_eq!(eval(text, &[], vec![Data::from(true)]), Ok(vec![]));
    assert_eq!(
        eval(text, &[], vec![Data::from(false)]),
        Err(EvalError::panic("no"))
    );
}

#[test]
fn an_index_that_is_trusted_wrongly_is_a_bug() {
    let text = "
fn f(x: f64[N], k: usize) -> f64 {
  %0 = trust N k
  %1 = index x[%0]
  return %1
}";
    let at = |k: usize| eval(text, &[2], vec![ramp(&[2]), Data::from(k)]);
    assert_eq!(at(1), Ok(vec![Data::from(1.0f64)]));
    assert!(matches!(at(2), Err(EvalError::Bug(_))));
}

#[test]
fn inputs_must_fit() {
    let text = "
fn f(x: f64[N], k: idx<N>) -> f64 {
  %0 = index x[k]
  return %0
}";
    let wrong = |sizes: &[usize], params| {
        assert!(matches!(
            eval(text, sizes, params),
            Err(EvalError::Input(_))
        ));
    };
    let k = Data::from(1usize);
    wrong(&[], vec![ramp(&[2]), k.clone()]);
    wrong(&[2], vec![ramp(&[2])]);
    wrong(&[3], vec![ramp(&[2]), k.clone()]);
    wrong(&[2], vec![Data::f32s(&[2], [0.0; 2]), k.clone()]);
    wrong(&[2], vec![ramp(&[2]), Data::from(2usize)]);
    assert!(eval(text, &[2], vec![ramp(&[2]), k]).is_ok());
}

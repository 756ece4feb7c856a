use super::{eval_briefly, ramp};
use crate::eval::{Counts, Data, EvalError, Inputs, run};
use crate::ir::parse::{parse, parse_unverified};
use crate::ir::stages::kernels::Kernels;

fn eval(text: &str, sizes: &[usize], params: Vec<Data>) -> Result<Vec<Data>, EvalError> {
    super::eval::<Kernels>(text, sizes, params)
}

const MATVEC: &str = "
fn mv(a: f64[I, K], x: f64[K]) -> (f64[I], f64) {
  %0 = alloc f64[I]
  %1 = const 0.0f64
  %2 = var %1
  par \"rows\" %3: I (add %4 = %2) {
    %5 = var %1
    for rev %6: K {
      %7 = load a[%3, %6]
      %8 = load x[%6]
      %9 = mul %7, %8
      combine add %5[], %9
    }
    %10 = get %5
    store %0[%3], %10
    combine add %4[], %10
  }
  %11 = get %2
  return %0, %11
}";

#[test]
fn a_matrix_times_a_vector() {
    for (i, k, rows) in [
        (2, 3, vec![5.0, 14.0]),
        (0, 3, vec![]),
        (2, 0, vec![0.0, 0.0]),
        (1, 1, vec![0.0]),
    ] {
        let sum = rows.iter().sum::<f64>();
        assert_eq!(
            eval(MATVEC, &[i, k], vec![ramp(&[i, k]), ramp(&[k])]).unwrap(),
            [Data::f64s(&[i], rows), Data::from(sum)]
        );
    }
}

#[test]
fn what_is_moved_is_counted() {
    let program = parse::<Kernels>(MATVEC).unwrap();
    let inputs = Inputs {
        sizes: vec![2, 3],
        params: vec![ramp(&[2, 3]), ramp(&[3])],
    };
    let (_, counts) = run(&program, &inputs).unwrap();
    assert_eq!(
        counts,
        Counts {
            // Six products, six sums, two sums of rows, one of the whole.
            ops: 15,
            loads: 12,
            stores: 2,
            bytes_read: 96,
            bytes_written: 16,
            allocs: 1,
            alloc_bytes: 16,
            kernels: 1,
        }
    );
}

#[test]
fn accumulators_are_merged_into_what_is_there() {
    let text = "
fn f(ids: idx<B>[I], own hist: f64[B]) -> f64[B] {
  %0 = const 1.0f64
  par \"count\" %1: I (add %2 = hist) {
    %3 = load ids[%1]
    combine add %2[%3], %0
  }
  return hist
}";
    let params = |ids: &[usize]| {
        vec![
            Data::usizes(&[ids.len()], ids.iter().copied()),
            Data::f64s(&[2], [10.0, 20.0]),
        ]
    };
    let sizes = |i: usize| [2, i];
    assert_eq!(
        eval(text, &sizes(3), params(&[1, 0, 1])).unwrap(),
        [Data::f64s(&[2], [11.0, 22.0])]
    );
    assert_eq!(
        eval(text, &sizes(0), params(&[])).unwrap(),
        [Data::f64s(&[2], [10.0, 20.0])]
    );
}

#[test]
fn states_alternate_between_two_buffers() {
    let text = "
fn f(own u: f64[N], n: usize) -> (f64[N], usize) {
  %0 = copy u
  %1 = const 1.0f64
  for %2: n {
    par \"step\" %3: N {
      %4 = load %0[%3]
      %5 = add %4, %1
      %6 = gt %5, %1
      %7 = select %6, %5, %4
      if %6 {
        store u[%3], %7
      } else {
        store u[%3], %1
      }
    }
    swap u, %0
  }
  %8 = const 0usize
  %9 = const 1usize
  %10 = var %8
  while {
    %11 = get %10
    %12 = lt %11, n
    yield %12
  } do {
    %13 = get %10
    %14 = add %13, %9
    set %10, %14
  }
  %15 = get %10
  %16 = eq %15, n
  assert %16, \"counted\"
  return %0, %15
}";
    let at = |n: usize| eval(text, &[2], vec![ramp(&[2]), Data::from(n)]).unwrap();
    assert_eq!(at(0)[0], ramp(&[2]));
    assert_eq!(at(3)[0], Data::f64s(&[2], [3.0, 4.0]));
    assert_eq!(at(3)[1], Data::from(3usize));
}

#[test]
fn iterations_that_meet_are_a_bug() {
    let text = "
fn f(k: idx<N>) -> f64[N] {
  %0 = alloc f64[N] fill 0.0f64
  %1 = const 1.0f64
  par \"clash\" %2: N {
    store %0[k], %1
  }
  return %0
}";
    let at = |n: usize| eval(text, &[n], vec![Data::from(0usize)]);
    assert_eq!(at(1), Ok(vec![Data::f64s(&[1], [1.0])]));
    assert!(matches!(at(2), Err(EvalError::Bug(_))));
    let shared_var = "
fn f(x: f64[N]) -> f64 {
  %0 = const 0.0f64
  %1 = var %0
  par \"clash\" %2: N {
    %3 = load x[%2]
    set %1, %3
  }
  %4 = get %1
  return %4
}";
    // The verifier rejects it for every extent, so it has to be passed by.
    let shared_var = parse_unverified(shared_var).unwrap_or_else(|error| panic!("{error}"));
    let at = |n: usize| {
        let inputs = Inputs {
            sizes: vec![n],
            params: vec![ramp(&[n])],
        };
        run::<Kernels>(&shared_var, &inputs).map(|(results, _)| results)
    };
    assert_eq!(at(1), Ok(vec![Data::from(0.0f64)]));
    assert!(matches!(at(2), Err(EvalError::Bug(_))));
}

#[test]
fn memory_is_written_before_it_is_read() {
    let text = "
fn f() -> f64[2] {
  %0 = alloc f64[2]
  return %0
}";
    assert!(matches!(eval(text, &[], vec![]), Err(EvalError::Bug(_))));
    let filled = text.replace("f64[2]\n  return", "f64[2] fill 3.0f64\n  return");
    assert_eq!(
        eval(&filled, &[], vec![]),
        Ok(vec![Data::f64s(&[2], [3.0, 3.0])])
    );
}

#[test]
fn borrowed_tables_are_not_written() {
    let text = "
fn f(own x: f64[N], k: idx<N>) {
  %0 = const 1.0f64
  store x[k], %0
}";
    let mut program = parse::<Kernels>(text).unwrap();
    let inputs = Inputs {
        sizes: vec![1],
        params: vec![ramp(&[1]), Data::from(0usize)],
    };
    assert!(run(&program, &inputs).is_ok());
    program.params[0].owned = false;
    assert!(matches!(run(&program, &inputs), Err(EvalError::Bug(_))));
}

#[test]
fn a_program_that_does_not_end_is_stopped() {
    let text = "
fn f() {
  %0 = const true
  while {
    yield %0
  } do {
  }
}";
    assert_eq!(
        eval_briefly::<Kernels>(text, 1000),
        Err(EvalError::StepLimit)
    );
}

#[test]
fn copies_are_private_to_their_iteration() {
    let text = "
fn f(x: f64[N]) -> f64[N] {
  %0 = alloc f64[N]
  %1 = const 1.0f64
  par \"copies\" %2: N {
    %3 = copy x
    store %3[%2], %1
    for %4: N {
      %5 = load %3[%4]
      store %0[%2], %5
    }
  }
  return %0
}";
    assert_eq!(
        eval(text, &[3], vec![ramp(&[3])]),
        Ok(vec![Data::f64s(&[3], [2.0, 2.0, 1.0])])
    );
}

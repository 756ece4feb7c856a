//! Random programs of all kinds on devices of all sizes, and mistakes that are found.

use std::collections::BTreeMap;

use super::{Sizes, map_by};
use crate::eval::{Data, EvalError, Evaluate, Inputs, ScalarValue, run_in_order};
use crate::ir::stages::gpu::{Gpu, GpuOp, Own};
use crate::ir::stages::imperative::{Imperative, ImperativeOp};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::stages::point::Point;
use crate::ir::{Block, Monoid, Operation, Program, Scalar, Stmt, parse};
use crate::testing::accumulations::random_accumulations;
use crate::testing::entered::{
    PIECES_OF, TEAMS_OF_A_WARP, TEAMS_OF_FOUR, TEAMS_OF_ONE, TEAMS_OF_TWO,
};
use crate::testing::lengths::random_lengths;
use crate::testing::products::random_products;
use crate::testing::scans::random_scans;
use crate::testing::source::{inputs_of, lowered};
use crate::testing::{
    Options, Rng, check_on_devices, for_devices, random_lowered, random_point, random_points,
};

/// How many programs have what.
#[derive(Default)]
struct Met(BTreeMap<&'static str, u32>);

impl Met {
    /// Counts what a program has, before and after.
    fn look_at(&mut self, program: Program<Point>) {
        let kernels = for_devices(program);
        let mut has = BTreeMap::new();
        visit(&kernels.body, &mut |op: &KernelOp, in_nest| match op {
            KernelOp::Own(par) => {
                for acc in &par.accs {
                    has.insert(acc.monoid.name(), ());
                    let is_var = kernels.ty(acc.target).rank() == 0;
                    has.insert(if is_var { "numbers" } else { "tables" }, ());
                }
                for fold in &par.folds {
                    let is_var = kernels.ty(fold.targets[0]).rank() == 0;
                    has.insert(if is_var { "folds" } else { "folds of tables" }, ());
                }
                if par.accs.is_empty() && par.folds.is_empty() {
                    has.insert("points", ());
                }
            }
            KernelOp::Contract { add, .. } => {
                has.insert(if *add { "products added" } else { "products" }, ());
            }
            KernelOp::Combine { indices, .. } if in_nest && !indices.is_empty() => {
                has.insert("elements combined", ());
            }
            _ => {}
        });
        let gpu = map_by(kernels, Sizes::SMALL).expect("it calls nothing");
        visit(&gpu.body, &mut |op: &GpuOp, in_launch| match op {
            GpuOp::Own(Own::Launch(launch)) if launch.trial => {
                let has_memory = !launch.own().is_empty();
                let what = if has_memory { "trials again" } else { "trials" };
                has.insert(what, ());
            }
            GpuOp::Own(Own::Launch(launch)) => {
                if launch.name.is_empty() && launch.block == 32 {
                    has.insert("one thread", ());
                }
                if !launch.own().is_empty() {
                    has.insert("own memory", ());
                }
                if launch.team.is_some() {
                    has.insert("teams", ());
                }
            }
            GpuOp::Own(Own::Lanes(lanes)) => {
                let what = if lanes.of.is_some() {
                    "shared parts"
                } else {
                    "shared loops"
                };
                has.insert(what, ());
                if lanes.extents.len() > 1 {
                    has.insert("shared nests", ());
                }
                has.extend(lanes.accs.iter().map(|(monoid, _)| (team_of(*monoid), ())));
                let stores = |stmt: &Stmt<Gpu>| matches!(stmt.op, GpuOp::Store { .. });
                if lanes.body.stmts.iter().any(stores) {
                    has.insert("shared stores", ());
                }
            }
            GpuOp::Load { .. } if !in_launch => {
                has.insert("loads of the host", ());
            }
            _ => {}
        });
        for (what, ()) in has {
            *self.0.entry(what).or_default() += 1;
        }
    }

    fn at_least_five(&self, of: &[&str]) {
        for what in of {
            let times = self.0.get(what).copied().unwrap_or(0);
            assert!(times >= 5, "{what} in {times} programs: {:?}", self.0);
        }
    }
}

/// What a team is called that combines so.
fn team_of(monoid: Monoid) -> &'static str {
    match monoid {
        Monoid::Add => "sums of teams",
        Monoid::Mul => "products of teams",
        Monoid::Min | Monoid::Max => "extrema of teams",
        Monoid::And | Monoid::Or => "truths of teams",
    }
}

/// All operations, and whether they stand in a kernel.
fn visit<S: Imperative>(block: &Block<S>, see: &mut impl FnMut(&S::Op, bool)) {
    fn walk<S: Imperative>(block: &Block<S>, inside: bool, see: &mut impl FnMut(&S::Op, bool)) {
        for stmt in &block.stmts {
            see(&stmt.op, inside);
            let is_own = matches!(stmt.op, ImperativeOp::Own(_));
            for inner in stmt.op.blocks() {
                walk(inner, inside || is_own, see);
            }
        }
    }
    walk(block, false, see);
}

/// Checks all programs of these seeds, on a usual device and a small one; what has been met, and how
/// many could be compared.
fn checked(
    seeds: std::ops::Range<u64>,
    program: impl Fn(u64) -> (Program<Point>, Inputs),
) -> (Met, u64) {
    let (mut met, mut compared) = (Met::default(), 0);
    for seed in seeds {
        let (program, inputs) = program(seed);
        met.look_at(program.clone());
        for sizes in [Sizes::default(), Sizes::SMALL] {
            let same = check_on_devices(program.clone(), inputs.clone(), sizes);
            compared += u64::from(same.unwrap_or_else(|what| panic!("seed {seed}: {what}")));
        }
    }
    (met, compared)
}

#[test]
fn random_programs_are_the_same_on_devices() {
    let (met, compared) = checked(0..200, |seed| random_point(seed, Options::default()));
    assert!(compared > 200, "{compared}");
    met.at_least_five(&["points", "numbers", "tables", "add", "one thread"]);
}

#[test]
fn random_functions_are_the_same_on_devices() {
    let teams = [
        &TEAMS_OF_ONE,
        &TEAMS_OF_TWO,
        &TEAMS_OF_FOUR,
        &TEAMS_OF_A_WARP,
    ];
    teams.into_iter().for_each(|times| times.set(0));
    let (met, compared) = checked(0..300, |seed| {
        let (_, program, inputs) = random_lowered(seed);
        (program, inputs)
    });
    assert!(compared > 300, "{compared}");
    let run = teams.map(|times| times.get());
    assert!(run.iter().all(|&times| times >= 5), "{run:?}");
    met.at_least_five(&[
        "points",
        "numbers",
        "tables",
        "folds",
        "add",
        "mul",
        "min",
        "max",
        "and",
        "or",
        "elements combined",
        "one thread",
        "loads of the host",
        "teams",
        "shared parts",
        "shared loops",
        "shared nests",
        "shared stores",
        "sums of teams",
        "products of teams",
        "extrema of teams",
        "truths of teams",
    ]);
}

#[test]
fn random_points_are_the_same_on_devices() {
    let (met, compared) = checked(0..100, random_points);
    assert!(compared > 100, "{compared}");
    met.at_least_five(&["points", "own memory"]);
}

/// The first of two functions, with inputs whose sizes are small.
fn first_of(source: &str, rng: &mut Rng) -> (Program<Point>, Inputs) {
    let (function, _) = source.split_once("fn g<").expect("there are two");
    last_of(function.trim_end().trim_end_matches("#[pointful]"), rng)
}

/// The last of two functions, with inputs whose sizes are small.
fn last_of(source: &str, rng: &mut Rng) -> (Program<Point>, Inputs) {
    let program = lowered(source);
    let sizes = program.sizes.iter().map(|_| 1 + rng.below(4)).collect();
    let inputs = inputs_of(&program, sizes, rng);
    (program, inputs)
}

#[test]
fn random_products_are_the_same_on_devices() {
    let (met, compared) = checked(0..60, |seed| {
        let rng = &mut Rng::new(seed);
        first_of(&random_products(rng), rng)
    });
    assert!(compared > 60, "{compared}");
    met.at_least_five(&["products", "numbers"]);
}

#[test]
fn random_lengths_are_the_same_on_devices() {
    let (met, compared) = checked(0..400, |seed| {
        let rng = &mut Rng::new(seed);
        last_of(&random_lengths(rng), rng)
    });
    assert!(compared > 400, "{compared}");
    met.at_least_five(&["trials", "trials again"]);
}

#[test]
fn random_scans_and_accumulations_are_the_same_on_devices() {
    let (met, compared) = checked(0..60, |seed| {
        let rng = &mut Rng::new(seed);
        first_of(&random_scans(rng), rng)
    });
    assert!(compared > 60, "{compared}");
    met.at_least_five(&["folds"]);
    let (met, compared) = checked(0..30, |seed| {
        PIECES_OF.set(Some((0, 3)));
        let rng = &mut Rng::new(seed);
        first_of(&random_accumulations(rng), rng)
    });
    assert!(compared > 30, "{compared}");
    met.at_least_five(&["folds of tables"]);
}

/// Sums by class, and the last number that is not zero: by three parts, merged.
const RIGHT: &str = "
fn f(x: i64[N], class: idx<K>[N], own t: i64[K]) -> (i64[K], i64) {
  %0 = const 3usize
  %1 = alloc i64[%0, K]
  %2 = alloc i64[%0]
  %3 = alloc i64[1]
  launch \"parts\" block 256 %4: %0 own (%5: i64[K]) {
    %6 = const 0i64
    for %7: K { store %1[%4, %7], %6 }
    %8 = var %6
    part %9: N of %4 {
      %10 = load x[%9]
      %11 = load class[%9]
      store %5[%11], %10
      %12 = load %5[%11]
      %13 = load %1[%4, %11]
      %14 = add %12, %13
      store %1[%4, %11], %14
      %15 = get %8
      %16 = ne %10, %6
      %17 = select %16, %10, %15
      set %8, %17
    }
    %18 = get %8
    store %2[%4], %18
  }
  launch \"sums\" block 32 %19: K {
    %20 = load t[%19]
    %21 = var %20
    for %22: %0 {
      %23 = load %1[%22, %19]
      combine add %21[], %23
    }
    %24 = get %21
    store t[%19], %24
  }
  launch \"last\" block 32 %25: 1 {
    %26 = const 0i64
    %27 = var %26
    for %28: %0 {
      %29 = load %2[%28]
      %30 = get %27
      %31 = ne %29, %26
      %32 = select %31, %29, %30
      set %27, %32
    }
    %33 = get %27
    store %3[%25], %33
  }
  %34 = const 0usize
  %35 = trust 1 %34
  %36 = load %3[%35]
  return t, %36
}";

/// Rows of differences from their sums, by a team of four.
const TEAM: &str = "
fn f(x: i64[N, K]) -> (i64[N], i64[N, K]) {
  %0 = alloc i64[N]
  %1 = alloc i64[N, K]
  %2 = const 4usize
  launch \"rows\" block 256 team %2 %3: N own (%4: i64[K]) {
    %5 = const 0i64
    %6 = const 3i64
    %7 = var %6
    lanes %8: K (add %7) {
      %9 = load x[%3, %8]
      combine add %7[], %9
      store %4[%8], %9
    }
    %10 = get %7
    lanes %11: K {
      %12 = load %4[%11]
      %13 = sub %10, %12
      store %1[%3, %11], %13
    }
    store %0[%3], %10
  }
  return %0, %1
}";

/// What a program gives by order of threads.
fn given(text: &str, sizes: &[usize], params: &[Data]) -> Vec<Result<Vec<Data>, EvalError>> {
    let program = parse::<Gpu>(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let inputs = Inputs {
        sizes: sizes.to_vec(),
        params: params.to_vec(),
    };
    let given = |order| run_in_order(&program, &inputs, 10_000, order).map(|(given, _)| given);
    (0..Gpu::ORDERS).map(given).collect()
}

fn data(scalar: Scalar, shape: &[usize], values: &[i128]) -> Data {
    let value = |&value| ScalarValue::from_int(scalar, value);
    Data::new(scalar, shape.to_vec(), values.iter().map(value).collect())
}

/// Five numbers of two classes.
fn classes() -> [Data; 3] {
    [
        data(Scalar::I64, &[5], &[5, 0, 7, 0, 9]),
        data(Scalar::Usize, &[5], &[0, 1, 0, 1, 1]),
        data(Scalar::I64, &[2], &[100, 200]),
    ]
}

/// That a mistake is found: by what is said, or by what is given.
fn is_found(
    what: &str,
    found: &str,
    wrong: &[Result<Vec<Data>, EvalError>],
    right: &[Result<Vec<Data>, EvalError>],
) {
    let is_found = wrong.iter().zip(right).any(|(wrong, right)| match wrong {
        Ok(_) if found.is_empty() => wrong != right,
        Ok(_) => false,
        Err(error) => !found.is_empty() && error.to_string().contains(found),
    });
    assert!(is_found, "{what}: {wrong:?}");
}

fn text_of(data: &[Data]) -> String {
    data.iter()
        .map(Data::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn mistakes_of_teams_are_found() {
    let x = [data(Scalar::I64, &[2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])];
    let right = given(TEAM, &[2, 5], &x);
    for given in &right {
        let given = text_of(given.as_ref().expect("it runs"));
        assert_eq!(
            given,
            "[18, 43]; [[17, 16, 15, 14, 13], [37, 36, 35, 34, 33]]"
        );
    }
    let race = "a race";
    let other = "%20 = const 0usize %21 = trust K %20";
    for (what, before, after, found) in [
        (
            "all store one element",
            "store %4[%8], %9",
            &*format!("{other} store %4[%21], %9"),
            race,
        ),
        (
            "one reads what another stores",
            "store %1[%3, %11], %13",
            &format!("store %4[%11], %13 {other} %22 = load %4[%21]"),
            race,
        ),
        (
            "a neighbour's element is stored",
            "store %1[%3, %11], %13",
            &format!("store %1[%3, %11], %13 {other} store %1[%3, %21], %5"),
            race,
        ),
        (
            "nobody has stored",
            "store %4[%8], %9",
            "",
            "memory is read before it is written",
        ),
        ("a loop in order", "lanes %11: K", "for %11: K", "same"),
        (
            "what was there is forgotten",
            "%7 = var %6",
            "%7 = var %5",
            "",
        ),
        (
            "it is no power of two",
            "%2 = const 4usize",
            "%2 = const 3usize",
            "a team",
        ),
        (
            "it is larger than a block",
            "%2 = const 4usize",
            "%2 = const 512usize",
            "a team",
        ),
    ] {
        assert!(TEAM.contains(before), "{what}");
        let wrong = given(&TEAM.replace(before, after), &[2, 5], &x);
        match found {
            "same" => assert_eq!(wrong, right, "{what}"),
            _ => is_found(what, found, &wrong, &right),
        }
    }
}

#[test]
fn mistakes_are_found() {
    let right = given(RIGHT, &[5, 2], &classes());
    for given in &right {
        assert_eq!(text_of(given.as_ref().expect("it runs")), "[112, 209]; 9");
    }
    let unwritten = "memory is read before it is written";
    let race = "a race";
    let first = "%40 = const 0usize %41 = trust";
    for (what, before, after, found) in [
        ("copies hold nothing", "store %1[%4, %7], %6", "", unwritten),
        (
            "what a thread has holds nothing",
            "store %5[%11], %10",
            "",
            unwritten,
        ),
        ("no part is left", "store %2[%4], %18", "", unwritten),
        (
            "a part adds to another's copy",
            "store %1[%4, %11], %14",
            &format!("{first} %0 %40 store %1[%41, %11], %14"),
            race,
        ),
        (
            "all parts leave one number",
            "store %2[%4], %18",
            &format!("{first} %0 %40 store %2[%41], %18"),
            race,
        ),
        (
            "a thread reads what another writes",
            "%20 = load t[%19]",
            &format!("{first} K %40 %20 = load t[%41]"),
            race,
        ),
        (
            "a thread writes what another reads",
            "store t[%19], %24",
            &format!("{first} K %40 store t[%41], %24"),
            race,
        ),
        (
            "each part is all points",
            "part %9: N of %4",
            "for %9: N",
            "",
        ),
        (
            "what was there is forgotten",
            "%21 = var %20",
            "%40 = const 0i64 %21 = var %40",
            "",
        ),
        (
            "a part is not merged",
            "combine add %21[], %23",
            "%40 = cast usize %22 %41 = const 2usize %42 = lt %40, %41 %43 = const 0i64 %44 = select %42, %23, %43 combine add %21[], %44",
            "",
        ),
        ("nothing is merged", "store t[%19], %24", "", ""),
        (
            "parts are merged from the last to the first",
            "for %28: %0",
            "for rev %28: %0",
            "",
        ),
    ] {
        assert!(RIGHT.contains(before), "{what}");
        let wrong = given(&RIGHT.replace(before, after), &[5, 2], &classes());
        is_found(what, found, &wrong, &right);
    }
}

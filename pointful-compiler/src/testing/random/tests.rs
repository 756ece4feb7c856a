use super::{Options, random_point};
use crate::eval::{EvalError, run_limited};
use crate::ir::parse::parse;
use crate::ir::print::print;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::verify::verify;
use crate::ir::{Block, Extent, Operation};

#[test]
fn random_programs_are_valid_and_run() {
    for seed in 0..1500 {
        let (program, inputs) = random_point(seed, Options::default());
        if let Err(error) = verify(&program) {
            panic!("seed {seed}: {error}\n{}", print(&program));
        }
        if let Err(error) = run_limited(&program, &inputs, 5_000_000) {
            panic!("seed {seed}: {error}\n{}", print(&program));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_program() {
    let make = || random_point(7, Options::default());
    assert_eq!(make(), make());
    let (other, _) = random_point(8, Options::default());
    assert_ne!(print(&make().0), print(&other));
}

#[test]
fn random_programs_print_and_read_back() {
    for seed in 0..200 {
        let text = print(&random_point(seed, Options::default()).0);
        let again = parse::<Point>(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(print(&again), text);
    }
}

#[test]
fn some_panic_where_they_may() {
    let options = Options {
        allow_panics: true,
        ..Options::default()
    };
    let panics = (0..300)
        .filter(|&seed| {
            let (program, inputs) = random_point(seed, options);
            match run_limited(&program, &inputs, 5_000_000) {
                Ok(_) => false,
                Err(EvalError::Panic(_)) => true,
                Err(error) => panic!("seed {seed}: {error}\n{}", print(&program)),
            }
        })
        .count();
    assert!((5..200).contains(&panics), "{panics} of 300 panic");
}

/// A row of the table below for each kind of operation, and for what is easily missed.
fn kinds(block: &Block<Point>, depth: usize, found: &mut Vec<&'static str>) {
    let computed = |extent: &Extent| matches!(extent, Extent::Value(_));
    for stmt in &block.stmts {
        let (kind, blocks): (_, Vec<&Block<Point>>) = match &stmt.op {
            PointOp::Const(_) => ("const", vec![]),
            PointOp::Size(_) => ("size", vec![]),
            PointOp::Prim(prim, _) => (prim.name(), vec![]),
            PointOp::Index { .. } => ("index", vec![]),
            PointOp::Array(_) => ("array", vec![]),
            PointOp::For { extent, body } if computed(extent) => ("for, ragged", vec![body]),
            PointOp::For { body, .. } => ("for", vec![body]),
            PointOp::Reduce { .. } => ("reduce", vec![]),
            PointOp::ArgReduce { .. } => ("argreduce", vec![]),
            PointOp::Fold { op, .. } => ("fold", vec![op]),
            PointOp::Scan { op, .. } => ("scan", vec![op]),
            PointOp::Loop { body, .. } if stmt.results.is_empty() => ("loop, empty", vec![body]),
            PointOp::Loop { body, .. } if depth > 0 => ("loop, nested", vec![body]),
            PointOp::Loop { body, .. } => ("loop", vec![body]),
            PointOp::While { cond, body, .. } if depth > 0 => ("while, nested", vec![cond, body]),
            PointOp::While { cond, body, .. } => ("while", vec![cond, body]),
            PointOp::If {
                then, otherwise, ..
            } => ("if", vec![then, otherwise]),
            PointOp::Accum { .. } if depth > 0 => ("accum, nested", vec![]),
            PointOp::Accum { .. } => ("accum", vec![]),
            PointOp::Accumulate { .. } => ("accumulate", vec![]),
            PointOp::Get { .. } => ("get", vec![]),
            PointOp::Assert { .. } => ("assert", vec![]),
            PointOp::Update { .. } if depth > 0 => ("update, nested", vec![]),
            PointOp::Update { .. } => ("update", vec![]),
            PointOp::Derive { .. } | PointOp::Rule { .. } => ("derivative", vec![]),
        };
        found.push(kind);
        for inner in blocks {
            kinds(inner, depth + 1, found);
        }
    }
}

#[test]
fn every_operation_occurs() {
    let mut found = Vec::new();
    for seed in 0..400 {
        let (program, _) = random_point(seed, Options::default());
        kinds(&program.body, 0, &mut found);
    }
    for kind in [
        "const",
        "size",
        "index",
        "array",
        "for",
        "for, ragged",
        "reduce",
        "argreduce",
        "fold",
        "scan",
        "loop",
        "loop, nested",
        "while",
        "while, nested",
        "if",
        "accum",
        "accum, nested",
        "accumulate",
        "get",
        "assert",
        "update",
        "update, nested",
        "check",
        "wrap",
        "clamp_to",
        "mirror",
        "in_range",
        "trust",
        "cast",
        "div",
        "rem_euclid",
        "sin",
        "mul_add",
        "sqrt",
    ] {
        let count = found.iter().filter(|&&k| k == kind).count();
        assert!(count >= 20, "`{kind}` occurs {count} times");
    }
}

/// What is reduced inside of a loop that carries something, if that is inside of a loop that does
/// not.
fn reduced_in_lanes(block: &Block<Point>, around: [bool; 2], found: &mut Vec<&'static str>) {
    let [parallel, lanes] = around;
    for stmt in &block.stmts {
        match &stmt.op {
            PointOp::Reduce { monoid, .. } if lanes => found.push(monoid.name()),
            PointOp::ArgReduce { .. } if lanes => found.push("argreduce"),
            PointOp::Loop { .. } if lanes => found.push("last"),
            PointOp::For {
                extent: Extent::Value(_),
                ..
            } if lanes => found.push("ragged"),
            _ => {}
        }
        let around = match &stmt.op {
            PointOp::For { .. } => [true, lanes],
            PointOp::Loop { .. } => [parallel, lanes || parallel],
            _ => around,
        };
        for inner in stmt.op.blocks() {
            reduced_in_lanes(inner, around, found);
        }
    }
}

#[test]
fn every_reduction_occurs_in_lanes() {
    let mut found = Vec::new();
    for seed in 0..400 {
        let (program, _) = random_point(seed, Options::default());
        reduced_in_lanes(&program.body, [false, false], &mut found);
    }
    for kind in [
        "add",
        "mul",
        "min",
        "max",
        "and",
        "or",
        "argreduce",
        "last",
        "ragged",
    ] {
        let count = found.iter().filter(|&&k| k == kind).count();
        assert!(count >= 10, "`{kind}` occurs {count} times");
    }
}

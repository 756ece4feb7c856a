use std::cell::Cell;

use super::{Limits, split_by, steps, windows};
use crate::eval::{EvalError, Inputs, run_in_order};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::stages::kernels::Kernels;
use crate::ir::verify::verify;
use crate::ir::{Block, Extent, Operation, Program, print};
use crate::targets::cpu::outline;
use crate::testing::{Options, Rng, check_seeds, outlined};

/// How often loops are cut near their ends, in front of which checks are asked, by rows, and by sums
/// that are known when they begin.
fn cuts(block: &Block<Cpu>, found: &mut [u32; 4]) {
    let range = |block: &Block<Cpu>| {
        (block.stmts.iter()).find_map(|stmt| match stmt.op {
            CpuOp::Own(Own::Range { cold, .. }) => Some(cold),
            _ => None,
        })
    };
    let mut ranges = block.stmts.iter().filter_map(|stmt| match stmt.op {
        CpuOp::Own(Own::Range { cold, .. }) => Some(cold),
        _ => None,
    });
    let (first, more) = (ranges.next(), ranges.next());
    found[0] += u32::from(first == Some(true) && more == Some(false));
    for stmt in &block.stmts {
        match &stmt.op {
            CpuOp::If { otherwise, .. } if range(otherwise) == Some(true) => found[1] += 1,
            CpuOp::For { extent: Extent::Const(3), body, .. }
                if body.stmts.iter().any(|stmt| {
                    matches!(&stmt.op, CpuOp::If { otherwise, .. } if range(otherwise) == Some(false))
                }) =>
            {
                found[3] += 1;
            }
            CpuOp::Own(Own::Par(par)) => {
                let by_rows = par.body.stmts.iter().any(|stmt| match &stmt.op {
                    CpuOp::If { then, otherwise, .. } => {
                        range(then).is_some() && range(otherwise).is_some()
                    }
                    _ => false,
                });
                found[2] += u32::from(par.extents.len() > 1 && by_rows);
            }
            _ => {}
        }
        for inner in stmt.op.blocks() {
            cuts(inner, found);
        }
    }
}

#[test]
fn random_programs_are_cut() {
    let (changed, found) = (Cell::new(0), Cell::new([0; 4]));
    let options = Options {
        neighbours: 40,
        ..Options::default()
    };
    let limits = Limits {
        short: 2,
        ..Limits::default()
    };
    check_seeds(0..1000, options, outlined, |program| {
        let cut = split_by(program.clone(), limits);
        changed.set(changed.get() + u32::from(cut.body != program.body));
        let mut all = found.get();
        cuts(&cut.body, &mut all);
        found.set(all);
        cut
    });
    let (changed, found) = (changed.get(), found.get());
    assert!(
        changed * 20 > 1000,
        "only {changed} of 1000 programs are cut"
    );
    assert!(found[0] >= 5 && found[3] >= 5, "{found:?}");
}

/// A program whose loops are cut, and which does the same as before.
struct Cut {
    body: Block<Cpu>,
    /// How many of three runs do not panic.
    ended: u32,
}

impl Cut {
    #[track_caller]
    fn of(seed: u64, program: Program<Kernels>, inputs: &Inputs, limits: Limits) -> Self {
        let before = outline(program);
        let cut = split_by(before.clone(), limits);
        verify(&cut).unwrap_or_else(|error| panic!("{seed}: {error}\n{}", print(&cut)));
        let mut ended = 0;
        for order in 0..3 {
            let [right, given] =
                [&before, &cut].map(|program| run_in_order(program, inputs, 1_000_000, order));
            ended += u32::from(right.is_ok());
            let same = match (&right, &given) {
                (Ok((right, _)), Ok((given, _))) => right == given,
                (Err(EvalError::Panic(right)), Err(EvalError::Panic(given))) => right == given,
                _ => false,
            };
            assert!(
                same,
                "{seed}: {right:?}\n{given:?}\n{}\n{}",
                print(&before),
                print(&cut)
            );
        }
        Self {
            body: cut.body,
            ended,
        }
    }
}

/// Loops of which a condition chooses between two versions.
fn versions(block: &Block<Cpu>) -> u32 {
    let mut found = 0;
    for stmt in &block.stmts {
        if let CpuOp::If {
            then, otherwise, ..
        } = &stmt.op
            && let ([then], [otherwise]) = (&then.stmts[..], &otherwise.stmts[..])
            && matches!(then.op, CpuOp::For { .. } | CpuOp::If { .. })
            && matches!(otherwise.op, CpuOp::For { .. })
        {
            found += 1;
        }
        found += stmt.op.blocks().into_iter().map(versions).sum::<u32>();
    }
    found
}

#[test]
fn random_loops_in_order_have_versions() {
    let [mut found, mut ended, mut fails, mut fewer] = [0; 4];
    for seed in 0..800 {
        let (program, inputs) = steps::random(&mut Rng::new(seed));
        let of_few = Limits {
            large: 12,
            ..Limits::default()
        };
        let of_few = Cut::of(seed, program.clone(), &inputs, of_few);
        let same = Cut::of(seed, program, &inputs, Limits::default());
        let [of_few, versions] = [of_few.body, same.body].map(|body| versions(&body));
        fewer += u32::from(of_few < versions);
        found += versions.min(1);
        ended += same.ended * versions.min(1);
        fails += (3 - same.ended) * versions.min(1);
    }
    let all = [found, ended, fails, fewer];
    assert!(all.iter().all(|&times| times >= 100), "{all:?}");
}

#[test]
fn random_windows_are_cut() {
    let (mut found, mut agree) = ([0; 4], 0);
    for seed in 0..500 {
        let (program, inputs) = windows::random(&mut Rng::new(seed));
        for short in [2, 8] {
            let limits = Limits {
                short,
                ..Limits::default()
            };
            let same = Cut::of(seed, program.clone(), &inputs, limits);
            if short == 2 {
                cuts(&same.body, &mut found);
            }
            agree += same.ended;
        }
    }
    assert!(agree > 1500, "only {agree} of 3000 runs do not panic");
    let told = crate::testing::entered::TOLD.get();
    assert!(told >= 5, "what a row decides is known in {told} interiors");
    assert!(found.iter().all(|&times| times >= 5), "{found:?}");
}

use std::cell::Cell;
use std::ops::Range;

use super::outer_loop::{Together, WORTH, Worth, outer_loop_by};
use super::reductions::{Lanes, reductions_by};
use super::short_loops::{Short, short_loops_by};
use crate::eval::{EvalError, Inputs, run_limited};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::stages::point::Point;
use crate::ir::{Block, Elem, Lit, Message, Operation, Program, Scalar, SpanId, Stmt};
use crate::ops::Prim;
use crate::targets::cpu::split::{Limits, split_by};
use crate::targets::cpu::statements::{bind, prim};
use crate::testing::entered::{CHAINS_OUTWEIGH, HANDED, LONGEST, SHARED, VECTORS_OUTWEIGH};
use crate::testing::source::{inputs_of, lowered};
use crate::testing::{
    Options, Rng, check_between, check_each, check_seeds, outlined, random_point, random_points,
};

/// How many strips there are whose lanes are asked before they run, and how many loops with
/// branches have strips.
fn branches(block: &Block<Cpu>) -> [u32; 2] {
    let is_branch = |op: &CpuOp| matches!(op, CpuOp::If { .. });
    let has_strips = |op: &CpuOp| {
        is_branch(op)
            && (op.blocks().into_iter().flat_map(|inner| &inner.stmts))
                .any(|stmt| matches!(stmt.op, CpuOp::Own(Own::Strips { .. })))
    };
    let in_strips = block.stmts.iter().any(|stmt| has_strips(&stmt.op));
    let mut found = [0, 0];
    for stmt in &block.stmts {
        match &stmt.op {
            CpuOp::Own(Own::Strips { body, .. }) => {
                found[0] += u32::from(body.stmts.iter().any(|stmt| is_branch(&stmt.op)));
            }
            CpuOp::Own(Own::Range { body, .. }) if in_strips => {
                found[1] += u32::from(body.stmts.iter().any(|stmt| is_branch(&stmt.op)));
            }
            _ => {}
        }
        for inner in stmt.op.blocks() {
            let inner = branches(inner);
            found = [found[0] + inner[0], found[1] + inner[1]];
        }
    }
    found
}

/// How many searches are folded.
fn searches(block: &Block<Cpu>) -> u32 {
    let of = |stmt: &Stmt<Cpu>| {
        let inside: u32 = stmt.op.blocks().into_iter().map(searches).sum();
        inside + u32::from(matches!(stmt.op, CpuOp::Own(Own::ArgFold { .. })))
    };
    block.stmts.iter().map(of).sum()
}

#[test]
fn reductions_of_random_programs_are_split() {
    for lanes in [2, 3] {
        let (changed, sought) = (Cell::new(0), Cell::new(0));
        let lanes = Lanes {
            bytes: 8 * lanes,
            strips: 1,
        };
        check_between(500, outlined, |program| {
            let split = reductions_by(program.clone(), lanes);
            changed.set(changed.get() + u32::from(split.body != program.body));
            sought.set(sought.get() + searches(&split.body));
            split
        });
        let (changed, sought) = (changed.get(), sought.get());
        assert!(
            changed * 20 > 500,
            "only {changed} of 500 programs have lanes"
        );
        assert!(sought >= 5, "{sought} places are looked for in lanes");
    }
}

/// Puts what loops sum up behind branches of which both sides do the same, one of them with
/// something dear if asked for.
fn branched(program: &mut Program<Cpu>, block: &mut Block<Cpu>, dear: bool) {
    let stmts = std::mem::take(&mut block.stmts);
    for mut stmt in stmts {
        let span = stmt.span;
        match &stmt.op {
            &CpuOp::Combine { place, value, .. }
                if program.elem(value) == Elem::Scalar(Scalar::F64)
                    && program.ty(place).rank() == 0 =>
            {
                let out = &mut block.stmts;
                let odd = CpuOp::Const(Lit::of(Scalar::F64, 0.137_193));
                let elem = program.elem(value);
                let odd = bind(program, odd, elem, span, out);
                let cond = prim(program, Prim::Gt, &[value, odd], Elem::BOOL, span, out);
                let (mut then, mut otherwise) = (Block::default(), Block::default());
                if dear {
                    prim(program, Prim::Exp, &[value], elem, span, &mut then.stmts);
                }
                let nested = CpuOp::If {
                    cond,
                    then: Box::default(),
                    otherwise: Box::new(Block {
                        stmts: vec![stmt.clone()],
                        ..Block::default()
                    }),
                };
                then.stmts.push(stmt);
                otherwise.stmts.push(Stmt::new(Vec::new(), nested, span));
                let branch = CpuOp::If {
                    cond,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                out.push(Stmt::new(Vec::new(), branch, span));
            }
            _ => {
                for inner in stmt.op.blocks_mut() {
                    branched(program, inner, dear);
                }
                block.stmts.push(stmt);
            }
        }
    }
}

#[test]
fn branches_of_random_programs_are_converted() {
    for dear in [false, true] {
        let met = Cell::new([0, 0]);
        let lanes = Lanes {
            bytes: 16,
            strips: 1,
        };
        let before = |program| {
            let program: Program<Cpu> = outlined(program);
            program.rewritten(|program, body| branched(program, body, dear))
        };
        check_between(500, before, |program| {
            let split = reductions_by(program, lanes);
            let found = branches(&split.body);
            met.set([0, 1].map(|kind| met.get()[kind] + found[kind]));
            split
        });
        let [asked, converted] = met.get();
        assert!(
            converted > 25 && (asked > 25) == dear,
            "{converted} loops with branches are in lanes, {asked} times they are asked"
        );
    }
}

/// In how many of these random programs strips of which it is asked whether they pay are run, and
/// in how many what is there in their place.
fn entered(
    seeds: Range<u64>,
    program: impl Fn(u64) -> (Program<Point>, Inputs),
    pass: impl Fn(Program<Point>) -> Program<Cpu>,
) -> [u32; 2] {
    const HERE: &str = "here";
    let stops = |seed, side: usize| {
        let (program, inputs) = program(seed);
        let marked = pass(program).rewritten(|program, body| mark(program, body, side, HERE));
        let outcome = run_limited(&marked, &inputs, 10_000_000);
        matches!(outcome, Err(EvalError::Panic(message)) if message.contains(HERE))
    };
    [0, 1].map(|side| seeds.clone().map(|seed| u32::from(stops(seed, side))).sum())
}

/// Has a side of what is asked about strips panic.
fn mark(program: &mut Program<Cpu>, block: &mut Block<Cpu>, side: usize, text: &str) {
    let strips = |op: &CpuOp| matches!(op, CpuOp::Own(Own::Strips { .. }));
    let range = |op: &CpuOp| matches!(op, CpuOp::Own(Own::Range { .. }));
    for stmt in &mut block.stmts {
        if let CpuOp::If {
            then, otherwise, ..
        } = &mut stmt.op
            && then.stmts.iter().any(|stmt| strips(&stmt.op))
            && matches!(&otherwise.stmts[..], [only] if range(&only.op))
        {
            let (mut panics, span) = (Vec::new(), SpanId::NONE);
            let never = CpuOp::Const(Lit::Bool(false));
            let cond = bind(program, never, Elem::BOOL, span, &mut panics);
            let (message, _) = Message::parse(text).expect("it is a format string");
            let op = CpuOp::Assert {
                cond,
                message,
                shown: Vec::new(),
            };
            panics.push(Stmt::new(Vec::new(), op, span));
            [then, otherwise][side].stmts.splice(..0, panics);
        }
        for inner in stmt.op.blocks_mut() {
            mark(program, inner, side, text);
        }
    }
}

/// How often a condition of a whole row stands around its strips.
fn unswitched(block: &Block<Cpu>) -> u32 {
    let has_strips = |block: &Block<Cpu>| {
        (block.stmts.iter()).any(|stmt| matches!(stmt.op, CpuOp::Own(Own::Strips { .. })))
    };
    let short = |block: &Block<Cpu>| match block.stmts.last().map(|stmt| &stmt.op) {
        Some(CpuOp::If { then, .. }) => has_strips(then),
        _ => false,
    };
    let stmts = block.stmts.iter().map(|stmt| {
        let own = matches!(&stmt.op, CpuOp::If { then, .. } if short(then));
        let inner: u32 = stmt.op.blocks().into_iter().map(unswitched).sum();
        u32::from(own) + inner
    });
    stmts.sum()
}

#[test]
fn short_rows_of_random_programs_are_strips() {
    let (changed, conditions) = (Cell::new(0), Cell::new(0));
    let options = Options {
        neighbours: 40,
        ..Options::default()
    };
    for options in [Options::default(), options] {
        let limits = Limits {
            short: 2,
            ..Limits::default()
        };
        let before = |program| split_by(outlined(program), limits);
        let rows = Short { bytes: 24, long: 5 };
        check_seeds(0..500, options, before, |program| {
            let strips = short_loops_by(program.clone(), rows);
            changed.set(changed.get() + u32::from(strips.body != program.body));
            conditions.set(conditions.get() + unswitched(&strips.body));
            strips
        });
        let pass = |program| short_loops_by(before(program), rows);
        let entered = entered(0..200, |seed| random_point(seed, options), pass);
        assert!(
            entered.iter().all(|&times| times >= 5),
            "rows are short and long in {entered:?} programs"
        );
    }
    let (changed, conditions) = (changed.get(), conditions.get());
    assert!(
        changed * 20 > 1000,
        "only {changed} of 1000 programs have short rows"
    );
    assert!(conditions >= 5, "{conditions} rows decide alike");
}

/// How often it is asked whether there is room for the points' own buffers.
fn rooms(program: &Program<Cpu>, block: &Block<Cpu>) -> u32 {
    let of = |stmt: &Stmt<Cpu>| {
        let inside = stmt.op.blocks().into_iter();
        let inside: u32 = inside.map(|block| rooms(program, block)).sum();
        let own = matches!(stmt.op, CpuOp::Select(..))
            && matches!(program.elem(stmt.results[0]), Elem::Bound(_));
        inside + u32::from(own)
    };
    block.stmts.iter().map(of).sum()
}

#[test]
fn points_of_random_programs_advance_together() {
    for width in [16, 24] {
        let (changed, asked) = (Cell::new(0), Cell::new(0));
        let all = Together {
            bytes: 2 * width,
            few_bytes: width,
            if_it_pays: None,
            // For an array of one element for each point, and not for more.
            own_bytes: 4 * width,
        };
        check_between(500, outlined, |program| {
            let strips = outer_loop_by(program.clone(), all);
            changed.set(changed.get() + u32::from(strips.body != program.body));
            asked.set(asked.get() + rooms(&strips, &strips.body));
            strips
        });
        let (changed, asked) = (changed.get(), asked.get());
        assert!(asked >= 5, "{asked} times there may be no room");
        assert!(
            changed * 20 > 500,
            "only {changed} of 500 programs have strips"
        );
    }
}

#[test]
fn points_advance_together_where_that_pays() {
    const PROGRAMS: u64 = 400;
    let of = |[bytes, few_bytes]: [u64; 2], worth| Together {
        bytes,
        few_bytes,
        if_it_pays: Some(worth),
        own_bytes: 1 << 24,
    };
    // As users get it, and with strips of few points.
    for (bytes, worth) in [
        ([256, 128], WORTH),
        (
            [32, 16],
            Worth {
                short: 3,
                gather: 2,
            },
        ),
    ] {
        let (changed, differ) = (Cell::new(0), Cell::new(0));
        check_each(0..PROGRAMS, random_points, outlined, |program| {
            let strips = outer_loop_by(program.clone(), of(bytes, worth));
            let dearer = Worth {
                gather: 1000,
                ..worth
            };
            let others = outer_loop_by(program.clone(), of(bytes, dearer));
            changed.set(changed.get() + u64::from(strips.body != program.body));
            differ.set(differ.get() + u64::from(strips.body != others.body));
            strips
        });
        HANDED.take();
        let entered = entered(0..PROGRAMS, random_points, |program| {
            outer_loop_by(outlined(program), of(bytes, worth))
        });
        let handed = HANDED.take();
        assert!(handed >= 5, "{handed} loops hand arrays on");
        let weighed = [&CHAINS_OUTWEIGH, &VECTORS_OUTWEIGH].map(|times| times.take());
        assert!(
            weighed.iter().all(|&times| times >= 5),
            "loops at one depth outweigh others in {weighed:?} kernels"
        );
        let (changed, differ) = (changed.get(), differ.get());
        assert!(
            (PROGRAMS / 20..PROGRAMS * 19 / 20).contains(&changed),
            "{changed} of {PROGRAMS} programs have strips"
        );
        assert!(differ >= 5, "gathers are worth it in {differ} programs");
        assert!(
            entered.iter().all(|&times| times >= 5),
            "loops are short and long in {entered:?} programs"
        );
    }
}

/// Points that multiply by the same matrix, few and many, with vectors for which there is room and
/// for which there is none.
#[test]
fn points_that_share_a_matrix_advance_together() {
    const PROGRAMS: u64 = 300;
    for own_bytes in [1 << 24, 1 << 12] {
        let together = Together {
            bytes: 256,
            few_bytes: 128,
            if_it_pays: Some(WORTH),
            own_bytes,
        };
        let pass = |program| outer_loop_by(outlined(program), together);
        let shares = |&seed: &u64| {
            SHARED.take();
            pass(random_points(seed).0);
            SHARED.take() > 0
        };
        let seeds: Vec<u64> = (0..PROGRAMS).filter(shares).collect();
        assert!(
            seeds.len() as u64 * 20 >= PROGRAMS,
            "only {} of {PROGRAMS} programs share a matrix",
            seeds.len()
        );
        for &seed in &seeds {
            check_each(seed..seed + 1, random_points, outlined, |program| {
                outer_loop_by(program, together)
            });
        }
        let entered = seeds.iter().fold([0, 0], |times, &seed| {
            let here = entered(seed..seed + 1, random_points, pass);
            [0, 1].map(|side| times[side] + here[side])
        });
        assert!(
            entered.iter().all(|&times| times >= 5),
            "there are strips and none in {entered:?} programs"
        );
    }
}

/// A function whose points make tables as long as each has it, in branches or not, change them in
/// one loop and read them in another one.
fn own_lengths(rng: &mut Rng) -> String {
    let [length, other] =
        [(); 2].map(|()| rng.pick(&["ends[i]", "ends[i] + 1", "ends[i] + size(N)"]));
    let mut part = |length: &str| {
        let change = rng.pick(&["", "t[j] *= 0.5;", "t[j] = (t[j] + s).cos();"]);
        let read = rng.pick(&[
            "s = 0.5 * s + t[j];",
            "if t[j] > 0.1 { s = (s - t[j]).sin(); }",
        ]);
        let order = rng.pick(&["0..n", "(0..n).rev()"]);
        format!(
            "let n = {length}; let mut t = for j in 0..n {{ (s + x[i] * j as f64).sin() }};
            for j in 0..n {{ s = 0.7 * s + 0.1; {change} }}
            for j in {order} {{ {read} }}"
        )
    };
    let (first, second) = (part(length), part(other));
    let second = rng
        .pick(&[
            "",
            "PART",
            "if s > 0.1 { PART }",
            "if x[i] > 0.0 { PART } else { s = 0.2; }",
        ])
        .replace("PART", &second);
    format!(
        "fn f<N: IndexSet>(x: &Table<N, f64>, ends: &Table<N, usize>) -> Table<N, f64> {{
            for i in N {{ let mut s = x[i]; {first} {second} s }}
        }}"
    )
}

/// Points whose tables are as long as each computes: they have room for the longest.
#[test]
fn points_with_lengths_of_their_own_advance_together() {
    let together = Together {
        bytes: 32,
        few_bytes: 16,
        if_it_pays: None,
        own_bytes: 64,
    };
    let program = |seed| {
        let rng = &mut Rng::new(seed);
        let program = lowered(&own_lengths(rng));
        let sizes = program.sizes.iter().map(|_| 1 + rng.below(7)).collect();
        let inputs = inputs_of(&program, sizes, rng);
        (program, inputs)
    };
    let longest = Cell::new(0);
    check_each(0..200, program, outlined, |program| {
        LONGEST.take();
        let strips = outer_loop_by(program, together);
        longest.set(longest.get() + u32::from(LONGEST.take() > 0));
        strips
    });
    let longest = longest.get();
    assert!(
        longest >= 20,
        "buffers are as long as the longest in {longest} programs"
    );
}

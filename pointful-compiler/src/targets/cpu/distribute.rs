//! What the steps of a loop do not wait for is computed for many steps together.
//!
//! A loop of the host hands a state from step to step, and so its steps come one after the other.
//! But not all of a step is handed on: of the logarithm and the quotient in the likelihood of a
//! volatility only their sum is, and of a shock that a random number is made into only the product.
//! Such functions become vectors, on all processors, if the loop is cut into tiles of steps and
//! what a step does into phases:
//!
//! ```text
//! for %t: T {                                    for %tile: tiles {
//!   %z = exp (load z[%t])                          par %k: points { keep exp (load z[%t]) }
//!   %h = get %state                                for %k: points { %h = get %state  keep %h  set %state, (mul %h, %z) }
//!   set %state, (mul %h, %z)               ▶       par %k: points { keep ln %h }
//!   %l = ln %h                                     for %k: points { combine add %total[], %l }
//!   combine add %total[], %l                     }
//! }
//! ```
//!
//! What no state is needed for comes first; then what must be done step by step before anything
//! dear can be computed; then that; then the rest, step by step. What one phase computes for
//! another is kept for the steps of a tile, unless it is cheap to read or compute again. Loops of a
//! few steps stay as they are.
//!
//! # Why it is sound
//!
//! Statements that touch the same place stay in one phase and in their order, and a value is
//! computed from what it was computed from. Nothing that fails, or calls what its author wrote, is
//! moved. So each place sees the same values in the same order, and the bits are the same.
//!
//! Iterations that are [independent](points) of each other are distributed more freely.

mod points;

use smallvec::smallvec;

use std::collections::{BTreeMap, BTreeSet};

use super::online_softmax::Size;
use super::tiling::{Cut, Writer};
use super::versioning::by_length;
use crate::analysis::accesses::changes;
use crate::analysis::effects::{is_pure, needed};
use crate::contract::cloning::Renamed;
use crate::contract::schedule::price;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// What is kept of a tile stays in the nearest cache, and less takes no longer than to begin with
/// kernels.
const CACHED: Size = Size {
    tile: 1 << 10,
    least: 1 << 5,
};

/// The simple operations that must be worth moving in a step: an elementary function.
const WORTH: u32 = 20;

/// What is as dear as a quotient gets faster in a vector.
const DEAR: u32 = 4;

/// The most values that are kept.
const KEPT: usize = 8;

/// The pass.
pub const DISTRIBUTE: Pass<Kernels> = Pass {
    name: "distribute",
    about: "compute for many steps of a loop together what they do not wait for",
    run: distribute,
};

/// Computes for many steps of a loop together what they do not wait for.
pub fn distribute(program: Program<Kernels>) -> Program<Kernels> {
    distribute_of(program, CACHED)
}

/// [`distribute`] with tiles of this size.
pub fn distribute_of(program: Program<Kernels>, size: Size) -> Program<Kernels> {
    program.rewritten(|program, body| host(program, size, body))
}

/// Looks for such loops in what the host does.
fn host(program: &mut Program<Kernels>, size: Size, block: &mut Block<Kernels>) {
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        if let KernelOp::For { extent, body, .. } = &stmt.op
            && !matches!(extent, Extent::Const(steps) if *steps < size.least)
            && let Some(plan) = Plan::of(program, body)
        {
            plan.carry_out(program, size, &stmt, &mut out);
            continue;
        }
        if !matches!(stmt.op, KernelOp::Own(Par { .. })) {
            for inner in stmt.op.blocks_mut() {
                host(program, size, inner);
            }
        }
        out.stmts.push(stmt);
    }
    block.stmts = out.stmts;
}

/// When a statement is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Phase {
    /// Whenever it is needed: it is cheap, and no state is.
    Anytime,
    /// For many steps together, before any state is known.
    Before,
    /// Step by step: states that something dear is computed from.
    States,
    /// For many steps together, when those are known.
    Between,
    /// Step by step.
    Rest,
}

/// When each statement of a loop is done.
pub(super) struct Plan {
    phases: Vec<Phase>,
    /// What is computed in one phase and read in another.
    pub(super) kept: Vec<ValueId>,
}

/// Whether a statement can be moved at all. What has blocks is moved as a whole.
pub(super) fn may_move(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> bool {
    let itself = match &stmt.op {
        KernelOp::Get(_)
        | KernelOp::Set { .. }
        | KernelOp::Store { .. }
        | KernelOp::Combine { .. }
        | KernelOp::Var(_)
        | KernelOp::If { .. }
        | KernelOp::For { .. } => true,
        KernelOp::Const(_)
        | KernelOp::Size(_)
        | KernelOp::Prim(..)
        | KernelOp::Select(..)
        | KernelOp::Load { .. } => is_pure(program, stmt),
        KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Swap(..)
        | KernelOp::Contract { .. }
        | KernelOp::Own(Par { .. })
        | KernelOp::Assert { .. }
        | KernelOp::While { .. } => false,
    };
    let mut inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    itself && inner.all(|stmt| may_move(program, stmt))
}

/// What a statement costs, if it is one that vectors make cheaper.
pub(super) fn worth(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> u32 {
    match &stmt.op {
        KernelOp::Prim(prim, args) => {
            let elem = program.elem(args[0]);
            let price = price(*prim, elem);
            // Functions of angles become vectors where these are near.
            let becomes =
                prim.vectorises(elem) || matches!(prim, Prim::Sin | Prim::Cos | Prim::Tan);
            if becomes && price >= DEAR { price } else { 0 }
        }
        _ => 0,
    }
}

/// By statement: the places that it touches, of those that statements change, and which statements
/// make what else it needs.
struct Uses {
    touched: Vec<Vec<ValueId>>,
    needs: Vec<Vec<usize>>,
}

impl Uses {
    fn of(program: &Program<Kernels>, stmts: &[Stmt<Kernels>]) -> Self {
        let mut places = ValueSet::new();
        changes(stmts, &mut places);
        let variables = stmts
            .iter()
            .filter(|stmt| matches!(stmt.op, KernelOp::Var(_)));
        places.extend(variables.flat_map(|stmt| &stmt.results));
        let mut defined = BTreeMap::new();
        let mut touched: Vec<Vec<ValueId>> = Vec::new();
        let mut needs: Vec<Vec<usize>> = Vec::new();
        for (number, stmt) in stmts.iter().enumerate() {
            let (own, read): (Vec<_>, Vec<_>) = needed(program, stmt)
                .into_iter()
                .chain(stmt.results.iter().copied())
                .partition(|value| places.contains(value));
            touched.push(own);
            needs.push(
                read.iter()
                    .filter_map(|value| defined.get(value).copied())
                    .collect(),
            );
            defined.extend(stmt.results.iter().map(|&result| (result, number)));
        }
        Self { touched, needs }
    }
}

impl Plan {
    fn of(program: &Program<Kernels>, body: &Block<Kernels>) -> Option<Self> {
        let stmts = &body.stmts;
        if !stmts.iter().any(|stmt| worth(program, stmt) > 0) {
            return None;
        }
        if !stmts.iter().all(|stmt| may_move(program, stmt)) {
            return None;
        }
        let Uses { touched, needs } = Uses::of(program, stmts);

        let all = 0..stmts.len();
        let dear = |number: usize| touched[number].is_empty() && worth(program, &stmts[number]) > 0;
        // What depends on states, and what on something dear but not on them.
        let (mut stateful, mut heavy) = (vec![false; stmts.len()], vec![false; stmts.len()]);
        for number in all.clone() {
            stateful[number] =
                !touched[number].is_empty() || needs[number].iter().any(|&need| stateful[need]);
            heavy[number] = !stateful[number]
                && (dear(number) || needs[number].iter().any(|&need| heavy[need]));
        }
        // The states that something dear is computed from, and what they are computed from.
        let mut wanted: Vec<bool> = all
            .clone()
            .map(|number| stateful[number] && dear(number))
            .collect();
        let mut live = ValueSet::new();
        loop {
            let before = live.len();
            for number in all.clone().rev() {
                wanted[number] |= touched[number].iter().any(|place| live.contains(place));
                if wanted[number] {
                    live.extend(&touched[number]);
                    needs[number].iter().for_each(|&need| wanted[need] = true);
                }
            }
            if live.len() == before {
                break;
            }
        }
        let mut states: Vec<bool> = all
            .clone()
            .map(|number| touched[number].iter().any(|place| live.contains(place)))
            .collect();
        for number in all.clone().rev() {
            if states[number] {
                needs[number]
                    .iter()
                    .filter(|&&need| stateful[need])
                    .for_each(|&need| states[need] = true);
            }
        }
        // Of what is computed from those alone: what is dear, what is computed from it, and what all of that is computed from.
        let mut known = states.clone();
        for number in all.clone() {
            let mut needed = needs[number].iter();
            known[number] |=
                touched[number].is_empty() && needed.all(|&need| !stateful[need] || known[need]);
        }
        let is_between = |number: usize| stateful[number] && !states[number] && known[number];
        let mut between: Vec<bool> = all
            .clone()
            .map(|number| is_between(number) && dear(number))
            .collect();
        let with_needed = |between: &mut Vec<bool>| {
            for number in all.clone().rev() {
                if between[number] {
                    needs[number]
                        .iter()
                        .for_each(|&need| between[need] |= is_between(need));
                }
            }
        };
        with_needed(&mut between);
        for number in all.clone() {
            between[number] |=
                is_between(number) && needs[number].iter().any(|&need| between[need]);
        }
        with_needed(&mut between);

        let phases: Vec<Phase> = all
            .clone()
            .map(|number| match () {
                () if heavy[number] => Phase::Before,
                () if !stateful[number] => Phase::Anytime,
                () if states[number] => Phase::States,
                () if between[number] => Phase::Between,
                () => Phase::Rest,
            })
            .collect();
        let together = |number: &usize| matches!(phases[*number], Phase::Before | Phase::Between);
        let moved: u32 = all
            .clone()
            .filter(together)
            .map(|number| worth(program, &stmts[number]))
            .sum();
        (moved >= WORTH).then_some(())?;
        Self::keeping(program, stmts, &needs, phases)
    }

    /// With what is computed in one phase and read in another, unless that is too much.
    fn keeping(
        program: &Program<Kernels>,
        stmts: &[Stmt<Kernels>],
        needs: &[Vec<usize>],
        phases: Vec<Phase>,
    ) -> Option<Self> {
        let mut kept = ValueSet::new();
        for (number, stmt) in stmts.iter().enumerate() {
            let others = needs[number]
                .iter()
                .filter(|&&need| phases[need] != phases[number] && phases[need] != Phase::Anytime);
            let read: ValueSet = needed(program, stmt).into_iter().collect();
            for &other in others {
                let results = stmts[other].results.iter().copied();
                kept.extend(results.filter(|result| read.contains(result)));
            }
        }
        let kept: Vec<ValueId> = kept.iter().collect();
        let plain = kept
            .iter()
            .all(|&value| matches!(program.elem(value), Elem::Scalar(_)));
        (plain && kept.len() <= KEPT).then_some(Self { phases, kept })
    }

    /// Writes down the loop, tile by tile if it is long enough.
    fn carry_out(
        &self,
        program: &mut Program<Kernels>,
        size: Size,
        stmt: &Stmt<Kernels>,
        out: &mut Writer,
    ) {
        let mut tiled = Writer::default();
        let KernelOp::For {
            extent,
            reverse,
            body,
        } = &stmt.op
        else {
            unreachable!("only loops are planned")
        };
        self.in_tiles(
            program,
            size,
            (*extent, *reverse, body),
            stmt.span,
            &mut tiled,
        );
        by_length(program, &[*extent], size.least..=u64::MAX, tiled, stmt, out);
    }

    /// Writes down the loop, tile by tile.
    fn in_tiles(
        &self,
        program: &mut Program<Kernels>,
        size: Size,
        (extent, reverse, body): (Extent, bool, &Block<Kernels>),
        span: SpanId,
        out: &mut Writer,
    ) {
        let tile = match extent {
            Extent::Const(steps) => steps.min(size.tile),
            Extent::Size(_) | Extent::Value(_) => size.tile,
        };
        let steps = Extent::Const(tile);
        let mut buffers = BTreeMap::new();
        for &value in &self.kept {
            let buffer = out.alloc(program, program.elem(value), vec![steps], span);
            buffers.insert(value, buffer);
        }
        let cut = Cut::of(program, out, extent, tile, span);
        let tiles = Extent::Value(cut.tiles);
        let index = program.value(Type::scalar(Elem::Index(tiles)), span);
        let mut inside = Writer::default();
        let this = cut.tile(program, &mut inside, index, span);
        for phase in [Phase::Before, Phase::States, Phase::Between, Phase::Rest] {
            if !self.has(phase) {
                continue;
            }
            let points = this.points();
            let block = self.phase(
                program,
                phase,
                body,
                [points, steps],
                &buffers,
                |program, out, index| this.point(program, out, index, span),
            );
            let op = match phase {
                Phase::Before | Phase::Between => KernelOp::Own(Par {
                    number: 0,
                    by_columns: false,
                    speculates: false,
                    name: match phase {
                        Phase::Before => "before the steps".to_owned(),
                        _ => "when the states are known".to_owned(),
                    },
                    extents: vec![points],
                    accs: Vec::new(),
                    folds: Vec::new(),
                    body: Box::new(block),
                }),
                Phase::Anytime | Phase::States | Phase::Rest => KernelOp::For {
                    extent: points,
                    reverse,
                    body: Box::new(block),
                },
            };
            inside.run(op, span);
        }
        let body = Block {
            params: vec![index],
            stmts: inside.stmts,
            results: Vec::new(),
        };
        out.run(
            KernelOp::For {
                extent: tiles,
                reverse,
                body: Box::new(body),
            },
            span,
        );
    }

    /// Whether anything is done in a phase.
    pub(super) fn has(&self, phase: Phase) -> bool {
        self.phases.contains(&phase)
    }

    /// The statements that a phase needs and that are done whenever they are needed.
    fn whenever(
        &self,
        program: &Program<Kernels>,
        phase: Phase,
        body: &Block<Kernels>,
    ) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut read = ValueSet::new();
        for (number, stmt) in body.stmts.iter().enumerate().rev() {
            let anytime = self.phases[number] == Phase::Anytime;
            if anytime && stmt.results.iter().any(|result| read.contains(result)) {
                found.insert(number);
            }
            if self.phases[number] == phase || found.contains(&number) {
                read.extend(needed(program, stmt));
            }
        }
        found
    }

    /// What is done in a phase at one of these points, which `step` says what they are of the body.
    /// As many `steps` are kept.
    pub(super) fn phase(
        &self,
        program: &mut Program<Kernels>,
        phase: Phase,
        body: &Block<Kernels>,
        [points, steps]: [Extent; 2],
        buffers: &BTreeMap<ValueId, ValueId>,
        step: impl FnOnce(&mut Program<Kernels>, &mut Writer, ValueId) -> ValueId,
    ) -> Block<Kernels> {
        let span = SpanId::NONE;
        let index = program.value(Type::scalar(Elem::Index(points)), span);
        let mut out = Writer::default();
        let cast = KernelOp::Prim(Prim::Cast(Scalar::Usize), smallvec![index]);
        let number = out.bind(program, cast, Type::scalar(Elem::USIZE), span);
        let trust = KernelOp::Prim(Prim::Trust(steps), smallvec![number]);
        let at = out.bind(program, trust, Type::scalar(Elem::Index(steps)), span);
        let mut names = Renamed::default();
        let step = step(program, &mut out, index);
        names.insert(body.params[0], step);
        let whenever = self.whenever(program, phase, body);
        let mut there = ValueSet::new();
        for (number, stmt) in body.stmts.iter().enumerate() {
            let own = self.phases[number] == phase;
            if own || whenever.contains(&number) {
                for value in needed(program, stmt) {
                    if let Some(&buffer) = buffers.get(&value)
                        && there.insert(value)
                    {
                        let load = KernelOp::Load {
                            buffer,
                            indices: vec![at],
                        };
                        let ty = Type::scalar(program.elem(value));
                        let loaded = out.bind(program, load, ty, span);
                        names.insert(value, loaded);
                    }
                }
                out.stmts.push(names.copy(program, stmt));
                there.extend(&stmt.results);
            }
            for result in stmt.results.iter().filter(|_| own) {
                if let Some(&buffer) = buffers.get(result) {
                    let value = names.get(*result);
                    out.run(
                        KernelOp::Store {
                            buffer,
                            indices: vec![at],
                            value,
                        },
                        span,
                    );
                }
            }
        }
        Block {
            params: vec![index],
            stmts: out.stmts,
            results: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, distribute_of};
    use crate::contract::schedule::schedule;
    use crate::eval::compare::{Tolerance, difference};
    use crate::eval::run;
    use crate::explain::Structure;
    use crate::ir::stages::kernels::Kernels;
    use crate::ir::verify::verify;
    use crate::ir::{Program, print};
    use crate::lower::source::link;
    use crate::pipeline;
    use crate::testing::Rng;
    use crate::testing::source::inputs;

    const SIZES: [Size; 4] = [
        Size { tile: 1, least: 0 },
        Size { tile: 2, least: 0 },
        Size { tile: 3, least: 4 },
        Size { tile: 64, least: 1 },
    ];

    /// Checks that the last function of a source means the same in tiles of several sizes, to the
    /// last bit, and that so many kernels are made of its loops.
    #[track_caller]
    fn check(source: &str, kernels: usize) {
        let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
        let stages = pipeline::stages(&linked)
            .unwrap_or_else(|e| panic!("{source}\n{:?}", e.first().map(|e| &e.message)));
        let plain: Program<Kernels> = schedule(stages.bulk);
        for size in SIZES {
            let tiled = distribute_of(plain.clone(), size);
            let text = print(&tiled);
            verify(&tiled).unwrap_or_else(|e| panic!("{source}\n{e:?}\n{text}"));
            let made = Structure::of(&tiled).kernels - Structure::of(&plain).kernels;
            assert_eq!(made, kernels, "{source}\n{text}");
            for n in [0, 1, 2, 3, 7] {
                let inputs = inputs(&stages.point, n, &mut Rng::new(n as u64));
                let (a, b) = match (run(&plain, &inputs), run(&tiled, &inputs)) {
                    (Ok((a, _)), Ok((b, _))) => (a, b),
                    (a, b) => panic!("{source}\n{a:?}\n{b:?}"),
                };
                for (a, b) in a.iter().zip(&b) {
                    if let Some(difference) = difference(a, b, Tolerance { f32: 0.0, f64: 0.0 }) {
                        panic!("{source}\nat {n}, {size:?}: {difference}\n{text}");
                    }
                }
            }
        }
    }

    /// A function of a table and a number, with two states.
    fn steps(body: &str) -> String {
        format!(
            "fn f<T: IndexSet>(x: &Table<T, f64>, a: f64) -> (f64, f64) {{
                let mut s = a;
                let mut total = 0.5;
                for t in T {{ {body} }}
                (s, total)
            }}"
        )
    }

    #[test]
    fn what_needs_no_state_comes_first() {
        check(&steps("s = s * (a * x[t]).exp();"), 1);
        check(
            &steps("let z = (x[t] * x[t] + 1.0).ln(); s = z - 0.5 * s; total += s * z;"),
            1,
        );
    }

    #[test]
    fn what_is_not_handed_on_comes_when_the_states_are_known() {
        check(
            &steps("total += (1.5 + s * s).ln() + x[t] / (2.0 + s * s); s = 0.3 * s + x[t];"),
            1,
        );
        // With what is cheap to compute from a state, and nothing dear is computed from.
        check(
            &steps("total = x[t] - ((1.0 + s * s).ln() + 0.5 * s); s = 0.3 * s + x[t];"),
            1,
        );
        // Both, and a state that is computed from another one.
        check(
            &steps(
                "let z = x[t].exp(); s = 0.3 * s + z; total = 0.5 * total - (1.0 + s * s).ln() * z;",
            ),
            2,
        );
    }

    #[test]
    fn what_is_made_of_something_dear_takes_along_all_that_it_needs() {
        let chosen = "let r = (x[t] + 0.1 * s).sin(); total += if s < 1.5 { 0.5 * r } else { r }; s = 0.3 * s + x[t];";
        check(&steps(chosen), 1);
        check(
            "fn f<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, v: &Table<K, f64>, at: &Table<N, K>) -> Table<N, f64> {
                let mut h = v;
                for n in N {
                    let r = (x[n] + 0.1 * h[at[n]]).sin();
                    h[at[n]] = x[n].sin();
                    if h[at[n]] < 1.5 { 0.5 * r } else { r }
                }
            }",
            2,
        );
    }

    #[test]
    fn what_is_handed_on_stays() {
        check(&steps("s = (s + x[t]).sin(); total += s;"), 0);
        // A quotient alone is not worth it.
        check(
            &steps("total += x[t] / (2.0 + s * s); s = 0.3 * s + x[t];"),
            0,
        );
        // Everything that is dear goes round.
        check(&steps("s = total.sin(); total = s.cos() + x[t];"), 0);
    }

    #[test]
    fn branches_tables_and_directions_stay_as_they_are() {
        check(
            &steps(
                "let z = (1.0 + s * s).ln(); if x[t] > 0.0 { s = 0.5 * s + x[t]; total += z; } else { total -= 1.0; }",
            ),
            1,
        );
        check(
            "fn f<T: IndexSet>(x: &Table<T, f64>, a: f64) -> (Table<T, f64>, f64) {
                let mut s = a;
                let table = for t in T.rev() { s = 0.5 * s + x[t].exp(); s * s };
                (table, s)
            }",
            1,
        );
        check(
            "fn f<T: IndexSet>(x: &Table<T, f64>, start: &Table<Fin<3>, f64>) -> Table<Fin<3>, f64> {
                let mut u = start.clone();
                for t in T { u[t.ordinal() % 3] += (x[t] * x[t]).exp() * u[(t.ordinal() + 1) % 3]; }
                u
            }",
            0,
        );
    }

    #[test]
    fn derivatives_go_through_it() {
        let loss = steps("s = 0.5 * s + (a * x[t]).exp(); total += (1.0 + s * s).ln();");
        let gradient = "fn g<T: IndexSet>(x: &Table<T, f64>, a: f64) -> f64 { let (s, total) = f(x, a); s + total }
             fn h<T: IndexSet>(x: &Table<T, f64>, a: f64) -> (Table<T, f64>, f64) { grad!(g)(x, a) }";
        check(&format!("{loss} {gradient}"), 1);
    }
}

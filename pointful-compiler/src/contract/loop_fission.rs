//! Products that a loop of the host adds up in its steps are one product after the loop, of all
//! steps at once.
//!
//! ```text
//! for %t: T {                                      %1 = alloc f32[T, S, C]
//!   %0 = alloc f32[C, S]                           for %t: T {
//!   par %s: S, %c: C { … store %0[%c, %s], … }       par %s: S, %c: C { … store %1[%t, %s, %c], … }
//!   contract add %g[0, 1] = %0[0, 2], x[%t, 2, 1]  ▶   … what goes on with it …
//!   … what goes on with it …                       }
//! }                                                contract add %g[0, 1] = %1[3, 2, 0], x[3, 2, 1]
//! ```
//!
//! A step of a loop that goes on from step to step is seldom worth another thread, while all steps'
//! products together are. And what is left in the loop may be rows that do not need each other,
//! which run all steps by themselves (`targets/cpu/time_tiling`): the gradient of weights needed all of them in
//! each step.
//!
//! What is multiplied must be kept for all steps. So only what is not much larger than something
//! that has a place for each step already is kept; a derivative's intermediates have. It is kept
//! row by row of the kernel that makes it. A kernel that reads what is kept and writes what nobody
//! in the loop looks at moves too.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::accesses::changes;
use crate::analysis::effects::{asked, length};
use crate::ir::stages::kernels::{Along, KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, Type, ValueId, ValueSet};
use crate::pass::Pass;

/// How many times as large as what has a place for each step anyway something may be that is kept.
const FEW: u64 = 8;

/// The pass.
pub const LOOP_FISSION: Pass<Kernels> = Pass {
    name: "loop_fission",
    about: "multiply after a loop, all steps at once, what it adds up products of",
    run: loop_fission,
};

/// Multiplies after a loop, all steps at once, what it adds up products of.
pub fn loop_fission(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(block)
}

fn block(program: &mut Program<Kernels>, block: &mut Block<Kernels>) {
    for mut stmt in std::mem::take(&mut block.stmts) {
        if !matches!(stmt.op, KernelOp::Own(Par { .. })) {
            for inner in stmt.op.blocks_mut() {
                self::block(program, inner);
            }
        }
        let plan = match &stmt.op {
            KernelOp::For { extent, body, .. } => Plan::of(program, *extent, body),
            _ => None,
        };
        match plan {
            Some(plan) => block.stmts.extend(plan.split(program, stmt)),
            None => block.stmts.push(stmt),
        }
    }
}

/// What moves out of a loop.
struct Plan {
    /// Statements of its body.
    moved: BTreeSet<usize>,
    /// Buffers that are kept for all steps, and the order that their axes get.
    kept: BTreeMap<ValueId, Vec<usize>>,
}

/// What a loop's statements do to a buffer.
#[derive(Default)]
struct Uses {
    /// The statements that have to do with it, and those that change it.
    users: BTreeSet<usize>,
    writers: BTreeSet<usize>,
    /// Whether elements are read and written, and products made, and nothing else.
    is_plain: bool,
    /// Whether all of that is at the index of the step.
    at_step: bool,
}

impl Plan {
    fn of(program: &Program<Kernels>, extent: Extent, body: &Block<Kernels>) -> Option<Self> {
        let step = *body.params.first()?;
        let mut look = Look {
            step,
            uses: BTreeMap::new(),
            stepped: Vec::new(),
            number: 0,
        };
        for (number, stmt) in body.stmts.iter().enumerate() {
            look.number = number;
            look.stmt(program, stmt);
            let mut changed = ValueSet::new();
            changes(std::slice::from_ref(stmt), &mut changed);
            for buffer in changed.iter() {
                look.uses.entry(buffer).or_default().writers.insert(number);
            }
        }
        let results: ValueSet = body
            .stmts
            .iter()
            .flat_map(|stmt| stmt.results.iter().copied())
            .collect();
        let bound = |extent: &Extent| {
            length(*extent).is_some_and(|value| results.contains(&value) || value == step)
        };
        let is_kept = |buffer: ValueId| {
            let made = body
                .stmts
                .iter()
                .find(|stmt| stmt.results.contains(&buffer));
            let is_empty =
                made.is_some_and(|stmt| matches!(stmt.op, KernelOp::Alloc { fill: None }));
            let dims = &program.ty(buffer).dims;
            is_empty
                && look.uses.get(&buffer).is_some_and(|uses| uses.is_plain)
                && !dims.iter().any(bound)
                && look
                    .stepped
                    .iter()
                    .any(|other| holds(&program.ty(*other).dims[1..], dims))
        };
        let moves = |number: usize, stmt: &Stmt<Kernels>| {
            // Whether it goes with the steps, as far as it is the same after the loop.
            let source = |buffer: ValueId| match look.uses.get(&buffer) {
                Some(uses) if !uses.writers.is_empty() => {
                    let is_stepped = uses.is_plain && uses.at_step && !results.contains(&buffer);
                    let is_written = uses.writers.iter().all(|&writer| writer < number);
                    (is_written && (is_stepped || is_kept(buffer))).then_some(true)
                }
                Some(uses) => Some(uses.at_step),
                None => Some(false),
            };
            let alone = |buffer: &ValueId| {
                !results.contains(buffer)
                    && look
                        .uses
                        .get(buffer)
                        .is_some_and(|uses| uses.users.len() == 1)
            };
            match &stmt.op {
                KernelOp::Contract {
                    out,
                    factors,
                    along,
                    add: true,
                    absorb: _,
                    mask: None,
                } => {
                    let index = |along: &Along| along.index();
                    let indices = || along.iter().flatten().filter_map(index);
                    alone(out)
                        && factors.iter().all(|&factor| source(factor) == Some(true))
                        && !along[0].iter().filter_map(index).any(|index| index == step)
                        && !indices().any(|index| results.contains(&index))
                }
                KernelOp::Own(Par { accs, folds, .. }) if accs.is_empty() && folds.is_empty() => {
                    let changed = |buffer: &ValueId| look.uses[buffer].writers.contains(&number);
                    let asked = asked(stmt);
                    let used = asked.iter().filter(|value| look.uses.contains_key(value));
                    let (written, read): (Vec<_>, Vec<_>) = used.copied().partition(changed);
                    let mut made = asked.iter().filter(|value| results.contains(value));
                    read.iter().any(|&buffer| is_kept(buffer))
                        && written.iter().all(alone)
                        && read.iter().all(|&buffer| source(buffer).is_some())
                        && made.all(|&buffer| is_kept(buffer))
                }
                _ => false,
            }
        };
        let statements = body.stmts.iter().enumerate();
        let moved: BTreeSet<usize> = statements
            .filter(|(number, stmt)| moves(*number, stmt))
            .map(|(number, _)| number)
            .collect();
        let is_product =
            |&number: &usize| matches!(body.stmts[number].op, KernelOp::Contract { .. });
        if !moved.iter().any(is_product) || matches!(extent, Extent::Const(0..2)) {
            return None;
        }
        let asked = moved.iter().flat_map(|&number| asked(&body.stmts[number]));
        let kept = asked.filter(|value| results.contains(value));
        let kept = kept
            .map(|buffer| (buffer, rows_first(program, body, buffer)))
            .collect();
        Some(Self { moved, kept })
    }

    /// The loop, and what is before and after it.
    fn split(self, program: &mut Program<Kernels>, mut stmt: Stmt<Kernels>) -> Vec<Stmt<Kernels>> {
        let span = stmt.span;
        let KernelOp::For {
            extent,
            reverse,
            body,
        } = &mut stmt.op
        else {
            unreachable!("only loops are planned")
        };
        let mut before = Vec::new();
        let mut kept = BTreeMap::new();
        for (buffer, order) in self.kept {
            let Type { elem, dims } = program.ty(buffer).clone();
            let dims = std::iter::once(*extent)
                .chain(order.iter().map(|&place| dims[place]))
                .collect();
            let own = program.value(Type { elem, dims }, span);
            let name = program.values[buffer.index()].name.clone();
            program.values[own.index()].name = name;
            before.push(Stmt::new(vec![own], KernelOp::Alloc { fill: None }, span));
            kept.insert(buffer, (own, order));
        }
        let step = body.params[0];
        let (mut inside, mut later, mut products) = (Vec::new(), Vec::new(), Vec::new());
        let again = program.value(Type::scalar(Elem::Index(*extent)), span);
        for (number, mut stmt) in std::mem::take(&mut body.stmts).into_iter().enumerate() {
            if stmt
                .results
                .first()
                .is_some_and(|buffer| kept.contains_key(buffer))
            {
                continue;
            }
            let is_moved = self.moved.contains(&number);
            let at = if is_moved { again } else { step };
            keep(&mut stmt, &kept, step, at);
            match &mut stmt.op {
                _ if !is_moved => inside.push(stmt),
                KernelOp::Contract { along, .. } => {
                    let axes = along.iter().flatten().filter_map(|along| match along {
                        Along::Axis(axis) => Some(*axis),
                        Along::At(_) => None,
                    });
                    let axis = axes.max().map_or(0, |axis| axis + 1);
                    for along in along.iter_mut().flatten() {
                        if *along == Along::At(again) {
                            *along = Along::Axis(axis);
                        }
                    }
                    products.push(stmt);
                }
                _ => later.push(stmt),
            }
        }
        body.stmts = inside;
        let second = KernelOp::For {
            extent: *extent,
            reverse: *reverse,
            body: Box::new(Block {
                params: vec![again],
                stmts: later,
                results: Vec::new(),
            }),
        };
        let is_empty = second.blocks().iter().all(|block| block.stmts.is_empty());
        let second = (!is_empty).then(|| Stmt::new(Vec::new(), second, span));
        before
            .into_iter()
            .chain([stmt])
            .chain(second)
            .chain(products)
            .collect()
    }
}

/// Whether an array of these axes is no larger than one of those, or than a few of them.
fn holds(those: &[Extent], these: &[Extent]) -> bool {
    let mut left = those.to_vec();
    let mut times = 1_u64;
    for extent in these {
        if let Some(place) = left.iter().position(|other| other == extent) {
            left.remove(place);
        } else if let Extent::Const(length) = extent {
            times = times.saturating_mul(*length);
        } else {
            return false;
        }
    }
    times <= FEW
}

/// The axes of a buffer, first the one that the first axis of the kernel goes along that writes it.
fn rows_first(program: &Program<Kernels>, body: &Block<Kernels>, buffer: ValueId) -> Vec<usize> {
    fn place(block: &Block<Kernels>, buffer: ValueId, row: ValueId) -> Option<usize> {
        block.stmts.iter().find_map(|stmt| match &stmt.op {
            KernelOp::Store {
                buffer: written,
                indices,
                ..
            } if *written == buffer => indices.iter().position(|&index| index == row),
            op => op
                .blocks()
                .into_iter()
                .find_map(|block| place(block, buffer, row)),
        })
    }
    let first = body.stmts.iter().find_map(|stmt| match &stmt.op {
        KernelOp::Own(Par { body, .. }) => place(body, buffer, *body.params.first()?),
        _ => None,
    });
    let mut order: Vec<usize> = (0..program.ty(buffer).dims.len()).collect();
    order.sort_by_key(|&axis| Some(axis) != first);
    order
}

/// Reaches what is kept at a step, here the one with the index `at` instead of `step`.
fn keep(
    stmt: &mut Stmt<Kernels>,
    kept: &BTreeMap<ValueId, (ValueId, Vec<usize>)>,
    step: ValueId,
    at: ValueId,
) {
    match &mut stmt.op {
        KernelOp::Load { buffer, indices }
        | KernelOp::Store {
            buffer, indices, ..
        } => {
            if let Some((own, order)) = kept.get(buffer) {
                *buffer = *own;
                *indices = std::iter::once(step)
                    .chain(order.iter().map(|&place| indices[place]))
                    .collect();
            }
        }
        KernelOp::Contract {
            out,
            factors: [left, right],
            along,
            ..
        } => {
            for (array, along) in [out, left, right].into_iter().zip(along) {
                if let Some((own, order)) = kept.get(array) {
                    *array = *own;
                    let rest = order.iter().map(|&place| along[place]);
                    *along = std::iter::once(Along::At(step)).chain(rest).collect();
                }
            }
        }
        _ => {}
    }
    stmt.op.for_each_operand_mut(&mut |value| {
        if *value == step {
            *value = at;
        }
    });
    for inner in stmt.op.blocks_mut() {
        for stmt in &mut inner.stmts {
            keep(stmt, kept, step, at);
        }
    }
}

struct Look {
    step: ValueId,
    uses: BTreeMap<ValueId, Uses>,
    /// Buffers that have a place for each step.
    stepped: Vec<ValueId>,
    number: usize,
}

impl Look {
    fn stmt(&mut self, program: &Program<Kernels>, stmt: &Stmt<Kernels>) {
        match &stmt.op {
            KernelOp::Load { buffer, indices }
            | KernelOp::Store {
                buffer, indices, ..
            } => {
                self.uses(*buffer, true, indices.first() == Some(&self.step));
            }
            KernelOp::Contract {
                out,
                factors: [left, right],
                along,
                ..
            } => {
                for (array, along) in [out, left, right].into_iter().zip(along) {
                    self.uses(*array, true, along.first() == Some(&Along::At(self.step)));
                }
            }
            op => {
                for value in op.operands() {
                    if program.ty(value).rank() > 0 {
                        self.uses(value, false, false);
                    }
                }
            }
        }
        for block in stmt.op.blocks() {
            for stmt in &block.stmts {
                self.stmt(program, stmt);
            }
        }
    }

    fn uses(&mut self, buffer: ValueId, is_plain: bool, at_step: bool) {
        let uses = self.uses.entry(buffer).or_insert(Uses {
            is_plain: true,
            at_step: true,
            ..Uses::default()
        });
        uses.users.insert(self.number);
        uses.is_plain &= is_plain;
        uses.at_step &= at_step;
        if at_step && !self.stepped.contains(&buffer) {
            self.stepped.push(buffer);
        }
    }
}

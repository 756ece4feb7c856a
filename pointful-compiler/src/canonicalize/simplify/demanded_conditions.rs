//! What is wanted only where a condition holds need not look at the condition again.
//!
//! # The idea
//!
//! Derivatives of branches choose between a number and zero at every step:
//! `select %c, (mul x, (select %c, y, 0)), 0`. Where the inner choice is read, the outer one has
//! been made already. One walk from the end to the beginning finds of every value the conditions
//! under which alone somebody looks at it, and replaces, operand by operand, a `select` whose
//! condition is among them by the side that it takes.
//!
//! What several branches give to one value is added up, although all but one of them give nothing.
//! A sum of which one term is nothing wherever the other is not is a choice between them.
//!
//! # Why it is sound
//!
//! What nobody looks at may be anything, as long as it does not panic: operands of what may panic,
//! and of what trusts, are wanted everywhere but behind the statement's guard, and so is what says
//! where a table changes. A condition is
//! handed on to operands that are read at the same point of its axes only, and to values that have
//! all its axes; a value without one of them is wanted wherever the condition holds somewhere. A
//! side that stands behind a guard is read behind the same guard only.
//!
//! # Before and after
//!
//! ```text
//! %1[i] = select c, y, %0                    %1[i] = mul x, y
//! %2[i] = mul x, %1                          %2[i] = select c, %1, %0
//! %3[i] = select c, %2, %0
//!
//! %1[i] = select c, x, %0                    %1[i] = select c, %0, y
//! %2[i] = select c, %0, y                    %2[i] = select c, x, %1
//! %3[i] = add %1, %2
//! ```

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use crate::analysis::dataflow::{Flow, is_total, named_axes, points};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Lit, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Conditions that hold for one value are remembered up to this many.
const MOST: usize = 16;

/// Conjunctions in conjunctions are looked into so deep.
const DEEPEST: usize = 6;

/// The most terms of a sum that are looked at to see that it is nothing.
const TERMS: u32 = 32;

/// A truth value, or the equality of two values: what is `eq` in one place may be `ne` in another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Test {
    Value(ValueId),
    Equal(ValueId, ValueId),
}

/// A test, and how it ends.
type Cond = (Test, bool);

/// What holds somewhere: mostly little.
type Conds = SmallVec<[Cond; 4]>;

/// Replaces choices that have been made already; `pinned` must keep their axes. Says whether there
/// were any.
pub(super) fn settle(program: &mut Program<Bulk>, pinned: &ValueSet) -> bool {
    let mut body = std::mem::take(&mut program.body);
    let count = program.values.len();
    let mut walk = Walk {
        program,
        pinned,
        defs: vec![None; count],
        home: vec![0; count],
        wanted: vec![None; count],
        sizes: BTreeMap::new(),
        zeros: ValueSet::new(),
        nothing: ValueSet::new(),
        inhabited: Vec::new(),
        blocks: 0,
        changed: false,
    };
    walk.define(&body);
    walk.always();
    walk.block(&mut body, &[]);
    let changed = walk.changed;
    program.body = body;
    changed
}

/// What of a definition matters here.
#[derive(Clone, Copy, Debug)]
enum Def {
    Select(ValueId, ValueId, ValueId),
    Not(ValueId),
    And(ValueId, ValueId),
    Or(ValueId, ValueId),
    Equal(ValueId, ValueId),
    Unequal(ValueId, ValueId),
    Sum(ValueId, ValueId),
    Other,
}

struct Walk<'a> {
    program: &'a mut Program<Bulk>,
    pinned: &'a ValueSet,
    /// What defines a value, and behind which guard.
    defs: Vec<Option<(Def, Option<ValueId>)>>,
    /// The block that defines a value.
    home: Vec<usize>,
    /// The conditions under which alone a value is looked at; nobody looks at one without an entry.
    wanted: Vec<Option<SmallVec<[Cond; 1]>>>,
    /// Values that are sizes, and of what.
    sizes: BTreeMap<ValueId, Extent>,
    zeros: ValueSet,
    /// Floats that are zero.
    nothing: ValueSet,
    /// Conditions that say that a size is not zero.
    inhabited: Vec<(ValueId, Extent)>,
    blocks: usize,
    changed: bool,
}

/// How an operand is read.
#[derive(Clone, Copy)]
struct Read {
    /// Only where this truth value ends so.
    when: Option<(ValueId, bool)>,
    /// Not at the same point of the axes that the operation names.
    moved: bool,
    /// Whether it must stay what it is.
    fixed: bool,
    /// Whether it is looked at wherever the statement is run, whoever wants the result.
    always: bool,
}

impl Read {
    /// At the same point, whatever it is.
    const HERE: Self = Self {
        when: None,
        moved: false,
        fixed: false,
        always: false,
    };
    /// At the same point, and it stays.
    const FIXED: Self = Self {
        fixed: true,
        ..Self::HERE
    };
    /// At other points.
    const MOVED: Self = Self {
        moved: true,
        ..Self::HERE
    };
    /// At other points, to decide where something is put: it stays, and is asked always.
    const PLACE: Self = Self {
        fixed: true,
        always: true,
        ..Self::MOVED
    };
}

impl Walk<'_> {
    /// Notes what defines values.
    fn define(&mut self, block: &Block<Bulk>) {
        for stmt in &block.stmts {
            let def = match &stmt.op {
                BulkOp::Select(cond, then, otherwise) => Def::Select(*cond, *then, *otherwise),
                BulkOp::Map(Prim::Not, args) => Def::Not(args[0]),
                BulkOp::Map(Prim::And, args) => Def::And(args[0], args[1]),
                BulkOp::Map(Prim::Or, args) => Def::Or(args[0], args[1]),
                BulkOp::Map(Prim::Eq, args) => Def::Equal(args[0], args[1]),
                BulkOp::Map(Prim::Ne, args) => Def::Unequal(args[0], args[1]),
                BulkOp::Map(Prim::Add, args) => Def::Sum(args[0], args[1]),
                _ => Def::Other,
            };
            for &result in &stmt.results {
                self.defs[result.index()] = Some((def, stmt.guard));
            }
            match &stmt.op {
                BulkOp::Size(extent) => {
                    self.sizes.insert(stmt.results[0], *extent);
                }
                BulkOp::Const(Lit::Int(_, 0)) => {
                    self.zeros.insert(stmt.results[0]);
                }
                BulkOp::Const(Lit::F64(bits)) if f64::from_bits(*bits) == 0.0 => {
                    self.nothing.insert(stmt.results[0]);
                }
                BulkOp::Const(Lit::F32(bits)) if f32::from_bits(*bits) == 0.0 => {
                    self.nothing.insert(stmt.results[0]);
                }
                BulkOp::Map(Prim::Gt, args) if self.zeros.contains(&args[1]) => {
                    let extent = self.sizes.get(&args[0]);
                    let inhabited = extent.map(|&extent| (stmt.results[0], extent));
                    self.inhabited.extend(inhabited);
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.define(inner);
            }
        }
    }

    /// Extents are wanted always.
    fn always(&mut self) {
        let mut extents = Vec::new();
        Bulk::for_each_declared_extent_mut(self.program, &mut |value| extents.push(*value));
        for value in extents {
            self.wanted[value.index()] = Some(SmallVec::new());
        }
    }

    /// A block that is only run where `held` holds.
    fn block(&mut self, block: &mut Block<Bulk>, held: &[Cond]) {
        self.blocks += 1;
        let own = self.blocks;
        let bound = block.stmts.iter().flat_map(|stmt| &stmt.results);
        for value in block.params.iter().chain(bound) {
            self.home[value.index()] = own;
        }
        for result in &mut block.results {
            *result = self.settled(*result, held, None, true);
            self.want(*result, held, own);
        }
        for stmt in block.stmts.iter_mut().rev() {
            self.stmt(stmt, held, own);
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt<Bulk>, held: &[Cond], own: usize) {
        // Where the statement is run.
        let mut run = Conds::from_slice(held);
        let total = is_total(self.program, &stmt.op);
        if total {
            let Some(wanted) = &self.wanted[stmt.results[0].index()] else {
                return;
            };
            add(&mut run, wanted);
        }
        let mut always = Conds::from_slice(held);
        if let Some(guard) = stmt.guard {
            // Whether a statement is run is asked wherever its block is.
            self.want(guard, held, own);
            self.imply((guard, true), &mut run);
            self.imply((guard, true), &mut always);
        }
        if total {
            run.retain(|&mut cond| self.covers(&self.program.ty(stmt.results[0]).dims, cond));
        }
        for value in Bulk::extents(self.program, &stmt.op) {
            self.want(value, &[], own);
        }
        // At each of its points there is something along its axes.
        let points = match self.inhabited.is_empty() {
            true => Vec::new(),
            false => points(self.program, stmt),
        };
        for &(cond, extent) in &self.inhabited {
            let along = |axis: &AxisId| self.program.decls.axes[axis.0 as usize].extent == extent;
            if points.iter().any(along) {
                add(&mut run, &[(Test::Value(cond), true)]);
                add(&mut always, &[(Test::Value(cond), true)]);
            }
        }
        if let Some(choice) = self.exclusive(stmt, &run) {
            stmt.op = choice;
            self.changed = true;
        }
        let chooses = matches!(
            stmt.op,
            BulkOp::Select(..)
                | BulkOp::Scatter { mask: Some(_), .. }
                | BulkOp::Update { mask: Some(_), .. }
        );
        if run.is_empty() && !chooses {
            // Nothing is known, so nothing has been chosen.
            stmt.op
                .for_each_operand(&mut |operand| self.want(*operand, &[], own));
        } else {
            self.operands(stmt, [&run, &always], !total, own);
        }
        // Bodies run where their statement does; what a total statement's readers want says nothing of them, and it has none.
        for inner in stmt.op.blocks_mut() {
            self.block(inner, &run);
        }
    }

    /// Settles the operands of a statement whose result is looked at where `run` holds, and that is
    /// run where `always` does, and notes where they are looked at.
    fn operands(
        &mut self,
        stmt: &mut Stmt<Bulk>,
        [run, always]: [&Conds; 2],
        fails: bool,
        own: usize,
    ) {
        let pinned = stmt.results.iter().any(|r| self.pinned.contains(r));
        let (strict, guard) = (pinned || fails, stmt.guard);
        let reads = reads(&stmt.op);
        let axes = named_axes(&stmt.op);
        let mut reads = reads.iter();
        stmt.op.for_each_operand_mut(&mut |operand| {
            let read = reads.next().copied().unwrap_or(Read::FIXED);
            let mut conds = if read.always { always } else { run }.clone();
            if read.moved {
                conds.retain(|&mut cond| !self.axes(cond).any(|axis| axes.contains(axis)));
            }
            if let Some(when) = read.when {
                self.imply(when, &mut conds);
            }
            if !read.fixed {
                *operand = self.settled(*operand, &conds, guard, strict);
            }
            self.want(*operand, &conds, own);
        });
    }

    /// A sum of floats as a choice, if one term is nothing wherever the other need not be.
    fn exclusive(&self, stmt: &Stmt<Bulk>, conds: &[Cond]) -> Option<BulkOp> {
        let BulkOp::Map(Prim::Add, args) = &stmt.op else {
            return None;
        };
        if !self.program.elem(stmt.results[0]).is_float() {
            return None;
        }
        [[args[0], args[1]], [args[1], args[0]]]
            .into_iter()
            .find_map(|[choice, rest]| {
                let (Def::Select(cond, then, otherwise), guard) = self.defs[choice.index()]? else {
                    return None;
                };
                let (side, term) = match [then, otherwise].map(|v| self.nothing.contains(&v)) {
                    [true, false] => (false, otherwise),
                    [false, true] => (true, then),
                    [true, true] | [false, false] => return None,
                };
                let mut here = Conds::from_slice(conds);
                self.imply((cond, side), &mut here);
                if (guard.is_some() && guard != stmt.guard)
                    || !self.vanishes(rest, &here, &mut { TERMS })
                {
                    return None;
                }
                let [then, otherwise] = if side { [term, rest] } else { [rest, term] };
                Some(BulkOp::Select(cond, then, otherwise))
            })
    }

    /// Whether a float is zero where these conditions hold, whatever it is chosen from.
    fn vanishes(&self, value: ValueId, conds: &[Cond], left: &mut u32) -> bool {
        if self.nothing.contains(&value) {
            return true;
        }
        let Some(less) = left.checked_sub(1) else {
            return false;
        };
        *left = less;
        match self.defs[value.index()].map(|(def, _)| def) {
            Some(Def::Select(cond, then, otherwise)) => match self.truth(cond, conds, DEEPEST) {
                Some(true) => self.vanishes(then, conds, left),
                Some(false) => self.vanishes(otherwise, conds, left),
                None => self.vanishes(then, conds, left) && self.vanishes(otherwise, conds, left),
            },
            Some(Def::Sum(a, b)) => self.vanishes(a, conds, left) && self.vanishes(b, conds, left),
            Some(
                Def::Not(_)
                | Def::And(..)
                | Def::Or(..)
                | Def::Equal(..)
                | Def::Unequal(..)
                | Def::Other,
            )
            | None => false,
        }
    }

    /// Notes that a value is looked at where these conditions hold.
    fn want(&mut self, value: ValueId, conds: &[Cond], own: usize) {
        let known = self.wanted[value.index()].take();
        let dims = &self.program.ty(value).dims;
        let here = self.home[value.index()] == own;
        let holds = |cond: &Cond| here && self.covers(dims, *cond);
        let wanted = match known {
            Some(mut known) => {
                known.retain(|cond| conds.contains(cond) && holds(cond));
                known
            }
            None => conds.iter().copied().filter(holds).collect(),
        };
        self.wanted[value.index()] = Some(wanted);
    }

    /// What is read instead of a value where these conditions hold, behind this guard. `strict`: it
    /// must have the value's axes.
    fn settled(
        &mut self,
        mut value: ValueId,
        conds: &[Cond],
        guard: Option<ValueId>,
        strict: bool,
    ) -> ValueId {
        while let Some((Def::Select(cond, then, otherwise), _)) = self.defs[value.index()]
            && let Some(truth) = self.truth(cond, conds, DEEPEST)
        {
            let side = if truth { then } else { otherwise };
            let behind = self.defs[side.index()].and_then(|(_, guard)| guard);
            let dims = |value: ValueId| &self.program.ty(value).dims;
            let narrower = dims(value).iter().any(|dim| !dims(side).contains(dim));
            if (behind.is_some() && behind != guard) || (strict && narrower) {
                break;
            }
            value = side;
            self.changed = true;
        }
        value
    }

    /// How a truth value ends where these conditions hold, looked for so deep.
    fn truth(&self, value: ValueId, conds: &[Cond], depth: usize) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let known = |test: Test| Some(conds.iter().find(|(other, _)| *other == test)?.1);
        let both = |a: ValueId, b: ValueId, absorbing: bool| {
            let (a, b) = (self.truth(a, conds, depth), self.truth(b, conds, depth));
            match (a, b) {
                (Some(a), _) | (_, Some(a)) if a == absorbing => Some(absorbing),
                (Some(_), Some(_)) => Some(!absorbing),
                _ => None,
            }
        };
        match self.defs[value.index()].map(|(def, _)| def) {
            Some(Def::Not(of)) => self.truth(of, conds, depth).map(|truth| !truth),
            Some(Def::Equal(a, b)) => known(Test::Equal(a.min(b), a.max(b))),
            Some(Def::Unequal(a, b)) => known(Test::Equal(a.min(b), a.max(b))).map(|truth| !truth),
            Some(Def::And(a, b)) => known(Test::Value(value)).or_else(|| both(a, b, false)),
            Some(Def::Or(a, b)) => known(Test::Value(value)).or_else(|| both(a, b, true)),
            Some(Def::Select(..) | Def::Sum(..) | Def::Other) | None => known(Test::Value(value)),
        }
    }

    /// Adds what follows from a truth value's ending so.
    fn imply(&self, (value, truth): (ValueId, bool), conds: &mut Conds) {
        if conds.len() >= MOST {
            return;
        }
        match self.defs[value.index()].map(|(def, _)| def) {
            Some(Def::Not(of)) => self.imply((of, !truth), conds),
            Some(Def::Equal(a, b)) => add(conds, &[(Test::Equal(a.min(b), a.max(b)), truth)]),
            Some(Def::Unequal(a, b)) => add(conds, &[(Test::Equal(a.min(b), a.max(b)), !truth)]),
            Some(def @ (Def::And(a, b) | Def::Or(a, b))) => {
                let known = conds.contains(&(Test::Value(value), truth));
                add(conds, &[(Test::Value(value), truth)]);
                if !known && matches!(def, Def::And(..)) == truth {
                    self.imply((a, truth), conds);
                    self.imply((b, truth), conds);
                }
            }
            Some(Def::Select(..) | Def::Sum(..) | Def::Other) | None => {
                add(conds, &[(Test::Value(value), truth)]);
            }
        }
    }

    fn axes(&self, (test, _): Cond) -> impl Iterator<Item = &AxisId> {
        let dims = |value: ValueId| self.program.ty(value).dims.as_slice();
        let (first, second) = match test {
            Test::Value(value) => (dims(value), &[][..]),
            Test::Equal(a, b) => (dims(a), dims(b)),
        };
        first.iter().chain(second)
    }

    /// Whether a condition is known at each point of these axes.
    fn covers(&self, dims: &[AxisId], cond: Cond) -> bool {
        self.axes(cond).all(|axis| dims.contains(axis))
    }
}

/// Adds conditions that are not there yet.
fn add(conds: &mut Conds, more: &[Cond]) {
    for cond in more {
        if conds.len() < MOST && !conds.contains(cond) {
            conds.push(*cond);
        }
    }
}

/// How each operand of an operation is read.
fn reads(op: &BulkOp) -> SmallVec<[Read; 8]> {
    let count = op.operands().len();
    // A base, the places, a value and perhaps a mask.
    let written = |places: usize, mask: Option<ValueId>| {
        let mut reads = smallvec![Read::HERE];
        reads.extend((0..places).map(|_| Read::PLACE));
        reads.push(Read {
            when: mask.map(|mask| (mask, true)),
            ..Read::MOVED
        });
        reads.extend(mask.map(|_| Read::PLACE));
        reads
    };
    match op {
        BulkOp::Const(_) | BulkOp::Size(_) | BulkOp::Iota(_) => SmallVec::new(),
        BulkOp::Map(..) | BulkOp::Loop { .. } | BulkOp::While { .. } => {
            smallvec![Read::HERE; count]
        }
        BulkOp::Select(cond, ..) => {
            let side = |side| Read {
                when: Some((*cond, side)),
                ..Read::HERE
            };
            smallvec![Read::HERE, side(true), side(false)]
        }
        BulkOp::Gather { at, .. } => {
            let mut reads = smallvec![Read::MOVED];
            reads.extend(at.iter().map(|_| Read::FIXED));
            reads
        }
        BulkOp::Pack { .. } | BulkOp::Reduce { .. } => smallvec![Read::MOVED; count],
        BulkOp::Scatter { at, mask, .. } | BulkOp::Update { at, mask, .. } => {
            written(at.len(), *mask)
        }
        BulkOp::Scan { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => smallvec![Read::FIXED; count],
    }
}

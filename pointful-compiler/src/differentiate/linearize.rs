//! The primal program and its derivative as a linear map.
//!
//! # The idea
//!
//! One walk in the order of the program. Each statement stays as it is, and next to it stand
//! statements that compute the *tangents* of its results from the tangents of its operands: how
//! they change, to first order. These are linear: sums, multiples by what the primal program knows,
//! reads and writes at the same places. A value without a tangent does not depend on what is
//! differentiated.
//!
//! Run forward ([`Mode::Tangent`]) the two are one program, and a loop carries states and their
//! tangents together. To be run backward ([`Mode::Cotangent`]) they are kept apart: what is linear
//! is a list of its own, and a loop becomes two, of which the first *keeps* what the second needs
//! to know of it ([`residuals`](super::residuals)).
//!
//! # Before and after
//!
//! ```text
//! %1[i] = sin x                  %1[i] = sin x                  | %4[i] = cos x
//! %2[i] = mul %1, x              %2[i] = mul %1, x              | %5[i] = mul %4, dx
//! %3 = reduce add [i] %2         %3 = reduce add [i] %2         | %6[i] = mul x, %5
//!                                                               | %7[i] = mul %1, dx
//!                                                               | %8[i] = add %6, %7
//!                                                               | %9 = reduce add [i] %8
//! ```

use std::collections::BTreeMap;

use super::associative_scans::Prefixes;
use super::builder::Builder;
use super::cloning::Copier;
use super::demand::{Asked, Demand};
use super::last_values::Tables;
use super::tapes::Counted;
use super::transpose::{Seed, transpose};
use crate::canonicalize::substitution::Subst;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Lit, Mode, Monoid, Operation, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// A derivative being taken.
pub(super) struct Dual<'b> {
    pub(super) b: &'b mut Builder,
    pub(super) mode: Mode,
    /// Whether what is linear is run as it is.
    pub(super) forwards: bool,
    tangents: BTreeMap<ValueId, ValueId>,
    /// What stands for values whose statements are gone.
    pub(super) names: Subst,
    /// By value: what must hold for it to say something.
    conditions: BTreeMap<ValueId, ValueId>,
    /// Loops, by their indices, of which nothing is kept but states.
    pub(super) frugal: ValueSet,
    /// Loops, by their indices, that go from prefix to prefix of a scan.
    pub(super) prefixes: BTreeMap<ValueId, Prefixes>,
    /// The loops around that become two, from the outside in.
    pub(super) around: Vec<Tables>,
    /// What is true wherever these run.
    pub(super) holds: Vec<ValueId>,
    /// The `while`s that have counted their iterations.
    pub(super) counted: Vec<Counted>,
    /// Where derivatives are asked for.
    pub(super) demand: Demand,
}

impl<'b> Dual<'b> {
    pub(super) fn new(b: &'b mut Builder, mode: Mode, demand: Demand) -> Self {
        Self {
            b,
            mode,
            forwards: mode == Mode::Tangent,
            tangents: BTreeMap::new(),
            names: Subst::new(),
            conditions: BTreeMap::new(),
            frugal: ValueSet::new(),
            prefixes: BTreeMap::new(),
            around: Vec::new(),
            holds: Vec::new(),
            counted: Vec::new(),
            demand,
        }
    }

    // ---- Tangents

    pub(super) fn tangent(&self, value: ValueId) -> Option<ValueId> {
        self.tangents.get(&value).copied()
    }

    pub(super) fn set(&mut self, value: ValueId, tangent: Option<ValueId>) {
        if let Some(tangent) = tangent {
            self.tangents.insert(value, tangent);
        }
    }

    /// A new parameter that holds the tangent of a parameter.
    pub(super) fn tangent_param(&mut self, of: ValueId) -> ValueId {
        let ty = self.b.program.ty(of).clone();
        let param = self.b.param(ty.elem, ty.dims);
        self.tangents.insert(of, param);
        param
    }

    /// The tangent of a float, zero if it has none.
    pub(super) fn tangent_or_zero(&mut self, of: ValueId) -> ValueId {
        match self.tangent(of) {
            Some(tangent) => tangent,
            None => self.linearly(|dual| dual.b.number(of, 0.0)),
        }
    }

    pub(super) fn literal(&self, value: ValueId) -> Option<Lit> {
        match self.b.definition(value)? {
            BulkOp::Const(lit) => Some(*lit),
            _ => None,
        }
    }

    /// The values that have tangents.
    pub(super) fn active(&self) -> ValueSet {
        self.tangents.keys().copied().collect()
    }

    /// All tangents.
    pub(super) fn tangents(&self) -> impl Iterator<Item = ValueId> {
        self.tangents.values().copied()
    }

    /// What is made in `make` belongs to the linear part, if there is one.
    pub(super) fn linearly<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.b.linear;
        self.b.linear = self.mode == Mode::Cotangent;
        let made = make(self);
        self.b.linear = outer;
        made
    }

    // ---- Statements

    pub(super) fn block(&mut self, stmts: Vec<Stmt<Bulk>>) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    pub(super) fn stmt(&mut self, mut stmt: Stmt<Bulk>) {
        self.names.stmt_throughout(&mut stmt);
        if stmt.guard.is_none() {
            stmt.guard = self.condition(&stmt);
        }
        if let Some(guard) = stmt.guard {
            let conditions = stmt.results.iter().map(|&result| (result, guard));
            self.conditions.extend(conditions);
        }
        let reached = self.b.reached_by(&stmt);
        let outer = std::mem::replace(&mut self.b.guard, reached);
        let span = std::mem::replace(&mut self.b.span, stmt.span);
        self.statement(stmt);
        self.b.guard = outer;
        self.b.span = span;
    }

    /// What must hold for a statement to say something because of what it reads. Going back, what
    /// says nothing must not be a factor even of zero.
    fn condition(&mut self, stmt: &Stmt<Bulk>) -> Option<ValueId> {
        let known = |value: &ValueId| self.conditions.get(value).copied();
        let found: Vec<ValueId> = match &stmt.op {
            BulkOp::Map(_, args) => args.iter().filter_map(known).collect(),
            BulkOp::Select(cond, then, otherwise) => {
                let either = known(then).filter(|&own| known(otherwise) == Some(own));
                known(cond).into_iter().chain(either).collect()
            }
            BulkOp::Gather { table, at } => {
                let moved = |axis: &AxisId| at.iter().any(|(moved, _)| moved == axis);
                let whole = known(table).filter(|&own| !self.b.dims(own).iter().any(moved));
                let places = at.iter().filter_map(|(_, place)| known(place));
                whole.into_iter().chain(places).collect()
            }
            _ => return None,
        };
        let mut all = None;
        for condition in found {
            if all.is_none() {
                all = Some(condition);
            } else if all != Some(condition) {
                all = self.b.both(all, Some(condition));
            }
        }
        all
    }

    fn statement(&mut self, stmt: Stmt<Bulk>) {
        match &stmt.op {
            BulkOp::Loop { .. } => return self.sequential(stmt),
            BulkOp::While { .. } => return self.while_loop(stmt),
            BulkOp::Rule { .. } => return self.rule(stmt),
            BulkOp::Scan { .. } => return self.scan(stmt),
            BulkOp::Reduce {
                combine: Combine::Custom { .. },
                ..
            } => return self.fold(stmt),
            _ => {}
        }
        let (results, op) = (stmt.results.clone(), stmt.op.clone());
        let Some(&result) = results.first() else {
            return self.b.push(stmt);
        };
        self.b.push(stmt);
        let tangent = match op {
            BulkOp::Map(prim, args) => self.linearly(|dual| dual.primitive(prim, &args, result)),
            BulkOp::Select(cond, then, otherwise) => self
                .combined(&[then, otherwise], |dual, tangents| {
                    dual.b.map_select(cond, tangents[0], tangents[1])
                }),
            BulkOp::Gather { table, at } => {
                self.combined(&[table], |dual, tangents| dual.b.gather(tangents[0], &at))
            }
            BulkOp::Pack { axis, values } => self.combined(&values, |dual, tangents| {
                let values = tangents.to_vec();
                dual.b.emit(BulkOp::Pack { axis, values })
            }),
            BulkOp::Reduce {
                combine: Combine::Monoid(monoid),
                axes,
                operands,
            } => self.reduction(monoid, &axes, operands[0], result),
            BulkOp::Scatter {
                monoid,
                base,
                at,
                over,
                value,
                mask,
            } => self.scatter(monoid, base, at, over, value, mask, result),
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } => self.combined(&[table, value], |dual, tangents| {
                dual.b.emit(BulkOp::Update {
                    table: tangents[0],
                    at,
                    value: tangents[1],
                    mask,
                })
            }),
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Assert { .. }
            | BulkOp::Reduce { .. } => None,
            BulkOp::Scan { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Rule { .. }
            | BulkOp::Derive { .. } => None,
        };
        self.set(result, tangent);
    }

    /// A tangent that is linear in those of these operands; the operands that have none have zeros.
    /// `None` if none has one.
    pub(super) fn combined(
        &mut self,
        operands: &[ValueId],
        make: impl FnOnce(&mut Self, &[ValueId]) -> ValueId,
    ) -> Option<ValueId> {
        if operands
            .iter()
            .all(|&operand| self.tangent(operand).is_none())
        {
            return None;
        }
        if !self.b.program.elem(operands[0]).is_float() {
            return None;
        }
        self.linearly(|dual| {
            let tangents: Vec<ValueId> = operands
                .iter()
                .map(|&operand| dual.tangent_or_zero(operand))
                .collect();
            Some(make(dual, &tangents))
        })
    }

    /// `rule`: the author's own derivative. Inside of another derivative the function stays what it
    /// is, for that one to find its rule.
    fn rule(&mut self, stmt: Stmt<Bulk>) {
        let BulkOp::Rule {
            mode,
            args,
            lanes,
            body,
            rule,
        } = stmt.op.clone()
        else {
            return;
        };
        let active = args.iter().any(|&arg| self.tangent(arg).is_some());
        let results = if self.b.nested {
            self.b.push(stmt.clone());
            stmt.results.clone()
        } else {
            let bound = body.stmts.iter().flat_map(|stmt| &stmt.results);
            let mut own: ValueSet = bound.copied().collect();
            let mut results = self.inline(*body, &args, true);
            // What the function hands on is not what it is given, whose tangent is another.
            for result in results.iter_mut().filter(|_| active) {
                if !own.remove(result) {
                    *result = self.b.map(Prim::StopGradient, &[*result]);
                }
            }
            self.rename(&stmt.results, &results);
            results
        };
        if !active {
            return;
        }
        let floats = self.b.program.floats(&results);
        let mut copier = Copier::default();
        let mut rule = copier.block(self.b, &rule);
        let seeds = rule.params.split_off(args.len());
        let mut subst = Subst::new();
        for (&param, &arg) in rule.params.iter().zip(&args) {
            subst.replace(param, arg);
        }
        subst.block(&mut rule);
        let tangents: Vec<ValueId> = args.iter().map(|&arg| self.tangent_or_zero(arg)).collect();
        let asked = stmt.results.iter().map(|&result| self.demand.get(result));
        let ignored = asked.into_iter().any(|asked| *asked != Asked::Always);
        let given = match (mode, self.forwards) {
            (Mode::Cotangent, true) => self.turned(rule, &seeds, &tangents, &lanes),
            (Mode::Cotangent, false) => self.linearly(|dual| {
                if ignored {
                    let mut from = seeds.iter().copied().collect();
                    absorb(&mut rule, &mut from);
                }
                // It is a linear map of which only the transpose is known.
                let results: Vec<ValueId> = floats
                    .iter()
                    .map(|&float| {
                        let ty = dual.b.program.ty(float).clone();
                        dual.b.param(ty.elem, ty.dims)
                    })
                    .collect();
                rule.params = seeds;
                let op = BulkOp::Rule {
                    mode,
                    args: tangents,
                    lanes,
                    body: Box::new(Block::default()),
                    rule: Box::new(rule),
                };
                let guard = dual.b.guard;
                let stmt = Stmt {
                    results: results.clone(),
                    op,
                    guard,
                    span: dual.b.span,
                };
                dual.b.push(stmt);
                results
            }),
            (Mode::Tangent, _) => {
                let all = match ignored {
                    true => Asked::Sometimes,
                    false => Asked::Always,
                };
                self.linear_block(rule, &seeds, &tangents, all)
            }
        };
        let own = self.b.program.floats(&stmt.results);
        for ((float, own), tangent) in floats.into_iter().zip(own).zip(given) {
            self.set(float, Some(tangent));
            self.set(own, Some(tangent));
        }
    }

    /// What a rule for the way back says of the way forwards: it is linear in the cotangents
    /// `seeds`, and its transpose takes tangents.
    fn turned(
        &mut self,
        rule: Block<Bulk>,
        seeds: &[ValueId],
        tangents: &[ValueId],
        lanes: &[AxisId],
    ) -> Vec<ValueId> {
        let (guard, linear) = (self.b.guard.take(), self.b.linear);
        self.b.linear = false;
        self.b.enter();
        let inputs: Vec<ValueId> = seeds
            .iter()
            .map(|&seed| {
                let ty = self.b.program.ty(seed).clone();
                self.b.param(ty.elem, ty.dims)
            })
            .collect();
        let shapes = rule.results.iter().map(|&result| {
            let mut shape = self.b.dims(result);
            shape.retain(|axis| !lanes.contains(axis));
            shape
        });
        let shapes: Vec<Vec<AxisId>> = shapes.collect();
        let mut dual = Dual::new(self.b, Mode::Cotangent, Demand::default());
        let tangent = dual.linear_block(rule, seeds, &inputs, Asked::Always);
        let part = self.b.leave();
        self.b.enter();
        let given = tangent.into_iter().zip(tangents).zip(shapes);
        let cotangents = given.map(|((of, &cotangent), shape)| Seed {
            of,
            cotangent,
            shape,
        });
        let results = transpose(self.b, part.linear, &inputs, cotangents.collect());
        let turned = self.b.leave().primal;
        (self.b.guard, self.b.linear) = (guard, linear);
        self.linearly(|dual| {
            for mut stmt in part.primal.into_iter().chain(turned) {
                if !matches!(stmt.op, BulkOp::Const(_)) {
                    let own = stmt.guard;
                    stmt.guard = dual.b.behind(None, |b| b.both(guard, own));
                }
                dual.b.push(stmt);
            }
        });
        results
    }

    /// Conditions may stand behind what asks for them, and have got other names since.
    pub(super) fn settle_names(&mut self) {
        let names = &self.names;
        self.b.for_each_linear(|stmt| names.stmt_throughout(stmt));
    }

    /// The statements of a block that is linear in `params`, with these in their place. Its own
    /// derivative is what it computes, in a form in which it can be transposed.
    fn linear_block(
        &mut self,
        block: Block<Bulk>,
        params: &[ValueId],
        tangents: &[ValueId],
        asked: Asked,
    ) -> Vec<ValueId> {
        self.linearly(|dual| {
            let mut subst = Subst::new();
            for &param in params {
                let zero = dual.b.number(param, 0.0);
                subst.replace(param, zero);
            }
            let mut block = block;
            let all = vec![asked; block.results.len()];
            let demand = Demand::of(dual.b, &block, &all);
            let mut inner = Dual::new(dual.b, dual.mode, demand);
            inner.forwards = dual.forwards;
            for (&param, &tangent) in params.iter().zip(tangents) {
                // Each use of the parameter is a use of a zero with this tangent.
                let zero = subst.get(param);
                inner.set(zero, Some(tangent));
            }
            subst.block(&mut block);
            inner.block(block.stmts);
            inner.settle_names();
            block
                .results
                .iter()
                .map(|&result| inner.tangent_or_zero(result))
                .collect()
        })
    }

    /// The statements of a block in this place. `constant`: nobody asks for their tangents.
    fn inline(&mut self, block: Block<Bulk>, args: &[ValueId], constant: bool) -> Vec<ValueId> {
        let guard = self.b.guard;
        let mut block = block;
        let mut subst = Subst::new();
        for (&param, &arg) in block.params.iter().zip(args) {
            subst.replace(param, arg);
        }
        subst.block(&mut block);
        for mut stmt in block.stmts {
            let own = stmt.guard;
            stmt.guard = self.b.behind(None, |b| b.both(guard, own));
            if constant {
                self.b.push(stmt);
            } else {
                self.stmt(stmt);
            }
        }
        block.results
    }

    /// Remembers that values go by other names from here on.
    pub(super) fn rename(&mut self, old: &[ValueId], new: &[ValueId]) {
        for (&old, &new) in old.iter().zip(new) {
            self.names.replace(old, new);
            self.b.rename_extent(old, new);
            let tangent = self.tangent(new);
            self.set(old, tangent);
        }
    }

    /// A reduction by a monoid.
    fn reduction(
        &mut self,
        monoid: Monoid,
        axes: &[AxisId],
        operand: ValueId,
        result: ValueId,
    ) -> Option<ValueId> {
        if !self.b.program.elem(operand).is_float() {
            return None;
        }
        let tangent = self.tangent(operand)?;
        match monoid {
            Monoid::Add => Some(self.linearly(|dual| {
                dual.b.emit(BulkOp::Reduce {
                    combine: Combine::Monoid(Monoid::Add),
                    axes: axes.to_vec(),
                    operands: vec![tangent],
                })
            })),
            Monoid::Min | Monoid::Max => Some(self.extremum(monoid, axes, operand, tangent)),
            Monoid::Mul => Some(self.product(axes, operand, tangent, result)),
            Monoid::And | Monoid::Or => None,
        }
    }
}

/// Makes products with what is computed from these values absorbing, where the author's derivative
/// may be multiplied by what is ignored.
fn absorb(block: &mut Block<Bulk>, from: &mut ValueSet) {
    for stmt in &mut block.stmts {
        if let BulkOp::Map(prim, args) = &mut stmt.op {
            match prim {
                Prim::Mul if args.iter().any(|arg| from.contains(arg)) => *prim = Prim::MulAbsorb,
                Prim::Div if from.contains(&args[0]) => *prim = Prim::DivAbsorb,
                _ => {}
            }
        }
        let reads = stmt.op.operands();
        let free = stmt.op.blocks().into_iter().flat_map(Block::free);
        if !reads
            .into_iter()
            .chain(free)
            .any(|value| from.contains(&value))
        {
            continue;
        }
        for inner in stmt.op.blocks_mut() {
            from.extend(&inner.params);
            absorb(inner, from);
        }
        from.extend(&stmt.results);
    }
}

impl Builder {
    /// One or the other, at each point.
    pub(super) fn map_select(
        &mut self,
        cond: ValueId,
        then: ValueId,
        otherwise: ValueId,
    ) -> ValueId {
        self.emit(BulkOp::Select(cond, then, otherwise))
    }

    /// A comparison with zero of a size.
    pub(super) fn nonempty(&mut self, axis: AxisId) -> Option<ValueId> {
        if matches!(self.extent(axis), crate::ir::Extent::Const(1..)) {
            return None;
        }
        let size = self.size(axis);
        let zero = self.usize(0);
        Some(self.map(Prim::Gt, &[size, zero]))
    }
}

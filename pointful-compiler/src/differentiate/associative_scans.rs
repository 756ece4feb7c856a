//! What the way back through a scan or a reduction by an operator of the author's needs to know of
//! it, in parallel.
//!
//! # The idea
//!
//! Turned round, the two are loops over the elements. The loop that goes forward would step from
//! prefix to prefix and collect what the one that goes back reads. But the prefixes are what a scan
//! gives, in whichever pieces it runs; and with the prefix before each element at hand, the steps
//! do not wait for each other: what would be collected is computed at all elements at once. The
//! loop that goes back is left with what is linear.
//!
//! # Before and after
//!
//! ```text
//! %1, %2[i] = loop %3: i (%4 = init) {          %1, %4[i], %5[i] = scan full (init) [i] x { ⊕ }
//!   %6 = gather x [i := %3]                     %2[i] = … what the operator knows of %4 and x
//!   … %4 ⊕ %6, which knows %2 …
//!   yield %5; %2
//! }
//! ```

use std::collections::BTreeMap;

use super::builder::{Builder, reads};
use super::cloning::{Copier, extend, lanes_and_params};
use super::linearize::Dual;
use super::reductions::Along;
use super::slopes::{self, Known, Slope};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::typing::Typing;
use crate::ir::{AxisId, Block, Operation, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// A loop over elements that is a scan.
pub(super) struct Prefixes {
    /// The operator.
    pub(super) op: Block<Bulk>,
    /// The elements.
    pub(super) operands: Vec<ValueId>,
}

/// Computes what stands in a loop's body at all of its indices at once.
pub(super) struct Spread<'a> {
    axis: AxisId,
    /// The loop's index.
    index: ValueId,
    lanes: &'a [AxisId],
    /// Where the loop is run at all.
    guard: Option<ValueId>,
    /// Where it has an iteration.
    nonempty: Option<ValueId>,
    /// The arrays of what the body binds.
    copier: Copier,
}

impl Dual<'_> {
    /// The results of the loop of which `body` is an iteration: its last states, and what it
    /// collects.
    pub(super) fn by_prefixes<'a>(
        &mut self,
        prefixes: Prefixes,
        along: Along,
        lanes: &'a [AxisId],
        init: Vec<ValueId>,
        body: &Block<Bulk>,
    ) -> (Vec<ValueId>, Spread<'a>) {
        let (b, axis, count) = (&mut *self.b, along.axis, init.len());
        let given = b.emit_all(BulkOp::Scan {
            init,
            axis,
            reverse: along.reverse,
            full: true,
            operands: prefixes.operands,
            op: Box::new(prefixes.op),
        });
        let (wholes, each) = given.split_at(count);
        for &array in each {
            b.in_lanes(array, lanes, axis);
        }
        let (before, with) = each.split_at(count);
        let index = b.emit(BulkOp::Iota(axis));
        let mut spread = Spread {
            axis,
            index: body.params[0],
            lanes,
            guard: b.guard,
            nonempty: b.behind(None, |b| b.nonempty(axis)),
            copier: Copier::default(),
        };
        for (&old, &new) in body.params.iter().zip([&[index], before].concat().iter()) {
            spread.copier.rename(b, old, new);
        }
        let made = |value| body.stmts.iter().any(|stmt| stmt.results.contains(value));
        for (next, &prefix) in body.results.iter().zip(with) {
            if made(next) {
                spread.copier.rename(b, *next, prefix);
            }
        }
        for stmt in &body.stmts {
            spread.stmt(b, stmt);
        }
        let collected = body.results[count..].iter().map(|&value| spread.get(value));
        (wholes.iter().copied().chain(collected).collect(), spread)
    }
}

/// Linear statements of an operator in which every state goes its own way: it is multiplied by a
/// factor, and something is added to it.
struct Separate {
    /// By value: the state that it is computed from, counted among those that have tangents.
    of: BTreeMap<ValueId, usize>,
}

/// How states change.
struct Changes<'s> {
    separate: &'s Separate,
    stmts: &'s [Stmt<Bulk>],
    /// If besides them the element alone has a tangent: that, and all that comes of the two.
    element: Option<(ValueId, &'s Separate, &'s [Stmt<Bulk>])>,
}

impl Separate {
    /// What is computed of these values, point for point, whichever of them.
    fn all(b: &Builder, stmts: &[Stmt<Bulk>], from: &[ValueId]) -> Option<Self> {
        let mut of: BTreeMap<ValueId, usize> = from.iter().map(|&value| (value, 0)).collect();
        for stmt in stmts {
            let all = reads(&b.program, stmt);
            if all.iter().any(|value| of.contains_key(value)) {
                is_pointwise(&stmt.op).then_some(())?;
                of.extend(stmt.results.iter().map(|&result| (result, 0)));
            }
        }
        Some(Self { of })
    }

    /// If what each state is `next` is computed from its own tangent alone, point for point.
    fn new(
        b: &Builder,
        stmts: &[Stmt<Bulk>],
        tangents: &[ValueId],
        next: &[ValueId],
    ) -> Option<Self> {
        let states = tangents.iter().copied().zip(0..);
        let mut of: BTreeMap<ValueId, usize> = states.collect();
        for stmt in stmts {
            let all = reads(&b.program, stmt);
            let mut found = all.iter().filter_map(|value| of.get(value));
            let Some(&state) = found.next() else { continue };
            if !is_pointwise(&stmt.op) || found.any(|&other| other != state) {
                return None;
            }
            of.extend(stmt.results.iter().map(|&result| (result, state)));
        }
        let own = |(k, value): (usize, &ValueId)| of.get(value).is_none_or(|&state| state == k);
        next.iter().enumerate().all(own).then_some(Self { of })
    }
}

/// Whether a linear statement works point for point.
fn is_pointwise(op: &BulkOp) -> bool {
    match op {
        BulkOp::Map(prim, _) => matches!(
            prim,
            Prim::Add
                | Prim::Sub
                | Prim::Neg
                | Prim::Mul
                | Prim::MulAbsorb
                | Prim::Div
                | Prim::DivAbsorb
                | Prim::Cast(_)
        ),
        BulkOp::Select(..) => true,
        _ => false,
    }
}

/// What is looked for of a linear function.
#[derive(Clone, Copy)]
enum Share<'s> {
    /// What these are multiplied by.
    Factor(&'s [ValueId]),
    /// What is added to that.
    Term,
}

impl Dual<'_> {
    /// Computes at all indices what of the linear statements need not wait for the states. If
    /// besides each state goes its own way, no loop is left: gives how each of those changes that
    /// have tangents, of the whole, before each element, and with it.
    pub(super) fn by_factors(
        &mut self,
        along: Along,
        spread: &mut Spread<'_>,
        ahead: &[Stmt<Bulk>],
        linear: &[Stmt<Bulk>],
        states: &[(ValueId, ValueId)],
        next: &[ValueId],
    ) -> Option<Vec<[ValueId; 3]>> {
        // What is linear may stand in front, or be a coefficient.
        let all: Vec<ValueId> = self.tangents().collect();
        let (known, varying) = independent(self.b, ahead.to_vec(), &all);
        known.iter().for_each(|stmt| spread.stmt(self.b, stmt));
        let tangents: Vec<ValueId> = states.iter().map(|&(tangent, _)| tangent).collect();
        let separate = Separate::new(self.b, linear, &tangents, next);
        let (elements, others): (Vec<_>, Vec<_>) = varying
            .into_iter()
            .partition(|stmt| spread.is_element(stmt));
        self.linearly(|dual| elements.iter().for_each(|stmt| spread.stmt(dual.b, stmt)));
        let element = match (&separate, &elements[..]) {
            (Some(_), [stmt]) => Some(stmt.results[0]),
            _ => None,
        };
        let all = [&others[..], linear].concat();
        let element = element.and_then(|element| {
            let of = Separate::all(self.b, &all, &[&tangents[..], &[element]].concat())?;
            // Nothing else has a tangent.
            let has = |value: &ValueId| of.of.contains_key(value);
            let known = |stmt: &Stmt<Bulk>| stmt.results.iter().all(has);
            all.iter().all(known).then_some((element, of))
        });
        if element.is_none() {
            self.linearly(|dual| others.iter().for_each(|stmt| spread.stmt(dual.b, stmt)));
        }
        let changes = Changes {
            separate: &separate?,
            stmts: linear,
            element: element
                .as_ref()
                .map(|(element, of)| (*element, of, &all[..])),
        };
        Some(self.recurrences(&changes, along, spread, states, next))
    }

    fn recurrences(
        &mut self,
        changes: &Changes<'_>,
        along: Along,
        spread: &Spread<'_>,
        states: &[(ValueId, ValueId)],
        next: &[ValueId],
    ) -> Vec<[ValueId; 3]> {
        let &Changes {
            separate,
            stmts,
            element,
        } = changes;
        let tangents: Vec<ValueId> = states.iter().map(|&(tangent, _)| tangent).collect();
        let factors = separate.shares(self.b, spread, stmts, Share::Factor(&tangents), next);
        // A factor may be no number where nobody asks for what it is multiplied by.
        let absorbing = |stmt: &Stmt<Bulk>| {
            matches!(stmt.op, BulkOp::Map(Prim::MulAbsorb | Prim::DivAbsorb, _))
        };
        let all = element.map_or(stmts, |(_, _, all)| all);
        let times = match all.iter().any(absorbing) {
            true => Prim::MulAbsorb,
            false => Prim::Mul,
        };
        let of_element = element.map(|(element, of, all)| {
            let share = Share::Factor(std::slice::from_ref(&element));
            (element, of.shares(self.b, spread, all, share, next))
        });
        self.linearly(|dual| {
            let terms = match of_element {
                Some((element, factors)) => {
                    let tangent = spread.get(element);
                    let terms = factors.into_iter();
                    let term =
                        |factor: Option<ValueId>| Some(dual.b.map(times, &[factor?, tangent]));
                    terms.map(term).collect()
                }
                None => separate.shares(dual.b, spread, stmts, Share::Term, next),
            };
            let mut tangents = Vec::new();
            for ((&(_, init), factor), term) in states.iter().zip(factors).zip(terms) {
                let start = dual.tangent_or_zero(init);
                let zero = dual.b.number(start, 0.0);
                let (factor, term) = (factor.unwrap_or(zero), term.unwrap_or(zero));
                tangents.push(dual.b.recurrence(times, start, along, factor, term));
            }
            tangents
        })
    }
}

impl Separate {
    /// The shares of what each state is next.
    fn shares(
        &self,
        b: &mut Builder,
        spread: &Spread<'_>,
        stmts: &[Stmt<Bulk>],
        share: Share<'_>,
        next: &[ValueId],
    ) -> Vec<Option<ValueId>> {
        let mut known = BTreeMap::new();
        if let Share::Factor(of) = share {
            for &tangent in of {
                known.insert(tangent, Known::number(b.number(tangent, 1.0)));
            }
        }
        for stmt in stmts {
            if let Some(slope) = self.share(b, spread, stmt, share, &known) {
                known.insert(stmt.results[0], slope);
            }
        }
        let of = |value: &ValueId| self.operand(spread, *value, share, &known);
        let slopes: Vec<Slope> = next.iter().map(of).collect();
        let values = slopes.into_iter().map(|slope| Some(slope?.value(b)));
        values.collect()
    }

    /// What a value is, if anything.
    fn operand(
        &self,
        spread: &Spread<'_>,
        value: ValueId,
        share: Share<'_>,
        known: &BTreeMap<ValueId, Known>,
    ) -> Slope {
        match (self.of.get(&value), share) {
            (Some(_), _) => known.get(&value).copied(),
            (None, Share::Factor(_)) => None,
            (None, Share::Term) => Some(Known::number(spread.get(value))),
        }
    }

    /// The result of a statement, if it has one.
    fn share(
        &self,
        b: &mut Builder,
        spread: &Spread<'_>,
        stmt: &Stmt<Bulk>,
        share: Share<'_>,
        known: &BTreeMap<ValueId, Known>,
    ) -> Slope {
        let operand = |value: ValueId| self.operand(spread, value, share, known);
        let guard = stmt.guard.map(|guard| spread.get(guard));
        let guard = b.behind(None, |b| b.both(spread.guard, guard));
        b.behind(guard, |b| match &stmt.op {
            BulkOp::Select(cond, then, otherwise) => {
                let choice =
                    slopes::choice(b, spread.get(*cond), [*then, *otherwise].map(operand))?;
                match share {
                    Share::Factor(_) => Some(choice),
                    Share::Term => Some(Known::number(choice.value(b))),
                }
            }
            BulkOp::Map(Prim::Add, args) => slopes::sum(b, operand(args[0]), operand(args[1])),
            BulkOp::Map(Prim::Sub, args) => {
                slopes::sum(b, operand(args[0]), slopes::negated(operand(args[1])))
            }
            BulkOp::Map(Prim::Neg, args) => slopes::negated(operand(args[0])),
            BulkOp::Map(prim, args) => {
                // One operand is linear; another is what it is multiplied or divided by.
                let linear = args.iter().position(|arg| self.of.contains_key(arg))?;
                let slope = operand(args[linear]);
                let mut args: Vec<ValueId> = args.iter().map(|&arg| spread.get(arg)).collect();
                slopes::scaled(b, slope, |b, value| {
                    args[linear] = value;
                    b.map(*prim, &args)
                })
            }
            _ => unreachable!("only what works point for point is separate"),
        })
    }
}

impl Spread<'_> {
    /// The array of a value of the body; a value from outside is itself.
    pub(super) fn get(&self, value: ValueId) -> ValueId {
        self.copier.get(value)
    }

    /// Whether a statement reads what a table has at the index.
    fn is_element(&self, stmt: &Stmt<Bulk>) -> bool {
        matches!(&stmt.op, BulkOp::Gather { at, .. } if at[..] == [(self.axis, self.index)])
    }

    /// A statement of the body.
    pub(super) fn stmt(&mut self, b: &mut Builder, stmt: &Stmt<Bulk>) {
        if stmt.results.iter().all(|&value| self.get(value) != value) {
            return;
        }
        let (axis, around) = (self.axis, self.guard);
        if let BulkOp::Gather { table, .. } = &stmt.op
            && self.is_element(stmt)
        {
            // What is read at each index is the table.
            return self.copier.rename(b, stmt.results[0], self.get(*table));
        }
        let mut copy = self.copier.stmt(b, stmt);
        let inside = copy.guard;
        copy.guard = b.behind(None, |b| b.both(around, inside));
        let mut wide = around.map(|guard| b.dims(guard)).unwrap_or_default();
        extend(&mut wide, &[axis]);
        widen(b, &mut copy, &wide);
        let has = |value: &ValueId| b.dims(*value).contains(&axis);
        if let BulkOp::Const(_) = copy.op {
            copy.guard = None;
        } else if !copy.results.iter().all(has) {
            // Of no elements the operator knows nothing.
            let somewhere = b.behind(None, |b| b.both(around, self.nonempty));
            copy.guard = b.behind(None, |b| b.both(somewhere, inside));
        }
        for &value in &copy.results {
            b.in_lanes(value, self.lanes, axis);
        }
        b.push(copy);
    }
}

/// Those of the statements that need not wait for what is computed from these values, and the
/// others.
pub(super) fn independent(
    b: &Builder,
    stmts: Vec<Stmt<Bulk>>,
    from: &[ValueId],
) -> (Vec<Stmt<Bulk>>, Vec<Stmt<Bulk>>) {
    let mut waiting: ValueSet = from.iter().copied().collect();
    stmts.into_iter().partition(|stmt| {
        let waits = reads(&b.program, stmt)
            .iter()
            .any(|value| waiting.contains(value));
        if waits {
            waiting.extend(&stmt.results);
        }
        !waits
    })
}

/// Gives what a statement computes these axes, as far as what it reads has them, and all of them to
/// what is carried in blocks.
fn widen(b: &mut Builder, stmt: &mut Stmt<Bulk>, axes: &[AxisId]) {
    let carried = match lanes_and_params(&mut stmt.op) {
        Some((lanes, params)) => {
            extend(lanes, axes);
            params
        }
        // The operators of scans and reductions have no lanes, and no parameters but elements.
        None => stmt
            .op
            .blocks()
            .into_iter()
            .flat_map(|op| op.params.clone())
            .collect(),
    };
    for value in carried {
        let dims = &mut b.program.values[value.index()].ty.dims;
        let own = std::mem::replace(dims, axes.to_vec());
        extend(dims, &own);
    }
    for block in stmt.op.blocks_mut() {
        for inner in &mut block.stmts {
            widen(b, inner, axes);
        }
    }
    let types = Bulk::types(&b.program, &stmt.op, None).expect("what was well typed stays so");
    let guard = stmt.guard.map(|guard| b.dims(guard)).unwrap_or_default();
    for (&result, ty) in stmt.results.iter().zip(types) {
        let dims = &mut b.program.values[result.index()].ty.dims;
        extend(dims, &ty.dims);
        extend(dims, &guard);
    }
}

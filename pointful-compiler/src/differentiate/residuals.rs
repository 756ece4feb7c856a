//! What the second loop of a derivative needs to know of the first: what is kept, and what is
//! computed again.
//!
//! Needed is what linear statements read. Of that, what costs next to nothing to compute from what
//! is at hand anyway (the loop's index, what comes from outside, values kept already) is computed
//! again, and the rest is collected by the first loop. A short array is made again of its elements;
//! what all lanes have in common is collected. What is
//! [read of final tables](super::last_values) comes from outside. A loop that is to be frugal keeps
//! states only; everything else is computed again from them. What cannot be collected, because its
//! own shape differs from one iteration to the next, is computed again in any case.
//!
//! A loop in the loop runs again, too, rather than have what it collects collected: of a nest over
//! `n` and `m`, `n + m` states are kept instead of `n·m`. Not if it is short, or begins with more
//! than it collects in an iteration, as one that fills in a table does.
//!
//! ```text
//! %1, %2[m, n] = loop n (%3 = s) {                    %1, %2[n] = loop n (%3 = s) {
//!   %4, %5[m] = loop m (%6 = %3) { …; yield %7; %6 }    %4 = loop m (%6 = %3) { …; yield %7 }
//!   yield %4; %5                                   ▶    yield %4; %3
//! }                                                   }
//! loop n { loop m { … %2[m, n] … } }                  loop n { %5[m] = loop m (%6 = %2[n]) { … }; loop m { … %5[m] … } }
//! ```
//!
//! Nor if it goes over a row that the outer loop makes: of these `n·m` numbers are kept anyway. Such a
//! loop is frugal. With its states at hand its iterations do not wait for each other on the way back.

use std::collections::{BTreeMap, BTreeSet};

use super::builder::{Builder, reads};
use super::cloning::Copier;
use super::tapes::Tapes;
use crate::analysis::dataflow::Flow;
use crate::contract::is_cheap;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{
    AxisId, Block, Elem, Extent, Operation, Program, Scalar, Stmt, ValueId, ValueSet, Values,
};
use crate::ops::Prim;

/// How many cheap statements are run again rather than one value kept: it is written, and read,
/// once.
pub(super) const AGAIN: u32 = 12;

/// How many iterations of a loop in a loop are kept rather than run again.
const SHORT: u64 = 64;

/// The plan.
pub(super) struct Residuals {
    /// Values to collect.
    pub(super) stored: Vec<ValueId>,
    /// Values of another length in each iteration, to be kept on [tapes](super::tapes).
    pub(super) taped: Vec<Ragged>,
    /// Statements of the first loop's body to run again in the second.
    again: BTreeSet<usize>,
}

/// A value of the body that is as long as another one says, along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ragged {
    pub(super) value: ValueId,
    pub(super) axis: AxisId,
    pub(super) length: ValueId,
}

/// What a loop may keep.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// States only.
    States,
    /// Also other values.
    Values,
    /// Also what is not as long in each iteration.
    Tapes,
}

/// Where a value of the first loop's body comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Index,
    State,
    Stmt(usize),
}

/// Which statements of a body can be run again from the index and what comes from outside, but for
/// these tables.
pub(super) fn free(b: &Builder, body: &Block<Bulk>, tables: &ValueSet) -> Vec<bool> {
    let mut bound: ValueSet = body.params[1..].iter().copied().collect();
    let mut free = Vec::new();
    bound.extend(tables);
    for stmt in &body.stmts {
        let known = reads(&b.program, stmt)
            .iter()
            .all(|value| !bound.contains(value));
        free.push(known && is_cheap(&b.program, &stmt.op));
        if !free[free.len() - 1] {
            bound.extend(&stmt.results);
        }
    }
    free
}

/// Loops in a body, by their indices, that go over rows of that body.
pub(super) fn loops_over_rows(b: &Builder, body: &Block<Bulk>) -> Vec<ValueId> {
    let free = free(b, body, &ValueSet::new());
    let made = body.stmts.iter().zip(&free).filter(|(_, free)| !**free);
    let mut bound: ValueSet = made.flat_map(|(stmt, _)| &stmt.results).copied().collect();
    bound.extend(&body.params[1..]);
    let over_rows = (body.stmts.iter()).filter(|stmt| goes_over_rows(b, stmt, &bound));
    let loops = over_rows.flat_map(|stmt| stmt.op.blocks());
    loops.map(|inner| inner.params[0]).collect()
}

/// Whether a statement is a long loop that reads, of these values, one with an element for each of
/// its iterations, which is not what it goes on with itself.
fn goes_over_rows(b: &Builder, stmt: &Stmt<Bulk>, bound: &ValueSet) -> bool {
    let BulkOp::Loop { axis, body, .. } = &stmt.op else {
        return false;
    };
    let own = b.extent(*axis);
    let is_row = |value: ValueId| {
        let mut states = body.params[1..].iter();
        b.dims(value).iter().any(|&dim| b.extent(dim) == own)
            && !states.any(|&state| fits(b, value, &b.dims(state)))
    };
    let reads = reads(&b.program, stmt);
    let mut reads = reads.iter().filter(|value| bound.contains(value));
    !is_short(&b.program, *axis) && reads.any(|&value| is_row(value))
}

/// Whether a loop along an axis is so short that its iterations are kept.
pub(super) fn is_short(program: &Program<Bulk>, axis: AxisId) -> bool {
    let extent = program.decls.axes[axis.0 as usize].extent;
    matches!(extent, Extent::Const(..=SHORT))
}

/// Whether a value is a long array of each of these lanes.
pub(super) fn is_table(b: &Builder, value: ValueId, lanes: &[AxisId]) -> bool {
    let dims = b.dims(value);
    let mut own = dims.iter().filter(|axis| !lanes.contains(axis));
    own.any(|&axis| !is_short(&b.program, axis))
}

/// Whether a value has no more axes than these, by their extents.
fn fits(b: &Builder, value: ValueId, dims: &[AxisId]) -> bool {
    let mut left: Vec<Extent> = dims.iter().map(|&dim| b.extent(dim)).collect();
    b.dims(value).iter().all(|&dim| {
        let extent = b.extent(dim);
        let at = left.iter().position(|other| *other == extent);
        at.is_some_and(|at| left.swap_remove(at) == extent)
    })
}

struct Plan<'a> {
    b: &'a Builder,
    body: &'a Block<Bulk>,
    lanes: &'a [AxisId],
    /// Tables of which what is read is kept.
    tables: &'a ValueSet,
    origin: BTreeMap<ValueId, Origin>,
    reads: Vec<Values>,
    /// How many times a value is compared with another.
    compared: BTreeMap<ValueId, u32>,
    /// Whether a statement can be run again from what is always at hand.
    free: Vec<bool>,
    needed: ValueSet,
    stored: Vec<ValueId>,
    has: ValueSet,
    again: BTreeSet<usize>,
    taped: Vec<Ragged>,
    /// Which statements, to be run again, need a table that would have to be kept.
    need_tables: BTreeMap<usize, bool>,
    keep: Keep,
}

impl Residuals {
    /// Plans what the linear statements and what they yield need. Tapes are taken if fewer tables are
    /// kept with them. What is read of these tables, which loops around make in each iteration, is kept,
    /// and not they.
    pub(super) fn new(
        b: &Builder,
        body: &Block<Bulk>,
        linear: &[Stmt<Bulk>],
        yields: &[ValueId],
        lanes: &[AxisId],
        tables: &ValueSet,
        keep: Keep,
    ) -> Self {
        let make = |keep| Plan::new(b, body, linear, yields, lanes, tables, keep);
        let plan = match keep {
            Keep::States => make(keep),
            Keep::Values | Keep::Tapes => make(Keep::Values),
        };
        let tables = plan.tables();
        if keep == Keep::Tapes && tables > 0 {
            let taped = make(keep);
            if taped.tables() < tables {
                return taped.residuals();
            }
        }
        plan.residuals()
    }

    /// Adds what reads the collected arrays, and what is computed again, to the second loop's body.
    pub(super) fn read(
        &self,
        b: &mut Builder,
        mut copier: Copier,
        body: &Block<Bulk>,
        (again, axis): (ValueId, AxisId),
        arrays: &[ValueId],
        tapes: &Tapes,
    ) -> Copier {
        copier.rename(b, body.params[0], again);
        tapes.read_lengths(b, &mut copier, again);
        let stored: BTreeMap<ValueId, ValueId> = self
            .stored
            .iter()
            .copied()
            .zip(arrays.iter().copied())
            .collect();
        let fetch = |b: &mut Builder, copier: &mut Copier, value: ValueId| {
            if let Some(&array) = stored.get(&value) {
                let kept = b.gather(array, &[(axis, again)]);
                let kept = as_member(b, kept, b.program.elem(value));
                copier.rename(b, value, kept);
            }
            tapes.read(b, copier, value, again);
        };
        for &state in &body.params[1..] {
            fetch(b, &mut copier, state);
        }
        for (k, stmt) in body.stmts.iter().enumerate() {
            if self.again.contains(&k) {
                let copy = copier.stmt(b, stmt);
                b.push(copy);
            } else {
                for &result in &stmt.results {
                    b.guard = stmt.guard.map(|guard| copier.get(guard));
                    fetch(b, &mut copier, result);
                    b.guard = None;
                }
            }
        }
        copier
    }
}

impl<'a> Plan<'a> {
    fn new(
        b: &'a Builder,
        body: &'a Block<Bulk>,
        linear: &[Stmt<Bulk>],
        yields: &[ValueId],
        lanes: &'a [AxisId],
        tables: &'a ValueSet,
        keep: Keep,
    ) -> Self {
        let mut origin = BTreeMap::new();
        origin.insert(body.params[0], Origin::Index);
        for &state in &body.params[1..] {
            origin.insert(state, Origin::State);
        }
        for (k, stmt) in body.stmts.iter().enumerate() {
            for &result in &stmt.results {
                origin.insert(result, Origin::Stmt(k));
            }
        }
        let mut compared = BTreeMap::new();
        for stmt in &body.stmts {
            if let BulkOp::Map(Prim::Eq | Prim::Ne, args) = &stmt.op {
                for &arg in args {
                    *compared.entry(arg).or_default() += 1;
                }
            }
        }
        let mut needed = ValueSet::new();
        let all = linear.iter().flat_map(|stmt| reads(&b.program, stmt));
        for value in all.chain(yields.iter().copied()) {
            if origin.contains_key(&value) {
                needed.insert(value);
            }
        }
        let mut plan = Plan {
            b,
            body,
            lanes,
            reads: body
                .stmts
                .iter()
                .map(|stmt| reads(&b.program, stmt))
                .collect(),
            origin,
            compared,
            free: free(b, body, tables),
            tables,
            needed,
            stored: Vec::new(),
            has: ValueSet::new(),
            again: BTreeSet::new(),
            taped: Vec::new(),
            need_tables: BTreeMap::new(),
            keep,
        };
        let mut order: Vec<(usize, ValueId)> = plan
            .needed
            .iter()
            .map(|value| match plan.origin[&value] {
                Origin::Index | Origin::State => (0, value),
                Origin::Stmt(k) => (k + 1, value),
            })
            .collect();
        order.sort_unstable();
        for (_, value) in order {
            plan.provide(value);
        }
        plan
    }

    fn residuals(self) -> Residuals {
        // Tapes know how long their rows are.
        let is_length = |value: &ValueId| self.taped.iter().any(|of| of.length == *value);
        let mut stored = self.stored;
        stored.retain(|value| !is_length(value));
        #[cfg(test)]
        for &k in &self.again {
            use crate::testing::entered::{REMADE, RUN_AGAIN, enter};
            match self.body.stmts[k].op {
                BulkOp::Loop { .. } => enter(&RUN_AGAIN),
                BulkOp::Pack { .. } => enter(&REMADE),
                _ => {}
            }
        }
        Residuals {
            stored,
            taped: self.taped,
            again: self.again,
        }
    }

    /// How many long tables are kept of each iteration.
    fn tables(&self) -> usize {
        let stored = self.stored.iter();
        stored.filter(|&&value| self.is_table(value)).count()
    }

    /// Whether a value is a long array of each lane.
    fn is_table(&self, value: ValueId) -> bool {
        is_table(self.b, value, self.lanes)
    }

    /// The axis along which a value is as long as another one of the body says, if it is one axis and the
    /// value a few numbers at each place: to run a loop again takes less than a table of each trip.
    fn ragged(&self, value: ValueId) -> Option<Ragged> {
        let mut ragged = None;
        for axis in self.b.dims(value) {
            if let Extent::Value(length) = self.b.extent(axis)
                && self.origin.contains_key(&length)
            {
                let of_others = match self.b.program.elem(value).extent() {
                    Some(Extent::Value(of)) => of != length && self.origin.contains_key(&of),
                    _ => false,
                };
                let known = self.b.dims(length);
                let in_lanes = known.iter().all(|axis| self.lanes.contains(axis));
                let fine = in_lanes && ragged.is_none() && !of_others;
                fine.then_some(())?;
                ragged = Some(Ragged {
                    value,
                    axis,
                    length,
                });
            } else if !self.lanes.contains(&axis) && !is_short(&self.b.program, axis) {
                return None;
            }
        }
        ragged
    }

    /// Whether a statement, to be run again, needs a table that would have to be kept of each
    /// iteration.
    fn needs_table(&mut self, k: usize) -> bool {
        if let Some(&known) = self.need_tables.get(&k) {
            return known;
        }
        let mut needs = false;
        for value in self.needed_by(k) {
            needs |= match self.origin.get(&value) {
                None | Some(Origin::Index) => false,
                Some(Origin::State) => self.is_table(value),
                Some(&Origin::Stmt(j)) if j == k || self.free[j] => false,
                Some(_) if self.storable(value) => self.is_table(value),
                Some(&Origin::Stmt(j)) => self.needs_table(j),
            };
        }
        self.need_tables.insert(k, needs);
        needs
    }

    /// Keeps a value on a tape, if that saves keeping a table.
    fn tape(&mut self, k: usize, value: ValueId) -> bool {
        if self.keep != Keep::Tapes
            || self.free[k]
            || self.storable(value)
            || !self.needs_table(k)
            || self.follows(k)
        {
            return false;
        }
        let Some(ragged) = self.ragged(value) else {
            return false;
        };
        self.taped.push(ragged);
        self.has.insert(ragged.length);
        if let Some(guard) = self.body.stmts[k].guard {
            self.provide(guard);
        }
        true
    }
}

/// What a loop collects of values of its body. What lanes have in common behind a branch, not all of
/// them compute, and what the others would leave is not to be kept for all: it gets the branch's
/// lanes. A condition is kept as one that does not hold where it says nothing: why it does so is not
/// kept beside it.
///
/// ```text
/// %2[k] = loop … if %1[w]        %2[k] = loop … if %1[w]
/// yield …; %2                    %3[k, w] = select %1, %2, 0
///                                yield …; %3
/// ```
pub(super) fn kept_by_lanes(
    b: &mut Builder,
    stmts: &mut Vec<Stmt<Bulk>>,
    values: &[ValueId],
) -> Vec<ValueId> {
    let guards: BTreeMap<ValueId, ValueId> = stmts
        .iter()
        .filter_map(|stmt| Some((stmt.guard?, &stmt.results)))
        .flat_map(|(guard, results)| results.iter().map(move |&result| (result, guard)))
        .collect();
    b.enter();
    let kept = values.iter().map(|&value| {
        let guard = guards.get(&value).copied();
        let kept = match guard {
            Some(guard) => in_lanes_of(b, value, guard),
            None if b.program.elem(value) == Elem::BOOL => b.behind(None, |b| b.said(value)),
            None => value,
        };
        // Outside nobody may know how many members there are.
        match b.program.elem(kept) {
            Elem::Index(Extent::Value(_)) => {
                b.behind(guard, |b| b.map(Prim::Cast(Scalar::Usize), &[kept]))
            }
            _ => kept,
        }
    });
    let kept = kept.collect();
    stmts.extend(b.leave().primal);
    kept
}

/// A value with the lanes of its guard, if it has not got them: what it is where that holds.
fn in_lanes_of(b: &mut Builder, value: ValueId, guard: ValueId) -> ValueId {
    let own = b.dims(value);
    if b.dims(guard).iter().all(|lane| own.contains(lane)) {
        return value;
    }
    b.behind(None, |b| {
        let guard = b.said(guard);
        // There may be no member for where it does not hold.
        let value = match b.program.elem(value) {
            Elem::Index(_) => b.map(Prim::Cast(Scalar::Usize), &[value]),
            Elem::Scalar(_) | Elem::Bound(_) => value,
        };
        b.masked(Some(guard), value)
    })
}

/// What is kept of a member, as one: see [`kept_by_lanes`].
pub(super) fn as_member(b: &mut Builder, kept: ValueId, of: Elem) -> ValueId {
    match of {
        Elem::Index(extent) if b.program.elem(kept) != of => b.map(Prim::Trust(extent), &[kept]),
        _ => kept,
    }
}

impl Plan<'_> {
    /// Whether the shape of a value is the same in all iterations.
    fn storable(&self, value: ValueId) -> bool {
        let extents = Bulk::type_extents(&self.b.program, value);
        extents
            .iter()
            .all(|extent| !self.origin.contains_key(extent))
    }

    /// Makes a value of the first body known in the second.
    fn provide(&mut self, value: ValueId) {
        let Some(&origin) = self.origin.get(&value) else {
            return;
        };
        if !self.has.insert(value) {
            return;
        }
        match origin {
            Origin::Index => {}
            Origin::State => self.stored.push(value),
            Origin::Stmt(k) => {
                if self.tape(k, value) {
                    return;
                }
                let guard = self.body.stmts[k].guard;
                let again = self.keep == Keep::States
                    || self.free[k]
                    || !self.storable(value)
                    || self.follows(k)
                    || self.is_kept_by_its_operand(k)
                    || self.collects_more_than_it_reads(k);
                if again {
                    self.run(k);
                } else {
                    self.stored.push(value);
                    if let Some(guard) = guard {
                        self.provide(guard);
                    }
                }
            }
        }
    }

    /// Whether a statement follows from what is at hand by a few cheap ones.
    fn follows(&self, k: usize) -> bool {
        let mut budget = AGAIN;
        self.steps(k, &mut budget).is_some()
    }

    /// Whether a statement is the negative, or the like, of a value that is to be kept: more may follow
    /// from the value, as what a sine is multiplied by does where its negative is needed, too. So
    /// it is of an integer that is compared more than once, as by the arms of a `match`: that only one
    /// of them holds is seen from the integer.
    fn is_kept_by_its_operand(&self, k: usize) -> bool {
        let stmt = &self.body.stmts[k];
        let BulkOp::Map(_, args) = &stmt.op else {
            return false;
        };
        let mut varying = args.iter().filter(|&&arg| !self.is_at_hand(arg));
        let (Some(&operand), None) = (varying.next(), varying.next()) else {
            return false;
        };
        let result = stmt.results[0];
        let elem = |value| self.b.program.elem(value);
        let is_negative = args.len() == 1 && elem(operand) == elem(result);
        let is_kept = (is_negative && elem(operand).is_float()
            || elem(result) == Elem::BOOL && self.is_compared_again(operand))
            && is_cheap(&self.b.program, &stmt.op)
            && self.storable(operand)
            && fits(self.b, operand, &self.b.dims(result));
        #[cfg(test)]
        is_kept.then(|| {
            use crate::testing::entered::{COMPARED, OPERANDS, enter};
            enter(if is_negative { &OPERANDS } else { &COMPARED });
        });
        is_kept
    }

    /// Whether an integer is compared more than once.
    fn is_compared_again(&self, value: ValueId) -> bool {
        let elem = self.b.program.elem(value);
        let is_integer = elem != Elem::BOOL && !elem.is_float();
        is_integer && self.compared.get(&value).is_some_and(|&times| times > 1)
    }

    /// Whether a statement is a long loop that collects something needed of its iterations, and reads
    /// nothing that would take as much to keep as one of them.
    fn collects_more_than_it_reads(&self, k: usize) -> bool {
        let stmt = &self.body.stmts[k];
        let BulkOp::Loop { axis, .. } = &stmt.op else {
            return false;
        };
        let is_made_here = |value: &ValueId| match self.origin.get(value) {
            Some(Origin::Stmt(k)) => !self.free[*k],
            Some(Origin::State) => true,
            Some(Origin::Index) | None => false,
        };
        let bound = (self.origin.keys().copied()).filter(is_made_here).collect();
        if is_short(&self.b.program, *axis) || goes_over_rows(self.b, stmt, &bound) {
            return false;
        }
        let mut needed = stmt
            .results
            .iter()
            .filter(|result| self.needed.contains(result));
        needed.any(|&result| {
            let mut dims = self.b.dims(result);
            let Some(own) = dims.iter().position(|dim| dim == axis) else {
                return false;
            };
            dims.remove(own);
            let reads = self.needed_by(k);
            reads
                .into_iter()
                .all(|value| self.is_at_hand(value) || fits(self.b, value, &dims))
        })
    }

    /// Whether a value is known in the second loop without being kept for this.
    fn is_at_hand(&self, value: ValueId) -> bool {
        match self.origin.get(&value) {
            None | Some(Origin::Index) => true,
            Some(_) if self.has.contains(&value) => true,
            Some(Origin::State) => false,
            Some(Origin::Stmt(k)) => self.free[*k] || self.follows(*k),
        }
    }

    /// What a statement reads of the loop around it.
    fn needed_by(&self, k: usize) -> Values {
        let mut reads = self.reads[k].clone();
        // A block's own values are not its statement's to provide.
        for block in self.body.stmts[k].op.blocks() {
            let free: ValueSet = block.free().into_iter().collect();
            reads.retain(|value| self.origin.contains_key(value) || free.contains(value));
        }
        reads
    }

    /// Whether all lanes have a value in common, so that next to nothing keeps it.
    fn is_uniform(&self, value: ValueId) -> bool {
        let dims = self.b.dims(value);
        !self.lanes.is_empty() && self.lanes.iter().all(|lane| !dims.contains(lane))
    }

    /// Takes the statements that a value needs to be computed again from what is left of a budget.
    fn steps(&self, k: usize, left: &mut u32) -> Option<()> {
        *left = left.checked_sub(1)?;
        let stmt = &self.body.stmts[k];
        let varies = stmt.results.iter().all(|&result| !self.is_uniform(result));
        let is_array = varies && matches!(stmt.op, BulkOp::Pack { .. });
        if !is_array && !is_cheap(&self.b.program, &stmt.op) {
            return None;
        }
        for value in &self.reads[k] {
            if self.tables.contains(value) {
                return None;
            }
            match self.origin.get(value) {
                None | Some(Origin::Index) => {}
                Some(_) if self.has.contains(value) => {}
                Some(Origin::State) => return None,
                Some(Origin::Stmt(j)) if self.free[*j] => {}
                Some(Origin::Stmt(_)) if varies && self.is_uniform(*value) => {}
                Some(Origin::Stmt(j)) => self.steps(*j, left)?,
            }
        }
        Some(())
    }

    /// Runs a statement again.
    fn run(&mut self, k: usize) {
        if !self.again.insert(k) {
            return;
        }
        self.has.extend(&self.body.stmts[k].results);
        for value in self.needed_by(k) {
            if self.origin.get(&value) != Some(&Origin::Stmt(k)) {
                self.provide(value);
            }
        }
    }
}

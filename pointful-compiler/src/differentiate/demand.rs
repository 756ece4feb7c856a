//! Where the derivative of a value is asked for.
//!
//! # The idea
//!
//! What a result ignores contributes nothing to its derivative, not even NaN. The cotangent of what
//! nobody looks at is zero, but zero times a coefficient that is no number is none. So it is found
//! out, from the results backwards, of each float where somebody looks at it whose own derivative
//! is asked for. A branch, an extremum, a read elsewhere and a change of a table each leave
//! something out; a comparison asks for no derivative. Several readers ask where one of them does.
//!
//! - *Always*: products are products.
//! - *Where a condition holds*: the product stands behind the condition, as if its author had written
//!   it in the branch.
//! - *Sometimes*, where it is not known while compiling: a zero cotangent absorbs what it is multiplied
//!   by ([`Prim::MulAbsorb`]).
//!
//! # Why it is sound
//!
//! A cotangent that nobody asked for is a sum of exact zeros, and the linear operations hand zeros
//! on, but for products with what is no number, and quotients by zero. Conditions are complete, so
//! where one does not hold the cotangent is such a zero. Absorbing products are bilinear but for
//! what they absorb, so their own derivatives are sums of absorbing products, and both factors are
//! looked at *sometimes*: what is said here holds of the next derivative too.
//!
//! A loop without iterations, a sum of no terms, ignores nothing in this sense.
//!
//! # Before and after
//!
//! ```text
//! %1[i] = sqrt x                     always           %2[i] = ct / 2 %1
//! %1[i] = sqrt x                     where %c         %2[i] = select %c, ct / 2 %1, 0
//! %3[i] = select %c, %1, %0
//! %1[i] = sqrt x                     sometimes        %2[i] = mul_absorb ct, 0.5 / %1
//! %3[j] = gather %1 [i := p]
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::builder::Builder;
use super::cloning::Copier;
use super::rules::is_flat;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Elem, Extent, Lit, Monoid, Operation, Stmt, ValueId};
use crate::ops::Prim;

/// So many cases, and tests in each, are told apart.
const MOST: usize = 4;

/// Places along an axis of no more than so many are told apart.
const FEW: u64 = 64;

/// So many walks through a loop's body tell where its states are asked for; those that still change
/// then may be asked for anywhere.
const ROUNDS: u32 = 4;

/// Conjunctions in conjunctions are looked into so deep.
pub(super) const DEEPEST: u32 = 6;

/// Something that holds or does not, and which of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Test {
    Value(ValueId, bool),
    Equal(ValueId, ValueId, bool),
    /// Of whole numbers.
    Less(ValueId, ValueId, bool),
}

impl Test {
    fn opposite(self) -> Self {
        match self {
            Self::Value(value, truth) => Self::Value(value, !truth),
            Self::Equal(a, b, truth) => Self::Equal(a, b, !truth),
            Self::Less(a, b, truth) => Self::Less(a, b, !truth),
        }
    }

    fn values(self) -> impl Iterator<Item = ValueId> {
        match self {
            Self::Value(value, _) => [value; 2],
            Self::Equal(a, b, _) | Self::Less(a, b, _) => [a, b],
        }
        .into_iter()
    }

    pub(super) fn renamed(self, name: impl Fn(ValueId) -> ValueId) -> Self {
        match self {
            Self::Value(value, truth) => Self::Value(name(value), truth),
            Self::Equal(a, b, truth) => Self::Equal(name(a), name(b), truth),
            Self::Less(a, b, truth) => Self::Less(name(a), name(b), truth),
        }
    }
}

/// Tests that all end so; each may be unspecified where one before it does not.
type Case = Vec<Test>;

/// Places that are written, and under which condition.
type Places = (Vec<(AxisId, ValueId)>, Option<ValueId>);

/// Where somebody asks for a value's derivative.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Asked {
    Never,
    /// In one of these cases.
    Where(Vec<Case>),
    /// Everywhere but at places that are overwritten.
    Beside(Places),
    /// At one place or more along these axes, for each point of the others.
    Along(Vec<AxisId>),
    Sometimes,
    Always,
}

impl Asked {
    /// By one reader or another.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, _) | (_, Self::Always) => Self::Always,
            (Self::Never, asked) | (asked, Self::Never) => asked,
            (Self::Where(cases), Self::Where(more)) => {
                more.into_iter().fold(Self::Where(cases), Self::in_case)
            }
            (Self::Beside(places), Self::Beside(other)) if places == other => Self::Beside(places),
            (Self::Along(axes), Self::Along(other)) if axes.len() > other.len() => {
                Self::Along(other)
            }
            (Self::Along(axes), _) | (_, Self::Along(axes)) => Self::Along(axes),
            _ => Self::Sometimes,
        }
    }

    fn in_case(self, new: Case) -> Self {
        let Self::Where(mut cases) = self else {
            return self;
        };
        // One case says what another says, or they differ in how one test ends.
        for k in 0..cases.len() {
            let old = &cases[k];
            let within = |a: &Case, b: &Case| a.iter().all(|test| b.contains(test));
            if within(old, &new) {
                return Self::Where(cases);
            }
            if within(&new, old) {
                cases.remove(k);
                return Self::Where(cases).in_case(new);
            }
            let differs = |test: &&Test| !old.contains(test);
            let mut own = new.iter().filter(differs);
            if let (Some(&test), None) = (own.next(), own.next())
                && old.len() == new.len()
                && old.contains(&test.opposite())
            {
                cases.remove(k);
                let rest: Case = new.iter().copied().filter(|&other| other != test).collect();
                return match rest.is_empty() {
                    true => Self::Always,
                    false => Self::Where(cases).in_case(rest),
                };
            }
        }
        cases.push(new);
        match cases.len() > MOST {
            true => Self::Sometimes,
            false => Self::Where(cases),
        }
    }

    /// Where these tests end so besides.
    fn and(self, tests: &[Test]) -> Self {
        if tests.is_empty() {
            return self;
        }
        let cases = match self {
            Self::Always => vec![Vec::new()],
            Self::Where(cases) => cases,
            Self::Never => return Self::Never,
            Self::Beside(_) | Self::Along(_) | Self::Sometimes => return Self::Sometimes,
        };
        let mut all = Self::Never;
        for mut case in cases {
            for &test in tests {
                if !case.contains(&test) {
                    case.push(test);
                }
            }
            if case.iter().any(|test| case.contains(&test.opposite())) {
                continue;
            }
            all = match case.len() > MOST {
                true => all.or(Self::Sometimes),
                false => all.or(Self::Where(vec![case])),
            };
        }
        all
    }

    /// At other points: of what is looked at everywhere, perhaps everywhere.
    fn elsewhere(self, whole: bool) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Always if whole => Self::Always,
            _ => Self::Sometimes,
        }
    }

    /// At some place along these axes, for each of the points.
    fn somewhere(self, axes: &[AxisId]) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Always => Self::Along(axes.to_vec()),
            Self::Along(more) => Self::Along([axes, &more].concat()),
            Self::Where(_) | Self::Beside(_) | Self::Sometimes => Self::Sometimes,
        }
    }

    /// Of values that are all along an axis one, which they have not.
    fn of_each(self, axis: AxisId) -> Self {
        match self {
            Self::Along(axes) if axes.contains(&axis) => Self::Sometimes,
            asked => asked,
        }
    }

    /// By one reader for some elements, and by another for the others.
    fn shared(self, other: Self) -> Self {
        match self == other {
            true => self,
            false => Self::Sometimes,
        }
    }

    /// Of what a table is computed from nobody knows which places are overwritten.
    fn of_operands(self) -> Self {
        match self {
            Self::Beside(_) => Self::Sometimes,
            asked => asked,
        }
    }
}

/// Where derivatives of values are asked for.
#[derive(Default)]
pub(super) struct Demand {
    asked: BTreeMap<ValueId, Asked>,
    /// How many blocks are around where a value is bound.
    depths: BTreeMap<ValueId, u32>,
    /// Indices of loops.
    indices: BTreeMap<ValueId, u32>,
    /// Places along an axis, known while compiling, at which a table is looked at everywhere.
    places: BTreeMap<(ValueId, AxisId), BTreeSet<i128>>,
    /// Tables that change in a loop at a place of each iteration's own, by the loop's index, and
    /// where one asks for them after the loop.
    own_places: BTreeMap<(ValueId, ValueId), Asked>,
    /// What has been noted since a walk began, to be taken back.
    log: Vec<(ValueId, Option<Asked>)>,
}

impl Demand {
    /// In a block whose results' derivatives are asked for so.
    pub(super) fn of(b: &Builder, block: &Block<Bulk>, results: &[Asked]) -> Self {
        let mut demand = Self::default();
        demand.define(block, 1);
        demand.block(b, block, results);
        demand
    }

    pub(super) fn get(&self, value: ValueId) -> &Asked {
        self.asked.get(&value).unwrap_or(&Asked::Always)
    }

    /// Of values under other names.
    pub(super) fn copied(&mut self, copier: &Copier) {
        let name = |value| copier.get(value);
        let renamed = |asked: &Asked| match asked {
            Asked::Where(cases) => {
                let case = |case: &Case| case.iter().map(|test| test.renamed(name)).collect();
                Asked::Where(cases.iter().map(case).collect())
            }
            asked => asked.clone(),
        };
        let copied = self
            .asked
            .iter()
            .filter(|&(&value, _)| name(value) != value);
        let copied: Vec<_> = copied
            .map(|(&value, a)| (name(value), renamed(a)))
            .collect();
        self.asked.extend(copied);
    }

    fn define(&mut self, block: &Block<Bulk>, depth: u32) {
        let bound = block.stmts.iter().flat_map(|stmt| &stmt.results);
        let bound = block.params.iter().chain(bound);
        self.depths.extend(bound.map(|&value| (value, depth)));
        for stmt in &block.stmts {
            if let BulkOp::Loop { body, .. } = &stmt.op {
                self.indices.insert(body.params[0], depth + 1);
            }
            for inner in stmt.op.blocks() {
                self.define(inner, depth + 1);
            }
        }
    }

    fn depth(&self, value: ValueId) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    /// So far.
    fn known(&self, value: ValueId) -> Asked {
        self.asked.get(&value).cloned().unwrap_or(Asked::Never)
    }

    fn note(&mut self, value: ValueId, asked: Asked) {
        let before = self.asked.insert(value, asked);
        self.log.push((value, before));
    }

    /// Somebody asks, who says where.
    fn ask(&mut self, b: &Builder, value: ValueId, asked: Asked) {
        if !b.program.elem(value).is_float() {
            return;
        }
        // A condition must be known at each of the value's points, and where the value is bound.
        let asked = match asked {
            Asked::Where(cases) => {
                let (dims, depth) = (b.dims(value), self.depth(value));
                let known = |test: ValueId| {
                    self.depth(test) <= depth && b.dims(test).iter().all(|axis| dims.contains(axis))
                };
                match cases
                    .iter()
                    .flatten()
                    .flat_map(|test| test.values())
                    .all(known)
                {
                    true => Asked::Where(cases),
                    false => Asked::Sometimes,
                }
            }
            Asked::Along(mut axes) => {
                let dims = b.dims(value);
                axes.retain(|axis| dims.contains(axis));
                match axes.is_empty() {
                    true => Asked::Always,
                    false => Asked::Along(axes),
                }
            }
            asked => asked,
        };
        let asked = self.known(value).or(asked);
        self.note(value, asked);
    }

    fn block(&mut self, b: &Builder, block: &Block<Bulk>, results: &[Asked]) {
        for (&result, asked) in block.results.iter().zip(results) {
            self.ask(b, result, asked.clone());
        }
        for stmt in block.stmts.iter().rev() {
            self.stmt(b, stmt);
        }
    }

    /// A body that runs again and again: what it gives is looked at by the next run, and by
    /// somebody else: `each` time, or in the end.
    fn carried(
        &mut self,
        b: &Builder,
        body: &Block<Bulk>,
        states: &[ValueId],
        given: &[Asked],
        each: bool,
    ) {
        let mut next = given.to_vec();
        for round in 0.. {
            let mark = self.log.len();
            self.block(b, body, &next);
            let mut changed = false;
            for (k, &state) in states.iter().enumerate() {
                let asked = match (given[k].clone(), self.known(state)) {
                    (given, state) if each => given.or(state.elsewhere(false)),
                    (given, state) => given.shared(state),
                };
                if asked == next[k] || (round >= ROUNDS && next[k] == Asked::Sometimes) {
                    continue;
                }
                changed = true;
                // What does not settle may be asked for anywhere.
                next[k] = match round < ROUNDS {
                    true => asked,
                    false => Asked::Sometimes,
                };
            }
            #[cfg(test)]
            {
                use crate::testing::entered::{SETTLED, UNSETTLED, enter};
                match (changed, round) {
                    (false, 1..) => enter(&SETTLED),
                    (true, ROUNDS) => enter(&UNSETTLED),
                    _ => {}
                }
            }
            if !changed {
                return;
            }
            self.places.clear();
            while self.log.len() > mark {
                match self.log.pop() {
                    Some((value, Some(before))) => self.asked.insert(value, before),
                    Some((value, None)) => self.asked.remove(&value),
                    None => None,
                };
            }
        }
    }

    fn stmt(&mut self, b: &Builder, stmt: &Stmt<Bulk>) {
        let given = stmt
            .results
            .iter()
            .map(|&value| self.known(value).of_operands());
        let given: Vec<Asked> = given.collect();
        let Some(asked) = given.first().cloned() else {
            return;
        };
        match &stmt.op {
            BulkOp::Const(_) | BulkOp::Size(_) | BulkOp::Iota(_) | BulkOp::Assert { .. } => {}
            BulkOp::Map(prim, _) if is_flat(*prim) => {}
            BulkOp::Map(prim @ (Prim::Min | Prim::Max), args) => {
                for (k, &arg) in args.iter().enumerate() {
                    let takes = Test::Equal(stmt.results[0], args[0], k == 0);
                    let tests = match b.is_identity(*prim, args[1 - k]) {
                        true => Vec::new(),
                        false => self.behind(b, stmt, &[takes]),
                    };
                    self.ask(b, arg, asked.clone().and(&tests));
                }
            }
            BulkOp::Map(Prim::MulAbsorb | Prim::DivAbsorb, args) => {
                for &arg in args {
                    self.ask(b, arg, asked.clone().elsewhere(false));
                }
            }
            BulkOp::Map(_, args) => {
                for &arg in args {
                    self.ask(b, arg, asked.clone());
                }
            }
            BulkOp::Select(cond, then, otherwise) => {
                for (side, truth) in [(then, true), (otherwise, false)] {
                    let tests = self.behind(b, stmt, &[test(b, *cond, truth)]);
                    self.ask(b, *side, asked.clone().and(&tests));
                }
            }
            BulkOp::Gather { table, at } => {
                let dims = b.dims(*table);
                let here = at.iter().all(|(axis, _)| !dims.contains(axis));
                let before = self.known(*table);
                let asked = match &before {
                    _ if here => asked,
                    _ if self.completes(b, stmt, *table, at, &asked) => Asked::Always,
                    // What is overwritten is read before.
                    Asked::Beside((places, mask))
                        if places == at && self.everywhere(b, stmt, &asked, *mask) =>
                    {
                        Asked::Always
                    }
                    _ if asked == Asked::Always && self.reads_all(b, *table, at) => asked,
                    _ => {
                        let axes: Vec<AxisId> = at.iter().map(|&(axis, _)| axis).collect();
                        asked.somewhere(&axes)
                    }
                };
                self.ask(b, *table, asked);
            }
            BulkOp::Pack { axis, values } => {
                for &value in values {
                    self.ask(b, value, asked.clone().of_each(*axis));
                }
            }
            BulkOp::Reduce {
                combine,
                axes,
                operands,
            } => match combine {
                Combine::Monoid(Monoid::Add | Monoid::Mul) => self.ask(b, operands[0], asked),
                Combine::Monoid(Monoid::Min | Monoid::Max) => {
                    self.ask(b, operands[0], asked.somewhere(axes));
                }
                Combine::Monoid(Monoid::And | Monoid::Or) | Combine::ArgMin | Combine::ArgMax => {}
                Combine::Custom { init, op } => self.operator(b, op, init, operands, &given, false),
            },
            BulkOp::Scan {
                init,
                full,
                operands,
                op,
                ..
            } => {
                let count = init.len();
                let mut each = given[given.len() - count..].to_vec();
                if *full {
                    for (k, each) in each.iter_mut().enumerate() {
                        let others = given[k].clone().or(given[count + k].clone());
                        *each = std::mem::replace(each, Asked::Never).or(others.elsewhere(false));
                    }
                }
                self.operator(b, op, init, operands, &each, true);
            }
            BulkOp::Scatter {
                monoid,
                base,
                value,
                mask,
                ..
            } => {
                let kept = match monoid {
                    Monoid::Min | Monoid::Max => asked.clone().elsewhere(false),
                    _ => asked.clone(),
                };
                self.ask(b, *base, kept);
                let asked = asked.elsewhere(matches!(monoid, Monoid::Add | Monoid::Mul));
                let tests = self.masked(b, stmt, *mask);
                self.ask(b, *value, asked.and(&tests));
            }
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } => {
                let rest = match asked {
                    Asked::Always => Asked::Beside((at.clone(), *mask)),
                    _ => asked.clone().elsewhere(false),
                };
                self.ask(b, *table, rest);
                let tests = self.masked(b, stmt, *mask);
                // What is written at a place of the iteration's own stays there.
                let own = (stmt.results[0], ValueId(0))..=(stmt.results[0], ValueId(u32::MAX));
                let stays = self.own_places.range(own).map(|(_, asked)| asked.clone());
                let asked = stays.fold(asked, Asked::or).elsewhere(true);
                self.ask(b, *value, asked.and(&tests));
            }
            BulkOp::Loop {
                axis, init, body, ..
            } => {
                for (&next, (&state, asked)) in
                    body.results.iter().zip(body.params[1..].iter().zip(&given))
                {
                    let index = body.params[0];
                    let mut indices = vec![(index, None)];
                    let last = last_at_own_place(body, next, state, &mut indices, None);
                    if let Some(last) = last.flatten() {
                        self.own_places.insert((last, index), asked.clone());
                    }
                }
                let each = given.into_iter().map(|asked| asked.of_each(*axis));
                let given: Vec<Asked> = each.collect();
                self.carried(b, body, &body.params[1..], &given, false);
                self.begin(b, init, &body.params[1..], &given);
            }
            BulkOp::While { init, body, .. } => {
                self.carried(b, body, &body.params, &given, false);
                self.begin(b, init, &body.params, &given);
            }
            // What the author's derivative does with it is not known.
            BulkOp::Rule { args, .. } => {
                let all = given.iter().all(|asked| *asked == Asked::Always);
                let any = given.iter().any(|asked| *asked != Asked::Never);
                let asked = match (all, any) {
                    (true, _) => Asked::Always,
                    (_, true) => Asked::Sometimes,
                    (false, false) => Asked::Never,
                };
                for &arg in args {
                    self.ask(b, arg, asked.clone());
                }
            }
            BulkOp::Derive { .. } => {}
        }
    }

    /// Initial states are looked at as states are, and as what is given in the end: without any
    /// iteration they are that.
    fn begin(&mut self, b: &Builder, init: &[ValueId], states: &[ValueId], given: &[Asked]) {
        for ((&init, &state), given) in init.iter().zip(states).zip(given) {
            let asked = match self.known(state).of_operands() {
                asked @ (Asked::Never | Asked::Where(_)) if asked != *given => {
                    #[cfg(test)]
                    crate::testing::entered::enter(&crate::testing::entered::BEGUN_APART);
                    Asked::Sometimes
                }
                asked => asked,
            };
            self.ask(b, init, asked);
        }
    }

    /// Operands are looked at as parameters are.
    fn applied(&mut self, b: &Builder, operands: &[ValueId], params: &[ValueId]) {
        for (&operand, &param) in operands.iter().zip(params) {
            self.ask(b, operand, self.known(param).of_operands());
        }
    }

    /// An operator of the author's, of which what each application gives is looked at, or the last.
    fn operator(
        &mut self,
        b: &Builder,
        op: &Block<Bulk>,
        init: &[ValueId],
        operands: &[ValueId],
        given: &[Asked],
        each: bool,
    ) {
        let (left, right) = op.params.split_at(init.len());
        let given: Vec<Asked> = given.iter().map(|a| a.clone().elsewhere(true)).collect();
        self.carried(b, op, left, &given, each);
        // What each application gives, there is none of then.
        match each {
            true => self.applied(b, init, left),
            false => self.begin(b, init, left, &given),
        }
        self.applied(b, operands, right);
    }

    /// What a mask says of the value that is written where it holds.
    fn masked(&self, b: &Builder, stmt: &Stmt<Bulk>, mask: Option<ValueId>) -> Vec<Test> {
        match mask {
            Some(mask) => self.behind(b, stmt, &[test(b, mask, true)]),
            None => Vec::new(),
        }
    }

    /// Tests that a statement asks, behind its guard.
    fn behind(&self, b: &Builder, stmt: &Stmt<Bulk>, asked: &[Test]) -> Vec<Test> {
        let guard = stmt.guard.map(|guard| test(b, guard, true));
        guard.into_iter().chain(asked.iter().copied()).collect()
    }

    /// Whether a statement whose result is looked at so is looked at wherever a mask holds.
    fn everywhere(
        &self,
        b: &Builder,
        stmt: &Stmt<Bulk>,
        asked: &Asked,
        mask: Option<ValueId>,
    ) -> bool {
        match (asked, mask) {
            (Asked::Always, _) => true,
            (Asked::Where(cases), Some(mask)) => {
                let mut held = tests(b, mask, true, DEEPEST);
                if let Some(guard) = stmt.guard {
                    held.extend(tests(b, guard, true, DEEPEST));
                }
                cases
                    .iter()
                    .any(|case| case.iter().all(|test| held.contains(test)))
            }
            _ => false,
        }
    }

    /// Whether a read is the last that was missing: each place along an axis is read by itself.
    fn completes(
        &mut self,
        b: &Builder,
        stmt: &Stmt<Bulk>,
        table: ValueId,
        at: &[(AxisId, ValueId)],
        asked: &Asked,
    ) -> bool {
        let (Asked::Always, &[(axis, index)], None) = (asked, at, stmt.guard) else {
            return false;
        };
        let others = |dim: &AxisId| *dim != axis && b.dims(table).contains(dim);
        let Some(places) = places(b, index).filter(|_| !b.dims(index).iter().any(others)) else {
            return false;
        };
        let read = self.places.entry((table, axis)).or_default();
        read.extend(places);
        b.extent(axis) == Extent::Const(read.len() as u64)
    }

    /// Whether each element of a table is read at some point: places are all along an axis, in some
    /// order.
    fn reads_all(&self, b: &Builder, table: ValueId, at: &[(AxisId, ValueId)]) -> bool {
        let mut fixed = b.dims(table);
        fixed.retain(|axis| at.iter().all(|(moved, _)| moved != axis));
        let mut along = Vec::new();
        at.iter().all(|&(axis, index)| {
            let extent = b.extent(axis);
            if self.indices.contains_key(&index) {
                return b.program.elem(index) == Elem::Index(extent);
            }
            let Some(name) = permuted(b, index) else {
                return false;
            };
            let new = !along.contains(&name) && !fixed.contains(&name);
            along.push(name);
            new && b.extent(name) == extent
        })
    }
}

/// The places that an index goes through, if they are known while compiling.
fn places(b: &Builder, index: ValueId) -> Option<Range<i128>> {
    match b.definition(index)? {
        BulkOp::Const(Lit::Int(_, place)) => Some(*place..place + 1),
        BulkOp::Iota(axis) => match b.extent(*axis) {
            Extent::Const(length @ ..=FEW) => Some(0..i128::from(length)),
            Extent::Const(_) | Extent::Size(_) | Extent::Value(_) => None,
        },
        BulkOp::Map(Prim::Trust(_) | Prim::Check(_) | Prim::Cast(_), args) => places(b, args[0]),
        BulkOp::Map(Prim::Add, args) => {
            let number = |value| match b.definition(value) {
                Some(&BulkOp::Const(Lit::Int(_, number))) => Some(number),
                _ => None,
            };
            let (place, others) = match (number(args[0]), number(args[1])) {
                (Some(place), _) => (place, places(b, args[1])?),
                (None, Some(place)) => (place, places(b, args[0])?),
                (None, None) => return None,
            };
            Some(others.start + place..others.end + place)
        }
        _ => None,
    }
}

/// The last change of a table between `state` and `next`, if all its changes are at the places of
/// these indices, of the loops around, each along one axis: then no other iteration changes it
/// there.
fn last_at_own_place(
    body: &Block<Bulk>,
    mut next: ValueId,
    state: ValueId,
    indices: &mut Vec<(ValueId, Option<AxisId>)>,
    mut last: Option<ValueId>,
) -> Option<Option<ValueId>> {
    while next != state {
        let stmt = body
            .stmts
            .iter()
            .find(|stmt| stmt.results.contains(&next))?;
        let (table, at) = match &stmt.op {
            BulkOp::Update { table, at, .. } => {
                last = last.or(Some(next));
                (*table, at)
            }
            BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                ..
            } => (*base, at),
            BulkOp::Loop { init, body, .. } => {
                let k = stmt.results.iter().position(|&result| result == next)?;
                let &state = body.params[1..].get(k)?;
                indices.push((body.params[0], None));
                last = last_at_own_place(body, body.results[k], state, indices, last)?;
                indices.pop();
                next = init[k];
                continue;
            }
            _ => return None,
        };
        for (index, along) in &mut *indices {
            let mut own = at.iter().filter(|(_, place)| place == index);
            let (axis, _) = own.find(|(axis, _)| along.is_none_or(|along| along == *axis))?;
            *along = Some(*axis);
        }
        next = table;
    }
    Some(last)
}

/// The axis of which an index goes through all places.
fn permuted(b: &Builder, index: ValueId) -> Option<AxisId> {
    match b.definition(index)? {
        BulkOp::Iota(axis) => Some(*axis),
        BulkOp::Map(Prim::Wrap(_), args) => shifted(b, args[0]),
        _ => None,
    }
}

/// The axis along which an integer is the place and something that is the same at all places.
fn shifted(b: &Builder, value: ValueId) -> Option<AxisId> {
    match b.definition(value)? {
        BulkOp::Iota(axis) => Some(*axis),
        BulkOp::Map(Prim::Cast(_), args) => shifted(b, args[0]),
        BulkOp::Map(Prim::Add | Prim::Sub, args) => {
            // Only what has an axis that the other lacks is looked into, not both again and again.
            let of = |k: usize| {
                let added = b.dims(args[1 - k]);
                let mut own = b.dims(args[k]);
                own.retain(|axis| !added.contains(axis));
                let axis = if own.is_empty() {
                    None
                } else {
                    shifted(b, args[k])
                };
                axis.filter(|axis| own.contains(axis))
            };
            of(0).or_else(|| of(1))
        }
        _ => None,
    }
}

/// What a truth value's ending so is a test of: what is `eq` in one place may be `ne` in another,
/// and of whole numbers `lt` may be `ge`.
fn test(b: &Builder, value: ValueId, truth: bool) -> Test {
    let Some(BulkOp::Map(prim, args)) = b.definition(value) else {
        return Test::Value(value, truth);
    };
    let whole = !b.program.elem(args[0]).is_float();
    match prim {
        Prim::Not => test(b, args[0], !truth),
        Prim::Eq => Test::Equal(args[0], args[1], truth),
        Prim::Ne => Test::Equal(args[0], args[1], !truth),
        Prim::Lt if whole => Test::Less(args[0], args[1], truth),
        Prim::Ge if whole => Test::Less(args[0], args[1], !truth),
        Prim::Gt if whole => Test::Less(args[1], args[0], truth),
        Prim::Le if whole => Test::Less(args[1], args[0], !truth),
        _ => Test::Value(value, truth),
    }
}

/// All that a truth value that ends so says.
pub(super) fn tests(b: &Builder, value: ValueId, truth: bool, deep: u32) -> Vec<Test> {
    let own = test(b, value, truth);
    let (Test::Value(value, truth), Some(deep)) = (own, deep.checked_sub(1)) else {
        return vec![own];
    };
    let never = |value| matches!(b.definition(value), Some(BulkOp::Const(Lit::Bool(false))));
    let parts = match b.definition(value) {
        Some(BulkOp::Map(Prim::And, args)) if truth => [args[0], args[1]],
        Some(BulkOp::Map(Prim::Or, args)) if !truth => [args[0], args[1]],
        Some(&BulkOp::Select(cond, then, otherwise)) if truth && never(otherwise) => [cond, then],
        _ => return vec![own],
    };
    let parts = parts
        .into_iter()
        .flat_map(|part| tests(b, part, truth, deep));
    std::iter::once(own).chain(parts).collect()
}

//! What scheduling needs to know of a Bulk program: where values come from, who reads them, what
//! they cost.

use std::collections::BTreeMap;

use super::coalesce::sum_of_products;
use super::contract::{Products, Shape, contraction};
use super::padding::Pads;
use super::scans::in_blocks;
use super::tasks::leaf_loop;
use crate::analysis::dataflow::{Flow, named_axes};
use crate::contract::scalar_replacement::SHORTEST;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Operation, Program, Stmt, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;

/// Computing a value again is preferred to storing it while it costs no more than this many simple
/// operations.
const CHEAP: u32 = 12;

/// Where nothing but arithmetic is behind a condition, a branch is preferred only if it saves more
/// than this.
const BRANCH: u32 = 200;

/// How many points a loop has that is unrolled rather than run.
const SHORT: u64 = 8;

/// What a value costs that is read from memory.
const LOAD: u32 = 2;

/// A truth value and what it must be.
pub(super) type Cond = (ValueId, bool);

/// Under which condition a value is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// By nobody.
    Never,
    /// On one side of selects on one condition only.
    When(Cond),
    /// Anywhere.
    Always,
}

impl Wanted {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, wanted) | (wanted, Self::Never) => wanted,
            (Self::When(a), Self::When(b)) if a == b => self,
            (Self::When(_) | Self::Always, Self::When(_) | Self::Always) => Self::Always,
        }
    }
}

/// Side tables over the values of a program.
pub(super) struct Facts<'p> {
    pub(super) program: &'p Program<Bulk>,
    /// The lengths of padded axes.
    pub(super) pads: &'p Pads,
    /// What is stored as a whole without any library: see [`schedule`](super::schedule).
    pub(super) stored: &'p ValueSet,
    /// Whether products of matrices are no contractions, as they would have to be stored for it.
    refused: bool,
    /// The statement that binds a value; none for parameters.
    sites: Vec<Option<&'p Stmt<Bulk>>>,
    /// The block that binds a value.
    homes: Vec<usize>,
    /// Blocks by address.
    blocks: BTreeMap<*const Block<Bulk>, usize>,
    /// Statements that read a value, wherever they stand, each with its block.
    readers: Vec<Vec<(&'p Stmt<Bulk>, usize)>>,
    /// By block: the statement that holds it, and that one's block.
    owners: Vec<Option<(&'p Stmt<Bulk>, usize)>>,
    /// Whether a value is a result of the block that binds it.
    given: Vec<bool>,
    /// Whether a value is read somewhere else than at the current point.
    gathered: Vec<bool>,
    /// Whether a value that could be computed at each use is computed once.
    kept: Vec<bool>,
    /// The factors of contractions: see [`contract`](super::contract).
    factors: Vec<Option<[ValueId; 2]>>,
    /// Which products of a contraction are terms.
    masks: BTreeMap<ValueId, ValueId>,
    /// See [`Facts::panels`].
    panels: BTreeMap<ValueId, Vec<AxisId>>,
    cost: Vec<u32>,
    /// Whether a value that is computed on demand is made by what vectors have too, of what is at
    /// the current point.
    plain: Vec<bool>,
    wanted: Vec<Wanted>,
    /// The guards that values stand behind: their own, and of what is read somewhere else and of
    /// indices also those of the indices that they are computed from.
    guards: ValueMap<Vec<ValueId>>,
}

/// Whether an operation is computed where its value is needed and not as a task of its own.
pub(super) fn on_demand(op: &BulkOp) -> bool {
    match op {
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. } => true,
        BulkOp::Pack { .. }
        | BulkOp::Reduce { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Scatter { .. }
        | BulkOp::Update { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => false,
    }
}

/// Simple operations that a primitive is worth.
pub(crate) fn price(prim: Prim, elem: Elem) -> u32 {
    match prim {
        Prim::Cast(_)
        | Prim::ToBits
        | Prim::FromBits
        | Prim::Trust(_)
        | Prim::StopGradient
        | Prim::Neg
        | Prim::Not
        | Prim::Abs => 1,
        Prim::Sqrt | Prim::Recip | Prim::Fract | Prim::Rem | Prim::RemEuclid | Prim::DivEuclid => 6,
        Prim::Div => {
            if elem.is_float() {
                4
            } else {
                8
            }
        }
        Prim::DivAbsorb | Prim::Powi => 4,
        Prim::Exp
        | Prim::Exp2
        | Prim::ExpM1
        | Prim::Ln
        | Prim::Log2
        | Prim::Log10
        | Prim::Ln1p
        | Prim::Sin
        | Prim::Cos
        | Prim::Tan
        | Prim::Asin
        | Prim::Acos
        | Prim::Atan
        | Prim::Atan2
        | Prim::Sinh
        | Prim::Cosh
        | Prim::Tanh
        | Prim::Asinh
        | Prim::Acosh
        | Prim::Atanh
        | Prim::Hypot
        | Prim::Powf
        | Prim::Cbrt
        | Prim::Pow => 20,
        // Whatever it does, it is done once.
        Prim::Call(_) => 1000,
        Prim::Add
        | Prim::Sub
        | Prim::Mul
        | Prim::MulAbsorb
        | Prim::Min
        | Prim::Max
        | Prim::And
        | Prim::Or
        | Prim::Xor
        | Prim::Shl
        | Prim::Shr
        | Prim::RotateLeft
        | Prim::RotateRight
        | Prim::CountOnes
        | Prim::LeadingZeros
        | Prim::TrailingZeros
        | Prim::ReverseBits
        | Prim::SwapBytes
        | Prim::Eq
        | Prim::Ne
        | Prim::Lt
        | Prim::Le
        | Prim::Gt
        | Prim::Ge
        | Prim::Signum
        | Prim::MulAdd
        | Prim::Copysign
        | Prim::Floor
        | Prim::Ceil
        | Prim::Round
        | Prim::Trunc
        | Prim::ToDegrees
        | Prim::ToRadians
        | Prim::IsNan
        | Prim::IsFinite
        | Prim::IsInfinite
        | Prim::IsSignNegative
        | Prim::IsSignPositive
        | Prim::Check(_)
        | Prim::InRange(_)
        | Prim::ClampTo(_) => 1,
        Prim::Wrap(_) | Prim::Mirror(_) => 4,
    }
}

impl<'p> Facts<'p> {
    pub(super) fn new(program: &'p Program<Bulk>, pads: &'p Pads, stored: &'p ValueSet) -> Self {
        let n = program.values.len();
        let mut facts = Self {
            program,
            pads,
            stored,
            refused: false,
            sites: vec![None; n],
            homes: vec![0; n],
            blocks: BTreeMap::new(),
            readers: vec![Vec::new(); n],
            owners: Vec::new(),
            given: vec![false; n],
            gathered: vec![false; n],
            kept: vec![false; n],
            factors: vec![None; n],
            masks: BTreeMap::new(),
            panels: BTreeMap::new(),
            cost: vec![LOAD; n],
            plain: vec![true; n],
            wanted: vec![Wanted::Never; n],
            guards: ValueMap::new(),
        };
        facts.survey(&program.body, None);
        facts.find_contractions(&program.body);
        facts.price_and_keep(&program.body);
        // Nobody reads what says how long something is, but it is wanted.
        for axis in &program.decls.axes {
            if let Extent::Value(v) = axis.extent {
                facts.wanted[v.index()] = Wanted::Always;
            }
        }
        facts.want(&program.body);
        facts
    }

    /// The statement that binds `value`.
    pub(super) fn site(&self, value: ValueId) -> Option<&'p Stmt<Bulk>> {
        self.sites[value.index()]
    }

    /// The block that binds `value`.
    pub(super) fn home(&self, value: ValueId) -> usize {
        self.homes[value.index()]
    }

    /// The number of a block.
    pub(super) fn block(&self, block: &Block<Bulk>) -> usize {
        self.blocks[&std::ptr::from_ref(block)]
    }

    pub(super) fn axes(&self, value: ValueId) -> &'p [AxisId] {
        &self.program.ty(value).dims
    }

    pub(super) fn extent(&self, axis: AxisId) -> Extent {
        self.program.decls.axes[axis.0 as usize].extent
    }

    /// Whether a condition says that there is anything along an axis, and nothing else.
    pub(super) fn is_not_empty(&self, cond: ValueId, axis: AxisId) -> bool {
        let op = |value: ValueId| self.site(value).map(|stmt| &stmt.op);
        let Some(BulkOp::Map(Prim::Gt, args)) = op(cond) else {
            return false;
        };
        matches!(op(args[0]), Some(BulkOp::Size(extent)) if *extent == self.extent(axis))
            && matches!(op(args[1]), Some(BulkOp::Const(Lit::Int(_, 0))))
    }

    /// The condition under which there is anything along an axis, if it is not longer than one.
    pub(super) fn exists(&self, axis: AxisId) -> Option<ValueId> {
        let Extent::Value(extent) = self.extent(axis) else {
            return None;
        };
        match &self.site(extent)?.op {
            BulkOp::Map(Prim::Cast(_), args)
                if self.program.elem(args[0]) == Elem::BOOL && self.axes(args[0]).is_empty() =>
            {
                Some(args[0])
            }
            _ => None,
        }
    }

    /// Whether a condition says that there is anything to combine into `value`.
    pub(super) fn is_not_empty_for(&self, cond: ValueId, value: ValueId) -> bool {
        let combined = self.site(value).map_or(&[][..], |stmt| reduced(&stmt.op));
        combined.iter().any(|&axis| self.is_not_empty(cond, axis))
    }

    pub(super) fn readers(&self, value: ValueId) -> &[(&'p Stmt<Bulk>, usize)] {
        &self.readers[value.index()]
    }

    /// The statement of `block` that `stmt` of `home` is, or is inside of.
    pub(super) fn statement_of(
        &self,
        mut stmt: &'p Stmt<Bulk>,
        mut home: usize,
        block: usize,
    ) -> Option<&'p Stmt<Bulk>> {
        while home != block {
            (stmt, home) = self.owners[home]?;
        }
        Some(stmt)
    }

    /// The statement that holds a block, and that one's block.
    pub(super) fn owner(&self, block: usize) -> Option<(&'p Stmt<Bulk>, usize)> {
        self.owners[block]
    }

    /// Whether anybody looks at the value.
    pub(super) fn is_read(&self, value: ValueId) -> bool {
        self.wanted(value) != Wanted::Never
    }

    /// Whether the block that binds the value also gives it.
    pub(super) fn given(&self, value: ValueId) -> bool {
        self.given[value.index()]
    }

    /// Whether it is read somewhere else than at the current point.
    pub(super) fn is_gathered(&self, value: ValueId) -> bool {
        self.gathered[value.index()]
    }

    /// Whether `value` is computed by a task of its own.
    pub(super) fn is_task(&self, value: ValueId) -> bool {
        self.site(value).is_some_and(|stmt| !on_demand(&stmt.op)) || self.kept[value.index()]
    }

    pub(super) fn wanted(&self, value: ValueId) -> Wanted {
        self.wanted[value.index()]
    }

    /// Simple operations that an operator is worth which works point for point.
    pub(super) fn price_of(&self, op: &Block<Bulk>) -> u32 {
        let prices = op.stmts.iter().map(|stmt| match &stmt.op {
            BulkOp::Map(prim, args) => price(*prim, self.program.elem(args[0])),
            BulkOp::Select(..) => 1,
            BulkOp::Gather { .. } => LOAD,
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => 0,
        });
        prices.fold(0, u32::saturating_add)
    }

    pub(super) fn is_dear(&self, value: ValueId) -> bool {
        self.cost[value.index()] > CHEAP
    }

    /// Whether a value is worth a branch around it, for the sides of a condition that do not want
    /// it.
    ///
    /// Points with branches do not become lanes of vectors, and a branch that is hard to foresee
    /// costs as much as a function or two.
    pub(super) fn is_worth_a_branch(&self, value: ValueId) -> bool {
        let cost = self.cost[value.index()];
        cost > if self.plain[value.index()] {
            BRANCH
        } else {
            CHEAP
        }
    }

    /// Whether a task may as well be done where nobody asks for what it gives: a function or a sum
    /// of a few, that vectors have too. With a branch around it points would be no lanes of theirs;
    /// a loop inside of them keeps them from that anyway.
    pub(super) fn is_plain_work(&self, stmt: &Stmt<Bulk>) -> bool {
        let (values, axes) = match &stmt.op {
            BulkOp::Reduce {
                axes,
                combine: Combine::Monoid(_),
                operands,
                ..
            } => (operands, axes.as_slice()),
            op if on_demand(op) => (&stmt.results, &[][..]),
            _ => return false,
        };
        let points = axes.iter().map(|&axis| match self.extent(axis) {
            Extent::Const(n) => n,
            Extent::Size(_) | Extent::Value(_) => u64::MAX,
        });
        let cost = values.iter().map(|value| self.cost[value.index()]);
        values.iter().all(|value| self.plain[value.index()])
            && cost.fold(0, u32::saturating_add) <= BRANCH
            && points.fold(1, u64::saturating_mul) <= SHORTEST
    }

    /// Whether a value is made by what vectors have too, of what is at the current point.
    fn is_plain(&self, op: &BulkOp) -> bool {
        let own = match op {
            BulkOp::Const(_) | BulkOp::Size(_) | BulkOp::Iota(_) | BulkOp::Select(..) => true,
            // Kernels bet that angles are near, and then these functions are vectors' too.
            BulkOp::Map(prim, args) => {
                prim.vectorises(self.program.elem(args[0])) || prim.takes_angle()
            }
            BulkOp::Gather { at, .. } => at.is_empty(),
            BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => false,
        };
        own && op
            .operands()
            .iter()
            .all(|value| self.kept[value.index()] || self.plain[value.index()])
    }

    /// Whether a loop over an axis is hardly one: several places in a row, which are no reason to
    /// leave another loop.
    fn is_short(&self, axis: AxisId) -> bool {
        matches!(self.extent(axis), Extent::Const(n) if n <= SHORT)
    }

    /// The axes that a statement runs over, in the order of its loops: those of its results, and
    /// those it combines along.
    pub(super) fn iteration(&self, stmt: &Stmt<Bulk>) -> Vec<AxisId> {
        let result = || stmt.results.first().map_or(&[][..], |&r| self.axes(r));
        let mut order = Vec::new();
        let push = |axes: &[AxisId], order: &mut Vec<AxisId>| {
            for &axis in axes {
                if !order.contains(&axis) {
                    order.push(axis);
                }
            }
        };
        if self.factors(stmt).is_some() {
            return self.panels(stmt).to_vec();
        }
        match &stmt.op {
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. } => {
                push(result(), &mut order);
            }
            BulkOp::Pack { axis, .. } => push(&without(result(), &[*axis]), &mut order),
            BulkOp::Reduce {
                combine: Combine::Custom { op, .. },
                ..
            } if !is_simple(op) => {
                push(&without(result(), &mixed(op)), &mut order);
            }
            BulkOp::Reduce { axes, operands, .. } => {
                for &operand in operands {
                    push(self.axes(operand), &mut order);
                }
                push(result(), &mut order);
                push(axes, &mut order);
            }
            BulkOp::Scan { axis, op, .. } => {
                let lanes = without(result(), &[*axis]);
                push(
                    &if is_simple(op) {
                        lanes
                    } else {
                        without(&lanes, &mixed(op))
                    },
                    &mut order,
                );
            }
            BulkOp::Scatter {
                at, over, value, ..
            } => {
                // Axes of the base in front of the first scattered one were around the accumulator; the others are inside its loops.
                let moved = |axis: &AxisId| at.iter().any(|(a, _)| a == axis);
                let outer = result().iter().position(moved).unwrap_or(0);
                push(&result()[..outer], &mut order);
                // As what is added lies.
                let lies = self.axes(*value);
                push(&without(over, lies), &mut order);
                let along = lies.iter().copied().filter(|axis| over.contains(axis));
                push(&along.collect::<Vec<_>>(), &mut order);
                let rest = result()[outer..].iter().copied();
                let (short, long): (Vec<_>, Vec<_>) = rest
                    .filter(|a| !moved(a))
                    .partition(|&axis| over.is_empty() && self.is_short(axis));
                push(&long, &mut order);
                push(&short, &mut order);
            }
            BulkOp::Update { at, .. } => {
                let moved: Vec<_> = at.iter().map(|&(a, _)| a).collect();
                push(&without(result(), &moved), &mut order);
            }
            // It is looked at wherever its guard is, which may know axes that it does not.
            BulkOp::Assert { cond, shown, .. } => {
                push(self.axes(*cond), &mut order);
                for &value in shown.iter().chain(&stmt.guard) {
                    push(self.axes(value), &mut order);
                }
            }
            BulkOp::Loop { lanes, .. }
            | BulkOp::While { lanes, .. }
            | BulkOp::Derive { lanes, .. }
            | BulkOp::Rule { lanes, .. } => push(lanes, &mut order),
        }
        self.nested(order)
    }

    /// These axes in an order in which each can be opened: after those on which its extent depends.
    pub(super) fn nested(&self, mut axes: Vec<AxisId>) -> Vec<AxisId> {
        let depends = |&axis: &AxisId| matches!(self.extent(axis), Extent::Value(_));
        if !axes.iter().any(depends) {
            return axes;
        }
        let mut nested = Vec::with_capacity(axes.len());
        while !axes.is_empty() {
            let free = |axis: &AxisId| match self.extent(*axis) {
                Extent::Value(size) => !self.axes(size).iter().any(|a| axes.contains(a)),
                Extent::Const(_) | Extent::Size(_) => true,
            };
            let first = axes.iter().position(free).unwrap_or(0);
            nested.push(axes.remove(first));
        }
        nested
    }

    fn survey(&mut self, block: &'p Block<Bulk>, owner: Option<(&'p Stmt<Bulk>, usize)>) {
        let id = self.blocks.len();
        self.blocks.insert(block, id);
        self.owners.push(owner);
        for &param in &block.params {
            self.homes[param.index()] = id;
        }
        for &result in &block.results {
            self.given[result.index()] = true;
        }
        for stmt in &block.stmts {
            for &result in &stmt.results {
                self.sites[result.index()] = Some(stmt);
                self.homes[result.index()] = id;
            }
            for operand in stmt.op.operands().into_iter().chain(stmt.guard) {
                self.readers[operand.index()].push((stmt, id));
            }
            self.note_guards(stmt);
            match &stmt.op {
                BulkOp::Gather { table, at } if !at.is_empty() => {
                    self.gathered[table.index()] = true
                }
                BulkOp::Update { table: base, .. } | BulkOp::Scatter { base, .. } => {
                    let is_const = self
                        .site(*base)
                        .is_some_and(|s| matches!(s.op, BulkOp::Const(_)));
                    self.gathered[base.index()] |= !is_const;
                }
                BulkOp::Scan { operands, op, .. }
                | BulkOp::Reduce {
                    combine: Combine::Custom { op, .. },
                    operands,
                    ..
                } if !is_simple(op) => {
                    operands
                        .iter()
                        .for_each(|v| self.gathered[v.index()] = true);
                }
                _ => {}
            }
            let inside = self.blocks.len();
            for inner in stmt.op.blocks() {
                self.survey(inner, Some((stmt, id)));
            }
            self.end_states(stmt, inside);
        }
    }

    /// Notes what a value stands behind: the guards of these, where they are indices, as far as they
    /// can be asked wherever the value is: they are made outside of blocks from the number
    /// `inside` on.
    ///
    /// ```text
    /// %2[w] = check J %1 if %0       there is no %2 where %0 does not hold, and J may be empty:
    /// %3[w] = gather q [j := %2]     so %3 stands behind %0 as well
    /// ```
    fn stand_behind(&mut self, value: ValueId, of: &[ValueId], inside: usize) {
        let own = self.axes(value);
        let indices = of.iter().filter(|&&of| self.is_index(of));
        let guards = indices.flat_map(|&index| self.guards(index));
        let guards = guards.filter(|guard| {
            self.homes[guard.index()] < inside
                && self.axes(**guard).iter().all(|axis| own.contains(axis))
        });
        let new: Vec<ValueId> = guards.copied().collect();
        if !new.is_empty() {
            let all = self.guards.or_default(value);
            all.extend(new);
            all.sort_unstable();
            all.dedup();
        }
    }

    fn is_index(&self, value: ValueId) -> bool {
        matches!(self.program.elem(value), Elem::Index(_))
    }

    /// Notes what the results of a statement stand behind, and what its blocks begin with.
    fn note_guards(&mut self, stmt: &'p Stmt<Bulk>) {
        for (&result, guard) in stmt.results.iter().zip(stmt.guard.iter().cycle()) {
            self.guards.insert(result, vec![*guard]);
        }
        match &stmt.op {
            BulkOp::Gather { .. } => {
                self.stand_behind(stmt.results[0], &stmt.op.operands(), usize::MAX)
            }
            // One side of a select may be there.
            BulkOp::Map(_, operands) if self.is_index(stmt.results[0]) => {
                self.stand_behind(stmt.results[0], operands, usize::MAX);
            }
            BulkOp::Loop { init, body, .. } => self.begin_states(init, &body.params[1..]),
            BulkOp::While {
                init, cond, body, ..
            } => {
                self.begin_states(init, &cond.params);
                self.begin_states(init, &body.params);
            }
            _ => {}
        }
    }

    fn begin_states(&mut self, init: &[ValueId], states: &[ValueId]) {
        for (&init, &state) in init.iter().zip(states) {
            if self.is_index(state) {
                self.stand_behind(state, &[init], usize::MAX);
            }
        }
    }

    /// Notes what the results of a loop stand behind, whose blocks have numbers from `inside` on.
    fn end_states(&mut self, stmt: &'p Stmt<Bulk>, inside: usize) {
        let (BulkOp::Loop { init, body, .. } | BulkOp::While { init, body, .. }) = &stmt.op else {
            return;
        };
        for (number, (&result, &last)) in stmt.results.iter().zip(&body.results).enumerate() {
            if self.is_index(result) {
                let first = init.get(number).copied();
                let of: Vec<ValueId> = first.into_iter().chain([last]).collect();
                self.stand_behind(result, &of, inside);
            }
        }
    }

    /// The guards that a value stands behind.
    pub(super) fn guards(&self, value: ValueId) -> &[ValueId] {
        self.guards.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Finds contractions in a block outside of all lanes. Their factors are looked at as a whole.
    fn find_contractions(&mut self, block: &'p Block<Bulk>) {
        // What is made of a contraction may be a factor of another.
        for stmt in block.stmts.iter().rev() {
            self.refused |= matches!(sum_of_products(self, stmt), Some((_, false)));
            if let Some(products) = contraction(self, stmt) {
                self.note_contraction(stmt.results[0], products);
            }
            match &stmt.op {
                BulkOp::Loop { lanes, body, .. } | BulkOp::While { lanes, body, .. }
                    if lanes.is_empty() =>
                {
                    self.find_contractions(body);
                }
                _ => {}
            }
        }
    }

    fn note_contraction(
        &mut self,
        result: ValueId,
        Products {
            factors,
            panels,
            mask,
        }: Products,
    ) {
        let Some(panels) = panels else {
            self.refused = true;
            return;
        };
        for factor in factors {
            let made = !panels.is_empty() && !Shape::fits(self, factor);
            if !made {
                let whole = self.slice(factor).map_or(factor, |(table, _)| table);
                self.gathered[whole.index()] = true;
            }
        }
        if let Some(mask) = mask {
            self.gathered[mask.index()] = true;
            self.masks.insert(result, mask);
        }
        self.factors[result.index()] = Some(factors);
        self.panels.insert(result, panels);
    }

    /// The axes along which a contraction is done one place after the other.
    pub(super) fn panels(&self, stmt: &Stmt<Bulk>) -> &[AxisId] {
        let result = stmt.results.first();
        let panels = result.and_then(|result| self.panels.get(result));
        panels.map_or(&[], Vec::as_slice)
    }

    /// Which products of a contraction are terms, if not all.
    pub(super) fn mask(&self, stmt: &Stmt<Bulk>) -> Option<ValueId> {
        let result = stmt.results.first();
        result.and_then(|result| self.masks.get(result).copied())
    }

    /// Whether products of matrices are no contractions, as they would have to be stored for it.
    pub(super) fn refuses(&self) -> bool {
        self.refused
    }

    /// How many contractions there are.
    pub(super) fn contractions(&self) -> usize {
        self.factors.iter().flatten().count()
    }

    /// The factors of a contraction.
    pub(super) fn factors(&self, stmt: &Stmt<Bulk>) -> Option<[ValueId; 2]> {
        stmt.results
            .first()
            .and_then(|result| self.factors[result.index()])
    }

    /// Whether a statement runs loops of its own at one point of its axes.
    pub(super) fn is_leaf(&self, stmt: &Stmt<Bulk>) -> bool {
        leaf_loop(&stmt.op) || self.factors(stmt).is_some()
    }

    /// The axes along which a statement combines values in the loops around it: its results do not
    /// have them.
    pub(super) fn reduced(&self, stmt: &Stmt<Bulk>) -> Vec<AxisId> {
        match self.factors(stmt) {
            Some(_) => Vec::new(),
            None => reduced(&stmt.op).to_vec(),
        }
    }

    /// Costs, in order; and which values are dear enough, and needed often enough, to be computed
    /// once.
    fn price_and_keep(&mut self, block: &'p Block<Bulk>) {
        for stmt in &block.stmts {
            for inner in stmt.op.blocks() {
                self.price_and_keep(inner);
            }
            if !on_demand(&stmt.op) {
                continue;
            }
            let value = stmt.results[0];
            let elem = stmt
                .op
                .operands()
                .first()
                .map_or(Elem::F64, |&v| self.program.elem(v));
            let own = match &stmt.op {
                BulkOp::Map(prim, _) => price(*prim, elem),
                BulkOp::Select(..) => 1,
                BulkOp::Gather { .. } => LOAD,
                _ => 0,
            };
            let cost = stmt
                .op
                .operands()
                .iter()
                .fold(own, |sum, v| sum.saturating_add(self.cost_at_use(*v)));
            self.cost[value.index()] = cost;
            self.plain[value.index()] = self.is_plain(&stmt.op);
            let axes = self.axes(value);
            let again = self.readers(value).len() + usize::from(self.given(value)) > 1
                || self.readers(value).iter().any(|&(reader, home)| {
                    home != self.home(value)
                        || in_blocks(self, reader)
                        || self.iteration(reader).iter().any(|a| !axes.contains(a))
                });
            let worth = match &stmt.op {
                // A branch is taken where it is asked for, and so at each point of a kernel.
                &BulkOp::Select(_, then, otherwise) if axes.is_empty() => {
                    let sides = [then, otherwise].map(|side| self.whole_cost(side));
                    sides[0].saturating_add(sides[1]) > CHEAP
                }
                _ => !axes.is_empty() && cost > CHEAP && again,
            };
            #[cfg(test)]
            if worth && axes.is_empty() {
                crate::testing::entered::enter(&crate::testing::entered::BRANCHED);
            }
            self.kept[value.index()] = self.gathered[value.index()] || worth;
        }
    }

    /// Whether a condition says something everywhere: one that stands behind another is known only
    /// where that holds, and so is what it decides.
    pub(super) fn is_asked(&self, cond: ValueId) -> bool {
        let inside = match self.site(cond).map(|stmt| &stmt.op) {
            Some(&BulkOp::Select(inside, ..)) => self.is_asked(inside),
            _ => true,
        };
        inside && self.guards(cond).is_empty()
    }

    /// What a number costs with all that is computed for it, as far as that is more than a branch.
    fn whole_cost(&self, value: ValueId) -> u32 {
        let (mut sum, mut left, mut seen) = (0_u32, vec![value], ValueSet::new());
        while let Some(value) = left.pop() {
            let Some(stmt) = self.site(value) else {
                continue;
            };
            if sum > CHEAP || self.is_task(value) || !seen.insert(value) {
                continue;
            }
            sum = sum.saturating_add(self.cost[value.index()]);
            left.extend(stmt.op.operands());
        }
        sum
    }

    /// What a value adds to the cost of one that needs it. A scalar is computed once, outside of
    /// all loops.
    fn cost_at_use(&self, value: ValueId) -> u32 {
        if self.axes(value).is_empty() {
            return 0;
        }
        match self.site(value) {
            Some(stmt) if on_demand(&stmt.op) && !self.kept[value.index()] => {
                self.cost[value.index()]
            }
            Some(_) => LOAD,
            None => 0,
        }
    }

    /// Under which conditions values are looked at, from the last to the first.
    fn want(&mut self, block: &'p Block<Bulk>) {
        for &result in &block.results {
            self.wanted[result.index()] = Wanted::Always;
        }
        for stmt in block.stmts.iter().rev() {
            let mut mine = match stmt.guard {
                Some(guard) => Wanted::When((guard, true)),
                None => stmt
                    .results
                    .iter()
                    .fold(Wanted::Never, |w, r| w.or(self.wanted[r.index()])),
            };
            // What is a task is run although nobody looks at what it gives: it may be there to panic.
            if mine == Wanted::Never && !on_demand(&stmt.op) {
                mine = Wanted::Always;
            }
            // A condition speaks of the point at which the result is looked at. Along axes that the
            // statement or its blocks name it reads elsewhere. A guarded loop runs where its guard
            // holds, and so speaks of its lanes.
            let in_lanes = stmt.guard.is_some() && !stmt.op.lanes().is_empty();
            let elsewhere = match mine {
                Wanted::When((cond, _)) if !in_lanes => {
                    let (axes, mut moved) = (self.axes(cond), moved(&stmt.op).into_iter());
                    let is_moved = moved.any(|axis| axes.contains(&axis));
                    #[cfg(test)]
                    if matches!(stmt.op, BulkOp::Loop { .. }) && !axes.is_empty() {
                        use crate::testing::entered::{WANTED_BEFORE, WANTED_WHOLE, enter};
                        enter(match is_moved {
                            true => &WANTED_WHOLE,
                            false => &WANTED_BEFORE,
                        });
                    }
                    if is_moved { Wanted::Always } else { mine }
                }
                _ => mine,
            };
            let mut note = |value: ValueId, wanted: Wanted| {
                let old = self.wanted[value.index()];
                self.wanted[value.index()] = old.or(wanted);
            };
            match &stmt.op {
                BulkOp::Select(cond, then, otherwise) => {
                    note(*cond, mine);
                    note(*then, Wanted::When((*cond, true)));
                    note(*otherwise, Wanted::When((*cond, false)));
                }
                BulkOp::Gather { table, at } => {
                    note(*table, elsewhere);
                    at.iter().for_each(|&(_, index)| note(index, mine));
                }
                BulkOp::Update {
                    table,
                    at,
                    value,
                    mask: Some(mask),
                } => {
                    note(*table, elsewhere);
                    note(*mask, mine);
                    let inside = at.iter().map(|&(_, index)| index).chain([*value]);
                    inside.for_each(|v| note(v, Wanted::When((*mask, true))));
                }
                op => op.operands().into_iter().for_each(|v| note(v, elsewhere)),
            }
            for extent in Bulk::extents(self.program, &stmt.op) {
                note(extent, Wanted::Always);
            }
            if let Some(guard) = stmt.guard {
                note(guard, Wanted::Always);
            }
            for inner in stmt.op.blocks() {
                for value in inner.free() {
                    self.wanted[value.index()] = Wanted::Always;
                }
                self.want(inner);
            }
        }
    }
}

/// The axes of `all` that are not among `some`.
pub(super) fn without(all: &[AxisId], some: &[AxisId]) -> Vec<AxisId> {
    all.iter().copied().filter(|a| !some.contains(a)).collect()
}

/// The axes along which an operation does so.
pub(super) fn reduced(op: &BulkOp) -> &[AxisId] {
    match op {
        BulkOp::Reduce {
            combine: Combine::Custom { op, .. },
            ..
        } if !is_simple(op) => &[],
        BulkOp::Reduce { axes, .. } => axes,
        BulkOp::Scatter { over, .. } => over,
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Map(..)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Update { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => &[],
    }
}

/// Whether an operator works point for point, so that it can be applied wherever its operands are
/// known.
pub(crate) fn is_simple(op: &Block<Bulk>) -> bool {
    op.stmts.iter().all(|stmt| {
        let whole =
            matches!(&stmt.op, BulkOp::Gather { at, .. } if !at.is_empty()) || stmt.guard.is_some();
        on_demand(&stmt.op) && !whole
    })
}

/// Whether an operation costs no more than a few additions at each point.
pub(crate) fn is_cheap(program: &Program<Bulk>, op: &BulkOp) -> bool {
    match op {
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. } => true,
        BulkOp::Map(prim, args) => price(*prim, program.elem(args[0])) <= 4,
        BulkOp::Pack { .. }
        | BulkOp::Reduce { .. }
        | BulkOp::Scan { .. }
        | BulkOp::Scatter { .. }
        | BulkOp::Update { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => false,
    }
}

/// The axes that an operator does more with than run along them.
pub(crate) fn mixed(block: &Block<Bulk>) -> Vec<AxisId> {
    block
        .stmts
        .iter()
        .flat_map(|stmt| moved(&stmt.op))
        .collect()
}

/// The axes that an operation or its blocks name.
fn moved(op: &BulkOp) -> Vec<AxisId> {
    let inside = op.blocks().into_iter().flat_map(mixed);
    named_axes(op).into_iter().chain(inside).collect()
}

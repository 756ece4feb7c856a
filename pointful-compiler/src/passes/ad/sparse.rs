//! Accumulations that derivatives make of reads, made cheaper where it is known where they go.
//!
//! # One place
//!
//! The cotangent of an element that was picked (a minimum, a table read at one index) is an array that is zero but in one place. What is
//! multiplied by it, or summed, need not be computed anywhere else: the place is moved outwards, through products and sums, until what is
//! left is one accumulation of what there is at the place.
//!
//! # Shifts
//!
//! What was read at `i + c` is accumulated at `i + c`; that is to read the contributions at `i - c`, and needs no accumulation. Where the read
//! was clamped at the ends, the ends have the contributions of the few places beyond them, too; where it was made only in range, there is nothing
//! from beyond the ends.
//!
//! # Before and after
//!
//! ```text
//! %0[n, k] = scatter add 0 [k := %e] over [] %v      %1[n] = gather x [k := %e]
//! %1[n, k] = mul x, %0                               %2[n] = mul %1, %v
//! %2[k] = reduce add [n] %1                          %3[k] = scatter add 0 [k := %e] over [n] %2
//! ```

use std::collections::BTreeSet;

use super::build::Builder;
use super::known::{Defs, is_small};
use super::written::write_down;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, Stmt, ValueId,
};
use crate::ops::Prim;
use crate::passes::dce::dce;
use crate::passes::flow::Flow;
use crate::passes::subst::Subst;
use crate::passes::{Pass, is_cheap};

/// The pass.
pub const SPARSE: Pass<Bulk> = Pass {
    name: "sparse",
    about: "compute what is accumulated in one place at that place only, and what is accumulated at a shift by reading at the shift back",
    run: sparse,
};

/// How many cheap definitions a read elsewhere is moved through.
const THROUGH: u32 = 8;

/// So many cheap definitions are rather stored than evaluated twice.
const AGAIN: u32 = 3;

/// How far a clamped shift may go to be turned into reads.
const FAR: i128 = 4;

/// Moves places outwards, and turns shifts back.
pub fn sparse(program: &Program<Bulk>) -> Program<Bulk> {
    let mut program = program.clone();
    let body = std::mem::take(&mut program.body);
    let mut summed = BTreeSet::new();
    sums(&body, &mut summed);
    let mut walk = Walk {
        b: Builder::new(program),
        defs: Defs::default(),
        summed,
        subst: Subst::new(),
        depth: 0,
    };
    let body = walk.block(body);
    let Walk { b, subst, .. } = walk;
    let mut program = b.program;
    program.body = body;
    subst.types(&mut program);
    Bulk::retype(&mut program);
    write_down(dce(&program))
}

/// Finds the axes along which something is added up.
fn sums(block: &Block<Bulk>, summed: &mut BTreeSet<AxisId>) {
    for stmt in &block.stmts {
        if let BulkOp::Reduce { axes: over, .. } | BulkOp::Scatter { over, .. } = &stmt.op {
            summed.extend(over);
        }
        for inner in stmt.op.blocks() {
            sums(inner, summed);
        }
    }
}

/// An array that is zero but at one place for each point of its other axes.
#[derive(Clone)]
struct Spot {
    at: Vec<(AxisId, ValueId)>,
    value: ValueId,
    mask: Option<ValueId>,
}

struct Walk {
    b: Builder,
    defs: Defs,
    /// The axes along which something is added up.
    summed: BTreeSet<AxisId>,
    subst: Subst,
    /// How many blocks are around.
    depth: u32,
}

impl Walk {
    fn block(&mut self, mut block: Block<Bulk>) -> Block<Bulk> {
        self.b.enter();
        self.depth += 1;
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt);
        }
        self.depth -= 1;
        self.subst.results(&mut block);
        block.stmts = self.b.leave().primal;
        block
    }

    fn stmt(&mut self, mut stmt: Stmt<Bulk>) {
        self.subst.stmt(&mut stmt);
        for inner in stmt.op.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = self.block(block);
        }
        self.b.span = stmt.span;
        let made = self.b.program.values.len();
        if let (&[result], None) = (stmt.results.as_slice(), stmt.guard)
            && let Some(value) = self
                .moved(&stmt.op)
                .or_else(|| self.shifted(&stmt.op))
                .or_else(|| self.chosen(&stmt.op))
        {
            let order = self.b.dims(result);
            if value.index() >= made {
                self.b.lay_out(value, &order);
            }
            return self.subst.replace(result, value);
        }
        self.defs.note(&stmt);
        self.b.push(stmt);
    }

    fn emit(&mut self, op: BulkOp) -> ValueId {
        let value = self.b.emit(op.clone());
        if self.b.guard.is_none() {
            self.defs.insert(value, op);
        }
        value
    }

    fn is_zero(&self, value: ValueId) -> bool {
        match self.defs.of(value) {
            Some(BulkOp::Const(Lit::F64(bits))) => f64::from_bits(*bits) == 0.0,
            Some(BulkOp::Const(Lit::F32(bits))) => f32::from_bits(*bits) == 0.0,
            _ => false,
        }
    }

    // ---- One place

    fn spot(&mut self, value: ValueId) -> Option<Spot> {
        if let Some((axis, along)) = self.identity(value) {
            let one = Lit::of(self.b.program.elem(value).repr(), 1.0);
            let one = self.emit(BulkOp::Const(one));
            return Some(Spot {
                at: vec![(axis, along)],
                value: one,
                mask: None,
            });
        }
        match self.defs.of(value)? {
            BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                over,
                value,
                mask,
            } if over.is_empty() && !at.is_empty() && self.is_zero(*base) => Some(Spot {
                at: at.clone(),
                value: *value,
                mask: *mask,
            }),
            _ => None,
        }
    }

    /// Where the ones of an identity matrix are: along an axis of which sums are taken, for each point of the other.
    fn identity(&self, value: ValueId) -> Option<(AxisId, ValueId)> {
        let Some(BulkOp::Map(Prim::Cast(Scalar::F32 | Scalar::F64), args)) = self.defs.of(value)
        else {
            return None;
        };
        let Some(BulkOp::Map(Prim::Eq, args)) = self.defs.of(args[0]) else {
            return None;
        };
        let iota = |value: ValueId| match self.defs.of(value) {
            Some(BulkOp::Iota(axis)) => Some(*axis),
            _ => None,
        };
        let (first, second) = (iota(args[0])?, iota(args[1])?);
        let places = [(second, args[0]), (first, args[1])];
        let along = |(axis, _): &(AxisId, ValueId)| self.summed.contains(axis);
        places.into_iter().find(along).filter(|_| first != second)
    }

    /// The value of an operation on an array with one place.
    fn moved(&mut self, op: &BulkOp) -> Option<ValueId> {
        match op {
            BulkOp::Map(Prim::Mul, args) => {
                let (k, spot) = (0..2).find_map(|k| Some((k, self.spot(args[k])?)))?;
                let factor = self.read(args[1 - k], &spot);
                Some(self.put(spot, |walk, value| walk.b.map(Prim::Mul, &[factor, value])))
            }
            BulkOp::Map(Prim::Div, args) => {
                let spot = self.spot(args[0])?;
                let divisor = self.read(args[1], &spot);
                Some(self.put(spot, |walk, value| walk.b.map(Prim::Div, &[value, divisor])))
            }
            BulkOp::Map(prim @ (Prim::Neg | Prim::Cast(Scalar::F32 | Scalar::F64)), args) => {
                let spot = self.spot(args[0])?;
                Some(self.put(spot, |walk, value| walk.b.map(*prim, &[value])))
            }
            BulkOp::Select(cond, then, otherwise) => {
                let k = [*otherwise, *then]
                    .into_iter()
                    .position(|v| self.is_zero(v))?;
                let spot = self.spot([*then, *otherwise][k])?;
                let cond = self.read(*cond, &spot);
                Some(self.put(spot, |walk, value| {
                    let zero = walk.b.number(value, 0.0);
                    let sides = [[value, zero], [zero, value]][k];
                    walk.b.select(cond, sides[0], sides[1])
                }))
            }
            // It is there if that is the place.
            BulkOp::Gather { table, at } => {
                let Spot {
                    at: places,
                    value,
                    mask: None,
                } = self.spot(*table)?
                else {
                    return None;
                };
                let mut value = self.b.gather(value, at);
                for (axis, place) in places {
                    let &(_, index) = at.iter().find(|(moved, _)| *moved == axis)?;
                    let place = self.read_at(place, at, &mut { THROUGH });
                    let here = self.b.map(Prim::Eq, &[place, index]);
                    value = self.b.masked(Some(here), value);
                }
                Some(value)
            }
            // What is accumulated of it is so from there only.
            BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                over,
                value,
                mask: None,
            } => {
                let spot = self.spot(*value)?;
                let own = |axis: &AxisId| spot.at.iter().any(|(place, _)| place == axis);
                if over.is_empty() || !spot.at.iter().all(|(axis, _)| over.contains(axis)) {
                    return None;
                }
                let at = at
                    .iter()
                    .map(|&(axis, index)| (axis, self.read(index, &spot)))
                    .collect();
                let over = over.iter().copied().filter(|axis| !own(axis)).collect();
                Some(self.emit(BulkOp::Scatter {
                    monoid: Monoid::Add,
                    base: *base,
                    at,
                    over,
                    value: spot.value,
                    mask: spot.mask,
                }))
            }
            BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Add),
                axes,
                operands,
            } => {
                let Spot { at, value, mask } = self.spot(operands[0])?;
                let dims = self.b.dims(operands[0]);
                if axes.iter().any(|axis| !dims.contains(axis)) {
                    return None;
                }
                let place = |axis: &AxisId| at.iter().any(|(place, _)| place == axis);
                let over: Vec<AxisId> = axes.iter().copied().filter(|a| !place(a)).collect();
                let left: Vec<_> = at
                    .iter()
                    .copied()
                    .filter(|(place, _)| !axes.contains(place))
                    .collect();
                if left.is_empty() {
                    let value = self.b.masked(mask, value);
                    return Some(self.b.sum(value, &over));
                }
                let base = self.b.number(value, 0.0);
                self.defs.insert(base, BulkOp::Const(self.zero(value)));
                Some(self.emit(BulkOp::Scatter {
                    monoid: Monoid::Add,
                    base,
                    at: left,
                    over,
                    value,
                    mask,
                }))
            }
            _ => None,
        }
    }

    /// Takes from `left` what it takes to compute something at each of its points from what is dear, or the same at many.
    fn work(&self, value: ValueId, left: &mut u32) {
        let dims = self.b.dims(value).len();
        if let Some(op @ (BulkOp::Map(..) | BulkOp::Select(..))) = self.defs.used(value)
            && is_cheap(&self.b.program, op)
            && *left > 0
        {
            *left -= 1;
            for operand in op.operands() {
                if self.b.dims(operand).len() == dims {
                    self.work(operand, left);
                }
            }
        }
    }

    /// Whether a condition says that there is anything along an axis, and nothing else.
    fn has_members(&self, cond: ValueId, axis: AxisId) -> bool {
        let Some(BulkOp::Map(Prim::Gt, args)) = self.defs.of(cond) else {
            return false;
        };
        matches!(self.defs.of(args[0]), Some(BulkOp::Size(extent)) if *extent == self.b.extent(axis))
            && matches!(self.defs.of(args[1]), Some(BulkOp::Const(Lit::Int(_, 0))))
    }

    /// What is added in one place to an array that is computed point for point: at each point it is known whether it is the place.
    fn chosen(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        } = op
        else {
            return None;
        };
        let computed = matches!(
            self.defs.of(*base),
            Some(BulkOp::Map(..) | BulkOp::Select(..))
        );
        // Inside of a loop an array that changes in one place is changed in place. What takes more to compute again than to store is stored.
        let mut left = AGAIN;
        self.work(*base, &mut left);
        if !over.is_empty() || at.is_empty() || !computed || self.depth > 1 || left == 0 {
            return None;
        }
        // Where there is a point there is something along its axes.
        let needed = |mask: &ValueId| !at.iter().any(|&(axis, _)| self.has_members(*mask, axis));
        let mut here = mask.filter(needed);
        for &(axis, index) in at {
            let is_place = self.b.behind(*mask, |b| {
                let iota = b.emit(BulkOp::Iota(axis));
                let own = b.map(Prim::Cast(Scalar::Usize), &[iota]);
                let place = b.map(Prim::Cast(Scalar::Usize), &[index]);
                b.map(Prim::Eq, &[own, place])
            });
            here = self.b.both(here, Some(is_place));
        }
        let more = self.b.behind(*mask, |b| b.map(Prim::Add, &[*base, *value]));
        Some(self.b.select(here?, more, *base))
    }

    fn zero(&self, like: ValueId) -> Lit {
        Lit::of(self.b.program.elem(like).repr(), 0.0)
    }

    /// Another array at the place.
    fn read(&mut self, value: ValueId, spot: &Spot) -> ValueId {
        let outer = std::mem::replace(&mut self.b.guard, spot.mask);
        let read = self.read_at(value, &spot.at, &mut { THROUGH });
        self.b.guard = outer;
        read
    }

    /// Puts something else in the place.
    fn put(&mut self, spot: Spot, make: impl FnOnce(&mut Self, ValueId) -> ValueId) -> ValueId {
        let outer = std::mem::replace(&mut self.b.guard, spot.mask);
        let value = make(self, spot.value);
        self.b.guard = outer;
        let base = self.b.number(value, 0.0);
        self.defs.insert(base, BulkOp::Const(self.zero(value)));
        self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at: spot.at,
            over: Vec::new(),
            value,
            mask: spot.mask,
        })
    }

    /// Reads elsewhere what a few cheap definitions give: they are evaluated there.
    fn read_at(&mut self, value: ValueId, at: &[(AxisId, ValueId)], budget: &mut u32) -> ValueId {
        let dims = self.b.dims(value);
        if at.iter().all(|(axis, _)| !dims.contains(axis)) {
            return value;
        }
        let definition = self.defs.of(value).cloned();
        match definition {
            Some(op @ (BulkOp::Map(..) | BulkOp::Select(..)))
                if *budget > 0 && is_cheap(&self.b.program, &op) && !may_panic(&self.b, &op) =>
            {
                *budget -= 1;
                let mut op = op;
                let mut operands = op.operands().into_iter();
                let mut read = Vec::new();
                for operand in operands.by_ref() {
                    read.push(self.read_at(operand, at, budget));
                }
                let mut read = read.into_iter();
                op.for_each_operand_mut(&mut |operand| {
                    *operand = read.next().unwrap_or(*operand);
                });
                self.emit(op)
            }
            Some(BulkOp::Iota(axis)) => {
                let place = at.iter().find(|(place, _)| *place == axis);
                place.map_or(value, |&(_, index)| index)
            }
            _ => self.b.gather(value, at),
        }
    }

    // ---- Shifts

    /// An accumulation at places that are those of other axes, shifted.
    fn shifted(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        } = op
        else {
            return None;
        };
        // Those will be written down.
        if at.iter().all(|&(axis, index)| {
            is_small(&self.b, axis) && self.defs.known(&self.b, index).is_some()
        }) {
            return None;
        }
        let shifts: Vec<Shift> = at
            .iter()
            .map(|&(axis, index)| self.shift(axis, index, over))
            .collect::<Option<_>>()?;
        let dims = self.b.dims(*value);
        let apart = |(k, shift): (usize, &Shift)| {
            let others = shifts.iter().enumerate().filter(|&(other, _)| other != k);
            others.map(|(_, other)| other.from).all(|from| {
                from != shift.from
                    && !shift
                        .by
                        .iter()
                        .any(|&(_, value)| self.b.dims(value).contains(&from))
            })
        };
        let fits = |shift: &Shift| {
            let renamed = shift.from != shift.axis;
            !(renamed && (over.contains(&shift.axis) || dims.contains(&shift.axis)))
        };
        if shifts.is_empty() || !shifts.iter().all(fits) || !shifts.iter().enumerate().all(apart) {
            return None;
        }
        let mut value = self.b.masked(*mask, *value);
        if mask.is_some() {
            let zero = self.b.number(value, 0.0);
            if let Some(mask) = mask {
                self.defs
                    .insert(value, BulkOp::Select(*mask, value_of(op), zero));
            }
        }
        for shift in &shifts {
            value = self.back(value, shift);
        }
        let rest: Vec<AxisId> = over
            .iter()
            .copied()
            .filter(|axis| shifts.iter().all(|shift| shift.from != *axis))
            .collect();
        let value = self.b.sum(value, &rest);
        if self.is_zero(*base) {
            return Some(value);
        }
        Some(self.emit(BulkOp::Map(Prim::Add, vec![*base, value])))
    }

    /// How an index is that of an axis, one of `over`, shifted.
    fn shift(&self, axis: AxisId, index: ValueId, over: &[AxisId]) -> Option<Shift> {
        let BulkOp::Map(prim, args) = self.defs.used(index)? else {
            return None;
        };
        match prim {
            Prim::Wrap(e) | Prim::ClampTo(e) | Prim::Trust(e) | Prim::Check(e)
                if *e == self.b.extent(axis) => {}
            _ => return None,
        }
        let mut sum = Vec::new();
        self.terms(args[0], true, &mut sum)?;
        let is_whole = |from: AxisId| self.b.extent(from) == self.b.extent(axis);
        // Where there is neither a window nor only one thing sent to a place, the places may be few of all.
        let simple = |&(_, term): &(bool, ValueId)| {
            matches!(self.defs.used(term), Some(BulkOp::Const(_))) || self.place(term).is_some()
        };
        let windows = sum
            .iter()
            .filter(|(_, term)| self.place(*term).is_some())
            .count()
            > 1;
        let may_part = !matches!(prim, Prim::Wrap(_))
            && sum.iter().all(simple)
            && (windows || over.len() == 1);
        let mut candidates = over.iter().copied().filter(|&from| {
            let (own, others): (Vec<_>, Vec<_>) = sum
                .iter()
                .partition(|(_, term)| self.place(*term) == Some(from));
            own.len() == 1
                && !others
                    .iter()
                    .any(|(_, term)| self.b.dims(*term).contains(&from))
                && (is_whole(from) || (may_part && self.is_part(from, axis)))
        });
        let from = candidates
            .clone()
            .find(|&from| is_whole(from))
            .or_else(|| candidates.next())?;
        let place = sum
            .iter()
            .position(|(_, term)| self.place(*term) == Some(from))?;
        let (forwards, _) = sum.remove(place);
        let shift = Shift {
            axis,
            from,
            prim: *prim,
            forwards,
            by: sum,
        };
        let near = || {
            let (least, most) = self.bounds(&shift.by)?;
            (forwards && is_whole(from) && -least <= FAR && most <= FAR).then_some(())
        };
        if matches!(prim, Prim::ClampTo(_)) {
            near()?;
        }
        Some(shift)
    }

    /// Whether as much is done if all places of an axis look for what comes from another as if that is sent to them.
    fn is_part(&self, from: AxisId, axis: AxisId) -> bool {
        match (self.b.extent(from), self.b.extent(axis)) {
            (Extent::Const(from), Extent::Const(all)) => all <= from.saturating_mul(2),
            (Extent::Const(_), _) => false,
            // Inside of a loop it may be a small part of what there is.
            (_, Extent::Const(_) | Extent::Size(_)) => self.depth == 1,
            (_, Extent::Value(_)) => false,
        }
    }

    /// An integer as a sum: what is added, or taken away.
    fn terms(&self, value: ValueId, plus: bool, sum: &mut Vec<(bool, ValueId)>) -> Option<()> {
        match self.defs.used(value) {
            Some(BulkOp::Map(Prim::Add, args)) => {
                self.terms(args[0], plus, sum)?;
                self.terms(args[1], plus, sum)
            }
            Some(BulkOp::Map(Prim::Sub, args)) => {
                self.terms(args[0], plus, sum)?;
                self.terms(args[1], !plus, sum)
            }
            Some(BulkOp::Map(Prim::Cast(Scalar::I64 | Scalar::Usize), args)) => {
                match self.defs.used(args[0]) {
                    Some(BulkOp::Iota(_)) => {
                        sum.push((plus, value));
                        Some(())
                    }
                    _ => self.terms(args[0], plus, sum),
                }
            }
            Some(BulkOp::Const(_)) => {
                sum.push((plus, value));
                Some(())
            }
            // What stands behind a condition is not known elsewhere.
            _ if self.defs.of(value).is_none() && !self.is_param(value) => None,
            _ => {
                sum.push((plus, value));
                let elem = self.b.program.elem(value);
                matches!(elem, Elem::Scalar(Scalar::I64 | Scalar::Usize)).then_some(())
            }
        }
    }

    fn is_param(&self, value: ValueId) -> bool {
        self.b
            .program
            .params
            .iter()
            .any(|param| param.value == value)
    }

    /// The axis along which an integer is the index.
    fn place(&self, value: ValueId) -> Option<AxisId> {
        let Some(BulkOp::Map(Prim::Cast(Scalar::I64 | Scalar::Usize), args)) =
            self.defs.used(value)
        else {
            return None;
        };
        match self.defs.used(args[0]) {
            Some(BulkOp::Iota(axis)) => Some(*axis),
            _ => None,
        }
    }

    /// Between what a sum lies, if that is known.
    fn bounds(&self, sum: &[(bool, ValueId)]) -> Option<(i128, i128)> {
        let mut bounds = (0, 0);
        for &(plus, value) in sum {
            let (least, most) = match (self.defs.used(value), self.place(value)) {
                (Some(BulkOp::Const(Lit::Int(_, n))), _) => (*n, *n),
                (_, Some(axis)) => match self.b.extent(axis) {
                    Extent::Const(length) => (0, i128::from(length.max(1)) - 1),
                    Extent::Size(_) | Extent::Value(_) => return None,
                },
                (_, None) => return None,
            };
            let (least, most) = if plus { (least, most) } else { (-most, -least) };
            bounds = (bounds.0 + least, bounds.1 + most);
        }
        Some(bounds)
    }

    /// A term wherever it is needed, also if it was behind something, as an `i64`.
    fn term(&mut self, value: ValueId) -> ValueId {
        if let Some(BulkOp::Const(Lit::Int(_, number))) = self.defs.used(value) {
            return self.integer(*number);
        }
        let value = match self.place(value) {
            Some(axis) => self.emit(BulkOp::Iota(axis)),
            None => value,
        };
        if self.b.program.elem(value) == Elem::Scalar(Scalar::I64) {
            return value;
        }
        self.emit(BulkOp::Map(Prim::Cast(Scalar::I64), vec![value]))
    }

    /// What arrives at each place of what is sent from all.
    fn back(&mut self, value: ValueId, shift: &Shift) -> ValueId {
        let Shift {
            axis, from, prim, ..
        } = *shift;
        let iota = self.emit(BulkOp::Iota(axis));
        let here = self.emit(BulkOp::Map(Prim::Cast(Scalar::I64), vec![iota]));
        // Whence: here is there and the shift, or the shift less there.
        let mut there = shift.forwards.then_some(here);
        for &(plus, term) in &shift.by {
            let term = self.term(term);
            there = Some(match there {
                Some(there) if plus == shift.forwards => {
                    self.emit(BulkOp::Map(Prim::Sub, vec![there, term]))
                }
                Some(there) => self.emit(BulkOp::Map(Prim::Add, vec![there, term])),
                None if plus => term,
                None => {
                    let zero = self.integer(0);
                    self.emit(BulkOp::Map(Prim::Sub, vec![zero, term]))
                }
            });
        }
        let mut there = match there {
            Some(there) => there,
            None => self.integer(0),
        };
        if !shift.forwards {
            there = self.emit(BulkOp::Map(Prim::Sub, vec![there, here]));
        }
        let extent = self.b.extent(from);
        if matches!(prim, Prim::Wrap(_)) {
            let there = self.emit(BulkOp::Map(Prim::Wrap(extent), vec![there]));
            return self.read_at(value, &[(from, there)], &mut { THROUGH });
        }
        let zero = self.b.number(value, 0.0);
        let inside = self.emit(BulkOp::Map(Prim::InRange(extent), vec![there]));
        let total = self.read_where(value, from, there, inside, zero);
        // Only what is in range was sent.
        if !matches!(prim, Prim::ClampTo(_)) {
            return total;
        }
        self.beyond(value, shift, (here, there), total)
    }

    /// Adds what would have gone beyond an end, and arrives there.
    fn beyond(
        &mut self,
        value: ValueId,
        shift: &Shift,
        (here, there): (ValueId, ValueId),
        mut total: ValueId,
    ) -> ValueId {
        let Some((least, most)) = self.bounds(&shift.by) else {
            return total;
        };
        let extent = self.b.extent(shift.from);
        let zero = self.b.number(value, 0.0);
        let size = self.b.size(shift.axis);
        let size = self.b.map(Prim::Cast(Scalar::I64), &[size]);
        let one = self.integer(1);
        let last = self.b.map(Prim::Sub, &[size, one]);
        let nothing = self.integer(0);
        for (end, distance, compare) in [(nothing, -least, Prim::Gt), (last, most, Prim::Lt)] {
            if distance <= 0 {
                continue;
            }
            let at_end = self.b.map(Prim::Eq, &[here, end]);
            for r in 0..distance {
                let r = self.integer(r);
                let from = if compare == Prim::Gt {
                    r
                } else {
                    self.b.map(Prim::Sub, &[last, r])
                };
                let exists = self.b.map(Prim::InRange(extent), &[from]);
                let mut arrives = self.b.map(Prim::And, &[at_end, exists]);
                // At the end it is further than this that what arrives there regularly comes from.
                if least != most {
                    let further = self.b.map(compare, &[there, from]);
                    arrives = self.b.map(Prim::And, &[arrives, further]);
                }
                let more = self.read_where(value, shift.from, from, arrives, zero);
                total = self.b.map(Prim::Add, &[total, more]);
            }
        }
        total
    }

    fn integer(&mut self, number: i128) -> ValueId {
        self.emit(BulkOp::Const(Lit::Int(Scalar::I64, number)))
    }

    /// An array at a place where a condition holds, else zero.
    fn read_where(
        &mut self,
        value: ValueId,
        axis: AxisId,
        from: ValueId,
        cond: ValueId,
        zero: ValueId,
    ) -> ValueId {
        let outer = self.b.guard.replace(cond);
        let index = self.b.index(axis, from);
        let read = self.read_at(value, &[(axis, index)], &mut { THROUGH });
        self.b.guard = outer;
        self.b.select(cond, read, zero)
    }
}

/// An index that is that of an axis, moved, and brought back into range, or known to be in it where it counts.
struct Shift {
    /// The axis that it is an index of.
    axis: AxisId,
    /// The axis that it is the index along.
    from: AxisId,
    /// How it is brought into range.
    prim: Prim,
    /// Whether it rises with the index.
    forwards: bool,
    /// What is added to the index, or taken away.
    by: Vec<(bool, ValueId)>,
}

fn value_of(op: &BulkOp) -> ValueId {
    match op {
        BulkOp::Scatter { value, .. } => *value,
        _ => unreachable!("only scatters are turned back"),
    }
}

fn may_panic(b: &Builder, op: &BulkOp) -> bool {
    match op {
        BulkOp::Map(prim, args) => {
            let elems: Vec<Elem> = args.iter().map(|&arg| b.program.elem(arg)).collect();
            matches!(prim, Prim::Trust(_)) || prim.may_panic(&elems)
        }
        _ => false,
    }
}

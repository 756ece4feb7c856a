//! Accumulations that derivatives make of reads, made cheaper where it is known where they go.
//!
//! The cotangent of an element that was picked (a minimum, a table read at one index) is an array that is zero but in one place. What is
//! multiplied by it, or summed, need not be computed anywhere else: the place is moved outwards, through products and sums, until what is
//! left is one accumulation of what there is at the place.
//!
//! ```text
//! %0[n, k] = scatter add 0 [k := %e] over [] %v      %1[n] = gather x [k := %e]
//! %1[n, k] = mul x, %0                               %2[n] = mul %1, %v
//! %2[k] = reduce add [n] %1                          %3[k] = scatter add 0 [k := %e] over [n] %2
//! ```

mod factors;
mod shifts;

use std::collections::BTreeSet;

use super::build::Builder;
use super::known::Defs;
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
    about: "compute what is accumulated in one place at that place only, read what is accumulated at a shift at the shift back, and multiply sums",
    run: sparse,
};

/// How many cheap definitions a read elsewhere is moved through.
const THROUGH: u32 = 8;

/// So many cheap definitions are rather stored than evaluated twice.
const AGAIN: u32 = 3;

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
        lanes: Vec::new(),
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
    /// The lanes of loops around.
    lanes: Vec<AxisId>,
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
        let around = self.lanes.len();
        if let BulkOp::Loop { lanes, .. }
        | BulkOp::While { lanes, .. }
        | BulkOp::Derive { lanes, .. }
        | BulkOp::Rule { lanes, .. } = &stmt.op
        {
            self.lanes.extend(lanes);
        }
        for inner in stmt.op.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = self.block(block);
        }
        self.lanes.truncate(around);
        self.b.span = stmt.span;
        let made = self.b.program.values.len();
        if let (&[result], None) = (stmt.results.as_slice(), stmt.guard)
            && let Some(value) = self
                .moved(&stmt.op)
                .or_else(|| self.shifted(&stmt.op))
                .or_else(|| self.chosen(&stmt.op))
                .or_else(|| self.factored(&stmt.op))
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

    // ---- One place

    /// The one place of a value; a lane of a loop does not look at others.
    fn spot(&mut self, value: ValueId) -> Option<Spot> {
        let spot = self.place_of(value)?;
        let across = |(axis, _): &(AxisId, ValueId)| self.lanes.contains(axis);
        (!spot.at.iter().any(across)).then_some(spot)
    }

    fn place_of(&mut self, value: ValueId) -> Option<Spot> {
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
            } if over.is_empty() && !at.is_empty() && self.defs.is_zero(*base) => Some(Spot {
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
                self.stands_apart(&spot, &self.b.dims(args[1 - k]))?;
                let factor = self.read(args[1 - k], &spot);
                Some(self.put(spot, |walk, value| walk.b.map(Prim::Mul, &[factor, value])))
            }
            BulkOp::Map(Prim::Div, args) => {
                let spot = self.spot(args[0])?;
                self.stands_apart(&spot, &self.b.dims(args[1]))?;
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
                    .position(|v| self.defs.is_zero(v))?;
                let spot = self.spot([*then, *otherwise][k])?;
                self.stands_apart(&spot, &self.b.dims(*cond))?;
                let cond = self.read(*cond, &spot);
                Some(self.put(spot, |walk, value| {
                    let zero = walk.b.number(value, 0.0);
                    let sides = [[value, zero], [zero, value]][k];
                    walk.b.select(cond, sides[0], sides[1])
                }))
            }
            // It is there if that is the place, along the axes that are read; along the others it still has one.
            BulkOp::Gather { table, at } => {
                let Spot {
                    at: places,
                    value,
                    mask,
                } = self.spot(*table)?;
                let moved: Vec<AxisId> = at.iter().map(|&(axis, _)| axis).collect();
                let kept = places.iter().filter(|(axis, _)| !moved.contains(axis));
                let kept: Vec<AxisId> = kept.map(|&(axis, _)| axis).collect();
                self.even(&kept, places.iter().map(|&(_, place)| place), &moved)?;
                self.even(&[], at.iter().map(|&(_, index)| index), &kept)?;
                // Where it is must not depend on where it is.
                let known = places.iter().map(|&(_, place)| place).chain(mask);
                let known: Vec<ValueId> = known.chain([value]).collect();
                let turns = |&(axis, index): &(AxisId, ValueId)| {
                    self.b.dims(index).iter().any(|axis| kept.contains(axis))
                        && known.iter().any(|&v| self.b.dims(v).contains(&axis))
                };
                if at.iter().any(turns) {
                    return None;
                }
                let read = |axis: AxisId| at.iter().find(|(moved, _)| *moved == axis);
                let mask = mask.map(|mask| self.read_at(mask, at, &mut { THROUGH }));
                let outer = std::mem::replace(&mut self.b.guard, mask);
                let value = self.b.gather(value, at);
                let (mut left, mut met) = (Vec::new(), Vec::new());
                for (axis, place) in places {
                    let place = self.read_at(place, at, &mut { THROUGH });
                    match read(axis) {
                        Some(&(_, index)) => met.push((place, index)),
                        None => left.push((axis, place)),
                    }
                }
                let mut spot = Spot {
                    at: left,
                    value,
                    mask,
                };
                for (place, index) in met {
                    let index = self.read(index, &spot);
                    let here = self.b.map(Prim::Eq, &[place, index]);
                    spot.mask = self.b.both(spot.mask, Some(here));
                }
                self.b.guard = outer;
                match spot.mask {
                    Some(here) if spot.at.is_empty() => Some(self.picked(here, value)),
                    Some(_) => Some(self.put(spot, |_, value| value)),
                    None => None,
                }
            }
            // What is cleared is there unless that is the place.
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } if self.defs.is_zero(*value) => {
                let mut spot = self.spot(*table)?;
                let moved: Vec<AxisId> = spot.at.iter().map(|&(axis, _)| axis).collect();
                let read = at.iter().map(|&(_, index)| index).chain(*mask);
                self.even(&moved, read, &moved)?;
                let outer = std::mem::replace(&mut self.b.guard, spot.mask);
                let mut cleared = mask.map(|mask| self.read(mask, &spot));
                for &(axis, index) in at {
                    let place = match spot.at.iter().find(|(place, _)| *place == axis) {
                        Some(&(_, place)) => place,
                        None => self.emit(BulkOp::Iota(axis)),
                    };
                    let index = self.read(index, &spot);
                    let here = self.b.map(Prim::Eq, &[place, index]);
                    cleared = self.b.both(cleared, Some(here));
                }
                let left = self.b.map(Prim::Not, &[cleared?]);
                self.b.guard = outer;
                spot.mask = self.b.both(spot.mask, Some(left));
                Some(self.put(spot, |_, value| value))
            }
            // What is accumulated of it is so from there only; along an axis that is not gone over it is accumulated there.
            BulkOp::Scatter {
                monoid: Monoid::Add,
                base,
                at,
                over,
                value,
                mask,
            } => {
                let spot = self.spot(*value)?;
                let own = |axis: &AxisId| spot.at.iter().any(|(place, _)| place == axis);
                if at.iter().any(|(axis, _)| own(axis) && !over.contains(axis)) {
                    return None;
                }
                let moved: Vec<AxisId> = spot.at.iter().map(|&(axis, _)| axis).collect();
                let read = at.iter().map(|&(_, index)| index).chain(*mask);
                self.even(&moved, read, &moved)?;
                self.stands_apart(&spot, over)?;
                let places = at.iter();
                let places = places.map(|&(axis, index)| (axis, self.read(index, &spot)));
                let mut places: Vec<(AxisId, ValueId)> = places.collect();
                let asked = mask.map(|mask| self.read(mask, &spot));
                let left = spot.at.iter().filter(|(axis, _)| !over.contains(axis));
                places.extend(left);
                let mask = self.b.both(spot.mask, asked);
                Some(self.emit(BulkOp::Scatter {
                    monoid: Monoid::Add,
                    base: *base,
                    at: places,
                    over: over.iter().copied().filter(|axis| !own(axis)).collect(),
                    value: spot.value,
                    mask,
                }))
            }
            BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Add),
                axes,
                operands,
            } => {
                let spot = self.spot(operands[0])?;
                self.stands_apart(&spot, axes)?;
                let Spot { at, value, mask } = spot;
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
                    return Some(self.b.masked_sum(mask, value, &over));
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

    /// The value where a condition holds, else zero.
    fn picked(&mut self, cond: ValueId, value: ValueId) -> ValueId {
        let zero = self.b.number(value, 0.0);
        self.defs.insert(zero, BulkOp::Const(self.zero(value)));
        let op = BulkOp::Select(cond, value, zero);
        match self.moved(&op) {
            Some(moved) => moved,
            None => self.emit(op),
        }
    }

    /// Nothing along these axes can be read at one place if how long one is depends on the place.
    fn stands_apart(&self, spot: &Spot, axes: &[AxisId]) -> Option<()> {
        let moved: Vec<AxisId> = spot.at.iter().map(|&(axis, _)| axis).collect();
        (!self.leans(axes, &moved)).then_some(())
    }

    /// Whether all these axes are equally long everywhere, and all these values, read at one place along `moved`, are so along their axes
    /// and are indices of what is.
    fn even(
        &self,
        axes: &[AxisId],
        values: impl Iterator<Item = ValueId>,
        moved: &[AxisId],
    ) -> Option<()> {
        let varies = |extent: Extent| match extent {
            Extent::Value(extent) => !self.b.dims(extent).is_empty(),
            Extent::Const(_) | Extent::Size(_) => false,
        };
        if axes.iter().any(|&axis| varies(self.b.extent(axis))) {
            return None;
        }
        for value in values {
            let index = match self.b.program.elem(value) {
                Elem::Index(extent) => varies(extent),
                Elem::Scalar(_) => false,
            };
            if index || self.leans(&self.b.dims(value), moved) {
                return None;
            }
        }
        Some(())
    }

    /// Whether the length of one of these axes depends on the place along others, which are not looked at themselves.
    fn leans(&self, axes: &[AxisId], on: &[AxisId]) -> bool {
        let depends = |&axis: &AxisId| match self.b.extent(axis) {
            Extent::Value(extent) => self.b.dims(extent).iter().any(|axis| on.contains(axis)),
            Extent::Const(_) | Extent::Size(_) => false,
        };
        axes.iter().filter(|axis| !on.contains(axis)).any(depends)
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

    /// Whether reading elsewhere takes evaluating a few cheap definitions there, and nothing that would be stored for it.
    fn is_near(&self, value: ValueId, at: &[AxisId], budget: &mut u32) -> bool {
        let dims = self.b.dims(value);
        if at.iter().all(|axis| !dims.contains(axis)) {
            return true;
        }
        match self.defs.of(value) {
            Some(op @ (BulkOp::Map(..) | BulkOp::Select(..)))
                if is_cheap(&self.b.program, op) && !may_panic(&self.b, op) =>
            {
                let Some(left) = budget.checked_sub(1) else {
                    return false;
                };
                *budget = left;
                let mut operands = op.operands().into_iter();
                operands.all(|operand| self.is_near(operand, at, budget))
            }
            _ => true,
        }
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

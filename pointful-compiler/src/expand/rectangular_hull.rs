//! Rectangular hulls: a triangular loop whose sums are products of matrices becomes a rectangular
//! one, with a condition.
//!
//! ```text
//! axes i: I, k: K, a: %len                       axes i: I, k: K, r: I
//! %1[i, a] = trust I (cast usize (iota a))       %1[r] = iota r
//! %2[i, a, k] = gather x [i := %1]               %2[r, k] = gather x [i := %1]
//! %3[i, a, k] = mul w, %2                    ▶   %3[i, r, k] = mul w, %2
//!                                                %4[i, r] = gt %len, (cast usize %1)
//!                                                %5[i, r, k] = select %4, %3, 0
//! %6[i, k] = reduce add [a] %3                   %6[i, k] = reduce add [r] %5
//! ```
//!
//! What is read depends on the row no more: a library multiplies the whole faster than loops do the
//! triangle. It is done where the members of the range are at least a fourth of their set, so
//! not for windows, and where there is a product of matrices then.
//!
//! # Why it is sound
//!
//! The range's members are those of the set for which the condition holds, in the same order. What
//! is computed for others is total, and only reductions and accumulations look at it, which leave
//! them out.

use std::collections::BTreeMap;

use smallvec::smallvec;

use crate::analysis::dataflow::{for_each_axis, may_fail};
use crate::contract::Shape;
use crate::ir::stages::bulk::{Axis, Bulk, BulkOp, Combine};
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, Stmt, Type, ValueId,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const RECTANGULAR_HULL: Pass<Bulk> = Pass {
    name: "rectangular_hull",
    about: "make triangular loops rectangular whose sums are products of matrices",
    run: rectangular_hull,
};

/// Of a set that has so many members a range has at least a fourth: any window that a program names
/// a number for is less.
const MEMBERS: u64 = 1 << 40;

/// For so many rows it is asked how many.
const ROWS: i64 = 64;

/// Makes triangular loops rectangular whose sums are products of matrices.
pub fn rectangular_hull(mut program: Program<Bulk>) -> Program<Bulk> {
    let is_computed = |axis: &Axis| matches!(axis.extent, Extent::Value(_));
    if !program.decls.axes.iter().any(is_computed) {
        return program;
    }
    while let Some(hull) = first(&program) {
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::HULLS);
        program = program.rewritten(|program, body| hull.rewrite(program, body));
    }
    program
}

/// A triangular axis that is better rectangular.
fn first(program: &Program<Bulk>) -> Option<Hull> {
    let mut look = Look::default();
    look.block(&program.body);
    let mut axes = (0..program.decls.axes.len()).map(|axis| AxisId(axis as u32));
    axes.find_map(|axis| Hull::of(program, &look, axis))
}

/// The statements of a program, at any depth.
#[derive(Default)]
struct Look<'p> {
    stmts: Vec<&'p Stmt<Bulk>>,
    /// By what they bind.
    sites: BTreeMap<ValueId, usize>,
    /// What blocks take and give.
    ends: Vec<ValueId>,
}

impl<'p> Look<'p> {
    fn block(&mut self, block: &'p Block<Bulk>) {
        self.ends.extend(block.params.iter().chain(&block.results));
        for stmt in &block.stmts {
            let number = self.stmts.len();
            self.sites
                .extend(stmt.results.iter().map(|&result| (result, number)));
            self.stmts.push(stmt);
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    fn op(&self, value: ValueId) -> Option<&'p BulkOp> {
        self.sites.get(&value).map(|&number| &self.stmts[number].op)
    }
}

/// What is said of a triangular axis.
struct Hull {
    axis: AxisId,
    /// How many members the range has, and before which number they begin, if not at zero.
    length: ValueId,
    low: Option<ValueId>,
    /// The set whose members they are.
    extent: Extent,
    roles: BTreeMap<ValueId, Role>,
    /// What axes its values have when it is rectangular.
    dims: BTreeMap<ValueId, Vec<AxisId>>,
}

/// What a value along the axis is.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// How many members of the range come before; only the others are made of it.
    Count,
    /// The number of a member in its set.
    Position,
    /// A member.
    Member,
    /// Something else.
    Other,
}

/// What is found out about an axis.
#[derive(Default)]
struct Found {
    roles: BTreeMap<ValueId, Role>,
    low: Option<Option<ValueId>>,
    extent: Option<Extent>,
    /// Whether something else is made of a count.
    counts: bool,
}

impl Found {
    /// What a statement that has to do with the axis makes; none if it has to stay as it is.
    fn look(&mut self, program: &Program<Bulk>, stmt: &Stmt<Bulk>, axis: AxisId) -> Option<()> {
        let has = |value: &ValueId| program.ty(*value).dims.contains(&axis);
        let role = |value: &ValueId| self.roles.get(value).copied();
        let made = match &stmt.op {
            BulkOp::Iota(own) if *own == axis => Role::Count,
            BulkOp::Map(Prim::Cast(Scalar::Usize), args) if role(&args[0]) == Some(Role::Count) => {
                Role::Count
            }
            BulkOp::Map(Prim::Trust(extent), args)
                if matches!(role(&args[0]), Some(Role::Count | Role::Position)) =>
            {
                if role(&args[0]) == Some(Role::Count) {
                    self.begins(None)?;
                }
                let known = *self.extent.get_or_insert(*extent);
                (known == *extent).then_some(Role::Member)?
            }
            BulkOp::Map(Prim::Add, args)
                if args.iter().any(|arg| !has(arg)) && program.elem(args[0]) == Elem::USIZE =>
            {
                match [role(&args[0]), role(&args[1])] {
                    [Some(Role::Count), None] => self.begins(Some(args[1]))?,
                    [None, Some(Role::Count)] => self.begins(Some(args[0]))?,
                    _ => return self.other(program, stmt, axis),
                }
                Role::Position
            }
            _ => return self.other(program, stmt, axis),
        };
        self.roles.insert(stmt.results[0], made);
        Some(())
    }

    /// Notes before which number the range begins.
    fn begins(&mut self, low: Option<ValueId>) -> Option<()> {
        (*self.low.get_or_insert(low) == low).then_some(())
    }

    fn other(&mut self, program: &Program<Bulk>, stmt: &Stmt<Bulk>, axis: AxisId) -> Option<()> {
        let has = |value: &ValueId| program.ty(*value).dims.contains(&axis);
        let is_index = |value: &ValueId| {
            self.roles.get(value) == Some(&Role::Count)
                && matches!(program.elem(*value), Elem::Index(_))
        };
        let operands = stmt.op.operands();
        let may = match &stmt.op {
            BulkOp::Map(..) => !may_fail(program, &stmt.op),
            BulkOp::Select(..)
            | BulkOp::Reduce {
                combine: Combine::Monoid(_),
                ..
            } => true,
            BulkOp::Gather { table, .. } => !names(&stmt.op, axis) && !has(table),
            BulkOp::Scatter { base, at, over, .. } => {
                over.contains(&axis) && !has(base) && at.iter().all(|(own, _)| *own != axis)
            }
            _ => false,
        };
        let is_cast = matches!(stmt.op, BulkOp::Map(Prim::Cast(_), _));
        // What has the axis is made of members, so where they begin is known.
        if !may || !is_cast && operands.iter().any(is_index) || !operands.iter().any(has) {
            return None;
        }
        self.counts |= operands
            .iter()
            .any(|value| self.roles.get(value) == Some(&Role::Count));
        for &result in stmt.results.iter().filter(|result| has(result)) {
            self.roles.insert(result, Role::Other);
        }
        Some(())
    }
}

impl Hull {
    fn of(program: &Program<Bulk>, look: &Look<'_>, axis: AxisId) -> Option<Self> {
        let Extent::Value(length) = program.decls.axes[axis.0 as usize].extent else {
            return None;
        };
        let has = |value: &ValueId| program.ty(*value).dims.contains(&axis);
        let given = program.decls.results.iter().flatten();
        if given.into_iter().any(|&own| own == axis) {
            return None;
        }
        if look.ends.iter().any(has) {
            return None;
        }
        let mut found = Found::default();
        for stmt in &look.stmts {
            let operands = stmt.op.operands();
            if names(&stmt.op, axis) || stmt.results.iter().chain(&operands).any(has) {
                found.look(program, stmt, axis)?;
            }
        }
        let low = found.low?;
        // What has been counted is a position only if nothing comes before.
        if found.counts && low.is_some() {
            return None;
        }
        let mut hull = Self {
            axis,
            length,
            low,
            extent: found.extent?,
            roles: found.roles,
            dims: BTreeMap::new(),
        };
        if !hull.is_dense(program, look) {
            return None;
        }
        hull.dims = hull.dims(program, look);
        hull.has_products(program, look).then_some(hull)
    }

    /// Whether the range is known to have at least a fourth of the members of its set.
    fn is_dense(&self, program: &Program<Bulk>, look: &Look<'_>) -> bool {
        let &[row] = program.ty(self.length).dims.as_slice() else {
            return false;
        };
        if program.decls.axes[row.0 as usize].extent != self.extent {
            return false;
        }
        let members = match self.extent {
            Extent::Const(length) => length.min(MEMBERS),
            Extent::Size(_) => MEMBERS,
            Extent::Value(_) => return false,
        } as i64;
        let (mut all, mut rows) = (0, 0);
        for index in (0..members).step_by((members / ROWS).max(1) as usize) {
            let known = Known {
                look,
                extent: self.extent,
                members,
                row: (row, index),
            };
            let low = self.low.map_or(Some(0), |low| known.value(low, 16));
            let (Some(low), Some(length)) = (low, known.value(self.length, 16)) else {
                return false;
            };
            if low < 0 || length < 0 || low + length > members {
                return false;
            }
            all += length;
            rows += 1;
        }
        4 * all >= members * rows
    }

    /// Whether something summed becomes products of matrices.
    fn has_products(&self, program: &Program<Bulk>, look: &Look<'_>) -> bool {
        let axes = |value: &ValueId| self.dims.get(value).unwrap_or(&program.ty(*value).dims);
        let reads = |value: ValueId| {
            let reads = |stmt: &&&Stmt<Bulk>| stmt.op.operands().contains(&value);
            look.stmts.iter().filter(reads).count()
        };
        let extent = |axis: AxisId| match axis == self.axis {
            true => self.extent,
            false => program.decls.axes[axis.0 as usize].extent,
        };
        look.stmts.iter().any(|stmt| {
            let BulkOp::Reduce {
                combine: Combine::Monoid(Monoid::Add),
                axes: summed,
                operands,
            } = &stmt.op
            else {
                return false;
            };
            let Some(BulkOp::Map(Prim::Mul, args)) = look.op(operands[0]) else {
                return false;
            };
            let shape = Shape {
                left: axes(&args[0]),
                right: axes(&args[1]),
                summed,
                result: axes(&stmt.results[0]),
            };
            let [a, b] = [shape.left, shape.right];
            let along = a.contains(&self.axis) || b.contains(&self.axis);
            let few = a.len().max(b.len()) <= 2;
            let own = reads(operands[0]) == 1 && stmt.guard.is_none();
            own && along && few && shape.is_of_matrices(extent)
        })
    }

    /// What axes values have then; the axis keeps its name.
    fn dims(&self, program: &Program<Bulk>, look: &Look<'_>) -> BTreeMap<ValueId, Vec<AxisId>> {
        let mut dims: BTreeMap<ValueId, Vec<AxisId>> = BTreeMap::new();
        for stmt in &look.stmts {
            let Some(&result) = stmt.results.first() else {
                continue;
            };
            let known = match self.roles.get(&result) {
                None => continue,
                Some(Role::Count | Role::Position | Role::Member) => vec![self.axis],
                Some(Role::Other) => {
                    let axes =
                        |value: &ValueId| dims.get(value).unwrap_or(&program.ty(*value).dims);
                    let mut all: Vec<AxisId> = Vec::new();
                    let moved: Vec<AxisId> = match &stmt.op {
                        BulkOp::Gather { at, .. } => at.iter().map(|(axis, _)| *axis).collect(),
                        _ => Vec::new(),
                    };
                    for (number, value) in stmt.op.operands().iter().chain(&stmt.guard).enumerate()
                    {
                        let is_table = number == 0 && !moved.is_empty();
                        let own = axes(value).iter();
                        all.extend(own.filter(|axis| !(is_table && moved.contains(axis))));
                    }
                    let own = program.ty(result).dims.iter();
                    own.copied().filter(|axis| all.contains(axis)).collect()
                }
            };
            dims.insert(result, known);
        }
        dims
    }

    fn rewrite(&self, program: &mut Program<Bulk>, body: &mut Block<Bulk>) {
        for (value, dims) in &self.dims {
            program.values[value.index()].ty.dims.clone_from(dims);
        }
        program.decls.axes[self.axis.0 as usize].extent = self.extent;
        self.block(program, body);
    }

    fn block(&self, program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
        let mut cond = None;
        for mut stmt in std::mem::take(&mut block.stmts) {
            for inner in stmt.op.blocks_mut() {
                self.block(program, inner);
            }
            let out = &mut Writer {
                program,
                stmts: &mut block.stmts,
                like: &stmt,
            };
            let mut cond = |out: &mut Writer<'_>| *cond.get_or_insert_with(|| out.condition(self));
            let role = stmt.results.first().and_then(|r| self.roles.get(r));
            let mut op = stmt.op.clone();
            match (&mut op, role) {
                (BulkOp::Iota(_), Some(Role::Count)) => {
                    let elem = Elem::Index(self.extent);
                    out.program.values[stmt.results[0].index()].ty.elem = elem;
                }
                (op, Some(Role::Position)) => {
                    let member = out.member(self);
                    *op = BulkOp::Map(Prim::Cast(Scalar::Usize), smallvec![member]);
                }
                (op, Some(Role::Member)) => *op = BulkOp::Iota(self.axis),
                (op, _) if !self.masks(op) => {}
                (
                    BulkOp::Reduce {
                        combine: Combine::Monoid(monoid),
                        operands,
                        ..
                    },
                    _,
                ) => {
                    let cond = cond(out);
                    operands[0] = out.kept(cond, *monoid, operands[0]);
                }
                (BulkOp::Scatter { mask, .. }, _) => {
                    let cond = cond(out);
                    *mask = Some(match *mask {
                        Some(mask) => out.map(Prim::And, [cond, mask], Elem::Scalar(Scalar::Bool)),
                        None => cond,
                    });
                }
                _ => unreachable!("others are refused"),
            }
            let guard = stmt.guard.filter(|_| role != Some(&Role::Member));
            block.stmts.push(Stmt { op, guard, ..stmt });
        }
    }

    /// Whether an operation combines along the axis.
    fn masks(&self, op: &BulkOp) -> bool {
        match op {
            BulkOp::Reduce { axes, .. } => axes.contains(&self.axis),
            BulkOp::Scatter { over, .. } => over.contains(&self.axis),
            _ => false,
        }
    }
}

/// Writes statements.
struct Writer<'w> {
    program: &'w mut Program<Bulk>,
    stmts: &'w mut Vec<Stmt<Bulk>>,
    /// For whose sake.
    like: &'w Stmt<Bulk>,
}

impl Writer<'_> {
    fn bind(&mut self, op: BulkOp, elem: Elem) -> ValueId {
        let mut dims: Vec<AxisId> = match op {
            BulkOp::Iota(axis) => vec![axis],
            _ => Vec::new(),
        };
        for operand in op.operands() {
            for &axis in &self.program.ty(operand).dims {
                if !dims.contains(&axis) {
                    dims.push(axis);
                }
            }
        }
        let value = self.program.value(Type { elem, dims }, self.like.span);
        (self.stmts).push(Stmt::new(vec![value], op, self.like.span));
        value
    }

    fn map(&mut self, prim: Prim, args: [ValueId; 2], elem: Elem) -> ValueId {
        self.bind(BulkOp::Map(prim, args.into_iter().collect()), elem)
    }

    fn member(&mut self, hull: &Hull) -> ValueId {
        self.bind(BulkOp::Iota(hull.axis), Elem::Index(hull.extent))
    }

    /// Whether a member of the set is one of the range.
    fn condition(&mut self, hull: &Hull) -> ValueId {
        let [number, truth] = [Scalar::Usize, Scalar::Bool].map(Elem::Scalar);
        let member = self.member(hull);
        let cast = BulkOp::Map(Prim::Cast(Scalar::Usize), smallvec![member]);
        let position = self.bind(cast, number);
        let Some(low) = hull.low else {
            return self.map(Prim::Gt, [hull.length, position], truth);
        };
        let end = self.map(Prim::Add, [low, hull.length], number);
        let begun = self.map(Prim::Le, [low, position], truth);
        let goes_on = self.map(Prim::Gt, [end, position], truth);
        self.map(Prim::And, [begun, goes_on], truth)
    }

    /// What is reduced, and outside of the range what changes nothing.
    fn kept(&mut self, cond: ValueId, monoid: Monoid, value: ValueId) -> ValueId {
        let elem = self.program.elem(value);
        let identity = self.bind(BulkOp::Const(monoid.identity(elem.repr())), elem);
        self.bind(BulkOp::Select(cond, value, identity), elem)
    }
}

/// Whether an operation names an axis itself.
fn names(op: &BulkOp, axis: AxisId) -> bool {
    let mut found = false;
    for_each_axis(op, &mut |own| found |= own == axis);
    found
}

/// Numbers that are computed of an index of a row, whose set has so many members as the range's.
struct Known<'k, 'p> {
    look: &'k Look<'p>,
    extent: Extent,
    members: i64,
    row: (AxisId, i64),
}

impl Known<'_, '_> {
    fn value(&self, value: ValueId, budget: u32) -> Option<i64> {
        let budget = budget.checked_sub(1)?;
        let op = self.look.op(value)?;
        let args = |args: &[ValueId]| -> Option<Vec<i64>> {
            args.iter().map(|&arg| self.value(arg, budget)).collect()
        };
        match op {
            BulkOp::Const(Lit::Int(_, number)) => i64::try_from(*number).ok(),
            BulkOp::Size(extent) if *extent == self.extent => Some(self.members),
            BulkOp::Iota(axis) if *axis == self.row.0 => Some(self.row.1),
            BulkOp::Map(prim, of) => match (prim, args(of)?[..].as_ref()) {
                (Prim::Cast(Scalar::Usize | Scalar::I64), &[a]) => Some(a),
                (Prim::Add, &[a, b]) => Some(a + b),
                (Prim::Sub, &[a, b]) => Some(a - b),
                (Prim::Min, &[a, b]) => Some(a.min(b)),
                (Prim::Max, &[a, b]) => Some(a.max(b)),
                _ => None,
            },
            _ => None,
        }
    }
}

//! What lifting knows while it walks: what became of each Point value, the blocks being filled, and
//! where statements may stand.

use std::collections::{BTreeMap, BTreeSet};

use super::axis_unification::Axes;
use super::masked_updates::Updates;
use super::union_find::Var;
use crate::ir::stages::bulk::{Axis, Bulk, BulkOp};
use crate::ir::stages::point::Point;
use crate::ir::{AxisId, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// A set of axes.
pub(super) type AxisSet = BTreeSet<AxisId>;

/// What became of a Point value: an array, and which of its axes are the value's dimensions, in
/// their order. The other axes are loops that it depends on. It may lack dimensions: then it is the
/// same along them.
#[derive(Clone, Debug)]
pub(super) struct Lifted {
    pub(super) value: ValueId,
    pub(super) dims: Vec<AxisId>,
}

/// Where a Bulk value is unspecified: behind the first `depth` of the open scopes, and where one of
/// the extents is 0. The latter is how a `check` that stood inside a `for`, and does not depend on
/// it, is kept from panicking when the `for` is empty.
#[derive(Clone, Default, Debug)]
pub(super) struct Taint {
    pub(super) depth: usize,
    pub(super) nonempty: BTreeSet<Extent>,
}

/// A place of the program, for what is specified there: inside the first so many of the open `for`s
/// and of the open scopes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) open: usize,
    pub(super) scopes: usize,
}

/// A branch of an `if` that is being lifted.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) cond: ValueId,
    pub(super) negated: bool,
    /// The frame that was innermost where it began.
    pub(super) level: usize,
    /// The conjunction of this and the scopes around it in the same frame, once asked for.
    pub(super) guard: Option<ValueId>,
}

/// A block of the Bulk program that is being filled.
#[derive(Default, Debug)]
pub(super) struct Frame {
    pub(super) stmts: Vec<Stmt<Bulk>>,
    /// How many scopes were open where it began. Those are the business of the statement around it.
    pub(super) base_scope: usize,
    /// How many `for`s were open where it began.
    pub(super) base_open: usize,
    /// Accumulations that the loop around it collects, see `accumulate.rs`.
    pub(super) pending: Vec<super::accumulators::Pending>,
}

/// What is known of a Bulk value.
#[derive(Clone, Debug)]
pub(super) struct Info {
    /// The frame it stands in.
    pub(super) level: usize,
    pub(super) taint: Taint,
}

/// Where and behind what a statement stands.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) level: usize,
    pub(super) guard: Option<ValueId>,
    pub(super) taint: Taint,
}

/// The transform's state.
pub(super) struct Lift<'a> {
    pub(super) point: &'a Program<Point>,
    pub(super) axes: Axes,
    pub(super) updates: Updates,
    pub(super) out: Program<Bulk>,
    /// By Point value.
    pub(super) env: Vec<Option<Lifted>>,
    /// The axis of an open `for`, by its index.
    pub(super) index_axis: Vec<Option<AxisId>>,
    /// How many scopes were open where a Point value was bound, if that was in a branch.
    pub(super) bound_in: Vec<usize>,
    /// What stands for a computed extent, by Point value.
    pub(super) extents: BTreeMap<ValueId, ValueId>,
    /// By Bulk value.
    pub(super) info: Vec<Info>,
    pub(super) frames: Vec<Frame>,
    pub(super) open: Vec<AxisId>,
    /// How many scopes were open where the innermost block began of which a derivative is taken.
    pub(super) derived: Option<usize>,
    pub(super) scopes: Vec<Scope>,
    /// The place that what is being lifted belongs to, if that is not the current one.
    pub(super) reach: Option<Reach>,
    pub(super) accs: BTreeMap<ValueId, super::accumulators::Accumulator>,
    axis_of: BTreeMap<Var, AxisId>,
    names: BTreeMap<String, u32>,
    iotas: BTreeMap<AxisId, ValueId>,
    consts: BTreeMap<Lit, ValueId>,
    literals: BTreeMap<ValueId, Lit>,
    pub(super) nonempty: BTreeMap<Extent, ValueId>,
    pub(super) conjunctions: BTreeMap<(ValueId, ValueId), ValueId>,
    pub(super) span: SpanId,
}

impl<'a> Lift<'a> {
    pub(super) fn new(point: &'a Program<Point>, axes: Axes, updates: Updates) -> Self {
        let count = point.values.len();
        let mut out = Program::new(point.name.clone());
        out.sizes = point.sizes.clone();
        Self {
            point,
            axes,
            updates,
            out,
            env: vec![None; count],
            index_axis: vec![None; count],
            bound_in: vec![0; count],
            extents: BTreeMap::new(),
            info: Vec::new(),
            frames: vec![Frame::default()],
            open: Vec::new(),
            derived: None,
            scopes: Vec::new(),
            reach: None,
            accs: BTreeMap::new(),
            axis_of: BTreeMap::new(),
            names: BTreeMap::new(),
            iotas: BTreeMap::new(),
            consts: BTreeMap::new(),
            literals: BTreeMap::new(),
            nonempty: BTreeMap::new(),
            conjunctions: BTreeMap::new(),
            span: SpanId::NONE,
        }
    }

    // ---- Axes

    /// The axis that an axis variable has become.
    pub(super) fn axis(&mut self, var: Var) -> AxisId {
        let root = self.axes.classes.find(var);
        if let Some(&axis) = self.axis_of.get(&root) {
            return axis;
        }
        let extent = self.axes.classes.extent(root);
        let extent = self.extent(extent);
        let hint = self.axes.classes.hint(root).map(str::to_owned);
        let axis = self.new_axis(extent, hint);
        self.axis_of.insert(root, axis);
        axis
    }

    /// The axes that a Point value's dimensions have become.
    pub(super) fn dims(&mut self, value: ValueId) -> Vec<AxisId> {
        let vars = self.axes.dims[value.index()].clone();
        vars.into_iter().map(|var| self.axis(var)).collect()
    }

    /// An axis like no other.
    pub(super) fn new_axis(&mut self, extent: Extent, hint: Option<String>) -> AxisId {
        let stem = hint.unwrap_or_else(|| match extent {
            Extent::Size(size) => self.out.sizes[size.0 as usize].name.to_lowercase(),
            Extent::Const(_) | Extent::Value(_) => "a".to_owned(),
        });
        let mut name = stem.clone();
        while let Some(used) = self.names.get_mut(&name) {
            *used += 1;
            name = format!("{stem}_{used}");
        }
        self.names.insert(name.clone(), 0);
        let axes = &mut self.out.decls.axes;
        let id = AxisId(u32::try_from(axes.len()).expect("fewer than 2^32 axes"));
        axes.push(Axis { name, extent });
        id
    }

    /// How long an axis is.
    pub(super) fn axis_extent(&self, axis: AxisId) -> Extent {
        self.out.decls.axes[axis.0 as usize].extent
    }

    /// An extent of the Point program in the Bulk program.
    ///
    /// A computed one may be nonsense outside the branch or loop it was computed in; there it
    /// becomes 0, so that nothing is computed along it, and how long an axis is can be said
    /// everywhere.
    pub(super) fn extent(&mut self, extent: Extent) -> Extent {
        let Extent::Value(point) = extent else {
            return extent;
        };
        if let Some(&value) = self.extents.get(&point) {
            return Extent::Value(value);
        }
        let mut value = self.value(point).value;
        let Info { level, mut taint } = self.info[value.index()].clone();
        taint.depth = taint.depth.max(self.bound_in[point.index()]);
        let own = self.axes_of(value);
        if let Some(guard) = self.guarded(level, taint, &own, &[]).guard {
            let zero = self.constant(Lit::of(Scalar::Usize, 0.0));
            value = self.select(guard, value, zero, &[], 0);
            self.info[value.index()].taint = Taint::default();
        }
        self.extents.insert(point, value);
        Extent::Value(value)
    }

    /// An element type of the Point program in the Bulk program.
    pub(super) fn elem(&mut self, elem: Elem) -> Elem {
        match elem {
            Elem::Index(extent) => Elem::Index(self.extent(extent)),
            Elem::Scalar(_) | Elem::Bound(_) => elem,
        }
    }

    /// The axes that an extent depends on.
    pub(super) fn extent_axes(&self, extent: Extent) -> AxisSet {
        match extent {
            Extent::Value(value) => self.axes_of(value),
            Extent::Const(_) | Extent::Size(_) => AxisSet::new(),
        }
    }

    // ---- Values

    /// The axes of a Bulk value.
    pub(super) fn axes_of(&self, value: ValueId) -> AxisSet {
        self.out.ty(value).dims.iter().copied().collect()
    }

    /// The loops that a lifted value depends on.
    pub(super) fn deps(&self, lifted: &Lifted) -> AxisSet {
        let mut axes = self.axes_of(lifted.value);
        for dim in &lifted.dims {
            axes.remove(dim);
        }
        axes
    }

    /// What became of a Point value.
    pub(super) fn value(&mut self, point: ValueId) -> Lifted {
        if let Some(lifted) = &self.env[point.index()] {
            return lifted.clone();
        }
        let axis = self.index_axis[point.index()].expect("a value is bound before it is read");
        Lifted {
            value: self.iota(axis),
            dims: Vec::new(),
        }
    }

    /// Notes what became of a Point value.
    pub(super) fn bind(&mut self, point: ValueId, value: ValueId, dims: Vec<AxisId>) {
        let base = self.frames.last().map_or(0, |frame| frame.base_scope);
        let depth = self.scopes.len();
        self.bound_in[point.index()] = if depth > base { depth } else { 0 };
        if self.out.values[value.index()].name.is_none() {
            self.out.values[value.index()].name = self.point.values[point.index()].name.clone();
        }
        self.env[point.index()] = Some(Lifted { value, dims });
    }

    /// A value that nothing computes: a parameter of the program or of the innermost block.
    pub(super) fn parameter(&mut self, elem: Elem, dims: Vec<AxisId>) -> ValueId {
        self.info.push(Info {
            level: self.frames.len() - 1,
            taint: Taint::default(),
        });
        self.out.value(Type::table(elem, dims), self.span)
    }

    /// The index along an axis.
    pub(super) fn iota(&mut self, axis: AxisId) -> ValueId {
        if let Some(&value) = self.iotas.get(&axis) {
            return value;
        }
        let extent = self.axis_extent(axis);
        let mut axes = self.extent_axes(extent);
        axes.insert(axis);
        let value = self.define(BulkOp::Iota(axis), Elem::Index(extent), axes, &[axis]);
        self.iotas.insert(axis, value);
        value
    }

    /// The axis whose index this value is.
    pub(super) fn iota_axis(&self, value: ValueId) -> Option<AxisId> {
        self.out
            .ty(value)
            .dims
            .iter()
            .copied()
            .find(|axis| self.iotas.get(axis) == Some(&value))
    }

    /// A constant.
    pub(super) fn constant(&mut self, lit: Lit) -> ValueId {
        if let Some(&value) = self.consts.get(&lit) {
            return value;
        }
        let elem = Elem::Scalar(lit.scalar());
        let value = self.define(BulkOp::Const(lit), elem, AxisSet::new(), &[]);
        self.consts.insert(lit, value);
        self.literals.insert(value, lit);
        value
    }

    /// The literal that a value is known to be.
    pub(super) fn literal(&self, value: ValueId) -> Option<Lit> {
        self.literals.get(&value).copied()
    }

    /// A primitive that cannot panic, at each point.
    pub(super) fn map(&mut self, prim: Prim, args: &[ValueId], dims: &[AxisId]) -> ValueId {
        let elems = self.out.elems(args);
        let elem = prim
            .result(&elems)
            .expect("the compiler applies primitives to what they take");
        let axes = self.map_axes(prim, args);
        self.define(BulkOp::Map(prim, args.into()), elem, axes, dims)
    }

    /// The axes of a primitive applied to these.
    pub(super) fn map_axes(&self, prim: Prim, args: &[ValueId]) -> AxisSet {
        let mut axes: AxisSet = args.iter().flat_map(|&arg| self.axes_of(arg)).collect();
        axes.extend(
            prim.extent()
                .map(|e| self.extent_axes(e))
                .unwrap_or_default(),
        );
        axes
    }

    /// One or the other. It never needs a guard, and what lies behind a scope that is closed by now
    /// is specified after it: the first `depth` scopes are still open.
    pub(super) fn select(
        &mut self,
        cond: ValueId,
        then: ValueId,
        otherwise: ValueId,
        dims: &[AxisId],
        depth: usize,
    ) -> ValueId {
        if then == otherwise {
            return then;
        }
        let operands = [cond, then, otherwise];
        let axes: AxisSet = operands.iter().flat_map(|&arg| self.axes_of(arg)).collect();
        let mut taint = self.taint_of(operands);
        let level = if self.settled(&mut taint, dims) {
            self.frames.len() - 1
        } else {
            self.level_of(operands)
        };
        taint.depth = taint.depth.min(depth);
        let placement = Placement {
            level,
            guard: None,
            taint,
        };
        let elem = self.out.elem(then);
        let op = BulkOp::Select(cond, then, otherwise);
        self.put(op, vec![(elem, self.order(axes, dims))], placement)[0]
    }

    /// Reads the dimensions of a value by other names.
    pub(super) fn aligned(&mut self, lifted: &Lifted, want: &[AxisId]) -> ValueId {
        let axes = self.axes_of(lifted.value);
        let at: Vec<(AxisId, ValueId)> = lifted
            .dims
            .iter()
            .zip(want)
            .filter(|(have, want)| have != want && axes.contains(have))
            .map(|(&have, &want)| (have, want))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(have, want)| (have, self.iota(want)))
            .collect();
        self.gather(lifted.value, at, want)
    }

    /// Reads elsewhere; along axes that the table lacks, there is only one place to read.
    pub(super) fn gather(
        &mut self,
        table: ValueId,
        mut at: Vec<(AxisId, ValueId)>,
        dims: &[AxisId],
    ) -> ValueId {
        let mut axes = self.axes_of(table);
        at.retain(|(axis, _)| axes.contains(axis));
        if at.is_empty() {
            return table;
        }
        for (axis, _) in &at {
            axes.remove(axis);
        }
        for &(_, index) in &at {
            axes.extend(self.axes_of(index));
        }
        let elem = self.out.elem(table);
        self.define(BulkOp::Gather { table, at }, elem, axes, dims)
    }

    // ---- Statements

    /// The axes of a value in the order in which it would be stored: the loops around it from the
    /// outside in, then its dimensions.
    pub(super) fn order(&self, mut axes: AxisSet, dims: &[AxisId]) -> Vec<AxisId> {
        let inner: Vec<AxisId> = dims
            .iter()
            .copied()
            .filter(|dim| axes.remove(dim))
            .collect();
        let position = |axis: &AxisId| {
            let open = self.open.iter().position(|open| open == axis);
            open.unwrap_or(usize::MAX)
        };
        let mut order: Vec<AxisId> = axes.into_iter().collect();
        order.sort_by_key(|axis| (position(axis), *axis));
        order.extend(inner);
        order
    }

    /// Defines a value by an operation that cannot panic.
    pub(super) fn define(
        &mut self,
        op: BulkOp,
        elem: Elem,
        axes: AxisSet,
        dims: &[AxisId],
    ) -> ValueId {
        let placement = self.place(&op, &axes, dims, &[], false);
        self.define_at(op, elem, axes, dims, placement)
    }

    /// Defines a value by an operation whose place is known.
    pub(super) fn define_at(
        &mut self,
        op: BulkOp,
        elem: Elem,
        mut axes: AxisSet,
        dims: &[AxisId],
        placement: Placement,
    ) -> ValueId {
        if let Some(guard) = placement.guard {
            axes.extend(self.axes_of(guard));
        }
        let order = self.order(axes, dims);
        self.put(op, vec![(elem, order)], placement)[0]
    }

    /// Adds a statement where it belongs.
    pub(super) fn put(
        &mut self,
        op: BulkOp,
        results: Vec<(Elem, Vec<AxisId>)>,
        placement: Placement,
    ) -> Vec<ValueId> {
        let Placement {
            level,
            guard,
            taint,
        } = placement;
        let results: Vec<ValueId> = results
            .into_iter()
            .map(|(elem, dims)| {
                let mut taint = taint.clone();
                for &dim in &dims {
                    taint.nonempty.remove(&self.axis_extent(dim));
                }
                self.info.push(Info { level, taint });
                self.out.value(Type::table(elem, dims), self.span)
            })
            .collect();
        self.frames[level].stmts.push(Stmt {
            results: results.clone(),
            op,
            guard,
            span: self.span,
        });
        results
    }

    /// The innermost frame that one of the values stands in: where a statement that reads them can
    /// stand at the earliest.
    pub(super) fn level_of(&self, values: impl IntoIterator<Item = ValueId>) -> usize {
        let levels = values.into_iter().map(|v| self.info[v.index()].level);
        levels.max().unwrap_or(0)
    }

    /// Where something computed from the values is unspecified.
    pub(super) fn taint_of(&self, values: impl IntoIterator<Item = ValueId>) -> Taint {
        let mut taint = Taint::default();
        for value in values {
            let other = &self.info[value.index()].taint;
            taint.depth = taint.depth.max(other.depth);
            taint.nonempty.extend(&other.nonempty);
        }
        taint
    }
}

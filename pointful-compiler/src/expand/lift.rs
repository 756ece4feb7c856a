//! Statements without blocks, and `for`: one Bulk definition each, or none.

use super::context::{AxisSet, Lift, Lifted};
use crate::ir::stages::bulk::{BulkOp, Combine};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Args, AxisId, Block, Elem, Extent, Lit, Param, Stmt, ValueId};
use crate::ops::Prim;

impl Lift<'_> {
    /// The parameters, the body and the results of the whole program.
    pub(super) fn program(&mut self) {
        let point = self.point;
        for param in &point.params {
            self.span = point.values[param.value.index()].span;
            let dims = self.dims(param.value);
            let elem = self.elem(point.elem(param.value));
            let value = self.parameter(elem, dims.clone());
            self.bind(param.value, value, dims);
            self.out.params.push(Param {
                value,
                ..param.clone()
            });
        }
        self.block(&point.body);
        for &result in &point.body.results {
            let lifted = self.value(result);
            self.out.body.results.push(lifted.value);
            self.out.decls.results.push(lifted.dims);
        }
        self.out.body.stmts = std::mem::take(&mut self.frames[0].stmts);
    }

    pub(super) fn block(&mut self, block: &Block<Point>) {
        for stmt in &block.stmts {
            self.span = stmt.span;
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt<Point>) {
        let scalar = |lift: &mut Self, value| lift.bind(stmt.results[0], value, Vec::new());
        match &stmt.op {
            PointOp::Const(lit) => {
                let value = self.constant(*lit);
                scalar(self, value);
            }
            PointOp::Size(extent) => {
                let extent = self.extent(*extent);
                let value = self.size(extent);
                scalar(self, value);
            }
            PointOp::Prim(prim, args) => {
                let value = self.primitive(*prim, args);
                scalar(self, value);
            }
            PointOp::Index { table, indices } => self.index(stmt.results[0], *table, indices),
            PointOp::Array(values) => self.array(stmt.results[0], values),
            PointOp::For { body, .. } => self.parallel(stmt, body),
            // Without a state, iterations are independent.
            PointOp::Loop { init, body, .. } if init.is_empty() => self.parallel(stmt, body),
            PointOp::Reduce { monoid, table } => {
                let table = self.value(*table);
                let dims = table.dims[1..].to_vec();
                let value = self.reduce(*monoid, vec![table.dims[0]], table.value, &dims);
                self.bind(stmt.results[0], value, dims);
            }
            PointOp::ArgReduce { max, table } => {
                let value = self.arg_reduce(stmt.results[0], *max, *table);
                scalar(self, value);
            }
            PointOp::Fold { init, tables, op } => self.operator(stmt, init, tables, op, false),
            PointOp::Scan { init, tables, op } => self.operator(stmt, init, tables, op, true),
            PointOp::Loop {
                reverse,
                checkpoint,
                init,
                body,
                ..
            } => self.sequential(stmt, *reverse, *checkpoint, init, body),
            PointOp::While {
                init,
                cond,
                body,
                bound,
            } => self.while_loop(stmt, init, cond, body, *bound),
            PointOp::If {
                cond,
                then,
                otherwise,
            } => self.branches(stmt, *cond, then, otherwise),
            PointOp::Derive {
                mode,
                args,
                seeds,
                body,
            } => self.derivative(stmt, *mode, args, seeds, body),
            PointOp::Rule {
                mode,
                args,
                body,
                rule,
            } => self.rule(stmt, *mode, args, body, rule),
            PointOp::Accum { monoid, base } => {
                self.make_accumulator(stmt.results[0], *monoid, *base);
            }
            PointOp::Accumulate {
                acc,
                indices,
                value,
            } => self.accumulate(*acc, indices, *value),
            PointOp::Get { acc } => {
                if let Some(accumulator) = self.accs.remove(acc) {
                    let value = accumulator.current.expect("a loop puts back what it takes");
                    self.bind(stmt.results[0], value, accumulator.dims);
                }
            }
            PointOp::Assert {
                cond,
                message,
                shown,
            } => {
                let cond = self.value(*cond).value;
                let shown: Vec<_> = shown.iter().map(|&v| self.value(v).value).collect();
                let mut axes = self.axes_of(cond);
                axes.extend(shown.iter().flat_map(|&value| self.axes_of(value)));
                let op = BulkOp::Assert {
                    cond,
                    message: message.clone(),
                    shown,
                };
                let placement = self.place(&op, &axes, &[], &[], true);
                self.put(op, Vec::new(), placement);
            }
            PointOp::Update {
                table,
                indices,
                value,
            } => self.update(stmt.results[0], *table, indices, *value),
        }
    }

    fn primitive(&mut self, prim: Prim, args: &[ValueId]) -> ValueId {
        let prim = match prim.extent() {
            Some(extent) => prim.with_extent(self.extent(extent)),
            None => prim,
        };
        let args: Args = args.iter().map(|&arg| self.value(arg).value).collect();
        let elems = self.out.elems(&args);
        let elem = prim
            .result(&elems)
            .expect("the Point program is well typed");
        // What is trusted may hold only where the program trusts it.
        let panics = matches!(prim, Prim::Trust(_)) || prim.may_panic(elems[0]);
        let panics = panics && !self.harmless(prim, &args);
        let axes = self.map_axes(prim, &args);
        let op = BulkOp::Map(prim, args);
        // The derivative of a float may be infinite or NaN where its branch is not taken, so a derivative must know that it stands in one.
        let branch = elem.is_float() && self.derived.is_some_and(|base| self.scopes.len() > base);
        let placement = if branch && !panics {
            self.in_branch(&op, &axes)
        } else {
            self.place(&op, &axes, &[], &[], panics)
        };
        self.define_at(op, elem, axes, &[], placement)
    }

    /// Whether a primitive that may panic cannot on these operands.
    fn harmless(&self, prim: Prim, args: &[ValueId]) -> bool {
        match prim {
            // Of a set that has members, every integer is brought into range; a loop over the set shows that it has.
            Prim::Wrap(extent) | Prim::ClampTo(extent) | Prim::Mirror(extent) => {
                let axes = args.iter().flat_map(|&arg| &self.out.ty(arg).dims);
                matches!(extent, Extent::Const(1..))
                    || axes.into_iter().any(|&a| self.axis_extent(a) == extent)
            }
            Prim::Div | Prim::Rem | Prim::DivEuclid | Prim::RemEuclid => {
                matches!(self.literal(args[1]), Some(Lit::Int(_, n)) if n != 0 && n != -1)
            }
            _ => false,
        }
    }

    fn index(&mut self, result: ValueId, table: ValueId, indices: &[ValueId]) {
        let table = self.value(table);
        let want = self.dims(result);
        let mut at: Vec<(AxisId, ValueId)> = Vec::new();
        let (selected, rest) = table.dims.split_at(indices.len());
        let axes = self.axes_of(table.value);
        for (&axis, &index) in selected.iter().zip(indices) {
            let aligned =
                self.env[index.index()].is_none() && self.index_axis[index.index()] == Some(axis);
            if !aligned && axes.contains(&axis) {
                at.push((axis, self.value(index).value));
            }
        }
        for (&have, &want) in rest.iter().zip(&want) {
            if have != want && axes.contains(&have) {
                at.push((have, self.iota(want)));
            }
        }
        let value = self.gather(table.value, at, &want);
        self.bind(result, value, want);
    }

    fn array(&mut self, result: ValueId, values: &[ValueId]) {
        let dims = self.dims(result);
        let values: Vec<ValueId> = values
            .iter()
            .map(|&value| {
                let value = self.value(value);
                self.aligned(&value, &dims[1..])
            })
            .collect();
        let mut axes: AxisSet = values
            .iter()
            .flat_map(|&value| self.axes_of(value))
            .collect();
        axes.insert(dims[0]);
        let elem = self.out.elem(values[0]);
        let op = BulkOp::Pack {
            axis: dims[0],
            values,
        };
        let value = self.define(op, elem, axes, &dims);
        self.bind(result, value, dims);
    }

    fn parallel(&mut self, stmt: &Stmt<Point>, body: &Block<Point>) {
        let index = body.params[0];
        // The axis of a loop whose results nobody makes exists all the same: accumulation runs along it.
        let axis = self.loop_axis(index);
        self.index_axis[index.index()] = Some(axis);
        self.open.push(axis);
        self.block(body);
        self.open.pop();
        self.span = stmt.span;
        for (&result, &value) in stmt.results.iter().zip(&body.results) {
            let dims = self.dims(result);
            let value = self.value(value);
            let value = self.aligned(&value, &dims[1..]);
            self.bind(result, value, dims);
        }
    }

    /// The axis of the loop that binds this index.
    pub(super) fn loop_axis(&mut self, index: ValueId) -> AxisId {
        let var = self.axes.along[index.index()].expect("the analysis has seen every loop");
        self.axis(var)
    }

    fn arg_reduce(&mut self, result: ValueId, max: bool, table: ValueId) -> ValueId {
        let axis = self.loop_axis(result);
        let table = self.value(table);
        let value = self.aligned(&table, &[axis]);
        let extent = self.axis_extent(axis);
        let mut axes = self.axes_of(value);
        axes.extend(self.extent_axes(extent));
        axes.remove(&axis);
        let op = BulkOp::Reduce {
            combine: if max {
                Combine::ArgMax
            } else {
                Combine::ArgMin
            },
            axes: vec![axis],
            operands: vec![value],
        };
        let panics = !matches!(extent, Extent::Const(1..));
        let placement = self.place(&op, &axes, &[], &[axis], panics);
        self.define_at(op, Elem::Index(extent), axes, &[], placement)
    }

    fn update(&mut self, result: ValueId, table: ValueId, indices: &[ValueId], value: ValueId) {
        let dims = self.dims(result);
        let (selected, rest) = dims.split_at(indices.len());
        let value = self.value(value);
        let value = self.aligned(&value, rest);
        if indices.is_empty() {
            self.bind(result, value, dims);
            return;
        }
        let table = self.value(table);
        let table = self.aligned(&table, &dims);
        let at: Vec<(AxisId, ValueId)> = selected
            .iter()
            .zip(indices)
            .map(|(&axis, &index)| (axis, self.value(index).value))
            .collect();
        let mask = if self.updates.is_masked(result) {
            let base = self.info[table.index()].taint.depth;
            self.mask(base)
        } else {
            None
        };
        let mut axes: AxisSet = selected.iter().copied().collect();
        let indices = at.iter().map(|&(_, index)| index);
        for operand in indices.chain([table, value]).chain(mask) {
            axes.extend(self.axes_of(operand));
        }
        let elem = self.out.elem(table);
        // Positions are computed whether or not there is anything along the axes that they are positions on.
        let mut points = axes.clone();
        for (axis, _) in &at {
            points.remove(axis);
        }
        let op = BulkOp::Update {
            table,
            at,
            value,
            mask,
        };
        let placement = match mask {
            // Nobody looks at the position and the value where the mask is false.
            Some(mask) => {
                let (level, mut taint) = self.operands_of(&op, &axes, &[]);
                self.settled(&mut taint, &dims);
                taint.depth = self.taint_of([table, mask]).depth;
                self.guarded(level, taint, &points, &dims)
            }
            None => self.place(&op, &points, &dims, &[], false),
        };
        // It lies as the table before, which it may be written to.
        let before = self.out.ty(table).dims.clone();
        let order = match axes.iter().all(|axis| before.contains(axis)) {
            true => &before,
            false => &dims,
        };
        let value = self.define_at(op, elem, axes, order, placement);
        self.bind(result, value, dims);
    }

    /// The loops that a Point value depends on.
    pub(super) fn loops_of(&self, value: ValueId) -> AxisSet {
        let lifted = match (self.accs.get(&value), &self.env[value.index()]) {
            (Some(accumulator), _) => accumulator.current.map(|value| Lifted {
                value,
                dims: accumulator.dims.clone(),
            }),
            (None, lifted) => lifted.clone(),
        };
        match (lifted, self.index_axis[value.index()]) {
            (Some(lifted), _) => self.deps(&lifted),
            (None, Some(axis)) => {
                let mut axes = self.extent_axes(self.axis_extent(axis));
                axes.insert(axis);
                axes
            }
            (None, None) => AxisSet::new(),
        }
    }
}

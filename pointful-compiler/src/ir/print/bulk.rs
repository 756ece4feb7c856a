//! How the operations of Bulk are printed.

use super::{Print, Printer};
use crate::ir::stages::bulk::{Axis, Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Extent, Program, Type, ValueId};

impl Print for Bulk {
    fn dim(p: &mut Printer<'_, Self>, dim: AxisId) {
        p.axis(dim);
    }

    fn binding(p: &mut Printer<'_, Self>, value: ValueId) {
        let program = p.program;
        let Some(value) = program.values.get(value.index()) else {
            return;
        };
        if !value.ty.dims.is_empty() {
            p.axes(&value.ty.dims);
        }
    }

    fn decls(p: &mut Printer<'_, Self>) {
        // No value is left along an axis of which nobody says any more how long it is.
        let is_left = |axis: &&Axis| match axis.extent {
            Extent::Value(value) => p.is_bound(value),
            Extent::Const(_) | Extent::Size(_) => true,
        };
        let axes: Vec<&Axis> = p.program.decls.axes.iter().filter(is_left).collect();
        if !axes.is_empty() {
            p.word("axes ");
            p.list(&axes, |p, axis| {
                p.word(&axis.name);
                p.word(": ");
                p.extent(axis.extent);
            });
            p.word("\n");
        }
    }

    fn result_type(program: &Program<Self>, index: usize) -> Type<AxisId> {
        let ty = program.ty(program.body.results[index]);
        match program.decls.results.get(index) {
            Some(order) => Type::table(ty.elem, order.clone()),
            None => ty.clone(),
        }
    }

    fn returned(p: &mut Printer<'_, Self>, index: usize) {
        let program = p.program;
        if let Some(order) = program.decls.results.get(index)
            && !order.is_empty()
        {
            p.axes(order);
        }
    }

    fn op(p: &mut Printer<'_, Self>, op: &BulkOp) {
        match op {
            BulkOp::Const(lit) => {
                p.word("const ");
                p.lit(*lit);
            }
            BulkOp::Size(extent) => {
                p.word("size ");
                p.extent(*extent);
            }
            BulkOp::Iota(axis) => {
                p.word("iota ");
                p.axis(*axis);
            }
            BulkOp::Map(prim, operands) => p.prim(*prim, operands),
            BulkOp::Select(cond, then, otherwise) => {
                p.word("select ");
                p.values(&[*cond, *then, *otherwise]);
            }
            BulkOp::Gather { table, at } => {
                p.word("gather ");
                p.value(*table);
                p.word(" ");
                p.at(at);
            }
            BulkOp::Pack { axis, values } => {
                p.word("pack ");
                p.axis(*axis);
                p.word(" [");
                p.values(values);
                p.word("]");
            }
            BulkOp::Reduce {
                combine,
                axes,
                operands,
            } => reduce(p, combine, axes, operands),
            BulkOp::Scan {
                init,
                axis,
                reverse,
                full,
                operands,
                op,
            } => {
                p.word("scan ");
                p.word(if *reverse { "rev " } else { "" });
                p.word(if *full { "full " } else { "" });
                p.word("(");
                p.values(init);
                p.word(") ");
                p.axes(&[*axis]);
                p.word(" ");
                p.values(operands);
                p.word(" ");
                p.block_with_params(op);
            }
            BulkOp::Scatter {
                monoid,
                base,
                at,
                over,
                value,
                mask,
            } => {
                p.word("scatter ");
                p.word(monoid.name());
                p.word(" ");
                p.value(*base);
                p.word(" ");
                p.at(at);
                p.word(" over ");
                p.axes(over);
                p.word(" ");
                p.value(*value);
                p.mask(*mask);
            }
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } => {
                p.word("update ");
                p.value(*table);
                p.word(" ");
                p.at(at);
                p.word(" ");
                p.value(*value);
                p.mask(*mask);
            }
            BulkOp::Derive {
                mode,
                args,
                seeds,
                shapes,
                lanes,
                body,
            } => {
                p.word(mode.name());
                p.word(" ");
                p.lanes(lanes);
                p.states(&body.params, args);
                p.word(" (");
                let seeds: Vec<_> = seeds.iter().zip(shapes).collect();
                p.list(&seeds, |p, (seed, shape)| {
                    p.value(**seed);
                    if !shape.is_empty() {
                        p.axes(shape);
                    }
                });
                p.word(") ");
                p.block(body);
            }
            BulkOp::Rule {
                mode,
                args,
                lanes,
                body,
                rule,
            } => {
                p.word("rule ");
                p.word(mode.name());
                p.word(" ");
                p.lanes(lanes);
                p.states(&body.params, args);
                p.word(" ");
                p.block(body);
                p.word(" by ");
                p.block_with_params(rule);
            }
            BulkOp::Assert {
                cond,
                message,
                shown,
            } => p.assert(*cond, message, shown),
            BulkOp::Loop {
                axis,
                reverse,
                checkpoint,
                lanes,
                init,
                body,
            } => {
                p.word(if *reverse { "loop rev " } else { "loop " });
                p.checkpoint(*checkpoint);
                let (index, states) = body.params.split_at(body.params.len().min(1));
                p.list(index, |p, &value| p.bind(value));
                p.word(": ");
                p.axis(*axis);
                p.word(" ");
                p.lanes(lanes);
                p.states(states, init);
                p.word(" ");
                p.loop_body(body, init.len());
            }
            BulkOp::While {
                lanes,
                init,
                cond,
                body,
                bound,
            } => {
                p.word("while ");
                p.while_bound(*bound);
                p.lanes(lanes);
                p.states(&cond.params, init);
                p.word(" ");
                p.block(cond);
                p.word(" do ");
                p.block_with_params(body);
            }
        }
    }
}

/// `reduce add [k] %0`, or `reduce (%0) [k] %1 { |%2, %3| … }`
fn reduce(p: &mut Printer<'_, Bulk>, combine: &Combine, axes: &[AxisId], operands: &[ValueId]) {
    p.word("reduce ");
    match combine {
        Combine::Monoid(monoid) => p.word(monoid.name()),
        Combine::ArgMin => p.word("argmin"),
        Combine::ArgMax => p.word("argmax"),
        Combine::Custom { init, op: _ } => {
            p.word("(");
            p.values(init);
            p.word(")");
        }
    }
    p.word(" ");
    p.axes(axes);
    p.word(" ");
    p.values(operands);
    if let Combine::Custom { init: _, op } = combine {
        p.word(" ");
        p.block_with_params(op);
    }
}

impl Printer<'_, Bulk> {
    fn axis(&mut self, axis: AxisId) {
        let program = self.program;
        match program.decls.axes.get(axis.0 as usize) {
            Some(axis) => self.word(&axis.name),
            None => self.word(&format!("?{}", axis.0)),
        }
    }

    /// `[i, k]`
    fn axes(&mut self, axes: &[AxisId]) {
        self.word("[");
        self.list(axes, |p, &axis| p.axis(axis));
        self.word("]");
    }

    /// `[k := %0, …]`
    fn at(&mut self, at: &[(AxisId, ValueId)]) {
        self.word("[");
        self.list(at, |p, &(axis, index)| {
            p.axis(axis);
            p.word(" := ");
            p.value(index);
        });
        self.word("]");
    }

    /// ` where %c`, or nothing.
    fn mask(&mut self, mask: Option<ValueId>) {
        if let Some(mask) = mask {
            self.word(" where ");
            self.value(mask);
        }
    }

    /// `lanes [i] `, or nothing.
    fn lanes(&mut self, lanes: &[AxisId]) {
        if !lanes.is_empty() {
            self.word("lanes ");
            self.axes(lanes);
            self.word(" ");
        }
    }
}

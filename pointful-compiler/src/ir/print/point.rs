//! How the operations of Point are printed.

use super::{Print, Printer};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Extent, Program, Type, ValueId};

impl Print for Point {
    fn dim(p: &mut Printer<'_, Self>, dim: Extent) {
        p.extent(dim);
    }

    fn binding(_: &mut Printer<'_, Self>, _: ValueId) {}

    fn decls(_: &mut Printer<'_, Self>) {}

    fn result_type(program: &Program<Self>, index: usize) -> Type<Extent> {
        program.ty(program.body.results[index]).clone()
    }

    fn returned(_: &mut Printer<'_, Self>, _: usize) {}

    fn op(p: &mut Printer<'_, Self>, op: &PointOp) {
        match op {
            PointOp::Const(lit) => {
                p.word("const ");
                p.lit(*lit);
            }
            PointOp::Size(extent) => {
                p.word("size ");
                p.extent(*extent);
            }
            PointOp::Prim(prim, operands) => p.prim(*prim, operands),
            PointOp::Index { table, indices } => {
                p.word("index ");
                p.place(*table, indices);
            }
            PointOp::Array(values) => {
                p.word("array [");
                p.values(values);
                p.word("]");
            }
            PointOp::For { extent, body } => {
                p.word("for ");
                p.bind_indices(&body.params, &[*extent]);
                p.word(" ");
                p.block(body);
            }
            PointOp::Reduce { monoid, table } => {
                p.word("reduce ");
                p.word(monoid.name());
                p.word(" ");
                p.value(*table);
            }
            PointOp::ArgReduce { max, table } => {
                p.word(if *max { "argmax " } else { "argmin " });
                p.value(*table);
            }
            PointOp::Fold { init, tables, op } => along(p, "fold", init, tables, op),
            PointOp::Scan { init, tables, op } => along(p, "scan", init, tables, op),
            PointOp::Loop {
                extent,
                reverse,
                checkpoint,
                init,
                body,
            } => {
                p.word(if *reverse { "loop rev " } else { "loop " });
                p.checkpoint(*checkpoint);
                let (index, states) = body.params.split_at(body.params.len().min(1));
                p.bind_indices(index, &[*extent]);
                p.word(" ");
                p.states(states, init);
                p.word(" ");
                p.loop_body(body, init.len());
            }
            PointOp::While {
                init,
                cond,
                body,
                bound,
            } => {
                p.word("while ");
                p.while_bound(*bound);
                p.states(&cond.params, init);
                p.word(" ");
                p.block(cond);
                p.word(" do ");
                p.block_with_params(body);
            }
            PointOp::If {
                cond,
                then,
                otherwise,
            } => p.if_else(*cond, then, otherwise),
            PointOp::Accum { monoid, base } => {
                p.word("accum ");
                p.word(monoid.name());
                p.word(" ");
                p.value(*base);
            }
            PointOp::Accumulate {
                acc,
                indices,
                value,
            } => {
                p.word("accumulate ");
                p.place(*acc, indices);
                p.word(", ");
                p.value(*value);
            }
            PointOp::Get { acc } => {
                p.word("get ");
                p.value(*acc);
            }
            PointOp::Derive {
                mode,
                args,
                seeds,
                body,
            } => {
                p.word(mode.name());
                p.word(" ");
                p.states(&body.params, args);
                p.word(" (");
                p.values(seeds);
                p.word(") ");
                p.block(body);
            }
            PointOp::Rule {
                mode,
                args,
                body,
                rule,
            } => {
                p.word("rule ");
                p.word(mode.name());
                p.word(" ");
                p.states(&body.params, args);
                p.word(" ");
                p.block(body);
                p.word(" by ");
                p.block_with_params(rule);
            }
            PointOp::Assert {
                cond,
                message,
                shown,
            } => p.assert(*cond, message, shown),
            PointOp::Update {
                table,
                indices,
                value,
            } => {
                p.word("update ");
                p.place(*table, indices);
                p.word(", ");
                p.value(*value);
            }
        }
    }
}

/// `fold (%0) %1 { |%2, %3| … }`
fn along(
    p: &mut Printer<'_, Point>,
    word: &str,
    init: &[ValueId],
    tables: &[ValueId],
    op: &Block<Point>,
) {
    p.word(word);
    p.word(" (");
    p.values(init);
    p.word(") ");
    p.values(tables);
    p.word(" ");
    p.block_with_params(op);
}

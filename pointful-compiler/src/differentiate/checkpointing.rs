//! Loops of which a derivative keeps the states at the beginnings of strips.
//!
//! `#[checkpoint]` makes two loops of one: over strips, and in it over the iterations of a strip.
//! On the way back through the outer one its states alone are kept, and each strip runs again,
//! collecting what its own way back needs.

use super::cloning::Copier;
use super::linearize::Dual;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Checkpoint, Elem, Extent, Lit, Scalar, Stmt, ValueId};
use crate::ops::Prim;

impl Dual<'_> {
    /// A loop of strips, of which only the states at their beginnings are kept, and in it a loop
    /// over the strip.
    pub(super) fn strips(&mut self, stmt: Stmt<Bulk>, checkpoint: Checkpoint) {
        let BulkOp::Loop {
            axis,
            reverse,
            lanes,
            mut init,
            body,
            ..
        } = stmt.op
        else {
            return;
        };
        let guard = self.b.guard;
        let b = &mut *self.b;
        let states = init.len();
        let scalar = Scalar::Usize;
        let one = b.usize(1);
        let total = b.size(axis);
        let (strip, rest) = match checkpoint {
            Checkpoint::Every(k) => (b.usize(k.max(1) as usize), None),
            Checkpoint::Levels(..=1) => (one, None),
            Checkpoint::Levels(levels) => {
                // Strips of so many that each level has about equally many.
                let float = b.map(Prim::Cast(Scalar::F64), &[total]);
                let root = b.constant(Lit::of(Scalar::F64, 1.0 / levels as f64));
                let pieces = b.map(Prim::Powf, &[float, root]);
                let pieces = b.map(Prim::Ceil, &[pieces]);
                let pieces = b.map(Prim::Cast(scalar), &[pieces]);
                let pieces = b.map(Prim::Max, &[pieces, one]);
                let strip = b.ceil_div(total, pieces);
                let strip = b.map(Prim::Max, &[strip, one]);
                (strip, Some(Checkpoint::Levels(levels - 1)))
            }
            Checkpoint::Log => {
                let levels = match b.extent(axis) {
                    Extent::Const(n) => u64::from(u64::BITS - n.leading_zeros()),
                    Extent::Size(_) | Extent::Value(_) => 4,
                };
                let stmt = Stmt {
                    op: BulkOp::Loop {
                        axis,
                        reverse,
                        checkpoint: None,
                        lanes,
                        init,
                        body,
                    },
                    ..stmt
                };
                return self.strips(stmt, Checkpoint::Levels(levels.max(1)));
            }
        };
        let pieces = b.ceil_div(total, strip);
        let outer = b.axis("strip", Extent::Value(pieces));
        let at = b.param(Elem::Index(Extent::Value(pieces)), Vec::new());

        // What the loop collects is put into tables, for a collection of collections would be ragged.
        let mut tables = Vec::new();
        for &collected in &stmt.results[states..] {
            let ty = b.program.ty(collected).clone();
            let mut dims = lanes.clone();
            dims.extend(ty.dims.iter().copied().filter(|dim| !lanes.contains(dim)));
            // The states of a loop have not its own axis, so the table has another of the same length.
            tables.push((collected, ty.elem, dims));
        }
        let long = b.axis("step", b.extent(axis));
        let rename = |dims: &[crate::ir::AxisId]| -> Vec<crate::ir::AxisId> {
            dims.iter()
                .map(|&dim| if dim == axis { long } else { dim })
                .collect()
        };
        let mut outer_states = body.params[1..].to_vec();
        let mut next_states = Vec::new();
        let mut inner_tables = Vec::new();
        for (_, elem, dims) in &tables {
            let blank = match elem {
                Elem::Scalar(scalar) => b.constant(Lit::of(*scalar, 0.0)),
                Elem::Index(extent) | Elem::Bound(extent) => {
                    let zero = b.usize(0);
                    b.map(Prim::Trust(*extent), &[zero])
                }
            };
            init.push(blank);
            let [state, inner] = [(); 2].map(|()| b.param(*elem, rename(dims)));
            outer_states.push(state);
            inner_tables.push(inner);
        }

        // The body of the outer loop.
        b.guard = None;
        let linear = std::mem::take(&mut b.linear);
        b.enter();
        let begin = b.map(Prim::Cast(scalar), &[at]);
        let begin = b.map(Prim::Mul, &[begin, strip]);
        let left = b.map(Prim::Sub, &[total, begin]);
        let length = b.map(Prim::Min, &[left, strip]);
        let inner = b.axis("in_strip", Extent::Value(length));
        let within = b.param(Elem::Index(Extent::Value(length)), Vec::new());
        b.enter();
        let offset = b.map(Prim::Cast(scalar), &[within]);
        let ordinal = b.map(Prim::Add, &[begin, offset]);
        let index = b.index(axis, ordinal);
        let named = b.leave().primal;
        let mut copier = Copier::default();
        // The states of the inner loop are those of the body; the outer loop has its own.
        let inner_states: Vec<ValueId> = outer_states[..states].to_vec();
        for state in &mut outer_states[..states] {
            let ty = b.program.ty(*state).clone();
            *state = b.param(ty.elem, ty.dims);
        }
        copier.rename(b, body.params[0], index);
        b.enter();
        for stmt in named {
            b.push(stmt);
        }
        for stmt in &body.stmts {
            let copy = copier.stmt(b, stmt);
            b.push(copy);
        }
        self.demand.copied(&copier);
        let b = &mut *self.b;
        let yields: Vec<ValueId> = body
            .results
            .iter()
            .map(|&value| copier.get(value))
            .collect();
        next_states.extend(&yields[..states]);
        for (&table, &value) in inner_tables.iter().zip(&yields[states..]) {
            let updated = b.emit(BulkOp::Update {
                table,
                at: vec![(long, index)],
                value,
                mask: None,
            });
            next_states.push(updated);
        }
        let stmts = b.leave().primal;
        let inner_loop = BulkOp::Loop {
            axis: inner,
            reverse,
            checkpoint: rest,
            lanes: lanes.clone(),
            init: outer_states.clone(),
            body: Box::new(Block {
                params: [vec![within], inner_states, inner_tables].concat(),
                stmts,
                results: next_states,
            }),
        };
        let finals = b.emit_all(inner_loop);
        let stmts = b.leave().primal;
        b.linear = linear;
        b.guard = guard;
        self.frugal.insert(at);
        let results: Vec<ValueId> = stmt.results[..states]
            .iter()
            .copied()
            .chain(
                tables
                    .iter()
                    .map(|(_, elem, dims)| self.b.param(*elem, rename(dims))),
            )
            .collect();
        let arrays = results[states..].to_vec();
        self.stmt(Stmt {
            results,
            op: BulkOp::Loop {
                axis: outer,
                reverse,
                checkpoint: None,
                lanes,
                init,
                body: Box::new(Block {
                    params: [&[at], outer_states.as_slice()].concat(),
                    stmts,
                    results: finals,
                }),
            },
            guard,
            span: stmt.span,
        });
        // Back under the name of the loop's own axis.
        for ((collected, _, _), table) in tables.into_iter().zip(arrays) {
            let table = self.names.get(table);
            let iota = self.b.emit(BulkOp::Iota(axis));
            let op = BulkOp::Gather {
                table,
                at: vec![(long, iota)],
            };
            self.stmt(Stmt {
                results: vec![collected],
                op,
                guard,
                span: stmt.span,
            });
        }
    }
}

impl super::builder::Builder {
    /// `⌈a / b⌉` of sizes, `b` not zero.
    fn ceil_div(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let one = self.usize(1);
        let less = self.map(Prim::Sub, &[b, one]);
        let more = self.map(Prim::Add, &[a, less]);
        self.map(Prim::Div, &[more, b])
    }
}

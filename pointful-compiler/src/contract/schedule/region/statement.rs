//! What a task does at a point of its loops.

use smallvec::smallvec;

use super::Region;
use crate::contract::schedule::build::Builder;
use crate::contract::schedule::tasks::{Kind, TaskId, leaf_loop};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{Block, Lit, Stmt, ValueId};

impl<'p> Builder<'p> {
    /// Runs one task: all its axes are open.
    pub(super) fn task(&mut self, region: &mut Region<'p>, task: TaskId) {
        match region.tasks.list[task].kind {
            Kind::Keep(value) => match region.places[task].first().cloned() {
                None => {
                    self.eval(value);
                }
                Some(place) => {
                    let (scalar, _) = self.compute(value);
                    self.write(&place, scalar);
                    // Readers in the same iteration need not load it.
                    let depth = self.depth();
                    self.remember(value, scalar, depth);
                }
            },
            Kind::Deliver(..) if region.at_once.values().any(|&stored| stored == task) => {}
            Kind::Deliver(value, slot) => {
                let (scalar, _) = self.eval(value);
                let (Some(buffer), dims) = region.outs[slot].clone() else {
                    unreachable!("the buffer was made before its loops")
                };
                let indices = self.indices(buffer, &dims, &[]);
                self.run(KernelOp::Store {
                    buffer,
                    indices,
                    value: scalar,
                });
            }
            Kind::Run(stmt) => self.statement(region, task, stmt),
        }
    }

    pub(super) fn statement(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
    ) {
        if let Some(factors) = self.facts.factors(stmt) {
            return self.contract(region, task, stmt, factors);
        }
        match &stmt.op {
            BulkOp::Reduce {
                combine: Combine::Custom { init, op },
                axes,
                operands,
            } if leaf_loop(&stmt.op) => {
                self.fold(region, task, stmt, axes[0], init, operands, op);
            }
            BulkOp::Reduce {
                combine,
                axes,
                operands,
            } => self.combine(region, task, combine, axes, operands),
            BulkOp::Scan { .. } => self.scan(region, task, stmt),
            BulkOp::Scatter {
                monoid,
                at,
                value,
                mask,
                ..
            } => {
                let place = region.places[task][0].clone();
                let monoid = *monoid;
                self.masked(*mask, |this| {
                    let indices = this.indices(place.id, &place.dims, at);
                    let (value, _) = this.eval(*value);
                    this.combine_one(stmt.results[0], monoid, &place, indices, value);
                });
            }
            BulkOp::Update {
                at, value, mask, ..
            } => {
                let place = region.places[task][0].clone();
                self.masked(*mask, |this| {
                    let indices = this.indices(place.id, &place.dims, at);
                    let (value, _) = this.eval(*value);
                    this.run(KernelOp::Store {
                        buffer: place.id,
                        indices,
                        value,
                    });
                });
            }
            BulkOp::Pack { axis, values } => {
                let place = region.places[task][0].clone();
                let extent = self.extent_of(*axis);
                for (k, &value) in values.iter().enumerate() {
                    let (scalar, _) = self.eval(value);
                    let number = self.constant(Lit::Int(crate::ir::Scalar::Usize, k as i128));
                    let elem = crate::ir::Elem::Index(extent);
                    let op = KernelOp::Prim(crate::ops::Prim::Trust(extent), smallvec![number]);
                    let index = self.scalar(self.depth(), op, elem, None);
                    let depth = self.depth();
                    let dims = place.dims.iter().enumerate();
                    let indices = dims
                        .map(|(number, own)| {
                            let here = if own == axis {
                                index
                            } else {
                                self.index(*own).0
                            };
                            self.widen(here, place.id, number, depth)
                        })
                        .collect();
                    self.run(KernelOp::Store {
                        buffer: place.id,
                        indices,
                        value: scalar,
                    });
                }
            }
            BulkOp::Assert {
                cond,
                message,
                shown,
            } => {
                let (cond, _) = self.eval(*cond);
                let shown = shown.iter().map(|&value| self.eval(value).0).collect();
                let assert = KernelOp::Assert {
                    cond,
                    message: message.clone(),
                    shown,
                };
                self.run_from(assert, stmt.span);
            }
            BulkOp::Loop {
                axis,
                reverse,
                init,
                body,
                ..
            } => {
                self.sequential_loop(region, task, stmt, *axis, *reverse, init, body);
            }
            BulkOp::While {
                init,
                cond,
                body,
                bound,
                ..
            } => {
                self.while_loop(region, task, stmt, init, cond, body, *bound);
            }
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. } => unreachable!("computed on demand"),
            BulkOp::Derive { .. } | BulkOp::Rule { .. } => {
                unreachable!("derivatives are taken before programs are scheduled")
            }
        }
    }

    /// Runs `body` where the mask holds.
    pub(super) fn masked(&mut self, mask: Option<ValueId>, body: impl FnOnce(&mut Self)) {
        let asked = |mask: &ValueId| self.known((*mask, true)).is_none();
        let Some(mask) = mask.filter(asked) else {
            return body(self);
        };
        let test = self.test((mask, true));
        self.push(Vec::new(), Some((mask, true)));
        body(self);
        let then = self.pop();
        self.run(KernelOp::If {
            cond: test,
            then: Box::new(then),
            otherwise: Box::new(Block::default()),
        });
    }
}

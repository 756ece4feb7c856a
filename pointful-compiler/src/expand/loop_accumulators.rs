//! Accumulators of the outside inside sequential loops: which of the three treatments of
//! [`accumulate`](super::accumulators) each gets.

use super::accumulators::{Accumulator, Entered, Pending, Treatment};
use super::context::Lift;
use super::free_variables::{extents, reads};
use crate::ir::stages::point::Point;
use crate::ir::{AxisId, Block, Extent, Operation, ValueId};

impl Lift<'_> {
    /// Decides how each accumulator of the outside is treated inside a loop, and adds the initial
    /// states of those that become states.
    pub(super) fn enter_accumulators(
        &mut self,
        blocks: &[&Block<Point>],
        lanes: &[AxisId],
        can_collect: bool,
        inits: &mut Vec<ValueId>,
    ) -> Vec<Entered> {
        let mut entered: Vec<Entered> = Vec::new();
        // What a loop runs along must be known outside of it for what it contributes to be taken in there.
        let can_collect = can_collect && !blocks.iter().any(|block| self.computes_extents(block));
        for acc in blocks.iter().flat_map(|block| reads(self.point, block)) {
            let known = entered.iter().any(|other| other.acc == acc);
            let Some(outside) = self.accs.get(&acc).filter(|_| !known).cloned() else {
                continue;
            };
            let contributing = &self.open[outside.open_at..];
            let shared = lanes.iter().any(|lane| contributing.contains(lane));
            let (treatment, inside) = match outside.current {
                Some(current) if !shared => {
                    inits.push(current);
                    (Treatment::State, outside.clone())
                }
                _ if can_collect => {
                    let inside = Accumulator {
                        current: None,
                        ..outside.clone()
                    };
                    (Treatment::Collected, inside)
                }
                _ => (Treatment::Local, self.local(acc, &outside, lanes, inits)),
            };
            self.accs.insert(acc, inside);
            entered.push(Entered {
                acc,
                treatment,
                outside,
            });
        }
        entered
    }

    /// Whether a block that has not been lifted yet has a loop along an axis whose extent it
    /// computes.
    fn computes_extents(&self, block: &Block<Point>) -> bool {
        block.stmts.iter().any(|stmt| {
            let own = match extents(&stmt.op) {
                Some(Extent::Value(value)) => self.env[value.index()].is_none(),
                Some(Extent::Const(_) | Extent::Size(_)) | None => false,
            };
            own || stmt
                .op
                .blocks()
                .into_iter()
                .any(|b| self.computes_extents(b))
        })
    }

    /// An accumulator of one lane's own, which begins as the identity.
    fn local(
        &mut self,
        acc: ValueId,
        outside: &Accumulator,
        lanes: &[AxisId],
        inits: &mut Vec<ValueId>,
    ) -> Accumulator {
        let scalar = self.point.elem(acc).repr();
        inits.push(self.constant(outside.monoid.identity(scalar)));
        let dims = outside
            .dims
            .iter()
            .map(|&dim| {
                if lanes.contains(&dim) || self.open.contains(&dim) {
                    self.new_axis(self.axis_extent(dim), None)
                } else {
                    dim
                }
            })
            .collect();
        Accumulator {
            monoid: outside.monoid,
            dims,
            open_at: self.open.len(),
            scope_at: self.scopes.len(),
            current: None,
        }
    }

    /// The states that accumulators become inside the innermost block.
    pub(super) fn accumulator_params(
        &mut self,
        entered: &[Entered],
        lanes: &[AxisId],
    ) -> Vec<ValueId> {
        let mut params = Vec::new();
        for Entered { acc, treatment, .. } in entered {
            if matches!(treatment, Treatment::Collected) {
                continue;
            }
            let elem = self.elem(self.point.elem(*acc));
            let dims = &self.accs[acc].dims;
            let param = self.parameter(elem, [lanes, dims].concat());
            params.push(param);
            if let Some(inside) = self.accs.get_mut(acc) {
                inside.current = Some(param);
            }
        }
        params
    }

    /// The states of accumulators after an iteration.
    pub(super) fn accumulator_results(&self, entered: &[Entered]) -> Vec<ValueId> {
        entered
            .iter()
            .filter(|entered| !matches!(entered.treatment, Treatment::Collected))
            .filter_map(|entered| self.accs[&entered.acc].current)
            .collect()
    }

    /// Puts the accumulators back, with what the loop has accumulated.
    pub(super) fn leave_accumulators(
        &mut self,
        entered: Vec<Entered>,
        accumulated: &[ValueId],
        guard: Option<ValueId>,
    ) {
        let mut accumulated = accumulated.iter().copied();
        for Entered {
            acc,
            treatment,
            outside,
        } in entered
        {
            let inside = self.accs.insert(acc, outside.clone());
            match treatment {
                Treatment::Collected => {}
                Treatment::State => {
                    let (Some(mut value), Some(before)) = (accumulated.next(), outside.current)
                    else {
                        continue;
                    };
                    if let Some(guard) = guard {
                        value = self.select(guard, value, before, &outside.dims, outside.scope_at);
                        // Where the loop was not reached nothing was accumulated, which is no reason to be unspecified.
                        let mut taint = self.taint_of([guard, before]);
                        self.at(outside.reach(), |lift| {
                            lift.settled(&mut taint, &outside.dims)
                        });
                        taint.depth = taint.depth.min(outside.scope_at);
                        self.info[value.index()].taint = taint;
                    }
                    let current = Some(value);
                    self.accs.insert(acc, Accumulator { current, ..outside });
                }
                Treatment::Local => {
                    let (Some(value), Some(inside)) = (accumulated.next(), inside) else {
                        continue;
                    };
                    let renamed: Vec<(AxisId, AxisId)> = outside
                        .dims
                        .iter()
                        .copied()
                        .zip(inside.dims)
                        .filter(|(outer, inner)| outer != inner)
                        .collect();
                    let at = renamed
                        .iter()
                        .map(|&(outer, inner)| (outer, self.iota(inner)))
                        .collect();
                    self.contribute_outside(Pending {
                        acc,
                        at,
                        value,
                        mask: None,
                        over: renamed.into_iter().map(|(_, inner)| inner).collect(),
                    });
                }
            }
        }
    }

    /// Contributes what a loop gave, where that loop was reached.
    pub(super) fn contribute_outside(&mut self, mut new: Pending) {
        let depth = self.scopes.len();
        let frame = &self.frames[self.frames.len() - 1];
        if depth > frame.base_scope.max(self.accs[&new.acc].scope_at) {
            let guard = self.scope_guard(depth - 1);
            new.mask = Some(match new.mask {
                Some(mask) => self.conjunction(Some(guard), mask),
                None => guard,
            });
        }
        self.contribute(new);
    }
}

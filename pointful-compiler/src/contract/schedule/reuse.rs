//! Results in the place of parameters.
//!
//! A function that takes a table by value and gives another one of its shape needs no new buffer,
//! if each element of the result is made of the parameter's element at the same point and nothing
//! else looks at the parameter any more: `for i in N { u[i] *= a; }`. Every read of an element then
//! comes before the one write to it, in whatever order the points are visited. So it is with what a
//! loop carries from one step to the next: `for t in T { for i in N { u[i] *= a[t]; } }`.

use super::build::{Builder, Location};
use super::region::Region;
use super::tasks::Kind;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Extent, Stmt, ValueId};

impl<'p> Builder<'p> {
    /// The buffer of a parameter that the result `value` over `dims` may be stored in.
    pub(super) fn reused(
        &self,
        region: &Region<'p>,
        value: ValueId,
        dims: &[AxisId],
    ) -> Option<ValueId> {
        // What is given back as it came has its place already.
        self.facts.site(value)?;
        let deliveries = region.tasks.list.iter();
        let deliveries =
            deliveries.filter(|task| matches!(task.kind, Kind::Deliver(v, _) if v == value));
        if deliveries.count() != 1 {
            return None;
        }
        let elem = self.facts.program.elem(value);
        let params = self.facts.program.params.iter();
        let mut params =
            params.filter(|param| param.owned && self.facts.program.elem(param.value) == elem);
        params.find_map(|param| {
            let Some(Location::Buffer {
                buffer,
                dims: held,
                depth,
            }) = self.location(param.value)
            else {
                return None;
            };
            let taken = region.outs.iter().any(|(out, _)| *out == Some(*buffer));
            let fits = held == dims && !taken && !self.opened_since(*depth);
            (fits && self.is_read_for(region, param.value, value)).then_some(*buffer)
        })
    }

    /// Whether all that is still to be done with `read` is to compute `value` at the same point.
    fn is_read_for(&self, region: &Region<'p>, read: ValueId, value: ValueId) -> bool {
        let facts = &self.facts;
        if facts.home(read) != region.block || (read != value && facts.given(read)) {
            return false;
        }
        if self.is_length(read) {
            return false;
        }
        facts.readers(read).iter().all(|&(reader, home)| {
            let Some(owner) = facts.statement_of(reader, home, region.block) else {
                return false;
            };
            let pointwise = matches!(reader.op, BulkOp::Map(..) | BulkOp::Select(..));
            let for_value = read != value
                && home == region.block
                && pointwise
                && !facts.is_task(reader.results[0])
                && self.is_read_for(region, reader.results[0], value);
            for_value || self.has_read(region, owner)
        })
    }

    /// Whether a loop's state may be stored where the one before is: each of its elements is made
    /// of that one's at the same point, which nothing else reads.
    pub(super) fn is_made_in_place(&self, next: ValueId, param: ValueId) -> bool {
        self.is_only_for(param, next, self.facts.home(param))
    }

    /// Whether all that a block does with `read` is to compute `value` at the same point, as the
    /// block ends.
    fn is_only_for(&self, read: ValueId, value: ValueId, block: usize) -> bool {
        let facts = &self.facts;
        if read == value {
            return facts.readers(read).is_empty();
        }
        !facts.given(read)
            && !self.is_length(read)
            && facts.readers(read).iter().all(|&(reader, home)| {
                home == block
                    && matches!(reader.op, BulkOp::Map(..) | BulkOp::Select(..))
                    && !facts.is_task(reader.results[0])
                    && self.is_only_for(reader.results[0], value, block)
            })
    }

    /// Whether axes are as long as the value says, which asks for it at any time.
    fn is_length(&self, value: ValueId) -> bool {
        let axes = &self.facts.program.decls.axes;
        axes.iter().any(|axis| axis.extent == Extent::Value(value))
    }

    /// Whether a statement has run that only reads its operands, and leaves their buffers alone.
    fn has_read(&self, region: &Region<'p>, stmt: &'p Stmt<Bulk>) -> bool {
        let reads = match &stmt.op {
            BulkOp::Reduce { combine, .. } => match combine {
                Combine::Monoid(_) | Combine::ArgMin | Combine::ArgMax => true,
                Combine::Custom { .. } => false,
            },
            BulkOp::Assert { .. } => true,
            // What is computed on demand is computed for others.
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. } => {
                let (facts, result) = (&self.facts, stmt.results[0]);
                if !facts.is_task(result) {
                    let mut readers = facts.readers(result).iter();
                    return !facts.given(result)
                        && !self.is_length(result)
                        && readers.all(|&(reader, home)| {
                            let owner = facts.statement_of(reader, home, region.block);
                            owner.is_some_and(|owner| self.has_read(region, owner))
                        });
                }
                true
            }
            BulkOp::Pack { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => false,
        };
        let mut tasks = region.tasks.list.iter().zip(&region.done);
        reads
            && tasks.any(|(task, done)| match task.kind {
                Kind::Run(own) => *done && std::ptr::eq(own, stmt),
                Kind::Keep(kept) => *done && stmt.results.contains(&kept),
                Kind::Deliver(..) => false,
            })
    }
}

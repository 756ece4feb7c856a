//! `argmin` and `argmax`: the place of the extremal element.
//!
//! An element costs one comparison with the best so far. That begins as a NaN, than which no number
//! is worse, or among whole numbers as one than which none is worse; the place begins as the first,
//! which it is if nothing is ever better. Whether there was an element at all is known of the axis.

use smallvec::smallvec;

use super::build::Builder;
use super::region::{Place, Region};
use super::tasks::TaskId;
use super::tree::NodeKind;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Message, Monoid, Operation, Scalar, Stmt, ValueId,
};
use crate::ops::Prim;

/// The monoid of the extremum whose place is looked for.
pub(super) fn extremum(combine: &Combine) -> Option<Monoid> {
    match combine {
        Combine::ArgMin => Some(Monoid::Min),
        Combine::ArgMax => Some(Monoid::Max),
        Combine::Monoid(_) | Combine::Custom { .. } => None,
    }
}

/// What the best element so far is before there was one.
pub(super) fn worst(monoid: Monoid, elem: Scalar) -> Lit {
    if elem.is_float() {
        Lit::of(elem, f64::NAN)
    } else {
        monoid.identity(elem)
    }
}

impl<'p> Builder<'p> {
    /// The places of an `argmin` or `argmax`: for the best element so far, and for where it was.
    pub(super) fn extremum_places(
        &mut self,
        region: &Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        monoid: Monoid,
    ) -> Vec<Place> {
        let result = stmt.results[0];
        let elem = self.facts.program.elem(stmt.op.operands()[0]).repr();
        let dims = self.rest(result);
        let best = if self.is_innermost(region, task) {
            Place::OWN
        } else {
            let worst = Some(worst(monoid, elem));
            self.place_of(Elem::Scalar(elem), dims.clone(), worst, None)
        };
        let first = Some(Lit::of(Scalar::Usize, 0.0));
        let at = self.place_of(Elem::USIZE, dims, first, Some(result));
        vec![best, at]
    }

    /// Takes the current element if it is better, or if it is the first number.
    pub(super) fn better(
        &mut self,
        places: &[Place],
        axis: AxisId,
        operand: ValueId,
        monoid: Monoid,
    ) {
        let [best, at] = places else {
            unreachable!("two places")
        };
        let depth = self.depth();
        let (mut value, _) = self.eval(operand);
        let elem = self.out.elem(best.id);
        if self.out.elem(value) != elem {
            let cast = KernelOp::Prim(Prim::Cast(elem.repr()), smallvec![value]);
            value = self.scalar(depth, cast, elem, None);
        }
        let so_far = self.read(best);
        let compare = |this: &mut Self, prim, args: [ValueId; 2]| {
            let op = KernelOp::Prim(prim, args[..].into());
            this.scalar(this.depth(), op, Elem::BOOL, None)
        };
        let take = |this: &mut Self| {
            this.push(Vec::new(), None);
            this.write(best, value);
            let (index, _) = this.index(axis);
            let number = KernelOp::Prim(Prim::Cast(Scalar::Usize), smallvec![index]);
            let number = this.scalar(this.depth(), number, Elem::USIZE, None);
            this.write(at, number);
            this.pop()
        };
        let is_min = monoid == Monoid::Min;
        if !elem.is_float() {
            let prim = if is_min { Prim::Lt } else { Prim::Gt };
            let cond = compare(self, prim, [value, so_far]);
            let then = take(self);
            self.run(KernelOp::If {
                cond,
                then: Box::new(then),
                otherwise: Box::new(Block::default()),
            });
            return;
        }
        // One that is not worse than a NaN is better, or none.
        let prim = if is_min { Prim::Ge } else { Prim::Le };
        let cond = compare(self, prim, [value, so_far]);
        self.push(Vec::new(), None);
        let is_number = compare(self, Prim::Eq, [value, value]);
        let then = take(self);
        self.run(KernelOp::If {
            cond: is_number,
            then: Box::new(then),
            otherwise: Box::new(Block::default()),
        });
        let otherwise = self.pop();
        self.run(KernelOp::If {
            cond,
            then: Box::new(Block::default()),
            otherwise: Box::new(otherwise),
        });
    }

    /// Whether the value is what an `argmin` or `argmax` found that has run.
    pub(super) fn is_position(&self, value: ValueId) -> bool {
        self.location(value).is_some()
            && self.facts.site(value).is_some_and(|stmt| {
                matches!(&stmt.op, BulkOp::Reduce { combine, .. } if extremum(combine).is_some())
            })
    }

    /// The index that an `argmin` or `argmax` found; it panics if there was no element.
    pub(super) fn position(&mut self, value: ValueId) -> (ValueId, usize) {
        let site = self.facts.site(value);
        let guard = site.and_then(|stmt| stmt.guard);
        if let Some(guard) = guard
            && self.known((guard, true)).is_none()
        {
            return self.choose((guard, true), value, Some(value), None);
        }
        let location = self.location(value).cloned();
        let location = location.expect("its places are made before it is read");
        let (number, depth) = self.fetch(value, &location);
        self.position_of(value, value, number, depth)
    }

    /// The same of one that may have been found elsewhere, in `table`: `number` is what was found
    /// there.
    pub(super) fn position_of(
        &mut self,
        value: ValueId,
        table: ValueId,
        number: ValueId,
        mut depth: usize,
    ) -> (ValueId, usize) {
        let Some(Stmt {
            op: BulkOp::Reduce { combine, axes, .. },
            guard,
            ..
        }) = self.facts.site(table)
        else {
            return (number, depth);
        };
        if extremum(combine).is_none() {
            return (number, depth);
        }
        let own = self.facts.site(value).and_then(|stmt| stmt.guard);
        let axis = self.facts.extent(axes[0]);
        let some = matches!(axis, Extent::Const(n) if n > 0)
            // How long the axis was there is not known here.
            || matches!(axis, Extent::Value(v) if value != table && !self.facts.axes(v).is_empty())
            // Its guard says that there are elements, or is another than the reader's, who then may look at what was not looked for.
            || guard.is_some_and(|guard| own != Some(guard) || self.facts.is_not_empty_for(guard, table));
        if !some {
            let extent = self.extent(axis);
            if let Extent::Value(_) = extent {
                depth = self.depth();
            }
            let size = self.scalar(depth, KernelOp::Size(extent), Elem::USIZE, None);
            let none = Lit::of(Scalar::Usize, 0.0);
            let none = self.scalar(depth, KernelOp::Const(none), Elem::USIZE, None);
            let any = KernelOp::Prim(Prim::Gt, smallvec![size, none]);
            let cond = self.scalar(depth, any, Elem::BOOL, None);
            let assert = KernelOp::Assert {
                cond,
                message: Message::plain("argmin or argmax of an empty table"),
                shown: Vec::new(),
            };
            let span = self.facts.program.values[value.index()].span;
            self.run_at(depth, assert, span);
        }
        let elem = self.elem(self.facts.program.elem(value));
        let Elem::Index(extent) = elem else {
            unreachable!("the result is an index")
        };
        let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![number]);
        (self.scalar(depth, trust, elem, Some(value)), depth)
    }

    /// Which of two extremal elements of neighbouring pieces is taken, and where each was. A piece
    /// of nothing has what everything is better than.
    pub(super) fn better_of(
        &mut self,
        monoid: Monoid,
        earlier: &[ValueId],
        later: &[ValueId],
    ) -> Vec<ValueId> {
        let (so_far, value) = (earlier[0], later[0]);
        let depth = self.depth();
        let truth = |this: &mut Self, prim, args: [ValueId; 2]| {
            this.scalar(
                depth,
                KernelOp::Prim(prim, args[..].into()),
                Elem::BOOL,
                None,
            )
        };
        let better = if monoid == Monoid::Min {
            Prim::Lt
        } else {
            Prim::Gt
        };
        let mut take = truth(self, better, [value, so_far]);
        if self.out.elem(value).is_float() {
            let was_none = truth(self, Prim::Ne, [so_far, so_far]);
            let is_number = truth(self, Prim::Eq, [value, value]);
            let first = truth(self, Prim::And, [was_none, is_number]);
            take = truth(self, Prim::Or, [take, first]);
        }
        let pairs = earlier.iter().zip(later);
        let taken = pairs.map(|(&earlier, &later)| {
            let elem = self.out.elem(later);
            self.scalar(depth, KernelOp::Select(take, later, earlier), elem, None)
        });
        taken.collect()
    }

    /// Whether the innermost loop around a task is the one along which it looks for an extremum,
    /// and runs as one piece: then the best so far is nobody else's business.
    fn is_innermost(&self, region: &Region<'_>, task: TaskId) -> bool {
        let own = &region.tasks.list[task];
        let mut node = region.tree.leaf[task];
        let mut found = false;
        while node != 0 {
            node = region.tree.nodes[node].parent;
            match region.tree.nodes[node].kind {
                NodeKind::Loop { axis, .. } if !found => {
                    if own.guest_of.is_some() || own.reduced != [axis] {
                        return false;
                    }
                    found = true;
                }
                // Points of what is around it are what is parallel.
                NodeKind::Loop {
                    in_order: false, ..
                } => return true,
                NodeKind::Loop { in_order: true, .. }
                | NodeKind::Root
                | NodeKind::If(_)
                | NodeKind::Leaf(_) => {}
            }
        }
        found && self.kernel.is_some()
    }
}

//! Places that are combined into: reductions, scatters and updates.

use smallvec::smallvec;

use super::build::{Builder, Location};
use super::extrema::extremum;
use super::region::{Place, Region};
use super::tasks::TaskId;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{KernelOp, Par};
use crate::ir::{AxisId, Extent, Monoid, Stmt, ValueId};
use crate::ops::Prim;

impl<'p> Builder<'p> {
    /// The places of a reduction whose loops are in the tree, holding identities (or the initial
    /// tuple).
    pub(super) fn reduce_places(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        combine: &'p Combine,
    ) {
        let depth = self.depth();
        match combine {
            Combine::Monoid(monoid) => {
                let result = stmt.results[0];
                let identity = monoid.identity(self.facts.program.elem(result).repr());
                let place = self.place(result, Some(identity));
                self.locate(result, place.location(depth));
                region.places[task] = vec![place];
            }
            Combine::ArgMin | Combine::ArgMax => {
                let monoid = extremum(combine).expect("it is one of the two");
                let places = self.extremum_places(region, task, stmt, monoid);
                self.locate(stmt.results[0], places[1].location(depth));
                region.places[task] = places;
            }
            Combine::Custom { init, .. } => {
                for (&result, &init) in stmt.results.iter().zip(init) {
                    let place = self.filled(result, init);
                    self.locate(result, place.location(depth));
                    region.places[task].push(place);
                }
            }
        }
    }

    /// A new place for `result` that holds `value` at every point. A constant is there from the
    /// start.
    fn filled(&mut self, result: ValueId, value: ValueId) -> Place {
        let literal = match self.facts.site(value).map(|stmt| &stmt.op) {
            Some(BulkOp::Const(lit)) => Some(*lit),
            _ => None,
        };
        let place = self.place(result, literal);
        if literal.is_none() {
            self.fill(&place, value);
        }
        place
    }

    /// Stores `value` at every point of a place.
    pub(super) fn fill(&mut self, place: &Place, value: ValueId) {
        self.for_each(&place.dims, value, |this| {
            let (scalar, _) = this.eval(value);
            this.write(place, scalar);
        });
    }

    /// Does something at every point of some axes, which are not open: in a kernel if this is none.
    /// `of`: the value for which.
    pub(super) fn for_each(&mut self, axes: &[AxisId], of: ValueId, body: impl FnOnce(&mut Self)) {
        let ragged = |&axis: &AxisId| match self.facts.extent(axis) {
            Extent::Value(length) => !self.facts.axes(length).is_empty(),
            Extent::Const(_) | Extent::Size(_) => false,
        };
        let parallel = self.kernel.is_none() && !axes.is_empty() && !axes.iter().any(ragged);
        let mut bound = Vec::new();
        let mut extents = Vec::new();
        for &axis in axes {
            let (index, extent) = self.new_index(axis);
            extents.push(extent);
            if parallel {
                bound.push((axis, index));
            } else {
                self.push(vec![(axis, index)], None);
            }
        }
        if parallel {
            self.push(bound, None);
            self.kernel = Some(self.depth());
            body(self);
            self.kernel = None;
            let body = self.pop();
            let name = self.facts.program.values[of.index()].name.clone();
            return self.run(KernelOp::Own(Par {
                number: 0,
                by_columns: false,
                speculates: false,
                name: name.unwrap_or_else(|| self.out.name.clone()),
                extents,
                accs: Vec::new(),
                folds: Vec::new(),
                body: Box::new(body),
            }));
        }
        body(self);
        for extent in extents.into_iter().rev() {
            let body = self.pop();
            self.run(KernelOp::For {
                extent,
                reverse: false,
                body: Box::new(body),
            });
        }
    }

    /// One step of a reduction at the current point.
    pub(super) fn combine(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        combine: &'p Combine,
        axes: &[AxisId],
        operands: &[ValueId],
    ) {
        let places = region.places[task].clone();
        match combine {
            Combine::Monoid(monoid) => {
                // What another task finds meanwhile is not looked for twice: see `held`.
                let [place] = &places[..] else { return };
                let (value, _) = self.eval(operands[0]);
                let indices = self.indices(place.id, &place.dims, &[]);
                let result = region.tasks.list[task].results()[0];
                self.combine_one(result, *monoid, place, indices, value);
            }
            Combine::ArgMin => self.better(&places, axes[0], operands[0], Monoid::Min),
            Combine::ArgMax => self.better(&places, axes[0], operands[0], Monoid::Max),
            Combine::Custom { op, .. } => self.step_of(&places, op, operands),
        }
    }

    /// Combines one value into the place of `result`.
    pub(super) fn combine_one(
        &mut self,
        result: ValueId,
        monoid: Monoid,
        place: &Place,
        indices: Vec<ValueId>,
        value: ValueId,
    ) {
        // Kernels only store into what was made outside them; a private copy has another name than the place.
        let shared = matches!(
            (self.location(result), self.kernel),
            (Some(&Location::Buffer { buffer, depth, .. }), Some(kernel))
                if buffer == place.id && depth < kernel
        );
        if !shared {
            self.run(KernelOp::Combine {
                monoid,
                place: place.id,
                indices,
                value,
            });
            return;
        }
        let depth = self.depth();
        let elem = self.out.elem(place.id);
        let load = KernelOp::Load {
            buffer: place.id,
            indices: indices.clone(),
        };
        let before = self.scalar(depth, load, elem, None);
        let prim = KernelOp::Prim(Prim::combining(monoid), smallvec![before, value]);
        let value = self.scalar(depth, prim, elem, None);
        self.run(KernelOp::Store {
            buffer: place.id,
            indices,
            value,
        });
    }

    /// The buffer of a scatter or update: that of its base if nobody reads the base any more, else
    /// a copy of it.
    pub(super) fn versioned(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
    ) -> Place {
        let (base, alone) = match &stmt.op {
            BulkOp::Scatter { base, .. } => (*base, true),
            BulkOp::Update { table, .. } => (*table, !region.tasks.list[task].order.is_empty()),
            other => unreachable!("not a new version of an array: {other:?}"),
        };
        let result = stmt.results[0];
        if let Some(BulkOp::Const(lit)) = self.facts.site(base).map(|s| &s.op) {
            return self.place(result, Some(*lit));
        }
        let dims = self.rest(result);
        match self.claim(region, task, base, &dims, alone) {
            Some(buffer) => Place {
                id: buffer,
                is_buffer: true,
                dims,
            },
            None => self.copy(base, result),
        }
    }

    /// The buffer that holds `value` over `dims`, if it may be changed: nobody else reads it, and
    /// the caller does not own it.
    pub(super) fn claim(
        &mut self,
        region: &Region<'p>,
        task: TaskId,
        value: ValueId,
        dims: &[AxisId],
        alone: bool,
    ) -> Option<ValueId> {
        let (buffer, held, depth) = self.holder(value)?;
        // Iterations of a loop around this place begin with the same contents each.
        if self.opened_since(depth) {
            return None;
        }
        let borrowed = self
            .facts
            .program
            .params
            .iter()
            .any(|p| p.value == value && !p.owned);
        (held == dims && !borrowed && region.is_last_use(self, value, task, alone))
            .then_some(buffer)
    }

    /// A new buffer for `result` with the contents of `base`.
    pub(super) fn copy(&mut self, base: ValueId, result: ValueId) -> Place {
        let dims = self.rest(result);
        if let Some((buffer, held, _)) = self.holder(base)
            && held == dims
        {
            let ty = self.out.ty(buffer).clone();
            let id = self.bind(self.depth(), KernelOp::Copy(buffer), ty, Some(result));
            return Place {
                id,
                dims,
                is_buffer: true,
            };
        }
        self.filled(result, base)
    }
    /// The buffer that holds an array as elements of its type, the axes that it has there, and the
    /// depth of the frame that made it. Positions of extrema are held as plain numbers.
    fn holder(&self, value: ValueId) -> Option<(ValueId, Vec<AxisId>, usize)> {
        match self.location(value).cloned()? {
            Location::Buffer {
                buffer,
                dims,
                depth,
            } if !self.is_position(value) => Some((buffer, dims, depth)),
            Location::Buffer { .. } | Location::Var { .. } => None,
        }
    }
}

//! Where values of tasks are kept: buffers and variables, and how they are read and written.

use smallvec::smallvec;

use super::Region;
use crate::contract::schedule::build::{Builder, Location};
use crate::contract::schedule::facts::without;
use crate::contract::schedule::tasks::{Kind, TaskId};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{AxisId, Extent, Lit, Stmt, Type, ValueId};

/// A `var` or a buffer.
#[derive(Clone)]
pub(in crate::contract::schedule) struct Place {
    pub(in crate::contract::schedule) id: ValueId,
    /// The axes of a buffer; none for a `var`.
    pub(in crate::contract::schedule) dims: Vec<AxisId>,
    pub(in crate::contract::schedule) is_buffer: bool,
}

impl Place {
    /// Stands for a place that is made where the task runs, for nothing else reads what is there.
    pub(in crate::contract::schedule) const OWN: Place = Place {
        id: ValueId(u32::MAX - 1),
        dims: Vec::new(),
        is_buffer: false,
    };

    /// Stands for the place of a result that nobody looks at.
    const NOWHERE: Place = Place {
        id: ValueId(u32::MAX),
        dims: Vec::new(),
        is_buffer: false,
    };

    pub(in crate::contract::schedule) fn is_nowhere(&self) -> bool {
        self.id == Self::NOWHERE.id
    }

    /// See [`Place::OWN`].
    pub(in crate::contract::schedule) fn is_own(&self) -> bool {
        self.id == Self::OWN.id
    }

    /// As a location read in the frame of this depth.
    pub(in crate::contract::schedule) fn location(&self, depth: usize) -> Location {
        if self.is_buffer {
            Location::Buffer {
                buffer: self.id,
                dims: self.dims.clone(),
                depth,
            }
        } else {
            Location::Var {
                place: self.id,
                depth,
            }
        }
    }
}

impl<'p> Builder<'p> {
    pub(super) fn plain_places(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
    ) {
        for &result in &stmt.results {
            if !self.facts.is_read(result) || region.tasks.list[task].taken.contains(&result) {
                region.places[task].push(Place::NOWHERE);
                continue;
            }
            let lane = matches!(stmt.op, BulkOp::Loop { .. } | BulkOp::While { .. });
            if lane && region.tree.stays(task, result) {
                region.places[task].push(Place::OWN);
                continue;
            }
            let fill = self.unspecified(region, task, result);
            let place = self.place(result, fill);
            self.locate(result, place.location(self.depth()));
            region.places[task].push(place);
        }
    }

    /// What stands where a task does not run, behind a condition or because there are no lanes:
    /// nobody uses it, but it may be read before that is known.
    pub(super) fn unspecified(
        &self,
        region: &Region<'p>,
        task: TaskId,
        value: ValueId,
    ) -> Option<Lit> {
        let task = &region.tasks.list[task];
        let lanes: &[AxisId] = match &task.kind {
            Kind::Run(stmt) => match &stmt.op {
                BulkOp::Loop { lanes, .. } | BulkOp::While { lanes, .. } => lanes,
                _ => &[],
            },
            _ => &[],
        };
        let common = without(lanes, self.facts.axes(value));
        let may_be_none = |&axis: &AxisId| !matches!(self.facts.extent(axis), Extent::Const(1..));
        (task.guard.is_some() || common.iter().any(may_be_none))
            .then(|| Lit::of(self.facts.program.elem(value).repr(), 0.0))
    }

    /// The axes of a value that are not open, in its own order as far as they can be opened in it.
    pub(in crate::contract::schedule) fn rest(&self, value: ValueId) -> Vec<AxisId> {
        let rest = without(self.facts.axes(value), &self.open());
        self.facts.nested(rest)
    }

    /// A new place for a value in the innermost frame: a `var` or a buffer over its axes that are
    /// not open.
    pub(in crate::contract::schedule) fn place(
        &mut self,
        value: ValueId,
        fill: Option<Lit>,
    ) -> Place {
        let dims = self.rest(value);
        let elem = match self.facts.program.elem(value) {
            crate::ir::Elem::Index(extent) => {
                crate::ir::Elem::Index(self.padded(extent, Some(value)))
            }
            other @ (crate::ir::Elem::Scalar(_) | crate::ir::Elem::Bound(_)) => other,
        };
        self.place_of(elem, dims, fill, Some(value))
    }

    pub(in crate::contract::schedule) fn place_of(
        &mut self,
        elem: crate::ir::Elem,
        dims: Vec<AxisId>,
        fill: Option<Lit>,
        of: Option<ValueId>,
    ) -> Place {
        let depth = self.depth();
        if dims.is_empty() {
            let lit = fill.unwrap_or_else(|| Lit::of(elem.repr(), 0.0));
            let mut first = self.constant(lit);
            if let crate::ir::Elem::Index(extent) = elem {
                first = self.scalar(
                    depth,
                    KernelOp::Prim(crate::ops::Prim::Trust(extent), smallvec![first]),
                    elem,
                    None,
                );
            }
            let id = self.scalar(depth, KernelOp::Var(first), elem, of);
            return Place {
                id,
                dims,
                is_buffer: false,
            };
        }
        let extents = dims
            .iter()
            .map(|&axis| self.padded(self.facts.extent(axis), of))
            .collect();
        let id = self.bind(
            depth,
            KernelOp::Alloc { fill },
            Type::table(elem, extents),
            of,
        );
        Place {
            id,
            dims,
            is_buffer: true,
        }
    }

    /// What a place holds at the current point.
    pub(in crate::contract::schedule) fn read(&mut self, place: &Place) -> ValueId {
        let depth = self.depth();
        let elem = self.out.elem(place.id);
        let op = if place.is_buffer {
            KernelOp::Load {
                buffer: place.id,
                indices: self.indices(place.id, &place.dims, &[]),
            }
        } else {
            KernelOp::Get(place.id)
        };
        self.scalar(depth, op, elem, None)
    }

    /// Puts a value into a place at the current point.
    pub(in crate::contract::schedule) fn write(&mut self, place: &Place, value: ValueId) {
        let op = if place.is_buffer {
            KernelOp::Store {
                buffer: place.id,
                indices: self.indices(place.id, &place.dims, &[]),
                value,
            }
        } else {
            KernelOp::Set {
                place: place.id,
                value,
            }
        };
        self.run(op);
    }
}

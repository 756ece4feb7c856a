//! Reductions by operators that are no monoids of the language: `argmin`, `argmax`, and those of
//! users, as far as they work point for point.
//!
//! Operators are associative, so a parallel loop may be cut into pieces of which each begins anew,
//! in copies of the places; what the pieces have found is joined in their order. A user's operator
//! has no identity to begin with: a place of its own says whether there was an element yet.

use super::build::Builder;
use super::extrema::{extremum, worst};
use super::region::Place;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{Fold, KernelOp};
use crate::ir::{AxisId, Block, Elem, Lit, Monoid, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

impl<'p> Builder<'p> {
    /// A copy of a place that each piece of a kernel has for itself; from now on it stands for the
    /// place.
    pub(super) fn private_copy(&mut self, place: &mut Place) -> ValueId {
        let ty = self.out.ty(place.id).clone();
        let private = self.out.value(ty, SpanId::NONE);
        self.out.values[private.index()].name = self.out.values[place.id.index()].name.clone();
        place.id = private;
        private
    }

    /// Gives each piece of the kernel that is about to be opened copies of a reduction's places,
    /// and says how they are joined.
    pub(super) fn folded(&mut self, stmt: &'p Stmt<Bulk>, places: &mut Vec<Place>) -> Fold {
        let BulkOp::Reduce { combine, .. } = &stmt.op else {
            unreachable!("only reductions are folded")
        };
        if let Combine::Custom { .. } = combine {
            // Outside there is always something: what the reduction begins with.
            let dims = places[0].dims.clone();
            places.push(self.place_of(Elem::BOOL, dims, Some(Lit::Bool(true)), None));
        }
        let targets: Vec<ValueId> = places.iter().map(|place| place.id).collect();
        let elems: Vec<Elem> = targets
            .iter()
            .map(|&target| self.out.elem(target))
            .collect();
        let of = extremum(combine);
        let first = elems.iter().enumerate().map(|(k, elem)| match of {
            Some(monoid) if k == 0 => worst(monoid, elem.repr()),
            Some(_) | None => Lit::of(elem.repr(), 0.0),
        });
        let join = match combine {
            Combine::ArgMin => self.join(&places[0].dims, &elems, |this, earlier, later| {
                this.better_of(Monoid::Min, earlier, later)
            }),
            Combine::ArgMax => self.join(&places[0].dims, &elems, |this, earlier, later| {
                this.better_of(Monoid::Max, earlier, later)
            }),
            Combine::Custom { op, .. } => {
                self.join(&places[0].dims, &elems, |this, earlier, later| {
                    this.both(op, earlier, later)
                })
            }
            Combine::Monoid(_) => unreachable!("what a monoid combines is accumulated"),
        };
        Fold {
            first: first.collect(),
            privates: places
                .iter_mut()
                .map(|place| self.private_copy(place))
                .collect(),
            targets,
            join,
        }
    }

    /// The block that makes one of two elements of each place.
    fn join(
        &mut self,
        dims: &[AxisId],
        elems: &[Elem],
        joined: impl FnOnce(&mut Self, &[ValueId], &[ValueId]) -> Vec<ValueId>,
    ) -> Block<crate::ir::stages::kernels::Kernels> {
        let indices = dims.iter().map(|&axis| (axis, self.new_index(axis).0));
        let indices = indices.collect();
        let mut elements = Vec::new();
        for &elem in elems.iter().chain(elems) {
            elements.push(self.out.value(Type::scalar(elem), SpanId::NONE));
        }
        let (earlier, later) = elements.split_at(elems.len());
        self.push(indices, None);
        let results = joined(self, earlier, later);
        let mut block = self.pop();
        block.params.extend(elements);
        block.results = results;
        block
    }

    fn truth(&mut self, prim: Prim, args: [ValueId; 2]) -> ValueId {
        let op = KernelOp::Prim(prim, args[..].into());
        self.scalar(self.depth(), op, Elem::Scalar(Scalar::Bool), None)
    }

    /// What an operator makes of two tuples, of which either may be of nothing.
    fn both(
        &mut self,
        op: &'p Block<Bulk>,
        earlier: &[ValueId],
        later: &[ValueId],
    ) -> Vec<ValueId> {
        let ((&is_found, earlier), (&is_there, later)) =
            match (earlier.split_last(), later.split_last()) {
                (Some(earlier), Some(later)) => (earlier, later),
                (_, _) => unreachable!("a place says whether there was an element"),
            };
        let mut places = Vec::new();
        for &element in earlier {
            let elem = self.out.elem(element);
            let id = self.scalar(self.depth(), KernelOp::Var(element), elem, None);
            places.push(Place {
                id,
                dims: Vec::new(),
                is_buffer: false,
            });
        }
        self.push(Vec::new(), None);
        self.step_from(op, &places, is_found, later);
        let then = self.pop();
        self.run(KernelOp::If {
            cond: is_there,
            then: Box::new(then),
            otherwise: Box::new(Block::default()),
        });
        let mut joined: Vec<ValueId> = places.iter().map(|place| self.read(place)).collect();
        joined.push(self.truth(Prim::Or, [is_found, is_there]));
        joined
    }

    /// Combines elements into places in which there is something if `is_found` holds.
    fn step_from(
        &mut self,
        op: &'p Block<Bulk>,
        places: &[Place],
        is_found: ValueId,
        elements: &[ValueId],
    ) {
        self.push(Vec::new(), None);
        self.apply(places, op, elements);
        let then = self.pop();
        self.push(Vec::new(), None);
        for (place, &element) in places.iter().zip(elements) {
            self.write(place, element);
        }
        let otherwise = self.pop();
        self.run(KernelOp::If {
            cond: is_found,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        });
    }

    /// One step of a reduction by an operator, at the current point: into places that begin with
    /// something, or into copies that begin with nothing.
    pub(super) fn step_of(&mut self, places: &[Place], op: &'p Block<Bulk>, operands: &[ValueId]) {
        let elements: Vec<ValueId> = operands
            .iter()
            .map(|&operand| self.eval(operand).0)
            .collect();
        match places {
            [places @ .., found] if places.len() == operands.len() => {
                let is_found = self.read(found);
                self.step_from(op, places, is_found, &elements);
                let yes = self.constant(Lit::Bool(true));
                self.write(found, yes);
            }
            places => self.apply(places, op, &elements),
        }
    }

    /// Applies an operator that works point for point to places and elements.
    fn apply(&mut self, places: &[Place], op: &'p Block<Bulk>, elements: &[ValueId]) {
        let so_far: Vec<ValueId> = places.iter().map(|place| self.read(place)).collect();
        let next = self.applied(op, &so_far, elements);
        for (place, value) in places.iter().zip(next) {
            self.write(place, value);
        }
    }

    /// What an operator that works point for point makes of two tuples; once in the innermost
    /// frame.
    pub(super) fn applied(
        &mut self,
        op: &'p Block<Bulk>,
        left: &[ValueId],
        right: &[ValueId],
    ) -> Vec<ValueId> {
        let depth = self.depth();
        for (&param, &scalar) in op.params.iter().zip(left.iter().chain(right)) {
            self.remember(param, scalar, depth);
        }
        let results = op.results.iter();
        results.map(|&result| self.eval(result).0).collect()
    }
}

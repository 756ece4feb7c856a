//! Statements that make, read and combine tables.

use smallvec::smallvec;

use super::{Fact, Random, TAME, UNKNOWN};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Lit, Monoid, Scalar, Type, ValueId};
use crate::ops::Prim;

impl Random {
    /// A value of this type, its floats at most [`TAME`]; none if there is no such value.
    pub(super) fn of_type(&mut self, ty: &Type<Extent>) -> Option<ValueId> {
        let Some((&extent, inner)) = ty.dims.split_first() else {
            return match ty.elem {
                Elem::Scalar(scalar) => {
                    let value = self.scalar(scalar);
                    Some(self.tame(value))
                }
                Elem::Index(extent) | Elem::Bound(extent) => self.index(extent),
            };
        };
        if self.rng.chance(60)
            && let Some(found) = self.find(ty)
            && self.fact(found).bound <= TAME
        {
            return Some(found);
        }
        let times = self.at_most(extent);
        let mark = self.open(times);
        let index = self.block_param(Type::scalar(Elem::Index(extent)), UNKNOWN);
        let inner = Type::table(ty.elem, inner.to_vec());
        let row = self.of_type(&inner);
        let body = self.close(mark, vec![index], row.into_iter().collect());
        let bound = self.fact(row?).bound;
        let op = PointOp::For {
            extent,
            body: Box::new(body),
        };
        Some(self.emit(op, ty.clone(), Fact { bound, ..UNKNOWN }))
    }

    /// Some table in scope of which this holds.
    pub(super) fn some_table(
        &mut self,
        wanted: impl Fn(&Self, &Type<Extent>) -> bool,
    ) -> Option<ValueId> {
        let fit: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.program.ty(v).rank() > 0 && wanted(self, self.program.ty(v)))
            .collect();
        match fit.as_slice() {
            [] => None,
            [.., newest] if self.rng.chance(50) => Some(*newest),
            several => Some(self.rng.pick(several)),
        }
    }

    /// `for`: a table for each of one or two values.
    pub(super) fn for_loop(&mut self) {
        let extent = self.extent();
        self.for_over(extent, None);
    }

    /// `for` over an extent; its index is one of `member_of`, too, if given. Gives the tables.
    pub(super) fn for_over(&mut self, extent: Extent, member_of: Option<Extent>) -> Vec<ValueId> {
        let mark = self.open(self.at_most(extent));
        let index = self.block_param(Type::scalar(Elem::Index(extent)), UNKNOWN);
        if let Some(set) = member_of {
            let op = PointOp::Prim(Prim::Trust(set), smallvec![index]);
            self.emit(op, Type::scalar(Elem::Index(set)), UNKNOWN);
        }
        self.statements(5);
        let yields: Vec<ValueId> = (0..self.rng.pick(&[1, 1, 1, 2, 0]))
            .map(|_| self.outcome(mark))
            .collect();
        let body = self.close(mark, vec![index], yields.clone());
        let tables = self.tables_of(extent, &yields);
        self.push(
            tables.clone(),
            PointOp::For {
                extent,
                body: Box::new(body),
            },
        );
        tables
    }

    /// Values for the tables that these become along a new leading axis.
    pub(super) fn tables_of(&mut self, extent: Extent, yields: &[ValueId]) -> Vec<ValueId> {
        yields
            .iter()
            .map(|&value| {
                let mut ty = self.program.ty(value).clone();
                ty.dims.insert(0, extent);
                let bound = self.fact(value).bound;
                self.value(ty, Fact { bound, ..UNKNOWN })
            })
            .collect()
    }

    /// `reduce` of some table.
    pub(super) fn reduction(&mut self) {
        let scalars = |_: &Self, ty: &Type<Extent>| matches!(ty.elem, Elem::Scalar(_));
        if let Some(table) = self.some_table(scalars) {
            self.reduce(table);
        }
    }

    /// `reduce` of a table of machine scalars.
    pub(super) fn reduce(&mut self, table: ValueId) -> ValueId {
        let mut ty = self.program.ty(table).clone();
        let extent = ty.dims.remove(0);
        let bound = self.fact(table).bound;
        let monoid = self.monoid(ty.elem.repr(), bound <= 1.0);
        let bound = match monoid {
            Monoid::Add => bound * self.at_most(extent) as f64,
            Monoid::Mul => 1.0,
            // Of nothing, it is infinite.
            Monoid::Min | Monoid::Max if self.known(extent).is_none_or(|n| n == 0) => f64::INFINITY,
            Monoid::Min | Monoid::Max | Monoid::And | Monoid::Or => bound,
        };
        let result = self.emit(
            PointOp::Reduce { monoid, table },
            ty.clone(),
            Fact { bound, ..UNKNOWN },
        );
        if bound.is_infinite() && ty.rank() == 0 && ty.elem.is_float() {
            let most = self.constant(Lit::of(ty.elem.repr(), TAME));
            let least = self.constant(Lit::of(ty.elem.repr(), -TAME));
            let below = self.prim(Prim::Min, vec![result, most], TAME);
            return self.prim(Prim::Max, vec![below, least], TAME);
        }
        result
    }

    /// A monoid on this type; for floats `×` only where it cannot grow.
    pub(super) fn monoid(&mut self, scalar: Scalar, may_multiply: bool) -> Monoid {
        match scalar {
            Scalar::Bool => self.rng.pick(&[Monoid::And, Monoid::Or]),
            Scalar::F32 | Scalar::F64 if !may_multiply => {
                self.rng
                    .pick(&[Monoid::Add, Monoid::Add, Monoid::Min, Monoid::Max])
            }
            _ => self
                .rng
                .pick(&[Monoid::Add, Monoid::Mul, Monoid::Min, Monoid::Max]),
        }
    }

    /// `index`: an element or a sub-table.
    pub(super) fn selection(&mut self) {
        let Some(table) = self.some_table(|_, _| true) else {
            return;
        };
        let ty = self.program.ty(table).clone();
        let count = 1 + self.rng.below(ty.rank());
        if let Some(indices) = self.indices(&ty.dims[..count]) {
            let part = Type::table(ty.elem, ty.dims[count..].to_vec());
            let fact = self.fact(table);
            self.emit(PointOp::Index { table, indices }, part, fact);
        }
    }

    /// `array`: values of one type, stacked.
    pub(super) fn stack(&mut self) {
        let ty = match self.some_table(|_, ty| ty.rank() < 3) {
            Some(table) if self.rng.chance(40) => self.program.ty(table).clone(),
            _ => Type::scalar(self.elem()),
        };
        let count = 1 + self.rng.below(3);
        let values: Option<Vec<ValueId>> = (0..count).map(|_| self.of_type(&ty)).collect();
        let Some(values) = values else {
            return;
        };
        let mut dims = vec![Extent::Const(count as u64)];
        dims.extend(&ty.dims);
        let bound = values
            .iter()
            .fold(0.0, |b: f64, &v| b.max(self.fact(v).bound));
        let ty = Type::table(ty.elem, dims);
        self.emit(PointOp::Array(values), ty, Fact { bound, ..UNKNOWN });
    }

    /// `argmin` or `argmax` of a table that is not empty.
    pub(super) fn extremal(&mut self) {
        let numbers = |this: &Self, ty: &Type<Extent>| {
            let number = matches!(ty.elem, Elem::Scalar(s) if s != Scalar::Bool);
            number && ty.rank() == 1 && this.may_index(ty.dims[0])
        };
        if let Some(table) = self.some_table(numbers) {
            let ty = Type::scalar(Elem::Index(self.program.ty(table).dims[0]));
            let max = self.rng.chance(50);
            self.emit(PointOp::ArgReduce { max, table }, ty, UNKNOWN);
        }
    }

    /// `update` of an element or sub-table.
    pub(super) fn update(&mut self) {
        let Some(table) = self.some_table(|_, _| true) else {
            return;
        };
        let ty = self.program.ty(table).clone();
        let count = 1 + self.rng.below(ty.rank());
        let part = Type::table(ty.elem, ty.dims[count..].to_vec());
        let Some(indices) = self.indices(&ty.dims[..count]) else {
            return;
        };
        if let Some(value) = self.of_type(&part) {
            let bound = self.fact(table).bound.max(self.fact(value).bound);
            let op = PointOp::Update {
                table,
                indices,
                value,
            };
            self.emit(op, ty, Fact { bound, ..UNKNOWN });
        }
    }

    /// `size`, and the ordinals of indices.
    pub(super) fn ordinals(&mut self) {
        let extent = self.extent();
        let fact = Fact {
            bound: 0.0,
            at_most: Some(self.at_most(extent)),
            within: Some(extent),
        };
        let ty = Type::scalar(Elem::USIZE);
        let indices: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| {
                let ty = self.program.ty(v);
                ty.rank() == 0 && matches!(ty.elem, Elem::Index(_))
            })
            .collect();
        if indices.is_empty() || self.rng.chance(40) {
            self.emit(PointOp::Size(extent), ty, fact);
            return;
        }
        let index = self.rng.pick(&indices);
        self.ordinal(index);
    }

    /// The number of an index, which is a number of iterations that its set has room for.
    pub(super) fn ordinal(&mut self, index: ValueId) -> ValueId {
        let mut fact = UNKNOWN;
        if let Elem::Index(extent) = self.program.elem(index) {
            fact.at_most = Some(self.at_most(extent));
            fact.within = Some(extent);
        }
        let op = PointOp::Prim(Prim::Cast(Scalar::Usize), smallvec![index]);
        self.emit(op, Type::scalar(Elem::USIZE), fact)
    }
}

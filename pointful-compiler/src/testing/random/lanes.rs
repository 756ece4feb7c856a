//! Loops that carry something, side by side, and in each of their iterations reduce a table in
//! which one of the two indices may be missing.

use smallvec::smallvec;

use super::{Fact, Random, TAME, UNKNOWN};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Lit, Monoid, Scalar, Type, ValueId};
use crate::ops::Prim;

const FLOAT: Elem = Elem::Scalar(Scalar::F64);

/// A table that is read inside, and an index to read it at.
type Read = (ValueId, ValueId);

impl Random {
    /// `for l { let mut s = …; for i { s = s / 2 + sin(reduction of a table) } s }`, of which the
    /// outer loop may be missing.
    pub(super) fn reductions_in_lanes(&mut self) {
        let [lanes, steps, elements] = [(); 3].map(|()| self.extent());
        let tables = [lanes, steps, elements].map(|extent| {
            let ty = Type::table(FLOAT, vec![extent]);
            self.of_type(&ty)
        });
        let [Some(by_lane), Some(by_step), Some(by_element)] = tables else {
            return;
        };
        let mark = self.open(self.at_most(lanes));
        let lane = self.block_param(Type::scalar(Elem::Index(lanes)), UNKNOWN);
        let start = self.scalar(Scalar::F64);
        let start = self.tame(start);

        let inner = self.open(self.at_most(steps));
        let step = self.block_param(Type::scalar(Elem::Index(steps)), UNKNOWN);
        let bound = TAME;
        let state = self.block_param(Type::scalar(FLOAT), Fact { bound, ..UNKNOWN });
        self.statements(1);
        let reads = [(by_lane, lane), (by_step, step)];
        let reduced = self.reduced_elements(by_element, elements, (steps, step), reads);
        let half = self.constant(Lit::of(Scalar::F64, 0.5));
        let mine = self.prim(Prim::Mul, vec![state, half], TAME / 2.0);
        let new = self.prim(Prim::Sin, vec![reduced], 1.0);
        let next = self.prim(Prim::Add, vec![mine, new], TAME / 2.0 + 1.0);
        let body = self.close(inner, vec![step, state], vec![next]);
        let result = self.value(Type::scalar(FLOAT), Fact { bound, ..UNKNOWN });
        let (reverse, init) = (self.rng.chance(40), vec![start]);
        let op = PointOp::Loop {
            extent: steps,
            reverse,
            checkpoint: None,
            init,
            body: Box::new(body),
        };
        self.push(vec![result], op);

        let body = self.close(mark, vec![lane], vec![result]);
        let results = self.tables_of(lanes, &[result]);
        let op = PointOp::For {
            extent: lanes,
            body: Box::new(body),
        };
        self.push(results, op);
    }

    /// Something of the elements of a table, each together with one or none of what is read: an
    /// extremum, a product, a sum, the extremal element's neighbour in another table, the last
    /// one's function, a choice by whether there is one.
    fn reduced_elements(
        &mut self,
        table: ValueId,
        mut elements: Extent,
        (steps, step): (Extent, ValueId),
        reads: [Read; 2],
    ) -> ValueId {
        let whole = elements;
        // As many as there are steps before this one.
        if steps == elements && self.rng.chance(30) {
            elements = Extent::Value(self.ordinal(step));
        }
        let other = match self.rng.below(4) {
            0 => None,
            k => {
                let (table, index) = reads[k % 2];
                let indices = vec![index];
                let bound = self.fact(table).bound;
                let fact = Fact { bound, ..UNKNOWN };
                Some(self.emit(PointOp::Index { table, indices }, Type::scalar(FLOAT), fact))
            }
        };
        let way = self.rng.below(8);
        if way == 0 {
            return self.last_element(table, (whole, elements), other);
        }
        let mark = self.open(self.at_most(elements));
        let index = self.block_param(Type::scalar(Elem::Index(elements)), UNKNOWN);
        let element = self.joined(table, (whole, elements), index, other);
        let body = self.close(mark, vec![index], vec![element]);
        let made = self.tables_of(elements, &[element])[0];
        let op = PointOp::For {
            extent: elements,
            body: Box::new(body),
        };
        self.push(vec![made], op);
        let bound = TAME;
        let fact = Fact { bound, ..UNKNOWN };
        let reduce = |this: &mut Self, monoid, table| {
            let elem = this.program.elem(table);
            this.emit(PointOp::Reduce { monoid, table }, Type::scalar(elem), fact)
        };
        match way {
            1 | 2 if self.may_index(elements) => {
                let max = self.rng.chance(50);
                let ty = Type::scalar(Elem::Index(elements));
                let op = PointOp::ArgReduce { max, table: made };
                let place = self.emit(op, ty, UNKNOWN);
                let read = if elements == whole { table } else { made };
                let (table, indices) = (self.rng.pick(&[made, read]), vec![place]);
                self.emit(PointOp::Index { table, indices }, Type::scalar(FLOAT), fact)
            }
            3 => {
                let odd = self.constant(Lit::of(Scalar::F64, 0.137_193));
                let mark = self.open(self.at_most(elements));
                let index = self.block_param(Type::scalar(Elem::Index(elements)), UNKNOWN);
                let (table, indices) = (made, vec![index]);
                let op = PointOp::Index { table, indices };
                let element = self.emit(op, Type::scalar(FLOAT), fact);
                let greater = self.prim(Prim::Gt, vec![element, odd], 0.0);
                let body = self.close(mark, vec![index], vec![greater]);
                let asked = self.tables_of(elements, &[greater])[0];
                let op = PointOp::For {
                    extent: elements,
                    body: Box::new(body),
                };
                self.push(vec![asked], op);
                let monoid = self.rng.pick(&[Monoid::And, Monoid::Or]);
                let cond = reduce(self, monoid, asked);
                let sum = reduce(self, Monoid::Add, made);
                let otherwise = other.unwrap_or(sum);
                self.chosen(cond, sum, otherwise)
            }
            4 => reduce(self, Monoid::Add, made),
            5 => reduce(self, Monoid::Mul, made),
            _ => {
                let monoid = self.rng.pick(&[Monoid::Min, Monoid::Max]);
                let extremum = reduce(self, monoid, made);
                // Of nothing, it is infinite.
                let [most, least] =
                    [TAME, -TAME].map(|bound| self.constant(Lit::of(Scalar::F64, bound)));
                let below = self.prim(Prim::Min, vec![extremum, most], TAME);
                self.prim(Prim::Max, vec![below, least], TAME)
            }
        }
    }

    /// An element of a table, of which only a part may be gone over, together with another number.
    fn joined(
        &mut self,
        table: ValueId,
        (whole, elements): (Extent, Extent),
        index: ValueId,
        other: Option<ValueId>,
    ) -> ValueId {
        let mut at = index;
        if whole != elements {
            let op = PointOp::Prim(Prim::Trust(whole), smallvec![index]);
            at = self.emit(op, Type::scalar(Elem::Index(whole)), UNKNOWN);
        }
        let (bound, indices) = (self.fact(table).bound, vec![at]);
        let fact = Fact { bound, ..UNKNOWN };
        let op = PointOp::Index { table, indices };
        let mut element = self.emit(op, Type::scalar(FLOAT), fact);
        if let Some(other) = other {
            let prim = self
                .rng
                .pick(&[Prim::Mul, Prim::Mul, Prim::Add, Prim::Max, Prim::Min]);
            element = self.prim(prim, vec![element, other], TAME * TAME);
        }
        // A product cannot grow.
        self.prim(Prim::Sin, vec![element], 1.0)
    }

    /// What a loop over the elements leaves that forgets all but the last.
    fn last_element(
        &mut self,
        table: ValueId,
        (whole, elements): (Extent, Extent),
        other: Option<ValueId>,
    ) -> ValueId {
        let start = self.scalar(Scalar::F64);
        let start = self.tame(start);
        let mark = self.open(self.at_most(elements));
        let index = self.block_param(Type::scalar(Elem::Index(elements)), UNKNOWN);
        let bound = TAME;
        let fact = Fact { bound, ..UNKNOWN };
        let state = self.block_param(Type::scalar(FLOAT), fact);
        let element = self.joined(table, (whole, elements), index, other);
        let body = self.close(mark, vec![index, state], vec![element]);
        let result = self.value(Type::scalar(FLOAT), fact);
        let op = PointOp::Loop {
            extent: elements,
            reverse: self.rng.chance(40),
            checkpoint: None,
            init: vec![start],
            body: Box::new(body),
        };
        self.push(vec![result], op);
        result
    }

    /// One of two numbers.
    fn chosen(&mut self, cond: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        let [then, otherwise] = [then, otherwise].map(|value| {
            let mark = self.open(1);
            Box::new(self.close(mark, Vec::new(), vec![value]))
        });
        let op = PointOp::If {
            cond,
            then,
            otherwise,
        };
        let bound = TAME;
        self.emit(op, Type::scalar(FLOAT), Fact { bound, ..UNKNOWN })
    }
}

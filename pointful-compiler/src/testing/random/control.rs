//! Loops that carry values, branches, and accumulators.

use smallvec::smallvec;

use super::{Accumulator, Fact, Random, TAME, UNKNOWN};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Lit, Message, Monoid, Scalar, Type, ValueId};
use crate::ops::Prim;

const TAMED: Fact = Fact {
    bound: TAME,
    at_most: None,
    within: None,
};

impl Random {
    /// Types of one to three values that a loop carries or a branch gives, and values of these
    /// types.
    fn carried(&mut self) -> (Vec<Type<Extent>>, Vec<ValueId>) {
        let mut types = Vec::new();
        let mut values = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let ty = self.any_type();
            if let Some(value) = self.of_type(&ty) {
                types.push(ty);
                values.push(value);
            }
        }
        (types, values)
    }

    fn block_params(&mut self, types: &[Type<Extent>]) -> Vec<ValueId> {
        types
            .iter()
            .map(|ty| self.block_param(ty.clone(), TAMED))
            .collect()
    }

    /// The next values of states: computed from the present ones where the types allow it.
    fn next_states(&mut self, states: &[ValueId]) -> Vec<ValueId> {
        states
            .iter()
            .map(|&state| {
                let ty = self.program.ty(state).clone();
                let next = if ty.rank() == 0 {
                    self.next_scalar(state, ty.elem)
                } else if self.rng.chance(50) {
                    self.next_table(state, &ty)
                } else {
                    None
                };
                next.or_else(|| self.of_type(&ty)).unwrap_or(state)
            })
            .collect()
    }

    fn next_scalar(&mut self, state: ValueId, elem: Elem) -> Option<ValueId> {
        let Elem::Scalar(scalar) = elem else {
            return None;
        };
        let other = self.scalar(scalar);
        Some(match scalar {
            Scalar::F32 | Scalar::F64 => {
                // The state's own weight is small, so that rounding does not grow from one iteration to the next.
                let half = self.constant(Lit::of(scalar, 0.5));
                let mine = self.prim(Prim::Mul, vec![state, half], TAME / 2.0);
                let new = self.prim(Prim::Sin, vec![other], 1.0);
                self.prim(Prim::Add, vec![mine, new], TAME / 2.0 + 1.0)
            }
            Scalar::Bool => self.prim(Prim::Xor, vec![state, other], 0.0),
            _ => {
                let prim = self.rng.pick(&[Prim::Add, Prim::Mul, Prim::Xor, Prim::Max]);
                self.prim(prim, vec![state, other], 0.0)
            }
        })
    }

    fn next_table(&mut self, state: ValueId, ty: &Type<Extent>) -> Option<ValueId> {
        let count = 1 + self.rng.below(ty.rank());
        let indices = self.indices(&ty.dims[..count])?;
        let part = Type::table(ty.elem, ty.dims[count..].to_vec());
        let value = self.of_type(&part)?;
        let op = PointOp::Update {
            table: state,
            indices,
            value,
        };
        Some(self.emit(op, ty.clone(), TAMED))
    }

    fn results_of(&mut self, types: &[Type<Extent>]) -> Vec<ValueId> {
        types
            .iter()
            .map(|ty| self.value(ty.clone(), TAMED))
            .collect()
    }

    /// `loop`, in either direction, with states and perhaps a collected value.
    pub(super) fn sequential_loop(&mut self) {
        let extent = self.extent();
        let (types, init) = self.carried();
        let mark = self.open(self.at_most(extent));
        let mut params = vec![self.block_param(Type::scalar(Elem::Index(extent)), UNKNOWN)];
        params.extend(self.block_params(&types));
        self.statements(4);
        let mut yields = self.next_states(&params[1..]);
        let collected: Vec<ValueId> = (0..self.rng.below(2))
            .map(|_| {
                if self.rng.chance(40)
                    && let Some(&state) = params[1..].first()
                    && self.program.ty(state).rank() < 3
                {
                    return state;
                }
                self.outcome(mark)
            })
            .collect();
        yields.extend(&collected);
        let body = self.close(mark, params, yields);
        let mut results = self.results_of(&types);
        results.extend(self.tables_of(extent, &collected));
        let reverse = self.rng.chance(40);
        let op = PointOp::Loop {
            extent,
            reverse,
            checkpoint: None,
            init,
            body: Box::new(body),
        };
        self.push(results, op);
    }

    /// `while`, counting down to an end; perhaps ending sooner.
    pub(super) fn while_loop(&mut self) {
        const MOST: usize = 4;
        if self.work * MOST > super::MAX_WORK {
            return;
        }
        let (mut types, mut init) = self.carried();
        let counter = self.scalar(Scalar::I64);
        let most = self.constant(Lit::Int(Scalar::I64, MOST as i128));
        let start = self.prim(Prim::RemEuclid, vec![counter, most], 0.0);
        init.insert(0, start);
        types.insert(0, Type::scalar(Elem::Scalar(Scalar::I64)));
        let bound = self.rng.chance(40).then(|| {
            let bound = self.rng.between(MOST as i64 - 1, 9);
            self.constant(Lit::Int(Scalar::Usize, i128::from(bound)))
        });

        let accumulators = std::mem::take(&mut self.accumulators);
        let mark = self.open(MOST);
        let params = self.block_params(&types);
        let zero = self.constant(Lit::Int(Scalar::I64, 0));
        let mut go_on = self.prim(Prim::Gt, vec![params[0], zero], 0.0);
        if self.rng.chance(40) {
            let also = self.truth();
            go_on = self.prim(Prim::And, vec![go_on, also], 0.0);
        }
        let cond = self.close(mark, params, vec![go_on]);
        self.accumulators = accumulators;

        let mark = self.open(MOST);
        let params = self.block_params(&types);
        self.statements(3);
        let one = self.constant(Lit::Int(Scalar::I64, 1));
        let mut yields = vec![self.prim(Prim::Sub, vec![params[0], one], 0.0)];
        yields.extend(self.next_states(&params[1..]));
        let body = self.close(mark, params, yields);

        let results = self.results_of(&types);
        let op = PointOp::While {
            init,
            cond: Box::new(cond),
            body: Box::new(body),
            bound,
        };
        self.push(results, op);
    }

    /// `if`.
    pub(super) fn branch(&mut self) {
        let cond = self.truth();
        let (types, values) = self.carried();
        let branch = |this: &mut Self| {
            let mark = this.open(1);
            this.statements(4);
            let yields = types
                .iter()
                .zip(&values)
                .map(|(ty, &value)| this.of_type(ty).unwrap_or(value))
                .collect();
            this.close(mark, Vec::new(), yields)
        };
        let then = branch(self);
        let otherwise = branch(self);
        let results = self.results_of(&types);
        let op = PointOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        self.push(results, op);
    }

    /// What would panic, behind the condition that it does not.
    pub(super) fn guarded(&mut self) {
        match self.rng.below(3) {
            0 => self.guarded_division(),
            1 => self.guarded_read(false),
            _ => self.guarded_read(true),
        }
    }

    fn guarded_division(&mut self) {
        let scalar = self.rng.pick(&[
            Scalar::I64,
            Scalar::I64,
            Scalar::U8,
            Scalar::Usize,
            Scalar::I16,
            Scalar::U64,
        ]);
        let (x, d) = (self.scalar(scalar), self.scalar(scalar));
        // The quotient of the smallest number and -1 is out of range.
        let one = self.constant(Lit::Int(scalar, 1));
        let cond = self.prim(Prim::Ge, vec![d, one], 0.0);
        let prim = self.rng.pick(&[Prim::Div, Prim::Rem, Prim::RemEuclid]);
        self.either(cond, Type::scalar(Elem::Scalar(scalar)), |this| {
            Some(this.prim(prim, vec![x, d], 0.0))
        });
    }

    /// A table read at an integer if that is in range, or wrapped if there is a range.
    fn guarded_read(&mut self, wrapped: bool) {
        let scalars = |_: &Self, ty: &Type<Extent>| matches!(ty.elem, Elem::Scalar(_));
        let Some(table) = self.some_table(scalars) else {
            return;
        };
        let ty = self.program.ty(table).clone();
        let extent = ty.dims[0];
        let at = self.scalar(Scalar::I64);
        let (cond, prim) = if wrapped {
            let zero = self.constant(Lit::Int(Scalar::Usize, 0));
            let fact = Fact {
                at_most: Some(self.at_most(extent)),
                within: Some(extent),
                ..UNKNOWN
            };
            let size = self.emit(PointOp::Size(extent), Type::scalar(Elem::USIZE), fact);
            let some = self.prim(Prim::Gt, vec![size, zero], 0.0);
            let prim = self.rng.pick(&[
                Prim::Wrap(extent),
                Prim::Mirror(extent),
                Prim::ClampTo(extent),
            ]);
            (some, prim)
        } else {
            let fits = self.prim(Prim::InRange(extent), vec![at], 0.0);
            let prim = self.rng.pick(&[Prim::Check(extent), Prim::Trust(extent)]);
            (fits, prim)
        };
        let part = Type::table(ty.elem, ty.dims[1..].to_vec());
        let fact = self.fact(table);
        self.either(cond, part.clone(), |this| {
            let op = PointOp::Prim(prim, smallvec![at]);
            let index = this.emit(op, Type::scalar(Elem::Index(extent)), UNKNOWN);
            let indices = vec![index];
            let read = this.emit(PointOp::Index { table, indices }, part, fact);
            this.statements(2);
            Some(this.tame(read))
        });
    }

    /// `if cond { what make makes } else { some value of the type }`.
    fn either(
        &mut self,
        cond: ValueId,
        ty: Type<Extent>,
        make: impl FnOnce(&mut Self) -> Option<ValueId>,
    ) {
        let Some(fallback) = self.of_type(&ty) else {
            return;
        };
        let mark = self.open(1);
        let made = make(self).unwrap_or(fallback);
        let bound = self.fact(made).bound.max(self.fact(fallback).bound);
        let then = self.close(mark, Vec::new(), vec![made]);
        let mark = self.open(1);
        let otherwise = self.close(mark, Vec::new(), vec![fallback]);
        let op = PointOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        self.emit(op, ty, Fact { bound, ..UNKNOWN });
    }

    /// A loop to a number that an index or a size gives, and what it makes reduced at once.
    pub(super) fn triangle(&mut self) {
        let lengths: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.fact(v).within.is_some())
            .collect();
        let indices: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| {
                let ty = self.program.ty(v);
                ty.rank() == 0 && matches!(ty.elem, Elem::Index(_))
            })
            .collect();
        let length = if !indices.is_empty() && self.rng.chance(70) {
            let index = self.rng.pick(&indices);
            self.ordinal(index)
        } else if !lengths.is_empty() {
            self.rng.pick(&lengths)
        } else {
            return;
        };
        let fact = self.fact(length);
        if self.work * fact.at_most.unwrap_or(0) > super::MAX_WORK {
            return;
        }
        for table in self.for_over(Extent::Value(length), fact.within) {
            if matches!(self.program.elem(table), Elem::Scalar(_)) {
                self.reduce(table);
            }
        }
    }

    /// An accumulator, statements that add to it, and what it holds in the end.
    pub(super) fn accumulation(&mut self) {
        let ty = self.any_type();
        let Some(base) = self.of_type(&ty) else {
            return;
        };
        let monoid = self.monoid(ty.elem.repr(), true);
        let value = self.value(ty.clone(), UNKNOWN);
        self.scope_without(vec![value], PointOp::Accum { monoid, base });
        let outer = self.accumulators.len();
        self.accumulators.push(Accumulator { value, monoid });
        for _ in 0..1 + self.rng.below(2) {
            // Mostly from a loop of its own.
            if self.rng.chance(80) {
                let extent = self.extent();
                self.accumulating_for(extent);
            } else {
                self.statement();
            }
        }
        self.accumulators.truncate(outer);
        let bound = match monoid {
            Monoid::Add => TAME * super::MAX_WORK as f64,
            Monoid::Mul | Monoid::Min | Monoid::Max | Monoid::And | Monoid::Or => TAME,
        };
        self.emit(PointOp::Get { acc: value }, ty, Fact { bound, ..UNKNOWN });
    }

    fn accumulating_for(&mut self, extent: Extent) {
        let mark = self.open(self.at_most(extent));
        let index = self.block_param(Type::scalar(Elem::Index(extent)), UNKNOWN);
        self.statements(3);
        self.accumulate();
        let body = self.close(mark, vec![index], Vec::new());
        self.push(
            Vec::new(),
            PointOp::For {
                extent,
                body: Box::new(body),
            },
        );
    }

    /// `accumulate` into one of the accumulators in scope, perhaps under a condition.
    pub(super) fn accumulate(&mut self) {
        if self.accumulators.is_empty() {
            return;
        }
        if self.rng.chance(25) && self.blocks.len() <= self.options.depth {
            let cond = self.truth();
            let mark = self.open(1);
            self.accumulate_here();
            let then = self.close(mark, Vec::new(), Vec::new());
            let otherwise = crate::ir::Block::default();
            let op = PointOp::If {
                cond,
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            self.push(Vec::new(), op);
            return;
        }
        self.accumulate_here();
    }

    fn accumulate_here(&mut self) {
        let chosen = self.rng.below(self.accumulators.len());
        let Accumulator { value: acc, monoid } = self.accumulators[chosen];
        let ty = self.program.ty(acc).clone();
        let count = self
            .rng
            .below(ty.rank() + 1)
            .max(self.rng.below(ty.rank() + 1));
        let Some(indices) = self.indices(&ty.dims[..count]) else {
            return;
        };
        let part = Type::table(ty.elem, ty.dims[count..].to_vec());
        let Some(mut value) = self.of_type(&part) else {
            return;
        };
        if monoid == Monoid::Mul && ty.elem.is_float() {
            if part.rank() > 0 {
                return;
            }
            value = self.prim(Prim::Cos, vec![value], 1.0);
        }
        let op = PointOp::Accumulate {
            acc,
            indices,
            value,
        };
        self.push(Vec::new(), op);
    }

    /// A statement whose results are not for everybody.
    fn scope_without(&mut self, results: Vec<ValueId>, op: PointOp) {
        let scope = self.scope.len();
        self.push(results, op);
        self.scope.truncate(scope);
    }

    /// `assert` of what is true.
    pub(super) fn assertion(&mut self) {
        let x = self.scalar(Scalar::Bool);
        let cond = if self.options.allow_panics && self.rng.chance(10) {
            x
        } else {
            let not = self.prim(Prim::Not, vec![x], 0.0);
            self.prim(Prim::Or, vec![x, not], 0.0)
        };
        // Of every second one, without a choice of its own.
        let shown = if x.index().is_multiple_of(2) {
            vec![x]
        } else {
            Vec::new()
        };
        let text = if shown.is_empty() {
            "what is true"
        } else {
            "{:6}"
        };
        let (message, _) = Message::parse(text).expect("it is a format string");
        self.push(
            Vec::new(),
            PointOp::Assert {
                cond,
                message,
                shown,
            },
        );
    }
}

//! What numbers are while compiling: literals, extents, and what is so far from an extent.

use crate::ir::stages::imperative::{Imperative, ImperativeOp};
use crate::ir::{Block, Extent, Lit, Operation, Scalar, ValueId, ValueMap};
use crate::ops::Prim;

/// A number that is known.
#[derive(Clone, Copy, Debug)]
enum Number {
    Lit(Lit),
    /// That of an extent, and how far from it.
    Near(Extent, i64),
    /// So far from another value.
    Beside(ValueId, i64),
}

/// The numbers of a program.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    known: ValueMap<Number>,
}

impl Numbers {
    /// Those of a program's body: looks at every definition once.
    pub(crate) fn of<S: Imperative>(body: &Block<S>) -> Self {
        let mut numbers = Self::default();
        numbers.look_at(body);
        numbers
    }

    /// Looks at what a block binds.
    pub(crate) fn look_at<S: Imperative>(&mut self, block: &Block<S>) {
        for stmt in &block.stmts {
            let number = match &stmt.op {
                ImperativeOp::Const(lit) => Some(Number::Lit(*lit)),
                ImperativeOp::Size(extent) => Some(Number::Near(self.resolve(*extent), 0)),
                ImperativeOp::Prim(prim, args) => {
                    self.near(*prim, args).or_else(|| self.beside(*prim, args))
                }
                _ => None,
            };
            if let (Some(number), Some(&result)) = (number, stmt.results.first()) {
                self.known.insert(result, number);
            }
            for inner in stmt.op.blocks() {
                self.look_at(inner);
            }
        }
    }

    /// What arithmetic makes of a number near an extent. No extent is so large that a number near
    /// it would be out of range.
    fn near(&self, prim: Prim, args: &[ValueId]) -> Option<Number> {
        let sign = match prim {
            Prim::Cast(Scalar::I64 | Scalar::Usize) => 0,
            Prim::Add => 1,
            Prim::Sub => -1,
            _ => return None,
        };
        let (extent, far) = self.counted_from(args[0])?;
        let by = match args.get(1) {
            Some(&by) => self.integer(by)?.checked_mul(sign)?,
            None => 0,
        };
        Some(Number::Near(extent, far.checked_add(by)?))
    }

    /// The same of any number.
    fn beside(&self, prim: Prim, args: &[ValueId]) -> Option<Number> {
        let (of, by) = match (prim, args) {
            (Prim::Cast(Scalar::I64 | Scalar::Usize | Scalar::Isize), &[of])
            | (Prim::Check(_) | Prim::Trust(_), &[of]) => (of, 0),
            (Prim::Add, &[a, b]) => match self.integer(b) {
                Some(by) => (a, by),
                None => (b, self.integer(a)?),
            },
            (Prim::Sub, &[a, b]) => (a, self.integer(b)?.checked_neg()?),
            _ => return None,
        };
        let (from, before) = self.offset(of);
        let by = before.checked_add(by)?;
        // Integers wrap, but not so near.
        (by.abs() < 1 << 31).then_some(Number::Beside(from, by))
    }

    /// A value from which another one is so far, in whatever type.
    pub(crate) fn offset(&self, value: ValueId) -> (ValueId, i64) {
        match self.known.get(&value) {
            Some(&Number::Beside(from, by)) => (from, by),
            _ => (value, 0),
        }
    }

    /// Whether one place of an array is never the other: along one axis they are so far from each
    /// other, whoever is there. `is_same`: whether a value is a whole number, the same for all of them.
    pub(crate) fn are_apart(
        &self,
        one: &[ValueId],
        other: &[ValueId],
        is_same: impl Fn(ValueId) -> bool,
    ) -> bool {
        one.iter().zip(other).any(|(&one, &other)| {
            let ((from, by), (origin, place)) = (self.offset(one), self.offset(other));
            from == origin && by != place && is_same(origin)
        })
    }

    /// The extent that a number is near, and how far it is from that.
    pub(crate) fn counted_from(&self, value: ValueId) -> Option<(Extent, i64)> {
        match *self.known.get(&value)? {
            Number::Near(extent, far) => Some((extent, far)),
            Number::Lit(_) | Number::Beside(..) => None,
        }
    }

    /// The literal that a value is.
    pub(crate) fn literal(&self, value: ValueId) -> Option<Lit> {
        match *self.known.get(&value)? {
            Number::Lit(lit) => Some(lit),
            Number::Near(..) | Number::Beside(..) => None,
        }
    }

    /// The whole number that a value is.
    pub(crate) fn integer(&self, value: ValueId) -> Option<i64> {
        match *self.known.get(&value)? {
            Number::Lit(Lit::Int(_, number)) => i64::try_from(number).ok(),
            Number::Lit(_) | Number::Near(..) | Number::Beside(..) => None,
        }
    }

    /// An extent that does not name another one: follows values that are extents or literals.
    pub(crate) fn resolve(&self, extent: Extent) -> Extent {
        let Extent::Value(value) = extent else {
            return extent;
        };
        match self.known.get(&value) {
            Some(&Number::Near(inner, 0)) => inner,
            Some(&Number::Lit(Lit::Int(Scalar::Usize, number))) => {
                u64::try_from(number).map_or(extent, Extent::Const)
            }
            _ => extent,
        }
    }
}

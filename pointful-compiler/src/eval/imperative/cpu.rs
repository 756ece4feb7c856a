//! The interpreter of the operations that only Cpu has.

use super::memory::Iteration;
use super::{EvaluateOwn, Run, Slot};
use crate::eval::{EvalError, ScalarValue, combine, mistyped};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Block, Elem, Stmt, ValueId};

impl EvaluateOwn for Cpu {
    fn run_own(run: &mut Run<'_, Self>, own: &Own, stmt: &Stmt<Self>) -> Result<(), EvalError> {
        match own {
            Own::Par(par) => run.rows(par),
            Own::Bound {
                extent,
                number,
                terms,
            } => {
                let mut sum = i128::from(*number);
                for &(term, minus) in terms {
                    let term = run.whole(term)?;
                    sum += if minus { -term } else { term };
                }
                let length = run.extent(*extent)?;
                let nearest = sum.clamp(0, length as i128) as usize;
                run.bind(stmt, Slot::Scalar(ScalarValue::Usize(nearest)))
            }
            Own::Range { from, to, body, .. } => {
                let &[index] = body.params.as_slice() else {
                    return Err(EvalError::bug("a loop binds one index"));
                };
                for at in run.ordinal(*from)?..run.ordinal(*to)? {
                    run.values[index.index()] = Slot::Scalar(ScalarValue::Usize(at));
                    run.block(body)?;
                }
                Ok(())
            }
            Own::Strips {
                width,
                overlapping,
                from,
                to,
                body,
                ..
            } => {
                let &[strip] = body.params.as_slice() else {
                    return Err(EvalError::bug("strips bind one strip"));
                };
                let (mut at, to) = (run.ordinal(*from)?, run.ordinal(*to)?);
                let width = *width as usize;
                let room = |at: usize| to.saturating_sub(at) >= width;
                let all = *overlapping && room(at);
                while room(at) || all && at < to {
                    let first = if all { at.min(to - width) } else { at };
                    run.values[strip.index()] = Slot::Scalar(ScalarValue::Usize(first));
                    run.block(body)?;
                    at = first + width;
                }
                run.bind(stmt, Slot::Scalar(ScalarValue::Usize(at)))
            }
            Own::Lanes {
                strip,
                in_order,
                body,
            } => run.lanes(*strip, *in_order, body),
            Own::Fold {
                monoid,
                place,
                lanes,
            } => {
                let length = run.buffer(*lanes)?.len();
                let left = (0..length).map(|at| run.load(*lanes, at));
                let mut left = left.collect::<Result<Vec<_>, _>>()?;
                while left.len() > 1 {
                    let upper = left.split_off(left.len().div_ceil(2));
                    for (x, y) in left.iter_mut().zip(upper) {
                        *x = combine(*monoid, *x, y)?;
                    }
                }
                match left.first() {
                    Some(&value) => run.combine(*monoid, *place, 0, value),
                    None => Err(EvalError::bug("an array without elements is folded")),
                }
            }
        }
    }
}

impl Run<'_, Cpu> {
    /// The lanes of a strip.
    fn lanes(
        &mut self,
        strip: ValueId,
        in_order: bool,
        body: &Block<Cpu>,
    ) -> Result<(), EvalError> {
        let (&[lane, index], Elem::Index(extent)) =
            (body.params.as_slice(), self.program.elem(body.params[0]))
        else {
            return Err(EvalError::bug("a lane has a number and an index"));
        };
        let first = self.ordinal(strip)?;
        let around = self.now;
        self.nests += 1;
        let nest = self.nests;
        let width = self.extent(extent)?;
        let numbers = match in_order {
            true => (0..width).collect(),
            false => self.meter.order.shuffled(width),
        };
        for number in numbers {
            self.now.lane = (!in_order).then_some(Iteration {
                nest,
                number: number as u64,
            });
            for (param, value) in [(lane, number), (index, first + number)] {
                self.values[param.index()] = Slot::Scalar(ScalarValue::Usize(value));
            }
            self.block(body)?;
        }
        self.now = around;
        Ok(())
    }

    /// An integer.
    fn whole(&self, value: ValueId) -> Result<i128, EvalError> {
        let scalar = self.scalar(value)?;
        scalar.int().ok_or_else(|| mistyped(value, "an integer"))
    }
}

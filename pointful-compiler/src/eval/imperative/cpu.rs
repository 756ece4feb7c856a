//! The interpreter of the operations that only Cpu has.

use super::memory::Iteration;
use super::{EvaluateOwn, Run, Slot};
use crate::eval::prim::eval_prim;
use crate::eval::{EvalError, ScalarValue, combine, mistyped};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Block, Elem, Monoid, Stmt, ValueId};
use crate::ops::Prim;

impl EvaluateOwn for Cpu {
    const RUNS: u64 = 3;

    fn run_own(run: &mut Run<'_, Self>, own: &Own, stmt: &Stmt<Self>) -> Result<(), EvalError> {
        match own {
            Own::Par(par) => run.rows(par),
            Own::Tile(tile) => run.tile(tile),
            Own::Transpose { extents, body } => {
                let &[row, column] = body.params.as_slice() else {
                    return Err(EvalError::bug("a transpose binds two indices"));
                };
                let [rows, columns] = [run.extent(extents[0])?, run.extent(extents[1])?];
                for number in run.meter.order.shuffled(rows * columns) {
                    for (index, at) in [(row, number / columns), (column, number % columns)] {
                        run.values[index.index()] = Slot::Scalar(ScalarValue::Usize(at));
                    }
                    run.block(body)?;
                }
                Ok(())
            }
            Own::Multiversion(body) => run.block(body),
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
            Own::ArgCombine {
                monoid,
                best,
                at,
                lane,
                value,
                place,
            } => {
                let found = (run.scalar(*value)?, run.scalar(*place)?);
                let lane = run.ordinal(*lane)?;
                if better(*monoid, found.0, run.load(*best, lane)?)? {
                    run.store(*best, lane, found.0)?;
                    run.store(*at, lane, found.1)?;
                }
                Ok(())
            }
            Own::ArgFold {
                monoid,
                best,
                at,
                lanes,
            } => {
                let mut found = [run.load(lanes[0], 0)?, run.load(lanes[1], 0)?];
                for lane in 1..run.buffer(lanes[0])?.len() {
                    let [x, p] = [run.load(lanes[0], lane)?, run.load(lanes[1], lane)?];
                    let first = ask(Prim::Eq, x, found[0])? && ask(Prim::Lt, p, found[1])?;
                    if better(*monoid, x, found[0])? || first {
                        found = [x, p];
                    }
                }
                let now = run.toucher(*best);
                let before = run.var(*best)?.load(0, now)?;
                if better(*monoid, found[0], before)? {
                    for (place, value) in [*best, *at].into_iter().zip(found) {
                        let now = run.toucher(place);
                        run.var(place)?.store(0, value, now)?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Whether an element is a better one than another, of which a NaN is none.
fn better(monoid: Monoid, x: ScalarValue, y: ScalarValue) -> Result<bool, EvalError> {
    let (less, worse) = match monoid {
        Monoid::Min => (Prim::Lt, Prim::Ge),
        _ => (Prim::Gt, Prim::Le),
    };
    match x.scalar().is_float() {
        true => Ok(!ask(worse, x, y)? && ask(Prim::Eq, x, x)?),
        false => ask(less, x, y),
    }
}

/// A comparison.
fn ask(prim: Prim, x: ScalarValue, y: ScalarValue) -> Result<bool, EvalError> {
    let no_extents = |_| Err(EvalError::bug("a comparison asks for no extent"));
    let answer = eval_prim(prim, &[x, y], &no_extents)?;
    Ok(answer == ScalarValue::Bool(true))
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

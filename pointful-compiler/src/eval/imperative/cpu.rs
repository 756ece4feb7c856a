//! The interpreter of the operations that only Cpu has.

use super::{EvaluateOwn, Run, Slot};
use crate::eval::{EvalError, ScalarValue, mistyped};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Stmt, ValueId};

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
            Own::Range { from, to, body } => {
                let &[index] = body.params.as_slice() else {
                    return Err(EvalError::bug("a loop binds one index"));
                };
                for at in run.ordinal(*from)?..run.ordinal(*to)? {
                    run.values[index.index()] = Slot::Scalar(ScalarValue::Usize(at));
                    run.block(body)?;
                }
                Ok(())
            }
        }
    }
}

impl Run<'_, Cpu> {
    /// An integer.
    fn whole(&self, value: ValueId) -> Result<i128, EvalError> {
        let scalar = self.scalar(value)?;
        scalar.int().ok_or_else(|| mistyped(value, "an integer"))
    }
}

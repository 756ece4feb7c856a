//! Constant folding: a primitive of constants is a constant, computed as the interpreters compute
//! it.

use smallvec::SmallVec;

use super::Simplify;
use super::context::{Context, Rewrite};
use crate::eval::{ScalarValue, eval_const};
use crate::ir::{Elem, ValueId};
use crate::ops::Prim;

/// A primitive of constants, unless it would panic or is not the same to the last bit on every
/// machine.
pub(super) fn rule<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    args: &[ValueId],
) -> Option<Rewrite> {
    let operands = args
        .iter()
        .map(|&arg| context.lit(arg).map(ScalarValue::from_lit))
        .collect::<Option<SmallVec<[_; 2]>>>()?;
    let elems = context.program.elems(args);
    // An index is not a constant: it says what it is an index of.
    let Ok(Elem::Scalar(_)) = prim.result(&elems) else {
        return None;
    };
    let value = folded(prim, &operands)?;
    Some(Rewrite::Const(value.to_lit()))
}

/// What a primitive of constants is, unless it would panic or is not the same to the last bit on
/// every machine.
pub(crate) fn folded(prim: Prim, operands: &[ScalarValue]) -> Option<ScalarValue> {
    eval_const(prim, operands).filter(|_| is_exact(prim))
}

/// Whether every machine computes the same bits: libraries differ in how they round the elementary
/// functions.
fn is_exact(prim: Prim) -> bool {
    !matches!(
        prim,
        Prim::Powi
            | Prim::Powf
            | Prim::Cbrt
            | Prim::Exp
            | Prim::Exp2
            | Prim::ExpM1
            | Prim::Ln
            | Prim::Log2
            | Prim::Log10
            | Prim::Ln1p
            | Prim::Sin
            | Prim::Cos
            | Prim::Tan
            | Prim::Asin
            | Prim::Acos
            | Prim::Atan
            | Prim::Atan2
            | Prim::Sinh
            | Prim::Cosh
            | Prim::Tanh
            | Prim::Asinh
            | Prim::Acosh
            | Prim::Atanh
            | Prim::Hypot
    )
}

//! Casts: one that changes nothing, and two in a row that are one.

use super::Simplify;
use super::context::{Context, Rewrite};
use crate::ir::{Elem, Scalar, ValueId};
use crate::ops::Prim;

pub(super) fn rule<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    args: &[ValueId],
) -> Option<Rewrite> {
    let (Prim::Cast(to), &[x]) = (prim, args) else {
        return None;
    };
    if context.elem(x) == Elem::Scalar(to) {
        return Some(Rewrite::Value(x));
    }
    let (Prim::Cast(through), &[inner]) = context.prim(x)? else {
        return None;
    };
    let from = context.elem(inner);
    let narrowing = from.repr().is_int()
        && to.is_int()
        && through.is_int()
        && through.bytes() >= to.bytes()
        // `usize` is as wide as the machine says.
        && (through != Scalar::Usize || to.bytes() <= 4 || to == Scalar::Usize);
    if !is_lossless(from, through) && !narrowing {
        return None;
    }
    if from == Elem::Scalar(to) {
        return Some(Rewrite::Value(inner));
    }
    Some(Rewrite::prim(Prim::Cast(to), &[inner]))
}

/// Whether every value survives the cast, so that a further one sees the same number.
fn is_lossless(from: Elem, to: Scalar) -> bool {
    match from {
        // No index set has more members than `i64` can count.
        Elem::Index(_) | Elem::Bound(_) => matches!(to, Scalar::Usize | Scalar::I64),
        Elem::Scalar(from) => match from {
            Scalar::Bool => to != Scalar::Bool && to.is_int(),
            Scalar::U8 => to != Scalar::Bool && to != Scalar::U8,
            Scalar::U32 => matches!(to, Scalar::I64 | Scalar::F64),
            Scalar::I32 => matches!(to, Scalar::I64 | Scalar::F64),
            Scalar::F32 => to == Scalar::F64,
            Scalar::I64 | Scalar::Usize | Scalar::F64 => false,
        },
    }
}

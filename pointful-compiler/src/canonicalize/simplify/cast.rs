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
        && (!through.is_machine_word() || to.bytes() <= 4 || to.is_machine_word());
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
        Elem::Index(_) | Elem::Bound(_) => {
            matches!(
                to,
                Scalar::Usize | Scalar::Isize | Scalar::I64 | Scalar::U64
            )
        }
        Elem::Scalar(from) => match from {
            Scalar::Bool => to != Scalar::Bool && to.is_int(),
            Scalar::F32 => to == Scalar::F64,
            Scalar::F64 => false,
            from => match to {
                Scalar::Bool => false,
                // Significant bits of a float.
                Scalar::F32 => from.bytes() <= 2,
                Scalar::F64 => from.bytes() <= 4,
                to => is_wider(from, to),
            },
        },
    }
}

/// Whether an integer type has all values of another one, and more, on every machine.
fn is_wider(from: Scalar, to: Scalar) -> bool {
    // A machine word has 16 bits at least.
    let bytes = |scalar: Scalar, word: u64| match scalar.is_machine_word() {
        true => word,
        false => scalar.bytes(),
    };
    bytes(from, 8) < bytes(to, 2) && (to.is_signed_int() || !from.is_signed_int())
}

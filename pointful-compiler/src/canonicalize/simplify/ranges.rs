//! Indices whose range is known.

use super::Simplify;
use super::context::{Context, Rewrite};
use crate::ir::{Elem, Extent, Lit, Scalar, ValueId};
use crate::ops::Prim;

pub(super) fn rule<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    args: &[ValueId],
) -> Option<Rewrite> {
    match prim {
        Prim::Check(extent) | Prim::Wrap(extent) | Prim::ClampTo(extent) | Prim::Mirror(extent) => {
            constant(context, prim, extent, args[0]).or_else(|| known(context, extent, args[0]))
        }
        Prim::Trust(extent) => {
            let index = ordinal_of(context, args[0])?;
            (context.elem(index) == Elem::Index(extent)).then_some(Rewrite::Value(index))
        }
        Prim::InRange(extent) => {
            if known(context, extent, args[0]).is_some() {
                return Some(Rewrite::Const(Lit::Bool(true)));
            }
            let (Some(n), Extent::Const(size)) = (context.int(args[0]), extent) else {
                return None;
            };
            let inside = (0..i128::from(size)).contains(&n);
            Some(Rewrite::Const(Lit::Bool(inside)))
        }
        Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => compare(context, prim, args[0], args[1]),
        _ => None,
    }
}

/// The index that a value is the ordinal of.
fn ordinal_of<S: Simplify>(context: &Context<'_, S>, value: ValueId) -> Option<ValueId> {
    if matches!(context.elem(value), Elem::Index(_)) {
        return Some(value);
    }
    match context.prim(value)? {
        // No index set has more members than these can count.
        (Prim::Cast(Scalar::I64 | Scalar::Usize), &[inner]) => ordinal_of(context, inner),
        _ => None,
    }
}

/// An index that needs no check: of this set already, or of one that is no larger.
fn known<S: Simplify>(context: &Context<'_, S>, extent: Extent, value: ValueId) -> Option<Rewrite> {
    let index = ordinal_of(context, value)?;
    let Elem::Index(own) = context.elem(index) else {
        return None;
    };
    if own == extent {
        return Some(Rewrite::Value(index));
    }
    match (own, extent) {
        (Extent::Const(own), Extent::Const(size)) if own <= size => {
            Some(Rewrite::prim(Prim::Trust(extent), &[index]))
        }
        _ => None,
    }
}

/// A constant integer brought into a constant range.
fn constant<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    extent: Extent,
    value: ValueId,
) -> Option<Rewrite> {
    let n = context.int(value)?;
    let Extent::Const(size @ 1..) = extent else {
        return None;
    };
    let size = i128::from(size);
    let n = match prim {
        Prim::Wrap(_) => n.rem_euclid(size),
        Prim::ClampTo(_) => n.clamp(0, size - 1),
        Prim::Mirror(_) if size == 1 => 0,
        Prim::Mirror(_) => {
            let there_and_back = n.rem_euclid(2 * (size - 1));
            there_and_back.min(2 * (size - 1) - there_and_back)
        }
        _ if (0..size).contains(&n) => n,
        _ => return None,
    };
    let ordinal = Rewrite::Const(Lit::Int(Scalar::Usize, n));
    Some(Rewrite::Prim(Prim::Trust(extent), vec![ordinal]))
}

/// Comparisons of an ordinal with zero, and with the size of its set.
fn compare<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    x: ValueId,
    y: ValueId,
) -> Option<Rewrite> {
    let truth = |truth| Some(Rewrite::Const(Lit::Bool(truth)));
    // As if the ordinal stood on the left.
    let (index, other, prim) = match (ordinal_of(context, x), ordinal_of(context, y)) {
        (Some(index), None) => (index, y, prim),
        (None, Some(index)) => {
            let mirrored = match prim {
                Prim::Lt => Prim::Gt,
                Prim::Le => Prim::Ge,
                Prim::Gt => Prim::Lt,
                Prim::Ge => Prim::Le,
                _ => return None,
            };
            (index, x, mirrored)
        }
        _ => return None,
    };
    let Elem::Index(extent) = context.elem(index) else {
        return None;
    };
    // The ordinal is at least 0 and less than the size.
    match context.int(other) {
        Some(n) if n < 0 || (n == 0 && matches!(prim, Prim::Lt | Prim::Ge)) => {
            return truth(matches!(prim, Prim::Gt | Prim::Ge));
        }
        Some(n) => {
            let Extent::Const(size) = extent else {
                return None;
            };
            let beyond = match prim {
                Prim::Lt | Prim::Ge => n >= i128::from(size),
                _ => n >= i128::from(size) - 1 && matches!(prim, Prim::Le | Prim::Gt),
            };
            return beyond.then_some(Rewrite::Const(Lit::Bool(matches!(
                prim,
                Prim::Lt | Prim::Le
            ))));
        }
        None => {}
    }
    let size = match context.prim(other) {
        Some((Prim::Cast(Scalar::I64 | Scalar::Usize), &[inner])) => inner,
        _ => other,
    };
    if context.size_of(size)? == extent && matches!(context.elem(size), Elem::USIZE) {
        return match prim {
            Prim::Lt | Prim::Le => truth(true),
            Prim::Gt | Prim::Ge => truth(false),
            _ => None,
        };
    }
    None
}

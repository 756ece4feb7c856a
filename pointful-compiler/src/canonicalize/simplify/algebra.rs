//! Algebraic identities.
//!
//! On floats only those that hold for every bit pattern, infinities, signed zeros and NaN (but for
//! its payload) included.

use super::Simplify;
use super::context::{Context, Rewrite};
use crate::ir::{Elem, Lit, Scalar, ValueId};
use crate::ops::Prim;

/// The largest exponent for which `powi` becomes multiplications: three squarings, and the products
/// of them.
const LARGEST_POWER: u32 = 15;

pub(super) fn rule<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    args: &[ValueId],
) -> Option<Rewrite> {
    match *args {
        [x] => unary(context, prim, x),
        [x, y] => match context.elem(x) {
            Elem::Scalar(Scalar::F32 | Scalar::F64) => float(context, prim, x, y),
            Elem::Scalar(Scalar::Bool) => logic(context, prim, x, y),
            Elem::Scalar(_) | Elem::Index(_) | Elem::Bound(_) => integer(context, prim, x, y),
        },
        _ => None,
    }
}

/// What undoes itself, or does nothing the second time.
fn unary<S: Simplify>(context: &Context<'_, S>, prim: Prim, x: ValueId) -> Option<Rewrite> {
    let (inner, args) = context.prim(x)?;
    match (prim, inner) {
        (Prim::Neg, Prim::Neg) | (Prim::Not, Prim::Not) => Some(Rewrite::Value(args[0])),
        (Prim::Abs, Prim::Neg) if context.elem(x).is_float() => {
            Some(Rewrite::prim(Prim::Abs, args))
        }
        (Prim::Abs, Prim::Abs)
        | (Prim::Floor, Prim::Floor)
        | (Prim::Ceil, Prim::Ceil)
        | (Prim::Trunc, Prim::Trunc)
        | (Prim::Round, Prim::Round) => Some(Rewrite::Value(x)),
        (Prim::Not, _) => {
            let opposite = inner.opposite(context.elem(*args.first()?).is_float())?;
            Some(Rewrite::prim(opposite, args))
        }
        _ => None,
    }
}

fn float<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    x: ValueId,
    y: ValueId,
) -> Option<Rewrite> {
    let keep = |value| Some(Rewrite::Value(value));
    let is = |value, bits: f64| {
        context
            .float(value)
            .is_some_and(|float| float.to_bits() == bits.to_bits())
    };
    match prim {
        Prim::Mul if is(y, 1.0) => keep(x),
        Prim::Mul if is(x, 1.0) => keep(y),
        Prim::Mul if is(y, -1.0) => Some(Rewrite::prim(Prim::Neg, &[x])),
        Prim::Mul if is(x, -1.0) => Some(Rewrite::prim(Prim::Neg, &[y])),
        Prim::Div if is(y, 1.0) => keep(x),
        Prim::Div => exact_reciprocal(context, x, y),
        Prim::Sub if is(y, 0.0) => keep(x),
        // `x + -0.0` is `x` even if that is a zero; `x + 0.0` is not.
        Prim::Add if is(y, -0.0) => keep(x),
        Prim::Add if is(x, -0.0) => keep(y),
        Prim::Add => negated(context, y)
            .map(|y| Rewrite::prim(Prim::Sub, &[x, y]))
            .or_else(|| negated(context, x).map(|x| Rewrite::prim(Prim::Sub, &[y, x]))),
        Prim::Sub => negated(context, y).map(|y| Rewrite::prim(Prim::Add, &[x, y])),
        Prim::Min | Prim::Max if x == y => keep(x),
        Prim::Powi => {
            let n = i32::try_from(context.int(y)?).ok()?;
            power(context, x, n)
        }
        Prim::Powf if is(y, 1.0) => keep(x),
        Prim::Powf if is(y, 2.0) => Some(Rewrite::prim(Prim::Mul, &[x, x])),
        _ => None,
    }
}

/// What a value is the negation of.
fn negated<S: Simplify>(context: &Context<'_, S>, value: ValueId) -> Option<ValueId> {
    match context.prim(value)? {
        (Prim::Neg, &[x]) => Some(x),
        _ => None,
    }
}

/// Division by a power of two is multiplication by its reciprocal, exactly, if neither is
/// subnormal.
fn exact_reciprocal<S: Simplify>(
    context: &Context<'_, S>,
    x: ValueId,
    y: ValueId,
) -> Option<Rewrite> {
    let (mantissa, lit) = match context.lit(y)? {
        Lit::F32(bits) => {
            let float = f32::from_bits(bits);
            let inverse = 1.0 / float;
            let normal = float.is_normal() && inverse.is_normal();
            let mantissa = u64::from(bits) & ((1 << 23) - 1);
            (normal.then_some(mantissa)?, Lit::F32(inverse.to_bits()))
        }
        Lit::F64(bits) => {
            let float = f64::from_bits(bits);
            let inverse = 1.0 / float;
            let normal = float.is_normal() && inverse.is_normal();
            let mantissa = bits & ((1 << 52) - 1);
            (normal.then_some(mantissa)?, Lit::F64(inverse.to_bits()))
        }
        Lit::Int(..) | Lit::Bool(_) => return None,
    };
    (mantissa == 0).then(|| Rewrite::Prim(Prim::Mul, vec![Rewrite::Value(x), Rewrite::Const(lit)]))
}

/// A small power, by repeated squaring.
fn power<S: Simplify>(context: &Context<'_, S>, x: ValueId, n: i32) -> Option<Rewrite> {
    let exponent = n.unsigned_abs();
    if exponent > LARGEST_POWER {
        return None;
    }
    let one = Lit::of(context.elem(x).repr(), 1.0);
    let mut product: Option<Rewrite> = None;
    let mut square = Rewrite::Value(x);
    let mut rest = exponent;
    while rest > 0 {
        if rest & 1 == 1 {
            product = Some(match product {
                None => square.clone(),
                Some(product) => Rewrite::Prim(Prim::Mul, vec![product, square.clone()]),
            });
        }
        rest >>= 1;
        square = Rewrite::Prim(Prim::Mul, vec![square.clone(), square]);
    }
    let product = product.unwrap_or(Rewrite::Const(one));
    Some(if n < 0 {
        Rewrite::Prim(Prim::Recip, vec![product])
    } else {
        product
    })
}

fn integer<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    x: ValueId,
    y: ValueId,
) -> Option<Rewrite> {
    let keep = |value| Some(Rewrite::Value(value));
    let truth = |truth| Some(Rewrite::Const(Lit::Bool(truth)));
    let number = |n| match context.elem(x) {
        Elem::Scalar(scalar) => Some(Rewrite::Const(Lit::Int(scalar, n))),
        Elem::Index(_) | Elem::Bound(_) => None,
    };
    let (a, b) = (context.int(x), context.int(y));
    match prim {
        Prim::Add | Prim::Or | Prim::Xor if a == Some(0) => keep(y),
        Prim::Add | Prim::Sub | Prim::Or | Prim::Xor | Prim::Shl | Prim::Shr if b == Some(0) => {
            keep(x)
        }
        Prim::Mul if a == Some(1) => keep(y),
        Prim::Mul | Prim::Div | Prim::DivEuclid if b == Some(1) => keep(x),
        Prim::Mul | Prim::And if a == Some(0) || b == Some(0) => number(0),
        Prim::Rem | Prim::RemEuclid if b == Some(1) => number(0),
        Prim::Pow if b == Some(0) => number(1),
        Prim::Pow if b == Some(1) => keep(x),
        Prim::Sub | Prim::Xor if x == y => number(0),
        Prim::And | Prim::Or | Prim::Min | Prim::Max if x == y => keep(x),
        Prim::Eq | Prim::Le | Prim::Ge if x == y => truth(true),
        Prim::Ne | Prim::Lt | Prim::Gt if x == y => truth(false),
        Prim::Add | Prim::Sub => {
            if let Some(rest) = cancelled(context, prim, x, y) {
                return keep(rest);
            }
            // Constants are gathered at the end of a chain of sums, where ranges are looked for.
            let Elem::Scalar(scalar) = context.elem(x) else {
                return None;
            };
            let (inner, args) = context.prim(x)?;
            let c = context.int(args.get(1).copied()?)?;
            let c = match inner {
                Prim::Add => c,
                Prim::Sub => -c,
                _ => return None,
            };
            let sum = if prim == Prim::Add { c + b? } else { c - b? };
            offset(args[0], scalar, sum)
        }
        _ => None,
    }
}

/// What is left of a sum of which one term is subtracted again: integers wrap, so it is all of it.
fn cancelled<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    x: ValueId,
    y: ValueId,
) -> Option<ValueId> {
    let terms = |value, of| match context.prim(value)? {
        (inner, &[a, b]) if inner == of => Some((a, b)),
        _ => None,
    };
    if prim == Prim::Add {
        let rest = |difference, term| {
            let (rest, subtracted) = terms(difference, Prim::Sub)?;
            (subtracted == term).then_some(rest)
        };
        return rest(x, y).or_else(|| rest(y, x));
    }
    if let Some((a, b)) = terms(x, Prim::Add) {
        return (b == y).then_some(a).or((a == y).then_some(b));
    }
    let (a, b) = terms(y, Prim::Sub)?;
    (a == x).then_some(b)
}

/// `x + n`, written with a constant that the type has.
fn offset(x: ValueId, scalar: Scalar, n: i128) -> Option<Rewrite> {
    let (prim, n) = if n < 0 {
        (Prim::Sub, -n)
    } else {
        (Prim::Add, n)
    };
    let (_, largest) = match scalar {
        // Whatever machine the program runs on.
        Scalar::Usize => Scalar::U32.int_range()?,
        Scalar::Isize => Scalar::I32.int_range()?,
        scalar => scalar.int_range()?,
    };
    if n == 0 {
        return Some(Rewrite::Value(x));
    }
    (n <= largest).then(|| {
        let constant = Rewrite::Const(Lit::Int(scalar, n));
        Rewrite::Prim(prim, vec![Rewrite::Value(x), constant])
    })
}

fn logic<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    x: ValueId,
    y: ValueId,
) -> Option<Rewrite> {
    let (known, other) = match (context.truth(x), context.truth(y)) {
        (Some(known), _) => (known, y),
        (_, Some(known)) => (known, x),
        (None, None) => {
            return (x == y && matches!(prim, Prim::And | Prim::Or)).then_some(Rewrite::Value(x));
        }
    };
    match (prim, known) {
        (Prim::And, true) | (Prim::Or | Prim::Xor | Prim::Ne, false) | (Prim::Eq, true) => {
            Some(Rewrite::Value(other))
        }
        (Prim::And, false) => Some(Rewrite::Const(Lit::Bool(false))),
        (Prim::Or, true) => Some(Rewrite::Const(Lit::Bool(true))),
        (Prim::Xor | Prim::Ne, true) | (Prim::Eq, false) => {
            Some(Rewrite::prim(Prim::Not, &[other]))
        }
        _ => None,
    }
}

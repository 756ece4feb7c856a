//! What primitives compute: exactly what emitted code does, which is what Rust's methods of the
//! same name do in a release build, but for the last bit of elementary functions.

use super::EvalError;
use super::data::ScalarValue::{
    self, Bool, F32, F64, I8, I16, I32, I64, Isize, U8, U16, U32, U64, Usize,
};
use crate::ir::{Extent, Monoid, Scalar};
use crate::ops::Prim;

/// A float's method with the given further operands of the same type.
macro_rules! float {
    ($prim:expr, $operands:expr, $method:ident) => {
        match *$operands {
            [F32(x)] => Ok(F32(x.$method())),
            [F64(x)] => Ok(F64(x.$method())),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
    ($prim:expr, $operands:expr, $method:ident, 2) => {
        match *$operands {
            [F32(x), F32(y)] => Ok(F32(x.$method(y))),
            [F64(x), F64(y)] => Ok(F64(x.$method(y))),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
}

/// An elementary function, the same one that emitted code calls, so that both give the same bits.
macro_rules! elementary {
    ($prim:expr, $operands:expr, $function:ident) => {
        match *$operands {
            [F32(x)] => Ok(F32(pointful_math::$function(x))),
            [F64(x)] => Ok(F64(pointful_math::$function(x))),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
    ($prim:expr, $operands:expr, $function:ident, 2) => {
        match *$operands {
            [F32(x), F32(y)] => Ok(F32(pointful_math::$function(x, y))),
            [F64(x), F64(y)] => Ok(F64(pointful_math::$function(x, y))),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
}

/// A question about a float.
macro_rules! float_test {
    ($prim:expr, $operands:expr, $method:ident) => {
        match *$operands {
            [F32(x)] => Ok(Bool(x.$method())),
            [F64(x)] => Ok(Bool(x.$method())),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
}

/// One expression for floats, one for integers.
macro_rules! number {
    ($prim:expr, $operands:expr, |$x:ident| $float:expr, $int:expr) => {
        match *$operands {
            [F32($x)] => Ok(F32($float)),
            [F64($x)] => Ok(F64($float)),
            [I8($x)] => Ok(I8($int)),
            [I16($x)] => Ok(I16($int)),
            [I32($x)] => Ok(I32($int)),
            [I64($x)] => Ok(I64($int)),
            [Isize($x)] => Ok(Isize($int)),
            [U8($x)] => Ok(U8($int)),
            [U16($x)] => Ok(U16($int)),
            [U32($x)] => Ok(U32($int)),
            [U64($x)] => Ok(U64($int)),
            [Usize($x)] => Ok(Usize($int)),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
    ($prim:expr, $operands:expr, |$x:ident, $y:ident| $float:expr, $int:expr) => {
        match *$operands {
            [F32($x), F32($y)] => Ok(F32($float)),
            [F64($x), F64($y)] => Ok(F64($float)),
            [I8($x), I8($y)] => Ok(I8($int)),
            [I16($x), I16($y)] => Ok(I16($int)),
            [I32($x), I32($y)] => Ok(I32($int)),
            [I64($x), I64($y)] => Ok(I64($int)),
            [Isize($x), Isize($y)] => Ok(Isize($int)),
            [U8($x), U8($y)] => Ok(U8($int)),
            [U16($x), U16($y)] => Ok(U16($int)),
            [U32($x), U32($y)] => Ok(U32($int)),
            [U64($x), U64($y)] => Ok(U64($int)),
            [Usize($x), Usize($y)] => Ok(Usize($int)),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
}

/// An integer division that panics as Rust's does.
macro_rules! division {
    ($prim:expr, $operands:expr, |$a:ident, $b:ident| $float:expr, $checked:ident, $what:literal) => {
        number!(
            $prim,
            $operands,
            |$a, $b| $float,
            if $b == 0 {
                return Err(EvalError::panic(match $what {
                    "divide" => "attempt to divide by zero",
                    _ => "attempt to calculate the remainder with a divisor of zero",
                }));
            } else {
                match $a.$checked($b) {
                    Some(value) => value,
                    None => {
                        return Err(EvalError::panic(concat!(
                            "attempt to ",
                            $what,
                            " with overflow"
                        )));
                    }
                }
            }
        )
    };
}

/// One expression for all types of whole numbers.
macro_rules! integer {
    ($prim:expr, $operands:expr, |$x:ident, $n:ident| $int:expr) => {
        match ($operands[0], exponent($prim, $operands)?) {
            (I8($x), $n) => Ok(I8($int)),
            (I16($x), $n) => Ok(I16($int)),
            (I32($x), $n) => Ok(I32($int)),
            (I64($x), $n) => Ok(I64($int)),
            (Isize($x), $n) => Ok(Isize($int)),
            (U8($x), $n) => Ok(U8($int)),
            (U16($x), $n) => Ok(U16($int)),
            (U32($x), $n) => Ok(U32($int)),
            (U64($x), $n) => Ok(U64($int)),
            (Usize($x), $n) => Ok(Usize($int)),
            (F32(_) | F64(_) | Bool(_), _) => Err(ill_typed($prim, $operands)),
        }
    };
}

/// How many of an integer's bits are something.
macro_rules! bit_count {
    ($prim:expr, $operands:expr, $method:ident) => {
        unary!($prim, $operands, x, x.$method(), U32 U32 U32 U32 U32 U32 U32 U32 U32 U32)
    };
}

/// An integer's bits in another order.
macro_rules! reordered {
    ($prim:expr, $operands:expr, $method:ident) => {
        unary!($prim, $operands, x, x.$method(), I8 I16 I32 I64 Isize U8 U16 U32 U64 Usize)
    };
}

/// One expression for an integer of each type, which gives values of these types.
macro_rules! unary {
    ($prim:expr, $operands:expr, $x:ident, $e:expr, $I8:ident $I16:ident $I32:ident $I64:ident
        $Isize:ident $U8:ident $U16:ident $U32:ident $U64:ident $Usize:ident) => {
        match *$operands {
            [I8($x)] => Ok($I8($e)),
            [I16($x)] => Ok($I16($e)),
            [I32($x)] => Ok($I32($e)),
            [I64($x)] => Ok($I64($e)),
            [Isize($x)] => Ok($Isize($e)),
            [U8($x)] => Ok($U8($e)),
            [U16($x)] => Ok($U16($e)),
            [U32($x)] => Ok($U32($e)),
            [U64($x)] => Ok($U64($e)),
            [Usize($x)] => Ok($Usize($e)),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
}

/// One expression for integers and truth values.
macro_rules! bits {
    ($prim:expr, $operands:expr, |$x:ident, $y:ident| $e:expr) => {
        match *$operands {
            [I8($x), I8($y)] => Ok(I8($e)),
            [I16($x), I16($y)] => Ok(I16($e)),
            [I32($x), I32($y)] => Ok(I32($e)),
            [I64($x), I64($y)] => Ok(I64($e)),
            [Isize($x), Isize($y)] => Ok(Isize($e)),
            [U8($x), U8($y)] => Ok(U8($e)),
            [U16($x), U16($y)] => Ok(U16($e)),
            [U32($x), U32($y)] => Ok(U32($e)),
            [U64($x), U64($y)] => Ok(U64($e)),
            [Usize($x), Usize($y)] => Ok(Usize($e)),
            [Bool($x), Bool($y)] => Ok(Bool($e)),
            _ => Err(ill_typed($prim, $operands)),
        }
    };
}

/// What a primitive gives that is computed before the program runs, unless it would panic or asks
/// for an extent that is not known then.
pub fn eval_const(prim: Prim, operands: &[ScalarValue]) -> Option<ScalarValue> {
    let extent = |extent| {
        let known = match extent {
            Extent::Const(n) => usize::try_from(n).ok(),
            Extent::Size(_) | Extent::Value(_) => None,
        };
        known.ok_or_else(|| EvalError::bug("the extent is not constant"))
    };
    eval_prim(prim, operands, &extent).ok()
}

/// Applies a primitive to scalars.
///
/// `extents` tells how large an extent is; a caller that does not know (a constant folder) gives an
/// error of its own.
///
/// # Errors
///
/// [`EvalError::Panic`] where the program would panic, [`EvalError::Bug`] for operands of the wrong
/// types and for a `trust` that does not deserve it.
pub fn eval_prim(
    prim: Prim,
    operands: &[ScalarValue],
    extents: &dyn Fn(Extent) -> Result<usize, EvalError>,
) -> Result<ScalarValue, EvalError> {
    if operands.len() != prim.arity() {
        return Err(ill_typed(prim, operands));
    }
    match prim {
        Prim::Neg => number!(prim, operands, |x| -x, x.wrapping_neg()),
        Prim::StopGradient => match *operands {
            [x] => Ok(x),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Not => match *operands {
            [I8(x)] => Ok(I8(!x)),
            [I16(x)] => Ok(I16(!x)),
            [I32(x)] => Ok(I32(!x)),
            [I64(x)] => Ok(I64(!x)),
            [Isize(x)] => Ok(Isize(!x)),
            [U8(x)] => Ok(U8(!x)),
            [U16(x)] => Ok(U16(!x)),
            [U32(x)] => Ok(U32(!x)),
            [U64(x)] => Ok(U64(!x)),
            [Usize(x)] => Ok(Usize(!x)),
            [Bool(x)] => Ok(Bool(!x)),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Add => number!(prim, operands, |x, y| x + y, x.wrapping_add(y)),
        Prim::Sub => number!(prim, operands, |x, y| x - y, x.wrapping_sub(y)),
        Prim::Mul => number!(prim, operands, |x, y| x * y, x.wrapping_mul(y)),
        Prim::Div => division!(prim, operands, |x, y| x / y, checked_div, "divide"),
        Prim::MulAbsorb => match *operands {
            [F32(x), F32(y)] => Ok(F32(if x == 0.0 || y == 0.0 { 0.0 } else { x * y })),
            [F64(x), F64(y)] => Ok(F64(if x == 0.0 || y == 0.0 { 0.0 } else { x * y })),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::DivAbsorb => match *operands {
            [F32(x), F32(y)] => Ok(F32(if x == 0.0 { 0.0 } else { x / y })),
            [F64(x), F64(y)] => Ok(F64(if x == 0.0 { 0.0 } else { x / y })),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Rem => division!(
            prim,
            operands,
            |x, y| x % y,
            checked_rem,
            "calculate the remainder"
        ),
        Prim::DivEuclid => division!(
            prim,
            operands,
            |x, y| x.div_euclid(y),
            checked_div_euclid,
            "divide"
        ),
        Prim::RemEuclid => division!(
            prim,
            operands,
            |x, y| x.rem_euclid(y),
            checked_rem_euclid,
            "calculate the remainder"
        ),
        Prim::Min => number!(
            prim,
            operands,
            |x, y| if y < x || x.is_nan() { y } else { x },
            x.min(y)
        ),
        Prim::Max => number!(
            prim,
            operands,
            |x, y| if y > x || x.is_nan() { y } else { x },
            x.max(y)
        ),
        Prim::And => bits!(prim, operands, |x, y| x & y),
        Prim::Or => bits!(prim, operands, |x, y| x | y),
        Prim::Xor => bits!(prim, operands, |x, y| x ^ y),
        Prim::Shl => integer!(prim, operands, |x, n| x.wrapping_shl(n)),
        Prim::Shr => integer!(prim, operands, |x, n| x.wrapping_shr(n)),
        Prim::RotateLeft => integer!(prim, operands, |x, n| x.rotate_left(n)),
        Prim::RotateRight => integer!(prim, operands, |x, n| x.rotate_right(n)),
        Prim::CountOnes => bit_count!(prim, operands, count_ones),
        Prim::LeadingZeros => bit_count!(prim, operands, leading_zeros),
        Prim::TrailingZeros => bit_count!(prim, operands, trailing_zeros),
        Prim::ReverseBits => reordered!(prim, operands, reverse_bits),
        Prim::SwapBytes => reordered!(prim, operands, swap_bytes),
        Prim::ToBits => match *operands {
            [F32(x)] => Ok(U32(x.to_bits())),
            [F64(x)] => Ok(U64(x.to_bits())),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::FromBits => match *operands {
            [U32(x)] => Ok(F32(f32::from_bits(x))),
            [U64(x)] => Ok(F64(f64::from_bits(x))),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Pow => integer!(prim, operands, |x, n| x.wrapping_pow(n)),
        Prim::Eq => compare(prim, operands, |x, y| x == y),
        Prim::Ne => compare(prim, operands, |x, y| x != y),
        Prim::Lt => compare(prim, operands, |x, y| x < y),
        Prim::Le => compare(prim, operands, |x, y| x <= y),
        Prim::Gt => compare(prim, operands, |x, y| x > y),
        Prim::Ge => compare(prim, operands, |x, y| x >= y),
        Prim::Abs => match *operands {
            [F32(x)] => Ok(F32(x.abs())),
            [F64(x)] => Ok(F64(x.abs())),
            [I8(x)] => Ok(I8(x.wrapping_abs())),
            [I16(x)] => Ok(I16(x.wrapping_abs())),
            [I32(x)] => Ok(I32(x.wrapping_abs())),
            [I64(x)] => Ok(I64(x.wrapping_abs())),
            [Isize(x)] => Ok(Isize(x.wrapping_abs())),
            [x @ (U8(_) | U16(_) | U32(_) | U64(_) | Usize(_))] => Ok(x),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Signum => match *operands {
            [F32(x)] => Ok(F32(x.signum())),
            [F64(x)] => Ok(F64(x.signum())),
            [I8(x)] => Ok(I8(x.signum())),
            [I16(x)] => Ok(I16(x.signum())),
            [I32(x)] => Ok(I32(x.signum())),
            [I64(x)] => Ok(I64(x.signum())),
            [Isize(x)] => Ok(Isize(x.signum())),
            [U8(x)] => Ok(U8(x.min(1))),
            [U16(x)] => Ok(U16(x.min(1))),
            [U32(x)] => Ok(U32(x.min(1))),
            [U64(x)] => Ok(U64(x.min(1))),
            [Usize(x)] => Ok(Usize(x.min(1))),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Powi => match *operands {
            [F32(x), I32(n)] => Ok(F32(x.powi(n))),
            [F64(x), I32(n)] => Ok(F64(x.powi(n))),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Powf => elementary!(prim, operands, powf, 2),
        Prim::Sqrt => float!(prim, operands, sqrt),
        Prim::Cbrt => elementary!(prim, operands, cbrt),
        Prim::Exp => elementary!(prim, operands, exp),
        Prim::Exp2 => elementary!(prim, operands, exp2),
        Prim::ExpM1 => elementary!(prim, operands, exp_m1),
        Prim::Ln => elementary!(prim, operands, ln),
        Prim::Log2 => elementary!(prim, operands, log2),
        Prim::Log10 => elementary!(prim, operands, log10),
        Prim::Ln1p => elementary!(prim, operands, ln_1p),
        Prim::Sin => elementary!(prim, operands, sin),
        Prim::Cos => elementary!(prim, operands, cos),
        Prim::Tan => elementary!(prim, operands, tan),
        Prim::Asin => elementary!(prim, operands, asin),
        Prim::Acos => elementary!(prim, operands, acos),
        Prim::Atan => elementary!(prim, operands, atan),
        Prim::Atan2 => elementary!(prim, operands, atan2, 2),
        Prim::Sinh => elementary!(prim, operands, sinh),
        Prim::Cosh => elementary!(prim, operands, cosh),
        Prim::Tanh => elementary!(prim, operands, tanh),
        Prim::Asinh => elementary!(prim, operands, asinh),
        Prim::Acosh => elementary!(prim, operands, acosh),
        Prim::Atanh => elementary!(prim, operands, atanh),
        Prim::Hypot => elementary!(prim, operands, hypot, 2),
        Prim::MulAdd => match *operands {
            [F32(x), F32(a), F32(b)] => Ok(F32(x.mul_add(a, b))),
            [F64(x), F64(a), F64(b)] => Ok(F64(x.mul_add(a, b))),
            _ => Err(ill_typed(prim, operands)),
        },
        Prim::Copysign => float!(prim, operands, copysign, 2),
        Prim::Recip => float!(prim, operands, recip),
        Prim::Floor => float!(prim, operands, floor),
        Prim::Ceil => float!(prim, operands, ceil),
        Prim::Round => float!(prim, operands, round),
        Prim::Trunc => float!(prim, operands, trunc),
        Prim::Fract => float!(prim, operands, fract),
        Prim::ToDegrees => float!(prim, operands, to_degrees),
        Prim::ToRadians => float!(prim, operands, to_radians),
        Prim::IsNan => float_test!(prim, operands, is_nan),
        Prim::IsFinite => float_test!(prim, operands, is_finite),
        Prim::IsInfinite => float_test!(prim, operands, is_infinite),
        Prim::IsSignNegative => float_test!(prim, operands, is_sign_negative),
        Prim::IsSignPositive => float_test!(prim, operands, is_sign_positive),
        Prim::Cast(to) => Ok(operands[0].cast(to)),
        Prim::Check(extent) => {
            let (x, n) = index_operands(prim, operands, extents(extent)?)?;
            if (0..n).contains(&x) {
                Ok(Usize(x as usize))
            } else {
                Err(EvalError::panic(format!(
                    "index out of bounds: the len is {n} but the index is {x}"
                )))
            }
        }
        Prim::Wrap(extent) => {
            let (x, n) = index_operands(prim, operands, extents(extent)?)?;
            members(prim, n)?;
            Ok(Usize(x.rem_euclid(n) as usize))
        }
        Prim::ClampTo(extent) => {
            let (x, n) = index_operands(prim, operands, extents(extent)?)?;
            members(prim, n)?;
            Ok(Usize(x.clamp(0, n - 1) as usize))
        }
        Prim::Mirror(extent) => {
            let (x, n) = index_operands(prim, operands, extents(extent)?)?;
            members(prim, n)?;
            let period = (2 * (n - 1)).max(1);
            let folded = x.rem_euclid(period);
            Ok(Usize(folded.min(period - folded).min(n - 1) as usize))
        }
        Prim::InRange(extent) => {
            let (x, n) = index_operands(prim, operands, extents(extent)?)?;
            Ok(Bool((0..n).contains(&x)))
        }
        Prim::Call(_) => Err(EvalError::bug(
            "a function that only the caller knows cannot be evaluated".to_owned(),
        )),
        Prim::Trust(extent) => {
            let (x, n) = index_operands(prim, operands, extents(extent)?)?;
            if (0..n).contains(&x) {
                Ok(Usize(x as usize))
            } else {
                Err(EvalError::bug(format!(
                    "`trust` of {x} as an index below {n}"
                )))
            }
        }
    }
}

/// `x ⊕ y`.
///
/// # Errors
///
/// [`EvalError::Bug`] when the monoid is not one on this type.
pub fn combine(monoid: Monoid, x: ScalarValue, y: ScalarValue) -> Result<ScalarValue, EvalError> {
    let truth = matches!(x, Bool(_));
    let prim = match monoid {
        Monoid::Min if truth => Prim::And,
        Monoid::Max if truth => Prim::Or,
        Monoid::And | Monoid::Or if !truth => return Err(no_monoid(monoid, x)),
        Monoid::Add | Monoid::Mul | Monoid::Min | Monoid::Max | Monoid::And | Monoid::Or => {
            Prim::combining(monoid)
        }
    };
    let no_extents = |_| Err(EvalError::bug("a monoid has no extents"));
    eval_prim(prim, &[x, y], &no_extents)
}

fn no_monoid(monoid: Monoid, x: ScalarValue) -> EvalError {
    EvalError::bug(format!(
        "`{}` is no monoid on {}",
        monoid.name(),
        x.scalar().name()
    ))
}

/// The identity of a monoid on elements of this machine type.
pub fn identity(monoid: Monoid, scalar: Scalar) -> ScalarValue {
    ScalarValue::from_lit(monoid.identity(scalar))
}

fn ill_typed(prim: Prim, operands: &[ScalarValue]) -> EvalError {
    let operands: Vec<String> = operands
        .iter()
        .map(|v| format!("{v} {}", v.scalar().name()))
        .collect();
    EvalError::bug(format!(
        "`{}` applied to ({})",
        prim.name(),
        operands.join(", ")
    ))
}

fn compare(
    prim: Prim,
    operands: &[ScalarValue],
    test: impl Fn(&ScalarValue, &ScalarValue) -> bool,
) -> Result<ScalarValue, EvalError> {
    match operands {
        [x, y] if x.scalar() == y.scalar() => Ok(Bool(test(x, y))),
        _ => Err(ill_typed(prim, operands)),
    }
}

/// The second operand of a shift or power, as `as u32` gives it.
fn exponent(prim: Prim, operands: &[ScalarValue]) -> Result<u32, EvalError> {
    match operands[1] {
        F32(_) | F64(_) | Bool(_) => Err(ill_typed(prim, operands)),
        n => match n.cast(Scalar::U32) {
            U32(n) => Ok(n),
            _ => Err(ill_typed(prim, operands)),
        },
    }
}

/// The integer operand of a conversion to an index, and the extent.
fn index_operands(
    prim: Prim,
    operands: &[ScalarValue],
    extent: usize,
) -> Result<(i128, i128), EvalError> {
    match operands[0] {
        F32(_) | F64(_) | Bool(_) => Err(ill_typed(prim, operands)),
        x => Ok((x.int().unwrap_or_default(), extent as i128)),
    }
}

/// An index set without members has no nearest one.
fn members(prim: Prim, extent: i128) -> Result<(), EvalError> {
    if extent == 0 {
        return Err(EvalError::panic(format!(
            "`{}` into an empty index set",
            prim.name()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(prim: Prim, operands: &[ScalarValue]) -> Result<ScalarValue, EvalError> {
        eval_prim(prim, operands, &|extent| match extent {
            Extent::Const(n) => Ok(n as usize),
            Extent::Size(_) | Extent::Value(_) => Err(EvalError::bug("unknown")),
        })
    }

    fn ok(prim: Prim, operands: &[ScalarValue]) -> ScalarValue {
        eval(prim, operands).unwrap()
    }

    fn panics(prim: Prim, operands: &[ScalarValue], message: &str) {
        assert_eq!(eval(prim, operands), Err(EvalError::panic(message)));
    }

    #[test]
    fn f32_is_computed_in_f32() {
        assert_eq!(
            ok(Prim::Add, &[F32(16_777_216.0), F32(1.0)]),
            F32(16_777_216.0)
        );
        assert_eq!(ok(Prim::Sin, &[F32(0.5)]), F32(0.5f32.sin()));
        assert_eq!(ok(Prim::MulAdd, &[F64(2.0), F64(3.0), F64(1.0)]), F64(7.0));
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(ok(Prim::Add, &[U8(255), U8(1)]), U8(0));
        assert_eq!(ok(Prim::Neg, &[I32(i32::MIN)]), I32(i32::MIN));
        assert_eq!(ok(Prim::Abs, &[I64(i64::MIN)]), I64(i64::MIN));
        assert_eq!(ok(Prim::Pow, &[U8(2), I64(8)]), U8(0));
        assert_eq!(ok(Prim::Shl, &[U8(1), U32(9)]), U8(2));
        assert_eq!(ok(Prim::Shr, &[I64(-8), I64(1)]), I64(-4));
        assert_eq!(ok(Prim::Signum, &[I64(-7)]), I64(-1));
        assert_eq!(ok(Prim::Not, &[U8(1)]), U8(254));
        assert_eq!(ok(Prim::Not, &[Bool(true)]), Bool(false));
    }

    #[test]
    fn division_panics_as_in_rust() {
        assert_eq!(ok(Prim::Div, &[I64(-7), I64(2)]), I64(-3));
        assert_eq!(ok(Prim::Rem, &[I64(-7), I64(2)]), I64(-1));
        assert_eq!(ok(Prim::DivEuclid, &[I64(-7), I64(2)]), I64(-4));
        assert_eq!(ok(Prim::RemEuclid, &[I64(-7), I64(2)]), I64(1));
        assert_eq!(ok(Prim::Div, &[F64(1.0), F64(0.0)]), F64(f64::INFINITY));
        panics(Prim::Div, &[I64(1), I64(0)], "attempt to divide by zero");
        panics(
            Prim::RemEuclid,
            &[U8(1), U8(0)],
            "attempt to calculate the remainder with a divisor of zero",
        );
        panics(
            Prim::Div,
            &[I32(i32::MIN), I32(-1)],
            "attempt to divide with overflow",
        );
        panics(
            Prim::Rem,
            &[I32(i32::MIN), I32(-1)],
            "attempt to calculate the remainder with overflow",
        );
    }

    #[test]
    fn extremes_prefer_numbers_and_the_first() {
        let nan = F64(f64::NAN);
        assert_eq!(ok(Prim::Min, &[nan, F64(1.0)]), F64(1.0));
        assert_eq!(ok(Prim::Max, &[F64(1.0), nan]), F64(1.0));
        let F64(zero) = ok(Prim::Max, &[F64(-0.0), F64(0.0)]) else {
            panic!("a float");
        };
        assert!(zero.is_sign_negative());
    }

    #[test]
    fn comparisons() {
        assert_eq!(ok(Prim::Lt, &[F64(f64::NAN), F64(1.0)]), Bool(false));
        assert_eq!(ok(Prim::Ne, &[F64(f64::NAN), F64(f64::NAN)]), Bool(true));
        assert_eq!(ok(Prim::Lt, &[Bool(false), Bool(true)]), Bool(true));
        assert_eq!(ok(Prim::Ge, &[Usize(3), Usize(3)]), Bool(true));
        assert!(matches!(
            eval(Prim::Eq, &[I64(1), I32(1)]),
            Err(EvalError::Bug(_))
        ));
    }

    #[test]
    fn integers_become_indices() {
        let at = |prim: fn(Extent) -> Prim, n: u64, x: i64| eval(prim(Extent::Const(n)), &[I64(x)]);
        assert_eq!(at(Prim::Check, 3, 2), Ok(Usize(2)));
        assert_eq!(
            at(Prim::Check, 3, -1),
            Err(EvalError::panic(
                "index out of bounds: the len is 3 but the index is -1"
            ))
        );
        assert_eq!(at(Prim::Wrap, 3, -1), Ok(Usize(2)));
        assert_eq!(at(Prim::ClampTo, 3, 9), Ok(Usize(2)));
        assert_eq!(at(Prim::ClampTo, 3, -9), Ok(Usize(0)));
        assert_eq!(at(Prim::InRange, 3, 3), Ok(Bool(false)));
        assert_eq!(at(Prim::InRange, 0, 0), Ok(Bool(false)));
        assert!(matches!(at(Prim::Trust, 3, 3), Err(EvalError::Bug(_))));
        for prim in [Prim::Wrap, Prim::ClampTo, Prim::Mirror] {
            assert!(matches!(at(prim, 0, 0), Err(EvalError::Panic(_))));
            assert_eq!(at(prim, 1, -5), Ok(Usize(0)));
            assert_eq!(at(prim, 1, 5), Ok(Usize(0)));
        }
    }

    #[test]
    fn mirror_does_not_repeat_the_edge() {
        let mirrored = |n: u64| -> Vec<usize> {
            (-4..8)
                .map(|x| match ok(Prim::Mirror(Extent::Const(n)), &[I64(x)]) {
                    Usize(k) => k,
                    other => panic!("{other}"),
                })
                .collect()
        };
        assert_eq!(mirrored(4), [2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!(mirrored(2), [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(mirrored(1), [0; 12]);
    }

    #[test]
    fn every_plain_primitive_evaluates_what_it_types() {
        use crate::ir::Elem;
        let sample = |s: Scalar| ScalarValue::from_int(s, 1);
        for &prim in Prim::PLAIN {
            for first in Scalar::ALL {
                for second in Scalar::ALL {
                    let types = [first, second, first];
                    let types = &types[..prim.arity()];
                    let elems: Vec<Elem> = types.iter().map(|&s| Elem::Scalar(s)).collect();
                    let values: Vec<ScalarValue> = types.iter().map(|&s| sample(s)).collect();
                    match (prim.result(&elems), eval(prim, &values)) {
                        (Ok(elem), Ok(value)) => {
                            assert_eq!(elem.repr(), value.scalar(), "{}", prim.name());
                        }
                        (Err(_), Err(EvalError::Bug(_))) => {}
                        (typed, evaluated) => {
                            panic!("{} {types:?}: {typed:?}, {evaluated:?}", prim.name())
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn identities_are_neutral() {
        for monoid in Monoid::ALL {
            for scalar in Scalar::ALL {
                let x = ScalarValue::from_int(scalar, 1);
                if let Ok(y) = combine(monoid, identity(monoid, scalar), x) {
                    assert_eq!(x, y, "{} {}", monoid.name(), scalar.name());
                }
            }
        }
    }
}

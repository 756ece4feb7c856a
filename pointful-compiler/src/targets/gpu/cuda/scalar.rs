//! Scalars in CUDA C, by the words of the prelude: types, literals, primitives.

use crate::ir::{Extent, Lit, Monoid, Scalar};
use crate::ops::Prim;

/// A literal of its type, exact to the bit.
pub(super) fn literal(lit: Lit) -> String {
    match lit {
        Lit::F32(bits) => {
            let value = f32::from_bits(bits);
            match value.is_finite() {
                true => signed(value.is_sign_negative(), format!("{:?}f", value.abs())),
                false => format!("from_bits({bits}u)"),
            }
        }
        Lit::F64(bits) => {
            let value = f64::from_bits(bits);
            match value.is_finite() {
                true => signed(value.is_sign_negative(), format!("{:?}", value.abs())),
                false => format!("from_bits({bits}ull)"),
            }
        }
        Lit::Int(scalar, value) => integer(scalar, value),
        Lit::Bool(value) => value.to_string(),
    }
}

fn signed(negative: bool, magnitude: String) -> String {
    match negative {
        true => format!("(-{magnitude})"),
        false => magnitude,
    }
}

fn integer(scalar: Scalar, value: i128) -> String {
    match scalar {
        Scalar::U64 | Scalar::Usize => format!("{value}ull"),
        Scalar::U32 => format!("{value}u"),
        // The least has no literal.
        Scalar::I64 | Scalar::Isize if value == i128::from(i64::MIN) => {
            format!("(-{}ll - 1)", i64::MAX)
        }
        Scalar::I64 | Scalar::Isize => signed(value < 0, format!("{}ll", value.unsigned_abs())),
        Scalar::I32 if value == i128::from(i32::MIN) => format!("(-{} - 1)", i32::MAX),
        Scalar::I32 => signed(value < 0, value.unsigned_abs().to_string()),
        _ => format!("({})({value})", scalar.name()),
    }
}

/// An operand.
pub(super) struct Operand {
    /// A name or a literal.
    pub(super) text: String,
    /// What it is.
    pub(super) scalar: Scalar,
}

impl Operand {
    /// The operand as the `i64` that places are given in. What is beyond becomes negative, and so
    /// out of range.
    pub(super) fn place(&self) -> String {
        match self.scalar {
            Scalar::I64 | Scalar::Isize => self.text.clone(),
            _ => format!("(i64){}", self.text),
        }
    }
}

/// What must hold of the operands of a primitive that may panic; nothing of any other.
pub(super) fn condition(
    prim: Prim,
    operands: &[Operand],
    length: impl Fn(Extent) -> String,
) -> Option<String> {
    let x = &operands[0];
    match prim {
        Prim::Check(extent) => Some(format!("in_range({}, {})", x.place(), length(extent))),
        Prim::Wrap(extent) | Prim::ClampTo(extent) | Prim::Mirror(extent) => {
            Some(format!("{} != 0", length(extent)))
        }
        Prim::Div | Prim::Rem | Prim::DivEuclid | Prim::RemEuclid if !x.scalar.is_float() => {
            Some(format!("divides({}, {})", x.text, operands[1].text))
        }
        _ => None,
    }
}

/// A primitive applied to operands of which its [`condition`] holds; `length` gives the extents that
/// primitives carry.
pub(super) fn prim(prim: Prim, operands: &[Operand], length: impl Fn(Extent) -> String) -> String {
    let scalar = operands[0].scalar;
    let float = scalar.is_float();
    let x = operands[0].text.as_str();
    let y = operands.get(1).map_or("", |operand| operand.text.as_str());
    let z = operands.get(2).map_or("", |operand| operand.text.as_str());
    let infix = |operator: &str| format!("{x} {operator} {y}");
    let call = |function: &str| match operands.len() {
        1 => format!("{function}({x})"),
        2 => format!("{function}({x}, {y})"),
        _ => format!("{function}({x}, {y}, {z})"),
    };
    // Bits are computed with in a wider type.
    let narrowed = |value: String| format!("({})({value})", scalar.name());
    match prim {
        Prim::StopGradient => x.to_owned(),
        Prim::Neg if float => format!("-{x}"),
        Prim::Neg => call("wrapping_neg"),
        Prim::Not if scalar == Scalar::Bool => format!("!{x}"),
        Prim::Not => narrowed(format!("~{x}")),
        Prim::Add if float => infix("+"),
        Prim::Add => call("wrapping_add"),
        Prim::Sub if float => infix("-"),
        Prim::Sub => call("wrapping_sub"),
        Prim::Mul if float => infix("*"),
        Prim::Mul => call("wrapping_mul"),
        Prim::Div if float => infix("/"),
        Prim::Div => call("quotient"),
        Prim::MulAbsorb => call("mul_absorb"),
        Prim::DivAbsorb => call("div_absorb"),
        Prim::Rem if float => call("fmod"),
        Prim::Rem => call("remainder_of"),
        Prim::Min => call("least_of"),
        Prim::Max => call("greatest_of"),
        Prim::And => narrowed(infix("&")),
        Prim::Or => narrowed(infix("|")),
        Prim::Xor => narrowed(infix("^")),
        Prim::Shl => format!("shl({x}, (u32){y})"),
        Prim::Shr => format!("shr({x}, (u32){y})"),
        Prim::RotateLeft => format!("rotate_left({x}, (u32){y})"),
        Prim::RotateRight => format!("rotate_right({x}, (u32){y})"),
        Prim::Pow => format!("wrapping_pow({x}, (u32){y})"),
        Prim::Eq => infix("=="),
        Prim::Ne => infix("!="),
        Prim::Lt => infix("<"),
        Prim::Le => infix("<="),
        Prim::Gt => infix(">"),
        Prim::Ge => infix(">="),
        Prim::Abs if float => call("fabs"),
        Prim::Abs if scalar.is_signed_int() => call("wrapping_abs"),
        Prim::Abs => x.to_owned(),
        Prim::Signum if float => call("signum_of_float"),
        Prim::Signum => call("signum"),
        Prim::DivEuclid if float => call("div_euclid"),
        Prim::DivEuclid => call("quotient_euclid"),
        Prim::RemEuclid if float => call("rem_euclid"),
        Prim::RemEuclid => call("remainder_euclid"),
        Prim::Powf
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
        | Prim::Hypot => call(&format!("math::{}", prim.name())),
        Prim::MulAdd => call("fma"),
        Prim::CountOnes
        | Prim::LeadingZeros
        | Prim::TrailingZeros
        | Prim::ReverseBits
        | Prim::SwapBytes
        | Prim::ToBits
        | Prim::FromBits
        | Prim::Powi
        | Prim::Sqrt
        | Prim::Copysign
        | Prim::Floor
        | Prim::Ceil
        | Prim::Round
        | Prim::Trunc
        | Prim::IsFinite
        | Prim::IsSignNegative => call(prim.name()),
        Prim::IsSignPositive => format!("!is_sign_negative({x})"),
        Prim::IsNan => format!("{x} != {x}"),
        Prim::IsInfinite => format!("!is_finite({x}) && {x} == {x}"),
        Prim::Recip => format!("{} / {x}", literal(Lit::of(scalar, 1.0))),
        Prim::Fract => format!("{x} - trunc({x})"),
        Prim::ToDegrees => format!("{x} * {}", literal(degrees(scalar))),
        Prim::ToRadians => format!("{x} * {}", literal(radians(scalar))),
        Prim::Cast(to) => cast(&operands[0], to),
        Prim::Check(_) | Prim::Trust(_) => cast(&operands[0], Scalar::Usize),
        Prim::Wrap(extent) => format!("wrap({}, {})", operands[0].place(), length(extent)),
        Prim::ClampTo(extent) => format!("clamp_to({}, {})", operands[0].place(), length(extent)),
        Prim::Mirror(extent) => format!("mirror({}, {})", operands[0].place(), length(extent)),
        Prim::InRange(extent) => format!("in_range({}, {})", operands[0].place(), length(extent)),
        Prim::Call(_) => unreachable!("devices call nothing of the caller's"),
    }
}

/// What one of the other angle is, as the standard library has it.
fn degrees(scalar: Scalar) -> Lit {
    match scalar {
        // To the nearest single of the exact number, which the quotient of singles is not.
        Scalar::F32 => Lit::F32(57.295_78_f32.to_bits()),
        _ => Lit::F64((180.0 / std::f64::consts::PI).to_bits()),
    }
}

fn radians(scalar: Scalar) -> Lit {
    match scalar {
        Scalar::F32 => Lit::F32((std::f32::consts::PI / 180.0).to_bits()),
        _ => Lit::F64((std::f64::consts::PI / 180.0).to_bits()),
    }
}

/// `x as to`
fn cast(x: &Operand, to: Scalar) -> String {
    let (from, text) = (x.scalar, x.text.as_str());
    match (from, to) {
        _ if from == to => text.to_owned(),
        (_, Scalar::Bool) => format!("{text} != {}", literal(Lit::of(from, 0.0))),
        _ if from.is_float() && to.is_int() => format!("saturating<{}>({text})", to.name()),
        _ => format!("({}){text}", to.name()),
    }
}

/// `x ⊕ y`
pub(super) fn combine(monoid: Monoid, scalar: Scalar, x: &str, y: &str) -> String {
    let operand = |text: &str| Operand {
        text: text.to_owned(),
        scalar,
    };
    prim(monoid.prim(), &[operand(x), operand(y)], |_| String::new())
}

//! The words of the language: reductions, and methods of scalars, members, offsets and tables.

use crate::ir::Scalar;
use crate::ops::Prim;

/// A function that the language itself knows, of one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// `sum`
    Sum,
    /// `prod`
    Prod,
    /// `min`
    Min,
    /// `max`
    Max,
    /// `argmin`
    ArgMin,
    /// `argmax`
    ArgMax,
    /// `mean`
    Mean,
    /// `any`
    Any,
    /// `all`
    All,
    /// `count`
    Count,
    /// `cumsum`
    CumSum,
    /// `cumprod`
    CumProd,
}

impl Word {
    /// Every word with its name.
    pub(super) const ALL: [(Word, &'static str); 12] = [
        (Word::Sum, "sum"),
        (Word::Prod, "prod"),
        (Word::Min, "min"),
        (Word::Max, "max"),
        (Word::ArgMin, "argmin"),
        (Word::ArgMax, "argmax"),
        (Word::Mean, "mean"),
        (Word::Any, "any"),
        (Word::All, "all"),
        (Word::Count, "count"),
        (Word::CumSum, "cumsum"),
        (Word::CumProd, "cumprod"),
    ];

    /// The word of that name.
    pub(super) fn from_name(name: &str) -> Option<Word> {
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(w, _)| *w)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(w, _)| *w == self)
            .map_or("", |(_, n)| n)
    }
}

/// A method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// One primitive.
    Prim(Prim),
    /// `x.clamp(lo, hi)` of numbers, `(i + 1).clamp()` of offsets
    Clamp,
    /// `x.wrapping_div(y)`
    WrappingDiv,
    /// `x.wrapping_rem(y)`
    WrappingRem,
    /// `x.sin_cos()`
    SinCos,
    /// `x.log(base)`
    Log,
    /// `x.abs_diff(y)`
    AbsDiff,
    /// `x.saturating_add(y)`
    SaturatingAdd,
    /// `x.saturating_sub(y)`
    SaturatingSub,
    /// `x.div_ceil(y)`
    DivCeil,
    /// `x.is_power_of_two()`
    IsPowerOfTwo,
    /// The count of `!x`: `x.count_zeros()`, `x.leading_ones()`, `x.trailing_ones()`
    CountOf(Prim),
    /// `x.is_positive()`, `x.is_negative()`
    IsPositive,
    /// See [`Method::IsPositive`].
    IsNegative,
    /// `x.clone()`
    Clone,
    /// `i.ordinal()`
    Ordinal,
    /// `(i + 1).wrap()`
    Wrap,
    /// `(i + 1).mirror()`
    Mirror,
    /// `t.get(i + 1)`, `acc.get()`
    Get,
    /// `t.get(i + 1).unwrap_or(0.0)`
    UnwrapOr,
    /// `t.get(i + 1).unwrap_or_else(|| e)`
    UnwrapOrElse,
    /// `t.get(i + 1).unwrap()`
    Unwrap,
    /// `o.map(|x| e)`
    Map,
    /// `o.map_or(e, |x| e)`
    MapOr,
    /// `o.and_then(|x| e)`
    AndThen,
    /// `o.or(e)`
    Or,
    /// `t.get(i + 1).is_some()`
    IsSome,
    /// `t.get(i + 1).is_none()`
    IsNone,
    /// `n.len()`
    Len,
    /// `t.extent()`
    Extent,
    /// `acc.put(v)`
    Put,
}

/// What a method of scalars takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ScalarMethod {
    /// What the receiver must be.
    pub(super) on: On,
    /// The arguments.
    pub(super) args: &'static [Takes],
    /// The result.
    pub(super) gives: Gives,
}

/// A class of scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum On {
    /// `f32`, `f64`
    Float,
    /// Integers.
    Int,
    /// Signed integers.
    Signed,
    /// Integers that have no sign.
    Unsigned,
    /// Floats and integers.
    Number,
    /// Floats and signed integers.
    SignedNumber,
}

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    /// That of the receiver.
    Same,
    /// This one.
    Just(Scalar),
}

/// The type of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gives {
    /// That of the receiver.
    Same,
    /// A pair of them.
    Pair,
    /// `bool`
    Bool,
    /// This one.
    Just(Scalar),
    /// The unsigned integer of the receiver's width.
    Unsigned,
}

impl On {
    /// Whether a scalar is of the class.
    pub(super) fn holds(self, scalar: Scalar) -> bool {
        match self {
            On::Float => scalar.is_float(),
            On::Int => scalar.is_int(),
            On::Signed => scalar.is_signed_int(),
            On::Unsigned => scalar.is_int() && !scalar.is_signed_int(),
            On::Number => scalar != Scalar::Bool,
            On::SignedNumber => scalar.is_float() || scalar.is_signed_int(),
        }
    }

    /// The class in words.
    pub(super) fn describe(self) -> &'static str {
        match self {
            On::Float => "floats",
            On::Int => "integers",
            On::Signed => "signed integers",
            On::Unsigned => "unsigned integers",
            On::Number => "numbers",
            On::SignedNumber => "floats and signed integers",
        }
    }
}

impl Method {
    /// Those that are not the primitive of their name, by name.
    const NAMED: [(&'static str, Method); 39] = [
        ("clamp", Method::Clamp),
        ("sin_cos", Method::SinCos),
        ("log", Method::Log),
        ("abs_diff", Method::AbsDiff),
        ("saturating_add", Method::SaturatingAdd),
        ("saturating_sub", Method::SaturatingSub),
        ("div_ceil", Method::DivCeil),
        ("is_power_of_two", Method::IsPowerOfTwo),
        ("count_zeros", Method::CountOf(Prim::CountOnes)),
        ("leading_ones", Method::CountOf(Prim::LeadingZeros)),
        ("trailing_ones", Method::CountOf(Prim::TrailingZeros)),
        ("is_positive", Method::IsPositive),
        ("is_negative", Method::IsNegative),
        ("clone", Method::Clone),
        ("to_owned", Method::Clone),
        ("ordinal", Method::Ordinal),
        ("wrap", Method::Wrap),
        ("mirror", Method::Mirror),
        ("get", Method::Get),
        ("unwrap_or", Method::UnwrapOr),
        ("unwrap_or_else", Method::UnwrapOrElse),
        ("unwrap", Method::Unwrap),
        ("map", Method::Map),
        ("map_or", Method::MapOr),
        ("and_then", Method::AndThen),
        ("or", Method::Or),
        ("is_some", Method::IsSome),
        ("is_none", Method::IsNone),
        ("len", Method::Len),
        ("extent", Method::Extent),
        ("put", Method::Put),
        ("wrapping_add", Method::Prim(Prim::Add)),
        ("wrapping_sub", Method::Prim(Prim::Sub)),
        ("wrapping_mul", Method::Prim(Prim::Mul)),
        ("wrapping_neg", Method::Prim(Prim::Neg)),
        ("wrapping_pow", Method::Prim(Prim::Pow)),
        ("wrapping_div", Method::WrappingDiv),
        ("wrapping_rem", Method::WrappingRem),
        ("wrapping_abs", Method::Prim(Prim::Abs)),
    ];

    /// The method of that name.
    pub(super) fn from_name(name: &str) -> Option<Method> {
        let named = Self::NAMED.iter().find(|(known, _)| *known == name);
        if let Some((_, method)) = named {
            return Some(*method);
        }
        let prim = Prim::from_name(name)?;
        scalar_prim(prim).map(|_| Method::Prim(prim))
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        if let Method::Prim(prim) = self
            && Self::from_name(prim.name()) == Some(self)
        {
            return prim.name();
        }
        let named = Self::NAMED.iter().find(|(_, known)| *known == self);
        named.map_or("", |(name, _)| name)
    }

    /// The names of all of them.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        let prims = Prim::PLAIN
            .iter()
            .filter(|prim| scalar_prim(**prim).is_some());
        let named = Self::NAMED.iter().map(|(name, _)| *name);
        named.chain(prims.map(|prim| prim.name()))
    }

    /// What it takes and gives as a method of scalars, if it is one.
    pub(super) fn scalar(self, name: &str) -> Option<ScalarMethod> {
        let method = |on, args, gives| Some(ScalarMethod { on, args, gives });
        match self {
            Method::Prim(prim) => {
                if let Some(plain) = scalar_prim(prim) {
                    return Some(plain);
                }
                // The wrapping methods are the operators, but of integers only.
                if name == "wrapping_neg" {
                    method(On::Int, &[], Gives::Same)
                } else {
                    method(On::Int, &[Takes::Same], Gives::Same)
                }
            }
            Method::WrappingDiv
            | Method::WrappingRem
            | Method::SaturatingAdd
            | Method::SaturatingSub => method(On::Int, &[Takes::Same], Gives::Same),
            Method::DivCeil => method(On::Unsigned, &[Takes::Same], Gives::Same),
            Method::IsPowerOfTwo => method(On::Unsigned, &[], Gives::Bool),
            Method::CountOf(_) => method(On::Int, &[], Gives::Just(Scalar::U32)),
            Method::Clamp => method(On::Number, &[Takes::Same, Takes::Same], Gives::Same),
            Method::SinCos => method(On::Float, &[], Gives::Pair),
            Method::Log => method(On::Float, &[Takes::Same], Gives::Same),
            Method::AbsDiff => method(On::Int, &[Takes::Same], Gives::Unsigned),
            Method::IsPositive | Method::IsNegative => method(On::Signed, &[], Gives::Bool),
            Method::Clone
            | Method::Ordinal
            | Method::Wrap
            | Method::Mirror
            | Method::Get
            | Method::UnwrapOr
            | Method::UnwrapOrElse
            | Method::Unwrap
            | Method::Map
            | Method::MapOr
            | Method::AndThen
            | Method::Or
            | Method::IsSome
            | Method::IsNone
            | Method::Len
            | Method::Extent
            | Method::Put => None,
        }
    }
}

/// What a primitive takes and gives where Rust has it as a method; `None` for those that Rust
/// writes as operators.
fn scalar_prim(prim: Prim) -> Option<ScalarMethod> {
    let method = |on, args, gives| Some(ScalarMethod { on, args, gives });
    match prim {
        Prim::Neg
        | Prim::Not
        | Prim::Add
        | Prim::Sub
        | Prim::Mul
        | Prim::MulAbsorb
        | Prim::Div
        | Prim::DivAbsorb
        | Prim::Rem
        | Prim::And
        | Prim::Or
        | Prim::Xor
        | Prim::Shl
        | Prim::Shr
        | Prim::Eq
        | Prim::Ne
        | Prim::Lt
        | Prim::Le
        | Prim::Gt
        | Prim::Ge
        | Prim::FromBits
        | Prim::StopGradient
        | Prim::Cast(_)
        | Prim::Check(_)
        | Prim::Wrap(_)
        | Prim::ClampTo(_)
        | Prim::Mirror(_)
        | Prim::InRange(_)
        | Prim::Trust(_)
        | Prim::Call(_) => None,
        Prim::Min | Prim::Max | Prim::DivEuclid | Prim::RemEuclid => {
            method(On::Number, &[Takes::Same], Gives::Same)
        }
        Prim::Abs | Prim::Signum => method(On::SignedNumber, &[], Gives::Same),
        Prim::Pow | Prim::RotateLeft | Prim::RotateRight => {
            method(On::Int, &[Takes::Just(Scalar::U32)], Gives::Same)
        }
        Prim::CountOnes | Prim::LeadingZeros | Prim::TrailingZeros => {
            method(On::Int, &[], Gives::Just(Scalar::U32))
        }
        Prim::ReverseBits | Prim::SwapBytes => method(On::Int, &[], Gives::Same),
        Prim::ToBits => method(On::Float, &[], Gives::Unsigned),
        Prim::Powi => method(On::Float, &[Takes::Just(Scalar::I32)], Gives::Same),
        Prim::Powf | Prim::Atan2 | Prim::Hypot | Prim::Copysign => {
            method(On::Float, &[Takes::Same], Gives::Same)
        }
        Prim::MulAdd => method(On::Float, &[Takes::Same, Takes::Same], Gives::Same),
        Prim::Sqrt
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
        | Prim::Sinh
        | Prim::Cosh
        | Prim::Tanh
        | Prim::Asinh
        | Prim::Acosh
        | Prim::Atanh
        | Prim::Recip
        | Prim::Floor
        | Prim::Ceil
        | Prim::Round
        | Prim::Trunc
        | Prim::Fract
        | Prim::ToDegrees
        | Prim::ToRadians => method(On::Float, &[], Gives::Same),
        Prim::IsNan
        | Prim::IsFinite
        | Prim::IsInfinite
        | Prim::IsSignNegative
        | Prim::IsSignPositive => method(On::Float, &[], Gives::Bool),
    }
}

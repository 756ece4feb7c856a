//! What operations cost.

use crate::ir::Elem;
use crate::ops::Prim;

/// What one primitive costs, in additions.
pub(crate) fn prim(prim: Prim, elem: Elem) -> u64 {
    let float = elem.is_float();
    match prim {
        Prim::Neg
        | Prim::Not
        | Prim::Add
        | Prim::Sub
        | Prim::Mul
        | Prim::MulAbsorb
        | Prim::Min
        | Prim::Max
        | Prim::And
        | Prim::Or
        | Prim::Xor
        | Prim::Shl
        | Prim::Shr
        | Prim::RotateLeft
        | Prim::RotateRight
        | Prim::CountOnes
        | Prim::LeadingZeros
        | Prim::TrailingZeros
        | Prim::ReverseBits
        | Prim::SwapBytes
        | Prim::ToBits
        | Prim::FromBits
        | Prim::Eq
        | Prim::Ne
        | Prim::Lt
        | Prim::Le
        | Prim::Gt
        | Prim::Ge
        | Prim::Abs
        | Prim::Signum
        | Prim::MulAdd
        | Prim::Copysign
        | Prim::Floor
        | Prim::Ceil
        | Prim::Round
        | Prim::Trunc
        | Prim::Fract
        | Prim::StopGradient
        | Prim::ToDegrees
        | Prim::ToRadians
        | Prim::IsNan
        | Prim::IsFinite
        | Prim::IsInfinite
        | Prim::IsSignNegative
        | Prim::IsSignPositive
        | Prim::Cast(_)
        | Prim::InRange(_)
        | Prim::ClampTo(_)
        | Prim::Check(_) => 1,
        Prim::Trust(_) => 0,
        Prim::Call(_) => 20,
        Prim::Wrap(_) | Prim::Mirror(_) => 2,
        Prim::DivAbsorb => 4,
        Prim::Div | Prim::Recip | Prim::Sqrt if float => 4,
        Prim::Div | Prim::Rem | Prim::DivEuclid | Prim::RemEuclid | Prim::Recip | Prim::Sqrt => 20,
        Prim::Powi | Prim::Pow => 10,
        Prim::Exp | Prim::Exp2 | Prim::ExpM1 | Prim::Ln | Prim::Log2 | Prim::Log10 | Prim::Ln1p => {
            15
        }
        Prim::Sin | Prim::Cos | Prim::Tan | Prim::Hypot | Prim::Cbrt => 20,
        Prim::Powf
        | Prim::Asin
        | Prim::Acos
        | Prim::Atan
        | Prim::Atan2
        | Prim::Sinh
        | Prim::Cosh
        | Prim::Tanh
        | Prim::Asinh
        | Prim::Acosh
        | Prim::Atanh => 30,
    }
}

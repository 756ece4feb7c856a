//! Scalars in Rust: types, literals, primitives and monoids as expressions.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::ToTokens;

use super::expr::{Expr, Word};
use super::tokens;
use crate::ir::{Elem, Extent, Lit, Monoid, Scalar};
use crate::ops::Prim;

/// The Rust type of a scalar.
pub(crate) fn ty(scalar: Scalar) -> Word {
    super::names::ident(scalar.name()).into()
}

/// A literal, exact to the bit.
pub(crate) fn literal(lit: Lit) -> Word {
    match lit {
        Lit::F32(bits) => {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                signed(value.is_sign_negative(), Literal::f32_suffixed(value.abs()))
            } else if value.is_nan() {
                let bits = Literal::u32_suffixed(bits);
                Word::More(tokens!(f32::from_bits(#bits)))
            } else {
                infinity(Scalar::F32, value < 0.0)
            }
        }
        Lit::F64(bits) => {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                signed(value.is_sign_negative(), Literal::f64_suffixed(value.abs()))
            } else if value.is_nan() {
                let bits = Literal::u64_suffixed(bits);
                Word::More(tokens!(f64::from_bits(#bits)))
            } else {
                infinity(Scalar::F64, value < 0.0)
            }
        }
        Lit::Int(scalar, value) => {
            let magnitude = value.unsigned_abs();
            let text = format!("{magnitude}{}", scalar.name());
            // A literal's own text, because there is no constructor that takes the magnitude of `i64::MIN`.
            let number: Literal = text.parse().expect("digits and a suffix are a literal");
            signed(value < 0, number)
        }
        Lit::Bool(true) => super::names::ident("true").into(),
        Lit::Bool(false) => super::names::ident("false").into(),
    }
}

fn signed(negative: bool, mut magnitude: Literal) -> Word {
    magnitude.set_span(Span::mixed_site());
    if negative {
        Word::More(tokens!((-#magnitude)))
    } else {
        magnitude.into()
    }
}

fn infinity(scalar: Scalar, negative: bool) -> Word {
    let ty = ty(scalar);
    Word::More(if negative {
        tokens!(#ty::NEG_INFINITY)
    } else {
        tokens!(#ty::INFINITY)
    })
}

/// An operand: its tokens and its element type.
pub(crate) struct Operand {
    /// A literal or a variable.
    pub(crate) tokens: Word,
    /// What it is.
    pub(crate) elem: Elem,
}

impl Operand {
    fn scalar(&self) -> Scalar {
        self.elem.repr()
    }

    /// The operand as the `i64` that positions are given in. A `usize` beyond becomes negative, and
    /// so out of range.
    fn position(&self) -> TokenStream {
        let x = &self.tokens;
        if self.scalar() == Scalar::I64 {
            tokens!(#x)
        } else {
            tokens!(#x as i64)
        }
    }
}

/// An extent's number and the name messages call it.
pub(crate) struct Length {
    /// The number.
    pub(crate) tokens: Word,
    /// What is indexed, in words.
    pub(crate) what: String,
}

/// Where something may panic, and in which words.
pub(crate) struct Site<'p> {
    /// Where.
    pub(crate) span: Span,
    /// What is wrong there, if the set alone does not say it.
    pub(crate) words: Option<&'p str>,
}

impl Site<'_> {
    /// `on.method(args)`, which panics here.
    pub(crate) fn call(&self, on: &impl ToTokens, method: &str, args: TokenStream) -> TokenStream {
        let method = Ident::new(method, self.span);
        let mut args = Group::new(Delimiter::Parenthesis, args);
        args.set_span(self.span);
        tokens!(#on.#method #args)
    }
}

/// A primitive applied to operands; `length` gives the extents that primitives carry, `function`
/// what holds a function of the caller's.
///
/// Integers wrap in every build, which is why even addition is a method there.
/// The helpers named here are the runtime's.
pub(crate) fn prim<'o>(
    prim: Prim,
    operands: &'o [Operand],
    length: impl Fn(Extent) -> Length,
    function: impl Fn(u8) -> TokenStream,
    site: impl Fn() -> Site<'o>,
) -> Expr<'o> {
    let scalar = operands[0].scalar();
    let float = scalar.is_float();
    let x = &operands[0].tokens;
    let y = operands.get(1).map(|operand| &operand.tokens);
    let z = operands.get(2).map(|operand| &operand.tokens);
    let infix = |operator| Expr::Infix(x, operator, &operands[1].tokens);
    let tokens = match prim {
        Prim::StopGradient => return Expr::Word(x),
        Prim::Neg if float => return Expr::Prefix("-", x),
        Prim::Neg => tokens!(#x.wrapping_neg()),
        Prim::Not => return Expr::Prefix("!", x),
        Prim::Add if float => return infix("+"),
        Prim::Add => tokens!(#x.wrapping_add(#y)),
        Prim::Sub if float => return infix("-"),
        Prim::Sub => tokens!(#x.wrapping_sub(#y)),
        Prim::Mul if float => return infix("*"),
        Prim::Mul => tokens!(#x.wrapping_mul(#y)),
        Prim::Div if float => return infix("/"),
        Prim::Div => site().call(x, "div_here", tokens!(#y)),
        Prim::MulAbsorb => tokens!(mul_absorb(#x, #y)),
        Prim::DivAbsorb => tokens!(div_absorb(#x, #y)),
        Prim::Rem if float => return infix("%"),
        Prim::Rem => site().call(x, "rem_here", tokens!(#y)),
        Prim::Min => tokens!(min(#x, #y)),
        Prim::Max => tokens!(max(#x, #y)),
        Prim::And => return infix("&"),
        Prim::Or => return infix("|"),
        Prim::Xor => return infix("^"),
        Prim::Shl => tokens!(#x.wrapping_shl(#y as u32)),
        Prim::Shr => tokens!(#x.wrapping_shr(#y as u32)),
        Prim::RotateLeft => tokens!(#x.rotate_left(#y as u32)),
        Prim::RotateRight => tokens!(#x.rotate_right(#y as u32)),
        Prim::FromBits if scalar == Scalar::U32 => tokens!(f32::from_bits(#x)),
        Prim::FromBits => tokens!(f64::from_bits(#x)),
        Prim::Eq => return infix("=="),
        Prim::Ne => return infix("!="),
        Prim::Lt => return infix("<"),
        Prim::Le => return infix("<="),
        Prim::Gt => return infix(">"),
        Prim::Ge => return infix(">="),
        Prim::Abs if scalar.is_signed_int() => tokens!(#x.wrapping_abs()),
        Prim::Abs if float => tokens!(#x.abs()),
        Prim::Abs => return Expr::Word(x),
        Prim::Signum if float || scalar.is_signed_int() => tokens!(#x.signum()),
        Prim::Signum => {
            let one = literal(Lit::of(scalar, 1.0));
            tokens!(min(#x, #one))
        }
        Prim::DivEuclid if float => tokens!(#x.div_euclid(#y)),
        Prim::DivEuclid => site().call(x, "div_euclid_here", tokens!(#y)),
        Prim::RemEuclid if float => tokens!(#x.rem_euclid(#y)),
        Prim::RemEuclid => site().call(x, "rem_euclid_here", tokens!(#y)),
        Prim::Pow => tokens!(#x.wrapping_pow(#y as u32)),
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
        | Prim::Hypot => {
            // The standard library's are calls, which no loop around them can be vectorised over.
            let function = super::names::ident(prim.name());
            let rest = y.into_iter();
            tokens!(math::#function(#x #(, #rest)*))
        }
        Prim::CountOnes
        | Prim::LeadingZeros
        | Prim::TrailingZeros
        | Prim::ReverseBits
        | Prim::SwapBytes
        | Prim::ToBits
        | Prim::Powi
        | Prim::Sqrt
        | Prim::MulAdd
        | Prim::Copysign
        | Prim::Recip
        | Prim::Floor
        | Prim::Ceil
        | Prim::Round
        | Prim::Trunc
        | Prim::Fract
        | Prim::ToDegrees
        | Prim::ToRadians
        | Prim::IsNan
        | Prim::IsFinite
        | Prim::IsInfinite
        | Prim::IsSignNegative
        | Prim::IsSignPositive => {
            // These are called as Rust calls them.
            let method = super::names::ident(prim.name());
            let rest = y.into_iter().chain(z);
            tokens!(#x.#method(#(#rest),*))
        }
        Prim::Cast(to) => cast(&operands[0], to),
        Prim::Check(extent) => {
            let Length {
                tokens: length,
                what,
            } = length(extent);
            let site = site();
            let what = site.words.unwrap_or(&what);
            site.call(x, "check_here", tokens!(#length, #what))
        }
        Prim::Wrap(extent) => {
            let length = length(extent).tokens;
            site().call(x, "wrap_here", tokens!(#length))
        }
        Prim::ClampTo(extent) => {
            let length = length(extent).tokens;
            site().call(x, "clamp_here", tokens!(#length))
        }
        Prim::Mirror(extent) => {
            let length = length(extent).tokens;
            site().call(x, "mirror_here", tokens!(#length))
        }
        Prim::InRange(extent) => {
            // One comparison: a negative position is a huge unsigned one.
            let (position, length) = (operands[0].position(), length(extent).tokens);
            tokens!(((#position) as u64) < (#length as u64))
        }
        Prim::Trust(_) => cast(&operands[0], Scalar::Usize),
        Prim::Call(called) => {
            let function = function(called.function);
            let operands = operands.iter().map(|operand| &operand.tokens);
            match called.anywhere {
                true => tokens!((#function)(#(#operands),*)),
                false => tokens!((#function.get())(#(#operands),*)),
            }
        }
    };
    Expr::Tokens(tokens)
}

/// `x as to`, where Rust has no such cast through a `u8` or a comparison.
fn cast(x: &Operand, to: Scalar) -> TokenStream {
    let (from, x) = (x.scalar(), &x.tokens);
    let to_ty = ty(to);
    if from == to {
        tokens!(#x)
    } else if to == Scalar::Bool {
        let zero = literal(Lit::of(from, 0.0));
        tokens!(#x != #zero)
    } else if from == Scalar::Bool && to.is_float() {
        tokens!(#x as u8 as #to_ty)
    } else {
        tokens!(#x as #to_ty)
    }
}

/// `x ⊕ y`.
pub(super) fn combine(
    monoid: Monoid,
    scalar: Scalar,
    x: &impl ToTokens,
    y: &impl ToTokens,
) -> TokenStream {
    match monoid {
        Monoid::Add if scalar.is_float() => tokens!(#x + #y),
        Monoid::Add => tokens!(#x.wrapping_add(#y)),
        Monoid::Mul if scalar.is_float() => tokens!(#x * #y),
        Monoid::Mul => tokens!(#x.wrapping_mul(#y)),
        Monoid::Min => tokens!(min(#x, #y)),
        Monoid::Max => tokens!(max(#x, #y)),
        Monoid::And => tokens!(#x & #y),
        Monoid::Or => tokens!(#x | #y),
    }
}

/// `place = place ⊕ value;`
pub(crate) fn combine_into(
    monoid: Monoid,
    scalar: Scalar,
    place: &impl ToTokens,
    value: &impl ToTokens,
) -> TokenStream {
    match monoid {
        Monoid::Add if scalar.is_float() => tokens!(#place += #value;),
        Monoid::Mul if scalar.is_float() => tokens!(#place *= #value;),
        Monoid::And => tokens!(#place &= #value;),
        Monoid::Or => tokens!(#place |= #value;),
        Monoid::Add | Monoid::Mul | Monoid::Min | Monoid::Max => {
            let combined = combine(monoid, scalar, place, value);
            tokens!(#place = #combined;)
        }
    }
}

/// The function that folds two lanes.
pub(super) fn operator(monoid: Monoid, scalar: Scalar) -> TokenStream {
    let combined = combine(monoid, scalar, &tokens!(x), &tokens!(y));
    tokens!(|x, y| #combined)
}

/// Whether an element `x` is better than `y`, of which NaN is none. Both questions are asked at
/// once: where the second waits for the first, the optimiser makes branches of lanes, which are
/// foreseen as badly as the place of the best is.
pub(super) fn better(
    monoid: Monoid,
    scalar: Scalar,
    x: &impl ToTokens,
    y: &impl ToTokens,
) -> TokenStream {
    match (monoid == Monoid::Min, scalar.is_float()) {
        (true, true) => tokens!((!(#x >= #y) & (#x == #x))),
        (false, true) => tokens!((!(#x <= #y) & (#x == #x))),
        (true, false) => tokens!((#x < #y)),
        (false, false) => tokens!((#x > #y)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tokens: TokenStream) -> String {
        tokens.to_string().replace(' ', "")
    }

    #[test]
    fn literals_are_exact() {
        let cases = [
            (Lit::of(Scalar::F64, 0.1), "0.1f64"),
            (
                Lit::of(Scalar::F32, 1e30),
                "1000000000000000000000000000000f32",
            ),
            (Lit::of(Scalar::F64, -0.0), "(-0f64)"),
            (Lit::of(Scalar::F64, f64::NEG_INFINITY), "f64::NEG_INFINITY"),
            (
                Lit::F32(f32::NAN.to_bits()),
                "f32::from_bits(2143289344u32)",
            ),
            (
                Lit::Int(Scalar::I64, i128::from(i64::MIN)),
                "(-9223372036854775808i64)",
            ),
            (Lit::Int(Scalar::U8, 255), "255u8"),
            (Lit::Bool(true), "true"),
        ];
        for (lit, expected) in cases {
            assert_eq!(text(literal(lit).into_token_stream()), expected);
        }
        for value in [f64::MIN_POSITIVE / 8.0, 1.0 / 3.0, f64::MAX] {
            let text = text(literal(Lit::of(Scalar::F64, value)).into_token_stream());
            assert_eq!(
                text.trim_end_matches("f64")
                    .parse::<f64>()
                    .unwrap()
                    .to_bits(),
                value.to_bits()
            );
        }
    }

    #[test]
    fn every_primitive_parses_in_every_type_it_takes() {
        let extents = |_| Length {
            tokens: Word::More(tokens!(n)),
            what: "`N`".to_owned(),
        };
        fn nowhere<'p>() -> Site<'p> {
            Site {
                span: Span::mixed_site(),
                words: None,
            }
        }
        let carrying = [
            Prim::Check,
            Prim::Wrap,
            Prim::ClampTo,
            Prim::Mirror,
            Prim::InRange,
            Prim::Trust,
        ];
        let casts = Scalar::ALL.map(Prim::Cast);
        let all = Prim::PLAIN
            .iter()
            .copied()
            .chain(carrying.map(|p| p(Extent::Const(3))))
            .chain(casts);
        for p in all {
            let mut accepted = 0;
            for first in Scalar::ALL {
                for second in [first, Scalar::I32] {
                    let elems: Vec<Elem> = [first, second, first]
                        .into_iter()
                        .take(p.arity())
                        .map(Elem::Scalar)
                        .collect();
                    if p.result(&elems).is_err() {
                        continue;
                    }
                    accepted += 1;
                    let operands: Vec<Operand> = elems
                        .iter()
                        .map(|&elem| Operand {
                            tokens: Word::More(tokens!(x)),
                            elem,
                        })
                        .collect();
                    let tokens = prim(p, &operands, extents, |_| tokens!(function), nowhere);
                    let tokens = tokens.into_token_stream();
                    assert!(
                        syn::parse2::<syn::Expr>(tokens.clone()).is_ok(),
                        "{p:?}: {tokens}"
                    );
                }
            }
            assert!(accepted > 0, "{p:?}");
        }
    }
}

//! The derivatives of primitives.
//!
//! Each is a sum of terms, one for each operand that has a tangent: the tangent times, or divided
//! by, a coefficient. Coefficients are computed where they are used, from the primitive's operands
//! and its result.
//!
//! At a kink the first operand of `max` and `min` has it all (but the infinity that is their
//! identity never has any), `abs` has none; where a formula would multiply zero by infinity
//! although the derivative is zero (`x⁰`, `0ʸ`, `hypot(0, 0)`), it says zero. Of powers it is the
//! operand that is another there, and not the slope: what is chosen of an infinite slope has an
//! infinite slope itself, which, going back, is multiplied by zero. So all derivatives of `xⁿ` are
//! finite at zero.

use std::f64::consts::{LN_2, LN_10};

use super::demand::{Asked, DEEPEST, Test, tests};
use super::linearize::Dual;
use crate::ir::{Elem, Lit, Scalar, ValueId};
use crate::ops::Prim;

/// Whether a primitive's result has no derivative with respect to anything.
pub(crate) fn is_flat(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::StopGradient
            | Prim::Signum
            | Prim::Floor
            | Prim::Ceil
            | Prim::Round
            | Prim::Trunc
            | Prim::DivEuclid
    )
}

impl Dual<'_> {
    /// The tangent of a primitive's result, if it has one.
    pub(super) fn primitive(
        &mut self,
        prim: Prim,
        args: &[ValueId],
        result: ValueId,
    ) -> Option<ValueId> {
        if is_flat(prim) || !self.b.program.elem(result).is_float() {
            return None;
        }
        let tangents: Vec<Option<ValueId>> = args.iter().map(|&arg| self.tangent(arg)).collect();
        if tangents.iter().all(Option::is_none) {
            return None;
        }
        let terms: Vec<ValueId> = tangents
            .into_iter()
            .enumerate()
            .filter_map(|(k, tangent)| Some(self.term(prim, args, result, k, tangent?)))
            .collect();
        terms
            .into_iter()
            .reduce(|sum, term| self.b.map(Prim::Add, &[sum, term]))
    }

    /// What the tangent of one operand contributes.
    fn term(
        &mut self,
        prim: Prim,
        args: &[ValueId],
        result: ValueId,
        k: usize,
        tangent: ValueId,
    ) -> ValueId {
        let (x, y) = (args[0], args.get(1).copied().unwrap_or(args[0]));
        let coefficient = match prim {
            Prim::Neg => return self.b.map(Prim::Neg, &[tangent]),
            Prim::Add | Prim::Fract => return tangent,
            Prim::Sub if k == 0 => return tangent,
            Prim::Sub => return self.b.map(Prim::Neg, &[tangent]),
            Prim::Mul => args[1 - k],
            Prim::MulAbsorb => return self.b.map(prim, &[args[1 - k], tangent]),
            Prim::DivAbsorb if k == 0 => return self.b.map(prim, &[tangent, y]),
            Prim::DivAbsorb => {
                let down = self.b.map(Prim::Neg, &[result]);
                let scaled = self.b.map(Prim::MulAbsorb, &[down, tangent]);
                return self.b.map(prim, &[scaled, y]);
            }
            Prim::MulAdd => match k {
                0 => y,
                1 => x,
                _ => return tangent,
            },
            Prim::Div if k == 0 => return self.quotient(result, tangent, y),
            Prim::Div => {
                let down = self.b.map(Prim::Neg, &[result]);
                let scaled = self.multiple(result, down, tangent);
                return self.quotient(result, scaled, y);
            }
            Prim::Rem | Prim::RemEuclid if k == 0 => return tangent,
            Prim::Rem => {
                let ratio = self.b.map(Prim::Div, &[x, y]);
                let whole = self.b.map(Prim::Trunc, &[ratio]);
                self.b.map(Prim::Neg, &[whole])
            }
            Prim::RemEuclid => {
                let whole = self.b.map(Prim::DivEuclid, &[x, y]);
                self.b.map(Prim::Neg, &[whole])
            }
            // What is begun with is less, or more, than every number.
            Prim::Min | Prim::Max if self.b.is_identity(prim, args[1 - k]) => return tangent,
            Prim::Min | Prim::Max => {
                let first = self.b.map(Prim::Eq, &[result, x]);
                let zero = self.b.number(result, 0.0);
                let (then, otherwise) = if k == 0 {
                    (tangent, zero)
                } else {
                    (zero, tangent)
                };
                return self.b.map_select(first, then, otherwise);
            }
            Prim::Cast(_) => {
                let to = self.b.program.elem(result).repr();
                return self.b.map(Prim::Cast(to), &[tangent]);
            }
            Prim::Ln => return self.quotient(result, tangent, x),
            Prim::Log2 | Prim::Log10 => {
                let base = if prim == Prim::Log2 { LN_2 } else { LN_10 };
                let scaled = self.scaled(x, base);
                return self.quotient(result, tangent, scaled);
            }
            Prim::Ln1p => {
                let one = self.b.number(x, 1.0);
                let shifted = self.b.map(Prim::Add, &[one, x]);
                return self.quotient(result, tangent, shifted);
            }
            Prim::Sqrt => {
                let half = self.b.number(x, 0.5);
                self.b.map(Prim::Div, &[half, result])
            }
            Prim::Cbrt => {
                let three = self.b.number(x, 3.0);
                let square = self.square(result);
                let triple = self.b.map(Prim::Mul, &[three, square]);
                self.b.map(Prim::Recip, &[triple])
            }
            Prim::Exp => result,
            Prim::Exp2 => self.scaled(result, LN_2),
            Prim::ExpM1 => {
                let one = self.b.number(x, 1.0);
                self.b.map(Prim::Add, &[result, one])
            }
            Prim::Sin => self.b.map(Prim::Cos, &[x]),
            Prim::Cos => {
                let sine = self.b.map(Prim::Sin, &[x]);
                self.b.map(Prim::Neg, &[sine])
            }
            Prim::Tan => {
                let square = self.square(result);
                let one = self.b.number(x, 1.0);
                self.b.map(Prim::Add, &[one, square])
            }
            Prim::Tanh => self.one_minus_square(result),
            Prim::Atanh => {
                let inner = self.one_minus_square(x);
                self.b.map(Prim::Recip, &[inner])
            }
            Prim::Asin | Prim::Acos => {
                let inner = self.one_minus_square(x);
                let root = self.b.map(Prim::Sqrt, &[inner]);
                let slope = self.b.map(Prim::Recip, &[root]);
                if prim == Prim::Asin {
                    slope
                } else {
                    self.b.map(Prim::Neg, &[slope])
                }
            }
            Prim::Atan => {
                let inner = self.one_plus_square(x);
                self.b.map(Prim::Recip, &[inner])
            }
            Prim::Asinh => {
                let inner = self.one_plus_square(x);
                let root = self.b.map(Prim::Sqrt, &[inner]);
                self.b.map(Prim::Recip, &[root])
            }
            Prim::Acosh => {
                let one = self.b.number(x, 1.0);
                let below = self.b.map(Prim::Sub, &[x, one]);
                let above = self.b.map(Prim::Add, &[x, one]);
                let below = self.b.map(Prim::Sqrt, &[below]);
                let above = self.b.map(Prim::Sqrt, &[above]);
                let root = self.b.map(Prim::Mul, &[below, above]);
                self.b.map(Prim::Recip, &[root])
            }
            Prim::Sinh => self.b.map(Prim::Cosh, &[x]),
            Prim::Cosh => self.b.map(Prim::Sinh, &[x]),
            // Of y.atan2(x): x / (x² + y²) and -y / (x² + y²).
            Prim::Atan2 => {
                let (a, b) = (self.square(x), self.square(y));
                let norm = self.b.map(Prim::Add, &[a, b]);
                let up = if k == 0 {
                    y
                } else {
                    self.b.map(Prim::Neg, &[x])
                };
                self.b.map(Prim::Div, &[up, norm])
            }
            Prim::Hypot => {
                let ratio = self.b.map(Prim::Div, &[args[k], result]);
                self.unless_zero(result, ratio)
            }
            Prim::Powi => self.power(x, y, result),
            Prim::Powf if k == 0 => {
                let [zero, one] = [0.0, 1.0].map(|number| self.b.number(x, number));
                let less = self.b.map(Prim::Sub, &[y, one]);
                let no_power = self.b.map(Prim::Eq, &[y, zero]);
                let size = self.b.map(Prim::Abs, &[x]);
                let is_base = self.b.map(Prim::Gt, &[size, zero]);
                let no_base = self.b.map(Prim::Not, &[is_base]);
                let constant = self.b.map(Prim::And, &[no_power, no_base]);
                let less = self.b.map_select(constant, zero, less);
                let lower = self.b.map(Prim::Powf, &[x, less]);
                self.b.map(Prim::Mul, &[y, lower])
            }
            Prim::Powf => {
                let [zero, one] = [0.0, 1.0].map(|number| self.b.number(x, number));
                let is_zero = self.b.map(Prim::Eq, &[x, zero]);
                let base = self.b.map_select(is_zero, one, x);
                let log = self.b.map(Prim::Ln, &[base]);
                let slope = self.b.map(Prim::Mul, &[result, log]);
                self.b.map_select(is_zero, zero, slope)
            }
            Prim::Abs => {
                let [zero, one] = [0.0, 1.0].map(|number| self.b.number(x, number));
                let minus = self.b.map(Prim::Neg, &[one]);
                let above = self.b.map(Prim::Gt, &[x, zero]);
                let below = self.b.map(Prim::Lt, &[x, zero]);
                let rest = self.b.map_select(below, minus, zero);
                self.b.map_select(above, one, rest)
            }
            Prim::Copysign => {
                let signs = [x, y].map(|value| self.b.map(Prim::IsSignNegative, &[value]));
                let same = self.b.map(Prim::Eq, &signs);
                let [zero, one, minus] = [0.0, 1.0, -1.0].map(|number| self.b.number(x, number));
                if k == 0 {
                    self.b.map_select(same, one, minus)
                } else {
                    zero
                }
            }
            Prim::Recip => {
                let square = self.square(result);
                self.b.map(Prim::Neg, &[square])
            }
            Prim::ToDegrees => self.b.number(x, 1.0_f64.to_degrees()),
            Prim::ToRadians => self.b.number(x, 1.0_f64.to_radians()),
            // These give no float, or are flat.
            Prim::Not
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
            | Prim::Signum
            | Prim::DivEuclid
            | Prim::Pow
            | Prim::Floor
            | Prim::Ceil
            | Prim::Round
            | Prim::Trunc
            | Prim::StopGradient
            | Prim::IsNan
            | Prim::IsFinite
            | Prim::IsInfinite
            | Prim::IsSignNegative
            | Prim::IsSignPositive
            | Prim::Check(_)
            | Prim::Wrap(_)
            | Prim::ClampTo(_)
            | Prim::Mirror(_)
            | Prim::InRange(_)
            | Prim::Trust(_)
            | Prim::Call(_) => self.b.number(result, 0.0),
        };
        self.multiple(result, coefficient, tangent)
    }

    /// A tangent times a coefficient, in the derivative of a value.
    fn multiple(&mut self, of: ValueId, coefficient: ValueId, tangent: ValueId) -> ValueId {
        if self.b.is_finite(coefficient) {
            return self.b.map(Prim::Mul, &[coefficient, tangent]);
        }
        match self.unless_ignored(of, coefficient, tangent) {
            Some(tangent) => self.b.map(Prim::Mul, &[coefficient, tangent]),
            None => self.b.map(Prim::MulAbsorb, &[coefficient, tangent]),
        }
    }

    /// A tangent divided by something, in the derivative of a value.
    fn quotient(&mut self, of: ValueId, tangent: ValueId, divisor: ValueId) -> ValueId {
        match self.unless_ignored(of, divisor, tangent) {
            Some(tangent) => self.b.map(Prim::Div, &[tangent, divisor]),
            None => self.b.map(Prim::DivAbsorb, &[tangent, divisor]),
        }
    }

    /// A tangent to be multiplied by a coefficient, so that on the way back their product is chosen
    /// only where somebody asks for the derivative of a value. Nothing if a zero must absorb the
    /// coefficient. See [`demand`](super::demand).
    fn unless_ignored(
        &mut self,
        of: ValueId,
        coefficient: ValueId,
        tangent: ValueId,
    ) -> Option<ValueId> {
        let cases = match self.demand.get(of).clone() {
            Asked::Always => return Some(tangent),
            Asked::Where(cases) => cases,
            // What nobody asks for is most often not computed; a loop that carries it does.
            Asked::Beside(_) | Asked::Along(_) | Asked::Sometimes | Asked::Never => {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::ASKED_SOMETIMES);
                return None;
            }
        };
        let Some(cases) = self.left_open(cases) else {
            return Some(tangent);
        };
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::ASKED_WHERE);
        if self.is_of_matrices(of, coefficient, tangent) {
            return None;
        }
        let mask = self.any_case(&cases)?;
        let zero = self.b.number(of, 0.0);
        Some(self.b.map_select(mask, tangent, zero))
    }

    /// Whether the way back adds up products of two arrays of which neither has all axes: a choice
    /// for each product would be in the way of who multiplies matrices.
    fn is_of_matrices(&self, product: ValueId, coefficient: ValueId, tangent: ValueId) -> bool {
        let dims = self.b.dims(product);
        let lacks = |value| dims.iter().any(|axis| !self.b.dims(value).contains(axis));
        lacks(coefficient) && lacks(tangent)
    }

    /// These cases without what the guard says; nothing if it says that one of them is there.
    fn left_open(&self, cases: Vec<Vec<Test>>) -> Option<Vec<Vec<Test>>> {
        let held = match self.b.guard {
            Some(guard) => tests(self.b, guard, true, DEEPEST),
            None => Vec::new(),
        };
        let open = |case: Vec<Test>| -> Vec<Test> {
            let mut case = case;
            case.retain(|test| !held.contains(test));
            case
        };
        let cases: Vec<Vec<Test>> = cases.into_iter().map(open).collect();
        (!cases.iter().any(Vec::is_empty)).then_some(cases)
    }

    /// Whether all tests of one of these cases end so.
    fn any_case(&mut self, cases: &[Vec<Test>]) -> Option<ValueId> {
        let guard = self.b.guard.take();
        let mut any = None;
        for case in cases {
            let mut all = None;
            for test in case {
                let (value, truth) = match test.renamed(|value| self.names.get(value)) {
                    Test::Value(value, truth) => (value, truth),
                    Test::Equal(a, b, truth) => (self.b.map(Prim::Eq, &[a, b]), truth),
                    Test::Less(a, b, truth) => (self.b.map(Prim::Lt, &[a, b]), truth),
                };
                let value = match truth {
                    true => value,
                    false => self.b.map(Prim::Not, &[value]),
                };
                all = self.b.both(all, Some(value));
            }
            any = match (any, all) {
                (Some(any), Some(all)) => Some(self.b.map(Prim::Or, &[any, all])),
                (any, all) => any.or(all),
            };
        }
        self.b.guard = guard;
        any
    }

    /// What tangents are multiplied by, in the derivative of a value.
    pub(super) fn times(&self, of: ValueId) -> Prim {
        match self.demand.get(of) {
            Asked::Always => Prim::Mul,
            Asked::Where(_)
            | Asked::Beside(_)
            | Asked::Along(_)
            | Asked::Sometimes
            | Asked::Never => Prim::MulAbsorb,
        }
    }

    fn square(&mut self, x: ValueId) -> ValueId {
        self.b.map(Prim::Mul, &[x, x])
    }

    fn scaled(&mut self, x: ValueId, factor: f64) -> ValueId {
        let factor = self.b.number(x, factor);
        self.b.map(Prim::Mul, &[factor, x])
    }

    fn one_plus_square(&mut self, x: ValueId) -> ValueId {
        let square = self.square(x);
        let one = self.b.number(x, 1.0);
        self.b.map(Prim::Add, &[one, square])
    }

    fn one_minus_square(&mut self, x: ValueId) -> ValueId {
        let square = self.square(x);
        let one = self.b.number(x, 1.0);
        self.b.map(Prim::Sub, &[one, square])
    }

    /// Zero where `what` is zero.
    fn unless_zero(&mut self, what: ValueId, slope: ValueId) -> ValueId {
        let zero = self.b.number(what, 0.0);
        let is_zero = self.b.map(Prim::Eq, &[what, zero]);
        self.b.map_select(is_zero, zero, slope)
    }

    /// `n xⁿ⁻¹`
    fn power(&mut self, x: ValueId, n: ValueId, result: ValueId) -> ValueId {
        let scalar = self.b.program.elem(result).repr();
        match self.literal(n) {
            Some(Lit::Int(_, 0)) => self.b.number(x, 0.0),
            Some(Lit::Int(_, 1)) => self.b.number(x, 1.0),
            Some(Lit::Int(_, 2)) => self.b.map(Prim::Add, &[x, x]),
            Some(Lit::Int(_, n)) => {
                let factor = self.b.constant(Lit::of(scalar, n as f64));
                let less = self.b.constant(Lit::Int(Scalar::I32, n - 1));
                let lower = self.b.map(Prim::Powi, &[x, less]);
                self.b.map(Prim::Mul, &[factor, lower])
            }
            _ => {
                let [zero, one] = [0, 1].map(|n| self.b.constant(Lit::Int(Scalar::I32, n)));
                let less = self.b.map(Prim::Sub, &[n, one]);
                let constant = self.b.map(Prim::Eq, &[n, zero]);
                let less = self.b.map_select(constant, zero, less);
                let lower = self.b.map(Prim::Powi, &[x, less]);
                let factor = self.b.map(Prim::Cast(scalar), &[n]);
                let slope = self.b.map(Prim::Mul, &[factor, lower]);
                debug_assert_eq!(self.b.program.elem(slope), Elem::Scalar(scalar));
                slope
            }
        }
    }
}

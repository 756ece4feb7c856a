//! Primitives: functions from scalars to a scalar that every stage knows by name.

use crate::ir::{Elem, Extent, Monoid, Scalar};

/// Why a primitive cannot be applied to operands of these types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrimError(pub String);

/// What types a plain primitive takes: all operands are of one type unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// Numbers to a number of the same type.
    Num,
    /// Floats to a float of the same type.
    Float,
    /// Floats to a truth value.
    FloatTest,
    /// A scalar to the same type.
    Any,
    /// Integers or truth values to the same type.
    Bits,
    /// Two scalars or indices of one type to a truth value.
    Compare,
    /// A float and an `i32` to the float.
    Powi,
    /// An integer, and a shift of any integer type.
    Shift,
    /// An integer to a `u32`.
    BitCount,
    /// An integer to the same type.
    Int,
    /// A float to the unsigned integer of its width.
    ToBits,
    /// A `u32` or `u64` to the float of its width.
    FromBits,
}

/// A function that a program is given and knows nothing of: from scalars, of which there is one at
/// least, to a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Unknown {
    /// Which of those that it is given.
    pub function: u8,
    /// How many operands it takes.
    pub arity: u8,
    /// What it gives.
    pub result: Scalar,
    /// Whether any thread may call it.
    pub anywhere: bool,
}

macro_rules! prims {
    ($($(#[$doc:meta])* $variant:ident $name:literal $arity:literal $class:ident;)*) => {
        /// A primitive.
        ///
        /// Names and meanings are those of the methods of Rust's number types; integers wrap as in
        /// release builds, integer division by zero panics.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Prim {
            $($(#[$doc])* $variant,)*
            /// `cast f32 %x`: what `as` does. An index gives its ordinal.
            Cast(Scalar),
            /// `check I %x`: an integer as an index of this extent; panics with both numbers unless
            /// it is in range.
            Check(Extent),
            /// `wrap I %x`: the integer modulo the extent, never negative. Panics when the extent
            /// is 0.
            Wrap(Extent),
            /// `clamp_to I %x`: the nearest index. Panics when the extent is 0.
            ClampTo(Extent),
            /// `mirror I %x`: reflected at both ends without repeating the edge. Panics when the
            /// extent is 0.
            Mirror(Extent),
            /// `in_range I %x`: whether the integer is an index of this extent.
            InRange(Extent),
            /// `trust I %x`: an integer or index that the compiler has proved to be in range.
            Trust(Extent),
            /// `call 0 f64 %x, %y`: a function that the program knows nothing of. It may panic and has
            /// no derivative. `call anywhere 0 f64 %x` is one that any thread may call.
            Call(Unknown),
        }

        impl Prim {
            /// Every primitive that carries nothing.
            pub const PLAIN: &'static [Prim] = &[$(Prim::$variant,)*];

            /// The name in textual IR; what a primitive carries is printed after it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Cast(_) => "cast",
                    Self::Check(_) => "check",
                    Self::Wrap(_) => "wrap",
                    Self::ClampTo(_) => "clamp_to",
                    Self::Mirror(_) => "mirror",
                    Self::InRange(_) => "in_range",
                    Self::Trust(_) => "trust",
                    Self::Call(_) => "call",
                }
            }

            /// How many operands it takes.
            pub fn arity(self) -> usize {
                match self {
                    $(Self::$variant => $arity,)*
                    Self::Cast(_) | Self::Check(_) | Self::Wrap(_) | Self::ClampTo(_) | Self::Mirror(_)
                    | Self::InRange(_) | Self::Trust(_) => 1,
                    Self::Call(function) => usize::from(function.arity),
                }
            }

            fn class(self) -> Option<Class> {
                match self {
                    $(Self::$variant => Some(Class::$class),)*
                    Self::Cast(_) | Self::Check(_) | Self::Wrap(_) | Self::ClampTo(_) | Self::Mirror(_)
                    | Self::InRange(_) | Self::Trust(_) | Self::Call(_) => None,
                }
            }
        }
    };
}

prims! {
    /// `-x`
    Neg "neg" 1 Num;
    /// `!x`: of a truth value, or of the bits of an integer
    Not "not" 1 Bits;
    /// `x + y`
    Add "add" 2 Num;
    /// `x - y`
    Sub "sub" 2 Num;
    /// `x * y`
    Mul "mul" 2 Num;
    /// `x / y`
    Div "div" 2 Num;
    /// `x * y`, but zero if one of them is: a derivative's product with what may be ignored, and no number
    MulAbsorb "mul_absorb" 2 Float;
    /// `x / y`, but zero if `x` is
    DivAbsorb "div_absorb" 2 Float;
    /// `x % y`
    Rem "rem" 2 Num;
    /// `x.min(y)`: for floats the number if one is NaN, the first if they are equal
    Min "min" 2 Num;
    /// `x.max(y)`: for floats the number if one is NaN, the first if they are equal
    Max "max" 2 Num;
    /// `x & y`, and `&&` once both sides are known to be harmless
    And "and" 2 Bits;
    /// `x | y`, and `||` once both sides are known to be harmless
    Or "or" 2 Bits;
    /// `x ^ y`
    Xor "xor" 2 Bits;
    /// `x << y`
    Shl "shl" 2 Shift;
    /// `x >> y`
    Shr "shr" 2 Shift;
    /// `x == y`
    Eq "eq" 2 Compare;
    /// `x != y`
    Ne "ne" 2 Compare;
    /// `x < y`
    Lt "lt" 2 Compare;
    /// `x <= y`
    Le "le" 2 Compare;
    /// `x > y`
    Gt "gt" 2 Compare;
    /// `x >= y`
    Ge "ge" 2 Compare;
    /// `x.abs()`
    Abs "abs" 1 Num;
    /// `x.signum()`
    Signum "signum" 1 Num;
    /// `x.div_euclid(y)`
    DivEuclid "div_euclid" 2 Num;
    /// `x.rem_euclid(y)`
    RemEuclid "rem_euclid" 2 Num;
    /// `x.pow(y)` of integers, with `y: u32`
    Pow "pow" 2 Shift;
    /// `x.powi(n)`
    Powi "powi" 2 Powi;
    /// `x.powf(y)`
    Powf "powf" 2 Float;
    /// `x.sqrt()`
    Sqrt "sqrt" 1 Float;
    /// `x.cbrt()`
    Cbrt "cbrt" 1 Float;
    /// `x.exp()`
    Exp "exp" 1 Float;
    /// `x.exp2()`
    Exp2 "exp2" 1 Float;
    /// `x.exp_m1()`
    ExpM1 "exp_m1" 1 Float;
    /// `x.ln()`
    Ln "ln" 1 Float;
    /// `x.log2()`
    Log2 "log2" 1 Float;
    /// `x.log10()`
    Log10 "log10" 1 Float;
    /// `x.ln_1p()`
    Ln1p "ln_1p" 1 Float;
    /// `x.sin()`
    Sin "sin" 1 Float;
    /// `x.cos()`
    Cos "cos" 1 Float;
    /// `x.tan()`
    Tan "tan" 1 Float;
    /// `x.asin()`
    Asin "asin" 1 Float;
    /// `x.acos()`
    Acos "acos" 1 Float;
    /// `x.atan()`
    Atan "atan" 1 Float;
    /// `y.atan2(x)`
    Atan2 "atan2" 2 Float;
    /// `x.sinh()`
    Sinh "sinh" 1 Float;
    /// `x.cosh()`
    Cosh "cosh" 1 Float;
    /// `x.tanh()`
    Tanh "tanh" 1 Float;
    /// `x.asinh()`
    Asinh "asinh" 1 Float;
    /// `x.acosh()`
    Acosh "acosh" 1 Float;
    /// `x.atanh()`
    Atanh "atanh" 1 Float;
    /// `x.hypot(y)`
    Hypot "hypot" 2 Float;
    /// `x.mul_add(a, b)`
    MulAdd "mul_add" 3 Float;
    /// `x.copysign(y)`
    Copysign "copysign" 2 Float;
    /// `x.recip()`
    Recip "recip" 1 Float;
    /// `x.floor()`
    Floor "floor" 1 Float;
    /// `x.ceil()`
    Ceil "ceil" 1 Float;
    /// `x.round()`
    Round "round" 1 Float;
    /// `x.trunc()`
    Trunc "trunc" 1 Float;
    /// `x.fract()`
    Fract "fract" 1 Float;
    /// `x.to_degrees()`
    ToDegrees "to_degrees" 1 Float;
    /// `x.to_radians()`
    ToRadians "to_radians" 1 Float;
    /// `x.rotate_left(y)`, with `y: u32`
    RotateLeft "rotate_left" 2 Shift;
    /// `x.rotate_right(y)`, with `y: u32`
    RotateRight "rotate_right" 2 Shift;
    /// `x.count_ones()`
    CountOnes "count_ones" 1 BitCount;
    /// `x.leading_zeros()`
    LeadingZeros "leading_zeros" 1 BitCount;
    /// `x.trailing_zeros()`
    TrailingZeros "trailing_zeros" 1 BitCount;
    /// `x.reverse_bits()`
    ReverseBits "reverse_bits" 1 Int;
    /// `x.swap_bytes()`
    SwapBytes "swap_bytes" 1 Int;
    /// `x.to_bits()`
    ToBits "to_bits" 1 ToBits;
    /// `f64::from_bits(x)`, of a `u32` `f32::from_bits(x)`
    FromBits "from_bits" 1 FromBits;
    /// `stop_gradient(x)`: `x`, as a constant to every derivative
    StopGradient "stop_gradient" 1 Any;
    /// `x.is_nan()`
    IsNan "is_nan" 1 FloatTest;
    /// `x.is_finite()`
    IsFinite "is_finite" 1 FloatTest;
    /// `x.is_infinite()`
    IsInfinite "is_infinite" 1 FloatTest;
    /// `x.is_sign_negative()`
    IsSignNegative "is_sign_negative" 1 FloatTest;
    /// `x.is_sign_positive()`
    IsSignPositive "is_sign_positive" 1 FloatTest;
}

impl Prim {
    /// The plain primitive of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::PLAIN.iter().copied().find(|p| p.name() == name)
    }

    /// The comparison that holds where this one does not: of floats, a NaN is neither less nor not
    /// less.
    pub fn opposite(self, of_floats: bool) -> Option<Self> {
        match self {
            Self::Eq => Some(Self::Ne),
            Self::Ne => Some(Self::Eq),
            _ if of_floats => None,
            Self::Lt => Some(Self::Ge),
            Self::Ge => Some(Self::Lt),
            Self::Le => Some(Self::Gt),
            Self::Gt => Some(Self::Le),
            _ => None,
        }
    }

    /// Whether its two operands may change places without changing a bit of the result (the payload
    /// of a NaN aside).
    pub fn is_commutative(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Mul
                | Self::MulAbsorb
                | Self::And
                | Self::Or
                | Self::Xor
                | Self::Eq
                | Self::Ne
        )
    }

    /// The primitive that combines two values of a monoid.
    pub fn combining(monoid: Monoid) -> Self {
        match monoid {
            Monoid::Add => Self::Add,
            Monoid::Mul => Self::Mul,
            Monoid::Min => Self::Min,
            Monoid::Max => Self::Max,
            Monoid::And => Self::And,
            Monoid::Or => Self::Or,
        }
    }

    /// The extent that it carries.
    pub fn extent(self) -> Option<Extent> {
        match self {
            Self::Check(extent)
            | Self::Wrap(extent)
            | Self::ClampTo(extent)
            | Self::Mirror(extent)
            | Self::InRange(extent)
            | Self::Trust(extent) => Some(extent),
            _ => None,
        }
    }

    /// The same primitive with another extent, if it carries one.
    pub fn with_extent(self, extent: Extent) -> Self {
        match self {
            Self::Check(_) => Self::Check(extent),
            Self::Wrap(_) => Self::Wrap(extent),
            Self::ClampTo(_) => Self::ClampTo(extent),
            Self::Mirror(_) => Self::Mirror(extent),
            Self::InRange(_) => Self::InRange(extent),
            Self::Trust(_) => Self::Trust(extent),
            plain => plain,
        }
    }

    /// Whether evaluating it, with a first operand of this type, may panic, so that it must stay
    /// behind its guard.
    pub fn may_panic(self, elem: Elem) -> bool {
        match self {
            Self::Check(_) | Self::Wrap(_) | Self::ClampTo(_) | Self::Mirror(_) | Self::Call(_) => {
                true
            }
            Self::Div | Self::Rem | Self::DivEuclid | Self::RemEuclid => !elem.is_float(),
            _ => false,
        }
    }

    /// Whether it becomes a few instructions that exist for whole vectors, on operands of this
    /// type. Calls and whatever may panic do not, nor do functions that have a branch for far
    /// angles, which those of `f32` have not.
    pub fn vectorises(self, elem: Elem) -> bool {
        match self {
            Self::StopGradient
            | Self::Neg
            | Self::Not
            | Self::Add
            | Self::Sub
            | Self::Mul
            | Self::MulAbsorb
            | Self::DivAbsorb
            | Self::Min
            | Self::Max
            | Self::And
            | Self::Or
            | Self::Xor
            | Self::Shl
            | Self::Shr
            | Self::RotateLeft
            | Self::RotateRight
            | Self::ToBits
            | Self::FromBits
            | Self::Eq
            | Self::Ne
            | Self::Lt
            | Self::Le
            | Self::Gt
            | Self::Ge
            | Self::Abs
            | Self::Signum
            | Self::Sqrt
            | Self::Powf
            | Self::Cbrt
            | Self::Exp
            | Self::Exp2
            | Self::ExpM1
            | Self::Ln
            | Self::Log2
            | Self::Log10
            | Self::Ln1p
            | Self::Asin
            | Self::Acos
            | Self::Atan
            | Self::Atan2
            | Self::Sinh
            | Self::Cosh
            | Self::Tanh
            | Self::Asinh
            | Self::Acosh
            | Self::Atanh
            | Self::Hypot
            | Self::MulAdd
            | Self::Copysign
            | Self::Recip
            | Self::Floor
            | Self::Ceil
            | Self::Trunc
            | Self::Fract
            | Self::ToDegrees
            | Self::ToRadians
            | Self::IsNan
            | Self::IsFinite
            | Self::IsInfinite
            | Self::IsSignNegative
            | Self::IsSignPositive
            | Self::Cast(_)
            | Self::InRange(_)
            | Self::Trust(_) => true,
            Self::Div => elem.is_float(),
            Self::Sin | Self::Cos | Self::Tan => elem != Elem::Scalar(Scalar::F64),
            Self::Call(_)
            | Self::CountOnes
            | Self::LeadingZeros
            | Self::TrailingZeros
            | Self::ReverseBits
            | Self::SwapBytes
            | Self::Rem
            | Self::DivEuclid
            | Self::RemEuclid
            | Self::Pow
            | Self::Powi
            | Self::Round
            | Self::Check(_)
            | Self::Wrap(_)
            | Self::ClampTo(_)
            | Self::Mirror(_) => false,
        }
    }

    /// Whether it is a function of an angle, of which any number is one and small ones are easier.
    pub fn takes_angle(self) -> bool {
        matches!(self, Self::Sin | Self::Cos | Self::Tan)
    }

    /// The element type it gives for operands of these types.
    pub fn result(self, operands: &[Elem]) -> Result<Elem, PrimError> {
        let fail = |what: &str| {
            let types: Vec<String> = operands.iter().map(|e| format!("{e:?}")).collect();
            Err(PrimError(format!(
                "`{}` takes {what}, not {}",
                self.name(),
                types.join(", ")
            )))
        };
        if operands.len() != self.arity() {
            return fail(&format!("{} operands", self.arity()));
        }
        let first = operands[0];
        let integer = |e: Elem| e.extent().is_some() || matches!(e, Elem::Scalar(s) if s.is_int());
        let Some(class) = self.class() else {
            return match self {
                Self::Cast(to) => Ok(Elem::Scalar(to)),
                Self::Call(function) => Ok(Elem::Scalar(function.result)),
                Self::Check(e)
                | Self::Wrap(e)
                | Self::ClampTo(e)
                | Self::Mirror(e)
                | Self::Trust(e) => {
                    if integer(first) {
                        Ok(Elem::Index(e))
                    } else {
                        fail("an integer")
                    }
                }
                _ => {
                    if integer(first) {
                        Ok(Elem::BOOL)
                    } else {
                        fail("an integer")
                    }
                }
            };
        };
        let same = operands.iter().all(|&e| e == first);
        let scalar = match first {
            Elem::Scalar(s) => Some(s),
            Elem::Index(_) | Elem::Bound(_) => None,
        };
        // The lesser and the greater of two bounds is one of them.
        let between =
            |e: Elem| matches!(e, Elem::Bound(_)) && matches!(self, Self::Min | Self::Max);
        let (holds, what) = match class {
            Class::Num => (
                same && (scalar.is_some_and(|s| s != Scalar::Bool) || between(first)),
                "numbers of one type",
            ),
            Class::Any => (scalar.is_some(), "a scalar"),
            Class::Float | Class::FloatTest => (same && first.is_float(), "floats of one type"),
            Class::Bits => (
                same && scalar.is_some_and(|s| !s.is_float()),
                "integers or truth values of one type",
            ),
            Class::Compare => (same, "two scalars of one type"),
            Class::Powi => (
                first.is_float() && operands[1] == Elem::Scalar(Scalar::I32),
                "a float and an i32",
            ),
            Class::Shift => (
                scalar.is_some_and(Scalar::is_int)
                    && matches!(operands[1], Elem::Scalar(s) if s.is_int()),
                "two integers",
            ),
            Class::BitCount | Class::Int => (scalar.is_some_and(Scalar::is_int), "an integer"),
            Class::ToBits => (first.is_float(), "a float"),
            Class::FromBits => (
                matches!(scalar, Some(Scalar::U32 | Scalar::U64)),
                "a u32 or u64",
            ),
        };
        match class {
            _ if !holds => fail(what),
            Class::Compare | Class::FloatTest => Ok(Elem::BOOL),
            Class::BitCount => Ok(Elem::Scalar(Scalar::U32)),
            Class::ToBits => Ok(Elem::Scalar(first.repr().unsigned())),
            Class::FromBits if first.repr() == Scalar::U32 => Ok(Elem::Scalar(Scalar::F32)),
            Class::FromBits => Ok(Elem::F64),
            Class::Num
            | Class::Float
            | Class::Any
            | Class::Bits
            | Class::Powi
            | Class::Shift
            | Class::Int => Ok(first),
        }
    }
}

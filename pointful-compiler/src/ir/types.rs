//! Types of values: scalars, valid indices, and tables of either.

use super::ValueId;
use crate::ops::Prim;

/// A machine scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scalar {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `isize`
    Isize,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `usize`
    Usize,
    /// `bool`
    Bool,
}

impl Scalar {
    /// Every scalar type, in a fixed order.
    pub const ALL: [Scalar; 13] = [
        Self::F32,
        Self::F64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::Isize,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Usize,
        Self::Bool,
    ];

    /// The type's name in Rust and in textual IR.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Isize => "isize",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Usize => "usize",
            Self::Bool => "bool",
        }
    }

    /// The scalar type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Whether derivatives flow through values of this type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether this is an integer type.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// Whether this is an integer type with negative values.
    pub fn is_signed_int(self) -> bool {
        matches!(
            self,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::Isize
        )
    }

    /// Whether it is as wide as the machine says.
    pub fn is_machine_word(self) -> bool {
        matches!(self, Self::Isize | Self::Usize)
    }

    /// The unsigned integer of the same width: what distances of integers and the bits of floats
    /// are.
    pub fn unsigned(self) -> Self {
        match self {
            Self::I8 | Self::U8 | Self::Bool => Self::U8,
            Self::I16 | Self::U16 => Self::U16,
            Self::F32 | Self::I32 | Self::U32 => Self::U32,
            Self::F64 | Self::I64 | Self::U64 => Self::U64,
            Self::Isize | Self::Usize => Self::Usize,
        }
    }

    /// The least and the greatest value of an integer type, on a machine of 64 bits.
    pub fn int_range(self) -> Option<(i128, i128)> {
        if !self.is_int() {
            return None;
        }
        let bits = 8 * self.bytes();
        Some(match self.is_signed_int() {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        })
    }

    /// Bytes of one element.
    pub fn bytes(self) -> u64 {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 | Self::Isize | Self::Usize => 8,
        }
    }
}

/// A size that is bound when the function is entered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SizeId(pub u32);

/// A named axis of a Bulk program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AxisId(pub u32);

/// How many members an axis has. Two axes have the same members exactly when their extents are
/// equal as terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Extent {
    /// Known at compile time. Printed as the number.
    Const(u64),
    /// Bound at entry. Printed as the size's name.
    Size(SizeId),
    /// A `usize` scalar computed by the program: integer ranges, triangular loops. Printed as the
    /// value, `%3`.
    Value(ValueId),
}

/// What a table holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Elem {
    /// A machine scalar.
    Scalar(Scalar),
    /// The ordinal of a member of an axis of this extent, known to be in range; stored as `usize`.
    /// Printed `idx<I>`.
    Index(Extent),
    /// Where a range of an axis of this extent begins or ends: from 0 to the extent, which is one
    /// more than an index may be; stored as `usize`. Only stages of targets have them. Printed
    /// `bound<I>`.
    Bound(Extent),
}

impl Elem {
    /// Shorthand for the most common element.
    pub const F64: Elem = Elem::Scalar(Scalar::F64);
    /// Truth values.
    pub const BOOL: Elem = Elem::Scalar(Scalar::Bool);
    /// Sizes and ordinals.
    pub const USIZE: Elem = Elem::Scalar(Scalar::Usize);

    /// Whether derivatives flow through values of this type.
    pub fn is_float(self) -> bool {
        matches!(self, Elem::Scalar(s) if s.is_float())
    }

    /// Whether values are positions or sizes, which are computed with to find something and are no
    /// part of what is computed.
    pub fn is_position(self) -> bool {
        matches!(self, Elem::Index(_) | Elem::Scalar(Scalar::Usize))
    }

    /// The extent that an index or a bound is one of.
    pub fn extent(self) -> Option<Extent> {
        match self {
            Elem::Scalar(_) => None,
            Elem::Index(extent) | Elem::Bound(extent) => Some(extent),
        }
    }

    /// The machine type that holds one element.
    pub fn repr(self) -> Scalar {
        match self {
            Elem::Scalar(s) => s,
            Elem::Index(_) | Elem::Bound(_) => Scalar::Usize,
        }
    }
}

/// The type of a value: an element, and a dimension for each axis. No dimensions: a scalar.
///
/// In Point and Kernels the order of `dims` is the order of indexing and, when stored, of memory
/// (row-major). In Bulk `dims` is a set of axes: the order says only how the value is laid out if
/// it is stored.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type<D> {
    /// What is held.
    pub elem: Elem,
    /// The axes.
    pub dims: Vec<D>,
}

impl<D> Type<D> {
    /// A scalar.
    pub fn scalar(elem: Elem) -> Self {
        Self {
            elem,
            dims: Vec::new(),
        }
    }

    /// A table.
    pub fn table(elem: Elem, dims: Vec<D>) -> Self {
        Self { elem, dims }
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

/// Which way a derivative runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mode {
    /// Forward: from tangents of the parameters to tangents of the results. Printed `jvp`.
    Tangent,
    /// Backward: from cotangents of the results to cotangents of the parameters. Printed `vjp`.
    Cotangent,
}

impl Mode {
    /// The name in textual IR.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tangent => "jvp",
            Self::Cotangent => "vjp",
        }
    }
}

/// What a derivative keeps of a sequential loop. Without one, everything that the reverse loop
/// needs and that is dear to compute again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Checkpoint {
    /// The states at every so many iterations; those between are computed again. Printed
    /// `checkpoint 8`.
    Every(u64),
    /// The loop is split this many times, each into pieces of equal length, and only states at the
    /// beginnings of pieces are kept: `levels × length^(1 / levels)` of them at a time. Printed
    /// `checkpoint levels 3`.
    Levels(u64),
    /// As many levels as the length has binary digits, or 4 if it is not known at compile time.
    /// Printed `checkpoint log`.
    Log,
}

/// A constant. Floats are compared by their bits, so that literals can be hashed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Lit {
    /// An `f32` by its bits.
    F32(u32),
    /// An `f64` by its bits.
    F64(u64),
    /// An integer of this type.
    Int(Scalar, i128),
    /// A truth value.
    Bool(bool),
}

impl Lit {
    /// The literal `value` in type `scalar`: rounded, truncated or compared with zero as `as` does.
    pub fn of(scalar: Scalar, value: f64) -> Self {
        match scalar {
            Scalar::F32 => Self::F32((value as f32).to_bits()),
            Scalar::F64 => Self::F64(value.to_bits()),
            Scalar::Bool => Self::Bool(value != 0.0),
            _ => Self::Int(scalar, value as i128),
        }
    }

    /// The literal's type.
    pub fn scalar(self) -> Scalar {
        match self {
            Self::F32(_) => Scalar::F32,
            Self::F64(_) => Scalar::F64,
            Self::Int(s, _) => s,
            Self::Bool(_) => Scalar::Bool,
        }
    }
}

/// An associative, commutative operation with an identity that reductions and accumulators know by
/// name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Monoid {
    /// `+`, 0
    Add,
    /// `×`, 1
    Mul,
    /// The smaller, +∞ or the type's largest. NaN as `f64::min` treats it.
    Min,
    /// The larger, −∞ or the type's smallest. NaN as `f64::max` treats it.
    Max,
    /// `&&`, true
    And,
    /// `||`, false
    Or,
}

impl Monoid {
    /// Every monoid, in a fixed order.
    pub const ALL: [Monoid; 6] = [
        Self::Add,
        Self::Mul,
        Self::Min,
        Self::Max,
        Self::And,
        Self::Or,
    ];

    /// The name in textual IR.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
        }
    }

    /// The monoid of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }

    /// The primitive that combines two values.
    pub(crate) fn prim(self) -> Prim {
        match self {
            Self::Add => Prim::Add,
            Self::Mul => Prim::Mul,
            Self::Min => Prim::Min,
            Self::Max => Prim::Max,
            Self::And => Prim::And,
            Self::Or => Prim::Or,
        }
    }

    /// Whether an element that is combined twice is the same as once.
    pub fn is_idempotent(self) -> bool {
        match self {
            Self::Min | Self::Max | Self::And | Self::Or => true,
            Self::Add | Self::Mul => false,
        }
    }

    /// The identity in type `scalar`: what a reduction of nothing gives.
    pub fn identity(self, scalar: Scalar) -> Lit {
        let extreme = |float: f64, int: i128| match scalar {
            Scalar::F32 | Scalar::F64 => Lit::of(scalar, float),
            Scalar::Bool => Lit::Bool(int > 0),
            _ => Lit::Int(scalar, int),
        };
        let (smallest, largest) = scalar.int_range().unwrap_or((0, 1));
        match self {
            Self::Add => Lit::of(scalar, 0.0),
            Self::Mul => Lit::of(scalar, 1.0),
            Self::Min => extreme(f64::INFINITY, largest),
            Self::Max => extreme(f64::NEG_INFINITY, smallest),
            Self::And => Lit::Bool(true),
            Self::Or => Lit::Bool(false),
        }
    }
}

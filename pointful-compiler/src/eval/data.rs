//! Scalars and tables as the interpreters hold them.

use std::fmt;

use crate::ir::{Format, Lit, Scalar, Style};

/// A scalar at run time. The ordinal of an index is a `Usize`.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub enum ScalarValue {
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// An `i8`.
    I8(i8),
    /// An `i16`.
    I16(i16),
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// An `isize`.
    Isize(isize),
    /// A `u8`.
    U8(u8),
    /// A `u16`.
    U16(u16),
    /// A `u32`.
    U32(u32),
    /// A `u64`.
    U64(u64),
    /// A `usize`, or the ordinal of an index.
    Usize(usize),
    /// A `bool`.
    Bool(bool),
}

impl ScalarValue {
    /// Its type.
    pub fn scalar(self) -> Scalar {
        match self {
            Self::F32(_) => Scalar::F32,
            Self::F64(_) => Scalar::F64,
            Self::I8(_) => Scalar::I8,
            Self::I16(_) => Scalar::I16,
            Self::I32(_) => Scalar::I32,
            Self::I64(_) => Scalar::I64,
            Self::Isize(_) => Scalar::Isize,
            Self::U8(_) => Scalar::U8,
            Self::U16(_) => Scalar::U16,
            Self::U32(_) => Scalar::U32,
            Self::U64(_) => Scalar::U64,
            Self::Usize(_) => Scalar::Usize,
            Self::Bool(_) => Scalar::Bool,
        }
    }

    /// What a literal stands for.
    pub fn from_lit(lit: Lit) -> Self {
        match lit {
            Lit::F32(bits) => Self::F32(f32::from_bits(bits)),
            Lit::F64(bits) => Self::F64(f64::from_bits(bits)),
            Lit::Int(scalar, value) => Self::from_int(scalar, value),
            Lit::Bool(value) => Self::Bool(value),
        }
    }

    /// The literal that stands for it.
    pub fn to_lit(self) -> Lit {
        match self {
            Self::F32(x) => Lit::F32(x.to_bits()),
            Self::F64(x) => Lit::F64(x.to_bits()),
            Self::I8(x) => Lit::Int(Scalar::I8, i128::from(x)),
            Self::I16(x) => Lit::Int(Scalar::I16, i128::from(x)),
            Self::I32(x) => Lit::Int(Scalar::I32, i128::from(x)),
            Self::I64(x) => Lit::Int(Scalar::I64, i128::from(x)),
            Self::Isize(x) => Lit::Int(Scalar::Isize, x as i128),
            Self::U8(x) => Lit::Int(Scalar::U8, i128::from(x)),
            Self::U16(x) => Lit::Int(Scalar::U16, i128::from(x)),
            Self::U32(x) => Lit::Int(Scalar::U32, i128::from(x)),
            Self::U64(x) => Lit::Int(Scalar::U64, i128::from(x)),
            Self::Usize(x) => Lit::Int(Scalar::Usize, x as i128),
            Self::Bool(x) => Lit::Bool(x),
        }
    }

    /// `value as scalar`, from an integer.
    pub fn from_int(scalar: Scalar, value: i128) -> Self {
        match scalar {
            Scalar::F32 => Self::F32(value as f32),
            Scalar::F64 => Self::F64(value as f64),
            Scalar::I8 => Self::I8(value as i8),
            Scalar::I16 => Self::I16(value as i16),
            Scalar::I32 => Self::I32(value as i32),
            Scalar::I64 => Self::I64(value as i64),
            Scalar::Isize => Self::Isize(value as isize),
            Scalar::U8 => Self::U8(value as u8),
            Scalar::U16 => Self::U16(value as u16),
            Scalar::U32 => Self::U32(value as u32),
            Scalar::U64 => Self::U64(value as u64),
            Scalar::Usize => Self::Usize(value as usize),
            Scalar::Bool => Self::Bool(value != 0),
        }
    }

    /// `value as scalar`, from a float: integers saturate, and NaN is 0.
    pub fn from_float(scalar: Scalar, value: f64) -> Self {
        match scalar {
            Scalar::F32 => Self::F32(value as f32),
            Scalar::F64 => Self::F64(value),
            Scalar::I8 => Self::I8(value as i8),
            Scalar::I16 => Self::I16(value as i16),
            Scalar::I32 => Self::I32(value as i32),
            Scalar::I64 => Self::I64(value as i64),
            Scalar::Isize => Self::Isize(value as isize),
            Scalar::U8 => Self::U8(value as u8),
            Scalar::U16 => Self::U16(value as u16),
            Scalar::U32 => Self::U32(value as u32),
            Scalar::U64 => Self::U64(value as u64),
            Scalar::Usize => Self::Usize(value as usize),
            Scalar::Bool => Self::Bool(value != 0.0),
        }
    }

    /// `self as scalar`.
    pub fn cast(self, scalar: Scalar) -> Self {
        match (self, scalar) {
            // An `f32` that stays one keeps even the bits of a NaN.
            (Self::F32(x), Scalar::F32) => Self::F32(x),
            (Self::F32(x), _) => Self::from_float(scalar, f64::from(x)),
            (Self::F64(x), _) => Self::from_float(scalar, x),
            (_, _) => Self::from_int(scalar, self.int().unwrap_or_default()),
        }
    }

    /// The value of an integer or truth value.
    pub fn int(self) -> Option<i128> {
        match self {
            Self::F32(_) | Self::F64(_) => None,
            Self::I8(x) => Some(i128::from(x)),
            Self::I16(x) => Some(i128::from(x)),
            Self::I32(x) => Some(i128::from(x)),
            Self::I64(x) => Some(i128::from(x)),
            Self::Isize(x) => Some(x as i128),
            Self::U8(x) => Some(i128::from(x)),
            Self::U16(x) => Some(i128::from(x)),
            Self::U32(x) => Some(i128::from(x)),
            Self::U64(x) => Some(i128::from(x)),
            Self::Usize(x) => Some(x as i128),
            Self::Bool(x) => Some(i128::from(x)),
        }
    }

    /// The value of a float, exactly.
    pub fn float(self) -> Option<f64> {
        match self {
            Self::F32(x) => Some(f64::from(x)),
            Self::F64(x) => Some(x),
            _ => None,
        }
    }
}

impl ScalarValue {
    /// The text that a message shows.
    pub(crate) fn formatted(self, format: Format) -> String {
        let text = match self {
            Self::F32(x) => number(x, format),
            Self::F64(x) => number(x, format),
            Self::I8(x) => number(x, format),
            Self::I16(x) => number(x, format),
            Self::I32(x) => number(x, format),
            Self::I64(x) => number(x, format),
            Self::Isize(x) => number(x, format),
            Self::U8(x) => number(x, format),
            Self::U16(x) => number(x, format),
            Self::U32(x) => number(x, format),
            Self::U64(x) => number(x, format),
            Self::Usize(x) => number(x, format),
            Self::Bool(x) => match format.precision {
                // Of a text the precision is the largest number of characters.
                Some(precision) => format!("{x:.precision$}"),
                None => x.to_string(),
            },
        };
        format.padded(&text)
    }
}

fn number<T: fmt::Display + fmt::Debug + fmt::LowerExp>(x: T, format: Format) -> String {
    match (format.style, format.precision) {
        (Style::Display, None) => format!("{x}"),
        (Style::Display, Some(precision)) => format!("{x:.precision$}"),
        (Style::Debug, None) => format!("{x:?}"),
        (Style::Debug, Some(precision)) => format!("{x:.precision$?}"),
        (Style::Exponent, None) => format!("{x:e}"),
        (Style::Exponent, Some(precision)) => format!("{x:.precision$e}"),
    }
}

impl fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F32(x) => write!(f, "{x:?}"),
            Self::F64(x) => write!(f, "{x:?}"),
            Self::I8(x) => write!(f, "{x}"),
            Self::I16(x) => write!(f, "{x}"),
            Self::I32(x) => write!(f, "{x}"),
            Self::I64(x) => write!(f, "{x}"),
            Self::Isize(x) => write!(f, "{x}"),
            Self::U8(x) => write!(f, "{x}"),
            Self::U16(x) => write!(f, "{x}"),
            Self::U32(x) => write!(f, "{x}"),
            Self::U64(x) => write!(f, "{x}"),
            Self::Usize(x) => write!(f, "{x}"),
            Self::Bool(x) => write!(f, "{x}"),
        }
    }
}

macro_rules! conversions {
    ($($variant:ident $ty:ty, $from:ident;)*) => {
        $(
            impl From<$ty> for ScalarValue {
                fn from(value: $ty) -> Self {
                    Self::$variant(value)
                }
            }

            impl From<$ty> for Data {
                fn from(value: $ty) -> Self {
                    Self::scalar(ScalarValue::$variant(value))
                }
            }
        )*

        impl Data {
            $(
                #[doc = concat!("A table of `", stringify!($ty), "`, row-major.")]
                pub fn $from(shape: &[usize], values: impl IntoIterator<Item = $ty>) -> Self {
                    let values = values.into_iter().map(ScalarValue::$variant).collect();
                    Self::new(Scalar::$variant, shape.to_vec(), values)
                }
            )*
        }
    };
}

conversions! {
    F32 f32, f32s;
    F64 f64, f64s;
    I8 i8, i8s;
    I16 i16, i16s;
    I32 i32, i32s;
    I64 i64, i64s;
    Isize isize, isizes;
    U8 u8, u8s;
    U16 u16, u16s;
    U32 u32, u32s;
    U64 u64, u64s;
    Usize usize, usizes;
    Bool bool, bools;
}

/// A scalar or a table: what goes into a program and what comes out.
#[derive(Clone, PartialEq, Debug)]
pub struct Data {
    /// The machine type of the elements; indices are `usize`.
    pub elem: Scalar,
    /// The extents; none for a scalar.
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub values: Vec<ScalarValue>,
}

impl Data {
    /// Elements in row-major order.
    ///
    /// # Panics
    ///
    /// If there are not as many values as the shape says.
    pub fn new(elem: Scalar, shape: Vec<usize>, values: Vec<ScalarValue>) -> Self {
        assert_eq!(
            shape.iter().product::<usize>(),
            values.len(),
            "a table of shape {shape:?} has another number of elements"
        );
        Self {
            elem,
            shape,
            values,
        }
    }

    /// A scalar.
    pub fn scalar(value: ScalarValue) -> Self {
        Self::new(value.scalar(), Vec::new(), vec![value])
    }

    /// A table that holds the same everywhere.
    pub fn filled(shape: Vec<usize>, value: ScalarValue) -> Self {
        let len = shape.iter().product();
        Self::new(value.scalar(), shape, vec![value; len])
    }

    /// The value of a scalar.
    pub fn as_scalar(&self) -> Option<ScalarValue> {
        match (self.shape.as_slice(), self.values.as_slice()) {
            ([], &[value]) => Some(value),
            _ => None,
        }
    }

    /// The elements that leading indices select: where they begin and how many they are.
    /// None when an index is out of range.
    pub(super) fn span(shape: &[usize], indices: &[usize]) -> Option<(usize, usize)> {
        let mut begin = 0;
        for (&index, &extent) in indices.iter().zip(shape) {
            if index >= extent {
                return None;
            }
            begin = begin * extent + index;
        }
        let len = shape[indices.len()..].iter().product::<usize>();
        Some((begin * len, len))
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn level(
            f: &mut fmt::Formatter<'_>,
            shape: &[usize],
            values: &[ScalarValue],
        ) -> fmt::Result {
            let Some((&extent, inner)) = shape.split_first() else {
                return write!(f, "{}", values[0]);
            };
            let len = inner.iter().product::<usize>();
            write!(f, "[")?;
            for k in 0..extent {
                if k > 0 {
                    write!(f, ", ")?;
                }
                level(f, inner, &values[k * len..(k + 1) * len])?;
            }
            write!(f, "]")
        }
        level(f, &self.shape, &self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_print_nested() {
        assert_eq!(
            Data::f64s(&[2, 2], [1.0, 2.0, 3.0, 4.5]).to_string(),
            "[[1.0, 2.0], [3.0, 4.5]]"
        );
        assert_eq!(Data::i64s(&[2, 0], []).to_string(), "[[], []]");
        assert_eq!(Data::from(true).to_string(), "true");
    }

    #[test]
    fn spans_of_leading_indices() {
        assert_eq!(Data::span(&[2, 3], &[]), Some((0, 6)));
        assert_eq!(Data::span(&[2, 3], &[1]), Some((3, 3)));
        assert_eq!(Data::span(&[2, 3], &[1, 2]), Some((5, 1)));
        assert_eq!(Data::span(&[2, 3], &[1, 3]), None);
        assert_eq!(Data::span(&[2, 0], &[1]), Some((0, 0)));
    }

    #[test]
    fn casts_are_those_of_rust() {
        use ScalarValue::*;
        assert_eq!(F64(-1.5).cast(Scalar::U8), U8(0));
        assert_eq!(F64(f64::NAN).cast(Scalar::I64), I64(0));
        assert_eq!(F64(1e300).cast(Scalar::I32), I32(i32::MAX));
        assert_eq!(I64(-1).cast(Scalar::U8), U8(255));
        assert_eq!(I64(-1).cast(Scalar::Usize), Usize(usize::MAX));
        assert_eq!(Usize(usize::MAX).cast(Scalar::I64), I64(-1));
        assert_eq!(Bool(true).cast(Scalar::F32), F32(1.0));
        assert_eq!(F32(0.1).cast(Scalar::F64), F64(f64::from(0.1f32)));
        assert_eq!(I64(0).cast(Scalar::Bool), Bool(false));
        assert_eq!(I64(16_777_217).cast(Scalar::F32), F32(16_777_216.0));
    }

    #[test]
    fn literals_round_trip() {
        for value in [
            ScalarValue::F32(0.1),
            ScalarValue::F64(f64::NEG_INFINITY),
            ScalarValue::I32(i32::MIN),
            ScalarValue::I64(i64::MIN),
            ScalarValue::U8(255),
            ScalarValue::U32(u32::MAX),
            ScalarValue::Usize(usize::MAX),
            ScalarValue::Bool(true),
        ] {
            assert_eq!(ScalarValue::from_lit(value.to_lit()), value);
        }
    }
}

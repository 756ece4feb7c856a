//! Sizes, parameters, and data for them.

use super::{Fact, Random, UNKNOWN};
use crate::eval::{Data, ScalarValue};
use crate::ir::{Elem, Extent, Scalar, SizeId, SpanId, Type};

/// No element of a float parameter is larger in magnitude.
const LARGEST: i64 = 2;

impl Random {
    /// A few sizes and parameters.
    pub(super) fn parameters(&mut self) {
        for name in ["N", "M", "K"].iter().take(1 + self.rng.below(3)) {
            self.program.size(*name);
            let size = self.rng.weighted(&[(1, 0), (2, 1), (4, 2), (4, 3), (3, 7)]);
            self.inputs.sizes.push(size);
        }
        for k in 0..2 + self.rng.below(4) {
            let elem = if self.rng.chance(15) {
                Elem::Index(self.input_extent())
            } else {
                self.elem()
            };
            let rank = if k == 0 {
                1 + self.rng.below(3)
            } else {
                self.rng.below(4)
            };
            let dims = (0..rank).map(|_| self.input_extent()).collect();
            self.parameter(&format!("p{k}"), Type::table(elem, dims));
        }
    }

    fn input_extent(&mut self) -> Extent {
        if self.rng.chance(85) {
            Extent::Size(SizeId(self.rng.below(self.program.sizes.len()) as u32))
        } else {
            Extent::Const(self.rng.pick(&[1, 2, 3]))
        }
    }

    fn parameter(&mut self, name: &str, ty: Type<Extent>) {
        let shape: Vec<usize> = ty.dims.iter().filter_map(|&dim| self.known(dim)).collect();
        let len = shape.iter().product::<usize>();
        let members = match ty.elem {
            Elem::Index(extent) => self.known(extent),
            Elem::Scalar(_) | Elem::Bound(_) => None,
        };
        if members == Some(0) && len > 0 {
            // There is no such table.
            return;
        }
        let values = (0..len)
            .map(|_| match members {
                Some(members) => ScalarValue::Usize(self.rng.below(members)),
                None => self.datum(ty.elem.repr()),
            })
            .collect();
        let data = Data::new(ty.elem.repr(), shape, values);
        let fact = Fact {
            bound: LARGEST as f64,
            ..UNKNOWN
        };
        let owned = ty.rank() > 0 && self.rng.chance(30);
        let value = self.program.param(name, ty, owned, SpanId::NONE);
        self.facts.push(fact);
        self.scope.push(value);
        self.inputs.params.push(data);
    }

    /// Multiples of an eighth: sums of them are exact, and some are equal.
    fn datum(&mut self, scalar: Scalar) -> ScalarValue {
        let eighths = self.rng.between(-8 * LARGEST, 8 * LARGEST);
        match scalar {
            Scalar::F32 | Scalar::F64 => ScalarValue::from_float(scalar, eighths as f64 / 8.0),
            Scalar::Bool => ScalarValue::Bool(self.rng.chance(50)),
            _ if scalar.is_signed_int() => ScalarValue::from_int(scalar, i128::from(eighths)),
            _ => ScalarValue::from_int(scalar, i128::from(eighths.abs())),
        }
    }
}

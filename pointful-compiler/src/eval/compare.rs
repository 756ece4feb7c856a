//! Whether two results are the same but for the order in which floats were added.

use super::data::{Data, ScalarValue};

/// How far two floats may be apart, relative to the larger one or to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// For `f32`.
    pub f32: f64,
    /// For `f64`.
    pub f64: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            f32: 2e-3,
            f64: 1e-8,
        }
    }
}

/// Whether two scalars are equal up to rounding. NaN equals NaN, infinities only themselves; what
/// is not a float must be equal.
pub fn scalars_approx_eq(a: ScalarValue, b: ScalarValue, tolerance: Tolerance) -> bool {
    let (x, y, tolerance) = match (a, b) {
        (ScalarValue::F32(x), ScalarValue::F32(y)) => (f64::from(x), f64::from(y), tolerance.f32),
        (ScalarValue::F64(x), ScalarValue::F64(y)) => (x, y, tolerance.f64),
        (a, b) => return a == b,
    };
    x == y
        || (x.is_nan() && y.is_nan())
        || (x.is_finite()
            && y.is_finite()
            && (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0))
}

/// Whether two tables are equal up to rounding, with the default tolerance.
pub fn approx_eq(a: &Data, b: &Data) -> bool {
    difference(a, b, Tolerance::default()).is_none()
}

/// The first place where two tables differ by more than rounding, in words.
pub fn difference(a: &Data, b: &Data, tolerance: Tolerance) -> Option<String> {
    if a.elem != b.elem {
        return Some(format!(
            "elements are {} and {}",
            a.elem.name(),
            b.elem.name()
        ));
    }
    if a.shape != b.shape {
        return Some(format!("shapes are {:?} and {:?}", a.shape, b.shape));
    }
    let at =
        (0..a.values.len()).find(|&k| !scalars_approx_eq(a.values[k], b.values[k], tolerance))?;
    let mut rest = at;
    let mut place: Vec<usize> = a
        .shape
        .iter()
        .rev()
        .map(|&extent| {
            let index = rest % extent;
            rest /= extent;
            index
        })
        .collect();
    place.reverse();
    Some(format!(
        "at {place:?} there are {} and {}",
        a.values[at], b.values[at]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_difference() {
        let a = Data::f64s(&[2], [0.1 + 0.2, f64::NAN]);
        assert!(approx_eq(&a, &Data::f64s(&[2], [0.3, f64::NAN])));
        assert!(!approx_eq(&a, &Data::f64s(&[2], [0.3001, f64::NAN])));
        assert!(!approx_eq(&a, &Data::f64s(&[2], [0.3, f64::INFINITY])));
        assert!(approx_eq(
            &Data::f32s(&[1], [1e6]),
            &Data::f32s(&[1], [1e6 + 1.0])
        ));
    }

    #[test]
    fn shapes_types_and_integers_are_exact() {
        let a = Data::i64s(&[1, 2], [1, 2]);
        assert!(!approx_eq(&a, &Data::i64s(&[2], [1, 2])));
        assert!(!approx_eq(&a, &Data::i32s(&[1, 2], [1, 2])));
        assert_eq!(
            difference(&a, &Data::i64s(&[1, 2], [1, 3]), Tolerance::default()).unwrap(),
            "at [0, 1] there are 2 and 3"
        );
        assert!(approx_eq(
            &Data::f64s(&[0, 3], []),
            &Data::f64s(&[0, 3], [])
        ));
    }
}

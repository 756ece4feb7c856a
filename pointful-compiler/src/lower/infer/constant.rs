//! Paths that are constants, and the values of those of the standard library.

use super::signature::last_name;
use crate::lower::hir::Value;

/// A path that can only be a constant of some module: the last name is written in capitals.
pub(super) fn looks_like_constant(path: &syn::Path) -> bool {
    let name = last_name(path);
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

/// A constant of the standard library.
#[derive(Clone, Copy)]
pub(super) enum StdConstant {
    /// Of `std::f64::consts` and its twin.
    Float(f64),
    /// An associated constant of a number type.
    PerType(&'static str),
}

/// The constant of the standard library that a path means. Names that a user may well give to
/// something else, such as `E`, count only after `consts::`.
pub(super) fn standard_constant(name: &str) -> Option<StdConstant> {
    use std::f64::consts as c;
    const TABLE: [(&str, f64); 19] = [
        ("PI", c::PI),
        ("TAU", c::TAU),
        ("E", c::E),
        ("SQRT_2", c::SQRT_2),
        ("LN_2", c::LN_2),
        ("LN_10", c::LN_10),
        ("LOG2_E", c::LOG2_E),
        ("LOG10_E", c::LOG10_E),
        ("LOG2_10", c::LOG2_10),
        ("LOG10_2", c::LOG10_2),
        ("FRAC_1_PI", c::FRAC_1_PI),
        ("FRAC_2_PI", c::FRAC_2_PI),
        ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
        ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
        ("FRAC_PI_2", c::FRAC_PI_2),
        ("FRAC_PI_3", c::FRAC_PI_3),
        ("FRAC_PI_4", c::FRAC_PI_4),
        ("FRAC_PI_6", c::FRAC_PI_6),
        ("FRAC_PI_8", c::FRAC_PI_8),
    ];
    const PER_TYPE: [&str; 7] = [
        "INFINITY",
        "NEG_INFINITY",
        "NAN",
        "EPSILON",
        "MAX",
        "MIN",
        "MIN_POSITIVE",
    ];
    let mut segments = name.rsplit("::");
    let last = segments.next()?;
    let owner = segments.next();
    match owner {
        None if last == "E" => None,
        None | Some("consts") => TABLE
            .iter()
            .find(|(n, _)| *n == last)
            .map(|(_, x)| StdConstant::Float(*x)),
        Some(ty) if crate::ir::Scalar::from_name(ty).is_some() => PER_TYPE
            .iter()
            .find(|n| **n == last)
            .map(|n| StdConstant::PerType(n)),
        Some(_) => None,
    }
}

/// `f64::EPSILON`, `i32::MAX` and so on.
pub(super) fn type_constant(scalar: crate::ir::Scalar, name: &str) -> Option<Value> {
    use crate::ir::{Lit, Monoid, Scalar};
    if scalar == Scalar::Bool {
        return None;
    }
    if scalar.is_int() {
        let monoid = match name {
            "MAX" => Monoid::Min,
            "MIN" => Monoid::Max,
            _ => return None,
        };
        return match monoid.identity(scalar) {
            Lit::Int(_, value) => Some(Value::Int(value)),
            Lit::F32(_) | Lit::F64(_) | Lit::Bool(_) => None,
        };
    }
    let single = scalar == Scalar::F32;
    let pick =
        |wide: f64, narrow: f32| Some(Value::Float(if single { f64::from(narrow) } else { wide }));
    match name {
        "INFINITY" => pick(f64::INFINITY, f32::INFINITY),
        "NEG_INFINITY" => pick(f64::NEG_INFINITY, f32::NEG_INFINITY),
        "NAN" => pick(f64::NAN, f32::NAN),
        "EPSILON" => pick(f64::EPSILON, f32::EPSILON),
        "MAX" => pick(f64::MAX, f32::MAX),
        "MIN" => pick(f64::MIN, f32::MIN),
        "MIN_POSITIVE" => pick(f64::MIN_POSITIVE, f32::MIN_POSITIVE),
        _ => None,
    }
}

//! Typing: what an operation gives for operands of these types, or why it cannot be applied to
//! them.
//!
//! The parser takes the types of results from here, the verifier compares with them.

mod bulk;
mod cpu;
mod gpu;
mod imperative;
mod point;

pub use imperative::TypeOwn;

use smallvec::SmallVec;

use super::{Elem, Extent, Format, Lit, Message, Monoid, Program, Stage, Style, Type, ValueId};
use crate::ops::Prim;

/// The types of what an operation gives: mostly one.
pub type Types<D> = SmallVec<[Type<D>; 1]>;

/// A stage whose operations are typed.
pub trait Typing: Stage {
    /// Whether a value's dimensions are written where it is bound (then operations say only which
    /// ones it has, not in which order).
    const WRITES_DIMS: bool;

    /// The types of an operation's results. `declared`: the type that the operation states for its
    /// result, if it does.
    fn types(
        program: &Program<Self>,
        op: &Self::Op,
        declared: Option<Type<Self::Dim>>,
    ) -> Result<Types<Self::Dim>, String>;
}

/// The element type that a primitive gives.
fn prim<S: Stage>(program: &Program<S>, prim: Prim, operands: &[ValueId]) -> Result<Elem, String> {
    let elems = program.elems(operands);
    prim.result(&elems).map_err(|error| error.0)
}

/// The type of a literal, if it is in the range of its type.
fn literal(lit: Lit) -> Result<Elem, String> {
    let fits = match lit {
        Lit::F32(_) | Lit::F64(_) | Lit::Bool(_) => true,
        Lit::Int(scalar, value) => scalar
            .int_range()
            .is_some_and(|(least, greatest)| (least..=greatest).contains(&value)),
    };
    ensure(fits, "the literal is not in the range of its type")?;
    Ok(Elem::Scalar(lit.scalar()))
}

/// Whether a monoid works on this element type.
fn monoid_takes(monoid: Monoid, elem: Elem) -> Result<(), String> {
    let fits = match (monoid, elem) {
        (Monoid::And | Monoid::Or, elem) => elem == Elem::BOOL,
        (Monoid::Add | Monoid::Mul | Monoid::Min | Monoid::Max, Elem::Scalar(_)) => {
            elem != Elem::BOOL
        }
        (
            Monoid::Add | Monoid::Mul | Monoid::Min | Monoid::Max,
            Elem::Index(_) | Elem::Bound(_),
        ) => false,
    };
    if fits {
        Ok(())
    } else {
        Err(format!(
            "`{}` does not combine values of this type",
            monoid.name()
        ))
    }
}

fn truth<S: Stage>(program: &Program<S>, value: ValueId) -> Result<(), String> {
    ensure(
        program.elem(value) == Elem::BOOL,
        "the condition is not a truth value",
    )
}

/// A message shows as many values as stand beside it.
fn shows<S: Stage>(
    program: &Program<S>,
    message: &Message,
    shown: &[ValueId],
) -> Result<(), String> {
    let formats: Vec<Format> = message.formats().collect();
    ensure(
        formats.len() == shown.len(),
        "the message shows another number of values",
    )?;
    let truth = |value: ValueId| program.elem(value) == Elem::BOOL;
    let exponents = formats.iter().zip(shown);
    let mut exponents = exponents.filter(|(format, _)| format.style == Style::Exponent);
    ensure(
        !exponents.any(|(_, &value)| truth(value)),
        "a truth value has no exponent",
    )
}

fn index_of<S: Stage>(program: &Program<S>, value: ValueId, extent: Extent) -> Result<(), String> {
    ensure(
        program.elem(value) == Elem::Index(extent),
        "an index is not of its axis' extent",
    )
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(message.to_string())
    }
}

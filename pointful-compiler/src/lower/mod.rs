//! Inference and lowering: from the Surface tree to Point.
//!
//! Two walks. [`infer`] resolves names and finds the types of one function at a time, callees
//! first, with generics rigid. [`elab`] then runs the root's body at compile time: tuples, structs,
//! closures, functions, extents and products of index sets are values of the compiler, calls and
//! closures are inlined, and what is left are first-order statements on scalars and tables.

mod effects;
mod elab;
mod frames;
mod hir;
mod infer;
mod lengths;
mod solve;
pub mod source;
mod types;
mod words;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use self::infer::Shared;
pub(crate) use self::lengths::of_axis as length_of_axis;
use crate::diag::{Diagnostic, Diagnostics};
use crate::interface::{Interface, Taken};
use crate::ir::stages::point::Point;
use crate::ir::{Program, Scalar};
use crate::places::Places;
use crate::syntax::tree::{Function, GenericKind, Linked};

/// Whether the language has a method of that name.
pub(crate) fn is_method(name: &str) -> bool {
    words::Method::from_name(name).is_some()
}

/// The names of all methods.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn methods() -> impl Iterator<Item = &'static str> {
    let of_vectors = infer::VECTOR_METHODS.iter().map(|(name, ..)| *name);
    words::Method::names().chain(of_vectors)
}

/// What may stand behind `Accum::`.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn accumulators() -> impl Iterator<Item = &'static str> {
    infer::ACCUMULATORS.iter().map(|(name, _)| *name)
}

/// A function in Point.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program<Point>,
    /// How it corresponds to the signature.
    pub interface: Interface,
    /// Places in the source by [`SpanId`](crate::ir::SpanId).
    pub places: Places,
    /// The constants that the root's own body names, for its carrier.
    pub constants: Vec<Constant>,
    /// Whether it has operators of its author's that [`lower_debug`] would have it try.
    pub has_debug_form: bool,
}

/// A constant of the root's module, or a part of one that is a number, a member or an array.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its path with the fields on the way to it.
    pub key: String,
    /// An expression for it where the root stands.
    pub value: TokenStream,
    /// What it is taken for, as inferred from its use.
    pub taken: Taken,
}

/// Lowers a linked function. `floats` says for each of its generics which float it is, if it is
/// one; see [`float_choices`].
pub fn lower(linked: &Linked, floats: &[Option<Scalar>]) -> Result<Lowered, Vec<Diagnostic>> {
    let shared = infer_all(linked)?;
    elab::program(shared, floats, false)
}

/// As [`lower`], with a program that tries on a few elements whether its author's operators are
/// associative, and panics if they are not.
///
/// # Errors
/// What is wrong with the source.
pub fn lower_debug(linked: &Linked, floats: &[Option<Scalar>]) -> Result<Lowered, Vec<Diagnostic>> {
    let shared = infer_all(linked)?;
    elab::program(shared, floats, true)
}

/// What the generics of a function may be that stand for floats: every combination of `f64` and
/// `f32`. All are `f64` in the first.
pub fn float_choices(function: &Function) -> Vec<Vec<Option<Scalar>>> {
    let mut choices = vec![Vec::new()];
    for generic in &function.generics {
        let each: &[Option<Scalar>] = match generic.kind {
            GenericKind::Float => &[Some(Scalar::F64), Some(Scalar::F32)],
            GenericKind::IndexSet | GenericKind::Const | GenericKind::Function(..) => &[None],
        };
        let extend = |choice: &Vec<Option<Scalar>>| {
            each.iter()
                .map(|one| [choice.as_slice(), &[*one]].concat())
                .collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(extend).collect();
    }
    choices
}

/// Only infers types: for a function that cannot be compiled alone because it takes functions or
/// generic floats.
pub fn check(linked: &Linked) -> Result<(), Vec<Diagnostic>> {
    infer_all(linked).map(|_| ())
}

/// The constants that the root names, if it cannot be compiled alone.
///
/// # Errors
/// What is wrong with the source.
pub fn constants(linked: &Linked) -> Result<Vec<Constant>, Vec<Diagnostic>> {
    let shared = infer_all(linked)?;
    let choices = float_choices(&linked.root);
    elab::constants(shared, &choices[0])
}

fn infer_all(linked: &Linked) -> Result<Shared<'_>, Vec<Diagnostic>> {
    let mut shared = Shared {
        linked,
        position: Vec::new(),
        done: Vec::new(),
        equal: Vec::new(),
        places: Places::default(),
        diags: Diagnostics::default(),
    };
    for callee in &linked.callees {
        let function = infer::function(&mut shared, &callee.function);
        shared.position.push((callee.id, shared.done.len()));
        shared.done.push(function);
    }
    let root = infer::function(&mut shared, &linked.root);
    shared.done.push(root);
    let diags = std::mem::take(&mut shared.diags);
    diags.gate(shared)
}

//! Types of the operations of imperative stages.

use smallvec::smallvec;

use super::{Types, Typing, ensure, index_of, literal, monoid_takes, prim, shows, truth};
use crate::ir::stages::imperative::{Along, Fold, Imperative, ImperativeOp, Mask, Par};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Elem, Extent, Program, Scalar, Type, ValueId};

/// An imperative stage whose own operations are typed.
pub trait TypeOwn: Imperative {
    /// What [`Typing::types`] is for an operation of its own.
    fn types_own(program: &Program<Self>, own: &Self::Own) -> Result<Types<Extent>, String>;
}

impl TypeOwn for Kernels {
    fn types_own(program: &Program<Self>, own: &Par) -> Result<Types<Extent>, String> {
        par(program, own)?;
        Ok(Types::new())
    }
}

impl<S: TypeOwn> Typing for S {
    const WRITES_DIMS: bool = false;

    fn types(
        program: &Program<Self>,
        op: &ImperativeOp<Self>,
        declared: Option<Type<Extent>>,
    ) -> Result<Types<Extent>, String> {
        let ty = |value: ValueId| program.ty(value).clone();
        let scalar =
            |value: ValueId| ensure(program.ty(value).rank() == 0, "an operand is not a scalar");
        let nothing = Ok(Types::new());
        match op {
            ImperativeOp::Const(lit) => Ok(smallvec![Type::scalar(literal(*lit)?)]),
            ImperativeOp::Size(_) => Ok(smallvec![Type::scalar(Elem::USIZE)]),
            ImperativeOp::Prim(p, operands) => {
                operands.iter().try_for_each(|&v| scalar(v))?;
                Ok(smallvec![Type::scalar(prim(program, *p, operands)?)])
            }
            ImperativeOp::Select(cond, then, otherwise) => {
                [*cond, *then, *otherwise]
                    .into_iter()
                    .try_for_each(scalar)?;
                truth(program, *cond)?;
                ensure(
                    ty(*then) == ty(*otherwise),
                    "the two sides are of different types",
                )?;
                Ok(smallvec![ty(*then)])
            }
            ImperativeOp::Alloc { fill } => {
                let ty = declared.ok_or("`alloc` states its type")?;
                ensure(ty.rank() > 0, "a buffer has an axis")?;
                if let Some(fill) = fill {
                    ensure(
                        fill.scalar() == ty.elem.repr(),
                        "the buffer is filled with another type",
                    )?;
                }
                Ok(smallvec![ty])
            }
            ImperativeOp::Copy(buffer) => {
                ensure(program.ty(*buffer).rank() > 0, "only buffers are copied")?;
                Ok(smallvec![ty(*buffer)])
            }
            ImperativeOp::Load { buffer, indices } => {
                Ok(smallvec![element(program, *buffer, indices)?])
            }
            ImperativeOp::Store {
                buffer,
                indices,
                value,
            } => {
                let element = element(program, *buffer, indices)?;
                ensure(
                    element == ty(*value),
                    "the value is not of the type of its place",
                )?;
                nothing
            }
            ImperativeOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                let element = element(program, *place, indices)?;
                monoid_takes(*monoid, element.elem)?;
                ensure(
                    element == ty(*value),
                    "the value is not of the type of its place",
                )?;
                nothing
            }
            ImperativeOp::Var(value) => {
                scalar(*value)?;
                Ok(smallvec![ty(*value)])
            }
            ImperativeOp::Get(place) => {
                scalar(*place)?;
                Ok(smallvec![ty(*place)])
            }
            ImperativeOp::Set { place, value } => {
                scalar(*value)?;
                ensure(
                    ty(*place) == ty(*value),
                    "the value is not of the type of its place",
                )?;
                nothing
            }
            ImperativeOp::Swap(a, b) => {
                ensure(
                    program.ty(*a).rank() > 0 && ty(*a) == ty(*b),
                    "only buffers of one type are swapped",
                )?;
                nothing
            }
            ImperativeOp::Contract {
                out,
                factors,
                along,
                add,
                absorb,
                mask,
            } => {
                let buffers = [*out, factors[0], factors[1]];
                ensure(
                    ty(*out).elem.is_float()
                        && buffers.iter().all(|&b| ty(b).elem == ty(*out).elem),
                    "floats of one type are contracted",
                )?;
                let mut extents: Vec<(usize, Extent, usize)> = Vec::new();
                for (&buffer, along) in buffers.iter().zip(along) {
                    ensure(
                        ty(buffer).rank() == along.len(),
                        "there is not one number or index for each axis",
                    )?;
                    for (&along, &extent) in along.iter().zip(&ty(buffer).dims) {
                        let axis = match along {
                            Along::Axis(axis) => axis,
                            Along::At(index) => {
                                index_of(program, index, extent)?;
                                continue;
                            }
                        };
                        match extents.iter_mut().find(|(known, ..)| *known == axis) {
                            Some((_, known, times)) => {
                                ensure(*known == extent, "an axis has two extents")?;
                                *times += 1;
                            }
                            None => extents.push((axis, extent, 1)),
                        }
                    }
                }
                ensure(
                    extents.iter().all(|(.., times)| matches!(times, 2 | 3)),
                    "an axis is in one buffer alone",
                )?;
                if let Some(Mask { buffer, along: own }) = mask {
                    ensure(
                        !add && !absorb,
                        "only new sums of plain products have a mask",
                    )?;
                    ensure(
                        ty(*buffer).elem == Elem::Scalar(Scalar::Bool)
                            && ty(*buffer).rank() == own.len(),
                        "a mask is truth values, with a number or an index for each axis",
                    )?;
                    for (place, &extent) in own.iter().zip(&ty(*buffer).dims) {
                        match place {
                            Along::At(index) => index_of(program, *index, extent)?,
                            Along::Axis(axis) => {
                                let of_left = along[1].contains(place);
                                let same = extents
                                    .iter()
                                    .any(|(known, e, _)| known == axis && *e == extent);
                                ensure(
                                    of_left && same,
                                    "a mask has no axes but the left factor's",
                                )?;
                            }
                        }
                    }
                }
                nothing
            }
            ImperativeOp::For { extent, body, .. } => {
                let [index] = body.params[..] else {
                    return Err("a loop binds one index".into());
                };
                index_of(program, index, *extent)?;
                gives_nothing(body)?;
                nothing
            }
            ImperativeOp::While { cond, body } => {
                let [test] = cond.results[..] else {
                    return Err("the condition is not one value".into());
                };
                scalar(test)?;
                truth(program, test)?;
                gives_nothing(body)?;
                nothing
            }
            ImperativeOp::If {
                cond,
                then,
                otherwise,
            } => {
                scalar(*cond)?;
                truth(program, *cond)?;
                gives_nothing(then)?;
                gives_nothing(otherwise)?;
                nothing
            }
            ImperativeOp::Assert {
                cond,
                message,
                shown,
            } => {
                scalar(*cond)?;
                truth(program, *cond)?;
                shown.iter().try_for_each(|&value| scalar(value))?;
                shows(program, message, shown)?;
                nothing
            }
            ImperativeOp::Own(own) => S::types_own(program, own),
        }
    }
}

pub(super) fn gives_nothing<S: Imperative>(block: &Block<S>) -> Result<(), String> {
    ensure(block.results.is_empty(), "the block gives values")
}

/// What the block of a parallel nest over these extents binds.
fn par_params<S: Imperative>(extents: &[Extent]) -> Vec<Elem> {
    match extents.split_last() {
        Some((&row, outer)) if S::ROWS => {
            let outer = outer.iter().map(|&extent| Elem::Index(extent));
            outer.chain([Elem::Bound(row), Elem::Bound(row)]).collect()
        }
        _ => extents.iter().map(|&extent| Elem::Index(extent)).collect(),
    }
}

/// A parallel nest.
pub(super) fn par<S: Imperative>(program: &Program<S>, par: &Par<S>) -> Result<(), String> {
    let Par {
        extents,
        accs,
        folds,
        body,
        ..
    } = par;
    let elems = par_params::<S>(extents);
    ensure(
        body.params.len() == elems.len(),
        "there is not one index for each extent",
    )?;
    for (&param, &elem) in body.params.iter().zip(&elems) {
        ensure(
            *program.ty(param) == Type::scalar(elem),
            "an index is not of its axis' extent",
        )?;
    }
    gives_nothing(body)?;
    for acc in accs {
        monoid_takes(acc.monoid, program.elem(acc.target))?;
        ensure(
            program.ty(acc.target) == program.ty(acc.private),
            "a private copy is of another type",
        )?;
    }
    folds.iter().try_for_each(|one| fold(program, one))
}

/// What is folded: copies like their targets, which have the same axes, and a block that makes one
/// of two elements of each.
fn fold<S: Imperative>(program: &Program<S>, fold: &Fold<S>) -> Result<(), String> {
    let Fold {
        targets,
        privates,
        first,
        join,
    } = fold;
    let Some(&one) = targets.first() else {
        return Err("nothing is folded".into());
    };
    ensure(
        privates.len() == targets.len() && first.len() == targets.len(),
        "there is not one private copy for each target, and one first value",
    )?;
    let dims = &program.ty(one).dims;
    let places = || targets.iter().zip(privates).zip(first);
    for ((&target, &private), lit) in places() {
        ensure(
            program.ty(target) == program.ty(private),
            "a private copy is of another type",
        )?;
        ensure(
            program.ty(target).dims == *dims,
            "what is folded has other axes than the first",
        )?;
        ensure(
            lit.scalar() == program.elem(target).repr(),
            "a private copy begins as a value of another type",
        )?;
    }
    let elements = [targets.as_slice(), targets].concat();
    ensure(
        join.params.len() == dims.len() + elements.len() && join.results.len() == targets.len(),
        "the join takes or gives another number of values",
    )?;
    let (indices, params) = join.params.split_at(dims.len());
    for (&index, &extent) in indices.iter().zip(dims) {
        index_of(program, index, extent)?;
    }
    let given = params.iter().chain(&join.results);
    for (&value, &target) in given.zip(elements.iter().chain(targets)) {
        ensure(
            *program.ty(value) == Type::scalar(program.elem(target)),
            "the join takes or gives a value of another type",
        )?;
    }
    Ok(())
}

/// The type of an element of a buffer, or of what a `var` holds.
fn element<S: Imperative>(
    program: &Program<S>,
    place: ValueId,
    indices: &[ValueId],
) -> Result<Type<Extent>, String> {
    let ty = program.ty(place);
    ensure(
        ty.dims.len() == indices.len(),
        "there is not one index for each axis",
    )?;
    for (&index, &extent) in indices.iter().zip(&ty.dims) {
        ensure(program.ty(index).rank() == 0, "an index is not a scalar")?;
        index_of(program, index, extent)?;
    }
    Ok(Type::scalar(ty.elem))
}

//! Types of the operations of Kernels.

use super::{Typing, ensure, index_of, literal, monoid_takes, prim, shows, truth};
use crate::ir::stages::kernels::{Along, Fold, KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Program, Type, ValueId};

impl Typing for Kernels {
    const WRITES_DIMS: bool = false;

    fn types(
        program: &Program<Self>,
        op: &KernelOp,
        declared: Option<Type<Extent>>,
    ) -> Result<Vec<Type<Extent>>, String> {
        let ty = |value: ValueId| program.ty(value).clone();
        let scalar =
            |value: ValueId| ensure(program.ty(value).rank() == 0, "an operand is not a scalar");
        let nothing = Ok(Vec::new());
        match op {
            KernelOp::Const(lit) => Ok(vec![Type::scalar(literal(*lit)?)]),
            KernelOp::Size(_) => Ok(vec![Type::scalar(Elem::USIZE)]),
            KernelOp::Prim(p, operands) => {
                operands.iter().try_for_each(|&v| scalar(v))?;
                Ok(vec![Type::scalar(prim(program, *p, operands)?)])
            }
            KernelOp::Select(cond, then, otherwise) => {
                [*cond, *then, *otherwise]
                    .into_iter()
                    .try_for_each(scalar)?;
                truth(program, *cond)?;
                ensure(
                    ty(*then) == ty(*otherwise),
                    "the two sides are of different types",
                )?;
                Ok(vec![ty(*then)])
            }
            KernelOp::Alloc { fill } => {
                let ty = declared.ok_or("`alloc` states its type")?;
                ensure(ty.rank() > 0, "a buffer has an axis")?;
                if let Some(fill) = fill {
                    ensure(
                        fill.scalar() == ty.elem.repr(),
                        "the buffer is filled with another type",
                    )?;
                }
                Ok(vec![ty])
            }
            KernelOp::Copy(buffer) => {
                ensure(program.ty(*buffer).rank() > 0, "only buffers are copied")?;
                Ok(vec![ty(*buffer)])
            }
            KernelOp::Load { buffer, indices } => Ok(vec![element(program, *buffer, indices)?]),
            KernelOp::Store {
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
            KernelOp::Combine {
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
            KernelOp::Var(value) => {
                scalar(*value)?;
                Ok(vec![ty(*value)])
            }
            KernelOp::Get(place) => {
                scalar(*place)?;
                Ok(vec![ty(*place)])
            }
            KernelOp::Set { place, value } => {
                scalar(*value)?;
                ensure(
                    ty(*place) == ty(*value),
                    "the value is not of the type of its place",
                )?;
                nothing
            }
            KernelOp::Swap(a, b) => {
                ensure(
                    program.ty(*a).rank() > 0 && ty(*a) == ty(*b),
                    "only buffers of one type are swapped",
                )?;
                nothing
            }
            KernelOp::Contract {
                out,
                factors,
                along,
                ..
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
                nothing
            }
            KernelOp::For { extent, body, .. } => {
                let [index] = body.params[..] else {
                    return Err("a loop binds one index".into());
                };
                index_of(program, index, *extent)?;
                gives_nothing(body)?;
                nothing
            }
            KernelOp::Par {
                extents,
                accs,
                folds,
                body,
                ..
            } => {
                ensure(
                    body.params.len() == extents.len(),
                    "there is not one index for each extent",
                )?;
                for (&index, &extent) in body.params.iter().zip(extents) {
                    index_of(program, index, extent)?;
                }
                gives_nothing(body)?;
                for acc in accs {
                    monoid_takes(acc.monoid, program.elem(acc.target))?;
                    ensure(
                        ty(acc.target) == ty(acc.private),
                        "a private copy is of another type",
                    )?;
                }
                for one in folds {
                    fold(program, one)?;
                }
                nothing
            }
            KernelOp::While { cond, body } => {
                let [test] = cond.results[..] else {
                    return Err("the condition is not one value".into());
                };
                scalar(test)?;
                truth(program, test)?;
                gives_nothing(body)?;
                nothing
            }
            KernelOp::If {
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
            KernelOp::Assert {
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
        }
    }
}

fn gives_nothing(block: &Block<Kernels>) -> Result<(), String> {
    ensure(block.results.is_empty(), "the block gives values")
}

/// What is folded: copies like their targets, which have the same axes, and a block that makes one of two elements of each.
fn fold(program: &Program<Kernels>, fold: &Fold) -> Result<(), String> {
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
fn element(
    program: &Program<Kernels>,
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

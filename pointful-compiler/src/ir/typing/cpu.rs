//! Types of the operations that only Cpu has.

use smallvec::smallvec;

use super::imperative::{gives_nothing, par};
use super::{TypeOwn, Types, ensure, index_of, monoid_takes};
use crate::ir::stages::cpu::{Cpu, Own, Tile};
use crate::ir::{Block, Elem, Extent, Monoid, Program, Type, ValueId};

impl TypeOwn for Cpu {
    fn types_own(program: &Program<Self>, own: &Own) -> Result<Types<Extent>, String> {
        match own {
            Own::Par(nest) => {
                par(program, nest)?;
                Ok(Types::new())
            }
            Own::Tile(tile) => {
                steps(program, tile)?;
                Ok(Types::new())
            }
            Own::Transpose { extents, body } => {
                let [row, column] = body.params[..] else {
                    return Err("a transpose binds two indices".into());
                };
                index_of(program, row, extents[0])?;
                index_of(program, column, extents[1])?;
                gives_nothing(body)?;
                Ok(Types::new())
            }
            Own::Multiversion(body) => {
                ensure(body.params.is_empty(), "it goes through nothing")?;
                gives_nothing(body)?;
                Ok(Types::new())
            }
            Own::Bound { extent, terms, .. } => {
                let whole = |elem: Elem| match elem {
                    Elem::Scalar(scalar) => scalar.is_int(),
                    Elem::Index(_) | Elem::Bound(_) => true,
                };
                ensure(
                    terms.iter().all(|&(term, _)| {
                        program.ty(term).rank() == 0 && whole(program.elem(term))
                    }),
                    "a term is not an integer",
                )?;
                Ok(smallvec![Type::scalar(Elem::Bound(*extent))])
            }
            Own::Range { from, to, body, .. } => {
                range(program, *from, *to, body)?;
                Ok(Types::new())
            }
            Own::Strips {
                width,
                from,
                to,
                body,
                ..
            } => {
                ensure(*width > 0, "a strip has a lane")?;
                let extent = range(program, *from, *to, body)?;
                Ok(smallvec![Type::scalar(Elem::Bound(extent))])
            }
            Own::Lanes { strip, body, .. } => {
                let [lane, index] = body.params[..] else {
                    return Err("a lane has a number and an index".into());
                };
                ensure(
                    matches!(program.elem(lane), Elem::Index(Extent::Const(_))),
                    "the number of a lane is an index of a constant extent",
                )?;
                ensure(
                    program.ty(index) == program.ty(*strip),
                    "the index of a lane is of another axis than its strip",
                )?;
                gives_nothing(body)?;
                Ok(Types::new())
            }
            Own::Fold {
                monoid,
                place,
                lanes,
            } => {
                let ty = program.ty(*lanes);
                ensure(
                    matches!(ty.dims[..], [Extent::Const(1..)]),
                    "what is folded is an array of a constant length",
                )?;
                monoid_takes(*monoid, ty.elem)?;
                ensure(
                    *program.ty(*place) == Type::scalar(ty.elem),
                    "the value is not of the type of its place",
                )?;
                Ok(Types::new())
            }
            Own::ArgCombine {
                monoid,
                best,
                at,
                lane,
                value,
                place,
            } => {
                search(program, *monoid, [*best, *at])?;
                let [extent] = program.ty(*best).dims[..] else {
                    return Err("what is looked for is an array of one axis".into());
                };
                index_of(program, *lane, extent)?;
                ensure(
                    *program.ty(*value) == Type::scalar(program.elem(*best))
                        && *program.ty(*place) == Type::scalar(Elem::USIZE),
                    "an element and its place are not of the types of their arrays",
                )?;
                Ok(Types::new())
            }
            Own::ArgFold {
                monoid,
                best,
                at,
                lanes,
            } => {
                search(program, *monoid, *lanes)?;
                ensure(
                    *program.ty(*best) == Type::scalar(program.elem(lanes[0]))
                        && *program.ty(*at) == Type::scalar(Elem::USIZE),
                    "an element and its place are not of the types of their arrays",
                )?;
                Ok(Types::new())
            }
        }
    }
}

/// Steps bind their number, and buffers that change places are of one type.
fn steps(program: &Program<Cpu>, tile: &Tile) -> Result<(), String> {
    match (&tile.extents[..], &tile.body.params[..]) {
        ([_], []) => {}
        (&[_, steps], &[step]) => index_of(program, step, steps)?,
        _ => return Err("steps bind their number".into()),
    }
    gives_nothing(&tile.body)?;
    ensure(
        (tile.writes.iter()).all(|&(buffer, axis)| axis < program.ty(buffer).rank()),
        "rows go along an axis of what is written",
    )?;
    ensure(
        (tile.swaps.iter()).all(|&(a, b)| program.ty(a) == program.ty(b)),
        "buffers of two types change places",
    )
}

/// The axis of a loop from one bound to another, whose block binds an index of it.
fn range(
    program: &Program<Cpu>,
    from: ValueId,
    to: ValueId,
    body: &Block<Cpu>,
) -> Result<Extent, String> {
    let Elem::Bound(extent) = program.elem(from) else {
        return Err("a range begins at a bound".into());
    };
    ensure(
        program.ty(from) == program.ty(to),
        "a range ends at a bound of the axis that it begins on",
    )?;
    let [index] = body.params[..] else {
        return Err("a loop binds one index".into());
    };
    index_of(program, index, extent)?;
    gives_nothing(body)?;
    Ok(extent)
}

/// The arrays of a search: elements and places, of the same constant length.
fn search(program: &Program<Cpu>, monoid: Monoid, [best, at]: [ValueId; 2]) -> Result<(), String> {
    let (best, at) = (program.ty(best), program.ty(at));
    ensure(
        matches!(best.dims[..], [Extent::Const(1..)]) && best.dims == at.dims,
        "what is looked for is in two arrays of the same constant length",
    )?;
    ensure(
        matches!(monoid, Monoid::Min | Monoid::Max),
        "the least or the greatest is looked for",
    )?;
    ensure(at.elem == Elem::USIZE, "a place is a number")?;
    monoid_takes(monoid, best.elem)
}

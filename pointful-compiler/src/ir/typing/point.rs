//! Types of the operations of Point.

use smallvec::smallvec;

use super::{Types, Typing, ensure, index_of, literal, monoid_takes, prim, shows, truth};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Mode, Program, Type, ValueId};

type Typed = Result<Types<Extent>, String>;

impl Typing for Point {
    const WRITES_DIMS: bool = false;

    fn types(program: &Program<Self>, op: &PointOp, _: Option<Type<Extent>>) -> Typed {
        let ty = |value: ValueId| program.ty(value).clone();
        let all = |values: &[ValueId]| values.iter().map(|&v| ty(v)).collect::<Types<Extent>>();
        let under = |extent: Extent, inner: Type<Extent>| Type {
            elem: inner.elem,
            dims: [vec![extent], inner.dims].concat(),
        };
        let scalar =
            |value: ValueId| ensure(program.ty(value).rank() == 0, "an operand is not a scalar");
        match op {
            PointOp::Const(lit) => Ok(smallvec![Type::scalar(literal(*lit)?)]),
            PointOp::Size(_) => Ok(smallvec![Type::scalar(Elem::USIZE)]),
            PointOp::Prim(p, operands) => {
                operands.iter().try_for_each(|&v| scalar(v))?;
                Ok(smallvec![Type::scalar(prim(program, *p, operands)?)])
            }
            PointOp::Index { table, indices } => Ok(smallvec![selected(program, *table, indices)?]),
            PointOp::Array(values) => {
                let first = ty(*values.first().ok_or("an array of nothing")?);
                ensure(
                    values.iter().all(|&v| *program.ty(v) == first),
                    "the elements are of different types",
                )?;
                Ok(smallvec![under(Extent::Const(values.len() as u64), first)])
            }
            PointOp::For { extent, body } => {
                params(program, body, &[Type::scalar(Elem::Index(*extent))])?;
                Ok(body
                    .results
                    .iter()
                    .map(|&v| under(*extent, ty(v)))
                    .collect())
            }
            PointOp::Reduce { monoid, table } => {
                let table = ty(*table);
                monoid_takes(*monoid, table.elem)?;
                ensure(table.rank() > 0, "a reduction needs an axis")?;
                Ok(smallvec![Type {
                    elem: table.elem,
                    dims: table.dims[1..].to_vec(),
                }])
            }
            PointOp::ArgReduce { table, .. } => {
                let table = ty(*table);
                ensure(
                    matches!(table.elem, Elem::Scalar(_)) && table.elem != Elem::BOOL,
                    "the elements are not numbers",
                )?;
                let [extent] = table.dims[..] else {
                    return Err("the table has not one axis".into());
                };
                Ok(smallvec![Type::scalar(Elem::Index(extent))])
            }
            PointOp::Fold { init, tables, op } => {
                along(program, init, tables, op)?;
                Ok(all(init))
            }
            PointOp::Scan { init, tables, op } => {
                along(program, init, tables, op)?;
                Ok(all(tables))
            }
            PointOp::Loop {
                extent, init, body, ..
            } => {
                let states = all(init);
                params(
                    program,
                    body,
                    &[
                        smallvec![Type::scalar(Elem::Index(*extent))],
                        states.clone(),
                    ]
                    .concat(),
                )?;
                let (next, collected) = body
                    .results
                    .split_at_checked(init.len())
                    .ok_or("the body yields too few states")?;
                ensure(all(next) == states, "the next states are of other types")?;
                Ok(states
                    .into_iter()
                    .chain(collected.iter().map(|&v| under(*extent, ty(v))))
                    .collect())
            }
            PointOp::While {
                init,
                cond,
                body,
                bound,
            } => {
                let states = all(init);
                params(program, cond, &states)?;
                params(program, body, &states)?;
                let [test] = cond.results[..] else {
                    return Err("the condition is not one value".into());
                };
                truth(program, test)?;
                scalar(test)?;
                ensure(
                    all(&body.results) == states,
                    "the next states are of other types",
                )?;
                if let Some(bound) = bound {
                    ensure(
                        *program.ty(*bound) == Type::scalar(Elem::USIZE),
                        "the bound is not a `usize`",
                    )?;
                }
                Ok(states)
            }
            PointOp::If {
                cond,
                then,
                otherwise,
            } => {
                scalar(*cond)?;
                truth(program, *cond)?;
                params(program, then, &[])?;
                params(program, otherwise, &[])?;
                let types = all(&then.results);
                ensure(
                    all(&otherwise.results) == types,
                    "the branches give values of different types",
                )?;
                Ok(types)
            }
            PointOp::Derive {
                mode,
                args,
                seeds,
                body,
            } => {
                params(program, body, &all(args))?;
                let floats = program.floats(&body.results);
                let (of, given) = match mode {
                    Mode::Tangent => (&body.params, floats),
                    Mode::Cotangent => (&floats, body.params.clone()),
                };
                ensure(
                    all(seeds) == all(of),
                    "the seeds are not of the types of what they belong to",
                )?;
                ensure(
                    args.iter().all(|&arg| program.elem(arg).is_float()),
                    "what is differentiated is not a float",
                )?;
                Ok([all(&body.results), all(&given)].concat().into())
            }
            PointOp::Rule {
                mode,
                args,
                body,
                rule,
            } => {
                params(program, body, &all(args))?;
                let floats = program.floats(&body.results);
                let (seeds, given) = match mode {
                    Mode::Tangent => (args, &floats),
                    Mode::Cotangent => (&floats, args),
                };
                params(program, rule, &[all(args), all(seeds)].concat())?;
                ensure(
                    all(&rule.results) == all(given),
                    "the rule does not give one derivative for each value that has one",
                )?;
                Ok(all(&body.results))
            }
            PointOp::Accum { monoid, base } => {
                monoid_takes(*monoid, program.elem(*base))?;
                Ok(smallvec![ty(*base)])
            }
            PointOp::Accumulate {
                acc,
                indices,
                value,
            } => {
                let place = selected(program, *acc, indices)?;
                ensure(
                    place == ty(*value),
                    "the value is not of the type of its place",
                )?;
                Ok(Types::new())
            }
            PointOp::Get { acc } => Ok(smallvec![ty(*acc)]),
            PointOp::Assert {
                cond,
                message,
                shown,
            } => {
                scalar(*cond)?;
                truth(program, *cond)?;
                shown.iter().try_for_each(|&value| scalar(value))?;
                shows(program, message, shown)?;
                Ok(Types::new())
            }
            PointOp::Update {
                table,
                indices,
                value,
            } => {
                let place = selected(program, *table, indices)?;
                ensure(
                    place == ty(*value),
                    "the value is not of the type of its place",
                )?;
                Ok(smallvec![ty(*table)])
            }
        }
    }
}

/// The type of what leading indices select.
fn selected(
    program: &Program<Point>,
    table: ValueId,
    indices: &[ValueId],
) -> Result<Type<Extent>, String> {
    let ty = program.ty(table);
    let (leading, rest) = ty
        .dims
        .split_at_checked(indices.len())
        .ok_or("there are more indices than axes")?;
    for (&index, &extent) in indices.iter().zip(leading) {
        ensure(program.ty(index).rank() == 0, "an index is not a scalar")?;
        index_of(program, index, extent)?;
    }
    Ok(Type {
        elem: ty.elem,
        dims: rest.to_vec(),
    })
}

fn params(
    program: &Program<Point>,
    block: &Block<Point>,
    types: &[Type<Extent>],
) -> Result<(), String> {
    let found: Vec<_> = block
        .params
        .iter()
        .map(|&v| program.ty(v).clone())
        .collect();
    ensure(
        found == types,
        "the block's parameters are not of the types that it is given",
    )
}

fn along(
    program: &Program<Point>,
    init: &[ValueId],
    tables: &[ValueId],
    op: &Block<Point>,
) -> Result<(), String> {
    let element: Vec<_> = init.iter().map(|&v| program.ty(v).clone()).collect();
    params(program, op, &[element.clone(), element.clone()].concat())?;
    let results: Vec<_> = op.results.iter().map(|&v| program.ty(v).clone()).collect();
    ensure(
        results == element,
        "the operator gives values of other types",
    )?;
    ensure(
        tables.len() == init.len(),
        "there is not one table for each element of the tuple",
    )?;
    let mut extents = Vec::new();
    for (&table, element) in tables.iter().zip(&element) {
        let ty = program.ty(table);
        let (extent, inner) = ty.dims.split_first().ok_or("a table has no axis")?;
        ensure(
            ty.elem == element.elem && inner == element.dims,
            "a table does not hold such elements",
        )?;
        extents.push(*extent);
    }
    ensure(
        extents.windows(2).all(|pair| pair[0] == pair[1]),
        "the tables have different leading extents",
    )
}

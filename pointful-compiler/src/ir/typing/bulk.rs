//! Types of the operations of Bulk: elements, and which axes a result has (in an order that means
//! nothing).
//!
//! Axes are those said at the operation, and those of the extents that it makes, reduces or asks
//! for. A statement's guard adds its own; that is the verifier's to know.

use smallvec::smallvec;

use super::{Types, Typing, ensure, index_of, literal, monoid_takes, prim, shows, truth};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Elem, Extent, Mode, Program, Type, ValueId};

impl Typing for Bulk {
    const WRITES_DIMS: bool = true;

    fn types(
        program: &Program<Self>,
        op: &BulkOp,
        _: Option<Type<AxisId>>,
    ) -> Result<Types<AxisId>, String> {
        let elem = |value: ValueId| program.elem(value);
        let mut axes = Axes {
            program,
            list: Vec::new(),
        };
        let extent = |axis: AxisId| program.decls.axes[axis.0 as usize].extent;
        match op {
            BulkOp::Const(lit) => Ok(smallvec![Type::scalar(literal(*lit)?)]),
            BulkOp::Size(extent) => {
                axes.extent(*extent);
                Ok(axes.one(Elem::USIZE))
            }
            BulkOp::Iota(axis) => {
                axes.make(*axis);
                Ok(axes.one(Elem::Index(extent(*axis))))
            }
            BulkOp::Map(p, operands) => {
                axes.values(operands);
                if let Some(extent) = p.extent() {
                    axes.extent(extent);
                }
                Ok(axes.one(prim(program, *p, operands)?))
            }
            BulkOp::Select(cond, then, otherwise) => {
                truth(program, *cond)?;
                ensure(
                    elem(*then) == elem(*otherwise),
                    "the two sides are of different types",
                )?;
                axes.values(&[*cond, *then, *otherwise]);
                Ok(axes.one(elem(*then)))
            }
            BulkOp::Gather { table, at } => {
                places(program, at)?;
                let moved: Vec<AxisId> = at.iter().map(|&(axis, _)| axis).collect();
                let kept = program
                    .ty(*table)
                    .dims
                    .iter()
                    .copied()
                    .filter(|axis| !moved.contains(axis));
                axes.list(kept);
                at.iter().for_each(|&(_, index)| axes.values(&[index]));
                Ok(axes.one(elem(*table)))
            }
            BulkOp::Pack { axis, values } => {
                ensure(
                    extent(*axis) == Extent::Const(values.len() as u64),
                    "the axis is not as long as there are values",
                )?;
                let first = elem(*values.first().ok_or("nothing is packed")?);
                ensure(
                    values.iter().all(|&v| elem(v) == first),
                    "the values are of different types",
                )?;
                axes.values(values);
                axes.make(*axis);
                Ok(axes.one(first))
            }
            BulkOp::Reduce {
                combine,
                axes: along,
                operands,
            } => {
                axes.values(operands);
                for &axis in along {
                    axes.extent(extent(axis));
                }
                axes.list.retain(|axis| !along.contains(axis));
                reduce(program, combine, along, operands, &axes)
            }
            BulkOp::Scan {
                init,
                axis,
                reverse: _,
                full,
                operands,
                op,
            } => {
                operator(program, init, operands, op)?;
                let each = tuple(program, op, |element| {
                    element.make(*axis);
                });
                Ok(match full {
                    true => [tuple(program, op, |_| {}), each.clone(), each]
                        .concat()
                        .into(),
                    false => each,
                })
            }
            BulkOp::Scatter {
                monoid,
                base,
                at,
                over,
                value,
                mask,
            } => {
                monoid_takes(*monoid, elem(*base))?;
                places(program, at)?;
                ensure(
                    elem(*base) == elem(*value),
                    "the value is not of the type of its place",
                )?;
                at.iter().for_each(|&(_, index)| axes.values(&[index]));
                axes.values(&[*value]);
                if let Some(mask) = mask {
                    truth(program, *mask)?;
                    axes.values(&[*mask]);
                }
                over.iter().for_each(|&axis| axes.extent(extent(axis)));
                axes.list.retain(|axis| !over.contains(axis));
                axes.values(&[*base]);
                at.iter().for_each(|&(axis, _)| axes.make(axis));
                Ok(axes.one(elem(*base)))
            }
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } => {
                places(program, at)?;
                ensure(
                    elem(*table) == elem(*value),
                    "the value is not of the type of its place",
                )?;
                axes.values(&[*table, *value]);
                at.iter().for_each(|&(_, index)| axes.values(&[index]));
                if let Some(mask) = mask {
                    truth(program, *mask)?;
                    axes.values(&[*mask]);
                }
                at.iter().for_each(|&(axis, _)| axes.make(axis));
                Ok(axes.one(elem(*table)))
            }
            BulkOp::Assert {
                cond,
                message,
                shown,
            } => {
                truth(program, *cond)?;
                shows(program, message, shown)?;
                Ok(Types::new())
            }
            BulkOp::Loop {
                axis, init, body, ..
            } => {
                let (index, states) = body.params.split_first().ok_or("a loop binds an index")?;
                index_of(program, *index, extent(*axis))?;
                let (next, collected) = body
                    .results
                    .split_at_checked(init.len())
                    .ok_or("the body yields too few states")?;
                carried(program, init, states, next)?;
                let mut types: Types<AxisId> =
                    states.iter().map(|&v| program.ty(v).clone()).collect();
                for &value in collected {
                    let mut all = Axes {
                        program,
                        list: Vec::new(),
                    };
                    all.make(*axis);
                    all.values(&[value]);
                    types.push(all.of(elem(value)));
                }
                Ok(types)
            }
            BulkOp::Derive {
                mode,
                args,
                seeds,
                shapes,
                lanes,
                body,
            } => {
                carried(program, args, &body.params, args)?;
                let floats = program.floats(&body.results);
                let (of, given) = match mode {
                    Mode::Tangent => (&body.params, &floats),
                    Mode::Cotangent => (&floats, &body.params),
                };
                ensure(
                    seeds.len() == of.len() && seeds.len() == shapes.len(),
                    "there is not one seed for each value that it belongs to",
                )?;
                for ((&seed, &of), shape) in seeds.iter().zip(of).zip(shapes) {
                    ensure(elem(seed) == elem(of), "a seed is of another type")?;
                    let fits = |axis: &AxisId| shape.contains(axis) || lanes.contains(axis);
                    ensure(
                        program.ty(seed).dims.iter().all(fits),
                        "a seed has an axis that what it belongs to lacks",
                    )?;
                }
                Ok(types(program, &[body.results.as_slice(), given].concat()))
            }
            BulkOp::Rule {
                mode,
                args,
                body,
                rule,
                ..
            } => {
                carried(program, args, &body.params, args)?;
                let (same, seeds) = rule
                    .params
                    .split_at_checked(args.len())
                    .ok_or("the rule has too few parameters")?;
                carried(program, args, same, &body.params)?;
                let floats = program.floats(&body.results);
                let (of, given) = match mode {
                    Mode::Tangent => (&body.params, &floats),
                    Mode::Cotangent => (&floats, &body.params),
                };
                carried(program, of, seeds, of)?;
                carried(program, &rule.results, given, given)?;
                Ok(types(program, &body.results))
            }
            BulkOp::While {
                lanes,
                init,
                cond,
                body,
                bound,
            } => {
                carried(program, init, &cond.params, &body.results)?;
                carried(program, init, &body.params, &body.results)?;
                let [test] = cond.results[..] else {
                    return Err("the condition is not one value".into());
                };
                truth(program, test)?;
                ensure(
                    program
                        .ty(test)
                        .dims
                        .iter()
                        .all(|axis| lanes.contains(axis)),
                    "the condition has an axis that is no lane",
                )?;
                if let Some(bound) = bound {
                    ensure(elem(*bound) == Elem::USIZE, "the bound is not a `usize`")?;
                }
                Ok(body.params.iter().map(|&v| program.ty(v).clone()).collect())
            }
        }
    }
}

fn types(program: &Program<Bulk>, values: &[ValueId]) -> Types<AxisId> {
    values.iter().map(|&v| program.ty(v).clone()).collect()
}

/// A set of axes in the order of first mention.
struct Axes<'p> {
    program: &'p Program<Bulk>,
    list: Vec<AxisId>,
}

impl Axes<'_> {
    fn list(&mut self, axes: impl IntoIterator<Item = AxisId>) {
        for axis in axes {
            if !self.list.contains(&axis) {
                self.list.push(axis);
            }
        }
    }

    fn values(&mut self, values: &[ValueId]) {
        for &value in values {
            self.list(self.program.ty(value).dims.iter().copied());
        }
    }

    /// An axis that the operation makes, and those that its extent depends on.
    fn make(&mut self, axis: AxisId) {
        self.list([axis]);
        self.extent(self.program.decls.axes[axis.0 as usize].extent);
    }

    fn extent(&mut self, extent: Extent) {
        if let Extent::Value(value) = extent {
            self.values(&[value]);
        }
    }

    /// The type of an operation's only result.
    fn one(self, elem: Elem) -> Types<AxisId> {
        smallvec![Type::table(elem, self.list)]
    }

    fn of(&self, elem: Elem) -> Type<AxisId> {
        Type::table(elem, self.list.clone())
    }
}

/// The results of an operator's reduction: the parameters say which axes an element has, those
/// around it included.
fn tuple(program: &Program<Bulk>, op: &Block<Bulk>, more: impl Fn(&mut Axes<'_>)) -> Types<AxisId> {
    let elements = &op.params[..op.params.len() / 2];
    elements
        .iter()
        .map(|&param| {
            let mut axes = Axes {
                program,
                list: Vec::new(),
            };
            axes.values(&[param]);
            more(&mut axes);
            axes.of(program.elem(param))
        })
        .collect()
}

fn places(program: &Program<Bulk>, at: &[(AxisId, ValueId)]) -> Result<(), String> {
    at.iter().try_for_each(|&(axis, index)| {
        index_of(program, index, program.decls.axes[axis.0 as usize].extent)
    })
}

fn reduce(
    program: &Program<Bulk>,
    combine: &Combine,
    along: &[AxisId],
    operands: &[ValueId],
    axes: &Axes<'_>,
) -> Result<Types<AxisId>, String> {
    ensure(!along.is_empty(), "a reduction needs an axis")?;
    match combine {
        Combine::Monoid(monoid) => {
            let [operand] = operands else {
                return Err("a monoid takes one operand".into());
            };
            monoid_takes(*monoid, program.elem(*operand))?;
            Ok(smallvec![axes.of(program.elem(*operand))])
        }
        Combine::ArgMin | Combine::ArgMax => {
            let ([_], [axis]) = (operands, along) else {
                return Err("one operand, along one axis".into());
            };
            Ok(smallvec![axes.of(Elem::Index(
                program.decls.axes[axis.0 as usize].extent,
            ))])
        }
        Combine::Custom { init, op } => {
            ensure(along.len() == 1, "an operator works along one axis")?;
            operator(program, init, operands, op)?;
            Ok(tuple(program, op, |_| {}))
        }
    }
}

fn operator(
    program: &Program<Bulk>,
    init: &[ValueId],
    operands: &[ValueId],
    op: &Block<Bulk>,
) -> Result<(), String> {
    let elems = |values: &[ValueId]| values.iter().map(|&v| program.elem(v)).collect::<Vec<_>>();
    let element = elems(init);
    ensure(
        elems(operands) == element,
        "the operands are of other types than the initial tuple",
    )?;
    ensure(
        elems(&op.params) == [element.clone(), element.clone()].concat(),
        "the operator takes values of other types",
    )?;
    ensure(
        elems(&op.results) == element,
        "the operator gives values of other types",
    )
}

/// Initial, current and next states: equal elements, and no axis that the state lacks.
fn carried(
    program: &Program<Bulk>,
    init: &[ValueId],
    states: &[ValueId],
    next: &[ValueId],
) -> Result<(), String> {
    ensure(
        init.len() == states.len() && init.len() == next.len(),
        "there is not one value for each state",
    )?;
    for ((&init, &state), &next) in init.iter().zip(states).zip(next) {
        let state = program.ty(state);
        for value in [program.ty(init), program.ty(next)] {
            ensure(value.elem == state.elem, "a state changes its type")?;
            ensure(
                value.dims.iter().all(|axis| state.dims.contains(axis)),
                "a state lacks an axis of its value",
            )?;
        }
    }
    Ok(())
}

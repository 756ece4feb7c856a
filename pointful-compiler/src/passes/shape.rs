//! The axes of a Bulk operation's results, from those of its operands.

use std::collections::BTreeSet;

use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Extent, Program, ValueId};
use crate::ops::Prim;

type Axes = BTreeSet<AxisId>;

/// The axes that a value has.
fn of(program: &Program<Bulk>, values: &[ValueId]) -> Axes {
    values
        .iter()
        .flat_map(|&value| program.ty(value).dims.iter().copied())
        .collect()
}

/// The axes that a computed extent has.
fn of_extent(program: &Program<Bulk>, extent: Extent) -> Axes {
    match extent {
        Extent::Value(value) => of(program, &[value]),
        Extent::Const(_) | Extent::Size(_) => Axes::new(),
    }
}

fn of_axis(program: &Program<Bulk>, axis: AxisId) -> Axes {
    of_extent(program, program.decls.axes[axis.0 as usize].extent)
}

fn of_prim(program: &Program<Bulk>, prim: Prim) -> Axes {
    prim.extent()
        .map(|extent| of_extent(program, extent))
        .unwrap_or_default()
}

/// The axes of the only result of an operation, or nothing where they follow from its blocks.
pub(crate) fn axes(program: &Program<Bulk>, op: &BulkOp) -> Option<Axes> {
    Some(match op {
        BulkOp::Const(_) => Axes::new(),
        BulkOp::Size(extent) => of_extent(program, *extent),
        BulkOp::Iota(axis) => {
            let mut axes = of_axis(program, *axis);
            axes.insert(*axis);
            axes
        }
        BulkOp::Map(prim, args) => {
            let mut axes = of(program, args);
            axes.extend(of_prim(program, *prim));
            axes
        }
        BulkOp::Select(cond, then, otherwise) => of(program, &[*cond, *then, *otherwise]),
        BulkOp::Gather { table, at } => {
            let mut axes = of(program, &[*table]);
            for (axis, _) in at {
                axes.remove(axis);
            }
            for (_, index) in at {
                axes.extend(of(program, &[*index]));
            }
            axes
        }
        BulkOp::Pack { axis, values } => {
            let mut axes = of(program, values);
            axes.insert(*axis);
            axes
        }
        BulkOp::Reduce {
            combine: Combine::Custom { .. },
            ..
        } => return None,
        BulkOp::Reduce {
            combine: Combine::Monoid(_) | Combine::ArgMin | Combine::ArgMax,
            axes: along,
            operands,
        } => {
            let mut axes = of(program, operands);
            for &axis in along {
                axes.extend(of_axis(program, axis));
            }
            for axis in along {
                axes.remove(axis);
            }
            axes
        }
        BulkOp::Scatter {
            base,
            at,
            over,
            value,
            mask,
            ..
        } => {
            let mut axes = of(program, &[*value]);
            for index in at.iter().map(|(_, index)| index).chain(mask) {
                axes.extend(of(program, &[*index]));
            }
            for axis in over {
                axes.remove(axis);
            }
            axes.extend(of(program, &[*base]));
            axes.extend(at.iter().map(|(axis, _)| *axis));
            axes
        }
        BulkOp::Update { table, at, value } => {
            let mut axes = of(program, &[*table, *value]);
            for (axis, index) in at {
                axes.insert(*axis);
                axes.extend(of(program, &[*index]));
            }
            axes
        }
        BulkOp::Scan { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. } => return None,
    })
}

/// Takes from the types of results the axes that they no longer have, and adds those that are new.
pub(crate) fn retype(
    program: &mut Program<Bulk>,
    op: &BulkOp,
    guard: Option<ValueId>,
    results: &[ValueId],
) {
    let guard_axes = of(program, guard.as_slice());
    if let Some(mut axes) = axes(program, op) {
        axes.extend(guard_axes);
        if let [result] = results {
            set(program, *result, axes);
        }
    } else if let BulkOp::Loop {
        axis, init, body, ..
    } = op
    {
        // States keep their lanes; what is collected has the axes that it has in the body.
        for (&result, &value) in results.iter().zip(&body.results).skip(init.len()) {
            let mut axes = of(program, &[value]);
            axes.insert(*axis);
            set(program, result, axes);
        }
    }
}

fn set(program: &mut Program<Bulk>, value: ValueId, mut axes: Axes) {
    let dims = &mut program.values[value.index()].ty.dims;
    dims.retain(|axis| axes.remove(axis));
    dims.extend(axes);
}

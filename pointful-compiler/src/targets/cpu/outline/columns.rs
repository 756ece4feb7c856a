//! The owner computes: nests whose points combine into tables at their own column only.
//!
//! ```text
//! par %1: H, %2: W (add %3 = %0) { … combine add %3[%2], … }
//! ```
//!
//! The points of a column are all that combine into an element, so that pieces of the work that are
//! columns can share a table. Where it is large, that is parallel without a copy for each piece.

use crate::ir::stages::imperative::Par;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Extent, Operation, Value, ValueId};

/// Whether a nest is such a one: what it combines into are tables of that kind, one at least, and
/// numbers.
pub(super) fn owns(values: &[Value<Extent>], par: &Par<Kernels>) -> bool {
    let ([_, .., columns], Some(&column)) = (par.extents.as_slice(), par.body.params.last()) else {
        return false;
    };
    let dims = |private: &ValueId| &values[private.index()].ty.dims;
    let tables: Vec<ValueId> = (par.accs.iter().map(|acc| acc.private))
        .filter(|private| !dims(private).is_empty())
        .collect();
    par.folds.is_empty()
        && !tables.is_empty()
        // One into which nothing is combined may be of any size.
        && tables.iter().all(|table| dims(table).last() == Some(columns))
        && combines_at(&par.body, column, &tables)
}

/// Whether everything that is combined into one of these tables is so at this index along the last
/// axis.
fn combines_at(block: &Block<Kernels>, column: ValueId, tables: &[ValueId]) -> bool {
    block.stmts.iter().all(|stmt| {
        let here = match &stmt.op {
            KernelOp::Combine { place, indices, .. } if tables.contains(place) => {
                indices.last() == Some(&column)
            }
            op => op.operands().iter().all(|value| !tables.contains(value)),
        };
        here && (stmt.op.blocks().into_iter()).all(|inner| combines_at(inner, column, tables))
    })
}

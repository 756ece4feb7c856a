//! Loops that do nothing but move elements of one table to places of another that lie apart.

use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{Operation, Program, Scalar, Stmt, ValueId};

/// What moves an element.
pub(crate) struct Moves<'b> {
    /// The table that is read, and where.
    pub(crate) source: (ValueId, &'b [ValueId]),
    /// The table that is written, and where.
    pub(crate) out: (ValueId, &'b [ValueId]),
}

impl<'b> Moves<'b> {
    /// Of statements that are run for each of a row's index and a column's. The element that is read
    /// lies at the column along its table's last axis, and the one that is written at the row; where
    /// a row begins that is read does not depend on the column, and where a column does that is
    /// written not on the row.
    pub(crate) fn of(
        program: &Program<Cpu>,
        [row, column]: [ValueId; 2],
        stmts: &[&'b Stmt<Cpu>],
    ) -> Option<Self> {
        let [positions @ .., load, store] = stmts else {
            return None;
        };
        let (
            CpuOp::Load {
                buffer: source,
                indices: from,
            },
            CpuOp::Store {
                buffer: out,
                indices: to,
                value,
            },
        ) = (&load.op, &store.op)
        else {
            return None;
        };
        let counts = |stmt: &&Stmt<Cpu>| match &stmt.op {
            CpuOp::Const(_) | CpuOp::Size(_) => true,
            CpuOp::Prim(prim, args) => {
                program.elem(stmt.results[0]).repr() == Scalar::Usize
                    && !prim.may_panic(program.elem(args[0]))
            }
            _ => false,
        };
        let depends = |on: ValueId, indices: &[ValueId]| {
            let mut on = vec![on];
            for stmt in positions {
                if stmt.op.reads_any(|value| on.contains(&value)) {
                    on.extend(&stmt.results);
                }
            }
            indices.iter().any(|index| on.contains(index))
        };
        let (&[ref rows @ .., last_read], &[ref columns @ .., last_written]) =
            (from.as_slice(), to.as_slice())
        else {
            return None;
        };
        let is_one = last_read == column
            && last_written == row
            && columns.contains(&column)
            && source != out
            && load.results[0] == *value
            && positions.iter().all(counts)
            && !depends(column, rows)
            && !depends(row, columns);
        is_one.then_some(Self {
            source: (*source, from),
            out: (*out, to),
        })
    }
}

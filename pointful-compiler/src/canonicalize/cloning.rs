//! Copies of statements of Point, which bind values of their own.

use std::collections::BTreeMap;

use crate::analysis::dataflow::Flow;
use crate::ir::stages::point::Point;
use crate::ir::{Elem, Extent, Operation, Program, Stmt, ValueId};

/// Copies statements, with new values for those that they bind.
pub(crate) struct Copy<'a> {
    program: &'a mut Program<Point>,
    map: BTreeMap<ValueId, ValueId>,
}

impl<'a> Copy<'a> {
    /// Copies in which these values are called otherwise.
    pub(crate) fn new(
        program: &'a mut Program<Point>,
        names: impl IntoIterator<Item = (ValueId, ValueId)>,
    ) -> Self {
        let map = names.into_iter().collect();
        Self { program, map }
    }

    /// What a value is called in the copies.
    pub(crate) fn get(&self, value: ValueId) -> ValueId {
        self.map.get(&value).copied().unwrap_or(value)
    }

    fn bind(&mut self, value: ValueId) -> ValueId {
        let mut known = self.program.values[value.index()].clone();
        let extent = |extent: &mut Extent| match extent {
            Extent::Value(value) => *value = self.get(*value),
            Extent::Const(_) | Extent::Size(_) => {}
        };
        if let Elem::Index(of) = &mut known.ty.elem {
            extent(of);
        }
        known.ty.dims.iter_mut().for_each(extent);
        let copy = self.program.value(known.ty, known.span);
        self.program.values[copy.index()].name = known.name;
        self.map.insert(value, copy);
        copy
    }

    /// The copy of a statement, after those that it reads.
    pub(crate) fn stmt(&mut self, stmt: &Stmt<Point>) -> Stmt<Point> {
        let mut copy = stmt.clone();
        let mut visit = |value: &mut ValueId| *value = self.get(*value);
        copy.op.for_each_operand_mut(&mut visit);
        Point::for_each_extent_mut(&mut copy.op, &mut visit);
        for inner in copy.op.blocks_mut() {
            inner.params = inner.params.iter().map(|&param| self.bind(param)).collect();
            inner.stmts = inner.stmts.iter().map(|stmt| self.stmt(stmt)).collect();
            inner.results = inner.results.iter().map(|&value| self.get(value)).collect();
        }
        copy.results = stmt.results.iter().map(|&value| self.bind(value)).collect();
        copy
    }
}

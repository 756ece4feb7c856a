//! Values that stand for others, kept while a pass walks and applied as it goes.

use crate::analysis::dataflow::Flow;
use crate::ir::{Block, Operation, Program, Stmt, ValueId};

/// A map from values to those that replace them.
#[derive(Debug)]
pub(crate) struct Subst {
    map: Vec<Option<ValueId>>,
}

impl Subst {
    /// Everything stands for itself.
    pub(crate) fn new() -> Self {
        Self { map: Vec::new() }
    }

    /// From now on, `new` is read where `old` was. `new` is looked up first, so chains stay of
    /// length one.
    pub(crate) fn replace(&mut self, old: ValueId, new: ValueId) {
        let new = self.get(new);
        if old.index() >= self.map.len() {
            self.map.resize(old.index() + 1, None);
        }
        self.map[old.index()] = Some(new);
    }

    /// What stands for a value.
    pub(crate) fn get(&self, mut value: ValueId) -> ValueId {
        while let Some(&Some(new)) = self.map.get(value.index()) {
            value = new;
        }
        value
    }

    /// Replaces the operands, the guard and the extents of a statement, not what its blocks read.
    pub(crate) fn stmt<S: Flow>(&self, stmt: &mut Stmt<S>) {
        let mut visit = |value: &mut ValueId| *value = self.get(*value);
        stmt.op.for_each_operand_mut(&mut visit);
        S::for_each_extent_mut(&mut stmt.op, &mut visit);
        if let Some(guard) = &mut stmt.guard {
            visit(guard);
        }
    }

    /// Replaces what a block gives.
    pub(crate) fn results<S: Flow>(&self, block: &mut Block<S>) {
        for value in &mut block.results {
            *value = self.get(*value);
        }
    }

    /// Replaces what a block reads and gives, and what the blocks inside do.
    pub(crate) fn block<S: Flow>(&self, block: &mut Block<S>) {
        for stmt in &mut block.stmts {
            self.stmt_throughout(stmt);
        }
        self.results(block);
    }

    /// Replaces what a statement reads, and what the blocks inside do.
    pub(crate) fn stmt_throughout<S: Flow>(&self, stmt: &mut Stmt<S>) {
        self.stmt(stmt);
        for inner in stmt.op.blocks_mut() {
            self.block(inner);
        }
    }

    /// Replaces extents in types and declarations, once the walk is over.
    pub(crate) fn types<S: Flow>(&self, program: &mut Program<S>) {
        S::for_each_declared_extent_mut(program, &mut |value| *value = self.get(*value));
    }
}

//! Copies of statements of imperative stages, which bind values of their own.

use crate::analysis::effects::for_each_extent_mut;
use crate::ir::stages::imperative::{Imperative, ImperativeOp, Par};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, ValueId, ValueMap};

/// What values are called in the copy that is being written.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    names: ValueMap<ValueId>,
}

impl Renamed {
    /// A statement that does the same and binds values of its own.
    pub(crate) fn copy<S: Imperative>(
        &mut self,
        program: &mut Program<S>,
        stmt: &Stmt<S>,
    ) -> Stmt<S> {
        let mut copy = stmt.clone();
        self.read(&mut copy);
        if let ImperativeOp::Own(own) = &mut copy.op
            && let Some(Par { accs, folds, .. }) = S::par_mut(own)
        {
            let folded = folds.iter_mut().flat_map(|fold| &mut fold.privates);
            for private in accs.iter_mut().map(|acc| &mut acc.private).chain(folded) {
                *private = self.bind(program, *private);
            }
        }
        for inner in copy.op.blocks_mut() {
            self.block(program, inner);
        }
        for result in &mut copy.results {
            *result = self.bind(program, *result);
        }
        copy
    }

    pub(crate) fn block<S: Imperative>(&mut self, program: &mut Program<S>, block: &mut Block<S>) {
        for param in &mut block.params {
            *param = self.bind(program, *param);
        }
        for stmt in &mut block.stmts {
            *stmt = self.copy(program, stmt);
        }
        for result in &mut block.results {
            *result = self.get(*result);
        }
    }

    /// Brings what a statement reads, and the extents that it names, up to date.
    pub(crate) fn read<S: Imperative>(&self, stmt: &mut Stmt<S>) {
        stmt.op
            .for_each_operand_mut(&mut |value| *value = self.get(*value));
        for_each_extent_mut(&mut stmt.op, &mut |extent| *extent = self.extent(*extent));
    }

    /// A value of the same type, which takes this one's place from now on.
    pub(crate) fn bind<S: Imperative>(
        &mut self,
        program: &mut Program<S>,
        value: ValueId,
    ) -> ValueId {
        let mut known = program.values[value.index()].clone();
        if let Elem::Index(extent) | Elem::Bound(extent) = &mut known.ty.elem {
            *extent = self.extent(*extent);
        }
        for dim in &mut known.ty.dims {
            *dim = self.extent(*dim);
        }
        let new = program.value(known.ty, known.span);
        program.values[new.index()].name = known.name;
        self.insert(value, new);
        new
    }

    /// From now on, one value takes the place of another.
    pub(crate) fn insert(&mut self, old: ValueId, new: ValueId) {
        self.names.insert(old, new);
    }

    /// What a value is called.
    pub(crate) fn get(&self, value: ValueId) -> ValueId {
        self.names.get(&value).copied().unwrap_or(value)
    }

    fn extent(&self, extent: Extent) -> Extent {
        match extent {
            Extent::Value(value) => Extent::Value(self.get(value)),
            Extent::Const(_) | Extent::Size(_) => extent,
        }
    }
}

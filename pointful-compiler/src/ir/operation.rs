//! What every operation can say of itself: the values it reads and the blocks it holds.

use smallvec::SmallVec;

use super::stages::bulk::{Bulk, BulkOp, Combine};
use super::stages::cpu::{self, Cpu};
use super::stages::gpu::{self, Gpu};
use super::stages::imperative::{Acc, Along, Fold, Imperative, ImperativeOp, Mask, Par};
use super::stages::point::{Point, PointOp};
use super::{Block, Stage, ValueId};

/// The operands of an operation: few, so no list on the heap.
pub type Values = SmallVec<[ValueId; 8]>;

/// What a primitive is applied to: as large as a list on the heap would be without what is in it.
pub type Args = SmallVec<[ValueId; 4]>;

/// Operands and blocks of an operation, for passes that treat all operations alike.
///
/// Values that a block inside the operation reads are not operands of the operation; see
/// [`Block::free`]. Values in extents and element types are not operands either: types are asked
/// for them.
pub trait Operation<S: Stage> {
    /// Calls `visit` with each value read, in the order of the textual form.
    fn for_each_operand(&self, visit: &mut dyn FnMut(&ValueId));
    /// Calls `visit` with each value read, in the order of the textual form.
    fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut ValueId));
    /// The blocks inside.
    fn blocks(&self) -> Vec<&Block<S>>;
    /// The blocks inside.
    fn blocks_mut(&mut self) -> Vec<&mut Block<S>>;

    /// Each value read, in the order of the textual form.
    fn operands(&self) -> Values {
        let mut all = Values::new();
        self.for_each_operand(&mut |value| all.push(*value));
        all
    }

    /// Whether it reads a value that is so.
    fn reads_any(&self, is: impl Fn(ValueId) -> bool) -> bool {
        let mut any = false;
        self.for_each_operand(&mut |value| any = any || is(*value));
        any
    }
}

/// Says of each operation once what it reads and holds, for those who look and for those who change
/// it. An operation that is one of a type of its own is asked itself.
macro_rules! operations {
    (
        $Stage:ident $(: $Bound:ident)?, $Op:ty; $visit:ident =>
        { $($operands:tt)* } { $($blocks:tt)* } $($own:pat => $inner:ident)?
    ) => {
        impl $(<$Stage: $Bound>)? Operation<$Stage> for $Op {
            fn for_each_operand(&self, $visit: &mut dyn FnMut(&ValueId)) {
                match self { $($operands)* $($own => $inner.for_each_operand($visit),)? }
            }

            fn for_each_operand_mut(&mut self, $visit: &mut dyn FnMut(&mut ValueId)) {
                match self { $($operands)* $($own => $inner.for_each_operand_mut($visit),)? }
            }

            fn blocks(&self) -> Vec<&Block<$Stage>> {
                match self { $($blocks)* $($own => $inner.blocks(),)? }
            }

            fn blocks_mut(&mut self) -> Vec<&mut Block<$Stage>> {
                match self { $($blocks)* $($own => $inner.blocks_mut(),)? }
            }
        }
    };
}

/// Visits single operands, then collections of them.
macro_rules! visit_all {
    ($visit:ident; $($one:expr),* ; $($many:expr),*) => {{
        $($visit($one);)*
        $($many.into_iter().for_each(|value| $visit(value));)*
    }};
}

operations!(Point, PointOp; visit => {
    Self::Const(_) | Self::Size(_) | Self::For { .. } => {}
    Self::Prim(_, args) => visit_all!(visit; ; args),
    Self::Array(values) => visit_all!(visit; ; values),
    Self::Index { table, indices } => visit_all!(visit; table; indices),
    Self::Reduce { table, .. } | Self::ArgReduce { table, .. } => visit(table),
    Self::Fold { init, tables, .. } | Self::Scan { init, tables, .. } => {
        visit_all!(visit; ; init, tables)
    }
    Self::Loop { init, .. } | Self::Rule { args: init, .. } => visit_all!(visit; ; init),
    Self::Derive { args, seeds, .. } => visit_all!(visit; ; args, seeds),
    Self::While { init, bound, .. } => visit_all!(visit; ; init, bound),
    Self::If { cond, .. } => visit(cond),
    Self::Assert { cond, shown, .. } => visit_all!(visit; cond; shown),
    Self::Accum { base, .. } => visit(base),
    Self::Accumulate {
        acc,
        indices,
        value,
    } => visit_all!(visit; acc; indices, [value]),
    Self::Get { acc } => visit(acc),
    Self::Update {
        table,
        indices,
        value,
    } => visit_all!(visit; table; indices, [value]),
} {
    Self::For { body, .. } | Self::Loop { body, .. } | Self::Derive { body, .. } => {
        vec![body]
    }
    Self::Rule { body, rule, .. } => vec![body, rule],
    Self::Fold { op, .. } | Self::Scan { op, .. } => vec![op],
    Self::While { cond, body, .. } => vec![cond, body],
    Self::If {
        then, otherwise, ..
    } => vec![then, otherwise],
    Self::Const(_)
    | Self::Size(_)
    | Self::Prim(..)
    | Self::Array(_)
    | Self::Index { .. }
    | Self::Reduce { .. }
    | Self::ArgReduce { .. }
    | Self::Assert { .. }
    | Self::Accum { .. }
    | Self::Accumulate { .. }
    | Self::Get { .. }
    | Self::Update { .. } => Vec::new(),
});

operations!(Bulk, BulkOp; visit => {
    Self::Const(_) | Self::Size(_) | Self::Iota(_) => {}
    Self::Map(_, args) => visit_all!(visit; ; args),
    Self::Pack { values, .. } => visit_all!(visit; ; values),
    Self::Select(cond, then, otherwise) => visit_all!(visit; cond, then, otherwise; ),
    Self::Gather { table, at } => {
        visit(table);
        for (_, index) in at {
            visit(index);
        }
    }
    Self::Reduce {
        combine, operands, ..
    } => {
        if let Combine::Custom { init, .. } = combine {
            visit_all!(visit; ; init);
        }
        visit_all!(visit; ; operands);
    }
    Self::Scan { init, operands, .. } => visit_all!(visit; ; init, operands),
    Self::Scatter {
        base,
        at,
        value,
        mask,
        ..
    } => {
        visit(base);
        for (_, index) in at {
            visit(index);
        }
        visit_all!(visit; value; mask);
    }
    Self::Update {
        table,
        at,
        value,
        mask,
    } => {
        visit(table);
        for (_, index) in at {
            visit(index);
        }
        visit_all!(visit; value; mask);
    }
    Self::Assert { cond, shown, .. } => visit_all!(visit; cond; shown),
    Self::Loop { init, .. } | Self::Rule { args: init, .. } => visit_all!(visit; ; init),
    Self::Derive { args, seeds, .. } => visit_all!(visit; ; args, seeds),
    Self::While { init, bound, .. } => visit_all!(visit; ; init, bound),
} {
    Self::Reduce {
        combine: Combine::Custom { op, .. },
        ..
    }
    | Self::Scan { op, .. } => vec![op],
    Self::Loop { body, .. } | Self::Derive { body, .. } => vec![body],
    Self::Rule { body, rule, .. } => vec![body, rule],
    Self::While { cond, body, .. } => vec![cond, body],
    Self::Const(_)
    | Self::Size(_)
    | Self::Iota(_)
    | Self::Map(..)
    | Self::Select(..)
    | Self::Gather { .. }
    | Self::Pack { .. }
    | Self::Reduce { .. }
    | Self::Scatter { .. }
    | Self::Update { .. }
    | Self::Assert { .. } => Vec::new(),
});

operations!(S: Imperative, ImperativeOp<S>; visit => {
    Self::Const(_)
    | Self::Size(_)
    | Self::Alloc { .. }
    | Self::For { .. }
    | Self::While { .. } => {}
    Self::Prim(_, args) => visit_all!(visit; ; args),
    Self::Select(cond, then, otherwise) => visit_all!(visit; cond, then, otherwise; ),
    Self::Copy(value) | Self::Var(value) | Self::Get(value) => visit(value),
    Self::Load { buffer, indices } => visit_all!(visit; buffer; indices),
    Self::Store {
        buffer,
        indices,
        value,
    } => visit_all!(visit; buffer; indices, [value]),
    Self::Combine {
        place,
        indices,
        value,
        ..
    } => visit_all!(visit; place; indices, [value]),
    Self::Set { place, value } => visit_all!(visit; place, value; ),
    Self::Swap(a, b) => visit_all!(visit; a, b; ),
    Self::Contract {
        out,
        factors: [left, right],
        along,
        mask,
        ..
    } => {
        for (buffer, along) in [out, left, right].into_iter().zip(along) {
            visit(buffer);
            for along in along {
                if let Along::At(index) = along {
                    visit(index);
                }
            }
        }
        if let Some(Mask { buffer, along }) = mask {
            visit(buffer);
            for along in along {
                if let Along::At(index) = along {
                    visit(index);
                }
            }
        }
    }
    Self::If { cond, .. } => visit(cond),
    Self::Assert { cond, shown, .. } => visit_all!(visit; cond; shown),
} {
    Self::For { body, .. } => vec![body],
    Self::While { cond, body } => vec![cond, body],
    Self::If {
        then, otherwise, ..
    } => vec![then, otherwise],
    Self::Const(_)
    | Self::Size(_)
    | Self::Prim(..)
    | Self::Select(..)
    | Self::Alloc { .. }
    | Self::Copy(_)
    | Self::Load { .. }
    | Self::Store { .. }
    | Self::Combine { .. }
    | Self::Var(_)
    | Self::Get(_)
    | Self::Set { .. }
    | Self::Swap(..)
    | Self::Contract { .. }
    | Self::Assert { .. } => Vec::new(),
} Self::Own(own) => own);

operations!(S: Imperative, Par<S>; visit => {
    Self { accs, folds, .. } => {
        for Acc { target, .. } in accs {
            visit(target);
        }
        for Fold { targets, .. } in folds {
            visit_all!(visit; ; targets);
        }
    }
} {
    Self { body, folds, .. } => {
        // Operators are no boxes, so this is a list of blocks.
        let mut all = Vec::with_capacity(1 + folds.len());
        for Fold { join, .. } in folds {
            all.push(join);
        }
        all.insert(0, body);
        all
    }
});

operations!(Cpu, cpu::Own; visit => {
    Self::Bound { terms, .. } => {
        for (term, _) in terms {
            visit(term);
        }
    }
    Self::Range { from, to, .. } | Self::Strips { from, to, .. } => {
        visit_all!(visit; from, to; );
    }
    Self::Lanes { strip, .. } => visit(strip),
    Self::Transpose { .. } | Self::Multiversion(_) => {}
    Self::Tile(cpu::Tile { writes, swaps, .. }) => {
        for (buffer, _) in writes {
            visit(buffer);
        }
        for (a, b) in swaps {
            visit_all!(visit; a, b; );
        }
    }
    Self::Fold { place, lanes, .. } => visit_all!(visit; place, lanes; ),
    Self::ArgCombine {
        best,
        at,
        lane,
        value,
        place,
        ..
    } => visit_all!(visit; best, at, lane, value, place; ),
    Self::ArgFold {
        best,
        at,
        lanes: [best_lanes, at_lanes],
        ..
    } => visit_all!(visit; best, at, best_lanes, at_lanes; ),
} {
    Self::Bound { .. } | Self::Fold { .. } | Self::ArgCombine { .. } | Self::ArgFold { .. } => Vec::new(),
    Self::Range { body, .. } | Self::Strips { body, .. } | Self::Lanes { body, .. }
    | Self::Tile(cpu::Tile { body, .. }) | Self::Transpose { body, .. }
    | Self::Multiversion(body) => vec![body],
} Self::Par(par) => par);

operations!(Gpu, gpu::Own; visit => {
    Self::Launch(gpu::Launch { team, .. }) => visit_all!(visit; ; team),
    Self::Lanes(gpu::Lanes { of, accs, .. }) => {
        visit_all!(visit; ; of);
        for (_, var) in accs {
            visit(var);
        }
    }
    Self::Part { of, .. } => visit(of),
} {
    Self::Launch(gpu::Launch { body, .. })
    | Self::Lanes(gpu::Lanes { body, .. })
    | Self::Part { body, .. } => vec![body],
});

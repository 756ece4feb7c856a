//! What every operation can say of itself: the values it reads and the blocks it holds.

use super::stages::bulk::{Bulk, BulkOp, Combine};
use super::stages::kernels::{Along, KernelOp, Kernels};
use super::stages::point::{Point, PointOp};
use super::{Block, Stage, ValueId};

/// Operands and blocks of an operation, for passes that treat all operations alike.
///
/// Values that a block inside the operation reads are not operands of the operation; see [`Block::free`].
/// Values in extents and element types are not operands either: types are asked for them.
pub trait Operation<S: Stage> {
    /// Calls `visit` with each value read, in the order of the textual form.
    fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut ValueId));
    /// Each value read, in the order of the textual form.
    fn operands(&self) -> Vec<ValueId>;
    /// The blocks inside.
    fn blocks(&self) -> Vec<&Block<S>>;
    /// The blocks inside.
    fn blocks_mut(&mut self) -> Vec<&mut Block<S>>;
}

/// Visits single operands, then collections of them.
macro_rules! visit_all {
    ($visit:ident; $($one:expr),* ; $($many:expr),*) => {{
        $($visit($one);)*
        $($many.into_iter().for_each(|value| $visit(value));)*
    }};
}

impl Operation<Point> for PointOp {
    fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        match self {
            Self::Const(_) | Self::Size(_) | Self::For { .. } => {}
            Self::Prim(_, args) | Self::Array(args) => visit_all!(visit; ; args),
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
        }
    }

    fn operands(&self) -> Vec<ValueId> {
        match self {
            Self::Const(_) | Self::Size(_) | Self::For { .. } => Vec::new(),
            Self::Prim(_, args) | Self::Array(args) => args.clone(),
            Self::Index { table, indices } => [&[*table], indices.as_slice()].concat(),
            Self::Reduce { table, .. } | Self::ArgReduce { table, .. } => vec![*table],
            Self::Fold { init, tables, .. } | Self::Scan { init, tables, .. } => {
                [init.as_slice(), tables].concat()
            }
            Self::Loop { init, .. } | Self::Rule { args: init, .. } => init.clone(),
            Self::Derive { args, seeds, .. } => [args.as_slice(), seeds].concat(),
            Self::While { init, bound, .. } => init.iter().chain(bound).copied().collect(),
            Self::If { cond, .. } => vec![*cond],
            Self::Assert { cond, shown, .. } => [&[*cond], shown.as_slice()].concat(),
            Self::Accum { base, .. } => vec![*base],
            Self::Accumulate {
                acc,
                indices,
                value,
            } => [&[*acc], indices.as_slice(), &[*value]].concat(),
            Self::Get { acc } => vec![*acc],
            Self::Update {
                table,
                indices,
                value,
            } => [&[*table], indices.as_slice(), &[*value]].concat(),
        }
    }

    fn blocks(&self) -> Vec<&Block<Point>> {
        match self {
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
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block<Point>> {
        match self {
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
        }
    }
}

impl Operation<Bulk> for BulkOp {
    fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        let places = |at: &mut Vec<(super::AxisId, ValueId)>,
                      visit: &mut dyn FnMut(&mut ValueId)| {
            for (_, index) in at {
                visit(index);
            }
        };
        match self {
            Self::Const(_) | Self::Size(_) | Self::Iota(_) => {}
            Self::Map(_, args) | Self::Pack { values: args, .. } => visit_all!(visit; ; args),
            Self::Select(cond, then, otherwise) => visit_all!(visit; cond, then, otherwise; ),
            Self::Gather { table, at } => {
                visit(table);
                places(at, visit);
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
                places(at, visit);
                visit_all!(visit; value; mask);
            }
            Self::Update {
                table,
                at,
                value,
                mask,
            } => {
                visit(table);
                places(at, visit);
                visit_all!(visit; value; mask);
            }
            Self::Assert { cond, shown, .. } => visit_all!(visit; cond; shown),
            Self::Loop { init, .. } | Self::Rule { args: init, .. } => visit_all!(visit; ; init),
            Self::Derive { args, seeds, .. } => visit_all!(visit; ; args, seeds),
            Self::While { init, bound, .. } => visit_all!(visit; ; init, bound),
        }
    }

    fn operands(&self) -> Vec<ValueId> {
        let places = |at: &[(super::AxisId, ValueId)]| {
            at.iter().map(|&(_, index)| index).collect::<Vec<_>>()
        };
        match self {
            Self::Const(_) | Self::Size(_) | Self::Iota(_) => Vec::new(),
            Self::Map(_, args) | Self::Pack { values: args, .. } => args.clone(),
            Self::Select(cond, then, otherwise) => vec![*cond, *then, *otherwise],
            Self::Gather { table, at } => [&[*table], places(at).as_slice()].concat(),
            Self::Reduce {
                combine: Combine::Custom { init, .. },
                operands,
                ..
            } => [init.as_slice(), operands].concat(),
            Self::Reduce { operands, .. } => operands.clone(),
            Self::Scan { init, operands, .. } => [init.as_slice(), operands].concat(),
            Self::Scatter {
                base,
                at,
                value,
                mask,
                ..
            }
            | Self::Update {
                table: base,
                at,
                value,
                mask,
            } => {
                let mut all = [&[*base], places(at).as_slice(), &[*value]].concat();
                all.extend(mask);
                all
            }
            Self::Assert { cond, shown, .. } => [&[*cond], shown.as_slice()].concat(),
            Self::Loop { init, .. } | Self::Rule { args: init, .. } => init.clone(),
            Self::Derive { args, seeds, .. } => [args.as_slice(), seeds].concat(),
            Self::While { init, bound, .. } => init.iter().chain(bound).copied().collect(),
        }
    }

    fn blocks(&self) -> Vec<&Block<Bulk>> {
        match self {
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
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block<Bulk>> {
        match self {
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
        }
    }
}

impl Operation<Kernels> for KernelOp {
    fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        match self {
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
            }
            Self::Par { accs, folds, .. } => {
                for acc in accs {
                    visit(&mut acc.target);
                }
                for fold in folds {
                    fold.targets.iter_mut().for_each(&mut *visit);
                }
            }
            Self::If { cond, .. } => visit(cond),
            Self::Assert { cond, shown, .. } => visit_all!(visit; cond; shown),
        }
    }

    fn operands(&self) -> Vec<ValueId> {
        match self {
            Self::Const(_)
            | Self::Size(_)
            | Self::Alloc { .. }
            | Self::For { .. }
            | Self::While { .. } => Vec::new(),
            Self::Prim(_, args) => args.clone(),
            Self::Select(cond, then, otherwise) => vec![*cond, *then, *otherwise],
            Self::Copy(value) | Self::Var(value) | Self::Get(value) => vec![*value],
            Self::Load { buffer, indices } => [&[*buffer], indices.as_slice()].concat(),
            Self::Store {
                buffer,
                indices,
                value,
            } => [&[*buffer], indices.as_slice(), &[*value]].concat(),
            Self::Combine {
                place,
                indices,
                value,
                ..
            } => [&[*place], indices.as_slice(), &[*value]].concat(),
            Self::Set { place, value } => vec![*place, *value],
            Self::Swap(a, b) => vec![*a, *b],
            Self::Contract {
                out,
                factors: [left, right],
                along,
                ..
            } => {
                let all = [out, left, right].into_iter().zip(along);
                all.flat_map(|(buffer, along)| {
                    std::iter::once(*buffer).chain(along.iter().filter_map(Along::index))
                })
                .collect()
            }
            Self::Par { accs, folds, .. } => {
                let folded = folds.iter().flat_map(|fold| &fold.targets).copied();
                accs.iter().map(|acc| acc.target).chain(folded).collect()
            }
            Self::If { cond, .. } => vec![*cond],
            Self::Assert { cond, shown, .. } => [&[*cond], shown.as_slice()].concat(),
        }
    }

    fn blocks(&self) -> Vec<&Block<Kernels>> {
        match self {
            Self::For { body, .. } => vec![body],
            Self::Par { body, folds, .. } => {
                let joins = folds.iter().map(|fold| &fold.join);
                std::iter::once(body).chain(joins).collect()
            }
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
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block<Kernels>> {
        match self {
            Self::For { body, .. } => vec![body],
            Self::Par { body, folds, .. } => {
                let joins = folds.iter_mut().map(|fold| &mut fold.join);
                std::iter::once(body).chain(joins).collect()
            }
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
        }
    }
}

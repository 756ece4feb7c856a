//! Element assignments in branches: which of them may become masked updates.
//!
//! # The idea
//!
//! Where an `if` gives a table with some elements assigned on one side, and the table itself (or
//! other assignments to it) on the other, choosing between two whole arrays would copy what was
//! meant to be changed in place. Instead, each assignment happens under its condition, one after
//! the other: first those of the one branch, then those of the other, and the last array is what
//! the `if` gives.
//!
//! ```text
//! %0 = if %c { %1 = update t[i] v      %1 = update t [k := i] v where c
//!              yield %1 }              %3 = not c
//!      else  { %2 = update t[j] w      %2 = update %1 [k := j] w where %3
//!              yield %2 }
//! ```
//!
//! # Why it is sound
//!
//! Along a chain of updates from a table of the outside, each is the table itself where its
//! condition is false. So where the condition of the `if` is false, what the first branch leaves is
//! the table that the second branch begins with; it is therefore called by that name there.

use std::collections::BTreeMap;

use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Operation, Program, ValueId, ValueSet};

/// How a result of an `if` comes about without choosing between arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chain {
    /// Only the first branch assigns.
    Then,
    /// Only the second branch assigns, or the first one's array goes by the name of this table of
    /// the outside in the second.
    Otherwise(Option<ValueId>),
}

/// The assignments of a program that happen under their condition.
#[derive(Debug, Default)]
pub(super) struct Updates {
    /// Results of updates, and of `if`s on the way.
    masked: ValueSet,
    /// By result of an `if`.
    chains: BTreeMap<ValueId, Chain>,
    /// By result of an `if` that has a chain: the table of the outside that it begins with.
    roots: BTreeMap<ValueId, ValueId>,
}

impl Updates {
    /// Finds them.
    pub(super) fn new(program: &Program<Point>) -> Self {
        let mut updates = Self::default();
        updates.block(&program.body);
        updates
    }

    /// Whether the update that gives this table is masked.
    pub(super) fn is_masked(&self, result: ValueId) -> bool {
        self.masked.contains(&result)
    }

    /// How this result of an `if` comes about, if not by choosing.
    pub(super) fn chain(&self, result: ValueId) -> Option<Chain> {
        self.chains.get(&result).copied()
    }

    fn block(&mut self, block: &Block<Point>) {
        for stmt in &block.stmts {
            // Those inside first, because a chain may run through them.
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
            if let PointOp::If {
                then, otherwise, ..
            } = &stmt.op
            {
                self.branches(&stmt.results, then, otherwise);
            }
        }
    }

    fn branches(&mut self, results: &[ValueId], then: &Block<Point>, otherwise: &Block<Point>) {
        let sides = [Side::new(self, then), Side::new(self, otherwise)];
        let ends: Vec<[End; 2]> = (0..results.len())
            .map(|k| {
                [
                    sides[0].end(then.results[k]),
                    sides[1].end(otherwise.results[k]),
                ]
            })
            .collect();
        for (&result, [first, second]) in results.iter().zip(&ends) {
            let root = first.root;
            if root != second.root {
                continue;
            }
            let alone = ends.iter().filter(|[end, _]| end.root == root).count() == 1;
            let chain = match (first.updates.is_empty(), second.updates.is_empty()) {
                (true, true) => continue,
                (false, _) if alone => Chain::Otherwise(Some(root)),
                (true, false) => Chain::Otherwise(None),
                (false, true) => Chain::Then,
                // What one result calls the table is not what another does.
                (false, false) => continue,
            };
            self.masked.extend(&first.updates);
            self.masked.extend(&second.updates);
            self.chains.insert(result, chain);
            self.roots.insert(result, root);
        }
    }
}

/// Where a chain of updates begins.
struct End {
    root: ValueId,
    updates: Vec<ValueId>,
}

/// A branch: what its updates, and the chains of the `if`s in it, are made from.
struct Side {
    from: BTreeMap<ValueId, ValueId>,
}

impl Side {
    fn new(updates: &Updates, block: &Block<Point>) -> Self {
        let mut from = BTreeMap::new();
        for stmt in &block.stmts {
            if let PointOp::Update { table, indices, .. } = &stmt.op
                && !indices.is_empty()
            {
                from.insert(stmt.results[0], *table);
            }
            let chains = stmt.results.iter();
            from.extend(chains.filter_map(|&result| Some((result, *updates.roots.get(&result)?))));
        }
        Self { from }
    }

    fn end(&self, mut value: ValueId) -> End {
        let mut updates = Vec::new();
        while let Some(&table) = self.from.get(&value) {
            updates.push(value);
            value = table;
        }
        End {
            root: value,
            updates,
        }
    }
}

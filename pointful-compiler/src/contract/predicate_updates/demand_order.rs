//! The order of statements in which the changes of each side of a branch stand next to each other.
//!
//! ```text
//! %1[i] = update x [i := %0] w            %2[i] = loop … (… = x) { … }
//! %2[i] = loop … (… = x) { … }            %1[i] = update x [i := %0] w
//! %3[i] = update %1 [i := %4] w      ▶    %3[i] = update %1 [i := %4] w
//! %5[i] = select c, %2, %3                %5[i] = select c, %2, %3
//! ```
//!
//! A change stands in front of the first statement that asks for it. So does what is computed of changed
//! tables, but in front of their next change, as it did. Loops that may fail, and what follows on them,
//! stay where they are: they fail in the order in which they stand.

use std::collections::{BTreeMap, BTreeSet};

use super::update_chains::{sites, tables};
use crate::analysis::dataflow::{is_total, may_fail};
use crate::differentiate::builder::reads;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{Block, Operation, Program, Stmt, ValueId, ValueSet, Values};

/// Puts the statements of a block in that order.
pub(super) fn demand_order(program: &Program<Bulk>, block: &mut Block<Bulk>) {
    let late = late(program, block);
    let sites = sites(block);
    let mut order = Order {
        needs: needs(program, block, &sites, &late),
        met: vec![false; block.stmts.len()],
        numbers: Vec::with_capacity(block.stmts.len()),
    };
    let all = || 0..block.stmts.len();
    let asked = block.results.iter().filter_map(|result| sites.get(result));
    let first = all().filter(|number| !late.contains(number));
    // What nobody asks for comes last.
    first
        .chain(asked.copied())
        .chain(all())
        .for_each(|number| order.meet(number));
    let mut stmts: Vec<_> = std::mem::take(&mut block.stmts)
        .into_iter()
        .map(Some)
        .collect();
    let ordered = order.numbers.into_iter();
    block.stmts = ordered.filter_map(|number| stmts[number].take()).collect();
}

/// The statements that wait until they are asked for.
fn late(program: &Program<Bulk>, block: &Block<Bulk>) -> BTreeSet<usize> {
    let mut late = BTreeSet::new();
    let (mut changed, mut stay) = (ValueSet::new(), ValueSet::new());
    for (number, stmt) in block.stmts.iter().enumerate() {
        let tables = tables(program, stmt);
        let waits = if tables.is_empty() {
            is_total(program, &stmt.op) && stmt.op.reads_any(|value| changed.contains(&value))
        } else {
            !may_fail_inside(program, stmt) && !tables.iter().any(|table| stay.contains(table))
        };
        if waits {
            late.insert(number);
            changed.extend(&stmt.results);
        } else if !tables.is_empty() {
            stay.extend(&stmt.results);
        }
    }
    late
}

fn may_fail_inside(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
    let blocks = stmt.op.blocks().into_iter();
    let mut stmts = blocks.flat_map(|block| &block.stmts);
    stmts.any(|stmt| may_fail(program, &stmt.op) || may_fail_inside(program, stmt))
}

/// For each statement the late ones that come before it, in order: what it reads, and who else reads a table
/// that it changes.
fn needs(
    program: &Program<Bulk>,
    block: &Block<Bulk>,
    sites: &BTreeMap<ValueId, usize>,
    late: &BTreeSet<usize>,
) -> Vec<Vec<usize>> {
    let reads: Vec<Values> = (block.stmts.iter())
        .map(|stmt| reads(program, stmt))
        .collect();
    let mut readers: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
    for &number in late {
        let stmt = &block.stmts[number];
        if !matches!(stmt.op, BulkOp::Select(..)) {
            let taken = tables(program, stmt);
            for value in reads[number].iter().filter(|value| !taken.contains(value)) {
                readers.entry(*value).or_default().push(number);
            }
        }
    }
    let of = |(number, stmt): (usize, &Stmt<Bulk>)| {
        let made = reads[number]
            .iter()
            .filter_map(|value| sites.get(value).copied());
        let mut needs: Vec<usize> = made.filter(|site| late.contains(site)).collect();
        for table in tables(program, stmt) {
            let others = readers.get(&table).into_iter().flatten().copied();
            needs.extend(others.take_while(|&other| other < number));
        }
        needs
    };
    block.stmts.iter().enumerate().map(of).collect()
}

/// An order that is being made.
struct Order {
    needs: Vec<Vec<usize>>,
    met: Vec<bool>,
    numbers: Vec<usize>,
}

impl Order {
    /// Appends a statement, behind what it needs.
    fn meet(&mut self, number: usize) {
        let mut open = vec![(number, 0)];
        while let Some((number, next)) = open.last_mut() {
            match self.needs[*number].get(*next) {
                _ if self.met[*number] => {
                    open.pop();
                }
                Some(&need) => {
                    *next += 1;
                    open.push((need, 0));
                }
                None => {
                    self.met[*number] = true;
                    self.numbers.push(*number);
                }
            }
        }
    }
}

//! Kernels of the host that follow each other, as one step: a tile of rows goes through all of them
//! before the next tile does.
//!
//! ```text
//! contract u[i, f] = x[i, k], v[k, f]         what is multiplied, made of it and multiplied again lies in a cache
//! par i, f { u[i, f] = tanh(u[i, f]) }
//! contract w[k, f] = x[i, k], u[i, f]         of all rows: put off
//! contract y[i, c] = u[i, f], z[f, c]
//! ```
//!
//! A product of a matrix that the library has to turn round first is no part of it: that would be
//! done for each tile.

use super::reach::Uses;
use super::{Known, Part, Plan, accs};
use crate::analysis::accesses::changes;
use crate::analysis::effects::{asked, is_pure};
use crate::ir::stages::cpu::{Along, Cpu, CpuOp, Own};
use crate::ir::{Extent, Operation, Stmt, ValueSet};
use crate::targets::cpu::pack_operands::wanted;

/// Kernels that are put off, at most: looking further would take as long as there are kernels, for
/// each of them.
const LOOK_AHEAD: usize = 8;

/// The first of these statements, of which kernels may be run as one step. Those that are put off
/// come after it. `uses` says of each statement what it does to rows, if it may be one of them: it
/// is found once, as each statement is looked at from several that come before it.
pub(super) fn sequence(
    known: Known<'_>,
    stmts: &[Stmt<Cpu>],
    uses: &[Option<(Extent, Uses)>],
) -> Option<Plan> {
    let mut found = Sequence {
        known,
        plan: Plan::new(),
        uses: Vec::new(),
        is_chain: false,
        late: ValueSet::new(),
        needed: ValueSet::new(),
        changed: ValueSet::new(),
        left: LOOK_AHEAD,
    };
    for (stmt, own) in stmts.iter().zip(uses) {
        let Some(part) = found.part(stmt, own.as_ref()) else {
            break;
        };
        if found.uses.is_empty() {
            break;
        }
        found.plan.parts.push(part);
    }
    found.is_chain.then_some(found.plan)
}

struct Sequence<'p> {
    known: Known<'p>,
    plan: Plan,
    uses: Vec<&'p Uses>,
    /// Whether one of the kernels asks for what another has written.
    is_chain: bool,
    /// What is known, or changes, only after the kernels,
    late: ValueSet,
    /// what is asked for then,
    needed: ValueSet,
    /// and what is changed then.
    changed: ValueSet,
    /// How many kernels may still be put off.
    left: usize,
}

impl<'p> Sequence<'p> {
    /// What the next statement is, if there is a place for it.
    fn part(&mut self, stmt: &Stmt<Cpu>, uses: Option<&'p (Extent, Uses)>) -> Option<Part> {
        match &stmt.op {
            CpuOp::For { .. }
            | CpuOp::While { .. }
            | CpuOp::If { .. }
            | CpuOp::Swap(..)
            | CpuOp::Assert { .. } => None,
            op if op.is_kernel() => {
                if uses.is_some_and(|uses| self.join(stmt, uses)) {
                    self.late.extend(accs(stmt).iter().map(|acc| acc.target));
                    return Some(Part::Kernel);
                }
                self.left = self.left.checked_sub(1)?;
                Some(self.put_off(stmt))
            }
            CpuOp::Alloc { .. } | CpuOp::Var(_) if self.is_early(stmt) => Some(Part::Made),
            _ if is_pure(self.known.program, stmt)
                && self.is_early(stmt)
                && !self.plan.asks_for_written(stmt) =>
            {
                Some(Part::Made)
            }
            _ => Some(self.put_off(stmt)),
        }
    }

    /// Makes a kernel one of them, if it may be.
    fn join(&mut self, stmt: &Stmt<Cpu>, (rows, own): &'p (Extent, Uses)) -> bool {
        let is_first = self.uses.is_empty();
        let is_free = |place| !self.needed.contains(place) && !self.changed.contains(place);
        let is_early = own.asked.is_disjoint(&self.late)
            && own.written.keys().all(is_free)
            && accs(stmt).iter().all(|acc| is_free(&acc.target))
            && !self.known.has_extent(stmt, &self.late);
        if !is_early || !is_first && *rows != self.plan.rows || is_packed_again(stmt) {
            return false;
        }
        let mut read = own.read.keys();
        let continues = read.any(|buffer| self.plan.written.contains_key(buffer));
        self.plan.rows = *rows;
        self.uses.push(own);
        if self.plan.fits(self.known, &self.uses) {
            self.is_chain |= continues;
            return true;
        }
        self.uses.pop();
        self.plan.fits(self.known, &self.uses);
        false
    }

    /// Whether all that a statement asks for is known before what is put off.
    fn is_early(&self, stmt: &Stmt<Cpu>) -> bool {
        !asked(stmt).iter().any(|value| self.late.contains(value))
            && !self.known.has_extent(stmt, &self.late)
    }

    fn put_off(&mut self, stmt: &Stmt<Cpu>) -> Part {
        self.needed.extend(&asked(stmt));
        changes(std::slice::from_ref(stmt), &mut self.changed);
        if let CpuOp::Own(Own::Par(par)) = &stmt.op {
            self.changed.extend(&par.operands());
        }
        // What is made then is not there before.
        self.changed.extend(&stmt.results);
        self.late.extend(&self.changed);
        Part::After
    }
}

/// Whether a library would have to turn round what all rows are multiplied by, for each tile.
fn is_packed_again(stmt: &Stmt<Cpu>) -> bool {
    let CpuOp::Contract {
        along: [out, left, right],
        ..
    } = &stmt.op
    else {
        return false;
    };
    let is_turned = |factor: &[Along]| !factor.contains(&out[0]) && wanted(out, factor).is_some();
    is_turned(left) || is_turned(right)
}

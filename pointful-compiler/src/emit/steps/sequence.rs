//! Cpu of the host that follow each other, as one step: a tile of rows goes through all of them
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

use super::uses::Uses;
use super::{Plan, copies, has_extent};
use crate::analysis::effects::{asked, changes, is_pure};
use crate::emit::unit::Unit;
use crate::ir::stages::cpu::{Along, Cpu, CpuOp, Own};
use crate::ir::{Stmt, ValueSet};
use crate::targets::cpu::pack_operands::wanted;

/// Cpu that are put off, at most: looking further would take as long as there are kernels, for
/// each of them.
const LOOK_AHEAD: usize = 8;

/// Statements of the host: one, or several of which kernels run as one step.
pub(in crate::emit) enum Part<'p> {
    One(&'p Stmt<Cpu>),
    Several(Plan<'p>),
}

/// The parts of some statements.
pub(in crate::emit) fn parts<'p>(unit: &Unit<'_>, stmts: &[&'p Stmt<Cpu>]) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    let mut rest = stmts;
    while let Some((stmt, later)) = rest.split_first() {
        if let Some((plan, count)) = sequence(unit, rest) {
            parts.push(Part::Several(plan));
            rest = &rest[count..];
        } else {
            parts.push(Part::One(stmt));
            rest = later;
        }
    }
    parts
}

/// The kernels that may be run as one step, of statements that begin with one, and how many
/// statements that is about: those that are put off come after it.
fn sequence<'p>(unit: &Unit<'_>, stmts: &[&'p Stmt<Cpu>]) -> Option<(Plan<'p>, usize)> {
    if !unit.functions.is_empty() {
        return None;
    }
    let mut found = Sequence {
        unit,
        plan: Plan::new(None),
        uses: Vec::new(),
        is_chain: false,
        late: ValueSet::new(),
        needed: ValueSet::new(),
        left: LOOK_AHEAD,
    };
    let mut count = 0;
    for stmt in stmts {
        if !found.stmt(stmt) || found.plan.kernels.is_empty() {
            break;
        }
        count += 1;
    }
    found.is_chain.then_some((found.plan, count))
}

struct Sequence<'u, 'p> {
    unit: &'u Unit<'u>,
    plan: Plan<'p>,
    uses: Vec<Uses>,
    /// Whether one of the kernels asks for what another has written.
    is_chain: bool,
    /// What is known, or changes, only after the kernels,
    late: ValueSet,
    /// and what is asked for then.
    needed: ValueSet,
    /// How many kernels may still be put off.
    left: usize,
}

impl<'p> Sequence<'_, 'p> {
    /// Finds a place for the next statement, if there is one.
    fn stmt(&mut self, stmt: &'p Stmt<Cpu>) -> bool {
        match &stmt.op {
            CpuOp::For { .. }
            | CpuOp::While { .. }
            | CpuOp::If { .. }
            | CpuOp::Swap(..)
            | CpuOp::Assert { .. } => return false,
            CpuOp::Own(Own::Par(_)) | CpuOp::Contract { .. } => {
                if self.join(stmt) {
                    if self.plan.is_sum(stmt) {
                        let targets = copies(stmt).all().map(|(target, ..)| target);
                        self.late.extend(targets);
                        self.plan.after.push(stmt);
                    }
                } else if self.left > 0 {
                    self.left -= 1;
                    self.put_off(stmt);
                } else {
                    return false;
                }
            }
            CpuOp::Alloc { .. } if self.is_early(stmt) => self.plan.made.push(stmt),
            _ if is_pure(self.unit.program, stmt)
                && self.is_early(stmt)
                && !self.plan.asks_for_written(stmt) =>
            {
                self.plan.made.push(stmt);
            }
            _ => self.put_off(stmt),
        }
        true
    }

    /// Makes a kernel one of them, if it may be.
    fn join(&mut self, stmt: &'p Stmt<Cpu>) -> bool {
        let Some((rows, own)) = Uses::of(self.unit, stmt, None) else {
            return false;
        };
        let is_first = self.plan.kernels.is_empty();
        // What it accumulates into is met in its turn.
        let is_early = own.asked.is_disjoint(&self.late)
            && !own
                .written
                .keys()
                .any(|buffer| self.needed.contains(buffer))
            && !has_extent(self.unit, stmt, &self.late);
        if !is_early || !is_first && rows != self.plan.rows || is_packed_again(stmt) {
            return false;
        }
        let mut read = own.read.keys();
        let continues = read.any(|buffer| self.plan.written.contains_key(buffer));
        self.plan.rows = rows;
        self.plan.kernels.push(stmt);
        self.uses.push(own);
        if self.plan.fits(self.unit, &self.uses) {
            self.is_chain |= continues;
            return true;
        }
        self.plan.kernels.pop();
        self.uses.pop();
        self.plan.fits(self.unit, &self.uses);
        false
    }

    /// Whether all that a statement asks for is known before what is put off.
    fn is_early(&self, stmt: &Stmt<Cpu>) -> bool {
        !asked(stmt).iter().any(|value| self.late.contains(value))
            && !has_extent(self.unit, stmt, &self.late)
    }

    fn put_off(&mut self, stmt: &'p Stmt<Cpu>) {
        self.needed.extend(asked(stmt));
        self.late.extend(&stmt.results);
        self.late
            .extend(copies(stmt).all().map(|(target, ..)| target));
        changes(std::slice::from_ref(stmt), &mut self.late);
        self.plan.after.push(stmt);
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

#[cfg(test)]
mod tests {
    use crate::emit::host::host;
    use crate::emit::unit::Unit;

    /// What is emitted after two products, of `a` and `b` in `u` and of `u` and `c` in `v`.
    fn emitted(statements: &str) -> String {
        let text = format!(
            "fn f(a: f64[I, K], b: f64[K, J], c: f64[J, J], own u: f64[I, J], own v: f64[I, J], own w: f64[I, J], own z: f64[J, J], own s: f64[J]) -> (f64[I, J], f64[I, J], f64[I, J], f64[J, J], f64[J], f64, f64) {{
               %0 = const 0.0f64 %1 = var %0
               contract u[0, 1] = a[0, 2], b[2, 1] contract v[0, 1] = u[0, 2], c[2, 1]
               {statements}
               %90 = get %1 %91 = const 1.0f64 %92 = add %90, %91
               return u, v, w, z, s, %90, %92
             }}"
        );
        let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::emit::names::as_in_source(&host(&Unit::of(&program), &[]))
    }

    /// How many kernels are run as one step, and what comes after it.
    fn split(text: &str) -> (usize, &str) {
        let (_, rest) = text
            .split_once("kernels : ")
            .unwrap_or_else(|| panic!("{text}"));
        let count = rest.split_once("usize").expect("a number").0;
        let (_, rest) = rest.split_once("match kernel").expect("kernels");
        let end = rest.find(") ;").expect("an end");
        (count.parse().expect("a number"), &rest[end..])
    }

    #[test]
    fn what_follows_row_by_row_is_one_step() {
        for (statements, kernels) in [
            ("", 2),
            // Row by row, near by, in the place of what is read, and turned round for nobody.
            (
                "par %2: I, %3: J { %4 = load v[%2, %3] store w[%2, %3], %4 }",
                3,
            ),
            (
                "par %2: I, %3: J { %4 = cast i64 %2 %5 = const 1i64 %6 = add %4, %5 %7 = clamp_to I %6 %8 = load v[%7, %3] store w[%2, %3], %8 }",
                3,
            ),
            (
                "par %2: I, %3: J { %4 = load v[%2, %3] store v[%2, %3], %4 }",
                3,
            ),
            // What adds up is merged afterwards, several of them in turn, in tables too.
            (
                "par %2: I (add %3 = %1) { %4 = const 1.0f64 combine add %3[], %4 }",
                3,
            ),
            (
                "par %2: I (add %3 = %1) { %4 = const 1.0f64 combine add %3[], %4 } par %5: I, %6: J (add %7 = s) { %8 = load v[%5, %6] combine add %7[%6], %8 }",
                4,
            ),
        ] {
            let text = emitted(statements);
            assert_eq!(split(&text).0, kernels, "{statements}: {text}");
        }
    }

    #[test]
    fn what_asks_for_all_rows_comes_after_them() {
        for statements in [
            // A product over the rows, other rows, another row, and what is changed by one of these.
            "contract z[0, 1] = u[2, 0], v[2, 1]",
            "par %2: J { %3 = load c[%2, %2] store s[%2], %3 }",
            "par %2: I, %3: J { %4 = const 0i64 %5 = check I %4 %6 = load v[%5, %3] store w[%2, %3], %6 }",
        ] {
            let text = emitted(&format!(
                "{statements} par %12: I, %13: J {{ %14 = load u[%12, %13] store w[%12, %13], %14 }}"
            ));
            let (kernels, after) = split(&text);
            assert_eq!(
                kernels,
                if statements.contains("store w") { 2 } else { 3 },
                "{statements}: {text}"
            );
            assert!(
                after.contains("launch (") || after.contains("contract ("),
                "{statements}: {text}"
            );
        }
        // What it reads must be there still.
        let text = emitted("contract z[0, 1] = u[2, 0], v[2, 1] par %2: I, %3: J { %4 = load a[%2, %9] store u[%2, %3], %4 }".replace("%9", "%8").replace("par %2", "%5 = const 0i64 %8 = check K %5 par %2").as_str());
        assert_eq!(split(&text).0, 2, "{text}");
        // What the sum is asked for comes after it.
        let text = emitted(
            "par %2: I (add %3 = %1) { %4 = const 1.0f64 combine add %3[], %4 } %5 = get %1 par %6: I, %7: J { store w[%6, %7], %5 }",
        );
        assert_eq!(split(&text).0, 3, "{text}");
        assert!(split(&text).1.contains("launch ("), "{text}");
    }

    #[test]
    fn kernels_that_have_nothing_to_do_with_each_other_stay_apart() {
        let program =
            "fn f(a: f64[I, J], own u: f64[I, J], own v: f64[I, J]) -> (f64[I, J], f64[I, J]) {
            par %0: I, %1: J { %2 = load a[%0, %1] store u[%0, %1], %2 }
            par %3: I, %4: J { %5 = load a[%3, %4] store v[%3, %4], %5 }
            return u, v
        }";
        let program = crate::emit::testing::parsed(program).unwrap_or_else(|e| panic!("{e}"));
        assert!(
            !host(&Unit::of(&program), &[])
                .to_string()
                .contains("_steps")
        );
    }
}

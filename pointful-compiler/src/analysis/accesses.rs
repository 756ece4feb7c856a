//! What statements do to places: which they read and which they change, how, and at which elements.
//!
//! Whoever runs statements in another order, twice, or some ahead of others, asks here whether that
//! shows. Every operation is listed: what is new does not compile before it says here what it does.

use crate::ir::stages::cpu::{self, Cpu};
use crate::ir::stages::gpu::{self, Gpu};
use crate::ir::stages::imperative::{Imperative, ImperativeOp, Par};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Operation, Stmt, ValueId, ValueSet};

/// What is done to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It is looked at.
    Read,
    /// It gets other contents.
    Write,
    /// Something is combined with its contents, of which nobody learns by that.
    Combine,
    /// It gets the contents of another place, which gets its.
    Swap,
}

/// At which of its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At<'b> {
    /// A variable has none.
    Variable,
    /// One index an axis.
    Element(&'b [ValueId]),
    /// At any.
    Any,
}

/// What a statement does to a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'b> {
    pub(crate) place: ValueId,
    pub(crate) kind: Kind,
    pub(crate) at: At<'b>,
    /// Which statement of the block it is,
    pub(crate) number: usize,
    /// and whether it does that in a block of its own.
    pub(crate) is_nested: bool,
}

impl Access<'_> {
    fn changes(&self) -> bool {
        match self.kind {
            Kind::Read => false,
            Kind::Write | Kind::Combine | Kind::Swap => true,
        }
    }
}

/// An imperative stage that says of its own operations what they do to places, outside of their
/// blocks.
pub(crate) trait TouchOwn: Imperative {
    /// Calls `visit` with each place that the operation touches at any of its elements.
    fn touches(own: &Self::Own, visit: &mut dyn FnMut(ValueId, Kind));
}

impl TouchOwn for Kernels {
    fn touches(own: &Par, visit: &mut dyn FnMut(ValueId, Kind)) {
        merged(own, visit);
    }
}

impl TouchOwn for Cpu {
    fn touches(own: &cpu::Own, visit: &mut dyn FnMut(ValueId, Kind)) {
        match own {
            cpu::Own::Par(par) => merged(par, visit),
            cpu::Own::Tile(tile) => {
                let swapped = tile.swaps.iter().flat_map(|&(a, b)| [a, b]);
                swapped.for_each(|place| visit(place, Kind::Swap));
            }
            cpu::Own::Fold { place, lanes, .. } => {
                visit(*place, Kind::Combine);
                visit(*lanes, Kind::Read);
            }
            cpu::Own::ArgCombine { best, at, .. } => {
                visit(*best, Kind::Combine);
                visit(*at, Kind::Combine);
            }
            cpu::Own::ArgFold {
                best, at, lanes, ..
            } => {
                visit(*best, Kind::Combine);
                visit(*at, Kind::Combine);
                lanes.iter().for_each(|&lanes| visit(lanes, Kind::Read));
            }
            cpu::Own::Bound { .. }
            | cpu::Own::Transpose { .. }
            | cpu::Own::Range { .. }
            | cpu::Own::Strips { .. }
            | cpu::Own::Lanes { .. }
            | cpu::Own::Multiversion(_) => {}
        }
    }
}

impl TouchOwn for Gpu {
    fn touches(_: &gpu::Own, _: &mut dyn FnMut(ValueId, Kind)) {}
}

/// What the copies of a nest are merged into.
fn merged<S: Imperative>(par: &Par<S>, visit: &mut dyn FnMut(ValueId, Kind)) {
    let summed = par.accs.iter().map(|acc| acc.target);
    let folded = par.folds.iter().flat_map(|fold| &fold.targets);
    summed.for_each(|target| visit(target, Kind::Combine));
    folded.for_each(|&target| visit(target, Kind::Write));
}

/// What a block does to places.
#[derive(Debug, Default)]
pub(crate) struct Accesses<'b> {
    all: Vec<Access<'b>>,
    /// What the block binds, but for its own parameters.
    bound: ValueSet,
}

impl<'b> Accesses<'b> {
    /// Of all statements, at any depth, in their order.
    pub(crate) fn of<S: TouchOwn>(stmts: impl IntoIterator<Item = &'b Stmt<S>>) -> Self {
        let mut found = Self::default();
        for (number, stmt) in stmts.into_iter().enumerate() {
            found.stmt(stmt, number, false);
        }
        found
    }

    fn block<S: TouchOwn>(&mut self, block: &'b Block<S>, number: usize) {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.stmt(stmt, number, true);
        }
    }

    fn stmt<S: TouchOwn>(&mut self, stmt: &'b Stmt<S>, number: usize, is_nested: bool) {
        let mut note = |place: &ValueId, kind, at| {
            self.all.push(Access {
                place: *place,
                kind,
                at,
                number,
                is_nested,
            });
        };
        match &stmt.op {
            ImperativeOp::Load { buffer, indices } => {
                note(buffer, Kind::Read, At::Element(indices))
            }
            ImperativeOp::Store {
                buffer, indices, ..
            } => note(buffer, Kind::Write, At::Element(indices)),
            ImperativeOp::Combine { place, indices, .. } => {
                let at = match indices.is_empty() {
                    true => At::Variable,
                    false => At::Element(indices),
                };
                note(place, Kind::Combine, at);
            }
            ImperativeOp::Get(place) => note(place, Kind::Read, At::Variable),
            ImperativeOp::Set { place, .. } => note(place, Kind::Write, At::Variable),
            ImperativeOp::Copy(source) => note(source, Kind::Read, At::Any),
            ImperativeOp::Swap(a, b) => [a, b]
                .into_iter()
                .for_each(|place| note(place, Kind::Swap, At::Any)),
            ImperativeOp::Contract {
                out,
                factors,
                add,
                mask,
                ..
            } => {
                factors
                    .iter()
                    .chain(mask.as_ref().map(|mask| &mask.buffer))
                    .for_each(|factor| note(factor, Kind::Read, At::Any));
                let kind = if *add { Kind::Combine } else { Kind::Write };
                note(out, kind, At::Any);
            }
            ImperativeOp::Own(own) => {
                S::touches(own, &mut |place, kind| note(&place, kind, At::Any));
                self.bound
                    .extend(S::par(own).into_iter().flat_map(Par::privates));
            }
            ImperativeOp::Const(_)
            | ImperativeOp::Size(_)
            | ImperativeOp::Prim(..)
            | ImperativeOp::Select(..)
            | ImperativeOp::Alloc { .. }
            | ImperativeOp::Var(_)
            | ImperativeOp::For { .. }
            | ImperativeOp::Assert { .. }
            | ImperativeOp::While { .. }
            | ImperativeOp::If { .. } => {}
        }
        self.bound.extend(&stmt.results);
        for inner in stmt.op.blocks() {
            self.block(inner, number);
        }
    }

    /// Whether a value is bound by the block, and not by what is around it.
    pub(crate) fn binds(&self, value: &ValueId) -> bool {
        self.bound.contains(value)
    }

    /// What is done to places that the block finds and leaves.
    pub(crate) fn outside(&self) -> impl Iterator<Item = &Access<'b>> {
        self.all
            .iter()
            .filter(|access| !self.bound.contains(&access.place))
    }

    /// Buffers of which elements are written, those that the block makes too.
    pub(crate) fn stored(&self) -> impl Iterator<Item = ValueId> {
        let is_store = |access: &&Access<'_>| {
            access.kind == Kind::Write && matches!(access.at, At::Element(_))
        };
        self.all.iter().filter(is_store).map(|access| access.place)
    }

    /// The places that the block finds and leaves with other contents.
    pub(crate) fn changed(&self) -> ValueSet {
        let changes = self.outside().filter(|access| access.changes());
        changes.map(|access| access.place).collect()
    }
}

/// Adds the places that statements change at any depth, their own ones too.
pub(crate) fn changes<'b, S: TouchOwn>(
    stmts: impl IntoIterator<Item = &'b Stmt<S>>,
    found: &mut ValueSet,
) {
    let accesses = Accesses::of(stmts);
    let changing = accesses.all.iter().filter(|access| access.changes());
    found.extend(changing.map(|access| access.place));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Program;
    use crate::ir::stages::kernels::KernelOp;

    /// The body of a loop over `%1: N` with these statements.
    fn body(statements: &str) -> Program<Kernels> {
        let text = format!(
            "fn f(x: f64[N], own u: f64[N], own v: f64[N], own q: f64[N, N]) -> f64[N] {{
               %0 = const 0.0f64 %2 = var %0 %3 = var %0
               for %1: N {{ {statements} }}
               return u
             }}"
        );
        crate::ir::parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"))
    }

    /// Names of what a loop's body finds and leaves changed, and how often it reads.
    fn found(statements: &str) -> (Vec<String>, usize) {
        let program = body(statements);
        let stmts = &program.body.stmts;
        let Some(KernelOp::For { body, .. }) = stmts.last().map(|stmt| &stmt.op) else {
            panic!("the last statement is the loop")
        };
        let accesses = Accesses::of(&body.stmts);
        let name = |value: ValueId| {
            let param = program.params.iter().find(|param| param.value == value);
            param.map_or("a variable".to_owned(), |param| param.name.clone())
        };
        let changed = accesses.changed().iter().map(name).collect();
        let reads = accesses.outside().filter(|access| !access.changes());
        (changed, reads.count())
    }

    #[test]
    fn changes_are_found_at_any_depth() {
        let at_any_depth = "%4 = load x[%1] %5 = gt %4, %0\nif %5 { for %6: N { store q[%1, %6], %4 } } else { set %2, %4 }";
        let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        for (statements, changed, reads) in [
            ("%4 = load x[%1]", [].as_slice(), 1),
            ("%4 = get %2 store u[%1], %4", &["u"], 1),
            (at_any_depth, &["q", "a variable"], 1),
            ("swap u, v", &["u", "v"], 0),
            ("contract add u[0] = q[0, 1], x[1]", &["u"], 2),
            (
                "combine add %2[], %0 combine add u[%1], %0",
                &["u", "a variable"],
                0,
            ),
            // What the body makes is its own.
            (
                "%4 = copy u store %4[%1], %0 %5 = var %0 set %5, %0 %6 = get %5",
                &[],
                1,
            ),
            // What a kernel combines into its copy it combines into the target.
            (
                "par %4: N (add %5 = %2) { combine add %5[], %0 store u[%4], %0 }",
                &["u", "a variable"],
                0,
            ),
        ] {
            assert_eq!(found(statements), (strings(changed), reads), "{statements}");
        }
    }

    #[test]
    fn what_a_statement_does_in_blocks_is_nested() {
        let program = body("store u[%1], %0 for %4: N { store v[%4], %0 }");
        let Some(KernelOp::For { body, .. }) = program.body.stmts.last().map(|stmt| &stmt.op)
        else {
            panic!("the last statement is the loop")
        };
        let accesses = Accesses::of(&body.stmts);
        let found: Vec<_> = accesses
            .outside()
            .map(|access| (access.number, access.is_nested))
            .collect();
        assert_eq!(found, [(0, false), (1, true)]);
    }
}

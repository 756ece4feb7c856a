//! The verifier: what holds of every program between passes.
//!
//! All stages:
//!
//! 1. Every value is bound once: as a parameter, a block's parameter, a private accumulator, or a
//!    statement's result.
//! 2. What is read has been bound before, in the same block or in one around it.
//! 3. An operation is applied to operands, and holds blocks, of types that [typing](super::typing)
//!    accepts.
//! 4. A statement binds as many values as the operation gives, of these types. In Bulk: with these
//!    axes and its guard's, in any order.
//! 5. An extent that is a value is a `usize`, a scalar but in Bulk, and bound wherever an operation
//!    or the type of what is bound mentions it.
//! 6. The names of parameters and sizes differ, and so do those of axes.
//! 7. A guard is a truth value. Only Bulk has guards.
//!
//! Point:
//!
//! 8. An accumulator is used by `accumulate` and `get` only; `get` stands in the accumulator's own
//!    block, once, after every `accumulate`.
//! 9. `accumulate` does not stand in the operator of a `fold` or `scan`.
//!
//! Bulk:
//!
//! 10. No axis occurs twice in a type, among what an operation works along, or in the order of a
//!     result.
//! 11. Each result of the function has an order of its axes that names all of them.
//! 12. No value bound inside a loop has the loop's axis. Its states have all its lanes.
//! 13. `scatter` does not go over an axis of its base that it does not address; an index or mask of
//!     `update` has none of the axes that it addresses.
//!
//! Kernels:
//!
//! 14. `var`s are only read by `get` and changed by `set` and `combine`; private accumulators are
//!     only combined into, by their own monoid; buffers are what is loaded from and stored to, and
//!     those of the caller are not changed.
//! 15. A `par` stands outside every other `par`.
//! 16. Inside a `par` nothing outside it is changed but by `store`.
//! 17. The function's results are scalars, or buffers allocated here or owned, each given once.
//!
//! Cpu:
//!
//! 18. Only `lanes` use a strip, with as many lanes as it is wide.
//! 19. A lane of those in any order is straight-line but for branches and loops over an axis. What
//!     it changes is its own, or an element at its number or its index or as far from these as all
//!     lanes are, or combined into by a monoid whose order does not show.
//! 20. In overlapping strips nothing from outside is read that is written there, and what is
//!     combined is idempotent.
//! 21. A nest by columns folds nothing, and combines into tables of as many columns as it has, at
//!     the index of a loop over some of an axis. (That this is the nest's own column is said by the
//!     interpreter.)
//! 22. A tile of steps is the host's. Its block is scalars and variables, then kernels, then scalars
//!     and what is done with variables, which what stands before does not ask for. Kernels store to
//!     buffers from outside that the tile writes, at a row of theirs; what else stands there has
//!     nothing to do with these. Where a step has a number, kernels add up into variables. (That no
//!     row further away is read is said by the interpreter.)
//! 23. A nest speculates only where its pieces may be run again: they read no buffer from outside
//!     that they write, and nothing that comes of an angle decides where something is written,
//!     whether they panic, or how long they run.
//! 24. Notes are of tables, and what is combined into these is combined element by element. What
//!     becomes of copies is the host's, made and filled in the same block, and not asked for in
//!     between. (That it holds the identity is said by the interpreter.)
//! 25. A transpose is what its operation says. What is compiled for each level is the host's: it
//!     makes and hands on no buffer, and launches nothing.
//!
//! Gpu:
//!
//! 26. A launch is the host's, and a part stands in a launch.
//! 27. What a thread allocates is as long as a constant says, and neither it nor the host has it
//!     filled. A thread copies and contracts nothing; the host contracts nothing, either.
//! 28. The host loads elements of buffers and changes none. Its variables are its own: launches
//!     neither look at nor change them.
//! 29. Functions of the caller's are called by neither.
//! 30. `lanes` stand in a launch by teams, and in no others. Of what is bound outside of them they
//!     change no array of a thread's and no variable but those that they name, which they only combine
//!     into, by their monoid. By teams no array of a thread's changes places with memory. (That
//!     iterations do not meet in memory is said by the interpreter.)

mod bulk;
mod cpu;
mod gpu;
mod imperative;
mod point;

pub use imperative::{Places, VerifyOwn};

use super::typing::Types;
use std::collections::BTreeSet;
use std::fmt;

use super::print::{Names, Print, print_with_lines};
use super::typing::Typing;
use super::{Block, Extent, Operation, Program, Stage, Stmt, Type, ValueId};

/// What does not hold, and at which statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The number of the invariant.
    pub invariant: u32,
    /// The statement, counted from 0 in the order of the text; `None` for the function as a whole.
    pub stmt: Option<usize>,
    /// What is wrong; values go by their names in the text.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (invariant {})", self.message, self.invariant)
    }
}

impl VerifyError {
    /// An error about a value: `what` continues a sentence that begins with its name.
    fn about<S: Print>(
        program: &Program<S>,
        invariant: u32,
        stmt: Option<usize>,
        value: ValueId,
        what: &str,
    ) -> Self {
        let name = Names::new(program).value(value);
        Self {
            invariant,
            stmt,
            message: format!("`{name}` {what}"),
        }
    }
}

/// A stage with invariants of its own.
pub trait Verify: Print + Typing {
    /// The types of a statement's results.
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>) -> Result<Types<Self::Dim>, String>;

    /// Whether a value may be of this type where that one is expected.
    fn fits(found: &Type<Self::Dim>, expected: &Type<Self::Dim>) -> bool;

    /// The extent of a dimension.
    fn dim_extent(program: &Program<Self>, dim: Self::Dim) -> Option<Extent>;

    /// The extents that an operation mentions itself, by their axes too; `None` if an axis is not
    /// declared.
    fn extents(program: &Program<Self>, op: &Self::Op) -> Option<Vec<Extent>>;

    /// Whether an extent may be a value of this type.
    fn counts(ty: &Type<Self::Dim>) -> bool;

    /// Values that the first block of an operation binds beside its parameters.
    fn private(op: &Self::Op) -> Vec<ValueId>;

    /// The stage's own invariants of a whole program of which 1 to 5 hold.
    fn own(program: &Program<Self>) -> Result<(), VerifyError>;
}

/// Verifies a program.
pub fn verify<S: Verify>(program: &Program<S>) -> Result<(), VerifyError> {
    let mut scope = Scope {
        program,
        bound: vec![Binding::Unbound; program.values.len()],
        stmt: 0,
    };
    let params = program.params.iter().map(|param| param.value);
    scope.bind(params, None)?;
    scope.block(&program.body, &[], None)?;
    let names = program.params.iter().map(|param| param.name.as_str());
    distinct(names.chain(program.sizes.iter().map(|size| size.name.as_str())))?;
    S::own(program)
}

/// Verifies a program after a pass.
///
/// # Panics
/// If an invariant does not hold: names the pass and prints the program with the remark at the
/// statement.
pub fn verify_after<S: Verify>(pass: &str, program: &Program<S>) {
    if let Err(error) = verify(program) {
        panic!("after `{pass}`: {error}\n{}", annotate(program, &error));
    }
}

/// The program's text with the error at the statement that it concerns.
pub fn annotate<S: Print>(program: &Program<S>, error: &VerifyError) -> String {
    let (text, lines) = print_with_lines(program);
    let at = error.stmt.and_then(|stmt| lines.get(stmt).copied());
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        out.push_str(line);
        if at == Some(number) || (at.is_none() && line.starts_with("fn ")) {
            out.push_str(&format!("  ; error: {error}"));
        }
        out.push('\n');
    }
    out
}

/// Invariant 6.
fn distinct<'p>(names: impl Iterator<Item = &'p str>) -> Result<(), VerifyError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(VerifyError {
                invariant: 6,
                stmt: None,
                message: format!("`{name}` is the name of two things"),
            });
        }
    }
    Ok(())
}

/// Whether a value is bound, and whether it can be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    Unbound,
    Visible,
    /// Its block has ended.
    Gone,
}

/// What is bound while the program is walked in the order of the text.
struct Scope<'p, S: Stage> {
    program: &'p Program<S>,
    bound: Vec<Binding>,
    stmt: usize,
}

impl<S: Verify> Scope<'_, S> {
    fn error(
        &self,
        invariant: u32,
        stmt: Option<usize>,
        value: ValueId,
        what: &str,
    ) -> VerifyError {
        VerifyError::about(self.program, invariant, stmt, value, what)
    }

    /// Binds values that become visible together, and looks at the extents in their types.
    fn bind(
        &mut self,
        values: impl Iterator<Item = ValueId> + Clone,
        stmt: Option<usize>,
    ) -> Result<(), VerifyError> {
        for value in values.clone() {
            match self.bound.get(value.index()) {
                None => {
                    return Err(self.error(1, stmt, value, "is not among the program's values"));
                }
                Some(Binding::Visible | Binding::Gone) => {
                    return Err(self.error(1, stmt, value, "is bound twice"));
                }
                Some(Binding::Unbound) => self.bound[value.index()] = Binding::Visible,
            }
        }
        for value in values {
            let ty = self.program.ty(value);
            for &dim in &ty.dims {
                match S::dim_extent(self.program, dim) {
                    Some(extent) => self.extent(extent, stmt)?,
                    None => {
                        return Err(self.error(5, stmt, value, "has an axis that is not declared"));
                    }
                }
            }
            if let Some(extent) = ty.elem.extent() {
                self.extent(extent, stmt)?;
            }
        }
        Ok(())
    }

    fn read(&self, value: ValueId, stmt: Option<usize>) -> Result<(), VerifyError> {
        match self.bound.get(value.index()) {
            Some(Binding::Visible) => Ok(()),
            Some(Binding::Gone) => Err(self.error(2, stmt, value, "is read outside of its block")),
            Some(Binding::Unbound) | None => {
                Err(self.error(2, stmt, value, "is read but not bound before"))
            }
        }
    }

    fn extent(&self, extent: Extent, stmt: Option<usize>) -> Result<(), VerifyError> {
        match extent {
            Extent::Const(_) => Ok(()),
            Extent::Size(size) if (size.0 as usize) < self.program.sizes.len() => Ok(()),
            Extent::Size(_) => Err(VerifyError {
                invariant: 5,
                stmt,
                message: "an extent is a size that is not declared".into(),
            }),
            Extent::Value(value) => {
                if self.bound.get(value.index()) != Some(&Binding::Visible) {
                    return Err(self.error(5, stmt, value, "is an extent where it is not bound"));
                }
                if !S::counts(self.program.ty(value)) {
                    return Err(self.error(5, stmt, value, "is an extent and no `usize`"));
                }
                Ok(())
            }
        }
    }

    /// A block; `more`: what is bound on entry beside its parameters; `around`: the statement that
    /// holds it.
    fn block(
        &mut self,
        block: &Block<S>,
        more: &[ValueId],
        around: Option<usize>,
    ) -> Result<(), VerifyError> {
        let entry = block.params.iter().chain(more).copied();
        self.bind(entry.clone(), around)?;
        for stmt in &block.stmts {
            self.statement(stmt)?;
        }
        for &result in &block.results {
            self.read(result, around)?;
        }
        let results = block.stmts.iter().flat_map(|stmt| &stmt.results).copied();
        for value in entry.chain(results) {
            self.bound[value.index()] = Binding::Gone;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt<S>) -> Result<(), VerifyError> {
        let at = Some(self.stmt);
        self.stmt += 1;
        let error = |invariant, message| VerifyError {
            invariant,
            stmt: at,
            message,
        };
        for value in stmt.op.operands().into_iter().chain(stmt.guard) {
            self.read(value, at)?;
        }
        let extents = S::extents(self.program, &stmt.op)
            .ok_or_else(|| error(5, "an axis is not declared".into()))?;
        for extent in extents {
            self.extent(extent, at)?;
        }
        let private = S::private(&stmt.op);
        for (k, inner) in stmt.op.blocks().into_iter().enumerate() {
            let private = if k == 0 { private.as_slice() } else { &[] };
            self.block(inner, private, at)?;
        }
        let expected = S::expected(self.program, stmt).map_err(|message| error(3, message))?;
        if expected.len() != stmt.results.len() {
            let (gives, binds) = (expected.len(), stmt.results.len());
            let message = format!("the operation gives {gives} values, and {binds} are bound");
            return Err(error(4, message));
        }
        self.bind(stmt.results.iter().copied(), at)?;
        for (&result, expected) in stmt.results.iter().zip(&expected) {
            let found = self.program.ty(result);
            if !S::fits(found, expected) {
                let mut names = Names::new(self.program);
                let (found, expected) = (names.ty(found), names.ty(expected));
                let what = format!("is of type `{found}`, not `{expected}`");
                return Err(self.error(4, at, result, &what));
            }
        }
        Ok(())
    }
}

/// What no text can say; everything else is in `tests/filetests/verify`.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::stages::bulk::{Bulk, BulkOp};
    use crate::ir::stages::point::{Point, PointOp};
    use crate::ir::{AxisId, Elem, SizeId, SpanId};

    fn invariant<S: Verify>(program: &Program<S>) -> Option<u32> {
        verify(program).err().map(|error| error.invariant)
    }

    #[test]
    fn values_are_among_those_of_the_program() {
        let mut program = Program::<Point>::new("f");
        program.body.results.push(ValueId(7));
        assert_eq!(invariant(&program), Some(2));
        program.body.params.push(ValueId(7));
        assert_eq!(invariant(&program), Some(1));
    }

    #[test]
    fn sizes_are_declared() {
        let mut program = Program::<Point>::new("f");
        let value = program.value(Type::scalar(Elem::USIZE), SpanId::NONE);
        let op = PointOp::Size(Extent::Size(SizeId(0)));
        program
            .body
            .stmts
            .push(Stmt::new(vec![value], op, SpanId::NONE));
        assert_eq!(invariant(&program), Some(5));
        program.size("N");
        assert_eq!(invariant(&program), None);
    }

    #[test]
    fn axes_are_declared() {
        let mut program = Program::<Bulk>::new("f");
        let ty = Type::table(Elem::Index(Extent::Const(2)), vec![AxisId(0)]);
        let value = program.value(ty.clone(), SpanId::NONE);
        let stmt = Stmt::new(vec![value], BulkOp::Iota(AxisId(0)), SpanId::NONE);
        program.body.stmts.push(stmt);
        assert_eq!(invariant(&program), Some(5));
        let mut program = Program::<Bulk>::new("f");
        program.param("x", ty, false, SpanId::NONE);
        assert_eq!(invariant(&program), Some(5));
    }

    #[test]
    fn parameters_and_sizes_have_names_of_their_own() {
        let mut program = Program::<Point>::new("f");
        program.size("x");
        program.param("x", Type::scalar(Elem::F64), false, SpanId::NONE);
        assert_eq!(invariant(&program), Some(6));
    }
}

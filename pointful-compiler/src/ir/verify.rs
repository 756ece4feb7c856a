//! The verifier: what holds of every program between passes.
//!
//! All stages:
//!
//! 1. Every value is bound once: as a parameter, a block's parameter, a private accumulator, or a statement's result.
//! 2. What is read has been bound before, in the same block or in one around it.
//! 3. An operation is applied to operands, and holds blocks, of types that [typing](super::typing) accepts.
//! 4. A statement binds as many values as the operation gives, of these types. In Bulk: with these axes and its guard's, in any order.
//!
//! Point:
//!
//! 5. An accumulator is used by `accumulate` and `get` only; `get` stands in the accumulator's own block, once, after every `accumulate`.
//! 6. `accumulate` does not stand in the operator of a `fold` or `scan`.
//!
//! Bulk:
//!
//! 7. A guard is a truth value. Only Bulk has guards.
//! 8. Each result of the function has an order of its axes that names all of them.
//! 9. No value bound inside a loop has the loop's axis.
//!
//! Kernels:
//!
//! 10. `var`s are only read by `get` and changed by `set` and `combine`; private accumulators are only combined into.
//! 11. A `par` stands outside every other `par`.
//! 12. The function's results are scalars, or buffers allocated here or owned, each given once.

mod bulk;
mod kernels;
mod point;

use std::fmt;

use super::print::{Print, print_with_lines};
use super::typing::Typing;
use super::{Block, Operation, Program, Stage, Stmt, Type, ValueId};

/// What does not hold, and at which statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The number of the invariant.
    pub invariant: u32,
    /// The statement, counted from 0 in the order of the text; `None` for the function as a whole.
    pub stmt: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (invariant {})", self.message, self.invariant)
    }
}

/// A stage with invariants of its own.
pub trait Verify: Print + Typing {
    /// The types of a statement's results; `None` where any are right.
    fn expected(program: &Program<Self>, stmt: &Stmt<Self>)
    -> Result<Vec<Type<Self::Dim>>, String>;

    /// Whether a value may be of this type where that one is expected.
    fn fits(found: &Type<Self::Dim>, expected: &Type<Self::Dim>) -> bool;

    /// Values that the blocks of an operation bind beside their parameters.
    fn private(_: &Self::Op) -> Vec<ValueId> {
        Vec::new()
    }

    /// The stage's own invariants of a whole program.
    fn own(program: &Program<Self>) -> Result<(), VerifyError>;
}

/// Verifies a program.
pub fn verify<S: Verify>(program: &Program<S>) -> Result<(), VerifyError> {
    let mut scope = Scope {
        program,
        bound: vec![Binding::Unbound; program.values.len()],
        stmt: 0,
    };
    for param in &program.params {
        scope.bind(param.value, None)?;
    }
    scope.block(&program.body, &[], None)?;
    S::own(program)
}

/// Verifies a program after a pass.
///
/// # Panics
/// If an invariant does not hold: names the pass and prints the program with the remark at the statement.
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

/// Whether a value is bound, and whether it can be seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binding {
    Unbound,
    Visible,
    /// Its block has ended.
    Gone,
}

struct Scope<'p, S: Stage> {
    program: &'p Program<S>,
    bound: Vec<Binding>,
    stmt: usize,
}

impl<S: Verify> Scope<'_, S> {
    fn error<T>(
        &self,
        invariant: u32,
        stmt: Option<usize>,
        message: impl Into<String>,
    ) -> Result<T, VerifyError> {
        Err(VerifyError {
            invariant,
            stmt,
            message: message.into(),
        })
    }

    fn bind(&mut self, value: ValueId, stmt: Option<usize>) -> Result<(), VerifyError> {
        match self.bound.get(value.index()) {
            None => self.error(1, stmt, "a value has no entry among the program's values"),
            Some(Binding::Visible | Binding::Gone) => self.error(1, stmt, "a value is bound twice"),
            Some(Binding::Unbound) => {
                self.bound[value.index()] = Binding::Visible;
                Ok(())
            }
        }
    }

    fn read(&self, value: ValueId, stmt: Option<usize>) -> Result<(), VerifyError> {
        match self.bound.get(value.index()) {
            Some(Binding::Visible) => Ok(()),
            Some(Binding::Gone) => self.error(2, stmt, "a value is read outside of its block"),
            Some(Binding::Unbound) | None => {
                self.error(2, stmt, "a value is read that is not bound before")
            }
        }
    }

    /// A block; `more`: what is bound on entry beside its parameters; `around`: the statement that holds it.
    fn block(
        &mut self,
        block: &Block<S>,
        more: &[ValueId],
        around: Option<usize>,
    ) -> Result<(), VerifyError> {
        let mut own = Vec::new();
        for &value in block.params.iter().chain(more) {
            self.bind(value, around)?;
            own.push(value);
        }
        for stmt in &block.stmts {
            let number = self.stmt;
            self.stmt += 1;
            for value in stmt.op.operands().into_iter().chain(stmt.guard) {
                self.read(value, Some(number))?;
            }
            let private = S::private(&stmt.op);
            for inner in stmt.op.blocks() {
                self.block(inner, &private, Some(number))?;
            }
            let expected = S::expected(self.program, stmt)
                .or_else(|message| self.error(3, Some(number), message))?;
            if expected.len() != stmt.results.len() {
                return self.error(
                    4,
                    Some(number),
                    format!("the operation gives {} values", expected.len()),
                );
            }
            for (&result, expected) in stmt.results.iter().zip(&expected) {
                self.bind(result, Some(number))?;
                own.push(result);
                if !S::fits(self.program.ty(result), expected) {
                    let found = self.program.ty(result);
                    return self.error(
                        4,
                        Some(number),
                        format!("a result is {found:?}, not {expected:?}"),
                    );
                }
            }
        }
        for &result in &block.results {
            self.read(result, around)?;
        }
        for value in own {
            self.bound[value.index()] = Binding::Gone;
        }
        Ok(())
    }
}

//! Simplification: local rewrite rules, applied until none applies.
//!
//! # The idea
//!
//! One walk in the order of the program, over operands that are simple already. A rule looks at one
//! statement and, through [`Context`], at what defines its operands; it answers with a value that
//! is there already, a constant, or another operation. A walk that has changed something may have
//! made room for more, in statements before it, too, so walks are repeated, a few at most.
//!
//! Rules on scalars are the same at both stages: [`constant_folding`] (constants), [`algebra`],
//! [`cast`], [`ranges`] (what is known of ranges). [`point`] and [`bulk`] add those on tables and
//! blocks, [`loop_states`] those on states.
//!
//! # Why it is sound
//!
//! A rule on floats holds for every bit pattern but the payload of a NaN: `x * 1` is `x`, but
//! `x * 0` and `x + 0.0` stay. What may panic is only ever replaced by what provably would not
//! have. In Bulk, a value may be replaced by one with fewer axes, since that is the same along the
//! others; types are brought up to date after each walk. But what may panic does so at each point
//! of its axes, and nowhere if one of them is empty: what it has its axes from keeps them.
//!
//! # Before and after
//!
//! ```text
//! %0 = const 2i32                                %0 = mul x, x
//! %1 = powi x, %0                                %1 = index t[i]
//! %2 = cast i64 i                                %2 = add %0, %1
//! %3 = check I %2                                return %2
//! %4 = index t[%3]
//! %5 = add %1, %4
//! return %5
//! ```

mod algebra;
mod bulk;
mod cast;
mod code_hoisting;
mod constant_folding;
mod context;
mod demanded_conditions;
mod gather_composition;
mod loop_states;
mod point;
mod ranges;

pub(crate) use self::constant_folding::folded;
use self::context::{Context, Rewrite};
use super::substitution::Subst;
use crate::analysis::dataflow::Flow;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::point::Point;
use crate::ir::{Args, Block, Extent, Lit, Operation, Program, Stage, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass at the Point stage.
pub const SIMPLIFY_POINT: Pass<Point> = Pass {
    name: "simplify",
    about: "apply local rewrite rules",
    run: simplify::<Point>,
};

/// The pass at the Bulk stage.
pub const SIMPLIFY_BULK: Pass<Bulk> = Pass {
    name: "simplify",
    about: "apply local rewrite rules",
    run: simplify::<Bulk>,
};

/// A walk that changes nothing ends it; deeper chains than this are left for the next time.
const MOST_WALKS: usize = 8;

/// Applies local rewrite rules.
#[allow(private_bounds, reason = "the rules are the pass's own business")]
pub fn simplify<S: Simplify>(mut program: Program<S>) -> Program<S> {
    let derives = S::derives(&program.body);
    for _ in 0..MOST_WALKS {
        let mut pinned = S::pinned(&program.body, &program);
        // Derivatives to be taken need to know what stands in a branch.
        let settled = !derives && S::settle(&mut program, &pinned);
        if settled {
            pinned = S::pinned(&program.body, &program);
        }
        let mut body = std::mem::take(&mut program.body);
        let mut walk = Walk {
            context: Context::new(&mut program, derives, pinned),
            subst: Subst::new(),
            changed: false,
        };
        walk.block(&mut body);
        let Walk { subst, changed, .. } = walk;
        program.body = body;
        if settled || changed {
            subst.types(&mut program);
            S::retype(&mut program);
        }
        // Choices that have been made are found all at once: if that gave no rule anything to do, there is nothing more.
        if !changed {
            break;
        }
    }
    program
}

/// What the operation of a statement is, where both stages have it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar<'a> {
    /// A constant.
    Const(Lit),
    /// How large an extent is.
    Size(Extent),
    /// A primitive.
    Prim(Prim, &'a [ValueId]),
    /// Something else.
    Other,
}

/// What a rule that may look at everything answers.
pub(crate) enum Answer<S: Stage> {
    /// Nothing.
    Keep,
    /// The results are these values.
    Values(Vec<ValueId>),
    /// Another operation gives the same.
    Op(S::Op),
    /// The statements of a block of the operation, and these values are the results. It has no
    /// parameters.
    Block(Block<S>),
}

/// A stage that can be simplified.
pub(crate) trait Simplify: Flow {
    /// The operation as both stages have it.
    fn scalar(op: &Self::Op) -> Scalar<'_>;
    /// A constant.
    fn constant(lit: Lit) -> Self::Op;
    /// A primitive.
    fn prim(prim: Prim, args: Args) -> Self::Op;
    /// The stage's own rules, before the blocks of the statement are simplified.
    fn before(context: &Context<'_, Self>, stmt: &Stmt<Self>) -> Answer<Self>;
    /// The stage's own rules. What they ask for that is not there yet they put into `out`.
    fn rewrite(
        context: &mut Context<'_, Self>,
        stmt: &Stmt<Self>,
        out: &mut Vec<Stmt<Self>>,
    ) -> Answer<Self>;
    /// Tables whose sub-tables are all the same value, which is bound outside the statement.
    fn uniform(stmt: &Stmt<Self>) -> Vec<(ValueId, ValueId)>;
    /// What must keep its axes, because an operation that may panic, and that must not where an
    /// axis is empty, has them from it.
    fn pinned(body: &Block<Self>, program: &Program<Self>) -> ValueSet;
    /// Whether there are derivatives to be taken.
    fn derives(body: &Block<Self>) -> bool;
    /// Replaces choices that have been made already where their values are wanted; what is pinned
    /// keeps its axes. Says whether there were any.
    fn settle(program: &mut Program<Self>, pinned: &ValueSet) -> bool;
    /// What a loop collects that is the same in all iterations: the results, and the values outside
    /// that they are. Moves the statements that bind those to `out`.
    fn uncollect(
        context: &Context<'_, Self>,
        stmt: &mut Stmt<Self>,
        out: &mut Vec<Stmt<Self>>,
    ) -> Vec<(ValueId, ValueId)>;
    /// Whether this result of an operation that stands behind no guard may say nothing somewhere.
    fn is_unspecified(context: &Context<'_, Self>, op: &Self::Op, result: ValueId) -> bool;
    /// Whether a guard is still needed.
    fn needs_guard(context: &Context<'_, Self>, stmt: &Stmt<Self>) -> bool;
    /// The axes at each of whose points a block of the operation runs on its own.
    fn lanes(op: &Self::Op) -> &[Self::Dim];
}

struct Walk<'a, S: Simplify> {
    context: Context<'a, S>,
    subst: Subst,
    changed: bool,
}

impl<S: Simplify> Walk<'_, S> {
    fn block(&mut self, block: &mut Block<S>) {
        let room = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::replace(&mut block.stmts, room) {
            self.stmt(stmt, &mut block.stmts);
        }
        self.subst.results(block);
    }

    fn stmt(&mut self, mut stmt: Stmt<S>, out: &mut Vec<Stmt<S>>) {
        self.subst.stmt(&mut stmt);
        match S::before(&self.context, &stmt) {
            Answer::Keep => {}
            Answer::Op(op) => self.change(&mut stmt, op),
            Answer::Values(values) => return self.replace(&stmt, &values),
            Answer::Block(mut block) => {
                let stmts = std::mem::take(&mut block.stmts);
                for inner in stmts {
                    self.stmt(inner, out);
                }
                self.subst.results(&mut block);
                return self.replace(&stmt, &block.results);
            }
        }
        let states = loop_states::invariant(&stmt, &self.context);
        if !states.is_empty() {
            loop_states::free(&mut stmt, &states, &mut self.subst);
            self.changed = true;
        }
        let around = self.context.lanes.len();
        self.context.lanes.extend_from_slice(S::lanes(&stmt.op));
        for inner in stmt.op.blocks_mut() {
            self.block(inner);
        }
        self.context.lanes.truncate(around);
        self.changed |= code_hoisting::merge(&mut stmt, &mut self.subst);
        for (result, value) in S::uncollect(&self.context, &mut stmt, out) {
            self.subst.replace(result, value);
            self.changed = true;
        }
        loop {
            if stmt.guard.is_some() && !self.needs_guard(&stmt) {
                stmt.guard = None;
                self.changed = true;
                continue;
            }
            match self.rewrite(&stmt, out) {
                Answer::Keep => break,
                Answer::Op(op) => self.change(&mut stmt, op),
                Answer::Values(values) => return self.replace(&stmt, &values),
                // Blocks are spliced before they are simplified.
                Answer::Block(_) => break,
            }
        }
        self.context.define(&stmt);
        out.push(stmt);
    }

    fn needs_guard(&self, stmt: &Stmt<S>) -> bool {
        let operands = stmt.op.operands();
        S::needs_guard(&self.context, stmt)
            || !self.may_have_axes(stmt, &self.context.axes(&operands))
    }

    fn may_have_axes(&self, stmt: &Stmt<S>, axes: &[S::Dim]) -> bool {
        let mut results = stmt.results.iter();
        results.all(|&result| self.context.may_have_axes(result, axes))
    }

    fn change(&mut self, stmt: &mut Stmt<S>, op: S::Op) {
        stmt.op = op;
        self.changed = true;
    }

    fn replace(&mut self, stmt: &Stmt<S>, values: &[ValueId]) {
        for (&result, &value) in stmt.results.iter().zip(values) {
            self.subst.replace(result, value);
        }
        self.changed = true;
    }

    fn rewrite(&mut self, stmt: &Stmt<S>, out: &mut Vec<Stmt<S>>) -> Answer<S> {
        if let Scalar::Prim(prim, args) = S::scalar(&stmt.op)
            && let Some(rewrite) = primitive(&self.context, prim, args)
        {
            let mut leaves = Vec::new();
            rewrite.leaves(&mut leaves);
            if !self.may_have_axes(stmt, &self.context.axes(&leaves)) {
                return Answer::Keep;
            }
            return match rewrite {
                Rewrite::Value(value) => Answer::Values(vec![value]),
                rewrite => Answer::Op(self.build(rewrite, stmt, out)),
            };
        }
        if let Scalar::Size(Extent::Const(n)) = S::scalar(&stmt.op) {
            return Answer::Op(S::constant(Lit::Int(
                crate::ir::Scalar::Usize,
                i128::from(n),
            )));
        }
        let answer = S::rewrite(&mut self.context, stmt, out);
        let axes = match &answer {
            Answer::Keep | Answer::Block(_) => return answer,
            Answer::Values(values) => self.context.axes(values),
            Answer::Op(op) => {
                let types = S::types(self.context.program, op, None).unwrap_or_default();
                types.into_iter().flat_map(|ty| ty.dims).collect()
            }
        };
        if self.may_have_axes(stmt, &axes) {
            answer
        } else {
            Answer::Keep
        }
    }

    /// The operation that a rewrite is; operands that are not there yet are defined before it.
    fn build(&mut self, rewrite: Rewrite, stmt: &Stmt<S>, out: &mut Vec<Stmt<S>>) -> S::Op {
        match rewrite {
            Rewrite::Const(lit) => S::constant(lit),
            Rewrite::Prim(prim, args) => {
                let args = args
                    .into_iter()
                    .map(|arg| match arg {
                        Rewrite::Value(value) => value,
                        Rewrite::Const(_) | Rewrite::Prim(..) => self.operand(arg, stmt, out),
                    })
                    .collect();
                S::prim(prim, args)
            }
            // Only operands are values, and those are not built.
            Rewrite::Value(_) => stmt.op.clone(),
        }
    }

    /// Defines an operand of a rewritten statement.
    fn operand(&mut self, rewrite: Rewrite, stmt: &Stmt<S>, out: &mut Vec<Stmt<S>>) -> ValueId {
        let elem = rewrite.elem(&self.context);
        let constant = matches!(rewrite, Rewrite::Const(_));
        let op = self.build(rewrite, stmt, out);
        let guard = stmt.guard.filter(|_| !constant);
        self.context.bind(op, elem, guard, stmt.span, out)
    }
}

/// The rules on primitives.
fn primitive<S: Simplify>(
    context: &Context<'_, S>,
    prim: Prim,
    args: &[ValueId],
) -> Option<Rewrite> {
    constant_folding::rule(context, prim, args)
        .or_else(|| ranges::rule(context, prim, args))
        .or_else(|| cast::rule(context, prim, args))
        .or_else(|| algebra::rule(context, prim, args))
}

//! Inference: from the Surface tree of one function to the typed tree.
//!
//! Names are resolved and types found in one walk in program order. An expression whose type
//! depends on something not known yet (the parameter of a closure that is called further down)
//! leaves a [`Deferred`] question, which is asked again as soon as more is known and at the end of
//! the function at the latest. Callees were inferred before; only their signatures matter here.

mod call;
pub(super) mod constant;
mod exhaustive;
mod expr;
mod extent;
mod external;
mod index;
mod loops;
mod method;
mod ops;
mod pattern;
mod print;
mod ragged;
mod reading;
mod reference;
mod rule;
mod signature;
mod transform;
mod variant;
mod vector;

#[cfg(any(test, feature = "testing"))]
pub(super) use self::{call::accumulator::ACCUMULATORS, vector::METHODS as VECTOR_METHODS};

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};

use self::constant::{ConstantCast, ConstantIndex};
use self::extent::Bounds;
use self::ops::Deferred;
use self::reference::is_reference;
use self::signature::Given;
use super::hir::{
    Block, Closure, Constant, Expr, Function, Kind, Local, LocalId, Origin, Pattern, Stmt,
};
use super::solve::{Clash, SetKind, Solver, TyKind};
use super::types::{Printer, Set, Ty};
use crate::diag::{Diagnostic, Diagnostics, lowering as say};
use crate::ir::SpanId;
use crate::places::Places;
use crate::syntax::tree::{self, Linked};

/// What all functions of one program share.
pub(super) struct Shared<'a> {
    /// The program.
    pub(super) linked: &'a Linked,
    /// Position of the function with this callee id.
    pub(super) position: Vec<(usize, usize)>,
    /// Functions inferred so far: callees before callers.
    pub(super) done: Vec<Function<'a>>,
    /// Constants that must be the same length.
    pub(super) equal: Vec<(String, String)>,
    /// The places of expressions.
    pub(super) places: Places,
    /// What is wrong.
    pub(super) diags: Diagnostics,
}

/// Inference of one function.
struct Infer<'s, 'a> {
    shared: &'s mut Shared<'a>,
    tree: &'a tree::Function,
    generics: Vec<String>,
    /// In the definition of a generic type: what its generics are.
    given: Vec<(&'a Ident, Given)>,
    solver: Solver,
    ranges: BTreeMap<(Option<Set>, Bounds), Set>,
    locals: Vec<Local>,
    scopes: Vec<Vec<(String, LocalId)>>,
    /// The number of locals where each closure around the current expression begins.
    closures: Vec<usize>,
    constants: Vec<Constant>,
    printed: Option<LocalId>,
    constant_indices: Vec<ConstantIndex>,
    constant_casts: Vec<ConstantCast>,
    /// The sets of loops that run over `Dyn`.
    any_sets: Vec<Set>,
    deferred: Vec<Deferred<'a>>,
}

/// Infers one function.
pub(super) fn function<'a>(shared: &mut Shared<'a>, tree: &'a tree::Function) -> Function<'a> {
    let generics = tree.generics.iter().map(|g| g.name.to_string()).collect();
    let mut infer = Infer {
        shared,
        tree,
        generics,
        given: Vec::new(),
        solver: Solver::default(),
        ranges: BTreeMap::new(),
        locals: Vec::new(),
        scopes: vec![Vec::new()],
        closures: Vec::new(),
        constants: Vec::new(),
        printed: None,
        constant_indices: Vec::new(),
        constant_casts: Vec::new(),
        any_sets: Vec::new(),
        deferred: Vec::new(),
    };
    let mut params = Vec::new();
    for param in &tree.params {
        let ty = infer.written(&param.ty, SetKind::Dyn);
        let origin = match &param.ty.kind {
            tree::TypeKind::Ref { mutable: true, .. } => Origin::Exclusive,
            tree::TypeKind::Ref { mutable: false, .. } => Origin::Shared,
            _ => Origin::Param,
        };
        let mutable = param.mutable || origin == Origin::Exclusive;
        params.push(infer.bind(
            &param.name.to_string(),
            ty,
            mutable,
            origin,
            param.name.span(),
        ));
    }
    let result = infer.written(&tree.result, SetKind::DynResult);
    let body = match tree.is_extern() {
        true => infer.external(&params, &result),
        false => infer.body(&tree.body, &result),
    };
    let rule = infer.rule(&params, &result);
    infer.finish();
    for pair in std::mem::take(&mut infer.solver.equal) {
        if !infer.shared.equal.contains(&pair) {
            infer.shared.equal.push(pair);
        }
    }
    Function {
        tree,
        generics: infer.generics,
        params,
        result,
        body,
        rule,
        locals: infer.locals,
        constants: infer.constants,
        printed: infer.printed,
        solver: infer.solver,
    }
}

impl<'s, 'a> Infer<'s, 'a> {
    /// The function's body against its result type.
    fn body(&mut self, tree: &'a tree::Block, result: &Ty) -> Block {
        self.scopes.push(Vec::new());
        let (block, ty) = self.block_in_scope(tree, Some(result));
        let span = block
            .value
            .as_ref()
            .map_or(self.tree.result.span, |v| self.shared.places.get(v.span));
        let what = format!("`{}` returns {}", self.tree.name, self.show(result));
        let semicolon = (ty == Ty::UNIT).then(|| last_semicolon(tree)).flatten();
        self.expect(result, &ty, span, || match semicolon {
            Some(place) => format!("{what}; leave out the `;` behind the last expression {place}"),
            None if *result == Ty::UNIT => format!("{what}; write `-> …` behind its parameters"),
            None => what,
        });
        self.scopes.pop();
        block
    }

    /// Asks the deferred questions for the last time and reports what is still unknown.
    fn finish(&mut self) {
        self.settle();
        // While literals may still be of any type.
        while self.give_axes() {
            self.settle();
        }
        self.open_constants(|s, var| s.solver.moves(var));
        self.solver.default_literals();
        self.constant_indices();
        self.open_indices();
        self.settle();
        self.settle_at_last();
        self.solver.default_literals();
        self.constant_lengths();
        let quiet = !self.shared.diags.is_empty();
        let any_sets = self.any_sets.iter().map(|set| self.solver.set(set));
        let any_sets: Vec<Set> = any_sets.collect();
        let undetermined = self.solver.undetermined_sets();
        if !quiet {
            self.finish_constants();
            for (var, span) in undetermined {
                self.report(match any_sets.contains(&Set::Var(var)) {
                    true => say::unsaid_set(span),
                    false => say::undetermined_set(span),
                });
            }
            for k in 0..self.locals.len() {
                let local = self.locals[k].clone();
                if self.solver.undetermined(&local.ty).is_some() {
                    self.report(say::undetermined_type(local.span, &local.name));
                    // What has a part of this type is no further mistake.
                    self.solver.give_up(&local.ty);
                }
            }
            self.rows_at_later_members();
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.shared.diags.push(diagnostic);
    }

    fn printer(&self) -> Printer<'_> {
        Printer {
            linked: self.shared.linked,
            generics: &self.generics,
            solver: &self.solver,
            shows_ranges: true,
        }
    }

    /// Prints types as an annotated function has them.
    fn printer_of(&self, position: usize) -> Printer<'_> {
        let function = &self.shared.done[position];
        Printer {
            linked: self.shared.linked,
            generics: &function.generics,
            solver: &function.solver,
            shows_ranges: true,
        }
    }

    /// The type as a message shows it.
    fn show(&self, ty: &Ty) -> String {
        let ty = self.solver.ty(ty);
        if let Ty::Var(v) = ty {
            return match self.solver.kind(v) {
                TyKind::Any => "a value of unknown type".into(),
                TyKind::Number => "a number".into(),
                TyKind::Int => "an integer".into(),
                TyKind::Float => "a float".into(),
            };
        }
        self.printer().quoted(&ty)
    }

    /// The set as a message shows it.
    fn show_set(&self, set: &Set) -> String {
        let set = self.solver.set(set);
        match set {
            Set::Range(k) => match self.solver.range(k) {
                text @ ("a range" | "a row") => format!("{text} of its own"),
                text => format!("the range `{text}`"),
            },
            Set::Row(_, row) => format!("the row at `{}`", self.locals[row as usize].name),
            Set::Ragged(..) => "the rows of a `Ragged`".into(),
            set => format!("`{}`", self.printer().set(&set)),
        }
    }

    fn span(&mut self, span: Span) -> SpanId {
        self.shared.places.add(span)
    }

    fn unknown(&mut self, span: Span) -> Ty {
        self.solver.fresh(TyKind::Any, span)
    }

    /// An expression that was reported.
    fn poison(&mut self, span: Span) -> Expr {
        Expr {
            kind: Kind::Error,
            ty: Ty::Error,
            span: self.span(span),
        }
    }

    /// Reports and gives a poisoned expression.
    fn fail(&mut self, diagnostic: Diagnostic) -> Expr {
        let span = diagnostic.span;
        self.report(diagnostic);
        self.poison(span)
    }

    /// Makes `found` equal to what is expected, or reports at `span` and says where the expectation
    /// came from.
    fn expect(&mut self, want: &Ty, found: &Ty, span: Span, why: impl FnOnce() -> String) -> bool {
        match self.solver.unify(want, found) {
            Ok(()) => true,
            Err(clash) => {
                let mut diagnostic =
                    say::mismatch(span, &self.show(want), &self.show(found), &why());
                if let Clash::Sets(a, b, reason) = clash {
                    diagnostic = diagnostic.help(format!(
                        "{} and {} are different index sets",
                        self.show_set(&a),
                        self.show_set(&b)
                    ));
                    if let Some(reason) = reason {
                        diagnostic = diagnostic.help(reason);
                    }
                    if let (set @ Set::Param(_), Set::Range(_))
                    | (Set::Range(_), set @ Set::Param(_)) =
                        (self.solver.set(&a), self.solver.set(&b))
                    {
                        let set = self.printer().set(&set);
                        diagnostic = diagnostic.help(format!(
                            "over the members of `{set}` a loop is `for i in {set} {{ … }}`"
                        ));
                    }
                } else if let Some(help) = self.conversion(want, found) {
                    diagnostic = diagnostic.help(help);
                }
                if self.is_ragged(want) && !self.is_ragged(found) {
                    diagnostic = diagnostic.help(say::rows_made());
                }
                self.report(diagnostic);
                false
            }
        }
    }

    /// What to write so that a value fits.
    fn conversion(&self, want: &Ty, found: &Ty) -> Option<String> {
        let (want, found) = (self.solver.shallow(want), self.solver.shallow(found));
        let is_int = |ty: &Ty| match ty {
            Ty::Scalar(s) => s.is_int(),
            Ty::Var(v) => self.solver.kind(*v) == TyKind::Int,
            _ => false,
        };
        let literal = matches!(found, Ty::Var(_));
        match (&want, &found) {
            (Ty::Either(_), Ty::Member(Set::Either(..)))
            | (Ty::Member(Set::Either(..)), Ty::Either(_)) => Some(
                "`Either` of two members is a member itself; where only one side is, say the type, as in `let e: Either<N, f64> = …`"
                    .into(),
            ),
            (w, f) if self.known_float(w) && is_int(f) && literal => {
                Some("write the literal with a point, as in `2.0`".into())
            }
            (w, f) if is_int(w) && self.known_float(f) && literal => {
                Some("write the literal without a point, as in `2`".into())
            }
            (Ty::Scalar(to), Ty::Scalar(from)) if to != from && *to != crate::ir::Scalar::Bool => {
                Some(format!("convert it with `as {}`", to.name()))
            }
            // Tables are converted as their elements are.
            (Ty::Table(_, want), Ty::Table(_, found)) => self.conversion(want, found),
            (w, Ty::Member(_)) if is_int(w) => Some("`.ordinal()` is the member's number".into()),
            (Ty::Member(Set::Param(_) | Set::Named(_) | Set::Fin(_)), f) if is_int(f) => {
                let Ty::Member(set) = &want else {
                    return None;
                };
                let set = self.printer().set(set);
                Some(format!("the member of this number is `{set}::from_ordinal(k)`"))
            }
            (_, Ty::Accum(_)) => Some("`get()` gives what was accumulated".into()),
            (&Ty::BOOL, Ty::Table(_, cell)) if self.solver.shallow(cell) == Ty::BOOL => {
                Some("`all(…)` and `any(…)` make one truth value of a table".into())
            }
            (w, Ty::Table(..)) if self.known_float(w) || is_int(w) => {
                Some("`sum(…)`, `max(…)` and their like make one number of a table, `sum(sum(t))` of a table of rows".into())
            }
            _ => None,
        }
    }

    /// Whether a type is known to be one of floats.
    fn known_float(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Scalar(s) => s.is_float(),
            Ty::Float(_) => true,
            Ty::Var(v) => self.solver.kind(*v) == TyKind::Float,
            _ => false,
        }
    }

    // ---- scopes ----

    fn bind(&mut self, name: &str, ty: Ty, mutable: bool, origin: Origin, span: Span) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local {
            name: name.to_owned(),
            ty,
            mutable,
            origin,
            reference: matches!(origin, Origin::Shared | Origin::Exclusive | Origin::Slice),
            params: Vec::new(),
            span,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.to_owned(), id));
        }
        id
    }

    fn lookup(&self, name: &str) -> Option<LocalId> {
        self.scopes
            .iter()
            .rev()
            .flat_map(|scope| scope.iter().rev())
            .find(|(n, _)| n == name)
            .map(|(_, id)| *id)
    }

    fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }

    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Vec::new());
        let result = f(self);
        self.scopes.pop();
        result
    }

    // ---- blocks ----

    fn block(&mut self, block: &'a tree::Block, want: Option<&Ty>) -> (Block, Ty) {
        self.scoped(|s| s.block_in_scope(block, want))
    }

    fn block_in_scope(&mut self, block: &'a tree::Block, want: Option<&Ty>) -> (Block, Ty) {
        let mut stmts = Vec::new();
        for (k, stmt) in block.stmts.iter().enumerate() {
            let next = block.stmts.get(k + 1).map(next_expr);
            let next = next.unwrap_or(block.value.as_deref());
            self.stmt(stmt, next, &mut stmts);
        }
        match &block.value {
            Some(value) => {
                let value = self.expr(value, want);
                let ty = value.ty.clone();
                let value = Some(Box::new(value));
                (Block { stmts, value }, ty)
            }
            None => {
                let value = None;
                (Block { stmts, value }, Ty::UNIT)
            }
        }
    }

    fn stmt(&mut self, stmt: &'a tree::Stmt, next: Option<&tree::Expr>, out: &mut Vec<Stmt>) {
        match stmt {
            tree::Stmt::Let {
                pattern, ty, value, ..
            } => {
                let want = ty.as_ref().map(|ty| self.written(ty, SetKind::DynResult));
                let declared = ty.as_ref().is_some_and(is_reference);
                let reference = declared || self.is_reference(value);
                let mut value = self.expr(value, want.as_ref());
                if let Some(want) = &want {
                    let span = self.shared.places.get(value.span);
                    let what = format!("the `let` says {}", self.show(want));
                    if !self.expect(want, &value.ty, span, || what) {
                        // It is what it says, so that nobody else is told.
                        value.ty = want.clone();
                    }
                }
                let bound = self.bound(pattern, value);
                if let (true, Stmt::Let(pattern, _)) = (reference, &bound) {
                    self.may_be_reference(pattern);
                }
                out.push(bound);
            }
            tree::Stmt::Expr { expr, .. } => {
                let value = self.expr(expr, None);
                self.settle();
                if matches!(expr.kind, tree::ExprKind::For { .. })
                    && !matches!(self.solver.shallow(&value.ty), Ty::Error | Ty::Var(_))
                    && self.solver.shallow(&value.ty) != Ty::UNIT
                {
                    self.report(say::dropped_table(
                        expr.span,
                        &self.show(&value.ty),
                        next.is_some_and(|n| {
                            matches!(
                                n.kind,
                                tree::ExprKind::Unary(..)
                                    | tree::ExprKind::Deref(_)
                                    | tree::ExprKind::Ref { .. }
                                    | tree::ExprKind::Paren(_)
                            )
                        }),
                    ));
                }
                out.push(Stmt::Expr(value));
            }
        }
    }
}

impl<'a> Infer<'_, 'a> {
    /// `let p = e;`
    fn bound(&mut self, pattern: &'a tree::Pattern, value: Expr) -> Stmt {
        self.settle();
        let origin = match value.kind {
            Kind::Slice(_) => Origin::Slice,
            _ => Origin::Let,
        };
        let pattern = self.binding(pattern, &value.ty, origin);
        if let (Pattern::Bind(local), Kind::Closure(closure)) = (&pattern, &value.kind) {
            self.locals[local.0 as usize].params = self.parameter_names(closure);
        }
        Stmt::Let(pattern, value)
    }

    /// What the parameters of a closure are called; one that is taken apart has no name.
    fn parameter_names(&self, closure: &Closure) -> Vec<Option<String>> {
        let name = |pattern: &Pattern| match pattern {
            Pattern::Bind(local) => Some(self.local(*local).name.clone()),
            _ => None,
        };
        closure.params.iter().map(name).collect()
    }
}

fn next_expr(stmt: &tree::Stmt) -> Option<&tree::Expr> {
    match stmt {
        tree::Stmt::Expr { expr, .. } => Some(expr),
        tree::Stmt::Let { .. } => None,
    }
}

/// Where a block has a value but for a semicolon.
fn last_semicolon(block: &tree::Block) -> Option<&'static str> {
    let has_one = |block: &tree::Block| {
        matches!(
            block.stmts.last(),
            Some(tree::Stmt::Expr {
                semicolon: true,
                ..
            })
        )
    };
    match block.value.as_deref().map(|value| &value.kind) {
        None => has_one(block).then_some("of its body"),
        Some(tree::ExprKind::For { body, .. }) if body.value.is_none() => {
            has_one(body).then_some("in the `for`")
        }
        Some(_) => None,
    }
}

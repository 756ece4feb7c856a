//! Operators, and the questions about operators, methods and indices that must wait.

use proc_macro2::Span;

use super::Infer;
use crate::diag::{lowering as say, written_power};
use crate::ir::Scalar;
use crate::lower::frames::align;
use crate::lower::hir::{Expr, Kind, LocalId};
use crate::lower::solve::TyKind;
use crate::lower::types::{Set, Ty};
use crate::lower::words::Method;
use crate::syntax::tree::{self, BinaryOp, UnaryOp};

/// A question about types that are not known yet.
#[derive(Clone, Debug)]
pub(super) enum Question<'a> {
    /// What an operator gives, and its right operand as written.
    Binary(BinaryOp, Ty, Ty, &'a tree::Expr),
    /// What a unary operator gives.
    Unary(UnaryOp, Ty),
    /// What a method gives.
    Method(Method, String, Ty, Vec<(Ty, Span)>),
    /// What an index that is not a member selects; the variables that indices are, where they are
    /// such.
    Index(Ty, Vec<(Ty, Span)>, Vec<Option<LocalId>>),
    /// That an accumulator of the first type has cells of the second, which gives `()`.
    Cells(Ty, Ty),
}

/// A question and the type that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Deferred<'a> {
    question: Question<'a>,
    span: Span,
    result: Ty,
}

impl<'a> Infer<'_, 'a> {
    // ---- questions ----

    /// Answers now, or leaves the question for later.
    pub(super) fn ask(&mut self, question: Question<'a>, span: Span) -> Ty {
        if let Some(ty) = self.answer(&question, span) {
            return ty;
        }
        self.settle();
        if let Some(ty) = self.answer(&question, span) {
            return ty;
        }
        let result = self.unknown(span);
        self.deferred.push(Deferred {
            question,
            span,
            result: result.clone(),
        });
        result
    }

    fn answer(&mut self, question: &Question<'a>, span: Span) -> Option<Ty> {
        match question {
            Question::Binary(op, l, r, _) => {
                let comparison = is_comparison(*op);
                self.constant_operand(l, r, comparison);
                self.constant_operand(r, l, comparison);
            }
            Question::Method(Method::Ordinal, ..) => {}
            Question::Unary(_, x) | Question::Method(_, _, x, _) => self.narrow(x),
            Question::Index(..) | Question::Cells(..) => {}
        }
        match question {
            Question::Binary(op, l, r, right) => self.binary_type(*op, (l, r), right, span),
            Question::Unary(op, x) => self.unary_type(*op, x, span),
            Question::Method(method, name, receiver, args) => {
                self.method_type(*method, name, receiver, args, span)
            }
            Question::Index(base, parts, names) => self.index_type(base, parts, names, span),
            Question::Cells(whole, cell) => {
                if self.is_open(&self.split(whole).1) {
                    return None;
                }
                if !self.has_cells(whole, cell) {
                    let (whole, cell) = (self.show(whole), self.show(cell));
                    self.report(say::monoid_cells(span, &whole, &cell));
                }
                Some(Ty::UNIT)
            }
        }
    }

    /// Makes the cells of a type be of another type; says whether they can be.
    fn has_cells(&mut self, whole: &Ty, cell: &Ty) -> bool {
        if let (Ty::Tuple(wholes), Ty::Tuple(cells)) =
            (self.solver.shallow(whole), self.solver.shallow(cell))
        {
            let mut pairs = wholes.iter().zip(&cells);
            return wholes.len() == cells.len() && pairs.all(|(w, c)| self.has_cells(w, c));
        }
        let ((groups, elem), (inner, _)) = (self.split(whole), self.split(cell));
        let axes = self.solver.atoms(&groups).len();
        let kept = self.solver.atoms(&inner).len();
        axes >= kept
            && self
                .solver
                .unify(
                    cell,
                    &Ty::table(crate::lower::types::drop_atoms(&groups, axes - kept), elem),
                )
                .is_ok()
    }

    /// Asks the waiting questions again until none can be answered.
    pub(super) fn settle(&mut self) {
        loop {
            let waiting = std::mem::take(&mut self.deferred);
            let before = waiting.len();
            for question in waiting {
                match self.answer(&question.question, question.span) {
                    Some(ty) => self.settled(&question, &ty),
                    None => self.deferred.push(question),
                }
            }
            if self.deferred.len() == before || self.deferred.is_empty() {
                return;
            }
        }
    }

    fn settled(&mut self, question: &Deferred<'a>, ty: &Ty) {
        let result = question.result.clone();
        self.expect(&result, ty, question.span, || {
            "of how the value is used".into()
        });
    }

    /// What is still open at the end, innermost first: operands of an operator are of one type;
    /// nothing else can be guessed.
    pub(super) fn settle_at_last(&mut self) {
        loop {
            self.settle();
            if self.deferred.is_empty() {
                return;
            }
            if self.give_axes() {
                continue;
            }
            let question = self.deferred.remove(0);
            if let Question::Binary(_, l, r, _) = &question.question {
                let (l, r) = (l.clone(), r.clone());
                self.expect(&l, &r, question.span, || {
                    "both operands are of one type".into()
                });
            }
            // What nothing is put to by index is one cell.
            if let Question::Cells(whole, cell) = &question.question {
                let _ = self.solver.unify(&self.split(whole).1, cell);
            }
            match self.answer(&question.question, question.span) {
                Some(ty) => self.settled(&question, &ty),
                None => {
                    let diagnostic = match &question.question {
                        Question::Method(_, _, receiver, _) if self.is_constant(receiver) => {
                            say::constant_unknown(question.span)
                        }
                        _ => say::unknown_operand(question.span),
                    };
                    self.report(diagnostic);
                    let _ = self.solver.unify(&question.result, &Ty::Error);
                }
            }
        }
    }

    /// Takes the first thing that is indexed and not known to have axes for a table with as many as
    /// it has indices; how else it is used says over which sets.
    pub(super) fn give_axes(&mut self) -> bool {
        let open = |s: &Self, question: &Deferred<'a>| match &question.question {
            Question::Index(base, parts, _) if !s.is_constant(base) => {
                let (groups, elem) = s.split(base);
                s.is_open(&elem).then(|| (groups, elem, parts.clone()))
            }
            _ => None,
        };
        let found = self
            .deferred
            .iter()
            .find_map(|question| open(self, question));
        let Some((groups, elem, parts)) = found else {
            return false;
        };
        let known = self.solver.atoms(&groups).len();
        let more = self.axes_of_indices(&parts, known);
        let held = self.solver.fresh(
            TyKind::Any,
            parts.first().map_or(Span::call_site(), |p| p.1),
        );
        !more.is_empty()
            && self
                .solver
                .unify(&elem, &Ty::Table(more, Box::new(held)))
                .is_ok()
    }

    // ---- operators ----

    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        x: &'a tree::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let x = self.expr(x, want);
        let ty = self.ask(Question::Unary(op, x.ty.clone()), span);
        self.made(Kind::Unary(op, Box::new(x)), ty, span)
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        x: &'a tree::Expr,
        y: &'a tree::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let hint = if is_comparison(op) { None } else { want };
        let x = self.expr(x, hint);
        let right = y;
        let y = self.expr(right, hint);
        let question = Question::Binary(op, x.ty.clone(), y.ty.clone(), right);
        let ty = self.ask(question, op_span);
        self.made(Kind::Binary(op, Box::new(x), Box::new(y)), ty, span)
    }

    fn unary_type(&mut self, op: UnaryOp, x: &Ty, span: Span) -> Option<Ty> {
        let x = self.solver.shallow(x);
        let (groups, cell) = self.split(&x);
        let holds = match (&cell, op) {
            (Ty::Error, _) => return Some(Ty::Error),
            (Ty::Var(v), op) => match (self.solver.kind(*v), op) {
                (TyKind::Any, _) => return None,
                (TyKind::Number, UnaryOp::Neg) => {
                    self.solver.negate(*v);
                    true
                }
                (TyKind::Int | TyKind::Number, _) | (TyKind::Float, UnaryOp::Neg) => true,
                (TyKind::Float, UnaryOp::Not) => false,
            },
            (Ty::Float(_), op) => op == UnaryOp::Neg,
            (Ty::Scalar(s), UnaryOp::Neg) => s.is_float() || s.is_signed_int(),
            (Ty::Scalar(s), UnaryOp::Not) => !s.is_float(),
            _ => false,
        };
        if !holds {
            let shown = self.show(&x);
            let sign = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
            };
            self.report(say::unary(span, sign, &shown));
            return Some(Ty::Error);
        }
        Some(Ty::table(groups, cell))
    }

    /// A table's axes and its cells; anything else is its own cell.
    pub(super) fn split(&self, ty: &Ty) -> (Vec<Set>, Ty) {
        match self.solver.shallow(ty) {
            Ty::Table(groups, elem) => (self.solver.groups(&groups), self.solver.shallow(&elem)),
            other => (Vec::new(), other),
        }
    }

    /// The type of `l op r`, `None` if it depends on what is not known yet.
    fn binary_type(
        &mut self,
        op: BinaryOp,
        (l, r): (&Ty, &Ty),
        right: &tree::Expr,
        span: Span,
    ) -> Option<Ty> {
        let (lg, lc) = self.split(l);
        let (rg, rc) = self.split(r);
        if lc == Ty::Error || rc == Ty::Error {
            return Some(Ty::Error);
        }
        if self.is_open(&lc) || self.is_open(&rc) {
            return None;
        }
        let cell = match self.cell_binary(op, &lc, &rc) {
            Ok(cell) => cell,
            Err(()) => {
                self.binary_error(op, (l, r), right, span);
                return Some(Ty::Error);
            }
        };
        Some(match self.frame(&[lg, rg], span) {
            Some(frame) => Ty::table(frame, cell),
            None => Ty::Error,
        })
    }

    pub(super) fn is_open(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Var(v) if self.solver.kind(*v) == TyKind::Any)
    }

    /// The groups of axes that operands with these groups are repeated over; `None` if they do not
    /// agree, which is reported.
    pub(super) fn frame(&mut self, groups: &[Vec<Set>], span: Span) -> Option<Vec<Set>> {
        if groups.is_empty() {
            // A call without arguments is not repeated.
            return Some(Vec::new());
        }
        let frames: Vec<Vec<Set>> = groups.iter().map(|g| self.solver.atoms(g)).collect();
        match align(&frames, |a, b| self.may_equal(a, b)) {
            Ok(alignment) => {
                let whole = frames[alignment.longest].clone();
                for (frame, positions) in frames.iter().zip(&alignment.positions) {
                    for (set, at) in frame.iter().zip(positions) {
                        let _ = self.solver.unify_sets(set, &whole[*at]);
                    }
                }
                Some(groups[alignment.longest].clone())
            }
            Err((longest, other)) => {
                let show = |k: usize| {
                    let sets: Vec<String> = frames[k].iter().map(|s| self.show_set(s)).collect();
                    sets.join(", ")
                };
                let (a, b) = (show(longest), show(other));
                self.report(say::frames(span, &a, &b));
                None
            }
        }
    }

    /// The type of an operator on cells.
    fn cell_binary(&mut self, op: BinaryOp, l: &Ty, r: &Ty) -> Result<Ty, ()> {
        let is_int = |s: &Self, ty: &Ty| match ty {
            Ty::Scalar(scalar) => scalar.is_int(),
            Ty::Var(v) => matches!(s.solver.kind(*v), TyKind::Int | TyKind::Number),
            _ => false,
        };
        match op {
            BinaryOp::Add | BinaryOp::Sub => match (l, r) {
                (Ty::Member(set) | Ty::Offset(set), other) if is_int(self, other) => {
                    self.length(other);
                    return Ok(Ty::Offset(set.clone()));
                }
                (other, Ty::Member(set) | Ty::Offset(set))
                    if op == BinaryOp::Add && is_int(self, other) =>
                {
                    self.length(other);
                    return Ok(Ty::Offset(set.clone()));
                }
                _ => {}
            },
            BinaryOp::Shl | BinaryOp::Shr => {
                return if is_int(self, l) && is_int(self, r) {
                    Ok(l.clone())
                } else {
                    Err(())
                };
            }
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {}
        }
        self.solver.unify(l, r).map_err(|_| ())?;
        let ty = self.solver.shallow(l);
        if is_comparison(op) {
            let comparable = match &ty {
                Ty::Scalar(_) | Ty::Float(_) | Ty::Member(_) | Ty::Var(_) => true,
                Ty::Tuple(parts) => self.all_members(parts),
                _ => false,
            };
            return if comparable { Ok(Ty::BOOL) } else { Err(()) };
        }
        let bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        let holds = match &ty {
            Ty::Scalar(Scalar::Bool) => bits,
            Ty::Scalar(s) => !bits || s.is_int(),
            Ty::Float(_) => !bits,
            Ty::Var(v) => !bits || self.solver.kind(*v) != TyKind::Float,
            _ => false,
        };
        if holds { Ok(ty) } else { Err(()) }
    }

    /// A number that moves a member is a `usize` if nothing says otherwise; a constant is whatever
    /// integer it is.
    fn length(&mut self, ty: &Ty) {
        let Ty::Var(var) = *ty else {
            return;
        };
        let number = self.solver.kind(var) == TyKind::Number;
        if self.is_constant(ty) {
            self.solver.move_by(var);
        } else if number {
            let _ = self.solver.unify(ty, &Ty::USIZE);
        }
    }

    pub(super) fn all_members(&self, parts: &[Ty]) -> bool {
        parts.iter().all(|p| match self.solver.shallow(p) {
            Ty::Member(_) | Ty::Scalar(Scalar::Bool) => true,
            Ty::Tuple(inner) => self.all_members(&inner),
            _ => false,
        })
    }

    fn binary_error(&mut self, op: BinaryOp, (l, r): (&Ty, &Ty), right: &tree::Expr, span: Span) {
        let (shown_l, shown_r) = (self.show(l), self.show(r));
        let mut diagnostic = say::binary(span, sign(op), &shown_l, &shown_r);
        let (lc, rc) = (self.split(l).1, self.split(r).1);
        let members = |ty: &Ty| matches!(ty, Ty::Member(_) | Ty::Offset(_));
        if members(&lc) || members(&rc) {
            if let (Ty::Member(a), Ty::Member(b)) = (&lc, &rc)
                && self.solver.set(a) != self.solver.set(b)
            {
                diagnostic = diagnostic.help(format!(
                    "{} and {} are different index sets",
                    self.show_set(a),
                    self.show_set(b)
                ));
            }
            diagnostic = diagnostic.help("`.ordinal()` is a member's number");
        } else if let Ty::Tuple(parts) = &lc
            && self.all_members(parts)
        {
            diagnostic = diagnostic.help(
                "an index moves along one axis: take it apart, as in `for (i, j) in …`, and write `(i + 1).wrap()`",
            );
        } else if op == BinaryOp::BitXor && (self.known_float(&lc) || self.known_float(&rc)) {
            diagnostic = diagnostic.help(written_power(right));
        } else if self.mixes_literal(&lc, &rc) || self.mixes_literal(&rc, &lc) {
            diagnostic = diagnostic
                .help("convert the integer with `as f64`, or write the literal without a point");
        } else if let (&Ty::Scalar(left), &Ty::Scalar(right)) = (&lc, &rc)
            && left != Scalar::Bool
            && right != Scalar::Bool
        {
            diagnostic = diagnostic.help(conversions(left, right));
        } else if let Some(help) = self
            .conversion(&lc, &rc)
            .or_else(|| self.conversion(&rc, &lc))
        {
            diagnostic = diagnostic.help(help);
        } else if matches!(lc, Ty::Accum(_)) || matches!(rc, Ty::Accum(_)) {
            diagnostic = diagnostic.help(say::ACCUM_READ);
        }
        self.report(diagnostic);
        // A literal may have any type, so that nothing else that is made of it is reported.
        for literal in [lc, rc] {
            if let Ty::Var(_) = literal {
                self.solver.give_up(&literal);
            }
        }
    }

    /// Whether one is made of a literal with a point, and the other is an integer that is not.
    fn mixes_literal(&self, literal: &Ty, integer: &Ty) -> bool {
        let point = matches!(literal, Ty::Var(v) if self.solver.kind(*v) == TyKind::Float);
        point && matches!(integer, Ty::Scalar(scalar) if scalar.is_int())
    }
}

/// How numbers of two types come to be of one.
fn conversions(left: Scalar, right: Scalar) -> String {
    let [l, r] = [left, right].map(Scalar::name);
    match (left.is_float(), right.is_float()) {
        (true, false) => format!("convert the integer with `as {l}`"),
        (false, true) => format!("convert the integer with `as {r}`"),
        (true, true) | (false, false) => {
            format!("convert one of them: the first with `as {r}`, or the second with `as {l}`")
        }
    }
}

/// Whether an operator compares.
pub(in crate::lower) fn is_comparison(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            true
        }
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => false,
    }
}

/// An operator as written.
pub(super) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
    }
}

//! `reduce` and `scan`, and operators.

use std::rc::Rc;

use proc_macro2::Span;

use crate::diag::lowering as say;
use crate::lower::hir::{Closure, Expr, Kind, Origin, Pattern};
use crate::lower::infer::Infer;
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::{self, ExprKind};

impl<'a> Infer<'_, 'a> {
    /// The set along which `reduce`, `scan` or `filter` goes through a table, and the type of an
    /// element, which may be a row.
    pub(super) fn elements(&mut self, table: &Ty, name: &str, span: Span) -> Option<(Set, Ty)> {
        match self.solver.shallow(table) {
            Ty::Table(groups, elem) => {
                let groups = self.solver.groups(&groups);
                Some((groups[0].clone(), Ty::table(groups[1..].to_vec(), *elem)))
            }
            Ty::Error => None,
            other => {
                let shown = self.show(&other);
                self.report(say::reduce_scalar(span, name, &shown));
                None
            }
        }
    }

    pub(super) fn fold(
        &mut self,
        scan: bool,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let name = if scan { "scan" } else { "reduce" };
        if !self.arity(name, 3, args.len(), at) {
            for arg in args {
                self.expr(arg, None);
            }
            return self.poison(span);
        }
        if let tree::ExprKind::Closure { .. } = args[2].kind {
            return self.fail(say::reduce_function(args[2].span, name));
        }
        let init = self.expr(&args[0], None);
        let mut table = self.expr(&args[2], None);
        self.settle();
        self.constant_array(&table.ty, args[2].span);
        self.as_rows(&mut table, &init.ty);
        let Some((group, inner)) = self.elements(&table.ty, name, args[2].span) else {
            return self.poison(span);
        };
        let init = self.in_every_cell(init, &inner);
        self.expect(&inner, &init.ty, args[0].span, || {
            format!("`{name}` begins with a value of the table's elements' type")
        });
        let op = self.operator(&args[1], &inner, || {
            format!("`{name}` combines two elements into one")
        });
        let ty = if scan {
            Ty::table(vec![group], inner)
        } else {
            inner
        };
        let kind = Kind::Fold {
            scan,
            init: Box::new(init),
            op: Box::new(op),
            table: Box::new(table),
        };
        self.made(kind, ty, span)
    }

    /// A table over a product of sets is one of rows where what it begins with is a row.
    fn as_rows(&mut self, table: &mut Expr, init: &Ty) {
        let Ty::Table(groups, elem) = self.solver.shallow(&table.ty) else {
            return;
        };
        let groups = self.solver.groups(&groups);
        let (row, _) = self.split(init);
        let first = self.solver.atoms(&groups[..1]);
        let inner = self.solver.atoms(&groups[1..]).len();
        let wanted = self.solver.atoms(&row).len().checked_sub(inner);
        let Some(own) = wanted.filter(|own| (1..first.len()).contains(own)) else {
            return;
        };
        let (over, row) = first.split_at(first.len() - own);
        let over = vec![Set::product(over.to_vec())];
        let groups = [over, row.to_vec(), groups[1..].to_vec()].concat();
        table.ty = Ty::Table(groups, elem);
    }

    /// A value of lower rank than what it begins stands in every cell of that.
    fn in_every_cell(&mut self, value: Expr, whole: &Ty) -> Expr {
        if self.is_open(&self.solver.shallow(&value.ty)) {
            return value;
        }
        let (frame, _) = self.frame_and_cell(&value.ty, whole);
        if frame.is_empty() {
            return value;
        }
        let span = value.span;
        let whole = Set::product(self.solver.atoms(&frame));
        Expr {
            ty: Ty::table(vec![whole], value.ty.clone()),
            kind: Kind::Repeat(Box::new(value)),
            span,
        }
    }

    /// A function of two values of this type that gives another one; one of values of lower rank is
    /// applied cell by cell.
    pub(super) fn operator(
        &mut self,
        op: &'a tree::Expr,
        whole: &Ty,
        why: impl FnOnce() -> String,
    ) -> Expr {
        let combines = |ty: &Ty| Ty::Function(vec![ty.clone(), ty.clone()], Box::new(ty.clone()));
        // What an operator says of its parameters is not to be said of it.
        let want = (!says_its_types(op)).then(|| combines(whole));
        let found = self.expr(op, want.as_ref());
        self.settle();
        let (frame, cell) = match self.solver.shallow(&found.ty) {
            Ty::Function(params, _) => match params.first() {
                Some(param) if !self.is_open(&self.solver.shallow(param)) => {
                    self.frame_and_cell(param, whole)
                }
                _ => (Vec::new(), whole.clone()),
            },
            _ => (Vec::new(), whole.clone()),
        };
        let fits = self.expect(&combines(&cell), &found.ty, op.span, why);
        if !fits || frame.is_empty() {
            return found;
        }
        self.lifted_operator(found, (frame, cell), whole, op.span)
    }

    /// `|a, b| op(a, b)`, cell by cell.
    fn lifted_operator(
        &mut self,
        op: Expr,
        (frame, cell): (Vec<Set>, Ty),
        whole: &Ty,
        span: Span,
    ) -> Expr {
        let [a, b] =
            ["", ""].map(|name| self.bind(name, whole.clone(), false, Origin::Bound, span));
        let args = [a, b].map(|local| self.made(Kind::Local(local), whole.clone(), span));
        let repeat = self.repeat_over(&[frame.clone(), frame.clone()], &frame);
        let ty = Ty::table(frame, cell);
        let apply = Kind::Apply(Box::new(op), args.to_vec(), repeat);
        let body = self.made(apply, ty.clone(), span);
        let closure = Closure {
            params: vec![Pattern::Bind(a), Pattern::Bind(b)],
            body,
        };
        let ty = Ty::Function(vec![whole.clone(), whole.clone()], Box::new(ty));
        self.made(Kind::Closure(Rc::new(closure)), ty, span)
    }
}

/// Whether a closure says of what types its parameters are.
fn says_its_types(op: &tree::Expr) -> bool {
    match &op.kind {
        ExprKind::Paren(inner) => says_its_types(inner),
        ExprKind::Closure { params, .. } => {
            let is_typed = |param: &tree::Pattern| matches!(param, tree::Pattern::Typed(..));
            !params.is_empty() && params.iter().all(is_typed)
        }
        _ => false,
    }
}

//! Accumulators: `Accum::zero()` and its like.

use proc_macro2::Span;

use crate::diag::lowering as say;
use crate::ir::Monoid;
use crate::lower::hir::{Expr, Kind};
use crate::lower::infer::Infer;
use crate::lower::infer::ops::Question;
use crate::lower::types::Ty;
use crate::syntax::tree;

/// Which accumulators there are, each with its monoid unless that is the author's own.
pub(in crate::lower) const ACCUMULATORS: [(&str, Option<Monoid>); 8] = [
    ("zero", Some(Monoid::Add)),
    ("zeros", Some(Monoid::Add)),
    ("prod", Some(Monoid::Mul)),
    ("min", Some(Monoid::Min)),
    ("max", Some(Monoid::Max)),
    ("any", Some(Monoid::Or)),
    ("all", Some(Monoid::And)),
    ("monoid", None),
];

impl<'a> Infer<'_, 'a> {
    pub(super) fn accum(
        &mut self,
        kind: &str,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let name = format!("Accum::{kind}");
        let Some((_, monoid)) = ACCUMULATORS.iter().find(|(known, _)| *known == kind) else {
            return self.fail(say::unknown_method(at, &name, "an accumulator"));
        };
        let Some(monoid) = *monoid else {
            return self.own_accum(&name, at, args, span);
        };
        let takes = usize::from(kind == "zeros");
        if !self.arity(&name, takes, args.len(), at) {
            return self.poison(span);
        }
        let content = self.unknown(at);
        if let Some(arg) = args.first() {
            let extent = self.expr(arg, None);
            let Some(set) = self.extent_of(&extent.ty) else {
                let shown = self.show(&extent.ty);
                return self.fail(say::size_of(arg.span, &shown));
            };
            let elem = self.unknown(at);
            let _ = self
                .solver
                .unify(&content, &Ty::Table(vec![set], Box::new(elem)));
        }
        self.made(Kind::Accum(monoid), Ty::Accum(Box::new(content)), span)
    }

    /// `Accum::monoid(identity, op)`
    pub(super) fn own_accum(
        &mut self,
        name: &str,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        if !self.arity(name, 2, args.len(), at) {
            self.uncalled(args);
            return self.poison(span);
        }
        let identity = self.expr(&args[0], None);
        let cell = identity.ty.clone();
        let want = Ty::Function(vec![cell.clone(), cell.clone()], Box::new(cell.clone()));
        let op = self.expr(&args[1], Some(&want));
        let fits = self.expect(&want, &op.ty, args[1].span, || {
            format!("`{name}` combines two values of the identity's type into one")
        });
        if !fits {
            return self.poison(span);
        }
        let content = self.unknown(at);
        self.ask(Question::Cells(content.clone(), cell), args[0].span);
        let kind = Kind::Monoid {
            identity: Box::new(identity),
            op: Box::new(op),
        };
        self.made(kind, Ty::Accum(Box::new(content)), span)
    }
}

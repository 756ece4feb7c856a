//! Accumulators: `Accum::zero()` and its like.

use proc_macro2::Span;

use crate::diag::lowering as say;
use crate::ir::Monoid;
use crate::lower::hir::{Expr, Kind};
use crate::lower::infer::Infer;
use crate::lower::infer::ops::Question;
use crate::lower::types::{Set, Ty};
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
            let names = ACCUMULATORS.map(|(known, _)| format!("`Accum::{known}`"));
            return self.fail(say::unknown_accumulator(at, &name, &names.join(", ")));
        };
        let Some(monoid) = *monoid else {
            return self.own_accum(&name, at, args, span);
        };
        // The others may be told their shape, or leave it to be found.
        let fits = match (kind, args.len()) {
            ("zero", 1..) => {
                self.report(say::zero_of_extent(at));
                false
            }
            ("zeros", found) => self.arity(&name, 1, found, at),
            (_, 0) => true,
            (_, found) => self.arity(&name, 1, found, at),
        };
        if !fits {
            self.uncalled(args);
            return self.poison(span);
        }
        let (content, extent) = match args.first() {
            None => (self.unknown(at), None),
            Some(extent) => match self.over(extent) {
                Some((set, extent)) => {
                    let content = Ty::Table(vec![set], Box::new(self.unknown(at)));
                    (content, Some(Box::new(extent)))
                }
                None => return self.poison(span),
            },
        };
        let kind = Kind::Accum(monoid, extent);
        self.made(kind, Ty::Accum(Box::new(content)), span)
    }

    /// The set whose extent an argument is, and the argument.
    fn over(&mut self, extent: &'a tree::Expr) -> Option<(Set, Expr)> {
        let value = self.expr(extent, None);
        let set = self.extent_of(&value.ty);
        if set.is_none() {
            let shown = self.show(&value.ty);
            self.report(say::size_of(extent.span, &shown));
        }
        Some((set?, value))
    }

    /// `Accum::monoid(identity, op)`, `Accum::monoid(extent, identity, op)`
    pub(super) fn own_accum(
        &mut self,
        name: &str,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let (extent, rest) = match args {
            [extent, rest @ ..] if args.len() == 3 => (Some(extent), rest),
            _ => (None, args),
        };
        let [unit, op] = rest else {
            self.arity(name, 2, args.len(), at);
            self.uncalled(args);
            return self.poison(span);
        };
        let (set, extent) = match extent.map(|extent| self.over(extent)) {
            None => (None, None),
            Some(Some((set, extent))) => (Some(set), Some(Box::new(extent))),
            Some(None) => return self.poison(span),
        };
        let identity = self.expr(unit, None);
        let cell = identity.ty.clone();
        let op = self.operator(op, &cell, || {
            format!("`{name}` combines two values of the identity's type into one")
        });
        let content = match set {
            Some(set) => Ty::table(vec![set], cell),
            None => {
                let content = self.unknown(at);
                self.ask(Question::Cells(content.clone(), cell), unit.span);
                content
            }
        };
        let kind = Kind::Monoid {
            extent,
            identity: Box::new(identity),
            op: Box::new(op),
        };
        self.made(kind, Ty::Accum(Box::new(content)), span)
    }
}

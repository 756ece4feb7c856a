//! `filter`: the elements of a table for which something holds.

use proc_macro2::Span;

use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind};
use crate::lower::infer::Infer;
use crate::lower::types::Ty;
use crate::syntax::tree;

impl<'a> Infer<'_, 'a> {
    /// `filter(|x| e, t)`: a table over a set of its own, with as many members as elements are
    /// kept.
    pub(super) fn filter(&mut self, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        let [predicate, table] = args else {
            self.arity("filter", 2, args.len(), at);
            for arg in args {
                self.expr(arg, None);
            }
            return self.poison(span);
        };
        if let tree::ExprKind::Closure { .. } = table.kind {
            return self.fail(say::reduce_function(table.span, "filter"));
        }
        let value = self.expr(table, None);
        self.settle();
        self.constant_array(&value.ty, table.span);
        let Some((group, inner)) = self.elements(&value.ty, "filter", table.span) else {
            return self.poison(span);
        };
        let want = Ty::Function(vec![inner.clone()], Box::new(Ty::BOOL));
        let keeps = self.expr(predicate, Some(&want));
        self.settle();
        self.expect(&want, &keeps.ty, predicate.span, || {
            "`filter` asks of each element whether it is kept".into()
        });
        let set = self.range(format!("kept of {}", self.show_set(&group)));
        let ty = Ty::table(vec![set.clone()], inner);
        let kind = Kind::Filter {
            set,
            predicate: Box::new(keeps),
            table: Box::new(value),
        };
        self.made(kind, ty, span)
    }
}

//! Calls of transformations of closures that are written in them: `grad!(|y| e)(x)`.
//!
//! What such a closure does not say of its parameters, the arguments do. So they come first, where
//! the closure is open.

use crate::lower::hir::{Block, Expr, Kind};
use crate::lower::infer::Infer;
use crate::lower::types::{Ty, drop_atoms};
use crate::syntax::tree::{self, ExprKind, Pattern, Stmt, Transform};

/// A closure and what transforms it.
struct Written<'a> {
    pattern: &'a Pattern,
    closure: &'a tree::Expr,
    params: &'a [Pattern],
    transform: &'a Transform,
    whole: &'a tree::Expr,
}

impl<'a> Infer<'_, 'a> {
    /// What is called, and the arguments as far as they had to come first.
    pub(super) fn applied(
        &mut self,
        f: &'a tree::Expr,
        args: &'a [tree::Expr],
    ) -> (Expr, Vec<Expr>) {
        let Some(written) = written(f) else {
            return (self.expr(f, None), Vec::new());
        };
        let given: Vec<Expr> = args.iter().map(|arg| self.expr(arg, None)).collect();
        self.settle();
        let mut types = Vec::new();
        for (at, param) in written.params.iter().enumerate() {
            let known = given.get(at).filter(|_| !is_typed(param));
            types.push(match known {
                Some(arg) => self.of_one(&arg.ty.clone(), param, written.transform),
                None => self.unknown(f.span),
            });
        }
        let want = Ty::Function(types, Box::new(self.unknown(f.span)));
        let f = self.scoped(|s| {
            let closure = s.expr(written.closure, Some(&want));
            let bound = s.bound(written.pattern, closure);
            let value = s.expr(written.whole, None);
            let (ty, value) = (value.ty.clone(), Some(Box::new(value)));
            let block = Block {
                stmts: vec![bound],
                value,
            };
            s.made(Kind::Block(block), ty, f.span)
        });
        (f, given)
    }

    /// The type of an argument without the axes in front that `vmap!` takes off.
    fn of_one(&self, ty: &Ty, param: &Pattern, transform: &Transform) -> Ty {
        let named = |names: &[proc_macro2::Ident]| match param {
            Pattern::Name { name, .. } => names.contains(name),
            _ => false,
        };
        let mut mapped = 0;
        let mut at = Some(transform);
        while let Some(transform) = at {
            let over = transform.options.first();
            if transform.name == "vmap" && over.is_none_or(|(_, names)| named(names)) {
                mapped += 1;
            }
            at = match &transform.of {
                tree::Transformed::Path(_) => None,
                tree::Transformed::Transform(inner) => Some(inner),
            };
        }
        self.without_axes(ty, mapped)
    }

    fn without_axes(&self, ty: &Ty, count: usize) -> Ty {
        match self.solver.shallow(ty) {
            Ty::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.without_axes(part, count));
                Ty::Tuple(parts.collect())
            }
            Ty::Table(groups, elem) => {
                Ty::table(drop_atoms(&self.solver.groups(&groups), count), *elem)
            }
            other => other,
        }
    }
}

/// What is transformed in an expression that is called.
pub(super) fn transform_in(f: &tree::Expr) -> Option<&Transform> {
    match &f.kind {
        ExprKind::Transform(transform) => Some(transform),
        ExprKind::Paren(inner) => transform_in(inner),
        ExprKind::Block(block) => match (block.stmts.as_slice(), &block.value) {
            ([Stmt::Let { .. }], Some(value)) => transform_in(value),
            _ => None,
        },
        _ => None,
    }
}

/// The closure that is written in a transformation, if it leaves something open.
fn written(f: &tree::Expr) -> Option<Written<'_>> {
    let ExprKind::Block(block) = &f.kind else {
        return None;
    };
    let ([Stmt::Let { pattern, value, .. }], Some(whole)) =
        (block.stmts.as_slice(), block.value.as_deref())
    else {
        return None;
    };
    let (ExprKind::Closure { params, .. }, ExprKind::Transform(transform)) =
        (&value.kind, &whole.kind)
    else {
        return None;
    };
    (!params.iter().all(is_typed)).then_some(Written {
        pattern,
        closure: value,
        params,
        transform,
        whole,
    })
}

fn is_typed(param: &Pattern) -> bool {
    matches!(param, Pattern::Typed(..))
}

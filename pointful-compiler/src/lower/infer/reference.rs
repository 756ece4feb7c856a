//! References: types do not tell them from what they refer to, but a `*` may only stand before what
//! rustc would call one.

use proc_macro2::Span;

use super::Infer;
use crate::diag::lowering as say;
use crate::lower::hir::Pattern;
use crate::syntax::tree::{Block, Expr, ExprKind, Type, TypeKind, path_key};

/// Whether a type as written is that of references.
pub(super) fn is_reference(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Ref { .. })
}

impl Infer<'_, '_> {
    /// Reports a dereference of what is no reference, if nothing was reported of it since there
    /// were as many errors.
    pub(super) fn dereferenced(&mut self, inner: &Expr, span: Span, errors: usize) {
        if self.shared.diags.len() == errors && !self.is_reference(inner) {
            self.report(say::no_reference(span));
        }
    }

    /// Lets what is bound to a name alone be dereferenced.
    pub(super) fn may_be_reference(&mut self, pattern: &Pattern) {
        if let Pattern::Bind(local) = pattern {
            self.locals[local.0 as usize].reference = true;
        }
    }

    /// Whether an expression may be a reference; what it names is in scope.
    pub(super) fn is_reference(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Ref { .. } => true,
            ExprKind::Paren(inner) => self.is_reference(inner),
            ExprKind::Path(path) => self
                .lookup(&path_key(path))
                .is_some_and(|local| self.local(local).reference),
            ExprKind::If { then, .. } => self.gives_reference(then),
            ExprKind::Match(_, arms) => arms.iter().any(|arm| self.is_reference(&arm.body)),
            ExprKind::Block(block) => self.gives_reference(block),
            _ => false,
        }
    }

    /// Whether the value of a block may be a reference: it may be a name of the block's own.
    fn gives_reference(&self, block: &Block) -> bool {
        let value = block.value.as_deref();
        value.is_some_and(|value| !block.stmts.is_empty() || self.is_reference(value))
    }
}

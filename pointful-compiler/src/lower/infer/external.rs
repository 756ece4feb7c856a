//! Functions whose bodies are not read.

use super::Infer;
use crate::diag::lowering as say;
use crate::lower::hir::{Block, LocalId};
use crate::lower::types::Ty;
use crate::syntax::tree::{self, TypeKind};

impl Infer<'_, '_> {
    /// The signature of a function whose body is not read: numbers, and no generics. The body is
    /// empty.
    pub(super) fn external(&mut self, params: &[LocalId], result: &Ty) -> Block {
        let tree = self.tree;
        let name = tree.name.to_string();
        if let Some(generic) = tree.generics.first() {
            self.report(say::extern_generic(generic.name.span(), &name));
        }
        for (param, id) in tree.params.iter().zip(params) {
            let ty = self.local(*id).ty.clone();
            self.is_number(&param.ty, &ty, &name);
        }
        self.is_number(&tree.result, result, &name);
        Block {
            stmts: Vec::new(),
            value: None,
        }
    }

    fn is_number(&mut self, written: &tree::Type, ty: &Ty, name: &str) {
        let found = self.show(&self.solver.ty(ty));
        let found = match (&written.kind, self.solver.ty(ty)) {
            // Of a generic, and of an error, that was said.
            (TypeKind::Scalar(_), _) | (_, Ty::Float(_) | Ty::Error) => return,
            (TypeKind::Ref { .. }, _) => format!("a reference to {found}"),
            (_, Ty::Scalar(_)) => "a number by another name".to_owned(),
            _ => found,
        };
        self.report(say::extern_type(written.span, name, &found));
    }
}

//! A callee's signature in terms of its caller.

use proc_macro2::Span;

use crate::diag::{lowering as say, syntax::value_arguments};
use crate::lower::hir::{Expr, Instance};
use crate::lower::infer::Infer;
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty};
use crate::syntax::tree::{self, GenericKind, path_key};

impl<'a> Infer<'_, 'a> {
    pub(super) fn instance(&self, position: usize) -> Instance {
        let generics = self.shared.done[position].generics.len();
        Instance {
            sets: vec![None; generics],
            floats: vec![None; generics],
            inner: Vec::new(),
        }
    }

    /// What a call says itself that the generics of a function are; `_` leaves it to inference.
    pub(super) fn give(
        &mut self,
        position: usize,
        given: &'a [tree::TypeArg],
        instance: &mut Instance,
        at: Span,
    ) {
        let callee = self.shared.done[position].tree;
        if given.is_empty() {
            return;
        }
        if given.len() != callee.generics.len() {
            let (name, count) = (callee.name.to_string(), callee.generics.len());
            self.report(say::generic_argument_count(at, &name, count, given.len()));
            return;
        }
        for (k, (generic, arg)) in callee.generics.iter().zip(given).enumerate() {
            let is_left =
                matches!(arg, tree::TypeArg::Type(ty) if matches!(ty.kind, tree::TypeKind::Infer));
            match generic.kind {
                _ if is_left => {}
                GenericKind::IndexSet => {
                    instance.sets[k] = Some(self.set_argument(arg, false, SetKind::Dyn));
                }
                GenericKind::Const => {
                    instance.sets[k] = Some(self.set_argument(arg, true, SetKind::Dyn));
                }
                GenericKind::Float => {
                    instance.floats[k] = Some(self.float_argument(arg, SetKind::Dyn));
                }
                GenericKind::Function(..) => {
                    let (name, span) = (generic.name.to_string(), argument_span(arg));
                    self.report(say::function_argument(span, &name));
                }
            }
        }
    }

    /// Generic arguments of what is no annotated function.
    pub(in crate::lower::infer) fn no_instance(&mut self, path: &syn::Path, span: Span) -> Expr {
        let name = path_key(path);
        if self.lookup(&name).is_some() || name.ends_with("::from_bits") {
            return self.fail(value_arguments(span, &name));
        }
        self.fail(say::not_pointful(span, &name))
    }

    pub(in crate::lower::infer) fn parameter_types(&self, position: usize) -> Vec<Ty> {
        let callee = &self.shared.done[position];
        let ty =
            |id: &crate::lower::infer::LocalId| callee.solver.ty(&callee.locals[id.0 as usize].ty);
        callee.params.iter().map(ty).collect()
    }

    pub(in crate::lower::infer) fn result_type(&self, position: usize) -> Ty {
        let callee = &self.shared.done[position];
        callee.solver.ty(&callee.result)
    }

    /// A type of a callee's signature in terms of the caller.
    pub(in crate::lower::infer) fn import(
        &mut self,
        ty: &Ty,
        instance: &mut Instance,
        at: Span,
    ) -> Ty {
        match ty {
            Ty::Var(_) | Ty::Scalar(_) | Ty::Error => ty.clone(),
            Ty::Float(k) => {
                if instance.floats[*k].is_none() {
                    instance.floats[*k] = Some(self.solver.fresh(TyKind::Float, at));
                }
                instance.floats[*k].clone().unwrap_or(Ty::Error)
            }
            Ty::Member(set) => {
                let set = self.import_set(set, instance, at);
                Ty::Member(set)
            }
            Ty::Offset(set) => Ty::Offset(self.import_set(set, instance, at)),
            Ty::Extent(set) => Ty::Extent(self.import_set(set, instance, at)),
            Ty::Table(groups, elem) => {
                let groups = groups
                    .iter()
                    .map(|g| self.import_set(g, instance, at))
                    .collect();
                let elem = self.import(elem, instance, at);
                Ty::table(groups, elem)
            }
            Ty::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|p| self.import(p, instance, at)).collect())
            }
            Ty::Struct(id, parts) => Ty::Struct(
                *id,
                parts.iter().map(|p| self.import(p, instance, at)).collect(),
            ),
            Ty::Function(params, result) => {
                let params = params
                    .iter()
                    .map(|p| self.import(p, instance, at))
                    .collect();
                Ty::Function(params, Box::new(self.import(result, instance, at)))
            }
            Ty::Accum(inner) => Ty::Accum(Box::new(self.import(inner, instance, at))),
            Ty::Option(inner) => Ty::Option(Box::new(self.import(inner, instance, at))),
            Ty::Either(sides) => {
                let sides = sides.each_ref();
                Ty::Either(Box::new(sides.map(|side| self.import(side, instance, at))))
            }
        }
    }

    pub(super) fn import_set(&mut self, set: &Set, instance: &mut Instance, at: Span) -> Set {
        match set {
            Set::Param(k) | Set::Fin(Len::Param(k)) => {
                if instance.sets[*k].is_none() {
                    instance.sets[*k] = Some(self.solver.fresh_set(SetKind::Free, at));
                }
                instance.sets[*k].clone().unwrap_or(Set::Error)
            }
            Set::Var(_) | Set::Range(_) | Set::Row(..) => {
                if let Some((_, mine)) = instance.inner.iter().find(|(theirs, _)| theirs == set) {
                    return mine.clone();
                }
                let mine = match set {
                    Set::Var(_) => self.solver.fresh_set(SetKind::DynResult, at),
                    Set::Row(..) => self.range("a row".into()),
                    _ => self.range("a range".into()),
                };
                instance.inner.push((set.clone(), mine.clone()));
                mine
            }
            Set::Product(parts) => Set::Product(
                parts
                    .iter()
                    .map(|p| self.import_set(p, instance, at))
                    .collect(),
            ),
            Set::Record(id, parts) => Set::Record(
                *id,
                parts
                    .iter()
                    .map(|p| self.import_set(p, instance, at))
                    .collect(),
            ),
            Set::Either(a, b) => Set::Either(
                Box::new(self.import_set(a, instance, at)),
                Box::new(self.import_set(b, instance, at)),
            ),
            Set::Ragged(rows, lengths) => Set::Ragged(
                Box::new(self.import_set(rows, instance, at)),
                Box::new(self.import_set(lengths, instance, at)),
            ),
            Set::Named(_) | Set::Fin(_) | Set::Bool | Set::Error => set.clone(),
        }
    }
}

fn argument_span(arg: &tree::TypeArg) -> Span {
    match arg {
        tree::TypeArg::Type(ty) => ty.span,
        tree::TypeArg::Length(length) => length.span,
    }
}

//! A callee's signature in terms of its caller.

use proc_macro2::Span;

use crate::lower::hir::Instance;
use crate::lower::infer::Infer;
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty};

impl<'a> Infer<'_, 'a> {
    pub(super) fn instance(&self, position: usize) -> Instance {
        let generics = self.shared.done[position].generics.len();
        Instance {
            sets: vec![None; generics],
            floats: vec![None; generics],
            inner: Vec::new(),
        }
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
            Set::Var(_) | Set::Range(_) => {
                if let Some((_, mine)) = instance.inner.iter().find(|(theirs, _)| theirs == set) {
                    return mine.clone();
                }
                let mine = match set {
                    Set::Var(_) => self.solver.fresh_set(SetKind::DynResult, at),
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
            Set::Named(_) | Set::Fin(_) | Set::Bool | Set::Error => set.clone(),
        }
    }
}

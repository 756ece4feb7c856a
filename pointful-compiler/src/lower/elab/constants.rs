//! Constants: parameters of the program whose values rustc knows.
//!
//! What is made of parts is a tuple of them, so a program has constants that are numbers, members
//! of index sets, and arrays of numbers. A carrier has each of these by itself: who cannot name the
//! type of the whole can name them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::interface::fin;
use super::value::Val;
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Access, ParamSource, Taken};
use crate::ir::{Elem, Scalar, SpanId, Type};
use crate::lower::Constant;
use crate::lower::hir::{self, Function, Open};
use crate::lower::lengths;
use crate::lower::types::{Len, Set, Ty};

impl<'a> Elab<'a> {
    pub(super) fn constant_tokens(&self, path: &str) -> TokenStream {
        let function = &self.functions[self.frame.function];
        let scope = &function.tree.scope;
        if let Some((_, tokens)) = scope.constants.iter().find(|(n, _)| n == path) {
            return tokens.clone();
        }
        let tokens: TokenStream = path.parse().unwrap_or_default();
        // The length of an array is known, or not, where the array is named.
        let array = lengths::array(path);
        let named = function.constants.iter().find(|constant| {
            let value = constant.value(scope).to_string().replace(' ', "");
            array.as_ref() == Some(&value)
        });
        match named {
            Some(constant) => lengths::located(tokens, constant.span),
            None => tokens,
        }
    }

    /// A constant: a parameter of the program, the same one wherever it is named.
    pub(super) fn constant(&mut self, k: usize, span: SpanId) -> Run<Val<'a>> {
        let constant = &self.functions[self.frame.function].constants[k];
        let ty = self.ty(&constant.ty);
        self.constant_of(constant, &ty, span)
    }

    fn constant_of(&mut self, constant: &hir::Constant, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        if let Some(parts) = self.constant_parts(constant, ty) {
            let parts: Run<Vec<Val<'a>>> = parts
                .iter()
                .map(|(part, ty)| self.constant_of(part, ty, span))
                .collect();
            return Ok(Val::Tuple(parts?));
        }
        let taken = self.taken_for(constant, ty)?;
        let (ty, set) = match (ty, constant.open()) {
            (Ty::Table(groups, elem), _) => {
                let elem = Elem::Scalar(self.scalar(elem, span)?);
                (Type::table(elem, self.axes(groups, span)?), None)
            }
            (Ty::Member(set), _) => {
                let extent = self.one_axis(set, constant.span)?;
                (
                    Type::scalar(Elem::Index(extent)),
                    Some(self.set_shape(set)?),
                )
            }
            (other, Open::Index(set)) => {
                let scalar = Elem::Scalar(self.scalar(other, span)?);
                (Type::scalar(scalar), Some(self.set_shape(&set)?))
            }
            (other, Open::No | Open::Integer | Open::Number) => {
                (Type::scalar(Elem::Scalar(self.scalar(other, span)?)), None)
            }
        };
        let root = constant.value(&self.functions[self.frame.function].tree.scope);
        let key = format!("{root} {ty:?}");
        if let Some((_, value)) = self.constants.iter().find(|(n, _)| *n == key) {
            return Ok(Val::Leaf(*value));
        }
        let name = constant.key();
        let access = Access {
            root,
            fields: Vec::new(),
            name: name.rsplit("::").next().unwrap_or(&name).to_owned(),
        };
        let source = ParamSource::Constant {
            access: access.clone(),
            taken,
            rank: ty.rank(),
            set,
        };
        let val = self.declare(ty, source, &access, false);
        let value = self.leaf(&val, span)?;
        self.constants.push((key, value));
        Ok(val)
    }

    /// The parts of a constant with their types, if it is made of parts.
    fn constant_parts(
        &self,
        constant: &hir::Constant,
        ty: &Ty,
    ) -> Option<Vec<(hir::Constant, Ty)>> {
        let solver = &self.functions[self.frame.function].solver;
        let (id, types) = match ty {
            Ty::Tuple(types) => (None, types.clone()),
            Ty::Struct(id, types) => (Some(*id), types.clone()),
            Ty::Member(Set::Record(id, sets)) => (
                Some(*id),
                sets.iter().map(|set| solver.member(set)).collect(),
            ),
            _ => return None,
        };
        let member = |k: usize| match id {
            Some(id) => {
                let (name, _) = &self.fields(id)[k];
                // rustc says where the constant is named that a field is private.
                syn::Member::Named(Ident::new(&name.to_string(), constant.span))
            }
            None => syn::Member::from(k),
        };
        let whole = match id.and_then(|id| self.named_type(id)) {
            Some(ty) => hir::Constant {
                base: Some((self.exactly(constant, &ty), constant.fields.len())),
                ..constant.clone()
            },
            None => constant.clone(),
        };
        let parts = types.into_iter().enumerate();
        Some(
            parts
                .map(|(k, ty)| (whole.part(k, member(k)), ty))
                .collect(),
        )
    }

    /// A type that is defined, if it has a name where the root stands.
    fn named_type(&self, id: usize) -> Option<TokenStream> {
        let def = &self.linked.types[id];
        let path = def.path.as_ref()?;
        let arguments = def.item.generics.iter().map(|_| quote!(_));
        Some(match def.item.generics.is_empty() {
            true => quote!(#path),
            false => quote!(#path<#(#arguments),*>),
        })
    }

    /// A constant that rustc is asked to be of this type.
    fn exactly(&self, constant: &hir::Constant, ty: &TokenStream) -> TokenStream {
        let value = constant.value(&self.functions[self.frame.function].tree.scope);
        quote_spanned!(constant.span=> ::pointful::__private::constant::exactly::<#ty, _>(#value))
    }

    /// What a constant without parts is taken for.
    fn taken_for(&mut self, constant: &hir::Constant, ty: &Ty) -> Run<Taken> {
        let scope = &self.functions[self.frame.function].tree.scope;
        // What is carried, or a part of what is known to be of its type, is a member of the set.
        let is_known = constant.carried(scope).is_some() || constant.base.is_some();
        let set_type = |s: &Self, set: &Set| match is_known {
            true => Some(quote!(::pointful::__private::constant::Unnamed)),
            false => s.set_type(set),
        };
        let (elem, groups) = match ty {
            Ty::Member(set) => {
                return match set_type(self, set) {
                    Some(set) => Ok(Taken::Member(set)),
                    None => {
                        let shown = self.printer().set(set);
                        self.fail(say::constant_without_name(constant.span, &shown))
                    }
                };
            }
            Ty::Table(groups, elem) => (&**elem, groups.as_slice()),
            other => (other, &[][..]),
        };
        if let Open::Index(set) = constant.open()
            && let Some(set) = set_type(self, &set)
        {
            return Ok(Taken::Index(set));
        }
        let scalar = self.scalar(elem, SpanId::NONE)?;
        let Some(ty) = self.array_type(groups, scalar, constant.span) else {
            return self.fail(say::constant_table(constant.span));
        };
        Ok(match constant.open() {
            Open::Integer => Taken::Integer(ty),
            Open::Number => Taken::Number(ty),
            Open::No | Open::Index(_) => Taken::Exactly(ty),
        })
    }

    /// The type of a constant array over these sets, if they are all `Fin`; of no set that of a
    /// number.
    fn array_type(&self, groups: &[Set], scalar: Scalar, span: Span) -> Option<TokenStream> {
        let name = Ident::new(scalar.name(), span);
        let mut ty = quote!(#name);
        for set in crate::lower::types::atoms(groups).iter().rev() {
            let len = match set {
                Set::Fin(Len::Lit(n)) => {
                    let n = proc_macro2::Literal::u64_unsuffixed(*n);
                    quote!(#n)
                }
                Set::Fin(Len::Const(name)) => self.constant_tokens(name),
                _ => return None,
            };
            ty = quote!([#ty; #len]);
        }
        Some(ty)
    }

    /// An index set as a type, if it has a name where the root stands.
    fn set_type(&self, set: &Set) -> Option<TokenStream> {
        Some(match set {
            Set::Named(id) | Set::Record(id, _) => self.named_type(*id)?,
            Set::Product(parts) => {
                let parts: Option<Vec<TokenStream>> =
                    parts.iter().map(|part| self.set_type(part)).collect();
                let parts = parts?;
                quote!((#(#parts,)*))
            }
            Set::Fin(Len::Lit(n)) => {
                let n = proc_macro2::Literal::u64_unsuffixed(*n);
                fin(&quote!(#n))
            }
            Set::Fin(Len::Const(name)) => fin(&self.constant_tokens(name)),
            Set::Bool => quote!(::core::primitive::bool),
            Set::Either(left, right) => {
                let (left, right) = (self.set_type(left)?, self.set_type(right)?);
                quote!(::pointful::__private::Either<#left, #right>)
            }
            Set::Var(_) => quote!(::pointful::__private::Dyn),
            Set::Param(_)
            | Set::Fin(Len::Param(_))
            | Set::Range(_)
            | Set::Ragged(..)
            | Set::Row(..)
            | Set::Error => return None,
        })
    }

    /// The constants that the root names, for its carrier.
    pub(super) fn root_constants(&mut self, function: &'a Function<'a>) -> Run<Vec<Constant>> {
        let mut out = Vec::new();
        for constant in &function.constants {
            let ty = self.ty(&constant.ty);
            self.add_constants(constant, &ty, &mut out)?;
        }
        Ok(out)
    }

    fn add_constants(
        &mut self,
        constant: &hir::Constant,
        ty: &Ty,
        out: &mut Vec<Constant>,
    ) -> Run<()> {
        if let Some(parts) = self.constant_parts(constant, ty) {
            let mut parts = parts.iter();
            return parts.try_for_each(|(part, ty)| self.add_constants(part, ty, out));
        }
        // Each float that it is cast to is made of the widest.
        let widest = Ty::Scalar(Scalar::F64);
        let taken = match (constant.open(), ty) {
            (Open::Number, Ty::Table(groups, _)) => {
                self.taken_for(constant, &Ty::table(groups.clone(), widest))
            }
            (Open::Number, _) => self.taken_for(constant, &widest),
            _ => self.taken_for(constant, ty),
        }?;
        let key = constant.key();
        match out.iter_mut().find(|known| known.key == key) {
            // Of its uses one says more of its type than another.
            Some(known) => match (&known.taken, &taken) {
                (Taken::Number(_), _) | (Taken::Integer(_), Taken::Exactly(_)) => {
                    known.taken = taken;
                }
                _ => {}
            },
            None => out.push(Constant {
                key,
                value: constant.value(&self.functions[self.frame.function].tree.scope),
                taken,
            }),
        }
        Ok(())
    }
}

//! Methods.

use proc_macro2::{Ident, Span};

use super::Infer;
use super::ops::Question;
use crate::diag::lowering as say;
use crate::ir::Scalar;
use crate::lower::hir::{Expr, Kind};
use crate::lower::solve::TyKind;
use crate::lower::types::Ty;
use crate::lower::words::{Gives, Method, On, ScalarMethod, Takes};
use crate::syntax::tree;

impl<'a> Infer<'_, 'a> {
    pub(super) fn method(
        &mut self,
        receiver: &'a tree::Expr,
        name: &'a Ident,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let text = name.to_string();
        if text == "put"
            && let Some(put) = self.put(receiver, args, span)
        {
            return put;
        }
        let recv = self.expr(receiver, None);
        if self.solver.shallow(&recv.ty) == Ty::Error {
            let errors = self.shared.diags.len();
            self.uncalled(args);
            // Of a chain of methods the first mistake is told: the others are written for what it was to give.
            if matches!(receiver.kind, tree::ExprKind::Method { .. }) {
                self.shared.diags.forget(errors);
            }
            return self.poison(span);
        }
        if let Some(vector) = self.vector_method(receiver, &recv, name, args, span) {
            return vector;
        }
        if text == "to_f64" && args.is_empty() {
            let (groups, cell) = self.split(&recv.ty);
            let is_float = match &cell {
                Ty::Float(_) => true,
                Ty::Scalar(scalar) => scalar.is_float(),
                Ty::Var(v) => self.solver.kind(*v) == TyKind::Float,
                _ => false,
            };
            if is_float {
                let ty = Ty::table(groups, Ty::Scalar(Scalar::F64));
                return self.made(Kind::Cast(Box::new(recv)), ty, span);
            }
        }
        let Some(method) = Method::from_name(&text) else {
            let shown = self.show(&recv.ty);
            self.report(say::unknown_method(name.span(), &text, &shown));
            self.uncalled(args);
            return self.poison(span);
        };
        let (_, cell) = self.split(&recv.ty);
        let hint = match (&cell, method) {
            (Ty::Option(inner), Method::UnwrapOrElse) => {
                Some(Ty::Function(Vec::new(), inner.clone()))
            }
            (Ty::Option(inner), Method::Map | Method::AndThen | Method::MapOr) => {
                let result = self.unknown(span);
                Some(Ty::Function(vec![(**inner).clone()], Box::new(result)))
            }
            (Ty::Option(_), Method::Or) => Some(cell.clone()),
            (Ty::Scalar(_) | Ty::Float(_), _) => Some(cell.clone()),
            _ => None,
        };
        let mut args: Vec<Expr> = args
            .iter()
            .map(|a| self.index_argument(method, a, hint.as_ref()))
            .collect();
        if method == Method::Get && args.len() == 1 {
            args = self.flatten_index(args);
        }
        let types: Vec<(Ty, Span)> = args
            .iter()
            .map(|a| (a.ty.clone(), self.shared.places.get(a.span)))
            .collect();
        let ty = self.ask(
            Question::Method(method, text, recv.ty.clone(), types),
            name.span(),
        );
        self.made(Kind::Method(method, Box::new(recv), args), ty, span)
    }

    fn index_argument(&mut self, method: Method, arg: &'a tree::Expr, hint: Option<&Ty>) -> Expr {
        if method == Method::Get {
            self.index_part(arg)
        } else {
            self.expr(arg, hint)
        }
    }

    /// The type of `receiver.method(args)`, `None` if it depends on what is not known yet.
    pub(super) fn method_type(
        &mut self,
        method: Method,
        name: &str,
        receiver: &Ty,
        args: &[(Ty, Span)],
        span: Span,
    ) -> Option<Ty> {
        let recv = self.solver.shallow(receiver);
        let none = |s: &mut Self| s.arity(name, 0, args.len(), span);
        match (&recv, method) {
            (Ty::Error, _) => return Some(Ty::Error),
            (_, Method::Clone) => return Some(if none(self) { recv } else { Ty::Error }),
            (Ty::Var(v), _) if self.solver.kind(*v) == TyKind::Any => return None,
            (Ty::Member(_) | Ty::Scalar(Scalar::Bool), Method::Ordinal) => {
                return Some(if none(self) { Ty::USIZE } else { Ty::Error });
            }
            (Ty::Tuple(parts), Method::Ordinal) if self.all_members(parts) => {
                return Some(if none(self) { Ty::USIZE } else { Ty::Error });
            }
            (Ty::Offset(set) | Ty::Member(set), Method::Wrap | Method::Mirror | Method::Clamp) => {
                let set = self.solver.set(set);
                return Some(if none(self) {
                    self.solver.member(&set)
                } else {
                    Ty::Error
                });
            }
            (
                Ty::Table(groups, cell),
                Method::Ordinal | Method::Wrap | Method::Mirror | Method::Clamp,
            ) if self.is_place(cell) => {
                let (groups, cell) = (self.solver.groups(groups), self.solver.shallow(cell));
                let cell = self.method_type(method, name, &cell, args, span)?;
                return Some(Ty::table(groups, cell));
            }
            (Ty::Table(..), Method::Get) => {
                if let Some((ty, at)) = args.iter().find(|(ty, _)| !self.split(ty).0.is_empty()) {
                    let shown = self.show(ty);
                    self.report(say::bad_index(*at, &shown));
                    return Some(Ty::Error);
                }
                if self.is_ragged(&recv) {
                    self.report(say::ragged_index(span));
                    return Some(Ty::Error);
                }
                let inner = self.index_type(&recv, args, &[], span)?;
                return Some(Ty::Option(Box::new(inner)));
            }
            (Ty::Table(groups, _), Method::Extent) => {
                return Some(if none(self) {
                    Ty::Extent(self.solver.set(&groups[0]))
                } else {
                    Ty::Error
                });
            }
            (Ty::Table(..) | Ty::Extent(_), Method::Len) => {
                return Some(if none(self) { Ty::USIZE } else { Ty::Error });
            }
            (Ty::Option(inner), _) => {
                if let Some(ty) = self.option_method(method, name, inner, args, span) {
                    return Some(ty);
                }
            }
            (Ty::Accum(inner), Method::Get) => {
                return Some(if none(self) {
                    (**inner).clone()
                } else {
                    Ty::Error
                });
            }
            _ => {}
        }
        let Some(scalar) = method.scalar(name) else {
            let shown = self.show(&recv);
            self.report(say::unknown_method(span, name, &shown));
            return Some(Ty::Error);
        };
        self.scalar_method(scalar, name, &recv, args, span)
    }

    /// Whether something is a member of a set, or an offset from one.
    fn is_place(&self, ty: &Ty) -> bool {
        match self.solver.shallow(ty) {
            Ty::Member(_) | Ty::Offset(_) | Ty::Scalar(Scalar::Bool) => true,
            Ty::Tuple(parts) => self.all_members(&parts),
            _ => false,
        }
    }

    fn option_method(
        &mut self,
        method: Method,
        name: &str,
        inner: &Ty,
        args: &[(Ty, Span)],
        span: Span,
    ) -> Option<Ty> {
        let held = |inner: &Ty| Box::new(inner.clone());
        let option = |inner: Ty| Ty::Option(Box::new(inner));
        let mapped = self.unknown(span);
        let f = |result: Ty| Ty::Function(vec![inner.clone()], Box::new(result));
        let (takes, gives) = match method {
            Method::UnwrapOr => (vec![inner.clone()], inner.clone()),
            Method::UnwrapOrElse => (vec![Ty::Function(Vec::new(), held(inner))], inner.clone()),
            Method::Unwrap => (Vec::new(), inner.clone()),
            Method::IsSome | Method::IsNone => (Vec::new(), Ty::BOOL),
            Method::Map => (vec![f(mapped.clone())], option(mapped)),
            Method::AndThen => (vec![f(option(mapped.clone()))], option(mapped)),
            Method::MapOr => (vec![mapped.clone(), f(mapped.clone())], mapped),
            Method::Or => (vec![option(inner.clone())], option(inner.clone())),
            _ => return None,
        };
        if !self.arity(name, takes.len(), args.len(), span) {
            return Some(Ty::Error);
        }
        for (want, (found, at)) in takes.iter().zip(args) {
            self.expect(want, found, *at, || format!("`{name}` takes that here"));
        }
        Some(gives)
    }

    fn scalar_method(
        &mut self,
        scalar: ScalarMethod,
        name: &str,
        recv: &Ty,
        args: &[(Ty, Span)],
        span: Span,
    ) -> Option<Ty> {
        let (groups, cell) = self.split(recv);
        if self.is_open(&cell) {
            return None;
        }
        let holds = match &cell {
            Ty::Error => return Some(Ty::Error),
            Ty::Scalar(s) => scalar.on.holds(*s),
            Ty::Float(_) => scalar.on.holds(Scalar::F64),
            Ty::Var(v) => match self.solver.kind(*v) {
                TyKind::Any => return None,
                TyKind::Number => scalar.on != On::Signed && scalar.on != On::Int,
                TyKind::Int => scalar.on != On::Float,
                TyKind::Float => scalar.on.holds(Scalar::F64),
            },
            _ => false,
        };
        if !holds {
            let shown = self.show(recv);
            self.report(say::method_of(span, name, scalar.on.describe(), &shown));
            return Some(Ty::Error);
        }
        if args.is_empty()
            && !scalar.args.is_empty()
            && matches!(self.solver.shallow(recv), Ty::Table(..))
        {
            let shown = self.show(recv);
            self.report(say::unknown_method(span, name, &shown));
            return Some(Ty::Error);
        }
        if !self.arity(name, scalar.args.len(), args.len(), span) {
            return Some(Ty::Error);
        }
        let mut frames = vec![groups];
        for (takes, (found, at)) in scalar.args.iter().zip(args) {
            let want = match takes {
                Takes::Same => cell.clone(),
                Takes::Just(s) => Ty::Scalar(*s),
            };
            let (groups, found) = self.split(found);
            if !self.expect(&want, &found, *at, || format!("`{name}` takes that here")) {
                return Some(Ty::Error);
            }
            frames.push(groups);
        }
        let cell = match scalar.gives {
            Gives::Same => cell,
            Gives::Pair => Ty::Tuple(vec![cell.clone(), cell]),
            Gives::Bool => Ty::BOOL,
            Gives::Just(scalar) => Ty::Scalar(scalar),
            Gives::Unsigned => match cell {
                Ty::Scalar(scalar) => Ty::Scalar(scalar.unsigned()),
                // Which it is, its width says.
                Ty::Var(_) | Ty::Float(_) => return self.unsigned(cell, name, span),
                cell => cell,
            },
        };
        Some(match self.frame(&frames, span) {
            Some(frame) => Ty::table(frame, cell),
            None => Ty::Error,
        })
    }

    /// The unsigned integer of the width of a number that is not known yet: literals are of their
    /// default types at the end. What is generic in its float has no type for its bits.
    fn unsigned(&mut self, cell: Ty, name: &str, span: Span) -> Option<Ty> {
        if let Ty::Float(_) = cell {
            self.report(say::bits_of_generic(span, name));
            return Some(Ty::Error);
        }
        None
    }

    /// Whether the number of arguments is right; reports if not.
    pub(super) fn arity(&mut self, name: &str, want: usize, found: usize, span: Span) -> bool {
        if want != found {
            self.report(say::arity(span, name, want, found));
        }
        want == found
    }
}

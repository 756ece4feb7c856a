//! Expressions that are not calls, loops or places.

use std::rc::Rc;

use proc_macro2::Span;

use super::Infer;
use super::constant::{
    StdConstant, constant_of_float, looks_like_constant, standard_constant, type_constant,
    type_of_constant,
};
use super::ops::Question;
use super::signature::{last_name, path_span};
use crate::diag::lowering as say;
use crate::lower::hir::{Block, Closure, Expr, Kind, Origin, Value};
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty};
use crate::syntax::tree::path_key;
use crate::syntax::tree::{self, ExprKind, GenericKind, TypeDefKind};

impl<'a> Infer<'_, 'a> {
    pub(super) fn made(&mut self, kind: Kind, ty: Ty, span: Span) -> Expr {
        Expr {
            kind,
            ty,
            span: self.span(span),
        }
    }

    /// One expression. `want` is what the context hopes for; the caller checks that it is so.
    pub(super) fn expr(&mut self, e: &'a tree::Expr, want: Option<&Ty>) -> Expr {
        match &e.kind {
            ExprKind::Lit(lit) => self.literal(lit),
            ExprKind::Path(path) => self.path(path, e.span),
            ExprKind::Instance(path, args) => match self.function_of(&path_key(path)) {
                Some(position) => self.function_value(position, args, e.span),
                None => self.no_instance(path, e.span),
            },
            ExprKind::Unary(op, x) => self.unary(*op, x, want, e.span),
            ExprKind::Binary(op, op_span, x, y) => self.binary(*op, *op_span, x, y, want, e.span),
            ExprKind::And(x, y) => self.lazy(true, x, y, e.span),
            ExprKind::Or(x, y) => self.lazy(false, x, y, e.span),
            ExprKind::Cast(x, ty) => self.cast(x, ty, e.span),
            ExprKind::Call(f, args) => self.call(f, args, want, e.span),
            ExprKind::Method {
                receiver,
                name,
                args,
            } => self.method(receiver, name, args, e.span),
            ExprKind::Field(x, member) => self.field(x, member, e.span),
            ExprKind::Index(base, index) => self.index(base, index, e.span),
            ExprKind::Tuple(parts) => self.tuple(parts, want, e.span),
            ExprKind::Array(parts) => self.array(parts, e.span),
            ExprKind::Repeat(x, len) => self.repeat(x, len, want, e.span),
            ExprKind::Block(block) => {
                let (block, ty) = self.block(block, want);
                self.made(Kind::Block(block), ty, e.span)
            }
            ExprKind::Paren(inner) => self.expr(inner, want),
            ExprKind::If {
                cond,
                then,
                otherwise,
            } => self.if_else(cond, then, otherwise.as_deref(), want, e.span),
            ExprKind::For {
                attrs,
                pattern,
                iter,
                body,
            } => self.for_loop(attrs, pattern, iter, body, want, e.span),
            ExprKind::While { attrs, cond, body } => self.while_loop(attrs, cond, body, e.span),
            ExprKind::Match(x, arms) => self.match_on(x, arms, want, e.span),
            ExprKind::Closure { params, body } => self.closure(params, body, want, e.span),
            ExprKind::Assign {
                op,
                op_span,
                place,
                value,
            } => self.assign(*op, *op_span, place, value, e.span),
            ExprKind::Ref {
                mutable: true,
                inner,
            } => self.slice(inner, e.span),
            ExprKind::Ref {
                mutable: false,
                inner,
            } => self.expr(inner, want),
            ExprKind::Deref(inner) => {
                let errors = self.shared.diags.len();
                let value = self.expr(inner, want);
                if self.solver.shallow(&value.ty) != Ty::Error {
                    self.dereferenced(inner, e.span, errors);
                }
                value
            }
            ExprKind::Struct {
                path,
                args,
                fields,
                base,
            } => self.struct_literal((path, args), fields, base.as_deref(), e.span),
            ExprKind::Range { .. } => self.fail(say::range_outside_for(e.span)),
            ExprKind::Assert {
                cond,
                message,
                shown,
            } => {
                let cond = Box::new(self.condition(cond));
                let message = message.clone();
                let shown = shown.iter().map(|value| self.expr(value, None)).collect();
                self.made(Kind::Assert(cond, message, shown), Ty::UNIT, e.span)
            }
            ExprKind::Print {
                output,
                message,
                shown,
            } => self.print(*output, message, shown, e.span),
            ExprKind::Debug { text, value } => self.debug(text, value, want, e.span),
            ExprKind::Set(set) => {
                let set = self.written_set(set, SetKind::Dyn);
                self.made(Kind::Extent(set.clone()), Ty::Extent(set), e.span)
            }
            ExprKind::NewExtent(set, args) => self.new_extent(set.as_deref(), args, e.span),
            ExprKind::FromOrdinal(set, args) => self.numbered(set, args, e.span),
            ExprKind::Transform(transform) => self.transformed(transform, e.span),
            ExprKind::Infer => self.fail(say::underscore(e.span)),
        }
    }

    /// A truth value.
    pub(super) fn condition(&mut self, e: &'a tree::Expr) -> Expr {
        let cond = self.expr(e, Some(&Ty::BOOL));
        self.expect(&Ty::BOOL, &cond.ty.clone(), e.span, || {
            "a condition is a `bool`".into()
        });
        cond
    }

    fn literal(&mut self, lit: &tree::Lit) -> Expr {
        let (value, ty) = match &lit.kind {
            tree::LitKind::Int { value, suffix } => {
                let Ok(value) = i128::try_from(*value) else {
                    return self.fail(say::literal_range(lit.span, "i64"));
                };
                match suffix {
                    Some(s) if s.is_float() => (Value::Float(value as f64), Ty::Scalar(*s)),
                    Some(s) => (Value::Int(value), Ty::Scalar(*s)),
                    None => (Value::Int(value), self.solver.fresh(TyKind::Int, lit.span)),
                }
            }
            tree::LitKind::Float { value, suffix } => {
                let ty = match suffix {
                    Some(s) => Ty::Scalar(*s),
                    None => self.solver.fresh(TyKind::Float, lit.span),
                };
                (Value::Float(*value), ty)
            }
            tree::LitKind::Bool(b) => (Value::Bool(*b), Ty::BOOL),
        };
        self.made(Kind::Lit(value), ty, lit.span)
    }

    /// A path as a value: a variable, an index set, a function, a constant.
    fn path(&mut self, path: &'a syn::Path, span: Span) -> Expr {
        let name = path_key(path);
        if let Some(id) = self.lookup(&name) {
            let ty = self.local(id).ty.clone();
            return self.made(Kind::Local(id), ty, span);
        }
        match self.generic(&name) {
            Some((k, GenericKind::IndexSet)) => {
                let set = Set::Param(k);
                return self.made(Kind::Extent(set.clone()), Ty::Extent(set), span);
            }
            Some((k, GenericKind::Const)) => {
                let set = Set::Fin(Len::Param(k));
                return self.made(Kind::SizeOf(set), Ty::USIZE, span);
            }
            Some((_, GenericKind::Float | GenericKind::Function(..))) => {
                return self.fail(say::type_as_value(span, &name));
            }
            None => {}
        }
        if matches!(name.as_str(), "None" | "Option::None") {
            let ty = Ty::Option(Box::new(self.unknown(span)));
            let nothing = self.made(Kind::Tuple(Vec::new()), Ty::UNIT, span);
            return self.made(Kind::OneOf(false, Box::new(nothing)), ty, span);
        }
        if let Some(position) = self.function_of(&name) {
            return self.function_value(position, &[], span);
        }
        if let Some((owner, last)) = name.split_once("::")
            && let Some((k, kind)) = self.generic(owner)
        {
            return match (kind, constant_of_float(last)) {
                (GenericKind::Float, Some(known)) => {
                    let ty = type_of_constant(known, Ty::Float(k));
                    self.made(Kind::FloatConstant(k, known), ty, span)
                }
                (GenericKind::Float, None) => self.fail(say::no_float_constant(span, owner, last)),
                (GenericKind::IndexSet, _) => self.fail(say::no_set_constant(span, owner, last)),
                (GenericKind::Const | GenericKind::Function(..), _) => {
                    self.fail(say::unknown_name(span, &name))
                }
            };
        }
        if let Some(value) = standard_constant(&name) {
            return self.standard(path, value, span);
        }
        if let Some(member) = self.enum_member(path, span) {
            return member;
        }
        if self.type_of_path(path).is_some() {
            let set = self.path_set(path, &[], SetKind::Dyn);
            return self.made(Kind::Extent(set.clone()), Ty::Extent(set), span);
        }
        if name == "Dyn" {
            return self.fail(say::unsaid_set(span));
        }
        if looks_like_constant(path) {
            return self.constant(path, Vec::new(), span);
        }
        self.fail(say::unknown_name(path_span(path), &name))
    }

    /// A constant of the standard library: a float of the context's type, or of the type its path
    /// names.
    fn standard(&mut self, path: &syn::Path, value: StdConstant, span: Span) -> Expr {
        let named = path
            .segments
            .iter()
            .rev()
            .find_map(|s| crate::ir::Scalar::from_name(&s.ident.to_string()));
        let ty = match (value, named) {
            (StdConstant::PerType(name), Some(scalar)) => {
                type_of_constant(name, Ty::Scalar(scalar))
            }
            (StdConstant::Float(_), Some(scalar)) => Ty::Scalar(scalar),
            (_, None) => self.solver.fresh(TyKind::Float, span),
        };
        let value = match (value, named) {
            (StdConstant::Float(x), _) => Value::Float(x),
            (StdConstant::PerType(name), Some(scalar)) => match type_constant(scalar, name) {
                Some(value) => value,
                None => return self.fail(say::unknown_name(span, &path_key(path))),
            },
            (StdConstant::PerType(_), None) => {
                return self.fail(say::unknown_name(span, &path_key(path)));
            }
        };
        self.made(Kind::Lit(value), ty, span)
    }

    /// `Channel::R`
    fn enum_member(&mut self, path: &'a syn::Path, span: Span) -> Option<Expr> {
        if self.is_variant(path) {
            return Some(self.variant_value(path, &[], span));
        }
        let (id, ordinal) = self.variant(path)?;
        Some(match ordinal {
            Some(ordinal) => self.made(Kind::Member(ordinal), Ty::Member(Set::Named(id)), span),
            None => {
                let name = self.shared.linked.types[id].name.to_string();
                self.fail(say::unknown_member(
                    path_span(path),
                    &last_name(path),
                    &name,
                ))
            }
        })
    }

    /// The enum that a path `E::M` names, and which member `M` is.
    pub(super) fn variant(&self, path: &syn::Path) -> Option<(usize, Option<u64>)> {
        let id = self.owner_of(path)?;
        match &self.shared.linked.types[id].item.kind {
            TypeDefKind::EnumSet(members) => {
                let last = last_name(path);
                let at = members.iter().position(|m| *m == last);
                Some((id, at.map(|k| k as u64)))
            }
            TypeDefKind::NominalSet
            | TypeDefKind::ProductSet(_)
            | TypeDefKind::Struct(_)
            | TypeDefKind::Enum(_)
            | TypeDefKind::Alias(_) => None,
        }
    }

    /// The linked type in front of a path's last name.
    pub(super) fn owner_of(&self, path: &syn::Path) -> Option<usize> {
        if path.segments.len() < 2 {
            return None;
        }
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        self.type_of_path(&owner)
    }

    fn lazy(&mut self, and: bool, x: &'a tree::Expr, y: &'a tree::Expr, span: Span) -> Expr {
        let (at_x, at_y) = (x.span, y.span);
        let right = y;
        let x = self.expr(x, Some(&Ty::BOOL));
        let y = self.expr(right, Some(&Ty::BOOL));
        self.settle();
        let tables = [&x, &y].map(|e| !self.split(&e.ty).0.is_empty());
        // Of tables both sides are there already.
        if tables.contains(&true) {
            let op = if and {
                tree::BinaryOp::BitAnd
            } else {
                tree::BinaryOp::BitOr
            };
            let question = Question::Binary(op, x.ty.clone(), y.ty.clone(), right);
            let ty = self.ask(question, span);
            return self.made(Kind::Binary(op, Box::new(x), Box::new(y)), ty, span);
        }
        for (side, at) in [(&x, at_x), (&y, at_y)] {
            self.expect(&Ty::BOOL, &side.ty, at, || "a condition is a `bool`".into());
        }
        self.made(Kind::Lazy(and, Box::new(x), Box::new(y)), Ty::BOOL, span)
    }

    fn cast(&mut self, x: &'a tree::Expr, ty: &'a tree::Type, span: Span) -> Expr {
        let to = self.cast_target(ty);
        let x = self.expr(x, None);
        self.settle();
        let from = self.solver.shallow(&x.ty);
        let (groups, cell) = match &from {
            Ty::Table(groups, cell) => (groups.clone(), self.solver.shallow(cell)),
            other => (Vec::new(), other.clone()),
        };
        match (&cell, &to) {
            (Ty::Member(_), _) => {
                let shown = self.show(&from);
                return self.fail(say::cast_member(span, &shown));
            }
            (Ty::Scalar(crate::ir::Scalar::Bool), Ty::Scalar(s)) if s.is_float() => {
                return self.fail(say::cast_bool(span, s.name()));
            }
            (Ty::Scalar(s), Ty::Scalar(crate::ir::Scalar::Bool))
                if *s != crate::ir::Scalar::Bool =>
            {
                return self.fail(say::cast_to_bool(span));
            }
            (Ty::Scalar(_) | Ty::Float(_) | Ty::Var(_) | Ty::Error, _) => {}
            _ => {
                let shown = self.show(&from);
                return self.fail(say::cast_source(span, &shown));
            }
        }
        self.constant_cast(&cell, &to);
        let ty = Ty::table(groups, to);
        self.made(Kind::Cast(Box::new(x)), ty, span)
    }

    fn field(&mut self, x: &'a tree::Expr, member: &'a syn::Member, span: Span) -> Expr {
        let known = self.constants.len();
        let x = self.expr(x, None);
        self.settle();
        match self.part(&x.ty, member) {
            Some((k, ty)) => self.made(Kind::Field(Box::new(x), k), ty, span),
            None => {
                if self.solver.shallow(&x.ty) == Ty::Error {
                    return self.poison(span);
                }
                if self.is_constant(&x.ty) {
                    return self.constant_part(&x, member, known, span);
                }
                let shown = self.show(&x.ty);
                self.fail(say::unknown_field(
                    member_span(member, span),
                    &member_name(member),
                    &shown,
                ))
            }
        }
    }

    /// The position and type of a field. A table of tuples has fields that are tables.
    pub(super) fn part(&self, ty: &Ty, member: &syn::Member) -> Option<(usize, Ty)> {
        match self.solver.shallow(ty) {
            Ty::Tuple(parts) => match member {
                syn::Member::Unnamed(index) => {
                    let k = index.index as usize;
                    Some((k, parts.get(k)?.clone()))
                }
                syn::Member::Named(_) => None,
            },
            Ty::Struct(id, parts) => {
                let k = self.field_position(id, member)?;
                Some((k, parts.get(k)?.clone()))
            }
            Ty::Member(Set::Record(id, sets)) => {
                let k = self.field_position(id, member)?;
                Some((k, self.solver.member(&self.solver.set(sets.get(k)?))))
            }
            Ty::Table(groups, elem) => {
                let (k, ty) = self.part(&elem, member)?;
                Some((k, Ty::table(groups, ty)))
            }
            Ty::Var(_)
            | Ty::Scalar(_)
            | Ty::Float(_)
            | Ty::Member(_)
            | Ty::Offset(_)
            | Ty::Extent(_)
            | Ty::Function(..)
            | Ty::Accum(_)
            | Ty::Option(_)
            | Ty::Either(_)
            | Ty::Error => None,
        }
    }

    fn field_position(&self, id: usize, member: &syn::Member) -> Option<usize> {
        let fields = match &self.shared.linked.types[id].item.kind {
            TypeDefKind::Struct(fields) | TypeDefKind::ProductSet(fields) => fields,
            TypeDefKind::NominalSet
            | TypeDefKind::EnumSet(_)
            | TypeDefKind::Enum(_)
            | TypeDefKind::Alias(_) => {
                return None;
            }
        };
        match member {
            syn::Member::Named(name) => fields.iter().position(|(n, _)| n == name),
            syn::Member::Unnamed(_) => None,
        }
    }

    fn tuple(&mut self, parts: &'a [tree::Expr], want: Option<&Ty>, span: Span) -> Expr {
        let wants = match want.map(|w| self.solver.shallow(w)) {
            Some(Ty::Tuple(wants)) if wants.len() == parts.len() => {
                wants.into_iter().map(Some).collect()
            }
            _ => vec![None; parts.len()],
        };
        let parts: Vec<Expr> = parts
            .iter()
            .zip(&wants)
            .map(|(p, w): (_, &Option<Ty>)| self.expr(p, w.as_ref()))
            .collect();
        let ty = Ty::Tuple(parts.iter().map(|p| p.ty.clone()).collect());
        self.made(Kind::Tuple(parts), ty, span)
    }

    fn array(&mut self, parts: &'a [tree::Expr], span: Span) -> Expr {
        let elem = self.unknown(span);
        let set = Set::Fin(Len::Lit(parts.len() as u64));
        let parts: Vec<Expr> = parts
            .iter()
            .map(|p| {
                let part = self.expr(p, Some(&elem));
                self.expect(&elem, &part.ty, p.span, || {
                    "the elements of an array have one type".into()
                });
                part
            })
            .collect();
        if parts.is_empty() {
            return self.fail(say::empty_array(span));
        }
        self.made(
            Kind::Array(parts),
            Ty::Table(vec![set], Box::new(elem)),
            span,
        )
    }

    fn repeat(
        &mut self,
        x: &'a tree::Expr,
        len: &'a tree::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let x = self.expr(x, None);
        let set = match &len.kind {
            ExprKind::Infer => match want.map(|w| self.solver.shallow(w)) {
                Some(Ty::Table(groups, _)) => groups[0].clone(),
                _ => self.solver.fresh_set(SetKind::Free, len.span),
            },
            _ => self.fin(len),
        };
        let ty = Ty::table(vec![set], x.ty.clone());
        self.made(Kind::Repeat(Box::new(x)), ty, span)
    }

    fn if_else(
        &mut self,
        cond: &'a tree::Expr,
        then: &'a tree::Block,
        otherwise: Option<&'a tree::Expr>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let cond = self.condition(cond);
        let then_span = then.value.as_ref().map_or(then.span, |v| v.span);
        let (then, ty) = self.block(then, want);
        let otherwise = match otherwise {
            Some(e) => {
                let value = self.expr(e, want.or(Some(&ty)));
                let at = tail_span(e);
                self.expect(&ty, &value.ty, at, || {
                    "both branches of an `if` give values of one type".into()
                });
                Some(Box::new(value))
            }
            None => {
                self.expect(&Ty::UNIT, &ty, then_span, || {
                    "an `if` without `else` has no value: write `else { … }` behind it".into()
                });
                None
            }
        };
        self.made(Kind::If(Box::new(cond), then, otherwise), ty, span)
    }

    fn closure(
        &mut self,
        params: &'a [tree::Pattern],
        body: &'a tree::Expr,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let (wants, result) = match want.map(|w| self.solver.shallow(w)) {
            Some(Ty::Function(wants, result)) => (wants, Some(*result)),
            _ => (Vec::new(), None),
        };
        self.closures.push(self.locals.len());
        self.scopes.push(Vec::new());
        let mut types = Vec::new();
        let mut patterns = Vec::new();
        for (k, param) in params.iter().enumerate() {
            let ty = match wants.get(k) {
                Some(ty) => ty.clone(),
                None => self.unknown(pattern_span(param).unwrap_or(span)),
            };
            let pattern = self.binding(param, &ty, Origin::Bound);
            // What it is nothing says but its calls.
            self.may_be_reference(&pattern);
            patterns.push(pattern);
            types.push(ty);
        }
        let body = self.expr(body, result.as_ref());
        self.scopes.pop();
        self.closures.pop();
        let ty = Ty::Function(types, Box::new(body.ty.clone()));
        let closure = Closure {
            params: patterns,
            body,
        };
        self.made(Kind::Closure(Rc::new(closure)), ty, span)
    }

    fn struct_literal(
        &mut self,
        (path, args): (&'a syn::Path, &'a [tree::TypeArg]),
        fields: &'a [(proc_macro2::Ident, tree::Expr)],
        base: Option<&'a tree::Expr>,
        span: Span,
    ) -> Expr {
        if self.is_variant(path) {
            return self.variant_literal(path, fields, base, span);
        }
        let linked = self.shared.linked;
        let ty = self.path_type(path, args, SetKind::Dyn);
        let (Ty::Struct(id, _) | Ty::Member(Set::Record(id, _))) = &ty else {
            return match ty {
                Ty::Error => self.poison(span),
                _ => self.fail(say::not_a_struct(path_span(path), &path_key(path))),
            };
        };
        let declared = match &linked.types[*id].item.kind {
            TypeDefKind::Struct(declared) | TypeDefKind::ProductSet(declared) => {
                declared.as_slice()
            }
            TypeDefKind::Enum(_) => {
                return self.fail(say::not_a_struct(path_span(path), &path_key(path)));
            }
            TypeDefKind::NominalSet | TypeDefKind::EnumSet(_) | TypeDefKind::Alias(_) => &[],
        };
        let mut given = Vec::new();
        for (name, value) in fields {
            let member = syn::Member::Named(name.clone());
            let Some((k, want)) = self.part(&ty, &member) else {
                let shown = self.show(&ty);
                self.report(say::unknown_field(name.span(), &name.to_string(), &shown));
                continue;
            };
            let value_expr = self.expr(value, Some(&want));
            self.expect(&want, &value_expr.ty, value.span, || {
                format!("the field `{name}` is of that type")
            });
            given.push((k, value_expr));
        }
        if let Some(base) = base {
            let base_expr = self.expr(base, Some(&ty));
            self.expect(&ty, &base_expr.ty, base.span, || {
                "the other fields come from it".into()
            });
            return self.made(Kind::Updated(Box::new(base_expr), given), ty, span);
        }
        let missing: Vec<String> = declared
            .iter()
            .enumerate()
            .filter(|(k, (name, _))| {
                !given.iter().any(|(g, _)| g == k) && !fields.iter().any(|(n, _)| n == name)
            })
            .map(|(_, (name, _))| format!("`{name}`"))
            .collect();
        if !missing.is_empty() {
            return self.fail(say::missing_fields(path_span(path), &missing.join(", ")));
        }
        let (stmts, parts) = self.as_declared(given, span);
        let value = self.made(Kind::Tuple(parts), ty.clone(), span);
        let block = Block {
            stmts,
            value: Some(Box::new(value)),
        };
        self.made(Kind::Block(block), ty, span)
    }

    /// Fields by number, which are evaluated as written and stored as declared.
    pub(super) fn as_declared(
        &mut self,
        given: Vec<(usize, Expr)>,
        span: Span,
    ) -> (Vec<crate::lower::hir::Stmt>, Vec<Expr>) {
        let mut stmts = Vec::new();
        let mut order: Vec<(usize, Expr)> = Vec::new();
        for (k, value) in given {
            let id = self.bind("", value.ty.clone(), false, Origin::Let, span);
            let local = Expr {
                kind: Kind::Local(id),
                ty: value.ty.clone(),
                span: value.span,
            };
            stmts.push(crate::lower::hir::Stmt::Let(
                crate::lower::hir::Pattern::Bind(id),
                value,
            ));
            order.push((k, local));
        }
        order.sort_by_key(|(k, _)| *k);
        (stmts, order.into_iter().map(|(_, e)| e).collect())
    }
}

/// The span that stands for the value of an expression: the tail of a block.
pub(super) fn tail_span(e: &tree::Expr) -> Span {
    match &e.kind {
        ExprKind::Block(block) => block.value.as_deref().map_or(e.span, tail_span),
        ExprKind::Paren(inner) => tail_span(inner),
        _ => e.span,
    }
}

/// Where a pattern stands.
pub(super) fn pattern_span(pattern: &tree::Pattern) -> Option<Span> {
    Some(match pattern {
        tree::Pattern::Name { name, .. } => name.span(),
        tree::Pattern::Wild(span)
        | tree::Pattern::Tuple(_, span)
        | tree::Pattern::Variant { span, .. }
        | tree::Pattern::Struct { span, .. } => *span,
        tree::Pattern::Typed(inner, _) => return pattern_span(inner),
        tree::Pattern::Lit(lit, _) => lit.span,
    })
}

fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(name) => name.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

fn member_span(member: &syn::Member, _whole: Span) -> Span {
    match member {
        syn::Member::Named(name) => name.span(),
        syn::Member::Unnamed(index) => index.span,
    }
}

//! Indexing, and places: what can be assigned or accumulated into.

use proc_macro2::Span;

use super::Infer;
use super::constant::ConstantIndex;
use super::ops::{Question, sign};
use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind, LocalId, Origin, Place, Step};
use crate::lower::solve::{Clash, SetKind, TyKind};
use crate::lower::types::{Set, Ty, drop_atoms};
use crate::syntax::tree::path_key;
use crate::syntax::tree::{self, BinaryOp, ExprKind};

impl<'a> Infer<'_, 'a> {
    /// `t[i]` as a value.
    pub(super) fn index(
        &mut self,
        base: &'a tree::Expr,
        index: &'a tree::Expr,
        span: Span,
    ) -> Expr {
        let base = self.expr(base, None);
        let parts = self.index_parts(index);
        match self.solver.shallow(&base.ty) {
            Ty::Accum(_) => return self.fail(say::accum_read(span)),
            Ty::Error => return self.poison(span),
            _ => {}
        }
        let question = Question::Index(
            base.ty.clone(),
            self.types_of(&parts),
            self.index_names(&parts),
        );
        let ty = self.ask(question, span);
        self.made(Kind::Index(Box::new(base), parts), ty, span)
    }

    /// The indices in brackets: `a`, `(a, b)` or `[a, b]`.
    fn index_parts(&mut self, index: &'a tree::Expr) -> Vec<Expr> {
        if let Some(span) = from_the_end(index) {
            self.report(say::negative_index(span));
        }
        let part = self.index_part(index);
        self.flatten_index(vec![part])
    }

    /// An index, where `[a, b]` is what `(a, b)` is.
    pub(super) fn index_part(&mut self, index: &'a tree::Expr) -> Expr {
        match &index.kind {
            ExprKind::Array(parts) => {
                let parts: Vec<Expr> = parts.iter().map(|p| self.expr(p, None)).collect();
                let ty = Ty::Tuple(parts.iter().map(|p| p.ty.clone()).collect());
                self.made(Kind::Tuple(parts), ty, index.span)
            }
            ExprKind::Paren(inner) => self.index_part(inner),
            _ => self.expr(index, None),
        }
    }

    /// Tuples written out are taken apart, so that each index keeps its own place.
    pub(super) fn flatten_index(&mut self, parts: Vec<Expr>) -> Vec<Expr> {
        let mut flat = Vec::new();
        for part in parts {
            match part.kind {
                Kind::Tuple(inner) => flat.extend(self.flatten_index(inner)),
                _ => flat.push(part),
            }
        }
        flat
    }

    fn types_of(&self, parts: &[Expr]) -> Vec<(Ty, Span)> {
        parts
            .iter()
            .map(|p| (p.ty.clone(), self.shared.places.get(p.span)))
            .collect()
    }

    /// The type of what indices select, `None` if it depends on what is not known yet.
    pub(super) fn index_type(
        &mut self,
        base: &Ty,
        parts: &[(Ty, Span)],
        names: &[Option<LocalId>],
        span: Span,
    ) -> Option<Ty> {
        let frames: Vec<Vec<Set>> = parts.iter().map(|(ty, _)| self.split(ty).0).collect();
        if frames.iter().any(|frame| !frame.is_empty()) {
            if self.is_ragged(base) {
                self.report(say::ragged_index(span));
                return Some(Ty::Error);
            }
            let cell = |(ty, at): &(Ty, Span)| (self.split(ty).1, *at);
            let cells: Vec<(Ty, Span)> = parts.iter().map(cell).collect();
            let inner = self.index_type(base, &cells, &[], span)?;
            return Some(match self.frame(&frames, span) {
                Some(frame) => Ty::table(frame, inner),
                None => Ty::Error,
            });
        }
        let mut indices = Vec::new();
        for (ty, at) in parts {
            self.components(ty, *at, &mut indices);
        }
        let base = self.solver.shallow(base);
        // `t[()]` is the one element of a table over `()`.
        if indices.is_empty() {
            return Some(base);
        }
        let (groups, elem) = match &base {
            Ty::Error => return Some(Ty::Error),
            Ty::Table(groups, elem) => (self.solver.groups(groups), self.solver.shallow(elem)),
            Ty::Var(v) if self.solver.kind(*v) == TyKind::Any => (Vec::new(), base.clone()),
            _ => {
                let shown = self.show(&base);
                let is_tuple = matches!(base, Ty::Tuple(_));
                self.report(say::not_a_table(span, &shown, is_tuple));
                return Some(Ty::Error);
            }
        };
        let groups = self.with_rows(&groups, &indices, names).unwrap_or(groups);
        let atoms = self.solver.atoms(&groups);
        let types: Vec<Ty> = indices.iter().map(|(ty, _)| ty.clone()).collect();
        let pairs = self.solver.indexed(&atoms, &types);
        let known: usize = pairs.iter().map(|(given, _)| given).sum();
        if known < indices.len() {
            let open = matches!(elem, Ty::Var(v) if self.solver.kind(v) == TyKind::Any);
            if !open {
                let (_, at) = &indices[known];
                let shown = self.show(&base);
                self.report(say::too_many_indices(
                    *at,
                    indices.len(),
                    atoms.len(),
                    &shown,
                ));
                return Some(Ty::Error);
            }
            // What is indexed of a constant is an array.
            if self.is_constant(&elem) {
                self.constant_array(&elem, span);
                return self.index_type(&base, parts, names, span);
            }
            // Members say what the axes are that the table is not known to have yet.
            let mut more = Vec::new();
            for (ty, _) in &indices[known..] {
                match self.solver.shallow(ty) {
                    Ty::Member(set) | Ty::Offset(set) => more.push(set),
                    Ty::Scalar(crate::ir::Scalar::Bool) => more.push(Set::Bool),
                    Ty::Error => return Some(Ty::Error),
                    _ => return None,
                }
            }
            let held = self.unknown(span);
            let inner = Ty::Table(more, Box::new(held));
            let _ = self.solver.unify(&elem, &inner);
            return self.index_type(&base, parts, names, span);
        }
        let mut poisoned = false;
        let (mut k, mut rest) = (0, indices.as_slice());
        for (given, axes) in pairs {
            let (here, behind) = rest.split_at(given);
            rest = behind;
            let axis = Set::product(atoms[k..k + axes].to_vec());
            let index = match here {
                [(ty, _)] => ty.clone(),
                parts => Ty::Tuple(parts.iter().map(|(ty, _)| ty.clone()).collect()),
            };
            poisoned |= !self.index_one(&base, k, &axis, &index, here[0].1);
            k += axes;
        }
        if poisoned {
            return Some(Ty::Error);
        }
        Some(Ty::table(drop_atoms(&groups, k), elem))
    }

    /// The axes that these indices select from, without the first ones: a member says which set it
    /// is, a number does not.
    pub(super) fn axes_of_indices(&mut self, parts: &[(Ty, Span)], known: usize) -> Vec<Set> {
        let mut indices = Vec::new();
        for (ty, at) in parts {
            self.components(ty, *at, &mut indices);
        }
        let rest = indices.into_iter().skip(known);
        rest.map(|(ty, at)| match self.solver.shallow(&ty) {
            Ty::Member(set) | Ty::Offset(set) => set,
            Ty::Scalar(crate::ir::Scalar::Bool) => Set::Bool,
            _ => self.solver.fresh_set(SetKind::Free, at),
        })
        .collect()
    }

    /// A tuple of indices is one index for each axis.
    fn components(&self, ty: &Ty, at: Span, out: &mut Vec<(Ty, Span)>) {
        match self.solver.shallow(ty) {
            Ty::Tuple(parts) => {
                for part in &parts {
                    self.components(part, at, out);
                }
            }
            // As it was made, so that a set variable can say why it was bound.
            Ty::Member(_) => out.push((self.solver.raw(ty), at)),
            other => out.push((other, at)),
        }
    }

    /// Whether an index fits the set of its axis; reports if not.
    pub(super) fn index_one(
        &mut self,
        base: &Ty,
        k: usize,
        axis: &Set,
        index: &Ty,
        at: Span,
    ) -> bool {
        let raw = self.solver.raw(index);
        let index = self.solver.shallow(index);
        let found = match &index {
            Ty::Error => return false,
            Ty::Member(set) | Ty::Offset(set) => set.clone(),
            // Of a range whose members these are.
            Ty::Tuple(_) => match self.solver.members(&index) {
                Some(set) => set,
                None => {
                    let shown = self.show(&index);
                    self.report(say::bad_index(at, &shown));
                    return false;
                }
            },
            Ty::Scalar(s) if s.is_int() => return true,
            Ty::Scalar(crate::ir::Scalar::Bool) => Set::Bool,
            Ty::Var(v) => match self.solver.kind(*v) {
                TyKind::Int => return true,
                TyKind::Number => return self.solver.unify(&index, &Ty::USIZE).is_ok(),
                TyKind::Any if self.is_constant(&index) => {
                    self.constant_indices.push(ConstantIndex {
                        index: index.clone(),
                        base: base.clone(),
                        position: k,
                        axis: axis.clone(),
                        at,
                    });
                    return true;
                }
                TyKind::Any => {
                    let _ = self.solver.unify(&index, &Ty::Member(axis.clone()));
                    return true;
                }
                TyKind::Float => {
                    let shown = self.show(&index);
                    self.report(say::bad_index(at, &shown));
                    return false;
                }
            },
            _ => {
                let shown = self.show(&index);
                self.report(say::bad_index(at, &shown));
                return false;
            }
        };
        let place = format!("axis {} of {}", k + 1, self.show(base));
        let why = self
            .solver
            .why
            .replace(format!("its set was inferred where it indexes {place}"));
        let written = match &raw {
            Ty::Member(set) => set,
            _ => &found,
        };
        // What a range runs over is a place in what was made over it, and a place in a range is a
        // member of what it runs over.
        let of_range = |s: &Self, range: &Set, other: &Set| match s.solver.set(other) {
            Set::Range(_) | Set::Var(_) => None,
            // An index for each part, however these are grouped.
            _ => {
                let of = s.solver.members_of_range(range)?;
                Some(Set::product(s.solver.set(&of).atoms()))
            }
        };
        let members = of_range(self, axis, &found);
        let places = of_range(self, &found, axis);
        let result = match (members, places) {
            (Some(of), _) => self.solver.unify_sets(written, &of),
            (None, Some(of)) => self.solver.unify_sets(&of, axis),
            (None, None) => self.solver.unify_sets(written, axis),
        };
        self.solver.why = why;
        if let Err(clash) = result {
            let mut diagnostic =
                say::wrong_set(at, &self.show_set(&found), &place, &self.show_set(axis));
            if let Clash::Sets(_, _, Some(reason)) = clash {
                diagnostic = diagnostic.help(reason);
            }
            self.report(diagnostic);
            return false;
        }
        true
    }

    // ---- places ----

    /// The place that an expression means, `None` if it was reported not to be one.
    pub(super) fn place(&mut self, e: &'a tree::Expr) -> Option<Place> {
        match &e.kind {
            ExprKind::Paren(inner) => self.place(inner),
            ExprKind::Deref(inner) => {
                let errors = self.shared.diags.len();
                let place = self.place(inner);
                self.dereferenced(inner, e.span, errors);
                place
            }
            ExprKind::Path(path) => {
                let name = path_key(path);
                let Some(local) = self.lookup(&name) else {
                    self.report(say::unknown_name(e.span, &name));
                    return None;
                };
                let ty = match self.solver.shallow(&self.local(local).ty.clone()) {
                    Ty::Accum(inner) => *inner,
                    other => other,
                };
                let span = self.span(e.span);
                Some(Place {
                    local,
                    steps: Vec::new(),
                    ty,
                    span,
                })
            }
            ExprKind::Field(x, member) => {
                let mut place = self.place(x)?;
                match self.part(&place.ty, member) {
                    Some((k, ty)) => {
                        place.steps.push(Step::Field(k));
                        place.ty = ty;
                        place.span = self.span(e.span);
                        Some(place)
                    }
                    None => {
                        let shown = self.show(&place.ty);
                        self.report(say::unknown_field(e.span, "of this name", &shown));
                        None
                    }
                }
            }
            ExprKind::Index(base, index) => {
                let mut place = self.place(base)?;
                let parts = self.index_parts(index);
                let types = self.types_of(&parts);
                if let Some((ty, at)) = types.iter().find(|(ty, _)| !self.split(ty).0.is_empty()) {
                    let shown = self.show(ty);
                    self.report(say::bad_index(*at, &shown));
                    return None;
                }
                if self.is_ragged(&place.ty) {
                    self.report(say::ragged_assigned(e.span));
                    return None;
                }
                let question = Question::Index(place.ty.clone(), types, Vec::new());
                let ty = self.ask(question, e.span);
                let from = std::mem::replace(&mut place.ty, ty);
                place.steps.push(Step::Index(from, parts));
                place.span = self.span(e.span);
                Some(place)
            }
            _ => {
                self.report(say::not_a_place(e.span));
                None
            }
        }
    }

    pub(super) fn is_accum(&self, local: LocalId) -> bool {
        matches!(self.solver.shallow(&self.local(local).ty), Ty::Accum(_))
    }

    /// Whether the variable may be written here; reports if not.
    fn writable(&mut self, local: LocalId, span: Span) -> bool {
        let info = self.local(local).clone();
        if let Some(base) = self.closures.last()
            && (local.0 as usize) < *base
        {
            self.report(say::closure_assigns(span, &info.name));
            return false;
        }
        if self.is_accum(local) && (info.mutable || info.origin == Origin::Slice) {
            return true;
        }
        let diagnostic = match info.origin {
            _ if info.mutable => return true,
            Origin::Shared => say::write_through_ref(span, &info.name),
            Origin::Let | Origin::Param | Origin::Bound | Origin::Slice | Origin::Exclusive => {
                say::immutable(span, &info.name)
            }
        };
        self.report(diagnostic);
        false
    }

    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        op_span: Span,
        place: &'a tree::Expr,
        value: &'a tree::Expr,
        span: Span,
    ) -> Expr {
        if let Some(name) = self.row_written(place) {
            self.uncalled(std::slice::from_ref(value));
            return self.fail(say::row_written(place.span, &name));
        }
        let target = self.place(place);
        let want = target.as_ref().map(|t| t.ty.clone());
        let value_expr = self.expr(value, want.as_ref());
        let Some(target) = target else {
            return self.poison(span);
        };
        let is_known = self.solver.shallow(&target.ty) != Ty::Error;
        if !is_known || !self.writable(target.local, place.span) {
            return self.poison(span);
        }
        let accum = self.is_accum(target.local);
        match op {
            None if accum => {
                return self.fail(say::accum_assign(op_span));
            }
            None => {
                let name = self.local(target.local).name.clone();
                let (ty, found) = (target.ty.clone(), value_expr.ty.clone());
                let longer = self.has_length_of_its_own(&found);
                self.expect(&ty, &found, value.span, || match longer {
                    true => say::kept_length(&name),
                    false => format!("it is assigned to a part of `{name}`, or all of it"),
                });
            }
            Some(op) => {
                let additive = matches!(op, BinaryOp::Add | BinaryOp::Sub);
                if accum && !additive {
                    return self.fail(say::accum_assign(op_span));
                }
                let open = matches!(self.solver.shallow(&target.ty), Ty::Var(_));
                if accum && open {
                    let (ty, found) = (target.ty.clone(), value_expr.ty.clone());
                    self.expect(&ty, &found, value.span, || "it is accumulated here".into());
                } else {
                    let question =
                        Question::Binary(op, target.ty.clone(), value_expr.ty.clone(), value);
                    let result = self.ask(question, op_span);
                    let moved = matches!(self.solver.shallow(&result), Ty::Offset(_));
                    if moved && !matches!(self.solver.shallow(&target.ty), Ty::Offset(_)) {
                        let (left, right) = (self.show(&target.ty), self.show(&value_expr.ty));
                        return self.fail(
                            say::binary(op_span, sign(op), &left, &right)
                                .help("`.ordinal()` is a member's number"),
                        );
                    }
                    let ty = target.ty.clone();
                    self.expect(&ty, &result, value.span, || {
                        "the place keeps its type".into()
                    });
                }
            }
        }
        self.made(
            Kind::Assign(op, target, Box::new(value_expr)),
            Ty::UNIT,
            span,
        )
    }

    /// The variable that a place takes for a reference, as a `for` over a mutable slice binds one.
    fn row_written(&self, place: &tree::Expr) -> Option<String> {
        let ExprKind::Deref(inner) = &place.kind else {
            return None;
        };
        let name = root_name(inner)?;
        let local = self.local(self.lookup(&name)?);
        (local.origin == Origin::Bound && !local.mutable && !local.reference).then_some(name)
    }

    /// Whether a range says how long a table is.
    fn has_length_of_its_own(&self, ty: &Ty) -> bool {
        let (groups, _) = self.split(ty);
        let atoms = self.solver.atoms(&groups);
        atoms
            .iter()
            .any(|set| matches!(set, Set::Range(_) | Set::Row(..)))
    }

    /// `acc.put(v)`; `None` if the receiver is not an accumulator.
    pub(super) fn put(
        &mut self,
        receiver: &'a tree::Expr,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Option<Expr> {
        let root = root_name(receiver)?;
        let local = self.lookup(&root)?;
        if !self.is_accum(local) {
            return None;
        }
        let (within, at) = match checked_part(receiver) {
            Some((within, at)) => (within, Some(at)),
            None => (receiver, None),
        };
        let Some(place) = self.place(within) else {
            return Some(self.poison(span));
        };
        if !self.writable(local, within.span) || !self.arity("put", 1, args.len(), span) {
            return Some(self.poison(span));
        }
        if at.is_some() && self.is_ragged(&place.ty) {
            return Some(self.fail(say::ragged_assigned(receiver.span)));
        }
        let mut ty = place.ty.clone();
        let at = at.map(|at| {
            let parts: Vec<Expr> = at.iter().map(|index| self.index_part(index)).collect();
            let parts = self.flatten_index(parts);
            ty = self.ask(
                Question::Index(ty.clone(), self.types_of(&parts), Vec::new()),
                receiver.span,
            );
            parts
        });
        let value = self.expr(&args[0], Some(&ty));
        self.expect(&ty, &value.ty, args[0].span, || {
            "it is put into an accumulator of that type".into()
        });
        let value = Box::new(value);
        let kind = match at {
            None => Kind::Put(place, value),
            Some(at) => Kind::PutAt { place, at, value },
        };
        Some(self.made(kind, Ty::UNIT, span))
    }

    /// `&mut acc[i]`
    pub(super) fn slice(&mut self, inner: &'a tree::Expr, span: Span) -> Expr {
        let Some(place) = self.place(inner) else {
            return self.poison(span);
        };
        if !self.is_accum(place.local) {
            return self.fail(say::mut_ref(span));
        }
        if !self.writable(place.local, span) {
            return self.poison(span);
        }
        let ty = Ty::Accum(Box::new(place.ty.clone()));
        self.made(Kind::Slice(place), ty, span)
    }

    /// An argument `&mut place`.
    pub(super) fn argument_place(&mut self, inner: &'a tree::Expr) -> Option<Place> {
        let mut place = self.place(inner)?;
        if self.is_accum(place.local) {
            place.ty = Ty::Accum(Box::new(place.ty));
        }
        self.writable(place.local, inner.span).then_some(place)
    }
}

/// The variable at the root of a place.
fn root_name(e: &tree::Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Path(path) => Some(path_key(path)),
        ExprKind::Paren(inner)
        | ExprKind::Deref(inner)
        | ExprKind::Field(inner, _)
        | ExprKind::Index(inner, _) => root_name(inner),
        ExprKind::Method { .. } => root_name(checked_part(e)?.0),
        _ => None,
    }
}

/// `acc` and `k` of `acc.get(k)`, a part that may not be there.
fn checked_part(e: &tree::Expr) -> Option<(&tree::Expr, &[tree::Expr])> {
    match &e.kind {
        ExprKind::Paren(inner) => checked_part(inner),
        ExprKind::Method {
            receiver,
            name,
            args,
        } if name == "get" && !args.is_empty() => Some((receiver, args)),
        _ => None,
    }
}

/// The first of indices that is a negative number as it is written.
fn from_the_end(index: &tree::Expr) -> Option<Span> {
    match &index.kind {
        ExprKind::Paren(inner) => from_the_end(inner),
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().find_map(from_the_end),
        ExprKind::Unary(tree::UnaryOp::Neg, number) => match &number.kind {
            ExprKind::Lit(tree::Lit {
                kind: tree::LitKind::Int { value: 1.., .. },
                ..
            }) => Some(index.span),
            _ => None,
        },
        _ => None,
    }
}

//! Transformed functions: what they take and give.
//!
//! `grad!(f)` is a function value like `f` itself. It is called, named, passed and transformed
//! again by what its parameters and result are.

use proc_macro2::{Ident, Span};

use super::Infer;
use crate::diag::transform as say;
use crate::lower::hir::{Derivative, Expr, Kind, Transform};
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Set, Ty};
use crate::lower::words::Word;
use crate::syntax::seeds;
use crate::syntax::tree::{self, Transformed, TypeKind, path_key};

/// A parameter of a function that is to be transformed.
#[derive(Clone)]
struct Param {
    /// What `wrt` calls it.
    name: Option<String>,
    ty: Ty,
    /// The type as the function declares it.
    declared: Option<String>,
    /// Marked `#[constant]`, or behind `&mut`: why it cannot be differentiated.
    fixed: Option<&'static str>,
}

/// A function that is to be transformed, or that has been.
struct Signature {
    /// What messages call it.
    name: String,
    expr: Expr,
    params: Vec<Param>,
    result: Ty,
    /// The type of the result as the function declares it.
    declared: Option<String>,
}

impl<'a> Infer<'_, 'a> {
    pub(super) fn transformed(&mut self, transform: &'a tree::Transform, span: Span) -> Expr {
        match self.transform(transform, span) {
            Some(signature) => signature.expr,
            None => self.poison(span),
        }
    }

    fn target(&mut self, of: &'a Transformed, span: Span) -> Option<Signature> {
        let path = match of {
            Transformed::Transform(inner) => return self.transform(inner, span),
            Transformed::Path(path) => path,
        };
        let (name, at) = (path_key(path), super::signature::path_span(path));
        let local = self.lookup(&name);
        if local.is_none()
            && let Some(position) = self.function_of(&name)
        {
            return self.function(position, at);
        }
        let Some(local) = local else {
            let is_word = Word::from_name(&name).is_some();
            self.report(match is_word {
                true => say::of_word(at, &name),
                false => crate::diag::lowering::not_pointful(at, &name),
            });
            return None;
        };
        let ty = self.local(local).ty.clone();
        let expr = self.made(Kind::Local(local), ty, at);
        self.settle();
        let Ty::Function(params, result) = self.solver.shallow(&expr.ty) else {
            if self.solver.shallow(&expr.ty) != Ty::Error {
                let shown = self.show(&expr.ty);
                self.report(say::no_function(at, &name, &shown));
            }
            return None;
        };
        let mut names = self.local(local).params.clone();
        names.resize(params.len(), None);
        Some(Signature {
            name,
            expr,
            params: params
                .into_iter()
                .zip(names)
                .map(|(ty, name)| seed(name, ty))
                .collect(),
            result: *result,
            declared: None,
        })
    }

    /// An annotated function.
    fn function(&mut self, position: usize, at: Span) -> Option<Signature> {
        let callee = &self.shared.done[position];
        let tree = callee.tree;
        let name = tree.name.to_string();
        let is_exclusive = |ty: &tree::Type| matches!(ty.kind, TypeKind::Ref { mutable: true, .. });
        if let Some(param) = tree.params.iter().find(|param| is_exclusive(&param.ty)) {
            let param = param.name.to_string();
            self.report(say::of_exclusive(at, &name, &param));
            return None;
        }
        let expr = self.function_value(position, &[], at);
        let callee = &self.shared.done[position];
        let Ty::Function(types, result) = self.solver.shallow(&expr.ty) else {
            return None;
        };
        let printer = self.printer_of(position);
        let shown = |ty: &Ty| Some(printer.quoted(&callee.solver.ty(ty)));
        let declared = shown(&callee.result);
        let params = tree.params.iter().zip(&callee.params).zip(types);
        let params = params
            .map(|((param, id), ty)| Param {
                name: Some(param.name.to_string()),
                ty,
                declared: shown(&callee.locals[id.0 as usize].ty),
                fixed: fixed(param),
            })
            .collect();
        Some(Signature {
            name,
            expr,
            params,
            result: *result,
            declared,
        })
    }

    fn show_result(&self, of: &Signature) -> String {
        let declared = of.declared.clone();
        declared.unwrap_or_else(|| self.show(&of.result))
    }

    fn show_param(&self, param: &Param) -> String {
        let declared = param.declared.clone();
        declared.unwrap_or_else(|| self.show(&param.ty))
    }

    fn transform(&mut self, transform: &'a tree::Transform, span: Span) -> Option<Signature> {
        let of = self.target(&transform.of, span)?;
        let name = transform.name.to_string();
        let at = transform.name.span();
        let own = format!("{name}!({})", of.name);
        if name == "vmap" {
            let signature = self.vmap(transform, of, span)?;
            return Some(Signature {
                name: own,
                ..signature
            });
        }
        let wrt = self.with_respect_to(transform, &of, at)?;
        let gradient = matches!(name.as_str(), "grad" | "value_and_grad" | "hessian" | "hvp");
        if gradient && !self.is_float_scalar(&of.result) {
            let shown = self.show_result(&of);
            self.report(say::not_scalar(at, &name, &of.name, &shown));
            return None;
        }
        let parts = self.float_parts(&of.result);
        if parts.is_empty() {
            let shown = self.show_result(&of);
            self.report(say::no_float_result(at, &name, &of.name, &shown));
            return None;
        }
        let signature = match name.as_str() {
            "grad" => self.gradient(of, wrt, false, span),
            "value_and_grad" => self.gradient(of, wrt, true, span),
            "hessian" => {
                let gradient = self.gradient(of, wrt.clone(), false, span);
                self.jacobian(gradient, wrt, &transform.name, span)?
            }
            "hvp" => {
                let gradient = self.gradient(of, wrt.clone(), false, span);
                self.forward(gradient, wrt, Derivative::TangentAlone, span)
            }
            "jvp" => self.forward(of, wrt, Derivative::Tangent, span),
            "linearize" => self.forward(of, wrt, Derivative::Linearize, span),
            "vjp" => self.backward(of, wrt, span),
            "jacobian" => self.jacobian(of, wrt, &transform.name, span)?,
            _ => {
                self.report(crate::diag::lowering::not_available(
                    at,
                    &format!("`{name}!`"),
                ));
                return None;
            }
        };
        Some(Signature {
            name: own,
            ..signature
        })
    }

    // ---- Parameters

    /// The positions of the parameters that are differentiated.
    fn with_respect_to(
        &mut self,
        transform: &'a tree::Transform,
        of: &Signature,
        at: Span,
    ) -> Option<Vec<usize>> {
        let Some((_, names)) = transform.options.first() else {
            let all: Vec<usize> = (0..of.params.len())
                .filter(|&k| of.params[k].fixed.is_none() && self.has_floats(&of.params[k].ty))
                .collect();
            if all.is_empty() {
                self.report(say::nothing_to_differentiate(at, &of.name));
                return None;
            }
            return Some(all);
        };
        let mut positions = Vec::new();
        for name in names {
            let k = self.named(name, of)?;
            let param = &of.params[k];
            if positions.contains(&k) {
                self.report(say::named_twice(name.span(), &name.to_string()));
                return None;
            }
            if let Some(why) = param.fixed {
                self.report(say::not_differentiable(name.span(), &name.to_string(), why));
                return None;
            }
            if !self.has_floats(&param.ty) {
                let why = format!("it is {}", self.show_param(param));
                self.report(say::not_differentiable(
                    name.span(),
                    &name.to_string(),
                    &why,
                ));
                return None;
            }
            positions.push(k);
        }
        Some(positions)
    }

    fn named(&mut self, name: &Ident, of: &Signature) -> Option<usize> {
        let word = name.to_string();
        let found = of
            .params
            .iter()
            .position(|param| param.name.as_ref() == Some(&word));
        if found.is_none() {
            let known: Vec<String> = of.params.iter().filter_map(|p| p.name.clone()).collect();
            self.report(say::no_parameter(name.span(), &of.name, &word, &known));
        }
        found
    }

    fn is_float(&self, ty: &Ty) -> bool {
        match self.solver.shallow(ty) {
            Ty::Scalar(scalar) => scalar.is_float(),
            Ty::Float(_) => true,
            Ty::Var(v) => matches!(self.solver.kind(v), TyKind::Float | TyKind::Any),
            _ => false,
        }
    }

    fn is_float_scalar(&self, ty: &Ty) -> bool {
        self.is_float(ty) || self.solver.shallow(ty) == Ty::Error
    }

    /// Whether there is anything in a value that has a derivative.
    pub(super) fn has_floats(&self, ty: &Ty) -> bool {
        match self.solver.shallow(ty) {
            Ty::Table(_, elem) => self.has_floats(&elem),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().any(|part| self.has_floats(part))
            }
            Ty::Option(held) => self.has_floats(&held),
            Ty::Either(sides) => sides.iter().any(|side| self.has_floats(side)),
            Ty::Error => true,
            other => self.is_float(&other),
        }
    }

    /// The parts of a result that have derivatives: the parts of a tuple, or the result itself.
    pub(super) fn float_parts(&self, result: &Ty) -> Vec<Ty> {
        let parts = match self.solver.shallow(result) {
            Ty::Tuple(parts) => parts,
            other => vec![other],
        };
        parts
            .into_iter()
            .filter(|part| self.has_floats(part))
            .collect()
    }

    // ---- Transformations

    fn signature(
        &mut self,
        of: Signature,
        params: Vec<Param>,
        result: Ty,
        wrt: Vec<usize>,
        derivative: Derivative,
        span: Span,
    ) -> Signature {
        let types = params.iter().map(|param| param.ty.clone()).collect();
        let ty = Ty::Function(types, Box::new(result.clone()));
        let transform = Transform {
            derivative,
            arity: of.params.len(),
            result: of.result,
            of: of.expr,
            wrt,
        };
        Signature {
            name: of.name,
            declared: None,
            expr: self.made(Kind::Transform(Box::new(transform)), ty, span),
            params,
            result,
        }
    }

    fn gradient(&mut self, of: Signature, wrt: Vec<usize>, value: bool, span: Span) -> Signature {
        let types = wrt.iter().map(|&k| of.params[k].ty.clone()).collect();
        let mut result = one_or_tuple(types);
        if value {
            result = Ty::Tuple(vec![of.result.clone(), result]);
        }
        let params = of.params.clone();
        self.signature(
            of,
            params,
            result,
            wrt,
            Derivative::Gradient { value },
            span,
        )
    }

    fn backward(&mut self, of: Signature, wrt: Vec<usize>, span: Span) -> Signature {
        let mut params = of.params.clone();
        let parts = self.float_parts(&of.result);
        let count = parts.len();
        for (at, part) in parts.into_iter().enumerate() {
            let name = seeds::cotangent(at, count, |name| is_named(&params, name));
            let part = self.of_any_length(&part, span);
            params.push(seed(Some(name), part));
        }
        let types = wrt.iter().map(|&k| of.params[k].ty.clone()).collect();
        let result = Ty::Tuple(vec![of.result.clone(), one_or_tuple(types)]);
        self.signature(of, params, result, wrt, Derivative::Cotangent, span)
    }

    fn forward(
        &mut self,
        of: Signature,
        wrt: Vec<usize>,
        derivative: Derivative,
        span: Span,
    ) -> Signature {
        let tangents: Vec<Ty> = wrt.iter().map(|&k| of.params[k].ty.clone()).collect();
        let tangent = one_or_tuple(self.float_parts(&of.result));
        let mut params = of.params.clone();
        let result = match derivative {
            Derivative::Linearize => {
                let map = Ty::Function(tangents, Box::new(tangent));
                Ty::Tuple(vec![of.result.clone(), map])
            }
            Derivative::TangentAlone => {
                add_tangents(&mut params, &wrt, tangents);
                tangent
            }
            _ => {
                add_tangents(&mut params, &wrt, tangents);
                Ty::Tuple(vec![of.result.clone(), tangent])
            }
        };
        self.signature(of, params, result, wrt, derivative, span)
    }

    fn jacobian(
        &mut self,
        of: Signature,
        wrt: Vec<usize>,
        word: &Ident,
        span: Span,
    ) -> Option<Signature> {
        let mut rows = Vec::new();
        for part in self.float_parts(&of.result) {
            let mut row = Vec::new();
            for &k in &wrt {
                let (out, elem) = self.split(&part);
                let (axes, from) = self.split(&of.params[k].ty);
                for ty in [&elem, &from] {
                    if !self.is_float_scalar(ty) {
                        let shown = self.show(ty);
                        self.report(say::jacobian_of(word, &of.name, &shown));
                        return None;
                    }
                }
                row.push(Ty::table(as_one([out, axes].concat()), elem));
            }
            rows.push(one_or_tuple(row));
        }
        let params = of.params.clone();
        Some(self.signature(
            of,
            params,
            one_or_tuple(rows),
            wrt,
            Derivative::Jacobian,
            span,
        ))
    }

    fn vmap(
        &mut self,
        transform: &'a tree::Transform,
        of: Signature,
        span: Span,
    ) -> Option<Signature> {
        let at = transform.name.span();
        let mut over = Vec::new();
        match transform.options.first() {
            None => over.extend(
                (0..of.params.len())
                    .filter(|&k| !matches!(self.solver.shallow(&of.params[k].ty), Ty::Extent(_))),
            ),
            Some((_, names)) => {
                for name in names {
                    let k = self.named(name, &of)?;
                    if over.contains(&k) {
                        self.report(say::named_twice(name.span(), &name.to_string()));
                        return None;
                    }
                    over.push(k);
                }
            }
        }
        let is_ragged = |&k: &usize| self.has_ragged(&of.params[k].ty);
        if over.iter().any(is_ragged) || self.has_ragged(&of.result) {
            self.report(say::ragged_vmap(at));
            return None;
        }
        for &k in &over {
            let param = &of.params[k];
            if !self.is_mappable(&param.ty) {
                let shown = self.show_param(param);
                let name = param
                    .name
                    .clone()
                    .unwrap_or_else(|| format!("number {}", k + 1));
                self.report(say::not_mappable(at, &name, &shown));
                return None;
            }
        }
        if over.is_empty() {
            self.report(say::nothing_to_map(at, &of.name));
            return None;
        }
        let result = self.solver.shallow(&of.result);
        if matches!(result, Ty::Option(_) | Ty::Either(_) | Ty::Struct(..))
            && !self.is_mappable(&result)
        {
            let shown = self.show(&result);
            self.report(say::result_not_mappable(at, &of.name, &shown));
            return None;
        }
        let set = self.solver.fresh_set(SetKind::Free, at);
        let mut params = of.params.clone();
        for &k in &over {
            params[k].ty = in_front(&set, &self.solver.shallow(&params[k].ty));
            params[k].declared = None;
        }
        let result = in_front(&set, &self.solver.shallow(&of.result));
        Some(self.signature(of, params, result, over, Derivative::Map(set), span))
    }
}

impl Infer<'_, '_> {
    /// The type of a cotangent: of a result whose length the body computes the caller has a table
    /// over a set of its own.
    fn of_any_length(&mut self, ty: &Ty, span: Span) -> Ty {
        match self.solver.shallow(ty) {
            Ty::Table(groups, elem) => {
                let groups = self.solver.groups(&groups);
                let groups = groups.iter().map(|set| self.any_length(set, span));
                Ty::Table(groups.collect(), elem)
            }
            Ty::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.of_any_length(part, span));
                Ty::Tuple(parts.collect())
            }
            other => other,
        }
    }

    fn any_length(&mut self, set: &Set, span: Span) -> Set {
        match set {
            Set::Range(_) => self.solver.fresh_set(SetKind::Free, span),
            Set::Product(parts) => {
                let parts = parts.iter().map(|part| self.any_length(part, span));
                Set::Product(parts.collect())
            }
            other => other.clone(),
        }
    }

    /// Whether there can be a table of such values.
    pub(super) fn is_mappable(&self, ty: &Ty) -> bool {
        match self.solver.shallow(ty) {
            Ty::Extent(_) | Ty::Function(..) | Ty::Option(_) | Ty::Either(_) => false,
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().all(|part| self.is_mappable(part))
            }
            _ => true,
        }
    }
}

/// Why a parameter has no derivative whatever its type.
pub(super) fn fixed(param: &tree::Param) -> Option<&'static str> {
    param.constant.then_some("it is marked `#[constant]`")
}

/// Parameters for the tangents of these ones.
fn add_tangents(params: &mut Vec<Param>, wrt: &[usize], tangents: Vec<Ty>) {
    for (&k, ty) in wrt.iter().zip(tangents) {
        let name = params[k].name.as_deref();
        let name = name.map(|name| seeds::tangent(name, |name| is_named(params, name)));
        params.push(seed(name, ty));
    }
}

fn is_named(params: &[Param], name: &str) -> bool {
    params
        .iter()
        .any(|param| param.name.as_deref() == Some(name))
}

/// A parameter that no function declares: a tangent or a cotangent, or one of a closure.
fn seed(name: Option<String>, ty: Ty) -> Param {
    Param {
        name,
        ty,
        declared: None,
        fixed: None,
    }
}

pub(super) fn one_or_tuple(mut types: Vec<Ty>) -> Ty {
    if types.len() == 1 {
        types.remove(0)
    } else {
        Ty::Tuple(types)
    }
}

/// A type with one more axis in front.
fn in_front(set: &Set, ty: &Ty) -> Ty {
    match ty {
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| in_front(set, part)).collect()),
        other => Ty::table(vec![set.clone()], other.clone()),
    }
}

/// Groups of axes as one: a Jacobian is a matrix, and no table of rows.
fn as_one(groups: Vec<Set>) -> Vec<Set> {
    if groups.len() < 2 {
        return groups;
    }
    let parts = groups.into_iter().flat_map(|group| match group {
        Set::Product(parts) => parts,
        group => vec![group],
    });
    vec![Set::Product(parts.collect())]
}

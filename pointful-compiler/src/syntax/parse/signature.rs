//! Functions: generics, parameters, result.

use syn::spanned::Spanned;
use syn::visit::Visit;

use super::Parser;
use crate::diag::syntax as diag;
use crate::syntax::tree::{Function, Generic, GenericKind, Param, Scope, Type, TypeKind};

/// The attribute of a parameter that is never differentiated.
pub const CONSTANT: &str = "constant";

/// Removes the attributes that only this compiler understands, so that the signature can be
/// emitted.
pub fn strip_parameter_attributes(signature: &mut syn::Signature) {
    for param in &mut signature.inputs {
        let attrs = match param {
            syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
            syn::FnArg::Typed(typed) => &mut typed.attrs,
        };
        attrs.retain(|attr| !attr.path().is_ident(CONSTANT));
    }
}

impl Parser {
    pub(super) fn function(&mut self, item: &syn::ItemFn) -> Function {
        let signature = &item.sig;
        self.in_function = true;
        self.qualifiers(signature);
        let generics = self.generics(&signature.generics, &axes(signature));
        let mut params = Vec::new();
        for input in &signature.inputs {
            match input {
                syn::FnArg::Receiver(receiver) => self.receiver(receiver, signature),
                syn::FnArg::Typed(typed) => params.extend(self.param(typed)),
            }
        }
        let result = match &signature.output {
            syn::ReturnType::Default => Type {
                kind: TypeKind::Tuple(Vec::new()),
                span: signature.paren_token.span.close(),
            },
            syn::ReturnType::Type(_, ty) => self.ty(ty),
        };
        params.iter().for_each(|param: &Param| self.lent(&param.ty));
        self.no_accumulator(&result);
        self.no_reference(&result);
        let body = self.block(&item.block);
        self.in_function = false;
        Function {
            name: signature.ident.clone(),
            generics,
            params,
            result,
            body,
            scope: Scope::default(),
            options: Vec::new(),
        }
    }

    /// `const`, `async`, `unsafe`, `extern`, `...`
    fn qualifiers(&mut self, signature: &syn::Signature) {
        if let Some(token) = &signature.constness {
            self.error(diag::unsupported(
                token.span,
                "`const`",
                "leave it out: tables are computed at run time",
            ));
        }
        if let Some(token) = &signature.asyncness {
            self.error(diag::unsupported(
                token.span,
                "`async`",
                "leave it out: a call returns when its result is there",
            ));
        }
        if let Some(token) = &signature.unsafety {
            self.error(diag::unsupported(
                token.span,
                "`unsafe`",
                "leave it out: every index is checked or proven",
            ));
        }
        if let Some(abi) = &signature.abi {
            self.error(diag::unsupported(
                abi.span(),
                "`extern`",
                "call the function from an `extern` one",
            ));
        }
        if let Some(variadic) = &signature.variadic {
            self.error(diag::unsupported(
                variadic.span(),
                "a variadic parameter",
                "take a table",
            ));
        }
    }

    /// A method: the diagnostic shows the free function to write.
    fn receiver(&mut self, receiver: &syn::Receiver, signature: &syn::Signature) {
        let this = match (&receiver.reference, &receiver.mutability) {
            (Some(_), Some(_)) => "this: &mut Model",
            (Some(_), None) => "this: &Model",
            (None, _) => "this: Model",
        };
        let mut params = vec![this.to_string()];
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input
                && let syn::Pat::Ident(name) = &*typed.pat
            {
                params.push(format!("{}: …", name.ident));
            }
        }
        self.error(diag::method(
            receiver.self_token.span,
            &signature.ident.to_string(),
            &params.join(", "),
        ));
    }

    fn param(&mut self, typed: &syn::PatType) -> Option<Param> {
        let constant = typed
            .attrs
            .iter()
            .any(|attr| attr.path().is_ident(CONSTANT));
        let mut marks = Vec::new();
        for attr in &typed.attrs {
            if !attr.path().is_ident(CONSTANT) {
                self.no_attributes(std::slice::from_ref(attr), "a parameter");
                continue;
            }
            if attr.meta.require_path_only().is_err() {
                self.error(diag::attribute_form(attr.span(), "#[constant]"));
            }
            marks.push(attr.path().span());
        }
        if let Some(again) = marks.get(1) {
            self.error(diag::repeated(*again, CONSTANT));
        }
        let ty = self.ty(&typed.ty);
        match &*typed.pat {
            syn::Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                Some(Param {
                    name: name.ident.clone(),
                    ty,
                    mutable: name.mutability.is_some(),
                    constant,
                })
            }
            other => {
                self.error(diag::parameter_pattern(other.span()));
                None
            }
        }
    }

    /// An error at each reference in a result.
    fn no_reference(&mut self, result: &Type) {
        match &result.kind {
            TypeKind::Ref { inner, .. } if matches!(inner.kind, TypeKind::Infer) => {}
            TypeKind::Ref { .. } => self.error(diag::reference_result(result.span)),
            TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
                parts.iter().for_each(|part| self.no_reference(part));
            }
            _ => {}
        }
    }

    /// Generics; those of these names are the axes of tables.
    pub(super) fn generics(
        &mut self,
        generics: &syn::Generics,
        axes: &[syn::Ident],
    ) -> Vec<Generic> {
        let mut found = Vec::new();
        for param in &generics.params {
            let attrs = match param {
                syn::GenericParam::Lifetime(param) => &param.attrs,
                syn::GenericParam::Const(param) => &param.attrs,
                syn::GenericParam::Type(param) => &param.attrs,
            };
            self.no_attributes(attrs, "a generic parameter");
            match param {
                syn::GenericParam::Lifetime(_) => {}
                syn::GenericParam::Const(constant) => {
                    let is_usize = matches!(&constant.ty, syn::Type::Path(path) if path.path.is_ident("usize"));
                    if !is_usize {
                        self.error(diag::const_generic_type(
                            constant.ty.span(),
                            &constant.ident.to_string(),
                        ));
                    }
                    found.push(Generic {
                        name: constant.ident.clone(),
                        kind: GenericKind::Const,
                    });
                }
                syn::GenericParam::Type(param) => {
                    let bounds = param
                        .bounds
                        .iter()
                        .chain(where_bounds(generics, &param.ident));
                    match self.generic_kind(bounds) {
                        Some(kind) => found.push(Generic {
                            name: param.ident.clone(),
                            kind,
                        }),
                        None => {
                            self.error(diag::unknown_generic(
                                param.ident.span(),
                                &param.ident.to_string(),
                                axes.contains(&param.ident),
                            ));
                        }
                    }
                }
            }
        }
        found
    }

    /// The first bound that says what the generic stands for; others (`Copy`, `Send`) only restrict
    /// it further.
    fn generic_kind<'a>(
        &mut self,
        bounds: impl Iterator<Item = &'a syn::TypeParamBound>,
    ) -> Option<GenericKind> {
        for bound in bounds {
            let syn::TypeParamBound::Trait(bound) = bound else {
                continue;
            };
            let Some(last) = bound.path.segments.last() else {
                continue;
            };
            match last.ident.to_string().as_str() {
                "IndexSet" => return Some(GenericKind::IndexSet),
                "Float" => return Some(GenericKind::Float),
                "Fn" | "FnMut" | "FnOnce" => {
                    let TypeKind::Function(params, result) = self.fn_bound(last) else {
                        return None;
                    };
                    return Some(GenericKind::Function(params, result));
                }
                _ => {}
            }
        }
        None
    }
}

/// The names in a signature that stand for the index sets of tables, or are parts of them.
pub fn axes(signature: &syn::Signature) -> Vec<syn::Ident> {
    let mut axes = Axes::default();
    axes.visit_signature(signature);
    axes.0
}

#[derive(Default)]
struct Axes(Vec<syn::Ident>);

impl Axes {
    fn set(&mut self, set: &syn::Type) {
        match set {
            syn::Type::Tuple(product) => product.elems.iter().for_each(|part| self.set(part)),
            syn::Type::Path(path) => self.0.extend(path.path.get_ident().cloned()),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Axes {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        syn::visit::visit_path_segment(self, segment);
        let has_axes = ["Table", "Tables", "Ragged", "Extent"];
        if has_axes.iter().any(|name| segment.ident == name)
            && let syn::PathArguments::AngleBracketed(given) = &segment.arguments
            && let Some(syn::GenericArgument::Type(set)) = given.args.first()
        {
            self.set(set);
        }
    }
}

/// The bounds that the `where` clause adds to a generic.
fn where_bounds<'a>(
    generics: &'a syn::Generics,
    name: &'a syn::Ident,
) -> impl Iterator<Item = &'a syn::TypeParamBound> {
    generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates)
        .filter_map(move |predicate| match predicate {
            syn::WherePredicate::Type(predicate) => match &predicate.bounded_ty {
                syn::Type::Path(path) if path.path.is_ident(name) => Some(&predicate.bounds),
                _ => None,
            },
            _ => None,
        })
        .flatten()
}

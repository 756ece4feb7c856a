//! Types and index sets.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;

use super::Parser;
use crate::diag::syntax as diag;
use crate::ir::Scalar;
use crate::syntax::start;
use crate::syntax::tree::{Expr, ExprKind, Set, SetKind, Type, TypeArg, TypeKind};

impl Parser {
    pub(super) fn ty(&mut self, ty: &syn::Type) -> Type {
        let span = start::of_type(ty);
        let kind = match ty {
            syn::Type::Path(path) => self.path_type(path),
            syn::Type::Reference(reference) => TypeKind::Ref {
                mutable: reference.mutability.is_some(),
                inner: Box::new(self.ty(&reference.elem)),
            },
            syn::Type::Tuple(tuple) => {
                TypeKind::Tuple(tuple.elems.iter().map(|elem| self.ty(elem)).collect())
            }
            syn::Type::Array(array) => {
                let elem = self.ty(&array.elem);
                TypeKind::Array(Box::new(elem), Box::new(self.expr(&array.len)))
            }
            syn::Type::Paren(inner) => return self.ty(&inner.elem),
            syn::Type::Group(inner) => return self.ty(&inner.elem),
            syn::Type::Infer(_) => TypeKind::Infer,
            syn::Type::ImplTrait(bounds) => self.impl_type(bounds),
            syn::Type::BareFn(function) => {
                self.plain_function(function);
                let params = function.inputs.iter().map(|arg| self.ty(&arg.ty)).collect();
                TypeKind::Function(params, Box::new(self.result_type(&function.output, span)))
            }
            syn::Type::Slice(_) => {
                self.error(diag::slice_type(ty.span()));
                TypeKind::Infer
            }
            syn::Type::TraitObject(_) => self.bad_type(ty.span(), "a trait object"),
            syn::Type::Ptr(_) => self.bad_type(ty.span(), "a raw pointer"),
            syn::Type::Never(_) => self.bad_type(ty.span(), "the type `!`"),
            _ => self.bad_type(ty.span(), "this type"),
        };
        Type { kind, span }
    }

    /// `unsafe`, `extern`, `...` in the type of a function.
    fn plain_function(&mut self, function: &syn::TypeBareFn) {
        if let Some(token) = &function.unsafety {
            self.error(diag::unsupported_type(token.span, "an `unsafe` function"));
        }
        if let Some(abi) = &function.abi {
            self.error(diag::unsupported_type(abi.span(), "an `extern` function"));
        }
        if let Some(variadic) = &function.variadic {
            let span = variadic.span();
            self.error(diag::unsupported_type(span, "a variadic function"));
        }
        for arg in &function.inputs {
            self.no_attributes(&arg.attrs, "a parameter");
        }
    }

    fn bad_type(&mut self, span: Span, what: &str) -> TypeKind {
        self.error(diag::unsupported_type(span, what));
        TypeKind::Infer
    }

    fn result_type(&mut self, output: &syn::ReturnType, span: Span) -> Type {
        match output {
            syn::ReturnType::Default => Type {
                kind: TypeKind::Tuple(Vec::new()),
                span,
            },
            syn::ReturnType::Type(_, ty) => self.ty(ty),
        }
    }

    /// `impl Fn(A) -> B + Sync`
    fn impl_type(&mut self, bounds: &syn::TypeImplTrait) -> TypeKind {
        for bound in &bounds.bounds {
            if let syn::TypeParamBound::Trait(bound) = bound
                && let Some(last) = bound.path.segments.last()
                && matches!(last.ident.to_string().as_str(), "Fn" | "FnMut" | "FnOnce")
            {
                return self.fn_bound(last);
            }
        }
        self.bad_type(bounds.span(), "this `impl Trait`")
    }

    /// `Fn(A) -> B`
    pub(super) fn fn_bound(&mut self, segment: &syn::PathSegment) -> TypeKind {
        let name = segment.ident.to_string();
        if name != "Fn" {
            self.error(diag::function_trait(segment.ident.span(), &name));
        }
        let syn::PathArguments::Parenthesized(args) = &segment.arguments else {
            self.error(diag::type_arguments(
                segment.span(),
                &segment.ident.to_string(),
                "Fn(A) -> B",
            ));
            return TypeKind::Infer;
        };
        let params = args.inputs.iter().map(|input| self.ty(input)).collect();
        TypeKind::Function(
            params,
            Box::new(self.result_type(&args.output, segment.span())),
        )
    }

    fn path_type(&mut self, path: &syn::TypePath) -> TypeKind {
        let Some(last) = path.path.segments.last().filter(|_| path.qself.is_none()) else {
            return self.bad_type(path.span(), "a qualified path");
        };
        let name = last.ident.to_string();
        if let Some(scalar) = Scalar::from_name(&name) {
            if !last.arguments.is_none() {
                self.error(diag::type_arguments(last.span(), &name, &name));
            }
            return TypeKind::Scalar(scalar);
        }
        match name.as_str() {
            "Table" => self.table_type(last, path),
            "Tables" => match self.type_args(last, "Tables<I, S>", 2) {
                Some(args) => TypeKind::Tables(self.set(args[0]), Box::new(self.ty(args[1]))),
                None => TypeKind::Infer,
            },
            "Ragged" => match self.type_args(last, "Ragged<I, T>", 2) {
                Some(args) => TypeKind::Ragged(self.set(args[0]), Box::new(self.ty(args[1]))),
                None => TypeKind::Infer,
            },
            "Extent" => match self.type_args(last, "Extent<I>", 1) {
                Some(args) => TypeKind::Extent(self.set(args[0])),
                None => TypeKind::Infer,
            },
            "Option" if self.in_function => match self.type_args(last, "Option<T>", 1) {
                Some(args) => TypeKind::OneOf(vec![self.ty(args[0])]),
                None => TypeKind::Infer,
            },
            "Either" if self.in_function && type_arguments(last).any(is_value) => {
                match self.type_args(last, "Either<A, B>", 2) {
                    Some(args) => TypeKind::OneOf(args.iter().map(|arg| self.ty(arg)).collect()),
                    None => TypeKind::Infer,
                }
            }
            "Accum" => match self.type_args(last, "Accum<Table<I, T>>", 1) {
                Some(args) => TypeKind::Accum(Box::new(self.ty(args[0]))),
                None => TypeKind::Infer,
            },
            "Fin" | "Either" | "Dyn" => TypeKind::Set(Box::new(Set {
                kind: self.set_segment(last),
                span: start::of_path(&path.path),
            })),
            "i128" | "u128" | "f16" | "f128" | "char" | "str" => {
                self.error(diag::unknown_number(path.span(), &name));
                TypeKind::Infer
            }
            "Option" => {
                self.error(diag::option_in_type(path.span()));
                TypeKind::Infer
            }
            "Vec" | "String" | "Result" | "Box" | "Rc" | "Arc" | "HashMap" | "BTreeMap"
            | "Array" | "ArrayView" => {
                self.error(diag::foreign_type(path.span(), &name));
                TypeKind::Infer
            }
            "Self" => self.bad_type(path.span(), "`Self`"),
            _ => {
                let args = self.path_args(&path.path);
                TypeKind::Path(plain(&path.path), args)
            }
        }
    }

    /// What a generic struct or alias is given.
    pub(super) fn path_args(&mut self, path: &syn::Path) -> Vec<TypeArg> {
        let mut args = Vec::new();
        for segment in &path.segments {
            let given = match &segment.arguments {
                syn::PathArguments::None => continue,
                syn::PathArguments::AngleBracketed(given) => given,
                syn::PathArguments::Parenthesized(given) => {
                    self.bad_type(given.span(), "an argument in parentheses");
                    continue;
                }
            };
            for arg in &given.args {
                match arg {
                    syn::GenericArgument::Type(ty) => args.push(TypeArg::Type(self.ty(ty))),
                    syn::GenericArgument::Const(length) => {
                        args.push(TypeArg::Length(Box::new(self.length(length))));
                    }
                    syn::GenericArgument::Lifetime(_) => {}
                    other => {
                        self.bad_type(other.span(), "this argument");
                    }
                }
            }
        }
        args
    }

    /// Accumulators are lent as a whole.
    pub(super) fn lent(&mut self, ty: &Type) {
        if let TypeKind::Ref {
            mutable: true,
            inner,
        } = &ty.kind
            && let TypeKind::Accum(held) = &inner.kind
        {
            return self.no_accumulator(held);
        }
        self.no_accumulator(ty);
    }

    /// An error at each accumulator in a type.
    pub(super) fn no_accumulator(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Accum(_) => self.error(diag::accum_by_value(ty.span)),
            TypeKind::Table(_, inner)
            | TypeKind::Tables(_, inner)
            | TypeKind::Ragged(_, inner)
            | TypeKind::Array(inner, _)
            | TypeKind::Ref { inner, .. } => self.no_accumulator(inner),
            TypeKind::Tuple(parts) | TypeKind::OneOf(parts) => {
                parts.iter().for_each(|part| self.no_accumulator(part));
            }
            TypeKind::Function(params, result) => {
                params.iter().for_each(|param| self.lent(param));
                self.no_accumulator(result);
            }
            TypeKind::Path(_, args) => {
                for arg in args {
                    if let TypeArg::Type(inner) = arg {
                        self.no_accumulator(inner);
                    }
                }
            }
            TypeKind::Scalar(_) | TypeKind::Set(_) | TypeKind::Extent(_) | TypeKind::Infer => {}
        }
    }

    fn table_type(&mut self, segment: &syn::PathSegment, path: &syn::TypePath) -> TypeKind {
        let form = "Table<I, T>` or, of two axes, `Table<(I, J), T>";
        let Some(args) = self.type_args(segment, form, 2) else {
            return TypeKind::Infer;
        };
        let set = self.set(args[0]);
        if let Some((sets, element)) = nested(args[1]) {
            let mut axes = vec![text(args[0])];
            axes.extend(sets.iter().map(|set| text(set)));
            let flat = format!("Table<({}), {}>", axes.join(", "), text(element));
            self.error(diag::nested_table(path.span(), &flat));
            return TypeKind::Infer;
        }
        TypeKind::Table(set, Box::new(self.ty(args[1])))
    }

    /// The type arguments of a word of the language.
    pub(super) fn type_args<'a>(
        &mut self,
        segment: &'a syn::PathSegment,
        form: &str,
        count: usize,
    ) -> Option<Vec<&'a syn::Type>> {
        let given = match &segment.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().collect(),
            _ => Vec::new(),
        };
        let types = given.iter().filter_map(|arg| match arg {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        let args: Vec<_> = types.collect();
        if args.len() != count || given.len() != count {
            self.error(diag::type_arguments(
                segment.span(),
                &segment.ident.to_string(),
                form,
            ));
            return None;
        }
        Some(args)
    }

    /// An index set where a type stands.
    pub(super) fn set(&mut self, ty: &syn::Type) -> Set {
        let span = start::of_type(ty);
        let kind = match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.set_path(&path.path),
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => SetKind::Unit,
            syn::Type::Tuple(tuple) => {
                SetKind::Product(tuple.elems.iter().map(|elem| self.set(elem)).collect())
            }
            syn::Type::Paren(inner) => return self.set(&inner.elem),
            syn::Type::Group(inner) => return self.set(&inner.elem),
            syn::Type::Infer(_) => SetKind::Infer,
            _ => {
                self.error(diag::not_a_set(ty.span(), "this type"));
                SetKind::Infer
            }
        };
        Set { kind, span }
    }

    /// An index set by its path, with type arguments as in a type or, after `in`, with a turbofish.
    pub(super) fn set_path(&mut self, path: &syn::Path) -> SetKind {
        let Some(last) = path.segments.last() else {
            return SetKind::Infer;
        };
        match last.ident.to_string().as_str() {
            "Fin" | "Either" | "Dyn" => self.set_segment(last),
            "bool" => {
                if !last.arguments.is_none() {
                    self.error(diag::type_arguments(last.span(), "bool", "bool"));
                }
                SetKind::Bool
            }
            name @ ("f32" | "f64" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8"
            | "u16" | "u32" | "u64" | "u128" | "usize") => {
                self.error(diag::number_as_set(path.span(), name));
                SetKind::Infer
            }
            name @ ("Table" | "Tables" | "Ragged" | "Extent" | "Accum") => {
                self.error(diag::not_a_set(path.span(), &format!("`{name}`")));
                SetKind::Infer
            }
            _ => SetKind::Path(plain(path), self.path_args(path)),
        }
    }

    /// `Fin<N>`, `Either<A, B>`, `Dyn`
    fn set_segment(&mut self, segment: &syn::PathSegment) -> SetKind {
        match segment.ident.to_string().as_str() {
            "Fin" => match fin_length(segment) {
                Some(length) => SetKind::Fin(Box::new(self.length(&length))),
                None => {
                    self.error(diag::type_arguments(segment.span(), "Fin", "Fin<N>"));
                    SetKind::Infer
                }
            },
            "Either" => match self.type_args(segment, "Either<A, B>", 2) {
                Some(args) => {
                    SetKind::Either(Box::new(self.set(args[0])), Box::new(self.set(args[1])))
                }
                None => SetKind::Infer,
            },
            _ => {
                if !segment.arguments.is_none() {
                    self.error(diag::type_arguments(segment.span(), "Dyn", "Dyn"));
                }
                SetKind::Dyn
            }
        }
    }

    /// The length of a `Fin`; braces around it only help rustc's parser.
    fn length(&mut self, length: &syn::Expr) -> Expr {
        let parsed = self.expr(length);
        match parsed.kind {
            ExprKind::Block(block) if block.stmts.is_empty() => match block.value {
                Some(value) => *value,
                None => Expr {
                    kind: ExprKind::Block(block),
                    span: parsed.span,
                },
            },
            kind => Expr {
                kind,
                span: parsed.span,
            },
        }
    }
}

/// The types that a word of the language is given.
fn type_arguments(segment: &syn::PathSegment) -> impl Iterator<Item = &syn::Type> {
    let given = match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => Some(&args.args),
        _ => None,
    };
    given.into_iter().flatten().filter_map(|arg| match arg {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Whether a type is seen to be no index set.
fn is_value(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            let number = Scalar::from_name(&name).is_some_and(|scalar| scalar != Scalar::Bool);
            number
                || matches!(name.as_str(), "Table" | "Option")
                || name == "Either" && type_arguments(last).any(is_value)
        }),
        syn::Type::Tuple(tuple) => tuple.elems.iter().any(is_value),
        syn::Type::Paren(inner) => is_value(&inner.elem),
        syn::Type::Group(inner) => is_value(&inner.elem),
        syn::Type::Array(_) => true,
        _ => false,
    }
}

/// A path without arguments.
pub(super) fn plain(path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = syn::PathArguments::None;
    }
    path
}

/// The argument of `Fin<…>`: a literal, a block, or a path, which syn takes for a type.
fn fin_length(segment: &syn::PathSegment) -> Option<syn::Expr> {
    let syn::PathArguments::AngleBracketed(args) = &segment.arguments else {
        return None;
    };
    match args.args.first().filter(|_| args.args.len() == 1)? {
        syn::GenericArgument::Const(length) => Some(length.clone()),
        syn::GenericArgument::Type(syn::Type::Path(path)) if path.qself.is_none() => {
            Some(syn::Expr::Path(syn::ExprPath {
                attrs: Vec::new(),
                qself: None,
                path: path.path.clone(),
            }))
        }
        _ => None,
    }
}

/// The axes and the element of a table type that stands inside another one.
fn nested(element: &syn::Type) -> Option<(Vec<&syn::Type>, &syn::Type)> {
    let syn::Type::Path(path) = element else {
        return None;
    };
    let last = path.path.segments.last()?;
    if last.ident != "Table" {
        return None;
    }
    let syn::PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    let mut args = args.args.iter().filter_map(|arg| match arg {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let (set, element) = (args.next()?, args.next()?);
    match nested(element) {
        Some((mut sets, element)) => {
            sets.insert(0, set);
            Some((sets, element))
        }
        None => Some((vec![set], element)),
    }
}

/// A type as a user writes it.
fn text(ty: &syn::Type) -> String {
    let mut out = String::new();
    for tree in ty.to_token_stream() {
        write_tree(&mut out, &tree);
    }
    out
}

/// Tokens with spaces after commas and around nothing else, as rustfmt has them in types.
fn write_tree(out: &mut String, tree: &proc_macro2::TokenTree) {
    match tree {
        proc_macro2::TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                proc_macro2::Delimiter::Brace => ("{", "}"),
                proc_macro2::Delimiter::Bracket => ("[", "]"),
                proc_macro2::Delimiter::None => ("", ""),
            };
            out.push_str(open);
            for tree in group.stream() {
                write_tree(out, &tree);
            }
            out.push_str(close);
        }
        proc_macro2::TokenTree::Punct(punct) => {
            out.push(punct.as_char());
            if matches!(punct.as_char(), ',' | ';') {
                out.push(' ');
            }
        }
        other => out.push_str(&other.to_string()),
    }
}

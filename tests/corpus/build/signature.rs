//! A signature for a program that has none: every size is that of a `Dyn` set.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use pointful_compiler::interface::{
    Access, Carrier, ExtentSource, Interface, ParamSource, SetShape, Shape,
};
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::ir::{Elem, Extent, Param, Program, SizeId, Type, ValueId};
use pointful_compiler::targets::cpu::rust::{self, EmitOptions};

/// The function that a program implements. A parameter is owned, borrowed, or (if it is owned and
/// its name begins with `mut_`) borrowed mutably; what such parameters hold in the end are the
/// program's last results.
pub(crate) fn function(program: &Program<Kernels>) -> TokenStream {
    let name = Ident::new(&program.name, Span::call_site());
    let mut build = Build::default();
    let mut params: Vec<TokenStream> = Vec::new();
    for param in &program.params {
        params.push(build.param(program, param));
    }
    // A size that no table carries has a parameter of its own.
    let mut extents = Vec::new();
    for (id, size) in program.sizes.iter().enumerate() {
        let known = build.extents.get(&id).cloned();
        extents.push(known.unwrap_or_else(|| {
            let name = format_ident!("{}_extent", size.name.to_lowercase());
            params.push(quote!(#name: Extent<Dyn>));
            ExtentSource {
                carrier: Carrier::Extent(access(&name)),
                path: Vec::new(),
                set: size.name.clone(),
            }
        }));
    }
    let write_back: Vec<Access> = program
        .params
        .iter()
        .filter(|param| is_borrowed_mutably(param))
        .map(|param| access(&format_ident!("{}", param.name)))
        .collect();
    let results = &program.body.results[..program.body.results.len() - write_back.len()];
    let (result, result_type) = results_of(program, results);
    let interface = Interface {
        extents,
        checks: build.checks,
        params: build.sources,
        result,
        write_back,
        ..Interface::default()
    };
    let mut options = EmitOptions::new(program.name.clone());
    options.runtime = quote!(::pointful_runtime::private);
    let cpu = rust::testing::targeted(program.clone());
    let body = rust::body(&cpu, program, &interface, &options);
    quote! {
        #[allow(missing_docs, reason = "it is generated")]
        pub fn #name(#(#params),*) -> #result_type { #body }
    }
}

fn is_borrowed_mutably(param: &Param) -> bool {
    param.owned && param.name.starts_with("mut_")
}

/// What is learnt from the parameters.
#[derive(Default)]
struct Build {
    sources: Vec<ParamSource>,
    extents: std::collections::BTreeMap<usize, ExtentSource>,
    checks: Vec<(SizeId, ExtentSource)>,
}

impl Build {
    /// A parameter in Rust.
    fn param(&mut self, program: &Program<Kernels>, param: &Param) -> TokenStream {
        let name = format_ident!("{}", param.name);
        let ty = program.ty(param.value);
        let access = access(&name);
        if ty.dims.is_empty() {
            let scalar = element(ty.elem);
            self.sources.push(match ty.elem {
                Elem::Scalar(_) => ParamSource::Scalar(access, None),
                Elem::Index(extent) | Elem::Bound(extent) => {
                    ParamSource::Index(access, set_shape(extent))
                }
            });
            return quote!(#name: #scalar);
        }
        let rank = ty.dims.len();
        for (axis, &extent) in ty.dims.iter().enumerate() {
            let path = if rank == 1 { Vec::new() } else { vec![axis] };
            self.found(program, extent, Carrier::Table(access.clone()), path);
        }
        if let Elem::Index(extent) = ty.elem {
            self.found(
                program,
                extent,
                Carrier::Elements(access.clone()),
                Vec::new(),
            );
        }
        let table = table(ty);
        if is_borrowed_mutably(param) {
            self.sources.push(ParamSource::Owned(access));
            quote!(#name: &mut #table)
        } else if param.owned {
            self.sources.push(ParamSource::Owned(access));
            quote!(#name: #table)
        } else {
            self.sources.push(ParamSource::Table(access));
            quote!(#name: &#table)
        }
    }

    fn found(
        &mut self,
        program: &Program<Kernels>,
        extent: Extent,
        carrier: Carrier,
        path: Vec<usize>,
    ) {
        if let Extent::Size(id) = extent {
            let set = program.sizes[id.0 as usize].name.clone();
            let source = ExtentSource { carrier, path, set };
            match self.extents.entry(id.0 as usize) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(source);
                }
                std::collections::btree_map::Entry::Occupied(_) => self.checks.push((id, source)),
            }
        }
    }
}

fn results_of(program: &Program<Kernels>, results: &[ValueId]) -> (Shape, TokenStream) {
    let one = |&result: &ValueId| {
        let ty = program.ty(result);
        match (ty.dims.as_slice(), ty.elem) {
            ([], Elem::Scalar(_)) => (Shape::Scalar, element(ty.elem)),
            ([], Elem::Index(extent)) => (Shape::Index(set_shape(extent)), element(ty.elem)),
            (dims, elem) => {
                let axes: Vec<SetShape> = dims.iter().map(|&dim| set_shape(dim)).collect();
                let set = match <[SetShape; 1]>::try_from(axes) {
                    Ok([axis]) => axis,
                    Err(axes) => SetShape::Product(None, axes),
                };
                let elements = match elem {
                    Elem::Scalar(_) => None,
                    Elem::Index(extent) | Elem::Bound(extent) => Some(set_shape(extent)),
                };
                (Shape::Table { set, elements }, table(ty))
            }
        }
    };
    match results {
        [] => (Shape::Unit, quote!(())),
        [single] => one(single),
        several => {
            let (shapes, types): (Vec<Shape>, Vec<TokenStream>) = several.iter().map(one).unzip();
            (Shape::Tuple(shapes), quote!((#(#types),*)))
        }
    }
}

fn access(name: &Ident) -> Access {
    Access {
        root: quote!(#name),
        fields: Vec::new(),
        name: name.to_string(),
    }
}

fn set_shape(extent: Extent) -> SetShape {
    match extent {
        Extent::Const(_) => SetShape::Static(set(extent)),
        Extent::Size(id) => SetShape::Size(id),
        Extent::Value(_) => SetShape::Dyn,
    }
}

pub(crate) fn set(extent: Extent) -> TokenStream {
    match extent {
        Extent::Const(number) => {
            let number = proc_macro2::Literal::u64_unsuffixed(number);
            quote!(Fin<#number>)
        }
        Extent::Size(_) | Extent::Value(_) => quote!(Dyn),
    }
}

fn element(elem: Elem) -> TokenStream {
    match elem {
        Elem::Scalar(scalar) => {
            let name = format_ident!("{}", scalar.name());
            quote!(#name)
        }
        Elem::Index(extent) | Elem::Bound(extent) => set(extent),
    }
}

/// The type of a table's indices.
pub(crate) fn index(dims: &[Extent]) -> TokenStream {
    let sets = dims.iter().map(|&dim| set(dim));
    if dims.len() == 1 {
        quote!(#(#sets)*)
    } else {
        quote!((#(#sets),*))
    }
}

/// The type of a table.
pub(crate) fn table(ty: &Type<Extent>) -> TokenStream {
    let (index, element) = (index(&ty.dims), element(ty.elem));
    quote!(Table<#index, #element>)
}

/// The sizes that no table carries: the function has a parameter for each, after the others.
pub(crate) fn uncarried(program: &Program<Kernels>) -> Vec<usize> {
    let mut build = Build::default();
    for param in &program.params {
        build.param(program, param);
    }
    (0..program.sizes.len())
        .filter(|size| !build.extents.contains_key(size))
        .collect()
}

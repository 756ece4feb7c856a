//! Random programs through the whole pipeline, with what the interpreter says they compute.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use pointful_compiler::eval::{self, Data, Inputs, ScalarValue};
use pointful_compiler::interface::Interface;
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::ir::{Elem, Extent, Program, Type};
use pointful_compiler::pipeline::{self, Trace};
use pointful_compiler::testing::{Options, random_point};

use crate::signature;

/// How many.
const PROGRAMS: u64 = 24;

/// The functions, and a table of calls with what they should give.
pub(crate) fn functions() -> Vec<TokenStream> {
    let mut emitted = Vec::new();
    let mut names = Vec::new();
    for seed in 0..PROGRAMS {
        let (mut point, inputs) = random_point(seed, Options::default());
        point.name = format!("random_{seed}");
        let Ok((expected, _)) = eval::run(&point, &inputs) else {
            continue;
        };
        let stages = pipeline::run(&mut Trace::default(), &point, Interface::default());
        emitted.push(signature::function(&stages.kernels));
        emitted.push(call(&stages.kernels, &inputs, &expected));
        names.push(format_ident!("call_{}", point.name));
    }
    emitted.push(quote! {
        #[doc = "Each program called, with found and expected numbers of each result."]
        pub const CALLS: &[fn() -> Vec<(Vec<f64>, Vec<f64>)>] = &[#(#names),*];
    });
    emitted
}

/// A function that calls a program's with its inputs, and gives found and expected numbers of each result.
fn call(program: &Program<Kernels>, inputs: &Inputs, expected: &[Data]) -> TokenStream {
    let (function, caller) = (
        format_ident!("{}", program.name),
        format_ident!("call_{}", program.name),
    );
    let params = program
        .params
        .iter()
        .zip(&inputs.params)
        .map(|(param, data)| {
            let value = argument(program.ty(param.value), data, inputs);
            if program.ty(param.value).dims.is_empty() || param.owned {
                value
            } else {
                quote!(&#value)
            }
        });
    let extents = signature::uncarried(program).into_iter().map(|size| {
        let length = inputs.sizes[size];
        quote!(Extent::<Dyn>::new(#length))
    });
    let results: Vec<_> = (0..expected.len()).map(|k| format_ident!("r{k}")).collect();
    let pattern = match results.as_slice() {
        [] => quote!(()),
        [one] => quote!(#one),
        several => quote!((#(#several),*)),
    };
    let expected = expected.iter().map(numbers);
    quote! {
        fn #caller() -> Vec<(Vec<f64>, Vec<f64>)> {
            let #pattern = #function(#(#params,)* #(#extents),*);
            vec![#((#results.flat(), vec![#expected])),*]
        }
    }
}

fn argument(ty: &Type<Extent>, data: &Data, inputs: &Inputs) -> TokenStream {
    let values = data.values.iter().map(|&value| literal(value));
    let length = |extent: Extent| match extent {
        Extent::Const(length) => length as usize,
        Extent::Size(size) => inputs.sizes[size.0 as usize],
        Extent::Value(_) => 0,
    };
    match (ty.dims.as_slice(), ty.elem) {
        ([], Elem::Scalar(_)) => quote!(#(#values)*),
        ([], Elem::Index(extent)) => {
            let (set, extent) = (
                signature::set(extent),
                extent_of(&[extent], &[length(extent)]),
            );
            quote!(<#set>::from_ordinal(#(#values)*, #extent))
        }
        (dims, elem) => {
            let (table, extent) = (signature::table(ty), extent_of(dims, &data.shape));
            match elem {
                Elem::Scalar(_) => {
                    quote!(<#table>::from_vec(#extent, vec![#(#values),*]).expect("as many values"))
                }
                Elem::Index(target) => {
                    let target = extent_of(&[target], &[length(target)]);
                    quote! {
                        <#table>::from_indices(#extent, #target, vec![#(#values),*])
                            .expect("members")
                    }
                }
            }
        }
    }
}

/// The extent of a product of sets of these lengths.
fn extent_of(dims: &[Extent], lengths: &[usize]) -> TokenStream {
    let sizes = dims.iter().zip(lengths).map(|(dim, length)| match dim {
        Extent::Const(_) => quote!(()),
        Extent::Size(_) | Extent::Value(_) => quote!(#length),
    });
    let index = signature::index(dims);
    if dims.len() == 1 {
        quote!(Extent::<#index>::new(#(#sizes)*))
    } else {
        quote!(Extent::<#index>::new((#(#sizes),*)))
    }
}

fn literal(value: ScalarValue) -> TokenStream {
    match value {
        ScalarValue::F32(x) => {
            let bits = x.to_bits();
            quote!(f32::from_bits(#bits))
        }
        ScalarValue::F64(x) => {
            let bits = x.to_bits();
            quote!(f64::from_bits(#bits))
        }
        ScalarValue::I32(x) => quote!((#x)),
        ScalarValue::I64(x) => quote!((#x)),
        ScalarValue::U8(x) => quote!(#x),
        ScalarValue::U32(x) => quote!(#x),
        ScalarValue::Usize(x) => quote!(#x),
        ScalarValue::Bool(x) => quote!(#x),
    }
}

/// The elements as floats, in which the small integers of random programs are exact.
fn numbers(data: &Data) -> TokenStream {
    let numbers = data.values.iter().map(|value| {
        let number = value
            .float()
            .unwrap_or_else(|| value.int().unwrap_or_default() as f64);
        let bits = number.to_bits();
        quote!(f64::from_bits(#bits))
    });
    quote!(#(#numbers),*)
}

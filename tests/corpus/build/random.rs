//! Random programs and their derivatives through the whole pipeline, with what the interpreter says
//! they compute.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use pointful_compiler::eval::{self, Data, Inputs, ScalarValue};
use pointful_compiler::interface::Interface;
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::ir::stages::point::Point;
use pointful_compiler::ir::{Elem, Extent, Mode, Program, Type};
use pointful_compiler::pipeline::{self, Stages, Trace};
use pointful_compiler::testing::functions::random_inputs;
use pointful_compiler::testing::source::public_functions;
use pointful_compiler::testing::{
    Checked, Options, Rng, check_derivative, derivative, is_small, is_stable, programs_to_compile,
    random_larger_inputs, random_seeds, random_smooth,
};

use crate::signature;

/// At how many larger sizes each is called.
const LARGER: u64 = 6;

/// How many numbers a call is given and gives: rustc reads each.
const NUMBERS: usize = 3000;

/// More is not interpreted, in steps.
const STEPS: u64 = 200_000;

/// Functions that random ones are seldom like.
const REWRITTEN: &str = include_str!("../rewrites.rs");

/// Of how many the derivatives are looked at, many of which have none.
const DIFFERENTIATED: u64 = 16;

/// Functions with calls of them, and the names of the calls.
#[derive(Default)]
struct Emitted {
    functions: Vec<TokenStream>,
    calls: Vec<Ident>,
}

impl Emitted {
    /// What the interpreter of definitions says about the program is what it should give.
    fn add(&mut self, stages: &Stages, inputs: &Inputs) {
        let program = &stages.point;
        let Ok((expected, _)) = eval::run(&stages.bulk, inputs) else {
            return;
        };
        self.functions.push(signature::function(&stages.kernels));
        let name = format_ident!("call_{}", program.name);
        self.call(name, &stages.kernels, inputs, &expected);
        for seed in 0..LARGER {
            let Some(inputs) = random_larger_inputs(program, NUMBERS, &mut Rng::new(seed)) else {
                continue;
            };
            let Ok((expected, _)) = eval::run_limited(&stages.bulk, &inputs, STEPS) else {
                continue;
            };
            let numbers: usize = (inputs.params.iter().chain(&expected))
                .map(|data| data.values.len())
                .sum();
            if numbers <= NUMBERS && is_stable(&stages.bulk, &inputs, &expected) {
                let name = format_ident!("call_{}_{seed}", program.name);
                self.call(name, &stages.kernels, &inputs, &expected);
            }
        }
    }

    fn call(
        &mut self,
        name: Ident,
        kernels: &Program<Kernels>,
        inputs: &Inputs,
        expected: &[Data],
    ) {
        self.functions.push(call(&name, kernels, inputs, expected));
        self.calls.push(name);
    }
}

/// The functions, and tables of calls with what they should give.
pub(crate) fn functions() -> Vec<TokenStream> {
    let mut programs = Emitted::default();
    for (stages, inputs) in programs_to_compile() {
        programs.add(&stages, &inputs);
    }
    for stages in public_functions(REWRITTEN) {
        let inputs = random_inputs(&stages.point, &mut Rng::new(0));
        programs.add(&stages, &inputs);
    }
    let mut derivatives = Emitted::default();
    for seed in 0..DIFFERENTIATED {
        let (point, inputs) = random_smooth(seed, Options::default());
        if let Ok(Checked::Fine(_)) = check_derivative(&point, &inputs, seed) {
            differentiate(&mut derivatives, &point, &inputs, seed);
        }
    }
    let (calls, derived) = (&programs.calls, &derivatives.calls);
    let tables = quote! {
        #[doc = "Each program called, with found and expected numbers of each result."]
        pub const CALLS: &[fn() -> Vec<(Vec<f64>, Vec<f64>)>] = &[#(#calls),*];
        #[doc = "The same of derivatives."]
        pub const DERIVATIVES: &[fn() -> Vec<(Vec<f64>, Vec<f64>)>] = &[#(#derived),*];
    };
    [programs.functions, derivatives.functions, vec![tables]].concat()
}

/// Both derivatives of a program at a point.
fn differentiate(emitted: &mut Emitted, point: &Program<Point>, inputs: &Inputs, seed: u64) {
    let Ok((values, _)) = eval::run(point, inputs) else {
        return;
    };
    for (mode, seeded) in [(Mode::Tangent, &inputs.params), (Mode::Cotangent, &values)] {
        let mut program = derivative(point, mode);
        program.name = format!("{}_{seed}", mode.name());
        let mut inputs = inputs.clone();
        inputs
            .params
            .extend(random_seeds(seeded, &mut Rng::new(seed)));
        let stages = pipeline::run(&mut Trace::default(), program, Interface::default());
        if is_small(&stages.kernels) {
            emitted.add(&stages, &inputs);
        }
    }
}

/// A function that calls a program's with its inputs, and gives found and expected numbers of each
/// result.
fn call(
    caller: &Ident,
    program: &Program<Kernels>,
    inputs: &Inputs,
    expected: &[Data],
) -> TokenStream {
    let function = format_ident!("{}", program.name);
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
            vec![#((#results.flat(), #expected)),*]
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
                Elem::Index(target) | Elem::Bound(target) => {
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
        ScalarValue::I8(x) => quote!((#x)),
        ScalarValue::I16(x) => quote!((#x)),
        ScalarValue::I32(x) => quote!((#x)),
        ScalarValue::I64(x) => quote!((#x)),
        ScalarValue::Isize(x) => quote!((#x)),
        ScalarValue::U8(x) => quote!(#x),
        ScalarValue::U16(x) => quote!(#x),
        ScalarValue::U32(x) => quote!(#x),
        ScalarValue::U64(x) => quote!(#x),
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
        quote!(#bits)
    });
    quote!([#(#numbers),*].map(f64::from_bits).to_vec())
}

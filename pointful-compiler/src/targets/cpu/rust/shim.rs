//! The user's function: takes arguments apart, checks extents, calls the host function, puts the
//! result together.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::ToTokens;

use super::constants;
use super::context::{Called, Unit};
use super::names::ident;
use super::{EmitOptions, host, tokens};
use crate::interface::{
    Access, Carrier, ExtentSource, Extern, Field, FunctionSource, GivenFunction, Interface,
    ParamSource, Printing, SetShape, Shape, Taken,
};
use crate::ir::stages::gpu::Gpu;
use crate::ir::{Elem, Extent, Param, Program, Scalar, SizeId, Stage, Type, Value, ValueId};
use crate::syntax::tree::Output;
use crate::targets::gpu::Missing;
use crate::targets::gpu::cuda::{self, Emitted, Lengths};

/// The whole body.
pub(super) fn shim(unit: &Unit<'_>, interface: &Interface, options: &EmitOptions) -> TokenStream {
    let constants = unit.program.params.iter();
    let constants = constants.map(|param| unit.is_constant(param.value));
    let mut shim = Shim {
        unit,
        interface,
        runtime: &options.runtime,
        program: View::of(unit.program, constants.collect()),
        resolve: &|extent| unit.resolve(extent),
        fallible: options.fallible,
        on_device: false,
        extra: Vec::new(),
        next: 0,
    };
    let there = match &options.gpu {
        Some(Ok(program)) if shim.has_tables() => Some(program),
        _ => None,
    };
    let extents = shim.extents();
    let (places, checks) = (shim.places(options), shim.checks(options));
    let functions = shim.functions();
    let (taken, inputs, constants) = (shim.taken(), shim.inputs(), shim.constants());
    let (write_back, kept, result) = shim.result();
    let host = host::host(unit, &shim.extra);
    let sizes = shim.sizes();
    let held = unit.functions.keys().map(|&at| unit.names.function(at));
    let arguments = shim.arguments();
    let runtime = shim.runtime;
    let equal = interface.equal.iter().map(|(left, right, what)| {
        tokens!(
            const _: () = ::core::assert!(#left == #right, #what);
        )
    });
    let here = tokens! {
        #functions
        #taken
        let inputs = (#(#inputs,)*);
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction, reason = "what is generated follows no style")]
        let outputs = {
            use ::core::primitive::*;
            use #runtime::kernel::{
                Along, Buf, Divide, Failed, Kernel, Opaque, Out, OutBuf, Place, Scatter, Sequential, Steps, Work, accumulate_steps, contract, contract_absorb, contract_absorb_here, contract_here, contract_where, contract_where_here, count_operations, div_absorb, first_extremum, fold_lanes, get, launch,
                launch_here, launch_steps, masked, math, max, min, mul_absorb, multiversion, nearest, transpose,
            };
            #host
            host(#(#sizes,)* #(#held,)* #(#arguments),*)
        };
        #write_back
        #kept
        #result
    };
    let run = match there {
        Some(program) => {
            let tables = shim.tables();
            let tables = tables.iter().map(|(_, table)| tokens!(#table.device()));
            let place = tokens!(#runtime::device_of(&[#(#tables),*]));
            let there = shim.there(program, options);
            tokens!(#runtime::on_device! { #place, device => { #there } { #here } })
        }
        None => here,
    };
    tokens! {
        #(#equal)*
        #constants
        #places
        #extents
        #checks
        #run
    }
}

/// How parameters are compared in this respect: what does not agree panics, or is given back.
fn comparison(options: &EmitOptions, respect: &str) -> (Ident, TokenStream) {
    if options.fallible {
        (ident(&format!("compare_{respect}")), tokens!(?))
    } else {
        (ident(&format!("check_{respect}")), TokenStream::new())
    }
}

/// Prints all operands but the first, which it gives.
fn printed(printing: &Printing, scalars: &[Ident]) -> TokenStream {
    let message = printing.message.to_string();
    let Some((first, shown)) = scalars.split_first() else {
        return TokenStream::new();
    };
    let print = match printing.output {
        Output::Standard => tokens!(::std::print!),
        Output::Error => tokens!(::std::eprint!),
    };
    tokens! {
        #print(#message #(, #shown)*);
        #first
    }
}

/// What the shim looks at of a program, whose stage does not matter.
struct View<'u> {
    params: &'u [Param],
    values: &'u [Value<Extent>],
    results: &'u [ValueId],
    /// Which parameters code names and is not handed, by their positions.
    constants: Vec<bool>,
}

impl<'u> View<'u> {
    fn of<S: Stage<Dim = Extent>>(program: &'u Program<S>, constants: Vec<bool>) -> Self {
        Self {
            params: &program.params,
            values: &program.values,
            results: &program.body.results,
            constants,
        }
    }

    fn ty(&self, value: ValueId) -> &Type<Extent> {
        &self.values[value.index()].ty
    }

    fn elem(&self, value: ValueId) -> Elem {
        self.ty(value).elem
    }
}

struct Shim<'u> {
    /// The function on the host, whose names of sizes and constants others have, too.
    unit: &'u Unit<'u>,
    interface: &'u Interface,
    runtime: &'u TokenStream,
    /// What is called.
    program: View<'u>,
    /// An extent of it that does not name another one.
    resolve: &'u dyn Fn(Extent) -> Extent,
    /// Whether errors are given back, rather than panics.
    fallible: bool,
    /// Whether it runs on a device, where its tables are.
    on_device: bool,
    /// Scalars that the host function gives beside the program's results.
    extra: Vec<ValueId>,
    /// The program's next result.
    next: usize,
}

impl Shim<'_> {
    /// What puts results back, what is kept, and the function's value. What is put together decides
    /// what else the host function has to give.
    fn result(&mut self) -> (TokenStream, TokenStream, TokenStream) {
        let interface = self.interface;
        let result = self.value(&interface.result);
        let write_back: TokenStream = interface
            .write_back
            .iter()
            .map(|access| self.write_back(access))
            .collect();
        let kept = self.kept();
        let result = match interface.kept {
            Some(_) => {
                let kept = kept_name();
                tokens!((#result, #kept))
            }
            None => result,
        };
        (write_back, kept, result)
    }

    /// The numbers of all extents.
    fn sizes(&self) -> Vec<TokenStream> {
        let sizes = (0..self.interface.extents.len()).map(|id| {
            let extent = self.extent_name(SizeId(id as u32));
            tokens!(#extent.len())
        });
        sizes.collect()
    }

    fn has_tables(&self) -> bool {
        !self.tables().is_empty()
    }

    /// The function on the device of this name, where its tables are.
    fn there(&self, program: &Program<Gpu>, options: &EmitOptions) -> TokenStream {
        let (runtime, unit) = (self.runtime, self.unit);
        let lengths = Lengths::of(program);
        let mut shim = Shim {
            unit,
            interface: self.interface,
            runtime,
            program: View::of(program, vec![false; program.params.len()]),
            resolve: &|extent| lengths.resolve(extent),
            fallible: options.fallible,
            on_device: true,
            extra: Vec::new(),
            next: 0,
        };
        let (taken, inputs) = (shim.taken(), shim.inputs());
        let (write_back, kept, result) = shim.result();
        let Emitted { items, checks } =
            cuda::emit(program, &options.places, options.user, &shim.extra);
        let (sizes, arguments) = (shim.sizes(), shim.arguments());
        // The caller's tables stay whole until all has been made.
        let made = match self.interface.result {
            Shape::Unit => tokens!(#write_back #result),
            _ => tokens!(let result = #result; #write_back result),
        };
        let panicked = checks.then(|| {
            tokens! {
                if let ::core::result::Result::Err(cuda::Stop::Panicked(failed)) = &outputs {
                    panicked(failed.site, &failed.values)
                }
            }
        });
        let outputs = shim.or_fails(tokens!(outputs.map_err(cuda::Stop::into_error)));
        tokens! {
            #taken
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction, reason = "what is generated follows no style")]
            let outputs = {
                use ::core::primitive::*;
                use #runtime::cuda;
                use #runtime::kernel::{Buf, Divide, Failed, OutBuf, Place, div_absorb, math, max, min, mul_absorb};
                #items
                let run = || {
                    let inputs = (#(#inputs,)*);
                    there(&device, #(#sizes,)* #(#arguments),*)
                };
                let outputs = run();
                #panicked
                #outputs
            };
            #kept
            #made
        }
    }

    /// What a computation on the device gives; its error is the function's.
    fn or_fails(&self, computed: TokenStream) -> TokenStream {
        let runtime = self.runtime;
        match self.fallible {
            true => tokens!(#computed?),
            false => tokens!(#computed.unwrap_or_else(|error| #runtime::kernel::fail(&error))),
        }
    }

    fn extent_name(&self, size: SizeId) -> Ident {
        ident(&format!("{}_extent", self.unit.names.size(size)))
    }

    /// `let n_extent = …;` for every size.
    fn extents(&self) -> TokenStream {
        self.interface
            .extents
            .iter()
            .enumerate()
            .map(|(id, source)| {
                let (name, value) = (self.extent_name(SizeId(id as u32)), self.extent(source));
                tokens!(let #name = #value;)
            })
            .collect()
    }

    /// The Rust expression for a part of an argument.
    fn place(&self, access: &Access) -> TokenStream {
        self.read(access.root.clone(), &access.fields)
    }

    /// A part of a value, to read.
    fn read(&self, value: TokenStream, fields: &[Field]) -> TokenStream {
        let runtime = self.runtime;
        fields.iter().fold(value, |value, field| match field {
            Field::Named(name) => tokens!(#value.#name),
            Field::Hidden(at) => {
                let at = index(*at);
                tokens!((*#runtime::Field::<#at, _>::field(&#value)))
            }
            Field::Called(name) => {
                let name = ident(name);
                tokens!((*#value.#name()))
            }
            Field::Sum => tokens!(({
                use #runtime::kernel::Variants as _;
                #value.held_by_variant()
            })),
            Field::Referred(at) => {
                let at = index(*at);
                tokens!((*#value.#at))
            }
            Field::IsSecond => self.held(&value, true, tokens!(.is_some())),
            // Of scalars only, which are read one by one.
            Field::Held(_) => value,
        })
    }

    /// What is done with what a value of one of two kinds holds if it is of one of them.
    fn held(&self, value: &TokenStream, second: bool, then: TokenStream) -> TokenStream {
        let runtime = self.runtime;
        let method = ident(if second { "held_second" } else { "held_first" });
        tokens!({
            use #runtime::kernel::OneOf as _;
            #value.#method() #then
        })
    }

    /// A scalar that is a part of an argument; zero where that does not hold it.
    fn scalar_at(&self, access: &Access, read: &dyn Fn(TokenStream) -> TokenStream) -> TokenStream {
        let is_held = |field: &Field| matches!(field, Field::Held(_));
        let Some(at) = access.fields.iter().position(is_held) else {
            return read(self.place(access));
        };
        let (outside, inside) = access.fields.split_at(at);
        let second = matches!(inside[0], Field::Held(true));
        let value = self.read(access.root.clone(), outside);
        let part = Access {
            root: tokens!((*part)),
            fields: inside[1..].to_vec(),
            name: access.name.clone(),
        };
        let read = self.scalar_at(&part, read);
        let then = tokens!(.map_or(::core::default::Default::default(), |part| #read));
        self.held(&value, second, then)
    }

    /// A part of an argument, of which some field cannot be named, to change or to take.
    fn place_mut(&self, access: &Access) -> TokenStream {
        let runtime = self.runtime;
        let root = access.root.clone();
        access.fields.iter().fold(root, |value, field| match field {
            Field::Named(name) => tokens!(#value.#name),
            Field::Hidden(at) => {
                let at = index(*at);
                tokens!((*#runtime::FieldMut::<#at, _>::field_mut(&mut #value)))
            }
            // Nothing of it is changed or taken.
            Field::Called(_)
            | Field::Sum
            | Field::Referred(_)
            | Field::IsSecond
            | Field::Held(_) => value,
        })
    }

    /// The table that an access reaches behind `&mut`.
    fn target(&self, access: &Access) -> TokenStream {
        let root = &access.root;
        if access.fields.is_empty() {
            tokens!(*#root)
        } else if is_hidden(access) {
            let root = tokens!((*#root));
            self.place_mut(&Access {
                root,
                ..access.clone()
            })
        } else {
            self.place(access)
        }
    }

    /// Tables out of parameters by value that have fields which cannot be named, and so cannot be
    /// moved out: before anything is borrowed.
    fn taken(&self) -> TokenStream {
        let mut roots: Vec<String> = Vec::new();
        let mut taken = TokenStream::new();
        for (at, source) in self.interface.params.iter().enumerate() {
            let ParamSource::Owned(access) = source else {
                continue;
            };
            if !self.is_taken(access) {
                continue;
            }
            let root = &access.root;
            if !roots.contains(&root.to_string()) {
                taken.extend(tokens!(let mut #root = #root;));
                roots.push(root.to_string());
            }
            let (name, table) = (taken_name(at), self.place_mut(access));
            taken.extend(tokens! {
                // SAFETY: the parameter is this function's own, and its extents were read before.
                let #name = unsafe { #table.take_data() };
            });
        }
        taken
    }

    /// Whether a table that is updated in place is taken out of a parameter by value in this way.
    fn is_taken(&self, access: &Access) -> bool {
        let root = access.root.to_string();
        let beside = |source: &ParamSource| {
            source
                .access()
                .is_some_and(|a| a.root.to_string() == root && is_hidden(a))
        };
        !self.is_borrowed(access)
            && !access.fields.is_empty()
            && self.interface.params.iter().any(beside)
    }

    /// The extent that a source carries.
    fn extent(&self, source: &ExtentSource) -> TokenStream {
        let runtime = self.runtime;
        let carried = match &source.carrier {
            Carrier::Table(access) => {
                let table = self.place(access);
                tokens!(#table.extent())
            }
            Carrier::Elements(access) => {
                let table = self.place(access);
                tokens!(#table.target())
            }
            Carrier::Extent(access) => self.place(access),
            Carrier::Static(set) => tokens!(#runtime::Extent::<#set>::default()),
        };
        let parts = source.path.iter().map(|&part| index(part));
        tokens!(#carried #(.split().#parts)*)
    }

    /// The tables among the arguments, and what another function has kept: what messages call them,
    /// and where they are.
    fn tables(&self) -> Vec<(&str, TokenStream)> {
        let tables = self.interface.params.iter().filter_map(|source| {
            let (ParamSource::Table(access) | ParamSource::Owned(access)) = source else {
                return None;
            };
            Some((access.name.as_str(), self.place(access)))
        });
        let kept = self.interface.is_given_kept.then(|| {
            let kept = kept_name();
            (KEPT, tokens!(#kept))
        });
        tables.chain(kept).collect()
    }

    /// The question where tables live, if they may live elsewhere than the host.
    fn places(&self, options: &EmitOptions) -> TokenStream {
        let tables = self.tables();
        let (Some(gpu), false) = (&options.gpu, tables.is_empty()) else {
            return TokenStream::new();
        };
        let tables = tables.iter();
        let tables = tables.map(|(name, table)| tokens!((#name, #table.device())));
        let (runtime, function) = (self.runtime, &options.function);
        let reason = gpu.as_ref().err().map(Missing::to_string);
        let respect = if reason.is_some() {
            "places"
        } else {
            "devices"
        };
        let (compare, given) = comparison(options, respect);
        let reason = reason.map(|reason| tokens!(, #reason));
        tokens!(#runtime::device! { #runtime::#compare(#function, &[#(#tables),*] #reason) #given; })
    }

    /// The promised comparison of extents that must agree.
    fn checks(&self, options: &EmitOptions) -> TokenStream {
        let runtime = self.runtime;
        let (function, (compare, given)) = (&options.function, comparison(options, "extents"));
        self.interface
            .checks
            .iter()
            .map(|(size, source)| {
                let first = &self.interface.extents[size.0 as usize];
                let (left, right) = (carrier_name(&first.carrier), carrier_name(&source.carrier));
                let (known, found) = (self.extent_name(*size), self.extent(source));
                let set = &source.set;
                tokens!(#runtime::kernel::#compare(#function, #set, (#left, #known), (#right, #found)) #given;)
            })
            .chain(self.rows(options))
            .collect()
    }

    /// The comparison of rows whose lengths must agree.
    fn rows(&self, options: &EmitOptions) -> impl Iterator<Item = TokenStream> {
        let (runtime, function) = (self.runtime, &options.function);
        let (compare, given) = comparison(options, "rows");
        self.interface.rows.iter().map(move |(left, right)| {
            let (known, found) = (self.place(left), self.place(right));
            let (left, right) = (&left.name, &right.name);
            tokens!(#runtime::kernel::#compare(#function, (#left, #right), &#known, &#found) #given;)
        })
    }

    /// What holds the functions that the program knows nothing of: closures of scalars.
    fn functions(&self) -> TokenStream {
        let runtime = self.runtime;
        let one = |(&at, called): (&u8, &Called)| {
            let Called { params, result, .. } = called;
            let name = self.unit.names.function(at);
            let scalars: Vec<_> = (0..params.len()).map(|k| ident(&format!("x{k}"))).collect();
            let types: Vec<_> = params.iter().map(|param| ident(param.name())).collect();
            let value = match &self.interface.functions[usize::from(at)] {
                FunctionSource::Given(given) => self.given(given, params, &scalars, *result),
                FunctionSource::Print(printing) => printed(printing, &scalars),
                FunctionSource::Extern(Extern { path, arity }) => {
                    let args = scalars.iter().take(*arity);
                    tokens!((#path)(#(#args),*))
                }
            };
            let result = ident(result.name());
            let closure = tokens! {
                let #name = |#(#scalars: ::core::primitive::#types),*| -> ::core::primitive::#result {
                    #(let _ = #scalars;)*
                    #value
                };
            };
            if called.anywhere {
                return tokens! {
                    #closure
                    let #name: &(dyn ::core::ops::Fn(#(::core::primitive::#types),*) -> ::core::primitive::#result + ::core::marker::Sync) = &#name;
                };
            }
            tokens! {
                #closure
                // SAFETY: kernels that call it run where they are launched, on this thread.
                let #name: #runtime::kernel::Opaque<'_, dyn ::core::ops::Fn(#(::core::primitive::#types),*) -> ::core::primitive::#result> =
                    unsafe { #runtime::kernel::Opaque::new(&#name) };
            }
        };
        self.unit.functions.iter().map(one).collect()
    }

    /// What a function of the caller's gives.
    fn given(
        &self,
        function: &GivenFunction,
        params: &[Scalar],
        scalars: &[Ident],
        result: Scalar,
    ) -> TokenStream {
        let runtime = self.runtime;
        let mut given = params.iter().zip(scalars);
        let args: Vec<_> = function
            .params
            .iter()
            .map(|param| self.argument(param, &mut given))
            .collect();
        let called = self.place(&function.access);
        let value = self.read(tokens!((#called)(#(#args),*)), &function.fields);
        match &function.member {
            Some(set) => {
                let extent = self.set(set, &mut Vec::new().into_iter());
                tokens!(#runtime::IndexSet::ordinal(#value, #extent))
            }
            None => self.scalar(result, value, true),
        }
    }

    /// An argument of the caller's function, of the next scalars.
    fn argument<'s>(
        &self,
        shape: &Shape,
        given: &mut impl Iterator<Item = (&'s Scalar, &'s Ident)>,
    ) -> TokenStream {
        let runtime = self.runtime;
        match shape {
            Shape::Unit
            | Shape::Table { .. }
            | Shape::Ragged { .. }
            | Shape::Extent(_)
            | Shape::OneOf(_) => tokens!(()),
            Shape::Scalar => match given.next() {
                Some((&scalar, name)) => self.scalar(scalar, tokens!(#name), false),
                None => tokens!(()),
            },
            Shape::Index(set) => {
                let extent = self.set(set, &mut Vec::new().into_iter());
                let name = given.next().map(|(_, name)| name);
                tokens!(#runtime::IndexSet::from_ordinal(#name, #extent))
            }
            Shape::Tuple(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| self.argument(part, given))
                    .collect();
                tokens!((#(#parts,)*))
            }
            Shape::Struct(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| self.argument(part, given))
                    .collect();
                tokens!(#runtime::Record::from_fields((#(#parts,)*)))
            }
        }
    }

    /// A scalar that may be of a generic type, as the program's type, or back.
    fn scalar(&self, scalar: Scalar, tokens: TokenStream, taken: bool) -> TokenStream {
        let (runtime, ty) = (self.runtime, ident(scalar.name()));
        if !self.interface.generic_floats || !scalar.is_float() {
            tokens
        } else if taken {
            tokens!(#runtime::kernel::recast::<_, ::core::primitive::#ty>(#tokens))
        } else {
            tokens!(#runtime::kernel::recast::<::core::primitive::#ty, _>(#tokens))
        }
    }

    /// The arguments of the host function, by parameter of the program.
    fn inputs(&self) -> Vec<TokenStream> {
        let runtime = self.runtime;
        self.interface
            .params
            .iter()
            .zip(self.program.params)
            .enumerate()
            .filter(|(at, _)| !self.program.constants[*at])
            .map(|(at, (source, param))| {
                let ty = self.program.ty(param.value);
                if self.on_device
                    && let Some(input) = self.input_on_device(at, source, param)
                {
                    return match source {
                        // It is of the type that the program is for.
                        ParamSource::Kept(_) => input,
                        _ => self.recast(param.value, input, true),
                    };
                }
                let members = matches!(ty.elem, Elem::Index(_));
                // A table over `()` is a scalar to the program.
                let only = if ty.rank() == 0 {
                    tokens!([0])
                } else {
                    TokenStream::new()
                };
                let value = match source {
                    ParamSource::Kept(number) => {
                        let (kept, ty) = (kept_name(), self.machine_type(param.value));
                        let number = index(*number);
                        let method = ident(if self.program.ty(param.value).rank() == 0 {
                            "number"
                        } else {
                            "elements"
                        });
                        return tokens!(#kept.#method::<::core::primitive::#ty>(#number));
                    }
                    ParamSource::Scalar(access, generic) => {
                        // Through a reference too, which the access does not tell from a value.
                        let ty = self.machine_type(param.value);
                        let ty = match generic {
                            Some(name) => tokens!(#name),
                            None => tokens!(::core::primitive::#ty),
                        };
                        self.scalar_at(
                            access,
                            &|scalar| tokens!(*::core::borrow::Borrow::<#ty>::borrow(&#scalar)),
                        )
                    }
                    ParamSource::Index(access, set) => {
                        let extent = self.set(set, &mut Vec::new().into_iter());
                        self.scalar_at(
                            access,
                            &|member| tokens!(#runtime::IndexSet::ordinal(#member, #extent)),
                        )
                    }
                    ParamSource::Table(access) => {
                        let table = self.place(access);
                        if members {
                            tokens!(#table.ordinals() #only)
                        } else {
                            tokens!(#table.as_slice() #only)
                        }
                    }
                    ParamSource::Owned(access) => {
                        let table = self.place(access);
                        if members {
                            tokens!(#runtime::Buf::from_vec(#table.ordinals().into_owned()) #only)
                        } else if self.is_borrowed(access) {
                            // The caller's table stays whole until the function has succeeded.
                            let table = self.target(access);
                            tokens!(::core::clone::Clone::clone(&#table).into_parts().2 #only)
                        } else if self.is_taken(access) {
                            let name = taken_name(at);
                            tokens!(#name #only)
                        } else {
                            tokens!(#table.into_parts().2 #only)
                        }
                    }
                    ParamSource::Constant {
                        access,
                        taken: taken @ (Taken::Member(_) | Taken::Index(_)),
                        set,
                        ..
                    } => self.number(access, taken, set.as_ref()),
                    ParamSource::Array(access, rank)
                    | ParamSource::Constant { access, rank, .. } => {
                        let array = self.place(access);
                        let flatten = (1..*rank).map(|_| tokens!(.as_flattened()));
                        let slice = tokens!(#array.as_slice() #(#flatten)*);
                        if param.owned {
                            tokens!(#runtime::Buf::from_vec(#slice.to_vec()))
                        } else {
                            slice
                        }
                    }
                };
                self.recast(param.value, value, true)
            })
            .collect()
    }

    /// An argument of a function that runs on a device, if it is not the one on the host.
    fn input_on_device(
        &self,
        at: usize,
        source: &ParamSource,
        param: &Param,
    ) -> Option<TokenStream> {
        let runtime = self.runtime;
        let ty = self.program.ty(param.value);
        let elements = |access: &Access| {
            let table = self.place(access);
            match ty.elem {
                Elem::Index(_) => tokens!(#table.ordinals_on_device()?),
                Elem::Scalar(_) | Elem::Bound(_) => tokens!(#table.on_device()),
            }
        };
        let uploaded = |slice: TokenStream| tokens!(#runtime::Buf::from_vec(#slice.to_vec()).to_device(&device)?);
        Some(match source {
            // A table over `()` is a scalar to the program.
            ParamSource::Table(access) | ParamSource::Owned(access) if ty.rank() == 0 => {
                let elements = elements(access);
                tokens!(#elements.only()?)
            }
            ParamSource::Table(access) => elements(access),
            // The caller's table stays whole until the function has succeeded.
            ParamSource::Owned(access)
                if matches!(ty.elem, Elem::Index(_)) || self.is_borrowed(access) =>
            {
                let elements = elements(access);
                tokens!(#elements.to_device(&device)?)
            }
            ParamSource::Array(access, rank) => {
                let array = self.place(access);
                let flatten = (1..*rank).map(|_| tokens!(.as_flattened()));
                uploaded(tokens!(#array.as_slice() #(#flatten)*))
            }
            ParamSource::Constant { taken, rank, .. } if taken.is_constant() => {
                let name = self.unit.names.value(self.unit.program.params[at].value);
                match rank {
                    0 => tokens!(#name),
                    _ => uploaded(tokens!(#name)),
                }
            }
            ParamSource::Kept(number) if ty.rank() > 0 => {
                let (kept, ty) = (kept_name(), self.machine_type(param.value));
                let number = index(*number);
                tokens!(#kept.buffer::<::core::primitive::#ty>(#number))
            }
            ParamSource::Owned(_)
            | ParamSource::Scalar(..)
            | ParamSource::Index(..)
            | ParamSource::Kept(_)
            | ParamSource::Constant { .. } => return None,
        })
    }

    /// The Rust type of a value, or of its elements.
    fn machine_type(&self, value: ValueId) -> super::expr::Word {
        super::scalar::ty(self.program.elem(value).repr())
    }

    /// The number of a constant that is a member of this set, or may be one.
    fn number(&self, access: &Access, taken: &Taken, set: Option<&SetShape>) -> TokenStream {
        let mut sizes = Vec::new();
        if let Some(set) = set {
            self.add_sizes(set, &mut sizes);
        }
        constants::number(&access.root, taken, &tokens!(&[#(#sizes),*]))
    }

    /// Adds the sizes of a set's parts that are known only at run time, in their order.
    fn add_sizes(&self, set: &SetShape, sizes: &mut Vec<TokenStream>) {
        match set {
            SetShape::Size(size) => {
                let extent = self.extent_name(*size);
                sizes.push(tokens!(#extent.len()));
            }
            SetShape::Product(_, parts) => {
                parts.iter().for_each(|part| self.add_sizes(part, sizes))
            }
            SetShape::Either(left, right) => {
                self.add_sizes(left, sizes);
                self.add_sizes(right, sizes);
            }
            SetShape::Static(_) | SetShape::Dyn => {}
        }
    }

    /// Constants of the module, under names that the host function and its kernels have for them.
    fn constants(&self) -> TokenStream {
        let params = self.interface.params.iter();
        params
            .zip(&self.unit.program.params)
            .filter(|(_, param)| self.unit.is_constant(param.value))
            .filter_map(|(source, param)| {
                let ParamSource::Constant {
                    access,
                    taken,
                    rank,
                    ..
                } = source
                else {
                    return None;
                };
                let (name, element) = (self.unit.names.value(param.value), self.unit.ty(param.value));
                let constant = typed(name, access, taken);
                Some(match rank {
                    0 => tokens!(#[allow(dead_code)] const #name: ::core::primitive::#element = *#constant;),
                    _ => {
                        let flatten = (1..*rank).map(|_| tokens!(.as_flattened()));
                        tokens!(#[allow(dead_code)] const #name: &[::core::primitive::#element] = #constant.as_slice() #(#flatten)*;)
                    }
                })
            })
            .collect()
    }

    /// A float as the type that the program is for, or back, where the signature is generic in it.
    fn recast(&self, value: ValueId, tokens: TokenStream, taken: bool) -> TokenStream {
        let (runtime, ty) = (self.runtime, self.machine_type(value));
        if !self.interface.generic_floats || !self.program.elem(value).is_float() {
            return tokens;
        }
        let types = if taken {
            tokens!(::<_, ::core::primitive::#ty>)
        } else {
            tokens!(::<::core::primitive::#ty, _>)
        };
        let mut params = self.program.params.iter().zip(&self.interface.params);
        let borrowed = params.find(|(param, _)| param.value == value && !param.owned);
        let of_table = |source: &ParamSource| matches!(source, ParamSource::Table(_));
        match (self.program.ty(value).rank(), borrowed) {
            (0, _) => tokens!(#runtime::kernel::recast #types(#tokens)),
            (_, Some((_, source))) if self.on_device && of_table(source) => {
                tokens!(#runtime::kernel::recast_borrowed #types(#tokens))
            }
            (_, Some(_)) if !self.on_device => {
                tokens!(#runtime::kernel::recast_slice #types(#tokens))
            }
            (_, _) => tokens!(#runtime::kernel::recast_buf #types(#tokens)),
        }
    }

    /// The arguments of the host function where they are passed on.
    fn arguments(&self) -> Vec<TokenStream> {
        self.interface
            .params
            .iter()
            .zip(self.program.params)
            .zip(&self.program.constants)
            .filter(|(_, constant)| !**constant)
            .enumerate()
            .map(|(position, ((source, param), _))| {
                let ty = self.program.ty(param.value);
                let position = index(position);
                match (source, ty.elem) {
                    // What has been moved for this call.
                    (ParamSource::Array(..) | ParamSource::Constant { .. }, _)
                        if self.on_device && ty.rank() > 0 && !param.owned =>
                    {
                        tokens!(&inputs.#position)
                    }
                    // Ordinals come borrowed or, from a table of truth values, owned.
                    (ParamSource::Table(_), Elem::Index(_)) if ty.rank() > 0 => {
                        tokens!(&inputs.#position)
                    }
                    _ => tokens!(inputs.#position),
                }
            })
            .collect()
    }

    /// `let kept = …;` of what is kept for another function, if anything is.
    fn kept(&mut self) -> TokenStream {
        let Some(kept) = self.interface.kept else {
            return TokenStream::new();
        };
        let runtime = self.runtime;
        let values = (0..kept).map(|_| {
            let position = index(self.next);
            self.next += 1;
            tokens!(outputs.#position)
        });
        let values: Vec<_> = values.collect();
        let kept = kept_name();
        let values = tokens!([#(#runtime::Kept::of(#values)),*]);
        match self.on_device {
            true => tokens!(let #kept = #runtime::Kept::on(&device, #values);),
            false => tokens!(let #kept = #runtime::Kept::new(#values);),
        }
    }

    /// Whether a table that is updated in place belongs to the caller, who wants it back.
    fn is_borrowed(&self, access: &Access) -> bool {
        self.interface
            .write_back
            .iter()
            .any(|back| back.name == access.name)
    }

    /// A Rust value made of the next results.
    fn value(&mut self, shape: &Shape) -> TokenStream {
        let runtime = self.runtime;
        match shape {
            Shape::Unit => tokens!(()),
            Shape::Scalar => self.take().1,
            Shape::Index(set) => {
                let ordinal = self.take().1;
                let extent = self.set(set, &mut Vec::new().into_iter());
                tokens!(#runtime::IndexSet::from_ordinal(#ordinal, #extent))
            }
            Shape::Table { set, elements } => {
                let (result, value) = self.take();
                let dims = self.dims(result);
                let extent = self.set(set, &mut dims.into_iter());
                let buffer = self.buffer(result, value);
                match elements {
                    Some(elements) => {
                        let target = self.set(elements, &mut Vec::new().into_iter());
                        self.members(&extent, &target, &buffer)
                    }
                    None => tokens!(unsafe { #runtime::Table::from_parts(#extent, (), #buffer) }),
                }
            }
            Shape::Ragged { rows, elements } => {
                let (result, value) = self.take();
                let rows = self.place(rows);
                let buffer = self.buffer(result, value);
                let extent = tokens!(#runtime::Extent::<#runtime::Dyn>::new(#rows.len()));
                let values = match elements {
                    Some(elements) => {
                        let target = self.set(elements, &mut Vec::new().into_iter());
                        self.members(&extent, &target, &buffer)
                    }
                    None => tokens!(unsafe { #runtime::Table::from_parts(#extent, (), #buffer) }),
                };
                tokens!(#runtime::kernel::with_rows_of(&#rows, #values))
            }
            Shape::Extent(set) => self.set(set, &mut Vec::new().into_iter()),
            Shape::Tuple(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.value(part))
                    .collect::<Vec<_>>();
                tokens!((#(#parts,)*))
            }
            Shape::OneOf(sides) => {
                let second = self.take().1;
                let (left, right) = (self.value(&sides[0]), self.value(&sides[1]));
                tokens!(#runtime::kernel::OneOf::of_kind(#second, || #left, || #right))
            }
            Shape::Struct(fields) => {
                let fields = fields
                    .iter()
                    .map(|field| self.value(field))
                    .collect::<Vec<_>>();
                tokens!(#runtime::Record::from_fields((#(#fields,)*)))
            }
        }
    }

    /// A table of members, of its extent, that of their set, and their numbers.
    fn members(
        &self,
        extent: &TokenStream,
        target: &TokenStream,
        ordinals: &TokenStream,
    ) -> TokenStream {
        let runtime = self.runtime;
        if !self.on_device {
            return tokens!(unsafe { #runtime::Table::from_ordinals(#extent, #target, #ordinals) });
        }
        self.or_fails(tokens!(unsafe {
            #runtime::Table::from_ordinals_on_device(#extent, #target, #ordinals)
        }))
    }

    /// Puts the next result back into what a parameter refers to.
    fn write_back(&mut self, access: &Access) -> TokenStream {
        let runtime = self.runtime;
        let (result, value) = self.take();
        let (place, target) = (self.place(access), self.target(access));
        let value = match self.source(access) {
            None
            | Some(
                ParamSource::Scalar(..)
                | ParamSource::Kept(_)
                | ParamSource::Array(..)
                | ParamSource::Constant { .. },
            ) => value,
            Some(ParamSource::Index(_, set)) => {
                let extent = self.set(set, &mut Vec::new().into_iter());
                tokens!(#runtime::IndexSet::from_ordinal(#value, #extent))
            }
            Some(ParamSource::Table(_) | ParamSource::Owned(_)) => {
                let buffer = self.buffer(result, value);
                if matches!(self.program.elem(result), Elem::Index(_)) {
                    self.members(
                        &tokens!(#place.extent()),
                        &tokens!(#place.target()),
                        &buffer,
                    )
                } else {
                    tokens!(unsafe { #runtime::Table::from_parts(#place.extent(), (), #buffer) })
                }
            }
        };
        tokens!(#target = #value;)
    }

    /// The parameter of the program that an access became.
    fn source(&self, wanted: &Access) -> Option<&ParamSource> {
        let params = &mut self.interface.params.iter();
        params.find(|source| {
            source
                .access()
                .is_some_and(|access| access.name == wanted.name)
        })
    }

    /// The program's next result, and where the host function's tuple has it.
    fn take(&mut self) -> (ValueId, TokenStream) {
        let position = index(self.next);
        let result = self.program.results[self.next];
        self.next += 1;
        let value = self.recast(result, tokens!(outputs.#position), false);
        (result, value)
    }

    /// A result as a buffer: a table over `()` is a scalar to the program.
    fn buffer(&self, result: ValueId, value: TokenStream) -> TokenStream {
        let runtime = self.runtime;
        if self.program.ty(result).rank() == 0 && self.on_device {
            self.or_fails(tokens!(#runtime::cuda::one(&device, #value)))
        } else if self.program.ty(result).rank() == 0 {
            tokens!(#runtime::Buf::filled(1, #value))
        } else {
            value
        }
    }

    /// The extents of a result's axes, as numbers.
    fn dims(&mut self, result: ValueId) -> Vec<TokenStream> {
        let dims = self.program.ty(result).dims.clone();
        dims.into_iter()
            .map(|extent| match (self.resolve)(extent) {
                Extent::Const(number) => super::context::usize_literal(number).into_token_stream(),
                Extent::Size(size) => {
                    let extent = self.extent_name(size);
                    tokens!(#extent.len())
                }
                Extent::Value(value) => {
                    let results = self.program.results.len();
                    let position = match self.extra.iter().position(|&known| known == value) {
                        Some(position) => position,
                        None => {
                            self.extra.push(value);
                            self.extra.len() - 1
                        }
                    };
                    let position = index(results + position);
                    tokens!(outputs.#position)
                }
            })
            .collect()
    }

    /// The extent of an index set. `axes` are the lengths of the axes of the table over it, which
    /// anonymous sets are made of.
    fn set(&self, set: &SetShape, axes: &mut std::vec::IntoIter<TokenStream>) -> TokenStream {
        let runtime = self.runtime;
        match set {
            SetShape::Size(size) => {
                axes.next();
                let extent = self.extent_name(*size);
                tokens!(#extent)
            }
            SetShape::Static(set) => {
                // `()` alone has no axis.
                if set.to_string().chars().any(char::is_alphanumeric) {
                    axes.next();
                }
                // Which set it is the type of what is made says. Where the function is compiled there may be no name for it.
                tokens!(#runtime::Extent::<_>::default())
            }
            SetShape::Product(ty, parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.set(part, axes))
                    .collect::<Vec<_>>();
                match ty {
                    Some(ty) => tokens!(#runtime::Extent::<#ty>::join((#(#parts,)*))),
                    None => tokens!(#runtime::Extent::join((#(#parts,)*))),
                }
            }
            SetShape::Either(left, right) => {
                axes.next();
                let none = &mut Vec::new().into_iter();
                let (left, right) = (self.set(left, none), self.set(right, none));
                tokens!(#runtime::Extent::<#runtime::Either<_, _>>::join((#left, #right)))
            }
            SetShape::Dyn => {
                let length = axes.next().unwrap_or_else(|| tokens!(0));
                tokens!(#runtime::Extent::<#runtime::Dyn>::new(#length))
            }
        }
    }
}

/// A reference to a constant, of which a value has this name, that must be of the type it is taken
/// for. If it is not, rustc says what it says of the carrier, which names the constant in the
/// same way, and shows it once. What is referred to lives as long as constants do.
fn typed(name: &Ident, access: &Access, taken: &Taken) -> TokenStream {
    let (constant, ty) = constants::taken(&access.root, taken);
    let (of_module, here) = (
        ident(&format!("{name}_OF_THE_MODULE")),
        ident(&format!("{name}_HERE")),
    );
    tokens!({
        const #of_module: #ty = #constant;
        const #here: &#ty = &#of_module;
        #here
    })
}

const KEPT: &str = "kept";

/// What is called so that is kept, and so is the parameter by which another function has it.
pub(crate) fn kept_name() -> Ident {
    ident(KEPT)
}

/// What a table is called that was taken out of an argument, by the position of its parameter.
fn taken_name(at: usize) -> Ident {
    ident(&format!("taken_{at}"))
}

/// Whether a part is reached through a field that cannot be named.
fn is_hidden(access: &Access) -> bool {
    let hidden = |field: &Field| matches!(field, Field::Hidden(_));
    access.fields.iter().any(hidden)
}

/// What messages call the carrier of an extent.
fn carrier_name(carrier: &Carrier) -> String {
    match carrier {
        Carrier::Table(access) | Carrier::Elements(access) | Carrier::Extent(access) => {
            access.name.clone()
        }
        Carrier::Static(set) => set.to_string().replace(' ', ""),
    }
}

/// A field of a tuple.
fn index(position: usize) -> Literal {
    let mut literal = Literal::usize_unsuffixed(position);
    literal.set_span(proc_macro2::Span::mixed_site());
    literal
}

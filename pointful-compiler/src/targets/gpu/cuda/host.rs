//! The host's part, in Rust: memory, launches, and what is computed of scalars.

use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;

use super::context::{Check, Context, Inline};
use super::{Emitted, kernel};
use crate::ir::stages::gpu::{Gpu, GpuOp, Launch, Own};
use crate::ir::{Block, Extent, Scalar, SizeId, Stmt, ValueId, ValueSet};
use crate::ops::Prim;
use crate::targets::cpu::rust::context::{called_in_messages, site, usize_literal};
use crate::targets::cpu::rust::expr::{Word, bind};
use crate::targets::cpu::rust::scalar::{self, Length, Operand};
use crate::targets::cpu::rust::tokens;

/// The unit, the function that launches it, and the one that panics in its words.
pub(super) fn host(context: &mut Context<'_>, extra: &[ValueId]) -> Emitted {
    let program = context.program;
    let sizes = (0..program.sizes.len()).map(|id| {
        let name = context.names.size(SizeId(id as u32));
        tokens!(#name: usize)
    });
    let sizes: Vec<_> = sizes.collect();
    let mut borrowed = ValueSet::new();
    let mut adopted = TokenStream::new();
    let mut params = Vec::new();
    for param in &program.params {
        let (name, ty) = (context.ident(param.value), ty(context.scalar(param.value)));
        params.push(match (context.is_buffer(param.value), param.owned) {
            (true, false) => {
                borrowed.insert(param.value);
                tokens!(#name: &Buf<#ty>)
            }
            (true, true) => {
                adopted.extend(tokens!(let mut #name = OutBuf::from(#name);));
                tokens!(#name: Buf<#ty>)
            }
            (false, _) => tokens!(#name: #ty),
        });
    }
    let mut host = Host { context, borrowed };
    let statements = host.block(&program.body);
    let Host { context, .. } = host;
    let results = || program.body.results.iter().chain(extra);
    let types = results().map(|&result| {
        let ty = ty(context.scalar(result));
        match context.is_buffer(result) {
            true => tokens!(Buf<#ty>),
            false => tokens!(#ty),
        }
    });
    let values = results().map(|&result| match context.is_buffer(result) {
        true => {
            let name = context.ident(result);
            tokens!(#name.assume_init())
        }
        false => value(context, result).into_token_stream(),
    });
    let checks = !context.sites.is_empty();
    let most = context.sites.iter().map(|site| site.check.values()).max();
    let told = match most {
        Some(most) => {
            let most = usize_literal(most as u64);
            tokens!(::core::option::Option::Some(#most))
        }
        None => tokens!(::core::option::Option::None),
    };
    let settled = checks.then(|| tokens!(cx.settle()?;));
    let kernels = context.kernels.iter().map(|(name, block)| {
        let block = Literal::u32_suffixed(*block);
        tokens!(cuda::Kernel { name: #name, block: #block })
    });
    let (name, text) = (format!("{}.cu", program.name), &context.text);
    let panicked = checks.then(|| panicked(context));
    let items = tokens! {
        static UNIT: cuda::Unit = cuda::Unit {
            name: #name,
            text: #text,
            kernels: &[#(#kernels),*],
            definitions: &[],
        };
        fn there(device: &cuda::Device, #(#sizes,)* #(#params,)*) -> ::core::result::Result<(#(#types,)*), cuda::Stop> {
            unsafe {
                let mut cx = cuda::Context::new(device, &UNIT, #told)?;
                #adopted
                #statements
                #settled
                ::core::result::Result::Ok((#(#values,)*))
            }
        }
        #panicked
    };
    Emitted { items, checks }
}

/// A function that panics as the host does where a check of a kernel failed.
fn panicked(context: &Context<'_>) -> TokenStream {
    let arms = context.sites.iter().enumerate().map(|(number, failed)| {
        let number = Literal::u32_suffixed(number as u32);
        let site = site(context.places, context.user, failed.span);
        let told = |k: usize, scalar: Scalar| {
            let (k, ty) = (usize_literal(k as u64), ty(scalar));
            tokens!(<#ty as cuda::Told>::told(values[#k]))
        };
        let panics = match &failed.check {
            Check::Assert(message, shown) => {
                let message = message.to_string();
                let shown = shown.iter().enumerate().map(|(k, &scalar)| told(k, scalar));
                let message = tokens!(::core::format_args!(#message #(, #shown)*));
                site.call(&tokens!(Failed), "here", message)
            }
            Check::Prim(Prim::Check(extent), _) => {
                let what = called_in_messages(context.program, context.resolve(*extent));
                let what = site.words.unwrap_or(&what).to_owned();
                let (place, length) = (told(0, Scalar::I64), told(1, Scalar::Usize));
                site.call(&place, "check_here", tokens!(#length, #what))
            }
            Check::Prim(prim @ (Prim::Wrap(_) | Prim::ClampTo(_) | Prim::Mirror(_)), _) => {
                let method = match prim {
                    Prim::Wrap(_) => "wrap_here",
                    Prim::ClampTo(_) => "clamp_here",
                    _ => "mirror_here",
                };
                site.call(&tokens!(0i64), method, tokens!(0usize))
            }
            Check::Prim(prim, scalar) => {
                let method = match prim {
                    Prim::Div => "div_here",
                    Prim::Rem => "rem_here",
                    Prim::DivEuclid => "div_euclid_here",
                    _ => "rem_euclid_here",
                };
                let divisor = told(1, *scalar);
                site.call(&told(0, *scalar), method, tokens!(#divisor))
            }
        };
        tokens!(#number => { let _ = #panics; })
    });
    tokens! {
        fn panicked(site: u32, values: &[u64]) -> ! {
            match site {
                #(#arms)*
                _ => {}
            }
            ::core::unreachable!("a check that fails on a device fails on the host")
        }
    }
}

fn ty(scalar: Scalar) -> Word {
    scalar::ty(scalar)
}

/// A scalar where it is used.
fn value(context: &Context<'_>, of: ValueId) -> Word {
    match context.inline(of) {
        Some(Inline::Lit(lit)) => scalar::literal(lit),
        Some(Inline::Extent(extent)) => extent_of(context, extent),
        None => context.ident(of).clone().into(),
    }
}

fn extent_of(context: &Context<'_>, extent: Extent) -> Word {
    match context.resolve(extent) {
        Extent::Const(number) => usize_literal(number),
        Extent::Size(size) => context.names.size(size).clone().into(),
        Extent::Value(value) => context.ident(value).clone().into(),
    }
}

struct Host<'c, 'p> {
    context: &'c mut Context<'p>,
    /// Buffers of the caller's.
    borrowed: ValueSet,
}

impl Host<'_, '_> {
    fn block(&mut self, block: &Block<Gpu>) -> TokenStream {
        let mut out = TokenStream::new();
        for stmt in &block.stmts {
            self.stmt(stmt, &mut out);
        }
        out
    }

    fn value(&self, of: ValueId) -> Word {
        value(self.context, of)
    }

    fn extent(&self, extent: Extent) -> Word {
        extent_of(self.context, extent)
    }

    /// The product of extents; `usize::MAX` if it is larger than that.
    fn product(&self, extents: &[Extent]) -> TokenStream {
        let mut factors = extents.iter().map(|&extent| self.extent(extent));
        let first = factors.next().unwrap_or_else(|| usize_literal(1));
        tokens!(#first #(.saturating_mul(#factors))*)
    }

    fn operand(&self, of: ValueId) -> Operand {
        Operand {
            tokens: self.value(of),
            elem: self.context.program.elem(of),
        }
    }

    fn length(&self, extent: Extent) -> Length {
        Length {
            tokens: self.extent(extent),
            what: called_in_messages(self.context.program, self.context.resolve(extent)),
        }
    }

    /// A buffer, as what reads it is given it.
    fn buffer(&self, buffer: ValueId) -> TokenStream {
        let name = self.context.ident(buffer);
        match self.borrowed.contains(&buffer) {
            true => tokens!(#name),
            false => tokens!(#name.on_device()),
        }
    }

    fn stmt(&mut self, stmt: &Stmt<Gpu>, out: &mut TokenStream) {
        let name = || self.context.ident(stmt.results[0]).clone();
        let tokens = match &stmt.op {
            // Written out where they are used.
            GpuOp::Const(_) | GpuOp::Size(_) => return,
            GpuOp::Prim(prim, args) => {
                let name = name();
                out.extend(self.asked(*prim, args));
                let operands: Vec<Operand> = args.iter().map(|&arg| self.operand(arg)).collect();
                let site = || site(self.context.places, self.context.user, stmt.span);
                let value = scalar::prim(
                    *prim,
                    &operands,
                    |extent| self.length(extent),
                    |_| unreachable!("devices call nothing of the caller's"),
                    site,
                );
                return bind(out, &name, &value);
            }
            GpuOp::Select(cond, x, y) => {
                let (name, [cond, x, y]) = (name(), [cond, x, y].map(|&of| self.value(of)));
                tokens!(let #name = if #cond { #x } else { #y };)
            }
            GpuOp::Alloc { .. } => {
                let (name, ty) = (name(), ty(self.context.scalar(stmt.results[0])));
                let length = self.product(self.context.dims(stmt.results[0]));
                tokens!(let mut #name = cx.alloc::<#ty>(#length)?;)
            }
            GpuOp::Copy(source) => {
                let (name, source) = (name(), self.buffer(*source));
                tokens!(let mut #name = cx.copy(#source)?;)
            }
            GpuOp::Load { buffer, indices } => {
                let (name, position) = (name(), self.position(*buffer, indices));
                let buffer = self.buffer(*buffer);
                tokens!(let #name = cx.load(#buffer, #position)?;)
            }
            GpuOp::Var(first) => {
                let (name, first) = (name(), self.value(*first));
                let ty = ty(self.context.scalar(stmt.results[0]));
                tokens!(let mut #name: #ty = #first;)
            }
            GpuOp::Get(place) => {
                let (name, place) = (name(), self.context.ident(*place));
                tokens!(let #name = #place;)
            }
            GpuOp::Set { place, value } => {
                let (place, value) = (self.context.ident(*place), self.value(*value));
                tokens!(#place = #value;)
            }
            GpuOp::Combine {
                monoid,
                place,
                value,
                ..
            } => {
                let (scalar, value) = (self.context.scalar(*place), self.value(*value));
                scalar::combine_into(*monoid, scalar, self.context.ident(*place), &value)
            }
            GpuOp::Swap(a, b) => {
                let [a, b] = [a, b].map(|&buffer| self.context.ident(buffer));
                tokens!(::core::mem::swap(&mut #a, &mut #b);)
            }
            GpuOp::For {
                extent,
                reverse,
                body,
            } => {
                let (stop, index) = (self.extent(*extent), self.context.ident(body.params[0]));
                let (index, inner) = (index.clone(), self.block(body));
                match reverse {
                    false => tokens!(for #index in 0..#stop { #inner }),
                    true => {
                        tokens!(for #index in ::core::iter::Iterator::rev(0..#stop) { #inner })
                    }
                }
            }
            GpuOp::While { cond, body } => {
                let test = self.block(cond);
                let go_on = self.value(cond.results[0]);
                let inner = self.block(body);
                tokens!(loop { #test if !#go_on { break; } #inner })
            }
            GpuOp::If {
                cond,
                then,
                otherwise,
            } => {
                let (cond, then) = (self.value(*cond), self.block(then));
                let otherwise = self.block(otherwise);
                tokens!(if #cond { #then } else { #otherwise })
            }
            GpuOp::Assert {
                cond,
                message,
                shown,
            } => {
                let (cond, message) = (self.value(*cond), message.to_string());
                let shown = shown.iter().map(|&of| self.value(of));
                let message = tokens!(::core::format_args!(#message #(, #shown)*));
                let site = site(self.context.places, self.context.user, stmt.span);
                let fails = site.call(&tokens!(Failed), "here", message);
                tokens!(if !#cond { cx.settle()?; #fails })
            }
            GpuOp::Own(Own::Launch(launch)) => self.launch(launch),
            GpuOp::Store { .. }
            | GpuOp::Contract { .. }
            | GpuOp::Own(Own::Part { .. } | Own::Lanes(_)) => {
                unreachable!("it stands in kernels only")
            }
        };
        out.extend(tokens);
    }

    /// Before the host panics, it asks whether a kernel has failed that was launched before.
    fn asked(&self, prim: Prim, args: &[ValueId]) -> TokenStream {
        let operands: Vec<Operand> = args.iter().map(|&arg| self.operand(arg)).collect();
        if !prim.may_panic(operands[0].elem) {
            return TokenStream::new();
        }
        let fails = match prim {
            Prim::Check(extent) => {
                let in_range = scalar::prim(
                    Prim::InRange(extent),
                    &operands,
                    |extent| self.length(extent),
                    |_| TokenStream::new(),
                    || site(self.context.places, self.context.user, Default::default()),
                );
                tokens!(!(#in_range))
            }
            Prim::Wrap(extent) | Prim::ClampTo(extent) | Prim::Mirror(extent) => {
                let length = self.extent(extent);
                tokens!(#length == 0)
            }
            _ => {
                let divisor = &operands[1].tokens;
                tokens!(#divisor == 0 || #divisor == !0)
            }
        };
        tokens!(if #fails { cx.settle()?; })
    }

    fn position(&self, buffer: ValueId, indices: &[ValueId]) -> TokenStream {
        let mut position = self.value(indices[0]).into_token_stream();
        for (&extent, &index) in self.context.dims(buffer).iter().zip(indices).skip(1) {
            let (extent, index) = (self.extent(extent), self.value(index));
            position = tokens!((#position) * #extent + #index);
        }
        position
    }

    fn launch(&mut self, launch: &Launch) -> TokenStream {
        let given = kernel::kernel(self.context, launch);
        let points = self.product(&launch.extents);
        let team = match launch.team {
            Some(team) => self.value(team).into_token_stream(),
            None => tokens!(1),
        };
        let own = launch.own().iter().map(|&own| {
            let length = self.product(self.context.dims(own));
            let bytes = usize_literal(self.context.scalar(own).bytes());
            tokens!(#length.saturating_mul(#bytes))
        });
        let sizes = given.sizes.iter().map(|&size| {
            let name = self.context.names.size(size);
            tokens!(cuda::Argument::from(#name))
        });
        let values = given.values.iter().map(|&of| {
            let name = self.context.ident(of);
            let called = name.to_string();
            match (self.context.is_buffer(of), self.borrowed.contains(&of)) {
                (false, _) => {
                    let value = self.value(of);
                    tokens!(cuda::Argument::from(#value))
                }
                (true, true) => tokens!(cuda::Argument::buffer(#called, #name)),
                (true, false) => tokens!(#name.argument(#called)),
            }
        });
        let (number, checks) = (usize_literal(given.number as u64), given.checks);
        tokens!(cx.launch(#number, #points, #team, &[#(#own),*], #checks, ::std::vec![#(#sizes,)* #(#values),*])?;)
    }
}

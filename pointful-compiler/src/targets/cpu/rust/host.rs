//! The host function: everything between the shim and the kernels.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::context::Unit;
use super::escape::escaping;
use super::expr::append;
use super::statements::{Body, Storage};
use super::tokens;
use crate::ir::ValueId;
use crate::ir::stages::cpu::PlaceKind;

/// The kernels as items, and `fn host`: sizes, then functions of the caller's, then parameters as
/// slices, buffers or scalars; a tuple of results. Results are those of the program, then `extra`
/// scalars of its outermost block.
pub(super) fn host(unit: &Unit<'_>, extra: &[ValueId]) -> TokenStream {
    let program = unit.program;
    let sizes = (0..program.sizes.len()).map(|id| {
        let name = unit.names.size(crate::ir::SizeId(id as u32));
        tokens!(#name: usize)
    });
    let mut storage = BTreeMap::new();
    let mut adopted = TokenStream::new();
    let mut params = Vec::new();
    for param in &program.params {
        let (name, ty) = (unit.names.value(param.value), unit.ty(param.value));
        if unit.is_constant(param.value) {
            continue;
        }
        params.push(match (unit.kind(param.value), param.owned) {
            (PlaceKind::Buffer, false) => {
                storage.insert(param.value, Storage::Slice);
                tokens!(#name: &[#ty])
            }
            (PlaceKind::Buffer, true) => {
                storage.insert(param.value, Storage::Owned);
                append(&mut adopted, tokens!(let mut #name = OutBuf::from(#name);));
                tokens!(#name: Buf<#ty>)
            }
            (PlaceKind::Var | PlaceKind::Scalar, _) => tokens!(#name: #ty),
        });
    }
    let functions = unit.functions.keys().map(|&at| {
        let (name, ty) = (
            unit.names.function(at),
            unit.function_type(at, &tokens!('_)),
        );
        tokens!(#name: #ty)
    });
    let mut emit = Body::new(unit, storage, false);
    emit.escaping = escaping(&program.body);
    let statements = emit.block(&program.body);
    let results = || program.body.results.iter().chain(extra);
    let result_types = results().map(|&result| {
        let ty = unit.ty(result);
        match unit.kind(result) {
            PlaceKind::Buffer => tokens!(Buf<#ty>),
            PlaceKind::Var | PlaceKind::Scalar => ty.into_token_stream(),
        }
    });
    let result_values = results().map(|&result| {
        let value = unit.value(result);
        match unit.kind(result) {
            PlaceKind::Buffer => tokens!(#value.assume_init()),
            PlaceKind::Var | PlaceKind::Scalar => value.into_token_stream(),
        }
    });
    let kernels = &emit.kernels;
    let operations = unit.operations.as_ref();
    let counted = operations.map(|operations| tokens!(count_operations(|| #operations);));
    tokens! {
        #(#kernels)*
        fn host(#(#sizes,)* #(#functions,)* #(#params,)*) -> (#(#result_types,)*) {
            unsafe {
                #counted
                #adopted
                #statements
                (#(#result_values,)*)
            }
        }
    }
}

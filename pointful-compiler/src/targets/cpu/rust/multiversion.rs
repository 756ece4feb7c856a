//! What the host does one after the other, compiled for each level of the processor's instruction
//! set: a struct that implements the runtime's `Sequential`.

use proc_macro2::{Ident, TokenStream};

use super::captures::{Captures, Environment};
use super::statements::{Body, kernel_name};
use super::tokens;
use crate::ir::stages::cpu::Cpu;
use crate::ir::{Block, ValueId};

/// Emits its struct among the host's items, and gives what runs it: the variables that it sets are
/// handed back.
pub(super) fn emit(host: &mut Body<'_>, body: &Block<Cpu>) -> TokenStream {
    let unit = host.unit;
    let mut captures = Captures::default();
    captures.block(unit, body);
    let set: Vec<ValueId> = captures.set.iter().collect();
    let set_names: Vec<&Ident> = set.iter().map(|&var| unit.names.value(var)).collect();
    let set_types = set.iter().map(|&var| unit.ty(var));
    let results = tokens!((#(#set_types,)*));
    let inner = Body::new(unit, captures.storage(), true).block(body);
    let loops = kernel_name(host.kernels.len());
    let Environment {
        names,
        params,
        unpack,
        declared,
        elided,
    } = captures.environment(unit, &loops);
    host.kernels.push(tokens! {
        #declared

        impl Sequential for #loops #elided {
            type Results = #results;

            #[inline(always)]
            fn run(&self) -> Self::Results {
                #[inline(always)]
                fn all(#(#names: #params),*) -> #results {
                    #(let mut #set_names = #set_names;)*
                    unsafe { #inner }
                    (#(#set_names,)*)
                }
                #unpack
                all(#(#names),*)
            }
        }
    });
    let captured = captures.instance(host, &loops, None);
    match set.is_empty() {
        true => tokens!(multiversion(&#captured);),
        false => tokens!((#(#set_names,)*) = multiversion(&#captured);),
    }
}

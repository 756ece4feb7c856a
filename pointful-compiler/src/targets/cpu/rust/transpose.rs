//! Rows that are written down as columns: the runtime's `transpose`, which is told where rows and
//! columns begin.

use proc_macro2::TokenStream;

use super::statements::Body;
use super::tokens;
use crate::analysis::moves::Moves;
use crate::ir::stages::cpu::Cpu;
use crate::ir::{Block, Extent, Stmt};

/// A transpose.
pub(super) fn emit(emit: &mut Body<'_>, extents: [Extent; 2], body: &Block<Cpu>) -> TokenStream {
    let unit = emit.unit;
    let indices = [body.params[0], body.params[1]];
    let stmts: Vec<&Stmt<Cpu>> = body.stmts.iter().collect();
    let Some(Moves { source, out }) = Moves::of(unit.program, indices, &stmts) else {
        unreachable!("the verifier has seen what this is");
    };
    let [rows, columns] = extents.map(|extent| unit.extent(extent));
    let [row, column] = indices.map(|index| unit.names.value(index));
    let parts = emit.block_of(&stmts[..stmts.len() - 2]);
    let [(source, from), (out, to)] = [source, out]
        .map(|(buffer, indices)| (emit.pointer(buffer), unit.position(buffer, indices)));
    tokens! {
        transpose(#source, #out, [#rows, #columns],
            |#row| { let #column = 0usize; #parts #from },
            |#column| { let #row = 0usize; #parts #to });
    }
}

#[cfg(test)]
mod tests {
    use crate::targets::cpu::rust::context::Unit;

    #[test]
    fn rows_and_columns_begin_somewhere() {
        let program = crate::targets::cpu::rust::testing::parsed(
            "fn f(x: f64[I, J], own t: f64[J, I]) -> f64[N] {
               %0 = alloc f64[N]
               par %1: N {
                 for %2: I { for %3: J { %4 = load x[%2, %3] store t[%3, %2], %4 } }
                 %7 = const 0.0f64 store %0[%1], %7
               }
               return %0
             }",
        );
        let program = program.unwrap_or_else(|e| panic!("{e}"));
        let host = crate::targets::cpu::rust::host::host(&Unit::of(&program), &[]);
        let text = crate::targets::cpu::rust::names::as_in_source(&host);
        let call = "transpose (x . as_ptr () , t . start () , [i , j] , | i";
        assert!(text.contains(call), "{text}");
    }
}

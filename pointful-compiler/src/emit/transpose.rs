//! Rows that are written down as columns.
//!
//! ```text
//! for i in 0..m {
//!     for j in 0..n { t[j, i] = x[i, j]; }  ▶  transpose(x, t, [m, n], |i| …, |j| …);
//! }
//! ```
//!
//! Of two such loops one reads or writes places that are far apart. The runtime's `transpose` does
//! it block by block, in registers; it is told where rows and columns begin.

use proc_macro2::TokenStream;

use super::body::Body;
use super::tokens;
use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{Block, Extent, Operation, Scalar, Stmt, ValueId};

/// Rows of fewer elements, if it is known, are not worth it.
const LEAST: u64 = 8;

/// Two loops that do nothing else.
pub(super) struct Transpose<'p> {
    column: (ValueId, Extent),
    /// What indices are made of, in the outer loop and in the inner one.
    outer: &'p [Stmt<Cpu>],
    inner: &'p [Stmt<Cpu>],
    source: (ValueId, &'p [ValueId]),
    out: (ValueId, &'p [ValueId]),
}

/// Whether a loop with this body is the outer one of such two.
pub(super) fn plan<'p>(emit: &Body<'_>, body: &'p Block<Cpu>) -> Option<Transpose<'p>> {
    let unit = emit.unit;
    let row = body.params[0];
    let (last, outer) = body.stmts.split_last()?;
    let CpuOp::For {
        extent,
        reverse: false,
        body,
    } = &last.op
    else {
        return None;
    };
    let column = body.params[0];
    let [inner @ .., load, store] = &body.stmts[..] else {
        return None;
    };
    let (
        CpuOp::Load {
            buffer: source,
            indices: from,
        },
        CpuOp::Store {
            buffer: out,
            indices: to,
            value,
        },
    ) = (&load.op, &store.op)
    else {
        return None;
    };
    let few = matches!(unit.resolve(*extent), Extent::Const(length) if length < LEAST);
    let once = |indices: &[ValueId], last: ValueId, other: ValueId| {
        let (end, rest) = indices.split_last()?;
        (*end == last && !rest.contains(&last)).then(|| rest.contains(&other))
    };
    let apart = once(from, column, row).is_some() && once(to, row, column) == Some(true);
    let counts = |stmt: &Stmt<Cpu>| match &stmt.op {
        CpuOp::Const(_) | CpuOp::Size(_) => true,
        CpuOp::Prim(prim, args) => {
            let elem = unit.program.elem(args[0]);
            unit.scalar(stmt.results[0]) == Scalar::Usize && !prim.may_panic(elem)
        }
        _ => false,
    };
    // Where a row begins does not depend on the column, and the other way round.
    let depends = |on: ValueId, indices: &[ValueId]| {
        let mut on = vec![on];
        for stmt in outer.iter().chain(inner) {
            if stmt.op.operands().iter().any(|value| on.contains(value)) {
                on.extend(&stmt.results);
            }
        }
        indices
            .split_last()
            .is_some_and(|(_, rest)| rest.iter().any(|index| on.contains(index)))
    };
    let is_one = apart
        && !few
        && source != out
        && load.results[0] == *value
        && outer.iter().chain(inner).all(counts)
        && !depends(column, from)
        && !depends(row, to);
    is_one.then_some(Transpose {
        column: (column, *extent),
        outer,
        inner,
        source: (*source, from),
        out: (*out, to),
    })
}

/// Both loops; the outer one's index, and its extent.
pub(super) fn emit(
    emit: &mut Body<'_>,
    nest: &Transpose<'_>,
    index: ValueId,
    extent: Extent,
) -> TokenStream {
    let unit = emit.unit;
    let [rows, columns] = [extent, nest.column.1].map(|extent| unit.extent(extent));
    let [row, column] = [index, nest.column.0].map(|index| unit.names.value(index));
    let parts: Vec<_> = nest.outer.iter().chain(nest.inner).collect();
    let parts = emit.block_of(&parts);
    let [(source, from), (out, to)] = [nest.source, nest.out]
        .map(|(buffer, indices)| (emit.pointer(buffer), unit.position(buffer, indices)));
    tokens! {
        transpose(#source, #out, [#rows, #columns],
            |#row| { let #column = 0usize; #parts #from },
            |#column| { let #row = 0usize; #parts #to });
    }
}

#[cfg(test)]
mod tests {
    use crate::emit::unit::Unit;

    /// What is emitted for two loops in a kernel, with these statements in the outer and in the
    /// inner one.
    fn emitted(outer: &str, inner: &str) -> String {
        let text = format!(
            "fn f(x: f64[I, J], u: f64[I, K, J], own t: f64[J, I], own s: f64[I, J], own w: f64[K, J, I]) -> f64[N] {{
               %0 = alloc f64[N]
               par %1: N {{
                 %9 = const 0usize %8 = trust K %9
                 for %2: I {{ {outer} for %3: J {{ {inner} }} }}
                 %7 = const 0.0f64 store %0[%1], %7
               }}
               return %0
             }}"
        );
        let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]))
    }

    #[test]
    fn loops_that_only_move_elements_apart_become_one_call() {
        let text = emitted("", "%4 = load x[%2, %3] store t[%3, %2], %4");
        let call = "transpose (x . as_ptr () , t . start () , [i , j] , | i";
        assert!(text.contains(call), "{text}");
        let text = emitted(
            "%4 = cast usize %2 %5 = trust I %4",
            "%6 = load u[%5, %8, %3] store t[%3, %2], %6",
        );
        assert!(text.contains("transpose (u . as_ptr ()"), "{text}");
        for (outer, inner) in [
            // They stay in order, or are not read as they lie, or something is computed, or both places depend on both loops.
            ("", "%4 = load x[%2, %3] store s[%2, %3], %4"),
            ("", "%4 = load t[%3, %2] store s[%2, %3], %4"),
            ("", "%4 = load x[%2, %3] %5 = neg %4 store t[%3, %2], %5"),
            (
                "%10 = cast usize %2",
                "%11 = add %10, %9 %12 = trust K %11 %4 = load x[%2, %3] store w[%12, %3, %2], %4",
            ),
            (
                "",
                "%5 = cast usize %3 %6 = trust I %5 %4 = load x[%6, %3] store t[%3, %2], %4",
            ),
        ] {
            let text = emitted(outer, inner);
            assert!(!text.contains("transpose ("), "{inner}: {text}");
        }
    }
}

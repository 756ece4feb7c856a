//! Buffers that are filled although all of them is written before anybody reads it.
//!
//! ```text
//! %b = alloc f64[I] fill 0.0                          %b = alloc f64[I]
//! par %i: I {                                         par %i: I {
//!   %s = var 0.0                                        %s = var 0.0
//!   for %j: J { combine add %s[], a[%i, %j] }      ▶    for %j: J { combine add %s[], a[%i, %j] }
//!   %x = get %s  store %b[%i], %x                       %x = get %s  store %b[%i], %x
//! }                                                   }
//! ```
//!
//! The place of a sum holds what sums begin with; where a variable holds it meanwhile, that is for
//! nothing. All is written by a loop over the buffer's own axes and no others that stores at its
//! point whatever happens. What else an iteration has to do with the buffer comes after that and is
//! at its own places: none reads what another has not written yet.

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Operation, Program, Stmt, ValueId};

/// Takes these fills away.
pub(super) fn fills(program: &mut Program<Kernels>) {
    let mut body = std::mem::take(&mut program.body);
    block(program, &mut body);
    program.body = body;
}

fn block(program: &Program<Kernels>, block: &mut Block<Kernels>) {
    for number in 0..block.stmts.len() {
        if matches!(block.stmts[number].op, KernelOp::Alloc { fill: Some(_) }) {
            let buffer = block.stmts[number].results[0];
            let mut later = block.stmts[number + 1..].iter();
            let first = later.find(|stmt| mentions(stmt, buffer));
            if first.is_some_and(|stmt| is_written(program, stmt, buffer)) {
                block.stmts[number].op = KernelOp::Alloc { fill: None };
            }
        }
        for inner in block.stmts[number].op.blocks_mut() {
            self::block(program, inner);
        }
    }
}

/// Whether a statement has to do with a buffer.
fn mentions(stmt: &Stmt<Kernels>, buffer: ValueId) -> bool {
    !is_at(stmt, buffer, None)
}

/// Whether all that a statement has to do with a buffer, also inside, is at these indices along
/// some of its axes; or nothing, if there are none.
fn is_at(stmt: &Stmt<Kernels>, buffer: ValueId, places: Option<&[(usize, ValueId)]>) -> bool {
    let own = match (&stmt.op, places) {
        (
            KernelOp::Load {
                buffer: at,
                indices,
            }
            | KernelOp::Store {
                buffer: at,
                indices,
                ..
            }
            | KernelOp::Combine {
                place: at, indices, ..
            },
            Some(places),
        ) if *at == buffer => places.iter().all(|&(axis, index)| indices[axis] == index),
        (op, _) => !op.operands().contains(&buffer),
    };
    let inside = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    own && inside.into_iter().all(|stmt| is_at(stmt, buffer, places))
}

/// Whether a statement is a loop that writes all of a buffer before it does anything else with it.
fn is_written(program: &Program<Kernels>, stmt: &Stmt<Kernels>, buffer: ValueId) -> bool {
    let (mut stmt, mut open) = (stmt, Vec::new());
    // What comes after that in so many open loops.
    let mut after = Vec::new();
    loop {
        let body = match &stmt.op {
            // It is accumulated into.
            KernelOp::Own(Par { .. }) if stmt.op.operands().contains(&buffer) => return false,
            KernelOp::Own(Par { extents, body, .. }) => {
                open.extend(body.params.iter().copied().zip(extents.iter().copied()));
                body
            }
            KernelOp::For { extent, body, .. } => {
                open.push((body.params[0], *extent));
                body
            }
            KernelOp::Store { indices, .. } => {
                let dims = program.ty(buffer).dims.iter();
                let stored: Vec<(ValueId, Extent)> =
                    indices.iter().copied().zip(dims.copied()).collect();
                let axes = open
                    .iter()
                    .map(|own| stored.iter().position(|at| at == own));
                let axes: Option<Vec<usize>> = axes.collect();
                return axes.is_some_and(|axes| {
                    let places = axes.into_iter().zip(open.iter().map(|own| own.0));
                    let places: Vec<(usize, ValueId)> = places.collect();
                    let mut after = after.into_iter();
                    places.len() == stored.len()
                        && after.all(|(depth, stmt)| is_at(stmt, buffer, Some(&places[..depth])))
                });
            }
            _ => return false,
        };
        let mut stmts = body.stmts.iter().skip_while(|stmt| !mentions(stmt, buffer));
        let Some(first) = stmts.next() else {
            return false;
        };
        after.extend(stmts.map(|stmt| (open.len(), stmt)));
        stmt = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{parse, print};

    /// Whether the fill of `%0` goes if these statements follow.
    fn goes(statements: &str) -> bool {
        let text = format!(
            "fn f(x: f64[I, J], c: bool, t: usize) -> f64[I, J] {{
               %0 = alloc f64[I, J] fill 0.0f64
               {statements}
               return %0
             }}"
        );
        let mut program = parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        fills(&mut program);
        !print(&program).contains("fill")
    }

    #[test]
    fn what_is_written_as_a_whole_need_not_be_filled() {
        for statements in [
            "par %1: I, %2: J { %3 = load x[%1, %2] store %0[%1, %2], %3 }",
            "par %2: J { for %1: I { %3 = load x[%1, %2] store %0[%1, %2], %3 } }",
            "par %1: I { for %2: J { %3 = load x[%1, %2] store %0[%1, %2], %3 } for %4: J { %5 = load %0[%1, %4] store %0[%1, %4], %5 } }",
            "for rev %1: I { for %2: J { %3 = load x[%1, %2] store %0[%1, %2], %3 } } par %4: I, %5: J { %6 = load %0[%4, %5] store %0[%4, %5], %6 }",
        ] {
            assert!(goes(&lines(statements)), "{statements}");
        }
    }

    #[test]
    fn what_may_be_read_before_stays_filled() {
        for statements in [
            // Perhaps never, not everywhere, or behind a condition.
            "for %7: t { par %1: I, %2: J { %3 = load x[%1, %2] store %0[%1, %2], %3 } }",
            "par %1: I { %2 = const 0usize %4 = trust J %2 %3 = load x[%1, %4] store %0[%1, %4], %3 }",
            "par %1: I, %2: J { if c { %3 = load x[%1, %2] store %0[%1, %2], %3 } }",
            // It is read meanwhile, or before.
            "for %1: I { for %2: J { %3 = load x[%1, %2] store %0[%1, %2], %3 %4 = const 0usize %5 = trust I %4 %6 = load %0[%5, %2] } }",
            "for %1: I { for %2: J { %3 = load x[%1, %2] store %0[%1, %2], %3 } for %4: J { %7 = const 0usize %5 = trust I %7 %6 = load %0[%5, %4] store %0[%1, %4], %6 } }",
            "par %4: I, %5: J { %6 = load %0[%4, %5] store %0[%4, %5], %6 }",
        ] {
            assert!(!goes(&lines(statements)), "{statements}");
        }
    }

    /// A statement a line, where that is asked for.
    fn lines(statements: &str) -> String {
        statements
            .replace(" if ", "\n if ")
            .replace(" for ", "\n for ")
    }
}

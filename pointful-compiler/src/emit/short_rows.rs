//! Short rows of a table, in strips that overlap.
//!
//! A loop over a row that the optimiser makes vectors of has three parts: several vectors at a
//! time, one at a time, and what is left, element by element. In a row of 30 the last is most of
//! it. Points are independent and may be computed twice, so the last vector may as well end where
//! the row ends:
//!
//! ```text
//! for j in start..stop {               if stop - start in 16..128 {
//!     if c { t[i, j] = f(x[i, j]); }       let mut from = start;
//!     else { t[i, j] = x[i, j]; }          while from < stop {
//! }                                            from = min(from, stop - 16);
//!                               ▶              for lane in 0..16 { let j = from + lane; moved[lane] = f(x[i, j]); }
//!                                              for lane in 0..16 { let j = from + lane; t[i, j] = moved[lane]; }
//!                                              from += 16;
//!                                          }
//!                                      } else { for j in start..stop { t[i, j] = f(x[i, j]); } }
//! ```
//!
//! A condition that is the same along the row is asked once, around both. Of several, as of a
//! point's neighbours in other rows, it is asked whether all hold: else the row is a loop as
//! before.

use proc_macro2::TokenStream;

use super::body::Body;
use super::expr::append;
use super::lanes::Later;
use super::names::ident;
use super::unit::usize_literal;
use super::{scalar, tokens};
use crate::analysis::effects::is_pure;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Extent, Operation, Stmt, ValueId, ValueSet};

/// Bytes of a strip: one of the widest vector registers.
const BYTES: u64 = 64;

/// Rows of more points are long: what is left of them is little.
const LONG: u64 = 128;

/// Bodies of more statements are not written down twice.
const MOST: usize = 64;

/// The points `start..stop` of a row, if that pays.
pub(super) fn emit(
    emit: &mut Body<'_>,
    index: ValueId,
    body: &Block<Kernels>,
    extent: Extent,
    start: &TokenStream,
    stop: &TokenStream,
) -> Option<TokenStream> {
    let unit = emit.unit;
    if body.stmts.len() > MOST {
        return None;
    }
    let mut varies = ValueSet::from([index]);
    vary(emit, body.stmts.iter(), &mut varies);
    if !body.stmts.iter().any(|stmt| condition(stmt).is_some()) {
        let points = Points::of(emit, index, body.stmts.iter().collect(), varies, extent)?;
        return Some(points.emit(emit, index, body, start, stop));
    }
    // What is asked for conditions comes before the row, and nothing that would panic.
    let mut inside = varies.clone();
    let (mut outside, mut within, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for stmt in &body.stmts {
        let decided = stmt.results.iter().all(|&value| emit.is_decided(value));
        let known = decided
            || !stmt
                .op
                .operands()
                .iter()
                .any(|value| inside.contains(value));
        if let Some(cond) = condition(stmt).filter(|&cond| emit.decided(cond).is_none()) {
            if inside.contains(&cond) {
                return None;
            }
            if !asked.contains(&cond) {
                asked.push(cond);
            }
        }
        let may_come_before =
            condition(stmt).is_none() && !matches!(stmt.op, KernelOp::Load { .. });
        if known && may_come_before && is_pure(unit.program, stmt) {
            outside.push(stmt);
        } else {
            inside.extend(&stmt.results);
            within.push(stmt);
        }
    }
    // Of one condition both sides; of several, that all hold, as they do away from the borders.
    let sides: &[bool] = if asked.len() == 1 {
        &[true, false]
    } else {
        &[true]
    };
    let mut ways = Vec::new();
    for &holds in sides {
        let stmts = taken(emit, &within, holds);
        let whole = Block {
            params: body.params.clone(),
            stmts: stmts.iter().map(|&stmt| stmt.clone()).collect(),
            results: Vec::new(),
        };
        let points = Points::of(emit, index, stmts, varies.clone(), extent)?;
        ways.push((points, whole));
    }
    let outside = emit.block_of(&outside);
    let ways: Vec<_> = ways
        .iter()
        .map(|(points, whole)| points.emit(emit, index, whole, start, stop))
        .collect();
    let conds = asked.iter().map(|&cond| unit.value(cond));
    Some(match ways.as_slice() {
        [then, otherwise] => tokens!(#outside if #(#conds)* { #then } else { #otherwise }),
        _ if asked.is_empty() => tokens!(#outside #(#ways)*),
        _ => {
            let name = unit.names.value(index);
            let plain = emit.block(body);
            tokens!(#outside if #(#conds)&* { #(#ways)* } else { for #name in #start..#stop { #plain } })
        }
    })
}

/// Statements with one side of each branch in its place: the one that is known, else that of
/// conditions which hold or do not.
fn taken<'s>(emit: &Body<'_>, stmts: &[&'s Stmt<Kernels>], holds: bool) -> Vec<&'s Stmt<Kernels>> {
    let mut taken = Vec::new();
    for &stmt in stmts {
        match &stmt.op {
            KernelOp::If {
                cond,
                then,
                otherwise,
            } => taken.extend(match emit.decided(*cond).unwrap_or(holds) {
                true => &then.stmts,
                false => &otherwise.stmts,
            }),
            _ => taken.push(stmt),
        }
    }
    taken
}

/// What a branch asks.
fn condition(stmt: &Stmt<Kernels>) -> Option<ValueId> {
    match stmt.op {
        KernelOp::If { cond, .. } => Some(cond),
        _ => None,
    }
}

/// Adds what differs from point to point.
fn vary<'s>(
    emit: &Body<'_>,
    stmts: impl Iterator<Item = &'s Stmt<Kernels>>,
    varies: &mut ValueSet,
) {
    for stmt in stmts {
        let decided = stmt.results.iter().all(|&value| emit.is_decided(value));
        let own = match &stmt.op {
            // What is stored may be read again.
            KernelOp::Load { .. } | KernelOp::Var(_) | KernelOp::Get(_) => true,
            op => op.operands().iter().any(|value| varies.contains(value)),
        };
        if own && !decided {
            varies.extend(&stmt.results);
        }
    }
}

/// Points that are no more than a line of statements.
struct Points<'s> {
    /// What is the same for all of a row.
    uniform: Vec<&'s Stmt<Kernels>>,
    rest: Vec<&'s Stmt<Kernels>>,
    stores: Vec<&'s Stmt<Kernels>>,
    lanes: u64,
}

impl<'s> Points<'s> {
    fn of(
        emit: &Body<'_>,
        index: ValueId,
        stmts: Vec<&'s Stmt<Kernels>>,
        mut varies: ValueSet,
        extent: Extent,
    ) -> Option<Self> {
        let unit = emit.unit;
        vary(emit, stmts.iter().copied(), &mut varies);
        let along = |indices: &[ValueId]| {
            indices.split_last().is_some_and(|(last, rest)| {
                (*last == index || emit.is_interior(*last) || !varies.contains(last))
                    && !rest.iter().any(|index| varies.contains(index))
            })
        };
        let mut points = Self {
            uniform: Vec::new(),
            rest: Vec::new(),
            stores: Vec::new(),
            lanes: 0,
        };
        let (mut places, mut read) = (ValueSet::new(), ValueSet::new());
        let mut widest = 0;
        for stmt in stmts {
            let fits = match &stmt.op {
                KernelOp::Const(_) | KernelOp::Size(_) | KernelOp::Select(..) => true,
                KernelOp::Prim(prim, args) => {
                    let elem = unit.program.elem(args[0]);
                    let known = stmt
                        .results
                        .iter()
                        .all(|&value| !varies.contains(&value) || emit.is_interior(value));
                    known || scalar::vectorises(*prim, elem, emit.angles)
                }
                KernelOp::Load { buffer, indices } => {
                    read.insert(*buffer);
                    along(indices)
                }
                KernelOp::Store {
                    buffer, indices, ..
                } => {
                    let alone = places.insert(*buffer);
                    widest = widest.max(unit.scalar(*buffer).bytes());
                    alone && along(indices) && indices.last() == Some(&index)
                }
                KernelOp::Var(_) => places.insert(stmt.results[0]),
                KernelOp::Get(place)
                | KernelOp::Set { place, .. }
                | KernelOp::Combine { place, .. } => {
                    // A place of the point's own.
                    places.contains(place) && unit.dims(*place).is_empty()
                }
                _ => false,
            };
            if !fits {
                return None;
            }
            let same = stmt.results.iter().all(|value| !varies.contains(value));
            match &stmt.op {
                KernelOp::Store { .. } => points.stores.push(stmt),
                KernelOp::Prim(..) | KernelOp::Select(..) if same => points.uniform.push(stmt),
                _ => points.rest.push(stmt),
            }
        }
        points.lanes = BYTES / widest.max(4);
        let pays = match unit.resolve(extent) {
            Extent::Const(length) => (points.lanes..LONG).contains(&length),
            Extent::Size(_) | Extent::Value(_) => true,
        };
        (pays && !points.stores.is_empty() && read.is_disjoint(&places)).then_some(points)
    }

    fn emit(
        &self,
        emit: &mut Body<'_>,
        index: ValueId,
        body: &Block<Kernels>,
        start: &TokenStream,
        stop: &TokenStream,
    ) -> TokenStream {
        let unit = emit.unit;
        let name = unit.names.value(index);
        let from = ident(&format!("{name}_from"));
        let (lanes, long) = (usize_literal(self.lanes), usize_literal(LONG));
        let uniform = emit.block_of(&self.uniform);
        let mut inner = emit.block_of(&self.rest);
        let (mut declared, mut written) = (TokenStream::new(), TokenStream::new());
        for (number, stmt) in self.stores.iter().enumerate() {
            let later = Later::of(emit, stmt, number, &lanes);
            append(&mut declared, later.declared);
            append(&mut inner, later.kept);
            append(&mut written, later.written);
        }
        let plain = emit.block(body);
        tokens! {
            if (#lanes..#long).contains(&(#stop - #start)) {
                #uniform
                let mut #from = #start;
                while #from < #stop {
                    #from = min(#from, #stop - #lanes);
                    #declared
                    for lane in 0..#lanes {
                        let #name = #from + lane;
                        #inner
                    }
                    for lane in 0..#lanes {
                        let #name = #from + lane;
                        #written
                    }
                    #from += #lanes;
                }
            } else {
                for #name in #start..#stop { #plain }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::emit::unit::Unit;
    use crate::ir::stages::kernels::Kernels;

    /// A kernel over rows of `u`, which reads `x` and has a truth value of the row, `%2`, as it is
    /// emitted.
    fn emitted(dims: &str, statements: &str) -> String {
        let text = format!(
            "fn f(x: f32[I, {dims}], c: bool[I], own v: f32[I, {dims}], t: f32[{dims}, I]) -> f32[I, {dims}] {{
               %9 = alloc f32[I, {dims}] %8 = const 0.5f32
               par %0: I, %1: {dims} {{ %2 = load c[%0] %3 = load x[%0, %1] {statements} }}
               return %9
             }}"
        );
        let text = text.replace(" if ", "\n if ").replace(" for ", "\n for ");
        let program = crate::ir::parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]))
    }

    #[test]
    fn rows_are_strips_the_last_of_which_ends_with_them() {
        let text = emitted("J", "%4 = mul %3, %8 store %9[%0, %1], %4");
        for part in [
            "if (16usize .. 128usize) . contains (& (stop - start)) {",
            "i4_from = min (i4_from , stop - 16usize) ;",
            "moved0_ [lane] = t",
            "} else { for i4 in start .. stop {",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    #[test]
    fn what_all_of_a_row_decide_alike_is_asked_once() {
        let text = emitted(
            "J",
            "%5 = var %8 if %2 { set %5, %3 } else { set %5, %8 } %6 = get %5 store %9[%0, %1], %6",
        );
        assert_eq!(text.matches("16usize .. 128usize").count(), 2, "{text}");
        assert!(text.contains("if t5 { if (16usize"), "{text}");
    }

    #[test]
    fn of_several_conditions_it_is_asked_whether_all_hold() {
        let side = |cond: &str, next: &str| {
            format!(
                "%1{next} = var %8 if {cond} {{ set %1{next}, %3 }} else {{ set %1{next}, %8 }} %2{next} = get %1{next}"
            )
        };
        let text = emitted(
            "J",
            &format!(
                "%7 = cast i64 %0 %6 = in_range I %7 {} {} {} %4 = add %20, %21 %5 = add %4, %22 store %9[%0, %1], %5",
                side("%2", "0"),
                side("%6", "1"),
                side("%2", "2"),
            ),
        );
        assert_eq!(text.matches("16usize .. 128usize").count(), 1, "{text}");
        for part in [
            "if t5 & t8 { if (16usize",
            "let mut t11 : f32 = 0.5f32 ; if t8 { t11 = t6 ; } else",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    #[test]
    fn nothing_is_asked_before_it_is_known() {
        // In the interior `%6` is true, and so `%13` is the same for all of a row; but a check that may panic stays inside.
        let text = emitted(
            "J",
            "%4 = cast usize %1 %5 = const 0usize %6 = gt %4, %5 %10 = cast i64 %6 %11 = check I %10 %12 = cast usize %11 %13 = gt %12, %5
             %14 = var %8 if %13 { set %14, %3 } else { set %14, %8 } %15 = get %14 store %9[%0, %1], %15",
        );
        let file = syn::parse_str::<syn::File>(&text);
        assert!(file.is_ok() && !text.contains("128usize"), "{text}");
    }

    #[test]
    fn what_is_no_line_of_vectors_stays_a_loop() {
        for (dims, statements) in [
            // Rows of a known length, too short or long.
            ("8", "%4 = mul %3, %8 store %9[%0, %1], %4"),
            ("200", "%4 = mul %3, %8 store %9[%0, %1], %4"),
            // A point cannot be computed twice.
            (
                "J",
                "%4 = load v[%0, %1] %5 = add %4, %3 store v[%0, %1], %5 store %9[%0, %1], %5",
            ),
            // Elements lie apart.
            ("J", "%4 = load t[%1, %0] store %9[%0, %1], %4"),
            // Points go different ways.
            (
                "J",
                "%5 = var %8 %7 = gt %3, %8 if %7 { set %5, %3 } else { set %5, %8 } %6 = get %5 store %9[%0, %1], %6",
            ),
        ] {
            let text = emitted(dims, statements);
            assert!(!text.contains("128usize"), "{statements}: {text}");
        }
    }
}

//! Short rows of a table, in strips that overlap.
//!
//! A loop over a row that the optimiser makes vectors of has three parts: several vectors at a time, one at a time, and what is left, element by element.
//! In a row of 30 the last is most of it. Points are independent and may be computed twice, so the last vector may as well end where the row ends:
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
//! A condition that is the same along the row is asked once, around both.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use super::body::Body;
use super::lanes::Later;
use super::names::ident;
use super::unit::usize_literal;
use super::{scalar, tokens};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Extent, Operation, Stmt, ValueId};
use crate::passes::effects::is_pure;

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
    let mut varies = BTreeSet::from([index]);
    let branch = branch(emit, body, &mut varies);
    let Some(branch) = branch else {
        let points = Points::of(emit, index, body.stmts.iter().collect(), varies, extent)?;
        return Some(points.emit(emit, index, body, start, stop));
    };
    let KernelOp::If {
        cond,
        then,
        otherwise,
    } = &body.stmts[branch].op
    else {
        return None;
    };
    let (before, after) = (&body.stmts[..branch], &body.stmts[branch + 1..]);
    // What is asked for the condition comes before it, and nothing that would panic.
    let mut inside = varies.clone();
    let (mut outside, mut within) = (Vec::new(), Vec::new());
    for stmt in before {
        let decided = stmt.results.iter().all(|&value| emit.is_decided(value));
        let known = decided
            || !stmt
                .op
                .operands()
                .iter()
                .any(|value| inside.contains(value));
        if known && is_pure(unit.program, stmt) && !matches!(stmt.op, KernelOp::Load { .. }) {
            outside.push(stmt);
        } else {
            inside.extend(&stmt.results);
            within.push(stmt);
        }
    }
    if inside.contains(cond) {
        return None;
    }
    let mut sides = Vec::new();
    for side in [then, otherwise] {
        let stmts: Vec<&Stmt<Kernels>> = within
            .iter()
            .copied()
            .chain(&side.stmts)
            .chain(after)
            .collect();
        let whole = Block {
            params: body.params.clone(),
            stmts: stmts.iter().map(|&stmt| stmt.clone()).collect(),
            results: Vec::new(),
        };
        sides.push((
            Points::of(emit, index, stmts, varies.clone(), extent)?,
            whole,
        ));
    }
    let outside = emit.block_of(&outside);
    let cond = unit.value(*cond);
    let [then, otherwise] =
        [0, 1].map(|side: usize| sides[side].0.emit(emit, index, &sides[side].1, start, stop));
    Some(tokens!(#outside if #cond { #then } else { #otherwise }))
}

/// The one branch of a body that all points of a row take or none; and what differs from point to point.
fn branch(emit: &Body<'_>, body: &Block<Kernels>, varies: &mut BTreeSet<ValueId>) -> Option<usize> {
    vary(emit, body.stmts.iter(), varies);
    let mut branches = body.stmts.iter().enumerate().filter_map(|(number, stmt)| {
        let KernelOp::If { cond, .. } = stmt.op else {
            return None;
        };
        Some((number, cond))
    });
    match (branches.next(), branches.next()) {
        (Some((number, cond)), None) if !varies.contains(&cond) => Some(number),
        (_, _) => None,
    }
}

/// Adds what differs from point to point.
fn vary<'s>(
    emit: &Body<'_>,
    stmts: impl Iterator<Item = &'s Stmt<Kernels>>,
    varies: &mut BTreeSet<ValueId>,
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
        mut varies: BTreeSet<ValueId>,
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
        let (mut places, mut read) = (BTreeSet::new(), BTreeSet::new());
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
            declared.extend(later.declared);
            inner.extend(later.kept);
            written.extend(later.written);
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

    /// A kernel over rows of `u`, which reads `x` and has a truth value of the row, `%2`, as it is emitted.
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
        crate::emit::host::host(&Unit::of(&program), &[]).to_string()
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

//! A parallel axis in three parts: near its beginning, near its end, and the interior, where neighbours need no policy.
//!
//! `u[(i - 1).wrap()]` asks at every point whether `i - 1` is before the first. Only at the first can it be, so the loop
//! is cut where the answer changes:
//!
//! ```text
//! for i in start..stop {                    for i in start..inner { … wrap(i - 1, n) … wrap(i + 1, n) … }
//!     … wrap(i - 1, n) …           ▶        for i in inner..outer { … i - 1 … i + 1 … }
//!     … wrap(i + 1, n) …                    for i in outer..stop { … wrap(i - 1, n) … wrap(i + 1, n) … }
//! }
//! ```
//!
//! with `inner` at least 1 and `outer` at most `n - 1`. The middle loop has no branch left and becomes vector instructions.
//!
//! Positions are told apart by how far they lie from the axis' own index: a constant, or an interval if an inner loop of
//! constant length moves them. The positions of the interior are indices by that arithmetic alone.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use super::names::ident;
use super::tokens;
use super::unit::{Unit, usize_literal};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Extent, Operation, Scalar, ValueId};
use crate::ops::Prim;

/// Constant axes shorter than this are not worth three loops.
const SHORT: u64 = 8;
/// The furthest that a neighbour may be, for borders to be short.
const FAR: i64 = 1 << 16;

/// Where the interior lies.
#[derive(PartialEq, Debug)]
pub(super) struct Plan {
    /// What makes an index of a position near the axis' own.
    pub(super) positions: BTreeSet<ValueId>,
    /// How many points at the beginning are no interior.
    before: u64,
    /// How many at the end.
    after: u64,
}

/// Whether and where a loop over `extent` is cut.
pub(super) fn plan(
    unit: &Unit<'_>,
    index: ValueId,
    body: &Block<Kernels>,
    extent: Extent,
) -> Option<Plan> {
    let extent = unit.resolve(extent);
    if matches!(extent, Extent::Const(length) if length < SHORT) {
        return None;
    }
    let mut look = Look {
        unit,
        extent,
        reach: BTreeMap::from([(
            index,
            Reach {
                near: true,
                low: 0,
                high: 0,
            },
        )]),
        positions: BTreeSet::new(),
        low: 0,
        high: 0,
    };
    look.block(body);
    (!look.positions.is_empty()).then(|| Plan {
        positions: look.positions,
        before: look.low.unsigned_abs(),
        after: look.high.unsigned_abs(),
    })
}

/// What is known of an integer: it lies in `low..=high`, counted from the axis' index if it is near it.
#[derive(Clone, Copy)]
struct Reach {
    near: bool,
    low: i64,
    high: i64,
}

impl Reach {
    fn checked(near: bool, low: i64, high: i64) -> Option<Self> {
        (low >= -FAR && high <= FAR).then_some(Self { near, low, high })
    }
}

struct Look<'u> {
    unit: &'u Unit<'u>,
    extent: Extent,
    reach: BTreeMap<ValueId, Reach>,
    positions: BTreeSet<ValueId>,
    /// The furthest positions before and after the axis' index.
    low: i64,
    high: i64,
}

impl Look<'_> {
    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let reach = match &stmt.op {
                KernelOp::Prim(prim, args) => self.prim(*prim, args, stmt.results[0]),
                KernelOp::For { extent, body, .. } => {
                    if let Extent::Const(length @ 1..) = self.unit.resolve(*extent)
                        && let Ok(length) = i64::try_from(length)
                        && let Some(reach) = Reach::checked(false, 0, length - 1)
                    {
                        self.reach.insert(body.params[0], reach);
                    }
                    None
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Select(..)
                | KernelOp::Alloc { .. }
                | KernelOp::Copy(_)
                | KernelOp::Load { .. }
                | KernelOp::Store { .. }
                | KernelOp::Combine { .. }
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Swap(..)
                | KernelOp::Contract { .. }
                | KernelOp::Par { .. }
                | KernelOp::Assert { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. } => None,
            };
            if let (Some(reach), Some(&result)) = (reach, stmt.results.first()) {
                self.reach.insert(result, reach);
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ValueId], result: ValueId) -> Option<Reach> {
        // A constant may stand anywhere: in front of the loop, or of the kernel.
        let of = |value: &ValueId| match self.unit.integer(*value) {
            Some(number) => Reach::checked(false, number, number),
            None => self.reach.get(value).copied(),
        };
        let first = of(&args[0]);
        match prim {
            // Types that hold every position: the unsigned one those that are never negative.
            Prim::Cast(Scalar::I64) | Prim::Trust(_) => first,
            Prim::Cast(Scalar::Usize) => first.filter(|reach| reach.low >= 0),
            // A sum of two positions near the index is twice as far, and no neighbour.
            Prim::Add if matches!(self.unit.scalar(result), Scalar::I64 | Scalar::Usize) => {
                let (x, y) = (first?, of(&args[1])?);
                if x.near && y.near {
                    return None;
                }
                Reach::checked(x.near || y.near, x.low + y.low, x.high + y.high)
            }
            // Differences may be negative, which only the signed type can say.
            Prim::Sub if self.unit.scalar(result) == Scalar::I64 => {
                let (x, y) = (first?, of(&args[1])?);
                if y.near {
                    return None;
                }
                Reach::checked(x.near, x.low - y.high, x.high - y.low)
            }
            Prim::Wrap(extent)
            | Prim::ClampTo(extent)
            | Prim::Mirror(extent)
            | Prim::Check(extent)
            | Prim::InRange(extent) => {
                let reach = first.filter(|reach| reach.near)?;
                if self.unit.resolve(extent) == self.extent {
                    self.low = self.low.min(reach.low);
                    self.high = self.high.max(reach.high);
                    self.positions.insert(result);
                }
                None
            }
            // Everything else leads away from the index.
            _ => None,
        }
    }
}

/// The three loops: `border` and `interior` emit a loop from one number to another.
pub(super) fn emit(
    unit: &Unit<'_>,
    plan: &Plan,
    index: ValueId,
    extent: Extent,
    (start, stop): (&TokenStream, &TokenStream),
    mut part: impl FnMut(bool, &TokenStream, &TokenStream) -> TokenStream,
) -> TokenStream {
    let name = unit.names.value(index);
    let inner = ident(&format!("{name}_inner"));
    let outer = ident(&format!("{name}_outer"));
    let (before, after) = (usize_literal(plan.before), usize_literal(plan.after));
    let length = unit.extent(extent);
    let (inner_tokens, outer_tokens) = (tokens!(#inner), tokens!(#outer));
    let first = part(false, start, &inner_tokens);
    let middle = part(true, &inner_tokens, &outer_tokens);
    let last = part(false, &outer_tokens, stop);
    tokens! {
        let #inner = min(#stop, max(#start, #before));
        let #outer = max(#inner, min(#stop, #length.saturating_sub(#after)));
        #first
        #middle
        #last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::testing::{Build, table};
    use crate::ir::Program;

    /// `y[i] = x[policy(i + offset)]` over an axis of this extent.
    fn shifted(
        offset: f64,
        policy: impl Fn(Extent) -> Prim,
        of: impl Fn(Extent) -> Extent,
    ) -> Program<Kernels> {
        let mut b = Build::new("shifted");
        let n = b.size("N");
        let other = of(n);
        let x = b.param("x", table(Scalar::F64, &[other]));
        let y = b.alloc(table(Scalar::F64, &[n]), None);
        b.par(&[n], &[], |b, at, _| {
            let (i, offset) = (b.cast(Scalar::I64, at[0]), b.lit(Scalar::I64, offset));
            let position = b.add(i, offset);
            let index = b.prim(policy(other), &[position]);
            let value = b.load(x, &[index]);
            b.store(y, at, value);
        });
        b.finish(&[y])
    }

    fn planned(program: &Program<Kernels>) -> Option<Plan> {
        let unit = Unit::of(program);
        let body = program.body.stmts.iter().find_map(|stmt| match &stmt.op {
            KernelOp::Par { extents, body, .. } => Some((extents[0], body)),
            _ => None,
        });
        let (extent, body) = body.expect("a kernel");
        plan(&unit, body.params[0], body, extent)
    }

    #[test]
    fn neighbours_leave_as_many_points_to_the_borders_as_they_are_far() {
        for policy in [Prim::Wrap, Prim::ClampTo, Prim::Mirror, Prim::Check] {
            for (offset, before, after) in [(-1.0, 1, 0), (0.0, 0, 0), (3.0, 0, 3)] {
                let plan = planned(&shifted(offset, policy, |n| n)).expect("an interior");
                assert_eq!(
                    (plan.before, plan.after, plan.positions.len()),
                    (before, after, 1)
                );
            }
        }
    }

    #[test]
    fn a_distance_may_be_known_outside_of_the_kernel() {
        let mut b = Build::new("shifted");
        let n = b.size("N");
        let x = b.param("x", table(Scalar::F64, &[n]));
        let y = b.alloc(table(Scalar::F64, &[n]), None);
        let two = b.lit(Scalar::I64, 2.0);
        b.par(&[n], &[], |b, at, _| {
            let i = b.cast(Scalar::I64, at[0]);
            let position = b.add(i, two);
            let index = b.prim(Prim::Wrap(n), &[position]);
            let value = b.load(x, &[index]);
            b.store(y, at, value);
        });
        let plan = planned(&b.finish(&[y])).expect("an interior");
        assert_eq!((plan.before, plan.after), (0, 2));
    }

    #[test]
    fn positions_on_another_axis_are_left_alone() {
        assert_eq!(
            planned(&shifted(-1.0, Prim::Wrap, |_| Extent::Const(100))),
            None
        );
    }

    #[test]
    fn far_positions_are_left_alone() {
        assert_eq!(planned(&shifted(1e9, Prim::Wrap, |n| n)), None);
    }
}

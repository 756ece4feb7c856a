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
//! Comparisons with the axis' ends are decided likewise: `0 < i` is true but at the first point, `i == n - 1` false but at the last. What they guard is no branch
//! in the interior; and none near the end that the furthest of them are about, where they are the opposite.
//!
//! Positions are told apart by how far they lie from the axis' own index: a constant, or an interval if an inner loop of
//! constant length moves them. The positions of the interior are indices by that arithmetic alone.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;

use super::names::ident;
use super::tokens;
use super::unit::{Unit, usize_literal};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Extent, Operation, Scalar, ValueId, ValueSet};
use crate::ops::Prim;

/// Constant axes shorter than this are not worth three loops.
const SHORT: u64 = 8;
/// The furthest that a neighbour may be, for borders to be short.
const FAR: i64 = 1 << 16;
/// The same for what a comparison decides: it costs less than a neighbour's policy.
const CLOSE: i64 = 8;

/// Where the interior lies.
#[derive(PartialEq, Debug)]
pub(super) struct Plan {
    /// What makes an index of a position near the axis' own.
    pub(super) positions: ValueSet,
    /// Truth values that are the same throughout the interior.
    decided: BTreeMap<ValueId, bool>,
    /// Those that are the same in all of what is before it,
    at_beginning: BTreeMap<ValueId, bool>,
    /// and after it.
    at_end: BTreeMap<ValueId, bool>,
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
    known: &BTreeMap<ValueId, bool>,
) -> Option<Plan> {
    plan_behind(unit, index, &Block::default(), body, extent, known)
}

/// The same of the part of a body that comes after another, which stays as it is.
fn plan_behind(
    unit: &Unit<'_>,
    index: ValueId,
    first: &Block<Kernels>,
    body: &Block<Kernels>,
    extent: Extent,
    known: &BTreeMap<ValueId, bool>,
) -> Option<Plan> {
    let extent = unit.resolve(extent);
    if matches!(extent, Extent::Const(length) if length < SHORT) {
        return None;
    }
    let itself = Reach {
        from: Base::Index,
        low: 0,
        high: 0,
    };
    let mut first_look = Look::new(unit, extent, BTreeMap::from([(index, itself)]));
    first_look.block(first);
    let mut look = Look::new(unit, extent, first_look.reach);
    look.decided.clone_from(known);
    look.block(body);
    (!look.positions.is_empty() || look.decided.len() > known.len()).then(|| Plan {
        at_beginning: look.beyond(look.low, known),
        at_end: look.beyond(look.high, known),
        positions: look.positions.iter().chain(&look.trusted).collect(),
        decided: look.decided,
        before: look.low.unsigned_abs(),
        after: look.high.unsigned_abs(),
    })
}

/// What is known of the points of rows that are interior along the axes of the rows.
pub(super) struct Inner {
    /// A row is if all of these hold.
    pub(super) conditions: Vec<TokenStream>,
    pub(super) positions: ValueSet,
    pub(super) decided: BTreeMap<ValueId, bool>,
}

/// Whether rows in the interior are worth a loop of their own: where their points, which come after what is computed for a row, ask about neighbouring rows.
pub(super) fn rows(
    unit: &Unit<'_>,
    axes: &[(ValueId, Extent)],
    row: &Block<Kernels>,
    body: &Block<Kernels>,
) -> Option<Inner> {
    let mut inner = Inner {
        conditions: Vec::new(),
        positions: ValueSet::new(),
        decided: BTreeMap::new(),
    };
    for &(index, extent) in axes {
        let Some(plan) = plan_behind(unit, index, row, body, extent, &BTreeMap::new()) else {
            continue;
        };
        let (name, length) = (unit.names.value(index), unit.extent(extent));
        let (before, after) = (usize_literal(plan.before), usize_literal(plan.after));
        inner
            .conditions
            .push(tokens!(#name >= #before && #name < #length.saturating_sub(#after)));
        inner.positions.extend(&plan.positions);
        inner.decided.extend(plan.decided);
    }
    (!inner.conditions.is_empty()).then_some(inner)
}

/// Whether a loop at a point of a kernel is cut, too: nothing in it is long, and it hands nothing from one iteration to the next that it computes with.
pub(super) fn is_cut(body: &Block<Kernels>) -> bool {
    fn look(block: &Block<Kernels>, bound: &mut ValueSet) -> bool {
        block.stmts.iter().all(|stmt| {
            bound.extend(&stmt.results);
            let fits = match &stmt.op {
                KernelOp::For { extent, .. } => matches!(extent, Extent::Const(_)),
                KernelOp::Set { place, .. } => bound.contains(place),
                KernelOp::While { .. } | KernelOp::Par { .. } | KernelOp::Contract { .. } => false,
                _ => true,
            };
            fits && stmt.op.blocks().iter().all(|inner| look(inner, bound))
        })
    }
    look(body, &mut ValueSet::new())
}

/// What a number is counted from.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Base {
    Zero,
    /// The axis' index.
    Index,
    /// The axis' length.
    Length,
}

/// What is known of an integer: it lies in `low..=high`, counted from somewhere.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    pub(super) from: Base,
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Reach {
    pub(super) fn checked(from: Base, low: i64, high: i64) -> Option<Self> {
        (low >= -FAR && high <= FAR).then_some(Self { from, low, high })
    }
}

struct Look<'u> {
    unit: &'u Unit<'u>,
    extent: Extent,
    reach: BTreeMap<ValueId, Reach>,
    positions: ValueSet,
    /// Positions that are known to be indices everywhere.
    trusted: ValueSet,
    decided: BTreeMap<ValueId, bool>,
    /// What is decided in the interior, and the opposite in all points that are so far from it or further, by signs as below.
    turns: Vec<(ValueId, bool, i64)>,
    /// What follows from other truth values.
    logic: Vec<(ValueId, Prim, Vec<ValueId>)>,
    /// The furthest positions before and after the axis' index.
    low: i64,
    high: i64,
}

impl<'u> Look<'u> {
    fn new(unit: &'u Unit<'u>, extent: Extent, reach: BTreeMap<ValueId, Reach>) -> Self {
        Self {
            unit,
            extent,
            reach,
            positions: ValueSet::new(),
            trusted: ValueSet::new(),
            decided: BTreeMap::new(),
            turns: Vec::new(),
            logic: Vec::new(),
            low: 0,
            high: 0,
        }
    }

    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let reach = match &stmt.op {
                KernelOp::Prim(prim, args) => self.prim(*prim, args, stmt.results[0]),
                KernelOp::For { extent, body, .. } => {
                    if let Extent::Const(length @ 1..) = self.unit.resolve(*extent)
                        && let Ok(length) = i64::try_from(length)
                        && let Some(reach) = Reach::checked(Base::Zero, 0, length - 1)
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

    /// What is known in all points on one side of the interior, which begins so far from that end, with what is known everywhere.
    fn beyond(&self, far: i64, everywhere: &BTreeMap<ValueId, bool>) -> BTreeMap<ValueId, bool> {
        let turned = self
            .turns
            .iter()
            .filter(|(_, _, at)| far != 0 && *at == far);
        let mut known = everywhere.clone();
        known.extend(turned.map(|&(value, truth, _)| (value, truth)));
        for (result, prim, args) in &self.logic {
            if let Some(truth) = follows(*prim, args, &known) {
                known.insert(*result, truth);
            }
        }
        known
    }

    /// What is compared with: of an axis of constant length, numbers in its second half are counted from that.
    fn near_end(&self, reach: Reach) -> Reach {
        match (reach.from, self.extent) {
            (Base::Zero, Extent::Const(length)) if reach.low.unsigned_abs() > length / 2 => {
                let length = i64::try_from(length).unwrap_or(i64::MAX);
                Reach {
                    from: Base::Length,
                    low: reach.low.saturating_sub(length),
                    high: reach.high.saturating_sub(length),
                }
            }
            _ => reach,
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ValueId], result: ValueId) -> Option<Reach> {
        // A constant may stand anywhere: in front of the loop, or of the kernel; so may what is made of a length.
        let of = |value: &ValueId| {
            let known = |from, k| Reach::checked(from, k, k);
            if let Some(number) = self.unit.integer(*value) {
                return known(Base::Zero, number);
            }
            match self.unit.counted_from(*value) {
                Some((extent, number)) if extent == self.extent => known(Base::Length, number),
                _ => self.reach.get(value).copied(),
            }
        };
        let first = of(&args[0]);
        let decided = match prim {
            Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne => {
                let (x, y) = (first?, of(&args[1])?);
                let (x, y) = (self.near_end(x), self.near_end(y));
                let decided = decide(prim, x, y).or_else(|| decide(turned(prim), y, x));
                if let Some((truth, low, high)) = decided {
                    (self.low, self.high) = (self.low.min(low), self.high.max(high));
                    let is_one = x.low == x.high && y.low == y.high;
                    // What is equal at one point is not at the next.
                    let stays = !matches!(prim, Prim::Eq | Prim::Ne) || high - low == 1;
                    if is_one && stays {
                        self.turns.push((result, !truth, low + high));
                    }
                }
                decided.map(|(truth, ..)| truth)
            }
            Prim::And | Prim::Or | Prim::Not => {
                self.logic.push((result, prim, args.to_vec()));
                follows(prim, args, &self.decided)
            }
            _ => None,
        };
        if let Some(truth) = decided {
            self.decided.insert(result, truth);
            return None;
        }
        match prim {
            Prim::Wrap(extent)
            | Prim::ClampTo(extent)
            | Prim::Mirror(extent)
            | Prim::Check(extent)
            | Prim::InRange(extent) => {
                let reach = first.filter(|reach| reach.from == Base::Index)?;
                if self.unit.resolve(extent) == self.extent {
                    self.low = self.low.min(reach.low);
                    self.high = self.high.max(reach.high);
                    if prim == Prim::InRange(extent) {
                        if reach.low == reach.high {
                            self.turns.push((result, false, reach.low));
                        }
                        self.decided.insert(result, true);
                    } else {
                        self.positions.insert(result);
                    }
                }
                None
            }
            Prim::Trust(extent) => {
                let reach = moved(self.unit, prim, args, result, of)?;
                if reach.from == Base::Index && self.unit.resolve(extent) == self.extent {
                    self.trusted.insert(result);
                }
                Some(reach)
            }
            _ => moved(self.unit, prim, args, result, of),
        }
    }
}

/// Where arithmetic leads from what is known of its operands.
pub(super) fn moved(
    unit: &Unit<'_>,
    prim: Prim,
    args: &[ValueId],
    result: ValueId,
    of: impl Fn(&ValueId) -> Option<Reach>,
) -> Option<Reach> {
    let x = of(args.first()?)?;
    match prim {
        // Types that hold every position: the unsigned one those that are never negative.
        Prim::Cast(Scalar::I64) | Prim::Trust(_) => Some(x),
        Prim::Cast(Scalar::Usize) => Some(x).filter(|reach| reach.low >= 0),
        // A sum of two positions near the index is twice as far, and no neighbour.
        Prim::Add if matches!(unit.scalar(result), Scalar::I64 | Scalar::Usize) => {
            let y = of(&args[1])?;
            let from = match (x.from, y.from) {
                (from, Base::Zero) | (Base::Zero, from) => from,
                _ => return None,
            };
            Reach::checked(from, x.low + y.low, x.high + y.high)
        }
        // Differences may be negative, which only the signed type can say.
        Prim::Sub if unit.scalar(result) == Scalar::I64 => {
            let y = of(&args[1]).filter(|y| y.from == Base::Zero)?;
            Reach::checked(x.from, x.low - y.high, x.high - y.low)
        }
        // Everything else leads away from the index.
        _ => None,
    }
}

/// What a logical operation gives, as far as its operands are known.
fn follows(prim: Prim, args: &[ValueId], known: &BTreeMap<ValueId, bool>) -> Option<bool> {
    let truth = |value: &ValueId| known.get(value).copied();
    // One operand decides, if it is the one that the other cannot change.
    let both = |decisive: bool| match (truth(&args[0]), truth(&args[1])) {
        (Some(x), Some(y)) => Some(if x == decisive { x } else { y }),
        (Some(x), None) | (None, Some(x)) => (x == decisive).then_some(x),
        (None, None) => None,
    };
    match prim {
        Prim::And => both(false),
        Prim::Or => both(true),
        Prim::Not => truth(&args[0]).map(|truth| !truth),
        _ => None,
    }
}

/// A comparison with its operands exchanged.
fn turned(prim: Prim) -> Prim {
    match prim {
        Prim::Lt => Prim::Gt,
        Prim::Le => Prim::Ge,
        Prim::Gt => Prim::Lt,
        Prim::Ge => Prim::Le,
        other => other,
    }
}

/// What a comparison of something near the index with something near an end is in the interior, and how far that must lie from the first and the last point.
fn decide(prim: Prim, x: Reach, y: Reach) -> Option<(bool, i64, i64)> {
    // Away from the beginning the index is larger, away from the end smaller. By how much counts where both may be equal.
    let (larger, equal) = match (x.from, y.from) {
        (Base::Index, Base::Zero) => (true, y.high - x.low),
        (Base::Index, Base::Length) => (false, x.high - y.low),
        _ => return None,
    };
    let (truth, strictly) = match prim {
        Prim::Lt => (!larger, !larger),
        Prim::Ge => (larger, !larger),
        Prim::Gt => (larger, larger),
        Prim::Le => (!larger, larger),
        Prim::Eq => (false, true),
        Prim::Ne => (true, true),
        _ => return None,
    };
    // Counted from the last point, a position of the length itself is one further already.
    let far = equal + i64::from(strictly) - i64::from(!larger);
    if far > CLOSE {
        return None;
    }
    let far = far.max(0);
    Some(if larger {
        (truth, -far, 0)
    } else {
        (truth, 0, far)
    })
}

/// A block without the branches that are decided.
pub(super) fn pruned(block: &Block<Kernels>, decided: &BTreeMap<ValueId, bool>) -> Block<Kernels> {
    let mut stmts = Vec::new();
    for stmt in &block.stmts {
        if let KernelOp::If {
            cond,
            then,
            otherwise,
        } = &stmt.op
            && let Some(&truth) = decided.get(cond)
        {
            let taken = if truth { then } else { otherwise };
            stmts.extend(pruned(taken, decided).stmts);
            continue;
        }
        let mut stmt = stmt.clone();
        for inner in stmt.op.blocks_mut() {
            *inner = pruned(inner, decided);
        }
        stmts.push(stmt);
    }
    Block {
        params: block.params.clone(),
        stmts,
        results: block.results.clone(),
    }
}

/// The three loops. `part` emits one of them, from one number to another: whether it is the interior, and what is known there.
pub(super) fn emit(
    unit: &Unit<'_>,
    plan: &Plan,
    index: ValueId,
    extent: Extent,
    (start, stop): (&TokenStream, &TokenStream),
    mut part: impl FnMut(bool, &BTreeMap<ValueId, bool>, &TokenStream, &TokenStream) -> TokenStream,
) -> TokenStream {
    let name = unit.names.value(index);
    let inner = ident(&format!("{name}_inner"));
    let outer = ident(&format!("{name}_outer"));
    let (before, after) = (usize_literal(plan.before), usize_literal(plan.after));
    let length = unit.extent(extent);
    let (inner_tokens, outer_tokens) = (tokens!(#inner), tokens!(#outer));
    let first = part(false, &plan.at_beginning, start, &inner_tokens);
    let middle = part(true, &plan.decided, &inner_tokens, &outer_tokens);
    let last = part(false, &plan.at_end, &outer_tokens, stop);
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
        plan(&unit, body.params[0], body, extent, &BTreeMap::new())
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
    fn comparisons_with_the_ends_are_decided() {
        let near = |from, low, high| Reach { from, low, high };
        // By trying: in the interior all positions compare as it says, and one point further out some do not.
        let holds = |prim, a: i64, b: i64| match prim {
            Prim::Lt => a < b,
            Prim::Le => a <= b,
            Prim::Gt => a > b,
            Prim::Ge => a >= b,
            Prim::Eq => a == b,
            _ => a != b,
        };
        let length = 40;
        for prim in [Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge, Prim::Eq, Prim::Ne] {
            for (low, high) in [(0, 0), (-2, -2), (1, 3)] {
                for k in -3..4 {
                    for end in [Base::Zero, Base::Length] {
                        let (x, y) = (near(Base::Index, low, high), near(end, k, k));
                        let (truth, first, last) = decide(prim, x, y).expect("it is close");
                        let value = if end == Base::Length { length + k } else { k };
                        let all = |i: i64| (low..=high).all(|d| holds(prim, i + d, value) == truth);
                        assert!(
                            (-first..length - last).all(all),
                            "{prim:?} {low} {high} {k}"
                        );
                        if first < 0 {
                            assert!(!all(-first - 1), "{prim:?} {low} {high} {k}");
                        }
                        if last > 0 {
                            assert!(!all(length - last), "{prim:?} {low} {high} {k}");
                        }
                    }
                }
            }
        }
        let far = near(Base::Zero, CLOSE + 1, CLOSE + 1);
        assert_eq!(decide(Prim::Lt, near(Base::Index, 0, 0), far), None);
    }

    #[test]
    fn what_the_furthest_comparisons_are_about_is_decided_beyond_the_interior_too() {
        let text = "fn f(x: f64[N]) -> bool[N] {
            %0 = alloc bool[N]
            %1 = size N
            par %2: N {
              %3 = cast usize %2 %4 = const 0usize %5 = const 1usize %6 = const 2usize
              %7 = gt %3, %4 %8 = add %3, %5 %9 = lt %8, %1
              %10 = and %7, %9 %11 = or %7, %9 %12 = not %9
              %13 = cast i64 %2 %14 = const 1i64 %15 = sub %13, %14 %16 = in_range N %15
              %17 = lt %3, %6
              store %0[%2], %10
            }
            return %0
        }";
        let known = |text: &str| {
            let program = crate::ir::parse::<Kernels>(text).unwrap_or_else(|e| panic!("{e}"));
            let plan = planned(&program).expect("an interior");
            let known = |at: &BTreeMap<ValueId, bool>| -> Vec<_> {
                let stmts = program.body.stmts.iter().flat_map(|stmt| stmt.op.blocks());
                let results = stmts
                    .flat_map(|block| &block.stmts)
                    .flat_map(|stmt| &stmt.results);
                results
                    .enumerate()
                    .filter_map(|(number, value)| Some((number, *at.get(value)?)))
                    .collect()
            };
            (
                plan.before,
                plan.after,
                known(&plan.at_beginning),
                known(&plan.at_end),
            )
        };
        // Numbers of statements in the kernel. The first is not inside, the last neither; and the last is not one of the first two.
        let near = text.replace("%17 = lt %3, %6", "");
        let (before, after, beginning, end) = known(&near);
        assert_eq!((before, after), (1, 1));
        assert_eq!(beginning, [(4, false), (7, false), (13, false)]);
        assert_eq!(end, [(6, false), (7, false), (9, true)]);
        // Of two points nothing is known that is different for one of them.
        let (before, after, beginning, end) = known(text);
        assert_eq!((before, after), (2, 1));
        assert_eq!(beginning, [(14, true)]);
        assert_eq!(end, [(6, false), (7, false), (9, true)]);
    }

    /// What is emitted for a kernel over `extents`, with indices `%2` and so on.
    fn emitted(extents: &str, body: &str) -> String {
        let text = format!(
            "fn f(x: f64[N, N], w: f64[3]) -> f64[N, N] {{
               %0 = alloc f64[N, N] %1 = const 0.0f64
               par {extents} {{ {body} }}
               return %0
             }}"
        );
        let program = crate::ir::parse::<Kernels>(&text).unwrap_or_else(|e| panic!("{e}"));
        crate::emit::host::host(&Unit::of(&program), &[]).to_string()
    }

    /// A window of three along the axis of an index.
    fn window(index: &str, load: &str) -> String {
        format!(
            "%4 = var %1
             for %5: 3 {{
               %6 = cast i64 {index} %7 = cast i64 %5 %8 = add %6, %7 %9 = const 1i64 %10 = sub %8, %9 %11 = clamp_to N %10
               %12 = load {load} combine add %4[], %12
             }}
             %13 = get %4 store %0[%2, %3], %13"
        )
    }

    #[test]
    fn loops_of_a_point_are_cut_too() {
        let inner = format!("for %3: N {{ {} }}", window("%3", "x[%2, %11]"));
        let text = emitted("%2: N", &inner);
        // In the interior nothing is clamped.
        assert_eq!(text.matches("clamp (").count(), 2, "{text}");
        // What is carried on keeps a loop from becoming vectors anyway.
        let carried = inner.replace("combine", "set %14, %12 combine");
        let text = emitted("%2: N", &format!("%14 = var %1 {carried}"));
        assert_eq!(text.matches("clamp (").count(), 1, "{text}");
    }

    #[test]
    fn rows_in_the_interior_do_not_ask_about_neighbouring_rows() {
        let text = emitted("%2: N, %3: N", &window("%2", "x[%11, %3]"));
        let asked = "if i3 >= 1usize && i3 < n . saturating_sub (1usize) {";
        assert!(text.contains(asked), "{text}");
        assert_eq!(text.matches("clamp (").count(), 1, "{text}");
        // What is the same for all of a row is computed once for it.
        let text = emitted(
            "%2: N, %3: N",
            "%6 = cast i64 %2 %8 = clamp_to N %6 %12 = load x[%8, %3] store %0[%2, %3], %12",
        );
        assert!(!text.contains("if i"), "{text}");
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

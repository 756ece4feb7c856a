//! A parallel axis in three parts: near its beginning, near its end, and the interior, where
//! neighbours need no policy.
//!
//! `u[(i - 1).wrap()]` asks at every point whether `i - 1` is before the first. Only at the first
//! can it be, so the loop is cut where the answer changes:
//!
//! ```text
//! for i in start..stop {                    for i in start..inner { … wrap(i - 1, n) … wrap(i + 1, n) … }
//!     … wrap(i - 1, n) …           ▶        for i in inner..outer { … i - 1 … i + 1 … }
//!     … wrap(i + 1, n) …                    for i in outer..stop { … wrap(i - 1, n) … wrap(i + 1, n) … }
//! }
//! ```
//!
//! with `inner` at least 1 and `outer` at most `n - 1`. The middle loop has no branch left and
//! becomes vector instructions.
//!
//! Comparisons with the axis' ends are decided likewise: `0 < i` is true but at the first point,
//! `i == n - 1` false but at the last. What they guard is no branch in the interior; and none near
//! the end that the furthest of them are about, where they are the opposite.
//!
//! Positions are told apart by how far they lie from the axis' own index: a constant, or an
//! interval if an inner loop of constant length moves them. The positions of the interior are
//! indices by that arithmetic alone. If they lie further away, by what is known when the loop
//! begins, or on another axis, then so is where the interior begins and ends ([`far`]), and what is
//! before it and after it is one text:
//!
//! ```text
//!                                           let inner = nearest(0 - lag); let outer = nearest(n - lag);
//! for t in 0..stop {                        for part in 0..3 {
//!     … in_range(t + lag, n) …       ▶          let (start, stop) = [(0, inner), (inner, outer), (outer, stop)][part];
//! }                                             if part == 1 { for t in start..stop { … true … } } else { for t in start..stop { … in_range(t + lag, n) … } }
//!                                           }
//! ```
//!
//! Checks that are asked at every point hold for all points of a loop, or one of them panics. So
//! whether they hold is asked in front of a loop that does not ask, and what panics is done one
//! point after the other.

mod far;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::ToTokens;

use self::far::{Ends, Far};
use super::names::ident;
use super::tokens;
use super::unit::{Unit, usize_literal};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
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
    /// Where else it ends.
    ends: Ends,
    /// Where some point is not in range if the loop goes on beyond it.
    sure: Ends,
}

/// What is known where a loop is emitted.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// What makes an index of a position that is one.
    pub(super) positions: ValueSet,
    /// Truth values.
    pub(super) decided: BTreeMap<ValueId, bool>,
}

/// Whether and where a loop over `extent` is cut. `far`: by what is known only when it begins, too.
pub(super) fn plan(
    unit: &Unit<'_>,
    index: ValueId,
    body: &Block<Kernels>,
    extent: Extent,
    known: &Known,
    far: bool,
) -> Option<Plan> {
    plan_behind(unit, index, &Block::default(), body, extent, known, far)
}

/// The same of the part of a body that comes after another, which stays as it is.
fn plan_behind(
    unit: &Unit<'_>,
    index: ValueId,
    first: &Block<Kernels>,
    body: &Block<Kernels>,
    extent: Extent,
    known: &Known,
    far: bool,
) -> Option<Plan> {
    let extent = unit.resolve(extent);
    if matches!(extent, Extent::Const(length) if length < SHORT) {
        return None;
    }
    let mut first_look = Look::new(unit, extent, BTreeMap::from([(index, Reach::INDEX)]));
    if far {
        let mut bound = ValueSet::new();
        far::bound(first, &mut bound);
        far::bound(body, &mut bound);
        first_look.bound = Some(bound);
    }
    first_look.block(first);
    let mut look = Look::new(unit, extent, first_look.inside);
    look.bound = first_look.bound;
    look.decided.clone_from(&known.decided);
    look.known = Some(known);
    look.block(body);
    (!look.positions.is_empty() || look.decided.len() > known.decided.len()).then(|| Plan {
        at_beginning: look.beyond(look.low, &known.decided),
        at_end: look.beyond(look.high, &known.decided),
        positions: look.positions.iter().chain(&look.trusted).collect(),
        decided: look.decided,
        before: look.low.unsigned_abs(),
        after: look.high.unsigned_abs(),
        ends: look.ends,
        sure: look.sure,
    })
}

/// What is known of the points of rows that are interior along the axes of the rows.
pub(super) struct Inner {
    /// A row is if all of these hold.
    pub(super) conditions: Vec<TokenStream>,
    pub(super) known: Known,
    /// What is emitted where not.
    pub(super) others: Others,
}

/// Rows outside of an interior.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Others {
    /// None, unless one of their points panics.
    None,
    /// A few.
    Few,
    /// It may be many.
    Many,
}

/// Whether rows in the interior are worth a loop of their own: where their points, which come after
/// what is computed for a row, ask about neighbouring rows.
pub(super) fn rows(
    unit: &Unit<'_>,
    axes: &[(ValueId, Extent)],
    row: &Block<Kernels>,
    body: &Block<Kernels>,
) -> Option<Inner> {
    let mut inner = Inner {
        conditions: Vec::new(),
        known: Known::default(),
        others: Others::None,
    };
    for &(index, extent) in axes {
        let Some(plan) = plan_behind(unit, index, row, body, extent, &Known::default(), true)
        else {
            continue;
        };
        let (name, length) = (unit.names.value(index), unit.extent(extent));
        let (before, after) = (usize_literal(plan.before), usize_literal(plan.after));
        let mut others = Others::None;
        let conditions = &mut inner.conditions;
        if plan.before + plan.after > 0 {
            conditions.push(tokens!(#name >= #before && #name < #length.saturating_sub(#after)));
            others = Others::Few;
        }
        for ends in [&plan.ends, &plan.sure] {
            let at = tokens!((#name as i128));
            conditions.extend(ends.from(unit).map(|from| tokens!(#at >= #from)));
            conditions.extend(ends.below(unit).map(|below| tokens!(#at < #below)));
        }
        if !plan.ends.is_empty() {
            others = Others::Many;
        }
        inner.others = inner.others.max(others);
        inner.known.positions.extend(&plan.positions);
        inner.known.decided.extend(plan.decided);
    }
    (!inner.conditions.is_empty()).then_some(inner)
}

/// Whether a loop at a point of a kernel is cut, too: it hands nothing from one iteration to the
/// next that it computes with.
pub(super) fn is_cut(body: &Block<Kernels>) -> bool {
    fn look(block: &Block<Kernels>, bound: &mut ValueSet) -> bool {
        block.stmts.iter().all(|stmt| {
            bound.extend(&stmt.results);
            let fits = match &stmt.op {
                KernelOp::Set { place, .. } => bound.contains(place),
                KernelOp::While { .. } | KernelOp::Own(Par { .. }) | KernelOp::Contract { .. } => {
                    false
                }
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

/// What is known of an integer: it lies in `low..=high`, counted from somewhere, and further away
/// by sums of what is known before the loop.
#[derive(Clone)]
pub(super) struct Reach {
    pub(super) from: Base,
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) far: Far,
}

impl Reach {
    /// The axis' index itself.
    pub(super) const INDEX: Self = Self {
        from: Base::Index,
        low: 0,
        high: 0,
        far: Far::NONE,
    };

    /// So far from zero.
    fn of(far: Far) -> Self {
        Self {
            from: Base::Zero,
            far,
            ..Self::INDEX
        }
    }

    pub(super) fn checked(from: Base, low: i64, high: i64) -> Option<Self> {
        Self::within(from, low, high, Far::NONE)
    }

    fn within(from: Base, low: i64, high: i64, far: Far) -> Option<Self> {
        let reach = Self {
            from,
            low,
            high,
            far,
        };
        (low >= -FAR && high <= FAR).then_some(reach)
    }

    fn is_near(&self) -> bool {
        self.far.is_none()
    }
}

struct Look<'u> {
    unit: &'u Unit<'u>,
    extent: Extent,
    /// What is known of numbers of the loop.
    inside: BTreeMap<ValueId, Reach>,
    positions: ValueSet,
    /// Positions that are known to be indices everywhere.
    trusted: ValueSet,
    decided: BTreeMap<ValueId, bool>,
    /// What is decided in the interior, and the opposite in all points that are so far from it or
    /// further, by signs as below.
    turns: Vec<(ValueId, bool, i64)>,
    /// What follows from other truth values.
    logic: Vec<(ValueId, Prim, Vec<ValueId>)>,
    /// The furthest positions before and after the axis' index.
    low: i64,
    high: i64,
    /// What is bound in the loop, if positions may be further away.
    bound: Option<ValueSet>,
    /// Where those end the interior.
    ends: Ends,
    /// And those that are indices wherever nothing panics.
    sure: Ends,
    /// How many branches are open that points take or not.
    branches: u32,
    /// What needs no interior.
    known: Option<&'u Known>,
}

impl<'u> Look<'u> {
    fn new(unit: &'u Unit<'u>, extent: Extent, inside: BTreeMap<ValueId, Reach>) -> Self {
        Self {
            unit,
            extent,
            inside,
            positions: ValueSet::new(),
            trusted: ValueSet::new(),
            decided: BTreeMap::new(),
            turns: Vec::new(),
            logic: Vec::new(),
            low: 0,
            high: 0,
            bound: None,
            ends: Ends::default(),
            sure: Ends::default(),
            branches: 0,
            known: None,
        }
    }

    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let reach = match &stmt.op {
                KernelOp::Prim(prim, args) => self.prim(*prim, args, stmt.results[0]),
                KernelOp::For { extent, body, .. } => {
                    let reach = match self.unit.resolve(*extent) {
                        Extent::Const(length @ 1..) => i64::try_from(length - 1)
                            .ok()
                            .and_then(|last| Reach::checked(Base::Zero, 0, last)),
                        Extent::Const(0) => None,
                        extent @ (Extent::Size(_) | Extent::Value(_)) => self.index_inside(extent),
                    };
                    self.inside
                        .extend(reach.map(|reach| (body.params[0], reach)));
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
                | KernelOp::Own(Par { .. })
                | KernelOp::Assert { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. } => None,
            };
            if let (Some(reach), Some(&result)) = (reach, stmt.results.first()) {
                self.inside.insert(result, reach);
            }
            // What all points of the loop decide alike is most often that there is something at all.
            let branches = match &stmt.op {
                KernelOp::If { cond, .. } => {
                    self.bound.as_ref().is_some_and(|all| all.contains(cond))
                }
                KernelOp::While { .. } => true,
                _ => false,
            };
            self.branches += u32::from(branches);
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
            self.branches -= u32::from(branches);
        }
    }

    /// Whether a position is known to be one, or not to be one, without an interior.
    fn is_known(&self, result: ValueId) -> bool {
        self.known.is_some_and(|known| {
            known.positions.contains(&result) || known.decided.contains_key(&result)
        })
    }

    /// What is known in all points on one side of the interior, which begins so far from that end,
    /// with what is known everywhere.
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

    /// What is compared with: of an axis of constant length, numbers in its second half are counted
    /// from that.
    fn near_end(&self, reach: &Reach) -> Reach {
        match (reach.from, self.extent) {
            (Base::Zero, Extent::Const(length)) if reach.low.unsigned_abs() > length / 2 => {
                let length = i64::try_from(length).unwrap_or(i64::MAX);
                Reach {
                    from: Base::Length,
                    low: reach.low.saturating_sub(length),
                    high: reach.high.saturating_sub(length),
                    far: Far::NONE,
                }
            }
            _ => reach.clone(),
        }
    }

    /// What is known of a number. A constant may stand anywhere: in front of the loop, or of the
    /// kernel; so may what is made of a length.
    fn reach(&self, value: ValueId) -> Option<Reach> {
        let known = |from, k| Reach::checked(from, k, k);
        if let Some(number) = self.unit.integer(value) {
            return known(Base::Zero, number);
        }
        match self.unit.counted_from(value) {
            Some((extent, number)) if extent == self.extent => known(Base::Length, number),
            _ => self
                .inside
                .get(&value)
                .cloned()
                .or_else(|| self.known_outside(value)),
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ValueId], result: ValueId) -> Option<Reach> {
        let decided = match prim {
            Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne => {
                let near = |value: ValueId| self.reach(value).filter(Reach::is_near);
                let (x, y) = (near(args[0])?, near(args[1])?);
                let (x, y) = (self.near_end(&x), self.near_end(&y));
                let decided = decide(prim, &x, &y).or_else(|| decide(turned(prim), &y, &x));
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
                let reach = self
                    .reach(args[0])
                    .filter(|reach| reach.from == Base::Index)?;
                if self.is_known(result) {
                    return None;
                }
                let own = self.unit.resolve(extent);
                if own == self.extent && reach.is_near() {
                    self.low = self.low.min(reach.low);
                    self.high = self.high.max(reach.high);
                    if prim == Prim::InRange(extent) && reach.low == reach.high {
                        self.turns.push((result, false, reach.low));
                    }
                } else {
                    let sure = prim == Prim::Check(extent) && self.branches == 0;
                    let ends = match sure {
                        true => &mut self.sure,
                        false => &mut self.ends,
                    };
                    if self.bound.is_none() || !ends.keep_in(&reach, own) {
                        return None;
                    }
                }
                if prim == Prim::InRange(extent) {
                    self.decided.insert(result, true);
                } else {
                    self.positions.insert(result);
                }
                None
            }
            Prim::Trust(_) => {
                let reach = moved(self.unit, prim, args, result, |value| self.reach(*value))?;
                if reach.from == Base::Index {
                    self.trusted.insert(result);
                }
                Some(reach)
            }
            _ => moved(self.unit, prim, args, result, |value| self.reach(*value)),
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
        Prim::Cast(Scalar::Usize) => {
            Some(x).filter(|reach| reach.low >= 0 && reach.far.is_natural(unit))
        }
        // A sum of two positions near the index is twice as far, and no neighbour.
        Prim::Add if matches!(unit.scalar(result), Scalar::I64 | Scalar::Usize) => {
            let y = of(&args[1])?;
            let from = match (x.from, y.from) {
                (from, Base::Zero) | (Base::Zero, from) => from,
                _ => return None,
            };
            let far = x.far.plus(&y.far)?;
            Reach::within(from, x.low + y.low, x.high + y.high, far)
        }
        // Differences may be negative, which only the signed type can say.
        Prim::Sub if unit.scalar(result) == Scalar::I64 => {
            let y = of(&args[1]).filter(|y| y.from == Base::Zero)?;
            let far = x.far.minus(&y.far)?;
            Reach::within(x.from, x.low - y.high, x.high - y.low, far)
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

/// What a comparison of something near the index with something near an end is in the interior, and
/// how far that must lie from the first and the last point.
fn decide(prim: Prim, x: &Reach, y: &Reach) -> Option<(bool, i64, i64)> {
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

/// Which part of a loop is emitted, and what is known in it.
pub(super) enum Part<'p> {
    Interior(&'p BTreeMap<ValueId, bool>),
    /// A few points near an end.
    Edge(&'p BTreeMap<ValueId, bool>),
    /// All that is not interior, which may be much.
    Outside,
}

/// The parts of a loop. `part` emits one of them, from one number to another.
pub(super) fn emit(
    unit: &Unit<'_>,
    plan: &Plan,
    index: ValueId,
    extent: Extent,
    (start, stop): (&TokenStream, &TokenStream),
    mut part: impl FnMut(Part<'_>, &TokenStream, &TokenStream) -> TokenStream,
) -> TokenStream {
    let name = unit.names.value(index);
    let of_index = |what: &str| ident(&format!("{name}_{what}")).into_token_stream();
    let (inner, outer) = (of_index("inner"), of_index("outer"));
    let (before, after) = (usize_literal(plan.before), usize_literal(plan.after));
    let length = unit.extent(extent);
    let (mut from, mut below) = (tokens!(#before), tokens!(#length.saturating_sub(#after)));
    for end in plan.ends.from(unit) {
        from = tokens!(max(#from, nearest(#end)));
    }
    for end in plan.ends.below(unit) {
        below = tokens!(min(#below, nearest(#end)));
    }
    let ends = tokens! {
        let #inner = min(#stop, max(#start, #from));
        let #outer = max(#inner, min(#stop, #below));
    };
    let parts = if !plan.ends.is_empty() {
        let (this, first, last) = (of_index("part"), of_index("begin"), of_index("end"));
        let middle = part(Part::Interior(&plan.decided), &first, &last);
        let outside = part(Part::Outside, &first, &last);
        tokens! {
            #ends
            for #this in 0usize..3usize {
                let (#first, #last) = match #this {
                    0usize => (#start, #inner),
                    1usize => (#inner, #outer),
                    _ => (#outer, #stop),
                };
                if #this == 1usize { #middle } else { #outside }
            }
        }
    } else if plan.before + plan.after > 0 {
        let first = part(Part::Edge(&plan.at_beginning), start, &inner);
        let middle = part(Part::Interior(&plan.decided), &inner, &outer);
        let last = part(Part::Edge(&plan.at_end), &outer, stop);
        tokens!(#ends #first #middle #last)
    } else {
        part(Part::Interior(&plan.decided), start, stop)
    };
    if plan.sure.is_empty() {
        return parts;
    }
    let from = plan
        .sure
        .from(unit)
        .map(|end| tokens!((#start as i128) >= #end));
    let below = plan
        .sure
        .below(unit)
        .map(|end| tokens!((#stop as i128) <= #end));
    let all: Vec<TokenStream> = from.chain(below).collect();
    let one_panics = part(Part::Edge(&BTreeMap::new()), start, stop);
    tokens!(if #(#all)&&* { #parts } else { #one_panics })
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
            KernelOp::Own(Par { extents, body, .. }) => Some((extents[0], body)),
            _ => None,
        });
        let (extent, body) = body.expect("a kernel");
        plan(&unit, body.params[0], body, extent, &Known::default(), true)
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
        let near = |from, low, high| Reach {
            from,
            ..Reach::checked(from, low, high).expect("it is near")
        };
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
                        let (truth, first, last) = decide(prim, &x, &y).expect("it is close");
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
        assert_eq!(decide(Prim::Lt, &near(Base::Index, 0, 0), &far), None);
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
        crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]))
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
    fn positions_on_another_axis_end_the_interior_where_that_ends() {
        let plan = planned(&shifted(-1.0, Prim::Wrap, |_| Extent::Const(100)));
        let plan = plan.expect("an interior");
        assert_eq!((plan.before, plan.after, plan.positions.len()), (0, 0, 1));
        assert!(!plan.ends.is_empty() && plan.sure.is_empty());
        // What is checked everywhere is in range, or something panics.
        let plan = planned(&shifted(-1.0, Prim::Check, |_| Extent::Const(100)));
        let plan = plan.expect("an interior");
        assert!(plan.ends.is_empty() && !plan.sure.is_empty());
    }

    #[test]
    fn far_positions_are_left_alone() {
        assert_eq!(planned(&shifted(1e9, Prim::Wrap, |n| n)), None);
    }
}

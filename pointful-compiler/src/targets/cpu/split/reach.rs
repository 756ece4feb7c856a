//! How far positions lie from an axis' own index, and what that decides away from its ends.

use std::collections::BTreeMap;

use super::symbolic::{Ends, Far};
use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Elem, Extent, Lit, Operation, Program, Scalar, Stage, ValueId, ValueSet};
use crate::ops::Prim;

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
    pub(super) decided: BTreeMap<ValueId, bool>,
    /// Those that are the same in all of what is before it,
    pub(super) at_beginning: BTreeMap<ValueId, bool>,
    /// and after it.
    pub(super) at_end: BTreeMap<ValueId, bool>,
    /// How many points at the beginning are no interior.
    pub(super) before: i64,
    /// How many at the end.
    pub(super) after: i64,
    /// Where else it ends.
    pub(super) ends: Ends,
    /// Where some point is not in range if the loop goes on beyond it.
    pub(super) sure: Ends,
    /// What is outside of the interior that the loop itself asks for.
    pub(super) others: Others,
}

/// What is outside of an interior.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Others {
    /// Nothing, unless one of the points panics.
    Panic,
    /// A few places.
    Few,
    /// There may be many.
    Many,
}

/// What is looked for in a loop.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Looks {
    /// What is decided away from the ends of its axis,
    Near,
    /// and in an interior of which more is known only when it begins.
    Far,
    /// Checks that no iteration is without, and nothing else.
    Checks,
}

/// Whether and where a loop is cut, of a body that comes after another, which stays as it is. What
/// that one finds out and the body asks for is decided in the interior as well.
pub(super) fn plan_behind(
    program: &Program<Cpu>,
    numbers: &Numbers,
    (index, extent): (ValueId, Extent),
    first: &Block<Cpu>,
    body: &Block<Cpu>,
    looks: Looks,
    short: u64,
) -> Option<Plan> {
    let extent = numbers.resolve(extent);
    if matches!(extent, Extent::Const(length) if length < short) {
        return None;
    }
    let inside = BTreeMap::from([(index, Reach::INDEX)]);
    let mut first_look = Look::new(program, numbers, extent, inside);
    first_look.checks_only = looks == Looks::Checks;
    if looks != Looks::Near {
        let mut bound = first.bound();
        bound.extend(&body.bound());
        first_look.bound = Some(bound);
    }
    first_look.asked = Some(truths(first, body));
    first_look.block(first);
    let mut look = Look::new(program, numbers, extent, first_look.inside);
    look.bound = first_look.bound;
    look.checks_only = first_look.checks_only;
    look.given = first_look.given;
    look.decided.clone_from(&first_look.decided);
    look.block(body);
    look.decided
        .retain(|value, _| !look.given.contains_key(value));
    let found = |value: &ValueId| !first_look.decided.contains_key(value);
    if look.positions.is_empty() && !look.decided.keys().any(found) {
        return None;
    }
    let told = !look.decided.keys().all(found);
    #[cfg(test)]
    if told {
        crate::testing::entered::enter(&crate::testing::entered::TOLD);
    }
    let others = match look.ends.is_empty() {
        false => Others::Many,
        true if (look.low, look.high) != (0, 0) || told => Others::Few,
        true => Others::Panic,
    };
    look.low = look.low.min(first_look.low);
    look.high = look.high.max(first_look.high);
    look.ends.extend(first_look.ends);
    Some(Plan {
        others,
        at_beginning: look.beyond(look.low),
        at_end: look.beyond(look.high),
        positions: look.positions,
        decided: look.decided,
        before: -look.low,
        after: look.high,
        ends: look.ends,
        sure: look.sure,
    })
}

/// The truth values of a block that another asks for, and those that they follow from.
fn truths(first: &Block<Cpu>, body: &Block<Cpu>) -> ValueSet {
    if first.stmts.is_empty() {
        return ValueSet::new();
    }
    let mut asked: ValueSet = body.free().into_iter().collect();
    for stmt in first.stmts.iter().rev() {
        if let CpuOp::Prim(Prim::And | Prim::Or | Prim::Not, args) = &stmt.op
            && asked.contains(&stmt.results[0])
        {
            asked.extend(args);
        }
    }
    asked
}

/// What a number is counted from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Base {
    Zero,
    /// The axis' index.
    Index,
    /// The axis' length.
    Length,
}

/// What is known of an integer: it lies in `low..=high`, counted from somewhere, and further away
/// by sums of what is known before the loop.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub(crate) from: Base,
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(super) far: Far,
    /// Whether it is that up to multiples of 2⁶⁴: a difference of unsigned numbers.
    pub(crate) wrapped: bool,
}

impl Reach {
    /// The axis' index itself.
    pub(crate) const INDEX: Self = Self {
        from: Base::Index,
        low: 0,
        high: 0,
        far: Far::NONE,
        wrapped: false,
    };

    /// So far from zero.
    fn of(far: Far) -> Self {
        Self {
            from: Base::Zero,
            far,
            ..Self::INDEX
        }
    }

    pub(crate) fn checked(from: Base, low: i64, high: i64) -> Option<Self> {
        Self::within(from, low, high, Far::NONE)
    }

    fn within(from: Base, low: i64, high: i64, far: Far) -> Option<Self> {
        let reach = Self {
            from,
            low,
            high,
            far,
            wrapped: false,
        };
        (low >= -FAR && high <= FAR).then_some(reach)
    }

    fn is_near(&self) -> bool {
        self.far.is_none()
    }
}

struct Look<'p> {
    program: &'p Program<Cpu>,
    numbers: &'p Numbers,
    extent: Extent,
    /// What is known of numbers of the loop.
    inside: BTreeMap<ValueId, Reach>,
    positions: ValueSet,
    decided: BTreeMap<ValueId, bool>,
    /// Truth values that are constants: what is known of rows.
    given: BTreeMap<ValueId, bool>,
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
    /// Whether checks are looked for, and nothing else.
    checks_only: bool,
    /// The truth values that are decided, if those are not all: positions then stay as they are.
    asked: Option<ValueSet>,
}

impl<'p> Look<'p> {
    fn new(
        program: &'p Program<Cpu>,
        numbers: &'p Numbers,
        extent: Extent,
        inside: BTreeMap<ValueId, Reach>,
    ) -> Self {
        Self {
            program,
            numbers,
            extent,
            inside,
            positions: ValueSet::new(),
            decided: BTreeMap::new(),
            given: BTreeMap::new(),
            turns: Vec::new(),
            logic: Vec::new(),
            low: 0,
            high: 0,
            bound: None,
            ends: Ends::default(),
            sure: Ends::default(),
            branches: 0,
            checks_only: false,
            asked: None,
        }
    }

    fn block(&mut self, block: &Block<Cpu>) {
        for stmt in &block.stmts {
            let reach = match &stmt.op {
                CpuOp::Prim(prim, args) => self.prim(*prim, args, stmt.results[0]),
                CpuOp::For { extent, body, .. } => {
                    let reach = self.index_of(*extent);
                    self.inside
                        .extend(reach.map(|reach| (body.params[0], reach)));
                    None
                }
                CpuOp::Own(Own::Range { from, body, .. } | Own::Strips { from, body, .. }) => {
                    let reach = self.program.elem(*from).extent();
                    let reach = reach.and_then(|extent| self.index_of(extent));
                    self.inside
                        .extend(reach.map(|reach| (body.params[0], reach)));
                    None
                }
                CpuOp::Const(Lit::Bool(truth)) => {
                    self.decided.insert(stmt.results[0], *truth);
                    self.given.insert(stmt.results[0], *truth);
                    None
                }
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Select(..)
                | CpuOp::Alloc { .. }
                | CpuOp::Copy(_)
                | CpuOp::Load { .. }
                | CpuOp::Store { .. }
                | CpuOp::Combine { .. }
                | CpuOp::Var(_)
                | CpuOp::Get(_)
                | CpuOp::Set { .. }
                | CpuOp::Swap(..)
                | CpuOp::Contract { .. }
                | CpuOp::Own(
                    Own::Par(_)
                    | Own::Tile(_)
                    | Own::Transpose { .. }
                    | Own::Bound { .. }
                    | Own::Lanes { .. }
                    | Own::Fold { .. }
                    | Own::ArgCombine { .. }
                    | Own::ArgFold { .. }
                    | Own::Multiversion(_),
                )
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. } => None,
            };
            if let (Some(reach), Some(&result)) = (reach, stmt.results.first()) {
                self.inside.insert(result, reach);
            }
            // What all points of the loop decide alike is most often that there is something at all.
            let branches = match &stmt.op {
                CpuOp::If { cond, .. } => self.bound.as_ref().is_some_and(|all| all.contains(cond)),
                CpuOp::While { .. } => true,
                _ => false,
            };
            self.branches += u32::from(branches);
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
            self.branches -= u32::from(branches);
        }
    }

    /// What is known of the index of a loop inside.
    fn index_of(&self, extent: Extent) -> Option<Reach> {
        match self.numbers.resolve(extent) {
            Extent::Const(length @ 1..) => {
                let last = i64::try_from(length - 1).ok()?;
                Reach::checked(Base::Zero, 0, last)
            }
            Extent::Const(0) => None,
            extent @ (Extent::Size(_) | Extent::Value(_)) => {
                // What goes through the same axis is no distance.
                (extent != self.extent && self.is_known_before(extent)).then(|| Reach {
                    high: -1,
                    ..Reach::of(Far::up_to(extent))
                })
            }
        }
    }

    /// Whether an extent is known when the loop begins, and asked for.
    fn is_known_before(&self, extent: Extent) -> bool {
        self.bound.as_ref().is_some_and(|bound| match extent {
            Extent::Value(value) => !bound.contains(&value),
            Extent::Const(_) | Extent::Size(_) => true,
        })
    }

    /// What is known in all points on one side of the interior, which begins so far from that end.
    fn beyond(&self, far: i64) -> BTreeMap<ValueId, bool> {
        let turned = self
            .turns
            .iter()
            .filter(|(_, _, at)| far != 0 && *at == far);
        let mut known = self.given.clone();
        known.extend(turned.map(|&(value, truth, _)| (value, truth)));
        for (result, prim, args) in &self.logic {
            if let Some(truth) = follows(*prim, args, &known) {
                known.insert(*result, truth);
            }
        }
        known.retain(|value, _| !self.given.contains_key(value));
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
                    ..Reach::INDEX
                }
            }
            _ => reach.clone(),
        }
    }

    /// What is known of a number. A constant may stand anywhere: in front of the loop, or of the
    /// kernel; so may what is made of a length.
    fn reach(&self, value: ValueId) -> Option<Reach> {
        let known = |from, k| Reach::checked(from, k, k);
        if let Some(number) = self.numbers.integer(value) {
            return known(Base::Zero, number);
        }
        match self.numbers.counted_from(value) {
            Some((extent, number)) if extent == self.extent => known(Base::Length, number),
            _ => self
                .inside
                .get(&value)
                .cloned()
                .or_else(|| self.known_outside(value)),
        }
    }

    /// What is known of a number that comes from outside of the loop, of which nothing else is.
    fn known_outside(&self, value: ValueId) -> Option<Reach> {
        let ty = self.program.ty(value);
        let whole = Elem::Scalar(Scalar::I64) == ty.elem || ty.elem == Elem::USIZE;
        let known = whole && ty.rank() == 0 && !self.bound.as_ref()?.contains(&value);
        known.then(|| Reach::of(Far::by(value)))
    }

    fn prim(&mut self, prim: Prim, args: &[ValueId], result: ValueId) -> Option<Reach> {
        let is_asked = (self.asked.as_ref()).is_none_or(|asked| asked.contains(&result));
        let decided = match prim {
            _ if self.checks_only || !is_asked => None,
            Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne => {
                let near = |value: ValueId| {
                    self.reach(value)
                        .filter(|reach| reach.is_near() && !reach.wrapped)
                };
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
                if self.asked.is_some() && !(is_asked && prim == Prim::InRange(extent)) {
                    return None;
                }
                let reach = self
                    .reach(args[0])
                    .filter(|reach| reach.from == Base::Index)?;
                let own = self.numbers.resolve(extent);
                let sure = prim == Prim::Check(extent) && self.branches == 0;
                if self.checks_only && !sure {
                    return None;
                }
                let is_its_own = reach.is_near() && reach.low == 0 && reach.high == 0;
                if own == self.extent && reach.is_near() && (is_its_own || !self.checks_only) {
                    self.low = self.low.min(reach.low);
                    self.high = self.high.max(reach.high);
                    if prim == Prim::InRange(extent) && reach.low == reach.high {
                        self.turns.push((result, false, reach.low));
                    }
                } else {
                    let known = self.is_known_before(own);
                    let ends = match sure {
                        true => &mut self.sure,
                        false => &mut self.ends,
                    };
                    if !known || !ends.keep_in(&reach, own) {
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
            _ => moved(self.program, prim, args, result, |value| self.reach(value)),
        }
    }
}

/// Where arithmetic leads from what is known of its operands.
pub(crate) fn moved<S: Stage<Dim = Extent>>(
    program: &Program<S>,
    prim: Prim,
    args: &[ValueId],
    result: ValueId,
    of: impl Fn(ValueId) -> Option<Reach>,
) -> Option<Reach> {
    let x = of(*args.first()?)?;
    let elem = program.elem(result);
    match prim {
        // Types that hold every position: the unsigned one those that are never negative.
        Prim::Cast(Scalar::I64) | Prim::Trust(_) => Some(Reach {
            wrapped: false,
            ..x
        }),
        Prim::Cast(Scalar::Usize) => {
            Some(x).filter(|reach| reach.low >= 0 && reach.far.is_natural(program))
        }
        // A sum of two positions near the index is twice as far, and no neighbour.
        Prim::Add if matches!(elem, Elem::Scalar(Scalar::I64 | Scalar::Usize)) => {
            let y = of(args[1])?;
            let from = match (x.from, y.from) {
                (from, Base::Zero) | (Base::Zero, from) => from,
                _ => return None,
            };
            let far = x.far.plus(&y.far)?;
            let sum = Reach::within(from, x.low + y.low, x.high + y.high, far)?;
            Some(Reach {
                wrapped: x.wrapped || y.wrapped,
                ..sum
            })
        }
        // Differences may be negative, which only the signed type can say.
        Prim::Sub if matches!(elem, Elem::Scalar(Scalar::I64 | Scalar::Usize)) => {
            let y = of(args[1]).filter(|y| y.from == Base::Zero)?;
            let far = x.far.minus(&y.far)?;
            let difference = Reach::within(x.from, x.low - y.high, x.high - y.low, far)?;
            Some(Reach {
                wrapped: x.wrapped || y.wrapped || elem == Elem::USIZE,
                ..difference
            })
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
    // Away from the beginning the index is larger, away from the end smaller. By how much counts where
    // both may be equal.
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

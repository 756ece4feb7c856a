//! Accumulations at known places, written down place by place.
//!
//! # The idea
//!
//! What reads `camera[6]` and `camera[i + 3]` is accumulated at places that are known while compiling: a table of eleven numbers, zero but
//! in a few places, for each of them, and their sum. If the table is small, each of its elements is the sum of what arrives there, a scalar
//! computed where it is needed, and the table is what writing them next to each other gives: nothing is cleared, loaded or added in memory.
//!
//! An addition and what it adds, through further additions, is a *sum* of terms. Terms that accumulate at known places of the same axes
//! are merged; the other places of an accumulation (`cameras[camera[o], 6]`) are what they have in common, and remain.
//!
//! Terms that one condition chooses, each something or nothing, are chosen once: what both branches of the function read is added up in
//! either branch, and one of the sums is taken.
//!
//! # What it costs
//!
//! A table of `n` places takes `n` stores instead of clearing `n` and adding to some, and an array to be added to takes `n` additions instead
//! of one for each place. So what is merged covers at least half of the places then, and there are at most [`MOST`](super::known::MOST) of them.
//!
//! # Before and after
//!
//! ```text
//! %0 = const 3                                      %0[n] = gather v [i := 0]
//! %1[i] = iota i                                    %1[n] = gather v [i := 1]
//! %2[i] = check 4 (add %1, 2)                       %2[n, a] = pack a [0, %w, %0, %1]
//! %3[n, a] = scatter add 0 [a := %2] over [i] v
//! %4[n, a] = scatter add %3 [a := 1] over [] w
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::build::Builder;
use super::known::{Defs, Point, is_small, points};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Lit, Monoid, Operation, Program, Stmt, ValueId};
use crate::ops::Prim;
use crate::passes::flow::Flow;
use crate::passes::subst::Subst;

/// Merges accumulations at known places. Nothing that is not needed may be left in the program: readers are counted.
pub(super) fn write_down(mut program: Program<Bulk>) -> Program<Bulk> {
    let mut inner = BTreeSet::new();
    let mut readers = vec![0; program.values.len()];
    read_by(&program.body, &mut readers);
    summed(&program.body, &readers, &mut inner);
    let body = std::mem::take(&mut program.body);
    let mut walk = Walk {
        b: Builder::new(program),
        defs: Defs::default(),
        readers,
        inner,
        subst: Subst::new(),
    };
    let body = walk.block(body);
    let Walk { b, subst, .. } = walk;
    let mut program = b.program;
    program.body = body;
    subst.types(&mut program);
    Bulk::retype(&mut program);
    program
}

/// Counts how often values are read.
fn read_by(block: &Block<Bulk>, readers: &mut [u32]) {
    for stmt in &block.stmts {
        for value in stmt.op.operands().into_iter().chain(stmt.guard) {
            readers[value.index()] += 1;
        }
        for inner in stmt.op.blocks() {
            read_by(inner, readers);
        }
    }
    for value in &block.results {
        readers[value.index()] += 1;
    }
}

/// Finds values that nothing but one sum of the same block reads, as a term.
fn summed(block: &Block<Bulk>, readers: &[u32], inner: &mut BTreeSet<ValueId>) {
    let bound: BTreeSet<ValueId> = block
        .stmts
        .iter()
        .flat_map(|stmt| stmt.results.iter().copied())
        .collect();
    for stmt in &block.stmts {
        if stmt.guard.is_none() {
            let terms: &[ValueId] = match &stmt.op {
                BulkOp::Map(Prim::Add, args) => args,
                BulkOp::Scatter {
                    monoid: Monoid::Add,
                    base,
                    ..
                } => std::slice::from_ref(base),
                _ => &[],
            };
            let only = |value: &&ValueId| bound.contains(value) && readers[value.index()] == 1;
            inner.extend(terms.iter().filter(only));
        }
        for block in stmt.op.blocks() {
            summed(block, readers, inner);
        }
    }
}

/// What accumulations that are merged have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Common {
    /// The axes whose places are known.
    axes: Vec<AxisId>,
    /// Where it goes along others.
    at: Vec<(AxisId, ValueId)>,
    over: Vec<AxisId>,
    mask: Option<ValueId>,
}

/// Something that arrives in a place.
#[derive(Clone, Debug)]
struct Piece {
    value: ValueId,
    /// Which element of it.
    from: Point,
    /// Only at this point of axes that it keeps.
    only: Point,
}

/// An accumulation at places of which some are known.
struct Known {
    common: Common,
    pieces: Vec<(Vec<u64>, Piece)>,
}

/// A term of a sum.
enum Term {
    /// An accumulation, which is this value; `apart` if that is what it adds to zero.
    Scatter {
        value: ValueId,
        apart: bool,
        known: Option<Known>,
    },
    /// A table that has been written down.
    Pack(ValueId, Known),
    /// What is at its own place along another axis.
    Renamed(ValueId),
    /// Something where a condition ends so, and nothing elsewhere.
    Chosen(ValueId, Choice),
    Other(ValueId),
}

/// Something where a condition ends so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Choice {
    cond: ValueId,
    when: bool,
    value: ValueId,
}

/// Terms that are merged.
struct Group {
    common: Common,
    places: BTreeMap<Vec<u64>, Vec<Piece>>,
    /// The accumulations among its terms.
    scatters: Vec<ValueId>,
    terms: usize,
    apart: bool,
}

struct Walk {
    b: Builder,
    defs: Defs,
    /// How often the values of the program are read.
    readers: Vec<u32>,
    /// What is a term of one sum only.
    inner: BTreeSet<ValueId>,
    subst: Subst,
}

impl Walk {
    fn block(&mut self, mut block: Block<Bulk>) -> Block<Bulk> {
        self.b.enter();
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt);
        }
        self.subst.results(&mut block);
        block.stmts = self.b.leave().primal;
        block
    }

    fn stmt(&mut self, mut stmt: Stmt<Bulk>) {
        self.subst.stmt(&mut stmt);
        for inner in stmt.op.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = self.block(block);
        }
        self.b.span = stmt.span;
        self.defs.note(&stmt);
        if let (&[result], None) = (stmt.results.as_slice(), stmt.guard)
            && !self.inner.contains(&result)
            && let Some(value) = self.merged(result)
        {
            let order = self.b.dims(result);
            self.b.lay_out(value, &order);
            return self.subst.replace(result, value);
        }
        self.b.push(stmt);
    }

    fn emit(&mut self, op: BulkOp) -> ValueId {
        let value = self.b.emit(op.clone());
        self.defs.insert(value, op);
        value
    }

    // ---- Terms

    /// The terms of the sum that a value is.
    fn terms(&self, sum: ValueId) -> Vec<Term> {
        let mut terms = Vec::new();
        let mut left = vec![sum];
        while let Some(value) = left.pop() {
            if self.defs.is_zero(value) {
                continue;
            }
            let own = value == sum || self.inner.contains(&value);
            match self.defs.of(value) {
                Some(BulkOp::Map(Prim::Add, args)) if own => left.extend(args.iter().rev()),
                Some(BulkOp::Scatter {
                    monoid: Monoid::Add,
                    base,
                    at,
                    over,
                    ..
                }) if own => {
                    let apart = self.defs.is_zero(*base);
                    let known = self.known(value);
                    let renames = |&(_, index): &(AxisId, ValueId)| {
                        matches!(self.defs.of(index), Some(BulkOp::Iota(_)))
                    };
                    terms.push(
                        if apart && known.is_none() && over.is_empty() && at.iter().all(renames) {
                            Term::Renamed(value)
                        } else {
                            Term::Scatter {
                                value,
                                apart,
                                known,
                            }
                        },
                    );
                    left.push(*base);
                }
                // It is read place by place: it does not matter who else reads it.
                Some(BulkOp::Pack { .. }) => terms.push(match self.written(value) {
                    Some(known) => Term::Pack(value, known),
                    None => Term::Other(value),
                }),
                Some(&BulkOp::Select(cond, then, otherwise)) if own => {
                    let choice = |when: bool, value: ValueId, other: ValueId| {
                        (self.defs.is_zero(other) && self.defs.is_anywhere(value))
                            .then_some(Choice { cond, when, value })
                    };
                    let choice =
                        choice(true, then, otherwise).or_else(|| choice(false, otherwise, then));
                    terms.push(match choice {
                        Some(choice) => Term::Chosen(value, choice),
                        None => Term::Other(value),
                    });
                }
                _ => terms.push(Term::Other(value)),
            }
        }
        terms
    }

    /// What is chosen by one condition, chosen once. It is merged with others of the same axes only, so that nothing is done more often.
    fn chosen(&mut self, terms: &mut Vec<Term>) -> bool {
        let mut merged = false;
        let mut k = 0;
        while k < terms.len() {
            let Term::Chosen(like, Choice { cond, .. }) = terms[k] else {
                k += 1;
                continue;
            };
            let dims = |walk: &Self, value: ValueId| -> BTreeSet<AxisId> {
                walk.b.dims(value).into_iter().collect()
            };
            let own = dims(self, like);
            let joins = |walk: &Self, term: &Term| match term {
                Term::Chosen(value, choice) => choice.cond == cond && dims(walk, *value) == own,
                _ => false,
            };
            let mut sides = [None, None];
            let mut count = 0;
            let (group, rest): (Vec<Term>, Vec<Term>) =
                terms.drain(k..).partition(|term| joins(self, term));
            for term in &group {
                if let Term::Chosen(_, Choice { when, value, .. }) = *term {
                    count += 1;
                    let side = &mut sides[usize::from(!when)];
                    *side = Some(self.plus(*side, value));
                }
            }
            let value = if count > 1 {
                merged = true;
                let zero = self.zero(like);
                let [then, otherwise] = sides.map(|side| side.unwrap_or(zero));
                let order = self.b.dims(like);
                let value = self.emit(BulkOp::Select(cond, then, otherwise));
                self.b.lay_out(value, &order);
                value
            } else {
                like
            };
            terms.push(Term::Other(value));
            terms.extend(rest);
            k += 1;
        }
        merged
    }

    /// What an accumulation is, if some of its places are known.
    fn known(&self, scatter: ValueId) -> Option<Known> {
        let Some(BulkOp::Scatter {
            at,
            over,
            value,
            mask,
            ..
        }) = self.defs.of(scatter)
        else {
            return None;
        };
        let mut common = Common {
            axes: Vec::new(),
            at: Vec::new(),
            over: Vec::new(),
            mask: *mask,
        };
        // What is known of the places, for all points of the axes along which they are known.
        let mut along: Vec<AxisId> = Vec::new();
        let mut tables = Vec::new();
        for &(axis, index) in at {
            let small = is_small(&self.b, axis);
            match self.defs.known(&self.b, index).filter(|_| small) {
                Some(table) => {
                    let new = self.b.dims(index).into_iter();
                    along.extend(new.filter(|dim| !along.contains(dim)).collect::<Vec<_>>());
                    tables.push((axis, table));
                }
                None => common.at.push((axis, index)),
            }
        }
        if tables.is_empty() {
            return None;
        }
        tables.sort_by_key(|(axis, _)| *axis);
        common.axes = tables.iter().map(|(axis, _)| *axis).collect();
        let all = common.axes.iter().copied();
        points(&self.b, &all.collect::<Vec<_>>())?;
        common.over = over
            .iter()
            .copied()
            .filter(|axis| !along.contains(axis))
            .collect();
        let (from, only): (Vec<AxisId>, Vec<AxisId>) =
            along.iter().partition(|axis| over.contains(axis));
        let apart = |value: ValueId| !self.b.dims(value).iter().any(|axis| along.contains(axis));
        let rest = common.at.iter().map(|&(_, index)| index).chain(*mask);
        // What stays an accumulation must be one of all its pieces at once.
        if !common.at.is_empty() && (!rest.into_iter().all(apart) || !only.is_empty()) {
            return None;
        }
        let mut pieces = Vec::new();
        for point in points(&self.b, &along)? {
            let coordinate = |(_, table): &(AxisId, Vec<(Point, u64)>)| {
                let here = |(at, _): &&(Point, u64)| at.iter().all(|one| point.contains(one));
                table.iter().find(here).map(|(_, place)| *place)
            };
            let place: Vec<u64> = tables.iter().map(coordinate).collect::<Option<_>>()?;
            let part = |axes: &[AxisId]| {
                let of = |(axis, _): &&(AxisId, u64)| axes.contains(axis);
                point.iter().filter(of).copied().collect::<Point>()
            };
            let piece = Piece {
                value: *value,
                from: part(&from),
                only: part(&only),
            };
            pieces.push((place, piece));
        }
        Some(Known { common, pieces })
    }

    /// A table that has been written down, of few places.
    fn written(&self, pack: ValueId) -> Option<Known> {
        let Some(BulkOp::Pack { axis, values }) = self.defs.of(pack) else {
            return None;
        };
        let common = Common {
            axes: vec![*axis],
            at: Vec::new(),
            over: Vec::new(),
            mask: None,
        };
        let filled = values
            .iter()
            .zip(0..)
            .filter(|(v, _)| !self.defs.is_zero(**v));
        let pieces = filled.map(|(&value, k)| {
            let piece = Piece {
                value,
                from: Point::new(),
                only: Point::new(),
            };
            (vec![k], piece)
        });
        let pieces = pieces.collect();
        is_small(&self.b, *axis).then_some(Known { common, pieces })
    }

    // ---- Merging

    /// A sum with its accumulations at known places merged, if there are any worth it.
    fn merged(&mut self, sum: ValueId) -> Option<ValueId> {
        if !self.b.program.elem(sum).is_float() {
            return None;
        }
        match self.defs.of(sum)? {
            BulkOp::Map(Prim::Add, _)
            | BulkOp::Scatter {
                monoid: Monoid::Add,
                ..
            } => {}
            _ => return None,
        }
        let mut terms = self.terms(sum);
        let chosen = self.chosen(&mut terms);
        let mut groups: Vec<Group> = Vec::new();
        for term in &terms {
            let (known, scatter, apart) = match term {
                Term::Scatter {
                    known: Some(known),
                    value,
                    apart,
                } => (known, Some(*value), *apart),
                Term::Pack(_, known) => (known, None, true),
                Term::Scatter { known: None, .. }
                | Term::Renamed(_)
                | Term::Chosen(..)
                | Term::Other(_) => continue,
            };
            let place = groups.iter().position(|g| g.common == known.common);
            let place = place.unwrap_or_else(|| {
                groups.push(Group::new(&known.common));
                groups.len() - 1
            });
            groups[place].add(known, scatter, apart);
        }
        let others = terms.iter().any(|t| matches!(t, Term::Other(_)));
        groups.retain(|group| group.is_worth(&self.b, others));
        if groups.is_empty() && !chosen && !terms.iter().any(|t| matches!(t, Term::Renamed(_))) {
            return None;
        }
        let joins = |known: &Known| groups.iter().any(|g| g.common == known.common);
        // First what there is anyway, then what is written down, and into that sum what goes to other places.
        let (mut now, mut later) = (None, Vec::new());
        for term in terms {
            match term {
                Term::Scatter {
                    known: Some(known), ..
                }
                | Term::Pack(_, known)
                    if joins(&known) => {}
                Term::Scatter {
                    value,
                    apart: false,
                    ..
                } => later.push(value),
                Term::Renamed(scatter) => {
                    let value = self.compared(scatter);
                    now = Some(self.plus(now, value));
                }
                Term::Scatter { value, .. }
                | Term::Pack(value, _)
                | Term::Chosen(value, _)
                | Term::Other(value) => {
                    now = Some(self.plus(now, value));
                }
            }
        }
        for group in &groups {
            now = Some(self.put(group, now, sum));
        }
        for scatter in later.into_iter().rev() {
            let mut op = self.defs.of(scatter)?.clone();
            if let (BulkOp::Scatter { base, .. }, Some(now)) = (&mut op, now) {
                *base = now;
            }
            now = Some(self.emit(op));
        }
        now
    }

    fn plus(&mut self, sum: Option<ValueId>, term: ValueId) -> ValueId {
        let Some(sum) = sum else { return term };
        // A product with what is negated is subtracted.
        if let Some(product) = self.negated(term) {
            return self.emit(BulkOp::Map(Prim::Sub, vec![sum, product]));
        }
        if let Some(product) = self.negated(sum) {
            return self.emit(BulkOp::Map(Prim::Sub, vec![term, product]));
        }
        self.emit(BulkOp::Map(Prim::Add, vec![sum, term]))
    }

    /// Of a product with the negative of something, which nothing else reads, that with the thing itself.
    fn negated(&mut self, term: ValueId) -> Option<ValueId> {
        if self.readers.get(term.index()) != Some(&1) {
            return None;
        }
        let Some(BulkOp::Map(Prim::Mul, args)) = self.defs.of(term) else {
            return None;
        };
        let of = |value: ValueId| match self.defs.of(value) {
            Some(BulkOp::Map(Prim::Neg, args)) => Some(args[0]),
            _ => None,
        };
        let args = match (of(args[0]), of(args[1])) {
            (Some(of), _) => vec![of, args[1]],
            (None, Some(of)) => vec![args[0], of],
            (None, None) => return None,
        };
        let product = self.emit(BulkOp::Map(Prim::Mul, args));
        let order = self.b.dims(term);
        self.b.lay_out(product, &order);
        Some(product)
    }

    /// Adds a group to a sum.
    fn put(&mut self, group: &Group, sum: Option<ValueId>, like: ValueId) -> ValueId {
        let table = self.table(group, like);
        let Common { at, over, mask, .. } = group.common.clone();
        if at.is_empty() {
            return self.plus(sum, table);
        }
        let base = match sum {
            Some(sum) if !group.apart => sum,
            _ => self.zero(like),
        };
        let scatter = self.emit(BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value: table,
            mask,
        });
        let order = self.b.dims(like);
        self.b.lay_out(scatter, &order);
        if group.apart {
            self.plus(sum, scatter)
        } else {
            scatter
        }
    }

    fn zero(&mut self, like: ValueId) -> ValueId {
        let zero = Lit::of(self.b.program.elem(like).repr(), 0.0);
        self.emit(BulkOp::Const(zero))
    }

    /// What a group accumulates, as a table over its axes.
    fn table(&mut self, group: &Group, like: ValueId) -> ValueId {
        if group.common.at.is_empty() && group.is_moving() {
            let mut sum = None;
            for &scatter in &group.scatters {
                let value = self.compared(scatter);
                sum = Some(self.plus(sum, value));
            }
            return sum.unwrap_or_else(|| self.zero(like));
        }
        let mut places = BTreeMap::new();
        for (place, pieces) in &group.places {
            let mut sum = None;
            for piece in pieces {
                let value = self.piece(group, piece);
                sum = Some(self.plus(sum, value));
            }
            places.insert(place.as_slice(), sum.expect("something arrives"));
        }
        let zero = self.zero(like);
        self.pack(&group.common.axes, &places, zero)
    }

    /// A table of which these elements are not zero.
    fn pack(
        &mut self,
        axes: &[AxisId],
        places: &BTreeMap<&[u64], ValueId>,
        zero: ValueId,
    ) -> ValueId {
        let Some((&axis, inner)) = axes.split_first() else {
            return places.values().next().copied().unwrap_or(zero);
        };
        if places.is_empty() {
            return zero;
        }
        let mut values = Vec::new();
        for k in 0..length(&self.b, axis) {
            let here = places.iter().filter(|(place, _)| place[0] == k);
            let here = here.map(|(place, &value)| (&place[1..], value)).collect();
            values.push(self.pack(inner, &here, zero));
        }
        self.emit(BulkOp::Pack { axis, values })
    }

    /// What is accumulated at one place for each point of what it has: there it is, and elsewhere is nothing. This need not be stored.
    fn compared(&mut self, scatter: ValueId) -> ValueId {
        let Some(BulkOp::Scatter {
            at,
            value,
            mask,
            over,
            ..
        }) = self.defs.of(scatter).cloned()
        else {
            unreachable!("an accumulation");
        };
        let mut value = self.b.masked_sum(mask, value, &over);
        // Where there is nothing to go over nobody has asked for the place.
        let known = at.iter().all(|&(_, index)| self.b.is_specified(index));
        let asked = match known {
            true => None,
            false => self.b.reached(&over, &at, None),
        };
        for &(axis, index) in &at {
            let iota = self.emit(BulkOp::Iota(axis));
            let here = self.b.map(Prim::Eq, &[iota, index]);
            let here = self.b.both(asked, Some(here));
            value = self.b.masked(here, value);
        }
        value
    }

    /// What a piece is: summed over what is not left to an accumulation.
    fn piece(&mut self, group: &Group, piece: &Piece) -> ValueId {
        let mut value = piece.value;
        if group.common.at.is_empty() {
            let Common { mask, over, .. } = &group.common;
            value = self.b.masked_sum(*mask, value, over);
        }
        let from: Vec<(AxisId, ValueId)> = piece
            .from
            .iter()
            .map(|&(axis, k)| (axis, self.index(axis, k)))
            .collect();
        value = self.b.gather(value, &from);
        for &(axis, k) in &piece.only {
            let iota = self.emit(BulkOp::Iota(axis));
            let index = self.index(axis, k);
            let here = self.b.map(Prim::Eq, &[iota, index]);
            value = self.b.masked(Some(here), value);
        }
        value
    }

    fn index(&mut self, axis: AxisId, k: u64) -> ValueId {
        let number = self
            .b
            .usize(usize::try_from(k).expect("a place of a small table"));
        self.b.index(axis, number)
    }
}

impl Group {
    fn new(common: &Common) -> Self {
        Self {
            common: common.clone(),
            places: BTreeMap::new(),
            scatters: Vec::new(),
            terms: 0,
            apart: true,
        }
    }

    fn add(&mut self, known: &Known, scatter: Option<ValueId>, apart: bool) {
        self.terms += 1;
        self.scatters.extend(scatter);
        self.apart &= apart;
        for (place, piece) in &known.pieces {
            let pieces = self.places.entry(place.clone()).or_default();
            pieces.push(piece.clone());
        }
    }

    /// Whether it costs less to write its places down; `others`: there is something else in the sum.
    fn is_worth(&self, b: &Builder, others: bool) -> bool {
        let all: u64 = self
            .common
            .axes
            .iter()
            .map(|&axis| length(b, axis))
            .product();
        let half = 2 * self.places.len() as u64 >= all;
        if self.common.at.is_empty() {
            (self.terms > 1 || !self.scatters.is_empty()) && (self.apart || !others || half)
        } else {
            self.terms > 1 && half
        }
    }

    /// Whether each of its terms goes to one place for each point of what it keeps.
    fn is_moving(&self) -> bool {
        let mut pieces = self.places.values().flatten();
        !self.places.is_empty()
            && self.scatters.len() == self.terms
            && pieces.all(|piece| !piece.only.is_empty() && piece.from.is_empty())
    }
}

/// How long an axis is whose places are known.
fn length(b: &Builder, axis: AxisId) -> u64 {
    match b.extent(axis) {
        Extent::Const(n) => n,
        Extent::Size(_) | Extent::Value(_) => unreachable!("its places are known"),
    }
}

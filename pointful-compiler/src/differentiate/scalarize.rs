//! Accumulations at known places, written down place by place.
//!
//! # The idea
//!
//! What reads `camera[6]` and `camera[i + 3]` is accumulated at places that are known while
//! compiling: a table of eleven numbers, zero but in a few places, for each of them, and their sum.
//! If the table is small, each of its elements is the sum of what arrives there, a scalar computed
//! where it is needed, and the table is what writing them next to each other gives: nothing is
//! cleared, loaded or added in memory.
//!
//! An addition and what it adds, through further additions, is a *sum* of terms. Terms that
//! accumulate at known places of the same axes are merged; the other places of an accumulation
//! (`cameras[camera[o], 6]`) are what they have in common, and remain.
//!
//! Terms that one condition chooses, each something or nothing, are chosen once: what both branches
//! of the function read is added up in either branch, and one of the sums is taken.
//!
//! # What it costs
//!
//! A table of `n` places takes `n` stores instead of clearing `n` and adding to some, and an array
//! to be added to takes `n` additions instead of one for each place. So what is merged covers at
//! least half of the places then, and there are at most [`MOST`](super::constant_indices::MOST) of
//! them.
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

mod elements;
mod terms;

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::builder::Builder;
use super::constant_indices::{Defs, Point};
use crate::analysis::dataflow::Flow;
use crate::canonicalize::substitution::Subst;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Merges accumulations at known places. Nothing that is not needed may be left in the program:
/// readers are counted.
pub(super) fn write_down(mut program: Program<Bulk>) -> Program<Bulk> {
    let mut inner = ValueSet::new();
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
fn summed(block: &Block<Bulk>, readers: &[u32], inner: &mut ValueSet) {
    let bound: ValueSet = block
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
    inner: ValueSet,
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
            return self.emit(BulkOp::Map(Prim::Sub, smallvec![sum, product]));
        }
        if let Some(product) = self.negated(sum) {
            return self.emit(BulkOp::Map(Prim::Sub, smallvec![term, product]));
        }
        self.emit(BulkOp::Map(Prim::Add, smallvec![sum, term]))
    }

    /// Of a product with the negative of something, which nothing else reads, that with the thing
    /// itself.
    fn negated(&mut self, term: ValueId) -> Option<ValueId> {
        if self.readers.get(term.index()) != Some(&1) {
            return None;
        }
        let Some(BulkOp::Map(times @ (Prim::Mul | Prim::MulAbsorb), args)) = self.defs.of(term)
        else {
            return None;
        };
        let times = *times;
        let of = |value: ValueId| match self.defs.of(value) {
            Some(BulkOp::Map(Prim::Neg, args)) => Some(args[0]),
            _ => None,
        };
        let args = match (of(args[0]), of(args[1])) {
            (Some(of), _) => [of, args[1]],
            (None, Some(of)) => [args[0], of],
            (None, None) => return None,
        };
        let product = self.emit(BulkOp::Map(times, args[..].into()));
        let order = self.b.dims(term);
        self.b.lay_out(product, &order);
        Some(product)
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

    /// Whether it costs less to write its places down; `others`: there is something else in the
    /// sum.
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

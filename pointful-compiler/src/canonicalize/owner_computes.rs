//! Loops of which each iteration changes a slice of a table of its own: the iteration computes the slice, and the
//! table is what all of them give.
//!
//! ```text
//! %1 = loop %2: W (%3 = x) {              %1 = for %2: W {
//!   %4 = loop %5: H (%6 = %3) {             %3 = for %7: H { %8 = index x[%7, %2] yield %8 }
//!     %7 = index %6[%5, %2]                 %4 = loop %5: H (%6 = %3) {
//!     %8 = sin %7                    ▶        %7 = index %6[%5]
//!     %9 = update %6[%5, %2], %8              %8 = sin %7
//!     yield %9                                %9 = update %6[%5], %8
//!   }                                         yield %9
//!   yield %4                                }
//! }                                         yield %4
//!                                         }
//! ```
//!
//! Of the table on the right an index is exchanged with another. Iterations that share nothing else follow in no
//! order, a derivative keeps what an iteration needs and not the table, and it reads where it would add up.
//!
//! # Which loops
//!
//! A table is *owned* if everything that reads or changes it in the loop does so at one place along one axis, and the
//! place is the loop's own index, or that and a number: other iterations are elsewhere. If the places are not all
//! of the axis, the others keep what they have; they have to be almost all, of this axis and of the others. A
//! loop that hands on anything else as well stays as it is: `lower` has taken the tables of which its iterations
//! have rows.
//!
//! # Why it is sound
//!
//! A *version* of a table is the state or what changes make of one; a *view* is what its first indices select. All
//! versions in an iteration are alike but in the slice, so the slice says what they are, and no other iteration
//! reads or changes it.
//!
//! # What it costs
//!
//! Slices that are not all of an axis, or with which a loop begins, are copied from the table and to it. A
//! derivative is worth that; else only loops are taken in which such loops are loops that are taken as well:
//! what they compute is computed for the table.

use std::cell::RefCell;
use std::collections::BTreeMap;

use smallvec::smallvec;

use super::substitution::Subst;
use crate::eval::{ScalarValue, eval_const};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const OWNER_COMPUTES: Pass<Point> = Pass {
    name: "owner_computes",
    about: "let iterations that change a slice of a table each compute it in any order",
    run: owner_computes,
};

/// The most places at either end of an axis that a loop leaves out.
const ENDS: i128 = 8;

/// The most operations that an extent is computed with from another.
const STEPS: u32 = 8;

/// The most places at which a table may be changed that are tried.
const CANDIDATES: usize = 8;

/// Lets iterations that change a slice of a table each compute it in any order.
pub fn owner_computes(program: Program<Point>) -> Program<Point> {
    let mut defs = Defs::default();
    defs.block(&program.body);
    let mut subst = Subst::new();
    let mut program = program.rewritten(|program, body| {
        let mut walk = Walk {
            program,
            defs: &defs,
            derived: false,
            subst: &mut subst,
        };
        walk.block(body);
    });
    subst.types(&mut program);
    program
}

/// What numbers are.
#[derive(Default)]
struct Defs {
    ops: BTreeMap<ValueId, PointOp>,
    /// By how much extents that are computed are less than others.
    less: RefCell<BTreeMap<(ValueId, Extent), Option<i128>>>,
}

impl Defs {
    fn block(&mut self, block: &Block<Point>) {
        for stmt in &block.stmts {
            if let PointOp::Const(_) | PointOp::Size(_) | PointOp::Prim(..) = stmt.op {
                self.ops.insert(stmt.results[0], stmt.op.clone());
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    fn int(&self, value: ValueId) -> Option<i128> {
        match self.ops.get(&value)? {
            PointOp::Const(Lit::Int(_, number)) => Some(*number),
            _ => None,
        }
    }

    /// The index to which a small number has been added, and the number. No axis has so many members that
    /// integers overflow by that.
    fn offset(&self, value: ValueId) -> (ValueId, i128) {
        let from = |value, by| {
            let (origin, before) = self.offset(value);
            (origin, before + by)
        };
        let Some(PointOp::Prim(prim, args)) = self.ops.get(&value) else {
            return (value, 0);
        };
        let small = |value| self.int(value).filter(|number| number.abs() <= ENDS);
        match (prim, args.as_slice()) {
            (Prim::Cast(Scalar::I64 | Scalar::Usize) | Prim::Check(_) | Prim::Trust(_), &[of]) => {
                from(of, 0)
            }
            (Prim::Add, &[a, b]) => match (small(a), small(b)) {
                (_, Some(number)) => from(a, number),
                (Some(number), None) => from(b, number),
                (None, None) => (value, 0),
            },
            (Prim::Sub, &[a, b]) => small(b).map_or((value, 0), |number| from(a, -number)),
            _ => (value, 0),
        }
    }

    /// By how much an extent is less than another, if it is by a few or by no more than half. There may be
    /// nothing left, and never is more.
    fn less(&self, extent: Extent, than: Extent) -> Option<i128> {
        let value = match (extent, than) {
            _ if extent == than => return Some(0),
            (Extent::Const(few), Extent::Const(all)) => {
                let less = i128::from(all) - i128::from(few);
                return (less >= 0 && 2 * few >= all).then_some(less);
            }
            (Extent::Value(value), _) => value,
            _ => return None,
        };
        let mut known = self.less.borrow_mut();
        *known.entry((value, than)).or_insert_with(|| {
            // A few steps of small numbers make no difference between sizes as large as that.
            let size = i128::from(STEPS) * ENDS;
            let of = |size| match self.if_size_is(size, than, value, STEPS)?.to_lit() {
                Lit::Int(_, number) => Some(number),
                _ => None,
            };
            let less = size - of(size)?;
            let is_less = |size: i128| of(size) == Some((size - less).max(0));
            ((0..=2 * ENDS).contains(&less) && (0..size).all(is_less)).then_some(less)
        })
    }

    /// What a number is if an extent has so many members, where it is that extent and at most `steps` small
    /// numbers added, taken away or compared with.
    fn if_size_is(
        &self,
        size: i128,
        of: Extent,
        value: ValueId,
        steps: u32,
    ) -> Option<ScalarValue> {
        let size_of = |number| Some(ScalarValue::from_lit(Lit::Int(Scalar::Usize, number)));
        if of == Extent::Value(value) {
            return size_of(size);
        }
        match self.ops.get(&value)? {
            PointOp::Size(extent) if *extent == of => size_of(size),
            PointOp::Const(lit @ Lit::Int(_, number)) => {
                (number.abs() <= ENDS).then_some(ScalarValue::from_lit(*lit))
            }
            PointOp::Prim(prim, args) => {
                let steps = steps.checked_sub(1)?;
                let is_known = matches!(
                    prim,
                    Prim::Cast(Scalar::I64 | Scalar::Usize)
                        | Prim::Add
                        | Prim::Sub
                        | Prim::Max
                        | Prim::Min
                );
                let args = (is_known.then_some(args)?.iter())
                    .map(|&arg| self.if_size_is(size, of, arg, steps))
                    .collect::<Option<Vec<_>>>()?;
                eval_const(*prim, &args)
            }
            _ => None,
        }
    }

    /// Which places of an axis the indices of a loop over an extent and a number are, where all are in range
    /// and nearly all that there are.
    fn places(&self, by: i128, extent: Extent, of: Extent) -> Option<Places> {
        let less = self.less(extent, of)?;
        let places = match less {
            0 if extent == of => Places::Own,
            0 => Places::All,
            _ => Places::Most(by),
        };
        (0..=less).contains(&by).then_some(places)
    }
}

struct Walk<'w> {
    program: &'w mut Program<Point>,
    defs: &'w Defs,
    /// Whether what is walked through is differentiated.
    derived: bool,
    subst: &'w mut Subst,
}

impl Walk<'_> {
    /// Outer loops before inner ones: what those own is less.
    fn block(&mut self, block: &mut Block<Point>) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            let shared = self.shared(&mut stmt);
            let derived = self.derived;
            self.derived |= matches!(stmt.op, PointOp::Derive { .. });
            for inner in stmt.op.blocks_mut() {
                self.block(inner);
            }
            self.derived = derived;
            match shared {
                Some(shared) => self.tables(stmt, &shared, &mut stmts),
                None => stmts.push(stmt),
            }
        }
        block.stmts = stmts;
    }

    /// If each state of a loop is a table that the iterations share between them, makes it a `for` that reads slices
    /// which [`tables`](Self::tables) will make.
    fn shared(&mut self, stmt: &mut Stmt<Point>) -> Option<Shared> {
        let PointOp::Loop {
            extent,
            checkpoint: None,
            init,
            body,
            reverse,
        } = &mut stmt.op
        else {
            return None;
        };
        // Contributions arrive in the order of iterations.
        if init.is_empty() || (*reverse && accumulates(body)) {
            return None;
        }
        let owned = self.owned((*extent, body), init)?;
        let is_part = owned.iter().any(|owned| owned.places.are_most());
        let is_copied = |init: &[ValueId]| {
            let is_version = |value| owned.iter().any(|table| table.versions.contains_key(value));
            is_part || init.iter().any(is_version)
        };
        if !self.derived && !self.dissolves(body, &is_copied) {
            return None;
        }
        #[cfg(test)]
        {
            use crate::testing::entered::{OWNED, OWNED_MOST, enter};
            enter(&OWNED);
            if is_part {
                enter(&OWNED_MOST);
            }
        }
        body.params.truncate(1);
        for owned in &owned {
            owned.narrow(self.program, self.subst, body);
        }
        replaced(self.subst, body);
        let extent = *extent;
        let body = std::mem::take(body);
        let tables = stmt.results[..owned.len()].to_vec();
        for (result, owned) in stmt.results.iter_mut().zip(&owned) {
            let mut ty = self.program.ty(owned.state).clone();
            ty.dims.insert(0, extent);
            *result = self.program.value(ty, stmt.span);
        }
        stmt.op = PointOp::For { extent, body };
        Some(Shared { owned, tables })
    }

    /// The states of a loop, if the iterations share each of them.
    fn owned(&self, of: (Extent, &Block<Point>), init: &[ValueId]) -> Option<Vec<Owned>> {
        let mut slots = init.iter().enumerate();
        let first = Owned::of(self.program, self.defs, of, slots.next()?)?;
        let mut all = vec![first];
        for slot in slots {
            all.push(Owned::of(self.program, self.defs, of, slot)?);
        }
        Some(all)
    }

    /// Whether the loops in a block are such, too, as far as slices are copied for what they begin with.
    fn dissolves(&self, block: &Block<Point>, is_copied: &dyn Fn(&[ValueId]) -> bool) -> bool {
        block.stmts.iter().all(|stmt| {
            let dissolves = match &stmt.op {
                PointOp::Loop {
                    extent, init, body, ..
                } => !is_copied(init) || self.owned((*extent, body), init).is_some(),
                PointOp::While { init, .. } => !is_copied(init),
                _ => true,
            };
            let mut inner = stmt.op.blocks().into_iter();
            dissolves && inner.all(|block| self.dissolves(block, is_copied))
        })
    }

    /// Adds a loop that computes slices, with what these are before, and what makes tables of them.
    fn tables(&mut self, mut stmt: Stmt<Point>, shared: &Shared, stmts: &mut Vec<Stmt<Point>>) {
        let span = stmt.span;
        let over = self.interior(&mut stmt, &shared.owned);
        let PointOp::For { extent, body } = &mut stmt.op else {
            return;
        };
        let (extent, slices) = (*extent, stmt.results.clone());
        if over.is_none() {
            for owned in &shared.owned {
                let mut first = Block::default();
                let place = match owned.places {
                    Places::Own => body.params[0],
                    Places::All => self.trust(body.params[0], owned.of, (&mut first, span)),
                    Places::Most(by) => {
                        let number = self.sum(Prim::Add, body.params[0], by, (&mut first, span));
                        self.trust(number, owned.of, (&mut first, span))
                    }
                };
                let slice = self.slice(owned, place, (owned.state, span));
                body.stmts
                    .splice(0..0, first.stmts.into_iter().chain([slice]));
            }
        }
        let mut after = Vec::new();
        for (slot, (owned, &table)) in shared.owned.iter().zip(&shared.tables).enumerate() {
            let is_whole = over.is_some() || owned.places == Places::Own;
            if is_whole && owned.axis == 0 {
                stmt.results[slot] = table;
            } else {
                after.push(self.table(owned, (slices[slot], extent, is_whole), (table, span)));
            }
        }
        stmts.push(stmt);
        stmts.extend(after);
    }

    /// Makes a loop without loops inside that has nearly all places of an axis one over the axis, of
    /// which the other places keep what they have: what reads the table is computed with it.
    ///
    /// ```text
    /// %1 = for %2: E {                     %1 = for %6: N {
    ///   %3 = trust N (add %2, 1)             %7 = in_range E (sub %6, 1)
    ///   %4 = index x[%3]                     %5 = if %7 { %4 = index x[%6] … yield %8 }
    ///   …                               ▶         else { %9 = index x[%6] yield %9 }
    ///   yield %8                             yield %5
    /// }                                    }
    /// ```
    fn interior(&mut self, stmt: &mut Stmt<Point>, owned: &[Owned]) -> Option<()> {
        let PointOp::For { extent, body } = &mut stmt.op else {
            return None;
        };
        let Places::Most(first) = owned[0].places else {
            return None;
        };
        let (part, span, index) = (*extent, stmt.span, body.params[0]);
        let alike = |other: &Owned| other.places == owned[0].places && other.of == owned[0].of;
        if !owned.iter().all(alike) || stmt.results.len() > owned.len() || loops(body) {
            return None;
        }
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::OWNED_INTERIOR);
        let of = owned[0].of;
        let place = self.program.value(Type::scalar(Elem::Index(of)), span);
        let mut into = Block::default();
        let number = self.sum(Prim::Sub, place, first, (&mut into, span));
        let is_one = PointOp::Prim(Prim::InRange(part), smallvec![number]);
        let cond = self.op(is_one, Type::scalar(Elem::BOOL), (&mut into, span));
        let (mut then, mut otherwise) = (std::mem::take(&mut **body), Block::default());
        then.params.clear();
        // What the iteration calls its place is the place.
        let mut places = Subst::new();
        let is_place = |value| {
            self.program.elem(value) == Elem::Index(of) && self.defs.offset(value) == (index, first)
        };
        each(&then, &mut |stmt| {
            if let &[value] = stmt.results.as_slice()
                && is_place(value)
            {
                places.replace(value, place);
            }
        });
        replaced(&places, &mut then);
        let trust = PointOp::Prim(Prim::Trust(part), smallvec![number]);
        let mut before = vec![Stmt::new(vec![index], trust, span)];
        for (owned, result) in owned.iter().zip(&mut stmt.results) {
            before.push(self.slice(owned, place, (owned.state, span)));
            let ty = self.program.ty(owned.state).clone();
            let kept = self.program.value(ty.clone(), span);
            otherwise.stmts.push(self.slice(owned, place, (kept, span)));
            otherwise.results.push(kept);
            let value = self.program.value(ty.clone(), span);
            into.results.push(value);
            *result = self.program.value(
                Type {
                    elem: ty.elem,
                    dims: [&[of], ty.dims.as_slice()].concat(),
                },
                span,
            );
        }
        then.stmts.splice(0..0, before);
        let choice = PointOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        into.stmts
            .push(Stmt::new(into.results.clone(), choice, span));
        into.params = vec![place];
        (*extent, **body) = (of, into);
        Some(())
    }

    /// The statement that selects a slice of a table.
    fn slice(&mut self, owned: &Owned, place: ValueId, result: (ValueId, SpanId)) -> Stmt<Point> {
        self.nest(owned, owned.axis, result, &mut |walk, indices| {
            let mut into = Block::default();
            let indices = [indices, &[place]].concat();
            let value = walk.index(owned.table, indices, (&mut into, result.1));
            into.results.push(value);
            into
        })
    }

    /// The statement that makes a table of slices over an extent, which may be the axis.
    fn table(
        &mut self,
        owned: &Owned,
        (slices, over, is_whole): (ValueId, Extent, bool),
        result: (ValueId, SpanId),
    ) -> Stmt<Point> {
        let (axis, span) = (owned.axis, result.1);
        self.nest(owned, axis + 1, result, &mut |walk, indices| {
            let (place, before) = (indices[axis], &indices[..axis]);
            let mut into = Block::default();
            let at = |index| [&[index], before].concat();
            let value = match owned.places {
                _ if is_whole => walk.index(slices, at(place), (&mut into, span)),
                Places::Own | Places::All => {
                    let index = walk.trust(place, over, (&mut into, span));
                    walk.index(slices, at(index), (&mut into, span))
                }
                Places::Most(first) => {
                    let number = walk.sum(Prim::Sub, place, first, (&mut into, span));
                    let is_one = PointOp::Prim(Prim::InRange(over), smallvec![number]);
                    let cond = walk.op(is_one, Type::scalar(Elem::BOOL), (&mut into, span));
                    let (mut then, mut otherwise) = (Block::default(), Block::default());
                    let index = walk.trust(number, over, (&mut then, span));
                    let value = walk.index(slices, at(index), (&mut then, span));
                    then.results.push(value);
                    let kept = walk.index(owned.table, indices.to_vec(), (&mut otherwise, span));
                    otherwise.results.push(kept);
                    let ty = walk.program.ty(value).clone();
                    let (then, otherwise) = (Box::new(then), Box::new(otherwise));
                    let choice = PointOp::If {
                        cond,
                        then,
                        otherwise,
                    };
                    walk.op(choice, ty, (&mut into, span))
                }
            };
            into.results.push(value);
            into
        })
    }

    /// The statement that makes a table over the leading axes of another by what is computed at each of
    /// their places.
    fn nest(
        &mut self,
        owned: &Owned,
        depth: usize,
        (result, span): (ValueId, SpanId),
        inner: &mut dyn FnMut(&mut Self, &[ValueId]) -> Block<Point>,
    ) -> Stmt<Point> {
        let over = &self.program.ty(owned.table).dims[..depth].to_vec();
        let indices: Vec<ValueId> = over
            .iter()
            .map(|extent| self.program.value(Type::scalar(Elem::Index(*extent)), span))
            .collect();
        let mut block = inner(self, &indices);
        for (depth, (&index, &extent)) in indices.iter().zip(over).enumerate().rev() {
            let mut ty = self.program.ty(block.results[0]).clone();
            ty.dims.insert(0, extent);
            block.params.push(index);
            let table = if depth == 0 {
                result
            } else {
                self.program.value(ty, span)
            };
            let body = Box::new(std::mem::take(&mut block));
            let stmt = Stmt::new(vec![table], PointOp::For { extent, body }, span);
            block.stmts.push(stmt);
            block.results.push(table);
        }
        let mut stmt = block
            .stmts
            .pop()
            .expect("the operation that gives the result");
        stmt.results = vec![result];
        stmt
    }

    fn op(
        &mut self,
        op: PointOp,
        ty: Type<Extent>,
        (into, span): (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let value = self.program.value(ty, span);
        into.stmts.push(Stmt::new(vec![value], op, span));
        value
    }

    /// An index and a number, or less that.
    fn sum(
        &mut self,
        prim: Prim,
        index: ValueId,
        number: i128,
        (into, span): (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let int = || Type::scalar(Elem::Scalar(Scalar::I64));
        let here = PointOp::Prim(Prim::Cast(Scalar::I64), smallvec![index]);
        let here = self.op(here, int(), (into, span));
        let number = PointOp::Const(Lit::Int(Scalar::I64, number));
        let number = self.op(number, int(), (into, span));
        self.op(
            PointOp::Prim(prim, smallvec![here, number]),
            int(),
            (into, span),
        )
    }

    /// The index of that number.
    fn trust(
        &mut self,
        number: ValueId,
        extent: Extent,
        into: (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let index = PointOp::Prim(Prim::Trust(extent), smallvec![number]);
        self.op(index, Type::scalar(Elem::Index(extent)), into)
    }

    fn index(
        &mut self,
        table: ValueId,
        indices: Vec<ValueId>,
        into: (&mut Block<Point>, SpanId),
    ) -> ValueId {
        let mut ty = self.program.ty(table).clone();
        ty.dims.drain(..indices.len());
        self.op(PointOp::Index { table, indices }, ty, into)
    }
}

/// A loop whose iterations share tables between them, and what these tables are after it.
struct Shared {
    owned: Vec<Owned>,
    tables: Vec<ValueId>,
}

/// Whether there is a loop in a block whose iterations follow each other.
fn loops(block: &Block<Point>) -> bool {
    let mut found = false;
    each(block, &mut |stmt| {
        found |= matches!(stmt.op, PointOp::Loop { .. } | PointOp::While { .. });
    });
    found
}

/// Whether something in a block is combined into an accumulator.
fn accumulates(block: &Block<Point>) -> bool {
    let mut found = false;
    each(block, &mut |stmt| {
        found |= matches!(stmt.op, PointOp::Accumulate { .. })
    });
    found
}

/// Visits the statements of a block, at any depth.
fn each(block: &Block<Point>, visit: &mut dyn FnMut(&Stmt<Point>)) {
    for stmt in &block.stmts {
        visit(stmt);
        for inner in stmt.op.blocks() {
            each(inner, visit);
        }
    }
}

/// Replaces what a block reads and gives, at any depth.
fn replaced(subst: &Subst, block: &mut Block<Point>) {
    for stmt in &mut block.stmts {
        subst.stmt(stmt);
        for inner in stmt.op.blocks_mut() {
            replaced(subst, inner);
        }
    }
    subst.results(block);
}

/// Which of the places of an axis the iterations of a loop have.
#[derive(Clone, Copy, PartialEq)]
enum Places {
    /// Each its own, and so all.
    Own,
    /// From this one on, all that there are.
    All,
    /// From this one on, nearly all.
    Most(i128),
}

impl Places {
    fn are_most(self) -> bool {
        matches!(self, Places::Most(_))
    }
}

/// A table of which each iteration of a loop has a slice.
struct Owned {
    /// The table before the loop.
    table: ValueId,
    /// The state, which becomes the slice.
    state: ValueId,
    /// Along which axis, and its extent.
    axis: usize,
    of: Extent,
    places: Places,
    /// Versions of the table and views of them, by the indices that have selected these.
    versions: BTreeMap<ValueId, Vec<ValueId>>,
}

impl Owned {
    fn of(
        program: &Program<Point>,
        defs: &Defs,
        (extent, body): (Extent, &Block<Point>),
        (slot, &table): (usize, &ValueId),
    ) -> Option<Self> {
        let (index, state) = (body.params[0], body.params[slot + 1]);
        let dims = &program.ty(state).dims;
        let mut candidates = Vec::new();
        each(body, &mut |stmt| {
            let PointOp::Update { indices, .. } = &stmt.op else {
                return;
            };
            for &place in indices {
                let (origin, by) = defs.offset(place);
                let fits = |axis: &usize| program.elem(place) == Elem::Index(dims[*axis]);
                for axis in (0..dims.len()).filter(fits).filter(|_| origin == index) {
                    if !candidates.contains(&(axis, by)) && candidates.len() < CANDIDATES {
                        candidates.push((axis, by));
                    }
                }
            }
        });
        candidates.into_iter().find_map(|(axis, by)| {
            let of = dims[axis];
            let places = defs.places(by, extent, of)?;
            let mut look = Look {
                defs,
                axis,
                place: (index, by),
                dims,
                versions: BTreeMap::from([(state, Vec::new())]),
                loops: Vec::new(),
                is_carried: false,
                along: vec![false; dims.len()],
            };
            look.block(body)?;
            let mut results = body.results.iter().enumerate();
            let fits = results.all(|(k, result)| match look.versions.get(result) {
                Some(indices) => k == slot && indices.is_empty(),
                None => k != slot,
            });
            // What few iterations change of the slices would be copied as a whole.
            let few = places.are_most() || look.is_carried;
            let is_walked = (look.along.iter().enumerate()).all(|(k, walked)| *walked || k == axis);
            let versions = look.versions;
            (fits && (is_walked || !few)).then_some(Self {
                table,
                state,
                axis,
                of,
                places,
                versions,
            })
        })
    }

    /// Makes versions of a table slices of it.
    fn narrow(&self, program: &mut Program<Point>, subst: &mut Subst, body: &mut Block<Point>) {
        for (&value, indices) in &self.versions {
            let dims = &mut program.values[value.index()].ty.dims;
            dims.remove(self.axis - indices.len());
        }
        self.block(subst, body);
    }

    fn block(&self, subst: &mut Subst, block: &mut Block<Point>) {
        block.stmts.retain_mut(|stmt| {
            for inner in stmt.op.blocks_mut() {
                self.block(subst, inner);
            }
            let (PointOp::Index { table, indices } | PointOp::Update { table, indices, .. }) =
                &mut stmt.op
            else {
                return true;
            };
            let Some(before) = self.versions.get(table) else {
                return true;
            };
            if before.len() + indices.len() <= self.axis {
                return true;
            }
            indices.remove(self.axis - before.len());
            if !indices.is_empty() {
                return true;
            }
            let (PointOp::Index { table: of, .. } | PointOp::Update { value: of, .. }) = stmt.op
            else {
                return true;
            };
            subst.replace(stmt.results[0], of);
            false
        });
    }
}

/// Looks whether a table is read and changed at one place along an axis.
struct Look<'l> {
    defs: &'l Defs,
    axis: usize,
    /// The index of the loop, and what is added to it.
    place: (ValueId, i128),
    dims: &'l [Extent],
    versions: BTreeMap<ValueId, Vec<ValueId>>,
    /// The loops around, by their indices.
    loops: Vec<(ValueId, Extent)>,
    /// Whether a loop hands on versions.
    is_carried: bool,
    /// Along which axes nearly all is changed.
    along: Vec<bool>,
}

impl Look<'_> {
    /// Whether a statement reads a version, as far as is known so far.
    fn reads(&self, stmt: &Stmt<Point>) -> bool {
        let is_version = |value: &ValueId| self.versions.contains_key(value);
        let mut inner = stmt.op.blocks().into_iter();
        stmt.op.reads_any(|value| is_version(&value))
            || inner.any(|block| block.free().iter().any(is_version))
    }

    fn is_own(&self, place: ValueId) -> bool {
        self.defs.offset(place) == self.place
    }

    /// The indices that select a value, if it is a view.
    fn view(&self, value: ValueId) -> Option<Vec<ValueId>> {
        self.versions.get(&value).cloned()
    }

    /// Nothing where a table is read or changed elsewhere, or as a whole.
    fn block(&mut self, block: &Block<Point>) -> Option<()> {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt<Point>) -> Option<()> {
        match &stmt.op {
            PointOp::Index { table, indices } => {
                let Some(before) = self.view(*table) else {
                    return Some(());
                };
                let at = [&before, indices.as_slice()].concat();
                match at.get(self.axis) {
                    Some(place) => self.is_own(*place).then_some(()),
                    None => {
                        self.versions.insert(stmt.results[0], at);
                        Some(())
                    }
                }
            }
            PointOp::Update {
                table,
                indices,
                value,
            } => {
                let (before, of) = (self.view(*table), self.view(*value));
                let Some(before) = before else {
                    return of.is_none().then_some(());
                };
                let at = [&before, indices.as_slice()].concat();
                let fits = match at.get(self.axis) {
                    Some(place) => self.is_own(*place) && of.is_none(),
                    None => of.as_ref() == Some(&at),
                };
                self.versions.insert(stmt.results[0], before);
                self.walk(&at);
                fits.then_some(())
            }
            PointOp::For { extent, body } => self.repeated(stmt, (*extent, body), &[]),
            PointOp::Loop {
                extent, init, body, ..
            } => self.repeated(stmt, (*extent, body), init),
            PointOp::While {
                init, cond, body, ..
            } => {
                self.carry(init, &cond.params);
                self.carry(init, &body.params);
                self.block(cond)?;
                self.block(body)?;
                self.handed_on(init, &body.results, &stmt.results)
            }
            PointOp::If {
                then, otherwise, ..
            } => {
                self.block(then)?;
                self.block(otherwise)?;
                self.handed_on(&then.results, &otherwise.results, &stmt.results)
            }
            _ => (!self.reads(stmt)).then_some(()),
        }
    }

    /// A loop with states and what it collects.
    fn repeated(
        &mut self,
        stmt: &Stmt<Point>,
        (extent, body): (Extent, &Block<Point>),
        init: &[ValueId],
    ) -> Option<()> {
        self.carry(init, &body.params[1..]);
        self.loops.push((body.params[0], extent));
        self.block(body)?;
        self.loops.pop();
        self.handed_on(init, &body.results, &stmt.results)?;
        // The views of all places along an axis are a version.
        let collected = body.results.iter().zip(&stmt.results).skip(init.len());
        for (&value, &result) in collected {
            if let Some(mut at) = self.view(value) {
                let is_own = at.pop()? == body.params[0] && self.dims[at.len()] == extent;
                is_own.then_some(())?;
                self.versions.insert(result, at);
            }
        }
        Some(())
    }

    /// What a loop hands on at first, its iterations have.
    fn carry(&mut self, init: &[ValueId], params: &[ValueId]) {
        for (&init, &param) in init.iter().zip(params) {
            if let Some(view) = self.view(init) {
                self.is_carried = true;
                self.versions.insert(param, view);
            }
        }
    }

    /// Of two values one of which is the result: both are the same view, or none.
    fn handed_on(&mut self, one: &[ValueId], other: &[ValueId], results: &[ValueId]) -> Option<()> {
        for ((&one, &other), &result) in one.iter().zip(other).zip(results) {
            let view = self.view(one);
            (view == self.view(other)).then_some(())?;
            if let Some(view) = view {
                self.versions.insert(result, view);
            }
        }
        Some(())
    }

    /// Notes along which axes a change at a place is made nearly everywhere.
    fn walk(&mut self, at: &[ValueId]) {
        for (axis, walked) in self.along.iter_mut().enumerate() {
            let of = self.dims[axis];
            *walked |= at.get(axis).is_none_or(|&place| {
                let mut loops = self.loops.iter();
                let (origin, by) = self.defs.offset(place);
                loops.any(|&(index, extent)| {
                    origin == index && self.defs.places(by, extent, of).is_some()
                })
            });
        }
    }
}

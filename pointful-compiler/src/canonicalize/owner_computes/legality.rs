//! Which tables the iterations of a loop share between them.

use std::collections::BTreeMap;

use crate::canonicalize::distances::Distances;
use crate::canonicalize::interior::each;
use crate::canonicalize::substitution::Subst;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, ValueId};

/// The most places at which a table may be changed that are tried.
const CANDIDATES: usize = 8;

/// A table of which each iteration of a loop has a slice.
pub(super) struct Owned {
    /// The table before the loop.
    pub(super) table: ValueId,
    /// The state, which becomes the slice.
    pub(super) state: ValueId,
    /// Along which axis, and its extent.
    pub(super) axis: usize,
    pub(super) of: Extent,
    /// If not all places of the axis are some iteration's, the first that is.
    pub(super) first: Option<i128>,
    /// Versions of the table and views of them, by the indices that have selected these.
    pub(super) versions: BTreeMap<ValueId, Vec<ValueId>>,
}

impl Owned {
    /// The table that a state is, if the iterations share it.
    pub(super) fn of(
        program: &Program<Point>,
        distances: &Distances,
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
                let (origin, by) = distances.offset(place);
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
            let first = distances.places(by, extent, of)?;
            let mut look = Look {
                distances,
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
            let few = first.is_some() || look.is_carried;
            let is_walked = (look.along.iter().enumerate()).all(|(k, walked)| *walked || k == axis);
            let versions = look.versions;
            (fits && (is_walked || !few)).then_some(Self {
                table,
                state,
                axis,
                of,
                first,
                versions,
            })
        })
    }

    /// Makes versions of a table slices of it.
    pub(super) fn narrow(
        &self,
        program: &mut Program<Point>,
        subst: &mut Subst,
        body: &mut Block<Point>,
    ) {
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
    distances: &'l Distances,
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
        self.distances.is_at(place, self.place)
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
                let (origin, by) = self.distances.offset(place);
                loops.any(|&(index, extent)| {
                    origin == index && self.distances.places(by, extent, of).is_some()
                })
            });
        }
    }
}

//! Sums of products of two arrays: products of matrices, in any orientation and in batches, which a
//! library multiplies.
//!
//! ```text
//! %0[i, j, k] = mul a, b             %0 = alloc f64[I, J]
//! %1[i, j] = reduce add [k] %0       contract %0[0, 1] = a[0, 2], b[2, 1]
//! ```
//!
//! # Which
//!
//! The sum runs along axes that both factors have, and each of them has an axis of the result that
//! the other has not: so every element of a factor is needed again and again, and a loop that
//! computes one element of the result after the other would fetch it from memory each time. The
//! factors are arrays, or made arrays, which costs little beside the products. On matrices that are
//! known to be small a call costs more than it saves.
//!
//! What is multiplied and the result become arrays, which they need not be if they are used up at
//! once: with more axes than a matrix they might be larger than memory. So they are matrices, or
//! no larger than a parameter, or they are stored without any library too, or made of what is: how
//! many axes they have does not matter then. A factor that is larger, as windows are, is made
//! [a panel](panels) at a time.
//!
//! A library computes whole arrays on all threads, so what is in lanes or in a kernel stays a loop.
//!
//! # What is added, and what is read
//!
//! A loop that adds a contraction to what it carries adds it [in place](add_in_place). A factor
//! that is a row, or the like, of a larger array is read there.

use std::collections::BTreeMap;

use super::build::{Builder, Location};
use super::facts::{Facts, on_demand, without};
use super::region::{Place, Region};
use super::tasks::TaskId;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{Along, KernelOp, Mask};
use crate::ir::{AxisId, Block, Extent, Lit, Monoid, Operation, Param, Program, Stmt, ValueId};
use crate::ops::Prim;

/// Elements that a matrix has at least along its rows, its columns and the summed axes, as far as
/// that is known.
const LEAST: u64 = 8;

/// Axes of constant length below this do not count where it is asked how much is stored.
const FEW: u64 = 8;

/// What a statement sums, and along which axes.
pub(super) fn summed(op: &BulkOp) -> Option<(ValueId, &[AxisId])> {
    match op {
        BulkOp::Reduce {
            combine: Combine::Monoid(Monoid::Add),
            axes,
            operands,
        } => Some((*operands.first()?, axes)),
        BulkOp::Scatter {
            monoid: Monoid::Add,
            at,
            over,
            value,
            mask: None,
            ..
        } if at.is_empty() => Some((*value, over)),
        _ => None,
    }
}

/// Products of matrices that are summed up.
pub(super) struct Products {
    pub(super) factors: [ValueId; 2],
    /// If they and the sum may be stored, along which axes one after the other: see [`panels`].
    /// Else they are no contraction.
    pub(super) panels: Option<Vec<AxisId>>,
    /// Which of them are terms; where not, the first factor is zero.
    pub(super) mask: Option<ValueId>,
}

/// The products of matrices that a statement outside of all lanes sums up.
pub(super) fn contraction(facts: &Facts<'_>, stmt: &Stmt<Bulk>) -> Option<Products> {
    let (product, summed) = summed(&stmt.op)?;
    let &result = stmt.results.first()?;
    if stmt.guard.is_some() {
        return None;
    }
    let mut found = match stmt.op {
        BulkOp::Reduce { .. } => products_that_are_kept(facts, result, product, summed),
        _ => None,
    }
    .or_else(|| products(facts, result, product, summed))?;
    // What is added to something that a loop carries is added as a whole.
    let apart = matches!(stmt.op, BulkOp::Reduce { .. });
    found.panels = found.panels.filter(|axes| apart || axes.is_empty());
    Some(found)
}

/// The products of matrices that are summed up along some axes.
pub(super) fn products(
    facts: &Facts<'_>,
    result: ValueId,
    product: ValueId,
    summed: &[AxisId],
) -> Option<Products> {
    let factors = own_factors(facts, product, facts.home(result))?;
    products_of(facts, result, factors, summed)
}

/// Those of which [one factor is zero](super::masked) where they are no terms.
fn products_that_are_kept(
    facts: &Facts<'_>,
    result: ValueId,
    product: ValueId,
    summed: &[AxisId],
) -> Option<Products> {
    let (cond, _, _, factors) = masked_product(facts, product, facts.home(result))?;
    match facts.site(factors[0]).map(|stmt| &stmt.op) {
        Some(&BulkOp::Select(same, _, zero)) if same == cond && is_zero(facts, zero) => {}
        _ => return None,
    }
    let found = products_of(facts, result, factors, summed)?;
    let whole = found.panels.as_ref().is_some_and(Vec::is_empty);
    whole.then_some(Products {
        mask: Some(cond),
        ..found
    })
}

/// A product under a condition, elsewhere zero, that only one statement asks for: the condition,
/// the zero, the product and its factors.
pub(super) fn masked_product(
    facts: &Facts<'_>,
    value: ValueId,
    home: usize,
) -> Option<(ValueId, ValueId, ValueId, [ValueId; 2])> {
    let &BulkOp::Select(cond, product, zero) = &own_site(facts, value, home)?.op else {
        return None;
    };
    let factors = own_factors(facts, product, home)?;
    is_zero(facts, zero).then_some((cond, zero, product, factors))
}

/// Whether a value is the number zero.
pub(super) fn is_zero(facts: &Facts<'_>, value: ValueId) -> bool {
    match facts.site(value).map(|stmt| &stmt.op) {
        Some(BulkOp::Const(lit)) => *lit == Lit::of(lit.scalar(), 0.0),
        _ => false,
    }
}

/// The products of these factors, if they are of matrices.
pub(super) fn products_of(
    facts: &Facts<'_>,
    result: ValueId,
    factors: [ValueId; 2],
    summed: &[AxisId],
) -> Option<Products> {
    if !facts.program.elem(result).is_float() {
        return None;
    }
    let shape = Shape {
        left: facts.axes(factors[0]),
        right: facts.axes(factors[1]),
        summed,
        result: facts.axes(result),
    };
    if !shape.is_of_matrices(|axis| facts.extent(axis)) {
        return None;
    }
    let [sum, left, right] =
        [result, factors[0], factors[1]].map(|value| Shape::fits(facts, value));
    let panels = match [sum, left, right] {
        [true, true, true] => Some(Vec::new()),
        [true, false, true] => panels(facts, &shape, factors),
        [true, true, false] => panels(facts, &shape.turned(), [factors[1], factors[0]]),
        _ => None,
    };
    Some(Products {
        factors,
        panels,
        mask: None,
    })
}

/// The axes along which the left factor is made one place after the other, as it is too large to be
/// stored: all that it shares with the sum but the last row. What is left is a matrix, a *panel*.
///
/// ```text
/// par %s: S, %y: Y {
///   %0 = alloc f32[X, C, 3, 3]                 windows of one row of an image
///   …
///   contract %1[%s, 0, %y, 1] = w[0, 2, 3, 4], %0[1, 2, 3, 4]
/// }
/// ```
fn panels(facts: &Facts<'_>, shape: &Shape<'_>, [made, _]: [ValueId; 2]) -> Option<Vec<AxisId>> {
    // Others would have to make it again.
    let own = facts.readers(made).len() == 1 && facts.site(made)?.guard.is_none();
    if !own || !on_demand(&facts.site(made)?.op) {
        return None;
    }
    let shared = shape.result.iter().filter(|axis| shape.left.contains(axis));
    let mut apart: Vec<AxisId> = shared.copied().collect();
    let row = apart.iter().rposition(|axis| !shape.right.contains(axis))?;
    apart.remove(row);
    let [left, right, result] =
        [shape.left, shape.right, shape.result].map(|axes| without(axes, &apart));
    let panel = Shape {
        left: &left,
        right: &right,
        summed: shape.summed,
        result: &result,
    };
    // Rows of a batch alone are no reason to go through the batch.
    let rows = apart.iter().any(|axis| !shape.right.contains(axis));
    let matrices = panel.is_of_matrices(|axis| facts.extent(axis));
    (rows && matrices && Shape::is_storable(facts, &left)).then_some(apart)
}

/// The factors of a product in some block that only one statement asks for.
pub(super) fn own_factors(
    facts: &Facts<'_>,
    product: ValueId,
    home: usize,
) -> Option<[ValueId; 2]> {
    match &own_site(facts, product, home)?.op {
        BulkOp::Map(Prim::Mul | Prim::MulAbsorb, args) => args.as_slice().try_into().ok(),
        _ => None,
    }
}

impl Facts<'_> {
    /// Whether what a statement sums up are absorbing products.
    pub(super) fn absorbs(&self, stmt: &Stmt<Bulk>) -> bool {
        let product = summed(&stmt.op).and_then(|(product, _)| self.site(product));
        matches!(
            product.map(|site| &site.op),
            Some(BulkOp::Map(Prim::MulAbsorb, _))
        )
    }
}

/// The statement in some block of which a value is, if only one other asks for it.
pub(super) fn own_site<'p>(
    facts: &Facts<'p>,
    value: ValueId,
    home: usize,
) -> Option<&'p Stmt<Bulk>> {
    let own = facts.readers(value).len() == 1 && !facts.given(value) && facts.home(value) == home;
    facts.site(value).filter(|site| own && site.guard.is_none())
}

/// The axes of a sum of products of two arrays.
pub(crate) struct Shape<'a> {
    pub(crate) left: &'a [AxisId],
    pub(crate) right: &'a [AxisId],
    pub(crate) summed: &'a [AxisId],
    pub(crate) result: &'a [AxisId],
}

impl Shape<'_> {
    /// The same with the factors exchanged.
    fn turned(&self) -> Self {
        Shape {
            left: self.right,
            right: self.left,
            ..*self
        }
    }

    /// Whether these are matrices, as large as is worth a call, where axes have these extents.
    pub(crate) fn is_of_matrices(&self, extent: impl Fn(AxisId) -> Extent) -> bool {
        let (a, b) = (self.left, self.right);
        let rows = a.iter().filter(|axis| !b.contains(axis));
        let columns = b.iter().filter(|axis| !a.contains(axis));
        let both = self
            .summed
            .iter()
            .all(|axis| a.contains(axis) && b.contains(axis));
        let large = |axes: &mut dyn Iterator<Item = &AxisId>| {
            let mut known = Some(1u64);
            let mut any = false;
            for &axis in axes {
                any = true;
                known = match (known, extent(axis)) {
                    (Some(known), Extent::Const(length)) => Some(known.saturating_mul(length)),
                    _ => None,
                };
            }
            any && known.is_none_or(|known| known >= LEAST)
        };
        let matrices = large(&mut rows.clone())
            && large(&mut columns.clone())
            && large(&mut self.summed.iter());
        let all = a.iter().chain(b).chain(self.result);
        // Known before the program's first statement.
        let regular = all
            .copied()
            .all(|axis| !matches!(extent(axis), Extent::Value(_)));
        let given = rows.chain(columns).all(|axis| self.result.contains(axis));
        both && matrices && regular && given
    }

    /// Whether an array may be stored for it.
    pub(super) fn fits(facts: &Facts<'_>, value: ValueId) -> bool {
        Self::is_storable(facts, facts.axes(value))
            || is_whole(facts, value, 16)
            || is_made_of_as_much(facts, value, 16)
    }

    /// Whether an array over these axes may be stored.
    pub(super) fn is_storable(facts: &Facts<'_>, axes: &[AxisId]) -> bool {
        let covers = |param: &Param| {
            axes.iter()
                .all(|axis| facts.axes(param.value).contains(axis))
        };
        let mut params = facts.program.params.iter();
        let long = axes.iter().filter(|&&axis| !facts.is_few(axis));
        long.count() <= 2 || params.any(covers)
    }
}

/// Whether an array is computed of one that is stored as a whole and has as many bytes: storing it
/// takes no more room than there is, and an element that is written and read once saves as many
/// steps as there are along the summed axes.
fn is_made_of_as_much(facts: &Facts<'_>, value: ValueId, budget: u32) -> bool {
    let bytes = |value: ValueId| facts.program.elem(value).repr().bytes();
    let covers = |&other: &ValueId| {
        let mut axes = facts.axes(value).iter();
        axes.all(|axis| facts.axes(other).contains(axis)) && bytes(other) >= bytes(value)
    };
    let Some(stmt) = facts.site(value).filter(|_| budget > 0) else {
        return false;
    };
    match &stmt.op {
        BulkOp::Map(..) | BulkOp::Select(..) => {
            stmt.op.operands().into_iter().filter(covers).any(|other| {
                facts.stored.contains(&other) || is_made_of_as_much(facts, other, budget / 2)
            })
        }
        _ => false,
    }
}

/// Whether an array is needed as a whole, or one is that is computed of it point for point.
fn is_whole(facts: &Facts<'_>, value: ValueId, budget: u32) -> bool {
    let axes = facts.axes(value).len();
    let same = |stmt: &Stmt<Bulk>| {
        let pointwise = matches!(stmt.op, BulkOp::Map(..) | BulkOp::Select(..));
        pointwise && facts.axes(stmt.results[0]).len() == axes
    };
    let mut readers = facts.readers(value).iter();
    facts.given(value)
        || facts.is_gathered(value)
        || facts.stored.contains(&value)
        || budget > 0
            && readers
                .any(|&(reader, _)| same(reader) && is_whole(facts, reader.results[0], budget / 2))
}

impl Facts<'_> {
    /// Whether an axis is known to have few places.
    fn is_few(&self, axis: AxisId) -> bool {
        matches!(self.extent(axis), Extent::Const(length) if length < FEW)
    }
}

impl<'p> Builder<'p> {
    /// Hands a contraction to the library.
    pub(super) fn contract(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        factors: [ValueId; 2],
    ) {
        let result = stmt.results[0];
        let place = match region.places[task].first() {
            Some(place) => place.clone(),
            None => {
                let place = match stmt.op {
                    BulkOp::Scatter { .. } => self.versioned(region, task, stmt),
                    _ => self.place(result, None),
                };
                self.locate(result, place.location(self.depth()));
                place
            }
        };
        if place.is_nowhere() {
            return;
        }
        #[cfg(test)]
        if !self.facts.panels(stmt).is_empty() {
            crate::testing::entered::enter(&crate::testing::entered::PANELS);
        }
        let factors = factors.map(|factor| self.whole(factor));
        let mask = self.facts.mask(stmt).map(|mask| self.whole(mask));
        let mut numbers: BTreeMap<AxisId, usize> = BTreeMap::new();
        let mut number = |dims: &[Dim]| {
            let number = |dim: &Dim| match *dim {
                Dim::Along(axis) => {
                    let next = numbers.len();
                    Along::Axis(*numbers.entry(axis).or_insert(next))
                }
                Dim::At(index) => Along::At(index),
            };
            dims.iter().map(number).collect()
        };
        let out = self.dims(place.id, &place.dims);
        let along = [number(&out), number(&factors[0].1), number(&factors[1].1)];
        let mask = mask.map(|(buffer, dims)| Mask {
            buffer,
            along: number(&dims),
        });
        self.run_from(
            KernelOp::Contract {
                out: place.id,
                factors: factors.map(|(buffer, _)| buffer),
                along,
                add: matches!(stmt.op, BulkOp::Scatter { .. }),
                absorb: self.facts.absorbs(stmt),
                mask,
            },
            stmt.span,
        );
    }

    /// The buffer in which an array is, and what its dimensions are to the array; one is made if it
    /// is in none.
    fn whole(&mut self, value: ValueId) -> (ValueId, Vec<Dim>) {
        if let Some(Location::Buffer { buffer, dims, .. }) = self.location(value).cloned() {
            return (buffer, self.dims(buffer, &dims));
        }
        if let Some((table, at)) = self.facts.slice(value)
            && let Some(Location::Buffer { buffer, dims, .. }) = self.location(table).cloned()
        {
            let mut slice = Vec::with_capacity(dims.len());
            for (number, axis) in dims.into_iter().enumerate() {
                slice.push(match at.iter().find(|(moved, _)| *moved == axis) {
                    Some(&(_, index)) => {
                        let (index, depth) = self.eval(index);
                        Dim::At(self.widen(index, buffer, number, depth))
                    }
                    None => self.dim(buffer, number, axis),
                });
            }
            return (buffer, slice);
        }
        let place: Place = self.place(value, None);
        self.fill(&place, value);
        let dims = self.dims(place.id, &place.dims);
        (place.id, dims)
    }

    /// What the dimensions of a buffer over some axes are: one place along those that are open.
    fn dims(&mut self, buffer: ValueId, axes: &[AxisId]) -> Vec<Dim> {
        let axes = axes.iter().enumerate();
        axes.map(|(number, &axis)| self.dim(buffer, number, axis))
            .collect()
    }

    fn dim(&mut self, buffer: ValueId, number: usize, axis: AxisId) -> Dim {
        if !self.open().contains(&axis) {
            return Dim::Along(axis);
        }
        let (index, depth) = self.index(axis);
        Dim::At(self.widen(index, buffer, number, depth))
    }
}

/// What a dimension of a buffer is to an array that is in it.
enum Dim {
    Along(AxisId),
    /// It has one place along it, that of this index.
    At(ValueId),
}

impl<'p> Facts<'p> {
    /// The array of which a value is what is at one place along some axes, the same for all
    /// elements, and the place.
    pub(super) fn slice(&self, value: ValueId) -> Option<(ValueId, &'p [(AxisId, ValueId)])> {
        let stmt = self.site(value)?;
        match &stmt.op {
            BulkOp::Gather { table, at } if stmt.guard.is_none() => {
                let same = at.iter().all(|&(_, index)| self.axes(index).is_empty());
                (same && !at.is_empty() && !self.is_gathered(value)).then_some((*table, at))
            }
            _ => None,
        }
    }
}

/// Contractions that a loop adds to what it carries, if that is all it does with it. As
/// accumulations onto it they need no place of their own.
///
/// ```text
/// loop %t: T (%s[i, j] = …) {                   loop %t: T (%s[i, j] = …) {
///   %1[i, j] = reduce add [k] %0          ▶       %2[i, j] = scatter add %s [] over [k] %0
///   %2[i, j] = add %s, %1                         yield %2
///   yield %2                                    }
/// }
/// ```
pub(super) fn added(facts: &Facts<'_>) -> Option<Added> {
    let mut found = Added::new();
    find(facts, &facts.program.body, &mut found);
    (!found.is_empty()).then_some(found)
}

/// What is added to what, by the value that the sum is; and the contractions, which are nothing by
/// themselves.
pub(super) type Added = BTreeMap<ValueId, Option<BulkOp>>;

/// The program with these accumulated in place.
pub(super) fn add_in_place(program: Program<Bulk>, found: &Added) -> Program<Bulk> {
    program.rewritten(|_, body| rewrite(body, found))
}

fn find(facts: &Facts<'_>, block: &Block<Bulk>, found: &mut Added) {
    for stmt in &block.stmts {
        let (BulkOp::Loop { body, .. } | BulkOp::While { body, .. }) = &stmt.op else {
            continue;
        };
        find(facts, body, found);
        for &next in &body.results {
            let only_read = |value: ValueId| facts.readers(value).len() == 1 && !facts.given(value);
            let added = facts.site(next).filter(|stmt| stmt.guard.is_none());
            let Some(BulkOp::Map(Prim::Add, args)) = added.map(|stmt| &stmt.op) else {
                continue;
            };
            let carried = |value: &ValueId| body.params.contains(value) && only_read(*value);
            let (state, sum) = match (carried(&args[0]), carried(&args[1])) {
                (true, _) => (args[0], args[1]),
                (false, true) => (args[1], args[0]),
                (false, false) => continue,
            };
            let here = facts.home(sum) == facts.home(next) && facts.home(state) == facts.home(next);
            if !here || !only_read(sum) || facts.axes(state) != facts.axes(next) {
                continue;
            }
            let whole = |s: &&Stmt<Bulk>| facts.factors(s).is_some() && facts.panels(s).is_empty();
            let Some(contraction) = facts.site(sum).filter(whole) else {
                continue;
            };
            let Some((value, over)) = summed(&contraction.op) else {
                continue;
            };
            let op = BulkOp::Scatter {
                monoid: Monoid::Add,
                base: state,
                at: Vec::new(),
                over: over.to_vec(),
                value,
                mask: None,
            };
            found.insert(next, Some(op));
            found.insert(sum, None);
        }
    }
}

fn rewrite(block: &mut Block<Bulk>, found: &Added) {
    block.stmts.retain_mut(|stmt| {
        for inner in stmt.op.blocks_mut() {
            rewrite(inner, found);
        }
        match stmt.results.first().and_then(|result| found.get(result)) {
            Some(Some(op)) => {
                stmt.op = op.clone();
                true
            }
            Some(None) => false,
            None => true,
        }
    });
}

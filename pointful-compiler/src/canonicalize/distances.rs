//! How far indices are from those of loops, and extents from each other.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::eval::{ScalarValue, eval_const};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Extent, Lit, Operation, Scalar, ValueId};
use crate::ops::Prim;

/// The most places at either end of an axis that a loop leaves out.
const ENDS: i128 = 8;

/// The most operations that an extent is computed with from another.
const STEPS: u32 = 8;

/// What indices and extents are computed from.
#[derive(Default)]
pub(super) struct Distances {
    ops: BTreeMap<ValueId, PointOp>,
    /// How often loops run, by their indices.
    extents: BTreeMap<ValueId, Extent>,
    /// By how much extents that are computed are less than others.
    less: RefCell<BTreeMap<(ValueId, Extent), Option<i128>>>,
}

impl Distances {
    /// Those in a program with this body.
    pub(super) fn of(body: &Block<Point>) -> Self {
        let mut distances = Self::default();
        distances.learn(body);
        distances
    }

    /// Those in a block as well.
    pub(super) fn learn(&mut self, block: &Block<Point>) {
        for stmt in &block.stmts {
            if let PointOp::Const(_) | PointOp::Size(_) | PointOp::Prim(..) = stmt.op {
                self.ops.insert(stmt.results[0], stmt.op.clone());
            }
            if let PointOp::For { extent, body } | PointOp::Loop { extent, body, .. } = &stmt.op {
                self.extents.insert(body.params[0], *extent);
            }
            for inner in stmt.op.blocks() {
                self.learn(inner);
            }
        }
    }

    /// What computes a value, of integers and conditions.
    pub(super) fn op(&self, value: ValueId) -> Option<&PointOp> {
        self.ops.get(&value)
    }

    fn int(&self, value: ValueId) -> Option<i128> {
        match self.ops.get(&value)? {
            PointOp::Const(Lit::Int(_, number)) => Some(*number),
            _ => None,
        }
    }

    /// The index to which a small number has been added, and the number. No axis has so many members
    /// that integers overflow by that.
    pub(super) fn offset(&self, value: ValueId) -> (ValueId, i128) {
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

    /// By how much an extent is less than another, if it is by a few or by no more than half. There may
    /// be nothing left, and never is more.
    pub(super) fn less(&self, extent: Extent, than: Extent) -> Option<i128> {
        let value = match (extent, than) {
            _ if extent == than => return Some(0),
            (Extent::Const(few), Extent::Const(all)) => {
                let few = i128::from(few);
                let less = i128::from(all) - few;
                return (0..=few).contains(&less).then_some(less);
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

    /// What a number is if an extent has so many members, where it is that extent and at most `steps`
    /// small numbers added, taken away or compared with.
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

    /// Whether the indices of a loop over an extent and a number are nearly all places of an axis, and
    /// no others. If they are not all, the first.
    pub(super) fn places(&self, by: i128, extent: Extent, of: Extent) -> Option<Option<i128>> {
        let less = self.less(extent, of)?;
        let fits = (0..=less).contains(&by);
        fits.then_some((less > 0).then_some(by))
    }

    /// Whether a number is the index of a loop and a small number, which together are in range for all
    /// members of the loop.
    pub(super) fn is_within(&self, value: ValueId, of: Extent) -> bool {
        let (origin, by) = self.offset(value);
        let extent = self.extents.get(&origin);
        extent.is_some_and(|&extent| self.places(by, extent, of).is_some())
    }

    /// Whether no check can fail on the way from a loop's index, or from what is given, to a value.
    pub(super) fn is_safe(&self, value: ValueId) -> bool {
        let origin = self.offset(value).0;
        match self.extents.contains_key(&origin) {
            true => self.is_sure(value),
            false => value == origin,
        }
    }

    /// Whether a value is that index of a loop, and the number, and no check on the way can fail.
    pub(super) fn is_at(&self, value: ValueId, at: (ValueId, i128)) -> bool {
        self.offset(value) == at && self.is_sure(value)
    }

    fn is_sure(&self, value: ValueId) -> bool {
        let Some(PointOp::Prim(prim, args)) = self.ops.get(&value) else {
            return true;
        };
        let holds = match prim {
            Prim::Check(of) => self.is_within(args[0], *of),
            _ => true,
        };
        holds && args.iter().all(|&arg| self.is_sure(arg))
    }
}

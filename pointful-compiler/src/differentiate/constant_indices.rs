//! Places that are known while compiling: constants, and what is computed from the indices of short
//! axes.

use super::builder::Builder;
use crate::eval::{ScalarValue, eval_const};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Extent, Lit, Operation, Stmt, ValueId, ValueMap};

/// The most places that are written down, and the most points of axes along which places are known:
/// what a loop of constant length would be unrolled to.
pub(super) const MOST: u64 = 32;

/// How deep definitions of places are looked into.
const DEEPEST: usize = 12;

/// What defines values that are met.
#[derive(Default)]
pub(super) struct Defs {
    ops: ValueMap<(BulkOp, Option<ValueId>)>,
}

/// The coordinates of a place along some axes.
pub(super) type Point = Vec<(AxisId, u64)>;

impl Defs {
    pub(super) fn note(&mut self, stmt: &Stmt<Bulk>) {
        if let &[result] = stmt.results.as_slice()
            && stmt.op.blocks().is_empty()
        {
            self.ops.insert(result, (stmt.op.clone(), stmt.guard));
        }
    }

    /// The definition of what is defined everywhere.
    pub(super) fn of(&self, value: ValueId) -> Option<&BulkOp> {
        match self.ops.get(&value)? {
            (op, None) => Some(op),
            (_, Some(_)) => None,
        }
    }

    /// Whether a value is not one that stands behind something.
    pub(super) fn is_anywhere(&self, value: ValueId) -> bool {
        self.ops
            .get(&value)
            .is_none_or(|(_, guard)| guard.is_none())
    }

    /// The definition of a value wherever it is used: what stands behind a condition is not used
    /// where that does not hold.
    pub(super) fn used(&self, value: ValueId) -> Option<&BulkOp> {
        self.ops.get(&value).map(|(op, _)| op)
    }

    /// Whether a value is zero everywhere.
    pub(super) fn is_zero(&self, value: ValueId) -> bool {
        match self.of(value) {
            Some(BulkOp::Const(Lit::F64(bits))) => f64::from_bits(*bits) == 0.0,
            Some(BulkOp::Const(Lit::F32(bits))) => f32::from_bits(*bits) == 0.0,
            _ => false,
        }
    }

    /// Whether a value is known to be finite and not zero.
    pub(super) fn is_finite(&self, value: ValueId) -> bool {
        let number = match self.of(value) {
            Some(BulkOp::Const(Lit::F64(bits))) => f64::from_bits(*bits),
            Some(BulkOp::Const(Lit::F32(bits))) => f64::from(f32::from_bits(*bits)),
            _ => return false,
        };
        number.is_finite() && number != 0.0
    }

    pub(super) fn insert(&mut self, value: ValueId, op: BulkOp) {
        self.ops.insert(value, (op, None));
    }

    /// What an index is at each point of its axes, if that is known. It may stand behind a guard:
    /// it is not used elsewhere.
    pub(super) fn known(&self, b: &Builder, index: ValueId) -> Option<Vec<(Point, u64)>> {
        // Behind a condition a constant has the condition's axes.
        let points = match self.at(index, &Point::new(), DEEPEST) {
            Some(_) => vec![Point::new()],
            None => points(b, &b.dims(index))?,
        };
        let place = |point: Point| {
            let place = self.at(index, &point, DEEPEST)?;
            let place = u64::try_from(place.int()?).ok()?;
            Some((point, place))
        };
        points.into_iter().map(place).collect()
    }

    /// What a value is at a point, if that is known.
    pub(super) fn value_at(&self, value: ValueId, point: &Point) -> Option<ScalarValue> {
        self.at(value, point, DEEPEST)
    }

    fn at(&self, value: ValueId, point: &Point, depth: usize) -> Option<ScalarValue> {
        let depth = depth.checked_sub(1)?;
        match self.used(value)? {
            BulkOp::Const(lit) => Some(ScalarValue::from_lit(*lit)),
            BulkOp::Size(Extent::Const(n)) => Some(ScalarValue::Usize(usize::try_from(*n).ok()?)),
            BulkOp::Iota(axis) => {
                let (_, k) = point.iter().find(|(other, _)| other == axis)?;
                Some(ScalarValue::Usize(usize::try_from(*k).ok()?))
            }
            BulkOp::Map(prim, args) => {
                let args: Vec<ScalarValue> = args
                    .iter()
                    .map(|&arg| self.at(arg, point, depth))
                    .collect::<Option<_>>()?;
                eval_const(*prim, &args)
            }
            BulkOp::Gather { table, at } => {
                let mut there = point.clone();
                there.retain(|(axis, _)| at.iter().all(|(moved, _)| moved != axis));
                for &(axis, index) in at {
                    let place = self.at(index, point, depth)?.int()?;
                    there.push((axis, u64::try_from(place).ok()?));
                }
                self.at(*table, &there, depth)
            }
            _ => None,
        }
    }
}

/// Whether an axis is so short that what is at its places may be written down.
pub(super) fn is_small(b: &Builder, axis: AxisId) -> bool {
    matches!(b.extent(axis), Extent::Const(n) if n <= MOST)
}

/// All points of some axes, if they are few.
pub(super) fn points(b: &Builder, axes: &[AxisId]) -> Option<Vec<Point>> {
    let mut points = vec![Point::new()];
    for &axis in axes {
        let Extent::Const(n) = b.extent(axis) else {
            return None;
        };
        if n.saturating_mul(points.len() as u64) > MOST {
            return None;
        }
        points = points
            .into_iter()
            .flat_map(|point| {
                (0..n).map(move |k| {
                    let mut point = point.clone();
                    point.push((axis, k));
                    point
                })
            })
            .collect();
    }
    Some(points)
}

//! Arrays over named axes, and where in them one stands.

use crate::eval::{EvalError, ScalarValue};
use crate::ir::AxisId;

/// An element; none where a guard was false, or where a ragged axis does not reach.
pub(super) type Cell = Option<ScalarValue>;

/// A place in the index space: by axis, the ordinal there, for the axes that are bound.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place(Vec<Option<usize>>);

impl Place {
    /// Nowhere in particular, among this many axes.
    pub(super) fn nowhere(axes: usize) -> Self {
        Self(vec![None; axes])
    }

    pub(super) fn get(&self, axis: AxisId) -> Option<usize> {
        self.0[axis.0 as usize]
    }

    pub(super) fn is_bound(&self, axis: AxisId) -> bool {
        self.get(axis).is_some()
    }

    /// The same place, but for one axis.
    pub(super) fn with(&self, axis: AxisId, ordinal: usize) -> Self {
        let mut place = self.clone();
        place.0[axis.0 as usize] = Some(ordinal);
        place
    }
}

/// A value over named axes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Array {
    /// The axes it is stored over.
    axes: Vec<AxisId>,
    /// How long each is stored: a ragged axis at its longest.
    shape: Vec<usize>,
    /// Axes that were bound when it was made, and where: it has a value there only.
    bound: Vec<(AxisId, usize)>,
    /// Row-major.
    cells: Vec<Cell>,
}

impl Array {
    /// An array without any values yet.
    pub(super) fn unspecified(
        axes: Vec<AxisId>,
        shape: Vec<usize>,
        bound: Vec<(AxisId, usize)>,
    ) -> Self {
        let cells = vec![None; shape.iter().product()];
        Self {
            axes,
            shape,
            bound,
            cells,
        }
    }

    /// An array with these elements.
    pub(super) fn from_values(
        axes: Vec<AxisId>,
        shape: Vec<usize>,
        values: &[ScalarValue],
    ) -> Self {
        Self {
            axes,
            shape,
            bound: Vec::new(),
            cells: values.iter().copied().map(Some).collect(),
        }
    }

    /// An array without axes.
    pub(super) fn scalar(value: ScalarValue) -> Self {
        Self::from_values(Vec::new(), Vec::new(), &[value])
    }

    /// The element at a place, which must bind every axis of the array.
    pub(super) fn get(&self, place: &Place) -> Result<Cell, EvalError> {
        Ok(self.cells[self.offset(place)?])
    }

    /// Replaces the element at a place.
    pub(super) fn set(&mut self, place: &Place, cell: Cell) -> Result<(), EvalError> {
        let offset = self.offset(place)?;
        self.cells[offset] = cell;
        Ok(())
    }

    /// The largest element, as an extent; 0 if there is none.
    pub(super) fn largest_extent(&self) -> Result<usize, EvalError> {
        let mut largest = 0;
        for cell in self.cells.iter().flatten() {
            match cell {
                ScalarValue::Usize(extent) => largest = largest.max(*extent),
                other => return Err(EvalError::bug(format!("{other} is no extent"))),
            }
        }
        Ok(largest)
    }

    fn offset(&self, place: &Place) -> Result<usize, EvalError> {
        for &(axis, ordinal) in &self.bound {
            if place.get(axis) != Some(ordinal) {
                return Err(EvalError::bug(format!(
                    "what one lane of axis {} computes is read from another",
                    axis.0
                )));
            }
        }
        let mut offset = 0;
        for (&axis, &extent) in self.axes.iter().zip(&self.shape) {
            let Some(ordinal) = place.get(axis) else {
                return Err(EvalError::bug(format!(
                    "an operand has axis {}, which is not bound there",
                    axis.0
                )));
            };
            if ordinal >= extent {
                return Err(EvalError::bug(format!(
                    "axis {} of extent {extent} read at {ordinal}",
                    axis.0
                )));
            }
            offset = offset * extent + ordinal;
        }
        Ok(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_the_same_along_axes_it_lacks() {
        let (i, k) = (AxisId(0), AxisId(1));
        let values = [ScalarValue::I64(5), ScalarValue::I64(6)];
        let array = Array::from_values(vec![k], vec![2], &values);
        let place = Place::nowhere(2).with(k, 1);
        assert_eq!(array.get(&place), Ok(Some(values[1])));
        assert_eq!(array.get(&place.with(i, 9)), Ok(Some(values[1])));
        assert!(array.get(&Place::nowhere(2).with(i, 0)).is_err());
        assert!(array.get(&place.with(k, 2)).is_err());
    }

    #[test]
    fn a_lane_is_not_read_from_another() {
        let i = AxisId(0);
        let array = Array::unspecified(vec![], vec![], vec![(i, 1)]);
        let place = Place::nowhere(1);
        assert_eq!(array.get(&place.with(i, 1)), Ok(None));
        assert!(array.get(&place.with(i, 0)).is_err());
        assert!(array.get(&place).is_err());
    }
}

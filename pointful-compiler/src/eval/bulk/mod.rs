//! The interpreter of Bulk: each definition is evaluated at every point of its axes, one definition
//! after the other.
//!
//! Loops with lanes run once for each lane, with the lanes' axes *bound* to it: definitions inside
//! are then evaluated over their other axes only. Where a guard is false, nothing is evaluated and
//! the element is absent; what is computed from it is absent too, and a result of the program, a
//! guard, a trip count, or an operation that may panic must not meet an absent operand. A `gather`
//! at an absent index gives an absent element.

mod array;
mod loops;

use array::{Array, Cell, Place};
use loops::Prefixes;

use super::UNDERIVED;
use super::data::{Data, ScalarValue};
use super::{
    ArgExtreme, EvalError, Evaluate, Inputs, Meter, Results, combine, eval_prim, identity,
    is_counted, mistyped, static_extent,
};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Block, Extent, Message, Monoid, Program, Stmt, ValueId};
use crate::ops::Prim;

impl Evaluate for Bulk {
    fn evaluate(program: &Program<Self>, inputs: &Inputs, meter: &mut Meter) -> Results {
        let mut run = Run {
            program,
            sizes: &inputs.sizes,
            values: vec![None; program.values.len()],
            here: Place::nowhere(program.decls.axes.len()),
            meter,
        };
        for (param, data) in program.params.iter().zip(&inputs.params) {
            let axes = program.ty(param.value).dims.clone();
            let array = Array::from_values(axes, data.shape.clone(), &data.values);
            run.values[param.value.index()] = Some(array);
        }
        run.stmts(&program.body)?;
        if program.decls.results.len() != program.body.results.len() {
            return Err(EvalError::bug("results without an order of their axes"));
        }
        program
            .body
            .results
            .iter()
            .zip(&program.decls.results)
            .map(|(&result, axes)| run.result(result, axes))
            .collect()
    }

    fn extent(program: &Program<Self>, dim: AxisId) -> Extent {
        program.decls.axes[dim.0 as usize].extent
    }
}

struct Run<'a> {
    program: &'a Program<Bulk>,
    sizes: &'a [usize],
    values: Vec<Option<Array>>,
    /// The axes of the loops around, bound to the iterations and lanes that are being run.
    here: Place,
    meter: &'a mut Meter,
}

impl Run<'_> {
    fn stmts(&mut self, block: &Block<Bulk>) -> Result<(), EvalError> {
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt<Bulk>) -> Result<(), EvalError> {
        self.meter.step()?;
        match &stmt.op {
            BulkOp::Assert {
                cond,
                message,
                shown,
            } => self.assert(stmt, *cond, message, shown),
            BulkOp::Scatter {
                monoid,
                base,
                at,
                over,
                value,
                mask,
            } => self.scatter(stmt, *monoid, *base, at, over, *value, *mask),
            BulkOp::Reduce {
                combine: Combine::Custom { init, op },
                axes,
                operands,
            } => match axes.as_slice() {
                &[axis] => self.fold(stmt, init, axis, operands, op, None),
                _ => Err(EvalError::bug("an operator of one's own takes one axis")),
            },
            BulkOp::Scan {
                init,
                axis,
                reverse,
                full,
                operands,
                op,
            } => {
                let prefixes = Prefixes {
                    reverse: *reverse,
                    full: *full,
                };
                self.fold(stmt, init, *axis, operands, op, Some(prefixes))
            }
            BulkOp::Loop {
                axis,
                reverse,
                checkpoint: _,
                lanes,
                init,
                body,
            } => self.sequential(stmt, *axis, *reverse, lanes, init, body),
            BulkOp::Derive { .. } | BulkOp::Rule { .. } => Err(EvalError::bug(UNDERIVED)),
            BulkOp::While {
                lanes,
                init,
                cond,
                body,
                bound,
            } => self.while_loop(stmt, lanes, init, cond, body, *bound),
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Update { .. } => {
                let &[result] = stmt.results.as_slice() else {
                    return Err(EvalError::bug("a definition of several values"));
                };
                let dims = &self.program.ty(result).dims;
                let array = self.define(dims, |run, place| {
                    if run.is_active(stmt.guard, place)? {
                        run.element(&stmt.op, place)
                    } else {
                        Ok(None)
                    }
                })?;
                self.values[result.index()] = Some(array);
                Ok(())
            }
        }
    }

    /// One element of a definition.
    fn element(&mut self, op: &BulkOp, place: &Place) -> Result<Cell, EvalError> {
        match op {
            BulkOp::Const(lit) => Ok(Some(ScalarValue::from_lit(*lit))),
            BulkOp::Size(extent) => Ok(self.extent(*extent, place)?.map(ScalarValue::Usize)),
            BulkOp::Iota(axis) => match place.get(*axis) {
                Some(ordinal) => Ok(Some(ScalarValue::Usize(ordinal))),
                None => Err(EvalError::bug("`iota` of an axis that is not bound there")),
            },
            BulkOp::Map(prim, operands) => self.map(*prim, operands, place),
            BulkOp::Select(cond, x, y) => {
                self.meter.counts.ops += 1;
                match self.truth(*cond, place)? {
                    Some(true) => self.read(*x, place),
                    Some(false) => self.read(*y, place),
                    None => Ok(None),
                }
            }
            BulkOp::Gather { table, at } => match self.moved(at, place)? {
                Some(there) => self.read(*table, &there),
                None => Ok(None),
            },
            BulkOp::Pack { axis, values } => {
                match place.get(*axis).and_then(|ordinal| values.get(ordinal)) {
                    Some(&value) => self.read(value, place),
                    None => Err(EvalError::bug("`pack` of another number of values")),
                }
            }
            BulkOp::Reduce {
                combine,
                axes,
                operands,
            } => {
                let &[operand] = operands.as_slice() else {
                    return Err(EvalError::bug("a monoid combines one operand"));
                };
                let (places, all) = self.places_and_whether_all(axes, place)?;
                if !all {
                    return Ok(None);
                }
                match (combine, axes.as_slice()) {
                    (Combine::Monoid(monoid), _) => self.reduce(*monoid, operand, &places),
                    (Combine::ArgMin, &[axis]) => self.extreme(false, operand, axis, &places),
                    (Combine::ArgMax, &[axis]) => self.extreme(true, operand, axis, &places),
                    (Combine::ArgMin | Combine::ArgMax, _) => {
                        Err(EvalError::bug("the first extremal element along one axis"))
                    }
                    (Combine::Custom { .. }, _) => {
                        Err(EvalError::bug("an operator is folded, not reduced"))
                    }
                }
            }
            BulkOp::Update {
                table,
                at,
                value,
                mask,
            } => {
                let replaces = match mask {
                    Some(mask) => self.truth(*mask, place)?,
                    None => Some(true),
                };
                match replaces {
                    Some(true) => {}
                    Some(false) => return self.read(*table, place),
                    None => return Ok(None),
                }
                let Some(there) = self.moved(at, place)? else {
                    return Ok(None);
                };
                if there == *place {
                    self.read(*value, place)
                } else {
                    self.read(*table, place)
                }
            }
            BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => Err(EvalError::bug("no definition of single elements")),
        }
    }

    fn map(&mut self, prim: Prim, operands: &[ValueId], place: &Place) -> Result<Cell, EvalError> {
        let cells: Vec<Cell> = operands
            .iter()
            .map(|&operand| self.read(operand, place))
            .collect::<Result<_, _>>()?;
        self.meter.counts.ops += u64::from(is_counted(prim));
        if let Some(values) = cells.iter().copied().collect::<Option<Vec<_>>>() {
            let extents = |extent| {
                self.extent(extent, place)?
                    .ok_or_else(|| EvalError::bug("an extent that its guard left unspecified"))
            };
            return eval_prim(prim, &values, &extents).map(Some);
        }
        // One operand decides these, whatever the other is.
        let absorbing = match prim {
            Prim::And => Some(ScalarValue::Bool(false)),
            Prim::Or => Some(ScalarValue::Bool(true)),
            _ => None,
        };
        if absorbing.is_some() && cells.contains(&absorbing) {
            return Ok(absorbing);
        }
        if prim.may_panic(self.program.elem(operands[0])) {
            return Err(EvalError::bug(format!(
                "`{}` may panic on what its guard left unspecified",
                prim.name()
            )));
        }
        Ok(None)
    }

    fn reduce(
        &mut self,
        monoid: Monoid,
        operand: ValueId,
        places: &[Place],
    ) -> Result<Cell, EvalError> {
        let mut total = Some(identity(monoid, self.program.elem(operand).repr()));
        for place in places {
            let value = self.read(operand, place)?;
            total = self.combine(monoid, total, value)?;
        }
        Ok(total)
    }

    fn extreme(
        &mut self,
        max: bool,
        operand: ValueId,
        axis: AxisId,
        places: &[Place],
    ) -> Result<Cell, EvalError> {
        let mut best = ArgExtreme::new(max);
        for place in places {
            self.meter.step()?;
            self.meter.counts.ops += 1;
            let Some(value) = self.read(operand, place)? else {
                return Ok(None);
            };
            best.offer(place.get(axis).unwrap_or_default(), value);
        }
        best.finish().map(Some)
    }

    fn assert(
        &mut self,
        stmt: &Stmt<Bulk>,
        cond: ValueId,
        message: &Message,
        shown: &[ValueId],
    ) -> Result<(), EvalError> {
        let mut axes = self.unbound(&self.program.ty(cond).dims);
        for &value in shown.iter().chain(&stmt.guard) {
            let more = self.unbound(&self.program.ty(value).dims);
            axes.extend(
                more.into_iter()
                    .filter(|a| !axes.contains(a))
                    .collect::<Vec<_>>(),
            );
        }
        for place in self.places(&axes, &self.here.clone())? {
            if !self.is_active(stmt.guard, &place)? {
                continue;
            }
            match self.truth(cond, &place)? {
                Some(true) => {}
                Some(false) => {
                    let shown = shown.iter().map(|&value| match self.read(value, &place)? {
                        Some(value) => Ok(value),
                        None => Err(EvalError::bug("a message of what was not evaluated")),
                    });
                    let shown = shown.collect::<Result<Vec<_>, _>>()?;
                    return Err(EvalError::panic(
                        message.fill(shown, ScalarValue::formatted),
                    ));
                }
                None => return Err(EvalError::bug("an assertion of what was not evaluated")),
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "they are the operation's")]
    fn scatter(
        &mut self,
        stmt: &Stmt<Bulk>,
        monoid: Monoid,
        base: ValueId,
        at: &[(AxisId, ValueId)],
        over: &[AxisId],
        value: ValueId,
        mask: Option<ValueId>,
    ) -> Result<(), EvalError> {
        let &[result] = stmt.results.as_slice() else {
            return Err(EvalError::bug("a definition of several values"));
        };
        let dims = &self.program.ty(result).dims;
        let moved = |axis: &AxisId| at.iter().any(|(a, _)| a == axis);
        if dims.iter().any(|a| moved(a) && self.here.is_bound(*a)) {
            return Err(EvalError::bug("a scatter along a lane of the loop around"));
        }
        let mut total = self.define(dims, |run, place| run.read(base, place))?;
        let kept: Vec<AxisId> = self
            .unbound(dims)
            .into_iter()
            .filter(|a| !moved(a))
            .collect();
        'all: for outer in self.places(&kept, &self.here.clone())? {
            if !self.is_active(stmt.guard, &outer)? {
                continue;
            }
            for place in self.places(over, &outer)? {
                let wanted = match mask {
                    Some(mask) => self.truth(mask, &place)?,
                    None => Some(true),
                };
                match wanted {
                    Some(false) => continue,
                    Some(true) => {}
                    None => return Err(EvalError::bug("a mask that was not evaluated")),
                }
                let mut there = outer.clone();
                for &(axis, index) in at {
                    let Some(ordinal) = self.ordinal(index, &place)? else {
                        // It may be anywhere. That no lane has made the place is not seen here.
                        total = self.unspecified(dims)?;
                        break 'all;
                    };
                    there = there.with(axis, ordinal);
                }
                let value = self.read(value, &place)?;
                let before = total.get(&there)?;
                total.set(&there, self.combine(monoid, before, value)?)?;
            }
        }
        self.values[result.index()] = Some(total);
        Ok(())
    }

    /// `x ⊕ y`, absent if one is.
    fn combine(&mut self, monoid: Monoid, x: Cell, y: Cell) -> Result<Cell, EvalError> {
        self.meter.step()?;
        self.meter.counts.ops += 1;
        match (x, y) {
            (Some(x), Some(y)) => combine(monoid, x, y).map(Some),
            _ => Ok(None),
        }
    }

    /// An array over those of `dims` that are not bound here, element by element.
    fn define(
        &mut self,
        dims: &[AxisId],
        mut element: impl FnMut(&mut Self, &Place) -> Result<Cell, EvalError>,
    ) -> Result<Array, EvalError> {
        let mut array = self.unspecified(dims)?;
        let axes = self.unbound(dims);
        for place in self.places(&axes, &self.here.clone())? {
            self.meter.step()?;
            let cell = element(self, &place)?;
            array.set(&place, cell)?;
        }
        Ok(array)
    }

    /// An array over those of `dims` that are not bound here, still without elements.
    fn unspecified(&self, dims: &[AxisId]) -> Result<Array, EvalError> {
        let axes = self.unbound(dims);
        let shape = axes
            .iter()
            .map(|&axis| match Bulk::extent(self.program, axis) {
                Extent::Value(value) => self.value(value)?.largest_extent(),
                extent @ (Extent::Const(_) | Extent::Size(_)) => self.fixed_extent(extent),
            })
            .collect::<Result<_, _>>()?;
        let bound = dims
            .iter()
            .filter_map(|&axis| Some((axis, self.here.get(axis)?)))
            .collect();
        Ok(Array::unspecified(axes, shape, bound))
    }

    /// Those axes that the loops around do not bind.
    fn unbound(&self, axes: &[AxisId]) -> Vec<AxisId> {
        let unbound = |axis: &AxisId| !self.here.is_bound(*axis);
        axes.iter().copied().filter(unbound).collect()
    }

    /// Every point of the product of `axes`, starting from `place`, the last axis fastest; but an
    /// axis that depends on others comes after them. Where its extent was not evaluated there is
    /// nothing along it.
    fn places(&self, axes: &[AxisId], place: &Place) -> Result<Vec<Place>, EvalError> {
        self.places_and_whether_all(axes, place)
            .map(|found| found.0)
    }

    /// The same, and whether all extents were evaluated.
    fn places_and_whether_all(
        &self,
        axes: &[AxisId],
        place: &Place,
    ) -> Result<(Vec<Place>, bool), EvalError> {
        let mut places = vec![place.clone()];
        let mut all = true;
        let mut left = axes.to_vec();
        while !left.is_empty() {
            let ready = left.iter().position(|&axis| {
                let needs = self.extent_axes(axis);
                needs
                    .iter()
                    .all(|need| !left.contains(need) || *need == axis)
            });
            let Some(ready) = ready else {
                return Err(EvalError::bug("axes whose extents depend on each other"));
            };
            let axis = left.remove(ready);
            let mut longer = Vec::new();
            for place in places {
                let extent = Bulk::extent(self.program, axis);
                let known = self.extent(extent, &place)?;
                all &= known.is_some();
                let extent = known.unwrap_or(0);
                longer.extend((0..extent).map(|ordinal| place.with(axis, ordinal)));
            }
            places = longer;
        }
        Ok((places, all))
    }

    /// The axes that the extent of an axis depends on.
    fn extent_axes(&self, axis: AxisId) -> &[AxisId] {
        match Bulk::extent(self.program, axis) {
            Extent::Value(value) => &self.program.ty(value).dims,
            Extent::Const(_) | Extent::Size(_) => &[],
        }
    }

    fn extent(&self, extent: Extent, place: &Place) -> Result<Option<usize>, EvalError> {
        match extent {
            Extent::Value(value) => self.ordinal(value, place),
            Extent::Const(_) | Extent::Size(_) => self.fixed_extent(extent).map(Some),
        }
    }

    fn fixed_extent(&self, extent: Extent) -> Result<usize, EvalError> {
        static_extent(self.sizes, extent)
            .ok_or_else(|| EvalError::bug("an extent that nothing binds"))
    }

    /// The place that indices along some axes lead to; none if one of them is absent.
    fn moved(&self, at: &[(AxisId, ValueId)], place: &Place) -> Result<Option<Place>, EvalError> {
        let mut there = place.clone();
        for &(axis, index) in at {
            let Some(ordinal) = self.ordinal(index, place)? else {
                return Ok(None);
            };
            there = there.with(axis, ordinal);
        }
        Ok(Some(there))
    }

    fn is_active(&self, guard: Option<ValueId>, place: &Place) -> Result<bool, EvalError> {
        match guard {
            None => Ok(true),
            Some(guard) => self
                .truth(guard, place)?
                .ok_or_else(|| EvalError::bug("a guard that was not evaluated")),
        }
    }

    fn value(&self, value: ValueId) -> Result<&Array, EvalError> {
        self.values[value.index()]
            .as_ref()
            .ok_or_else(|| mistyped(value, "bound"))
    }

    fn read(&self, value: ValueId, place: &Place) -> Result<Cell, EvalError> {
        self.value(value)?.get(place).map_err(|error| match error {
            EvalError::Bug(message) => EvalError::bug(format!("value {}: {message}", value.0)),
            other => other,
        })
    }

    fn truth(&self, value: ValueId, place: &Place) -> Result<Option<bool>, EvalError> {
        match self.read(value, place)? {
            Some(ScalarValue::Bool(b)) => Ok(Some(b)),
            None => Ok(None),
            Some(_) => Err(mistyped(value, "a truth value")),
        }
    }

    fn ordinal(&self, value: ValueId, place: &Place) -> Result<Option<usize>, EvalError> {
        match self.read(value, place)? {
            Some(ScalarValue::Usize(n)) => Ok(Some(n)),
            None => Ok(None),
            Some(_) => Err(mistyped(value, "a usize")),
        }
    }

    /// A result of the program, laid out in this order of its axes.
    fn result(&self, value: ValueId, axes: &[AxisId]) -> Result<Data, EvalError> {
        let nowhere = Place::nowhere(self.program.decls.axes.len());
        let shape = axes
            .iter()
            .map(|&axis| {
                self.extent(Bulk::extent(self.program, axis), &nowhere)?
                    .ok_or_else(|| EvalError::bug("a result of unspecified extent"))
            })
            .collect::<Result<Vec<usize>, _>>()?;
        let values = self
            .places(axes, &nowhere)?
            .iter()
            .map(|place| {
                self.read(value, place)?
                    .ok_or_else(|| mistyped(value, "specified everywhere, but a result"))
            })
            .collect::<Result<Vec<ScalarValue>, _>>()?;
        Ok(Data::new(self.program.elem(value).repr(), shape, values))
    }
}

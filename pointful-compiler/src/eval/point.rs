//! The interpreter of Point: statements one after the other, loops as loops.

use super::UNDERIVED;
use super::data::{Data, ScalarValue};
use super::{
    ArgExtreme, EvalError, Evaluate, Inputs, Meter, Results, combine, eval_prim, identity,
    is_counted, mistyped, static_extent,
};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Extent, Monoid, Program, Stmt, Type, ValueId};

impl Evaluate for Point {
    fn evaluate(program: &Program<Self>, inputs: &Inputs, meter: &mut Meter) -> Results {
        let mut run = Run {
            program,
            sizes: &inputs.sizes,
            values: vec![None; program.values.len()],
            monoids: vec![None; program.values.len()],
            meter,
        };
        for (param, data) in program.params.iter().zip(&inputs.params) {
            run.values[param.value.index()] = Some(data.clone());
        }
        run.block(&program.body, Vec::new())
    }

    fn extent(_: &Program<Self>, dim: Extent) -> Extent {
        dim
    }
}

struct Run<'a> {
    program: &'a Program<Point>,
    sizes: &'a [usize],
    /// What each value is at the moment; of an accumulator, what has been accumulated so far.
    values: Vec<Option<Data>>,
    /// How each accumulator combines; none for what is not one.
    monoids: Vec<Option<Monoid>>,
    meter: &'a mut Meter,
}

impl Run<'_> {
    /// Runs a block with these arguments; gives its results.
    fn block(&mut self, block: &Block<Point>, args: Vec<Data>) -> Results {
        self.meter.step()?;
        if args.len() != block.params.len() {
            return Err(EvalError::bug("a block takes another number of values"));
        }
        for (&param, arg) in block.params.iter().zip(args) {
            self.bind(param, arg)?;
        }
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        block
            .results
            .iter()
            .map(|&result| self.value(result).cloned())
            .collect()
    }

    fn stmt(&mut self, stmt: &Stmt<Point>) -> Result<(), EvalError> {
        self.meter.step()?;
        let results = self.op(stmt)?;
        if results.len() != stmt.results.len() {
            return Err(EvalError::bug(
                "an operation binds another number of values",
            ));
        }
        for (&result, data) in stmt.results.iter().zip(results) {
            self.bind(result, data)?;
        }
        Ok(())
    }

    /// The values that a statement binds.
    fn op(&mut self, stmt: &Stmt<Point>) -> Results {
        let one = |data: Data| Ok(vec![data]);
        match &stmt.op {
            PointOp::Const(lit) => one(Data::scalar(ScalarValue::from_lit(*lit))),
            PointOp::Size(extent) => one(Data::from(self.extent(*extent)?)),
            PointOp::Prim(prim, operands) => {
                let operands: Vec<ScalarValue> = operands
                    .iter()
                    .map(|&operand| self.scalar(operand))
                    .collect::<Result<_, _>>()?;
                let value = eval_prim(*prim, &operands, &|extent| self.extent(extent))?;
                self.meter.counts.ops += u64::from(is_counted(*prim));
                one(Data::scalar(value))
            }
            PointOp::Index { table, indices } => {
                let (begin, len) = self.selection(*table, indices)?;
                let table = self.value(*table)?;
                one(Data::new(
                    table.elem,
                    table.shape[indices.len()..].to_vec(),
                    table.values[begin..begin + len].to_vec(),
                ))
            }
            PointOp::Array(values) => {
                let rows = values
                    .iter()
                    .map(|&value| self.value(value).cloned())
                    .collect::<Result<_, _>>()?;
                one(self.stack(stmt.results[0], rows)?)
            }
            PointOp::For { extent, body } => {
                let mut rows = vec![Vec::new(); stmt.results.len()];
                for index in 0..self.extent(*extent)? {
                    let results = self.block(body, vec![Data::from(index)])?;
                    append(&mut rows, results)?;
                }
                self.stack_all(&stmt.results, rows)
            }
            PointOp::Reduce { monoid, table } => {
                let scalar = self.value(*table)?.elem;
                let shape = self.shape(self.program.ty(stmt.results[0]))?;
                let mut total = Data::filled(shape, identity(*monoid, scalar));
                for row in self.rows(*table)? {
                    self.combine_into(*monoid, &mut total.values, &row.values)?;
                }
                one(total)
            }
            PointOp::ArgReduce { max, table } => {
                let table = self.value(*table)?.clone();
                let mut best = ArgExtreme::new(*max);
                for (index, &value) in table.values.iter().enumerate() {
                    best.offer(index, value);
                    self.meter.counts.ops += 1;
                }
                one(Data::scalar(best.finish()?))
            }
            PointOp::Fold { init, tables, op } => {
                Ok(self.prefixes(init, tables, op)?.pop().unwrap_or_default())
            }
            PointOp::Scan { init, tables, op } => {
                let mut rows = vec![Vec::new(); stmt.results.len()];
                for prefix in self.prefixes(init, tables, op)?.into_iter().skip(1) {
                    append(&mut rows, prefix)?;
                }
                self.stack_all(&stmt.results, rows)
            }
            PointOp::Loop {
                extent,
                reverse,
                checkpoint: _,
                init,
                body,
            } => self.sequential(stmt, *extent, *reverse, init, body),
            PointOp::While {
                init,
                cond,
                body,
                bound,
            } => self.while_loop(init, cond, body, *bound),
            PointOp::If {
                cond,
                then,
                otherwise,
            } => {
                let taken = if self.truth(*cond)? { then } else { otherwise };
                self.block(taken, Vec::new())
            }
            PointOp::Rule { args, body, .. } => {
                let args = args.iter().map(|&arg| self.value(arg).cloned());
                let args = args.collect::<Result<_, _>>()?;
                self.block(body, args)
            }
            PointOp::Derive { .. } => Err(EvalError::bug(UNDERIVED)),
            PointOp::Accum { monoid, base } => {
                self.monoids[stmt.results[0].index()] = Some(*monoid);
                let mut base = self.value(*base)?.clone();
                // Of an extremum what is not a number is no part, also what it begins with.
                for value in &mut base.values {
                    if value.float().is_some_and(f64::is_nan)
                        && matches!(monoid, Monoid::Min | Monoid::Max)
                    {
                        *value = identity(*monoid, base.elem);
                    }
                }
                one(base)
            }
            PointOp::Accumulate {
                acc,
                indices,
                value,
            } => {
                let monoid =
                    self.monoids[acc.index()].ok_or_else(|| mistyped(*acc, "an accumulator"))?;
                let (begin, len) = self.selection(*acc, indices)?;
                let value = self.value(*value)?.clone();
                let mut total = self.values[acc.index()]
                    .take()
                    .ok_or_else(|| mistyped(*acc, "bound"))?;
                self.combine_into(monoid, &mut total.values[begin..begin + len], &value.values)?;
                self.values[acc.index()] = Some(total);
                Ok(Vec::new())
            }
            PointOp::Get { acc } => one(self.value(*acc)?.clone()),
            PointOp::Assert {
                cond,
                message,
                shown,
            } => {
                if self.truth(*cond)? {
                    return Ok(Vec::new());
                }
                let shown: Result<Vec<_>, _> = shown.iter().map(|&v| self.scalar(v)).collect();
                Err(EvalError::panic(
                    message.fill(shown?, ScalarValue::formatted),
                ))
            }
            PointOp::Update {
                table,
                indices,
                value,
            } => {
                let (begin, len) = self.selection(*table, indices)?;
                let value = self.value(*value)?;
                if value.values.len() != len {
                    return Err(EvalError::bug("an update of another shape"));
                }
                let mut updated = self.value(*table)?.clone();
                updated.values[begin..begin + len].copy_from_slice(&value.values);
                one(updated)
            }
        }
    }

    fn sequential(
        &mut self,
        stmt: &Stmt<Point>,
        extent: Extent,
        reverse: bool,
        init: &[ValueId],
        body: &Block<Point>,
    ) -> Results {
        let extent = self.extent(extent)?;
        let mut states = self.all(init)?;
        let mut collected = vec![Vec::new(); stmt.results.len().saturating_sub(states.len())];
        for step in 0..extent {
            let index = if reverse { extent - 1 - step } else { step };
            let mut args = vec![Data::from(index)];
            args.append(&mut states);
            states = self.block(body, args)?;
            if states.len() < init.len() {
                return Err(EvalError::bug("a loop's body gives too few states"));
            }
            let outputs = states.split_off(init.len());
            append(&mut collected, outputs)?;
        }
        if reverse {
            for rows in &mut collected {
                rows.reverse();
            }
        }
        states.extend(self.stack_all(&stmt.results[init.len()..], collected)?);
        Ok(states)
    }

    fn while_loop(
        &mut self,
        init: &[ValueId],
        cond: &Block<Point>,
        body: &Block<Point>,
        bound: Option<ValueId>,
    ) -> Results {
        let bound = match bound {
            Some(bound) => Some(self.ordinal(bound)?),
            None => None,
        };
        let mut states = self.all(init)?;
        let mut iterations = 0;
        loop {
            let go_on = self.block(cond, states.clone())?;
            match go_on.as_slice() {
                [data] if data.as_scalar() == Some(ScalarValue::Bool(false)) => {
                    return Ok(states);
                }
                [data] if data.as_scalar() == Some(ScalarValue::Bool(true)) => {}
                _ => return Err(EvalError::bug("a condition is no truth value")),
            }
            if bound == Some(iterations) {
                return Err(bound_exceeded(iterations));
            }
            states = self.block(body, states)?;
            iterations += 1;
        }
    }

    /// `init`, `init ⊕ t₀`, `init ⊕ t₀ ⊕ t₁`, …
    fn prefixes(
        &mut self,
        init: &[ValueId],
        tables: &[ValueId],
        op: &Block<Point>,
    ) -> Result<Vec<Vec<Data>>, EvalError> {
        let mut prefixes = vec![self.all(init)?];
        let tables = tables
            .iter()
            .map(|&table| self.rows(table))
            .collect::<Result<Vec<_>, _>>()?;
        let len = tables.iter().map(Vec::len).min().unwrap_or(0);
        for k in 0..len {
            let mut args = prefixes[k].clone();
            args.extend(tables.iter().map(|rows| rows[k].clone()));
            let next = self.block(op, args)?;
            prefixes.push(next);
        }
        Ok(prefixes)
    }

    fn combine_into(
        &mut self,
        monoid: Monoid,
        totals: &mut [ScalarValue],
        values: &[ScalarValue],
    ) -> Result<(), EvalError> {
        if totals.len() != values.len() {
            return Err(EvalError::bug("a combination of two shapes"));
        }
        for (total, &value) in totals.iter_mut().zip(values) {
            *total = combine(monoid, *total, value)?;
            self.meter.counts.ops += 1;
            self.meter.step()?;
        }
        Ok(())
    }

    /// The sub-tables along the leading axis.
    fn rows(&self, table: ValueId) -> Result<Vec<Data>, EvalError> {
        let data = self.value(table)?;
        let Some((&extent, inner)) = data.shape.split_first() else {
            return Err(mistyped(table, "a table"));
        };
        let len = inner.iter().product::<usize>();
        Ok((0..extent)
            .map(|k| {
                let values = data.values[k * len..(k + 1) * len].to_vec();
                Data::new(data.elem, inner.to_vec(), values)
            })
            .collect())
    }

    /// Rows stacked along a new leading axis, as a value of that type.
    fn stack(&self, result: ValueId, rows: Vec<Data>) -> Result<Data, EvalError> {
        let ty = self.program.ty(result);
        let shape = self.shape(ty)?;
        let elem = ty.elem.repr();
        let Some((&extent, inner)) = shape.split_first() else {
            return Err(mistyped(result, "a table"));
        };
        if rows.len() != extent || rows.iter().any(|r| r.shape != inner || r.elem != elem) {
            return Err(mistyped(result, "of the type it is declared with"));
        }
        let values = rows.into_iter().flat_map(|row| row.values).collect();
        Ok(Data::new(elem, shape, values))
    }

    fn stack_all(&self, results: &[ValueId], rows: Vec<Vec<Data>>) -> Results {
        results
            .iter()
            .zip(rows)
            .map(|(&result, rows)| self.stack(result, rows))
            .collect()
    }

    fn shape(&self, ty: &Type<Extent>) -> Result<Vec<usize>, EvalError> {
        ty.dims.iter().map(|&dim| self.extent(dim)).collect()
    }

    fn extent(&self, extent: Extent) -> Result<usize, EvalError> {
        match extent {
            Extent::Value(value) => self.ordinal(value),
            Extent::Const(_) | Extent::Size(_) => static_extent(self.sizes, extent)
                .ok_or_else(|| EvalError::bug("an extent that nothing binds")),
        }
    }

    fn bind(&mut self, value: ValueId, data: Data) -> Result<(), EvalError> {
        let ty = self.program.ty(value);
        if data.elem != ty.elem.repr() || data.shape.len() != ty.rank() {
            return Err(mistyped(value, "of the type it is declared with"));
        }
        self.values[value.index()] = Some(data);
        Ok(())
    }

    fn value(&self, value: ValueId) -> Result<&Data, EvalError> {
        self.values[value.index()]
            .as_ref()
            .ok_or_else(|| mistyped(value, "bound"))
    }

    fn all(&self, values: &[ValueId]) -> Results {
        values.iter().map(|&v| self.value(v).cloned()).collect()
    }

    fn scalar(&self, value: ValueId) -> Result<ScalarValue, EvalError> {
        self.value(value)?
            .as_scalar()
            .ok_or_else(|| mistyped(value, "a scalar"))
    }

    fn ordinal(&self, value: ValueId) -> Result<usize, EvalError> {
        match self.scalar(value)? {
            ScalarValue::Usize(n) => Ok(n),
            _ => Err(mistyped(value, "a usize")),
        }
    }

    fn truth(&self, value: ValueId) -> Result<bool, EvalError> {
        match self.scalar(value)? {
            ScalarValue::Bool(b) => Ok(b),
            _ => Err(mistyped(value, "a truth value")),
        }
    }

    /// The elements that leading indices select: where they begin and how many they are.
    fn selection(&self, table: ValueId, indices: &[ValueId]) -> Result<(usize, usize), EvalError> {
        let indices: Vec<usize> = indices
            .iter()
            .map(|&index| self.ordinal(index))
            .collect::<Result<_, _>>()?;
        let shape = &self.value(table)?.shape;
        if indices.len() > shape.len() {
            return Err(mistyped(table, "of that many axes"));
        }
        Data::span(shape, &indices).ok_or_else(|| {
            EvalError::bug(format!(
                "value {} of shape {shape:?} read at {indices:?}",
                table.0
            ))
        })
    }
}

/// One more element for each table that is being collected.
fn append(rows: &mut [Vec<Data>], results: Vec<Data>) -> Result<(), EvalError> {
    if rows.len() != results.len() {
        return Err(EvalError::bug("a block gives another number of values"));
    }
    for (rows, result) in rows.iter_mut().zip(results) {
        rows.push(result);
    }
    Ok(())
}

/// The panic of a `while` that goes on after the promised number of iterations.
pub(super) fn bound_exceeded(bound: usize) -> EvalError {
    EvalError::panic(format!(
        "a `while` loop went on after {bound} iterations, its stated bound"
    ))
}

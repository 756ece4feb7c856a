//! The interpreter of imperative stages: a program is run as it stands.
//!
//! Parallel nests run one iteration after the other, in a few pieces if they fold; two of them that
//! touch one element of which they write one are a bug, not a result. So are reads of memory that
//! was never written.

mod cpu;
mod gpu;
mod memory;
mod rows;
mod tile;

use std::collections::BTreeMap;

use memory::{Iteration, Memory, Toucher};

use super::data::{Data, ScalarValue};
use super::{
    EvalError, Evaluate, Inputs, Meter, Results, combine, eval_prim, identity, is_counted,
    mistyped, static_extent,
};
use crate::analysis::angles::has_near;
use crate::ir::stages::imperative::{Along, Fold, Imperative, ImperativeOp, Mask, Par};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Elem, Extent, Monoid, Program, Scalar, Stmt, ValueId};
use crate::ops::Prim;

/// How many pieces a nest that folds is run in, so that there is something to join.
const PIECES: usize = 2;

/// An imperative stage whose own operations can be run.
pub trait EvaluateOwn: Imperative {
    /// In how many orders tests run a program.
    #[doc(hidden)]
    const RUNS: u64;

    /// Whether whole buffers may be copied that hold elements which nobody has written: a copy holds
    /// none there, either.
    #[doc(hidden)]
    const COPIES_UNWRITTEN: bool = false;

    /// Runs an operation of its own.
    #[doc(hidden)]
    fn run_own(
        run: &mut Run<'_, Self>,
        own: &Self::Own,
        stmt: &Stmt<Self>,
    ) -> Result<(), EvalError>;
}

impl EvaluateOwn for Kernels {
    const RUNS: u64 = 1;

    fn run_own(run: &mut Run<'_, Self>, own: &Par, _: &Stmt<Self>) -> Result<(), EvalError> {
        run.par(own)
    }
}

impl<S: EvaluateOwn> Evaluate for S {
    const ORDERS: u64 = S::RUNS;

    fn evaluate(program: &Program<Self>, inputs: &Inputs, meter: &mut Meter) -> Results {
        let mut run = Run {
            program,
            sizes: &inputs.sizes,
            values: vec![Slot::Unbound; program.values.len()],
            nests: 0,
            now: Toucher::ANY,
            team: 1,
            missed: None,
            meter,
        };
        for (param, data) in program.params.iter().zip(&inputs.params) {
            run.values[param.value.index()] = match data.as_scalar() {
                Some(value) => Slot::Scalar(value),
                None => Slot::Buffer(Memory::from_data(data, param.owned)),
            };
        }
        run.block(&program.body)?;
        program
            .body
            .results
            .iter()
            .map(|&result| run.result(result))
            .collect()
    }

    fn extent(_: &Program<Self>, dim: Extent) -> Extent {
        dim
    }
}

/// What a value is.
#[derive(Clone, Debug)]
enum Slot {
    Unbound,
    Scalar(ScalarValue),
    Var(Memory),
    Buffer(Memory),
    /// The private copy of an accumulator.
    Private(Memory),
}

/// A program that is being run.
#[derive(Debug)]
pub struct Run<'a, S: Imperative> {
    program: &'a Program<S>,
    sizes: &'a [usize],
    values: Vec<Slot>,
    /// How many parallel nests have been entered.
    nests: u64,
    /// The iteration and the lane being run.
    now: Toucher,
    /// How many threads run a point.
    team: usize,
    /// Whether an angle was far, where all are taken to be near.
    missed: Option<bool>,
    meter: &'a mut Meter,
}

impl<S: EvaluateOwn> Run<'_, S> {
    fn block(&mut self, block: &Block<S>) -> Result<(), EvalError> {
        self.meter.step()?;
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt<S>) -> Result<(), EvalError> {
        self.meter.step()?;
        match &stmt.op {
            ImperativeOp::Const(lit) => self.bind(stmt, Slot::Scalar(ScalarValue::from_lit(*lit))),
            ImperativeOp::Size(extent) => {
                let size = ScalarValue::Usize(self.extent(*extent)?);
                self.bind(stmt, Slot::Scalar(size))
            }
            ImperativeOp::Prim(prim, operands) => {
                let operands: Vec<ScalarValue> = operands
                    .iter()
                    .map(|&operand| self.scalar(operand))
                    .collect::<Result<_, _>>()?;
                let value = match prim {
                    // Every value says something here: 0 where one that is an index of an empty set would say nothing. Nothing can be
                    // read with it.
                    Prim::Trust(extent)
                        if operands == [ScalarValue::Usize(0)] && self.extent(*extent)? == 0 =>
                    {
                        ScalarValue::Usize(0)
                    }
                    _ if self.is_far(*prim, operands[0].scalar()) => {
                        ScalarValue::from_float(operands[0].scalar(), f64::NAN)
                    }
                    _ => eval_prim(*prim, &operands, &|extent| self.extent(extent))?,
                };
                self.meter.counts.ops += u64::from(is_counted(*prim));
                self.bind(stmt, Slot::Scalar(value))
            }
            ImperativeOp::Select(cond, x, y) => {
                let (x, y) = (self.scalar(*x)?, self.scalar(*y)?);
                self.meter.counts.ops += 1;
                let value = if self.truth(*cond)? { x } else { y };
                self.bind(stmt, Slot::Scalar(value))
            }
            ImperativeOp::Alloc { fill } => {
                let fill = fill.map(ScalarValue::from_lit);
                self.alloc(stmt, fill)
            }
            ImperativeOp::Copy(buffer) => {
                let copy = self.buffer(*buffer)?.copy(self.now);
                let len = copy.len();
                for at in 0..len {
                    if !S::COPIES_UNWRITTEN {
                        self.load(*buffer, at)?;
                    }
                    self.count_stores(copy.elem, 1);
                }
                self.count_alloc(&copy);
                self.bind(stmt, Slot::Buffer(copy))
            }
            ImperativeOp::Load { buffer, indices } => {
                let at = self.offset(*buffer, indices)?;
                let value = self.load(*buffer, at)?;
                self.bind(stmt, Slot::Scalar(value))
            }
            ImperativeOp::Store {
                buffer,
                indices,
                value,
            } => {
                let at = self.offset(*buffer, indices)?;
                let value = self.scalar(*value)?;
                self.store(*buffer, at, value)
            }
            ImperativeOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                let at = self.offset(*place, indices)?;
                let value = self.scalar(*value)?;
                self.combine(*monoid, *place, at, value)
            }
            ImperativeOp::Var(value) => {
                let value = self.scalar(*value)?;
                let var = Memory::new(value.scalar(), Vec::new(), Some(value), self.now);
                self.bind(stmt, Slot::Var(var))
            }
            ImperativeOp::Get(place) => {
                let now = self.toucher(*place);
                let value = self.var(*place)?.load(0, now)?;
                self.bind(stmt, Slot::Scalar(value))
            }
            ImperativeOp::Set { place, value } => {
                let (value, now) = (self.scalar(*value)?, self.toucher(*place));
                self.var(*place)?.store(0, value, now)
            }
            ImperativeOp::Swap(a, b) => self.swap(*a, *b),
            ImperativeOp::Contract {
                out,
                factors: [left, right],
                along,
                add,
                absorb,
                mask,
            } => {
                let times = if *absorb { Prim::MulAbsorb } else { Prim::Mul };
                let products = (times, mask.as_ref());
                self.contract([*out, *left, *right], along, products, *add, None)
            }
            ImperativeOp::For {
                extent,
                reverse,
                body,
            } => {
                let extent = self.extent(*extent)?;
                let &[param] = body.params.as_slice() else {
                    return Err(EvalError::bug("a loop binds one index"));
                };
                for step in 0..extent {
                    let index = if *reverse { extent - 1 - step } else { step };
                    self.values[param.index()] = Slot::Scalar(ScalarValue::Usize(index));
                    self.block(body)?;
                }
                Ok(())
            }
            ImperativeOp::Assert {
                cond,
                message,
                shown,
            } => {
                if self.truth(*cond)? {
                    return Ok(());
                }
                let shown: Result<Vec<_>, _> = shown.iter().map(|&v| self.scalar(v)).collect();
                Err(EvalError::panic(
                    message.fill(shown?, ScalarValue::formatted),
                ))
            }
            ImperativeOp::While { cond, body } => {
                let &[go_on] = cond.results.as_slice() else {
                    return Err(EvalError::bug("a condition is one truth value"));
                };
                loop {
                    self.block(cond)?;
                    if !self.truth(go_on)? {
                        return Ok(());
                    }
                    self.block(body)?;
                }
            }
            ImperativeOp::If {
                cond,
                then,
                otherwise,
            } => {
                let taken = if self.truth(*cond)? { then } else { otherwise };
                self.block(taken)
            }
            ImperativeOp::Own(own) => S::run_own(self, own, stmt),
        }
    }

    /// Whether an angle is far: some of those that are taken to be near.
    fn is_far(&mut self, prim: Prim, scalar: Scalar) -> bool {
        let is_far = self.missed.is_some()
            && has_near(prim, Elem::Scalar(scalar))
            && self.meter.order.below(4) == 0;
        self.missed = self.missed.map(|missed| missed || is_far);
        is_far
    }

    /// A parallel nest.
    fn par(&mut self, par: &Par<S>) -> Result<(), EvalError> {
        let Par {
            extents,
            accs,
            folds,
            body,
            ..
        } = par;
        if self.now != Toucher::ANY {
            return Err(EvalError::bug("a parallel nest inside another"));
        }
        if body.params.len() != extents.len() {
            return Err(EvalError::bug("a nest binds one index for each extent"));
        }
        let extents: Vec<usize> = extents
            .iter()
            .map(|&extent| self.extent(extent))
            .collect::<Result<_, _>>()?;
        self.meter.counts.kernels += 1;
        self.nests += 1;
        for acc in accs {
            let target = self.memory(acc.target)?;
            let fill = identity(acc.monoid, target.elem);
            let private = Memory::new(target.elem, target.shape.clone(), Some(fill), Toucher::ANY);
            self.values[acc.private.index()] = Slot::Private(private);
        }
        let points: usize = extents.iter().product();
        let piece = points.div_ceil(PIECES).max(1);
        // What the pieces before have left, by fold.
        let mut joined: Vec<Option<Vec<Memory>>> = vec![None; folds.len()];
        for number in 0..points {
            if number % piece == 0 {
                for fold in folds {
                    for (copy, &private) in self.copies(fold)?.into_iter().zip(&fold.privates) {
                        self.values[private.index()] = Slot::Private(copy);
                    }
                }
            }
            self.now.nest = Some(Iteration {
                nest: self.nests,
                number: number as u64,
            });
            let mut rest = number;
            for (&param, &extent) in body.params.iter().zip(&extents).rev() {
                let index = ScalarValue::Usize(rest % extent);
                self.values[param.index()] = Slot::Scalar(index);
                rest /= extent;
            }
            self.block(body)?;
            self.now = Toucher::ANY;
            if (number + 1) % piece == 0 || number + 1 == points {
                for (fold, joined) in folds.iter().zip(&mut joined) {
                    let copies = self.left(fold.privates.iter().copied())?;
                    match joined {
                        None => *joined = Some(copies),
                        Some(earlier) => self.join(fold, earlier, copies)?,
                    }
                }
            }
        }
        for (fold, joined) in folds.iter().zip(joined) {
            let joined = match joined {
                Some(joined) => joined,
                None => self.copies(fold)?,
            };
            self.join_targets(fold, joined)?;
        }
        for acc in accs {
            let Slot::Private(private) = &self.values[acc.private.index()] else {
                return Err(mistyped(acc.private, "a private accumulator"));
            };
            let merged = private
                .to_data()
                .ok_or_else(|| mistyped(acc.private, "filled"))?;
            for (at, &value) in merged.values.iter().enumerate() {
                self.combine(acc.monoid, acc.target, at, value)?;
            }
        }
        Ok(())
    }

    /// Copies for a piece that has not begun.
    fn copies(&mut self, fold: &Fold<S>) -> Result<Vec<Memory>, EvalError> {
        let targets = fold.targets.iter().zip(&fold.first);
        let copies = targets.map(|(&target, &first)| {
            let target = self.memory(target)?;
            let fill = Some(ScalarValue::from_lit(first));
            Ok(Memory::new(
                target.elem,
                target.shape.clone(),
                fill,
                Toucher::ANY,
            ))
        });
        copies.collect()
    }

    /// What a piece has left in its private copies.
    fn left(&mut self, privates: impl Iterator<Item = ValueId>) -> Result<Vec<Memory>, EvalError> {
        let copies = privates.map(|private| {
            let slot = std::mem::replace(&mut self.values[private.index()], Slot::Unbound);
            match slot {
                Slot::Private(memory) => Ok(memory),
                Slot::Unbound | Slot::Scalar(_) | Slot::Var(_) | Slot::Buffer(_) => {
                    Err(mistyped(private, "a private copy"))
                }
            }
        });
        copies.collect()
    }

    /// Joins what all pieces have left to the targets.
    fn join_targets(&mut self, fold: &Fold<S>, joined: Vec<Memory>) -> Result<(), EvalError> {
        let targets = fold.targets.iter();
        let targets = targets.map(|&target| self.memory(target).cloned());
        let mut targets = targets.collect::<Result<Vec<_>, _>>()?;
        self.join(fold, &mut targets, joined)?;
        for (&target, memory) in fold.targets.iter().zip(targets) {
            *self.memory(target)? = memory;
        }
        Ok(())
    }

    /// Joins copies, element by element.
    fn join(
        &mut self,
        fold: &Fold<S>,
        earlier: &mut [Memory],
        mut later: Vec<Memory>,
    ) -> Result<(), EvalError> {
        let shape = later
            .first()
            .map_or_else(Vec::new, |memory| memory.shape.clone());
        let (indices, params) = fold.join.params.split_at(shape.len());
        for at in 0..shape.iter().product() {
            let mut rest = at;
            for (&index, &extent) in indices.iter().zip(&shape).rev() {
                self.values[index.index()] = Slot::Scalar(ScalarValue::Usize(rest % extent));
                rest /= extent;
            }
            let elements = earlier.iter_mut().chain(&mut later);
            for (&param, memory) in params.iter().zip(elements) {
                self.values[param.index()] = Slot::Scalar(memory.load(at, Toucher::ANY)?);
            }
            self.block(&fold.join)?;
            for (memory, &result) in earlier.iter_mut().zip(&fold.join.results) {
                memory.store(at, self.scalar(result)?, Toucher::ANY)?;
            }
        }
        Ok(())
    }

    /// Every element of the first array, one after the other; or those at one place along an axis.
    fn contract(
        &mut self,
        arrays: [ValueId; 3],
        along: &[Vec<Along>; 3],
        (times, mask): (Prim, Option<&Mask>),
        add: bool,
        only: Option<(usize, usize)>,
    ) -> Result<(), EvalError> {
        let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
        let mut shapes = Vec::new();
        for (&array, along) in arrays.iter().zip(along) {
            let (Slot::Buffer(memory) | Slot::Private(memory)) = &self.values[array.index()] else {
                return Err(mistyped(array, "a buffer"));
            };
            let shape = memory.shape.clone();
            for (along, &length) in along.iter().zip(&shape) {
                if let Along::Axis(axis) = along {
                    lengths.insert(*axis, length);
                }
            }
            shapes.push(shape);
        }
        let (own, summed): (Vec<usize>, Vec<usize>) = lengths
            .keys()
            .partition(|&&axis| along[0].contains(&Along::Axis(axis)));
        let count = |some: &[usize]| some.iter().map(|axis| lengths[axis]).product::<usize>();
        let [out, left, right] = arrays;
        for point in 0..count(&own) {
            let mut sum = ScalarValue::from_float(self.program.elem(out).repr(), 0.0);
            let mut place = BTreeMap::new();
            indices(&own, &lengths, point, &mut place);
            if only.is_some_and(|(axis, at)| place[&axis] != at) {
                continue;
            }
            for round in 0..count(&summed) {
                indices(&summed, &lengths, round, &mut place);
                let mut factors = [sum; 2];
                for (k, array) in [left, right].into_iter().enumerate() {
                    let at = self.place_of(&along[k + 1], &shapes[k + 1], &place)?;
                    factors[k] = self.load(array, at)?;
                }
                if let Some(Mask { buffer, along }) = mask {
                    let Slot::Buffer(Memory { shape, .. }) = &self.values[buffer.index()] else {
                        return Err(mistyped(*buffer, "a buffer"));
                    };
                    let at = self.place_of(along, shape, &place)?;
                    if self.load(*buffer, at)? == ScalarValue::Bool(false) {
                        match factors[0].float() {
                            Some(0.0) => continue,
                            _ => return Err(EvalError::bug("a factor where nothing is kept")),
                        }
                    }
                }
                let product = eval_prim(times, &factors, &|_| Err(EvalError::bug("no index")))?;
                sum = combine(Monoid::Add, sum, product)?;
                self.meter.counts.ops += 2;
            }
            let at = self.place_of(&along[0], &shapes[0], &place)?;
            if add {
                self.combine(Monoid::Add, out, at, sum)?;
            } else {
                self.store(out, at, sum)?;
            }
        }
        Ok(())
    }

    /// Where an array of this shape is at some indices of numbered axes.
    fn place_of(
        &self,
        along: &[Along],
        shape: &[usize],
        place: &BTreeMap<usize, usize>,
    ) -> Result<usize, EvalError> {
        along.iter().zip(shape).try_fold(0, |at, (along, length)| {
            let index = match along {
                Along::Axis(axis) => place[axis],
                Along::At(index) => self.ordinal(*index)?,
            };
            Ok(at * length + index)
        })
    }

    fn swap(&mut self, a: ValueId, b: ValueId) -> Result<(), EvalError> {
        let movable = |run: &Self, buffer: ValueId| {
            let memory = run.buffer(buffer)?;
            if memory.home == run.now && memory.writable {
                Ok((memory.elem, memory.shape.clone()))
            } else {
                Err(mistyped(buffer, "a buffer that may be exchanged here"))
            }
        };
        if movable(self, a)? != movable(self, b)? {
            return Err(EvalError::bug("buffers of two types are exchanged"));
        }
        self.values.swap(a.index(), b.index());
        Ok(())
    }

    /// `p[at] = p[at] ⊕ value`.
    fn combine(
        &mut self,
        monoid: Monoid,
        place: ValueId,
        at: usize,
        value: ScalarValue,
    ) -> Result<(), EvalError> {
        self.meter.counts.ops += 1;
        if let Slot::Private(memory) = &mut self.values[place.index()] {
            if let Some(notes) = &mut memory.notes {
                notes.push((at, value));
                return Ok(());
            }
            // Every iteration may come here: that is what the copy is for.
            let before = memory.load(at, Toucher::ANY)?;
            memory.store(at, combine(monoid, before, value)?, Toucher::ANY)?;
            if !memory.shape.is_empty() {
                let elem = memory.elem;
                self.count_loads(elem, 1);
                self.count_stores(elem, 1);
            }
            return Ok(());
        }
        // Lanes may combine in any order where that does not show.
        let lane = self.now.lane;
        if !value.scalar().is_float() || monoid.is_idempotent() {
            self.now.lane = None;
        }
        let before = self.load(place, at)?;
        let stored = self.store(place, at, combine(monoid, before, value)?);
        self.now.lane = lane;
        stored
    }

    fn load(&mut self, place: ValueId, at: usize) -> Result<ScalarValue, EvalError> {
        let now = self.toucher(place);
        let memory = self.memory(place)?;
        let value = memory.load(at, now)?;
        if !memory.shape.is_empty() {
            self.count_loads(value.scalar(), 1);
        }
        Ok(value)
    }

    fn store(&mut self, place: ValueId, at: usize, value: ScalarValue) -> Result<(), EvalError> {
        let now = self.toucher(place);
        let memory = self.memory(place)?;
        memory.store(at, value, now)?;
        if !memory.shape.is_empty() {
            self.count_stores(value.scalar(), 1);
        }
        Ok(())
    }

    fn alloc(&mut self, stmt: &Stmt<S>, fill: Option<ScalarValue>) -> Result<(), EvalError> {
        let &[result] = stmt.results.as_slice() else {
            return Err(EvalError::bug("`alloc` binds one buffer"));
        };
        let ty = self.program.ty(result);
        let shape = ty
            .dims
            .iter()
            .map(|&dim| self.extent(dim))
            .collect::<Result<Vec<usize>, _>>()?;
        let memory = Memory::new(ty.elem.repr(), shape, fill, self.now);
        if fill.is_some() {
            self.count_stores(memory.elem, memory.len());
        }
        self.count_alloc(&memory);
        self.bind(stmt, Slot::Buffer(memory))
    }

    fn count_loads(&mut self, elem: Scalar, len: usize) {
        self.meter.counts.loads += len as u64;
        self.meter.counts.bytes_read += len as u64 * elem.bytes();
    }

    fn count_stores(&mut self, elem: Scalar, len: usize) {
        self.meter.counts.stores += len as u64;
        self.meter.counts.bytes_written += len as u64 * elem.bytes();
    }

    fn count_alloc(&mut self, memory: &Memory) {
        self.meter.counts.allocs += 1;
        self.meter.counts.alloc_bytes += memory.len() as u64 * memory.elem.bytes();
    }

    fn bind(&mut self, stmt: &Stmt<S>, slot: Slot) -> Result<(), EvalError> {
        let &[result] = stmt.results.as_slice() else {
            return Err(EvalError::bug(
                "an operation binds another number of values",
            ));
        };
        let elem = match &slot {
            Slot::Unbound => None,
            Slot::Scalar(value) => Some(value.scalar()),
            Slot::Var(memory) | Slot::Buffer(memory) | Slot::Private(memory) => Some(memory.elem),
        };
        if elem != Some(self.program.elem(result).repr()) {
            return Err(mistyped(result, "of the type it is declared with"));
        }
        self.values[result.index()] = slot;
        Ok(())
    }

    fn extent(&self, extent: Extent) -> Result<usize, EvalError> {
        match extent {
            Extent::Value(value) => self.ordinal(value),
            Extent::Const(_) | Extent::Size(_) => static_extent(self.sizes, extent)
                .ok_or_else(|| EvalError::bug("an extent that nothing binds")),
        }
    }

    fn scalar(&self, value: ValueId) -> Result<ScalarValue, EvalError> {
        match &self.values[value.index()] {
            Slot::Scalar(value) => Ok(*value),
            Slot::Unbound | Slot::Var(_) | Slot::Buffer(_) | Slot::Private(_) => {
                Err(mistyped(value, "a scalar"))
            }
        }
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

    fn var(&mut self, place: ValueId) -> Result<&mut Memory, EvalError> {
        match &mut self.values[place.index()] {
            Slot::Var(memory) | Slot::Private(memory) => Ok(memory),
            Slot::Unbound | Slot::Scalar(_) | Slot::Buffer(_) => Err(mistyped(place, "a `var`")),
        }
    }

    fn buffer(&self, place: ValueId) -> Result<&Memory, EvalError> {
        match &self.values[place.index()] {
            Slot::Buffer(memory) => Ok(memory),
            Slot::Unbound | Slot::Scalar(_) | Slot::Var(_) | Slot::Private(_) => {
                Err(mistyped(place, "a buffer"))
            }
        }
    }

    /// The iteration that touches a place, as far as that counts: every one may touch a private
    /// copy.
    fn toucher(&self, place: ValueId) -> Toucher {
        match &self.values[place.index()] {
            Slot::Private(_) => Toucher {
                nest: None,
                ..self.now
            },
            Slot::Unbound | Slot::Scalar(_) | Slot::Var(_) | Slot::Buffer(_) => self.now,
        }
    }

    /// A `var`, a buffer or a private copy.
    fn memory(&mut self, place: ValueId) -> Result<&mut Memory, EvalError> {
        match &mut self.values[place.index()] {
            Slot::Var(memory) | Slot::Buffer(memory) | Slot::Private(memory) => Ok(memory),
            Slot::Unbound | Slot::Scalar(_) => Err(mistyped(place, "a place")),
        }
    }

    /// Where an element is; a `var` is named without indices.
    fn offset(&self, place: ValueId, indices: &[ValueId]) -> Result<usize, EvalError> {
        let shape = match &self.values[place.index()] {
            Slot::Var(memory) | Slot::Buffer(memory) | Slot::Private(memory) => &memory.shape,
            Slot::Unbound | Slot::Scalar(_) => return Err(mistyped(place, "a place")),
        };
        let indices: Vec<usize> = indices
            .iter()
            .map(|&index| self.ordinal(index))
            .collect::<Result<_, _>>()?;
        if indices.len() != shape.len() {
            return Err(mistyped(place, "of that many axes"));
        }
        match Data::span(shape, &indices) {
            Some((at, _)) => Ok(at),
            None => Err(EvalError::bug(format!(
                "value {} of shape {shape:?} accessed at {indices:?}",
                place.0
            ))),
        }
    }

    fn result(&self, value: ValueId) -> Result<Data, EvalError> {
        match &self.values[value.index()] {
            Slot::Scalar(value) => Ok(Data::scalar(*value)),
            Slot::Buffer(memory) => memory
                .to_data()
                .ok_or_else(|| mistyped(value, "written everywhere, but a result")),
            Slot::Unbound | Slot::Var(_) | Slot::Private(_) => {
                Err(mistyped(value, "a scalar or a buffer, but a result"))
            }
        }
    }
}

/// The indices of a point of some axes, counted row by row.
fn indices(
    axes: &[usize],
    lengths: &BTreeMap<usize, usize>,
    mut point: usize,
    place: &mut BTreeMap<usize, usize>,
) {
    for axis in axes.iter().rev() {
        place.insert(*axis, point % lengths[axis]);
        point /= lengths[axis];
    }
}

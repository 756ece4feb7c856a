//! Random well-typed Point programs, with inputs.
//!
//! A program is written from top to bottom, block by block; operands are taken from what is in
//! scope, so it is valid as it grows. Floats stay tame: with each float value goes a bound on its
//! magnitude, and what grows too large is squashed. Floats decide nothing that rounding could tip:
//! they are compared with odd constants only. Integers may do as they like, for they are exact.
//!
//! What may panic (a division, a checked index, `wrap` into a set that may be empty) stands behind
//! what keeps it from panicking: a condition, a loop that does not run, or a constant.
//!
//! * here: what is known of values, blocks, how results are chosen
//! * [`exprs`]: scalars and indices of a wanted type
//! * [`tables`]: statements that make, read and combine tables
//! * [`control`]: loops, branches, accumulators
//! * [`operators`]: folds and scans with associative operators
//! * [`lanes`]: reductions in loops that carry something side by side
//! * [`inputs`]: parameters and their data

mod control;
mod exprs;
mod inputs;
mod lanes;
mod operators;
mod tables;

use smallvec::smallvec;

use super::rng::Rng;
use crate::eval::Inputs;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Lit, Program, Scalar, SizeId, SpanId, Stmt, Type, ValueId};

/// What random programs may contain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Roughly how many statements.
    pub statements: usize,
    /// How deep blocks may be nested.
    pub depth: usize,
    /// `loop` and `while`.
    pub sequential: bool,
    /// Accumulators.
    pub accumulators: bool,
    /// `fold` and `scan`.
    pub operators: bool,
    /// `f32` beside `f64`.
    pub singles: bool,
    /// Indices that are out of range now and then.
    pub allow_panics: bool,
    /// Reductions in loops that carry something side by side.
    pub lanes: usize,
    /// In how many of a hundred places an index is a neighbour of another one, or a truth value
    /// compares one with an end of its axis.
    pub neighbours: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            statements: 25,
            depth: 4,
            sequential: true,
            accumulators: true,
            operators: true,
            singles: true,
            allow_panics: false,
            lanes: 2,
            neighbours: 0,
        }
    }
}

/// A random program and inputs that it runs on: the same for the same seed and options.
pub fn random_point(seed: u64, options: Options) -> (Program<Point>, Inputs) {
    let mut random = Random {
        rng: Rng::new(seed),
        options,
        program: Program::new("random"),
        inputs: Inputs::default(),
        facts: Vec::new(),
        blocks: vec![Vec::new()],
        scope: Vec::new(),
        accumulators: Vec::new(),
        budget: options.statements,
        work: 1,
        dead: false,
    };
    random.parameters();
    while random.budget > 0 {
        random.statement();
    }
    random.finish();
    (random.program, random.inputs)
}

/// Magnitudes beyond this are squashed before they go on.
const TAME: f64 = 16.0;

/// How many iterations there may be, all loops around multiplied.
const MAX_WORK: usize = 2_000;

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
struct Fact {
    /// Of floats: no element is larger in magnitude.
    bound: f64,
    /// Of a `usize` scalar: it is at most this.
    at_most: Option<usize>,
    /// Of a `usize` scalar: it is at most the size of this extent.
    within: Option<Extent>,
}

const UNKNOWN: Fact = Fact {
    bound: 0.0,
    at_most: None,
    within: None,
};

/// An accumulator in scope.
#[derive(Clone, Copy, Debug)]
struct Accumulator {
    value: ValueId,
    monoid: crate::ir::Monoid,
}

/// Where a block begins: what is newer than this belongs to it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    scope: usize,
    accumulators: usize,
    values: usize,
    work: usize,
    dead: bool,
}

struct Random {
    rng: Rng,
    options: Options,
    program: Program<Point>,
    inputs: Inputs,
    /// By value.
    facts: Vec<Fact>,
    /// The statements of the blocks that are being written, outermost first.
    blocks: Vec<Vec<Stmt<Point>>>,
    /// The values that may be used, oldest first.
    scope: Vec<ValueId>,
    accumulators: Vec<Accumulator>,
    /// How many statements may still be begun.
    budget: usize,
    /// How often this place is reached, at most.
    work: usize,
    /// Whether this place is never reached with these inputs.
    dead: bool,
}

impl Random {
    /// A new value, not yet in scope.
    fn value(&mut self, ty: Type<Extent>, fact: Fact) -> ValueId {
        self.facts.push(fact);
        self.program.value(ty, SpanId::NONE)
    }

    /// A statement of one result.
    fn emit(&mut self, op: PointOp, ty: Type<Extent>, fact: Fact) -> ValueId {
        let result = self.value(ty, fact);
        self.push(vec![result], op);
        result
    }

    /// A statement; its results come into scope.
    fn push(&mut self, results: Vec<ValueId>, op: PointOp) {
        self.scope.extend(&results);
        let stmt = Stmt::new(results, op, SpanId::NONE);
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt);
        }
    }

    /// Begins a block that is run `times` as often as what surrounds it.
    fn open(&mut self, times: usize) -> Mark {
        let mark = Mark {
            scope: self.scope.len(),
            accumulators: self.accumulators.len(),
            values: self.program.values.len(),
            work: self.work,
            dead: self.dead,
        };
        self.blocks.push(Vec::new());
        self.work *= times.max(1);
        self.dead |= times == 0;
        mark
    }

    /// A parameter of the block just begun.
    fn block_param(&mut self, ty: Type<Extent>, fact: Fact) -> ValueId {
        let value = self.value(ty, fact);
        self.scope.push(value);
        value
    }

    /// Ends a block.
    fn close(&mut self, mark: Mark, params: Vec<ValueId>, results: Vec<ValueId>) -> Block<Point> {
        self.scope.truncate(mark.scope);
        self.accumulators.truncate(mark.accumulators);
        self.work = mark.work;
        self.dead = mark.dead;
        Block {
            params,
            stmts: self.blocks.pop().unwrap_or_default(),
            results,
        }
    }

    /// Up to `most` statements.
    fn statements(&mut self, most: usize) {
        for _ in 0..=self.rng.below(most) {
            if self.budget > 0 {
                self.statement();
            }
        }
    }

    /// One statement of some kind.
    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        type Make = fn(&mut Random);
        let deep = self.blocks.len() > self.options.depth;
        let nested = |weight: usize| if deep { 0 } else { weight };
        let sequential = nested(if self.options.sequential { 5 } else { 0 });
        let lanes = if self.options.sequential {
            nested(self.options.lanes)
        } else {
            0
        };
        let accumulators = nested(if self.options.accumulators { 5 } else { 0 });
        let operators = nested(if self.options.operators { 3 } else { 0 });
        let accumulate = if self.accumulators.is_empty() { 0 } else { 30 };
        let make: Make = self.rng.weighted(&[
            (20, Random::some_scalar as Make),
            (nested(16), Random::for_loop),
            (10, Random::reduction),
            (5, Random::selection),
            (3, Random::stack),
            (3, Random::extremal),
            (4, Random::update),
            (2, Random::ordinals),
            (1, Random::assertion),
            (nested(6), Random::branch),
            (nested(6), Random::guarded),
            (nested(3), Random::triangle),
            (sequential, Random::sequential_loop),
            (sequential / 2, Random::while_loop),
            (lanes, Random::reductions_in_lanes),
            (accumulators, Random::accumulation),
            (operators, Random::fold_or_scan),
            (accumulate, Random::accumulate),
        ]);
        make(self);
    }

    /// Some results of the function: the newest values, more or less.
    fn finish(&mut self) {
        let count = 1 + self.rng.below(4);
        let mut results = Vec::new();
        for &value in self.scope.iter().rev() {
            if results.len() < count && self.rng.chance(60) {
                results.push(value);
            }
        }
        self.program.body = Block {
            params: Vec::new(),
            stmts: self.blocks.pop().unwrap_or_default(),
            results,
        };
    }

    /// A value for a block to yield: of any type that means something outside, and of few axes.
    fn outcome(&mut self, mark: Mark) -> ValueId {
        let fit: Vec<ValueId> = self.scope[mark.scope..]
            .iter()
            .copied()
            .filter(|&v| self.program.ty(v).rank() <= 2 && self.may_leave(v, mark))
            .collect();
        let chosen = match fit.as_slice() {
            [] => self.scalar(Scalar::F64),
            [.., newest] if self.rng.chance(60) => *newest,
            several => self.rng.pick(several),
        };
        self.tame(chosen)
    }

    /// Whether the type of a value means something outside the block that began there.
    fn may_leave(&self, value: ValueId, mark: Mark) -> bool {
        let ty = self.program.ty(value);
        let outside = |extent: Extent| match extent {
            Extent::Value(v) => v.index() < mark.values,
            Extent::Const(_) | Extent::Size(_) => true,
        };
        let elem = match ty.elem {
            Elem::Index(extent) => outside(extent),
            Elem::Scalar(_) | Elem::Bound(_) => true,
        };
        elem && ty.dims.iter().all(|&dim| outside(dim))
    }

    fn fact(&self, value: ValueId) -> Fact {
        self.facts[value.index()]
    }

    /// The extent's size, if it does not depend on what the program computes.
    fn known(&self, extent: Extent) -> Option<usize> {
        match extent {
            Extent::Const(n) => Some(n as usize),
            Extent::Size(SizeId(size)) => Some(self.inputs.sizes[size as usize]),
            Extent::Value(_) => None,
        }
    }

    /// No smaller than the extent's size.
    fn at_most(&self, extent: Extent) -> usize {
        match extent {
            Extent::Value(value) => self.fact(value).at_most.unwrap_or(0),
            Extent::Const(_) | Extent::Size(_) => self.known(extent).unwrap_or(0),
        }
    }

    /// Whether an operation that panics for an empty set may stand here.
    fn may_index(&self, extent: Extent) -> bool {
        self.dead || self.known(extent).is_some_and(|n| n > 0)
    }

    /// Some extent for a loop or a table, not so large that there is too much to do.
    fn extent(&mut self) -> Extent {
        let sizes = self.program.sizes.len();
        let extent = match self.rng.below(10) {
            0..6 if sizes > 0 => Extent::Size(SizeId(self.rng.below(sizes) as u32)),
            6 => self.computed_extent(),
            _ => Extent::Const(self.rng.pick(&[0, 1, 2, 2, 3, 3])),
        };
        if self.work * self.at_most(extent) > MAX_WORK {
            return Extent::Const(self.rng.pick(&[1, 1, 0]));
        }
        extent
    }

    /// An extent that the program computes.
    fn computed_extent(&mut self) -> Extent {
        let usable: Vec<ValueId> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.fact(v).at_most.is_some())
            .collect();
        if !usable.is_empty() && self.rng.chance(60) {
            return Extent::Value(self.rng.pick(&usable));
        }
        let number = self.scalar(Scalar::Usize);
        let most = 1 + self.rng.below(4);
        let divisor = self.constant(Lit::Int(Scalar::Usize, most as i128));
        let fact = Fact {
            at_most: Some(most - 1),
            ..UNKNOWN
        };
        let op = PointOp::Prim(crate::ops::Prim::Rem, smallvec![number, divisor]);
        Extent::Value(self.emit(op, Type::scalar(Elem::USIZE), fact))
    }

    /// Some element type.
    fn elem(&mut self) -> Elem {
        let single = if self.options.singles {
            Scalar::F32
        } else {
            Scalar::F64
        };
        Elem::Scalar(self.rng.weighted(&[
            (50, Scalar::F64),
            (8, single),
            (20, Scalar::I64),
            (2, Scalar::I32),
            (2, Scalar::U8),
            (1, Scalar::U32),
            (1, Scalar::I8),
            (1, Scalar::I16),
            (1, Scalar::Isize),
            (1, Scalar::U16),
            (1, Scalar::U64),
            (4, Scalar::Usize),
            (10, Scalar::Bool),
        ]))
    }

    /// Some type, of rank 0 to 2.
    fn any_type(&mut self) -> Type<Extent> {
        let elem = self.elem();
        let rank = self.rng.pick(&[0, 0, 0, 1, 1, 2]);
        let dims: Vec<Extent> = (0..rank).map(|_| self.extent()).collect();
        Type::table(elem, dims)
    }
}

#[cfg(test)]
mod tests;

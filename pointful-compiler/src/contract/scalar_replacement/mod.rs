//! Small buffers become variables.
//!
//! # The idea
//!
//! What is written down element by element, a row of a matrix of three, the parts of a sum that go
//! to known places: the schedule keeps each in a buffer, and reads it in loops of constant length.
//! If every place of a buffer that is accessed is known once such loops are [unrolled](unroll),
//! each place is a variable of its own, or no more than a name for what is stored there, and the
//! buffer is gone. Only loops for which a buffer goes are unrolled, so that code grows where
//! something is gained; those of which it is known, then, that a place which is computed of their
//! indices is one, as `a[(i + 1) % 3]` is; and the shortest inside of others, over the coordinates
//! of a point, whose iterations are then part of what may run in lanes.
//!
//! # Why it is sound
//!
//! A buffer's places are different variables, and nothing else knows the buffer: it is not swapped,
//! copied, returned or captured by a kernel. A place that is stored once, in the block of the
//! `alloc` and before it is read, has that value from then on.
//!
//! # Before and after
//!
//! ```text
//! %0 = alloc f64[2]                          %3 = load s[%i, 0]
//! store %0[0], x                             %4 = add %3, x
//! store %0[1], y                             store s[%i, 0], %4
//! for %1: 2 {                                %5 = load s[%i, 1]
//!   %2 = load %0[%1]                         %6 = add %5, y
//!   %3 = load s[%i, %1]                      store s[%i, 1], %6
//!   %4 = add %3, %2
//!   store s[%i, %1], %4
//! }
//! ```

mod promote;
mod unroll;

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::schedule::price;
use crate::eval::{ScalarValue, eval_const};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Lit, Operation, Program, ValueId, ValueMap, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// Buffers of more elements stay in memory.
pub(super) const MOST_PLACES: u64 = 32;

/// Loops by whose indices a place is computed.
const MOST_LOOPS: usize = 4;

/// Loops inside of others that are unrolled for their own sake: their iterations, and the additions
/// that all of them are.
pub(super) const SHORTEST: u64 = 4;
const LITTLE: u64 = 64;

/// The pass.
pub const SCALAR_REPLACEMENT: Pass<Kernels> = Pass {
    name: "scalar_replacement",
    about: "keep small buffers in variables, and unroll loops for that",
    run: scalar_replacement,
};

/// Keeps small buffers in variables.
pub fn scalar_replacement(program: Program<Kernels>) -> Program<Kernels> {
    let survey = Survey::new(&program);
    let loops = survey.loops();
    if survey.buffers.is_empty() && loops.is_empty() {
        return program;
    }
    let unrolled = unroll::unroll(program, &loops);
    promote::promote(unrolled)
}

/// What is known of a loop of constant length.
#[derive(Clone, Copy)]
struct Loop {
    trips: u64,
    /// What an iteration does, in additions, loops of constant length inside as often as they run.
    work: u64,
    /// Whether a kernel is inside, of which there should be one.
    launches: bool,
    /// Whether it is an inner loop of a kernel's, without loops inside.
    innermost: bool,
}

/// Small buffers, and where they are accessed.
struct Survey<'a> {
    program: &'a Program<Kernels>,
    /// The loops of constant length, by their index.
    loops: ValueMap<Loop>,
    constants: ValueMap<ScalarValue>,
    /// What is computed of constants and of the indices of such loops, and of which.
    computed: ValueMap<BTreeSet<ValueId>>,
    /// Small buffers that are loaded from, stored to and combined into only, all in one kernel:
    /// that kernel, and indices of loops along which they are accessed.
    buffers: BTreeMap<ValueId, (usize, BTreeSet<ValueId>)>,
    /// The loops by whose indices places are computed that are checked.
    checked: Vec<BTreeSet<ValueId>>,
    /// Kernels so far.
    kernels: usize,
    /// The sequential loops of a kernel that are open.
    open: usize,
}

impl<'a> Survey<'a> {
    fn new(program: &'a Program<Kernels>) -> Self {
        let mut survey = Self {
            program,
            loops: ValueMap::new(),
            constants: ValueMap::new(),
            computed: ValueMap::new(),
            buffers: BTreeMap::new(),
            checked: Vec::new(),
            kernels: 0,
            open: 0,
        };
        survey.block(&program.body, 0);
        survey
    }

    /// Looks at a block in a kernel; gives the work that it is.
    fn block(&mut self, block: &Block<Kernels>, kernel: usize) -> (u64, bool) {
        let (mut work, mut launches) = (0_u64, false);
        for stmt in &block.stmts {
            let mut inside = kernel;
            if matches!(stmt.op, KernelOp::Own(Par { .. })) && kernel == 0 {
                self.kernels += 1;
                (inside, launches) = (self.kernels, true);
            }
            let trips = match &stmt.op {
                KernelOp::For {
                    extent: Extent::Const(trips),
                    body,
                    ..
                } => {
                    let known = Loop {
                        trips: *trips,
                        work: u64::MAX,
                        launches: false,
                        innermost: self.open > 0 && !has_loops(body),
                    };
                    self.loops.insert(body.params[0], known);
                    *trips
                }
                _ => 1,
            };
            self.access(&stmt.results, &stmt.op, kernel);
            let mut own = match &stmt.op {
                KernelOp::Prim(prim, args) => u64::from(price(*prim, self.program.elem(args[0]))),
                _ => 1,
            };
            let opens = kernel > 0 && matches!(stmt.op, KernelOp::For { .. });
            self.open += usize::from(opens);
            for inner in stmt.op.blocks() {
                let (below, launched) = self.block(inner, inside);
                own = own.saturating_add(below);
                launches |= launched;
                if let Some(index) = inner.params.first()
                    && let Some(known) = self.loops.get_mut(index)
                {
                    known.work = below;
                    known.launches = launched;
                }
            }
            self.open -= usize::from(opens);
            work = work.saturating_add(own.saturating_mul(trips));
        }
        for value in &block.results {
            self.buffers.remove(value);
        }
        (work, launches)
    }

    fn access(&mut self, results: &[ValueId], op: &KernelOp, kernel: usize) {
        match op {
            KernelOp::Const(lit @ Lit::Int(..)) => {
                self.constants
                    .insert(results[0], ScalarValue::from_lit(*lit));
            }
            KernelOp::Prim(prim, args) => {
                self.compute(results[0], *prim, args);
                if let (Prim::Check(Extent::Const(_)), 1..) = (prim, kernel)
                    && let Some(along) = self.computed.get(&args[0])
                {
                    self.checked.push(along.clone());
                }
            }
            _ => {}
        }
        match op {
            KernelOp::Alloc { .. } => {
                if self.is_small(results[0]) {
                    self.buffers.insert(results[0], (kernel, BTreeSet::new()));
                }
            }
            KernelOp::Load { buffer, indices } => self.at(*buffer, indices, kernel),
            KernelOp::Store {
                buffer,
                indices,
                value,
            }
            | KernelOp::Combine {
                place: buffer,
                indices,
                value,
                ..
            } => {
                self.buffers.remove(value);
                self.at(*buffer, indices, kernel);
            }
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Copy(_)
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::Set { .. }
            | KernelOp::Swap(..)
            | KernelOp::Contract { .. }
            | KernelOp::For { .. }
            | KernelOp::Own(Par { .. })
            | KernelOp::Assert { .. }
            | KernelOp::While { .. }
            | KernelOp::If { .. } => {
                if !self.buffers.is_empty() {
                    let is_array = |value: &ValueId| self.program.ty(*value).rank() > 0;
                    op.for_each_operand(&mut |operand| {
                        if is_array(operand) {
                            self.buffers.remove(operand);
                        }
                    });
                }
            }
        }
    }

    /// Notes an integer that is known, or will be once loops are unrolled.
    fn compute(&mut self, result: ValueId, prim: Prim, args: &[ValueId]) {
        if self.program.elem(result).is_float() {
            return;
        }
        let known = args.iter().map(|arg| self.constants.get(arg).copied());
        if let Some(known) = known.collect::<Option<SmallVec<[_; 2]>>>() {
            if let Some(value) = eval_const(prim, &known) {
                self.constants.insert(result, value);
            }
            return;
        }
        let mut along = BTreeSet::new();
        for arg in args {
            match self.computed.get(arg) {
                _ if self.constants.contains_key(arg) => {}
                _ if self.loops.contains_key(arg) => along.extend([*arg]),
                Some(loops) if along.len() + loops.len() <= MOST_LOOPS => along.extend(loops),
                _ => return,
            }
        }
        self.computed.insert(result, along);
    }

    /// Notes that a buffer is accessed at these indices.
    fn at(&mut self, buffer: ValueId, indices: &[ValueId], kernel: usize) {
        let Some((own, along)) = self.buffers.get_mut(&buffer) else {
            return;
        };
        let mut fits = *own == kernel;
        for ((index, extent), place) in indices
            .iter()
            .zip(&self.program.ty(buffer).dims)
            .map(|(index, dim)| ((*index, *dim), place(&self.constants, *index)))
        {
            let Extent::Const(length) = extent else {
                unreachable!("a small buffer is of constant extents");
            };
            match (place, self.loops.get(&index)) {
                (Some(place), _) => fits &= place < length,
                (None, Some(one)) => {
                    fits &= one.trips <= length;
                    along.insert(index);
                }
                // Whether it is within the buffer is asked again once it is a constant.
                (None, None) => match self.computed.get(&index) {
                    Some(loops) => along.extend(loops),
                    None => fits = false,
                },
            }
        }
        if !fits {
            self.buffers.remove(&buffer);
        }
    }

    fn is_small(&self, buffer: ValueId) -> bool {
        let places = self.program.ty(buffer).dims.iter().try_fold(1, |n, dim| {
            match dim {
                Extent::Const(length) => length.checked_mul(n),
                Extent::Size(_) | Extent::Value(_) => None,
            }
            .filter(|&n| n <= MOST_PLACES)
        });
        places.is_some()
    }

    /// The loops that buffers want unrolled.
    fn loops(&self) -> ValueSet {
        let fits = |index: &ValueId| self.loops[index].may_be_unrolled();
        let wanted = self.buffers.values().map(|(_, along)| along);
        let wanted = wanted.chain(&self.checked);
        let wanted = wanted.filter(|along| along.iter().all(fits)).flatten();
        let short = |(_, known): &(ValueId, &Loop)| {
            known.innermost
                && known.trips <= SHORTEST
                && known.trips.saturating_mul(known.work) <= LITTLE
        };
        let short = self.loops.iter().filter(short).map(|(index, _)| index);
        wanted.copied().chain(short).collect()
    }
}

/// Whether there is a loop in a block, at any depth.
fn has_loops(block: &Block<Kernels>) -> bool {
    block.stmts.iter().any(|stmt| {
        let own = matches!(stmt.op, KernelOp::For { .. } | KernelOp::While { .. });
        own || stmt.op.blocks().into_iter().any(has_loops)
    })
}

/// The place along a dimension that an index is, if that is known.
fn place(constants: &ValueMap<ScalarValue>, index: ValueId) -> Option<u64> {
    u64::try_from(constants.get(&index)?.int()?).ok()
}

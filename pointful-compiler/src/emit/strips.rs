//! A parallel axis in strips: several neighbouring points advance together through the loops inside them.
//!
//! In `par %i: I, %j: J { var %s; for %k: K { … b[k, j] … combine add %s } store c[i, j] }` the inner loop walks down a
//! column of `b`, which neither vectorises nor uses the cache lines it touches. Points are independent, so a strip of
//! them may run statement by statement:
//!
//! ```text
//! for j in start..stop {                        while stop - j_from >= 32 {
//!     let mut s = 0.0;                              let mut s_lanes = [0.0; 32];
//!     for k in 0..n {                               for k in 0..n {
//!         s = s + a[i, k] * b[k, j];      ▶             for lane in 0..32 {
//!     }                                                     let j = j_from + lane;
//!     c[i, j] = s;                                          s_lanes[lane] = s_lanes[lane] + a[i, k] * b[k, j];
//! }                                                     }
//!                                                   }
//!                                                   for lane in 0..32 { let j = j_from + lane; c[i, j] = s_lanes[lane]; }
//!                                                   j_from += 32;
//!                                               }
//! ```
//!
//! The body is cut into *segments*, straight-line statements between inner loops. Each becomes a loop over lanes of
//! constant length, which the optimiser turns into vector instructions; what one segment hands to another is kept for
//! all lanes. The numbers are those of the plain loop: every point does the same operations in the same order.
//!
//! It pays where the inner loops read along the axis, or not along it at all and add up something for each point, and call nothing.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};

use super::angles::Angles;
use super::body::Body;
use super::names::ident;
use super::unit::{Unit, usize_literal};
use super::{lanes, scalar, tokens};
use crate::ir::stages::kernels::{KernelOp, Kernels, PlaceKind};
use crate::ir::{Block, Extent, Lit, Operation, Stmt, ValueId};
use crate::ops::Prim;

/// Bytes of one variable over a strip: as many registers as are free when there is one variable.
const BYTES: u64 = 256;
/// The same for what is left of a row, and when there are several variables.
const FEW_BYTES: u64 = 128;

/// Constant loops of up to this many iterations are unrolled, and the points around them vectorised, without help.
const UNROLLED: u64 = 16;

/// How the points of a row are run in strips.
pub(super) struct Plan {
    /// Numbers of lanes, the larger first.
    widths: Vec<u64>,
    /// Scalars that are the same for all points of the axis, and so computed once for a strip.
    uniform: BTreeSet<ValueId>,
    /// Other scalars, and `var`s, that are bound in one segment and used in another.
    kept: BTreeSet<ValueId>,
    /// Whether a point may be computed twice: nothing is read that is written, nothing accumulated.
    repeatable: bool,
    /// Whether the points read neighbours, so that even few of them are better off together than each for itself.
    along: bool,
}

/// Whether and how the points along `index` are run in strips.
pub(super) fn plan(
    unit: &Unit<'_>,
    index: ValueId,
    body: &Block<Kernels>,
    interior: &BTreeSet<ValueId>,
    angles: Angles,
) -> Option<Plan> {
    let mut look = Look::of(unit, interior, angles);
    look.strides.insert(index, Stride::One);
    look.find_written(body);
    look.block(body, false)?;
    if !(look.profits || look.sums) || look.across {
        return None;
    }
    let widest = look
        .kept
        .iter()
        .map(|&value| unit.scalar(value).bytes())
        .max()?
        .max(4);
    let widths = if look.kept.len() > 1 {
        vec![FEW_BYTES / widest]
    } else {
        vec![BYTES / widest, FEW_BYTES / widest]
    };
    let repeatable = look.read.is_disjoint(&look.written);
    Some(Plan {
        widths,
        uniform: look.uniform,
        kept: look.kept,
        repeatable,
        along: look.profits,
    })
}

/// How a value changes from one point of the axis to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stride {
    /// Not at all.
    Zero,
    /// By one.
    One,
    /// Somehow.
    Other,
}

/// What is found out about a body.
struct Look<'u> {
    unit: &'u Unit<'u>,
    /// Indices made of positions known to be in range.
    interior: &'u BTreeSet<ValueId>,
    /// How functions of angles are called.
    angles: Angles,
    /// Strides of what the body binds; anything else does not change.
    strides: BTreeMap<ValueId, Stride>,
    /// The segment that binds a value.
    home: BTreeMap<ValueId, usize>,
    /// The segment being looked at, and how many there are.
    segment: usize,
    segments: usize,
    uniform: BTreeSet<ValueId>,
    kept: BTreeSet<ValueId>,
    read: BTreeSet<ValueId>,
    written: BTreeSet<ValueId>,
    /// Whether an inner loop of some length reads along the axis.
    profits: bool,
    /// Whether one adds up what is not the same for all points.
    sums: bool,
    /// Whether an inner loop reads across the axis.
    across: bool,
}

impl<'u> Look<'u> {
    fn of(unit: &'u Unit<'u>, interior: &'u BTreeSet<ValueId>, angles: Angles) -> Self {
        Self {
            unit,
            interior,
            angles,
            strides: BTreeMap::new(),
            home: BTreeMap::new(),
            segment: 0,
            segments: 0,
            uniform: BTreeSet::new(),
            kept: BTreeSet::new(),
            read: BTreeSet::new(),
            written: BTreeSet::new(),
            profits: false,
            sums: false,
            across: false,
        }
    }

    fn stride(&self, value: ValueId) -> Stride {
        self.strides.get(&value).copied().unwrap_or(Stride::Zero)
    }

    /// The stride of what is computed somehow from these values.
    fn mixed(&self, values: &[ValueId]) -> Stride {
        if values
            .iter()
            .all(|&value| self.stride(value) == Stride::Zero)
        {
            Stride::Zero
        } else {
            Stride::Other
        }
    }

    /// Finds what is stored to.
    fn find_written(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            if let KernelOp::Store { buffer, .. } = &stmt.op {
                self.written.insert(*buffer);
            }
            for inner in stmt.op.blocks() {
                self.find_written(inner);
            }
        }
    }

    fn begin_segment(&mut self) {
        self.segments += 1;
        self.segment = self.segments;
    }

    /// Looks at a block; `None` if it cannot be run in strips.
    fn block(&mut self, block: &Block<Kernels>, in_loop: bool) -> Option<()> {
        for stmt in &block.stmts {
            for operand in stmt.op.operands() {
                if self
                    .home
                    .get(&operand)
                    .is_some_and(|&home| home != self.segment)
                {
                    self.kept.insert(operand);
                }
            }
            let stride = match &stmt.op {
                KernelOp::Const(_) | KernelOp::Size(_) => Stride::Zero,
                KernelOp::Prim(prim, args) => {
                    let elem = self.unit.program.elem(args[0]);
                    let prim = match scalar::in_range(*prim) {
                        Some(left) if self.interior.contains(&stmt.results[0]) => left,
                        Some(_) | None => *prim,
                    };
                    let dear = !scalar::vectorises(prim, elem, self.angles)
                        && self.mixed(args) != Stride::Zero;
                    if prim.may_panic(&[elem]) || (in_loop && dear) {
                        return None;
                    }
                    self.prim(prim, args)
                }
                KernelOp::Select(cond, then, otherwise) => self.mixed(&[*cond, *then, *otherwise]),
                KernelOp::Load { buffer, indices } => {
                    self.read.insert(*buffer);
                    let stride = self.access(indices, in_loop);
                    // What the kernel itself writes may differ from one moment to the next.
                    if self.written.contains(buffer) {
                        Stride::Other
                    } else {
                        stride
                    }
                }
                KernelOp::Store { indices, .. } => self.access(indices, in_loop),
                KernelOp::Combine {
                    place,
                    indices,
                    value,
                    ..
                } => {
                    if !indices.is_empty() || !self.home.contains_key(place) {
                        return None;
                    }
                    // Every point adds up something of its own, of what all of them read.
                    self.sums |= in_loop && self.stride(*value) != Stride::Zero;
                    Stride::Zero
                }
                // Contents of a place are its own for every point.
                KernelOp::Var(_) | KernelOp::Get(_) => Stride::Other,
                KernelOp::Set { .. } => Stride::Zero,
                KernelOp::For { extent, body, .. } => {
                    if let Extent::Value(value) = self.unit.resolve(*extent)
                        && self.home.contains_key(&value)
                    {
                        return None;
                    }
                    // The index is a variable of the loop itself, which all lanes share.
                    self.begin_segment();
                    let inner = matches!(self.unit.resolve(*extent), Extent::Const(trips) if trips <= UNROLLED);
                    let (profited, summed) = (self.profits, self.sums);
                    self.block(body, true)?;
                    self.profits = profited || (self.profits && !inner);
                    self.sums = summed || (self.sums && !inner);
                    self.begin_segment();
                    continue;
                }
                KernelOp::Alloc { .. }
                | KernelOp::Copy(_)
                | KernelOp::Swap(..)
                | KernelOp::Contract { .. }
                | KernelOp::Par { .. }
                | KernelOp::Assert { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. } => return None,
            };
            for &result in &stmt.results {
                if self.unit.is_bound(result) {
                    self.strides.insert(result, stride);
                    if stride == Stride::Zero {
                        self.uniform.insert(result);
                    } else {
                        self.home.insert(result, self.segment);
                    }
                }
            }
        }
        Some(())
    }

    fn prim(&self, prim: Prim, args: &[ValueId]) -> Stride {
        let strides = || args.iter().map(|&arg| self.stride(arg)).collect::<Vec<_>>();
        match prim {
            Prim::Cast(to) if to.is_int() => self.stride(args[0]),
            Prim::Trust(_) => self.stride(args[0]),
            Prim::Add
                if matches!(
                    strides()[..],
                    [Stride::One, Stride::Zero] | [Stride::Zero, Stride::One]
                ) =>
            {
                Stride::One
            }
            Prim::Sub if matches!(strides()[..], [Stride::One, Stride::Zero]) => Stride::One,
            _ => self.mixed(args),
        }
    }

    /// The stride of an element, and whether reading it so pays.
    fn access(&mut self, indices: &[ValueId], in_loop: bool) -> Stride {
        let strides: Vec<Stride> = indices.iter().map(|&index| self.stride(index)).collect();
        let (last, leading) = strides.split_last().unwrap_or((&Stride::Zero, &[]));
        let along = leading.iter().all(|&stride| stride == Stride::Zero) && *last == Stride::One;
        let uniform = strides.iter().all(|&stride| stride == Stride::Zero);
        if in_loop {
            self.profits |= along;
            self.across |= !along && !uniform;
        }
        if uniform { Stride::Zero } else { Stride::Other }
    }
}

/// The points `start..stop` of a row.
pub(super) fn emit(
    emit: &mut Body<'_>,
    plan: &Plan,
    index: ValueId,
    body: &Block<Kernels>,
    start: &TokenStream,
    stop: &TokenStream,
) -> TokenStream {
    let name = emit.unit.names.value(index);
    let from = ident(&format!("{name}_from"));
    let first = ident(&format!("{name}_first"));
    let mut strips = TokenStream::new();
    for (position, &width) in plan.widths.iter().enumerate() {
        let strip = Strip {
            plan,
            index: name,
            from: &from,
            width,
        }
        .block(emit, body);
        let width = usize_literal(width);
        strips.extend(tokens! {
            while #stop - #from >= #width {
                #strip
                #from += #width;
            }
        });
        // The narrowest once more, ending where the row ends.
        if plan.repeatable && position + 1 == plan.widths.len() {
            strips.extend(tokens! {
                if #from < #stop && #stop - #first >= #width {
                    #from = #stop - #width;
                    #strip
                    #from = #stop;
                }
            });
        }
    }
    for value in &plan.kept {
        emit.in_lanes.remove(value);
    }
    // Without lanes, so that a point's numbers do not depend on whether it is in a strip.
    // Of few points alone each adds up in lanes of its own.
    let few = plan.repeatable && !plan.along;
    let rest = match few {
        true => emit.block(body),
        false => emit.without_lanes(|emit| emit.block(body)),
    };
    tokens! {
        let #first = #start;
        let mut #from = #first;
        #strips
        for #name in #from..#stop { #rest }
    }
}

/// One strip under emission.
struct Strip<'p> {
    plan: &'p Plan,
    index: &'p Ident,
    from: &'p Ident,
    width: u64,
}

impl Strip<'_> {
    fn block(&self, emit: &mut Body<'_>, block: &Block<Kernels>) -> TokenStream {
        let mut emitted = TokenStream::new();
        let mut segment: Vec<&Stmt<Kernels>> = Vec::new();
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::For {
                    extent,
                    reverse,
                    body,
                } => {
                    emitted.extend(self.segment(emit, &segment));
                    segment.clear();
                    let unit = emit.unit;
                    let (index, stop) = (unit.names.value(body.params[0]), unit.extent(*extent));
                    // The lanes are vectors already. Where it could, the optimiser would rather make vectors of
                    // iterations, with gathers; it does not look beyond this.
                    let inner = self.block(emit, body);
                    let inner = tokens!(#inner ::core::hint::black_box(()););
                    emitted.extend(if *reverse {
                        tokens!(for #index in ::core::iter::Iterator::rev(0..#stop) { #inner })
                    } else {
                        tokens!(for #index in 0..#stop { #inner })
                    });
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Alloc { .. }
                | KernelOp::Copy(_)
                | KernelOp::Load { .. }
                | KernelOp::Store { .. }
                | KernelOp::Combine { .. }
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Swap(..)
                | KernelOp::Contract { .. }
                | KernelOp::Par { .. }
                | KernelOp::Assert { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. } => segment.push(stmt),
            }
        }
        emitted.extend(self.segment(emit, &segment));
        emitted
    }

    /// Straight-line statements, for all lanes.
    fn segment(&self, emit: &mut Body<'_>, stmts: &[&Stmt<Kernels>]) -> TokenStream {
        let unit = emit.unit;
        let is_uniform = |stmt: &&Stmt<Kernels>| {
            !stmt.results.is_empty()
                && stmt
                    .results
                    .iter()
                    .all(|result| self.plan.uniform.contains(result))
        };
        let (uniform, stmts): (Vec<_>, Vec<_>) =
            stmts.iter().copied().partition(|stmt| is_uniform(stmt));
        let uniform = emit.block_of(&uniform);
        let is_bound =
            |stmt: &&&Stmt<Kernels>| stmt.results.iter().all(|&result| unit.is_bound(result));
        if stmts.iter().filter(is_bound).count() == 0 {
            return uniform;
        }
        let width = usize_literal(self.width);
        let (mut before, mut inner, mut after) =
            (TokenStream::new(), TokenStream::new(), TokenStream::new());
        let mut here = BTreeSet::new();
        let mut fetched = BTreeSet::new();
        let mut calls = false;
        for stmt in &stmts {
            for operand in stmt.op.operands() {
                if self.plan.kept.contains(&operand)
                    && !here.contains(&operand)
                    && fetched.insert(operand)
                    && unit.kind(operand) == PlaceKind::Scalar
                {
                    let (name, lanes) = (unit.names.value(operand), lanes::name(unit, operand));
                    inner.extend(tokens!(let #name = #lanes[lane];));
                }
            }
            if let KernelOp::Prim(prim, args) = &stmt.op
                && !emit.is_interior(stmt.results[0])
            {
                calls |= !scalar::vectorises(*prim, unit.program.elem(args[0]), emit.angles);
            }
            for &result in stmt
                .results
                .iter()
                .filter(|result| self.plan.kept.contains(result))
            {
                here.insert(result);
                let lanes = lanes::name(unit, result);
                let zero = scalar::literal(Lit::of(unit.scalar(result), 0.0));
                before.extend(tokens!(let mut #lanes = [#zero; #width];));
                if unit.kind(result) == PlaceKind::Var {
                    emit.in_lanes.insert(result);
                }
            }
            inner.extend(emit.block_of(&[*stmt]));
            for &result in stmt
                .results
                .iter()
                .filter(|result| self.plan.kept.contains(result))
            {
                if unit.kind(result) == PlaceKind::Scalar {
                    let (name, lanes) = (unit.names.value(result), lanes::name(unit, result));
                    inner.extend(tokens!(#lanes[lane] = #name;));
                }
            }
        }
        if calls {
            // A loop over calls is not unrolled, so the lanes it touches have to be in memory. That they need not be there
            // in the loops before and after, the optimiser sees only if there they are other variables.
            let other = |&value: &ValueId| {
                let lanes = lanes::name(unit, value);
                tokens!(let mut #lanes = ::core::hint::black_box(#lanes);)
            };
            before.extend(fetched.iter().map(other));
            after.extend(here.iter().map(other));
        }
        let (index, from) = (self.index, self.from);
        tokens! {
            #uniform
            #before
            for lane in 0..#width {
                let #index = #from + lane;
                #inner
            }
            #after
        }
    }
}

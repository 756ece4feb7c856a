//! How much a kernel has to do, and how many operations a function is, as formulas in the extents
//! that are known when it is launched, and when it is called.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;

use super::context::Unit;
use super::tokens;
use crate::ir::stages::cpu::{Along, Cpu, CpuOp};
use crate::ir::stages::imperative::{Imperative, ImperativeOp};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Elem, Extent, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Iterations that are assumed of a loop of which nothing is known.
const UNKNOWN: u64 = 16;

/// A sum of constants and of products with extents.
#[derive(Default)]
struct Cost {
    constant: u64,
    loops: Vec<(Trips, Cost)>,
}

/// How often a loop runs.
enum Trips {
    Known(Extent),
    /// About half of this extent: a triangular loop.
    Half(Extent),
}

/// The scalar operations of one point of each kernel, as `u64` expressions, in the order of the
/// program: of points as they were before passes have split and repeated their loops.
pub(super) fn of_kernels(unit: &Unit<'_>, program: &Program<Kernels>) -> Vec<TokenStream> {
    fn look(unit: &Unit<'_>, block: &Block<Kernels>, found: &mut Vec<TokenStream>) {
        for stmt in &block.stmts {
            match &stmt.op {
                ImperativeOp::Own(par) => {
                    found.push(Estimate::new(unit).block(&par.body).tokens(unit))
                }
                op => op
                    .blocks()
                    .into_iter()
                    .for_each(|inner| look(unit, inner, found)),
            }
        }
    }
    let mut found = Vec::new();
    look(unit, &program.body, &mut found);
    found
}

/// The operations of a whole program, wherever they run, as a `u64` expression in its sizes: what
/// `stats::Stats::operations` says that it counts. None if there are none.
pub(super) fn of_program(unit: &Unit<'_>, program: &Program<Kernels>) -> Option<TokenStream> {
    let mut operations = Estimate {
        memory: false,
        ..Estimate::new(unit)
    };
    let cost = operations.block(&program.body);
    (!cost.is_nothing()).then(|| cost.tokens(unit))
}

/// The same of a contraction, for each place along its result's first axis.
pub(super) fn contraction_per_row(unit: &Unit<'_>, stmt: &Stmt<Cpu>) -> TokenStream {
    let mut axes = contracted(unit, &stmt.op);
    if let CpuOp::Contract { along, .. } = &stmt.op {
        let row = along[0].iter().find_map(|along| match along {
            Along::Axis(axis) => Some(axis),
            Along::At(_) => None,
        });
        row.and_then(|row| axes.remove(row));
    }
    let lengths = axes.into_values().map(|extent| unit.extent(extent));
    // The library multiplies and adds so many times as fast as what costs 1 here.
    tokens!((1u64 #(.saturating_mul(#lengths as u64))* / 16))
}

/// The axes of a contraction.
fn contracted<S: Imperative>(unit: &Unit<'_>, op: &ImperativeOp<S>) -> BTreeMap<usize, Extent> {
    let mut axes = BTreeMap::new();
    if let ImperativeOp::Contract {
        out,
        factors: [left, right],
        along,
        ..
    } = op
    {
        for (array, along) in [out, left, right].into_iter().zip(along) {
            for (along, &extent) in along.iter().zip(unit.dims(*array)) {
                if let Along::Axis(axis) = along {
                    axes.insert(*axis, extent);
                }
            }
        }
    }
    axes
}

struct Estimate<'u> {
    unit: &'u Unit<'u>,
    /// Whether memory, indices and going round in loops cost something: they take time, and are no
    /// operations.
    memory: bool,
    /// What the kernel binds, so that the host does not know it.
    inside: ValueSet,
    /// Values that lie below an extent, and which: indices and what is computed from them.
    indices: Vec<(ValueId, Extent)>,
    /// Lengths that are mostly what the host knows, and that.
    most: Vec<(ValueId, Extent)>,
    /// What follows from sizes alone.
    of_sizes: ValueSet,
    /// What follows from sizes and from how often loops of the host have run.
    of_steps: ValueSet,
}

impl<'u> Estimate<'u> {
    fn new(unit: &'u Unit<'u>) -> Self {
        Self {
            unit,
            memory: true,
            inside: ValueSet::new(),
            indices: Vec::new(),
            most: Vec::new(),
            of_sizes: ValueSet::new(),
            of_steps: ValueSet::new(),
        }
    }

    /// What this costs that is no operation.
    fn time(&self, cost: u64) -> u64 {
        if self.memory { cost } else { 0 }
    }

    /// What computing a value costs, if it is no position or these cost something.
    fn value(&self, value: ValueId, cost: u64) -> u64 {
        match self.unit.program.elem(value).is_position() {
            true => self.time(cost),
            false => cost,
        }
    }

    fn block<S: Imperative>(&mut self, block: &Block<S>) -> Cost {
        let mut cost = Cost::default();
        for &param in &block.params {
            self.bind(param);
        }
        for stmt in &block.stmts {
            for &result in &stmt.results {
                self.bind(result);
            }
            match &stmt.op {
                ImperativeOp::Const(_) | ImperativeOp::Size(_) => {
                    self.of_sizes.extend(&stmt.results);
                    self.of_steps.extend(&stmt.results);
                }
                ImperativeOp::Var(_) | ImperativeOp::Get(_) | ImperativeOp::Set { .. } => {}
                ImperativeOp::Prim(prim, args) => {
                    if args.iter().all(|arg| self.of_sizes.contains(arg)) {
                        self.of_sizes.extend(&stmt.results);
                    }
                    if args.iter().all(|arg| self.of_steps.contains(arg)) {
                        self.of_steps.extend(&stmt.results);
                    }
                    let of_prim = self::prim(*prim, self.unit.program.elem(args[0]));
                    cost.constant += self.value(stmt.results[0], of_prim);
                    // The points of a tile: as many as fill it, but for the last one.
                    let host = |arg: &&ValueId| self.known(Extent::Value(**arg));
                    if let (Prim::Min, Some(&most)) = (prim, args.iter().find(host)) {
                        self.most.push((stmt.results[0], Extent::Value(most)));
                    }
                    if let (Some(&result), Some(extent)) = (stmt.results.first(), self.below(args))
                    {
                        self.indices.push((result, extent));
                    }
                }
                ImperativeOp::Select(..) => {
                    cost.constant += self.value(stmt.results[0], 1);
                }
                ImperativeOp::Load { .. }
                | ImperativeOp::Store { .. }
                | ImperativeOp::Swap(..)
                | ImperativeOp::Assert { .. } => cost.constant += self.time(1),
                ImperativeOp::Contract { .. } => {
                    let one = Cost {
                        constant: if self.memory { 1 } else { 2 },
                        loops: Vec::new(),
                    };
                    let all = contracted(self.unit, &stmt.op).into_values();
                    cost.add(all.fold(one, |cost, extent| self.repeated(extent, cost)));
                }
                // A place anywhere in a table that may be large is waited for.
                ImperativeOp::Combine { place, .. } if self.unit.is_noted(*place) => {
                    cost.constant += 1 + self.time(5);
                }
                ImperativeOp::Combine { indices, .. } => {
                    cost.constant += 1;
                    if !indices.is_empty() {
                        cost.constant += self.time(2);
                    }
                }
                ImperativeOp::Alloc { fill: None } => {}
                ImperativeOp::Alloc { fill: Some(_) } | ImperativeOp::Copy(_) => {
                    let mut fill = Cost {
                        constant: self.time(1),
                        loops: Vec::new(),
                    };
                    for &extent in self.unit.dims(stmt.results[0]).iter().rev() {
                        fill = self.repeated(extent, fill);
                    }
                    cost.add(fill);
                }
                ImperativeOp::For { extent, body, .. } => {
                    self.of_steps.extend(&body.params);
                    let mut inner = self.block(body);
                    inner.constant += self.time(1);
                    let inner = self.repeated(*extent, inner);
                    cost.add(inner);
                }
                ImperativeOp::Own(own) => {
                    for inner in own.blocks() {
                        let inner = self.block(inner);
                        let extents = S::par(own).map_or(&[][..], |par| &par.extents);
                        let points = extents.iter().rev();
                        cost.add(points.fold(inner, |cost, &extent| self.repeated(extent, cost)));
                    }
                }
                ImperativeOp::While { cond, body } => {
                    let mut inner = self.block(cond);
                    inner.add(self.block(body));
                    let inner = self.repeated(Extent::Const(UNKNOWN), inner);
                    cost.add(inner);
                }
                // Versions by sizes do the same: the plain one says how much.
                ImperativeOp::If {
                    cond,
                    then,
                    otherwise,
                } if is_a_loop(otherwise)
                    && (self.of_sizes.contains(cond)
                        || self.of_steps.contains(cond) && is_a_kernel(then)) =>
                {
                    let plain = self.block(otherwise);
                    cost.add(plain);
                }
                ImperativeOp::If {
                    then, otherwise, ..
                } => {
                    // Both, for want of knowing which; it is an estimate.
                    let (then, otherwise) = (self.block(then), self.block(otherwise));
                    cost.add(then);
                    cost.add(otherwise);
                }
            }
        }
        cost
    }

    fn bind(&mut self, value: ValueId) {
        self.inside.insert(value);
        if let Elem::Index(extent) = self.unit.program.elem(value) {
            self.indices.push((value, extent));
        }
    }

    /// An extent that the host knows and one of these values lies below.
    fn below(&self, values: &[ValueId]) -> Option<Extent> {
        values.iter().find_map(|&value| {
            let (_, extent) = self
                .indices
                .iter()
                .rev()
                .find(|(index, _)| *index == value)?;
            self.known(*extent).then_some(*extent)
        })
    }

    fn known(&self, extent: Extent) -> bool {
        match self.unit.resolve(extent) {
            Extent::Const(_) | Extent::Size(_) => true,
            Extent::Value(value) => !self.inside.contains(&value),
        }
    }

    fn repeated(&self, extent: Extent, inner: Cost) -> Cost {
        if inner.is_nothing() {
            return inner;
        }
        let extent = self.unit.resolve(extent);
        let trips = match extent {
            Extent::Value(value) if !self.known(extent) => {
                let most = self.most.iter().find(|(length, _)| *length == value);
                match (most, self.below(&[value])) {
                    (Some(&(_, most)), _) => Trips::Known(most),
                    (None, Some(bound)) => Trips::Half(bound),
                    (None, None) => Trips::Known(Extent::Const(UNKNOWN)),
                }
            }
            Extent::Const(_) | Extent::Size(_) | Extent::Value(_) => Trips::Known(extent),
        };
        match trips {
            Trips::Known(Extent::Const(number)) if inner.loops.is_empty() => Cost {
                constant: inner.constant.saturating_mul(number),
                loops: Vec::new(),
            },
            trips => Cost {
                constant: 0,
                loops: vec![(trips, inner)],
            },
        }
    }
}

/// Whether a block is one kernel.
fn is_a_kernel<S: Imperative>(block: &Block<S>) -> bool {
    matches!(&block.stmts[..], [stmt] if matches!(stmt.op, ImperativeOp::Own(_)))
}

/// Whether a block is one loop.
fn is_a_loop<S: Imperative>(block: &Block<S>) -> bool {
    matches!(&block.stmts[..], [stmt] if matches!(stmt.op, ImperativeOp::For { .. }))
}

impl Cost {
    fn is_nothing(&self) -> bool {
        self.constant == 0 && self.loops.is_empty()
    }

    fn add(&mut self, other: Cost) {
        self.constant = self.constant.saturating_add(other.constant);
        self.loops.extend(other.loops);
    }

    fn tokens(&self, unit: &Unit<'_>) -> TokenStream {
        let mut constant: Literal = format!("{}u64", self.constant)
            .parse()
            .expect("digits and a suffix are a literal");
        constant.set_span(proc_macro2::Span::mixed_site());
        let loops = self.loops.iter().map(|(trips, inner)| {
            let inner = inner.tokens(unit);
            let trips = match trips {
                Trips::Known(extent) => unit.extent(*extent).into_token_stream(),
                Trips::Half(extent) => {
                    let extent = unit.extent(*extent);
                    tokens!((#extent / 2))
                }
            };
            tokens!(.saturating_add((#trips as u64).saturating_mul(#inner)))
        });
        tokens!(#constant #(#loops)*)
    }
}

pub(crate) use crate::analysis::cost::prim;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Program, Scalar};
    use crate::targets::cpu::rust::testing::{Build, table};

    fn estimate(program: &Program<Kernels>) -> String {
        let targeted = crate::targets::cpu::rust::testing::targeted(program.clone());
        let estimates = of_kernels(&Unit::of(&targeted), program);
        crate::targets::cpu::rust::names::as_in_source(&estimates[0]).replace(' ', "")
    }

    #[test]
    fn loops_multiply_by_extents_that_the_host_knows() {
        assert_eq!(
            estimate(&crate::targets::cpu::rust::testing::matrix_vector()),
            "1u64.saturating_add((kasu64).saturating_mul(5u64))"
        );
    }

    #[test]
    fn a_triangular_loop_is_half_the_axis() {
        let mut b = Build::new("triangle");
        let n = b.size("N");
        let y = b.alloc(table(Scalar::Usize, &[n]), None);
        b.par(&[n], &[], |b, at, _| {
            let i = b.cast(Scalar::Usize, at[0]);
            b.each(Extent::Value(i), |b, _| {
                b.store(y, at, i);
            });
        });
        let text = estimate(&b.finish(&[y]));
        assert_eq!(
            text,
            "1u64.saturating_add(((n/2usize)asu64).saturating_mul(2u64))".replace("2usize)", "2)")
        );
    }
}

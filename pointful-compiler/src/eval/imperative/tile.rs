//! Steps by tiles of rows: some rows are steps ahead of others.

use std::collections::BTreeMap;

use super::memory::{Iteration, Memory, Toucher};
use super::{Run, Slot};
use crate::eval::{EvalError, ScalarValue};
use crate::ir::Stmt;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Par, Tile};
use crate::ir::stages::imperative::Along;
use crate::ops::Prim;

/// The most kernels that a row runs at once.
const MOST: usize = 3;

/// How far steps have come.
struct Progress<'t> {
    tile: &'t Tile,
    kernels: &'t [Stmt<Cpu>],
    steps: usize,
    rows: usize,
    /// By row: how many kernels, of all steps, have run in it.
    done: Vec<usize>,
    /// How often buffers have changed places.
    swapped: usize,
    /// The first number of a nest that no kernel has.
    nest: u64,
    /// What a kernel of a step has left in its private copies, by row.
    left: BTreeMap<(usize, usize), Vec<Vec<Memory>>>,
}

impl Progress<'_> {
    /// Whether the next kernel may run in a row.
    fn may_go_on(&self, row: usize) -> bool {
        let reach = self.tile.reach as usize;
        let near = row.saturating_sub(reach)..self.rows.min(row + reach + 1);
        let own = self.done[row];
        own < self.steps * self.kernels.len() && self.done[near].iter().all(|&done| done >= own)
    }
}

impl Run<'_, Cpu> {
    /// All steps, in an order that the reach allows.
    pub(super) fn tile(&mut self, tile: &Tile) -> Result<(), EvalError> {
        if self.now != Toucher::ANY {
            return Err(EvalError::bug("steps inside of a parallel nest"));
        }
        let [before, kernels, after] = tile.parts();
        let steps = tile.steps().map(|(extent, _)| self.extent(extent));
        let mut progress = Progress {
            tile,
            kernels,
            steps: steps.transpose()?.unwrap_or(1),
            rows: self.extent(tile.rows())?,
            done: Vec::new(),
            swapped: 0,
            nest: self.nests + 1,
            left: BTreeMap::new(),
        };
        progress.done = vec![0; progress.rows];
        let all = progress.steps * kernels.len();
        self.nests += all as u64;
        self.meter.counts.kernels += all as u64;
        while let Some(last) = (0..progress.rows).min_by_key(|&row| progress.done[row])
            && progress.done[last] < all
        {
            let drawn = self.meter.order.below(progress.rows);
            let row = if progress.may_go_on(drawn) {
                drawn
            } else {
                last
            };
            for _ in 0..1 + self.meter.order.below(MOST) {
                if progress.may_go_on(row) {
                    self.kernel(&mut progress, before, row)?;
                    progress.done[row] += 1;
                }
            }
        }
        let steps = progress.steps;
        self.swapped(&mut progress, steps)?;
        for step in 0..steps {
            self.number(tile, step, steps);
            for stmt in before {
                self.stmt(stmt)?;
            }
            for (number, kernel) in kernels.iter().enumerate() {
                if let CpuOp::Own(Own::Par(par)) = &kernel.op {
                    let left = progress.left.remove(&(step, number));
                    let left = left.map_or_else(|| Ok(vec![self.privates(par)?]), Ok)?;
                    self.merge(par, left)?;
                }
            }
            for stmt in after {
                self.stmt(stmt)?;
            }
        }
        Ok(())
    }

    /// Binds the number of a step.
    fn number(&mut self, tile: &Tile, step: usize, steps: usize) {
        if let Some((_, number)) = tile.steps() {
            let step = if tile.reverse { steps - 1 - step } else { step };
            self.values[number.index()] = Slot::Scalar(ScalarValue::Usize(step));
        }
    }

    /// Buffers are where they are after so many steps.
    fn swapped(&mut self, progress: &mut Progress<'_>, steps: usize) -> Result<(), EvalError> {
        if progress.swapped % 2 != steps % 2 {
            for &(a, b) in &progress.tile.swaps {
                self.swap(a, b)?;
            }
        }
        progress.swapped = steps;
        Ok(())
    }

    /// The next kernel of a row.
    fn kernel(
        &mut self,
        progress: &mut Progress<'_>,
        before: &[Stmt<Cpu>],
        row: usize,
    ) -> Result<(), EvalError> {
        let level = progress.done[row];
        let (step, number) = (
            level / progress.kernels.len(),
            level % progress.kernels.len(),
        );
        self.swapped(progress, step)?;
        self.number(progress.tile, step, progress.steps);
        for stmt in before {
            self.stmt(stmt)?;
        }
        match &progress.kernels[number].op {
            CpuOp::Own(Own::Par(par)) => {
                let nest = progress.nest + level as u64;
                let left = self.points_of_row(par, nest, progress.rows, row)?;
                let empty = || vec![Vec::new(); progress.rows];
                let all = progress.left.entry((step, number)).or_insert_with(empty);
                all[row] = left;
                Ok(())
            }
            CpuOp::Contract {
                out,
                factors: [left, right],
                along,
                add,
                absorb,
                mask,
            } => {
                let times = if *absorb { Prim::MulAbsorb } else { Prim::Mul };
                let axis = progress
                    .tile
                    .written(*out)
                    .and_then(|axis| along[0].get(axis));
                let Some(&Along::Axis(axis)) = axis else {
                    return Err(EvalError::bug("a contraction of a step has no rows"));
                };
                let products = (times, mask.as_ref());
                self.contract(
                    [*out, *left, *right],
                    along,
                    products,
                    *add,
                    Some((axis, row)),
                )
            }
            _ => Err(EvalError::bug("a step is kernels")),
        }
    }

    /// What a nest leaves in its private copies, of one row.
    fn points_of_row(
        &mut self,
        par: &Par<Cpu>,
        nest: u64,
        rows: usize,
        row: usize,
    ) -> Result<Vec<Memory>, EvalError> {
        let extents = par.extents.iter().map(|&extent| self.extent(extent));
        let extents = extents.collect::<Result<Vec<usize>, _>>()?;
        if extents.first() != Some(&rows) {
            return Err(EvalError::bug("a kernel of a step has other rows"));
        }
        let points: usize = extents[1..].iter().product();
        let points = row * points..(row + 1) * points;
        let now = Iteration {
            nest,
            number: row as u64,
        };
        self.piece(par, &extents, &[points], now)
    }
}

//! The interpreter of the operations that only Gpu has: threads in any order.

use std::ops::Range;

use super::memory::{Iteration, Memory, Toucher};
use super::{EvaluateOwn, Run, Slot};
use crate::eval::{EvalError, ScalarValue, combine, identity, mistyped};
use crate::ir::stages::gpu::{Gpu, Lanes, Launch, Own, WARP};
use crate::ir::{Elem, Extent, Monoid, Stmt, ValueId};

impl EvaluateOwn for Gpu {
    const RUNS: u64 = 2;
    const COPIES_UNWRITTEN: bool = true;

    fn run_own(run: &mut Run<'_, Self>, own: &Own, _: &Stmt<Self>) -> Result<(), EvalError> {
        match own {
            Own::Launch(launch) => run.launch(launch),
            Own::Lanes(lanes) => run.shared(lanes),
            Own::Part {
                extents,
                of,
                in_turns,
                body,
            } => {
                let extents = run.extents(extents)?;
                let points = match in_turns {
                    false => run.part(&extents, Some(*of))?.step_by(1),
                    true => {
                        let points = extents.iter().product();
                        (run.ordinal(*of)?..points).step_by(run.parts(*of)?)
                    }
                };
                for point in points {
                    run.at_point(&body.params, &extents, point);
                    run.block(body)?;
                }
                Ok(())
            }
        }
    }
}

impl Run<'_, Gpu> {
    fn extents(&self, extents: &[Extent]) -> Result<Vec<usize>, EvalError> {
        extents.iter().map(|&extent| self.extent(extent)).collect()
    }

    /// Binds the indices of a point.
    fn at_point(&mut self, indices: &[ValueId], extents: &[usize], mut point: usize) {
        for (&index, &extent) in indices.iter().zip(extents).rev() {
            self.values[index.index()] = Slot::Scalar(ScalarValue::Usize(point % extent));
            point /= extent;
        }
    }

    /// A kernel: its points one after the other, as the seed says.
    fn launch(&mut self, launch: &Launch) -> Result<(), EvalError> {
        if self.now != Toucher::ANY {
            return Err(EvalError::bug("a launch inside another"));
        }
        let extents = self.extents(&launch.extents)?;
        let points = extents.iter().product();
        self.team = match launch.team {
            None => 1,
            Some(team) => self.ordinal(team)?,
        };
        if !self.team.is_power_of_two() || self.team > launch.block as usize {
            return Err(EvalError::bug("a team of as many threads"));
        }
        #[cfg(test)]
        if launch.team.is_some() {
            use crate::testing::entered::{
                TEAMS_OF_A_WARP, TEAMS_OF_FOUR, TEAMS_OF_ONE, TEAMS_OF_TWO, enter,
            };
            match self.team {
                1 => enter(&TEAMS_OF_ONE),
                2 => enter(&TEAMS_OF_TWO),
                4 => enter(&TEAMS_OF_FOUR),
                _ => enter(&TEAMS_OF_A_WARP),
            }
        }
        self.meter.counts.kernels += 1;
        self.nests += 1;
        for point in self.meter.order.shuffled(points) {
            self.now.nest = Some(Iteration {
                nest: self.nests,
                number: point as u64,
            });
            self.at_point(launch.indices(), &extents, point);
            for &own in launch.own() {
                let ty = self.program.ty(own);
                let (elem, shape) = (ty.elem.repr(), self.extents(&ty.dims)?);
                let memory = Memory::new(elem, shape, None, self.now);
                self.values[own.index()] = Slot::Buffer(memory);
            }
            let ended = self.block(&launch.body);
            self.now = Toucher::ANY;
            match ended {
                Err(EvalError::Panic(_)) if launch.trial => {}
                ended => ended?,
            }
        }
        Ok(())
    }

    /// The points of these extents, or those of a part of them.
    fn part(&self, extents: &[usize], of: Option<ValueId>) -> Result<Range<usize>, EvalError> {
        let points: usize = extents.iter().product();
        let Some(of) = of else {
            return Ok(0..points);
        };
        let length = points.div_ceil(self.parts(of)?);
        let first = self.ordinal(of)?.saturating_mul(length).min(points);
        Ok(first..points.min(first + length))
    }

    /// How many parts there are.
    fn parts(&self, of: ValueId) -> Result<usize, EvalError> {
        match self.program.elem(of) {
            Elem::Index(parts) => Ok(self.extent(parts)?.max(1)),
            _ => Err(mistyped(of, "the number of a part")),
        }
    }

    /// Iterations that a team shares: thread by thread, as the seed says. Of checks that fail, the
    /// first counts.
    fn shared(&mut self, lanes: &Lanes) -> Result<(), EvalError> {
        if self.now.lane.is_some() {
            return Err(EvalError::bug("lanes inside of lanes"));
        }
        let extents = self.extents(&lanes.extents)?;
        let points = self.part(&extents, lanes.of)?;
        self.nests += 1;
        let around = self.now;
        let places = lanes.accs.iter().map(|&(_, var)| self.var(var).cloned());
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let mut left = vec![Vec::new(); self.team];
        let mut failed: Option<(usize, EvalError)> = None;
        for thread in self.meter.order.shuffled(self.team) {
            for (&(monoid, var), place) in lanes.accs.iter().zip(&places) {
                let first = identity(monoid, place.elem);
                let copy = Memory::new(place.elem, Vec::new(), Some(first), around);
                self.values[var.index()] = Slot::Var(copy);
            }
            for point in points.clone().skip(thread).step_by(self.team) {
                self.now.lane = Some(Iteration {
                    nest: self.nests,
                    number: point as u64,
                });
                self.at_point(&lanes.body.params, &extents, point);
                // Iterations of one thread meet in its copies.
                for &(_, var) in &lanes.accs {
                    self.var(var)?.forget();
                }
                let ended = self.block(&lanes.body);
                self.now = around;
                match ended {
                    Ok(()) => {}
                    Err(error @ EvalError::Panic(_)) => {
                        if failed.as_ref().is_none_or(|&(first, _)| point < first) {
                            failed = Some((point, error));
                        }
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            for &(_, var) in &lanes.accs {
                let copy = self.var(var)?;
                copy.forget();
                left[thread].push(copy.load(0, around)?);
            }
        }
        if let Some((_, error)) = failed {
            return Err(error);
        }
        for (k, (&(monoid, var), place)) in lanes.accs.iter().zip(places).enumerate() {
            self.values[var.index()] = Slot::Var(place);
            let copies = left.iter().map(|left| left[k]).collect();
            self.combine(monoid, var, 0, of_team(monoid, copies)?)?;
        }
        Ok(())
    }
}

/// What the threads of a team have, combined: those of a warp by halves, then warps in their order.
fn of_team(monoid: Monoid, mut copies: Vec<ScalarValue>) -> Result<ScalarValue, EvalError> {
    let mut warps = copies.chunks_mut(WARP as usize);
    let mut all: Option<ScalarValue> = None;
    warps.try_for_each(|warp| {
        let mut length = warp.len();
        while length > 1 {
            length /= 2;
            for lane in 0..length {
                warp[lane] = combine(monoid, warp[lane], warp[lane + length])?;
            }
        }
        all = Some(match all {
            None => warp[0],
            Some(before) => combine(monoid, before, warp[0])?,
        });
        Ok(())
    })?;
    all.ok_or_else(|| EvalError::bug("a team of no threads"))
}

//! The interpreter of the operations that only Gpu has: threads in any order.

use super::memory::{Iteration, Memory, Toucher};
use super::{EvaluateOwn, Run, Slot};
use crate::eval::{EvalError, ScalarValue, mistyped};
use crate::ir::stages::gpu::{Gpu, Launch, Own};
use crate::ir::{Elem, Extent, Stmt, ValueId};

impl EvaluateOwn for Gpu {
    const RUNS: u64 = 2;
    const COPIES_UNWRITTEN: bool = true;

    fn run_own(run: &mut Run<'_, Self>, own: &Own, _: &Stmt<Self>) -> Result<(), EvalError> {
        match own {
            Own::Launch(launch) => run.launch(launch),
            Own::Part { extents, of, body } => {
                let extents = run.extents(extents)?;
                let Elem::Index(parts) = run.program.elem(*of) else {
                    return Err(mistyped(*of, "the number of a part"));
                };
                let points: usize = extents.iter().product();
                let length = points.div_ceil(run.extent(parts)?.max(1));
                let first = run.ordinal(*of)?.saturating_mul(length).min(points);
                for point in first..points.min(first + length) {
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
}

//! The invariants of Gpu alone: what is a thread's, and what is the host's.

use super::imperative::Kind;
use super::{Places, VerifyError, VerifyOwn};
use crate::ir::stages::gpu::{Gpu, GpuOp, Own};
use crate::ir::{Extent, Operation, Stmt, ValueId};
use crate::ops::Prim;

impl VerifyOwn for Gpu {
    fn operands_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        places.scalars(&own.operands())
    }

    fn enter_own(places: &mut Places<'_, Self>, own: &Own) {
        if let Own::Launch(launch) = own {
            places.enter_kernel(launch.own());
        }
    }

    fn stmt_own(places: &Places<'_, Self>, stmt: &Stmt<Self>) -> Result<(), VerifyError> {
        let in_kernel = places.in_kernel();
        let refuse = |invariant, what: &str| places.fails(invariant, what);
        match &stmt.op {
            GpuOp::Own(Own::Launch(_)) if in_kernel => refuse(26, "a launch in a launch"),
            GpuOp::Own(Own::Part { .. }) if !in_kernel => refuse(26, "a part without a launch"),
            GpuOp::Alloc { fill: Some(_) } => refuse(27, "memory is filled when it is made"),
            GpuOp::Alloc { fill: None } if in_kernel => {
                let mut dims = places.program.ty(stmt.results[0]).dims.iter();
                match dims.all(|dim| matches!(dim, Extent::Const(_))) {
                    true => Ok(()),
                    false => places.error(27, stmt.results[0], "is a thread's, of any length"),
                }
            }
            GpuOp::Copy(_) if in_kernel => refuse(27, "a copy by a thread"),
            GpuOp::Contract { .. } => refuse(27, "a contraction"),
            GpuOp::Store { buffer, .. } if !in_kernel => {
                places.error(28, *buffer, "is changed by the host, element by element")
            }
            GpuOp::Combine { place, .. } if !in_kernel => match places.kind(*place) {
                Kind::Var => Ok(()),
                _ => places.error(28, *place, "is changed by the host, element by element"),
            },
            GpuOp::Get(place) => is_own(places, *place),
            GpuOp::Prim(Prim::Call(_), _) => refuse(29, "a function of the caller's is called"),
            GpuOp::Const(_)
            | GpuOp::Size(_)
            | GpuOp::Prim(..)
            | GpuOp::Select(..)
            | GpuOp::Alloc { .. }
            | GpuOp::Copy(_)
            | GpuOp::Load { .. }
            | GpuOp::Store { .. }
            | GpuOp::Combine { .. }
            | GpuOp::Var(_)
            | GpuOp::Set { .. }
            | GpuOp::Swap(..)
            | GpuOp::For { .. }
            | GpuOp::Assert { .. }
            | GpuOp::While { .. }
            | GpuOp::If { .. }
            | GpuOp::Own(_) => Ok(()),
        }
    }
}

/// What a kernel changes outside is refused anyway.
fn is_own(places: &Places<'_, Gpu>, place: ValueId) -> Result<(), VerifyError> {
    match places.is_outside(place) {
        true => places.error(28, place, "is a variable of the host's"),
        false => Ok(()),
    }
}

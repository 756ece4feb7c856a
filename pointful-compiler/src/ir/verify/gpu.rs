//! The invariants of Gpu alone: what is a thread's, and what is the host's.

use super::imperative::Kind;
use super::{Places, VerifyError, VerifyOwn};
use crate::analysis::accesses::{Accesses, Kind as Done};
use crate::ir::stages::gpu::{Gpu, GpuOp, Lanes, Own};
use crate::ir::{Block, Extent, Monoid, Operation, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

impl VerifyOwn for Gpu {
    fn operands_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        let Own::Lanes(lanes) = own else {
            return places.scalars(&own.operands());
        };
        places.scalars(lanes.of.as_slice())?;
        lanes.accs.iter().try_for_each(|&(_, var)| places.var(var))
    }

    fn enter_own(places: &mut Places<'_, Self>, own: &Own) {
        if let Own::Launch(launch) = own {
            places.enter_kernel(launch.own());
        }
    }

    fn leave_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        let Own::Launch(launch) = own else {
            return Ok(());
        };
        let mut arrays = ValueSet::new();
        team(places, &launch.body, launch.team.is_some(), &mut arrays)
    }

    fn stmt_own(places: &Places<'_, Self>, stmt: &Stmt<Self>) -> Result<(), VerifyError> {
        let in_kernel = places.in_kernel();
        let refuse = |invariant, what: &str| places.fails(invariant, what);
        match &stmt.op {
            GpuOp::Own(Own::Launch(_)) if in_kernel => refuse(26, "a launch in a launch"),
            GpuOp::Own(Own::Part { .. } | Own::Lanes(_)) if !in_kernel => {
                refuse(26, "a part without a launch")
            }
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

/// What the threads of a point do. `arrays`: theirs, so far.
fn team(
    places: &Places<'_, Gpu>,
    block: &Block<Gpu>,
    by_teams: bool,
    arrays: &mut ValueSet,
) -> Result<(), VerifyError> {
    for stmt in &block.stmts {
        match &stmt.op {
            GpuOp::Own(Own::Lanes(_)) if !by_teams => {
                return places.fails(30, "lanes of one thread, or in others");
            }
            GpuOp::Own(Own::Lanes(lanes)) => {
                team(places, &lanes.body, false, &mut ValueSet::new())?;
                shared(places, lanes, arrays)?;
            }
            GpuOp::Alloc { .. } => arrays.extend(&stmt.results),
            GpuOp::Swap(a, b) if by_teams && arrays.contains(a) != arrays.contains(b) => {
                return places.error(30, *a, "changes places with what is another's");
            }
            op => {
                for inner in op.blocks() {
                    team(places, inner, by_teams, arrays)?;
                }
            }
        }
    }
    Ok(())
}

/// What iterations do that a team shares.
fn shared(places: &Places<'_, Gpu>, lanes: &Lanes, arrays: &ValueSet) -> Result<(), VerifyError> {
    let done = Accesses::of(&lanes.body.stmts);
    for access in done.outside() {
        let is_memory =
            places.program.ty(access.place).rank() > 0 && !arrays.contains(&access.place);
        let is_named = lanes.accs.iter().any(|&(_, var)| var == access.place);
        let is_fine = match access.kind {
            Done::Read => !is_named,
            Done::Write => is_memory,
            Done::Combine => is_memory || is_named,
            Done::Swap => false,
        };
        if !is_fine {
            return places.error(30, access.place, "is touched by lanes");
        }
    }
    by_another(&lanes.body, &lanes.accs).map_or(Ok(()), |place| {
        places.error(30, place, "is combined by another monoid")
    })
}

/// A variable that a block combines into by another monoid than is said.
fn by_another(block: &Block<Gpu>, accs: &[(Monoid, ValueId)]) -> Option<ValueId> {
    block.stmts.iter().find_map(|stmt| match &stmt.op {
        GpuOp::Combine { monoid, place, .. } => accs
            .iter()
            .find_map(|&(own, var)| (var == *place && own != *monoid).then_some(var)),
        op => op
            .blocks()
            .into_iter()
            .find_map(|inner| by_another(inner, accs)),
    })
}

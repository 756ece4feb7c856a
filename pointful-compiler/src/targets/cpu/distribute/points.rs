//! Distribution of iterations that see nothing of each other, as the points of a kernel.
//!
//! Branches, and reads of a table that is written too, keep a loop from becoming vectors. Where
//! iterations are independent the functions in it need not stay with them: what is read for them is
//! read before, and what they lead to is written after.
//!
//! ```text
//! par %p: points {                         par %p: points { if … { … load t[%i, %j] … }  keep %1 }
//!   if … { … load t[%i, %j] … }      ▶     par %p: points { keep sin %1 }
//!   store t[%k, %l], sin %1                par %p: points { store t[%k, %l], %2 }
//! }                                        }
//! ```

use super::{Phase, Plan, Uses, WORTH, worth};
use crate::analysis::accesses::{Accesses, At, Kind};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Program, ValueSet};

impl Plan {
    /// Of points whose functions become vectors only apart from the rest.
    pub(in crate::targets::cpu) fn of_points(
        program: &Program<Kernels>,
        body: &Block<Kernels>,
    ) -> Option<Self> {
        let stmts = &body.stmts;
        if !keeps_from_vectors(body) {
            return None;
        }
        let Uses { touched, needs } = Uses::of(program, stmts);
        // What waits for a function, and what waits for a place that such a value is put in.
        let (mut waits, mut late) = (vec![false; stmts.len()], vec![false; stmts.len()]);
        let mut stateful = vec![false; stmts.len()];
        let mut places = ValueSet::new();
        for number in 0..stmts.len() {
            let of = |all: &[bool]| needs[number].iter().any(|&need| all[need]);
            let touches = !touched[number].is_empty();
            let is_dear = !touches && worth(program, &stmts[number]) > 0;
            let found = touched[number].iter().any(|place| places.contains(place));
            waits[number] = is_dear || found || of(&waits);
            late[number] = touches && waits[number] || of(&late);
            stateful[number] = touches || of(&stateful);
            if late[number] {
                places.extend(&touched[number]);
            }
        }
        let phases: Vec<Phase> = (0..stmts.len())
            .map(|number| match () {
                () if late[number] => Phase::Rest,
                () if waits[number] => Phase::Between,
                () if stateful[number] => Phase::States,
                () => Phase::Anytime,
            })
            .collect();
        let between = (stmts.iter().zip(&phases)).filter(|(_, phase)| **phase == Phase::Between);
        let moved: u32 = between.map(|(stmt, _)| worth(program, stmt)).sum();
        // A variable of a point is gone after a phase.
        let stays = |variable| {
            let mut all = (0..stmts.len()).filter(|&number| touched[number].contains(variable));
            let first = all.next().map(|number| phases[number]);
            all.all(|number| Some(phases[number]) == first)
        };
        let mut variables = stmts
            .iter()
            .filter(|stmt| matches!(stmt.op, KernelOp::Var(_)))
            .flat_map(|stmt| &stmt.results);
        if moved < WORTH || !variables.all(stays) {
            return None;
        }
        Self::keeping(program, stmts, &needs, phases)
    }
}

/// Whether there are branches, or elements are read of a table of which others are written.
fn keeps_from_vectors(body: &Block<Kernels>) -> bool {
    let branches = (body.stmts.iter()).any(|stmt| matches!(stmt.op, KernelOp::If { .. }));
    let accesses = Accesses::of(&body.stmts);
    let elements = || {
        accesses.outside().filter_map(|access| match access.at {
            At::Element(at) => Some((access.place, access.kind, at)),
            At::Variable | At::Any => None,
        })
    };
    let mut written = elements().filter(|(_, kind, _)| *kind != Kind::Read);
    let is_elsewhere = |(place, _, at)| {
        let mut all = elements();
        all.any(|(other, _, read)| other == place && read != at)
    };
    branches || written.any(is_elsewhere)
}

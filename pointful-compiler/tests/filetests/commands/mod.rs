//! The commands, one a file. A new one is a function and a line in the table.

mod cat;
mod derive;
mod devices;
mod expand;
mod lower;
mod schedule;
mod structure;
mod tidy;
mod verify;

use crate::file::{File, Section};

/// A command.
pub(crate) struct Command {
    /// The name of its directory, which the header of its files repeats.
    pub(crate) name: &'static str,
    /// What stands between the first section and the `run` lines, or what is wrong with the first
    /// section.
    pub(crate) run: fn(&File) -> Result<Vec<Section>, String>,
}

/// Every command.
pub(crate) const COMMANDS: &[Command] = &[
    command("distribute", schedule::distribute),
    command("expand", expand::run),
    command("cat", cat::run),
    command("cse", tidy::cse),
    command("dce", tidy::dce),
    command("dual", derive::dual),
    command("predicate_updates", tidy::predicate_updates),
    command("residual_slices", tidy::residual_slices),
    command("uniform_values", tidy::uniform_values),
    command("rectangular_hull", tidy::rectangular_hull),
    command("loop_interchange", tidy::loop_interchange),
    command("bounds_check_elimination", tidy::bounds_check_elimination),
    command("doall", tidy::doall),
    command("owner_computes", tidy::owner_computes),
    command("unroll", tidy::unroll),
    command("in_place", schedule::in_place),
    command("loop_invariants", schedule::loop_invariants),
    command("pack_operands", schedule::pack_operands),
    command("loop_fission", schedule::loop_fission),
    command("loop_skewing", schedule::loop_skewing),
    command("horizontal_fusion", schedule::horizontal_fusion),
    command("multiversioning", schedule::multiversioning),
    command("parallelization", schedule::parallelization),
    command("serial_version", schedule::serial_version),
    command("serialization", schedule::serialization),
    command("lower", lower::run),
    command("map", devices::map),
    command("cuda", devices::cuda),
    command("outline", schedule::outline),
    command("online_softmax", schedule::online_softmax),
    command("disjoint_updates", schedule::disjoint_updates),
    command("scalar_replacement", schedule::scalar_replacement),
    command("outer_loop", schedule::outer_loop),
    command("reductions", schedule::reductions),
    command("schedule", schedule::run),
    command("split", schedule::split),
    command("short_loops", schedule::short_loops),
    command("simplify", tidy::simplify),
    command("tangent", derive::tangent),
    command("tiling", schedule::tiling),
    command("time_tiling", schedule::time_tiling),
    command("privatize", schedule::privatize),
    command("speculate", schedule::speculate),
    command("transpose_loops", schedule::transpose_loops),
    command("transpose", derive::transpose),
    command("verify", verify::run),
];

const fn command(name: &'static str, run: fn(&File) -> Result<Vec<Section>, String>) -> Command {
    Command { name, run }
}

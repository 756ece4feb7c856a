//! The commands, one a file. A new one is a function and a line in the table.

mod bulk;
mod cat;
mod derive;
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
    /// What stands between the first section and the `run` lines, or what is wrong with the first section.
    pub(crate) run: fn(&File) -> Result<Vec<Section>, String>,
}

/// Every command.
pub(crate) const COMMANDS: &[Command] = &[
    command("ahead", schedule::ahead),
    command("bulk", bulk::run),
    command("cat", cat::run),
    command("cse", tidy::cse),
    command("dce", tidy::dce),
    command("dual", derive::dual),
    command("hand_on", tidy::hand_on),
    command("in_place", schedule::in_place),
    command("invariants", schedule::invariants),
    command("factors", schedule::factors),
    command("fission", schedule::fission),
    command("join", schedule::join),
    command("lower", lower::run),
    command("online", schedule::online),
    command("owned", schedule::owned),
    command("registers", schedule::registers),
    command("schedule", schedule::run),
    command("simplify", tidy::simplify),
    command("tangent", derive::tangent),
    command("tiles", schedule::tiles),
    command("transpose", derive::transpose),
    command("verify", verify::run),
];

const fn command(name: &'static str, run: fn(&File) -> Result<Vec<Section>, String>) -> Command {
    Command { name, run }
}

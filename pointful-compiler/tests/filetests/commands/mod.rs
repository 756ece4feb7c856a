//! The commands, one a file. A new one is a function and a line in the table.

mod cat;
mod lower;

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
    Command {
        name: "cat",
        run: cat::run,
    },
    Command {
        name: "lower",
        run: lower::run,
    },
];

//! The random programs that tests compile with rustc.

use super::{Options, random_lowered, random_point};
use crate::eval::Inputs;
use crate::interface::Interface;
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Operation, Program, Stmt};
use crate::pipeline::{self, Stages, Trace};

/// How many programs of Point are looked at.
const PROGRAMS: u64 = 70;

/// How many functions of the language.
const FUNCTIONS: u64 = 140;

/// Larger ones are left out: rustc takes long for them. In statements.
const LARGEST: usize = 120;

/// Random programs and functions, each under a name of its own and with inputs, at every stage.
pub fn programs_to_compile() -> impl Iterator<Item = (Stages, Inputs)> {
    let points = (0..PROGRAMS).map(|seed| {
        let (mut point, inputs) = random_point(seed, Options::default());
        point.name = format!("random_{seed}");
        (point, inputs)
    });
    let functions = (0..FUNCTIONS).map(|seed| {
        let (_, mut point, inputs) = random_lowered(seed);
        point.name = format!("function_{seed}");
        (point, inputs)
    });
    let run = |point| pipeline::run(&mut Trace::default(), point, Interface::default());
    points
        .chain(functions)
        .map(move |(point, inputs)| (run(point), inputs))
        .filter(|(stages, _)| is_small(&stages.kernels))
}

/// Whether rustc takes no time for it that matters.
pub fn is_small(program: &Program<Kernels>) -> bool {
    statements(&program.body) <= LARGEST
}

/// How many statements a block has, those inside of others too.
fn statements(block: &Block<Kernels>) -> usize {
    let inside =
        |stmt: &Stmt<Kernels>| -> usize { stmt.op.blocks().into_iter().map(statements).sum() };
    block.stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
}

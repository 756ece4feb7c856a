//! What is decided of kernels after scheduling, as the program of Cpu says it.

use std::collections::BTreeMap;

use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Tile};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{Block, Operation, Program, Stmt, ValueId, ValueSet};

/// What a program of Cpu says of the kernels that it comes from.
#[derive(Default)]
pub(super) struct Decisions {
    /// How many points of a nest, by its number, advance together, as lanes of vectors.
    together: BTreeMap<usize, u64>,
    /// Tiles of rows: of steps of a loop, by its index, or of kernels.
    tiles: Vec<Tile>,
    /// Private copies that may be notes instead.
    noted: ValueSet,
    /// Private tables that pieces share that are columns.
    by_columns: ValueSet,
}

impl Decisions {
    /// Looks at a program once.
    pub(super) fn of(program: &Program<Cpu>) -> Self {
        let mut decisions = Self::default();
        decisions.host(program, &program.body);
        decisions
    }

    fn host(&mut self, program: &Program<Cpu>, block: &Block<Cpu>) {
        for stmt in &block.stmts {
            match &stmt.op {
                CpuOp::Own(Own::Par(par)) => {
                    for acc in &par.accs {
                        if acc.notes {
                            self.noted.insert(acc.private);
                        }
                        if par.by_columns && program.ty(acc.private).rank() > 0 {
                            self.by_columns.insert(acc.private);
                        }
                    }
                    let together = par.together();
                    self.together
                        .extend(together.map(|points| (par.number, points)));
                }
                op => {
                    if let CpuOp::Own(Own::Tile(tile)) = op {
                        self.tiles.push(tile.clone());
                    }
                    for inner in op.blocks() {
                        self.host(program, inner);
                    }
                }
            }
        }
    }

    /// How many points of a nest advance together.
    pub(super) fn together(&self, number: usize) -> Option<u64> {
        self.together.get(&number).copied()
    }

    /// The tile of rows that goes through one of several kernels that are in no loop: the nest of
    /// this number, or this contraction.
    pub(super) fn sequence(&self, kernel: Result<usize, &KernelOp>) -> Option<&Tile> {
        let is_it = |stmt: &Stmt<Cpu>| match (&stmt.op, kernel) {
            (CpuOp::Own(Own::Par(par)), Ok(number)) => par.number == number,
            (
                CpuOp::Contract {
                    out,
                    factors,
                    along,
                    ..
                },
                Err(KernelOp::Contract {
                    out: own_out,
                    factors: own_factors,
                    along: own_along,
                    ..
                }),
            ) => out == own_out && factors == own_factors && along == own_along,
            _ => false,
        };
        let mut tiles = self.tiles.iter().filter(|tile| tile.steps().is_none());
        tiles.find(|tile| tile.parts()[1].iter().any(is_it))
    }

    /// The tile of the steps of a loop of the host.
    pub(super) fn steps(&self, index: ValueId) -> Option<&Tile> {
        let is_it = |tile: &&Tile| tile.steps().is_some_and(|(_, step)| step == index);
        self.tiles.iter().find(is_it)
    }

    /// Whether what is combined into a private copy may be noted instead.
    pub(super) fn is_noted(&self, private: ValueId) -> bool {
        self.noted.contains(&private)
    }

    /// Whether pieces of the work that are columns share a private copy.
    pub(super) fn is_by_columns(&self, private: ValueId) -> bool {
        self.by_columns.contains(&private)
    }
}

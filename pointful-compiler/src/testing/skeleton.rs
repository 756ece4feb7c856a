//! The loops of a scheduled program and what they write, without names: what a lost fusion, a lost
//! parallel loop or a new scatter changes, and a renaming does not.

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Program, ValueId};

/// The loops of a program.
struct Skeleton<'p> {
    program: &'p Program<Kernels>,
    text: String,
}

impl Skeleton<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn extent(&self, extent: Extent) -> String {
        match extent {
            Extent::Const(number) => number.to_string(),
            Extent::Size(size) => self.program.sizes[size.0 as usize].name.clone(),
            Extent::Value(_) => "_".to_owned(),
        }
    }

    fn extents(&self, extents: &[Extent]) -> String {
        let extents: Vec<String> = extents.iter().map(|&e| self.extent(e)).collect();
        extents.join(", ")
    }

    fn table(&self, buffer: ValueId) -> String {
        format!("[{}]", self.extents(&self.program.ty(buffer).dims))
    }

    fn is_table(&self, place: ValueId) -> bool {
        !self.program.ty(place).dims.is_empty()
    }

    fn block(&mut self, block: &Block<Kernels>, depth: usize) {
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::Own(Par {
                    extents,
                    accs,
                    folds,
                    body,
                    ..
                }) => {
                    let own = accs
                        .iter()
                        .map(|acc| format!(" {} {}", acc.monoid.name(), self.table(acc.target)));
                    let folded = folds.iter().map(|fold| {
                        let tables: Vec<String> =
                            fold.targets.iter().map(|&t| self.table(t)).collect();
                        format!(" fold {}", tables.join(" "))
                    });
                    let own: String = own.chain(folded).collect();
                    let line = format!("par {}{own}", self.extents(extents));
                    self.line(depth, &line);
                    self.block(body, depth + 1);
                }
                KernelOp::For {
                    extent,
                    reverse,
                    body,
                } => {
                    let order = if *reverse { "for rev" } else { "for" };
                    let line = format!("{order} {}", self.extent(*extent));
                    self.line(depth, &line);
                    self.block(body, depth + 1);
                }
                KernelOp::While { cond, body } => {
                    self.line(depth, "while");
                    self.block(cond, depth + 1);
                    self.block(body, depth + 1);
                }
                KernelOp::If {
                    then, otherwise, ..
                } => {
                    self.block(then, depth);
                    self.block(otherwise, depth);
                }
                // Buffers of one element are places like any other.
                KernelOp::Alloc { .. } if self.is_table(stmt.results[0]) => {
                    let line = format!("alloc {}", self.table(stmt.results[0]));
                    self.line(depth, &line);
                }
                KernelOp::Copy(_) => {
                    let line = format!("copy {}", self.table(stmt.results[0]));
                    self.line(depth, &line);
                }
                KernelOp::Store { buffer, .. } => {
                    let line = format!("store {}", self.table(*buffer));
                    self.line(depth, &line);
                }
                KernelOp::Combine { monoid, place, .. } if self.is_table(*place) => {
                    let line = format!("{} {}", monoid.name(), self.table(*place));
                    self.line(depth, &line);
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Alloc { .. }
                | KernelOp::Load { .. }
                | KernelOp::Combine { .. }
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Swap(..)
                | KernelOp::Assert { .. } => {}
                KernelOp::Contract {
                    out,
                    factors,
                    add,
                    absorb,
                    mask,
                    ..
                } => {
                    let [out, left, right] =
                        [out, &factors[0], &factors[1]].map(|&buffer| self.table(buffer));
                    let add = if *add { "add " } else { "" };
                    let absorb = if *absorb { "absorb " } else { "" };
                    let mask = mask
                        .as_ref()
                        .map(|mask| format!(" where {}", self.table(mask.buffer)));
                    let mask = mask.unwrap_or_default();
                    self.line(
                        depth,
                        &format!("contract {absorb}{add}{out} = {left}, {right}{mask}"),
                    );
                }
            }
        }
    }
}

/// The loops of a program, one a line.
pub fn skeleton(program: &Program<Kernels>) -> String {
    let mut skeleton = Skeleton {
        program,
        text: String::new(),
    };
    skeleton.block(&program.body, 0);
    skeleton.text
}

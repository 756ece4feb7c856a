//! What became of a function, for `explain!`: every stage's program, the kernels, and which loops
//! are parallel.
//!
//! ```text
//! matmul: kernels 1, allocations 1, copies 0, swaps 0, host loops 0
//!
//! kernel K0 "matmul"
//!   parallel over i: I, j: J
//!   one after the other: for k: K
//!   reads a, b; writes f64[I, J]
//!   costs 2·I·J·K operations on tables of 8·I·J + 8·I·K + 8·J·K bytes
//!
//! memory: 8·I·J bytes
//!   f64[I, J]: 8·I·J bytes, a result
//! ```
//!
//! Where tables may live on devices, it says what runs there, or why nothing does.
//!
//! On memory it says what each buffer that is allocated is for, its bytes as a formula of the
//! extents, and what every loop of a derivative keeps for its way back.

mod cost;
mod decisions;
mod devices;
mod formula;
mod memory;

use std::fmt;

use self::cost::Cost;
use self::decisions::Decisions;
use self::formula::{Formula, Lengths};
use crate::ir::stages::cpu::Tile;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{self, Block, Extent, Program, Stmt, ValueId, ValueSet};
use crate::pipeline::Stages;

/// Everything there is to say of a function.
pub fn explain(stages: &Stages) -> String {
    let Stages {
        point,
        bulk,
        kernels,
        cpu,
        gpu,
        ..
    } = stages;
    let mut text = format!(
        "{name}: {structure}\n\n{report}\n{memory}\n\
         ---- point: what was written\n{point}\n\
         ---- bulk: whole arrays over named axes\n{bulk}\n\
         ---- kernels: loops over buffers\n{kernels_text}\n\
         ---- cpu: what runs\n{cpu_text}",
        name = point.name,
        structure = Structure::of(kernels),
        report = report(kernels, Decisions::of(cpu)),
        memory = memory::memory(stages),
        point = ir::print(point),
        bulk = ir::print(bulk),
        kernels_text = ir::print(kernels),
        cpu_text = ir::print(cpu),
    );
    if let Some(gpu) = gpu {
        text.push_str(&devices::devices(gpu.as_ref()));
    }
    text
}

/// How many of what a program does: what a lost fusion changes and a renaming does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Structure {
    /// Parallel loops.
    pub kernels: usize,
    /// Buffers allocated by the host.
    pub allocations: usize,
    /// Buffers copied by the host.
    pub copies: usize,
    /// Pairs of buffers exchanged by the host.
    pub swaps: usize,
    /// Products of matrices, by a library.
    pub contractions: usize,
    /// Loops of the host, around kernels or instead of them.
    pub host_loops: usize,
}

impl Structure {
    /// Counts.
    pub fn of(program: &Program<Kernels>) -> Self {
        let mut structure = Self::default();
        structure.block(&program.body);
        structure
    }

    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::Own(Par { .. }) => self.kernels += 1,
                KernelOp::Alloc { .. } => self.allocations += 1,
                KernelOp::Copy(_) => self.copies += 1,
                KernelOp::Swap(..) => self.swaps += 1,
                KernelOp::Contract { .. } => self.contractions += 1,
                KernelOp::For { body, .. } => {
                    self.host_loops += 1;
                    self.block(body);
                }
                KernelOp::While { cond, body } => {
                    self.host_loops += 1;
                    self.block(cond);
                    self.block(body);
                }
                KernelOp::If {
                    then, otherwise, ..
                } => {
                    self.block(then);
                    self.block(otherwise);
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Load { .. }
                | KernelOp::Store { .. }
                | KernelOp::Combine { .. }
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Assert { .. } => {}
            }
        }
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let contractions = match self.contractions {
            0 => String::new(),
            number => format!("contractions {number}, "),
        };
        write!(
            f,
            "kernels {}, {contractions}allocations {}, copies {}, swaps {}, host loops {}",
            self.kernels, self.allocations, self.copies, self.swaps, self.host_loops
        )
    }
}

/// A paragraph for each kernel and for each loop of the host, in the order in which they run.
fn report(program: &Program<Kernels>, decisions: Decisions) -> String {
    let mut report = Report {
        program,
        lengths: &Lengths::new(program),
        decisions,
        kernels: 0,
        text: String::new(),
    };
    report.host(&program.body, 0);
    report.text
}

struct Report<'p> {
    program: &'p Program<Kernels>,
    lengths: &'p Lengths<'p>,
    decisions: Decisions,
    kernels: usize,
    text: String,
}

impl Report<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// What the host does itself.
    fn host(&mut self, block: &Block<Kernels>, depth: usize) {
        for stmt in &block.stmts {
            let number = self.kernels;
            self.stmt(stmt, depth);
            let tile = match &stmt.op {
                KernelOp::Own(_) => self.decisions.sequence(Ok(number)),
                op => self.decisions.sequence(Err(op)),
            };
            if let Some(tile) = tile {
                let (count, rows) = (tile.parts()[1].len(), self.extent(tile.rows()));
                let line = format!(
                    "one of {count} that a tile of rows along {rows} goes through at once{}",
                    self.bytes_of_rows(tile)
                );
                self.line(depth + 1, &line);
            }
        }
    }

    /// What a cache has to hold of each row.
    fn bytes_of_rows(&self, tile: &Tile) -> String {
        let mut bytes = Formula::default();
        for &(buffer, axis) in &tile.writes {
            bytes.add(&self.bytes(buffer, axis + 1));
        }
        let reach = match tile.reach {
            0 => String::new(),
            reach => format!(", reading {reach} away"),
        };
        format!("{reach}: what one leaves, the next finds in a cache, {bytes} bytes a row")
    }

    fn stmt(&mut self, stmt: &Stmt<Kernels>, depth: usize) {
        match &stmt.op {
            KernelOp::Own(par) => {
                self.kernel(par, depth);
            }
            KernelOp::For {
                extent,
                reverse,
                body,
            } => {
                let order = if *reverse { ", from the last" } else { "" };
                let index = self.index(body.params[0], *extent);
                let line = format!(
                    "the host, one after the other{order}: for {index}, because an iteration reads what the one before wrote"
                );
                self.line(depth, &line);
                if let Some(tile) = self.decisions.steps(body.params[0]) {
                    let rows = self.extent(tile.rows());
                    let how = match tile.reach {
                        0 => format!(
                            "the rows along {rows} do not need each other: a tile of them runs all steps, in parallel with others"
                        ),
                        _ => format!("several steps at a time in tiles of rows along {rows}"),
                    };
                    let line = format!("{how}{}", self.bytes_of_rows(tile));
                    self.line(depth + 1, &line);
                }
                self.host(body, depth + 1);
            }
            KernelOp::While { cond, body } => {
                let line = "the host, one after the other: while, because only an iteration says whether there is another";
                self.line(depth, line);
                self.host(cond, depth + 1);
                self.host(body, depth + 1);
            }
            KernelOp::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.lengths.comparison(*cond);
                let cond = cond.unwrap_or_else(|| "its condition holds".to_owned());
                let sides = [
                    (format!("the host, if {cond}"), then),
                    ("otherwise".to_owned(), otherwise),
                ];
                for (line, side) in sides {
                    let above = self.text.len();
                    self.line(depth, &line);
                    let empty = self.text.len();
                    self.host(side, depth + 1);
                    if self.text.len() == empty {
                        self.text.truncate(above);
                    }
                }
            }
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Copy(_)
            | KernelOp::Load { .. }
            | KernelOp::Store { .. }
            | KernelOp::Combine { .. }
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::Set { .. }
            | KernelOp::Swap(..)
            | KernelOp::Assert { .. } => {}
            KernelOp::Contract {
                out,
                factors: [left, right],
                along,
                mask,
                ..
            } => {
                let arrays = [*out, *left, *right];
                let mask = mask.as_ref();
                let cost = Cost::of_contraction(self.program, self.lengths, arrays, along, mask);
                let [out, left, right] = arrays.map(|buffer| self.name(buffer));
                let mask = mask.map(|mask| self.name(mask.buffer));
                let mask = mask.map_or(String::new(), |mask| format!(", where {mask}"));
                self.line(
                    depth,
                    &format!(
                        "contraction {out} of {left} and {right}{mask}: a library multiplies matrices"
                    ),
                );
                self.line(depth + 1, &cost.to_string());
            }
        }
    }

    fn kernel(&mut self, par: &Par, depth: usize) {
        let Par {
            name,
            number: _,
            by_columns: _,
            speculates: _,
            extents,
            accs,
            folds,
            body,
        } = par;
        self.line(depth, &format!("kernel K{} \"{name}\"", self.kernels));
        self.kernels += 1;
        let indices: Vec<String> = body
            .params
            .iter()
            .zip(extents)
            .map(|(&index, &extent)| self.index(index, extent))
            .collect();
        let over = match indices.as_slice() {
            _ if extents.iter().all(|&extent| extent == Extent::Const(1)) => "one point".to_owned(),
            indices => format!("parallel over {}", indices.join(", ")),
        };
        self.line(depth + 1, &over);
        if let Some(points) = self.decisions.together(self.kernels - 1) {
            let line = format!("in lanes: {points} points at a time go through the loops inside");
            self.line(depth + 1, &line);
        }
        for acc in accs {
            let mut line = format!(
                "adds up into {} by `{}`: a private copy of {} bytes for each piece of the work, merged in order",
                self.name(acc.target),
                acc.monoid.name(),
                self.bytes(acc.target, 0)
            );
            if self.decisions.is_by_columns(acc.private) {
                line += "; one for all where more pieces are columns";
            }
            if self.decisions.is_noted(acc.private) {
                line += "; notes instead of copies where these are larger than caches";
            }
            self.line(depth + 1, &line);
        }
        for fold in folds {
            let names: Vec<String> = fold
                .targets
                .iter()
                .map(|&target| self.name(target))
                .collect();
            let line = format!(
                "folds {}: private copies for each piece of the work, joined in order",
                names.join(", ")
            );
            self.line(depth + 1, &line);
        }
        let mut inside = Inside::default();
        inside.block(body, 0);
        for (level, index, extent) in inside.loops {
            let index = match index {
                Some(index) => format!("for {}", self.index(index, extent)),
                None => "while".to_owned(),
            };
            self.line(depth + 1 + level, &format!("one after the other: {index}"));
        }
        for [out, left, right] in &inside.products {
            let [out, left, right] = [out, left, right].map(|&buffer| self.name(buffer));
            let line = format!("a library multiplies {left} and {right} into {out}");
            self.line(depth + 1, &line);
        }
        let outside = |values: &ValueSet| -> Vec<String> {
            values
                .iter()
                .filter(|value| !inside.own.contains(value))
                .map(|value| self.name(value))
                .collect()
        };
        let (reads, writes) = (outside(&inside.reads), outside(&inside.writes));
        let mut moved = Vec::new();
        if !reads.is_empty() {
            moved.push(format!("reads {}", reads.join(", ")));
        }
        if !writes.is_empty() {
            moved.push(format!("writes {}", writes.join(", ")));
        }
        if !moved.is_empty() {
            self.line(depth + 1, &moved.join("; "));
        }
        let cost = Cost::of_kernel(self.program, self.lengths, extents, accs, body);
        self.line(depth + 1, &cost.to_string());
    }

    /// Bytes of a buffer, from this axis on.
    fn bytes(&self, buffer: ValueId, first: usize) -> Formula {
        let ty = self.program.ty(buffer);
        let dims = ty.dims[first..].iter();
        let lengths: Vec<_> = dims.map(|&dim| self.lengths.of(dim)).collect();
        Formula::product(ty.elem.repr().bytes(), &lengths)
    }

    fn index(&self, index: ValueId, extent: Extent) -> String {
        match self.lengths.of(extent).tiles() {
            Some((of, [least, most])) => {
                format!(
                    "tiles of {of}, {least} to {most} points each, so that a cache holds what they keep"
                )
            }
            None => format!("{}: {}", self.name(index), self.extent(extent)),
        }
    }

    fn extent(&self, extent: Extent) -> String {
        match extent {
            Extent::Const(number) => number.to_string(),
            Extent::Size(size) => self.program.sizes[size.0 as usize].name.clone(),
            Extent::Value(value) => {
                let length = self.lengths.of(extent);
                match &self.program.values[value.index()].name {
                    None if length.is_known() => length.to_string(),
                    _ => self.name(value),
                }
            }
        }
    }

    /// What the source calls a value, or else what it is.
    fn name(&self, value: ValueId) -> String {
        let info = &self.program.values[value.index()];
        match &info.name {
            Some(name) => name.clone(),
            None if info.ty.dims.is_empty() => "_".to_owned(),
            None => {
                let dims: Vec<String> = info.ty.dims.iter().map(|&dim| self.extent(dim)).collect();
                format!("{}[{}]", info.ty.elem.repr().name(), dims.join(", "))
            }
        }
    }
}

/// What happens in a kernel.
#[derive(Default)]
struct Inside {
    /// How deep, the index of a counted loop, and its extent.
    loops: Vec<(usize, Option<ValueId>, Extent)>,
    reads: ValueSet,
    writes: ValueSet,
    /// Results and factors of products of matrices.
    products: Vec<[ValueId; 3]>,
    /// Buffers and places of the kernel's own.
    own: ValueSet,
}

impl Inside {
    fn block(&mut self, block: &Block<Kernels>, depth: usize) {
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::Alloc { .. } | KernelOp::Var(_) => self.own.extend(&stmt.results),
                KernelOp::Copy(source) => {
                    self.own.extend(&stmt.results);
                    self.reads.insert(*source);
                }
                KernelOp::Load { buffer, .. } => {
                    self.reads.insert(*buffer);
                }
                KernelOp::Store { buffer, .. } => {
                    self.writes.insert(*buffer);
                }
                KernelOp::For { extent, body, .. } => {
                    self.loops.push((depth, Some(body.params[0]), *extent));
                    self.block(body, depth + 1);
                }
                KernelOp::While { cond, body } => {
                    self.loops.push((depth, None, Extent::Const(0)));
                    self.block(cond, depth + 1);
                    self.block(body, depth + 1);
                }
                KernelOp::If {
                    then, otherwise, ..
                } => {
                    self.block(then, depth);
                    self.block(otherwise, depth);
                }
                KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Combine { .. }
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Swap(..)
                | KernelOp::Own(Par { .. })
                | KernelOp::Assert { .. } => {}
                KernelOp::Contract {
                    out, factors, mask, ..
                } => {
                    self.writes.insert(*out);
                    self.reads.extend(factors);
                    self.reads.extend(mask.as_ref().map(|mask| mask.buffer));
                    self.products.push([*out, factors[0], factors[1]]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::Interface;
    use crate::ir::parse;
    use crate::ir::stages::point::Point;
    use crate::pipeline::{self, Trace};

    fn stages(text: &str) -> Stages {
        let point = parse::<Point>(text).unwrap_or_else(|error| panic!("{error}"));
        pipeline::run(&mut Trace::default(), point, Interface::default())
    }

    #[test]
    fn a_matrix_and_a_vector_are_one_kernel() {
        let stages = stages(
            "fn mv(a: f64[I, K], b: f64[K]) -> f64[I] {
               %0 = for %1: I {
                 %4 = for %5: K {
                   %6 = index a[%1, %5]
                   %7 = index b[%5]
                   %8 = mul %6, %7
                   yield %8
                 }
                 %9 = reduce add %4
                 yield %9
               }
               return %0
             }",
        );
        let text = explain(&stages);
        assert!(
            text.starts_with(
                "mv: kernels 1, allocations 1, copies 0, swaps 0, host loops 0\n\nkernel K0"
            ),
            "{text}"
        );
        for part in [
            "  parallel over i: I\n  one after the other: for k: K\n  reads a, b; writes f64[I]\n  costs 2·I·K operations on tables of 8·I·K + 8·I + 8·K bytes\n",
            "---- point",
            "---- bulk",
            "---- kernels",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
    }

    #[test]
    fn a_matrix_product_is_one_contraction() {
        let stages = stages(
            "fn mm(a: f64[I, K], b: f64[K, J]) -> f64[I, J] {
               %0 = for %1: I {
                 %2 = for %3: J {
                   %4 = for %5: K {
                     %6 = index a[%1, %5]
                     %7 = index b[%5, %3]
                     %8 = mul %6, %7
                     yield %8
                   }
                   %9 = reduce add %4
                   yield %9
                 }
                 yield %2
               }
               return %0
             }",
        );
        let text = explain(&stages);
        let contraction = "contraction f64[I, J] of a and b: a library multiplies matrices";
        let start = "mm: kernels 0, contractions 1, allocations 1, copies 0, swaps 0, host loops 0";
        assert!(
            text.starts_with(&format!(
                "{start}\n\n{contraction}\n  costs 2·I·J·K operations on tables of"
            )),
            "{text}"
        );
    }

    #[test]
    fn what_goes_on_row_by_row_says_so() {
        let stages = stages(
            "fn mm(a: f64[I, K], b: f64[K, J]) -> f64[I, J] {
               %0 = for %1: I {
                 %2 = for %3: J {
                   %4 = for %5: K {
                     %6 = index a[%1, %5]
                     %7 = index b[%5, %3]
                     %8 = mul %6, %7
                     yield %8
                   }
                   %9 = reduce add %4
                   %10 = tanh %9
                   yield %10
                 }
                 yield %2
               }
               return %0
             }",
        );
        let text = explain(&stages);
        let line = "  one of 2 that a tile of rows along I goes through at once: what one leaves, the next finds in a cache, 8·J bytes a row\n";
        assert_eq!(text.matches(line).count(), 2, "{text}");
        assert!(text.contains("memory: 8·I·J bytes\n"), "{text}");
    }

    #[test]
    fn what_goes_on_tile_by_tile_says_how_many_points_a_tile_has() {
        let source = "fn f<N: IndexSet, K: IndexSet, D: IndexSet>(a: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, m: &Table<(K, D), f64>) -> f64 {
            sum(for n in N { sum(for k in K { sum(for i in D { sum(for j in D { a[k][i][j] * (x[n][j] - m[k][j]) }).powi(2) }) }) })
        }";
        let linked = crate::lower::source::link(source).unwrap_or_else(|error| panic!("{error:?}"));
        let stages = pipeline::stages(&linked).unwrap_or_else(|error| panic!("{error:?}"));
        let text = explain(&stages);
        for part in [
            "  parallel over tiles of N, 32 to 128 points each, so that a cache holds what they keep\n",
            "a library multiplies f64[tile, D] and a into f64[tile, D]\n",
            // All tiles together have N points.
            "  costs 2·D·D·K·N + ",
            "f64[tile, D]: at most 8·D·tile bytes for each thread",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
    }

    #[test]
    fn a_loop_that_carries_something_runs_in_lanes() {
        let stages = stages(
            "fn f(x: f64[N], t: usize) -> f64[N] {
               %0 = for %1: N {
                 %2 = index x[%1]
                 %3 = loop %4: t (%5 = %2) {
                   %6 = mul %5, %5
                   yield %6
                 }
                 yield %3
               }
               return %0
             }",
        );
        let text = explain(&stages);
        let part =
            "  parallel over n: N\n  in lanes: 16 points at a time go through the loops inside\n";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn a_loop_that_hands_a_table_on_belongs_to_the_host() {
        let stages = stages(
            "fn f(u: f64[N], x: f64[T, N]) -> f64[N] {
               %0 = loop %1: T (%2 = u) {
                 %3 = for %4: N {
                   %5 = index %2[%4]
                   %6 = index x[%1, %4]
                   %7 = mul %5, %6
                   yield %7
                 }
                 yield %3
               }
               return %0
             }",
        );
        let text = explain(&stages);
        assert!(text.contains("host loops 1"), "{text}");
        assert!(
            text.contains("the host, one after the other: for t_1: T, because"),
            "{text}"
        );
        let apart = "  the rows along N do not need each other: a tile of them runs all steps, in parallel with others: what one leaves, the next finds in a cache, 8 bytes a row\n";
        assert!(text.contains(apart), "{text}");
        assert!(text.contains("  kernel K0"), "{text}");
    }
}

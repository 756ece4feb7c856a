//! Makes a program that shows a mistake small, by taking away whatever is not needed to show it.

use crate::eval::{Data, Inputs, ScalarValue, run_limited};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::verify::verify;
use crate::ir::{Block, Elem, Extent, Lit, Operation, Param, Program, SizeId, Stmt, ValueId};

/// Steps that may be spent to find the value of a statement.
const STEPS: u64 = 1_000_000;

/// The smallest program and inputs that are found for which `fails` still holds, as it must at
/// first. `fails` is asked at most `tries` times, and only about valid programs.
pub fn shrink(
    program: Program<Point>,
    inputs: Inputs,
    tries: usize,
    fails: impl Fn(&Program<Point>, &Inputs) -> bool,
) -> (Program<Point>, Inputs) {
    let mut shrinker = Shrinker {
        program,
        inputs,
        tries,
        fails,
    };
    while shrinker.round() && shrinker.tries > 0 {}
    (shrinker.program, shrinker.inputs)
}

struct Shrinker<F> {
    program: Program<Point>,
    inputs: Inputs,
    tries: usize,
    fails: F,
}

impl<F: Fn(&Program<Point>, &Inputs) -> bool> Shrinker<F> {
    /// Tries everything once; whether something could be taken away.
    fn round(&mut self) -> bool {
        let mut smaller = self.results();
        smaller |= self.unneeded();
        smaller |= self.cut();
        smaller |= self.statements();
        smaller |= self.unneeded();
        smaller |= self.params();
        smaller |= self.sizes();
        smaller | self.values()
    }

    /// Takes a candidate if it is valid and still fails.
    fn attempt(&mut self, program: Program<Point>, inputs: Inputs) -> bool {
        if self.tries == 0 || verify(&program).is_err() {
            return false;
        }
        self.tries -= 1;
        let fails = (self.fails)(&program, &inputs);
        if fails {
            self.program = program;
            self.inputs = inputs;
        }
        fails
    }

    fn attempt_program(&mut self, change: impl FnOnce(&mut Program<Point>)) -> bool {
        let mut candidate = self.program.clone();
        change(&mut candidate);
        candidate != self.program && self.attempt(candidate, self.inputs.clone())
    }

    /// Fewer results.
    fn results(&mut self) -> bool {
        let mut smaller = false;
        for k in (0..self.program.body.results.len()).rev() {
            if self.program.body.results.len() > 1 {
                smaller |= self.attempt_program(|p| {
                    p.body.results.remove(k);
                });
            }
        }
        smaller
    }

    /// What no result needs: all of it, or else one statement after the other, from the last.
    fn unneeded(&mut self) -> bool {
        let mut smaller = self.attempt_program(remove_unused);
        for n in (0..count(&self.program.body)).rev() {
            smaller |= self.attempt_program(|p| {
                edit(&mut p.body, n, |block, at| {
                    block.stmts.remove(at);
                });
            });
        }
        smaller
    }

    /// What the first half of the body computes becomes a parameter, or what a single statement
    /// does.
    fn cut(&mut self) -> bool {
        let mut smaller = false;
        for at in (0..self.program.body.stmts.len()).rev() {
            let Some((program, inputs)) = self.computed_before(at) else {
                continue;
            };
            smaller |= self.attempt(program, inputs);
        }
        smaller
    }

    /// The program with the results of one statement of the body as parameters.
    fn computed_before(&self, at: usize) -> Option<(Program<Point>, Inputs)> {
        let stmt = self.program.body.stmts.get(at)?;
        let trivial = matches!(stmt.op, PointOp::Const(_) | PointOp::Accum { .. });
        if trivial || stmt.results.is_empty() {
            return None;
        }
        let mut prefix = self.program.clone();
        prefix.body.stmts.truncate(at + 1);
        prefix.body.results.clone_from(&stmt.results);
        let (values, _) = run_limited(&prefix, &self.inputs, STEPS).ok()?;
        let mut program = self.program.clone();
        let mut inputs = self.inputs.clone();
        program.body.stmts.remove(at);
        for (&value, data) in stmt.results.iter().zip(values) {
            program.params.push(Param {
                name: format!("v{}", value.0),
                value,
                owned: false,
            });
            inputs.params.push(data);
        }
        Some((program, inputs))
    }

    /// Simpler statements.
    fn statements(&mut self) -> bool {
        let mut smaller = false;
        for n in (0..count(&self.program.body)).rev() {
            let Some(stmt) = nth(&self.program.body, n).cloned() else {
                continue;
            };
            smaller |= self.constant(n, &stmt)
                || self.other_value(n, &stmt)
                || self.single_branch(n, &stmt)
                || self.fewer_operands(n, &stmt);
        }
        smaller
    }

    /// A constant instead of a scalar.
    fn constant(&mut self, n: usize, stmt: &Stmt<Point>) -> bool {
        let &[result] = stmt.results.as_slice() else {
            return false;
        };
        let ty = self.program.ty(result);
        let (Elem::Scalar(scalar), 0) = (ty.elem, ty.rank()) else {
            return false;
        };
        if matches!(stmt.op, PointOp::Const(_) | PointOp::Accum { .. }) {
            return false;
        }
        [0.0, 1.0].into_iter().any(|value| {
            self.attempt_program(|p| {
                edit(&mut p.body, n, |block, at| {
                    block.stmts[at].op = PointOp::Const(Lit::of(scalar, value));
                });
            })
        })
    }

    /// Another value of the type instead of a result: one of its operands, or a parameter.
    fn other_value(&mut self, n: usize, stmt: &Stmt<Point>) -> bool {
        let mut smaller = false;
        for &result in &stmt.results {
            let mut others = stmt.op.operands();
            others.extend(self.program.params.iter().map(|p| p.value));
            others.extend((0..result.0).rev().map(ValueId));
            let mut seen = Vec::new();
            others.retain(|&mut v| {
                let fits = v != result
                    && self.program.ty(v) == self.program.ty(result)
                    && !seen.contains(&v);
                seen.push(v);
                fits
            });
            smaller |= others.into_iter().take(6).any(|other| {
                self.attempt_program(|p| {
                    substitute(&mut p.body, result, other);
                    if stmt.results.len() == 1 {
                        edit(&mut p.body, n, |block, at| {
                            block.stmts.remove(at);
                        });
                    }
                    remove_unused(p);
                })
            });
        }
        smaller
    }

    /// One branch of an `if`, always; the body of a loop, never.
    fn single_branch(&mut self, n: usize, stmt: &Stmt<Point>) -> bool {
        let PointOp::If {
            then, otherwise, ..
        } = &stmt.op
        else {
            return false;
        };
        [then, otherwise].into_iter().any(|branch| {
            self.attempt_program(|p| {
                edit(&mut p.body, n, |block, at| {
                    block.stmts.splice(at..=at, branch.stmts.iter().cloned());
                });
                for (&result, &value) in stmt.results.iter().zip(&branch.results) {
                    substitute(&mut p.body, result, value);
                }
            })
        })
    }

    /// No bound, no first operand of a stack, forwards instead of backwards.
    fn fewer_operands(&mut self, n: usize, stmt: &Stmt<Point>) -> bool {
        let simpler = match &stmt.op {
            PointOp::While {
                init,
                cond,
                body,
                bound: Some(_),
            } => PointOp::While {
                init: init.clone(),
                cond: cond.clone(),
                body: body.clone(),
                bound: None,
            },
            PointOp::Loop {
                extent,
                reverse: true,
                checkpoint,
                init,
                body,
            } => PointOp::Loop {
                extent: *extent,
                reverse: false,
                checkpoint: *checkpoint,
                init: init.clone(),
                body: body.clone(),
            },
            _ => return false,
        };
        self.attempt_program(|p| edit(&mut p.body, n, |block, at| block.stmts[at].op = simpler))
    }

    /// Fewer parameters.
    fn params(&mut self) -> bool {
        let mut smaller = false;
        for k in (0..self.program.params.len()).rev() {
            let mut program = self.program.clone();
            let mut inputs = self.inputs.clone();
            program.params.remove(k);
            inputs.params.remove(k);
            smaller |= self.attempt(program, inputs);
        }
        smaller
    }

    /// Smaller extents.
    fn sizes(&mut self) -> bool {
        let mut smaller = false;
        for size in 0..self.inputs.sizes.len() {
            let present = self.inputs.sizes[size];
            smaller |= (0..present).any(|less| {
                let inputs = self.resized(SizeId(size as u32), less);
                self.attempt(self.program.clone(), inputs)
            });
        }
        smaller
    }

    /// The inputs with one size smaller: the beginning of each table.
    fn resized(&self, size: SizeId, less: usize) -> Inputs {
        let mut inputs = self.inputs.clone();
        inputs.sizes[size.0 as usize] = less;
        for (param, data) in self.program.params.iter().zip(&mut inputs.params) {
            let ty = self.program.ty(param.value);
            for (axis, &dim) in ty.dims.iter().enumerate() {
                if dim == Extent::Size(size) {
                    *data = beginning(data, axis, less);
                }
            }
            if ty.elem == Elem::Index(Extent::Size(size)) && less > 0 {
                for value in &mut data.values {
                    if let ScalarValue::Usize(member) = value {
                        *member = (*member).min(less - 1);
                    }
                }
            }
        }
        inputs
    }

    /// Zeros.
    fn values(&mut self) -> bool {
        let mut smaller = false;
        for k in 0..self.inputs.params.len() {
            let mut inputs = self.inputs.clone();
            let data = &mut inputs.params[k];
            let zero = ScalarValue::from_int(data.elem, 0);
            if data.values.iter().any(|&v| v != zero) {
                data.values.fill(zero);
                smaller |= self.attempt(self.program.clone(), inputs);
            }
        }
        smaller
    }
}

/// The first `len` members along an axis.
fn beginning(data: &Data, axis: usize, len: usize) -> Data {
    let inner = data.shape[axis + 1..].iter().product::<usize>();
    let extent = data.shape[axis];
    let values = data
        .values
        .iter()
        .enumerate()
        .filter(|(k, _)| k / inner % extent < len)
        .map(|(_, &value)| value)
        .collect();
    let mut shape = data.shape.clone();
    shape[axis] = len;
    Data::new(data.elem, shape, values)
}

/// How many statements there are, at all depths.
fn count(block: &Block<Point>) -> usize {
    let inner = |stmt: &Stmt<Point>| stmt.op.blocks().into_iter().map(count).sum::<usize>();
    block.stmts.iter().map(|stmt| 1 + inner(stmt)).sum()
}

/// The `n`th statement, each counted before those inside it.
fn nth(block: &Block<Point>, mut n: usize) -> Option<&Stmt<Point>> {
    for stmt in &block.stmts {
        if n == 0 {
            return Some(stmt);
        }
        n -= 1;
        for inner in stmt.op.blocks() {
            let len = count(inner);
            if n < len {
                return nth(inner, n);
            }
            n -= len;
        }
    }
    None
}

/// Changes the block in which the `n`th statement stands, and tells it where.
fn edit(block: &mut Block<Point>, mut n: usize, change: impl FnOnce(&mut Block<Point>, usize)) {
    for at in 0..block.stmts.len() {
        if n == 0 {
            change(block, at);
            return;
        }
        n -= 1;
        for inner in block.stmts[at].op.blocks_mut() {
            let len = count(inner);
            if n < len {
                edit(inner, n, change);
                return;
            }
            n -= len;
        }
    }
}

/// Reads `to` wherever `from` was read.
fn substitute(block: &mut Block<Point>, from: ValueId, to: ValueId) {
    let replace = |value: &mut ValueId| {
        if *value == from {
            *value = to;
        }
    };
    for stmt in &mut block.stmts {
        stmt.op.for_each_operand_mut(&mut |value| replace(value));
        for inner in stmt.op.blocks_mut() {
            substitute(inner, from, to);
        }
    }
    block.results.iter_mut().for_each(replace);
}

/// Takes away statements whose results nobody reads, until there are none.
fn remove_unused(program: &mut Program<Point>) {
    loop {
        let mut used = vec![false; program.values.len()];
        mark(program, &program.body, &mut used);
        for param in &program.params {
            mark_type(program, param.value, &mut used);
        }
        let before = count(&program.body);
        sweep(&mut program.body, &used);
        if count(&program.body) == before {
            return;
        }
    }
}

fn mark(program: &Program<Point>, block: &Block<Point>, used: &mut [bool]) {
    for stmt in &block.stmts {
        for operand in stmt.op.operands() {
            used[operand.index()] = true;
        }
        for &result in &stmt.results {
            mark_type(program, result, used);
        }
        if let PointOp::For { extent, .. } | PointOp::Loop { extent, .. } | PointOp::Size(extent) =
            &stmt.op
        {
            mark_extent(*extent, used);
        }
        if let PointOp::Prim(prim, _) = &stmt.op
            && let Some(extent) = prim.extent()
        {
            mark_extent(extent, used);
        }
        for inner in stmt.op.blocks() {
            mark(program, inner, used);
        }
    }
    for &result in &block.results {
        used[result.index()] = true;
    }
}

fn mark_type(program: &Program<Point>, value: ValueId, used: &mut [bool]) {
    let ty = program.ty(value);
    if let Elem::Index(extent) = ty.elem {
        mark_extent(extent, used);
    }
    ty.dims.iter().for_each(|&dim| mark_extent(dim, used));
}

fn mark_extent(extent: Extent, used: &mut [bool]) {
    if let Extent::Value(value) = extent {
        used[value.index()] = true;
    }
}

fn sweep(block: &mut Block<Point>, used: &[bool]) {
    block.stmts.retain(|stmt| {
        let binds_nothing = stmt.results.is_empty();
        let empty = stmt.op.blocks().iter().all(|inner| inner.stmts.is_empty());
        let effect = match stmt.op {
            PointOp::Accumulate { .. } | PointOp::Assert { .. } => true,
            _ => binds_nothing && !empty,
        };
        effect || contains_effect(stmt) || stmt.results.iter().any(|r| used[r.index()])
    });
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            sweep(inner, used);
        }
    }
}

fn contains_effect(stmt: &Stmt<Point>) -> bool {
    stmt.op.blocks().iter().any(|inner| {
        inner.stmts.iter().any(|stmt| {
            let effect = matches!(stmt.op, PointOp::Accumulate { .. } | PointOp::Assert { .. });
            effect || contains_effect(stmt)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::run_limited;
    use crate::ir::print::print;
    use crate::testing::random::{Options, random_point};

    fn has_scan(block: &Block<Point>) -> bool {
        block.stmts.iter().any(|stmt| {
            matches!(stmt.op, PointOp::Scan { .. }) || stmt.op.blocks().into_iter().any(has_scan)
        })
    }

    #[test]
    fn little_is_left_of_a_program_but_what_matters() {
        let mut found = 0;
        for seed in 0..60 {
            let (program, inputs) = random_point(seed, Options::default());
            if !has_scan(&program.body) {
                continue;
            }
            found += 1;
            let fails = |p: &Program<Point>, i: &Inputs| {
                has_scan(&p.body) && run_limited(p, i, 1_000_000).is_ok()
            };
            let (small, few) = shrink(program, inputs, 5_000, fails);
            assert!(fails(&small, &few));
            // The scan with its operator, what it reads, and the loops around it.
            assert!(count(&small.body) <= 30, "seed {seed}:\n{}", print(&small));
        }
        assert!(found > 5);
    }

    #[test]
    fn tables_are_shortened_along_any_axis() {
        let data = Data::i64s(&[2, 3], [0, 1, 2, 3, 4, 5]);
        assert_eq!(beginning(&data, 1, 2), Data::i64s(&[2, 2], [0, 1, 3, 4]));
        assert_eq!(beginning(&data, 0, 1), Data::i64s(&[1, 3], [0, 1, 2]));
        assert_eq!(beginning(&data, 1, 0), Data::i64s(&[2, 0], []));
    }
}

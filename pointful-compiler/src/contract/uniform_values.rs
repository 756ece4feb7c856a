//! Uniform values: what a loop computes alike in all of its lanes, of its index alone, is computed
//! outside of them, for all steps.
//!
//! ```text
//! %1[n], %2[k] = loop %3: k lanes [n] (…) {       %8[k] = iota k
//!   %4 = gather w [j := %3]                       %9[k] = gather w [j := %8]
//!   %5 = cos %4                              ▶    %2[k] = cos %9
//!   %6[n] = mul %7, %5                            %1[n] = loop %3: k lanes [n] (…) {
//!   yield %6; %5                                    %5 = gather %2 [k := %3]
//! }                                                 %6[n] = mul %7, %5
//!                                                   yield %6
//!                                                 }
//! ```
//!
//! What is collected moves in any case: every lane would write it, and lanes would have to wait for
//! each other. Derivatives collect such values. What is dear and not collected moves if there is an
//! array with a place for each step anyway, and the lanes are not known to be few.
//!
//! # Why it is sound
//!
//! What moves is total, is read at indices that are there for all lanes, and has no guard. Where
//! there are no lanes, and so no value, nobody looks at what is there now.

use super::is_cheap;
use crate::analysis::dataflow::{self, Flow, for_each_axis};
use crate::canonicalize::substitution::Subst;
use crate::differentiate::builder::reads;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::typing::Typing;
use crate::ir::{
    AxisId, Block, Extent, Lit, Operation, Program, SpanId, Stmt, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const UNIFORM_VALUES: Pass<Bulk> = Pass {
    name: "uniform_values",
    about: "compute outside of a loop's lanes what is the same in all of them",
    run: uniform_values,
};

/// So many lanes are few.
const FEW: u64 = 16;

/// Computes outside of a loop's lanes what is the same in all of them.
pub fn uniform_values(program: Program<Bulk>) -> Program<Bulk> {
    let mut walk = Walk {
        subst: Subst::new(),
        integers: ValueMap::new(),
        depth: 0,
    };
    let mut program = program.rewritten(|program, body| walk.block(program, body));
    walk.subst.types(&mut program);
    program
}

struct Walk {
    subst: Subst,
    /// The constants among the values before.
    integers: ValueMap<i128>,
    /// How many blocks are around.
    depth: u32,
}

impl Walk {
    fn block(&mut self, program: &mut Program<Bulk>, block: &mut Block<Bulk>) {
        let room = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, room) {
            self.subst.stmt(&mut stmt);
            if let BulkOp::Const(Lit::Int(_, number)) = stmt.op {
                self.integers.insert(stmt.results[0], number);
            }
            self.depth += 1;
            for inner in stmt.op.blocks_mut() {
                self.block(program, inner);
            }
            self.depth -= 1;
            if stmt.guard.is_none() && matches!(stmt.op, BulkOp::Loop { .. }) {
                self.split(program, &mut stmt, &mut block.stmts);
            }
            block.stmts.push(stmt);
        }
        self.subst.results(block);
    }

    /// Takes uniform values out of a loop; what computes them goes to the end of `before`.
    fn split(
        &mut self,
        program: &mut Program<Bulk>,
        stmt: &mut Stmt<Bulk>,
        before: &mut Vec<Stmt<Bulk>>,
    ) {
        let BulkOp::Loop {
            axis,
            lanes,
            init,
            body,
            ..
        } = &mut stmt.op
        else {
            unreachable!("only loops are split")
        };
        // Where each lane has steps of its own, none is there for all lanes.
        if program.leans(&[*axis], lanes) {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::OWN_STEPS);
            return;
        }
        let uniform = self.uniform(program, lanes, body);
        let mut moved = body.results[init.len()..].to_vec();
        // Inside of a block there would be an array for each time it runs.
        if self.depth == 0 {
            let dear = dear(program, lanes, body, &uniform);
            #[cfg(test)]
            if !dear.is_empty() {
                crate::testing::entered::enter(&crate::testing::entered::HOISTED);
            }
            moved.extend(dear);
        }
        let mut outside = Outside {
            program,
            axis: *axis,
            index: body.params[0],
            uniform,
            names: ValueMap::new(),
            before,
        };
        for value in moved {
            outside.read_in(body, value);
        }
        for at in (init.len()..body.results.len()).rev() {
            if let Some(array) = outside.array(body, body.results[at]) {
                #[cfg(test)]
                crate::testing::entered::enter(&crate::testing::entered::UNIFORM);
                body.results.remove(at);
                self.subst.replace(stmt.results.remove(at), array);
            }
        }
    }

    /// What a loop's body computes of its index alone, alike in several lanes, and where.
    fn uniform(
        &self,
        program: &Program<Bulk>,
        lanes: &[AxisId],
        body: &Block<Bulk>,
    ) -> ValueMap<usize> {
        let mut uniform = ValueMap::new();
        let mut others: ValueSet = body.params[1..].iter().copied().collect();
        let mut bound: ValueSet = body.params.iter().copied().collect();
        bound.extend(body.stmts.iter().flat_map(|stmt| &stmt.results));
        // Lengths of the step's own stay in it.
        let is_outside = |axis: AxisId| match program.decls.axes[axis.0 as usize].extent {
            Extent::Value(length) => !bound.contains(&length),
            Extent::Const(_) | Extent::Size(_) => true,
        };
        for (site, stmt) in body.stmts.iter().enumerate() {
            let is_alike = |result: &ValueId| {
                let dims = &program.ty(*result).dims;
                lanes.iter().any(|lane| !dims.contains(lane))
                    && dims.iter().all(|&dim| is_outside(dim))
                    && !Bulk::type_extents(program, *result)
                        .iter()
                        .any(|length| bound.contains(length))
            };
            let mut own_lengths = false;
            for_each_axis(&stmt.op, &mut |axis| own_lengths |= !is_outside(axis));
            let mut lengths = Bulk::extents(program, &stmt.op).into_iter();
            let moves = stmt.guard.is_none()
                && self.is_total(program, &stmt.op)
                && !own_lengths
                && !lengths.any(|length| bound.contains(&length))
                && stmt.results.iter().all(is_alike)
                && !stmt.op.reads_any(|value| others.contains(&value));
            if moves {
                uniform.insert(stmt.results[0], site);
            } else {
                others.extend(&stmt.results);
            }
        }
        uniform
    }

    /// Whether something can be computed wherever its operands are.
    fn is_total(&self, program: &Program<Bulk>, op: &BulkOp) -> bool {
        match op {
            BulkOp::Map(Prim::Trust(Extent::Const(length)), args) => {
                let known = self.integers.get(&args[0]);
                known.is_some_and(|&number| (0..i128::from(*length)).contains(&number))
            }
            _ => dataflow::is_total(program, op),
        }
    }
}

/// What is dear, the same in all lanes and looked at where they differ, if it is worth an array.
fn dear(
    program: &Program<Bulk>,
    lanes: &[AxisId],
    body: &Block<Bulk>,
    uniform: &ValueMap<usize>,
) -> Vec<ValueId> {
    let index = body.params[0];
    let has_steps = |stmt: &Stmt<Bulk>| matches!(&stmt.op, BulkOp::Gather { at, .. } if at.iter().any(|(_, at)| *at == index));
    let is_few = |lane: &AxisId| {
        let extent = program.decls.axes[lane.0 as usize].extent;
        matches!(extent, Extent::Const(..=FEW))
    };
    if lanes.iter().all(is_few) || !body.stmts.iter().any(has_steps) {
        return Vec::new();
    }
    let is_uniform = |stmt: &&Stmt<Bulk>| {
        let value = stmt.results.first();
        value.is_some_and(|value| uniform.contains_key(value))
    };
    let (alike, varying): (Vec<_>, Vec<_>) = body.stmts.iter().partition(is_uniform);
    let looked_at: ValueSet = (varying.iter())
        .flat_map(|stmt| reads(program, stmt))
        .collect();
    let is_dear = |stmt: &&Stmt<Bulk>| {
        let dims = &program.ty(stmt.results[0]).dims;
        !is_cheap(program, &stmt.op)
            && !lanes.iter().any(|lane| dims.contains(lane))
            && looked_at.contains(&stmt.results[0])
    };
    let dear = alike.into_iter().filter(is_dear);
    dear.map(|stmt| stmt.results[0]).collect()
}

/// What uniform values are called outside of the loop, where they have a place for each step.
struct Outside<'a> {
    program: &'a mut Program<Bulk>,
    axis: AxisId,
    index: ValueId,
    uniform: ValueMap<usize>,
    names: ValueMap<ValueId>,
    before: &'a mut Vec<Stmt<Bulk>>,
}

impl Outside<'_> {
    /// Makes a loop's body read what is dear rather than compute it.
    fn read_in(&mut self, body: &mut Block<Bulk>, value: ValueId) {
        if let Some(array) = self.array(body, value) {
            let made = &mut body.stmts[self.uniform[&value]].op;
            if !is_cheap(self.program, made) {
                *made = BulkOp::Gather {
                    table: array,
                    at: vec![(self.axis, self.index)],
                };
            }
        }
    }

    /// A uniform value for all steps; none if it is not uniform, or the same in all steps.
    fn array(&mut self, body: &Block<Bulk>, value: ValueId) -> Option<ValueId> {
        self.uniform.get(&value)?;
        let array = self.copy(body, value);
        let dims = &self.program.ty(array).dims;
        dims.contains(&self.axis).then_some(array)
    }

    fn copy(&mut self, body: &Block<Bulk>, value: ValueId) -> ValueId {
        if let Some(&known) = self.names.get(&value) {
            return known;
        }
        let (mut op, span) = match self.uniform.get(&value) {
            Some(&site) => (body.stmts[site].op.clone(), body.stmts[site].span),
            None if value == self.index => (BulkOp::Iota(self.axis), SpanId::NONE),
            None => return value,
        };
        op.for_each_operand_mut(&mut |operand| *operand = self.copy(body, *operand));
        let types = Bulk::types(self.program, &op, None).expect("it is well typed in the loop");
        let copy = self.program.value(types[0].clone(), span);
        let name = self.program.values[value.index()].name.clone();
        self.program.values[copy.index()].name = name;
        self.before.push(Stmt::new(vec![copy], op, span));
        self.names.insert(value, copy);
        copy
    }
}

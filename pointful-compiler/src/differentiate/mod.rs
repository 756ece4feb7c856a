//! Derivatives: `vjp` and `jvp` become ordinary definitions.
//!
//! # The idea
//!
//! A derivative that is to be taken is an operation with a block ([`BulkOp::Derive`]).
//! [`linearize`] walks the block once and puts next to each statement how its results change with
//! the parameters: a list of linear statements. Run as it is, the list computes tangents. Turned
//! round by [`transpose`], it computes cotangents. In either case what is left are statements like
//! all others, which the block's surroundings take in, so that the innermost derivative is taken
//! first and the next one differentiates what has become of it.
//!
//! # Why it is sound
//!
//! What the block reads from around it has no tangent in it, so a derivative sees its own
//! parameters and nothing else: it cannot be confused with those around it. The parameters have all
//! axes of the lanes around the derivative: each lane has a derivative of its own.
//!
//! # Before and after
//!
//! ```text
//! %1, %2[i] = vjp (%3[i] = x) (%4) {       %5[i] = mul x, x
//!   %5[i] = mul %3, %3                     %6 = reduce add [i] %5
//!   %6 = reduce add [i] %5                 %7[i] = mul x, %4
//!   yield %6                               %8[i] = add %7, %7
//! }
//! return %2[i]                             return %8[i]
//! ```

mod activity;
mod associative_scans;
mod binding_times;
pub(crate) mod builder;
mod checkpointing;
mod cloning;
mod constant_indices;
mod demand;
mod exclusive_branches;
mod guard_elimination;
mod last_values;
mod linearize;
mod loops;
mod reductions;
mod residual_slices;
mod residuals;
mod rules;
mod scalarize;
mod scatters;
mod slopes;
mod sparse;
mod suffixes;
mod tapes;
mod transpose;

pub use self::binding_times::{Staged, staged};
pub use self::residual_slices::{RESIDUAL_SLICES, residual_slices};
pub(crate) use self::rules::is_flat;
pub use self::sparse::{SPARSE, sparse};

use self::builder::Builder;
use self::demand::{Asked, Demand};
use self::linearize::Dual;
use self::transpose::Seed;
use crate::analysis::dataflow::Flow;
use crate::canonicalize::substitution::Subst;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Mode, Operation, Program, Stmt, ValueId};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const DERIVE: Pass<Bulk> = Pass {
    name: "derive",
    about: "take derivatives, the innermost first",
    run: derive,
};

/// The pass where tangents are to be computed by statements of their own.
pub const DUAL: Pass<Bulk> = Pass {
    name: "dual",
    about: "take derivatives, with what is linear in tangents apart",
    run: dual,
};

/// Whether there is anything for [`derive()`] to do.
pub fn derives(block: &Block<Bulk>) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(
            stmt.op,
            BulkOp::Derive { .. } | BulkOp::Rule { .. } | BulkOp::Map(Prim::StopGradient, _)
        ) || stmt.op.blocks().into_iter().any(derives)
    })
}

/// Takes all derivatives.
pub fn derive(program: Program<Bulk>) -> Program<Bulk> {
    taken(program, false)
}

/// Takes all derivatives, and leaves of those with tangents the primal statements and the linear
/// ones apart: what [`derive()`] turns round for cotangents.
pub fn dual(program: Program<Bulk>) -> Program<Bulk> {
    taken(program, true)
}

fn taken(mut program: Program<Bulk>, apart: bool) -> Program<Bulk> {
    let mut body = std::mem::take(&mut program.body);
    let mut walk = Walk {
        b: Builder::new(program),
        subst: Subst::new(),
        apart,
    };
    walk.b.learn_all(&body);
    walk.block(&mut body, 0);
    // What only derivatives look at has had its use.
    walk.block(&mut body, 0);
    let Walk { b, subst, .. } = walk;
    let mut program = b.program;
    subst.types(&mut program);
    guard_elimination::unguard(&mut body, &program);
    program.body = body;
    Bulk::retype(&mut program);
    program
}

struct Walk {
    b: Builder,
    subst: Subst,
    /// Whether tangents are computed by linear statements of their own.
    apart: bool,
}

impl Walk {
    /// Takes the derivatives in a block that stands in the bodies of so many.
    fn block(&mut self, block: &mut Block<Bulk>, depth: usize) {
        let room = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, room) {
            self.subst.stmt(&mut stmt);
            match stmt.op {
                BulkOp::Derive {
                    mode,
                    args,
                    seeds,
                    shapes,
                    lanes,
                    mut body,
                } => {
                    self.block(&mut body, depth + 1);
                    let guard = stmt.guard;
                    self.b.span = stmt.span;
                    self.b.nested = depth > 0;
                    // The function is evaluated at its arguments. While its derivative was taken the parameters had to be told apart
                    // from them: one value may be several arguments, and be read as a constant beside.
                    let mut at = Subst::new();
                    for (&param, &arg) in body.params.iter().zip(&args) {
                        at.replace(param, arg);
                    }
                    // Along lanes of tangents only, what is computed of the function is the same, so it is computed apart.
                    let own =
                        |&lane: &AxisId| args.iter().any(|&arg| self.b.dims(arg).contains(&lane));
                    let apart = self.apart || !lanes.iter().all(own);
                    let (stmts, results) = self.derivative(mode, *body, &seeds, &shapes, apart);
                    let mut made = Block {
                        params: Vec::new(),
                        stmts,
                        results,
                    };
                    at.block(&mut made);
                    // Who differentiates this again asks by which values something was computed.
                    self.b.learn_all(&made);
                    let Block { stmts, results, .. } = made;
                    for (&old, &new) in stmt.results.iter().zip(&results) {
                        self.subst.replace(old, new);
                    }
                    self.take(block, stmts, guard);
                }
                BulkOp::Rule { args, mut body, .. } if depth == 0 => {
                    for (&param, &arg) in body.params.iter().zip(&args) {
                        self.subst.replace(param, arg);
                    }
                    self.block(&mut body, depth);
                    for (&old, &new) in stmt.results.iter().zip(&body.results) {
                        self.subst.replace(old, new);
                    }
                    self.take(block, body.stmts, stmt.guard);
                }
                BulkOp::Map(Prim::StopGradient, args) if depth == 0 => {
                    self.subst.replace(stmt.results[0], args[0]);
                }
                _ => {
                    for inner in stmt.op.blocks_mut() {
                        self.block(inner, depth);
                    }
                    if depth > 0 {
                        self.b.learn(&stmt);
                    }
                    block.stmts.push(stmt);
                }
            }
        }
        self.subst.results(block);
    }

    /// Adds statements behind a guard.
    fn take(&mut self, block: &mut Block<Bulk>, stmts: Vec<Stmt<Bulk>>, guard: Option<ValueId>) {
        let Some(guard) = guard else {
            block.stmts.extend(stmts);
            return;
        };
        for mut stmt in stmts {
            self.b.enter();
            let both = self.b.both(Some(guard), stmt.guard);
            block.stmts.extend(self.b.leave().primal);
            if !matches!(stmt.op, BulkOp::Const(_)) {
                stmt.guard = both;
            }
            block.stmts.push(stmt);
        }
    }

    /// The statements of a derivative, and what stands for its results.
    fn derivative(
        &mut self,
        mode: Mode,
        body: Block<Bulk>,
        seeds: &[ValueId],
        shapes: &[Vec<AxisId>],
        apart: bool,
    ) -> (Vec<Stmt<Bulk>>, Vec<ValueId>) {
        let params = body.params.clone();
        self.b.enter();
        let form = if apart { Mode::Cotangent } else { mode };
        let demand = match mode {
            // Forwards, what is ignored is left out where it is.
            Mode::Tangent => Demand::default(),
            Mode::Cotangent => {
                let all = vec![Asked::Always; body.results.len()];
                Demand::of(&self.b, &body, &all)
            }
        };
        let mut dual = Dual::new(&mut self.b, form, demand);
        dual.forwards = mode == Mode::Tangent;
        let mut inputs = Vec::new();
        for (k, &param) in params.iter().enumerate() {
            let input = match mode {
                Mode::Tangent => seeds[k],
                Mode::Cotangent => {
                    let ty = dual.b.program.ty(param).clone();
                    dual.b.param(ty.elem, ty.dims)
                }
            };
            dual.set(param, Some(input));
            inputs.push(input);
        }
        dual.block(body.stmts);
        let values: Vec<ValueId> = body.results.iter().map(|&r| dual.names.get(r)).collect();
        let floats = dual.b.program.floats(&values);
        match mode {
            Mode::Tangent => {
                let tangents: Vec<ValueId> = floats
                    .iter()
                    .map(|&float| dual.tangent_or_zero(float))
                    .collect();
                let part = self.b.leave();
                let stmts = [part.primal, part.linear].concat();
                (stmts, [values, tangents].concat())
            }
            Mode::Cotangent => {
                let tangents: Vec<Option<ValueId>> =
                    floats.iter().map(|&float| dual.tangent(float)).collect();
                dual.settle_names();
                let part = self.b.leave();
                self.b.enter();
                let cotangents: Vec<Seed> = tangents
                    .into_iter()
                    .zip(seeds)
                    .zip(shapes)
                    .filter_map(|((of, &cotangent), shape)| {
                        Some(Seed {
                            of: of?,
                            cotangent,
                            shape: shape.clone(),
                        })
                    })
                    .collect();
                let given = transpose::transpose(&mut self.b, part.linear, &inputs, cotangents);
                let turned = self.b.leave().primal;
                ([part.primal, turned].concat(), [values, given].concat())
            }
        }
    }
}

//! Binding times: a program whose last parameters come later becomes two. The first computes all
//! that does not need them, and keeps what the second asks for.
//!
//! ```text
//! fn f(x: f64[n], t: f64[n]) -> (f64[n], f64[n]) {
//!   %0[n] = exp x
//!   %1[n] = mul %0, t
//!   return %0[n], %1[n]
//! }
//! ▶
//! fn f(x: f64[n]) -> (f64[n], f64[n]) {         fn f(x: f64[n], t: f64[n], kept0: f64[n]) -> f64[n] {
//!   %0[n] = exp x                                 %0[n] = mul kept0, t
//!   return %0[n], %0[n]                           return %0[n]
//! }                                             }
//! ```
//!
//! What is computed of the parameters by a few cheap definitions is computed again, and not kept;
//! so is what has a length that is computed inside.

use std::collections::BTreeSet;

use super::builder::{Builder, reads};
use super::residuals::{AGAIN, as_member};
use crate::analysis::dataflow::Flow;
use crate::canonicalize::substitution::Subst;
use crate::contract::is_cheap;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{
    Block, Elem, Operation, Param, Program, Scalar, ValueId, ValueMap, ValueSet, Values,
};
use crate::ops::Prim;

/// The two programs.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The first has the parameters that come first, and the results that do not need the others;
    /// after them what is kept.
    pub first: Program<Bulk>,
    /// The second has all parameters, and after them what is kept, and the other results.
    pub second: Program<Bulk>,
    /// How much is kept.
    pub kept: usize,
}

/// A program in two. `early`: how many of its parameters come first, and how many of its results do
/// not need the others. None if more of them do.
pub fn staged(mut program: Program<Bulk>, early: (usize, usize)) -> Option<Staged> {
    let (params, results) = early;
    let mut body = std::mem::take(&mut program.body);
    let mut b = Builder::new(program);
    collect_in_full(&mut b, &mut body);
    let plan = Plan::new(&b, &body, params);
    let (own, later) = body.results.split_at(results);
    if own.iter().any(|result| plan.late.contains(result)) {
        return None;
    }
    let Plan {
        late, kept, again, ..
    } = plan.made(later);

    // What both need stands in both; what is kept is made a member again where it was made.
    let (mut first, mut second, mut stored) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut taken) = (Subst::new(), Vec::new());
    for (number, stmt) in body.stmts.iter().enumerate() {
        if stmt.results.iter().any(|result| late.contains(result)) {
            second.push(stmt.clone());
            continue;
        }
        first.push(stmt.clone());
        if again.contains(&number) {
            second.push(stmt.clone());
            continue;
        }
        for &value in stmt.results.iter().filter(|value| kept.contains(value)) {
            b.enter();
            stored.push(in_full(&mut b, value));
            first.extend(b.leave().primal);
            let ty = b.program.ty(stored[stored.len() - 1]).clone();
            let param = b.param(ty.elem, ty.dims);
            taken.push(param);
            b.enter();
            b.guard = stmt.guard;
            let elem = b.program.elem(value);
            let member = as_member(&mut b, param, elem);
            b.guard = None;
            second.extend(b.leave().primal);
            names.replace(value, member);
        }
    }
    let mut second = Block {
        params: Vec::new(),
        stmts: second,
        results: later.to_vec(),
    };
    names.block(&mut second);

    let mut program = b.program;
    let mut early = Program {
        params: program.params[..params].to_vec(),
        body: Block {
            params: Vec::new(),
            stmts: first,
            results: [own, &stored].concat(),
        },
        ..program.clone()
    };
    Bulk::retype(&mut early);
    early.decls.results.truncate(results);
    let orders = stored.iter().map(|&kept| early.ty(kept).dims.clone());
    let orders: Vec<_> = orders.collect();
    early.decls.results.extend(orders);
    program.decls.results.drain(..results);
    let stem = unused(&program, "kept");
    let kept_params = taken.iter().enumerate().map(|(number, &value)| Param {
        name: format!("{stem}{number}"),
        value,
        owned: false,
    });
    program.params.extend(kept_params);
    program.body = second;
    names.types(&mut program);
    Bulk::retype(&mut program);
    Some(Staged {
        first: early,
        second: program,
        kept: taken.len(),
    })
}

/// Has loops collect zeros where what they collect says nothing: that is said by conditions inside.
fn collect_in_full(b: &mut Builder, block: &mut Block<Bulk>) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            collect_in_full(b, inner);
        }
        if let BulkOp::Loop { init, body, .. } = &mut stmt.op {
            let states = init.len();
            b.enter();
            for value in &mut body.results[states..] {
                if !matches!(b.program.elem(*value), Elem::Index(_)) {
                    *value = in_full(b, *value);
                }
            }
            body.stmts.extend(b.leave().primal);
        }
        b.learn(stmt);
    }
}

/// A value, or zero where it says nothing, if a condition beside it says where that is.
pub(super) fn in_full(b: &mut Builder, value: ValueId) -> ValueId {
    let dims = b.dims(value);
    let beside = |cond: ValueId| b.dims(cond).iter().all(|axis| dims.contains(axis));
    if !b.conditions(value).is_some_and(|mut all| all.all(beside)) {
        return value;
    }
    let Some(there) = b.where_said(value) else {
        return value;
    };
    b.behind(None, |b| {
        // There may be no member for where it says nothing.
        let value = match b.program.elem(value) {
            Elem::Index(_) | Elem::Bound(_) => b.map(Prim::Cast(Scalar::Usize), &[value]),
            Elem::Scalar(_) => value,
        };
        b.masked(Some(there), value)
    })
}

/// A stem that no parameter or size begins with.
fn unused(program: &Program<Bulk>, stem: &str) -> String {
    let params = program.params.iter().map(|param| &param.name);
    let names: Vec<_> = params
        .chain(program.sizes.iter().map(|size| &size.name))
        .collect();
    let mut stem = stem.to_owned();
    while names.iter().any(|name| name.starts_with(&stem)) {
        stem.push('_');
    }
    stem
}

struct Plan<'p> {
    b: &'p Builder,
    body: &'p Block<Bulk>,
    /// What needs the later parameters.
    late: ValueSet,
    /// Which statement defines a value.
    defined: ValueMap<usize>,
    /// What each statement reads.
    reads: Vec<Values>,
    kept: ValueSet,
    /// Statements that both run.
    again: BTreeSet<usize>,
    /// What the second knows already.
    at_hand: ValueSet,
}

impl<'p> Plan<'p> {
    fn new(b: &'p Builder, body: &'p Block<Bulk>, params: usize) -> Self {
        let laters = &b.program.params[params..];
        let mut plan = Self {
            b,
            body,
            late: laters.iter().map(|param| param.value).collect(),
            defined: ValueMap::default(),
            reads: Vec::new(),
            kept: ValueSet::new(),
            again: BTreeSet::new(),
            at_hand: ValueSet::new(),
        };
        for (number, stmt) in body.stmts.iter().enumerate() {
            let reads = reads(&b.program, stmt);
            if reads.iter().any(|value| plan.late.contains(value)) {
                plan.late.extend(&stmt.results);
            }
            plan.reads.push(reads);
            for &result in &stmt.results {
                plan.defined.insert(result, number);
            }
        }
        plan
    }

    /// With all that the second program needs, whose results these are.
    fn made(mut self, results: &[ValueId]) -> Self {
        for (number, stmt) in self.body.stmts.iter().enumerate() {
            if stmt.results.iter().any(|result| self.late.contains(result)) {
                for value in self.reads[number].clone() {
                    self.provide(value);
                }
            }
        }
        for &value in results {
            self.provide(value);
        }
        self
    }

    /// Makes a value of the first program known in the second.
    fn provide(&mut self, value: ValueId) {
        let Some(&number) = self.defined.get(&value) else {
            return;
        };
        if self.late.contains(&value) || !self.at_hand.insert(value) {
            return;
        }
        let guard = self.body.stmts[number].guard;
        let b = self.b;
        // A parameter has sizes that are known at entry, and is a member of some set everywhere.
        let is_ragged = !Bulk::type_extents(&b.program, value).is_empty();
        let is_number = matches!(b.program.elem(value), Elem::Scalar(_));
        let fits = !is_ragged
            && (is_number || guard.is_some() || b.is_specified(value))
            && b.conditions(value)
                .is_some_and(|mut all| all.all(|cond| self.stands_beside(cond, value)));
        if !fits || self.follows(number, &mut { AGAIN }).is_some() {
            self.run(number);
            return;
        }
        if let Some(guard) = guard {
            self.provide(guard);
        }
        self.kept.insert(value);
    }

    /// Whether a condition is known where a value is, no value of a block inside, and for all lanes
    /// of the value the same.
    fn stands_beside(&self, cond: ValueId, value: ValueId) -> bool {
        let params = &self.b.program.params;
        let is_here =
            self.defined.contains_key(&cond) || params.iter().any(|param| param.value == cond);
        let dims = self.b.dims(value);
        is_here && self.b.dims(cond).iter().all(|axis| dims.contains(axis))
    }

    /// Takes the cheap statements that a value needs to be computed of parameters from what is left
    /// of a budget.
    fn follows(&self, number: usize, left: &mut u32) -> Option<()> {
        *left = left.checked_sub(1)?;
        if !is_cheap(&self.b.program, &self.body.stmts[number].op) {
            return None;
        }
        for value in &self.reads[number] {
            if let Some(&before) = self.defined.get(value)
                && !self.again.contains(&before)
            {
                self.follows(before, left)?;
            }
        }
        Some(())
    }

    fn run(&mut self, number: usize) {
        if !self.again.insert(number) {
            return;
        }
        self.at_hand.extend(&self.body.stmts[number].results);
        for value in self.reads[number].clone() {
            self.provide(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonicalize::{cse, dce, simplify};
    use crate::differentiate::dual;
    use crate::eval::compare::{Tolerance, difference};
    use crate::eval::{Data, EvalError, Evaluate, Inputs, run_limited};
    use crate::ir::stages::point::Point;
    use crate::ir::verify::verify;
    use crate::ir::{Extent, Mode};
    use crate::testing::agreement::on_small_device;
    use crate::testing::source::{inputs_of, lowered};
    use crate::testing::{
        Options, Rng, derivative, differentiated, random_seeds, random_smooth, twice,
    };

    const STEPS: u64 = 2_000_000;

    /// How many values are kept of a program's linear map; what is wrong with it. None if the
    /// program says nothing.
    fn checked(
        program: &Program<Point>,
        inputs: &Inputs,
        seed: u64,
    ) -> Result<Option<usize>, String> {
        let shaped = |value: &ValueId| {
            let computed = |dim: &Extent| matches!(dim, Extent::Value(_));
            program.ty(*value).dims.iter().any(computed)
        };
        if program.body.results.iter().any(shaped) {
            return Ok(None);
        }
        let whole = differentiated(&derivative(program, Mode::Tangent), dual);
        let early = (program.params.len(), program.body.results.len());
        let rng = &mut Rng::new(seed);
        let mut all = inputs.clone();
        all.params.extend(random_seeds(&inputs.params, rng));
        let expected = match run_limited(&whole, &all, STEPS) {
            Ok((results, _)) => results,
            Err(EvalError::Bug(what)) => return Err(what),
            Err(_) => return Ok(None),
        };
        let text = crate::ir::print(&whole);
        let staged = staged(whole, early).ok_or("the value needs the tangents")?;
        let tidy = |program| dce(cse(simplify(program)));
        let (first, second) = (tidy(staged.first), tidy(staged.second));
        let show = |what: String| {
            let (first, second) = (crate::ir::print(&first), crate::ir::print(&second));
            format!("{what}\n{text}\n{first}\n{second}")
        };
        verify(&first).map_err(|error| show(error.to_string()))?;
        verify(&second).map_err(|error| show(error.to_string()))?;
        let same = |found: Vec<Data>| {
            let mut pairs = expected.iter().zip(&found);
            let differ = pairs.find_map(|(a, b)| difference(a, b, Tolerance::default()));
            differ.map_or(Ok(()), Err)
        };
        let given = run_both(&first, &second, (inputs, &all), early.1);
        given.and_then(same).map_err(show)?;
        let on_device = |program: &Program<Bulk>| on_small_device(program.clone()).map_err(show);
        let there = [on_device(&first)?, on_device(&second)?];
        let given = run_both(&there[0], &there[1], (inputs, &all), early.1);
        given.and_then(same).map_err(show)?;
        Ok(Some(staged.kept))
    }

    /// What two programs give together, of which the second is given what the first gives after so
    /// many results.
    fn run_both<S: Evaluate>(
        first: &Program<S>,
        second: &Program<S>,
        (early, late): (&Inputs, &Inputs),
        own: usize,
    ) -> Result<Vec<Data>, String> {
        let run = |program, inputs| {
            let run = run_limited(program, inputs, 50 * STEPS);
            run.map(|(results, _)| results)
                .map_err(|error| error.to_string())
        };
        let mut found = run(first, early)?;
        let mut late = late.clone();
        late.params.extend(found.split_off(own));
        found.extend(run(second, &late)?);
        Ok(found)
    }

    fn some_keep(seeds: std::ops::Range<u64>, program: impl Fn(u64) -> (Program<Point>, Inputs)) {
        let (total, mut keep) = (seeds.end - seeds.start, 0);
        for seed in seeds {
            let (program, inputs) = program(seed);
            match checked(&program, &inputs, seed) {
                Ok(kept) => keep += u64::from(kept.is_some_and(|kept| kept > 0)),
                Err(what) => panic!("seed {seed}: {what}"),
            }
        }
        assert!(keep * 20 > total, "{keep} of {total} keep something");
    }

    #[test]
    fn random_programs_in_two_give_the_same() {
        some_keep(0..300, |seed| random_smooth(seed, Options::default()));
    }

    #[test]
    fn random_functions_in_two_give_the_same() {
        some_keep(0..60, |seed| {
            let asked = twice::Asked {
                seed,
                ..twice::Asked::default()
            };
            let program = lowered(&twice::Written::new(&asked).function);
            let sizes = program.sizes.iter().map(|_| 3).collect();
            let inputs = inputs_of(&program, sizes, &mut Rng::new(seed));
            (program, inputs)
        });
    }
}

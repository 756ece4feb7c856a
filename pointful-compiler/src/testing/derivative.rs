//! Checks derivatives: against finite differences, forward against backward (the adjoint law), and
//! counts what they cost.

use super::random::{Options, random_point};
use super::rng::Rng;
use crate::canonicalize::{cse, dce, simplify};
use crate::eval::{Counts, Data, EvalError, Inputs, ScalarValue, run_limited};
use crate::ir::print::print;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::verify::{verify, verify_after};
use crate::ir::{self, Block, Elem, Extent, Mode, Param, Program, SpanId, Stmt, ValueId};
use crate::{contract, differentiate, expand};

/// Steps that a program may take, and its derivative.
const STEPS: u64 = 2_000_000;

/// The program that gives the results of another, and its derivative with respect to all its float
/// parameters.
///
/// Parameters: those of the other, then the seeds: a tangent for each float parameter, or a
/// cotangent for each float result. Results: those of the other, then a tangent for each float
/// result, or a cotangent for each float parameter.
pub fn derivative(program: &Program<Point>, mode: Mode) -> Program<Point> {
    let mut out = program.clone();
    let mut body = std::mem::take(&mut out.body);
    let mut args = Vec::new();
    for param in &mut out.params {
        let ty = out.values[param.value.index()].ty.clone();
        if !ty.elem.is_float() {
            continue;
        }
        let outer = ValueId(out.values.len() as u32);
        out.values.push(crate::ir::Value {
            ty,
            name: Some(param.name.clone()),
            span: SpanId::NONE,
        });
        body.params.push(param.value);
        args.push(outer);
        param.value = outer;
        param.owned = false;
    }
    let floats = out.floats(&body.results);
    let (seeded, given) = match mode {
        Mode::Tangent => (args.clone(), floats),
        Mode::Cotangent => (floats, args.clone()),
    };
    let seeds: Vec<ValueId> = seeded
        .iter()
        .enumerate()
        .map(|(k, &of)| {
            let ty = out.ty(of).clone();
            let value = out.value(ty, SpanId::NONE);
            let name = format!("seed{k}");
            out.params.push(Param {
                name,
                value,
                owned: false,
            });
            value
        })
        .collect();
    let results: Vec<ValueId> = [body.results.clone(), given]
        .concat()
        .into_iter()
        .map(|of| {
            let ty = out.ty(of).clone();
            out.value(ty, SpanId::NONE)
        })
        .collect();
    let op = PointOp::Derive {
        mode,
        args,
        seeds,
        body: Box::new(body),
    };
    out.body = Block {
        params: Vec::new(),
        stmts: vec![Stmt::new(results.clone(), op, SpanId::NONE)],
        results,
    };
    out
}

/// A program as it is just before it is scheduled.
pub fn expanded(program: &Program<Point>) -> Program<Bulk> {
    differentiated(program, differentiate::derive)
}

/// A program as it is just before it is scheduled, with derivatives taken by this pass.
pub fn differentiated(
    program: &Program<Point>,
    derive: fn(Program<Bulk>) -> Program<Bulk>,
) -> Program<Bulk> {
    let point = dce(cse(simplify(program.clone())));
    let tidy = |bulk| dce(cse(simplify(bulk)));
    let bulk = expand::loop_interchange(tidy(expand::expand(point)));
    let derived = derive(tidy(bulk));
    // What is dead is tidied away, whatever it reads.
    verify_after("derive", &derived);
    let sparse = differentiate::sparse(tidy(derived));
    verify_after("sparse", &sparse);
    tidy(sparse)
}

/// What a check found.
#[derive(Clone, Debug)]
pub enum Checked {
    /// All is well; the operations of the function, of its tangent and of its cotangents.
    Fine([Counts; 3]),
    /// The program says nothing, for this reason.
    Unsuitable(String),
}

/// Checks the derivatives of a program at a point.
///
/// # Errors
/// What is wrong, with the programs.
pub fn check_derivative(
    program: &Program<Point>,
    inputs: &Inputs,
    seed: u64,
) -> Result<Checked, String> {
    let rng = &mut Rng::new(seed);
    let unsuitable = |why: &str| Ok(Checked::Unsuitable(why.to_owned()));
    let shaped = |value: &ValueId| {
        let computed = |dim: &Extent| matches!(dim, Extent::Value(_));
        program.ty(*value).dims.iter().any(computed)
    };
    if program.body.results.iter().any(shaped) {
        return unsuitable("a result's shape is computed inside");
    }
    let primal = expanded(program);
    let (values, cost) = match run_limited(&primal, inputs, STEPS) {
        Ok(done) => done,
        Err(error) => return unsuitable(&error.to_string()),
    };
    let finite = |data: &Data| {
        data.values
            .iter()
            .all(|v| v.float().is_none_or(f64::is_finite))
    };
    if !values.iter().all(finite) {
        return unsuitable("not finite");
    }
    let tangents = random_seeds(&inputs.params, rng);
    let cotangents = random_seeds(&values, rng);
    if tangents.is_empty() || cotangents.is_empty() {
        return unsuitable("no floats");
    }
    let run = |mode: Mode, seeds: &[Data], derive| {
        let program = differentiated(&derivative(program, mode), derive);
        let shown = || format!("{}\n", print(&program));
        let mut inputs = inputs.clone();
        inputs.params.extend_from_slice(seeds);
        let done = run_scheduled(&program, &inputs);
        let done = done.map_err(|error| format!("{}, {error}", mode.name()))?;
        let Some((results, counts)) = done else {
            return Err(format!("{}: endless", mode.name()));
        };
        let (own, given) = results.split_at(values.len());
        for (a, b) in values.iter().zip(own) {
            if let Some(difference) = crate::eval::compare::difference(a, b, Default::default()) {
                return Err(format!(
                    "{}: another value: {difference}\n{}",
                    mode.name(),
                    shown()
                ));
            }
        }
        Ok((given.to_vec(), counts, shown()))
    };
    let (forward, forward_cost, forward_text) =
        run(Mode::Tangent, &tangents, differentiate::derive)?;
    let (apart, _, apart_text) = run(Mode::Tangent, &tangents, differentiate::dual)?;
    for (a, b) in forward.iter().zip(&apart) {
        if let Some(difference) = crate::eval::compare::difference(a, b, Default::default()) {
            return Err(format!(
                "tangents apart: {difference}\n{forward_text}\n{apart_text}"
            ));
        }
    }
    let (backward, backward_cost, backward_text) =
        run(Mode::Cotangent, &cotangents, differentiate::derive)?;
    if !forward.iter().chain(&backward).all(finite) {
        return unsuitable("a derivative is not finite");
    }
    let single = |info: &ir::Value<Extent>| info.ty.elem == Elem::Scalar(ir::Scalar::F32);
    let tolerance = if program.values.iter().any(single) {
        2e-3
    } else {
        1e-8
    };
    let (left, left_scale) = dot(&cotangents, &forward);
    let (right, right_scale) = dot(&tangents, &backward);
    let scale = left_scale + right_scale + 1e-7;
    if (left - right).abs() > tolerance * scale {
        return Err(format!(
            "forward gives {left}, backward {right}\n{forward_text}\n{backward_text}"
        ));
    }
    // Differences at several distances must agree with each other before they can disagree with anything else.
    let mut slopes = Vec::new();
    let mut largest = 0.0_f64;
    for h in [1e-4, 1e-5, 1e-6] {
        let ends = [h, -h].map(|h| {
            let inputs = moved(inputs, &tangents, h);
            let (mut results, _) = run_limited(&primal, &inputs, STEPS).ok()?;
            results.retain(|data| data.elem.is_float());
            Some(dot(&cotangents, &results))
        });
        let [Some(ahead), Some(behind)] = ends else {
            return Ok(Checked::Fine([cost, forward_cost, backward_cost]));
        };
        slopes.push((ahead.0 - behind.0) / (2.0 * h));
        largest = largest.max(ahead.1).max(behind.1);
    }
    let bound = 1e-4 * (left_scale + 1.0);
    let smooth = slopes.iter().all(|slope| (slope - slopes[1]).abs() < bound);
    // Of very large numbers even the widest difference is what rounding makes it.
    let rounded = largest * f64::EPSILON / 1e-4 > bound;
    if smooth && !rounded && tolerance < 1e-6 && (slopes[1] - left).abs() > 10.0 * bound {
        return Err(format!(
            "differences give {slopes:?}, the derivative is {left}\n{forward_text}"
        ));
    }
    Ok(Checked::Fine([cost, forward_cost, backward_cost]))
}

/// Checks the second derivative of a program in two directions. Taken forwards and backwards in
/// each order it is the same number, which differences of the gradient give, too. That number, if
/// it says anything.
///
/// # Errors
/// What is wrong.
pub fn check_second_derivative(
    program: &Program<Point>,
    inputs: &Inputs,
    seed: u64,
) -> Result<Option<f64>, String> {
    let rng = &mut Rng::new(seed);
    let computed = |dim: &Extent| matches!(dim, Extent::Value(_));
    let mut results = program.body.results.iter();
    if results.any(|&result| program.ty(result).dims.iter().any(computed)) {
        return Ok(None);
    }
    let Ok((values, _)) = run_limited(&expanded(program), inputs, STEPS) else {
        return Ok(None);
    };
    let [u, v] = [(); 2].map(|()| random_seeds(&inputs.params, rng));
    let w = random_seeds(&values, rng);
    if u.is_empty() || w.is_empty() {
        return Ok(None);
    }
    let mut numbers = Vec::new();
    for first in [Mode::Tangent, Mode::Cotangent] {
        let mut taken = derivative(program, first);
        // The next derivative has seeds as well.
        for (k, param) in taken.params[inputs.params.len()..].iter_mut().enumerate() {
            param.name = format!("direction{k}");
        }
        // What the first derivative is given, and what is given it for: the inner product of that
        // and what it gives is a number.
        let (given, paired) = match first {
            Mode::Tangent => (&u, &w),
            Mode::Cotangent => (&w, &u),
        };
        for second in [Mode::Tangent, Mode::Cotangent] {
            let seeds = match second {
                Mode::Tangent => [v.clone(), zeros(given)].concat(),
                Mode::Cotangent => [zeros(&w), paired.clone()].concat(),
            };
            let mut inputs = inputs.clone();
            inputs.params.extend(given.iter().chain(&seeds).cloned());
            let results = run_scheduled(&expanded(&derivative(&taken, second)), &inputs)
                .map_err(|error| format!("{} of {}: {error}", second.name(), first.name()))?;
            let Some((results, _)) = results else {
                return Ok(None);
            };
            let number = match second {
                Mode::Tangent => dot(&results[results.len() - paired.len()..], paired),
                Mode::Cotangent => {
                    let own = results.len() - v.len() - given.len();
                    dot(&results[own..][..v.len()], &v)
                }
            };
            numbers.push(number);
        }
    }
    let scale = numbers.iter().map(|number| number.1).fold(1e-6, f64::max);
    let all: Vec<f64> = numbers.iter().map(|number| number.0).collect();
    if !all.iter().all(|number| number.is_finite()) {
        return Ok(None);
    }
    if all
        .iter()
        .any(|number| (number - all[0]).abs() > 1e-7 * scale)
    {
        return Err(format!(
            "forwards, backwards over forwards, and the same backwards: {all:?}"
        ));
    }
    let gradient = expanded(&derivative(program, Mode::Cotangent));
    let at = |h: f64| {
        let mut inputs = moved(inputs, &v, h);
        inputs.params.extend(w.iter().cloned());
        let (results, _) = run_limited(&gradient, &inputs, STEPS * 20).ok()?;
        Some(dot(&results[results.len() - u.len()..], &u).0)
    };
    let mut slopes = Vec::new();
    for h in [1e-4, 1e-5, 1e-6] {
        let (Some(ahead), Some(behind)) = (at(h), at(-h)) else {
            return Ok(Some(all[0]));
        };
        slopes.push((ahead - behind) / (2.0 * h));
    }
    let bound = 1e-4 * (scale + 1.0);
    let smooth = slopes.iter().all(|slope| (slope - slopes[1]).abs() < bound);
    if smooth && (slopes[1] - all[0]).abs() > 10.0 * bound {
        return Err(format!(
            "differences give {slopes:?}, derivatives {}",
            all[0]
        ));
    }
    Ok(Some(all[0]))
}

fn zeros(of: &[Data]) -> Vec<Data> {
    let zeros = of.iter().map(|data| {
        let zero = ScalarValue::from_float(data.elem, 0.0);
        Data::new(data.elem, data.shape.clone(), vec![zero; data.values.len()])
    });
    zeros.collect()
}

/// What a program gives as definitions, and what that costs, if it gives the same as it is
/// scheduled; none if that is too much work.
fn run_scheduled(
    program: &Program<Bulk>,
    inputs: &Inputs,
) -> Result<Option<(Vec<Data>, Counts)>, String> {
    let shown = || print(program);
    verify(program).map_err(|error| format!("invalid: {error}\n{}", shown()))?;
    let (results, counts) = match run_limited(program, inputs, STEPS * 20) {
        Ok(done) => done,
        Err(EvalError::StepLimit) => return Ok(None),
        Err(error) => return Err(format!("{error}\n{}", shown())),
    };
    let handed = dce(simplify(contract::predicate_updates(program.clone())));
    verify(&handed).map_err(|error| format!("handed on: invalid: {error}\n{}", shown()))?;
    let uniform = contract::uniform_values(handed);
    verify(&uniform).map_err(|error| format!("uniform: invalid: {error}\n{}", shown()))?;
    let kernels = contract::scalar_replacement(contract::schedule::schedule(dce(uniform)));
    verify(&kernels).map_err(|error| format!("scheduled: invalid: {error}\n{}", shown()))?;
    let (scheduled, _) = run_limited(&kernels, inputs, STEPS * 20)
        .map_err(|error| format!("scheduled: {error}\n{}", shown()))?;
    for (a, b) in results.iter().zip(&scheduled) {
        if let Some(difference) = crate::eval::compare::difference(a, b, Default::default()) {
            return Err(format!(
                "scheduled: another value: {difference}\n{}\n{}",
                shown(),
                print(&kernels)
            ));
        }
    }
    Ok(Some((results, counts)))
}

/// A random program, and inputs that are on no kink of it.
pub fn random_smooth(seed: u64, options: Options) -> (Program<Point>, Inputs) {
    let (program, mut inputs) = random_point(seed, options);
    // Multiples of an eighth lie on kinks.
    let rng = &mut Rng::new(seed);
    for data in &mut inputs.params {
        for value in &mut data.values {
            if let Some(x) = value.float() {
                *value = ScalarValue::from_float(data.elem, x + 0.01 * unit(rng));
            }
        }
    }
    (program, inputs)
}

/// A tangent for each of the parameters that are floats, or a cotangent for each of the results.
pub fn random_seeds(of: &[Data], rng: &mut Rng) -> Vec<Data> {
    let floats = of.iter().filter(|data| data.elem.is_float());
    floats.map(|data| random_like(data, rng)).collect()
}

/// Checks the derivatives of random programs.
///
/// # Panics
/// If one is wrong, with the program.
pub fn check_derivatives(seeds: std::ops::Range<u64>, options: Options) {
    let total = seeds.end - seeds.start;
    let mut fine = 0;
    for seed in seeds {
        let (program, inputs) = random_smooth(seed, options);
        match check_derivative(&program, &inputs, seed) {
            Ok(Checked::Fine(_)) => fine += 1,
            Ok(Checked::Unsuitable(_)) => {}
            Err(message) => panic!("seed {seed}: {message}\n\n{}", print(&program)),
        }
    }
    assert!(
        fine * 3 > total,
        "only {fine} of {total} programs could be checked"
    );
}

fn unit(rng: &mut Rng) -> f64 {
    rng.between(-1_000_000, 1_000_000) as f64 / 1_000_003.0
}

fn random_like(data: &Data, rng: &mut Rng) -> Data {
    let values = data
        .values
        .iter()
        .map(|_| ScalarValue::from_float(data.elem, unit(rng)));
    Data::new(data.elem, data.shape.clone(), values.collect())
}

/// The inner product, and the sum of its terms' magnitudes.
fn dot(a: &[Data], b: &[Data]) -> (f64, f64) {
    let mut sum = (0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        for (a, b) in a.values.iter().zip(&b.values) {
            let term = a.float().unwrap_or(0.0) * b.float().unwrap_or(0.0);
            sum.0 += term;
            sum.1 += term.abs();
        }
    }
    sum
}

fn moved(inputs: &Inputs, tangents: &[Data], h: f64) -> Inputs {
    let mut inputs = inputs.clone();
    let floats = inputs.params.iter_mut().filter(|data| data.elem.is_float());
    for (data, tangent) in floats.zip(tangents) {
        for (value, step) in data.values.iter_mut().zip(&tangent.values) {
            let x = value.float().unwrap_or(0.0) + h * step.float().unwrap_or(0.0);
            *value = ScalarValue::from_float(data.elem, x);
        }
    }
    inputs
}

//! Transformations of random programs, one around the other: derivatives of derivatives,
//! derivatives in parallel loops, Jacobians.
//!
//! What comes out is a program of Point again, whose derivatives can be checked as those of any
//! other are.

use super::derivative::{derivative, random_seeds};
use super::rng::Rng;
use crate::eval::{Data, Inputs, run_limited};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Elem, Extent, Mode, Program, SpanId, Stmt, Type, ValueId};

/// How many of what is mapped over.
const MAPPED: u64 = 2;

/// Steps that a program may take.
const STEPS: u64 = 1_000_000;

/// A derivative of a program, perhaps in a parallel loop over all that it is given, or over the
/// directions alone, as in a Jacobian; and inputs for it. None if the program does not run, or
/// computes how large its results are.
pub fn transformed(
    program: &Program<Point>,
    inputs: &Inputs,
    rng: &mut Rng,
) -> Option<(Program<Point>, Inputs)> {
    let computed = |dim: &Extent| matches!(dim, Extent::Value(_));
    let mut results = program.body.results.iter();
    if results.any(|&result| program.ty(result).dims.iter().any(computed)) {
        return None;
    }
    let mode = rng.pick(&[Mode::Tangent, Mode::Cotangent]);
    let seeds = match mode {
        Mode::Tangent => random_seeds(&inputs.params, rng),
        Mode::Cotangent => random_seeds(&run_limited(program, inputs, STEPS).ok()?.0, rng),
    };
    let mut taken = derivative(program, mode);
    // The next derivative has seeds as well.
    for (k, param) in taken.params[inputs.params.len()..].iter_mut().enumerate() {
        param.name = format!("direction{k}");
    }
    let mut inputs = inputs.clone();
    let own = inputs.params.len();
    inputs.params.extend(seeds);
    let first = match rng.below(3) {
        0 => return Some((taken, inputs)),
        1 => own,
        _ => 0,
    };
    let mapped = mapped(taken, first);
    for (param, data) in mapped.params[first..]
        .iter()
        .zip(&mut inputs.params[first..])
    {
        if mapped.elem(param.value).is_float() {
            *data = stacked(data, rng);
        }
    }
    Some((mapped, inputs))
}

/// So many of the same shape, the first of which is this.
fn stacked(data: &Data, rng: &mut Rng) -> Data {
    let others = (1..MAPPED).flat_map(|_| random_seeds(std::slice::from_ref(data), rng));
    let mut values = data.values.clone();
    values.extend(others.flat_map(|data| data.values));
    let shape = [&[MAPPED as usize], &data.shape[..]].concat();
    Data::new(data.elem, shape, values)
}

/// A program for each of some of what its float parameters are, from one of them on.
fn mapped(mut program: Program<Point>, first: usize) -> Program<Point> {
    let extent = Extent::Const(MAPPED);
    let mut body = std::mem::take(&mut program.body);
    let index = program.value(Type::scalar(Elem::Index(extent)), SpanId::NONE);
    let longer = |program: &mut Program<Point>, value: ValueId| {
        let mut ty = program.ty(value).clone();
        ty.dims.insert(0, extent);
        program.value(ty, SpanId::NONE)
    };
    let mut reads = Vec::new();
    for k in first..program.params.len() {
        let own = program.params[k].value;
        if program.elem(own).is_float() {
            let table = longer(&mut program, own);
            program.params[k].value = table;
            program.params[k].owned = false;
            let indices = vec![index];
            reads.push(Stmt::new(
                vec![own],
                PointOp::Index { table, indices },
                SpanId::NONE,
            ));
        }
    }
    body.stmts.splice(..0, reads);
    body.params = vec![index];
    let yields = body.results.clone();
    let results: Vec<ValueId> = yields.iter().map(|&of| longer(&mut program, of)).collect();
    let body = Box::new(body);
    let op = PointOp::For { extent, body };
    program.body = Block {
        params: Vec::new(),
        stmts: vec![Stmt::new(results.clone(), op, SpanId::NONE)],
        results,
    };
    program
}

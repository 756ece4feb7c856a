//! Calls of transformed functions: the function runs inside a derivative, or a loop.

use std::rc::Rc;

use super::computed::has_computed_length;
use super::value::{Linear, Space, Transformed, Val};
use super::{Elab, Run};
use crate::diag::transform as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Lit, Mode, SpanId, Type, ValueId};
use crate::lower::hir::{self, Derivative};
use crate::lower::types::Ty;
use crate::ops::Prim;

/// Arguments, the parameters that stand for their floats, and what these are outside.
pub(super) struct Inside<'a> {
    pub(super) args: Vec<Val<'a>>,
    pub(super) params: Vec<ValueId>,
    pub(super) points: Vec<ValueId>,
}

/// Which derivatives are asked for.
#[derive(Clone, Copy)]
pub(super) struct Block<'b, 'a> {
    /// By these parameters.
    pub(super) wrt: &'b [usize],
    /// Of these parts of the result that have derivatives; `None`: of the whole.
    pub(super) parts: Option<&'b [usize]>,
    /// The whole result, if it was evaluated outside already.
    pub(super) result: Option<&'b Val<'a>>,
}

impl<'b, 'a> Block<'b, 'a> {
    fn of(f: &'b Transformed<'_>) -> Self {
        Block {
            wrt: &f.code.wrt,
            parts: None,
            result: None,
        }
    }
}

impl<'a> Elab<'a> {
    pub(super) fn transform(&mut self, code: &'a hir::Transform, span: SpanId) -> Run<Val<'a>> {
        let of = self.eval(&code.of)?;
        let space = match &code.derivative {
            Derivative::Map(set) => Some(self.space(set, span)?),
            _ => None,
        };
        let parts = self.differentiable_parts(&code.result);
        let computed = has_computed_length(&self.ty(&code.result));
        Ok(Val::Transformed(Rc::new(Transformed {
            code,
            of,
            space,
            parts,
            computed,
        })))
    }

    /// Which parts of a tuple have derivatives; everything else is one.
    pub(super) fn differentiable_parts(&self, result: &Ty) -> Option<Vec<bool>> {
        match self.ty(result) {
            Ty::Tuple(parts) => Some(parts.iter().map(|part| self.has_floats(part)).collect()),
            _ => None,
        }
    }

    fn has_floats(&self, ty: &Ty) -> bool {
        match self.ty(ty) {
            Ty::Scalar(scalar) => scalar.is_float(),
            Ty::Float(_) => true,
            Ty::Table(_, elem) => self.has_floats(&elem),
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().any(|part| self.has_floats(part))
            }
            Ty::Option(held) => self.has_floats(&held),
            Ty::Either(sides) => sides.iter().any(|side| self.has_floats(side)),
            _ => false,
        }
    }

    pub(super) fn call_transformed(
        &mut self,
        f: &Rc<Transformed<'a>>,
        mut args: Vec<Val<'a>>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let seeds = args.split_off(f.code.arity.min(args.len()));
        match &f.code.derivative {
            Derivative::Gradient { value } => {
                let (result, gradient) = self.derive(
                    f,
                    &args,
                    Block::of(f),
                    Mode::Cotangent,
                    span,
                    |s, floats| {
                        let one = |s: &mut Self, &float: &ValueId| {
                            let scalar = s.program.elem(float).repr();
                            Ok(s.lit(Lit::of(scalar, 1.0), span))
                        };
                        floats.iter().map(|float| one(s, float)).collect()
                    },
                )?;
                let gradient = bundle(gradient);
                Ok(if *value {
                    Val::Tuple(vec![result, gradient])
                } else {
                    gradient
                })
            }
            Derivative::Cotangent => {
                let (result, cotangents) =
                    self.derive(f, &args, Block::of(f), Mode::Cotangent, span, |s, _| {
                        s.seeds(&seeds, span)
                    })?;
                Ok(Val::Tuple(vec![result, bundle(cotangents)]))
            }
            Derivative::Tangent => {
                let (result, tangent) = self.tangent(f, &args, &seeds, span)?;
                Ok(Val::Tuple(vec![result, tangent]))
            }
            Derivative::TangentAlone => {
                if self.only_backwards(f, &args, span)?.is_none() {
                    return Ok(self.tangent(f, &args, &seeds, span)?.1);
                }
                // Gradients have symmetric derivatives.
                let seeds = |s: &mut Self, _: &[ValueId]| s.seeds(&seeds, span);
                let (_, products) =
                    self.derive(f, &args, Block::of(f), Mode::Cotangent, span, seeds)?;
                Ok(bundle(products))
            }
            Derivative::Linearize => {
                let result = self.apply(&f.of, args.clone(), span)?;
                let map = Linear {
                    of: f.clone(),
                    args,
                };
                Ok(Val::Tuple(vec![result, Val::Linear(Rc::new(map))]))
            }
            Derivative::Jacobian => self.jacobian(f, &args, span),
            Derivative::Map(_) => self.map_over(f, &args, span),
        }
    }

    /// Applies a linear map.
    pub(super) fn call_linear(
        &mut self,
        map: &Linear<'a>,
        tangents: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        Ok(self.tangent(&map.of, &map.args, tangents, span)?.1)
    }

    /// The floats among the leaves of tangents or cotangents.
    fn seeds(&mut self, seeds: &[Val<'a>], span: SpanId) -> Run<Vec<ValueId>> {
        let mut all = Vec::new();
        for seed in seeds {
            let leaves = self.leaves(seed, span)?;
            all.extend(self.program.floats(&leaves));
        }
        Ok(all)
    }

    /// The result, and the tangents of the parts of it that have one.
    fn tangent(
        &mut self,
        f: &Rc<Transformed<'a>>,
        args: &[Val<'a>],
        tangents: &[Val<'a>],
        span: SpanId,
    ) -> Run<(Val<'a>, Val<'a>)> {
        let (result, mut tangents) =
            self.derive(f, args, Block::of(f), Mode::Tangent, span, |s, _| {
                s.seeds(tangents, span)
            })?;
        let whole = tangents.pop().unwrap_or(Val::Tuple(Vec::new()));
        Ok((result, bundle(self.parts(f, whole))))
    }

    /// The parts of a result that have derivatives.
    pub(super) fn parts(&self, f: &Transformed<'a>, result: Val<'a>) -> Vec<Val<'a>> {
        kept(f.parts.as_deref(), result)
    }

    /// Runs the function inside a derivative. Gives what is asked for of its result and, for
    /// cotangents, one value for each parameter that is differentiated; for tangents, one like the
    /// result. What has no derivative in a tuple or struct stays what it is.
    pub(super) fn derive(
        &mut self,
        f: &Transformed<'a>,
        args: &[Val<'a>],
        of: Block<'_, 'a>,
        mode: Mode,
        span: SpanId,
        seeds: impl FnOnce(&mut Self, &[ValueId]) -> Run<Vec<ValueId>>,
    ) -> Run<(Val<'a>, Vec<Val<'a>>)> {
        let outside = self.known_outside(f, args, of, span)?;
        let Inside {
            args: inner,
            params,
            points,
        } = self.inside(args, of.wrt, span)?;
        self.begin(&params);
        let backwards = usize::from(mode == Mode::Cotangent);
        self.derivatives += 1;
        self.backwards += backwards;
        let known = self.frame.inner.clone();
        let result = self.apply(&f.of, inner, span)?;
        self.frame.inner = known;
        self.derivatives -= 1;
        self.backwards -= backwards;
        let result = self.asked_for(f, of, result);
        let mut leaves = self.leaves(&result, span)?;
        if let Some(outside) = outside {
            leaves = self.as_long_as(&leaves, &outside, span)?;
        }
        let body = self.end(leaves.clone(), say::shape_inside, span)?;
        if mode == Mode::Tangent
            && let Some(name) = self.met(&body)
        {
            return self.fail(say::only_backwards(self.at(span), &name));
        }
        let floats = self.program.floats(&leaves);
        let mut seeds = seeds(self, &floats)?;
        if mode == Mode::Cotangent && f.computed {
            seeds = self.fitting(&seeds, &floats, span)?;
        }
        let given = match mode {
            Mode::Cotangent => &points,
            Mode::Tangent => &floats,
        };
        let mut fresh = |values: &[ValueId]| -> Vec<ValueId> {
            let types: Vec<_> = values.iter().map(|&v| self.program.ty(v).clone()).collect();
            types.into_iter().map(|ty| self.fresh(ty, span)).collect()
        };
        let values = fresh(&leaves);
        let derivatives = fresh(given);
        let op = PointOp::Derive {
            mode,
            args: points.clone(),
            seeds,
            body: Box::new(body),
        };
        self.emit([values.as_slice(), &derivatives].concat(), op, span);
        let value = self.rebuild(&result, &mut values.into_iter());
        let mut derivatives = derivatives.into_iter();
        let mut parts = Vec::new();
        let shapes = match mode {
            Mode::Cotangent => of.wrt.iter().map(|&k| args[k].clone()).collect(),
            Mode::Tangent => vec![value.clone()],
        };
        for shape in shapes {
            parts.push(self.with_floats(&shape, &mut derivatives, span)?);
        }
        Ok((value, parts))
    }

    /// Arguments as a block sees them that has the floats of some of them as parameters.
    pub(super) fn inside(
        &mut self,
        args: &[Val<'a>],
        wrt: &[usize],
        span: SpanId,
    ) -> Run<Inside<'a>> {
        let mut inside = Inside {
            args: args.to_vec(),
            params: Vec::new(),
            points: Vec::new(),
        };
        for &k in wrt {
            let leaves = self.leaves(&args[k], span)?;
            let points = self.program.floats(&leaves);
            let first = inside.params.len();
            for &point in &points {
                let ty = self.program.ty(point).clone();
                inside.params.push(self.program.value(ty, span));
            }
            let mut params = inside.params[first..].iter().copied();
            inside.args[k] = self.with_floats(&args[k], &mut params, span)?;
            inside.points.extend(points);
        }
        Ok(inside)
    }

    /// A value with others for its floats, in order. What is no float stays what it is.
    pub(super) fn with_floats(
        &mut self,
        val: &Val<'a>,
        floats: &mut impl Iterator<Item = ValueId>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut leaves = self.leaves(val, span)?;
        for leaf in &mut leaves {
            if self.program.elem(*leaf).is_float()
                && let Some(float) = floats.next()
            {
                *leaf = float;
            }
        }
        Ok(self.rebuild(val, &mut leaves.into_iter()))
    }

    // ---- One more axis

    fn map_over(
        &mut self,
        f: &Rc<Transformed<'a>>,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let axes = f.space.as_ref().map(Space::axes).unwrap_or_default();
        let mut shape = None;
        let tables = self.tabulate(&axes, span, &mut |s, at| {
            let mut cells = args.to_vec();
            for &k in &f.code.wrt {
                cells[k] = s.select(&args[k], at, span)?;
            }
            let cell = s.apply(&f.of, cells, span)?;
            let leaves = s.leaves(&cell, span)?;
            shape = Some(cell);
            Ok(leaves)
        })?;
        match shape {
            Some(shape) => Ok(self.rebuild(&shape, &mut tables.into_iter())),
            None => self.bug(span, "a loop without a body"),
        }
    }

    // ---- Constants

    /// `stop_gradient(x)`
    pub(super) fn stop_gradient(&mut self, val: &Val<'a>, span: SpanId) -> Run<Val<'a>> {
        let mut stopped = Vec::new();
        for leaf in self.leaves(val, span)? {
            let Type { elem, dims } = self.program.ty(leaf).clone();
            if !elem.is_float() {
                stopped.push(leaf);
                continue;
            }
            let tables = self.tabulate(&dims, span, &mut |s, at| {
                let cell = s.select_leaf(leaf, at, span);
                Ok(vec![s.prim(Prim::StopGradient, &[cell], span)?])
            })?;
            stopped.push(tables[0]);
        }
        Ok(self.rebuild(val, &mut stopped.into_iter()))
    }
}

/// The parts of a tuple of which this is said; everything else is one part.
pub(super) fn kept<'a>(which: Option<&[bool]>, val: Val<'a>) -> Vec<Val<'a>> {
    match (which, val) {
        (Some(which), Val::Tuple(parts)) => {
            let kept = parts.into_iter().zip(which).filter(|(_, kept)| **kept);
            kept.map(|(part, _)| part).collect()
        }
        (_, whole) => vec![whole],
    }
}

/// One value by itself, several as a tuple.
pub(super) fn bundle(mut vals: Vec<Val<'_>>) -> Val<'_> {
    if vals.len() == 1 {
        vals.remove(0)
    } else {
        Val::Tuple(vals)
    }
}

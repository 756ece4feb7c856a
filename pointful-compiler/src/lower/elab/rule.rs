//! What authors say of a function's derivative: how it is computed, or that the function is to be
//! computed again for it.
//!
//! Outside of derivatives such a function is like any other.

use super::transform::{Inside, kept};
use super::value::Val;
use super::{Elab, Run};
use crate::diag::transform as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Checkpoint, Elem, Extent, Mode, SpanId, Type, ValueId};
use crate::lower::hir::{Function, Rule};

impl<'a> Elab<'a> {
    /// The body of a function, its parameters bound.
    pub(super) fn function_body(&mut self, code: &'a Function<'a>, span: SpanId) -> Run<Val<'a>> {
        if self.derivatives == 0 {
            return self.plain_body(code, span);
        }
        if let Some(rule) = &code.rule {
            return self.ruled(code, rule, span);
        }
        if code.tree.has_option("remat") {
            return self.computed_again(code, span);
        }
        self.plain_body(code, span)
    }

    /// The body without what its author says of derivatives.
    pub(super) fn plain_body(&mut self, code: &'a Function<'a>, span: SpanId) -> Run<Val<'a>> {
        match code.tree.is_extern() {
            true => self.call_extern(code, span),
            false => self.block(&code.body),
        }
    }

    /// A function with its author's derivative.
    fn ruled(&mut self, code: &'a Function<'a>, rule: &'a Rule, span: SpanId) -> Run<Val<'a>> {
        let mut args = Vec::new();
        for param in &code.params {
            args.push(match &self.frame.env[param.0 as usize] {
                Some(val) => val.clone(),
                None => return self.bug(span, "a parameter has no value"),
            });
        }
        let function = self.eval(&rule.function)?;

        let inside = self.inside(&args, &rule.wrt, span)?;
        self.begin(&inside.params);
        let result = self.block_with(code, &inside.args, span)?;
        let leaves = self.leaves(&result, span)?;
        let body = self.end(leaves.clone(), say::shape_inside, span)?;

        let floats = self.program.floats(&leaves);
        let (of, given) = match rule.mode {
            Mode::Cotangent => (&floats, &inside.points),
            Mode::Tangent => (&inside.points, &floats),
        };
        let seeds: Vec<ValueId> = of
            .iter()
            .map(|&value| {
                let ty = self.program.ty(value).clone();
                self.program.value(ty, span)
            })
            .collect();
        let again = self.inside(&args, &rule.wrt, span)?;
        self.begin(&[again.params.as_slice(), &seeds].concat());
        let seeds = self.rule_seeds(code, rule, &again, &result, &seeds, span)?;
        let derivative = self.apply(&function, [again.args, seeds].concat(), span)?;
        let derivatives = self.leaves(&derivative, span)?;
        let derivatives = self.program.floats(&derivatives);
        let same = derivatives.len() == given.len()
            && derivatives
                .iter()
                .zip(given)
                .all(|(&a, &b)| self.program.ty(a) == self.program.ty(b));
        let name = code.tree.name.to_string();
        if !same {
            let place = self.at(rule.function.span);
            return self.fail(say::rule_shape(place, &name));
        }
        let rule_block = self.end(derivatives, |span| say::rule_shape(span, &name), span)?;

        let mut values = Vec::new();
        for leaf in leaves {
            let ty = self.program.ty(leaf).clone();
            values.push(self.fresh(ty, span));
        }
        self.ruled.insert(values[0], name);
        let op = PointOp::Rule {
            mode: rule.mode,
            args: inside.points,
            body: Box::new(body),
            rule: Box::new(rule_block),
        };
        self.emit(values.clone(), op, span);
        Ok(self.rebuild(&result, &mut values.into_iter()))
    }

    /// What a rule takes beside the function's own arguments. A struct with integers among its
    /// floats has those of the value that it belongs to.
    fn rule_seeds(
        &mut self,
        code: &'a Function<'a>,
        rule: &Rule,
        again: &Inside<'a>,
        result: &Val<'a>,
        seeds: &[ValueId],
        span: SpanId,
    ) -> Run<Vec<Val<'a>>> {
        let shapes = match rule.mode {
            Mode::Tangent => rule.wrt.iter().map(|&k| again.args[k].clone()).collect(),
            Mode::Cotangent => {
                let which = self.differentiable_parts(&code.result);
                let parts = kept(which.as_deref(), result.clone());
                let mut leaves = Vec::new();
                for part in &parts {
                    leaves.extend(self.leaves(part, span)?);
                }
                if self.program.floats(&leaves).len() == leaves.len() {
                    parts
                } else {
                    kept(which.as_deref(), self.block_with(code, &again.args, span)?)
                }
            }
        };
        let mut seeds = seeds.iter().copied();
        let with = |shape| self.with_floats(shape, &mut seeds, span);
        shapes.iter().map(with).collect()
    }

    fn block_with(
        &mut self,
        code: &'a Function<'a>,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        for (param, arg) in code.params.iter().zip(args) {
            self.frame.env[param.0 as usize] = Some(arg.clone());
        }
        self.plain_body(code, span)
    }

    /// A loop of one iteration of which a derivative keeps nothing but what it begins with.
    fn computed_again(&mut self, code: &'a Function<'a>, span: SpanId) -> Run<Val<'a>> {
        let extent = Extent::Const(1);
        let index = self.program.value(Type::scalar(Elem::Index(extent)), span);
        self.begin(&[index]);
        let result = self.block(&code.body)?;
        let leaves = self.leaves(&result, span)?;
        let body = self.end(leaves.clone(), say::shape_inside, span)?;
        let mut tables = Vec::new();
        for leaf in leaves {
            let ty = self.program.ty(leaf).clone();
            tables.push(self.stacked(ty, extent, span));
        }
        let op = PointOp::Loop {
            extent,
            reverse: false,
            checkpoint: Some(Checkpoint::Every(1)),
            init: Vec::new(),
            body: Box::new(body),
        };
        self.emit(tables.clone(), op, span);
        let zero = self.usize(0, span);
        let only = self.trust(zero, extent, span)?;
        let leaves: Vec<ValueId> = tables
            .into_iter()
            .map(|table| self.select_leaf(table, &[only], span))
            .collect();
        Ok(self.rebuild(&result, &mut leaves.into_iter()))
    }
}

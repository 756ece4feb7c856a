//! Derivatives that are still to be taken: blocks that run in lanes, like those of a loop that is
//! run once.

use super::context::{AxisSet, Lift};
use super::control_flow::Lanes;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::stages::point::Point;
use crate::ir::{AxisId, Block, Elem, Mode, Stmt, ValueId};

impl Lift<'_> {
    /// `vjp` and `jvp`.
    pub(super) fn derivative(
        &mut self,
        stmt: &Stmt<Point>,
        mode: Mode,
        args: &[ValueId],
        seeds: &[ValueId],
        body: &Block<Point>,
    ) {
        let (args, params) = self.initial(args, &body.params);
        let results = self.all_dims(&stmt.results[..body.results.len()]);
        let floats = self.dims_of_floats(body, &results);
        let (of, given) = match mode {
            Mode::Tangent => (&params, &floats),
            Mode::Cotangent => (&floats, &params),
        };
        let seeds: Vec<ValueId> = seeds
            .iter()
            .zip(of)
            .map(|(&seed, dims)| {
                let seed = self.value(seed);
                self.aligned(&seed, dims)
            })
            .collect();
        let operands = [args.as_slice(), &seeds].concat();
        let dims = [params.as_slice(), &results].concat();
        let place = self.lanes(AxisSet::new(), &operands, &dims, &[body], None);
        let Lanes { lanes, placement } = place;
        let block = self.differentiable(body, &lanes, &params, &results);
        self.span = stmt.span;
        let mut types = self.types_of(&block.results);
        types.extend(match mode {
            Mode::Tangent => self.types_of(&self.out.floats(&block.results)),
            Mode::Cotangent => self.types_of(&block.params),
        });
        let all = [results.as_slice(), given].concat();
        let op = BulkOp::Derive {
            mode,
            args,
            seeds,
            shapes: of.clone(),
            lanes,
            body: Box::new(block),
        };
        let values = self.put(op, types, placement);
        self.bind_all(&stmt.results, values, all);
    }

    /// `rule`.
    pub(super) fn rule(
        &mut self,
        stmt: &Stmt<Point>,
        mode: Mode,
        args: &[ValueId],
        body: &Block<Point>,
        rule: &Block<Point>,
    ) {
        let (args, params) = self.initial(args, &body.params);
        let results = self.all_dims(&stmt.results);
        let floats = self.dims_of_floats(body, &results);
        let (of, given) = match mode {
            Mode::Tangent => (&params, &floats),
            Mode::Cotangent => (&floats, &params),
        };
        let dims = [params.as_slice(), &results].concat();
        let place = self.lanes(AxisSet::new(), &args, &dims, &[body, rule], None);
        let Lanes { lanes, placement } = place;
        let body = self.differentiable(body, &lanes, &params, &results);
        let seeded = [params.as_slice(), of].concat();
        let rule = self.differentiable(rule, &lanes, &seeded, given);
        self.span = stmt.span;
        let types = self.types_of(&body.results);
        let op = BulkOp::Rule {
            mode,
            args,
            lanes,
            body: Box::new(body),
            rule: Box::new(rule),
        };
        let values = self.put(op, types, placement);
        self.bind_all(&stmt.results, values, results);
    }

    /// A block of which a derivative is taken, with the dimensions of its parameters and results.
    fn differentiable(
        &mut self,
        block: &Block<Point>,
        lanes: &[AxisId],
        params: &[Vec<AxisId>],
        results: &[Vec<AxisId>],
    ) -> Block<Bulk> {
        self.enter();
        let outer = self.derived.replace(self.scopes.len());
        let bound = self.bind_states(&block.params, lanes, params);
        self.block(block);
        let results = block
            .results
            .iter()
            .zip(results)
            .map(|(&value, dims)| {
                let value = self.value(value);
                self.aligned(&value, dims)
            })
            .collect();
        self.derived = outer;
        self.leave(bound, results).0
    }

    fn all_dims(&mut self, values: &[ValueId]) -> Vec<Vec<AxisId>> {
        values.iter().map(|&value| self.dims(value)).collect()
    }

    fn dims_of_floats(&self, block: &Block<Point>, dims: &[Vec<AxisId>]) -> Vec<Vec<AxisId>> {
        let results = block.results.iter().zip(dims);
        results
            .filter(|(value, _)| self.point.elem(**value).is_float())
            .map(|(_, dims)| dims.clone())
            .collect()
    }

    fn types_of(&self, values: &[ValueId]) -> Vec<(Elem, Vec<AxisId>)> {
        let types = values.iter().map(|&value| self.out.ty(value));
        types.map(|ty| (ty.elem, ty.dims.clone())).collect()
    }
}

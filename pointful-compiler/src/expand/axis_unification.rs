//! Which axes are the same: an analysis of a Point program.
//!
//! # The idea
//!
//! Every `for`, every sequential `loop`, every dimension of every table gets an axis variable.
//! Where the program lines two of them up (a loop's index reads a dimension, the branches of an
//! `if` give the same result, a state is handed on), they would best be one axis: then reading is
//! no operation at all. Each such place is a *wish*. Wishes are granted in the order of the
//! program, unless a variable would become the same as one that it must be kept apart from; a wish
//! that is refused costs a `gather` by `iota` where it arose, nothing more.
//!
//! # Why it is sound
//!
//! A Bulk value has one axis for each loop that it depends on and one for each of its dimensions.
//! They can be told apart only if they are different axes, so for each value these are separated
//! from one another, all of them before the first wish is looked at. What a value depends on is
//! found by following operands; a statement that must stay behind a condition depends on what the
//! condition does, and what is bound in a sequential loop on everything that the loop does. It is
//! an over-approximation: lifting finds fewer, never more. Two nested loops are separated only
//! where something depends on both; otherwise, one is the other's name for the same computation.

use std::collections::BTreeSet;

use super::free_variables::{extents, reads};
use super::masked_updates::{Chain, Updates};
use super::union_find::{Classes, Var};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Extent, Mode, Operation, Program, Stmt, ValueId};
use crate::ops::Prim;

/// The axes of a Point program.
#[derive(Debug)]
pub(super) struct Axes {
    /// The variables and what has become of them.
    pub(super) classes: Classes,
    /// The dimensions of each value.
    pub(super) dims: Vec<Vec<Var>>,
    /// The axis along which a loop runs, by its index, or a reduction, by its first result.
    pub(super) along: Vec<Option<Var>>,
}

/// Finds the axes.
pub(super) fn axes(program: &Program<Point>, updates: &Updates) -> Axes {
    let count = program.values.len();
    let mut walk = Walk {
        program,
        updates,
        axes: Axes {
            classes: Classes::default(),
            dims: vec![Vec::new(); count],
            along: vec![None; count],
        },
        deps: vec![Deps::new(); count],
        for_axis: vec![None; count],
        open: Vec::new(),
        whiles: Vec::new(),
        accums: vec![None; count],
        control: Deps::new(),
        derived: false,
        branch: false,
        wishes: Vec::new(),
    };
    for param in &program.params {
        let dims = walk.fresh_dims(&program.ty(param.value).dims);
        walk.define(param.value, Deps::new(), dims);
    }
    walk.block(&program.body);
    for (a, b) in walk.wishes {
        walk.axes.classes.merge(a, b);
    }
    walk.axes
}

/// Loops that a value may differ along.
type Deps = BTreeSet<Var>;

/// A loop around the current place.
#[derive(Clone, Copy)]
struct Open {
    axis: Var,
    sequential: bool,
}

/// Where an accumulator was made.
#[derive(Clone, Copy)]
struct Made {
    open: usize,
    whiles: usize,
}

struct Walk<'a> {
    program: &'a Program<Point>,
    updates: &'a Updates,
    axes: Axes,
    deps: Vec<Deps>,
    /// The axis of a `for`, by its index.
    for_axis: Vec<Option<Var>>,
    open: Vec<Open>,
    /// How many loops were open where each `while` around the current place began.
    whiles: Vec<usize>,
    accums: Vec<Option<Made>>,
    /// What decides whether the current place is reached.
    control: Deps,
    /// Whether the current place is in a function that is differentiated, and there in a branch.
    derived: bool,
    branch: bool,
    wishes: Vec<(Var, Var)>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block<Point>) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt<Point>) {
        let mut deps = self.deps_of(stmt.op.operands());
        deps.extend(self.extent_deps(extents(&stmt.op)));
        match &stmt.op {
            PointOp::Const(_) | PointOp::Size(_) => self.define(stmt.results[0], deps, Vec::new()),
            PointOp::Prim(prim, args) => {
                let elem = self.program.elem(args[0]);
                // A derivative of a float in a branch stands in that branch, and so does the float.
                let stays = self.branch && self.program.elem(stmt.results[0]).is_float();
                if stays || prim.may_panic(elem) || matches!(prim, Prim::Trust(_)) {
                    deps.extend(&self.control);
                }
                self.define(stmt.results[0], deps, Vec::new());
            }
            PointOp::Index { table, indices } => {
                let dims = self.axes.dims[table.index()].clone();
                let (selected, rest) = dims.split_at(indices.len());
                self.wish_indices(selected, indices, 0);
                let rest = if deps.is_subset(&self.deps[table.index()]) {
                    rest.to_vec()
                } else {
                    self.like(rest)
                };
                self.define(stmt.results[0], deps, rest);
            }
            PointOp::Array(values) => {
                let extents = &self.program.ty(stmt.results[0]).dims;
                let dims = self.fresh_dims(extents);
                for &value in values {
                    self.wish_dims(&dims[1..], value);
                }
                self.define(stmt.results[0], deps, dims);
            }
            PointOp::For { extent, body } => self.parallel(stmt, *extent, body, deps),
            // Without a state, iterations are independent.
            PointOp::Loop {
                extent, init, body, ..
            } if init.is_empty() => self.parallel(stmt, *extent, body, deps),
            PointOp::Reduce { table, .. } => {
                let dims = self.axes.dims[table.index()][1..].to_vec();
                self.define(stmt.results[0], deps, dims);
            }
            PointOp::ArgReduce { table, .. } => {
                deps.extend(&self.control);
                let axis = self.along(stmt.results[0], self.program.ty(*table).dims[0], &deps);
                self.wishes.push((axis, self.axes.dims[table.index()][0]));
                self.define(stmt.results[0], deps, Vec::new());
            }
            PointOp::Fold { init, tables, op } => {
                self.operator(stmt, init, tables, op, deps, false)
            }
            PointOp::Scan { init, tables, op } => self.operator(stmt, init, tables, op, deps, true),
            PointOp::Loop {
                extent, init, body, ..
            } => self.sequential(stmt, *extent, init, body, deps),
            PointOp::While {
                init, cond, body, ..
            } => self.while_loop(stmt, init, cond, body, deps),
            PointOp::Derive {
                mode,
                args,
                seeds,
                body,
            } => self.derivative(stmt, *mode, args, seeds, body, deps),
            PointOp::Rule {
                mode,
                args,
                body,
                rule,
            } => self.rule(stmt, *mode, args, body, rule, deps),
            PointOp::If {
                then, otherwise, ..
            } => self.branches(stmt, then, otherwise, deps),
            PointOp::Accum { base, .. } => {
                deps.extend(self.open.iter().map(|open| open.axis));
                self.accums[stmt.results[0].index()] = Some(Made {
                    open: self.open.len(),
                    whiles: self.whiles.len(),
                });
                let dims = self.like_value(*base);
                self.define(stmt.results[0], deps, dims);
            }
            PointOp::Accumulate {
                acc,
                indices,
                value,
            } => self.accumulate(*acc, indices, *value),
            PointOp::Get { acc } => {
                let dims = self.axes.dims[acc.index()].clone();
                self.define(stmt.results[0], deps, dims);
            }
            PointOp::Assert { .. } => {}
            PointOp::Update {
                table,
                indices,
                value,
            } => {
                if self.updates.is_masked(stmt.results[0]) {
                    deps.extend(&self.control);
                }
                let dims = self.like_value(*table);
                self.wish_dims(&dims[indices.len()..], *value);
                self.define(stmt.results[0], deps, dims);
            }
        }
    }

    fn parallel(
        &mut self,
        stmt: &Stmt<Point>,
        extent: Extent,
        body: &Block<Point>,
        mut outside: Deps,
    ) {
        // A computed extent is made harmless by what guards it, see `Lift::extent`.
        if matches!(extent, Extent::Value(_)) {
            outside.extend(&self.control);
        }
        let axis = self.open_axis(body.params[0], extent, outside.clone(), false);
        self.for_axis[body.params[0].index()] = Some(axis);
        // What may panic in the loop asks whether there is anything along it.
        let mut inside = self.control.clone();
        inside.extend(&outside);
        let control = std::mem::replace(&mut self.control, inside);
        self.block(body);
        self.control = control;
        self.open.pop();
        for (&result, &value) in stmt.results.iter().zip(&body.results) {
            let mut deps = self.deps[value.index()].clone();
            let rest = if deps.remove(&axis) {
                self.axes.dims[value.index()].clone()
            } else {
                self.like_value(value)
            };
            deps.extend(&outside);
            self.define(result, deps, [vec![axis], rest].concat());
        }
    }

    fn operator(
        &mut self,
        stmt: &Stmt<Point>,
        init: &[ValueId],
        tables: &[ValueId],
        op: &Block<Point>,
        mut deps: Deps,
        prefixes: bool,
    ) {
        let Some(&first) = stmt.results.first() else {
            return;
        };
        deps.extend(self.deps_of(reads(self.program, op)));
        deps.extend(&self.control);
        let axis = self.along(first, self.program.ty(tables[0]).dims[0], &deps);
        let mut inside = deps.clone();
        inside.insert(axis);
        let arity = init.len();
        let elements: Vec<Vec<Var>> = init.iter().map(|&value| self.like_value(value)).collect();
        for (k, element) in elements.iter().enumerate() {
            for side in [op.params[k], op.params[k + arity]] {
                self.define(side, inside.clone(), element.clone());
            }
            let table = &self.axes.dims[tables[k].index()];
            self.wishes.push((axis, table[0]));
            self.wishes
                .extend(element.iter().copied().zip(table[1..].iter().copied()));
        }
        let control = std::mem::replace(&mut self.control, inside);
        self.block(op);
        self.control = control;
        for (k, element) in elements.into_iter().enumerate() {
            self.wish_dims(&element, op.results[k]);
            let dims = if prefixes {
                [vec![axis], element].concat()
            } else {
                element
            };
            self.define(stmt.results[k], deps.clone(), dims);
        }
    }

    fn sequential(
        &mut self,
        stmt: &Stmt<Point>,
        extent: Extent,
        init: &[ValueId],
        body: &Block<Point>,
        mut lanes: Deps,
    ) {
        lanes.extend(self.deps_of(reads(self.program, body)));
        lanes.extend(&self.control);
        let axis = self.open_axis(body.params[0], extent, lanes.clone(), true);
        let mut inside = lanes.clone();
        inside.insert(axis);
        let states = self.states(init, &[&body.params[1..]], &inside);
        let control = std::mem::replace(&mut self.control, inside);
        self.block(body);
        self.control = control;
        self.open.pop();
        for (k, &value) in body.results.iter().enumerate() {
            let dims = if let Some(state) = states.get(k) {
                self.wish_dims(state, value);
                state.clone()
            } else if self.deps[value.index()].contains(&axis) {
                [vec![axis], self.axes.dims[value.index()].clone()].concat()
            } else {
                [vec![axis], self.like_value(value)].concat()
            };
            self.define(stmt.results[k], lanes.clone(), dims);
        }
    }

    fn while_loop(
        &mut self,
        stmt: &Stmt<Point>,
        init: &[ValueId],
        cond: &Block<Point>,
        body: &Block<Point>,
        mut lanes: Deps,
    ) {
        lanes.extend(self.deps_of(reads(self.program, cond)));
        lanes.extend(self.deps_of(reads(self.program, body)));
        lanes.extend(&self.control);
        let states = self.states(init, &[&cond.params, &body.params], &lanes);
        let control = std::mem::replace(&mut self.control, lanes.clone());
        self.whiles.push(self.open.len());
        self.block(cond);
        self.block(body);
        self.whiles.pop();
        self.control = control;
        for (k, state) in states.into_iter().enumerate() {
            self.wish_dims(&state, body.results[k]);
            self.define(stmt.results[k], lanes.clone(), state);
        }
    }

    fn derivative(
        &mut self,
        stmt: &Stmt<Point>,
        mode: Mode,
        args: &[ValueId],
        seeds: &[ValueId],
        body: &Block<Point>,
        mut lanes: Deps,
    ) {
        lanes.extend(self.deps_of(reads(self.program, body)));
        lanes.extend(&self.control);
        let params = self.states(args, &[&body.params], &lanes);
        let control = std::mem::replace(&mut self.control, lanes.clone());
        self.differentiable(body);
        self.control = control;
        let (results, floats) = self.results(body);
        let (of, given) = match mode {
            Mode::Tangent => (&params, &floats),
            Mode::Cotangent => (&floats, &params),
        };
        for (&seed, dims) in seeds.iter().zip(of) {
            self.wish_dims(dims, seed);
        }
        for (&result, dims) in stmt.results.iter().zip(results.iter().chain(given)) {
            self.define(result, lanes.clone(), dims.clone());
        }
    }

    fn rule(
        &mut self,
        stmt: &Stmt<Point>,
        mode: Mode,
        args: &[ValueId],
        body: &Block<Point>,
        rule: &Block<Point>,
        mut lanes: Deps,
    ) {
        lanes.extend(self.deps_of(reads(self.program, body)));
        lanes.extend(self.deps_of(reads(self.program, rule)));
        lanes.extend(&self.control);
        let (again, seeds) = rule.params.split_at(args.len());
        let params = self.states(args, &[&body.params, again], &lanes);
        let control = std::mem::replace(&mut self.control, lanes.clone());
        self.differentiable(body);
        let (results, floats) = self.results(body);
        let (of, given) = match mode {
            Mode::Tangent => (&params, &floats),
            Mode::Cotangent => (&floats, &params),
        };
        for (&seed, dims) in seeds.iter().zip(of) {
            self.define(seed, lanes.clone(), dims.clone());
        }
        self.differentiable(rule);
        self.control = control;
        for (&value, dims) in rule.results.iter().zip(given) {
            self.wish_dims(dims, value);
        }
        for (&result, dims) in stmt.results.iter().zip(results) {
            self.define(result, lanes.clone(), dims);
        }
    }

    /// A block of which a derivative is taken.
    fn differentiable(&mut self, block: &Block<Point>) {
        let derived = std::mem::replace(&mut self.derived, true);
        let branch = std::mem::replace(&mut self.branch, false);
        self.block(block);
        (self.derived, self.branch) = (derived, branch);
    }

    /// Axes for the results of a block, and those of them that have derivatives.
    fn results(&mut self, block: &Block<Point>) -> (Vec<Vec<Var>>, Vec<Vec<Var>>) {
        let mut floats = Vec::new();
        let mut results = Vec::new();
        for &value in &block.results {
            let dims = self.like_value(value);
            if self.program.elem(value).is_float() {
                floats.push(dims.clone());
            }
            results.push(dims);
        }
        (results, floats)
    }

    /// Defines the parameters that hold the states of a loop; all those of one state have the same
    /// dimensions.
    fn states(&mut self, init: &[ValueId], params: &[&[ValueId]], deps: &Deps) -> Vec<Vec<Var>> {
        let states: Vec<Vec<Var>> = init.iter().map(|&value| self.like_value(value)).collect();
        for params in params {
            for (&param, state) in params.iter().zip(&states) {
                self.define(param, deps.clone(), state.clone());
            }
        }
        states
    }

    fn branches(
        &mut self,
        stmt: &Stmt<Point>,
        then: &Block<Point>,
        otherwise: &Block<Point>,
        cond: Deps,
    ) {
        let mut inside = self.control.clone();
        inside.extend(&cond);
        let control = std::mem::replace(&mut self.control, inside);
        let branch = std::mem::replace(&mut self.branch, self.derived);
        self.block(then);
        let mut renamed = Vec::new();
        for (&result, &first) in stmt.results.iter().zip(&then.results) {
            if let Some(Chain::Otherwise(Some(table))) = self.updates.chain(result) {
                let mut deps = self.deps[table.index()].clone();
                deps.extend(&self.deps[first.index()]);
                let own = std::mem::replace(&mut self.deps[table.index()], deps);
                renamed.push((table, own));
            }
        }
        self.block(otherwise);
        for (table, own) in renamed {
            self.deps[table.index()] = own;
        }
        self.branch = branch;
        self.control = control;
        for (k, &result) in stmt.results.iter().enumerate() {
            let mut deps = cond.clone();
            deps.extend(self.deps_of([then.results[k], otherwise.results[k]]));
            let dims = self.like_value(then.results[k]);
            self.wish_dims(&dims, otherwise.results[k]);
            self.define(result, deps, dims);
        }
    }

    fn accumulate(&mut self, acc: ValueId, indices: &[ValueId], value: ValueId) {
        let made = self.accums[acc.index()].expect("`accumulate` names an accumulator");
        let dims = self.axes.dims[acc.index()].clone();
        let opened: Vec<Open> = self.open[made.open..].to_vec();
        // There is one accumulator for each point of what is open around it.
        let around = self.deps[acc.index()].clone();
        for (k, open) in opened.iter().enumerate() {
            for &axis in &around {
                self.axes.classes.separate(open.axis, axis);
            }
            for other in &opened[k + 1..] {
                self.axes.classes.separate(open.axis, other.axis);
            }
            let kept = if open.sequential { 0 } else { indices.len() };
            for &dim in &dims[kept..] {
                self.axes.classes.separate(open.axis, dim);
            }
        }
        // What a `while` accumulates stands in states of its lanes, which cannot have an axis in common with them.
        let barrier = self.whiles[made.whiles..].last().copied().unwrap_or(0);
        self.wish_indices(&dims, indices, barrier);
        self.wish_dims(&dims[indices.len()..], value);
    }

    /// A new axis that runs over `extent` while what follows is walked; `deps` is what else the
    /// index depends on.
    fn open_axis(
        &mut self,
        index: ValueId,
        extent: Extent,
        mut deps: Deps,
        sequential: bool,
    ) -> Var {
        let hint = self.program.values[index.index()].name.clone();
        let axis = self.axes.classes.fresh(extent, hint);
        deps.insert(axis);
        self.define(index, deps, Vec::new());
        self.axes.along[index.index()] = Some(axis);
        self.open.push(Open { axis, sequential });
        axis
    }

    /// A new axis for the reduction with this result.
    fn along(&mut self, result: ValueId, extent: Extent, deps: &Deps) -> Var {
        let axis = self.axes.classes.fresh(extent, None);
        for &dep in deps {
            self.axes.classes.separate(axis, dep);
        }
        self.axes.along[result.index()] = Some(axis);
        axis
    }

    fn fresh_dims(&mut self, extents: &[Extent]) -> Vec<Var> {
        extents
            .iter()
            .map(|&extent| self.axes.classes.fresh(extent, None))
            .collect()
    }

    /// New axes that would like to be these.
    fn like(&mut self, dims: &[Var]) -> Vec<Var> {
        let extents: Vec<Extent> = dims.iter().map(|&d| self.axes.classes.extent(d)).collect();
        let fresh = self.fresh_dims(&extents);
        self.wishes
            .extend(fresh.iter().copied().zip(dims.iter().copied()));
        fresh
    }

    fn like_value(&mut self, value: ValueId) -> Vec<Var> {
        let dims = self.axes.dims[value.index()].clone();
        self.like(&dims)
    }

    fn wish_dims(&mut self, dims: &[Var], value: ValueId) {
        self.wishes.extend(
            dims.iter()
                .copied()
                .zip(self.axes.dims[value.index()].iter().copied()),
        );
    }

    /// A dimension would like to be the loop whose index selects from it, if at least `barrier`
    /// loops were open when it began.
    fn wish_indices(&mut self, dims: &[Var], indices: &[ValueId], barrier: usize) {
        for (&dim, &index) in dims.iter().zip(indices) {
            let Some(axis) = self.for_axis[index.index()] else {
                continue;
            };
            if self.open[barrier..].iter().any(|open| open.axis == axis) {
                self.wishes.push((dim, axis));
            }
        }
    }

    fn deps_of(&self, values: impl IntoIterator<Item = ValueId>) -> Deps {
        let mut deps = Deps::new();
        for value in values {
            deps.extend(&self.deps[value.index()]);
        }
        deps
    }

    fn extent_deps(&self, extents: impl IntoIterator<Item = Extent>) -> Deps {
        self.deps_of(extents.into_iter().filter_map(|extent| match extent {
            Extent::Value(value) => Some(value),
            Extent::Const(_) | Extent::Size(_) => None,
        }))
    }

    /// Notes what a value depends on and its dimensions, all of which are different axes.
    fn define(&mut self, value: ValueId, mut deps: Deps, dims: Vec<Var>) {
        deps.extend(self.extent_deps(self.program.ty(value).dims.iter().copied()));
        let all: Vec<Var> = deps.iter().chain(&dims).copied().collect();
        for (k, &a) in all.iter().enumerate() {
            for &b in &all[k + 1..] {
                self.axes.classes.separate(a, b);
            }
        }
        self.deps[value.index()] = deps;
        self.axes.dims[value.index()] = dims;
    }
}

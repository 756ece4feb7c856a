//! Buffers over axes of varying length that outlive the loops on which the length depends: they are
//! as long as the longest.
//!
//! Most such arrays live in the loop that knows their length. Only when loops must stand apart, one
//! that fills and one that reads, is there a buffer of all of them. That is known when the loops
//! are written, and the longest length must be known before; so scheduling then begins again, with
//! a program that computes it.

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::build::Builder;
use super::facts::{Facts, on_demand, without};
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    AxisId, Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, Stmt, Type, ValueId,
};
use crate::ops::Prim;

/// A longest length that has to be known.
pub(super) struct Need {
    /// The first results of the statement that needs it, and of those that it stands in.
    users: Vec<ValueId>,
    /// The length that varies.
    size: ValueId,
    /// Along these axes.
    along: Vec<AxisId>,
}

/// The longest lengths that a program computes.
#[derive(Default)]
pub(super) struct Pads {
    /// By length and the axes along which it varies.
    longest: BTreeMap<(ValueId, Vec<AxisId>), ValueId>,
    /// By result of a statement: those that it needs.
    of: BTreeMap<ValueId, Vec<ValueId>>,
}

impl Pads {
    pub(super) fn is_empty(&self) -> bool {
        self.longest.is_empty()
    }

    /// What must be known before the buffer of `value` is made.
    pub(super) fn of(&self, value: ValueId) -> Vec<ValueId> {
        self.of.get(&value).cloned().unwrap_or_default()
    }

    /// Adds what is needed to the program.
    pub(super) fn provide(&mut self, program: &mut Program<Bulk>, needs: Vec<Need>) {
        for Need { users, size, along } in needs {
            let key = (size, along);
            let longest = match self.longest.get(&key) {
                Some(&known) => known,
                None => {
                    let longest = longest(program, size, &key.1);
                    self.longest.insert(key, longest);
                    longest
                }
            };
            for user in users {
                let of = self.of.entry(user).or_default();
                if !of.contains(&longest) {
                    of.push(longest);
                }
            }
        }
    }
}

/// Adds the largest value of `size` along some of its axes to the program.
fn longest(program: &mut Program<Bulk>, size: ValueId, along: &[AxisId]) -> ValueId {
    let conds = conditions(&program.body, size);
    let ty = program.ty(size).clone();
    let mut stmts = Vec::new();
    let mut operand = size;
    let span = program.values[size.index()].span;
    let mut emit = |program: &mut Program<Bulk>, op, ty| {
        let value = program.value(ty, span);
        stmts.push(Stmt::new(vec![value], op, span));
        value
    };
    if !conds.is_empty() {
        let zero = Lit::Int(Scalar::Usize, 0);
        let zero = emit(program, BulkOp::Const(zero), Type::scalar(Elem::USIZE));
        for cond in conds {
            let op = BulkOp::Select(cond, operand, zero);
            operand = emit(program, op, ty.clone());
        }
    }
    let op = BulkOp::Reduce {
        combine: Combine::Monoid(Monoid::Max),
        axes: along.to_vec(),
        operands: vec![operand],
    };
    let dims = without(&ty.dims, along);
    let longest = emit(
        program,
        op,
        Type {
            elem: Elem::USIZE,
            dims,
        },
    );
    // What no block binds is a parameter of the function.
    if !insert(&mut program.body, size, &mut stmts) {
        program.body.stmts.splice(0..0, stmts);
    }
    longest
}

/// Conditions without which a value says nothing.
fn conditions(body: &Block<Bulk>, value: ValueId) -> Vec<ValueId> {
    let mut sites = BTreeMap::new();
    survey(body, &mut sites);
    let mut conds = Vec::new();
    let mut left = vec![value];
    let mut seen = Vec::new();
    while let Some(value) = left.pop() {
        let Some(&stmt) = sites.get(&value).filter(|_| !seen.contains(&value)) else {
            continue;
        };
        seen.push(value);
        conds.extend(stmt.guard.filter(|guard| !conds.contains(guard)));
        match &stmt.op {
            BulkOp::Gather { at, .. } if !at.is_empty() => {}
            // One of its sides says something.
            BulkOp::Select(cond, ..) => left.push(*cond),
            op if on_demand(op) => left.extend(op.operands()),
            _ => {}
        }
    }
    conds
}

fn survey<'p>(block: &'p Block<Bulk>, sites: &mut BTreeMap<ValueId, &'p Stmt<Bulk>>) {
    for stmt in &block.stmts {
        sites.extend(stmt.results.iter().map(|&result| (result, stmt)));
        for inner in stmt.op.blocks() {
            survey(inner, sites);
        }
    }
}

/// Puts statements behind the one that binds `value`; whether it is in the block.
fn insert(block: &mut Block<Bulk>, value: ValueId, stmts: &mut Vec<Stmt<Bulk>>) -> bool {
    let binds = |stmt: &Stmt<Bulk>| stmt.results.contains(&value);
    let at = match block.stmts.iter().position(binds) {
        Some(at) => at + 1,
        None if block.params.contains(&value) => 0,
        None => {
            let mut inner = block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut());
            return inner.any(|block| insert(block, value, stmts));
        }
    };
    block.stmts.splice(at..at, stmts.drain(..));
    true
}

impl Facts<'_> {
    /// The first results of the statement that binds a value, or whose block does, and of those
    /// around it up to this block.
    fn around(&self, value: ValueId, block: usize) -> Vec<ValueId> {
        let mut users = vec![value];
        let mut home = self.home(value);
        while home != block
            && let Some((stmt, outer)) = self.owner(home)
        {
            users.extend(stmt.results.first());
            home = outer;
        }
        users
    }
}

impl Builder<'_> {
    /// An extent at the current point, or the largest there is if it varies along axes that are not
    /// open.
    pub(super) fn padded(&mut self, extent: Extent, of: Option<ValueId>) -> Extent {
        let Extent::Value(size) = extent else {
            return extent;
        };
        let along = without(self.facts.axes(size), &self.open());
        if along.is_empty() {
            return self.extent(extent);
        }
        let known = self.facts.pads.longest.get(&(size, along.clone())).copied();
        match known {
            Some(longest) if of.is_none_or(|v| self.facts.pads.of(v).contains(&longest)) => {
                Extent::Value(self.eval(longest).0)
            }
            _ => {
                let users = of.map(|v| self.facts.around(v, self.facts.home(size)));
                self.needs.push(Need {
                    users: users.unwrap_or_default(),
                    size,
                    along,
                });
                Extent::Const(0)
            }
        }
    }
}

/// Makes stored indices of single axes into indices of the padded ones.
pub(super) fn fit(program: &mut Program<Kernels>) {
    let mut body = std::mem::take(&mut program.body);
    fit_block(program, &mut body);
    program.body = body;
}

fn fit_block(program: &mut Program<Kernels>, block: &mut Block<Kernels>) {
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for mut stmt in std::mem::take(&mut block.stmts) {
        for inner in stmt.op.blocks_mut() {
            fit_block(program, inner);
        }
        match &mut stmt.op {
            KernelOp::Store {
                buffer: place,
                value,
                ..
            }
            | KernelOp::Combine { place, value, .. } => {
                fit_one(program, program.elem(*place), value, &mut stmts);
            }
            KernelOp::Set { place, value } => {
                fit_one(program, program.elem(*place), value, &mut stmts);
            }
            _ => {}
        }
        stmts.push(stmt);
    }
    block.stmts = stmts;
}

fn fit_one(
    program: &mut Program<Kernels>,
    elem: Elem,
    value: &mut ValueId,
    stmts: &mut Vec<Stmt<Kernels>>,
) {
    let Elem::Index(extent) = elem else { return };
    if program.elem(*value) == elem {
        return;
    }
    let span = program.values[value.index()].span;
    let fitted = program.value(Type::scalar(elem), span);
    let op = KernelOp::Prim(Prim::Trust(extent), smallvec![*value]);
    stmts.push(Stmt::new(vec![fitted], op, span));
    *value = fitted;
}

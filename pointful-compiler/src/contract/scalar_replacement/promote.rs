//! Buffers all of whose accesses are at known places, place by place.

use std::collections::BTreeMap;

use super::{Survey, place};
use crate::analysis::effects::{for_each_extent_mut, length, lengths};
use crate::canonicalize::substitution::Subst;
use crate::eval::ScalarValue;
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, SpanId, Stmt, Type, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;

/// Takes such buffers away.
pub(super) fn promote(mut program: Program<Kernels>) -> Program<Kernels> {
    let survey = Survey::new(&program);
    let known = survey
        .buffers
        .iter()
        .filter(|(_, (_, along))| along.is_empty());
    let mut buffers: BTreeMap<ValueId, Buffer> = known
        .map(|(&buffer, _)| (buffer, Buffer::default()))
        .collect();
    let constants = survey.constants;
    if buffers.is_empty() {
        return program;
    }
    let mut census = Census {
        constants: &constants,
        buffers: &mut buffers,
        blocks: 0,
    };
    census.block(&program.body);
    // A variable begins as something, and no index is in every set.
    buffers.retain(|&buffer, uses| {
        let plain = matches!(program.elem(buffer), Elem::Scalar(_));
        plain || uses.fill.is_none() && uses.places.values().all(Place::is_name)
    });
    let body = std::mem::take(&mut program.body);
    let mut walk = Walk {
        program,
        constants: &constants,
        buffers: &buffers,
        vars: BTreeMap::new(),
        subst: Subst::new(),
    };
    let body = walk.block(body);
    let Walk {
        mut program, subst, ..
    } = walk;
    for value in &mut program.values {
        if let Elem::Index(extent) = &mut value.ty.elem {
            *extent = named(&subst, *extent);
        }
        for dim in &mut value.ty.dims {
            *dim = named(&subst, *dim);
        }
    }
    program.body = body;
    let mut read = lengths(&program);
    sweep(&mut program.body, &constants, &mut read);
    program
}

/// Where an element of a buffer is.
type At = Vec<u64>;

/// Where these indices are.
fn at(constants: &ValueMap<ScalarValue>, indices: &[ValueId]) -> At {
    let known =
        |&index: &ValueId| place(constants, index).expect("places of such buffers are known");
    indices.iter().map(known).collect()
}

/// What happens to a buffer.
#[derive(Default)]
struct Buffer {
    fill: Option<Lit>,
    /// The block that it is made in.
    block: usize,
    places: BTreeMap<At, Place>,
}

/// What happens to a place.
#[derive(Default)]
struct Place {
    /// How often it is stored or combined into.
    changes: usize,
    /// Whether it is read, or changed otherwise than by a store in the block of the buffer, before
    /// it is stored there.
    varies: bool,
}

impl Place {
    /// Whether it is stored once, so that what is stored has one more name.
    fn is_name(&self) -> bool {
        !self.varies && self.changes == 1
    }
}

/// Counts what happens to the places of buffers.
struct Census<'a> {
    constants: &'a ValueMap<ScalarValue>,
    buffers: &'a mut BTreeMap<ValueId, Buffer>,
    /// Blocks so far.
    blocks: usize,
}

impl Census<'_> {
    fn block(&mut self, block: &Block<Kernels>) {
        self.blocks += 1;
        let here = self.blocks;
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::Alloc { fill } => {
                    if let Some(buffer) = self.buffers.get_mut(&stmt.results[0]) {
                        (buffer.fill, buffer.block) = (*fill, here);
                    }
                }
                KernelOp::Store {
                    buffer, indices, ..
                } => self.change(*buffer, indices, Some(here)),
                KernelOp::Combine { place, indices, .. } => self.change(*place, indices, None),
                KernelOp::Load { buffer, indices } => {
                    if let Some(place) = self.place(*buffer, indices) {
                        place.varies |= place.changes == 0;
                    }
                }
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
    }

    /// A place is stored in a block, or combined into.
    fn change(&mut self, buffer: ValueId, indices: &[ValueId], stored_in: Option<usize>) {
        let made_in = self.buffers.get(&buffer).map(|buffer| buffer.block);
        if let Some(place) = self.place(buffer, indices) {
            place.changes += 1;
            place.varies |= stored_in.is_none() || stored_in != made_in;
        }
    }

    fn place(&mut self, buffer: ValueId, indices: &[ValueId]) -> Option<&mut Place> {
        let buffer = self.buffers.get_mut(&buffer)?;
        let at = at(self.constants, indices);
        Some(buffer.places.entry(at).or_default())
    }
}

struct Walk<'a> {
    program: Program<Kernels>,
    constants: &'a ValueMap<ScalarValue>,
    buffers: &'a BTreeMap<ValueId, Buffer>,
    /// The variables that places have become.
    vars: BTreeMap<(ValueId, At), ValueId>,
    subst: Subst,
}

impl Walk<'_> {
    fn block(&mut self, mut block: Block<Kernels>) -> Block<Kernels> {
        let mut out = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::take(&mut block.stmts) {
            self.stmt(stmt, &mut out);
        }
        for value in &mut block.results {
            *value = self.subst.get(*value);
        }
        block.stmts = out;
        block
    }

    fn stmt(&mut self, mut stmt: Stmt<Kernels>, out: &mut Vec<Stmt<Kernels>>) {
        stmt.op
            .for_each_operand_mut(&mut |value| *value = self.subst.get(*value));
        for_each_extent_mut(&mut stmt.op, &mut |extent| {
            *extent = named(&self.subst, *extent);
        });
        for inner in stmt.op.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = self.block(block);
        }
        match &stmt.op {
            KernelOp::Alloc { fill } if self.buffers.contains_key(&stmt.results[0]) => {
                self.variables(stmt.results[0], *fill, stmt.span, out);
                return;
            }
            KernelOp::Load { buffer, indices } if self.buffers.contains_key(buffer) => {
                let key = self.key(*buffer, indices);
                match self.vars.get(&key) {
                    Some(&place) if self.is_name(&key) => {
                        self.subst.replace(stmt.results[0], place);
                        return;
                    }
                    Some(&var) => stmt.op = KernelOp::Get(var),
                    None => unreachable!("a place is stored before it is read"),
                }
            }
            KernelOp::Store {
                buffer,
                indices,
                value,
            } if self.buffers.contains_key(buffer) => {
                let (key, value) = (self.key(*buffer, indices), *value);
                if self.is_name(&key) {
                    self.vars.insert(key, value);
                    return;
                }
                let place = self.vars[&key];
                stmt.op = KernelOp::Set { place, value };
            }
            KernelOp::Combine {
                monoid,
                place,
                indices,
                value,
            } if self.buffers.contains_key(place) => {
                let place = self.vars[&self.key(*place, indices)];
                stmt.op = KernelOp::Combine {
                    monoid: *monoid,
                    place,
                    indices: Vec::new(),
                    value: *value,
                };
            }
            _ => {}
        }
        out.push(stmt);
    }

    fn key(&self, buffer: ValueId, indices: &[ValueId]) -> (ValueId, At) {
        (buffer, at(self.constants, indices))
    }

    fn is_name(&self, (buffer, at): &(ValueId, At)) -> bool {
        self.buffers[buffer].places[at].is_name()
    }

    /// Variables for the places of a buffer that are more than names.
    fn variables(
        &mut self,
        buffer: ValueId,
        fill: Option<Lit>,
        span: SpanId,
        out: &mut Vec<Stmt<Kernels>>,
    ) {
        let buffers = self.buffers;
        let elem = self.program.elem(buffer);
        let name = self.program.values[buffer.index()].name.clone();
        for (at, place) in &buffers[&buffer].places {
            if place.is_name() {
                continue;
            }
            let first = fill.unwrap_or_else(|| Lit::of(elem.repr(), 0.0));
            let first = self.push(KernelOp::Const(first), Elem::Scalar(elem.repr()), span, out);
            let var = self.push(KernelOp::Var(first), elem, span, out);
            self.program.values[var.index()].name.clone_from(&name);
            self.vars.insert((buffer, at.clone()), var);
        }
    }

    fn push(
        &mut self,
        op: KernelOp,
        elem: Elem,
        span: SpanId,
        out: &mut Vec<Stmt<Kernels>>,
    ) -> ValueId {
        let value = self.program.value(Type::scalar(elem), span);
        out.push(Stmt::new(vec![value], op, span));
        value
    }
}

/// An extent by the name that it has now.
fn named(subst: &Subst, extent: Extent) -> Extent {
    match extent {
        Extent::Value(value) => Extent::Value(subst.get(value)),
        Extent::Const(_) | Extent::Size(_) => extent,
    }
}

/// Takes away constants that are not read any more.
fn sweep(block: &mut Block<Kernels>, constants: &ValueMap<ScalarValue>, read: &mut ValueSet) {
    read.extend(&block.results);
    let mut gone = Vec::new();
    for stmt in block.stmts.iter_mut().rev() {
        let is_constant = match stmt.op {
            KernelOp::Const(_) | KernelOp::Prim(Prim::Trust(_), _) => true,
            KernelOp::Prim(..) => constants.contains_key(&stmt.results[0]),
            _ => false,
        };
        let unread = is_constant && !read.contains(&stmt.results[0]);
        gone.push(unread);
        if unread {
            continue;
        }
        for inner in stmt.op.blocks_mut().into_iter().rev() {
            sweep(inner, constants, read);
        }
        stmt.op.for_each_operand(&mut |value| {
            read.insert(*value);
        });
        for_each_extent_mut(&mut stmt.op, &mut |extent| read.extend(length(*extent)));
    }
    block.stmts.retain(|_| gone.pop() == Some(false));
}

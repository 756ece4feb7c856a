//! What a thread does.

use smallvec::smallvec;

use super::{Map, Missing, Stmts, load, store};
use crate::analysis::effects::length;
use crate::ir::stages::gpu::{Gpu, GpuOp};
use crate::ir::stages::imperative::{Along, Mask};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Scalar, SpanId, Stmt, Type, ValueId, ValueMap,
    ValueSet,
};
use crate::ops::Prim;

/// A thread whose statements are being written.
#[derive(Default)]
pub(super) struct Thread {
    /// What places of the host's are here.
    places: ValueMap<Place>,
    /// Buffers of its own for which the host makes memory.
    own: Vec<ValueId>,
}

/// What stands for a place of the host's.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A variable of the thread's.
    Var(ValueId),
    /// The elements of a buffer at this first index.
    Row(ValueId, ValueId),
}

impl Thread {
    /// From now on a variable of the host's is one of the thread's.
    pub(super) fn rename(&mut self, var: ValueId, copy: ValueId) {
        self.places.insert(var, Place::Var(copy));
    }

    /// From now on a buffer is a row of another one.
    pub(super) fn in_row(&mut self, buffer: ValueId, of: ValueId, row: ValueId) {
        self.places.insert(buffer, Place::Row(of, row));
    }

    /// The buffers for which the host makes memory.
    pub(super) fn own(self, map: &Map, stmts: &[Stmt<Gpu>]) -> Result<Vec<ValueId>, Missing> {
        fn bind(stmts: &[Stmt<Gpu>], bound: &mut ValueSet) {
            for stmt in stmts {
                bound.extend(&stmt.results);
                for inner in stmt.op.blocks() {
                    bound.extend(&inner.params);
                    bind(&inner.stmts, bound);
                }
            }
        }
        if self.own.is_empty() {
            return Ok(self.own);
        }
        let mut bound = ValueSet::new();
        bind(stmts, &mut bound);
        let is_known = |own: &ValueId| {
            let lengths = map.program.ty(*own).dims.iter().copied();
            let mut lengths = lengths.filter_map(length);
            lengths.all(|length| !bound.contains(&length))
        };
        match self.own.iter().all(is_known) {
            true => Ok(self.own),
            false => Err(Missing::Length),
        }
    }

    pub(super) fn block(
        &mut self,
        map: &mut Map,
        block: Block<Kernels>,
    ) -> Result<Block<Gpu>, Missing> {
        let mut stmts = Stmts::new();
        self.stmts(map, block.stmts, &mut stmts)?;
        Ok(Block {
            params: block.params,
            stmts,
            results: block.results,
        })
    }

    pub(super) fn stmts(
        &mut self,
        map: &mut Map,
        stmts: Vec<Stmt<Kernels>>,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        stmts
            .into_iter()
            .try_for_each(|stmt| self.stmt(map, stmt, out))
    }

    fn stmt(&mut self, map: &mut Map, stmt: Stmt<Kernels>, out: &mut Stmts) -> Result<(), Missing> {
        let span = stmt.span;
        let op = match stmt.op {
            KernelOp::Prim(Prim::Call(_), _) => return Err(Missing::Call),
            KernelOp::Alloc { fill } => {
                self.alloc(map, stmt.results[0], span, out);
                if let Some(fill) = fill {
                    fill_all(map, stmt.results[0], &[], fill, span, out);
                }
                return Ok(());
            }
            KernelOp::Copy(source) => {
                let copy = stmt.results[0];
                self.alloc(map, copy, span, out);
                let Type { elem, dims } = map.program.ty(copy).clone();
                map.nest(out, &dims, span, |map, indices, out| {
                    let (source, at) = self.element(source, indices.to_vec());
                    let value = map.bind(out, load(source, at), elem, span);
                    out.push(store(copy, indices.to_vec(), value, span));
                });
                return Ok(());
            }
            KernelOp::Contract {
                out: ref into,
                ref along,
                ..
            } => {
                let dims = map.program.ty(*into).dims.clone();
                let own = along[0].iter().zip(dims);
                let own = own.filter(|(along, _)| matches!(along, Along::Axis(_)));
                let extents: Vec<Extent> = own.map(|(_, extent)| extent).collect();
                map.nest(out, &extents, span, |map, indices, out| {
                    self.sum_of_products(map, &stmt, indices, out);
                });
                return Ok(());
            }
            KernelOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                self.combine_into(map, monoid, place, &indices, value, span, out);
                return Ok(());
            }
            KernelOp::Load { buffer, indices } => {
                let (buffer, indices) = self.element(buffer, indices);
                load(buffer, indices)
            }
            KernelOp::Store {
                buffer,
                indices,
                value,
            } => {
                let (buffer, indices) = self.element(buffer, indices);
                GpuOp::Store {
                    buffer,
                    indices,
                    value,
                }
            }
            KernelOp::Get(place) => GpuOp::Get(self.var(place)),
            KernelOp::Set { place, value } => GpuOp::Set {
                place: self.var(place),
                value,
            },
            // What is combined changes no places; a nest stands in no other.
            op => op.in_stage(|block| self.block(map, block))?,
        };
        out.push(Stmt::new(stmt.results, op, span));
        Ok(())
    }

    /// What a variable is here.
    pub(super) fn var(&self, place: ValueId) -> ValueId {
        match self.places.get(&place) {
            Some(&Place::Var(copy)) => copy,
            Some(Place::Row(..)) => unreachable!("a row is no variable"),
            None => place,
        }
    }

    fn element(&self, buffer: ValueId, mut indices: Vec<ValueId>) -> (ValueId, Vec<ValueId>) {
        match self.places.get(&buffer) {
            Some(&Place::Row(of, row)) => {
                indices.insert(0, row);
                (of, indices)
            }
            Some(Place::Var(_)) => unreachable!("a variable has no elements"),
            None => (buffer, indices),
        }
    }

    /// An array of the thread's.
    fn alloc(&mut self, map: &Map, array: ValueId, span: SpanId, out: &mut Stmts) {
        let Type { elem, dims } = map.program.ty(array);
        let bytes = dims
            .iter()
            .try_fold(elem.repr().bytes(), |bytes, dim| match dim {
                Extent::Const(number) => bytes.checked_mul(*number),
                Extent::Size(_) | Extent::Value(_) => None,
            });
        match bytes.is_some_and(|bytes| bytes <= map.sizes.array) {
            true => out.push(Stmt::new(vec![array], GpuOp::Alloc { fill: None }, span)),
            false => self.own.push(array),
        }
    }

    /// `p[at] = p[at] ⊕ value`
    #[expect(clippy::too_many_arguments, reason = "a statement, and where it goes")]
    pub(super) fn combine_into(
        &self,
        map: &mut Map,
        monoid: Monoid,
        place: ValueId,
        indices: &[ValueId],
        value: ValueId,
        span: SpanId,
        out: &mut Stmts,
    ) {
        if indices.is_empty() {
            let combine = GpuOp::Combine {
                monoid,
                place: self.var(place),
                indices: Vec::new(),
                value,
            };
            out.push(Stmt::new(Vec::new(), combine, span));
            return;
        }
        let elem = map.program.elem(place);
        let (buffer, at) = self.element(place, indices.to_vec());
        let before = map.bind(out, load(buffer, at.clone()), elem, span);
        let combined = GpuOp::Prim(monoid.prim(), smallvec![before, value]);
        let combined = map.bind(out, combined, elem, span);
        out.push(store(buffer, at, combined, span));
    }

    /// The element of a contraction at these indices of the axes of what it writes.
    pub(super) fn sum_of_products(
        &self,
        map: &mut Map,
        stmt: &Stmt<Kernels>,
        own: &[ValueId],
        out: &mut Stmts,
    ) {
        let KernelOp::Contract {
            out: into,
            factors,
            along,
            add,
            absorb,
            mask,
        } = &stmt.op
        else {
            unreachable!("a contraction")
        };
        let (span, elem) = (stmt.span, map.program.elem(*into));
        // The axes with their indices: of what is written, then those that are summed.
        let mut known: Vec<(usize, ValueId)> = Vec::new();
        let mut rest = own.iter();
        for along in &along[0] {
            if let (Along::Axis(axis), Some(&index)) = (along, rest.as_slice().first()) {
                rest.next();
                known.push((*axis, index));
            }
        }
        let (mut summed, mut extents) = (Vec::new(), Vec::new());
        for (&factor, along) in factors.iter().zip(&along[1..]) {
            for (along, &extent) in along.iter().zip(&map.program.ty(factor).dims) {
                if let Along::Axis(axis) = along
                    && known.iter().all(|(known, _)| known != axis)
                    && !summed.contains(axis)
                {
                    summed.push(*axis);
                    extents.push(extent);
                }
            }
        }
        let at = |along: &[Along], known: &[(usize, ValueId)]| -> Vec<ValueId> {
            let index = |along: &Along| match along {
                Along::At(index) => *index,
                Along::Axis(axis) => known
                    .iter()
                    .find_map(|(known, index)| (known == axis).then_some(*index))
                    .expect("each axis has an index"),
            };
            along.iter().map(index).collect()
        };
        let times = if *absorb { Prim::MulAbsorb } else { Prim::Mul };
        let zero = map.lit(out, Lit::of(elem.repr(), 0.0), elem, span);
        let sum = map.bind(out, GpuOp::Var(zero), elem, span);
        map.nest(out, &extents, span, |map, indices, out| {
            let pairs = summed.iter().copied().zip(indices.iter().copied());
            let known: Vec<_> = known.iter().copied().chain(pairs).collect();
            let [left, right] = [0, 1].map(|k| {
                let (factor, at) = self.element(factors[k], at(&along[k + 1], &known));
                map.bind(out, load(factor, at), elem, span)
            });
            let product = GpuOp::Prim(times, smallvec![left, right]);
            let mut value = map.bind(out, product, elem, span);
            if let Some(Mask { buffer, along }) = mask {
                let (buffer, at) = self.element(*buffer, at(along, &known));
                let kept = map.bind(out, load(buffer, at), Elem::Scalar(Scalar::Bool), span);
                value = map.bind(out, GpuOp::Select(kept, value, zero), elem, span);
            }
            let combine = GpuOp::Combine {
                monoid: Monoid::Add,
                place: sum,
                indices: Vec::new(),
                value,
            };
            out.push(Stmt::new(Vec::new(), combine, span));
        });
        let value = map.bind(out, GpuOp::Get(sum), elem, span);
        let own = at(&along[0], &known);
        if *add {
            self.combine_into(map, Monoid::Add, *into, &own, value, span, out);
        } else {
            let (into, own) = self.element(*into, own);
            out.push(store(into, own, value, span));
        }
    }
}

/// Stores a value everywhere in a buffer, or in a part of it.
pub(super) fn fill_all(
    map: &mut Map,
    buffer: ValueId,
    part: &[ValueId],
    fill: Lit,
    span: SpanId,
    out: &mut Stmts,
) {
    let Type { elem, dims } = map.program.ty(buffer).clone();
    let value = map.lit(out, fill, elem, span);
    map.nest(out, &dims[part.len()..], span, |_, indices, out| {
        out.push(store(buffer, [part, indices].concat(), value, span));
    });
}

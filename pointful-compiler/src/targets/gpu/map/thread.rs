//! What a thread does.

use smallvec::smallvec;

use super::{Map, Missing, Stmts, load, store};
use crate::analysis::effects::length;
use crate::ir::stages::gpu::{Gpu, GpuOp};
use crate::ir::stages::imperative::{Along, Mask};
use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Scalar, SpanId, Stmt, Type, ValueId, ValueMap, ValueSet,
};
use crate::ops::Prim;

/// A thread whose statements are being written.
#[derive(Default)]
pub(super) struct Thread {
    /// What places of the host's are here.
    places: ValueMap<Place>,
    /// Buffers of its own for which the host makes memory.
    own: Vec<ValueId>,
    /// What the launch binds so far,
    bound: ValueSet,
    /// and what the host has to find out before.
    unknown: Unknown,
}

/// Arrays of a thread whose lengths are computed at each point.
#[derive(Default)]
pub(super) struct Unknown {
    pub(super) lengths: Vec<Length>,
    /// The result of the statement that marks where an array is made, and the buffer that it is the
    /// beginning of along all axes.
    pub(super) arrays: Vec<(ValueId, ValueId)>,
}

impl Unknown {
    /// The buffer of the array that a statement marks.
    pub(super) fn marked(&self, stmt: &Stmt<Gpu>) -> Option<ValueId> {
        let GpuOp::Alloc { .. } = stmt.op else {
            return None;
        };
        let mut arrays = self.arrays.iter();
        let found = arrays.find(|(array, _)| *array == stmt.results[0]);
        found.map(|&(_, longer)| longer)
    }
}

/// A length that is computed at each point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) of: ValueId,
    /// A number of the host's that is no less at any point.
    pub(super) most: ValueId,
}

/// What stands for a place of the host's.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A variable of the thread's.
    Var(ValueId),
    /// The elements of a buffer at this first index.
    Row(ValueId, ValueId),
    /// The first elements along the axes of a buffer, whose lengths the host knows.
    Within(ValueId),
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

    /// Notes what the launch binds.
    pub(super) fn binds(&mut self, values: &[ValueId]) {
        self.bound.extend(values);
    }

    /// The buffers for which the host makes memory, and what of their lengths it has to find out.
    pub(super) fn own(self) -> (Vec<ValueId>, Unknown) {
        (self.own, self.unknown)
    }

    pub(super) fn block(
        &mut self,
        map: &mut Map,
        block: Block<Kernels>,
    ) -> Result<Block<Gpu>, Missing> {
        let mut stmts = Stmts::new();
        self.binds(&block.params);
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
        self.binds(&stmt.results);
        let op = match stmt.op {
            KernelOp::Prim(Prim::Call(_), _) => return Err(Missing::Call),
            KernelOp::Alloc { fill } => {
                self.alloc(map, stmt.results[0], span, out);
                if let Some(fill) = fill {
                    self.fill_all(map, stmt.results[0], &[], fill, span, out);
                }
                return Ok(());
            }
            KernelOp::Copy(source) => {
                let copy = stmt.results[0];
                self.alloc(map, copy, span, out);
                let Type { elem, dims } = map.program.ty(copy).clone();
                map.nest(out, &dims, span, |map, indices, out| {
                    let (source, at) = self.element(map, source, indices.to_vec(), span, out);
                    let value = map.bind(out, load(source, at), elem, span);
                    let (copy, at) = self.element(map, copy, indices.to_vec(), span, out);
                    out.push(store(copy, at, value, span));
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
                let (buffer, indices) = self.element(map, buffer, indices, span, out);
                load(buffer, indices)
            }
            KernelOp::Store {
                buffer,
                indices,
                value,
            } => {
                let (buffer, indices) = self.element(map, buffer, indices, span, out);
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
            KernelOp::Swap(a, b) => GpuOp::Swap(self.whole(a), self.whole(b)),
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
            Some(Place::Row(..) | Place::Within(_)) => unreachable!("a buffer is no variable"),
            None => place,
        }
    }

    /// What a buffer is here, all of it. Buffers that change places have the same lengths.
    fn whole(&self, buffer: ValueId) -> ValueId {
        match self.places.get(&buffer) {
            Some(&Place::Within(longer)) => longer,
            Some(Place::Row(..) | Place::Var(_)) => unreachable!("only arrays change places"),
            None => buffer,
        }
    }

    /// Where an element is.
    fn element(
        &self,
        map: &mut Map,
        buffer: ValueId,
        mut indices: Vec<ValueId>,
        span: SpanId,
        out: &mut Stmts,
    ) -> (ValueId, Vec<ValueId>) {
        match self.places.get(&buffer) {
            Some(&Place::Row(of, row)) => {
                indices.insert(0, row);
                (of, indices)
            }
            Some(&Place::Within(longer)) => {
                let axes = map.program.ty(longer).dims.clone();
                let own = map.program.ty(buffer).dims.clone();
                for (index, (most, length)) in indices.iter_mut().zip(axes.into_iter().zip(own)) {
                    if most != length {
                        let trusted = GpuOp::Prim(Prim::Trust(most), smallvec![*index]);
                        *index = map.bind(out, trusted, Elem::Index(most), span);
                    }
                }
                (longer, indices)
            }
            Some(Place::Var(_)) => unreachable!("a variable has no elements"),
            None => (buffer, indices),
        }
    }

    /// An array of the thread's.
    fn alloc(&mut self, map: &mut Map, array: ValueId, span: SpanId, out: &mut Stmts) {
        let Type { elem, dims } = map.program.ty(array).clone();
        let alloc = Stmt::new(vec![array], GpuOp::Alloc { fill: None }, span);
        if map.fits_thread(array) {
            return out.push(alloc);
        }
        let known: Vec<Extent> = dims.iter().map(|&dim| self.known(map, dim, span)).collect();
        if known == dims {
            return self.own.push(array);
        }
        let longer = map.program.value(Type::table(elem, known), span);
        out.push(alloc);
        self.unknown.arrays.push((array, longer));
        self.places.insert(array, Place::Within(longer));
        self.own.push(longer);
    }

    /// An extent of which the host knows the length: no shorter than this one.
    fn known(&mut self, map: &mut Map, extent: Extent, span: SpanId) -> Extent {
        let Some(of) = length(extent).filter(|of| self.bound.contains(of)) else {
            return extent;
        };
        let mut lengths = self.unknown.lengths.iter();
        if let Some(known) = lengths.find(|length| length.of == of) {
            return Extent::Value(known.most);
        }
        let most = map.value(Elem::USIZE, span);
        self.unknown.lengths.push(Length { of, most });
        Extent::Value(most)
    }

    /// Stores a value everywhere in a buffer, or in a part of it.
    pub(super) fn fill_all(
        &self,
        map: &mut Map,
        buffer: ValueId,
        part: &[ValueId],
        fill: Lit,
        span: SpanId,
        out: &mut Stmts,
    ) {
        let Type { elem, dims } = map.program.ty(buffer).clone();
        let value = map.lit(out, fill, elem, span);
        map.nest(out, &dims[part.len()..], span, |map, indices, out| {
            let (buffer, at) = self.element(map, buffer, [part, indices].concat(), span, out);
            out.push(store(buffer, at, value, span));
        });
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
        let (buffer, at) = self.element(map, place, indices.to_vec(), span, out);
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
                let at = at(&along[k + 1], &known);
                let (factor, at) = self.element(map, factors[k], at, span, out);
                map.bind(out, load(factor, at), elem, span)
            });
            let product = GpuOp::Prim(times, smallvec![left, right]);
            let mut value = map.bind(out, product, elem, span);
            if let Some(Mask { buffer, along }) = mask {
                let at = at(along, &known);
                let (buffer, at) = self.element(map, *buffer, at, span, out);
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
            let (into, own) = self.element(map, *into, own, span, out);
            out.push(store(into, own, value, span));
        }
    }
}

//! The body of a kernel over tiles.

use std::collections::BTreeMap;

use super::{Piece, Plan, Product, Terms};
use crate::analysis::accesses::changes;
use crate::ir::stages::kernels::{Along, KernelOp, Kernels, Par, PlaceKind};
use crate::ir::{Elem, Extent, Lit, Operation, Program, SpanId, Stmt, Type, ValueId, ValueSet};
use crate::targets::cpu::tiling::backward_slices::Slice;
use crate::targets::cpu::tiling::{Tile, Writer};

/// Writes the body of a kernel over tiles.
pub(super) struct Writing<'a> {
    pub(super) program: &'a mut Program<Kernels>,
    plan: &'a Plan,
    /// The index that is in tiles.
    lane: ValueId,
    pub(super) tile: Tile,
    span: SpanId,
    /// By what is kept: where, over the tile's points.
    pub(super) arrays: BTreeMap<ValueId, ValueId>,
    /// The buffers of them.
    pub(super) buffers: BTreeMap<ValueId, ValueId>,
    /// What is written down before there are tiles.
    pub(super) before: BTreeMap<ValueId, ValueId>,
    /// By product of matrices: where the factor of the points is, and the other one with what is
    /// gone through of it.
    factors: BTreeMap<usize, [(ValueId, Vec<Along>); 2]>,
}

impl<'a> Writing<'a> {
    pub(super) fn new(
        program: &'a mut Program<Kernels>,
        plan: &'a Plan,
        before: BTreeMap<ValueId, ValueId>,
        lane: ValueId,
        tile: Tile,
        span: SpanId,
    ) -> Self {
        Self {
            program,
            plan,
            before,
            lane,
            tile,
            span,
            arrays: BTreeMap::new(),
            buffers: BTreeMap::new(),
            factors: BTreeMap::new(),
        }
    }

    /// Everything that is done for a tile.
    pub(super) fn body(mut self, out: &mut Writer) {
        self.arrays(out);
        self.pieces(&self.plan.pieces, out);
    }

    /// Makes room for what is kept.
    fn arrays(&mut self, out: &mut Writer) {
        for (&value, &(kind, _)) in &self.plan.kept {
            let Type { elem, dims } = self.program.ty(value).clone();
            let dims = std::iter::once(self.tile.points()).chain(dims).collect();
            let array = out.alloc(self.program, elem, dims, self.span);
            let name = self.program.values[value.index()].name.clone();
            self.program.values[array.index()].name = name;
            self.arrays.insert(value, array);
            if kind == PlaceKind::Buffer {
                self.buffers.insert(value, array);
            }
        }
        for (number, product) in self.plan.products.iter().enumerate() {
            let Terms::Matrices { direct, .. } = &product.terms else {
                continue;
            };
            let matrix = |this: &mut Self, out: &mut Writer, rows: Extent| {
                let dims = vec![rows, product.summed.1];
                out.alloc(this.program, product.elem, dims, product.span)
            };
            let moving = matrix(self, out, self.tile.points());
            let fixed = match direct {
                Some(direct) => direct.clone(),
                None => {
                    let along = vec![Along::Axis(1), Along::Axis(2)];
                    (matrix(self, out, product.rows.1), along)
                }
            };
            let along = vec![Along::Axis(0), Along::Axis(2)];
            self.factors.insert(number, [(moving, along), fixed]);
        }
    }

    fn pieces(&mut self, pieces: &[Piece], out: &mut Writer) {
        for piece in pieces {
            match piece {
                Piece::Same(stmt) => out.stmts.push(stmt.clone()),
                Piece::Loop(stmt, inner) => {
                    let mut stmt = stmt.clone();
                    if let KernelOp::For { body, .. } = &mut stmt.op {
                        let mut inside = Writer::default();
                        self.pieces(inner, &mut inside);
                        body.stmts = inside.stmts;
                    }
                    out.stmts.push(stmt);
                }
                Piece::Product(number) => self.product(*number, out),
                Piece::Points(part, stmts) => self.points(*part, stmts, out),
            }
        }
    }

    /// The sums of all points of the tile.
    fn product(&mut self, number: usize, out: &mut Writer) {
        let product = &self.plan.products[number];
        match &product.terms {
            Terms::Matrices {
                fixed,
                moving,
                direct,
            } => {
                let factors = self.factors[&number].clone();
                self.matrices(product, (fixed, direct.is_some()), moving, factors, out);
            }
            Terms::Pairs(pairs) => self.pairs(product, pairs, out),
        }
    }

    /// A product of matrices; the factor that is the same for all points is where it is, or written
    /// down.
    fn matrices(
        &mut self,
        product: &Product,
        (fixed, kept): (&Slice, bool),
        moving: &Slice,
        [(points, by_points), (rows, by_rows)]: [(ValueId, Vec<Along>); 2],
        out: &mut Writer,
    ) {
        let read = read(moving.stmts());
        self.each_point(out, product.span, |this, out, point| {
            let names = this.names(None, &read, point, out);
            this.row(product, moving, names, points, point, out);
        });
        if !kept {
            self.each(product.rows.1, out, product.span, |this, out, index| {
                let names = BTreeMap::from([(product.rows.0, index)]);
                this.row(product, fixed, names, rows, index, out);
            });
        }
        let op = KernelOp::Contract {
            out: self.arrays[&product.sums],
            factors: [points, rows],
            along: [vec![Along::Axis(0), Along::Axis(1)], by_points, by_rows],
            add: false,
            absorb: false,
            mask: None,
        };
        out.run(op, product.span);
    }

    /// Writes a row of a factor down, element by element.
    fn row(
        &mut self,
        product: &Product,
        factor: &Slice,
        names: BTreeMap<ValueId, ValueId>,
        array: ValueId,
        row: ValueId,
        out: &mut Writer,
    ) {
        let buffers = &self.buffers;
        let (summed, extent) = product.summed;
        out.each(self.program, extent, product.span, |program, out, index| {
            let mut names = names;
            names.insert(summed, index);
            let adapt = |op: &mut KernelOp| adapt(op, buffers, row);
            let value = factor.compute(program, names, out, &adapt);
            let op = KernelOp::Store {
                buffer: array,
                indices: vec![row, index],
                value,
            };
            out.run(op, product.span);
        });
    }

    /// A loop over the points of the tile.
    fn each_point(
        &mut self,
        out: &mut Writer,
        span: SpanId,
        inside: impl FnOnce(&mut Self, &mut Writer, ValueId),
    ) {
        self.each(self.tile.points(), out, span, inside);
    }

    /// A loop over an extent.
    pub(super) fn each(
        &mut self,
        extent: Extent,
        out: &mut Writer,
        span: SpanId,
        inside: impl FnOnce(&mut Self, &mut Writer, ValueId),
    ) {
        let index = self.program.value(Type::scalar(Elem::Index(extent)), span);
        let mut body = Writer::default();
        inside(self, &mut body, index);
        out.stmts.push(body.closed(extent, index, span));
    }

    /// What a point's values that are read in a part are called there: the index itself, and
    /// scalars that another part has kept.
    pub(super) fn names(
        &mut self,
        part: Option<usize>,
        read: &ValueSet,
        point: ValueId,
        out: &mut Writer,
    ) -> BTreeMap<ValueId, ValueId> {
        let mut names = BTreeMap::new();
        if read.contains(&self.lane) {
            let lane = self.tile.point(self.program, out, point, self.span);
            names.insert(self.lane, lane);
        }
        for (&value, &(kind, home)) in &self.plan.kept {
            if kind == PlaceKind::Scalar && home != part && read.contains(&value) {
                let op = KernelOp::Load {
                    buffer: self.arrays[&value],
                    indices: vec![point],
                };
                let ty = self.program.ty(value).clone();
                names.insert(value, out.bind(self.program, op, ty, self.span));
            }
        }
        names
    }

    /// What each point does by itself. A variable of the point's is one while it does.
    fn points(&mut self, part: usize, stmts: &[Stmt<Kernels>], out: &mut Writer) {
        let read = read(stmts);
        let mut changing = ValueSet::new();
        changes(stmts, &mut changing);
        self.each_point(out, self.span, |this, out, point| {
            let mut names = this.names(Some(part), &read, point, out);
            let mut stored = Vec::new();
            for (&value, &(kind, home)) in &this.plan.kept {
                if kind != PlaceKind::Var || home != Some(part) && !read.contains(&value) {
                    continue;
                }
                if home != Some(part) {
                    let ty = this.program.ty(value).clone();
                    let op = KernelOp::Load {
                        buffer: this.arrays[&value],
                        indices: vec![point],
                    };
                    let first = out.bind(this.program, op, ty.clone(), this.span);
                    let var = out.bind(this.program, KernelOp::Var(first), ty, this.span);
                    names.insert(value, var);
                }
                if home == Some(part) || changing.contains(&value) {
                    stored.push((value, names.get(&value).copied().unwrap_or(value)));
                }
            }
            this.stmts(stmts, &names, point, out);
            for (value, var) in stored {
                let ty = this.program.ty(value).clone();
                let last = out.bind(this.program, KernelOp::Get(var), ty, this.span);
                this.keep(value, point, last, out);
            }
        });
    }

    /// Stores a value where it is kept.
    fn keep(&self, kept: ValueId, point: ValueId, value: ValueId, out: &mut Writer) {
        let op = KernelOp::Store {
            buffer: self.arrays[&kept],
            indices: vec![point],
            value,
        };
        out.run(op, self.span);
    }

    fn stmts(
        &mut self,
        stmts: &[Stmt<Kernels>],
        names: &BTreeMap<ValueId, ValueId>,
        point: ValueId,
        out: &mut Writer,
    ) {
        for stmt in stmts {
            let mut stmt = stmt.clone();
            stmt.op.for_each_operand_mut(&mut |value| {
                *value = names.get(value).copied().unwrap_or(*value);
            });
            adapt(&mut stmt.op, &self.buffers, point);
            for inner in stmt.op.blocks_mut() {
                let mut inside = Writer::default();
                self.stmts(&inner.stmts, names, point, &mut inside);
                inner.stmts = inside.stmts;
                for value in &mut inner.results {
                    *value = names.get(value).copied().unwrap_or(*value);
                }
            }
            let kept = stmt.results.iter().find_map(|value| {
                let (kind, _) = self.plan.kept.get(value)?;
                Some((*value, *kind))
            });
            match (kept, &stmt.op) {
                (Some((buffer, PlaceKind::Buffer)), KernelOp::Alloc { fill }) => {
                    if let Some(fill) = *fill {
                        self.fill(self.arrays[&buffer], fill, point, stmt.span, out);
                    }
                }
                (Some((value, PlaceKind::Scalar)), _) => {
                    out.stmts.push(stmt);
                    self.keep(value, point, value, out);
                }
                _ => out.stmts.push(stmt),
            }
        }
    }

    /// Fills what a point has of an array.
    fn fill(&mut self, array: ValueId, fill: Lit, point: ValueId, span: SpanId, out: &mut Writer) {
        let dims = self.program.ty(array).dims[1..].to_vec();
        let ty = Type::scalar(Elem::Scalar(fill.scalar()));
        let value = out.bind(self.program, KernelOp::Const(fill), ty, span);
        fill_up(
            self.program,
            array,
            &mut vec![point],
            &dims,
            value,
            span,
            out,
        );
    }
}

/// Stores a value everywhere along these axes.
fn fill_up(
    program: &mut Program<Kernels>,
    array: ValueId,
    indices: &mut Vec<ValueId>,
    dims: &[Extent],
    value: ValueId,
    span: SpanId,
    out: &mut Writer,
) {
    match dims {
        [] => {
            let op = KernelOp::Store {
                buffer: array,
                indices: indices.clone(),
                value,
            };
            out.run(op, span);
        }
        [first, rest @ ..] => out.each(program, *first, span, |program, out, index| {
            indices.push(index);
            fill_up(program, array, indices, rest, value, span, out);
            indices.pop();
        }),
    }
}

/// Makes a statement of one point access what is kept for all of them.
pub(super) fn adapt(op: &mut KernelOp, buffers: &BTreeMap<ValueId, ValueId>, point: ValueId) {
    match op {
        KernelOp::Load { buffer, indices }
        | KernelOp::Store {
            buffer, indices, ..
        }
        | KernelOp::Combine {
            place: buffer,
            indices,
            ..
        } => {
            if let Some(&array) = buffers.get(buffer) {
                *buffer = array;
                indices.insert(0, point);
            }
        }
        KernelOp::Const(_)
        | KernelOp::Size(_)
        | KernelOp::Prim(..)
        | KernelOp::Select(..)
        | KernelOp::Alloc { .. }
        | KernelOp::Copy(_)
        | KernelOp::Var(_)
        | KernelOp::Get(_)
        | KernelOp::Set { .. }
        | KernelOp::Swap(..)
        | KernelOp::Contract { .. }
        | KernelOp::For { .. }
        | KernelOp::Own(Par { .. })
        | KernelOp::Assert { .. }
        | KernelOp::While { .. }
        | KernelOp::If { .. } => {}
    }
}

/// Everything that statements read, at any depth.
pub(super) fn read<'a>(stmts: impl IntoIterator<Item = &'a Stmt<Kernels>>) -> ValueSet {
    let mut found = ValueSet::new();
    for stmt in stmts {
        found.extend(stmt.op.operands());
        for inner in stmt.op.blocks() {
            found.extend(&read(&inner.stmts));
            found.extend(&inner.results);
        }
    }
    found
}

//! Sums of what is no product of matrices, for all points of a tile and all rows.
//!
//! ```text
//! for %i: I {                                          %t = alloc f64[J, I]                      # b, rows last
//!   for %j: J {                                        for %g: points / 4 {
//!     combine add %s, f(a[n, %j], b[%i, %j])             for %i: I {
//!   }                                          ▶           for %j: J {
//!   …                                                        combine add %s0, f(a[n0, %j], %t[%j, %i])
//! }                                                          combine add %s1, f(a[n1, %j], %t[%j, %i])
//!                                                            …
//! ```
//!
//! A processor computes several sums at once if what they are of lies side by side. So what is read
//! of the rows is written down with the rows last, and neighbouring rows are computed together; and
//! for a few points at a time, so that memory is not what limits. Where there are few rows, it is
//! the points of the tile that are neighbours, and what is read of them that is written down. How
//! many rows there are is asked when it is known. What is the same for all tiles is written down
//! before the first.

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::rewrite::{Writing, adapt, read};
use super::{LANE, Product, ROW, SUMMED, Terms};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Monoid, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::targets::cpu::tiling::backward_slices::{Depends, Loops, Slice};
use crate::targets::cpu::tiling::{Size, Tile, Writer};

/// How many points advance together: with as many sums for each of two vectors of rows, registers
/// are used and not exceeded.
const TOGETHER: u64 = 4;

/// How many rows there are at least, if that is known.
const LEAST: u64 = 4;

/// What is summed of pairs of a point and a row.
pub(super) struct Pairs {
    monoid: Monoid,
    /// From how many rows on they are the neighbours, and not the points.
    many: u64,
    term: Slice,
    /// What is the same for all points, and what is for all rows, as far as it is not read along
    /// them anyway.
    of_rows: Vec<Slice>,
    of_points: Vec<Slice>,
}

/// What are neighbours.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Neighbours {
    Rows,
    Points,
}

impl Pairs {
    pub(super) fn of(
        program: &Program<Kernels>,
        size: Size,
        depends: &Depends<'_>,
        monoid: Monoid,
        (lane, rows): (ValueId, (ValueId, Extent)),
        value: ValueId,
    ) -> Option<Self> {
        let few = matches!(rows.1, Extent::Const(length) if length < LEAST);
        if few || depends.of(value) != LANE | ROW | SUMMED {
            return None;
        }
        let along = |part: ValueId, own: ValueId, loops: Loops| match depends
            .stmt(part)
            .map(|stmt| &stmt.op)
        {
            Some(KernelOp::Load { indices, .. }) => {
                indices.split_last().is_some_and(|(last, rest)| {
                    *last == own && rest.iter().all(|&index| depends.of(index) & loops == 0)
                })
            }
            _ => false,
        };
        let parts = |own: ValueId, loops: Loops| -> Vec<Slice> {
            let parts = depends.parts(value, loops | SUMMED);
            let kept = parts.iter().filter(|&part| {
                !along(part, own, loops) && matches!(program.elem(part), Elem::Scalar(_))
            });
            kept.map(|part| Slice::of(depends, part)).collect()
        };
        let of_rows = parts(rows.0, ROW);
        (!of_rows.is_empty()).then(|| Self {
            monoid,
            many: size.rows,
            term: Slice::of(depends, value),
            of_points: parts(lane, LANE),
            of_rows,
        })
    }

    pub(super) fn stmts(&self) -> Vec<&Stmt<Kernels>> {
        self.term.stmts().collect()
    }

    fn parts(&self, neighbours: Neighbours) -> &[Slice] {
        match neighbours {
            Neighbours::Rows => &self.of_rows,
            Neighbours::Points => &self.of_points,
        }
    }

    /// What may be neighbours.
    fn candidates(&self, rows: Extent) -> &'static [Neighbours] {
        match rows {
            Extent::Const(length) if length < self.many => &[Neighbours::Points],
            Extent::Const(_) => &[Neighbours::Rows],
            Extent::Size(_) | Extent::Value(_) => &[Neighbours::Rows, Neighbours::Points],
        }
    }
}

/// What is told apart in the loops over neighbours.
struct One {
    index: ValueId,
    names: BTreeMap<ValueId, ValueId>,
}

/// Writes down what is the same for all tiles, before there are any: where, by what it is. `inside`
/// is what the kernel binds.
pub(super) fn before(
    program: &mut Program<Kernels>,
    products: &[Product],
    inside: &ValueSet,
    out: &mut Writer,
) -> BTreeMap<ValueId, ValueId> {
    let mut written = BTreeMap::new();
    for product in products {
        let Terms::Pairs(pairs) = &product.terms else {
            continue;
        };
        let axes = [product.summed, product.rows];
        let own = |value: &ValueId| axes.iter().any(|(index, _)| index == value);
        let known = |extent: Extent| !matches!(extent, Extent::Value(v) if inside.contains(&v));
        if !axes.iter().all(|axis| known(axis.1))
            || pairs.candidates(product.rows.1) == [Neighbours::Points]
        {
            continue;
        }
        for part in &pairs.of_rows {
            let bound: ValueSet = part.stmts().flat_map(|stmt| stmt.results.clone()).collect();
            let mut read = part.stmts().flat_map(|stmt| stmt.op.operands());
            if !read.all(|value| bound.contains(&value) || own(&value) || !inside.contains(&value))
            {
                continue;
            }
            let span = product.span;
            let array = out.alloc(
                program,
                program.elem(part.value()),
                axes.map(|axis| axis.1).to_vec(),
                span,
            );
            let indices =
                axes.map(|(_, extent)| program.value(Type::scalar(Elem::Index(extent)), span));
            let names = axes.iter().map(|axis| axis.0).zip(indices).collect();
            let mut body = Writer::default();
            let value = part.compute(program, names, &mut body, &|_| ());
            let op = KernelOp::Store {
                buffer: array,
                indices: indices.to_vec(),
                value,
            };
            body.run(op, span);
            let op = KernelOp::Own(Par {
                number: 0,
                by_columns: false,
                speculates: false,
                name: "turned".to_owned(),
                extents: axes.map(|axis| axis.1).to_vec(),
                accs: Vec::new(),
                folds: Vec::new(),
                body: Box::new(Block {
                    params: indices.to_vec(),
                    stmts: body.stmts,
                    results: Vec::new(),
                }),
            });
            out.run(op, span);
            written.insert(part.value(), array);
        }
    }
    written
}

impl Writing<'_> {
    /// The sums of all points of the tile.
    pub(super) fn pairs(&mut self, product: &Product, pairs: &Pairs, out: &mut Writer) {
        let (rows, span) = (product.rows.1, product.span);
        let [then, otherwise] = match pairs.candidates(rows) {
            &[one] => return self.side_by_side(product, pairs, one, out),
            both => [both[0], both[1]].map(|neighbours| {
                let mut inside = Writer::default();
                self.side_by_side(product, pairs, neighbours, &mut inside);
                Block {
                    stmts: inside.stmts,
                    ..Block::default()
                }
            }),
        };
        let length = out.size(self.program, rows, span);
        let many = out.number(self.program, pairs.many, span);
        let many = KernelOp::Prim(Prim::Ge, smallvec![length, many]);
        let cond = out.bind(self.program, many, Type::scalar(Elem::BOOL), span);
        let op = KernelOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        out.run(op, span);
    }

    fn side_by_side(
        &mut self,
        product: &Product,
        pairs: &Pairs,
        neighbours: Neighbours,
        out: &mut Writer,
    ) {
        let span = product.span;
        let written = self.written_down(product, pairs, neighbours, out);
        match neighbours {
            Neighbours::Rows => {
                let Tile { points, .. } = self.tile;
                let together = out.number(self.program, TOGETHER, span);
                let one = out.number(self.program, 1, span);
                let last = out.count(self.program, Prim::Sub, &[points, one], span);
                let more = out.number(self.program, TOGETHER - 1, span);
                let more = out.count(self.program, Prim::Add, &[points, more], span);
                let groups = out.count(self.program, Prim::Div, &[more, together], span);
                self.each(Extent::Value(groups), out, span, |this, out, group| {
                    let group = this.number(group, span, out);
                    let first = out.count(this.program, Prim::Mul, &[group, together], span);
                    let point = |number| {
                        let number = out.number(this.program, number, span);
                        let point = out.count(this.program, Prim::Add, &[first, number], span);
                        // The last ones are computed again where there are no more.
                        let point = out.count(this.program, Prim::Min, &[point, last], span);
                        this.point(product, point, out)
                    };
                    let points: Vec<One> = (0..TOGETHER).map(point).collect();
                    this.sums(product, pairs, neighbours, &points, &written, out);
                });
            }
            Neighbours::Points => {
                self.each(product.rows.1, out, span, |this, out, index| {
                    let names = BTreeMap::from([(product.rows.0, index)]);
                    this.sums(
                        product,
                        pairs,
                        neighbours,
                        &[One { index, names }],
                        &written,
                        out,
                    );
                });
            }
        }
    }

    /// Writes what is read of neighbours down, side by side: where, by what it is.
    fn written_down(
        &mut self,
        product: &Product,
        pairs: &Pairs,
        neighbours: Neighbours,
        out: &mut Writer,
    ) -> Vec<(ValueId, ValueId)> {
        let span = product.span;
        let (summed, extent) = product.summed;
        let side = match neighbours {
            Neighbours::Rows => product.rows.1,
            Neighbours::Points => self.tile.points(),
        };
        let mut written = Vec::new();
        for part in pairs.parts(neighbours) {
            if let Some(&array) = self.before.get(&part.value()) {
                written.push((part.value(), array));
                continue;
            }
            let elem = self.program.elem(part.value());
            let array = out.alloc(self.program, elem, vec![extent, side], span);
            written.push((part.value(), array));
            let one = |this: &mut Self, out: &mut Writer, mut names: BTreeMap<_, _>, index, own| {
                names.insert(summed, index);
                let buffers = &this.buffers;
                let adapt = |op: &mut KernelOp| adapt(op, buffers, own);
                let value = part.compute(this.program, names, out, &adapt);
                let op = KernelOp::Store {
                    buffer: array,
                    indices: vec![index, own],
                    value,
                };
                out.run(op, span);
            };
            match neighbours {
                // Stores to neighbours are the cheaper ones,
                Neighbours::Rows => self.each(extent, out, span, |this, out, index| {
                    this.each(side, out, span, |this, out, own| {
                        let names = BTreeMap::from([(product.rows.0, own)]);
                        one(this, out, names, index, own);
                    });
                }),
                // but points come from memory, in their order.
                Neighbours::Points => self.each(side, out, span, |this, out, own| {
                    let names = this.names(None, &read(part.stmts()), own, out);
                    this.each(extent, out, span, |this, out, index| {
                        one(this, out, names, index, own);
                    });
                }),
            }
        }
        written
    }

    fn number(&mut self, index: ValueId, span: SpanId, out: &mut Writer) -> ValueId {
        out.count(self.program, Prim::Cast(Scalar::Usize), &[index], span)
    }

    /// The point of the tile with this number.
    fn point(&mut self, product: &Product, number: ValueId, out: &mut Writer) -> One {
        let extent = self.tile.points();
        let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![number]);
        let index = out.bind(
            self.program,
            trust,
            Type::scalar(Elem::Index(extent)),
            product.span,
        );
        let names = self.names(None, &read(product.stmts()), index, out);
        One { index, names }
    }

    /// The sums of all neighbours with some others.
    fn sums(
        &mut self,
        product: &Product,
        pairs: &Pairs,
        neighbours: Neighbours,
        others: &[One],
        written: &[(ValueId, ValueId)],
        out: &mut Writer,
    ) {
        let (span, ty) = (product.span, Type::scalar(product.elem));
        let sums = self.arrays[&product.sums];
        let side = match neighbours {
            Neighbours::Rows => product.rows.1,
            Neighbours::Points => self.tile.points(),
        };
        self.each(side, out, span, |this, out, own| {
            let point_and_row = |other: &One| match neighbours {
                Neighbours::Rows => [other.index, own],
                Neighbours::Points => [own, other.index],
            };
            let names = match neighbours {
                Neighbours::Rows => BTreeMap::from([(product.rows.0, own)]),
                Neighbours::Points => this.names(None, &read(product.stmts()), own, out),
            };
            let identity = KernelOp::Const(pairs.monoid.identity(product.elem.repr()));
            let identity = out.bind(this.program, identity, ty.clone(), span);
            let place = |_| out.bind(this.program, KernelOp::Var(identity), ty.clone(), span);
            let places: Vec<ValueId> = others.iter().map(place).collect();
            this.each(product.summed.1, out, span, |this, out, index| {
                let mut shared = names;
                shared.insert(product.summed.0, index);
                for &(part, array) in written {
                    let load = KernelOp::Load {
                        buffer: array,
                        indices: vec![index, own],
                    };
                    let ty = this.program.ty(part).clone();
                    shared.insert(part, out.bind(this.program, load, ty, span));
                }
                for (other, &place) in others.iter().zip(&places) {
                    let mut names = shared.clone();
                    names.extend(&other.names);
                    let buffers = &this.buffers;
                    let adapt = |op: &mut KernelOp| adapt(op, buffers, point_and_row(other)[0]);
                    let value = pairs.term.compute(this.program, names, out, &adapt);
                    let op = KernelOp::Combine {
                        monoid: pairs.monoid,
                        place,
                        indices: Vec::new(),
                        value,
                    };
                    out.run(op, span);
                }
            });
            for (other, &place) in others.iter().zip(&places) {
                let value = out.bind(this.program, KernelOp::Get(place), ty.clone(), span);
                let op = KernelOp::Store {
                    buffer: sums,
                    indices: point_and_row(other).to_vec(),
                    value,
                };
                out.run(op, span);
            }
        });
    }
}

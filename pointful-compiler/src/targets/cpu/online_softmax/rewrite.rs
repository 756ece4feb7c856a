//! Kernels that go through tiles.

use smallvec::smallvec;

use super::Size;
use super::analysis::Plan;
use crate::contract::cloning::Renamed;
use crate::ir::stages::kernels::{Acc, KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, Scalar, SpanId, Stmt, Type, ValueId,
    ValueSet,
};
use crate::ops::Prim;
use crate::targets::cpu::tiling::{Cut, Tile, Writer};

impl Plan {
    /// Changes the block; says which statement comes next.
    pub(super) fn carry_out(
        mut self,
        program: &mut Program<Kernels>,
        size: Size,
        block: &mut Block<Kernels>,
    ) -> usize {
        let mut out = Writer::default();
        let (mut above, mut late, mut made, mut next) = (None, Vec::new(), None, 0);
        for (number, stmt) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
            if number == self.first {
                above = Some(stmt);
            } else if self.late.contains(&number) {
                late.push(stmt);
            } else if let Some(above) = above.take_if(|_| number == self.second) {
                let tiles = Tiles::new(program, &self, size, stmt.span, &mut out);
                let plain = [&above, &stmt].map(|stmt| Renamed::default().copy(program, stmt));
                let [first, second] = plain;
                let tiled = self.in_tiles(program, &tiles, above, stmt);
                out.stmts.push(tiles.choice(tiled, first));
                out.stmts.append(&mut late);
                let together = self.bring_together(program, &tiles);
                out.stmts.push(tiles.choice(together, second));
                next = out.stmts.len();
                made = Some(tiles);
            } else if let (Some(tiles), Some(buffers)) = (&made, self.readers.remove(&number)) {
                let plain = Renamed::default().copy(program, &stmt);
                let tiled = read(program, tiles, &buffers, stmt);
                out.stmts.push(tiles.choice(tiled, plain));
            } else {
                out.stmts.push(stmt);
            }
        }
        block.stmts = out.stmts;
        next
    }

    /// Both kernels, tile by tile.
    fn in_tiles(
        &self,
        program: &mut Program<Kernels>,
        tiles: &Tiles,
        above: Stmt<Kernels>,
        below: Stmt<Kernels>,
    ) -> Stmt<Kernels> {
        let span = below.span;
        let (
            KernelOp::Own(Par {
                name,
                mut accs,
                body: mut first,
                ..
            }),
            KernelOp::Own(Par {
                name: then,
                accs: others,
                body: mut second,
                ..
            }),
        ) = (above.op, below.op)
        else {
            unreachable!("only kernels are planned")
        };
        let elem = program.elem(self.shift);
        let (mut inside, index, tile) = tiles.each(program, span);
        let top = variable(program, &mut inside, Monoid::Max, elem, None, span);
        for stmt in &mut first.stmts {
            if let KernelOp::Combine { place, .. } = &mut stmt.op
                && *place == self.top.private
            {
                *place = top;
            }
        }
        each_point(program, &mut inside, tile, *first, span);
        let top = inside.bind(program, KernelOp::Get(top), Type::scalar(elem), span);
        inside.run(combine(Monoid::Max, self.top.private, top), span);
        let top = finite(program, &mut inside, top, span);

        for sum in &self.sums {
            let private = Some(sum.private);
            variable(program, &mut inside, Monoid::Add, elem, private, span);
        }
        if let KernelOp::Prim(_, args) = &mut second.stmts[self.shifted].op {
            args[1] = top;
        }
        each_point(program, &mut inside, tile, *second, span);
        inside.run(store(tiles.tops, index, top), span);
        for (sum, &buffer) in self.sums.iter().zip(&tiles.sums) {
            let get = KernelOp::Get(sum.private);
            let sum = inside.bind(program, get, Type::scalar(elem), span);
            inside.run(store(buffer, index, sum), span);
        }

        let is_left = |acc: &Acc| self.sums.iter().all(|sum| sum.private != acc.private);
        accs.extend(others.into_iter().filter(is_left));
        let name = format!("{name}, then {then}, tile by tile while a cache holds it");
        tiles.kernel(name, accs, index, inside, span)
    }

    /// The kernel that brings the tiles' sums together, and leaves in the place of their maxima by
    /// what their exponentials are to be multiplied.
    fn bring_together(&self, program: &mut Program<Kernels>, tiles: &Tiles) -> Stmt<Kernels> {
        let (scalar, span) = (program.ty(self.shift).clone(), tiles.span);
        let index = tiles.index(program, span);
        let mut inside = Writer::default();
        let prim = |prim, args: &[ValueId]| KernelOp::Prim(prim, args.into());
        let top = inside.bind(program, load(tiles.tops, index), scalar.clone(), span);
        let below = prim(Prim::Sub, &[top, self.shift]);
        let below = inside.bind(program, below, scalar.clone(), span);
        let factor = inside.bind(program, prim(Prim::Exp, &[below]), scalar.clone(), span);
        inside.run(store(tiles.tops, index, factor), span);
        let mut accs = Vec::new();
        for (sum, &buffer) in self.sums.iter().zip(&tiles.sums) {
            let part = inside.bind(program, load(buffer, index), scalar.clone(), span);
            let value = prim(Prim::Mul, &[part, factor]);
            let value = inside.bind(program, value, scalar.clone(), span);
            let private = program.value(scalar.clone(), span);
            inside.run(combine(Monoid::Add, private, value), span);
            accs.push(Acc {
                private,
                ..sum.clone()
            });
        }
        let name = "tiles brought together".to_owned();
        tiles.kernel(name, accs, index, inside, span)
    }
}

/// The tiles, and what they leave.
struct Tiles {
    cut: Cut,
    /// Whether there are any.
    is_long: ValueId,
    /// Their maxima, and afterwards what their exponentials are to be multiplied by.
    tops: ValueId,
    sums: Vec<ValueId>,
    span: SpanId,
}

impl Tiles {
    fn new(
        program: &mut Program<Kernels>,
        plan: &Plan,
        size: Size,
        span: SpanId,
        out: &mut Writer,
    ) -> Self {
        let mut cut = Cut::of(program, out, plan.extent, size.tile, span);
        let least = out.number(program, size.least, span);
        let is_long = KernelOp::Prim(Prim::Ge, smallvec![cut.length, least]);
        let is_long = out.bind(program, is_long, Type::scalar(Elem::BOOL), span);
        let none = out.number(program, 0, span);
        let tiles = KernelOp::Select(is_long, cut.tiles, none);
        cut.tiles = out.bind(program, tiles, Type::scalar(Elem::USIZE), span);
        let elem = program.elem(plan.shift);
        let mut alloc = || {
            let dims = vec![Extent::Value(cut.tiles)];
            out.alloc(program, elem, dims, span)
        };
        let (tops, sums): (_, Vec<_>) = (alloc(), plan.sums.iter().map(|_| alloc()).collect());
        name(program, tops, "tops");
        for &sum in &sums {
            name(program, sum, "sums");
        }
        Self {
            cut,
            is_long,
            tops,
            sums,
            span,
        }
    }

    /// One kernel if there are tiles, and another one otherwise.
    fn choice(&self, tiled: Stmt<Kernels>, plain: Stmt<Kernels>) -> Stmt<Kernels> {
        let span = tiled.span;
        let [then, otherwise] = [tiled, plain].map(|stmt| Block {
            stmts: vec![stmt],
            ..Block::default()
        });
        let cond = self.is_long;
        let op = KernelOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Stmt::new(Vec::new(), op, span)
    }

    fn index(&self, program: &mut Program<Kernels>, span: SpanId) -> ValueId {
        let tiles = Extent::Value(self.cut.tiles);
        let index = program.value(Type::scalar(Elem::Index(tiles)), span);
        name(program, index, "tile");
        index
    }

    /// What begins the body of a kernel: its statements, its index, and the tile.
    fn each(&self, program: &mut Program<Kernels>, span: SpanId) -> (Writer, ValueId, Tile) {
        let (mut inside, index) = (Writer::default(), self.index(program, span));
        let tile = self.cut.tile(program, &mut inside, index, span);
        (inside, index, tile)
    }

    /// A kernel over the tiles.
    fn kernel(
        &self,
        name: String,
        accs: Vec<Acc>,
        index: ValueId,
        inside: Writer,
        span: SpanId,
    ) -> Stmt<Kernels> {
        let op = KernelOp::Own(Par {
            number: 0,
            by_columns: false,
            speculates: false,
            name,
            extents: vec![Extent::Value(self.cut.tiles)],
            accs,
            folds: Vec::new(),
            body: Box::new(Block {
                params: vec![index],
                stmts: inside.stmts,
                results: Vec::new(),
            }),
        });
        Stmt::new(Vec::new(), op, span)
    }
}

/// A kernel that reads exponentials, tile by tile: it multiplies what it reads by the tile's
/// factor.
fn read(
    program: &mut Program<Kernels>,
    tiles: &Tiles,
    buffers: &ValueSet,
    stmt: Stmt<Kernels>,
) -> Stmt<Kernels> {
    fn multiply(
        program: &mut Program<Kernels>,
        block: &mut Block<Kernels>,
        buffers: &ValueSet,
        factor: ValueId,
    ) {
        for mut stmt in std::mem::take(&mut block.stmts) {
            for inner in stmt.op.blocks_mut() {
                multiply(program, inner, buffers, factor);
            }
            let product = match &stmt.op {
                KernelOp::Load { buffer, .. } if buffers.contains(buffer) => {
                    let read = program.value(program.ty(factor).clone(), stmt.span);
                    let results = std::mem::replace(&mut stmt.results, vec![read]);
                    let op = KernelOp::Prim(Prim::Mul, smallvec![read, factor]);
                    Some(Stmt::new(results, op, stmt.span))
                }
                _ => None,
            };
            block.stmts.push(stmt);
            block.stmts.extend(product);
        }
    }

    let span = stmt.span;
    let KernelOp::Own(Par {
        name,
        accs,
        body: mut points,
        ..
    }) = stmt.op
    else {
        unreachable!("only kernels are planned")
    };
    let (mut inside, index, tile) = tiles.each(program, span);
    let scalar = Type::scalar(program.elem(tiles.tops));
    let factor = inside.bind(program, load(tiles.tops, index), scalar, span);
    multiply(program, &mut points, buffers, factor);
    each_point(program, &mut inside, tile, *points, span);
    tiles.kernel(name, accs, index, inside, span)
}

/// What is read of in `explain!`.
fn name(program: &mut Program<Kernels>, value: ValueId, name: &str) {
    program.values[value.index()].name = Some(name.to_owned());
}

/// A loop over the points of a tile, which do what those of a kernel did.
fn each_point(
    program: &mut Program<Kernels>,
    out: &mut Writer,
    tile: Tile,
    points: Block<Kernels>,
    span: SpanId,
) {
    out.each(program, tile.points(), span, |program, inside, index| {
        let number = tile.number(program, inside, index, span);
        let trust = KernelOp::Prim(Prim::Trust(tile.extent), smallvec![number]);
        inside.stmts.push(Stmt::new(points.params, trust, span));
        inside.stmts.extend(points.stmts);
    });
}

/// A scalar place that begins as a monoid's identity: a new one, or one that is bound nowhere else.
fn variable(
    program: &mut Program<Kernels>,
    out: &mut Writer,
    monoid: Monoid,
    elem: Elem,
    place: Option<ValueId>,
    span: SpanId,
) -> ValueId {
    let scalar = Type::scalar(elem);
    let identity = KernelOp::Const(monoid.identity(elem.repr()));
    let identity = out.bind(program, identity, scalar.clone(), span);
    let place = place.unwrap_or_else(|| program.value(scalar, span));
    let var = KernelOp::Var(identity);
    out.stmts.push(Stmt::new(vec![place], var, span));
    place
}

/// A number, or the smallest finite one for minus infinity, and 0 for infinity.
fn finite(
    program: &mut Program<Kernels>,
    out: &mut Writer,
    number: ValueId,
    span: SpanId,
) -> ValueId {
    let scalar = program.ty(number).clone();
    let float = scalar.elem.repr();
    let most = match float {
        Scalar::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let [least, most, zero] = [-most, most, 0.0].map(|number| {
        let number = KernelOp::Const(Lit::of(float, number));
        out.bind(program, number, scalar.clone(), span)
    });
    let number = KernelOp::Prim(Prim::Max, smallvec![number, least]);
    let number = out.bind(program, number, scalar.clone(), span);
    let is_finite = KernelOp::Prim(Prim::Le, smallvec![number, most]);
    let is_finite = out.bind(program, is_finite, Type::scalar(Elem::BOOL), span);
    let op = KernelOp::Select(is_finite, number, zero);
    out.bind(program, op, scalar, span)
}

fn load(buffer: ValueId, index: ValueId) -> KernelOp {
    let indices = vec![index];
    KernelOp::Load { buffer, indices }
}

fn store(buffer: ValueId, index: ValueId, value: ValueId) -> KernelOp {
    let indices = vec![index];
    KernelOp::Store {
        buffer,
        indices,
        value,
    }
}

fn combine(monoid: Monoid, place: ValueId, value: ValueId) -> KernelOp {
    let indices = Vec::new();
    KernelOp::Combine {
        monoid,
        place,
        indices,
        value,
    }
}

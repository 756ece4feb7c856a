//! Products of matrices inside of kernels, a tile at a time.
//!
//! # The idea
//!
//! What a kernel does at each point may be part of a product of matrices: of
//! `y[n, i] = Σⱼ a[i, j] · b[n, j]` a kernel over `n` computes one row. Where `a` is computed on
//! the way and `y` is used up at once, neither should be stored as a whole, which is why the
//! schedule has made loops of them; but a loop that computes one element after the other fetches
//! every element of `a` again for each point. So points are taken together in *tiles*: what is
//! multiplied is written down for a tile, which fits into a cache, and a library multiplies it.
//!
//! - [`matrix_products`]: a sum of products inside of a kernel's points. The points' statements are
//!   cut in front of each such sum, and each part is run for all points of a tile; what one part
//!   hands to another is kept for the tile.
//! - [`rank_k_updates`]: products that three sequential loops add up. The summed loop is cut into
//!   tiles.
//!
//! # Why it is sound
//!
//! Points do not see each other, so any order of their statements that keeps each point's own is as
//! good. Sums of products are associated otherwise, by lengths alone.
//!
//! # Before and after
//!
//! ```text
//! par %n: N {                                par %t: tiles {
//!   for %i: D {                                %b = alloc f64[R, D]                      # R points of the tile
//!     var %s                                   for %r: R { for %j: D { store %b[%r, %j], x[n, %j] - m[%j] } }
//!     for %j: D {                              %y = alloc f64[R, D]
//!       combine add %s[],                ▶     contract %y[0, 1] = %b[0, 2], a[1, 2]
//!         a[%i, %j] * (x[%n, %j] - m[%j])      for %r: R {
//!     }                                          for %i: D { … %y[%r, %i] … }
//!     …                                        }
//!   }                                        }
//! }
//! ```

mod backward_slices;
mod matrix_products;
mod rank_k_updates;
#[cfg(test)]
mod tests;

use smallvec::smallvec;

use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const TILING: Pass<Kernels> = Pass {
    name: "tiling",
    about: "multiply matrices inside of kernels by a library, a tile at a time",
    run: tiling,
};

/// Multiplies matrices inside of kernels by a library.
pub fn tiling(program: Program<Kernels>) -> Program<Kernels> {
    tiling_of(program, Size::CACHED)
}

/// How many points a tile has.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// What a tile keeps, in bytes, unless that makes it too short.
    bytes: u64,
    /// Points at least and at most.
    points: (u64, u64),
    /// The least where no library multiplies: nothing is packed there.
    alone: u64,
    /// How many rows there are at least if neighbouring ones are to be computed at once.
    rows: u64,
}

impl Size {
    /// Tiles that stay in a core's own cache, with as many points as make packing a matrix cheap
    /// beside multiplying by it.
    const CACHED: Self = Self {
        bytes: 1 << 18,
        points: (32, 128),
        alone: 4,
        rows: 16,
    };

    /// Always so many points, for tests.
    pub fn of(points: u64) -> Self {
        Self {
            bytes: 0,
            points: (points, points),
            alone: points,
            rows: 2,
        }
    }
}

/// Elements that a matrix has at least along each axis, as far as that is known.
const LEAST: u64 = 8;

/// [`tiling`] of this size.
pub fn tiling_of(program: Program<Kernels>, size: Size) -> Program<Kernels> {
    program.rewritten(|program, body| host(program, size, body))
}

/// Looks for kernels in what the host does.
fn host(program: &mut Program<Kernels>, size: Size, block: &mut Block<Kernels>) {
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        match &mut stmt.op {
            KernelOp::Own(Par { body, .. }) => {
                rank_k_updates::updates(program, size, body, &mut out);
                let tiled = matrix_products::tiled(program, size, &stmt, &mut out);
                out.stmts.push(tiled.unwrap_or(stmt));
            }
            KernelOp::For { body, .. } => {
                host(program, size, body);
                out.stmts.push(stmt);
            }
            KernelOp::While { cond, body } => {
                host(program, size, cond);
                host(program, size, body);
                out.stmts.push(stmt);
            }
            KernelOp::If {
                then, otherwise, ..
            } => {
                host(program, size, then);
                host(program, size, otherwise);
                out.stmts.push(stmt);
            }
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Copy(_)
            | KernelOp::Load { .. }
            | KernelOp::Store { .. }
            | KernelOp::Combine { .. }
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::Set { .. }
            | KernelOp::Swap(..)
            | KernelOp::Contract { .. }
            | KernelOp::Assert { .. } => out.stmts.push(stmt),
        }
    }
    block.stmts = out.stmts;
}

/// Whether an axis is, or may be, long enough to be one of a matrix.
fn is_long(extent: Extent) -> bool {
    match extent {
        Extent::Const(length) => length >= LEAST,
        Extent::Size(_) | Extent::Value(_) => true,
    }
}

/// Statements being written.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) stmts: Vec<Stmt<Kernels>>,
}

impl Writer {
    /// A statement that binds a value.
    pub(super) fn bind(
        &mut self,
        program: &mut Program<Kernels>,
        op: KernelOp,
        ty: Type<Extent>,
        span: SpanId,
    ) -> ValueId {
        let value = program.value(ty, span);
        self.stmts.push(Stmt::new(vec![value], op, span));
        value
    }

    /// A statement that binds nothing.
    pub(super) fn run(&mut self, op: KernelOp, span: SpanId) {
        self.stmts.push(Stmt::new(Vec::new(), op, span));
    }

    pub(super) fn count(
        &mut self,
        program: &mut Program<Kernels>,
        prim: Prim,
        args: &[ValueId],
        span: SpanId,
    ) -> ValueId {
        let op = KernelOp::Prim(prim, args.into());
        self.bind(program, op, Type::scalar(Elem::USIZE), span)
    }

    pub(super) fn number(
        &mut self,
        program: &mut Program<Kernels>,
        number: u64,
        span: SpanId,
    ) -> ValueId {
        let op = KernelOp::Const(Lit::Int(Scalar::Usize, i128::from(number)));
        self.bind(program, op, Type::scalar(Elem::USIZE), span)
    }

    pub(super) fn size(
        &mut self,
        program: &mut Program<Kernels>,
        extent: Extent,
        span: SpanId,
    ) -> ValueId {
        match extent {
            Extent::Const(number) => self.number(program, number, span),
            Extent::Size(_) => {
                let op = KernelOp::Size(extent);
                self.bind(program, op, Type::scalar(Elem::USIZE), span)
            }
            Extent::Value(value) => value,
        }
    }

    pub(super) fn alloc(
        &mut self,
        program: &mut Program<Kernels>,
        elem: Elem,
        dims: Vec<Extent>,
        span: SpanId,
    ) -> ValueId {
        let op = KernelOp::Alloc { fill: None };
        self.bind(program, op, Type::table(elem, dims), span)
    }

    /// A loop over an extent, whose body `inside` writes.
    pub(super) fn each(
        &mut self,
        program: &mut Program<Kernels>,
        extent: Extent,
        span: SpanId,
        inside: impl FnOnce(&mut Program<Kernels>, &mut Writer, ValueId),
    ) {
        let index = program.value(Type::scalar(Elem::Index(extent)), span);
        let mut body = Writer::default();
        inside(program, &mut body, index);
        self.stmts.push(body.closed(extent, index, span));
    }

    /// A loop over an extent with these statements.
    fn closed(self, extent: Extent, index: ValueId, span: SpanId) -> Stmt<Kernels> {
        let body = Block {
            params: vec![index],
            stmts: self.stmts,
            results: Vec::new(),
        };
        let op = KernelOp::For {
            extent,
            reverse: false,
            body: Box::new(body),
        };
        Stmt::new(Vec::new(), op, span)
    }
}

/// An axis cut into tiles.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    extent: Extent,
    /// Its length, the points of a full tile, and how many tiles there are.
    pub(super) length: ValueId,
    full: ValueId,
    pub(super) tiles: ValueId,
}

impl Cut {
    /// Cuts an axis: `bytes` are what a point keeps, some bytes and some arrays' elements.
    fn new(
        program: &mut Program<Kernels>,
        size: Size,
        out: &mut Writer,
        extent: Extent,
        bytes: u64,
        arrays: &[(Elem, Vec<Extent>)],
        span: SpanId,
    ) -> Self {
        let length = out.size(program, extent, span);
        let mut kept = out.number(program, bytes.max(1), span);
        for (elem, dims) in arrays {
            let mut all = out.number(program, elem.repr().bytes(), span);
            for &dim in dims {
                let dim = out.size(program, dim, span);
                all = out.count(program, Prim::Mul, &[all, dim], span);
            }
            kept = out.count(program, Prim::Add, &[kept, all], span);
        }
        let room = out.number(program, size.bytes, span);
        let fit = out.count(program, Prim::Div, &[room, kept], span);
        let least = out.number(program, size.points.0, span);
        let most = out.number(program, size.points.1, span);
        let fit = out.count(program, Prim::Max, &[fit, least], span);
        let full = out.count(program, Prim::Min, &[fit, most], span);
        Self::of_tiles(program, out, extent, [length, full], span)
    }

    /// Cuts an axis into tiles of so many points.
    pub(super) fn of(
        program: &mut Program<Kernels>,
        out: &mut Writer,
        extent: Extent,
        points: u64,
        span: SpanId,
    ) -> Self {
        let length = out.size(program, extent, span);
        let full = out.number(program, points, span);
        Self::of_tiles(program, out, extent, [length, full], span)
    }

    fn of_tiles(
        program: &mut Program<Kernels>,
        out: &mut Writer,
        extent: Extent,
        [length, full]: [ValueId; 2],
        span: SpanId,
    ) -> Self {
        let more = out.count(program, Prim::Add, &[length, full], span);
        let one = out.number(program, 1, span);
        let last = out.count(program, Prim::Sub, &[more, one], span);
        let tiles = out.count(program, Prim::Div, &[last, full], span);
        Self {
            extent,
            length,
            full,
            tiles,
        }
    }

    /// A tile, given its index.
    pub(super) fn tile(
        &self,
        program: &mut Program<Kernels>,
        out: &mut Writer,
        index: ValueId,
        span: SpanId,
    ) -> Tile {
        let index = out.count(program, Prim::Cast(Scalar::Usize), &[index], span);
        let first = out.count(program, Prim::Mul, &[index, self.full], span);
        let left = out.count(program, Prim::Sub, &[self.length, first], span);
        let points = out.count(program, Prim::Min, &[left, self.full], span);
        Tile {
            extent: self.extent,
            first,
            points,
        }
    }
}

/// A tile: its first point, and how many it has.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) extent: Extent,
    first: ValueId,
    points: ValueId,
}

impl Tile {
    pub(super) fn points(&self) -> Extent {
        Extent::Value(self.points)
    }

    /// The number on the axis of a point of the tile.
    pub(super) fn number(
        &self,
        program: &mut Program<Kernels>,
        out: &mut Writer,
        index: ValueId,
        span: SpanId,
    ) -> ValueId {
        let index = out.count(program, Prim::Cast(Scalar::Usize), &[index], span);
        out.count(program, Prim::Add, &[self.first, index], span)
    }

    /// A point of the tile as one of the axis.
    pub(super) fn point(
        &self,
        program: &mut Program<Kernels>,
        out: &mut Writer,
        index: ValueId,
        span: SpanId,
    ) -> ValueId {
        let at = self.number(program, out, index, span);
        let op = KernelOp::Prim(Prim::Trust(self.extent), smallvec![at]);
        out.bind(program, op, Type::scalar(Elem::Index(self.extent)), span)
    }
}

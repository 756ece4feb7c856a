//! Mapping: from Kernels to Gpu, where each point of a parallel nest is a thread's.
//!
//! # The idea
//!
//! A nest becomes a launch over the same extents: a thread a point, or a team of threads that share
//! its loops ([`teams`]). What its points combine is combined by parts, whose copies are merged by
//! another launch ([`merge`]). Where points have
//! arrays whose lengths they compute, a trial comes first ([`trial`]). What stands on the host and touches elements becomes a launch of one thread, as the host has no elements: a loop if
//! nothing in it is the host's, else one statement after the other. What a library multiplies on
//! the host's processor is a nest here, too. All other operations of the host stay what they are.
//!
//! # Why it is sound
//!
//! The points of a nest may be run in any order. Where an operator of the author's joins, parts are
//! of neighbouring points in their order, and neighbours are joined first: nothing but associativity
//! is assumed. Monoids are commutative as well, so that other parts take turns. The number of parts
//! is computed from sizes alone.
//!
//! # Before and after
//!
//! ```text
//! par "sum" %1: I (add %2 = %0) {          %1 = … min …                       # how many parts
//!   %3 = load x[%1]                        %2 = alloc f64[%1]
//!   combine add %2[], %3                   %9 = … select …                    # threads of a team
//! }                                        launch "sum" block 256 team %9 %3: %1 {
//!                                            %4 = const 0.0f64
//!                                            %5 = var %4
//!                                      ▶     lanes %6: I of %3 (add %5) { … combine add %5[], %7 }
//!                                            %8 = get %5
//!                                            store %2[%3], %8
//!                                          }
//!                                          launch "merge" block 256 team %10 %11: 1 { … }
//! ```

mod host;
mod merge;
mod teams;
mod thread;
mod trial;

use smallvec::smallvec;

use crate::ir::stages::gpu::{Gpu, GpuOp};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Elem, Extent, Lit, Program, Scalar, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;
use crate::targets::gpu::Missing;

/// How large is what a device has.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// How many parts the points of a nest are cut into at most,
    pub parts: u64,
    /// and how many elements the copies of all parts have together, unless one alone has more.
    pub copied: u64,
    /// How many bytes an array of a thread's has at most that needs no memory made by the host.
    pub array: u64,
    /// How many threads a team has that is a warp, and one that is a block,
    pub teams: [u64; 2],
    /// how few points are few for teams,
    pub few: u64,
    /// and how many points a part has at least that a team shares.
    pub part: u64,
}

impl Sizes {
    /// Few parts and no arrays, so that small programs have several parts and memory of threads'
    /// own.
    #[cfg(test)]
    pub(crate) const SMALL: Self = Self {
        parts: 3,
        copied: 12,
        array: 0,
        teams: [2, 4],
        few: 4,
        part: 2,
    };
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            parts: 1 << 14,
            copied: 1 << 24,
            array: 1024,
            teams: [32, 256],
            few: 1 << 11,
            part: 256,
        }
    }
}

/// What the threads of a device are to do for a program.
///
/// # Errors
/// What devices cannot do yet.
pub fn map(program: Program<Kernels>) -> Result<Program<Gpu>, Missing> {
    map_by(program, Sizes::default())
}

/// As [`map`], for a device of these sizes.
///
/// # Errors
/// See [`map`].
pub fn map_by(program: Program<Kernels>, sizes: Sizes) -> Result<Program<Gpu>, Missing> {
    let Program {
        name,
        sizes: extents,
        params,
        values,
        body,
        ..
    } = program;
    let mut map = Map {
        program: Program {
            sizes: extents,
            params,
            values,
            ..Program::new(name)
        },
        sizes,
    };
    let body = map.host(body)?;
    Ok(Program {
        body,
        ..map.program
    })
}

/// Statements that are being written.
type Stmts = Vec<Stmt<Gpu>>;

struct Map {
    /// The program so far: without a body.
    program: Program<Gpu>,
    sizes: Sizes,
}

impl Map {
    fn value(&mut self, elem: Elem, span: SpanId) -> ValueId {
        self.program.value(Type::scalar(elem), span)
    }

    /// Binds a new scalar.
    fn bind(&mut self, out: &mut Stmts, op: GpuOp, elem: Elem, span: SpanId) -> ValueId {
        let value = self.value(elem, span);
        out.push(Stmt::new(vec![value], op, span));
        value
    }

    /// A literal, as an element of a table.
    fn lit(&mut self, out: &mut Stmts, lit: Lit, elem: Elem, span: SpanId) -> ValueId {
        let value = self.bind(out, GpuOp::Const(lit), Elem::Scalar(lit.scalar()), span);
        match elem {
            Elem::Index(extent) => {
                let trusted = GpuOp::Prim(Prim::Trust(extent), smallvec![value]);
                self.bind(out, trusted, elem, span)
            }
            Elem::Scalar(_) | Elem::Bound(_) => value,
        }
    }

    /// A number that is none of a table.
    fn number(&mut self, out: &mut Stmts, number: u64, span: SpanId) -> ValueId {
        let lit = Lit::Int(Scalar::Usize, i128::from(number));
        self.lit(out, lit, Elem::USIZE, span)
    }

    /// `x ∘ y` of numbers.
    fn of_numbers(
        &mut self,
        out: &mut Stmts,
        prim: Prim,
        [x, y]: [ValueId; 2],
        span: SpanId,
    ) -> ValueId {
        let op = GpuOp::Prim(prim, smallvec![x, y]);
        self.bind(out, op, Elem::USIZE, span)
    }

    /// How many elements a table of these extents has.
    fn product(&mut self, out: &mut Stmts, extents: &[Extent], span: SpanId) -> ValueId {
        let mut product = self.number(out, 1, span);
        for &extent in extents {
            let size = self.bind(out, GpuOp::Size(extent), Elem::USIZE, span);
            product = self.of_numbers(out, Prim::Mul, [product, size], span);
        }
        product
    }

    /// A new buffer of the host's.
    fn buffer(&mut self, out: &mut Stmts, ty: Type<Extent>, span: SpanId) -> ValueId {
        let buffer = self.program.value(ty, span);
        let alloc = GpuOp::Alloc { fill: None };
        out.push(Stmt::new(vec![buffer], alloc, span));
        buffer
    }

    /// Whether an array needs no memory that the host makes.
    fn fits_thread(&self, array: ValueId) -> bool {
        let Type { elem, dims } = self.program.ty(array);
        let bytes = dims
            .iter()
            .try_fold(elem.repr().bytes(), |bytes, dim| match dim {
                Extent::Const(number) => bytes.checked_mul(*number),
                Extent::Size(_) | Extent::Value(_) => None,
            });
        bytes.is_some_and(|bytes| bytes <= self.sizes.array)
    }

    /// Loops over these extents, around what `body` writes for their indices.
    fn nest(
        &mut self,
        out: &mut Stmts,
        extents: &[Extent],
        span: SpanId,
        body: impl FnOnce(&mut Self, &[ValueId], &mut Stmts),
    ) {
        let indices: Vec<ValueId> = extents
            .iter()
            .map(|&extent| self.value(Elem::Index(extent), span))
            .collect();
        let mut stmts = Stmts::new();
        body(self, &indices, &mut stmts);
        for (&extent, index) in extents.iter().zip(indices).rev() {
            let op = GpuOp::For {
                extent,
                reverse: false,
                body: Box::new(Block {
                    params: vec![index],
                    stmts,
                    results: Vec::new(),
                }),
            };
            stmts = vec![Stmt::new(Vec::new(), op, span)];
        }
        out.append(&mut stmts);
    }
}

fn load(buffer: ValueId, indices: Vec<ValueId>) -> GpuOp {
    GpuOp::Load { buffer, indices }
}

fn store(buffer: ValueId, indices: Vec<ValueId>, value: ValueId, span: SpanId) -> Stmt<Gpu> {
    let op = GpuOp::Store {
        buffer,
        indices,
        value,
    };
    Stmt::new(Vec::new(), op, span)
}

#[cfg(test)]
mod tests;

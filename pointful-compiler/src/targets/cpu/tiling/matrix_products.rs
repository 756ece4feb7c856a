//! Sums of products inside of a kernel's points: the points of a tile advance together.
//!
//! The statements of a point are cut into [pieces](Piece): what is the same for all points,
//! products of matrices, and what each point does by itself in between.
//!
//! Where what is summed is no product, but something else of pairs of a point and a row, no library
//! does it; then a few points advance together, so that what is read of the rows is
//! [read once for all of them](register_blocking).

mod live_values;
mod register_blocking;
mod rewrite;

use live_values::{Kept, Uses};
use register_blocking::Pairs;
use rewrite::Writing;

use super::backward_slices::{Depends, Loops, Slice};
use super::{Cut, Size, Writer, is_long};
use crate::analysis::accesses::changes;
use crate::analysis::effects::{for_each_length, is_pure};
use crate::ir::stages::kernels::{Along, KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Monoid, Operation, Program, SpanId, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;

/// The kernel with the points along one of its axes in tiles, if there is something to multiply;
/// `out` is given what the host computes for it.
pub(super) fn tiled(
    program: &mut Program<Kernels>,
    size: Size,
    stmt: &Stmt<Kernels>,
    out: &mut Writer,
) -> Option<Stmt<Kernels>> {
    let KernelOp::Own(Par {
        name,
        number: _,
        by_columns: _,
        speculates: _,
        extents,
        accs,
        folds,
        body,
    }) = &stmt.op
    else {
        return None;
    };
    // What is folded is changed by one point after the other.
    if !folds.is_empty() {
        return None;
    }
    let (axis, plan) = (0..extents.len()).find_map(|axis| {
        let plan = Plan::new(program, size, body, axis)?;
        Some((axis, plan))
    })?;
    let span = stmt.span;
    let before = register_blocking::before(program, &plan.products, &body.bound(), out);
    let cut = plan.cut(program, size, out, extents[axis], span);
    let mut extents = extents.clone();
    extents[axis] = Extent::Value(cut.tiles);
    let index = program.value(Type::scalar(Elem::Index(extents[axis])), span);
    let mut params = body.params.clone();
    params[axis] = index;
    let mut inside = Writer::default();
    let tile = cut.tile(program, &mut inside, index, span);
    let lane = body.params[axis];
    Writing::new(program, &plan, before, lane, tile, span).body(&mut inside);
    let body = Block {
        params,
        stmts: inside.stmts,
        results: Vec::new(),
    };
    let op = KernelOp::Own(Par {
        number: 0,
        by_columns: false,
        speculates: false,
        name: name.clone(),
        extents,
        accs: accs.clone(),
        folds: Vec::new(),
        body: Box::new(body),
    });
    Some(Stmt::new(Vec::new(), op, span))
}

/// A part of what is done at a point, or for all points of a tile at once.
enum Piece {
    /// It is the same for all points.
    Same(Stmt<Kernels>),
    /// A loop that all points are in together: its statement, without the body, and that.
    Loop(Stmt<Kernels>, Vec<Piece>),
    /// A product of matrices, by its number.
    Product(usize),
    /// What each point does by itself: its number, and the statements.
    Points(usize, Vec<Stmt<Kernels>>),
}

/// A sum for all `i` of a point: of products `Σⱼ fixed[i, j] · moving[n, j]`, or of something else
/// of the two.
struct Product {
    /// The sums of a point: a buffer over the rows that no statement allocates.
    sums: ValueId,
    /// The loop's index and extent.
    rows: (ValueId, Extent),
    /// What is summed over.
    summed: (ValueId, Extent),
    terms: Terms,
    elem: Elem,
    span: SpanId,
}

/// What is summed.
enum Terms {
    /// Products of matrices.
    Matrices {
        /// The factor that is the same for all points, and that of the points.
        fixed: Slice,
        moving: Slice,
        /// Where the fixed factor is, if it is read of a buffer as it stands.
        direct: Option<(ValueId, Vec<Along>)>,
    },
    Pairs(Pairs),
}

impl Product {
    /// The statements that what is summed is computed by.
    fn stmts(&self) -> Vec<&Stmt<Kernels>> {
        match &self.terms {
            Terms::Matrices { fixed, moving, .. } => fixed.stmts().chain(moving.stmts()).collect(),
            Terms::Pairs(pairs) => pairs.stmts(),
        }
    }
}

/// How the points of a kernel are cut.
struct Plan {
    pieces: Vec<Piece>,
    products: Vec<Product>,
    /// Scalars, `var`s and buffers of a point that more than one part of it uses, and the parts
    /// that bind them.
    kept: Kept,
    /// The extents of all that is kept.
    arrays: Vec<(Elem, Vec<Extent>)>,
}

impl Plan {
    /// A plan for the points along an axis.
    fn new(
        program: &mut Program<Kernels>,
        size: Size,
        body: &Block<Kernels>,
        axis: usize,
    ) -> Option<Self> {
        let mut planner = Planner::new(program, size, body, body.params[axis]);
        if !planner.multiplies(body) {
            return None;
        }
        let pieces = planner.pieces(body);
        let Planner { products, .. } = planner;
        let mut uses = Uses::default();
        uses.pieces(program, &products, &pieces);
        let kept = uses.kept(program)?;
        let of = |value: &ValueId| (program.elem(*value), program.ty(*value).dims.clone());
        let mut arrays: Vec<(Elem, Vec<Extent>)> = kept.keys().map(of).collect();
        // Products reuse memory one after the other.
        for product in &products {
            let lengths = [product.rows.1, product.summed.1];
            arrays.extend(lengths.map(|extent| (product.elem, vec![extent])));
        }
        let bound = body.bound();
        let outside = |dims: &[Extent]| {
            let known = |dim: &Extent| !matches!(dim, Extent::Value(v) if bound.contains(v));
            dims.iter().all(known)
        };
        let all = arrays.iter().all(|(_, dims)| outside(dims));
        all.then_some(Self {
            pieces,
            products,
            kept,
            arrays,
        })
    }

    fn cut(
        &self,
        program: &mut Program<Kernels>,
        mut size: Size,
        out: &mut Writer,
        extent: Extent,
        span: SpanId,
    ) -> Cut {
        let multiplied = |product: &Product| matches!(product.terms, Terms::Matrices { .. });
        if !self.products.iter().any(multiplied) {
            size.points.0 = size.alone;
        }
        let (scalars, arrays): (Vec<_>, Vec<_>) = self
            .arrays
            .iter()
            .cloned()
            .partition(|(_, dims)| dims.is_empty());
        let bytes = scalars.iter().map(|(elem, _)| elem.repr().bytes()).sum();
        Cut::new(program, size, out, extent, bytes, &arrays, span)
    }
}

/// The loops of a product by bit: the points, the rows and what is summed over.
const LANE: Loops = 1;
const ROW: Loops = 2;
const SUMMED: Loops = 4;

/// Cuts a body.
struct Planner<'a> {
    program: &'a mut Program<Kernels>,
    size: Size,
    /// The index of the points.
    lane: ValueId,
    /// What is not the same for all points.
    varying: ValueSet,
    products: Vec<Product>,
    /// Parts of points so far.
    parts: usize,
}

impl<'a> Planner<'a> {
    fn new(
        program: &'a mut Program<Kernels>,
        size: Size,
        body: &Block<Kernels>,
        lane: ValueId,
    ) -> Self {
        let mut varying = ValueSet::from([lane]);
        changes(&body.stmts, &mut varying);
        let mut planner = Self {
            program,
            size,
            lane,
            varying,
            products: Vec::new(),
            parts: 0,
        };
        planner.vary(body);
        planner
    }

    /// Finds what is not the same for all points. What a point has of its own, places and what is
    /// read of them, is not.
    fn vary(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let mut varies = !is_pure(self.program, stmt)
                || stmt.op.reads_any(|value| self.varying.contains(&value));
            for_each_length(self.program, stmt, &mut |length| {
                varies |= self.is_uneven(Extent::Value(length));
            });
            if varies {
                self.varying.extend(&stmt.results);
            }
            if let KernelOp::For { extent, body, .. } = &stmt.op
                && self.is_uneven(*extent)
            {
                self.varying.extend(&body.params);
            }
            for inner in stmt.op.blocks() {
                self.vary(inner);
            }
        }
    }

    /// Whether an extent is not the same for all points.
    fn is_uneven(&self, extent: Extent) -> bool {
        matches!(extent, Extent::Value(value) if self.varying.contains(&value))
    }

    /// Whether there is a product in a block that all points go through together.
    fn multiplies(&self, block: &Block<Kernels>) -> bool {
        block.stmts.iter().any(|stmt| match &stmt.op {
            KernelOp::For { extent, body, .. } => {
                !self.is_uneven(*extent) && (self.product(stmt).is_some() || self.multiplies(body))
            }
            _ => false,
        })
    }

    fn pieces(&mut self, block: &Block<Kernels>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut open: Vec<Stmt<Kernels>> = Vec::new();
        for stmt in &block.stmts {
            if is_pure(self.program, stmt) && !stmt.results.iter().any(|v| self.varying.contains(v))
            {
                pieces.push(Piece::Same(stmt.clone()));
                continue;
            }
            let KernelOp::For {
                extent,
                reverse,
                body,
            } = &stmt.op
            else {
                open.push(stmt.clone());
                continue;
            };
            if self.is_uneven(*extent) {
                open.push(stmt.clone());
            } else if let Some((at, mut product)) = self.product(stmt) {
                self.close(&mut pieces, &mut open);
                pieces.push(Piece::Product(self.products.len()));
                let sums = Type::table(product.elem, vec![product.rows.1]);
                product.sums = self.program.value(sums, stmt.span);
                open.push(self.replaced(stmt, at, &product));
                self.products.push(product);
            } else if self.multiplies(body) {
                self.close(&mut pieces, &mut open);
                let inner = self.pieces(body);
                let op = KernelOp::For {
                    extent: *extent,
                    reverse: *reverse,
                    body: Box::new(Block {
                        params: body.params.clone(),
                        ..Block::default()
                    }),
                };
                pieces.push(Piece::Loop(Stmt::new(Vec::new(), op, stmt.span), inner));
            } else {
                open.push(stmt.clone());
            }
        }
        self.close(&mut pieces, &mut open);
        pieces
    }

    /// The sum of products in a loop over rows, and which statement of the loop adds it up.
    fn product(&self, stmt: &Stmt<Kernels>) -> Option<(usize, Product)> {
        let KernelOp::For { extent, body, .. } = &stmt.op else {
            return None;
        };
        let rows = (body.params[0], *extent);
        let summing = |stmt: &Stmt<Kernels>| matches!(stmt.op, KernelOp::For { .. });
        if !is_long(rows.1) || !body.stmts.iter().any(summing) {
            return None;
        }
        let mut changing = ValueSet::new();
        changes(&body.stmts, &mut changing);
        let mut depends = Depends::new(self.program, &changing, &self.varying);
        depends.known(rows.0, ROW);
        for (at, inner) in body.stmts.iter().enumerate() {
            if let KernelOp::For { extent, body, .. } = &inner.op
                && is_long(*extent)
                && !self.is_uneven(*extent)
                && !matches!(extent, Extent::Value(value) if depends.of(*value) != 0)
                && let Some((last, before)) = body.stmts.split_last()
                && before.iter().all(|stmt| is_pure(self.program, stmt))
                && let KernelOp::Combine {
                    monoid,
                    place,
                    indices,
                    value,
                } = &last.op
                && indices.is_empty()
                && matches!(
                    depends.stmt(*place).map(|stmt| &stmt.op),
                    Some(KernelOp::Var(_))
                )
            {
                let summed = (body.params[0], *extent);
                depends.known(summed.0, SUMMED);
                depends.look(before);
                let terms = match monoid {
                    Monoid::Add => self.factors(&depends, rows, summed, *value),
                    _ => None,
                };
                let pairs = || {
                    Pairs::of(
                        self.program,
                        self.size,
                        &depends,
                        *monoid,
                        (self.lane, rows),
                        *value,
                    )
                };
                let elem = self.program.elem(*value);
                if let Some(terms) = terms.or_else(|| pairs().map(Terms::Pairs))
                    && elem.is_float()
                {
                    let product = Product {
                        sums: *value,
                        rows,
                        summed,
                        terms,
                        elem,
                        span: inner.span,
                    };
                    return Some((at, product));
                }
            }
            depends.look(std::slice::from_ref(inner));
        }
        None
    }

    fn factors(
        &self,
        depends: &Depends<'_>,
        rows: (ValueId, Extent),
        summed: (ValueId, Extent),
        value: ValueId,
    ) -> Option<Terms> {
        let KernelOp::Prim(Prim::Mul, args) = &depends.stmt(value)?.op else {
            return None;
        };
        let &[left, right] = args.as_slice() else {
            return None;
        };
        let [fixed, moving] = match [left, right].map(|factor| depends.of(factor)) {
            [a, b] if a == ROW | SUMMED && b == LANE | SUMMED => [left, right],
            [a, b] if a == LANE | SUMMED && b == ROW | SUMMED => [right, left],
            _ => return None,
        };
        let direct = match &depends.stmt(fixed)?.op {
            KernelOp::Load { buffer, indices } => {
                let numbered = [(rows.0, 1), (summed.0, 2)];
                let along = indices.iter().map(|&index| {
                    match numbered.iter().find(|(own, _)| *own == index) {
                        Some(&(_, number)) => Some(Along::Axis(number)),
                        None => depends.stmt(index).is_none().then_some(Along::At(index)),
                    }
                });
                let along: Option<Vec<Along>> = along.collect();
                let once = |along: &Vec<Along>| {
                    let times =
                        |number| along.iter().filter(|&&a| a == Along::Axis(number)).count() == 1;
                    times(1) && times(2)
                };
                along.filter(once).map(|along| (*buffer, along))
            }
            _ => None,
        };
        Some(Terms::Matrices {
            fixed: Slice::of(depends, fixed),
            moving: Slice::of(depends, moving),
            direct,
        })
    }

    /// A loop over rows that reads the sum where it was added up.
    fn replaced(&mut self, stmt: &Stmt<Kernels>, at: usize, product: &Product) -> Stmt<Kernels> {
        let mut stmt = stmt.clone();
        let KernelOp::For { body, .. } = &mut stmt.op else {
            unreachable!("rows are a loop");
        };
        let KernelOp::For { body: adding, .. } = &body.stmts[at].op else {
            unreachable!("products are added up in a loop");
        };
        let mut last = adding.stmts[adding.stmts.len() - 1].clone();
        let sum = self.program.value(Type::scalar(product.elem), product.span);
        let read = KernelOp::Load {
            buffer: product.sums,
            indices: vec![product.rows.0],
        };
        if let KernelOp::Combine { value, .. } = &mut last.op {
            *value = sum;
        }
        body.stmts
            .splice(at..=at, [Stmt::new(vec![sum], read, product.span), last]);
        stmt
    }

    fn close(&mut self, pieces: &mut Vec<Piece>, open: &mut Vec<Stmt<Kernels>>) {
        if !open.is_empty() {
            pieces.push(Piece::Points(self.parts, std::mem::take(open)));
            self.parts += 1;
        }
    }
}

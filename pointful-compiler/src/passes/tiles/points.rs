//! Sums of products inside of a kernel's points: the points of a tile advance together.
//!
//! The statements of a point are cut into [pieces](Piece): what is the same for all points, products of matrices, and what each point does by itself in between.

use std::collections::{BTreeMap, BTreeSet};

use super::reach::{Loops, Reach, bound, changes, compute, extents, is_pure, slice};
use super::{Cut, Size, Tile, Writer, is_long};
use crate::ir::stages::kernels::{Along, KernelOp, Kernels, PlaceKind};
use crate::ir::{
    Block, Elem, Extent, Lit, Monoid, Operation, Program, SpanId, Stmt, Type, ValueId,
};
use crate::ops::Prim;

/// The kernel with the points along one of its axes in tiles, if there is something to multiply; `out` is given what the host computes for it.
pub(super) fn tiled(
    program: &mut Program<Kernels>,
    size: Size,
    stmt: &Stmt<Kernels>,
    out: &mut Writer,
) -> Option<Stmt<Kernels>> {
    let KernelOp::Par {
        name,
        extents,
        accs,
        folds,
        body,
    } = &stmt.op
    else {
        return None;
    };
    // What is folded is changed by one point after the other.
    if !folds.is_empty() {
        return None;
    }
    let (axis, plan) = (0..extents.len()).find_map(|axis| {
        let plan = Plan::new(program, body, axis)?;
        Some((axis, plan))
    })?;
    let span = stmt.span;
    let cut = plan.cut(program, size, out, extents[axis], span);
    let mut extents = extents.clone();
    extents[axis] = Extent::Value(cut.tiles);
    let index = program.value(Type::scalar(Elem::Index(extents[axis])), span);
    let mut params = body.params.clone();
    params[axis] = index;
    let mut inside = Writer::default();
    let tile = cut.tile(program, &mut inside, index, span);
    let mut writing = Writing {
        program,
        plan: &plan,
        lane: body.params[axis],
        tile,
        span,
        arrays: BTreeMap::new(),
        buffers: BTreeMap::new(),
        factors: Vec::new(),
    };
    writing.arrays(&mut inside);
    writing.pieces(&plan.pieces, &mut inside);
    let body = Block {
        params,
        stmts: inside.stmts,
        results: Vec::new(),
    };
    let op = KernelOp::Par {
        name: name.clone(),
        extents,
        accs: accs.clone(),
        folds: Vec::new(),
        body,
    };
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

/// A sum of products `Σⱼ fixed[i, j] · moving[n, j]` for all `i`.
struct Product {
    /// The sums of a point: a buffer over the rows that no statement allocates.
    sums: ValueId,
    /// The loop's index and extent.
    rows: (ValueId, Extent),
    /// What is summed over.
    summed: (ValueId, Extent),
    /// The factor that is the same for all points, and that of the points; and the statements that compute them.
    fixed: (ValueId, BTreeMap<ValueId, Stmt<Kernels>>),
    moving: (ValueId, BTreeMap<ValueId, Stmt<Kernels>>),
    /// Where the fixed factor is, if it is read of a buffer as it stands.
    direct: Option<(ValueId, Vec<Along>)>,
    elem: Elem,
    span: SpanId,
}

/// How the points of a kernel are cut.
struct Plan {
    pieces: Vec<Piece>,
    products: Vec<Product>,
    /// Scalars, `var`s and buffers of a point that more than one part of it uses, and the parts that bind them.
    kept: BTreeMap<ValueId, (PlaceKind, Option<usize>)>,
    /// The extents of all that is kept.
    arrays: Vec<(Elem, Vec<Extent>)>,
}

impl Plan {
    /// A plan for the points along an axis.
    fn new(program: &mut Program<Kernels>, body: &Block<Kernels>, axis: usize) -> Option<Self> {
        let mut planner = Planner::new(program, body, body.params[axis]);
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
        let bound = bound(body);
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
        size: Size,
        out: &mut Writer,
        extent: Extent,
        span: SpanId,
    ) -> Cut {
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
    /// What is not the same for all points.
    varying: BTreeSet<ValueId>,
    products: Vec<Product>,
    /// Parts of points so far.
    parts: usize,
}

impl<'a> Planner<'a> {
    fn new(program: &'a mut Program<Kernels>, body: &Block<Kernels>, lane: ValueId) -> Self {
        let mut varying = BTreeSet::from([lane]);
        changes(&body.stmts, &mut varying);
        let mut planner = Self {
            program,
            varying,
            products: Vec::new(),
            parts: 0,
        };
        planner.vary(body);
        planner
    }

    /// Finds what is not the same for all points. What a point has of its own, places and what is read of them, is not.
    fn vary(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            let varies = stmt
                .op
                .operands()
                .iter()
                .any(|value| self.varying.contains(value))
                || extents(self.program, stmt)
                    .iter()
                    .any(|extent| self.is_uneven(*extent))
                || !is_pure(self.program, stmt);
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
                    body: Block {
                        params: body.params.clone(),
                        ..Block::default()
                    },
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
        let mut changing = BTreeSet::new();
        changes(&body.stmts, &mut changing);
        let mut reach = Reach::new(self.program, &changing, &self.varying);
        reach.known(rows.0, ROW);
        for (at, inner) in body.stmts.iter().enumerate() {
            if let KernelOp::For { extent, body, .. } = &inner.op
                && is_long(*extent)
                && !self.is_uneven(*extent)
                && !matches!(extent, Extent::Value(value) if reach.of(*value) != 0)
                && let Some((last, before)) = body.stmts.split_last()
                && before.iter().all(|stmt| is_pure(self.program, stmt))
                && let KernelOp::Combine {
                    monoid: Monoid::Add,
                    place,
                    indices,
                    value,
                } = &last.op
                && indices.is_empty()
                && matches!(
                    reach.stmt(*place).map(|stmt| &stmt.op),
                    Some(KernelOp::Var(_))
                )
            {
                let summed = (body.params[0], *extent);
                reach.known(summed.0, SUMMED);
                reach.look(before);
                if let Some(product) = self.factors(&reach, rows, summed, *value, inner.span) {
                    return Some((at, product));
                }
            }
            reach.look(std::slice::from_ref(inner));
        }
        None
    }

    fn factors(
        &self,
        reach: &Reach<'_>,
        rows: (ValueId, Extent),
        summed: (ValueId, Extent),
        value: ValueId,
        span: SpanId,
    ) -> Option<Product> {
        let KernelOp::Prim(Prim::Mul, args) = &reach.stmt(value)?.op else {
            return None;
        };
        let &[left, right] = args.as_slice() else {
            return None;
        };
        let [fixed, moving] = match [left, right].map(|factor| reach.of(factor)) {
            [a, b] if a == ROW | SUMMED && b == LANE | SUMMED => [left, right],
            [a, b] if a == LANE | SUMMED && b == ROW | SUMMED => [right, left],
            _ => return None,
        };
        let elem = self.program.elem(value);
        let direct = match &reach.stmt(fixed)?.op {
            KernelOp::Load { buffer, indices } => {
                let numbered = [(rows.0, 1), (summed.0, 2)];
                let along = indices.iter().map(|&index| {
                    match numbered.iter().find(|(own, _)| *own == index) {
                        Some(&(_, number)) => Some(Along::Axis(number)),
                        None => reach.stmt(index).is_none().then_some(Along::At(index)),
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
        elem.is_float().then(|| Product {
            sums: value,
            rows,
            summed,
            fixed: (fixed, slice(reach, fixed)),
            moving: (moving, slice(reach, moving)),
            direct,
            elem,
            span,
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

/// What parts of points, and products, read.
#[derive(Default)]
struct Uses {
    /// By value that a part binds for the rest of the point: the part, and how.
    home: BTreeMap<ValueId, (usize, PlaceKind)>,
    /// What is read, and by which part; products are none.
    reads: BTreeSet<(Option<usize>, ValueId)>,
    /// What only its own part may read: it is an extent, or used as a whole.
    fixed: BTreeSet<ValueId>,
    /// What products leave.
    sums: Vec<ValueId>,
}

impl Uses {
    fn pieces(&mut self, program: &Program<Kernels>, products: &[Product], pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Same(_) => {}
                Piece::Loop(_, inner) => self.pieces(program, products, inner),
                Piece::Product(number) => {
                    let product = &products[*number];
                    self.sums.push(product.sums);
                    for (_, stmts) in [&product.fixed, &product.moving] {
                        stmts
                            .values()
                            .for_each(|stmt| self.stmt(program, None, stmt));
                    }
                }
                Piece::Points(part, stmts) => {
                    for stmt in stmts {
                        let kind = match &stmt.op {
                            KernelOp::Var(_) => PlaceKind::Var,
                            KernelOp::Alloc { .. } | KernelOp::Copy(_) => PlaceKind::Buffer,
                            _ => PlaceKind::Scalar,
                        };
                        let homes = stmt.results.iter().map(|&value| (value, (*part, kind)));
                        self.home.extend(homes);
                        self.stmt(program, Some(*part), stmt);
                    }
                }
            }
        }
    }

    fn stmt(&mut self, program: &Program<Kernels>, part: Option<usize>, stmt: &Stmt<Kernels>) {
        let operands = stmt.op.operands();
        match &stmt.op {
            // Of copies and what is exchanged or multiplied as a whole there would have to be one for each point.
            KernelOp::Copy(_) => self.fixed.extend(operands.iter().chain(&stmt.results)),
            KernelOp::Swap(..) | KernelOp::Contract { .. } => self.fixed.extend(&operands),
            KernelOp::Const(_)
            | KernelOp::Size(_)
            | KernelOp::Prim(..)
            | KernelOp::Select(..)
            | KernelOp::Alloc { .. }
            | KernelOp::Load { .. }
            | KernelOp::Store { .. }
            | KernelOp::Combine { .. }
            | KernelOp::Var(_)
            | KernelOp::Get(_)
            | KernelOp::Set { .. }
            | KernelOp::For { .. }
            | KernelOp::Par { .. }
            | KernelOp::Assert { .. }
            | KernelOp::While { .. }
            | KernelOp::If { .. } => {}
        }
        self.reads
            .extend(operands.into_iter().map(|value| (part, value)));
        for extent in extents(program, stmt) {
            if let Extent::Value(value) = extent {
                self.fixed.insert(value);
                self.reads.insert((part, value));
            }
        }
        for inner in stmt.op.blocks() {
            for stmt in &inner.stmts {
                self.stmt(program, part, stmt);
            }
            self.reads
                .extend(inner.results.iter().map(|&value| (part, value)));
        }
    }

    /// What is kept for a tile, unless something of it cannot be.
    fn kept(
        &self,
        program: &Program<Kernels>,
    ) -> Option<BTreeMap<ValueId, (PlaceKind, Option<usize>)>> {
        let sums = self
            .sums
            .iter()
            .map(|&sums| (sums, (PlaceKind::Buffer, None)));
        let mut kept: BTreeMap<ValueId, _> = sums.collect();
        for (part, value) in &self.reads {
            let Some(&(home, kind)) = self.home.get(value) else {
                continue;
            };
            if *part == Some(home) {
                continue;
            }
            let uneven = match program.elem(*value) {
                Elem::Index(Extent::Value(extent)) => self.home.contains_key(&extent),
                Elem::Index(_) | Elem::Scalar(_) => false,
            };
            if uneven || self.fixed.contains(value) {
                return None;
            }
            kept.insert(*value, (kind, Some(home)));
        }
        Some(kept)
    }
}

/// Writes the body of a kernel over tiles.
struct Writing<'a> {
    program: &'a mut Program<Kernels>,
    plan: &'a Plan,
    /// The index that is in tiles.
    lane: ValueId,
    tile: Tile,
    span: SpanId,
    /// By what is kept: where, over the tile's points.
    arrays: BTreeMap<ValueId, ValueId>,
    /// The buffers of them.
    buffers: BTreeMap<ValueId, ValueId>,
    /// By product: where the factor of the points is, and the other one with what is gone through of it.
    factors: Vec<[(ValueId, Vec<Along>); 2]>,
}

impl Writing<'_> {
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
        for product in &self.plan.products {
            let matrix = |this: &mut Self, out: &mut Writer, rows: Extent| {
                let dims = vec![rows, product.summed.1];
                out.alloc(this.program, product.elem, dims, product.span)
            };
            let moving = matrix(self, out, self.tile.points());
            let fixed = match &product.direct {
                Some(direct) => direct.clone(),
                None => {
                    let along = vec![Along::Axis(1), Along::Axis(2)];
                    (matrix(self, out, product.rows.1), along)
                }
            };
            let along = vec![Along::Axis(0), Along::Axis(2)];
            self.factors.push([(moving, along), fixed]);
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

    /// A product of matrices, for all points of the tile.
    fn product(&mut self, number: usize, out: &mut Writer) {
        let product = &self.plan.products[number];
        let [moving, fixed] = self.factors[number].clone();
        let read = read(product.moving.1.values());
        self.each_point(out, product.span, |this, out, point| {
            let names = this.names(None, &read, point, out);
            this.row(product, &product.moving, names, moving.0, point, out);
        });
        if product.direct.is_none() {
            self.each(product.rows.1, out, product.span, |this, out, index| {
                let names = BTreeMap::from([(product.rows.0, index)]);
                this.row(product, &product.fixed, names, fixed.0, index, out);
            });
        }
        let op = KernelOp::Contract {
            out: self.arrays[&product.sums],
            factors: [moving.0, fixed.0],
            along: [vec![Along::Axis(0), Along::Axis(1)], moving.1, fixed.1],
            add: false,
        };
        out.run(op, product.span);
    }

    /// Writes a row of a factor down, element by element.
    fn row(
        &mut self,
        product: &Product,
        (value, stmts): &(ValueId, BTreeMap<ValueId, Stmt<Kernels>>),
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
            let value = compute(program, stmts, &mut names, *value, out, &adapt);
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
    fn each(
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

    /// What a point's values that are read in a part are called there: the index itself, and scalars that another part has kept.
    fn names(
        &mut self,
        part: Option<usize>,
        read: &BTreeSet<ValueId>,
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
        let mut changing = BTreeSet::new();
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
fn adapt(op: &mut KernelOp, buffers: &BTreeMap<ValueId, ValueId>, point: ValueId) {
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
        | KernelOp::Par { .. }
        | KernelOp::Assert { .. }
        | KernelOp::While { .. }
        | KernelOp::If { .. } => {}
    }
}

/// Everything that statements read, at any depth.
fn read<'a>(stmts: impl IntoIterator<Item = &'a Stmt<Kernels>>) -> BTreeSet<ValueId> {
    let mut found = BTreeSet::new();
    for stmt in stmts {
        found.extend(stmt.op.operands());
        for inner in stmt.op.blocks() {
            found.extend(read(&inner.stmts));
            found.extend(&inner.results);
        }
    }
    found
}

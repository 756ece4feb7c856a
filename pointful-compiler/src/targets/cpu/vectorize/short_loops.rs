//! Short rows, in strips that overlap.
//!
//! # The idea
//!
//! A loop over a row that an optimiser makes vectors of has three parts: several vectors at a time,
//! one at a time, and what is left, element by element. In a row of 30 the last is most of it.
//! Points are independent and may be computed twice, so the last strip may as well end where the
//! row ends. Whether a row is short is asked where it begins; and so is what all of its points decide
//! alike (loop unswitching).
//!
//! # Why it is sound
//!
//! A point writes elements of its own row and reads nothing that the row's points write, so that a
//! second time it writes what it has written.
//!
//! # Before and after
//!
//! ```text
//! range %j: J in %a..%b {            if %short {
//!   %1 = load x[%i, %j]                %r = strips 8 overlapping %f: J in %a..%b {
//!   %2 = sqrt %1                         %m = alloc f64[8]
//!   store t[%i, %j], %2       ▶          lanes %l: 8, %j: J of %f { …  store %m[%l], %2 }
//! }                                      lanes in order %l: 8, %j: J of %f { %3 = load %m[%l]  store t[%i, %j], %3 }
//!                                      }
//!                                    } else { range %j: J in %a..%b { … } }
//! ```

use crate::analysis::effects::is_pure;
use crate::analysis::numbers::Numbers;
use crate::contract::cloning::Renamed;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{
    Block, Elem, Extent, Lit, Operation, Program, Scalar, SpanId, Stmt, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;
use crate::targets::cpu::statements::{bind, number, prim, scalar};

use super::late::{Late, lanes};

/// The pass.
pub const SHORT_LOOPS: Pass<Cpu> = Pass {
    name: "short_loops",
    about: "run short rows in strips that overlap",
    run: short_loops,
};

/// Which rows are run in strips, and how wide those are.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    /// Bytes of a strip.
    pub bytes: u64,
    /// Rows of so many points are long: what is left of them is little.
    pub long: u64,
}

/// One of the widest vector registers.
const WIDE: Short = Short {
    bytes: 64,
    long: 128,
};

/// Bodies of more statements are not written down twice.
const MOST: usize = 64;

/// Runs short rows in strips that overlap.
pub fn short_loops(program: Program<Cpu>) -> Program<Cpu> {
    short_loops_by(program, WIDE)
}

/// [`short_loops`] of such rows.
pub fn short_loops_by(program: Program<Cpu>, short: Short) -> Program<Cpu> {
    program.rewritten(|program, body| {
        let mut rows = Rows {
            numbers: Numbers::of(body),
            program,
            short,
        };
        rows.host(body);
    })
}

struct Rows<'p> {
    program: &'p mut Program<Cpu>,
    numbers: Numbers,
    short: Short,
}

/// The points of a row, which are no more than a line of statements.
struct Points {
    /// The numbers of statements that are the same for all of a row.
    uniform: Vec<usize>,
    /// And of what is stored.
    stores: Vec<usize>,
    lanes: u64,
}

/// What is asked of all of a row alike.
struct Row {
    /// Conditions of branches.
    asked: Vec<ValueId>,
    /// The numbers of statements that are not the same along the row, or cannot come before it.
    within: Vec<usize>,
}

impl Row {
    /// None if a branch is not the same along it.
    fn of(program: &Program<Cpu>, body: &Block<Cpu>) -> Option<Self> {
        let mut inside = ValueSet::from([body.params[0]]);
        let mut row = Self {
            asked: Vec::new(),
            within: Vec::new(),
        };
        for (number, stmt) in body.stmts.iter().enumerate() {
            if let CpuOp::If { cond, .. } = stmt.op {
                if inside.contains(&cond) {
                    return None;
                }
                if !row.asked.contains(&cond) {
                    row.asked.push(cond);
                }
            }
            let same = !stmt.op.reads_any(|value| inside.contains(&value));
            let may_come_before = match &stmt.op {
                CpuOp::Load { .. } | CpuOp::If { .. } => false,
                _ => is_pure(program, stmt),
            };
            if !(same && may_come_before) {
                inside.extend(&stmt.results);
                row.within.push(number);
            }
        }
        Some(row)
    }
}

/// A body with one side of each branch in its place.
fn taken(body: &Block<Cpu>, holds: bool) -> Block<Cpu> {
    let stmts = body.stmts.iter().flat_map(|stmt| match &stmt.op {
        CpuOp::If {
            then, otherwise, ..
        } => match holds {
            true => then.stmts.clone(),
            false => otherwise.stmts.clone(),
        },
        _ => vec![stmt.clone()],
    });
    Block {
        params: body.params.clone(),
        stmts: stmts.collect(),
        results: Vec::new(),
    }
}

impl Rows<'_> {
    fn host(&mut self, block: &mut Block<Cpu>) {
        for stmt in &mut block.stmts {
            match &mut stmt.op {
                CpuOp::Own(Own::Par(par)) if par.extents.len() > 1 => self.rows(&mut par.body),
                op => op
                    .blocks_mut()
                    .into_iter()
                    .for_each(|inner| self.host(inner)),
            }
        }
    }

    /// The loops over points of a kernel's rows.
    fn rows(&mut self, block: &mut Block<Cpu>) {
        let stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::replace(&mut block.stmts, stmts) {
            match stmt.op {
                CpuOp::Own(Own::Range {
                    cold: false,
                    from,
                    to,
                    body,
                }) => {
                    let op = self.row((from, to), *body, stmt.span, &mut block.stmts);
                    block.stmts.push(Stmt { op, ..stmt });
                }
                CpuOp::If { .. } => {
                    for inner in stmt.op.blocks_mut() {
                        self.rows(inner);
                    }
                    block.stmts.push(stmt);
                }
                _ => block.stmts.push(stmt),
            }
        }
    }

    /// The points of a row. What all of them decide alike is asked once, around them: of one
    /// condition both sides are in strips, of several those of which all hold, as they do away from
    /// borders.
    fn row(
        &mut self,
        (from, to): (ValueId, ValueId),
        body: Block<Cpu>,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> CpuOp {
        let plain = |body| {
            CpuOp::Own(Own::Range {
                cold: false,
                from,
                to,
                body: Box::new(body),
            })
        };
        let Some(row) = Row::of(self.program, &body) else {
            return plain(body);
        };
        if row.asked.is_empty() {
            return match self.points(from, &body) {
                Some(points) => self.in_strips(&points, (from, to), body, span, out),
                None => plain(body),
            };
        }
        let within = row.within.iter().map(|&number| body.stmts[number].clone());
        let within = Block {
            params: body.params.clone(),
            stmts: within.collect(),
            results: Vec::new(),
        };
        let sides: &[bool] = match row.asked[..] {
            [_] => &[true, false],
            _ => &[true],
        };
        let mut ways = Vec::new();
        for &holds in sides {
            let way = taken(&within, holds);
            let Some(points) = self.points(from, &way) else {
                return plain(body);
            };
            ways.push((points, way));
        }
        let outside = (body.stmts.into_iter().enumerate())
            .filter(|(number, _)| !row.within.contains(number))
            .map(|(_, stmt)| stmt);
        out.extend(outside);
        let mut conds = row.asked.iter().copied();
        let first = conds.next().expect("something is asked");
        let cond = conds.fold(first, |all, cond| {
            prim(self.program, Prim::And, &[all, cond], Elem::BOOL, span, out)
        });
        let mut blocks = Vec::new();
        for (points, mut way) in ways {
            Renamed::default().block(self.program, &mut way);
            let mut block = Block::default();
            let op = self.in_strips(&points, (from, to), way, span, &mut block.stmts);
            block.stmts.push(Stmt::new(Vec::new(), op, span));
            blocks.push(Box::new(block));
        }
        let mut blocks = blocks.into_iter();
        let then = blocks.next().unwrap_or_default();
        let otherwise = blocks.next().unwrap_or_else(|| {
            Box::new(Block {
                stmts: vec![Stmt::new(Vec::new(), plain(within), span)],
                ..Block::default()
            })
        });
        CpuOp::If {
            cond,
            then,
            otherwise,
        }
    }

    /// Whether and how the points of a row run in strips.
    fn points(&self, from: ValueId, body: &Block<Cpu>) -> Option<Points> {
        let (index, extent) = (body.params[0], self.program.elem(from).extent()?);
        if body.stmts.len() > MOST {
            return None;
        }
        let mut varies = ValueSet::from([index]);
        let mut points = Points {
            uniform: Vec::new(),
            stores: Vec::new(),
            lanes: 0,
        };
        // Places of the row, and of a point.
        let (mut stored, mut own, mut read) = (ValueSet::new(), ValueSet::new(), ValueSet::new());
        let mut neighbours = ValueSet::new();
        let mut widest = 0;
        for (number, stmt) in body.stmts.iter().enumerate() {
            let along = |indices: &[ValueId]| {
                indices.split_last().is_some_and(|(last, rest)| {
                    let side_by_side =
                        *last == index || neighbours.contains(last) || !varies.contains(last);
                    side_by_side && !rest.iter().any(|index| varies.contains(index))
                })
            };
            let same = !stmt.op.reads_any(|value| varies.contains(&value));
            let fits = match &stmt.op {
                CpuOp::Const(_) | CpuOp::Size(_) | CpuOp::Select(..) => true,
                CpuOp::Prim(prim, args) => same || prim.vectorises(self.program.elem(args[0])),
                CpuOp::Load { buffer, indices } => {
                    read.insert(*buffer);
                    along(indices)
                }
                CpuOp::Store {
                    buffer, indices, ..
                } => {
                    widest = widest.max(self.program.elem(*buffer).repr().bytes());
                    stored.insert(*buffer) && along(indices) && indices.last() == Some(&index)
                }
                CpuOp::Var(_) => own.insert(stmt.results[0]),
                CpuOp::Get(place) | CpuOp::Set { place, .. } => own.contains(place),
                CpuOp::Combine { place, indices, .. } => own.contains(place) && indices.is_empty(),
                _ => false,
            };
            fits.then_some(())?;
            match &stmt.op {
                CpuOp::Store { .. } => points.stores.push(number),
                CpuOp::Prim(Prim::Trust(_), _) if !same => neighbours.extend(&stmt.results),
                CpuOp::Prim(..) | CpuOp::Select(..) | CpuOp::Const(_) | CpuOp::Size(_) if same => {
                    points.uniform.push(number);
                }
                _ => {}
            }
            let differs = match &stmt.op {
                // What is stored may be read again.
                CpuOp::Load { .. } | CpuOp::Var(_) | CpuOp::Get(_) => true,
                _ => !same,
            };
            if differs {
                varies.extend(&stmt.results);
            }
        }
        points.lanes = self.short.bytes / widest.max(4);
        let pays = match self.numbers.resolve(extent) {
            Extent::Const(length) => (points.lanes..self.short.long).contains(&length),
            Extent::Size(_) | Extent::Value(_) => true,
        };
        let alone = !points.stores.is_empty() && read.is_disjoint(&stored);
        (pays && alone && points.lanes > 1).then_some(points)
    }

    /// A row: in strips if it is short.
    fn in_strips(
        &mut self,
        points: &Points,
        (from, to): (ValueId, ValueId),
        body: Block<Cpu>,
        span: SpanId,
        out: &mut Vec<Stmt<Cpu>>,
    ) -> CpuOp {
        let (program, long) = (&mut *self.program, self.short.long);
        let [first, last] = [from, to].map(|bound| number(program, bound, span, out));
        let left = prim(program, Prim::Sub, &[last, first], Elem::USIZE, span, out);
        let [least, long] = [points.lanes, long].map(|number| {
            let lit = CpuOp::Const(Lit::Int(Scalar::Usize, i128::from(number)));
            bind(program, lit, Elem::USIZE, span, out)
        });
        let enough = prim(program, Prim::Ge, &[left, least], Elem::BOOL, span, out);
        let few = prim(program, Prim::Lt, &[left, long], Elem::BOOL, span, out);
        let cond = prim(program, Prim::And, &[enough, few], Elem::BOOL, span, out);
        let mut names = Renamed::default();
        let mut then = Block::default();
        let mut late = Late::new(program, points.lanes, span);
        let mut each = Block::default();
        let mut point = Block {
            params: body.params.clone(),
            ..Block::default()
        };
        for (number, stmt) in body.stmts.iter().enumerate() {
            if points.uniform.contains(&number) {
                let copy = names.copy(program, stmt);
                then.stmts.push(copy);
            } else if points.stores.contains(&number) {
                late.keep(program, stmt, &mut each.stmts, &mut point.stmts);
            } else {
                point.stmts.push(stmt.clone());
            }
        }
        let strip = {
            let axis = program.elem(body.params[0]);
            scalar(program, axis, span)
        };
        each.params.push(strip);
        names.block(program, &mut point);
        point.params.insert(0, late.lane);
        each.stmts.push(lanes(strip, false, point, span));
        let written = late.written(program, strip, body.params[0], &mut names);
        each.stmts.extend(written);
        let op = Own::Strips {
            width: points.lanes,
            chained: false,
            overlapping: true,
            from,
            to,
            body: Box::new(each),
        };
        let elem = program.elem(from);
        bind(program, CpuOp::Own(op), elem, span, &mut then.stmts);
        let range = Own::Range {
            cold: false,
            from,
            to,
            body: Box::new(body),
        };
        let otherwise = Block {
            stmts: vec![Stmt::new(Vec::new(), CpuOp::Own(range), span)],
            ..Block::default()
        };
        CpuOp::If {
            cond,
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        }
    }
}

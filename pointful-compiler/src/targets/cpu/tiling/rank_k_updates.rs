//! Products that three sequential loops add up:
//! `for n { for i { for j { combine add c[i, j], a[n, i] * b[n, j] } } }`.
//!
//! The loop that is summed over is cut into tiles; for each, both factors are written down and a
//! library multiplies them. What else the loops do stays in them.

use std::collections::BTreeMap;

use super::backward_slices::{Depends, OPAQUE, Slice};
use super::{Cut, Size, Writer, is_long};
use crate::analysis::accesses::changes;
use crate::analysis::effects::is_pure;
use crate::ir::stages::kernels::{Along, KernelOp, Kernels};
use crate::ir::{Block, Elem, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Looks for such loops in a kernel's body, at any depth; `host` is given what can be computed
/// outside of the kernel.
pub(super) fn updates(
    program: &mut Program<Kernels>,
    size: Size,
    body: &mut Block<Kernels>,
    host: &mut Writer,
) {
    let inside = body.bound();
    look(program, size, body, host, &inside);
}

fn look(
    program: &mut Program<Kernels>,
    size: Size,
    block: &mut Block<Kernels>,
    host: &mut Writer,
    inside: &ValueSet,
) {
    let mut out = Writer::default();
    for mut stmt in std::mem::take(&mut block.stmts) {
        while let Some(update) = find(program, &stmt) {
            let known = |extent: Extent| !matches!(extent, Extent::Value(v) if inside.contains(&v));
            let axes = [update.rows, update.columns, update.summed];
            let outside = axes.iter().all(|axis| known(axis.1));
            let cut = update.cut(program, size, if outside { host } else { &mut out });
            update.write(program, &cut, &mut out);
            remove(&mut stmt, &update.path);
        }
        if is_idle(program, &stmt) {
            continue;
        }
        for inner in stmt.op.blocks_mut() {
            look(program, size, inner, host, inside);
        }
        out.stmts.push(stmt);
    }
    block.stmts = out.stmts;
}

/// A sum of products that three loops add up.
struct Update {
    /// Where the statement that adds is: which statement of each loop's body.
    path: [usize; 3],
    /// What is added to, and its indices.
    place: ValueId,
    indices: Vec<ValueId>,
    /// The loops: that of the place's rows and columns, and that which is summed over.
    rows: (ValueId, Extent),
    columns: (ValueId, Extent),
    summed: (ValueId, Extent),
    factors: [Slice; 2],
    elem: Elem,
    stmt: Stmt<Kernels>,
}

/// A loop's index, extent and body.
type Loop<'a> = (ValueId, Extent, &'a Block<Kernels>);

fn as_loop(stmt: &Stmt<Kernels>) -> Option<Loop<'_>> {
    match &stmt.op {
        KernelOp::For { extent, body, .. } => Some((body.params[0], *extent, body)),
        _ => None,
    }
}

/// The first update of three loops that begin with a statement.
fn find(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> Option<Update> {
    let outer = as_loop(stmt)?;
    let inner = |block: &'_ Block<Kernels>| -> Vec<usize> {
        let loops = block.stmts.iter().enumerate();
        loops
            .filter(|(_, stmt)| as_loop(stmt).is_some())
            .map(|(k, _)| k)
            .collect()
    };
    for second in inner(outer.2) {
        let middle = as_loop(&outer.2.stmts[second])?;
        for third in inner(middle.2) {
            let innermost = as_loop(&middle.2.stmts[third])?;
            for (last, stmt) in innermost.2.stmts.iter().enumerate() {
                let path = [second, third, last];
                if let Some(update) = update(program, [outer, middle, innermost], path, stmt) {
                    return Some(update);
                }
            }
        }
    }
    None
}

fn update(
    program: &Program<Kernels>,
    loops: [Loop<'_>; 3],
    path: [usize; 3],
    stmt: &Stmt<Kernels>,
) -> Option<Update> {
    // What is added to a place of this point alone is read, added to and stored.
    let (place, indices) = match &stmt.op {
        KernelOp::Combine {
            monoid: Monoid::Add,
            place: buffer,
            indices,
            ..
        }
        | KernelOp::Store {
            buffer, indices, ..
        } => (buffer, indices),
        _ => return None,
    };
    if indices.len() < 2 || !program.elem(*place).is_float() {
        return None;
    }
    let (mut changing, outside) = (ValueSet::new(), ValueSet::new());
    changes(&loops[0].2.stmts, &mut changing);
    let mut depends = Depends::new(program, &changing, &outside);
    let mut bound = ValueSet::new();
    for (k, (index, extent, body)) in loops.into_iter().enumerate() {
        let outside = match extent {
            Extent::Value(value) => !bound.contains(&value),
            Extent::Const(_) | Extent::Size(_) => true,
        };
        if !outside || !is_long(extent) {
            return None;
        }
        depends.known(index, 1 << k);
        bound.insert(index);
        let before = &body.stmts[..path[k]];
        depends.look(before);
        bound.extend(before.iter().flat_map(|stmt| &stmt.results));
    }
    let (added, loaded) = match &stmt.op {
        KernelOp::Store { value, .. } => {
            let again = |value: &ValueId| {
                matches!(
                    depends.stmt(*value).map(|stmt| &stmt.op),
                    Some(KernelOp::Load { buffer, indices: at }) if buffer == place && at == indices
                )
            };
            match &depends.stmt(*value)?.op {
                KernelOp::Prim(Prim::Add, args) if again(&args[0]) => (args[1], Some(args[0])),
                KernelOp::Prim(Prim::Add, args) if again(&args[1]) => (args[0], Some(args[1])),
                _ => return None,
            }
        }
        KernelOp::Combine { value, .. } => (*value, None),
        _ => return None,
    };
    if is_read(loops[0].2, *place, loaded) {
        return None;
    }
    let KernelOp::Prim(Prim::Mul, args) = &depends.stmt(added)?.op else {
        return None;
    };
    let &[left, right] = args.as_slice() else {
        return None;
    };
    // Each index of the place is that of a loop, or bound outside, as the place is.
    let own: Vec<usize> = indices
        .iter()
        .filter_map(|index| loops.iter().position(|(known, ..)| known == index))
        .collect();
    let others_outside = indices
        .iter()
        .all(|index| loops.iter().any(|(known, ..)| known == index) || !bound.contains(index));
    let &[row, column] = own.as_slice() else {
        return None;
    };
    if row == column || !others_outside || bound.contains(place) {
        return None;
    }
    let summed = 3 - row - column;
    let of = |index: usize| 1 << index | 1 << summed;
    let (of_left, of_right) = (depends.of(left), depends.of(right));
    if (of_left | of_right) & OPAQUE != 0 {
        return None;
    }
    let factors = if (of_left, of_right) == (of(row), of(column)) {
        [left, right]
    } else if (of_left, of_right) == (of(column), of(row)) {
        [right, left]
    } else {
        return None;
    };
    let axis = |k: usize| (loops[k].0, loops[k].1);
    Some(Update {
        path,
        place: *place,
        indices: indices.clone(),
        rows: axis(row),
        columns: axis(column),
        summed: axis(summed),
        factors: factors.map(|value| Slice::of(&depends, value)),
        elem: program.elem(*place),
        stmt: stmt.clone(),
    })
}

impl Update {
    fn cut(&self, program: &mut Program<Kernels>, size: Size, out: &mut Writer) -> Cut {
        let axes = [self.rows, self.columns];
        let kept = axes.map(|(_, extent)| (self.elem, vec![extent]));
        Cut::new(program, size, out, self.summed.1, 0, &kept, self.stmt.span)
    }

    fn write(&self, program: &mut Program<Kernels>, cut: &Cut, out: &mut Writer) {
        let span = self.stmt.span;
        let axes = [self.rows, self.columns];
        out.each(
            program,
            Extent::Value(cut.tiles),
            span,
            |program, out, index| {
                let tile = cut.tile(program, out, index, span);
                let arrays = axes.map(|(_, extent)| {
                    out.alloc(program, self.elem, vec![tile.points(), extent], span)
                });
                out.each(program, tile.points(), span, |program, out, point| {
                    let at = tile.point(program, out, point, span);
                    for ((factor, array), (own, extent)) in
                        self.factors.iter().zip(arrays).zip(axes)
                    {
                        out.each(program, extent, span, |program, out, index| {
                            let names = BTreeMap::from([(self.summed.0, at), (own, index)]);
                            let value = factor.compute(program, names, out, &|_| ());
                            let op = KernelOp::Store {
                                buffer: array,
                                indices: vec![point, index],
                                value,
                            };
                            out.run(op, span);
                        });
                    }
                });
                let number = |index: &ValueId| match *index {
                    index if index == self.rows.0 => Along::Axis(0),
                    index if index == self.columns.0 => Along::Axis(1),
                    index => Along::At(index),
                };
                let op = KernelOp::Contract {
                    out: self.place,
                    factors: arrays,
                    along: [
                        self.indices.iter().map(number).collect(),
                        vec![Along::Axis(2), Along::Axis(0)],
                        vec![Along::Axis(2), Along::Axis(1)],
                    ],
                    add: true,
                    absorb: false,
                    mask: None,
                };
                out.run(op, span);
            },
        );
    }
}

/// Takes the statement at a path away, and loops that have nothing left to do.
fn remove(stmt: &mut Stmt<Kernels>, path: &[usize]) {
    let KernelOp::For { body, .. } = &mut stmt.op else {
        unreachable!("a path goes through loops");
    };
    match path {
        [last] => {
            body.stmts.remove(*last);
        }
        [next, rest @ ..] => remove(&mut body.stmts[*next], rest),
        [] => unreachable!("a path ends at a statement"),
    }
}

/// Whether a loop does nothing that can be seen outside.
fn is_idle(program: &Program<Kernels>, stmt: &Stmt<Kernels>) -> bool {
    as_loop(stmt).is_some_and(|(_, _, body)| {
        let mut stmts = body.stmts.iter();
        stmts.all(|stmt| is_pure(program, stmt) || is_idle(program, stmt))
    })
}

/// Whether a block reads a buffer, but for what is `loaded` to be added to, or changes it more than
/// once otherwise than by adding.
fn is_read(block: &Block<Kernels>, buffer: ValueId, loaded: Option<ValueId>) -> bool {
    fn count(block: &Block<Kernels>, buffer: ValueId, loaded: Option<ValueId>) -> usize {
        let uses = block.stmts.iter().map(|stmt| {
            let adds = match &stmt.op {
                KernelOp::Combine { monoid, .. } => *monoid == Monoid::Add,
                KernelOp::Load { .. } => loaded.is_some_and(|loaded| stmt.results[0] == loaded),
                _ => false,
            };
            let inner = stmt.op.blocks().into_iter();
            usize::from(!adds && stmt.op.operands().contains(&buffer))
                + inner
                    .map(|inner| count(inner, buffer, loaded))
                    .sum::<usize>()
        });
        uses.sum()
    }
    count(block, buffer, loaded) > usize::from(loaded.is_some())
}

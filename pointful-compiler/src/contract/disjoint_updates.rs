//! What each point of a kernel adds to an element of its own, it adds there.
//!
//! ```text
//! par %k: %j (add %p = %s) {                       par %k: %j {
//!   %1 = trust K %k …                                %1 = trust K %k …
//!   combine add %p[%i, %1], %2               ▶       %3 = load %s[%i, %1] %4 = add %3, %2 store %s[%i, %1], %4
//! }                                                }
//! ```
//!
//! Points that may meet add to private copies of a table, which are merged. A copy is as large as
//! the table: a loop of the host that adds to a row in each of its steps, as the way back through a
//! factorisation does, would take as long for each row as for the table. Points whose own indices
//! are among those of the element never meet.

use smallvec::smallvec;

use std::collections::BTreeMap;

use crate::ir::stages::kernels::{Acc, KernelOp, Kernels, Par};
use crate::ir::{
    Block, Elem, Extent, Monoid, Operation, Program, Scalar, Stmt, Type, ValueId, ValueSet,
};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const DISJOINT_UPDATES: Pass<Kernels> = Pass {
    name: "disjoint_updates",
    about: "add to elements that only one point of a kernel adds to without private copies",
    run: disjoint_updates,
};

/// Adds to elements that only one point of a kernel adds to without private copies.
pub fn disjoint_updates(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(block)
}

fn block(program: &mut Program<Kernels>, block: &mut Block<Kernels>) {
    for stmt in &mut block.stmts {
        if let KernelOp::Own(Par {
            extents,
            accs,
            body,
            ..
        }) = &mut stmt.op
        {
            let found: BTreeMap<ValueId, ValueId> = own(program, extents, accs, body)
                .into_iter()
                .map(|acc| (acc.private, acc.target))
                .collect();
            accs.retain(|acc| !found.contains_key(&acc.private));
            if !found.is_empty() {
                add_in_place(program, body, &found);
            }
        } else {
            for inner in stmt.op.blocks_mut() {
                self::block(program, inner);
            }
        }
    }
}

/// Those copies of a kernel to elements of which only one point each adds.
pub(super) fn own<'a>(
    program: &Program<Kernels>,
    extents: &[Extent],
    accs: &'a [Acc],
    body: &Block<Kernels>,
) -> Vec<&'a Acc> {
    let many = (body.params.iter().zip(extents))
        .filter(|(_, extent)| **extent != Extent::Const(1))
        .map(|(&param, _)| param)
        .collect();
    let mut look = Look::default();
    look.points
        .extend(body.params.iter().map(|&point| (point, point)));
    look.block(body);
    accs.iter()
        .filter(|acc| look.is_own(program, acc, &many))
        .collect()
}

/// What a kernel does.
#[derive(Default)]
struct Look {
    /// Values that are as far apart as points are along an axis: its index, by that.
    points: BTreeMap<ValueId, ValueId>,
    bound: ValueSet,
    /// Those of them that are counted from the other end.
    #[cfg(test)]
    turned: ValueSet,
    /// Where something is added, by what it is added to.
    added: BTreeMap<ValueId, Vec<Vec<ValueId>>>,
    /// What is used otherwise.
    used: ValueSet,
}

impl Look {
    fn block(&mut self, block: &Block<Kernels>) {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.bound.extend(&stmt.results);
            match &stmt.op {
                KernelOp::Prim(prim, args) => {
                    if let Some(point) = self.moved(*prim, args) {
                        #[cfg(test)]
                        self.note_turned(*prim, args, stmt.results[0]);
                        self.points.insert(stmt.results[0], point);
                    }
                }
                KernelOp::Combine {
                    place,
                    indices,
                    value,
                    ..
                } => {
                    self.added.entry(*place).or_default().push(indices.clone());
                    self.used.extend(indices.iter().chain([value]));
                    continue;
                }
                _ => {}
            }
            self.used.extend(stmt.op.operands());
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
        }
        self.used.extend(&block.results);
    }

    /// The index of points that a value is, or is a fixed distance from, counted from either end.
    fn moved(&self, prim: Prim, args: &[ValueId]) -> Option<ValueId> {
        let is_fixed = |value: &ValueId| !self.bound.contains(value);
        match (prim, args) {
            (Prim::Trust(_) | Prim::Check(_) | Prim::Cast(Scalar::I64 | Scalar::Usize), [arg]) => {
                self.points.get(arg).copied()
            }
            (Prim::Add | Prim::Sub, [arg, by] | [by, arg])
                if is_fixed(by) && self.points.contains_key(arg) =>
            {
                self.points.get(arg).copied()
            }
            _ => None,
        }
    }

    #[cfg(test)]
    fn note_turned(&mut self, prim: Prim, args: &[ValueId], result: ValueId) {
        let from_the_end = prim == Prim::Sub && self.points.contains_key(&args[1]);
        if from_the_end || args.iter().any(|arg| self.turned.contains(arg)) {
            self.turned.insert(result);
        }
    }

    /// Whether no two points add to the same element, and nobody else looks at the table.
    fn is_own(&self, program: &Program<Kernels>, acc: &Acc, many: &ValueSet) -> bool {
        let Acc {
            monoid,
            target,
            private,
            ..
        } = acc;
        let [indices] = self.added.get(private).map_or(&[][..], Vec::as_slice) else {
            return false;
        };
        let along: ValueSet = indices
            .iter()
            .filter_map(|index| self.points.get(index).copied())
            .collect();
        let is_own = *monoid == Monoid::Add
            && !indices.is_empty()
            && program.elem(*target).is_float()
            && many.iter().all(|point| along.contains(&point))
            && [private, target]
                .iter()
                .all(|place| !self.used.contains(place))
            && !self.added.contains_key(target);
        #[cfg(test)]
        if is_own && indices.iter().any(|index| self.turned.contains(index)) {
            crate::testing::entered::enter(&crate::testing::entered::FROM_THE_END);
        }
        is_own
    }
}

/// What a block adds to elements of these it adds to the tables themselves.
pub(crate) fn add_in_place(
    program: &mut Program<Kernels>,
    block: &mut Block<Kernels>,
    found: &BTreeMap<ValueId, ValueId>,
) {
    for mut stmt in std::mem::take(&mut block.stmts) {
        for inner in stmt.op.blocks_mut() {
            add_in_place(program, inner, found);
        }
        if let KernelOp::Combine {
            place,
            indices,
            value,
            ..
        } = &stmt.op
            && let Some(&buffer) = found.get(place)
        {
            let elem: Elem = program.elem(buffer);
            let [old, new] = [(); 2].map(|()| program.value(Type::scalar(elem), stmt.span));
            let load = KernelOp::Load {
                buffer,
                indices: indices.clone(),
            };
            let add = KernelOp::Prim(Prim::Add, smallvec![old, *value]);
            let store = KernelOp::Store {
                buffer,
                indices: indices.clone(),
                value: new,
            };
            block.stmts.extend([
                Stmt::new(vec![old], load, stmt.span),
                Stmt::new(vec![new], add, stmt.span),
                Stmt::new(Vec::new(), store, stmt.span),
            ]);
            continue;
        }
        block.stmts.push(stmt);
    }
}

//! What is added to one table is added by one kernel, to one copy.
//!
//! A loop that adds to two elements at each of its points, as forces between two bodies do, is two
//! definitions of the table, of which the second begins with what the first has left; and so it has
//! become two kernels, which read and compute the same. In the gradient of what reads two elements
//! of a table, there are two tables, each added to, which are added in the end.
//!
//! ```text
//! par %s: S (add %a = %g) {                         par %s: S (add %a = %g) {
//!   … combine add %a[%i], %d                          … combine add %a[%i], %d
//! }                                                   … combine add %a[%j], %e
//! par %t: S (add %b = %g) {                   ▶     }
//!   … combine add %b[%j], %e
//! }
//!
//! par %s: S (add %a = %g, add %b = %h) { … }        par %s: S (add %a = %g) { … }
//! par %p: P {
//!   %1 = load %g[%p]  %2 = load %h[%p]        ▶
//!   %3 = add %1, %2   store %g[%p], %3
//! }
//! ```
//!
//! # Why it is sound
//!
//! Two kernels become one if they have the same points and neither looks at what the other changes,
//! but for what both combine into, and only one of them can fail. What is combined is combined in
//! another order, which for each of the two is that of its points still. A second table is done
//! without if it begins with zeros, as the first does, and nobody looks at either before they are
//! added everywhere, by points or by loops of theirs.
//!
//! What points add to elements of their own needs no copy as long as they do it once; it is left
//! alone.

use super::disjoint_updates::own;
use crate::analysis::accesses::changes;
use crate::analysis::effects::is_pure;
use crate::ir::stages::kernels::{Acc, KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueMap, ValueSet};
use crate::ops::Prim;
use crate::pass::Pass;

/// The pass.
pub const HORIZONTAL_FUSION: Pass<Kernels> = Pass {
    name: "horizontal_fusion",
    about: "add to one table by one kernel, and to one copy",
    run: horizontal_fusion,
};

/// Adds to one table by one kernel, and to one copy.
pub fn horizontal_fusion(program: Program<Kernels>) -> Program<Kernels> {
    program.rewritten(|program, body| {
        kernels(program, body);
        while tables(program, body) {}
    })
}

/// What is called otherwise.
type Names = ValueMap<ValueId>;

fn rename(block: &mut Block<Kernels>, names: &Names) {
    let rename = |value: &mut ValueId| *value = names.get(value).copied().unwrap_or(*value);
    for stmt in &mut block.stmts {
        stmt.op.for_each_operand_mut(&mut |value| rename(value));
        for inner in stmt.op.blocks_mut() {
            self::rename(inner, names);
        }
    }
    block.results.iter_mut().for_each(rename);
}

/// Makes one kernel of two that follow each other, in what the host does.
fn kernels(program: &Program<Kernels>, block: &mut Block<Kernels>) {
    let mut done: Vec<Stmt<Kernels>> = Vec::new();
    for mut stmt in std::mem::take(&mut block.stmts) {
        if matches!(stmt.op, KernelOp::Own(Par { .. })) {
            // Of what the host computes in between, nothing looks at a table.
            let between = |stmt: &Stmt<Kernels>| match &stmt.op {
                KernelOp::Alloc { .. } => true,
                KernelOp::Load { .. } => false,
                _ => is_pure(program, stmt),
            };
            let before = done.iter().rposition(|stmt| !between(stmt));
            if let Some(before) = before
                && may_join(program, &done[before], &stmt)
            {
                append(&mut stmt, done.remove(before));
            }
        } else {
            for inner in stmt.op.blocks_mut() {
                kernels(program, inner);
            }
        }
        done.push(stmt);
    }
    block.stmts = done;
}

fn may_join(program: &Program<Kernels>, a: &Stmt<Kernels>, b: &Stmt<Kernels>) -> bool {
    let (
        KernelOp::Own(Par {
            extents: extents_a,
            accs: accs_a,
            folds: folds_a,
            body: body_a,
            ..
        }),
        KernelOp::Own(Par {
            extents: extents_b,
            accs: accs_b,
            folds: folds_b,
            body: body_b,
            ..
        }),
    ) = (&a.op, &b.op)
    else {
        return false;
    };
    let shared = |a: &&Acc| accs_b.iter().any(|b| b.target == a.target);
    let own_to_points = || {
        let owns = |acc: &&Acc, others: &[Acc]| others.iter().any(|b| b.target == acc.target);
        let (own_a, own_b) = (
            own(program, extents_a, accs_a, body_a),
            own(program, extents_b, accs_b, body_b),
        );
        own_a.iter().any(|acc| owns(acc, accs_b)) || own_b.iter().any(|acc| owns(acc, accs_a))
    };
    let agree = |a: &Acc| {
        let mut same = accs_b.iter().filter(|b| b.target == a.target);
        same.all(|b| b.monoid == a.monoid)
    };
    let changed = |body: &Block<Kernels>, accs: &[Acc]| {
        let mut changed: ValueSet = accs.iter().map(|acc| acc.target).collect();
        changes(&body.stmts, &mut changed);
        changed
    };
    let apart = |changed: ValueSet, body: &Block<Kernels>| {
        let uses = count(body);
        !changed.iter().any(|value| uses.contains_key(&value))
    };
    extents_a == extents_b
        && folds_a.is_empty()
        && folds_b.is_empty()
        && accs_a.iter().filter(shared).count() > 0
        && accs_a.iter().all(agree)
        && apart(changed(body_a, accs_a), body_b)
        && apart(changed(body_b, accs_b), body_a)
        && !(may_fail(program, body_a) && may_fail(program, body_b))
        && !own_to_points()
}

/// Whether something in a block may panic.
fn may_fail(program: &Program<Kernels>, block: &Block<Kernels>) -> bool {
    block.stmts.iter().any(|stmt| {
        let fails = match &stmt.op {
            KernelOp::Prim(..) => !is_pure(program, stmt),
            KernelOp::Assert { .. } | KernelOp::Contract { .. } => true,
            _ => false,
        };
        fails || (stmt.op.blocks().iter()).any(|inner| may_fail(program, inner))
    })
}

/// Does at each point what another kernel does before it.
fn append(stmt: &mut Stmt<Kernels>, before: Stmt<Kernels>) {
    let (
        KernelOp::Own(Par { accs, body, .. }),
        KernelOp::Own(Par {
            accs: first_accs,
            body: first,
            ..
        }),
    ) = (&mut stmt.op, before.op)
    else {
        return;
    };
    let mut names: Names = (first.params.iter().copied())
        .zip(body.params.iter().copied())
        .collect();
    for acc in first_accs {
        match accs.iter().find(|known| known.target == acc.target) {
            Some(known) => drop(names.insert(acc.private, known.private)),
            None => accs.push(acc),
        }
    }
    let mut first = first;
    rename(&mut first, &names);
    body.stmts.splice(..0, first.stmts);
}

/// How often values are used.
type Uses = ValueMap<usize>;

fn count(block: &Block<Kernels>) -> Uses {
    let mut uses = Uses::new();
    for_each_use(block, &mut |value| *uses.or_default(value) += 1);
    uses
}

/// How often a statement and what is in it use a value.
fn uses_of(stmt: &Stmt<Kernels>, value: ValueId) -> usize {
    let mut uses = 0;
    uses_in(stmt, &mut |other| uses += usize::from(other == value));
    uses
}

fn for_each_use(block: &Block<Kernels>, visit: &mut dyn FnMut(ValueId)) {
    block.results.iter().copied().for_each(&mut *visit);
    for stmt in &block.stmts {
        uses_in(stmt, visit);
    }
}

fn uses_in(stmt: &Stmt<Kernels>, visit: &mut dyn FnMut(ValueId)) {
    stmt.op.for_each_operand(&mut |value| visit(*value));
    for inner in stmt.op.blocks() {
        for_each_use(inner, visit);
    }
}

/// Does without one table that is only added to another one; whether there was one.
fn tables(program: &Program<Kernels>, body: &mut Block<Kernels>) -> bool {
    let several = |stmt: &Stmt<Kernels>| matches!(&stmt.op, KernelOp::Own(Par { accs, .. }) if accs.len() > 1);
    fn any(block: &Block<Kernels>, is: &impl Fn(&Stmt<Kernels>) -> bool) -> bool {
        let mut stmts = block.stmts.iter();
        stmts.any(|stmt| is(stmt) || stmt.op.blocks().into_iter().any(|inner| any(inner, is)))
    }
    if !any(body, &several) {
        return false;
    }
    let uses = count(body);
    tables_of(program, body, &uses)
}

fn tables_of(program: &Program<Kernels>, block: &mut Block<Kernels>, uses: &Uses) -> bool {
    for first in 0..block.stmts.len() {
        let stmt = &mut block.stmts[first];
        let KernelOp::Own(Par {
            extents,
            accs,
            body,
            ..
        }) = &stmt.op
        else {
            let mut inner = stmt.op.blocks_mut().into_iter();
            if inner.any(|inner| tables_of(program, inner, uses)) {
                return true;
            }
            continue;
        };
        if accs.len() < 2 {
            continue;
        }
        let own = own(program, extents, accs, body);
        let accs: Vec<Acc> = (accs.iter().filter(|acc| !own.contains(acc)))
            .cloned()
            .collect();
        let pairs = (accs.iter()).flat_map(|kept| accs.iter().map(move |other| (kept, other)));
        for (kept, other) in pairs {
            if let Some(second) = added(program, block, first, [kept, other], uses) {
                done_without(block, [first, second], [kept, other]);
                return true;
            }
        }
    }
    false
}

/// Where a kernel adds two tables.
struct Site {
    /// In which loop of which loop of the kernel.
    path: Vec<usize>,
    /// The loads and their sum there.
    stmts: [usize; 3],
    /// The indices of the kernel and of these loops, and how many there are of each.
    around: Vec<(ValueId, Extent)>,
}

impl Site {
    fn of(par: &Par<Kernels>, tables: [ValueId; 2]) -> Option<Self> {
        let around = par.body.params.iter().copied();
        let around = around.zip(par.extents.iter().copied()).collect();
        Self::within(&par.body, tables, around)
    }

    fn within(
        block: &Block<Kernels>,
        tables: [ValueId; 2],
        around: Vec<(ValueId, Extent)>,
    ) -> Option<Self> {
        if let Some(stmts) = sum(block, tables) {
            return Some(Self {
                path: Vec::new(),
                stmts,
                around,
            });
        }
        block.stmts.iter().enumerate().find_map(|(at, stmt)| {
            let KernelOp::For { extent, body, .. } = &stmt.op else {
                return None;
            };
            let mut inside = around.clone();
            inside.push((body.params[0], *extent));
            let mut site = Self::within(body, tables, inside)?;
            site.path.insert(0, at);
            Some(site)
        })
    }

    fn block<'b>(&self, body: &'b Block<Kernels>) -> &'b Block<Kernels> {
        self.path
            .iter()
            .fold(body, |block, &at| block.stmts[at].op.blocks()[0])
    }

    fn block_mut<'b>(&self, body: &'b mut Block<Kernels>) -> &'b mut Block<Kernels> {
        self.path.iter().fold(body, |block, &at| {
            let mut inner = block.stmts[at].op.blocks_mut();
            inner.swap_remove(0)
        })
    }

    /// Whether it is at each element of a table with these axes.
    fn is_everywhere(&self, indices: &[ValueId], dims: &[Extent]) -> bool {
        let extent = |index: &ValueId| {
            let mut around = self.around.iter();
            around.find_map(|&(own, extent)| (own == *index).then_some(extent))
        };
        let distinct: ValueSet = indices.iter().copied().collect();
        indices.len() == self.around.len()
            && distinct.iter().count() == indices.len()
            && indices
                .iter()
                .map(extent)
                .eq(dims.iter().copied().map(Some))
    }
}

/// Where two loads and their sum stand in a block.
fn sum(body: &Block<Kernels>, [kept, other]: [ValueId; 2]) -> Option<[usize; 3]> {
    let load = |table: ValueId| {
        let is = |stmt: &Stmt<Kernels>| matches!(stmt.op, KernelOp::Load { buffer, .. } if buffer == table);
        body.stmts.iter().position(is)
    };
    let [kept, other] = [load(kept)?, load(other)?];
    let [a, b] = [kept, other].map(|at| body.stmts[at].results[0]);
    let is = |stmt: &Stmt<Kernels>| matches!(&stmt.op, KernelOp::Prim(Prim::Add, args) if args[..] == [a, b] || args[..] == [b, a]);
    Some([kept, other, body.stmts.iter().position(is)?])
}

/// The kernel that adds the tables of two copies of the `first` one everywhere, if they are nothing
/// but terms of the sums.
fn added(
    program: &Program<Kernels>,
    block: &Block<Kernels>,
    first: usize,
    [kept, other]: [&Acc; 2],
    uses: &Uses,
) -> Option<usize> {
    let targets = [kept.target, other.target];
    let is_new = |table: &ValueId| {
        block.stmts[..first].iter().any(|stmt| {
            let zero = Monoid::Add.identity(program.elem(*table).repr());
            let zeros = matches!(&stmt.op, KernelOp::Alloc { fill: Some(lit) } if *lit == zero);
            zeros && stmt.results[..] == [*table]
        })
    };
    let is_sum = |acc: &Acc| acc.monoid == Monoid::Add;
    if kept.target == other.target
        || program.ty(kept.target) != program.ty(other.target)
        || !is_sum(kept)
        || !is_sum(other)
        || !targets.iter().all(is_new)
    {
        return None;
    }
    let touched = |stmt: &Stmt<Kernels>| targets.iter().any(|&table| uses_of(stmt, table) > 0);
    let second = first + 1 + block.stmts[first + 1..].iter().position(touched)?;
    if block.stmts[..first].iter().any(touched) {
        return None;
    }
    let KernelOp::Own(par) = &block.stmts[second].op else {
        return None;
    };
    let site = Site::of(par, targets)?;
    let body = site.block(&par.body);
    let [load, load_other, _] = site.stmts;
    let at = |at: usize| match &body.stmts[at].op {
        KernelOp::Load { indices, .. } => indices.as_slice(),
        _ => &[],
    };
    let everywhere = at(load) == at(load_other)
        && site.is_everywhere(at(load), &program.ty(kept.target).dims)
        && par.accs.is_empty()
        && par.folds.is_empty();
    let once = [load, load_other].map(|at| uses.get(&body.stmts[at].results[0])) == [Some(&1); 2];
    // What the kernel stores in place of the table that is kept is what everyone sees afterwards.
    let stores = |stmt: &Stmt<Kernels>| matches!(&stmt.op, KernelOp::Store { buffer, indices, .. } if *buffer == kept.target && indices == at(load));
    let last = site.stmts.into_iter().max()?;
    let stored = body.stmts[last..]
        .iter()
        .filter(|stmt| stores(stmt))
        .count();
    let only = |table: ValueId, expected: usize| uses_of(&block.stmts[second], table) == expected;
    let in_place = stored == 1 && only(kept.target, 2);
    let unseen = only(kept.target, 1) && uses.get(&kept.target) == Some(&2);
    let alone =
        uses_of(&block.stmts[first], kept.target) == 1 && uses.get(&other.target) == Some(&2);
    (everywhere && once && alone && (in_place || unseen)).then_some(second)
}

/// Adds to the kept table what was added to the other one.
fn done_without(block: &mut Block<Kernels>, [first, second]: [usize; 2], [kept, other]: [&Acc; 2]) {
    if let KernelOp::Own(Par { accs, body, .. }) = &mut block.stmts[first].op {
        accs.retain(|acc| acc != other);
        rename(body, &Names::from_iter([(other.private, kept.private)]));
    }
    block
        .stmts
        .retain(|stmt| stmt.results[..] != [other.target]);
    let second = second - 1;
    let mut copied = None;
    if let KernelOp::Own(par) = &mut block.stmts[second].op
        && let Some(site) = Site::of(par, [kept.target, other.target])
    {
        #[cfg(test)]
        if !site.path.is_empty() {
            crate::testing::entered::enter(&crate::testing::entered::ADDED_IN_LOOPS);
        }
        let [load, load_other, sum] = site.stmts;
        let body = site.block_mut(&mut par.body);
        let [value, sum_of] = [load, sum].map(|at| body.stmts[at].results[0]);
        rename(body, &Names::from_iter([(sum_of, value)]));
        let mut at = 0..;
        body.stmts
            .retain(|_| at.next().is_some_and(|at| at != load_other && at != sum));
        let body = &par.body;
        copied = match &body.stmts[..] {
            [load, store] => match &store.op {
                KernelOp::Store {
                    buffer,
                    indices,
                    value,
                } => (load.results[..] == [*value] && *indices == body.params).then_some(*buffer),
                _ => None,
            },
            _ => None,
        };
    }
    // Nothing is left to do but to copy the table: it is itself what it would be copied to.
    let Some(copy) = copied else { return };
    let makes = |stmt: &Stmt<Kernels>| {
        stmt.results[..] == [copy] && matches!(stmt.op, KernelOp::Alloc { .. })
    };
    let made = block.stmts[..second].iter().position(makes);
    let untouched = |made: &usize| {
        let mut between = block.stmts[made + 1..second].iter();
        between.all(|stmt| uses_of(stmt, copy) == 0)
    };
    if copy == kept.target {
        block.stmts.remove(second);
    } else if let Some(made) = made.filter(untouched) {
        block.stmts.remove(second);
        block.stmts.remove(made);
        rename(block, &Names::from_iter([(copy, kept.target)]));
    }
}

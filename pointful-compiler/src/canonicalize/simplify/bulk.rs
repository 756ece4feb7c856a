//! Rules on arrays and guards in Bulk.

use smallvec::smallvec;

use super::context::Context;
use super::demanded_conditions::settle;
use super::gather_composition::through;
use super::{Answer, Scalar, Simplify};
use crate::analysis::dataflow::{Flow, may_lack_lanes, points};
use crate::analysis::pinned::pinned;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::{
    Args, AxisId, Block, Extent, Lit, Monoid, Operation, Program, Stmt, ValueId, ValueSet,
};
use crate::ops::Prim;

impl Simplify for Bulk {
    fn scalar(op: &BulkOp) -> Scalar<'_> {
        match op {
            BulkOp::Const(lit) => Scalar::Const(*lit),
            BulkOp::Size(extent) => Scalar::Size(*extent),
            BulkOp::Map(prim, args) => Scalar::Prim(*prim, args),
            BulkOp::Iota(_)
            | BulkOp::Select(..)
            | BulkOp::Gather { .. }
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Scatter { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => Scalar::Other,
        }
    }

    fn constant(lit: Lit) -> BulkOp {
        BulkOp::Const(lit)
    }

    fn prim(prim: Prim, args: Args) -> BulkOp {
        BulkOp::Map(prim, args)
    }

    fn before(_: &Context<'_, Bulk>, _: &Stmt<Bulk>) -> Answer<Bulk> {
        Answer::Keep
    }

    fn rewrite(
        context: &mut Context<'_, Bulk>,
        stmt: &Stmt<Bulk>,
        out: &mut Vec<Stmt<Bulk>>,
    ) -> Answer<Bulk> {
        match &stmt.op {
            BulkOp::Select(cond, then, otherwise) => select(context, *cond, *then, *otherwise),
            BulkOp::Gather { table, at } => match gather(context, stmt, *table, at) {
                Answer::Keep => match through(context, stmt, out) {
                    Some(op) => Answer::Op(op),
                    None => Answer::Keep,
                },
                answer => answer,
            },
            BulkOp::Map(Prim::Add, args) => {
                let [x, y] = [args[0], args[1]];
                let placed = placed(context, stmt, x, y).or_else(|| placed(context, stmt, y, x));
                placed.map_or(Answer::Keep, Answer::Op)
            }
            BulkOp::Pack { values, .. } if values.iter().all(|value| *value == values[0]) => {
                Answer::Values(vec![values[0]])
            }
            BulkOp::Scatter {
                mask: Some(mask), ..
            }
            | BulkOp::Update {
                mask: Some(mask), ..
            } if context.truth(*mask).is_some()
                || inhabited(context, &written_at(context, stmt), *mask, DEEP) =>
            {
                masked(&stmt.op, context.truth(*mask) != Some(false))
            }
            BulkOp::Update {
                table, at, value, ..
            } if is_read_at(context, *value, *table, at) => Answer::Values(vec![*table]),
            BulkOp::Assert { cond, .. } if context.truth(*cond) == Some(true) => {
                Answer::Values(Vec::new())
            }
            BulkOp::Scatter { .. } => {
                let op = put_back(context, stmt).or_else(|| reduced(context, stmt, out));
                op.map_or(Answer::Keep, Answer::Op)
            }
            BulkOp::Const(_)
            | BulkOp::Size(_)
            | BulkOp::Iota(_)
            | BulkOp::Map(..)
            | BulkOp::Pack { .. }
            | BulkOp::Reduce { .. }
            | BulkOp::Scan { .. }
            | BulkOp::Update { .. }
            | BulkOp::Assert { .. }
            | BulkOp::Loop { .. }
            | BulkOp::While { .. }
            | BulkOp::Derive { .. }
            | BulkOp::Rule { .. } => Answer::Keep,
        }
    }

    /// Such a table has no axis for its sub-tables in the first place.
    fn uniform(_: &Stmt<Bulk>) -> Vec<(ValueId, ValueId)> {
        Vec::new()
    }

    fn pinned(body: &Block<Bulk>, program: &Program<Bulk>) -> ValueSet {
        pinned(program, body)
    }

    fn derives(body: &Block<Bulk>) -> bool {
        crate::differentiate::derives(body)
    }

    fn settle(program: &mut Program<Bulk>, pinned: &ValueSet) -> bool {
        chooses(&program.body) && settle(program, pinned)
    }

    fn uncollect(
        context: &Context<'_, Bulk>,
        stmt: &mut Stmt<Bulk>,
        out: &mut Vec<Stmt<Bulk>>,
    ) -> Vec<(ValueId, ValueId)> {
        let BulkOp::Loop { init, body, .. } = &mut stmt.op else {
            return Vec::new();
        };
        let states = init.len();
        let wanted: ValueSet = body.results[states..].iter().copied().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut inside: ValueSet = body.params.iter().copied().collect();
        for inner in &body.stmts {
            inside.extend(&inner.results);
        }
        // What is computed at every point at no cost, of what is there outside.
        let free = |inner: &Stmt<Bulk>| {
            let op = &inner.op;
            inner.guard.is_none()
                && inner.results.iter().any(|result| wanted.contains(result))
                && matches!(op, BulkOp::Const(_) | BulkOp::Map(..))
                && is_total(context, op)
                && op
                    .operands()
                    .iter()
                    .all(|operand| !inside.contains(operand))
        };
        let (moved, left) = std::mem::take(&mut body.stmts).into_iter().partition(free);
        body.stmts = left;
        for inner in Vec::<Stmt<Bulk>>::into_iter(moved) {
            for result in &inner.results {
                inside.remove(result);
            }
            out.push(inner);
        }
        let mut replaced = Vec::new();
        for k in (states..stmt.results.len()).rev() {
            let BulkOp::Loop { body, .. } = &stmt.op else {
                break;
            };
            let (result, value) = (stmt.results[k], body.results[k]);
            if !inside.contains(&value) && context.may_have_axes(result, &context.axes(&[value])) {
                replaced.push((result, value));
                stmt.results.remove(k);
                Bulk::remove(&mut stmt.op, k);
            }
        }
        replaced
    }

    fn is_unspecified(context: &Context<'_, Bulk>, op: &BulkOp, result: ValueId) -> bool {
        match op {
            BulkOp::Map(..) | BulkOp::Gather { .. } => {
                op.reads_any(|operand| context.is_unspecified(operand))
            }
            BulkOp::Select(cond, then, otherwise) => {
                let chosen = |&side: &ValueId| match context.guard(side) {
                    Some(guard) => implies(context, *cond, guard, DEEP),
                    None => !context.is_unspecified(side),
                };
                let safe =
                    chosen(then) && (chosen(otherwise) && context.guard(*otherwise).is_none());
                context.is_unspecified(*cond) || !safe
            }
            BulkOp::Loop { .. } | BulkOp::While { .. } => {
                may_lack_lanes(context.program, op, result)
            }
            _ => false,
        }
    }

    /// Only what may panic or not end, trusts, or reads something unspecified has to stay behind a
    /// guard that is not simply true.
    fn lanes(op: &BulkOp) -> &[AxisId] {
        op.lanes()
    }

    fn needs_guard(context: &Context<'_, Bulk>, stmt: &Stmt<Bulk>) -> bool {
        if let Some(guard) = stmt.guard
            && (context.truth(guard) == Some(true)
                || inhabited(context, &points(context.program, stmt), guard, DEEP))
        {
            return false;
        }
        let reads_guarded = stmt.op.reads_any(|operand| context.is_unspecified(operand));
        let float =
            matches!(stmt.op, BulkOp::Map(..)) && context.program.elem(stmt.results[0]).is_float();
        reads_guarded || !is_total(context, &stmt.op) || (context.derives && float)
    }
}

/// Whether a condition says only that there is something along these axes: it holds at all their
/// points.
fn inhabited(context: &Context<'_, Bulk>, along: &[AxisId], guard: ValueId, deep: u32) -> bool {
    let Some(deep) = deep.checked_sub(1) else {
        return false;
    };
    match context.def(guard) {
        Some(BulkOp::Map(Prim::And, args)) => {
            args.iter().all(|&arg| inhabited(context, along, arg, deep))
        }
        Some(BulkOp::Map(Prim::Gt, args)) if context.int(args[1]) == Some(0) => {
            let Some(BulkOp::Size(size)) = context.def(args[0]) else {
                return false;
            };
            let axes = &context.program.decls.axes;
            along
                .iter()
                .any(|axis| axes[axis.0 as usize].extent == *size)
        }
        _ => false,
    }
}

/// How many definitions are looked through for what a condition says.
const DEEP: u32 = 6;

/// Whether one truth value is known to hold where another does.
fn implies(context: &Context<'_, Bulk>, cond: ValueId, guard: ValueId, deep: u32) -> bool {
    let Some(deep) = deep.checked_sub(1) else {
        return false;
    };
    let parts = |value| match context.def(value) {
        Some(BulkOp::Map(Prim::And, args)) => Some([args[0], args[1]]),
        _ => None,
    };
    cond == guard
        || parts(cond).is_some_and(|parts| parts.iter().any(|&c| implies(context, c, guard, deep)))
        || parts(guard).is_some_and(|parts| parts.iter().all(|&g| implies(context, cond, g, deep)))
}

/// Whether there is a choice anywhere.
fn chooses(block: &Block<Bulk>) -> bool {
    let mut stmts = block.stmts.iter();
    stmts.any(|stmt| {
        matches!(stmt.op, BulkOp::Select(..)) || stmt.op.blocks().into_iter().any(chooses)
    })
}

/// Whether an operation can be evaluated anywhere.
fn is_total(context: &Context<'_, Bulk>, op: &BulkOp) -> bool {
    match op {
        BulkOp::Const(_)
        | BulkOp::Size(_)
        | BulkOp::Iota(_)
        | BulkOp::Select(..)
        | BulkOp::Gather { .. }
        | BulkOp::Pack { .. }
        | BulkOp::Scatter { .. }
        | BulkOp::Update { .. } => true,
        BulkOp::Map(prim, args) => match prim {
            // A constant is trusted because it has been looked at.
            Prim::Trust(Extent::Const(n)) => context
                .int(args[0])
                .is_some_and(|k| (0..i128::from(*n)).contains(&k)),
            Prim::Trust(_) => false,
            Prim::Div | Prim::Rem | Prim::DivEuclid | Prim::RemEuclid
                if !context.elem(args[0]).is_float() =>
            {
                context.int(args[1]).is_some_and(|n| n != 0 && n != -1)
            }
            _ => !prim.may_panic(context.elem(args[0])),
        },
        BulkOp::Reduce { combine, .. } => match combine {
            Combine::Monoid(_) => true,
            Combine::ArgMin | Combine::ArgMax | Combine::Custom { .. } => false,
        },
        BulkOp::Scan { .. }
        | BulkOp::Assert { .. }
        | BulkOp::Loop { .. }
        | BulkOp::While { .. }
        | BulkOp::Derive { .. }
        | BulkOp::Rule { .. } => false,
    }
}

/// Whether a value may be unspecified somewhere: it stands behind a guard, or is computed from what
/// does. A choice protects its sides.
fn unspecified(context: &Context<'_, Bulk>, value: ValueId) -> bool {
    // Far more than what conditions are made of; beyond it, nothing is known.
    let mut budget = 64;
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        if budget == 0 || context.is_guarded(value) {
            return true;
        }
        budget -= 1;
        match context.def(value) {
            Some(BulkOp::Select(cond, ..)) => todo.push(*cond),
            Some(op) => todo.extend(op.operands()),
            None => {}
        }
    }
    false
}

fn select(
    context: &Context<'_, Bulk>,
    cond: ValueId,
    then: ValueId,
    otherwise: ValueId,
) -> Answer<Bulk> {
    if then == otherwise {
        return Answer::Values(vec![then]);
    }
    if let Some(truth) = context.truth(cond) {
        return Answer::Values(vec![if truth { then } else { otherwise }]);
    }
    if let Some((Prim::Not, &[cond])) = context.prim(cond) {
        return Answer::Op(BulkOp::Select(cond, otherwise, then));
    }
    // What is chosen by the same condition again.
    let chosen = |side: ValueId, number: usize| match context.def(side) {
        Some(&BulkOp::Select(again, x, y)) if again == cond => [x, y][number],
        _ => side,
    };
    let sides = [chosen(then, 0), chosen(otherwise, 1)];
    if sides != [then, otherwise] {
        return Answer::Op(BulkOp::Select(cond, sides[0], sides[1]));
    }
    let made = match (context.truth(then), context.truth(otherwise)) {
        (Some(true), Some(false)) => return Answer::Values(vec![cond]),
        (Some(false), Some(true)) => return Answer::Op(BulkOp::Map(Prim::Not, smallvec![cond])),
        (None, Some(false)) => (then, Prim::And),
        (Some(true), None) => (otherwise, Prim::Or),
        _ => return Answer::Keep,
    };
    // Behind a truth value that is unspecified, so is the other side; a conjunction would look at it.
    let (side, both) = made;
    if unspecified(context, side) {
        return Answer::Keep;
    }
    Answer::Op(BulkOp::Map(both, smallvec![cond, side]))
}

/// Reading elsewhere, where elsewhere is here, or what is there is known.
fn gather(
    context: &Context<'_, Bulk>,
    stmt: &Stmt<Bulk>,
    table: ValueId,
    at: &[(AxisId, ValueId)],
) -> Answer<Bulk> {
    let has = |axis: &AxisId| context.program.ty(table).dims.contains(axis);
    let is_here = |axis: AxisId, index: ValueId| context.def(index) == Some(&BulkOp::Iota(axis));
    let moved: Vec<(AxisId, ValueId)> = at
        .iter()
        .copied()
        .filter(|&(axis, index)| has(&axis) && !is_here(axis, index))
        .collect();
    if moved.is_empty() {
        return Answer::Values(vec![table]);
    }
    if moved.len() < at.len() {
        return Answer::Op(BulkOp::Gather { table, at: moved });
    }
    // What the table is read through must be evaluated wherever this is.
    if context.is_guarded(table) && context.guard(table) != stmt.guard {
        return Answer::Keep;
    }
    match context.def(table) {
        Some(BulkOp::Iota(axis)) => match moved.as_slice() {
            [(at, index)] if at == axis => Answer::Values(vec![*index]),
            _ => Answer::Keep,
        },
        Some(BulkOp::Pack { axis, values }) => {
            let Some(place) = moved.iter().position(|(at, _)| at == axis) else {
                return Answer::Keep;
            };
            let mut rest = moved.clone();
            let (_, index) = rest.remove(place);
            let position = context.int(index).and_then(|n| usize::try_from(n).ok());
            match position.and_then(|n| values.get(n)) {
                Some(&table) => Answer::Op(BulkOp::Gather { table, at: rest }),
                None => Answer::Keep,
            }
        }
        Some(BulkOp::Gather {
            table: inner,
            at: first,
        }) => compose(context, *inner, first, &moved),
        _ => Answer::Keep,
    }
}

/// A gather of a gather, where the second moves only what the first has left in place.
fn compose(
    context: &Context<'_, Bulk>,
    table: ValueId,
    first: &[(AxisId, ValueId)],
    second: &[(AxisId, ValueId)],
) -> Answer<Bulk> {
    let apart = second.iter().all(|(axis, _)| {
        let made = first
            .iter()
            .any(|&(_, index)| context.program.ty(index).dims.contains(axis));
        let gone = first.iter().any(|(other, _)| other == axis);
        !made && !gone
    });
    if apart {
        let at = [first, second].concat();
        return Answer::Op(BulkOp::Gather { table, at });
    }
    // Renamed, then read along the new name.
    let [(axis, index)] = first else {
        return Answer::Keep;
    };
    let Some(BulkOp::Iota(name)) = context.def(*index) else {
        return Answer::Keep;
    };
    match second {
        [(along, place)] if along == name && !context.program.ty(table).dims.contains(name) => {
            Answer::Op(BulkOp::Gather {
                table,
                at: vec![(*axis, *place)],
            })
        }
        _ => Answer::Keep,
    }
}

/// One element, in a table of zeros that is added to another one, is added to that element.
fn placed(
    context: &Context<'_, Bulk>,
    stmt: &Stmt<Bulk>,
    sparse: ValueId,
    table: ValueId,
) -> Option<BulkOp> {
    let mut op = context.def(sparse)?.clone();
    let BulkOp::Scatter {
        monoid: Monoid::Add,
        base,
        at,
        over,
        ..
    } = &mut op
    else {
        return None;
    };
    let rank = |values: &[ValueId]| context.axes(values).len();
    let guard = context.guard(sparse);
    let places = || at.iter().map(|&(axis, _)| axis);
    let moves = |value: ValueId| {
        let dims = context.axes(&[value]);
        places().any(|axis| dims.contains(&axis))
    };
    let may_be =
        !stmt.guard.is_some_and(moves) && context.program.adds_at(table, places(), &context.lanes);
    let fits = over.is_empty()
        && at.iter().all(|&(_, index)| rank(&[index]) == 0)
        && rank(&[table]) == rank(&stmt.results)
        && context.float(*base) == Some(0.0)
        && context.lit(table).is_none()
        && (guard.is_none() || guard == stmt.guard);
    #[cfg(test)]
    if fits {
        use crate::testing::entered::{PLACED, PLACED_APART, enter};
        enter(if may_be { &PLACED } else { &PLACED_APART });
    }
    *base = table;
    (fits && may_be).then_some(op)
}

/// What is all combined at one place is combined first.
///
/// ```text
/// %2[n] = scatter add %0 [n := %1] over [m] %v     ▶     %3 = reduce add [m] %v
///                                                        %2[n] = scatter add %0 [n := %1] over [] %3
/// ```
fn reduced(
    context: &mut Context<'_, Bulk>,
    stmt: &Stmt<Bulk>,
    out: &mut Vec<Stmt<Bulk>>,
) -> Option<BulkOp> {
    let mut op = stmt.op.clone();
    let BulkOp::Scatter {
        monoid,
        at,
        over,
        value,
        mask: None,
        ..
    } = &mut op
    else {
        return None;
    };
    let is_one = |&(axis, index): &(AxisId, ValueId)| {
        let dims = context.axes(&[index]);
        let mut over = over.iter();
        // Of nothing there may be no place.
        !context.is_unspecified(index) && over.all(|other| *other != axis && !dims.contains(other))
    };
    if over.is_empty() || at.is_empty() || !at.iter().all(is_one) {
        return None;
    }
    #[cfg(test)]
    crate::testing::entered::enter(&crate::testing::entered::REDUCED);
    let elem = context.elem(*value);
    let reduce = BulkOp::Reduce {
        combine: Combine::Monoid(*monoid),
        axes: std::mem::take(over),
        operands: vec![*value],
    };
    *value = context.bind(reduce, elem, stmt.guard, stmt.span, out);
    Some(op)
}

/// The axes at each of whose points an operation writes: if there is nothing along one of them, it
/// writes nothing.
fn written_at(context: &Context<'_, Bulk>, stmt: &Stmt<Bulk>) -> Vec<AxisId> {
    let mut axes = points(context.program, stmt);
    if let BulkOp::Scatter { over, .. } = &stmt.op {
        axes.extend(over);
    }
    axes
}

/// Whether a value is what a table has at these places.
fn is_read_at(
    context: &Context<'_, Bulk>,
    value: ValueId,
    of: ValueId,
    places: &[(AxisId, ValueId)],
) -> bool {
    matches!(context.def(value), Some(BulkOp::Gather { table, at }) if *table == of && at == places)
}

/// What is added where zero was put is put there.
///
/// ```text
/// %1[i, j] = update %0 [j := %p] 0
/// %2[i, j] = scatter add %1 [j := %p] over [] %v     ▶     %2[i, j] = update %0 [j := %p] %v
/// ```
fn put_back(context: &Context<'_, Bulk>, stmt: &Stmt<Bulk>) -> Option<BulkOp> {
    let BulkOp::Scatter {
        monoid: Monoid::Add,
        base,
        at,
        over,
        value,
        mask: None,
    } = &stmt.op
    else {
        return None;
    };
    let Some(BulkOp::Update {
        table,
        at: places,
        value: zero,
        mask: None,
    }) = context.def(*base)
    else {
        return None;
    };
    let guard = context.guard(*base);
    let fits = over.is_empty()
        && context.float(*zero) == Some(0.0)
        && (guard.is_none() || guard == stmt.guard);
    #[cfg(test)]
    if fits {
        use crate::testing::entered::{PUT_BACK, PUT_BESIDE, enter};
        enter(if at == places { &PUT_BACK } else { &PUT_BESIDE });
    }
    (fits && at == places).then(|| BulkOp::Update {
        table: *table,
        at: at.clone(),
        value: *value,
        mask: None,
    })
}

/// A scatter or an update whose condition is known to hold wherever it writes, or nowhere.
fn masked(op: &BulkOp, holds: bool) -> Answer<Bulk> {
    let mut op = op.clone();
    let (BulkOp::Scatter { base, mask, .. }
    | BulkOp::Update {
        table: base, mask, ..
    }) = &mut op
    else {
        return Answer::Keep;
    };
    if holds {
        *mask = None;
        Answer::Op(op)
    } else {
        Answer::Values(vec![*base])
    }
}

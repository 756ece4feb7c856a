//! Tables that are made of others by changes of some of their places.

use smallvec::smallvec;

use std::collections::{BTreeMap, BTreeSet};

use super::{Conds, Literal, literals};
use crate::analysis::dataflow::is_total;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Program, SpanId, Stmt, Type, ValueId, Values};
use crate::ops::Prim;

/// Where changes happen: the axes of the condition, the guard that they may stand behind, and what
/// holds.
#[derive(Default)]
pub(super) struct Region {
    pub(super) axes: Vec<AxisId>,
    pub(super) guard: Option<ValueId>,
    pub(super) taken: BTreeSet<Literal>,
}

impl Region {
    /// Where a condition holds.
    pub(super) fn of(program: &Program<Bulk>, cond: ValueId) -> Self {
        let mut region = Self::default();
        region.holds(program, cond);
        region
    }

    /// Takes in the axes of one more condition.
    pub(super) fn holds(&mut self, program: &Program<Bulk>, cond: ValueId) {
        for &axis in &program.ty(cond).dims {
            if !self.axes.contains(&axis) {
                self.axes.push(axis);
            }
        }
    }

    /// What a choice takes, if that follows from what holds.
    pub(super) fn taken(
        &self,
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        sites: &BTreeMap<ValueId, usize>,
        stmt: &Stmt<Bulk>,
    ) -> Option<ValueId> {
        let BulkOp::Select(cond, then, otherwise) = stmt.op else {
            return None;
        };
        let holds = |truth| literals(block, sites, cond, truth).is_subset(&self.taken);
        let taken = match (holds(true), holds(false)) {
            (true, _) => Some(then),
            (_, true) => Some(otherwise),
            _ => None,
        };
        let axes = |value| program.ty(value).dims.len();
        taken.filter(|&taken| axes(taken) == axes(stmt.results[0]))
    }

    /// Whether a value has all axes of the condition.
    fn is_within(&self, program: &Program<Bulk>, value: ValueId) -> bool {
        let own = &program.ty(value).dims;
        self.axes.iter().all(|axis| own.contains(axis))
    }

    /// Whether it has axes of its own beside those.
    pub(super) fn is_table(&self, program: &Program<Bulk>, value: ValueId) -> bool {
        self.is_within(program, value) && program.ty(value).dims.len() > self.axes.len()
    }

    /// Whether it is more than a number of each point of a loop with these lanes.
    fn is_table_in(&self, program: &Program<Bulk>, lanes: &[AxisId], value: ValueId) -> bool {
        let mut own = program.ty(value).dims.iter();
        self.is_within(program, value)
            && own.any(|axis| !self.axes.contains(axis) && !lanes.contains(axis))
    }

    /// Whether a statement can be guarded by the condition.
    fn takes(&self, program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
        let mut results = stmt.results.iter();
        !stmt.results.is_empty() && results.all(|&result| self.is_within(program, result))
    }
}

/// The numbers of the statements that bind values.
pub(super) fn sites(block: &Block<Bulk>) -> BTreeMap<ValueId, usize> {
    let stmts = block.stmts.iter().enumerate();
    stmts
        .flat_map(|(number, stmt)| stmt.results.iter().map(move |&result| (result, number)))
        .collect()
}

/// The tables that a statement changes, by itself or as a loop.
pub(super) fn tables(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Values {
    let mut tables = match &stmt.op {
        BulkOp::Update { table, .. } | BulkOp::Scatter { base: table, .. } => smallvec![*table],
        BulkOp::Loop { init, .. } | BulkOp::While { init, .. } => init.iter().copied().collect(),
        _ => Values::new(),
    };
    tables.retain(|table| !program.ty(*table).dims.is_empty());
    tables
}

/// The table of which a statement has changed some places.
pub(super) fn base(stmt: &Stmt<Bulk>, made: ValueId) -> Option<ValueId> {
    match &stmt.op {
        BulkOp::Update { table, .. } => Some(*table),
        BulkOp::Scatter { base, .. } => Some(*base),
        BulkOp::Loop { init, .. } | BulkOp::While { init, .. } => {
            let state = stmt.results.iter().position(|&result| result == made)?;
            init.get(state).copied()
        }
        _ => None,
    }
}

/// How a table is made of another by statements of a block that change some of its places: their
/// numbers, and of loops, what is so in their bodies.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) changes: BTreeMap<usize, Option<Chain>>,
    /// Which of them, making what, begin with a choice, and what that takes here.
    chosen: Vec<(usize, ValueId, ValueId)>,
    /// The choices among what has been changed; those in front of the first change choose what they did.
    pub(super) choices: BTreeSet<usize>,
    /// What the first of them makes of the other table.
    begun: Option<(usize, ValueId)>,
}

impl Chain {
    /// How one table is made of another in a region.
    pub(super) fn of(
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        sites: &BTreeMap<ValueId, usize>,
        region: &Region,
        [before, after]: [ValueId; 2],
    ) -> Option<Self> {
        let mut chain = Self::default();
        let mut made = after;
        let mut choices = Vec::new();
        while made != before {
            let number = *sites.get(&made)?;
            let stmt = &block.stmts[number];
            if stmt.guard.is_some() && stmt.guard != region.guard {
                return None;
            }
            let inside = match &stmt.op {
                BulkOp::Update { at, .. } | BulkOp::Scatter { at, .. } => {
                    if at.iter().any(|(axis, _)| region.axes.contains(axis)) {
                        return None;
                    }
                    None
                }
                BulkOp::Loop { lanes, body, .. } => {
                    Some(Self::of_body(program, lanes, body, region)?)
                }
                // What is chosen where the condition holds.
                BulkOp::Select(..) => {
                    let taken = region.taken(program, block, sites, stmt)?;
                    let (reader, of) = chain.begun?;
                    chain.chosen.push((reader, of, taken));
                    choices.push(number);
                    made = taken;
                    continue;
                }
                // Where the condition does not hold it ends before it begins.
                BulkOp::While { lanes, cond, .. } => {
                    let mut tests = cond.stmts.iter();
                    let asks = tests.all(|stmt| is_total(program, &stmt.op))
                        && region.axes.iter().all(|axis| lanes.contains(axis));
                    Some(asks.then(Self::default)?)
                }
                _ => return None,
            };
            chain.changes.insert(number, inside);
            chain.choices.extend(choices.drain(..));
            chain.begun = Some((number, made));
            made = base(stmt, made)?;
        }
        Some(chain)
    }

    /// How the tables that a loop carries are made of themselves, if what else it does can stand
    /// behind the condition.
    fn of_body(
        program: &Program<Bulk>,
        lanes: &[AxisId],
        body: &Block<Bulk>,
        region: &Region,
    ) -> Option<Self> {
        let sites = sites(body);
        let mut chain = Self::default();
        for (&param, &next) in body.params[1..].iter().zip(&body.results) {
            if region.is_table_in(program, lanes, param) {
                let of_state = Self::of(program, body, &sites, region, [param, next])?;
                chain.changes.extend(of_state.changes);
                chain.chosen.extend(of_state.chosen);
            } else if !region.is_within(program, param) {
                return None;
            }
        }
        // How many steps a loop has must be known where the condition does not hold.
        let fits = |(number, stmt): (usize, &Stmt<Bulk>)| match chain.changes.get(&number) {
            Some(_) => length(program, stmt).is_none(),
            None => region.takes(program, stmt) || is_total(program, &stmt.op),
        };
        let mut stmts = body.stmts.iter().enumerate();
        stmts.all(fits).then_some(chain)
    }

    /// The number of the first statement.
    pub(super) fn first(&self) -> usize {
        self.changes.keys().next().copied().unwrap_or_default()
    }

    /// That of the last.
    pub(super) fn last(&self) -> usize {
        self.changes.keys().last().copied().unwrap_or_default()
    }

    /// Whether there is a loop, for which it is worth it: of a place or two that are changed the
    /// schedule takes care.
    pub(super) fn has_loops(&self) -> bool {
        self.changes.values().any(Option::is_some)
    }

    /// Lets the first statement begin with this table instead.
    pub(super) fn begin_with(&self, block: &mut Block<Bulk>, table: ValueId) {
        self.take(block);
        if let Some((number, made)) = self.begun {
            rebase(&mut block.stmts[number], made, table);
        }
    }

    /// Lets what begins with a choice begin with what that takes.
    fn take(&self, block: &mut Block<Bulk>) {
        for &(number, made, taken) in &self.chosen {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::CHOSEN_BY_THE_SIDE);
            rebase(&mut block.stmts[number], made, taken);
        }
    }

    /// Lets the statements change something where the condition holds only.
    pub(super) fn mask(
        self,
        program: &mut Program<Bulk>,
        block: &mut Block<Bulk>,
        cond: ValueId,
        conds: &mut Conds,
    ) {
        for (number, inside) in self.changes {
            let span = block.stmts[number].span;
            block.stmts[number].guard = None;
            match &mut block.stmts[number].op {
                BulkOp::Update { mask, .. } | BulkOp::Scatter { mask, .. } => {
                    *mask = Some(both(program, cond, *mask, (number, span), conds));
                }
                BulkOp::Loop { lanes, body, .. } => {
                    let inside = inside.unwrap_or_default();
                    inside.mask_body(program, lanes, body, cond);
                }
                BulkOp::While { cond: test, .. } => {
                    #[cfg(test)]
                    crate::testing::entered::enter(&crate::testing::entered::ENDED_AT_ONCE);
                    let goes_on = test.results[0];
                    let mut ty = program.ty(goes_on).clone();
                    let asked = program.ty(cond).dims.clone();
                    ty.dims.retain(|axis| !asked.contains(axis));
                    ty.dims.extend(asked);
                    let both = program.value(ty, span);
                    let op = BulkOp::Map(Prim::And, smallvec![cond, goes_on]);
                    test.stmts.push(Stmt::new(vec![both], op, span));
                    test.results[0] = both;
                }
                _ => unreachable!("chains are of these"),
            }
        }
    }

    fn mask_body(
        self,
        program: &mut Program<Bulk>,
        lanes: &[AxisId],
        body: &mut Block<Bulk>,
        cond: ValueId,
    ) {
        self.take(body);
        let region = Region::of(program, cond);
        let mut conds = Conds::new();
        for (number, stmt) in body.stmts.iter_mut().enumerate() {
            if !self.changes.contains_key(&number) && region.takes(program, stmt) {
                let at = (number, stmt.span);
                stmt.guard = Some(both(program, cond, stmt.guard, at, &mut conds));
            }
        }
        self.mask(program, body, cond, &mut conds);
        body.edit(conds, &BTreeSet::new());
        for state in 0..body.params.len() - 1 {
            let (param, next) = (body.params[1 + state], body.results[state]);
            if param != next && !region.is_table_in(program, lanes, param) {
                let ty = program.ty(param).clone();
                let span = program.values[param.index()].span;
                let chosen = program.value(ty, span);
                let choice = BulkOp::Select(cond, next, param);
                body.stmts.push(Stmt::new(vec![chosen], choice, span));
                body.results[state] = chosen;
            }
        }
    }
}

/// Lets a statement make what it makes of another table.
fn rebase(stmt: &mut Stmt<Bulk>, made: ValueId, table: ValueId) {
    let Stmt { results, op, .. } = stmt;
    match op {
        BulkOp::Update { table: base, .. } | BulkOp::Scatter { base, .. } => *base = table,
        BulkOp::Loop { init, .. } | BulkOp::While { init, .. } => {
            let states = results.iter().zip(init);
            for (_, base) in states.filter(|(result, _)| **result == made) {
                *base = table;
            }
        }
        _ => {}
    }
}

/// What says how many steps a loop has, if that is computed.
pub(super) fn length(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Option<ValueId> {
    let BulkOp::Loop { axis, .. } = stmt.op else {
        return None;
    };
    match program.decls.axes[axis.0 as usize].extent {
        Extent::Value(length) => Some(length),
        Extent::Const(_) | Extent::Size(_) => None,
    }
}

/// The condition and another one, which may say nothing where the first does not hold: then neither
/// do both.
pub(super) fn both(
    program: &mut Program<Bulk>,
    cond: ValueId,
    other: Option<ValueId>,
    at: (usize, SpanId),
    conds: &mut Conds,
) -> ValueId {
    let Some(other) = other.filter(|&other| other != cond) else {
        return cond;
    };
    let mut ty = program.ty(other).clone();
    let asked = program.ty(cond).dims.clone();
    ty.dims.retain(|axis| !asked.contains(axis));
    ty.dims.extend(asked);
    made(
        program,
        ty,
        BulkOp::Map(Prim::And, smallvec![cond, other]),
        at,
        conds,
    )
}

/// The result of an operation that is done in front of a statement.
pub(super) fn made(
    program: &mut Program<Bulk>,
    ty: Type<AxisId>,
    op: BulkOp,
    (number, span): (usize, SpanId),
    conds: &mut Conds,
) -> ValueId {
    let made = program.value(ty, span);
    let stmt = Stmt::new(vec![made], op, span);
    conds.entry(number).or_default().push(stmt);
    made
}

//! Loops behind a condition hand on what they began with where it does not hold.
//!
//! ```text
//! %1[i] = loop %2: j (%3[i] = x) {                 %1[i] = loop %2: j (%3[i] = x) {
//!   %4 = gather %3 [i := %2]                         %4 = gather %3 [i := %2] if c
//!   %5[i] = update %3 [i := %2] %4                   %5[i] = update %3 [i := %2] %4 where c
//!   yield %5                                         yield %5
//! } if c                                           }
//! %6[i] = update x [i := %0] w                     %7 = not c
//! %8[i] = select c, %1, %6                         %6[i] = update %1 [i := %0] w where %7
//! return %8[i]                                     return %6[i]
//! ```
//!
//! What an elimination does is behind a condition, `if i > k { for j in N { m[i][j] -= f * m[k][j]; } }`, and so is its derivative. The choice afterwards, of the
//! table that the loop has changed or the one before, or of what the sides of a branch have made of one table, asks for all of them: in each step the whole table is
//! copied, though a row of it changes. If each side changes it where that side is taken only, there is one table.
//!
//! # Why it is sound
//!
//! Of a table that is changed place by place, by updates and scatters and loops of these, nothing is left where none of them happens. What else such a loop computes
//! stands behind the condition as the loop did; what is a number of a point, and carried, is chosen there. What the changes make is looked at where the condition
//! holds and by the choice only: else they stay as they are. A side that begins with what another hands on begins with the table before, wherever it is taken: of two
//! sides at most one is.

use std::collections::{BTreeMap, BTreeSet};

use super::Pass;
use super::flow::may_fail;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::{AxisId, Block, Extent, Operation, Program, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// The pass.
pub const HAND_ON: Pass<Bulk> = Pass {
    name: "hand-on",
    about: "let loops behind a condition hand on what they began with where it does not hold",
    run: hand_on,
};

/// Takes away choices between what loops behind conditions have changed and what was there before.
pub fn hand_on(program: &Program<Bulk>) -> Program<Bulk> {
    program.rewritten(|program, body| block(program, body, &mut BTreeSet::new()))
}

/// `guarded` is what stands behind guards so far, also around the block.
fn block(program: &mut Program<Bulk>, block: &mut Block<Bulk>, guarded: &mut BTreeSet<ValueId>) {
    for stmt in &mut block.stmts {
        for inner in stmt.op.blocks_mut() {
            self::block(program, inner, guarded);
        }
        if stmt.guard.is_some() {
            guarded.extend(&stmt.results);
        }
    }
    let uses = Uses::of(block);
    let mut handed = Handed::default();
    // A choice between choices comes before those.
    for number in (0..block.stmts.len()).rev() {
        let look = Look {
            program,
            block,
            uses: &uses,
            handed: &handed,
            guarded,
        };
        if let Some(choice) = look.choice(number) {
            choice.hand_on(program, block, number, &mut handed);
        }
    }
    block.edit(handed.conds, &handed.gone);
}

/// What has become of the statements of a block.
#[derive(Default)]
struct Handed {
    /// By choice that was taken away: the conditions of its sides, and what it took where they hold.
    choices: BTreeMap<usize, Vec<(ValueId, ValueId)>>,
    /// The statements that change something where a condition holds only: a loop that changes two tables is in front of two choices.
    masked: BTreeSet<(usize, ValueId)>,
    /// Choices that were sides of those.
    gone: BTreeSet<usize>,
    /// Conditions that are made.
    conds: Conds,
}

/// Statements that are made, in front of those of these numbers.
type Conds = BTreeMap<usize, Vec<Stmt<Bulk>>>;

/// Which statements of a block bind values, which read them, also inside, and what they stand behind.
struct Uses {
    sites: BTreeMap<ValueId, usize>,
    readers: BTreeMap<ValueId, Vec<usize>>,
    guards: Vec<Option<ValueId>>,
}

impl Uses {
    fn of(block: &Block<Bulk>) -> Self {
        let mut readers: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
        for (number, stmt) in block.stmts.iter().enumerate() {
            let inside = stmt.op.blocks().into_iter().flat_map(Block::free);
            let read = stmt.op.operands().into_iter().chain(stmt.guard);
            for value in read.chain(inside) {
                readers.entry(value).or_default().push(number);
            }
        }
        Self {
            sites: sites(block),
            readers,
            guards: block.stmts.iter().map(|stmt| stmt.guard).collect(),
        }
    }
}

fn sites(block: &Block<Bulk>) -> BTreeMap<ValueId, usize> {
    let stmts = block.stmts.iter().enumerate();
    stmts
        .flat_map(|(number, stmt)| stmt.results.iter().map(move |&result| (result, number)))
        .collect()
}

/// A truth value, or a comparison that may be told from its opposite; and how it ends.
type Literal = (Option<Prim>, Vec<ValueId>, bool);

/// What a condition is a conjunction of.
fn literals(block: &Block<Bulk>, uses: &Uses, cond: ValueId, truth: bool) -> BTreeSet<Literal> {
    let site = uses.sites.get(&cond);
    let found = site.and_then(|&site| match &block.stmts[site].op {
        BulkOp::Map(prim, args) => match (prim, truth) {
            (Prim::And, true) | (Prim::Or, false) => {
                let sides = args.iter().map(|&side| literals(block, uses, side, truth));
                Some(sides.flatten().collect())
            }
            (Prim::Not, _) => Some(literals(block, uses, args[0], !truth)),
            (Prim::Eq, _) => Some(BTreeSet::from([(Some(Prim::Eq), args.clone(), truth)])),
            (Prim::Ne, _) => Some(BTreeSet::from([(Some(Prim::Eq), args.clone(), !truth)])),
            _ => None,
        },
        _ => None,
    });
    found.unwrap_or_else(|| BTreeSet::from([(None, vec![cond], truth)]))
}

/// Where changes happen: the axes of the condition, and the guard that they may stand behind.
struct Region {
    axes: Vec<AxisId>,
    guard: Option<ValueId>,
}

impl Region {
    /// Whether a value has all axes of the condition.
    fn is_within(&self, program: &Program<Bulk>, value: ValueId) -> bool {
        let own = &program.ty(value).dims;
        self.axes.iter().all(|axis| own.contains(axis))
    }

    /// Whether it has axes of its own beside those.
    fn is_table(&self, program: &Program<Bulk>, value: ValueId) -> bool {
        self.is_within(program, value) && program.ty(value).dims.len() > self.axes.len()
    }

    /// Whether a statement can be guarded by the condition.
    fn takes(&self, program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
        let mut results = stmt.results.iter();
        !stmt.results.is_empty() && results.all(|&result| self.is_within(program, result))
    }
}

/// Choices between what was made of one table.
struct Choice {
    /// The table before.
    base: ValueId,
    /// In the order of their statements, without those that change nothing.
    sides: Vec<Side>,
    /// The choices that are sides of this one.
    inner: Vec<usize>,
}

/// A side that changes something.
struct Side {
    table: ValueId,
    /// The conditions under which it is taken.
    path: Vec<(ValueId, bool)>,
    /// What its changes stand behind.
    guard: Option<ValueId>,
    /// The condition, if it is there already.
    cond: Option<ValueId>,
    chain: Chain,
}

impl Choice {
    fn hand_on(
        self,
        program: &mut Program<Bulk>,
        block: &mut Block<Bulk>,
        number: usize,
        handed: &mut Handed,
    ) {
        let mut table = self.base;
        for side in self.sides {
            let cond = side
                .cond
                .unwrap_or_else(|| side.condition(program, block, &mut handed.conds));
            side.chain.begin_with(block, table);
            table = side.table;
            let taken = handed.choices.entry(number).or_default();
            taken.push((cond, table));
            let mut chain = side.chain;
            let changes = &mut chain.changes;
            changes.retain(|&number, _| handed.masked.insert((number, cond)));
            chain.mask(program, block, cond, &mut handed.conds);
        }
        block.stmts[number].op = BulkOp::Gather {
            table,
            at: Vec::new(),
        };
        handed.gone.extend(self.inner);
    }
}

impl Side {
    /// Makes the condition.
    fn condition(
        &self,
        program: &mut Program<Bulk>,
        block: &Block<Bulk>,
        conds: &mut Conds,
    ) -> ValueId {
        let first = self.chain.first();
        let at = (first, block.stmts[first].span);
        let mut all = self.guard;
        for &(cond, truth) in &self.path {
            let ty = program.ty(cond).clone();
            let cond = match truth {
                true => cond,
                false => made(program, ty, BulkOp::Map(Prim::Not, vec![cond]), at, conds),
            };
            all = Some(both(program, cond, all, at, conds));
        }
        all.unwrap_or_else(|| unreachable!("a side is one of a choice"))
    }
}

/// What is looked at to find choices that can be taken away.
struct Look<'l> {
    program: &'l Program<Bulk>,
    block: &'l Block<Bulk>,
    uses: &'l Uses,
    handed: &'l Handed,
    guarded: &'l BTreeSet<ValueId>,
}

impl Look<'_> {
    fn choice(&self, number: usize) -> Option<Choice> {
        let stmt = &self.block.stmts[number];
        if self.handed.gone.contains(&number) || !self.chooses(stmt) {
            return None;
        }
        let (mut leaves, mut inner) = (Vec::new(), Vec::new());
        self.leaves(stmt, &mut Vec::new(), &mut leaves, &mut inner);
        let lineages: Vec<_> = leaves
            .iter()
            .map(|(table, _)| self.lineage(*table))
            .collect();
        let is_common = |base: &&ValueId| lineages.iter().all(|all| all.contains(base));
        let base = *lineages[0].iter().find(is_common)?;
        let mut sides = Vec::new();
        for (table, path) in leaves {
            if table != base {
                sides.push(self.side(base, table, path)?);
            }
        }
        sides.sort_by_key(|side| side.chain.first());
        let apart = sides.windows(2).all(|pair| {
            pair[0].chain.last() < pair[1].chain.first()
                && self.same_axes(pair[0].table, pair[1].table)
        });
        let several = sides.len() > 1;
        let fits = apart
            && (!several || sides.iter().all(|side| self.same_axes(side.table, base)))
            && sides.iter().any(|side| side.chain.has_loops())
            && sides
                .iter()
                .all(|side| self.is_known(side) && self.is_only_for(side, number, &inner));
        fits.then_some(Choice { base, sides, inner })
    }

    fn same_axes(&self, one: ValueId, other: ValueId) -> bool {
        let (one, other) = (&self.program.ty(one).dims, &self.program.ty(other).dims);
        one.len() == other.len() && one.iter().all(|axis| other.contains(axis))
    }

    /// Whether a statement is a choice between tables.
    fn chooses(&self, stmt: &Stmt<Bulk>) -> bool {
        let BulkOp::Select(cond, ..) = stmt.op else {
            return false;
        };
        let region = Region {
            axes: self.program.ty(cond).dims.clone(),
            guard: None,
        };
        stmt.guard.is_none() && region.is_table(self.program, stmt.results[0])
    }

    /// What a choice chooses between, and the choices that are its sides, which nobody else looks at.
    fn leaves(
        &self,
        choice: &Stmt<Bulk>,
        path: &mut Vec<(ValueId, bool)>,
        leaves: &mut Vec<(ValueId, Vec<(ValueId, bool)>)>,
        inner: &mut Vec<usize>,
    ) {
        let BulkOp::Select(cond, then, otherwise) = choice.op else {
            return;
        };
        for (truth, side) in [(true, then), (false, otherwise)] {
            path.push((cond, truth));
            let site = self.uses.sites.get(&side);
            let own = site.filter(|&&site| {
                let readers = self.uses.readers.get(&side);
                self.chooses(&self.block.stmts[site])
                    && readers.is_some_and(|readers| readers.len() == 1)
                    && !self.block.results.contains(&side)
                    && !self.handed.choices.contains_key(&site)
            });
            match own {
                Some(&site) => {
                    inner.push(site);
                    self.leaves(&self.block.stmts[site], path, leaves, inner);
                }
                None => leaves.push((side, path.clone())),
            }
            path.pop();
        }
    }

    /// The tables that a table was made of by changes of some of its places, itself first.
    fn lineage(&self, table: ValueId) -> Vec<ValueId> {
        let mut all = vec![table];
        let mut made = table;
        while let Some(&site) = self.uses.sites.get(&made)
            && let Some(base) = base(&self.block.stmts[site], made)
        {
            all.push(base);
            made = base;
        }
        all
    }

    fn side(&self, base: ValueId, table: ValueId, path: Vec<(ValueId, bool)>) -> Option<Side> {
        let Self {
            program,
            block,
            uses,
            ..
        } = *self;
        let made = self.lineage(table);
        let guards = made.iter().take_while(|&&made| made != base);
        let guard = guards
            .filter_map(|made| block.stmts[uses.sites[made]].guard)
            .next();
        let mut axes: Vec<AxisId> = Vec::new();
        for cond in path.iter().map(|&(cond, _)| cond).chain(guard) {
            let dims = program.ty(cond).dims.iter();
            let new: Vec<AxisId> = dims.filter(|axis| !axes.contains(axis)).copied().collect();
            axes.extend(new);
        }
        let region = Region { axes, guard };
        let chain = Chain::of(program, block, &uses.sites, &region, [base, table])?;
        let first = chain.first();
        let asked = path.iter().map(|(cond, _)| cond).chain(&guard);
        let is_there = |cond: &ValueId| uses.sites.get(cond).is_none_or(|&site| site < first);
        if !asked.into_iter().all(is_there) || !region.is_table(program, table) {
            return None;
        }
        let taken: BTreeSet<Literal> = path
            .iter()
            .flat_map(|&(cond, truth)| literals(block, uses, cond, truth))
            .collect();
        let cond = match (guard, path.as_slice()) {
            (Some(guard), _) => Some(guard).filter(|&g| literals(block, uses, g, true) == taken),
            (None, &[(cond, true)]) => Some(cond),
            (None, _) => None,
        };
        Some(Side {
            table,
            path,
            guard,
            cond,
            chain,
        })
    }

    /// Whether everywhere is known how many steps the loops have.
    fn is_known(&self, side: &Side) -> bool {
        let mut numbers = side.chain.changes.keys();
        numbers.all(|&number| {
            let length = length(self.program, &self.block.stmts[number]);
            length.is_none_or(|length| !self.guarded.contains(&length))
        })
    }

    /// Whether what the statements make is looked at where the condition holds only, but by the choice.
    fn is_only_for(&self, side: &Side, choice: usize, inner: &[usize]) -> bool {
        let Self {
            program,
            block,
            uses,
            handed,
            ..
        } = *self;
        let is_behind = |number: usize| side.cond.is_some() && uses.guards[number] == side.cond;
        let takes = |reader: usize, value: ValueId| match block.stmts[reader].op {
            BulkOp::Select(by, then, otherwise) if then != otherwise => {
                let of = |cond| literals(block, uses, cond, true);
                let asked = literals(block, uses, by, value == then);
                [then, otherwise].contains(&value) && side.cond.is_some_and(|own| of(own) == asked)
            }
            _ => handed.choices.get(&reader).is_some_and(|taken| {
                let mut taken = taken.iter();
                taken.any(|&(cond, table)| Some(cond) == side.cond && table == value)
            }),
        };
        let may_read = |reader: usize, value: ValueId| {
            reader == choice
                || inner.contains(&reader)
                || side.chain.changes.contains_key(&reader)
                || is_behind(reader)
                || takes(reader, value)
        };
        let is_private = |&value: &ValueId| {
            let mut axes = program.decls.axes.iter();
            let readers = uses.readers.get(&value);
            !block.results.contains(&value)
                && axes.all(|axis| axis.extent != Extent::Value(value))
                && readers.is_none_or(|all| all.iter().all(|&reader| may_read(reader, value)))
        };
        let mut numbers = side.chain.changes.keys();
        numbers
            .all(|&number| is_behind(number) || block.stmts[number].results.iter().all(is_private))
    }
}

/// The table of which a statement has changed some places.
fn base(stmt: &Stmt<Bulk>, made: ValueId) -> Option<ValueId> {
    match &stmt.op {
        BulkOp::Update { table, .. } => Some(*table),
        BulkOp::Scatter { base, .. } => Some(*base),
        BulkOp::Loop { init, .. } => {
            let state = stmt.results.iter().position(|&result| result == made)?;
            init.get(state).copied()
        }
        _ => None,
    }
}

/// How a table is made of another by statements of a block that change some of its places: their numbers, and of loops, what is so in their bodies.
#[derive(Default)]
struct Chain {
    changes: BTreeMap<usize, Option<Chain>>,
    /// What the first of them makes of the other table.
    begun: Option<(usize, ValueId)>,
}

impl Chain {
    /// How one table is made of another in a region.
    fn of(
        program: &Program<Bulk>,
        block: &Block<Bulk>,
        sites: &BTreeMap<ValueId, usize>,
        region: &Region,
        [before, after]: [ValueId; 2],
    ) -> Option<Self> {
        let mut chain = Self::default();
        let mut made = after;
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
                BulkOp::Loop { body, .. } => Some(Self::of_body(program, body, region)?),
                _ => return None,
            };
            chain.changes.insert(number, inside);
            chain.begun = Some((number, made));
            made = base(stmt, made)?;
        }
        Some(chain)
    }

    /// How the tables that a loop carries are made of themselves, if what else it does can stand behind the condition.
    fn of_body(program: &Program<Bulk>, body: &Block<Bulk>, region: &Region) -> Option<Self> {
        let sites = sites(body);
        let mut chain = Self::default();
        for (&param, &next) in body.params[1..].iter().zip(&body.results) {
            if region.is_table(program, param) {
                let of_state = Self::of(program, body, &sites, region, [param, next])?;
                chain.changes.extend(of_state.changes);
            } else if !region.is_within(program, param) {
                return None;
            }
        }
        // How many steps a loop has must be known where the condition does not hold.
        let fits = |(number, stmt): (usize, &Stmt<Bulk>)| match chain.changes.get(&number) {
            Some(_) => length(program, stmt).is_none(),
            None => region.takes(program, stmt) || is_harmless(program, stmt),
        };
        let mut stmts = body.stmts.iter().enumerate();
        stmts.all(fits).then_some(chain)
    }

    fn first(&self) -> usize {
        self.changes.keys().next().copied().unwrap_or_default()
    }

    fn last(&self) -> usize {
        self.changes.keys().last().copied().unwrap_or_default()
    }

    /// Whether there is a loop, for which it is worth it: of a place or two that are changed the schedule takes care.
    fn has_loops(&self) -> bool {
        self.changes.values().any(Option::is_some)
    }

    /// Changes another table.
    fn begin_with(&self, block: &mut Block<Bulk>, table: ValueId) {
        let Some((number, made)) = self.begun else {
            return;
        };
        let Stmt { results, op, .. } = &mut block.stmts[number];
        match op {
            BulkOp::Update { table: base, .. } | BulkOp::Scatter { base, .. } => *base = table,
            BulkOp::Loop { init, .. } => {
                let states = results.iter().zip(init);
                for (_, base) in states.filter(|(result, _)| **result == made) {
                    *base = table;
                }
            }
            _ => {}
        }
    }

    /// Lets the statements change something where the condition holds only.
    fn mask(
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
                BulkOp::Loop { init, body, .. } => {
                    let inside = inside.unwrap_or_default();
                    inside.mask_body(program, body, init.len(), cond);
                }
                _ => unreachable!("chains are of these"),
            }
        }
    }

    fn mask_body(
        self,
        program: &mut Program<Bulk>,
        body: &mut Block<Bulk>,
        states: usize,
        cond: ValueId,
    ) {
        let region = Region {
            axes: program.ty(cond).dims.clone(),
            guard: None,
        };
        let mut conds = Conds::new();
        for (number, stmt) in body.stmts.iter_mut().enumerate() {
            if !self.changes.contains_key(&number) && region.takes(program, stmt) {
                let at = (number, stmt.span);
                stmt.guard = Some(both(program, cond, stmt.guard, at, &mut conds));
            }
        }
        self.mask(program, body, cond, &mut conds);
        body.edit(conds, &BTreeSet::new());
        for state in 0..states {
            let (param, next) = (body.params[1 + state], body.results[state]);
            if param != next && !region.is_table(program, param) {
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

/// What says how many steps a loop has, if that is computed.
fn length(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> Option<ValueId> {
    let BulkOp::Loop { axis, .. } = stmt.op else {
        return None;
    };
    match program.decls.axes[axis.0 as usize].extent {
        Extent::Value(length) => Some(length),
        Extent::Const(_) | Extent::Size(_) => None,
    }
}

/// Whether a statement may be where nobody asks for what it gives.
fn is_harmless(program: &Program<Bulk>, stmt: &Stmt<Bulk>) -> bool {
    !may_fail(program, &stmt.op) && stmt.op.blocks().is_empty()
}

/// The condition and another one.
fn both(
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
        BulkOp::Map(Prim::And, vec![cond, other]),
        at,
        conds,
    )
}

/// The result of an operation that is done in front of a statement.
fn made(
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

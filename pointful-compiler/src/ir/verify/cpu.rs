//! The invariants of Cpu alone: strips, and what their lanes may do.

use super::imperative::Kind;
use super::{Places, VerifyError, VerifyOwn};
use crate::analysis::angles::may_bet;
use crate::analysis::effects::{asked, is_pure};
use crate::analysis::moves::Moves;
use crate::analysis::parts::Parts;
use crate::ir::stages::cpu::{Acc, Cpu, CpuOp, Own, Par, Tile};
use crate::ir::{Block, Elem, Extent, Operation, Scalar, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

impl VerifyOwn for Cpu {
    fn operands_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        match own {
            Own::Par(par) => places.targets(par),
            Own::Tile(tile) => places.tile(tile),
            Own::Transpose { .. } | Own::Multiversion(_) => Ok(()),
            Own::Bound { .. } | Own::Range { .. } | Own::Strips { .. } => {
                places.scalars(&own.operands())
            }
            Own::Lanes { strip, body, .. } => match (places.kind(*strip), &body.params[..]) {
                (Kind::Strip(width), &[lane, _]) => {
                    match places.program.elem(lane) == Elem::Index(Extent::Const(width)) {
                        true => Ok(()),
                        false => places.error(18, *strip, "is a strip of another width"),
                    }
                }
                _ => places.error(18, *strip, "is no strip"),
            },
            Own::Fold {
                monoid,
                place,
                lanes,
            } => {
                places.buffer(*lanes)?;
                match places.kind(*place) {
                    Kind::Private(own) if own == *monoid => Ok(()),
                    Kind::Private(_) => places.error(14, *place, "accumulates by another monoid"),
                    _ => {
                        places.var(*place)?;
                        places.changed(*place)
                    }
                }
            }
            Own::ArgCombine {
                best,
                at,
                lane,
                value,
                place,
                ..
            } => {
                for array in [*best, *at] {
                    places.buffer(array)?;
                    places.changed(array)?;
                }
                places.scalars(&[*lane, *value, *place])
            }
            Own::ArgFold {
                best,
                at,
                lanes: [best_lanes, at_lanes],
                ..
            } => {
                for (var, array) in [(*best, *best_lanes), (*at, *at_lanes)] {
                    places.buffer(array)?;
                    places.var(var)?;
                    places.changed(var)?;
                }
                Ok(())
            }
        }
    }

    fn enter_own(places: &mut Places<'_, Self>, own: &Own) {
        if let Own::Strips { width, body, .. } = own {
            places.note(body.params[0], Kind::Strip(*width));
        }
    }

    fn follows_own(
        places: &Places<'_, Self>,
        earlier: &[Stmt<Self>],
        own: &Own,
    ) -> Result<(), VerifyError> {
        let Own::Par(par) = own else {
            return Ok(());
        };
        for acc in par.accs.iter().filter(|acc| acc.becomes) {
            let is_it = |value: &ValueId| *value == acc.target;
            let mut before = earlier.iter().rev();
            let last =
                before.find(|stmt| stmt.results.iter().any(is_it) || asked(stmt).iter().any(is_it));
            let is_made =
                last.is_some_and(|stmt| matches!(stmt.op, CpuOp::Alloc { fill: Some(_) }));
            let others = par.operands().into_iter().filter(is_it).count() > 1;
            if !is_made || others || par.body.free().iter().any(is_it) {
                return places.error(24, acc.target, "becomes what is merged, and is more");
            }
        }
        Ok(())
    }

    fn leave_own(places: &Places<'_, Self>, own: &Own) -> Result<(), VerifyError> {
        match own {
            Own::Lanes {
                in_order: false,
                body,
                ..
            } => {
                let mut lane = Lane {
                    places,
                    own: body.params.clone(),
                    bound: ValueSet::new(),
                };
                lane.block(body)
            }
            Own::Strips {
                overlapping: true,
                body,
                ..
            } => {
                let mut strip = Again {
                    places,
                    bound: ValueSet::new(),
                    read: ValueSet::new(),
                    written: ValueSet::new(),
                };
                strip.block(body)?;
                match strip
                    .written
                    .iter()
                    .find(|place| strip.read.contains(place))
                {
                    Some(place) => places.error(
                        20,
                        place,
                        "is read and written by iterations that run again",
                    ),
                    None => Ok(()),
                }
            }
            Own::Par(par) => {
                if par.by_columns {
                    columns(places, par)?;
                }
                if par.speculates && !may_bet(places.program, places.numbers(), par) {
                    return places.error(23, par.body.params[0], "is of pieces that run once");
                }
                let notes = par.accs.iter().filter(|acc| acc.notes);
                let notes: Vec<ValueId> = notes.map(|acc| acc.private).collect();
                noted(places, &notes, &par.body)
            }
            Own::Transpose { body, .. } => {
                let [row, column] = [body.params[0], body.params[1]];
                let stmts: Vec<_> = body.stmts.iter().collect();
                match Moves::of(places.program, [row, column], &stmts) {
                    Some(_) => Ok(()),
                    None => places.error(25, row, "is of a loop that does not only move elements"),
                }
            }
            Own::Multiversion(_) if places.in_kernel() => {
                places.fails(25, "what is compiled for each level is not the host's")
            }
            Own::Multiversion(body) => in_place(places, body),
            Own::Tile(tile) => steps(places, tile),
            _ => Ok(()),
        }
    }
}

/// Invariant 25: what is compiled for each level works on what is there.
fn in_place(places: &Places<'_, Cpu>, block: &Block<Cpu>) -> Result<(), VerifyError> {
    for stmt in &block.stmts {
        let made = match stmt.op {
            CpuOp::Alloc { .. } | CpuOp::Copy(_) => stmt.results.first().copied(),
            CpuOp::Swap(buffer, _) | CpuOp::Contract { out: buffer, .. } => Some(buffer),
            CpuOp::Own(Own::Par(Par { ref body, .. }) | Own::Tile(Tile { ref body, .. })) => {
                body.params.first().copied()
            }
            _ => None,
        };
        if let Some(made) = made {
            return places.error(25, made, "is not for what is compiled for each level");
        }
        for inner in stmt.op.blocks() {
            in_place(places, inner)?;
        }
    }
    Ok(())
}

/// Invariant 24: into what is noted elements are combined.
fn noted(
    places: &Places<'_, Cpu>,
    notes: &[ValueId],
    block: &Block<Cpu>,
) -> Result<(), VerifyError> {
    if notes.is_empty() {
        return Ok(());
    }
    for stmt in &block.stmts {
        if let CpuOp::Contract { out, .. } = &stmt.op
            && notes.contains(out)
        {
            return places.error(24, *out, "is noted and combined into as a whole");
        }
        for inner in stmt.op.blocks() {
            noted(places, notes, inner)?;
        }
    }
    match notes
        .iter()
        .find(|&&own| places.program.ty(own).rank() == 0)
    {
        Some(&number) => places.error(24, number, "is noted and no table"),
        None => Ok(()),
    }
}

impl Places<'_, Cpu> {
    /// What a tile of steps writes is the host's to write.
    fn tile(&self, tile: &Tile) -> Result<(), VerifyError> {
        let swapped = tile.swaps.iter().flat_map(|&(a, b)| [a, b]);
        for buffer in tile.writes.iter().map(|&(buffer, _)| buffer).chain(swapped) {
            self.owned(buffer)?;
            self.changed(buffer)?;
            if tile.written(buffer).is_none() {
                return self.error(22, buffer, "changes places and is not written");
            }
        }
        Ok(())
    }
}

/// Invariant 22: what steps are.
fn steps(places: &Places<'_, Cpu>, tile: &Tile) -> Result<(), VerifyError> {
    let [before, kernels, after] = tile.parts();
    let error = |value, what| places.error(22, value, what);
    let is_pure = |stmt: &Stmt<Cpu>| is_pure(places.program, stmt);
    let mut late = ValueSet::new();
    for stmt in after {
        late.extend(&stmt.results);
        match &stmt.op {
            CpuOp::Set { place, .. } => late.extend([*place]),
            CpuOp::Var(_) | CpuOp::Get(_) => {}
            op if !is_pure(stmt) => {
                return error(
                    op.operands()[0],
                    "is asked for by steps beside their kernels",
                );
            }
            _ => {}
        }
    }
    let is_early = |stmt: &&Stmt<Cpu>| !matches!(stmt.op, CpuOp::Var(_)) && !is_pure(stmt);
    if let Some(stmt) = before.iter().find(is_early) {
        return error(
            stmt.op.operands()[0],
            "is asked for by steps before their kernels",
        );
    }
    for stmt in before.iter().chain(after) {
        if let Some(written) = stmt
            .op
            .operands()
            .into_iter()
            .find(|&x| tile.written(x).is_some())
        {
            return error(
                written,
                "is written by steps and asked for beside their kernels",
            );
        }
    }
    // Of several steps, each is before others.
    if tile.steps().is_some() {
        late.extend(kernels.iter().flat_map(targets));
    }
    for stmt in before.iter().chain(kernels) {
        let inside = stmt.op.blocks().into_iter().flat_map(Block::free);
        let asked = match &stmt.op {
            CpuOp::Own(Own::Par(_)) => inside.collect(),
            op => op.operands().to_vec(),
        };
        if let Some(value) = asked.into_iter().find(|value| late.contains(value)) {
            return error(value, "is known after a step and asked for in it");
        }
        late.extend(targets(stmt));
    }
    for kernel in kernels {
        match &kernel.op {
            CpuOp::Own(Own::Par(par)) => row(places, tile, par)?,
            CpuOp::Contract { out, .. } if tile.written(*out).is_some() => {}
            op => return error(op.operands()[0], "is of steps, which do not say so"),
        }
    }
    Ok(())
}

/// What a kernel adds up into.
fn targets(stmt: &Stmt<Cpu>) -> impl Iterator<Item = ValueId> {
    let accs: &[Acc] = match &stmt.op {
        CpuOp::Own(Own::Par(par)) => &par.accs,
        _ => &[],
    };
    accs.iter().map(|acc| acc.target)
}

/// What a kernel of a step adds up into, and where it writes.
fn row(places: &Places<'_, Cpu>, tile: &Tile, par: &Par<Cpu>) -> Result<(), VerifyError> {
    let mut targets = par.accs.iter().map(|acc| acc.target);
    let is_table = |target: &ValueId| places.program.ty(*target).rank() > 0;
    if let Some(table) = targets.find(is_table).filter(|_| tile.steps().is_some()) {
        return places.error(22, table, "is added up into by all steps");
    }
    let mut row = Row {
        places,
        tile,
        rows: match par.extents[..] {
            [_] => Err(Parts::of(par)),
            _ => Ok(par.body.params[0]),
        },
        bound: par.privates().collect(),
    };
    row.block(&par.body)
}

/// What a kernel of a step writes.
struct Row<'p, 'v> {
    places: &'v Places<'p, Cpu>,
    tile: &'v Tile,
    /// The index of a row, or the parts that rows are points of.
    rows: Result<ValueId, Parts>,
    bound: ValueSet,
}

impl Row<'_, '_> {
    fn block(&mut self, block: &Block<Cpu>) -> Result<(), VerifyError> {
        for stmt in &block.stmts {
            let error = |place, what| self.places.error(22, place, what);
            match &stmt.op {
                CpuOp::Store {
                    buffer, indices, ..
                } if !self.bound.contains(buffer) => {
                    let is_row = |index: &ValueId| match &self.rows {
                        Ok(row) => index == row,
                        Err(parts) => parts.goes_through(*index),
                    };
                    match self.tile.written(*buffer) {
                        None => return error(*buffer, "is written by steps that do not say so"),
                        Some(_) if indices.iter().any(is_row) => {}
                        Some(_) => return error(*buffer, "is written in another row"),
                    }
                }
                CpuOp::Swap(place, _) | CpuOp::Contract { out: place, .. }
                    if !self.bound.contains(place) =>
                {
                    return error(*place, "is changed by a kernel of a step as a whole");
                }
                _ => {}
            }
            self.bound.extend(&stmt.results);
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Ok(())
    }
}

/// Invariant 21: where a nest by columns combines.
fn columns(places: &Places<'_, Cpu>, par: &Par<Cpu>) -> Result<(), VerifyError> {
    let (Some(column), true) = (par.extents.last(), par.folds.is_empty()) else {
        return places.error(21, par.body.params[0], "is of a nest that has no columns");
    };
    let dims = |private: ValueId| &places.program.ty(private).dims;
    let mut tables = ValueSet::new();
    for acc in par.accs.iter().filter(|acc| !dims(acc.private).is_empty()) {
        if dims(acc.private).last() != Some(column) {
            return places.error(21, acc.private, "has other columns than the nest");
        }
        tables.insert(acc.private);
    }
    combines(places, &par.body, &tables, &mut ValueSet::new())
}

fn combines(
    places: &Places<'_, Cpu>,
    block: &Block<Cpu>,
    tables: &ValueSet,
    columns: &mut ValueSet,
) -> Result<(), VerifyError> {
    for stmt in &block.stmts {
        if let CpuOp::Own(Own::Range { body, .. } | Own::Lanes { body, .. }) = &stmt.op {
            columns.extend(&body.params);
        }
        if let CpuOp::Combine { place, indices, .. } = &stmt.op
            && tables.contains(place)
            && !indices.last().is_some_and(|last| columns.contains(last))
        {
            return places.error(21, *place, "is combined into beside the column");
        }
        for inner in stmt.op.blocks() {
            combines(places, inner, tables, columns)?;
        }
    }
    Ok(())
}

/// Invariant 19: what a lane may do.
struct Lane<'p, 'v> {
    places: &'v Places<'p, Cpu>,
    /// Its number and its index, and what is as far apart for lanes as these are.
    own: Vec<ValueId>,
    /// What may be another for each lane.
    bound: ValueSet,
}

impl Lane<'_, '_> {
    fn block(&mut self, block: &Block<Cpu>) -> Result<(), VerifyError> {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.op(&stmt.op)?;
            if self.is_apart(&stmt.op) {
                self.own.extend(&stmt.results);
            }
            if !matches!(stmt.op, CpuOp::Const(_) | CpuOp::Size(_)) {
                self.bound.extend(&stmt.results);
            }
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Ok(())
    }

    /// Whether an operation gives a number of the lane's own and one that is the same for all.
    fn is_apart(&self, op: &CpuOp) -> bool {
        let is_own = |value| self.own.contains(value);
        match op {
            CpuOp::Prim(Prim::Cast(Scalar::Usize | Scalar::I64) | Prim::Trust(_), args) => {
                is_own(&args[0])
            }
            CpuOp::Prim(Prim::Add | Prim::Sub, args) => {
                let [a, b] = [&args[0], &args[1]];
                let same = |value| !self.bound.contains(value);
                (is_own(a) && same(b)) || (is_own(b) && same(a))
            }
            _ => false,
        }
    }

    fn op(&self, op: &CpuOp) -> Result<(), VerifyError> {
        match op {
            CpuOp::Store {
                buffer: place,
                indices,
                ..
            } => self.changes(*place, indices),
            CpuOp::Combine {
                monoid,
                place,
                indices,
                ..
            } => {
                // In whatever order: the same bits.
                let any_order =
                    !self.places.program.elem(*place).is_float() || monoid.is_idempotent();
                match any_order {
                    true => Ok(()),
                    false => self.changes(*place, indices),
                }
            }
            CpuOp::Set { place, .. } => self.changes(*place, &[]),
            CpuOp::Swap(a, _) => self.error(*a, "is swapped by a lane"),
            CpuOp::Contract { out, .. } => self.error(*out, "is multiplied by a lane"),
            CpuOp::While { .. } | CpuOp::Assert { .. } => self.error(
                self.own[0],
                "is the number of a lane that may end otherwise than others",
            ),
            CpuOp::Own(Own::ArgCombine { best, at, lane, .. }) => {
                self.changes(*best, &[*lane])?;
                self.changes(*at, &[*lane])
            }
            CpuOp::Own(_) => self.error(
                self.own[0],
                "is the number of a lane with a loop of its own",
            ),
            CpuOp::Const(_)
            | CpuOp::Size(_)
            | CpuOp::Prim(..)
            | CpuOp::Select(..)
            | CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Load { .. }
            | CpuOp::Var(_)
            | CpuOp::Get(_)
            | CpuOp::For { .. }
            | CpuOp::If { .. } => Ok(()),
        }
    }

    /// A place is the lane's own, or an element at its number or its index, or at a distance from it
    /// that is the same for all.
    fn changes(&self, place: ValueId, indices: &[ValueId]) -> Result<(), VerifyError> {
        let own =
            self.bound.contains(&place) || indices.iter().any(|index| self.own.contains(index));
        match own {
            true => Ok(()),
            false => self.error(place, "is changed by all lanes"),
        }
    }

    fn error(&self, value: ValueId, what: &str) -> Result<(), VerifyError> {
        self.places.error(19, value, what)
    }
}

/// Invariant 20: what iterations that run again may do.
struct Again<'p, 'v> {
    places: &'v Places<'p, Cpu>,
    bound: ValueSet,
    read: ValueSet,
    written: ValueSet,
}

impl Again<'_, '_> {
    fn block(&mut self, block: &Block<Cpu>) -> Result<(), VerifyError> {
        for stmt in &block.stmts {
            match &stmt.op {
                CpuOp::Load { buffer: place, .. } | CpuOp::Get(place) | CpuOp::Copy(place) => {
                    self.note(*place, false);
                }
                CpuOp::Store { buffer: place, .. } | CpuOp::Set { place, .. } => {
                    self.note(*place, true);
                }
                CpuOp::Combine { monoid, place, .. }
                | CpuOp::Own(Own::Fold { monoid, place, .. }) => {
                    if !self.bound.contains(place) && !monoid.is_idempotent() {
                        return self.places.error(
                            20,
                            *place,
                            "is combined into by iterations that run again",
                        );
                    }
                }
                CpuOp::Swap(a, b) => {
                    for place in [*a, *b] {
                        self.note(place, false);
                        self.note(place, true);
                    }
                }
                CpuOp::Contract { out, factors, .. } => {
                    factors.iter().for_each(|&factor| self.note(factor, false));
                    self.note(*out, false);
                    self.note(*out, true);
                }
                // A second look at an element finds nothing better.
                CpuOp::Const(_)
                | CpuOp::Size(_)
                | CpuOp::Prim(..)
                | CpuOp::Select(..)
                | CpuOp::Alloc { .. }
                | CpuOp::Var(_)
                | CpuOp::For { .. }
                | CpuOp::Assert { .. }
                | CpuOp::While { .. }
                | CpuOp::If { .. }
                | CpuOp::Own(_) => {}
            }
            self.bound.extend(&stmt.results);
            for inner in stmt.op.blocks() {
                self.block(inner)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, place: ValueId, written: bool) {
        if !self.bound.contains(&place) {
            let found = if written {
                &mut self.written
            } else {
                &mut self.read
            };
            found.insert(place);
        }
    }
}

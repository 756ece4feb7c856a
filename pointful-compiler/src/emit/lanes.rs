//! Reductions in several independent lanes.
//!
//! `for k in K { combine add %s, … }` is a chain: each addition waits for the one before, and
//! because floats do not reassociate by themselves the compiler of the emitted code must leave it
//! one. So the reduction is split here, in a fixed way that depends on types alone: iteration `k`
//! goes to lane `k % L`, the lanes are folded as a tree, and what does not fill the lanes follows
//! one by one.
//!
//! ```text
//! for k in 0..n {              let mut k_from = 0;
//!     s += x[k] * x[k];        if n - k_from >= 64 {
//! }                                let mut s_lanes = [0.0; 16];
//!                                  while n - k_from >= 16 {
//!                     ▶                for lane in 0..16 {
//!                                          let k = k_from + lane;
//!                                          s_lanes[lane] += x[k] * x[k];
//!                                      }
//!                                      k_from += 16;
//!                                  }
//!                                  s += fold_lanes(s_lanes, |x, y| x + y);
//!                              }
//!                              if n - k_from >= 8 { … the same with 4 lanes … }
//!                              for k in k_from..n { s += x[k] * x[k]; }
//! ```
//!
//! Many lanes hide how long an addition takes but have to be folded, which is more work than it
//! saves in a short loop; so there is a second loop with a quarter of the lanes for short loops and
//! for what the first leaves. Once is enough for it where there is an elementary function, which
//! takes as long for all lanes as for one.
//!
//! The iterations still run in order, so whatever else the body does means the same as before; only
//! the reductions are associated differently, and always in the same way. It pays where the body
//! becomes vector instructions: straight-line code without calls or panics.
//!
//! Of a branch without loops and stores both sides are computed in all lanes, and each lane takes
//! what its condition says ([`Body::flat`]). Where a side is dear, it is first asked whether any
//! lane wants it: `if d < near { exp(d) } else { 0 }` of points that are mostly far apart.
//!
//! To look at an element once more does not change what the least or the greatest is, nor where it
//! was first. So where nothing else is reduced the last lanes begin where they end with the loop,
//! and nothing follows one by one.
//!
//! What the body writes into buffers that it does not read ([`Writes`]) is written when all lanes
//! have run: to the optimiser a buffer may overlap with any other, and a write between two reads
//! keeps it from doing the reads of all lanes at once.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;

use super::angles::Angles;
use super::body::Body;
use super::extrema::{self, Extremum};
use super::names::ident;
use super::unit::{Unit, usize_literal};
use super::{scalar, tokens, work};
use crate::analysis::accesses::{Accesses, At, Kind};
use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{Block, Extent, Lit, Monoid, Operation, Scalar, Stmt, ValueId, ValueSet};

/// Bytes that the lanes of one reduction fill when there is room: two of the widest vector
/// registers, four of the common ones.
const BYTES: u64 = 128;

/// With more reductions or more operations than these in one body, lanes are half as many, so that
/// they stay in registers.
const MANY_REDUCTIONS: usize = 2;
const MANY_OPERATIONS: usize = 24;

/// Operations of what is dearer than to fold lanes.
pub(super) const DEAR: u64 = 12;

/// Constant loops of up to this many iterations, which are unrolled, are not split into fewer lanes
/// than so many: to fold them takes longer.
const SHORT: u64 = 16;
const LEAST: u64 = 4;

/// Short loops inside of the body are unrolled if their innermost statements run up to this many
/// times.
const UNROLLED: u64 = 64;

/// How a loop is split.
#[derive(PartialEq, Debug)]
pub(super) struct Plan {
    /// The reductions: the place outside the loop, and how values are combined into it.
    reductions: Vec<(ValueId, Monoid)>,
    /// The extremal elements whose places are looked for.
    extrema: Vec<Extremum>,
    /// Numbers of lanes, the larger first.
    widths: Vec<Width>,
    writes: Writes,
    /// A branch with a dear side, if there is one.
    rare: Option<Rare>,
    /// Whether an iteration may run twice.
    repeatable: bool,
}

/// A branch of which one side is dear.
#[derive(PartialEq, Debug)]
struct Rare {
    cond: ValueId,
    /// Which side.
    when: bool,
    /// The statements in front of it that its condition is computed by; none if all iterations
    /// decide alike.
    asked: Vec<usize>,
}

impl Rare {
    /// Finds it. All lanes are asked before any of them runs, so what is asked must not be what the
    /// body changes.
    fn of(unit: &Unit<'_>, body: &Block<Cpu>, changed: &ValueSet) -> Option<Self> {
        let stmts = &body.stmts;
        let dear = |block: &Block<Cpu>| is_dear(unit, block);
        let (at, cond, when) = stmts
            .iter()
            .enumerate()
            .find_map(|(at, stmt)| match &stmt.op {
                CpuOp::If {
                    cond,
                    then,
                    otherwise,
                } => match (dear(then), dear(otherwise)) {
                    (true, false) => Some((at, *cond, true)),
                    (false, true) => Some((at, *cond, false)),
                    (true, true) | (false, false) => None,
                },
                _ => None,
            })?;
        let mut needed = ValueSet::from([cond]);
        let mut asked = Vec::new();
        for number in (0..at).rev() {
            let stmt = &stmts[number];
            if stmt.results.iter().any(|result| needed.contains(result)) {
                match &stmt.op {
                    CpuOp::Prim(prim, args)
                        if work::prim(*prim, unit.program.elem(args[0])) < DEAR => {}
                    CpuOp::Load { buffer, .. } if !changed.contains(buffer) => {}
                    CpuOp::Const(_) | CpuOp::Size(_) | CpuOp::Select(..) => {}
                    _ => return None,
                }
                needed.extend(stmt.op.operands());
                asked.push(number);
            }
        }
        asked.reverse();
        Some(Self { cond, when, asked })
    }
}

/// Whether there is an elementary function in a block.
fn is_dear(unit: &Unit<'_>, block: &Block<Cpu>) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.op {
        CpuOp::Prim(prim, args) => work::prim(*prim, unit.program.elem(args[0])) >= DEAR,
        op => op.blocks().into_iter().any(|inner| is_dear(unit, inner)),
    })
}

/// The statements of a body that wait until all lanes have run, by the buffer that they write into.
/// None if one of them cannot wait.
type Writes = BTreeMap<ValueId, Vec<usize>>;

/// Finds them: those of buffers that are not read, at places that are known outside the body but
/// for its index. What is written into one buffer is written in the same order as before.
fn writes(accesses: &Accesses<'_>, changed: &ValueSet) -> Writes {
    let mut writes = Writes::new();
    for access in accesses.outside() {
        let indices = match access.at {
            At::Variable => continue,
            At::Element(_) | At::Any if !changed.contains(&access.place) => continue,
            At::Element(indices) => indices,
            At::Any => return Writes::new(),
        };
        let waits = match access.kind {
            Kind::Write | Kind::Combine => {
                !access.is_nested && !indices.iter().any(|index| accesses.binds(index))
            }
            Kind::Read | Kind::Swap => false,
        };
        if !waits {
            return Writes::new();
        }
        writes.entry(access.place).or_default().push(access.number);
    }
    writes
}

/// A number of lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Width {
    lanes: u64,
    /// How many iterations there have to be.
    from: u64,
}

/// Whether and how a loop over `extent` is split into lanes.
pub(super) fn plan(
    unit: &Unit<'_>,
    body: &Block<Cpu>,
    extent: Extent,
    angles: Angles,
) -> Option<Plan> {
    let last = (0..body.stmts.len()).filter_map(|last| extrema::ending_with(unit, body, last));
    let extrema: Vec<Extremum> = last.collect();
    let mut look = Look {
        unit,
        angles,
        reductions: Vec::new(),
        inner: ValueSet::new(),
        operations: extrema.iter().map(|own| own.stmts.len()).sum(),
        is_dear: false,
        read_or_set: Vec::new(),
        varying: ValueSet::from_iter(body.params.iter().copied()),
        loaded: ValueSet::new(),
        gathers: false,
        times: 1,
        branch: None,
    };
    for (number, stmt) in body.stmts.iter().enumerate() {
        if !extrema.iter().any(|own| own.stmts.contains(&number)) {
            look.stmt(stmt)?;
        }
    }
    let Look {
        reductions,
        operations,
        is_dear,
        read_or_set,
        gathers,
        ..
    } = look;
    let places = extrema.iter().flat_map(|own| [own.best, own.at]);
    let is_place = |place: &ValueId| places.clone().any(|own| own == *place);
    if reductions.iter().any(|(place, _)| is_place(place)) {
        return None;
    }
    let is_reduction =
        |place: &ValueId| is_place(place) || reductions.iter().any(|(known, _)| known == place);
    // Integers reassociate, and are vectorised without help.
    let floats = reductions
        .iter()
        .any(|&(place, _)| unit.program.elem(place).is_float());
    if (!floats && extrema.is_empty()) || read_or_set.iter().any(is_reduction) {
        return None;
    }
    let widest = reductions
        .iter()
        .map(|&(place, _)| place)
        .chain(extrema.iter().map(|own| own.best))
        .map(|place| unit.scalar(place).bytes())
        .max()?;
    let crowded =
        reductions.len() + 2 * extrema.len() > MANY_REDUCTIONS || operations > MANY_OPERATIONS;
    let most = BYTES / widest.max(4) / if crowded { 2 } else { 1 };
    let accesses = Accesses::of(&body.stmts);
    let changed = accesses.changed();
    let writes = writes(&accesses, &changed);
    // What is handed to a later iteration, or changed in place, is not the same the second time.
    let repeatable = changed.iter().all(|place| is_reduction(&place))
        && reductions.iter().all(|(_, monoid)| monoid.is_idempotent());
    // A search that goes one by one is branches, which nobody foresees.
    let searches = repeatable && !extrema.is_empty();
    let fewest = most / if is_dear || searches { 4 } else { 2 };
    let widths = [
        Width {
            lanes: most,
            from: 4 * most,
        },
        Width {
            lanes: most / 4,
            from: fewest,
        },
    ]
    .into_iter()
    // Elements that lie anywhere are picked up one by one, which only long loops make up for.
    .filter(|width| !gathers || width.lanes == most)
    .filter(|width| match extent {
        Extent::Const(length) => length >= width.from && (length > SHORT || width.lanes >= LEAST),
        Extent::Size(_) | Extent::Value(_) => true,
    })
    .collect::<Vec<_>>();
    let rare = (extrema.is_empty() && writes.is_empty()).then(|| Rare::of(unit, body, &changed));
    (!widths.is_empty()).then_some(Plan {
        reductions,
        extrema,
        widths,
        writes,
        rare: rare.flatten(),
        repeatable,
    })
}

/// What a body is made of.
struct Look<'u> {
    unit: &'u Unit<'u>,
    angles: Angles,
    reductions: Vec<(ValueId, Monoid)>,
    /// Places of an iteration's own.
    inner: ValueSet,
    operations: usize,
    is_dear: bool,
    read_or_set: Vec<ValueId>,
    /// What is not the same in all iterations.
    varying: ValueSet,
    /// What is made of elements that are read,
    loaded: ValueSet,
    /// and whether there are elements in such places.
    gathers: bool,
    /// How often a statement runs in an iteration.
    times: u64,
    /// What is bound in the branch that is being looked at.
    branch: Option<ValueSet>,
}

impl Look<'_> {
    /// Looks at a statement. None if it becomes no vector instructions.
    fn stmt(&mut self, stmt: &Stmt<Cpu>) -> Option<()> {
        match &stmt.op {
            CpuOp::Const(_) | CpuOp::Size(_) => {}
            CpuOp::Prim(prim, args) => {
                let elem = self.unit.program.elem(args[0]);
                scalar::vectorises(*prim, elem, self.angles).then_some(())?;
                self.operations += 1;
                self.is_dear |= work::prim(*prim, self.unit.program.elem(args[0])) >= DEAR;
            }
            CpuOp::Load { indices, .. } => {
                // What a lane does not ask for may not be there.
                let bound = self.branch.as_ref();
                if bound.is_some_and(|bound| indices.iter().any(|index| bound.contains(index))) {
                    return None;
                }
                self.gathers |= indices.iter().any(|index| self.loaded.contains(index));
                // Of what a short loop reads neighbours must lie side by side: it may itself go through what does.
                if let [apart @ .., _] = indices.as_slice()
                    && self.times > 1
                    && apart.iter().any(|index| self.varying.contains(index))
                {
                    return None;
                }
                self.operations += 1;
            }
            CpuOp::Store { .. } if self.times > 1 || self.branch.is_some() => return None,
            CpuOp::Select(..) | CpuOp::Store { .. } => self.operations += 1,
            CpuOp::Combine {
                monoid,
                place,
                indices,
                ..
            } => {
                let reductions = &mut self.reductions;
                if self.inner.contains(place) {
                    self.operations += 1;
                } else if !indices.is_empty() {
                    (self.times == 1 && self.branch.is_none()).then_some(())?;
                    self.operations += 1;
                } else if reductions
                    .iter()
                    .any(|&(known, by)| known == *place && by != *monoid)
                {
                    return None;
                } else if !reductions.contains(&(*place, *monoid)) {
                    reductions.push((*place, *monoid));
                }
            }
            CpuOp::Var(_) => {
                self.inner.insert(stmt.results[0]);
            }
            CpuOp::Get(place) | CpuOp::Set { place, .. } => self.read_or_set.push(*place),
            CpuOp::If {
                then, otherwise, ..
            } => {
                let outside = self.branch.clone();
                let mut branch = then.stmts.iter().chain(&otherwise.stmts);
                self.branch.get_or_insert_with(ValueSet::new);
                branch.try_for_each(|stmt| self.stmt(stmt))?;
                self.branch = outside;
                self.operations += 1;
            }
            CpuOp::For { .. } if self.branch.is_some() => return None,
            CpuOp::For { extent, body, .. } => {
                let Extent::Const(length) = self.unit.resolve(*extent) else {
                    return None;
                };
                let outside = self.times;
                self.times = self.times.saturating_mul(length);
                (2..=UNROLLED).contains(&self.times).then_some(())?;
                body.stmts.iter().try_for_each(|stmt| self.stmt(stmt))?;
                self.times = outside;
            }
            CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Swap(..)
            | CpuOp::Contract { .. }
            | CpuOp::Own(_)
            | CpuOp::Assert { .. }
            | CpuOp::While { .. } => return None,
        }
        if let Some(bound) = &mut self.branch {
            bound.extend(&stmt.results);
        }
        let read = stmt.op.operands();
        if read
            .iter()
            .any(|value| self.varying.contains(value) || self.inner.contains(value))
        {
            self.varying.extend(&stmt.results);
            let is_load = matches!(stmt.op, CpuOp::Load { .. });
            if is_load || read.iter().any(|value| self.loaded.contains(value)) {
                self.loaded.extend(&stmt.results);
            }
        }
        Some(())
    }
}

/// The lanes of a place.
pub(super) fn name(unit: &Unit<'_>, place: ValueId) -> Ident {
    ident(&format!("{}_lanes", unit.names.value(place)))
}

/// The loop in lanes.
pub(super) fn emit(
    emit: &mut Body<'_>,
    plan: &Plan,
    index: &Ident,
    body: &Block<Cpu>,
    start: &TokenStream,
    stop: &TokenStream,
) -> TokenStream {
    let from = ident(&format!("{index}_from"));
    let loops: TokenStream = plan
        .widths
        .iter()
        .map(|&width| in_lanes(emit, plan, width, (index, &from), body, stop))
        .collect();
    let rest = emit.block(body);
    tokens! {
        let mut #from = #start;
        #loops
        for #index in #from..#stop { #rest }
    }
}

/// As many iterations as fill lanes of this number.
fn in_lanes(
    emit: &mut Body<'_>,
    plan: &Plan,
    width: Width,
    (index, from): (&Ident, &Ident),
    body: &Block<Cpu>,
    stop: &TokenStream,
) -> TokenStream {
    let unit = emit.unit;
    let (count, least) = (usize_literal(width.lanes), usize_literal(width.from));
    let mut declared = TokenStream::new();
    declared.extend(plan.reductions.iter().map(|&(place, monoid)| {
        let lanes = name(unit, place);
        let identity = scalar::literal(monoid.identity(unit.scalar(place)));
        tokens!(let mut #lanes = [#identity; #count];)
    }));
    declared.extend(
        plan.extrema
            .iter()
            .map(|own| own.declared(unit, width.lanes)),
    );
    emit.in_lanes
        .extend(plan.reductions.iter().map(|(place, _)| *place));
    let of_steps = |number: usize| plan.extrema.iter().any(|own| own.stmts.contains(&number));
    let waits = |number: usize| plan.writes.values().any(|own| own.contains(&number));
    let plain = (0..body.stmts.len()).filter(|&number| !of_steps(number) && !waits(number));
    let plain: Vec<&Stmt<Cpu>> = plain.map(|number| &body.stmts[number]).collect();
    let mut inner = emit.without_lanes(|emit| emit.flat(&plain));
    inner.extend(plan.extrema.iter().map(|own| own.step(unit, index)));
    let without = plan.rare.as_ref().map(|rare| {
        let others = without(body, rare.cond, !rare.when);
        let others: Vec<&Stmt<Cpu>> = others.stmts.iter().collect();
        emit.without_lanes(|emit| emit.flat(&others))
    });
    let mut written = TokenStream::new();
    for own in plan.writes.values() {
        let mut writes = TokenStream::new();
        for &number in own {
            let later = Later::of(emit, &body.stmts[number], number, &count);
            declared.extend(later.declared);
            inner.extend(later.kept);
            writes.extend(later.written);
        }
        written.extend(tokens! {
            for lane in 0..#count {
                let #index = #from + lane;
                #writes
            }
        });
    }
    for (place, _) in &plan.reductions {
        emit.in_lanes.remove(place);
    }
    let folded = plan.reductions.iter().map(|&(place, monoid)| {
        let lanes = name(unit, place);
        let operator = operator(monoid, unit.scalar(place));
        emit.combine(monoid, place, &[], &tokens!(fold_lanes(#lanes, #operator)))
    });
    let mut folded: TokenStream = folded.collect();
    folded.extend(plan.extrema.iter().map(|own| own.folded(unit)));
    let in_all = |inner: &TokenStream| {
        tokens! {
            for lane in 0..#count {
                let #index = #from + lane;
                #inner
            }
        }
    };
    let mut lanes = in_all(&inner);
    if let Some(rare) = &plan.rare {
        let asked: Vec<&Stmt<Cpu>> = rare.asked.iter().map(|&at| &body.stmts[at]).collect();
        let asked = emit.block_of(&asked);
        let cond = unit.value(rare.cond);
        let wanted = if rare.when {
            cond.into_token_stream()
        } else {
            tokens!(!#cond)
        };
        let asked = in_all(&tokens!(#asked wanted_ |= #wanted;));
        let without = in_all(&without.unwrap_or_default());
        lanes = tokens!(let mut wanted_ = false; #asked if wanted_ { #lanes } else { #without });
    }
    let (go_on, back) = if plan.repeatable {
        let back = tokens!(#from = min(#from, #stop - #count););
        (tokens!(#from < #stop), Some(back))
    } else {
        (tokens!(#stop - #from >= #count), None)
    };
    tokens! {
        if #stop - #from >= #least {
            #declared
            while #go_on {
                #back
                #lanes
                #written
                #from += #count;
            }
            #folded
        }
    }
}

/// A body in which a condition is known: without the branches that it decides.
fn without(body: &Block<Cpu>, cond: ValueId, truth: bool) -> Block<Cpu> {
    let stmts = body.stmts.iter().flat_map(|stmt| match &stmt.op {
        CpuOp::If {
            cond: own,
            then,
            otherwise,
        } if *own == cond => {
            let taken = if truth { then } else { otherwise };
            without(taken, cond, truth).stmts
        }
        _ => vec![stmt.clone()],
    });
    Block {
        params: body.params.clone(),
        stmts: stmts.collect(),
        results: Vec::new(),
    }
}

/// A write into a buffer that waits until all lanes have run.
pub(super) struct Later {
    /// What is kept for it, before the lanes,
    pub(super) declared: TokenStream,
    /// in a lane,
    pub(super) kept: TokenStream,
    /// and how it is written in a lane afterwards.
    pub(super) written: TokenStream,
}

impl Later {
    /// Of a store or a combination, the `number`th statement, in so many lanes.
    pub(super) fn of(
        emit: &Body<'_>,
        stmt: &Stmt<Cpu>,
        number: usize,
        count: &impl ToTokens,
    ) -> Self {
        let unit = emit.unit;
        let lanes = ident(&format!("moved{number}_"));
        let moved = tokens!(#lanes[lane]);
        let (value, written) = match &stmt.op {
            CpuOp::Store {
                buffer,
                indices,
                value,
            } => {
                let position = unit.position(*buffer, indices);
                (*value, emit.write(*buffer, &position, &moved))
            }
            CpuOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => (*value, emit.combine(*monoid, *place, indices, &moved)),
            other => unreachable!("it writes into no buffer: {other:?}"),
        };
        let zero = scalar::literal(Lit::of(unit.scalar(value), 0.0));
        let value = unit.value(value);
        Self {
            declared: tokens!(let mut #lanes = [#zero; #count];),
            kept: tokens!(#moved = #value;),
            written,
        }
    }
}

/// The function that folds two lanes.
pub(super) fn operator(monoid: Monoid, element: Scalar) -> TokenStream {
    let (x, y) = (ident("x"), ident("y"));
    let combined = scalar::combine(monoid, element, &x, &y);
    tokens!(|x, y| #combined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::testing::{Build, table};
    use crate::ir::Program;
    use crate::ops::Prim;

    /// `for k in extent { s ⊕= prim(x[k]) }` by the host, with the sum read in the loop if asked
    /// for.
    fn reduction(
        element: Scalar,
        extent: Option<u64>,
        prim: Option<Prim>,
        read: bool,
    ) -> Program<Cpu> {
        let mut b = Build::new("reduction");
        let k = extent.map_or_else(|| b.size("K"), Extent::Const);
        let x = b.param("x", table(element, &[k]));
        let zero = b.lit(element, 0.0);
        let sum = b.var(zero);
        b.each(k, |b, k| {
            let mut value = b.load(x, &[k]);
            if let Some(prim) = prim {
                value = b.prim(prim, &[value]);
            }
            b.combine(Monoid::Add, sum, &[], value);
            if read {
                b.get(sum);
            }
        });
        let sum = b.get(sum);
        crate::emit::testing::targeted(b.finish(&[sum]))
    }

    /// The numbers of lanes.
    fn widths(program: &Program<Cpu>) -> Vec<u64> {
        widths_by(program, Angles::Any)
    }

    fn widths_by(program: &Program<Cpu>, angles: Angles) -> Vec<u64> {
        let unit = Unit::of(program);
        let planned = program.body.stmts.iter().find_map(|stmt| match &stmt.op {
            CpuOp::For { extent, body, .. } => plan(&unit, body, *extent, angles),
            _ => None,
        });
        planned.map_or_else(Vec::new, |plan| {
            plan.widths.iter().map(|width| width.lanes).collect()
        })
    }

    #[test]
    fn floats_have_as_many_lanes_as_fill_registers() {
        assert_eq!(widths(&reduction(Scalar::F64, None, None, false)), [16, 4]);
        assert_eq!(
            widths(&reduction(Scalar::F32, None, Some(Prim::Sqrt), false)),
            [32, 8]
        );
    }

    #[test]
    fn short_loops_have_fewer_lanes_or_none() {
        assert_eq!(widths(&reduction(Scalar::F64, Some(20), None, false)), [4]);
        assert!(widths(&reduction(Scalar::F64, Some(7), None, false)).is_empty());
        // A function of four numbers takes as long as of one.
        let exponentials = |length| {
            widths(&reduction(
                Scalar::F64,
                Some(length),
                Some(Prim::Exp),
                false,
            ))
        };
        assert_eq!((exponentials(4), exponentials(3)), (vec![4], vec![]));
    }

    #[test]
    fn what_is_unrolled_is_not_split_in_two() {
        // Three sums at once leave registers for two lanes of each.
        let three = |length: u64| {
            let mut b = Build::new("three");
            let k = Extent::Const(length);
            let x = b.param("x", table(Scalar::F64, &[k]));
            let zero = b.lit(Scalar::F64, 0.0);
            let sums = [b.var(zero), b.var(zero), b.var(zero)];
            b.each(k, |b, k| {
                let value = b.load(x, &[k]);
                for sum in sums {
                    b.combine(Monoid::Add, sum, &[], value);
                }
            });
            let sums = sums.map(|sum| b.get(sum));
            widths(&crate::emit::testing::targeted(b.finish(&sums)))
        };
        assert!(three(9).is_empty() && three(16).is_empty());
        assert_eq!((three(17), three(40)), (vec![2], vec![8, 2]));
    }

    /// `for %2: K { %3 = load x[%2], statements }` with a sum in `%1`, as it is emitted.
    fn emitted(statements: &str) -> String {
        let text = format!(
            "fn f(x: f64[K], own u: f64[K], own rows: f64[K, 2]) -> f64 {{
               %0 = const 0.0f64 %1 = var %0 %8 = const 0usize %9 = trust 2 %8
               for %2: K {{ %3 = load x[%2] combine add %1[], %3 {statements} }}
               %4 = get %1
               return %4
             }}"
        );
        let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::emit::names::as_in_source(&crate::emit::host::host(&Unit::of(&program), &[]))
    }

    #[test]
    fn what_is_written_waits_until_all_lanes_have_run() {
        let text = emitted("store u[%2], %3 combine add rows[%2, %9], %3 store rows[%2, %9], %0");
        for part in [
            "moved2_ [lane] = t6 ;",
            // One loop for each buffer, with the same order in it.
            "for lane in 0 .. 16usize { let i5 = i5_from + lane ; u . out () . write (i5 , moved2_ [lane]) ; } for lane in 0 .. 16usize {",
            "moved3_ [lane]) ; } rows . out () . write (i5 * 2usize + i4 , moved4_ [lane]) ;",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        for statements in [
            // Another iteration may read it, or the place is only known inside.
            "store u[%2], %3 %5 = load u[%2] combine add %1[], %5",
            "%5 = trust K %8 store u[%5], %3",
        ] {
            let text = emitted(statements);
            assert!(!text.contains("moved"), "{text}");
        }
    }

    #[test]
    fn where_an_element_may_come_twice_the_last_lanes_end_with_the_loop() {
        let lanes = |monoid: &str, more: &str| {
            let text = format!(
                "fn f(x: f64[K], own u: f64[K]) -> f64 {{
                   %0 = const 0.0f64 %1 = var %0 %7 = var %0
                   for %2: K {{ %3 = load x[%2] combine {monoid} %1[], %3 {more} }}
                   %4 = get %1 %8 = get %7 %9 = add %4, %8
                   return %9
                 }}"
            );
            let program =
                crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
            let emitted = crate::emit::names::as_in_source(&crate::emit::host::host(
                &Unit::of(&program),
                &[],
            ));
            assert!(emitted.contains("_lanes"), "{emitted}");
            emitted
        };
        let last = "while i4_from < k { i4_from = min (i4_from , k - 16usize) ;";
        for (monoid, more) in [("max", ""), ("min", "combine max %7[], %3")] {
            let text = lanes(monoid, more);
            assert!(text.contains(last), "no {last:?} in {text}");
        }
        for (monoid, more) in [
            ("add", ""),
            ("max", "combine add %7[], %3"),
            ("max", "store u[%2], %3"),
            // What is handed on, changed in place, or written where only the body knows.
            ("max", "%5 = get %7 %6 = add %5, %3 set %7, %6"),
            ("max", "%5 = load u[%2] %6 = mul %5, %3 store u[%2], %6"),
            ("max", "%5 = const 0usize %6 = trust K %5 store u[%6], %3"),
        ] {
            let text = lanes(monoid, more);
            assert!(!text.contains("= min (i4_from"), "{text}");
        }
    }

    #[test]
    fn short_loops_are_unrolled_in_lanes() {
        let in_lanes = |loops: &str| {
            let text = format!(
                "fn f(x: f64[K], w: f64[9], wide: f64[9, K], long: f64[K, 9]) -> f64 {{
                   %0 = const 0.0f64 %1 = var %0
                   for %2: K {{ %3 = var %0 {loops} %4 = get %3 combine add %1[], %4 }}
                   %5 = get %1
                   return %5
                 }}"
            );
            let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{e}"));
            let emitted = crate::emit::names::as_in_source(&crate::emit::host::host(
                &Unit::of(&program),
                &[],
            ));
            // The short loop has fewer.
            emitted.contains("_lanes = [0f64 ; 16usize]")
        };
        let nine = |load: &str| {
            format!(
                "for %6: 9 {{ %7 = load {load} %8 = load w[%6] %9 = mul %7, %8 combine add %3[], %9 }}"
            )
        };
        assert!(in_lanes(&nine("x[%2]")) && in_lanes(&nine("wide[%6, %2]")));
        // What the short loop goes through lies side by side, and neighbours do not.
        assert!(!in_lanes(&nine("long[%2, %6]")));
        // Up to 64 times.
        let around = |extent: &str| format!("for %10: {extent} {{ {} }}", nine("x[%2]"));
        assert!(in_lanes(&around("7")) && !in_lanes(&around("8")));
    }

    #[test]
    fn all_lanes_compute_both_sides_of_a_branch_and_take_their_own() {
        let branch = |then: &str| {
            emitted(&format!(
                "%5 = gt %3, %0\nif %5 {{ {then} combine add %1[], %7 }} else {{ }}"
            ))
        };
        let text = branch("%6 = mul %3, %3 %7 = sub %6, %3");
        assert!(
            text.contains("if taken0_ {") && !text.contains("wanted_"),
            "{text}"
        );
        // What is dear is computed where a lane wants it.
        let text = branch("%6 = exp %3 %7 = sub %6, %3");
        assert!(text.contains("wanted_ |= t7 ; } if wanted_ {"), "{text}");
        let alike = emitted("%6 = gt %0, %0\nif %6 { %7 = exp %3 combine add %1[], %7 } else { }");
        assert!(alike.contains("if wanted_ {"), "{alike}");
        // All lanes are asked before any of them writes.
        let changing = emitted(
            "%5 = load u[%2] %6 = gt %5, %0 %10 = sub %5, %3 store u[%2], %10\nif %6 { %7 = exp %3 combine add %1[], %7 } else { }",
        );
        assert!(
            changing.contains("taken0_") && !changing.contains("wanted_"),
            "{changing}"
        );
        for then in [
            // Such a place may not be there, what is written is written where it is asked for, and a loop stays a loop.
            "%6 = trust K %8 %7 = load x[%6]",
            "%7 = exp %3 store u[%2], %7",
            "for %6: K { } %7 = exp %3",
        ] {
            let text = branch(then);
            assert!(!text.contains("taken0_"), "{text}");
        }
    }

    #[test]
    fn integers_calls_and_sums_that_are_read_stay_a_chain() {
        assert!(widths(&reduction(Scalar::I64, None, None, false)).is_empty());
        let sines = reduction(Scalar::F64, None, Some(Prim::Sin), false);
        assert!(widths(&sines).is_empty());
        assert!(!widths_by(&sines, Angles::Near).is_empty());
        // Most elementary functions are none.
        assert!(!widths(&reduction(Scalar::F64, None, Some(Prim::Exp), false)).is_empty());
        assert!(!widths(&reduction(Scalar::F32, None, Some(Prim::Sin), false)).is_empty());
        assert!(widths(&reduction(Scalar::F64, None, None, true)).is_empty());
    }
}

//! Straight-line statements as a loop over lanes.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use smallvec::smallvec;

use super::super::body::Body;
use super::super::expr::{append, bind};
use super::super::names::ident;
use super::super::unit::usize_literal;
use super::super::{lanes, scalar, tokens};
use super::strip::{Strip, mask_lanes};
use crate::ir::stages::cpu::{Cpu, CpuOp, PlaceKind};
use crate::ir::{Extent, Lit, Operation, Stmt, ValueId, ValueSet, Values};
use crate::ops::Prim;

/// A part of a segment.
pub(super) enum Part<'b> {
    /// A statement, done by the lanes whose mask is set.
    Stmt(&'b Stmt<Cpu>, Option<Ident>),
    /// A check or an assertion: asks whether it panics, and notes the lanes for which it does.
    Asked(&'b Stmt<Cpu>, Ident),
    /// Something made of a value.
    Made(ValueId, TokenStream),
}

impl<'b> Part<'b> {
    fn stmt(&self) -> Option<&'b Stmt<Cpu>> {
        match self {
            Part::Stmt(stmt, _) => Some(stmt),
            Part::Asked(..) | Part::Made(..) => None,
        }
    }

    fn results(&self) -> &[ValueId] {
        match self {
            Part::Stmt(stmt, _) | Part::Asked(stmt, _) => &stmt.results,
            Part::Made(..) => &[],
        }
    }

    fn operands(&self) -> Values {
        match self {
            Part::Stmt(stmt, _) | Part::Asked(stmt, _) => stmt.op.operands(),
            Part::Made(operand, _) => smallvec![*operand],
        }
    }
}

/// A loop over lanes, and what stands around it.
#[derive(Default)]
struct Segment {
    before: TokenStream,
    inner: TokenStream,
    after: TokenStream,
    /// What is bound here and used elsewhere.
    here: ValueSet,
    /// What is bound elsewhere and used here.
    fetched: ValueSet,
    /// What is bound here.
    bound: ValueSet,
    /// Whether something is no vector instruction.
    calls: bool,
}

/// When a segment looks at a buffer.
struct Looks {
    /// The first part that changes it.
    changed: usize,
    /// The last part that looks at it.
    last: usize,
    /// How many parts load from it.
    loads: u64,
}

/// Elements so far apart are loaded as whole vectors, of which some are picked. Where others are
/// wanted as well that is good, and otherwise the optimiser leaves some of the lanes to do all by
/// themselves, as what it loads for the last one might lie beyond the buffer.
const PICKED: std::ops::RangeInclusive<u64> = 2..=8;

/// A load or a store of neighbouring elements.
struct Moved<'b> {
    buffer: ValueId,
    indices: &'b [ValueId],
    /// What is stored, or bound to the element.
    value: ValueId,
    stores: bool,
}

impl Strip<'_> {
    /// Straight-line statements, for all lanes; those `around` whose mask they stand, if there is
    /// one.
    pub(super) fn segment(
        &mut self,
        emit: &mut Body<'_>,
        parts: &mut Vec<Part<'_>>,
        around: Option<&Ident>,
    ) -> TokenStream {
        let unit = emit.unit;
        let is_uniform = |part: &Part<'_>| {
            part.stmt().is_some_and(|stmt| {
                let mut results = stmt.results.iter();
                !stmt.results.is_empty() && results.all(|result| self.plan.uniform.contains(result))
            })
        };
        let (uniform, parts): (Vec<_>, Vec<_>) =
            std::mem::take(parts).into_iter().partition(is_uniform);
        let uniform: Vec<&Stmt<Cpu>> = uniform.iter().filter_map(Part::stmt).collect();
        let uniform = emit.block_of(&uniform);
        let does_nothing = |part: &Part<'_>| {
            part.stmt()
                .is_some_and(|stmt| !stmt.results.iter().all(|&result| unit.is_bound(result)))
        };
        if parts.iter().all(does_nothing) {
            return uniform;
        }
        let mut segment = Segment::default();
        if let Some(mask) = around {
            let (lanes, zero) = (mask_lanes(mask), self.zero());
            append(
                &mut segment.inner,
                tokens!(let #mask = #lanes[lane] != #zero;),
            );
        }
        let looks = looks(&parts);
        for (position, part) in parts.iter().enumerate() {
            self.fetch(emit, &mut segment, &part.operands());
            segment.bound.extend(part.results());
            match part {
                Part::Made(_, made) => append(&mut segment.inner, made.clone()),
                Part::Asked(stmt, bad) => self.asked_here(emit, &mut segment, stmt, bad, around),
                Part::Stmt(stmt, mask)
                    if self.combined(emit, &mut segment, stmt, mask.as_ref()) => {}
                Part::Stmt(stmt, mask) => {
                    let moved = (mask.as_ref() == around)
                        .then(|| self.moved(emit, stmt, position, &looks))
                        .flatten();
                    match moved {
                        Some(moved) => self.apart(emit, &mut segment, &moved, around),
                        None => self.stmt(emit, &mut segment, stmt, mask.as_ref()),
                    }
                }
            }
        }
        let Segment {
            mut before,
            inner,
            mut after,
            here,
            fetched,
            calls,
            ..
        } = segment;
        if calls {
            // A loop over calls is not unrolled, so the lanes it touches have to be in memory. That they need not be there
            // in the loops before and after, the optimiser sees only if there they are other variables.
            let other = |value: ValueId| {
                let lanes = lanes::name(unit, value);
                tokens!(let mut #lanes = ::core::hint::black_box(#lanes);)
            };
            before.extend(fetched.iter().map(other));
            after.extend(here.iter().map(other));
        }
        let inner = self.over_lanes(None, &inner);
        tokens!(#uniform #before #inner #after)
    }

    /// Binds what is kept of other segments.
    fn fetch(&self, emit: &mut Body<'_>, segment: &mut Segment, operands: &[ValueId]) {
        let unit = emit.unit;
        for &operand in operands {
            if let Some(steps) = self.plan.remade.get(&operand)
                && !segment.bound.contains(&operand)
            {
                for step in steps {
                    append(&mut segment.inner, emit.block_of(&[step]));
                    segment.bound.extend(&step.results);
                }
            }
            if self.plan.kept.contains(&operand)
                && !segment.here.contains(&operand)
                && segment.fetched.insert(operand)
                && unit.kind(operand) == PlaceKind::Scalar
            {
                let (name, lanes) = (unit.names.value(operand), lanes::name(unit, operand));
                append(&mut segment.inner, tokens!(let #name = #lanes[lane];));
            }
        }
    }

    /// Declares what is kept of this segment.
    fn declare(&self, emit: &mut Body<'_>, segment: &mut Segment, results: &[ValueId]) {
        let unit = emit.unit;
        for &result in results {
            if self.plan.kept.contains(&result) {
                segment.here.insert(result);
                let lanes = self.zeros(emit, &lanes::name(unit, result), result);
                append(&mut segment.before, lanes);
                if unit.kind(result) == PlaceKind::Var {
                    emit.in_lanes.insert(result);
                }
            }
        }
    }

    /// Keeps what has been computed.
    fn keep(&self, emit: &Body<'_>, segment: &mut Segment, results: &[ValueId]) {
        let unit = emit.unit;
        for &result in results {
            if self.plan.kept.contains(&result) && unit.kind(result) == PlaceKind::Scalar {
                let (name, lanes) = (unit.names.value(result), lanes::name(unit, result));
                append(&mut segment.inner, tokens!(#lanes[lane] = #name;));
            }
        }
    }

    /// Lanes for something of the type of a value.
    fn zeros(&self, emit: &Body<'_>, lanes: &Ident, like: ValueId) -> TokenStream {
        let width = usize_literal(self.width);
        let zero = scalar::literal(Lit::of(emit.unit.scalar(like), 0.0));
        tokens!(let mut #lanes = [#zero; #width];)
    }

    fn stmt(
        &mut self,
        emit: &mut Body<'_>,
        segment: &mut Segment,
        stmt: &Stmt<Cpu>,
        mask: Option<&Ident>,
    ) {
        if let CpuOp::Prim(prim, args) = &stmt.op {
            segment.calls |=
                !scalar::vectorises(*prim, emit.unit.program.elem(args[0]), emit.angles);
        }
        self.declare(emit, segment, &stmt.results);
        let inner = self.masked(emit, stmt, mask);
        append(&mut segment.inner, inner);
        self.keep(emit, segment, &stmt.results);
    }

    /// Notes the lanes that would panic. What they would not have computed must not be looked at.
    fn asked_here(
        &self,
        emit: &mut Body<'_>,
        segment: &mut Segment,
        stmt: &Stmt<Cpu>,
        bad: &Ident,
        around: Option<&Ident>,
    ) {
        let unit = emit.unit;
        let zero = self.zero();
        let mine = around.map_or_else(
            || tokens!(!#zero),
            |mask| {
                let lanes = mask_lanes(mask);
                tokens!(#lanes[lane])
            },
        );
        self.declare(emit, segment, &stmt.results);
        let fine = if let CpuOp::Prim(Prim::Check(extent), args) = &stmt.op {
            let name = unit.names.value(stmt.results[0]);
            let operand = [unit.operand(args[0])];
            let [index, fine] = [Prim::Trust(*extent), Prim::InRange(*extent)].map(|prim| {
                let function = |function| unit.names.function(function).to_token_stream();
                scalar::prim(prim, &operand, |extent| unit.length(extent), function)
            });
            bind(&mut segment.inner, name, &index);
            fine.into_token_stream()
        } else if let CpuOp::Assert { cond, .. } = &stmt.op {
            unit.value(*cond).into_token_stream()
        } else {
            return;
        };
        append(
            &mut segment.inner,
            tokens!(#bad |= if #fine { #zero } else { #mine };),
        );
        self.keep(emit, segment, &stmt.results);
    }

    /// What all lanes combine into one element of a table of the kernel: first with each other.
    fn combined(
        &mut self,
        emit: &mut Body<'_>,
        segment: &mut Segment,
        stmt: &Stmt<Cpu>,
        mask: Option<&Ident>,
    ) -> bool {
        let CpuOp::Combine {
            monoid,
            place,
            indices,
            value,
        } = &stmt.op
        else {
            return false;
        };
        if indices.is_empty() || self.plan.own.contains(place) {
            return false;
        }
        let unit = emit.unit;
        let element = unit.scalar(*place);
        let values = ident(&format!("moved{}_", self.moves));
        self.moves += 1;
        let (width, value) = (usize_literal(self.width), unit.value(*value));
        let identity = scalar::literal(monoid.identity(element));
        append(
            &mut segment.before,
            tokens!(let mut #values = [#identity; #width];),
        );
        append(
            &mut segment.inner,
            match mask {
                Some(mask) => tokens!(#values[lane] = if #mask { #value } else { #identity };),
                None => tokens!(#values[lane] = #value;),
            },
        );
        let operator = lanes::operator(*monoid, element);
        let all = tokens!(fold_lanes(#values, #operator));
        append(
            &mut segment.after,
            emit.combine(*monoid, *place, indices, &all),
        );
        true
    }

    /// A load or a store in a loop of its own, before or after all that is computed.
    fn apart(
        &mut self,
        emit: &mut Body<'_>,
        segment: &mut Segment,
        moved: &Moved<'_>,
        around: Option<&Ident>,
    ) {
        let unit = emit.unit;
        let elements = ident(&format!("moved{}_", self.moves));
        self.moves += 1;
        let declared = self.zeros(emit, &elements, moved.value);
        append(&mut segment.before, declared);
        let position = unit.position(moved.buffer, moved.indices);
        let element = tokens!(#elements[lane]);
        if moved.stores {
            let value = unit.value(moved.value);
            let write = emit.write(moved.buffer, &position, &element);
            append(&mut segment.inner, tokens!(#element = #value;));
            append(&mut segment.after, self.over_lanes(around, &write));
        } else {
            let read = emit.read(moved.buffer, &position);
            let name = unit.names.value(moved.value);
            append(
                &mut segment.before,
                self.over_lanes(around, &tokens!(#element = #read;)),
            );
            self.declare(emit, segment, &[moved.value]);
            append(&mut segment.inner, tokens!(let #name = #element;));
            self.keep(emit, segment, &[moved.value]);
        }
    }

    /// Whether a statement stores neighbouring elements to a buffer that nothing after it looks at,
    /// or loads them from one that nothing before it has changed, or elements that are a few apart.
    ///
    /// Where buffers may overlap for all that the optimiser knows, a loop that stores to several
    /// has to go lane by lane. So they have loops of their own.
    fn moved<'b>(
        &self,
        emit: &Body<'_>,
        stmt: &'b Stmt<Cpu>,
        position: usize,
        looks: &BTreeMap<ValueId, Looks>,
    ) -> Option<Moved<'b>> {
        let moved = match &stmt.op {
            CpuOp::Store {
                buffer,
                indices,
                value,
            } => Moved {
                buffer: *buffer,
                indices,
                value: *value,
                stores: true,
            },
            CpuOp::Load { buffer, indices } => Moved {
                buffer: *buffer,
                indices,
                value: stmt.results[0],
                stores: false,
            },
            _ => return None,
        };
        let looks = looks.get(&moved.buffer)?;
        let alone = match moved.stores {
            true => looks.last == position,
            false => position < looks.changed,
        };
        let aside = || self.side_by_side(moved.buffer, moved.indices);
        let pays = match moved.stores {
            true => aside() || self.picks(emit, moved.buffer, moved.indices, u64::MAX),
            false => {
                (self.plan.doubtful.contains(&moved.buffer) && aside())
                    || self.picks(emit, moved.buffer, moved.indices, looks.loads)
            }
        };
        (alone && pays).then_some(moved)
    }

    /// Whether lanes look at elements that lie apart, which the optimiser would not do as vectors:
    /// nobody knows how far, or a few, and others in between are left out.
    fn picks(&self, emit: &Body<'_>, buffer: ValueId, indices: &[ValueId], loads: u64) -> bool {
        let Some(along) = indices.iter().position(|&index| index == self.along) else {
            return false;
        };
        let mut others = indices
            .iter()
            .enumerate()
            .filter(|&(axis, _)| axis != along);
        let unit = emit.unit;
        let mut after = unit.dims(buffer)[along + 1..].iter();
        let apart = after.try_fold(1, |apart, &extent| match unit.resolve(extent) {
            Extent::Const(length) => Some(apart * length),
            Extent::Size(_) | Extent::Value(_) => None,
        });
        apart.is_none_or(|apart| PICKED.contains(&apart) && loads < apart)
            && !self.plan.own.contains(&buffer)
            && others.all(|(_, other)| !self.plan.varying.contains(other))
    }

    /// Whether lanes look at neighbouring elements.
    fn side_by_side(&self, buffer: ValueId, indices: &[ValueId]) -> bool {
        let Some((last, leading)) = indices.split_last() else {
            return false;
        };
        let same = |index: &ValueId| !self.plan.varying.contains(index);
        let aside = match self.plan.own.contains(&buffer) {
            true => same(last),
            false => *last == self.along,
        };
        aside && leading.iter().all(same)
    }

    /// A loop over lanes, of those that take part.
    pub(super) fn over_lanes(&self, mask: Option<&Ident>, inner: &TokenStream) -> TokenStream {
        let inner = match mask {
            None => inner.clone(),
            Some(mask) => {
                let (lanes, zero) = (mask_lanes(mask), self.zero());
                tokens!(if #lanes[lane] != #zero { #inner })
            }
        };
        let (width, index, from) = (usize_literal(self.width), self.index, self.from);
        tokens! {
            for lane in 0..#width {
                let #index = #from + lane;
                #inner
            }
        }
    }

    /// A statement in one lane, which does nothing if it does not take part.
    fn masked(
        &mut self,
        emit: &mut Body<'_>,
        stmt: &Stmt<Cpu>,
        mask: Option<&Ident>,
    ) -> TokenStream {
        let unit = emit.unit;
        if let CpuOp::Var(_) = &stmt.op {
            self.bound.insert(stmt.results[0], mask.cloned());
        }
        let plain = emit.block_of(&[stmt]);
        let Some(mask) = mask else {
            return plain;
        };
        match &stmt.op {
            CpuOp::Load { buffer, indices } => {
                let mut looked_at = indices.iter().chain([buffer]);
                if !looked_at.any(|value| self.plan.doubtful.contains(value)) {
                    return plain;
                }
                let name = unit.names.value(stmt.results[0]);
                let zero = scalar::literal(Lit::of(unit.scalar(stmt.results[0]), 0.0));
                tokens!(let #name = if #mask { #plain #name } else { #zero };)
            }
            CpuOp::Set { place, .. } | CpuOp::Combine { place, .. } => {
                // Who does not take part has no such place, or nobody looks at it again.
                let bound = self.bound.get(place);
                if bound.is_some_and(|bound| bound.as_ref() == Some(mask)) {
                    return plain;
                }
                if unit.kind(*place) == PlaceKind::Buffer {
                    return tokens!(if #mask { #plain });
                }
                if let CpuOp::Set { value, .. } = &stmt.op {
                    let (place, value) = (emit.place(*place), unit.value(*value));
                    return tokens!(#place = if #mask { #value } else { #place };);
                }
                emit.if_taken(mask, *place, &plain)
            }
            CpuOp::Store { .. } => tokens!(if #mask { #plain }),
            CpuOp::Const(_)
            | CpuOp::Size(_)
            | CpuOp::Prim(..)
            | CpuOp::Select(..)
            | CpuOp::Alloc { .. }
            | CpuOp::Copy(_)
            | CpuOp::Var(_)
            | CpuOp::Get(_)
            | CpuOp::Swap(..)
            | CpuOp::Contract { .. }
            | CpuOp::For { .. }
            | CpuOp::Own(_)
            | CpuOp::Assert { .. }
            | CpuOp::While { .. }
            | CpuOp::If { .. } => plain,
        }
    }
}

/// When the parts of a segment look at buffers.
fn looks(parts: &[Part<'_>]) -> BTreeMap<ValueId, Looks> {
    let mut looks: BTreeMap<ValueId, Looks> = BTreeMap::new();
    for (position, part) in parts.iter().enumerate() {
        let (buffer, changes) = match part.stmt().map(|stmt| &stmt.op) {
            Some(CpuOp::Load { buffer, .. }) => (*buffer, false),
            Some(CpuOp::Store { buffer, .. }) => (*buffer, true),
            Some(CpuOp::Combine { place, .. }) => (*place, true),
            Some(_) | None => continue,
        };
        let entry = looks.entry(buffer).or_insert(Looks {
            changed: usize::MAX,
            last: position,
            loads: 0,
        });
        entry.last = position;
        if changes {
            entry.changed = entry.changed.min(position);
        } else {
            entry.loads += 1;
        }
    }
    looks
}

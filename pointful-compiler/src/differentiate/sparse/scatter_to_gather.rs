//! Accumulations at the places of other axes, moved: windows, differences, reversals.
//!
//! What was read at `i + c` is accumulated at `i + c`; that is to read the contributions at
//! `i - c`, and needs no accumulation. Where the read was clamped at the ends, the ends have the
//! contributions of the few places beyond them, too; where it was made only in range, there is
//! nothing from beyond the ends. Where it was also at a place of its own along other axes, as in the
//! row `u[t - 1]`, the contributions are accumulated there.

use smallvec::smallvec;

use super::{THROUGH, Walk, value_of};
use crate::differentiate::constant_indices::is_small;
use crate::ir::stages::bulk::BulkOp;
use crate::ir::{AxisId, Elem, Extent, Format, Lit, Message, Monoid, Piece, Scalar, ValueId};
use crate::ops::Prim;

/// How far a clamped shift may go to be turned into reads.
const FAR: i128 = 4;

/// How far a wrapped shift may go to be less than integers can be with any index.
const NEAR: u128 = 1 << 32;

/// The most terms of an index that is looked at as a sum: what is added to itself again and again
/// has more than can be written down.
const TERMS: usize = 16;

impl Walk {
    /// An accumulation at places that are those of other axes, shifted.
    pub(super) fn shifted(&mut self, op: &BulkOp) -> Option<ValueId> {
        let BulkOp::Scatter {
            monoid: Monoid::Add,
            base,
            at,
            over,
            value,
            mask,
        } = op
        else {
            return None;
        };
        // Those will be written down.
        if at.iter().all(|&(axis, index)| {
            is_small(&self.b, axis) && self.defs.known(&self.b, index).is_some()
        }) {
            return None;
        }
        let (mut shifts, mut points) = (Vec::new(), Vec::new());
        for &(axis, index) in at {
            match self.shift(axis, index, over) {
                Some(shift) => shifts.push(shift),
                None => points.push((axis, index)),
            }
        }
        let dims = self.b.dims(*value);
        let apart = |(k, shift): (usize, &Shift)| {
            let others = shifts.iter().enumerate().filter(|&(other, _)| other != k);
            others.map(|(_, other)| other.from).all(|from| {
                from != shift.from
                    && !shift
                        .by
                        .iter()
                        .any(|&(_, value)| self.b.dims(value).contains(&from))
            })
        };
        let fits = |shift: &Shift| {
            let renamed = shift.from != shift.axis;
            !(renamed && (over.contains(&shift.axis) || dims.contains(&shift.axis)))
        };
        if shifts.is_empty() || !shifts.iter().all(fits) || !shifts.iter().enumerate().all(apart) {
            return None;
        }
        let froms: Vec<AxisId> = shifts.iter().map(|shift| shift.from).collect();
        // Few rows are told apart first.
        let stays = |&(axis, index): &(AxisId, ValueId)| {
            !is_small(&self.b, axis) && self.stays(index, &shifts)
        };
        if !points.iter().all(stays) {
            return None;
        }
        if self
            .b
            .program
            .leans(&[over.as_slice(), &dims].concat(), &froms)
        {
            return None;
        }
        let mask = if self.b.is_specified(*value) {
            mask.and_then(|mask| self.not_implied(mask, &shifts))
        } else {
            *mask
        };
        let mask = self.b.asked(mask, *value, over);
        let mut value = self.b.masked(mask, *value);
        if let Some(mask) = mask {
            let zero = self.b.number(value, 0.0);
            self.defs
                .insert(value, BulkOp::Select(mask, value_of(op), zero));
        }
        let mut rest: Vec<AxisId> = over
            .iter()
            .copied()
            .filter(|axis| shifts.iter().all(|shift| shift.from != *axis))
            .collect();
        let along: Vec<AxisId> = points
            .iter()
            .flat_map(|&(_, index)| self.b.dims(index))
            .collect();
        let kept: Vec<AxisId> = rest
            .iter()
            .copied()
            .filter(|axis| along.contains(axis))
            .collect();
        rest.retain(|axis| !along.contains(axis));
        let factors = if shifts.iter().any(Shift::arrives_often) {
            self.split(&mut value, &froms)
        } else {
            Vec::new()
        };
        let (often, once): (Vec<&Shift>, Vec<&Shift>) =
            shifts.iter().partition(|shift| shift.arrives_often());
        value = self.arrive_once(value, &once);
        for (k, shift) in often.iter().enumerate() {
            // What will be stored to be read elsewhere is summed first, as far as where it is read does not depend on it.
            if self.defs.of(value).is_none()
                || !self.is_near(value, &[shift.from], &mut { THROUGH })
            {
                let (needed, done): (Vec<_>, Vec<_>) = rest.iter().partition(|&&axis| {
                    let by = often[k..].iter().flat_map(|shift| &shift.by);
                    let mut later = by
                        .map(|(_, term)| term)
                        .chain(factors.iter().map(|(_, factor)| factor));
                    later.any(|&value| self.b.dims(value).contains(&axis))
                });
                value = self.b.sum(value, &done);
                rest = needed;
            }
            value = self.arrive_often(value, shift);
        }
        for (times, factor) in factors {
            value = self.emit(BulkOp::Map(times, smallvec![factor, value]));
        }
        let value = self.b.sum(value, &rest);
        if !points.is_empty() {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::SHIFTED_IN_A_ROW);
            // There are contributions of nothing where there was none, and perhaps no place.
            let mask = points.iter().fold(None, |mask, &(_, index)| {
                let there = self.b.where_said(index);
                self.b.both(mask, there)
            });
            #[cfg(test)]
            if mask.is_some() {
                crate::testing::entered::enter(&crate::testing::entered::SHIFTED_SOMETIMES);
            }
            return Some(self.emit(BulkOp::Scatter {
                monoid: Monoid::Add,
                base: *base,
                at: points,
                over: kept,
                value,
                mask,
            }));
        }
        if self.defs.is_zero(*base) {
            return Some(value);
        }
        Some(self.emit(BulkOp::Map(Prim::Add, smallvec![*base, value])))
    }

    /// Whether a place is the same for all that is shifted, and it is known where it is one.
    fn stays(&self, index: ValueId, shifts: &[Shift]) -> bool {
        let moves = |value: ValueId| {
            let dims = self.b.dims(value);
            let mut moved = shifts.iter().flat_map(|shift| [shift.from, shift.axis]);
            moved.any(|axis| dims.contains(&axis))
        };
        let Some(mut conditions) = self.b.conditions(index) else {
            return false;
        };
        !moves(index) && !conditions.any(moves)
    }

    /// What a condition says but that the places exist to which something is sent.
    fn not_implied(&mut self, cond: ValueId, shifts: &[Shift]) -> Option<ValueId> {
        match self.defs.used(cond).cloned() {
            Some(BulkOp::Map(Prim::And, args)) => {
                let [a, b] = [args[0], args[1]].map(|cond| self.not_implied(cond, shifts));
                match (a, b) {
                    (Some(a), Some(b)) if (a, b) == (args[0], args[1]) => Some(cond),
                    (Some(a), Some(b)) => Some(self.emit(BulkOp::Map(Prim::And, smallvec![a, b]))),
                    (a, b) => a.or(b),
                }
            }
            Some(BulkOp::Map(Prim::InRange(extent), args)) => {
                let exists = |shift: &Shift| {
                    let kept = matches!(shift.prim, Some(Prim::Trust(_)));
                    kept && shift.position == Some(args[0]) && self.b.extent(shift.axis) == extent
                };
                (!shifts.iter().any(exists)).then_some(cond)
            }
            _ => Some(cond),
        }
    }

    /// Takes from a product the factors that are the same along all of some axes, and how it is
    /// multiplied by them.
    fn split(&self, value: &mut ValueId, along: &[AxisId]) -> Vec<(Prim, ValueId)> {
        let same = |factor: ValueId| {
            let dims = self.b.dims(factor);
            along.iter().all(|axis| !dims.contains(axis))
        };
        let mut factors = Vec::new();
        while let Some(BulkOp::Map(times @ (Prim::Mul | Prim::MulAbsorb), args)) =
            self.defs.of(*value)
        {
            let (a, b) = (args[0], args[1]);
            let (factor, rest) = match (same(a), same(b)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                (true, true) | (false, false) => break,
            };
            factors.push((*times, factor));
            *value = rest;
        }
        factors
    }

    /// How an index is that of an axis, one of `over`, shifted.
    fn shift(&self, axis: AxisId, index: ValueId, over: &[AxisId]) -> Option<Shift> {
        // Not at all.
        if let Some(&BulkOp::Iota(from)) = self.defs.used(index)
            && over.contains(&from)
            && self.b.extent(from) == self.b.extent(axis)
        {
            return Some(Shift {
                axis,
                from,
                prim: None,
                position: None,
                forwards: true,
                by: Vec::new(),
            });
        }
        let BulkOp::Map(prim, args) = self.defs.used(index)? else {
            return None;
        };
        match prim {
            Prim::Wrap(e) | Prim::ClampTo(e) | Prim::Trust(e) | Prim::Check(e)
                if *e == self.b.extent(axis) => {}
            _ => return None,
        }
        let mut sum = Vec::new();
        self.terms(args[0], true, &mut sum)?;
        let is_whole = |from: AxisId| self.b.extent(from) == self.b.extent(axis);
        // Where there is neither a window nor only one thing sent to a place, the places may be few of all.
        let simple = |&(_, term): &(bool, ValueId)| {
            matches!(self.defs.used(term), Some(BulkOp::Const(_))) || self.place(term).is_some()
        };
        let windows = sum
            .iter()
            .filter(|(_, term)| self.place(*term).is_some())
            .count()
            > 1;
        let may_part = !matches!(prim, Prim::Wrap(_))
            && sum.iter().all(simple)
            && (windows || over.len() == 1);
        let mut candidates = over.iter().copied().filter(|&from| {
            let (own, others): (Vec<_>, Vec<_>) = sum
                .iter()
                .partition(|(_, term)| self.place(*term) == Some(from));
            own.len() == 1
                && !others
                    .iter()
                    .any(|(_, term)| self.b.dims(*term).contains(&from))
                && (is_whole(from) || (may_part && self.is_part(from, axis)))
        });
        let from = candidates
            .clone()
            .find(|&from| is_whole(from))
            .or_else(|| candidates.next())?;
        let place = sum
            .iter()
            .position(|(_, term)| self.place(*term) == Some(from))?;
        let (forwards, _) = sum.remove(place);
        let shift = Shift {
            axis,
            from,
            prim: Some(*prim),
            position: Some(args[0]),
            forwards,
            by: sum,
        };
        let near = || {
            let (least, most) = self.bounds(&shift.by)?;
            (forwards && is_whole(from) && -least <= FAR && most <= FAR).then_some(())
        };
        if matches!(prim, Prim::ClampTo(_)) {
            near()?;
        }
        Some(shift)
    }

    /// Whether as much is done if all places of an axis look for what comes from another as if that
    /// is sent to them.
    fn is_part(&self, from: AxisId, axis: AxisId) -> bool {
        match (self.b.extent(from), self.b.extent(axis)) {
            (Extent::Const(from), Extent::Const(all)) => all <= from.saturating_mul(2),
            (Extent::Const(_), _) => false,
            // Inside of a loop it may be a small part of what there is.
            (_, Extent::Const(_) | Extent::Size(_)) => self.depth == 1,
            (_, Extent::Value(_)) => false,
        }
    }

    /// An integer as a sum of a few terms: what is added, or taken away.
    fn terms(&self, value: ValueId, plus: bool, sum: &mut Vec<(bool, ValueId)>) -> Option<()> {
        if sum.len() == TERMS {
            return None;
        }
        match self.defs.used(value) {
            Some(BulkOp::Map(Prim::Add, args)) => {
                self.terms(args[0], plus, sum)?;
                self.terms(args[1], plus, sum)
            }
            Some(BulkOp::Map(Prim::Sub, args)) => {
                self.terms(args[0], plus, sum)?;
                self.terms(args[1], !plus, sum)
            }
            Some(BulkOp::Map(Prim::Cast(Scalar::I64 | Scalar::Usize), args)) => {
                match self.defs.used(args[0]) {
                    Some(BulkOp::Iota(_)) => {
                        sum.push((plus, value));
                        Some(())
                    }
                    _ => self.terms(args[0], plus, sum),
                }
            }
            Some(BulkOp::Const(_)) => {
                sum.push((plus, value));
                Some(())
            }
            // What stands behind a condition is not known elsewhere.
            _ if self.defs.of(value).is_none() && !self.is_param(value) => None,
            _ => {
                sum.push((plus, value));
                let elem = self.b.program.elem(value);
                matches!(elem, Elem::Scalar(Scalar::I64 | Scalar::Usize)).then_some(())
            }
        }
    }

    fn is_param(&self, value: ValueId) -> bool {
        self.b
            .program
            .params
            .iter()
            .any(|param| param.value == value)
    }

    /// The axis along which an integer is the index.
    fn place(&self, value: ValueId) -> Option<AxisId> {
        let Some(BulkOp::Map(Prim::Cast(Scalar::I64 | Scalar::Usize), args)) =
            self.defs.used(value)
        else {
            return None;
        };
        match self.defs.used(args[0]) {
            Some(BulkOp::Iota(axis)) => Some(*axis),
            _ => None,
        }
    }

    /// Between what a sum lies, if that is known.
    fn bounds(&self, sum: &[(bool, ValueId)]) -> Option<(i128, i128)> {
        let mut bounds = (0, 0);
        for &(plus, value) in sum {
            let (least, most) = match (self.defs.used(value), self.place(value)) {
                (Some(BulkOp::Const(Lit::Int(_, n))), _) => (*n, *n),
                (_, Some(axis)) => match self.b.extent(axis) {
                    Extent::Const(length) => (0, i128::from(length.max(1)) - 1),
                    Extent::Size(_) | Extent::Value(_) => return None,
                },
                (_, None) => return None,
            };
            let (least, most) = if plus { (least, most) } else { (-most, -least) };
            bounds = (bounds.0 + least, bounds.1 + most);
        }
        Some(bounds)
    }

    /// A term wherever it is needed, also if it was behind something, as an `i64`.
    fn term(&mut self, value: ValueId) -> ValueId {
        if let Some(BulkOp::Const(Lit::Int(_, number))) = self.defs.used(value) {
            return self.integer(*number);
        }
        let value = match self.place(value) {
            Some(axis) => self.emit(BulkOp::Iota(axis)),
            None => value,
        };
        if self.b.program.elem(value) == Elem::Scalar(Scalar::I64) {
            return value;
        }
        self.emit(BulkOp::Map(Prim::Cast(Scalar::I64), smallvec![value]))
    }

    /// What arrives at each place, of which at most one is sent there.
    fn arrive_once(&mut self, value: ValueId, shifts: &[&Shift]) -> ValueId {
        let mut exists = None;
        let mut from = Vec::new();
        for shift in shifts {
            let (_, mut origin) = self.origin(shift);
            let extent = self.b.extent(shift.from);
            match shift.prim {
                None => {}
                Some(prim @ Prim::Wrap(_)) => {
                    origin = self.emit(BulkOp::Map(prim, smallvec![origin]))
                }
                Some(_) => {
                    let inside = self.emit(BulkOp::Map(Prim::InRange(extent), smallvec![origin]));
                    exists = self.b.both(exists, Some(inside));
                }
            }
            from.push((*shift, origin));
        }
        let windows = self.windows(shifts);
        let outer = std::mem::replace(&mut self.b.guard, exists);
        let at = from.into_iter().map(|(shift, origin)| {
            let is_index = matches!(shift.prim, None | Some(Prim::Wrap(_)));
            let index = if is_index {
                origin
            } else {
                self.b.index(shift.from, origin)
            };
            (shift.from, index)
        });
        let at: Vec<(AxisId, ValueId)> = at.collect();
        let read = self.read_shifted(value, &at, &windows);
        self.b.guard = outer;
        match exists {
            Some(exists) => {
                let zero = self.b.number(value, 0.0);
                self.b.select(exists, read, zero)
            }
            None => read,
        }
    }

    /// What arrives at each place, of which those at the ends have what would have gone beyond
    /// them.
    fn arrive_often(&mut self, value: ValueId, shift: &Shift) -> ValueId {
        let (here, there) = self.origin(shift);
        let extent = self.b.extent(shift.from);
        let inside = self.emit(BulkOp::Map(Prim::InRange(extent), smallvec![there]));
        let total = self.read_where(value, shift, there, inside);
        self.beyond(value, shift, (here, there), total)
    }

    /// The axes along which things go to one place from different ones.
    fn windows(&self, shifts: &[&Shift]) -> Vec<AxisId> {
        let terms = shifts.iter().flat_map(|shift| &shift.by);
        terms.flat_map(|&(_, term)| self.b.dims(term)).collect()
    }

    /// A place along an axis, and whence comes what is sent there: that and the shift, or the shift
    /// less that.
    fn origin(&mut self, shift: &Shift) -> (ValueId, ValueId) {
        let iota = self.emit(BulkOp::Iota(shift.axis));
        if shift.prim.is_none() {
            return (iota, iota);
        }
        let here = self.emit(BulkOp::Map(Prim::Cast(Scalar::I64), smallvec![iota]));
        let mut there = shift.forwards.then_some(here);
        for (plus, term) in self.turns(shift) {
            let term = self.term(term);
            there = Some(match there {
                Some(there) if plus == shift.forwards => {
                    self.emit(BulkOp::Map(Prim::Sub, smallvec![there, term]))
                }
                Some(there) => self.emit(BulkOp::Map(Prim::Add, smallvec![there, term])),
                None if plus => term,
                None => {
                    let zero = self.integer(0);
                    self.emit(BulkOp::Map(Prim::Sub, smallvec![zero, term]))
                }
            });
        }
        let there = match there {
            Some(there) => there,
            None => self.integer(0),
        };
        if shift.forwards {
            return (here, there);
        }
        let there = self.emit(BulkOp::Map(Prim::Sub, smallvec![there, here]));
        (here, there)
    }

    /// What is added to an index, less whole turns if it is wrapped: a number that may be as large
    /// as integers are would leave them on the way back, and be another number of turns then.
    fn turns(&mut self, shift: &Shift) -> Vec<(bool, ValueId)> {
        let is_near = |&(_, term): &(bool, ValueId)| match self.defs.used(term) {
            Some(BulkOp::Const(Lit::Int(_, number))) => number.unsigned_abs() <= NEAR,
            // Tables hold offsets, and turns of each would be tables, too.
            Some(BulkOp::Gather { .. }) => true,
            _ => self.place(term).is_some() || !self.b.dims(term).is_empty(),
        };
        let (mut by, far): (Vec<_>, Vec<_>) = shift.by.iter().copied().partition(is_near);
        if !matches!(shift.prim, Some(Prim::Wrap(_))) || far.is_empty() {
            return shift.by.clone();
        }
        let is_number = |&mut (_, term): &mut (bool, ValueId)| {
            matches!(self.defs.used(term), Some(BulkOp::Const(_)))
        };
        let numbers: Vec<_> = by.extract_if(.., is_number).collect();
        let mut sum = self.integer(0);
        for (plus, term) in far.into_iter().chain(numbers) {
            let prim = if plus { Prim::Add } else { Prim::Sub };
            let term = self.term(term);
            sum = self.emit(BulkOp::Map(prim, smallvec![sum, term]));
        }
        let size = self.b.size(shift.axis);
        let size = self.emit(BulkOp::Map(Prim::Cast(Scalar::I64), smallvec![size]));
        let one = self.integer(1);
        let turn = self.emit(BulkOp::Map(Prim::Max, smallvec![size, one]));
        let last = self.emit(BulkOp::Map(Prim::Sub, smallvec![turn, one]));
        self.stays_an_integer(shift, sum, last, by.is_empty());
        by.push((
            true,
            self.emit(BulkOp::Map(Prim::Rem, smallvec![sum, turn])),
        ));
        by
    }

    /// Panics if the sum of an index and a far shift leaves the integers for some indices only:
    /// those go to other places than the shift says, and there is no one way back.
    fn stays_an_integer(&mut self, shift: &Shift, sum: ValueId, last: ValueId, alone: bool) {
        let ends = [i64::MIN, i64::MAX].map(i128::from);
        let [least, most] =
            if alone { ends } else { ends.map(|end| end / 2) }.map(|end| self.integer(end));
        let (least, most) = match shift.forwards {
            true => (least, self.b.map(Prim::Sub, &[most, last])),
            false => (self.b.map(Prim::Add, &[least, last]), most),
        };
        let least = self.b.map(Prim::Ge, &[sum, least]);
        let most = self.b.map(Prim::Le, &[sum, most]);
        let cond = self.b.map(Prim::And, &[least, most]);
        self.b.emit_all(BulkOp::Assert {
            cond,
            message: Message {
                pieces: vec![
                    Piece::Text("an index and ".to_owned()),
                    Piece::Value(Format::default()),
                    Piece::Text(
                        ", which it is shifted by, leave `i64`: such a read has no derivative"
                            .to_owned(),
                    ),
                ],
            },
            shown: vec![sum],
        });
    }

    /// Adds what would have gone beyond an end, and arrives there.
    fn beyond(
        &mut self,
        value: ValueId,
        shift: &Shift,
        (here, there): (ValueId, ValueId),
        mut total: ValueId,
    ) -> ValueId {
        let Some((least, most)) = self.bounds(&shift.by) else {
            return total;
        };
        let extent = self.b.extent(shift.from);
        let size = self.b.size(shift.axis);
        let size = self.b.map(Prim::Cast(Scalar::I64), &[size]);
        let one = self.integer(1);
        let last = self.b.map(Prim::Sub, &[size, one]);
        let nothing = self.integer(0);
        for (end, distance, compare) in [(nothing, -least, Prim::Gt), (last, most, Prim::Lt)] {
            if distance <= 0 {
                continue;
            }
            let at_end = self.b.map(Prim::Eq, &[here, end]);
            for r in 0..distance {
                let r = self.integer(r);
                let from = if compare == Prim::Gt {
                    r
                } else {
                    self.b.map(Prim::Sub, &[last, r])
                };
                let exists = self.b.map(Prim::InRange(extent), &[from]);
                let mut arrives = self.b.map(Prim::And, &[at_end, exists]);
                // At the end it is further than this that what arrives there regularly comes from.
                if least != most {
                    let further = self.b.map(compare, &[there, from]);
                    arrives = self.b.map(Prim::And, &[arrives, further]);
                }
                let more = self.read_where(value, shift, from, arrives);
                total = self.b.map(Prim::Add, &[total, more]);
            }
        }
        total
    }

    pub(super) fn integer(&mut self, number: i128) -> ValueId {
        self.emit(BulkOp::Const(Lit::Int(Scalar::I64, number)))
    }

    /// An array at a place where a condition holds, else zero.
    fn read_where(
        &mut self,
        value: ValueId,
        shift: &Shift,
        from: ValueId,
        cond: ValueId,
    ) -> ValueId {
        let windows = self.windows(&[shift]);
        let outer = self.b.guard.replace(cond);
        let index = self.b.index(shift.from, from);
        let read = self.read_shifted(value, &[(shift.from, index)], &windows);
        self.b.guard = outer;
        let zero = self.b.number(value, 0.0);
        self.b.select(cond, read, zero)
    }

    /// An array at other places. What has to be stored for it is stored with all that is done to
    /// it.
    fn read_shifted(
        &mut self,
        value: ValueId,
        at: &[(AxisId, ValueId)],
        windows: &[AxisId],
    ) -> ValueId {
        let along: Vec<AxisId> = at.iter().map(|&(axis, _)| axis).collect();
        if self.is_near(value, &along, &mut { THROUGH }) {
            self.read_at(value, at, windows, &mut { THROUGH })
        } else {
            self.b.gather(value, at)
        }
    }
}

/// An index that is that of an axis, moved, and brought back into range, or known to be in it where
/// it counts.
struct Shift {
    /// The axis that it is an index of.
    axis: AxisId,
    /// The axis that it is the index along.
    from: AxisId,
    /// How it is brought into range, if it might not be.
    prim: Option<Prim>,
    /// What is brought into range.
    position: Option<ValueId>,
    /// Whether it rises with the index.
    forwards: bool,
    /// What is added to the index, or taken away.
    by: Vec<(bool, ValueId)>,
}

impl Shift {
    /// Whether several arrive at one place.
    fn arrives_often(&self) -> bool {
        matches!(self.prim, Some(Prim::ClampTo(_)))
    }
}

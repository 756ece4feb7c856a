//! How a call of a function with bare generics is read.
//!
//! A parameter `Table<N, T>` takes the whole index set of its argument, unless the other arguments
//! do not agree with that: then fewer axes at the end, and what is in front of them is repeated
//! over. Of all readings in which everything agrees the one counts that repeats over the fewest
//! axes, those of each argument added up.

use super::Infer;
use crate::lower::frames::align;
use crate::lower::hir::Instance;
use crate::lower::solve::SetKind;
use crate::lower::types::{Set, Ty, atoms};

/// An argument of a parameter that is a table over a bare generic, or over something else.
struct Slot {
    /// The generic that takes the last axes, as many as a reading says; or how many axes the
    /// parameter has.
    takes: Result<usize, usize>,
    /// The axes of the argument.
    axes: Vec<Set>,
}

/// A reading: what each bare generic is, by position of the generic, and the axes that are repeated
/// over.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reading {
    pub(super) sets: Vec<(usize, Vec<Set>)>,
    pub(super) frame: Vec<Set>,
    liftings: usize,
}

impl Infer<'_, '_> {
    /// Whether two sets are equal or may turn out to be.
    pub(super) fn may_equal(&self, a: &Set, b: &Set) -> bool {
        match (a, b) {
            (Set::Error, _) | (_, Set::Error) => true,
            (Set::Var(_), Set::Var(_)) => true,
            (Set::Var(x), _) | (_, Set::Var(x)) => self.solver.set_kind(*x) == SetKind::Free,
            (Set::Ragged(p, q), Set::Ragged(r, s)) => self.may_equal(p, r) && self.may_equal(q, s),
            (Set::Row(p, i), Set::Row(q, j)) => i == j && self.may_equal(p, q),
            _ => a == b,
        }
    }

    /// Decides what bare generics of a call are. Two readings that count the same are given back.
    pub(super) fn read_call(
        &self,
        params: &[Ty],
        found: &[Option<Ty>],
        instance: &mut Instance,
    ) -> Result<(), Box<[Reading; 2]>> {
        let mut slots = Vec::new();
        // What the call says itself.
        let given = instance.sets.clone();
        let mut pins: Vec<(usize, Vec<Set>)> = Vec::new();
        for (generic, set) in given.iter().enumerate() {
            pins.extend(
                set.iter()
                    .map(|set| (generic, self.solver.set(set).atoms())),
            );
        }
        for (param, found) in params.iter().zip(found) {
            let Some(found) = found else { continue };
            let (groups, elem) = self.split(found);
            let axes = self.solver.atoms(&groups);
            self.pin(param, &axes, &elem, &mut pins);
            match param {
                Ty::Table(declared, _) if !axes.is_empty() => {
                    let takes = match declared.as_slice() {
                        [Set::Param(g)] => Ok(*g),
                        _ => Err(atoms(declared).len()),
                    };
                    slots.push(Slot { takes, axes });
                }
                Ty::Scalar(_) | Ty::Float(_) | Ty::Member(_) => slots.push(Slot {
                    takes: Err(0),
                    axes,
                }),
                _ => {}
            }
        }
        let mut bare: Vec<usize> = slots.iter().filter_map(|s| s.takes.ok()).collect();
        bare.sort_unstable();
        bare.dedup();
        let mut best: Vec<Reading> = Vec::new();
        let mut counts = vec![0; bare.len()];
        self.readings(&slots, &bare, &pins, &mut counts, 0, &mut best);
        if let [first, second, ..] = best.as_slice() {
            return Err(Box::new([first.clone(), second.clone()]));
        }
        for (generic, set) in best.pop().into_iter().flat_map(|reading| reading.sets) {
            instance.sets[generic] = given[generic].clone().or_else(|| Some(Set::product(set)));
        }
        Ok(())
    }

    /// What arguments say that a generic is, where there is no choice.
    fn pin(&self, param: &Ty, axes: &[Set], elem: &Ty, pins: &mut Vec<(usize, Vec<Set>)>) {
        let of_member = |ty: &Ty| self.solver.set_of(ty).map(|set| set.atoms());
        match param {
            Ty::Table(declared, cell) => {
                let declared = atoms(declared);
                let one = matches!(param, Ty::Table(groups, _) if matches!(groups.as_slice(), [Set::Param(_)]));
                if !one {
                    for (set, axis) in declared.iter().rev().zip(axes.iter().rev()) {
                        if let Set::Param(g) = set {
                            pins.push((*g, vec![axis.clone()]));
                        }
                    }
                }
                if let Ty::Member(Set::Param(g)) = &**cell {
                    pins.extend(of_member(elem).map(|set| (*g, set)));
                }
            }
            Ty::Member(Set::Param(g)) => pins.extend(of_member(elem).map(|set| (*g, set))),
            Ty::Extent(Set::Param(g)) => {
                if let Ty::Extent(set) = elem {
                    pins.push((*g, self.solver.set(set).atoms()));
                }
            }
            _ => {}
        }
    }

    /// All readings with the fewest liftings.
    fn readings(
        &self,
        slots: &[Slot],
        bare: &[usize],
        pins: &[(usize, Vec<Set>)],
        counts: &mut Vec<usize>,
        at: usize,
        best: &mut Vec<Reading>,
    ) {
        let Some(generic) = bare.get(at) else {
            let Some(reading) = self.reading(slots, bare, pins, counts) else {
                return;
            };
            let fewest = best.first().map_or(usize::MAX, |r| r.liftings);
            if reading.liftings < fewest {
                best.clear();
            }
            if reading.liftings <= fewest {
                best.push(reading);
            }
            return;
        };
        let mine = slots.iter().filter(|slot| slot.takes == Ok(*generic));
        let most = mine.map(|slot| slot.axes.len()).min().unwrap_or(0);
        for count in (1..=most).rev() {
            counts[at] = count;
            self.readings(slots, bare, pins, counts, at + 1, best);
        }
    }

    /// The reading in which generics take so many axes, if everything agrees.
    fn reading(
        &self,
        slots: &[Slot],
        bare: &[usize],
        pins: &[(usize, Vec<Set>)],
        counts: &[usize],
    ) -> Option<Reading> {
        let mut sets: Vec<Option<Vec<Set>>> = vec![None; bare.len()];
        let mut frames = Vec::new();
        for slot in slots {
            let kept = match slot.takes {
                Err(rank) => slot.axes.len().checked_sub(rank)?,
                Ok(generic) => {
                    let which = bare.iter().position(|g| *g == generic)?;
                    let (_, cell) = slot.axes.split_at(slot.axes.len() - counts[which]);
                    let pinned = pins.iter().filter(|(g, _)| *g == generic).map(|(_, s)| s);
                    if !pinned
                        .chain(&sets[which])
                        .all(|set| self.may_all(set, cell))
                    {
                        return None;
                    }
                    sets[which].get_or_insert_with(|| cell.to_vec());
                    slot.axes.len() - cell.len()
                }
            };
            frames.push(slot.axes[..kept].to_vec());
        }
        let alignment = align(&frames, |a, b| self.may_equal(a, b)).ok()?;
        Some(Reading {
            sets: bare
                .iter()
                .zip(sets)
                .filter_map(|(g, set)| Some((*g, set?)))
                .collect(),
            liftings: frames.iter().map(Vec::len).sum(),
            frame: frames.get(alignment.longest).cloned().unwrap_or_default(),
        })
    }

    fn may_all(&self, a: &[Set], b: &[Set]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.may_equal(a, b))
    }
}

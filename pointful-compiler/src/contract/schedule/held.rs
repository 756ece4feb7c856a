//! Reductions whose place is further out than the loop at which they begin: meanwhile they combine
//! into a `var` of their own.
//!
//! What has a row of a few places there, the coordinates of a point say, has such a row of the
//! kernel's own, which becomes variables.
//!
//! Where both the place of an extremum and the extremum are looked for, as they are by functions
//! that are derived, the best element so far is both: the `reduce min` beside an `argmin` of the
//! same elements has nothing to do until the loop has run.

use smallvec::smallvec;

use super::build::{Builder, Location};
use super::extrema::{extremum, worst};
use super::facts::reduced;
use super::region::{Place, Region};
use super::tasks::{Kind, TaskId};
use crate::contract::scalar_replacement::MOST_PLACES;
use crate::ir::stages::bulk::{Bulk, BulkOp, Combine};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{AxisId, Elem, Extent, Lit, Monoid, Operation, Scalar, Stmt, ValueId};
use crate::ops::Prim;

/// A task that has other places than its own while a loop runs.
pub(super) struct Held {
    task: TaskId,
    /// Its own.
    places: Vec<Place>,
    /// What to do when the loop has run.
    then: Then,
}

enum Then {
    /// What is in the places meanwhile belongs in its own.
    Move,
    /// Its result is the best element that another task has found.
    Take { best: Place, monoid: Monoid },
}

/// A reduction that begins at a loop.
struct Begun<'p> {
    task: TaskId,
    stmt: &'p Stmt<Bulk>,
    combine: &'p Combine,
    /// The axes of its result that are opened further in: few known places.
    rest: Vec<AxisId>,
}

impl<'p> Builder<'p> {
    /// Gives those of the tasks that begin at a loop over `axis`, which is about to be opened,
    /// places for meanwhile.
    pub(super) fn hold(
        &mut self,
        region: &mut Region<'p>,
        tasks: &[TaskId],
        axis: AxisId,
    ) -> Vec<Held> {
        let begun = self.begun(region, tasks, axis);
        let mut held = Vec::new();
        let mut searches = Vec::new();
        for this in &begun {
            let Some(monoid) = extremum(this.combine) else {
                continue;
            };
            let places = region.places[this.task].clone();
            let [best, at] = &places[..] else { continue };
            let elem = self.facts.program.elem(this.operand()).repr();
            let best = if best.is_own() || best.is_buffer {
                self.meanwhile(worst(monoid, elem), Elem::Scalar(elem), None)
            } else {
                best.clone()
            };
            let first = Lit::of(Scalar::Usize, 0.0);
            let number = if at.is_buffer {
                self.meanwhile(first, Elem::USIZE, Some(this.stmt.results[0]))
            } else {
                at.clone()
            };
            region.places[this.task] = vec![best.clone(), number];
            searches.push((this, monoid, best));
            held.push(Held {
                task: this.task,
                places,
                then: Then::Move,
            });
        }
        for this in &begun {
            let places = region.places[this.task].clone();
            let stored = !places.is_empty() && places.iter().all(|place| place.is_buffer);
            let same = searches.iter().find(|(search, monoid, _)| {
                *this.combine == Combine::Monoid(*monoid) && this.runs_with(search, region)
            });
            let (meanwhile, then) = match (this.combine, same) {
                (Combine::Monoid(monoid), Some((_, _, best))) => {
                    let (best, monoid) = (best.clone(), *monoid);
                    (Vec::new(), Then::Take { best, monoid })
                }
                (Combine::Monoid(monoid), None) if stored => {
                    let elem = self.out.elem(places[0].id);
                    let identity = monoid.identity(elem.repr());
                    let of = Some(this.stmt.results[0]);
                    let place = if this.rest.is_empty() {
                        self.meanwhile(identity, elem, of)
                    } else {
                        self.place_of(elem, this.rest.clone(), Some(identity), of)
                    };
                    (vec![place], Then::Move)
                }
                (Combine::Custom { .. }, _) if stored && this.rest.is_empty() => {
                    // What it begins with has been stored there.
                    let vars = places.iter().enumerate().map(|(k, place)| {
                        let first = self.read(place);
                        self.variable(first, this.stmt.results.get(k).copied())
                    });
                    (vars.collect(), Then::Move)
                }
                (_, _) => continue,
            };
            region.places[this.task] = meanwhile;
            held.push(Held {
                task: this.task,
                places,
                then,
            });
        }
        held
    }

    /// Those of the tasks that are reductions and begin at a loop over `axis`, at one point of
    /// their results or at a few known ones, which then have no place yet that is the kernel's own.
    fn begun(&self, region: &Region<'p>, tasks: &[TaskId], axis: AxisId) -> Vec<Begun<'p>> {
        let open = self.open();
        let begins = |&task: &TaskId| {
            let Kind::Run(stmt) = region.tasks.list[task].kind else {
                return None;
            };
            let BulkOp::Reduce { combine, axes, .. } = &stmt.op else {
                return None;
            };
            let rest = self.rest(stmt.results[0]);
            let ready = rest.is_empty() || self.may_hold(stmt.results[0], combine, &rest);
            let begins = axes.contains(&axis) && axes.iter().all(|a| !open.contains(a));
            (ready && begins).then_some(Begun {
                task,
                stmt,
                combine,
                rest,
            })
        };
        tasks.iter().filter_map(begins).collect()
    }

    /// Whether what a kernel combines into memory outside of it, at a few known places, is worth
    /// variables.
    fn may_hold(&self, result: ValueId, combine: &Combine, rest: &[AxisId]) -> bool {
        let places = rest.iter().try_fold(1, |n: u64, &axis| {
            let Extent::Const(length) = self.facts.extent(axis) else {
                return None;
            };
            n.checked_mul(length).filter(|&n| n <= MOST_PLACES)
        });
        let outside = matches!(
            (self.location(result), self.kernel),
            (Some(Location::Buffer { depth, .. }), Some(kernel)) if *depth < kernel
        );
        matches!(combine, Combine::Monoid(_)) && places.is_some() && outside
    }

    fn meanwhile(&mut self, first: Lit, elem: Elem, of: Option<ValueId>) -> Place {
        let first = self.constant(first);
        debug_assert_eq!(self.out.elem(first).repr(), elem.repr());
        self.variable(first, of)
    }

    fn variable(&mut self, first: ValueId, of: Option<ValueId>) -> Place {
        let elem = self.out.elem(first);
        let id = self.scalar(self.depth(), KernelOp::Var(first), elem, of);
        Place {
            id,
            dims: Vec::new(),
            is_buffer: false,
        }
    }

    /// Gives the tasks their own places back, and what belongs there.
    pub(super) fn release(&mut self, region: &mut Region<'p>, held: Vec<Held>) {
        for Held { task, places, then } in held {
            let meanwhile = std::mem::replace(&mut region.places[task], places.clone());
            let results = region.tasks.list[task].results();
            match then {
                Then::Move => {
                    let named = places.len() == results.len();
                    for (k, (place, meanwhile)) in places.iter().zip(meanwhile).enumerate() {
                        if !place.is_buffer {
                            continue;
                        }
                        self.for_each(&meanwhile.dims, results[0], |this| {
                            let value = this.read(&meanwhile);
                            this.write(place, value);
                            // Readers at the same point need not load it.
                            if named {
                                let depth = this.depth();
                                this.remember(results[k], value, depth);
                            }
                        });
                    }
                }
                Then::Take { best, monoid } => {
                    let mut value = self.read(&best);
                    let elem = self.out.elem(value);
                    // If there was no number the best is none.
                    if elem.is_float() {
                        let identity = self.constant(monoid.identity(elem.repr()));
                        let op =
                            KernelOp::Prim(Prim::combining(monoid), smallvec![identity, value]);
                        value = self.scalar(self.depth(), op, elem, None);
                    }
                    self.write(&places[0], value);
                }
            }
        }
    }
}

impl Begun<'_> {
    fn operand(&self) -> ValueId {
        self.stmt.op.operands()[0]
    }

    /// Whether it combines the same elements as another, wherever that does.
    fn runs_with(&self, other: &Self, region: &Region<'_>) -> bool {
        let guard = |this: &Self| region.tasks.list[this.task].guard;
        let parent = |this: &Self| region.tree.nodes[region.tree.leaf[this.task]].parent;
        let axes = |this: &Self| reduced(&this.stmt.op).to_vec();
        self.operand() == other.operand()
            && axes(self) == axes(other)
            && guard(self) == guard(other)
            && parent(self) == parent(other)
    }
}

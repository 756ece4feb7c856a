//! Sequential loops: `loop`, `while`, scans, and reductions with an operator that is not point for
//! point.

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::build::{Builder, Location};
use super::guests::Guests;
use super::held::Held;
use super::region::{Place, Region};
use super::scans::in_blocks;
use super::tasks::{Delivery, TaskId};
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::stages::kernels::KernelOp;
use crate::ir::{AxisId, Block, Elem, Lit, Message, Stmt, ValueId};
use crate::ops::Prim;

/// A loop's state on its way: what the body calls it, where it is, and what it is next.
struct State {
    param: ValueId,
    place: Place,
    /// That under its first name, over these axes: see [`renames`](super::renames).
    next: Delivery,
    /// Where the next array is stored if it does not come in a buffer of its own.
    spare: Option<Place>,
}

fn places(states: &[State]) -> Vec<Place> {
    states.iter().map(|state| state.place.clone()).collect()
}

/// The prefixes that a scan collects, as its operator knows them.
pub(super) fn prefixes(full: bool, op: &Block<Bulk>) -> Vec<ValueId> {
    let before = if full { op.results.len() } else { 0 };
    [&op.params[..before], &op.results].concat()
}

impl<'p> Builder<'p> {
    /// `loop`.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(super) fn sequential_loop(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        axis: AxisId,
        reverse: bool,
        init: &[ValueId],
        body: &'p Block<Bulk>,
    ) {
        let states = self.states(region, task, init, &body.params[1..], &body.results);
        let n = init.len();
        let collected = self.collected(region, task, &stmt.results[n..], &body.results[n..], n);
        let held = self.hold_for_guests(region, task, axis);
        let (index, extent) = self.new_index(axis);
        self.push(vec![(axis, index)], None);
        self.remember(body.params[0], index, self.depth());
        self.step(body, &states, collected, Some((region, task)));
        let body = self.pop();
        let op = KernelOp::For {
            extent,
            reverse,
            body: Box::new(body),
        };
        self.run_from(op, stmt.span);
        self.release(region, held);
        self.leave(region, task, &stmt.results[..n], &places(&states));
    }

    /// `while`.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(super) fn while_loop(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        init: &[ValueId],
        cond: &'p Block<Bulk>,
        body: &'p Block<Bulk>,
        bound: Option<ValueId>,
    ) {
        let states = self.states(region, task, init, &body.params, &body.results);
        let counter = bound.map(|bound| {
            let (bound, _) = self.eval(bound);
            let zero = self.constant(Lit::Int(crate::ir::Scalar::Usize, 0));
            (
                bound,
                self.scalar(self.depth(), KernelOp::Var(zero), Elem::USIZE, None),
            )
        });
        self.push(Vec::new(), None);
        for (state, &param) in states.iter().zip(&cond.params) {
            self.locate(param, state.place.location(self.depth()));
        }
        self.block(cond, &[], Vec::new(), &cond.results, &[]);
        let (test, _) = self.eval(cond.results[0]);
        let mut cond = self.pop();
        cond.results = vec![test];
        self.push(Vec::new(), None);
        if let Some((bound, counter)) = counter {
            let depth = self.depth();
            let count = self.scalar(depth, KernelOp::Get(counter), Elem::USIZE, None);
            let holds = self.scalar(
                depth,
                KernelOp::Prim(Prim::Lt, smallvec![count, bound]),
                Elem::BOOL,
                None,
            );
            let assert = KernelOp::Assert {
                cond: holds,
                message: Message::plain("the loop runs longer than its bound"),
                shown: Vec::new(),
            };
            self.run_from(assert, stmt.span);
            let one = self.constant(Lit::Int(crate::ir::Scalar::Usize, 1));
            let value = self.scalar(
                depth,
                KernelOp::Prim(Prim::Add, smallvec![count, one]),
                Elem::USIZE,
                None,
            );
            self.run(KernelOp::Set {
                place: counter,
                value,
            });
        }
        self.step(body, &states, Vec::new(), None);
        let body = self.pop();
        self.run_from(
            KernelOp::While {
                cond: Box::new(cond),
                body: Box::new(body),
            },
            stmt.span,
        );
        self.leave(region, task, &stmt.results, &places(&states));
    }

    /// `scan`: a loop that also collects its state.
    pub(super) fn scan(&mut self, region: &mut Region<'p>, task: TaskId, stmt: &'p Stmt<Bulk>) {
        let BulkOp::Scan {
            init,
            axis,
            reverse,
            full,
            operands,
            op,
        } = &stmt.op
        else {
            unreachable!("only scans are run as such")
        };
        let in_one_pass = !region.tasks.list[task].taken.is_empty();
        if self.kernel.is_none() && !in_one_pass && in_blocks(&self.facts, stmt) {
            return self.scan_in_blocks(region, task, stmt);
        }
        let n = init.len();
        let wholes = if *full { n } else { 0 };
        let (each, values) = (&stmt.results[wholes..], prefixes(*full, op));
        let made = [op.results.as_slice(), &values].concat();
        let states = self.states(region, task, init, &op.params[..n], &made);
        let collected = self.collected(region, task, each, &values, wholes);
        let held = self.hold_for_guests(region, task, *axis);
        self.along(*axis, *reverse, operands, &op.params[n..], |this| {
            this.step(op, &states, collected, Some((region, task)))
        });
        self.release(region, held);
        self.leave(region, task, &stmt.results[..wholes], &places(&states));
    }

    /// A reduction whose operator is not point for point: a loop that gives its last state.
    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(super) fn fold(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
        axis: AxisId,
        init: &[ValueId],
        operands: &[ValueId],
        op: &'p Block<Bulk>,
    ) {
        let n = init.len();
        let states = self.states(region, task, init, &op.params[..n], &op.results);
        self.along(axis, false, operands, &op.params[n..], |this| {
            this.step(op, &states, Vec::new(), None)
        });
        self.leave(region, task, &stmt.results, &places(&states));
    }

    /// A loop along `axis` in which `params` are the current elements of `operands`.
    fn along(
        &mut self,
        axis: AxisId,
        reverse: bool,
        operands: &[ValueId],
        params: &[ValueId],
        step: impl FnOnce(&mut Self),
    ) {
        let (index, extent) = self.new_index(axis);
        self.push(vec![(axis, index)], None);
        let depth = self.depth();
        for (&operand, &param) in operands.iter().zip(params) {
            if self.rest(param).is_empty() {
                let (scalar, _) = self.eval(operand);
                self.remember(param, scalar, depth);
            } else if let Some(Location::Buffer { buffer, dims, .. }) =
                self.location(operand).cloned()
            {
                self.locate(
                    param,
                    Location::Buffer {
                        buffer,
                        dims,
                        depth,
                    },
                );
            } else {
                let place = self.place(param, None);
                self.fill(&place, operand);
                self.locate(param, place.location(depth));
            }
        }
        step(self);
        let body = self.pop();
        self.run(KernelOp::For {
            extent,
            reverse,
            body: Box::new(body),
        });
    }

    /// Places for the states, holding their initial values. `nexts`: what the states are next, then
    /// what else is made of each step.
    fn states(
        &mut self,
        region: &Region<'p>,
        task: TaskId,
        init: &[ValueId],
        params: &[ValueId],
        nexts: &[ValueId],
    ) -> Vec<State> {
        let mut states: Vec<State> = Vec::new();
        let open = self.open();
        for ((&init, &param), &next) in init.iter().zip(params).zip(nexts) {
            let dims = self.rest(param);
            let place = if dims.is_empty() {
                let (first, _) = self.eval(init);
                let elem = self.elem(self.facts.program.elem(param));
                let id = self.scalar(self.depth(), KernelOp::Var(first), elem, Some(param));
                Place {
                    id,
                    dims,
                    is_buffer: false,
                }
            } else {
                match self.claim(region, task, init, &dims, true) {
                    Some(id) => Place {
                        id,
                        dims,
                        is_buffer: true,
                    },
                    None => self.copy(init, param),
                }
            };
            let next = Delivery {
                value: next,
                dims: place.dims.clone(),
            };
            let next = self.facts.original(next, &open);
            // A buffer can be handed over once.
            let handed = states.iter().any(|state| state.next.value == next.value);
            let stored = !handed && self.comes_stored(&next, param);
            let once = nexts.iter().filter(|&&other| other == next.value).count() == 1;
            let in_place = once
                && !nexts.contains(&param)
                && next.dims == place.dims
                && self.is_made_in_place(next.value, param);
            let spare =
                (place.is_buffer && next.value != param && !stored).then(|| match in_place {
                    true => place.clone(),
                    false => self.place(param, None),
                });
            states.push(State {
                param,
                place,
                next,
                spare,
            });
        }
        states
    }

    /// Whether the next version of a state is made by a task that leaves it in a buffer with the
    /// state's own axes.
    fn comes_stored(&self, next: &Delivery, param: ValueId) -> bool {
        let stored = self.facts.site(next.value).is_some_and(|stmt| {
            let leaves = matches!(
                stmt.op,
                BulkOp::Update { .. }
                    | BulkOp::Scatter { .. }
                    | BulkOp::Loop { .. }
                    | BulkOp::While { .. }
                    | BulkOp::Derive { .. }
                    | BulkOp::Rule { .. }
            );
            stmt.guard.is_none() && (leaves || self.facts.factors(stmt).is_some())
        });
        stored
            && self.facts.home(next.value) == self.facts.home(param)
            && self.rest(next.value) == next.dims
    }

    /// The buffers that collected values are stored in, and where they go.
    pub(super) fn collected(
        &mut self,
        region: &Region<'p>,
        task: TaskId,
        results: &[ValueId],
        values: &[ValueId],
        first: usize,
    ) -> Vec<(Delivery, ValueId)> {
        let mut all = Vec::new();
        for (k, (&result, &value)) in results.iter().zip(values).enumerate() {
            if !self.facts.is_read(result) || region.tasks.list[task].taken.contains(&result) {
                continue;
            }
            let place = match region.places[task].get(first + k) {
                Some(place) if !place.is_own() => place.clone(),
                _ => {
                    let place = self.place(result, None);
                    self.locate(result, place.location(self.depth()));
                    place
                }
            };
            all.push((
                Delivery {
                    value,
                    dims: place.dims,
                },
                place.id,
            ));
        }
        all
    }

    /// Sums of guests that begin at this loop: see [`Builder::hold`].
    fn hold_for_guests(
        &mut self,
        region: &mut Region<'p>,
        task: TaskId,
        axis: AxisId,
    ) -> Vec<Held> {
        let guests = region.tasks.list[task].guests.clone();
        self.hold(region, &guests, axis)
    }

    /// One iteration in the innermost frame: runs the block and the guests of the loop, then moves
    /// every state on.
    fn step(
        &mut self,
        block: &'p Block<Bulk>,
        states: &[State],
        collected: Vec<(Delivery, ValueId)>,
        this: Option<(&Region<'p>, TaskId)>,
    ) {
        let depth = self.depth();
        let mut deliveries = Vec::new();
        let mut outs = Vec::new();
        let mut finals = Vec::new();
        for state in states {
            self.locate(state.param, state.place.location(depth));
            match &state.spare {
                Some(spare) => {
                    deliveries.push(state.next.clone());
                    outs.push((Some(spare.id), state.next.dims.clone()));
                }
                None => finals.push(state.next.value),
            }
        }
        for (delivery, buffer) in collected {
            outs.push((Some(buffer), delivery.dims.clone()));
            deliveries.push(delivery);
        }
        let guests = this.map(|(region, task)| Guests::new(region, task, &mut outs));
        let visitors = guests.as_ref().map_or(&[][..], |guests| &guests.visitors);
        let steps = guests.as_ref().map_or(&[][..], |guests| &guests.steps);
        self.steps.extend(steps.iter().copied());
        self.block(block, &deliveries, outs, &finals, visitors);
        for (result, _) in steps {
            self.steps.remove(result);
        }
        let scalars: Vec<Option<ValueId>> = states
            .iter()
            .map(|state| {
                (!state.place.is_buffer && state.next.value != state.param)
                    .then(|| self.eval(state.next.value).0)
            })
            .collect();
        // By buffer: which now has what was in it. One state may be next what was made in the buffer of another.
        let mut moved: BTreeMap<ValueId, ValueId> = BTreeMap::new();
        for (state, scalar) in states.iter().zip(scalars) {
            let place = state.place.id;
            if let Some(value) = scalar {
                self.run(KernelOp::Set { place, value });
                continue;
            }
            let made = match (&state.spare, self.location(state.next.value)) {
                (Some(spare), _) => spare.id,
                (None, Some(&Location::Buffer { buffer, .. })) => buffer,
                (None, Some(Location::Var { .. }) | None) => continue,
            };
            let now = moved.get(&made).copied().unwrap_or(made);
            if now != place {
                self.run(KernelOp::Swap(place, now));
                let before = moved.iter().find(|&(_, &at)| at == place);
                let before = before.map_or(place, |(&before, _)| before);
                moved.insert(before, now);
                moved.insert(made, place);
            }
        }
    }

    /// Says where the final states are; copies them out where that is outside the innermost frame.
    pub(super) fn leave(
        &mut self,
        region: &Region<'p>,
        task: TaskId,
        results: &[ValueId],
        places: &[Place],
    ) {
        let depth = self.depth();
        for (k, (&result, last)) in results.iter().zip(places).enumerate() {
            let outer = region.places[task].get(k).cloned();
            let Some(outer) = outer.filter(|place| !place.is_own()) else {
                self.locate(result, last.location(depth));
                continue;
            };
            if outer.is_nowhere() {
                continue;
            }
            self.for_each(&last.dims, result, |this| {
                let value = this.read(last);
                this.write(&outer, value);
            });
        }
    }
}

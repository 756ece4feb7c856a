//! Values that are kept for readers at other points, and stored for who comes later, at the same
//! points: as one array.
//!
//! ```text
//! %0[i], %1[i] = loop %2: t (%3[i] = x, %4[i] = y) {      for %2: T {
//!   %5[i] = sub %3, %4                                      par %6: I { … store %7[%6], … }
//!   %8[i] = gather %5 [i := …]                        ▶     par %9: I { … load %7[…] … }
//!   …                                                       swap %3, %7
//!   yield %5, …                                             …
//! }                                                       }
//! ```
//!
//! What is made behind a condition is kept apart, as there are places of it that nobody has written;
//! and so is all where axes are [padded](crate::contract::schedule::padding), for whom it is kept longer.

use std::collections::BTreeMap;

use super::Out;
use crate::contract::schedule::facts::{Facts, without};
use crate::contract::schedule::tasks::{Kind, Task, TaskId};
use crate::contract::schedule::tree::Tree;

/// Tasks that keep a value where a delivery stores it, with that delivery.
pub(super) fn at_once(
    facts: &Facts<'_>,
    list: &[Task<'_>],
    tree: &Tree,
    outs: &[Out],
) -> BTreeMap<TaskId, TaskId> {
    let mut found = BTreeMap::new();
    if !facts.pads.is_empty() {
        return found;
    }
    for (delivery, task) in list.iter().enumerate() {
        let Kind::Deliver(value, slot) = task.kind else {
            continue;
        };
        let keeps = |other: &Task<'_>| matches!(other.kind, Kind::Keep(kept) if kept == value);
        let Some(keeper) = list.iter().position(keeps) else {
            continue;
        };
        let stays = |task: &Task<'_>| task.guest_of.is_none() && !task.visits;
        let parent = |task: TaskId| tree.nodes[tree.leaf[task]].parent;
        let dims = &outs[slot].1;
        let axes = facts.axes(value);
        let is_whole = axes.iter().all(|axis| dims.contains(axis));
        if stays(task)
            && stays(&list[keeper])
            && parent(keeper) == parent(delivery)
            && tree.place[keeper] == 0
            && is_whole
            && !task.order.is_empty()
            && without(&list[keeper].order, &task.order).is_empty()
            && without(&task.order, &list[keeper].order).is_empty()
        {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::KEPT_AT_ONCE);
            found.entry(keeper).or_insert(delivery);
        }
    }
    found
}

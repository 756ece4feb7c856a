//! Sharing numbered parts of some work among threads, and merging what comes of them in order.
//!
//! On a thread of a rayon pool that is [`rayon::join`], again and again; elsewhere the calling
//! thread works itself, and with it [helpers] from the pool.
//!
//! The merges are the same tree, whoever computes a part, and so are the bits.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::helpers::{self, unlocked};
use crate::stats;

/// Computes so many parts, at least one, in parallel, and merges each half of them with the half
/// after it. All of them are so many scalar operations.
///
/// # Panics
/// With the panic of the earliest part that panics, after every part that was begun has ended.
pub(super) fn share<A: Send>(
    count: usize,
    operations: u64,
    part: impl Fn(usize) -> A + Sync,
    merge: impl Fn(&mut A, A) + Sync,
) -> A {
    let threads = rayon::current_num_threads().min(count);
    let in_pool = rayon::current_thread_index().is_some();
    if threads == 1 || !in_pool && !helpers::are_worth(operations) {
        let result = in_order(count, part, merge);
        helpers::worked();
        return result;
    }
    let tree = Tree::new(count, part, merge);
    let panicked = Panicked::default();
    let take = |number| panicked.unless(number, || tree.take(number));
    if in_pool || u32::try_from(count).is_err() {
        jobs(0, count, &take);
    } else {
        among(count, threads, &take);
    }
    panicked.again();
    tree.result()
}

/// The same on this thread.
pub(super) fn in_order<A>(count: usize, part: impl Fn(usize) -> A, merge: impl Fn(&mut A, A)) -> A {
    let tree = Tree::new(count, part, merge);
    (0..count).for_each(|number| tree.take(number));
    tree.result()
}

/// Takes the parts `first..end` as jobs of a pool.
fn jobs(first: usize, end: usize, take: &(dyn Fn(usize) + Sync)) {
    if end - first == 1 {
        return take(first);
    }
    let middle = first.midpoint(end);
    let half = |first, end| {
        let _paused = stats::pause();
        jobs(first, end, take);
    };
    rayon::join(|| half(first, middle), || half(middle, end));
}

/// Takes all parts on this thread, and on as many of a pool's as come to help: with it no more than
/// so many.
fn among(count: usize, threads: usize, take: &(dyn Fn(usize) + Sync)) {
    let cut = |thread: usize| (count as u64 * thread as u64 / threads as u64) as u32;
    let left: Vec<Left> = (0..threads)
        .map(|thread| Left::new(cut(thread)..cut(thread + 1)))
        .collect();
    // A thread's own in order, then from the ends of those of others.
    let work = |own: usize| {
        let _paused = stats::pause();
        while let Some(number) = left[own].first() {
            take(number);
        }
        for other in (1..threads).map(|other| (own + other) % threads) {
            while let Some(number) = left[other].last() {
                take(number);
            }
        }
    };
    helpers::with(threads, &work);
}

/// Parts that are merged as they are computed, each half with the half after it.
struct Tree<A, P, M> {
    count: usize,
    part: P,
    merge: M,
    /// What has come of one half while the other is still to come, by where the later one begins;
    /// all of it at 0.
    halves: Vec<Mutex<Option<A>>>,
}

impl<A, P: Fn(usize) -> A, M: Fn(&mut A, A)> Tree<A, P, M> {
    fn new(count: usize, part: P, merge: M) -> Self {
        Self {
            count,
            part,
            merge,
            halves: (0..count).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// Computes a part, which is taken once only, and merges what comes of it with what is there.
    fn take(&self, number: usize) {
        if let Some(all) = self.merged(0, self.count, number) {
            *unlocked(&self.halves[0]) = Some(all);
        }
    }

    /// Computes a part, and gives what comes of the parts `first..end` if it was the last of them.
    fn merged(&self, first: usize, end: usize, number: usize) -> Option<A> {
        if end - first == 1 {
            return Some((self.part)(number));
        }
        let middle = first.midpoint(end);
        let is_later = number >= middle;
        let own = if is_later {
            self.merged(middle, end, number)?
        } else {
            self.merged(first, middle, number)?
        };
        let other = {
            let mut half = unlocked(&self.halves[middle]);
            match half.take() {
                Some(other) => other,
                None => {
                    *half = Some(own);
                    return None;
                }
            }
        };
        let (mut earlier, later) = if is_later { (other, own) } else { (own, other) };
        (self.merge)(&mut earlier, later);
        Some(earlier)
    }

    /// What has come of all parts, which have been taken.
    fn result(self) -> A {
        let all = unlocked(&self.halves[0]).take();
        all.unwrap_or_else(|| unreachable!("a part was not taken"))
    }
}

/// The earliest part that has panicked, and with what.
#[derive(Default)]
struct Panicked(Mutex<Option<(usize, Box<dyn Any + Send>)>>);

impl Panicked {
    /// Does a part, unless an earlier one has panicked.
    fn unless(&self, number: usize, part: impl FnOnce()) {
        let is_later = |earliest: &(usize, _)| earliest.0 < number;
        if unlocked(&self.0).as_ref().is_some_and(is_later) {
            return;
        }
        // What is left half done nobody sees: it is not asked for then.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(part)) {
            let mut earliest = unlocked(&self.0);
            if !earliest.as_ref().is_some_and(is_later) {
                *earliest = Some((number, panic));
            }
        }
    }

    /// Panics again.
    fn again(self) {
        if let Some((_, panic)) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }
}

/// A range of numbers that are taken from both ends: the first and the end, in a half each.
struct Left(AtomicU64);

impl Left {
    fn new(range: Range<u32>) -> Self {
        Self(AtomicU64::new(
            u64::from(range.start) << 32 | u64::from(range.end),
        ))
    }

    fn first(&self) -> Option<usize> {
        self.take(|first, end| (first, (first + 1) << 32 | end))
    }

    fn last(&self) -> Option<usize> {
        self.take(|first, end| (end - 1, first << 32 | (end - 1)))
    }

    /// Takes a number, if there is one: which, and what is left then.
    fn take(&self, taken: impl Fn(u64, u64) -> (u64, u64)) -> Option<usize> {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let (first, end) = (now >> 32, now & u64::from(u32::MAX));
            if first == end {
                return None;
            }
            let (number, left) = taken(first, end);
            // What the numbers stand for was there before anybody could take one.
            match self
                .0
                .compare_exchange_weak(now, left, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Some(number as usize),
                Err(other) => now = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word for the merges of so many parts.
    fn word(share: impl Fn(usize, &(dyn Fn(usize) + Sync)), count: usize) -> String {
        let part = |number: usize| number.to_string();
        let merge = |a: &mut String, b: String| *a = format!("({a} {b})");
        let tree = Tree::new(count, part, merge);
        share(count, &|number| tree.take(number));
        tree.result()
    }

    #[test]
    fn every_part_is_taken_once_and_merged_by_the_same_tree() {
        assert_eq!(
            word(|_, take| [2, 0, 4, 1, 3].into_iter().for_each(take), 5),
            "((0 1) (2 (3 4)))"
        );
        for count in [1, 2, 3, 7, 64, 1000] {
            let expected = word(|count, take| (0..count).for_each(take), count);
            assert_eq!(word(|count, take| jobs(0, count, take), count), expected);
            for threads in [1, 2, 3, 8] {
                let threads = threads.min(count);
                let found = word(|count, take| among(count, threads, take), count);
                assert_eq!(found, expected, "{count} parts, {threads} threads");
            }
        }
    }

    #[test]
    fn several_callers_share_the_helpers() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for count in 1..200 {
                        let all = share(count, u64::MAX, |number| vec![number], |a, b| a.extend(b));
                        assert!(all.into_iter().eq(0..count), "{count} parts");
                    }
                });
            }
        });
    }

    #[test]
    fn the_earliest_panic_is_passed_on() {
        for in_pool in [false, true] {
            let part = |number: usize| assert!(number % 7 != 3, "{number}");
            let run = || share(64, u64::MAX, part, |(), ()| ());
            let all = || match in_pool {
                false => run(),
                true => rayon::scope(|_| run()),
            };
            let panic = catch_unwind(AssertUnwindSafe(all)).expect_err("a part has panicked");
            assert_eq!(panic.downcast_ref::<String>().expect("a message"), "3");
        }
    }
}

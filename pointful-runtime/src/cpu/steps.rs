//! Running several steps of a loop at once, or several kernels that follow each other without one:
//! each reads what the ones before left near by.
//!
//! A step of a stencil is one pass over memory for next to no work. So the rows are cut into tiles
//! that a cache holds, and a tile advances several kernels (here: *levels*) before the next one
//! does. What lies at a tile's ends needs neighbours, so a tile gets shorter with each level; in a
//! second phase what is missing around each cut is computed, where it gets longer with each level:
//!
//! ```text
//!  level 3      ·······▲       ▲·······▲       ▲·······       ▲ first phase, tiles in parallel
//!        2      ·····▲ ▼·······▼ ▲·····▲ ...                  ▼ second phase, cuts in parallel
//!        1      ···▲ ▼···········▼ ▲···
//!        0      ·▲ ▼···············▼ ▲·
//! ```
//!
//! Nothing is computed twice, nothing is copied, and every element is read and written in the order
//! it would have been: of two levels that touch the same row or rows within reach of each other,
//! the earlier one comes first. With a slope of one reach a level that holds for what is read after
//! it was written and for what is written after it was read alike: a level reads at most one reach
//! beyond its rows, where the levels before it are done and the later ones are not.

use std::ops::Range;

use super::contract::{Along, contract, contract_absorb, contract_absorb_here, contract_here};
use super::features::Level;
use super::launch::launch;
use super::library::Factor;
use super::limits::limit;
use super::share::share;
use super::split::OPERATIONS_PER_ACC_BYTE;
use crate::buffer::Out;
use crate::kernel::{Kernel, Work};
use crate::stats;

/// Bytes of all buffers that a tile's rows should fit in: half of what most processors have for
/// each core.
const TILE_BYTES: u64 = 1 << 19;
/// The most levels that are run at once: a tile that is read once for so many is hardly read at
/// all.
const MOST_LEVELS: u64 = 16;
/// The same of tiles that do not need each other.
const MOST_LEVELS_APART: u64 = 1 << 12;
/// Tiles there should be at least, for a few cores to be busy.
const FEW_TILES: u64 = 8;
/// Scalar operations in all levels for which tiles are worth it.
const WORTH_TILES: u64 = 1 << 21;
/// Tiles that keep a few cores evenly busy.
const EVEN_TILES: u64 = 32;
/// Scalar operations of a tile in a level at least: going on to the next takes as long as some
/// hundred.
const TILE_WORK: u64 = 1 << 10;

/// What is known of a loop's steps before they run. Kernels without a loop are one step.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// How many there are.
    pub steps: usize,
    /// Kernels in each; at least one.
    pub kernels: usize,
    /// The extent of the kernels' first axis, which all of them share.
    pub rows: usize,
    /// How many rows beyond its own a kernel reads of what these kernels write.
    pub reach: usize,
    /// Estimated scalar operations of a step for each row.
    pub row_work: u64,
    /// Bytes of a row in all buffers that the steps write.
    pub row_bytes: u64,
    /// Bytes of what a tile accumulates in a step.
    pub acc_bytes: u64,
    /// How many rows are better done together, as those of a product of matrices are.
    pub together: usize,
}

impl Steps {
    /// Scalar operations of all rows in so many levels, of which a step has as many as kernels.
    fn work(self, levels: usize) -> u64 {
        let of_step = (self.rows as u64).saturating_mul(self.row_work);
        of_step.saturating_mul(levels as u64) / (self.kernels as u64).max(1)
    }
}

/// Runs all steps in order: `run` runs one kernel of a step in the rows that it is told, by
/// [`Rows::run`].
///
/// How steps are cut into tiles is decided by what is in `steps` alone. Without tiles each kernel
/// is a [`launch`].
///
/// # Panics
/// As [`launch`] does.
pub fn launch_steps(steps: Steps, run: impl Fn(usize, usize, &Rows) + Sync) {
    let nothing = |step, kernel, here: &Rows| {
        run(step, kernel, here);
        None::<()>
    };
    accumulate_steps(steps, nothing, |(), ()| ());
}

/// [`launch_steps`] of which some kernels accumulate, whose `run` gives what it did. All that for
/// each step, merged in the order of the rows.
///
/// # Panics
/// As there.
pub fn accumulate_steps<A: Send>(
    steps: Steps,
    run: impl Fn(usize, usize, &Rows) -> Option<A> + Sync,
    merge: impl Fn(&mut A, A),
) -> Vec<A> {
    let levels = steps.steps.saturating_mul(steps.kernels);
    // Each level's number, as the step's and the kernel's.
    let numbered = |first: usize| {
        let (mut step, mut kernel) = (first / steps.kernels, first % steps.kernels);
        move || {
            let now = (step, kernel);
            kernel += 1;
            if kernel == steps.kernels {
                (step, kernel) = (step + 1, 0);
            }
            now
        }
    };
    let Some(tiles) = Tiles::of(steps) else {
        let whole = Rows {
            own: 0..steps.rows,
            read: 0..steps.rows,
            alone: None,
        };
        if levels == 0 {
            return Vec::new();
        }
        let mut next = numbered(0);
        let all = (0..levels).filter_map(|_| {
            let (step, kernel) = next();
            run(step, kernel, &whole)
        });
        return all.collect();
    };
    let processor = Level::current();
    let mut done = Vec::new();
    for first in (0..levels).step_by(tiles.levels) {
        let together = tiles.levels.min(levels - first);
        // What the rows between two edges accumulate in each level, from the first on; edges move by so much from one to the next.
        let advance = |[start, end]: [(usize, isize); 2]| -> Vec<Option<A>> {
            let mut next = numbered(first);
            let one = |level: usize| {
                let (step, kernel) = next();
                let edge = |(at, by): (usize, isize)| at.wrapping_add_signed(by * level as isize);
                let own = edge(start)..edge(end);
                let read =
                    own.start.saturating_sub(steps.reach)..steps.rows.min(own.end + steps.reach);
                let here = Rows {
                    read,
                    own,
                    alone: Some(processor),
                };
                (!here.own.is_empty())
                    .then(|| run(step, kernel, &here))
                    .flatten()
            };
            (0..together).map(one).collect()
        };
        let reach = steps.reach as isize;
        let upright = |tile: usize| {
            let (first, last) = (tile == 0, tile + 1 == tiles.count);
            let (start, end) = (tiles.cut(tile), tiles.cut(tile + 1));
            advance([
                (start, if first { 0 } else { reach }),
                (end, if last { 0 } else { -reach }),
            ])
        };
        let between = |cut: usize| {
            let middle = tiles.cut(cut + 1);
            advance([(middle, -reach), (middle, reach)])
        };
        stats::launched(2 * tiles.count - 1, 0);
        let _paused = stats::pause();
        let upright = each(tiles.count, &upright);
        let between = each(tiles.count - 1, &between);
        let mut between = between.into_iter();
        let mut merged: Vec<Option<A>> = (0..together).map(|_| None).collect();
        for tile in upright {
            for part in std::iter::once(tile).chain(between.next()) {
                for (level, later) in part.into_iter().enumerate() {
                    match (&mut merged[level], later) {
                        (Some(earlier), Some(later)) => merge(earlier, later),
                        (earlier @ None, later) => *earlier = later,
                        (Some(_), None) => {}
                    }
                }
            }
        }
        done.extend(merged.into_iter().flatten());
    }
    done
}

/// So many in parallel, and what comes of them in order.
fn each<R: Send>(count: usize, run: &(impl Fn(usize) -> R + Sync)) -> Vec<R> {
    if count == 0 {
        return Vec::new();
    }
    share(
        count,
        u64::MAX,
        |number| vec![run(number)],
        |earlier, later| earlier.extend(later),
    )
}

/// Rows cut into tiles of nearly equal length.
#[derive(Clone, Copy, Debug)]
struct Tiles {
    rows: usize,
    count: usize,
    /// How many levels they advance at once.
    levels: usize,
}

impl Tiles {
    /// The tiles that are worth it, if there are any.
    fn of(steps: Steps) -> Option<Self> {
        let (rows, kernels) = (steps.rows as u64, (steps.kernels as u64).max(1));
        let in_cache = limit(TILE_BYTES) / steps.row_bytes.max(1);
        let all = kernels.saturating_mul(steps.steps as u64);
        // A tile is four times as long as what it loses at one end, so that most is done in the first phase.
        let slope = (steps.reach as u64).saturating_mul(4);
        let levels = match slope {
            0 => all.min(MOST_LEVELS_APART),
            _ => (in_cache / slope)
                .min(rows / slope.saturating_mul(FEW_TILES))
                .min(MOST_LEVELS)
                .min(all),
        };
        let work = steps.work(levels as usize);
        let for_accs = steps.acc_bytes.saturating_mul(OPERATIONS_PER_ACC_BYTE);
        let length = (rows / EVEN_TILES)
            .min(in_cache)
            .max(slope * levels)
            .max(steps.together as u64)
            .max(for_accs.max(limit(TILE_WORK)) / steps.row_work.max(1))
            .max(1);
        // Of one step there is little to save: rows must not be all that is shared out where kernels have other axes too.
        let few = if steps.steps == 1 { FEW_TILES } else { 2 };
        if levels < 2 || rows < length.saturating_mul(few) || work < limit(WORTH_TILES) {
            return None;
        }
        Some(Self {
            rows: steps.rows,
            count: (rows / length) as usize,
            levels: levels as usize,
        })
    }

    /// Where a tile begins, and the one before ends.
    fn cut(self, tile: usize) -> usize {
        (self.rows as u128 * tile as u128 / self.count as u128) as usize
    }
}

/// Where a kernel of a step is run.
#[derive(Debug)]
pub struct Rows {
    /// The rows that it computes.
    own: Range<usize>,
    /// Those that it may read of what other kernels write.
    read: Range<usize>,
    /// How it is compiled, if it runs here on one thread; else it is a launch.
    alone: Option<Level>,
}

impl Rows {
    /// Runs a kernel in these rows, of which each has so many points, and gives what it
    /// accumulates. `Work` is what [`launch`] is told.
    #[inline]
    pub fn run<K: Kernel>(&self, points: usize, work: Work, kernel: &K) -> K::Acc {
        let (first, end) = (self.own.start * points, self.own.end * points);
        match self.alone {
            Some(level) => {
                let mut acc = kernel.identity();
                level.run(kernel, first..end, &mut acc);
                acc
            }
            None => launch(end, work, kernel),
        }
    }

    /// [`contract`] in these rows, which are the result's first axis. In a factor they are the
    /// first of those that it does not take part in at an index, or no axis at all. Whether a
    /// factor is what may be read of it, or all of it.
    ///
    /// # Safety
    /// As there; the result's rows are these.
    ///
    /// # Panics
    /// As there.
    pub unsafe fn contract<T: Factor>(
        &self,
        out: Out<T>,
        factors: [(&[T], bool); 2],
        dims: [&[(usize, Along)]; 3],
        add: bool,
    ) {
        // SAFETY: promised by the caller.
        unsafe { self.contract_by(out, factors, dims, add, false) }
    }

    /// [`contract_absorb`] in these rows.
    ///
    /// # Safety
    /// As there; the result's rows are these.
    ///
    /// # Panics
    /// As there.
    pub unsafe fn contract_absorb<T: Factor>(
        &self,
        out: Out<T>,
        factors: [(&[T], bool); 2],
        dims: [&[(usize, Along)]; 3],
        add: bool,
    ) {
        // SAFETY: promised by the caller.
        unsafe { self.contract_by(out, factors, dims, add, true) }
    }

    unsafe fn contract_by<T: Factor>(
        &self,
        out: Out<T>,
        factors: [(&[T], bool); 2],
        dims: [&[(usize, Along)]; 3],
        add: bool,
        absorb: bool,
    ) {
        let [(left, _), (right, _)] = factors;
        let (true, Some(&(_, rows))) = (self.alone.is_some(), dims[0].first()) else {
            // SAFETY: promised by the caller.
            return unsafe {
                match absorb {
                    true => contract_absorb(out, left, right, dims, add),
                    false => contract(out, left, right, dims, add),
                }
            };
        };
        let count = |dims: &[(usize, Along)]| dims.iter().map(|dim| dim.0).product::<usize>();
        let own = |dims: &[(usize, Along)]| {
            let first = std::iter::once((self.own.len(), rows));
            first.chain(dims[1..].iter().copied()).collect::<Vec<_>>()
        };
        let part = |(factor, is_part): (&'_ [T], bool), mut dims: &[(usize, Along)]| {
            let (mut from, mut length) = (0, factor.len());
            while let Some((&(count_of, Along::At(index)), rest)) = dims.split_first()
                && dims.iter().any(|dim| dim.1 == rows)
            {
                assert!(index < count_of, "index {index} of {count_of}");
                (length, dims) = (count(rest), rest);
                from += index * length;
            }
            if dims.first().is_none_or(|dim| dim.1 != rows) {
                return (from..from + length, dims.to_vec());
            }
            let row = count(&dims[1..]);
            let first = self.own.start - if is_part { self.read.start } else { 0 };
            let from = from + first * row;
            (from..from + self.own.len() * row, own(dims))
        };
        let (here, left_dims) = part(factors[0], dims[1]);
        let left = &left[here];
        let (here, right_dims) = part(factors[1], dims[2]);
        let right = &right[here];
        let row = count(&dims[0][1..]);
        // SAFETY: promised by the caller: these rows of the result are within it, and nobody else's.
        unsafe {
            let out = out.part(self.own.start * row..self.own.end * row);
            let dims: [&[(usize, Along)]; 3] = [&own(dims[0]), &left_dims, &right_dims];
            match absorb {
                true => contract_absorb_here(out, left, right, dims, add),
                false => contract_here(out, left, right, dims, add),
            }
        }
    }

    /// The first element that may be read of a buffer with so many in a row.
    #[inline]
    pub fn first(&self, row: usize) -> usize {
        self.read.start * row
    }

    /// What may be read of a buffer with so many elements in a row, from [`first`](Self::first) on.
    ///
    /// # Safety
    /// The buffer has as many rows as the steps, the slice is not used after the kernel that it is
    /// for, which does not write the buffer, and the kernels before have written what is read.
    #[inline]
    pub unsafe fn window<'a, T: Copy>(&self, buffer: Out<T>, row: usize) -> &'a [T] {
        let (first, end) = (self.read.start * row, self.read.end * row);
        // SAFETY: the rows are the buffer's. Nobody writes them meanwhile: this kernel does not, on this thread there is no other, and on other threads are
        // tiles of the same phase. In the first phase a tile's kernels read beyond its own rows at the lowest level only, by the reach, and the neighbour's
        // kernels keep away from these rows from the next level on. In the second phase tiles stay within the reach times the levels of their cuts,
        // which are twice as far from each other or more.
        unsafe { std::slice::from_raw_parts(buffer.start().add(first), end - first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Runs steps that do nothing but look whether each row's neighbours are where they have to be;
    /// how many runs there were.
    fn looked(steps: Steps) -> usize {
        let done: Vec<AtomicUsize> = (0..steps.rows).map(|_| AtomicUsize::new(0)).collect();
        let runs = AtomicUsize::new(0);
        let sums = accumulate_steps(
            steps,
            |step, kernel, here| {
                let level = step * steps.kernels + kernel;
                runs.fetch_add(1, Ordering::Relaxed);
                for row in here.own.clone() {
                    assert_eq!(done[row].load(Ordering::Relaxed), level, "row {row}");
                    let near =
                        row.saturating_sub(steps.reach)..steps.rows.min(row + steps.reach + 1);
                    assert!(here.read.start <= near.start && near.end <= here.read.end);
                    for near in &done[near] {
                        // What is read has been written, and has not been written over.
                        let near = near.load(Ordering::Relaxed);
                        assert!((level..=level + 1).contains(&near), "near row {row}");
                    }
                }
                for row in here.own.clone() {
                    done[row].store(level + 1, Ordering::Relaxed);
                }
                // Neighbours are joined in order.
                (kernel == 0).then(|| here.own.clone())
            },
            |earlier, later| {
                assert_eq!(earlier.end, later.start);
                earlier.end = later.end;
            },
        );
        assert_eq!(sums, vec![0..steps.rows; steps.steps]);
        let levels = steps.steps * steps.kernels;
        assert!(
            done.iter()
                .all(|done| done.load(Ordering::Relaxed) == levels)
        );
        runs.into_inner()
    }

    #[test]
    fn much_work_is_done_in_tiles_and_little_is_not() {
        let steps = Steps {
            steps: 100,
            kernels: 1,
            rows: 1024,
            reach: 1,
            row_work: 20 * 1024,
            row_bytes: 8 * 1024,
            acc_bytes: 0,
            together: 1,
        };
        // Sixteen tiles and what is between them, sixteen levels at a time; between tiles nothing is left of the first level.
        assert_eq!(looked(steps), 16 * 100 + 15 * (100 - 7));
        for few in [
            Steps { rows: 0, ..steps },
            Steps { rows: 1, ..steps },
            Steps { steps: 0, ..steps },
            Steps { steps: 1, ..steps },
            Steps {
                row_work: 1,
                ..steps
            },
            Steps {
                row_bytes: 1 << 20,
                ..steps
            },
            Steps {
                reach: 512,
                ..steps
            },
        ] {
            assert_eq!(looked(few), few.steps, "{few:?}");
        }
        let apart = Steps { reach: 0, ..steps };
        assert_eq!(looked(apart), 32 * 100);
        let few_tiles = Steps {
            together: 400,
            ..apart
        };
        assert_eq!(looked(few_tiles), 2 * 100);
        // A sequence of kernels is a step alone; and what is accumulated has to be worth it.
        let sequence = Steps {
            steps: 1,
            kernels: 4,
            ..apart
        };
        assert_eq!(looked(sequence), 32 * 4);
        let wide = Steps {
            together: 128,
            ..sequence
        };
        assert_eq!(looked(wide), 8 * 4);
        for few in [
            Steps {
                together: 129,
                ..sequence
            },
            Steps {
                acc_bytes: 1 << 21,
                ..sequence
            },
        ] {
            assert_eq!(looked(few), 4, "{few:?}");
        }
    }

    proptest! {
        #[test]
        fn neighbours_are_read_between_their_writes(
            steps in 0_usize..40, kernels in 1_usize..4, rows in 0_usize..300, reach in 0_usize..5,
            row_work in 1_u64..1 << 16, row_bytes in 1_u64..1 << 17,
            acc_bytes in 0_u64..1 << 20, together in 0_usize..100,
        ) {
            looked(Steps { steps, kernels, rows, reach, row_work, row_bytes, acc_bytes, together });
        }
    }
}

//! How work is split: by its size alone.

use std::ops::Range;

use super::limits::limit;
use crate::kernel::Work;

/// Scalar operations from which on it pays to share them with threads that are awake; see the
/// README for how it was measured.
pub(crate) const THRESHOLD: u64 = 1 << 17;

/// Scalar operations that a piece should at least do, so that handing it to a thread that is awake
/// costs little in comparison.
pub(crate) const GRAIN: u64 = 1 << 16;

/// Scalar operations that a piece should do for each byte of its private accumulator, which has to
/// be allocated, filled with the identity and merged: so many that this is worth another thread,
/// and from [`EVEN`] pieces on so many that it costs little.
pub(crate) const OPERATIONS_PER_ACC_BYTE: u64 = 4;
pub(crate) const MANY_OPERATIONS_PER_ACC_BYTE: u64 = 64;

/// Pieces that keep a few cores evenly busy.
pub(crate) const EVEN: u64 = 32;

/// The most pieces a launch is split into: enough to keep many cores evenly busy, few enough to
/// cost nothing.
pub(crate) const MAX_PIECES: u64 = 1024;

/// Scalar operations from which on it pays to [note](super::scatter) what is combined into a large
/// table.
const WORTH_NOTING: u64 = 1 << 22;

/// Bytes of a table that caches hold for the most part: there an element is changed in less time
/// than noted.
const CACHED_BYTES: u64 = 1 << 24;

/// Scalar operations of a piece that notes, and how many pieces are noted before their notes are
/// settled.
const NOTING_GRAIN: u64 = 1 << 20;
const PIECES_OF_ROUND: usize = 16;

/// Boundaries between pieces of many points are multiples of this, so that two pieces seldom write
/// the same cache line and vector loops begin where lines do.
const POINT_MULTIPLE: u64 = 64;

/// A number of points, cut into pieces of equal length, of which the last may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    points: usize,
    /// Points in each piece but the last.
    length: usize,
    /// Scalar operations in all of them, about.
    operations: u64,
}

impl Pieces {
    /// The pieces for work of this size, of which so many points are better done together. Nothing
    /// else decides: not the machine, not the number of threads.
    pub(crate) fn of(points: usize, work: Work, together: usize) -> Pieces {
        let total = work.of(points);
        let pieces = |per_byte| total / limit(GRAIN).max(work.acc_bytes.saturating_mul(per_byte));
        let wanted = if total < limit(THRESHOLD) {
            1
        } else {
            let even = pieces(OPERATIONS_PER_ACC_BYTE).min(EVEN);
            even.max(pieces(MANY_OPERATIONS_PER_ACC_BYTE))
                .clamp(1, MAX_PIECES)
        };
        Self::of_length(points, (points as u64).div_ceil(wanted), total, together)
    }

    /// Pieces of at least so many points.
    fn of_length(points: usize, mut length: u64, total: u64, together: usize) -> Pieces {
        let wanted = (points as u64).div_ceil(length.max(1));
        if wanted > 1 && length >= 4 * POINT_MULTIPLE {
            length = length.next_multiple_of(POINT_MULTIPLE);
        }
        if wanted > 1 {
            length = length.next_multiple_of(together.max(1) as u64);
        }
        Pieces {
            points,
            length: (length as usize).max(1),
            operations: total,
        }
    }

    /// The same, of whole strips of so many points: if they are as long, which leaves half of them at
    /// least, or if strips alone keep a few cores busy.
    pub(crate) fn in_strips(mut self, strip: usize) -> Pieces {
        let strip = strip.max(1);
        let enough = (self.points / strip) as u64 >= EVEN / 2;
        if self.count() > 1 && (enough || self.length >= strip) {
            self.length = self.length.next_multiple_of(strip);
        }
        self
    }

    /// About how many scalar operations all of them are.
    pub(crate) fn operations(self) -> u64 {
        self.operations
    }

    /// How many pieces there are; none for no points.
    pub(crate) fn count(self) -> usize {
        self.points.div_ceil(self.length)
    }

    /// The points of one piece.
    pub(crate) fn range(self, piece: usize) -> Range<usize> {
        let start = piece * self.length;
        start..self.points.min(start + self.length)
    }
}

/// Pieces that are columns of a kernel's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) rows: usize,
    pub(crate) pieces: Pieces,
}

impl Columns {
    /// The columns for work of this size on rows of so many points, if they are more than there
    /// would be pieces [with tables of their own](Pieces::of).
    pub(crate) fn of(points: usize, row: usize, work: Work, together: usize) -> Option<Self> {
        let rows = points.checked_div(row).filter(|&rows| rows > 0)?;
        let of_column = Work {
            per_point: Ord::max(work.per_point, 1).saturating_mul(rows as u64),
            acc_bytes: 0,
        };
        let mut pieces = Pieces::of(row, of_column, together);
        let lanes = Ord::max(together, 1) as u64;
        let multiple = limit(POINT_MULTIPLE).max(1).next_multiple_of(lanes);
        let length = (pieces.length as u64).next_multiple_of(multiple);
        pieces.length = usize::try_from(length).unwrap_or(usize::MAX);
        let others = Pieces::of(points, work, together);
        (pieces.count() > others.count()).then_some(Self { rows, pieces })
    }
}

/// Pieces that note what they combine into large tables, and settle it after each so many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) pieces: Pieces,
    /// Most of what a piece can note: what combines is counted as three operations at least.
    pub(crate) notes: usize,
}

impl Rounds {
    /// The rounds for work of this size, if it pays: so many bytes of an accumulator can be noted.
    pub(crate) fn of(points: usize, work: Work, scattered: u64, together: usize) -> Option<Self> {
        let per_point = work.per_point.max(1);
        let total = work.of(points);
        if total < limit(WORTH_NOTING) || scattered <= limit(CACHED_BYTES) {
            return None;
        }
        // What is not noted has copies.
        let copied = work.acc_bytes.saturating_sub(scattered);
        let grain = limit(NOTING_GRAIN).max(copied.saturating_mul(OPERATIONS_PER_ACC_BYTE));
        let length = (grain / per_point).max(1);
        let pieces = Pieces::of_length(points, length, total, together);
        let notes = (pieces.length as u64).saturating_mul(per_point) / 3;
        (pieces.count() > 1).then_some(Self {
            pieces,
            notes: usize::try_from(notes).unwrap_or(usize::MAX),
        })
    }

    /// Scalar operations of one round, about.
    pub(crate) fn operations(self) -> u64 {
        self.pieces.operations() / (self.pieces.count().div_ceil(PIECES_OF_ROUND) as u64).max(1)
    }

    /// Each round's pieces.
    pub(crate) fn all(self) -> impl Iterator<Item = Range<usize>> {
        let count = self.pieces.count();
        let starts = (0..count).step_by(PIECES_OF_ROUND);
        starts.map(move |start| start..count.min(start + PIECES_OF_ROUND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHEAP: Work = Work {
        per_point: 1,
        acc_bytes: 0,
    };

    #[test]
    fn little_work_is_one_piece_and_much_is_many() {
        assert_eq!(Pieces::of(0, CHEAP, 1).count(), 0);
        for points in [1, 2, 7, 1000, THRESHOLD as usize - 1] {
            assert_eq!(Pieces::of(points, CHEAP, 1).count(), 1, "{points} points");
        }
        assert_eq!(
            Pieces::of(THRESHOLD as usize, CHEAP, 1).count() as u64,
            THRESHOLD / GRAIN
        );
        assert!(Pieces::of(1 << 40, CHEAP, 1).count() <= MAX_PIECES as usize);
        let dear = Work {
            per_point: 1 << 20,
            acc_bytes: 0,
        };
        assert_eq!(Pieces::of(7, dear, 1).count(), 7);
    }

    #[test]
    fn points_that_are_done_together_are_in_one_piece() {
        let dear = Work {
            per_point: 1 << 20,
            acc_bytes: 0,
        };
        let pieces = |points| Pieces::of(points, dear, 16);
        assert_eq!(pieces(7).count(), 1);
        assert_eq!(pieces(20_000).range(1), 32..64);
        assert_eq!(pieces(1000).range(62), 992..1000);
    }

    #[test]
    fn pieces_that_are_long_enough_are_whole_strips() {
        let of = |per_point, strip| {
            let work = Work {
                per_point,
                acc_bytes: 0,
            };
            Pieces::of(700, work, 1).in_strips(strip)
        };
        assert_eq!((of(2400, 1).range(0), of(2400, 1).count()), (0..28, 25));
        assert_eq!((of(2400, 16).range(0), of(2400, 16).count()), (0..32, 22));
        // Shorter ones stay as many as they are, or become strips, of which there are enough.
        assert_eq!(of(1 << 20, 64).count(), 700);
        assert_eq!(
            (of(1 << 20, 16).range(0), of(1 << 20, 16).count()),
            (0..16, 44)
        );
        assert_eq!(of(1, 16).range(0), 0..700);
    }

    #[test]
    fn large_accumulators_make_few_pieces() {
        let points = 1 << 24;
        let plain = Pieces::of(points, CHEAP, 1).count();
        let heavy = Pieces::of(
            points,
            Work {
                acc_bytes: 1 << 20,
                ..CHEAP
            },
            1,
        )
        .count();
        assert_eq!((plain, heavy), (256, 4));
        let dear = Work {
            per_point: 1 << 9,
            acc_bytes: 1 << 20,
        };
        assert_eq!(Pieces::of(1 << 20, dear, 1).count() as u64, EVEN);
        assert_eq!(Pieces::of(points, dear, 1).count(), 128);
        assert_eq!(
            Pieces::of(
                points,
                Work {
                    acc_bytes: 1 << 30,
                    ..CHEAP
                },
                1
            )
            .count(),
            1
        );
    }

    proptest! {
        #[test]
        fn pieces_are_a_partition(points in 0_usize..1 << 30, per_point in 0_u64..1 << 20, acc_bytes in 0_u64..1 << 30, together in 0_usize..40) {
            let pieces = Pieces::of(points, Work { per_point, acc_bytes }, together);
            let mut next = 0;
            for piece in 0..pieces.count() {
                let range = pieces.range(piece);
                prop_assert_eq!(range.start, next);
                prop_assert!(range.start < range.end);
                next = range.end;
            }
            prop_assert_eq!(next, points);
            prop_assert!(pieces.count() <= MAX_PIECES as usize);
        }

        #[test]
        fn columns_are_more_than_pieces_would_be(rows in 0_usize..1 << 20, row in 0_usize..1 << 20, per_point in 0_u64..1 << 20, acc_bytes in 0_u64..1 << 30, together in 0_usize..40) {
            let work = Work { per_point, acc_bytes };
            if let Some(columns) = Columns::of(rows * row, row, work, together) {
                let count = columns.pieces.count();
                prop_assert_eq!(columns.rows, rows);
                prop_assert!(count > Pieces::of(rows * row, work, together).count());
                prop_assert_eq!(columns.pieces.range(count - 1).end, row);
                // Boundaries are those of what runs together, and of cache lines if these are some of them.
                let (end, lanes) = (columns.pieces.range(0).end, together.max(1));
                let line = POINT_MULTIPLE as usize;
                prop_assert!(count == 1 || end.is_multiple_of(lanes));
                prop_assert!(count == 1 || !line.is_multiple_of(lanes) || end.is_multiple_of(line));
            }
        }

        #[test]
        fn extreme_estimates_do_not_overflow(points: usize, per_point: u64, acc_bytes: u64, together in 0_usize..40) {
            let points = points.min(isize::MAX as usize);
            let work = Work { per_point, acc_bytes };
            let pieces = Pieces::of(points, work, together);
            prop_assert!(pieces.count() <= MAX_PIECES as usize);
            let columns = Columns::of(points, points, work, together);
            prop_assert!(columns.is_none_or(|columns| columns.pieces.count() <= MAX_PIECES as usize));
            if points > 0 {
                prop_assert_eq!(pieces.range(pieces.count() - 1).end, points);
            }
        }
    }
}

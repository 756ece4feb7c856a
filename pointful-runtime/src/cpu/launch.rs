//! Running a kernel's pieces in parallel and merging what they accumulated, in order.

use super::features::{Level, Part};
use super::limits::limit;
use super::scatter::MOST_BINS;
use super::share::{in_order, share};
use super::split::{Columns, Pieces, Rounds, THRESHOLD};
use crate::kernel::{Kernel, Work};
use crate::stats;

/// Runs a kernel over `points` points and returns what it accumulated.
///
/// The work is cut into pieces by its size alone, and the pieces' accumulators are merged pairwise
/// in a tree whose shape depends on their number alone: the same call gives the same bits whatever
/// the number of threads. Pieces run on the calling thread and on the rayon pool that is current
/// there, as many at a time as the pool has threads; little work runs on the calling thread and
/// wakes nobody. No points: the identity.
///
/// # Panics
/// With the panic of the earliest piece that panics, after every piece that was begun has ended.
pub fn launch<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    // Each step of a loop may be little work.
    let total = work.of(points);
    if total < limit(THRESHOLD) && points > 0 {
        stats::launched(1, work.acc_bytes);
        let _paused = stats::pause();
        let mut acc = kernel.identity();
        Level::current().run(kernel, 0..points, &mut acc);
        return acc;
    }
    let scattered = kernel.scattered_bytes();
    if scattered > 0
        && let Some(rounds) = Rounds::of(points, work, scattered, K::TOGETHER)
    {
        return in_rounds(rounds, kernel);
    }
    begin(points, work, kernel, |run, count| {
        share(
            count,
            run.pieces.operations(),
            |piece| run.piece(piece),
            |a, b| run.merge(a, b),
        )
    })
}

/// [`launch`] on the calling thread, for kernels that hold what is not fit for others. Pieces are
/// the same, and so are the bits.
pub fn launch_here<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    begin(points, work, kernel, |run, count| {
        in_order(count, |piece| run.piece(piece), |a, b| run.merge(a, b))
    })
}

/// Runs a kernel whose pieces [note](super::scatter) what they combine into large tables.
fn in_rounds<K: Kernel>(rounds: Rounds, kernel: &K) -> K::Acc {
    let pieces = rounds.pieces;
    stats::launched(pieces.count(), 0);
    let _paused = stats::pause();
    let level = Level::current();
    let mut all = kernel.noting(0);
    for round in rounds.all() {
        let noted = share(
            round.len(),
            rounds.operations(),
            |piece| {
                let mut acc = kernel.noting(rounds.notes);
                level.run(kernel, pieces.range(round.start + piece), &mut acc);
                acc
            },
            |a, b| kernel.merge(a, b),
        );
        share(
            MOST_BINS,
            rounds.operations(),
            // SAFETY: `all` and `noted` are of this kernel, and `share` does every part once.
            |stretch| unsafe { kernel.settle(&all, &noted, stretch) },
            |(), ()| (),
        );
        kernel.merge(&mut all, noted);
    }
    all
}

/// Cuts the work into pieces, if there is any, and lets `all` run so many.
fn begin<K: Kernel>(
    points: usize,
    work: Work,
    kernel: &K,
    all: impl FnOnce(&Run<'_, K>, usize) -> K::Acc,
) -> K::Acc {
    let columns = match K::BY_COLUMNS {
        true => Columns::of(points, kernel.columns(), work, K::TOGETHER),
        false => None,
    };
    let pieces = match columns {
        Some(columns) => columns.pieces,
        None => Pieces::of(points, work, K::TOGETHER).in_strips(K::STRIP),
    };
    let count = pieces.count();
    let copies = columns.map_or(count as u64, |_| 1);
    stats::launched(count, copies.saturating_mul(work.acc_bytes));
    let _paused = stats::pause();
    let mut run = Run {
        kernel,
        pieces,
        columns: None,
        level: Level::current(),
    };
    if let Some(Columns { rows, .. }) = columns {
        let mut tables = kernel.identity();
        run.columns = Some((rows, &tables));
        let merged = all(&run, count);
        kernel.merge_columns(&mut tables, merged);
        return tables;
    }
    match count {
        0 => kernel.identity(),
        1 => run.piece(0),
        _ => all(&run, count),
    }
}

/// A launch under way.
struct Run<'a, K: Kernel> {
    kernel: &'a K,
    pieces: Pieces,
    /// How many rows there are, and the tables, if pieces are columns.
    columns: Option<(usize, &'a K::Acc)>,
    level: Level,
}

impl<K: Kernel> Run<'_, K> {
    fn piece(&self, piece: usize) -> K::Acc {
        let columns = self.pieces.range(piece);
        let (rows, mut acc) = match self.columns {
            None => (1, self.kernel.identity()),
            // SAFETY: `tables` is merged with what has come of all pieces, and so outlives theirs; each
            // piece is run once, and has columns of its own.
            Some((rows, tables)) => (rows, unsafe { self.kernel.shared(tables) }),
        };
        let part = Part {
            rows,
            columns,
            shared: self.columns.is_some(),
        };
        self.level.run_part(self.kernel, part, &mut acc);
        acc
    }

    fn merge(&self, earlier: &mut K::Acc, later: K::Acc) {
        match self.columns {
            None => self.kernel.merge(earlier, later),
            Some(_) => self.kernel.merge_columns(earlier, later),
        }
    }
}

//! Running a kernel's pieces in parallel and merging what they accumulated, in order.

use super::features::Level;
use super::share::{in_order, share};
use super::split::Pieces;
use crate::kernel::{Kernel, Work};
use crate::stats;

/// Runs a kernel over `points` points and returns what it accumulated.
///
/// The work is cut into pieces by its size alone, and the pieces' accumulators are merged pairwise in a tree whose
/// shape depends on their number alone: the same call gives the same bits whatever the number of threads. Pieces run
/// on the calling thread and on the rayon pool that is current there, as many at a time as the pool has threads; little work
/// runs on the calling thread and wakes nobody. No points: the identity.
///
/// # Panics
/// With the panic of the earliest piece that panics, after every piece that was begun has ended.
pub fn launch<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    begin(points, work, kernel, |run, count| {
        share(
            count,
            run.pieces.operations(),
            |piece| run.piece(piece),
            |a, b| kernel.merge(a, b),
        )
    })
}

/// [`launch`] on the calling thread, for kernels that hold what is not fit for others. Pieces are the same, and so are the bits.
pub fn launch_here<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    begin(points, work, kernel, |run, count| {
        in_order(count, |piece| run.piece(piece), |a, b| kernel.merge(a, b))
    })
}

/// Cuts the work into pieces, if there is any, and lets `all` run so many.
fn begin<K: Kernel>(
    points: usize,
    work: Work,
    kernel: &K,
    all: impl FnOnce(&Run<'_, K>, usize) -> K::Acc,
) -> K::Acc {
    let pieces = Pieces::of(points, work, K::TOGETHER);
    let count = pieces.count();
    stats::launched(count, work.acc_bytes, pieces.operations());
    let _paused = stats::pause();
    let run = Run {
        kernel,
        pieces,
        level: Level::current(),
    };
    match count {
        0 => kernel.identity(),
        1 => run.piece(0),
        _ => all(&run, count),
    }
}

/// A launch under way.
struct Run<'a, K> {
    kernel: &'a K,
    pieces: Pieces,
    level: Level,
}

impl<K: Kernel> Run<'_, K> {
    fn piece(&self, piece: usize) -> K::Acc {
        let mut acc = self.kernel.identity();
        self.level
            .run(self.kernel, self.pieces.range(piece), &mut acc);
        acc
    }
}

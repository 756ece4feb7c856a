//! Running a kernel's pieces in parallel and merging what they accumulated, in order.

use super::features::Level;
use super::split::Pieces;
use crate::kernel::{Kernel, Work};
use crate::stats;

/// Runs a kernel over `points` points and returns what it accumulated.
///
/// The work is cut into pieces by its size alone, and the pieces' accumulators are merged pairwise in a tree whose
/// shape depends on their number alone: the same call gives the same bits whatever the number of threads. Pieces run
/// on the rayon pool that is current where `launch` is called; little work runs on the calling thread and wakes
/// nobody. No points: the identity.
///
/// # Panics
/// With the panic of the earliest piece that panics, after every piece that was begun has ended.
pub fn launch<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    begin(points, work, kernel, |run, count| {
        if count == 1 || rayon::current_num_threads() == 1 {
            run.in_order(0, count)
        } else {
            run.in_parallel(0, count)
        }
    })
}

/// [`launch`] on the calling thread, for kernels that hold what is not fit for others. Pieces are the same, and so are the bits.
pub fn launch_here<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    begin(points, work, kernel, |run, count| run.in_order(0, count))
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
    stats::launched(count, work.acc_bytes);
    let _paused = stats::pause();
    let run = Run {
        kernel,
        pieces,
        level: Level::current(),
    };
    match count {
        0 => kernel.identity(),
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

    /// Runs the pieces `first..end`, of which there is at least one, and merges them as a tree.
    fn in_parallel(&self, first: usize, end: usize) -> K::Acc {
        if end - first == 1 {
            return self.piece(first);
        }
        let middle = first.midpoint(end);
        let (mut earlier, later) = rayon::join(
            || {
                let _paused = stats::pause();
                self.in_parallel(first, middle)
            },
            || {
                let _paused = stats::pause();
                self.in_parallel(middle, end)
            },
        );
        self.kernel.merge(&mut earlier, later);
        earlier
    }

    /// The same tree on the calling thread, for a pool of one.
    fn in_order(&self, first: usize, end: usize) -> K::Acc {
        if end - first == 1 {
            return self.piece(first);
        }
        let middle = first.midpoint(end);
        let mut earlier = self.in_order(first, middle);
        let later = self.in_order(middle, end);
        self.kernel.merge(&mut earlier, later);
        earlier
    }
}

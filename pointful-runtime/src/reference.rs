//! The slow scalar twin of every skeleton: one thread, no vectors, nothing clever. Tests compare
//! the real ones with these, bit for bit.

use crate::cpu::Pieces;
use crate::kernel::{Kernel, Work};

/// What [`launch`](crate::kernel::launch) computes: the same pieces, one after the other, merged as
/// the same tree.
pub fn launch<K: Kernel>(points: usize, work: Work, kernel: &K) -> K::Acc {
    let pieces = Pieces::of(points, work, K::TOGETHER).in_strips(K::STRIP);
    let mut row: Vec<K::Acc> = (0..pieces.count())
        .map(|piece| {
            let mut acc = kernel.identity();
            kernel.run(pieces.range(piece), &mut acc);
            acc
        })
        .collect();
    match row.len() {
        0 => kernel.identity(),
        _ => merge(&mut row, kernel),
    }
}

/// Merges a row of accumulators, of which there is at least one, by halves.
fn merge<K: Kernel>(row: &mut Vec<K::Acc>, kernel: &K) -> K::Acc {
    if row.len() == 1 {
        return row.remove(0);
    }
    let mut right = row.split_off(row.len() / 2);
    let mut earlier = merge(row, kernel);
    let later = merge(&mut right, kernel);
    kernel.merge(&mut earlier, later);
    earlier
}

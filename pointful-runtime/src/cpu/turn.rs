//! Matrices written down with their rows as columns.

use std::ops::Range;

use super::launch;
use super::library::Factor;
use crate::kernel::{Buf, Kernel, Out, OutBuf, Work, transpose};

/// Rows that are turned round together, so that what is written of a column is a line of a cache.
const STRIP: usize = 16;

/// The matrices of this `size`, rows and columns, that begin `source` and at multiples of the given
/// distances from there: axes, each a length and a distance, whose points are matrices. Their rows
/// are `row` elements apart. The columns of each become rows that lie side by side, and so do the
/// matrices.
///
/// # Panics
/// If they are not within `source`.
pub(super) fn turned<T: Factor>(
    source: &[T],
    size: [usize; 2],
    row: usize,
    matrices: Vec<[usize; 2]>,
) -> Buf<T> {
    let [rows, columns] = size;
    let count = matrices.iter().map(|axis| axis[0]).product::<usize>();
    let mut out = OutBuf::new(count * rows * columns);
    let work = Work {
        per_point: (STRIP.min(rows) * columns) as u64,
        acc_bytes: 0,
    };
    let strips = Strips {
        source,
        size,
        row,
        matrices,
        out: out.out(),
    };
    launch(count * strips.of_each(), work, &strips);
    // SAFETY: each row of each matrix is one of a strip's, and has been written as a column.
    unsafe { out.assume_init() }
}

/// A kernel of which each point is a strip of rows of a matrix.
struct Strips<'a, T> {
    source: &'a [T],
    size: [usize; 2],
    row: usize,
    matrices: Vec<[usize; 2]>,
    out: Out<T>,
}

impl<T> Strips<'_, T> {
    /// How many a matrix has.
    fn of_each(&self) -> usize {
        self.size[0].div_ceil(STRIP)
    }
}

impl<T: Factor> Kernel for Strips<'_, T> {
    type Acc = ();

    fn identity(&self) {}

    #[inline(always)]
    fn run(&self, range: Range<usize>, (): &mut ()) {
        let [rows, columns] = self.size;
        for point in range {
            let (matrix, first) = (point / self.of_each(), point % self.of_each() * STRIP);
            let (mut start, mut rest) = (first * self.row, matrix);
            for [length, distance] in self.matrices.iter().rev() {
                start += rest % length * distance;
                rest /= length;
            }
            let count = STRIP.min(rows - first);
            let source = &self.source[start..][..(count - 1) * self.row + columns];
            // SAFETY: all that is read is in `source`; what is written are columns from `first` on in the place of this matrix, which are no other point's.
            unsafe {
                let out = self.out.start().add(matrix * rows * columns + first);
                let (from, to) = (|r| r * self.row, |c| c * rows);
                transpose(source.as_ptr(), out, [count, columns], from, to);
            }
        }
    }

    fn merge(&self, (): &mut (), (): ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for [a, b, rows, columns] in [
            [1, 1, 3, 2],
            [2, 3, 17, 9],
            [3, 1, 40, 1],
            [2, 2, 1, 20],
            [2, 0, 3, 3],
        ] {
            // The matrices `[i, j]` of an array `[b, i, a, j]`.
            let array: Vec<f64> = (0..rows * a * b * columns).map(|k| k as f64).collect();
            let matrices = vec![[a, columns], [b, rows * a * columns]];
            let found = turned(&array, [rows, columns], a * columns, matrices);
            let mut expected = Vec::new();
            for (x, y) in (0..a).flat_map(|x| (0..b).map(move |y| (x, y))) {
                for (j, i) in (0..columns).flat_map(|j| (0..rows).map(move |i| (j, i))) {
                    expected.push(array[((y * rows + i) * a + x) * columns + j]);
                }
            }
            assert_eq!(found[..], expected);
        }
    }
}

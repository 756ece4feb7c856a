//! Rows written down as columns.
//!
//! Neighbours in a row are to be written far apart. A processor's instructions that scatter take as
//! long as one move for each element, or longer; so squares of as many rows as a vector has
//! elements are turned round in registers.
//!
//! Where rows have a few lines of a cache each, of which several rows are read at a time,
//! processors do not foresee what is read next. So they are told: rows that come from memory take
//! half to a third of the time.

use std::ops::RangeInclusive;

/// Rows that are gone through together, so that what is written of a column lies together.
const BLOCK: usize = 8;

/// Bytes of a line of a cache.
const LINE: usize = 64;

/// Bytes of the rows that are asked for before they are read.
const UNFORESEEN: RangeInclusive<usize> = LINE + 1..=16 * LINE;

/// So many bytes before: as much as memory hands over while one waits for it.
const AHEAD: usize = 8192;

/// Writes rows down as columns. Row `r` is `source[from(r)..]`, of which `columns` elements are
/// written to `out[to(c) + r]`.
///
/// # Safety
/// All those places are in the buffers, which are apart, and the source's are initialised, with all
/// of their bytes.
#[inline(always)]
pub unsafe fn transpose<T: Copy>(
    source: *const T,
    out: *mut T,
    [rows, columns]: [usize; 2],
    from: impl Fn(usize) -> usize,
    to: impl Fn(usize) -> usize,
) {
    let bytes = columns * size_of::<T>();
    let ahead = UNFORESEEN.contains(&bytes).then(|| AHEAD / bytes);
    // SAFETY: promised by the caller, of each element of a block.
    unsafe {
        if rows < BLOCK {
            for row in 0..rows {
                let start = source.add(from(row));
                for column in 0..columns {
                    *out.add(to(column) + row) = *start.add(column);
                }
            }
            return;
        }
        for row in blocks(rows, BLOCK) {
            let starts: [*const T; BLOCK] = std::array::from_fn(|r| source.add(from(row + r)));
            if let Some(ahead) = ahead {
                // If rows lie elsewhere than these two let expect, nothing is lost.
                let apart = starts[1].addr().wrapping_sub(starts[0].addr());
                for start in starts {
                    let later = start.wrapping_byte_add(apart.wrapping_mul(ahead));
                    (0..bytes)
                        .step_by(LINE)
                        .for_each(|at| prefetch(later.wrapping_byte_add(at)));
                }
            }
            let place = |column: usize| out.add(to(column) + row);
            let side = const { side::<T>() };
            if side == 1 || columns < side {
                for column in 0..columns {
                    let moved = starts.map(|start| *start.add(column));
                    place(column).cast::<[T; BLOCK]>().write_unaligned(moved);
                }
                continue;
            }
            for column in blocks(columns, side) {
                for first in (0..BLOCK).step_by(side) {
                    turn(
                        |r| starts[first + r].add(column),
                        |c| place(column + c).add(first),
                    );
                }
            }
        }
    }
}

/// Where blocks of this size begin that cover `count`, which is not less; the last ends with it, so
/// that it may overlap the one before.
#[inline(always)]
fn blocks(count: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..count)
        .step_by(size)
        .map(move |start| start.min(count - size))
}

/// Rows and columns of the squares that are turned round in registers; 1 if elements are moved one
/// by one.
const fn side<T>() -> usize {
    match size_of::<T>() {
        4 if cfg!(target_arch = "x86_64") => 4,
        8 if cfg!(target_arch = "x86_64") => 2,
        _ => 1,
    }
}

/// Turns a square round.
///
/// # Safety
/// The [`side`] of it is not 1, rows can be read, with all of their bytes, and columns be written.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn turn<T>(row: impl Fn(usize) -> *const T, column: impl Fn(usize) -> *mut T) {
    use std::arch::x86_64::*;
    // SAFETY: promised by the caller, of as many elements as the vectors have. Every processor of the kind has the instructions, which move bits.
    unsafe {
        if size_of::<T>() == 4 {
            let [a, b, c, d] = std::array::from_fn(|r| _mm_loadu_ps(row(r).cast()));
            let [ab, cd] = [_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d)];
            _mm_storeu_ps(column(0).cast(), _mm_movelh_ps(ab, cd));
            _mm_storeu_ps(column(1).cast(), _mm_movehl_ps(cd, ab));
            let [ab, cd] = [_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d)];
            _mm_storeu_ps(column(2).cast(), _mm_movelh_ps(ab, cd));
            _mm_storeu_ps(column(3).cast(), _mm_movehl_ps(cd, ab));
        } else {
            let [a, b] = std::array::from_fn(|r| _mm_loadu_pd(row(r).cast()));
            _mm_storeu_pd(column(0).cast(), _mm_unpacklo_pd(a, b));
            _mm_storeu_pd(column(1).cast(), _mm_unpackhi_pd(a, b));
        }
    }
}

/// Nobody asks for it where squares have one element.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn turn<T>(_: impl Fn(usize) -> *const T, _: impl Fn(usize) -> *mut T) {}

/// Asks for the line of a cache that a place is in, which need not exist.
#[inline(always)]
fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of the kind has the instruction, which accesses nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of numbers that lie so far apart, written into columns that do.
    fn check<T: Copy + PartialEq + std::fmt::Debug>(number: impl Fn(usize) -> T) {
        for rows in [0, 1, 7, 8, 9, 16, 23] {
            for columns in [0, 1, 2, 3, 4, 5, 11, 40] {
                let (apart, high) = (columns + 3, rows + 2);
                let source: Vec<T> = (0..rows * apart).map(&number).collect();
                let mut out = vec![number(0); columns * high];
                // SAFETY: each row and each column is within its vector.
                unsafe {
                    let from = |row| row * apart;
                    transpose(
                        source.as_ptr(),
                        out.as_mut_ptr(),
                        [rows, columns],
                        from,
                        |c| c * high,
                    );
                }
                let place = |at: usize| (at / high, at % high);
                let expected = (0..columns * high).map(|at| match place(at) {
                    (column, row) if row < rows => source[row * apart + column],
                    _ => number(0),
                });
                assert_eq!(
                    out,
                    expected.collect::<Vec<T>>(),
                    "{rows} rows, {columns} columns"
                );
            }
        }
    }

    #[test]
    fn rows_of_elements_of_any_size_become_columns() {
        check(|k| k as u8);
        check(|k| k as i16);
        check(|k| k as f32);
        check(|k| k as i64);
        check(|k| (k as f64, k));
    }
}

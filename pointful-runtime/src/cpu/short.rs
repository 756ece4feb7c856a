//! Products of matrices of which two lengths are four or less, as of points on a plane or in space:
//! a library takes longer to begin than they take, and a loop over lengths that it does not know
//! takes several times as long as one over those that it knows.

use std::array::from_fn;

use super::library::Factor;

/// A matrix: its first element, and how far apart its rows and its columns are.
type Matrix<P> = (P, [usize; 2]);

/// Calls a function with two of the lengths as constants, if these are short.
macro_rules! with_lengths {
    ($function:ident, $lengths:expr, $arguments:tt) => {
        with_lengths!(@ $function, $lengths, $arguments,
            [1 1] [1 2] [1 3] [1 4] [2 1] [2 2] [2 3] [2 4] [3 1] [3 2] [3 3] [3 4] [4 1] [4 2] [4 3] [4 4])
    };
    (@ $function:ident, $lengths:expr, $arguments:tt, $([$first:literal $second:literal])*) => {
        match $lengths {
            $([$first, $second] => {
                // SAFETY: promised by the caller of what calls this.
                unsafe { $function::<T, $first, $second> $arguments };
                true
            })*
            _ => false,
        }
    };
}

/// `c = a·b`, or `c += a·b`, of as many rows, sums of as many products, and columns as `size` says,
/// if two of these are short; else nothing. Says whether it was so.
///
/// # Safety
/// As [`Factor::multiply`].
pub(super) unsafe fn multiply<T: Factor>(
    size: [usize; 3],
    a: Matrix<*const T>,
    b: Matrix<*const T>,
    c: Matrix<*mut T>,
    add: bool,
) -> bool {
    let across = |[rows, columns]: [usize; 2]| [columns, rows];
    let [m, k, n] = size;
    let (at, bt, ct) = ((a.0, across(a.1)), (b.0, across(b.1)), (c.0, across(c.1)));
    with_lengths!(rows, [k, n], (m, a, b, c, add))
        || with_lengths!(rows, [k, m], (n, bt, at, ct, add))
        // Fewer sums wait for each other.
        || m * n >= 4 && with_lengths!(sums, [m, n], (k, a, b, c, add))
}

/// Many rows: the other factor is in variables.
///
/// # Safety
/// As [`multiply`].
unsafe fn rows<T: Factor, const K: usize, const N: usize>(
    m: usize,
    (a, apart): Matrix<*const T>,
    (b, [down, right]): Matrix<*const T>,
    (c, results): Matrix<*mut T>,
    add: bool,
) {
    // SAFETY: within the matrix, as the caller promises.
    let b: [[T; N]; K] = from_fn(|k| from_fn(|n| unsafe { *b.add(k * down + n * right) }));
    // SAFETY: promised by the caller.
    unsafe {
        // Compiled for how the matrices lie most of the time.
        match (apart, results) {
            (_, _) if apart == [K, 1] && results == [N, 1] => {
                every_row(m, (a, [K, 1]), b, (c, [N, 1]), add);
            }
            ([1, next], [1, column]) => every_row(m, (a, [1, next]), b, (c, [1, column]), add),
            _ => every_row(m, (a, apart), b, (c, results), add),
        }
    }
}

/// # Safety
/// As [`multiply`].
#[inline(always)]
unsafe fn every_row<T: Factor, const K: usize, const N: usize>(
    m: usize,
    (a, [row, next]): Matrix<*const T>,
    b: [[T; N]; K],
    (c, [result, column]): Matrix<*mut T>,
    add: bool,
) {
    for m in 0..m {
        // SAFETY: within the matrix, as the caller promises.
        let a: [T; K] = from_fn(|k| unsafe { *a.add(m * row + k * next) });
        let mut sums = [T::ZERO; N];
        for (a, b) in a.into_iter().zip(b) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
        for (n, sum) in sums.into_iter().enumerate() {
            // SAFETY: within the result, as the caller promises.
            unsafe { put(c.add(m * result + n * column), sum, add) };
        }
    }
}

/// Long sums: they are in variables.
///
/// # Safety
/// As [`multiply`].
unsafe fn sums<T: Factor, const M: usize, const N: usize>(
    k: usize,
    (a, apart): Matrix<*const T>,
    (b, others): Matrix<*const T>,
    (c, [down, right]): Matrix<*mut T>,
    add: bool,
) {
    // SAFETY: promised by the caller.
    let sums: [[T; N]; M] = unsafe {
        if apart == [1, M] && others == [N, 1] {
            every_product(k, (a, [1, M]), (b, [N, 1]))
        } else {
            every_product(k, (a, apart), (b, others))
        }
    };
    for (m, sums) in sums.into_iter().enumerate() {
        for (n, sum) in sums.into_iter().enumerate() {
            // SAFETY: within the result, as the caller promises.
            unsafe { put(c.add(m * down + n * right), sum, add) };
        }
    }
}

/// # Safety
/// As [`multiply`].
#[inline(always)]
unsafe fn every_product<T: Factor, const M: usize, const N: usize>(
    k: usize,
    (a, [row, next]): Matrix<*const T>,
    (b, [below, column]): Matrix<*const T>,
) -> [[T; N]; M] {
    let mut sums = [[T::ZERO; N]; M];
    for k in 0..k {
        // SAFETY: within the matrices, as the caller promises.
        let a: [T; M] = from_fn(|m| unsafe { *a.add(m * row + k * next) });
        // SAFETY: as above.
        let b: [T; N] = from_fn(|n| unsafe { *b.add(k * below + n * column) });
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    sums
}

/// A sum, or what is there and the sum.
///
/// # Safety
/// It may be written there, and what is there is initialised if it is added to.
#[inline(always)]
unsafe fn put<T: Factor>(at: *mut T, sum: T, add: bool) {
    // SAFETY: promised by the caller.
    unsafe { at.write(if add { sum + at.read() } else { sum }) };
}

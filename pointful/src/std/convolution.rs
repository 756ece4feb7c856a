//! Convolutions and pools: sums, maxima and means of windows that move along axes.
//!
//! The set of the windows is a parameter, as that of what has a computed length must be where it is
//! stored for each member of another set: so all of these can be lifted over batches.

use crate::prelude::*;

/// How many windows fit into an axis of `length` elements with `padding` more at either end, if each
/// has `kernel` elements that are `dilation` apart and begins `stride` behind the one before it.
///
/// # Panics
/// If `kernel` or `stride` is zero.
///
/// ```
/// use pointful::lib::windows;
///
/// assert_eq!(windows(28, 3, 1, 1, 1), 28);
/// assert_eq!(windows(5, 2, 2, 3, 1), 2);
/// ```
#[pointful]
pub fn windows(
    length: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
    padding: usize,
) -> usize {
    assert!(kernel > 0, "a window is empty");
    assert!(stride > 0, "a stride is zero");
    let (padded, reach) = (length + 2 * padding, dilation * (kernel - 1) + 1);
    if padded < reach {
        0
    } else {
        (padded - reach) / stride + 1
    }
}

/// Panics if there are fewer windows than are asked for.
#[pointful]
fn check_windows(there: usize, asked: usize) {
    assert!(
        asked <= there,
        "there are {} windows, fewer than {}",
        there,
        asked
    );
}

/// The correlation of channels with kernels along one axis, as networks have it: `(C, N)`, `(K, C,
/// R)` and the extent of `O` to `(K, O)`.
///
/// `y[k][o]` is the sum of `w[k][c][r] · x[c][stride · o + dilation · r - padding]` over all `c` and
/// `r`, where what is not there is zero: `padding` zeros stand at either end. How many `o` there are
/// tells [`windows`](fn@windows). The error is that of a sum of `C · R` products. The derivative is
/// that of the body: sums of products as well.
///
/// # Panics
/// If `stride` is zero, `R` is empty, or there are fewer windows than members of `O`.
///
/// ```
/// use pointful::lib::{conv1, windows};
/// use pointful::prelude::*;
///
/// let x = Table::<(Fin<1>, Fin<5>), f64>::from([[1.0, 2.0, 4.0, 8.0, 16.0]]);
/// let w = Table::<(Fin<1>, Fin<1>, Fin<2>), f64>::from([[[-1.0, 1.0]]]);
/// let y = conv1(&x, &w, Extent::<Fin<4>>::default(), 1, 1, 0);
/// assert_eq!(y.as_slice(), [1.0, 2.0, 4.0, 8.0]);
/// // With stride 2, dilation 3 and one zero at either end.
/// let out = Extent::<Dyn>::new(windows(5, 2, 2, 3, 1));
/// assert_eq!(conv1(&x, &w, out, 2, 3, 1).as_slice(), [4.0, 14.0]);
/// ```
#[pointful]
pub fn conv1<K: IndexSet, C: IndexSet, N: IndexSet, R: IndexSet, O: IndexSet, T: Float>(
    x: &Table<(C, N), T>,
    w: &Table<(K, C, R), T>,
    out: Extent<O>,
    stride: usize,
    dilation: usize,
    padding: usize,
) -> Table<(K, O), T> {
    let there = windows(size(N), size(R), stride, dilation, padding);
    check_windows(there, size(out));
    for (k, o) in (K, out) {
        sum(for (c, r) in (C, R) {
            let at = stride * o.ordinal() + dilation * r.ordinal();
            w[k][c][r] * x[c].get(at as i64 - padding as i64).unwrap_or(0.0)
        })
    }
}

/// The correlation of channels with kernels along two axes: `(C, H, W)`, `(K, C, Y, X)` and the
/// extent of `(P, Q)` to `(K, P, Q)`. Strides, dilations and paddings are those of the two axes;
/// otherwise it is as [`conv1`](fn@conv1).
///
/// ```
/// use pointful::lib::conv2;
/// use pointful::prelude::*;
///
/// let x = Table::<(Fin<1>, Fin<3>, Fin<3>), f64>::from([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]);
/// let w = Table::<(Fin<1>, Fin<1>, Fin<2>, Fin<2>), f64>::from([[[[1.0, 0.0], [0.0, 1.0]]]]);
/// let out = Extent::<(Fin<2>, Fin<2>)>::default();
/// assert_eq!(conv2(&x, &w, out, (1, 1), (1, 1), (0, 0)).as_slice(), [6.0, 8.0, 12.0, 14.0]);
/// assert_eq!(conv2(&x, &w, out, (2, 2), (1, 1), (1, 1)).as_slice(), [1.0, 3.0, 7.0, 14.0]);
/// ```
#[pointful]
pub fn conv2<
    K: IndexSet,
    C: IndexSet,
    H: IndexSet,
    W: IndexSet,
    Y: IndexSet,
    X: IndexSet,
    P: IndexSet,
    Q: IndexSet,
    T: Float,
>(
    x: &Table<(C, H, W), T>,
    w: &Table<(K, C, Y, X), T>,
    out: Extent<(P, Q)>,
    stride: (usize, usize),
    dilation: (usize, usize),
    padding: (usize, usize),
) -> Table<(K, P, Q), T> {
    let down = windows(size(H), size(Y), stride.0, dilation.0, padding.0);
    let right = windows(size(W), size(X), stride.1, dilation.1, padding.1);
    check_windows(down, size(P));
    check_windows(right, size(Q));
    for (k, (i, j)) in (K, out) {
        sum(for (c, p, q) in (C, Y, X) {
            let row = stride.0 * i.ordinal() + dilation.0 * p.ordinal();
            let column = stride.1 * j.ordinal() + dilation.1 * q.ordinal();
            let at = (
                row as i64 - padding.0 as i64,
                column as i64 - padding.1 as i64,
            );
            w[k][c][p][q] * x[c].get(at).unwrap_or(0.0)
        })
    }
}

/// The largest element of each window of `window` elements, each `stride` behind the one before it:
/// `(C, N)` and the extent of `O` to `(C, O)`. How many windows lie within `N` tells `windows(n,
/// window, stride, 1, 0)` of [`windows`](fn@windows). NaN is ignored; the first element that is as
/// large has the derivative.
///
/// # Panics
/// If `window` or `stride` is zero, or there are fewer windows than members of `O`.
///
/// ```
/// use pointful::lib::max_pool1;
/// use pointful::prelude::*;
///
/// let x = Table::<(Fin<1>, Fin<5>), f64>::from([[1.0, 5.0, 2.0, 3.0, 9.0]]);
/// assert_eq!(max_pool1(&x, Extent::<Dyn>::new(2), 2, 2).as_slice(), [5.0, 3.0]);
/// assert_eq!(max_pool1(&x, Extent::<Dyn>::new(4), 2, 1).as_slice(), [5.0, 5.0, 3.0, 9.0]);
/// ```
#[pointful]
pub fn max_pool1<C: IndexSet, N: IndexSet, O: IndexSet, T: Float>(
    x: &Table<(C, N), T>,
    out: Extent<O>,
    window: usize,
    stride: usize,
) -> Table<(C, O), T> {
    let there = windows(size(N), window, stride, 1, 0);
    check_windows(there, size(out));
    for (c, o) in (C, out) {
        max(for r in 0..window {
            x[c][stride * o.ordinal() + r]
        })
    }
}

/// The mean of each window of `window` elements, each `stride` behind the one before it: `(C, N)` and
/// the extent of `O` to `(C, O)`. Otherwise it is as [`max_pool1`](fn@max_pool1).
///
/// ```
/// use pointful::lib::mean_pool1;
/// use pointful::prelude::*;
///
/// let x = Table::<(Fin<1>, Fin<5>), f64>::from([[1.0, 5.0, 2.0, 4.0, 9.0]]);
/// assert_eq!(mean_pool1(&x, Extent::<Fin<2>>::default(), 2, 2).as_slice(), [3.0, 3.0]);
/// ```
#[pointful]
pub fn mean_pool1<C: IndexSet, N: IndexSet, O: IndexSet, T: Float>(
    x: &Table<(C, N), T>,
    out: Extent<O>,
    window: usize,
    stride: usize,
) -> Table<(C, O), T> {
    let there = windows(size(N), window, stride, 1, 0);
    check_windows(there, size(out));
    for (c, o) in (C, out) {
        mean(for r in 0..window {
            x[c][stride * o.ordinal() + r]
        })
    }
}

/// The largest element of each rectangle of `window` rows and columns, each by `stride` behind the
/// one before it: `(C, H, W)` and the extent of `(P, Q)` to `(C, P, Q)`. Otherwise it is as
/// [`max_pool1`](fn@max_pool1).
///
/// ```
/// use pointful::lib::max_pool2;
/// use pointful::prelude::*;
///
/// let x = Table::<(Fin<1>, Fin<2>, Fin<4>), f64>::from([[[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 8.0, 7.0]]]);
/// let out = Extent::<(Fin<1>, Fin<2>)>::default();
/// assert_eq!(max_pool2(&x, out, (2, 2), (2, 2)).as_slice(), [5.0, 8.0]);
/// ```
#[pointful]
pub fn max_pool2<C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet, T: Float>(
    x: &Table<(C, H, W), T>,
    out: Extent<(P, Q)>,
    window: (usize, usize),
    stride: (usize, usize),
) -> Table<(C, P, Q), T> {
    let down = windows(size(H), window.0, stride.0, 1, 0);
    let right = windows(size(W), window.1, stride.1, 1, 0);
    check_windows(down, size(P));
    check_windows(right, size(Q));
    for (c, (i, j)) in (C, out) {
        max(for p in 0..window.0 {
            max(for q in 0..window.1 {
                x[c][stride.0 * i.ordinal() + p][stride.1 * j.ordinal() + q]
            })
        })
    }
}

/// The mean of each rectangle of `window` rows and columns, each by `stride` behind the one before
/// it: `(C, H, W)` and the extent of `(P, Q)` to `(C, P, Q)`. Otherwise it is as
/// [`max_pool1`](fn@max_pool1).
///
/// ```
/// use pointful::lib::mean_pool2;
/// use pointful::prelude::*;
///
/// let x = Table::<(Fin<1>, Fin<2>, Fin<4>), f64>::from([[[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 8.0, 7.0]]]);
/// let out = Extent::<(Fin<1>, Fin<2>)>::default();
/// assert_eq!(mean_pool2(&x, out, (2, 2), (2, 2)).as_slice(), [2.5, 5.0]);
/// ```
#[pointful]
pub fn mean_pool2<C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet, T: Float>(
    x: &Table<(C, H, W), T>,
    out: Extent<(P, Q)>,
    window: (usize, usize),
    stride: (usize, usize),
) -> Table<(C, P, Q), T> {
    let down = windows(size(H), window.0, stride.0, 1, 0);
    let right = windows(size(W), window.1, stride.1, 1, 0);
    check_windows(down, size(P));
    check_windows(right, size(Q));
    for (c, (i, j)) in (C, out) {
        mean(for p in 0..window.0 {
            mean(for q in 0..window.1 {
                x[c][stride.0 * i.ordinal() + p][stride.1 * j.ordinal() + q]
            })
        })
    }
}

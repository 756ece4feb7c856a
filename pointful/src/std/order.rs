//! Elements in their order.

use crate::prelude::*;

/// The members of a set in the order of numbers at them: `N` to `N`, of members of `N`. The smallest
/// comes first; equal numbers stay in the order of their members, NaN comes last.
///
/// It merges runs of twice the length in each of some `log n` passes. It has no derivative; what is
/// read at its members has one, as [`sort`](fn@sort) does.
///
/// ```
/// use pointful::lib::argsort;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![3.0, f64::NAN, 1.0, 3.0, 2.0]);
/// assert_eq!(argsort(&x).ordinals().as_ref(), [2, 4, 0, 3, 1]);
/// ```
#[pointful]
pub fn argsort<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, N> {
    // Numbers are carried along, so that each run is read from end to end.
    let mut sorted = stop_gradient(x);
    let mut order = for i in N {
        i
    };
    let n = size(N);
    let mut width = 1;
    while width < n {
        // Where the two runs that are merged go on.
        let (mut left, mut right) = (0, 0);
        (sorted, order) = for i in N {
            let begin = i.ordinal() - i.ordinal() % (2 * width);
            if i.ordinal() == begin {
                left = begin;
                right = begin + width;
            }
            let (middle, end) = ((begin + width).min(n), (begin + 2 * width).min(n));
            let (l, r) = (left.min(n - 1), right.min(n - 1));
            let (a, b) = (sorted[l], sorted[r]);
            let swapped = b < a || a.is_nan() && !b.is_nan();
            if left < middle && (right >= end || !swapped) {
                left += 1;
                (a, order[l])
            } else {
                right += 1;
                (b, order[r])
            }
        };
        width *= 2;
    }
    order
}

/// The elements in ascending order: `N` to `N`. NaN comes last. The derivative goes back to where each
/// element came from; of equal ones, by [`argsort`](fn@argsort), in their order.
///
/// ```
/// use pointful::lib::sort;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![3.0, 1.0, 2.0]);
/// assert_eq!(sort(&x).as_slice(), [1.0, 2.0, 3.0]);
/// let ct = Table::from(vec![10.0, 20.0, 30.0]);
/// assert_eq!(vjp!(sort)(&x, &ct).1.as_slice(), [30.0, 10.0, 20.0]);
/// ```
#[pointful]
pub fn sort<N: IndexSet, T: Float>(x: &Table<N, T>) -> Table<N, T> {
    let order = argsort(x);
    for i in N {
        x[order[i]]
    }
}

/// The members of the largest elements, in order: those of the first elements, sorted, into which the
/// others are inserted.
#[pointful]
fn inserted<N: IndexSet, K: IndexSet, T: Float>(
    x: &Table<N, T>,
    mut best: Table<K, N>,
) -> Table<K, N> {
    for n in N {
        let many = n.ordinal().min(size(K));
        let mut k = many;
        while k > 0 && comes_before(x[n], x[best[k - 1]]) {
            if k < size(K) {
                best[k] = best[k - 1];
            }
            k -= 1;
        }
        if k < size(K) {
            best[k] = n;
        }
    }
    best
}

/// Whether a number is larger than one in front of it, or that is none.
#[pointful]
fn comes_before<T: Float>(later: T, earlier: T) -> bool {
    later > earlier || (earlier.is_nan() && !later.is_nan())
}

/// The largest elements, the largest first, and their members: `N` and the extent of `K` to `K`, and
/// `K` of members of `N`. Of equal elements the first comes first; NaN comes last. The derivative goes
/// back to where each element came from.
///
/// For an extent of up to 64 elements are inserted into the largest so far, one after the other, most
/// of which takes a comparison; for a longer one all are sorted, as [`argsort`](fn@argsort) does.
///
/// # Panics
/// If there are more members of `K` than of `N`.
///
/// ```
/// use pointful::lib::top_k;
/// use pointful::prelude::*;
///
/// let x = Table::<Dyn, f64>::from(vec![3.0, 7.0, 1.0, 7.0]);
/// let (values, places) = top_k(&x, Extent::<Fin<3>>::default());
/// assert_eq!((values.as_slice(), places.ordinals().as_ref()), (&[7.0, 7.0, 3.0][..], &[1, 3, 0][..]));
/// ```
#[pointful]
pub fn top_k<N: IndexSet, K: IndexSet, T: Float>(
    x: &Table<N, T>,
    k: Extent<K>,
) -> (Table<K, T>, Table<K, N>) {
    assert!(
        size(k) <= size(N),
        "there are {} elements, less than {}",
        size(N),
        size(k)
    );
    let places = if size(k) <= 64 {
        let first = for i in k {
            N::from_ordinal(i.ordinal())
        };
        inserted(x, first)
    } else {
        let order = argsort(-x);
        for i in k {
            order[i.ordinal()]
        }
    };
    (
        for i in k {
            x[places[i]]
        },
        places,
    )
}

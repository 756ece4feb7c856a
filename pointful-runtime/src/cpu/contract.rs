//! Sums of products of two arrays along axes that both have: products of matrices, in any orientation and in batches.
//!
//! Each axis is in the result and the left factor (a row), in the result and the right one (a column), in both factors (summed), or in
//! all three (a batch). The longest stretch of rows, of columns and of summed axes that lie in memory as one make the matrices that
//! a library multiplies; what is left of rows, columns and batches says how many such products there are, and what is left of the summed
//! axes how many are added up.

use std::ops::Range;

use super::launch;
use crate::kernel::{Kernel, Out, Work};

/// Rows of a matrix that one point of the work computes: enough that packing the other factor costs little beside multiplying by it.
const ROWS: usize = 128;

/// Multiplications and additions from which on a product is handed to the library.
const SMALL: usize = 1 << 10;

/// A float that matrices are multiplied of.
pub trait Factor: crate::Float {
    /// `c = a·b`, or `c += a·b`: each matrix is a pointer and the distances between its rows and between its columns.
    ///
    /// # Safety
    /// All elements of the three matrices are within memory that may be read, and that of `c` written; those of `c` are apart from all others,
    /// and initialised if they are added to.
    #[doc(hidden)]
    unsafe fn multiply(
        size: [usize; 3],
        a: (*const Self, [isize; 2]),
        b: (*const Self, [isize; 2]),
        c: (*mut Self, [isize; 2]),
        add: bool,
    );
}

macro_rules! factor {
    ($($float:ident by $multiply:ident),*) => { $(
        impl Factor for $float {
            unsafe fn multiply(
                [m, k, n]: [usize; 3],
                (a, [ar, ac]): (*const Self, [isize; 2]),
                (b, [br, bc]): (*const Self, [isize; 2]),
                (c, [cr, cc]): (*mut Self, [isize; 2]),
                add: bool,
            ) {
                let beta = if add { 1.0 } else { 0.0 };
                // SAFETY: promised by the caller; without adding, `c` is not read.
                unsafe {
                    matrixmultiply::$multiply(m, k, n, 1.0, a, ar, ac, b, br, bc, beta, c, cr, cc)
                }
            }
        }
    )* };
}

factor!(f32 by sgemm, f64 by dgemm);

/// An axis, or several that lie in memory as one: its length, and how far apart neighbours are in the result and in the factors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    length: usize,
    strides: [usize; 3],
}

/// `out = Σ left · right`. Axes have numbers, below the number of `lengths`; each array has the axes that `axes` says, row-major: the result's,
/// the left factor's and the right one's. Summed are those that the result has not.
///
/// # Safety
/// `out` has as many elements as its axes say, and nobody else touches them meanwhile.
///
/// # Panics
/// If a factor has another number of elements than its axes say.
pub unsafe fn contract<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    lengths: &[usize],
    axes: [&[usize]; 3],
) {
    let count = |axes: &[usize]| axes.iter().map(|&axis| lengths[axis]).product::<usize>();
    assert_eq!(left.len(), count(axes[1]), "the left factor has other axes");
    assert_eq!(
        right.len(),
        count(axes[2]),
        "the right factor has other axes"
    );
    let (mut left, mut right) = (left, right);
    let mut plan = Plan::new(lengths, axes);
    if plan.rows.length < plan.columns.length {
        // Turned round, so that there is more to be shared out.
        plan = Plan::new(lengths, [axes[0], axes[2], axes[1]]);
        (left, right) = (right, left);
    }
    let rows = plan.rows.length.min(ROWS);
    let products = rows * plan.summed.length * plan.columns.length * points(&plan.sums);
    let work = Work {
        per_point: (2 * products as u64).max(1),
        acc_bytes: 0,
    };
    let all = plan.tiles() * points(&plan.apart);
    let product = Product {
        out,
        left,
        right,
        plan,
    };
    launch(all, work, &product);
}

/// How a contraction is done.
struct Plan {
    rows: Axis,
    summed: Axis,
    columns: Axis,
    /// Axes of which each point is a product of its own.
    apart: Vec<Axis>,
    /// Axes whose points are products that are added up.
    sums: Vec<Axis>,
}

impl Plan {
    fn new(lengths: &[usize], axes: [&[usize]; 3]) -> Self {
        let strides = axes.map(|own| {
            let mut strides = vec![0; lengths.len()];
            let mut next = 1;
            for &axis in own.iter().rev() {
                strides[axis] = next;
                next *= lengths[axis];
            }
            strides
        });
        let mut groups: [Vec<Axis>; 4] = Default::default();
        for (axis, &length) in lengths.iter().enumerate() {
            let has = axes.map(|own| own.contains(&axis));
            let group = match has {
                [true, true, false] => 0,
                [false, true, true] => 1,
                [true, false, true] => 2,
                [true, true, true] => 3,
                _ => panic!("an axis of one array alone is no part of a contraction"),
            };
            let strides = [0, 1, 2].map(|array: usize| strides[array][axis]);
            groups[group].push(Axis { length, strides });
        }
        let [rows, summed, columns, mut apart] = groups.map(joined);
        let (rows, more) = longest(rows);
        apart.extend(more);
        let (columns, more) = longest(columns);
        apart.extend(more);
        let (summed, sums) = longest(summed);
        Self {
            rows,
            summed,
            columns,
            apart,
            sums,
        }
    }

    /// How many points the rows of a product are.
    fn tiles(&self) -> usize {
        self.rows.length.div_ceil(ROWS)
    }
}

/// Axes that lie in memory as one, made one.
fn joined(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.retain(|axis| axis.length != 1);
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.strides));
    let mut all: Vec<Axis> = Vec::new();
    for axis in axes {
        match all.last_mut() {
            Some(outer) if outer.strides == axis.strides.map(|stride| stride * axis.length) => {
                *outer = Axis {
                    length: outer.length * axis.length,
                    strides: axis.strides,
                };
            }
            _ => all.push(axis),
        }
    }
    all
}

/// The longest of these axes, and the others; of none, one of a single place.
fn longest(mut axes: Vec<Axis>) -> (Axis, Vec<Axis>) {
    let place = (0..axes.len()).max_by_key(|&k| axes[k].length);
    let one = Axis {
        length: 1,
        strides: [0; 3],
    };
    let first = place.map_or(one, |place| axes.remove(place));
    (first, axes)
}

/// How many points some axes have together.
fn points(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.length).product()
}

/// Where each array is at a point of some axes, counted row by row.
fn offsets(axes: &[Axis], mut point: usize) -> [usize; 3] {
    let mut at = [0; 3];
    for axis in axes.iter().rev() {
        let index = point % axis.length;
        point /= axis.length;
        for (at, stride) in at.iter_mut().zip(axis.strides) {
            *at += index * stride;
        }
    }
    at
}

/// A contraction on its way: a point is some rows of one of its products of matrices.
struct Product<'a, T> {
    out: Out<T>,
    left: &'a [T],
    right: &'a [T],
    plan: Plan,
}

impl<T: Factor> Kernel for Product<'_, T> {
    type Acc = ();

    fn identity(&self) {}

    #[inline(always)]
    fn run(&self, range: Range<usize>, (): &mut ()) {
        range.for_each(|point| self.point(point));
    }

    fn merge(&self, (): &mut (), (): ()) {}
}

impl<T: Factor> Product<'_, T> {
    fn point(&self, point: usize) {
        let Plan {
            rows,
            summed,
            columns,
            apart,
            sums,
        } = &self.plan;
        let tiles = self.plan.tiles();
        let mut here = offsets(apart, point / tiles);
        let first = point % tiles * ROWS;
        for (here, stride) in here.iter_mut().zip(rows.strides) {
            *here += first * stride;
        }
        let size = [
            (rows.length - first).min(ROWS),
            summed.length,
            columns.length,
        ];
        let again = points(sums);
        if summed.length * again == 0 {
            return self.each(size, here, |_, _| T::ZERO);
        }
        if size.iter().product::<usize>() * again <= SMALL {
            return self.each(size, here, |row, column| {
                let mut sum = T::ZERO;
                for round in 0..again {
                    let there = offsets(sums, round);
                    for k in 0..summed.length {
                        let at = |array: usize| {
                            let own = row * rows.strides[array] + column * columns.strides[array];
                            here[array] + there[array] + own + k * summed.strides[array]
                        };
                        sum += self.left[at(1)] * self.right[at(2)];
                    }
                }
                sum
            });
        }
        let signed = |stride: usize| stride as isize;
        for round in 0..again {
            let there = offsets(sums, round);
            let a = &self.left[here[1] + there[1]..];
            let b = &self.right[here[2] + there[2]..];
            // SAFETY: all strides are those of the arrays' own axes, so every element is in bounds: `contract` has compared the factors' lengths,
            // and its caller promises that of the result, of which points have different rows or places of other axes.
            unsafe {
                let c = self.out.start().add(here[0]);
                T::multiply(
                    size,
                    (a.as_ptr(), [rows.strides[1], summed.strides[1]].map(signed)),
                    (
                        b.as_ptr(),
                        [summed.strides[2], columns.strides[2]].map(signed),
                    ),
                    (c, [rows.strides[0], columns.strides[0]].map(signed)),
                    round > 0,
                );
            }
        }
    }

    /// Computes each element of some rows.
    fn each(
        &self,
        [rows, _, columns]: [usize; 3],
        here: [usize; 3],
        value: impl Fn(usize, usize) -> T,
    ) {
        for row in 0..rows {
            for column in 0..columns {
                let [own, other] = [self.plan.rows, self.plan.columns].map(|axis| axis.strides[0]);
                // SAFETY: as above.
                unsafe {
                    self.out
                        .write(here[0] + row * own + column * other, value(row, column))
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::OutBuf;

    /// What `contract` gives, and the sum of products of whole numbers, which has no rounding.
    fn both(lengths: &[usize], axes: [&[usize]; 3]) -> (Vec<f64>, Vec<f64>) {
        let count = |axes: &[usize]| axes.iter().map(|&axis| lengths[axis]).product::<usize>();
        let numbers = |axes: &[usize], prime: usize| -> Vec<f64> {
            (0..count(axes))
                .map(|k| (k * prime % 11) as f64 - 5.0)
                .collect()
        };
        let (left, right) = (numbers(axes[1], 7), numbers(axes[2], 5));
        let mut out = OutBuf::new(count(axes[0]));
        // SAFETY: it has as many elements, and one owner.
        unsafe { contract(out.out(), &left, &right, lengths, axes) };
        // SAFETY: every element was written.
        let found = unsafe { out.assume_init() }.to_vec();
        let mut expected = vec![0.0; found.len()];
        let all: Vec<usize> = (0..lengths.len()).collect();
        for point in 0..count(&all) {
            let mut index = vec![0; lengths.len()];
            let mut rest = point;
            for axis in (0..lengths.len()).rev() {
                index[axis] = rest % lengths[axis];
                rest /= lengths[axis];
            }
            let [o, a, b] = axes.map(|own| {
                own.iter()
                    .fold(0, |at, &axis| at * lengths[axis] + index[axis])
            });
            expected[o] += left[a] * right[b];
        }
        (found, expected)
    }

    #[test]
    fn every_orientation() {
        let orders: [[&[usize]; 3]; 6] = [
            [&[0, 1], &[0, 2], &[2, 1]],
            [&[0, 1], &[2, 0], &[2, 1]],
            [&[0, 1], &[0, 2], &[1, 2]],
            [&[1, 0], &[0, 2], &[2, 1]],
            [&[1, 0], &[2, 0], &[1, 2]],
            [&[0, 1], &[2, 0], &[1, 2]],
        ];
        for lengths in [
            [1, 1, 1],
            [2, 3, 4],
            [0, 3, 2],
            [3, 0, 2],
            [3, 2, 0],
            [7, 1, 9],
            [300, 17, 40],
        ] {
            for axes in orders {
                let (found, expected) = both(&lengths, axes);
                assert_eq!(found, expected, "{lengths:?} {axes:?}");
            }
        }
    }

    #[test]
    fn batches_and_many_axes() {
        for lengths in [
            [2, 3, 4, 5, 2, 3],
            [1, 130, 1, 6, 2, 5],
            [2, 3, 4, 0, 2, 3],
            [3, 40, 5, 9, 1, 7],
        ] {
            for axes in [
                [&[0, 1, 2, 3][..], &[0, 1, 2, 4, 5], &[0, 4, 5, 3]],
                [&[3, 1, 0, 2], &[1, 4, 0, 5, 2], &[5, 3, 0, 4]],
                [&[1, 2, 3, 0], &[5, 0, 1, 2, 4], &[0, 5, 4, 3]],
            ] {
                let (found, expected) = both(&lengths, axes);
                assert_eq!(found, expected, "{lengths:?} {axes:?}");
            }
        }
    }

    #[test]
    fn what_lies_together_is_one_axis() {
        let plan = Plan::new(&[2, 3, 4, 5], [&[0, 1, 2], &[0, 1, 3], &[3, 2]]);
        let rows = Axis {
            length: 6,
            strides: [4, 5, 0],
        };
        assert_eq!((plan.rows, plan.apart, plan.sums), (rows, vec![], vec![]));
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let numbers = |count: usize| -> Vec<f64> { (0..count).map(|k| (k as f64).sin()).collect() };
        let (left, right) = (numbers(500 * 300), numbers(300 * 70));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads can be made").install(|| {
                let mut out = OutBuf::<f64>::new(500 * 70);
                // SAFETY: it has as many elements, and one owner.
                unsafe {
                    contract(
                        out.out(),
                        &left,
                        &right,
                        &[500, 70, 300],
                        [&[0, 1], &[0, 2], &[2, 1]],
                    );
                    out.assume_init()
                }
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
    }
}

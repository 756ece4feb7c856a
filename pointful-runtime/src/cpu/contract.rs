//! Sums of products of two arrays along axes that both have: products of matrices, in any
//! orientation and in batches.
//!
//! Each axis is in the result and the left factor (a row), in the result and the right one (a
//! column), in both factors (summed), or in all three (a batch). The longest stretch of rows, of
//! columns and of summed axes that lie in memory as one make the matrices that a library
//! multiplies; what is left of rows, columns and batches says how many such products there are, and
//! what is left of the summed axes how many are added up.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::launch;
use super::library::{Factor, PACKS_SLOWLY};
use super::short;
use super::turn::turned;
use crate::kernel::{Buf, Kernel, Out, Work, mul_absorb};

/// Rows of a matrix that one point of the work computes: enough that packing the other factor costs
/// little beside multiplying by it.
const ROWS: usize = 128;

/// A matrix of fewer points is cut along its columns too, into pieces of no less than this.
const POINTS: usize = 4;
const COLUMNS: usize = 64;

/// Tiles for which it is worth it to turn a factor round, instead of packing it as it lies for each
/// of them.
const TILES: usize = 4;

/// Multiplications and additions from which on a product is handed to the library.
const SMALL: usize = 1 << 10;

/// An axis, or several that lie in memory as one: its length, and how far apart neighbours are in
/// the result and in the factors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    length: usize,
    strides: [usize; 3],
}

/// Where along one of its axes an array takes part in a contraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Along {
    /// Everywhere; axes have numbers.
    Axis(usize),
    /// At this index.
    At(usize),
}

/// `out = Σ left · right`, or `out += Σ left · right` if sums are added, on all threads. Of each
/// array, the result's, the left factor's and the right one's, `dims` says how long its axes are,
/// row-major, and where along them it takes part. Summed are the axes that the result has not.
///
/// # Safety
/// `out` has as many elements as its axes say, and nobody else touches those that take part; they
/// are initialised if sums are added.
///
/// # Panics
/// If a factor has another number of elements than its axes say, or is taken at an index that it
/// has not.
pub unsafe fn contract<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    dims: [&[(usize, Along)]; 3],
    add: bool,
) {
    // SAFETY: promised by the caller.
    unsafe { contract_by(Product::new(out, left, right, dims, add), PACKS_SLOWLY) }
}

/// [`contract`] with products that are zero where a factor is, whatever the other.
///
/// Where no sum is NaN, no product was, and then they are what others are, but for the sign of
/// zeros. Those of finite factors are, too. So the library multiplies, and what it gives is looked through; a tile with a NaN is
/// computed again, so that what is ignored does not change a bit.
///
/// # Safety
/// As there.
///
/// # Panics
/// As there.
pub unsafe fn contract_absorb<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    dims: [&[(usize, Along)]; 3],
    add: bool,
) {
    let product = Product::new(out, left, right, dims, add).absorbing();
    // SAFETY: promised by the caller.
    unsafe { contract_by(product, PACKS_SLOWLY) }
}

/// [`contract`] of the products that a mask keeps: others are nothing, whatever their factors. The
/// mask has no axes but the left factor's, which is zero where it is false.
///
/// So the library multiplies all of them. A sum that is not NaN has no term that is, and so none of
/// the others; a tile with a NaN is computed again, of what is kept alone.
///
/// # Safety
/// As there.
///
/// # Panics
/// As there, and if the mask has an axis that the left factor has not.
pub unsafe fn contract_where<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    mask: &[bool],
    dims: [&[(usize, Along)]; 4],
) {
    let [product, mut kept] = both(out, left, right, mask, dims);
    // SAFETY: promised by the caller.
    unsafe { contract_by(product, PACKS_SLOWLY) };
    kept.cut();
    let work = Work {
        per_point: (kept.tile.iter().product::<usize>() as u64).max(1),
        acc_bytes: 0,
    };
    launch(kept.points(), work, &kept);
}

/// [`contract_where`] as [`contract_here`] does it.
///
/// # Safety
/// As there.
///
/// # Panics
/// As there.
pub unsafe fn contract_where_here<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    mask: &[bool],
    dims: [&[(usize, Along)]; 4],
) {
    // The sums of all products are there before it is asked which are NaN.
    for product in both(out, left, right, mask, dims) {
        (0..product.points()).for_each(|point| product.point(point));
    }
}

/// A contraction of all products, and after it what is left to do where a mask keeps some of them.
fn both<'a, T: Factor>(
    out: Out<T>,
    left: &'a [T],
    right: &'a [T],
    mask: &'a [bool],
    dims: [&'a [(usize, Along)]; 4],
) -> [Product<'a, T>; 2] {
    let [own, of_left, of_right, _] = dims;
    let all = || Product::new(out, left, right, [own, of_left, of_right], false);
    [all(), all().keeping(mask, dims)]
}

/// [`contract`]; with `turn`, factors that lie [across](Product::crosswise) are turned round
/// before.
///
/// # Safety
/// As there.
unsafe fn contract_by<T: Factor>(mut product: Product<'_, T>, turn: bool) {
    product.cut();
    let across = product.crosswise().filter(|_| turn);
    let turned = across.map(|factor| product.turned(factor));
    // It does not outlive what has been turned.
    let mut product = product;
    match &turned {
        Some((1, factor)) => product.left = factor,
        Some((_, factor)) => product.right = factor,
        None => {}
    }
    let Plan { summed, sums, .. } = &product.plan;
    let products = product.tile.iter().product::<usize>() * summed.length * points(sums);
    // The library multiplies and adds in 0.01 ns, a fourth of what an operation takes otherwise.
    let work = Work {
        per_point: (products as u64 / 4).max(1),
        acc_bytes: 0,
    };
    launch(product.points(), work, &product);
}

/// [`contract`] on the calling thread, in pieces as large as may be: what a kernel does by the way.
///
/// # Safety
/// As there.
///
/// # Panics
/// As there.
pub unsafe fn contract_here<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    dims: [&[(usize, Along)]; 3],
    add: bool,
) {
    let product = Product::new(out, left, right, dims, add);
    (0..product.points()).for_each(|point| product.point(point));
}

/// [`contract_absorb`] as [`contract_here`] does it.
///
/// # Safety
/// As there.
///
/// # Panics
/// As there.
pub unsafe fn contract_absorb_here<T: Factor>(
    out: Out<T>,
    left: &[T],
    right: &[T],
    dims: [&[(usize, Along)]; 3],
    add: bool,
) {
    let product = Product::new(out, left, right, dims, add).absorbing();
    (0..product.points()).for_each(|point| product.point(point));
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
    /// The plan, and where each array begins.
    fn new(dims: [&[(usize, Along)]; 3]) -> (Self, [usize; 3]) {
        let mut start = [0; 3];
        let mut all: BTreeMap<usize, ([bool; 3], Axis)> = BTreeMap::new();
        for (array, dims) in dims.iter().enumerate() {
            let mut stride = 1;
            for &(length, along) in dims.iter().rev() {
                match along {
                    Along::Axis(number) => {
                        let none = Axis {
                            length,
                            strides: [0; 3],
                        };
                        let (has, axis) = all.entry(number).or_insert(([false; 3], none));
                        assert_eq!(axis.length, length, "an axis has two lengths");
                        has[array] = true;
                        axis.strides[array] = stride;
                    }
                    Along::At(index) => {
                        assert!(index < length, "index {index} of {length}");
                        start[array] += index * stride;
                    }
                }
                stride *= length;
            }
        }
        let mut groups: [Vec<Axis>; 4] = Default::default();
        for (has, axis) in all.into_values() {
            let group = match has {
                [true, true, false] => 0,
                [false, true, true] => 1,
                [true, false, true] => 2,
                [true, true, true] => 3,
                _ => panic!("an axis of one array alone is no part of a contraction"),
            };
            groups[group].push(axis);
        }
        let [rows, summed, columns, mut apart] = groups.map(joined);
        let (rows, more) = longest(rows);
        apart.extend(more);
        let (columns, more) = longest(columns);
        apart.extend(more);
        let (summed, sums) = longest(summed);
        let plan = Self {
            rows,
            summed,
            columns,
            apart,
            sums,
        };
        (plan, start)
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

/// In the time in which one element is copied so many are looked at.
const LOOKS: usize = 8;

/// Whether something holds of an element: asked of several at once, in vectors.
fn any<T: Copy>(elements: &[T], holds: impl Fn(T) -> bool) -> bool {
    let (blocks, rest) = elements.as_chunks::<16>();
    let mut found = [false; 16];
    for block in blocks {
        for (found, &element) in found.iter_mut().zip(block) {
            *found |= holds(element);
        }
    }
    found.contains(&true) || rest.iter().any(|&element| holds(element))
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

/// Which products are terms of a sum.
enum Terms<'a> {
    All,
    /// Those with a zero are zero, whatever the other factor.
    Absorbing,
    /// Those that a mask keeps, of sums that all have been computed of.
    Kept(Mask<'a>),
}

/// A mask over axes of one of the factors.
struct Mask<'a> {
    mask: &'a [bool],
    dims: &'a [(usize, Along)],
    /// That factor's axes, and which one it is.
    of: &'a [(usize, Along)],
    factor: usize,
    /// The mask for each element of the factor, once it is needed.
    spread: OnceLock<Vec<bool>>,
}

impl Mask<'_> {
    /// Whether the products of an element of the factor are kept.
    fn keeps(&self, element: usize) -> bool {
        self.spread.get_or_init(|| self.spread())[element]
    }

    fn spread(&self) -> Vec<bool> {
        let count = |dims: &[(usize, Along)]| dims.iter().map(|dim| dim.0).product::<usize>();
        let (mut start, mut strides) = (0, BTreeMap::new());
        let mut stride = 1;
        for &(length, along) in self.dims.iter().rev() {
            match along {
                Along::Axis(number) => drop(strides.insert(number, stride)),
                Along::At(index) => start += index * stride,
            }
            stride *= length;
        }
        let steps = self.of.iter().map(|&(length, along)| match along {
            Along::Axis(number) => (length, strides.get(&number).copied().unwrap_or(0)),
            Along::At(_) => (length, 0),
        });
        let steps: Vec<(usize, usize)> = steps.collect();
        let place = |element: usize| {
            let step = |(rest, place): (usize, usize), &(length, stride): &(usize, usize)| {
                (rest / length, place + rest % length * stride)
            };
            steps.iter().rev().fold((element, start), step).1
        };
        (0..count(self.of))
            .map(|element| self.mask[place(element)])
            .collect()
    }
}

/// A contraction on its way: a point is a tile of one of its products of matrices.
struct Product<'a, T> {
    out: Out<T>,
    left: &'a [T],
    right: &'a [T],
    /// Where each of them begins.
    start: [usize; 3],
    plan: Plan,
    /// Rows and columns of a tile.
    tile: [usize; 2],
    /// Whether sums are added to what is there.
    add: bool,
    /// Which products are terms.
    terms: Terms<'a>,
    /// The factors with zeros for what is not finite, once they are needed.
    finite: OnceLock<[Vec<T>; 2]>,
    /// Whether the left factor is the right one here.
    turned_round: bool,
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

impl<'a, T: Factor> Product<'a, T> {
    fn new(
        out: Out<T>,
        left: &'a [T],
        right: &'a [T],
        dims: [&[(usize, Along)]; 3],
        add: bool,
    ) -> Self {
        let count = |dims: &[(usize, Along)]| dims.iter().map(|dim| dim.0).product::<usize>();
        assert_eq!(left.len(), count(dims[1]), "the left factor has other axes");
        assert_eq!(
            right.len(),
            count(dims[2]),
            "the right factor has other axes"
        );
        let (mut left, mut right) = (left, right);
        let (mut plan, mut start) = Plan::new(dims);
        let turned_round = plan.rows.length < plan.columns.length;
        if turned_round {
            // Turned round, so that there is more to be shared out.
            (plan, start) = Plan::new([dims[0], dims[2], dims[1]]);
            (left, right) = (right, left);
        }
        Self {
            out,
            left,
            right,
            start,
            tile: [plan.rows.length, plan.columns.length].map(|length| length.max(1)),
            plan,
            add,
            terms: Terms::All,
            finite: OnceLock::new(),
            turned_round,
        }
    }

    /// What is left to do when all products have been summed, where a mask keeps some of them.
    fn keeping(mut self, mask: &'a [bool], dims: [&'a [(usize, Along)]; 4]) -> Self {
        let [_, of, _, dims] = dims;
        let has = |&(_, along): &(usize, Along)| {
            matches!(along, Along::At(_)) || of.iter().any(|dim| dim.1 == along)
        };
        assert!(
            dims.iter().all(has),
            "the mask has an axis that the left factor has not"
        );
        let count = dims.iter().map(|dim| dim.0).product::<usize>();
        assert_eq!(mask.len(), count, "the mask has other axes");
        self.terms = Terms::Kept(Mask {
            mask,
            dims,
            of,
            factor: if self.turned_round { 2 } else { 1 },
            spread: OnceLock::new(),
        });
        self
    }

    /// The same, of products that are zero where a factor is. Those of finite factors are. That is
    /// looked for first, unless it takes longer than to keep what would be added to once more: an
    /// element is copied in the time of some looks.
    fn absorbing(mut self) -> Self {
        let finite = |factor: &[T]| !any(factor, |element| !element.is_finite());
        let factors = [self.left, self.right];
        let looked = self.add && self.is_looked_through();
        if !(looked && factors.into_iter().all(finite)) {
            self.terms = Terms::Absorbing;
        }
        self
    }

    /// Whether all factors are looked at in less time than the results are copied in.
    fn is_looked_through(&self) -> bool {
        let Plan {
            rows,
            columns,
            apart,
            ..
        } = &self.plan;
        let results = rows.length * columns.length * points(apart);
        self.left.len() + self.right.len() < results * LOOKS
    }

    /// Cuts products into tiles for several threads.
    fn cut(&mut self) {
        let [rows, columns] = [self.plan.rows.length, self.plan.columns.length];
        let pieces = POINTS.div_ceil(rows.div_ceil(ROWS).max(1));
        let across = columns.div_ceil(pieces).next_multiple_of(COLUMNS);
        self.tile = [rows.min(ROWS), columns.min(across)].map(|length| length.max(1));
    }

    /// How many tiles a product is: along its rows, and along its columns.
    fn tiles(&self) -> [usize; 2] {
        let [rows, columns] = self.tile;
        [
            self.plan.rows.length.div_ceil(rows),
            self.plan.columns.length.div_ceil(columns),
        ]
    }

    /// How many points the work is.
    fn points(&self) -> usize {
        let [rows, columns] = self.tiles();
        rows * columns * points(&self.plan.apart)
    }

    /// The factor that lies across, if it is needed for several tiles: its neighbours are summed,
    /// and those of the result are far apart in it.
    fn crosswise(&self) -> Option<usize> {
        let Plan {
            rows,
            summed,
            columns,
            ..
        } = &self.plan;
        let (factor, along, other) = match [rows, columns].map(|axis| axis.strides[0]) {
            [_, 1] => (2, columns, rows),
            [1, _] => (1, rows, columns),
            _ => return None,
        };
        let across = summed.strides[factor] == 1 && along.strides[factor] > 1;
        (across && other.length >= TILES * ROWS).then_some(factor)
    }

    /// A factor as the library wants it; from now on the plan is about that.
    fn turned(&mut self, factor: usize) -> (usize, Buf<T>) {
        let plan = &mut self.plan;
        let along = match factor {
            1 => &mut plan.rows,
            _ => &mut plan.columns,
        };
        let matrices = plan.apart.iter().chain(&plan.sums);
        let matrices = matrices.filter(|axis| axis.strides[factor] > 0);
        let turned = turned(
            &[self.left, self.right][factor - 1][self.start[factor]..],
            [along.length, plan.summed.length],
            along.strides[factor],
            matrices
                .map(|axis| [axis.length, axis.strides[factor]])
                .collect(),
        );
        self.start[factor] = 0;
        plan.summed.strides[factor] = along.length;
        along.strides[factor] = 1;
        let mut stride = along.length * plan.summed.length;
        for axis in plan.apart.iter_mut().chain(&mut plan.sums).rev() {
            if axis.strides[factor] > 0 {
                axis.strides[factor] = stride;
                stride *= axis.length;
            }
        }
        (factor, turned)
    }

    fn point(&self, point: usize) {
        let Plan {
            rows,
            summed,
            columns,
            apart,
            ..
        } = &self.plan;
        let [down, across] = self.tiles();
        let mut here = offsets(apart, point / (down * across));
        let row = point / across % down * self.tile[0];
        let column = point % across * self.tile[1];
        for (array, here) in here.iter_mut().enumerate() {
            *here +=
                self.start[array] + row * rows.strides[array] + column * columns.strides[array];
        }
        let size = [
            (rows.length - row).min(self.tile[0]),
            summed.length,
            (columns.length - column).min(self.tile[1]),
        ];
        let factors = [self.left, self.right];
        let mut before = Vec::new();
        match &self.terms {
            Terms::All => return self.multiply(size, here, factors),
            Terms::Absorbing => {
                if self.add {
                    before = self.elements(size, here);
                }
                self.multiply(size, here, factors);
            }
            Terms::Kept(_) => {}
        }
        if self.has_nan(size, here) {
            self.multiply_again(size, here, &before);
        }
    }

    /// A product, which is a term of a sum, of these elements of the factors.
    fn term(&self, left: usize, right: usize) -> T {
        let [a, b] = [self.left[left], self.right[right]];
        match &self.terms {
            Terms::All => a * b,
            Terms::Absorbing => mul_absorb(a, b),
            Terms::Kept(mask) => match mask.keeps([left, right][mask.factor - 1]) {
                true => a * b,
                false => T::ZERO,
            },
        }
    }

    /// Whether an element of a tile is NaN.
    fn has_nan(&self, [rows, _, columns]: [usize; 3], here: [usize; 3]) -> bool {
        let [down, across] = [&self.plan.rows, &self.plan.columns].map(|axis| axis.strides[0]);
        // Neighbours in memory are looked at together.
        let [(rows, down), (columns, across)] = match down {
            1 => [(columns, across), (rows, down)],
            _ => [(rows, down), (columns, across)],
        };
        let mut starts = (0..rows).map(|row| here[0] + row * down);
        if across != 1 {
            // SAFETY: they are the tile's own, and have been computed.
            let read = |place| unsafe { self.out.read(place) };
            let nan = |start| (0..columns).any(|k| T::is_nan(read(start + k * across)));
            return starts.any(nan);
        }
        starts.any(|start| {
            let row = self.out.start().wrapping_add(start);
            // SAFETY: as above, and nobody writes while they are looked at.
            any(
                unsafe { std::slice::from_raw_parts(row, columns) },
                T::is_nan,
            )
        })
    }

    /// The elements of a tile, row by row.
    fn elements(&self, [rows, _, columns]: [usize; 3], here: [usize; 3]) -> Vec<T> {
        let [down, across] = [&self.plan.rows, &self.plan.columns].map(|axis| axis.strides[0]);
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        // SAFETY: they are the tile's own, and initialised: they are added to, or have been computed.
        let read = |(row, column)| unsafe { self.out.read(here[0] + row * down + column * across) };
        places.map(read).collect()
    }

    /// A tile, of those products alone that are terms: the library multiplies what is finite. A sum of
    /// which something else is a term is infinite or NaN itself.
    fn multiply_again(&self, size: [usize; 3], here: [usize; 3], before: &[T]) {
        let Plan {
            rows,
            summed,
            columns,
            sums,
            ..
        } = &self.plan;
        let number = |row: usize, column: usize| row * size[2] + column;
        if self.add {
            self.each(size, here, false, |row, column| before[number(row, column)]);
        }
        let finite = self.finite.get_or_init(|| {
            [self.left, self.right].map(|factor| {
                let finite = |&value: &T| if value.is_finite() { value } else { T::ZERO };
                factor.iter().map(finite).collect()
            })
        });
        self.multiply(size, here, [&finite[0], &finite[1]]);
        let found = self.elements(size, here);
        self.each(size, here, false, |row, column| {
            let mut sum = before.get(number(row, column)).copied().unwrap_or(T::ZERO);
            for round in 0..points(sums) {
                let there = offsets(sums, round);
                let start = |array: usize, axis: &Axis, place: usize| {
                    here[array] + there[array] + place * axis.strides[array]
                };
                let [left, right] = [start(1, rows, row), start(2, columns, column)];
                for k in 0..summed.length {
                    sum += self.term(left + k * summed.strides[1], right + k * summed.strides[2]);
                }
            }
            match sum.is_finite() {
                true => found[number(row, column)],
                false => sum,
            }
        });
    }

    /// A tile, by the library.
    fn multiply(&self, size: [usize; 3], here: [usize; 3], factors: [&[T]; 2]) {
        let Plan {
            rows,
            summed,
            columns,
            sums,
            ..
        } = &self.plan;
        let again = points(sums);
        if summed.length * again == 0 {
            return self.each(size, here, self.add, |_, _| T::ZERO);
        }
        let is_small = size.iter().product::<usize>() * again <= SMALL;
        let signed = |strides: [usize; 2]| strides.map(|stride| stride as isize);
        for round in 0..again {
            let there = offsets(sums, round);
            let [left, right] = [1, 2].map(|array| here[array] + there[array]);
            let (a, b) = (&factors[0][left..], &factors[1][right..]);
            let [of_a, of_b, of_c] = [
                [rows.strides[1], summed.strides[1]],
                [summed.strides[2], columns.strides[2]],
                [rows.strides[0], columns.strides[0]],
            ];
            let add = self.add || round > 0;
            // SAFETY: all strides are those of the arrays' own axes, so every element is in bounds: `contract` has compared the factors' lengths,
            // and its caller promises that of the result, of which points have different rows or places of other axes.
            unsafe {
                let c = self.out.start().add(here[0]);
                if short::multiply(size, (a.as_ptr(), of_a), (b.as_ptr(), of_b), (c, of_c), add) {
                    continue;
                }
                if !is_small {
                    let a = (a.as_ptr(), signed(of_a));
                    let b = (b.as_ptr(), signed(of_b));
                    T::multiply(size, a, b, (c, signed(of_c)), add);
                    continue;
                }
            }
            self.each(size, here, add, |row, column| {
                let mut sum = T::ZERO;
                for k in 0..summed.length {
                    sum += a[row * of_a[0] + k * of_a[1]] * b[k * of_b[0] + column * of_b[1]];
                }
                sum
            });
        }
    }

    /// Computes each element of some rows, or adds to it.
    fn each(
        &self,
        [rows, _, columns]: [usize; 3],
        here: [usize; 3],
        add: bool,
        value: impl Fn(usize, usize) -> T,
    ) {
        for row in 0..rows {
            for column in 0..columns {
                let [own, other] = [self.plan.rows, self.plan.columns].map(|axis| axis.strides[0]);
                let at = here[0] + row * own + column * other;
                let mut sum = value(row, column);
                // SAFETY: as above.
                unsafe {
                    if add {
                        sum += self.out.read(at);
                    }
                    self.out.write(at, sum);
                };
            }
        }
    }
}

#[cfg(test)]
mod absorb_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::OutBuf;

    /// Axes of these lengths, everywhere.
    fn dims(lengths: &[usize], axes: &[usize]) -> Vec<(usize, Along)> {
        let dim = |&axis: &usize| (lengths[axis], Along::Axis(axis));
        axes.iter().map(dim).collect()
    }

    /// Whole numbers of few bits, whose products and sums have no rounding.
    fn numbers(count: usize, prime: usize) -> Vec<f64> {
        (0..count).map(|k| (k * prime % 11) as f64 - 5.0).collect()
    }

    /// What `contract` gives, and the sum of products.
    fn both(lengths: &[usize], axes: [&[usize]; 3]) -> (Vec<f64>, Vec<f64>) {
        let count = |axes: &[usize]| axes.iter().map(|&axis| lengths[axis]).product::<usize>();
        let (left, right) = (numbers(count(axes[1]), 7), numbers(count(axes[2]), 5));
        let dims = axes.map(|own| dims(lengths, own));
        let dims = dims.each_ref().map(Vec::as_slice);
        let [plain, found] = [false, true].map(|turn| {
            let mut out = OutBuf::new(count(axes[0]));
            // SAFETY: it has as many elements, and one owner; every element is written.
            unsafe {
                contract_by(Product::new(out.out(), &left, &right, dims, false), turn);
                out.assume_init().to_vec()
            }
        });
        assert_eq!(plain, found, "turned round");
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
    fn slices_of_arrays_and_sums_that_are_added() {
        // c[p, m, n] of all p at one, += Σ a[m, q, k] b[k, n, r] at one q and one r.
        for [p, m, n, q, k, r] in [
            [1, 1, 1, 1, 1, 1],
            [2, 3, 4, 5, 2, 3],
            [3, 150, 9, 2, 20, 2],
            [2, 5, 200, 3, 7, 1],
            [2, 3, 2, 2, 0, 3],
            [2, 0, 2, 2, 3, 3],
        ] {
            let (left, right) = (numbers(m * q * k, 7), numbers(k * n * r, 5));
            let dims: [&[(usize, Along)]; 3] = [
                &[
                    (p, Along::At(p - 1)),
                    (m, Along::Axis(0)),
                    (n, Along::Axis(1)),
                ],
                &[
                    (m, Along::Axis(0)),
                    (q, Along::At(q / 2)),
                    (k, Along::Axis(2)),
                ],
                &[
                    (k, Along::Axis(2)),
                    (n, Along::Axis(1)),
                    (r, Along::At(r - 1)),
                ],
            ];
            for add in [false, true] {
                let before = numbers(p * m * n, 3);
                let mut expected = before.clone();
                for i in 0..m {
                    for j in 0..n {
                        let products = (0..k).map(|s| {
                            left[(i * q + q / 2) * k + s] * right[(s * n + j) * r + r - 1]
                        });
                        let at = ((p - 1) * m + i) * n + j;
                        expected[at] = products.sum::<f64>() + if add { before[at] } else { 0.0 };
                    }
                }
                for here in [false, true] {
                    let mut out = Buf::from(before.clone());
                    // SAFETY: it has as many elements, initialised, and one owner.
                    unsafe {
                        if here {
                            contract_here(out.out(), &left, &right, dims, add);
                        } else {
                            contract(out.out(), &left, &right, dims, add);
                        }
                    }
                    assert_eq!(&out[..], expected, "{:?}", [p, m, n, q, k, r]);
                }
            }
        }
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
            // Of which two are short.
            [300, 2, 3],
            [2, 300, 1],
            [4, 3, 500],
            [2, 1, 2000],
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
    fn factors_that_lie_across_are_turned_round() {
        for lengths in [
            [3, 512, 9, 7, 2],
            [1, 600, 70, 33, 1],
            [2, 513, 2, 2, 3],
            [2, 520, 3, 0, 3],
        ] {
            // Each of them, in batches of sums, and of several columns that are no one axis.
            for axes in [
                [&[0, 1, 2][..], &[0, 4, 1, 3], &[4, 0, 2, 3]],
                [&[0, 2, 1], &[0, 4, 1, 3], &[4, 0, 2, 3]],
                [&[1, 0, 2], &[4, 1, 3], &[2, 4, 0, 3]],
            ] {
                let (found, expected) = both(&lengths, axes);
                assert_eq!(found, expected, "{lengths:?} {axes:?}");
            }
        }
        // A part of a larger array.
        let (m, n, k) = (600, 5, 12);
        let (left, right) = (numbers(m * k, 7), numbers(3 * n * k, 5));
        let own = |axes: &[usize]| dims(&[m, n, k], axes);
        let part: Vec<_> = [(3, Along::At(1))]
            .into_iter()
            .chain(own(&[1, 2]))
            .collect();
        let found = [
            (&right[n * k..2 * n * k], &own(&[1, 2])),
            (&right[..], &part),
        ];
        let [whole, part] = found.map(|(right, axes)| {
            let mut out = OutBuf::new(m * n);
            // SAFETY: it has as many elements, and one owner; every element is written.
            unsafe {
                let dims: [&[(usize, Along)]; 3] = [&own(&[0, 1]), &own(&[0, 2]), axes];
                contract_by(Product::new(out.out(), &left, right, dims, false), true);
                out.assume_init()
            }
        });
        assert_eq!(whole[..], part[..]);
    }

    #[test]
    fn zeros_absorb_what_is_no_number() {
        for ([m, n, k], add) in [
            ([3, 2, 4], false),
            ([9, 70, 33], true),
            // More factors than are looked at before.
            ([3, 2, 200], true),
            ([140, 65, 40], false),
        ] {
            // Where the left factor is zero the right one is no number.
            let left: Vec<f64> = (0..m * k).map(|at| (at % k % 3) as f64).collect();
            let right = |bad: f64| -> Vec<f64> {
                let row = |at: usize| match at / n % 3 {
                    0 => bad,
                    _ => (at as f64).sin(),
                };
                (0..k * n).map(row).collect()
            };
            let run = |left: &[f64], bad: f64| {
                let own = [&[0, 1], &[0, 2], &[2, 1]].map(|own| dims(&[m, n, k], own));
                let mut out = OutBuf::<f64>::new(m * n);
                // SAFETY: it has as many elements, and one owner; every element is written before.
                unsafe {
                    (0..m * n).for_each(|at| out.out().write(at, at as f64));
                    let own = own.each_ref().map(Vec::as_slice);
                    contract_absorb(out.out(), left, &right(bad), own, add);
                    out.assume_init()
                }
            };
            let numbers = run(&left, 0.5);
            for bad in [f64::NAN, f64::INFINITY] {
                assert_eq!(run(&left, bad)[..], numbers[..]);
            }
            let mut met = left;
            met[0] = 1.0;
            let found = run(&met, f64::NAN);
            assert!(found[..n].iter().all(|sum| sum.is_nan()));
            assert_eq!(found[n..], numbers[n..]);
        }
    }

    #[test]
    fn what_lies_together_is_one_axis() {
        let axes: [&[usize]; 3] = [&[0, 1, 2], &[0, 1, 3], &[3, 2]];
        let dims = axes.map(|own| dims(&[2, 3, 4, 5], own));
        let (plan, _) = Plan::new(dims.each_ref().map(Vec::as_slice));
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
                    let dims = [&[0, 1], &[0, 2], &[2, 1]].map(|own| dims(&[500, 70, 300], own));
                    let dims = dims.each_ref().map(Vec::as_slice);
                    contract(out.out(), &left, &right, dims, false);
                    out.assume_init()
                }
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
    }
}

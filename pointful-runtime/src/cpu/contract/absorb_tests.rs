//! Random contractions of absorbing products, and of those that a mask keeps, of any shape and in
//! any layout, beside plain loops.

use super::*;

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A contraction has no more products than these.
const PRODUCTS: usize = 2000;

/// Which of the result, the left factor and the right one have an axis.
const KINDS: [[bool; 3]; 4] = [
    [true, true, false],
    [false, true, true],
    [true, false, true],
    [true, true, true],
];

/// Of each array, how long its axes are and where along them it takes part.
type Dims = [Vec<(usize, Along)>; 3];

/// Lengths of a contraction's axes, and the axes of each array in some order, some of them at one
/// index alone.
fn random_dims(random: &mut Random) -> (Vec<usize>, Dims) {
    let (mut lengths, mut dims) = (Vec::new(), Dims::default());
    for (kind, most) in KINDS.into_iter().zip([2, 2, 2, 1]) {
        for _ in 0..random.below(most + 1) {
            let length = random.pick(&[0, 1, 2, 2, 3, 3, 4, 5, 7, 9, 17, 40]);
            let length = length.min(PRODUCTS / lengths.iter().product::<usize>().max(1));
            for (own, _) in dims.iter_mut().zip(kind).filter(|(_, has)| *has) {
                let at = random.below(own.len() + 1);
                own.insert(at, (length, Along::Axis(lengths.len())));
            }
            lengths.push(length);
        }
    }
    for own in &mut dims {
        if random.below(4) == 0 {
            let length = 1 + random.below(3);
            let along = Along::At(random.below(length));
            let at = random.below(own.len() + 1);
            own.insert(at, (length, along));
        }
    }
    (lengths, dims)
}

/// Small whole numbers, whose sums have no rounding, a third of them zero; and once in so many
/// places, if at all, what is no number.
fn elements<T: Factor>(
    random: &mut Random,
    dims: &[(usize, Along)],
    seldom: Option<usize>,
    number: fn(f64) -> T,
) -> Vec<T> {
    let count = dims.iter().map(|dim| dim.0).product::<usize>();
    let element = |_| match seldom {
        Some(seldom) if random.below(seldom) == 0 => {
            random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])
        }
        _ => random.pick(&[0.0, 0.0, -1.0, 1.0, 2.0, -3.0]),
    };
    (0..count).map(element).map(number).collect()
}

/// All indices below these lengths.
fn indices(lengths: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..lengths.iter().product()).map(move |mut point: usize| {
        let mut index = vec![0; lengths.len()];
        for (index, length) in index.iter_mut().zip(lengths).rev() {
            (*index, point) = (point % length, point / length);
        }
        index
    })
}

/// Where an array has the element at these indices of all axes.
fn place(dims: &[(usize, Along)], index: &[usize]) -> usize {
    dims.iter().fold(0, |at, &(length, along)| match along {
        Along::Axis(axis) => at * length + index[axis],
        Along::At(index) => at * length + index,
    })
}

/// The sums, product for product.
fn summed<T: Factor>(
    mut out: Vec<T>,
    lengths: &[usize],
    dims: &Dims,
    add: bool,
    product: impl Fn(&[usize], [usize; 2]) -> T,
) -> Vec<T> {
    let place = |array: usize, index: &[usize]| place(&dims[array], index);
    if !add {
        let has = |axis: usize| dims[0].iter().any(|dim| dim.1 == Along::Axis(axis));
        let lengths = lengths.iter().enumerate();
        let own: Vec<usize> = lengths.map(|(k, &n)| if has(k) { n } else { 1 }).collect();
        for index in indices(&own) {
            out[place(0, &index)] = T::ZERO;
        }
    }
    for index in indices(lengths) {
        let [o, l, r] = [0, 1, 2].map(|array| place(array, &index));
        out[o] += product(&index, [l, r]);
    }
    out
}

/// Whether numbers are the same, NaN among them.
fn same<T: Factor + PartialEq>(found: &[T], expected: &[T]) -> bool {
    let same = |(&a, &b): (&T, &T)| a == b || (T::is_nan(a) && T::is_nan(b));
    found.len() == expected.len() && found.iter().zip(expected).all(same)
}

/// How often each way of absorbing was gone.
#[derive(Default)]
struct Met {
    /// Sums are added, and there are few factors: they are all finite, or not.
    finite: usize,
    infinite: usize,
    /// There are too many to look at.
    many: usize,
    /// A product that is not absorbed is NaN, and the sum is a number.
    again: usize,
}

fn check<T: Factor + PartialEq>(seed: u64, number: fn(f64) -> T, met: &mut Met) {
    let random = &mut Random(seed);
    let (lengths, dims) = random_dims(random);
    let seldom = random.pick(&[None, Some(3), Some(30)]);
    let add = random.below(3) > 0;
    let before = elements(
        random,
        &dims[0],
        seldom.filter(|_| seed.is_multiple_of(4)),
        number,
    );
    let [left, right] = [&dims[1], &dims[2]].map(|own| elements(random, own, seldom, number));
    let expected = summed(before.clone(), &lengths, &dims, add, |_, [l, r]| {
        mul_absorb(left[l], right[r])
    });
    let own = dims.each_ref().map(Vec::as_slice);
    let run = |contract: unsafe fn(Out<T>, &[T], &[T], [&[(usize, Along)]; 3], bool)| {
        let mut out = Buf::from(before.clone());
        // SAFETY: it has as many elements as its axes say, initialised, and one owner.
        unsafe { contract(out.out(), &left, &right, own, add) };
        out.to_vec()
    };
    for contract in [contract_absorb::<T>, contract_absorb_here::<T>] {
        let found = run(contract);
        assert!(
            same(&found, &expected),
            "seed {seed}, {dims:?}, added: {add}: {left:?} by {right:?} is {found:?}, not {expected:?}"
        );
    }
    let mut out = Buf::from(before.clone());
    let product = Product::new(out.out(), &left, &right, own, add).absorbing();
    let finite = |factor: &[T]| factor.iter().all(|element| element.is_finite());
    let are_finite = finite(&left) && finite(&right);
    met.finite += usize::from(matches!(product.terms, Terms::All));
    met.infinite += usize::from(add && product.is_looked_through() && !are_finite);
    met.many += usize::from(add && !product.is_looked_through());
    let nans = |numbers: &[T]| numbers.iter().filter(|&&x| T::is_nan(x)).count();
    met.again += usize::from(nans(&run(contract::<T>)) > nans(&expected));
}

#[test]
fn zeros_absorb_in_random_contractions() {
    let mut met = Met::default();
    for seed in 0..600 {
        match seed % 2 {
            0 => check::<f64>(seed, |x| x, &mut met),
            _ => check::<f32>(seed, |x| x as f32, &mut met),
        }
    }
    let Met {
        finite,
        infinite,
        many,
        again,
    } = met;
    assert!(
        [finite, infinite, many, again]
            .iter()
            .all(|&times| times >= 20),
        "few factors are finite {finite} times and not {infinite} times, many {many} times; \
         {again} times a zero absorbs what is no number"
    );
}

/// How often a product that a mask does not keep is NaN where the sum is not, and how often the sum
/// is NaN by one that it keeps.
fn check_kept<T: Factor + PartialEq>(seed: u64, number: fn(f64) -> T) -> [usize; 2] {
    let random = &mut Random(seed);
    let (lengths, dims) = random_dims(random);
    let seldom = random.pick(&[None, Some(3), Some(30), Some(100)]);
    let mut of_mask: Vec<(usize, Along)> = Vec::new();
    for &dim in &dims[1] {
        let at = random.below(of_mask.len() + 1);
        match dim.1 {
            Along::Axis(_) if random.below(4) > 0 => of_mask.insert(at, dim),
            Along::Axis(_) => {}
            Along::At(_) => of_mask.insert(at, (3, Along::At(random.below(3)))),
        }
    }
    let count = of_mask.iter().map(|dim| dim.0).product::<usize>();
    let mask: Vec<bool> = (0..count).map(|_| random.below(3) > 0).collect();
    let [mut left, right] = [&dims[1], &dims[2]].map(|own| elements(random, own, seldom, number));
    for index in indices(&lengths) {
        if !mask[place(&of_mask, &index)] {
            left[place(&dims[1], &index)] = T::ZERO;
        }
    }
    let before = elements(random, &dims[0], None, number);
    let expected = summed(
        before.clone(),
        &lengths,
        &dims,
        false,
        |index, [l, r]| match mask[place(&of_mask, index)] {
            true => left[l] * right[r],
            false => T::ZERO,
        },
    );
    let [own, of_left, of_right] = dims.each_ref().map(Vec::as_slice);
    for contract in [contract_where::<T>, contract_where_here::<T>] {
        let mut out = Buf::from(before.clone());
        let dims = [own, of_left, of_right, &of_mask];
        // SAFETY: it has as many elements as its axes say, and one owner.
        unsafe { contract(out.out(), &left, &right, &mask, dims) };
        let found = out.to_vec();
        assert!(
            same(&found, &expected),
            "seed {seed}, {dims:?}: {left:?} by {right:?} where {mask:?} is {found:?}, not {expected:?}"
        );
    }
    let mut out = Buf::from(before);
    // SAFETY: as above.
    unsafe { contract(out.out(), &left, &right, [own, of_left, of_right], false) };
    let nans = |numbers: &[T]| numbers.iter().filter(|&&x| T::is_nan(x)).count();
    let kept = nans(&expected);
    [usize::from(nans(&out) > kept), usize::from(kept > 0)]
}

#[test]
fn masks_keep_products_in_random_contractions() {
    let mut met = [0, 0];
    for seed in 0..600 {
        let found = match seed % 2 {
            0 => check_kept::<f64>(seed, |x| x),
            _ => check_kept::<f32>(seed, |x| x as f32),
        };
        (met.iter_mut().zip(found)).for_each(|(met, found)| *met += found);
    }
    assert!(met.iter().all(|&times| times >= 20), "{met:?}");
}

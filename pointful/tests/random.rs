//! Random numbers of the standard library: known answers, the same numbers wherever and whenever
//! they are drawn, and the distributions that they are said to have.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::lib::{
    Key, bits, categorical, exponential, fold, integers, key, normal, normal_cdf, split, threefry,
    uniform,
};
use pointful::prelude::*;

const MANY: usize = 100_000;

/// The vectors that Random123 is published with, for two words and 20 rounds.
#[test]
fn known_answers() {
    let all = u32::MAX;
    let ones = Key {
        high: all,
        low: all,
    };
    assert_eq!(threefry(key(0), 0, 0), (0x6b20_0159, 0x99ba_4efe));
    assert_eq!(threefry(ones, all, all), (0x1cb9_96fc, 0xbb00_2be7));
    let of_pi = key(0x1319_8a2e_0370_7344);
    let words = threefry(of_pi, 0x243f_6a88, 0x85a3_08d3);
    assert_eq!(words, (0xc492_3a9c, 0x483d_f7a0));
}

#[test]
fn keys_are_words_of_counters() {
    let seed = key(0x0123_4567_89ab_cdef);
    assert_eq!((seed.high, seed.low), (0x0123_4567, 0x89ab_cdef));
    let far = (7 << 32) + 5;
    let folded = fold(seed, far);
    assert_eq!((folded.high, folded.low), threefry(seed, 7, 5));
    assert_eq!(split(seed), (fold(seed, 0), fold(seed, 1)));
    let (high, low) = threefry(seed, 0, 0);
    assert_eq!(bits(seed), u64::from(high) << 32 | u64::from(low));
    assert_ne!(fold(fold(seed, 1), 2), fold(fold(seed, 2), 1));
}

#[pointful]
fn uniforms<N: IndexSet>(n: Extent<N>, key: Key) -> Table<N, f64> {
    for i in n {
        uniform(fold(key, i.ordinal()))
    }
}

#[pointful]
fn singles<N: IndexSet>(n: Extent<N>, key: Key) -> Table<N, f32> {
    for i in n {
        uniform(fold(key, i.ordinal()))
    }
}

#[pointful]
fn normals<N: IndexSet>(n: Extent<N>, key: Key) -> (Table<N, f64>, Table<N, f32>) {
    for i in n {
        let key = fold(key, i.ordinal());
        (normal(key), normal(key))
    }
}

#[pointful]
fn exponentials<N: IndexSet>(n: Extent<N>, key: Key) -> Table<N, f64> {
    for i in n {
        exponential(fold(key, i.ordinal()))
    }
}

#[pointful]
fn dice<N: IndexSet>(n: Extent<N>, key: Key) -> Table<N, i64> {
    for i in n {
        integers(fold(key, i.ordinal()), -2, 4)
    }
}

#[pointful]
fn choices<N: IndexSet>(n: Extent<N>, key: Key, scores: &Table<Fin<4>, f64>) -> Table<Fin<4>, f64> {
    let mut found = Accum::zero();
    for i in n {
        found[categorical(fold(key, i.ordinal()), scores)] += 1.0;
    }
    found.get()
}

fn many() -> Extent<Dyn> {
    Extent::new(MANY)
}

/// How far the distribution of numbers is from one with this distribution function, in units in
/// which 2 is exceeded by chance once in some thousand times (Kolmogorov and Smirnov).
fn distance(x: &[f64], distribution: impl Fn(f64) -> f64) -> f64 {
    let mut x = x.to_vec();
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let off = |(k, x): (usize, &f64)| {
        let p = distribution(*x);
        (p - k as f64 / n).max((k + 1) as f64 / n - p)
    };
    x.iter().enumerate().map(off).fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn distributions() {
    let x = uniforms(many(), key(1));
    assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
    assert!(distance(x.as_slice(), |x| x) < 2.0);
    let of_single = singles(many(), key(1));
    for (x, y) in x.iter().zip(of_single.iter()) {
        assert!(*y < 1.0 && (x - f64::from(*y)).abs() <= f64::from(f32::EPSILON) / 4.0);
    }
    let (x, y) = normals(many(), key(2));
    assert!(distance(x.as_slice(), normal_cdf) < 2.0);
    for (x, y) in x.iter().zip(y.iter()) {
        assert_eq!(*x as f32, *y);
    }
    let x = exponentials(many(), key(3));
    assert!(distance(x.as_slice(), |x| -(-x).exp_m1()) < 2.0);
    // Neighbours do not hang together.
    let pairs = uniforms(many(), key(4));
    let next = pairs.as_slice()[1..].iter().zip(pairs.iter());
    let together: f64 = next.map(|(x, y)| (x - 0.5) * (y - 0.5)).sum();
    assert!((together * 12.0 / (MANY as f64).sqrt()).abs() < 4.0);
}

/// The sum of squared deviations of counts, each divided by what is expected.
fn deviation(counts: &[f64], parts: &[f64]) -> f64 {
    let of_one = |(count, part): (&f64, &f64)| (count - part).powi(2) / part;
    counts.iter().zip(parts).map(of_one).sum()
}

#[test]
fn counts() {
    let drawn = dice(many(), key(5));
    let count = |k: i64| drawn.iter().filter(|&&x| x == k).count() as f64;
    let counts: Vec<f64> = (-2..4).map(count).collect();
    assert_eq!(counts.iter().sum::<f64>(), MANY as f64);
    // 20.5 is exceeded by chance once in a thousand times, with five degrees of freedom.
    assert!(
        deviation(&counts, &[MANY as f64 / 6.0; 6]) < 20.5,
        "{counts:?}"
    );
    let scores = Table::from([0.0, f64::NEG_INFINITY, 1.0, -2.0]);
    let counts = choices(many(), key(6), &scores);
    let total: f64 = scores.iter().map(|s| s.exp()).sum();
    assert_eq!(counts.as_slice()[1], 0.0);
    let of_possible = |t: &[f64]| [t[0], t[2], t[3]];
    let parts: Vec<f64> = scores
        .iter()
        .map(|s| s.exp() / total * MANY as f64)
        .collect();
    let deviation = deviation(&of_possible(counts.as_slice()), &of_possible(&parts));
    assert!(deviation < 13.8, "{counts:?}");
}

#[test]
#[should_panic(expected = "no integer is at least 4 and less than 4")]
fn nothing_to_draw_from() {
    integers(key(0), 4, 4);
}

#[test]
fn few_numbers_are_the_first_of_many() {
    let (few, all) = (
        uniforms(Extent::<Dyn>::new(10), key(8)),
        uniforms(many(), key(8)),
    );
    assert_eq!(few.as_slice(), &all.as_slice()[..10]);
}

/// A walk whose steps are drawn when they are taken, and again on the way back.
#[pointful]
fn walk(start: f64, spread: f64, steps: usize, key: Key) -> f64 {
    let mut x = start;
    #[checkpoint(every = 7)]
    for step in 0..steps {
        let z: f64 = normal(fold(key, step));
        x += 0.01 * spread * z * x.sin();
    }
    x
}

#[test]
fn the_same_on_the_way_back() {
    let (x, spread, steps, h) = (0.7, 1.5, 100, 1e-6);
    let (by_start, by_spread) = grad!(walk)(x, spread, steps, key(9));
    let slope = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
    let expected = slope(&|h| walk(x + h, spread, steps, key(9)));
    assert!((by_start - expected).abs() < 1e-8, "{by_start} {expected}");
    let expected = slope(&|h| walk(x, spread + h, steps, key(9)));
    assert!(
        (by_spread - expected).abs() < 1e-8,
        "{by_spread} {expected}"
    );
    let forwards = jvp!(walk)(x, spread, steps, key(9), 1.0, 0.0).1;
    assert!((forwards - by_start).abs() < 1e-12);
}

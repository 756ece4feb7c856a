//! Integers of every width, as in release builds of Rust: elements, parameters, fields, offsets.

use pointful::prelude::*;

#[pointful]
fn rotate<N: IndexSet>(x: &Table<N, f64>, r: isize) -> Table<N, f64> {
    for n in N {
        x[(n + r).wrap()]
    }
}

#[pointful]
fn wraps(a: i8, b: u8, c: i16, d: u16, e: u64, f: isize) -> (i8, u8, i16, u16, u64, isize) {
    (
        a + 1,
        b - 1,
        c * 2,
        d * d,
        e * 3 + 18446744073709551615,
        f - 1,
    )
}

#[pointful]
fn bits(x: u16, k: u32, y: f64, z: f32) -> (u32, u32, u32, u16, u16, u16, u16, u64, u32, f64, f32) {
    (
        x.count_ones(),
        x.leading_zeros(),
        x.trailing_zeros(),
        x.rotate_left(k),
        x.rotate_right(k),
        x << k,
        x >> k,
        y.to_bits(),
        z.to_bits(),
        f64::from_bits(y.to_bits() + 1),
        f32::from_bits(z.to_bits() ^ 1),
    )
}

#[pointful]
fn hashes<N: IndexSet>(x: &Table<N, u64>) -> Table<N, f64> {
    for i in N {
        let mut h = x[i];
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccd;
        h ^= h >> 33;
        (h >> 11) as f64 * (1.0 / 9007199254740992.0)
    }
}

#[pointful]
fn kept<N: IndexSet>(x: &Table<N, f64>, m: &Table<N, i16>, s: isize) -> f64 {
    sum(for i in N {
        f64::from_bits(x[i].to_bits()) * (m[i] as f64) + x[i] * x[i] * (s as f64)
    })
}

#[pointful]
struct Mixed {
    a: i16,
    b: u64,
    t: Table<Fin<2>, i8>,
}

#[pointful]
fn mixed(m: Mixed) -> Mixed {
    Mixed {
        a: m.a + 1,
        b: m.b.rotate_left(1),
        t: for i in Fin::<2> {
            m.t[i] - 1
        },
    }
}

#[pointful]
fn sums<N: IndexSet>(
    a: &Table<N, i8>,
    b: &Table<N, u64>,
    c: &Table<N, isize>,
) -> (i8, u64, isize, u64, isize, Table<N, i8>) {
    (sum(a), sum(b), prod(c), max(b), min(c), cumsum(a))
}

#[pointful]
fn distances(a: i8, b: i8, c: i64, d: i64, e: isize, f: isize) -> (u8, u64, usize) {
    (a.abs_diff(b), c.abs_diff(d), e.abs_diff(f))
}

#[pointful]
fn divided(a: isize, b: isize) -> isize {
    a / b
}

#[test]
fn offsets_are_of_any_integer() {
    let x = Table::<Dyn, f64>::from(vec![1.0, 2.0, 3.0]);
    assert_eq!(rotate(&x, -1).as_slice(), [3.0, 1.0, 2.0]);
    // The least number leaves 1 when it is divided by 3.
    assert_eq!(rotate(&x, isize::MIN).as_slice(), [2.0, 3.0, 1.0]);
}

#[test]
fn arithmetic_wraps() {
    assert_eq!(
        wraps(127, 0, 20000, 256, 2, isize::MIN),
        (-128, 255, -25536, 0, 5, isize::MAX)
    );
}

#[test]
fn bits_are_those_of_rust() {
    for (x, k, y, z) in [
        (0b1011_0000_u16, 19_u32, -1.5_f64, 2.25_f32),
        (0, 0, 0.0, -0.0),
        (u16::MAX, 16, f64::MAX, f32::MIN_POSITIVE),
    ] {
        let expected = (
            x.count_ones(),
            x.leading_zeros(),
            x.trailing_zeros(),
            x.rotate_left(k),
            x.rotate_right(k),
            x.wrapping_shl(k),
            x.wrapping_shr(k),
            y.to_bits(),
            z.to_bits(),
            f64::from_bits(y.to_bits() + 1),
            f32::from_bits(z.to_bits() ^ 1),
        );
        let found = bits(x, k, y, z);
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}

#[test]
fn random_numbers_are_hashed() {
    let x: Vec<u64> = (0..100)
        .map(|k: u64| k.wrapping_mul(u64::MAX / 7))
        .collect();
    let expected: Vec<f64> = x
        .iter()
        .map(|&x| {
            let mut h = x;
            h ^= h >> 33;
            h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
            h ^= h >> 33;
            (h >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect();
    assert_eq!(hashes(&Table::<Dyn, u64>::from(x)).as_slice(), expected);
    assert!(hashes(&Table::<Dyn, u64>::from(Vec::new())).is_empty());
}

#[test]
fn bits_and_integers_have_no_derivative() {
    let x = Table::<Dyn, f64>::from(vec![1.0, 2.0]);
    let m = Table::<Dyn, i16>::from(vec![3, -4]);
    assert_eq!(kept(&x, &m, 2), 3.0 - 8.0 + 2.0 + 8.0);
    assert_eq!(grad!(kept)(&x, &m, 2).as_slice(), [4.0, 8.0]);
    assert_eq!(jvp!(kept)(&x, &m, 2, &x), (5.0, 20.0));
    assert_eq!(hvp!(kept)(&x, &m, 2, &x).as_slice(), [4.0, 8.0]);
}

#[test]
fn fields_are_of_any_integer() {
    let given = Mixed {
        a: i16::MAX,
        b: 1 << 63,
        t: Table::from([-128_i8, 5]),
    };
    let found = mixed(given);
    assert_eq!(
        (found.a, found.b, found.t.as_slice()),
        (i16::MIN, 1, &[127_i8, 4][..])
    );
}

#[test]
fn reductions_are_of_any_integer() {
    let a = Table::<Dyn, i8>::from(vec![100, 100]);
    let b = Table::<Dyn, u64>::from(vec![u64::MAX, 2]);
    let c = Table::<Dyn, isize>::from(vec![-3, 5]);
    let (p, q, r, s, t, u) = sums(&a, &b, &c);
    assert_eq!((p, q, r, s, t), (-56, 1, -15, u64::MAX, -3));
    assert_eq!(u.as_slice(), [100, -56]);
    let none = (
        Table::<Dyn, i8>::from(Vec::new()),
        Table::<Dyn, u64>::from(Vec::new()),
        Table::<Dyn, isize>::from(Vec::new()),
    );
    let (p, q, r, s, t, u) = sums(&none.0, &none.1, &none.2);
    assert_eq!((p, q, r, s, t, u.len()), (0, 0, 1, 0, isize::MAX, 0));
}

#[test]
fn distances_are_unsigned() {
    assert_eq!(
        distances(-128, 127, i64::MIN, i64::MAX, -1, 1),
        (255, u64::MAX, 2)
    );
}

/// Sums and differences that stay in the type, for each pair of what is near its ends and zero.
macro_rules! saturating {
    ($($name:ident $int:ty),*) => {$(
        #[test]
        fn $name() {
            #[pointful]
            fn both(a: $int, b: $int) -> ($int, $int, $int, $int, u32, u32, u32) {
                (
                    a.saturating_add(b),
                    a.saturating_sub(b),
                    a.reverse_bits(),
                    a.swap_bytes(),
                    a.count_zeros(),
                    a.leading_ones(),
                    a.trailing_ones(),
                )
            }

            let near: Vec<$int> = [<$int>::MIN, 0, <$int>::MAX]
                .into_iter()
                .flat_map(|x| (0..3).flat_map(move |d| [x.wrapping_add(d), x.wrapping_sub(d)]))
                .collect();
            for &a in &near {
                for &b in &near {
                    let expected = (
                        a.saturating_add(b),
                        a.saturating_sub(b),
                        a.reverse_bits(),
                        a.swap_bytes(),
                        a.count_zeros(),
                        a.leading_ones(),
                        a.trailing_ones(),
                    );
                    assert_eq!(both(a, b), expected, "{a} {b}");
                }
            }
        }
    )*};
}

saturating!(
    saturating_i8 i8, saturating_i16 i16, saturating_i32 i32, saturating_i64 i64,
    saturating_isize isize, saturating_u8 u8, saturating_u16 u16, saturating_u32 u32,
    saturating_u64 u64, saturating_usize usize
);

#[pointful]
fn blocks(n: usize, size: usize) -> (usize, bool) {
    (n.div_ceil(size), n.is_power_of_two())
}

#[test]
fn blocks_that_hold_all() {
    for n in [0, 1, 7, 8, 9, usize::MAX] {
        for size in [1, 2, 8, usize::MAX] {
            assert_eq!(blocks(n, size), (n.div_ceil(size), n.is_power_of_two()));
        }
    }
}

#[test]
fn what_cannot_be_divided_panics() {
    assert_eq!(divided(-7, 2), -3);
    assert!(std::panic::catch_unwind(|| divided(isize::MIN, -1)).is_err());
    assert!(std::panic::catch_unwind(|| divided(1, 0)).is_err());
}

/// Elements at places of each type of integers, and behind them.
macro_rules! places {
    ($($name:ident $int:ty),*) => {$(
        #[test]
        fn $name() {
            #[pointful]
            fn at<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, k: &Table<K, $int>) -> f64 {
                sum(for i in K { x[k[i]] * x[k[i] % 2] + x.get(k[i] + 1).unwrap_or(0.5) })
            }

            let x = Table::<Dyn, f64>::from(vec![1.0, 2.0, 4.0]);
            let k = |places: Vec<$int>| Table::<Dyn, $int>::from(places);
            assert_eq!(at(&x, &k(vec![0, 1, 2])), (1.0 + 2.0) + (4.0 + 4.0) + (4.0 + 0.5));
            assert_eq!(grad!(at)(&x, &k(vec![1, 2])).as_slice(), [4.0, 4.0, 2.0]);
            assert_eq!(at(&x, &k(Vec::new())), 0.0);
            assert!(std::panic::catch_unwind(|| at(&x, &k(vec![3]))).is_err());
        }
    )*};
}

places!(
    places_by_i8 i8, places_by_i16 i16, places_by_i32 i32, places_by_i64 i64, places_by_isize isize,
    places_by_u8 u8, places_by_u16 u16, places_by_u32 u32, places_by_u64 u64, places_by_usize usize
);

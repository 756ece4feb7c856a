//! Functions that run where their tables are: on the emulated device they give the bits of the
//! host, in any order of threads and on any number of blocks.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::__private::cuda::{Emulation, compile_with};
use pointful::Error;
use pointful::prelude::*;
use pointful::stats::measure;

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
struct Row(usize);

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
struct Column(usize);

/// Numbers that look random and are the same each time, from -8 to 8.
fn numbers(n: usize) -> impl Iterator<Item = f64> {
    let mut state = 1_u64;
    (0..n).map(move |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 44) as f64 / 65536.0 - 8.0
    })
}

fn list(n: usize) -> Table<Dyn, f64> {
    numbers(n).collect()
}

fn grid(rows: usize, columns: usize) -> Table<(Row, Column), f32> {
    let values = numbers(rows * columns).map(|x| x as f32).collect();
    Table::from_vec(Extent::new((rows, columns)), values).expect("as many numbers")
}

/// The bits of results.
trait Bits {
    fn bits(&self) -> Vec<u64>;
}

macro_rules! plain_bits {
    ($($T:ty: |$x:ident| $bits:expr;)*) => {$(
        impl Bits for $T {
            fn bits(&self) -> Vec<u64> { let $x = *self; vec![$bits] }
        }
    )*};
}

plain_bits! {
    f32: |x| if x.is_nan() { 1 } else { u64::from(x.to_bits()) };
    f64: |x| if x.is_nan() { 1 } else { x.to_bits() };
    i8: |x| x as u64;
    i16: |x| x as u64;
    i32: |x| x as u64;
    i64: |x| x as u64;
    isize: |x| x as u64;
    u8: |x| x.into();
    u16: |x| x.into();
    u32: |x| x.into();
    u64: |x| x;
    usize: |x| x as u64;
    bool: |x| x.into();
}

impl<I: IndexSet, T: pointful::Element> Bits for Table<I, T>
where
    T::Repr: Bits,
{
    fn bits(&self) -> Vec<u64> {
        self.as_slice().iter().flat_map(Bits::bits).collect()
    }
}

impl<A: Bits, B: Bits> Bits for (A, B) {
    fn bits(&self) -> Vec<u64> {
        [self.0.bits(), self.1.bits()].concat()
    }
}

impl<A: Bits, B: Bits, C: Bits> Bits for (A, B, C) {
    fn bits(&self) -> Vec<u64> {
        [self.0.bits(), self.1.bits(), self.2.bits()].concat()
    }
}

/// Devices with different orders of threads, and grids.
fn devices() -> impl Iterator<Item = Device> {
    [(1, 1), (2, 3), (3, 1000)]
        .into_iter()
        .map(|(seed, blocks)| {
            Device::emulate(Emulation {
                seed,
                blocks,
                ..Emulation::default()
            })
        })
}

/// Calls a function on the host and on devices, and compares the bits: of a function that moves
/// nothing to the host.
macro_rules! same {
    ($function:expr, ($($argument:expr),* $(,)?)) => {{
        let arguments = ($($argument,)*);
        let expected = same!(@call $function, arguments.clone(), ($($argument),*));
        for device in devices() {
            let there = arguments.to_device(&device).expect("moved");
            let (found, stats) = measure(|| same!(@call $function, there, ($($argument),*)));
            // But for the record of a check that may fail.
            assert!(stats.bytes_to_host <= 40, "{} bytes have been moved to the host", stats.bytes_to_host);
            let found = found.to_host().expect("moved back");
            assert_eq!(found.bits(), expected.bits(), "{found:?}, not {expected:?}");
            // Of no points there is no kernel.
            assert_eq!(stats.device_launches > 0, !found.bits().is_empty());
        }
    }};
    (@call $function:expr, $arguments:expr, ($a:expr)) => {{ let (a,) = $arguments; $function(a) }};
    (@call $function:expr, $arguments:expr, ($a:expr, $b:expr)) => {{ let (a, b) = $arguments; $function(a, b) }};
    (@call $function:expr, $arguments:expr, ($a:expr, $b:expr, $c:expr)) => {{ let (a, b, c) = $arguments; $function(a, b, c) }};
}

#[pointful]
fn axpy<N: IndexSet>(a: f64, x: Table<N, f64>, y: Table<N, f64>) -> Table<N, f64> {
    for i in N {
        a * x[i] + y[i]
    }
}

#[test]
fn elementwise() {
    for n in [0, 1, 5, 300, 2000] {
        same!(axpy, (0.3, list(n), list(n)));
    }
}

#[pointful]
fn mixed<T: Float, N: IndexSet>(x: Table<N, T>, slope: T) -> (Table<N, T>, Table<N, bool>) {
    let y = for i in N {
        (x[i] * slope).tanh() + x[i].abs().sqrt()
    };
    (
        y,
        for i in N {
            y[i] > x[i]
        },
    )
}

#[test]
fn generic_floats_and_tuples() {
    let x: Table<Dyn, f32> = numbers(700).map(|x| x as f32).collect();
    same!(mixed, (x, 0.75_f32));
    same!(mixed, (list(700), 0.75_f64));
}

macro_rules! integers {
    ($($name:ident $T:ident;)*) => {$(
        mod $name {
            use super::*;

            #[pointful]
            fn computed<N: IndexSet>(x: Table<N, $T>, y: Table<N, $T>) -> (Table<N, $T>, Table<N, bool>, Table<N, f64>) {
                let z = for i in N {
                    let small = (y[i] & 7) + 1;
                    let wide = x[i] * y[i] + (x[i] << 3) - (y[i] >> 1);
                    let bits = x[i].reverse_bits() ^ y[i].swap_bytes();
                    (wide / small + wide % small) ^ x[i].min(y[i]) ^ bits
                };
                (z, for i in N { z[i] <= x[i] }, for i in N { z[i] as f64 * 0.5 })
            }

            #[test]
            fn of_integers() {
                let values = |k: i64| -> Table<Dyn, $T> {
                    numbers(300).map(|x| ((x * 1e6) as i64 * k) as $T).collect()
                };
                same!(computed, (values(7), values(3)));
            }
        }
    )*};
}

integers! {
    of_i8 i8;
    of_i16 i16;
    of_i32 i32;
    of_i64 i64;
    of_isize isize;
    of_u8 u8;
    of_u16 u16;
    of_u32 u32;
    of_u64 u64;
    of_usize usize;
}

#[pointful]
fn flags<N: IndexSet>(x: Table<N, bool>, y: Table<N, bool>) -> (Table<N, bool>, Table<N, u8>) {
    (
        for i in N {
            x[i] != y[i] && !x[i]
        },
        for i in N {
            if x[i] || y[i] { 3u8 } else { 5u8 }
        },
    )
}

#[test]
fn truth_values() {
    let of =
        |k: usize| -> Table<Dyn, bool> { numbers(400).map(|x| x as i64 % k as i64 == 0).collect() };
    same!(flags, (of(2), of(3)));
}

#[pointful]
fn functions<N: IndexSet>(x: Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let a = x[i].sin() * x[i].cos() + (x[i] * 1e6).tan();
        let b = (0.1 * x[i]).exp() + (x[i].abs() + 0.5).ln().powi(3) + x[i].abs().powf(0.3);
        let c = (x[i] / 9.0).asin() + x[i].atan2(a) + x[i].cbrt() + x[i].hypot(b);
        a + b * c + x[i].round().rem_euclid(3.0) - x[i].floor().to_degrees()
    }
}

#[test]
fn elementary_functions() {
    same!(functions, (list(1000),));
}

#[pointful]
fn edges(x: Table<(Row, Column), f32>) -> Table<(Row, Column), f32> {
    for (r, c) in _ {
        x[(r - 1).clamp()][c] + x[r][(c + 1).wrap()] * 0.5 + x[(r + 2).mirror()][(c - 2).mirror()]
            - x.get(r - 1, c + 1).unwrap_or(0.25)
    }
}

#[test]
fn stencils_with_edges() {
    for (rows, columns) in [(1, 1), (1, 7), (5, 3), (17, 40), (3, 0)] {
        same!(edges, (grid(rows, columns),));
    }
}

const SCALE: f32 = 0.125;
const WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];

#[pointful]
fn hotspot(
    temperature: Table<(Row, Column), f32>,
    power: Table<(Row, Column), f32>,
    steps: usize,
) -> Table<(Row, Column), f32> {
    let mut t = temperature;
    for _step in 0..steps {
        t = for (r, c) in _ {
            let here = t[r][c];
            let vertical = t[(r + 1).clamp()][c] + t[(r - 1).clamp()][c] - 2.0 * here;
            let row = sum(for k in Fin::<3> {
                WEIGHTS[k] * t[r][(c + k.ordinal() - 1).clamp()]
            });
            here + SCALE * (power[r][c] + vertical / 3.0 + row)
        };
    }
    t
}

#[test]
fn loops_of_the_host_over_kernels() {
    same!(hotspot, (grid(9, 31), grid(9, 31), 7_usize));
    same!(hotspot, (grid(1, 5), grid(1, 5), 3_usize));
}

#[pointful]
fn live(start: Table<(Row, Column), bool>, steps: usize) -> Table<(Row, Column), bool> {
    let mut field = start;
    for _step in 0..steps {
        field = for (r, c) in _ {
            let alive = count(for (dr, dc) in (Fin::<3>, Fin::<3>) {
                field[(r + dr.ordinal() - 1).wrap()][(c + dc.ordinal() - 1).wrap()]
            });
            alive == 3 || (alive == 4 && field[r][c])
        };
    }
    field
}

#[test]
fn life() {
    let field = grid(12, 11).map(|x| x > 2.0);
    same!(live, (field, 6_usize));
}

#[pointful]
fn escape(x: Table<(Row, Column), f32>, limit: u32) -> Table<(Row, Column), u32> {
    for (r, c) in _ {
        let cx = x[r][c] as f64 / 8.0;
        let cy = 0.1 * r.ordinal() as f64 - 0.5;
        let mut zx = 0.0;
        let mut zy = 0.0;
        let mut steps = 0u32;
        while zx * zx + zy * zy <= 4.0 && steps < limit {
            let next = zx * zx - zy * zy + cx;
            zy = 2.0 * zx * zy + cy;
            zx = next;
            steps += 1;
        }
        steps
    }
}

#[test]
fn loops_that_run_as_long_as_a_point_asks() {
    same!(escape, (grid(9, 20), 40_u32));
}

#[pointful]
struct State<N: IndexSet> {
    x: Table<N, f64>,
    y: Table<N, f64>,
    z: Table<N, f64>,
}

#[pointful]
fn lorenz<N: IndexSet>(start: &State<N>, steps: usize, h: f64) -> State<N> {
    let ends = for n in N {
        let mut x = start.x[n];
        let mut y = start.y[n];
        let mut z = start.z[n];
        for _t in 0..steps {
            let dx = 10.0 * (y - x);
            let dy = x * (28.0 - z) - y;
            let dz = x * y - 8.0 / 3.0 * z;
            x += h * dx;
            y += h * dy;
            z += h * dz;
        }
        (x, y, z)
    };
    State {
        x: for n in N {
            ends[n].0
        },
        y: for n in N {
            ends[n].1
        },
        z: for n in N {
            ends[n].2
        },
    }
}

#[test]
fn structs_and_inner_loops() {
    let start = State {
        x: list(300),
        y: list(300),
        z: list(300),
    };
    let expected = lorenz(&start, 20, 0.01);
    for device in devices() {
        let there = start.to_device(&device).expect("moved");
        let (found, stats) = measure(|| lorenz(&there, 20, 0.01));
        assert!(stats.device_launches > 0 && stats.bytes_to_host == 0);
        let found = found.to_host().expect("moved back");
        assert_eq!(found.x.bits(), expected.x.bits());
        assert_eq!(found.y.bits(), expected.y.bits());
        assert_eq!(found.z.bits(), expected.z.bits());
    }
}

#[pointful]
fn picked<N: IndexSet, M: IndexSet>(
    x: Table<N, f64>,
    at: Table<M, N>,
    places: Table<M, i64>,
) -> (Table<M, f64>, Table<M, N>) {
    (
        for m in M {
            x[at[m]] * 2.0 + x[places[m]]
        },
        for m in M {
            at[m]
        },
    )
}

#[test]
fn tables_of_members() {
    let (n, m) = (Extent::<Dyn>::new(50), Extent::<Column>::new(130));
    let at = Table::from_fn_into(m, n, |Column(k)| Dyn(k * k % 50));
    let places: Table<Column, i64> = Table::from_fn(m, |Column(k)| (k * 7 % 50) as i64);
    same!(picked, (list(50), at, places));
}

#[pointful]
fn rows_of_sums<N: IndexSet, K: IndexSet>(
    x: Table<(N, K), f64>,
    w: Table<K, f64>,
) -> (Table<N, f64>, Table<N, usize>, Table<N, f64>) {
    (
        for n in N {
            sum(for k in K {
                (x[n][k] * 0.5).floor() * w[k].floor()
            })
        },
        for n in N {
            argmax(for k in K {
                x[n][k]
            })
            .ordinal()
        },
        for n in N {
            max(for k in K {
                x[n][k] - w[k]
            })
        },
    )
}

#[test]
fn sums_within_a_point() {
    let x = Table::from_vec(Extent::<(Dyn, Dyn)>::new((40, 13)), numbers(520).collect())
        .expect("as many");
    same!(rows_of_sums, (x, list(13)));
}

#[pointful]
fn within_rows<N: IndexSet, M: IndexSet>(
    x: Table<(N, M), f64>,
    steps: usize,
) -> (Table<N, f64>, Table<N, f64>) {
    (
        for n in N {
            let row = for m in M {
                x[n][m].sin()
            };
            max(for j in M {
                max(for k in M {
                    (j.ordinal() as f64 + row[j]) * row[k]
                })
            })
        },
        for n in N {
            let mut row = for m in M {
                x[n][m]
            };
            for _step in 0..steps {
                row = for m in M {
                    row[(m + 1).wrap()] * 0.5 + row[m]
                };
            }
            max(row)
        },
    )
}

/// Arrays that are as long as a size are memory that the host makes for each thread, and not for each
/// point.
#[test]
fn arrays_within_a_point() {
    for (rows, columns) in [(1, 1), (40, 13), (900, 3)] {
        let numbers = numbers(rows * columns).collect();
        let x = Table::from_vec(Extent::<(Dyn, Dyn)>::new((rows, columns)), numbers);
        let x = x.expect("as many");
        same!(within_rows, (x.clone(), 0_usize));
        same!(within_rows, (x, 5_usize));
    }
}

#[pointful]
fn updated(mut x: Table<(Row, Column), f32>, by: f32) -> Table<(Row, Column), f32> {
    for (r, c) in (Row, Column) {
        x[r][c] = x[r][c] * by + 1.0;
    }
    x
}

#[pointful]
fn negate<N: IndexSet>(x: &mut Table<N, f64>) {
    for i in N {
        x[i] = -x[i];
    }
}

#[test]
fn updates_in_place() {
    same!(updated, (grid(6, 50), 3.0_f32));
    let (x, mut expected) = (list(20), list(20));
    negate(&mut expected);
    for device in devices() {
        let mut there = x.to_device(&device).expect("moved");
        negate(&mut there);
        assert_eq!(there.device(), Some(&device));
        assert_eq!(there.to_host().expect("moved back"), expected);
    }
}

mod private {
    //! A struct whose table the code of this file cannot name.

    use super::*;

    #[pointful]
    #[derive(Debug, PartialEq)]
    pub(super) struct Level<N: IndexSet> {
        heights: Table<N, f64>,
    }

    impl<N: IndexSet> Level<N> {
        pub(super) fn new(heights: Table<N, f64>) -> Self {
            Self { heights }
        }
    }

    #[pointful]
    pub(super) fn raise<N: IndexSet>(level: &mut Level<N>, by: f64) {
        for n in N {
            level.heights[n] += by;
        }
    }
}

#[pointful]
fn raise_twice<N: IndexSet>(level: &mut private::Level<N>, by: f64) {
    private::raise(level, by);
    private::raise(level, by);
}

#[test]
fn tables_of_private_fields_are_changed() {
    let expected: Table<Dyn, f64> = numbers(20).map(|x| x + 0.5 + 0.5).collect();
    for device in devices() {
        let level = private::Level::new(list(20));
        let mut there = level.to_device(&device).expect("moved");
        raise_twice(&mut there, 0.5);
        let here = there.to_host().expect("moved back");
        assert_eq!(here, private::Level::new(expected.clone()));
    }
}

#[pointful]
fn smooth<N: IndexSet>(x: Table<N, f64>, w: Table<N, f64>) -> f64 {
    sum(for i in N {
        (x[i] * x[(i + 1).wrap()]).sin() * w[i]
    })
}

#[pointful]
fn slope_of_smooth<N: IndexSet>(
    x: Table<N, f64>,
    w: Table<N, f64>,
) -> (Table<N, f64>, Table<N, f64>) {
    grad!(smooth)(x, w)
}

#[test]
fn derivatives_that_gather() {
    for n in [1, 2, 700] {
        same!(slope_of_smooth, (list(n), list(n)));
    }
    let (x, w) = (list(100), list(100));
    let expected = grad!(smooth)(x.clone(), w.clone());
    let device = Device::emulated();
    let there = (x, w).to_device(&device).expect("moved");
    let found = grad!(smooth)(there.0, there.1);
    assert_eq!(found.to_host().expect("moved back"), expected);
}

/// What a panic says, and where.
#[track_caller]
fn words<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(f()))).expect_err("it panics");
    *panic.downcast::<String>().expect("words")
}

#[pointful]
fn at<N: IndexSet, M: IndexSet>(x: Table<N, f64>, places: Table<M, i64>) -> Table<M, f64> {
    for m in M {
        x[places[m]]
    }
}

#[pointful]
fn divided<N: IndexSet>(x: Table<N, i32>, y: Table<N, i32>) -> Table<N, i32> {
    for i in N {
        x[i] / y[i]
    }
}

#[pointful]
fn asserted<N: IndexSet>(x: Table<N, f32>, most: f32) -> Table<N, f32> {
    for i in N {
        assert!(
            x[i] < most,
            "{} is not below {}, {}",
            x[i],
            most,
            i.ordinal() == 3
        );
        x[i]
    }
}

#[pointful]
fn twice<N: IndexSet>(x: Table<N, f64>, places: Table<N, i64>, steps: usize) -> Table<N, f64> {
    let mut y = x;
    for t in 0..steps {
        y = for i in N {
            y[places[i] + t as i64] + 1.0
        };
    }
    y
}

/// Fails on the host, between kernels and after them.
#[pointful]
fn chosen<N: IndexSet>(x: Table<N, f64>, places: Table<N, i64>, k: i64) -> (f64, i64) {
    let y = for i in N {
        x[places[i]]
    };
    let first = y[k];
    assert!(first < 5.0, "{} is too large at {}", first, k);
    let whole = first as i64;
    (sum(y) / first, 7 / (whole + k))
}

#[test]
fn what_fails_is_said_in_the_words_of_the_host() {
    let places = |bad: &[(usize, i64)]| -> Table<Dyn, i64> {
        let mut places = vec![1; 600];
        for &(k, place) in bad {
            places[k] = place;
        }
        places.into()
    };
    for device in devices() {
        macro_rules! panics {
            ($function:expr, ($($argument:expr),*)) => {{
                let arguments = ($($argument,)*);
                let expected = words(|| same!(@call $function, arguments.clone(), ($($argument),*)));
                let there = arguments.to_device(&device).expect("moved");
                let found = words(|| same!(@call $function, there, ($($argument),*)));
                assert_eq!(found, expected);
            }};
        }
        panics!(at, (list(10), places(&[(500, 10)])));
        panics!(at, (list(10), places(&[(400, -1)])));
        panics!(sum_of_some, (list(10), places(&[(400, -1)])));
        panics!(twice, (list(600), places(&[(400, 598)]), 5_usize));
        let of = |values: [f64; 3]| Table::<Dyn, f64>::from(values.to_vec());
        let there = |last: i64| Table::<Dyn, i64>::from(vec![0, 1, last]);
        panics!(chosen, (of([1.0, 2.0, 3.0]), there(2), 3_i64));
        panics!(chosen, (of([1.0, 2.0, 9.0]), there(2), 2_i64));
        panics!(chosen, (of([0.0, 2.0, 3.0]), there(2), 0_i64));
        // A kernel fails before the host does.
        panics!(chosen, (of([1.0, 2.0, 3.0]), there(5), 3_i64));
        panics!(chosen, (of([1.0, 2.0, 9.0]), there(-5), 2_i64));
        let some = |k: i32| Table::<Dyn, i32>::from(vec![7, i32::MIN, 9, k]);
        panics!(divided, (some(1), some(0)));
        panics!(divided, (some(1), Table::from(vec![1, -1, 1, 1])));
        panics!(
            asserted,
            (Table::<Dyn, f32>::from(vec![1.0, 2.5, 1.0, 7.25]), 7.0_f32)
        );
        panics!(
            asserted,
            (
                Table::<Dyn, f32>::from(vec![1.0, 2.5, f32::NAN]),
                f32::INFINITY
            )
        );

        // The first of several points.
        let there = (list(10), places(&[(500, 10), (30, 77), (590, -4)]))
            .to_device(&device)
            .expect("moved");
        let found = words(|| at(there.0, there.1));
        assert_eq!(
            found,
            "index 77 is out of range for `x[places[m]]` over `N` of 10 members"
        );
    }
}

#[pointful]
fn total<N: IndexSet>(x: Table<N, f64>) -> (f64, f64, usize) {
    (sum(x), max(x), argmin(x).ordinal())
}

#[pointful]
fn histogram<N: IndexSet, K: IndexSet>(class: Table<N, K>, weight: Table<N, f64>) -> Table<K, f64> {
    let mut hist = Accum::zero();
    for n in N {
        hist[class[n]] += weight[n];
    }
    hist.get()
}

#[pointful]
fn products<I: IndexSet, K: IndexSet, J: IndexSet>(
    a: Table<(I, K), f64>,
    b: Table<(K, J), f64>,
) -> Table<(I, J), f64> {
    for (i, j) in _ {
        sum(for k in _ {
            a[i][k] * b[k][j]
        })
    }
}

#[pointful]
fn running<N: IndexSet>(x: Table<N, f64>) -> Table<N, f64> {
    cumsum(x)
}

#[pointful]
fn sum_of_some<N: IndexSet, M: IndexSet>(x: Table<N, f64>, places: Table<M, i64>) -> f64 {
    sum(for m in M {
        x[places[m]]
    })
}

/// Sums of integers are the same in all orders.
#[test]
fn what_points_combine() {
    let whole = |n: usize| -> Table<Dyn, f64> { numbers(n).map(|x| (x * 100.0).floor()).collect() };
    // Of the last each part has several points.
    for n in [1, 2, 500, 3000, 40_000] {
        let expected = total(whole(n));
        let class = Table::<Dyn, Column>::from_fn_into(
            Extent::<Dyn>::new(n),
            Extent::<Column>::new(7),
            |Dyn(k)| Column(k * k % 7),
        );
        let counted = histogram(class.clone(), whole(n));
        let sums = running(whole(n));
        for device in devices() {
            let (x, class) = (whole(n), class.clone()).to_device(&device).expect("moved");
            assert_eq!(total(x.clone()), expected);
            assert_eq!(
                histogram(class, x.clone()).to_host().expect("moved back"),
                counted
            );
            assert_eq!(running(x).to_host().expect("moved back"), sums);
        }
    }
    let matrix = |rows: usize, columns: usize| -> Table<(Dyn, Dyn), f64> {
        Table::from_vec(
            Extent::new((rows, columns)),
            whole(rows * columns).into_vec(),
        )
        .expect("as many")
    };
    same!(products, (matrix(9, 20), matrix(20, 33)));
}

#[pointful]
fn beside_sums<N: IndexSet, K: IndexSet>(
    x: &Table<(N, K), f64>,
    w: &Table<K, f64>,
) -> (
    Table<(N, K), f64>,
    (Table<N, f64>, Table<N, f64>, Table<N, i64>, Table<N, bool>),
) {
    let beside = for n in N {
        let mut row = for k in K {
            (x[n][k] * w[k]).floor()
        };
        for _step in 0..3 {
            let total = sum(row);
            row = for k in K {
                row[(k + 1).wrap()] - row[k] + total / 8.0
            };
        }
        row
    };
    let of_rows = for n in N {
        let row = for k in K {
            x[n][k] - w[k]
        };
        let odd = prod(for k in K {
            2 * (row[k] as i64) + 1
        });
        let positive = all(for k in K {
            row[k] > -15.0
        });
        (max(row), min(row), odd, positive)
    };
    (beside, of_rows)
}

#[pointful]
fn dot<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    sum(for i in N {
        x[i] * y[i]
    })
}

#[pointful]
fn picked_sums<N: IndexSet, K: IndexSet, M: IndexSet>(
    x: &Table<M, f64>,
    places: &Table<(N, K), i64>,
    least: f64,
) -> Table<N, f64> {
    for n in N {
        sum(for k in K {
            let there = x[places[n][k]];
            assert!(
                there >= least,
                "{} at {} of {}",
                there,
                k.ordinal(),
                n.ordinal()
            );
            there
        })
    }
}

/// Points that one thread, a warp or a block runs.
#[test]
fn teams_share_loops() {
    let table = |rows: usize, columns: usize| -> Table<(Dyn, Dyn), f64> {
        let numbers = numbers(rows * columns).collect();
        Table::from_vec((rows, columns), numbers).expect("as many")
    };
    for (rows, columns) in [
        (0, 3),
        (2, 1),
        (3, 2),
        (1, 31),
        (5, 33),
        (3, 256),
        (2, 1000),
        (2100, 7),
        (5000, 3),
    ] {
        let (x, w) = (table(rows, columns), list(columns));
        for device in devices() {
            let (x_there, w_there) = (x.clone(), w.clone()).to_device(&device).expect("moved");
            let (found, stats) = measure(|| beside_sums(&x_there, &w_there));
            assert_eq!(stats.bytes_to_host, 0);
            let found = found.to_host().expect("moved back");
            assert_eq!(found, beside_sums(&x, &w), "{rows} x {columns}");
        }
    }
    for n in [0, 1, 255, 256, 5000, 140_000] {
        let x = list(n);
        let there = x
            .to_device(&Device::emulate(Emulation::default()))
            .expect("moved");
        assert_eq!(dot(&there, &there), dot(&x, &x), "{n}");
    }
}

/// What fails in an iteration that a team shares: the first one is told.
#[test]
fn what_fails_in_a_team_is_said_in_the_words_of_the_host() {
    let places = |columns: usize, bad: &[(usize, i64)]| -> Table<(Dyn, Dyn), i64> {
        let mut places = vec![1; 3 * columns];
        for &(k, place) in bad {
            places[k] = place;
        }
        Table::from_vec((3, columns), places).expect("as many")
    };
    let x = Table::<Dyn, f64>::from(vec![-7.0, 2.5, -9.25]);
    for device in devices() {
        for columns in [5, 40, 600] {
            let there = places(columns, &[]);
            let (x_there, places_there) = (x.clone(), there.clone())
                .to_device(&device)
                .expect("moved");
            let found = picked_sums(&x_there, &places_there, 0.0)
                .to_host()
                .expect("moved back");
            assert_eq!(found, picked_sums(&x, &there, 0.0));
            for (bad, least) in [
                (&[(4, 3), (3, -1)][..], 0.0),
                (&[(3, 0), (4, 17)][..], 0.0),
                (&[(4, 17), (3, 2)][..], 0.0),
                (&[(2 * columns + 3, 2), (2 * columns + 2, 0)][..], 0.0),
                (&[(columns - 1, 0), (columns, 3)][..], 0.0),
                (&[(columns - 1, 0), (columns, 3)][..], f64::NEG_INFINITY),
            ] {
                let there = places(columns, bad);
                let expected = words(|| picked_sums(&x, &there, least));
                let (x, there) = (x.clone(), there).to_device(&device).expect("moved");
                let found = words(|| picked_sums(&x, &there, least));
                assert_eq!(found, expected, "{columns} columns");
            }
        }
    }
}

#[pointful]
fn inner<N: IndexSet>(x: &Table<N, f64>, f: impl Fn(f64) -> f64) -> Table<N, f64> {
    for i in N {
        f(x[i])
    }
}

#[pointful]
fn kept<N: IndexSet>(x: &Table<N, f64>, least: f64) -> (usize, Table<Dyn, f64>) {
    let some = filter(|x| x > least, x);
    (
        some.len(),
        for i in _ {
            some[i].sqrt()
        },
    )
}

/// How long a result is may be computed there.
#[test]
fn results_of_any_length() {
    for n in [0, 1, 70] {
        for least in [0.0, 9.0] {
            let x = list(n);
            let expected = kept(&x, least);
            for device in devices() {
                let there = x.to_device(&device).expect("moved");
                let found = kept(&there, least);
                assert_eq!(found.1.device(), Some(&device));
                assert_eq!(found.to_host().expect("moved back"), expected);
            }
        }
    }
}

/// Pairs of what came before.
#[pointful]
fn largest_pairs<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let before = for j in ..i {
            x[j].sin()
        };
        sum(for j in _ {
            max(for k in _ {
                before[j] * before[k]
            })
        })
    }
}

#[pointful]
fn all_pairs<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(largest_pairs(x))
}

/// How long a table is follows from what others hold, and from those of the round before.
#[pointful]
fn thinned<N: IndexSet>(x: &Table<N, f64>, ends: &Table<N, usize>, most: usize) -> Table<N, f64> {
    for i in N {
        let mut n = ends[i];
        let mut s = x[i];
        for _t in 0..3 {
            assert!(n <= most, "{} of {} at {}", n, most, x[i]);
            let waves = cumsum(for k in 0..n {
                (s * k as f64).cos()
            });
            let kept = filter(|w| w > 0.5, &waves);
            s = s.sin() + sum(&kept);
            n = kept.len() + 2;
        }
        s
    }
}

/// Lengths that a point has counted before, in a sum that ends where a place is none.
#[pointful]
fn counted<N: IndexSet>(x: &Table<N, f64>, places: &Table<N, i64>) -> f64 {
    sum(for i in N {
        let some = for k in 0..i.ordinal() % 7 {
            x[places[i]] + k as f64
        };
        let large = filter(|y| y > 1.0, &some);
        sum(&large) * large.len() as f64
    })
}

#[test]
fn lengths_that_points_compute() {
    let ends = |n: usize, most: usize| -> Table<Dyn, usize> {
        numbers(n).map(|x| x.abs() as usize % (most + 1)).collect()
    };
    for n in [0, 1, 2, 70] {
        let (x, ends) = (list(n), ends(n, 6));
        let pairs = largest_pairs(&x);
        let slopes = grad!(all_pairs)(&x);
        let thin = thinned(&x, &ends, 100);
        let places: Table<Dyn, i64> = (0..n as i64).rev().collect();
        let whole = x.map(f64::floor);
        let count = counted(&whole, &places);
        for device in devices() {
            let (x, ends) = (x.clone(), ends.clone()).to_device(&device).expect("moved");
            let places = places.to_device(&device).expect("moved");
            let found = largest_pairs(&x).to_host().expect("moved back");
            assert_eq!(found.bits(), pairs.bits());
            let found = grad!(all_pairs)(&x).to_host().expect("moved back");
            let off = found.iter().zip(&slopes).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-12, "{found}, not {slopes}");
            let found = thinned(&x, &ends, 100).to_host().expect("moved back");
            assert_eq!(found.bits(), thin.bits());
            let whole = whole.to_device(&device).expect("moved");
            assert_eq!(counted(&whole, &places), count);
        }
    }
    // The first point that fails is told, whatever comes before its arrays are made.
    let (x, ends) = (list(400), ends(400, 8));
    let mut places: Vec<i64> = vec![1; 400];
    (places[90], places[300]) = (-1, 400);
    let places = Table::<Dyn, i64>::from(places);
    for device in devices() {
        let there = (x.clone(), ends.clone(), places.clone());
        let there = there.to_device(&device).expect("moved");
        let expected = words(|| thinned(&x, &ends, 7));
        assert_eq!(words(|| thinned(&there.0, &there.1, 7)), expected);
        let expected = words(|| counted(&x, &places));
        assert_eq!(words(|| counted(&there.0, &there.2)), expected);
    }
}

/// Rows that move there and back, together with where they begin.
#[test]
fn rows_of_different_lengths() {
    let rows = |k: usize| -> Ragged<Dyn, f64> {
        let row = |n: usize| {
            numbers(n * k % 9)
                .map(|x| (x * 16.0).floor())
                .collect::<Vec<f64>>()
        };
        (0..60).map(row).collect()
    };
    for (a, b) in [(rows(1), rows(1).map(|x| x - 1.0)), (rows(0), rows(9))] {
        let x = list(60);
        let expected = (scaled(&a, 0.3), multiplied(&a, &b), by_rows(&x, &a));
        for device in devices() {
            let (there, others) = (a.clone(), b.clone()).to_device(&device).expect("moved");
            assert_eq!(there.device(), Some(&device));
            assert_eq!(there.extent(), a.extent());
            assert!(there.offsets().eq(a.offsets()));
            assert_eq!(format!("{there:?}"), format!("[on {device}], extent=60"));
            let by_three = scaled(&there, 0.3);
            assert_eq!(by_three.device(), Some(&device));
            assert_eq!(by_three.to_host().expect("moved back"), expected.0);
            let products = multiplied(&there, &others).to_host().expect("moved back");
            assert_eq!(products, expected.1);
            let x = x.to_device(&device).expect("moved");
            let found = by_rows(&x, &there).to_host().expect("moved back");
            assert_eq!(found.bits(), expected.2.bits());
            let cast = there.cast(Extent::<Column>::new(60)).expect("as many");
            assert_eq!(cast.starts().device(), Some(&device));
            assert_eq!(cast.to_host().expect("moved back").len(), a.len());
            // A sparse matrix: members are values of rows, too.
            let places = (0..a.len()).map(|k| 7 * k % 60).collect();
            let places = Table::<Dyn, Dyn>::from_indices(a.len(), 60, places).expect("below 60");
            let columns = a.with_values(places).expect("as many");
            let columns_there = columns.to_device(&device).expect("moved");
            let found = gathered(&columns_there, &x).to_host().expect("moved back");
            assert_eq!(found.bits(), gathered(&columns, &list(60)).bits());
        }
    }
    let (a, b) = (rows(1), rows(2));
    let device = Device::emulated();
    let there = (a.clone(), b.clone()).to_device(&device).expect("moved");
    let expected = words(|| multiplied(&a, &b));
    assert_eq!(words(|| multiplied(&there.0, &there.1)), expected);
    // Values that live there have rows there, however they are made.
    let values = a.values().to_device(&device).expect("moved");
    let of_offsets = Ragged::new(a.offsets().collect(), values.clone()).expect("rows");
    let other_values = a.with_values(values).expect("as many");
    for made in [of_offsets, other_values] {
        let found = multiplied(&made, &there.0).to_host().expect("moved back");
        assert_eq!(found, multiplied(&a, &a));
    }
}

#[pointful]
fn halved(x: Table<(), f64>) -> Table<(), f64> {
    0.5 * x
}

/// A table of one element is a number to the host.
#[test]
fn tables_of_one_element() {
    let device = Device::emulated();
    let there = Table::scalar(3.0).to_device(&device).expect("moved");
    let half = halved(there);
    assert_eq!(half.device(), Some(&device));
    assert_eq!(half.to_host().expect("moved back"), Table::scalar(1.5));
}

#[pointful]
fn reached<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, at: &Table<N, K>) -> Table<N, f64> {
    for n in N {
        x[at[n]]
    }
}

#[pointful]
fn best<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>) -> Table<N, K> {
    for n in N {
        argmax(x[n])
    }
}

#[pointful]
fn by_rows<N: IndexSet>(x: &Table<N, f64>, rows: &Ragged<N, f64>) -> Table<N, f64> {
    for n in N {
        x[n] * sum(rows[n])
    }
}

/// Members are numbers there, and truth values where tables hold them.
#[test]
fn truth_values_as_members() {
    let n = 700;
    let flags: Table<Dyn, bool> = numbers(n).map(|x| x > 0.0).collect();
    let weights: Table<Dyn, f64> = numbers(n).map(f64::floor).collect();
    let values =
        Table::<bool, f64>::from_fn(Extent::default(), |flag| if flag { 1.0 } else { 2.0 });
    let pairs = Table::<(Dyn, bool), f64>::from_vec((n / 2, ()), numbers(n).collect());
    let pairs = pairs.expect("as many");
    let mut expected = flags.clone();
    flip(&mut expected);
    for device in devices() {
        let (flags, weights) = (flags.clone(), weights.clone());
        let (there, others) = (flags.clone(), weights.clone())
            .to_device(&device)
            .expect("moved");
        let values_there = values.to_device(&device).expect("moved");
        let found = reached(&values_there, &there);
        assert_eq!(found.device(), Some(&device));
        assert_eq!(
            found.to_host().expect("moved back"),
            reached(&values, &flags)
        );
        let best_there = best(&pairs.to_device(&device).expect("moved"));
        assert_eq!(best_there.device(), Some(&device));
        assert_eq!(best_there.to_host().expect("moved back"), best(&pairs));
        let sums = histogram(there.clone(), others).to_host();
        assert_eq!(sums.expect("moved back"), histogram(flags, weights));
        let mut flipped = there;
        flip(&mut flipped);
        assert_eq!(flipped.device(), Some(&device));
        assert_eq!(flipped.to_host().expect("moved back"), expected);
    }
}

/// The other one of each second.
#[pointful]
fn flip<N: IndexSet>(flags: &mut Table<N, bool>) {
    for n in N {
        if n.ordinal() % 2 == 0 {
            flags[n] = argmax(for b in bool {
                if b == flags[n] { 0.0 } else { 1.0 }
            });
        }
    }
}

#[pointful]
fn layered<T: Float, N: IndexSet>(
    x: &Table<N, T>,
    w: &Table<(N, N), T>,
    by: T,
) -> (Table<N, T>, T) {
    let hidden = for i in N {
        sum(for j in _ {
            w[i][j] * x[j]
        })
        .tanh()
    };
    let scaled = for i in N {
        by * hidden[i] * x[i].sin()
    };
    (scaled, by * max(x))
}

/// How far results are from what is expected: sums are taken in another order.
fn off<T: Float + Into<f64> + pointful::Plain>(
    found: &(Table<Dyn, T>, T),
    expected: &(Table<Dyn, T>, T),
) -> f64 {
    let pairs = found.0.iter().zip(expected.0.iter());
    let pairs = pairs.chain([(&found.1, &expected.1)]);
    let off = pairs.map(|(&a, &b)| (a.into() - b.into()).abs());
    off.fold(0.0, f64::max)
}

/// What `linearize!` keeps is kept where its tables are.
#[test]
fn linear_maps() {
    let square = |n: usize| -> Table<(Dyn, Dyn), f64> {
        Table::from_vec((n, n), numbers(n * n).map(|x| x / 8.0).collect()).expect("as many")
    };
    let (x, w) = (list(23), square(23));
    let (dx, dw) = (x.map(|x| 1.0 - x), w.map(|w| w * 0.5));
    let (value, map) = linearize!(layered)(&x, &w, 0.7);
    let (first, second) = (map(&dx, &dw, 0.0), map(&x, &w, 1.5));
    for device in devices() {
        let (x, w) = (x.clone(), w.clone()).to_device(&device).expect("moved");
        let (found, map_there) = linearize!(layered)(&x, &w, 0.7);
        assert_eq!(found.0.device(), Some(&device));
        assert!(off(&found.to_host().expect("moved back"), &value) < 1e-13);
        let (dx, dw) = (dx.clone(), dw.clone()).to_device(&device).expect("moved");
        for (found, expected) in [
            (map_there(&dx, &dw, 0.0), &first),
            (map_there(&x, &w, 1.5), &second),
        ] {
            assert_eq!(found.0.device(), Some(&device));
            assert!(off(&found.to_host().expect("moved back"), expected) < 1e-13);
        }
        // Tangents live where what was kept does.
        let here = dx.to_host().expect("moved back");
        let said = words(|| map_there(&here, &dw, 0.0));
        assert!(
            said.ends_with(&format!("`x` lives on {device}, and `d_x` on the host")),
            "{said}"
        );
    }
    let single = |table: &Table<Dyn, f64>| table.map(|x| x as f32);
    let w: Table<(Dyn, Dyn), f32> = w.map(|w| w as f32);
    let (x, dx) = (single(&x), single(&dx));
    let (_, map) = linearize!(layered)(&x, &w, 0.7);
    let expected = map(&dx, &w, 0.5);
    let device = Device::emulated();
    let (x, w, dx) = (x, w, dx).to_device(&device).expect("moved");
    let (_, map) = linearize!(layered)(&x, &w, 0.7);
    let found = map(&dx, &w, 0.5).to_host().expect("moved back");
    assert!(off(&found, &expected) < 1e-5);
}

/// A map that needs nothing that was kept gives tables where the others are.
#[pointful]
fn like<N: IndexSet>(x: f64, table: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        x + table[i]
    }
}

#[test]
fn linear_maps_of_numbers() {
    let table = list(5);
    let (_, map) = linearize!(like, wrt = x)(2.0, &table);
    let expected = map(0.5);
    let device = Device::emulated();
    let (_, map) = linearize!(like, wrt = x)(2.0, &table.to_device(&device).expect("moved"));
    let found = map(0.5);
    assert_eq!(found.device(), Some(&device));
    assert_eq!(found.to_host().expect("moved back"), expected);
}

#[test]
fn what_devices_cannot_do_is_said() {
    let device = Device::emulated();
    let there = list(3).to_device(&device).expect("moved");
    let refused = |function: &str, parameter: &str, reason: &str| {
        format!(
            "`{function}`: `{parameter}` lives on {device}, and {reason}: `to_host()` brings it here"
        )
    };
    let offset = there.len() as f64;
    assert_eq!(
        words(|| inner(&there, |x| x + offset)),
        refused(
            "inner",
            "x",
            "functions that are no `#[pointful]` functions run on the host only"
        )
    );

    // Rows of different lengths live somewhere, too.
    let rows = Ragged::from_rows([vec![1.0], vec![], vec![2.0, 3.0]]);
    assert_eq!(
        words(|| by_rows(&there, &rows)),
        format!("`by_rows`: `rows.starts` lives on the host, and `x` on {device}")
    );
}

#[pointful]
fn scaled<N: IndexSet>(rows: &Ragged<N, f64>, by: f64) -> Ragged<N, f64> {
    for row in rows {
        for x in row {
            by * x
        }
    }
}

#[pointful]
fn gathered<N: IndexSet, C: IndexSet>(columns: &Ragged<N, C>, x: &Table<C, f64>) -> Table<N, f64> {
    for n in N {
        sum(for k in _ {
            x[columns[n][k]]
        })
    }
}

#[pointful]
fn multiplied<N: IndexSet>(a: &Ragged<N, f64>, b: &Ragged<N, f64>) -> Table<N, f64> {
    for n in N {
        sum(a[n] * b[n])
    }
}

#[test]
fn what_runs_there_is_explained() {
    let text = pointful::explain!(hotspot);
    for part in [
        "---- devices: where tables are\nkernel",
        "a thread for each",
        "---- gpu: what runs there\nfn hotspot(",
        "---- cuda: its kernels\n",
        "KERNEL(256, 1) hotspot_0(",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let text = pointful::explain!(total);
    assert!(
        text.contains("a thread for each part of the points"),
        "{text}"
    );
    let text = pointful::explain!(dot);
    let teams = "kernel \"dot\": a thread, a warp or a block of threads, by sizes, for each part of the points\n\
                 kernel \"merge\": a warp or a block of threads, by sizes\n";
    assert!(text.contains(teams), "{text}");
    assert!(text.contains("the host waits for an element of"), "{text}");
    let text = pointful::explain!(largest_pairs);
    let trial = "kernel \"lengths\": a thread for each idx<N>, to find out how long arrays of the next one are\n";
    assert!(text.contains(trial), "{text}");
    let text = pointful::explain!(inner);
    let refused = "---- devices: refused, as functions that are no `#[pointful]` functions run on the host only\n";
    assert!(text.contains(refused), "{text}");
}

/// The text that the emulated device runs is what a card is given. NVRTC, where there is one, compiles
/// it: no registers are spilled.
#[test]
fn nvrtc_compiles_the_text_of_functions() {
    let device = Device::emulate(Emulation::default());
    macro_rules! run {
        ($function:expr, ($($argument:expr),* $(,)?)) => {{
            let there = ($($argument,)*).to_device(&device).expect("moved");
            let _ = same!(@call $function, there, ($($argument),*));
        }};
    }
    run!(axpy, (0.3, list(5), list(5)));
    run!(mixed, (list(5), 0.5));
    run!(functions, (list(5),));
    run!(edges, (grid(2, 3),));
    run!(hotspot, (grid(2, 3), grid(2, 3), 2_usize));
    run!(live, (grid(3, 3).map(|x| x > 0.0), 2_usize));
    run!(escape, (grid(2, 3), 4_u32));
    run!(updated, (grid(2, 3), 3.0_f32));
    let rows = Table::<(Dyn, Dyn), f64>::from([[1.0, 2.0], [3.0, 4.0]]);
    run!(within_rows, (rows, 3_usize));
    run!(slope_of_smooth, (list(5), list(5)));
    run!(at, (list(2), Table::<Dyn, i64>::from(vec![0, 1])));
    run!(
        twice,
        (list(2), Table::<Dyn, i64>::from(vec![0, 0]), 2_usize)
    );
    run!(
        divided,
        (
            Table::<Dyn, i32>::from(vec![7]),
            Table::<Dyn, i32>::from(vec![2])
        )
    );
    run!(asserted, (Table::<Dyn, f32>::from(vec![1.0]), 2.0_f32));
    run!(total, (list(5),));
    run!(running, (list(5),));
    run!(|x: Table<Dyn, f64>| largest_pairs(&x), (list(5),));
    run!(
        |x: Table<Dyn, f64>, ends: Table<Dyn, usize>| thinned(&x, &ends, 9),
        (list(2), Table::<Dyn, usize>::from(vec![3, 1]))
    );
    run!(
        histogram,
        (Table::<Dyn, bool>::from(vec![true, false]), list(2))
    );
    let rows = Table::<(Dyn, Dyn), f64>::from([[1.0, 2.0], [3.0, 4.0]]);
    run!(
        |x: Table<(Dyn, Dyn), f64>, w: Table<Dyn, f64>| beside_sums(&x, &w),
        (rows, list(2))
    );
    let places = Table::<(Dyn, Dyn), i64>::from([[0, 1], [1, 0]]);
    run!(
        |x: Table<Dyn, f64>, places: Table<(Dyn, Dyn), i64>| picked_sums(&x, &places, -9.0),
        (list(2), places)
    );
    let required = std::env::var_os("POINTFUL_REQUIRE_CUDA_TOOLS").is_some();
    let units = device.units();
    // A unit of the runtime's as well, for truth values as members.
    assert_eq!(units.len(), 22);
    for unit in units {
        for capability in [(8, 0), (9, 0)] {
            match compile_with(unit, capability, &["--ptxas-options=-v"]) {
                Ok((compiled, _)) => {
                    let spills = compiled.log.matches("bytes spill stores").count();
                    let none = compiled.log.matches(" 0 bytes spill stores").count();
                    let kernels = unit.kernels.len();
                    assert_eq!((spills, none), (kernels, kernels), "{}", compiled.log);
                }
                Err(Error::CudaUnavailable { reason }) if !required => {
                    return eprintln!("skipped: {reason}");
                }
                Err(error) => panic!("{error}\n{}", unit.text),
            }
        }
    }
}

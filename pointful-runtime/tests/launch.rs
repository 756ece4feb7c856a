//! Kernels in parallel: the same bits in every pool, nothing lost, panics passed on.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use pointful_runtime::kernel::{Buf, Kernel, Out, OutBuf, Scatter, Work, get, launch};
use pointful_runtime::{reference, stats};
use proptest::prelude::*;

/// An estimate that makes every point a piece, up to the most there are.
const DEAR: Work = Work {
    per_point: 1 << 30,
    acc_bytes: 0,
};

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|k| format!("pool thread {k}"))
        .build()
        .expect("a pool")
}

/// A float sum, which remembers in its last bits how it was put together.
struct Sum<'a>(&'a [f64]);

impl Kernel for Sum<'_> {
    type Acc = f64;

    fn identity(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn run(&self, range: Range<usize>, sum: &mut f64) {
        for i in range {
            // SAFETY: as many points as elements.
            *sum += unsafe { get(self.0, i) };
        }
    }

    fn merge(&self, earlier: &mut f64, later: f64) {
        *earlier += later;
    }
}

/// The points themselves, in the order they are merged in: an operator that does not commute.
struct Order;

impl Kernel for Order {
    type Acc = Vec<usize>;

    fn identity(&self) -> Vec<usize> {
        Vec::new()
    }

    fn run(&self, range: Range<usize>, order: &mut Vec<usize>) {
        order.extend(range);
    }

    fn merge(&self, earlier: &mut Vec<usize>, later: Vec<usize>) {
        earlier.extend(later);
    }
}

/// Squares into an output, and counts how often each point was run.
struct Squares<'a> {
    runs: &'a [AtomicUsize],
    out: Out<usize>,
}

impl Kernel for Squares<'_> {
    type Acc = ();

    fn identity(&self) {}

    #[inline(always)]
    fn run(&self, range: Range<usize>, (): &mut ()) {
        for i in range {
            self.runs[i].fetch_add(1, Ordering::Relaxed);
            // SAFETY: as many points as elements, and pieces do not overlap.
            unsafe { self.out.write(i, i * i) };
        }
    }

    fn merge(&self, (): &mut (), (): ()) {}
}

/// Private histograms, with accumulators that own memory.
struct Histogram<'a> {
    class: &'a [usize],
    bins: usize,
}

impl Kernel for Histogram<'_> {
    type Acc = Buf<u32>;

    fn identity(&self) -> Buf<u32> {
        Buf::filled(self.bins, 0)
    }

    fn run(&self, range: Range<usize>, bins: &mut Buf<u32>) {
        for i in range {
            bins[self.class[i]] += 1;
        }
    }

    fn merge(&self, earlier: &mut Buf<u32>, later: Buf<u32>) {
        for (bin, count) in earlier.iter_mut().zip(later.iter()) {
            *bin += count;
        }
    }
}

/// Two histograms, a large one and a small one, and a number, as generated code has them.
struct Scattered<'a> {
    class: &'a [usize],
    weights: &'a [f64],
    sizes: [usize; 2],
}

impl Kernel for Scattered<'_> {
    type Acc = (Scatter<f64>, Scatter<f64>, usize);

    fn identity(&self) -> Self::Acc {
        let [large, small] = self.sizes.map(|size| Scatter::table(size, 0.0));
        (large, small, 0)
    }

    #[inline(always)]
    fn run(&self, range: Range<usize>, acc: &mut Self::Acc) {
        let (large, small) = (acc.0.view(), acc.1.view());
        acc.2 += range.len();
        for i in range {
            // SAFETY: the remainders are places of the tables.
            unsafe {
                let (class, weight) = (get(self.class, i), get(self.weights, i));
                large.combine(class % self.sizes[0], weight, |x, y| x + y);
                small.combine(class % self.sizes[1], weight, |x, y| x + y);
            }
        }
    }

    fn merge(&self, earlier: &mut Self::Acc, later: Self::Acc) {
        // SAFETY: accumulators of one kernel, whose notes a launch has settled before.
        unsafe {
            earlier.0.merge(later.0, |x, y| x + y);
            earlier.1.merge(later.1, |x, y| x + y);
        }
        earlier.2 += later.2;
    }

    fn scattered_bytes(&self) -> u64 {
        (self.sizes[0] + self.sizes[1]) as u64 * 8
    }

    fn noting(&self, most: usize) -> Self::Acc {
        let [large, small] = self.sizes.map(|size| Scatter::noting(size, 0.0, most));
        (large, small, 0)
    }

    unsafe fn settle(&self, all: &Self::Acc, noted: &Self::Acc, stretch: usize) {
        // SAFETY: promised by the caller.
        unsafe {
            all.0.settle(&noted.0, stretch, |x, y| x + y);
            all.1.settle(&noted.1, stretch, |x, y| x + y);
        }
    }
}

#[test]
fn what_is_noted_is_combined_in_the_order_of_the_points() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) as usize
    };
    let class: Vec<usize> = (0..30_000).map(|_| random()).collect();
    let weights: Vec<f64> = (0..30_000).map(|_| random() as f64 / 1e9).collect();
    // One round, several, and pieces of a point each; the last stretch is short in two of them.
    for (points, size, per_point, pieces) in [
        (30_000, 1 << 21, 1 << 8, 8),
        (30_000, (1 << 21) + 1, 1 << 10, 30),
        (100, 4_000_001, 1 << 20, 100),
    ] {
        let (class, weights) = (&class[..points], &weights[..points]);
        let kernel = Scattered {
            class,
            weights,
            sizes: [size, 5],
        };
        let mut expected = vec![0.0; size];
        for (&class, weight) in class.iter().zip(weights) {
            expected[class % size] += weight;
        }
        let acc_bytes = kernel.scattered_bytes() + 8;
        let work = Work {
            per_point,
            acc_bytes,
        };
        let launched =
            |threads| pool(threads).install(|| stats::measure(|| launch(points, work, &kernel)));
        let ((large, small, count), stats) = launched(1);
        assert_eq!(stats.pieces, pieces, "{size} places");
        assert_eq!(large[..], expected[..]);
        assert_eq!(count, points);
        let all: f64 = small.iter().sum();
        assert!((all / weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for threads in [2, 5] {
            let ((again, other, _), _) = launched(threads);
            assert!(again[..] == large[..] && other[..] == small[..]);
        }
        // A little work is done in a copy.
        let little = Work {
            per_point: 1,
            acc_bytes,
        };
        assert_eq!(launch(points, little, &kernel).0[..], expected[..]);
    }
}

/// Sums of columns, for two of each three rows, and the sum of all.
struct OfColumns<'a> {
    x: &'a [f64],
    columns: usize,
}

impl Kernel for OfColumns<'_> {
    type Acc = (Buf<f64>, f64);

    const BY_COLUMNS: bool = true;

    fn identity(&self) -> Self::Acc {
        (Buf::filled(2 * self.columns, 0.0), 0.0)
    }

    #[inline(always)]
    fn run(&self, range: Range<usize>, acc: &mut Self::Acc) {
        let sums = acc.0.out();
        for i in range {
            let (row, column) = (i / self.columns, i % self.columns);
            // SAFETY: places of the table, of a column that is run by one thread at a time.
            unsafe {
                let value = get(self.x, i);
                acc.1 += value;
                if row % 3 < 2 {
                    let at = row % 3 * self.columns + column;
                    sums.write(at, sums.read(at) + value);
                }
            }
        }
    }

    fn merge(&self, earlier: &mut Self::Acc, later: Self::Acc) {
        for (sum, later) in earlier.0.iter_mut().zip(later.0.iter()) {
            *sum += later;
        }
        earlier.1 += later.1;
    }

    fn columns(&self) -> usize {
        self.columns
    }

    unsafe fn shared(&self, all: &Self::Acc) -> Self::Acc {
        // SAFETY: promised by the caller.
        (unsafe { all.0.alias() }, 0.0)
    }

    fn merge_columns(&self, earlier: &mut Self::Acc, later: Self::Acc) {
        earlier.1 += later.1;
    }
}

#[test]
fn pieces_that_are_columns_share_tables() {
    // Many columns of few rows, and of one; columns that are fewer than pieces of rows.
    for (rows, columns, per_point, pieces, tables) in [
        (5, 20_000, 100, 105, 1),
        (1, 20_000, 100, 29, 1),
        (300, 640, 1, 2, 2),
        (3_000, 70, 100, 274, 274),
        (7, 0, 100, 0, 0),
        (0, 7, 100, 0, 0),
    ] {
        let x: Vec<f64> = (0..rows * columns)
            .map(|i| (i as f64 * 0.37).sin())
            .collect();
        let kernel = OfColumns { x: &x, columns };
        let acc_bytes = 16 * columns as u64 + 8;
        let work = Work {
            per_point,
            acc_bytes,
        };
        let mut expected = vec![0.0; 2 * columns];
        for (i, value) in x.iter().enumerate() {
            let (row, column) = (i / columns, i % columns);
            if row % 3 < 2 {
                expected[row % 3 * columns + column] += value;
            }
        }
        let launched =
            |threads| pool(threads).install(|| stats::measure(|| launch(x.len(), work, &kernel)));
        let ((sums, all), stats) = launched(1);
        assert_eq!(stats.pieces, pieces, "{rows} rows of {columns}");
        assert_eq!(stats.accumulator_bytes, tables * acc_bytes);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
        assert!(sums.iter().zip(&expected).all(near));
        assert!((all - x.iter().sum::<f64>()).abs() < 1e-9);
        if tables == 1 {
            assert_eq!(sums[..], expected[..], "rows come one after the other");
        }
        for threads in [2, 5] {
            let ((again, other), _) = launched(threads);
            assert!(again[..] == sums[..] && other == all);
        }
    }
}

#[test]
fn no_points_give_the_identity_and_run_nothing() {
    let mut none = OutBuf::new(0);
    let kernel = Squares {
        runs: &[],
        out: none.out(),
    };
    launch(0, DEAR, &kernel);
    assert_eq!(launch(0, DEAR, &Sum(&[])), 0.0);
    assert!(launch(0, DEAR, &Order).is_empty());
    assert!(reference::launch(0, DEAR, &Order).is_empty());
}

#[test]
fn every_point_runs_once_at_every_length() {
    for points in [0, 1, 2, 7, 1000, 5000] {
        for per_point in [0, 1, 1000, 1 << 30] {
            let runs: Vec<_> = (0..points).map(|_| AtomicUsize::new(0)).collect();
            let mut squares = OutBuf::new(points);
            launch(
                points,
                Work {
                    per_point,
                    acc_bytes: 0,
                },
                &Squares {
                    runs: &runs,
                    out: squares.out(),
                },
            );
            assert!(
                runs.iter().all(|run| run.load(Ordering::Relaxed) == 1),
                "{points} points"
            );
            // SAFETY: every point ran, and wrote its element.
            let squares = unsafe { squares.assume_init() };
            assert!(
                squares
                    .iter()
                    .enumerate()
                    .all(|(i, &square)| square == i * i)
            );
        }
    }
}

#[test]
fn pieces_are_merged_in_order() {
    for threads in [1, 2, 5] {
        for points in [1, 2, 3, 7, 64, 1000, 3000] {
            let order = pool(threads).install(|| launch(points, DEAR, &Order));
            assert!(
                order.into_iter().eq(0..points),
                "{points} points on {threads} threads"
            );
        }
    }
}

#[test]
fn a_private_histogram_is_exact() {
    let class: Vec<usize> = (0..10_000).map(|i| i * i % 7).collect();
    let kernel = Histogram {
        class: &class,
        bins: 7,
    };
    let work = Work {
        per_point: 1 << 20,
        acc_bytes: 28,
    };
    let bins = pool(5).install(|| launch(class.len(), work, &kernel));
    for (bin, &count) in bins.iter().enumerate() {
        assert_eq!(count as usize, class.iter().filter(|&&c| c == bin).count());
    }
    assert_eq!(bins, reference::launch(class.len(), work, &kernel));
}

#[test]
fn the_current_pool_is_the_one_that_works() {
    struct Threads<'a>(&'a Mutex<Vec<String>>);
    impl Kernel for Threads<'_> {
        type Acc = ();
        fn identity(&self) {}
        fn run(&self, _: Range<usize>, (): &mut ()) {
            let name = std::thread::current().name().unwrap_or("none").to_owned();
            self.0.lock().expect("no panic").push(name);
        }
        fn merge(&self, (): &mut (), (): ()) {}
    }
    let names = Mutex::new(Vec::new());
    pool(3).install(|| launch(100, DEAR, &Threads(&names)));
    let names = names.into_inner().expect("no panic");
    assert_eq!(names.len(), 100);
    assert!(
        names.iter().all(|name| name.starts_with("pool thread ")),
        "{names:?}"
    );

    // Little work stays on the calling thread, which is in no pool.
    let names = Mutex::new(Vec::new());
    launch(
        100,
        Work {
            per_point: 1,
            acc_bytes: 0,
        },
        &Threads(&names),
    );
    assert_eq!(
        names.into_inner().expect("no panic"),
        [std::thread::current().name().unwrap_or("none")]
    );
}

#[test]
fn counts_do_not_depend_on_threads() {
    let class: Vec<usize> = (0..100).map(|i| i % 3).collect();
    let kernel = Histogram {
        class: &class,
        bins: 3,
    };
    let work = Work {
        per_point: 1 << 30,
        acc_bytes: 12,
    };
    for threads in [1, 2, 5] {
        let count = || {
            stats::measure(|| {
                launch(class.len(), work, &kernel);
                launch(1, work, &kernel);
            })
            .1
        };
        let inside = pool(threads).install(count);
        assert_eq!(
            (inside.launches, inside.pieces, inside.accumulator_bytes),
            (2, 101, 101 * 12)
        );
        assert_eq!(inside.allocations, 0, "what pieces allocate is theirs");
        assert_eq!(inside, count());
    }
}

/// Panics at some points, and counts accumulators that are alive.
struct Panics<'a> {
    at: &'a [usize],
    alive: &'a AtomicIsize,
}

struct Alive<'a>(&'a AtomicIsize);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<'a> Kernel for Panics<'a> {
    type Acc = Alive<'a>;

    fn identity(&self) -> Alive<'a> {
        self.alive.fetch_add(1, Ordering::Relaxed);
        Alive(self.alive)
    }

    fn run(&self, range: Range<usize>, _: &mut Alive<'a>) {
        for point in range {
            assert!(!self.at.contains(&point), "panic at point {point}");
        }
    }

    fn merge(&self, _: &mut Alive<'a>, later: Alive<'a>) {
        drop(later);
    }
}

#[test]
fn the_earliest_panic_is_passed_on_and_nothing_leaks() {
    for threads in [1, 2, 5] {
        let pool = pool(threads);
        for at in [&[0][..], &[99], &[40, 41], &[98, 3, 57], &[0, 99]] {
            let alive = AtomicIsize::new(0);
            let kernel = Panics { at, alive: &alive };
            let payload = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| launch(100, DEAR, &kernel))
            }))
            .err()
            .expect("a panic");
            let message = payload.downcast_ref::<String>().expect("a message");
            let first = at.iter().min().expect("a point");
            assert_eq!(
                message,
                &format!("panic at point {first}"),
                "{threads} threads"
            );
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            // The pool is as good as before, and so is the counting of this thread.
            assert_eq!(pool.install(|| launch(100, DEAR, &Order)).len(), 100);
            let (_, stats) = stats::measure(|| launch(100, DEAR, &Order));
            assert_eq!(stats.launches, 1);
        }
    }
}

#[test]
fn launches_nest() {
    struct Outer<'a>(&'a [f64]);
    impl Kernel for Outer<'_> {
        type Acc = f64;
        fn identity(&self) -> f64 {
            0.0
        }
        fn run(&self, range: Range<usize>, acc: &mut f64) {
            for _ in range {
                *acc += launch(self.0.len(), DEAR, &Sum(self.0));
            }
        }
        fn merge(&self, earlier: &mut f64, later: f64) {
            *earlier += later;
        }
    }
    let x = vec![0.5; 64];
    for threads in [1, 2, 5] {
        assert_eq!(
            pool(threads).install(|| launch(20, DEAR, &Outer(&x))),
            20.0 * 32.0
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_bits_in_every_pool(
        x in proptest::collection::vec(-1e3_f64..1e3, 0..2000),
        per_point in 0_u64..1 << 24,
        acc_bytes in 0_u64..1 << 16,
    ) {
        let work = Work { per_point, acc_bytes };
        let expected = reference::launch(x.len(), work, &Sum(&x)).to_bits();
        prop_assert_eq!(launch(x.len(), work, &Sum(&x)).to_bits(), expected);
        for threads in [1, 2, 5] {
            let sum = pool(threads).install(|| launch(x.len(), work, &Sum(&x)));
            prop_assert_eq!(sum.to_bits(), expected);
        }
    }
}

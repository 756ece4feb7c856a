//! Measures from how much work on it pays to wake other threads: the numbers behind
//! `src/cpu/split.rs`.
//!
//! `cargo run --release -p pointful-runtime --example break_even`
//!
//! A kernel of a known number of operations is run on one thread and in several pieces, which an
//! estimate far too high leads to: with threads still awake from the launch before, and after a
//! rest in which they have gone to sleep.

use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use pointful_runtime::kernel::{Kernel, Out, OutBuf, Work, get, launch};
use pointful_runtime::stats;

/// A load, a store, and three multiplications and additions for each point, in vectors: cheap
/// operations.
struct Polynomial<'a> {
    x: &'a [f64],
    y: Out<f64>,
}

impl Kernel for Polynomial<'_> {
    type Acc = ();

    fn identity(&self) {}

    #[inline(always)]
    fn run(&self, range: Range<usize>, (): &mut ()) {
        for i in range {
            // SAFETY: both buffers have as many elements as there are points.
            unsafe {
                let x = get(self.x, i);
                self.y.write(i, ((x * 0.5 + 1.0) * x + 2.0) * x + 3.0);
            }
        }
    }

    fn merge(&self, (): &mut (), (): ()) {}
}

/// A sum in which every addition waits for the one before: dear operations.
struct Sum<'a> {
    x: &'a [f64],
}

impl Kernel for Sum<'_> {
    type Acc = f64;

    fn identity(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn run(&self, range: Range<usize>, sum: &mut f64) {
        for i in range {
            // SAFETY: the buffer has as many elements as there are points.
            *sum += unsafe { get(self.x, i) };
        }
    }

    fn merge(&self, earlier: &mut f64, later: f64) {
        *earlier += later;
    }
}

/// Nanoseconds of the median of many runs, each after a rest.
fn median(rest: Duration, mut run: impl FnMut()) -> f64 {
    let repetitions = if rest.is_zero() { 300 } else { 40 };
    let mut times: Vec<f64> = (0..repetitions)
        .map(|_| {
            std::thread::sleep(rest);
            let start = Instant::now();
            run();
            start.elapsed().as_nanos() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// An estimate of the work that leads to just as many pieces.
fn estimate<K: Kernel>(points: usize, pieces: u64, kernel: &K) -> Work {
    let work = |per_point| Work {
        per_point,
        acc_bytes: 0,
    };
    (0..40)
        .map(|log| work(1 << log))
        .find(|&work| stats::measure(|| launch(points, work, kernel)).1.pieces >= pieces)
        .expect("some estimate is high enough")
}

fn header(name: &str) {
    println!("\n{name}: nanoseconds");
    println!(
        "{:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "operations", "1, awake", "4, awake", "16, awake", "1, asleep", "4, asleep", "16, asleep"
    );
}

/// One line: the kernel on one thread, then in a few and in many pieces.
fn line<K: Kernel>(operations: usize, points: usize, kernel: &K) {
    let (awake, asleep) = (Duration::ZERO, Duration::from_millis(2));
    let (few, many) = (estimate(points, 4, kernel), estimate(points, 16, kernel));
    let alone = |rest| {
        median(rest, || {
            let mut acc = kernel.identity();
            kernel.run(black_box(0..points), &mut acc);
            black_box(acc);
        })
    };
    let launched = |work, rest| {
        median(rest, || {
            black_box(launch(points, work, kernel));
        })
    };
    print!("{operations:>12}");
    for rest in [awake, asleep] {
        let times = [alone(rest), launched(few, rest), launched(many, rest)];
        times.iter().for_each(|time| print!(" {time:>10.0}"));
    }
    println!();
}

fn main() {
    println!("{} threads", rayon::current_num_threads());
    let sizes = || (10..=20).map(|log| 1_usize << log);
    header("polynomial, in vectors");
    for points in sizes() {
        let x = vec![0.25; points];
        let mut y = OutBuf::new(points);
        line(8 * points, points, &Polynomial { x: &x, y: y.out() });
    }
    header("sum, one after the other");
    for points in sizes() {
        let x = vec![0.25; points];
        line(2 * points, points, &Sum { x: &x });
    }
}

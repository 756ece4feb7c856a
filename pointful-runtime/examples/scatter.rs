//! Points that each add to an element of a table: private copies for each piece of the work against
//! notes. `cargo run --release -p pointful-runtime --example scatter`
//!
//! Prints, for tables of several sizes and for cheap and dear points, the median milliseconds of
//! both, alternating; the README in `src/cpu` says what follows.

use std::ops::Range;
use std::time::Instant;

use pointful_runtime::kernel::{Buf, Kernel, Scatter, Work, get, launch, math};

struct Histogram<'a> {
    class: &'a [u64],
    weights: &'a [f64],
    classes: usize,
    /// Logarithms taken of each weight.
    logarithms: usize,
    notes: bool,
}

impl Kernel for Histogram<'_> {
    type Acc = Scatter<f64>;

    fn identity(&self) -> Scatter<f64> {
        Scatter::table(self.classes, 0.0)
    }

    #[inline(always)]
    fn run(&self, range: Range<usize>, acc: &mut Scatter<f64>) {
        let total = acc.view();
        for i in range {
            // SAFETY: there are as many classes and weights as points, and classes are below the table's length.
            unsafe {
                let mut weight = get(self.weights, i);
                for _ in 0..self.logarithms {
                    weight = math::ln(weight + 1.5);
                }
                total.combine(get(self.class, i) as usize, weight, |x, y| x + y);
            }
        }
    }

    fn merge(&self, earlier: &mut Scatter<f64>, later: Scatter<f64>) {
        // SAFETY: accumulators of one kernel, whose notes a launch has settled before.
        unsafe { earlier.merge(later, |x, y| x + y) };
    }

    fn scattered_bytes(&self) -> u64 {
        if self.notes {
            8 * self.classes as u64
        } else {
            0
        }
    }

    fn noting(&self, most: usize) -> Scatter<f64> {
        Scatter::noting(self.classes, 0.0, most)
    }

    unsafe fn settle(&self, all: &Scatter<f64>, noted: &Scatter<f64>, stretch: usize) {
        // SAFETY: promised by the caller.
        unsafe { all.settle(noted, stretch, |x, y| x + y) };
    }
}

fn main() {
    // Cheap ones, and dear ones.
    let points = [(10_000_000, 0), (1_000_000, 10)];
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        state >> 20
    };
    let weights = Buf::from_fn(points[0].0, |_| (random() % 1000) as f64 / 1000.0);
    println!("| classes | points | logarithms a point | copies | notes |");
    println!("|---:|---:|---:|---:|---:|");
    for classes in [1 << 22, 1 << 24, 100_000_000] {
        let class = Buf::from_fn(points[0].0, |_| random() % classes as u64);
        for (points, logarithms) in points {
            let work = Work {
                per_point: 5 + 15 * logarithms as u64,
                acc_bytes: 8 * classes as u64,
            };
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..9 {
                for (times, notes) in times.iter_mut().zip([false, true]) {
                    let kernel = Histogram {
                        class: &class,
                        weights: &weights,
                        classes,
                        logarithms,
                        notes,
                    };
                    let start = Instant::now();
                    let total = launch(points, work, &kernel);
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                    std::hint::black_box(&total[..]);
                }
            }
            let median = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            });
            println!(
                "| {classes} | {points} | {logarithms} | {:.1} | {:.1} |",
                median[0], median[1]
            );
        }
    }
}

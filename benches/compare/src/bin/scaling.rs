//! Time against size over three decades, and against threads:
//! `cargo run --release -p pointful-compare --features gemm --bin scaling [NAME…]`.
//!
//! A row is a task at a size. Pools of one thread and of two take turns; of each the median of all
//! calls, and the ratio of both.

use std::time::{Duration, Instant};

use pointful::prelude::*;
use pointful_compare::{By, Inputs, WORKLOADS};

/// Turns of each pool.
const TURNS: usize = 5;
/// How long a task is called in one of them, and how often at most.
const TURN: Duration = Duration::from_millis(60);
const CALLS: usize = 200;

/// A workload, what its size counts, and its inputs at a size.
type Series = (&'static str, &'static str, [usize; 4], fn(usize) -> Inputs);

const SERIES: [Series; 5] = [
    (
        "kmeans",
        "points of 35 coordinates, 5 centres, f32",
        [500, 5000, 50_000, 500_000],
        |n| {
            let rows = |n| Extent::<(Dyn, Dyn)>::new((n, 35));
            Inputs::made()
                .noise("points", rows(n), 1, |x| x as f32)
                .noise("centres", rows(5), 2, |x| x as f32)
        },
    ),
    (
        "hotspot",
        "edge of a square, 60 steps, f32",
        [32, 100, 320, 1000],
        |n| {
            let extent = Extent::<(Dyn, Dyn)>::new((n, n));
            Inputs::made()
                .noise("temperature", extent, 1, |x| 320.0 + 10.0 * x as f32)
                .noise("power", extent, 2, |x| 1e5 * x as f32)
                .steps(60)
        },
    ),
    (
        "nbody",
        "bodies, each with each, f64",
        [64, 200, 640, 2000],
        |n| {
            let vectors = Extent::<(Dyn, Dyn)>::new((n, 3));
            Inputs::made()
                .noise("place", vectors, 1, |x| x)
                .noise("velocity", vectors, 2, |x| x)
                .noise("mass", Extent::<Dyn>::new(n), 3, f64::abs)
        },
    ),
    (
        "logistic",
        "samples of 200 features, f64",
        [100, 1000, 10_000, 100_000],
        |n| {
            Inputs::made()
                .noise("weights", Extent::<Dyn>::new(200), 1, |x| 0.1 * x)
                .noise("features", Extent::<(Dyn, Dyn)>::new((n, 200)), 2, |x| x)
                .noise("labels", Extent::<Dyn>::new(n), 3, |x| {
                    f64::from(u8::from(x > 0.0))
                })
        },
    ),
    (
        "histogram",
        "observations, 256 classes, f64",
        [10_000, 100_000, 1_000_000, 10_000_000],
        |n| {
            let class: Vec<i32> = (0..n)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 7) as i32 & 255)
                .collect();
            Inputs::made()
                .with("class", &Table::<Dyn, i32>::from(class))
                .noise("weights", Extent::<Dyn>::new(n), 2, |x| x)
                .noise("expected", Extent::<Dyn>::new(256), 3, |x| x)
        },
    ),
];

/// Median times of the tasks of generated code, in one turn of a pool.
fn turn(threads: usize, name: &str, inputs: &Inputs) -> Vec<(&'static str, Vec<Duration>)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be made").install(|| {
        let workload = WORKLOADS.iter().find(|workload| workload.name == name);
        let tasks = (workload.expect("it is there").open)(inputs).expect("the inputs are its own");
        let ours = tasks.iter().filter(|task| task.by == By::Pointful);
        ours.map(|task| {
            task.time();
            let start = Instant::now();
            let mut times = Vec::new();
            while times.is_empty() || times.len() < CALLS && start.elapsed() < TURN {
                times.push(task.time());
            }
            (task.name, times)
        })
        .collect()
    })
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| workload | size counts | task | size | 1 thread, ms | 2 threads, ms | ratio | ms a 1000 of the size, 2 threads |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, what, sizes, inputs) in SERIES {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        for size in sizes {
            let inputs = inputs(size);
            let mut all: [Vec<(&str, Vec<Duration>)>; 2] = Default::default();
            for _ in 0..TURNS {
                for (threads, all) in [1, 2].into_iter().zip(&mut all) {
                    for (at, (task, times)) in turn(threads, name, &inputs).into_iter().enumerate()
                    {
                        match all.get_mut(at) {
                            Some((_, known)) => known.extend(times),
                            None => all.push((task, times)),
                        }
                    }
                }
            }
            let median = |times: &mut Vec<Duration>| {
                times.sort();
                times[times.len() / 2].as_secs_f64() * 1e3
            };
            let [one, two] = &mut all;
            for ((task, one), (_, two)) in one.iter_mut().zip(two) {
                let (one, two) = (median(one), median(two));
                println!(
                    "| {name} | {what} | {task} | {size} | {one:.4} | {two:.4} | {:.2} | {:.4} |",
                    two / one,
                    two / size as f64 * 1e3
                );
            }
        }
    }
}

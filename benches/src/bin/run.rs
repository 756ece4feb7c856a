//! Generated code against hand-written Rust with rayon:
//! `cargo run --release -p pointful-benches --bin run`.
//!
//! Both get the same inputs and are checked to give the same results before they are timed.

use pointful::prelude::*;
use pointful_benches::{Comparison, compare};
use rayon::prelude::*;

#[allow(
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own"
)]
#[path = "../../../examples/histogram.rs"]
mod histogram;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own"
)]
#[path = "../../../examples/hotspot.rs"]
mod hotspot;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own"
)]
#[path = "../../../examples/matmul.rs"]
mod matmul;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own"
)]
#[path = "../../../examples/mriq.rs"]
mod mriq;

/// Deterministic numbers in `[0, 1)`.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let step = |state: &mut u64| {
        // splitmix64
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 11
    };
    (0..n)
        .map(|_| step(&mut state) as f64 / (1u64 << 53) as f64)
        .collect()
}

fn singles(n: usize, seed: u64) -> Vec<f32> {
    noise(n, seed).into_iter().map(|x| x as f32).collect()
}

fn main() {
    println!("| workload | pointful, ms | by hand, ms | ratio | quartiles |");
    println!("|---|---|---|---|---|");
    report("hotspot 1024², 60 steps, f32", bench_hotspot());
    report("mri-q 32768 × 3072, f32", bench_mriq());
    report("histogram 10⁷ into 256, u32 and f64", bench_histogram());
    report("matmul 512, f64", bench_matmul());
}

fn report(name: &str, c: Comparison) {
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.2} to {:.2} |",
        ms(c.ours),
        ms(c.theirs),
        c.ratio,
        c.quartiles.0,
        c.quartiles.1
    );
}

fn assert_close(
    ours: impl Iterator<Item = f64>,
    theirs: impl Iterator<Item = f64>,
    tolerance: f64,
) {
    for (k, (a, b)) in ours.zip(theirs).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * b.abs().max(1.0),
            "element {k}: {a} and {b}"
        );
    }
}

fn bench_hotspot() -> Comparison {
    const N: usize = 1024;
    const STEPS: usize = 60;
    let extent = Extent::new((N, N));
    let start: Vec<f32> = singles(N * N, 1).iter().map(|x| 320.0 + 10.0 * x).collect();
    let power: Vec<f32> = singles(N * N, 2).iter().map(|x| 0.01 * x).collect();
    let temperature =
        Table::<(hotspot::Row, hotspot::Column), f32>::from_vec(extent, start.clone())
            .expect("square");
    let heat = Table::from_vec(extent, power.clone()).expect("square");
    let ours = || hotspot::hotspot(temperature.clone(), &heat, STEPS);
    let theirs = || hotspot_by_hand(start.clone(), &power, N, STEPS);
    let (a, b) = (ours(), theirs());
    assert_close(
        a.as_slice().iter().map(|&x| f64::from(x)),
        b.iter().map(|&x| f64::from(x)),
        1e-4,
    );
    compare(15, ours, theirs)
}

fn hotspot_by_hand(mut t: Vec<f32>, power: &[f32], n: usize, steps: usize) -> Vec<f32> {
    let (height, width) = (0.016 / n as f32, 0.016 / n as f32);
    let capacity = 0.5 * 1.75e6 * 0.0005 * width * height;
    let rx = width / (2.0 * 100.0 * 0.0005 * height);
    let ry = height / (2.0 * 100.0 * 0.0005 * width);
    let rz = 0.0005 / (100.0 * height * width);
    let slope = 3.0e6 / (0.5 * 0.0005 * 1.75e6);
    let scale = 0.001 / slope / capacity;
    let mut next = vec![0.0f32; n * n];
    for _ in 0..steps {
        next.par_chunks_mut(n).enumerate().for_each(|(r, row)| {
            let up = &t[r.saturating_sub(1) * n..][..n];
            let here = &t[r * n..][..n];
            let down = &t[(r + 1).min(n - 1) * n..][..n];
            let p = &power[r * n..][..n];
            let cell = |c: usize, west: f32, east: f32| {
                let vertical = up[c] + down[c] - 2.0 * here[c];
                let horizontal = east + west - 2.0 * here[c];
                here[c] + scale * (p[c] + vertical / ry + horizontal / rx + (80.0 - here[c]) / rz)
            };
            row[0] = cell(0, here[0], here[1]);
            for c in 1..n - 1 {
                row[c] = cell(c, here[c - 1], here[c + 1]);
            }
            row[n - 1] = cell(n - 1, here[n - 2], here[n - 1]);
        });
        std::mem::swap(&mut t, &mut next);
    }
    t
}

fn bench_mriq() -> Comparison {
    const VOXELS: usize = 32768;
    const SAMPLES: usize = 3072;
    let samples: Vec<Vec<f32>> = (0..5).map(|k| singles(SAMPLES, 10 + k)).collect();
    let voxels: Vec<Vec<f32>> = (0..3).map(|k| singles(VOXELS, 20 + k)).collect();
    let s = |k: usize| Table::from_vec(Extent::new(SAMPLES), samples[k].clone()).expect("one axis");
    let v = |k: usize| Table::from_vec(Extent::new(VOXELS), voxels[k].clone()).expect("one axis");
    let (kx, ky, kz, phi_r, phi_i) = (s(0), s(1), s(2), s(3), s(4));
    let (x, y, z) = (v(0), v(1), v(2));
    let ours = || mriq::q(&kx, &ky, &kz, &x, &y, &z, &phi_r, &phi_i);
    let theirs = || {
        let magnitude: Vec<f32> = samples[3]
            .iter()
            .zip(&samples[4])
            .map(|(r, i)| r * r + i * i)
            .collect();
        (0..VOXELS)
            .into_par_iter()
            .map(|v| {
                let (mut re, mut im) = (0.0f32, 0.0f32);
                for k in 0..SAMPLES {
                    let phase = samples[0][k] * voxels[0][v]
                        + samples[1][k] * voxels[1][v]
                        + samples[2][k] * voxels[2][v];
                    let (sin, cos) = (2.0 * std::f32::consts::PI * phase).sin_cos();
                    re += magnitude[k] * cos;
                    im += magnitude[k] * sin;
                }
                (re, im)
            })
            .unzip::<f32, f32, Vec<f32>, Vec<f32>>()
    };
    let (a, b) = (ours(), theirs());
    assert_close(
        a.0.as_slice().iter().map(|&x| f64::from(x)),
        b.0.iter().map(|&x| f64::from(x)),
        1e-2,
    );
    assert_close(
        a.1.as_slice().iter().map(|&x| f64::from(x)),
        b.1.iter().map(|&x| f64::from(x)),
        1e-2,
    );
    compare(5, ours, theirs)
}

fn bench_histogram() -> Comparison {
    const N: usize = 10_000_000;
    const BINS: usize = 256;
    let ordinals: Vec<usize> = noise(N, 3)
        .iter()
        .map(|x| (x * BINS as f64) as usize)
        .collect();
    let weights = noise(N, 4);
    let extent = Extent::<Dyn>::new(N);
    let class = Table::<Dyn, Fin<BINS>>::from_indices(extent, Extent::default(), ordinals.clone())
        .expect("all below 256");
    let weight = Table::<Dyn, f64>::from_vec(extent, weights.clone()).expect("as many");
    let ours = || histogram::histogram(&class, &weight);
    let theirs = || {
        let piece = N.div_ceil(rayon::current_num_threads());
        ordinals
            .par_chunks(piece)
            .zip(weights.par_chunks(piece))
            .map(|(classes, weights)| {
                let (mut count, mut total) = (vec![0u32; BINS], vec![0.0f64; BINS]);
                for (&k, &w) in classes.iter().zip(weights) {
                    count[k] += 1;
                    total[k] += w;
                }
                (count, total)
            })
            .reduce(
                || (vec![0u32; BINS], vec![0.0f64; BINS]),
                |mut a, b| {
                    a.0.iter_mut().zip(b.0).for_each(|(x, y)| *x += y);
                    a.1.iter_mut().zip(b.1).for_each(|(x, y)| *x += y);
                    a
                },
            )
    };
    let (a, b) = (ours(), theirs());
    assert_eq!(a.0.as_slice(), b.0);
    assert_close(a.1.as_slice().iter().copied(), b.1.iter().copied(), 1e-9);
    compare(15, ours, theirs)
}

fn bench_matmul() -> Comparison {
    const N: usize = 512;
    let (left, right) = (noise(N * N, 5), noise(N * N, 6));
    let extent = Extent::<(Dyn, Dyn)>::new((N, N));
    let a = Table::from_vec(extent, left.clone()).expect("square");
    let b = Table::from_vec(extent, right.clone()).expect("square");
    let ours = || matmul::matmul(&a, &b);
    let theirs = || {
        let mut out = vec![0.0f64; N * N];
        out.par_chunks_mut(N).enumerate().for_each(|(i, row)| {
            for k in 0..N {
                let factor = left[i * N + k];
                for (o, r) in row.iter_mut().zip(&right[k * N..][..N]) {
                    *o += factor * r;
                }
            }
        });
        out
    };
    let (x, y) = (ours(), theirs());
    assert_close(x.as_slice().iter().copied(), y.iter().copied(), 1e-9);
    compare(15, ours, theirs)
}

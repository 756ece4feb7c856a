//! Parboil's mri-q: the calibration matrix of a non-Cartesian scan,
//! `Q(x) = Σₖ |φₖ|² (cos, sin)(2π k·x)`.

use std::f32::consts::PI;

use pointful::prelude::*;
use pointful_examples::{data, futhark};

/// A voxel.
#[derive(Clone, Copy, IndexSet)]
pub struct Voxel(usize);

/// A sample in frequency space.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// Real and imaginary part of Q at every voxel.
#[pointful]
#[expect(clippy::too_many_arguments, reason = "three coordinates twice")]
pub fn q(
    kx: &Table<Sample, f32>,
    ky: &Table<Sample, f32>,
    kz: &Table<Sample, f32>,
    x: &Table<Voxel, f32>,
    y: &Table<Voxel, f32>,
    z: &Table<Voxel, f32>,
    phi_r: &Table<Sample, f32>,
    phi_i: &Table<Sample, f32>,
) -> (Table<Voxel, f32>, Table<Voxel, f32>) {
    let magnitude = for k in Sample {
        phi_r[k] * phi_r[k] + phi_i[k] * phi_i[k]
    };
    for v in Voxel {
        let angle = for k in Sample {
            2.0 * PI * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v])
        };
        (
            sum(for k in Sample {
                magnitude[k] * angle[k].cos()
            }),
            sum(for k in Sample {
                magnitude[k] * angle[k].sin()
            }),
        )
    }
}

/// The suite's small input.
fn input() -> ([Table<Sample, f32>; 5], [Table<Voxel, f32>; 3]) {
    let bytes = std::fs::read(data("mriq_small.in")).expect("the data is shipped");
    let values = futhark::parse(&bytes).expect("the data is well-formed");
    let sample = |k: usize| {
        Table::from_vec(Extent::new(values[k].dims[0]), values[k].to_f32()).expect("rank 1")
    };
    let voxel = |k: usize| {
        Table::from_vec(Extent::new(values[k].dims[0]), values[k].to_f32()).expect("rank 1")
    };
    (
        [sample(0), sample(1), sample(2), sample(6), sample(7)],
        [voxel(3), voxel(4), voxel(5)],
    )
}

fn main() {
    let ([kx, ky, kz, phi_r, phi_i], [x, y, z]) = input();
    let (re, im) = q(&kx, &ky, &kz, &x, &y, &z, &phi_r, &phi_i);
    println!("re {re}\nim {im}");
}

#[test]
fn gives_the_published_output() {
    let ([kx, ky, kz, phi_r, phi_i], [x, y, z]) = input();
    let (re, im) = q(&kx, &ky, &kz, &x, &y, &z, &phi_r, &phi_i);
    let bytes = std::fs::read(data("mriq_small.out")).unwrap();
    let expected = futhark::parse(&bytes).unwrap();
    for (ours, theirs) in [(&re, &expected[0]), (&im, &expected[1])] {
        // Thousands of terms in single precision: compared with the size of the sum.
        let scale = theirs.data.iter().fold(0.0f64, |a, b| a.max(b.abs())) as f32;
        for (k, (&a, b)) in ours.as_slice().iter().zip(theirs.to_f32()).enumerate() {
            assert!(
                (a - b).abs() <= 1e-3 * scale,
                "voxel {k}: {a}, published {b}"
            );
        }
    }
}

#[test]
fn only_results_are_stored() {
    assert_eq!(
        explain!(q).lines().next(),
        Some("q: kernels 1, allocations 2, copies 0, swaps 0, host loops 0")
    );
}

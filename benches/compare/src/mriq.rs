//! Parboil's mri-q: the calibration matrix of a non-Cartesian scan,
//! `Q(x) = Σₖ |φₖ|² (cos, sin)(2π k·x)`.

use std::f32::consts::PI;

use pointful::prelude::*;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A voxel.
#[derive(Clone, Copy, IndexSet)]
pub struct Voxel(usize);

/// A sample in frequency space.
#[derive(Clone, Copy, IndexSet)]
pub struct Sample(usize);

/// A coordinate in space or in frequency space.
#[pointful]
pub type Space = Fin<3>;

/// Real and imaginary part of Q at every voxel. Of samples there are the coordinates, then real and
/// imaginary part.
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
    for v in Voxel {
        let mut re = 0.0;
        let mut im = 0.0;
        for k in Sample {
            let angle = 2.0 * PI * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v]);
            let magnitude = phi_r[k] * phi_r[k] + phi_i[k] * phi_i[k];
            re += magnitude * angle.cos();
            im += magnitude * angle.sin();
        }
        (re, im)
    }
}

/// The energy of Q.
#[pointful]
#[expect(clippy::too_many_arguments, reason = "three coordinates twice")]
pub fn loss(
    kx: &Table<Sample, f32>,
    ky: &Table<Sample, f32>,
    kz: &Table<Sample, f32>,
    x: &Table<Voxel, f32>,
    y: &Table<Voxel, f32>,
    z: &Table<Voxel, f32>,
    phi_r: &Table<Sample, f32>,
    phi_i: &Table<Sample, f32>,
) -> f32 {
    let (re, im) = q(kx, ky, kz, x, y, z, phi_r, phi_i);
    mean(for v in Voxel {
        re[v].powi(2) + im[v].powi(2)
    })
}

/// The same by voxels in parallel. Of `samples` there are `kx`, `ky`, `kz`, real and imaginary
/// part.
fn by_hand(samples: [&[f32]; 5], voxels: [&[f32]; 3]) -> (Vec<f32>, Vec<f32>) {
    let [kx, ky, kz, phi_r, phi_i] = samples;
    let [x, y, z] = voxels;
    let magnitude: Vec<f32> = phi_r.iter().zip(phi_i).map(|(r, i)| r * r + i * i).collect();
    (0..x.len())
        .into_par_iter()
        .map(|v| {
            let (mut re, mut im) = (0.0f32, 0.0f32);
            for k in 0..kx.len() {
                let angle = 2.0 * PI * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v]);
                let (sin, cos) = angle.sin_cos();
                re += magnitude[k] * cos;
                im += magnitude[k] * sin;
            }
            (re, im)
        })
        .unzip()
}

/// Six samples, nine voxels.
pub(crate) fn small() -> Inputs {
    let single = |x: f64| 0.5 * x as f32;
    let mut inputs = Inputs::made();
    for (seed, name) in (1..).zip(SAMPLES) {
        inputs = inputs.noise(name, Extent::<Dyn>::new(6), seed, single);
    }
    for (seed, name) in (11..).zip(VOXELS) {
        inputs = inputs.noise(name, Extent::<Dyn>::new(9), seed, single);
    }
    inputs
}

/// What is known of each sample.
const SAMPLES: [&str; 5] = ["kx", "ky", "kz", "phi_r", "phi_i"];
/// What is known of each voxel.
const VOXELS: [&str; 3] = ["x", "y", "z"];

struct Input {
    samples: [Table<Sample, f32>; 5],
    voxels: [Table<Voxel, f32>; 3],
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let [kx, ky, kz, phi_r, phi_i] = SAMPLES.map(|name| inputs.table(name));
    let [x, y, z] = VOXELS.map(|name| inputs.table(name));
    let input = Rc::new(Input {
        samples: [kx?, ky?, kz?, phi_r?, phi_i?],
        voxels: [x?, y?, z?],
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    let slopes = &["value", "kx", "ky", "kz", "phi_r", "phi_i"];
    Ok(vec![
        Task::pointful("run", &["re", "im"], move || {
            let [kx, ky, kz, phi_r, phi_i] = &a.samples;
            let [x, y, z] = &a.voxels;
            q(kx, ky, kz, x, y, z, phi_r, phi_i)
        }),
        Task::pointful("value", &["value"], move || {
            let [kx, ky, kz, phi_r, phi_i] = &b.samples;
            let [x, y, z] = &b.voxels;
            loss(kx, ky, kz, x, y, z, phi_r, phi_i)
        }),
        Task::pointful("gradient", slopes, move || {
            let [kx, ky, kz, phi_r, phi_i] = &c.samples;
            let [x, y, z] = &c.voxels;
            let (value, (by_kx, by_ky, by_kz, by_r, by_i)) =
                value_and_grad!(loss, wrt = (kx, ky, kz, phi_r, phi_i))(
                    kx, ky, kz, x, y, z, phi_r, phi_i,
                );
            (value, by_kx, by_ky, by_kz, by_r, by_i)
        }),
        Task::hand("run", &["re", "im"], move || {
            by_hand(
                d.samples.each_ref().map(Table::as_slice),
                d.voxels.each_ref().map(Table::as_slice),
            )
        }),
    ])
}

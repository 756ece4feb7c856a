//! Bundle adjustment, as the ADBench suite has it: `pointful_adbench::ba`. Its derivative is a
//! sparse Jacobian, in blocks.

use std::sync::Arc;

use pointful::prelude::*;
use pointful_adbench::ba;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// Seven observations of three points by two cameras.
pub(crate) fn small() -> Inputs {
    let (n, m, p) = (2, 3, 7);
    let camera = Table::from_fn(Extent::<Dyn>::new(p), |o| (o.ordinal(Extent::new(p)) % n) as i32);
    let point = Table::from_fn(Extent::<Dyn>::new(p), |o| (o.ordinal(Extent::new(p)) % m) as i32);
    // The points are in front of the cameras.
    let points = Table::from_fn(Extent::<(Dyn, Fin<3>)>::new((m, ())), |(p, i)| {
        let (p, i) = (p.ordinal(Extent::new(m)), i.ordinal(Extent::new(())));
        0.1 * p as f64 + if i == 2 { 3.0 } else { 0.2 }
    });
    Inputs::made()
        .noise("cameras", Extent::<(Dyn, Fin<11>)>::new((n, ())), 1, |x| {
            0.5 * x
        })
        .with("points", &points)
        .noise("weights", Extent::<Dyn>::new(p), 3, |x| x)
        .noise("features", Extent::<(Dyn, Fin<2>)>::new((p, ())), 4, |x| x)
        .with("camera", &camera)
        .with("point", &point)
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let cameras: Table<(ba::Camera, Fin<11>), f64> = inputs.table("cameras")?;
    let points: Table<(ba::Point, Fin<3>), f64> = inputs.table("points")?;
    let seen_by = Extent::new(cameras.extent().axes()[0]);
    let seen = Extent::new(points.extent().axes()[0]);
    let input = Arc::new(ba::Input {
        weights: inputs.table("weights")?,
        features: inputs.table("features")?,
        camera: inputs.indices("camera", seen_by)?,
        point: inputs.indices("point", seen)?,
        cameras,
        points,
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let errors = &["errors", "weight_errors"];
    let blocks = &["by_camera", "by_point", "by_weight", "of_weights"];
    Ok(vec![
        Task::pointful("value", errors, move || a.objective()),
        Task::pointful("jacobian", blocks, move || b.jacobian()),
        Task::hand("value", errors, move || by_hand(&c)),
    ])
}

fn by_hand(input: &ba::Input) -> (Vec<f64>, Vec<f64>) {
    let (cameras, points) = (input.cameras.as_slice(), input.points.as_slice());
    let (weights, features) = (input.weights.as_slice(), input.features.as_slice());
    let (camera, point) = (input.camera.ordinals(), input.point.ordinals());
    let mut errors = vec![0.0; 2 * weights.len()];
    errors
        .par_chunks_mut(2)
        .with_min_len(256)
        .enumerate()
        .for_each(|(o, errors)| {
            let camera = &cameras[11 * camera[o]..][..11];
            let point = &points[3 * point[o]..][..3];
            let seen = project(camera, point);
            for i in 0..2 {
                errors[i] = weights[o] * (seen[i] - features[2 * o + i]);
            }
        });
    let weight_errors = weights.par_iter().map(|w| 1.0 - w * w).collect();
    (errors, weight_errors)
}

fn project(camera: &[f64], point: &[f64]) -> [f64; 2] {
    let x = [0, 1, 2].map(|i| point[i] - camera[3 + i]);
    let r = &camera[..3];
    let square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    let cross = [
        r[1] * x[2] - r[2] * x[1],
        r[2] * x[0] - r[0] * x[2],
        r[0] * x[1] - r[1] * x[0],
    ];
    let seen = if square == 0.0 {
        [0, 1, 2].map(|i| x[i] + cross[i])
    } else {
        let angle = square.sqrt();
        let (sine, cosine) = angle.sin_cos();
        let along = (r[0] * x[0] + r[1] * x[1] + r[2] * x[2]) * (1.0 - cosine) / square;
        [0, 1, 2].map(|i| x[i] * cosine + cross[i] * sine / angle + r[i] * along)
    };
    let flat = [seen[0] / seen[2], seen[1] / seen[2]];
    let square = flat[0] * flat[0] + flat[1] * flat[1];
    let distortion = 1.0 + camera[9] * square + camera[10] * square * square;
    [0, 1].map(|i| camera[6] * distortion * flat[i] + camera[7 + i])
}

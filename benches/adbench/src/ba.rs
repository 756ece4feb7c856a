//! Bundle adjustment: how far points seen by cameras are from where they should be seen.

use std::path::Path;

use pointful::prelude::*;

use crate::read::{self, ReadError, Words};

/// A camera. Its parameters are an axis of rotation as long as the angle (three), the centre
/// (three), the focal length, the principal point (two) and the radial distortion (two).
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Camera(usize);

/// A point in space.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Point(usize);

/// An observation of a point by a camera.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Observation(usize);

/// The point `x` rotated about the axis `r` by the angle of its length.
#[pointful]
fn rotate(r: &Table<Fin<3>, f64>, x: &Table<Fin<3>, f64>) -> Table<Fin<3>, f64> {
    let square = sum(for i in _ {
        r[i].powi(2)
    });
    let cross = for i in Fin::<3> {
        r[(i + 1).wrap()] * x[(i + 2).wrap()] - r[(i + 2).wrap()] * x[(i + 1).wrap()]
    };
    if square == 0.0 {
        for i in _ {
            x[i] + cross[i]
        }
    } else {
        let angle = square.sqrt();
        let (sine, cosine) = angle.sin_cos();
        let along = sum(for i in _ {
            r[i] * x[i]
        }) * (1.0 - cosine)
            / square;
        for i in _ {
            x[i] * cosine + cross[i] * sine / angle + r[i] * along
        }
    }
}

/// Where a camera sees a point.
#[pointful]
pub fn project(camera: &Table<Fin<11>, f64>, point: &Table<Fin<3>, f64>) -> Table<Fin<2>, f64> {
    let axis = for i in Fin::<3> {
        camera[i.ordinal()]
    };
    let seen = rotate(
        &axis,
        &for i in Fin::<3> {
            point[i] - camera[i.ordinal() + 3]
        },
    );
    let flat = for i in Fin::<2> {
        seen[i.ordinal()] / seen[2]
    };
    let square = sum(for i in _ {
        flat[i].powi(2)
    });
    let distortion = 1.0 + camera[9] * square + camera[10] * square.powi(2);
    for i in _ {
        camera[6] * distortion * flat[i] + camera[i.ordinal() + 7]
    }
}

/// How far an observation is from its feature, by its weight.
#[pointful]
pub fn residual(
    camera: &Table<Fin<11>, f64>,
    point: &Table<Fin<3>, f64>,
    weight: f64,
    feature: &Table<Fin<2>, f64>,
) -> Table<Fin<2>, f64> {
    let seen = project(camera, point);
    for i in _ {
        weight * (seen[i] - feature[i])
    }
}

/// What keeps a weight from vanishing.
#[pointful]
pub fn weight_error(weight: f64) -> f64 {
    1.0 - weight.powi(2)
}

/// The residuals of all observations, and of all weights.
#[pointful]
pub fn objective(
    cameras: &Table<(Camera, Fin<11>), f64>,
    points: &Table<(Point, Fin<3>), f64>,
    weights: &Table<Observation, f64>,
    features: &Table<(Observation, Fin<2>), f64>,
    camera: &Table<Observation, Camera>,
    point: &Table<Observation, Point>,
) -> (Table<(Observation, Fin<2>), f64>, Table<Observation, f64>) {
    let errors = for o in Observation {
        residual(
            &cameras[camera[o]],
            &points[point[o]],
            weights[o],
            &features[o],
        )
    };
    (
        errors,
        for o in Observation {
            weight_error(weights[o])
        },
    )
}

/// What is not zero of the Jacobian: the derivatives of each observation's residuals by its camera,
/// its point and its weight, and those of the weights' errors by the weights.
#[pointful]
pub fn jacobian_blocks(
    cameras: &Table<(Camera, Fin<11>), f64>,
    points: &Table<(Point, Fin<3>), f64>,
    weights: &Table<Observation, f64>,
    features: &Table<(Observation, Fin<2>), f64>,
    camera: &Table<Observation, Camera>,
    point: &Table<Observation, Point>,
) -> (
    Table<(Observation, Fin<2>, Fin<11>), f64>,
    Table<(Observation, Fin<2>, Fin<3>), f64>,
    Table<(Observation, Fin<2>), f64>,
    Table<Observation, f64>,
) {
    let (by_camera, by_point, by_weight) = for o in Observation {
        jacobian!(residual, wrt = (camera, point, weight))(
            &cameras[camera[o]],
            &points[point[o]],
            weights[o],
            &features[o],
        )
    };
    (
        by_camera,
        by_point,
        by_weight,
        for o in Observation {
            grad!(weight_error)(weights[o])
        },
    )
}

/// What the objective takes.
#[derive(Clone, Debug)]
pub struct Input {
    /// The cameras.
    pub cameras: Table<(Camera, Fin<11>), f64>,
    /// The points.
    pub points: Table<(Point, Fin<3>), f64>,
    /// How much each observation counts.
    pub weights: Table<Observation, f64>,
    /// Where the points were seen.
    pub features: Table<(Observation, Fin<2>), f64>,
    /// By which camera.
    pub camera: Table<Observation, Camera>,
    /// And which point it was.
    pub point: Table<Observation, Point>,
}

impl Input {
    /// Of one of the suite's files.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = read::text(path)?;
        let mut words = Words::new(&text);
        let [n, m, p]: [usize; 3] = [words.next("n")?, words.next("m")?, words.next("p")?];
        let camera: Vec<f64> = words.take(11, "a camera's parameter")?;
        let point: Vec<f64> = words.take(3, "a coordinate")?;
        let weight = words.next("a weight")?;
        let feature: Vec<f64> = words.take(2, "a coordinate of a feature")?;
        words.end()?;
        Ok(Input::repeated(
            [n, m, p],
            &camera,
            &point,
            weight,
            &feature,
        )?)
    }

    /// So many cameras, points and observations, all the same; cameras and points take turns.
    ///
    /// # Errors
    /// If a camera has not 11 parameters, a point not three coordinates, a feature not two; if
    /// there are observations of no camera or point; if memory cannot hold them.
    pub fn repeated(
        [n, m, p]: [usize; 3],
        camera: &[f64],
        point: &[f64],
        weight: f64,
        feature: &[f64],
    ) -> Result<Self, pointful::Error> {
        let observations = Extent::try_new(p)?;
        let turns = |n: usize| (0..p).map(|o| o % n.max(1)).collect();
        Ok(Input {
            cameras: Table::from_vec(Extent::try_new((n, ()))?, camera.repeat(n))?,
            points: Table::from_vec(Extent::try_new((m, ()))?, point.repeat(m))?,
            weights: Table::full(observations, weight),
            features: Table::from_vec(Extent::try_new((p, ()))?, feature.repeat(p))?,
            camera: Table::from_indices(observations, Extent::try_new(n)?, turns(n))?,
            point: Table::from_indices(observations, Extent::try_new(m)?, turns(m))?,
        })
    }

    /// The first camera, point and observation, repeated to other numbers.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn resized(&self, cameras: usize, points: usize, observations: usize) -> Self {
        let (camera, point) = (&self.cameras.as_slice()[..11], &self.points.as_slice()[..3]);
        let (weight, feature) = (self.weights.as_slice()[0], &self.features.as_slice()[..2]);
        Input::repeated(
            [cameras, points, observations],
            camera,
            point,
            weight,
            feature,
        )
        .expect("sizes that memory can hold")
    }

    /// The residuals.
    pub fn objective(&self) -> (Table<(Observation, Fin<2>), f64>, Table<Observation, f64>) {
        objective(
            &self.cameras,
            &self.points,
            &self.weights,
            &self.features,
            &self.camera,
            &self.point,
        )
    }

    /// The Jacobian's blocks: see [`jacobian_blocks`].
    pub fn jacobian(
        &self,
    ) -> (
        Table<(Observation, Fin<2>, Fin<11>), f64>,
        Table<(Observation, Fin<2>, Fin<3>), f64>,
        Table<(Observation, Fin<2>), f64>,
        Table<Observation, f64>,
    ) {
        jacobian_blocks(
            &self.cameras,
            &self.points,
            &self.weights,
            &self.features,
            &self.camera,
            &self.point,
        )
    }
}

#[cfg(test)]
mod tests {
    use pointful_examples::differences;

    use super::*;
    use crate::data;

    #[track_caller]
    fn near(found: f64, known: f64) {
        assert!(
            (found - known).abs() <= 1e-9 * known.abs().max(1.0),
            "{found}, not {known}"
        );
    }

    /// The suite's own answers.
    #[test]
    fn known_residuals_and_rows() {
        let input = Input::read(&data("ba_test.txt")).expect("the data is shipped");
        let text = read::text(&data("ba_test_answer.txt")).expect("the data is shipped");
        let mut words = Words::new(&text);
        let mut known = |n: usize| words.take::<f64>(n, "an answer").expect("a number");
        let (errors, of_weights) = input.objective();
        assert_eq!((errors.len(), of_weights.len()), (20, 10));
        let pair = known(2);
        errors
            .iter()
            .zip(pair.iter().cycle())
            .for_each(|(&found, &known)| near(found, known));
        let of_weight = known(1);
        of_weights
            .iter()
            .for_each(|&found| near(found, of_weight[0]));
        let rows = [known(15), known(15)];
        let (by_camera, by_point, by_weight, of_weights) = input.jacobian();
        for at in 0..20 {
            let camera = &by_camera.as_slice()[11 * at..][..11];
            let point = &by_point.as_slice()[3 * at..][..3];
            let found = [camera, point, &by_weight.as_slice()[at..][..1]].concat();
            found
                .iter()
                .zip(&rows[at % 2])
                .for_each(|(&found, &known)| near(found, known));
        }
        let of_weight = known(1);
        of_weights
            .iter()
            .for_each(|&found| near(found, of_weight[0]));
        words.end().expect("all was looked at");
    }

    /// Where all observations, cameras and points differ, also with a camera that is not turned,
    /// every row is its own.
    #[test]
    fn rows_by_differences() {
        let mut noise = crate::noise::Noise::new(5);
        for (n, m, p) in [(1, 1, 0), (1, 1, 1), (2, 3, 7), (3, 2, 40)] {
            let observations = Extent::<Observation>::new(p);
            let pick = |n: usize| (0..p).map(|o| (7 * o + o / 3) % n).collect();
            let mut cameras = noise.vec(11 * n);
            cameras[..3].fill(0.0);
            // In front of the camera.
            cameras
                .iter_mut()
                .skip(5)
                .step_by(11)
                .for_each(|z| *z -= 10.0);
            let input = Input {
                cameras: Table::from_vec(Extent::new((n, ())), cameras).expect("full"),
                points: Table::from_vec(Extent::new((m, ())), noise.vec(3 * m)).expect("full"),
                weights: Table::from_vec(observations, noise.vec(p)).expect("full"),
                features: Table::from_vec(Extent::new((p, ())), noise.vec(2 * p)).expect("full"),
                camera: Table::from_indices(observations, Extent::new(n), pick(n))
                    .expect("members"),
                point: Table::from_indices(observations, Extent::new(m), pick(m)).expect("members"),
            };
            let (by_camera, by_point, by_weight, of_weights) = input.jacobian();
            for o in 0..p {
                let (c, q) = (input.camera.ordinals()[o], input.point.ordinals()[o]);
                for r in 0..2 {
                    let at = 2 * o + r;
                    let error = |input: &Input| input.objective().0.as_slice()[at];
                    let mut moved = input.clone();
                    // A turn of nothing is a kink of the formula, though not of the function: no differences there.
                    let turned = if c == 0 { 3 } else { 0 };
                    let approximate = differences::gradient(
                        &input.cameras.as_slice()[11 * c + turned..][..11 - turned],
                        |x| {
                            moved.cameras.as_mut_slice()[11 * c + turned..][..11 - turned]
                                .copy_from_slice(x);
                            error(&moved)
                        },
                    );
                    differences::assert_close(
                        &by_camera.as_slice()[11 * at + turned..][..11 - turned],
                        &approximate,
                        1e-6,
                    );
                    let mut moved = input.clone();
                    let approximate =
                        differences::gradient(&input.points.as_slice()[3 * q..][..3], |x| {
                            moved.points.as_mut_slice()[3 * q..][..3].copy_from_slice(x);
                            error(&moved)
                        });
                    differences::assert_close(
                        &by_point.as_slice()[3 * at..][..3],
                        &approximate,
                        1e-6,
                    );
                    let mut moved = input.clone();
                    let approximate =
                        differences::gradient(&input.weights.as_slice()[o..][..1], |x| {
                            moved.weights.as_mut_slice()[o] = x[0];
                            error(&moved)
                        });
                    differences::assert_close(&by_weight.as_slice()[at..][..1], &approximate, 1e-6);
                }
                near(of_weights.as_slice()[o], -2.0 * input.weights.as_slice()[o]);
            }
        }
    }
}

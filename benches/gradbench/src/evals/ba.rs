//! Bundle adjustment: how far points seen by cameras are from where they should be seen.

use pointful::prelude::*;
use serde::{Deserialize, Serialize};

use crate::protocol::{Answer, Failure, Request};

/// A camera.
#[derive(Clone, Copy, IndexSet)]
pub struct Camera(usize);

/// A point in space.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// An observation of a point by a camera.
#[derive(Clone, Copy, IndexSet)]
pub struct Observation(usize);

/// A camera's parameters: rotation (three), centre (three), focal length, principal point (two), radial distortion (two).
pub type View = Fin<11>;

/// The parameters that an observation depends on: its camera's, its point's, its weight.
pub type Block = Either<Fin<11>, Either<Fin<3>, Fin<1>>>;

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
fn project(camera: &Table<Fin<11>, f64>, point: &Table<Fin<3>, f64>) -> Table<Fin<2>, f64> {
    let from = for i in Fin::<3> {
        point[i] - camera[i.ordinal() + 3]
    };
    let seen = rotate(
        &for i in Fin::<3> {
            camera[i.ordinal()]
        },
        &from,
    );
    let flat = for i in Fin::<2> {
        seen[i.ordinal()] / seen[2]
    };
    let square = sum(for i in _ {
        flat[i].powi(2)
    });
    let distortion = 1.0 + camera[9] * square + camera[10] * square.powi(2);
    for i in _ {
        flat[i] * distortion * camera[6] + camera[i.ordinal() + 7]
    }
}

/// How far an observation is from where its feature was found.
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

/// What keeps a weight from becoming zero.
#[pointful]
fn weight_residual(weight: f64) -> f64 {
    1.0 - weight * weight
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
        for o in _ {
            weight_residual(weights[o])
        },
    )
}

/// What is not zero of the Jacobian, by rows: two for each observation, then one for each weight.
#[pointful]
pub fn derivatives(
    cameras: &Table<(Camera, Fin<11>), f64>,
    points: &Table<(Point, Fin<3>), f64>,
    weights: &Table<Observation, f64>,
    features: &Table<(Observation, Fin<2>), f64>,
    camera: &Table<Observation, Camera>,
    point: &Table<Observation, Point>,
) -> (
    Table<(Observation, Fin<2>, Either<Fin<11>, Either<Fin<3>, Fin<1>>>), f64>,
    Table<Observation, f64>,
) {
    let blocks = for o in Observation {
        let (view, place, weight) = jacobian!(residual, wrt = (camera, point, weight))(
            &cameras[camera[o]],
            &points[point[o]],
            weights[o],
            &features[o],
        );
        for (r, b) in (Fin::<2>, Either::<Fin<11>, Either<Fin<3>, Fin<1>>>) {
            match b {
                Either::Left(i) => view[r][i],
                Either::Right(Either::Left(i)) => place[r][i],
                _ => weight[r],
            }
        }
    };
    (
        blocks,
        for o in _ {
            grad!(weight_residual)(weights[o])
        },
    )
}

/// In which columns of the Jacobian these are: one for each camera's parameters, each point's coordinates, each weight.
#[pointful]
pub fn columns(
    cameras: Extent<Camera>,
    points: Extent<Point>,
    camera: &Table<Observation, Camera>,
    point: &Table<Observation, Point>,
) -> (
    Table<(Observation, Fin<2>, Either<Fin<11>, Either<Fin<3>, Fin<1>>>), usize>,
    Table<Observation, usize>,
) {
    let place = 11 * cameras.len();
    let weight = place + 3 * points.len();
    let blocks = for (o, _r, b) in (
        Observation,
        Fin::<2>,
        Either::<Fin<11>, Either<Fin<3>, Fin<1>>>,
    ) {
        match b {
            Either::Left(i) => 11 * camera[o].ordinal() + i.ordinal(),
            Either::Right(Either::Left(i)) => place + 3 * point[o].ordinal() + i.ordinal(),
            _ => weight + o.ordinal(),
        }
    };
    (
        blocks,
        for o in Observation {
            weight + o.ordinal()
        },
    )
}

/// The Jacobian in compressed rows.
struct Sparse {
    rows: Vec<usize>,
    columns: (
        Table<(Observation, Fin<2>, Block), usize>,
        Table<Observation, usize>,
    ),
    values: (
        Table<(Observation, Fin<2>, Block), f64>,
        Table<Observation, f64>,
    ),
}

#[derive(Deserialize)]
struct Input {
    n: usize,
    m: usize,
    p: usize,
    cam: Vec<f64>,
    x: Vec<f64>,
    w: f64,
    feat: Vec<f64>,
}

#[derive(Serialize)]
struct Errors {
    reproj_error: Repeated<Vec<f64>>,
    w_err: RepeatedOne,
}

#[derive(Serialize)]
struct Repeated<T> {
    elements: T,
    repeated: usize,
}

#[derive(Serialize)]
struct RepeatedOne {
    element: f64,
    repeated: usize,
}

/// The first rows' elements, and the last.
#[derive(Serialize)]
struct Jacobian {
    rows: Vec<usize>,
    cols: Vec<usize>,
    vals: Vec<f64>,
}

/// How many elements the first two rows have.
const FIRST: usize = 2 * (11 + 3 + 1);

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input {
        n,
        m,
        p,
        cam,
        x,
        w,
        feat,
    } = request.input()?;
    if n == 0 || m == 0 || p == 0 {
        return Err("a camera, a point and an observation at least are needed".into());
    }
    // The input has one of each, to be repeated.
    let cameras = Table::from_vec(Extent::new((n, ())), cam.repeat(n))?;
    let points = Table::from_vec(Extent::new((m, ())), x.repeat(m))?;
    let features = Table::from_vec(Extent::new((p, ())), feat.repeat(p))?;
    let weights = Table::full(Extent::<Observation>::new(p), w);
    let (n, m, p) = (Extent::new(n), Extent::new(m), Extent::new(p));
    let camera = Table::from_indices(p, n, (0..p.len()).map(|o| o % n.len()).collect())?;
    let point = Table::from_indices(p, m, (0..p.len()).map(|o| o % m.len()).collect())?;
    match request.function {
        "objective" => request.repeat(
            || objective(&cameras, &points, &weights, &features, &camera, &point),
            |(errors, weights)| Errors {
                reproj_error: Repeated {
                    elements: errors.as_slice()[..2].to_vec(),
                    repeated: p.len(),
                },
                w_err: RepeatedOne {
                    element: weights.as_slice()[0],
                    repeated: p.len(),
                },
            },
        ),
        "jacobian" => request.repeat(
            || Sparse {
                rows: offsets(p.len()),
                columns: columns(n, m, &camera, &point),
                values: derivatives(&cameras, &points, &weights, &features, &camera, &point),
            },
            |sparse| Jacobian {
                rows: ends(&sparse.rows, &[]),
                cols: ends(sparse.columns.0.as_slice(), sparse.columns.1.as_slice()),
                vals: ends(sparse.values.0.as_slice(), sparse.values.1.as_slice()),
            },
        ),
        _ => request.unknown(),
    }
}

/// Where the rows of the Jacobian of `p` observations begin and end.
fn offsets(p: usize) -> Vec<usize> {
    let pairs = (0..=2 * p).map(|row| row * FIRST / 2);
    pairs.chain((1..=p).map(|row| p * FIRST + row)).collect()
}

/// As many of the first elements as the first two rows have, and the last, of two lists one after the other.
fn ends<T: Copy>(first: &[T], rest: &[T]) -> Vec<T> {
    let last = rest.last().or(first.last());
    first.iter().take(FIRST).chain(last).copied().collect()
}

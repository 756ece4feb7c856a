//! Bundle adjustment: how far points seen by cameras are from where they should be seen.

use pointful::prelude::*;
use pointful_adbench::ba::{self, Camera, Observation, Point, residual, weight_error};
use serde::{Deserialize, Serialize};

use crate::protocol::{Answer, Failure, Request};

/// A vector in space.
#[pointful]
pub type Space = Fin<3>;

/// A place in a picture.
#[pointful]
pub type Pixel = Fin<2>;

/// A camera's parameters.
#[pointful]
pub type View = Fin<11>;

/// The parameters that an observation depends on: its camera's, its point's, its weight.
#[pointful]
pub type Block = Either<View, Either<Space, Fin<1>>>;

/// What is not zero of the Jacobian, by rows: two for each observation, then one for each weight.
#[pointful]
pub fn derivatives(
    cameras: &Table<(Camera, View), f64>,
    points: &Table<(Point, Space), f64>,
    weights: &Table<Observation, f64>,
    features: &Table<(Observation, Pixel), f64>,
    camera: &Table<Observation, Camera>,
    point: &Table<Observation, Point>,
) -> (
    Table<(Observation, Pixel, Block), f64>,
    Table<Observation, f64>,
) {
    let blocks = for o in Observation {
        let (by_view, by_point, by_weight) = jacobian!(residual, wrt = (camera, point, weight))(
            &cameras[camera[o]],
            &points[point[o]],
            weights[o],
            &features[o],
        );
        for (r, b) in (Pixel, Block) {
            match b {
                Either::Left(i) => by_view[r][i],
                Either::Right(Either::Left(i)) => by_point[r][i],
                _ => by_weight[r],
            }
        }
    };
    let slopes = for o in Observation {
        grad!(weight_error)(weights[o])
    };
    (blocks, slopes)
}

/// In which columns of the Jacobian these are: one for each camera's parameters, each point's
/// coordinates, each weight.
#[pointful]
pub fn columns(
    cameras: Extent<Camera>,
    points: Extent<Point>,
    camera: &Table<Observation, Camera>,
    point: &Table<Observation, Point>,
) -> (
    Table<(Observation, Pixel, Block), usize>,
    Table<Observation, usize>,
) {
    let place = size(View) * cameras.len();
    let weight = place + size(Space) * points.len();
    let blocks = for (o, _r, b) in (Observation, Pixel, Block) {
        match b {
            Either::Left(i) => size(View) * camera[o].ordinal() + i.ordinal(),
            Either::Right(Either::Left(i)) => {
                place + size(Space) * point[o].ordinal() + i.ordinal()
            }
            _ => weight + o.ordinal(),
        }
    };
    let last = for o in Observation {
        weight + o.ordinal()
    };
    (blocks, last)
}

/// The Jacobian in compressed rows.
struct Sparse {
    rows: Vec<usize>,
    columns: (
        Table<(Observation, Pixel, Block), usize>,
        Table<Observation, usize>,
    ),
    values: (
        Table<(Observation, Pixel, Block), f64>,
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
    let ba::Input {
        cameras,
        points,
        weights,
        features,
        camera,
        point,
    } = ba::Input::repeated([n, m, p], &cam, &x, w, &feat)?;
    match request.function {
        "objective" => request.repeat(
            || ba::objective(&cameras, &points, &weights, &features, &camera, &point),
            |(errors, weights)| Errors {
                reproj_error: Repeated {
                    elements: errors.as_slice()[..2].to_vec(),
                    repeated: p,
                },
                w_err: RepeatedOne {
                    element: weights.as_slice()[0],
                    repeated: p,
                },
            },
        ),
        "jacobian" => request.repeat(
            || Sparse {
                rows: offsets(p),
                columns: columns(camera.target(), point.target(), &camera, &point),
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

/// As many of the first elements as the first two rows have, and the last, of two lists one after
/// the other.
fn ends<T: Copy>(first: &[T], rest: &[T]) -> Vec<T> {
    let last = rest.last().or(first.last());
    first.iter().take(FIRST).chain(last).copied().collect()
}

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

/// A vector in space.
#[pointful]
pub type Space = Fin<3>;

/// A place in a picture.
#[pointful]
pub type Pixel = Fin<2>;

/// A camera's parameters: rotation (three), centre (three), focal length, principal point (two), radial distortion (two).
#[pointful]
pub type View = Fin<11>;

/// The parameters that an observation depends on: its camera's, its point's, its weight.
#[pointful]
pub type Block = Either<View, Either<Space, Fin<1>>>;

/// What is seen by which camera.
#[pointful]
pub struct Photos {
    /// The camera.
    pub camera: Table<Observation, Camera>,
    /// The point.
    pub point: Table<Observation, Point>,
    /// Where in the picture.
    pub feature: Table<(Observation, Pixel), f64>,
}

#[pointful]
fn cross(a: &Table<Space, f64>, b: &Table<Space, f64>) -> Table<Space, f64> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The point `x` rotated about the axis `r` by the angle of its length.
#[pointful]
fn rotate(r: &Table<Space, f64>, x: &Table<Space, f64>) -> Table<Space, f64> {
    let square = sum(r * r);
    if square == 0.0 {
        x + cross(r, x)
    } else {
        let angle = square.sqrt();
        let (sine, cosine) = angle.sin_cos();
        let axis = r / angle;
        x * cosine + cross(&axis, x) * sine + axis * (sum(axis * x) * (1.0 - cosine))
    }
}

/// Where a camera sees a point.
#[pointful]
fn project(view: &Table<View, f64>, point: &Table<Space, f64>) -> Table<Pixel, f64> {
    let turn = [view[0], view[1], view[2]];
    let centre = [view[3], view[4], view[5]];
    let seen = rotate(&turn, &(point - centre));
    let flat = [seen[0] / seen[2], seen[1] / seen[2]];
    let square = sum(flat * flat);
    let distortion = 1.0 + view[9] * square + view[10] * square * square;
    flat * (distortion * view[6]) + [view[7], view[8]]
}

/// How far an observation is from where its feature was found.
#[pointful]
pub fn residual(
    view: &Table<View, f64>,
    point: &Table<Space, f64>,
    weight: f64,
    feature: &Table<Pixel, f64>,
) -> Table<Pixel, f64> {
    weight * (project(view, point) - feature)
}

/// What keeps a weight from becoming zero.
#[pointful]
fn weight_residual(weight: f64) -> f64 {
    1.0 - weight * weight
}

/// The residuals of all observations, and of all weights.
#[pointful]
pub fn objective(
    views: &Table<(Camera, View), f64>,
    points: &Table<(Point, Space), f64>,
    weights: &Table<Observation, f64>,
    photos: &Photos,
) -> (Table<(Observation, Pixel), f64>, Table<Observation, f64>) {
    let errors = for o in Observation {
        let (camera, point) = (photos.camera[o], photos.point[o]);
        residual(
            &views[camera],
            &points[point],
            weights[o],
            &photos.feature[o],
        )
    };
    (errors, weight_residual(weights))
}

/// What is not zero of the Jacobian, by rows: two for each observation, then one for each weight.
#[pointful]
pub fn derivatives(
    views: &Table<(Camera, View), f64>,
    points: &Table<(Point, Space), f64>,
    weights: &Table<Observation, f64>,
    photos: &Photos,
) -> (
    Table<(Observation, Pixel, Block), f64>,
    Table<Observation, f64>,
) {
    let blocks = for o in Observation {
        let (camera, point) = (photos.camera[o], photos.point[o]);
        let (by_view, by_point, by_weight) = jacobian!(residual, wrt = (view, point, weight))(
            &views[camera],
            &points[point],
            weights[o],
            &photos.feature[o],
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
        grad!(weight_residual)(weights[o])
    };
    (blocks, slopes)
}

/// In which columns of the Jacobian these are: one for each camera's parameters, each point's coordinates, each weight.
#[pointful]
pub fn columns(
    cameras: Extent<Camera>,
    points: Extent<Point>,
    photos: &Photos,
) -> (
    Table<(Observation, Pixel, Block), usize>,
    Table<Observation, usize>,
) {
    let place = size(View) * cameras.len();
    let weight = place + size(Space) * points.len();
    let blocks = for (o, _r, b) in (Observation, Pixel, Block) {
        match b {
            Either::Left(i) => size(View) * photos.camera[o].ordinal() + i.ordinal(),
            Either::Right(Either::Left(i)) => {
                place + size(Space) * photos.point[o].ordinal() + i.ordinal()
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
    let (cameras, places, observations) = (Extent::new(n), Extent::new(m), Extent::new(p));
    let views = Table::from_vec(Extent::new((n, ())), cam.repeat(n))?;
    let points = Table::from_vec(Extent::new((m, ())), x.repeat(m))?;
    let weights = Table::full(observations, w);
    let photos = Photos {
        camera: Table::from_indices(observations, cameras, (0..p).map(|o| o % n).collect())?,
        point: Table::from_indices(observations, places, (0..p).map(|o| o % m).collect())?,
        feature: Table::from_vec(Extent::new((p, ())), feat.repeat(p))?,
    };
    match request.function {
        "objective" => request.repeat(
            || objective(&views, &points, &weights, &photos),
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
                columns: columns(cameras, places, &photos),
                values: derivatives(&views, &points, &weights, &photos),
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

//! Tracking a hand: how far measured points are from a hand that is posed by angles and skinned over its bones.

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::matrix;

/// A bone; its parent is in front of it.
#[derive(Clone, Copy, IndexSet)]
pub struct Bone(usize);

/// A vertex of the hand's surface.
#[derive(Clone, Copy, IndexSet)]
pub struct Vertex(usize);

/// A triangle of the surface.
#[derive(Clone, Copy, IndexSet)]
pub struct Triangle(usize);

/// A measured point.
#[derive(Clone, Copy, IndexSet)]
pub struct Measured(usize);

/// A vector in space.
#[pointful]
pub type Space = Fin<3>;

/// A vector in space with a fourth coordinate, along which matrices move.
#[pointful]
pub type Homogeneous = Fin<4>;

/// A pose: how the hand is turned (three), where it is (three), the angles of the five fingers (four each).
#[pointful]
pub type Pose = Fin<26>;

/// A place in a triangle: the weights of its first two corners.
#[pointful]
pub type Place = Fin<2>;

/// What is known about a hand before it is posed.
#[pointful]
pub struct Hand {
    /// The bones that bones are attached to; below zero, none.
    pub parents: Table<Bone, i64>,
    /// How bones stand to their parents.
    pub relatives: Table<(Bone, Homogeneous, Homogeneous), f64>,
    /// From space to bones, at rest.
    pub inverses: Table<(Bone, Homogeneous, Homogeneous), f64>,
    /// Where the vertices are, at rest.
    pub base: Table<(Vertex, Homogeneous), f64>,
    /// How much a vertex moves with a bone.
    pub weights: Table<(Vertex, Bone), f64>,
    /// The corners of the triangles.
    pub triangles: Table<(Triangle, Space), Vertex>,
    /// -1 for a left hand, else 1.
    pub mirror: f64,
}

/// Below this angle nothing is turned.
const SMALL: f64 = 1e-4;

#[pointful]
fn product<I: IndexSet, J: IndexSet, K: IndexSet>(
    a: &Table<(I, J), f64>,
    b: &Table<(J, K), f64>,
) -> Table<(I, K), f64> {
    for (i, k) in _ {
        sum(for j in _ {
            a[i][j] * b[j][k]
        })
    }
}

/// The rotation about the axis `r` by the angle of its length.
#[pointful]
fn rotation(r: &Table<Space, f64>) -> Table<(Space, Space), f64> {
    let angle = sum(r.powi(2)).sqrt();
    if angle < SMALL {
        for (i, j) in _ {
            if i == j { 1.0 } else { 0.0 }
        }
    } else {
        let axis = r / angle;
        let (sine, cosine) = angle.sin_cos();
        let across = [
            [0.0, -axis[2], axis[1]],
            [axis[2], 0.0, -axis[0]],
            [-axis[1], axis[0], 0.0],
        ];
        for (i, j) in _ {
            let along = axis[i] * axis[j] * (1.0 - cosine) + across[i][j] * sine;
            if i == j { along + cosine } else { along }
        }
    }
}

/// What turns a joint: a bend about the first axis, then a spread about the third.
#[pointful]
fn joint(bend: f64, spread: f64) -> Table<(Homogeneous, Homogeneous), f64> {
    let ((sb, cb), (ss, cs)) = (bend.sin_cos(), spread.sin_cos());
    let rows = [
        [cs, -ss * cb, ss * sb, 0.0],
        [ss, cs * cb, -cs * sb, 0.0],
        [0.0, sb, cb, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ];
    for (i, j) in _ {
        rows[i][j]
    }
}

/// How far a bone is bent and spread. Behind the first two, each finger has four bones: one that is bent and spread, two that are
/// bent, and one that is not.
#[pointful]
fn angles(theta: &Table<Pose, f64>, bone: usize) -> (f64, f64) {
    let (finger, at) = ((bone + 2) / 4, (bone + 2) % 4);
    if finger == 0 || finger > 5 || at == 3 {
        (0.0, 0.0)
    } else if at == 0 {
        (theta[4 * finger + 2], theta[4 * finger + 3])
    } else {
        (theta[4 * finger + 3 + at], 0.0)
    }
}

/// How the bones of a posed hand move space that is at rest.
#[pointful]
fn transforms(
    theta: &Table<Pose, f64>,
    hand: &Hand,
) -> Table<(Bone, Homogeneous, Homogeneous), f64> {
    let mut absolute = for b in Bone {
        let (bend, spread) = angles(theta, b.ordinal());
        product(&hand.relatives[b], &joint(bend, spread))
    };
    for b in Bone {
        let parent = hand.parents[b];
        if parent >= 0 {
            absolute[b] = product(&absolute[parent], &absolute[b]);
        }
    }
    for b in Bone {
        product(&absolute[b], &hand.inverses[b])
    }
}

/// Where the vertices of the hand are when it is posed.
#[pointful]
pub fn skin(theta: &Table<Pose, f64>, hand: &Hand) -> Table<(Vertex, Space), f64> {
    let transform = transforms(theta, hand);
    let turn = rotation(&[theta[0], theta[1], theta[2]]);
    for v in Vertex {
        let place = for i in Homogeneous {
            sum(for b in Bone {
                hand.weights[v][b]
                    * sum(for j in _ {
                        transform[b][i][j] * hand.base[v][j]
                    })
            })
        };
        let there = [hand.mirror * place[0], place[1], place[2]];
        for i in Space {
            theta[i.ordinal() + 3]
                + sum(for j in _ {
                    turn[i][j] * there[j]
                })
        }
    }
}

/// How far the measured points are from their vertices.
#[pointful]
pub fn from_vertices(
    theta: &Table<Pose, f64>,
    hand: &Hand,
    points: &Table<(Measured, Space), f64>,
    vertex: &Table<Measured, Vertex>,
) -> Table<(Measured, Space), f64> {
    let surface = skin(theta, hand);
    for m in Measured {
        points[m] - surface[vertex[m]]
    }
}

/// How far the measured points are from their places `us` in their triangles.
#[pointful]
pub fn from_triangles(
    us: &Table<(Measured, Place), f64>,
    theta: &Table<Pose, f64>,
    hand: &Hand,
    points: &Table<(Measured, Space), f64>,
    triangle: &Table<Measured, Triangle>,
) -> Table<(Measured, Space), f64> {
    let surface = skin(theta, hand);
    for m in Measured {
        let corner = |k: usize| surface[hand.triangles[triangle[m]][k]];
        let (u, v) = (us[m][0], us[m][1]);
        points[m] - (u * corner(0) + v * corner(1) + (1.0 - u - v) * corner(2))
    }
}

define! {
    /// The derivative of [`from_vertices`] with respect to the pose.
    pub fn vertices_jacobian = jacobian!(from_vertices, wrt = theta);
}

/// The derivative of [`from_triangles`] with respect to each point's own place in its triangle, then to the pose.
#[pointful]
pub fn triangles_jacobian(
    us: &Table<(Measured, Place), f64>,
    theta: &Table<Pose, f64>,
    hand: &Hand,
    points: &Table<(Measured, Space), f64>,
    triangle: &Table<Measured, Triangle>,
) -> Table<(Measured, Space, Either<Place, Pose>), f64> {
    let by_pose = jacobian!(from_triangles, wrt = theta)(us, theta, hand, points, triangle);
    // A point depends on no other's place in its triangle, so that one tangent serves all points.
    let by_place = for d in Place {
        let all = for (_m, e) in (Measured, Place) {
            if e == d { 1.0 } else { 0.0 }
        };
        let (_, change) = jvp!(from_triangles, wrt = us)(us, theta, hand, points, triangle, &all);
        change
    };
    for (m, i, p) in _ {
        match p {
            Either::Left(d) => by_place[d][m][i],
            Either::Right(t) => by_pose[m][i][t],
        }
    }
}

#[derive(Deserialize)]
struct Model {
    parents: Vec<i64>,
    base_relatives: Vec<Vec<Vec<f64>>>,
    inverse_base_absolutes: Vec<Vec<Vec<f64>>>,
    base_positions: Vec<Vec<f64>>,
    weights: Vec<Vec<f64>>,
    triangles: Vec<Vec<usize>>,
    is_mirrored: bool,
}

#[derive(Deserialize)]
struct Data {
    model: Model,
    correspondences: Vec<usize>,
    points: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Input {
    theta: Vec<f64>,
    data: Data,
    us: Vec<Vec<f64>>,
}

impl TryFrom<Model> for Hand {
    type Error = Failure;

    fn try_from(model: Model) -> Result<Self, Failure> {
        if model
            .parents
            .iter()
            .zip(0..)
            .any(|(&parent, bone)| parent >= bone)
        {
            return Err("a bone must stand behind its parent".into());
        }
        let bones = Extent::<Bone>::new(model.parents.len());
        let vertices = Extent::<Vertex>::new(model.base_positions.len());
        let turns = Extent::new((bones.len(), (), ()));
        let faces = Extent::new((model.triangles.len(), ()));
        Ok(Self {
            parents: Table::from_vec(bones, model.parents)?,
            relatives: Table::from_vec(turns, model.base_relatives.concat().concat())?,
            inverses: Table::from_vec(turns, model.inverse_base_absolutes.concat().concat())?,
            base: matrix("base_positions", Extent::new(()), &model.base_positions)?,
            weights: matrix("weights", bones, &model.weights)?,
            triangles: Table::from_indices(faces, vertices, model.triangles.concat())?,
            mirror: if model.is_mirrored { -1.0 } else { 1.0 },
        })
    }
}

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { theta, data, us } = request.input()?;
    let theta = Table::from_vec(Extent::new(()), theta)?;
    let vertices = Extent::new(data.model.base_positions.len());
    let triangles = Extent::new(data.model.triangles.len());
    let hand = Hand::try_from(data.model)?;
    let measured = Extent::<Measured>::new(data.points.len());
    let points = matrix("points", Extent::new(()), &data.points)?;
    // A list of places says that the points belong to triangles.
    if us.is_empty() {
        let vertex = Table::from_indices(measured, vertices, data.correspondences)?;
        match request.function {
            "objective" => request.repeat(
                || from_vertices(&theta, &hand, &points, &vertex),
                Table::into_vec,
            ),
            "jacobian" => request.repeat(
                || vertices_jacobian(&theta, &hand, &points, &vertex),
                |jacobian| by_residual(&jacobian),
            ),
            _ => request.unknown(),
        }
    } else {
        let us = matrix("us", Extent::new(()), &us)?;
        let triangle = Table::from_indices(measured, triangles, data.correspondences)?;
        match request.function {
            "objective" => request.repeat(
                || from_triangles(&us, &theta, &hand, &points, &triangle),
                Table::into_vec,
            ),
            "jacobian" => request.repeat(
                || triangles_jacobian(&us, &theta, &hand, &points, &triangle),
                |jacobian| by_residual(&jacobian),
            ),
            _ => request.unknown(),
        }
    }
}

/// A row for each of the three residuals of each point.
fn by_residual<P: IndexSet<Size: Default>>(
    jacobian: &Table<(Measured, Space, P), f64>,
) -> Vec<Vec<f64>> {
    let width = Extent::<P>::new(P::Size::default()).len();
    let rows = jacobian.as_slice().chunks(width);
    rows.map(<[f64]>::to_vec).collect()
}

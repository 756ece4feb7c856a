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

/// Below this angle nothing is turned.
const SMALL: f64 = 1e-4;

/// The rotation about the axis `r` by the angle of its length.
#[pointful]
fn rotation(r: &Table<Fin<3>, f64>) -> Table<(Fin<3>, Fin<3>), f64> {
    let square = sum(for i in _ {
        r[i].powi(2)
    });
    let angle = square.sqrt();
    if angle < SMALL {
        for (i, j) in _ {
            if i == j { 1.0 } else { 0.0 }
        }
    } else {
        let axis = for i in _ {
            r[i] / angle
        };
        let (sine, cosine) = angle.sin_cos();
        for (i, j) in _ {
            let along = axis[i] * axis[j] * (1.0 - cosine);
            if i == j {
                along + cosine
            } else {
                // The axis that is neither, with the sign of the permutation.
                let other = axis[3 - i.ordinal() - j.ordinal()];
                if (i + 1).wrap() == j {
                    along - other * sine
                } else {
                    along + other * sine
                }
            }
        }
    }
}

/// How far a bone is bent and spread by the angles of its finger. Five fingers have four bones each, of which the last turns not.
#[pointful]
fn angles(theta: &Table<Fin<26>, f64>, bone: usize) -> (f64, f64) {
    let at = (bone + 2) % 4;
    if bone < 2 || bone > 21 || at == 3 {
        (0.0, 0.0)
    } else {
        let finger = 6 + 4 * ((bone - 2) / 4);
        if at == 0 {
            (theta[finger], theta[finger + 1])
        } else {
            (theta[finger + at + 1], 0.0)
        }
    }
}

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

/// What turns a joint: a bend about the first axis, then a spread about the third.
#[pointful]
fn joint(bend: f64, spread: f64) -> Table<(Fin<4>, Fin<4>), f64> {
    let (sb, cb) = bend.sin_cos();
    let (ss, cs) = spread.sin_cos();
    let entries = [
        cs,
        -ss * cb,
        ss * sb,
        0.0,
        ss,
        cs * cb,
        -cs * sb,
        0.0,
        0.0,
        sb,
        cb,
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
    ];
    for (i, j) in _ {
        entries[4 * i.ordinal() + j.ordinal()]
    }
}

/// Where the vertices of the hand are when it is posed by `theta`: turned, moved, and the angles of the fingers.
#[pointful]
pub fn skin(
    theta: &Table<Fin<26>, f64>,
    parents: &Table<Bone, i64>,
    relatives: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    inverses: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    base: &Table<(Vertex, Fin<4>), f64>,
    weights: &Table<(Vertex, Bone), f64>,
    mirror: f64,
) -> Table<(Vertex, Fin<3>), f64> {
    let posed = for b in Bone {
        let (bend, spread) = angles(theta, b.ordinal());
        product(&relatives[b], &joint(bend, spread))
    };
    let mut absolute = for (_b, _i, _j) in (Bone, Fin::<4>, Fin::<4>) {
        0.0
    };
    for b in Bone {
        absolute[b] = if parents[b] < 0 {
            for (i, j) in _ {
                posed[b][i][j]
            }
        } else {
            product(&absolute[parents[b]], &posed[b])
        };
    }
    let transform = for b in Bone {
        product(&absolute[b], &inverses[b])
    };
    let turn = rotation(&for i in Fin::<3> {
        theta[i.ordinal()]
    });
    for v in Vertex {
        let place = for i in Fin::<3> {
            let side = if i.ordinal() == 0 { mirror } else { 1.0 };
            side * sum(for b in Bone {
                weights[v][b]
                    * sum(for j in Fin::<4> {
                        transform[b][i.ordinal()][j] * base[v][j]
                    })
            })
        };
        for i in Fin::<3> {
            theta[i.ordinal() + 3]
                + sum(for j in _ {
                    turn[i][j] * place[j]
                })
        }
    }
}

/// How far the measured points are from their vertices.
#[pointful]
pub fn from_vertices(
    theta: &Table<Fin<26>, f64>,
    parents: &Table<Bone, i64>,
    relatives: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    inverses: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    base: &Table<(Vertex, Fin<4>), f64>,
    weights: &Table<(Vertex, Bone), f64>,
    mirror: f64,
    points: &Table<(Measured, Fin<3>), f64>,
    vertex: &Table<Measured, Vertex>,
) -> Table<(Measured, Fin<3>), f64> {
    let places = skin(theta, parents, relatives, inverses, base, weights, mirror);
    for (m, i) in _ {
        points[m][i] - places[vertex[m]][i]
    }
}

/// How far the measured points are from the places `us` of their triangles.
#[pointful]
pub fn from_triangles(
    us: &Table<(Measured, Fin<2>), f64>,
    theta: &Table<Fin<26>, f64>,
    parents: &Table<Bone, i64>,
    relatives: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    inverses: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    base: &Table<(Vertex, Fin<4>), f64>,
    weights: &Table<(Vertex, Bone), f64>,
    mirror: f64,
    points: &Table<(Measured, Fin<3>), f64>,
    triangles: &Table<(Triangle, Fin<3>), Vertex>,
    triangle: &Table<Measured, Triangle>,
) -> Table<(Measured, Fin<3>), f64> {
    let places = skin(theta, parents, relatives, inverses, base, weights, mirror);
    for (m, i) in _ {
        let corner = |k: usize| places[triangles[triangle[m]][k]][i];
        points[m][i]
            - us[m][0] * corner(0)
            - us[m][1] * corner(1)
            - (1.0 - us[m][0] - us[m][1]) * corner(2)
    }
}

/// The Jacobian of [`from_vertices`] with respect to the pose.
#[pointful]
pub fn vertices_jacobian(
    theta: &Table<Fin<26>, f64>,
    parents: &Table<Bone, i64>,
    relatives: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    inverses: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    base: &Table<(Vertex, Fin<4>), f64>,
    weights: &Table<(Vertex, Bone), f64>,
    mirror: f64,
    points: &Table<(Measured, Fin<3>), f64>,
    vertex: &Table<Measured, Vertex>,
) -> Table<(Measured, Fin<3>, Fin<26>), f64> {
    jacobian!(from_vertices, wrt = theta)(
        theta, parents, relatives, inverses, base, weights, mirror, points, vertex,
    )
}

/// The Jacobian of [`from_triangles`] with respect to each point's own `us`, then to the pose.
#[pointful]
pub fn triangles_jacobian(
    us: &Table<(Measured, Fin<2>), f64>,
    theta: &Table<Fin<26>, f64>,
    parents: &Table<Bone, i64>,
    relatives: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    inverses: &Table<(Bone, Fin<4>, Fin<4>), f64>,
    base: &Table<(Vertex, Fin<4>), f64>,
    weights: &Table<(Vertex, Bone), f64>,
    mirror: f64,
    points: &Table<(Measured, Fin<3>), f64>,
    triangles: &Table<(Triangle, Fin<3>), Vertex>,
    triangle: &Table<Measured, Triangle>,
) -> Table<(Measured, Fin<3>, Either<Fin<2>, Fin<26>>), f64> {
    let pose = jacobian!(from_triangles, wrt = theta)(
        us, theta, parents, relatives, inverses, base, weights, mirror, points, triangles, triangle,
    );
    // A point depends on no other's place in its triangle, so that one tangent serves all points.
    let places = for d in Fin::<2> {
        let all = for (_m, e) in (Measured, Fin::<2>) {
            if e == d { 1.0 } else { 0.0 }
        };
        let (_, change) = jvp!(from_triangles, wrt = us)(
            us, theta, parents, relatives, inverses, base, weights, mirror, points, triangles,
            triangle, &all,
        );
        change
    };
    for (m, i, p) in _ {
        match p {
            Either::Left(d) => places[d][m][i],
            Either::Right(t) => pose[m][i][t],
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

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { theta, data, us } = request.input()?;
    let model = data.model;
    let theta = Table::from_vec(Extent::<Fin<26>>::new(()), theta)?;
    let bones = Extent::<Bone>::new(model.parents.len());
    if model
        .parents
        .iter()
        .zip(0..)
        .any(|(&parent, bone)| parent >= bone)
    {
        return Err("a bone must stand behind its parent".into());
    }
    let parents = Table::from_vec(bones, model.parents)?;
    let turns = Extent::<(Bone, Fin<4>, Fin<4>)>::new((bones.len(), (), ()));
    let relatives = Table::from_vec(turns, model.base_relatives.concat().concat())?;
    let inverses = Table::from_vec(turns, model.inverse_base_absolutes.concat().concat())?;
    let base: Table<(Vertex, Fin<4>), f64> =
        matrix("base_positions", Extent::new(()), &model.base_positions)?;
    let weights: Table<(Vertex, Bone), f64> = matrix("weights", bones, &model.weights)?;
    let mirror = if model.is_mirrored { -1.0 } else { 1.0 };
    let points: Table<(Measured, Fin<3>), f64> = matrix("points", Extent::new(()), &data.points)?;
    let measured = Extent::<Measured>::new(points.extent().size().0);
    let vertices = Extent::<Vertex>::new(base.extent().size().0);
    let (theta, parents, relatives, inverses, base, weights, points) = (
        &theta, &parents, &relatives, &inverses, &base, &weights, &points,
    );
    if us.is_empty() {
        let vertex = &Table::from_indices(measured, vertices, data.correspondences)?;
        match request.function {
            "objective" => request.repeat(
                || {
                    from_vertices(
                        theta, parents, relatives, inverses, base, weights, mirror, points, vertex,
                    )
                },
                Table::into_vec,
            ),
            "jacobian" => request.repeat(
                || {
                    vertices_jacobian(
                        theta, parents, relatives, inverses, base, weights, mirror, points, vertex,
                    )
                },
                |jacobian| by_residual(&jacobian),
            ),
            _ => request.unknown(),
        }
    } else {
        let us = &matrix("us", Extent::new(()), &us)?;
        let corners = model.triangles.concat();
        let faces = Extent::<(Triangle, Fin<3>)>::new((model.triangles.len(), ()));
        let triangles = &Table::from_indices(faces, vertices, corners)?;
        let faces = Extent::<Triangle>::new(model.triangles.len());
        let triangle = &Table::from_indices(measured, faces, data.correspondences)?;
        match request.function {
            "objective" => request.repeat(
                || {
                    from_triangles(
                        us, theta, parents, relatives, inverses, base, weights, mirror, points,
                        triangles, triangle,
                    )
                },
                Table::into_vec,
            ),
            "jacobian" => request.repeat(
                || {
                    triangles_jacobian(
                        us, theta, parents, relatives, inverses, base, weights, mirror, points,
                        triangles, triangle,
                    )
                },
                |jacobian| by_residual(&jacobian),
            ),
            _ => request.unknown(),
        }
    }
}

/// A row for each of the three residuals of each point.
fn by_residual<P: IndexSet<Size: Default>>(
    jacobian: &Table<(Measured, Fin<3>, P), f64>,
) -> Vec<Vec<f64>> {
    let width = Extent::<P>::new(P::Size::default()).len();
    jacobian
        .as_slice()
        .chunks(width)
        .map(<[f64]>::to_vec)
        .collect()
}

//! Tracking a hand: how far measured points are from a hand that is posed by angles and skinned
//! over its bones.

use pointful::prelude::*;
use pointful_adbench::hand::{
    Bone, Hand, Measured, Triangle, Vertex, complicated, complicated_jacobian, simple,
};
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};
use crate::tables::matrix;

define! {
    /// The derivative of the points' distances from their vertices with respect to the pose.
    fn simple_jacobian = jacobian!(simple, wrt = pose);
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

/// The model's hand, and the corners of its triangles.
fn hand(model: Model) -> Result<(Hand, Table<(Triangle, Fin<3>), Vertex>), Failure> {
    let bones = Extent::<Bone>::new(model.parents.len());
    // A bone that has none says so by -1.
    let parents: Vec<usize> = (model.parents.iter().enumerate())
        .map(|(bone, &parent)| usize::try_from(parent).unwrap_or(bone))
        .collect();
    if parents
        .iter()
        .enumerate()
        .any(|(bone, &parent)| parent > bone)
    {
        return Err("a bone must stand behind its parent".into());
    }
    let vertices = Extent::<Vertex>::new(model.base_positions.len());
    let faces = Extent::new((model.triangles.len(), ()));
    let turns = Extent::new((bones.len(), (), ()));
    let hand = Hand {
        parent: Table::from_indices(bones, bones, parents)?,
        relative: Table::from_vec(turns, model.base_relatives.concat().concat())?,
        inverse: Table::from_vec(turns, model.inverse_base_absolutes.concat().concat())?,
        rest: matrix("base_positions", Extent::new(()), &model.base_positions)?,
        weight: matrix("weights", bones, &model.weights)?,
        mirror: if model.is_mirrored { -1.0 } else { 1.0 },
    };
    Ok((
        hand,
        Table::from_indices(faces, vertices, model.triangles.concat())?,
    ))
}

/// `objective` and `jacobian`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { theta, data, us } = request.input()?;
    let pose = Table::from_vec(Extent::new(()), theta)?;
    let (hand, corners) = hand(data.model)?;
    let measured = Extent::<Measured>::new(data.points.len());
    let points = matrix("points", Extent::new(()), &data.points)?;
    // A list of places says that the points belong to triangles.
    if us.is_empty() {
        let vertices = corners.target();
        let vertex = Table::from_indices(measured, vertices, data.correspondences)?;
        match request.function {
            "objective" => {
                request.repeat(|| simple(&pose, &hand, &points, &vertex), Table::into_vec)
            }
            "jacobian" => request.repeat(
                || simple_jacobian(&pose, &hand, &points, &vertex),
                |by_pose| flat(&by_pose),
            ),
            _ => request.unknown(),
        }
    } else {
        let places = matrix("us", Extent::new(()), &us)?;
        let triangles = Extent::new(corners.extent().size().0);
        let triangle = Table::from_indices(measured, triangles, data.correspondences)?;
        match request.function {
            "objective" => request.repeat(
                || complicated(&pose, &places, &hand, &corners, &points, &triangle),
                Table::into_vec,
            ),
            "jacobian" => request.repeat(
                || complicated_jacobian(&pose, &places, &hand, &corners, &points, &triangle),
                |(by_pose, by_place)| {
                    let pairs = flat(&by_place).into_iter().zip(flat(&by_pose));
                    pairs
                        .map(|(place, pose)| [place, pose].concat())
                        .collect::<Vec<_>>()
                },
            ),
            _ => request.unknown(),
        }
    }
}

/// A row for each of the three residuals of each point.
fn flat<P: IndexSet<Size = ()>>(jacobian: &Table<(Measured, Fin<3>, P), f64>) -> Vec<Vec<f64>> {
    let width = Extent::<P>::new(()).len();
    jacobian
        .as_slice()
        .chunks(width)
        .map(<[f64]>::to_vec)
        .collect()
}

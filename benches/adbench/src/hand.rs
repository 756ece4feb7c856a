//! Hand tracking: how far measured points are from a hand that is posed by angles and skinned over
//! its bones.

use std::path::Path;

use pointful::prelude::*;

use crate::noise::Noise;
use crate::read::{self, ReadError, Words};

/// A bone.
#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
pub struct Bone(usize);

/// A vertex of the hand's surface.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Vertex(usize);

/// A triangle of the surface.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Triangle(usize);

/// A measured point.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Measured(usize);

/// A hand at rest. Matrices are of homogeneous coordinates.
#[pointful]
#[derive(Clone, Debug)]
pub struct Hand {
    /// The bone that each moves with, which is in front of it; of the first itself.
    pub parent: Table<Bone, Bone>,
    /// From each bone to its parent.
    pub relative: Table<(Bone, Fin<4>, Fin<4>), f64>,
    /// From the hand to each bone.
    pub inverse: Table<(Bone, Fin<4>, Fin<4>), f64>,
    /// Where the vertices are.
    pub rest: Table<(Vertex, Fin<4>), f64>,
    /// How much the vertices move with the bones.
    pub weight: Table<(Vertex, Bone), f64>,
    /// By what the first coordinate is multiplied: -1 makes a left hand of a right one.
    pub mirror: f64,
}

/// Below this angle the whole hand is not turned.
const SMALL: f64 = 1e-4;

/// The rotation about the axis `r` by the angle of its length.
#[pointful]
fn rotation(r: &Table<Fin<3>, f64>) -> Table<(Fin<3>, Fin<3>), f64> {
    let angle = sum(for i in _ {
        r[i].powi(2)
    })
    .sqrt();
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
            } else if (i + 1).wrap() == j {
                along - axis[(j + 1).wrap()] * sine
            } else {
                along + axis[(i + 1).wrap()] * sine
            }
        }
    }
}

#[pointful]
fn product(
    a: &Table<(Fin<4>, Fin<4>), f64>,
    b: &Table<(Fin<4>, Fin<4>), f64>,
) -> Table<(Fin<4>, Fin<4>), f64> {
    for (i, k) in _ {
        sum(for j in _ {
            a[i][j] * b[j][k]
        })
    }
}

/// By how much a bone is bent and spread. Behind the palm's two bones, each finger has four bones
/// and four angles after the first six: bend and spread of the first, bend of the next two; the
/// last is a tip.
#[pointful]
fn angles(pose: &Table<Fin<26>, f64>, bone: usize) -> (f64, f64) {
    if bone < 2 {
        (0.0, 0.0)
    } else {
        let (finger, joint) = ((bone - 2) / 4, (bone - 2) % 4);
        let first = 6 + 4 * finger;
        if joint == 0 {
            (pose[first], pose[first + 1])
        } else if joint < 3 {
            (pose[first + 1 + joint], 0.0)
        } else {
            (0.0, 0.0)
        }
    }
}

/// What turns a joint: a bend about the first axis, then a spread about the third.
#[pointful]
fn turn(bend: f64, spread: f64) -> Table<(Fin<4>, Fin<4>), f64> {
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

/// Where the vertices are of the hand in a pose: the axis and angle by which it is turned, where it
/// is, and the angles of the fingers.
#[pointful]
pub fn skin(pose: &Table<Fin<26>, f64>, hand: &Hand) -> Table<(Vertex, Fin<3>), f64> {
    let posed = for b in Bone {
        let (bend, spread) = angles(pose, b.ordinal());
        product(&hand.relative[b], &turn(bend, spread))
    };
    let mut absolute = for (b, i, j) in _ {
        posed[b][i][j]
    };
    for b in Bone {
        let parent = hand.parent[b];
        if parent != b {
            absolute[b] = product(&absolute[parent], &posed[b]);
        }
    }
    let moved = for b in Bone {
        product(&absolute[b], &hand.inverse[b])
    };
    let whole = rotation(&for i in Fin::<3> {
        pose[i.ordinal()]
    });
    for v in Vertex {
        let at = for i in Fin::<3> {
            sum(for b in Bone {
                hand.weight[v][b]
                    * sum(for j in Fin::<4> {
                        moved[b][i.ordinal()][j] * hand.rest[v][j]
                    })
            }) * if i.ordinal() == 0 { hand.mirror } else { 1.0 }
        };
        for i in Fin::<3> {
            pose[i.ordinal() + 3]
                + sum(for j in Fin::<3> {
                    whole[i][j] * at[j]
                })
        }
    }
}

/// How far the measured points are from the vertices that they are of ("HAND simple").
#[pointful]
pub fn simple(
    pose: &Table<Fin<26>, f64>,
    hand: &Hand,
    points: &Table<(Measured, Fin<3>), f64>,
    vertex: &Table<Measured, Vertex>,
) -> Table<(Measured, Fin<3>), f64> {
    let places = skin(pose, hand);
    for (m, i) in _ {
        points[m][i] - places[vertex[m]][i]
    }
}

/// How far a measured point is from the place `u` in its triangle.
#[pointful]
fn off_triangle(
    u: &Table<Fin<2>, f64>,
    corners: &Table<(Fin<3>, Fin<3>), f64>,
    point: &Table<Fin<3>, f64>,
) -> Table<Fin<3>, f64> {
    for i in _ {
        point[i] - u[0] * corners[0][i] - u[1] * corners[1][i] - (1.0 - u[0] - u[1]) * corners[2][i]
    }
}

/// How far the measured points are from places in triangles, which are unknown too ("HAND
/// complicated").
#[pointful]
pub fn complicated(
    pose: &Table<Fin<26>, f64>,
    places: &Table<(Measured, Fin<2>), f64>,
    hand: &Hand,
    corners: &Table<(Triangle, Fin<3>), Vertex>,
    points: &Table<(Measured, Fin<3>), f64>,
    triangle: &Table<Measured, Triangle>,
) -> Table<(Measured, Fin<3>), f64> {
    let skin = skin(pose, hand);
    for m in Measured {
        let corner = for (k, i) in (Fin::<3>, Fin::<3>) {
            skin[corners[triangle[m]][k]][i]
        };
        off_triangle(&places[m], &corner, &points[m])
    }
}

/// The Jacobian of [`complicated`] by the pose, and of each point's residual by its own place: the
/// rest is zero.
#[pointful]
pub fn complicated_jacobian(
    pose: &Table<Fin<26>, f64>,
    places: &Table<(Measured, Fin<2>), f64>,
    hand: &Hand,
    corners: &Table<(Triangle, Fin<3>), Vertex>,
    points: &Table<(Measured, Fin<3>), f64>,
    triangle: &Table<Measured, Triangle>,
) -> (
    Table<(Measured, Fin<3>, Fin<26>), f64>,
    Table<(Measured, Fin<3>, Fin<2>), f64>,
) {
    let by_pose = jacobian!(complicated, wrt = pose)(pose, places, hand, corners, points, triangle);
    let skin = skin(pose, hand);
    let by_place = for m in Measured {
        let corner = for (k, i) in (Fin::<3>, Fin::<3>) {
            skin[corners[triangle[m]][k]][i]
        };
        jacobian!(off_triangle, wrt = u)(&places[m], &corner, &points[m])
    };
    (by_pose, by_place)
}

/// What the objectives take.
#[derive(Clone, Debug)]
pub struct Input {
    /// The pose.
    pub pose: Table<Fin<26>, f64>,
    /// The hand.
    pub hand: Hand,
    /// The surface.
    pub corners: Table<(Triangle, Fin<3>), Vertex>,
    /// The points.
    pub points: Table<(Measured, Fin<3>), f64>,
    /// The vertices that they are of.
    pub vertex: Table<Measured, Vertex>,
    /// Or the triangles.
    pub triangle: Table<Measured, Triangle>,
    /// And where in these.
    pub places: Table<(Measured, Fin<2>), f64>,
}

impl Input {
    /// Of one of the suite's files and the hand's. What the file of the simple problem does not
    /// hold is made: each point's triangle is the first that has its vertex, or else the first.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read(
        path: &Path,
        bones: &Path,
        vertices: &Path,
        triangles: &Path,
    ) -> Result<Self, ReadError> {
        let hand = read_hand(bones, vertices)?;
        let all = Extent::<Vertex>::try_new(hand.rest.extent().size().0)?;
        let text = read::text(triangles)?;
        let mut corners: Vec<usize> = Vec::new();
        for line in text.lines() {
            let mut words = Words::of_line(line);
            corners.extend(words.take::<usize>(3, "a corner")?);
            words.end()?;
        }
        let faces = Extent::<Triangle>::try_new(corners.len() / 3)?;
        let text = read::text(path)?;
        let mut words = Words::new(&text);
        let [n, angles]: [usize; 2] = [words.next("N")?, words.next("the number of angles")?];
        let (mut vertex, mut points) = (Vec::new(), Vec::new());
        for _ in 0..n {
            vertex.push(words.next("a vertex")?);
            points.extend(words.take::<f64>(3, "a coordinate")?);
        }
        let pose = Table::from_vec(Extent::new(()), words.take(angles, "an angle")?)?;
        words.end()?;
        let measured = Extent::<Measured>::try_new(n)?;
        let triangle = vertex
            .iter()
            .map(|v| corners.iter().position(|c| c == v).unwrap_or(0) / 3)
            .collect();
        Ok(Input {
            pose,
            hand,
            points: Table::from_vec(Extent::try_new((n, ()))?, points)?,
            vertex: Table::from_indices(measured, all, vertex)?,
            triangle: Table::from_indices(measured, faces, triangle)?,
            corners: Table::from_indices(Extent::try_new((faces.size(), ()))?, all, corners)?,
            places: places(n),
        })
    }

    /// The same hand in the same pose, and `n` other points, each near a vertex of a triangle.
    #[must_use]
    pub fn with_points(mut self, n: usize) -> Self {
        let mut noise = Noise::new(3);
        let at = skin(&self.pose, &self.hand);
        let (vertices, faces) = (self.vertex.target(), self.triangle.target());
        let measured = Extent::new(n);
        let triangle: Vec<usize> = (0..n).map(|_| noise.below(faces.len())).collect();
        let vertex: Vec<usize> = triangle
            .iter()
            .map(|t| self.corners.ordinals()[3 * t])
            .collect();
        let near = |v: &usize| at.as_slice()[3 * v..][..3].to_vec();
        let points = vertex
            .iter()
            .flat_map(near)
            .map(|x| x + 0.01 * noise.unit())
            .collect();
        self.points =
            Table::from_vec(Extent::new((n, ())), points).expect("three coordinates a point");
        self.vertex =
            Table::from_indices(measured, vertices, vertex).expect("corners are vertices");
        self.triangle =
            Table::from_indices(measured, faces, triangle).expect("below the number of triangles");
        self.places = places(n);
        self
    }

    /// The residuals of the simple problem.
    pub fn simple(&self) -> Table<(Measured, Fin<3>), f64> {
        simple(&self.pose, &self.hand, &self.points, &self.vertex)
    }

    /// Their Jacobian by the pose.
    pub fn simple_jacobian(&self) -> Table<(Measured, Fin<3>, Fin<26>), f64> {
        jacobian!(simple, wrt = pose)(&self.pose, &self.hand, &self.points, &self.vertex)
    }

    /// The residuals of the complicated problem.
    pub fn complicated(&self) -> Table<(Measured, Fin<3>), f64> {
        complicated(
            &self.pose,
            &self.places,
            &self.hand,
            &self.corners,
            &self.points,
            &self.triangle,
        )
    }

    /// Their Jacobian: see [`complicated_jacobian`].
    pub fn complicated_jacobian(
        &self,
    ) -> (
        Table<(Measured, Fin<3>, Fin<26>), f64>,
        Table<(Measured, Fin<3>, Fin<2>), f64>,
    ) {
        complicated_jacobian(
            &self.pose,
            &self.places,
            &self.hand,
            &self.corners,
            &self.points,
            &self.triangle,
        )
    }
}

/// Places inside of their triangles.
fn places(n: usize) -> Table<(Measured, Fin<2>), f64> {
    let mut noise = Noise::new(4);
    Table::from_fn(Extent::new((n, ())), |_| 0.5 * noise.unit())
}

fn read_hand(bones: &Path, vertices: &Path) -> Result<Hand, ReadError> {
    let text = read::text(bones)?;
    let (mut parent, mut relative, mut inverse) = (Vec::new(), Vec::new(), Vec::new());
    for (bone, line) in text.lines().enumerate() {
        let mut words = Words::of_line(line);
        words.next::<String>("a name")?;
        let of: i64 = words.next("a parent")?;
        let of = usize::try_from(of).unwrap_or(bone);
        if of > bone {
            return Err(ReadError::Content(format!(
                "bone {bone} is in front of its parent {of}"
            )));
        }
        parent.push(of);
        relative.extend(words.take::<f64>(16, "an element of a matrix")?);
        inverse.extend(words.take::<f64>(16, "an element of a matrix")?);
        words.end()?;
    }
    let bones = parent.len();
    let text = read::text(vertices)?;
    let (mut rest, mut weight) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = Words::of_line(line);
        rest.extend(words.take::<f64>(3, "a coordinate")?);
        rest.push(1.0);
        words.take::<f64>(5, "a number")?;
        let mut row = vec![0.0; bones];
        for _ in 0..words.next("a number of bones")? {
            let bone: usize = words.next("a bone")?;
            let Some(weight) = row.get_mut(bone) else {
                return Err(ReadError::Content(format!("there is no bone {bone}")));
            };
            *weight = words.next("a weight")?;
        }
        weight.extend(row);
        words.end()?;
    }
    let matrices = Extent::try_new((bones, (), ()))?;
    let vertices = weight.len() / bones.max(1);
    Ok(Hand {
        parent: Table::from_indices(Extent::try_new(bones)?, Extent::try_new(bones)?, parent)?,
        relative: Table::from_vec(matrices, relative)?,
        inverse: Table::from_vec(matrices, inverse)?,
        rest: Table::from_vec(Extent::try_new((vertices, ()))?, rest)?,
        weight: Table::from_vec(Extent::try_new((vertices, bones))?, weight)?,
        mirror: 1.0,
    })
}

#[cfg(test)]
mod tests {
    use pointful_examples::differences;

    use super::*;
    use crate::data;

    fn shipped() -> Input {
        let hand = ["hand_bones.txt", "hand_vertices.txt", "hand_triangles.txt"].map(data);
        Input::read(&data("hand1_t26_c100.txt"), &hand[0], &hand[1], &hand[2])
            .expect("the data is shipped")
    }

    type Matrix = [[f64; 4]; 4];

    fn times(a: &Matrix, b: &Matrix) -> Matrix {
        std::array::from_fn(|i| std::array::from_fn(|k| (0..4).map(|j| a[i][j] * b[j][k]).sum()))
    }

    /// The vertices once more, bone after bone, with the whole hand turned by Rodrigues' formula.
    fn by_hand(input: &Input) -> Vec<[f64; 3]> {
        let (pose, hand) = (input.pose.as_slice(), &input.hand);
        let bones = hand.parent.len();
        let matrix = |of: &[f64], b: usize| -> Matrix {
            std::array::from_fn(|i| std::array::from_fn(|j| of[16 * b + 4 * i + j]))
        };
        let mut angles = vec![(0.0, 0.0); bones];
        let mut next = pose[6..].iter().copied();
        for finger in angles[2..].chunks_mut(4) {
            for (joint, (bend, spread)) in finger[..3].iter_mut().enumerate() {
                *bend = next.next().expect("twenty");
                if joint == 0 {
                    *spread = next.next().expect("twenty");
                }
            }
        }
        let mut absolute: Vec<Matrix> = Vec::new();
        for (b, (x, z)) in angles.into_iter().enumerate() {
            let about_x: Matrix = [
                [1.0, 0.0, 0.0, 0.0],
                [0.0, x.cos(), -x.sin(), 0.0],
                [0.0, x.sin(), x.cos(), 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ];
            let about_z: Matrix = [
                [z.cos(), -z.sin(), 0.0, 0.0],
                [z.sin(), z.cos(), 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ];
            let posed = times(
                &matrix(hand.relative.as_slice(), b),
                &times(&about_z, &about_x),
            );
            let parent = hand.parent.ordinals()[b];
            absolute.push(if parent == b {
                posed
            } else {
                times(&absolute[parent], &posed)
            });
        }
        let moved: Vec<Matrix> = (0..bones)
            .map(|b| times(&absolute[b], &matrix(hand.inverse.as_slice(), b)))
            .collect();
        let angle = pose[..3].iter().map(|x| x * x).sum::<f64>().sqrt();
        let axis: [f64; 3] =
            std::array::from_fn(|i| if angle < SMALL { 0.0 } else { pose[i] / angle });
        let turned = |x: [f64; 3]| -> [f64; 3] {
            let along: f64 = axis.iter().zip(x).map(|(a, x)| a * x).sum();
            std::array::from_fn(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let across = axis[j] * x[k] - axis[k] * x[j];
                x[i] * angle.cos() + across * angle.sin() + axis[i] * along * (1.0 - angle.cos())
            })
        };
        let vertices = hand.rest.extent().size().0;
        (0..vertices)
            .map(|v| {
                let mut at = [0.0; 3];
                for (b, moved) in moved.iter().enumerate() {
                    for (i, at) in at.iter_mut().enumerate() {
                        let place: f64 = (0..4)
                            .map(|j| moved[i][j] * hand.rest.as_slice()[4 * v + j])
                            .sum();
                        *at += hand.weight.as_slice()[bones * v + b] * place;
                    }
                }
                let at = turned(at);
                std::array::from_fn(|i| at[i] + pose[3 + i])
            })
            .collect()
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn at_rest_the_vertices_are_where_the_file_says() {
        let mut input = shipped();
        input.pose.as_mut_slice().fill(0.0);
        let found = skin(&input.pose, &input.hand);
        // The matrices of the file are of single precision.
        for (v, at) in found.as_slice().chunks(3).enumerate() {
            for (i, x) in at.iter().enumerate() {
                assert!((x - input.hand.rest.as_slice()[4 * v + i]).abs() < 1e-6);
            }
        }
    }

    /// Each point, less where it should be.
    #[track_caller]
    fn off(
        found: &Table<(Measured, Fin<3>), f64>,
        input: &Input,
        expected: impl Fn(usize) -> [f64; 3],
    ) {
        for (at, (&found, point)) in found.iter().zip(input.points.iter()).enumerate() {
            near(found, point - expected(at / 3)[at % 3]);
        }
    }

    #[test]
    fn residuals_by_hand() {
        for n in [100, 7, 0] {
            let input = if n == 100 {
                shipped()
            } else {
                shipped().with_points(n)
            };
            let at = by_hand(&input);
            off(&input.simple(), &input, |m| at[input.vertex.ordinals()[m]]);
            off(&input.complicated(), &input, |m| {
                let [u, v]: [f64; 2] = std::array::from_fn(|k| input.places.as_slice()[2 * m + k]);
                let corners = &input.corners.ordinals()[3 * input.triangle.ordinals()[m]..][..3];
                std::array::from_fn(|i| {
                    let [a, b, c]: [f64; 3] = std::array::from_fn(|k| at[corners[k]][i]);
                    u * a + v * b + (1.0 - u - v) * c
                })
            });
        }
    }

    /// Holds each column of a Jacobian to the differences of the residuals.
    fn differs(
        jacobian: &[f64],
        at: &[f64],
        mut residuals: impl FnMut(&[f64]) -> Table<(Measured, Fin<3>), f64>,
    ) {
        for column in 0..at.len() {
            let step = 1e-6;
            let mut moved = at.to_vec();
            moved[column] += step;
            let above = residuals(&moved);
            moved[column] -= 2.0 * step;
            let below = residuals(&moved);
            let approximate: Vec<f64> = above
                .iter()
                .zip(below.iter())
                .map(|(a, b)| (a - b) / (2.0 * step))
                .collect();
            let exact: Vec<f64> = jacobian
                .iter()
                .skip(column)
                .step_by(at.len())
                .copied()
                .collect();
            differences::assert_close(&exact, &approximate, 1e-7);
        }
    }

    #[test]
    fn jacobians_by_differences() {
        let mut moved = shipped();
        let (simple, (complicated, by_place)) =
            (moved.simple_jacobian(), moved.complicated_jacobian());
        let pose = moved.pose.as_slice().to_vec();
        differs(simple.as_slice(), &pose, |pose| {
            moved.pose.as_mut_slice().copy_from_slice(pose);
            moved.simple()
        });
        differs(complicated.as_slice(), &pose, |pose| {
            moved.pose.as_mut_slice().copy_from_slice(pose);
            moved.complicated()
        });
        // No point depends on another's place, so that all can be moved at once.
        moved = shipped();
        let places = moved.places.as_slice().to_vec();
        differs(by_place.as_slice(), &[0.0, 0.0], |step| {
            let (x, old) = (moved.places.as_mut_slice(), &places);
            for (k, x) in x.iter_mut().enumerate() {
                *x = old[k] + step[k % 2];
            }
            moved.complicated()
        });
    }

    /// A column of the Jacobian is a tangent.
    #[test]
    fn columns_by_forward_mode() {
        let input = shipped();
        let jacobian = input.simple_jacobian();
        for column in 0..26 {
            let mut tangent = Table::<Fin<26>, f64>::zeros(Extent::new(()));
            tangent.as_mut_slice()[column] = 1.0;
            let (value, tangent) = jvp!(simple, wrt = pose)(
                &input.pose,
                &input.hand,
                &input.points,
                &input.vertex,
                &tangent,
            );
            (value.iter().zip(input.simple().iter())).for_each(|(&a, &b)| near(a, b));
            for (row, &t) in tangent.iter().enumerate() {
                near(jacobian.as_slice()[26 * row + column], t);
            }
        }
    }
}

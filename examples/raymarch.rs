//! A picture by marching along rays: a scene is a function that gives the distance to what is
//! nearest, a ray steps by that distance until it is there, and the surface faces where the
//! distance grows: along its gradient. Writes `target/pictures/raymarch.png`.

use plotters::prelude::*;
use pointful::prelude::*;

/// A row of the picture, from the top.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the picture, from the left.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// A vector in space: to the right, up, away from the eye.
#[pointful]
pub type Space = Fin<3>;

/// What is nearer counts as there.
const NEAR: f64 = 1e-4;
/// What is farther cannot be seen.
const FAR: f64 = 20.0;
/// The most steps of a ray.
const STEPS: usize = 200;
/// Where the eye is.
const EYE: [f64; 3] = [0.0, 0.4, -4.0];

#[pointful]
fn length(v: &Table<Space, f64>) -> f64 {
    sum(v * v).sqrt()
}

/// The smaller of two distances, without an edge where they meet.
#[pointful]
fn melt(a: f64, b: f64) -> f64 {
    let near = (0.5 - (a - b).abs()).max(0.0);
    a.min(b) - 0.5 * near * near
}

/// How far `p` is from the scene: a ball that melts into a ring, over a floor.
#[pointful]
pub fn scene(p: &Table<Space, f64>) -> f64 {
    let ball = length(&(p - [-0.7, 0.0, 0.0])) - 0.8;
    let (x, y, z) = (p[0] - 0.7, p[1], p[2]);
    let around = x.hypot(y) - 0.9;
    let ring = around.hypot(z) - 0.25;
    melt(ball, ring).min(p[1] + 1.2)
}

/// How far the scene is from `from` in a direction of length 1, or more than [`FAR`].
#[pointful]
pub fn march(
    from: &Table<Space, f64>,
    direction: &Table<Space, f64>,
    distance: impl Fn(&Table<Space, f64>) -> f64,
) -> f64 {
    let mut way = 0.0;
    let mut step = distance(from);
    let mut steps = 0;
    while step > NEAR && way < FAR && steps < STEPS {
        way += step;
        step = distance(&(from + way * direction));
        steps += 1;
    }
    way
}

/// How bright what a ray meets is.
#[pointful]
fn look(from: &Table<Space, f64>, direction: &Table<Space, f64>, light: &Table<Space, f64>) -> f64 {
    let way = march(from, direction, scene);
    if way < FAR {
        let place = from + way * direction;
        let normal = grad!(scene)(&place);
        // From a little above the surface, which else would be in its own way.
        let out = place + 10.0 * NEAR * normal;
        let lit = if march(&out, light, scene) < FAR {
            0.0
        } else {
            sum(normal * light).max(0.0)
        };
        let haze = (-0.1 * way).exp();
        haze * (0.15 + 0.85 * lit) + (1.0 - haze)
    } else {
        1.0
    }
}

/// The picture, seen from [`EYE`], lit from the direction `light` of length 1.
#[pointful]
pub fn picture(
    rows: Extent<Row>,
    columns: Extent<Column>,
    light: &Table<Space, f64>,
) -> Table<(Row, Column), f64> {
    let pixel = 2.4 / size(Column) as f64;
    for (r, c) in (rows, columns) {
        let across = (c.ordinal() as f64 + 0.5 - 0.5 * size(Column) as f64) * pixel;
        let down = (r.ordinal() as f64 + 0.5 - 0.5 * size(Row) as f64) * pixel;
        let towards = [across, -down, 2.0];
        let eye = for i in _ {
            EYE[i]
        };
        look(&eye, &(towards / length(&towards)), light)
    }
}

/// The direction from which light comes.
fn light() -> Table<Space, f64> {
    let [x, y, z] = [0.5_f64, 0.7, -0.5];
    let length = (x * x + y * y + z * z).sqrt();
    Table::from_vec(Extent::new(()), vec![x / length, y / length, z / length]).expect("three")
}

fn main() {
    let (rows, columns) = (Extent::<Row>::new(480), Extent::<Column>::new(640));
    let seen = picture(rows, columns, &light());
    let path = pointful_examples::picture("raymarch.png");
    let root = BitMapBackend::new(&path, (640, 480)).into_drawing_area();
    for (row, column) in seen.indices() {
        let shade = (255.0 * seen[(row, column)].powf(1.0 / 2.2)).round() as u8;
        let at = (column.ordinal(columns) as i32, row.ordinal(rows) as i32);
        root.draw_pixel(at, &RGBColor(shade, shade, shade))
            .expect("the pixel is inside the picture");
    }
    root.present().expect("the picture can be written");
    println!("{}", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the scene is along a ray.
    #[pointful]
    fn way(from: &Table<Space, f64>, direction: &Table<Space, f64>) -> f64 {
        march(from, direction, scene)
    }

    fn vector(x: f64, y: f64, z: f64) -> Table<Space, f64> {
        Table::from_vec(Extent::new(()), vec![x, y, z]).unwrap()
    }

    #[test]
    fn rays_end_where_things_are() {
        // The ball's front, the floor, nothing.
        let found = way(&vector(-0.7, 0.0, -4.0), &vector(0.0, 0.0, 1.0));
        assert!((found - 3.2).abs() < 2.0 * NEAR, "{found}");
        let found = way(&vector(5.0, 1.0, 0.0), &vector(0.0, -1.0, 0.0));
        assert!((found - 2.2).abs() < 2.0 * NEAR, "{found}");
        assert!(way(&vector(0.0, 3.0, 0.0), &vector(0.0, 1.0, 0.0)) >= FAR);
    }

    #[test]
    fn surfaces_face_along_the_gradient() {
        let slope = grad!(scene);
        let found = slope(&vector(-0.7, 0.0, -0.8));
        for (a, b) in found.iter().zip([0.0, 0.0, -1.0]) {
            assert!((a - b).abs() < 1e-12, "{found}");
        }
        // A distance grows as fast as one goes, except where two are melted.
        let found = slope(&vector(1.9, 0.3, 0.2));
        let length: f64 = found.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-12, "{length}");
    }

    #[test]
    fn a_picture_has_light_shadow_and_sky() {
        let seen = picture(Extent::new(24), Extent::new(32), &light());
        let at = |r: usize, c: usize| seen.as_slice()[32 * r + c];
        assert_eq!(at(0, 0), 1.0, "the sky");
        assert!(seen.iter().all(|x| (0.0..=1.0).contains(x)));
        let (darkest, ball) = (seen.iter().copied().fold(1.0, f64::min), at(10, 8));
        assert!(darkest < 0.5 && ball > darkest + 0.1, "{darkest}, {ball}");
    }
}

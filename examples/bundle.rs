//! Finds where cameras stood and what they looked at from where points appear in their photographs:
//! bundle adjustment by the Levenberg–Marquardt method. Its linear equations are solved by
//! conjugate gradients, which ask for products with the Jacobian and its transpose only, so nobody
//! writes that matrix down. Prints the error before and after, and draws those of all points,
//! smallest first, on a logarithmic scale, to `target/pictures/bundle.png`.

use std::f64::consts::TAU;

use plotters::prelude::SeriesLabelPosition;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::{data, differences};
use pointful_examples::{figure, picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A photograph, and the camera that took it.
#[derive(Clone, Copy, IndexSet)]
pub struct Camera(usize);

/// A point of the scene.
#[derive(Clone, Copy, IndexSet)]
pub struct Point(usize);

/// A point as seen in a photograph.
#[derive(Clone, Copy, IndexSet)]
pub struct Observation(usize);

/// What describes a camera.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Lens {
    /// The rotation from the scene to the camera: its axis, as long as its angle.
    Rx,
    /// Its second part.
    Ry,
    /// Its third part.
    Rz,
    /// The centre of projection.
    Cx,
    /// Its second part.
    Cy,
    /// Its third part.
    Cz,
    /// The focal length, pixels.
    Focal,
    /// Where the optical axis meets the picture, pixels.
    U,
    /// Its second part.
    V,
    /// Radial distortion by the square of the distance from there.
    K1,
    /// By the fourth power of that.
    K2,
}

/// A vector in space.
#[pointful]
type Space = Fin<3>;
/// A place in a picture.
#[pointful]
type Pixel = Fin<2>;
/// All that is to be found, as one vector.
#[pointful]
type Unknown = Either<(Camera, Lens), (Point, Space)>;

/// The photographs, as a list of what is seen in which of them.
#[pointful]
pub struct Photos {
    /// In which photograph.
    pub camera: Table<Observation, Camera>,
    /// What.
    pub point: Table<Observation, Point>,
    /// Where, pixels.
    pub seen: Table<(Observation, Pixel), f64>,
}

#[pointful]
fn cross(a: &Table<Space, f64>, b: &Table<Space, f64>) -> Table<Space, f64> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The vector `x` turned by `turn` (Rodrigues' formula).
#[pointful]
fn rotate(turn: &Table<Space, f64>, x: &Table<Space, f64>) -> Table<Space, f64> {
    let squared = sum(turn * turn);
    if squared > 0.0 {
        let angle = squared.sqrt();
        let axis = turn / angle;
        let along = sum(axis * x) * (1.0 - angle.cos());
        x * angle.cos() + cross(&axis, x) * angle.sin() + axis * along
    } else {
        x + cross(turn, x)
    }
}

/// Where a camera shows a point.
#[pointful]
pub fn project(lens: &Table<Lens, f64>, point: &Table<Space, f64>) -> Table<Pixel, f64> {
    let turn = [lens[Lens::Rx], lens[Lens::Ry], lens[Lens::Rz]];
    let centre = [lens[Lens::Cx], lens[Lens::Cy], lens[Lens::Cz]];
    let there = rotate(&turn, &(point - centre));
    let flat = [there[0] / there[2], there[1] / there[2]];
    let r = sum(flat * flat);
    let stretch = 1.0 + lens[Lens::K1] * r + lens[Lens::K2] * r * r;
    lens[Lens::Focal] * stretch * flat + [lens[Lens::U], lens[Lens::V]]
}

#[pointful]
fn lens(scene: &Table<Unknown, f64>, camera: Camera) -> Table<Lens, f64> {
    for k in Lens {
        scene[Either::Left((camera, k))]
    }
}

#[pointful]
fn place(scene: &Table<Unknown, f64>, point: Point) -> Table<Space, f64> {
    for k in Space {
        scene[Either::Right((point, k))]
    }
}

/// How far from where it was seen every point would appear.
#[pointful]
pub fn errors(scene: &Table<Unknown, f64>, photos: &Photos) -> Table<(Observation, Pixel), f64> {
    for o in _ {
        let (lens, place) = (lens(scene, photos.camera[o]), place(scene, photos.point[o]));
        project(&lens, &place) - photos.seen[o]
    }
}

/// The diagonal of `JᵀJ` for the Jacobian `J` of the errors: an observation depends on one camera
/// and one point only.
#[pointful]
fn curvature(scene: &Table<Unknown, f64>, photos: &Photos) -> Table<Unknown, f64> {
    let mut diagonal = for _u in Unknown {
        0.0
    };
    for o in Observation {
        let (c, p) = (photos.camera[o], photos.point[o]);
        let (by_lens, by_place) = jacobian!(project)(&lens(scene, c), &place(scene, p));
        for (x, k) in (Pixel, Lens) {
            diagonal[Either::Left((c, k))] += by_lens[x][k].powi(2);
        }
        for (x, k) in (Pixel, Space) {
            diagonal[Either::Right((p, k))] += by_place[x][k].powi(2);
        }
    }
    diagonal
}

/// Half the sum of the squared errors.
#[pointful]
pub fn cost(scene: &Table<Unknown, f64>, photos: &Photos) -> f64 {
    0.5 * sum(errors(scene, photos).powi(2))
}

/// The scene, moved by the step `s` with `(JᵀJ + damping diag(JᵀJ)) s = -Jᵀ errors`: by conjugate
/// gradients, preconditioned with the diagonal, at most `rounds` of them.
#[pointful]
pub fn step(
    scene: &Table<Unknown, f64>,
    photos: &Photos,
    damping: f64,
    rounds: usize,
) -> Table<Unknown, f64> {
    let slope = grad!(cost, wrt = scene)(scene, photos);
    // Of what is in no photograph, neither the diagonal nor the slope is anything but zero, and it stays.
    let diagonal = curvature(scene, photos).max(1e-12);
    let mut moved = scene.clone();
    let mut rest = -slope;
    let mut way = rest / diagonal;
    let mut size = sum(rest * way);
    let enough = 1e-6 * size;
    let mut round = 0;
    while size > enough && round < rounds {
        let (_, along) = jvp!(errors, wrt = scene)(scene, photos, &way);
        let (_, back) = vjp!(errors, wrt = scene)(scene, photos, &along);
        let bent = back + damping * diagonal * way;
        let length = size / sum(way * bent);
        moved = moved + length * way;
        rest = rest - length * bent;
        let preconditioned = rest / diagonal;
        let before = size;
        size = sum(rest * preconditioned);
        way = preconditioned + size / before * way;
        round += 1;
    }
    moved
}

/// Up to `steps` steps from a guess: the scene, and the cost before each step, told to `report` as
/// they come.
fn adjust(
    mut scene: Table<Unknown, f64>,
    photos: &Photos,
    steps: usize,
    mut report: impl FnMut(f64),
) -> Table<Unknown, f64> {
    let (mut now, mut damping) = (cost(&scene, photos), 1e-3);
    for _ in 0..steps {
        report(now);
        let moved = step(&scene, photos, damping, 50);
        let then = cost(&moved, photos);
        if then < now {
            (scene, now) = (moved, then);
            damping *= 0.2;
        } else {
            damping *= 10.0;
        }
    }
    scene
}

/// A ball, as wide as four, of `points` random points, and `cameras` cameras around it, which look
/// at its centre.
fn ball(cameras: usize, points: usize, random: &mut StdRng) -> Table<Unknown, f64> {
    let around = (0..cameras).flat_map(|k| {
        let angle = TAU * k as f64 / cameras as f64;
        let centre = [-8.0 * angle.sin(), 0.0, -8.0 * angle.cos()];
        let turn = [0.0, -angle, 0.0];
        let rest = [500.0, 0.0, 0.0, 0.05, -0.02];
        turn.into_iter().chain(centre).chain(rest)
    });
    let mut scene: Vec<f64> = around.collect();
    for _ in 0..points {
        let x = [(); 3].map(|()| random.random_range(-1.0..1.0f64));
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(0.1);
        scene.extend(x.map(|x| 2.0 * x / length));
    }
    of_vec(cameras, points, scene)
}

fn of_vec(cameras: usize, points: usize, scene: Vec<f64>) -> Table<Unknown, f64> {
    let extent = Extent::new(((cameras, ()), (points, ())));
    Table::from_vec(extent, scene).expect("11 numbers a camera and three a point")
}

/// Photographs of the scene that show every point to the cameras that it faces, each number off by
/// up to `noise` pixels.
fn photographs(scene: &Table<Unknown, f64>, noise: f64, random: &mut StdRng) -> Photos {
    let ((cameras, ()), (points, ())) = scene.extent().size();
    let (lenses, places) = scene.as_slice().split_at(11 * cameras);
    let (mut camera, mut point) = (Vec::new(), Vec::new());
    for (c, lens) in lenses.chunks(11).enumerate() {
        for (p, x) in places.chunks(3).enumerate() {
            let outwards: f64 = (0..3).map(|k| x[k] * (lens[3 + k] - x[k])).sum();
            if outwards > 0.0 {
                camera.push(c);
                point.push(p);
            }
        }
    }
    let nowhere = vec![0.0; 2 * camera.len()];
    let mut photos = list(cameras, points, camera, point, nowhere);
    photos.seen = errors(scene, &photos);
    for x in &mut photos.seen {
        *x += noise * random.random_range(-1.0..1.0);
    }
    photos
}

fn list(
    cameras: usize,
    points: usize,
    camera: Vec<usize>,
    point: Vec<usize>,
    seen: Vec<f64>,
) -> Photos {
    let each = Extent::new(camera.len());
    let valid = "all are cameras, and points";
    Photos {
        camera: Table::from_indices(each, Extent::new(cameras), camera).expect(valid),
        point: Table::from_indices(each, Extent::new(points), point).expect(valid),
        seen: Table::from_vec(Extent::new((each.len(), ())), seen).expect("two numbers for each"),
    }
}

/// The scene as one might guess it: cameras and points are off by some tenths, turns by some
/// degrees, lenses are those of the shop.
fn guess(scene: &Table<Unknown, f64>, random: &mut StdRng) -> Table<Unknown, f64> {
    let mut guess = scene.clone();
    let ((cameras, ()), _) = scene.extent().size();
    let (lenses, places) = guess.as_mut_slice().split_at_mut(11 * cameras);
    let mut blur = |x: &mut f64, by: f64| *x += by * random.random_range(-1.0..1.0);
    for lens in lenses.chunks_mut(11) {
        lens[..3].iter_mut().for_each(|x| blur(x, 0.05));
        lens[3..6].iter_mut().for_each(|x| blur(x, 0.3));
        lens[6..].copy_from_slice(&[480.0, 0.0, 0.0, 0.0, 0.0]);
    }
    places.iter_mut().for_each(|x| blur(x, 0.2));
    guess
}

/// The root of the mean square of all errors, pixels.
fn typical(cost: f64, photos: &Photos) -> f64 {
    (2.0 * cost / photos.seen.len() as f64).sqrt()
}

fn main() {
    let mut random = StdRng::seed_from_u64(1984);
    let truth = ball(12, 300, &mut random);
    let photos = photographs(&truth, 0.5, &mut random);
    let start = guess(&truth, &mut random);
    let bar = progress::bar("adjust", 40);
    let found = adjust(start.clone(), &photos, 40, |cost| {
        bar.set_message(format!("error {:.3} pixels", typical(cost, &photos)));
        bar.inc(1);
    });
    bar.abandon();
    let typical = |scene| typical(cost(scene, &photos), &photos);
    println!(
        "12 cameras and 300 points, seen {} times: error {:.3} pixels at first, {:.3} in the end, {:.3} in truth",
        photos.camera.len(),
        typical(&start),
        typical(&found),
        typical(&truth),
    );
    let path = picture("bundle.png");
    let (before, after) = (
        lengths(&errors(&start, &photos)),
        lengths(&errors(&found, &photos)),
    );
    let title = "Bundle adjustment: errors of all observations, smallest first";
    let chart = figure::Chart::new(title, "observation", "error in pixels, log₁₀")
        .line("first guess", figure::ORANGE, before)
        .line("adjusted", figure::BLUE, after)
        .legend(SeriesLabelPosition::LowerRight);
    figure::charts(&path, 1, &[chart]).expect("the picture can be written");
    println!("{}", path.display());
}

/// The logarithms of the errors' lengths, smallest first.
fn lengths(errors: &Table<(Observation, Pixel), f64>) -> Vec<(f64, f64)> {
    let lengths = errors.as_slice().chunks(2).map(|e| e[0].hypot(e[1]));
    let mut lengths: Vec<f64> = lengths.collect();
    lengths.sort_by(f64::total_cmp);
    let logarithms = lengths.iter().map(|x| x.max(1e-9).log10());
    (0..).map(f64::from).zip(logarithms).collect()
}

#[test]
fn noise_is_all_that_remains() {
    let mut random = StdRng::seed_from_u64(7);
    let truth = ball(10, 40, &mut random);
    let photos = photographs(&truth, 0.5, &mut random);
    let start = guess(&truth, &mut random);
    let mut costs = Vec::new();
    let found = adjust(start, &photos, 20, |cost| costs.push(cost));
    assert!(costs.windows(2).all(|pair| pair[1] <= pair[0]), "{costs:?}");
    assert!(typical(costs[0], &photos) > 10.0, "{costs:?}");
    // A fit can only be closer to what was seen than the truth is.
    assert!(cost(&found, &photos) < cost(&truth, &photos), "{costs:?}");
}

#[test]
fn photographs_without_noise_are_met_exactly() {
    let mut random = StdRng::seed_from_u64(8);
    let truth = ball(10, 40, &mut random);
    let photos = photographs(&truth, 0.0, &mut random);
    assert_eq!(cost(&truth, &photos), 0.0);
    let found = adjust(guess(&truth, &mut random), &photos, 30, |_| ());
    let error = typical(cost(&found, &photos), &photos);
    assert!(error < 0.01, "{error} pixels");
}

/// The first two rows, camera and point, of what ADBench says is the Jacobian of its test.
#[cfg(test)]
const JACOBIAN: (&str, &str) = (
    "228.877202208246757 634.574811495545418 -782.222866259340549 2.42892615607159668 -11.7828079628011313 2.54169312487743460
    -1.03657084958518086 0.417022 0 -350.739521096005205 -912.107773668008576 -2.42892615607159668 11.7828079628011313
    -2.54169312487743460",
    "-120.542435994996879 -385.673240766460424 97.5476291403326456 -1.78372108529576567 4.15466799433126077 2.04025718029898906
    0.349176397433145880 0 0.417022 118.149147704414503 307.250108960343255 1.78372108529576567 -4.15466799433126077
    -2.04025718029898906",
);

#[cfg(test)]
fn numbers(text: &str) -> Vec<f64> {
    let words = text.split_whitespace();
    let numbers = words.map(|word| word.parse().expect("the text holds numbers"));
    numbers.collect()
}

/// ADBench's test: every observation is the same.
#[test]
fn values_and_derivatives_are_those_of_adbench() {
    let text = std::fs::read_to_string(data("ba_test.txt")).expect("the data is shipped");
    let file = numbers(&text);
    let ([head, camera, point], [weight, u, v]) = (
        [&file[..3], &file[3..14], &file[14..17]],
        file[17..].try_into().expect("a weight and a place"),
    );
    let (cameras, points, seen) = (head[0] as usize, head[1] as usize, head[2] as usize);
    let scene = of_vec(
        cameras,
        points,
        [camera.repeat(cameras), point.repeat(points)].concat(),
    );
    let photos = list(
        cameras,
        points,
        (0..seen).map(|k| k % cameras).collect(),
        (0..seen).map(|k| k % points).collect(),
        [u, v].repeat(seen),
    );
    for pair in errors(&scene, &photos).as_slice().chunks(2) {
        let pair: Vec<f64> = pair.iter().map(|e| weight * e).collect();
        differences::assert_close(
            &pair,
            &[-0.269_048_849_235_189, 0.259_944_792_677_902],
            1e-12,
        );
    }
    let lens = Table::from_vec(Extent::new(()), camera.to_vec()).unwrap();
    let place = Table::from_vec(Extent::new(()), point.to_vec()).unwrap();
    let (by_lens, by_place) = jacobian!(project)(&lens, &place);
    let scaled = |row: &[f64]| -> Vec<f64> { row.iter().map(|x| weight * x).collect() };
    let rows = [JACOBIAN.0, JACOBIAN.1].map(numbers);
    for (k, row) in rows.iter().enumerate() {
        let lens = scaled(&by_lens.as_slice()[11 * k..11 * (k + 1)]);
        let place = scaled(&by_place.as_slice()[3 * k..3 * (k + 1)]);
        differences::assert_close(&[lens, place].concat(), row, 1e-12);
    }
}

#[test]
fn the_gradient_is_that_of_differences() {
    let mut random = StdRng::seed_from_u64(9);
    let truth = ball(2, 6, &mut random);
    let photos = photographs(&truth, 0.5, &mut random);
    // The first camera is not turned at all, where the angle has no derivative.
    let mut scene = guess(&truth, &mut random);
    scene.as_mut_slice()[..3].fill(0.0);
    let by_differences = differences::gradient(scene.as_slice(), |at| {
        cost(&of_vec(2, 6, at.to_vec()), &photos)
    });
    let slope = grad!(cost, wrt = scene)(&scene, &photos);
    differences::assert_close(slope.as_slice(), &by_differences, 1e-7);
}

#[test]
fn what_nobody_photographed_stays() {
    let mut random = StdRng::seed_from_u64(10);
    let scene = ball(2, 3, &mut random);
    let photos = list(2, 3, vec![], vec![], vec![]);
    assert_eq!(step(&scene, &photos, 1.0, 10), scene);
    let photos = list(2, 3, vec![1], vec![1], vec![3.0, 4.0]);
    let moved = step(&scene, &photos, 1.0, 10);
    for k in (0..11).chain(22..25).chain(28..31) {
        assert_eq!(moved.as_slice()[k], scene.as_slice()[k]);
    }
    assert!(cost(&moved, &photos) < cost(&scene, &photos));
}

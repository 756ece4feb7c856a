//! Tells to which arm of a spiral galaxy a star belongs: a small network of layers learns it from
//! stars whose arm is known. Prints how many of other stars it judges rightly, and draws to
//! `target/pictures/mlp.png` what it says of every place.

use std::f64::consts::PI;

use plotters::prelude::*;
use pointful::lib::softplus;
use pointful::optim::Adam;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// What has a place in the galaxy: a star, or a point of the picture.
#[derive(Clone, Copy, IndexSet)]
pub struct Spot(usize);

/// A direction in the galaxy's plane.
#[derive(Clone, Copy, IndexSet)]
pub enum Axis {
    /// To the east.
    East,
    /// To the north.
    North,
}

/// One of the two arms.
#[derive(Clone, Copy, PartialEq, Debug, IndexSet)]
pub enum Arm {
    /// Begins in the east.
    Eastern,
    /// Begins in the west.
    Western,
}

/// A layer behind the first.
#[derive(Clone, Copy, IndexSet)]
pub struct Layer(usize);

/// One of the units of a layer, of which all layers have the same number.
#[derive(Clone, Copy, IndexSet)]
pub struct Unit(usize);

/// What is learnt.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How a place acts on the first layer.
    pub input: Table<(Unit, Axis), f64>,
    /// How the units of the first layer incline.
    pub start: Table<Unit, f64>,
    /// How a layer acts on the next: unit by unit of the next, those before last.
    pub weights: Table<(Layer, Unit, Unit), f64>,
    /// How the units of further layers incline.
    pub biases: Table<(Layer, Unit), f64>,
    /// How the last layer speaks for the eastern arm.
    pub output: Table<Unit, f64>,
    /// What speaks for it everywhere.
    pub offset: f64,
}

/// How much speaks for the eastern arm at a place: the logarithm of the odds.
#[pointful]
pub fn judge(network: &Network, place: &Table<Axis, f64>) -> f64 {
    let mut signal = for u in Unit {
        let reached = sum(for a in Axis {
            network.input[u][a] * place[a]
        });
        (network.start[u] + reached).tanh()
    };
    for l in Layer {
        signal = for u in Unit {
            let reached = sum(for v in Unit {
                network.weights[l][u][v] * signal[v]
            });
            (network.biases[l][u] + reached).tanh()
        };
    }
    let spoken = sum(for u in Unit {
        network.output[u] * signal[u]
    });
    network.offset + spoken
}

/// How unlikely the network takes it to be that the stars belong to these arms: the mean of the
/// logarithms, negative.
#[pointful]
pub fn surprise(
    network: &Network,
    stars: &Table<(Spot, Axis), f64>,
    arms: &Table<Spot, Arm>,
) -> f64 {
    mean(for s in Spot {
        let eastern = judge(network, &stars[s]);
        match arms[s] {
            Arm::Eastern => softplus(-eastern),
            Arm::Western => softplus(eastern),
        }
    })
}

impl Network {
    fn new(layers: usize, units: usize, random: &mut StdRng) -> Self {
        let reach = (3.0 / units as f64).sqrt();
        let mut any = |reach: f64| random.random_range(-reach..reach);
        Network {
            input: Table::from_fn(Extent::new((units, ())), |_| any(3.0)),
            start: Table::from_fn(Extent::new(units), |_| any(1.0)),
            weights: Table::from_fn(Extent::new((layers, units, units)), |_| any(reach)),
            biases: Table::zeros(Extent::new((layers, units))),
            output: Table::from_fn(Extent::new(units), |_| any(reach)),
            offset: 0.0,
        }
    }
}

type Galaxy = (Table<(Spot, Axis), f64>, Table<Spot, Arm>);

/// A galaxy whose arms, of as many stars each, go around its centre so often.
fn galaxy(each: usize, turns: f64, random: &mut StdRng) -> Galaxy {
    let spots = Extent::<Spot>::new(2 * each);
    let arm = |spot: Spot| match spot.ordinal(spots) % 2 {
        0 => Arm::Eastern,
        _ => Arm::Western,
    };
    let mut places = Vec::new();
    for spot in spots.iter() {
        let far: f64 = random.random_range(0.1..1.0);
        let angle = 2.0 * PI * turns * far + if arm(spot) == Arm::Western { PI } else { 0.0 };
        places.extend(
            [far * angle.cos(), far * angle.sin()].map(|x| x + random.random_range(-0.06..0.06)),
        );
    }
    let both = Extent::join((spots, Extent::new(())));
    let places = Table::from_vec(both, places).expect("two coordinates a star");
    (places, Table::from_fn(spots, arm))
}

/// Follows the gradient until the error is below `goal`, for at most `steps` steps; the error
/// before each is told to `report`.
fn learn(
    network: &mut Network,
    (stars, arms): &Galaxy,
    goal: f64,
    steps: usize,
    mut report: impl FnMut(f64),
) {
    let mut adam = Adam::new(0.02, network).epsilon(1e-12);
    for _ in 0..steps {
        let (error, slope) = value_and_grad!(surprise, wrt = network)(network, stars, arms);
        report(error);
        if error < goal {
            break;
        }
        adam.step(network, &slope);
    }
}

/// The share of the stars whose arm the network names.
fn right(network: &Network, (stars, arms): &Galaxy) -> f64 {
    let odds = vmap!(judge, over = place)(network, stars);
    let named = odds
        .iter()
        .zip(arms.values())
        .filter(|(odds, arm)| (**odds > 0.0) == (*arm == Arm::Eastern));
    named.count() as f64 / odds.len() as f64
}

/// How often an arm goes around the centre.
const TURNS: f64 = 1.25;

fn main() {
    let mut random = StdRng::seed_from_u64(4);
    let known = galaxy(150, TURNS, &mut random);
    let others = galaxy(1000, TURNS, &mut random);
    let mut network = Network::new(2, 12, &mut random);
    let steps = 1000;
    let bar = progress::bar("learning", steps);
    let mut last = 0.0;
    learn(&mut network, &known, 0.01, steps, |error| {
        bar.set_message(format!("error {error:.4}"));
        bar.inc(1);
        last = error;
    });
    bar.abandon();
    let share = 100.0 * right(&network, &others);
    println!("error {last:.4}; names the arm of {share:.1} % of other stars");
    let path = picture("mlp.png");
    draw(&path, &network, &known).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws the stars upon what the network says of every place: the darker, the less sure.
fn draw(
    path: &std::path::Path,
    network: &Network,
    (stars, arms): &Galaxy,
) -> Result<(), Box<dyn std::error::Error>> {
    const SIDE: usize = 400;
    let root = BitMapBackend::new(path, (SIDE as u32, SIDE as u32)).into_drawing_area();
    let centre = |k: usize| 2.2 * (k as f64 + 0.5) / SIDE as f64 - 1.1;
    let places = (0..SIDE * SIDE).flat_map(|k| [centre(k % SIDE), -centre(k / SIDE)]);
    let pixels = Extent::<(Spot, Axis)>::new((SIDE * SIDE, ()));
    let places = Table::from_vec(pixels, places.collect())?;
    let colour = |arm| match arm {
        Arm::Eastern => RGBColor(230, 120, 40),
        Arm::Western => RGBColor(50, 110, 200),
    };
    let odds = vmap!(judge, over = place)(network, &places);
    for (k, &odds) in odds.iter().enumerate() {
        let arm = if odds > 0.0 {
            Arm::Eastern
        } else {
            Arm::Western
        };
        let sure = (0.5 * odds.abs()).tanh();
        let at = ((k % SIDE) as i32, (k / SIDE) as i32);
        root.draw_pixel(at, &colour(arm).mix(0.25 + 0.5 * sure))?;
    }
    let pixel = |x: f64| ((x + 1.1) / 2.2 * SIDE as f64) as i32;
    for (place, arm) in stars.as_slice().chunks(2).zip(arms.values()) {
        let at = (pixel(place[0]), pixel(-place[1]));
        root.draw(&Circle::new(at, 3, colour(arm).filled()))?;
        root.draw(&Circle::new(at, 3, WHITE))?;
    }
    root.present()?;
    Ok(())
}

#[test]
fn tells_the_arms_of_a_galaxy_apart() {
    let mut random = StdRng::seed_from_u64(4);
    let known = galaxy(40, 0.5, &mut random);
    let mut network = Network::new(1, 8, &mut random);
    let mut errors = Vec::new();
    learn(&mut network, &known, 0.05, 300, |error| errors.push(error));
    assert!(errors[errors.len() - 1] < 0.05, "{errors:?}");
    assert_eq!(right(&network, &known), 1.0);
    let others = right(&network, &galaxy(500, 0.5, &mut random));
    assert!(others > 0.95, "{others}");
}

#[test]
fn the_gradient_is_that_of_differences() {
    let mut random = StdRng::seed_from_u64(9);
    for (layers, units, each) in [(0, 1, 1), (1, 3, 2), (3, 2, 7)] {
        let (stars, arms) = galaxy(each, 1.0, &mut random);
        let network = Network::new(layers, units, &mut random);
        let slope = grad!(surprise, wrt = network)(&network, &stars, &arms);
        let by_differences = differences::gradient(&network.flatten(), |x| {
            let network = network.unflatten(x).expect("as many numbers");
            surprise(&network, &stars, &arms)
        });
        differences::assert_close(&slope.flatten(), &by_differences, 1e-7);
    }
}

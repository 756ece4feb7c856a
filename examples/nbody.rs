//! Bodies that attract each other: accelerations as a sum over all pairs, and orbits by the
//! leapfrog method, which keeps the energy.

use pointful::prelude::*;
use pointful_examples::{data, futhark};

/// A body.
#[derive(Clone, Copy, IndexSet)]
pub struct Body(usize);

/// A vector in space.
#[pointful]
pub type Space = Fin<3>;

/// The accelerations of bodies at `place`. Closer than about `softening`, bodies do not attract
/// each other more.
#[pointful]
pub fn accelerations<T: Float>(
    place: &Table<(Body, Space), T>,
    mass: &Table<Body, T>,
    softening: T,
) -> Table<(Body, Space), T> {
    for a in Body {
        sum(for b in Body {
            let apart = place[b] - place[a];
            let distance = (sum(apart * apart) + softening * softening).sqrt();
            mass[b] / distance.powi(3) * apart
        })
    }
}

/// The bodies' places and velocities after `steps` steps of length `dt`.
#[pointful]
pub fn simulate(
    place: Table<(Body, Space), f64>,
    velocity: Table<(Body, Space), f64>,
    mass: &Table<Body, f64>,
    softening: f64,
    steps: usize,
    dt: f64,
) -> (Table<(Body, Space), f64>, Table<(Body, Space), f64>) {
    let mut at = place;
    let mut v = velocity;
    for _step in 0..steps {
        v = v + 0.5 * dt * accelerations(&at, mass, softening);
        at = at + dt * v;
        v = v + 0.5 * dt * accelerations(&at, mass, softening);
    }
    (at, v)
}

/// The energy of the bodies' motion and attraction.
#[pointful]
pub fn energy(
    place: &Table<(Body, Space), f64>,
    velocity: &Table<(Body, Space), f64>,
    mass: &Table<Body, f64>,
    softening: f64,
) -> f64 {
    let motion = sum(for b in Body {
        0.5 * mass[b] * sum(velocity[b] * velocity[b])
    });
    let attraction = sum(for a in Body {
        sum(for b in ..a {
            let apart = place[b] - place[a];
            mass[a] * mass[b] / (sum(apart * apart) + softening * softening).sqrt()
        })
    });
    motion - attraction
}

/// Places, masses of 32 bodies, and the softening, of a published test.
fn input() -> (Table<(Body, Space), f32>, Table<Body, f32>, f32) {
    let bytes = std::fs::read(data("nbody_32.in")).expect("the data is shipped");
    let values = futhark::parse(&bytes).expect("the data is well-formed");
    let n = values[3].dims[0];
    let columns = [3, 4, 5].map(|k| values[k].to_f32());
    let place = (0..n).flat_map(|b| columns.iter().map(move |column| column[b]));
    let place =
        Table::from_vec(Extent::new((n, ())), place.collect()).expect("three for each body");
    let mass = Table::from_vec(Extent::new(n), values[6].to_f32()).expect("one for each body");
    (place, mass, values[1].data[0] as f32)
}

fn main() {
    let (place, mass, softening) = input();
    let wide = |t: &Table<(Body, Space), f32>| {
        let numbers = t.iter().map(|&x| f64::from(x)).collect();
        Table::from_vec(t.extent(), numbers).expect("as many numbers")
    };
    let place = wide(&place);
    let mass = Table::from_vec(mass.extent(), mass.iter().map(|&m| f64::from(m)).collect());
    let mass = mass.expect("as many numbers");
    let rest = Table::zeros(place.extent());
    let softening = f64::from(softening);
    println!("energy before: {}", energy(&place, &rest, &mass, softening));
    let (place, velocity) = simulate(place, rest, &mass, softening, 1000, 0.01);
    println!(
        "energy after:  {}",
        energy(&place, &velocity, &mass, softening)
    );
}

#[test]
fn gives_the_published_forces() {
    let (place, mass, softening) = input();
    let found = accelerations(&place, &mass, softening);
    let bytes = std::fs::read(data("nbody_32.out")).unwrap();
    let expected = futhark::parse(&bytes).unwrap();
    for (k, a) in found.iter().enumerate() {
        let known = expected[7 + k % 3].data[k / 3] as f32;
        let force = a * mass.as_slice()[k / 3];
        assert!(
            (force - known).abs() <= 1e-5 * known.abs().max(1.0),
            "{k}: {force}, published {known}"
        );
    }
}

#[test]
fn acceleration_is_the_slope_of_the_energy() {
    let n = Extent::<Body>::new(5);
    let some = |k: f64| move |i: usize| (k * i as f64).sin();
    let place = Table::from_vec(Extent::new((5, ())), (0..15).map(some(1.3)).collect()).unwrap();
    let mass = Table::from_vec(n, (0..5).map(|i| 1.0 + 0.1 * i as f64).collect()).unwrap();
    let rest = Table::zeros(place.extent());
    let slope = grad!(energy, wrt = place)(&place, &rest, &mass, 0.01);
    let found = accelerations(&place, &mass, 0.01);
    for (k, (a, s)) in found.iter().zip(slope.iter()).enumerate() {
        let force = a * mass.as_slice()[k / 3];
        assert!(
            (force + s).abs() < 1e-12 * force.abs().max(1.0),
            "{k}: {force} and {s}"
        );
    }
}

#[test]
fn a_planet_comes_back_after_its_year() {
    // A circle of radius 1 around a mass of 1, at velocity 1, takes 2π.
    let body = |list: Vec<f64>| Table::from_vec(Extent::new((2, ())), list).unwrap();
    let place = body(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let velocity = body(vec![0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let mass = Table::from_vec(Extent::new(2), vec![1.0, 0.0]).unwrap();
    // Not zero: the acceleration of a body by itself would be 0/0.
    let softening = 1e-6;
    let dt = std::f64::consts::TAU / 2000.0;
    let before = energy(&place, &velocity, &mass, softening);
    let (there, v) = simulate(place.clone(), velocity, &mass, softening, 2000, dt);
    assert!((energy(&there, &v, &mass, softening) - before).abs() < 1e-6);
    for (a, b) in there.iter().zip(place.iter()) {
        assert!((a - b).abs() < 1e-4, "{a} and {b}");
    }
}

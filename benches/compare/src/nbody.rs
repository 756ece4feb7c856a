//! Bodies that attract each other: accelerations as a sum over all pairs, and a step of theirs.

use pointful::prelude::*;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A body.
#[derive(Clone, Copy, IndexSet)]
pub struct Body(usize);

/// A vector in space.
#[pointful]
pub type Space = Fin<3>;

/// Closer than about this bodies do not attract each other more.
const SOFTENING: f64 = 0.1;
/// The length of a step.
const STEP: f64 = 0.01;

/// The accelerations of bodies at `place`.
#[pointful]
pub fn accelerations(
    place: &Table<(Body, Space), f64>,
    mass: &Table<Body, f64>,
) -> Table<(Body, Space), f64> {
    for a in Body {
        sum(for b in Body {
            let apart = place[b] - place[a];
            let distance = (sum(apart * apart) + SOFTENING * SOFTENING).sqrt();
            mass[b] / distance.powi(3) * apart
        })
    }
}

/// Places and velocities after a step.
#[pointful]
pub fn step(
    place: &Table<(Body, Space), f64>,
    velocity: &Table<(Body, Space), f64>,
    mass: &Table<Body, f64>,
) -> (Table<(Body, Space), f64>, Table<(Body, Space), f64>) {
    let v = velocity + STEP * accelerations(place, mass);
    (place + STEP * v, v)
}

/// The bodies' moment of inertia and energy of motion after a step.
#[pointful]
pub fn loss(
    place: &Table<(Body, Space), f64>,
    velocity: &Table<(Body, Space), f64>,
    mass: &Table<Body, f64>,
) -> f64 {
    let (p, v) = step(place, velocity, mass);
    sum(for b in Body {
        mass[b] * (sum(p[b] * p[b]) + sum(v[b] * v[b]))
    })
}

/// The same by bodies in parallel.
fn by_hand(
    place: &[[f64; 3]],
    velocity: &[[f64; 3]],
    mass: &[f64],
) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
    place
        .par_iter()
        .zip(velocity)
        .map(|(here, velocity)| {
            let mut pull = [0.0; 3];
            for (there, mass) in place.iter().zip(mass) {
                let apart = [0, 1, 2].map(|k| there[k] - here[k]);
                let square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
                let distance = (square + SOFTENING * SOFTENING).sqrt();
                let strength = mass / (distance * distance * distance);
                for k in 0..3 {
                    pull[k] += strength * apart[k];
                }
            }
            let v = [0, 1, 2].map(|k| velocity[k] + STEP * pull[k]);
            ([0, 1, 2].map(|k| here[k] + STEP * v[k]), v)
        })
        .unzip()
}

/// Six bodies.
pub(crate) fn small() -> Inputs {
    let vectors = Extent::<(Dyn, Dyn)>::new((6, 3));
    Inputs::made()
        .noise("place", vectors, 1, |x| x)
        .noise("velocity", vectors, 2, |x| x)
        .noise("mass", Extent::<Dyn>::new(6), 3, f64::abs)
}

struct Input {
    place: Table<(Body, Space), f64>,
    velocity: Table<(Body, Space), f64>,
    mass: Table<Body, f64>,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Rc::new(Input {
        place: inputs.table("place")?,
        velocity: inputs.table("velocity")?,
        mass: inputs.table("mass")?,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    let slopes = &["value", "place", "velocity", "mass"];
    Ok(vec![
        Task::pointful("run", &["place", "velocity"], move || {
            step(&a.place, &a.velocity, &a.mass)
        }),
        Task::pointful("value", &["value"], move || {
            loss(&b.place, &b.velocity, &b.mass)
        }),
        Task::pointful("gradient", slopes, move || {
            let (value, (place, velocity, mass)) =
                value_and_grad!(loss, wrt = (place, velocity, mass))(
                    &c.place,
                    &c.velocity,
                    &c.mass,
                );
            (value, place, velocity, mass)
        }),
        Task::hand("run", &["place", "velocity"], move || {
            by_hand(
                d.place.as_slice().as_chunks().0,
                d.velocity.as_slice().as_chunks().0,
                d.mass.as_slice(),
            )
        }),
    ])
}

//! Lorenz' equations from many beginnings: steps of Runge and Kutta's method, one after the other,
//! systems in parallel.

use pointful::prelude::*;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A system.
#[derive(Clone, Copy, IndexSet)]
pub struct System(usize);

/// A parameter of the equations.
#[derive(Clone, Copy, IndexSet)]
pub enum Parameter {
    /// How fast the fluid turns over.
    Sigma,
    /// How warm it is below.
    Rho,
    /// How wide it is.
    Beta,
}

/// The length of a step.
const STEP: f64 = 0.01;

/// The rates of change at a place.
#[pointful]
fn rates(x: f64, y: f64, z: f64, parameters: &Table<Parameter, f64>) -> (f64, f64, f64) {
    let sigma = parameters[Parameter::Sigma];
    let rho = parameters[Parameter::Rho];
    let beta = parameters[Parameter::Beta];
    (sigma * (y - x), x * (rho - z) - y, x * y - beta * z)
}

/// Where the systems are after `steps` steps.
#[pointful]
pub fn flow(
    x: &Table<System, f64>,
    y: &Table<System, f64>,
    z: &Table<System, f64>,
    parameters: &Table<Parameter, f64>,
    steps: usize,
) -> (Table<System, f64>, Table<System, f64>, Table<System, f64>) {
    for s in System {
        let mut at = (x[s], y[s], z[s]);
        for _step in 0..steps {
            let (x, y, z) = at;
            let (ax, ay, az) = rates(x, y, z, parameters);
            let h = 0.5 * STEP;
            let (bx, by, bz) = rates(x + h * ax, y + h * ay, z + h * az, parameters);
            let (cx, cy, cz) = rates(x + h * bx, y + h * by, z + h * bz, parameters);
            let h = STEP;
            let (dx, dy, dz) = rates(x + h * cx, y + h * cy, z + h * cz, parameters);
            let h = STEP / 6.0;
            at = (
                x + h * (ax + 2.0 * bx + 2.0 * cx + dx),
                y + h * (ay + 2.0 * by + 2.0 * cy + dy),
                z + h * (az + 2.0 * bz + 2.0 * cz + dz),
            );
        }
        at
    }
}

/// The mean square of where the systems are after `steps` steps.
#[pointful]
pub fn loss(
    x: &Table<System, f64>,
    y: &Table<System, f64>,
    z: &Table<System, f64>,
    parameters: &Table<Parameter, f64>,
    steps: usize,
) -> f64 {
    let (a, b, c) = flow(x, y, z, parameters, steps);
    mean(for s in System {
        a[s].powi(2) + b[s].powi(2) + c[s].powi(2)
    })
}

/// The same by systems in parallel.
fn by_hand(
    [x, y, z]: [&[f64]; 3],
    [sigma, rho, beta]: [f64; 3],
    steps: usize,
) -> (Vec<f64>, (Vec<f64>, Vec<f64>)) {
    let rates = |[x, y, z]: [f64; 3]| [sigma * (y - x), x * (rho - z) - y, x * y - beta * z];
    let moved = |a: [f64; 3], h: f64, d: [f64; 3]| [0, 1, 2].map(|k| a[k] + h * d[k]);
    (0..x.len())
        .into_par_iter()
        .map(|s| {
            let mut at = [x[s], y[s], z[s]];
            for _ in 0..steps {
                let a = rates(at);
                let b = rates(moved(at, 0.5 * STEP, a));
                let c = rates(moved(at, 0.5 * STEP, b));
                let d = rates(moved(at, STEP, c));
                at = [0, 1, 2].map(|k| at[k] + STEP / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]));
            }
            (at[0], (at[1], at[2]))
        })
        .unzip()
}

/// Four systems.
pub(crate) fn small() -> Inputs {
    let mut inputs = Inputs::made().steps(10);
    for (seed, name) in (1..).zip(PLACE) {
        inputs = inputs.noise(name, Extent::<Dyn>::new(4), seed, |x| 2.0 + x);
    }
    let usual = Table::<Dyn, f64>::from(vec![10.0, 28.0, 8.0 / 3.0]);
    inputs.with("parameters", &usual)
}

/// A place's coordinates.
const PLACE: [&str; 3] = ["x", "y", "z"];

struct Input {
    start: [Table<System, f64>; 3],
    parameters: Table<Parameter, f64>,
    steps: usize,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let [x, y, z] = PLACE.map(|name| inputs.table(name));
    let input = Rc::new(Input {
        start: [x?, y?, z?],
        parameters: inputs.table("parameters")?,
        steps: inputs.number("steps")?,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    Ok(vec![
        Task::pointful("run", &PLACE, move || {
            let [x, y, z] = &a.start;
            flow(x, y, z, &a.parameters, a.steps)
        }),
        Task::pointful("value", &["value"], move || {
            let [x, y, z] = &b.start;
            loss(x, y, z, &b.parameters, b.steps)
        }),
        Task::pointful("gradient", &["value", "x", "y", "z", "parameters"], move || {
            let [x, y, z] = &c.start;
            let (value, (by_x, by_y, by_z, by)) =
                value_and_grad!(loss, wrt = (x, y, z, parameters))(x, y, z, &c.parameters, c.steps);
            (value, by_x, by_y, by_z, by)
        }),
        Task::hand("run", &PLACE, move || {
            let parameters = d.parameters.as_slice().try_into().expect("three of them");
            let (x, (y, z)) =
                by_hand(d.start.each_ref().map(Table::as_slice), parameters, d.steps);
            (x, y, z)
        }),
    ])
}

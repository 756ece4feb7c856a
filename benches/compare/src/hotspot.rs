//! Rodinia's hotspot: the temperature of a chip over time, a five-point stencil whose border
//! repeats the edge.

use pointful::prelude::*;
use rayon::prelude::*;
use std::rc::Rc;

use crate::{Failure, Inputs, Task};

/// A row of the chip.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the chip.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// Edge length of the chip in metres.
const CHIP: f32 = 0.016;
/// Its thickness in metres.
const THICKNESS: f32 = 0.0005;
/// Thermal conductivity of silicon, W/(m·K).
const CONDUCTIVITY: f32 = 100.0;
/// Volumetric heat capacity of silicon, J/(m³·K).
const HEAT_CAPACITY: f32 = 1.75e6;
/// How much of the capacity takes part.
const CAPACITY_FACTOR: f32 = 0.5;
/// The largest power density, W/m².
const MAX_POWER: f32 = 3.0e6;
/// Largest change in one step, in kelvin.
const PRECISION: f32 = 0.001;
/// Temperature around the chip.
const AMBIENT: f32 = 80.0;
/// The temperature that the chip should have.
const TARGET: f32 = 325.0;

/// The temperatures after `steps` steps.
#[pointful]
pub fn hotspot(
    temperature: &Table<(Row, Column), f32>,
    power: &Table<(Row, Column), f32>,
    steps: usize,
) -> Table<(Row, Column), f32> {
    let height = CHIP / size(Row) as f32;
    let width = CHIP / size(Column) as f32;
    let capacity = CAPACITY_FACTOR * HEAT_CAPACITY * THICKNESS * width * height;
    let rx = width / (2.0 * CONDUCTIVITY * THICKNESS * height);
    let ry = height / (2.0 * CONDUCTIVITY * THICKNESS * width);
    let rz = THICKNESS / (CONDUCTIVITY * height * width);
    let slope = MAX_POWER / (CAPACITY_FACTOR * THICKNESS * HEAT_CAPACITY);
    let scale = PRECISION / slope / capacity;
    let mut t = temperature;
    for _step in 0..steps {
        t = for (r, c) in _ {
            let here = t[r][c];
            let vertical = t[(r + 1).clamp()][c] + t[(r - 1).clamp()][c] - 2.0 * here;
            let horizontal = t[r][(c + 1).clamp()] + t[r][(c - 1).clamp()] - 2.0 * here;
            here + scale * (power[r][c] + vertical / ry + horizontal / rx + (AMBIENT - here) / rz)
        };
    }
    t
}

/// How far the chip is from what it should be.
#[pointful]
pub fn loss(
    temperature: &Table<(Row, Column), f32>,
    power: &Table<(Row, Column), f32>,
    steps: usize,
) -> f32 {
    let t = hotspot(temperature, power, steps);
    sum(for (r, c) in _ {
        (t[r][c] - TARGET).powi(2)
    })
}

/// The same by rows in parallel, `rows` by `columns` cells.
fn by_hand(
    temperature: &[f32],
    power: &[f32],
    [rows, columns]: [usize; 2],
    steps: usize,
) -> Vec<f32> {
    let (height, width) = (CHIP / rows as f32, CHIP / columns as f32);
    let capacity = CAPACITY_FACTOR * HEAT_CAPACITY * THICKNESS * width * height;
    let rx = width / (2.0 * CONDUCTIVITY * THICKNESS * height);
    let ry = height / (2.0 * CONDUCTIVITY * THICKNESS * width);
    let rz = THICKNESS / (CONDUCTIVITY * height * width);
    let slope = MAX_POWER / (CAPACITY_FACTOR * THICKNESS * HEAT_CAPACITY);
    let scale = PRECISION / slope / capacity;
    let mut t = temperature.to_vec();
    let mut next = vec![0.0f32; t.len()];
    for _ in 0..steps {
        next.par_chunks_mut(columns)
            .enumerate()
            .for_each(|(r, row)| {
                let up = &t[r.saturating_sub(1) * columns..][..columns];
                let here = &t[r * columns..][..columns];
                let down = &t[(r + 1).min(rows - 1) * columns..][..columns];
                let p = &power[r * columns..][..columns];
                let cell = |c: usize, west: f32, east: f32| {
                    let vertical = up[c] + down[c] - 2.0 * here[c];
                    let horizontal = east + west - 2.0 * here[c];
                    let out = (AMBIENT - here[c]) / rz;
                    here[c] + scale * (p[c] + vertical / ry + horizontal / rx + out)
                };
                let last = columns - 1;
                row[0] = cell(0, here[0], here[1.min(last)]);
                for c in 1..last {
                    row[c] = cell(c, here[c - 1], here[c + 1]);
                }
                row[last] = cell(last, here[last.saturating_sub(1)], here[last]);
            });
        std::mem::swap(&mut t, &mut next);
    }
    t
}

/// A chip of 4 by 5 cells, with so much power that it matters in single precision.
pub(crate) fn small() -> Inputs {
    let extent = Extent::<(Dyn, Dyn)>::new((4, 5));
    Inputs::made()
        .noise("temperature", extent, 1, |x| 320.0 + 10.0 * x as f32)
        .noise("power", extent, 2, |x| 1e5 * x as f32)
        .steps(5)
}

struct Input {
    temperature: Table<(Row, Column), f32>,
    power: Table<(Row, Column), f32>,
    steps: usize,
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let input = Rc::new(Input {
        temperature: inputs.table("temperature")?,
        power: inputs.table("power")?,
        steps: inputs.number("steps")?,
    });
    let [a, b, c, d] = [(); 4].map(|()| Rc::clone(&input));
    Ok(vec![
        Task::pointful("run", &["temperature"], move || {
            hotspot(&a.temperature, &a.power, a.steps)
        }),
        Task::pointful("value", &["value"], move || {
            loss(&b.temperature, &b.power, b.steps)
        }),
        Task::pointful("gradient", &["value", "temperature", "power"], move || {
            let (value, (temperature, power)) =
                value_and_grad!(loss, wrt = (temperature, power))(&c.temperature, &c.power, c.steps);
            (value, temperature, power)
        }),
        Task::hand("run", &["temperature"], move || {
            let (rows, columns) = d.temperature.extent().size();
            by_hand(
                d.temperature.as_slice(),
                d.power.as_slice(),
                [rows, columns],
                d.steps,
            )
        }),
    ])
}

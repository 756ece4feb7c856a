//! Rodinia's hotspot: the temperature of a chip over time, a five-point stencil whose border
//! repeats the edge.

use pointful::prelude::*;
use pointful_examples::{data, futhark};

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

/// The temperatures after `steps` steps.
#[pointful]
pub fn hotspot(
    temperature: Table<(Row, Column), f32>,
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

/// The suite's small input: number of steps, temperatures, powers.
fn input() -> (usize, Table<(Row, Column), f32>, Table<(Row, Column), f32>) {
    let bytes = std::fs::read(data("hotspot_64.in")).expect("the data is shipped");
    let values = futhark::parse(&bytes).expect("the data is well-formed");
    let extent = Extent::new((values[1].dims[0], values[1].dims[1]));
    let table =
        |k: usize| Table::from_vec(extent, values[k].to_f32()).expect("one number for each cell");
    (values[0].data[0] as usize, table(1), table(2))
}

fn main() {
    let (steps, temperature, power) = input();
    let hottest =
        |t: &Table<(Row, Column), f32>| t.as_slice().iter().copied().fold(f32::MIN, f32::max);
    println!("hottest cell before: {}", hottest(&temperature));
    println!(
        "after {steps} steps:   {}",
        hottest(&hotspot(temperature, &power, steps))
    );
}

#[test]
fn gives_the_published_output() {
    let (steps, temperature, power) = input();
    let result = hotspot(temperature, &power, steps);
    let bytes = std::fs::read(data("hotspot_64.out")).unwrap();
    let expected = futhark::parse(&bytes).unwrap()[0].to_f32();
    for (k, (&ours, &theirs)) in result.as_slice().iter().zip(&expected).enumerate() {
        assert!(
            (ours - theirs).abs() <= 1e-5 * theirs.abs(),
            "cell {k}: {ours}, published {theirs}"
        );
    }
}

#[test]
fn a_step_is_one_kernel() {
    assert_eq!(
        explain!(hotspot).lines().next(),
        Some("hotspot: kernels 1, allocations 1, copies 0, swaps 1, host loops 1")
    );
}

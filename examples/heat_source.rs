//! Finds where a plate is heated, and how much, from a picture that a thermal camera takes of it
//! two hundred steps of time later. The gradient runs back through all steps of the simulation; of
//! their temperatures only every fourteenth is kept, the others are computed once more. Prints how
//! close it comes, and draws the heat, the picture and the heat that was found to
//! `target/pictures/heat_source.png`.

use plotters::prelude::*;
use pointful::optim::Adam;
use pointful::prelude::*;
#[cfg(test)]
use pointful_examples::differences;
use pointful_examples::{picture, progress};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A row of the plate.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the plate.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// A map of the plate.
#[pointful]
pub type Map = Table<(Row, Column), f64>;

/// The part of a difference in temperature that passes from a cell to its neighbour in a step.
const FLOW: f64 = 0.2;
/// What a cell at the temperature of the room radiates in a step, as a part of that temperature.
const RADIATION: f64 = 0.002;

/// How much warmer than the room the plate is after `steps` steps, in each of which `heat` warms
/// it, as a part of the room's absolute temperature. The plate's upper and lower ends are kept as
/// warm as the room, its sides are insulated, and all of it radiates.
#[pointful]
pub fn warmed(heat: &Map, steps: usize) -> Map {
    let mut t = for (_r, _c) in (Row, Column) {
        0.0
    };
    #[checkpoint(every = 14)]
    for _step in 0..steps {
        t = for (r, c) in _ {
            let ends = t.get((r - 1, c)).unwrap_or(0.0) + t.get((r + 1, c)).unwrap_or(0.0);
            let sides = t[r][(c - 1).clamp()] + t[r][(c + 1).clamp()];
            let radiated = (1.0 + t[r][c]).powi(4) - 1.0;
            t[r][c] + FLOW * (ends + sides - 4.0 * t[r][c]) - RADIATION * radiated + heat[r][c]
        };
    }
    t
}

/// The mean squared difference from the picture.
#[pointful]
pub fn misfit(heat: &Map, seen: &Map, steps: usize) -> f64 {
    mean((warmed(heat, steps) - seen).powi(2))
}

/// Follows the gradient for `rounds` steps from no heat at all; the error before each is told to
/// `report`.
fn find(seen: &Map, steps: usize, rounds: usize, mut report: impl FnMut(f64)) -> Map {
    let mut heat = Table::zeros(seen.extent());
    let mut adam = Adam::new(4e-4, &heat).epsilon(1e-12);
    for _ in 0..rounds {
        let (error, slope) = value_and_grad!(misfit, wrt = heat)(&heat, seen, steps);
        report(error);
        adam.step(&mut heat, &slope);
    }
    heat
}

/// Two warm spots and a cold one.
fn spots(rows: usize, columns: usize) -> Map {
    Table::from_fn(Extent::new((rows, columns)), |(row, column)| {
        let r = (row.0 as f64 + 0.5) / rows as f64;
        let c = (column.0 as f64 + 0.5) / columns as f64;
        let spot = |at_r: f64, at_c: f64| {
            let squared = (r - at_r).powi(2) + (c - at_c).powi(2);
            (-100.0 * squared).exp()
        };
        0.02 * spot(0.3, 0.3) + 0.014 * spot(0.6, 0.7) - 0.01 * spot(0.8, 0.25)
    })
}

/// What a camera sees of a plate that is heated so, each temperature off by up to `noise`.
fn photograph(heat: &Map, steps: usize, noise: f64) -> Map {
    let mut random = StdRng::seed_from_u64(1822);
    let mut seen = warmed(heat, steps);
    for x in &mut seen {
        *x += noise * random.random_range(-1.0..1.0);
    }
    seen
}

/// The root of the mean square of the differences between two maps.
fn difference(a: &Map, b: &Map) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

fn main() {
    let (steps, rounds) = (200, 400);
    let truth = spots(32, 48);
    let seen = photograph(&truth, steps, 0.002);
    let bar = progress::bar("descend", rounds);
    let found = find(&seen, steps, rounds, |error| {
        bar.set_message(format!("error {error:.3e}"));
        bar.inc(1);
    });
    bar.abandon();
    let nothing = Table::zeros(truth.extent());
    println!(
        "heat of {:.5} a step, found to {:.5}",
        difference(&truth, &nothing),
        difference(&truth, &found)
    );
    let path = picture("heat_source.png");
    draw(&path, &[&truth, &seen, &found]).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws maps side by side, each scaled to its largest value: warm is red, cold is blue.
fn draw(path: &std::path::Path, maps: &[&Map]) -> Result<(), Box<dyn std::error::Error>> {
    let root = BitMapBackend::new(path, (1200, 280)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, map) in root.split_evenly((1, maps.len())).iter().zip(maps) {
        let (rows, columns) = map.extent().size();
        let largest = map.iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .build_cartesian_2d(0..columns, 0..rows)?;
        chart.draw_series(map.indices().map(|(r, c)| {
            let faint = |x: f64| (255.0 * (1.0 - x.clamp(0.0, 1.0))) as u8;
            let x = map[(r, c)] / largest;
            let colour = RGBColor(faint(-x), faint(x.abs()), faint(x));
            // Rows are counted from above.
            let (above, left) = (rows - r.0, c.0);
            Rectangle::new([(left, above - 1), (left + 1, above)], colour.filled())
        }))?;
    }
    root.present()?;
    Ok(())
}

#[test]
fn finds_where_the_plate_was_heated() {
    let truth = spots(10, 12);
    let seen = photograph(&truth, 60, 0.0);
    let mut errors = Vec::new();
    let found = find(&seen, 60, 600, |error| errors.push(error));
    let nothing = Table::zeros(truth.extent());
    assert!(errors[599] < 1e-4 * errors[0], "{errors:?}");
    let (before, after) = (difference(&truth, &nothing), difference(&truth, &found));
    assert!(after < 0.1 * before, "{after} of {before}");
}

#[test]
fn the_gradient_is_that_of_differences() {
    // Steps that fourteen does and does not divide; plates of one row, one column, one cell.
    for (rows, columns, steps) in [(5, 4, 30), (5, 4, 28), (1, 6, 15), (6, 1, 14), (1, 1, 3)] {
        let seen = photograph(&spots(rows, columns), steps, 0.01);
        let heat = spots(columns, rows).cast(seen.extent()).unwrap();
        let by_differences = differences::gradient(heat.as_slice(), |at| {
            let heat = Table::from_vec(seen.extent(), at.to_vec()).unwrap();
            misfit(&heat, &seen, steps)
        });
        let slope = grad!(misfit, wrt = heat)(&heat, &seen, steps);
        differences::assert_close(slope.as_slice(), &by_differences, 1e-7);
    }
}

#[test]
fn no_steps_and_no_plate() {
    let heat = spots(2, 3);
    assert_eq!(warmed(&heat, 0), Table::zeros(heat.extent()));
    let slope = grad!(misfit, wrt = heat)(&heat, &heat, 0);
    assert_eq!(slope, Table::zeros(heat.extent()));
    let none = spots(0, 3);
    assert_eq!(grad!(misfit, wrt = heat)(&none, &none, 20), none);
}

/// Far from the ends, a plate that is heated everywhere alike warms until it radiates what heats
/// it.
#[test]
fn a_long_plate_comes_to_radiate_its_heat() {
    let heat = Table::full(Extent::new((101, 2)), 0.01);
    let t = warmed(&heat, 2000)[(Row(50), Column(1))];
    let radiated = 0.002 * ((1.0 + t).powi(4) - 1.0);
    assert!((radiated - 0.01).abs() < 1e-9, "{t} radiates {radiated}");
}

/// Of 196 steps, fourteen temperatures are kept, and fourteen more where the gradient is at work;
/// all would be 196.
#[test]
fn few_temperatures_are_kept() {
    let heat = spots(20, 20);
    let (_, stats) = pointful::stats::measure(|| grad!(misfit, wrt = heat)(&heat, &heat, 196));
    let maps = stats.peak_bytes / (20 * 20 * 8);
    assert!(maps < 50, "{maps} maps at a time");
}

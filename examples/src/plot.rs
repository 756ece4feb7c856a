//! Curves in a picture.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// A curve, or loose points.
pub struct Series<'s> {
    /// In the order in which a curve goes through them.
    pub points: &'s [(f64, f64)],
    /// Whether the points are joined.
    pub joined: bool,
}

/// Draws the series, each in a colour of its own, in a frame that holds them all.
///
/// # Errors
/// If the picture cannot be written.
pub fn series(path: &Path, series: &[Series<'_>]) -> Result<(), Box<dyn Error>> {
    let all = || series.iter().flat_map(|s| s.points);
    let root = BitMapBackend::new(path, (900, 600)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(20)
        .build_cartesian_2d(range(all().map(|p| p.0)), range(all().map(|p| p.1)))?;
    chart
        .configure_mesh()
        .disable_axes()
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (k, s) in series.iter().enumerate() {
        let colour = Palette99::pick(k);
        let points = s.points.iter().copied();
        if s.joined {
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        } else {
            chart.draw_series(points.map(|p| Circle::new(p, 3, colour.filled())))?;
        }
    }
    root.present()?;
    Ok(())
}

/// A square of the plane around the origin.
pub type Plane<'a, 'b> =
    ChartContext<'a, BitMapBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws on the square of the plane whose coordinates are between -5 and 5.
///
/// # Errors
/// If the picture cannot be written.
pub fn plane(
    path: &Path,
    draw: impl FnOnce(&mut Plane<'_, '_>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let root = BitMapBackend::new(path, (800, 800)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(20)
        .build_cartesian_2d(-5.0..5.0, -5.0..5.0)?;
    chart
        .configure_mesh()
        .disable_axes()
        .light_line_style(TRANSPARENT)
        .draw()?;
    draw(&mut chart)?;
    root.present()?;
    Ok(())
}

/// Draws points of the plane, each in the colour of its cluster, and the clusters' centres; points
/// and centres are pairs, one after the other.
///
/// # Errors
/// If the picture cannot be written.
pub fn clusters(
    path: &Path,
    points: &[f64],
    of: &[usize],
    centres: &[f64],
) -> Result<(), Box<dyn Error>> {
    plane(path, |chart| {
        let at = |pair: &[f64]| (pair[0], pair[1]);
        let dots = points.chunks(2).zip(of);
        chart
            .draw_series(dots.map(|(p, &k)| Circle::new(at(p), 3, Palette99::pick(k).filled())))?;
        let crosses = centres.chunks(2);
        chart.draw_series(crosses.map(|c| Cross::new(at(c), 8, BLACK.stroke_width(3))))?;
        Ok(())
    })
}

/// The range of some numbers and a little more, so that a frame of one number is none of no width.
fn range(numbers: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let margin = (0.03 * (high - low)).max(1e-9);
    low - margin..high + margin
}

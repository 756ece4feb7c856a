//! Figures: charts with titles, axes, units and legends, side by side in one picture.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::element::BitMapElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What is measured or known.
pub const INK: RGBColor = RGBColor(60, 60, 60);
/// The first colour of a chart.
pub const BLUE: RGBColor = RGBColor(31, 119, 180);
/// The second.
pub const ORANGE: RGBColor = RGBColor(230, 110, 20);
/// The third.
pub const GREEN: RGBColor = RGBColor(44, 150, 70);
/// The fourth.
pub const PURPLE: RGBColor = RGBColor(130, 80, 170);
/// What stands in the background.
pub const GREY: RGBColor = RGBColor(150, 150, 150);

/// A colour for each of some kinds, from the first again after five.
pub fn colour(kind: usize) -> RGBColor {
    [BLUE, ORANGE, GREEN, PURPLE, GREY][kind % 5]
}

/// Pixels that are drawn for one of the picture's, in each direction.
const FINE: u32 = 3;

/// Where a figure is drawn.
pub type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// A size in pixels of the picture.
pub fn pixels(n: u32) -> u32 {
    FINE * n
}

/// Text of a size in pixels of the picture.
pub fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", pixels(size)).into_font().color(&INK)
}

/// Draws a picture of a width and a height, finer than it is, so that its lines are smooth.
///
/// # Errors
/// If the picture cannot be written.
pub fn draw(
    path: &Path,
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let dejavu = include_bytes!("../data/DejaVuSans.ttf");
    plotters::style::register_font("sans-serif", FontStyle::Normal, dejavu)
        .map_err(|_| "the font is damaged")?;
    let (wide, fine) = (3 * pixels(width) as usize, FINE as usize);
    let mut drawn = vec![255; wide * pixels(height) as usize];
    {
        let root = BitMapBackend::with_buffer(&mut drawn, (pixels(width), pixels(height)))
            .into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        root.present()?;
    }
    let mut picture = Vec::new();
    for rows in drawn.chunks(fine * wide) {
        for at in (0..wide).step_by(3 * fine) {
            for channel in 0..3 {
                let first = at + channel;
                let of = |(row, column)| u32::from(rows[row * wide + first + 3 * column]);
                let all = (0..fine).flat_map(|row| (0..fine).map(move |column| (row, column)));
                picture.push((all.map(of).sum::<u32>() / (FINE * FINE)) as u8);
            }
        }
    }
    let root = BitMapBackend::new(path, (width, height)).into_drawing_area();
    let picture = BitMapElement::with_owned_buffer((0, 0), (width, height), picture);
    root.draw(&picture.ok_or("the picture has another size")?)?;
    root.present()?;
    Ok(())
}

/// Draws charts in rows of `columns`, each 600 pixels wide and 420 high.
///
/// # Errors
/// If the picture cannot be written.
pub fn charts(path: &Path, columns: usize, charts: &[Chart]) -> Result<(), Box<dyn Error>> {
    let rows = charts.len().div_ceil(columns);
    draw(path, (600 * columns as u32, 420 * rows as u32), |root| {
        let areas = root.split_evenly((rows, columns));
        areas
            .iter()
            .zip(charts)
            .try_for_each(|(area, chart)| chart.draw(area))
    })
}

/// A chart of points of the plane, each in the colour of its cluster, and of the clusters' centres;
/// points and centres are pairs, one after the other.
pub fn clusters(title: impl Into<String>, points: &[f64], of: &[usize], centres: &[f64]) -> Chart {
    let at = |pair: &[f64]| (pair[0], pair[1]);
    let kinds = centres.len() / 2;
    let chart = (0..kinds).fold(Chart::new(title, "x₁", "x₂"), |chart, kind| {
        let own = points.chunks(2).zip(of).filter(|(_, k)| **k == kind);
        chart.dots("", colour(kind), own.map(|(point, _)| at(point)))
    });
    chart.crosses("centres", centres.chunks(2).map(at))
}

/// How numbers are drawn.
enum Form {
    Line(u32),
    Dots,
    Crosses,
    /// From the second number to the third.
    Band,
    /// The same, each beside a height of its own.
    Bars,
}

struct Mark {
    form: Form,
    name: String,
    colour: RGBColor,
    /// A place along an axis, and one or two along the other.
    points: Vec<(f64, f64, f64)>,
}

impl Mark {
    /// What is to be seen of it.
    fn ends(&self) -> impl Iterator<Item = (f64, f64)> {
        let bars = matches!(self.form, Form::Bars);
        self.points.iter().flat_map(move |&(at, from, to)| {
            if bars {
                [(from, at), (to, at)]
            } else {
                [(at, from), (at, to)]
            }
        })
    }
}

/// A chart, to which curves and points are added; a legend names those that have a name.
pub struct Chart {
    title: String,
    x: String,
    y: String,
    marks: Vec<Mark>,
    texts: Vec<(f64, f64, String)>,
    legend: SeriesLabelPosition,
    heights: Option<Range<f64>>,
    ticks: bool,
}

impl Chart {
    /// A chart with a title and the names of its axes, with units.
    pub fn new(title: impl Into<String>, x: impl Into<String>, y: impl Into<String>) -> Self {
        Chart {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            marks: Vec::new(),
            texts: Vec::new(),
            legend: SeriesLabelPosition::UpperRight,
            heights: None,
            ticks: true,
        }
    }

    /// With the legend in another corner than the upper right.
    pub fn legend(mut self, at: SeriesLabelPosition) -> Self {
        self.legend = at;
        self
    }

    /// With a vertical axis of a given range.
    pub fn heights(mut self, range: Range<f64>) -> Self {
        self.heights = Some(range);
        self
    }

    /// With texts in place of numbers beside the vertical axis.
    pub fn without_heights(mut self) -> Self {
        self.ticks = false;
        self
    }

    /// With a curve.
    pub fn line(
        self,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.mark(Form::Line(2), name, colour, points)
    }

    /// With a thin curve.
    pub fn thin(
        self,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.mark(Form::Line(1), name, colour, points)
    }

    /// With loose points.
    pub fn dots(
        self,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.mark(Form::Dots, name, colour, points)
    }

    /// With crosses.
    pub fn crosses(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.mark(Form::Crosses, name, INK, points)
    }

    /// With a band: places, the lower and the upper end.
    pub fn band(
        self,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        self.add(Form::Band, name, colour, points)
    }

    /// With horizontal bars: heights, the left and the right end.
    pub fn bars(
        self,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        self.add(Form::Bars, name, colour, points)
    }

    /// With a text whose left end is at a place.
    pub fn text(mut self, x: f64, y: f64, text: impl Into<String>) -> Self {
        self.texts.push((x, y, text.into()));
        self
    }

    fn mark(
        self,
        form: Form,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, y, y));
        self.add(form, name, colour, points)
    }

    fn add(
        mut self,
        form: Form,
        name: impl Into<String>,
        colour: RGBColor,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        self.marks.push(Mark {
            form,
            name: name.into(),
            colour,
            points: points.into_iter().collect(),
        });
        self
    }

    /// Draws the chart.
    ///
    /// # Errors
    /// If something cannot be drawn.
    pub fn draw(&self, area: &Area<'_>) -> Result<(), Box<dyn Error>> {
        let all = || self.marks.iter().flat_map(Mark::ends);
        let texts = self.texts.iter().map(|text| text.0);
        let heights = range(all().map(|p| p.1), 0.06);
        let mut chart = ChartBuilder::on(area)
            .margin(pixels(12))
            .margin_right(pixels(24))
            .caption(&self.title, font(20))
            .x_label_area_size(pixels(48))
            .y_label_area_size(pixels(if self.ticks { 68 } else { 28 }))
            .build_cartesian_2d(
                range(all().map(|p| p.0).chain(texts), 0.01),
                self.heights.clone().unwrap_or(heights),
            )?;
        // Nine digits are more than a tick has, and hide how it was computed.
        let number = |x: &f64| format!("{}", (x * 1e9).round() / 1e9 + 0.0).replace('-', "−");
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(&self.x)
            .y_desc(&self.y)
            .x_labels(8)
            .y_labels(if self.ticks { 7 } else { 0 })
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .label_style(font(14))
            .axis_desc_style(font(16))
            .axis_style(INK.stroke_width(pixels(1)))
            .bold_line_style(BLACK.mix(0.1).stroke_width(pixels(1)))
            .light_line_style(TRANSPARENT)
            .draw()?;
        // Many dots are smaller, so that one sees each.
        let dots = self
            .marks
            .iter()
            .filter(|mark| matches!(mark.form, Form::Dots));
        let many = dots.map(|mark| mark.points.len()).sum::<usize>() > 100;
        for mark in &self.marks {
            let (colour, points) = (mark.colour, mark.points.iter().copied());
            let middle = points.clone().map(|(x, y, _)| (x, y));
            let drawn = match mark.form {
                Form::Line(width) => {
                    let style = colour.stroke_width(pixels(width));
                    let points: Vec<_> = middle.collect();
                    // In short pieces: where one would go over itself, it would be hollow.
                    let pieces = (0..points.len()).step_by(16).map(|first| {
                        let last = (first + 17).min(points.len());
                        PathElement::new(points[first..last].to_vec(), style)
                    });
                    chart.draw_series(pieces)?
                }
                Form::Dots => {
                    let style = colour.mix(0.8).filled();
                    let radius = pixels(if many { 2 } else { 4 });
                    chart.draw_series(middle.map(|p| Circle::new(p, radius, style)))?
                }
                Form::Crosses => {
                    let style = colour.stroke_width(pixels(3));
                    chart.draw_series(middle.map(|p| Cross::new(p, pixels(6), style)))?
                }
                Form::Band => {
                    let there = points.clone().map(|(x, low, _)| (x, low));
                    let back = points.rev().map(|(x, _, high)| (x, high));
                    let outline: Vec<_> = there.chain(back).collect();
                    let style = colour.mix(0.22).filled();
                    chart.draw_series([Polygon::new(outline, style)])?
                }
                Form::Bars => {
                    let style = colour.stroke_width(pixels(2));
                    let bar = |(y, left, right)| PathElement::new([(left, y), (right, y)], style);
                    chart.draw_series(points.map(bar))?
                }
            };
            if mark.name.is_empty() {
                continue;
            }
            let (half, width) = (pixels(5) as i32, pixels(22) as i32);
            let label = drawn.label(&mark.name);
            match mark.form {
                Form::Line(_) | Form::Bars => label.legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + width, y)], colour.stroke_width(pixels(2)))
                        .into_dyn()
                }),
                Form::Dots => label.legend(move |(x, y)| {
                    Circle::new((x + width / 2, y), pixels(3), colour.mix(0.8).filled()).into_dyn()
                }),
                Form::Crosses => label.legend(move |(x, y)| {
                    let style = colour.stroke_width(pixels(2));
                    Cross::new((x + width / 2, y), pixels(4), style).into_dyn()
                }),
                Form::Band => label.legend(move |(x, y)| {
                    let corners = [(x, y - half), (x + width, y + half)];
                    Rectangle::new(corners, colour.mix(0.22).filled()).into_dyn()
                }),
            };
        }
        let texts = self.texts.iter().map(|(x, y, text)| {
            let middle = Pos::new(HPos::Left, VPos::Center);
            Text::new(text.clone(), (*x, *y), font(13).pos(middle))
        });
        chart.draw_series(texts)?;
        if self.marks.iter().any(|mark| !mark.name.is_empty()) {
            chart
                .configure_series_labels()
                .position(self.legend.clone())
                .margin(pixels(6))
                .legend_area_size(pixels(28))
                .label_font(font(14))
                .background_style(WHITE.mix(0.85))
                .draw()?;
        }
        Ok(())
    }
}

/// The range of some numbers and a part of it more on both sides; one of no width is made wider.
fn range(numbers: impl Iterator<Item = f64>, more: f64) -> Range<f64> {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let margin = (more * (high - low)).max(1e-9);
    low - margin..high + margin
}

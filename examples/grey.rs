//! A colour picture in shades of grey: the channels are an enum, so that none is taken for another.
//! Writes `target/pictures/grey.png`.

use plotters::prelude::*;
use pointful::prelude::*;

/// A row of the picture.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the picture.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// A channel of a colour.
#[derive(Clone, Copy, IndexSet)]
pub enum Channel {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
}

/// How bright a channel appears (ITU-R BT.709).
#[pointful]
fn weight(channel: Channel) -> f32 {
    match channel {
        Channel::R => 0.2126,
        Channel::G => 0.7152,
        Channel::B => 0.0722,
    }
}

/// The light of a channel's value between 0 and 1 (sRGB).
#[pointful]
fn linear(value: f32) -> f32 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// The value of so much light.
#[pointful]
fn encoded(light: f32) -> f32 {
    if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    }
}

/// The shade of one colour.
#[pointful]
pub fn shade(colour: &Table<Channel, f32>) -> f32 {
    encoded(sum(for c in _ {
        weight(c) * linear(colour[c])
    }))
}

/// A picture's shades: a function of one colour is one of all.
#[pointful]
pub fn grey(picture: &Table<(Row, Column, Channel), f32>) -> Table<(Row, Column), f32> {
    shade(picture)
}

/// A picture of all hues, dark at the top and pale at the bottom.
#[pointful]
pub fn hues(rows: Extent<Row>, columns: Extent<Column>) -> Table<(Row, Column, Channel), f32> {
    for (r, c, channel) in (rows, columns, Channel) {
        let angle = c.ordinal() as f32 / size(Column) as f32;
        let light = r.ordinal() as f32 / size(Row) as f32;
        let away = (angle - channel.ordinal() as f32 / 3.0).abs();
        let hue = (2.0 - 6.0 * away.min(1.0 - away)).clamp(0.0, 1.0);
        if light < 0.5 {
            2.0 * light * hue
        } else {
            hue + (2.0 * light - 1.0) * (1.0 - hue)
        }
    }
}

fn main() {
    let (rows, columns) = (Extent::<Row>::new(200), Extent::<Column>::new(360));
    let picture = hues(rows, columns);
    let shades = grey(&picture);
    let path = pointful_examples::picture("grey.png");
    let root = BitMapBackend::new(&path, (360, 400)).into_drawing_area();
    let byte = |x: f32| (255.0 * x).round() as u8;
    for (row, column) in shades.indices() {
        let (y, x) = (row.ordinal(rows) as i32, column.ordinal(columns) as i32);
        let [r, g, b] =
            [Channel::R, Channel::G, Channel::B].map(|c| byte(picture[(row, column, c)]));
        let grey = byte(shades[(row, column)]);
        for (at, colour) in [
            ((x, y), RGBColor(r, g, b)),
            ((x, y + 200), RGBColor(grey, grey, grey)),
        ] {
            root.draw_pixel(at, &colour)
                .expect("the pixel is inside the picture");
        }
    }
    root.present().expect("the picture can be written");
    println!("{}", path.display());
}

#[test]
fn known_colours() {
    let one = |colour: [f32; 3]| {
        let picture = Table::from_vec(Extent::new((1, 1, ())), colour.to_vec()).unwrap();
        grey(&picture).into_vec()[0]
    };
    for x in [0.0, 0.02, 0.5, 1.0] {
        assert!((one([x; 3]) - x).abs() < 1e-6, "a shade of grey stays: {x}");
    }
    assert!(one([0.0, 1.0, 0.0]) > one([1.0, 0.0, 0.0]));
    assert!((one([1.0, 0.0, 0.0]) - 0.4984).abs() < 1e-4);
}

#[test]
fn shades_of_a_picture_are_those_of_its_colours() {
    let (rows, columns) = (Extent::<Row>::new(3), Extent::<Column>::new(5));
    let picture = hues(rows, columns);
    let shades = grey(&picture);
    for (at, (found, colour)) in shades.iter().zip(picture.as_slice().chunks(3)).enumerate() {
        let colour = Table::from_vec(Extent::<Channel>::new(()), colour.to_vec()).unwrap();
        assert_eq!(*found, shade(&colour), "pixel {at}");
    }
}

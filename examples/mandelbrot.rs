//! The Mandelbrot set: a `while` loop in every pixel, all pixels in parallel. Writes
//! `target/pictures/mandelbrot.png`.

use plotters::prelude::*;
use pointful::prelude::*;

/// A row of the picture, from the top.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the picture, from the left.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// How many steps `z ← z² + c` takes to leave the disc of radius 2, at most `limit`,
/// for `c` in a window around `(x, y)` that is `width` wide and keeps the picture's proportions.
#[pointful]
pub fn escape(
    rows: Extent<Row>,
    columns: Extent<Column>,
    x: f64,
    y: f64,
    width: f64,
    limit: u32,
) -> Table<(Row, Column), u32> {
    let pixel = width / size(Column) as f64;
    for (row, column) in (rows, columns) {
        let cx = x + (column.ordinal() as f64 + 0.5 - 0.5 * size(Column) as f64) * pixel;
        let cy = y + (row.ordinal() as f64 + 0.5 - 0.5 * size(Row) as f64) * pixel;
        let mut zx = 0.0;
        let mut zy = 0.0;
        let mut steps = 0u32;
        while zx * zx + zy * zy <= 4.0 && steps < limit {
            let next = zx * zx - zy * zy + cx;
            zy = 2.0 * zx * zy + cy;
            zx = next;
            steps += 1;
        }
        steps
    }
}

fn main() {
    const LIMIT: u32 = 200;
    let (rows, columns) = (Extent::<Row>::new(600), Extent::<Column>::new(800));
    let steps = escape(rows, columns, -0.6, 0.0, 3.2, LIMIT);
    let path = pointful_examples::picture("mandelbrot.png");
    let root = BitMapBackend::new(&path, (800, 600)).into_drawing_area();
    for (row, column) in steps.indices() {
        let taken = steps[(row, column)];
        let colour = if taken == LIMIT {
            BLACK.to_rgba()
        } else {
            HSLColor(f64::from(taken % 64) / 64.0, 0.8, 0.5).to_rgba()
        };
        let at = (column.ordinal(columns) as i32, row.ordinal(rows) as i32);
        root.draw_pixel(at, &colour)
            .expect("the pixel is inside the picture");
    }
    root.present().expect("the picture can be written");
    println!("{}", path.display());
}

#[test]
fn agrees_with_a_plain_loop() {
    let (rows, columns) = (Extent::<Row>::new(33), Extent::<Column>::new(47));
    let steps = escape(rows, columns, -0.6, 0.1, 3.0, 60);
    let pixel = 3.0 / 47.0;
    for (row, column) in steps.indices() {
        let cx = -0.6 + (column.ordinal(columns) as f64 + 0.5 - 23.5) * pixel;
        let cy = 0.1 + (row.ordinal(rows) as f64 + 0.5 - 16.5) * pixel;
        let (mut zx, mut zy, mut n) = (0.0f64, 0.0f64, 0);
        while zx * zx + zy * zy <= 4.0 && n < 60 {
            (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
            n += 1;
        }
        assert_eq!(steps[(row, column)], n);
    }
}

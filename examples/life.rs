//! Conway's Game of Life on a torus: who has three living neighbours lives, who has two goes on.

use pointful::prelude::*;

/// A row of the field.
#[derive(Clone, Copy, IndexSet)]
pub struct Row(usize);

/// A column of the field.
#[derive(Clone, Copy, IndexSet)]
pub struct Column(usize);

/// Who lives after `steps` generations.
#[pointful]
pub fn live(start: &Table<(Row, Column), bool>, steps: usize) -> Table<(Row, Column), bool> {
    let mut field = start;
    for _step in 0..steps {
        field = for (r, c) in _ {
            // Of the nine cells around this and itself.
            let alive = count(for (dr, dc) in (Fin::<3>, Fin::<3>) {
                field[(r + dr.ordinal() - 1).wrap()][(c + dc.ordinal() - 1).wrap()]
            });
            alive == 3 || (alive == 4 && field[r][c])
        };
    }
    field
}

/// A field as a picture of `#` and `.`, a line for each row.
fn parse(picture: &str) -> Table<(Row, Column), bool> {
    let lines: Vec<&str> = picture.split_whitespace().collect();
    let width = lines.first().map_or(0, |line| line.len());
    let cells = lines.concat().chars().map(|c| c == '#').collect();
    Table::from_vec(Extent::new((lines.len(), width)), cells).expect("lines of one length")
}

fn show(field: &Table<(Row, Column), bool>) -> String {
    let line =
        |row: &[bool]| -> String { row.iter().map(|&x| if x { '#' } else { '.' }).collect() };
    let lines: Vec<String> = field.rows().map(|row| line(row.as_slice())).collect();
    lines.join("\n")
}

/// A glider.
const GLIDER: &str = "
    .#......
    ..#.....
    ###.....
    ........
    ........
    ........
";

fn main() {
    let glider = parse(GLIDER);
    for steps in [0, 4, 8, 12] {
        println!("after {steps}:\n{}\n", show(&live(&glider, steps)));
    }
}

#[test]
fn a_glider_moves_by_one_in_four_generations_and_around_the_torus() {
    let glider = parse(GLIDER);
    let moved = parse(
        "
        ........
        ..#.....
        ...#....
        .###....
        ........
        ........
        ",
    );
    assert_eq!(show(&live(&glider, 4)), show(&moved));
    // Six rows and eight columns: after 24 steps down and to the right, it is where it was.
    assert_eq!(show(&live(&glider, 4 * 24)), show(&glider));
}

#[test]
fn a_field_of_one_cell_is_its_own_neighbour() {
    // All eight neighbours are the cell itself.
    assert_eq!(show(&live(&parse("#"), 1)), ".");
    assert_eq!(show(&live(&parse("."), 1)), ".");
}

#[test]
fn a_generation_is_one_kernel() {
    let head = explain!(live)
        .lines()
        .next()
        .expect("there is a first line");
    assert!(head.starts_with("live: kernels 1,"), "{head}");
}

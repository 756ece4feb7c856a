//! Structs and index sets with private fields: they are passed on and differentiated where their
//! fields have no names.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;
use pointful_link_lib::hidden::{self, Cell, Line, loss};

#[pointful]
fn scaled<N: IndexSet>(line: &Line<N>, x: f64) -> f64 {
    loss(line) * x
}

#[pointful]
fn passed_on<N: IndexSet>(line: Line<N>, x: f64) -> Line<N> {
    hidden::moved(line, x)
}

#[pointful]
fn passed_down<N: IndexSet>(line: &mut Line<N>, x: f64) {
    hidden::raise(line, x)
}

#[pointful]
fn of_cell(x: &Table<Cell, f64>, at: Cell) -> f64 {
    hidden::squared(x, at)
}

fn line(slopes: &[f64]) -> Line<Dyn> {
    Line::new(Table::from(slopes.to_vec()), 3.0)
}

#[test]
fn what_is_hidden_is_differentiated() {
    let at = line(&[1.0, 2.0]);
    let slope = grad!(loss)(&at);
    assert_eq!(slope.offset, 0.5);
    assert_eq!(slope.seen(), (&[2.0, 4.0][..], 5.0, 7, 0.5, &[3, 3][..]));
    assert_eq!(scaled(&at, 2.0), 15.0);
    let (by_line, by_x) = grad!(scaled)(&at, 2.0);
    assert_eq!((by_line.seen().0, by_x), (&[4.0, 8.0][..], 7.5));
    let (moved, tangent) = jvp!(hidden::moved)(line(&[1.0, 2.0]), 1.0, &at, 1.0);
    assert_eq!(moved.seen().0, [2.0, 3.0]);
    assert_eq!((tangent.seen().0, tangent.seen().1), (&[2.0, 3.0][..], 0.5));
    let nothing = grad!(loss)(&line(&[]));
    assert_eq!((nothing.seen().0.len(), nothing.offset), (0, 0.5));
}

#[test]
fn what_is_hidden_is_passed_on() {
    let slopes = vec![1.0; 1000];
    let begin = Line::new(Table::<Dyn, _>::from(slopes), 3.0);
    let (moved, stats) = pointful::stats::measure(|| passed_on(begin, 1.0));
    assert_eq!(moved.seen().0, [2.0; 1000]);
    // The slopes are changed where they are.
    assert!(stats.peak_bytes < 8000, "{}", stats.peak_bytes);
    let mut at = line(&[1.0, 2.0]);
    passed_down(&mut at, 1.0);
    assert_eq!(at.seen(), (&[2.0, 3.0][..], 1.0, 7, 2.0, &[3, 3][..]));
}

#[test]
fn members_with_hidden_parts() {
    let extent = Extent::<Cell>::new((2, ()));
    let at = Cell::new(1, true);
    let x = Table::from_fn(extent, |cell| if cell == at { 3.0 } else { 1.0 });
    assert_eq!(of_cell(&x, at), 9.0);
    let slope = grad!(hidden::squared, wrt = x)(&x, at);
    assert_eq!(slope.as_slice(), [0.0, 0.0, 0.0, 6.0]);
}

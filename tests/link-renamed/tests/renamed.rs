//! A dependency under another name.

use pf::prelude::*;
use pointful_link_lib::element;
use pointful_link_renamed::{Axis, Place, Thing, energy, force, second, total};

fn place() -> Place {
    Place {
        x: 3.0,
        rest: Table::from_fn(
            Extent::default(),
            |a| if a == Axis::First { 1.0 } else { 2.0 },
        ),
    }
}

#[pointful]
fn own(place: &Place) -> f64 {
    2.0 * energy(place) + force(place).x
}

#[test]
fn everything_works_as_under_its_own_name() {
    assert_eq!(energy(&place()), 7.0);
    let slope = force(&place());
    assert_eq!((slope.x, slope.rest.as_slice()), (3.0, &[1.0, 2.0][..]));
    assert_eq!(own(&place()), 17.0);
    assert_eq!(grad!(own)(&place()).x, 7.0);
    let x = Table::<Dyn, f64>::from(vec![1.0, 2.0]);
    assert_eq!(second(&x, 1.5f32), 3.0);
    assert_eq!(grad!(element)(&x, 1).as_slice(), [0.0, 2.0]);
    let things = Table::from_vec(Extent::<Thing>::new(2), vec![1.0, 2.0]).expect("two");
    assert_eq!(total(&things), 15.0);
    assert_eq!(try_call!(total)(&things), Ok(15.0));
    let (value, map) = pf::linearize!(total)(&things);
    assert_eq!((value, map(&things)), (15.0, 30.0));
    assert!(explain!(total).contains("total"));
}

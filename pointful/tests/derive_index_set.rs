//! Derived index sets as a user's crate sees them, with every lint it may forbid.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]

use pointful::{Compound, Dyn, Error, Extent, Fin, IndexSet, StaticSet, Table};

#[derive(Clone, Copy, IndexSet)]
struct Row(usize);

mod private {
    //! A set whose ordinal is nobody else's business.

    /// A column.
    #[derive(Clone, Copy, pointful::IndexSet)]
    pub(super) struct Col(usize);
}
use private::Col;

#[derive(Clone, Copy, IndexSet, Debug, PartialEq)]
enum Channel {
    R = 7,
    G = 3,
    B = 5,
}

#[derive(Clone, Copy, IndexSet)]
enum Nothing {}

#[derive(Clone, Copy, IndexSet)]
struct Cell {
    row: Row,
    col: Col,
}

#[derive(Clone, Copy, IndexSet)]
struct Alone {
    r#type: Channel,
}

#[derive(Clone, Copy, IndexSet)]
struct Deep {
    cell: Cell,
    channel: Channel,
    half: Fin<2>,
    sure: bool,
    unit: (),
    pair: (Row, Channel),
}

fn round_trips<I: IndexSet>(size: I::Size, len: usize, rank: usize) {
    let extent = Extent::<I>::new(size);
    assert_eq!(
        (extent.len(), extent.axes().len(), I::RANK),
        (len, rank, rank)
    );
    assert_eq!(extent.axes().iter().product::<usize>(), len);
    for (k, member) in extent.iter().enumerate() {
        assert_eq!(member.ordinal(extent), k);
        assert_eq!(I::from_ordinal(k, extent).checked_ordinal(extent), Some(k));
    }
    assert_eq!(extent.iter().count(), len);
}

#[test]
fn members_and_ordinals_correspond() {
    for n in [0, 1, 2, 7, 1000] {
        round_trips::<Row>(n, n, 1);
        round_trips::<Cell>((n, 3), 3 * n, 2);
        round_trips::<Cell>((0, n), 0, 2);
    }
    round_trips::<Channel>((), 3, 1);
    round_trips::<Nothing>((), 0, 1);
    round_trips::<Alone>((), 3, 1);
    round_trips::<Deep>(
        ((2, 3), (), (), (), (), (2, ())),
        2 * 3 * 3 * 2 * 2 * 2 * 3,
        7,
    );
}

#[test]
fn a_variant_is_numbered_by_its_place() {
    let all = Extent::<Channel>::default();
    assert_eq!(
        all.iter().collect::<Vec<_>>(),
        [Channel::R, Channel::G, Channel::B]
    );
    assert_eq!(Channel::B.ordinal(all), 2);
    assert_eq!(Channel::SIZE, ());
    assert_eq!(Alone::from_ordinal(1, Extent::default()).r#type, Channel::G);
}

#[test]
fn parts_of_a_product() {
    let rows = Extent::<Row>::new(2);
    let cols = Extent::<Col>::new(3);
    let cells = Extent::<Cell>::join((rows, cols));
    assert_eq!(cells.split(), (rows, cols));
    assert_eq!(cells.to_string(), "(2, 3)");
    assert_eq!(format!("{cells:?}"), "Extent<Cell>[(2, 3)]");
    let last = Cell::from_ordinal(5, cells);
    assert_eq!((last.row.ordinal(rows), last.col.ordinal(cols)), (1, 2));
    assert_eq!(Extent::<Alone>::default().split().0.len(), 3);
    let deep = Extent::<Deep>::new(((2, 3), (), (), (), (), (2, ())));
    assert_eq!(deep.split().0, cells);
    assert_eq!(Deep::join_sizes(deep.split()), deep.size());
    let first = Deep::from_ordinal(0, deep);
    let () = first.unit;
    assert_eq!(
        (
            first.cell.ordinal(cells),
            first.channel,
            first.half,
            first.sure
        ),
        (0, Channel::R, Fin::new(0), false)
    );
    assert_eq!((first.pair.0.ordinal(rows), first.pair.1), (0, Channel::R));
}

#[test]
fn a_stranger_is_refused() {
    let rows = Extent::<Row>::new(2);
    assert_eq!(Row(2).checked_ordinal(rows), None);
    let cols = Extent::<Col>::new(3);
    let cell = Cell {
        row: Row(2),
        col: Col::from_ordinal(0, cols),
    };
    assert_eq!(cell.checked_ordinal(Extent::join((rows, cols))), None);
    let overflow = Extent::<Cell>::try_new((usize::MAX / 4, 3)).unwrap_err();
    assert!(matches!(overflow, Error::Overflow { .. }), "{overflow}");
}

#[test]
fn tables_over_and_of_derived_sets() {
    let cells = Extent::<Cell>::new((2, 3));
    let channels = Table::from_fn(cells, |cell| {
        Channel::from_ordinal(cell.ordinal(cells) % 3, Extent::default())
    });
    assert_eq!(channels.at(Cell::from_ordinal(4, cells)), Channel::G);
    assert_eq!(channels.to_string(), "[[0, 1, 2],\n [0, 1, 2]]");
    let of_vec = Table::<Dyn, Channel>::from(vec![Channel::B, Channel::R]);
    assert_eq!((of_vec.at(0), of_vec.at(1)), (Channel::B, Channel::R));
    let collected: Table<Dyn, Channel> = channels.values().collect();
    assert_eq!(collected.as_slice(), channels.as_slice());
    let weights = Table::<Channel, f64>::from_vec((), vec![0.3, 0.6, 0.1]).unwrap();
    assert_eq!(weights.at(Channel::G).to_bits(), 0.6_f64.to_bits());
    let rows = Table::<Cell, Row>::from_indices(cells, Extent::new(2), vec![0, 1, 0, 1, 0, 2])
        .unwrap_err();
    assert_eq!(
        rows.to_string(),
        "element 5 is 2, which is no member of `Row`, a set of 2 members"
    );
}

#[test]
fn tables_over_sets_of_one_length_are_made_of_their_elements() {
    let values = vec![1.0, 2.0, 3.0];
    let table: Table<Row, f64> = values.iter().copied().collect();
    assert_eq!(table.as_slice(), [1.0, 2.0, 3.0]);
    assert_eq!(values.into_iter().collect::<Table<Row, f64>>(), table);
    assert!(Table::<Row, bool>::from_iter([]).is_empty());
    let channels = Table::<Row, Channel>::from_iter([Channel::G; 2]);
    assert_eq!(channels.at(Row(1)), Channel::G);
}

//! Tables through serde and back, and data that is no table.

use pointful_runtime::{Dyn, Either, Extent, Fin, Table};
use serde_json::{from_str, to_string};

type Matrix = Table<(Dyn, Fin<2>), f64>;
type Indices = Table<Dyn, (Dyn, bool)>;

#[test]
fn tables_survive() {
    for n in [0, 1, 2, 7, 1000] {
        let table = Matrix::from_fn(Extent::new((n, ())), |(i, j)| {
            i.0 as f64 / 3.0 + j.get() as f64
        });
        assert_eq!(
            from_str::<Matrix>(&to_string(&table).expect("text")).expect("a table"),
            table
        );
    }
    let table = Matrix::from_vec(Extent::new((1, ())), vec![0.5, 2.0]).expect("two");
    assert_eq!(
        to_string(&table).expect("text"),
        r#"{"size":[1,null],"elements":[0.5,2.0]}"#
    );
    assert_eq!(
        to_string(&table.row(Dyn(0))).expect("text"),
        r#"{"size":null,"elements":[0.5,2.0]}"#
    );
    let flags = Table::<bool, bool>::from_fn(Extent::default(), |b| !b);
    assert_eq!(
        from_str::<Table<bool, bool>>(&to_string(&flags).expect("text")).expect("a table"),
        flags
    );
}

#[test]
fn tables_of_indices_keep_their_set() {
    let table = Indices::from_indices(Extent::new(3), Extent::new((2, ())), vec![3, 0, 1])
        .expect("below four");
    let text = to_string(&table).expect("text");
    assert_eq!(text, r#"{"size":3,"target":[2,null],"elements":[3,0,1]}"#);
    assert_eq!(from_str::<Indices>(&text).expect("a table"), table);
}

#[test]
fn what_is_no_table_is_refused() {
    let error = |text: &str| from_str::<Indices>(text).expect_err(text).to_string();
    assert!(error(r#"{"size":3,"target":[2,null],"elements":[3,0,4]}"#).starts_with(
        "element 2 is 4, which is no member of the set that the table indexes: Extent<(Dyn, bool)>[(2, 2)]"
    ));
    assert!(
        error(r#"{"size":3,"target":[2,null],"elements":[3,0]}"#)
            .starts_with("`Dyn` has 3 members, but there were 2 elements")
    );
    assert!(error(r#"{"size":3,"elements":[3,0,1]}"#).starts_with("missing field `target`"));
    let huge =
        from_str::<Extent<(Dyn, Dyn)>>("[1099511627776,1099511627776]").expect_err("too large");
    assert!(huge.to_string().contains("more members than fit in memory"));
    let union = from_str::<Extent<Either<Dyn, bool>>>("[3,null]").expect("an extent");
    assert_eq!(union.len(), 5);
}

//! Rows of different lengths, on the host.

use pointful_runtime::{Dyn, Error, Extent, Fin, Ragged, Table, VectorSpace};

fn rows() -> Ragged<Dyn, f64> {
    Ragged::from_rows([vec![1.0, 2.0], vec![], vec![3.0, 4.0, 5.0], vec![]])
}

#[test]
fn rows_and_offsets_are_the_same() {
    let by_offsets = Ragged::new(vec![0, 2, 2, 5, 5], vec![1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(by_offsets, Ok(rows()));
    assert_eq!(rows().offsets().collect::<Vec<_>>(), [0, 2, 2, 5, 5]);
    assert_eq!(
        rows().rows().map(|row| row.len()).collect::<Vec<_>>(),
        [2, 0, 3, 0]
    );
    assert_eq!((&rows()[2], rows().row(1).len()), (&[3.0, 4.0, 5.0][..], 0));
    assert_eq!(
        rows()
            .rows()
            .flat_map(|row| row.values())
            .collect::<Vec<_>>(),
        rows().values().as_slice()
    );
    let collected: Ragged<Dyn, i32> = [vec![1], vec![2, 3]].iter().collect();
    assert_eq!(collected.len(), 3);
}

#[test]
fn there_may_be_no_rows() {
    let none = Ragged::<Dyn, f64>::from_rows(Vec::<Vec<f64>>::new());
    assert_eq!(Ragged::new(vec![0], Vec::new()), Ok(none.clone()));
    assert!(none.is_empty() && none.extent().is_empty() && none.rows().len() == 0);
    assert_eq!(none.offsets().collect::<Vec<_>>(), [0]);
    assert_eq!(
        (none.to_string(), format!("{none:?}")),
        ("[]".into(), "[], extent=0".into())
    );
}

#[test]
fn offsets_are_checked() {
    let offsets = |offsets: Vec<usize>, count: usize| {
        Ragged::new(offsets, vec![0.0; count])
            .expect_err("wrong offsets")
            .to_string()
    };
    assert_eq!(
        offsets(vec![], 0),
        "there is one offset more than rows, but there were none"
    );
    assert_eq!(
        offsets(vec![], 2),
        "there is one offset more than rows, but there were none"
    );
    assert_eq!(offsets(vec![1, 2], 2), "offset 0 is 1, but should be 0");
    // Values that are in no row would be read by functions, which trust that rows have them all.
    assert_eq!(offsets(vec![3], 3), "offset 0 is 3, but should be 0");
    assert_eq!(offsets(vec![0], 3), "offset 0 is 0, but should be 3");
    assert_eq!(
        offsets(vec![0, 2, 1, 3], 3),
        "offset 2 is 1, but should be from 2 to 3"
    );
    assert_eq!(
        offsets(vec![0, 4, 3], 3),
        "offset 1 is 4, but should be from 0 to 3"
    );
    assert_eq!(offsets(vec![0, 2], 3), "offset 1 is 2, but should be 3");
    assert_eq!(offsets(vec![0, 4], 3), "offset 1 is 4, but should be 3");
    assert_eq!(offsets(vec![0], 3), "offset 0 is 0, but should be 3");
    assert_eq!(offsets(vec![1], 0), "offset 0 is 1, but should be 0");
}

#[test]
fn another_set_of_as_many_rows() {
    let fixed: Ragged<Fin<4>, f64> = rows().cast(()).expect("four rows");
    assert_eq!(fixed.row(Fin::new(2)).as_slice(), [3.0, 4.0, 5.0]);
    let error = rows()
        .cast::<Fin<3>>(())
        .expect_err("four rows are not three");
    assert!(
        matches!(
            error,
            Error::Length {
                expected: 3,
                found: 4,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn values_are_changed_and_replaced() {
    let mut doubled = rows().map(|x| 2.0 * x);
    assert!(doubled.has_rows_of(&rows()) && doubled != rows());
    doubled.values_mut().iter_mut().for_each(|x| *x /= 2.0);
    assert_eq!(doubled, rows());
    let flags = rows()
        .with_values(vec![true, false, true, true, false])
        .expect("as many");
    assert_eq!(&flags[0], [true, false]);
    assert!(rows().with_values(vec![1.0]).is_err());
    let columns = Table::<Dyn, Fin<3>>::from_indices(Extent::new(5), (), vec![2, 1, 0, 0, 2])
        .expect("below three");
    assert_eq!(
        rows().with_values(columns).expect("as many").row(2).at(2),
        Fin::new(2)
    );
}

#[test]
fn they_are_vectors() {
    let (mut x, y) = (rows(), rows().map(|x| 10.0 * x));
    x.axpy(0.5, &y);
    assert_eq!(x, rows().map(|x| 6.0 * x));
    assert_eq!((x.dimension(), rows().dot(&y)), (5, 550.0));
    assert_eq!(x.zeros_like(), rows().map(|_| 0.0));
}

#[test]
#[should_panic(
    expected = "vectors of different shapes: [0, 2, 2, 5, 5] in one, [0, 5] in the other"
)]
fn vectors_of_other_rows_are_refused() {
    rows().axpy(1.0, &Ragged::from_rows([[1.0; 5]]));
}

#[test]
fn they_are_printed_row_by_row() {
    assert_eq!(rows().to_string(), "[[1, 2],\n [],\n [3, 4, 5],\n []]");
    assert_eq!(
        format!("{:?}", rows()),
        "[[1.0, 2.0],\n [],\n [3.0, 4.0, 5.0],\n []], extent=4"
    );
    let many: Ragged<Dyn, u8> = (0..100).map(|k| vec![k; 1]).collect();
    assert_eq!(many.to_string().lines().count(), 21);
    assert_eq!(format!("{many:#}").lines().count(), 100);
}

#[cfg(feature = "serde")]
#[test]
fn they_are_written_and_read() {
    let text = serde_json::to_string(&rows()).expect("written");
    assert_eq!(
        text,
        r#"{"size":4,"offsets":[0,2,2,5,5],"values":{"size":5,"elements":[1.0,2.0,3.0,4.0,5.0]}}"#
    );
    assert_eq!(
        serde_json::from_str::<Ragged<Dyn, f64>>(&text).expect("read"),
        rows()
    );
    let wrong = text.replace("[0,2,2,5,5]", "[0,2,1,5,5]");
    let error = serde_json::from_str::<Ragged<Dyn, f64>>(&wrong).expect_err("wrong offsets");
    assert!(
        error
            .to_string()
            .contains("offset 2 is 1, but should be from 2 to 5"),
        "{error}"
    );
    let wrong = text.replace("\"size\":4", "\"size\":3");
    assert!(serde_json::from_str::<Ragged<Dyn, f64>>(&wrong).is_err());
}

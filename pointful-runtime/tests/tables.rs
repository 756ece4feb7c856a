//! Tables on the host: making, reading, writing, rows, indices, print.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ndarray::{Array, ArrayD, IxDyn};
use pointful_runtime::{Dyn, Either, Error, Extent, Fin, IndexSet, Table, View};
use proptest::prelude::*;

type Matrix<T> = Table<(Dyn, Dyn), T>;

fn message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("a panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a message")).to_owned(),
    }
}

#[test]
fn made_of_functions_values_and_vectors() {
    for n in [0, 1, 2, 7, 1000] {
        let extent = Extent::<(Dyn, Fin<3>)>::new((n, ()));
        let mut calls = 0;
        let table = Table::from_fn(extent, |(Dyn(i), j)| {
            assert_eq!(calls, 3 * i + j.get(), "in row-major order");
            calls += 1;
            (10 * i + j.get()) as i64
        });
        assert_eq!(
            (calls, table.len(), table.is_empty(), table.extent()),
            (3 * n, 3 * n, n == 0, extent)
        );
        assert!(
            table
                .indices()
                .all(|(i, j)| table[(i, j)] == (10 * i.0 + j.get()) as i64)
        );
        assert_eq!(table.as_slice().as_ptr() as usize % 64, 0);
        assert_eq!(table, table.clone());

        let vec: Vec<i64> = table.iter().copied().collect();
        let start = vec.as_ptr();
        let same = Table::from_vec(extent, vec).expect("the right length");
        assert_eq!(same, table);
        let vec = same.into_vec();
        assert_eq!(vec.as_ptr(), start, "adopted and given back without a copy");
        assert_eq!(
            Table::from_vec(Extent::<Dyn>::new(3 * n + 1), vec).unwrap_err(),
            Error::Length {
                set: "Dyn".into(),
                expected: 3 * n + 1,
                found: 3 * n
            }
        );
        assert!(Table::<_, f32>::zeros(extent).iter().all(|&x| x == 0.0));
        assert!(Table::<_, u8>::ones(extent).iter().all(|&x| x == 1));
        assert_eq!(
            Table::full(extent, true).values().filter(|&x| x).count(),
            3 * n
        );
    }
}

#[test]
fn made_of_arrays() {
    let row = Table::from([1, 2, 3]);
    let _: &Table<Fin<3>, i32> = &row;
    assert_eq!(row[Fin::new(2)], 3);
    let matrix = Table::<(Fin<2>, Fin<3>), _>::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let dynamic = Matrix::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(dynamic.extent().size(), (2, 3));
    assert_eq!(matrix.as_slice(), dynamic.as_slice());
    assert_eq!(
        matrix[(Fin::new(1), Fin::new(0))],
        dynamic[(Dyn(1), Dyn(0))]
    );
    let cube = Table::<(Fin<2>, Fin<1>, Fin<2>), _>::from([[[1, 2]], [[3, 4]]]);
    assert_eq!(cube[(Fin::new(1), Fin::new(0), Fin::new(1))], 4);
    let four = Table::<(Dyn, Dyn, Dyn, Dyn), _>::from([[[[true, false]]]]);
    assert_eq!(four.extent().size(), (1, 1, 1, 2));
    assert_eq!(
        Table::<Dyn, f64>::from(vec![1.0, 2.0]),
        Table::<Dyn, f64>::from([1.0, 2.0])
    );
    assert_eq!(Table::<Dyn, u8>::from(&[1, 2][..]), (1..3).collect());
    assert!(Table::<Dyn, f64>::from([]).is_empty());
    assert_eq!(Table::scalar(2.5).into_scalar(), 2.5);
    assert_eq!(row.map(|x| f64::from(x) / 2.0).as_slice(), [0.5, 1.0, 1.5]);
}

#[test]
fn read_and_written() {
    let mut t = Matrix::from([[1, 2], [3, 4]]);
    t[(Dyn(0), Dyn(1))] += 10;
    t.row_mut(Dyn(1)).fill(7);
    for x in &mut t {
        *x += 1;
    }
    assert_eq!(t.as_slice(), [2, 13, 8, 8]);
    t.as_mut_slice()[3] = 0;
    assert_eq!(t.iter().sum::<i32>(), 23);
    assert_eq!((&t).into_iter().count(), 4);
    assert_eq!(
        (t.get((Dyn(0), Dyn(1))), t.get((Dyn(0), Dyn(2)))),
        (Some(13), None)
    );
    assert_eq!(t.at((Dyn(1), Dyn(0))), 8);
    assert_eq!(
        message(|| {
            let _ = t[(Dyn(0), Dyn(2))];
        }),
        "the index is no member of `(Dyn, Dyn)` of size (2, 2)"
    );
}

#[test]
fn plain_numbers_are_lengths_of_dyn_axes() {
    let zeros = Table::zeros(3);
    assert_eq!(zeros, Table::<Dyn, f64>::from([0.0; 3]));
    let ones = Table::ones((2, 3));
    assert_eq!(ones, Matrix::<i32>::from([[1; 3]; 2]));
    let full = Table::full((1, 2, 0), true);
    assert_eq!(full.extent(), Extent::<(Dyn, Dyn, Dyn)>::new((1, 2, 0)));
    let six = Table::<(Dyn, Dyn, Dyn, Dyn, Dyn, Dyn), u8>::zeros((1, 2, 1, 2, 1, 2));
    assert_eq!(six[(0, 1, 0, 1, 0, 1)], six[[0, 1, 0, 1, 0, 1]]);
    // Mixed with extents, and with `()` where the type says which static set there is.
    let mixed = Table::<(Fin<2>, Dyn, Dyn), f32>::zeros(((), zeros.extent(), 4));
    assert_eq!(mixed.extent(), Extent::new(((), 3, 4)));
    let made = Table::from_vec((2, 2), vec![1, 2, 3, 4]).expect("the right length");
    assert_eq!(made, Matrix::from([[1, 2], [3, 4]]));
    assert_eq!(
        made.view().cast::<Dyn>(4).map(|flat| flat[3]),
        Ok(4),
        "a cast"
    );
    let short = View::from_slice((2, 3), &[0.0; 5]).map(View::len);
    assert_eq!(
        short.expect_err("five").to_string(),
        "`(Dyn, Dyn)` has 6 members, but there were 5 elements"
    );
    let class = Table::<Dyn, (Dyn, Dyn)>::from_indices(2, (3, 3), vec![1, 5]);
    assert_eq!(class.expect("below nine").at(1), (Dyn(1), Dyn(2)));
    assert_eq!(
        message(|| drop(Table::<_, f64>::zeros((usize::MAX, 2)))),
        "`Dyn` of size 18446744073709551615 has more members than fit in memory"
    );
}

/// What was an extent and a member before is so without more types than before.
#[test]
fn extents_and_members_need_no_annotations() {
    fn grid<I: IndexSet>(extent: Extent<I>, at: I) -> (Table<I, f64>, f64) {
        let t = Table::zeros(extent);
        let x = t[at];
        (t, x)
    }
    let (t, x) = grid(Extent::new(((), 2)), (Fin::<3>::new(1), Dyn(0)));
    assert_eq!((t.len(), x, t[(Fin::new(2), Dyn(1))]), (6, 0.0, 0.0));
    let t: Table<(Fin<2>, Fin<3>), f64> = Table::zeros(Extent::default());
    assert_eq!(t.get((Fin::new(1), Fin::new(2))), Some(0.0));
    let t: Table<Dyn, f64> = Table::ones(Extent::new(2));
    assert_eq!(t[Dyn(1)] + t.iter().sum::<f64>(), 3.0);
}

#[test]
fn plain_numbers_are_places_along_dyn_axes() {
    let mut x = Table::<Dyn, f64>::from([1.0, 2.0]);
    x[1] += 5.0;
    assert_eq!((x[0], x[1], x.at(1), x.get(2)), (1.0, 7.0, 7.0, None));
    let mut t = Matrix::from([[1, 2, 3], [4, 5, 6]]);
    t[1][2] += 10;
    t[(0, 1)] += 20;
    t[[0, 0]] += 30;
    assert_eq!(t[0], [31, 22, 3]);
    assert_eq!((t[1][2], t.row(1)[2], t.view()[1][0]), (16, 16, 4));
    assert_eq!((t.get((1, 2)), t.get([2, 0])), (Some(16), None));
    let cube = Table::<(Dyn, Dyn, Dyn), _>::from([[[1, 2]], [[3, 4]]]);
    assert_eq!((cube[(1, 0, 1)], cube.row(1)[0][1]), (4, 4));
    let mut class = Table::<Dyn, Dyn>::from_indices(1, 2, vec![0]).expect("below two");
    class.set(0, Dyn(1));
    assert_eq!(class.at(0), Dyn(1));
    let said = |place: (usize, usize)| {
        message(|| {
            let _ = t[place];
        })
    };
    assert_eq!(
        said((2, 5)),
        "index 2 is out of range for axis 0 of 2 members"
    );
    assert_eq!(
        said((1, 3)),
        "index 3 is out of range for axis 1 of 3 members"
    );
    assert_eq!(
        message(|| {
            let _ = x[2];
        }),
        "index 2 is out of range for an axis of 2 members"
    );
    assert_eq!(
        message(|| {
            let _ = t[2][0];
        }),
        "index 2 is out of range for an axis of 2 members"
    );
}

#[test]
fn plain_numbers_are_places_along_axes_of_fin() {
    let mut x = Table::<Fin<2>, f64>::from([1.0, 2.0]);
    x[1] += 5.0;
    assert_eq!((x[0], x[1], x.at(1), x.get(2)), (1.0, 7.0, 7.0, None));
    let mut t = Table::<(Fin<2>, Fin<3>), i32>::from([[1, 2, 3], [4, 5, 6]]);
    t[1][2] += 10;
    t[(0, 1)] += 20;
    t[[0, 0]] += 30;
    assert_eq!(
        (&t[0], t.row(1)[2], t.view()[1][0]),
        (&[31, 22, 3][..], 16, 4)
    );
    assert_eq!(t[(Fin::new(1), Fin::new(2))], 16);
    let mixed = Table::from_fn(
        Extent::<(Dyn, Fin<2>, Dyn)>::new((2, (), 3)),
        |(i, j, k)| 100 * i.0 + 10 * j.get() + k.0,
    );
    assert_eq!(
        (mixed[(1, 1, 2)], mixed.get((1, 2, 0)), mixed.row(0)[(1, 1)]),
        (112, None, 11)
    );
    let said = message(|| {
        let _ = mixed[(1, 2, 0)];
    });
    assert_eq!(said, "index 2 is out of range for axis 1 of 2 members");
}

#[test]
fn rows_are_views_with_their_extents() {
    let t = Table::from_fn(
        Extent::<(Dyn, Fin<2>, Dyn)>::new((3, (), 4)),
        |(i, j, k)| 100 * i.0 + 10 * j.get() + k.0,
    );
    let row = t.row(Dyn(2));
    assert_eq!(row.extent(), Extent::<(Fin<2>, Dyn)>::new(((), 4)));
    assert_eq!(row[(Fin::new(1), Dyn(3))], 213);
    assert_eq!(row.row(Fin::new(1)).as_slice(), [210, 211, 212, 213]);
    assert_eq!(
        t.rows()
            .map(|row| row.iter().sum::<usize>())
            .collect::<Vec<_>>(),
        [52, 852, 1652]
    );
    assert_eq!(t.rows().len(), 3);
    assert_eq!(
        t.rows().next_back().expect("a row").to_table()[(Fin::new(0), Dyn(0))],
        200
    );
    assert_eq!(
        message(|| drop(t.row(Dyn(3)).to_table())),
        "the index is no member of `Dyn` of size 3"
    );
    let empty = Table::<(Dyn, Dyn), f64>::zeros(Extent::new((3, 0)));
    assert!(empty.rows().all(View::is_empty) && empty.rows().len() == 3);
}

#[test]
fn casts_keep_the_elements() {
    let t = Matrix::from([[1, 2, 3], [4, 5, 6]]);
    let start = t.as_slice().as_ptr();
    let flat = t.cast(Extent::<Dyn>::new(6)).expect("as many");
    assert_eq!((flat.as_slice().as_ptr(), flat[Dyn(4)]), (start, 5));
    let back = flat
        .cast(Extent::<(Fin<3>, bool)>::default())
        .expect("as many");
    assert_eq!(back[(Fin::new(1), true)], 4);
    assert_eq!(
        back.view()
            .cast(Extent::<Dyn>::new(5))
            .unwrap_err()
            .to_string(),
        "`Dyn` has 5 members, but there were 6 elements"
    );
    assert!(back.cast(Extent::<Dyn>::new(7)).is_err());
}

#[test]
fn tables_of_indices_are_checked_when_made() {
    let (extent, target) = (Extent::<Dyn>::new(3), Extent::<(Dyn, Fin<2>)>::new((2, ())));
    let t = Table::<Dyn, (Dyn, Fin<2>)>::from_indices(extent, target, vec![3, 0, 2])
        .expect("all below four");
    assert_eq!(t.target(), target);
    assert_eq!(t.at(Dyn(0)), (Dyn(1), Fin::new(1)));
    assert_eq!(t.values().map(|(a, _)| a.0).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(t.as_slice(), [3, 0, 2]);
    assert_eq!(t.to_string(), "[3, 0, 2]");
    assert_eq!(
        Table::<Dyn, (Dyn, Fin<2>)>::from_indices(extent, target, vec![3, 4, 5])
            .unwrap_err()
            .to_string(),
        "element 1 is 4, which is no member of `(Dyn, Fin<2>)`, a set of 4 members"
    );
    assert_eq!(
        Table::<Dyn, Dyn>::from_indices(extent, Extent::new(9), vec![]).unwrap_err(),
        Error::Length {
            set: "Dyn".into(),
            expected: 3,
            found: 0
        }
    );
    // The same ordinals in a set of another size are other indices.
    let wider = Extent::<(Dyn, Fin<2>)>::new((3, ()));
    assert_ne!(
        t,
        Table::from_indices(extent, wider, vec![3, 0, 2]).expect("all below six")
    );

    let mut t = t;
    t.set(Dyn(1), (Dyn(1), Fin::new(0)));
    assert_eq!(t.as_slice(), [3, 2, 2]);
    assert_eq!(
        message(|| t.set(Dyn(1), (Dyn(2), Fin::new(0)))),
        "the index is no member of `(Dyn, Fin<2>)` of size (2, 2)"
    );
    let made = Table::from_fn_into(extent, Extent::<Dyn>::new(5), |Dyn(i)| Dyn(4 - i));
    assert_eq!(made.as_slice(), [4, 3, 2]);
    assert!(
        message(|| drop(Table::from_fn_into(extent, Extent::<Dyn>::new(2), |i| i)))
            .starts_with("element 2 is no member")
    );
    // A static set needs no extent, and `bool` is an element of its own.
    let parity = Table::from_fn(extent, |Dyn(i)| Fin::<2>::new(i % 2));
    assert_eq!(parity.as_slice(), [0, 1, 0]);
    let even: Table<Dyn, bool> = Table::from_fn(extent, |Dyn(i)| i % 2 == 0);
    assert!(even[Dyn(0)] && !even[Dyn(1)]);
    let flags = Table::<Dyn, bool>::from_indices(extent, Extent::default(), vec![1, 0, 1])
        .expect("two members");
    assert_eq!(
        (flags.as_slice(), &flags.ordinals()[..]),
        (&[true, false, true][..], &[1, 0, 1][..])
    );
    assert!(Table::<Dyn, bool>::from_indices(extent, Extent::default(), vec![1, 0, 2]).is_err());
    assert_eq!(made.ordinals().as_ptr(), made.as_slice().as_ptr());
    let side = Table::from_fn(extent, |Dyn(i)| {
        if i == 0 {
            Either::Left(())
        } else {
            Either::Right(true)
        }
    });
    assert_eq!(side.at(Dyn(2)), Either::Right(true));
}

#[test]
fn tables_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Table<(Dyn, Fin<2>), f64>>();
    crosses::<Table<Dyn, (Dyn, bool)>>();
    crosses::<View<'static, Dyn, f32>>();
    crosses::<Error>();
}

#[test]
fn views_of_slices() {
    let data = [1.0, 2.0, 3.0, 4.0];
    let view = View::from_slice(Extent::<(Dyn, Fin<2>)>::new((2, ())), &data).expect("four");
    assert_eq!(
        (
            view[(Dyn(1), Fin::new(0))],
            view.len(),
            view.get((Dyn(2), Fin::new(0)))
        ),
        (3.0, 4, None)
    );
    assert!(View::from_slice(Extent::<Dyn>::new(3), &data).is_err());
    assert_eq!(view.into_iter().sum::<f64>(), 10.0);
    assert_eq!(view.indices().len(), 4);
}

#[test]
fn print_ends_with_the_extent_for_debugging() {
    let t = Table::<(Dyn, Fin<2>), _>::from_vec(Extent::new((2, ())), vec![1.0, 2.0, 3.0, 4.0])
        .expect("four");
    assert_eq!(
        format!("{t:?}"),
        "[[1.0, 2.0],\n [3.0, 4.0]], extent=(2, 2)"
    );
    assert_eq!(format!("{:?}", Table::scalar(1.5)), "1.5, extent=1");
    assert_eq!(format!("{:?}", t.row(Dyn(1))), "[3.0, 4.0], extent=2");
}

/// ndarray's own way to print is the specification.
fn prints_like_ndarray<I: IndexSet>(extent: Extent<I>) {
    let t = Table::<I, f64>::from_vec(extent, (0..extent.len()).map(|k| k as f64 / 4.0).collect())
        .expect("the length");
    let array: ArrayD<f64> =
        Array::from_shape_vec(IxDyn(&extent.axes()), t.as_slice().to_vec()).expect("the shape");
    assert_eq!(t.to_string(), array.to_string());
    assert_eq!(format!("{t:#}"), format!("{array:#}"));
    assert_eq!(format!("{t:8.3}"), format!("{array:8.3}"));
    assert_eq!(format!("{t:+.1e}"), format!("{array:+.1e}"));
    let debug = format!("{array:?}");
    let elements = debug
        .split(", shape=")
        .next()
        .expect("the elements come first");
    assert_eq!(format!("{t:?}"), format!("{elements}, extent={extent}"));
}

#[test]
fn large_tables_print_like_ndarray() {
    for n in [0, 1, 2, 7, 11, 12, 499, 500, 501, 1000] {
        prints_like_ndarray(Extent::<Dyn>::new(n));
        prints_like_ndarray(Extent::<(Dyn, Dyn)>::new((n, 3)));
        prints_like_ndarray(Extent::<(Dyn, Dyn)>::new((3, n)));
        prints_like_ndarray(Extent::<(Dyn, Dyn, Dyn)>::new((2, n, 2)));
        prints_like_ndarray(Extent::<(Dyn, Dyn, Dyn)>::new((n, 2, 2)));
    }
    prints_like_ndarray(Extent::<(Dyn, Dyn, Dyn, Dyn)>::new((7, 7, 12, 12)));
    prints_like_ndarray(Extent::<()>::default());
}

proptest! {
    #[test]
    fn tables_print_like_ndarray(a in 0_usize..9, b in 0_usize..14, c in 0_usize..14, d in 0_usize..3) {
        prints_like_ndarray(Extent::<(Dyn, Dyn)>::new((a, b)));
        prints_like_ndarray(Extent::<(Dyn, Dyn, Dyn)>::new((a, b, c)));
        prints_like_ndarray(Extent::<(Dyn, Dyn, Dyn, Dyn)>::new((a, d, b, c)));
    }

    #[test]
    fn indices_are_valid_or_refused(ordinals in proptest::collection::vec(0_usize..20, 0..50), target in 0_usize..20) {
        let extent = Extent::<Dyn>::new(ordinals.len());
        let made = Table::<Dyn, Dyn>::from_indices(extent, Extent::new(target), ordinals.clone());
        match ordinals.iter().position(|&ordinal| ordinal >= target) {
            None => prop_assert_eq!(made.expect("all are valid").into_parts().2.into_vec(), ordinals),
            Some(first) => prop_assert_eq!(
                made.unwrap_err(),
                Error::InvalidIndex { position: first, value: ordinals[first], set: "Dyn".into(), len: target }
            ),
        }
    }
}

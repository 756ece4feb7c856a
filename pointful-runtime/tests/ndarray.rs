//! Exchange with ndarray: what is copied and what is not, and what does not fit.

use ndarray::{Array, Array0, Array1, Array2, Array3, ArrayD, ArrayView2, Axis, IxDyn, array, s};
use pointful_runtime::{Dyn, Either, Error, Extent, Fin, Table, View};
use proptest::prelude::*;

type Matrix = Table<(Dyn, Dyn), f64>;

#[test]
fn an_owned_array_goes_in_and_out_without_a_copy() {
    for shape in [(0, 0), (0, 3), (3, 0), (1, 1), (2, 7), (1000, 3)] {
        let array = Array2::from_shape_fn(shape, |(i, j)| (10 * i + j) as f64);
        let (start, expected) = (array.as_ptr(), array.clone());
        let table = Matrix::from_ndarray(array).expect("two axes");
        assert_eq!(
            (table.extent().size(), table.as_slice().as_ptr()),
            (shape, start)
        );
        let back: Array2<f64> = table.into();
        assert_eq!((&back, back.as_ptr()), (&expected, start));
        let dynamic: ArrayD<f64> = Matrix::try_from(back).expect("two axes").into_ndarray();
        assert_eq!(dynamic, expected.into_dyn());
    }
}

#[test]
fn any_layout_comes_in_with_one_copy_at_most() {
    let array = Array2::from_shape_fn((4, 3), |(i, j)| (10 * i + j) as f64);
    let transposed = array.clone().reversed_axes();
    assert_eq!(
        Matrix::from_ndarray(transposed.clone())
            .expect("two axes")
            .into_ndarray::<ndarray::Ix2>(),
        transposed
    );
    let backwards = array.clone().slice_move(s![..;-1, ..]);
    assert_eq!(
        Matrix::from_ndarray(backwards.clone())
            .expect("two axes")
            .into_ndarray::<ndarray::Ix2>(),
        backwards
    );
    // Some rows of a larger array stay in its memory when they come first, and are moved within it when not.
    let start = array.as_ptr();
    let first = Matrix::from_ndarray(array.clone().slice_move(s![..2, ..])).expect("two axes");
    assert_eq!(first.as_slice(), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
    let last = Matrix::from_ndarray(array.slice_move(s![2.., ..])).expect("two axes");
    assert_eq!(last.as_slice(), [20.0, 21.0, 22.0, 30.0, 31.0, 32.0]);
    assert_eq!(last.as_slice().as_ptr(), start);
}

#[test]
fn views_cost_nothing() {
    let mut table = Matrix::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let start = table.as_slice().as_ptr();
    let view: ArrayView2<f64> = table.view_ndarray();
    assert_eq!(
        (view.as_ptr(), view.dim(), view[(1, 0)]),
        (start, (2, 3), 4.0)
    );
    assert_eq!(view.sum_axis(Axis(0)), array![5.0, 7.0, 9.0]);
    table
        .view_ndarray_mut::<ndarray::Ix2>()
        .row_mut(1)
        .fill(0.5);
    assert_eq!(table.row(Dyn(1)).as_slice(), [0.5; 3]);
    assert_eq!(
        table.row(Dyn(0)).to_ndarray::<ndarray::Ix1>(),
        array![1.0, 2.0, 3.0]
    );

    let array = array![[1.0, 2.0], [3.0, 4.0]];
    let view = View::<(Dyn, Fin<2>), f64>::from_ndarray(array.view()).expect("contiguous");
    assert_eq!(
        (view[(Dyn(1), Fin::new(0))], view.as_slice().as_ptr()),
        (3.0, array.as_ptr())
    );
    assert_eq!(
        View::<(Dyn, Dyn), f64>::try_from(array.t()).unwrap_err(),
        Error::NotContiguous
    );
}

#[test]
fn axes_must_fit_the_set() {
    let array = Array3::<f64>::zeros((2, 3, 4));
    assert_eq!(
        Matrix::from_ndarray(array.clone()).unwrap_err().to_string(),
        "`(Dyn, Dyn)` has 2 axes, but the array has 3"
    );
    assert_eq!(
        Table::<(Dyn, Fin<4>, Dyn), f64>::from_ndarray(array.clone())
            .unwrap_err()
            .to_string(),
        "`Fin<4>` has 4 members, but the array's axis has length 3"
    );
    assert_eq!(
        Table::<(Dyn, Fin<3>, Either<Dyn, Dyn>), f64>::from_ndarray(array.clone())
            .unwrap_err()
            .to_string(),
        "the length of an axis does not tell the size of `Either<Dyn, Dyn>`: give the extent"
    );
    let nested = Table::<((Dyn, Fin<3>), Dyn), f64>::from_ndarray(array.clone())
        .expect("the axes of a nested product");
    assert_eq!(nested.extent().size(), ((2, ()), 4));
    assert_eq!(nested.into_ndarray::<ndarray::Ix3>(), array);
    let scalar = Table::<(), f64>::from_ndarray(Array0::from_elem((), 2.5)).expect("no axes");
    assert_eq!(scalar.into_scalar(), 2.5);
    let flags = Table::<bool, u8>::from_ndarray(Array1::from(vec![1, 2])).expect("two");
    assert_eq!(flags[true], 2);
    let union = Table::<Either<Dyn, bool>, i64>::zeros(Extent::new((3, ())));
    assert_eq!(union.into_ndarray::<ndarray::Ix1>().len(), 5);
}

proptest! {
    #[test]
    fn arrays_of_any_strides_survive(
        shape in proptest::collection::vec(1_usize..5, 3),
        order in Just(vec![0_usize, 1, 2]).prop_shuffle(),
        steps in proptest::collection::vec(prop_oneof![Just(-2_isize), Just(-1), Just(1), Just(2)], 3),
    ) {
        let len = shape.iter().product();
        let array = Array::from_shape_vec(IxDyn(&shape), (0..len).map(|k| k as i64).collect()).expect("the shape");
        let mut array = array.permuted_axes(IxDyn(&order));
        for (axis, &step) in steps.iter().enumerate() {
            array.slice_axis_inplace(Axis(axis), ndarray::Slice::new(0, None, step));
        }
        let table = Table::<(Dyn, Dyn, Dyn), i64>::from_ndarray(array.clone()).expect("three axes");
        prop_assert!(table.iter().eq(array.iter()));
        prop_assert_eq!(table.into_ndarray::<IxDyn>(), array);
    }
}

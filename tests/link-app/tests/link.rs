//! Every way in which one function may name another gives its value.
#![deny(warnings)]

use pointful::prelude::*;
use pointful_link_app as app;
use pointful_link_lib::{Channel, Row};

#[test]
fn a_renamed_import_brings_helpers_and_constants() {
    assert_eq!(app::renamed(3.0), 6.0);
}

#[test]
fn paths_re_exports_and_equal_names() {
    assert_eq!(app::by_path(3.0), 3.0 + 45.0);
}

#[test]
fn constants_come_through_several_functions() {
    assert_eq!(app::chained(3.0), 606.0);
}

#[test]
fn constant_arrays_of_another_crate() {
    let x = Table::from_vec(Extent::<Fin<3>>::new(()), vec![1.0, 1.0, 1.0]).expect("three");
    assert_eq!(app::weighed(&x), 7.0);
}

#[test]
fn index_sets_of_another_crate() {
    for rows in [0_usize, 1, 2, 7, 1000] {
        let extent = Extent::<(Row, Channel)>::new((rows, ()));
        let mut at = 0.0;
        let a = Table::from_fn(extent, |_| {
            at += 1.0;
            at
        });
        let mut expected = 0.0;
        for row in 0..rows {
            expected += 2.0 * (3.0 * row as f64 + 2.0);
        }
        assert!((app::overall(&a) - expected).abs() <= 1e-9 * expected);
    }
}

#[test]
fn names_that_macros_have() {
    assert_eq!(app::globs::by_glob(2.0), 21.0 + 22.0 + 2.0);
}

#[test]
fn functions_as_values() {
    assert_eq!(app::with_functions(2.0), 18.0 + 4.0);
}

#[test]
fn functions_inside_a_function() {
    #[pointful]
    fn half(x: f64) -> f64 {
        x / 2.0
    }
    #[pointful]
    fn quarter(x: f64) -> f64 {
        half(half(x))
    }
    assert_eq!(quarter(8.0), 2.0);
}

mod nested {
    use pointful::prelude::*;

    const ONE: f64 = 1.0;

    #[pointful]
    fn private(x: f64) -> f64 {
        x + ONE
    }

    #[pointful]
    pub(crate) fn in_crate(x: f64) -> f64 {
        self::private(x)
    }

    pub(crate) mod below {
        use pointful::prelude::*;

        #[pointful]
        pub(in crate::nested) fn restricted(x: f64) -> f64 {
            super::private(x) * crate::nested::in_crate(x)
        }
    }

    #[pointful]
    pub(super) fn outer(x: f64) -> f64 {
        below::restricted(x)
    }
}

#[pointful]
fn of_a_private_test_module(x: f64) -> f64 {
    nested::outer(x)
}

#[test]
fn every_visibility() {
    assert_eq!(of_a_private_test_module(2.0), 9.0);
    assert_eq!(nested::in_crate(1.0), 2.0);
}

#[test]
fn an_explanation_is_text() {
    let text = explain!(app::renamed);
    assert!(text.contains("---- kernels"), "{text}");
}

macro_rules! make {
    ($name:ident, $factor:expr) => {
        #[pointful]
        fn $name(x: f64) -> f64 {
            x * $factor
        }
    };
}
make!(three, 3.0);
make!(four, 4.0);

#[pointful]
fn twelve(x: f64) -> f64 {
    three(four(x))
}

#[test]
fn functions_that_a_macro_made() {
    assert_eq!(twelve(1.0), 12.0);
}

#[test]
fn types_that_name_types() {
    use pointful_link_lib::model;
    let a = Table::from_vec(Extent::<Row>::new(2), vec![1.0, 2.0]).expect("two");
    let b = Table::from_vec(Extent::<(model::Row, Channel)>::new((1, ())), vec![3.0; 3]);
    assert_eq!(app::two_rows(&a, &b.expect("three")), 12.0);
}

mod stopping {
    use pointful::prelude::*;
    use pointful_link_lib::motion::stopped;

    /// Of a function of another crate that calls one that only its module can name.
    #[pointful]
    pub fn twice(v: f64) -> f64 {
        stopped(v) + stopped(2.0 * v)
    }
}

#[pointful]
fn four_times(v: f64) -> f64 {
    2.0 * stopping::twice(v)
}

#[test]
fn functions_whose_bodies_are_not_read() {
    let value = |v: f64| 4.0 * ((0.5 * v).sin() + v.sin());
    assert!((four_times(0.3) - value(0.3)).abs() < 1e-12);
    let slope = 2.0 * 0.15_f64.cos() + 4.0 * 0.3_f64.cos();
    assert!((grad!(four_times)(0.3) - slope).abs() < 1e-12);
    let slope = 0.15_f64.cos();
    let by_path = grad!(pointful_link_lib::motion::stopped)(0.3);
    assert!((by_path - slope).abs() < 1e-12);
}

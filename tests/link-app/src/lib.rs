//! Functions that link with those of another crate.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;
use pointful_link_lib as lib;
use pointful_link_lib::motion::range as far;
use pointful_link_lib::{Channel, Row, row_means};

/// By a renamed import: its private helper and its module's constant come along.
#[pointful]
pub fn renamed(v: f64) -> f64 {
    far(v, 4.0)
}

/// By a path through a renamed crate and a re-export.
#[pointful]
pub fn by_path(v: f64) -> f64 {
    lib::deep::double(v, 1.0) + ::pointful_link_lib::sides(v)
}

/// What was linked here is linked with once more.
#[pointful]
pub fn chained(v: f64) -> f64 {
    inner::through(v) + renamed(v)
}

mod inner {
    use super::*;

    const SCALE: f64 = 100.0;

    #[pointful]
    pub(super) fn through(v: f64) -> f64 {
        SCALE * renamed(v)
    }
}

/// An array of another crate.
#[pointful]
pub fn weighed(x: &Table<Fin<3>, f64>) -> f64 {
    lib::motion::weigh(x)
}

/// Index sets of another crate, and one that only the callee names.
#[pointful]
pub fn overall(a: &Table<(Row, Channel), f64>) -> f64 {
    sum(row_means(a))
        + sum(for r in _ {
            a[r][Channel::G]
        })
}

pub mod globs {
    //! By a glob.

    use pointful::prelude::*;
    use pointful_link_lib::names::*;

    /// Through names that std's macros have.
    #[pointful]
    pub fn by_glob(x: f64) -> f64 {
        line(x) + concat(x, x) + stringify(x)
    }
}

/// A closure given to a function of another crate, and a function as a value.
#[pointful]
pub fn with_functions(x: f64) -> f64 {
    lib::twice(|y| y * 3.0, x) + lib::twice(lib::left::side, x)
}

/// Two index sets of one name in two modules, and an alias that only its module can name.
#[pointful]
pub fn two_rows(a: &Table<Row, f64>, b: &lib::model::Picture) -> f64 {
    sum(for r in Row {
        a[r]
    }) + lib::model::total(b)
        + lib::model::nothing()
}

/// An index set whose parts' names mean something else here, or nothing.
#[pointful]
pub fn cells(a: &Table<lib::model::Cell, f64>) -> f64 {
    sum(a)
}

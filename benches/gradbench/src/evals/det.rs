//! A determinant by expansion by minors.
//!
//! Every minor of the last rows is expanded along its first row. A minor is known by its columns, a
//! set of bits, so that it is a table of all sets of columns; expansions that meet the same minor
//! share it.

use pointful::prelude::*;
use serde::Deserialize;

use crate::protocol::{Answer, Failure, Request};

/// A row or a column of a matrix.
#[derive(Clone, Copy, IndexSet)]
pub struct Line(usize);

/// A set of columns: those whose bits are set.
#[derive(Clone, Copy, IndexSet)]
pub struct Columns(usize);

/// How large a matrix may be: there are 2 to this many sets of columns.
const LARGEST: usize = 24;

/// The determinant of `a`.
#[pointful]
pub fn determinant<N: IndexSet, S: IndexSet>(a: &Table<(N, N), f64>, sets: Extent<S>) -> f64 {
    let mut minor = for _s in sets {
        1.0
    };
    for rows in 1..size(N) + 1 {
        minor = for s in sets {
            let columns = s.ordinal();
            let members = sum(for c in N {
                (columns >> c.ordinal()) & 1
            });
            if members == rows {
                let mut sign = 1.0;
                let mut total = 0.0;
                for c in N {
                    if (columns >> c.ordinal()) & 1 == 1 {
                        total += sign * a[size(N) - rows][c] * minor[columns - (1 << c.ordinal())];
                        sign = -sign;
                    }
                }
                total
            } else {
                minor[s]
            }
        };
    }
    minor[size(S) - 1]
}

/// The gradient of the determinant.
#[pointful]
pub fn gradient<N: IndexSet, S: IndexSet>(
    a: &Table<(N, N), f64>,
    sets: Extent<S>,
) -> Table<(N, N), f64> {
    grad!(determinant)(a, sets)
}

#[derive(Deserialize)]
struct Input {
    #[serde(rename = "A")]
    a: Vec<f64>,
    ell: usize,
}

/// `primal` and `gradient`.
pub fn evaluate(request: &Request<'_>) -> Result<Answer, Failure> {
    let Input { a, ell } = request.input()?;
    if ell > LARGEST {
        return Err(format!("a matrix of {ell} rows has too many minors").into());
    }
    let a: Table<(Line, Line), f64> = Table::from_vec(Extent::new((ell, ell)), a)?;
    let sets = Extent::<Columns>::new(1 << ell);
    match request.function {
        "primal" => request.repeat(|| determinant(&a, sets), |value| value),
        "gradient" => request.repeat(|| gradient(&a, sets), Table::into_vec),
        _ => request.unknown(),
    }
}

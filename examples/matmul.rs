//! A matrix product, whose inner extents are the same type: a mismatch of named sets is a compile
//! error.

use pointful::prelude::*;

/// `a · b`.
#[pointful]
pub fn matmul<I: IndexSet, K: IndexSet, J: IndexSet>(
    a: &Table<(I, K), f64>,
    b: &Table<(K, J), f64>,
) -> Table<(I, J), f64> {
    for (i, j) in _ {
        sum(for k in _ {
            a[i][k] * b[k][j]
        })
    }
}

fn main() {
    let a = Table::<(Fin<2>, Fin<3>), f64>::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let b = Table::<(Fin<3>, Fin<2>), f64>::from([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    println!("{}", matmul(&a, &b));
}

#[test]
fn agrees_with_ndarray() {
    for (i, k, j) in [(0, 3, 2), (1, 1, 1), (7, 0, 3), (64, 33, 17)] {
        let a = ndarray::Array2::from_shape_fn((i, k), |(i, k)| (i * 3 + k) as f64 % 7.0 - 2.5);
        let b = ndarray::Array2::from_shape_fn((k, j), |(k, j)| (k * 5 + j) as f64 % 11.0 - 4.0);
        let product = matmul::<Dyn, Dyn, Dyn>(
            &a.clone().try_into().unwrap(),
            &b.clone().try_into().unwrap(),
        );
        assert_eq!(
            product.as_slice(),
            a.dot(&b).as_slice().unwrap(),
            "{i} {k} {j}"
        );
    }
}

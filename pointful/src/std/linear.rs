//! Products of vectors and matrices.

use crate::prelude::*;

/// The scalar product: `I`, `I` to a number. Of nothing it is 0.
#[pointful]
pub fn dot<I: IndexSet, T: Float>(a: &Table<I, T>, b: &Table<I, T>) -> T {
    sum(for i in I {
        a[i] * b[i]
    })
}

/// The product of two matrices: `(I, K)`, `(K, J)` to `(I, J)`.
#[pointful]
pub fn matmul<I: IndexSet, K: IndexSet, J: IndexSet, T: Float>(
    a: &Table<(I, K), T>,
    b: &Table<(K, J), T>,
) -> Table<(I, J), T> {
    for (i, j) in (I, J) {
        sum(for k in K {
            a[i][k] * b[k][j]
        })
    }
}

/// The product of a matrix and a vector: `(I, K)`, `K` to `I`.
#[pointful]
pub fn matvec<I: IndexSet, K: IndexSet, T: Float>(
    a: &Table<(I, K), T>,
    x: &Table<K, T>,
) -> Table<I, T> {
    for i in I {
        sum(for k in K {
            a[i][k] * x[k]
        })
    }
}

/// The product of a row vector and a matrix: `K`, `(K, J)` to `J`.
#[pointful]
pub fn vecmat<K: IndexSet, J: IndexSet, T: Float>(
    x: &Table<K, T>,
    a: &Table<(K, J), T>,
) -> Table<J, T> {
    for j in J {
        sum(for k in K {
            x[k] * a[k][j]
        })
    }
}

/// A matrix with rows and columns exchanged: `(I, J)` to `(J, I)`.
#[pointful]
pub fn transpose<I: IndexSet, J: IndexSet, T: Float>(a: &Table<(I, J), T>) -> Table<(J, I), T> {
    for (j, i) in (J, I) {
        a[i][j]
    }
}

/// All products of an element of one and an element of the other: `I`, `J` to `(I, J)`.
#[pointful]
pub fn outer<I: IndexSet, J: IndexSet, T: Float>(
    a: &Table<I, T>,
    b: &Table<J, T>,
) -> Table<(I, J), T> {
    for (i, j) in (I, J) {
        a[i] * b[j]
    }
}

/// The sum of a square matrix's diagonal: `(I, I)` to a number.
#[pointful]
pub fn trace<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> T {
    sum(for i in I {
        a[i][i]
    })
}

/// A square matrix's diagonal: `(I, I)` to `I`.
#[pointful]
pub fn diagonal<I: IndexSet, T: Float>(a: &Table<(I, I), T>) -> Table<I, T> {
    for i in I {
        a[i][i]
    }
}

/// The Kronecker product: `(I, J)`, `(K, L)` to `((I, K), (J, L))`.
#[pointful]
pub fn kron<I: IndexSet, J: IndexSet, K: IndexSet, L: IndexSet, T: Float>(
    a: &Table<(I, J), T>,
    b: &Table<(K, L), T>,
) -> Table<((I, K), (J, L)), T> {
    for ((i, k), (j, l)) in ((I, K), (J, L)) {
        a[i][j] * b[k][l]
    }
}

/// The vector product of two vectors in space: `Fin<3>`, `Fin<3>` to `Fin<3>`.
#[pointful]
pub fn cross<T: Float>(a: &Table<Fin<3>, T>, b: &Table<Fin<3>, T>) -> Table<Fin<3>, T> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

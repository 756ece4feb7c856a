//! The libraries that multiply matrices: `matrixmultiply`, which is small, or with the feature
//! `gemm` the one that `faer` uses, which has more kernels and takes longer to compile.

/// Whether the library takes long to pack a factor in which neighbours of the result are far apart.
/// It does so for each tile of the other factor: where rows are as far apart as a cache is long in
/// each of its ways (1024 of `f32`), that takes as long as multiplying.
pub(super) const PACKS_SLOWLY: bool = cfg!(feature = "gemm");

/// A float that matrices are multiplied of.
pub trait Factor: crate::Float {
    /// `c = a·b`, or `c += a·b`: each matrix is a pointer and the distances between its rows and
    /// between its columns.
    ///
    /// # Safety
    /// All elements of the three matrices are within memory that may be read, and that of `c`
    /// written; those of `c` are apart from all others, and initialised if they are added to.
    #[doc(hidden)]
    unsafe fn multiply(
        size: [usize; 3],
        a: (*const Self, [isize; 2]),
        b: (*const Self, [isize; 2]),
        c: (*mut Self, [isize; 2]),
        add: bool,
    );
}

#[cfg(not(feature = "gemm"))]
macro_rules! factor {
    ($($float:ident by $multiply:ident),*) => { $(
        impl Factor for $float {
            unsafe fn multiply(
                [m, k, n]: [usize; 3],
                (a, [ar, ac]): (*const Self, [isize; 2]),
                (b, [br, bc]): (*const Self, [isize; 2]),
                (c, [cr, cc]): (*mut Self, [isize; 2]),
                add: bool,
            ) {
                let beta = if add { 1.0 } else { 0.0 };
                // SAFETY: promised by the caller; without adding, `c` is not read.
                unsafe {
                    matrixmultiply::$multiply(m, k, n, 1.0, a, ar, ac, b, br, bc, beta, c, cr, cc)
                }
            }
        }
    )* };
}

#[cfg(not(feature = "gemm"))]
factor!(f32 by sgemm, f64 by dgemm);

#[cfg(feature = "gemm")]
macro_rules! factor {
    ($($float:ident by $library:ident),*) => { $(
        impl Factor for $float {
            unsafe fn multiply(
                [m, k, n]: [usize; 3],
                (a, [ar, ac]): (*const Self, [isize; 2]),
                (b, [br, bc]): (*const Self, [isize; 2]),
                (c, [cr, cc]): (*mut Self, [isize; 2]),
                add: bool,
            ) {
                if cc.unsigned_abs() < cr.unsigned_abs() {
                    // The library's kernels write columns: of the transposed product, whose factors are transposed and exchanged.
                    // SAFETY: the same matrices.
                    return unsafe {
                        Self::multiply([n, k, m], (b, [bc, br]), (a, [ac, ar]), (c, [cc, cr]), add)
                    };
                }
                let one = gemm_common::Parallelism::None;
                // SAFETY: promised by the caller; without adding, `c` is not read.
                unsafe {
                    $library::gemm::$float::get_gemm_fn()(
                        m, n, k, c, cc, cr, add, a, ac, ar, b, bc, br, 1.0, 1.0, false, false, false, one,
                    )
                }
            }
        }
    )* };
}

#[cfg(feature = "gemm")]
factor!(f32 by gemm_f32, f64 by gemm_f64);

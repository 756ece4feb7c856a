//! Functions that only the caller of compiled code knows.

/// A function of the caller's, for kernels to hold.
///
/// Kernels are shared among threads and such a function need not be fit for that, so whoever makes
/// one sees to it that they run where it was made.
pub struct Opaque<'a, F: ?Sized>(&'a F);

impl<'a, F: ?Sized> Opaque<'a, F> {
    /// Holds the function.
    ///
    /// # Safety
    /// It is used on the thread where it is made only: kernels that have it are run by
    /// [`launch_here`](crate::kernel::launch_here).
    pub unsafe fn new(function: &'a F) -> Self {
        Opaque(function)
    }

    /// The function.
    #[inline(always)]
    pub fn get(self) -> &'a F {
        self.0
    }
}

impl<F: ?Sized> Clone for Opaque<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: ?Sized> Copy for Opaque<'_, F> {}

// SAFETY: it stays on one thread, as whoever made it has promised.
unsafe impl<F: ?Sized> Send for Opaque<'_, F> {}
// SAFETY: as above.
unsafe impl<F: ?Sized> Sync for Opaque<'_, F> {}

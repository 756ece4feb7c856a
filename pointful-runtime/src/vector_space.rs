//! Floats, tables of them and what is made of these as vectors.

use crate::element::Plain;
use crate::error::Error;
use crate::index_set::IndexSet;
use crate::scalar::{Float, Number};
use crate::table::Table;

/// A vector: a float, a table of floats, a tuple, array or `Vec` of vectors, or a struct of them
/// that is marked `#[pointful]`.
///
/// So what holds the parameters of a model, its gradient, and an optimiser's averages of gradients
/// are vectors of one type, and an optimiser is written once for all models:
///
/// ```
/// use pointful_runtime::{Table, VectorSpace};
///
/// /// A step of descent, no longer than `most`.
/// fn step<P: VectorSpace<Scalar = f64>>(x: &mut P, gradient: &P, most: f64) {
///     let length = gradient.dot(gradient).sqrt();
///     x.axpy(-(most / length).min(0.1), gradient);
/// }
///
/// let mut x = (Table::from([3.0, 4.0]), 0.0);
/// # let _: &(Table<pointful_runtime::Fin<2>, f64>, f64) = &x;
/// let gradient = x.clone();
/// step(&mut x, &gradient, 1.0);
/// assert_eq!(x.flatten(), [2.7, 3.6, 0.0]);
/// ```
///
/// The coordinates are the floats, in the order of fields, tables row-major. All are of one type,
/// [`Scalar`](Self::Scalar). What else a struct has, numbers that are no floats and indices, takes
/// no part: it stays what it is in the vector that is changed or copied.
///
/// # Panics
/// What takes two vectors panics if tables in the same place differ in their extents.
pub trait VectorSpace {
    /// The type of the coordinates.
    type Scalar: Float;

    /// Calls `f` with all coordinates, in order, those of one table at once.
    fn visit(&self, f: &mut impl FnMut(&[Self::Scalar]));

    /// Calls `f` with all coordinates, to be changed.
    fn visit_mut(&mut self, f: &mut impl FnMut(&mut [Self::Scalar]));

    /// Calls `f` with the coordinates of two vectors in the same places.
    fn visit_with(&self, other: &Self, f: &mut impl FnMut(&[Self::Scalar], &[Self::Scalar]));

    /// Calls `f` with the coordinates of two vectors in the same places, those of this one to be
    /// changed.
    fn visit_mut_with(
        &mut self,
        other: &Self,
        f: &mut impl FnMut(&mut [Self::Scalar], &[Self::Scalar]),
    );

    /// The number of coordinates.
    fn dimension(&self) -> usize {
        let mut count = 0;
        self.visit(&mut |part| count += part.len());
        count
    }

    /// The vector of the same shape that is zero everywhere.
    fn zeros_like(&self) -> Self
    where
        Self: Clone,
    {
        self.map(|_| Self::Scalar::ZERO)
    }

    /// The vector of a function of each coordinate.
    fn map(&self, mut f: impl FnMut(Self::Scalar) -> Self::Scalar) -> Self
    where
        Self: Clone,
    {
        let mut result = self.clone();
        result.visit_mut(&mut |part| part.iter_mut().for_each(|x| *x = f(*x)));
        result
    }

    /// The vector of a function of the coordinates of two vectors in the same places.
    fn map_with(
        &self,
        other: &Self,
        f: impl FnMut(Self::Scalar, Self::Scalar) -> Self::Scalar,
    ) -> Self
    where
        Self: Clone,
    {
        let mut result = self.clone();
        result.update_with(other, f);
        result
    }

    /// Replaces each coordinate by a function of it and of another vector's coordinate in the same
    /// place.
    fn update_with(
        &mut self,
        other: &Self,
        mut f: impl FnMut(Self::Scalar, Self::Scalar) -> Self::Scalar,
    ) {
        self.visit_mut_with(other, &mut |part, others| {
            part.iter_mut()
                .zip(others)
                .for_each(|(x, y)| *x = f(*x, *y));
        });
    }

    /// Adds `a` times `x`.
    fn axpy(&mut self, a: Self::Scalar, x: &Self) {
        self.update_with(x, |y, x| y + a * x);
    }

    /// Multiplies by `a`.
    fn scale(&mut self, a: Self::Scalar) {
        self.visit_mut(&mut |part| part.iter_mut().for_each(|x| *x *= a));
    }

    /// The sum of the products of coordinates in the same places.
    fn dot(&self, other: &Self) -> Self::Scalar {
        let mut total = Self::Scalar::ZERO;
        self.visit_with(other, &mut |left, right| total += product(left, right));
        total
    }

    /// All coordinates.
    fn flatten(&self) -> Vec<Self::Scalar> {
        let mut coordinates = Vec::with_capacity(self.dimension());
        self.visit(&mut |part| coordinates.extend_from_slice(part));
        coordinates
    }

    /// The vector of the same shape with these coordinates.
    ///
    /// # Errors
    /// [`Error::Coordinates`] if there are more or fewer than [`dimension`](Self::dimension).
    fn unflatten(&self, coordinates: &[Self::Scalar]) -> Result<Self, Error>
    where
        Self: Clone,
    {
        let expected = self.dimension();
        if coordinates.len() != expected {
            return Err(Error::Coordinates {
                expected,
                found: coordinates.len(),
            });
        }
        let mut rest = coordinates;
        let mut result = self.clone();
        result.visit_mut(&mut |part| {
            let (these, others) = rest.split_at(part.len());
            part.copy_from_slice(these);
            rest = others;
        });
        Ok(result)
    }
}

/// The sum of products, in lanes, so that it is computed in vectors.
fn product<T: Float>(left: &[T], right: &[T]) -> T {
    const LANES: usize = 8;
    let mut lanes = [T::ZERO; LANES];
    let (left, right) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    let rest = rest.fold(T::ZERO, |sum, (x, y)| sum + *x * *y);
    for (left, right) in left.zip(right) {
        for (lane, (x, y)) in lanes.iter_mut().zip(left.iter().zip(right)) {
            *lane += *x * *y;
        }
    }
    lanes.into_iter().fold(T::ZERO, |sum, lane| sum + lane) + rest
}

/// Vectors of different shapes.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn different(left: &dyn std::fmt::Debug, right: &dyn std::fmt::Debug) -> ! {
    panic!("vectors of different shapes: {left:?} in one, {right:?} in the other")
}

macro_rules! float {
    ($($T:ty)*) => {$(
        impl VectorSpace for $T {
            type Scalar = $T;

            #[inline]
            fn visit(&self, f: &mut impl FnMut(&[$T])) {
                f(std::slice::from_ref(self));
            }
            #[inline]
            fn visit_mut(&mut self, f: &mut impl FnMut(&mut [$T])) {
                f(std::slice::from_mut(self));
            }
            #[inline]
            fn visit_with(&self, other: &Self, f: &mut impl FnMut(&[$T], &[$T])) {
                f(std::slice::from_ref(self), std::slice::from_ref(other));
            }
            #[inline]
            fn visit_mut_with(&mut self, other: &Self, f: &mut impl FnMut(&mut [$T], &[$T])) {
                f(std::slice::from_mut(self), std::slice::from_ref(other));
            }
        }
    )*};
}

float!(f32 f64);

impl<I: IndexSet, T: Float + Plain> VectorSpace for Table<I, T> {
    type Scalar = T;

    #[inline]
    fn visit(&self, f: &mut impl FnMut(&[T])) {
        f(self.as_slice());
    }
    #[inline]
    fn visit_mut(&mut self, f: &mut impl FnMut(&mut [T])) {
        f(self.as_mut_slice());
    }
    #[inline]
    #[track_caller]
    fn visit_with(&self, other: &Self, f: &mut impl FnMut(&[T], &[T])) {
        if self.extent() != other.extent() {
            different(&self.extent(), &other.extent());
        }
        f(self.as_slice(), other.as_slice());
    }
    #[inline]
    #[track_caller]
    fn visit_mut_with(&mut self, other: &Self, f: &mut impl FnMut(&mut [T], &[T])) {
        if self.extent() != other.extent() {
            different(&self.extent(), &other.extent());
        }
        f(self.as_mut_slice(), other.as_slice());
    }
}

/// Vectors of one type in a row: the row is as long in both.
macro_rules! row {
    ($([$($generics:tt)*] $Row:ty;)*) => {$(
        impl<P: VectorSpace, $($generics)*> VectorSpace for $Row {
            type Scalar = P::Scalar;

            fn visit(&self, f: &mut impl FnMut(&[P::Scalar])) {
                self.iter().for_each(|part| part.visit(f));
            }
            fn visit_mut(&mut self, f: &mut impl FnMut(&mut [P::Scalar])) {
                self.iter_mut().for_each(|part| part.visit_mut(f));
            }
            #[track_caller]
            fn visit_with(&self, other: &Self, f: &mut impl FnMut(&[P::Scalar], &[P::Scalar])) {
                if self.len() != other.len() {
                    different(&self.len(), &other.len());
                }
                self.iter().zip(other).for_each(|(part, other)| part.visit_with(other, f));
            }
            #[track_caller]
            fn visit_mut_with(&mut self, other: &Self, f: &mut impl FnMut(&mut [P::Scalar], &[P::Scalar])) {
                if self.len() != other.len() {
                    different(&self.len(), &other.len());
                }
                self.iter_mut().zip(other).for_each(|(part, other)| part.visit_mut_with(other, f));
            }
        }
    )*};
}

row! {
    [const N: usize] [P; N];
    [] Vec<P>;
}

macro_rules! tuple {
    ($(($A:ident $($T:ident)*) ($($at:tt)+);)*) => {$(
        impl<$A: VectorSpace, $($T: VectorSpace<Scalar = $A::Scalar>),*> VectorSpace for ($A, $($T,)*) {
            type Scalar = $A::Scalar;

            fn visit(&self, f: &mut impl FnMut(&[$A::Scalar])) {
                $(self.$at.visit(f);)+
            }
            fn visit_mut(&mut self, f: &mut impl FnMut(&mut [$A::Scalar])) {
                $(self.$at.visit_mut(f);)+
            }
            fn visit_with(&self, other: &Self, f: &mut impl FnMut(&[$A::Scalar], &[$A::Scalar])) {
                $(self.$at.visit_with(&other.$at, f);)+
            }
            fn visit_mut_with(&mut self, other: &Self, f: &mut impl FnMut(&mut [$A::Scalar], &[$A::Scalar])) {
                $(self.$at.visit_mut_with(&other.$at, f);)+
            }
        }
    )*};
}

tuple! {
    (A) (0);
    (A B) (0 1);
    (A B C) (0 1 2);
    (A B C D) (0 1 2 3);
    (A B C D E) (0 1 2 3 4);
    (A B C D E F) (0 1 2 3 4 5);
    (A B C D E F G) (0 1 2 3 4 5 6);
    (A B C D E F G H) (0 1 2 3 4 5 6 7);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extent::Extent;
    use crate::index_set::Dyn;

    fn table(n: usize, from: f64) -> Table<Dyn, f64> {
        Table::from_fn(Extent::new(n), |Dyn(k)| from + k as f64)
    }

    #[test]
    fn coordinates_of_everything_in_order() {
        let x = (1.0, table(2, 2.0), [4.0, 5.0], vec![table(1, 6.0)]);
        assert_eq!(x.dimension(), 6);
        assert_eq!(x.flatten(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let y = x.unflatten(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]).expect("six");
        assert_eq!((y.0, y.1.as_slice()), (6.0, &[5.0, 4.0][..]));
        assert_eq!(x.zeros_like().flatten(), [0.0; 6]);
        assert_eq!(x.map(|x| -x).flatten()[5], -6.0);
        assert_eq!(2.0_f32.dot(&3.0), 6.0);
    }

    #[test]
    fn arithmetic_of_all_lengths() {
        for n in [0, 1, 2, 7, 8, 9, 1000] {
            let (mut x, y) = ((table(n, 1.0), 2.0), (table(n, 3.0), 4.0));
            let product: f64 = (0..n).map(|k| (1.0 + k as f64) * (3.0 + k as f64)).sum();
            assert_eq!(x.dot(&y), product + 8.0);
            x.axpy(10.0, &y);
            x.scale(0.5);
            assert_eq!(x.1, 21.0);
            for (k, x) in x.0.iter().enumerate() {
                assert_eq!(*x, (31.0 + 11.0 * k as f64) / 2.0);
            }
            assert_eq!(x.map_with(&y, |_, y| y), y);
        }
    }

    #[test]
    fn a_wrong_number_of_coordinates_is_an_error() {
        let x = (1.0, table(2, 2.0));
        for wrong in [vec![], vec![0.0; 2], vec![0.0; 4]] {
            let error = x.unflatten(&wrong).expect_err("not three");
            let words = format!(
                "a vector of 3 coordinates cannot be made of {}",
                wrong.len()
            );
            assert_eq!(error.to_string(), words);
        }
    }

    #[test]
    #[should_panic(expected = "vectors of different shapes: ")]
    fn tables_of_other_extents_are_refused() {
        table(2, 0.0).axpy(1.0, &table(3, 0.0));
    }

    #[test]
    #[should_panic(expected = "vectors of different shapes: 1 in one, 2 in the other")]
    fn rows_of_other_lengths_are_refused() {
        vec![1.0].dot(&vec![1.0, 2.0]);
    }
}

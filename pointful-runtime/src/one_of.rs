//! Values of one of two kinds, as compiled code takes them apart and puts them together.

use crate::index_set::Either;

/// `Option<T>` is nothing or a `T`, `Either<A, B>` an `A` or a `B`.
///
/// Methods have names that no value has, since they are called where the trait is in scope.
pub trait OneOf: Sized {
    /// What the first kind holds.
    type First;
    /// What the second kind holds.
    type Second;

    /// What it holds if it is of the first kind.
    fn held_first(&self) -> Option<&Self::First>;

    /// What it holds if it is of the second kind.
    fn held_second(&self) -> Option<&Self::Second>;

    /// One of the kind that is said.
    fn of_kind(
        second: bool,
        make_first: impl FnOnce() -> Self::First,
        make_second: impl FnOnce() -> Self::Second,
    ) -> Self;
}

/// An enum as the sum of what its variants hold, nested `Either`s of tuples of references; it is
/// made of values by [`Record`](crate::private::Record).
pub trait Variants {
    /// What holds what the variants do.
    type Held<'a>
    where
        Self: 'a;

    /// What the variant that it is holds.
    fn held_by_variant(&self) -> Self::Held<'_>;
}

impl<T> OneOf for Option<T> {
    type First = ();
    type Second = T;

    #[inline]
    fn held_first(&self) -> Option<&()> {
        if self.is_some() { None } else { Some(&()) }
    }

    #[inline]
    fn held_second(&self) -> Option<&T> {
        self.as_ref()
    }

    #[inline]
    fn of_kind(second: bool, _make_first: impl FnOnce(), make_second: impl FnOnce() -> T) -> Self {
        second.then(make_second)
    }
}

impl<A, B> OneOf for Either<A, B> {
    type First = A;
    type Second = B;

    #[inline]
    fn held_first(&self) -> Option<&A> {
        match self {
            Either::Left(held) => Some(held),
            Either::Right(_) => None,
        }
    }

    #[inline]
    fn held_second(&self) -> Option<&B> {
        match self {
            Either::Left(_) => None,
            Either::Right(held) => Some(held),
        }
    }

    #[inline]
    fn of_kind(
        second: bool,
        make_first: impl FnOnce() -> A,
        make_second: impl FnOnce() -> B,
    ) -> Self {
        match second {
            true => Either::Right(make_second()),
            false => Either::Left(make_first()),
        }
    }
}

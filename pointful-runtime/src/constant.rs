//! Constants as generated code takes them.
//!
//! A macro does not see of which type a constant is, so a body takes it for what it uses it as. What
//! is left to rustc is here: to say so where it is something else, to know how long an array is, and
//! to number members of index sets.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::extent::Extent;
use crate::index_set::{Axes, IndexSet};

/// The type `T`, and no other.
#[diagnostic::on_unimplemented(
    message = "this constant is of type `{Self}`, but it is used as one of type `{T}`",
    label = "of type `{Self}`",
    note = "a body takes the type of a constant from how it is used; give it a name with its type, `let c: {Self} = …;`, and use that"
)]
pub trait Is<T> {}

impl<T> Is<T> for T {}

/// A constant that must be of type `T`.
pub const fn exactly<T, C: Is<T>>(constant: C) -> T {
    let constant = ManuallyDrop::new(constant);
    // SAFETY: `C` is `T`, as nothing else implements the trait, and it is used once.
    unsafe { std::mem::transmute_copy(&constant) }
}

/// An integer.
#[diagnostic::on_unimplemented(
    message = "this constant is of type `{Self}`, but it is used as an integer",
    label = "of type `{Self}`"
)]
pub trait Integer: Number {}

/// A number.
#[diagnostic::on_unimplemented(
    message = "this constant is of type `{Self}`, but it is used as a number",
    label = "of type `{Self}`"
)]
pub trait Number: Copy {
    /// Whether it is a float, and not an integer.
    const IS_FLOAT: bool;
    /// Whether it may be negative.
    const SIGNED: bool;
}

/// The value of a number of the type `C`, as `as` makes it into this one.
macro_rules! read {
    ($constant:ident: C as $T:ty) => {{
        macro_rules! of {
            ($C:ty) => {
                // SAFETY: only the numbers implement the trait, and these are the one of this kind,
                // sign and size.
                unsafe { std::mem::transmute_copy::<C, $C>(&$constant) as $T }
            };
        }
        match (C::IS_FLOAT, C::SIGNED, size_of::<C>()) {
            (true, _, 4) => of!(f32),
            (true, ..) => of!(f64),
            (_, true, 1) => of!(i8),
            (_, true, 2) => of!(i16),
            (_, true, 4) => of!(i32),
            (_, true, 8) => of!(i64),
            (_, true, _) => of!(i128),
            (_, false, 1) => of!(u8),
            (_, false, 2) => of!(u16),
            (_, false, 4) => of!(u32),
            (_, false, 8) => of!(u64),
            (_, false, _) => of!(u128),
        }
    }};
}

/// The value of an integer of any type.
///
/// # Panics
/// If it is beyond those of `i128`.
pub const fn integer<C: Integer>(constant: C) -> i128 {
    let value = read!(constant: C as i128);
    assert!(
        C::SIGNED || value >= 0,
        "an integer of a constant is too large"
    );
    value
}

/// The value of a number of any type, as `as` makes it into this one.
pub const fn f32<C: Number>(constant: C) -> f32 {
    read!(constant: C as f32)
}

/// The value of a number of any type, as `as` makes it into this one.
pub const fn f64<C: Number>(constant: C) -> f64 {
    read!(constant: C as f64)
}

macro_rules! floats {
    ($($F:ident)+) => {
        $(
            impl Number for $F {
                const IS_FLOAT: bool = true;
                const SIGNED: bool = true;
            }
        )+
    };
}

floats!(f32 f64);

/// An array.
#[diagnostic::on_unimplemented(
    message = "this constant is of type `{Self}`, but it is used as an array",
    label = "of type `{Self}`"
)]
pub trait Array {
    /// How long it is.
    const LENGTH: usize;
    /// What it is of.
    type Element;
}

impl<T, const N: usize> Array for [T; N] {
    const LENGTH: usize = N;
    type Element = T;
}

/// The type of a constant.
pub const fn of<C>(_: &C) -> PhantomData<C> {
    PhantomData
}

/// The type of the elements of an array.
pub const fn elements<A: Array>(_: PhantomData<A>) -> PhantomData<A::Element> {
    PhantomData
}

/// The length of an array of this type.
pub const fn length<A: Array>(_: PhantomData<A>) -> usize {
    A::LENGTH
}

/// In place of the set of a constant that is known to be a member of the right one: it is carried
/// from where its type has a name, or is a field of what is of the right type.
#[derive(Clone, Copy, Debug)]
pub struct Unnamed;

/// A constant as others have it who cannot name its type: its number in the set, whose sizes are
/// known only at run time.
#[derive(Clone, Copy, Debug)]
pub struct Carried(pub fn(&[usize]) -> usize);

/// A member of the index set `S`.
#[diagnostic::on_unimplemented(
    message = "this constant is of type `{Self}`, but it is used as a member of `{S}`",
    label = "of type `{Self}`",
    note = "a body takes the type of a constant from how it is used; give it a name with its type, `let c: {Self} = …;`, and use that"
)]
pub trait MemberOf<S> {
    /// Its number, in the set whose parts have these sizes.
    fn number(self, sizes: &[usize]) -> usize;
}

impl<I: IndexSet> MemberOf<I> for I {
    #[inline(always)]
    #[track_caller]
    fn number(self, sizes: &[usize]) -> usize {
        let size = I::size_of_parts(&mut Axes::new(sizes));
        self.ordinal(Extent::new(size))
    }
}

impl<I: IndexSet> MemberOf<Unnamed> for I {
    #[inline(always)]
    #[track_caller]
    fn number(self, sizes: &[usize]) -> usize {
        MemberOf::<I>::number(self, sizes)
    }
}

impl MemberOf<Unnamed> for Carried {
    #[inline(always)]
    fn number(self, sizes: &[usize]) -> usize {
        (self.0)(sizes)
    }
}

/// What may index an axis over the set `S`: its members, and any integer.
#[diagnostic::on_unimplemented(
    message = "this constant is of type `{Self}`, but it is used as an index of `{S}`",
    label = "of type `{Self}`",
    note = "a member of the set or an integer stands here; of a pair of indices write each, `C.0` and `C.1`"
)]
pub trait IndexOf<S> {
    /// The number of the element.
    fn position(self, sizes: &[usize]) -> usize;
}

impl<S, I: IndexSet + MemberOf<S>> IndexOf<S> for I {
    #[inline(always)]
    #[track_caller]
    fn position(self, sizes: &[usize]) -> usize {
        self.number(sizes)
    }
}

impl IndexOf<Unnamed> for Carried {
    #[inline(always)]
    fn position(self, sizes: &[usize]) -> usize {
        (self.0)(sizes)
    }
}

macro_rules! integers {
    ($($T:ty)+) => {
        $(
            impl Number for $T {
                const IS_FLOAT: bool = false;
                const SIGNED: bool = <$T>::MIN != 0;
            }

            impl Integer for $T {}

            impl<S> IndexOf<S> for $T {
                #[inline(always)]
                fn position(self, _: &[usize]) -> usize {
                    // What is negative is out of the range of every set.
                    usize::try_from(self).unwrap_or(usize::MAX)
                }
            }
        )+
    };
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

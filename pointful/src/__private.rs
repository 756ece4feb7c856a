//! The only paths that generated code may name.

pub use pointful_macros::__link;
pub use pointful_runtime::private::*;

/// The body of a function that has errors: the program does not compile, so this never runs.
pub const fn failed(function: &str) -> ! {
    panic!("{}", function)
}

/// The types that another type is made of, by position. Generated code names by it what it has no
/// path to: a function's carrier has the types of the function's signature.
pub trait Part<const AT: usize> {
    /// The type at this position.
    type Type;
}

impl<I: IndexSet, T: Element> Part<0> for Table<I, T> {
    type Type = I;
}

impl<I: IndexSet, T: Element> Part<1> for Table<I, T> {
    type Type = T;
}

impl<I: IndexSet, T: Element> Part<0> for Ragged<I, T> {
    type Type = I;
}

impl<I: IndexSet, T: Element> Part<1> for Ragged<I, T> {
    type Type = T;
}

impl<I: IndexSet> Part<0> for Extent<I> {
    type Type = I;
}

impl<A, B> Part<0> for Either<A, B> {
    type Type = A;
}

impl<A, B> Part<1> for Either<A, B> {
    type Type = B;
}

/// The number of members of a static set whose type is all that generated code has.
pub trait Length {
    /// The number.
    const LENGTH: usize;
}

impl<T, const N: usize> Part<0> for [T; N] {
    type Type = Fin<N>;
}

impl<T, const N: usize> Part<1> for [T; N] {
    type Type = T;
}

impl<const N: usize> Length for Fin<N> {
    const LENGTH: usize = N;
}

macro_rules! tuples {
    ($(($($T:ident),+) $($at:literal $Part:ident)+;)+) => {
        $(tuples!(@one ($($T),+) $($at $Part)+);)+
    };
    (@one $all:tt $($at:literal $Part:ident)+) => {
        $(tuples!(@part $all $at $Part);)+
    };
    (@part ($($T:ident),+) $at:literal $Part:ident) => {
        impl<$($T),+> Part<$at> for ($($T,)+) {
            type Type = $Part;
        }
    };
}

tuples! {
    (A) 0 A;
    (A, B) 0 A 1 B;
    (A, B, C) 0 A 1 B 2 C;
    (A, B, C, D) 0 A 1 B 2 C 3 D;
    (A, B, C, D, E) 0 A 1 B 2 C 3 D 4 E;
    (A, B, C, D, E, F) 0 A 1 B 2 C 3 D 4 E 5 F;
    (A, B, C, D, E, F, G) 0 A 1 B 2 C 3 D 4 E 5 F 6 G;
    (A, B, C, D, E, F, G, H) 0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H;
}

//! Values of a generic float as values of the machine type that it is.
//!
//! A function that is generic in its float has a body for each type that the generic may be. Which
//! one runs, and that values are already of the body's type, rustc knows for every instance; to the
//! generic function it has to be said.

use std::any::TypeId;

use crate::buffer::Buf;
use crate::element::Plain;

/// Whether two types are the same.
#[inline(always)]
pub fn is<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}

/// A number as what it is.
///
/// # Panics
/// If the types are not the same.
#[inline(always)]
pub fn recast<A: Plain, B: Plain>(value: A) -> B {
    same::<A, B>();
    // SAFETY: a value is copied as its own type.
    unsafe { std::mem::transmute_copy(&value) }
}

/// Numbers as what they are.
///
/// # Panics
/// If the types are not the same.
#[inline(always)]
pub fn recast_slice<A: Plain, B: Plain>(values: &[A]) -> &[B] {
    same::<A, B>();
    // SAFETY: the slice is that slice, of its own type.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// A borrowed buffer of numbers as what they are.
///
/// # Panics
/// If the types are not the same.
#[inline(always)]
pub fn recast_borrowed<A: Plain, B: Plain>(values: &Buf<A>) -> &Buf<B> {
    same::<A, B>();
    // SAFETY: the buffer is that buffer, of its own type.
    unsafe { &*(&raw const *values).cast() }
}

/// A buffer of numbers as what they are.
///
/// # Panics
/// If the types are not the same.
#[inline(always)]
pub fn recast_buf<A: Plain, B: Plain>(values: Buf<A>) -> Buf<B> {
    same::<A, B>();
    let values = std::mem::ManuallyDrop::new(values);
    // SAFETY: the buffer is moved as its own type, and not dropped where it was.
    unsafe { std::ptr::read((&raw const values).cast()) }
}

#[inline(always)]
fn same<A: 'static, B: 'static>() {
    assert!(
        is::<A, B>(),
        "`{}` is neither `f32` nor `f64`, the floats that a function can be generic in",
        std::any::type_name::<A>()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_stays_what_it_is() {
        assert!(is::<f64, f64>() && !is::<f64, f32>());
        assert_eq!(recast::<f32, f32>(1.5), 1.5);
        assert_eq!(recast_slice::<f64, f64>(&[1.0, 2.0]), [1.0, 2.0]);
        let whole = recast_buf::<f64, f64>(Buf::from_vec(vec![1.0, 2.0, 3.0]));
        assert_eq!(whole[..], [1.0, 2.0, 3.0]);
        assert!(recast_buf::<f32, f32>(Buf::from_vec(Vec::new())).is_empty());
    }

    #[test]
    #[should_panic(expected = "`f64` is neither")]
    fn what_is_not_the_same_is_refused() {
        let _: f32 = recast(1.0_f64);
    }
}

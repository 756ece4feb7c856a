//! Memory of tables and of intermediates.

use std::alloc::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

#[cfg(feature = "device")]
use crate::cuda::{Allocation, Device};
#[cfg(feature = "device")]
use crate::error::Error;
use crate::memory::ALIGNMENT;
use crate::{memory, stats};

/// An owned buffer of plain data: what a [`Table`](crate::Table) holds, without its extent.
///
/// The memory of an adopted `Vec` stays what it is and can be taken out again as a `Vec` without a
/// copy, and so can most results of functions. Other memory that comes from this crate is 64-byte
/// aligned.
///
/// With the feature `cuda`, a buffer may live on a device. Whoever asks for the elements of such a
/// one panics.
pub struct Buf<T: Copy> {
    start: NonNull<T>,
    len: usize,
    owner: Owner,
    holds: PhantomData<T>,
}

/// Who allocated the memory, and so how it goes back.
enum Owner {
    /// [`allocate`], for exactly `len` elements.
    Here,
    /// A `Vec` of this capacity.
    Vec { capacity: usize },
    /// [`allocate`], with the layout of a `Vec` of `len` elements.
    ForVec,
    /// Another buffer.
    Other,
    /// A device, on which the elements are; on the host there are none.
    #[cfg(feature = "device")]
    Device(Box<Allocation>),
}

// SAFETY: a buffer owns its elements as a `Vec` does.
unsafe impl<T: Copy + Send> Send for Buf<T> {}
// SAFETY: a shared buffer gives out nothing but shared references to its elements.
unsafe impl<T: Copy + Sync> Sync for Buf<T> {}

impl<T: Copy> Buf<T> {
    /// A buffer of `len` times the same value.
    pub fn filled(len: usize, value: T) -> Self {
        OutBuf::new(len).fill_with(|_| value)
    }

    /// A buffer whose elements are computed one after the other.
    pub fn from_fn(len: usize, value: impl FnMut(usize) -> T) -> Self {
        OutBuf::new(len).fill_with(value)
    }

    /// Takes over a `Vec`'s memory as it is.
    pub fn from_vec(vec: Vec<T>) -> Self {
        let mut vec = std::mem::ManuallyDrop::new(vec);
        let start = NonNull::new(vec.as_mut_ptr()).expect("a Vec's pointer is never null");
        Buf {
            start,
            len: vec.len(),
            owner: Owner::Vec {
                capacity: vec.capacity(),
            },
            holds: PhantomData,
        }
    }

    /// The elements as a `Vec`: without a copy if they came from one or are a function's result.
    #[cfg_attr(feature = "device", track_caller)]
    pub fn into_vec(self) -> Vec<T> {
        self.ask();
        match self.owner {
            #[cfg(feature = "device")]
            Owner::Device(_) => unreachable!("its elements were asked for"),
            Owner::Here | Owner::Other => self.to_vec(),
            Owner::Vec { capacity } => {
                let buf = std::mem::ManuallyDrop::new(self);
                // SAFETY: pointer, length and capacity are those of the `Vec` that was taken apart, whose memory
                // the forgotten buffer does not give back.
                unsafe { Vec::from_raw_parts(buf.start.as_ptr(), buf.len, capacity) }
            }
            Owner::ForVec => {
                let buf = std::mem::ManuallyDrop::new(self);
                let layout = layout_of_vec::<T>(buf.len);
                stats::freed(layout.size());
                let capacity = memory::padded(layout).size() / size_of::<T>();
                // SAFETY: it came from the global allocator with the padded layout, which is that of so many whole
                // elements, or of none and no memory; the first `len` are initialised, and the forgotten buffer does not give it back.
                unsafe { Vec::from_raw_parts(buf.start.as_ptr(), buf.len, capacity) }
            }
        }
    }

    /// The same memory as a buffer of its own, which does not give it back.
    ///
    /// # Safety
    /// This one outlives the other. While the other is there, neither's elements are looked at but
    /// through [views](Self::out), and none by two threads at once of which one writes it.
    pub unsafe fn alias(&self) -> Buf<T> {
        self.ask();
        Buf {
            start: self.start,
            len: self.len,
            owner: Owner::Other,
            holds: PhantomData,
        }
    }

    /// A view for kernels that update the buffer in place.
    pub fn out(&mut self) -> Out<T> {
        self.ask();
        Out {
            start: self.start.as_ptr(),
            len: self.len,
        }
    }

    /// How many elements there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Panics if the elements are on a device.
    #[cfg(feature = "device")]
    #[inline(always)]
    #[track_caller]
    fn ask(&self) {
        if let Owner::Device(memory) = &self.owner {
            on_device(memory.device());
        }
    }

    /// Without devices, elements are where they are asked for.
    #[cfg(not(feature = "device"))]
    #[inline(always)]
    fn ask(&self) {}
}

/// What only buffers on devices have.
#[cfg(feature = "device")]
impl<T: Copy> Buf<T> {
    /// The memory of a buffer that lives on a device.
    pub(crate) fn allocation(&self) -> Option<&Allocation> {
        match &self.owner {
            Owner::Device(memory) => Some(memory),
            Owner::Here | Owner::Vec { .. } | Owner::ForVec | Owner::Other => None,
        }
    }

    /// The device on which the elements are, if they are on one.
    pub fn device(&self) -> Option<&Device> {
        self.allocation().map(Allocation::device)
    }

    fn on(memory: Allocation, len: usize) -> Self {
        Buf {
            start: NonNull::dangling(),
            len,
            owner: Owner::Device(Box::new(memory)),
            holds: PhantomData,
        }
    }

    /// A copy on a device.
    ///
    /// # Errors
    /// If the device has not as much memory, or what its driver says.
    #[doc(hidden)]
    pub fn to_device(&self, device: &Device) -> Result<Self, Error> {
        if let Some(memory) = self.allocation() {
            if memory.device() == device {
                return Ok(Buf::on(memory.duplicate()?, self.len));
            }
            return self.to_host()?.to_device(device);
        }
        let mut memory = Allocation::new(device, size_of_val(&self[..]))?;
        // SAFETY: as many bytes as the elements have.
        unsafe { memory.upload(self.start.as_ptr().cast()) }?;
        Ok(Buf::on(memory, self.len))
    }

    /// The element of a buffer on a device that has one.
    ///
    /// # Errors
    /// What the device's driver says.
    ///
    /// # Panics
    /// If there are more, or none.
    #[doc(hidden)]
    pub fn only(&self) -> Result<T, Error> {
        assert_eq!(self.len, 1, "a table over `()` has one element");
        // SAFETY: it has been moved to the device, or a kernel has written it.
        unsafe { self.element_of_device(0) }
    }

    /// One element of a buffer on a device.
    ///
    /// # Errors
    /// What the device's driver says.
    ///
    /// # Safety
    /// The index is below the length, and a kernel has written the element.
    ///
    /// # Panics
    /// If the buffer does not live on a device.
    pub(crate) unsafe fn element_of_device(&self, index: usize) -> Result<T, Error> {
        let memory = self.allocation().expect("a buffer on a device");
        let mut element = MaybeUninit::<T>::uninit();
        // SAFETY: the element is one of the buffer's, and there is room for it.
        unsafe {
            memory.download_part(
                element.as_mut_ptr().cast(),
                index * size_of::<T>(),
                size_of::<T>(),
            )?;
            Ok(element.assume_init())
        }
    }

    /// A copy on the host.
    ///
    /// # Errors
    /// What the device's driver says.
    #[doc(hidden)]
    pub fn to_host(&self) -> Result<Self, Error> {
        let Some(memory) = self.allocation() else {
            return Ok(self.clone());
        };
        let mut copy = OutBuf::<T>::new(self.len);
        // SAFETY: as many elements, whose bytes are those that were moved to the device or that a kernel has
        // written, which is the promise of whoever launched it.
        unsafe {
            memory.download(copy.out().start().cast())?;
            Ok(copy.assume_init())
        }
    }
}

#[cfg(feature = "device")]
#[cold]
#[inline(never)]
#[track_caller]
fn on_device(device: &Device) -> ! {
    panic!(
        "the elements were asked for of a table that lives on {device}: `to_host()` brings it here"
    )
}

impl<T: Copy> Deref for Buf<T> {
    type Target = [T];

    #[inline(always)]
    #[cfg_attr(feature = "device", track_caller)]
    fn deref(&self) -> &[T] {
        self.ask();
        // SAFETY: a buffer is `len` initialised elements from `start`, which is aligned and not null.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Buf<T> {
    #[inline(always)]
    #[cfg_attr(feature = "device", track_caller)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.ask();
        // SAFETY: as in `deref`, and the buffer is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> Clone for Buf<T> {
    /// A copy where the elements are.
    ///
    /// # Panics
    /// If there is no memory for it.
    fn clone(&self) -> Self {
        #[cfg(feature = "device")]
        if let Some(memory) = self.allocation() {
            let copy = memory.duplicate().unwrap_or_else(|error| panic!("{error}"));
            return Buf::on(copy, self.len);
        }
        let mut copy = OutBuf::new(self.len);
        // SAFETY: two different allocations of `len` elements each, all of which are written.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr(), copy.out().start, self.len);
            copy.assume_init()
        }
    }
}

impl<T: Copy> Drop for Buf<T> {
    fn drop(&mut self) {
        match self.owner {
            // It goes back by itself.
            #[cfg(feature = "device")]
            Owner::Device(_) => {}
            // SAFETY: allocated by `allocate` for as many elements, and not given back before.
            Owner::Here => unsafe { deallocate(self.start, layout::<T>(self.len)) },
            // SAFETY: as above, for a `Vec`.
            Owner::ForVec => unsafe { deallocate(self.start, layout_of_vec::<T>(self.len)) },
            Owner::Vec { capacity } => {
                // SAFETY: the parts of a `Vec` that was taken over; elements are `Copy`, so length 0 loses nothing.
                drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), 0, capacity) });
            }
            Owner::Other => {}
        }
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Buf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "device")]
        if let Some(device) = self.device() {
            return write!(f, "[{} elements on {device}]", self.len);
        }
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Copy + PartialEq> PartialEq for Buf<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Copy> From<Vec<T>> for Buf<T> {
    fn from(vec: Vec<T>) -> Self {
        Buf::from_vec(vec)
    }
}

impl<T: Copy> FromIterator<T> for Buf<T> {
    fn from_iter<It: IntoIterator<Item = T>>(values: It) -> Self {
        Buf::from_vec(values.into_iter().collect())
    }
}

/// A buffer that is being written: memory for `len` elements, some of which may not be initialised.
///
/// It becomes a [`Buf`] once every element has been written. A [`Buf`] becomes one without a copy,
/// to be written over.
pub struct OutBuf<T: Copy>(Buf<T>);

impl<T: Copy> OutBuf<T> {
    /// Memory for `len` elements, 64-byte aligned and not initialised.
    pub fn new(len: usize) -> Self {
        OutBuf(Buf {
            start: allocate(layout::<T>(len)),
            len,
            owner: Owner::Here,
            holds: PhantomData,
        })
    }

    /// Memory for `len` elements, not initialised, that can become a `Vec` without a copy: what
    /// leaves a function is allocated so.
    pub fn for_vec(len: usize) -> Self {
        let layout = layout_of_vec::<T>(len);
        // A `Vec` frees whole elements.
        let whole = memory::padded(layout).size().checked_rem(size_of::<T>()) == Some(0);
        if !whole {
            return OutBuf::new(len);
        }
        OutBuf(Buf {
            start: allocate(layout),
            len,
            owner: Owner::ForVec,
            holds: PhantomData,
        })
    }

    /// Memory for `len` elements on a device.
    ///
    /// # Errors
    /// If the device has not as much.
    #[cfg(feature = "device")]
    #[doc(hidden)]
    pub fn on(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = len.saturating_mul(size_of::<T>());
        Ok(OutBuf(Buf::on(Allocation::new(device, bytes)?, len)))
    }

    /// The buffer, some of which may not have been written; its elements are on a device.
    #[cfg(feature = "device")]
    #[doc(hidden)]
    pub fn on_device(&self) -> &Buf<T> {
        &self.0
    }

    /// The buffer, as a kernel of a device is given it.
    #[cfg(feature = "device")]
    #[doc(hidden)]
    pub fn argument(&mut self, name: &'static str) -> crate::cuda::Argument {
        crate::cuda::Argument::buffer(name, &self.0)
    }

    /// The view through which kernels write.
    #[inline(always)]
    pub fn out(&mut self) -> Out<T> {
        self.0.out()
    }

    /// The elements, for kernels that only read.
    ///
    /// # Safety
    /// Every element that is read has been written.
    #[inline(always)]
    pub unsafe fn written(&self) -> &[T] {
        &self.0
    }

    /// The finished buffer.
    ///
    /// # Safety
    /// Every element has been written.
    #[inline(always)]
    pub unsafe fn assume_init(self) -> Buf<T> {
        self.0
    }

    /// Writes every element and gives the finished buffer.
    fn fill_with(mut self, mut value: impl FnMut(usize) -> T) -> Buf<T> {
        let out = self.out();
        for index in 0..out.len() {
            // SAFETY: in bounds, and nobody else has the view.
            unsafe { out.write(index, value(index)) };
        }
        // SAFETY: every index below the length was written.
        unsafe { self.assume_init() }
    }
}

impl<T: Copy> From<Buf<T>> for OutBuf<T> {
    fn from(buf: Buf<T>) -> Self {
        OutBuf(buf)
    }
}

impl<T: Copy> fmt::Debug for OutBuf<T> {
    /// Only the length: elements may not be initialised.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutBuf")
            .field("len", &self.0.len)
            .finish_non_exhaustive()
    }
}

/// A raw view of a buffer that the pieces of a kernel write to, each at its own indices.
///
/// It is `Copy` and crosses threads; that no element is written by one piece while another reads or
/// writes it is the promise of whoever calls its unsafe methods.
#[derive(Debug)]
pub struct Out<T> {
    start: *mut T,
    len: usize,
}

impl<T> Clone for Out<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

// SAFETY: it is only a pointer; whatever is done with it is `unsafe` and subject to the promise above.
unsafe impl<T: Send> Send for Out<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send> Sync for Out<T> {}

impl<T: Copy> Out<T> {
    /// How many elements the buffer has.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where the elements begin.
    #[inline(always)]
    pub fn start(self) -> *mut T {
        self.start
    }

    /// The view of a stretch of elements.
    ///
    /// # Safety
    /// `range` lies within the buffer, which is alive.
    #[inline(always)]
    pub unsafe fn part(self, range: Range<usize>) -> Out<T> {
        debug_assert!(
            range.start <= range.end && range.end <= self.len,
            "part {range:?} of {}",
            self.len
        );
        // SAFETY: promised by the caller.
        let start = unsafe { self.start.add(range.start) };
        Out {
            start,
            len: range.end - range.start,
        }
    }

    /// Writes one element.
    ///
    /// # Safety
    /// `index < self.len()`, the buffer is alive, and no other thread touches this element at the
    /// same time.
    #[inline(always)]
    pub unsafe fn write(self, index: usize, value: T) {
        debug_assert!(
            index < self.len,
            "a write to element {index} of {}",
            self.len
        );
        // SAFETY: promised by the caller.
        unsafe { self.start.add(index).write(value) }
    }

    /// Reads one element.
    ///
    /// # Safety
    /// As for [`Out::write`], and the element has been written.
    #[inline(always)]
    pub unsafe fn read(self, index: usize) -> T {
        debug_assert!(
            index < self.len,
            "a read of element {index} of {}",
            self.len
        );
        // SAFETY: promised by the caller.
        unsafe { self.start.add(index).read() }
    }

    /// Writes the elements in some columns of all rows of this length.
    ///
    /// # Safety
    /// `columns` lie within a row; otherwise as for [`Out::write`].
    pub unsafe fn fill_columns(self, row: usize, columns: Range<usize>, value: T) {
        for first in (0..self.len).step_by(row.max(1)) {
            for column in columns.clone() {
                // SAFETY: promised by the caller.
                unsafe { self.write(first + column, value) };
            }
        }
    }

    /// A stretch of elements to be written.
    ///
    /// # Safety
    /// `range` lies within the buffer, which outlives the slice, and nothing else touches these
    /// elements while the slice lives.
    #[inline(always)]
    pub unsafe fn slots<'a>(self, range: Range<usize>) -> &'a mut [MaybeUninit<T>] {
        debug_assert!(
            range.start <= range.end && range.end <= self.len,
            "slots {range:?} of {}",
            self.len
        );
        // SAFETY: promised by the caller; a `MaybeUninit` need not be initialised.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.start.add(range.start).cast(),
                range.end - range.start,
            )
        }
    }

    /// A stretch of elements that have been written, to be updated.
    ///
    /// # Safety
    /// As for [`Out::slots`], and the elements have been written.
    #[inline(always)]
    pub unsafe fn slice<'a>(self, range: Range<usize>) -> &'a mut [T] {
        debug_assert!(
            range.start <= range.end && range.end <= self.len,
            "slice {range:?} of {}",
            self.len
        );
        // SAFETY: promised by the caller.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start)
        }
    }
}

/// The layout of `len` elements at this crate's alignment.
fn layout<T>(len: usize) -> Layout {
    let bytes = len.checked_mul(size_of::<T>());
    bytes
        .and_then(|bytes| Layout::from_size_align(bytes, ALIGNMENT.max(align_of::<T>())).ok())
        .unwrap_or_else(|| too_large::<T>(len))
}

/// The layout of a `Vec` of `len` elements.
fn layout_of_vec<T>(len: usize) -> Layout {
    Layout::array::<T>(len).unwrap_or_else(|_| too_large::<T>(len))
}

#[cold]
#[inline(never)]
fn too_large<T>(len: usize) -> ! {
    panic!(
        "{len} elements of {} bytes are more than memory can hold",
        size_of::<T>()
    )
}

/// Memory of this layout; a dangling but aligned pointer where that is no memory at all.
fn allocate<T>(layout: Layout) -> NonNull<T> {
    stats::allocated(layout.size());
    if layout.size() == 0 {
        return NonNull::without_provenance(
            std::num::NonZero::new(layout.align()).expect("an alignment is not zero"),
        );
    }
    let start = memory::allocate(layout).unwrap_or_else(|| {
        stats::freed(layout.size());
        refused(layout.size())
    });
    start.cast()
}

/// A panic, where `Vec` ends the process: a size may come from a user, whose program can go on with
/// another.
#[cold]
#[inline(never)]
fn refused(bytes: usize) -> ! {
    panic!("{bytes} bytes of memory were asked for, and the system has not as many")
}

/// Gives memory back.
///
/// # Safety
/// `start` came from [`allocate`] with the same layout and was not given back.
unsafe fn deallocate<T>(start: NonNull<T>, layout: Layout) {
    stats::freed(layout.size());
    if layout.size() != 0 {
        // SAFETY: promised by the caller.
        unsafe { memory::deallocate(start.cast(), layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_aligned_at_every_length() {
        for len in [0, 1, 2, 7, 1000] {
            let buf = Buf::filled(len, 1.5_f32);
            assert_eq!(buf.as_ptr() as usize % ALIGNMENT, 0, "length {len}");
            assert!(buf.iter().all(|&x| x == 1.5) && buf.len() == len);
            let copy = buf.clone();
            assert_eq!(copy.as_ptr() as usize % ALIGNMENT, 0);
            assert_eq!(copy, buf);
        }
    }

    #[test]
    fn a_vec_goes_in_and_out_without_a_copy() {
        let mut vec = Vec::with_capacity(10);
        vec.extend([1_i64, 2, 3]);
        let start = vec.as_ptr();
        let buf = Buf::from_vec(vec);
        assert_eq!(buf.as_ptr(), start);
        let vec = buf.into_vec();
        assert_eq!((vec.as_ptr(), vec.capacity()), (start, 10));
        assert_eq!(vec, [1, 2, 3]);
        assert_eq!(Buf::from_fn(3, |k| k as u8).into_vec(), [0, 1, 2]);
        assert!(Buf::<f64>::from_vec(Vec::new()).into_vec().is_empty());
    }

    #[test]
    fn what_leaves_becomes_a_vec_without_a_copy() {
        for len in [0, 1, 7, 1000, 100_000, 600_001] {
            let buf = OutBuf::for_vec(len).fill_with(|k| k as f64);
            let start = buf.as_ptr();
            let mut vec = buf.into_vec();
            assert_eq!((vec.as_ptr(), vec.len()), (start, len));
            assert!(vec.iter().enumerate().all(|(k, &x)| x == k as f64));
            assert!(vec.capacity() - len <= len / 8);
            vec.extend([1.5; 3]);
            vec.shrink_to_fit();
            assert_eq!(vec[len..], [1.5; 3]);
            drop(OutBuf::<f32>::for_vec(len).fill_with(|_| 1.0));
        }
        // Elements of which memory's sizes are no multiples.
        let vec = OutBuf::for_vec(30_000)
            .fill_with(|k| [k as u8; 3])
            .into_vec();
        assert_eq!((vec.len(), vec[255]), (30_000, [255; 3]));
        assert_eq!(OutBuf::for_vec(5).fill_with(|_| ()).into_vec().len(), 5);
    }

    #[test]
    fn an_output_is_written_then_read() {
        let mut out = OutBuf::<usize>::new(7);
        let view = out.out();
        for index in 0..view.len() {
            // SAFETY: in bounds and on one thread.
            unsafe { view.write(index, index * index) };
        }
        // SAFETY: every element was written above.
        let mut buf = unsafe { out.assume_init() };
        assert_eq!(buf[..], [0, 1, 4, 9, 16, 25, 36]);
        let view = buf.out();
        // SAFETY: in bounds, initialised, and the only view.
        unsafe {
            view.write(6, view.read(6) + 1);
            view.slice(1..3).fill(5);
            view.slots(0..1)[0].write(8);
        }
        assert_eq!(buf[..], [8, 5, 5, 9, 16, 25, 37]);
    }

    #[test]
    fn a_finished_buffer_is_written_over_in_place() {
        let buf = Buf::from_fn(3, |k| k as i32);
        let start = buf.as_ptr();
        let mut out = OutBuf::from(buf);
        // SAFETY: in bounds, on one thread, and all elements are initialised.
        let buf = unsafe {
            out.out().write(1, 7);
            assert_eq!(out.written(), [0, 7, 2]);
            out.assume_init()
        };
        assert_eq!((buf.as_ptr(), &buf[..]), (start, &[0, 7, 2][..]));
    }

    #[test]
    fn memory_that_is_not_there_is_a_panic() {
        // Less than an address may be, and more than any machine has.
        let bytes = usize::MAX / 4;
        let refused = std::panic::catch_unwind(|| drop(OutBuf::<u8>::new(bytes)));
        let message = refused.expect_err("no such machine");
        assert_eq!(
            message.downcast_ref::<String>().map(String::as_str),
            Some(
                format!("{bytes} bytes of memory were asked for, and the system has not as many")
                    .as_str()
            )
        );
    }

    #[test]
    #[should_panic(expected = "more than memory can hold")]
    fn a_buffer_beyond_memory_is_refused() {
        drop(OutBuf::<f64>::new(usize::MAX / 2));
    }
}

//! Memory that has been given back, for whoever asks next.
//!
//! A derivative asks for its intermediates anew in each call. What the system hands out it clears
//! page by page as it is first touched, which can take longer than the computation. So large pieces
//! of memory that are given back are kept for the next request of the same size: at most so many
//! bytes ([`keep_at_most`]), the oldest given up first.
//!
//! A kernel may ask for memory at each of its points, and systems take long to put together again
//! what is given back to them. So each thread keeps smaller pieces for itself, a few of them
//! ([`OWN_LIMIT`]).
//!
//! Memory of several large pages ([`PAGE`]) is asked for in such pages, where the system leaves
//! that to programs: what streams through memory otherwise waits for the addresses of small pages,
//! and the system clears one after the other.
//!
//! Programs that are built for debugging keep nothing, so that tools that watch memory see every
//! piece go.
//!
//! With the feature `signalling`, which is for tests, all memory that is handed out, old or new,
//! holds a pattern (`hold_unwritten`). Who reads it before it is written computes something else
//! with another pattern, and with the first one no number.

use std::alloc::{self, Layout};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What most of the crate's allocations are aligned to: a cache line, and the widest vector
/// register.
pub(crate) const ALIGNMENT: usize = 64;

/// Pieces smaller than this many bytes are the allocator's own business.
const SMALLEST: usize = 1 << 10;

/// Pieces smaller than this many bytes are kept by threads, others for all of them.
const LARGE: usize = 1 << 16;

/// Bytes of a large page, on x86-64 and on most of ARM's.
const PAGE: usize = 1 << 21;

/// From so many bytes on memory is asked for in large pages.
const IN_PAGES: usize = 2 * PAGE;

/// Bytes that a thread keeps at most.
const OWN_LIMIT: usize = 1 << 18;

/// Bytes that are kept for all threads at most: 256 MiB unless [`keep_at_most`] says otherwise.
static LIMIT: AtomicUsize = AtomicUsize::new(if cfg!(debug_assertions) { 0 } else { 1 << 28 });

/// What is kept for all threads.
static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

thread_local! {
    /// What this thread keeps.
    static OWN: RefCell<Kept> = const { RefCell::new(Kept::new()) };
}

/// Keeps at most so many bytes of memory from now on, and gives the system what is beyond it: with
/// 0, everything.
///
/// Before it is called, 256 MiB are kept, and nothing by programs built for debugging. Each thread
/// keeps up to 256 KiB besides, but no more than this; those of other threads are given back when
/// they ask for memory next, or end.
///
/// ```
/// pointful_runtime::memory::keep_at_most(0);
/// ```
pub fn keep_at_most(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
    with_kept(LARGE, |kept, limit| kept.shrink(limit));
    with_kept(SMALLEST, |kept, limit| kept.shrink(limit));
}

/// Does something with what is kept of pieces of this size, and how much of that may be; nothing,
/// if none is or the thread is about to end.
fn with_kept<R>(size: usize, f: impl FnOnce(&mut Kept, usize) -> R) -> Option<R> {
    let limit = LIMIT.load(Ordering::Relaxed);
    match size {
        // What is kept is whole after every statement: a panic elsewhere leaves nothing half done.
        LARGE.. => Some(f(
            &mut KEPT.lock().unwrap_or_else(PoisonError::into_inner),
            limit,
        )),
        SMALLEST.. => OWN
            .try_with(|own| f(&mut own.borrow_mut(), OWN_LIMIT.min(limit)))
            .ok(),
        _ => None,
    }
}

/// Memory of this layout or a [padded] one, whose size is not zero; none if the system has not as
/// much. It is not cleared.
pub(crate) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let layout = padded(layout);
    let old = with_kept(layout.size(), |kept, limit| {
        kept.shrink(limit);
        kept.take(layout)
    });
    let memory = old.flatten().or_else(|| {
        // SAFETY: the size is not zero, and padding does not lessen it.
        let new = NonNull::new(unsafe { alloc::alloc(layout) })?;
        if layout.size() >= IN_PAGES {
            in_large_pages(new, layout.size());
        }
        Some(new)
    });
    #[cfg(feature = "signalling")]
    if let Some(start) = memory {
        signal(start, layout.size());
    }
    memory
}

/// What memory holds that nobody has written: not a number, as `f64` and as `f32`; as an index
/// beyond every table.
#[cfg(feature = "signalling")]
const SIGNAL: u16 = 0x7ff4;

#[cfg(feature = "signalling")]
static UNWRITTEN: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(SIGNAL);

/// From now on memory that nobody has written holds this pattern, over and over: for tests that run
/// a program with two of them. Without one it is the first, which is no number.
#[cfg(feature = "signalling")]
pub fn hold_unwritten(pattern: Option<u16>) {
    UNWRITTEN.store(pattern.unwrap_or(SIGNAL), Ordering::Relaxed);
}

/// Writes the pattern to so many bytes.
#[cfg(feature = "signalling")]
fn signal(start: NonNull<u8>, bytes: usize) {
    let pattern = UNWRITTEN.load(Ordering::Relaxed).to_ne_bytes();
    let mut written = bytes.min(pattern.len());
    // SAFETY: so many bytes are owned, and what is copied has been written.
    unsafe { start.copy_from_nonoverlapping(NonNull::from(&pattern).cast(), written) };
    while written < bytes {
        let more = written.min(bytes - written);
        // SAFETY: as above; both halves are apart.
        unsafe { start.add(written).copy_from_nonoverlapping(start, more) };
        written += more;
    }
}

/// Asks for large pages, of which the system has or has not some, for the whole ones among so many
/// bytes, at least one.
#[cfg(all(target_os = "linux", not(miri)))]
fn in_large_pages(start: NonNull<u8>, bytes: usize) {
    let before = start.as_ptr().align_offset(PAGE);
    // SAFETY: the memory is owned and has more bytes than are in front of its first whole page; its contents and its
    // addresses stay as they are.
    unsafe {
        libc::madvise(
            start.as_ptr().add(before).cast(),
            (bytes - before) / PAGE * PAGE,
            libc::MADV_HUGEPAGE,
        )
    };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn in_large_pages(_: NonNull<u8>, _: usize) {}

/// Gives memory back.
///
/// # Safety
/// It came from [`allocate`] with this layout, was not given back, and nobody looks at it any more.
pub(crate) unsafe fn deallocate(start: NonNull<u8>, layout: Layout) {
    let layout = padded(layout);
    // It is given back to the system where nobody takes it.
    let piece = Piece { start, layout };
    with_kept(layout.size(), |kept, limit| kept.give(piece, limit));
}

/// A layout of which there are few: large sizes are rounded up by at most an eighth, to a multiple
/// of a power of two that no element is larger than, so that requests that differ little can have
/// the same. The largest begin with a page, unless they ask for an alignment below a cache line's:
/// a `Vec` frees what it was given with its element's alignment.
pub(crate) fn padded(layout: Layout) -> Layout {
    if layout.size() < LARGE {
        return layout;
    }
    let step = 1 << (layout.size().ilog2() - 3);
    let rounded = layout.size().next_multiple_of(step);
    let whole_pages = rounded >= IN_PAGES && layout.align() >= ALIGNMENT;
    let align = if whole_pages { PAGE } else { 1 };
    Layout::from_size_align(rounded, layout.align().max(align)).unwrap_or(layout)
}

/// A piece of memory that belongs to whoever holds this.
struct Piece {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: nobody else has the address, and memory is the same to all threads.
unsafe impl Send for Piece {}

impl Piece {
    fn into_memory(self) -> NonNull<u8> {
        let start = self.start;
        std::mem::forget(self);
        start
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: it came from the allocator with this layout, and is owned.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Pieces of memory, the oldest first.
struct Kept {
    pieces: VecDeque<Piece>,
    bytes: usize,
}

impl Kept {
    const fn new() -> Self {
        Kept {
            pieces: VecDeque::new(),
            bytes: 0,
        }
    }

    /// The youngest piece of a layout: what was touched last is most likely in a cache.
    fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let found = self
            .pieces
            .iter()
            .rposition(|piece| piece.layout == layout)?;
        let piece = self.pieces.remove(found)?;
        self.bytes -= layout.size();
        Some(piece.into_memory())
    }

    fn give(&mut self, piece: Piece, limit: usize) {
        self.bytes += piece.layout.size();
        self.pieces.push_back(piece);
        self.shrink(limit);
    }

    /// Gives up the oldest pieces until the others are within the limit.
    fn shrink(&mut self, limit: usize) {
        while self.bytes > limit {
            let Some(piece) = self.pieces.pop_front() else {
                return;
            };
            self.bytes -= piece.layout.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGNMENT).expect("a small layout")
    }

    fn piece(bytes: usize) -> Piece {
        let layout = layout(bytes);
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc::alloc(layout) }).expect("there is memory");
        Piece { start, layout }
    }

    #[test]
    fn the_youngest_of_a_size_is_handed_out_and_the_oldest_given_up() {
        let mut kept = Kept::new();
        let (first, second, other) = (piece(100), piece(100), piece(80));
        let addresses = [&first, &second, &other].map(|piece| piece.start);
        kept.give(first, 300);
        kept.give(second, 300);
        kept.give(other, 300);
        assert_eq!((kept.pieces.len(), kept.bytes), (3, 280));
        kept.give(piece(60), 300);
        assert_eq!(
            (kept.pieces.len(), kept.bytes),
            (3, 240),
            "the first is gone"
        );
        assert!(kept.take(layout(90)).is_none());
        let again = kept.take(layout(100)).expect("the second is there");
        assert_eq!(again, addresses[1]);
        assert!(kept.take(layout(100)).is_none());
        let layout = layout(100);
        let start = again;
        kept.give(Piece { start, layout }, 300);
        kept.shrink(0);
        assert_eq!((kept.pieces.len(), kept.bytes), (0, 0));
    }

    #[test]
    fn more_than_the_limit_is_not_kept() {
        let mut kept = Kept::new();
        kept.give(piece(51), 50);
        assert_eq!((kept.pieces.len(), kept.bytes), (0, 0));
    }

    #[test]
    fn sizes_grow_by_an_eighth_at_most() {
        for bytes in [LARGE, LARGE + 1, 100_000, 1_000_000, (1 << 20) + 1, 1 << 30] {
            let size = padded(layout(bytes)).size();
            assert!(size >= bytes && size - bytes <= bytes / 8, "{bytes}");
            assert_eq!(padded(layout(size)).size(), size, "{bytes}");
        }
        assert_eq!(padded(layout(LARGE - 1)).size(), LARGE - 1);
        assert_eq!(padded(layout(IN_PAGES)).align(), PAGE);
        let of_vec = Layout::array::<f64>(IN_PAGES / 8 + 1).expect("a small layout");
        assert_eq!(padded(of_vec).align(), align_of::<f64>());
        assert_eq!(padded(of_vec).size() % size_of::<f64>(), 0);
        let largest = layout(isize::MAX as usize - 63);
        assert_eq!(padded(largest), largest, "what cannot be rounded up stays");
    }

    #[test]
    fn memory_comes_and_goes() {
        for bytes in [
            1,
            SMALLEST,
            5000,
            LARGE,
            3 * LARGE + 5,
            IN_PAGES,
            3 * PAGE + 5,
        ] {
            let layout = layout(bytes);
            let start = allocate(layout).expect("there is memory");
            let align = if bytes >= IN_PAGES { PAGE } else { 64 };
            assert_eq!(start.addr().get() % align, 0);
            // SAFETY: so many bytes are owned.
            unsafe { start.as_ptr().write_bytes(1, bytes) };
            // SAFETY: allocated above, with the same layout.
            unsafe { deallocate(start, layout) };
        }
        keep_at_most(1 << 20);
        keep_at_most(0);
    }

    #[cfg(feature = "signalling")]
    #[test]
    fn what_nobody_has_written_is_no_number() {
        for bytes in [8, 200, 3 * LARGE] {
            // What is handed out again, too.
            for _ in 0..2 {
                let start = allocate(layout(bytes)).expect("there is memory");
                // SAFETY: so many bytes are owned and hold the pattern.
                let values =
                    unsafe { std::slice::from_raw_parts(start.cast().as_ptr(), bytes / 8) };
                assert!(values.iter().copied().all(f64::is_nan));
                // SAFETY: so many bytes are owned.
                unsafe { start.as_ptr().write_bytes(1, bytes) };
                // SAFETY: allocated above, with the same layout.
                unsafe { deallocate(start, layout(bytes)) };
            }
        }
    }

    #[test]
    fn each_thread_has_small_pieces_of_its_own() {
        let size = LARGE - 64;
        let take = || with_kept(size, |kept, _| kept.take(layout(size))).flatten();
        assert!(with_kept(SMALLEST - 1, |_, _| ()).is_none());
        with_kept(size, |kept, _| kept.give(piece(size), size));
        std::thread::scope(|scope| {
            let found = scope.spawn(|| take().is_some()).join();
            assert_eq!(found.ok(), Some(false));
        });
        let start = take().expect("it is there again");
        let layout = layout(size);
        drop(Piece { start, layout });
        assert!(take().is_none());
    }
}

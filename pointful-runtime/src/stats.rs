//! What a computation allocated and launched, counted exactly.
//!
//! Counts belong to the thread that asks for them: everything generated code allocates and
//! launches, it does on the thread that called it. What the pieces of a launch do on other threads
//! is not counted, wherever they run, so the counts are the same whatever the number of threads.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What [`measure`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Buffers allocated, empty ones included; adopted `Vec`s are not.
    pub allocations: u64,
    /// Bytes in them.
    pub allocated_bytes: u64,
    /// The most bytes alive at one time, beyond those alive at the beginning.
    pub peak_bytes: u64,
    /// Kernels launched.
    pub launches: u64,
    /// Scalar operations of compiled functions, in kernels, in loops of the host and in products
    /// that a library does: an addition is one, a division a few, an exponential 15. Reading and
    /// writing memory is none, nor is computing where. The number follows from the sizes when a
    /// function is called: of a branch both sides count, and of a loop that only running it tells
    /// how long it is, 16 iterations.
    pub operations: u64,
    /// Pieces they were split into.
    pub pieces: u64,
    /// Bytes of the private accumulators of those pieces, as the kernels estimate them.
    pub accumulator_bytes: u64,
    /// Buffers that were written over instead of allocating another.
    pub in_place: u64,
    /// Kernels launched on devices.
    pub device_launches: u64,
    /// Bytes moved from the host to devices,
    pub bytes_to_device: u64,
    /// and from devices to the host.
    pub bytes_to_host: u64,
}

/// The counts of one measurement under way.
#[derive(Clone, Copy, Default)]
struct Count {
    stats: Stats,
    /// Bytes allocated less bytes freed; negative once memory from before the measurement is freed.
    live: i64,
}

/// How many measurements are under way in the whole process: when none is, counting costs one load.
static MEASUREMENTS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The measurements under way on this thread, the innermost last.
    static COUNTS: RefCell<Vec<Count>> = const { RefCell::new(Vec::new()) };
    /// Whether this thread is within a launch, whose pieces are not counted.
    static PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` and counts what it allocates and launches on this thread.
///
/// Measurements may be nested; the outer one counts what the inner one does.
///
/// ```
/// use pointful_runtime::{stats, Dyn, Extent, Table};
/// let (table, stats) = stats::measure(|| Table::<Dyn, f64>::zeros(Extent::new(4)));
/// assert_eq!((table.len(), stats.allocations, stats.allocated_bytes), (4, 1, 32));
/// ```
pub fn measure<R>(f: impl FnOnce() -> R) -> (R, Stats) {
    /// Ends the measurement also when `f` panics.
    struct Measurement;
    impl Drop for Measurement {
        fn drop(&mut self) {
            MEASUREMENTS.fetch_sub(1, Ordering::Relaxed);
            COUNTS.with_borrow_mut(|counts| counts.pop());
        }
    }

    MEASUREMENTS.fetch_add(1, Ordering::Relaxed);
    COUNTS.with_borrow_mut(|counts| counts.push(Count::default()));
    let measurement = Measurement;
    let result = f();
    let stats =
        COUNTS.with_borrow(|counts| counts.last().map(|count| count.stats).unwrap_or_default());
    drop(measurement);
    (result, stats)
}

/// Applies `change` to every measurement under way on this thread.
#[inline(always)]
fn count(change: impl Fn(&mut Count)) {
    if MEASUREMENTS.load(Ordering::Relaxed) != 0 {
        count_slowly(&change);
    }
}

#[cold]
#[inline(never)]
fn count_slowly(change: &dyn Fn(&mut Count)) {
    // A thread that is being torn down still frees buffers but measures nothing any more.
    let paused = PAUSED.try_with(Cell::get).unwrap_or(true);
    if !paused {
        let _ = COUNTS.try_with(|counts| counts.borrow_mut().iter_mut().for_each(change));
    }
}

pub(crate) fn allocated(bytes: usize) {
    count(|count| {
        count.stats.allocations += 1;
        count.stats.allocated_bytes += bytes as u64;
        count.live += bytes as i64;
        count.stats.peak_bytes = count.stats.peak_bytes.max(count.live.max(0) as u64);
    });
}

pub(crate) fn freed(bytes: usize) {
    count(|count| count.live -= bytes as i64);
}

#[inline]
pub(crate) fn launched(pieces: usize, acc_bytes: u64) {
    count(|count| {
        count.stats.launches += 1;
        count.stats.pieces += pieces as u64;
        count.stats.accumulator_bytes += acc_bytes;
    });
}

#[cfg(feature = "device")]
pub(crate) fn launched_on_device() {
    count(|count| count.stats.device_launches += 1);
}

#[cfg(feature = "device")]
pub(crate) fn moved_to_device(bytes: usize) {
    count(|count| count.stats.bytes_to_device += bytes as u64);
}

#[cfg(feature = "device")]
pub(crate) fn moved_to_host(bytes: usize) {
    count(|count| count.stats.bytes_to_host += bytes as u64);
}

/// Counts the operations of a function that is called; they are only asked for in a measurement.
#[doc(hidden)]
#[inline]
pub fn count_operations(of_function: impl Fn() -> u64) {
    count(|count| {
        let operations = &mut count.stats.operations;
        *operations = operations.saturating_add(of_function());
    });
}

/// Counts a buffer that generated code writes over instead of allocating another.
#[doc(hidden)]
pub fn reused_in_place() {
    count(|count| count.stats.in_place += 1);
}

/// Stops counting on this thread until the guard is dropped.
#[inline]
pub(crate) fn pause() -> Pause {
    Pause {
        before: PAUSED.replace(true),
    }
}

/// See [`pause`].
pub(crate) struct Pause {
    before: bool,
}

impl Drop for Pause {
    #[inline]
    fn drop(&mut self) {
        PAUSED.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buf;

    #[test]
    fn allocations_and_peak_are_exact() {
        let before = Buf::filled(100, 0_u8);
        let (kept, stats) = measure(|| {
            drop(before);
            let a = Buf::filled(10, 0_f64);
            let b = Buf::filled(5, 0_f32);
            drop(a);
            let c = Buf::filled(3, 0_u8);
            (b, c)
        });
        assert_eq!(stats.allocations, 3);
        assert_eq!(stats.allocated_bytes, 80 + 20 + 3);
        // 100 bytes from before were freed first.
        assert_eq!(stats.peak_bytes, 0);
        drop(kept);
        let ((), stats) = measure(|| {
            let a = Buf::filled(10, 0_f64);
            drop(a.clone());
            drop(a.clone());
        });
        assert_eq!((stats.allocations, stats.peak_bytes), (3, 160));
    }

    #[test]
    fn measurements_nest_and_do_not_see_other_threads() {
        let (inner, outer) = measure(|| {
            let _first = Buf::filled(1, 0_u8);
            std::thread::spawn(|| drop(Buf::filled(1000, 0_u8)))
                .join()
                .expect("the thread ends");
            measure(|| drop(Buf::filled(2, 0_u8))).1
        });
        assert_eq!((inner.allocations, inner.allocated_bytes), (1, 2));
        assert_eq!((outer.allocations, outer.allocated_bytes), (2, 3));
    }

    #[test]
    fn a_panic_ends_the_measurement() {
        let caught = std::panic::catch_unwind(|| measure(|| panic!("on purpose")));
        assert!(caught.is_err());
        let ((), stats) = measure(|| drop(Buf::filled(1, 0_u8)));
        assert_eq!(stats.allocations, 1);
    }

    #[test]
    fn nothing_is_counted_while_paused() {
        let ((), stats) = measure(|| {
            let pause = pause();
            drop(Buf::filled(1, 0_u8));
            drop(pause);
            reused_in_place();
        });
        assert_eq!(
            stats,
            Stats {
                in_place: 1,
                ..Stats::default()
            }
        );
    }
}

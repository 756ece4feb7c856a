//! Threads of the global rayon pool that help a thread which is none of them.
//!
//! Such a thread would have to hand its work over and to sleep until it is done: twice in each
//! launch a thread would be waited for until it is awake. So it works itself, and asks for helpers,
//! who take part if they come while something is left to be done:
//!
//! ```text
//! caller       parts 0 1 2 3 4 5 6 7, closes the gate, waits for who is inside      … the next launch
//!                 └ call
//! helper                enters, parts 15 14 13 12 11 10 9 8, leaves, lingers ─────────┴ enters …
//! late helper                                                  finds the gate closed
//! ```
//!
//! A helper lingers for as long as it would take to wake it. So launches that follow each other
//! soon wake nobody but for the first of them.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How long somebody looks for what he waits for before he sleeps: what it takes to wake him.
const AWAKE: Duration = Duration::from_micros(50);

/// How often he looks before he lets others have the core.
const LOOKS: usize = 16;

/// Scalar operations for which it pays to wake a thread; the README says how that was measured.
const WORTH_WAKING: u64 = 1 << 20;

/// Those who have helped and are still awake.
static LINGERING: Mutex<Vec<Arc<Post>>> = Mutex::new(Vec::new());

thread_local! {
    /// When this thread last did work that could have been shared.
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Whether helpers are worth it for so many scalar operations: for many, and for fewer if somebody
/// is awake, or is worth waking since there was work not long ago.
pub(super) fn are_worth(operations: u64) -> bool {
    let soon = || LAST.get().is_some_and(|last| last.elapsed() < AWAKE);
    operations >= WORTH_WAKING || soon() || !unlocked(&LINGERING).is_empty()
}

/// Notes that this thread has done work that could have been shared.
pub(super) fn worked() {
    LAST.set(Some(Instant::now()));
}

/// Calls `work` with 0 here, and with other numbers below `threads` on helpers that come before
/// this is done. All of them have returned then.
pub(super) fn with(threads: usize, work: &(dyn Fn(usize) + Sync)) {
    /// Closes it and waits, also when `work` panics.
    struct Closing(Arc<Gate>);
    impl Drop for Closing {
        fn drop(&mut self) {
            self.0.close();
            worked();
        }
    }

    let gate = Closing(Arc::new(Gate {
        inside: AtomicUsize::new(0),
        caller: std::thread::current(),
    }));
    let own = Call {
        gate: gate.0.clone(),
        work: Lent::of(work),
        number: 0,
        threads,
    };
    own.pass_on();
    work(0);
}

/// Lets helpers in while there is work, so that nobody is inside when what they work on is gone.
struct Gate {
    /// How many are inside; and [`CLOSED`].
    inside: AtomicUsize,
    caller: Thread,
}

const CLOSED: usize = 1 << (usize::BITS - 1);

impl Gate {
    /// Whether somebody may come in, who has to leave then.
    fn enter(&self) -> bool {
        let one_more = |inside: usize| (inside & CLOSED == 0).then_some(inside + 1);
        self.inside
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more)
            .is_ok()
    }

    fn leave(&self) {
        if self.inside.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            self.caller.unpark();
        }
    }

    /// Lets nobody in any more, and waits for those that are inside.
    fn close(&self) {
        self.inside.fetch_or(CLOSED, Ordering::Relaxed);
        let is_empty = || self.inside.load(Ordering::Acquire) == CLOSED;
        if !is_soon(is_empty) {
            while !is_empty() {
                std::thread::park();
            }
        }
    }
}

/// What is worked on by those that are inside of a gate. When it is closed this may point to
/// nothing.
#[derive(Clone, Copy)]
struct Lent(*const (dyn Fn(usize) + Sync));

// SAFETY: what it points to may be called on any thread.
unsafe impl Send for Lent {}

impl Lent {
    fn of<'a>(work: &'a (dyn Fn(usize) + Sync + 'a)) -> Self {
        type Pointer<'a> = *const (dyn Fn(usize) + Sync + 'a);
        let work: Pointer<'a> = work;
        // SAFETY: only the lifetime is another, about which a pointer promises nothing.
        Self(unsafe { std::mem::transmute::<Pointer<'a>, Pointer<'static>>(work) })
    }
}

/// What a helper is asked for: the part with this number, of so many.
struct Call {
    gate: Arc<Gate>,
    work: Lent,
    number: usize,
    threads: usize,
}

impl Call {
    /// Asks two more helpers, who will ask two each. Those who linger need not be woken.
    fn pass_on(&self) {
        for number in (2 * self.number + 1..self.threads).take(2) {
            let call = Self {
                gate: self.gate.clone(),
                number,
                ..*self
            };
            let mut lingering = unlocked(&LINGERING);
            match lingering.pop() {
                // As long as the list is locked, he finds the call if he does not find himself in it.
                Some(post) => post.put(call),
                None => {
                    drop(lingering);
                    rayon::spawn(move || call.answer());
                }
            }
        }
    }

    /// Helps, and then others.
    fn answer(self) {
        let mut next = Some(self);
        while let Some(call) = next {
            if call.gate.enter() {
                call.pass_on();
                // SAFETY: who owns the gate waits for us before what this points to ends.
                unsafe { (*call.work.0)(call.number) };
                call.gate.leave();
            }
            next = Post::wait();
        }
    }
}

/// Where somebody who lingers finds a call.
#[derive(Default)]
struct Post {
    is_there: AtomicBool,
    call: Mutex<Option<Call>>,
}

impl Post {
    fn put(&self, call: Call) {
        *unlocked(&self.call) = Some(call);
        self.is_there.store(true, Ordering::Release);
    }

    /// The next call, if there is one soon.
    fn wait() -> Option<Call> {
        let post = Arc::new(Self::default());
        unlocked(&LINGERING).push(post.clone());
        if !is_soon(|| post.is_there.load(Ordering::Acquire)) {
            unlocked(&LINGERING).retain(|other| !Arc::ptr_eq(other, &post));
        }
        unlocked(&post.call).take()
    }
}

/// Waits without sleeping, but not long; whether it has become true.
fn is_soon(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < AWAKE {
        for _ in 0..LOOKS {
            if condition() {
                return true;
            }
            std::hint::spin_loop();
        }
        // Whom we wait for may have been given the same core.
        std::thread::yield_now();
    }
    condition()
}

/// What is whole after every statement, whatever has panicked elsewhere.
pub(super) fn unlocked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_left_when_the_work_ends() {
        for threads in [1, 2, 3, 9] {
            for _ in 0..200 {
                let inside = AtomicUsize::new(0);
                let came: Vec<AtomicBool> = (0..threads).map(|_| AtomicBool::default()).collect();
                let work = |number: usize| {
                    inside.fetch_add(1, Ordering::Relaxed);
                    assert!(
                        !came[number].swap(true, Ordering::Relaxed),
                        "{number} came twice"
                    );
                    inside.fetch_sub(1, Ordering::Relaxed);
                };
                with(threads, &work);
                assert!(came[0].load(Ordering::Relaxed));
                assert_eq!(inside.into_inner(), 0);
            }
        }
    }

    #[test]
    fn helpers_come_to_work_that_waits_for_them() {
        for _ in 0..20 {
            let came = AtomicUsize::new(0);
            with(2, &|_| {
                came.fetch_add(1, Ordering::Relaxed);
                while came.load(Ordering::Relaxed) < 2 {
                    std::thread::yield_now();
                }
            });
        }
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_helpers() {
        let work = |number: usize| assert!(number > 0, "on purpose");
        let all = || with(3, &work);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)).is_err());
    }

    #[test]
    fn work_soon_after_other_work_is_worth_it() {
        std::thread::spawn(|| {
            assert!(are_worth(WORTH_WAKING));
            worked();
            assert!(are_worth(1));
        })
        .join()
        .expect("no panic");
    }
}

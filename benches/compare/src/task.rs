//! A computation that can be timed, counted, and asked for its numbers.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use pointful::prelude::*;
use pointful::stats::{self, Stats};

/// How a task is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By generated code.
    Pointful,
    /// By plain Rust, with rayon.
    Hand,
}

/// A computation with all it needs.
pub struct Task {
    /// `value`, `gradient` and the like, as the workload's peers call it.
    pub name: &'static str,
    /// Whose it is.
    pub by: By,
    /// What its results are called.
    pub results: &'static [&'static str],
    run: Box<dyn Run>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {:?}", self.name, self.by)
    }
}

impl Task {
    /// A call of generated code.
    pub fn pointful<R: Answer + 'static>(
        name: &'static str,
        results: &'static [&'static str],
        run: impl Fn() -> R + 'static,
    ) -> Self {
        Task {
            name,
            by: By::Pointful,
            results,
            run: Box::new(run),
        }
    }

    /// The same by hand.
    pub fn hand<R: Answer + 'static>(
        name: &'static str,
        results: &'static [&'static str],
        run: impl Fn() -> R + 'static,
    ) -> Self {
        Task {
            name,
            by: By::Hand,
            results,
            run: Box::new(run),
        }
    }

    /// How long one call takes; what becomes of its results afterwards does not count.
    pub fn time(&self) -> Duration {
        self.run.time()
    }

    /// What one call allocates and launches.
    pub fn count(&self) -> Stats {
        self.run.count()
    }

    /// The numbers of each result.
    ///
    /// # Panics
    /// If there are more or fewer results than names.
    pub fn answer(&self) -> Vec<(&'static str, Vec<f64>)> {
        let numbers = self.run.answer();
        assert_eq!(numbers.len(), self.results.len(), "{self:?}");
        self.results.iter().copied().zip(numbers).collect()
    }
}

/// A computation whose result has any type.
trait Run {
    fn time(&self) -> Duration;
    fn count(&self) -> Stats;
    fn answer(&self) -> Vec<Vec<f64>>;
}

impl<R: Answer, F: Fn() -> R> Run for F {
    fn time(&self) -> Duration {
        let start = Instant::now();
        let result = black_box(self());
        let time = start.elapsed();
        drop(result);
        time
    }

    fn count(&self) -> Stats {
        let (result, stats) = stats::measure(self);
        drop(result);
        stats
    }

    fn answer(&self) -> Vec<Vec<f64>> {
        let mut numbers = Vec::new();
        self().put(&mut numbers);
        numbers
    }
}

/// What a computation may give: numbers, arrays of them, and tuples of such.
pub trait Answer {
    /// Appends the numbers of each part.
    fn put(&self, parts: &mut Vec<Vec<f64>>);
}

macro_rules! numbers {
    ($($T:ty),*) => {$(
        impl Answer for $T {
            fn put(&self, parts: &mut Vec<Vec<f64>>) {
                parts.push(vec![f64::from(*self)]);
            }
        }

        impl Answer for Vec<$T> {
            fn put(&self, parts: &mut Vec<Vec<f64>>) {
                parts.push(self.iter().map(|&x| f64::from(x)).collect());
            }
        }

        impl<I: IndexSet> Answer for Table<I, $T> {
            fn put(&self, parts: &mut Vec<Vec<f64>>) {
                parts.push(self.iter().map(|&x| f64::from(x)).collect());
            }
        }
    )*};
}

numbers! { f32, f64, i32, u32 }

/// Vectors one after the other.
impl<T: Copy + Into<f64>, const N: usize> Answer for Vec<[T; N]> {
    fn put(&self, parts: &mut Vec<Vec<f64>>) {
        parts.push(self.iter().flatten().map(|&x| x.into()).collect());
    }
}

macro_rules! tuples {
    ($(($($T:ident $at:tt),*);)*) => {$(
        impl<$($T: Answer),*> Answer for ($($T,)*) {
            fn put(&self, parts: &mut Vec<Vec<f64>>) {
                $(self.$at.put(parts);)*
            }
        }
    )*};
}

tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
}

//! Functions of two numbers: powers, angles of points, and lengths.
//!
//! Special values are held against what IEEE 754 and C say of them. Everything else is compared
//! with a reference on pairs that are made to be hard: in `f64` with arbitrary precision, in `f32`
//! with the standard library's functions of `f64`, whose errors are 2⁻²⁸ units of an `f32`'s last
//! place.
//!
//! `cargo test --release -p pointful-math --test pairs -- --ignored --nocapture` takes 2·10⁸ pairs
//! of `f32` for each function, and many more of `f64`.

mod double;
mod generate;
mod single;
mod special;

use pointful_math as math;

/// A function of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    Powf,
    Atan2,
    Hypot,
}

impl Function {
    const ALL: [Self; 3] = [Self::Powf, Self::Atan2, Self::Hypot];

    fn of_doubles(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Powf => math::powf(a, b),
            Self::Atan2 => math::atan2(a, b),
            Self::Hypot => math::hypot(a, b),
        }
    }

    fn of_singles(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Powf => math::powf(a, b),
            Self::Atan2 => math::atan2(a, b),
            Self::Hypot => math::hypot(a, b),
        }
    }

    /// As the standard library has it.
    fn of_the_system(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Powf => a.powf(b),
            Self::Atan2 => a.atan2(b),
            Self::Hypot => a.hypot(b),
        }
    }
}

/// The greatest error so far, and where it was.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    error: f64,
    at: (f64, f64),
}

impl Worst {
    fn note(&mut self, error: f64, at: (f64, f64)) {
        if error > self.error {
            *self = Self { error, at };
        }
    }

    fn or(self, other: Self) -> Self {
        if other.error > self.error {
            other
        } else {
            self
        }
    }

    /// Prints it, and checks that it is not too great.
    #[track_caller]
    fn at_most(self, bound: f64, function: Function, what: &str) {
        let Self { error, at: (a, b) } = self;
        println!("{function:?}, {what}: {error:.4} ulp at {a:e}, {b:e}");
        assert!(
            error <= bound,
            "{function:?} is {error} ulp off at {a:e}, {b:e} ({what})"
        );
    }
}

//! Interpreters: what programs mean.
//!
//! Each stage has one, slow and obvious. Nothing else decides what a program computes: a pass is
//! right when the program after it evaluates to what the program before it did, up to the rounding
//! that regrouping floats brings ([`compare`]).
//!
//! ```text
//! run(&program, &Inputs { sizes, params })  →  the results, and what it cost
//! ```
//!
//! # What can go wrong
//!
//! An [`EvalError::Panic`] is what the running program would do. An [`EvalError::Bug`] is a program
//! that has no meaning: it reads a value that its guard left unspecified, trusts an index that is
//! out of range, or (Kernels) races. An interpreter looks for such programs rather than giving them
//! some meaning: what one stage leaves unspecified is an absent value here, which operations hand
//! on and which no result may contain.

mod bulk;
pub mod compare;
mod data;
mod imperative;
mod point;
mod prim;
#[cfg(test)]
mod tests;

use std::fmt;

pub use compare::approx_eq;
pub use data::{Data, ScalarValue};
pub use prim::{combine, eval_const, eval_prim, identity};

use crate::ir::{Elem, Extent, Program, SizeId, Stage, ValueId};

/// What a program is run on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Inputs {
    /// By [`SizeId`].
    pub sizes: Vec<usize>,
    /// One for each parameter.
    pub params: Vec<Data>,
}

/// Why a run gave no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// The program panics, with this message.
    Panic(String),
    /// The inputs are not what the program takes.
    Input(String),
    /// The program has no meaning: it should never have been made.
    Bug(String),
    /// It took more steps than it was allowed.
    StepLimit,
}

/// What is wrong with a program that has derivatives which nobody has taken.
const UNDERIVED: &str = "a derivative that has not been taken";

impl EvalError {
    pub(crate) fn panic(message: impl Into<String>) -> Self {
        Self::Panic(message.into())
    }

    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Self::Bug(message.into())
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) => write!(f, "panicked: {message}"),
            Self::Input(message) => write!(f, "wrong inputs: {message}"),
            Self::Bug(message) => write!(f, "meaningless program: {message}"),
            Self::StepLimit => write!(f, "too many steps"),
        }
    }
}

impl std::error::Error for EvalError {}

/// What a run cost.
///
/// Memory exists in Kernels only: at the other stages everything but `ops` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Scalar primitives, selections and combinations; not constants, sizes, indexing and `trust`.
    pub ops: u64,
    /// Elements read from buffers.
    pub loads: u64,
    /// Elements written to buffers.
    pub stores: u64,
    /// Bytes of the elements read.
    pub bytes_read: u64,
    /// Bytes of the elements written.
    pub bytes_written: u64,
    /// Buffers allocated.
    pub allocs: u64,
    /// Their bytes.
    pub alloc_bytes: u64,
    /// Parallel nests entered.
    pub kernels: u64,
}

/// How many steps [`run`] allows: far more than a test should need.
pub const STEP_LIMIT: u64 = 200_000_000;

/// A stage that can be interpreted.
pub trait Evaluate: Stage {
    /// Runs a program on inputs that fit it. What [`run`] calls.
    #[doc(hidden)]
    fn evaluate(program: &Program<Self>, inputs: &Inputs, meter: &mut Meter) -> Results;

    /// In how many orders tests run a program: in several where the stage leaves one open.
    #[doc(hidden)]
    const ORDERS: u64 = 1;

    /// The extents of a parameter of this type; none for one that depends on the program.
    #[doc(hidden)]
    fn extent(program: &Program<Self>, dim: Self::Dim) -> Extent;
}

/// What running a program gives.
pub type Results = Result<Vec<Data>, EvalError>;

/// Evaluates a program: its results in order, and what it cost.
///
/// # Errors
///
/// See [`EvalError`].
pub fn run<S: Evaluate>(
    program: &Program<S>,
    inputs: &Inputs,
) -> Result<(Vec<Data>, Counts), EvalError> {
    run_limited(program, inputs, STEP_LIMIT)
}

/// As [`run`], with a limit on the number of steps: operations evaluated (at each point), and
/// iterations.
///
/// # Errors
///
/// See [`EvalError`].
pub fn run_limited<S: Evaluate>(
    program: &Program<S>,
    inputs: &Inputs,
    steps: u64,
) -> Result<(Vec<Data>, Counts), EvalError> {
    run_in_order(program, inputs, steps, 0)
}

/// As [`run_limited`], with what a stage leaves open (which pieces of the work there are, and which
/// runs first) drawn from a seed. A program has one meaning in all orders, but for the rounding
/// that regrouping floats brings.
///
/// # Errors
///
/// See [`EvalError`].
pub fn run_in_order<S: Evaluate>(
    program: &Program<S>,
    inputs: &Inputs,
    steps: u64,
    seed: u64,
) -> Result<(Vec<Data>, Counts), EvalError> {
    check_inputs(program, inputs)?;
    let mut meter = Meter {
        counts: Counts::default(),
        steps,
        order: Order(seed),
    };
    let results = S::evaluate(program, inputs, &mut meter)?;
    Ok((results, meter.counts))
}

/// Counts what is done, and stops a program that does not end.
#[derive(Debug)]
pub struct Meter {
    counts: Counts,
    steps: u64,
    order: Order,
}

/// Decides what is left open.
#[derive(Debug)]
struct Order(u64);

impl Order {
    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n as u64) as usize
    }

    /// The numbers below `n`, in some order.
    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            all.swap(last, self.below(last + 1));
        }
        all
    }
}

impl Meter {
    fn step(&mut self) -> Result<(), EvalError> {
        self.steps = self.steps.checked_sub(1).ok_or(EvalError::StepLimit)?;
        Ok(())
    }
}

/// Checks that inputs have the types, extents and indices that the parameters ask for.
fn check_inputs<S: Evaluate>(program: &Program<S>, inputs: &Inputs) -> Result<(), EvalError> {
    let wrong = |message: String| Err(EvalError::Input(message));
    if inputs.sizes.len() != program.sizes.len() {
        return wrong(format!("{} sizes are needed", program.sizes.len()));
    }
    if inputs.params.len() != program.params.len() {
        return wrong(format!("{} parameters are needed", program.params.len()));
    }
    for (param, data) in program.params.iter().zip(&inputs.params) {
        let ty = program.ty(param.value);
        let name = &param.name;
        let scalar = ty.elem.repr();
        if data.elem != scalar || data.values.iter().any(|v| v.scalar() != scalar) {
            return wrong(format!("`{name}` holds {}", scalar.name()));
        }
        let shape: Option<Vec<usize>> = ty
            .dims
            .iter()
            .map(|&dim| static_extent(&inputs.sizes, S::extent(program, dim)))
            .collect();
        let len = data.shape.iter().product::<usize>();
        if shape.as_ref() != Some(&data.shape) || len != data.values.len() {
            return wrong(format!(
                "`{name}` has shape {shape:?}, not {:?}",
                data.shape
            ));
        }
        if let Elem::Index(extent) = ty.elem {
            let Some(n) = static_extent(&inputs.sizes, extent) else {
                return wrong(format!("`{name}` has members of a set that is computed"));
            };
            let member = |v: &ScalarValue| matches!(v, ScalarValue::Usize(k) if *k < n);
            if !data.values.iter().all(member) {
                return wrong(format!("`{name}` holds indices below {n}"));
            }
        }
    }
    Ok(())
}

/// An extent that is known before the program runs.
fn static_extent(sizes: &[usize], extent: Extent) -> Option<usize> {
    match extent {
        Extent::Const(n) => usize::try_from(n).ok(),
        Extent::Size(SizeId(size)) => sizes.get(size as usize).copied(),
        Extent::Value(_) => None,
    }
}

/// An operand that has the wrong type.
fn mistyped(value: ValueId, what: &str) -> EvalError {
    EvalError::bug(format!("value {} is not {what}", value.0))
}

/// Whether applying a primitive counts as an operation.
fn is_counted(prim: crate::ops::Prim) -> bool {
    !matches!(prim, crate::ops::Prim::Trust(_))
}

/// Finds the first extremal element; NaN never wins against a number.
struct ArgExtreme {
    max: bool,
    best: Option<(usize, ScalarValue)>,
}

impl ArgExtreme {
    fn new(max: bool) -> Self {
        Self { max, best: None }
    }

    fn offer(&mut self, index: usize, value: ScalarValue) {
        let is_nan = |v: ScalarValue| v.float().is_some_and(f64::is_nan);
        let wins = self.best.is_none_or(|(_, best)| {
            let better = if self.max { value > best } else { value < best };
            better || (is_nan(best) && !is_nan(value))
        });
        if wins {
            self.best = Some((index, value));
        }
    }

    fn finish(self) -> Result<ScalarValue, EvalError> {
        let name = if self.max { "argmax" } else { "argmin" };
        match self.best {
            Some((index, _)) => Ok(ScalarValue::Usize(index)),
            None => Err(EvalError::panic(format!("`{name}` of nothing"))),
        }
    }
}

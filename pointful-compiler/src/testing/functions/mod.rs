//! Random functions of the language as text, with inputs: what users write, before anything is
//! inferred or lowered.
//!
//! A function is written from top to bottom; operands are taken from what is in scope, so it is
//! well-typed as it grows. Numbers stay tame as far as that is easy (sines, halves); that rounding
//! decides nothing is left to who compares. Indices are mostly in range: an index panics here and
//! there, which a program may do.
//!
//! * here: what is in scope, signatures, what is returned
//! * [`sets`]: index sets and types, as text
//! * [`exprs`]: numbers, truth values
//! * [`held`]: values of several kinds: of an enum, options, eithers
//! * [`members`]: members of index sets, and reads of tables at them
//! * [`tables`]: loops that make tables, operations on whole tables, reductions
//! * [`effects`]: accumulators, states, branches that assign

mod effects;
mod exprs;
mod held;
mod members;
mod sets;
mod tables;

use std::fmt::Write as _;

use super::rng::Rng;
use crate::eval::{Data, Inputs, ScalarValue};
use crate::ir::stages::point::Point;
use crate::ir::{self, Extent, Program, Scalar};
use crate::lower::source::lower_source;
use sets::{Elem, Set, Type};

/// A random function, what it may call, and the types that it names.
pub fn random_source(seed: u64) -> String {
    let mut source = Source::new(seed);
    source.function()
}

/// A random function as text and lowered, and inputs for it.
///
/// # Panics
/// If it does not compile: every one should.
pub fn random_lowered(seed: u64) -> (String, Program<Point>, Inputs) {
    let text = random_source(seed);
    let lowered = lower_source(&text).unwrap_or_else(|errors| {
        let messages: Vec<String> = (errors.iter())
            .map(|error| format!("line {}: {}", error.span.start().line, error.message))
            .collect();
        panic!("seed {seed}: {}\n{text}", messages.join("\n"))
    });
    let inputs = random_inputs(&lowered.program, &mut Rng::new(seed ^ 0x5eed));
    (text, lowered.program, inputs)
}

/// Inputs for a program: sizes from none to a few, small numbers, many of which are equal.
pub fn random_inputs(program: &Program<Point>, rng: &mut Rng) -> Inputs {
    let sizes = (program.sizes.iter())
        .map(|_| rng.weighted(&[(1, 0), (2, 1), (4, 2), (4, 3), (2, 7)]))
        .collect();
    inputs_of(program, sizes, rng)
}

/// Where emitted code changes its form: widths of strips, and lengths below which a loop is short.
const THRESHOLDS: [usize; 7] = [8, 12, 16, 32, 64, 128, 1024];

/// Inputs of which one size, if there is any, is about such a threshold, and the others are small;
/// none if the parameters would have more elements than these.
pub fn random_larger_inputs(
    program: &Program<Point>,
    most: usize,
    rng: &mut Rng,
) -> Option<Inputs> {
    let mut sizes: Vec<usize> = (program.sizes.iter()).map(|_| 1 + rng.below(3)).collect();
    let larger = rng.pick(&THRESHOLDS) - 1 + rng.below(3);
    if !sizes.is_empty() {
        let at = rng.below(sizes.len());
        sizes[at] = larger;
    }
    let length = |extent: &Extent| match extent {
        Extent::Const(n) => *n as usize,
        Extent::Size(size) => sizes[size.0 as usize],
        Extent::Value(_) => 0,
    };
    let elements: usize = (program.params.iter())
        .map(|param| {
            program
                .ty(param.value)
                .dims
                .iter()
                .map(length)
                .product::<usize>()
        })
        .sum();
    (elements <= most).then(|| inputs_of(program, sizes, rng))
}

fn inputs_of(program: &Program<Point>, mut sizes: Vec<usize>, rng: &mut Rng) -> Inputs {
    // There is no member of an empty set to give.
    for param in &program.params {
        if let ir::Elem::Index(Extent::Size(size)) = program.elem(param.value) {
            let size = &mut sizes[size.0 as usize];
            *size = (*size).max(1);
        }
    }
    let length = |extent: Extent| match extent {
        Extent::Const(n) => n as usize,
        Extent::Size(size) => sizes[size.0 as usize],
        Extent::Value(_) => 0,
    };
    let exact = rng.chance(40);
    let mut datum = |elem: ir::Elem| {
        let eighths = rng.between(-16, 16);
        match elem {
            ir::Elem::Index(extent) | ir::Elem::Bound(extent) => {
                ScalarValue::Usize(rng.below(length(extent).max(1)))
            }
            ir::Elem::Scalar(Scalar::Bool) => ScalarValue::Bool(rng.chance(50)),
            ir::Elem::Scalar(scalar) if scalar.is_float() => {
                let off = if exact {
                    0.0
                } else {
                    rng.between(-9999, 9999) as f64 / 1_000_003.0
                };
                ScalarValue::from_float(scalar, eighths as f64 / 8.0 + off)
            }
            ir::Elem::Scalar(scalar) if scalar.is_signed_int() => {
                ScalarValue::from_int(scalar, i128::from(eighths / 2))
            }
            ir::Elem::Scalar(scalar) => {
                ScalarValue::from_int(scalar, i128::from(eighths.abs() / 2))
            }
        }
    };
    let params = (program.params.iter())
        .map(|param| {
            let ty = program.ty(param.value);
            let shape: Vec<usize> = ty.dims.iter().map(|&dim| length(dim)).collect();
            let values = (0..shape.iter().product())
                .map(|_| datum(ty.elem))
                .collect();
            Data::new(ty.elem.repr(), shape, values)
        })
        .collect();
    Inputs { sizes, params }
}

/// What a name stands for.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Type,
    /// Assigned to by loops.
    mutable: bool,
}

/// An accumulator in scope.
#[derive(Clone, Debug)]
struct Accumulator {
    name: String,
    ty: Type,
    /// What is combined into it: `+=`, or `put`.
    put: bool,
    /// Whether it is an `Accum`, of which parts may have names, and not a `let mut` that is only
    /// added to.
    slices: bool,
}

/// A function of scalars to a scalar that may be called.
#[derive(Clone, Debug)]
struct Callable {
    name: String,
    params: usize,
}

struct Source {
    rng: Rng,
    names: usize,
    scope: Vec<Variable>,
    accumulators: Vec<Accumulator>,
    /// Closures and functions of `f64`s.
    callables: Vec<Callable>,
    /// Functions of a table of `f64`s of any rank to a `f64`.
    folds: Vec<String>,
    /// Names in front of this may not be assigned to here.
    assignable: usize,
    /// How many statements may still be begun.
    budget: usize,
    /// Loops around this place, which bounds the work.
    loops: usize,
}

/// Where a block begins.
struct Mark {
    scope: usize,
    accumulators: usize,
    callables: usize,
}

/// The generic sets of a function.
const GENERICS: [&str; 3] = ["N", "M", "K"];

/// The types that functions may name.
const TYPES: &str = "\
#[derive(IndexSet)]
enum Hue { Red, Green, Blue }
#[derive(IndexSet)]
struct Pixel(usize);
enum Form { Round(f64), Long(f64, i64), Flat }
";

impl Source {
    fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            names: 0,
            scope: Vec::new(),
            accumulators: Vec::new(),
            callables: Vec::new(),
            folds: Vec::new(),
            assignable: 0,
            budget: 0,
            loops: 0,
        }
    }

    fn function(&mut self) -> String {
        let mut text = TYPES.to_owned();
        for _ in 0..self.rng.below(3) {
            text.push_str(&self.helper());
        }
        self.budget = 4 + self.rng.below(8);
        let mut params = Vec::new();
        for _ in 0..2 + self.rng.below(4) {
            params.push(self.param());
        }
        for (k, set) in GENERICS.iter().enumerate() {
            let carries = |v: &Variable| v.ty.dims.contains(&Set::Generic(k));
            if !self.scope.iter().any(carries) {
                let name = format!("x_{}", set.to_lowercase());
                params.push(format!("{name}: &Table<{set}, f64>"));
                let ty = Type::table(vec![Set::Generic(k)], Elem::F64);
                self.declare(name, ty, false);
            }
        }
        let mut body = String::new();
        while self.budget > 0 {
            self.statement(&mut body, 1);
        }
        let (values, types) = self.results();
        let _ = write!(
            text,
            "fn random<N: IndexSet, M: IndexSet, K: IndexSet>({}) -> ({types}) {{\n{body}    ({values})\n}}\n",
            params.join(", ")
        );
        text
    }

    /// A function that the main one calls.
    fn helper(&mut self) -> String {
        let name = self.fresh("h");
        self.budget = self.rng.below(3);
        let mut body = String::new();
        let text = if self.rng.chance(50) {
            let count = 1 + self.rng.below(2);
            let params: Vec<String> = (0..count)
                .map(|_| {
                    let name = self.fresh("a");
                    self.declare(name.clone(), Type::scalar(Elem::F64), false);
                    format!("{name}: f64")
                })
                .collect();
            while self.budget > 0 {
                self.statement(&mut body, 1);
            }
            let value = self.expr(&Elem::F64, 2);
            self.callables.push(Callable {
                name: name.clone(),
                params: count,
            });
            format!(
                "fn {name}({}) -> f64 {{\n{body}    {value}\n}}\n",
                params.join(", ")
            )
        } else {
            let ty = Type::table(vec![Set::Generic(0)], Elem::F64);
            let table = self.fresh("t");
            self.declare(table.clone(), ty, false);
            while self.budget > 0 {
                self.statement(&mut body, 1);
            }
            let value = self.expr(&Elem::F64, 3);
            self.folds.push(name.clone());
            format!(
                "fn {name}<N: IndexSet>({table}: &Table<N, f64>) -> f64 {{\n{body}    {value}\n}}\n"
            )
        };
        self.scope.clear();
        let functions: Vec<Callable> = (self.callables.drain(..))
            .filter(|callable| callable.name.starts_with('h'))
            .collect();
        self.callables = functions;
        text
    }

    /// A parameter of the main function, in scope from now on.
    fn param(&mut self) -> String {
        let name = self.fresh("p");
        if self.rng.chance(25) {
            let elem = self.any_elem();
            let ty = Type::scalar(elem);
            let text = format!("{name}: {ty}");
            self.declare(name, ty, false);
            return text;
        }
        if self.rng.chance(10) {
            let set = Set::Generic(self.rng.below(GENERICS.len()));
            let ty = Type::scalar(Elem::Member(set));
            let text = format!("{name}: {ty}");
            self.declare(name, ty, false);
            return text;
        }
        let rank = self.rng.pick(&[1, 1, 1, 2, 2, 3]);
        let mut dims: Vec<Set> = (0..rank).map(|_| self.param_set()).collect();
        // A table of no other axes is not indexed by halves.
        if dims.iter().all(|dim| *dim == Set::Unit) {
            dims[0] = Set::Generic(0);
        }
        let elem = if self.rng.chance(15) {
            Elem::Member(Set::Generic(self.rng.below(GENERICS.len())))
        } else {
            self.any_elem()
        };
        let ty = Type::table(dims, elem);
        if self.rng.chance(20) && !matches!(ty.elem, Elem::Member(_)) {
            let text = format!("mut {name}: {ty}");
            self.declare(name, ty, true);
            return text;
        }
        let text = format!("{name}: &{ty}");
        self.declare(name, ty, false);
        text
    }

    /// What is given back: the newest variables, more or less.
    fn results(&mut self) -> (String, String) {
        let (mut values, mut types) = (String::new(), String::new());
        let count = 1 + self.rng.below(4);
        let mut chosen = 0;
        for variable in self.scope.clone().iter().rev() {
            let is_inner = matches!(variable.ty.elem, Elem::Held(_));
            if chosen < count && !is_inner && self.rng.chance(70) {
                chosen += 1;
                let _ = write!(values, "{}, ", variable.value());
                let _ = write!(types, "{}, ", variable.ty);
            }
        }
        (values, types)
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn declare(&mut self, name: String, ty: Type, mutable: bool) {
        self.scope.push(Variable { name, ty, mutable });
    }

    fn open(&mut self) -> Mark {
        Mark {
            scope: self.scope.len(),
            accumulators: self.accumulators.len(),
            callables: self.callables.len(),
        }
    }

    fn close(&mut self, mark: &Mark) {
        self.scope.truncate(mark.scope);
        self.accumulators.truncate(mark.accumulators);
        self.callables.truncate(mark.callables);
    }

    /// One statement of some kind.
    fn statement(&mut self, out: &mut String, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        type Make = fn(&mut Source, &mut String, usize);
        let nested = |weight: usize| if depth > 3 { 0 } else { weight };
        let effects = if self.accumulators.is_empty() { 0 } else { 25 };
        let assigns = if self.assignable_here().is_empty() {
            0
        } else {
            15
        };
        let make: Make = self.rng.weighted(&[
            (12, Source::let_scalar as Make),
            (6, Source::let_whole),
            (nested(14), Source::let_for),
            (nested(5), Source::let_scan),
            (3, Source::let_member),
            (nested(10), Source::accumulation),
            (nested(12), Source::states),
            (nested(3), Source::while_loop),
            (nested(5), Source::branches),
            (3, Source::closure),
            (2, Source::assertion),
            (effects, Source::accumulate),
            (assigns, Source::assign),
        ]);
        make(self, out, depth);
    }

    /// Up to `most` statements.
    fn statements(&mut self, out: &mut String, depth: usize, most: usize) {
        for _ in 0..self.rng.below(most + 1) {
            if self.budget > 0 {
                self.statement(out, depth);
            }
        }
    }
}

impl Variable {
    /// The variable as a value of its own.
    fn value(&self) -> String {
        if self.ty.dims.is_empty() {
            self.name.clone()
        } else {
            format!("{}.clone()", self.name)
        }
    }
}

/// A line of a block.
fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{}{text}", "    ".repeat(depth));
}

#[cfg(test)]
mod tests;

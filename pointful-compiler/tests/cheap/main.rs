//! What a gradient costs, counted: a value and its gradient together take at most a few times the
//! operations of the value alone, whatever the number of inputs.
//!
//! Counted is what the interpreter does ([`Counts::ops`]), of the definitions of whole arrays and
//! of the kernels that run, and one more for every element that goes in or comes out: a function
//! that only moves elements has no operations to compare with. The bound is [`STRAIGHT`] for code
//! without sequential loops; where there are some, a derivative may run each level of them again,
//! so that it is the depth and 2 if that is more.

mod sources;

use std::fmt;

use pointful_compiler::eval::{Counts, Data, EvalError, Inputs, ScalarValue, run_limited};
use pointful_compiler::ir::stages::bulk::Bulk;
use pointful_compiler::ir::stages::kernels::Kernels;
use pointful_compiler::ir::stages::point::{Point, PointOp};
use pointful_compiler::ir::{Block, Elem, Extent, Mode, Operation, Program, Scalar, Size};
use pointful_compiler::pipeline::{OVER_KERNELS, Trace, scheduled};
use pointful_compiler::testing::{Options, Rng, derivative, expanded, random_point};

/// How often the operations of a function without sequential loops its gradient may take.
const STRAIGHT: f64 = 4.0;

/// How long axes are whose length is free: long enough that what is done once does not count.
const EXTENTS: [usize; 2] = [8, 14];

/// Steps that an interpreter may take.
const STEPS: u64 = 50_000_000;

/// How much dearer than a program its gradient is, as definitions and as kernels.
struct Ratio {
    bulk: f64,
    kernels: f64,
    /// How deep sequential loops are nested.
    depth: usize,
    /// Operations of the function.
    ops: u64,
}

/// Why a program has no gradient to compare it with.
#[derive(Debug)]
enum Incomparable {
    /// It has no float parameters or no float results.
    Discrete,
    /// A result's shape is computed inside, so that no cotangent of it can be made before.
    Shaped,
    /// Something else.
    Other(String),
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bulk,
            kernels,
            depth,
            ops,
        } = self;
        write!(
            f,
            "{bulk:.2} as definitions, {kernels:.2} as kernels, of {ops} operations, loops {depth} deep"
        )
    }
}

impl Ratio {
    fn bound(&self) -> f64 {
        STRAIGHT.max(self.depth as f64 + 2.0)
    }

    fn worst(&self) -> f64 {
        self.bulk.max(self.kernels)
    }
}

/// Compares the gradient of a program with the program itself; says why if that cannot be done.
fn compare(program: &Program<Point>, inputs: &Inputs) -> Result<Ratio, Incomparable> {
    let computed = |dim: &Extent| matches!(dim, Extent::Value(_));
    let shaped = |&value: &_| program.ty(value).dims.iter().any(computed);
    if program.body.results.iter().any(shaped) {
        return Err(Incomparable::Shaped);
    }
    let float = |data: &Data| data.elem.is_float();
    if program.floats(&program.body.results).is_empty() || !inputs.params.iter().any(float) {
        return Err(Incomparable::Discrete);
    }
    let said = |error: EvalError| Incomparable::Other(error.to_string());
    let primal = expanded(program);
    let (values, bulk) = run_limited(&primal, inputs, STEPS).map_err(said)?;
    let (_, kernels) = run_limited(&kernels_of(primal.clone()), inputs, STEPS).map_err(said)?;
    let rng = &mut Rng::new(1);
    let mut seeded = inputs.clone();
    for data in values.iter().filter(|&data| float(data)) {
        let cotangent = |_| ScalarValue::from_float(data.elem, number(rng));
        let cotangents = data.values.iter().map(cotangent).collect();
        seeded
            .params
            .push(Data::new(data.elem, data.shape.clone(), cotangents));
    }
    let gradient = expanded(&derivative(program, Mode::Cotangent));
    let (results, bulk_back) = run_limited(&gradient, &seeded, STEPS * 8).map_err(said)?;
    let (_, kernels_back) =
        run_limited(&kernels_of(gradient.clone()), &seeded, STEPS * 8).map_err(said)?;
    let moved = |inputs: &Inputs, results: &[Data]| -> usize {
        inputs
            .params
            .iter()
            .chain(results)
            .map(|data| data.values.len())
            .sum()
    };
    let (ahead, back) = (moved(inputs, &values), moved(&seeded, &results));
    let ratio = |one: Counts, other: Counts| {
        (other.ops as f64 + back as f64) / (one.ops as f64 + ahead as f64)
    };
    Ok(Ratio {
        bulk: ratio(bulk, bulk_back),
        kernels: ratio(kernels, kernels_back),
        depth: depth(&program.body),
        ops: bulk.ops,
    })
}

/// The kernels that are handed to a target.
fn kernels_of(program: Program<Bulk>) -> Program<Kernels> {
    let trace = &mut Trace::new();
    let kernels = scheduled(trace, program);
    let passes = OVER_KERNELS.into_iter();
    passes.fold(kernels, |kernels, pass| trace.pass(pass, kernels))
}

/// How deep sequential loops are nested.
fn depth(block: &Block<Point>) -> usize {
    let of = |stmt: &pointful_compiler::ir::Stmt<Point>| {
        let inside = stmt.op.blocks().into_iter().map(depth).max().unwrap_or(0);
        let own = matches!(stmt.op, PointOp::Loop { .. } | PointOp::While { .. });
        inside + usize::from(own)
    };
    block.stmts.iter().map(of).max().unwrap_or(0)
}

/// Between 0 and 1, on no kink, and where logarithms and roots are defined.
fn number(rng: &mut Rng) -> f64 {
    rng.between(1, 1_000_000) as f64 / 1_000_003.0
}

/// Sizes of sets that are made of others, which only some functions know.
const MADE: &[(&str, &str, fn(usize) -> usize)] = &[
    // The cameras' and the points' unknowns.
    ("bundle::", "Either", |n| n * 11 + n * 3),
    // A triangle.
    ("gmm::", "Entry", |n| n * (n + 1) / 2),
    // Where the links of each page begin, and where the last ends.
    ("pagerank::", "Bound", |n| n + 1),
    // What schools have in common, and each school.
    ("hmc::", "Either", |n| 2 + n),
    // The population, and each player.
    ("hierarchical::", "Either", |n| 2 + n),
];

/// Inputs for a program in which every size is `n`.
fn inputs(name: &str, program: &Program<Point>, n: usize) -> Inputs {
    let rng = &mut Rng::new(3);
    let size = |size: &Size| {
        let made = MADE
            .iter()
            .find(|(file, set, _)| name.starts_with(file) && size.name == *set);
        made.map_or(n, |(_, _, size)| size(n))
    };
    let sizes: Vec<usize> = program.sizes.iter().map(size).collect();
    let length = |extent: &Extent| match extent {
        Extent::Const(n) => *n as usize,
        Extent::Size(size) => sizes[size.0 as usize],
        Extent::Value(_) => panic!("a parameter has a size"),
    };
    let data = |ty: &pointful_compiler::ir::Type<Extent>| {
        let shape: Vec<usize> = ty.dims.iter().map(length).collect();
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|_| match ty.elem {
            Elem::Index(extent) | Elem::Bound(extent) => {
                ScalarValue::Usize(rng.below(length(&extent).max(1)))
            }
            Elem::Scalar(Scalar::Bool) => ScalarValue::Bool(rng.chance(50)),
            Elem::Scalar(scalar) if scalar.is_float() => {
                ScalarValue::from_float(scalar, number(rng))
            }
            // Indices, and how often a loop runs.
            Elem::Scalar(scalar) => ScalarValue::from_int(scalar, rng.between(4, 7).into()),
        });
        Data::new(ty.elem.repr(), shape, values.collect())
    };
    let params: Vec<Data> = {
        let mut data = data;
        program
            .params
            .iter()
            .map(|param| data(program.ty(param.value)))
            .collect()
    };
    Inputs { sizes, params }
}

/// Functions whose gradients take more than they should, and how much: those that are mended belong
/// here no more.
const DEAR_FUNCTIONS: [(&str, f64); 4] = [
    ("bundle::step", 4.1),
    // What is asked for again by `#[checkpoint]`.
    ("ode_parameters::populations", 7.0),
    ("ode_parameters::squared_residuals", 5.4),
    ("option_greeks::smiles", 4.1),
];

#[test]
fn of_every_function() {
    let (mut compared, mut dear) = (0, Vec::new());
    for function in sources::all() {
        let name = &function.name;
        let program = match function.lowered() {
            Ok(program) => program,
            // One that takes a function of tables is compiled with its callers, which are here, too.
            Err(error) if error.contains("only other `#[pointful]` functions can call") => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let known = DEAR_FUNCTIONS.iter().find(|(dear, _)| dear == name);
        let mut is_dear = false;
        for extent in EXTENTS {
            let ratio = match compare(&program, &inputs(name, &program, extent)) {
                Ok(ratio) => ratio,
                Err(Incomparable::Discrete | Incomparable::Shaped) => continue,
                // The same of one that takes a function of numbers.
                Err(Incomparable::Other(why)) if why.contains("only the caller knows") => continue,
                Err(Incomparable::Other(why)) => {
                    panic!("{name}: {why}; are all its sizes in MADE?")
                }
            };
            compared += 1;
            let line = format!("{ratio}  {name}, extents of {extent}");
            println!("{line}");
            is_dear |= ratio.worst() > ratio.bound();
            if ratio.worst() > known.map_or(ratio.bound(), |known| known.1) {
                dear.push(line);
            }
        }
        if known.is_some() && !is_dear {
            dear.push(format!("{name} is not dear any more"));
        }
    }
    assert!(dear.is_empty(), "{}", dear.join("\n"));
    assert!(compared >= 80, "only {compared} gradients were compared");
}

/// Random programs whose gradients still compute something again at each point: those that are
/// mended belong here no more.
const DEAR: [u64; 2] = [3531, 8133];

/// A random program's gradient, if it can be compared.
fn of_random_program(seed: u64) -> bool {
    let options = Options {
        statements: 40,
        // What loops keep of those is not settled: some gradients reduce again in each step.
        lanes: 0,
        ..Options::default()
    };
    let (program, inputs) = random_point(seed, options);
    // What says nothing, and what is so small that it is all constants.
    let done = run_limited(&expanded(&program), &inputs, STEPS);
    if done.is_err() || done.is_ok_and(|(_, counts)| counts.ops < 100) {
        return false;
    }
    let Ok(ratio) = compare(&program, &inputs) else {
        return false;
    };
    let is_dear = ratio.worst() > ratio.bound();
    assert_eq!(
        is_dear,
        DEAR.contains(&seed),
        "{ratio}  seed {seed}\n{}",
        pointful_compiler::ir::print(&program)
    );
    true
}

#[test]
fn of_random_programs() {
    const SEEDS: std::ops::Range<u64> = 2000..14000;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = |first: u64| {
        let own = (SEEDS.start + first..SEEDS.end).step_by(threads);
        own.filter(|&seed| of_random_program(seed)).count()
    };
    let compared: usize = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads as u64)
            .map(|k| scope.spawn(move || each(k)))
            .collect();
        all.into_iter()
            .map(|thread| thread.join().expect("a gradient that is cheap"))
            .sum()
    });
    assert!(compared >= 100, "only {compared} gradients were compared");
}

/// Whatever the number of inputs: the same function of ever more of them.
#[test]
fn of_ever_more_inputs() {
    let sources = sources::all();
    let function = sources
        .iter()
        .find(|f| f.name == "functions::kmeans_cost")
        .expect("it is in the corpus");
    let program = function.lowered().expect("it compiles");
    let worst = [2, 8, 32].map(|extent| {
        let inputs = inputs(&function.name, &program, extent);
        match compare(&program, &inputs) {
            Ok(ratio) => ratio.worst(),
            Err(why) => panic!("{why:?}"),
        }
    });
    assert!(worst[2] <= worst[0] && worst[2] <= 3.0, "{worst:?}");
}

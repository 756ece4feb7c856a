//! The passes, in order.

use std::time::{Duration, Instant};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::canonicalize::bounds_check_elimination::BOUNDS_CHECK_ELIMINATION;
use crate::canonicalize::cse::{CSE_BULK, CSE_POINT};
use crate::canonicalize::dce::{DCE_BULK, DCE_POINT};
use crate::canonicalize::doall::DOALL;
use crate::canonicalize::owner_computes::OWNER_COMPUTES;
use crate::canonicalize::simplify::{SIMPLIFY_BULK, SIMPLIFY_POINT};
use crate::canonicalize::unroll::UNROLL;
use crate::contract::disjoint_updates::DISJOINT_UPDATES;
use crate::contract::horizontal_fusion::HORIZONTAL_FUSION;
use crate::contract::in_place::IN_PLACE;
use crate::contract::loop_fission::LOOP_FISSION;
use crate::contract::loop_invariants::LOOP_INVARIANTS;
use crate::contract::predicate_updates::{PREDICATE_UPDATES, hands_on};
use crate::contract::scalar_replacement::SCALAR_REPLACEMENT;
use crate::contract::schedule::schedule;
use crate::contract::serialization::SERIALIZATION;
use crate::contract::uniform_values::UNIFORM_VALUES;
use crate::diag::Diagnostic;
use crate::differentiate::{DERIVE, DUAL, RESIDUAL_SLICES, SPARSE, derives, staged};
use crate::expand::{EXPAND, LOOP_INTERCHANGE, RECTANGULAR_HULL};
use crate::interface::{Interface, ParamSource};
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::cpu::Cpu;
use crate::ir::stages::gpu::Gpu;
use crate::ir::stages::kernels::Kernels;
use crate::ir::stages::point::Point;
use crate::ir::{self, Program, Scalar, Verify};
use crate::lower::{Constant, Lowered, float_choices, lower, lower_debug};
use crate::pass::Pass;
use crate::places::Places;
use crate::syntax::tree::{Function, Linked};
use crate::targets::cpu::distribute::DISTRIBUTE;
use crate::targets::cpu::idioms::transpose::TRANSPOSE;
use crate::targets::cpu::loop_skewing::LOOP_SKEWING;
use crate::targets::cpu::multiversioning::MULTIVERSIONING;
use crate::targets::cpu::online_softmax::ONLINE_SOFTMAX;
use crate::targets::cpu::outline::OUTLINE;
use crate::targets::cpu::pack_operands::PACK_OPERANDS;
use crate::targets::cpu::parallelization::PARALLELIZATION;
use crate::targets::cpu::privatize::PRIVATIZE;
use crate::targets::cpu::rust::{self, EmitOptions};
use crate::targets::cpu::serial_version::SERIAL_VERSION;
use crate::targets::cpu::speculate::SPECULATE;
use crate::targets::cpu::split::SPLIT;
use crate::targets::cpu::tiling::TILING;
use crate::targets::cpu::time_tiling::TIME_TILING;
use crate::targets::cpu::vectorize::outer_loop::OUTER_LOOP;
use crate::targets::cpu::vectorize::reductions::REDUCTIONS;
use crate::targets::cpu::vectorize::short_loops::SHORT_LOOPS;
use crate::targets::gpu::{Missing, map};

/// A function at every stage.
#[derive(Clone, Debug)]
pub struct Stages {
    /// What the user wrote.
    pub point: Program<Point>,
    /// Whole arrays over named axes.
    pub bulk: Program<Bulk>,
    /// Loops over buffers.
    pub kernels: Program<Kernels>,
    /// What runs.
    pub cpu: Program<Cpu>,
    /// What runs on devices, or what that would need; nothing where no table lives on one.
    pub gpu: Option<Result<Program<Gpu>, Missing>>,
    /// How it corresponds to the signature.
    pub interface: Interface,
    /// The constants of its module that the function names, with the types that it needs them to
    /// have.
    pub constants: Vec<Constant>,
    /// Places in the source by [`SpanId`](ir::SpanId).
    pub places: Places,
}

/// The body that implements a function.
pub fn emit(stages: &Stages) -> TokenStream {
    let options = EmitOptions {
        places: stages.places.clone(),
        gpu: stages.gpu.clone(),
        ..EmitOptions::new(stages.point.name.clone())
    };
    rust::body(&stages.cpu, &stages.kernels, &stages.interface, &options)
}

/// The body of a linked function, and the constants of its module that it names. What is generic in
/// its float has a body for each of its types.
///
/// # Errors
/// What is wrong with the source.
pub fn compile(linked: &Linked) -> Result<(TokenStream, Vec<Constant>), Vec<Diagnostic>> {
    compile_with(linked, false)
}

/// As [`compile`], for a function that gives its result or the [error](EmitOptions::fallible) that
/// its arguments are.
///
/// # Errors
/// What is wrong with the source.
pub fn compile_fallible(linked: &Linked) -> Result<TokenStream, Vec<Diagnostic>> {
    let (body, _) = compile_with(linked, true)?;
    Ok(quote!(::core::result::Result::Ok({ #body })))
}

fn compile_with(
    linked: &Linked,
    fallible: bool,
) -> Result<(TokenStream, Vec<Constant>), Vec<Diagnostic>> {
    let choices = float_choices(&linked.root);
    let mut bodies = Vec::new();
    let mut rest = None;
    for floats in &choices {
        let (body, interface, constants) = body_at(linked, floats, fallible)?;
        bodies.push(body);
        rest.get_or_insert((interface, constants));
    }
    let bodies = chosen(&linked.root, &choices, bodies);
    let (interface, constants) = rest.unwrap_or_default();
    let body = match &interface.returned {
        Some(params) => quote!(move |#(#params),*| { #bodies }),
        None => bodies,
    };
    Ok((body, constants))
}

/// The body of a linked function with these types for its generic floats, and what it was lowered
/// to beside a program.
fn body_at(
    linked: &Linked,
    floats: &[Option<Scalar>],
    fallible: bool,
) -> Result<(TokenStream, Interface, Vec<Constant>), Vec<Diagnostic>> {
    let trace = &mut Trace::new();
    let Lowered {
        program,
        interface,
        places,
        constants,
        has_debug_form,
    } = lowered(trace, linked, floats)?;
    let name = program.name.clone();
    let point = simplified(trace, program);
    let bulk = expanded(trace, point);
    let Compiled { kernels, cpu, gpu } = compiled(trace, bulk, linked.devices);
    let options = EmitOptions {
        fallible,
        places,
        user: linked.user,
        gpu,
        ..EmitOptions::new(name)
    };
    let mut body = rust::body(&cpu, &kernels, &interface, &options);
    if has_debug_form {
        let Lowered {
            program,
            interface,
            places,
            ..
        } = lower_debug(linked, floats)?;
        let point = simplified(trace, program);
        let bulk = expanded(trace, point);
        let Compiled { kernels, cpu, gpu } = compiled(trace, bulk, linked.devices);
        let options = EmitOptions {
            places,
            gpu,
            ..options
        };
        let trying = rust::body(&cpu, &kernels, &interface, &options);
        // Arms are what may be left out in any place. It is asked how the crate is built that the
        // function stands in.
        body = quote! {
            match () {
                #[cfg(debug_assertions)]
                () => { #trying }
                #[cfg(not(debug_assertions))]
                () => { #body }
            }
        };
    }
    Ok((body, interface, constants))
}

/// The bodies of two functions that a linked `jvp` of `linearize!` is: the value and what is kept,
/// and the tangent, of which `tangents` of the parameters are. None where it has to be one.
///
/// # Errors
/// What is wrong with the source.
pub fn compile_staged(
    linked: &Linked,
    tangents: usize,
) -> Result<Option<[TokenStream; 2]>, Vec<Diagnostic>> {
    let choices = float_choices(&linked.root);
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    for floats in &choices {
        let Some([first, second]) = staged_at(linked, floats, tangents)? else {
            return Ok(None);
        };
        firsts.push(first);
        seconds.push(second);
    }
    let both = [firsts, seconds].map(|bodies| chosen(&linked.root, &choices, bodies));
    Ok(Some(both))
}

/// The bodies with these types for generic floats.
fn staged_at(
    linked: &Linked,
    floats: &[Option<Scalar>],
    tangents: usize,
) -> Result<Option<[TokenStream; 2]>, Vec<Diagnostic>> {
    let both = parted(linked, floats, tangents)?;
    Ok(both.map(|both| {
        both.map(|stages| {
            let options = EmitOptions {
                places: stages.places,
                user: linked.user,
                gpu: stages.gpu,
                ..EmitOptions::new(stages.point.name.clone())
            };
            rust::body(&stages.cpu, &stages.kernels, &stages.interface, &options)
        })
    }))
}

/// The two functions of [`compile_staged`] at every stage; generic floats are `f64`.
///
/// # Errors
/// What is wrong with the source.
pub fn staged_stages(
    linked: &Linked,
    tangents: usize,
) -> Result<Option<[Stages; 2]>, Vec<Diagnostic>> {
    parted(linked, &float_choices(&linked.root)[0], tangents)
}

fn parted(
    linked: &Linked,
    floats: &[Option<Scalar>],
    tangents: usize,
) -> Result<Option<[Stages; 2]>, Vec<Diagnostic>> {
    let trace = &mut Trace::new();
    let lowered = lowered(trace, linked, floats)?;
    let params = &linked.root.params;
    let late = params.iter().skip(params.len() - tangents);
    let late: Vec<String> = late.map(|param| param.name.to_string()).collect();
    let Some([mut first, mut second]) = lowered.interface.staged(&late) else {
        return Ok(None);
    };
    if lowered.has_debug_form {
        return Ok(None);
    }
    let early = (first.params.len(), first.result.leaves());
    let point = simplified(trace, lowered.program);
    let bulk = differentiated(trace, point.clone(), DUAL);
    let Some(staged) = staged(bulk, early) else {
        return Ok(None);
    };
    first.kept = Some(staged.kept);
    // Without tables there is nothing on a device.
    let is_table =
        |source: &ParamSource| matches!(source, ParamSource::Table(_) | ParamSource::Owned(_));
    second.is_given_kept = first.params.iter().any(is_table);
    second
        .params
        .extend((0..staged.kept).map(ParamSource::Kept));
    let programs = [(staged.first, first), (staged.second, second)];
    Ok(Some(programs.map(|(program, interface)| {
        let bulk = tidied(trace, program);
        let Compiled { kernels, cpu, gpu } = compiled(trace, bulk.clone(), linked.devices);
        Stages {
            point: point.clone(),
            bulk,
            kernels,
            cpu,
            gpu,
            interface,
            constants: Vec::new(),
            places: lowered.places.clone(),
        }
    })))
}

/// A body for each choice of the generic floats, as one.
fn chosen(
    function: &Function,
    choices: &[Vec<Option<Scalar>>],
    mut bodies: Vec<TokenStream>,
) -> TokenStream {
    // The choice that is left over needs no question.
    let last = bodies.pop().unwrap_or_default();
    if bodies.is_empty() {
        return last;
    }
    let asked = choices.iter().zip(bodies).map(|(floats, body)| {
        let condition = choose(function, floats);
        quote!(if #condition { #body } else)
    });
    quote!(#(#asked)* { #last })
}

/// Whether the generic floats are these: a condition that rustc knows for each instance.
fn choose(function: &Function, floats: &[Option<Scalar>]) -> TokenStream {
    let generics = function.generics.iter().zip(floats);
    let conditions = generics.filter_map(|(generic, float)| {
        let (name, float) = (
            &generic.name,
            Ident::new((*float)?.name(), Span::call_site()),
        );
        Some(quote!(::pointful::__private::kernel::is::<#name, ::core::primitive::#float>()))
    });
    quote!(#(#conditions)&&*)
}

/// A linked function at every stage; its generic floats are `f64`.
///
/// # Errors
/// What is wrong with the source.
pub fn stages(linked: &Linked) -> Result<Stages, Vec<Diagnostic>> {
    let trace = &mut Trace::new();
    let Lowered {
        program,
        interface,
        constants,
        places,
        ..
    } = lowered(trace, linked, &float_choices(&linked.root)[0])?;
    Ok(Stages {
        constants,
        places,
        ..run_for(trace, program, interface, linked.devices)
    })
}

/// What a linked function is in Point, with these types for its generic floats.
fn lowered(
    trace: &mut Trace,
    linked: &Linked,
    floats: &[Option<Scalar>],
) -> Result<Lowered, Vec<Diagnostic>> {
    let lowered = lower(linked, floats)?;
    trace.arrived("lower", &lowered.program, Duration::ZERO);
    Ok(lowered)
}

/// A Point program at every stage.
pub fn run(trace: &mut Trace, program: Program<Point>, interface: Interface) -> Stages {
    run_for(trace, program, interface, false)
}

/// The same, where tables may live on devices.
fn run_for(
    trace: &mut Trace,
    program: Program<Point>,
    interface: Interface,
    devices: bool,
) -> Stages {
    let point = simplified(trace, program);
    let bulk = expanded(trace, point.clone());
    let Compiled { kernels, cpu, gpu } = compiled(trace, bulk.clone(), devices);
    Stages {
        point,
        bulk,
        kernels,
        cpu,
        gpu,
        interface,
        constants: Vec::new(),
        places: Places::default(),
    }
}

/// Before axes are looked for, because every read is a reason for two axes to be the same. Loops over
/// a few members take their own branches; which iterations share a table is seen once two places that
/// are one are one value.
pub(crate) fn simplified(trace: &mut Trace, point: Program<Point>) -> Program<Point> {
    let point = trace.pass(SIMPLIFY_POINT, point);
    let point = made(trace, UNROLL, point, &[SIMPLIFY_POINT]);
    let tidy = [CSE_POINT, DCE_POINT];
    let point = tidy
        .into_iter()
        .fold(point, |point, pass| trace.pass(pass, point));
    let tidy = [SIMPLIFY_POINT, CSE_POINT, DCE_POINT];
    let point = made(trace, BOUNDS_CHECK_ELIMINATION, point, &tidy);
    let point = made(trace, DOALL, point, &tidy);
    made(trace, OWNER_COMPUTES, point, &tidy)
}

/// A pass and, if it has made anything, what tidies that.
fn made(
    trace: &mut Trace,
    pass: Pass<Point>,
    point: Program<Point>,
    tidy: &[Pass<Point>],
) -> Program<Point> {
    let before = point.values.len();
    let point = trace.pass(pass, point);
    let tidy = if before == point.values.len() {
        &[]
    } else {
        tidy
    };
    tidy.iter()
        .fold(point, |point, pass| trace.pass(*pass, point))
}

/// Expands, differentiates, and tidies what that has left. Lifting makes one definition of
/// everything that was the same in several loops.
fn expanded(trace: &mut Trace, point: Program<Point>) -> Program<Bulk> {
    differentiated(trace, point, DERIVE)
}

/// The same, with derivatives taken by this pass.
fn differentiated(trace: &mut Trace, point: Program<Point>, derive: Pass<Bulk>) -> Program<Bulk> {
    let bulk = trace.pass(EXPAND, point);
    let bulk = tidied(trace, bulk);
    let bulk = rectangular(trace, bulk);
    let bulk = interchanged(trace, bulk);
    if !derives(&bulk.body) {
        return bulk;
    }
    let bulk = trace.pass(derive, bulk);
    let bulk = tidied(trace, bulk);
    let bulk = trace.pass(SPARSE, bulk);
    let bulk = tidied(trace, bulk);
    trace.pass(RESIDUAL_SLICES, bulk)
}

/// Triangular loops that are products of matrices, before anything is differentiated.
fn rectangular(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Bulk> {
    let extents = |bulk: &Program<Bulk>| bulk.decls.axes.iter().map(|axis| axis.extent).collect();
    let before: Vec<_> = extents(&bulk);
    let bulk = trace.pass(RECTANGULAR_HULL, bulk);
    match before == extents(&bulk) {
        true => bulk,
        false => tidied(trace, bulk),
    }
}

/// Loops at each point of what their steps compute point by point, which derivatives keep less of.
fn interchanged(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Bulk> {
    let interchanged = trace.pass(LOOP_INTERCHANGE, bulk.clone());
    if interchanged.body == bulk.body {
        return bulk;
    }
    tidied(trace, interchanged)
}

/// What loops change where a condition holds is one table, and not one more to choose between.
fn handed_on(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Bulk> {
    let handed = trace.pass(PREDICATE_UPDATES, bulk.clone());
    if handed.body == bulk.body {
        return bulk;
    }
    tidied(trace, handed)
}

/// What loops compute alike in all of their lanes, outside of these.
fn uniform(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Bulk> {
    let values = bulk.values.len();
    let bulk = trace.pass(UNIFORM_VALUES, bulk);
    match bulk.values.len() == values {
        true => bulk,
        false => tidied(trace, bulk),
    }
}

/// What runs, and the kernels of the host's processor from which that has come.
struct Compiled {
    kernels: Program<Kernels>,
    cpu: Program<Cpu>,
    gpu: Option<Result<Program<Gpu>, Missing>>,
}

/// Contracts, for the host's processor and for devices.
fn compiled(trace: &mut Trace, bulk: Program<Bulk>, devices: bool) -> Compiled {
    let kernels = scheduled(trace, bulk);
    let gpu = devices.then(|| mapped(trace, kernels.clone()));
    let passes = OVER_KERNELS.into_iter();
    let kernels = passes.fold(kernels, |kernels, pass| trace.pass(pass, kernels));
    let cpu = targeted(trace, kernels.clone());
    Compiled { kernels, cpu, gpu }
}

/// What the threads of a device do.
fn mapped(trace: &mut Trace, kernels: Program<Kernels>) -> Result<Program<Gpu>, Missing> {
    let kernels = for_devices(trace, kernels);
    let start = Instant::now();
    let gpu = map(kernels)?;
    trace.arrived("map", &gpu, start.elapsed());
    Ok(gpu)
}

/// Kernels as they are mapped.
pub(crate) fn for_devices(trace: &mut Trace, kernels: Program<Kernels>) -> Program<Kernels> {
    let passes = FOR_DEVICES.into_iter();
    passes.fold(kernels, |kernels, pass| trace.pass(pass, kernels))
}

/// Schedules.
pub fn scheduled(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Kernels> {
    let bulk = if hands_on(&bulk.body) {
        handed_on(trace, bulk)
    } else {
        bulk
    };
    let bulk = uniform(trace, bulk);
    trace.pass(SCHEDULE, bulk)
}

/// What a processor does.
pub(crate) fn targeted(trace: &mut Trace, kernels: Program<Kernels>) -> Program<Cpu> {
    let cpu = trace.pass(OUTLINE, kernels);
    let passes = OVER_CPU.into_iter();
    passes.fold(cpu, |cpu, pass| trace.pass(pass, cpu))
}

/// Simple, without what is computed twice or for nobody.
fn tidied(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Bulk> {
    let bulk = trace.pass(SIMPLIFY_BULK, bulk);
    let bulk = trace.pass(CSE_BULK, bulk);
    trace.pass(DCE_BULK, bulk)
}

/// What is done with kernels before they are outlined, in order.
pub const OVER_KERNELS: [Pass<Kernels>; 14] = [
    HORIZONTAL_FUSION,
    SERIALIZATION,
    PARALLELIZATION,
    SCALAR_REPLACEMENT,
    TILING,
    LOOP_INVARIANTS,
    LOOP_FISSION,
    PACK_OPERANDS,
    IN_PLACE,
    DISJOINT_UPDATES,
    SERIAL_VERSION,
    ONLINE_SOFTMAX,
    LOOP_SKEWING,
    DISTRIBUTE,
];

/// What is done with kernels before they are mapped to the threads of a device, in order: what does
/// not depend on the caches and vectors of a processor.
pub const FOR_DEVICES: [Pass<Kernels>; 6] = [
    HORIZONTAL_FUSION,
    SCALAR_REPLACEMENT,
    LOOP_INVARIANTS,
    LOOP_FISSION,
    IN_PLACE,
    DISJOINT_UPDATES,
];

/// What a processor does before it is emitted, in order.
pub const OVER_CPU: [Pass<Cpu>; 9] = [
    SPLIT,
    SHORT_LOOPS,
    OUTER_LOOP,
    REDUCTIONS,
    SPECULATE,
    TIME_TILING,
    PRIVATIZE,
    TRANSPOSE,
    MULTIVERSIONING,
];

/// Scheduling as a pass.
const SCHEDULE: Pass<Bulk, Kernels> = Pass {
    name: "schedule",
    about: "contract definitions into fused loops over buffers",
    run: schedule,
};

/// What is done with the program after each pass, besides handing it on.
#[derive(Debug, Default)]
pub struct Trace {
    /// It is printed, with the time that it took, after the pass of this name, or after `all`.
    dump: Option<String>,
    /// It is verified, which takes as long as a fifth of all passes.
    verifies: bool,
}

impl Trace {
    /// As the environment says: `POINTFUL_DUMP` names a pass, and debug builds verify if
    /// `POINTFUL_VERIFY` is there; those for tests always do.
    pub fn new() -> Self {
        let asked =
            cfg!(any(test, feature = "testing")) || std::env::var_os("POINTFUL_VERIFY").is_some();
        Self {
            dump: std::env::var("POINTFUL_DUMP").ok(),
            verifies: cfg!(debug_assertions) && asked,
        }
    }

    /// Runs a pass.
    pub fn pass<A: Verify, B: Verify>(
        &mut self,
        pass: Pass<A, B>,
        program: Program<A>,
    ) -> Program<B> {
        let start = Instant::now();
        let after = (pass.run)(program);
        self.arrived(pass.name, &after, start.elapsed());
        after
    }

    fn arrived<S: Verify>(&mut self, pass: &'static str, program: &Program<S>, time: Duration) {
        let dump = self.dump.as_deref();
        if dump.is_some_and(|dump| dump == "all" || dump == pass) {
            eprintln!(
                "---- {} after {pass}, {time:?}\n{}",
                S::NAME,
                ir::print(program)
            );
        }
        if self.verifies {
            ir::verify_after(pass, program);
        }
    }
}

//! The passes, in order.

use std::time::{Duration, Instant};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::diag::Diagnostic;
use crate::emit::{self, EmitOptions};
use crate::interface::Interface;
use crate::ir::stages::bulk::Bulk;
use crate::ir::stages::kernels::Kernels;
use crate::ir::stages::point::Point;
use crate::ir::{self, Program, Scalar, Verify};
use crate::lower::{Constant, Lowered, float_choices, lower};
use crate::passes::Pass;
use crate::passes::ad::{DERIVE, SPARSE, derives};
use crate::passes::ahead::AHEAD;
use crate::passes::bulk::BULK;
use crate::passes::cse::{CSE_BULK, CSE_POINT};
use crate::passes::dce::{DCE_BULK, DCE_POINT};
use crate::passes::factors::FACTORS;
use crate::passes::fission::FISSION;
use crate::passes::hand_on::HAND_ON;
use crate::passes::in_place::IN_PLACE;
use crate::passes::invariants::INVARIANTS;
use crate::passes::join::JOIN;
use crate::passes::online::ONLINE;
use crate::passes::owned::OWNED;
use crate::passes::registers::REGISTERS;
use crate::passes::schedule::schedule;
use crate::passes::simplify::{SIMPLIFY_BULK, SIMPLIFY_POINT};
use crate::passes::tiles::TILES;
use crate::syntax::tree::{Function, Linked};

/// A function at every stage.
#[derive(Clone, Debug)]
pub struct Stages {
    /// What the user wrote.
    pub point: Program<Point>,
    /// Whole arrays over named axes.
    pub bulk: Program<Bulk>,
    /// What runs.
    pub kernels: Program<Kernels>,
    /// How it corresponds to the signature.
    pub interface: Interface,
    /// The constants of its module that the function names, with the types that it needs them to have.
    pub constants: Vec<Constant>,
    /// Places in the source by [`SpanId`](ir::SpanId).
    pub spans: Vec<Span>,
}

/// The body that implements a function.
pub fn emit(stages: &Stages) -> TokenStream {
    emit_with(stages, false)
}

/// The same, in a function that gives a `Result` if it is `fallible`.
fn emit_with(stages: &Stages, fallible: bool) -> TokenStream {
    let options = EmitOptions {
        fallible,
        ..EmitOptions::new(stages.point.name.clone())
    };
    emit::rust(&stages.kernels, &stages.interface, &options)
}

/// The body of a linked function, and the constants of its module that it names. What is generic in its float has a body for each of its types.
///
/// # Errors
/// What is wrong with the source.
pub fn compile(linked: &Linked) -> Result<(TokenStream, Vec<Constant>), Vec<Diagnostic>> {
    compile_with(linked, false)
}

/// As [`compile`], for a function that gives its result or the [error](EmitOptions::fallible) that its arguments are.
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
    let emit = |stages: &Stages| emit_with(stages, fallible);
    let mut choices = float_choices(&linked.root);
    let first = choices.remove(0);
    let stages = stages_at(linked, &first)?;
    let mut bodies = emit(&stages);
    // The choice that is left over needs no question.
    if let Some(last) = choices.pop() {
        let condition = choose(&linked.root, &first);
        bodies = quote!(if #condition { #bodies } else);
        for floats in &choices {
            let condition = choose(&linked.root, floats);
            let body = emit(&stages_at(linked, floats)?);
            bodies.extend(quote!(if #condition { #body } else));
        }
        let body = emit(&stages_at(linked, &last)?);
        bodies.extend(quote!({ #body }));
    }
    let body = match &stages.interface.returned {
        Some(params) => quote!(move |#(#params),*| { #bodies }),
        None => bodies,
    };
    Ok((body, stages.constants))
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
    stages_at(linked, &float_choices(&linked.root)[0])
}

/// With these types for its generic floats.
fn stages_at(linked: &Linked, floats: &[Option<Scalar>]) -> Result<Stages, Vec<Diagnostic>> {
    let trace = &mut Trace::new();
    let Lowered {
        program,
        interface,
        constants,
        spans,
    } = lower(linked, floats)?;
    trace.arrived("lower", &program, Duration::ZERO);
    let stages = run(trace, program, interface);
    Ok(Stages {
        constants,
        spans,
        ..stages
    })
}

/// A Point program at every stage.
pub fn run(trace: &mut Trace, program: Program<Point>, interface: Interface) -> Stages {
    // Before axes are looked for, because every read is a reason for two axes to be the same.
    let point = trace.pass(SIMPLIFY_POINT, program);
    let point = trace.pass(CSE_POINT, point);
    let point = trace.pass(DCE_POINT, point);

    // Expand. Lifting makes one definition of everything that was the same in several loops.
    let bulk = trace.pass(BULK, point.clone());
    let bulk = tidied(trace, bulk);

    // Differentiate, and tidy what that has left.
    let bulk = if derives(&bulk.body) {
        let bulk = trace.pass(DERIVE, bulk);
        let bulk = tidied(trace, bulk);
        let bulk = trace.pass(SPARSE, bulk);
        tidied(trace, bulk)
    } else {
        bulk
    };

    // Contract. What loops change where a condition holds is one table, and not one more to choose between.
    let handed = trace.pass(HAND_ON, bulk.clone());
    let handed = if handed.body == bulk.body {
        handed
    } else {
        let handed = trace.pass(SIMPLIFY_BULK, handed);
        trace.pass(DCE_BULK, handed)
    };
    let kernels = trace.pass(SCHEDULE, handed);
    let kernels = trace.pass(JOIN, kernels);
    let kernels = trace.pass(REGISTERS, kernels);
    let kernels = trace.pass(TILES, kernels);
    let kernels = trace.pass(INVARIANTS, kernels);
    let kernels = trace.pass(FISSION, kernels);
    let kernels = trace.pass(FACTORS, kernels);
    let kernels = trace.pass(IN_PLACE, kernels);
    let kernels = trace.pass(OWNED, kernels);
    let kernels = trace.pass(ONLINE, kernels);
    let kernels = trace.pass(AHEAD, kernels);
    Stages {
        point,
        bulk,
        kernels,
        interface,
        constants: Vec::new(),
        spans: Vec::new(),
    }
}

/// Simple, without what is computed twice or for nobody.
fn tidied(trace: &mut Trace, bulk: Program<Bulk>) -> Program<Bulk> {
    let bulk = trace.pass(SIMPLIFY_BULK, bulk);
    let bulk = trace.pass(CSE_BULK, bulk);
    trace.pass(DCE_BULK, bulk)
}

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
    /// As the environment says: `POINTFUL_DUMP` names a pass, and debug builds verify if `POINTFUL_VERIFY` is there; those for tests always do.
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

//! Steps of a loop of the host that are kernels over the same rows: several of them are run at
//! once, a tile of rows at a time.
//!
//! ```text
//! for t: T {                                      let views = (u.out(), v.out());
//!   par i: I, j: J { … u[i ± 1, …] … store v }    launch_steps(Steps { … }, |step, kernel, here| {
//!   swap u, v                              ▶          let (u, v) = if step % 2 == 0 { (views.0, views.1) } else { (views.1, views.0) };
//! }                                                   here.run(j, Work { … }, &K1 { u: here.window(u, j), u_first: here.first(j), v });
//!                                                 });
//!                                                 if t % 2 == 1 { swap(&mut u, &mut v); }
//! ```
//!
//! A row is what belongs to one index of the kernels' first axis. The runtime runs kernels out of
//! order: some rows are steps ahead of others. That is no difference as long as a kernel writes in
//! its own rows, and reads what these kernels write not far from there. How far is found out from
//! the indices: neighbours by constants, whatever is done about them at the ends but counting
//! around.
//!
//! Cpu that follow each other without a loop are [one such step](sequence): products of
//! matrices with what is made of them, row by row, before a cache has forgotten it.

mod sequence;
mod uses;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::ToTokens;

pub(super) use self::sequence::{Part, parts};
use self::uses::{Place, Uses};
use super::body::Body;
use super::copies::{Copies, merge_on_host};
use super::unit::{Unit, usize_literal};
use super::{kernel, tokens, work};
use crate::analysis::effects::{for_each_length, is_pure};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Extent, Operation, Stmt, ValueId, ValueSet};

/// Rows of a product of matrices that are better computed together, so that packing the other
/// factor costs little beside multiplying by it: in a loop, before which that is
/// [written down](crate::targets::cpu::pack_operands) as the library wants it, and once.
const TOGETHER: u64 = 32;
const TOGETHER_ONCE: u64 = 128;

/// Steps that may be run at once.
#[derive(Debug)]
pub(crate) struct Plan<'p> {
    /// Their index; of a sequence there is one step, and none.
    step: Option<ValueId>,
    /// The extent of all kernels' first axis.
    pub(crate) rows: Extent,
    /// How many rows away a kernel reads of what these kernels write.
    pub(crate) reach: u64,
    /// Buffers of a step, which may as well be those of the step before; of a sequence also what is
    /// computed for the kernels.
    made: Vec<&'p Stmt<Cpu>>,
    /// What is computed in each step for the kernels.
    before: Vec<&'p Stmt<Cpu>>,
    /// Parallel loops and contractions.
    pub(crate) kernels: Vec<&'p Stmt<Cpu>>,
    /// What is done with what is accumulated, once all steps have run, in the order of the steps;
    /// among it the kernels that accumulate.
    after: Vec<&'p Stmt<Cpu>>,
    /// Buffers that change places after each step.
    pairs: Vec<(ValueId, ValueId)>,
    /// Buffers that the steps write, and the axis that the kernels' first goes along: 0, or 1 if
    /// the one before it goes along the steps.
    pub(crate) written: BTreeMap<ValueId, usize>,
}

/// Whether the body of a loop of the host is such steps.
pub(super) fn plan<'p>(unit: &Unit<'_>, body: &'p Block<Cpu>) -> Option<Plan<'p>> {
    if !unit.functions.is_empty() {
        return None;
    }
    let step = *body.params.first()?;
    let mut plan = Plan::new(Some(step));
    let mut uses = Vec::new();
    // What is known only after the kernels.
    let mut late = ValueSet::new();
    for stmt in &body.stmts {
        let operands = stmt.op.operands();
        let is_late = operands.iter().any(|value| late.contains(value));
        match &stmt.op {
            CpuOp::Alloc { fill: None } => plan.made.push(stmt),
            CpuOp::Own(Own::Par(_)) | CpuOp::Contract { .. } if plan.pairs.is_empty() => {
                let (rows, own) = Uses::of(unit, stmt, Some(step))?;
                if !plan.kernels.is_empty() && rows != plan.rows {
                    return None;
                }
                plan.rows = rows;
                plan.kernels.push(stmt);
                if own.accumulates {
                    late.extend(copies(stmt).accs.iter().map(|acc| acc.target));
                    plan.after.push(stmt);
                }
                uses.push(own);
            }
            CpuOp::Swap(a, b) => {
                let swapped =
                    |&(c, d): &(ValueId, ValueId)| [c, d].iter().any(|x| x == a || x == b);
                if plan.pairs.iter().any(swapped) {
                    return None;
                }
                plan.pairs.push((*a, *b));
            }
            CpuOp::Var(_) | CpuOp::Get(_) => {
                late.extend(&stmt.results);
                plan.after.push(stmt);
            }
            CpuOp::Set { place, .. } => {
                late.insert(*place);
                plan.after.push(stmt);
            }
            _ if !is_pure(unit.program, stmt) => return None,
            _ if is_late => {
                late.extend(&stmt.results);
                plan.after.push(stmt);
            }
            _ => plan.before.push(stmt),
        }
    }
    // How much there is to do is known before the loop.
    let bound: ValueSet = body
        .stmts
        .iter()
        .flat_map(|stmt| &stmt.results)
        .chain(&body.params)
        .copied()
        .collect();
    let is_known = |stmt: &&Stmt<Cpu>| !has_extent(unit, stmt, &bound);
    let fits = !plan.kernels.is_empty()
        && plan.fits(unit, &uses)
        && plan.made.iter().chain(&plan.kernels).all(is_known)
        && uses.iter().filter(|uses| uses.accumulates).count()
            == usize::from(!plan.after.is_empty())
        && uses.iter().all(|uses| uses.asked.is_disjoint(&late))
        && !plan.asks_beside_kernels();
    fits.then_some(plan)
}

/// Whether a statement has an extent, at any depth, that is one of these values.
fn has_extent(unit: &Unit<'_>, stmt: &Stmt<Cpu>, values: &ValueSet) -> bool {
    let is_one = |extent: Extent| matches!(unit.resolve(extent), Extent::Value(value) if values.contains(&value));
    let mut has = stmt
        .op
        .reads_any(|operand| unit.dims(operand).iter().copied().any(is_one));
    for_each_length(unit.program, stmt, &mut |length| {
        has |= is_one(Extent::Value(length))
    });
    let mut inner = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
    has || inner.any(|stmt| has_extent(unit, stmt, values))
}

/// A loop of so many steps.
pub(super) fn emit(
    emit: &mut Body<'_>,
    plan: &Plan<'_>,
    index: ValueId,
    steps: Extent,
    reverse: bool,
) -> TokenStream {
    let unit = emit.unit;
    let (steps, index) = (
        unit.extent(steps).into_token_stream(),
        unit.names.value(index),
    );
    let step = if reverse {
        tokens!(#steps - 1 - step)
    } else {
        tokens!(step)
    };
    let before = emit.block_of(&plan.before);
    let each = tokens!(let #index = #step; #before);
    let (views, launched) = launch(emit, plan, &steps, &each);
    let launched = if plan.after.is_empty() {
        tokens!(#launched;)
    } else {
        let after = after(emit, plan, |found| tokens!(let #found = found;));
        tokens! {
            for (step, found) in ::core::iter::Iterator::enumerate(::core::iter::IntoIterator::into_iter(#launched)) {
                #each
                #after
            }
        }
    };
    let swaps = plan.pairs.iter().map(|(a, b)| {
        let (a, b) = (unit.names.value(*a), unit.names.value(*b));
        tokens!(::core::mem::swap(&mut #a, &mut #b);)
    });
    let swaps = (!plan.pairs.is_empty()).then(|| tokens!(if #steps % 2 == 1 { #(#swaps)* }));
    tokens!(#views #launched #swaps)
}

/// A [sequence], and what is put off.
pub(super) fn emit_once(emit: &mut Body<'_>, plan: &Plan<'_>) -> TokenStream {
    let (views, launched) = launch(emit, plan, &usize_literal(1), &TokenStream::new());
    let launched = if plan.sums().next().is_some() {
        tokens!(let mut sums = ::core::iter::IntoIterator::into_iter(#launched);)
    } else {
        tokens!(#launched;)
    };
    let after = after(emit, plan, |found| {
        tokens! {
            let ::core::option::Option::Some(#found) = ::core::iter::Iterator::next(&mut sums) else {
                ::core::unreachable!()
            };
        }
    });
    tokens!(#views #launched #after)
}

/// What comes before the steps; and all of them, each of which begins with these statements.
fn launch(
    emit: &mut Body<'_>,
    plan: &Plan<'_>,
    steps: &impl ToTokens,
    each: &TokenStream,
) -> (TokenStream, TokenStream) {
    let unit = emit.unit;
    let made = emit.block_of(&plan.made);
    let outside = emit.by_views(plan.written.keys());
    let name = |buffer: &ValueId| unit.names.value(*buffer).clone();
    let names: Vec<_> = plan.written.keys().map(name).collect();
    let place = |buffer: &ValueId| {
        let at = plan.written.keys().position(|other| other == buffer);
        at.map(kernel::tuple_field)
    };
    let partner = |buffer: &ValueId| {
        let mut pairs = plan.pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        pairs.find(|(a, _)| a == buffer).map_or(*buffer, |(_, b)| b)
    };
    let even = plan.written.keys().map(place);
    let odd = plan.written.keys().map(|buffer| place(&partner(buffer)));
    let views = if plan.pairs.is_empty() {
        tokens!(let (#(#names,)*) = views;)
    } else {
        tokens!(let (#(#names,)*) = if step % 2 == 0 { (#(views.#even,)*) } else { (#(views.#odd,)*) };)
    };
    let (sums, mut slot) = (plan.sums().count(), 0);
    let (mut row_work, mut acc_bytes) = (tokens!(0u64), tokens!(0u64));
    let mut runs = TokenStream::new();
    for (number, stmt) in plan.kernels.iter().enumerate() {
        let (run, work) = kernel_in_rows(emit, stmt, plan);
        row_work.extend(tokens!(.saturating_add(#work)));
        let pattern = if number + 1 == plan.kernels.len() {
            tokens!(_)
        } else {
            usize_literal(number as u64).into_token_stream()
        };
        runs.extend(if plan.is_sum(stmt) {
            let bytes = kernel::acc_bytes(unit, copies(stmt));
            acc_bytes.extend(tokens!(.saturating_add(#bytes)));
            let found = in_slot(slot, sums, &run, &tokens!(::core::option::Option::None));
            slot += 1;
            tokens!(#pattern => ::core::option::Option::Some(#found),)
        } else if sums > 0 {
            tokens!(#pattern => { #run; ::core::option::Option::None })
        } else {
            tokens!(#pattern => #run,)
        });
    }
    emit.reach_as(outside);
    let bytes = plan.written.keys().map(|&buffer| {
        let row = plan.row(unit, buffer);
        let bytes = usize_literal(unit.scalar(buffer).bytes());
        tokens!(.saturating_add(#row.saturating_mul(#bytes)))
    });
    let is_product = |stmt: &&Stmt<Cpu>| matches!(stmt.op, CpuOp::Contract { .. });
    let together = match plan.step {
        _ if !plan.kernels.iter().any(is_product) => 1,
        Some(_) => TOGETHER,
        None => TOGETHER_ONCE,
    };
    let [kernels, reach, together] =
        [plan.kernels.len() as u64, plan.reach, together].map(usize_literal);
    let rows = unit.extent(plan.rows);
    let (launch, merge) = if sums == 0 {
        (tokens!(launch_steps), TokenStream::new())
    } else {
        let merge = merge(unit, plan);
        (tokens!(accumulate_steps), tokens!(, #merge))
    };
    let step = if plan.step.is_some() {
        tokens!(step)
    } else {
        tokens!(_)
    };
    let launched = tokens! {
        #launch(
            Steps {
                steps: #steps,
                kernels: #kernels,
                rows: #rows,
                reach: #reach,
                row_work: #row_work,
                row_bytes: (0usize #(#bytes)*) as u64,
                acc_bytes: #acc_bytes,
                together: #together,
            },
            |#step, kernel, here| {
                #views
                #each
                match kernel { #runs }
            }
            #merge
        )
    };
    let views = tokens! {
        #made
        let views = (#(#names.out(),)*);
    };
    (views, launched)
}

/// What is done once all steps have run. `bind` binds a pattern to what a kernel has accumulated.
fn after(
    emit: &mut Body<'_>,
    plan: &Plan<'_>,
    bind: impl Fn(TokenStream) -> TokenStream,
) -> TokenStream {
    let mut sums = plan.sums().enumerate();
    let count = plan.sums().count();
    let mut emitted = TokenStream::new();
    for others in plan.after() {
        emitted.extend(emit.block_of(others));
        let Some((slot, sum)) = sums.next() else {
            break;
        };
        let copies = copies(sum);
        let privates = copies.all().map(|(_, own, _)| emit.unit.names.value(own));
        let found = in_slot(slot, count, &tokens!((#(#privates,)*)), &tokens!(_));
        let bound = bind(found);
        let merged = merge_on_host(emit, copies);
        emitted.extend(tokens!(#bound #merged));
    }
    emitted
}

/// What one of several kernels that accumulate gives: of the others nothing.
fn in_slot(slot: usize, count: usize, found: &TokenStream, nothing: &TokenStream) -> TokenStream {
    if count == 1 {
        return found.clone();
    }
    let slots = (0..count).map(|other| match other == slot {
        true => tokens!(::core::option::Option::Some(#found)),
        false => nothing.clone(),
    });
    tokens!((#(#slots,)*))
}

/// A function that merges what kernels accumulate.
fn merge(unit: &Unit<'_>, plan: &Plan<'_>) -> TokenStream {
    let sums: Vec<_> = plan
        .sums()
        .map(|sum| kernel::merged(unit, copies(sum)))
        .collect();
    if let [(ty, joined)] = sums.as_slice() {
        return tokens!(|earlier: &mut #ty, later: #ty| { #joined });
    }
    let types = sums
        .iter()
        .map(|(ty, _)| tokens!(::core::option::Option<#ty>));
    let types = tokens!((#(#types,)*));
    let joined = sums.iter().enumerate().map(|(slot, (_, joined))| {
        let slot = kernel::tuple_field(slot);
        tokens! {
            if let (::core::option::Option::Some(earlier), ::core::option::Option::Some(later)) = (&mut earlier.#slot, later.#slot) {
                #joined
            }
        }
    });
    tokens!(|earlier: &mut #types, later: #types| { #(#joined)* })
}

/// What a kernel accumulates.
fn copies(stmt: &Stmt<Cpu>) -> Copies<'_> {
    match &stmt.op {
        CpuOp::Own(Own::Par(par)) => Copies::of(par),
        _ => Copies {
            accs: &[],
            folds: &[],
        },
    }
}

/// A kernel in some rows, and what it costs for each of them.
fn kernel_in_rows(
    emit: &mut Body<'_>,
    stmt: &Stmt<Cpu>,
    plan: &Plan<'_>,
) -> (TokenStream, TokenStream) {
    let unit = emit.unit;
    match &stmt.op {
        CpuOp::Own(Own::Par(par)) => {
            let points = unit.product(&par.extents[1..]);
            let per_point = unit.work(par);
            let acc_bytes = kernel::acc_bytes(unit, copies(stmt));
            let kernel = kernel::declare(emit, par, Some(plan));
            let run = tokens!(here.run(#points, Work { per_point: #per_point, acc_bytes: #acc_bytes }, &#kernel));
            (run, tokens!((#points as u64).saturating_mul(#per_point)))
        }
        CpuOp::Contract {
            out,
            factors,
            along,
            add,
            absorb,
        } => {
            // Of what has a place for each step only that takes part.
            let skipped = |array: &ValueId| plan.written.get(array).copied().unwrap_or(0);
            let dims = [out, &factors[0], &factors[1]].into_iter().zip(along);
            let dims = dims.map(|(array, along)| emit.contracted(*array, along, skipped(array)));
            let dims = tokens!([#(#dims),*]);
            let factors = factors.iter().map(|factor| {
                if plan.written.contains_key(factor) {
                    let window = plan.window(unit, *factor);
                    tokens!((#window, true))
                } else {
                    let slice = emit.slice(*factor);
                    tokens!((#slice, false))
                }
            });
            let out = plan.view(unit, *out);
            let contract = if *absorb {
                tokens!(contract_absorb)
            } else {
                tokens!(contract)
            };
            let run = tokens!(here.#contract(#out, [#(#factors),*], #dims, #add));
            (run, work::contraction_per_row(unit, stmt))
        }
        other => unreachable!("no kernel: {other:?}"),
    }
}

impl<'p> Plan<'p> {
    fn new(step: Option<ValueId>) -> Self {
        Self {
            step,
            rows: Extent::Const(0),
            reach: 0,
            made: Vec::new(),
            before: Vec::new(),
            kernels: Vec::new(),
            after: Vec::new(),
            pairs: Vec::new(),
            written: BTreeMap::new(),
        }
    }

    /// Whether kernels that use buffers so may run out of order. Notes which of them they write,
    /// and how far away they read.
    fn fits(&mut self, unit: &Unit<'_>, uses: &[Uses]) -> bool {
        let swapped = self.pairs.iter().flat_map(|&(a, b)| [(a, 0), (b, 0)]);
        let written = uses.iter().flat_map(|uses| uses.written.iter());
        let written = written.map(|(&buffer, &(axis, _))| (buffer, axis));
        self.written.clear();
        for (buffer, axis) in swapped.chain(written) {
            if *self.written.entry(buffer).or_insert(axis) != axis {
                return false;
            }
        }
        let near = |(buffer, (_, reach)): (&ValueId, &(usize, Option<u64>))| {
            let is_written = self.written.contains_key(buffer);
            reach.filter(|_| is_written).unwrap_or(0)
        };
        let reaches = uses.iter().flat_map(|uses| uses.read.iter().map(near));
        self.reach = reaches.max().unwrap_or(0);
        let is_read = |buffer: &ValueId| {
            self.pairs.iter().any(|(a, b)| a == buffer || b == buffer)
                || uses.iter().any(|uses| uses.read.contains_key(buffer))
        };
        let has_rows = |buffer: &ValueId| {
            let rows = unit.dims(*buffer).get(self.written[buffer]);
            rows.is_some_and(|&rows| unit.resolve(rows) == self.rows)
        };
        uses.iter().all(|uses| {
            let in_place = |buffer| uses.written.contains_key(buffer);
            uses.written.iter().all(|(buffer, (_, place))| match place {
                Place::First => has_rows(buffer),
                Place::Row => !is_read(buffer),
            }) && uses.read.iter().all(|(buffer, (axis, reach))| {
                let Some(written) = self.written.get(buffer) else {
                    return true;
                };
                let near = reach.is_some_and(|reach| reach == 0 || !in_place(buffer));
                near && written == axis && has_rows(buffer)
            })
        })
    }

    /// Whether one of the kernels accumulates.
    fn is_sum(&self, stmt: &Stmt<Cpu>) -> bool {
        !copies(stmt).is_empty()
            && self
                .kernels
                .iter()
                .any(|kernel| std::ptr::eq(*kernel, stmt))
    }

    /// What comes after the kernels: before the first of those that accumulate is merged, and after
    /// each of them.
    pub(super) fn after(&self) -> impl Iterator<Item = &[&'p Stmt<Cpu>]> {
        self.after.split(|stmt| self.is_sum(stmt))
    }

    /// Those that do.
    fn sums(&self) -> impl Iterator<Item = &'p Stmt<Cpu>> {
        self.kernels
            .iter()
            .copied()
            .filter(|stmt| !copies(stmt).is_empty())
    }

    /// Whether what is done before all steps or after them asks for what they write, which differs
    /// from step to step.
    fn asks_beside_kernels(&self) -> bool {
        let after = self.after.iter().filter(|stmt| !self.is_sum(stmt));
        let mut beside = self.before.iter().chain(after);
        beside.any(|stmt| self.asks_for_written(stmt))
    }

    /// Whether a statement asks for what the kernels write.
    fn asks_for_written(&self, stmt: &Stmt<Cpu>) -> bool {
        let operands = stmt.op.operands();
        operands
            .iter()
            .any(|value| self.written.contains_key(value))
    }

    /// Elements of a row.
    fn row(&self, unit: &Unit<'_>, buffer: ValueId) -> TokenStream {
        unit.product(&unit.dims(buffer)[self.written[&buffer] + 1..])
    }

    /// The first element of a step.
    fn start(&self, unit: &Unit<'_>, buffer: ValueId) -> Option<TokenStream> {
        let (step, length) = (self.step?, unit.product(&unit.dims(buffer)[1..]));
        let step = unit.names.value(step);
        (self.written[&buffer] > 0).then(|| tokens!(#step * #length))
    }

    /// All rows of the step at hand.
    fn view(&self, unit: &Unit<'_>, buffer: ValueId) -> TokenStream {
        let name = unit.names.value(buffer);
        let length = unit.product(&unit.dims(buffer)[self.written[&buffer]..]);
        match self.start(unit, buffer) {
            Some(start) => tokens!(#name.part(#start..#start + #length)),
            None => tokens!(#name),
        }
    }

    /// What may be read of them.
    pub(super) fn window(&self, unit: &Unit<'_>, buffer: ValueId) -> TokenStream {
        let (view, row) = (self.view(unit, buffer), self.row(unit, buffer));
        tokens!(here.window(#view, #row))
    }

    /// Where that begins in the buffer.
    pub(super) fn first(&self, unit: &Unit<'_>, buffer: ValueId) -> TokenStream {
        let row = self.row(unit, buffer);
        let start = self.start(unit, buffer).map(|start| tokens!(#start +));
        tokens!(#start here.first(#row))
    }
}

#[cfg(test)]
mod tests {
    use crate::emit::host::host;
    use crate::emit::unit::Unit;

    /// What is emitted for a loop of the host.
    fn emitted(body: &str) -> String {
        let text = format!(
            "fn f(own u: f64[I, J], own v: f64[I, J], own s: f64[J, I], own r: f64[T, I, J], own z: f64[I, J], w: f64[I, J], m: f64[J, J], q: f64[I, I], n: i64) -> (f64[I, J], f64) {{
               %0 = const 0.0f64 %90 = var %0 %91 = const 0usize %92 = trust I %91 %93 = const 1i64 %94 = const 2i64
               for %1: T {{ {body} }}
               %99 = get %90
               return u, %99
             }}"
        );
        let program = crate::emit::testing::parsed(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::emit::names::as_in_source(&host(&Unit::of(&program), &[]))
    }

    /// One kernel that stores to `v` what it loads from `u` in a row that is made of its own by
    /// some statements, and the exchange.
    fn from_row(statements: &str) -> String {
        emitted(&format!(
            "par %2: I, %3: J {{ %4 = cast i64 %2 {statements} %6 = load u[%5, %3] store v[%2, %3], %6 }} swap u, v"
        ))
    }

    #[test]
    fn neighbours_are_as_far_as_they_are_known_to_be() {
        for (statements, reach) in [
            ("%7 = add %4, %93 %5 = check I %7", 1),
            ("%7 = sub %4, %94 %5 = clamp_to I %7", 2),
            ("%7 = add %93, %4 %8 = add %7, %94 %5 = mirror I %8", 3),
            ("%7 = cast usize %2 %5 = trust I %7", 0),
        ] {
            let text = from_row(statements);
            assert!(
                text.contains(&format!("reach : {reach}usize")),
                "{statements}: {text}"
            );
            assert!(
                text.contains("if t % 2 == 1 { :: core :: mem :: swap (& mut u , & mut v) ; }"),
                "{text}"
            );
            assert!(text.contains("get (u , "), "{text}");
        }
        for statements in [
            // Around the ends, by a number that is not known, or not from here.
            "%7 = add %4, %93 %5 = wrap I %7",
            "%7 = add %4, n %5 = check I %7",
            "%7 = mul %4, %94 %5 = check I %7",
            "%7 = add %4, %4 %5 = check I %7",
            "%7 = sub %93, %4 %5 = check I %7",
            "%5 = check I %93",
        ] {
            let text = from_row(statements);
            assert!(!text.contains("launch_steps"), "{statements}: {text}");
        }
    }

    #[test]
    fn what_is_done_in_rows_may_be_done_in_steps() {
        let step = "par %2: I, %3: J { %6 = load u[%2, %3] store v[%2, %3], %6 } swap u, v";
        for body in [
            step,
            // A kernel in place, several kernels, what is collected, and a product.
            "par %2: I, %3: J { %6 = load u[%2, %3] %7 = neg %6 store u[%2, %3], %7 }",
            &format!("par %12: I {{ par_ }} {step}").replace("par_", "%13 = const 0usize %14 = trust J %13 %15 = load w[%92, %14] store s[%14, %12], %15"),
            &format!("par %12: I, %13: J {{ %16 = load u[%12, %13] store r[%1, %12, %13], %16 }} {step}"),
            "contract v[0, 1] = m[1, 2], u[0, 2] swap u, v",
        ] {
            let text = emitted(body);
            assert!(text.contains("launch_steps"), "{body}: {text}");
        }
        let sums = "%20 = const 0.0f64 %21 = var %20 par %2: I (add %22 = %21) { %6 = load w[%2, %9] combine add %22[], %6 store u[%2, %9], %6 } %23 = get %21 %24 = get %90 %25 = add %23, %24 set %90, %25";
        let sums = format!("%9 = trust J %91 {sums}");
        let text = emitted(&sums);
        assert!(
            text.contains("for (step , found) in") && text.contains("accumulate_steps"),
            "{text}"
        );
        let owned = "%9 = trust J %91 %8 = trust I %91 %30 = load z[%8, %9] par %2: I, %3: J { %6 = load u[%2, %3] %7 = mul %6, %30 store u[%2, %3], %7 }";
        let text = emitted(owned);
        // In a closure, from where it cannot be borrowed mutably.
        assert!(
            text.contains("get (z . written () ,") && text.contains("launch_steps"),
            "{text}"
        );
        for body in [
            // Somebody else's row, a buffer whose rows are not first, other rows, a row that all read, a matrix that another kernel writes, and
            // a kernel that asks for what is accumulated.
            "par %2: I, %3: J { %6 = load w[%2, %3] store v[%92, %3], %6 } swap u, v".to_owned(),
            "par %12: I, %13: J { %16 = load u[%12, %13] store s[%13, %12], %16 } par %32: I, %33: J { %36 = load s[%33, %32] store v[%32, %33], %36 } swap u, v".to_owned(),
            format!(
                "par %12: J, %13: I {{ %16 = load w[%13, %12] store s[%12, %13], %16 }} {step}"
            ),
            "par %2: I, %3: J { %6 = load u[%92, %3] store v[%2, %3], %6 } swap u, v".to_owned(),
            "contract v[0, 1] = q[0, 2], u[2, 1] swap u, v".to_owned(),
            format!("{step} par %12: I (add %13 = %90) {{ %14 = const 1.0f64 combine add %13[], %14 }}").replace(step, "par %32: I, %33: J { %36 = get %90 store v[%32, %33], %36 }"),
            // What is put off would read what later steps write.
            sums.replace("%25 = add %23, %24", "%26 = gt %23, %24 %27 = select %26, %92, %92 %28 = load u[%27, %9] %25 = add %28, %24"),
            sums.replace(
                "combine add %22[], %6",
                "%31 = get %90 combine add %22[], %31",
            ),
        ] {
            let text = emitted(&body);
            assert!(!text.contains("_steps"), "{body}: {text}");
        }
    }
}

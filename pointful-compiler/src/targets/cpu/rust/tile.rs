//! Tiles of steps: kernels of the host that run some rows at a time.
//!
//! ```text
//! tile %t: T rows I reach 1 writes u 0, v 0 swap u v {
//!   par i: I, j: J { … u[i ± 1, …] … store v }
//! }
//! ▶
//! let views = (u.out(), v.out());
//! launch_steps(Steps { … }, |step, kernel, here| {
//!     let (u, v) = if step % 2 == 0 { (views.0, views.1) } else { (views.1, views.0) };
//!     here.run(j, Work { … }, &K1 { u: here.window(u, j), u_first: here.first(j), v });
//! });
//! if t % 2 == 1 { swap(&mut u, &mut v); }
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;

use super::context::{Unit, usize_literal};
use super::merging::{Copies, merge_on_host};
use super::statements::Body;
use super::{kernels, tokens, work};
use crate::ir::stages::cpu::{Cpu, CpuOp, Own, Tile};
use crate::ir::{Stmt, ValueId};

/// Rows of a product of matrices that are better computed together, so that packing the other
/// factor costs little beside multiplying by it: in a loop, before which that is
/// [written down](mod@crate::targets::cpu::pack_operands) as the library wants it, and once.
const TOGETHER: u64 = 32;
const TOGETHER_ONCE: u64 = 128;

/// All steps.
pub(super) fn emit(emit: &mut Body<'_>, tile: &Tile) -> TokenStream {
    let unit = emit.unit;
    let [before, kernels, after] = tile.parts();
    let is_variable = |stmt: &&Stmt<Cpu>| matches!(stmt.op, CpuOp::Var(_));
    let (variables, before): (Vec<_>, Vec<_>) = before.iter().partition(is_variable);
    let steps = match tile.steps() {
        Some((extent, _)) => unit.extent(extent),
        None => usize_literal(1),
    };
    let before = emit.block_of(&before);
    let each = tile.steps().map(|(_, index)| {
        let index = unit.names.value(index);
        let step = match tile.reverse {
            true => tokens!(#steps - 1 - step),
            false => tokens!(step),
        };
        tokens!(let #index = #step; #before)
    });
    let sums = Sums::of(kernels);
    let launched = launch(emit, tile, &sums, &steps, &each.to_token_stream());
    let launched = if sums.kernels.is_empty() {
        tokens!(#launched;)
    } else {
        let variables = emit.block_of(&variables);
        let merged = sums.merged_on_host(emit);
        let after = emit.block_of(&after.iter().collect::<Vec<_>>());
        let of_step = tokens!(#each #variables #merged #after);
        let of_all = match tile.steps() {
            Some(_) => tokens!(for step in 0..#steps { #of_step }),
            None => of_step,
        };
        tokens!(let mut sums = ::core::iter::IntoIterator::into_iter(#launched); #of_all)
    };
    let swaps = tile.swaps.iter().map(|(a, b)| {
        let (a, b) = (unit.names.value(*a), unit.names.value(*b));
        tokens!(::core::mem::swap(&mut #a, &mut #b);)
    });
    let swaps = (!tile.swaps.is_empty()).then(|| tokens!(if #steps % 2 == 1 { #(#swaps)* }));
    let written: Vec<_> = written(unit, tile).collect();
    tokens!(let views = (#(#written.out(),)*); #launched #swaps)
}

/// The names of what is written.
fn written<'u>(unit: &'u Unit<'_>, tile: &'u Tile) -> impl Iterator<Item = &'u Ident> {
    let written = tile.writes.iter();
    written.map(|&(buffer, _)| unit.names.value(buffer))
}

/// All steps, each of which begins with these statements.
fn launch(
    emit: &mut Body<'_>,
    tile: &Tile,
    sums: &Sums<'_>,
    steps: &impl ToTokens,
    each: &TokenStream,
) -> TokenStream {
    let unit = emit.unit;
    let [_, kernels, _] = tile.parts();
    let buffers: Vec<ValueId> = tile.writes.iter().map(|&(buffer, _)| buffer).collect();
    let outside = emit.by_views(buffers.iter());
    let (mut row_work, mut acc_bytes) = (tokens!(0u64), tokens!(0u64));
    let mut runs = TokenStream::new();
    for (number, stmt) in kernels.iter().enumerate() {
        let (run, work) = kernel_in_rows(emit, stmt, tile);
        row_work.extend(tokens!(.saturating_add(#work)));
        let pattern = match number + 1 == kernels.len() {
            true => tokens!(_),
            false => usize_literal(number as u64).into_token_stream(),
        };
        runs.extend(match sums.slot(stmt) {
            Some(slot) => {
                let bytes = kernels::acc_bytes(unit, copies(stmt));
                acc_bytes.extend(tokens!(.saturating_add(#bytes)));
                let found = sums.in_slot(slot, &run, &tokens!(::core::option::Option::None));
                tokens!(#pattern => ::core::option::Option::Some(#found),)
            }
            None if sums.kernels.is_empty() => tokens!(#pattern => #run,),
            None => tokens!(#pattern => { #run; ::core::option::Option::None }),
        });
    }
    emit.reach_as(outside);
    let bytes = tile.writes.iter().map(|&(buffer, axis)| {
        let row = row(unit, buffer, axis);
        let bytes = usize_literal(unit.scalar(buffer).bytes());
        tokens!(.saturating_add(#row.saturating_mul(#bytes)))
    });
    let is_product = |stmt: &Stmt<Cpu>| matches!(stmt.op, CpuOp::Contract { .. });
    let together = match tile.steps() {
        _ if !kernels.iter().any(is_product) => 1,
        Some(_) => TOGETHER,
        None => TOGETHER_ONCE,
    };
    let [count, reach, together] = [kernels.len() as u64, tile.reach, together].map(usize_literal);
    let rows = unit.extent(tile.rows());
    let (launch, merge) = if sums.kernels.is_empty() {
        (tokens!(launch_steps), TokenStream::new())
    } else {
        let merge = sums.merge(unit);
        (tokens!(accumulate_steps), tokens!(, #merge))
    };
    let step = match tile.steps() {
        Some(_) => tokens!(step),
        None => tokens!(_),
    };
    let views = views(unit, tile, &buffers);
    tokens! {
        #launch(
            Steps {
                steps: #steps,
                kernels: #count,
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
    }
}

/// Names the buffers as they are in a step.
fn views(unit: &Unit<'_>, tile: &Tile, buffers: &[ValueId]) -> TokenStream {
    let names = written(unit, tile);
    if tile.swaps.is_empty() {
        return tokens!(let (#(#names,)*) = views;);
    }
    let place = |buffer: &ValueId| {
        let at = buffers.iter().position(|other| other == buffer);
        at.map(kernels::tuple_field)
    };
    let partner = |buffer: &ValueId| {
        let mut pairs = tile.swaps.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        pairs.find(|(a, _)| a == buffer).map_or(*buffer, |(_, b)| b)
    };
    let even = buffers.iter().map(place);
    let odd = buffers.iter().map(|buffer| place(&partner(buffer)));
    tokens!(let (#(#names,)*) = if step % 2 == 0 { (#(views.#even,)*) } else { (#(views.#odd,)*) };)
}

/// The kernels of a step that accumulate.
struct Sums<'t> {
    kernels: Vec<&'t Stmt<Cpu>>,
}

impl<'t> Sums<'t> {
    fn of(kernels: &'t [Stmt<Cpu>]) -> Self {
        let sums = kernels.iter().filter(|stmt| !copies(stmt).is_empty());
        Self {
            kernels: sums.collect(),
        }
    }

    /// Which of them a kernel is.
    fn slot(&self, stmt: &Stmt<Cpu>) -> Option<usize> {
        let mut kernels = self.kernels.iter();
        kernels.position(|kernel| std::ptr::eq(*kernel, stmt))
    }

    /// What one of several gives: of the others nothing.
    fn in_slot(&self, slot: usize, found: &TokenStream, nothing: &TokenStream) -> TokenStream {
        if self.kernels.len() == 1 {
            return found.clone();
        }
        let slots = (0..self.kernels.len()).map(|other| match other == slot {
            true => tokens!(::core::option::Option::Some(#found)),
            false => nothing.clone(),
        });
        tokens!((#(#slots,)*))
    }

    /// What the host does with what all rows of a step have accumulated.
    fn merged_on_host(&self, emit: &mut Body<'_>) -> TokenStream {
        let merged = self.kernels.iter().enumerate().map(|(slot, sum)| {
            let copies = copies(sum);
            let privates = copies.all().map(|(_, own, _)| emit.unit.names.value(own));
            let found = self.in_slot(slot, &tokens!((#(#privates,)*)), &tokens!(_));
            let merged = merge_on_host(emit, copies);
            tokens! {
                let ::core::option::Option::Some(#found) = ::core::iter::Iterator::next(&mut sums) else {
                    ::core::unreachable!()
                };
                #merged
            }
        });
        merged.collect()
    }

    /// A function that merges what two parts of the rows accumulate.
    fn merge(&self, unit: &Unit<'_>) -> TokenStream {
        let kernels = self.kernels.iter();
        let sums: Vec<_> = kernels
            .map(|sum| kernels::merged(unit, copies(sum)))
            .collect();
        if let [(ty, joined)] = sums.as_slice() {
            return tokens!(|earlier: &mut #ty, later: #ty| { #joined });
        }
        let types = sums
            .iter()
            .map(|(ty, _)| tokens!(::core::option::Option<#ty>));
        let types = tokens!((#(#types,)*));
        let joined = sums.iter().enumerate().map(|(slot, (_, joined))| {
            let slot = kernels::tuple_field(slot);
            tokens! {
                if let (::core::option::Option::Some(earlier), ::core::option::Option::Some(later)) = (&mut earlier.#slot, later.#slot) {
                    #joined
                }
            }
        });
        tokens!(|earlier: &mut #types, later: #types| { #(#joined)* })
    }
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
    tile: &Tile,
) -> (TokenStream, TokenStream) {
    let unit = emit.unit;
    match &stmt.op {
        CpuOp::Own(Own::Par(par)) => {
            let points = unit.product(&par.extents[1..]);
            let per_point = unit.work(par);
            let acc_bytes = kernels::acc_bytes(unit, copies(stmt));
            let kernel = kernels::declare(emit, par, Some(tile));
            let run = tokens!(here.run(#points, Work { per_point: #per_point, acc_bytes: #acc_bytes }, &#kernel));
            (run, tokens!((#points as u64).saturating_mul(#per_point)))
        }
        CpuOp::Contract {
            out,
            factors,
            along,
            add,
            absorb,
            mask: None,
        } => {
            // Of what has a place for each step only that takes part.
            let skipped = |array: &ValueId| tile.written(*array).unwrap_or(0);
            let dims = [out, &factors[0], &factors[1]].into_iter().zip(along);
            let dims = dims.map(|(array, along)| emit.contracted(*array, along, skipped(array)));
            let dims = tokens!([#(#dims),*]);
            let factors = factors.iter().map(|&factor| match tile.written(factor) {
                Some(axis) => {
                    let window = window(unit, tile, factor, axis);
                    tokens!((#window, true))
                }
                None => {
                    let slice = emit.slice(factor);
                    tokens!((#slice, false))
                }
            });
            let axis = tile.written(*out).unwrap_or(0);
            let out = view(unit, tile, *out, axis);
            let contract = match absorb {
                true => tokens!(contract_absorb),
                false => tokens!(contract),
            };
            let run = tokens!(here.#contract(#out, [#(#factors),*], #dims, #add));
            (run, work::contraction_per_row(unit, stmt))
        }
        other => unreachable!("no kernel: {other:?}"),
    }
}

/// Elements of a row, which goes along this axis.
fn row(unit: &Unit<'_>, buffer: ValueId, axis: usize) -> TokenStream {
    unit.product(&unit.dims(buffer)[axis + 1..])
}

/// The first element of a step.
fn start(unit: &Unit<'_>, tile: &Tile, buffer: ValueId, axis: usize) -> Option<TokenStream> {
    let (_, step) = tile.steps().filter(|_| axis > 0)?;
    let (step, length) = (
        unit.names.value(step),
        unit.product(&unit.dims(buffer)[1..]),
    );
    Some(tokens!(#step * #length))
}

/// All rows of the step at hand.
fn view(unit: &Unit<'_>, tile: &Tile, buffer: ValueId, axis: usize) -> TokenStream {
    let name = unit.names.value(buffer);
    let length = unit.product(&unit.dims(buffer)[axis..]);
    match start(unit, tile, buffer, axis) {
        Some(start) => tokens!(#name.part(#start..#start + #length)),
        None => tokens!(#name),
    }
}

/// What may be read of them.
pub(super) fn window(unit: &Unit<'_>, tile: &Tile, buffer: ValueId, axis: usize) -> TokenStream {
    let (view, row) = (view(unit, tile, buffer, axis), row(unit, buffer, axis));
    tokens!(here.window(#view, #row))
}

/// Where that begins in the buffer.
pub(super) fn first(unit: &Unit<'_>, tile: &Tile, buffer: ValueId, axis: usize) -> TokenStream {
    let row = row(unit, buffer, axis);
    let start = start(unit, tile, buffer, axis).map(|start| tokens!(#start +));
    tokens!(#start here.first(#row))
}

#[cfg(test)]
mod tests {
    use crate::targets::cpu::rust::context::Unit;
    use crate::targets::cpu::rust::host::host;

    /// What is emitted for steps whose body this is.
    fn emitted(body: &str) -> String {
        let text = format!(
            "fn f(own u: f64[I, J], own v: f64[I, J], own z: f64[I, J]) -> f64[I, J] {{
               %0 = const 0.0f64 %90 = var %0 %91 = const 0usize %92 = trust I %91
               for %1: T {{ {body} }}
               return u
             }}"
        );
        let program = crate::targets::cpu::rust::testing::parsed(&text)
            .unwrap_or_else(|e| panic!("{text}\n{e}"));
        crate::targets::cpu::rust::names::as_in_source(&host(&Unit::of(&program), &[]))
    }

    #[test]
    fn a_step_reaches_buffers_by_views() {
        let text = emitted(
            "%9 = trust J %91 %30 = load z[%92, %9] par %2: I, %3: J { %6 = load u[%2, %3] %7 = mul %6, %30 store v[%2, %3], %7 } swap u, v",
        );
        for part in [
            "let views = (u . out () , v . out () ,) ; launch_steps (",
            // In a closure, from where it cannot be borrowed mutably.
            "get (z . written () ,",
            "if step % 2 == 0 { (views . 0 , views . 1 ,) } else { (views . 1 , views . 0 ,) }",
            "get (u , ",
            "if t % 2 == 1 { :: core :: mem :: swap (& mut u , & mut v) ; }",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn what_steps_add_up_is_merged_in_their_order() {
        let text = emitted(
            "par %2: I (add %3 = %90) { %4 = const 1.0f64 combine add %3[], %4 } par %5: I, %6: J { store u[%5, %6], %0 }",
        );
        for part in [
            "let mut sums = :: core :: iter :: IntoIterator :: into_iter (accumulate_steps (",
            "for step in 0 .. t {",
            "let :: core :: option :: Option :: Some ((",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }
}

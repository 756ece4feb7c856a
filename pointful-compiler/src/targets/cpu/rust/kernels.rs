//! Parallel loops: a struct for each, and its launch.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::ToTokens;

use super::angles::Angles;
use super::captures::{Captures, Environment};
use super::columns;
use super::context::{Unit, usize_literal};
use super::merging::{Copies, merge_on_host, merge_pieces};
use super::names::ident;
use super::statements::{Body, Storage, kernel_name};
use super::{scalar, scatter, tokens};
use crate::ir::stages::cpu::{Cpu, Par, PlaceKind, Tile};
use crate::ir::{Extent, ValueId};

/// Emits a kernel's struct among the host's items and gives the statements that launch it.
pub(super) fn launch(host: &mut Body<'_>, par: &Par<Cpu>) -> TokenStream {
    let copies = Copies::of(par);
    let unit = host.unit;
    let kernel = declare(host, par, None);
    let (points, per_point) = (unit.product(&par.extents), unit.work(par));
    let acc_bytes = acc_bytes(unit, copies);
    // What only the caller knows may not be fit for other threads.
    let launch = if unit.runs_anywhere() {
        tokens!(launch)
    } else {
        tokens!(launch_here)
    };
    let launched = tokens! {
        #launch(#points, Work { per_point: #per_point, acc_bytes: #acc_bytes }, &#kernel)
    };
    if copies.is_empty() {
        return tokens!(#launched;);
    }
    let results = copies
        .all()
        .map(|(_, private, _)| unit.names.value(private));
    let merged = merge_on_host(host, copies);
    tokens! {
        let (#(#results,)*) = #launched;
        #merged
    }
}

/// Emits a kernel's struct among the host's items and gives one of them, which reads of these
/// buffers only near rows.
pub(super) fn declare(host: &mut Body<'_>, par: &Par<Cpu>, in_rows: Option<&Tile>) -> TokenStream {
    let unit = host.unit;
    let mut captures = Captures::of(unit, par);
    in_rows.into_iter().for_each(|tile| captures.window(tile));
    let kernel = kernel_name(host.kernels.len());
    let item = item(unit, &kernel, &captures, par);
    host.kernels.push(item);
    captures.instance(host, &kernel, in_rows)
}

/// The struct and its implementation of the runtime's contract.
fn item(unit: &Unit<'_>, kernel: &Ident, captures: &Captures, par: &Par<Cpu>) -> TokenStream {
    let (name, copies) = (&par.name, Copies::of(par));
    let Environment {
        names,
        params: param_types,
        unpack,
        declared,
        elided,
    } = captures.environment(unit, kernel);
    let acc_type = acc_type(unit, copies);
    let identity = self::identity(unit, copies, &tokens!(Scatter::table), &TokenStream::new());
    let merge = merge_pieces(unit, copies, || captures.storage());
    let angles = match par.speculates {
        true => Angles::Near,
        false => Angles::Any,
    };
    let piece = piece(unit, captures, angles, par);
    let together = par.together().map(|points| {
        let points = usize_literal(points);
        tokens!(const TOGETHER: usize = #points;)
    });
    let strip = par.strip().map(|points| {
        let points = usize_literal(points);
        tokens!(const STRIP: usize = #points;)
    });
    let scattered = scatter::items(unit, copies, &unpack, || {
        self::identity(unit, copies, &tokens!(Scatter::noting), &tokens!(, most))
    });
    let is_table = |target| unit.kind(target) == PlaceKind::Buffer;
    let unpack_if = |needed: bool| needed.then(|| unpack.clone());
    let unpack_for_identity = unpack_if(copies.all().any(|(target, ..)| is_table(target)));
    let unpack_for_merge = unpack_if(!copies.folds.is_empty());
    // Buffers are passed on as arguments because only of arguments does the optimiser learn that what they refer to is not
    // written through anything else.
    let range = tokens!(::core::ops::Range<usize>);
    let params = tokens!(#(#names: #param_types,)* range: #range, acc: &mut #acc_type);
    let columns = par.by_columns.then(|| columns::items(unit, par, &unpack));
    let run = match angles {
        Angles::Any => tokens! {
            #[inline(always)]
            fn run(&self, range: #range, acc: &mut Self::Acc) {
                #[inline(always)]
                fn piece(#params) {
                    unsafe { #piece }
                }
                #unpack
                piece(#(#names,)* range, acc)
            }
        },
        Angles::Near => {
            let piece = tokens! {
                #[inline(always)]
                fn piece<A: math::Angles>(#params) -> bool {
                    let mut angles = A::default();
                    unsafe { #piece }
                    angles.missed()
                }
                #unpack
            };
            let again = (!copies.is_empty()).then(|| reset(unit, copies));
            match (par.by_columns, again) {
                (true, Some(again)) => columns::betting(unit, par, &piece, &names, &again),
                (_, again) => tokens! {
                    #[inline(always)]
                    fn run(&self, range: #range, acc: &mut Self::Acc) {
                        #piece
                        if piece::<math::Near>(#(#names,)* range.start..range.end, acc) {
                            #again
                            piece::<math::Any>(#(#names,)* range, acc);
                        }
                    }
                },
            }
        }
    };
    tokens! {
        #[doc = #name]
        #declared

        impl Kernel for #kernel #elided {
            type Acc = #acc_type;
            #together
            #strip

            fn identity(&self) -> Self::Acc {
                #unpack_for_identity
                #identity
            }

            #run

            fn merge(&self, earlier: &mut Self::Acc, later: Self::Acc) {
                #unpack_for_merge
                #merge
            }

            #scattered

            #columns
        }
    }
}

/// What a piece's accumulators begin as; of scattered ones, what `scatter` makes of their length,
/// their identity and what else it is given.
fn identity(
    unit: &Unit<'_>,
    copies: Copies<'_>,
    scatter: &TokenStream,
    given: &TokenStream,
) -> TokenStream {
    // No accumulators: no expression either, because `()` is not one that lints of style like.
    if copies.is_empty() {
        return TokenStream::new();
    }
    let fields = copies.all().map(|(target, private, first)| {
        let identity =
            scalar::literal(first.unwrap_or_else(|monoid| monoid.identity(unit.scalar(target))));
        let length = || unit.product(unit.dims(target));
        match unit.kind(target) {
            PlaceKind::Buffer if unit.is_noted(private) => {
                let length = length();
                tokens!(#scatter(#length, #identity #given))
            }
            PlaceKind::Buffer => {
                let length = length();
                tokens!(Buf::filled(#length, #identity))
            }
            PlaceKind::Var | PlaceKind::Scalar => identity.into_token_stream(),
        }
    });
    tokens!((#(#fields,)*))
}

/// Makes what a piece has accumulated what it began as.
fn reset(unit: &Unit<'_>, copies: Copies<'_>) -> TokenStream {
    let mut privates = copies.all().map(|(_, private, _)| private);
    match privates.position(|private| unit.is_noted(private)) {
        None => tokens!(*acc = self.identity();),
        Some(position) => {
            let field = tuple_field(position);
            tokens!(*acc = match acc.#field.most() {
                0 => self.identity(),
                most => self.noting(most),
            };)
        }
    }
}

/// The type of what a piece accumulates.
fn acc_type(unit: &Unit<'_>, copies: Copies<'_>) -> TokenStream {
    let types = copies.all().map(|(target, private, _)| {
        let ty = unit.ty(target);
        match unit.kind(target) {
            PlaceKind::Buffer if unit.is_noted(private) => tokens!(Scatter<#ty>),
            PlaceKind::Buffer => tokens!(Buf<#ty>),
            PlaceKind::Var | PlaceKind::Scalar => ty.into_token_stream(),
        }
    });
    tokens!((#(#types,)*))
}

/// The type of what is combined into variables, and the statements that combine a `later` one into
/// an `earlier` one.
pub(super) fn merged(unit: &Unit<'_>, copies: Copies<'_>) -> (TokenStream, TokenStream) {
    (
        acc_type(unit, copies),
        merge_pieces(unit, copies, BTreeMap::new),
    )
}

/// What a piece of the work does: loops over its points.
fn piece(unit: &Unit<'_>, captures: &Captures, angles: Angles, par: &Par<Cpu>) -> TokenStream {
    let copies = Copies::of(par);
    let mut storage = captures.storage();
    let mut before = TokenStream::new();
    let mut after = TokenStream::new();
    for (position, (target, copy, _)) in copies.all().enumerate() {
        let (field, private) = (tuple_field(position), unit.names.value(copy));
        match unit.kind(target) {
            PlaceKind::Buffer if unit.is_noted(copy) => {
                before.extend(tokens!(let #private = acc.#field.view();));
            }
            PlaceKind::Buffer => {
                storage.insert(copy, Storage::View);
                before.extend(tokens!(let #private = acc.#field.out();));
            }
            // A local variable, because memory behind a reference would be written at every iteration.
            PlaceKind::Var | PlaceKind::Scalar => {
                before.extend(tokens!(let mut #private = acc.#field;));
                after.extend(tokens!(acc.#field = #private;));
            }
        }
    }
    let mut emit = Body::new(unit, storage, true);
    emit.angles = angles;
    let hoisted = emit.hoist(&[&par.body]);
    let inner = emit.block(&par.body);
    let loops = match par.extents.as_slice() {
        [] => tokens!(for _ in range { #inner }),
        [_] => {
            let [from, to] = [0, 1].map(|bound| unit.names.value(par.body.params[bound]));
            tokens!(let (#from, #to) = (range.start, range.end); #inner)
        }
        [leading @ .., last] => rows(unit, leading, *last, &par.body.params, angles, &inner),
    };
    tokens!(#before #hoisted #loops #after)
}

/// A loop over the rows of a piece of a product: `inner` is done for each of them, the leading
/// indices count on after it.
fn rows(
    unit: &Unit<'_>,
    leading: &[Extent],
    last: Extent,
    params: &[ValueId],
    angles: Angles,
    inner: &TokenStream,
) -> TokenStream {
    let index = |axis: usize| unit.names.value(params[axis]);
    let (start, stop) = (index(leading.len()), index(leading.len() + 1));
    // Where a piece starts is decoded once. There are no points if an extent is 0, but rustc looks at divisions by literals.
    let divisor = |extent: Extent| match unit.resolve(extent) {
        Extent::Const(0) => usize_literal(1),
        extent @ (Extent::Const(_) | Extent::Size(_) | Extent::Value(_)) => unit.extent(extent),
    };
    let row = ident("row");
    let length = divisor(last);
    let mut decoded = tokens! {
        let mut #start = range.start % #length;
        let #row = range.start / #length;
    };
    for (axis, &extent) in leading.iter().enumerate().rev() {
        let name = index(axis);
        decoded.extend(if axis == 0 {
            tokens!(let mut #name = #row;)
        } else {
            let extent = divisor(extent);
            tokens!(let mut #name = #row % #extent; let #row = #row / #extent;)
        });
    }
    // The odometer, from the axis before the last to the first.
    let mut advance = TokenStream::new();
    for (axis, &extent) in leading.iter().enumerate() {
        let name = index(axis);
        advance = if axis == 0 {
            tokens!(#name += 1;)
        } else {
            let extent = unit.extent(extent);
            tokens!(#name += 1; if #name == #extent { #name = 0; #advance })
        };
    }
    let last = unit.extent(last);
    // A bet that is lost is lost for all rows.
    let goes_on = match angles {
        Angles::Any => TokenStream::new(),
        Angles::Near => tokens!(&&!angles.missed()),
    };
    tokens! {
        #decoded
        let mut point = range.start;
        while point < range.end #goes_on {
            let #stop = min(#last, #start + (range.end - point));
            point += #stop - #start;
            #inner
            #start = 0;
            #advance
        }
    }
}

/// Bytes of one private accumulator, as a `u64` expression.
pub(super) fn acc_bytes(unit: &Unit<'_>, copies: Copies<'_>) -> TokenStream {
    let mut constant = 0_u64;
    let mut buffers = TokenStream::new();
    for (target, ..) in copies.all() {
        match unit.kind(target) {
            PlaceKind::Buffer => {
                let bytes = table_bytes(unit, target);
                buffers.extend(tokens!(.saturating_add(#bytes)));
            }
            PlaceKind::Var | PlaceKind::Scalar => constant += unit.scalar(target).bytes(),
        }
    }
    let constant = u64_literal(constant);
    tokens!(#constant #buffers)
}

/// Bytes of a buffer, as a `u64` expression.
pub(super) fn table_bytes(unit: &Unit<'_>, buffer: ValueId) -> TokenStream {
    let bytes = u64_literal(unit.scalar(buffer).bytes());
    let length = unit.product(unit.dims(buffer));
    tokens!((#length as u64).saturating_mul(#bytes))
}

fn u64_literal(number: u64) -> Literal {
    let mut literal: Literal = format!("{number}u64")
        .parse()
        .expect("digits and a suffix are a literal");
    literal.set_span(proc_macro2::Span::mixed_site());
    literal
}

pub(super) fn tuple_field(position: usize) -> Literal {
    let mut literal = Literal::usize_unsuffixed(position);
    literal.set_span(proc_macro2::Span::mixed_site());
    literal
}

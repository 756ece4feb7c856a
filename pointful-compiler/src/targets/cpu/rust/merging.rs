//! What the pieces of a kernel's work have copies of, and how copies become one.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;

use super::context::Unit;
use super::expr::Word;
use super::kernels::tuple_field;
use super::statements::{Body, Storage};
use super::{scalar, tokens};
use crate::ir::stages::cpu::{Acc, Cpu, Fold, Par, PlaceKind};
use crate::ir::{Lit, Monoid, ValueId};

/// What a kernel combines into and folds. An accumulator is a tuple: first the private copies of
/// the one, then those of the other.
#[derive(Clone, Copy)]
pub(super) struct Copies<'k> {
    pub(super) accs: &'k [Acc],
    pub(super) folds: &'k [Fold<Cpu>],
}

impl<'k> Copies<'k> {
    /// Of a kernel.
    pub(super) fn of(par: &'k Par<Cpu>) -> Self {
        Self {
            accs: &par.accs,
            folds: &par.folds,
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.accs.is_empty() && self.folds.is_empty()
    }

    /// Targets, their private copies, and what a copy begins as, or whose identity.
    pub(super) fn all(self) -> impl Iterator<Item = (ValueId, ValueId, Result<Lit, Monoid>)> + 'k {
        let summed = self.accs.iter();
        let folded = self.folds.iter().flat_map(|fold| {
            let places = fold.targets.iter().zip(&fold.privates).zip(&fold.first);
            places.map(|((&target, &private), &first)| (target, private, Ok(first)))
        });
        summed
            .map(|acc| (acc.target, acc.private, Err(acc.monoid)))
            .chain(folded)
    }
}

/// What is done with the accumulators of two pieces: statements of the runtime's `merge`.
/// `storage`: how the kernel reaches its buffers.
pub(super) fn merge_pieces(
    unit: &Unit<'_>,
    copies: Copies<'_>,
    storage: impl Fn() -> BTreeMap<ValueId, Storage>,
) -> TokenStream {
    let mut merged = TokenStream::new();
    for (position, acc) in copies.accs.iter().enumerate() {
        let field = tuple_field(position);
        let element = unit.scalar(acc.target);
        merged.extend(match unit.kind(acc.target) {
            PlaceKind::Buffer if unit.is_noted(acc.private) => {
                let operator = scalar::operator(acc.monoid, element);
                tokens!(unsafe { earlier.#field.merge(later.#field, #operator); })
            }
            PlaceKind::Buffer => {
                let new = scalar::combine(
                    acc.monoid,
                    element,
                    &tokens!(earlier.read(at)),
                    &tokens!(get(later, at)),
                );
                tokens! {
                    {
                        let (earlier, later) = (earlier.#field.out(), &later.#field);
                        for at in 0..later.len() {
                            unsafe { earlier.write(at, #new); }
                        }
                    }
                }
            }
            PlaceKind::Var | PlaceKind::Scalar => {
                let (earlier, later) = (tokens!(earlier.#field), tokens!(later.#field));
                scalar::combine_into(acc.monoid, element, &earlier, &later)
            }
        });
    }
    let mut position = copies.accs.len();
    for fold in copies.folds {
        let mut sides = Vec::new();
        for (k, &target) in fold.targets.iter().enumerate() {
            let field = tuple_field(position + k);
            sides.push(match unit.kind(target) {
                PlaceKind::Buffer => Side {
                    earlier: tokens!(earlier.#field.out().read(at)),
                    later: tokens!(get(&later.#field, at)),
                    written: Box::new(
                        move |_, value| tokens!(earlier.#field.out().write(at, #value);),
                    ),
                },
                PlaceKind::Var | PlaceKind::Scalar => Side {
                    earlier: tokens!(earlier.#field),
                    later: tokens!(later.#field),
                    written: Box::new(move |_, value| tokens!(earlier.#field = #value;)),
                },
            });
        }
        position += fold.targets.len();
        let mut body = Body::new(unit, storage(), true);
        let joined = join(&mut body, fold, &sides);
        merged.extend(tokens!(unsafe { #joined }));
    }
    merged
}

/// What the host does with what a launch gives, which is bound to the names of the private copies.
pub(super) fn merge_on_host(host: &mut Body<'_>, copies: Copies<'_>) -> TokenStream {
    let unit = host.unit;
    let mut merged = TokenStream::new();
    for acc in copies.accs {
        let private = unit.names.value(acc.private);
        let target = unit.names.value(acc.target);
        let element = unit.scalar(acc.target);
        merged.extend(match unit.kind(acc.target) {
            PlaceKind::Buffer if acc.becomes => {
                tokens!(let mut #target = OutBuf::from(#private);)
            }
            PlaceKind::Buffer => {
                let old = host.read(acc.target, &tokens!(at));
                let new = scalar::combine(acc.monoid, element, &old, &tokens!(get(&#private, at)));
                let write = host.write(acc.target, &tokens!(at), &new);
                tokens!(for at in 0..#private.len() { #write })
            }
            PlaceKind::Var | PlaceKind::Scalar => {
                scalar::combine_into(acc.monoid, element, &tokens!(#target), &tokens!(#private))
            }
        });
    }
    for fold in copies.folds {
        let mut sides = Vec::new();
        for (&target, &private) in fold.targets.iter().zip(&fold.privates) {
            let private = unit.names.value(private);
            let name = unit.names.value(target);
            sides.push(match unit.kind(target) {
                PlaceKind::Buffer => Side {
                    earlier: host.read(target, &tokens!(at)),
                    later: tokens!(get(&#private, at)),
                    written: Box::new(move |host, value| host.write(target, &tokens!(at), &value)),
                },
                PlaceKind::Var | PlaceKind::Scalar => Side {
                    earlier: tokens!(#name),
                    later: tokens!(#private),
                    written: Box::new(move |_, value| tokens!(#name = #value;)),
                },
            });
        }
        let joined = join(host, fold, &sides);
        merged.extend(tokens!({ #joined }));
    }
    merged
}

/// One of the places that are joined, at the position `at` if it is a table.
struct Side<'s> {
    earlier: TokenStream,
    later: TokenStream,
    /// The statement that puts a value where the earlier one was.
    written: Box<dyn Fn(&Body<'_>, Word) -> TokenStream + 's>,
}

/// Joins every element of what came later to that of what came earlier.
fn join(body: &mut Body<'_>, fold: &Fold<Cpu>, sides: &[Side<'_>]) -> TokenStream {
    let unit = body.unit;
    let dims = unit.dims(fold.targets[0]);
    let (indices, elements) = fold.join.params.split_at(dims.len());
    let values = sides.iter().map(|side| &side.earlier);
    let values = values.chain(sides.iter().map(|side| &side.later));
    let bound = elements.iter().zip(values).map(|(&element, value)| {
        let name = unit.names.value(element);
        tokens!(let #name = #value;)
    });
    let bound: TokenStream = bound.collect();
    let block = body.block(&fold.join);
    let written = sides.iter().zip(&fold.join.results);
    let written = written.map(|(side, &result)| (side.written)(body, unit.value(result)));
    let mut joined = tokens!(#bound #block #(#written)*);
    if dims.is_empty() {
        return joined;
    }
    joined = tokens!(#joined at += 1;);
    for (&index, &extent) in indices.iter().zip(dims).rev() {
        let (index, extent) = (unit.names.value(index), unit.extent(extent));
        joined = tokens!(for #index in 0..#extent { #joined });
    }
    tokens!(let mut at = 0usize; #joined)
}

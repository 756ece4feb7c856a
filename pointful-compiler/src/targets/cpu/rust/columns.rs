//! Kernels whose pieces may be columns: see [the stage](crate::ir::stages::cpu#columns).

use proc_macro2::{Ident, TokenStream};

use super::context::Unit;
use super::kernels::tuple_field;
use super::merging::Copies;
use super::{scalar, tokens};
use crate::ir::stages::cpu::{Cpu, Par, PlaceKind};

/// What such a kernel's implementation of the runtime's contract says of its columns.
pub(super) fn items(unit: &Unit<'_>, par: &Par<Cpu>, unpack: &TokenStream) -> TokenStream {
    let (mut shared, mut merged) = (TokenStream::new(), TokenStream::new());
    for (position, acc) in par.accs.iter().enumerate() {
        let (field, element) = (tuple_field(position), unit.scalar(acc.target));
        shared.extend(match unit.kind(acc.target) {
            PlaceKind::Buffer => tokens!(all.#field.alias(),),
            PlaceKind::Var | PlaceKind::Scalar => {
                let (earlier, later) = (tokens!(earlier.#field), tokens!(later.#field));
                merged.extend(scalar::combine_into(acc.monoid, element, &earlier, &later));
                let identity = scalar::literal(acc.monoid.identity(element));
                tokens!(#identity,)
            }
        });
    }
    let length = row(unit, par);
    tokens! {
        const BY_COLUMNS: bool = true;

        fn columns(&self) -> usize {
            #unpack
            #length
        }

        unsafe fn shared(&self, all: &Self::Acc) -> Self::Acc {
            unsafe { (#shared) }
        }

        fn merge_columns(&self, earlier: &mut Self::Acc, later: Self::Acc) {
            #merged
        }
    }
}

/// How long a row is.
fn row(unit: &Unit<'_>, par: &Par<Cpu>) -> TokenStream {
    let length = par.extents.last().map(|&last| unit.extent(last));
    tokens!(#length)
}

/// Runs a kernel that bets on near angles. Where the bet is lost in one row of the columns, they are
/// begun again in all: with `whole`, what is accumulated is a piece's own.
pub(super) fn betting(
    unit: &Unit<'_>,
    par: &Par<Cpu>,
    piece: &TokenStream,
    names: &[Ident],
    whole: &TokenStream,
) -> TokenStream {
    let (length, columns) = (row(unit, par), reset(unit, par));
    let range = tokens!(::core::ops::Range<usize>);
    let part = tokens!(row * length + columns.start..row * length + columns.end);
    tokens! {
        #[inline(always)]
        fn run(&self, range: #range, acc: &mut Self::Acc) {
            self.run_columns(1, range, false, acc);
        }

        #[inline(always)]
        fn run_columns(&self, rows: usize, columns: #range, shared: bool, acc: &mut Self::Acc) {
            #piece
            let length = #length;
            let (mut row, mut missed) = (0, false);
            while row < rows && !missed {
                missed = piece::<math::Near>(#(#names,)* #part, acc);
                row += 1;
            }
            if missed {
                if shared { #columns } else { #whole }
                for row in 0..rows {
                    piece::<math::Any>(#(#names,)* #part, acc);
                }
            }
        }
    }
}

/// Makes what a piece that is columns has accumulated what it began as.
fn reset(unit: &Unit<'_>, par: &Par<Cpu>) -> TokenStream {
    let fields = Copies::of(par).accs.iter().enumerate();
    let fields = fields.map(|(position, acc)| {
        let field = tuple_field(position);
        let identity = scalar::literal(acc.monoid.identity(unit.scalar(acc.target)));
        match unit.kind(acc.target) {
            PlaceKind::Buffer => tokens! {
                unsafe { acc.#field.out().fill_columns(length, columns.start..columns.end, #identity); }
            },
            PlaceKind::Var | PlaceKind::Scalar => tokens!(acc.#field = #identity;),
        }
    });
    fields.collect()
}

//! Accumulators that are noted ([`privatize`](crate::targets::cpu::privatize)): a runtime's
//! `Scatter`, which is a copy of the table for each piece of the work or, where the table is too
//! large for that, notes of what is combined where.

use proc_macro2::TokenStream;

use super::context::Unit;
use super::kernels::{table_bytes, tuple_field};
use super::merging::Copies;
use super::{scalar, tokens};

/// What a kernel's implementation of the runtime's contract says of its scattered accumulators;
/// nothing if it has none. `noting`: what an accumulator begins as that notes what it can.
pub(super) fn items(
    unit: &Unit<'_>,
    copies: Copies<'_>,
    unpack: &TokenStream,
    noting: impl FnOnce() -> TokenStream,
) -> TokenStream {
    let scattered: Vec<_> = (copies.accs.iter().enumerate())
        .filter(|(_, acc)| unit.is_noted(acc.private))
        .collect();
    if scattered.is_empty() {
        return TokenStream::new();
    }
    let bytes = scattered
        .iter()
        .map(|(_, acc)| table_bytes(unit, acc.target));
    let settled = scattered.iter().map(|&(position, acc)| {
        let field = tuple_field(position);
        let operator = scalar::operator(acc.monoid, unit.scalar(acc.target));
        tokens!(all.#field.settle(&noted.#field, stretch, #operator);)
    });
    let noting = noting();
    tokens! {
        fn scattered_bytes(&self) -> u64 {
            #unpack
            0u64 #(.saturating_add(#bytes))*
        }

        fn noting(&self, most: usize) -> Self::Acc {
            #unpack
            #noting
        }

        unsafe fn settle(&self, all: &Self::Acc, noted: &Self::Acc, stretch: usize) {
            unsafe { #(#settled)* }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::stages::cpu::Cpu;
    use crate::ir::{Monoid, Program, Scalar};
    use crate::targets::cpu::rust::host::host;
    use crate::targets::cpu::rust::testing::{Build, indices, table};

    /// `for n, d { total[class[n], d] += 1; of_rows[d] += 1; of_elements[d, class[n]] += 1 }`
    fn counts() -> Program<Cpu> {
        let mut b = Build::new("counts");
        let (n, d, k) = (b.size("N"), b.size("D"), b.size("K"));
        let class = b.param("class", indices(k, &[n]));
        let places = [vec![k, d], vec![d], vec![d, k]]
            .map(|dims| b.alloc(table(Scalar::F64, &dims), Some(0.0)));
        let targets = places.map(|place| (Monoid::Add, place));
        b.par(&[n, d], &targets, |b, at, privates| {
            let found = b.load(class, &at[..1]);
            let one = b.f64(1.0);
            b.combine(Monoid::Add, privates[0], &[found, at[1]], one);
            b.combine(Monoid::Add, privates[1], &at[1..], one);
            b.combine(Monoid::Add, privates[2], &[at[1], found], one);
        });
        crate::targets::cpu::rust::testing::targeted(b.finish(&places))
    }

    fn emitted(program: &Program<Cpu>) -> String {
        crate::targets::cpu::rust::names::as_in_source(&host(&Unit::of(program), &[]))
            .replace(' ', "")
    }

    #[test]
    fn elements_at_computed_places_are_noted_and_rows_are_not() {
        let text = emitted(&counts());
        assert!(
            text.contains("typeAcc=(Buf<f64>,Buf<f64>,Scatter<f64>,);"),
            "{text}"
        );
        assert!(
            text.contains("all.2.settle(&noted.2,stretch,|x,y|x+y);"),
            "{text}"
        );
    }

    #[test]
    fn what_is_combined_into_a_new_table_is_that_table() {
        let text = emitted(&counts());
        assert!(!text.contains("OutBuf::<f64>::new"), "{text}");
        assert_eq!(text.matches("=OutBuf::from(").count(), 3, "{text}");
    }
}

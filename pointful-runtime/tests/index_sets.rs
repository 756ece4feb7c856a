//! Members, ordinals and extents of every set, at edge sizes and at random.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful_runtime::{Compound, Dyn, Either, Error, Extent, Fin, IndexSet, Product, StaticSet};
use proptest::prelude::*;

/// Ordinals and members correspond, from both ends, and nothing lies beyond.
fn round_trips<I: IndexSet>(extent: Extent<I>) {
    let len = extent.len();
    assert_eq!(extent.is_empty(), len == 0);
    assert_eq!(extent.axes().len(), I::RANK);
    assert_eq!(extent.axes().iter().product::<usize>(), len, "{extent:?}");
    let members = extent.iter();
    assert_eq!(members.len(), len);
    for (k, member) in members.enumerate() {
        assert_eq!(member.ordinal(extent), k);
        assert_eq!(I::from_ordinal(k, extent).checked_ordinal(extent), Some(k));
    }
    let backwards = extent.iter().rev().map(|member| member.ordinal(extent));
    assert!(backwards.eq((0..len).rev()));
    assert!(extent.iter().nth(len).is_none());
    if len > 2 {
        let mut members = extent.into_iter();
        assert_eq!(members.nth(1).map(|member| member.ordinal(extent)), Some(1));
        assert_eq!(
            members.next_back().map(|member| member.ordinal(extent)),
            Some(len - 1)
        );
        assert_eq!(members.len(), len - 3);
    }
    assert!(catch_unwind(AssertUnwindSafe(|| I::from_ordinal(len, extent))).is_err());
}

#[test]
fn basic_sets_at_edge_sizes() {
    for n in [0, 1, 2, 7, 1000] {
        round_trips(Extent::<Dyn>::new(n));
        round_trips(Extent::<Either<Dyn, Fin<3>>>::new((n, ())));
        round_trips(Extent::<Either<Fin<3>, Dyn>>::new(((), n)));
        round_trips(Extent::<(Dyn, Fin<2>)>::new((n, ())));
        round_trips(Extent::<(bool, Dyn)>::new(((), n)));
    }
    round_trips(Extent::<Fin<0>>::default());
    round_trips(Extent::<Fin<1>>::default());
    round_trips(Extent::<Fin<1000>>::default());
    round_trips(Extent::<bool>::default());
    round_trips(Extent::<()>::default());
    round_trips(Extent::<((), ())>::default());
    round_trips(Extent::<((Fin<2>, bool), Either<(), Fin<3>>)>::default());
}

#[test]
fn extents_read_well() {
    assert_eq!(Extent::<Dyn>::new(5).to_string(), "5");
    assert_eq!(format!("{:?}", Extent::<Dyn>::new(5)), "Extent<Dyn>[5]");
    let nested = Extent::<((Dyn, Fin<2>), Either<bool, Dyn>)>::new(((3, ()), ((), 4)));
    assert_eq!(nested.to_string(), "((3, 2), 2 + 4)");
    assert_eq!(nested.axes(), [3, 2, 6]);
    assert_eq!(Extent::<()>::default().to_string(), "1");
}

#[test]
fn sizes_beyond_memory_are_refused() {
    let most = isize::MAX as usize;
    assert_eq!(Extent::<Dyn>::try_new(most).map(Extent::len), Ok(most));
    assert!(matches!(
        Extent::<Dyn>::try_new(most + 1),
        Err(Error::Overflow { .. })
    ));
    assert!(matches!(
        Extent::<(Dyn, Dyn)>::try_new((most, 2)),
        Err(Error::Overflow { .. })
    ));
    assert_eq!(
        Extent::<(Dyn, Dyn)>::try_new((1 << 40, 1 << 40))
            .unwrap_err()
            .to_string(),
        "`(Dyn, Dyn)` of size (1099511627776, 1099511627776) has more members than fit in memory"
    );
    // An empty factor hides neither the overflow of the others, nor depends on where it stands.
    for size in [
        (0, 1 << 40, 1 << 40),
        (1 << 40, 0, 1 << 40),
        (1 << 40, 1 << 40, 0),
    ] {
        assert!(matches!(
            Extent::<(Dyn, Dyn, Dyn)>::try_new(size),
            Err(Error::Overflow { .. })
        ));
    }
    assert_eq!(Extent::<(Dyn, Dyn)>::new((0, most)).len(), 0);
    assert!(matches!(
        Extent::<Either<Dyn, Dyn>>::try_new((most, 1)),
        Err(Error::Overflow { .. })
    ));
    assert!(matches!(
        Extent::<Either<Dyn, Dyn>>::try_new((usize::MAX, usize::MAX)),
        Err(Error::Overflow { .. })
    ));
    assert!(Extent::<Fin<{ usize::MAX }>>::try_new(()).is_err());
}

#[test]
#[should_panic(expected = "has more members than fit in memory")]
fn new_panics_where_try_new_fails() {
    let _ = Extent::<(Dyn, Dyn)>::new((usize::MAX, 2));
}

#[test]
#[should_panic(expected = "index 3 is out of range for `(Fin<1>, Dyn)` of 3 members")]
fn an_ordinal_too_large_is_named() {
    <(Fin<1>, Dyn)>::from_ordinal(3, Extent::new(((), 3)));
}

#[test]
#[should_panic(expected = "the index is no member of `(Dyn, Dyn)` of size (2, 3)")]
fn a_stranger_has_no_ordinal() {
    // It would be 4, that of another member, if only the product were compared.
    (Dyn(0), Dyn(4)).ordinal(Extent::new((2, 3)));
}

#[test]
#[should_panic(expected = "the ordinal is no member of this `Fin`")]
fn a_fin_is_below_its_size() {
    Fin::<3>::new(3);
}

#[test]
fn products_split_and_join() {
    let (a, b, c) = (
        Extent::<Dyn>::new(2),
        Extent::<Fin<3>>::default(),
        Extent::<bool>::default(),
    );
    let all = Extent::<(Dyn, Fin<3>, bool)>::join((a, b, c));
    assert_eq!(all, (a, b, c).into());
    assert_eq!(all.split(), (a, b, c));
    let (head, tail) = <(Dyn, Fin<3>, bool)>::split_head(all);
    assert_eq!((head, tail), (a, (b, c).into()));
    for head in a.iter() {
        for (k, inner) in tail.iter().enumerate() {
            let member = Product::cons(head, inner);
            let _: &(Dyn, Fin<3>, bool) = &member;
            assert_eq!(member.ordinal(all), head.0 * 6 + k);
        }
    }
    let union = Extent::<Either<Dyn, Fin<3>>>::join((a, b));
    assert_eq!((union.len(), union.split()), (5, (a, b)));
    assert_eq!(
        Either::<Dyn, Fin<3>>::from_ordinal(1, union),
        Either::Left(Dyn(1))
    );
    assert_eq!(
        Either::<Dyn, Fin<3>>::from_ordinal(2, union),
        Either::Right(Fin::new(0))
    );
    assert_eq!(
        Either::<Dyn, Fin<3>>::Left(Dyn(2)).checked_ordinal(union),
        None
    );
    assert!(Extent::<(Dyn, Dyn)>::try_join((Extent::new(1 << 40), Extent::new(1 << 40))).is_err());
}

#[test]
fn extents_are_equal_by_size() {
    assert_ne!(Extent::<(Dyn, Dyn)>::new((2, 3)), Extent::new((3, 2)));
    assert_eq!(<(Fin<2>, bool)>::SIZE, ((), ()));
    assert_eq!(size_of::<Extent<(Fin<2>, bool)>>(), 0);
    assert_eq!(size_of::<Extent<(Fin<2>, Dyn)>>(), size_of::<usize>());
}

proptest! {
    #[test]
    fn products_of_every_arity(a in 0_usize..4, b in 0_usize..4, c in 0_usize..4, d in 0_usize..3, e in 0_usize..3) {
        round_trips(Extent::<(Dyn, Dyn)>::new((a, b)));
        round_trips(Extent::<(Dyn, Fin<2>, Dyn)>::new((a, (), b)));
        round_trips(Extent::<(Dyn, Dyn, Dyn, Dyn)>::new((a, b, c, d)));
        round_trips(Extent::<(Dyn, Dyn, Dyn, Dyn, Dyn)>::new((a, b, c, d, e)));
        round_trips(Extent::<(Dyn, Dyn, Dyn, Dyn, Dyn, bool)>::new((a, b, c, d, e, ())));
        round_trips(Extent::<((Dyn, Dyn), (Dyn, (Dyn, Dyn)))>::new(((a, b), (c, (d, e)))));
        round_trips(Extent::<Either<(Dyn, Dyn), Either<Dyn, (Dyn, Dyn)>>>::new(((a, b), (c, (d, e)))));
    }

    #[test]
    fn order_is_row_major(a in 1_usize..5, b in 1_usize..5, c in 1_usize..5) {
        let extent = Extent::<(Dyn, (Dyn, Dyn))>::new((a, (b, c)));
        let members = (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| (Dyn(i), (Dyn(j), Dyn(k))))));
        prop_assert!(extent.iter().eq(members));
    }

    #[test]
    fn lengths_never_exceed_memory(a: usize, b: usize, c: usize) {
        for len in [
            Extent::<(Dyn, Dyn, Dyn)>::try_new((a, b, c)).map(Extent::len),
            Extent::<Either<Dyn, (Dyn, Dyn)>>::try_new((a, (b, c))).map(Extent::len),
        ].into_iter().flatten() {
            prop_assert!(len <= isize::MAX as usize);
        }
    }
}

#[test]
fn an_either_keeps_its_parts_apart() {
    type Set = Either<Dyn, bool>;
    let parts = <Set as Compound>::split(Extent::new((3, ())));
    assert_eq!(Set::join_sizes(parts), (3, ()));
}

//! Names that expansions and the runtime use themselves, as names of everything.
#![allow(non_camel_case_types, reason = "the names are those of functions")]

use pointful::prelude::*;

macro_rules! named {
    ($($name:ident $constant:ident $set:ident;)*) => {$(
        mod $name {
            use pointful::prelude::*;

            #[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
            pub(crate) enum $set { A, B }

            pub(crate) mod module {
                use pointful::prelude::*;

                pub(crate) const $constant: f64 = 2.0;

                /// A parameter, a local, a constant.
                #[pointful]
                pub(crate) fn combined<N: IndexSet, M: IndexSet>(is: &Table<N, M>, $name: &Table<N, f32>) -> Table<M, f32> {
                    let mut h = Accum::zero();
                    for n in N { h[is[n]] += $name[n]; }
                    h.get()
                }

                #[pointful]
                pub(crate) fn $name<N: IndexSet>(x: &Table<N, f64>) -> f64 {
                    let $name = for i in N { $constant * x[i].sin() };
                    sum(for i in N { sum(for j in N { $name[i] * $name[j] }) })
                }
            }

            /// A field.
            #[pointful]
            pub(crate) struct Held<N: IndexSet> { pub $name: Table<N, f64>, pub by: f64 }

            #[pointful]
            pub(crate) fn held<N: IndexSet>(it: &Held<N>) -> f64 { module::$name(it.$name) * it.by }

            /// A module, beside a set.
            #[pointful]
            pub(crate) fn over(x: &Table<$set, f64>) -> f64 { x[$set::A] - x[$set::B] + module::$name(x) }
        }

        #[test]
        fn $name() {
            let x = Table::<Dyn, f64>::from(vec![0.5, 1.0, 1.5]);
            let all: f64 = x.iter().map(|x| 2.0 * x.sin()).sum::<f64>().powi(2);
            assert!(($name::module::$name(&x) - all).abs() < 1e-12);
            let slope = grad!($name::module::$name)(&x);
            assert!((slope.as_slice()[0] - 4.0 * all.sqrt() * 0.5f64.cos()).abs() < 1e-12);
            let held = $name::Held { $name: x, by: 3.0 };
            assert!(($name::held(&held) - 3.0 * all).abs() < 1e-12);
            assert_eq!(grad!($name::held, wrt = it)(&held).by, $name::held(&held) / 3.0);
            let two = Table::<$name::$set, f64>::from_vec(Extent::<$name::$set>::default(), vec![0.0, 0.0]);
            assert_eq!($name::over(&two.unwrap()), 0.0);
            let is = Table::<Dyn, Fin<2>>::from_indices(Extent::<Dyn>::new(3), Extent::<Fin<2>>::new(()), vec![1, 0, 1]);
            let sums = $name::module::combined(&is.unwrap(), &Table::<Dyn, f32>::from(vec![1.0, 2.0, 4.0]));
            assert_eq!(sums.as_slice(), [2.0, 5.0]);
        }
    )*};
}

named! {
    most MOST Along;
    contract CONTRACT Buf;
    contract_here CONTRACT_HERE Kernel;
    launch LAUNCH Opaque;
    launch_here HERE Out;
    host CONSTANT_OF_THE_MODULE OutBuf;
    kernel KERNEL Scatter;
    inputs INPUTS Steps;
    outputs OUTPUTS Work;
    lane LANE Lane;
    lanes LANES Acc;
    acc ACC Named0;
    point POINT Part;
    piece PIECE Carrier;
    math MATH Never;
    get GET T0;
    range RANGE Extents;
    here X_HERE Infallible;
    taken TAKEN Core;
    line LINE Record;
    column COLUMN Field;
    concat CONCAT Members;
}

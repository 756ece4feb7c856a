//! Tables on a device, through the crate that users have: what moves, where functions run, and what
//! they say of tables in two places.
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use pointful::__private::cuda::Emulation;
use pointful::Error;
use pointful::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
struct Row(usize);

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
enum Channel {
    Red,
    Green,
}

#[pointful]
type Image<T> = Table<(Row, Channel), T>;

#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Layer<T: Float, N: IndexSet> {
    weights: Table<(N, N), T>,
    bias: Table<N, T>,
    slope: T,
}

#[pointful]
#[derive(Clone, Debug, PartialEq)]
enum Rule<N: IndexSet> {
    Constant(f64),
    Decay { from: f64, at: (N, usize) },
    Other(Step),
    Nothing,
}

#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Step {
    size: f64,
}

#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Model<T: Float, N: IndexSet> {
    layer: Layer<T, N>,
    pair: (Table<N, bool>, (usize, Table<Dyn, N>)),
    image: Image<f32>,
    rule: Rule<N>,
    first: N,
    extent: Extent<N>,
    rates: [[f64; 2]; 3],
    single: (Fin<3>,),
    rows: (Ragged<N, f32>, f64),
    hidden: Step,
}

/// What was generated for it stands in a module that does not see private fields of others.
mod inner {
    use pointful::prelude::*;

    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Closed {
        inside: Table<Dyn, i32>,
    }

    impl Closed {
        pub(crate) fn new(values: Vec<i32>) -> Self {
            Closed {
                inside: Table::from(values),
            }
        }

        pub(crate) fn table(&self) -> &Table<Dyn, i32> {
            &self.inside
        }
    }

    #[pointful]
    pub(crate) fn total_inside(c: &Closed) -> i32 {
        sum(c.inside)
    }
}

fn layer() -> Layer<f64, Dyn> {
    Layer {
        weights: Table::from([[1.0, 2.0], [3.0, 4.0]]),
        bias: Table::from([5.0, 6.0]),
        slope: 0.5,
    }
}

fn model(rule: Rule<Dyn>) -> Model<f64, Dyn> {
    let extent = Extent::<Dyn>::new(2);
    let image = Extent::<(Row, Channel)>::new((3, ()));
    Model {
        layer: layer(),
        pair: (
            Table::from(vec![true, false]),
            (
                7,
                Table::from_fn_into(Extent::<Dyn>::new(3), extent, |i| Dyn(i.0 % 2)),
            ),
        ),
        image: Table::from_fn(image, |(r, c)| {
            r.0 as f32 + if c == Channel::Red { 0.5 } else { 0.0 }
        }),
        rule,
        first: Dyn(1),
        extent,
        rates: [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]],
        single: (Fin::new(2),),
        rows: (Ragged::from_rows([vec![1.5, 2.5], vec![]]), 0.5),
        hidden: Step { size: 0.25 },
    }
}

#[test]
fn structs_are_moved_field_by_field() {
    let device = Device::emulated();
    for rule in [
        Rule::Constant(1.5),
        Rule::Decay {
            from: 2.0,
            at: (Dyn(1), 3),
        },
        Rule::Other(Step { size: 4.0 }),
        Rule::Nothing,
    ] {
        let model = model(rule);
        let there = model.to_device(&device).expect("moved");
        for place in [
            there.layer.weights.device(),
            there.layer.bias.device(),
            there.pair.0.device(),
            there.pair.1.1.device(),
            there.image.device(),
            there.rows.0.device(),
        ] {
            assert_eq!(place, Some(&device));
        }
        assert_eq!((there.layer.slope, there.pair.1.0), (0.5, 7));
        let back = there.to_host().expect("moved back");
        assert!(back.image.device().is_none() && back.layer.bias.device().is_none());
        assert_eq!(back, model);
        // A copy: what was moved is where it was.
        assert!(model.layer.bias.device().is_none());
        assert_eq!(there.to_host().expect("moved back"), model);
    }
}

#[test]
fn tables_of_structs_are_moved() {
    let device = Device::emulated();
    let steps: Tables<Dyn, Step> = vmap!(halved)(&Table::from(vec![1.0, 2.0, 3.0]));
    let there = steps.to_device(&device).expect("moved");
    assert_eq!(there.size.device(), Some(&device));
    assert_eq!(
        there.to_host().expect("moved back").size.as_slice(),
        [0.5, 1.0, 1.5]
    );
}

#[pointful]
fn halved(x: f64) -> Step {
    Step { size: x / 2.0 }
}

#[test]
fn rows_of_structs_and_closed_structs_are_moved() {
    let device = Device::emulated();
    let closed = inner::Closed::new(vec![1, 2, 3]);
    let all = (
        vec![layer(), layer()],
        [closed.clone(), closed.clone()],
        Extent::<Dyn>::new(4),
    );
    let there = all.to_device(&device).expect("moved");
    assert_eq!(there.0[1].bias.device(), Some(&device));
    assert_eq!(there.1[1].table().device(), Some(&device));
    assert_eq!(inner::total_inside(&there.1[0]), 6);
    let back = there.to_host().expect("moved back");
    assert_eq!(back, all);
    assert_eq!(inner::total_inside(&back.1[0]), 6);
}

#[pointful]
fn weighted<N: IndexSet>(x: &Table<N, f64>, weights: &Table<N, f64>, by: f64) -> f64 {
    by * sum(x * weights)
}

#[pointful]
fn applied<T: Float, N: IndexSet>(layer: &Layer<T, N>, x: &Table<N, T>) -> Table<N, T> {
    for i in N {
        layer.slope
            * sum(for j in N {
                layer.weights[i][j] * x[j]
            })
            + layer.bias[i]
    }
}

#[pointful]
fn doubled<N: IndexSet>(x: Table<N, f64>) -> Table<N, f64> {
    2.0 * x
}

#[pointful]
fn negate<N: IndexSet>(x: &mut Table<N, f64>) {
    for i in N {
        x[i] = -x[i];
    }
}

#[pointful]
fn reached<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, at: &Table<M, N>) -> f64 {
    sum(for m in M {
        x[at[m]]
    })
}

#[pointful]
fn how_many(flags: &Table<Dyn, bool>) -> usize {
    count(flags)
}

#[pointful]
fn single(x: &Table<(), f64>) -> f64 {
    2.0 * x[()]
}

#[pointful]
fn members<N: IndexSet>(_x: &Table<N, f64>) -> usize {
    size(N)
}

/// What a panic says.
#[track_caller]
fn words<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(f()))).expect_err("it panics");
    *panic.downcast::<String>().expect("words")
}

fn list(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

#[test]
fn functions_run_where_their_tables_are() {
    let device = Device::emulated();
    let (x, w) = (list(&[1.0, 2.0]), list(&[3.0, 4.0]));
    let (there, also) = (&x, &w);
    let (there, also) = (
        there.to_device(&device).expect("moved"),
        also.to_device(&device).expect("moved"),
    );
    let back = |table: &Table<Dyn, f64>| {
        assert_eq!(table.device(), Some(&device));
        table.to_host().expect("moved back")
    };
    assert_eq!(weighted(&there, &also, 2.0), 22.0);
    assert_eq!(back(&doubled(there.clone())), list(&[2.0, 4.0]));
    let mut changed = there.clone();
    negate(&mut changed);
    assert_eq!(back(&changed), list(&[-1.0, -2.0]));
    let flags = Table::from(vec![true, false, true]);
    let flags = flags.to_device(&device).expect("moved");
    assert_eq!(how_many(&flags), 2);
    let one = Table::scalar(1.5).to_device(&device).expect("moved");
    assert_eq!(single(&one), 3.0);
    let at =
        Table::<Dyn, Dyn>::from_fn_into(Extent::<Dyn>::new(3), Extent::<Dyn>::new(2), |_| Dyn(1));
    let at = at.to_device(&device).expect("moved");
    assert_eq!(reached(&there, &at), 6.0);
    let layer_there = layer().to_device(&device).expect("moved");
    assert_eq!(back(&applied(&layer_there, &there)), applied(&layer(), &x));

    // Derivatives are functions, and so is what a function gives.
    let slopes = grad!(weighted)(&there, &also, 2.0);
    assert_eq!(
        (back(&slopes.0), back(&slopes.1), slopes.2),
        grad!(weighted)(&x, &w, 2.0)
    );
    let (_, pull) = vjp!(doubled)(there.clone(), &also);
    assert_eq!(back(&pull), list(&[6.0, 8.0]));
    let (_, tangent) = jvp!(doubled)(there.clone(), &also);
    assert_eq!(back(&tangent), list(&[6.0, 8.0]));

    // An extent is known on the host.
    assert_eq!(members(&x), 2);
    assert_eq!(members(&there), 2);
}

#[test]
fn a_function_names_the_parameters_that_live_in_two_places() {
    let device = Device::emulated();
    let (x, w) = (list(&[1.0, 2.0]), list(&[3.0, 4.0]));
    let there = w.to_device(&device).expect("moved");
    let mixed = |function: &str, left: &str, right: &str| {
        format!("`{function}`: `{left}` lives on the host, and `{right}` on {device}")
    };
    assert_eq!(
        words(|| weighted(&x, &there, 2.0)),
        mixed("weighted", "x", "weights")
    );
    let at = Table::<Dyn, Dyn>::from_fn_into(Extent::<Dyn>::new(2), Extent::<Dyn>::new(2), |i| i);
    let at = at.to_device(&device).expect("moved");
    assert_eq!(words(|| reached(&x, &at)), mixed("reached", "x", "at"));
    assert_eq!(
        words(|| applied(&layer(), &there)),
        mixed("applied", "layer.weights", "x")
    );
    let seed = words(|| vjp!(doubled)(x.clone(), &there));
    assert!(seed.contains(&format!("on {device}")), "{seed}");
    let (_, forth) = linearize!(doubled)(x.clone());
    let direction = words(|| forth(&there));
    assert!(direction.contains(&format!("on {device}")), "{direction}");
    let other = Device::emulate(Emulation::default());
    let elsewhere = x.to_device(&other).expect("moved");
    assert_eq!(
        words(|| weighted(&elsewhere, &there, 2.0)),
        format!("`weighted`: `x` lives on {other}, and `weights` on {device}")
    );
}

#[test]
fn a_call_that_may_fail_gives_the_error() {
    let device = Device::emulated();
    let (x, w) = (list(&[1.0, 2.0]), list(&[3.0, 4.0]));
    let there = w.to_device(&device).expect("moved");
    assert_eq!(try_call!(weighted)(&there, &there, 1.0), Ok(25.0));
    let error = try_call!(weighted)(&x, &there, 1.0).expect_err("one is on a device");
    let here = |place: &str| place == "the host";
    assert!(
        matches!(
            &error,
            Error::Devices { function: "weighted", left: "x", left_device, right: "weights", .. }
                if here(left_device)
        ),
        "{error:?}"
    );
    assert_eq!(
        try_call!(weighted)(&x, &there.to_host().expect("moved back"), 1.0),
        Ok(11.0)
    );
    let error = try_call!(each)(&there).expect_err("any Rust is the host's");
    assert!(
        matches!(
            &error,
            Error::OnDevice { function: "each", parameter: "x", device: place, .. }
                if *place == device.to_string()
        ),
        "{error:?}"
    );
    let small = Device::emulate(Emulation {
        memory: 70,
        ..Emulation::default()
    });
    let there = list(&[1.0; 8]).to_device(&small).expect("64 bytes");
    let error = try_call!(weighted)(&there, &there, 1.0).expect_err("8 more");
    assert!(
        matches!(error, Error::OutOfDeviceMemory { .. }),
        "{error:?}"
    );
}

#[pointful(extern)]
fn rounded(x: f64) -> f64 {
    format!("{x:.0}").parse().unwrap_or(0.0)
}

#[pointful]
fn each<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        rounded(x[i])
    }
}

#[test]
fn what_came_back_is_computed_with() {
    let device = Device::emulated();
    let (layer, x) = (layer(), list(&[1.0, -1.0]));
    let expected = applied(&layer, &x);
    let (there, x) = (&layer, &x)
        .0
        .to_device(&device)
        .map(|there| (there, x))
        .expect("moved");
    assert_eq!(applied(&there.to_host().expect("moved back"), &x), expected);
}

//! Structs as parameters, results, states of loops and elements; generic ones; and as vectors.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;
use pointful_link_lib::net::{self, Batch, Layer, Net, Short};

type Inputs = Fin<2>;

fn numbers<I: IndexSet, T: Float>(extent: Extent<I>, seed: f64) -> Table<I, T> {
    let mut at = seed;
    Table::from_fn(extent, |_| {
        at += 1.0;
        T::from_f64((at * at * 0.7).sin())
    })
}

fn sample<T: Float>() -> Net<Inputs, T> {
    Net {
        first: Layer {
            w: numbers(Extent::default(), 0.1),
            b: numbers(Extent::default(), 0.2),
        },
        second: Layer {
            w: numbers(Extent::default(), 0.3),
            b: numbers(Extent::default(), 0.4),
        },
        output: (T::from_f64(0.5), 7),
    }
}

mod gated {
    //! A struct with a set that only this module names.

    use pointful::prelude::*;

    #[derive(Clone, Copy, IndexSet)]
    pub(super) enum Gate {
        Open,
        Shut,
    }

    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub(super) struct Gates {
        pub(super) bias: Table<(Gate, Fin<3>), f64>,
        pub(super) first: Table<Gate, f64>,
    }

    #[pointful]
    pub(super) fn through(gates: &Gates) -> f64 {
        sum(for k in Fin::<3> {
            gates.bias[Gate::Open][k] * gates.bias[Gate::Shut][k] * gates.first[Gate::Shut]
        })
    }
}

#[test]
fn a_set_in_a_struct_need_not_be_named_where_its_gradient_is_taken() {
    let gates = gated::Gates {
        bias: numbers(Extent::default(), 0.1),
        first: numbers(Extent::default(), 0.2),
    };
    let slope = grad!(gated::through)(&gates);
    let [bias, first] = [gates.bias.as_slice(), gates.first.as_slice()];
    let crossed: Vec<f64> = (0..6).map(|at| bias[(at + 3) % 6] * first[1]).collect();
    assert_eq!(slope.bias.as_slice(), crossed);
    assert_eq!(slope.first.as_slice()[0], 0.0);
    let both: f64 = (0..3).map(|k| bias[k] * bias[k + 3]).sum();
    assert!((slope.first.as_slice()[1] - both).abs() < 1e-12);
}

#[test]
fn a_generic_struct_of_another_crate_and_its_gradient() {
    for n in [1, 2, 7, 100] {
        let net = sample::<f64>();
        let x: Batch<Dyn, Inputs, f64> = numbers(Extent::<(Dyn, Inputs)>::new((n, ())), 0.5);
        let y: Table<Dyn, f64> = numbers(Extent::new(n), 0.6);
        let slope = grad!(net::loss, wrt = net)(&net, &x, &y);
        let (value, same) = net::loss_and_slope(&net, &x, &y);
        assert_eq!((value, &same), (net::loss(&net, &x, &y), &slope));
        // The usize stays what it is.
        assert_eq!(slope.output.1, 7);
        let flat = net.flatten();
        assert_eq!((flat.len(), net.dimension()), (14, 14));
        for (at, expected) in slope.flatten().into_iter().enumerate() {
            let moved = |by: f64| {
                let mut flat = flat.clone();
                flat[at] += by;
                net::loss(&net.unflatten(&flat).expect("as many"), &x, &y)
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!(
                (difference - expected).abs() < 1e-7,
                "{difference} is not {expected}"
            );
        }
    }
}

#[test]
fn both_floats() {
    let net = sample::<f32>();
    let x: Batch<Dyn, Inputs, f32> = numbers(Extent::<(Dyn, Inputs)>::new((5, ())), 0.5);
    let y: Table<Dyn, f32> = numbers(Extent::new(5), 0.6);
    let mut trained = net.clone();
    let before = net::loss(&net, &x, &y);
    for _ in 0..20 {
        let slope = grad!(net::loss, wrt = net)(&trained, &x, &y);
        trained = net::descended(&trained, &slope, 0.1);
    }
    assert!(net::loss(&trained, &x, &y) < before / 2.0);
    assert_eq!(trained.output.1, 27);
}

#[test]
fn a_struct_is_a_vector() {
    let net = sample::<f64>();
    let mut sum = net.zeros_like();
    assert_eq!((sum.flatten(), sum.output.1), (vec![0.0; 14], 7));
    sum.axpy(2.0, &net);
    sum.scale(0.5);
    assert_eq!(sum, net);
    let squares: f64 = net.flatten().iter().map(|x| x * x).sum();
    assert!((net.dot(&net) - squares).abs() < 1e-12);
    assert_eq!(net.map(|x| x + 1.0).output, (1.5, 7));
    let error = net.unflatten(&[0.0; 13]).expect_err("one is missing");
    assert_eq!(
        error.to_string(),
        "a vector of 14 coordinates cannot be made of 13"
    );
}

#[test]
fn an_alias_of_a_length() {
    let x: Short<3> = Table::from([1.0, 2.0, 3.0]);
    assert_eq!(net::total(&x), 6.0);
    assert_eq!(grad!(net::total)(&x).as_slice(), [1.0; 3]);
}

/// A point mass.
#[pointful]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Body {
    place: f64,
    speed: f64,
}

/// Two of them, and their number of steps.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    left: Body,
    right: (Body, f64),
    steps: usize,
}

#[pointful]
fn moved(body: Body, by: f64, dt: f64) -> Body {
    let speed = body.speed + dt * by;
    Body {
        place: body.place + dt * speed,
        speed,
    }
}

#[pointful]
fn simulated(start: Body, steps: usize) -> Body {
    let mut body = start;
    for _t in 0..steps {
        body = moved(body, -body.place, 0.1);
    }
    body
}

#[pointful]
fn fields_as_states(start: &Body, steps: usize) -> Body {
    let mut body = Body { ..start };
    for _t in 0..steps {
        body.speed -= 0.1 * body.place;
        body.place += 0.1 * body.speed;
    }
    body
}

#[pointful]
fn energy(start: Body, steps: usize) -> f64 {
    let end = simulated(start, steps);
    end.speed * end.speed + end.place * end.place
}

fn by_hand(mut body: Body, steps: usize) -> Body {
    for _ in 0..steps {
        body.speed -= 0.1 * body.place;
        body.place += 0.1 * body.speed;
    }
    body
}

#[test]
fn states_of_loops() {
    let start = Body {
        place: 1.0,
        speed: -0.5,
    };
    for steps in [0, 1, 2, 7, 1000] {
        let expected = by_hand(start, steps);
        for found in [simulated(start, steps), fields_as_states(&start, steps)] {
            let distance = found.place - expected.place;
            assert!(distance.abs() < 1e-9, "{found:?} is not {expected:?}");
        }
        let slope = grad!(energy)(start, steps);
        let moved = |by: Body| {
            let mut there = start;
            there.axpy(1.0, &by);
            let mut back = start;
            back.axpy(-1.0, &by);
            (energy(there, steps) - energy(back, steps)) / 2e-6
        };
        let by_place = moved(Body {
            place: 1e-6,
            speed: 0.0,
        });
        let by_speed = moved(Body {
            place: 0.0,
            speed: 1e-6,
        });
        assert!((slope.place - by_place).abs() < 1e-6 && (slope.speed - by_speed).abs() < 1e-6);
    }
}

#[pointful]
fn swapped(pair: &Pair) -> Pair {
    let (right, weight) = pair.right;
    Pair {
        left: right,
        right: (pair.left, 2.0 * weight),
        ..pair
    }
}

#[pointful]
fn later(pair: Pair) -> (usize, Pair, f64) {
    let next = Pair {
        steps: pair.steps + 1,
        left: Body {
            speed: 0.0,
            ..pair.left
        },
        ..pair
    };
    (next.steps, next, next.right.1)
}

#[test]
fn nested_in_tuples_and_updated() {
    let (left, right) = (
        Body {
            place: 1.0,
            speed: 2.0,
        },
        Body {
            place: 3.0,
            speed: 4.0,
        },
    );
    let pair = Pair {
        left,
        right: (right, 5.0),
        steps: 6,
    };
    let expected = Pair {
        left: right,
        right: (left, 10.0),
        steps: 6,
    };
    assert_eq!(swapped(&pair), expected);
    let (steps, next, weight) = later(pair);
    assert_eq!((steps, next.steps, weight), (7, 7, 5.0));
    assert_eq!((next.left.place, next.left.speed), (1.0, 0.0));
    assert_eq!(pair_of(&next).dimension(), 5);
}

fn pair_of(pair: &Pair) -> &Pair {
    pair
}

#[pointful]
fn all_moved<N: IndexSet>(
    place: &Table<N, f64>,
    speed: &Table<N, f64>,
    dt: f64,
) -> (Table<N, f64>, Table<N, f64>) {
    let bodies = for n in N {
        Body {
            place: place[n],
            speed: speed[n],
        }
    };
    let next = for n in N {
        moved(bodies[n], -bodies[n].place, dt)
    };
    (
        next.place,
        for n in N {
            next[n].speed
        },
    )
}

#[pointful]
fn fastest<N: IndexSet>(speed: &Table<N, f64>) -> Body {
    let bodies = for n in N {
        Body {
            place: n.ordinal() as f64,
            speed: speed[n],
        }
    };
    bodies[argmax(bodies.speed)]
}

#[pointful]
fn total_speed<N: IndexSet>(speed: &Table<N, f64>) -> f64 {
    let bodies = for n in N {
        Body {
            place: 0.0,
            speed: speed[n] * speed[n],
        }
    };
    sum(bodies.speed) + fastest(speed).speed
}

#[test]
fn tables_of_structs() {
    for n in [0, 1, 2, 7, 1000] {
        let (place, speed): (Table<Dyn, f64>, Table<Dyn, f64>) =
            (numbers(Extent::new(n), 0.1), numbers(Extent::new(n), 0.2));
        let (places, speeds) = all_moved(&place, &speed, 0.1);
        for k in 0..n {
            let expected = by_hand(
                Body {
                    place: place.as_slice()[k],
                    speed: speed.as_slice()[k],
                },
                1,
            );
            assert!((places.as_slice()[k] - expected.place).abs() < 1e-12);
            assert!((speeds.as_slice()[k] - expected.speed).abs() < 1e-12);
        }
        if n > 0 {
            let found = fastest(&speed);
            assert_eq!(found.speed, speed.iter().copied().fold(-2.0, f64::max));
            assert_eq!(speed.as_slice()[found.place as usize], found.speed);
            let slope = grad!(total_speed)(&speed);
            for (k, slope) in slope.iter().enumerate() {
                let own = if k == found.place as usize { 1.0 } else { 0.0 };
                assert_eq!(*slope, 2.0 * speed.as_slice()[k] + own);
            }
        }
    }
}

/// Its parameters are in the order in which rustc wants them.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Spline<T: Float, const K: usize> {
    knots: Table<Fin<K>, T>,
    scale: [T; 2],
}

#[pointful]
fn spline<T: Float, const K: usize>(s: &Spline<T, K>, x: T) -> T {
    s.scale[0]
        * sum(for k in Fin::<K> {
            (x - s.knots[k]).powi(2)
        })
}

#[pointful]
fn fixed_spline(s: &Spline<f64, 3>, x: f64) -> f64 {
    let same: Spline<f64, 3> = Spline {
        knots: s.knots,
        scale: s.scale,
    };
    spline(same, x)
}

#[test]
fn lengths_as_arguments() {
    let s = Spline::<f64, 3> {
        knots: Table::from([1.0, 2.0, 3.0]),
        scale: [2.0, 0.0],
    };
    assert_eq!(spline(&s, 2.0), 4.0);
    assert_eq!(fixed_spline(&s, 2.0), 4.0);
    assert_eq!(s.flatten(), [1.0, 2.0, 3.0, 2.0, 0.0]);
}

#[pointful]
fn height(pair: &Pair) -> f64 {
    0.5 * pair.dot(pair) + pair.left.place
}

#[pointful]
fn descended(start: &Pair, steps: usize) -> Pair {
    let mut at = start;
    let mut speed = start.zeros_like();
    for _t in 0..steps {
        let slope = grad!(height)(at);
        speed.scale(0.5);
        speed.axpy(-0.25, &slope);
        at.axpy(1.0, &speed);
    }
    at.map(|x| x + 1.0)
}

#[pointful]
fn after_descent(start: &Pair, steps: usize) -> f64 {
    let end = descended(start, steps);
    end.dot(&end)
}

#[pointful]
fn moments<N: IndexSet, M: IndexSet, T: Float>(x: &Table<(N, M), T>, y: &Table<(N, M), T>) -> T {
    let mut z = x.zeros_like();
    z.axpy(2.0, y);
    z.scale(0.5);
    let both = (z, 3.0);
    both.dot(&(x, both.1))
}

#[test]
fn vectors_in_bodies() {
    let start = Pair {
        left: Body {
            place: 1.0,
            speed: 2.0,
        },
        right: (
            Body {
                place: 3.0,
                speed: 4.0,
            },
            5.0,
        ),
        steps: 6,
    };
    for steps in [0, 1, 2, 7] {
        let (mut at, mut speed) = (start.clone(), start.zeros_like());
        for _ in 0..steps {
            let mut slope = at.clone();
            slope.left.place += 1.0;
            speed.scale(0.5);
            speed.axpy(-0.25, &slope);
            at.axpy(1.0, &speed);
        }
        let found = descended(&start, steps);
        assert_eq!(found.steps, 6);
        let expected = at.map(|x| x + 1.0).flatten();
        for (found, expected) in found.flatten().into_iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{found} is not {expected}"
            );
        }
        let slope = grad!(after_descent)(&start, steps);
        for at in 0..5 {
            let moved = |by: f64| {
                let mut flat = start.flatten();
                flat[at] += by;
                after_descent(&start.unflatten(&flat).expect("five"), steps)
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((difference - slope.flatten()[at]).abs() < 1e-6);
        }
    }
    for n in [0, 1, 2, 7, 1000] {
        let extent = Extent::<(Dyn, Fin<3>)>::new((n, ()));
        let (x, y): (Table<_, f64>, Table<_, f64>) = (numbers(extent, 0.1), numbers(extent, 0.2));
        assert!((moments(&x, &y) - x.dot(&y) - 9.0).abs() < 1e-9);
    }
}

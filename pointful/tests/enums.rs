//! Enums whose variants hold values: as parameters and results, in tables and states, matched, and
//! in derivatives.
#![deny(warnings)]

use pointful::prelude::*;

#[pointful]
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Circle(f64),
    Rect { w: f64, h: f64 },
    Nothing,
}

#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Size {
    mm: f64,
    count: i64,
}

#[pointful]
#[derive(Debug, PartialEq)]
enum Part {
    Plain(Size, (bool, f32)),
    Of(Shape),
    At { last: bool, kind: Fin<3> },
}

#[pointful]
#[derive(Debug, PartialEq)]
enum Only {
    One(f64, i64),
}

#[pointful]
#[derive(Debug, PartialEq)]
enum Step<T: Float, N: IndexSet> {
    Stay,
    By(T),
    To(N),
    Back { by: T },
}

#[pointful]
#[derive(Debug, PartialEq)]
struct Body {
    shape: Shape,
    height: f64,
}

#[pointful]
fn area(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle(r) => 3.0 * r * r,
        Shape::Rect { w, h } => w * h,
        Shape::Nothing => 0.0,
    }
}

#[pointful]
fn turned(shape: Shape) -> Shape {
    match shape {
        Shape::Rect { h, w } => Shape::Rect { w: h, h: w },
        other => other,
    }
}

#[pointful]
fn grown(shape: &Shape, by: f64) -> Shape {
    match shape {
        Shape::Circle(r) if r < 0.0 => Shape::Nothing,
        Shape::Circle(r) => Shape::Circle(r * by),
        Shape::Rect { w, .. } => Shape::Rect { h: w + by, w },
        Shape::Nothing => Shape::Circle(by),
    }
}

#[pointful]
fn part(part: Part) -> (Part, f64) {
    let value = match part {
        Part::Plain(Size { mm, .. }, (true, x)) => mm + x as f64,
        Part::Plain(_, _) | Part::At { .. } => -1.0,
        Part::Of(Shape::Circle(r)) => r,
        Part::Of(shape) => area(shape),
    };
    (part, value)
}

#[pointful]
fn only(one: Only, x: f64) -> (Only, f64) {
    let Only::One(y, n) = one;
    (Only::One(y * x, n + 1), y)
}

#[pointful]
fn stepped<T: Float, N: IndexSet>(x: &Table<N, T>, step: Step<T, N>) -> (T, Step<T, N>) {
    match step {
        Step::Stay => (x[0], Step::By(x[0])),
        Step::By(d) => (x[0] + d, Step::Back { by: d }),
        Step::To(n) => (x[n], Step::To(n)),
        Step::Back { by } => (x[0] - by, Step::Stay),
    }
}

#[pointful]
fn volume(body: &Body) -> f64 {
    area(body.shape) * body.height
}

#[pointful]
fn raised(body: &Body, by: f64) -> Body {
    Body {
        shape: grown(body.shape, by),
        height: body.height + by,
    }
}

/// A table of them, and a state.
#[pointful]
fn last_and_total<N: IndexSet>(x: &Table<N, f64>, start: &Shape) -> (Shape, f64) {
    let shapes = for n in N {
        if x[n] > 1.0 {
            Shape::Circle(x[n])
        } else if x[n] > 0.0 {
            Shape::Rect { w: x[n], h: 2.0 }
        } else {
            Shape::Nothing
        }
    };
    let mut last = start;
    for n in N {
        last = match (shapes[n], last) {
            (Shape::Nothing, before) => before,
            (Shape::Circle(r), Shape::Circle(s)) => Shape::Circle(r + s),
            (shape, _) => shape,
        };
    }
    (
        last,
        sum(for n in N {
            area(shapes[n])
        }),
    )
}

#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>, start: &Shape) -> f64 {
    let (last, total) = last_and_total(x, start);
    area(last) + total
}

const RECT: Shape = Shape::Rect { w: 2.0, h: 5.0 };

fn list(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

#[test]
fn parameters_and_results() {
    let all = [Shape::Circle(2.0), RECT, Shape::Nothing];
    assert_eq!(all.each_ref().map(area), [12.0, 10.0, 0.0]);
    assert_eq!(turned(RECT), Shape::Rect { w: 5.0, h: 2.0 });
    assert_eq!(turned(Shape::Nothing), Shape::Nothing);
    assert_eq!(turned(Shape::Circle(1.0)), Shape::Circle(1.0));
    assert_eq!(grown(&Shape::Circle(-1.0), 3.0), Shape::Nothing);
    assert_eq!(grown(&Shape::Circle(2.0), 3.0), Shape::Circle(6.0));
    assert_eq!(grown(&RECT, 3.0), Shape::Rect { w: 2.0, h: 5.0 });
    assert_eq!(grown(&Shape::Nothing, 3.0), Shape::Circle(3.0));
    assert_eq!(only(Only::One(2.0, 3), 4.0), (Only::One(8.0, 4), 2.0));
}

#[test]
fn structs_tuples_members_and_enums_in_them() {
    let size = || Size { mm: 1.5, count: 7 };
    for (given, value) in [
        (Part::Plain(size(), (true, 0.5)), 2.0),
        (Part::Plain(size(), (false, 0.5)), -1.0),
        (Part::Of(Shape::Circle(4.0)), 4.0),
        (Part::Of(RECT), 10.0),
        (Part::Of(Shape::Nothing), 0.0),
        (
            Part::At {
                last: true,
                kind: Fin::new(2),
            },
            -1.0,
        ),
    ] {
        let text = format!("{given:?}");
        let (back, found) = part(given);
        assert_eq!((format!("{back:?}"), found), (text, value));
    }
    let x = list(&[1.0, 2.0]);
    assert_eq!(stepped(&x, Step::Stay), (1.0, Step::By(1.0)));
    assert_eq!(stepped(&x, Step::By(3.0)), (4.0, Step::Back { by: 3.0 }));
    assert_eq!(stepped(&x, Step::To(Dyn(1))), (2.0, Step::To(Dyn(1))));
    assert_eq!(stepped(&x, Step::Back { by: 3.0 }), (-2.0, Step::Stay));
    let single = Table::<Fin<1>, f32>::from([0.5]);
    assert_eq!(
        stepped(&single, Step::By(1.0)),
        (1.5, Step::Back { by: 1.0 })
    );
    let body = Body {
        shape: RECT,
        height: 2.0,
    };
    assert_eq!(volume(&body), 20.0);
    assert_eq!(raised(&body, 1.0).shape, Shape::Rect { w: 2.0, h: 3.0 });
}

#[test]
fn tables_and_states() {
    let x = list(&[2.0, -1.0, 3.0]);
    assert_eq!(
        last_and_total(&x, &Shape::Nothing),
        (Shape::Circle(5.0), 39.0)
    );
    assert_eq!(
        last_and_total(&list(&[0.5, -1.0]), &RECT).0,
        Shape::Rect { w: 0.5, h: 2.0 }
    );
    assert_eq!(last_and_total(&list(&[]), &RECT), (RECT, 0.0));
}

#[test]
fn a_derivative_is_of_its_values_variant() {
    assert_eq!(grad!(area)(&Shape::Circle(2.0)), Shape::Circle(12.0));
    assert_eq!(grad!(area)(&RECT), Shape::Rect { w: 5.0, h: 2.0 });
    assert_eq!(grad!(area)(&Shape::Nothing), Shape::Nothing);
    assert_eq!(
        value_and_grad!(area)(&RECT),
        (10.0, Shape::Rect { w: 5.0, h: 2.0 })
    );
    let (value, (by_shape, by)) = vjp!(grown)(&RECT, 3.0, &Shape::Rect { w: 10.0, h: 1.0 });
    assert_eq!(value, Shape::Rect { w: 2.0, h: 5.0 });
    assert_eq!((by_shape, by), (Shape::Rect { w: 11.0, h: 0.0 }, 1.0));
    // A cotangent of another variant is zero.
    let (_, (by_shape, by)) = vjp!(grown)(&RECT, 3.0, &Shape::Circle(1.0));
    assert_eq!((by_shape, by), (Shape::Rect { w: 0.0, h: 0.0 }, 0.0));
    let tangent = Shape::Circle(0.5);
    assert_eq!(
        jvp!(grown)(&Shape::Circle(2.0), 3.0, &tangent, 1.0),
        (Shape::Circle(6.0), Shape::Circle(3.5))
    );
    assert_eq!(
        grad!(volume)(&Body {
            shape: RECT,
            height: 2.0
        }),
        Body {
            shape: Shape::Rect { w: 10.0, h: 4.0 },
            height: 10.0
        }
    );
}

#[test]
fn loops_that_carry_them_have_derivatives() {
    let (x, h) = ([2.0, -1.0, 3.0, 0.5, 4.0], 1e-6);
    for start in [Shape::Circle(1.5), RECT, Shape::Nothing] {
        let (by_x, by_start) = grad!(total)(&list(&x), &start);
        for k in 0..x.len() {
            let moved = |by: f64| {
                let mut x = x;
                x[k] += by;
                total(&list(&x), &start)
            };
            let difference = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((by_x[k] - difference).abs() < 1e-6, "{start:?} {k}");
        }
        assert_eq!(
            std::mem::discriminant(&by_start),
            std::mem::discriminant(&start)
        );
    }
    let (_, by_start) = grad!(total)(&list(&[2.0]), &Shape::Circle(1.0));
    assert_eq!(by_start, Shape::Circle(18.0));
}

//! A search along a line for a step that satisfies the strong conditions of Wolfe (Nocedal and
//! Wright 2006, algorithms 3.5 and 3.6).

use crate::{Float, VectorSpace};

/// A point with its value and gradient.
#[derive(Clone)]
pub(super) struct Point<P> {
    pub(super) x: P,
    pub(super) value: f64,
    pub(super) gradient: P,
}

impl<P: VectorSpace + Clone> Point<P> {
    pub(super) fn of<F: FnMut(&P) -> (P::Scalar, P)>(x: P, f: &mut F) -> Self {
        let (value, gradient) = f(&x);
        Point {
            x,
            value: value.to_f64(),
            gradient,
        }
    }

    pub(super) fn gradient_norm(&self) -> f64 {
        self.gradient.dot(&self.gradient).to_f64().sqrt()
    }

    pub(super) fn is_finite(&self) -> bool {
        self.value.is_finite() && self.gradient_norm().is_finite()
    }
}

/// How much of what the slope promises a step has to bring, and what part of the slope it may leave.
const SUFFICIENT: f64 = 1e-4;
const CURVATURE: f64 = 0.9;

/// A step along the line: its length, where it leads, the slope along the line there.
struct Step<P> {
    length: f64,
    slope: f64,
    to: Point<P>,
}

/// The line from a point in a direction of descent.
struct Line<'a, P, F> {
    from: &'a Point<P>,
    direction: &'a P,
    slope: f64,
    f: &'a mut F,
    evaluations: usize,
}

impl<P: VectorSpace + Clone, F: FnMut(&P) -> (P::Scalar, P)> Line<'_, P, F> {
    fn step(&mut self, length: f64) -> Step<P> {
        let mut x = self.from.x.clone();
        x.axpy(P::Scalar::from_f64(length), self.direction);
        self.evaluations += 1;
        let to = Point::of(x, self.f);
        Step {
            length,
            slope: to.gradient.dot(self.direction).to_f64(),
            to,
        }
    }

    /// Whether the value falls as the slope promises. What is not finite does not.
    fn suffices(&self, step: &Step<P>) -> bool {
        step.to.is_finite()
            && step.to.value <= self.from.value + SUFFICIENT * step.length * self.slope
    }

    fn is_flat(&self, step: &Step<P>) -> bool {
        step.slope.abs() <= -CURVATURE * self.slope
    }

    /// A step between `low`, the best that suffices, and a `high` beyond which there is none to
    /// look for.
    fn zoom(&mut self, mut low: Step<P>, mut high: Step<P>) -> Step<P> {
        for _ in 0..40 {
            let length = between(&low, &high);
            if length == low.length || length == high.length {
                break;
            }
            let step = self.step(length);
            if !self.suffices(&step) || step.to.value >= low.to.value {
                high = step;
            } else if self.is_flat(&step) {
                return step;
            } else {
                if step.slope * (high.length - low.length) >= 0.0 {
                    high = low;
                }
                low = step;
            }
        }
        low
    }
}

/// The minimum of the cubic through two steps, not too near to either.
fn between<P>(low: &Step<P>, high: &Step<P>) -> f64 {
    let (a, b) = (low.length, high.length);
    let secant = 3.0 * (low.to.value - high.to.value) / (a - b);
    let middle = low.slope + high.slope - secant;
    let root = (middle * middle - low.slope * high.slope).sqrt() * (b - a).signum();
    let cubic = b - (b - a) * (high.slope + root - middle) / (high.slope - low.slope + 2.0 * root);
    let margin = 0.1 * (b - a).abs();
    let (least, most) = (a.min(b) + margin, a.max(b) - margin);
    if cubic.is_finite() {
        cubic.clamp(least, most)
    } else {
        0.5 * (a + b)
    }
}

/// The point that a step in a direction of descent leads to, and how often the function was asked,
/// or nothing if no step makes the value smaller.
pub(super) fn search<P: VectorSpace + Clone, F: FnMut(&P) -> (P::Scalar, P)>(
    from: &Point<P>,
    direction: &P,
    first: f64,
    f: &mut F,
) -> (Option<Point<P>>, usize) {
    let slope = from.gradient.dot(direction).to_f64();
    let mut line = Line {
        from,
        direction,
        slope,
        f,
        evaluations: 0,
    };
    let mut last = Step {
        length: 0.0,
        slope,
        to: from.clone(),
    };
    let mut length = first;
    for _ in 0..40 {
        let step = line.step(length);
        if !line.suffices(&step) || (last.length > 0.0 && step.to.value >= last.to.value) {
            last = line.zoom(last, step);
            break;
        }
        if line.is_flat(&step) {
            last = step;
            break;
        }
        if step.slope >= 0.0 {
            last = line.zoom(step, last);
            break;
        }
        length *= 2.0;
        last = step;
    }
    let found = (last.length > 0.0 && last.to.value < from.value).then_some(last.to);
    (found, line.evaluations)
}

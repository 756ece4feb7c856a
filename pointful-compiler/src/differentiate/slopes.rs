//! How a value changes with a state: by a number, or by one of two that a condition chooses.
//!
//! The slope of a maximum is 1 on one side and 0 on the other, and so is half of what is computed of
//! it. A choice is kept as such while one of its sides stays zero, and made where a number is asked
//! for.
//!
//! ```text
//! m = max(a, b)         %1 = select %c, 1, 0
//! (a - m).exp() = e     %2 = sub 1, %1          ▶   select %c, 0, %e
//!                       %3 = mul %e, %2
//! ```

use super::builder::Builder;
use crate::ir::ValueId;
use crate::ops::Prim;

/// A slope, which is zero if there is none.
pub(super) type Slope = Option<Known>;

/// A number, or the negative of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signed {
    value: ValueId,
    is_negative: bool,
}

/// One of two numbers, each of which is zero if there is none.
type Sides = [Option<Signed>; 2];

/// A slope that is not zero.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    Number(Signed),
    /// A choice where a guard holds.
    Choice {
        cond: ValueId,
        sides: Sides,
        guard: Option<ValueId>,
    },
}

impl Known {
    pub(super) fn number(value: ValueId) -> Self {
        Self::Number(Signed {
            value,
            is_negative: false,
        })
    }

    /// The number.
    pub(super) fn value(self, b: &mut Builder) -> ValueId {
        match self {
            Self::Number(number) => number.value(b),
            Self::Choice { cond, sides, guard } => b.behind(guard, |b| {
                let sides = sides.map(|side| Some(side?.value(b)));
                let zero = b.number(sides[0].or(sides[1]).unwrap_or(cond), 0.0);
                let [then, otherwise] = sides.map(|side| side.unwrap_or(zero));
                b.map_select(cond, then, otherwise)
            }),
        }
    }
}

impl Signed {
    fn value(self, b: &mut Builder) -> ValueId {
        match self.is_negative {
            true => b.map(Prim::Neg, &[self.value]),
            false => self.value,
        }
    }

    fn negative(self) -> Self {
        Self {
            is_negative: !self.is_negative,
            ..self
        }
    }
}

/// What a condition chooses.
pub(super) fn choice(b: &mut Builder, cond: ValueId, slopes: [Slope; 2]) -> Slope {
    let sides = slopes.map(|slope| match slope? {
        Known::Number(number) => Some(number),
        choice @ Known::Choice { .. } => Some(Signed {
            value: choice.value(b),
            is_negative: false,
        }),
    });
    of_sides(b, cond, sides)
}

fn of_sides(b: &Builder, cond: ValueId, sides: Sides) -> Slope {
    sides.iter().any(Option::is_some).then_some(Known::Choice {
        cond,
        sides,
        guard: b.guard,
    })
}

/// The negative of a slope.
pub(super) fn negated(slope: Slope) -> Slope {
    Some(match slope? {
        Known::Number(number) => Known::Number(number.negative()),
        Known::Choice { cond, sides, guard } => Known::Choice {
            cond,
            sides: sides.map(|side| Some(side?.negative())),
            guard,
        },
    })
}

/// What a function that is linear makes of a slope. Of a choice with a side that is zero it makes
/// another such one.
pub(super) fn scaled(
    b: &mut Builder,
    slope: Slope,
    mut function: impl FnMut(&mut Builder, ValueId) -> ValueId,
) -> Slope {
    let mut of = |b: &mut Builder, number: Signed| Signed {
        value: function(b, number.value),
        ..number
    };
    match slope? {
        Known::Number(number) => Some(Known::Number(of(b, number))),
        Known::Choice {
            cond,
            sides: sides @ ([Some(_), None] | [None, Some(_)]),
            ..
        } => {
            let sides = sides.map(|side| Some(of(b, side?)));
            of_sides(b, cond, sides)
        }
        both => {
            let value = both.value(b);
            Some(Known::number(function(b, value)))
        }
    }
}

/// A sum. With a choice it is another one, if that takes no more than one operation besides
/// choosing.
pub(super) fn sum(b: &mut Builder, left: Slope, right: Slope) -> Slope {
    let (Some(x), Some(y)) = (left, right) else {
        return left.or(right);
    };
    let sides = |slope: Known| match slope {
        Known::Number(number) => (None, [Some(number); 2]),
        Known::Choice { cond, sides, .. } => (Some(cond), sides),
    };
    let ((first, left), (second, right)) = (sides(x), sides(y));
    let pairs = [0, 1].map(|k| (left[k], right[k]));
    match (first, second) {
        (None, None) => added(b, left[0], right[0]).map(Known::Number),
        (Some(cond), Some(other)) if cond == other => {
            let sides = pairs.map(|(x, y)| added(b, x, y));
            of_sides(b, cond, sides)
        }
        (Some(cond), None) | (None, Some(cond))
            if pairs.iter().filter(|(x, y)| is_work(*x, *y)).count() <= 1 =>
        {
            let sides = pairs.map(|(x, y)| added(b, x, y));
            of_sides(b, cond, sides)
        }
        _ => {
            let (x, y) = (x.value(b), y.value(b));
            Some(Known::number(b.map(Prim::Add, &[x, y])))
        }
    }
}

/// Whether a sum is to be computed.
fn is_work(x: Option<Signed>, y: Option<Signed>) -> bool {
    x.zip(y).is_some_and(|(x, y)| x != y.negative())
}

fn added(b: &mut Builder, x: Option<Signed>, y: Option<Signed>) -> Option<Signed> {
    let (Some(left), Some(right)) = (x, y) else {
        return x.or(y);
    };
    if !is_work(x, y) {
        return None;
    }
    let (prim, args) = match (left.is_negative, right.is_negative) {
        (true, false) => (Prim::Sub, [right, left]),
        (false, true) => (Prim::Sub, [left, right]),
        (false, false) | (true, true) => (Prim::Add, [left, right]),
    };
    Some(Signed {
        value: b.map(prim, &args.map(|number| number.value)),
        is_negative: left.is_negative && right.is_negative,
    })
}

//! Functions for another crate to link with: what they name is private to their modules.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;

/// The rows of a matrix.
#[derive(Clone, Copy, Debug, IndexSet)]
pub struct Row(usize);

/// The channels of a picture.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Channel {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
}

pub mod motion {
    //! Private constants and helpers.

    use pointful::prelude::*;

    const DRAG: f64 = 0.5;
    const WEIGHTS: [f64; 3] = [1.0, 2.0, 4.0];

    #[pointful]
    fn slow(v: f64) -> f64 {
        v * DRAG
    }

    /// Any Rust, which nobody outside can name.
    #[pointful(extern, jvp = braked_jvp)]
    fn braked(v: f64) -> f64 {
        [v].iter().map(|v| v.sin()).sum()
    }

    #[pointful]
    fn braked_jvp(v: f64, tangent: f64) -> f64 {
        v.cos() * tangent
    }

    /// By way of a function whose body is not read.
    #[pointful]
    pub fn stopped(v: f64) -> f64 {
        2.0 * braked(slow(v))
    }

    /// How far something goes.
    #[pointful]
    pub fn range(v: f64, t: f64) -> f64 {
        slow(v) * t
    }

    #[derive(Clone, Copy, IndexSet)]
    enum Axle {
        Front,
        Middle,
        Rear,
    }

    const DRIVEN: Axle = Axle::Rear;
    const GEARS: [[f64; 2]; 3] = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    const LIMITS: (f64, [i64; 2], Axle) = (0.5, [7, 8], Axle::Middle);

    /// Of constants whose types nobody else can name.
    #[pointful]
    pub fn driven(v: f64) -> f64 {
        let share = for a in Axle {
            if a == Axle::Front {
                v
            } else {
                v * v * a.ordinal() as f64
            }
        };
        share[DRIVEN] + GEARS[2][0] * share[LIMITS.2] + LIMITS.0 * LIMITS.1[1] as f64
            - sum(GEARS[1])
    }

    /// A weighted sum.
    #[pointful]
    pub fn weigh(x: &Table<Fin<3>, f64>) -> f64 {
        sum(for i in _ {
            x[i] * WEIGHTS[i]
        })
    }

    pub mod deep {
        //! A chain through several modules.

        use super::range as reach;
        use pointful::prelude::*;

        /// Twice as far.
        #[pointful]
        pub fn double(v: f64, t: f64) -> f64 {
            2.0 * reach(v, t) + super::super::offset()
        }
    }
}

/// A constant's value by a function.
#[pointful]
pub fn offset() -> f64 {
    std::f64::consts::PI - std::f64::consts::PI
}

pub mod left {
    //! Has a function of the same name as its sibling.

    use pointful::prelude::*;

    const SIDE: f64 = 1.0;

    /// One side.
    #[pointful]
    pub fn side(x: f64) -> f64 {
        x + SIDE
    }
}

pub mod right {
    //! Has a function of the same name as its sibling.

    use pointful::prelude::*;

    const SIDE: f64 = 2.0;

    /// The other side.
    #[pointful]
    pub fn side(x: f64) -> f64 {
        x + SIDE
    }
}

/// Both sides.
#[pointful]
pub fn sides(x: f64) -> f64 {
    10.0 * left::side(x) + right::side(x)
}

pub mod names {
    //! Functions by names that std's macros have.

    use pointful::prelude::*;

    /// A column of a matrix.
    #[pointful]
    pub fn column<I: IndexSet, J: IndexSet>(a: &Table<(I, J), f64>, j: J) -> Table<I, f64> {
        for i in _ {
            a[i][j]
        }
    }

    /// A line.
    #[pointful]
    pub fn line(x: f64) -> f64 {
        concat(x, 1.0)
    }

    /// Not std's.
    #[pointful]
    pub fn concat(x: f64, y: f64) -> f64 {
        stringify(x) * 10.0 + y
    }

    /// Not std's.
    #[pointful]
    pub fn stringify(x: f64) -> f64 {
        x
    }
}

pub use motion::deep;
pub use names::*;

/// The mean of each row.
#[pointful]
pub fn row_means(a: &Table<(Row, Channel), f64>) -> Table<Row, f64> {
    for r in Row {
        mean(for c in _ {
            a[r][c]
        })
    }
}

/// A function of functions.
#[pointful]
pub fn twice(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(f(x))
}

pub mod model {
    //! Types that name others of their module.

    use pointful::prelude::*;

    /// The same name as the one outside.
    #[derive(Clone, Copy, Debug, IndexSet)]
    pub struct Row(usize);

    /// A place.
    #[derive(Clone, Copy, Debug, IndexSet)]
    pub struct Cell {
        /// Which row.
        pub row: Row,
        /// Which of its channels.
        pub channel: super::Channel,
    }

    /// A picture.
    #[pointful]
    pub type Picture = Table<(Row, super::Channel), f64>;

    /// The sum of all points of a picture.
    #[pointful]
    pub fn total(picture: &Picture) -> f64 {
        sum(picture)
    }

    /// The number of rows, with a constant that is nowhere else.
    #[pointful]
    pub fn nothing() -> f64 {
        NOTHING
    }

    const NOTHING: f64 = 0.0;
}

pub mod fit {
    //! Losses with parameters of types that those who differentiate them need not be able to name.

    use pointful::prelude::*;

    use crate::Channel;

    const RIDGE: f64 = 0.5;
    const BASES: usize = 2;

    /// What is fitted.
    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub struct Line {
        /// A slope for every channel.
        pub slope: Table<Channel, f64>,
        /// The value at zero.
        pub offset: f64,
    }

    /// Where there are data.
    #[derive(Clone, Copy, Debug, IndexSet)]
    pub struct Sample(usize);

    /// Coefficients of basis functions.
    #[pointful]
    pub type Bases = Table<Fin<BASES>, f64>;

    #[pointful]
    fn predicted(line: &Line, x: f64, c: Channel) -> f64 {
        line.slope[c] * x + line.offset
    }

    /// Half the squared distance, and a penalty.
    #[pointful]
    pub fn loss(
        line: &Line,
        x: &Table<Sample, f64>,
        channel: &Table<Sample, Channel>,
        y: &Table<Sample, f64>,
    ) -> f64 {
        0.5 * sum(for s in Sample {
            (predicted(line, x[s], channel[s]) - y[s]).powi(2)
        }) + RIDGE
            * sum(for c in _ {
                line.slope[c].powi(2)
            })
    }

    define! {
        /// The gradient of the loss.
        pub fn loss_grad = grad!(loss, wrt = line);
        /// The loss and its derivative by the places of the data.
        pub fn loss_by_x = value_and_grad!(loss, wrt = x);
    }

    /// A function of coefficients at every place.
    #[pointful]
    pub fn curve(b: &Bases, x: &Table<Sample, f64>) -> Table<Sample, f64> {
        for s in Sample {
            b[0] * x[s] + b[1] * x[s] * x[s]
        }
    }

    define! {
        /// The derivative of the curve.
        pub fn curve_by_b = jacobian!(curve, wrt = b);
    }
}

pub mod net {
    //! Structs and aliases that are generic, with constants of their module.

    use pointful::prelude::*;

    const WIDTH: usize = 3;

    /// One layer.
    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub struct Layer<I: IndexSet, J: IndexSet, T: Float> {
        /// What it multiplies by.
        pub w: Table<(J, I), T>,
        /// What it adds.
        pub b: Table<J, T>,
    }

    /// Two layers and what is no coordinate.
    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub struct Net<I: IndexSet, T: Float> {
        /// The first.
        pub first: Layer<I, Fin<WIDTH>, T>,
        /// The second.
        pub second: Layer<Fin<WIDTH>, Fin<1>, T>,
        /// How far its output is from zero, and how often it was trained.
        pub output: (T, usize),
    }

    /// A batch of inputs.
    #[pointful]
    pub type Batch<N, I, T> = Table<(N, I), T>;

    /// The scalars of a length.
    #[pointful]
    pub type Short<const N: usize> = Table<Fin<N>, f64>;

    #[pointful]
    fn apply<I: IndexSet, J: IndexSet, T: Float>(
        layer: &Layer<I, J, T>,
        x: &Table<I, T>,
    ) -> Table<J, T> {
        for j in J {
            layer.b[j]
                + sum(for i in I {
                    layer.w[j][i] * x[i]
                })
        }
    }

    /// What a net makes of an input.
    #[pointful]
    pub fn output<I: IndexSet, T: Float>(net: &Net<I, T>, x: &Table<I, T>) -> T {
        let hidden = apply(&net.first, x).tanh();
        net.output.0 + apply(&net.second, hidden)[0]
    }

    /// How far outputs are from what they should be.
    #[pointful]
    pub fn loss<N: IndexSet, I: IndexSet, T: Float>(
        net: &Net<I, T>,
        x: &Batch<N, I, T>,
        y: &Table<N, T>,
    ) -> T {
        mean(for n in N {
            (output(net, x[n]) - y[n]).powi(2)
        })
    }

    /// A step against a gradient.
    #[pointful]
    pub fn descended<I: IndexSet, T: Float>(net: &Net<I, T>, by: &Net<I, T>, rate: T) -> Net<I, T> {
        Net {
            first: down(&net.first, &by.first, rate),
            second: down(&net.second, &by.second, rate),
            output: (net.output.0 - rate * by.output.0, net.output.1 + 1),
        }
    }

    #[pointful]
    fn down<I: IndexSet, J: IndexSet, T: Float>(
        layer: &Layer<I, J, T>,
        by: &Layer<I, J, T>,
        rate: T,
    ) -> Layer<I, J, T> {
        Layer {
            w: layer.w - rate * by.w,
            b: layer.b - rate * by.b,
        }
    }

    /// The sum of a few numbers.
    #[pointful]
    pub fn total<const N: usize>(x: &Short<N>) -> f64 {
        sum(x)
    }

    define! {
        /// The loss and its gradient.
        pub fn loss_and_slope = value_and_grad!(loss, wrt = net);
    }
}

pub mod hidden {
    //! Types that keep their fields to themselves.

    use pointful::prelude::*;

    /// A row.
    #[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
    pub struct Row(usize);

    /// A place in one of two layers.
    #[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
    pub struct Cell {
        row: Row,
        up: bool,
    }

    /// A number, and how often it was there.
    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub struct Counted {
        value: f64,
        count: usize,
    }

    /// A line, of which everybody may see where it begins.
    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub struct Line<N: IndexSet> {
        slopes: Table<N, f64>,
        /// The value at zero.
        pub offset: f64,
        inner: Counted,
        pub(crate) pair: (f64, Table<N, i64>),
    }

    impl Cell {
        /// The place of this row and layer.
        pub fn new(row: usize, up: bool) -> Self {
            let row = Row(row);
            Cell { row, up }
        }
    }

    impl<N: IndexSet> Line<N> {
        /// A line with these slopes.
        pub fn new(slopes: Table<N, f64>, offset: f64) -> Self {
            let pair = (2.0, Table::from_fn(slopes.extent(), |_| 3));
            let inner = Counted {
                value: 0.5,
                count: 7,
            };
            Line {
                slopes,
                offset,
                inner,
                pair,
            }
        }

        /// All there is to see: the slopes, the value, how often it was there, and what stands
        /// beside.
        pub fn seen(&self) -> (&[f64], f64, usize, f64, &[i64]) {
            let (inner, pair) = (&self.inner, &self.pair);
            (
                self.slopes.as_slice(),
                inner.value,
                inner.count,
                pair.0,
                pair.1.as_slice(),
            )
        }
    }

    /// What is to be small.
    #[pointful]
    pub fn loss<N: IndexSet>(line: &Line<N>) -> f64 {
        sum(line.slopes * line.slopes) + (line.offset + line.pair.0) * line.inner.value
    }

    /// A line with other slopes.
    #[pointful]
    pub fn moved<N: IndexSet>(mut line: Line<N>, by: f64) -> Line<N> {
        for n in N {
            line.slopes[n] += by;
        }
        line
    }

    /// The line itself with other slopes.
    #[pointful]
    pub fn raise<N: IndexSet>(line: &mut Line<N>, by: f64) {
        for n in N {
            line.slopes[n] += by;
        }
        line.inner.value = by;
    }

    /// The square of what stands in a place.
    #[pointful]
    pub fn squared(x: &Table<Cell, f64>, at: Cell) -> f64 {
        x[at] * x[at]
    }
}

/// Reads beyond the end of a table if it is asked to.
#[pointful]
pub fn element(x: &Table<Dyn, f64>, at: usize) -> f64 {
    x[at] * 2.0
}

const TIMES: usize = 3;
const SCALE: f64 = 2.5;
const OFFSETS: [f64; 2] = [1.0, -1.0];

/// Applies a function again and again: nothing but its caller knows what it is.
#[pointful]
pub fn repeated(
    f: impl Fn(&Table<Fin<2>, f64>) -> Table<Fin<2>, f64>,
    x: &Table<Fin<2>, f64>,
) -> Table<Fin<2>, f64> {
    let mut y = x;
    for _k in 0..TIMES {
        y = f(y);
    }
    for k in Fin::<2> {
        y[k] * SCALE + OFFSETS[k]
    }
}

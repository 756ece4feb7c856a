//! Constants of all types that a signature may have. What is only cast, or moves members, may be of
//! whatever integers, or numbers if it is cast to floats: it needs no type beside the constant's own.

use pointful::prelude::*;
use pointful_link_lib::motion;

const DOWN: [i64; 3] = [-1, 0, 1];
const RIGHT: [[i8; 3]; 2] = [[-1, 0, 1], [2, 0, -2]];
const FAR: usize = 2;
const SHARE: [u16; 3] = [1, 2, 65535];
const LEAST: i32 = -7;

#[pointful]
fn moved<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        sum(for q in Fin::<3> {
            DOWN[q] as f64 * x[(i - DOWN[q]).wrap()]
        })
    }
}

#[pointful]
fn moved_twice<N: IndexSet>(x: &Table<N, f64>) -> Table<(Fin<2>, N), f64> {
    for (s, i) in _ {
        sum(for q in Fin::<3> {
            x[(i + RIGHT[s][q] + FAR).wrap()] * SHARE[q] as f64
        })
    }
}

#[pointful]
fn cast() -> (f64, f64, i64) {
    (
        LEAST as f64,
        sum(for q in Fin::<3> {
            SHARE[q] as f64
        }),
        FAR as i64,
    )
}

const HALF: f64 = 0.5;
const THIRD: f32 = 1.0 / 3.0;
const KNOTS: [[f64; 2]; 3] = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]];
const PAIR: (f32, u64) = (1e-3, u64::MAX);

#[pointful]
fn scaled<T: Float, N: IndexSet>(x: &Table<N, T>) -> Table<N, T> {
    for i in N {
        let knots = sum(for (a, b) in (Fin::<3>, Fin::<2>) {
            KNOTS[a][b] as T
        });
        HALF as T * x[i] + THIRD as T + knots + (PAIR.0 as T) * (PAIR.1 as T)
    }
}

/// The nearest `f32` of an integer is not that of its nearest `f64`.
const BEYOND: u64 = (1 << 60) + (1 << 36) + 1;

const GREATEST: u128 = u128::MAX;

#[pointful]
fn rounded() -> (f32, f64, f64) {
    (
        BEYOND as f32,
        THIRD as f64 - THIRD as f32 as f64,
        GREATEST as f64,
    )
}

/// Constants that others reach through the function only.
mod hidden {
    use pointful::prelude::*;

    const BY: [i32; 2] = [3, -3];
    const TIMES: u8 = 4;
    const SHARES: [[f32; 2]; 1] = [[0.25, 0.75]];
    const TENTH: f64 = 0.1;
    const STEPS: (i32, f64) = (2, 0.25);

    /// A part of a constant is cast, and moves members where the whole is named.
    #[pointful]
    pub(super) fn stepped<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        let (by, scale) = STEPS;
        for i in N {
            STEPS.0 as f64 * x[(i + by).wrap()] * scale
        }
    }

    #[pointful]
    pub(super) fn shared<T: Float, N: IndexSet>(x: &Table<N, T>) -> T {
        let shares = sum(for q in Fin::<2> {
            SHARES[0][q] as T
        });
        sum(for i in N {
            x[i] * (TENTH as T)
        }) + (TENTH as T) * shares
    }

    #[pointful]
    pub(super) fn far<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        for i in N {
            sum(for q in Fin::<2> {
                BY[q] as f64 * x[(i + BY[q]).clamp()]
            }) * TIMES as f64
        }
    }
}

#[pointful]
fn tenths<N: IndexSet>(x: &Table<N, f32>, y: &Table<N, f64>) -> (f32, f64) {
    (hidden::shared(x), hidden::shared(y))
}

#[pointful]
fn steps<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    hidden::stepped(x)
}

#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let y = hidden::far(x);
    sum(for i in N {
        y[i] * x[i]
    })
}

fn table(n: usize) -> Table<Dyn, f64> {
    Table::from((0..n).map(|k| (k * k) as f64 + 1.0).collect::<Vec<_>>())
}

#[test]
fn members_are_moved_by_signed_constants() {
    for n in [1, 2, 7] {
        let x = table(n);
        let at = |k: i64| x.as_slice()[k.rem_euclid(n as i64) as usize];
        let expected: Vec<f64> = (0..n as i64)
            .map(|i| (0..3).map(|q| DOWN[q] as f64 * at(i - DOWN[q])).sum())
            .collect();
        assert_eq!(moved(&x).as_slice(), expected);
        let twice = moved_twice(&x);
        for (s, right) in RIGHT.iter().enumerate() {
            for i in 0..n {
                let each = (0..3)
                    .map(|q| at(i as i64 + i64::from(right[q]) + FAR as i64) * f64::from(SHARE[q]));
                assert_eq!(twice.as_slice()[s * n + i], each.sum::<f64>());
            }
        }
    }
    assert!(moved(&table(0)).is_empty());
}

#[test]
fn what_is_cast_is_what_it_was() {
    assert_eq!(cast(), (-7.0, 65538.0, 2));
}

#[test]
fn floats_that_are_only_cast_are_whatever_floats() {
    let knots: f64 = KNOTS.iter().flatten().sum();
    let all = |x: f64| 0.5 * x + f64::from(THIRD) + knots + f64::from(PAIR.0) * PAIR.1 as f64;
    assert_eq!(
        scaled(&Table::from(vec![3.0, -1.0])).as_slice(),
        [all(3.0), all(-1.0)]
    );
    let single = |x: f32| {
        let knots: f32 = KNOTS.iter().flatten().map(|k| *k as f32).sum();
        0.5 * x + THIRD + knots + PAIR.0 * PAIR.1 as f32
    };
    assert_eq!(
        scaled(&Table::from(vec![3.0_f32])).as_slice(),
        [single(3.0)]
    );
    assert_eq!(rounded(), (BEYOND as f32, 0.0, GREATEST as f64));
    assert_ne!(BEYOND as f32, BEYOND as f64 as f32);
}

#[test]
fn parts_of_others_are_whatever_their_uses_say() {
    let x = Table::from(vec![1.0, 2.0, 4.0]);
    assert_eq!(steps(&x).as_slice(), [2.0, 0.5, 1.0]);
    assert_eq!(hidden::stepped(&x), steps(&x));
}

#[test]
fn floats_of_others_are_whatever_floats() {
    let (single, double) = tenths(&Table::from(vec![3.0]), &Table::from(vec![3.0]));
    assert_eq!(double, 0.1 * 3.0 + 0.1);
    assert_eq!(single, 0.1 * 3.0 + 0.1);
}

#[test]
fn constants_of_others_are_whatever_integers() {
    let x = table(7);
    let value = total(&x);
    let y = hidden::far(&x);
    let expected: f64 = y
        .as_slice()
        .iter()
        .zip(x.as_slice())
        .map(|(y, x)| y * x)
        .sum();
    assert_eq!(value, expected);
    let slope = grad!(total)(&x);
    let mut moved = x.clone();
    moved.as_mut_slice()[2] += 1.0;
    let mut other = x.clone();
    other.as_mut_slice()[2] -= 1.0;
    // It is quadratic.
    assert_eq!(slope.as_slice()[2], (total(&moved) - total(&other)) / 2.0);
}

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
enum Channel {
    R,
    G,
    B,
}

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
struct Pixel(usize);

#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
struct Cell {
    pixel: Pixel,
    channel: Channel,
}

const HERE: Channel = Channel::B;
const PIXEL: Pixel = Pixel(2);
const CELL: Cell = Cell {
    pixel: Pixel(1),
    channel: Channel::G,
};
const EITHER: Either<Pixel, Channel> = Either::Right(Channel::G);
const LAST: Fin<3> = Fin::new(2);
const NAMELESS: Dyn = Dyn(1);
const FIRST: u8 = 0;
const YES: bool = true;

#[pointful]
fn members(
    x: &Table<Channel, f64>,
    y: &Table<Pixel, f64>,
    z: &Table<Dyn, f64>,
    w: &Table<Fin<3>, f64>,
) -> (f64, f64, f64, f64, f64) {
    (x[HERE], y[PIXEL], z[NAMELESS], w[LAST] + w[FIRST], y[FIRST])
}

#[pointful]
fn grid(a: &Table<(Pixel, Channel), f64>) -> (f64, f64, Table<Channel, f64>) {
    (a[PIXEL][HERE], a[(PIXEL, HERE)], a[PIXEL])
}

#[pointful]
fn cells(c: &Table<Cell, f64>) -> (f64, f64) {
    (
        c[CELL],
        sum(for k in Cell {
            if k == CELL { c[k] } else { 0.0 }
        }),
    )
}

#[pointful]
fn unions(u: &Table<Either<Pixel, Channel>, f64>) -> f64 {
    u[EITHER] * 2.0
}

#[pointful]
fn chosen(a: &Table<Channel, f64>, c: Channel) -> f64 {
    let here: Channel = HERE;
    let other = match HERE {
        Channel::R => 1.0,
        Channel::G => 2.0,
        Channel::B => 3.0,
    };
    if YES && c == HERE {
        a[here] + other + here.ordinal() as f64
    } else {
        picked(a, HERE)
    }
}

const LIMITS: (f64, Channel, u8) = (0.5, Channel::G, 2);

#[pointful]
fn taken_apart(x: &Table<Channel, f64>) -> f64 {
    let (share, here, more) = LIMITS;
    share * x[here] + more as f64
}

#[pointful]
fn picked(a: &Table<Channel, f64>, c: Channel) -> f64 {
    a[c]
}

#[test]
fn members_are_constants() {
    let x = Table::from_vec(Extent::<Channel>::default(), vec![1.0, 2.0, 3.0]).unwrap();
    let y = Table::from_vec(Extent::<Pixel>::new(3), vec![4.0, 5.0, 6.0]).unwrap();
    let z = Table::<Dyn, f64>::from(vec![7.0, 8.0]);
    let w = Table::from([9.0, 10.0, 11.0]);
    assert_eq!(members(&x, &y, &z, &w), (3.0, 6.0, 8.0, 20.0, 4.0));
    let a = Table::from_fn(Extent::<(Pixel, Channel)>::new((3, ())), |(p, c)| {
        10.0 * p.0 as f64 + c as usize as f64
    });
    let (one, pair, row) = grid(&a);
    assert_eq!(
        (one, pair, row.as_slice()),
        (22.0, 22.0, &[20.0, 21.0, 22.0][..])
    );
    let c = Table::from_fn(Extent::<Cell>::new((3, ())), |k: Cell| {
        10.0 * k.pixel.0 as f64 + k.channel as usize as f64
    });
    assert_eq!(cells(&c), (11.0, 11.0));
    let u = Table::from_fn(
        Extent::<Either<Pixel, Channel>>::new((3, ())),
        |e| match e {
            Either::Left(_) => 1.0,
            Either::Right(c) => 10.0 + c as usize as f64,
        },
    );
    assert_eq!(unions(&u), 22.0);
    assert_eq!(chosen(&x, Channel::B), 3.0 + 3.0 + 2.0);
    assert_eq!(chosen(&x, Channel::R), 3.0);
    assert_eq!(taken_apart(&x), 3.0);
}

#[test]
fn the_gradient_is_at_the_constant() {
    let y = Table::from_vec(Extent::<Pixel>::new(3), vec![4.0, 5.0, 6.0]).unwrap();
    assert_eq!(grad!(squared)(&y).as_slice(), [0.0, 0.0, 12.0]);
    let u = Table::from_fn(Extent::<Either<Pixel, Channel>>::new((2, ())), |_| 1.0);
    assert_eq!(grad!(unions)(&u).as_slice(), [0.0, 0.0, 0.0, 2.0, 0.0]);
}

#[pointful]
fn squared(y: &Table<Pixel, f64>) -> f64 {
    y[PIXEL] * y[PIXEL]
}

#[test]
#[should_panic(expected = "the index is no member of `Pixel` of size 2")]
fn a_constant_that_is_no_member_is_found_at_entry() {
    let y = Table::from_vec(Extent::<Pixel>::new(2), vec![4.0, 5.0]).unwrap();
    squared(&y);
}

const MATRIX: [[f64; 2]; 3] = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
const VECTOR: [f32; 3] = [1.0, 2.0, 3.0];
const NONE: [f64; 0] = [];
const FLAGS: [bool; 3] = [true, false, true];

#[pointful]
fn arrays(x: f64, k: usize) -> (f64, f64, f64, f64, f32, f64, usize) {
    let row = MATRIX[1];
    let total: f64 = sum(NONE);
    (
        x * MATRIX[1][0],
        sum(row),
        sum(for i in Fin::<3> {
            MATRIX[i][k]
        }),
        sum(for i in _ {
            for j in _ {
                x * MATRIX[i][j]
            }
        })[1],
        sum(VECTOR),
        total,
        count(FLAGS),
    )
}

#[pointful]
fn member_of_array(i: Fin<3>, x: f64) -> f64 {
    MATRIX[i][1] * x * x
}

#[test]
fn arrays_are_as_long_as_they_are() {
    assert_eq!(arrays(2.0, 1), (6.0, 7.0, 12.0, 24.0, 6.0, 0.0, 2));
    assert_eq!(member_of_array(Fin::new(2), 2.0), 24.0);
    assert_eq!(grad!(member_of_array)(Fin::new(2), 2.0), 24.0);
}

#[test]
#[should_panic(expected = "index 2 is out of range")]
fn an_index_beyond_an_array_panics() {
    arrays(2.0, 2);
}

const REACH: i64 = 2;

#[pointful]
fn around<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    let mut y = for _i in N {
        0.0
    };
    for i in N {
        for k in -REACH..=REACH {
            y[i] += x[(i + k).wrap()] * (k * REACH) as f64;
        }
    }
    y
}

#[test]
fn ranges_have_the_type_of_their_ends() {
    let x = table(5);
    let at = |k: i64| x.as_slice()[k.rem_euclid(5) as usize];
    let y = around(&x);
    for i in 0..5 {
        let expected: f64 = (-2..=2).map(|k| at(i + k) * (2 * k) as f64).sum();
        assert_eq!(y.as_slice()[i as usize], expected);
    }
}

#[pointful]
struct Rates {
    near: f64,
    far: [f64; 2],
    chosen: Fin<2>,
    pair: (i64, bool),
}

const RATES: Rates = Rates {
    near: 0.5,
    far: [2.0, 3.0],
    chosen: Fin::new(1),
    pair: (4, true),
};

#[pointful]
fn rated(r: &Rates, x: f64) -> f64 {
    if r.pair.1 {
        r.near * x * x + r.far[r.chosen]
    } else {
        0.0
    }
}

#[pointful]
fn parts(x: f64) -> (f64, f64, f64) {
    let (count, yes) = RATES.pair;
    let changed = Rates { near: 1.0, ..RATES };
    (
        rated(&RATES, x) + RATES.far[0],
        if yes { count as f64 } else { 0.0 },
        rated(&changed, x),
    )
}

#[test]
fn structs_and_tuples_are_their_parts() {
    assert_eq!(parts(2.0), (7.0, 4.0, 7.0));
    let (_, tangent) = jvp!(parts)(2.0, 1.0);
    assert_eq!(tangent, (2.0, 0.0, 4.0));
}

#[pointful]
fn of_others(v: f64) -> f64 {
    motion::driven(v) + REACH as f64
}

#[test]
fn constants_of_others_may_have_types_without_a_name() {
    let (v, expected) = (2.0, |v: f64| 2.0 * v * v + 5.0 * v * v + 4.0 - 7.0);
    assert_eq!(motion::driven(v), expected(v));
    assert_eq!(of_others(v), expected(v) + 2.0);
    assert_eq!(grad!(of_others)(v), 14.0 * v);
    assert_eq!(grad!(motion::driven)(v), 14.0 * v);
    assert_eq!(slope(v), 14.0 * v);
}

define! { fn slope = grad!(motion::driven); }

#[pointful]
fn of_functions(x: &Table<Fin<2>, f64>, c: f64) -> Table<Fin<2>, f64> {
    pointful_link_lib::repeated(|x: &Table<Fin<2>, f64>| c * x, x)
}

#[test]
fn a_function_of_functions_has_the_constants_of_its_module() {
    let x = Table::from([1.0, 10.0]);
    assert_eq!(of_functions(&x, 2.0).as_slice(), [21.0, 199.0]);
    let (_, by_c) = jacobian!(of_functions)(&x, 2.0);
    assert_eq!(by_c.as_slice(), [30.0, 300.0]);
}

//! What every program of the corpus computes, said again in plain Rust.

mod common;

use common::*;
use pointful_corpus::programs as corpus;
use pointful_runtime::{Dyn, Extent, Fin, Table};

/// Extents at which everything is tried.
const LENGTHS: [usize; 7] = [0, 1, 2, 7, 16, 41, 1000];
/// Extents of further axes.
const WIDTHS: [usize; 6] = [0, 1, 2, 17, 40, 70];

fn for_each_shape(mut check: impl FnMut(usize, usize)) {
    for n in LENGTHS {
        for m in WIDTHS {
            check(n, m);
        }
    }
}

#[test]
fn matrix_vector() {
    for_each_shape(|n, k| {
        let (a, x) = (floats::<f64>(1, n * k), floats::<f64>(2, k));
        let expected: Vec<f64> = (0..n)
            .map(|i| (0..k).map(|k0| a[i * k + k0] * x[k0]).sum())
            .collect();
        close(
            corpus::matrix_vector(&matrix(n, k, &a), &vector(&x)).as_slice(),
            &expected,
        );
    });
}

#[test]
fn matrix_vector_of_other_extents_is_refused() {
    let message = panic_of(|| corpus::matrix_vector(&matrix(2, 3, &[0.0; 6]), &vector(&[0.0; 4])));
    assert_eq!(
        message,
        "`matrix_vector`: parameters `a` and `x` disagree on the size of `K`: 3 in `a`, 4 in `x`"
    );
}

#[test]
fn matrix_product() {
    for (n, k) in [(0, 3), (3, 0), (1, 1), (2, 17), (9, 33)] {
        for m in [0, 1, 2, 15, 16, 17, 31, 32, 48, 63, 100] {
            let (a, b) = (floats::<f64>(1, n * k), floats::<f64>(2, k * m));
            let expected: Vec<f64> = (0..n * m)
                .map(|at| {
                    (0..k)
                        .map(|q| a[at / m * k + q] * b[q * m + at % m])
                        .sum::<f64>()
                        .tanh()
                })
                .collect();
            close(
                corpus::matrix_product(&matrix(n, k, &a), &matrix(k, m, &b)).as_slice(),
                &expected,
            );
        }
    }
}

#[test]
fn totals() {
    for_each_shape(|n, m| {
        let x = floats::<f32>(3, n * m);
        let (sum, largest) = corpus::totals(&matrix(n, m, &x));
        close_f32(
            &[sum],
            &[x.iter().map(|x| f64::from(x * x)).sum::<f64>() as f32],
        );
        assert_eq!(largest, x.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    });
}

#[test]
fn totals_of_integers() {
    for n in LENGTHS {
        let x: Vec<i32> = ints(4, n).into_iter().map(|x| x as i32).collect();
        let y: Vec<u8> = x.iter().map(|&x| (x + 128) as u8).collect();
        let expected = (
            x.iter().fold(10_i32, |a, &b| a.wrapping_add(b)),
            x.iter().fold(3_i32, |a, &b| a.wrapping_mul(b)),
            y.iter().copied().fold(200, u8::min),
            y.iter().copied().fold(1, u8::max),
        );
        assert_eq!(
            corpus::totals_of_integers(&vector(&x), &vector(&y)),
            expected
        );
    }
}

#[test]
fn any_and_all() {
    for n in LENGTHS {
        for odd in [0, 1, n] {
            let x: Vec<bool> = (0..n).map(|i| i < odd).collect();
            assert_eq!(
                corpus::any_and_all(&vector(&x)),
                (x.contains(&true), !x.contains(&false))
            );
        }
    }
}

#[test]
fn smallest_by_column() {
    for_each_shape(|n, m| {
        let x = floats::<f64>(5, n * m);
        let expected: Vec<f64> = (0..m)
            .map(|j| (0..n).map(|i| x[i * m + j]).fold(0.5, f64::min))
            .collect();
        assert_eq!(
            corpus::smallest_by_column(&matrix(n, m, &x)).as_slice(),
            expected
        );
    });
}

#[test]
fn histogram() {
    for_each_shape(|n, k| {
        let class: Vec<usize> = ints(6, if k == 0 { 0 } else { n })
            .iter()
            .map(|&c| (c + 128) as usize % k)
            .collect();
        let weight = floats::<f64>(7, class.len());
        let mut counts = ints(8, k);
        let mut sums = vec![0.0; k];
        let given = vector(&counts);
        for (&class, &weight) in class.iter().zip(&weight) {
            counts[class] += 1;
            sums[class] += weight;
        }
        let class =
            Table::<Dyn, Dyn>::from_indices(Extent::new(class.len()), Extent::new(k), class)
                .expect("valid");
        let address = given.as_slice().as_ptr();
        let (found, found_sums) = corpus::histogram(given, &class, &vector(&weight));
        assert_eq!(found.as_slice(), counts);
        assert_eq!(
            found.as_slice().as_ptr(),
            address,
            "what the caller gave away is not copied"
        );
        close(found_sums.as_slice(), &sums);
    });
}

#[test]
fn indices_into_another_set_are_refused() {
    let class =
        Table::<Dyn, Dyn>::from_indices(Extent::new(1), Extent::new(5), vec![4]).expect("valid");
    let message = panic_of(|| corpus::histogram(vector(&[0; 4]), &class, &vector(&[1.0])));
    assert_eq!(
        message,
        "`histogram`: parameters `counts` and `class` disagree on the size of `K`: 4 in `counts`, 5 in `class`"
    );
}

#[test]
fn transposed() {
    for_each_shape(|n, m| {
        let x = Table::<(Dyn, Fin<2>, Dyn, Fin<3>), u32>::from_vec(
            Extent::new((n, (), m, ())),
            (0..(n * 2 * m * 3) as u32).collect(),
        )
        .expect("as many values");
        let y = corpus::transposed(&x);
        assert_eq!(y.extent().size(), ((), m, (), n));
        for (c, b, a, d) in y.indices() {
            assert_eq!(y[(c, b, a, d)], x[(d, a, b, c)]);
        }
    });
}

#[test]
fn jacobi() {
    for n in LENGTHS {
        for sweeps in [0, 1, 2, 5] {
            let mut u = floats::<f64>(9, n);
            let found = corpus::jacobi(vector(&u), Extent::new(sweeps));
            for _ in 0..sweeps {
                u = (0..n)
                    .map(|i| (u[(i + n - 1) % n] + u[(i + 1) % n]) * 0.5)
                    .collect();
            }
            close(found.as_slice(), &u);
        }
    }
}

#[test]
fn scaled_in_place() {
    for_each_shape(|n, m| {
        let u = floats::<f32>(10, n * m);
        let mut table = matrix(n, m, &u);
        assert_eq!(corpus::scaled_in_place(&mut table, -2.0), m);
        assert_eq!(
            table.as_slice(),
            u.iter().map(|x| x * -2.0).collect::<Vec<_>>()
        );
    });
}

#[test]
fn smoothed_rows() {
    for n in LENGTHS {
        let x = floats::<f64>(11, 4 * n);
        let table = Table::<(Dyn, Fin<4>), f64>::from_vec(Extent::new((n, ())), x.clone())
            .expect("as many values");
        let mut expected = x;
        for row in expected.chunks_mut(4) {
            for _ in 0..5 {
                let p = row.to_vec();
                for (j, after) in [1, 2, 3, 2].into_iter().enumerate() {
                    row[j] = (p[j] + p[after]) * 0.5;
                }
            }
        }
        close(corpus::smoothed_rows(&table).as_slice(), &expected);
    }
}

#[test]
fn private_copies() {
    for_each_shape(|k, n| {
        let x = ints(12, k);
        let (y, all) = corpus::private_copies(&vector(&x), Extent::new(n));
        let expected: Vec<i64> = (0..n as i64)
            .map(|i| {
                (0..3)
                    .map(|slot| {
                        x.iter()
                            .skip(slot)
                            .step_by(3)
                            .map(|x| x + i)
                            .max()
                            .unwrap_or(0)
                            .max(0)
                    })
                    .sum()
            })
            .collect();
        assert_eq!((y.as_slice(), all.as_slice()), (&expected[..], &x[..]));
    });
}

#[test]
fn ragged_private() {
    for n in LENGTHS {
        let expected: Vec<usize> = (0..n).map(|i| (0..2 * i).sum()).collect();
        assert_eq!(corpus::ragged_private(Extent::new(n)).as_slice(), expected);
    }
}

#[test]
fn collatz() {
    let steps = corpus::collatz(&vector(&[1, 2, 3, 27, 0, -5]));
    assert_eq!(steps.as_slice(), [0, 1, 7, 111, 0, 0]);
    assert!(corpus::collatz(&vector(&[])).is_empty());
}

#[test]
fn by_sign() {
    for n in LENGTHS {
        let x = floats::<f64>(13, n);
        let (y, z) = corpus::by_sign(&vector(&x));
        let expected: Vec<f64> = x
            .iter()
            .map(|&x| if x < 0.0 { (-x).sqrt() } else { -1.0 })
            .collect();
        close(y.as_slice(), &expected);
        assert_eq!(
            z.as_slice(),
            x.iter()
                .map(|&x| !(0.0..1.0).contains(&x))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn prefix_sums() {
    for n in LENGTHS {
        let x = floats::<f64>(14, n);
        let expected: Vec<f64> = (0..n).map(|i| x[..=i].iter().sum()).collect();
        close(corpus::prefix_sums(&vector(&x)).as_slice(), &expected);
    }
}

#[test]
fn horner() {
    for_each_shape(|n, k| {
        let (c, x) = (floats::<f64>(15, k), floats::<f64>(16, n));
        let at = |x: f64| {
            c.iter()
                .rev()
                .fold(0.0, |value: f64, &c| value.mul_add(x, c))
        };
        let (two, y) = corpus::horner(&vector(&c), &vector(&x));
        assert_eq!(two, at(2.0));
        assert_eq!(y.as_slice(), x.iter().map(|&x| at(x)).collect::<Vec<_>>());
    });
}

#[test]
fn edges() {
    let at = [i64::MIN, -8, -3, -1, 0, 1, 2, 3, 6, 7, 8, 100, i64::MAX];
    for n in [1, 2, 7] {
        let len = n as i64;
        let (wrap, clamp, mirror, within) = corpus::edges(&vector(&at), Extent::new(n));
        for table in [&wrap, &clamp, &mirror] {
            assert_eq!(table.target(), Extent::new(n));
        }
        assert_eq!(wrap.as_slice(), at.map(|k| k.rem_euclid(len) as usize));
        assert_eq!(clamp.as_slice(), at.map(|k| k.clamp(0, len - 1) as usize));
        assert_eq!(within.as_slice(), at.map(|k| (0..len).contains(&k)));
        let reflected = at.map(|k| {
            let period = (2 * len - 2).max(1);
            let k = k.rem_euclid(period);
            k.min(period - k).min(len - 1) as usize
        });
        assert_eq!(mirror.as_slice(), if n == 1 { [0; 13] } else { reflected });
    }
    let message = panic_of(|| corpus::edges(&vector(&[0]), Extent::new(0)));
    assert_eq!(
        message,
        "`wrap` has no member to give: the index set is empty"
    );
}

#[test]
fn checked() {
    let x = vector(&[1.0, 2.0, 3.0]);
    assert_eq!(corpus::checked(&x, &vector(&[2, 0])).as_slice(), [3.0, 1.0]);
    for (at, message) in [
        (3, "index 3 is out of range for `N` of 3 members"),
        (-1, "index -1 is out of range for `N` of 3 members"),
    ] {
        assert_eq!(panic_of(|| corpus::checked(&x, &vector(&[0, at]))), message);
    }
    assert!(corpus::checked(&vector(&[]), &vector(&[])).is_empty());
}

#[test]
fn asserted() {
    assert_eq!(corpus::asserted(4.0), 2.0);
    assert_eq!(panic_of(|| corpus::asserted(-1.0)), "x is not {negative}");
}

#[test]
fn first_largest() {
    let x = vector(&[1.0, 5.0, 2.0, 5.0]);
    assert_eq!(corpus::first_largest(&x, Dyn(3)), (Dyn(3), 5.0));
    assert_eq!(corpus::first_largest(&x, Dyn(0)), (Dyn(1), 5.0));
    assert!(panic_of(|| corpus::first_largest(&x, Dyn(4))).contains("no member"));
}

#[test]
fn until_small() {
    let (u, rounds) = corpus::until_small(vector(&[1.0, -8.0]));
    assert_eq!((u.as_slice(), rounds), (&[1.0 / 32.0, -0.25][..], 5));
    assert_eq!(corpus::until_small(vector(&[])).1, 1);
}

#[test]
fn filled() {
    let (ones, corner) = corpus::filled(Extent::new(3), Extent::new(2));
    assert_eq!(
        (ones.as_slice(), ones.extent().size()),
        (&[1.5; 6][..], (3, 2))
    );
    assert_eq!(
        (corner.as_slice(), corner.extent().size()),
        (&[9; 6][..], ((), 3))
    );
}

#[test]
fn a_product_beyond_memory_is_refused() {
    let half = Extent::new(1 << 40);
    assert!(panic_of(|| corpus::filled(half, half)).contains("more than memory can hold"));
}

#[test]
fn correlation() {
    for_each_shape(|n, k| {
        let (x, y, scale) = (
            floats::<f64>(17, n * k),
            floats::<f64>(18, n * k),
            floats::<f64>(19, n),
        );
        let expected: Vec<f64> = (0..n)
            .map(|i| {
                let products = || (0..k).map(|k| x[k * n + i] * y[k * n + i] * scale[i].exp());
                products().sum::<f64>() + products().fold(f64::INFINITY, f64::min)
            })
            .collect();
        close(
            corpus::correlation(&matrix(k, n, &x), &matrix(k, n, &y), &vector(&scale)).as_slice(),
            &expected,
        );
    });
}

#[test]
fn windows() {
    for w in [1, 7, 64, 1000] {
        for k in [1, 2, 5] {
            if k > w {
                continue;
            }
            let (weights, x) = (floats::<f32>(20, k), floats::<f32>(21, w));
            let expected: Vec<f32> = x
                .windows(k)
                .map(|window| window.iter().zip(&weights).map(|(x, w)| x * w).sum())
                .collect();
            close_f32(
                corpus::windows(&vector(&weights), &vector(&x)).as_slice(),
                &expected,
            );
        }
    }
}

#[test]
fn doubled_rows() {
    for k in [0, 1, 5] {
        for_each_shape(|n, m| {
            let (u, x) = (floats::<f64>(22, n * m), floats::<f64>(23, k * m));
            let expected: Vec<f64> = (0..n * m)
                .map(|at| (0..k).fold(u[at], |sum, q| sum + x[q * m + at % m]))
                .collect();
            let found = corpus::doubled_rows(matrix(n, m, &u), &matrix(k, m, &x));
            assert_eq!(found.as_slice(), expected);
        });
    }
}

#[test]
fn casts() {
    let x = [
        0.0,
        1.0,
        -1.5,
        255.5,
        300.0,
        5e9,
        -5e9,
        f64::NAN,
        f64::INFINITY,
        1e300,
    ];
    let (f_32, f_64, i_8, i_16, i_32, i_64, i_word, u_8, u_16, u_32, u_64, u_word, truth) =
        corpus::bytes(&vector(&x));
    assert_eq!(f_32.as_slice()[..7], x.map(|x| x as f32)[..7]);
    assert_eq!(f_64.as_slice()[..7], x[..7]);
    assert_eq!(i_8.as_slice(), x.map(|x| x as i8));
    assert_eq!(i_16.as_slice(), x.map(|x| x as i16));
    assert_eq!(i_32.as_slice(), x.map(|x| x as i32));
    assert_eq!(i_64.as_slice(), x.map(|x| x as i64));
    assert_eq!(i_word.as_slice(), x.map(|x| x as isize));
    assert_eq!(u_8.as_slice(), x.map(|x| x as u8));
    assert_eq!(u_16.as_slice(), x.map(|x| x as u16));
    assert_eq!(u_32.as_slice(), x.map(|x| x as u32));
    assert_eq!(u_64.as_slice(), x.map(|x| x as u64));
    assert_eq!(u_word.as_slice(), x.map(|x| x as usize));
    assert_eq!(truth.as_slice(), x.map(|x| x != 0.0));
}

#[test]
fn range_table() {
    for m in [0, 1, 20] {
        let y = corpus::range_table(m);
        assert_eq!(y.extent().size(), (2 * m, ()));
        assert!(y.indices().all(|(i, j)| y[(i, j)] == i.0 + j.get()));
    }
}

#[test]
fn one_point() {
    assert_eq!(corpus::one_point(3.5), 7.0);
}

#[test]
fn distances() {
    for (n, k) in [(0, 2), (3, 0), (1, 1), (50, 7)] {
        for d in WIDTHS {
            let (p, c) = (floats::<f64>(24, n * d), floats::<f64>(25, k * d));
            let distance =
                |i: usize, j: usize| (0..d).map(|q| (p[i * d + q] - c[j * d + q]).powi(2)).sum();
            let expected: f64 = (0..n)
                .map(|i| (0..k).map(|j| distance(i, j)).fold(f64::INFINITY, f64::min))
                .sum();
            close(
                &[corpus::distances(&matrix(n, d, &p), &matrix(k, d, &c))],
                &[expected],
            );
        }
    }
}

/// The same bits whatever the number of threads, where the work is enough to be split.
#[test]
fn bits_do_not_depend_on_threads() {
    let (n, d, k) = (20_000, 20, 40);
    let (p, c) = (floats::<f64>(26, n * d), floats::<f64>(27, k * d));
    let (points, centres) = (matrix(n, d, &p), matrix(k, d, &c));
    let class: Vec<usize> = ints(28, n * d)
        .iter()
        .map(|&c| (c + 128) as usize % k)
        .collect();
    let class =
        Table::<Dyn, Dyn>::from_indices(Extent::new(n * d), Extent::new(k), class).expect("valid");
    let weight = vector(&p);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| {
            let total = corpus::distances(&points, &centres);
            let (_, sums) = corpus::histogram(vector(&vec![0; k]), &class, &weight);
            (
                total.to_bits(),
                sums.as_slice()
                    .iter()
                    .map(|x| x.to_bits())
                    .collect::<Vec<_>>(),
            )
        })
    };
    let alone = run(1);
    for threads in [2, 5] {
        assert_eq!(run(threads), alone);
    }
}

/// Columns of the tables of functions, which come in the order of the primitives' declaration.
fn column<T: pointful_runtime::Plain, const C: usize>(
    table: &Table<(Dyn, Fin<C>), T>,
    at: usize,
) -> Vec<T> {
    table.as_slice().chunks(C).map(|row| row[at]).collect()
}

#[test]
fn float_functions() {
    let x = [0.5, -2.25, 3.0, 0.0, -0.0, f64::NAN, f64::INFINITY, 0.0];
    let y = [2.0, 0.5, -1.5, -0.0, 0.0, 1.0, 2.0, f64::NAN];
    let table = corpus::functions_f64(&vector(&x), &vector(&y));
    let truth = |holds: bool| f64::from(u8::from(holds));
    let functions: Vec<fn(f64, f64) -> f64> = vec![
        |x, _| -x,
        |x, y| x + y,
        |x, y| x - y,
        |x, y| x * y,
        |x, y| x / y,
        |x, y| if x == 0.0 || y == 0.0 { 0.0 } else { x * y },
        |x, y| if x == 0.0 { 0.0 } else { x / y },
        |x, y| x % y,
        |x, y| if y < x || x.is_nan() { y } else { x },
        |x, y| if y > x || x.is_nan() { y } else { x },
    ];
    for (at, function) in functions.iter().enumerate() {
        let expected: Vec<u64> = x
            .iter()
            .zip(&y)
            .map(|(&x, &y)| function(x, y).to_bits())
            .collect();
        let found: Vec<u64> = column(&table, at).into_iter().map(f64::to_bits).collect();
        for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let both_nan = f64::from_bits(*found).is_nan() && f64::from_bits(*expected).is_nan();
            assert!(found == expected || both_nan, "function {at} at {}", x[k]);
        }
    }
    // Comparisons follow, then the rest; the last five are tests.
    for (offset, compare) in [
        f64::eq as fn(&f64, &f64) -> bool,
        f64::ne,
        f64::lt,
        f64::le,
        f64::gt,
        f64::ge,
    ]
    .iter()
    .enumerate()
    {
        let expected: Vec<f64> = x
            .iter()
            .zip(&y)
            .map(|(x, y)| truth(compare(x, y)))
            .collect();
        assert_eq!(column(&table, functions.len() + offset), expected);
    }
    let width = table.as_slice().len() / x.len();
    let tests = [
        f64::is_nan,
        f64::is_finite,
        f64::is_infinite,
        f64::is_sign_negative,
        f64::is_sign_positive,
    ];
    for (offset, test) in tests.into_iter().enumerate() {
        let expected: Vec<f64> = x.iter().map(|&x| truth(test(x))).collect();
        assert_eq!(column(&table, width - 5 + offset), expected);
    }
    let single = corpus::functions_f32(&vector(&[0.5_f32]), &vector(&[2.0_f32]));
    let double = corpus::functions_f64(&vector(&[0.5]), &vector(&[2.0]));
    // Of the bits there are as many as of the type.
    let bits = width - 7;
    assert_eq!(double.as_slice()[bits], 0.5_f64.to_bits() as f64);
    assert_eq!(single.as_slice()[bits], 0.5_f32.to_bits() as f32);
    for (position, (&single, &double)) in
        single.as_slice().iter().zip(double.as_slice()).enumerate()
    {
        if position == bits {
            continue;
        }
        let same = (f64::from(single) - double).abs() <= 1e-6 * (1.0 + double.abs());
        assert!(
            same || (single.is_nan() && double.is_nan()),
            "function {position}: {single}, {double}"
        );
    }
}

/// The columns of an integer type, in the order of declaration.
macro_rules! integers {
    ($function:ident, $T:ty, $cases:expr $(, $Float:ty)?) => {{
        let (x, y): (Vec<$T>, Vec<$T>) = $cases.into_iter().unzip();
        let table = corpus::$function(&vector(&x), &vector(&y));
        let expected: Vec<fn($T, $T) -> $T> = vec![
            |x, _| x.wrapping_neg(),
            |x, _| !x,
            |x, y| x.wrapping_add(y),
            |x, y| x.wrapping_sub(y),
            |x, y| x.wrapping_mul(y),
            |x, y| x.wrapping_div(y),
            |x, y| x.wrapping_rem(y),
            |x, y| x.min(y),
            |x, y| x.max(y),
            |x, y| x & y,
            |x, y| x | y,
            |x, y| x ^ y,
            |x, y| x.wrapping_shl(y as u32),
            |x, y| x.wrapping_shr(y as u32),
            |x, y| (x == y) as $T,
            |x, y| (x != y) as $T,
            |x, y| (x < y) as $T,
            |x, y| (x <= y) as $T,
            |x, y| (x > y) as $T,
            |x, y| (x >= y) as $T,
            |x, _| if x < (0 as $T) { x.wrapping_neg() } else { x },
            |x, _| {
                if x == 0 {
                    0
                } else if x < (0 as $T) {
                    (0 as $T).wrapping_sub(1)
                } else {
                    1
                }
            },
            |x, y| x.wrapping_div_euclid(y),
            |x, y| x.wrapping_rem_euclid(y),
            |x, y| x.wrapping_pow(y as u32),
            |x, y| x.rotate_left(y as u32),
            |x, y| x.rotate_right(y as u32),
            |x, _| x.count_ones() as $T,
            |x, _| x.leading_zeros() as $T,
            |x, _| x.trailing_zeros() as $T,
            |x, _| x.reverse_bits(),
            |x, _| x.swap_bytes(),
            $(|x, _| <$Float>::from_bits(x) as $T,)?
            // What stops a gradient.
            |x, _| x,
        ];
        for (at, function) in expected.iter().enumerate() {
            let expected: Vec<$T> = x.iter().zip(&y).map(|(&x, &y)| function(x, y)).collect();
            assert_eq!(column(&table, at), expected, "function {at}");
        }
        assert_eq!(table.as_slice().len(), x.len() * expected.len());
        let message = panic_of(|| corpus::$function(&vector(&[7]), &vector(&[0])));
        assert_eq!(message, "integer 7 divided by zero");
    }};
}

#[test]
#[allow(
    unused_comparisons,
    reason = "the functions are written once for signed and unsigned types"
)]
fn integer_functions() {
    integers!(
        functions_i32,
        i32,
        [
            (7, 2),
            (-7, 2),
            (i32::MIN, 2),
            (0, 5),
            (-3, -3),
            (1 << 20, 31)
        ]
    );
    for integer in [
        || corpus::functions_i8(&vector(&[i8::MIN]), &vector(&[-1])).len(),
        || corpus::functions_isize(&vector(&[isize::MIN]), &vector(&[-1])).len(),
    ] {
        assert!(panic_of(integer).ends_with("divided by -1, which overflows"));
    }
    integers!(
        functions_i64,
        i64,
        [
            (7, 2),
            (-7, 2),
            (i64::MIN, 2),
            (0, 5),
            (-3, -3),
            (1 << 40, 63)
        ]
    );
    integers!(functions_u8, u8, [(7, 2), (255, 2), (0, 5), (200, 100)]);
    integers!(
        functions_u32,
        u32,
        [(7, 2), (u32::MAX, 2), (0, 5), (1 << 31, 31)],
        f32
    );
    integers!(functions_i8, i8, [(7, 2), (-128, 2), (0, 5), (100, 9)]);
    integers!(
        functions_i16,
        i16,
        [(-7, 2), (i16::MIN, 2), (0, 5), (300, -3)]
    );
    integers!(
        functions_isize,
        isize,
        [(-7, 2), (isize::MIN, 2), (0, 5), (1 << 40, 63)]
    );
    integers!(
        functions_u16,
        u16,
        [(7, 2), (u16::MAX, 2), (0, 5), (300, 17)]
    );
    integers!(
        functions_u64,
        u64,
        [
            (7, 2),
            (u64::MAX, 2),
            (0, 5),
            (4_607_182_418_800_017_408, 63)
        ],
        f64
    );
    integers!(
        functions_usize,
        usize,
        [(7, 2), (usize::MAX, 2), (0, 5), (1 << 40, 63)]
    );
}

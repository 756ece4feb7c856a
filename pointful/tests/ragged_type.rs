//! `Ragged<I, T>`: rows of different lengths as parameters and results, mapped, reduced and
//! differentiated.
#![deny(warnings)]

use pointful::prelude::*;
use pointful::{Error, explain};

#[derive(IndexSet, Clone, Copy, Debug, PartialEq)]
struct Station(usize);

#[derive(IndexSet, Clone, Copy, Debug, PartialEq)]
enum Phase {
    Early,
    Late,
}

fn rows() -> Ragged<Dyn, f64> {
    Ragged::from_rows([vec![1.0, 2.0], vec![], vec![3.0, 4.0, 5.0]])
}

fn no_rows() -> Ragged<Dyn, f64> {
    Ragged::from_rows(Vec::<Vec<f64>>::new())
}

/// Rows of lengths that go up and down, some of them empty: enough for strips and several pieces.
fn many(count: usize) -> Ragged<Dyn, f64> {
    let value = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f64 / 50.0 - 1.0;
    let row = |i: usize| {
        (0..(i * i * 7) % 23)
            .map(|j| value(i, j))
            .collect::<Vec<_>>()
    };
    (0..count).map(row).collect()
}

/// What a function of each row gives, from plain Rust.
fn by_rows(a: &Ragged<Dyn, f64>, f: impl Fn(&[f64]) -> Vec<f64>) -> Ragged<Dyn, f64> {
    a.rows().map(|row| f(row.as_slice())).collect()
}

fn close(left: &Ragged<Dyn, f64>, right: &Ragged<Dyn, f64>) {
    assert!(left.has_rows_of(right), "{left:?} and {right:?}");
    for (x, y) in left.values().iter().zip(right.values()) {
        assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "{x} and {y}");
    }
}

// ---- rows are read ----

#[pointful]
fn sums<N: IndexSet>(a: &Ragged<N, f64>) -> Table<N, f64> {
    for i in _ {
        sum(a[i])
    }
}

#[pointful]
fn weighted<N: IndexSet>(a: &Ragged<N, f64>, w: &Table<N, f64>) -> f64 {
    sum(for i in N {
        sum(for j in _ {
            w[i] * a[i][j].powi(2)
        })
    })
}

#[pointful]
fn statistics<N: IndexSet>(
    a: &Ragged<N, f64>,
) -> (Table<N, usize>, Table<N, f64>, Table<N, usize>, usize) {
    (
        for i in N {
            a[i].len()
        },
        for i in N {
            if a[i].len() > 0 { max(a[i]) } else { 0.0 }
        },
        for i in N {
            count(for x in _ {
                a[i][x] > 2.0
            })
        },
        a.len(),
    )
}

#[test]
fn rows_are_reduced() {
    assert_eq!(sums(&rows()).as_slice(), [3.0, 0.0, 12.0]);
    assert_eq!(sums(&no_rows()).len(), 0);
    let (lengths, most, large, all) = statistics(&rows());
    assert_eq!(lengths.as_slice(), [2, 0, 3]);
    assert_eq!(most.as_slice(), [2.0, 0.0, 5.0]);
    assert_eq!((large.as_slice(), all), (&[0, 0, 3][..], 5));
    let w = Table::from(vec![1.0, 10.0, 100.0]);
    assert_eq!(weighted(&rows(), &w), 5005.0);
    for count in [1, 7, 64, 1000, 5000] {
        let a = many(count);
        let expected: Vec<f64> = a.rows().map(|row| row.iter().sum()).collect();
        for (x, y) in sums(&a).iter().zip(expected) {
            assert!((x - y).abs() < 1e-12);
        }
    }
}

#[pointful]
fn at_places<N: IndexSet>(a: &Ragged<N, f64>, i: N, j: usize) -> (f64, f64, f64, usize) {
    let row = a[i];
    let backwards = a[N::from_ordinal(size(N) - 1 - i.ordinal())];
    (
        a[i][j],
        a[(i, j)],
        sum(backwards),
        row.len() * 10 + argmax(row).ordinal(),
    )
}

#[pointful]
fn first_of_each(a: &Ragged<Dyn, f64>, n: usize) -> f64 {
    sum(for i in 0..n {
        a[i][0]
    })
}

#[test]
fn places_are_looked_up_and_checked() {
    assert_eq!(at_places(&rows(), Dyn(2), 1), (4.0, 4.0, 3.0, 32));
    let full = Ragged::from_rows([vec![1.0, 2.0], vec![7.0]]);
    assert_eq!(first_of_each(&full, 2), 8.0);
    let message = |f: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        let payload = std::panic::catch_unwind(f).expect_err("a panic");
        payload.downcast_ref::<String>().expect("words").clone()
    };
    let beyond = message(&|| {
        let _ = at_places(&rows(), Dyn(0), 2);
    });
    assert!(
        beyond.contains("index 2 is out of range for `a[i][j]` over a row of 2 members"),
        "{beyond}"
    );
    let empty = message(&|| {
        let _ = first_of_each(&rows(), 3);
    });
    assert!(
        empty.contains("index 0 is out of range for `a[i][0]` over a row of 0 members"),
        "{empty}"
    );
    let none = message(&|| {
        let _ = first_of_each(&full, 3);
    });
    assert!(
        none.contains("index 2 is out of range for `a[i]` over `Dyn` of 2 members"),
        "{none}"
    );
}

/// A sparse matrix: the columns of its entries, and the entries.
#[pointful]
fn product<R: IndexSet, C: IndexSet>(
    column: &Ragged<R, C>,
    value: &Ragged<R, f64>,
    x: &Table<C, f64>,
) -> Table<R, f64> {
    for r in R {
        sum(for e in _ {
            value[r][e] * x[column[r][e]]
        })
    }
}

fn matrix() -> (Ragged<Dyn, Dyn>, Ragged<Dyn, f64>) {
    let columns = Table::<Dyn, Dyn>::from_indices(5, 4, vec![3, 0, 0, 1, 2]).expect("below four");
    let columns = Ragged::new(vec![0, 2, 2, 5], columns).expect("offsets");
    let values = columns
        .with_values(vec![1.0, 2.0, 3.0, 4.0, 5.0])
        .expect("as many");
    (columns, values)
}

#[test]
fn a_sparse_matrix_times_a_vector() {
    let (columns, values) = matrix();
    let x = Table::from(vec![1.0, 10.0, 100.0, 1000.0]);
    assert_eq!(
        product(&columns, &values, &x).as_slice(),
        [1002.0, 0.0, 543.0]
    );
    let c = Table::from(vec![1.0, 7.0, 10.0]);
    let (y, (by_values, by_x)) = vjp!(product)(&columns, &values, &x, &c);
    assert_eq!(y.as_slice(), [1002.0, 0.0, 543.0]);
    assert_eq!(
        by_values,
        Ragged::from_rows([vec![1000.0, 1.0], vec![], vec![10.0, 100.0, 1000.0]])
    );
    assert_eq!(by_x.as_slice(), [32.0, 40.0, 50.0, 1.0]);
    let (_, tangent) = jvp!(product)(&columns, &values, &x, &values, &x);
    assert_eq!(tangent.as_slice(), [2004.0, 0.0, 1086.0]);
}

/// Rows by members that are read from elsewhere, and by several members of one loop.
#[pointful]
fn neighbours<N: IndexSet>(next: &Ragged<N, N>, x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let two_steps = sum(for j in _ {
            let k = next[i][j];
            sum(for l in _ {
                x[next[k][l]]
            })
        });
        x[i] + two_steps
    }
}

#[test]
fn neighbours_of_neighbours() {
    let ends = Table::<Dyn, Dyn>::from_indices(4, 3, vec![1, 2, 2, 0]).expect("below three");
    let next = Ragged::new(vec![0, 2, 3, 4], ends).expect("offsets");
    let x = Table::from(vec![1.0, 10.0, 100.0]);
    assert_eq!(neighbours(&next, &x).as_slice(), [102.0, 11.0, 210.0]);
    let c = Table::from(vec![1.0, 1.0, 1.0]);
    assert_eq!(
        vjp!(neighbours)(&next, &x, &c).1.as_slice(),
        [3.0, 2.0, 3.0]
    );
}

// ---- rows are made ----

#[pointful]
fn waves<N: IndexSet>(a: &Ragged<N, f64>, w: &Table<N, f64>) -> Ragged<N, f64> {
    for i in N {
        for j in _ {
            (w[i] * a[i][j]).sin()
        }
    }
}

#[pointful]
fn softmax<N: IndexSet>(a: &Ragged<N, f64>) -> Ragged<N, f64> {
    for i in N {
        let most = max(a[i]);
        let e = (a[i] - most).exp();
        e / sum(e)
    }
}

#[pointful]
fn flat<N: IndexSet>(a: &Ragged<N, f64>, b: &Ragged<N, f64>) -> (Ragged<N, f64>, f64) {
    (a.exp() * b + 1.0, sum(a * b))
}

/// Rows among other things, of numbers of several types.
#[pointful]
fn described<N: IndexSet>(a: &Ragged<N, f64>) -> (Ragged<N, bool>, Ragged<N, i64>, Table<N, f64>) {
    let (large, place, total) = for i in N {
        let large = for j in _ {
            a[i][j] > 2.0
        };
        let places = a[i].extent();
        (
            large,
            for j in places {
                j.ordinal() as i64 * 10
            },
            sum(a[i]),
        )
    };
    (large, place, total)
}

fn softmax_of(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = row.iter().map(|x| (x - most).exp()).collect();
    let total: f64 = e.iter().sum();
    e.into_iter().map(|e| e / total).collect()
}

#[test]
fn loops_make_rows() {
    let w = Table::from(vec![1.0, 2.0, 0.5]);
    let expected = [
        vec![1_f64.sin(), 2_f64.sin()],
        vec![],
        vec![1.5_f64.sin(), 2_f64.sin(), 2.5_f64.sin()],
    ];
    close(&waves(&rows(), &w), &Ragged::from_rows(expected));
    assert_eq!(waves(&no_rows(), &Table::from(Vec::new())), no_rows());
    for count in [1, 2, 9, 100, 3000] {
        close(&softmax(&many(count)), &by_rows(&many(count), softmax_of));
    }
    let (all, dot) = flat(&rows(), &rows().map(|x| 2.0 * x));
    assert_eq!(
        (all, dot),
        (rows().map(|x| x.exp() * (2.0 * x) + 1.0), 110.0)
    );
    let (large, place, total) = described(&rows());
    assert_eq!(
        large,
        Ragged::from_rows([vec![false; 2], vec![], vec![true; 3]])
    );
    assert_eq!(
        place,
        Ragged::from_rows([vec![0, 10], vec![], vec![0, 10, 20]])
    );
    assert_eq!(total.as_slice(), [3.0, 0.0, 12.0]);
}

/// Rows of rows that were made, in loops that wait for each other.
#[pointful]
fn diffused<N: IndexSet>(a: &Ragged<N, f64>, steps: usize) -> Ragged<N, f64> {
    let mut x = a;
    for _step in 0..steps {
        x = for i in N {
            let row = x[i];
            for j in _ {
                0.5 * row[j] + 0.25 * (row[(j + 1).wrap()] + row[(j - 1).wrap()])
            }
        };
    }
    x
}

/// States inside of rows, and rows in the loop of a state.
#[pointful]
fn recursive<N: IndexSet>(a: &Ragged<N, f64>) -> (Ragged<N, f64>, f64) {
    let smooth = for i in N {
        let mut s = 0.0;
        for j in _ {
            s = 0.5 * s + a[i][j];
            s
        }
    };
    let mut last = 1.0;
    for i in N {
        last = 0.5 * last + sum(smooth[i]) * last.sin();
    }
    (smooth, last)
}

fn diffused_row(row: &[f64], steps: usize) -> Vec<f64> {
    let n = row.len();
    let step = |x: Vec<f64>| {
        (0..n)
            .map(|j| 0.5 * x[j] + 0.25 * (x[(j + 1) % n] + x[(j + n - 1) % n]))
            .collect()
    };
    (0..steps).fold(row.to_vec(), |x, _| step(x))
}

fn smooth_row(row: &[f64]) -> Vec<f64> {
    row.iter()
        .scan(0.0, |s, x| {
            *s = 0.5 * *s + x;
            Some(*s)
        })
        .collect()
}

#[test]
fn loops_in_order() {
    for count in [0, 1, 5, 200] {
        let a = many(count);
        close(&diffused(&a, 3), &by_rows(&a, |row| diffused_row(row, 3)));
        let (smooth, last) = recursive(&a);
        close(&smooth, &by_rows(&a, smooth_row));
        let mut expected = 1.0_f64;
        for row in smooth.rows() {
            expected = 0.5 * expected + row.iter().sum::<f64>() * expected.sin();
        }
        assert!((last - expected).abs() < 1e-9 * (1.0 + expected.abs()));
    }
}

// ---- derivatives ----

#[pointful]
fn loss<N: IndexSet>(a: &Ragged<N, f64>, w: &Table<N, f64>) -> f64 {
    let p = softmax(a);
    sum(for i in N {
        w[i] * sum(for j in _ {
            p[i][j].powi(2) * a[i][j]
        })
    })
}

#[pointful]
fn recursive_loss<N: IndexSet>(a: &Ragged<N, f64>) -> f64 {
    let (smooth, last) = recursive(a);
    let later = diffused(smooth, 2);
    last + sum(later * later) + sum(a.sin())
}

/// Compares a gradient with differences of values.
fn check_gradient(
    a: &Ragged<Dyn, f64>,
    f: impl Fn(&Ragged<Dyn, f64>) -> f64,
    by: &Ragged<Dyn, f64>,
) {
    assert!(by.has_rows_of(a));
    let step = 1e-6;
    for k in (0..a.len()).step_by(1 + a.len() / 40) {
        let moved = |by: f64| {
            let mut x = a.clone();
            x.values_mut()[k] += by;
            f(&x)
        };
        let difference = (moved(step) - moved(-step)) / (2.0 * step);
        let found = by.values().as_slice()[k];
        assert!(
            (found - difference).abs() < 1e-5 * (1.0 + difference.abs()),
            "{k}: {found} and {difference}"
        );
    }
}

#[test]
fn gradients_have_the_rows_of_the_argument() {
    let w = Table::from(vec![1.0, 10.0, 100.0]);
    let by = grad!(weighted, wrt = a)(&rows(), &w);
    assert_eq!(
        by,
        Ragged::from_rows([vec![2.0, 4.0], vec![], vec![600.0, 800.0, 1000.0]])
    );
    let (value, (by_a, by_w)) = value_and_grad!(weighted)(&rows(), &w);
    assert_eq!(
        (value, by_a, by_w.as_slice()),
        (5005.0, by, &[5.0, 0.0, 50.0][..])
    );
    assert_eq!(
        grad!(weighted, wrt = a)(&no_rows(), &Table::from(Vec::new())),
        no_rows()
    );
    for count in [1, 6, 60] {
        let a = many(count);
        let w = Table::from_fn(Extent::new(count), |Dyn(i)| 1.0 + (i % 5) as f64);
        check_gradient(&a, |a| loss(a, &w), &grad!(loss, wrt = a)(&a, &w));
        check_gradient(&a, recursive_loss, &grad!(recursive_loss)(&a));
    }
}

#[test]
fn every_transformation() {
    let (a, w) = (
        many(30),
        Table::from_fn(Extent::new(30), |Dyn(i)| 0.5 + (i % 3) as f64),
    );
    let direction = a.map(|x| (3.0 * x).cos());
    let by = grad!(loss, wrt = a)(&a, &w);
    let along = by.dot(&direction);
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "{x} and {y}");
    let (value, tangent) = jvp!(loss, wrt = a)(&a, &w, &direction);
    near(value, loss(&a, &w));
    near(tangent, along);
    let (_, map) = linearize!(loss, wrt = a)(&a, &w);
    near(map(&direction), along);
    let (_, by_vjp) = vjp!(loss, wrt = a)(&a, &w, 2.0);
    close(&by_vjp, &by.map(|x| 2.0 * x));
    // A Hessian times a vector, by differences of gradients.
    let product = hvp!(loss, wrt = a)(&a, &w, &direction);
    let step = 1e-5;
    let gradient = |by: f64| grad!(loss, wrt = a)(&a.map_with(&direction, |x, d| x + by * d), &w);
    let difference = gradient(step).map_with(&gradient(-step), |x, y| (x - y) / (2.0 * step));
    for (x, y) in product.values().iter().zip(difference.values()) {
        assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{x} and {y}");
    }
    // Of a result with rows, the cotangent has such rows, too.
    let (value, (by_a, by_w)) = vjp!(waves)(&a, &w, &direction);
    close(&value, &waves(&a, &w));
    let (_, tangent) = jvp!(waves)(&a, &w, &direction, &w);
    near(tangent.dot(&direction), by_a.dot(&direction) + by_w.dot(&w));
    let (_, map) = linearize!(waves)(&a, &w);
    close(&map(&direction, &w), &tangent);
}

#[pointful]
fn descended<N: IndexSet>(
    a: &Ragged<N, f64>,
    target: &Ragged<N, f64>,
    steps: usize,
) -> Ragged<N, f64> {
    let mut x = a;
    for _step in 0..steps {
        x = x - 0.5 * grad!(distance, wrt = a)(x, target);
    }
    x
}

#[pointful]
fn distance<N: IndexSet>(a: &Ragged<N, f64>, target: &Ragged<N, f64>) -> f64 {
    0.5 * sum((a - target).powi(2))
}

#[test]
fn derivatives_in_bodies() {
    let target = rows().map(|x| x * x);
    let found = descended(&rows(), &target, 40);
    for (x, y) in found.values().iter().zip(target.values()) {
        assert!((x - y).abs() < 1e-9);
    }
}

#[test]
#[should_panic(
    expected = "`grad_distance`: parameters `a` and `target` disagree on the length of row 1: 0 in `a`, 1 in `target`"
)]
fn rows_that_meet_are_of_the_same_lengths() {
    grad!(distance, wrt = a)(
        &rows(),
        &Ragged::from_rows([vec![1.0, 2.0], vec![3.0], vec![4.0, 5.0]]),
    );
}

#[test]
#[should_panic(expected = "disagree on the length of row 0: 2 in `a`, 1 in `d_a`")]
fn a_tangent_has_the_rows_of_the_argument() {
    jvp!(recursive_loss)(
        &rows(),
        &Ragged::from_rows([vec![1.0], vec![2.0], vec![3.0, 4.0, 5.0]]),
    );
}

#[test]
fn other_rows_are_an_error_where_asked_for() {
    let other = Ragged::from_rows([vec![1.0, 2.0], vec![3.0], vec![4.0, 5.0]]);
    let error = try_call!(distance)(&rows(), &other).expect_err("other rows");
    assert!(
        matches!(
            error,
            Error::RowMismatch {
                row: 1,
                left_length: 0,
                right_length: 1,
                ..
            }
        ),
        "{error}"
    );
    let error = try_call!(distance)(&rows(), &no_rows()).expect_err("no rows");
    assert!(
        matches!(
            error,
            Error::ExtentMismatch {
                left: "a",
                right: "target",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(try_call!(distance)(&rows(), &rows()), Ok(0.0));
}

// ---- other sets, types and places ----

#[pointful]
fn halves<N: IndexSet, T: Float>(a: &Ragged<N, T>, by: T) -> (Ragged<N, T>, T) {
    let made = for i in N {
        a[i] * by
    };
    (
        made,
        sum(for i in N {
            sum(made[i])
        }),
    )
}

#[pointful]
fn of_stations(a: &Ragged<Station, f32>, s: Station) -> f32 {
    sum(a[s]) + a[s][0]
}

#[pointful]
fn of_phases(a: &Ragged<Phase, i32>, b: &Ragged<bool, u8>) -> (i32, usize) {
    (
        sum(a[Phase::Early]) - sum(a[Phase::Late]),
        b[true].len() * 10 + b[1 < 2].len(),
    )
}

#[pointful]
fn fixed(a: &Ragged<Fin<3>, f64>) -> Ragged<Fin<3>, f64> {
    for i in Fin::<3> {
        for j in _ {
            a[i][j] * a[2][0]
        }
    }
}

#[test]
fn floats_and_sets_of_all_kinds() {
    let (made, total) = halves(&rows(), 0.5);
    assert_eq!((made, total), (rows().map(|x| 0.5 * x), 7.5));
    let single = rows().map(|x| x as f32);
    let (made, total) = halves(&single, 0.5_f32);
    assert_eq!((made, total), (single.map(|x| 0.5 * x), 7.5));
    let of_single: Ragged<Station, f32> = single.cast(Extent::new(3)).expect("three");
    assert_eq!(of_stations(&of_single, Station(2)), 15.0);
    let by = grad!(of_stations)(&of_single, Station(2));
    assert_eq!(by.values().as_slice(), [0.0, 0.0, 2.0, 1.0, 1.0]);
    let phases = Ragged::from_rows([vec![1, 2, 3], vec![10]])
        .cast(())
        .expect("two");
    let flags = Ragged::from_rows([vec![1_u8], vec![2, 3]])
        .cast(())
        .expect("two");
    assert_eq!(of_phases(&phases, &flags), (-4, 22));
    let three = rows().cast::<Fin<3>>(()).expect("three");
    assert_eq!(fixed(&three), three.map(|x| 3.0 * x));
}

/// Two matrices of the same shape, as a user keeps them.
#[pointful]
#[derive(Clone, Debug, PartialEq)]
struct Pair<N: IndexSet> {
    left: Ragged<N, f64>,
    right: Ragged<N, f64>,
    scale: f64,
}

#[pointful]
fn of_pair<N: IndexSet>(p: &Pair<N>) -> f64 {
    p.scale
        * sum(for i in N {
            sum(for j in _ {
                p.left[i][j] * p.right[i][j].sin()
            })
        })
}

#[pointful]
fn doubled<N: IndexSet>(p: Pair<N>) -> Pair<N> {
    Pair {
        left: p.left * 2.0,
        right: for i in N {
            p.right[i] * 2.0
        },
        scale: p.scale,
    }
}

#[test]
fn fields_of_structs() {
    let pair = Pair {
        left: rows(),
        right: rows().map(|x| x / 3.0),
        scale: 2.0,
    };
    let by = grad!(of_pair)(&pair);
    close(&by.left, &pair.right.map(|x| 2.0 * x.sin()));
    assert_eq!(by.dimension(), 11);
    let (before, mut after) = (of_pair(&pair), pair.clone());
    after.axpy(1e-7, &by);
    assert!(((of_pair(&after) - before) / 1e-7 - by.dot(&by)).abs() < 1e-3);
    let twice = doubled(pair.clone());
    assert_eq!(
        (twice.left, twice.right),
        (pair.left.map(|x| 2.0 * x), pair.right.map(|x| 2.0 * x))
    );
    let short = Pair {
        right: Ragged::from_rows([[1.0]; 3]),
        ..pair
    };
    let error = try_call!(of_pair)(&short).expect_err("other rows");
    assert_eq!(
        error.to_string(),
        "`of_pair`: parameters `p.left` and `p.right` disagree on the length of row 0: 2 in `p.left`, 1 in `p.right`"
    );
}

/// Rows as arguments of functions of tables, and of closures.
#[pointful]
fn norm<K: IndexSet>(x: &Table<K, f64>) -> f64 {
    sum(x * x).sqrt()
}

#[pointful]
fn normalized<K: IndexSet>(x: &Table<K, f64>) -> Table<K, f64> {
    let n = norm(x);
    for k in K {
        x[k] / n
    }
}

#[pointful]
fn directions<N: IndexSet>(a: &Ragged<N, f64>) -> (Ragged<N, f64>, f64, f64) {
    let longest = |i: N| norm(a[i]);
    (
        for i in N {
            normalized(a[i])
        },
        sum(for i in N {
            longest(i)
        }),
        norm(a),
    )
}

#[test]
fn rows_are_tables_to_functions() {
    let (made, total, all) = directions(&rows());
    let norm = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
    close(
        &made,
        &by_rows(&rows(), |row| row.iter().map(|x| x / norm(row)).collect()),
    );
    assert!((total - (5_f64.sqrt() + 50_f64.sqrt())).abs() < 1e-12);
    assert!((all - 55_f64.sqrt()).abs() < 1e-12);
}

/// Rows of members, and of as many numbers as a set has members.
#[pointful]
fn reversed<N: IndexSet>(
    next: &Ragged<N, N>,
    stations: Extent<Station>,
) -> (Ragged<N, N>, Ragged<N, Station>, f64) {
    let pairs = for i in N {
        for j in _ {
            let k = next[i][j];
            for d in Fin::<2> {
                (k.ordinal() * 2 + d.ordinal()) as f64
            }
        }
    };
    (
        for i in N {
            let row = next[i];
            for j in _ {
                row[(j + 1).wrap()]
            }
        },
        for i in N {
            for j in _ {
                Station::from_ordinal(next[i][j].ordinal(), stations)
            }
        },
        sum(for i in N {
            sum(for j in _ {
                pairs[i][j][1] - pairs[i][j][0]
            })
        }),
    )
}

#[test]
fn loops_make_rows_of_members() {
    let ends = Table::<Dyn, Dyn>::from_indices(4, 3, vec![1, 2, 2, 0]).expect("below three");
    let next = Ragged::new(vec![0, 2, 3, 4], ends).expect("offsets");
    let (turned, stations, count) = reversed(&next, Extent::new(5));
    assert_eq!(turned.values().as_slice(), [2, 1, 2, 0]);
    assert_eq!(stations.row(0).at(1), Station(2));
    assert_eq!((count, turned.has_rows_of(&next)), (4.0, true));
}

/// What users name rows.
#[pointful]
type Rows<N> = Ragged<N, f64>;

#[pointful]
type Sentences = Ragged<Dyn, f64>;

mod elsewhere {
    use super::Rows;
    use pointful::prelude::*;

    #[pointful]
    pub(crate) fn energy<N: IndexSet>(a: &Rows<N>, scale: f64) -> f64 {
        scale
            * sum(for i in N {
                sum(a[i]).powi(2)
            })
    }

    define! { pub(crate) fn forces = grad!(energy, wrt = a); }

    /// What nobody else can look into.
    #[pointful]
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Closed {
        rows: Rows<Dyn>,
        scale: f64,
    }

    impl Closed {
        pub(crate) fn new(rows: Ragged<Dyn, f64>, scale: f64) -> Self {
            Closed { rows, scale }
        }
    }

    #[pointful]
    pub(crate) fn of_closed(c: &Closed) -> f64 {
        energy(c.rows, c.scale)
    }
}

#[pointful]
fn longest(a: &Sentences) -> usize {
    max(for i in _ {
        a[i].len()
    })
}

#[pointful]
fn pushed<N: IndexSet>(a: &Rows<N>) -> Rows<N> {
    a - 0.5 * elsewhere::forces(a, 1.0)
}

#[pointful]
fn scaled_sums<N: IndexSet>(a: &Ragged<N, f64>, by: f64) -> Table<N, f64> {
    for i in N {
        by * sum(a[i])
    }
}

#[test]
fn names_modules_and_the_other_transformations() {
    let expected = Ragged::from_rows([vec![12.0, 12.0], vec![], vec![48.0, 48.0, 48.0]]);
    assert_eq!(elsewhere::forces(&rows(), 2.0), expected);
    assert_eq!(
        pushed(&rows()),
        Ragged::from_rows([vec![-2.0, -1.0], vec![], vec![-9.0, -8.0, -7.0]])
    );
    assert_eq!(longest(&rows()), 3);
    let closed = elsewhere::Closed::new(rows(), 2.0);
    let by = grad!(elsewhere::of_closed)(&closed);
    assert_eq!(
        by,
        elsewhere::Closed::new(elsewhere::forces(&rows(), 2.0), 153.0)
    );
    let scales = Table::<Dyn, f64>::from(vec![1.0, 10.0]);
    let mapped = vmap!(scaled_sums, over = by)(&rows(), &scales);
    assert_eq!(mapped.as_slice(), [3.0, 0.0, 12.0, 30.0, 0.0, 120.0]);
    let all = jacobian!(scaled_sums, wrt = by)(&rows(), 7.0);
    assert_eq!(all.as_slice(), [3.0, 0.0, 12.0]);
}

/// A derivative of its author's, and rows in closures that a loop calls.
#[pointful(vjp = half_backwards)]
fn half<N: IndexSet>(a: &Ragged<N, f64>) -> Ragged<N, f64> {
    a * 0.5
}

#[pointful]
fn half_backwards<N: IndexSet>(a: &Ragged<N, f64>, ct: &Ragged<N, f64>) -> Ragged<N, f64> {
    ct * 3.0 + a * 0.0
}

#[pointful]
fn by_closures<N: IndexSet>(a: &Ragged<N, f64>) -> f64 {
    let halved = half(a);
    let apply = |f: impl Fn(f64) -> f64, i: N| {
        sum(for j in _ {
            f(halved[i][j])
        })
    };
    sum(for i in N {
        apply(|x| x * x, i)
    })
}

#[test]
fn derivatives_of_authors() {
    assert_eq!(grad!(by_closures)(&rows()), rows().map(|x| 3.0 * x));
}

/// A row by itself, whose length the caller is told.
#[pointful]
fn row_of<N: IndexSet>(a: &Ragged<N, f64>, i: N) -> Table<Dyn, f64> {
    a[i]
}

#[pointful]
fn squared_rows<N: IndexSet>(a: &Ragged<N, f64>) -> f64 {
    sum(for i in N {
        let row = row_of(a, i);
        sum(for j in _ {
            row[j] * row[j]
        })
    })
}

#[test]
fn a_row_as_a_result() {
    assert_eq!(row_of(&rows(), Dyn(2)).as_slice(), [3.0, 4.0, 5.0]);
    assert_eq!(row_of(&rows(), Dyn(1)).len(), 0);
    assert_eq!(squared_rows(&rows()), 55.0);
    assert_eq!(grad!(squared_rows)(&rows()), rows().map(|x| 2.0 * x));
}

/// What vectors have in bodies, too.
#[pointful]
fn as_vectors<N: IndexSet>(a: &Ragged<N, f64>, b: &Ragged<N, f64>) -> (Ragged<N, f64>, f64) {
    let mut x = a.map(|x| x * x);
    x.axpy(2.0, b);
    x.scale(0.5);
    (x, a.dot(b) + sum(a.zeros_like()))
}

#[test]
fn vectors_in_bodies() {
    let (x, dot) = as_vectors(&rows(), &rows().map(|x| 10.0 * x));
    assert_eq!((x, dot), (rows().map(|x| 0.5 * (x * x + 20.0 * x)), 550.0));
}

/// Parts of a tuple, and a table by value beside.
#[pointful]
fn of_parts<N: IndexSet>(
    pair: (&Ragged<N, f64>, usize),
    mut w: Table<N, f64>,
) -> (Ragged<N, f64>, Table<N, f64>) {
    let (a, k) = pair;
    for i in N {
        w[i] += sum(a[i]) * k as f64;
    }
    (
        for i in N {
            a[i] * w[i]
        },
        w,
    )
}

#[test]
fn parts_of_tuples() {
    let (made, w) = of_parts((&rows(), 2), Table::from(vec![1.0, 2.0, 3.0]));
    assert_eq!(w.as_slice(), [7.0, 2.0, 27.0]);
    assert_eq!(
        made,
        Ragged::from_rows([vec![7.0, 14.0], vec![], vec![81.0, 108.0, 135.0]])
    );
}

/// Operators of authors over rows, what is printed on the way, and rows of sets of two kinds.
#[pointful]
fn folded<N: IndexSet>(a: &Ragged<N, f64>) -> (Table<N, f64>, Ragged<N, f64>) {
    let join = |x: f64, y: f64| x + y + x * y;
    (
        for i in N {
            reduce(0.0, join, a[i])
        },
        for i in N {
            println!("row {} of {}", i.ordinal(), a[i].len());
            scan(0.0, join, a[i])
        },
    )
}

#[pointful]
fn of_two_kinds<N: IndexSet>(a: &Ragged<Either<Phase, N>, f64>) -> (f64, Table<N, f64>) {
    (
        sum(a[Either::Left(Phase::Late)]),
        for n in N {
            sum(a[Either::Right(n)])
        },
    )
}

#[test]
fn operators_and_sets_of_two_kinds() {
    let small = rows().map(|x| x / 4.0);
    let (whole, parts) = folded(&small);
    let prefixes = |row: &[f64]| -> Vec<f64> {
        let join = |x: f64, y: f64| x + y + x * y;
        (1..=row.len())
            .map(|n| row[..n].iter().copied().fold(0.0, join))
            .collect()
    };
    close(&parts, &by_rows(&small, prefixes));
    for (whole, row) in whole.iter().zip(parts.rows()) {
        assert!((whole - row.iter().last().copied().unwrap_or(0.0)).abs() < 1e-12);
    }
    check_gradient(
        &small,
        |a| folded(a).0.iter().sum(),
        &grad!(sum_of_folded)(&small),
    );
    let extent = Extent::<Either<Phase, Dyn>>::join((Extent::default(), Extent::new(1)));
    let (late, others) = of_two_kinds(&rows().cast(extent).expect("two and one"));
    assert_eq!((late, others.as_slice()), (0.0, &[12.0][..]));
}

#[pointful]
fn sum_of_folded<N: IndexSet>(a: &Ragged<N, f64>) -> f64 {
    let (whole, _) = folded(a);
    sum(whole)
}

#[test]
fn places_in_rows_are_not_checked() {
    let report = explain!(waves);
    assert!(!report.contains("check"), "{report}");
}

// ---- all derivatives, and rows one after the other ----

#[pointful]
fn squares<N: IndexSet>(a: &Ragged<N, f64>, w: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        w[i] * sum(a[i] * a[i])
    }
}

#[pointful]
fn cubes<N: IndexSet>(a: &Ragged<N, f64>, x: f64) -> f64 {
    sum(for row in a {
        sum(row * row * row) * x
    })
}

/// What derivatives by all values are in a body: by the members of rows, or rows again.
#[pointful]
fn in_a_body<N: IndexSet>(
    a: &Ragged<N, f64>,
    w: &Table<N, f64>,
    d: &Ragged<N, f64>,
) -> (Table<N, f64>, Table<N, f64>, Table<(N, Dyn), f64>) {
    let all = jacobian!(squares, wrt = a)(a, w);
    (
        for i in N {
            sum(for k in N {
                sum(for e in _ {
                    all[i][k][e] * d[k][e]
                })
            })
        },
        jvp!(squares, wrt = a)(a, w, d).1,
        all,
    )
}

#[test]
fn all_derivatives_by_values() {
    let w = Table::<Dyn, f64>::from(vec![1.0, 10.0, 100.0]);
    let all: Table<(Dyn, Dyn), f64> = jacobian!(squares, wrt = a)(&rows(), &w);
    assert_eq!(all.extent().size(), (3, 5));
    #[rustfmt::skip]
    let expected = [
        2.0, 4.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 600.0, 800.0, 1000.0,
    ];
    assert_eq!(all.as_slice(), expected);
    let (by_a, by_w) = jacobian!(squares)(&rows(), &w);
    assert_eq!((by_a, by_w[(2, 2)]), (all.clone(), 50.0));

    // A number has derivatives in the same rows.
    let slopes: Ragged<Dyn, f64> = jacobian!(cubes, wrt = a)(&rows(), 2.0);
    close(&slopes, &rows().map(|x| 6.0 * x * x));
    let ((by_a, by_both), (both_by_a, by_x)) = hessian!(cubes)(&rows(), 2.0);
    assert_eq!(by_a.extent().size(), (5, 5));
    let diagonal = rows().values().iter().map(|x| 12.0 * x).collect::<Vec<_>>();
    for (k, slope) in diagonal.iter().enumerate() {
        for l in 0..5 {
            assert_eq!(by_a[(k, l)], if k == l { *slope } else { 0.0 });
        }
    }
    close(&by_both, &rows().map(|x| 3.0 * x * x));
    close(&both_by_a, &by_both);
    assert_eq!(by_x, 0.0);

    let (by_table, by_tangent, given) = in_a_body(&rows(), &w, &rows());
    assert_eq!(by_table, by_tangent);
    assert_eq!(given, all);

    // Rows by rows: of what is made of each value alone.
    let of_values: Table<(Dyn, Dyn), f64> = jacobian!(waves, wrt = a)(&rows(), &w);
    assert_eq!(of_values.extent().size(), (5, 5));

    let none = jacobian!(squares, wrt = a)(&no_rows(), &Table::from(Vec::new()));
    assert_eq!((none.len(), none.extent().size()), (0, (0, 0)));
}

#[pointful]
fn row_by_row<N: IndexSet>(a: &Ragged<N, f64>) -> (Table<N, f64>, Ragged<N, f64>, f64) {
    let mut last = 0.0;
    for row in a.rows().rev() {
        for x in row {
            last = 0.5 * last + x;
        }
    }
    (
        for row in a {
            sum(row)
        },
        for row in a {
            row * 2.0
        },
        last,
    )
}

#[test]
fn rows_one_after_the_other() {
    for a in [rows(), no_rows(), many(40)] {
        let (sums, twice, last) = row_by_row(&a);
        let expected: Vec<f64> = a.rows().map(|row| row.iter().sum()).collect();
        for (found, expected) in sums.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9);
        }
        close(&twice, &a.map(|x| 2.0 * x));
        let expected = (0..a.extent().len())
            .rev()
            .flat_map(|i| a.row(i).iter().copied().collect::<Vec<_>>())
            .fold(0.0, |last, x| 0.5 * last + x);
        assert_eq!(last, expected);
        check_gradient(&a, |a| cubes(a, 0.5), &grad!(cubes, wrt = a)(&a, 0.5));
    }
}

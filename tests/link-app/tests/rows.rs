//! Loops that are cut where their neighbours end, and short rows: against plain loops, at lengths on
//! both sides of all that a vector, a strip and a short row have.
#![deny(warnings)]
#![forbid(unsafe_code)]

use pointful::prelude::*;

const LENGTHS: [usize; 22] = [
    0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 64, 65, 127, 128, 129, 130, 131, 257,
];

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
    };
    (0..n).map(next).collect()
}

fn vector(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

fn matrix(values: &[f64], rows: usize, columns: usize) -> Table<(Dyn, Dyn), f64> {
    Table::from_vec(Extent::new((rows, columns)), values.to_vec()).expect("as many as it has")
}

#[track_caller]
fn all_near(found: &[f64], right: &[f64], what: &str) {
    assert_eq!(found.len(), right.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(right).enumerate() {
        let scale = 1.0 + a.abs().max(b.abs());
        assert!(
            (a - b).abs() <= 1e-9 * scale,
            "{what}: {a} is not {b} at {at}"
        );
    }
}

#[pointful]
fn box_of<X: IndexSet, Y: IndexSet, Z: IndexSet>(
    u: &Table<(X, Y, Z), f32>,
) -> Table<(X, Y, Z), f32> {
    for (x, y, z) in _ {
        let inside = x.ordinal() > 0
            && x.ordinal() + 1 < size(X)
            && y.ordinal() > 0
            && y.ordinal() + 1 < size(Y)
            && z.ordinal() > 0
            && z.ordinal() + 1 < size(Z);
        if inside {
            u[x][y][z + 1] - u[x][y][z - 1] + 2.0 * u[x][y + 1][z] - u[x][y - 1][z] + u[x + 1][y][z]
                - 3.0 * u[x - 1][y][z]
        } else {
            u[x][y][z]
        }
    }
}

#[test]
fn boxes_with_a_border() {
    for nz in LENGTHS {
        for (nx, ny) in [(1, 4), (2, 2), (3, 3), (5, 4)] {
            let u: Vec<f32> = numbers(nx * ny * nz, 3).iter().map(|&x| x as f32).collect();
            let at = |x: usize, y: usize, z: usize| u[(x * ny + y) * nz + z];
            let mut right = u.clone();
            for x in 1..nx.max(1) - 1 {
                for y in 1..ny.max(1) - 1 {
                    for z in 1..nz.max(1) - 1 {
                        right[(x * ny + y) * nz + z] = at(x, y, z + 1) - at(x, y, z - 1)
                            + 2.0 * at(x, y + 1, z)
                            - at(x, y - 1, z)
                            + at(x + 1, y, z)
                            - 3.0 * at(x - 1, y, z);
                    }
                }
            }
            let extent = Extent::<(Dyn, Dyn, Dyn)>::new((nx, ny, nz));
            let found = box_of(&Table::from_vec(extent, u.clone()).expect("as many as it has"));
            assert_eq!(found.as_slice(), right, "{nx} by {ny} by {nz}");
        }
    }
}

#[pointful]
fn by_rows<I: IndexSet, J: IndexSet>(
    x: &Table<(I, J), f64>,
    c: &Table<I, bool>,
    d: &Table<I, bool>,
) -> (Table<(I, J), f64>, Table<(I, J), f64>, Table<(I, J), f64>) {
    let one = for (i, j) in (I, J) {
        if c[i] { 2.0 * x[i][j] } else { x[i][j] - 1.0 }
    };
    let two = for (i, j) in (I, J) {
        let a = if c[i] { x[i][j].sqrt() } else { 0.5 };
        let b = if d[i] { x[i][j] } else { -x[i][j] };
        a + b
    };
    let above = for (i, j) in (I, J) {
        let before = if x.get(i - 1).is_some() {
            x[i - 1][j]
        } else {
            0.25
        };
        before * x[(i + 1).clamp()][(j - 2).wrap()]
    };
    (one, two, above)
}

#[test]
fn rows_decide_alike() {
    for (n, rows) in LENGTHS.into_iter().flat_map(|n| [(n, 1), (n, 4)]) {
        let x: Vec<f64> = numbers(rows * n, 5).iter().map(|x| x.abs()).collect();
        let [c, d] = [1, 2].map(|by| (0..rows).map(|i| i / by % 2 == 0).collect::<Vec<bool>>());
        let mut right = [vec![], vec![], vec![]];
        for i in 0..rows {
            for j in 0..n {
                let own = x[i * n + j];
                right[0].push(if c[i] { 2.0 * own } else { own - 1.0 });
                right[1].push(if c[i] { own.sqrt() } else { 0.5 } + if d[i] { own } else { -own });
                let before = if i > 0 { x[(i - 1) * n + j] } else { 0.25 };
                let column = (j as i64 - 2).rem_euclid(n as i64) as usize;
                right[2].push(before * x[(i + 1).min(rows - 1) * n + column]);
            }
        }
        let [c, d] = [c, d].map(Table::<Dyn, bool>::from);
        let (one, two, above) = by_rows(&matrix(&x, rows, n), &c, &d);
        for (found, right) in [one, two, above].iter().zip(&right) {
            all_near(found.as_slice(), right, &format!("{rows} rows of {n}"));
        }
    }
}

#[pointful]
fn windows<N: IndexSet, M: IndexSet, K: IndexSet>(
    x: &Table<M, f64>,
    w: &Table<K, f64>,
    y: &Table<N, f64>,
    by: usize,
    lag: i64,
) -> (Table<N, f64>, Table<N, f64>, Table<N, f64>) {
    let checked = for n in N {
        y[n] - x[n.ordinal() + by]
    };
    let summed = for n in N {
        sum(for k in K {
            w[k] * x[n.ordinal() + k.ordinal()]
        })
    };
    let lagged = for n in N {
        y[n] * x.get(n.ordinal() as i64 + lag).unwrap_or(2.0)
    };
    (checked, summed, lagged)
}

#[pointful]
fn windows_sum<N: IndexSet, M: IndexSet, K: IndexSet>(
    x: &Table<M, f64>,
    w: &Table<K, f64>,
    y: &Table<N, f64>,
) -> f64 {
    sum(for n in N {
        y[n] * sum(for k in K {
            w[k] * x[n.ordinal() + k.ordinal()]
        })
        .powi(2)
    })
}

#[test]
fn windows_in_a_longer_table() {
    for n in LENGTHS {
        for k in [1, 3, 9, 40] {
            let m = n + k - 1;
            let (x, w, y) = (numbers(m, 7), numbers(k, 8), numbers(n, 9));
            let (tx, tw, ty) = (vector(&x), vector(&w), vector(&y));
            for lag in [0, 1, -1, 5, -17, k as i64, 300, -300, i64::from(i32::MAX)] {
                let by = k - 1;
                let sums: Vec<f64> = (0..n)
                    .map(|i| (0..k).map(|k| w[k] * x[i + k]).sum())
                    .collect();
                let right = [
                    (0..n).map(|i| y[i] - x[i + by]).collect(),
                    sums.clone(),
                    (0..n)
                        .map(|i| {
                            let at = usize::try_from(i as i64 + lag).ok();
                            y[i] * at.and_then(|at| x.get(at)).copied().unwrap_or(2.0)
                        })
                        .collect::<Vec<f64>>(),
                ];
                let (checked, summed, lagged) = windows(&tx, &tw, &ty, by, lag);
                for (found, right) in [checked, summed, lagged].iter().zip(&right) {
                    all_near(found.as_slice(), right, &format!("{n} of {k}, lag {lag}"));
                }
                if lag == 0 {
                    let mut back = vec![0.0; m];
                    for i in 0..n {
                        for k in 0..k {
                            back[i + k] += 2.0 * y[i] * sums[i] * w[k];
                        }
                    }
                    let found = grad!(windows_sum, wrt = x)(&tx, &tw, &ty);
                    all_near(found.as_slice(), &back, &format!("gradient, {n} of {k}"));
                }
            }
        }
    }
}

#[test]
fn the_first_index_beyond_the_table_panics() {
    for n in [1, 8, 40] {
        let (x, w, y) = (
            vector(&numbers(n + 2, 1)),
            vector(&[1.0]),
            vector(&numbers(n, 2)),
        );
        let message = std::panic::catch_unwind(|| windows(&x, &w, &y, 3, 0)).err();
        let message = message.and_then(|message| message.downcast::<String>().ok());
        let message = message.expect("it panics with a text");
        assert!(message.contains(&(n + 2).to_string()), "{message}");
    }
}

#[pointful]
fn spread<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    let mut x = x;
    for _ in 0..steps {
        x = for n in N {
            0.5 * x[n] + 0.25 * x[(n - 1).clamp()] + 0.25 * x[(n + 2).mirror()]
        };
    }
    x
}

#[test]
fn steps_over_one_axis() {
    // The last lengths are worth several tiles of rows and several pieces.
    for n in LENGTHS.into_iter().chain([1000, 70_000]).filter(|&n| n > 2) {
        for steps in [0, 1, 2, 7, 40] {
            let mut right = numbers(n, 11);
            let first = vector(&right);
            for _ in 0..steps {
                let old = right.clone();
                for (i, new) in right.iter_mut().enumerate() {
                    let next = if i + 2 < n {
                        i + 2
                    } else {
                        2 * (n - 1) - (i + 2)
                    };
                    *new = 0.5 * old[i] + 0.25 * old[i.max(1) - 1] + 0.25 * old[next];
                }
            }
            all_near(
                spread(&first, steps).as_slice(),
                &right,
                &format!("{steps} of {n}"),
            );
        }
    }
}

#[pointful]
fn columns<I: IndexSet, J: IndexSet>(
    a: &Table<(J, I), f64>,
    w: &Table<J, f64>,
) -> (Table<I, f64>, Table<I, f64>) {
    let around = for i in I {
        sum(for j in J {
            w[j] * a[(j - 1).wrap()][i] + a[(j + 1).clamp()][i]
        })
    };
    // Points go together through a loop that is cut.
    let above = for i in I {
        sum(for j in J {
            if j.ordinal() > 0 { a[j - 1][i] } else { 0.5 }
        })
    };
    (around, above)
}

#[test]
fn columns_of_neighbouring_rows() {
    for (rows, n) in [1, 2, 9, 33]
        .into_iter()
        .flat_map(|rows| LENGTHS.map(|n| (rows, n)))
    {
        let (a, w) = (numbers(rows * n, 13), numbers(rows, 14));
        let at = |j: usize, i: usize| a[j * n + i];
        let sums = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..n).map(|i| (0..rows).map(|j| of(j, i)).sum()).collect()
        };
        let right = [
            sums(&|j, i| w[j] * at((j + rows - 1) % rows, i) + at((j + 1).min(rows - 1), i)),
            sums(&|j, i| if j > 0 { at(j - 1, i) } else { 0.5 }),
        ];
        let (around, above) = columns(&matrix(&a, rows, n), &vector(&w));
        for (found, right) in [around, above].iter().zip(&right) {
            all_near(found.as_slice(), right, &format!("{rows} rows of {n}"));
        }
    }
}

#[pointful]
fn constant_axes(a: &Table<(Fin<7>, Fin<9>), f64>) -> (Table<(Fin<7>, Fin<9>), f64>, f64) {
    let near = for (i, j) in _ {
        a[(i - 1).wrap()][(j + 1).mirror()] - a[i][j]
    };
    (
        near,
        sum(for (i, j) in _ {
            if j.ordinal() > 1 && i.ordinal() + 1 < 7 {
                a[i][j]
            } else {
                -1.0
            }
        }),
    )
}

#[test]
fn axes_of_known_lengths() {
    let a = numbers(63, 17);
    let at = |i: usize, j: usize| a[i * 9 + j];
    let (mut near, mut total) = (vec![], 0.0);
    for i in 0..7 {
        for j in 0..9 {
            near.push(at((i + 6) % 7, if j < 8 { j + 1 } else { 7 }) - at(i, j));
            total += if j > 1 && i + 1 < 7 { at(i, j) } else { -1.0 };
        }
    }
    let extent = Extent::<(Fin<7>, Fin<9>)>::default();
    let (found, sum) =
        constant_axes(&Table::from_vec(extent, a.clone()).expect("as many as it has"));
    all_near(found.as_slice(), &near, "near");
    all_near(&[sum], &[total], "sum");
}

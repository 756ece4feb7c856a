//! Windows over pictures and channels, and their gradients.

use pointful::prelude::*;

use crate::report::{Report, noise};

#[pointful]
type Three = Fin<3>;
#[pointful]
type Five = Fin<5>;

/// Five by five, edges repeated.
#[pointful]
fn blurred<H: IndexSet, W: IndexSet>(
    x: &Table<(H, W), f32>,
    k: &Table<(Five, Five), f32>,
) -> Table<(H, W), f32> {
    for (i, j) in _ {
        sum(for (a, b) in _ {
            k[a][b] * x[(i + a.ordinal() - 2).clamp()][(j + b.ordinal() - 2).clamp()]
        })
    }
}

#[pointful]
fn blurred_cost<H: IndexSet, W: IndexSet>(
    x: &Table<(H, W), f32>,
    k: &Table<(Five, Five), f32>,
) -> f32 {
    let y = blurred(x, k);
    sum(for (i, j) in _ {
        y[i][j] * y[i][j]
    })
}

/// The steepness of a picture.
#[pointful]
fn edges<H: IndexSet, W: IndexSet>(x: &Table<(H, W), f32>) -> Table<(H, W), f32> {
    for (i, j) in _ {
        let at = |a: i64, b: i64| x[(i + a).clamp()][(j + b).clamp()];
        let across =
            at(-1, 1) + 2.0 * at(0, 1) + at(1, 1) - at(-1, -1) - 2.0 * at(0, -1) - at(1, -1);
        let down = at(1, -1) + 2.0 * at(1, 0) + at(1, 1) - at(-1, -1) - 2.0 * at(-1, 0) - at(-1, 1);
        (across * across + down * down).sqrt()
    }
}

/// A mean of neighbours that look alike.
#[pointful]
fn bilateral<H: IndexSet, W: IndexSet>(x: &Table<(H, W), f32>) -> Table<(H, W), f32> {
    for (i, j) in _ {
        let mut sum = 0.0;
        let mut weights = 0.0;
        for a in 0..5 {
            for b in 0..5 {
                let near = x[(i + a - 2).clamp()][(j + b - 2).clamp()];
                let far = ((a - 2) * (a - 2) + (b - 2) * (b - 2)) as f32;
                let w = (-50.0 * (near - x[i][j]).powi(2) - 0.1 * far).exp();
                sum += w * near;
                weights += w;
            }
        }
        sum / weights
    }
}

/// Channels to channels, where the window is inside.
#[pointful]
fn channels<O: IndexSet, C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet>(
    x: &Table<(C, H, W), f32>,
    k: &Table<(O, C, Three, Three), f32>,
    rows: Extent<P>,
    columns: Extent<Q>,
) -> Table<(O, P, Q), f32> {
    for (o, p, q) in (_, rows, columns) {
        sum(for (c, a, b) in _ {
            k[o][c][a][b] * x[c][p.ordinal() + a.ordinal()][q.ordinal() + b.ordinal()]
        })
    }
}

#[pointful]
fn channels_cost<O: IndexSet, C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet>(
    x: &Table<(C, H, W), f32>,
    k: &Table<(O, C, Three, Three), f32>,
    rows: Extent<P>,
    columns: Extent<Q>,
) -> f32 {
    let y = channels(x, k, rows, columns);
    sum(for (o, p, q) in _ {
        y[o][p][q] * y[o][p][q]
    })
}

/// A picture of 1024² and a window.
fn pictures(report: &mut Report) {
    const N: usize = 1024;
    let (x, k) = (noise::<f32>(1, N * N), noise::<f32>(2, 25));
    let picture: Table<(Dyn, Dyn), f32> =
        Table::from_vec(Extent::new((N, N)), x.clone()).expect("as many numbers");
    let window: Table<(Five, Five), f32> =
        Table::from_vec(Extent::new(((), ())), k.clone()).expect("as many numbers");
    let near = |i: usize, a: usize, by: usize| (i + a).saturating_sub(by).min(N - 1);
    let plain = || {
        let mut y = vec![0.0; N * N];
        for i in 0..N {
            for j in 0..N {
                let mut sum = 0.0;
                for a in 0..5 {
                    for b in 0..5 {
                        sum += k[5 * a + b] * x[near(i, a, 2) * N + near(j, b, 2)];
                    }
                }
                y[i * N + j] = sum;
            }
        }
        y
    };
    report.row(
        "window of 5 × 5, edges repeated",
        || blurred(&picture, &window),
        plain,
    );
    let gradient = || {
        let y = plain();
        let mut g = vec![0.0; N * N];
        for i in 0..N {
            for j in 0..N {
                for a in 0..5 {
                    for b in 0..5 {
                        g[near(i, a, 2) * N + near(j, b, 2)] += 2.0 * k[5 * a + b] * y[i * N + j];
                    }
                }
            }
        }
        g
    };
    let ours = || grad!(blurred_cost, wrt = x)(&picture, &window);
    report.row("its gradient by the picture", ours, gradient);
    let steep = || {
        let mut y = vec![0.0; N * N];
        for i in 0..N {
            for j in 0..N {
                let at = |a: usize, b: usize| x[near(i, a, 1) * N + near(j, b, 1)];
                let across =
                    at(0, 2) + 2.0 * at(1, 2) + at(2, 2) - at(0, 0) - 2.0 * at(1, 0) - at(2, 0);
                let down =
                    at(2, 0) + 2.0 * at(2, 1) + at(2, 2) - at(0, 0) - 2.0 * at(0, 1) - at(0, 2);
                y[i * N + j] = (across * across + down * down).sqrt();
            }
        }
        y
    };
    report.row("Sobel's operator", || edges(&picture), steep);
    let alike = || {
        let mut y = vec![0.0; N * N];
        for i in 0..N {
            for j in 0..N {
                let (mut sum, mut weights) = (0.0, 0.0);
                for at in 0..25 {
                    let (a, b) = (at / 5, at % 5);
                    let near = x[near(i, a, 2) * N + near(j, b, 2)];
                    let far = ((a as f32) - 2.0).powi(2) + ((b as f32) - 2.0).powi(2);
                    let w = (-50.0 * (near - x[i * N + j]).powi(2) - 0.1 * far).exp();
                    sum += w * near;
                    weights += w;
                }
                y[i * N + j] = sum / weights;
            }
        }
        y
    };
    report.row("bilateral filter, 5 × 5", || bilateral(&picture), alike);
}

/// Eight channels of 130² to sixteen.
fn networks(report: &mut Report) {
    const OUT: usize = 16;
    const IN: usize = 8;
    const SIZE: usize = 130;
    const PLACES: usize = 128;
    let (x, k) = (
        noise::<f32>(1, IN * SIZE * SIZE),
        noise::<f32>(2, OUT * IN * 9),
    );
    let input: Table<(Dyn, Dyn, Dyn), f32> =
        Table::from_vec(Extent::new((IN, SIZE, SIZE)), x.clone()).expect("as many numbers");
    let weights: Table<(Dyn, Dyn, Three, Three), f32> =
        Table::from_vec(Extent::new((OUT, IN, (), ())), k.clone()).expect("as many numbers");
    let places: Extent<Dyn> = Extent::new(PLACES);
    // All products of rows: what weighs, where the row of the input begins, and the row of the output.
    let each_row = |mut row: Box<dyn FnMut(usize, usize, usize) + '_>| {
        for own in 0..OUT * IN * 9 {
            let (o, c, a, b) = (own / (IN * 9), own / 9 % IN, own / 3 % 3, own % 3);
            for p in 0..PLACES {
                row(
                    own,
                    (c * SIZE + p + a) * SIZE + b,
                    (o * PLACES + p) * PLACES,
                );
            }
        }
    };
    let plain = || {
        let mut y = vec![0.0; OUT * PLACES * PLACES];
        each_row(Box::new(|own, from, to| {
            let (y, x) = (&mut y[to..][..PLACES], &x[from..][..PLACES]);
            y.iter_mut().zip(x).for_each(|(y, x)| *y += k[own] * x);
        }));
        y
    };
    let ours = || channels(&input, &weights, places, places);
    report.row("8 channels to 16, 3 × 3", ours, plain);
    let by_input = || {
        let y = plain();
        let mut g = vec![0.0; x.len()];
        each_row(Box::new(|own, from, to| {
            let (y, g) = (&y[to..][..PLACES], &mut g[from..][..PLACES]);
            g.iter_mut()
                .zip(y)
                .for_each(|(g, y)| *g += 2.0 * k[own] * y);
        }));
        g
    };
    let ours = || grad!(channels_cost, wrt = x)(&input, &weights, places, places);
    report.row("their gradient by the input", ours, by_input);
    let by_weights = || {
        let y = plain();
        let mut g = vec![0.0; k.len()];
        each_row(Box::new(|own, from, to| {
            let mut lanes = [0.0_f32; 16];
            let rows = y[to..][..PLACES]
                .chunks_exact(16)
                .zip(x[from..][..PLACES].chunks_exact(16));
            for (y, x) in rows {
                lanes
                    .iter_mut()
                    .zip(y.iter().zip(x))
                    .for_each(|(sum, (y, x))| *sum += 2.0 * y * x);
            }
            g[own] += lanes.iter().sum::<f32>();
        }));
        g
    };
    let ours = || grad!(channels_cost, wrt = k)(&input, &weights, places, places);
    report.row("their gradient by the weights", ours, by_weights);
}

pub(crate) fn rows(report: &mut Report) {
    pictures(report);
    networks(report);
}

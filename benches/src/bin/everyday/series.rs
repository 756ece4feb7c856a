//! Series: filters, and steps of which only a part is handed on.

use pointful::prelude::*;

use crate::report::{Report, noise};

/// The likelihood of a volatility that depends on the steps before.
#[pointful]
fn garch<T: IndexSet>(r: &Table<T, f64>, omega: f64, alpha: f64, beta: f64) -> f64 {
    let mut h = omega / (1.0 - alpha - beta);
    let mut total = 0.0;
    for t in T {
        total += h.ln() + r[t] * r[t] / h;
        h = omega + alpha * r[t] * r[t] + beta * h;
    }
    total
}

/// A price's end and its highest value.
#[pointful]
fn path<T: IndexSet>(z: &Table<T, f64>, drift: f64, volatility: f64) -> (f64, f64) {
    let mut s = 1.0;
    let mut top = 1.0;
    for t in T {
        s = s * (drift + volatility * z[t]).exp();
        top = if s > top { s } else { top };
    }
    (s, top)
}

/// The likelihood of a level that is observed.
#[pointful]
fn kalman<T: IndexSet>(y: &Table<T, f64>, q: f64, r: f64) -> f64 {
    let (mut mean, mut variance) = (0.0, 1.0);
    let mut likelihood = 0.0;
    for t in T {
        let f = variance + r;
        let e = y[t] - mean;
        likelihood = likelihood - 0.5 * (f.ln() + e * e / f);
        mean = mean + variance / f * e;
        variance = variance * (1.0 - variance / f) + q;
    }
    likelihood
}

/// Zeros before the beginning.
#[pointful]
fn filtered<T: IndexSet, K: IndexSet>(x: &Table<T, f64>, w: &Table<K, f64>) -> Table<T, f64> {
    for t in T {
        sum(for k in K {
            w[k] * x.get(t - k.ordinal()).unwrap_or(0.0)
        })
    }
}

#[pointful]
fn filtered_cost<T: IndexSet, K: IndexSet>(x: &Table<T, f64>, w: &Table<K, f64>) -> f64 {
    let y = filtered(x, w);
    sum(for t in T {
        y[t] * y[t]
    })
}

#[pointful]
fn autocorrelation<T: IndexSet, L: IndexSet>(x: &Table<T, f64>, lags: Extent<L>) -> Table<L, f64> {
    for l in lags {
        sum(for t in T {
            x[t] * x.get(t + l.ordinal()).unwrap_or(0.0)
        })
    }
}

/// A string that is held at both ends.
#[pointful]
fn wave<N: IndexSet>(u: &Table<N, f64>, c: &Table<N, f64>, steps: usize) -> f64 {
    let mut before = u;
    let mut now = u;
    for _t in 0..steps {
        let next = for i in N {
            let bend = now.get(i - 1).unwrap_or(0.0) - 2.0 * now[i] + now.get(i + 1).unwrap_or(0.0);
            2.0 * now[i] - before[i] + c[i] * bend
        };
        before = now;
        now = next;
    }
    sum(for i in N {
        now[i] * now[i]
    })
}

fn steps(report: &mut Report) {
    let r = noise::<f64>(1, 100_000);
    let series: Table<Dyn, f64> = r.clone().into();
    let plain = || {
        let (mut h, mut total) = (0.1_f64 / (1.0 - 0.1 - 0.8), 0.0);
        for r in &r {
            total += h.ln() + r * r / h;
            h = 0.1 + 0.1 * r * r + 0.8 * h;
        }
        total
    };
    report.row(
        "GARCH's likelihood, 100 000 steps",
        || garch(&series, 0.1, 0.1, 0.8),
        plain,
    );
    let plain = || {
        let (mut s, mut top) = (1.0_f64, 1.0_f64);
        for z in &r {
            s *= (-1e-6 + 1e-3 * z).exp();
            top = if s > top { s } else { top };
        }
        (s, top)
    };
    report.row(
        "a price and its maximum",
        || path(&series, -1e-6, 1e-3),
        plain,
    );
    let plain = || {
        let (mut mean, mut variance, mut likelihood) = (0.0, 1.0, 0.0);
        for y in &r {
            let (f, e): (f64, f64) = (variance + 0.5, y - mean);
            likelihood -= 0.5 * (f.ln() + e * e / f);
            mean += variance / f * e;
            variance = variance * (1.0 - variance / f) + 0.1;
        }
        likelihood
    };
    report.row(
        "Kalman's filter of a level",
        || kalman(&series, 0.1, 0.5),
        plain,
    );
}

fn filters(report: &mut Report) {
    let (x, w) = (noise::<f64>(1, 100_000), noise::<f64>(2, 32));
    let (series, taps): (Table<Dyn, f64>, Table<Dyn, f64>) = (x.clone().into(), w.clone().into());
    let plain = || {
        let mut y = vec![0.0; x.len()];
        for (k, w) in w.iter().enumerate() {
            y[k..].iter_mut().zip(&x).for_each(|(y, x)| *y += w * x);
        }
        y
    };
    report.row("a filter of 32 taps", || filtered(&series, &taps), plain);
    let by_series = || {
        let y = plain();
        let mut g = vec![0.0; x.len()];
        for (k, w) in w.iter().enumerate() {
            g.iter_mut()
                .zip(&y[k..])
                .for_each(|(g, y)| *g += 2.0 * w * y);
        }
        g
    };
    let ours = || grad!(filtered_cost, wrt = x)(&series, &taps);
    report.row("its gradient by the series", ours, by_series);
    let dot = |x: &[f64], y: &[f64]| {
        let mut lanes = [0.0; 8];
        for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
            lanes
                .iter_mut()
                .zip(x.iter().zip(y))
                .for_each(|(sum, (x, y))| *sum += x * y);
        }
        let rest = x.len().min(y.len()) / 8 * 8;
        lanes.iter().sum::<f64>()
            + x[rest..]
                .iter()
                .zip(&y[rest..])
                .map(|(x, y)| x * y)
                .sum::<f64>()
    };
    let by_taps = || {
        let y = plain();
        (0..w.len())
            .map(|k| 2.0 * dot(&y[k..], &x))
            .collect::<Vec<f64>>()
    };
    let ours = || grad!(filtered_cost, wrt = w)(&series, &taps);
    report.row("its gradient by the taps", ours, by_taps);
    let lags: Extent<Dyn> = Extent::new(64);
    let plain = || (0..64).map(|lag| dot(&x[lag..], &x)).collect::<Vec<f64>>();
    report.row(
        "autocorrelation, 64 lags",
        || autocorrelation(&series, lags),
        plain,
    );
}

fn waves(report: &mut Report) {
    const N: usize = 4096;
    let start: Vec<f64> = (0..N)
        .map(|i| (-((i as f64 - 2048.0) / 50.0).powi(2)).exp())
        .collect();
    let c: Vec<f64> = noise::<f64>(1, N).iter().map(|x| 0.5 + 0.1 * x).collect();
    let (u, speeds): (Table<Dyn, f64>, Table<Dyn, f64>) = (start.clone().into(), c.clone().into());
    let plain = || {
        let (mut before, mut now) = (start.clone(), start.clone());
        for _ in 0..500 {
            for i in 0..N {
                let left = if i > 0 { now[i - 1] } else { 0.0 };
                let right = if i + 1 < N { now[i + 1] } else { 0.0 };
                before[i] = 2.0 * now[i] - before[i] + c[i] * (left - 2.0 * now[i] + right);
            }
            std::mem::swap(&mut before, &mut now);
        }
        now.iter().map(|u| u * u).sum::<f64>()
    };
    report.row(
        "a string, 500 steps of 4096",
        || wave(&u, &speeds, 500),
        plain,
    );
}

pub(crate) fn rows(report: &mut Report) {
    steps(report);
    filters(report);
    waves(report);
}

//! Smoothing a noisy series by two recurrences, and finding by Newton's method how much to smooth:
//! by how well each day is foreseen. Writes `target/pictures/recurrences.png`.

use pointful::prelude::*;
use pointful_examples::figure;

/// A day of the series.
#[derive(Clone, Copy, IndexSet)]
pub struct Day(usize);

/// The exponentially smoothed series: each day keeps so much of the day before. Day after day.
#[pointful]
pub fn smooth(series: &Table<Day, f64>, keep: f64) -> Table<Day, f64> {
    let mut level = 0.0;
    for t in Day {
        level = if t.ordinal() == 0 {
            series[t]
        } else {
            keep * level + (1.0 - keep) * series[t]
        };
        level
    }
}

/// The same as a scan, which can be done in parallel: a day is an affine function of the day
/// before, and these compose.
#[pointful]
pub fn smooth_by_scan(series: &Table<Day, f64>, keep: f64) -> Table<Day, f64> {
    let days = for t in Day {
        if t.ordinal() == 0 {
            (0.0, series[t])
        } else {
            (keep, (1.0 - keep) * series[t])
        }
    };
    let (_, level) = scan((1.0, 0.0), |a, b| (a.0 * b.0, b.0 * a.1 + b.1), days);
    level
}

/// The mean square of the errors if each day is foreseen to be as the smoothed day before.
#[pointful]
pub fn error(series: &Table<Day, f64>, keep: f64) -> f64 {
    let level = smooth(series, keep);
    let total = sum(for t in Day {
        if t.ordinal() == 0 {
            0.0
        } else {
            (series[t] - level[t - 1]).powi(2)
        }
    });
    total / size(Day) as f64
}

/// The share that is kept for any number: Newton's method must not leave what lies between 0 and 1.
#[pointful]
fn share(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[pointful]
fn error_at(series: &Table<Day, f64>, x: f64) -> f64 {
    error(series, share(x))
}

/// How much to keep, by `steps` of Newton's method.
#[pointful]
pub fn fit(series: &Table<Day, f64>, steps: usize) -> f64 {
    let mut x = 0.0;
    for _step in 0..steps {
        let slope = grad!(error_at, wrt = x)(series, x);
        let curvature = grad!(grad!(error_at, wrt = x), wrt = x)(series, x);
        // Where the error is not convex, a step down.
        x -= (slope / curvature.abs().max(1e-9)).clamp(-1.0, 1.0);
    }
    share(x)
}

/// The series that is closest to this one where its changes cost `stiffness` times their squares.
/// It solves a system of equations of which each has a day, the day before and the day after:
/// eliminated forwards, put in backwards.
#[pointful]
pub fn whittaker(series: &Table<Day, f64>, stiffness: f64) -> Table<Day, f64> {
    let n = size(Day);
    let mut ratio = for _t in Day {
        0.0
    };
    let mut level = for _t in Day {
        0.0
    };
    for t in 0..n {
        let before = if t > 0 { stiffness } else { 0.0 };
        let after = if t + 1 < n { stiffness } else { 0.0 };
        let (last_ratio, last) = if t > 0 {
            (ratio[t - 1], level[t - 1])
        } else {
            (0.0, 0.0)
        };
        let pivot = 1.0 + before + after - before * last_ratio;
        ratio[t] = after / pivot;
        level[t] = (series[t] + before * last) / pivot;
    }
    for t in (1..n).rev() {
        level[t - 1] += ratio[t - 1] * level[t];
    }
    level
}

/// A walk at random, seen with noise: `days` of it.
fn series(days: usize) -> Table<Day, f64> {
    let mut state = 1u64;
    let mut noise = move || {
        // Twelve numbers between 0 and 1 have together a variance of 1.
        (0..12)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
            })
            .sum::<f64>()
    };
    let mut level = 0.0;
    Table::from_fn(Extent::new(days), |_| {
        level += 0.3 * noise();
        level + noise()
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let series = series(300);
    let keep = fit(&series, 30);
    println!(
        "each day keeps {keep:.3} of the day before; mean square error {:.4}",
        error(&series, keep)
    );
    let curve = |table: &Table<Day, f64>| -> Vec<(f64, f64)> {
        table
            .iter()
            .enumerate()
            .map(|(t, &x)| (t as f64, x))
            .collect()
    };
    let (seen, day_by_day) = (curve(&series), curve(&smooth(&series, keep)));
    let afterwards = curve(&whittaker(&series, 10.0));
    let path = pointful_examples::picture("recurrences.png");
    let chart = figure::Chart::new("Two ways to smooth a series", "day", "level")
        .dots("measured", figure::INK, seen)
        .line("day by day", figure::ORANGE, day_by_day)
        .line("with days to come (Whittaker)", figure::BLUE, afterwards);
    figure::charts(&path, 1, &[chart])?;
    println!("{}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use pointful_examples::differences;

    use super::*;

    #[test]
    fn day_by_day_is_as_by_scan() {
        for days in [0, 1, 2, 7, 1000] {
            let series = series(days);
            let (one, other) = (smooth(&series, 0.8), smooth_by_scan(&series, 0.8));
            for (a, b) in one.iter().zip(other.iter()) {
                assert!((a - b).abs() < 1e-12, "{days} days: {a} and {b}");
            }
        }
    }

    #[test]
    fn the_error_is_least_where_it_is_level() {
        let series = series(300);
        let keep = fit(&series, 30);
        assert!((0.5..0.9).contains(&keep), "{keep}");
        let slope = grad!(error, wrt = keep)(&series, keep);
        assert!(slope.abs() < 1e-10, "{slope}");
        let least = error(&series, keep);
        assert!(least < error(&series, keep - 0.05) && least < error(&series, keep + 0.05));
    }

    /// Of the sum of the squares of what is changed and of the changes, the derivatives are zero.
    #[test]
    fn whittaker_solves_its_equations() {
        for days in [0, 1, 2, 7, 300] {
            let (series, stiffness) = (series(days), 3.0);
            let level = whittaker(&series, stiffness);
            let (x, y) = (level.as_slice(), series.as_slice());
            for t in 0..days {
                let mut slope = x[t] - y[t];
                if t > 0 {
                    slope += stiffness * (x[t] - x[t - 1]);
                }
                if t + 1 < days {
                    slope += stiffness * (x[t] - x[t + 1]);
                }
                assert!(slope.abs() < 1e-12, "{days} days, day {t}: {slope}");
            }
        }
    }

    #[pointful]
    fn size_of(series: &Table<Day, f64>, stiffness: f64) -> f64 {
        sum(whittaker(series, stiffness).powi(2))
    }

    #[test]
    fn gradients_by_differences() {
        let data = series(20);
        let (by_series, by_stiffness) = grad!(size_of)(&data, 2.0);
        let value = |x: &[f64]| {
            let (stiffness, days) = x.split_last().unwrap();
            let days = Table::from_vec(Extent::new(days.len()), days.to_vec()).unwrap();
            size_of(&days, *stiffness)
        };
        let at = [data.as_slice(), &[2.0]].concat();
        let found = [by_series.as_slice(), &[by_stiffness]].concat();
        differences::assert_close(&found, &differences::gradient(&at, value), 1e-7);
    }
}

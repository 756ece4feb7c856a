//! The price of an Asian call, on the mean of what a share costs on the way, by Monte Carlo on
//! given normally distributed numbers, and what it changes by with the market.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A way the market may go.
#[derive(Clone, Copy, IndexSet)]
pub struct Path(usize);

/// A day on which the share's price counts.
#[derive(Clone, Copy, IndexSet)]
pub struct Day(usize);

/// What the option is worth today: the mean over the paths.
#[pointful]
pub fn price(
    normal: &Table<(Path, Day), f64>,
    strike: f64,
    spot: f64,
    rate: f64,
    volatility: f64,
    time: f64,
) -> f64 {
    let step = time / size(Day) as f64;
    let drift = (rate - 0.5 * volatility.powi(2)) * step;
    let spread = volatility * step.sqrt();
    let payoff = mean(for p in Path {
        let mut share = spot;
        let mut total = 0.0;
        for d in Day {
            share *= (drift + spread * normal[p][d]).exp();
            total += share;
        }
        (total / size(Day) as f64 - strike).max(0.0)
    });
    (-rate * time).exp() * payoff
}

/// Twenty paths of five days.
pub(crate) fn small() -> Inputs {
    let one = |x: f64| Table::<Dyn, f64>::from(vec![x]);
    Inputs::made()
        .noise("normal", Extent::<(Dyn, Dyn)>::new((20, 5)), 1, |x| 2.0 * x)
        .with("strike", &one(1.05))
        .with("spot", &one(1.0))
        .with("rate", &one(0.03))
        .with("volatility", &one(0.2))
        .with("time", &one(1.5))
}

struct Input {
    normal: Table<(Path, Day), f64>,
    market: [f64; 5],
}

pub(crate) fn open(inputs: &Inputs) -> Result<Vec<Task>, Failure> {
    let one = |name| -> Result<f64, Failure> {
        let table: Table<Dyn, f64> = inputs.table(name)?;
        Ok(*table.iter().next().ok_or("a number is missing")?)
    };
    let input = Arc::new(Input {
        normal: inputs.table("normal")?,
        market: [
            one("strike")?,
            one("spot")?,
            one("rate")?,
            one("volatility")?,
            one("time")?,
        ],
    });
    let [a, b, c] = [(); 3].map(|()| Arc::clone(&input));
    let slopes = &["value", "spot", "rate", "volatility"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            let [strike, spot, rate, volatility, time] = a.market;
            price(&a.normal, strike, spot, rate, volatility, time)
        }),
        Task::pointful("gradient", slopes, move || {
            let [strike, spot, rate, volatility, time] = b.market;
            let slope = value_and_grad!(price, wrt = (spot, rate, volatility));
            let (value, (s, r, v)) = slope(&b.normal, strike, spot, rate, volatility, time);
            (value, s, r, v)
        }),
        Task::hand("value", &["value"], move || {
            let [strike, spot, rate, volatility, time] = c.market;
            let (paths, days) = c.normal.extent().size();
            let step = time / days as f64;
            let drift = (rate - 0.5 * volatility * volatility) * step;
            let spread = volatility * step.sqrt();
            let total: f64 = c
                .normal
                .as_slice()
                .par_chunks_exact(days)
                .with_min_len(256)
                .map(|normal| {
                    let mut share = spot;
                    let mut total = 0.0;
                    for z in normal {
                        share *= (drift + spread * z).exp();
                        total += share;
                    }
                    (total / days as f64 - strike).max(0.0)
                })
                .sum();
            (-rate * time).exp() * total / paths as f64
        }),
    ])
}

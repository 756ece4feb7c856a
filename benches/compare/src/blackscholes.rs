//! The price of a European call by Monte Carlo, on given normally distributed numbers, and what it
//! changes by with the market.

use std::sync::Arc;

use pointful::prelude::*;
use rayon::prelude::*;

use crate::{Failure, Inputs, Task};

/// A way the market may go.
#[derive(Clone, Copy, IndexSet)]
pub struct Path(usize);

/// What the option is worth today: the mean over the paths.
#[pointful]
pub fn price(
    normal: &Table<Path, f64>,
    strike: f64,
    spot: f64,
    rate: f64,
    volatility: f64,
    time: f64,
) -> f64 {
    let drift = (rate - 0.5 * volatility.powi(2)) * time;
    let spread = volatility * time.sqrt();
    let payoff = mean(for p in Path {
        (spot * (drift + spread * normal[p]).exp() - strike).max(0.0)
    });
    (-rate * time).exp() * payoff
}

/// Thirty paths.
pub(crate) fn small() -> Inputs {
    let one = |x: f64| Table::<Dyn, f64>::from(vec![x]);
    Inputs::made()
        .noise("normal", Extent::<Dyn>::new(30), 1, |x| 2.0 * x)
        .with("strike", &one(1.05))
        .with("spot", &one(1.0))
        .with("rate", &one(0.03))
        .with("volatility", &one(0.2))
        .with("time", &one(1.5))
}

struct Input {
    normal: Table<Path, f64>,
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
    let slopes = &["value", "spot", "rate", "volatility", "time"];
    Ok(vec![
        Task::pointful("value", &["value"], move || {
            let [strike, spot, rate, volatility, time] = a.market;
            price(&a.normal, strike, spot, rate, volatility, time)
        }),
        Task::pointful("gradient", slopes, move || {
            let [strike, spot, rate, volatility, time] = b.market;
            let slope = value_and_grad!(price, wrt = (spot, rate, volatility, time));
            let (value, (s, r, v, t)) = slope(&b.normal, strike, spot, rate, volatility, time);
            (value, s, r, v, t)
        }),
        Task::hand("value", &["value"], move || {
            let [strike, spot, rate, volatility, time] = c.market;
            let drift = (rate - 0.5 * volatility * volatility) * time;
            let spread = volatility * time.sqrt();
            let normal = c.normal.as_slice();
            let total: f64 = normal
                .par_iter()
                .with_min_len(4096)
                .map(|z| (spot * (drift + spread * z).exp() - strike).max(0.0))
                .sum();
            (-rate * time).exp() * total / normal.len() as f64
        }),
    ])
}

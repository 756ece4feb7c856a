//! Prices of European options by the formula of Black and Scholes (1973), all Greeks as derivatives
//! of that one function over a grid of spots and maturities, and implied volatilities, here of
//! prices in a market with jumps (Merton 1976). Prints the Greeks of a call and a put, and draws
//! all of them and the volatility smiles to `target/pictures/option_greeks.png`.

use plotters::prelude::SeriesLabelPosition::{LowerRight, UpperLeft, UpperRight};
use pointful::lib::{implicit_scalar, ln_gamma, normal_cdf};
use pointful::prelude::*;
use pointful_examples::{figure, picture};

/// The kind of an option.
#[derive(Clone, Copy, Debug, IndexSet)]
pub enum Kind {
    /// Buy at the strike.
    Call,
    /// Sell at the strike.
    Put,
}

/// A price of the underlying.
#[derive(Clone, Copy, IndexSet)]
pub struct Spot(usize);

/// A time until options expire.
#[derive(Clone, Copy, IndexSet)]
pub struct Maturity(usize);

/// A strike.
#[derive(Clone, Copy, IndexSet)]
pub struct Strike(usize);

/// The value of a European option in dollars; maturity in years, rate and volatility per year.
#[pointful]
pub fn price(kind: Kind, spot: f64, strike: f64, maturity: f64, rate: f64, vol: f64) -> f64 {
    let discounted = strike * (-rate * maturity).exp();
    let deviation = vol * maturity.sqrt();
    let d = (spot / discounted).ln() / deviation + 0.5 * deviation;
    match kind {
        Kind::Call => spot * normal_cdf(d) - discounted * normal_cdf(d - deviation),
        Kind::Put => discounted * normal_cdf(deviation - d) - spot * normal_cdf(-d),
    }
}

/// A value, and its derivatives by spot, volatility, rate and time.
#[pointful]
#[derive(Debug)]
pub struct Greeks {
    /// Dollars.
    pub value: f64,
    /// By the spot.
    pub delta: f64,
    /// By the spot, twice.
    pub gamma: f64,
    /// By the volatility.
    pub vega: f64,
    /// By time that passes, per year.
    pub theta: f64,
    /// By the rate.
    pub rho: f64,
    /// By spot and volatility.
    pub vanna: f64,
    /// By the volatility, twice.
    pub volga: f64,
}

/// All Greeks of an option.
#[pointful]
pub fn greeks(kind: Kind, spot: f64, strike: f64, maturity: f64, rate: f64, vol: f64) -> Greeks {
    let (value, (delta, by_maturity, rho, vega)) = value_and_grad!(
        price,
        wrt = (spot, maturity, rate, vol)
    )(kind, spot, strike, maturity, rate, vol);
    let ((gamma, vanna), (_, volga)) =
        hessian!(price, wrt = (spot, vol))(kind, spot, strike, maturity, rate, vol);
    Greeks {
        value,
        delta,
        gamma,
        vega,
        theta: -by_maturity,
        rho,
        vanna,
        volga,
    }
}

/// The volatility at which an option has the value `quote`, by Newton's method. It starts where
/// vega is largest, from where it converges monotonically (Manaster and Koehler 1982). Derivatives
/// are those of the root and not of the steps.
#[pointful]
pub fn implied_volatility(
    kind: Kind,
    quote: f64,
    spot: f64,
    strike: f64,
    maturity: f64,
    rate: f64,
) -> f64 {
    let moneyness = (spot / strike).ln() + rate * maturity;
    let mut vol = (2.0 * moneyness.abs() / maturity).sqrt().max(0.05);
    let mut step = vol;
    #[bound(100)]
    while step.abs() > 1e-12 {
        let (value, vega) =
            value_and_grad!(price, wrt = vol)(kind, spot, strike, maturity, rate, vol);
        step = (quote - value) / vega;
        vol += step;
    }
    implicit_scalar(
        |vol: f64| price(kind, spot, strike, maturity, rate, vol) - quote,
        vol,
    )
}

/// Jumps of the underlying: their logarithms are normal.
#[pointful]
pub struct Jumps {
    /// How many there are per year.
    pub intensity: f64,
    /// The mean of the logarithm.
    pub mean: f64,
    /// The standard deviation of the logarithm.
    pub deviation: f64,
}

/// The value if the underlying jumps as well: a mean over the number of jumps. More than 40 are too
/// improbable to count.
#[pointful]
pub fn price_with_jumps(
    kind: Kind,
    spot: f64,
    strike: f64,
    maturity: f64,
    rate: f64,
    vol: f64,
    jumps: &Jumps,
) -> f64 {
    let log_factor = jumps.mean + 0.5 * jumps.deviation.powi(2);
    let drift = jumps.intensity * (log_factor.exp() - 1.0);
    let expected = jumps.intensity * log_factor.exp() * maturity;
    sum(for n in 0..40 {
        let n = n as f64;
        let weight = (n * expected.ln() - expected - ln_gamma(n + 1.0)).exp();
        let rate = rate - drift + n * log_factor / maturity;
        let variance = vol.powi(2) + n * jumps.deviation.powi(2) / maturity;
        weight * price(kind, spot, strike, maturity, rate, variance.sqrt())
    })
}

/// The implied volatilities of prices with jumps, for each maturity and strike.
#[pointful]
pub fn smiles<M: IndexSet, K: IndexSet>(
    maturities: &Table<M, f64>,
    strikes: &Table<K, f64>,
    spot: f64,
    rate: f64,
    vol: f64,
    jumps: &Jumps,
) -> Table<(M, K), f64> {
    for (m, k) in (M, K) {
        let (maturity, strike) = (maturities[m], strikes[k]);
        // The option that is out of the money: the value of the other one is mostly intrinsic, and
        // tells less about the volatility.
        let kind = if strike < spot { Kind::Put } else { Kind::Call };
        let quote = price_with_jumps(kind, spot, strike, maturity, rate, vol, jumps);
        implied_volatility(kind, quote, spot, strike, maturity, rate)
    }
}

const STRIKE: f64 = 100.0;
const RATE: f64 = 0.03;
const VOL: f64 = 0.2;
const JUMPS: Jumps = Jumps {
    intensity: 0.5,
    mean: -0.15,
    deviation: 0.1,
};

fn main() {
    println!("half a year, strike {STRIKE} $, spot 110 $, volatility 20 % a year, rate 3 % a year");
    for (kind, name) in [(Kind::Call, "call"), (Kind::Put, "put")] {
        let g = greeks(kind, 110.0, STRIKE, 0.5, RATE, VOL);
        println!(
            "{name:4} value {:7.4} $, delta {:7.4}, gamma {:.4} /$, theta {:7.4} $/day,",
            g.value,
            g.delta,
            g.gamma,
            g.theta / 365.0
        );
        println!(
            "     per percentage point: vega {:.4} $, rho {:7.4} $, vanna {:7.5}, volga {:.5} $",
            0.01 * g.vega,
            0.01 * g.rho,
            0.01 * g.vanna,
            1e-4 * g.volga
        );
    }
    let years = [1.0 / 12.0, 0.5, 2.0];
    let maturities: Table<Maturity, f64> = years.into_iter().collect();
    let spots: Table<Spot, f64> = (0..=300).map(|s| 50.0 + f64::from(s) / 3.0).collect();
    let all = vmap!(vmap!(greeks, over = spot), over = maturity)(
        Kind::Call,
        &spots,
        STRIKE,
        &maturities,
        RATE,
        VOL,
    );
    let strikes: Table<Strike, f64> = (0..=80).map(|k| 80.0 + 0.5 * f64::from(k)).collect();
    let smiles = smiles(&maturities, &strikes, 100.0, RATE, VOL, &JUMPS);
    for (m, years) in years.into_iter().enumerate() {
        let at = |k: usize| 100.0 * smiles[(Maturity(m), Strike(k))];
        println!(
            "{years:.2} years: implied volatilities with jumps {:.2}, {:.2} and {:.2} % \
             at strikes of 80, 100 and 120 $",
            at(0),
            at(40),
            at(80)
        );
    }
    let path = picture("option_greeks.png");
    draw(&path, &spots, &all, &strikes, &smiles).expect("the picture can be written");
    println!("{}", path.display());
}

/// Draws each Greek against the spot, and the smiles against the strike, a curve for each maturity.
fn draw(
    path: &std::path::Path,
    spots: &Table<Spot, f64>,
    all: &Tables<(Maturity, Spot), Greeks>,
    strikes: &Table<Strike, f64>,
    smiles: &Table<(Maturity, Strike), f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let curves = |chart: figure::Chart, x: &[f64], y: &[f64], unit: f64| {
        let names = ["1 month", "6 months", "2 years"];
        let colours = [figure::BLUE, figure::ORANGE, figure::GREEN];
        let rows = y.chunks(x.len()).zip(names.into_iter().zip(colours));
        rows.fold(chart, |chart, (row, (name, colour))| {
            let heights = row.iter().map(|y| unit * y);
            chart.line(name, colour, x.iter().copied().zip(heights))
        })
    };
    let against_spot =
        |title: &str, unit: &str, legend, values: &Table<(Maturity, Spot), f64>, scale| {
            let chart =
                figure::Chart::new(format!("{title} of a call, strike 100 $"), "spot / $", unit);
            curves(
                chart.legend(legend),
                spots.as_slice(),
                values.as_slice(),
                scale,
            )
        };
    let smile = figure::Chart::new(
        "Implied volatility of prices with jumps (Merton)",
        "strike / $",
        "implied volatility / %",
    );
    figure::charts(
        path,
        3,
        &[
            against_spot("Value", "value / $", UpperLeft, &all.value, 1.0),
            against_spot("Delta", "delta", UpperLeft, &all.delta, 1.0),
            against_spot("Gamma", "gamma / $⁻¹", UpperRight, &all.gamma, 1.0),
            against_spot("Vega", "vega / ($ per point)", UpperLeft, &all.vega, 0.01),
            against_spot(
                "Theta",
                "theta / ($ per day)",
                LowerRight,
                &all.theta,
                1.0 / 365.0,
            ),
            against_spot("Rho", "rho / ($ per point)", UpperLeft, &all.rho, 0.01),
            against_spot("Vanna", "vanna / point⁻¹", UpperRight, &all.vanna, 0.01),
            against_spot(
                "Volga",
                "volga / ($ per point²)",
                UpperLeft,
                &all.volga,
                1e-4,
            ),
            curves(smile, strikes.as_slice(), smiles.as_slice(), 100.0),
        ],
    )
}

#[test]
fn greeks_are_those_of_their_formulas() {
    let density = |d: f64| (-0.5 * d * d).exp() / std::f64::consts::TAU.sqrt();
    for (spot, maturity) in [(80.0, 0.1), (95.0, 1.0), (100.0, 0.5), (130.0, 2.0)] {
        let root = f64::sqrt(maturity);
        let d1 = ((spot / STRIKE).ln() + (RATE + 0.5 * VOL * VOL) * maturity) / (VOL * root);
        let d2 = d1 - VOL * root;
        let vega = spot * density(d1) * root;
        let discounted = STRIKE * (-RATE * maturity).exp();
        for (kind, sign) in [(Kind::Call, 1.0), (Kind::Put, -1.0)] {
            let g = greeks(kind, spot, STRIKE, maturity, RATE, VOL);
            let (n1, n2) = (normal_cdf(sign * d1), normal_cdf(sign * d2));
            for (found, formula) in [
                (g.value, sign * (spot * n1 - discounted * n2)),
                (g.delta, sign * n1),
                (g.gamma, density(d1) / (spot * VOL * root)),
                (g.vega, vega),
                (
                    g.theta,
                    -0.5 * vega * VOL / maturity - sign * RATE * discounted * n2,
                ),
                (g.rho, sign * discounted * maturity * n2),
                (g.vanna, -density(d1) * d2 / VOL),
                (g.volga, vega * d1 * d2 / VOL),
            ] {
                assert!(
                    (found - formula).abs() < 1e-12 * formula.abs().max(1.0),
                    "{found}, {formula}, {g:?}"
                );
            }
        }
    }
}

/// Hull, Options, Futures and Other Derivatives, example 15.6: 4.76 and 0.81; the other digits by
/// SciPy's `norm.cdf`.
#[test]
fn prices_are_those_of_a_textbook() {
    let of = |kind| price(kind, 42.0, 40.0, 0.5, 0.1, 0.2);
    assert!((of(Kind::Call) - 4.759422392871532).abs() < 1e-12);
    assert!((of(Kind::Put) - 0.8085993729000958).abs() < 1e-12);
}

/// Without jumps there is no smile; the price with jumps is that of a sum over a hundred jumps by
/// SciPy.
#[test]
fn volatilities_are_found_again() {
    let maturities = Table::<Dyn, f64>::from(vec![0.1, 0.5, 3.0]);
    let strikes = Table::<Dyn, f64>::from(vec![
        60.0,
        80.0,
        100.0,
        100.0 * 0.015_f64.exp(),
        120.0,
        150.0,
    ]);
    let none = Jumps {
        intensity: 1e-12,
        mean: 0.0,
        deviation: 0.0,
    };
    for vol in smiles(&maturities, &strikes, 100.0, RATE, 0.35, &none).iter() {
        assert!((vol - 0.35).abs() < 1e-9, "{vol}");
    }
    let value = price_with_jumps(Kind::Call, 100.0, 105.0, 0.5, RATE, VOL, &JUMPS);
    assert!((value - 4.917885895997129).abs() < 1e-12, "{value}");
}

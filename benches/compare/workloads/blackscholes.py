"""The price of a European call by Monte Carlo on given normally distributed numbers; `gradient` by the market's four numbers."""

import numpy

from peers import gradients

TITLE = "Black-Scholes Monte Carlo, f64"
SIZES = {
    "small": dict(paths=1000),
    "paths1e6": dict(paths=10**6),
}
TOLERANCE = 1e-9
PARAMETERS = ("spot", "rate", "volatility", "time")


def inputs(paths):
    random = numpy.random.default_rng(1)
    market = dict(strike=105.0, spot=100.0, rate=0.03, volatility=0.2, time=1.5)
    return {"normal": random.normal(size=paths), **{name: numpy.array([x]) for name, x in market.items()}}


def jax(**_):
    import jax.numpy as jnp

    def loss(normal, strike, spot, rate, volatility, time):
        drift = (rate - 0.5 * volatility**2) * time
        last = spot * jnp.exp(drift + volatility * jnp.sqrt(time) * normal)
        return (jnp.exp(-rate * time) * jnp.maximum(last - strike, 0.0).mean())[0]

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }


def torch(compiled, **_):
    import torch

    @compiled
    def loss(normal, strike, spot, rate, volatility, time):
        drift = (rate - 0.5 * volatility**2) * time
        last = spot * torch.exp(drift + volatility * torch.sqrt(time) * normal)
        return (torch.exp(-rate * time) * torch.relu(last - strike).mean())[0]

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": gradients.of_torch(loss, *PARAMETERS)}


SOURCE = """
extern "C" double exp(double);
extern "C" double sqrt(double);
using one = enzyme::tensor<double, 1>;

void price(
    enzyme::tensor<double>& out,
    const enzyme::tensor<double, N>& normal,
    const one& strike, const one& spot, const one& rate, const one& volatility, const one& time
) {
    double drift = (rate[0] - 0.5 * volatility[0] * volatility[0]) * time[0];
    double spread = volatility[0] * sqrt(time[0]);
    double total = 0;
    for (int n = 0; n < N; n++) {
        double gain = spot[0] * exp(drift + spread * normal[n]) - strike[0];
        total += gain > 0 ? gain : 0;
    }
    out = exp(-rate[0] * time[0]) * total / N;
}
"""


def enzyme(call, paths):
    source = f"constexpr int N = {paths};\n{SOURCE}"

    def loss(normal, strike, spot, rate, volatility, time):
        shapes = [((), numpy.float64)]
        return call(source, "price", shapes, normal, strike, spot, rate, volatility, time)[0]

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }

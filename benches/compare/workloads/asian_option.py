"""The price of an arithmetic Asian call by Monte Carlo on given normally distributed numbers; `gradient` by spot, rate and volatility."""

import numpy

from peers import gradients

TITLE = "Asian option Monte Carlo, f64"
SIZES = {
    "small": dict(paths=200, days=6),
    "paths100000_days64": dict(paths=100_000, days=64),
}
TOLERANCE = 1e-9
PARAMETERS = ("spot", "rate", "volatility")


def inputs(paths, days):
    random = numpy.random.default_rng(1)
    market = dict(strike=100.0, spot=100.0, rate=0.03, volatility=0.2, time=1.0)
    return {"normal": random.normal(size=(paths, days)), **{name: numpy.array([x]) for name, x in market.items()}}


def jax(days, **_):
    import jax.numpy as jnp

    def loss(normal, strike, spot, rate, volatility, time):
        step = time / days
        drift = (rate - 0.5 * volatility**2) * step
        moves = jnp.cumsum(drift + volatility * jnp.sqrt(step) * normal, axis=1)
        means = (spot * jnp.exp(moves)).mean(axis=1)
        return (jnp.exp(-rate * time) * jnp.maximum(means - strike, 0.0).mean())[0]

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, days, **_):
    import torch

    @compiled
    def loss(normal, strike, spot, rate, volatility, time):
        step = time / days
        drift = (rate - 0.5 * volatility**2) * step
        moves = torch.cumsum(drift + volatility * torch.sqrt(step) * normal, dim=1)
        means = (spot * torch.exp(moves)).mean(dim=1)
        return (torch.exp(-rate * time) * torch.relu(means - strike).mean())[0]

    return gradients.losses_of_torch(loss, *PARAMETERS)

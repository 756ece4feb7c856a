"""Dynamic time warping of two series with a smooth minimum (soft-DTW), and its gradient by both series."""

import numpy

from peers import gradients

TITLE = "soft-DTW, f64"
SIZES = {
    "small": dict(here=12, there=9),
    "n512_m512": dict(here=512, there=512),
}
TOLERANCE = 1e-8
PARAMETERS = ("x", "y")
# More than any way costs.
FAR = 1e10


def inputs(here, there):
    random = numpy.random.default_rng(1)

    def series(length):
        at = numpy.linspace(0, 4 * numpy.pi, length)
        return numpy.sin(at + random.uniform(0, 1)) + 0.1 * random.normal(size=length)

    return {"x": series(here), "y": series(there), "gamma": numpy.array([0.1])}


def jax(here, there):
    import jax
    import jax.numpy as jnp

    def loss(x, y, gamma):
        gamma = gamma[0]
        # The cells of a diagonal do not wait for each other: diagonal k has (i, k - i) at i.
        i = jnp.arange(here)
        j = jnp.arange(here + there - 1)[:, None] - i
        cost = jnp.where((j >= 0) & (j < there), (x - y[jnp.clip(j, 0, there - 1)]) ** 2, FAR)

        def step(carry, cost):
            before, last = carry
            ways = jnp.stack([before[:-1], last[:-1], last[1:]])
            now = cost - gamma * jax.nn.logsumexp(-ways / gamma, axis=0)
            return (last, jnp.concatenate([jnp.full(1, FAR), now])), None

        begin = jnp.full(here + 1, FAR)
        (_, last), _ = jax.lax.scan(step, (begin.at[0].set(0.0), begin), cost)
        return last[-1]

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, here, there):
    import torch

    # The loop is Python's: compiled as a whole, it would be unrolled.
    @compiled
    def step(before, last, cost, gamma):
        ways = torch.stack([before[:-1], last[:-1], last[1:]])
        return torch.nn.functional.pad(cost - gamma * torch.logsumexp(-ways / gamma, 0), (1, 0), value=FAR)

    i = torch.arange(here)
    j = torch.arange(here + there - 1)[:, None] - i
    inside, place = (j >= 0) & (j < there), j.clip(0, there - 1)

    def loss(x, y, gamma):
        cost = torch.where(inside, (x - y[place]) ** 2, FAR)
        before, last = torch.full((here + 1,), FAR, dtype=x.dtype), torch.full((here + 1,), FAR, dtype=x.dtype)
        before[0] = 0.0
        for k in range(here + there - 1):
            before, last = last, step(before, last, cost[k], gamma)
        return last[-1]

    return gradients.losses_of_torch(loss, *PARAMETERS)

"""A small network as a vector field, steps of Runge and Kutta's method from a batch of beginnings, mean squared error; `gradient` by weights and
biases."""

import numpy

from peers import gradients

TITLE = "neural ODE, f32"
SIZES = {
    "small": dict(batch=5, dimensions=3, units=7, steps=4),
    "b1024_d8_u64_s50": dict(batch=1024, dimensions=8, units=64, steps=50),
}
TOLERANCE = 1e-3
PARAMETERS = ("w1", "b1", "w2", "b2")
STEP = 0.05


def inputs(batch, dimensions, units, steps):
    random = numpy.random.default_rng(1)

    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(numpy.float32)

    return {
        "w1": normal(dimensions**-0.5, units, dimensions),
        "b1": normal(0.1, units),
        "w2": normal(units**-0.5, dimensions, units),
        "b2": normal(0.1, dimensions),
        "start": normal(1.0, batch, dimensions),
        "targets": normal(1.0, batch, dimensions),
        "steps": numpy.array([steps], numpy.int32),
    }


def advance(field, x):
    a = field(x)
    b = field(x + 0.5 * STEP * a)
    c = field(x + 0.5 * STEP * b)
    d = field(x + STEP * c)
    return x + STEP / 6 * (a + 2 * b + 2 * c + d)


def jax(steps, **_):
    import jax
    import jax.numpy as jnp

    def loss(w1, b1, w2, b2, start, targets, **_):
        def field(x):
            return jnp.tanh(x @ w1.T + b1) @ w2.T + b2

        last, _ = jax.lax.scan(lambda x, _: (advance(field, x), None), start, None, length=steps)
        return ((last - targets) ** 2).sum(axis=1).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, steps, **_):
    import torch
    from torch.nn import functional

    # The loop is Python's: compiled as a whole, it would be unrolled.
    @compiled
    def step(x, w1, b1, w2, b2):
        return advance(lambda x: functional.linear(torch.tanh(functional.linear(x, w1, b1)), w2, b2), x)

    def loss(w1, b1, w2, b2, start, targets, **_):
        x = start
        for _ in range(steps):
            x = step(x, w1, b1, w2, b2)
        return ((x - targets) ** 2).sum(dim=1).mean()

    return gradients.losses_of_torch(loss, *PARAMETERS)

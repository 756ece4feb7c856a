"""Batch normalization of rows, mean squared error; `gradient` by the rows, scales and shifts."""

import numpy

from peers import gradients

TITLE = "batch normalization, f32"
SIZES = {
    "small": dict(rows=9, features=5),
    "n8192_d512": dict(rows=8192, features=512),
}
TOLERANCE = 1e-3
PARAMETERS = ("x", "scale", "shift")
EPSILON = 1e-5


def inputs(rows, features):
    random = numpy.random.default_rng(1)

    def normal(*shape):
        return random.normal(size=shape).astype(numpy.float32)

    return {"x": normal(rows, features), "scale": normal(features), "shift": normal(features), "targets": normal(rows, features)}


def jax(**_):
    from jax import lax

    def loss(x, scale, shift, targets):
        middle = x.mean(axis=0)
        variance = x.var(axis=0)
        y = scale * (x - middle) * lax.rsqrt(variance + EPSILON) + shift
        return ((y - targets) ** 2).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, **_):
    from torch.nn import functional

    @compiled
    def loss(x, scale, shift, targets):
        y = functional.batch_norm(x, None, None, scale, shift, training=True, eps=EPSILON)
        return functional.mse_loss(y, targets)

    return gradients.losses_of_torch(loss, *PARAMETERS)

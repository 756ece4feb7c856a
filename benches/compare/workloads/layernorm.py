"""Layer normalization of a batch of rows, mean squared error; `gradient` by the rows, scales and shifts."""

from peers import gradients

# Of the same inputs.
from .batchnorm import EPSILON, PARAMETERS, SIZES, TOLERANCE, inputs

TITLE = "layer normalization, f32"


def jax(**_):
    from jax import lax

    def loss(x, scale, shift, targets):
        middle = x.mean(axis=1, keepdims=True)
        variance = x.var(axis=1, keepdims=True)
        y = scale * (x - middle) * lax.rsqrt(variance + EPSILON) + shift
        return ((y - targets) ** 2).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, **_):
    from torch.nn import functional

    @compiled
    def loss(x, scale, shift, targets):
        y = functional.layer_norm(x, x.shape[1:], scale, shift, EPSILON)
        return functional.mse_loss(y, targets)

    return gradients.losses_of_torch(loss, *PARAMETERS)

"""A bank of filters with finite response over a signal, the squared differences of the logarithms of their powers from targets, and the gradient by
filters and signal."""

import numpy

from peers import gradients

TITLE = "filter bank, f32"
SIZES = {
    "small": dict(times=40, bands=3, taps=5),
    "t65536_b32_k128": dict(times=65536, bands=32, taps=128),
}
TOLERANCE = 1e-3
PARAMETERS = ("filters", "signal")


def inputs(times, bands, taps):
    random = numpy.random.default_rng(1)
    at = numpy.arange(taps)
    pitch = numpy.geomspace(0.02, 0.4, bands)[:, None]
    filters = numpy.sin(2 * numpy.pi * pitch * at) * numpy.hanning(taps) + 0.01 * random.normal(size=(bands, taps))
    return {
        "filters": filters.astype(numpy.float32),
        "signal": random.normal(size=times).astype(numpy.float32),
        "targets": random.normal(size=bands).astype(numpy.float32),
    }


def jax(taps, **_):
    import jax.numpy as jnp
    from jax import lax

    def loss(filters, signal, targets):
        # What others call a convolution is a correlation.
        passed = lax.conv_general_dilated(signal[None, None], filters[:, None, ::-1], (1,), [(taps - 1, 0)])
        power = (passed[0] ** 2).mean(axis=1)
        return ((jnp.log(power) - targets) ** 2).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, taps, **_):
    import torch
    from torch.nn import functional

    @compiled
    def loss(filters, signal, targets):
        passed = functional.conv1d(functional.pad(signal, (taps - 1, 0))[None, None], filters[:, None].flip(2))
        power = (passed[0] ** 2).mean(dim=1)
        return ((torch.log(power) - targets) ** 2).mean()

    return gradients.losses_of_torch(loss, *PARAMETERS)

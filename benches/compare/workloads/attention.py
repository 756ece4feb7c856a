"""A block of self-attention with several heads on a batch of sequences, mean squared error; `gradient` by its four matrices."""

import numpy

from peers import gradients

TITLE = "attention, f32"
SIZES = {
    "small": dict(batch=3, tokens=5, features=6, heads=2, channels=4),
    "b8_t256_d128_h4": dict(batch=8, tokens=256, features=128, heads=4, channels=32),
}
TOLERANCE = 1e-3
PARAMETERS = ("queries", "keys", "values", "output")


def inputs(batch, tokens, features, heads, channels):
    random = numpy.random.default_rng(1)

    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(numpy.float32)

    return {
        "queries": normal(2 * features**-0.5, heads, channels, features),
        "keys": normal(2 * features**-0.5, heads, channels, features),
        "values": normal(features**-0.5, heads, channels, features),
        "output": normal((heads * channels) ** -0.5, features, heads, channels),
        "x": normal(1.0, batch, tokens, features),
        "targets": normal(1.0, batch, tokens, features),
    }


def jax(channels, **_):
    import jax
    import jax.numpy as jnp

    def loss(queries, keys, values, output, x, targets):
        q = jnp.einsum("ntf,hcf->nhtc", x, queries)
        k = jnp.einsum("ntf,hcf->nhtc", x, keys)
        v = jnp.einsum("ntf,hcf->nhtc", x, values)
        weight = jax.nn.softmax(jnp.einsum("nhtc,nhsc->nhts", q, k) / channels**0.5, axis=-1)
        found = jnp.einsum("nhts,nhsc->nhtc", weight, v)
        y = jnp.einsum("nhtc,fhc->ntf", found, output)
        return ((y - targets) ** 2).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, **_):
    import torch
    from torch.nn import functional

    @compiled
    def loss(queries, keys, values, output, x, targets):
        q, k, v = (torch.einsum("ntf,hcf->nhtc", x, w) for w in (queries, keys, values))
        found = functional.scaled_dot_product_attention(q, k, v)
        y = torch.einsum("nhtc,fhc->ntf", found, output)
        return functional.mse_loss(y, targets)

    return gradients.losses_of_torch(loss, *PARAMETERS)

"""Guessing a word from those around it: the mean of their embeddings, scores of all words, mean cross entropy; `gradient` by embeddings, output
matrix and bias."""

import numpy

from peers import gradients

TITLE = "word embeddings, f32"
SIZES = {
    "small": dict(batch=6, places=3, words=11, features=5),
    "b512_w10000_d64": dict(batch=512, places=4, words=10000, features=64),
}
TOLERANCE = 1e-3
PARAMETERS = ("embedding", "output", "bias")


def inputs(batch, places, words, features):
    random = numpy.random.default_rng(1)

    # Few words are frequent.
    def drawn(*shape):
        return (words * random.uniform(size=shape) ** 3).astype(numpy.int32)

    return {
        "embedding": random.normal(size=(words, features)).astype(numpy.float32),
        "output": (features**-0.5 * random.normal(size=(words, features))).astype(numpy.float32),
        "bias": (0.1 * random.normal(size=words)).astype(numpy.float32),
        "around": drawn(batch, places),
        "missing": drawn(batch),
    }


def jax(**_):
    import jax
    import jax.numpy as jnp

    def loss(embedding, output, bias, around, missing):
        hidden = embedding[around].mean(axis=1)
        scores = hidden @ output.T + bias
        chosen = jnp.take_along_axis(scores, missing[:, None], axis=1)[:, 0]
        return (jax.nn.logsumexp(scores, axis=1) - chosen).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, **_):
    from torch.nn import functional

    @compiled
    def loss(embedding, output, bias, around, missing):
        hidden = functional.embedding(around, embedding).mean(dim=1)
        return functional.cross_entropy(functional.linear(hidden, output, bias), missing.long())

    return gradients.losses_of_torch(loss, *PARAMETERS)

"""A small convolutional network on a batch of images: two convolutions with bias and relu, pooling, a dense layer; mean cross entropy, and its
gradient by all weights and biases."""

import numpy

from peers import gradients

TITLE = "convolutional network, f32"
SIZES = {
    "small": dict(batch=4, height=6, width=8, filters=(3, 5), classes=4),
    "b64_28x28_16_32": dict(batch=64, height=28, width=28, filters=(16, 32), classes=10),
}
TOLERANCE = 1e-3
PARAMETERS = ("w1", "b1", "w2", "b2", "w3", "b3")


def inputs(batch, height, width, filters, classes):
    random = numpy.random.default_rng(1)
    first, second = filters

    def weights(*shape):
        return (random.normal(size=shape) * (2.0 / numpy.prod(shape[1:])) ** 0.5).astype(numpy.float32)

    return {
        "w1": weights(first, 3, 3),
        "b1": (0.1 * random.normal(size=first)).astype(numpy.float32),
        "w2": weights(second, first, 3, 3),
        "b2": (0.1 * random.normal(size=second)).astype(numpy.float32),
        "w3": weights(classes, second, height // 2, width // 2),
        "b3": (0.1 * random.normal(size=classes)).astype(numpy.float32),
        "images": random.uniform(size=(batch, height, width)).astype(numpy.float32),
        "labels": random.integers(classes, size=batch).astype(numpy.int32),
    }


def jax(**_):
    import jax
    import jax.numpy as jnp
    from jax import lax

    # Channels last, as Flax has them.
    def convolved(x, w, b):
        return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "OIHW", "NHWC")) + b)

    def loss(w1, b1, w2, b2, w3, b3, images, labels):
        first = convolved(images[..., None], w1[:, None], b1)
        second = convolved(first, w2, b2)
        pooled = lax.reduce_window(second, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        votes = jnp.einsum("nrcs,ksrc->nk", pooled, w3) + b3
        chosen = jnp.take_along_axis(votes, labels[:, None], axis=1)[:, 0]
        return (jax.nn.logsumexp(votes, axis=1) - chosen).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, **_):
    from torch.nn import functional

    @compiled
    def loss(w1, b1, w2, b2, w3, b3, images, labels):
        first = functional.relu(functional.conv2d(images[:, None], w1[:, None], b1, padding=1))
        second = functional.relu(functional.conv2d(first, w2, b2, padding=1))
        pooled = functional.max_pool2d(second, 2)
        votes = functional.linear(pooled.flatten(1), w3.flatten(1), b3)
        return functional.cross_entropy(votes, labels.long())

    return gradients.losses_of_torch(loss, *PARAMETERS)

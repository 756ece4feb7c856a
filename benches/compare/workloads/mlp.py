"""A network of three dense layers on a batch: mean cross entropy, and its gradient by all weights and biases."""

import numpy

from peers import gradients

TITLE = "MLP, f32"
SIZES = {
    "small": dict(batch=5, widths=(8, 7, 6, 3)),
    "b256_784_256_128_10": dict(batch=256, widths=(784, 256, 128, 10)),
}
TOLERANCE = 1e-3
PARAMETERS = ("w1", "b1", "w2", "b2", "w3", "b3")


def inputs(batch, widths):
    random = numpy.random.default_rng(1)
    found = {}
    for layer, (before, after) in enumerate(zip(widths, widths[1:]), 1):
        found[f"w{layer}"] = (random.normal(size=(after, before)) * (2.0 / before) ** 0.5).astype(numpy.float32)
        found[f"b{layer}"] = (0.1 * random.normal(size=after)).astype(numpy.float32)
    found["images"] = random.uniform(size=(batch, widths[0])).astype(numpy.float32)
    found["labels"] = random.integers(widths[-1], size=batch).astype(numpy.int32)
    return found


def jax(**_):
    import jax
    import jax.numpy as jnp

    def loss(w1, b1, w2, b2, w3, b3, images, labels):
        first = jax.nn.relu(images @ w1.T + b1)
        second = jax.nn.relu(first @ w2.T + b2)
        votes = second @ w3.T + b3
        chosen = jnp.take_along_axis(votes, labels[:, None], axis=1)[:, 0]
        return (jax.nn.logsumexp(votes, axis=1) - chosen).mean()

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }


def torch(compiled, **_):
    import torch
    from torch.nn import functional

    @compiled
    def loss(w1, b1, w2, b2, w3, b3, images, labels):
        first = functional.relu(functional.linear(images, w1, b1))
        second = functional.relu(functional.linear(first, w2, b2))
        return functional.cross_entropy(functional.linear(second, w3, b3), labels.long())

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": gradients.of_torch(loss, *PARAMETERS)}


SOURCE = """
extern "C" float expf(float);
extern "C" float logf(float);

void loss(
    enzyme::tensor<float>& out,
    const enzyme::tensor<float, F, P>& w1, const enzyme::tensor<float, F>& b1,
    const enzyme::tensor<float, S, F>& w2, const enzyme::tensor<float, S>& b2,
    const enzyme::tensor<float, C, S>& w3, const enzyme::tensor<float, C>& b3,
    const enzyme::tensor<float, N, P>& images, const enzyme::tensor<float, N, C>& chosen
) {
    float total = 0, first[F], second[S], votes[C];
    for (int n = 0; n < N; n++) {
        for (int u = 0; u < F; u++) {
            float sum = b1[u];
            for (int p = 0; p < P; p++) sum += w1[u][p] * images[n][p];
            first[u] = sum > 0 ? sum : 0;
        }
        for (int u = 0; u < S; u++) {
            float sum = b2[u];
            for (int v = 0; v < F; v++) sum += w2[u][v] * first[v];
            second[u] = sum > 0 ? sum : 0;
        }
        float top = -3e38f, right = 0;
        for (int c = 0; c < C; c++) {
            float sum = b3[c];
            for (int v = 0; v < S; v++) sum += w3[c][v] * second[v];
            votes[c] = sum;
            if (sum > top) top = sum;
            right += chosen[n][c] * sum;
        }
        float all = 0;
        for (int c = 0; c < C; c++) all += expf(votes[c] - top);
        total += top + logf(all) - right;
    }
    out = total / N;
}
"""


def enzyme(call, batch, widths):
    import jax

    pixels, first, second, classes = widths
    sizes = f"constexpr int N = {batch}, P = {pixels}, F = {first}, S = {second}, C = {classes};\n"

    def loss(w1, b1, w2, b2, w3, b3, images, labels):
        # Integers cannot be passed on where something is differentiated.
        chosen = jax.nn.one_hot(labels, classes, dtype=numpy.float32)
        shapes = [((), numpy.float32)]
        return call(sizes + SOURCE, "loss", shapes, w1, b1, w2, b2, w3, b3, images, chosen)[0]

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }

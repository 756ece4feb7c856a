"""The weight in each class; `value` is its squared distance from what was expected, `gradient` that and its derivative by the weights."""

import numpy

from peers import gradients

TITLE = "histogram, f64"
SIZES = {
    "small": dict(observations=1000, classes=16),
    "n1e7_k256": dict(observations=10**7, classes=256),
    "n1e7_k1e6": dict(observations=10**7, classes=10**6),
}
TOLERANCE = 1e-9


def inputs(observations, classes):
    random = numpy.random.default_rng(1)
    return {
        "class": random.integers(classes, size=observations).astype(numpy.int32),
        "weights": random.uniform(size=observations),
        "expected": random.uniform(size=classes) * observations / classes,
    }


def jax(observations, classes):
    import jax.numpy as jnp

    def histogram(weights, group):
        return jnp.zeros(classes).at[group].add(weights)

    def loss(weights, expected, **group):
        return ((histogram(weights, group["class"]) - expected) ** 2).sum()

    return {
        "histogram": lambda weights, expected, **group: {"histogram": histogram(weights, group["class"])},
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "weights"),
    }


def torch(compiled, observations, classes):
    import torch

    @compiled
    def of(weights, group):
        return torch.zeros(classes, dtype=weights.dtype).index_add(0, group, weights)

    @compiled
    def loss_of(weights, group, expected):
        found = torch.zeros(classes, dtype=weights.dtype).index_add(0, group, weights)
        return ((found - expected) ** 2).sum()

    def histogram(weights, expected, **group):
        with torch.no_grad():
            return {"histogram": of(weights, group["class"])}

    def loss(weights, expected, **group):
        return loss_of(weights, group["class"], expected)

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"histogram": histogram, "value": value, "gradient": gradients.of_torch(loss, "weights")}


SOURCE = """
void histogram(
    enzyme::tensor<double, K>& out,
    const enzyme::tensor<double, N>& weights,
    const enzyme::tensor<float, N>& group
) {
    for (int k = 0; k < K; k++) out[k] = 0;
    for (int n = 0; n < N; n++) out[(int)group[n]] += weights[n];
}
"""


def enzyme(call, observations, classes):
    source = f"constexpr int N = {observations}, K = {classes};\n{SOURCE}"

    def of(weights, group):
        # Integers cannot be passed on where something is differentiated; there are fewer classes than a float counts.
        return call(source, "histogram", [((classes,), numpy.float64)], weights, group.astype(numpy.float32))[0]

    def loss(weights, expected, **group):
        return ((of(weights, group["class"]) - expected) ** 2).sum()

    return {
        "histogram": lambda weights, expected, **group: {"histogram": of(weights, group["class"])},
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "weights"),
    }

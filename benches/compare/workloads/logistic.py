"""Logistic regression: mean cross entropy, and its gradient by the weights."""

import numpy

from peers import gradients

TITLE = "logistic regression, f64"
SIZES = {
    "small": dict(samples=100, features=7),
    "n100000_d200": dict(samples=100000, features=200),
}
TOLERANCE = 1e-9


def inputs(samples, features):
    random = numpy.random.default_rng(1)
    x = random.normal(size=(samples, features))
    truth = random.normal(size=features) / features**0.5
    return {
        "weights": random.normal(size=features) / features**0.5,
        "features": x,
        "labels": (random.uniform(size=samples) < 1.0 / (1.0 + numpy.exp(-x @ truth))).astype(numpy.float64),
    }


def jax(**_):
    import jax

    def loss(weights, features, labels):
        z = features @ weights
        return (jax.nn.softplus(z) - labels * z).mean()

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "weights"),
    }


def torch(compiled, **_):
    import torch

    @compiled
    def loss(weights, features, labels):
        return torch.nn.functional.binary_cross_entropy_with_logits(features @ weights, labels)

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": gradients.of_torch(loss, "weights")}


SOURCE = """
extern "C" double exp(double);
extern "C" double log1p(double);

void loss(
    enzyme::tensor<double>& out,
    const enzyme::tensor<double, D>& weights,
    const enzyme::tensor<double, N, D>& features,
    const enzyme::tensor<double, N>& labels
) {
    double total = 0;
    for (int n = 0; n < N; n++) {
        double z = 0;
        for (int d = 0; d < D; d++) z += features[n][d] * weights[d];
        double positive = z > 0 ? z : 0;
        double size = z > 0 ? z : -z;
        total += positive + log1p(exp(-size)) - labels[n] * z;
    }
    out = total / N;
}
"""


def enzyme(call, samples, features):
    sizes = f"constexpr int N = {samples}, D = {features};\n"

    def loss(weights, features, labels):
        return call(sizes + SOURCE, "loss", [((), numpy.float64)], weights, features, labels)[0]

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "weights"),
    }

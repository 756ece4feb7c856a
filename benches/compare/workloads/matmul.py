"""`bent` is tanh(A B); `value` the sum of its elements; `gradient` that and its derivatives by A and B."""

import numpy

from peers import gradients

TITLE = "tanh(A B)"
SIZES = {
    "small": dict(side=9, dtype="float64"),
    "f32_1024": dict(side=1024, dtype="float32"),
    "f64_1024": dict(side=1024, dtype="float64"),
}
# What is summed has both signs.
TOLERANCE = {"bent": 1e-3, "value": 1e-2, "gradient": 1e-2}


def inputs(side, dtype):
    random = numpy.random.default_rng(1)
    reach = side**-0.25
    return {name: (reach * random.normal(size=(side, side))).astype(dtype) for name in ("left", "right")}


def jax(**_):
    import jax.numpy as jnp

    def loss(left, right):
        return jnp.tanh(left @ right).sum()

    return {
        "bent": lambda left, right: {"bent": jnp.tanh(left @ right)},
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "left", "right"),
    }


def torch(compiled, **_):
    import torch

    @compiled
    def bend(left, right):
        return torch.tanh(left @ right)

    @compiled
    def loss(left, right):
        return torch.tanh(left @ right).sum()

    def bent(left, right):
        with torch.no_grad():
            return {"bent": bend(left, right)}

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"bent": bent, "value": value, "gradient": gradients.of_torch(loss, "left", "right")}


SOURCE = """
extern "C" float tanhf(float);
extern "C" double tanh(double);
static float bend(float x) { return tanhf(x); }
static double bend(double x) { return tanh(x); }

using Matrix = enzyme::tensor<real, N, N>;

void bent(Matrix& out, const Matrix& left, const Matrix& right) {
    real row[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) row[j] = 0;
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) row[j] += left[i][k] * right[k][j];
        for (int j = 0; j < N; j++) out[i][j] = bend(row[j]);
    }
}
"""


def enzyme(call, side, dtype):
    real = {"float32": "float", "float64": "double"}[dtype]
    source = f"constexpr int N = {side};\nusing real = {real};\n{SOURCE}"

    def bent(left, right):
        return call(source, "bent", [((side, side), numpy.dtype(dtype))], left, right)[0]

    def loss(left, right):
        return bent(left, right).sum()

    return {
        "bent": lambda **inputs: {"bent": bent(**inputs)},
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "left", "right"),
    }

"""The sum of squared distances to the nearest centres; `hvp` multiplies its Hessian by ones, which is what Newton's method asks for."""

import numpy

from peers import gradients

TITLE = "k-means, f32"
SIZES = {
    "small": dict(clusters=5, points=1000, coordinates=7),
    "k1024_n10000_d32": dict(clusters=1024, points=10000, coordinates=32),
    "k5_n494019_d35": dict(clusters=5, points=494019, coordinates=35),
}
TOLERANCE = 1e-3
MISSING = {
    "torch-compile": {"hvp": "what is compiled has no second derivatives"},
    "enzyme": {"hvp": "no second derivatives through a call of C++"},
    "enzyme-fast": {"hvp": "no second derivatives through a call of C++"},
}


def inputs(clusters, points, coordinates):
    random = numpy.random.default_rng(1)
    return {
        "points": random.normal(size=(points, coordinates)).astype(numpy.float32),
        "centres": random.normal(size=(clusters, coordinates)).astype(numpy.float32),
    }


def jax(**_):
    import jax
    import jax.numpy as jnp

    def loss(points, centres):
        # By a product of matrices, which is the fastest way there.
        squares = (points**2).sum(1)[:, None] + (centres**2).sum(1)[None, :]
        return (squares - 2.0 * points @ centres.T).min(1).sum()

    def hvp(points, centres):
        slope = jax.grad(lambda centres: loss(points, centres))
        return {"curvature": jax.jvp(slope, (centres,), (jnp.ones_like(centres),))[1]}

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "centres"),
        "hvp": hvp,
    }


def torch(compiled, **_):
    import torch

    @compiled
    def loss(points, centres):
        squares = (points**2).sum(1)[:, None] + (centres**2).sum(1)[None, :]
        return torch.addmm(squares, points, centres.T, alpha=-2.0).min(1).values.sum()

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    def hvp(points, centres):
        centres = centres.detach().requires_grad_(True)
        (slope,) = torch.autograd.grad(loss(points, centres), centres, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), centres)
        return {"curvature": curvature}

    tasks = {"value": value, "gradient": gradients.of_torch(loss, "centres")}
    return tasks if compiled is torch.compile else {**tasks, "hvp": hvp}


SOURCE = """
void cost(enzyme::tensor<float>& total, const enzyme::tensor<float, N, D>& points, const enzyme::tensor<float, K, D>& centres) {
    float sum = 0;
    for (int n = 0; n < N; n++) {
        float least = 3e38f;
        for (int k = 0; k < K; k++) {
            float distance = 0;
            for (int d = 0; d < D; d++) {
                float apart = points[n][d] - centres[k][d];
                distance += apart * apart;
            }
            if (distance < least) least = distance;
        }
        sum += least;
    }
    total = sum;
}
"""


def enzyme(call, clusters, points, coordinates):
    sizes = f"constexpr int N = {points}, K = {clusters}, D = {coordinates};\n"

    def loss(points, centres):
        (total,) = call(sizes + SOURCE, "cost", [((), numpy.float32)], points, centres)
        return total

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, "centres"),
    }

"""Parboil's mri-q: a sum of waves at every voxel, and the gradient of its energy by trajectory and samples."""

import math

import numpy

from peers import gradients

TITLE = "mri-q, f32"
SIZES = {
    "small": dict(voxels=100, samples=50),
    "v32768_s3072": dict(voxels=32768, samples=3072),
    "v8192_s3072": dict(voxels=8192, samples=3072),
}
TASKS = {"v32768_s3072": ["run"], "v8192_s3072": ["value", "gradient"]}
TOLERANCE = 1e-2
PARAMETERS = ("kx", "ky", "kz", "phi_r", "phi_i")


def inputs(voxels, samples):
    random = numpy.random.default_rng(1)
    arrays = {name: samples for name in PARAMETERS} | {name: voxels for name in ("x", "y", "z")}
    return {name: random.uniform(-0.5, 0.5, size=n).astype(numpy.float32) for name, n in arrays.items()}


def jax(**_):
    import jax
    import jax.numpy as jnp

    def q(batch, kx, ky, kz, phi_r, phi_i, x, y, z):
        magnitude = phi_r**2 + phi_i**2

        def voxel(at):
            x, y, z = at
            angle = 2 * math.pi * (kx * x + ky * y + kz * z)
            return jnp.cos(angle) @ magnitude, jnp.sin(angle) @ magnitude

        return jax.lax.map(voxel, (x, y, z), batch_size=batch)

    # The gradient is faster of all voxels at once, a run by batches that fit into the caches.
    def loss(x, **inputs):
        re, im = q(len(x), x=x, **inputs)
        return (re**2 + im**2).mean()

    return {
        "run": lambda **inputs: dict(zip(("re", "im"), q(64, **inputs))),
        **gradients.losses_of_jax(loss, *PARAMETERS),
    }


def torch(compiled, **_):
    import torch

    @compiled
    def q(kx, ky, kz, phi_r, phi_i, x, y, z):
        magnitude = phi_r**2 + phi_i**2
        angle = 2 * math.pi * (torch.outer(x, kx) + torch.outer(y, ky) + torch.outer(z, kz))
        return (torch.cos(angle) * magnitude).sum(1), (torch.sin(angle) * magnitude).sum(1)

    def loss(**inputs):
        re, im = q(**inputs)
        return (re**2 + im**2).mean()

    return {
        "run": gradients.run_of_torch(lambda **inputs: dict(zip(("re", "im"), q(**inputs)))),
        **gradients.losses_of_torch(loss, *PARAMETERS),
    }


SOURCE = """
extern "C" float sinf(float);
extern "C" float cosf(float);

void q(
    enzyme::tensor<float, V>& re, enzyme::tensor<float, V>& im,
    const enzyme::tensor<float, S>& kx, const enzyme::tensor<float, S>& ky, const enzyme::tensor<float, S>& kz,
    const enzyme::tensor<float, S>& phi_r, const enzyme::tensor<float, S>& phi_i,
    const enzyme::tensor<float, V>& x, const enzyme::tensor<float, V>& y, const enzyme::tensor<float, V>& z
) {
    for (int v = 0; v < V; v++) {
        float cosines = 0, sines = 0;
        for (int k = 0; k < S; k++) {
            float angle = 6.2831853f * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v]);
            float magnitude = phi_r[k] * phi_r[k] + phi_i[k] * phi_i[k];
            cosines += magnitude * cosf(angle);
            sines += magnitude * sinf(angle);
        }
        re[v] = cosines;
        im[v] = sines;
    }
}
"""


def enzyme(call, voxels, samples):
    sizes = f"constexpr int V = {voxels}, S = {samples};\n"

    def q(kx, ky, kz, phi_r, phi_i, x, y, z):
        shapes = [((voxels,), numpy.float32)] * 2
        return call(sizes + SOURCE, "q", shapes, kx, ky, kz, phi_r, phi_i, x, y, z)

    def loss(**inputs):
        re, im = q(**inputs)
        return (re**2 + im**2).mean()

    return {
        "run": lambda **inputs: dict(zip(("re", "im"), q(**inputs))),
        **gradients.losses_of_jax(loss, *PARAMETERS),
    }

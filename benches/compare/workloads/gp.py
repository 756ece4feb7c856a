"""The log marginal likelihood of a Gaussian process, and its gradient by the kernel's length scales, amplitude and noise. pointful and plain Rust
have loops of their own for Cholesky's factorization, the others call LAPACK."""

import numpy

from peers import gradients

TITLE = "Gaussian process, f64"
SIZES = {
    "small": dict(points=20, features=3),
    "n300_d4": dict(points=300, features=4),
}
TOLERANCE = 1e-7
PARAMETERS = ("lengths", "amplitude", "noise")


def inputs(points, features):
    random = numpy.random.default_rng(1)
    x = random.uniform(-1, 1, size=(points, features))
    return {
        "x": x,
        "y": numpy.sin(3 * x.sum(1)) + 0.1 * random.normal(size=points),
        "lengths": numpy.log(random.uniform(0.5, 1.5, size=features)),
        "amplitude": numpy.array([0.1]),
        "noise": numpy.log([0.1]),
    }


def jax(points, **_):
    import jax.numpy as jnp
    from jax.scipy.linalg import cholesky, solve_triangular

    def loss(lengths, amplitude, noise, x, y):
        scaled = x * jnp.exp(-lengths)
        apart = ((scaled[:, None] - scaled) ** 2).sum(-1)
        covariance = jnp.exp(2 * amplitude) * jnp.exp(-0.5 * apart) + jnp.exp(2 * noise) * jnp.eye(points)
        factor = cholesky(covariance, lower=True)
        z = solve_triangular(factor, y, lower=True)
        return -0.5 * z @ z - jnp.log(jnp.diag(factor)).sum() - 0.5 * points * jnp.log(2 * jnp.pi)

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, points, **_):
    import torch

    @compiled
    def loss(lengths, amplitude, noise, x, y):
        scaled = x * torch.exp(-lengths)
        apart = ((scaled[:, None] - scaled) ** 2).sum(-1)
        covariance = torch.exp(2 * amplitude) * torch.exp(-0.5 * apart) + torch.exp(2 * noise) * torch.eye(points)
        factor = torch.linalg.cholesky(covariance)
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
        return -0.5 * (z**2).sum() - torch.log(torch.diagonal(factor)).sum() - 0.5 * points * numpy.log(2 * numpy.pi)

    return gradients.losses_of_torch(loss, *PARAMETERS)

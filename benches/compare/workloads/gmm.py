"""A mixture of Gaussians, as the ADBench suite has it: the logarithm of the posterior density, and its gradient by all parameters."""

import math

import numpy
from scipy.special import multigammaln

from peers import gradients

TITLE = "GMM, f64"
SIZES = {
    "small": dict(points=100, dims=5, components=4),
    "n1000_d64_k25": dict(points=1000, dims=64, components=25),
    "n10000_d32_k25": dict(points=10000, dims=32, components=25),
    "n1000_d128_k25": dict(points=1000, dims=128, components=25),
}
TOLERANCE = 1e-9
PARAMETERS = ("alpha", "mean", "icf")
GAMMA, M = 1.0, 0


def inputs(points, dims, components):
    random = numpy.random.default_rng(1)
    packed = dims * (dims + 1) // 2
    return {
        "alpha": random.uniform(-1, 1, size=components),
        "mean": random.uniform(-1, 1, size=(components, dims)),
        "icf": random.uniform(-1, 1, size=(components, packed)) / math.sqrt(dims),
        "points": random.uniform(-1, 1, size=(points, dims)),
    }


def constant(points, dims, components):
    """What does not depend on the parameters."""
    freedom = dims + M + 1
    normaliser = freedom * dims * (math.log(GAMMA) - 0.5 * math.log(2)) - multigammaln(0.5 * freedom, dims)
    return -points * 0.5 * dims * math.log(2 * math.pi) - components * normaliser


def below(dims):
    """Where the packed numbers below the diagonal belong: they are stored column by column."""
    columns, rows = numpy.triu_indices(dims, 1)
    return rows, columns


def jax(points, dims, components):
    import jax.numpy as jnp
    from jax.nn import logsumexp

    rest = constant(points, dims, components)
    rows, columns = below(dims)
    n = points

    def loss(alpha, mean, icf, points):
        logs, low = icf[:, :dims], icf[:, dims:]
        diagonal = jnp.exp(logs)
        factor = jnp.zeros((components, dims, dims)).at[:, rows, columns].set(low)
        factor = factor + diagonal[:, :, None] * jnp.eye(dims)
        apart = points[None, :, :] - mean[:, None, :]
        by = jnp.einsum("kij,knj->kni", factor, apart)
        log = (alpha + logs.sum(1))[:, None] - 0.5 * (by**2).sum(2)
        prior = 0.5 * GAMMA**2 * ((diagonal**2).sum() + (low**2).sum()) - M * logs.sum()
        return logsumexp(log, axis=0).sum() - n * logsumexp(alpha) + prior + rest

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }


def torch(compiled, points, dims, components):
    import torch

    rest = constant(points, dims, components)
    rows, columns = (torch.from_numpy(index) for index in below(dims))
    n = points

    @compiled
    def loss(alpha, mean, icf, points):
        logs, low = icf[:, :dims], icf[:, dims:]
        diagonal = torch.exp(logs)
        factor = torch.diag_embed(diagonal)
        factor[:, rows, columns] = low
        apart = points[None, :, :] - mean[:, None, :]
        by = torch.bmm(apart, factor.transpose(1, 2))
        log = (alpha + logs.sum(1))[:, None] - 0.5 * (by**2).sum(2)
        prior = 0.5 * GAMMA**2 * ((diagonal**2).sum() + (low**2).sum()) - M * logs.sum()
        return torch.logsumexp(log, 0).sum() - n * torch.logsumexp(alpha, 0) + prior + rest

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": gradients.of_torch(loss, *PARAMETERS)}


SOURCE = """
extern "C" double exp(double);
extern "C" double log(double);

static double log_sum_exp(const double* x) {
    double top = x[0];
    for (int k = 1; k < K; k++) if (x[k] > top) top = x[k];
    double sum = 0;
    for (int k = 0; k < K; k++) sum += exp(x[k] - top);
    return top + log(sum);
}

void objective(
    enzyme::tensor<double>& out,
    const enzyme::tensor<double, K>& alpha,
    const enzyme::tensor<double, K, D>& mean,
    const enzyme::tensor<double, K, P>& icf,
    const enzyme::tensor<double, N, D>& points
) {
    double constant[K], diagonal[K][D];
    double prior = 0;
    for (int k = 0; k < K; k++) {
        double logs = 0;
        for (int i = 0; i < D; i++) {
            logs += icf[k][i];
            diagonal[k][i] = exp(icf[k][i]);
            prior += 0.5 * GAMMA * GAMMA * diagonal[k][i] * diagonal[k][i];
        }
        for (int i = D; i < P; i++) prior += 0.5 * GAMMA * GAMMA * icf[k][i] * icf[k][i];
        prior -= M * logs;
        constant[k] = alpha[k] + logs;
    }
    double total = 0;
    double logs[K], apart[D], by[D];
    for (int n = 0; n < N; n++) {
        for (int k = 0; k < K; k++) {
            for (int j = 0; j < D; j++) {
                apart[j] = points[n][j] - mean[k][j];
                by[j] = diagonal[k][j] * apart[j];
            }
            int at = D;
            for (int j = 0; j < D; j++)
                for (int i = j + 1; i < D; i++) by[i] += icf[k][at++] * apart[j];
            double square = 0;
            for (int i = 0; i < D; i++) square += by[i] * by[i];
            logs[k] = constant[k] - 0.5 * square;
        }
        total += log_sum_exp(logs);
    }
    double weights[K];
    for (int k = 0; k < K; k++) weights[k] = alpha[k];
    out = total - N * log_sum_exp(weights) + prior;
}
"""


def enzyme(call, points, dims, components):
    packed = dims * (dims + 1) // 2
    sizes = f"""
        constexpr int N = {points}, D = {dims}, K = {components}, P = {packed};
        constexpr double GAMMA = {GAMMA}, M = {M};
    """
    rest = constant(points, dims, components)

    def loss(alpha, mean, icf, points):
        shapes = [((), numpy.float64)]
        (total,) = call(sizes + SOURCE, "objective", shapes, alpha, mean, icf, points)
        return total + rest

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }

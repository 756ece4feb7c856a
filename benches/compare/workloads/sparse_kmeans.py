"""The cost of clusters of sparse points in compressed rows, and its gradient by the centres."""

import numpy

from peers import gradients

TITLE = "sparse k-means, f32"
SIZES = {
    "small": dict(points=100, coordinates=50, row=8, clusters=4),
    "n20000_d5000_k10": dict(points=20000, coordinates=5000, row=50, clusters=10),
    "n100000_d20000_k10": dict(points=100000, coordinates=20000, row=50, clusters=10),
}
TOLERANCE = {"value": 1e-3, "gradient": 1e-3}


def inputs(points, coordinates, row, clusters):
    random = numpy.random.default_rng(1)
    bounds = numpy.concatenate([[0], numpy.cumsum(random.integers(1, 2 * row, size=points))])
    entries = bounds[-1]
    coordinate = random.integers(0, coordinates, size=entries, dtype=numpy.int32)
    value = random.random(entries).astype(numpy.float32)
    centres = (2 * row / coordinates * random.random((clusters, coordinates))).astype(numpy.float32)
    # A point that is as near to two centres as `f32` can tell may go to either, and takes its part of their gradients along: it is moved.
    lengths = numpy.diff(bounds)
    while (close := undecided(bounds, coordinate, value, centres)).any():
        value[numpy.repeat(close, lengths)] *= 0.5
    return {"bounds": bounds.astype(numpy.int32), "coordinate": coordinate, "value": value, "centres": centres}


def undecided(bounds, coordinate, value, centres):
    """Which points have two nearest centres but for the digits that `f32` has not."""
    value = value.astype(float)
    squares = (centres.astype(float) ** 2).sum(1)
    products = numpy.add.reduceat(value[:, None] * centres.T[coordinate], bounds[:-1])
    far = numpy.sort(squares - 2 * products, 1)
    whole = numpy.add.reduceat(value**2, bounds[:-1]) + squares.max()
    return far[:, 1] - far[:, 0] < 1e-6 * whole


def jax(points, **_):
    import jax.numpy as jnp
    from jax.experimental import sparse

    def loss(bounds, coordinate, value, centres):
        row = jnp.repeat(jnp.arange(points), jnp.diff(bounds), total_repeat_length=len(value))
        matrix = sparse.BCOO((value, jnp.stack([row, coordinate], 1)), shape=(points, centres.shape[1]), indices_sorted=True)
        squares = jnp.zeros(points, value.dtype).at[row].add(value**2, indices_are_sorted=True)
        far = squares[:, None] + (centres**2).sum(1) - 2 * (matrix @ centres.T)
        return far.min(1).sum()

    return gradients.losses_of_jax(loss, "centres")


def torch(compiled, points, **_):
    import torch

    # Sparse tensors cannot be made in what is compiled.
    def loss(bounds, coordinate, value, centres):
        row = torch.repeat_interleave(torch.arange(points), bounds.diff())
        shape = (points, centres.shape[1])
        matrix = torch.sparse_coo_tensor(torch.stack([row, coordinate.long()]), value, shape)
        squares = torch.zeros(points).index_add(0, row, value**2)
        return rest(torch.sparse.mm(matrix, centres.T), squares, centres)

    @compiled
    def rest(products, squares, centres):
        return (squares[:, None] + (centres**2).sum(1) - 2 * products).min(1).values.sum()

    return gradients.losses_of_torch(loss, "centres")


SOURCE = """
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);

void cost(
    enzyme::tensor<float>& out, const enzyme::tensor<double, N + 1>& bounds, const enzyme::tensor<double, E>& places,
    const enzyme::tensor<float, E>& value, const enzyme::tensor<float, K, D>& centres
) {
    // Enzyme's package has no derivatives of calls with whole numbers, so that they come as floats.
    int* coordinate = (int*)malloc(sizeof(int) * E);
    for (int e = 0; e < E; e++) coordinate[e] = (int)places[e];
    float square[K];
    for (int k = 0; k < K; k++) {
        square[k] = 0;
        for (int d = 0; d < D; d++) square[k] += centres[k][d] * centres[k][d];
    }
    float sum = 0;
    for (int n = 0; n < N; n++) {
        float least = __builtin_inff();
        for (int k = 0; k < K; k++) {
            float far = square[k];
            for (int e = (int)bounds[n]; e < (int)bounds[n + 1]; e++) far += value[e] * (value[e] - 2 * centres[k][coordinate[e]]);
            if (far < least) least = far;
        }
        sum += least;
    }
    free(coordinate);
    out = sum;
}
"""


def enzyme(call, points, coordinates, clusters, **_):
    def loss(bounds, coordinate, value, centres):
        sizes = f"constexpr int N = {points}, D = {coordinates}, K = {clusters}, E = {len(value)};\n"
        (total,) = call(sizes + SOURCE, "cost", [((), numpy.float32)], bounds.astype(float), coordinate.astype(float), value, centres)
        return total

    return gradients.losses_of_jax(loss, "centres")

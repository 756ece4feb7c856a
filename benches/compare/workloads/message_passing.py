"""Two rounds of message passing on a graph (sums over edges, dense layers, relu), mean logistic loss; `gradient` by all weights and biases."""

import numpy

from peers import gradients

TITLE = "message passing, f32"
SIZES = {
    "small": dict(nodes=9, edges=20, features=4, rounds=2),
    "n10000_e100000_f64": dict(nodes=10_000, edges=100_000, features=64, rounds=2),
}
TOLERANCE = 1e-3
PARAMETERS = ("own", "come", "bias", "readout")


def inputs(nodes, edges, features, rounds):
    random = numpy.random.default_rng(1)

    def normal(scale, *shape):
        return (scale * random.normal(size=shape)).astype(numpy.float32)

    return {
        "own": normal(features**-0.5, rounds, features, features),
        "come": normal((features * edges / nodes) ** -0.5, rounds, features, features),
        "bias": normal(0.1, rounds, features),
        "readout": normal(features**-0.5, features),
        "start": normal(1.0, nodes, features),
        "labels": random.integers(2, size=nodes).astype(numpy.float32),
        "from": random.integers(nodes, size=edges).astype(numpy.int32),
        "to": random.integers(nodes, size=edges).astype(numpy.int32),
    }


def jax(nodes, rounds, **_):
    import jax

    def loss(own, come, bias, readout, start, labels, to, **edges):
        state = start
        for r in range(rounds):
            sums = jax.ops.segment_sum(state[edges["from"]], to, num_segments=nodes)
            state = jax.nn.relu(state @ own[r].T + sums @ come[r].T + bias[r])
        score = state @ readout
        return (jax.nn.softplus(score) - labels * score).mean()

    return gradients.losses_of_jax(loss, *PARAMETERS)


def torch(compiled, rounds, **_):
    import torch
    from torch.nn import functional

    @compiled
    def loss(own, come, bias, readout, start, labels, to, **edges):
        state = start
        for r in range(rounds):
            sums = torch.zeros_like(state).index_add(0, to, state[edges["from"]])
            state = functional.relu(state @ own[r].T + sums @ come[r].T + bias[r])
        return functional.binary_cross_entropy_with_logits(state @ readout, labels)

    return gradients.losses_of_torch(loss, *PARAMETERS)

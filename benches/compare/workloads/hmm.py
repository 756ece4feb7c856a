"""The log-likelihood of a hidden Markov model by the forward algorithm in logarithms, and its gradient by all three tables."""

import numpy

from peers import gradients

TITLE = "HMM, f64"
SIZES = {
    "small": dict(states=5, symbols=4, steps=30),
    "s64_t2000": dict(states=64, symbols=32, steps=2000),
}
TOLERANCE = 1e-9
PARAMETERS = ("initial", "transition", "emission")


def inputs(states, symbols, steps):
    random = numpy.random.default_rng(1)
    return {
        "initial": random.normal(size=states),
        "transition": random.normal(size=(states, states)),
        "emission": random.normal(size=(states, symbols)),
        "seen": random.integers(symbols, size=steps).astype(numpy.int32),
    }


def jax(**_):
    import jax
    from jax.nn import log_softmax, logsumexp

    def loss(initial, transition, emission, seen):
        begin, go, show = log_softmax(initial), log_softmax(transition), log_softmax(emission)

        def step(forward, symbol):
            return logsumexp(forward[:, None] + go, axis=0) + show[:, symbol], None

        forward, _ = jax.lax.scan(step, begin + show[:, seen[0]], seen[1:])
        return logsumexp(forward)

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }


def torch(compiled, **_):
    import torch

    # The loop is Python's: compiled as a whole, it would be unrolled.
    @compiled
    def step(forward, go, shown):
        return torch.logsumexp(forward[:, None] + go, 0) + shown

    def loss(initial, transition, emission, seen):
        begin, go, show = (x.log_softmax(-1) for x in (initial, transition, emission))
        shown = show[:, seen].T
        forward = begin + shown[0]
        for at in shown[1:]:
            forward = step(forward, go, at)
        return torch.logsumexp(forward, 0)

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": gradients.of_torch(loss, *PARAMETERS)}


SOURCE = """
extern "C" double exp(double);
extern "C" double log(double);

static double log_sum_exp(const double* x, int n) {
    double top = x[0];
    for (int k = 1; k < n; k++) if (x[k] > top) top = x[k];
    double sum = 0;
    for (int k = 0; k < n; k++) sum += exp(x[k] - top);
    return top + log(sum);
}

void likelihood(
    enzyme::tensor<double>& out,
    const enzyme::tensor<double, S>& initial,
    const enzyme::tensor<double, S, S>& transition,
    const enzyme::tensor<double, S, O>& emission,
    const enzyme::tensor<float, T>& seen
) {
    double go[S][S], show[O][S], forward[S], next[S], terms[S], symbols[O];
    for (int s = 0; s < S; s++) {
        for (int t = 0; t < S; t++) terms[t] = transition[s][t];
        double all = log_sum_exp(terms, S);
        for (int t = 0; t < S; t++) go[t][s] = terms[t] - all;
        for (int o = 0; o < O; o++) symbols[o] = emission[s][o];
        all = log_sum_exp(symbols, O);
        for (int o = 0; o < O; o++) show[o][s] = symbols[o] - all;
    }
    for (int s = 0; s < S; s++) terms[s] = initial[s];
    double all = log_sum_exp(terms, S);
    for (int s = 0; s < S; s++) forward[s] = terms[s] - all + show[(int)seen[0]][s];
    for (int t = 1; t < T; t++) {
        for (int to = 0; to < S; to++) {
            for (int from = 0; from < S; from++) terms[from] = forward[from] + go[to][from];
            next[to] = log_sum_exp(terms, S) + show[(int)seen[t]][to];
        }
        for (int s = 0; s < S; s++) forward[s] = next[s];
    }
    out = log_sum_exp(forward, S);
}
"""


def enzyme(call, states, symbols, steps):
    source = f"constexpr int S = {states}, O = {symbols}, T = {steps};\n{SOURCE}"

    def loss(initial, transition, emission, seen):
        shapes = [((), numpy.float64)]
        # Integers cannot be passed on where something is differentiated.
        seen = seen.astype(numpy.float32)
        return call(source, "likelihood", shapes, initial, transition, emission, seen)[0]

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }

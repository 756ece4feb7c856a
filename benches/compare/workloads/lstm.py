"""A layer with a long short-term memory over a batch of sequences, mean squared error; `gradient` by its weights and biases."""

import numpy

from peers import gradients

TITLE = "LSTM, f32"
SIZES = {
    "small": dict(steps=5, batch=4, features=6, cells=7),
    "b64_t50_d80_h128": dict(steps=50, batch=64, features=80, cells=128),
}
TOLERANCE = 1e-3
PARAMETERS = ("input", "feedback", "bias")


def inputs(steps, batch, features, cells):
    random = numpy.random.default_rng(1)
    reach = cells**-0.5

    def uniform(*shape):
        return random.uniform(-reach, reach, size=shape).astype(numpy.float32)

    return {
        "input": uniform(4, cells, features),
        "feedback": uniform(4, cells, cells),
        "bias": uniform(4, cells),
        "features": random.normal(size=(steps, batch, features)).astype(numpy.float32),
        "targets": random.uniform(-1, 1, size=(steps, batch, cells)).astype(numpy.float32),
    }


def jax(steps, batch, features, cells):
    import jax
    import jax.numpy as jnp

    def loss(input, feedback, bias, features, targets):
        w, u, b = input.reshape(4 * cells, -1), feedback.reshape(4 * cells, cells), bias.reshape(-1)
        # What does not wait for the cells is one product for all steps.
        forward = features @ w.T + b

        def step(state, forward):
            memory, seen = state
            write, keep, content, show = jnp.split(forward + seen @ u.T, 4, axis=1)
            memory = jax.nn.sigmoid(keep) * memory + jax.nn.sigmoid(write) * jnp.tanh(content)
            seen = jax.nn.sigmoid(show) * jnp.tanh(memory)
            return (memory, seen), seen

        zeros = jnp.zeros((batch, cells), numpy.float32)
        _, seen = jax.lax.scan(step, (zeros, zeros), forward)
        return ((seen - targets) ** 2).mean()

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }


def torch(compiled, steps, batch, features, cells):
    import torch

    # PyTorch's gates have the same order. It adds two biases; the second one is nothing here.
    layer = torch.nn.LSTM(features, cells)
    nothing = torch.zeros(4 * cells)

    def run(input, feedback, bias, features):
        parameters = {
            "weight_ih_l0": input.reshape(4 * cells, -1),
            "weight_hh_l0": feedback.reshape(4 * cells, cells),
            "bias_ih_l0": bias.reshape(-1),
            "bias_hh_l0": nothing,
        }
        return torch.func.functional_call(layer, parameters, features)[0]

    def loss(input, feedback, bias, features, targets):
        return ((run(input, feedback, bias, features) - targets) ** 2).mean()

    loss = compiled(loss)

    def value(**inputs):
        with torch.no_grad():
            return {"value": loss(**inputs)}

    return {"value": value, "gradient": gradients.of_torch(loss, *PARAMETERS)}


SOURCE = """
extern "C" float expf(float);
extern "C" float tanhf(float);

static float open_by(float x) { return 1.0f / (1.0f + expf(-x)); }

void loss(
    enzyme::tensor<float>& out,
    const enzyme::tensor<float, 4, H, D>& input,
    const enzyme::tensor<float, 4, H, H>& feedback,
    const enzyme::tensor<float, 4, H>& bias,
    const enzyme::tensor<float, T, B, D>& features,
    const enzyme::tensor<float, T, B, H>& targets
) {
    float total = 0, memory[H], seen[H], gates[4][H];
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < H; h++) memory[h] = seen[h] = 0;
        for (int t = 0; t < T; t++) {
            for (int g = 0; g < 4; g++)
                for (int h = 0; h < H; h++) {
                    float sum = bias[g][h];
                    for (int d = 0; d < D; d++) sum += input[g][h][d] * features[t][b][d];
                    for (int o = 0; o < H; o++) sum += feedback[g][h][o] * seen[o];
                    gates[g][h] = sum;
                }
            for (int h = 0; h < H; h++) {
                memory[h] = open_by(gates[1][h]) * memory[h] + open_by(gates[0][h]) * tanhf(gates[2][h]);
                seen[h] = open_by(gates[3][h]) * tanhf(memory[h]);
                float apart = seen[h] - targets[t][b][h];
                total += apart * apart;
            }
        }
    }
    out = total / (T * B * H);
}
"""


def enzyme(call, steps, batch, features, cells):
    sizes = f"constexpr int T = {steps}, B = {batch}, D = {features}, H = {cells};\n"

    def loss(input, feedback, bias, features, targets):
        shapes = [((), numpy.float32)]
        return call(sizes + SOURCE, "loss", shapes, input, feedback, bias, features, targets)[0]

    return {
        "value": lambda **inputs: {"value": loss(**inputs)},
        "gradient": gradients.of_jax(loss, *PARAMETERS),
    }

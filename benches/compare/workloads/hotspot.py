"""Rodinia's hotspot: the temperature of a chip over time, and the gradient of how far it is from what it should be."""

import numpy

from peers import gradients

TITLE = "hotspot, f32"
SIZES = {
    "small": dict(cells=16, steps=5),
    "n512_s360": dict(cells=512, steps=360),
    "n1024_s360": dict(cells=1024, steps=360),
    "n512_s60": dict(cells=512, steps=60),
    "n1024_s60": dict(cells=1024, steps=60),
}
TASKS = {
    "n512_s360": ["run"],
    "n1024_s360": ["run"],
    "n512_s60": ["value", "gradient"],
    "n1024_s60": ["value", "gradient"],
}
TOLERANCE = 1e-3
PARAMETERS = ("temperature", "power")
TARGET = 325.0


def constants(cells):
    """What the step is made of: the cell's resistances along rows and columns and out of the chip, and the length of the step."""
    f = numpy.float32
    edge = f(0.016) / f(cells)
    capacity = f(0.5) * f(1.75e6) * f(0.0005) * edge * edge
    side = edge / (f(2.0) * f(100.0) * f(0.0005) * edge)
    out = f(0.0005) / (f(100.0) * edge * edge)
    slope = f(3.0e6) / (f(0.5) * f(0.0005) * f(1.75e6))
    return side, side, out, f(0.001) / slope / capacity


def inputs(cells, steps):
    random = numpy.random.default_rng(1)
    return {
        "temperature": (320 + 10 * random.random((cells, cells))).astype(numpy.float32),
        "power": (0.01 * random.random((cells, cells))).astype(numpy.float32),
        "steps": numpy.array([steps], numpy.int32),
    }


def jax(cells, steps):
    import jax
    import jax.numpy as jnp

    rx, ry, rz, scale = constants(cells)

    def hotspot(temperature, power):
        def step(t, _):
            wide = jnp.pad(t, 1, mode="edge")
            vertical = wide[2:, 1:-1] + wide[:-2, 1:-1] - 2 * t
            horizontal = wide[1:-1, 2:] + wide[1:-1, :-2] - 2 * t
            return t + scale * (power + vertical / ry + horizontal / rx + (80 - t) / rz), None

        return jax.lax.scan(step, temperature, None, length=steps)[0]

    def loss(temperature, power, **_):
        return ((hotspot(temperature, power) - TARGET) ** 2).sum()

    return {
        "run": lambda temperature, power, **_: {"temperature": hotspot(temperature, power)},
        **gradients.losses_of_jax(loss, *PARAMETERS),
    }


def torch(compiled, cells, steps):
    import torch
    from torch.nn.functional import pad

    rx, ry, rz, scale = (float(x) for x in constants(cells))

    # A step: a loop of hundreds would be unrolled.
    @compiled
    def step(t, power):
        wide = pad(t[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
        vertical = wide[2:, 1:-1] + wide[:-2, 1:-1] - 2 * t
        horizontal = wide[1:-1, 2:] + wide[1:-1, :-2] - 2 * t
        return t + scale * (power + vertical / ry + horizontal / rx + (80 - t) / rz)

    def hotspot(t, power):
        for _ in range(steps):
            t = step(t, power)
        return t

    def loss(temperature, power, **_):
        return ((hotspot(temperature, power) - TARGET) ** 2).sum()

    def run(temperature, power, **_):
        return {"temperature": hotspot(temperature, power)}

    return {"run": gradients.run_of_torch(run), **gradients.losses_of_torch(loss, *PARAMETERS)}


SOURCE = """
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);

static void steps(float* t, float* next, const enzyme::tensor<float, N, N>& power) {
    const float capacity = 0.5f * 1.75e6f * 0.0005f * (0.016f / N) * (0.016f / N);
    const float rx = (0.016f / N) / (2.0f * 100.0f * 0.0005f * (0.016f / N)), ry = rx;
    const float rz = 0.0005f / (100.0f * (0.016f / N) * (0.016f / N));
    const float scale = 0.001f / (3.0e6f / (0.5f * 0.0005f * 1.75e6f)) / capacity;
    for (int s = 0; s < STEPS; s++) {
        for (int r = 0; r < N; r++) {
            const float* up = t + (r == 0 ? 0 : r - 1) * N;
            const float* here = t + r * N;
            const float* down = t + (r == N - 1 ? r : r + 1) * N;
            for (int c = 0; c < N; c++) {
                float west = here[c == 0 ? 0 : c - 1], east = here[c == N - 1 ? c : c + 1];
                float vertical = up[c] + down[c] - 2.0f * here[c];
                float horizontal = west + east - 2.0f * here[c];
                next[r * N + c] = here[c] + scale * (power[r][c] + vertical / ry + horizontal / rx + (80.0f - here[c]) / rz);
            }
        }
        for (int k = 0; k < N * N; k++) t[k] = next[k];
    }
}

void run(enzyme::tensor<float, N, N>& out, const enzyme::tensor<float, N, N>& start, const enzyme::tensor<float, N, N>& power) {
    float* t = (float*)malloc(sizeof(float) * N * N);
    float* next = (float*)malloc(sizeof(float) * N * N);
    for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) t[r * N + c] = start[r][c];
    steps(t, next, power);
    for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) out[r][c] = t[r * N + c];
    free(next);
    free(t);
}
"""


def enzyme(call, cells, steps):
    sizes = f"constexpr int N = {cells}, STEPS = {steps};\n"

    def hotspot(temperature, power):
        (t,) = call(sizes + SOURCE, "run", [((cells, cells), numpy.float32)], temperature, power)
        return t

    def loss(temperature, power, **_):
        return ((hotspot(temperature, power) - TARGET) ** 2).sum()

    return {
        "run": lambda temperature, power, **_: {"temperature": hotspot(temperature, power)},
        **gradients.losses_of_jax(loss, *PARAMETERS),
    }

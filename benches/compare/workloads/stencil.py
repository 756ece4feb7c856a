"""Parboil's seven-point stencil in a box whose border stays, and the gradient of the sum of squares."""

import numpy

from peers import gradients

TITLE = "7-point stencil, f32"
SIZES = {
    "small": dict(box=(9, 8, 7), steps=3),
    "n128x128x32_s100": dict(box=(128, 128, 32), steps=100),
    "n128x128x32_s10": dict(box=(128, 128, 32), steps=10),
}
TASKS = {"n128x128x32_s100": ["run"], "n128x128x32_s10": ["value", "gradient"]}
TOLERANCE = 1e-4
CENTRE, NEIGHBOUR = 1 / 6, 1 / 36


def inputs(box, steps):
    random = numpy.random.default_rng(1)
    return {
        "start": random.random(box).astype(numpy.float32),
        "steps": numpy.array([steps], numpy.int32),
    }


def inside(heat):
    """What becomes of the cells that are not on the border."""
    around = heat[1:-1, 1:-1, 2:] + heat[1:-1, 1:-1, :-2] + heat[1:-1, 2:, 1:-1] + heat[1:-1, :-2, 1:-1]
    around = around + heat[2:, 1:-1, 1:-1] + heat[:-2, 1:-1, 1:-1]
    return around * NEIGHBOUR + heat[1:-1, 1:-1, 1:-1] * CENTRE


def jax(box, steps):
    import jax

    def spread(start):
        def step(heat, _):
            return heat.at[1:-1, 1:-1, 1:-1].set(inside(heat)), None

        return jax.lax.scan(step, start, None, length=steps)[0]

    def loss(start, **_):
        return (spread(start) ** 2).sum()

    return {
        "run": lambda start, **_: {"heat": spread(start)},
        **gradients.losses_of_jax(loss, "start"),
    }


def torch(compiled, box, steps):
    # A step: a loop of a hundred would be unrolled.
    @compiled
    def step(heat):
        after = heat.clone()
        after[1:-1, 1:-1, 1:-1] = inside(heat)
        return after

    def spread(heat):
        for _ in range(steps):
            heat = step(heat)
        return heat

    def loss(start, **_):
        return (spread(start) ** 2).sum()

    return {
        "run": gradients.run_of_torch(lambda start, **_: {"heat": spread(start)}),
        **gradients.losses_of_torch(loss, "start"),
    }


SOURCE = """
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);

static void step(const float* heat, float* next) {
    for (int x = 1; x < X - 1; x++)
        for (int y = 1; y < Y - 1; y++)
            for (int z = 1; z < Z - 1; z++) {
                const int k = (x * Y + y) * Z + z;
                float around = heat[k + 1] + heat[k - 1] + heat[k + Z] + heat[k - Z] + heat[k + Y * Z] + heat[k - Y * Z];
                next[k] = around * (1.0f / 36.0f) + heat[k] * (1.0f / 6.0f);
            }
}

void run(enzyme::tensor<float, X, Y, Z>& out, const enzyme::tensor<float, X, Y, Z>& start) {
    float* heat = (float*)malloc(sizeof(float) * X * Y * Z);
    float* next = (float*)malloc(sizeof(float) * X * Y * Z);
    for (int x = 0; x < X; x++) for (int y = 0; y < Y; y++) for (int z = 0; z < Z; z++)
        heat[(x * Y + y) * Z + z] = next[(x * Y + y) * Z + z] = start[x][y][z];
    for (int s = 0; s < STEPS / 2; s++) {
        step(heat, next);
        step(next, heat);
    }
    if (STEPS % 2) step(heat, next);
    const float* last = STEPS % 2 ? next : heat;
    for (int x = 0; x < X; x++) for (int y = 0; y < Y; y++) for (int z = 0; z < Z; z++) out[x][y][z] = last[(x * Y + y) * Z + z];
    free(next);
    free(heat);
}
"""


def enzyme(call, box, steps):
    x, y, z = box
    sizes = f"constexpr int X = {x}, Y = {y}, Z = {z}, STEPS = {steps};\n"

    def spread(start):
        (heat,) = call(sizes + SOURCE, "run", [(box, numpy.float32)], start)
        return heat

    def loss(start, **_):
        return (spread(start) ** 2).sum()

    return {
        "run": lambda start, **_: {"heat": spread(start)},
        **gradients.losses_of_jax(loss, "start"),
    }

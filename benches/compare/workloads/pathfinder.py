"""Rodinia's pathfinder: what the cheapest way down a wall costs, in whole numbers."""

import numpy

from peers import gradients

TITLE = "pathfinder, i32"
SIZES = {"small": dict(rows=7, columns=100), "r1000_c100000": dict(rows=1000, columns=100000)}
TOLERANCE = 0


def inputs(rows, columns):
    random = numpy.random.default_rng(1)
    return {"wall": random.integers(0, 10, size=(rows, columns), dtype=numpy.int32)}


def jax(**_):
    import jax
    import jax.numpy as jnp

    def run(wall):
        def down(cost, row):
            wide = jnp.pad(cost, 1, mode="edge")
            return row + jnp.minimum(jnp.minimum(wide[:-2], cost), wide[2:]), None

        return {"cost": jax.lax.scan(down, wall[0], wall[1:])[0]}

    return {"run": run}


def torch(compiled, **_):
    import torch

    # A row: a loop over a thousand would be unrolled.
    @compiled
    def down(cost, row):
        west, east = torch.cat((cost[:1], cost[:-1])), torch.cat((cost[1:], cost[-1:]))
        return row + torch.minimum(torch.minimum(west, cost), east)

    def run(wall):
        cost = wall[0]
        for row in wall[1:]:
            cost = down(cost, row)
        return {"cost": cost}

    return {"run": gradients.run_of_torch(run)}


SOURCE = """
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);

void run(enzyme::tensor<int, C>& out, const enzyme::tensor<int, R, C>& wall) {
    int* cost = (int*)malloc(sizeof(int) * C);
    int* next = (int*)malloc(sizeof(int) * C);
    for (int c = 0; c < C; c++) cost[c] = wall[0][c];
    for (int r = 1; r < R; r++) {
        for (int c = 0; c < C; c++) {
            int least = cost[c == 0 ? 0 : c - 1];
            if (cost[c] < least) least = cost[c];
            int east = cost[c == C - 1 ? c : c + 1];
            next[c] = wall[r][c] + (east < least ? east : least);
        }
        int* before = cost;
        cost = next;
        next = before;
    }
    for (int c = 0; c < C; c++) out[c] = cost[c];
    free(next);
    free(cost);
}
"""


def enzyme(call, rows, columns):
    sizes = f"constexpr int R = {rows}, C = {columns};\n"

    def run(wall):
        (cost,) = call(sizes + SOURCE, "run", [((columns,), numpy.int32)], wall)
        return {"cost": cost}

    return {"run": run}

"""A fluid with obstacles in three dimensions, 19 velocities, and the gradient of how much of it moves."""

import numpy

from peers.lattice import Lattice

TITLE = "lattice Boltzmann D3Q19, f32"
SIZES = {
    "small": dict(places=(4, 5, 3), steps=4),
    "n48_s20": dict(places=(48, 48, 48), steps=20),
    "n48_s10": dict(places=(48, 48, 48), steps=10),
}
TASKS = {"n48_s20": ["run"], "n48_s10": ["value", "gradient"]}
TOLERANCE = 1e-3
# What is opposite comes next.
FACES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
EDGES = [(1, 1, 0), (-1, -1, 0), (1, -1, 0), (-1, 1, 0), (1, 0, 1), (-1, 0, -1)]
EDGES += [(1, 0, -1), (-1, 0, 1), (0, 1, 1), (0, -1, -1), (0, 1, -1), (0, -1, 1)]
BACK = [0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17]
WEIGHTS = [1 / 3] + 6 * [1 / 18] + 12 * [1 / 36]
LATTICE = Lattice([(0, 0, 0)] + FACES + EDGES, BACK, WEIGHTS, 1.2, numpy.float32)

inputs, jax, torch, enzyme = LATTICE.inputs, LATTICE.jax, LATTICE.torch, LATTICE.enzyme

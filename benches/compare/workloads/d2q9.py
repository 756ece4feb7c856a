"""A fluid with obstacles in two dimensions, nine velocities, and the gradient of how much of it moves."""

import numpy

from peers.lattice import Lattice

TITLE = "lattice Boltzmann D2Q9, f64"
SIZES = {
    "small": dict(places=(6, 5), steps=4),
    "n256_s50": dict(places=(256, 256), steps=50),
    "n256_s20": dict(places=(256, 256), steps=20),
}
TASKS = {"n256_s50": ["run"], "n256_s20": ["value", "gradient"]}
TOLERANCE = 1e-9
MOVES = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)]
BACK = [0, 3, 4, 1, 2, 7, 8, 5, 6]
LATTICE = Lattice(MOVES, BACK, [4 / 9] + 4 * [1 / 9] + 4 * [1 / 36], 1.2, numpy.float64)

inputs, jax, torch, enzyme = LATTICE.inputs, LATTICE.jax, LATTICE.torch, LATTICE.enzyme

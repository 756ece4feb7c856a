"""What the machine can do: `read` sums 160 MB, `scale` adds each of these numbers to itself, `product` is one of two matrices."""

import numpy

TITLE = "memory and products"
SIZES = {
    "small": dict(places=1000, side=9, dtype="float64"),
    "f32": dict(places=40_000_000, side=1024, dtype="float32"),
    "f64": dict(places=20_000_000, side=1024, dtype="float64"),
}
# What is summed has both signs.
TOLERANCE = {"read": 1e-2, "scale": 0.0, "product": 1e-3}


def inputs(places, side, dtype):
    random = numpy.random.default_rng(1)
    drawn = {"x": random.normal(size=places)}
    drawn |= {name: random.normal(size=(side, side)) for name in ("left", "right")}
    return {name: array.astype(dtype) for name, array in drawn.items()}


def tasks():
    return {
        "read": lambda x, **_: {"sum": x.sum()},
        "scale": lambda x, **_: {"twice": x + x},
        "product": lambda left, right, **_: {"product": left @ right},
    }


def jax(**_):
    return tasks()


def torch(compiled, **_):
    return {name: compiled(task) for name, task in tasks().items()}

"""Bodies that attract each other, all pairs: a step, and the gradient of their inertia and energy of motion after it."""

import numpy

from peers import gradients

TITLE = "n-body, f64"
SIZES = {"small": dict(bodies=50), "n2048": dict(bodies=2048)}
TOLERANCE = 1e-9
PARAMETERS = ("place", "velocity", "mass")
SOFTENING, STEP = 0.1, 0.01


def inputs(bodies):
    random = numpy.random.default_rng(1)
    return {
        "place": random.uniform(-1, 1, size=(bodies, 3)),
        "velocity": random.uniform(-1, 1, size=(bodies, 3)),
        "mass": random.random(bodies),
    }


def stepped(place, velocity, mass):
    """Places and velocities after a step, of either system's arrays."""
    apart = place[None, :, :] - place[:, None, :]
    square = (apart**2).sum(2) + SOFTENING**2
    strength = mass / (square * square**0.5)
    velocity = velocity + STEP * (strength[:, :, None] * apart).sum(1)
    return place + STEP * velocity, velocity


def moment(place, velocity, mass):
    return (mass * ((place**2).sum(1) + (velocity**2).sum(1))).sum()


def jax(**_):
    def loss(place, velocity, mass):
        return moment(*stepped(place, velocity, mass), mass)

    return {
        "run": lambda **inputs: dict(zip(("place", "velocity"), stepped(**inputs))),
        **gradients.losses_of_jax(loss, *PARAMETERS),
    }


def torch(compiled, **_):
    step = compiled(stepped)

    def loss(place, velocity, mass):
        return moment(*step(place, velocity, mass), mass)

    return {
        "run": gradients.run_of_torch(lambda **inputs: dict(zip(("place", "velocity"), step(**inputs)))),
        **gradients.losses_of_torch(loss, *PARAMETERS),
    }


SOURCE = """
extern "C" double sqrt(double);

void step(
    enzyme::tensor<double, N, 3>& place_after, enzyme::tensor<double, N, 3>& velocity_after,
    const enzyme::tensor<double, N, 3>& place, const enzyme::tensor<double, N, 3>& velocity, const enzyme::tensor<double, N>& mass
) {
    for (int a = 0; a < N; a++) {
        double pull[3] = {0, 0, 0};
        for (int b = 0; b < N; b++) {
            double apart[3], square = 0;
            for (int k = 0; k < 3; k++) {
                apart[k] = place[b][k] - place[a][k];
                square += apart[k] * apart[k];
            }
            double distance = sqrt(square + 0.1 * 0.1);
            double strength = mass[b] / (distance * distance * distance);
            for (int k = 0; k < 3; k++) pull[k] += strength * apart[k];
        }
        for (int k = 0; k < 3; k++) {
            double v = velocity[a][k] + 0.01 * pull[k];
            velocity_after[a][k] = v;
            place_after[a][k] = place[a][k] + 0.01 * v;
        }
    }
}
"""


def enzyme(call, bodies):
    sizes = f"constexpr int N = {bodies};\n"

    def step(place, velocity, mass):
        return call(sizes + SOURCE, "step", [((bodies, 3), numpy.float64)] * 2, place, velocity, mass)

    def loss(place, velocity, mass):
        return moment(*step(place, velocity, mass), mass)

    return {
        "run": lambda **inputs: dict(zip(("place", "velocity"), step(**inputs))),
        **gradients.losses_of_jax(loss, *PARAMETERS),
    }

"""Lorenz' equations from many beginnings by Runge and Kutta's method, and the gradient of where they end by beginnings and parameters."""

import numpy

from peers import gradients

TITLE = "Lorenz, f64"
SIZES = {"small": dict(systems=20, steps=30), "n20000_s500": dict(systems=20000, steps=500)}
TOLERANCE = 1e-6
STEP = 0.01


def inputs(systems, steps):
    random = numpy.random.default_rng(1)
    start = {name: random.uniform(1, 3, size=systems) for name in ("x", "y", "z")}
    return {**start, "parameters": numpy.array([10, 28, 8 / 3]), "steps": numpy.array([steps], numpy.int32)}


def rates(x, y, z, parameters):
    sigma, rho, beta = parameters
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def stepped(x, y, z, parameters):
    """A step, of either system's arrays."""
    at = (x, y, z)

    def moved(h, rates):
        return tuple(x + h * d for x, d in zip(at, rates))

    a = rates(*at, parameters)
    b = rates(*moved(STEP / 2, a), parameters)
    c = rates(*moved(STEP / 2, b), parameters)
    d = rates(*moved(STEP, c), parameters)
    return moved(STEP / 6, tuple(a + 2 * b + 2 * c + d for a, b, c, d in zip(a, b, c, d)))


def square(x, y, z):
    return (x**2 + y**2 + z**2).mean()


def jax(systems, steps):
    import jax

    def flow(x, y, z, parameters):
        def step(at, _):
            return stepped(*at, parameters), None

        return jax.lax.scan(step, (x, y, z), None, length=steps)[0]

    def loss(x, y, z, parameters, **_):
        return square(*flow(x, y, z, parameters))

    return {
        "run": lambda x, y, z, parameters, **_: dict(zip("xyz", flow(x, y, z, parameters))),
        **gradients.losses_of_jax(loss, "x", "y", "z", "parameters"),
    }


def torch(compiled, systems, steps):
    # A step: a loop of hundreds would be unrolled.
    step = compiled(stepped)

    def flow(x, y, z, parameters):
        at = (x, y, z)
        for _ in range(steps):
            at = step(*at, parameters)
        return at

    def loss(x, y, z, parameters, **_):
        return square(*flow(x, y, z, parameters))

    return {
        "run": gradients.run_of_torch(lambda x, y, z, parameters, **_: dict(zip("xyz", flow(x, y, z, parameters)))),
        **gradients.losses_of_torch(loss, "x", "y", "z", "parameters"),
    }


SOURCE = """
static void rates(const double* at, double sigma, double rho, double beta, double* rate) {
    rate[0] = sigma * (at[1] - at[0]);
    rate[1] = at[0] * (rho - at[2]) - at[1];
    rate[2] = at[0] * at[1] - beta * at[2];
}

void flow(
    enzyme::tensor<double, N>& x_after, enzyme::tensor<double, N>& y_after, enzyme::tensor<double, N>& z_after,
    const enzyme::tensor<double, N>& x, const enzyme::tensor<double, N>& y, const enzyme::tensor<double, N>& z,
    const enzyme::tensor<double, 3>& parameters
) {
    const double h = 0.01, sigma = parameters[0], rho = parameters[1], beta = parameters[2];
    for (int s = 0; s < N; s++) {
        double at[3] = {x[s], y[s], z[s]};
        for (int t = 0; t < STEPS; t++) {
            double a[3], b[3], c[3], d[3], place[3];
            rates(at, sigma, rho, beta, a);
            for (int k = 0; k < 3; k++) place[k] = at[k] + h / 2 * a[k];
            rates(place, sigma, rho, beta, b);
            for (int k = 0; k < 3; k++) place[k] = at[k] + h / 2 * b[k];
            rates(place, sigma, rho, beta, c);
            for (int k = 0; k < 3; k++) place[k] = at[k] + h * c[k];
            rates(place, sigma, rho, beta, d);
            for (int k = 0; k < 3; k++) at[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
        }
        x_after[s] = at[0];
        y_after[s] = at[1];
        z_after[s] = at[2];
    }
}
"""


def enzyme(call, systems, steps):
    sizes = f"constexpr int N = {systems}, STEPS = {steps};\n"

    def flow(x, y, z, parameters):
        return call(sizes + SOURCE, "flow", [((systems,), numpy.float64)] * 3, x, y, z, parameters)

    def loss(x, y, z, parameters, **_):
        return square(*flow(x, y, z, parameters))

    return {
        "run": lambda x, y, z, parameters, **_: dict(zip("xyz", flow(x, y, z, parameters))),
        **gradients.losses_of_jax(loss, "x", "y", "z", "parameters"),
    }

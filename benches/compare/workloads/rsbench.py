"""RSBench in small: the cross sections of `xsbench` from poles instead of tables, and the gradient of their mean square by all that is known
of the nuclides."""

import math

import numpy

from peers import gradients
from workloads import xsbench

TITLE = "RSBench, f64"
SIZES = {
    "small": dict(nuclides=68, windows=5, row=4, lookups=50),
    "w100_l10000": dict(nuclides=68, windows=100, row=10, lookups=10000),
}
TOLERANCE = 1e-6
PARAMETERS = ("poles", "residues", "background", "radius", "density")
WIDTH = 12.0
# Of the quadrature far away.
NEAR, FAR = (0.5124242247547685, 0.27525512860841095), (0.05176535879298782, 2.724744871391589)


def inputs(nuclides, windows, row, lookups):
    random = numpy.random.default_rng(1)
    bounds = numpy.concatenate([[0], numpy.cumsum(random.integers(row // 2, row + row // 2 + 1, size=nuclides * windows))])
    count = bounds[-1]
    made = xsbench.materials(random, nuclides, lookups)
    return {
        "poles": numpy.stack([random.random(count), -0.02 - 0.08 * random.random(count)], 1),
        "residues": random.uniform(-1, 1, size=(count, 3, 2)),
        "momentum": random.integers(0, 4, size=count, dtype=numpy.int32),
        "bounds": bounds.astype(numpy.int32),
        "background": random.random((nuclides, windows, 3)),
        "radius": random.random((nuclides, 4)),
        "edges": xsbench.bounds(),
        **made,
    }


def of_arrays(np, where, complex_, row):
    """The same in either system's arrays: each lookup goes through as many parts as the largest material has, and each of these through as
    many poles as the largest window has; what is not there is masked."""
    n = numpy.arange(1, 11)
    weights = (math.sqrt(math.pi) / 6 * numpy.exp(-((n * math.pi / 12) ** 2))).tolist()

    def faddeeva(z):
        square = z * z
        near = (z.real**2 + z.imag**2) < 36
        # Neither side may give what is not finite, or the derivative of the other is not.
        inner = where(near, z, 1.0 + 1.0j)
        turn = np.exp(12j * inner)
        series = 0
        for k, weight in enumerate(weights, 1):
            series = series + weight * ((-1) ** k * turn - 1) / ((k * math.pi) ** 2 - 144 * inner * inner)
        inner = 1j * (1 - turn) / (12 * inner) + 144j / math.sqrt(math.pi) * inner * series
        outer = where(near, 36.0 + 0.0j, square)
        outer = 1j * z * (NEAR[0] / (outer - NEAR[1]) + FAR[0] / (outer - FAR[1]))
        return where(near, inner, outer)

    def found(poles, residues, momentum, bounds, background, radius, edges, nuclide, density, material, energy):
        root = np.sqrt(energy)
        window = (energy * background.shape[1]).astype(int) if hasattr(energy, "astype") else (energy * background.shape[1]).long()
        part = edges[material][:, None] + np.arange(max(xsbench.PARTS))
        there = part < edges[material + 1][:, None]
        part = where(there, part, 0)
        n = nuclide[part]
        p = radius[n] * root[:, None, None]
        late = [0 * p[..., 0], np.arctan(p[..., 1]), np.arctan(3 * p[..., 2] / (3 - p[..., 2] ** 2))]
        last = p[..., 3]
        late.append(np.arctan(last * (15 - last**2) / (15 - 6 * last**2)))
        turn = 2 * (p - np.stack(late, -1))
        turns = complex_(np.cos(turn), -np.sin(turn))
        first = n * background.shape[1] + window[:, None]
        pole = bounds[first][..., None] + np.arange(row + row // 2)
        here = there[..., None] & (pole < bounds[first + 1][..., None])
        pole = where(here, pole, 0)
        shape = faddeeva(WIDTH * (root[:, None, None] - complex_(poles[pole, 0], poles[pole, 1])))
        lookup, inside = np.arange(n.shape[0])[:, None, None], np.arange(n.shape[1])[:, None]
        turned = shape * turns[lookup, inside, momentum[pole]]
        residue = complex_(residues[pole, :, 0], residues[pole, :, 1])
        waves = np.stack([turned, shape, shape], -1)
        resonances = where(here[..., None], (residue * waves).real, 0.0).sum(2)
        density = where(there, density[part], 0.0)
        rest = energy[:, None, None] * background[n, window[:, None]]
        return (density[..., None] * (rest + resonances)).sum(1)

    return found


def jax(row, **_):
    import jax
    import jax.numpy as jnp

    found = of_arrays(jnp, jnp.where, jax.lax.complex, row)

    def loss(**inputs):
        return (found(**inputs) ** 2).sum(1).mean()

    return {"run": lambda **inputs: {"found": found(**inputs)}, **gradients.losses_of_jax(loss, *PARAMETERS)}


def torch(compiled, row, **_):
    import torch

    def where(condition, a, b):
        return torch.where(condition, a, torch.tensor(b, dtype=a.dtype) if not isinstance(b, torch.Tensor) else b)

    # What is complex is not compiled well.
    def choose(condition, a, b):
        if not isinstance(a, torch.Tensor):
            a = torch.tensor(a, dtype=b.dtype)
        return where(condition, a, b)

    found = of_arrays(torch, choose, torch.complex, row)

    def loss(**inputs):
        return (found(**inputs) ** 2).sum(1).mean()

    return {
        "run": gradients.run_of_torch(lambda **inputs: {"found": found(**inputs)}),
        **gradients.losses_of_torch(loss, *PARAMETERS),
    }


SOURCE = """
extern "C" double exp(double);
extern "C" double sin(double);
extern "C" double cos(double);
extern "C" double sqrt(double);
extern "C" double atan(double);

struct Complex { double re, im; };
static inline Complex times(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static inline Complex over(Complex a, Complex b) {
    double square = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
}

static inline Complex faddeeva(Complex z) {
    const double pi = 3.14159265358979323846;
    Complex square = times(z, z);
    if (z.re * z.re + z.im * z.im >= 36.0) {
        Complex near = over({0.5124242247547685, 0}, {square.re - 0.27525512860841095, square.im});
        Complex far = over({0.05176535879298782, 0}, {square.re - 2.724744871391589, square.im});
        return times({-z.im, z.re}, {near.re + far.re, near.im + far.im});
    }
    double size = exp(-12.0 * z.im);
    Complex turn = {size * cos(12.0 * z.re), size * sin(12.0 * z.re)};
    Complex first = over({turn.im, 1.0 - turn.re}, {12.0 * z.re, 12.0 * z.im});
    Complex series = {0, 0};
    for (int k = 1; k <= 10; k++) {
        double weight = sqrt(pi) / 6.0 * exp(-(k * pi / 12.0) * (k * pi / 12.0));
        double sign = k % 2 == 0 ? 1.0 : -1.0;
        Complex term = over({sign * turn.re - 1.0, sign * turn.im}, {k * pi * k * pi - 144.0 * square.re, -144.0 * square.im});
        series.re += weight * term.re;
        series.im += weight * term.im;
    }
    Complex product = times(z, series);
    double scale = 144.0 / sqrt(pi);
    return {first.re - scale * product.im, first.im + scale * product.re};
}

static inline Complex phase(double radius, double root, int momentum) {
    double p = radius * root, late = 0;
    if (momentum == 1) late = atan(p);
    if (momentum == 2) late = atan(3 * p / (3 - p * p));
    if (momentum == 3) late = atan(p * (15 - p * p) / (15 - 6 * p * p));
    return {cos(2 * (p - late)), -sin(2 * (p - late))};
}

void lookups(
    enzyme::tensor<double, L, 3>& found, const enzyme::tensor<double, POLES, 2>& poles, const enzyme::tensor<double, POLES, 3, 2>& residues,
    const enzyme::tensor<double, POLES>& momentum, const enzyme::tensor<double, N * W + 1>& bounds, const enzyme::tensor<double, N, W, 3>& background,
    const enzyme::tensor<double, N, 4>& radius, const enzyme::tensor<double, 13>& edges, const enzyme::tensor<double, P>& nuclide,
    const enzyme::tensor<double, P>& density, const enzyme::tensor<double, L>& material, const enzyme::tensor<double, L>& energy
) {
    // Enzyme's package has no derivatives of calls with whole numbers, so that they come as floats.
    for (int l = 0; l < L; l++) {
        int m = (int)material[l];
        double root = sqrt(energy[l]), sum[3] = {0, 0, 0};
        int w = (int)(energy[l] * W);
        for (int p = (int)edges[m]; p < (int)edges[m + 1]; p++) {
            int n = (int)nuclide[p];
            Complex turns[4];
            for (int j = 0; j < 4; j++) turns[j] = phase(radius[n][j], root, j);
            double section[3];
            for (int r = 0; r < 3; r++) section[r] = energy[l] * background[n][w][r];
            for (int k = (int)bounds[n * W + w]; k < (int)bounds[n * W + w + 1]; k++) {
                Complex shape = faddeeva({12.0 * (root - poles[k][0]), -12.0 * poles[k][1]});
                Complex turned = times(shape, turns[(int)momentum[k]]);
                section[0] += residues[k][0][0] * turned.re - residues[k][0][1] * turned.im;
                section[1] += residues[k][1][0] * shape.re - residues[k][1][1] * shape.im;
                section[2] += residues[k][2][0] * shape.re - residues[k][2][1] * shape.im;
            }
            for (int r = 0; r < 3; r++) sum[r] += density[p] * section[r];
        }
        for (int r = 0; r < 3; r++) found[l][r] = sum[r];
    }
}
"""


def enzyme(call, nuclides, windows, lookups, **_):
    sizes = f"constexpr int N = {nuclides}, W = {windows}, L = {lookups}, P = {sum(xsbench.PARTS)};\n"

    def found(**inputs):
        source = f"constexpr int POLES = {len(inputs['poles'])};\n" + sizes + SOURCE
        names = ("poles", "residues", "momentum", "bounds", "background", "radius", "edges", "nuclide", "density", "material", "energy")
        (found,) = call(source, "lookups", [((lookups, 3), numpy.float64)], *(inputs[name].astype(float) for name in names))
        return found

    def loss(**inputs):
        return (found(**inputs) ** 2).sum(1).mean()

    return {"run": lambda **inputs: {"found": found(**inputs)}, **gradients.losses_of_jax(loss, *PARAMETERS)}

"""XSBench in small: macroscopic cross sections of materials at random energies, found by bisection in the tables of the material's nuclides,
and the gradient of their mean square by tables and densities."""

import numpy

from peers import gradients

TITLE = "XSBench, f64"
SIZES = {
    "small": dict(nuclides=68, entries=20, lookups=100),
    "e1000_l200000": dict(nuclides=68, entries=1000, lookups=200000),
}
TOLERANCE = 1e-8
PARAMETERS = ("sections", "density")
# How many nuclides the suite's twelve materials are made of, and how likely a neutron is in each.
PARTS = [34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9]
LIKELY = [0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.012]


def materials(random, nuclides, lookups):
    """Who is in what, and who asks."""
    return {
        "nuclide": numpy.concatenate([random.permutation(nuclides)[:count] for count in PARTS]).astype(numpy.int32),
        "density": random.random(sum(PARTS)),
        "material": random.choice(len(PARTS), size=lookups, p=LIKELY).astype(numpy.int32),
        "energy": random.random(lookups),
    }


def bounds():
    return numpy.concatenate([[0], numpy.cumsum(PARTS)]).astype(numpy.int32)


def inputs(nuclides, entries, lookups):
    random = numpy.random.default_rng(1)
    energies = numpy.sort(random.random((nuclides, entries)), 1)
    energies[:, 0], energies[:, -1] = 0, 1
    return {
        "energies": energies,
        "sections": random.random((nuclides, entries, 5)),
        "bounds": bounds(),
        **materials(random, nuclides, lookups),
    }


def of_arrays(np, where, halvings):
    """The same in either system's arrays: each lookup goes through as many parts as the largest material has, most of them masked."""

    def found(energies, sections, bounds, nuclide, density, material, energy):
        first, end = bounds[material], bounds[material + 1]
        part = first[:, None] + np.arange(max(PARTS))
        there = part < end[:, None]
        part = where(there, part, 0)
        n = nuclide[part]
        e = energy[:, None]
        low = np.zeros_like(n)
        high = low + (energies.shape[1] - 1)
        for _ in range(halvings):
            middle = (low + high) // 2
            above = energies[n, middle] > e
            low, high = where(above, low, middle), where(above, middle, high)
            # Those that are there already stay.
            high = where(high > low, high, low + 1)
        share = (energies[n, low + 1] - e) / (energies[n, low + 1] - energies[n, low])
        under, over = sections[n, low], sections[n, low + 1]
        density = where(there, density[part], 0.0)
        return (density[:, :, None] * (over - share[:, :, None] * (over - under))).sum(1)

    return found


def jax(entries, **_):
    import jax.numpy as jnp

    found = of_arrays(jnp, jnp.where, (entries - 1).bit_length())

    def loss(**inputs):
        return (found(**inputs) ** 2).sum(1).mean()

    return {"run": lambda **inputs: {"found": found(**inputs)}, **gradients.losses_of_jax(loss, *PARAMETERS)}


def torch(compiled, entries, **_):
    import torch

    found = compiled(of_arrays(torch, torch.where, (entries - 1).bit_length()))

    def loss(**inputs):
        return (found(**inputs) ** 2).sum(1).mean()

    return {
        "run": gradients.run_of_torch(lambda **inputs: {"found": found(**inputs)}),
        **gradients.losses_of_torch(loss, *PARAMETERS),
    }


SOURCE = """
void lookups(
    enzyme::tensor<double, L, 5>& found, const enzyme::tensor<double, N, E>& energies, const enzyme::tensor<double, N, E, 5>& sections,
    const enzyme::tensor<double, 13>& bounds, const enzyme::tensor<double, P>& nuclide, const enzyme::tensor<double, P>& density,
    const enzyme::tensor<double, L>& material, const enzyme::tensor<double, L>& energy
) {
    // Enzyme's package has no derivatives of calls with whole numbers, so that they come as floats.
    for (int l = 0; l < L; l++) {
        int m = (int)material[l];
        double sum[5] = {0, 0, 0, 0, 0};
        for (int p = (int)bounds[m]; p < (int)bounds[m + 1]; p++) {
            int n = (int)nuclide[p], low = 0, high = E - 1;
            while (high - low > 1) {
                int middle = (low + high) / 2;
                if (energies[n][middle] > energy[l]) high = middle; else low = middle;
            }
            double share = (energies[n][low + 1] - energy[l]) / (energies[n][low + 1] - energies[n][low]);
            for (int r = 0; r < 5; r++) {
                double over = sections[n][low + 1][r];
                sum[r] += density[p] * (over - share * (over - sections[n][low][r]));
            }
        }
        for (int r = 0; r < 5; r++) found[l][r] = sum[r];
    }
}
"""


def enzyme(call, nuclides, entries, lookups):
    sizes = f"constexpr int N = {nuclides}, E = {entries}, L = {lookups}, P = {sum(PARTS)};\n"

    def found(energies, sections, bounds, nuclide, density, material, energy):
        arguments = (energies, sections, bounds.astype(float), nuclide.astype(float), density, material.astype(float), energy)
        (found,) = call(sizes + SOURCE, "lookups", [((lookups, 5), numpy.float64)], *arguments)
        return found

    def loss(**inputs):
        return (found(**inputs) ** 2).sum(1).mean()

    return {"run": lambda **inputs: {"found": found(**inputs)}, **gradients.losses_of_jax(loss, *PARAMETERS)}

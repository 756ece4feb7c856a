"""Fluids by the lattice Boltzmann method for each system: a step streams every velocity's share by one place, all around the edges,
then lets it relax; on solid places it goes back."""

import numpy

from peers import gradients


class Lattice:
    """Velocities (their moves along each axis), which of them is the opposite, their shares at rest, and how fast a fluid relaxes."""

    def __init__(self, moves, back, weights, omega, dtype):
        self.moves = numpy.array(moves)
        self.back = numpy.array(back)
        self.weights = numpy.array(weights, dtype)
        self.omega = omega
        self.dtype = dtype

    def inputs(self, places, steps):
        random = numpy.random.default_rng(1)
        ways = len(self.back)
        return {
            "start": (self.weights * (0.95 + 0.1 * random.random((*places, ways)))).astype(self.dtype),
            "solid": random.random(places) < 0.05,
            "steps": numpy.array([steps], numpy.int32),
        }

    def jax(self, places, steps):
        import jax
        import jax.numpy as jnp

        axes = tuple(range(len(places)))
        moves = self.moves.astype(self.dtype)
        wide = (slice(None),) + (None,) * len(places)

        # Velocities first: shares of neighbouring places are then next to each other.
        def flow(start, solid):
            def step(f, _):
                came = jnp.stack([jnp.roll(f[q], tuple(move), axes) for q, move in enumerate(self.moves)])
                density = came.sum(0)
                u = jnp.tensordot(moves.T, came, 1) / density
                along = jnp.tensordot(moves, u, 1)
                rest = 1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(0)
                after = came + self.omega * (self.weights[wide] * density * rest - came)
                return jnp.where(solid, came[self.back], after), None

            last = jax.lax.scan(step, jnp.moveaxis(start, -1, 0), None, length=steps)[0]
            return jnp.moveaxis(last, 0, -1)

        def loss(start, solid, **_):
            return ((flow(start, solid) @ moves) ** 2).sum()

        return {
            "run": lambda start, solid, **_: {"fluid": flow(start, solid)},
            **gradients.losses_of_jax(loss, "start"),
        }

    def torch(self, compiled, places, steps):
        import torch

        axes = tuple(range(len(places)))
        moves = torch.from_numpy(self.moves.astype(self.dtype))
        back = torch.from_numpy(self.back)
        weights = torch.from_numpy(self.weights).reshape(-1, *[1] * len(places))

        # A step: a loop of many would be unrolled.
        @compiled
        def step(f, solid):
            came = torch.stack([torch.roll(f[q], tuple(int(x) for x in move), axes) for q, move in enumerate(self.moves)])
            density = came.sum(0)
            u = torch.tensordot(moves.T, came, 1) / density
            along = torch.tensordot(moves, u, 1)
            rest = 1 + 3 * along + 4.5 * along**2 - 1.5 * (u**2).sum(0)
            after = came + self.omega * (weights * density * rest - came)
            return torch.where(solid, came[back], after)

        def flow(start, solid):
            f = torch.movedim(start, -1, 0).contiguous()
            for _ in range(steps):
                f = step(f, solid)
            return torch.movedim(f, 0, -1)

        def loss(start, solid, **_):
            return ((flow(start, solid) @ moves) ** 2).sum()

        return {
            "run": gradients.run_of_torch(lambda start, solid, **_: {"fluid": flow(start, solid)}),
            **gradients.losses_of_torch(loss, "start"),
        }

    def source(self, places, steps):
        """Constants, then loops over places in any number of dimensions."""

        def braces(numbers):
            return "{" + ", ".join(repr(x) for x in numbers) + "}"

        moves = ", ".join(braces(move) for move in self.moves.tolist())
        real = "float" if self.dtype == numpy.float32 else "double"
        extents = ", ".join(map(str, places))
        loops = "".join(f"for (int i{k} = 0; i{k} < {n}; i{k}++) " for k, n in enumerate(places))
        index = "".join(f"[i{k}]" for k in range(len(places)))
        return f"""
            typedef {real} real;
            constexpr int WAYS = {len(self.back)}, DIMS = {len(places)}, PLACES = {numpy.prod(places)}, STEPS = {steps};
            constexpr int EXTENT[] = {{{extents}}};
            constexpr int MOVE[WAYS][DIMS] = {{{moves}}};
            constexpr int BACK[] = {braces(self.back.tolist())};
            constexpr real WEIGHT[] = {braces(self.weights.tolist())};
            constexpr real OMEGA = {self.omega};
            typedef enzyme::tensor<real, {extents}, WAYS> Fluid;
            typedef enzyme::tensor<real, {extents}> Rock;
            static void get(const Fluid& from, const Rock& rock, real* f, int* solid) {{
                int k = 0;
                {loops} {{
                    for (int q = 0; q < WAYS; q++) f[k * WAYS + q] = from{index}[q];
                    solid[k++] = (int)rock{index};
                }}
            }}
            static void put(const real* f, Fluid& into) {{
                int k = 0;
                {loops} {{
                    for (int q = 0; q < WAYS; q++) into{index}[q] = f[k * WAYS + q];
                    k++;
                }}
            }}
        """ + STEP

    def enzyme(self, call, places, steps):
        # Enzyme's package has no derivatives of calls with whole numbers, so that what is solid comes as floats.
        moves = self.moves.astype(self.dtype)
        source = self.source(places, steps)
        shape = (*places, len(self.back))

        def flow(start, solid):
            (fluid,) = call(source, "run", [(shape, self.dtype)], start, solid.astype(self.dtype))
            return fluid

        def loss(start, solid, **_):
            return ((flow(start, solid) @ moves) ** 2).sum()

        return {
            "run": lambda start, solid, **_: {"fluid": flow(start, solid)},
            **gradients.losses_of_jax(loss, "start"),
        }


STEP = """
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);

static void step(const real* f, real* next, const int* solid) {
    // Outside of the loop, or the gradient is wrong.
    real came[WAYS], u[DIMS];
    int at[DIMS];
    for (int place = 0; place < PLACES; place++) {
        int left = place;
        for (int d = DIMS - 1; d >= 0; d--) {
            at[d] = left % EXTENT[d];
            left /= EXTENT[d];
        }
        real density = 0, square = 0;
        for (int q = 0; q < WAYS; q++) {
            int from = 0;
            for (int d = 0; d < DIMS; d++) {
                int k = at[d] - MOVE[q][d];
                if (k < 0) k += EXTENT[d];
                if (k >= EXTENT[d]) k -= EXTENT[d];
                from = from * EXTENT[d] + k;
            }
            came[q] = f[from * WAYS + q];
        }
        for (int q = 0; q < WAYS; q++) density += came[q];
        for (int d = 0; d < DIMS; d++) {
            real sum = 0;
            for (int q = 0; q < WAYS; q++) sum += MOVE[q][d] * came[q];
            u[d] = sum;
        }
        for (int d = 0; d < DIMS; d++) {
            u[d] /= density;
            square += u[d] * u[d];
        }
        for (int q = 0; q < WAYS; q++) {
            real along = 0;
            for (int d = 0; d < DIMS; d++) along += MOVE[q][d] * u[d];
            real rest = 1 + 3 * along + real(4.5) * along * along - real(1.5) * square;
            real after = came[q] + OMEGA * (WEIGHT[q] * density * rest - came[q]);
            if (solid[place]) next[place * WAYS + q] = came[BACK[q]]; else next[place * WAYS + q] = after;
        }
    }
}

void run(Fluid& out, const Fluid& start, const Rock& rock) {
    real* f = (real*)malloc(sizeof(real) * PLACES * WAYS);
    real* next = (real*)malloc(sizeof(real) * PLACES * WAYS);
    int* solid = (int*)malloc(sizeof(int) * PLACES);
    get(start, rock, f, solid);
    for (int s = 0; s < STEPS / 2; s++) {
        step(f, next, solid);
        step(next, f, solid);
    }
    if (STEPS % 2) step(f, next, solid);
    put(STEPS % 2 ? next : f, out);
    free(solid);
    free(next);
    free(f);
}
"""

"""What `cargo run --release -p pointful-benches --bin library` is compared with: the same by JAX and
SciPy, the least time of a few calls. Words of names choose.

    pip install numpy==2.4.6 scipy==1.17.1 jax==0.10.2 jaxlib==0.10.2
    python3 library.py
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.special

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)


def measure(name, call):
    words = sys.argv[1:]
    if words and not any(word in name for word in words):
        return
    call()
    start, least, calls = time.perf_counter(), float("inf"), 0
    while calls < 3 or calls < 15 and time.perf_counter() - start < 3:
        before = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - before)
        calls += 1
    print(f"{name:24} {least * 1e3:9.3f} ms", flush=True)


def by_jax(name, function, *args):
    compiled = jax.jit(function)
    args = [jax.device_put(arg) for arg in args]
    measure(name + ", JAX", lambda: jax.block_until_ready(compiled(*args)))


n = 1000
general = rng.random((n, n)) - 0.5
definite = general[:, :8] @ general[:, :8].T + np.eye(n)
b = rng.random(n) - 0.5
by_jax("cholesky", jnp.linalg.cholesky, definite)
by_jax("cholesky, gradient", jax.grad(lambda a: jnp.linalg.cholesky(a).sum()), definite)
by_jax("lu", jax.scipy.linalg.lu, general)
by_jax("solve", jnp.linalg.solve, general, b)
by_jax("solve, gradient", jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1)), general, b)
by_jax("inverse", jnp.linalg.inv, general)
by_jax("qr", jnp.linalg.qr, general)
by_jax("qr, gradient", jax.grad(lambda a: sum(x.sum() for x in jnp.linalg.qr(a))), general)
measure("cholesky, SciPy", lambda: scipy.linalg.cholesky(definite))
measure("lu, SciPy", lambda: scipy.linalg.lu(general))
measure("qr, SciPy", lambda: scipy.linalg.qr(general, mode="economic"))

many = 1_000_000
threes, sides = rng.random((many, 3, 3)) - 0.5, rng.random((many, 3)) - 0.5


def solutions(a, b):
    return jnp.linalg.solve(a, b[..., None])[..., 0]


by_jax("solve 3", solutions, threes, sides)
by_jax("solve 3, gradient", jax.grad(lambda a, b: solutions(a, b).sum(), (0, 1)), threes, sides)
measure("solve 3, NumPy", lambda: np.linalg.solve(threes, sides[..., None]))

count = 10_000_000
x, y = 6 * (rng.random(count) - 0.5), 20 * rng.random(count)
erf, ln_gamma = jax.scipy.special.erf, jax.scipy.special.gammaln
by_jax("erf", erf, x)
by_jax("erf, gradient", jax.grad(lambda x: erf(x).sum()), x)
by_jax("ln_gamma", ln_gamma, y)
by_jax("ln_gamma, gradient", jax.grad(lambda y: ln_gamma(y).sum()), y)
by_jax("normal", lambda key, x: x + jax.random.normal(key, (count,), jnp.float64), jax.random.key(0), x)
measure("erf, SciPy", lambda: scipy.special.erf(x))
measure("ln_gamma, SciPy", lambda: scipy.special.gammaln(y))
measure("normal, NumPy", lambda: x + rng.standard_normal(count))

images = np.float32(rng.random((8, 16, 64, 64)) - 0.5)
kernels = np.float32(rng.random((32, 16, 3, 3)) - 0.5)


def convolved(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")


by_jax("conv2", convolved, images, kernels)
by_jax("conv2, gradient", jax.grad(lambda x, w: 0.5 * (convolved(x, w) ** 2).sum(), (0, 1)), images, kernels)

"""Values of special functions with many digits, for the tests of `pointful::lib`.

    pip install mpmath==1.3.0
    python3 reference.py              # the files beside this script
    python3 reference.py 20000 DIR    # more arguments, for a folder that REFERENCES names
    python3 reference.py 120 DIR erf  # one function

Each line has the arguments, then the value as the sum of two doubles, so that errors of fractions
of the last place can be seen. All are the bits of doubles in hexadecimal. Every other line has
arguments that are numbers of `f32`, too.
"""

import random
import struct
import sys
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60


def bits(x):
    return struct.pack(">d", x).hex()


def single(x):
    """The nearest number of `f32`."""
    return struct.unpack(">f", struct.pack(">f", x))[0]


def around(middle, spread):
    return lambda r: r.gauss(middle, spread)


def between(low, high):
    return lambda r: r.uniform(low, high)


def magnitudes(low, high):
    """Powers of ten between those of two exponents."""
    return lambda r: 10 ** r.uniform(low, high)


def signed(f):
    return lambda r: r.choice((-1, 1)) * f(r)


def one_of(*samplers):
    return lambda r: r.choice(samplers)(r)


def one_less(f):
    return lambda r: 1 - f(r)


def integer(low, high):
    return lambda r: float(r.randint(low, high))


def shape_and_place(r):
    """`a`, and `x` some deviations from it, or anywhere."""
    a = one_of(magnitudes(-3, 6), between(0, 40))(r)
    if r.random() < 0.7:
        return a, abs(a + r.gauss(0, 6) * a**0.5)
    return a, one_of(magnitudes(-3, 3), between(0, 3))(r)


def shapes_and_place(r):
    """`a`, `b`, and `x` some deviations from the mean, or anywhere."""
    sampler = one_of(magnitudes(-2, 4), between(0, 20))
    a, b = sampler(r), sampler(r)
    if r.random() < 0.7:
        total = a + b
        x = a / total + r.gauss(0, 5) * (a * b / (total + 1)) ** 0.5 / total
        return a, b, min(abs(x), 2 - abs(x)) % 1
    return a, b, one_of(between(0, 1), magnitudes(-4, 0), one_less(magnitudes(-4, 0)))(r)


def part(r):
    """A pair `n`, `k` with `k` at most `n`."""
    n = 10 ** r.uniform(0, 9) if r.random() < 0.5 else r.uniform(1, 60)
    return n, r.uniform(0, n)


def quantile(p):
    """The inverse of the normal distribution, by Newton's method on its logarithm."""
    p = mp.mpf(p)
    if p == 0:
        return -mp.inf
    if p > 0.5:
        return -quantile(1 - p)
    if p > 0.01:
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    wanted = mp.log(p)
    x = -mp.sqrt(-2 * wanted - mp.log(-4 * mp.pi * wanted))
    while True:
        tail = mp.erfc(-x / mp.sqrt(2)) / 2
        step = (wanted - mp.log(tail)) * tail * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x += step
        if abs(step) < mp.mpf(10) ** -45:
            return x


def erfinv(x):
    if abs(x) < 0.5:
        return mp.erfinv(x)
    return quantile((1 + mp.mpf(x)) / 2) / mp.sqrt(2)


def ln_beta(a, b):
    a, b = mp.mpf(a), mp.mpf(b)
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def ln_binomial(n, k):
    n, k = mp.mpf(n), mp.mpf(k)
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def with_digits(f):
    """`f` with as many digits as leave 60 of the least of the results that it gives."""
    more = 10
    while True:
        with mp.workdps(mp.mp.dps + more):
            values = f()
        least = min(abs(v) for v in values)
        if least < 1e-300:
            if more > 300:
                raise ValueError("too small for all bits of a double")
            more = 310
            continue
        lost = 10 + int(-mp.log10(least))
        if lost <= more:
            return values
        more = lost


def gammas(a, x):
    """`P(a, x)`, `Q(a, x)` and the derivative of `P` by `a`, by the series of positive terms."""

    def series():
        p, y = mp.mpf(a), mp.mpf(x)
        front = mp.exp(p * mp.log(y) - y - mp.loggamma(p + 1))
        n, term, total, harmonic, slope = 0, mp.mpf(1), mp.mpf(1), mp.mpf(0), mp.mpf(0)
        while n + p < y or term > mp.eps * total:
            n += 1
            inverse = 1 / (p + n)
            term *= y * inverse
            harmonic -= inverse
            total += term
            slope += term * harmonic
        lower = front * total
        return lower, 1 - lower, lower * (mp.log(y) - mp.psi(0, p + 1)) + front * slope

    return with_digits(series)


def betas(a, b, x):
    """`I_x(a, b)` and its derivatives by `a` and `b`, by the series of positive terms at the nearer end."""

    def series(a, b, x):
        front = mp.exp(a * mp.log(x) + b * mp.log1p(-x) + mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b))
        n, term, total = 0, mp.mpf(1), mp.mpf(1)
        harmonic_a, harmonic_b, slope_a, slope_b = mp.mpf(0), mp.mpf(0), mp.mpf(0), mp.mpf(0)
        while (a + b + n) * x > 0.99 * (a + 1 + n) or term > mp.eps * total:
            above, below = a + b + n, a + 1 + n
            term *= above * x / below
            inverse = 1 / above
            harmonic_a += inverse - 1 / below
            harmonic_b += inverse
            total += term
            slope_a += term * harmonic_a
            slope_b += term * harmonic_b
            n += 1
        whole = mp.psi(0, a + b)
        by_a = total * (mp.log(x) - mp.psi(0, a + 1) + whole) + slope_a
        by_b = total * (mp.log1p(-x) - mp.psi(0, b) + whole) + slope_b
        return front * total, front * by_a, front * by_b

    def nearer():
        p, q, y = mp.mpf(a), mp.mpf(b), mp.mpf(x)
        if y < 0.5:
            return series(p, q, y)
        upper, by_b, by_a = series(q, p, 1 - y)
        return 1 - upper, -by_a, -by_b

    return with_digits(nearer)


POSITIVE = one_of(between(0, 3), between(0, 15), magnitudes(-8, 8), magnitudes(-300, 300))

FUNCTIONS = {
    "erf": (mp.erf, one_of(between(-6, 6), signed(magnitudes(-300, 1)))),
    "erfc": (mp.erfc, one_of(between(-6, 27.2), between(-1, 2), signed(magnitudes(-20, 0)))),
    "erfinv": (erfinv, one_of(between(-1, 1), signed(magnitudes(-300, 0)), signed(one_less(magnitudes(-15, 0))))),
    "normal_cdf": (lambda x: mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2, one_of(between(-38.4, 8), between(-3, 3))),
    "normal_quantile": (quantile, one_of(between(0, 1), magnitudes(-320, 0), one_less(magnitudes(-15, 0)))),
    "ln_gamma": (mp.loggamma, POSITIVE),
    "digamma": (lambda x: mp.psi(0, x), one_of(POSITIVE, around(1.4616321449683622, 1e-6))),
    "polygamma": (lambda n, x: mp.psi(int(n), x), integer(1, 4), one_of(between(0, 30), magnitudes(-3, 8))),
    "ln_beta": (ln_beta, *[one_of(between(0, 20), magnitudes(-3, 10))] * 2),
    "ln_binomial": (ln_binomial, part),
    "gammainc": (lambda a, x: gammas(a, x)[0], shape_and_place),
    "gammaincc": (lambda a, x: gammas(a, x)[1], shape_and_place),
    "gammainc_by_a": (lambda a, x: gammas(a, x)[2], shape_and_place),
    "betainc": (lambda a, b, x: betas(a, b, x)[0], shapes_and_place),
    "betainc_by_a": (lambda a, b, x: betas(a, b, x)[1], shapes_and_place),
    "betainc_by_b": (lambda a, b, x: betas(a, b, x)[2], shapes_and_place),
    "ln_gamma_of_negative": (lambda x: mp.log(abs(mp.gamma(x))), one_of(between(-40, 0), between(-3, 0))),
    "digamma_of_negative": (lambda x: mp.psi(0, x), one_of(between(-40, 0), between(-3, 0))),
}


def lines(name, count):
    f, *samplers = FUNCTIONS[name]
    r = random.Random(name)
    made = 0
    while made < count:
        arguments = []
        for sampler in samplers:
            sample = sampler(r)
            arguments += sample if isinstance(sample, tuple) else [sample]
        if made % 2:
            try:
                arguments = [single(x) for x in arguments]
            except OverflowError:
                continue
        try:
            value = mp.mpf(f(*arguments))
        except (ValueError, ZeroDivisionError):
            continue  # a pole, or too small
        high = float(value)
        if not mp.isfinite(value) or abs(high) == float("inf"):
            continue
        yield " ".join(bits(x) for x in [*arguments, high, float(value - high)])
        made += 1


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent
    for name in sys.argv[3:] or FUNCTIONS:
        text = "".join(line + "\n" for line in lines(name, count))
        (folder / f"{name}.txt").write_text(f"# {name} by mpmath {mp.__version__}\n{text}")


main()

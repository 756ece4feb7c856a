"""Prints the coefficients of the special functions of `pointful::lib` as constants of Rust.

    pip install mpmath==1.3.0
    python3 coefficients.py

Each function is interpolated by a quotient of polynomials at the Chebyshev points of an interval,
which is within a few times the best approximation there is. Above each stands the
greatest relative error of the quotient with coefficients rounded to doubles.
"""

import mpmath as mp

mp.mp.dps = 60
SMALL = mp.mpf(10) ** -20


def chebyshev_points(low, high, count):
    """The zeros of the Chebyshev polynomial of an interval."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle + half * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def interpolated(f, low, high, above, below):
    """Coefficients of numerator and denominator, whose constant term is 1."""
    count = above + below + 1
    system, right = mp.matrix(count, count), mp.matrix(count, 1)
    for row, x in enumerate(chebyshev_points(low, high, count)):
        y = f(x)
        for power in range(above + 1):
            system[row, power] = x**power
        for power in range(1, below + 1):
            system[row, above + power] = -y * x**power
        right[row] = y
    solution = mp.lu_solve(system, right)
    return list(solution[: above + 1]), [mp.mpf(1)] + list(solution[above + 1 :])


def value(coefficients, x):
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def error(f, above, below, low, high, beside):
    """The greatest error, relative to the value or to what it is added to."""
    above, below = ([mp.mpf(float(c)) for c in side] for side in (above, below))
    worst = mp.mpf(0)
    for x in chebyshev_points(low, high, 501):
        y = f(x)
        off = abs(value(above, x) / value(below, x) - y)
        worst = max(worst, off / (beside or abs(y)))
    return worst


def literal(c):
    """A double, its digits in groups of three."""
    sign, text = "-" if c < 0 else "", repr(abs(float(c)))
    mantissa, _, exponent = text.partition("e")
    whole, _, digits = mantissa.partition(".")
    groups = [digits[k : k + 3] for k in range(0, len(digits), 3)]
    return f"{sign}{int(whole):_}.{'_'.join(groups)}" + (f"e{int(exponent)}" if exponent else "")


def show(name, f, low, high, above, below=0, less=0, beside=0):
    """`less` is subtracted from a polynomial, and added again by who uses it, as `beside` is."""
    low, high = mp.mpf(low), mp.mpf(high)
    numerator, denominator = interpolated(f, low, high, above, below)
    worst = error(f, numerator, denominator, low, high, beside)
    numerator[0] -= less
    print(f"// {name} on {mp.nstr(low, 6)}..{mp.nstr(high, 6)}: 2^{mp.nstr(mp.log(worst, 2), 4)}")
    sides = [("", numerator)] if below == 0 else [("_ABOVE", numerator), ("_BELOW", denominator)]
    for suffix, side in sides:
        print(f"const {name}{suffix}: [f64; {len(side)}] = [")
        for c in side:
            print(f"    {literal(c)},")
        print("];")


def scaled_erfc(t):
    """(1 + 2x) exp(x²) erfc(x) with t = (x - 4) / (x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    if x > 10**8:
        return (1 + 2 * x) / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x))
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def quantile_of_tail(r):
    """The x beyond which a normal number is with probability exp(-r²), by Newton's method."""
    x = mp.sqrt(2 * r * r - mp.log(4 * mp.pi * r * r)) if r > 2 else 0.9 * mp.sqrt(2) * r
    while True:
        tail = mp.erfc(x / mp.sqrt(2)) / 2
        step = (mp.log(tail) + r * r) * tail * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x += step
        if abs(step) < mp.mpf(10) ** -50:
            return x


def main():
    show("ERF", lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s), SMALL, 1, 12, less=1)
    show("SCALED_ERFC", scaled_erfc, -1, 1 - mp.mpf(10) ** -9, 24)

    edge = mp.mpf("0.180625")
    linear = mp.sqrt(mp.pi) / 2
    excess = lambda x: mp.erfinv(x) / (linear * x) - 1
    show("CENTRAL", lambda r: excess(2 * mp.sqrt(edge - r)), 0, edge - SMALL, 9, 8, beside=1)
    near = mp.mpf("1.6")
    deficit = lambda r: quantile_of_tail(r) / mp.sqrt(2) - r
    show("TAIL", lambda z: deficit(z + near), 0, 5 - near, 9, 8, beside=near)
    show("FAR_TAIL", lambda z: deficit(z + 5), 0, 22.4, 10, 10, beside=5)

    by_zeros = lambda x: mp.loggamma(x) / ((x - 1) * (x - 2))
    show("LN_GAMMA_NEAR", lambda z: by_zeros(z + 0.75), 0, 1.75, 9, 9)
    show("LN_GAMMA_MIDDLE", lambda z: mp.loggamma(z + 2.5), 0, 5.5, 9, 9)
    zero = mp.findroot(lambda x: mp.psi(0, x), mp.mpf("1.46"))
    high = mp.mpf(float(zero))
    print(f"// The zero of digamma: {literal(high)} + {literal(zero - high)}")
    show("DIGAMMA_NEAR", lambda z: mp.psi(0, z + 1) / (z + 1 - zero), 0, 2, 7, 7)
    show("DIGAMMA_MIDDLE", lambda z: mp.psi(0, z + 3), 0, 9, 9, 9)
    show("TRIGAMMA_NEAR", lambda z: mp.psi(1, z + 1), 0, 2, 8, 8)
    show("TRIGAMMA_MIDDLE", lambda z: mp.psi(1, z + 3), 0, 9, 8, 8)

    # Series in w = 1/x², which cancel more digits than are wanted.
    mp.mp.dps = 80
    stirling = lambda x: (x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2
    least = mp.mpf(10) ** -12
    at = lambda f: lambda w: f(1 / mp.sqrt(w))
    show("STIRLING", at(lambda x: x * (mp.loggamma(x) - stirling(x))), least, mp.mpf(1) / 9, 8, 6)
    rest = lambda x: x**2 * (mp.log(x) - 1 / (2 * x) - mp.psi(0, x))
    show("DIGAMMA_FAR", at(rest), least, mp.mpf(1) / 144, 5)
    rest = lambda x: x**3 * (mp.psi(1, x) - 1 / x - 1 / (2 * x**2))
    show("TRIGAMMA_FAR", at(rest), least, mp.mpf(1) / 144, 5)


main()

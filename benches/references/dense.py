"""What dense linear algebra of `pointful::lib` is compared with: values with 50 digits.

    pip install mpmath==1.4.1 numpy==2.4.6 scipy==1.17.1
    python3 dense.py ../../pointful/tests/dense/references.txt

Matrices and vectors are made of integers by a formula that the test has as well, so only results are
stored. Each line is a function, a size, the sum of all elements of its result times weights of that
formula, and some elements by their numbers; floats are the bits of doubles in hexadecimal. Each
result is compared with SciPy's before it is written.
"""

import struct
import sys

import mpmath as mp
import numpy as np
import scipy.linalg

mp.mp.dps = 50
SIZES = [0, 1, 2, 3, 7, 17, 40]


def bits(x):
    return struct.pack(">d", float(x)).hex()


def number(k, seed):
    """A double in -1/2..1/2, exact in both languages: the remainder of a square."""
    return ((k * k * 7919 + k * 104729 + seed * 1299709 + 13) % 1009) / 1009 - 0.5


def matrix(rows, columns, seed):
    m = mp.matrix(rows, columns)
    for i in range(rows):
        for j in range(columns):
            m[i, j] = number(i * columns + j, seed)
    return m


def vector(n, seed):
    return [mp.mpf(number(k, seed)) for k in range(n)]


def definite(n):
    """`m mᵀ` in doubles that are exact: integers over 2¹⁰, and 1 on the diagonal."""
    m = [[((i * 31 + j * 17 + i * j * 7) % 64 - 32) / 32 for j in range(n)] for i in range(n)]
    product = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            product[i, j] = sum(mp.mpf(m[i][k]) * m[j][k] for k in range(n)) + (i == j)
    return product


def rows(m):
    return [m[i, j] for i in range(m.rows) for j in range(m.cols)]


def eliminated(a, n):
    """`L`, `U`, rows and sign, with the first of the largest pivots."""
    w = [[a[i, j] for j in range(n)] for i in range(n)]
    order, sign = list(range(n)), 1
    for k in range(n):
        best = max(range(k, n), key=lambda i: (abs(w[i][k]), -i))
        if best != k:
            w[k], w[best] = w[best], w[k]
            order[k], order[best] = order[best], order[k]
            sign = -sign
        for i in range(k + 1, n):
            w[i][k] /= w[k][k]
            for j in range(k + 1, n):
                w[i][j] -= w[i][k] * w[k][j]
    lower = mp.matrix(n, n)
    upper = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            lower[i, j] = w[i][j] if j < i else mp.mpf(i == j)
            upper[i, j] = w[i][j] if i <= j else mp.mpf(0)
    return lower, upper, order, sign


def solved(a, b, n):
    lower, upper, order, _ = eliminated(a, n)
    y = [mp.mpf(0)] * n
    for i in range(n):
        y[i] = b[order[i]] - sum(lower[i, j] * y[j] for j in range(i))
    for i in reversed(range(n)):
        y[i] = (y[i] - sum(upper[i, j] * y[j] for j in range(i + 1, n))) / upper[i, i]
    return y


def orthogonal(a, m, n):
    """`Q` and `R` by Gram and Schmidt, twice, with a positive diagonal."""
    q = [[a[i, j] for i in range(m)] for j in range(n)]
    r = mp.matrix(n, n)
    for j in range(n):
        for _ in range(2):
            for k in range(j):
                share = sum(x * y for x, y in zip(q[k], q[j]))
                r[k, j] += share
                q[j] = [y - share * x for x, y in zip(q[k], q[j])]
        r[j, j] = mp.sqrt(sum(x * x for x in q[j]))
        q[j] = [x / r[j, j] for x in q[j]]
    return [q[j][i] for i in range(m) for j in range(n)], r


def doubles(m):
    return np.array([[float(m[i, j]) for j in range(m.cols)] for i in range(m.rows)]).reshape(m.rows, m.cols)


def same(name, n, ours, theirs):
    theirs = np.asarray(theirs, dtype=float).reshape(-1)
    ours = np.array([float(x) for x in ours])
    assert ours.shape == theirs.shape, (name, n)
    assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9), (name, n, ours, theirs)


def line(out, name, n, values, theirs):
    same(name, n, values, theirs)
    weighed = sum((x * number(k, 99) for k, x in enumerate(values)), mp.mpf(0))
    some = sorted({(k * 7919 + 5) % len(values) for k in range(6)}) if values else []
    out.write(" ".join([name, str(n), bits(weighed)] + [f"{k}:{bits(values[k])}" for k in some]) + "\n")


def main(path):
    with open(path, "w") as out:
        out.write("# By benches/references/dense.py, with mpmath %s and SciPy %s.\n" % (mp.__version__, scipy.__version__))
        for n in SIZES:
            m = n + 3
            a, tall, b, long = matrix(n, n, 1), matrix(m, n, 2), vector(n, 3), vector(m, 4)
            t = matrix(n, n, 5)
            for i in range(n):
                t[i, i] += 2
                for j in range(n):
                    if i != j:
                        t[i, j] /= 4
            spd = definite(n)
            da, db, dt, dspd = doubles(a), np.array([float(x) for x in b]), doubles(t), doubles(spd)
            dtall, dlong = doubles(tall), np.array([float(x) for x in long])
            low = mp.matrix(n, n)
            up = mp.matrix(n, n)
            for i in range(n):
                for j in range(n):
                    low[i, j] = t[i, j] if j <= i else mp.mpf(0)
                    up[i, j] = t[i, j] if i <= j else mp.mpf(0)
            for name, which, trans, lower in [
                ("solve_lower", low, 0, True),
                ("solve_upper", up, 0, False),
                ("solve_lower_t", low, 1, True),
                ("solve_upper_t", up, 1, False),
            ]:
                theirs = scipy.linalg.solve_triangular(dt, db, trans=trans, lower=lower) if n else []
                line(out, name, n, solved(which.T if trans else which, b, n), theirs)
            line(out, "cholesky", n, rows(mp.cholesky(spd)) if n else [], np.linalg.cholesky(dspd))
            lower, upper, order, sign = eliminated(a, n)
            if n:
                theirs = scipy.linalg.lu(da, p_indices=True)
                assert [order.index(i) for i in range(n)] == list(theirs[0])
            else:
                theirs = [[], [], []]
            line(out, "lu_l", n, rows(lower), theirs[1])
            line(out, "lu_u", n, rows(upper), theirs[2])
            line(out, "lu_p", n, [mp.mpf(k) for k in order], order)
            line(out, "solve", n, solved(a, b, n), np.linalg.solve(da, db))
            columns = [solved(a, [mp.mpf(i == j) for i in range(n)], n) for j in range(n)]
            line(out, "inverse", n, [columns[j][i] for i in range(n) for j in range(n)], np.linalg.inv(da))
            det = sign * mp.fprod(upper[i, i] for i in range(n))
            line(out, "det", n, [det], np.linalg.det(da))
            theirs = np.linalg.slogdet(da)
            line(out, "slogdet", n, [mp.sign(det), mp.log(abs(det))], [theirs[0], theirs[1]])
            q, r = orthogonal(tall, m, n)
            dq, dr = scipy.linalg.qr(dtall, mode="economic") if n else (np.zeros((m, 0)), np.zeros((0, 0)))
            signs = np.where(np.diag(dr) < 0, -1.0, 1.0)
            line(out, "qr_q", n, q, dq * signs)
            line(out, "qr_r", n, rows(r), dr * signs[:, None])
            image = [sum(q[i * n + j] * long[i] for i in range(m)) for j in range(n)]
            line(out, "lstsq", n, solved(r, image, n), np.linalg.lstsq(dtall, dlong, rcond=None)[0])


main(sys.argv[1])

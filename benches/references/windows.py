"""What convolutions and pools of `pointful::lib` are compared with, by SciPy.

    pip install numpy==2.4.6 scipy==1.17.1
    python3 windows.py ../../pointful/tests/windows/references.txt

Inputs are made of integers by a formula that the test has as well. Each line is a function, lengths
and options, then the shape of the result and the sum of its elements times weights of that formula, as
the bits of a double in hexadecimal.
"""

import itertools
import struct
import sys

import numpy as np
import scipy
import scipy.ndimage
import scipy.signal


def bits(x):
    return struct.pack(">d", float(x)).hex()


def numbers(shape, seed):
    k = np.arange(np.prod(shape), dtype=np.int64)
    return (((k * k * 7919 + k * 104729 + seed * 1299709 + 13) % 1009) / 1009 - 0.5).reshape(shape)


def correlated(x, w, stride, dilation, padding):
    """One channel after the other, with zeros between the elements of a kernel, then every n-th place."""
    x = np.pad(x, [(0, 0)] + [(p, p) for p in padding])
    spread = np.zeros(w.shape[:2] + tuple(d * (n - 1) + 1 for d, n in zip(dilation, w.shape[2:])))
    spread[(slice(None), slice(None)) + tuple(slice(None, None, d) for d in dilation)] = w
    if any(a < b for a, b in zip(x.shape[1:], spread.shape[2:])):
        shape = [max(0, (a - b) // s + 1) if a >= b else 0 for a, b, s in zip(x.shape[1:], spread.shape[2:], stride)]
        return np.zeros([w.shape[0]] + shape)
    y = [sum(scipy.signal.correlate(x[c], kernel[c], mode="valid", method="direct") for c in range(x.shape[0])) for kernel in spread]
    return np.array(y)[(slice(None),) + tuple(slice(None, None, s) for s in stride)]


def pooled(x, window, stride, largest):
    """A filter about each place, of which those are read that lie in the middle of a window."""
    f = scipy.ndimage.maximum_filter if largest else scipy.ndimage.uniform_filter
    places = []
    for n, size, step in zip(x.shape[1:], window, stride):
        places.append([o + size // 2 for o in range(0, n - size + 1, step)])
    if any(not p for p in places):
        return np.zeros([x.shape[0]] + [len(p) for p in places])
    return np.array([f(channel, size=window)[np.ix_(*places)] for channel in x])


def line(out, name, sizes, y):
    weighed = float(np.sum(y.reshape(-1) * numbers(y.size, 99))) if y.size else 0.0
    words = [name] + [str(n) for n in sizes] + ["x".join(str(n) for n in y.shape), bits(weighed)]
    out.write(" ".join(words) + "\n")


def main(path):
    with open(path, "w") as out:
        out.write("# By benches/references/windows.py, with NumPy %s and SciPy %s.\n" % (np.__version__, scipy.__version__))
        for n, r in itertools.product([0, 1, 2, 3, 7, 17, 40], [1, 2, 3, 5]):
            for stride, dilation, padding in [(1, 1, 0), (2, 1, 1), (3, 2, 4), (1, 3, 2)]:
                x, w = numbers((2, n), 1), numbers((3, 2, r), 2)
                line(out, "conv1", [n, r, stride, dilation, padding], correlated(x, w, [stride], [dilation], [padding]))
        for h, w, p, q in [(5, 7, 1, 1), (5, 7, 3, 2), (9, 4, 2, 3), (17, 12, 5, 3), (2, 9, 3, 3), (0, 4, 1, 2)]:
            for stride, dilation, padding in [((1, 1), (1, 1), (0, 0)), ((2, 1), (1, 2), (1, 0)), ((2, 3), (2, 1), (3, 2))]:
                x, k = numbers((2, h, w), 1), numbers((3, 2, p, q), 2)
                sizes = [h, w, p, q, *stride, *dilation, *padding]
                line(out, "conv2", sizes, correlated(x, k, stride, dilation, padding))
        for n, window, stride in itertools.product([0, 1, 2, 3, 7, 17, 40], [1, 2, 3, 5], [1, 2, 3]):
            x = numbers((2, n), 1)
            line(out, "max_pool1", [n, window, stride], pooled(x, [window], [stride], True))
            line(out, "mean_pool1", [n, window, stride], pooled(x, [window], [stride], False))
        for h, w, p, q, down, right in [(5, 7, 2, 2, 2, 2), (5, 7, 3, 1, 1, 2), (12, 9, 4, 5, 3, 1), (2, 9, 3, 2, 1, 1)]:
            x = numbers((2, h, w), 1)
            sizes = [h, w, p, q, down, right]
            line(out, "max_pool2", sizes, pooled(x, [p, q], [down, right], True))
            line(out, "mean_pool2", sizes, pooled(x, [p, q], [down, right], False))


main(sys.argv[1])

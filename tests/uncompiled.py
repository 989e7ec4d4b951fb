"""Every kernel on small data; prints what it found: `NUMBA_DISABLE_JIT=1 python -m tests.uncompiled`.

Run with and without compilation it prints the same: a test compares the two, and `make coverage` counts the lines of the
kernels where they run as Python. There new arrays hold NaN or huge numbers, so that a kernel that reads a cell before it
has written one gives another answer, as it may in machine code by what the memory held before.
"""

import json
import sys
import warnings

import numba
import numpy as np
import scipy.sparse

from bivaluate import Biclustering, evaluate
from bivaluate.algorithms._k_means import k_means
from bivaluate.algorithms.registry import ALGORITHMS, make_estimator
from bivaluate.measures import _mergers

CALLED = {key for key, algorithm in ALGORITHMS.items() if algorithm.extra} | {"nmf", "lda", "spectral", "spectral_co"}


def planted(rng, n, m):
    """Noise with a raised block, one of rows that rise and fall together, and one in which rows share an order."""
    X = rng.normal(size=(n, m))
    X[: n // 4, : m // 2] += 4
    X[n // 4 : n // 2, m // 3 :] += np.linspace(-5, 5, m - m // 3) * rng.uniform(0.5, 2, (n // 2 - n // 4, 1))
    X[-n // 4 :, : m // 2] = np.sort(X[-n // 4 :, : m // 2], axis=1) ** 3
    return X


def fits(rng):
    """Yield what each algorithm with kernels finds in data of its kind."""
    X = planted(rng, 40, 12)
    for key, algorithm in ALGORITHMS.items():
        if key in CALLED | {"coherent"}:
            continue
        data = np.round(np.abs(X)) if algorithm.nonnegative else (X > 1.5) * 1.0 if algorithm.binary else X
        forms = [data, scipy.sparse.csr_array(data)] if algorithm.sparse else [data]
        for values in forms:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = make_estimator(key, 3, random_state=0).fit(values).solution_
            yield key, [(b.rows.tolist(), b.cols.tolist()) for b in found]
    X = rng.normal(size=(40, 12))
    X[:12, :6] += 5 * rng.normal(size=6)
    found = make_estimator("coherent", 1, random_state=0, n_starts=4).fit(X).solution_
    yield "coherent", [(b.rows.tolist(), b.cols.tolist()) for b in found]
    wide = rng.normal(size=(12, 104))  # more columns than Cheng and Church delete one by one
    yield "cca", [b.shape for b in make_estimator("cca", 2, random_state=1).fit(wide).solution_]


def scores(rng):
    """Yield the scores of a solution of a matrix in several forms, from the kernels that large input has."""
    _mergers.KERNEL_CELLS = 0
    X = planted(rng, 60, 14)
    X[5] = 0.1
    pairs = [
        (range(15), range(7)),
        (range(10, 30), range(4, 14)),
        (range(40, 60), range(0, 14, 2)),
        (range(3, 9), range(2)),
    ]
    S = Biclustering(pairs, X.shape)
    counts = scipy.sparse.csr_array(np.where(X > 1, np.round(X), 0))
    gaps = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    careful = X + 1e8 * np.arange(14)
    for name, values, options in (
        ("dense", X, {}),
        ("careful", careful, {}),
        ("float32", X.astype(np.float32), {}),
        ("zeros", counts, {}),
        ("absent", counts, {"absent": "missing"}),
        ("gaps", gaps, {"missing": "omit"}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evaluate(values, S, **options)
        yield name, [found.scores["nve"], found.scores["nsr"], found.scores["cc"], found.scores["total_evidence"]]


def others(rng):
    """Yield what k-means gives."""
    for columns in (1, 2):
        labels, inertia = k_means(rng.normal(size=(30, columns)), 3, 4, seed=0)
        yield f"k-means in {columns} columns", [*labels.tolist(), inertia]


def poisoned(make):
    """Return `np.empty` or `np.empty_like` with cells nobody can take for an answer."""

    def made(*arguments, **options):
        array = make(*arguments, **options)
        if array.dtype.kind in "fiu":
            array.fill(np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).max // 3)
        return array

    return made


if __name__ == "__main__":
    if numba.config.DISABLE_JIT:
        np.empty, np.empty_like = poisoned(np.empty), poisoned(np.empty_like)
    found = [list(make(np.random.default_rng(0))) for make in (fits, scores)]
    found.append(list(others(np.random.default_rng(1))))
    json.dump(found, sys.stdout)

"""Every measure on 196 fixed cases, as recorded: an engine may be replaced, the scores may not move.

Twins say whether a score is right; this says whether it is the same as before. `python -m tests.measures.test_recorded`
records again, for changes of a definition. Measures of evidence are judged by their own tests.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, Matrix, evaluate
from bivaluate.registry import METRICS

RECORDED = Path(__file__).with_name("recorded.npz")
FORMS = ("dense", "Fortran", "float32", "sparse", "missing", "file", "Dask")
KINDS = ("noise", "planted", "counts", "offsets")
# rows and columns of the matrix, number of biclusters, their rows and columns: from a handful of cells to the kernels
SIZES = ((9, 6, 1, 5, 4), (24, 10, 3, 9, 5), (40, 16, 5, 12, 6), (90, 20, 8, 25, 8), (60, 40, 12, 15, 9),
         (150, 30, 20, 40, 8), (320, 44, 16, 110, 21))  # fmt: skip
CASES = [(form, kind, size) for form in FORMS for kind in KINDS for size in range(len(SIZES))]


class Rows:
    """A source of rows in a file of numbers, as anybody can write one."""

    sparse = False

    def __init__(self, path):
        self.cells = np.load(path, mmap_mode="r")
        self.shape, self.dtype = self.cells.shape, self.cells.dtype

    def rows(self, start, stop):
        return np.array(self.cells[start:stop])

    def take(self, rows):
        return np.array(self.cells[rows])


def drawn(seed, *shape):
    """Return numbers between 0 and 1, multiples of 2**-12, from bits that no version of NumPy draws otherwise."""
    bits = np.random.PCG64(seed).random_raw(int(np.prod(shape)))
    return (bits >> np.uint64(52)).astype(float).reshape(shape) / 4096


def cells_of(kind, seed, n, m):
    """Return a matrix whose cells float32 holds exactly."""
    X = drawn(seed, 4, n, m).sum(axis=0) - 2
    X[n // 3] = 0.75
    if kind == "planted":
        X[: n // 3, : m // 2] += 1.5
        X[n // 2 : n // 2 + n // 4, m // 4 : m // 2 + 2] += np.round(4096 * drawn(seed + 1, n // 4, 1)) / 2048
    elif kind == "counts":
        X = np.where(X > 0.6, np.ceil(4 * X), 0.0)
    elif kind == "offsets":
        X += np.round(400 * drawn(seed + 2, n, 1)) + np.round(50 * drawn(seed + 3, m))
    return X


def solution_of(seed, n, m, K, r, c):
    """Return biclusters that overlap; two alike, one of a single row and one of a single column where there are many."""
    pairs = []
    for k in range(K):
        first = drawn(seed + 10 + k, 4)
        height, width = (max(2, int(size * (0.6 + 0.8 * share))) for size, share in zip((r, c), first[:2], strict=True))
        order = np.argsort(drawn(seed + 50 + k, n), kind="stable"), np.argsort(drawn(seed + 90 + k, m), kind="stable")
        if k % 3 == 0:  # blocks of neighbours too
            order = np.roll(np.arange(n), -int(first[2] * n)), np.roll(np.arange(m), -int(first[3] * m))
        pairs.append((order[0][:height], order[1][:width]))
    if K >= 8:
        pairs[3:6] = [pairs[0], ([4], pairs[4][1]), (pairs[5][0], [3])]
    return Biclustering(pairs, (n, m))


def given(form, X, seed, folder):
    """Return the matrix in one of its forms, and options of `evaluate`."""
    if form == "Fortran":
        return np.asfortranarray(X), {}
    if form == "float32":
        return X.astype(np.float32), {}
    if form == "sparse":
        return scipy.sparse.csr_array(X), {}
    if form == "missing":
        return np.where(drawn(seed + 5, *X.shape) < 0.1, np.nan, X), {"missing": "omit"}
    if form == "file":
        np.save(folder / "x.npy", X)
        return Matrix(Rows(folder / "x.npy")), {}
    if form == "Dask":
        return pytest.importorskip("dask.array").from_array(X, chunks=(37, -1)), {}
    return X, {}


def scored(form, kind, size, keys, folder):
    """Return the scores of a case by key: a number, or one for each bicluster. Permutations take long: few cases."""
    n, m, K, r, c = SIZES[size]
    seed = 1000 * KINDS.index(kind) + 150 * size
    X, options = given(form, cells_of(kind, seed, n, m), seed, folder)
    solution = solution_of(seed, n, m, K, r, c)
    options |= {"degenerate": "formula" if size == 5 else "nan", "single": "matrix"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluate(X, solution, metrics=[k for k in keys if size < 1 or k != "p_permutation"], **options)
    found = result.scores | {key: [r[key] for r in result.records] for key in result.records[0]}
    return {key: found.get(key, np.nan) for key in keys}


def record(folder):
    """Write the scores of all cases."""
    keys = [key for key, metric in METRICS.items() if metric.function.__module__ != "bivaluate.chance.evidence"]
    values = [np.atleast_1d(value) for case in CASES for value in scored(*case, keys, folder).values()]
    np.savez_compressed(RECORDED, keys=keys, lengths=[len(v) for v in values], values=np.concatenate(values))


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORDED) as file:
        keys, parts = file["keys"].tolist(), np.split(file["values"], np.cumsum(file["lengths"])[:-1])
    return {case: dict(zip(keys, parts[k * len(keys) :], strict=False)) for k, case in enumerate(CASES)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_scores_are_those_recorded(case, recorded, tmp_path):
    keys = [key for key in recorded[case] if key in METRICS]
    assert len(keys) > 60
    found = scored(*case, keys, tmp_path)
    for key in keys:
        np.testing.assert_allclose(found[key], recorded[case][key], rtol=1e-12, atol=1e-12, err_msg=key)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        record(Path(temporary))

"""The same scores from every source of rows: in memory, by chunks, sparse, from a file."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from bivaluate import MatrixError, _rows
from bivaluate.matrix import Matrix
from bivaluate.measures._engine import two_pass
from bivaluate.measures._engine.two_pass import TwoPasses
from bivaluate.solution import Biclustering
from tests.reference import internal as naive


def overlapping(rng, shape, K=7):
    """Biclusters that share rows, repeat rows, repeat columns, contain each other, or have one row or column."""
    n, m = shape
    pairs = [
        (np.sort(rng.choice(n, n // 5, replace=False)), np.sort(rng.choice(m, m // 4, replace=False))) for _ in range(K)
    ]
    pairs += [pairs[0], (pairs[1][0], pairs[2][1]), (pairs[3][0][: n // 10], pairs[3][1])]
    return [*pairs, (np.array([4]), np.arange(5)), (np.arange(3, 9), np.array([2])), (np.arange(n), np.arange(m))]


def counts(rng, shape):
    X = rng.poisson(0.15, size=shape).astype(float)
    X[3:9] = 0.0
    X[10] = 2.0  # stored throughout, and constant
    X[11, ::2] = 1.0
    return X


class Chunks(_rows.ArraySource):
    """An array as a source of rows: read some at a time, whatever it holds."""

    def __init__(self, array):
        super().__init__(array)
        self.dtype = np.dtype(np.longdouble)


def by_chunks(X):
    """Return an array as something read some rows at a time."""
    return Matrix(Chunks(X))


def sources(X, folder):
    """Every form the same cells come in."""
    np.save(folder / "x.npy", X)
    yield "array", Matrix(X)
    yield "chunks", by_chunks(X)
    yield "Fortran", by_chunks(np.asfortranarray(X))
    yield "file", Matrix(_rows.FileSource.of_map(np.load(folder / "x.npy", mmap_mode="r")))
    yield "CSR", Matrix(scipy.sparse.csr_array(X))
    yield "CSC", Matrix(scipy.sparse.csc_matrix(X))


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(_rows, "CHUNK_CELLS", 500)


@pytest.mark.parametrize("make", [lambda rng, s: rng.normal(size=s), counts, lambda rng, s: counts(rng, s) * 1e200])
def test_every_source_gives_what_the_naive_twin_gives(make, tmp_path, small_chunks):
    rng = np.random.default_rng(3)
    X = make(rng, (120, 24))
    pairs = overlapping(rng, X.shape)
    solution = Biclustering(pairs, X.shape)
    expected = naive.mergers(X / np.abs(X).max(), pairs)
    array, constant = None, None
    for name, matrix in sources(X, tmp_path):
        made = TwoPasses(matrix, solution)
        ve, msr, constant = made.matrices()
        with np.errstate(over="ignore"):
            msr = msr / np.abs(X).max() / np.abs(X).max()
        np.testing.assert_allclose(ve, expected[0], rtol=1e-9, atol=1e-12, err_msg=name)
        if np.isfinite(msr).all():
            np.testing.assert_allclose(msr, expected[1], rtol=1e-9, atol=1e-12, err_msg=name)
        array = array or (ve, msr, constant)
        for found, first in zip((ve, msr, constant), array, strict=True):
            np.testing.assert_allclose(found, first, rtol=1e-12, atol=1e-15, err_msg=name)
        for alone, matrix in zip(made.blocks(), (ve, msr, constant), strict=True):
            if alone is not None and matrix is not msr:
                np.testing.assert_array_equal(alone, np.diag(matrix), err_msg=name)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.bool_])
def test_other_types_are_seen_as_they_are(dtype, small_chunks):
    rng = np.random.default_rng(5)
    X = rng.poisson(1.0, size=(90, 20)).astype(dtype)
    solution = Biclustering(overlapping(rng, X.shape), X.shape)
    expected = TwoPasses(Matrix(X.astype(np.float64)), solution).matrices()
    for form in (X, scipy.sparse.csr_array(X)):
        matrix = Matrix(_rows.ArraySource(form) if form is X else form)
        assert matrix.source.dtype == dtype
        for found, known in zip(TwoPasses(matrix, solution).matrices(), expected, strict=True):
            np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_chunks_threads_and_turns_change_nothing(sparse, monkeypatch):
    rng = np.random.default_rng(8)
    X = counts(rng, (200, 25)) + (0 if sparse else 1e7 * rng.normal(size=(200, 1)))
    solution = Biclustering(overlapping(rng, X.shape), X.shape)
    matrix = Matrix(scipy.sparse.csr_array(X)) if sparse else by_chunks(X)
    known = TwoPasses(matrix, solution, n_jobs=1).matrices()
    monkeypatch.setattr(two_pass, "CELLS_PER_THREAD", 100)
    for found, first in zip(TwoPasses(matrix, solution, 3).matrices(), known, strict=True):
        np.testing.assert_array_equal(found, first)
    monkeypatch.setattr(two_pass, "PATTERN_BYTES", 8_000)
    turns = TwoPasses(matrix, solution)
    assert len(list(turns._turns(False))) > 3
    for found, first in zip(turns.matrices(), known, strict=True):
        np.testing.assert_array_equal(found, first)
    for cells in (25, 300, 4000):
        monkeypatch.setattr(_rows, "CHUNK_CELLS", cells)
        for a, b in zip(TwoPasses(matrix, solution).matrices(), known, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def test_only_rows_in_use_are_read(small_chunks):
    class Watched(Chunks):
        read: list[int] = []  # noqa: RUF012

        def rows(self, start, stop):
            self.read.extend(range(start, stop))
            return super().rows(start, stop)

        def take(self, rows):
            self.read.extend(rows.tolist())
            return super().take(rows)

    X = np.random.default_rng(0).normal(size=(500, 30))
    solution = Biclustering([(range(40, 60), range(5)), ([55, 70, 300, 301], range(3, 9))], X.shape)
    TwoPasses(Matrix(Watched(X)), solution).matrices()
    assert sorted(Watched.read) == sorted([*range(40, 60), 70, 300, 301] * 2)


@pytest.mark.parametrize("read", [64, 1 << 21])
def test_scattered_rows_of_a_file_are_those_of_the_array(read, tmp_path, monkeypatch):
    monkeypatch.setattr(_rows, "_READ_BYTES", read)
    monkeypatch.setattr(_rows, "_GAP_BYTES", 2 * read)
    X = np.arange(700.0).reshape(100, 7).astype(np.float32)
    X.tofile(tmp_path / "x.bin")
    source = _rows.FileSource(tmp_path / "x.bin", np.float32, X.shape)
    for rows in ([0, 99], [3, 4, 5, 50, 52, 97, 98], range(100), [7], []):
        chosen = np.array(rows, dtype=np.int64)
        np.testing.assert_array_equal(source.take(chosen), X[chosen])
    np.testing.assert_array_equal(source.rows(5, 9), X[5:9])
    (tmp_path / "x.bin").write_bytes(X.tobytes()[:-3])
    with pytest.raises(MatrixError, match="ends within row 99 "):
        source.take(np.array([1, 98, 99]))

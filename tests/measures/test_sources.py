"""The same scores from every source of rows: in memory, by chunks, sparse, from a file."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, Matrix, MatrixError
from bivaluate.measures.workspace import Workspace
from tests.reference import internal as naive
from tests.sources import Own, as_it_is, in_file


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


def sources(X, folder):
    """Every form the same cells come in."""
    yield "array", Matrix(X)
    yield "chunks", Matrix(Own(X))
    yield "Fortran", Matrix(Own(np.asfortranarray(X)))
    yield "file", in_file(X, folder / "x.npy")
    yield "CSR", Matrix(scipy.sparse.csr_array(X))
    yield "CSC", Matrix(scipy.sparse.csc_matrix(X))


def mergers(matrix, solution, **options):
    """VE, MSR and constant rows of all mergers."""
    work = Workspace.of(matrix, solution, **options)
    return *work.mergers, work.merged_constant_rows


@pytest.fixture(autouse=True)
def always_large(limits):
    limits(KERNEL_CELLS=0)
    limits("measures", CHUNK_CELLS=0)


@pytest.fixture
def small_chunks(limits):
    limits(CHUNK_CELLS=500)


@pytest.mark.parametrize("make", [lambda rng, s: rng.normal(size=s), counts, lambda rng, s: counts(rng, s) * 1e200])
def test_every_source_gives_what_the_naive_twin_gives(make, tmp_path, small_chunks):
    rng = np.random.default_rng(3)
    X = make(rng, (120, 24))
    pairs = overlapping(rng, X.shape)
    solution = Biclustering(pairs, X.shape)
    expected = naive.mergers(X / np.abs(X).max(), pairs)
    array, constant = None, None
    for name, matrix in sources(X, tmp_path):
        ve, msr, constant = mergers(matrix, solution)
        with np.errstate(over="ignore"):
            msr = msr / np.abs(X).max() / np.abs(X).max()
        np.testing.assert_allclose(ve, expected[0], rtol=1e-9, atol=1e-12, err_msg=name)
        if np.isfinite(msr).all():
            np.testing.assert_allclose(msr, expected[1], rtol=1e-9, atol=1e-12, err_msg=name)
        array = array or (ve, msr, constant)
        for found, first in zip((ve, msr, constant), array, strict=True):
            np.testing.assert_allclose(found, first, rtol=1e-12, atol=1e-15, err_msg=name)
        alone = Workspace.of(matrix, solution)  # asked for no mergers
        np.testing.assert_array_equal(alone.ve, np.diag(ve), err_msg=name)
        np.testing.assert_array_equal(alone.constant_rows, np.diag(constant), err_msg=name)
        np.testing.assert_array_equal(alone.mergers[0], ve, err_msg=name)  # asked for afterwards


def test_mergers_asked_for_after_their_biclusters_are_the_same():
    X = np.random.default_rng(4).normal(size=(60, 12))
    for second in (range(30, 50), range(10, 50)):  # that share no rows, and that do
        solution = Biclustering([(range(20), range(5)), (second, range(4, 11))], X.shape)
        work = Workspace.of(X, solution)
        alone = work.ve
        np.testing.assert_array_equal(work.mergers[0], mergers(X, solution)[0])
        np.testing.assert_array_equal(alone, np.diag(work.mergers[0]))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.bool_])
def test_other_types_are_seen_as_they_are(dtype, small_chunks):
    rng = np.random.default_rng(5)
    X = rng.poisson(1.0, size=(90, 20)).astype(dtype)
    solution = Biclustering(overlapping(rng, X.shape), X.shape)
    expected = mergers(Matrix(X.astype(np.float64)), solution)
    for matrix in (as_it_is(X), Matrix(scipy.sparse.csr_array(X))):
        assert matrix.source.dtype == dtype
        for found, known in zip(mergers(matrix, solution), expected, strict=True):
            np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_chunks_threads_and_turns_change_nothing(sparse, limits):
    rng = np.random.default_rng(8)
    X = counts(rng, (200, 25)) + (0 if sparse else 1e7 * rng.normal(size=(200, 1)))
    solution = Biclustering(overlapping(rng, X.shape), X.shape)
    source = Own(X)
    matrix = Matrix(scipy.sparse.csr_array(X) if sparse else source)
    known = mergers(matrix, solution, n_jobs=1)
    once = len(source.read)
    limits(CELLS_PER_THREAD=100)
    for found, first in zip(mergers(matrix, solution, n_jobs=3), known, strict=True):
        np.testing.assert_array_equal(found, first)
    limits(PATTERN_BYTES=8_000)
    source.read.clear()
    for found, first in zip(mergers(matrix, solution), known, strict=True):
        np.testing.assert_array_equal(found, first)
    assert sparse or len(source.read) > 2 * once, "read in turns"
    for cells in (25, 300, 4000):
        limits(CHUNK_CELLS=cells)
        for a, b in zip(mergers(matrix, solution), known, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def test_only_rows_in_use_are_read(small_chunks):
    X = np.random.default_rng(0).normal(size=(500, 30))
    solution = Biclustering([(range(40, 60), range(5)), ([55, 70, 300, 301], range(3, 9))], X.shape)
    source = Own(X)
    mergers(Matrix(source), solution)
    assert sorted(source.read) == sorted([*range(40, 60), 70, 300, 301] * 2)


@pytest.mark.parametrize("read", [64, 1 << 21])
def test_scattered_rows_of_a_file_are_those_of_the_array(read, tmp_path, limits):
    limits(_READ_BYTES=read, _GAP_BYTES=2 * read)
    X = np.arange(700.0).reshape(100, 7).astype(np.float32)
    source = in_file(X, tmp_path / "x.npy").source
    for rows in ([0, 99], [3, 4, 5, 50, 52, 97, 98], range(100), [7], []):
        chosen = np.array(rows, dtype=np.int64)
        np.testing.assert_array_equal(source.take(chosen), X[chosen])
    np.testing.assert_array_equal(source.rows(5, 9), X[5:9])
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-3])
    with pytest.raises(MatrixError, match="ends within row 99 "):
        source.take(np.array([1, 98, 99]))

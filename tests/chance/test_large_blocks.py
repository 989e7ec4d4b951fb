"""Evidence of blocks that are looked at some rows at a time is that of blocks held whole."""

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, Matrix, _rows, evidence_table
from bivaluate import matrix as matrices
from bivaluate._rows import FileSource
from bivaluate.chance import _large_blocks
from bivaluate.measures import _mergers as mergers
from tests.chance.test_evidence import planted

KINDS = ["raised", "additive", "row-affine", "order-preserving"]


def overlapping(kind):
    """A block of a kind, one that shares cells with it, and one of noise."""
    X, truth = planted(kind, shape=(120, 24), rows=30, cols=9)
    X[26:50, 7:14] += 2 * np.random.default_rng(1).normal(size=7)
    pairs = [(truth[0].rows, truth[0].cols), (range(26, 50), range(7, 14)), (range(60, 119, 2), range(12, 20))]
    return X, Biclustering(pairs, X.shape)


@pytest.fixture(autouse=True)
def always_compiled(monkeypatch):
    monkeypatch.setattr(mergers, "KERNEL_CELLS", 0)
    monkeypatch.setattr(mergers, "COMPILED_CELLS", 0)


@pytest.fixture
def short_chunks(monkeypatch):
    for place in (_rows, matrices):
        monkeypatch.setattr(place, "CHUNK_CELLS", 150)


def same(found, expected):
    np.testing.assert_allclose(found.gain, expected.gain, rtol=1e-9)
    np.testing.assert_allclose(found.alone, expected.alone, rtol=1e-9)
    assert (found.kinds, found.order, found.reasons) == (expected.kinds, expected.order, expected.reasons)
    assert found.total == pytest.approx(expected.total, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_same_evidence_from_a_file(kind, gaps, tmp_path, request, monkeypatch):
    X, solution = overlapping(kind)
    if gaps:
        X[np.random.default_rng(3).random(X.shape) < 0.07] = np.nan
    X.tofile(tmp_path / "x.bin")
    expected = evidence_table(X, solution, missing="omit")
    request.getfixturevalue("short_chunks")
    held = []
    block = Matrix.block
    monkeypatch.setattr(
        Matrix, "block", lambda self, rows, cols, *a: held.append(len(rows)) or block(self, rows, cols, *a)
    )
    for kept in (0, 1 << 20):
        monkeypatch.setattr(_large_blocks, "_KEPT_BYTES", kept)
        same(evidence_table(FileSource(tmp_path / "x.bin", float, X.shape), solution, missing="omit"), expected)
    assert not held
    if not gaps:
        assert expected.kinds[0] == kind


@pytest.mark.parametrize("normalise", ["none", "rank"])
def test_the_same_evidence_from_entries(normalise, request):
    rng = np.random.default_rng(11)
    X = rng.poisson(0.4, size=(140, 30)).astype(float)
    X[:50, :8] += rng.poisson(3.0, size=(50, 8))
    solution = Biclustering(
        [(range(50), range(8)), (range(30, 90), range(4, 12)), (range(0, 140, 4), range(20, 29))], X.shape
    )
    expected = evidence_table(X, solution, normalise=normalise)
    request.getfixturevalue("short_chunks")
    same(evidence_table(scipy.sparse.csr_array(X), solution, normalise=normalise), expected)


def test_the_same_evidence_where_columns_are_a_series(request):
    rng = np.random.default_rng(5)
    X = np.cumsum(rng.normal(size=(90, 40)), axis=1)
    X[:40, 10:25] += 9
    solution = Biclustering([(range(40), range(10, 25)), (range(30, 80), range(20, 38))], X.shape)
    expected = evidence_table(X, solution, normalise="none")
    assert expected.independent < 1
    request.getfixturevalue("short_chunks")
    same(
        evidence_table(matrices.ArraySource(X.astype(np.float32)), solution, normalise="none"),
        evidence_table(X.astype(np.float32).astype(float), solution, normalise="none"),
    )

"""Errors over observed cells, some rows at a time, are those of blocks held whole."""

import numpy as np
import pytest
import scipy.sparse

from bivaluate import Biclustering, Matrix, evaluate
from bivaluate.measures._blocks import error_floors
from bivaluate.measures._engine.missing import observed_errors
from bivaluate.measures.workspace import Workspace
from tests.sources import in_file

pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")


def ratings(share=0.3):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(130, 26)) + 5.0
    X[:40, :9] += rng.normal(size=9) * 3
    X[rng.random(X.shape) < share] = np.nan
    X[50:53, :12] = np.nan
    X[60] = 4.0
    X[70:90, 20:25] = np.add.outer(rng.normal(size=20), rng.normal(size=5)) + 1e6
    pairs = [(range(40), range(9)), (range(30, 70), range(4, 15)), ([3, 80, 90, 129], range(14, 24))]
    pairs += [(range(70, 90), range(20, 25)), (range(50, 53), range(12)), ([7], range(4)), (range(9), [2])]
    return X, Biclustering(pairs, X.shape)


@pytest.fixture
def short_chunks(limits):
    limits(KERNEL_CELLS=0, CHUNK_CELLS=400)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_the_same_errors_and_shapes(share, short_chunks, tmp_path):
    X, solution = ratings(share)
    whole, file = Workspace.of(X, solution, missing="omit"), in_file(X, tmp_path / "x.npy")
    parts = Workspace.of(file, solution, missing="omit")
    assert parts._by_observed
    assert not whole._by_observed
    for name in ("mergers", "merged_constant_rows", "observed", "constant_rows"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-12, err_msg=name)
    blocks = Workspace.of(file, solution, missing="omit")
    for name in ("ve", "msr"):
        np.testing.assert_allclose(getattr(blocks, name), getattr(whole, name), rtol=1e-9, atol=1e-12)


def test_what_may_be_rounding_is_that_of_the_block_with_the_largest_values(short_chunks, tmp_path):
    X, solution = ratings()
    parts = Workspace.of(in_file(X, tmp_path / "x.npy"), solution, missing="omit")
    assert parts._by_observed
    assert parts._largest_floor >= error_floors(X[70:90, 20:25])[1] > 1e6 * error_floors(X[:40, :9])[1]


def test_absent_ratings_score_as_missing_cells_do(short_chunks):
    X, solution = ratings(0.5)
    expected = evaluate(X, solution, missing="omit")
    cells = np.argwhere(~np.isnan(X)).T
    stored = scipy.sparse.coo_array((X[tuple(cells)], tuple(cells)), shape=X.shape).tocsr()
    found = evaluate(stored, solution, absent="missing")
    assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-12, nan_ok=True)
    assert found.findings[: len(expected.findings)] == expected.findings


def test_turns_and_offsets_change_nothing(short_chunks):
    X, solution = ratings()
    offsets = np.linspace(0, 3, X.shape[1])
    whole = observed_errors(Matrix(X - offsets), solution)
    turns = observed_errors(Matrix(X, memory=4 * 64 * 60), solution, offsets=offsets)
    for one, other in zip(turns, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)

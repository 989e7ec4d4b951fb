"""Evidence on sparse rows: normal scores, extremes and squares from the entries are those of the dense rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bivaluate.chance import _background as background
from bivaluate.chance import _kernels_sparse as kernels
from bivaluate.chance.assumptions import normal_scores


def rows(kind, seed=0, shape=(12, 31)):
    """Sparse rows with an empty one and a full one."""
    rng = np.random.default_rng(seed)
    values = {
        "counts": rng.geometric(0.4, shape).astype(float),
        "large counts": rng.integers(1, 3 * kernels.MOST_COUNTED, shape).astype(float),
        "numbers": rng.normal(size=shape),
        "rounded": rng.normal(size=shape).round(1),
    }[kind]
    X = np.where(rng.random(shape) < 0.4, values, 0.0)
    X[3], X[7] = 0.0, values[7]
    return X


@pytest.mark.parametrize("kind", ["counts", "large counts", "numbers", "rounded"])
@pytest.mark.parametrize("seed", range(3))
def test_normal_scores_of_entries_are_those_of_dense_rows(kind, seed):
    X = rows(kind, seed)
    cells = csr_array(X)
    cells.data[::5] = 0.0  # zeros that are stored are zeros
    entries, base = background.sparse_normal_scores(cells)
    np.testing.assert_allclose(entries.toarray() + base[:, None], normal_scores(cells.toarray()), atol=1e-12)


@pytest.mark.parametrize("kind", ["counts", "numbers"])
def test_extremes_are_those_of_dense_rows_and_columns(kind):
    X = rows(kind)
    X[:, 4] = 2.0
    cells = csr_array(X)
    low, high, col_low, col_high = kernels.extremes(cells.indptr, cells.indices, cells.data, X.shape[1])
    np.testing.assert_array_equal(low, X.min(axis=1))
    np.testing.assert_array_equal(high, X.max(axis=1))
    np.testing.assert_array_equal(col_low, X.min(axis=0))
    np.testing.assert_array_equal(col_high, X.max(axis=0))


def test_changes_are_added_to_rows_and_columns():
    X, rng = rows("numbers"), np.random.default_rng(1)
    gap, effect, cells = rng.normal(size=12), rng.normal(size=31), csr_array(X)
    changes = (gap[:, None] + X - effect) ** 2 - (gap[:, None] - effect) ** 2
    of_rows, of_cols = np.zeros(12), np.zeros(31)
    kernels.add_changes(cells.indptr, cells.indices, cells.data, gap, effect, of_rows, of_cols)
    np.testing.assert_allclose(of_rows, changes.sum(axis=1))
    np.testing.assert_allclose(of_cols, changes.sum(axis=0))

"""VE of the mergers of one bicluster with others, with what needs care."""

import numpy as np

from bivaluate.matrix import Matrix
from bivaluate.measures._mergers import errors_of_one
from tests.reference.internal import ve as virtual_error


def test_mergers_of_one_bicluster_equal_the_twin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 14))
    X[:9] = X[0] + np.arange(9.0)[:, np.newaxis]  # rows without any residue need care
    X[50] = 3.0
    rows, cols = rng.random((70, 60)) < 0.2, rng.random((70, 14)) < 0.4
    rows[:3], cols[:3] = False, False
    rows[0, 3], cols[0, 5] = True, True  # one cell
    rows[1, :6], cols[1, :4] = True, True
    rows[2, 3:9], cols[2, 2:6] = True, True
    rows[5:, 7], cols[5:, 1] = True, True
    X += 5.0
    others = np.arange(70)
    for k in (0, 1, 20):
        expected = [
            virtual_error(X[np.ix_(np.flatnonzero(rows[k] | rows[other]), np.flatnonzero(cols[k] | cols[other]))])
            if (rows[k] | rows[other]).sum() > 1 and (cols[k] | cols[other]).sum() > 1
            else 0.0
            for other in others
        ]
        found = errors_of_one(Matrix.of(X), rows, cols, k, others)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

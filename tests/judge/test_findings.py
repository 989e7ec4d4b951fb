"""Biclusters of ordered columns are judged against surrogates as smooth as the data."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate._errors import MatrixError
from bivaluate.judge.findings import ordered_column_findings


def test_real_pattern_passes_and_smooth_noise_does_not():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(120, 30)), axis=1)
    X[:30] = 6 * np.sin(np.arange(30)) + 0.3 * rng.normal(size=(30, 30))
    solution = Biclustering([(range(30), range(30)), (range(60, 90), range(30)), ([5], [1, 2])], X.shape)
    (sentence,) = ordered_column_findings(X, solution, ["B1", "B2", "B3"], null_runs=1)
    passed, failed = sentence.split("; not below: ")
    assert "B1" in passed
    assert "B2" in failed
    assert "B3 (1.00)" in failed


def test_missing_cells_are_refused():
    with pytest.raises(MatrixError, match="missing"):
        ordered_column_findings([[1.0, np.nan], [2.0, 3.0]], Biclustering([([0], [0])], (2, 2)), ["B1"])

"""LAS score, BSig and maximal standard area: worked values, naive twins, degenerate cases."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate.chance import significance as level
from bivaluate.measures.workspace import Workspace
from bivaluate.registry import METRICS
from tests.reference import groups as twin

X5 = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
S5 = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X5.shape)

RECORDS = [metric for metric in METRICS.values() if metric.function.__module__ == "bivaluate.chance.significance"]

B1 = ([0, 1, 2], [0, 1, 2, 3])


def test_worked_values():
    assert level.las_score(X5, *B1) == pytest.approx(-4.415098, abs=1e-6)
    assert level.bicluster_significance(X5, *B1) == pytest.approx(5.34e-4, abs=5e-7)
    assert level.bicluster_significance(X5, *B1, corrected=True) == pytest.approx(8.01e-3, abs=5e-6)
    assert level.maximal_standard_area(X5[np.ix_(*B1)]) == pytest.approx(0.792711, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_naive_twins_agree(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 7))
    rows, cols = rng.choice(9, 4, replace=False), np.sort(rng.choice(7, 3, replace=False))
    assert level.las_score(X, rows, cols) == pytest.approx(twin.las_score(X, rows, cols))
    assert level.bicluster_significance(X, rows, cols) == pytest.approx(twin.bicluster_significance(X, rows, cols))
    A = X[np.ix_(np.sort(rows), cols)]
    assert level.maximal_standard_area(A) == pytest.approx(twin.maximal_standard_area(A))


def test_a_raised_block_has_a_high_las_score():
    X = np.random.default_rng(0).normal(size=(100, 30))
    X[:20, :8] += 10
    assert level.las_score(X, range(20), range(8)) > 100
    assert level.las_score(-X, range(20), range(8)) < 0


def test_degenerate_cases():
    assert np.isnan(level.maximal_standard_area([[1.0, 2.0]]))
    assert level.maximal_standard_area([[1.0, 1.0], [3.0, 3.0]]) == 0.0
    assert level.las_score(np.ones((4, 3)), [0, 1], [0, 1]) == pytest.approx(np.log(2) - np.log(6) - np.log(3))


def test_records_compute_what_the_functions_do():
    workspace = Workspace.of(X5, S5)
    values = {metric.key: metric.compute(workspace) for metric in RECORDS}
    assert values["las"][0] == level.las_score(X5, *B1)
    assert values["bsig"][0] == level.bicluster_significance(X5, *B1)
    assert values["msa"][0] == level.maximal_standard_area(X5[np.ix_(*B1)])
    holes = X5.copy()
    holes[4, 5] = np.nan
    assert np.isnan(RECORDS[0].compute(Workspace.of(holes, S5, missing="omit"))).all()


def test_empty_solution():
    assert len(RECORDS[0].compute(Workspace.of(X5, Biclustering([], X5.shape)))) == 0

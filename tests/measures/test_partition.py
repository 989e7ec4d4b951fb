"""Bisilhouette, modularity, information kept, block R²: naive twins, known cases, degenerate ones."""

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate.measures import partition
from bivaluate.measures.workspace import Workspace
from bivaluate.registry import METRICS
from tests.reference import groups as twin

X5 = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
S5 = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X5.shape)
RECORDS = [metric for metric in METRICS.values() if metric.function.__module__ == "bivaluate.measures.partition"]


def pairs(solution):
    return [(b.rows, b.cols) for b in solution]


def test_worked_values():
    assert partition.bisilhouette(X5, S5) == pytest.approx(-0.199291, abs=1e-6)
    assert partition.bipartite_modularity(X5, S5) == pytest.approx(twin.bipartite_modularity(X5, pairs(S5)))
    assert partition.mutual_information_kept(X5, S5) == pytest.approx(twin.mutual_information_kept(X5, pairs(S5)))
    assert partition.block_r_squared(X5, S5) == pytest.approx(twin.block_r_squared(X5, pairs(S5)))


@pytest.mark.parametrize("seed", range(6))
def test_naive_twins_agree(seed):
    rng = np.random.default_rng(seed)
    shape = (9, 7)
    X = rng.poisson(4, size=shape).astype(float)
    blocks = [
        (rng.choice(9, rng.integers(1, 6), replace=False), rng.choice(7, rng.integers(1, 5), replace=False))
        for _ in range(1 + seed % 4)
    ]
    solution = Biclustering(blocks, shape)
    for name in ("bisilhouette", "bipartite_modularity", "mutual_information_kept", "block_r_squared"):
        ours, theirs = getattr(partition, name)(X, solution), getattr(twin, name)(X, blocks)
        assert ours == pytest.approx(theirs, abs=1e-9), name


def test_separate_groups_score_high():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12))
    X[:10, :4] += 8
    X[10:20, 4:8] += 8
    S = Biclustering([(range(10), range(4)), (range(10, 20), range(4, 8))], X.shape)
    assert partition.bisilhouette(X, S) > 0.6
    assert partition.block_r_squared(X, S) > 0.8


@pytest.mark.parametrize("power", [-500, 540, 1016])
def test_sizes_whose_squares_overflow_or_underflow(power):
    for metric in RECORDS:
        assert metric.function(np.ldexp(X5, power), S5) == pytest.approx(metric.function(X5, S5))
    mixed = np.where(np.arange(6) < 2, np.ldexp(X5, power), X5)
    assert partition.bisilhouette(mixed, S5) == pytest.approx(partition.bisilhouette(X5, S5))


def test_what_cannot_be_defined():
    none = Biclustering([], X5.shape)
    assert np.isnan(partition.bisilhouette(X5, none))
    assert partition.block_r_squared(X5, none) == pytest.approx(0, abs=1e-12)
    assert partition.mutual_information_kept(X5, none) == 0
    assert partition.bipartite_modularity(X5, none) == 0
    assert np.isnan(partition.bipartite_modularity(-X5, S5))
    assert np.isnan(partition.mutual_information_kept(-X5, S5))
    assert np.isnan(partition.mutual_information_kept(np.ones((5, 6)), S5))
    assert np.isnan(partition.block_r_squared(np.ones((5, 6)), S5))
    everything = Biclustering([(range(5), range(6))], (5, 6))
    assert partition.bisilhouette(X5, everything) == 0
    assert partition.bipartite_modularity(X5, everything) == pytest.approx(0, abs=1e-12)


def test_records_compute_what_the_functions_do():
    workspace = Workspace.of(X5, S5)
    for metric in RECORDS:
        assert metric.compute(workspace) == metric.function(X5, S5)
    holes = X5.copy()
    holes[4, 5] = np.nan
    assert all(np.isnan(metric.compute(Workspace.of(holes, S5, missing="omit"))) for metric in RECORDS)

"""Stability and consensus: planted blocks come back, noise does not, clear errors."""

import numpy as np
import pytest
from sklearn.base import clone

from bivaluate import Biclustering, ParameterError, SolutionError
from bivaluate.algorithms.registry import make_estimator
from bivaluate.judge.stability import consensus_biclusters, stability


def las(X):
    return make_estimator("las", 2, random_state=0, n_restarts=50, n_jobs=1).fit(X).solution_


def test_planted_blocks_come_back():
    X = np.random.default_rng(0).normal(size=(80, 24))
    X[:20, :8] += 4
    result = stability(X, las, repeats=4)
    assert result.solution[0].shape == (20, 8)
    assert result.found_again[0] > 0.9
    assert result.per_bicluster[0] == result.found_again[0] - result.by_chance
    assert result.mean == pytest.approx(result.per_bicluster.mean())
    again = stability(X, las, repeats=4)
    np.testing.assert_array_equal(result.found_again, again.found_again)


def test_what_is_never_found_again_scores_0():
    first = iter([Biclustering([([0, 1], [0, 1])], (10, 8))])

    def fickle(X):
        return next(first, Biclustering([], X.shape))

    result = stability(np.arange(80.0).reshape(10, 8), fickle, repeats=5, null_runs=0, share=0.9)
    assert result.found_again.tolist() == [0.0]
    assert result.by_chance == 0


def test_an_algorithm_that_finds_nothing():
    result = stability(np.arange(80.0).reshape(10, 8), lambda X: Biclustering([], X.shape))
    assert len(result.per_bicluster) == 0
    assert np.isnan(result.mean)


def test_clear_errors():
    X = np.arange(80.0).reshape(10, 8)
    with pytest.raises(ParameterError, match=r"leaves 1 row and 1 column"):
        stability(X, las, share=0.1)
    with pytest.raises(ParameterError, match="null is 'shuffle'"):
        stability(X, las, null="shuffle")
    with pytest.raises(ParameterError, match="there are no solutions"):
        consensus_biclusters([])
    with pytest.raises(SolutionError, match="shape"):
        consensus_biclusters([Biclustering([], (3, 4)), Biclustering([], (4, 3))])


def test_consensus_keeps_what_comes_back():
    rng = np.random.default_rng(0)
    shape, rows, cols = (40, 20), np.arange(10), np.arange(6)
    solutions = []
    for seed in range(6):
        kept = rng.choice(10, 9, replace=False)
        junk = (rng.choice(40, 5, replace=False), rng.choice(20, 4, replace=False))
        blocks = [junk, (np.append(rows[kept], 20 + seed), cols)]
        if seed < 4:
            blocks.append((np.arange(30, 38), np.arange(10, 15)))
        solutions.append(Biclustering(blocks, shape))
    found = consensus_biclusters(solutions)
    assert found.support.tolist() == [1.0, 4 / 6]
    assert found.solution[0].rows.tolist() == rows.tolist()
    assert found.solution[1].rows.tolist() == list(range(30, 38))
    assert len(consensus_biclusters(solutions, min_support=0.9).solution) == 1


def test_consensus_of_empty_solutions():
    found = consensus_biclusters([Biclustering([], (5, 4))])
    assert len(found.solution) == len(found.support) == 0


def test_an_estimator_is_fitted_anew_each_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20))
    X[:12, :8] += 4
    model = make_estimator("las", 1, random_state=0, n_restarts=20).fit(X)
    by_function = stability(X, lambda values: clone(model).fit(values).solution_, repeats=3, null_runs=0)
    assert stability(X, model, repeats=3, null_runs=0).mean == by_function.mean > 0.5
    with pytest.raises(ParameterError, match="fit is of type list; pass an estimator, or a function of a matrix"):
        stability(X, [])
    with pytest.raises(ParameterError, match=r"fit is the class \w+; pass an instance: "):
        stability(X, type(model))

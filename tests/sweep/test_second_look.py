"""Quick algorithms are named where they find much more than the search behind `find`, and nowhere else."""

import numpy as np
import pytest

from bivaluate import Biclustering, Matrix, compare
from bivaluate.algorithms import make_estimator
from bivaluate.sweep import second_look as module
from bivaluate.sweep.second_look import MOST_BICLUSTERS, second_look


def types_of_cells(seed=0, n=160, m=40):
    """Four types of rows, each raised in columns of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    pairs = [(np.arange(k, n, 4), np.arange(8 * k, 8 * k + 8)) for k in range(4)]
    for rows, cols in pairs:
        X[np.ix_(rows, cols)] += 3
    return X, Biclustering(pairs, X.shape)


def test_types_of_rows_are_found_by_another_algorithm():
    X, truth = types_of_cells()
    look = second_look(Matrix(X), Biclustering([], X.shape))
    again = make_estimator(look.algorithm, MOST_BICLUSTERS, 0).fit(X).solution_
    assert look.n_biclusters == len(again)
    assert compare(truth, again)["ce"] > 0.9
    assert look.beside == 0.0
    assert second_look(Matrix(X), truth) is None


@pytest.mark.parametrize("noise", ["normal", "t", "walk"])
def test_noise_has_nothing_more(noise):
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(120, 30)) if noise == "t" else rng.normal(size=(120, 30))
    if noise == "walk":
        X = np.cumsum(X, axis=1)
    assert second_look(Matrix(X), Biclustering([], X.shape)) is None


def test_what_would_take_long_or_cannot_be_asked_is_left(monkeypatch):
    X, _ = types_of_cells()
    nothing = Biclustering([], X.shape)
    gaps = X.copy()
    gaps[0, 0] = np.nan
    assert second_look(Matrix(gaps), nothing) is None
    monkeypatch.setattr(module, "MOST_CELLS", X.size - 1)
    assert second_look(Matrix(X), nothing) is None

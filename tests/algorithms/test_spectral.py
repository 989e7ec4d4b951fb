"""Spectral checkerboard: which cells are taken, limits, edges."""

import numpy as np
import pytest
from sklearn.cluster import SpectralBiclustering
from threadpoolctl import threadpool_limits

from bivaluate import MatrixError, ParameterError
from bivaluate.algorithms import SpectralCheckerboard
from tests.reference.internal import ve as virtual_error


@pytest.fixture(autouse=True)
def one_thread():
    """More threads than one only wait for each other on such small matrices."""
    with threadpool_limits(1):
        yield


def checkerboard(seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    levels = rng.permutation(9).reshape(3, 3) * 2.0
    rows, cols = rng.permutation(np.repeat(np.arange(3), 10)), rng.permutation(np.repeat(np.arange(3), 5))
    return levels[rows][:, cols] + rng.normal(0, noise, (30, 15)), rows, cols


def test_first_takes_the_first_row_cluster_with_every_column_cluster():
    X, _, _ = checkerboard()
    model = SpectralCheckerboard(3, random_state=42).fit(X)
    reference = SpectralBiclustering((3, 3), random_state=42).fit(X)
    np.testing.assert_array_equal(model.rows_, reference.rows_[:3])
    np.testing.assert_array_equal(model.columns_, reference.columns_[:3])


def test_all_is_the_planted_checkerboard():
    X, rows, cols = checkerboard()
    model = SpectralCheckerboard(3, selection="all", random_state=0).fit(X)
    found = {(tuple(b.rows), tuple(b.cols)) for b in model.solution_}
    planted = {(tuple(np.flatnonzero(rows == r)), tuple(np.flatnonzero(cols == c))) for r in range(3) for c in range(3)}
    assert found == planted


def test_best_takes_the_cells_with_the_lowest_nve():
    X, _, _ = checkerboard(noise=1.0)
    every = SpectralCheckerboard(3, selection="all", random_state=1).fit(X).solution_
    best = SpectralCheckerboard(3, selection="best", random_state=1).fit(X).solution_
    nve = []
    for k, b in enumerate(every):
        merged = [
            virtual_error(X[np.ix_(np.union1d(b.rows, o.rows), np.union1d(b.cols, o.cols))])
            for j, o in enumerate(every)
            if j != k
        ]
        nve.append(virtual_error(b.of(X)) / min(merged))
    expected = [every[k] for k in np.argsort(nve, kind="stable")[:3]]
    assert list(best) == expected


def test_more_clusters_than_columns_names_the_limit():
    with pytest.raises(ParameterError, match=r"n_biclusters is 6.*30 rows and 5 columns.*at most 5"):
        SpectralCheckerboard(6).fit(np.random.default_rng(0).normal(size=(30, 5)))


def test_unknown_selection():
    with pytest.raises(
        ParameterError, match=r"selection is 'frist'; allowed: 'first', 'best', 'all'. Did you mean 'first'"
    ):
        SpectralCheckerboard(selection="frist").fit(np.eye(5))


def test_rows_and_columns_of_zeros_do_no_harm():
    X, _, _ = checkerboard()
    X = np.round(X - X.min())
    X[3] = 0.0
    X[:, 2] = 0.0
    model = SpectralCheckerboard(3, selection="all", random_state=0).fit(X)
    assert sum(b.size for b in model.solution_) == X.size


@pytest.mark.parametrize("selection", ["first", "best", "all"])
def test_constant_matrix_is_one_cell(selection):
    model = SpectralCheckerboard(3, selection=selection).fit(np.full((6, 5), 4.0))
    assert [b.shape for b in model.solution_] == [(6, 5)]


def test_fewer_distinct_rows_than_clusters_leave_empty_cells_out():
    X = np.repeat(np.array([[1.0, 5.0, 2.0, 7.0], [6.0, 1.0, 3.0, 2.0]]), 5, axis=0)
    model = SpectralCheckerboard(4, selection="all", random_state=0).fit(X)
    assert all(b.size for b in model.solution_)
    assert sum(b.size for b in model.solution_) == X.size


def test_what_scikit_learn_cannot_fit_is_an_error_with_a_reason(monkeypatch):
    def refuse(*_, **__):
        raise ValueError("array must not contain infs or NaNs")

    monkeypatch.setattr("bivaluate.algorithms.spectral.randomized_svd", refuse)
    with pytest.raises(MatrixError, match="no 3 x 3 checkerboard could be fitted to X: array must not"):
        SpectralCheckerboard(3).fit(checkerboard()[0])


@pytest.mark.parametrize("shape", [(40, 12), (9, 31), (5, 6)])
def test_labels_are_those_of_scikit_learn_and_work_is_shared_over_k(shape):
    X = np.random.default_rng(3).normal(size=shape) * 3
    shared: dict[str, object] = {}
    for K in (2, 3, 5):
        reference = SpectralBiclustering((K, K), random_state=7).fit(X)
        alone, together = (SpectralCheckerboard(K, random_state=7) for _ in range(2))
        together._shared = shared
        for model in (alone, together):
            model.fit(X)
            np.testing.assert_array_equal(model.row_labels_, reference.row_labels_)
            np.testing.assert_array_equal(model.column_labels_, reference.column_labels_)
    drawn = SpectralCheckerboard(3, random_state=np.random.RandomState(1)).fit(X)
    reference = SpectralBiclustering((3, 3), random_state=np.random.RandomState(1)).fit(X)
    np.testing.assert_array_equal(drawn.row_labels_, reference.row_labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_vectors_that_are_approximated_equally_well_are_chosen_as_scikit_learn_does():
    X = np.kron(np.array([[1.0, 5.0, 2.0], [6.0, 1.0, 3.0], [2.0, 2.0, 9.0]]), np.ones((4, 3)))
    for K in (3, 5):
        reference = SpectralBiclustering((K, K), random_state=0).fit(X)
        model = SpectralCheckerboard(K, random_state=0)
        model._shared = {}
        model.fit(X)
        np.testing.assert_array_equal(model.row_labels_, reference.row_labels_)
        np.testing.assert_array_equal(model.column_labels_, reference.column_labels_)


def test_as_many_clusters_as_columns_need_no_scikit_learn(monkeypatch):
    models = [SpectralBiclustering((8, 8), random_state=seed) for seed in range(6)]
    data = [np.random.default_rng(seed).normal(size=(30 + seed, 8)) for seed in range(6)]
    references = [model.fit(X) for model, X in zip(models, data, strict=True)]
    monkeypatch.setattr("bivaluate.algorithms.spectral.k_means_of_scikit_learn", None)
    for seed, (X, reference) in enumerate(zip(data, references, strict=True)):
        model = SpectralCheckerboard(8, random_state=seed)
        model._shared = {}
        model.fit(X)
        np.testing.assert_array_equal(model.row_labels_, reference.row_labels_)
        np.testing.assert_array_equal(model.column_labels_, reference.column_labels_)

"""k-means in machine code: scikit-learn's labels in every case, and scikit-learn itself only where rounding decides."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bivaluate.algorithms import _k_means
from bivaluate.algorithms._kernels_k_means import k_means as k_means_kernel

SHAPES = [(9, 1, 4), (24, 1, 8), (150, 1, 15), (400, 1, 3), (9, 3, 5), (60, 2, 8), (150, 3, 15)]


def points_of(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    return {
        "normal": points,
        "tails": rng.standard_t(1.5, (n, d)),
        "groups": 0.1 * points + rng.integers(0, 6, (n, d)),
        "far": points + 1000,
        "unit": points / np.linalg.norm(points, axis=0),
        "ties": points.round(1),
    }[kind]


@pytest.fixture(autouse=True)
def one_thread():
    """More threads than one only wait for each other with so few points."""
    with threadpool_limits(1):
        yield


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["normal", "tails", "groups", "far", "unit", "ties"])
def test_labels_are_those_of_scikit_learn(kind, monkeypatch):
    asked, real = [], _k_means.k_means_of_scikit_learn
    monkeypatch.setattr(_k_means, "k_means_of_scikit_learn", lambda *given: asked.append(1) or real(*given))
    for seed, (n, d, K) in enumerate(SHAPES):
        points = points_of(kind, n, d, seed)
        theirs = KMeans(K, n_init=10, random_state=seed).fit(points)
        labels, error = _k_means.k_means(points, K, 10, seed)
        np.testing.assert_array_equal(labels, theirs.labels_)
        assert error == pytest.approx(np.sqrt(theirs.inertia_), rel=1e-9, abs=1e-7)
    assert kind == "ties" or len(asked) < len(SHAPES)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_error_of_as_many_clusters_as_points_is_what_scikit_learn_rounds():
    theirs = _k_means.k_means_of_scikit_learn
    for seed in range(40):
        n = 4 + seed % 17
        points = points_of(("normal", "unit", "far", "tails")[seed % 4], n, 3, seed)[:, 1:2]  # not contiguous
        assert _k_means.k_means(points, n, 10, seed)[1] == theirs(points, n, 10, seed)[1]
    for seed in range(10):
        points = points_of("normal", 9, 1, seed)
        points[0] = points[5] + 1e-9  # too close to be told apart: scikit-learn moves a centre, and loses digits
        assert _k_means.k_means(points, 9, 10, seed)[1] == theirs(points, 9, 10, seed)[1]


def test_where_rounding_decides_scikit_learn_is_asked():
    points = np.repeat(np.array([[0.0], [1.0], [5.0]]), 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        labels, error = _k_means.k_means(points, 5, 10, 0)
    assert len(set(labels)) == 3
    assert error < 1e-9


def test_a_cluster_that_runs_empty_is_doubt():
    Pt = np.array([[0.0, 0.1, 0.2, 5.0], [0.0, 0.0, 0.0, 0.0]])
    starts = np.array([[[0.0, 5.0, 99.0], [0.0, 0.0, 99.0]]])
    assert k_means_kernel(Pt, starts, 0.0, 1e-12, np.empty(4, np.int64)) == -1.0

"""Algorithms that are called, not written: what is done around scikit-learn and scikit-network."""

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import SpectralCoclustering
from sklearn.decomposition import NMF

from bivaluate import MatrixError, MissingExtraError, ParameterError
from bivaluate.algorithms import (
    LargeAverageSubmatrices,
    LDABiclusters,
    LeidenCommunities,
    LouvainCommunities,
    NMFBiclusters,
    SpectralCoclusters,
)
from bivaluate.algorithms.algorithm import PACKAGES
from bivaluate.algorithms.registry import ALGORITHMS
from bivaluate.solution import Biclustering

BLOCKS = [(range(0, 12), range(0, 7)), (range(12, 30), range(7, 12)), (range(30, 38), range(12, 20))]
TRUTH = {(tuple(rows), tuple(cols)) for rows, cols in BLOCKS}


@pytest.fixture
def counts():
    """Three blocks of counts on a diagonal, and beyond them four rows and three columns of zeros."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2, (42, 23))
    for rows, cols in BLOCKS:
        X[np.ix_(rows, cols)] += rng.poisson(9, (len(rows), len(cols)))
    X[38:], X[:, 20:] = 0, 0
    return X


def members(solution: Biclustering):
    return {(tuple(b.rows.tolist()), tuple(b.cols.tolist())) for b in solution}


@pytest.mark.parametrize(
    "model",
    [
        SpectralCoclusters(3, random_state=0),
        NMFBiclusters(3, random_state=0),
        LDABiclusters(3, random_state=2),
        pytest.param(LouvainCommunities(random_state=0), marks=pytest.mark.extra("graph")),
        pytest.param(LeidenCommunities(random_state=0), marks=pytest.mark.extra("graph")),
    ],
    ids=lambda model: model.record.key,
)
def test_planted_blocks_are_found_whole_and_empty_lines_belong_to_none(model, counts):
    assert members(model.fit(counts).solution_) == TRUTH
    assert members(model.fit(csr_array(counts)).solution_) == TRUTH


def test_co_clusters_are_those_of_scikit_learn_where_no_line_is_empty(counts):
    X = counts[:38, :20] + np.random.default_rng(1).uniform(0, 6, (38, 20))
    for K in (2, 3, 5):
        theirs = Biclustering.from_estimator(SpectralCoclustering(K, random_state=4).fit(X))
        assert members(SpectralCoclusters(K, random_state=4).fit(X).solution_) == members(theirs)


def test_co_clusters_of_negative_cells(counts):
    raised = SpectralCoclusters(3, random_state=0).fit(counts[:38, :20] - 5.0)
    assert raised.solution_ == SpectralCoclusters(3, random_state=0).fit(counts[:38, :20]).solution_
    with pytest.raises(MatrixError, match=r"sparse X with negative values: the lowest is -1\. Pass X\.toarray\(\)"):
        SpectralCoclusters(3).fit(csr_array(-np.minimum(counts, 1)))


def test_co_clusters_need_lines_that_are_not_empty():
    X = np.zeros((9, 6))
    X[:2, :3] = [[1, 2, 3], [3, 1, 1]]
    with pytest.raises(ParameterError, match=r"has 2 rows and 3 columns .* Ask for at most 2\."):
        SpectralCoclusters(3).fit(X)
    assert len(SpectralCoclusters(2).fit(np.zeros((9, 6))).solution_) == 0


@pytest.mark.extra("graph")
@pytest.mark.parametrize("model", [LouvainCommunities, LeidenCommunities])
def test_communities_come_with_the_largest_sums_first_and_a_bound_keeps_them(model, counts):
    found = model(random_state=0).fit(counts).solution_
    sums = [counts[np.ix_(b.rows, b.cols)].sum() for b in found]
    assert sums == sorted(sums, reverse=True)
    assert list(model(2, random_state=0).fit(counts).solution_) == list(found)[:2]
    assert len(model(resolution=3.0, random_state=0).fit(counts).solution_) > 3
    assert len(model().fit(np.zeros((4, 3))).solution_) == 0
    with pytest.raises(ParameterError, match=r"resolution is -1; it must be at least 0"):
        model(resolution=-1).fit(counts)


def test_communities_say_which_package_they_need(without, counts):
    with (
        without("sknetwork"),
        pytest.raises(MissingExtraError, match=r"the algorithm louvain needs scikit-network: pip install"),
    ):
        LouvainCommunities().fit(counts)


def test_factors_are_those_of_scikit_learn(counts):
    model = NMFBiclusters(3, random_state=0).fit(counts)
    theirs = NMF(3, max_iter=400, random_state=0)
    np.testing.assert_allclose(model.row_factors_, theirs.fit_transform(counts.astype(float)), atol=1e-12)
    np.testing.assert_allclose(model.column_factors_, theirs.components_, atol=1e-12)
    assert 0 < model.n_iter_ <= 400
    assert len(NMFBiclusters(2).fit(np.zeros((5, 4))).solution_) == 0


def test_the_extra_all_brings_every_optional_algorithm():
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    needed = {record.extra for record in ALGORITHMS.values() if record.extra}
    assert needed == set(PACKAGES)
    for extra in needed:
        assert extras[extra][0].startswith(PACKAGES[extra][1])
        assert extra in extras["all"][0].partition("[")[2].rstrip("]").split(",")


def test_a_column_of_text_is_named():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 4.0], "kind": ["red", "white", "red"]})
    with pytest.raises(MatrixError, match=r"X has a (cell|value) that is not a number at row 0, column 'kind': 'red'"):
        LargeAverageSubmatrices().fit(frame)

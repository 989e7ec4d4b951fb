"""Factors are soft biclusters: the rules, models of scikit-learn and gensim, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation

from bivaluate import Biclustering
from bivaluate._errors import EmptyBiclusterWarning, ParameterError, SolutionError
from bivaluate._factors import members

ROWS = [range(0, 9), range(9, 14)]
COLS = [range(0, 4), range(4, 10)]


@pytest.fixture
def planted():
    rng = np.random.default_rng(3)
    X = rng.poisson(0.4, size=(14, 10)).astype(float)
    for rows, cols in zip(ROWS, COLS, strict=True):
        X[np.ix_(rows, cols)] += rng.poisson(9, size=(len(rows), len(cols)))
    return X


def sides(solution):
    return sorted((rows.tolist(), cols.tolist()) for rows, cols in solution)


TRUTH = sorted((list(r), list(c)) for r, c in zip(ROWS, COLS, strict=True))


def naive_cut(values):
    """Two groups in one dimension by trying every cut."""
    roots = np.sqrt(np.clip(values, 0, None))
    ordered = np.unique(roots)
    best = max(
        ((a + b) / 2 for a, b in pairwise(ordered)),
        key=lambda t: -sum(((g - g.mean()) ** 2).sum() for g in (roots[roots <= t], roots[roots > t])),
    )
    return roots > best


@pytest.mark.parametrize("seed", range(5))
def test_the_mixture_is_the_best_cut_of_the_square_roots(seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.gamma(0.5, 0.2, 17), rng.gamma(8, 1.0, 6), -rng.random(3)])
    np.testing.assert_array_equal(members(values, "mixture"), naive_cut(values))


def test_rules():
    values = np.array([0.0, 1.0, 1.0, 9.0, 5.0, np.nan, -20.0])
    assert np.flatnonzero(members(values, "top", 0.1)).tolist() == [3]
    assert np.flatnonzero(members(values, "top", 1.0)).tolist() == [1, 2, 3, 4]
    assert np.flatnonzero(members(values, "sd", 1.0)).tolist() == [3]
    assert not members(np.full(4, 2.0), "mixture").any()
    assert not members(np.full(4, np.nan), "sd", 1.0).any()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("rule", ["mixture", "top:0.3", "sd:0.5"])
def test_members_do_not_depend_on_the_scale_of_a_factor(planted, rule, scale):
    W = np.abs(planted[:, :2])
    H = np.abs(planted[:2])
    other = Biclustering.from_factors(W * scale, H / scale, rule=rule)
    assert sides(other) == sides(Biclustering.from_factors(W, H, rule=rule))


def test_planted_blocks_are_found(planted):
    model = NMF(2, init="nndsvda", max_iter=500).fit(planted)
    solution = Biclustering.from_factor_model(model, planted)
    assert sides(solution) == TRUTH
    assert dict(solution.info) == {"algorithm": "NMF", "rule": "mixture"}
    by_hand = Biclustering.from_factors(sparse.csr_array(model.transform(planted)), model.components_)
    assert by_hand == solution


def test_topics_of_sparse_counts(planted):
    counts = sparse.csr_array(planted)
    model = LatentDirichletAllocation(2, random_state=0).fit(counts)
    assert sides(Biclustering.from_factor_model(model, counts)) == TRUTH


class LdaModel:
    """As gensim's: topics x words, and the topics of one document as pairs."""

    def get_topics(self):
        return np.array([[0.4, 0.5, 0.05, 0.05], [0.02, 0.03, 0.45, 0.5]])

    def get_document_topics(self, document, minimum_probability):
        share = sum(n for word, n in document if word < 2) / sum(n for _, n in document)
        return [(0, share), (1, 1 - share)] if share < 1 else [(0, share)]


def test_gensim():
    corpus = [[(0, 3), (1, 2)], [(1, 4)], [(2, 1), (3, 5)]]
    solution = Biclustering.from_factor_model(LdaModel(), corpus)
    assert sides(solution) == [([0, 1], [0, 1]), ([2], [2, 3])]
    assert solution.shape == (3, 4)
    counts = np.array([[3, 2, 0, 0], [0, 4, 0, 0], [0, 0, 1, 5]])
    for form in (counts, sparse.csr_array(counts)):
        assert Biclustering.from_factor_model(LdaModel(), form) == solution


def test_empty_factors_are_dropped_and_said(planted):
    W, H = np.ones((4, 2)), np.ones((2, 3))
    W[0, 0], H[0, 0] = 9, 9
    with pytest.warns(EmptyBiclusterWarning, match="B2"):
        assert len(Biclustering.from_factors(W, H)) == 1


@pytest.mark.parametrize(
    ("W", "H", "words"),
    [
        (np.ones((4, 2)), np.ones((3, 5)), r"W has 2 factors \(columns\) and H has 3 \(rows\)"),
        (np.ones((4, 2)), np.ones((5, 2)), "Transpose it"),
        (np.ones(4), np.ones((1, 5)), "W has 1 dimension"),
        (np.ones((4, 1)), [["a", "b"]], "H does not hold numbers only"),
        (np.full((4, 1), np.inf), np.ones((1, 5)), "W holds infinite"),
    ],
)
def test_factors_that_do_not_fit(W, H, words):
    with pytest.raises(SolutionError, match=words):
        Biclustering.from_factors(W, H)


@pytest.mark.parametrize("rule", ["top", "top:0", "top:2", "sd", "sd:x", "mixture:3", "otsu", None])
def test_unknown_rules(rule):
    with pytest.raises(ParameterError, match=r"rule is .*allowed: 'mixture', 'top:0.1'"):
        Biclustering.from_factors(np.ones((3, 1)), np.ones((1, 2)), rule=rule)


def test_models_that_have_no_factors(planted):
    with pytest.raises(SolutionError, match="NMF is not fitted"):
        Biclustering.from_factor_model(NMF(2), planted)
    with pytest.raises(SolutionError, match="list has no factors"):
        Biclustering.from_factor_model([], planted)
    with pytest.raises(SolutionError, match=r"NMF has factors: use Biclustering.from_factor_model"):
        Biclustering.from_estimator(NMF(2, init="nndsvda", max_iter=500).fit(planted))

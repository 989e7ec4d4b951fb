"""Factors are soft biclusters: the rules, models of scikit-learn and gensim, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline

from bivaluate import (
    Biclustering,
    EmptyBiclusterWarning,
    ParameterError,
    SolutionError,
    evaluate,
    solution_scorer,
    stability,
)
from bivaluate._factors import strong_members

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
    np.testing.assert_array_equal(strong_members(values, "mixture"), naive_cut(values))


def test_rules():
    values = np.array([0.0, 1.0, 1.0, 9.0, 5.0, np.nan, -20.0])
    assert np.flatnonzero(strong_members(values, "top", 0.1)).tolist() == [3]
    assert np.flatnonzero(strong_members(values, "top", 1.0)).tolist() == [1, 2, 3, 4]
    assert np.flatnonzero(strong_members(values, "sd", 1.0)).tolist() == [3]
    assert not strong_members(np.full(4, 2.0), "mixture").any()
    assert not strong_members(np.full(4, np.nan), "sd", 1.0).any()


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
    model = NMF(2, init="nndsvda", max_iter=500).fit(planted)
    with pytest.raises(SolutionError, match=r"NMF has factors: use Biclustering.from_factor_model"):
        Biclustering.from_estimator(model)
    assert evaluate(planted, model).solution == Biclustering.from_factor_model(model, planted)


def test_what_is_strong_in_every_factor_belongs_to_none():
    """Words that all topics use: as cuts of its own loadings they would be members of each of them."""
    W = np.kron(np.eye(3), np.ones((4, 1))) + 0.1
    H = np.hstack([np.kron(np.eye(3), np.full((1, 5), 2.0)) + 0.1, np.full((3, 4), 3.0)])
    solution = Biclustering.from_factors(W, H)
    assert sides(solution) == [(list(range(4 * k, 4 * k + 4)), list(range(5 * k, 5 * k + 5))) for k in range(3)]
    assert all(cols.tolist()[-4:] == [15, 16, 17, 18] for _, cols in Biclustering.from_factors(W, H, rule="top:0.3"))


def test_profiles_that_are_the_same_in_all_factors_are_cut_by_their_loadings():
    w, h = np.array([5.0, 4.0, 0.1, 0.2, 0.1]), np.array([3.0, 0.1, 4.0])
    one = [([0, 1], [0, 2])]
    assert sides(Biclustering.from_factors(w[:, None], h[None])) == one
    assert sides(Biclustering.from_factors(np.outer(w, [1, 0.3]), np.outer([1, 7], h))) == one * 2
    with pytest.warns(EmptyBiclusterWarning, match="B2"):
        assert sides(Biclustering.from_factors(np.outer(w, [1, 0]), np.outer([1, 0], h))) == one


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_vast_and_tiny_loadings(planted, scale):
    W, H = np.abs(planted[:, :2]) + 1, np.abs(planted[:2]) + 1
    assert sides(Biclustering.from_factors(W * scale, H * scale)) == sides(Biclustering.from_factors(W, H))


@pytest.mark.parametrize("rule", ["mixture", "top:0.3", "sd:0.5"])
def test_the_sign_of_a_factor_does_not_matter(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40))
    X[:20, :10] += 3
    u, s, v = np.linalg.svd(X, full_matrices=False)
    W, H = u[:, :2] * s[:2], v[:2]
    solution = Biclustering.from_factors(W, H, rule=rule)
    for signs in ([-1, 1], [1, -1], [-1, -1]):
        assert Biclustering.from_factors(W * signs, np.array(signs)[:, None] * H, rule=rule) == solution
    if rule == "mixture":
        assert solution[0].rows.tolist() == list(range(20))
        assert solution[0].cols.tolist() == list(range(10))


def test_pipelines_that_end_in_a_factor_model(planted):
    pipeline = make_pipeline(TfidfTransformer(), NMF(2, init="nndsvda", max_iter=500)).fit(planted)
    solution = Biclustering.from_factor_model(pipeline, planted)
    assert sides(solution) == TRUTH
    assert solution.info["algorithm"] == "NMF"
    assert solution == Biclustering.from_factor_model(pipeline[-1], pipeline[:-1].transform(planted))
    narrow = make_pipeline(VarianceThreshold(), NMF(2, init="nndsvda", max_iter=500))
    planted[:, 0] = 1
    with pytest.raises(SolutionError, match=r"Pipeline makes 9 columns of the 10 of X.*model\[:-1\]\.transform\(X\)\."):
        Biclustering.from_factor_model(narrow.fit(planted), planted)


def test_scorer_and_stability_take_factor_models(planted):
    model = NMF(2, init="nndsvda", max_iter=500).fit(planted)
    expected = evaluate(planted, Biclustering.from_factor_model(model, planted)).scores["coverage"]
    assert solution_scorer("coverage")(model, planted) == expected
    assert sides(stability(planted, model, repeats=2, null_runs=0).solution) == TRUTH


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_fitted_model_is_scored_in_the_matrix_it_was_fitted_on_or_its_transpose(turned, sparse):
    from scipy.sparse import csr_array
    from sklearn.decomposition import NMF

    rng = np.random.default_rng(1)
    X = rng.random((30, 20)).astype(np.float32)
    X[:8, :6] += 5
    X[8:18, 6:14] += 5
    shown = csr_array(X) if sparse else X
    model = NMF(2, init="nndsvda", max_iter=500).fit(shown.T if turned else shown)
    found = evaluate(shown, model).solution
    own = Biclustering.from_factor_model(model, X.T if turned else X)
    assert [(set(b.rows), set(b.cols)) for b in found] == [
        (set(b.cols), set(b.rows)) if turned else (set(b.rows), set(b.cols)) for b in own
    ]

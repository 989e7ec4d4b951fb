"""The coherent submatrix search: what it finds, what it does not, and what it says."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import ThreadpoolController, threadpool_limits

from bivaluate import MatrixError, ParameterError, SearchWarning
from bivaluate.algorithms._coherent_background import covariance_evidence, fill, fill_by_pattern
from bivaluate.algorithms._coherent_prepare import spread_ties
from bivaluate.algorithms._coherent_search import stand_for
from bivaluate.algorithms.coherent import CoherentSubmatrices
from bivaluate.chance.assumptions import normal_scores
from bivaluate.chance.evidence import evidence_table
from bivaluate.matrix import Matrix
from bivaluate.measures.external import compare
from bivaluate.solution import Biclustering


def two_blocks(seed=0, n=120, m=24):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m))
    X[:25, :9] = 1 + rng.normal(0, 1, (25, 1)) + rng.normal(0, 2, 9) + 0.2 * rng.standard_normal((25, 9))
    slope = np.where(np.arange(20) % 3 == 0, -1.0, 1.0)[:, None] * rng.uniform(0.7, 2, (20, 1))
    X[40:60, 12:20] = 0.5 + slope * rng.normal(0, 2, 8) + 0.2 * rng.standard_normal((20, 8))
    return X


def ar(rng, shape, rho):
    X = rng.standard_normal(shape)
    for j in range(1, shape[1]):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


@pytest.fixture(scope="module")
def X():
    return two_blocks()


@pytest.fixture(scope="module")
def model(X):
    return CoherentSubmatrices(random_state=0).fit(X)


def blocks(model):
    return {(tuple(b.rows), tuple(b.cols)) for b in model.solution_}


PLANTED = {(tuple(range(25)), tuple(range(9))), (tuple(range(40, 60)), tuple(range(12, 20)))}


def test_planted_blocks_are_found_with_their_kind_and_number(model):
    assert blocks(model) == PLANTED
    np.testing.assert_array_equal(model.evidence_, evidence_table(two_blocks(), model.solution_).gain)
    patterns = {b.shape: pattern for b, pattern in zip(model.solution_, model.patterns_, strict=True)}
    assert patterns[25, 9] == "additive"
    assert model.notes_ == []
    assert model.rows_.shape == (2, 120)
    assert model.columns_.shape == (2, 24)
    assert model.solution_.info["algorithm"] == "coherent"


def test_same_answer_for_any_number_of_threads_and_any_type(X, model):
    for jobs in (1, 2, 3):
        other = clone(model).set_params(n_jobs=jobs).fit(X)
        assert other.solution_ == model.solution_
        assert other.solution_.info == model.solution_.info
        np.testing.assert_array_equal(other.evidence_, model.evidence_)
    assert clone(model).fit(pd.DataFrame(X)).solution_ == model.solution_
    assert clone(model).fit(Matrix.of(X)).solution_ == model.solution_
    assert clone(model).fit(np.asfortranarray(X)).solution_ == model.solution_


def test_units_order_and_effects_do_not_matter(X, model):
    rng = np.random.default_rng(5)
    moved = 7 * X + rng.normal(0, 20, 24) + rng.normal(0, 50, (120, 1))
    assert blocks(clone(model).fit(moved)) == PLANTED
    rows, cols = rng.permutation(120), rng.permutation(24)
    shuffled = clone(model).fit(X[np.ix_(rows, cols)])
    back = {(tuple(sorted(rows[b.rows])), tuple(sorted(cols[b.cols]))) for b in shuffled.solution_}
    assert back == PLANTED


def test_an_upper_bound_keeps_those_with_the_most_evidence(X, model):
    first = clone(model).set_params(n_biclusters=1).fit(X)
    assert list(first.solution_) == list(model.solution_)[:1]
    assert len(clone(model).set_params(n_biclusters=9).fit(X).solution_) == 2


@pytest.mark.filterwarnings("ignore:.*none of them supported:bivaluate._errors.SearchWarning")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["normal", "t5", "ar", "exponential", "lognormal", "row scales", "few columns"])
def test_nothing_is_found_in_noise(kind, seed):
    rng = np.random.default_rng(seed)
    shape = (150, 30)
    noise = {
        "normal": lambda: rng.standard_normal(shape),
        "t5": lambda: rng.standard_t(5, shape),
        "ar": lambda: ar(rng, shape, 0.7),
        "exponential": lambda: rng.exponential(size=shape),
        "lognormal": lambda: np.exp(rng.standard_normal(shape)),
        "few columns": lambda: ar(rng, (150, 7), 0.8),
        "row scales": lambda: rng.standard_normal(shape) * np.exp(rng.normal(0, 1.5, (150, 1))),
    }[kind]()
    model = CoherentSubmatrices(random_state=seed).fit(noise)
    assert len(model.solution_) == 0
    assert model.evidence_.shape == (0,)
    assert model.patterns_ == []


def test_a_block_in_correlated_columns_is_found_and_said():
    rng = np.random.default_rng(3)
    X = ar(rng, (200, 30), 0.8)
    X[:30, 5:17] = rng.normal(0, 1, (30, 1)) + rng.normal(0, 1.5, 12) + 0.3 * rng.standard_normal((30, 12))
    model = CoherentSubmatrices(random_state=0).fit(X)
    assert [b.shape for b in model.solution_] == [(30, 12)]
    assert any("correlated" in note for note in model.notes_)


@pytest.mark.parametrize("share", [0.2, 0.3, 0.35])
def test_a_raised_block_of_many_rows_is_no_correlation(share):
    rng = np.random.default_rng(int(100 * share))
    X = rng.standard_normal((200, 36))
    rows = rng.choice(200, int(200 * share), replace=False)
    X[np.ix_(rows, np.arange(10))] += 3
    found = CoherentSubmatrices(random_state=0).fit(X).solution_
    assert compare(Biclustering([(rows, np.arange(10))], X.shape), found)["ce"] > 0.9


def test_types_of_rows_are_found_apart():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((240, 40))
    types = [(np.arange(80 * k, 80 * (k + 1)), np.arange(9 * k, 9 * (k + 1))) for k in range(3)]
    for rows, cols in types:
        X[np.ix_(rows, cols)] += 2
    found = CoherentSubmatrices(random_state=0).fit(X).solution_
    assert len(found) == 3
    assert compare(Biclustering(types, X.shape), found)["ce"] > 0.9


@pytest.mark.parametrize("loadings", [0.3, 0.5, 1.0])
def test_a_factor_of_all_rows_is_no_block(loadings):
    rng = np.random.default_rng(int(10 * loadings))
    X = rng.standard_normal((300, 40)) + loadings * rng.standard_normal((300, 1)) * rng.standard_normal(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        assert len(CoherentSubmatrices(random_state=0).fit(X).solution_) == 0


def test_evidence_for_correlated_columns():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((300, 20))
    assert abs(covariance_evidence(noise)) < 5
    root = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20))))
    # of normal rows -n/2 log det R can be saved, less what is not known of R
    most = -150 * 2 * np.log(np.diag(root)).sum()
    assert 0.6 * most < covariance_evidence(noise @ root.T) < most


def test_missing_cells_are_filled_with_their_expectation():
    rng = np.random.default_rng(0)
    covariance = 0.9 ** np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    Z = rng.standard_normal((5, 8)) @ np.linalg.cholesky(covariance).T
    Z[0, 3] = Z[1, [0, 7]] = Z[2, ::2] = np.nan
    filled = fill(Z, np.linalg.inv(covariance))
    for row, full in zip(Z, filled, strict=True):
        gap = np.isnan(row)
        expected = covariance[np.ix_(gap, ~gap)] @ np.linalg.solve(covariance[np.ix_(~gap, ~gap)], row[~gap])
        assert np.allclose(full[gap], expected, atol=1e-6)
        assert np.array_equal(full[~gap], row[~gap])


def test_missing_cells_of_rows_that_follow_a_pattern_are_filled_by_it():
    rng = np.random.default_rng(1)
    pattern = np.array([-0.6, -0.2, 0.1, 0.7])
    Z = rng.standard_normal((6, 7))
    Z[:3, [1, 2, 4, 6]] = np.array([[2.0], [-1.0], [0.5]]) + np.array([[3.0], [-2.0], [4.0]]) * pattern
    gap = np.zeros(Z.shape, bool)
    gap[[0, 2, 5, 5], [2, 6, 1, 0]] = True
    filled = np.where(gap, 0.0, Z)
    fill_by_pattern(filled, gap, np.array([1, 2, 4, 6]), pattern)
    np.testing.assert_allclose(filled[:3], Z[:3])
    assert filled[5, 0] == 0
    np.testing.assert_array_equal(filled[~gap], Z[~gap])


def test_parts_stand_for_a_block_that_holds_little_else():
    scores, area = np.array([100.0, 98.0, 80.0, 50.0, 45.0]), np.array([400.0, 120.0, 300.0, 100.0, 100.0])
    assert stand_for(scores, area, [1], 0)  # without cells that hold next to nothing
    assert not stand_for(scores, area, [2], 0)  # a quarter of the cells, a fifth of the evidence
    assert stand_for(scores, area, [3, 4], 0)  # two blocks of other rows and columns that look like one
    assert not stand_for(scores, np.full(5, 400.0), [1], 0)


def test_a_pattern_of_all_rows_is_background():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 30)) + 1.5 * rng.choice([-1, 1], (150, 1)) * rng.standard_normal(30)
    with pytest.warns(SearchWarning, match="common to at least half of all rows"):
        model = CoherentSubmatrices(random_state=0).fit(X)
    assert len(model.solution_) == 0


def test_skewed_blocks_are_found_after_the_logarithm(X):
    model = CoherentSubmatrices(random_state=0).fit(np.exp(X))
    assert blocks(model) == PLANTED
    assert model.notes_[0] == "Values were transformed to be near normal within rows: log."


def test_too_many_missing_cells_are_refused_in_words(X):
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.8, np.nan, X)
    with pytest.warns(
        SearchWarning, match=r"varying rows of X, 0 have at least half of their values; at least 8 are needed"
    ):
        model = CoherentSubmatrices(missing="omit", random_state=0).fit(gaps)
    assert len(model.solution_) == 0


def test_missing_cells(X):
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    with pytest.raises(MatrixError, match=r"without missing values.*or pass missing='omit' to leave them out"):
        CoherentSubmatrices().fit(gaps)
    model = CoherentSubmatrices(missing="omit", random_state=0).fit(gaps)
    assert [b.shape for b in model.solution_] == [b.shape for b in CoherentSubmatrices(random_state=0).fit(X).solution_]
    gaps = X.copy()
    gaps[3] = np.nan
    gaps[:, 23] = np.nan
    found = CoherentSubmatrices(missing="omit", random_state=0).fit(gaps).solution_
    assert not any(3 in b.rows or 23 in b.cols for b in found)
    assert len(found) == 2


def test_constant_rows_and_columns_take_no_part(X):
    X = X.copy()
    X[100:105] = 4.0
    X[:, [22, 23]] = 3.0
    model = CoherentSubmatrices(random_state=0).fit(X)
    assert blocks(model) == PLANTED


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda rng: rng.standard_normal((50, 3)), r"3 varying columns; at least 4"),
        (lambda rng: rng.standard_normal((5, 30)), r"5 varying rows; at least 8"),
        (lambda rng: np.ones((50, 10)), r"0 varying columns"),
        (lambda rng: rng.integers(0, 2, (60, 20)) * 1.0, "at most 2 different values"),
        (lambda rng: -(rng.exponential(size=(60, 20)) ** 2), "too skewed"),
        (lambda rng: rng.standard_cauchy((200, 30)), "tails of the rows of X are too heavy"),
    ],
)
def test_where_it_cannot_work_it_says_so_and_finds_nothing(make, words):
    with pytest.warns(SearchWarning, match=words):
        model = CoherentSubmatrices(random_state=0).fit(make(np.random.default_rng(0)))
    assert len(model.solution_) == 0
    assert len(model.notes_) == 1


def test_ranks_are_advised_where_they_help():
    rng = np.random.default_rng(0)
    skewed = -(rng.exponential(size=(60, 20)) ** 2)
    scaled = rng.poisson(0.2, size=(200, 30)) / rng.uniform(0.5, 2.0, size=30) - rng.normal(size=30)
    for X, helps in ((skewed, True), (scaled, False)):
        with pytest.warns(SearchWarning, match="too skewed"):
            model = CoherentSubmatrices(random_state=0).fit(X)
        assert ("Take ranks or normal scores" in model.notes_[0]) == helps
        assert ("within rows do not help either" in model.notes_[0]) != helps
        if helps:
            CoherentSubmatrices(random_state=0).fit(normal_scores(X))
        else:
            with pytest.warns(SearchWarning, match="do not help either"):
                CoherentSubmatrices(random_state=0).fit(normal_scores(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_biclusters": "many"}, "n_biclusters is 'many'; allowed: 'auto'"),
        ({"n_biclusters": 0}, "n_biclusters is 0; it must be at least 1"),
        ({"min_rows": 2}, "min_rows is 2; it must be at least 3"),
        ({"min_evidence": -1.0}, "min_evidence"),
        ({"n_starts": 0}, "n_starts is 0"),
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"random_state": "x"}, "random_state is 'x'"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters(X, parameters, words):
    with pytest.raises(ParameterError, match=words):
        CoherentSubmatrices(**parameters).fit(X)


@pytest.mark.filterwarnings("ignore::bivaluate._errors.SearchWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator():
    check_estimator(CoherentSubmatrices(n_starts=40), on_skip=None)


def test_progress_is_told(X):
    model = CoherentSubmatrices(random_state=0)
    told = []
    model._progress = lambda done, total: told.append(done)
    model.fit(X)
    assert told[:2] == [1, 2]


def test_linear_algebra_stays_in_one_thread_and_is_given_back(X):
    pools = ThreadpoolController()
    seen = []

    def watch(*_):
        seen.extend(pool["num_threads"] for pool in pools.select(user_api="blas").info())

    model = CoherentSubmatrices(random_state=0)
    model._progress = watch
    with threadpool_limits(2, "blas"):
        model.fit(X)
        assert {pool["num_threads"] for pool in pools.select(user_api="blas").info()} == {2}
    assert seen
    assert set(seen) == {1}


def test_groups_of_cells_are_found_in_counts():
    rng = np.random.default_rng(1)
    mean = np.tile(rng.gamma(0.4, 0.8, size=40) + 0.3, (60, 1))
    groups = [(range(8 * k, 8 * k + 8), range(15 * k, 15 * k + 15)) for k in range(4)]
    for genes, cells in groups:
        mean[np.ix_(cells, genes)] += 3
    counts = rng.poisson(mean * rng.lognormal(0, 0.3, size=(60, 1))).T.astype(float)
    found = CoherentSubmatrices(random_state=0).fit(counts).solution_
    assert compare(Biclustering(groups, counts.shape), found)["ce"] > 0.9


def test_what_is_lost_in_the_correlation_of_columns_is_spoken_of():
    X = np.random.default_rng(0).standard_normal((160, 40))
    X[:80, :12] += 3
    with pytest.warns(SearchWarning, match=r"CoherentSubmatrices found no bicluster\. .*Nothing is found beyond"):
        model = CoherentSubmatrices(random_state=0).fit(X)
    assert len(model.solution_) == 0
    assert model.notes_[-1].startswith("Nothing is found beyond the correlation of the columns.")


def test_equal_values_are_no_pattern():
    X = np.random.default_rng(0).poisson(3.0, (150, 30)) * 1.0
    model = CoherentSubmatrices(random_state=0).fit(X)
    assert len(model.solution_) == 0
    assert model.notes_[0].startswith("Rows have many equal values")
    spread = spread_ties(X)
    assert ((spread >= X) & (spread < X + 1)).all()

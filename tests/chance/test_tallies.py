"""Counts, ratings, zeros and ones: evidence believes no more than their values can tell."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bivaluate import Biclustering, Matrix, evaluate
from bivaluate.algorithms import make_estimator
from bivaluate.chance._tallies import few_values, tally_all, tally_block
from bivaluate.chance.assumptions import sorted_sample
from bivaluate.chance.evidence import evidence_table
from tests.reference import tallies as twin

pytestmark = pytest.mark.filterwarnings("ignore::bivaluate._errors.BivaluateWarning")


def counts(seed, shape=(14, 11)):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, shape).astype(float)
    X[:5, :4] += rng.poisson(2, (5, 4))
    return rng, X


@pytest.mark.parametrize("seed", range(6))
def test_the_naive_twin_agrees(seed):
    rng, X = counts(seed)
    if seed % 2:
        X[rng.random(X.shape) < 0.15] = np.nan
    values = np.array([0.0, 1.0, 2.0]) if seed > 2 else np.unique(X[np.isfinite(X)])
    rows, cols = np.arange(2, 8), np.array([1, 2, 3, 7, 9]) if seed else np.arange(11)
    taken = [(np.arange(6, 10), np.arange(3, 8))] if seed > 3 else []
    matrix = Matrix.of(X, "omit")
    tallies = tally_all(matrix, values, 154)
    told = tallies.told(tally_block(matrix, values, rows, cols, taken), rows, cols)
    np.testing.assert_allclose(told, twin.told(X, rows, cols, values, 154, taken), rtol=1e-9, atol=1e-9)


def test_cells_that_others_explain_tell_nothing():
    _, X = counts(0)
    S = Biclustering([(range(5), range(4)), (range(4), range(4))], X.shape)
    matrix = Matrix.of(X)
    tallies = tally_all(matrix, np.unique(X), X.size)
    block = tally_block(matrix, tallies.values, S[1].rows, S[1].cols, [(S[0].rows, S[0].cols)])
    assert set(tallies.told(block, S[1].rows, S[1].cols)) == {0.0}


def test_which_matrices_have_few_values():
    rng = np.random.default_rng(0)
    assert few_values(sorted_sample((rng.random((50, 30)) < 0.2) * 1.0)).tolist() == [0.0, 1.0]
    assert few_values(sorted_sample(rng.normal(size=(50, 30)))) is None
    assert few_values(sorted_sample(rng.integers(1, 6, (50, 30)).astype(float))) is None  # no value is every fourth
    mostly_zero = rng.normal(size=(50, 30)) * (rng.random((50, 30)) < 0.6)
    assert few_values(sorted_sample(mostly_zero)) is None  # all others differ
    assert len(few_values(sorted_sample(rng.poisson(0.5, (50, 30)).astype(float)))) < 8


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("key", ["bimax", "bibit", "isa", "ssvd", "las"])
def test_searched_coin_flips_do_not_pay(key, share):
    X = (np.random.default_rng(102).random((200, 120)) < share) * 1.0
    found = make_estimator(key, 5, random_state=0).fit(X).solution_
    assert evidence_table(X, found).n_paying == 0


@pytest.mark.parametrize("normal", ["values", "transposed"])
def test_what_rows_and_columns_do_by_themselves_does_not_pay(normal):
    rng = np.random.default_rng(1)
    X = (rng.random((200, 120)) < np.outer(rng.uniform(0.1, 0.8, 200), rng.uniform(0.2, 1, 120))) * 1.0
    rows, cols = np.sort(np.argsort(-X.sum(axis=1))[:40]), np.sort(np.argsort(-X.sum(axis=0))[:30])
    X, pair = (X, (rows, cols)) if normal == "values" else (X.T.copy(), (cols, rows))
    assert evidence_table(X, Biclustering([pair], X.shape)).n_paying == 0


@pytest.mark.parametrize(
    ("background", "inside", "rows", "cols"), [(0.1, 0.6, 20, 15), (0.02, 0.4, 25, 20), (0.3, 1.0, 14, 12)]
)
def test_planted_ones_pay(background, inside, rows, cols):
    rng = np.random.default_rng(7)
    X = (rng.random((300, 100)) < background) * 1.0
    X[:rows, :cols] = rng.random((rows, cols)) < inside
    found = evidence_table(X, Biclustering([(range(rows), range(cols)), (range(200, 220), range(40, 55))], X.shape))
    assert found.kinds == ("raised", "none")
    # no more than N log 1/f, less what its members cost
    assert found.gain[0] < rows * cols * np.log(1 / background)


def test_equal_values_are_as_improbable_as_they_are_rare():
    X = (np.random.default_rng(202).random((300, 200)) < 0.1) * 1.0
    X[:11, :2] = 1
    gain = evidence_table(X, Biclustering([(range(11), range(2))], X.shape)).gain[0]
    assert gain < 22 * np.log(10) - 55  # 55 nats name 11 of 300 rows and 2 of 200 columns


def test_dense_sparse_and_some_rows_at_a_time_agree(monkeypatch):
    rng, X = counts(3, (200, 60))
    S = Biclustering([(range(5), range(4)), (range(30, 60), range(10, 30)), (range(2, 40), range(2, 20))], X.shape)
    X[:38, :18] += rng.poisson(0.8, (38, 18))
    dense = evidence_table(X, S)
    sparse = evidence_table(csr_array(X), S)
    np.testing.assert_allclose(dense.gain, sparse.gain, rtol=1e-9)
    assert dense.kinds == sparse.kinds
    assert evaluate(csr_array(X), S).scores["total_evidence"] == pytest.approx(dense.total)
    X[rng.random(X.shape) < 0.1] = np.nan
    stored = csr_array(np.where(np.isnan(X), 0, X + 1))  # absent cells are missing
    gaps = evidence_table(np.where(np.isnan(X), np.nan, X + 1), S, missing="omit")
    again = evidence_table(Matrix.of(stored, absent="missing"), S, missing="omit")
    np.testing.assert_allclose(gaps.gain, again.gain, rtol=1e-9)


@pytest.mark.parametrize("form", ["counts", "logarithms", "sparse"])
def test_unequal_depth_is_said(form):
    rng = np.random.default_rng(1)
    P = rng.poisson(np.outer(rng.gamma(0.5, 2, 300), rng.lognormal(0, 0.5, 200))).astype(float)
    block = (np.sort(np.argsort(-P.sum(axis=1))[:30]), np.sort(np.argsort(-P.sum(axis=0))[:40]))
    X = {"counts": P, "logarithms": np.log1p(P), "sparse": csr_array(P)}[form]
    said = [
        sentence for sentence in evaluate(X, [block]).findings if "The totals of columns of counts differ" in sentence
    ]
    assert len(said) == 1
    normalised = np.log1p(P / np.maximum(1, P.sum(axis=0)) * np.median(P.sum(axis=0)))
    result = evaluate(normalised, [block])
    assert not any("totals of columns" in sentence for sentence in result.findings)
    assert result.verdict.startswith("Nothing here")


@pytest.mark.parametrize("seed", range(3))
def test_a_block_or_one_loud_row_is_not_depth(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.5, (200, 60)).astype(float)
    X[:20, :12] += rng.poisson(3, (20, 12))
    X[100] *= rng.poisson(300, 60)
    S = [(range(20), range(12))]
    assert not any("totals of columns" in sentence for sentence in evaluate(X, S).findings)

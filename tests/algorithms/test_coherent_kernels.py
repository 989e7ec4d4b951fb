"""The kernels of the coherent submatrix search against their naive twin."""

import numpy as np
import pytest

from bivaluate.algorithms import _kernels_coherent_climb as climbs
from bivaluate.algorithms._coherent_field import copy_field, fit_pattern, make_field, remove
from bivaluate.algorithms._coherent_prepare import shorth
from tests.algorithms import entry
from tests.reference import coherent as naive


def planted(seed, n=30, m=13, rows=9, cols=5, noise=0.3):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, m))
    pattern = rng.normal(0, 1.5, cols)
    slope = rng.uniform(0.5, 2, (rows, 1)) * rng.choice([1, -1], (rows, 1), p=[0.8, 0.2])
    Z[:rows, :cols] = 1 + rng.normal(0, 1, (rows, 1)) + slope * pattern + noise * rng.standard_normal((rows, cols))
    return Z


def covariance_like(seed, m):
    A = np.random.default_rng(seed).standard_normal((3 * m, m))
    return np.asarray(A.T @ A / (3 * m))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("rows", "cols"), [(9, 5), (9, 2), (4, 13), (12, 9), (3, 3)])
def test_evidence_of_a_block(seed, rows, cols):
    Z = planted(seed, rows=min(rows, 9), cols=min(cols, 5))
    block = np.arange(rows), np.arange(cols)
    assert fit_pattern(make_field(Z), *block).score == pytest.approx(naive.evidence(Z, *block), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cols", [2, 5, 8])
def test_evidence_of_a_block_in_correlated_columns(seed, cols):
    Z, sigma = planted(seed), covariance_like(seed, 13)
    block = np.arange(8), np.arange(cols) + 1
    field = make_field(Z, np.linalg.inv(sigma))
    assert fit_pattern(field, *block).score == pytest.approx(naive.evidence(Z, *block, sigma), rel=1e-8, abs=1e-6)
    same = make_field(Z, np.eye(13))
    assert fit_pattern(same, *block).score == pytest.approx(fit_pattern(make_field(Z), *block).score, rel=1e-9)


@pytest.mark.parametrize("n_cols", [2, 9, 60, 149])
def test_cells_are_compared_with_what_the_others_lead_one_to_expect(n_cols):
    rng = np.random.default_rng(n_cols)
    m = 150
    Z, sigma = rng.standard_normal((12, m)), covariance_like(1, m)
    rows, cols = np.array([0, 3, 4, 9, 11]), np.sort(rng.choice(m, n_cols, replace=False))
    precision, inverse = np.linalg.inv(sigma), np.zeros((m, m))
    inverse[:n_cols, :n_cols] = np.linalg.inv(precision[np.ix_(cols, cols)])
    field = make_field(Z, precision)
    spread, squares = rng.uniform(0.5, 2, len(rows)), np.empty(m)
    entry(climbs.background_squares)(field, rows, cols, inverse, spread, squares)
    difference, variance = naive.differences(Z, rows, cols, sigma)
    expected = ((difference / spread) ** 2).sum(axis=1) / variance + len(rows) * np.log(variance)
    np.testing.assert_allclose(squares, expected, rtol=1e-8)


def test_stable_order_and_members():
    rng, order_of, members = np.random.default_rng(0), entry(climbs.order_of), entry(climbs.members)
    for n in (0, 1, 2, 7, 64, 100):
        values = np.round(rng.normal(0, 2, n))
        np.testing.assert_array_equal(order_of(values), np.argsort(values, kind="stable"))
        chosen = (values > 0).astype(np.uint8)
        np.testing.assert_array_equal(members(chosen), np.flatnonzero(chosen))


@pytest.mark.parametrize("most", [6, 12])
def test_best_prefix_breaks_ties_by_lower_index(most):
    rng, best_prefix = np.random.default_rng(0), entry(climbs.best_prefix)
    for _ in range(30):
        values = np.round(rng.normal(0, 2, 12), 0)
        choose = np.array([naive.log_choose(12, k) for k in range(13)])
        got = best_prefix(values, choose, 0.5, 3, most)
        assert got.tolist() == naive.best_prefix(values, lambda k, t=choose: t[k], 0.5, 3, most)


def test_a_climb_ends_at_the_planted_block_from_a_part_of_it():
    Z = planted(5, n=60, m=20, rows=15, cols=8, noise=0.1)
    field = make_field(Z)
    row_set, col_set, S = np.zeros((1, 60), np.uint8), np.zeros((1, 20), np.uint8), np.empty(1)
    row_set[0, :6] = 1
    col_set[0, :4] = 1
    climbs.climb_all(field, row_set, col_set, np.zeros(1, np.int64), S, 3, 30)
    rows, cols = np.flatnonzero(row_set[0]), np.flatnonzero(col_set[0])
    assert rows.tolist() == list(range(15))
    assert cols.tolist() == list(range(8))
    assert fit_pattern(field, rows, cols).score == pytest.approx(S[0])


@pytest.mark.parametrize("correlated", [False, True])
def test_an_explained_block_is_gone(correlated):
    Z = planted(1, n=60, m=20, rows=15, cols=8)
    precision = np.linalg.inv(0.5 * np.eye(20) + 0.5 * covariance_like(0, 20)) if correlated else None
    field = make_field(Z, precision)
    block = (np.arange(15), np.arange(8))
    assert fit_pattern(field, *block).score > 50
    rest = copy_field(field)
    remove(rest, *block)
    assert fit_pattern(rest, *block).score < 0
    np.testing.assert_array_equal(rest.Zt[:, 15:], field.Zt[:, 15:])
    np.testing.assert_array_equal(rest.Zt[8:], field.Zt[8:])
    again = make_field(np.ascontiguousarray(rest.Zt.T), precision)
    np.testing.assert_allclose(rest.lines, again.lines)
    np.testing.assert_allclose(rest.Yt, again.Yt)
    remove(rest, np.arange(20, 25), np.arange(3))
    assert np.isfinite(rest.lines).all()


def test_shorth_of_rows():
    X = np.random.default_rng(0).standard_normal((20, 11))
    centre, scale = shorth(X, unit=False)
    expected = np.array([naive.shorth(row) for row in X])
    np.testing.assert_allclose(centre, expected[:, 0])
    np.testing.assert_allclose(scale, expected[:, 1])
    X[:, 3] = np.nan
    np.testing.assert_allclose(shorth(X, unit=False)[0], [naive.shorth(row[~np.isnan(row)])[0] for row in X])

"""Surrogate matrices keep what they promise; the gap and its p-value count right."""

import numpy as np
import pytest

from bivaluate._errors import ParameterError
from bivaluate.chance.surrogates import SURROGATES, null_gap, p_value, permute_rows, randomise_phases, surrogate

X = np.cumsum(np.random.default_rng(0).normal(size=(6, 21)), axis=1)


def test_permuted_rows_keep_their_values():
    changed = permute_rows(X, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(changed, axis=1), np.sort(X, axis=1))
    assert not np.array_equal(changed, X)
    orders = [tuple(np.searchsorted(np.sort(a), b)) for a, b in zip(X, changed, strict=True)]
    assert len(set(orders)) == 6


@pytest.mark.parametrize("m", [21, 20, 3, 2, 1])
def test_phases_keep_the_spectrum(m):
    data = X[:, :m]
    changed = randomise_phases(data, np.random.default_rng(1))
    np.testing.assert_allclose(np.abs(np.fft.rfft(changed)), np.abs(np.fft.rfft(data)), atol=1e-9)
    np.testing.assert_allclose(changed.mean(axis=1), data.mean(axis=1), atol=1e-12)
    assert m < 2 or not np.allclose(changed, data)


def test_rows_get_phases_of_their_own():
    same = np.tile(np.sin(np.arange(30)), (4, 1))
    changed = randomise_phases(same, np.random.default_rng(0))
    assert abs(np.corrcoef(changed)[0, 1]) < 0.99


@pytest.mark.parametrize("kind", SURROGATES)
def test_same_seed_same_surrogate_and_missing_cells(kind):
    holes = X.copy()
    holes[1, 3:6] = np.nan
    one, other = (surrogate(holes, kind, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert np.isnan(one).sum() == 3
    assert np.isnan(holes).sum() == 3


def test_unknown_kind():
    with pytest.raises(ParameterError, match=r"null is 'phases'.*Did you mean 'phase'"):
        surrogate(X, "phases", np.random.default_rng(0))


def test_gap_and_p_value():
    low = null_gap(0.4, [0.5, 0.6, 0.4, np.nan], "low")
    assert low.gap == pytest.approx(0.1)
    assert (low.p_value, low.n) == (0.5, 3)
    high = null_gap(0.4, [0.1, 0.2, 0.3], "high")
    assert high.gap == pytest.approx(0.2)
    assert high.p_value == 0.25
    assert high.low < high.mean < high.high
    assert high.sd == pytest.approx(np.std([0.1, 0.2, 0.3]))


def test_undefined_gaps():
    assert np.isnan(null_gap(0.4, [np.nan], "low").gap)
    assert np.isnan(p_value(float("nan"), [1.0], "low"))
    with pytest.raises(ParameterError, match=r"direction is 'none'.*has neither"):
        p_value(1.0, [1.0], "none")

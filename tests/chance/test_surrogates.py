"""Surrogate matrices keep what they promise; gaps, p-values and p-values beside a choice count right."""

import numpy as np
import pytest

from bivaluate import ParameterError
from bivaluate.chance.surrogates import (
    SURROGATES,
    chosen_p_value,
    null_gap,
    p_value,
    permute_rows,
    randomise_phases,
    surrogate,
)

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


def test_the_same_choice_in_every_surrogate():
    chosen = chosen_p_value([1.0, 3.0], [[0.0, 2.0], [4.0, 1.0], [2.0, 2.5]], "high")
    assert (chosen.position, chosen.score, chosen.p_value, chosen.n) == (1, 3.0, 0.5, 3)
    assert chosen.adjusted.tolist() == [1.0, 0.5]


def test_low_is_better():
    chosen = chosen_p_value([0.5, 0.2], [[0.3, 0.4], [0.1, 0.6], [0.9, 0.9]], "low")
    assert (chosen.position, chosen.score, chosen.p_value) == (1, 0.2, 0.5)


def test_undefined_scores():
    chosen = chosen_p_value([np.nan, 2.0], [[np.nan, np.nan], [5.0, np.nan]], "high")
    assert (chosen.position, chosen.p_value) == (1, 2 / 3)
    assert np.isnan(chosen.adjusted[0])
    nothing = chosen_p_value([np.nan], [[1.0]], "high")
    assert nothing.position is None
    assert np.isnan(nothing.p_value)


@pytest.mark.parametrize("direction", ["low", "high"])
def test_calibrated_where_the_naive_p_value_is_not(direction):
    """On noise P(p <= .2) is .2 for the choice; the p-value of the chosen candidate alone is far too small."""
    rng = np.random.default_rng(0)
    n, B, C = 2000, 19, 12
    fair = naive = 0
    for _ in range(n):
        scores = rng.normal(size=(B + 1, C)) + rng.normal(size=(B + 1, 1))
        chosen = chosen_p_value(scores[0], scores[1:], direction)
        fair += chosen.p_value <= 0.2
        alone = scores[1:, chosen.position]
        better = alone >= chosen.score if direction == "high" else alone <= chosen.score
        naive += (1 + better.sum()) / (B + 1) <= 0.2
    assert 0.15 <= fair / n <= 0.25
    assert naive / n > 0.3


def test_clear_errors():
    with pytest.raises(ParameterError, match="direction is 'none'"):
        chosen_p_value([1.0], [[1.0]], "none")


def test_ties_are_broken_at_random_and_always_alike():
    """A measure with two values in noise: p is uniform all the same, and the same scores give the same p."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 2, size=(2000, 10, 3)).astype(float)
    p = np.array([chosen_p_value(one[0], one[1:], "high").p_value for one in scores])
    assert [abs((p <= level + 1e-9).mean() - level) < 0.03 for level in (0.1, 0.2, 0.5, 0.9)] == [True] * 4
    again = chosen_p_value(scores[0, 0], scores[0, 1:], "high")
    assert again.p_value == p[0]

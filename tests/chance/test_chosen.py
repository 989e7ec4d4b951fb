"""p-values beside a choice: the max statistic, its calibration, clear errors."""

import numpy as np
import pytest

from bivaluate._errors import ParameterError
from bivaluate.chance.chosen import chosen_p_value


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
    with pytest.raises(ParameterError, match=r"observed has shape \(2,\) and surrogates \(1, 3\)"):
        chosen_p_value([1.0, 2.0], [[1.0, 2.0, 3.0]], "high")
    with pytest.raises(ParameterError, match="there are no surrogates"):
        chosen_p_value([1.0], np.empty((0, 1)), "high")
    with pytest.raises(ParameterError, match="direction is 'none'"):
        chosen_p_value([1.0], [[1.0]], "none")

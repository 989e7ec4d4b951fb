"""The verdict rules, against cases worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bivaluate.replicate.claim_rules import judge_direction, judge_number, measure_direction, measure_number


def test_interval_is_where_one_further_seed_falls() -> None:
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(2000):
        *seen, new = rng.normal(10, 2, 9)
        m = measure_number(seen)
        inside.append(m.low <= new <= m.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_interval_stays_within_what_is_possible() -> None:
    m = measure_number([0.0, 0.9, 0.1, 1.0], upper=1.0)
    assert (m.low, m.high) == (0.0, 1.0)


def test_undefined_seeds_are_left_out_and_counted() -> None:
    m = measure_number([1.0, math.nan, 3.0, 2.0])
    assert (m.mean, m.n_seeds, m.n_undefined) == (2.0, 4, 1)


def test_direction_interval_is_wilson() -> None:
    m = measure_direction([True] * 17 + [False] * 3)
    expected = stats.binomtest(17, 20).proportion_ci(method="wilson")
    assert (m.low, m.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("holding", "of", "verdict"),
    [
        (20, 20, "reproduced"),
        (18, 20, "reproduced"),
        (17, 20, "partly"),
        (10, 20, "partly"),
        (9, 20, "not reproduced"),
        (0, 20, "not reproduced"),
        (9, 9, "uninformative"),
        (0, 9, "uninformative"),
        (2, 2, "not testable"),
        (0, 0, "not testable"),
    ],
)
def test_direction_thresholds(holding: int, of: int, verdict: str) -> None:
    assert judge_direction(measure_direction([True] * holding + [False] * (of - holding))) == verdict


@pytest.mark.parametrize(
    ("values", "paper", "resolution", "verdict"),
    [
        ([1.0, 1.1, 0.9, 1.0] * 3, 1.15, 0.0, "reproduced"),
        ([1.0, 1.1, 0.9, 1.0] * 3, 1.4, 0.0, "not reproduced"),
        ([0.12583] * 10, 0.1258, 1e-4, "reproduced"),
        ([0.12583] * 10, 0.1260, 1e-4, "not reproduced"),
        ([0.12583] * 9, 0.1258, 1e-4, "uninformative"),
        ([0.12583] * 9, 0.1260, 1e-4, "uninformative"),
        ([1.0, 1.5, 0.5, 1.0] * 3, 1.2, 0.0, "uninformative"),
        ([1.0, 1.5, 0.5, 1.0] * 3, 9.0, 0.0, "not reproduced"),
        ([1.0, 2.0], 1.5, 0.0, "not testable"),
        ([1.0, 1.0, 1.0, math.nan, math.nan, math.nan, math.nan], 1.0, 0.0, "not testable"),
    ],
)
def test_number_rule(values: list[float], paper: float, resolution: float, verdict: str) -> None:
    assert judge_number(measure_number(values), paper, resolution) == verdict

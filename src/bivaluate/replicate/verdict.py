"""The rules by which claims are judged. They were fixed before the first run and look at nothing but the numbers.

* A number is **reproduced** when it lies in the 95 % interval of one further seed (Student's t prediction interval:
  the paper prints one run), widened by half a unit of its last printed digit; otherwise it is **not reproduced**.
* A direction is **reproduced** when it holds in at least 90 % of the seeds, **partly** when in at least 50 %,
  otherwise **not reproduced**.
* Fewer than three seeds with a value, or a value undefined in more than half of the seeds: **not testable**.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTABLE = "reproduced", "partly", "not reproduced", "not testable"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTABLE)
LEVEL = 0.95
MOST, HALF = 0.9, 0.5
FEWEST = 3


@dataclass(frozen=True)
class Measured:
    """What the seeds say about a number or, with `share`, about a direction."""

    n_seeds: int
    n_undefined: int
    mean: float
    low: float
    high: float
    sd: float
    share: float = math.nan


def measure_number(values: Sequence[float], upper: float = math.inf) -> Measured:
    """Return mean, standard deviation and the 95 % interval of one further seed, within 0 and `upper`.

    Examples
    --------
    >>> m = measure_number([1.0, 2.0, 3.0])
    >>> round(m.mean, 2), round(m.high, 2)
    (2.0, 6.97)
    """
    defined = [float(v) for v in values if not math.isnan(v)]
    n = len(defined)
    mean = math.fsum(defined) / n if n else math.nan
    if n < 2:
        return Measured(len(values), len(values) - n, mean, math.nan, math.nan, math.nan)
    from scipy.special import stdtrit

    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in defined) / (n - 1))
    reach = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * sd * math.sqrt(1 + 1 / n)
    return Measured(len(values), len(values) - n, mean, max(mean - reach, 0.0), min(mean + reach, upper), sd)


def measure_direction(holds: Sequence[bool]) -> Measured:
    """Return the share of seeds in which a direction holds, with its 95 % Wilson interval.

    Examples
    --------
    >>> m = measure_direction([True, True, True, False])
    >>> m.share, round(m.low, 2), round(m.high, 2)
    (0.75, 0.3, 0.95)
    """
    n = len(holds)
    if n == 0:
        return Measured(0, 0, math.nan, math.nan, math.nan, math.nan)
    share = sum(map(bool, holds)) / n
    z = 1.959963984540054
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    sd = math.sqrt(share * (1 - share))
    return Measured(n, 0, share, max(centre - reach, 0.0), min(centre + reach, 1.0), sd, share)


def judge_number(measured: Measured, paper: float, resolution: float) -> str:
    """Return the verdict on a printed number; `resolution` is one unit of its last digit.

    Examples
    --------
    >>> judge_number(measure_number([1.0, 1.1, 0.9]), 1.05, 0.01)
    'reproduced'
    """
    defined = measured.n_seeds - measured.n_undefined
    if defined < FEWEST or measured.n_undefined > measured.n_seeds / 2:
        return NOT_TESTABLE
    slack = resolution / 2 + 1e-9
    return REPRODUCED if measured.low - slack <= paper <= measured.high + slack else NOT_REPRODUCED


def judge_direction(measured: Measured) -> str:
    """Return the verdict on a direction.

    Examples
    --------
    >>> judge_direction(measure_direction([True, True, False]))
    'partly'
    """
    if measured.n_seeds < FEWEST:
        return NOT_TESTABLE
    if measured.share >= MOST:
        return REPRODUCED
    return PARTLY if measured.share >= HALF else NOT_REPRODUCED

"""A claim of the paper as a check, and the rules by which it is judged. They look at nothing but the numbers.

* A number is **reproduced** when it lies in the 95 % interval of one further seed (Student's t prediction interval:
  the paper prints one run), widened by half a unit of its last printed digit; otherwise it is **not reproduced**.
  An interval that holds the number but is wider than ±25 % of it would hold many others too: **uninformative**.
* A direction is **reproduced** when it holds in at least 90 % of the seeds, **partly** when in at least 50 %,
  otherwise **not reproduced**.
* Fewer than ten seeds decide nothing, so that fewer seeds never improve a verdict: **uninformative**.
* Fewer than three seeds with a value, a value undefined in more than half of the seeds, a number the paper does not
  print, or a word like “many” that needs a threshold of ours: **not testable**.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bivaluate.replicate.profile import PAPER_SEED

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.claim_evidence import Evidence

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
UNINFORMATIVE, NOT_TESTABLE = "uninformative", "not testable"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, UNINFORMATIVE, NOT_TESTABLE)
LEVEL = 0.95
MOST, HALF = 0.9, 0.5
FEWEST, ENOUGH = 3, 10
#: An interval reaching further than this share of the printed number on either side says little about it.
WIDE = 0.25
#: A number whose standard deviation over seeds exceeds this share of its mean depends on the seed.
SPREAD = 0.05

INDEPENDENT, FITTED, IMPLIED = "independent", "fitted", "implied"


class View(NamedTuple):
    """Under which profile, and with which seeds of the algorithms, a claim is looked at."""

    profile: str
    algorithm_seed: str


#: The paper's conventions, algorithms with random_state 42; seeds vary the matrices.
PAPER_VIEW = View("paper", "fixed")
OTHER_CONVENTIONS = (View("default", "fixed"), View("zero", "fixed"))
OWN_SEEDS = View("paper", "own")

Measure = Callable[["Evidence", View], "pd.Series[Any]"]


@dataclass(frozen=True)
class Claim:
    """One thing the paper says.

    Parameters
    ----------
    id : str
        Number of the group, and of the claim within it.
    sentence : str
        What the paper says.
    source : str
        Where it says so.
    on : str
        ``"planted"``, ``"matched"`` or ``"yeast"``: which experiment it is about.
    measure : callable
        Returns one value per seed: numbers for a printed number, True or False for a direction.
    paper : float, optional
        The printed number; None for a direction.
    resolution : float
        One unit of the last printed digit.
    upper : float
        The largest value possible; intervals end there.
    reading : str
        How the check reads the sentence, where the paper leaves room.
    basis : str
        ``"fitted"`` where the scenarios were calibrated to it, ``"implied"`` where it follows from fitted numbers,
        else ``"independent"``.
    unprinted : bool
        Whether it is about a number the paper mentions without printing: measured, but not testable.
    vague : bool
        Whether its words need a threshold of ours: measured, but not testable.
    """

    id: str
    sentence: str
    source: str
    on: str
    measure: Measure
    paper: float | None = None
    resolution: float = 0.0
    upper: float = math.inf
    reading: str = ""
    basis: str = INDEPENDENT
    unprinted: bool = False
    vague: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is about a number, rather than a direction."""
        return self.paper is not None or self.unprinted


@dataclass(frozen=True)
class Measured:
    """What the seeds say about a number or, with `share`, a direction; `reach` is half the interval, unclipped."""

    n_seeds: int
    n_undefined: int
    mean: float
    low: float
    high: float
    sd: float
    share: float = math.nan
    reach: float = math.nan


@dataclass(frozen=True)
class Outcome:
    """A judged claim. The verdict is under the paper's conventions; the others show what it depends on."""

    claim: Claim
    measured: Measured
    verdict: str
    default_verdict: str
    own_seed_verdict: str
    at_paper_seed: str
    on_convention: bool
    on_seed: bool


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
    low, high = max(mean - reach, 0.0), min(mean + reach, upper)
    return Measured(len(values), len(values) - n, mean, low, high, sd, reach=reach)


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
    return Measured(n, 0, share, max(centre - reach, 0.0), min(centre + reach, 1.0), sd, share, reach)


def judge_number(measured: Measured, paper: float, resolution: float) -> str:
    """Return the verdict on a printed number; `resolution` is one unit of its last digit.

    Examples
    --------
    >>> judge_number(measure_number([1.0, 1.1, 0.9] * 4), 1.05, 0.01)
    'reproduced'
    """
    defined = measured.n_seeds - measured.n_undefined
    if defined < FEWEST or measured.n_undefined > measured.n_seeds / 2:
        return NOT_TESTABLE
    slack = resolution / 2 + 1e-9
    inside = measured.low - slack <= paper <= measured.high + slack
    if defined < ENOUGH or (inside and measured.reach > WIDE * abs(paper)):
        return UNINFORMATIVE
    return REPRODUCED if inside else NOT_REPRODUCED


def judge_direction(measured: Measured) -> str:
    """Return the verdict on a direction.

    Examples
    --------
    >>> judge_direction(measure_direction([True, True, False] * 4))
    'partly'
    """
    if measured.n_seeds < FEWEST:
        return NOT_TESTABLE
    if measured.n_seeds < ENOUGH:
        return UNINFORMATIVE
    if measured.share >= MOST:
        return REPRODUCED
    return PARTLY if measured.share >= HALF else NOT_REPRODUCED


def judge(claim: Claim, evidence: Evidence) -> Outcome:
    """Judge one claim on the evidence; a claim whose data were not run is not testable."""
    series = claim.measure(evidence, PAPER_VIEW)
    measured = _measure(claim, series)
    verdict = _verdict(claim, measured)
    others = [verdict]
    own = verdict
    if claim.on != "planted":
        others = [_verdict(claim, _measure(claim, claim.measure(evidence, view))) for view in OTHER_CONVENTIONS]
    if claim.on == "matched":
        own = _verdict(claim, _measure(claim, claim.measure(evidence, OWN_SEEDS)))
    at_seed, differs = _at_paper_seed(claim, series, measured)
    return Outcome(
        claim,
        measured,
        verdict,
        others[0],
        own,
        at_seed,
        any(other != verdict for other in others),
        _varies(claim, measured) or own != verdict or differs,
    )


def _measure(claim: Claim, series: pd.Series[Any]) -> Measured:
    """Return what the seeds say; on yeast the paper's own seed is shown but not counted."""
    if claim.on == "yeast":
        series = series[series.index != PAPER_SEED]
    if claim.is_number:
        return measure_number([float(value) for value in series], claim.upper)
    return measure_direction([bool(value) for value in series])


def _verdict(claim: Claim, measured: Measured) -> str:
    if claim.unprinted or claim.vague:
        return NOT_TESTABLE
    if claim.paper is None:
        return judge_direction(measured)
    return judge_number(measured, claim.paper, claim.resolution)


def _varies(claim: Claim, measured: Measured) -> bool:
    if claim.is_number:
        return bool(measured.sd > SPREAD * measured.mean)
    return 0 < measured.share < 1


def _at_paper_seed(claim: Claim, series: pd.Series[Any], measured: Measured) -> tuple[str, bool]:
    """Return what the run with the paper's seed gives, and whether it falls outside what other seeds give."""
    if claim.on != "yeast" or PAPER_SEED not in series.index:
        return "", False
    value = series.loc[PAPER_SEED]
    if not claim.is_number:
        return ("yes" if value else "no"), bool(value) != (measured.share >= HALF)
    if math.isnan(value):
        return "undefined", measured.n_undefined < measured.n_seeds
    return f"{value:.4g}", not (measured.low <= value <= measured.high) and measured.sd > 0

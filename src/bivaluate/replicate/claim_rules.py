"""A claim of the paper as a check, and the rules by which it is judged, on the numbers alone (text.toml words them)."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from bivaluate.replicate.claim_evidence import Evidence
from bivaluate.replicate.profile import PAPER_SEED

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
UNDECIDED, UNINFORMATIVE, NOT_TESTABLE = "undecided", "uninformative", "not testable"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, UNDECIDED, UNINFORMATIVE, NOT_TESTABLE)
LEVEL = 0.95
MOST, HALF = 0.9, 0.5
FEWEST, ENOUGH = 3, 10
TOO_FEW = "too few seeds"  # said in place of the verdict on a check that more seeds could decide
#: Two scores within this share of each other do not decide between their solutions.
CLOSE = 0.02
#: An interval reaching further than this share of the printed number on either side says little about it.
WIDE = 0.25
#: A number whose standard deviation over seeds exceeds this share of its mean depends on the seed.
SPREAD = 0.05

INDEPENDENT, DESIGNED, FITTED, IMPLIED = "independent", "depends on our scenarios", "fitted", "implied"
NUMBER, DIRECTION, CHOICE = "number", "direction", "choice"


class View(NamedTuple):
    """Under which profile, and with which seeds of the algorithms, a claim is looked at."""

    profile: str
    algorithm_seed: str


#: The printed formula, algorithms with random_state 42; seeds vary the matrices.
PAPER_VIEW = View("printed", "fixed")
COLUMNS_VIEW = View("columns", "fixed")
OTHER_CONVENTIONS = (View("default", "fixed"), View("zero", "fixed"))
OWN_SEEDS = View("printed", "own")

Measure = Callable[["Evidence", View], "pd.Series[Any]"]


@dataclass(frozen=True)
class Claim:
    """One thing the paper says."""

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
    choice: bool = False
    columns: bool = False

    @property
    def kind(self) -> str:
        """Whether it is about a number, a direction or a choice."""
        return NUMBER if self.paper is not None or self.unprinted else CHOICE if self.choice else DIRECTION


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
    margin: float = math.nan


@dataclass(frozen=True)
class Look:
    """A claim under one view: what was measured, the verdict, and what the run with the paper's seed gives."""

    measured: Measured
    verdict: str
    at_paper_seed: str = ""
    differs: bool = False


@dataclass(frozen=True)
class JudgedClaim:
    """A judged claim: under the printed formula, and what the verdict depends on; `columns` is the second reading."""

    claim: Claim
    printed: Look
    default_verdict: str
    own_seed_verdict: str
    on_convention: bool
    on_seed: bool
    columns: Look | None

    @property
    def verdict(self) -> str:
        """The verdict under the printed formula: the one that is counted."""
        return self.printed.verdict

    @property
    def measured(self) -> Measured:
        """What was measured under the printed formula."""
        return self.printed.measured


def measure_number(values: Sequence[float], upper: float = math.inf) -> Measured:
    """Return mean, standard deviation and the 95 % interval of one further seed, within 0 and `upper`."""
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


def measure_direction(holds: Sequence[bool], n_undecided: int = 0, margin: float = math.nan) -> Measured:
    """Return the share of seeds in which a direction holds, with its 95 % Wilson interval."""
    n, seeds = len(holds), len(holds) + n_undecided
    if n == 0:
        return Measured(seeds, n_undecided, math.nan, math.nan, math.nan, math.nan, margin=margin)
    from scipy.stats import binomtest

    held = binomtest(sum(map(bool, holds)), n)
    share, (low, high) = held.statistic, held.proportion_ci(LEVEL, method="wilson")
    return Measured(seeds, n_undecided, share, low, high, math.sqrt(share * (1 - share)), share, margin=margin)


def measure_choice(margins: Sequence[float]) -> Measured:
    """Return in what share of the seeds that decide a choice it is the paper's, and the median margin."""
    known = [m for m in margins if not math.isnan(m)]
    decided = [m < 0 for m in known if abs(m) > CLOSE]
    middle = statistics.median(known) if known else math.nan
    return measure_direction(decided, len(margins) - len(decided), middle)


def judge_number(measured: Measured, paper: float, resolution: float) -> str:
    """Return the verdict on a printed number; `resolution` is one unit of its last digit."""
    defined = measured.n_seeds - measured.n_undefined
    if defined < FEWEST or measured.n_undefined > measured.n_seeds / 2:
        return NOT_TESTABLE
    slack = resolution / 2 + 1e-9
    inside = measured.low - slack <= paper <= measured.high + slack
    if defined < ENOUGH or (inside and measured.reach > WIDE * abs(paper)):
        return UNINFORMATIVE
    return REPRODUCED if inside else NOT_REPRODUCED


def judge_direction(measured: Measured) -> str:
    """Return the verdict on a direction, or on a choice by the seeds that decide it."""
    if measured.n_seeds < ENOUGH:
        return NOT_TESTABLE if measured.n_seeds < FEWEST else UNINFORMATIVE
    if measured.n_undefined > measured.n_seeds / 2:
        return UNDECIDED
    return REPRODUCED if measured.share >= MOST else PARTLY if measured.share >= HALF else NOT_REPRODUCED


def judge_claim(claim: Claim, evidence: Evidence) -> JudgedClaim:
    """Judge one claim on the evidence; a claim whose data were not run is not testable."""
    printed = _look(claim, evidence, PAPER_VIEW)
    searched, matched = claim.on in ("matched", "yeast"), claim.on == "matched"
    others = [_look(claim, evidence, view).verdict for view in OTHER_CONVENTIONS] if searched else [printed.verdict]
    own = _look(claim, evidence, OWN_SEEDS).verdict if matched else printed.verdict
    varies = _varies(claim, printed.measured) or own != printed.verdict or printed.differs
    second = _look(claim, evidence, COLUMNS_VIEW) if claim.columns else None
    return JudgedClaim(claim, printed, others[0], own, any(o != printed.verdict for o in others), varies, second)


def _look(claim: Claim, evidence: Evidence, view: View) -> Look:
    series = claim.measure(evidence, view)
    # on yeast the paper's own seed is shown but not counted
    counted = series[series.index != PAPER_SEED] if claim.on == "yeast" else series
    values = [float(value) for value in counted]
    if claim.kind == NUMBER:
        measured = measure_number(values, claim.upper)
    else:
        measured = measure_choice(values) if claim.choice else measure_direction([bool(value) for value in values])
    verdict = _verdict(claim, measured)
    if claim.on != "yeast" or PAPER_SEED not in series.index:
        return Look(measured, verdict)
    return Look(measured, verdict, *_at_paper_seed(claim, float(series.loc[PAPER_SEED]), measured))


def _verdict(claim: Claim, measured: Measured) -> str:
    if claim.unprinted or claim.vague:
        return NOT_TESTABLE
    if claim.on == "paper":
        return REPRODUCED if measured.share == 1 else NOT_REPRODUCED
    return judge_direction(measured) if claim.paper is None else judge_number(measured, claim.paper, claim.resolution)


def _varies(claim: Claim, measured: Measured) -> bool:
    return bool(measured.sd > SPREAD * measured.mean) if claim.kind == NUMBER else 0 < measured.share < 1


def _at_paper_seed(claim: Claim, value: float, measured: Measured) -> tuple[str, bool]:
    """Return what the run with the paper's seed gives, and whether it falls outside what other seeds give."""
    if claim.choice:
        word = "yes" if value < -CLOSE else "no" if value > CLOSE else UNDECIDED
        return f"{word} ({margin_words(value)})", (value < 0) != (measured.margin < 0)
    if claim.kind == DIRECTION:
        return ("yes" if value else "no"), bool(value) != (measured.share >= HALF)
    if math.isnan(value):
        return "undefined", measured.n_undefined < measured.n_seeds
    return f"{value:.4g}", not (measured.low <= value <= measured.high) and measured.sd > 0


def margin_words(margin: float) -> str:
    """Return a margin as text."""
    if math.isnan(margin):
        return "undefined"
    if math.isinf(margin):
        return "+∞" if margin > 0 else "−∞"
    return f"{100 * margin:+.1f} %".replace("-", "−")

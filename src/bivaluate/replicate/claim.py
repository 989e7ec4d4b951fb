"""A claim of the paper as a check, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bivaluate.replicate.profile import PAPER_SEED
from bivaluate.replicate.verdict import (
    NOT_TESTABLE,
    Measured,
    judge_direction,
    judge_number,
    measure_direction,
    measure_number,
)

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.replicate.evidence import Evidence

SPREAD = 0.05
"""A number whose standard deviation over seeds exceeds this share of its mean depends on the seed."""


class View(NamedTuple):
    """Under which profile, and with which seeds of the algorithms, a claim is looked at."""

    profile: str
    algorithm_seed: str


PAPER_VIEW = View("paper", "fixed")
"""The paper's conventions, algorithms with random_state 42; seeds vary the matrices."""
OTHER_CONVENTIONS = (View("default", "fixed"), View("zero", "fixed"))
OWN_SEEDS = View("paper", "own")

Measure = Callable[["Evidence", View], "pd.Series[Any]"]


@dataclass(frozen=True)
class Claim:
    """One thing the paper says.

    Parameters
    ----------
    id
        Number of the claim and letter of its part.
    sentence
        What the paper says.
    source
        Where it says so.
    on
        ``"planted"``, ``"matched"`` or ``"yeast"``: which experiment it is about.
    measure
        Returns one value per seed: numbers for a printed number, True or False for a direction.
    paper
        The printed number; None for a direction.
    resolution
        One unit of the last printed digit.
    upper
        The largest value possible; intervals end there.
    reading
        How the check reads the sentence, where the paper leaves room.
    unprinted
        Whether it is about a number the paper mentions without printing: measured, but not testable.
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
    unprinted: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is about a number, rather than a direction."""
        return self.paper is not None or self.unprinted


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


def judge(claim: Claim, evidence: Evidence) -> Outcome:
    """Judge one claim on the evidence; a claim whose data were not run is not testable."""
    series = claim.measure(evidence, PAPER_VIEW)
    over = series[series.index != PAPER_SEED] if claim.on == "yeast" else series
    measured = _measure(claim, over)
    verdict = _verdict(claim, measured)
    if claim.on == "planted":
        return Outcome(claim, measured, verdict, verdict, verdict, "", False, _varies(claim, measured))
    others = [_verdict(claim, _measure(claim, _usual(claim, evidence, view))) for view in OTHER_CONVENTIONS]
    own = verdict if claim.on == "yeast" else _verdict(claim, _measure(claim, claim.measure(evidence, OWN_SEEDS)))
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


def _usual(claim: Claim, evidence: Evidence, view: View) -> pd.Series[Any]:
    series = claim.measure(evidence, view)
    return series[series.index != PAPER_SEED] if claim.on == "yeast" else series


def _measure(claim: Claim, series: pd.Series[Any]) -> Measured:
    if claim.is_number:
        return measure_number([float(value) for value in series], claim.upper)
    return measure_direction([bool(value) for value in series])


def _verdict(claim: Claim, measured: Measured) -> str:
    if claim.unprinted:
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
        return ("yes" if value else "no"), bool(value) != (measured.share >= 0.5)
    if math.isnan(value):
        return "undefined", measured.n_undefined < measured.n_seeds
    return f"{value:.4g}", not (measured.low <= value <= measured.high) and measured.sd > 0

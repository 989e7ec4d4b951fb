"""What is known when a verdict is spoken: the case, its winner, and where words begin to change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bivaluate.measures.registry import METRICS
from bivaluate.report.groups import Group

CLOSE = 0.05
"""Two scores this near (a share of the better) count as equal."""
NEGLIGIBLE = 0.05
"""Explaining less than this share of the cells is called out."""
DISTINCT, INDISTINCT = 0.5, 0.9
"""Below the first NVE, biclusters are clearly distinct; from the second on, hardly."""
NOISY = 0.8
"""Rows this far (VE) from their pattern do not follow it."""
STEADY = 0.7
"""A winner of at least this share of the seeds does not hang on the seed."""
SIGNIFICANT = 0.05
"""A p-value up to this stands out from the null."""
RIVALS = ("asr", "avg_ve", "nsr", "nve", "nve_cov")
LEANS_SMALL = frozenset({"nve_cov", "nsr", "cc"})
LEANS_LARGE = frozenset({"asr", "avg_ve"})


@dataclass(frozen=True)
class Sentence:
    """One sentence; `kind` is ``headline``, ``finding`` or ``caution``."""

    kind: str
    text: str


@dataclass(frozen=True)
class Case:
    """What is known about one data set when its verdict is spoken.

    `repeats` are groups of biclusters (0-based) of the winner that merge almost for free and `errors` their
    virtual errors, `names` what they are called; `typical` are the measures of the winner's typical solution;
    `missing` of `planned` cells are unfinished; `calibrated` says that null runs stand beside the scores, and
    `p_value` that of the winner over so many `surrogates`.
    """

    groups: Sequence[Group]
    criterion: str = "nve_cov"
    repeats: Sequence[Sequence[int]] = ()
    errors: Sequence[float] = ()
    names: Sequence[str] = ()
    typical: Mapping[str, float] = field(default_factory=dict)
    missing: int = 0
    planned: int = 0
    calibrated: bool = False
    p_value: float = math.nan
    surrogates: int = 0

    def called(self, members: Iterable[int]) -> list[str]:
        """Return the names of biclusters, B1, B2, … where none are given."""
        return [self.names[k] if self.names else f"B{k + 1}" for k in members]

    @property
    def winner(self) -> Group | None:
        """The group with the best criterion, if any is defined."""
        return best(self.groups, self.criterion)


def best(groups: Sequence[Group], key: str) -> Group | None:
    """Return the group with the best mean of a measure, or None where none is defined in half of its seeds."""
    defined = [g for g in groups if math.isfinite(g.value(key)) and 2 * g.counted.get(key, 0) >= g.seeds]
    if not defined:
        return None
    sign = -1 if key in METRICS and METRICS[key].direction == "high" else 1
    return min(defined, key=lambda group: sign * group.value(key))


def symbol(key: str) -> str:
    """Return a measure's symbol."""
    return METRICS[key].symbol if key in METRICS else key

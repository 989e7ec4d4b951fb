"""Solutions gathered over seeds: one group per data set, algorithm and K, with mean and spread."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bivaluate.report.source import Scored

CRITERIA = ("nve_cov", "nve", "avg_ve", "nsr", "asr")


@dataclass(frozen=True)
class Group:
    """The solutions of one data set, algorithm and K over all seeds.

    `mean`, `spread` (standard deviation, NaN for a single seed) and `counted` (how many seeds are defined)
    go by measure. `members` are positions in the list of solutions; `typical` is the member whose
    criterion is the median. `wins` counts the seeds in which the group is the best of its data set.
    """

    dataset: str
    algorithm: str
    k: int | None
    members: tuple[int, ...]
    mean: Mapping[str, float]
    spread: Mapping[str, float]
    counted: Mapping[str, int]
    reasons: Mapping[str, str]
    statuses: Mapping[str, int]
    reason: str
    typical: int
    wins: int = 0

    @property
    def name(self) -> str:
        """How sentences call it: ``Spectral, K = 3``."""
        return self.algorithm if self.k is None else f"{self.algorithm}, K = {self.k}"

    @property
    def seeds(self) -> int:
        """Number of solutions in the group."""
        return len(self.members)

    def value(self, key: str) -> float:
        """Return the mean of a measure, NaN if it is undefined or unknown."""
        return self.mean.get(key, math.nan)


def choose_criterion(solutions: Sequence[Scored]) -> str:
    """Return the measure that decides: NVE_cov where there is one, else the next best known."""
    for key in CRITERIA:
        if any(math.isfinite(s.values.get(key, math.nan)) for s in solutions):
            return key
    return CRITERIA[0]


def make_groups(solutions: Sequence[Scored], criterion: str) -> list[Group]:
    """Gather solutions over seeds, in order of first appearance."""
    gathered: dict[tuple[str, str, int | None], list[int]] = {}
    for index, scored in enumerate(solutions):
        gathered.setdefault((scored.dataset, scored.algorithm, scored.k), []).append(index)
    wins = _wins(solutions, criterion)
    return [_group(key, members, solutions, criterion, wins) for key, members in gathered.items()]


def _group(
    key: tuple[str, str, int | None],
    members: list[int],
    solutions: Sequence[Scored],
    criterion: str,
    wins: Counter[tuple[str, str, int | None]],
) -> Group:
    keys = dict.fromkeys(measure for index in members for measure in solutions[index].values)
    mean: dict[str, float] = {}
    spread: dict[str, float] = {}
    counted: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for measure in keys:
        values = [solutions[index].values.get(measure, math.nan) for index in members]
        finite = [value for value in values if math.isfinite(value)]
        counted[measure] = len(finite)
        mean[measure] = statistics.fmean(finite) if finite else math.nan
        spread[measure] = statistics.stdev(finite) if len(finite) > 1 else math.nan
        if len(finite) < len(members):
            reasons[measure] = _reason(measure, members, solutions)
    return Group(
        *key,
        members=tuple(members),
        mean=mean,
        spread=spread,
        counted=counted,
        reasons=reasons,
        statuses=dict(Counter(solutions[index].status for index in members)),
        reason=next((solutions[index].reason for index in members if solutions[index].reason), ""),
        typical=_typical(members, solutions, criterion),
        wins=wins[key],
    )


def _reason(measure: str, members: Sequence[int], solutions: Sequence[Scored]) -> str:
    for index in members:
        scored = solutions[index]
        if not math.isfinite(scored.values.get(measure, math.nan)):
            return scored.reasons.get(measure) or scored.reason or "undefined for this solution"
    return ""


def _typical(members: Sequence[int], solutions: Sequence[Scored], criterion: str) -> int:
    defined = [i for i in members if math.isfinite(solutions[i].values.get(criterion, math.nan))]
    if not defined:
        finished = [i for i in members if solutions[i].status in ("ok", "degenerate")]
        return (finished or list(members))[0]
    ordered = sorted(defined, key=lambda i: (solutions[i].values[criterion], i))
    return ordered[(len(ordered) - 1) // 2]


def _wins(solutions: Sequence[Scored], criterion: str) -> Counter[tuple[str, str, int | None]]:
    """Count, per data set and seed, who has the lowest criterion."""
    best: dict[tuple[str, int | None], Scored] = {}
    for scored in solutions:
        value = scored.values.get(criterion, math.nan)
        place = (scored.dataset, scored.seed)
        if math.isfinite(value) and (place not in best or value < best[place].values[criterion]):
            best[place] = scored
    return Counter((s.dataset, s.algorithm, s.k) for s in best.values())

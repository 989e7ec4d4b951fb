"""Solutions gathered over seeds, and what judge says of them: who wins, by which measure, in which seed."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from bivaluate._errors import ParameterError
from bivaluate._text import number
from bivaluate._types import DataFrame
from bivaluate.judge import choice
from bivaluate.registry import RECORDS, get_ranking_metric, main_keys, main_metrics, own_key
from bivaluate.report.source import Scored

Place = tuple[str, str, int]


@dataclass(frozen=True)
class Group:
    """The solutions of one data set, algorithm and K over all seeds.

    `mean`, `spread` (standard deviation, NaN for a single seed) and `counted` (how many seeds take part) go by
    measure. Where no solution can be judged, `counted` is 0 and `mean` is that of the defined values. `members` are
    positions in the list of solutions; `taken` is the best by the criterion, which is drawn. `wins` counts the seeds
    in which the group is the best of its data set, `first` holds the measures by which it wins there over all seeds,
    `own` those by which its K is the best of its algorithm; `rank` is its place by the criterion, best first, and
    `predicts` whether it predicts held-out cells.
    """

    dataset: str
    algorithm: str
    k: int
    members: tuple[int, ...]
    mean: Mapping[str, float]
    spread: Mapping[str, float]
    counted: Mapping[str, int]
    reasons: Mapping[str, str]
    statuses: Mapping[str, int]
    reason: str
    taken: int
    wins: int = 0
    first: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    rank: int = 0
    predicts: bool = False
    finds_k: bool = False

    @property
    def name(self) -> str:
        """How sentences call it: ``Spectral, K = 3``, the number asked for, unless its name says it or it finds K."""
        known = self.finds_k or re.search(rf"\bK {self.k}\b", self.algorithm)
        return self.algorithm if known else f"{self.algorithm}, K = {self.k}"

    @property
    def called(self) -> str:
        """The same with the number found, where that is another: ``LAS, K = 20 (7 found)``."""
        found = self.value("n_biclusters")
        same = self.finds_k or not math.isfinite(found) or found == self.k
        return self.name if same else f"{self.name} ({number(found)} found)"

    @property
    def family(self) -> str:
        """The algorithm, or the run that solutions of several K come from."""
        return choice.family(self.algorithm, self.k)

    @property
    def seeds(self) -> int:
        """Number of solutions in the group."""
        return len(self.members)

    def value(self, key: str) -> float:
        """Return the mean of a measure, NaN if it is undefined or unknown."""
        return self.mean.get(key, math.nan)

    def takes_part(self, key: str) -> bool:
        """Whether enough seeds have a value of this measure that can be judged."""
        return bool(choice.enough_seeds(self.counted.get(key, 0), self.seeds))


@dataclass(frozen=True)
class Gathered:
    """All groups with their marks, solutions and winners as tables, and per solution where it is its seed's best."""

    criterion: str
    groups: Sequence[Group]
    table: DataFrame
    winners: DataFrame
    seed_bests: Sequence[Sequence[str]]


def results_table(solutions: Sequence[Scored]) -> DataFrame:
    """Return the solutions as judge takes them, one row each: dataset, algorithm, k, seed, status and measures."""
    import pandas as pd

    place = [*choice.CANDIDATE, "seed", "status"]
    rows = [(s.dataset, s.algorithm, s.k, s.seed or 0, s.status) for s in solutions]
    values = pd.DataFrame([dict(s.values) for s in solutions], index=range(len(rows)), dtype=float)
    return pd.concat([pd.DataFrame(rows, columns=place), values], axis=1)


def choose_criterion(solutions: Sequence[Scored], by: str | None = None) -> str:
    """Return the measure that decides: `by`, or the first main measure that a solution has."""
    if by is not None:
        by = get_ranking_metric(own_key(by, {key for s in solutions for key in s.values}) or by).key
        if solutions and not any(by in s.values for s in solutions):
            raise ParameterError(f"{by!r} was not computed: score or sweep again with it among the metrics.")
        return by
    judged = [s for s in solutions if s.status == "ok"] or solutions
    main = [metric.key for metric in main_metrics()]
    return next((k for k in main if any(math.isfinite(s.values.get(k, math.nan)) for s in judged)), main[0])


def gather(solutions: Sequence[Scored], by: str | None = None) -> Gathered:
    """Gather solutions over seeds, in order of first appearance, and mark what judge chooses."""
    criterion = choose_criterion(solutions, by)
    table = results_table(solutions)
    keys = [str(key) for key in table.columns[5:]]
    ranking = [key for key in keys if key in RECORDS and RECORDS[key].ranks_solutions]
    summaries = {key: choice.of_measure(table, key) for key in {*ranking, criterion, choice.PREDICTIVE}}
    winners = choice.winners(table, ranking, summaries)
    of_each = choice.winners(table, main_keys(ranking), summaries, choice.CANDIDATE[:2])
    first, own = _marks(winners), _marks(of_each)
    wins = summaries[criterion]["wins"].tolist()
    stands = summaries[choice.PREDICTIVE]
    predicts = (stands["stands"] & (stands["mean"] > RECORDS[choice.PREDICTIVE].nothing)).tolist()
    members: dict[Place, list[int]] = {}
    for index, s in enumerate(solutions):
        members.setdefault((s.dataset, s.algorithm, s.k), []).append(index)
    mean, spread, counted = _means(table, keys)
    groups = []
    for i, (place, mine) in enumerate(members.items()):
        those = [solutions[index] for index in mine]
        label, reason = those[0].label or place[1], next((one.reason for one in those if one.reason), "")
        facts = (_reasons(keys, those), dict(Counter(one.status for one in those)), reason)
        marks = wins[i], frozenset(first.get(place, ())), frozenset(own.get(place, ()))
        known: dict[str, Any] = {"predicts": predicts[i], "finds_k": those[0].finds_k}
        numbers, taken = (mean[i], spread[i], counted[i]), _taken(mine, solutions, criterion)
        groups.append(Group(place[0], label, place[2], tuple(mine), *numbers, *facts, taken, *marks, **known))
    return Gathered(criterion, ranked(groups, criterion), table, winners, _seed_bests(table, ranking))


def ranked(groups: Sequence[Group], criterion: str) -> list[Group]:
    """Number the groups by the criterion, best first; those that take no part come last."""
    sign = -1 if choice.high_is_better(criterion) else 1
    inside = [i for i, group in enumerate(groups) if group.takes_part(criterion)]
    order = sorted(inside, key=lambda i: sign * groups[i].value(criterion))
    order += [i for i in range(len(groups)) if i not in inside]
    return [replace(groups[i], rank=order.index(i)) for i in range(len(groups))]


def _marks(frame: DataFrame) -> dict[Place, set[str]]:
    """Return the measures by which each candidate is named in tables of winners."""
    marks: dict[Place, set[str]] = {}
    for row in frame.to_dict("records"):
        marks.setdefault((row["dataset"], row["algorithm"], row["k"]), set()).add(row["measure"])
    return marks


def _means(table: DataFrame, keys: Sequence[str]) -> tuple[Any, Any, Any]:
    """Return mean, spread and number of judged values per group and measure; of all defined ones if none is judged."""
    judged = table[keys].copy()
    for key in keys:
        nothing = RECORDS[key].nothing if key in RECORDS else -math.inf
        judged.loc[~table["status"].isin(choice.judged_statuses(nothing)), key] = math.nan
    place = [table[column] for column in choice.CANDIDATE]
    inside, plain = (frame.groupby(place, sort=False, dropna=False) for frame in (judged, table[keys]))
    counted = inside.count()
    mean, spread = inside.mean().where(counted > 0, plain.mean()), inside.std().where(counted > 0, plain.std())
    return mean.to_dict("records"), spread.to_dict("records"), counted.to_dict("records")


def _reasons(keys: Sequence[str], members: Sequence[Scored]) -> dict[str, str]:
    """Return why measures are undefined, or take no part, in some of the solutions."""
    reasons: dict[str, str] = {}
    for key, scored in product(keys, members):
        if scored.status != "ok" or not math.isfinite(scored.values.get(key, math.nan)):
            reasons.setdefault(key, scored.reasons.get(key) or scored.reason or "undefined for this solution")
    return reasons


def _taken(members: Sequence[int], solutions: Sequence[Scored], criterion: str) -> int:
    """Return the best member by the criterion, as `select` takes it; any that was scored where none has a value."""
    scored = [i for i in members if solutions[i].status in ("ok", "degenerate")] or list(members)
    sign = -1.0 if choice.high_is_better(criterion) else 1.0
    values = {i: solutions[i].values.get(criterion, math.nan) for i in scored}
    return min(scored, key=lambda i: math.inf if math.isnan(values[i]) else sign * values[i])


def _seed_bests(table: DataFrame, keys: Sequence[str]) -> list[list[str]]:
    """Return per solution the measures by which it is the best of its data set in its seed."""
    bests: list[list[str]] = [[] for _ in range(len(table))]
    each = choice.contests(table)
    for key in keys:
        nothing = RECORDS[key].nothing
        values = table[key].where(table["status"].isin(choice.judged_statuses(nothing))).to_numpy(float)
        for contest in each:
            winner = choice.pick(values[contest], choice.high_is_better(key), nothing)
            if winner is not None:
                bests[contest[winner]].append(key)
    return bests

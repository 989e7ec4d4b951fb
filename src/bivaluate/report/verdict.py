"""The verdict on top of the page: rules that turn scores into sentences. They read scores, they make none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bivaluate.metrics.registry import METRICS
from bivaluate.report.groups import Group
from bivaluate.report.wording import listing, number, percent, plural

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
    virtual errors, `names` what they are called; `typical` are the measures of the winner's typical solution; `missing` of `planned` cells
    are unfinished; `calibrated` says that null runs stand beside the scores.
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

    def called(self, members: Iterable[int]) -> list[str]:
        """Return the names of biclusters, B1, B2, … where none are given."""
        return [self.names[k] if self.names else f"B{k + 1}" for k in members]

    @property
    def winner(self) -> Group | None:
        """The group with the best criterion, if any is defined."""
        return best(self.groups, self.criterion)


def best(groups: Sequence[Group], key: str) -> Group | None:
    """Return the group with the best mean of a measure, or None where none is defined."""
    defined = [group for group in groups if math.isfinite(group.value(key))]
    if not defined:
        return None
    sign = -1 if key in METRICS and METRICS[key].direction == "high" else 1
    return min(defined, key=lambda group: sign * group.value(key))


def judge(case: Case) -> list[Sentence]:
    """Return the verdict on one data set: the headline first, then what to know about it."""
    rules = (
        _headline,
        _repeats,
        _vague,
        _cleaner_but_tiny,
        _close_behind,
        _disagreement,
        _seeds,
        _lean,
        _small_winner,
        _chance,
        _undefined,
        _troubled,
        _unfinished,
    )
    return [sentence for rule in rules for sentence in rule(case)]


def symbol(key: str) -> str:
    """Return a measure's symbol."""
    return METRICS[key].symbol if key in METRICS else key


def _headline(case: Case) -> list[Sentence]:
    winner = case.winner
    if winner is None or (len(case.groups) == 1 and _lonely(winner)):
        return [Sentence("headline", _nothing_defined(case))]
    covers = winner.value("coverage")
    if len(case.groups) == 1:
        text = f"{winner.name}: {_distinctness(winner.value('nve'))}"
        if math.isfinite(covers):
            text += f" that explain {percent(covers)} of the matrix"
        return [Sentence("headline", text + ".")]
    score = f"{symbol(case.criterion)} {number(winner.value(case.criterion))}"
    if winner.value("nve") >= INDISTINCT:
        return [
            Sentence(
                "headline",
                f"{winner.name}: lowest {score}, but its biclusters are hardly distinct (NVE {number(winner.value('nve'))}).",
            )
        ]
    if case.criterion != "nve_cov":
        return [Sentence("headline", f"{winner.name}: lowest {score}.")]
    explains = f", explains {percent(covers)} of the matrix" if math.isfinite(covers) else ""
    return [Sentence("headline", f"{winner.name}: best balance ({score}{explains}).")]


def _lonely(group: Group) -> bool:
    """Whether there is nothing to compare: at most one bicluster, and no NVE by other means."""
    return group.value("n_biclusters") <= 1 and not math.isfinite(group.value("nve"))


def _distinctness(nve: float) -> str:
    if not math.isfinite(nve):
        return "biclusters"
    if nve < DISTINCT:
        return f"clearly distinct biclusters (NVE {number(nve)})"
    if nve < INDISTINCT:
        return f"partly distinct biclusters (NVE {number(nve)})"
    return f"hardly distinct biclusters (NVE {number(nve)})"


def _nothing_defined(case: Case) -> str:
    if not case.groups:
        return "Nothing has been scored yet."
    statuses = Counter[str]()
    for group in case.groups:
        statuses.update(group.statuses)
    if not set(statuses) & {"ok", "degenerate"}:
        group = case.groups[0]
        why = f" ({group.reason})" if group.reason else ""
        return f"No solution could be scored: {group.name} {max(group.statuses)}{why}."
    if len(case.groups) == 1:
        group = case.groups[0]
        found = group.value("n_biclusters")
        if found == 0:
            return f"{group.algorithm} has no bicluster: there is nothing to score."
        if found == 1:
            return f"{group.algorithm} has a single bicluster: NVE compares biclusters with each other and needs two."
        why = group.reasons.get(case.criterion, "")
        return f"{group.name}: {symbol(case.criterion)} is undefined{f' ({why})' if why else ''}."
    return f"No solution has a defined {symbol(case.criterion)}: see the table for the reasons."


def _repeats(case: Case) -> list[Sentence]:
    clear = _clear_repeats(case)
    if not clear:
        return []
    if len(clear) == 1 and len(clear[0]) == case.typical.get("n_biclusters", math.nan):
        return [Sentence("finding", f"All {len(clear[0])} biclusters are the same pattern.")]
    parts = [f"{listing(case.called(group))} are the same pattern" for group in clear[:3]]
    rest = f"; {len(clear) - 3} more such groups are below" if len(clear) > 3 else ""
    return [Sentence("finding", f"{'; '.join(parts)}{rest}.")]


def _vague(case: Case) -> list[Sentence]:
    """Name the biclusters whose rows do not follow their own pattern."""
    vague = [k for k, error in enumerate(case.errors) if error >= NOISY]
    if case.winner is None or not vague:
        return []
    if len(vague) == len(case.errors) > 1:
        text = f"None of its {len(vague)} biclusters is a clear pattern (VE from {NOISY:g} up)."
    else:
        names = case.called(vague if len(vague) <= 6 else vague[:3])
        more = [f"{len(vague) - 3} more"] if len(vague) > 6 else []
        is_are = "is no clear pattern" if len(vague) == 1 else "are no clear patterns"
        text = f"{listing(names + more)} {is_are} (VE from {NOISY:g} up)."
    return [Sentence("caution", text)]


def _clear_repeats(case: Case) -> list[Sequence[int]]:
    """Return the groups of repeats whose rows do follow a pattern."""
    if case.winner is None:
        return []
    return [group for group in case.repeats if all(case.errors[k] < NOISY for k in group)]


def _cleaner_but_tiny(case: Case) -> list[Sentence]:
    """Solutions with less error than the winner that explain next to nothing: one sentence per algorithm."""
    winner = case.winner
    if winner is None:
        return []
    covers = winner.value("coverage")
    tiny: dict[str, Group] = {}
    for group in case.groups:
        share = group.value("coverage")
        cleaner = any(group.value(key) < winner.value(key) for key in ("avg_ve", "nve"))
        if group is winner or not cleaner or not share < min(NEGLIGIBLE, covers / 3):
            continue
        held = tiny.get(group.algorithm)
        if held is None or share < held.value("coverage"):
            tiny[group.algorithm] = group
    return [
        Sentence(
            "finding", f"{name} looks cleaner but explains {percent(group.value('coverage'))} of the matrix."
        )
        for name, group in tiny.items()
    ]


def _close_behind(case: Case) -> list[Sentence]:
    winner = case.winner
    if winner is None:
        return []
    second = best([group for group in case.groups if group is not winner], case.criterion)
    if second is None:
        return []
    ahead, behind = winner.value(case.criterion), second.value(case.criterion)
    noise = [g.spread.get(case.criterion, math.nan) for g in (winner, second)]
    spread = max((s for s in noise if math.isfinite(s)), default=0.0)
    if behind - ahead > max(CLOSE * abs(ahead), spread):
        return []
    within = ", within the spread over seeds" if behind - ahead > CLOSE * abs(ahead) else ""
    return [
        Sentence(
            "finding",
            f"{second.name} is close behind ({number(behind)} against {number(ahead)}{within}): treat the two as equal.",
        )
    ]


def _disagreement(case: Case) -> list[Sentence]:
    winner = case.winner
    if winner is None or len(case.groups) < 2:
        return []
    picks: dict[str, list[str]] = {}
    for key in RIVALS:
        pick = best(case.groups, key)
        if pick is not None and pick is not winner:
            picks.setdefault(pick.name, []).append(symbol(key))
    if not picks:
        rivals = [key for key in RIVALS if best(case.groups, key) is not None]
        return [Sentence("finding", "All measures agree on it.")] if len(rivals) > 2 else []
    parts = [
        f"{listing(keys)} {'prefers' if len(keys) == 1 else 'prefer'} {name}" for name, keys in picks.items()
    ]
    return [Sentence("finding", f"The measures disagree: {'; '.join(parts)}.")]


def _seeds(case: Case) -> list[Sentence]:
    winner = case.winner
    seeds = sum(group.wins for group in case.groups)
    if winner is None or winner.seeds < 2 or seeds < 2 or len(case.groups) < 2:
        return []
    if winner.wins >= STEADY * seeds:
        share = f"all {seeds}" if winner.wins == seeds else f"{winner.wins} of {seeds}"
        return [Sentence("finding", f"It is the best in {share} seeds.")]
    rival = max((g for g in case.groups if g is not winner), key=lambda g: g.wins)
    return [
        Sentence(
            "caution",
            f"The choice hangs on the seed: it is the best in {winner.wins} of {seeds}, {rival.name} in {rival.wins}.",
        )
    ]


def _lean(case: Case) -> list[Sentence]:
    """Say that a K at the end of the sweep is where the measure leans anyway."""
    winner = case.winner
    if winner is None or case.calibrated or winner.k is None:
        return []
    tried = sorted({g.k for g in case.groups if g.algorithm == winner.algorithm and g.k is not None})
    if len(tried) < 2:
        return []
    end, size = ("smallest", "small") if winner.k == tried[0] else ("largest", "large")
    leaning = LEANS_SMALL if end == "smallest" else LEANS_LARGE
    if winner.k not in (tried[0], tried[-1]) or case.criterion not in leaning:
        return []
    return [
        Sentence(
            "caution",
            f"K = {winner.k} is the {end} K tried and {symbol(case.criterion)} leans to {size} K: "
            f"without null runs beside it, this is no evidence for {plural(winner.k, 'bicluster')}.",
        )
    ]


def _small_winner(case: Case) -> list[Sentence]:
    winner = case.winner
    if winner is None or len(case.groups) < 2 or not winner.value("coverage") < NEGLIGIBLE:
        return []
    return [
        Sentence(
            "caution", f"Even the winner explains only {percent(winner.value('coverage'))} of the matrix."
        )
    ]


def _chance(case: Case) -> list[Sentence]:
    winner = case.winner
    if winner is None or not winner.value("avg_ave") >= INDISTINCT:
        return []
    return [
        Sentence(
            "caution",
            f"On average its biclusters are hardly more coherent than what a search finds in noise ({symbol('avg_ave')} {number(winner.value('avg_ave'))}).",
        )
    ]


def _undefined(case: Case) -> list[Sentence]:
    undefined = case.typical.get("n_undefined", 0.0)
    found = case.typical.get("n_biclusters", 0.0)
    if case.winner is None or not undefined > 0:
        return []
    has = "has" if undefined == 1 else "have"
    return [
        Sentence(
            "caution",
            f"{undefined:.0f} of its {found:.0f} biclusters {has} a single row or column and no defined score.",
        )
    ]


def _troubled(case: Case) -> list[Sentence]:
    statuses = Counter[str]()
    for group in case.groups:
        statuses.update(group.statuses)
    total = sum(statuses.values())
    if total < 2:
        return []
    parts = []
    if statuses["degenerate"]:
        have = "has" if statuses["degenerate"] == 1 else "have"
        parts.append(
            f"{statuses['degenerate']:,} of {total:,} solutions {have} biclusters too thin to score, or none at all"
        )
    parts += [f"{statuses[key]:,} of {total:,} {key}" for key in ("failed", "timed out") if statuses[key]]
    return [Sentence("caution", f"{'; '.join(parts)}.")] if parts else []


def _unfinished(case: Case) -> list[Sentence]:
    if not case.missing:
        return []
    are = "is" if case.missing == 1 else "are"
    return [
        Sentence(
            "caution",
            f"{case.missing:,} of {case.planned:,} planned solutions {are} not finished: the verdict may change.",
        )
    ]


def judge_all(cases: Mapping[str, Case]) -> list[Sentence]:
    """Return the verdict over several data sets."""
    decided = {name: case for name, case in cases.items() if case.winner is not None}
    if not decided:
        return [
            Sentence(
                "headline", f"None of {plural(len(cases), 'data set')} has a solution with a defined score."
            )
        ]
    criterion = next(iter(decided.values())).criterion
    counts = Counter(case.winner.algorithm for case in decided.values() if case.winner)
    ranked = counts.most_common()
    rest = "".join(f", {name} on {count}" for name, count in ranked[1:])
    where = (
        f"all {len(decided)} data sets"
        if ranked[0][1] == len(decided) > 1
        else f"{ranked[0][1]} of {plural(len(decided), 'data set')}{rest}"
    )
    fused = [case for case in decided.values() if case.winner and case.winner.value("nve") >= INDISTINCT]
    what = "is best"
    if criterion == "nve_cov":
        what = "has the best balance" if 2 * len(fused) < len(decided) else "has the lowest NVE_cov"
    said = [Sentence("headline", f"{ranked[0][0]} {what} on {where}.")]
    for rule, kind, text in _OVERALL:
        hit = [name for name, case in decided.items() if rule(case)]
        if hit:
            said.append(
                Sentence(kind, text.format(where=_where(hit, len(decided)), symbol=symbol(criterion)))
            )
    undecided = [name for name in cases if name not in decided]
    if undecided:
        said.append(
            Sentence(
                "caution",
                f"No defined score on {listing(undecided[:5])}{' …' if len(undecided) > 5 else ''}.",
            )
        )
    missing, planned = sum(c.missing for c in cases.values()), sum(c.planned for c in cases.values())
    return said + _unfinished(Case((), missing=missing, planned=planned))


_OVERALL: tuple[tuple[Callable[[Case], object], str, str], ...] = (
    (
        lambda case: any("disagree" in sentence.text for sentence in _disagreement(case)),
        "finding",
        "The measures disagree about the winner on {where}.",
    ),
    (
        _cleaner_but_tiny,
        "finding",
        "On {where} another solution looks cleaner but explains less than 5 % of the matrix.",
    ),
    (_clear_repeats, "finding", "On {where} the winner repeats a pattern."),
    (
        lambda case: case.winner is not None and case.winner.value("nve") >= INDISTINCT,
        "caution",
        "On {where} even the winner's biclusters are hardly distinct: merging each with its nearest costs next to nothing.",
    ),
    (
        lambda case: len(case.errors) > 1 and all(error >= NOISY for error in case.errors),
        "caution",
        "On {where} none of the winner's biclusters is a clear pattern (VE from 0.8 up).",
    ),
    (
        lambda case: any(sentence.kind == "caution" for sentence in _seeds(case)),
        "caution",
        "On {where} the choice hangs on the seed.",
    ),
    (
        _lean,
        "caution",
        "On {where} the winner has the K at the end of the sweep to which {symbol} leans: no evidence for that K.",
    ),
    (_small_winner, "caution", "On {where} even the winner explains less than 5 % of the matrix."),
)


def _where(hit: Sequence[str], total: int) -> str:
    if total == 1:
        return hit[0]
    if len(hit) == total:
        return f"all {total} data sets"
    return f"{hit[0]}" if len(hit) == 1 else f"{len(hit)} of {total} data sets"

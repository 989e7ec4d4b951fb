"""The verdict on top of the page: rules that turn scores into sentences. They read scores, they make none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from bivaluate._text import listing, number, percent, plural
from bivaluate.report.case import (
    CLOSE,
    DISTINCT,
    INDISTINCT,
    LEANS_LARGE,
    LEANS_SMALL,
    NEGLIGIBLE,
    NOISY,
    RIVALS,
    SIGNIFICANT,
    STEADY,
    Case,
    Sentence,
    best,
    symbol,
)
from bivaluate.report.groups import Group


def judge(case: Case) -> list[Sentence]:
    """Return the verdict on one data set: the headline first, then what to know about it."""
    rules = (
        _headline,
        _repeats,
        _vague,
        cleaner_but_tiny,
        _close_behind,
        disagreement,
        steadiness,
        lean,
        beside_null,
        small_winner,
        _chance,
        _undefined,
        _narrow,
        _troubled,
        unfinished,
    )
    return [sentence for rule in rules for sentence in rule(case)]


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
    if winner.value(case.criterion) == 0 and _thin(winner):
        text = f"{winner.name}: {score}, but only because biclusters of one row or at most two columns cannot fail."
        return [Sentence("headline", text)]
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


def _thin(group: Group) -> bool:
    return group.value("rows_min") < 2 or group.value("cols_min") < 3


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
    clear = clear_repeats(case)
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


def clear_repeats(case: Case) -> list[Sequence[int]]:
    """Return the groups of repeats whose rows do follow a pattern."""
    if case.winner is None:
        return []
    return [group for group in case.repeats if all(case.errors[k] < NOISY for k in group)]


def cleaner_but_tiny(case: Case) -> list[Sentence]:
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
    names = {key: group.name if key == winner.algorithm else key for key, group in tiny.items()}
    return [
        Sentence(
            "finding", f"{names[key]} looks cleaner but explains {percent(group.value('coverage'))} of the matrix."
        )
        for key, group in tiny.items()
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


def disagreement(case: Case) -> list[Sentence]:
    """Say which measures would choose another solution."""
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
        return [Sentence("finding", "All error measures agree on it.")] if len(rivals) > 2 else []
    parts = [f"{listing(keys)} {'prefers' if len(keys) == 1 else 'prefer'} {name}" for name, keys in picks.items()]
    return [Sentence("finding", f"The measures disagree: {'; '.join(parts)}.")]


def steadiness(case: Case) -> list[Sentence]:
    """Say how often the winner wins over seeds."""
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


def lean(case: Case) -> list[Sentence]:
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


def beside_null(case: Case) -> list[Sentence]:
    """Say whether the winner's score stands out from the same algorithm on matrices without structure."""
    p, lowest = case.p_value, 1 / (case.surrogates + 1)
    if case.winner is None or not math.isfinite(p):
        return []
    name = f"Its {symbol(case.criterion)}"
    if p > max(SIGNIFICANT, 1.001 * lowest):
        text = f"{name} does not stand out from surrogate matrices without structure (p = {p:.2g})."
        return [Sentence("caution", text)]
    few = "" if p <= SIGNIFICANT else f"; {plural(case.surrogates, 'surrogate')} allow no lower p"
    return [Sentence("finding", f"{name} stands out from surrogate matrices without structure (p = {p:.2g}{few}).")]


def small_winner(case: Case) -> list[Sentence]:
    """Say that even the winner explains next to nothing."""
    winner = case.winner
    if winner is None or len(case.groups) < 2 or not winner.value("coverage") < NEGLIGIBLE:
        return []
    return [Sentence("caution", f"Even the winner explains only {percent(winner.value('coverage'))} of the matrix.")]


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


def _narrow(case: Case) -> list[Sentence]:
    if case.winner is None or case.typical.get("cols_min") != 2:
        return []
    return [
        Sentence(
            "caution", "Its narrowest bicluster has two columns, where VE says next to nothing: ask for a minimum size."
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
    parts += [f"{statuses[key]:,} of {total:,} solutions {key}" for key in ("failed", "timed out") if statuses[key]]
    return [Sentence("caution", f"{'; '.join(parts)}.")] if parts else []


def unfinished(case: Case) -> list[Sentence]:
    """Say how much of the plan is not there yet."""
    if not case.missing:
        return []
    are = "is" if case.missing == 1 else "are"
    return [
        Sentence(
            "caution",
            f"{case.missing:,} of {case.planned:,} planned solutions {are} not finished: the verdict may change.",
        )
    ]

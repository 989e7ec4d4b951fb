"""The top of the page: the record of the solution to take, and notes on how it was chosen. Nothing is decided here."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bivaluate._text import all_of, listing, number, percent, plural
from bivaluate.judge import choice, verdict
from bivaluate.judge.choice import EVIDENCE, PILLARS, PREDICTIVE, AtK
from bivaluate.judge.limits import SIGNIFICANT, STEADY
from bivaluate.judge.verdict import Verdict, counted, how_many
from bivaluate.registry import RECORDS, main_metrics, symbol
from bivaluate.report.groups import Group


@dataclass(frozen=True)
class Findings:
    """What is known about one data set.

    `verdict` is the record of the solution shown: the one chosen, the only one, or what comes nearest. `missing` of
    `planned` fits are unfinished; `p_value` is that of the winner over so many `surrogates`, `p_values` those of the
    choice by the criterion and by evidence; `fitted` says that algorithms were run, `finds_k` names those that find K
    themselves; `near` comes nearest where nothing is supported; `held_out` is the command that asks held-out cells.
    """

    groups: Sequence[Group]
    criterion: str = EVIDENCE
    verdict: Verdict | None = None
    missing: int = 0
    planned: int = 0
    p_value: float = math.nan
    surrogates: int = 0
    p_values: Mapping[str, float] = field(default_factory=dict)
    fitted: bool = False
    finds_k: Collection[str] = ()
    near: str = ""
    held_out: str = ""

    def chosen(self, key: str) -> Group | None:
        """Return the group that wins by a measure, if any does."""
        return next((group for group in self.groups if key in group.first), None)

    @property
    def winner(self) -> Group | None:
        """The group that wins by the criterion, if any does."""
        return self.chosen(self.criterion)

    @property
    def pillars(self) -> list[str]:
        """Which of evidence and held-out cells were computed."""
        return [key for key in PILLARS if any(math.isfinite(group.value(key)) for group in self.groups)]

    @property
    def choices(self) -> dict[str, tuple[str, int]]:
        """What the criterion, evidence and held-out cells choose."""
        picks = {key: self.chosen(key) for key in (self.criterion, *self.pillars)}
        return {key: (pick.algorithm, pick.k) for key, pick in picks.items() if pick is not None}

    @property
    def unseen(self) -> list[str]:
        """Which of evidence and held-out cells choose nothing."""
        return choice.seeing_nothing(self.choices, self.pillars, self.p_values)

    @property
    def statuses(self) -> Counter[str]:
        """Number of solutions by status."""
        return sum((Counter(group.statuses) for group in self.groups), Counter())

    @property
    def curve(self) -> list[AtK]:
        """What each K of the winner's algorithm gives, by the criterion; none where it finds K itself."""
        winner, keys = self.winner, (self.criterion, "n_biclusters", "n_supported")
        if winner is None or winner.algorithm in self.finds_k:
            return []
        mine = [g for g in self.groups if g.family == winner.family and g.takes_part(self.criterion)]
        return sorted(AtK(g.k, *map(g.value, keys)) for g in mine)

    @property
    def as_good(self) -> list[int]:
        """The K of the winner's algorithm that are as good as its own."""
        return choice.as_good(self.curve, self.criterion)


_EARLY = "Preliminary: "  # before the headline of a run that is not finished


def speak(case: Findings) -> Verdict:
    """Return the verdict on one data set: the record of the solution shown, with a headline and notes on the choice."""
    record = case.verdict or Verdict("")
    steps = [*(["Start the same command again to finish the run."] if case.missing else []), *record.next_steps]
    if case.winner is not None and case.held_out and PREDICTIVE not in case.pillars and not case.unseen:
        steps.append(verdict.asking_held_out_cells(case.held_out))
    headline = f"{_EARLY if case.missing and case.groups else ''}{_headline(case)}"
    notes = [*_unfinished(case.missing, case.planned), *_troubled(case), *_choice(case)]
    notes = [note for note in notes if note not in headline]
    return replace(record, headline=headline, next_steps=tuple(steps[:2]), notes=(*notes, *record.notes))


def _headline(case: Findings) -> str:
    winner = case.winner
    if not case.groups:
        return "Nothing has been scored yet."
    first = case.groups[0]
    if not set(case.statuses) & {"ok", "degenerate"}:
        why = f" ({first.reason})" if first.reason else ""
        several = "".join(_troubled(case)) if len(case.groups) > 1 else ""
        return f"No solution could be scored: {several or f'{first.name} {max(first.statuses)}{why}.'}"
    if len(case.groups) == 1:
        return case.verdict.headline if case.verdict else counted(first.mean)
    if winner is not None:
        if case.criterion == EVIDENCE and not case.fitted and (compared := _compared(case)):
            return compared
        said = _supported(case, winner)
        best = "highest" if RECORDS[case.criterion].direction == "high" else "lowest"
        unasked = f"{winner.name} has the {best} {_score(case, winner)}."
        return unasked if said == verdict.NOT_ASKED else f"{winner.name}: {said[:1].lower() + said[1:]}"
    inside = [group for group in case.groups if group.takes_part(case.criterion)]
    if inside and all(group.value(case.criterion) <= RECORDS[case.criterion].nothing for group in inside):
        return verdict.nothing_supported(case.near)
    if inside:
        return f"All {len(inside)} candidates tie ({_score(case, inside[0])}): none is better than another."
    return f"No solution can be judged by {symbol(case.criterion)}: see the table for the reasons."


def _compared(case: Findings) -> str:
    """Say how many biclusters of each of several tools are supported, in at most 15 words; nothing of one over K."""
    tools = sorted(case.groups, key=lambda group: group.rank)
    counts = [how_many(g.mean) for g in tools]
    rest = [f"{g.algorithm}: {count}" for g, count in zip(tools[1:], counts[1:], strict=True)]
    shown = rest if len(rest) < 3 else [rest[0], f"{len(rest) - 1} others have less"]
    said = "; ".join([f"{tools[0].algorithm}: most evidence, {counts[0]} supported", *shown])
    several = len({group.family for group in tools if math.isfinite(group.value("n_supported"))}) == len(tools)
    return f"{said}." if several and len(said.split()) <= 15 else ""


def _supported(case: Findings, winner: Group) -> str:
    """Say how many are supported, in the solution shown where it is known, and of which K all are."""
    rows = case.verdict.biclusters if case.verdict else ()
    if case.verdict and not rows:
        return case.verdict.headline
    here = AtK(winner.k, winner.value(EVIDENCE), len(rows), sum(row["verdict"] == "supported" for row in rows))
    curve = [here if rows and at.k == winner.k else at for at in case.curve]
    if case.criterion == EVIDENCE and curve:
        return choice.supported_at(curve, winner.k)
    return counted({"n_biclusters": here.found, "n_supported": here.supported}) if rows else counted(winner.mean)


def _score(case: Findings, group: Group) -> str:
    value = group.value(case.criterion)
    return f"{symbol(case.criterion)} {percent(value) if RECORDS[case.criterion].percent else number(value)}"


def _unfinished(missing: int, planned: int) -> list[str]:
    are = "is" if missing == 1 else "are"
    return [f"{missing:,} of {planned:,} planned fits {are} not finished: the verdict may change."] if missing else []


def _troubled(case: Findings) -> list[str]:
    total, found = sum(case.statuses.values()), case.statuses
    parts = [f"{found[key]:,} of {total:,} fits {key}" for key in ("failed", "timed out") if found[key]]
    return [f"{'; '.join(parts)}."] if parts and total > 1 else []


def _choice(case: Findings) -> list[str]:
    """Return what speaks for and against the choice."""
    winner = case.winner
    told = winner is None and case.pillars == [EVIDENCE] == [case.criterion]  # by the headline
    doubted = bool(case.pillars and case.unseen and case.fitted and not told)
    agreed = choice.agreement(case.choices, case.pillars, case.criterion, case.p_values, case.finds_k)
    said = [verdict.capital(agreed)] if doubted or (winner is not None and len(case.pillars) > 1) else []
    if winner is None:
        return said
    if math.isfinite(winner.value(PREDICTIVE)):
        gain, error = winner.value(PREDICTIVE), winner.value(f"{PREDICTIVE}_error")
        said.append(verdict.prediction(winner.predicts, gain, error))
    if math.isfinite(winner.value("stability")):
        said.append(verdict.reproducibility(winner.value("stability"))[1])
    if len(case.groups) < 2:
        return said
    about = choice.about_k(case.curve, winner.k, case.criterion) if case.curve else []
    said = [*about, *said, *_others(case, winner), *_beside_null(case)]
    return [*said, *_steadiness(case, winner), *_disagreement(case, winner)]


def _others(case: Findings, winner: Group) -> list[str]:
    """Say how many biclusters of the other solutions are supported: of every algorithm the best K."""
    if case.criterion != EVIDENCE:
        return []
    if not case.fitted:
        return [choice.which_is_best([g.algorithm for g in case.groups], [g.mean for g in case.groups])[1]]
    rest: dict[str, Group] = {}
    for group in sorted(case.groups, key=lambda group: group.rank):
        if group.algorithm != winner.algorithm and math.isfinite(group.value("n_supported")):
            rest.setdefault(group.algorithm, group)
    if not rest:
        return []
    parts = [f"{g.name} ({how_many(g.mean)})" for g in rest.values()]
    return [f"The other algorithms have fewer supported biclusters or less evidence: {listing(parts)}."]


def _beside_null(case: Findings) -> list[str]:
    """Say whether the winner's score is beyond that of the same algorithm on matrices without structure."""
    p, few = case.p_value, choice.few_surrogates(case.p_value, case.surrogates, case.criterion)
    if not math.isfinite(p) or few:
        return list(filter(None, [few]))
    is_ = "is" if p <= SIGNIFICANT else "is not"
    return [f"Its {symbol(case.criterion)} {is_} better than that of surrogates without structure (p = {p:.2g})."]


def _steadiness(case: Findings, winner: Group) -> list[str]:
    """Say how often the winner wins over seeds."""
    seeds = sum(group.wins for group in case.groups)
    if winner.seeds < 2 or seeds < 2:
        return []
    if winner.spread.get(case.criterion) == 0:
        return [verdict.capital(choice.one_would_do(winner.seeds, winner.name))]
    alike = [g for g in case.groups if g is winner or (g.family == winner.family and g.k in case.as_good)]
    wins, or_as_good = sum(g.wins for g in alike), ", or a K as good," if len(alike) > 1 else ""
    if wins >= STEADY * seeds:
        often = all_of(seeds, "seed") if wins == seeds else f"{wins} of {plural(seeds, 'seed')}"
        return [f"{winner.name}{or_as_good} is best in {often}."]
    rival = max((g for g in case.groups if g not in alike), key=lambda g: g.wins)
    who = f"{winner.name}{or_as_good} is best in {wins} of {seeds}, {rival.name} in {rival.wins}"
    return [f"The choice depends on the seed: {who}."]


def _disagreement(case: Findings, winner: Group) -> list[str]:
    """Say which error measures would choose another solution."""
    picks: dict[str, list[str]] = {}
    for metric in main_metrics():
        pick = case.chosen(metric.key) if metric.direction == "low" else None
        if pick is not None and pick is not winner:
            picks.setdefault(pick.name, []).append(metric.symbol)
    parts = [f"{listing(keys)} {'prefers' if len(keys) == 1 else 'prefer'} {name}" for name, keys in picks.items()]
    who = "it measures" if sum(map(len, picks.values())) == 1 else "they measure"
    why = f"{who} coherence and coverage, not whether chance would give the same"
    return [f"{'; '.join(parts)}: {why}."] if parts and case.criterion == EVIDENCE else []


def speak_all(cases: Mapping[str, Findings]) -> Verdict:
    """Return the verdict on several data sets: who wins where; each has its own record below."""
    decided = {name: (case, case.winner) for name, case in cases.items() if case.winner is not None}
    notes = _unfinished(sum(c.missing for c in cases.values()), sum(c.planned for c in cases.values()))
    for key, what in ((EVIDENCE, "Biclusters are supported"), (PREDICTIVE, "Held-out values are predicted")):
        judged = [name for name, case in cases.items() if key in case.pillars]
        seen = [name for name in judged if key not in cases[name].unseen]
        if judged:
            notes.append(f"{what} on {_where(seen, judged) if seen else 'none of the data sets'}.")
    undecided = [name for name, case in cases.items() if name not in decided and case.groups]
    fresh = [name for name, case in cases.items() if not case.groups]
    notes += [f"Nothing can be chosen on {listing(undecided, 5)}."] if undecided and decided else []
    notes += [f"Not fitted yet: {listing(fresh, 5)}."] if fresh else []
    none = f"None of {plural(len(cases), 'data set')} has a solution that can be chosen."
    early = _EARLY if decided and any(case.missing for case in cases.values()) else ""
    return Verdict(early + _headline_of_all(decided, len(cases)) if decided else none, notes=tuple(notes))


def _headline_of_all(decided: Mapping[str, tuple[Findings, Group]], n_cases: int) -> str:
    criterion = next(case.criterion for case, _ in decided.values())
    (leader, most), *rest = Counter(winner.algorithm for _, winner in decided.values()).most_common()
    where = all_of(n_cases, "data set") if most == n_cases > 1 else f"{most} of {plural(n_cases, 'data set')}"
    where += "".join(f", {name} on {times}" for name, times in rest[:2])
    end = "highest" if RECORDS[criterion].direction == "high" else "lowest"
    what = "the most evidence" if criterion == EVIDENCE else f"the {end} {symbol(criterion)}"
    return f"{leader} has {what} on {where}."


def _where(hit: Sequence[str], among: Collection[str]) -> str:
    if len(hit) == 1:
        return hit[0]
    return all_of(len(hit), "data set") if len(hit) == len(among) else f"{len(hit)} of {len(among)} data sets"

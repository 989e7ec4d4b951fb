"""The verdict at the top of the page: judgements put into sentences, question by question. Nothing is chosen here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from bivaluate._text import all_of, listing, number, percent, plural
from bivaluate.judge.choice import EVIDENCE, PILLARS, PREDICTIVE, agreement, degenerate_reason, seeing_nothing
from bivaluate.judge.limits import (
    CLOSE,
    DUPLICATE,
    EVIDENCE_CUT,
    FEW_COLUMNS,
    NEGLIGIBLE_COVERAGE,
    SIGNIFICANT,
    STEADY,
    is_negligible,
    is_thin,
)
from bivaluate.judge.redundancy import RedundantGroup
from bivaluate.judge.verdict import (
    NO_BICLUSTERS,
    capital,
    count,
    counted,
    next_steps,
    nothing_supported,
    prediction,
    reproducibility,
)
from bivaluate.measures.registry import RECORDS, compared_metrics, symbol
from bivaluate.report.groups import Group

QUESTIONS = REAL, NUMBER, WHICH, REDUNDANT, NEXT = (
    "Is anything supported?",
    "How many are there?",
    "Which solution?",
    "What is redundant?",
    "What should be done next?",
)


class Sentence(NamedTuple):
    """One sentence; `kind` is ``headline``, ``finding``, ``caution`` or ``step``, `question` the one it answers."""

    kind: str
    text: str
    question: str = ""


@dataclass(frozen=True)
class Case:
    """What is known about one data set when its verdict is spoken.

    `repeats` are the redundant groups among the winner's biclusters, `names` what they are called; `headline` is
    that of the verdict on its typical solution, whose measures are `typical`; the winner's typical solution;
    `missing` of `planned` cells are unfinished; `calibrated` says that null runs stand beside the scores, and
    `p_value` is that of the winner over so many `surrogates`, `p_values` those of the choice by the criterion and
    by evidence; `asked` says that the reader named the criterion, `fitted` that algorithms were run (and can be
    again), `finds_k` names those that find K themselves, `to_name` that rows have names nobody has looked up yet,
    `searched` that `bivaluate find` made one of the solutions; `near` comes nearest where nothing is supported;
    `matrix` and `solution` are how commands name them, `held_out` is the command that asks held-out cells, and
    `omits` says that missing cells were left out.
    """

    groups: Sequence[Group]
    criterion: str = "nve_cov"
    repeats: Sequence[RedundantGroup] = ()
    headline: str = ""
    names: Sequence[str] = ()
    typical: Mapping[str, float] = field(default_factory=dict)
    missing: int = 0
    planned: int = 0
    calibrated: bool = False
    p_value: float = math.nan
    surrogates: int = 0
    p_values: Mapping[str, float] = field(default_factory=dict)
    asked: bool = False
    fitted: bool = False
    finds_k: Collection[str] = ()
    to_name: bool = False
    searched: bool = False
    near: str = ""
    matrix: str = "MATRIX"
    solution: str = "SOLUTION"
    held_out: str = ""
    omits: bool = False

    def called(self, members: Iterable[int]) -> list[str]:
        """Return the names of biclusters, B1, B2, … where none are given."""
        return [self.names[k] if self.names else f"B{k + 1}" for k in members]

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
    def _chosen(self) -> dict[str, tuple[str, int]]:
        picks = {key: self.chosen(key) for key in (self.criterion, *self.pillars)}
        return {key: (pick.algorithm, pick.k) for key, pick in picks.items() if pick is not None}

    @property
    def supported(self) -> list[Group]:
        """Solutions with a supported bicluster."""
        return [group for group in self.groups if group.value("n_supported") > 0]

    @property
    def unseen(self) -> list[str]:
        """Which of these see nothing."""
        return seeing_nothing(self._chosen, self.pillars, self.p_values)

    @property
    def agree(self) -> bool:
        """Whether all of these see something."""
        return not self.unseen

    @property
    def real(self) -> bool:
        """Whether at least one of these sees something; without them, whether the criterion chooses."""
        return len(self.unseen) < len(self.pillars) if self.pillars else self.winner is not None

    @property
    def agreement(self) -> str:
        """What the criterion, evidence and held-out cells choose, as judge says it."""
        return agreement(self._chosen, self.pillars, self.criterion, self.p_values, self.finds_k, self.near)

    @property
    def statuses(self) -> Counter[str]:
        """Number of solutions by status."""
        return sum((Counter(group.statuses) for group in self.groups), Counter())


def speak(case: Case) -> list[Sentence]:
    """Return the verdict on one data set: the headline first, then the answers in the order of the questions."""
    said = []
    if case.winner is not None:
        for question, rules in _ABOUT_THE_WINNER.items():
            said += [s._replace(question=question) for rule in rules for s in rule(case, case.winner)]
    else:
        said += [s._replace(question=REAL) for s in _no_winner_either(case)]
        said += [s._replace(question=REDUNDANT) for s in _repeats(case)]
    troubles = [s._replace(question=WHICH) for s in _troubled(case) + unfinished(case)]
    steps = [Sentence("step", text, NEXT) for text in _next(case)]
    return [_headline(case), *sorted(said + troubles, key=lambda s: QUESTIONS.index(s.question)), *steps]


def _score(case: Case, group: Group) -> str:
    value = group.value(case.criterion)
    return f"{symbol(case.criterion)} {percent(value) if RECORDS[case.criterion].percent else number(value)}"


def _finding(text: str) -> list[Sentence]:
    return [Sentence("finding", text)]


def _caution(text: str) -> list[Sentence]:
    return [Sentence("caution", text)]


def _either(good: bool, text: str) -> list[Sentence]:
    return _finding(text) if good else _caution(text)


def _headline(case: Case) -> Sentence:
    winner = case.winner
    if winner is None:
        return Sentence("headline", _no_winner(case))
    if len(case.groups) == 1 and not case.asked:
        return Sentence("headline", f"{winner.name}: {case.headline or counted(_judged(winner))}")
    return Sentence("headline", f"{winner.name}: {_praise(case, winner)}.")


def _judged(group: Group) -> dict[str, float]:
    return {key: group.value(key) for key in ("n_biclusters", "n_supported")}


def _praise(case: Case, winner: Group) -> str:
    covers = winner.value("coverage")
    share = f"{percent(covers)} of the matrix"
    score = _score(case, winner)
    best = f"{'highest' if RECORDS[case.criterion].direction == 'high' else 'lowest'} {score}"
    if case.criterion == EVIDENCE:
        return _lower(counted(_judged(winner))).removesuffix(".")
    if winner.value(case.criterion) == 0 and is_thin(winner.value("rows_min"), winner.value("cols_min")):
        return f"{score}, but only because biclusters of one row or at most two columns cannot fail"
    if case.criterion != "nve_cov":
        return best
    return f"best balance ({score}{f', covers {share}' if math.isfinite(covers) else ''})"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _no_winner(case: Case) -> str:
    if not case.groups:
        return "Nothing has been scored yet."
    group, name = case.groups[0], symbol(case.criterion)
    if not set(case.statuses) & {"ok", "degenerate"}:
        why = f" ({group.reason})" if group.reason else ""
        return f"No solution could be scored: {group.name} {max(group.statuses)}{why}."
    if len(case.groups) == 1:
        found = group.value("n_biclusters")
        if found == 0:
            return NO_BICLUSTERS
        if group.value(case.criterion) <= RECORDS[case.criterion].nothing:
            return f"{group.name}: {case.headline or counted(_judged(group))}"
        if found == 1:
            return f"{group.name}: {degenerate_reason({'n_biclusters': 1, 'n_undefined': 0})}."
        why = group.reasons.get(case.criterion, "")
        return f"{group.name}: {name} is undefined{f' ({why})' if why else ''}."
    inside = [group for group in case.groups if group.takes_part(case.criterion)]
    if inside and all(group.value(case.criterion) <= RECORDS[case.criterion].nothing for group in inside):
        return nothing_supported(case.near)
    if inside:
        return f"All {len(inside)} candidates tie ({_score(case, inside[0])}): none is better than another."
    if not any(math.isfinite(group.value(case.criterion)) for group in case.groups):
        return f"No solution has a defined {name}: see the table for the reasons."
    return f"No solution can be judged by {name}: see the table for the reasons."


def _no_winner_either(case: Case) -> list[Sentence]:
    """Say what evidence and held-out cells see where the criterion itself chooses nothing."""
    return _caution(capital(case.agreement)) if case.pillars and case.fitted and not case.supported else []


def _real(case: Case, winner: Group) -> list[Sentence]:
    """Answer by evidence, then by held-out cells and by what comes back, as far as they were computed."""
    said = []
    if math.isfinite(winner.value("n_supported")):
        said += _either(winner.value("n_supported") > 0, counted(_judged(winner)))
    if math.isfinite(winner.value(PREDICTIVE)):
        gain, error = winner.value(PREDICTIVE), winner.value(f"{PREDICTIVE}_error")
        said += _either(winner.predicts, prediction(winner.predicts, gain, error))
    if math.isfinite(winner.value("stability")):
        said += _either(*reproducibility(winner.value("stability")))
    if case.pillars and not case.agree:
        said += _caution(capital(case.agreement))
    return said


def _number(case: Case, winner: Group) -> list[Sentence]:
    found = winner.value("n_biclusters")
    if not math.isfinite(found):
        return []
    return _finding(count(found, winner.k, winner.value("n_supported"), winner.algorithm in case.finds_k))


def _which(case: Case, winner: Group) -> list[Sentence]:
    if len(case.groups) < 2:
        return []
    if not case.fitted:
        best = "highest" if RECORDS[case.criterion].direction == "high" else "lowest"
        value = _score(case, winner).removeprefix(f"{symbol(case.criterion)} ")
        return _finding(f"{winner.name}: {best} {symbol(case.criterion)} of {len(case.groups)} solutions ({value}).")
    return _finding(capital(case.agreement)) if case.agree else []


def _next(case: Case) -> list[str]:
    """Say what to do, as far as there is something to do it with."""
    if not case.groups:
        return next_steps(supported=True, unfinished=True) if case.missing else []
    winner = case.winner
    if winner is None:
        judged = any(math.isfinite(group.value(case.criterion)) for group in case.groups)
        some = bool(case.supported)
        known = {"unfinished": case.missing > 0, "searched": case.searched, **_names(case)}
        return next_steps(supported=some, untidy=some, **known) if judged else []
    supported, found = winner.value("n_supported"), winner.value("n_biclusters")
    return next_steps(
        supported=case.real,
        untidy=bool(case.repeats) or supported < found,
        unfinished=case.missing > 0,
        second_opinion=not case.fitted or PREDICTIVE in case.pillars,
        edge=bool(_edge(case, winner)),
        to_name=case.to_name,
        searched=case.searched,
        **_names(case),
    )


def _names(case: Case) -> dict[str, Any]:
    """Return what commands are to name."""
    named = {"matrix": case.matrix, "solution": case.solution, "omits": case.omits}
    return named | ({"again": case.held_out} if case.held_out else {})


def _repeats(case: Case, *_: Group) -> list[Sentence]:
    if not case.repeats:
        return _finding("No two biclusters are redundant.") if len(case.names) > 1 else []
    same = {
        True: f"share {percent(DUPLICATE)} of their cells or more",
        False: "are redundant: one bicluster explains them as well as several",
    }
    group = case.repeats[0]
    if len(group.members) == case.typical.get("n_biclusters", math.nan):
        return _finding(f"All {len(group.members)} biclusters {same[group.duplicates]}.")
    parts = [f"{listing(case.called(group.members))} {same[group.duplicates]}" for group in case.repeats[:3]]
    more = len(case.repeats) - 3
    rest = f"; {more} more redundant {'group is' if more == 1 else 'groups are'} below" if more > 0 else ""
    return _finding(f"{'; '.join(parts)}{rest}.")


def _close_behind(case: Case, winner: Group) -> list[Sentence]:
    key = case.criterion
    others = [group for group in case.groups if group is not winner and group.takes_part(key)]
    others = [group for group in others if not _same_answer(group, winner, key)]
    if not others:
        return []
    second = min(others, key=lambda group: group.rank)
    ahead, behind = winner.value(key), second.value(key)
    noise = [g.spread.get(key, math.nan) for g in (winner, second)]
    gap, near = abs(behind - ahead), CLOSE * abs(ahead)
    if gap > max(near, *(s for s in noise if math.isfinite(s)), 0.0):
        return []
    within = ", within the spread over seeds" if gap > near else ""
    values = f"{number(behind)} against {number(ahead)}{within}"
    return _finding(f"{second.name} is close behind ({values}): treat the two as equal.")


def _same_answer(group: Group, winner: Group, key: str) -> bool:
    """Whether an algorithm asked for another K gave what the winner is: no more was found."""
    alike = all(group.value(measure) == winner.value(measure) for measure in (key, "n_biclusters", "coverage"))
    return alike and group.algorithm == winner.algorithm and winner.value("n_biclusters") != winner.k


def _disagreement(case: Case, winner: Group) -> list[Sentence]:
    """Say which measures would choose another solution."""
    if len(case.groups) < 2:
        return []
    picks: dict[str, list[str]] = {}
    for metric in compared_metrics():
        pick = case.chosen(metric.key) if metric.direction == "low" else None
        if pick is not None:
            picks.setdefault(pick.name, []).append(metric.symbol)
    agreeing = picks.pop(winner.name, [])
    if not picks:
        return _finding("All error measures agree with this choice.") if len(agreeing) > 2 else []
    parts = [f"{listing(keys)} {'prefers' if len(keys) == 1 else 'prefer'} {name}" for name, keys in picks.items()]
    return _finding(f"The measures disagree: {'; '.join(parts)}.")


def _steadiness(case: Case, winner: Group) -> list[Sentence]:
    """Say how often the winner wins over seeds."""
    seeds = sum(group.wins for group in case.groups)
    if winner.seeds < 2 or seeds < 2 or len(case.groups) < 2:
        return []
    if winner.wins >= STEADY * seeds:
        often = all_of(seeds, "seed") if winner.wins == seeds else f"{winner.wins} of {plural(seeds, 'seed')}"
        return _finding(f"It is best in {often}.")
    rival = max((g for g in case.groups if g is not winner), key=lambda g: g.wins)
    won = f"it is best in {winner.wins} of {seeds}, {rival.name} in {rival.wins}"
    return _caution(f"The choice depends on the seed: {won}.")


def _edge(case: Case, winner: Group) -> list[Sentence]:
    """Say that the winner's K is the smallest or largest tried, where nothing but the measure itself speaks for it."""
    tried = sorted({g.k for g in case.groups if g.algorithm == winner.algorithm})
    told = math.isfinite(RECORDS[case.criterion].nothing)
    if case.calibrated or told or len(tried) < 2 or winner.k not in (tried[0], tried[-1]):
        return []
    end = "smallest" if winner.k == tried[0] else "largest"
    return _caution(
        f"K = {winner.k} is the {end} K tried: without null runs to compare with, this is not evidence for "
        f"{plural(winner.k, 'bicluster')}."
    )


def _beside_null(case: Case, winner: Group) -> list[Sentence]:
    """Say whether the winner's score stands out from the same algorithm on matrices without structure."""
    p, lowest = case.p_value, 1 / (case.surrogates + 1)
    if not math.isfinite(p):
        return []
    name, null = f"Its {symbol(case.criterion)}", "surrogate matrices without structure"
    if p > SIGNIFICANT and not math.isclose(p, lowest):
        return _caution(f"{name} does not stand out from {null} (p = {p:.2g}).")
    few = "" if p <= SIGNIFICANT else f"; {plural(case.surrogates, 'surrogate')} allow no lower p"
    return _finding(f"{name} stands out from {null} (p = {p:.2g}{few}).")


def _small_winner(case: Case, winner: Group) -> list[Sentence]:
    """Say that even the winner covers next to nothing, unless that is supported."""
    if len(case.groups) < 2 or not (is_negligible(winner.value("coverage")) and not winner.value("n_supported") > 0):
        return []
    return _caution(f"Even the winner covers only {percent(winner.value('coverage'))} of the matrix.")


def _chance(case: Case, winner: Group) -> list[Sentence]:
    error = winner.value("avg_ave")
    if not error >= EVIDENCE_CUT or winner.value("n_supported") > 0:
        return []
    noise = f"what a search finds in noise ({symbol('avg_ave')} {number(error)})"
    return _caution(f"On average its biclusters are hardly more coherent than {noise}.")


def _thin(case: Case, winner: Group) -> list[Sentence]:
    undefined, found = (case.typical.get(key, 0.0) for key in ("n_undefined", "n_biclusters"))
    said = []
    if undefined > 0:
        has = "has" if undefined == 1 else "have"
        said += _caution(
            f"{undefined:.0f} of its {found:.0f} biclusters {has} a single row or column and no defined score."
        )
    if case.typical.get("cols_min") == FEW_COLUMNS:
        said += _caution(
            f"Its narrowest bicluster has two columns, and {symbol('ve')} cannot judge two columns: ask for a minimum size."
        )
    return said


_ABOUT_THE_WINNER: Mapping[str, tuple[Callable[[Case, Group], list[Sentence]], ...]] = {
    REAL: (_real, _beside_null, _chance, _small_winner, _thin),
    NUMBER: (_number, _edge),
    WHICH: (_which, _close_behind, _disagreement, _steadiness),
    REDUNDANT: (_repeats,),
}


def _troubled(case: Case) -> list[Sentence]:
    statuses = case.statuses
    total = sum(statuses.values())
    if total < 2:
        return []
    have = "has" if statuses["degenerate"] == 1 else "have"
    words = {
        "degenerate": f"{have} fewer than two biclusters that can be scored",
        "failed": "failed",
        "timed out": "timed out",
    }
    parts = [f"{statuses[key]:,} of {total:,} solutions {what}" for key, what in words.items() if statuses[key]]
    return _caution(f"{'; '.join(parts)}.") if parts else []


def unfinished(case: Case) -> list[Sentence]:
    """Say how much of the plan is not there yet."""
    if not case.missing:
        return []
    are = "is" if case.missing == 1 else "are"
    planned = f"{case.missing:,} of {case.planned:,} planned solutions"
    return _caution(f"{planned} {are} not finished: the verdict may change.")


def speak_all(cases: Mapping[str, Case]) -> list[Sentence]:
    """Return the verdict on several data sets: who wins where, and on how many each sentence about one applies."""
    decided = {name: (case, case.winner) for name, case in cases.items() if case.winner is not None}
    missing, planned = sum(c.missing for c in cases.values()), sum(c.planned for c in cases.values())
    late = [s._replace(question=WHICH) for s in unfinished(Case((), missing=missing, planned=planned))]
    if not decided:
        none = f"None of {plural(len(cases), 'data set')} has a solution that can be chosen."
        return [Sentence("headline", none), *_not_fitted(cases), *late, *_next_of_all(cases)]
    said = [*_real_of_all(cases), *_number_of_all([winner for _, winner in decided.values()])]
    criterion = next(case.criterion for case, _ in decided.values())
    for question, kind, applies, text in _OVERALL:
        hit = [name for name, (case, winner) in decided.items() if applies(case, winner)]
        if hit:
            said.append(Sentence(kind, text.format(where=_where(hit, decided), symbol=symbol(criterion)), question))
    undecided = [name for name, case in cases.items() if name not in decided and case.groups]
    if undecided:
        said.append(Sentence("caution", f"Nothing can be chosen on {listing(undecided, 5)}.", WHICH))
    said += _not_fitted(cases)
    said = sorted(said + late, key=lambda s: QUESTIONS.index(s.question))
    return [Sentence("headline", _headline_of_all(decided, len(cases))), *said, *_next_of_all(cases)]


def _not_fitted(cases: Mapping[str, Case]) -> list[Sentence]:
    names = [name for name, case in cases.items() if not case.groups]
    return [Sentence("caution", f"Not fitted yet: {listing(names, 5)}.", WHICH)] if names else []


def _headline_of_all(decided: Mapping[str, tuple[Case, Group]], n_cases: int) -> str:
    criterion, asked = next((case.criterion, case.asked) for case, _ in decided.values())
    wins = Counter(winner.name if asked else winner.algorithm for _, winner in decided.values())
    (leader, most), *rest = wins.most_common()
    where = all_of(n_cases, "data set") if most == n_cases > 1 else f"{most} of {plural(n_cases, 'data set')}"
    where += "".join(f", {name} on {times}" for name, times in rest)
    end = "highest" if RECORDS[criterion].direction == "high" else "lowest"
    balanced = criterion == "nve_cov"
    what = "has the best balance" if balanced else f"has the {end} {symbol(criterion)}"
    what = "has the most evidence" if criterion == EVIDENCE else what
    return f"{leader} {what} on {where}."


def _real_of_all(cases: Mapping[str, Case]) -> list[Sentence]:
    """Say on how many data sets something is real, as far as evidence and held-out cells were computed."""
    said = []
    for key, what in ((EVIDENCE, "Biclusters are supported"), (PREDICTIVE, "Held-out cells are predicted")):
        judged = [name for name, case in cases.items() if key in case.pillars]
        seen = [name for name in judged if key not in cases[name].unseen]
        if judged:
            where = "none of the data sets" if not seen else _where(seen, judged)
            said.append(Sentence("finding" if seen else "caution", f"{what} on {where}.", REAL))
        if seen and len(seen) < len(judged):
            rest = listing([name for name in judged if name not in seen], 5)
            none = "Nothing is supported" if key == EVIDENCE else "No prediction"
            said.append(Sentence("caution", f"{none}: {rest}.", REAL))
    return said


def _number_of_all(winners: Sequence[Group]) -> list[Sentence]:
    found = sorted(winner.value("n_biclusters") for winner in winners)
    if not found or not all(map(math.isfinite, found)):
        return []
    span = number(found[0]) if found[0] == found[-1] else f"{number(found[0])} to {number(found[-1])}"
    in_all, supported = math.fsum(found), math.fsum(winner.value("n_supported") for winner in winners)
    worth = ""
    if math.isfinite(supported):
        share = "all of them" if supported == in_all else f"{number(supported)} of {number(in_all)}"
        worth = f"; {share} {'is' if supported == 1 else 'are'} supported"
    each = "each, on average over seeds" if any(value != round(value) for value in found) else "each"
    return [
        Sentence("finding", f"The winners have {span} bicluster{'' if span == '1' else 's'} {each}{worth}.", NUMBER)
    ]


def _next_of_all(cases: Mapping[str, Case]) -> list[Sentence]:
    """Say each step once; where it is one for several data sets, with the command for the first of them."""
    steps: dict[str, list[str]] = {}
    typed: dict[str, str] = {}
    for name, case in cases.items():
        unnamed = replace(case, matrix=Case.matrix, solution=Case.solution)
        for step, own in zip(_next(unnamed), _next(case), strict=True):
            steps.setdefault(step, []).append(name)
            typed.setdefault(step, own)
    said = []
    for step, names in steps.items():
        place = "" if len(names) == len(cases) else f"On {_where(names, cases)}: "
        first = f" This is for {names[0]}." if len(names) > 1 and typed[step] != step else ""
        said.append(Sentence("step", f"{place}{typed[step]}{first}", NEXT))
    return said


def _where(hit: Sequence[str], among: Collection[str]) -> str:
    if len(hit) == 1:
        return hit[0]
    return all_of(len(hit), "data set") if len(hit) == len(among) else f"{len(hit)} of {len(among)} data sets"


def _cautious(rule: Callable[[Case, Group], list[Sentence]]) -> Callable[[Case, Group], bool]:
    return lambda case, winner: any(sentence.kind == "caution" for sentence in rule(case, winner))


_LITTLE = f"less than {100 * NEGLIGIBLE_COVERAGE:g} % of the matrix"
_OVERALL: tuple[tuple[str, str, Callable[[Case, Group], object], str], ...] = (
    (
        WHICH,
        "finding",
        lambda case, winner: any("disagree" in sentence.text for sentence in _disagreement(case, winner)),
        "The measures disagree about the winner on {where}.",
    ),
    (
        REDUNDANT,
        "finding",
        lambda case, winner: case.repeats,
        "On {where} some of the winner's biclusters are redundant.",
    ),
    (WHICH, "caution", _cautious(_steadiness), "On {where} the choice depends on the seed."),
    (NUMBER, "caution", _edge, "On {where} the winner's K is at an end of the sweep: this is not evidence for that K."),
    (
        REAL,
        "caution",
        _cautious(_beside_null),
        "On {where} the winner's {symbol} does not stand out from surrogate matrices without structure.",
    ),
    (REAL, "caution", _small_winner, f"On {{where}} even the winner covers {_LITTLE}."),
)

"""The verdict over several data sets: who wins where, and how often a caution of the single verdicts applies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from bivaluate._text import listing, plural
from bivaluate.report.case import INDISTINCT, NOISY, Case, Sentence, symbol
from bivaluate.report.verdict import (
    beside_null,
    cleaner_but_tiny,
    clear_repeats,
    disagreement,
    lean,
    small_winner,
    steadiness,
    unfinished,
)


def judge_all(cases: Mapping[str, Case]) -> list[Sentence]:
    """Return the verdict over several data sets."""
    decided = {name: case for name, case in cases.items() if case.winner is not None}
    if not decided:
        return [Sentence("headline", f"None of {plural(len(cases), 'data set')} has a solution with a defined score.")]
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
            said.append(Sentence(kind, text.format(where=_where(hit, len(decided)), symbol=symbol(criterion))))
    undecided = [name for name in cases if name not in decided]
    if undecided:
        said.append(
            Sentence("caution", f"No defined score on {listing(undecided[:5])}{' …' if len(undecided) > 5 else ''}.")
        )
    missing, planned = sum(c.missing for c in cases.values()), sum(c.planned for c in cases.values())
    return said + unfinished(Case((), missing=missing, planned=planned))


_OVERALL: tuple[tuple[Callable[[Case], object], str, str], ...] = (
    (
        lambda case: any("disagree" in sentence.text for sentence in disagreement(case)),
        "finding",
        "The measures disagree about the winner on {where}.",
    ),
    (
        cleaner_but_tiny,
        "finding",
        "On {where} another solution looks cleaner but explains less than 5 % of the matrix.",
    ),
    (clear_repeats, "finding", "On {where} the winner repeats a pattern."),
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
        lambda case: any(sentence.kind == "caution" for sentence in steadiness(case)),
        "caution",
        "On {where} the choice hangs on the seed.",
    ),
    (
        lean,
        "caution",
        "On {where} the winner has the K at the end of the sweep to which {symbol} leans: no evidence for that K.",
    ),
    (
        lambda case: any(sentence.kind == "caution" for sentence in beside_null(case)),
        "caution",
        "On {where} the winner's {symbol} does not stand out from surrogate matrices without structure.",
    ),
    (small_winner, "caution", "On {where} even the winner explains less than 5 % of the matrix."),
)


def _where(hit: Sequence[str], total: int) -> str:
    if total == 1:
        return hit[0]
    if len(hit) == total:
        return f"all {total} data sets"
    return f"{hit[0]}" if len(hit) == 1 else f"{len(hit)} of {total} data sets"

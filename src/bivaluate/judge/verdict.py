"""The verdict on a solution: one record, which terminal, page, notebook and JSON all print."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._rows import SparseSource
from bivaluate._text import html_table, listing, number, percent, plural
from bivaluate.chance.evidence import NOT_SUPPORTED, REDUNDANT, SUPPORTED, TOO_SMALL
from bivaluate.judge.limits import MOSTLY_SHARED, is_duplicate, strength
from bivaluate.judge.redundancy import as_a_whole, follows
from bivaluate.matrix import ROWS_AND_COLUMNS, Matrix
from bivaluate.registry import RECORDS

if TYPE_CHECKING:
    from bivaluate.solution import Biclustering

NO_BICLUSTERS = "The solution has no biclusters."
CANNOT = "These biclusters cannot be judged."
NOT_ASKED = "The measures asked for cannot judge the biclusters: evidence was not computed."
#: Verdicts as sentences say them.
WORDS = {SUPPORTED: "supported", REDUNDANT: "redundant", NOT_SUPPORTED: "not supported"}
WORDS |= {TOO_SMALL: "too small to judge"}
SHARED = ("shares", "samples")  # what the rows, and the columns, of a bicluster share
_OMITTING = ("--missing omit",)
_OF_YEAST = re.compile(r"Y[A-P][LR]\d{3}[WC](-[A-Z])?", re.IGNORECASE)  # systematic names of its genes


@dataclass(frozen=True, repr=False)
class Verdict:
    """What to think of a solution; `str()` gives headline, reason and table, `repr()` notes and next steps, too."""

    headline: str
    reason: str = ""
    biclusters: tuple[dict[str, Any], ...] = ()
    next_steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    nouns: tuple[str, str] = ROWS_AND_COLUMNS

    def __str__(self) -> str:
        shown = columns(self)
        table = [list(shown), *zip(*shown.values(), strict=True)] if shown else []
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]
        return "\n".join(filter(None, [self.headline, self.reason, *lines]))

    def __repr__(self) -> str:
        return "\n".join([str(self), *self.notes, *self._next])

    @property
    def _next(self) -> list[str]:
        return [f"Next: {step}" for step in self.next_steps]

    def _repr_html_(self) -> str:
        shown = columns(self, members=True)
        rows = list(zip(*shown.values(), strict=True))
        return html_table(self.headline, list(shown), rows, self.reason, *self._next, *self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain lists and mappings."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def judged(
    records: Sequence[Mapping[str, Any]],
    *,
    nouns: tuple[str, str] = ROWS_AND_COLUMNS,
    steps: Sequence[str] = (),
    notes: Sequence[str] = (),
    members: Sequence[str] = (),
) -> Verdict:
    """Return the verdict on the biclusters of one solution."""
    known: dict[str, Any] = {"next_steps": tuple(steps), "notes": tuple(notes), "nouns": nouns}
    if not records or any(record.get("verdict") is None for record in records):
        return Verdict(NOT_ASKED if records else NO_BICLUSTERS, **known)
    names = members or [""] * len(records)
    blank = {"shares": "", "samples": ""}
    rows = tuple(_row(record) | blank | {"members": some} for record, some in zip(records, names, strict=True))
    if all(math.isnan(_value(row["evidence"])) for row in rows):
        return Verdict(CANNOT, f"{capital(rows[0]['why'])}.", rows, **known)
    return Verdict(headline(rows), _reason(rows, nouns), rows, **known)


MEMBERS_NAMED, MOST_RANKED = 4, 50_000_000


def first_members(matrix: Matrix, solution: Biclustering) -> list[str]:
    """Return the strongest members of each bicluster by name: rows × columns, or the side that has names."""
    sides = [(side, names) for side, names in enumerate((matrix.row_labels, matrix.col_labels)) if names is not None]
    return [" × ".join(_strongest(matrix, b, side, names) for side, names in sides) for b in solution]


def _strongest(matrix: Matrix, bicluster: Any, side: int, names: Sequence[str]) -> str:
    """Return the strongest members of one side by name; several of one name count once."""
    members = (bicluster.rows, bicluster.cols)[side]
    called = list(dict.fromkeys(str(names[i]) for i in members[_by_strength(matrix, bicluster, side)]))
    return ", ".join(called[:MEMBERS_NAMED]) + (", …" if len(called) > MEMBERS_NAMED else "")


def _by_strength(matrix: Matrix, bicluster: Any, side: int) -> NDArray[np.int64]:
    """Return the order of members by how far they differ inside from elsewhere; as given where cells stay in a file."""
    own, other = (bicluster.rows, bicluster.cols)[:: -1 if side else 1]
    held = matrix.in_memory or isinstance(matrix.source, SparseSource)
    if not held or len(own) * matrix.shape[1 - side] > MOST_RANKED:
        return np.arange(len(own))
    cells = matrix.source.rows(0, matrix.shape[0])
    lines = (cells.T if side else cells)[own]
    lines = lines.tocsc() if matrix.sparse else np.nan_to_num(lines)
    inside, total = (np.asarray(part.sum(axis=1), dtype=float).ravel() for part in (lines[:, other], lines))
    differs = inside / max(len(other), 1) - (total - inside) / max(matrix.shape[1 - side] - len(other), 1)
    return np.argsort(-differs if differs.sum() >= 0 else differs, kind="stable")


def with_shares(verdict: Verdict, shares: Sequence[str], side: int = 0) -> Verdict:
    """Return a verdict that says what the rows, or columns, of each bicluster share, and not how to find that out."""
    rows = tuple(row | {SHARED[side]: text} for row, text in zip(verdict.biclusters, shares, strict=True))
    steps = tuple(step for step in verdict.next_steps if side or "bivaluate enrich" not in step)
    mark = [row | {SHARED[1]: row[SHARED[1]] if row[SHARED[1]][:1].isdigit() else ""} for row in rows]  # of most
    known = _known(mark if side else rows, side, verdict.nouns[side])
    reason = verdict.reason if known in verdict.reason else f"{known} {verdict.reason}"
    return replace(verdict, reason=reason, biclusters=rows, next_steps=steps)


def _known(rows: Sequence[Mapping[str, Any]], side: int, noun: str) -> str:
    """Say which supported biclusters are known by what their members share."""
    supported = [row for row in rows if row["verdict"] == SUPPORTED]
    named = [f"{row['bicluster']} ({row[SHARED[side]]})" for row in supported if row[SHARED[side]]]
    n, of = len(named), len(supported)
    who = ("It" if len(rows) == 1 else "Both" if n == 2 else f"All {n}") if n == of else f"{n} of the {of}"
    s = "" if n > 1 else "s"
    what = f"mark{s} known {noun}" if side else f"hold{s} {noun} known to belong together"
    return f"{who} {what}: {listing(named, 6)}." if named else ""


_SHOWN = ("bicluster", "n_rows", "n_cols", "mean_inside", "mean_elsewhere", "pattern", "evidence", "shared")


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is shown of a bicluster; evidence that is not known is None in a file, and NaN here."""
    row = {key: record.get(key) for key in _SHOWN}
    if abs(_value(row["mean_elsewhere"])) < 1e-12 * abs(_value(row["mean_inside"])):  # zero but for rounding
        row["mean_elsewhere"] = 0.0
    verdict = str(record["verdict"])
    known = strength(_value(row["evidence"])) if verdict == SUPPORTED else ""
    others = str(record.get("redundant_with") or "")
    return row | {"strength": known, "verdict": verdict, "redundant_with": others, "why": why(record)}


def columns(verdict: Verdict, members: bool = False) -> dict[str, list[str]]:
    """Return the table of biclusters by heading: what :func:`described` says, what members share, who they are."""
    heads = ["", "verdict", "evidence", " × ".join(verdict.nouns), "inside", "elsewhere", "pattern"]
    rows = [[str(row["bicluster"]), *described(row)] for row in verdict.biclusters]
    shown = {head: [row[i] for row in rows] for i, head in enumerate(heads)} if rows else {}
    more = {f"{noun} share": key for key, noun in zip(SHARED, verdict.nouns, strict=True)}
    for head, key in (more | ({"strongest members": "members"} if members else {})).items():
        if any(row.get(key) for row in verdict.biclusters):
            shown[head] = [row.get(key) or "–" for row in verdict.biclusters]
    return shown


def described(row: Mapping[str, Any]) -> list[str]:
    """Return a row of a verdict as texts: verdict, evidence in a word, size, means inside and elsewhere, pattern."""
    means = (number(_value(row.get(key))) for key in ("mean_inside", "mean_elsewhere"))
    evidence = ", ".join(filter(None, [signed(_value(row.get("evidence"))), row["strength"]]))
    how = ": follows from" if follows(row) else ", merge with" if to_merge(row) else " with"
    others = f"{how} {row['redundant_with']}" if row["verdict"] == REDUNDANT else ""
    undefined = row["verdict"] == NOT_SUPPORTED and math.isnan(_value(row.get("evidence")))
    said = "cannot be judged" if undefined else WORDS[row["verdict"]] + others
    pattern = "–" if row["pattern"] in (None, "none") else str(row["pattern"])
    return [said, evidence, f"{row['n_rows']:,} × {row['n_cols']:,}", *means, pattern]


def _value(value: Any) -> float:
    return math.nan if value is None else float(value)


def to_merge(record: Mapping[str, Any]) -> bool:
    """Return whether a redundant bicluster has evidence beyond others, and one block explains it and them as well."""
    known = record.get("redundant_with") and _value(record.get("evidence")) > 0
    return bool(known) and not is_duplicate(_value(record.get("shared")))


def why(record: Mapping[str, Any]) -> str:
    """Return the reason of a bicluster's verdict."""
    verdict, evidence = record["verdict"], _value(record.get("evidence"))
    if verdict == REDUNDANT:
        others = listing(str(record.get("redundant_with") or "").split(", "), 3)
        shared = _value(record.get("shared"))
        if follows(record):
            return f"follows from {others} and the means of rows and columns, as blocks of a partition do"
        if shared == 1:
            return f"all its values are in {others}"
        if to_merge(record):
            return f"one bicluster explains it and {others} as well as two"
        if shared >= MOSTLY_SHARED:
            return f"shares {percent(shared)} of its values with {others}"
        return f"{others} explain{'' if ' ' in others else 's'} it"
    if verdict == TOO_SMALL:
        size = f"{record.get('n_rows')} × {record.get('n_cols')}"
        return str(record.get("reason") or f"{size}: no block of this size could be supported in this matrix")
    if verdict == SUPPORTED:
        return f"evidence {signed(evidence)}"
    if math.isnan(evidence):
        return str(record.get("reason") or "evidence is undefined")
    return f"evidence {signed(evidence)}: {record.get('reason') or 'in pure noise, the best of all blocks of this size could be as good'}"


def signed(value: float) -> str:
    """Return a number with its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def headline(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how many biclusters are supported, and what the others are."""
    names = {word: [str(row["bicluster"]) for row in rows if row["verdict"] == word] for word in WORDS}
    if as_a_whole(rows):
        some = f"{len(names[SUPPORTED])} of its {len(rows)} blocks explain{'s' * (len(names[SUPPORTED]) == 1)}"
        return f"The partition is supported as a whole: {some} the others."
    return _headline({word: len(found) for word, found in names.items()}, names)


def _headline(counts: Mapping[str, float], names: Mapping[str, Sequence[str]] | None = None) -> str:
    """Say it from numbers alone, which may be means over seeds; one of a kind is named where names are known."""
    total = sum(counts.values())
    whole = {word: n for word, n in counts.items() if n == total}
    if whole:
        (word,) = whole
        if total == 1:
            return f"The bicluster is {WORDS[word]}."
        if word == NOT_SUPPORTED:
            return f"{'Neither bicluster' if total == 2 else f'None of the {number(total)} biclusters'} is supported."
        return f"{'Both' if total == 2 else f'All {number(total)}'} biclusters are {WORDS[word]}."
    supported = counts.get(SUPPORTED, 0.0)
    is_ = "is" if supported <= 1 else "are"
    main = f"{number(supported) if supported else 'None'} of the {number(total)} biclusters {is_} supported"
    who = {}
    for word in (REDUNDANT, TOO_SMALL, NOT_SUPPORTED):
        n = counts.get(word, 0.0)
        if n and (supported or word != NOT_SUPPORTED):
            who[word] = names[word][0] if names is not None and n == 1 else number(n)
    if TOO_SMALL not in who and any(counts[word] > 1 for word in who):  # names or numbers, not both
        who = {word: number(counts[word]) for word in who}
    rest = [f"{some} {'is' if counts[word] == 1 else 'are'} {WORDS[word]}" for word, some in who.items()]
    if len(rest) > 1 and TOO_SMALL in who:  # no more than 15 words
        others = who.pop(NOT_SUPPORTED, "")
        main += f", {others} {'is' if counts[NOT_SUPPORTED] == 1 else 'are'} not" if others else ""
        if len(who) == 1:
            main, rest = main.replace(" of the ", " of "), rest[:1]
        else:
            rest = [f"{some} {WORDS[word]}" for word, some in who.items()]
    return f"{main}; {', '.join(rest)}." if rest else f"{main}."


def counted(scores: Mapping[str, float]) -> str:
    """Say how many biclusters of a solution, or of a choice on average over seeds, are supported."""
    found, supported = (scores.get(key, math.nan) for key in ("n_biclusters", "n_supported"))
    if found == 0:
        return NO_BICLUSTERS
    if not math.isfinite(supported) or not math.isfinite(found):
        return NOT_ASKED
    if supported in (0, found) and found % 1 == 0:
        return _headline({SUPPORTED if supported else NOT_SUPPORTED: found})
    some = capital(how_many(scores)).replace(" of ", " of the ")
    return f"{some} biclusters {'is' if supported <= 1 else 'are'} supported."


def how_many(scores: Mapping[str, float]) -> str:
    """Return "3 of 4", or "on average 2.5 of 3.5" of means over seeds."""
    found, supported = (scores.get(key, math.nan) for key in ("n_biclusters", "n_supported"))
    return f"{'on average ' * (found % 1 + supported % 1 > 0)}{number(supported)} of {number(found)}"


def _reason(rows: Sequence[Mapping[str, Any]], nouns: tuple[str, str]) -> str:
    """Say what speaks for the strongest bicluster, or that chance is not ruled out."""
    supported = [row for row in rows if row["verdict"] == SUPPORTED]
    if not supported:
        judged = [row for row in rows if row["verdict"] == NOT_SUPPORTED]
        if not judged:
            return f"{rows[0]['bicluster']}: {rows[0]['why']}."
        nearest = max(judged, key=lambda row: -math.inf if math.isnan(_value(row["evidence"])) else row["evidence"])
        beside = f"; {nearest['bicluster']} comes nearest" if len(judged) > 1 else ""
        them = "its" if len(judged) == 1 else "their"
        chance = f"Chance is not ruled out: in pure noise, the best of all blocks of {them} size could be as good"
        return f"{chance}{beside}."
    first = max(supported, key=lambda row: _value(row["evidence"]))
    start = "Its" if len(rows) == 1 else f"{first['bicluster']} is the strongest: its"
    sizes = first["n_rows"], first["n_cols"]
    rows_, cols = (plural(n, noun.removesuffix("s")) for n, noun in zip(sizes, nouns, strict=True))
    have, are, s = ("has", "is", "s") if sizes[0] == 1 else ("have", "are", "")
    inside, elsewhere = _value(first.get("mean_inside")), _value(first.get("mean_elsewhere"))
    if first["pattern"] == "shifted mean" and math.isfinite(inside) and math.isfinite(elsewhere):
        return f"{start} {rows_} {have} a mean of {number(inside)} on its {cols} and {number(elsewhere)} on the others."
    how = {
        "row levels": f"{rows_} {are} at levels on its {cols} not seen elsewhere",
        "column profile": f"{rows_} share{s} one profile over its {cols}",
        "additive": f"{rows_} share{s} one profile over its {cols}, at different levels",
        "scaled profile": f"{rows_} follow{s} one profile over its {cols}, more or less strongly",
    }.get(str(first["pattern"]), f"{rows_} {are} higher on its {cols} than elsewhere")
    return f"{start} {how}, more than chance gives."


def a_pattern(pattern: str) -> str:
    """Return a pattern as sentences say what a bicluster has."""
    return {"row levels": pattern, "additive": "an additive pattern"}.get(pattern, f"a {pattern}")


def nothing_supported(nearest: str = "") -> str:
    """Say that no solution has a supported bicluster, and which comes nearest."""
    return f"Nothing is supported; {nearest} comes nearest." if nearest else "Nothing is supported."


def holding(found: int, supported: float) -> str:
    """Say how many biclusters a solution has, and how many of them are supported where that is known."""
    what = plural(found, "bicluster")
    if not math.isfinite(supported) or not found:
        return what
    some = number(supported) if supported else "none"
    said = ("not supported" if not supported else "supported") if found == 1 else f"{some} supported"
    return f"{what}, {'all supported' if supported == found > 1 else said}"


def prediction(good: bool, gain: float, error: float) -> str:
    """Say whether a solution predicts cells it was not fitted to."""
    does = "predicts" if good else "does not predict"
    return f"It {does} held-out values better than row and column means do (gain {number(gain)} ± {number(error)})."


def reproducibility(stability: float) -> tuple[bool, str]:
    """Say whether biclusters are reproducible under subsampling; the first value is whether they are."""
    good = stability > RECORDS["stability"].nothing
    are = "are" if good else "are not"
    return good, f"Its biclusters {are} reproducible under subsampling (stability {number(stability)}, chance gives 0)."


_FINDS = "runs the algorithms that fit the data and keeps what is supported."
_PRUNES = "leaves out what is redundant or not supported."


def pruning(matrix: str = "MATRIX", solution: str = "SOLUTION", omits: bool = False) -> str:
    """Say how to leave out biclusters that are redundant or not supported; `omits` leaves out missing cells."""
    command = " ".join(["bivaluate prune", matrix, solution, *_OMITTING[:omits], "-o pruned.json"])
    return f"`{command}` {_PRUNES}"


def finding(matrix: str = "MATRIX", omits: bool = False) -> str:
    """Say how to look for biclusters with every algorithm."""
    command = " ".join(["bivaluate find", matrix, *_OMITTING[:omits]])
    return f"`{command}` {_FINDS}"


def asking_held_out_cells(command: str = "bivaluate sweep … --held-out 5") -> str:
    """Say how to ask held-out cells."""
    return f"`{command}` shows which choice predicts held-out values."


def solution_steps(
    records: Sequence[Mapping[str, Any]], matrix: Matrix, place: tuple[str, str], *, searched: bool, omits: bool
) -> list[str]:
    """Say what to do with one solution, from the verdicts on its biclusters; commands stand between backquotes."""
    verdicts = {record.get("verdict") for record in records}
    if None in verdicts:
        return []
    python = place == ("MATRIX", "SOLUTION")
    if SUPPORTED not in verdicts:
        return [] if searched else [f"`bivaluate.find(X)` {_FINDS}" if python else finding(place[0], omits)]
    prunable = verdicts & {REDUNDANT, NOT_SUPPORTED} and not as_a_whole(records)
    pruned = f"`bivaluate.propose_pruning(X, solution).solution` {_PRUNES}" if python else pruning(*place, omits)
    steps = [pruned] if prunable else []
    labels, what = matrix.row_labels, matrix.nouns[0]
    if labels is not None and (what == "genes" or (what == "rows" and place[0] != "MATRIX")):  # which is Python's
        sets = "--go sgd" if any(_OF_YEAST.fullmatch(str(label)) for label in labels[:20]) else "--sets FILE.gmt"
        steps.append(f"`bivaluate enrich {place[1]} --matrix {place[0]} {sets}` names what the {what} share.")
    return steps


def capital(text: str) -> str:
    """Return a sentence with its first letter large."""
    return text[:1].upper() + text[1:]

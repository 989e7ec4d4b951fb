"""What to think of one solution, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bivaluate._text import number, percent
from bivaluate.judge.limits import DISTINCT, INDISTINCT


def verdict(scores: Mapping[str, float]) -> str:
    """Return the verdict on one solution: what stands out from noise, how distinct it is, how much it covers.

    Scores that were not computed are passed over.

    >>> verdict({"n_biclusters": 3, "n_paying": 3, "nve": 0.3, "coverage": 0.28})
    'Good. All 3 biclusters stand out from noise; they are clearly distinct (NVE 0.3) and cover 28 % of the matrix.'
    >>> verdict({"n_biclusters": 3, "n_paying": 0, "nve": 1.02, "coverage": 0.28, "cc": 0.0})
    'Nothing here stands out from noise: none of the 3 biclusters saves anything under any kind of pattern.'
    >>> verdict({"n_biclusters": 2, "n_paying": 2, "nve": 1.02, "coverage": 0.12})
    'Good. Both biclusters stand out from noise; they cover 12 % of the matrix. NVE (1.02) sees profiles across columns only, and cannot tell blocks of another kind apart.'
    >>> verdict({"n_biclusters": 0})
    'There are no biclusters: nothing to score.'
    """
    found, pays, nve, covers = (scores.get(key, math.nan) for key in ("n_biclusters", "n_paying", "nve", "coverage"))
    if found == 0:
        return "There are no biclusters: nothing to score."
    if pays == 0:
        none = "the bicluster saves nothing" if found == 1 else f"none of the {number(found)} biclusters saves anything"
        return f"Nothing here stands out from noise: {none} under any kind of pattern."
    parts = [paying(pays, found)] if math.isfinite(pays) else []
    what = []
    all_pay = math.isfinite(pays) and pays == found
    blind = all_pay and nve >= INDISTINCT  # flat blocks, told apart by their level alone
    if math.isfinite(nve) and found != 1 and not blind:
        what.append(f"are {distinctness(nve)} distinct (NVE {number(nve)})")
    if math.isfinite(covers):
        what.append(f"cover{'s' if found == 1 else ''} {percent(covers)} of the matrix")
    if what:
        parts.append(f"{'it' if found == 1 else 'they' if parts else 'the biclusters'} {' and '.join(what)}")
    if not parts:
        return "No score to judge it by was asked for."
    said = ("Good. " if all_pay else "") + _capital(f"{'; '.join(parts)}.")
    if blind:
        said += f" NVE ({number(nve)}) sees profiles across columns only, and cannot tell blocks of another kind apart."
    if scores.get("cc") == 0:
        said += " CC is 0: no pattern across columns goes beyond what a search finds in noise."
    return said


def paying(pays: float, found: float) -> str:
    """Say how many biclusters stand out from noise, on average over seeds.

    >>> paying(3, 5)
    '3 of 5 biclusters stand out, the others are noise or repeats'
    """
    if pays == found == 1:
        return "the bicluster stands out from noise"
    if pays == found == 2:
        return "both biclusters stand out from noise"
    if pays == found:
        return f"all {number(found)} biclusters stand out from noise"
    rest = "the other is noise or a repeat" if found - pays == 1 else "the others are noise or repeats"
    return f"{number(pays)} of {number(found)} biclusters stand out, {rest}"


def distinctness(nve: float) -> str:
    """Say how distinct biclusters are: clearly, partly or hardly.

    >>> [distinctness(nve) for nve in (0.3, 0.7, 1.0)]
    ['clearly', 'partly', 'hardly']
    """
    return "clearly" if nve < DISTINCT else "partly" if nve < INDISTINCT else "hardly"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""What to think of a solution, in the sentences of every page and command: what is real, how many, what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bivaluate._text import listing, number, percent, plural
from bivaluate.judge.limits import DISTINCT, is_indistinct, is_vague
from bivaluate.measures.registry import RECORDS, symbol

_OMITTING = ("--missing omit",)
NO_BICLUSTERS = "The solution has no biclusters: nothing to score."
MOST_NAMED = 10


def verdict(scores: Mapping[str, float], apart: bool = False) -> str:
    """Return the verdict on one solution: what stands out from noise, how distinct it is, how much it covers.

    Scores that were not computed are passed over; `apart` says that no two biclusters are redundant or share a cell.

    >>> verdict({"n_biclusters": 3, "n_paying": 3, "nve": 0.3, "coverage": 0.28})
    'Good. All 3 biclusters stand out from noise; they are clearly distinct (NVE 0.3) and cover 28 % of the matrix.'
    >>> verdict({"n_biclusters": 3, "n_paying": 0, "nve": 1.02, "coverage": 0.28, "cc": 0.0})
    'Nothing here stands out from noise: none of the 3 biclusters saves anything under any kind of pattern.'
    >>> verdict({"n_biclusters": 2, "n_paying": 2, "nve": 1.02, "coverage": 0.12})
    'Good. Both biclusters stand out from noise; they cover 12 % of the matrix. NVE (1.02) only sees profiles across columns, and cannot tell blocks of another kind apart.'
    >>> verdict({"n_biclusters": 2, "n_paying": 2, "nve": 1.02, "avg_ve": 0.2, "coverage": 0.12})
    'Both biclusters stand out from noise; they are hardly distinct (NVE 1.02) and cover 12 % of the matrix.'
    >>> verdict({"n_biclusters": 2, "n_paying": 2, "nve": 1.02, "avg_ve": 0.2, "coverage": 0.12}, apart=True)[:45]
    'Good. Both biclusters stand out from noise; t'
    >>> verdict({"n_biclusters": 5, "n_paying": 4, "nve": 0.3, "coverage": 0.28})
    '4 of 5 biclusters stand out, the other adds nothing to them; all 5 are clearly distinct (NVE 0.3) and together cover 28 % of the matrix.'
    >>> verdict({"n_biclusters": 0})
    'The solution has no biclusters: nothing to score.'
    """  # noqa: W505
    found, pays, nve, covers = (scores.get(key, math.nan) for key in ("n_biclusters", "n_paying", "nve", "coverage"))
    if found == 0:
        return NO_BICLUSTERS
    if pays == 0:
        return nothing_here(
            "the bicluster saves nothing" if found == 1 else f"none of the {number(found)} biclusters saves anything"
        )
    parts = [paying(pays, found)] if math.isfinite(pays) else []
    what = []
    fused = is_fused(scores, apart)
    blind = is_indistinct(nve) and not fused
    good = math.isfinite(pays) and pays == found and not fused
    if math.isfinite(nve) and found != 1 and not blind:
        what.append(f"are {distinctness(nve)} distinct ({symbol('nve')} {number(nve)})")
    if math.isfinite(covers):
        together = "together " if pays < found else ""
        what.append(f"{together}cover{'s' if found == 1 else ''} {percent(covers)} of the matrix")
    if what:
        they = "it" if found == 1 else "they" if pays == found else "both" if found == 2 else f"all {number(found)}"
        parts.append(f"{they if parts else 'the biclusters'} {listing(what)}")
    if not parts:
        return "None of the scores asked for can judge it."
    said = ("Good. " if good else "") + capital(f"{'; '.join(parts)}.")
    if blind:
        said += f" {symbol('nve')} ({number(nve)}) only sees profiles across columns"
        said += ", and cannot tell blocks of another kind apart."
    if scores.get("cc") == 0:
        said += (
            f" {symbol('cc')} is 0: it counts profiles across columns that no other bicluster repeats, and sees none."
        )
    return said


def is_fused(scores: Mapping[str, float], apart: bool = False) -> bool:
    """Return whether biclusters are hardly distinct: NVE says so, and nothing speaks against it.

    NVE sees profiles across columns alone. Where biclusters pay, blocks of another kind, flat ones above all, are not
    to be blamed for it, nor are those told `apart`: no two are redundant or share a cell. Others beside them that do
    not pay change nothing about that.

    >>> scores = {"n_biclusters": 2, "n_paying": 2, "nve": 1.02, "avg_ve": 0.2}
    >>> is_fused(scores), is_fused(scores, apart=True), is_fused(scores | {"n_paying": 1}, apart=True)
    (True, False, False)
    >>> is_fused(scores | {"n_paying": 0}, apart=True)
    True
    """
    error = scores.get("avg_ve", math.nan)
    coherent = math.isfinite(error) and not is_vague(error)
    some_pay = scores.get("n_paying", math.nan) > 0
    return is_indistinct(scores.get("nve", math.nan)) and not (some_pay and (apart or not coherent))


def against_surrogates(coherent: Sequence[str], by_evidence: Sequence[str]) -> str:
    """Say which biclusters are more coherent than smooth noise, and which others stand out all the same.

    >>> against_surrogates(["B1"], ["B2", "B3"])
    'B1 is more coherent than anything a search finds in surrogates as smooth as the data; B2 and B3 stand out by evidence alone.'
    >>> against_surrogates([], ["B1"])
    'No bicluster is more coherent than what a search finds in surrogates as smooth as the data; B1 stands out by evidence alone.'
    """  # noqa: W505
    smooth = "a search finds in surrogates as smooth as the data"
    if coherent:
        are = "is" if len(coherent) == 1 else "are"
        said = f"{listing(coherent, MOST_NAMED)} {are} more coherent than anything {smooth}"
    else:
        said = f"No bicluster is more coherent than what {smooth}"
    if by_evidence:
        stands = "stands" if len(by_evidence) == 1 else "stand"
        said += f"; {listing(by_evidence, MOST_NAMED)} {stands} out by evidence alone"
    return f"{said}."


def nothing_here(why: str = "no solution saves anything") -> str:
    """Say that nothing is real.

    >>> nothing_here()
    'Nothing here stands out from noise: no solution saves anything under any kind of pattern.'
    """
    return f"Nothing here stands out from noise: {why} under any kind of pattern."


def outweighed(pays: float, found: float) -> str:
    """Say that some biclusters stand out, but cannot carry the whole solution.

    >>> outweighed(19, 200)
    '19 of 200 biclusters stand out from noise, but the others cost more than these save.'
    """
    they, these = ("stands", "this one saves") if pays == 1 else ("stand", "these save")
    return f"{number(pays)} of {number(found)} biclusters {they} out from noise, but the others cost more than {these}."


def paying(pays: float, found: float) -> str:
    """Say how many biclusters stand out from noise, on average over seeds.

    >>> paying(3, 5)
    '3 of 5 biclusters stand out, the others add nothing to them'
    >>> paying(1, 2)
    '1 of 2 biclusters stands out, the other adds nothing to it'
    >>> paying(3.5, 3.5)
    'all biclusters (3.5 on average over seeds) stand out from noise'
    """
    if pays == found != round(found):
        return f"all biclusters ({number(found)} on average over seeds) stand out from noise"

    if pays == found == 1:
        return "the bicluster stands out from noise"
    if pays == found == 2:
        return "both biclusters stand out from noise"
    if pays == found:
        return f"all {number(found)} biclusters stand out from noise"
    rest = f"the other{' adds' if found - pays == 1 else 's add'} nothing to {'it' if pays == 1 else 'them'}"
    return f"{number(pays)} of {number(found)} biclusters stand{'s' if pays == 1 else ''} out, {rest}"


def distinctness(nve: float) -> str:
    """Say how distinct biclusters are: clearly, partly or hardly.

    >>> [distinctness(nve) for nve in (0.3, 0.7, 1.0)]
    ['clearly', 'partly', 'hardly']
    """
    return "clearly" if nve < DISTINCT else "hardly" if is_indistinct(nve) else "partly"


def reality(pays: float, found: float, nats: float) -> tuple[bool, str]:
    """Answer whether anything in a solution is real; the first value is whether something is.

    >>> reality(3, 3, 346.4)
    (True, 'Yes: all 3 biclusters stand out from noise, with 346 nats of evidence.')
    >>> reality(3, 5, 346.4)
    (True, 'Partly: 3 of 5 biclusters stand out, the others add nothing to them; 346 nats of evidence.')
    >>> reality(0, 5, 0.0)[0]
    False
    """
    if not pays > 0:
        return False, verdict({"n_biclusters": found, "n_paying": 0.0})
    if pays == found:
        return True, f"Yes: {paying(pays, found)}, with {number(nats)} nats of evidence."
    return True, f"Partly: {paying(pays, found)}; {number(nats)} nats of evidence."


def count(found: float, asked: int, pays: float, finds_k: bool = False) -> str:
    """Say how many biclusters there are: found, asked for, worth counting; means over seeds.

    >>> count(5, 5, 4)
    '5 found; 4 of them stand out from noise.'
    >>> count(7, 20, 7)
    '7 found where 20 were asked for; all of them stand out from noise.'
    >>> count(2, 9, math.nan, finds_k=True)
    '2 found by the algorithm itself (at most 9 were asked for).'
    """
    shown = f"{number(found)} found{'' if found == round(found) else ' on average over seeds'}"
    how = "" if found == asked else f" where {number(asked)} {'was' if asked == 1 else 'were'} asked for"
    if finds_k:
        how = f" by the algorithm itself (at most {number(asked)} were asked for)"
    if not math.isfinite(pays) or not found:
        return f"{shown}{how}."
    worth = "none of them stands" if not pays else f"{'all' if pays == found else number(pays)} of them stand"
    if found == 1:
        worth = "it stands" if pays else "it does not stand"
    elif pays == 1:
        worth = "1 of them stands"
    return f"{shown}{how}; {worth} out from noise."


def holding(found: int, pays: float) -> str:
    """Say how many biclusters a solution has, and how many of them pay where that is known.

    >>> [holding(found, pays) for found, pays in ((6, 4), (6, 6), (6, 0), (1, 1), (6, math.nan))]
    ['6 biclusters, of which 4 pay', '6 biclusters, all of which pay', '6 biclusters, none of which pays', '1 bicluster, which pays', '6 biclusters']
    """  # noqa: W505
    if not math.isfinite(pays) or not found:
        return plural(found, "bicluster")
    if found == 1:
        return f"1 bicluster, which {'pays' if pays else 'does not pay'}"
    some = f"of which {number(pays)} pay{'s' if pays == 1 else ''}"
    worth = "all of which pay" if pays == found else "none of which pays" if not pays else some
    return f"{plural(found, 'bicluster')}, {worth}"


def tidying(matrix: str = "MATRIX", solution: str = "SOLUTION", omits: bool = False) -> str:
    """Say what to do about biclusters that repeat one another or add nothing; `omits` leaves out missing cells.

    >>> tidying("data.csv", "las.json")[:63]
    'Tidy up: `bivaluate prune data.csv las.json -o pruned.json` mer'
    >>> tidying("data.csv", "las.json", omits=True)[:68]
    'Tidy up: `bivaluate prune data.csv las.json --missing omit -o pruned'
    """
    command = " ".join(["bivaluate prune", matrix, solution, *_OMITTING[:omits], "-o pruned.json"])
    return f"Tidy up: `{command}` merges what repeats, drops what is noise, and says why it keeps the rest."


def asking_held_out_cells(command: str = "bivaluate sweep … --held-out 5") -> str:
    """Say how to get a second opinion from held-out cells.

    >>> asking_held_out_cells()
    'Ask for a second opinion: `bivaluate sweep … --held-out 5` tells which choice predicts unseen cells.'
    """
    return f"Ask for a second opinion: `{command}` tells which choice predicts unseen cells."


def prediction(good: bool, gain: float, error: float) -> str:
    """Say whether a solution predicts cells it has not seen.

    >>> prediction(True, 0.31, 0.02)
    'It predicts held-out cells better than row and column means do (gain 0.31 ± 0.02).'
    """
    does = "predicts" if good else "does not predict"
    return f"It {does} held-out cells better than row and column means do (gain {number(gain)} ± {number(error)})."


def coming_back(stability: float) -> tuple[bool, str]:
    """Say whether biclusters come back when rows and columns are left out; the first value is whether they do.

    >>> coming_back(0.62)
    (True, 'Its biclusters come back when rows and columns are left out (stability 0.62, 0 is chance).')
    >>> coming_back(-0.03)[0]
    False
    """
    good = stability > RECORDS["stability"].nothing
    back = "come back" if good else "do not come back"
    shown = f"stability {number(stability)}, 0 is chance"
    return good, f"Its biclusters {back} when rows and columns are left out ({shown})."


def next_steps(
    *,
    real: bool,
    untidy: bool = False,
    unfinished: bool = False,
    second_opinion: bool = True,
    edge: bool = False,
    to_name: bool = False,
    searched: bool = False,
    matrix: str = "MATRIX",
    solution: str = "SOLUTION",
    omits: bool = False,
    again: str = "bivaluate sweep … --held-out 5",
) -> list[str]:
    """Say what to do next; commands stand between backquotes.

    Parameters
    ----------
    real : bool
        Whether something stands out.
    untidy : bool
        Whether biclusters repeat one another or are noise.
    unfinished : bool
        Whether cells of the run are missing.
    second_opinion : bool
        Whether held-out cells were asked, or cannot be.
    edge : bool
        Whether the chosen K is the smallest or largest tried, and nothing but the measure speaks for it.
    to_name : bool
        Whether rows have names that gene sets could explain.
    searched : bool
        Whether `bivaluate find` is among what was tried.
    matrix, solution : str
        How commands name the matrix and the solution.
    omits : bool
        Whether missing cells are left out.
    again : str
        The sweep that asks held-out cells.

    Returns
    -------
    list of str
        Sentences, the first thing to do first; there is always one.

    Examples
    --------
    >>> next_steps(real=True)
    ['Nothing needs mending: look at the members of the biclusters below.']
    """
    steps = []
    if unfinished:
        steps.append("Start the same command again to finish the run, then look again.")
    if not real:
        find = " ".join(["bivaluate find", matrix, *_OMITTING[:omits]])
        steps.append(
            "Do not interpret these biclusters: `bivaluate find` has searched the matrix, and found none that stands out."
            if searched
            else f"Do not interpret these biclusters. `{find}` searches the matrix itself, for patterns "
            "of several kinds, and says so when there is none."
        )
        return steps
    if untidy:
        steps.append(tidying(matrix, solution, omits))
    if edge:
        steps.append("Sweep again over a wider range of K.")
    if not second_opinion:
        steps.append(asking_held_out_cells(again))
    if to_name:
        steps.append(
            f"Ask what the rows of each bicluster share: `bivaluate enrich {solution} --matrix {matrix} --sets FILE.gmt`, "
            "or `--go sgd` for yeast."
        )
    return steps or ["Nothing needs mending: look at the members of the biclusters below."]


def capital(text: str) -> str:
    """Return a sentence with its first letter large.

    >>> capital("both stand out")
    'Both stand out'
    """
    return text[:1].upper() + text[1:]

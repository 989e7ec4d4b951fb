"""Which solution is best: the one rule behind `select`, `select_k`, the report's headline and marks, and replication.

A value takes part if it is defined and its solution can be judged (status ok). Where a measure tells something from
nothing (evidence above 0), a candidate without anything cannot win; where all are like that, nothing is there. A
candidate is a data set, an algorithm and a K; its value is the mean over seeds, and at least half of its seeds must
take part. The better mean wins; among equals the candidate named first; where all of several candidates tie in a
measure that cannot tell something from nothing, nobody wins.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._text import listing, number
from bivaluate.judge.limits import CONFIDENCE, ENOUGH_STAND, NO_BETTER, pays, predicts
from bivaluate.judge.verdict import count, outweighed, paying
from bivaluate.measures.registry import get_metric, symbol

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

CANDIDATE = ["dataset", "algorithm", "k"]
COLUMNS = ["mean", "low", "high", "sd", "n", "seeds", "degenerate", "failed", "coverage", "wins", "contests", "stands"]
PILLARS = EVIDENCE, PREDICTIVE = "total_evidence", "predictive"
NOT_AS_A_WHOLE = "no solution as a whole stands out from noise"


def high_is_better(measure: str) -> bool:
    """Return whether larger values of a measure are better."""
    return get_metric(measure).direction == "high"


def judged_statuses(above: float) -> tuple[str, ...]:
    """Return the statuses whose values take part: a single bicluster has nothing to merge with, but it has evidence."""
    return ("ok", "degenerate") if math.isfinite(above) else ("ok",)


def degenerate_reason(scores: Mapping[str, float]) -> str:
    """Return why a solution cannot be judged, or nothing if it can.

    Parameters
    ----------
    scores : mapping
        Scores by key, with ``n_biclusters`` and ``n_undefined``.

    Examples
    --------
    >>> degenerate_reason({"n_biclusters": 1, "n_undefined": 0})
    '1 bicluster found; NVE compares at least two'
    """
    found, undefined = int(scores["n_biclusters"]), int(scores["n_undefined"])
    if found < 2:
        return f"{found or 'no'} bicluster{'' if found == 1 else 's'} found; {symbol('nve')} compares at least two"
    if found - undefined < 2:
        return f"{undefined} of {found} biclusters have one row or one column, where no score is defined"
    return ""


def enough_seeds(counted: Any, seeds: Any) -> Any:
    """Return whether a candidate takes part: at least half of its seeds count, and at least one; numbers or columns.

    Examples
    --------
    >>> enough_seeds(1, 2), enough_seeds(1, 3), enough_seeds(0, 0)
    (True, False, False)
    """
    return (counted > 0) & (counted >= ENOUGH_STAND * seeds)


def pick(values: Sequence[float] | np.ndarray[Any, Any], high: bool, above: float = -math.inf) -> int | None:
    """Return the position of the best value: the first among equals, None if all of several tie or none is defined.

    Only values above `above` count; if that is finite, they say that something is there, and the first of equals wins.

    Examples
    --------
    >>> pick([3.0, float("nan"), 1.0, 1.0], high=False), pick([2.0, 2.0], high=False), pick([2.0], high=False)
    (2, None, 0)
    """
    array = np.asarray(values, dtype=np.float64)
    defined = np.flatnonzero(array > above if math.isfinite(above) else ~np.isnan(array))
    tied = len(defined) > 1 and bool((array[defined] == array[defined[0]]).all())
    if not len(defined) or (tied and not math.isfinite(above)):
        return None
    return int(defined[(-array[defined] if high else array[defined]).argmin()])


def contests(table: pd.DataFrame) -> list[NDArray[np.int64]]:
    """Return the positions of the solutions of each data set and seed, in order."""
    number = table.groupby(["dataset", "seed"], sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []


def candidates(results: pd.DataFrame, value: str, high: bool, above: float = -math.inf) -> pd.DataFrame:
    """Return one row per (data set, algorithm, K): mean over seeds, interval, defined seeds and wins.

    Parameters
    ----------
    results : DataFrame
        One row per solution: dataset, algorithm, k, seed, status, coverage and measures.
    value : str
        Column to choose by.
    high : bool
        Whether larger values are better.
    above : float
        What a value must exceed to win.

    Returns
    -------
    DataFrame
        In the order of first appearance. ``low`` to ``high`` is mean ± t · sd / √n over the seeds; ``wins`` of
        ``contests`` seeds have it as the best solution of their data set. It ``stands`` unless the measure comes with
        standard errors (a gain on held-out cells) and is within two of them of 0 for most seeds.
    """

    import pandas as pd

    results = results.reset_index(drop=True)
    table = results[[*CANDIDATE, "seed", "status"]].copy()
    table["value"] = (
        results[value].where(results["status"].isin(judged_statuses(above))) if value in results else np.nan
    )
    table["coverage"] = results.get("coverage", np.nan)
    error = results.get(f"{value}_error")
    table["stands"] = True if error is None else predicts(table["value"], error)
    values, won = table["value"].where(table["stands"]).to_numpy(float), np.zeros(len(table), dtype=np.bool_)
    for contest in contests(table):
        winner = pick(values[contest], high, above)
        if winner is not None:
            won[contest[winner]] = True
    table["won"] = won
    table["degenerate"] = table["status"] == "degenerate"
    table["failed"] = table["status"].isin(["failed", "timed out"])
    grouped = table.groupby(CANDIDATE, sort=False, dropna=False)
    summary = pd.DataFrame(grouped["value"].agg(mean="mean", sd="std", n="count", seeds="size"))
    summary[["degenerate", "failed"]] = grouped[["degenerate", "failed"]].sum()
    summary["coverage"] = grouped["coverage"].mean()
    summary["wins"] = grouped["won"].sum()
    summary["stands"] = grouped["stands"].mean() >= ENOUGH_STAND
    summary = summary.reset_index()
    half = _half_width(summary["sd"].to_numpy(float), summary["n"].to_numpy())
    summary["low"], summary["high"] = summary["mean"] - half, summary["mean"] + half
    summary["contests"] = summary.groupby("dataset")["wins"].transform("sum")
    return summary[[*CANDIDATE, *COLUMNS]]


def best(summary: pd.DataFrame, high: bool, above: float = -math.inf) -> pd.DataFrame:
    """Return the best candidate per data set, with the runner-up; no row where nobody wins."""
    import pandas as pd

    rows = []
    for _, group in summary.groupby("dataset", sort=False):
        able = group[enough_seeds(group["n"], group["seeds"]) & group["stands"]]
        first = pick(able["mean"].to_numpy(), high, above)
        if first is None:
            continue
        row = able.iloc[first].to_dict()
        rest = able.drop(able.index[first])
        order = (-rest["mean"] if high else rest["mean"]).sort_values(kind="stable").index
        row["runner_up"] = f"{rest.loc[order[0], 'algorithm']} K={rest.loc[order[0], 'k']}" if len(order) else ""
        row["runner_up_mean"] = float(rest.loc[order[0], "mean"]) if len(order) else math.nan
        rows.append(row)
    return pd.DataFrame(rows, columns=[*summary.columns, "runner_up", "runner_up_mean"])


def best_k(summary: pd.DataFrame, high: bool, above: float = -math.inf) -> pd.DataFrame:
    """Return the best K per data set and algorithm: the paper's table of chosen K."""
    import pandas as pd

    each = (best(group, high, above) for _, group in summary.groupby(["dataset", "algorithm"], sort=False))
    found = [frame for frame in each if len(frame)]
    return pd.concat(found, ignore_index=True) if found else best(summary, high, above)


def winners(results: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Return the best candidate per measure and data set: what `select` prints and every page marks.

    Parameters
    ----------
    results : DataFrame
        As :func:`candidates` takes it.
    measures : sequence of str
        Registry keys of measures that can rank solutions.

    Returns
    -------
    DataFrame
        The columns of :func:`best` behind ``measure``.
    """
    import pandas as pd

    found = []
    for measure in measures:
        high, above = high_is_better(measure), get_metric(measure).nothing
        found.append(best(candidates(results, measure, high, above), high, above).assign(measure=measure))
    filled = [frame for frame in found if len(frame)]
    table = pd.concat(filled or found[:1], ignore_index=True) if found else pd.DataFrame(columns=["measure"])
    return table[["measure", *(column for column in table if column != "measure")]]


def saved(evidence: Iterable[float]) -> float:
    """Return what the biclusters that pay save; NaN where nothing is known of any.

    >>> saved([159.0, -1.5, 14.0, math.nan]), saved([math.nan])
    (173.0, nan)
    """
    known = [nats for nats in evidence if not math.isnan(nats)]
    return math.fsum(nats for nats in known if pays(nats)) if known else math.nan


def saving_most(n_paying: Sequence[float], saves: Sequence[float], total: Sequence[float]) -> int | None:
    """Return which solution to tidy up where none stands out as a whole: its paying biclusters save the most.

    Parameters
    ----------
    n_paying : sequence of float
        How many biclusters of each solution pay.
    saves : sequence of float
        What these save, as :func:`saved` says; where that is unknown, more of them come first.
    total : sequence of float
        The evidence of the whole solution; among equals, the others cost least.

    Returns
    -------
    int or None
        Its position; None where no bicluster pays.

    Examples
    --------
    >>> saving_most([0, 2, 2, 1], [0.0, 173.0, 173.0, 90.0], [-9.0, -64.0, -3.0, -1.0]), saving_most([0], [0.0], [0.0])
    (2, None)
    """
    able = [i for i, count in enumerate(n_paying) if count > 0]
    keys = {i: [-math.inf if math.isnan(v) else v for v in (saves[i], n_paying[i], total[i])] for i in able}
    return max(able, key=keys.__getitem__, default=None)


def partly(name: str, n_paying: float, found: float, total: float) -> str:
    """Say that no solution stands out as a whole, and how much of the one to tidy up does.

    >>> partly("las with K = 3", 2, 3, -3.2)
    'no solution as a whole stands out from noise. las with K = 3: 2 of 3 biclusters stand out from noise, but the others cost more than these save.'
    """  # noqa: W505
    few = f"{paying(n_paying, found)}, but too few of its seeds could be scored."
    return f"{NOT_AS_A_WHOLE}. {name}: {few if total > 0 else outweighed(n_paying, found)}"


def called(algorithm: str, k: int, finds_k: Collection[str] = ()) -> str:
    """Return how sentences call a choice: with its K, unless the algorithm finds that itself and K is a bound.

    >>> called("las", 3), called("find", 5, {"find"})
    ('las with K = 3', 'find')
    """
    return algorithm if algorithm in finds_k else f"{algorithm} with K = {k}"


def verdict(
    best: pd.DataFrame, candidates: pd.DataFrame, dataset: str, by: str, some: str = "", finds_k: Collection[str] = ()
) -> str:
    """Say in one sentence what is there, and whether evidence, held-out cells and the measure asked for agree.

    Nothing is there where no candidate has a bicluster that pays, or the one chosen is no better than what is chosen in
    surrogates, and where no candidate predicts held-out cells beyond two standard errors. Otherwise the measure asked
    for chooses; evidence and held-out cells, where the run has them, agree with it, agree on the algorithm alone, or
    choose otherwise. A choice that evidence and held-out cells share is as good as it gets; where they differ, evidence
    was right more often when both were measured.

    Parameters
    ----------
    best : DataFrame
        As :func:`best` returns it, with columns ``measure``, ``found`` and ``n_paying`` (means over seeds), and
        ``p_value`` where every surrogate made the same choice.
    candidates : DataFrame
        As :func:`candidates` returns it, with a column ``measure``.
    dataset : str
        Name of the data set.
    by : str
        The measure asked for.
    some : str
        What :func:`partly` says, where biclusters pay although no solution stands out as a whole.
    finds_k : collection of str
        Algorithms that find the number of biclusters themselves.

    Returns
    -------
    str
        The sentence, and another one where the choice has not as many biclusters as were asked for, or not all pay.
    """
    rows = best[best["dataset"] == dataset].to_dict("records")
    chosen = {str(row["measure"]): (str(row["algorithm"]), int(row["k"])) for row in rows}
    p_values = {str(row["measure"]): float(row.get("p_value", math.nan)) for row in rows}
    asked = [key for key in PILLARS if (candidates["measure"] == key).any()]
    said = f"{dataset}: {agreement(chosen, asked, by, p_values, some, finds_k)}"
    mine = next((row for row in rows if row["measure"] == by), {})
    found, pays = mine.get("found", math.nan), mine.get("n_paying", math.nan)
    known = by in chosen and math.isfinite(found)
    if not known or (asked and seeing_nothing(chosen, asked, p_values) == asked):
        return said
    algorithm, k = chosen[by]
    return f"{said} {count(found, k, pays, algorithm in finds_k)}" if found != k or pays < found else said


def seeing_nothing(
    chosen: Collection[str], asked: Sequence[str], p_values: Mapping[str, float] = MappingProxyType({})
) -> list[str]:
    """Return which of evidence and held-out cells see nothing: they choose nothing, or as much is in surrogates.

    >>> seeing_nothing(["total_evidence"], PILLARS, {"total_evidence": 0.5})
    ['total_evidence', 'predictive']
    """
    matched = p_values.get(EVIDENCE, math.nan) > NO_BETTER
    return [key for key in asked if key not in chosen or (key == EVIDENCE and matched)]


def agreement(
    chosen: Mapping[str, tuple[str, int]],
    asked: Sequence[str],
    by: str,
    p_values: Mapping[str, float] = MappingProxyType({}),
    some: str = "",
    finds_k: Collection[str] = (),
) -> str:
    """Say what `by` chooses, and whether evidence and held-out cells, where they were `asked`, agree.

    Parameters
    ----------
    chosen : mapping
        The algorithm and K that wins by each measure; one by which nothing wins is left out.
    asked : sequence of str
        Which of evidence and held-out cells were computed.
    by : str
        The measure asked for.
    p_values : mapping
        Of the choice by each measure, where surrogates were run.
    some : str
        What :func:`partly` says, where biclusters pay although no solution stands out as a whole.
    finds_k : collection of str
        Algorithms that find the number of biclusters themselves.

    Returns
    -------
    str
        The sentence, beginning with a small letter unless a symbol begins it.

    Examples
    --------
    >>> agreement({"total_evidence": ("las", 3), "predictive": ("las", 4)}, PILLARS, "total_evidence")
    'evidence chooses las with K = 3; held-out cells agree on las, with K = 4.'
    """
    nothing = seeing_nothing(chosen, asked, p_values)
    names = {by: symbol(by)} | {EVIDENCE: "evidence", PREDICTIVE: "held-out cells"}
    if some and EVIDENCE in nothing and EVIDENCE not in chosen:
        if len(nothing) < len(asked):
            return f"doubtful; held-out cells see something, but {some}"
        return f"{some} No candidate predicts held-out cells." if PREDICTIVE in nothing else some
    if nothing and len(nothing) == len(asked):
        why = {EVIDENCE: "no bicluster pays", PREDICTIVE: "no candidate predicts held-out cells"}
        if EVIDENCE in chosen:
            why[EVIDENCE] = f"surrogates have as much evidence (p = {number(p_values[EVIDENCE])})"
        return f"nothing here; {listing([why[key] for key in nothing])}."
    if nothing:
        return (
            f"doubtful; {names[nothing[0]]} see{'s' if nothing[0] == EVIDENCE else ''} nothing, "
            f"{listing([names[key] for key in asked if key not in nothing])} something."
        )
    if by not in chosen:
        return f"{symbol(by)} cannot choose."
    algorithm, k = chosen[by]
    says = f"{names[by]} choose{'' if by == PREDICTIVE else 's'} {called(algorithm, k, finds_k)}"
    if p_values.get(by, math.nan) > NO_BETTER:
        says += f", no better than what it chooses in surrogates (p = {number(p_values[by])})"
    others = [key for key in asked if key != by]
    if not others:
        return f"{says}; held-out cells would give a second opinion."
    parts = []
    for key in others:
        if chosen[key] == chosen[by]:
            parts.append(f"{names[key]} agree{'s' if key == EVIDENCE else ''}")
        elif chosen[key][0] == algorithm:
            asking = "asked for at most" if algorithm in finds_k else "with K ="
            parts.append(
                f"{names[key]} agree{'s' if key == EVIDENCE else ''} on {algorithm}, {asking} {chosen[key][1]}"
            )
        else:
            verb = "chooses" if key == EVIDENCE else "choose"
            parts.append(f"{names[key]} {verb} {called(*chosen[key], finds_k)}")
    return f"{says}; {'; '.join(parts)}."


def _half_width(sd: np.ndarray[Any, Any], n: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not (n > 1).any():
        return np.full(np.shape(sd), np.nan)
    from scipy.special import stdtrit

    freedom = np.maximum(n - 1, 1)
    return np.where(n > 1, stdtrit(freedom, 0.5 + CONFIDENCE / 2) * sd / np.sqrt(np.maximum(n, 1)), np.nan)

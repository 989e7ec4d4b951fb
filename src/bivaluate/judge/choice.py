"""Which solution is best: the one rule behind `select`, `select_k`, the report's headline and marks, and replication.

A value takes part if it is defined and its solution can be judged (status ok). Where a measure tells something from
nothing (evidence above 0), a candidate without anything cannot win; where all are like that, nothing is there. A
candidate is a data set, an algorithm and a K; its value is the mean over seeds, and at least half of its seeds must
take part. The better mean wins; among equals that with fewer biclusters, then the one named first; of the winner's K
the smallest that is as good, with as many supported biclusters, is the answer, or a smaller one with supported
biclusters only that has no less. Where all of several candidates tie in a measure that cannot tell something from
nothing, nobody wins; the best K of one algorithm is then the first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, dropwhile, groupby, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bivaluate._text import FINAL, all_of, listing, number, percent, plural, refined
from bivaluate.judge.limits import CLOSE, CONFIDENCE, ENOUGH_STAND, NO_BETTER, SIGNIFICANT, predicts
from bivaluate.judge.verdict import capital, counted, nothing_supported
from bivaluate.registry import get_metric, symbol

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

CANDIDATE = ["dataset", "algorithm", "k"]
COLUMNS = [
    "mean", "low", "high", "sd", "n", "seeds", "degenerate", "failed", "found", "coverage", "wins", "contests", "stands",
    "n_supported",
]  # fmt: skip
PILLARS = EVIDENCE, PREDICTIVE = "total_evidence", "predictive"
RAW = "raw_evidence"


def high_is_better(measure: str) -> bool:
    """Return whether larger values of a measure are better."""
    return get_metric(measure).direction == "high"


def judged_statuses(above: float) -> tuple[str, ...]:
    """Return the statuses whose values take part: a single bicluster has nothing to merge with, but it has evidence."""
    return ("ok", "degenerate") if math.isfinite(above) else ("ok",)


def degenerate_reason(scores: Mapping[str, float]) -> str:
    """Return why a solution cannot be judged, or nothing if it can."""
    found, undefined = int(scores["n_biclusters"]), int(scores["n_undefined"])
    if found < 2:
        return f"{found or 'no'} bicluster{'' if found == 1 else 's'} found; {symbol('nve')} compares at least two"
    if found - undefined < 2:
        return f"{undefined} of {found} biclusters have one row or one column, where no score is defined"
    return ""


def enough_seeds(counted: Any, seeds: Any) -> Any:
    """Return whether a candidate takes part: at least half of its seeds count, and at least one; numbers or columns."""
    return (counted > 0) & (counted >= ENOUGH_STAND * seeds)


def pick(values: ArrayLike, high: bool, above: float = -math.inf, found: ArrayLike | None = None) -> int | None:
    """Return the position of the best value: the first among equals, None if all of several tie or none is defined.

    Only values above `above` count; if that is finite, they say that something is there, and of equals the one with
    fewer biclusters (`found`) wins, then the first.
    """
    array = np.asarray(values, dtype=np.float64)
    defined = np.flatnonzero(array > above if math.isfinite(above) else ~np.isnan(array))
    tied = len(defined) > 1 and bool((array[defined] == array[defined[0]]).all())
    if not len(defined) or (tied and not math.isfinite(above)):
        return None
    order = [-array[defined] if high else array[defined]]
    if found is not None and math.isfinite(above):
        order.insert(0, np.asarray(found, dtype=np.float64)[defined])
    return int(defined[np.lexsort(order)[0]])


def contests(table: pd.DataFrame) -> list[NDArray[np.int64]]:
    """Return the positions of the solutions of each data set and seed, in order."""
    number = table.groupby(["dataset", "seed"], sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []


def candidates(results: pd.DataFrame, value: str, high: bool, above: float = -math.inf) -> pd.DataFrame:
    """Return one row per (data set, algorithm, K): mean over seeds, interval, defined seeds and wins."""

    import pandas as pd

    results = results.reset_index(drop=True)
    status, found = results["status"], results.get("n_biclusters", np.nan)
    values = results[value].where(status.isin(judged_statuses(above))) if value in results else np.nan
    columns = {"value": values, "coverage": results.get("coverage", np.nan), "found": found, "stands": 1.0}
    columns["n_supported"] = results.get("n_supported", np.nan)
    table = pd.DataFrame(columns, index=results.index, dtype=np.float64)
    if (error := results.get(f"{value}_error")) is not None:
        table["stands"] = predicts(table["value"], error).astype(np.float64)
    final = results["algorithm"].str.endswith(FINAL)
    if math.isfinite(above) and final.any():  # a solution counts with what its supported part has alone
        by = [results["dataset"], results["algorithm"].str.removesuffix(FINAL), results["seed"]]
        alone, whole = (table["value"].where(part).groupby(by).transform("max") for part in (final, ~final))
        table["stands"] *= final | ~(alone < whole)
    counting, won = table["value"].where(table["stands"] > 0).to_numpy(), np.zeros(len(table))
    for contest in contests(results):
        winner = pick(counting[contest], high, above, table["found"].to_numpy()[contest])
        if winner is not None:
            won[contest[winner]] = 1
    number = results.groupby(CANDIDATE, sort=False, dropna=False).ngroup().to_numpy()
    grouped = table.groupby(number)
    mean, sd = grouped.mean(), grouped["value"].std()
    flags = {"n": table["value"].notna(), "seeds": None, "degenerate": status == "degenerate", "wins": won}
    flags["failed"] = status.isin(["failed", "timed out"])
    counts = {name: np.bincount(number, flag).astype(np.int64) for name, flag in flags.items()}
    half = _half_width(sd.to_numpy(), counts["n"])
    place = results.loc[~results.duplicated(CANDIDATE), CANDIDATE].reset_index(drop=True)
    known = {**place, **mean, **counts, "mean": mean["value"], "sd": sd, "stands": mean["stands"] >= ENOUGH_STAND}
    known |= {"low": mean["value"] - half, "high": mean["value"] + half}
    known["contests"] = pd.Series(counts["wins"]).groupby(place["dataset"]).transform("sum")
    return pd.DataFrame({name: known[name] for name in (*CANDIDATE, *COLUMNS)})


def best(table: pd.DataFrame, high: bool, above: float = -math.inf, of: Sequence[str] = CANDIDATE[:1]) -> pd.DataFrame:
    """Return the best candidate of each data set (or what `of` names), with the runner-up; no row if nobody wins."""
    import pandas as pd

    groups: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in table.to_dict("records"):
        if row["stands"] and enough_seeds(row["n"], row["seeds"]):
            groups.setdefault(tuple(row[name] for name in of), []).append(row)
    rows, least = [], above if len(of) == 1 else max(above, np.finfo(np.float64).min)  # all K of an algorithm may tie
    for able in groups.values():
        first = pick([row["mean"] for row in able], high, least, [row["found"] for row in able])
        if first is None:
            continue
        top = chosen = able[first]
        if math.isfinite(above) and not any(row["algorithm"].endswith(FINAL) for row in able):  # as `find` chooses
            mine = [row for row in able if row["algorithm"] == top["algorithm"]]
            curve = [AtK(row["k"], row["mean"], row["found"], row["n_supported"]) for row in mine]
            chosen = mine[smallest(curve, mine.index(top))]
        # A refined solution and what it was refined from are the same, and so are K as good as the one chosen.
        base, span = top["algorithm"].removesuffix(FINAL), range(int(chosen["k"]), int(top["k"]) + 1)
        rest = [row for row in able if row["algorithm"].removesuffix(FINAL) != base or row["k"] not in span]
        wins = sum(row["wins"] for row in able) - sum(row["wins"] for row in rest)
        rest.sort(key=lambda row: (math.isnan(row["mean"]), -row["mean"] if high else row["mean"]))
        second = (f"{refined(rest[0]['algorithm'])} K={rest[0]['k']}", rest[0]["mean"]) if rest else ("", math.nan)
        rows.append({**chosen, "wins": wins, "runner_up": second[0], "runner_up_mean": second[1]})
    return pd.DataFrame(rows, columns=[*table.columns, "runner_up", "runner_up_mean"])


def of_measure(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the candidates by a measure."""
    return candidates(results, measure, high_is_better(measure), get_metric(measure).nothing)


def winners(
    results: pd.DataFrame, measures: Sequence[str], known: Mapping[str, Any] = {}, of: Sequence[str] = CANDIDATE[:1]
) -> pd.DataFrame:
    """Return the best candidate per measure and data set: what `select` prints and every page marks."""
    found = []
    for measure in measures:
        high, above = high_is_better(measure), get_metric(measure).nothing
        summary = known[measure] if measure in known else of_measure(results, measure)
        found.append(best(summary, high, above, of).assign(measure=measure))
    return joined(found)


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate, the measure first, without letting empty frames decide about types."""
    import pandas as pd

    filled = [frame for frame in frames if len(frame)]
    table = pd.concat(filled or frames[:1], ignore_index=True) if frames else pd.DataFrame(columns=["measure"])
    return table[["measure", *(column for column in table if column != "measure")]]


def best_solution(scores: Sequence[Mapping[str, float]]) -> int | None:
    """Return which of several solutions of one matrix is best by evidence, or nearest where nothing is supported."""
    total, raw, found = ([row.get(key, math.nan) for row in scores] for key in (EVIDENCE, RAW, "n_biclusters"))
    first = pick(total, high=True, above=0.0, found=np.nan_to_num(found))
    return pick(raw, high=True) if first is None else first


def which_is_best(names: Sequence[str], scores: Sequence[Mapping[str, float]]) -> tuple[int, str]:
    """Return which of several solutions of one matrix has most evidence, and say so; nothing of a single one."""
    first = best_solution(scores)
    if len(names) < 2:
        return 0, ""
    if first is None and all(math.isnan(row.get(EVIDENCE, math.nan)) for row in scores):
        return 0, "Evidence was not computed: no solution is called the best."
    if first is None:  # all are as far from a supported bicluster
        some = [i for i, row in enumerate(scores) if row.get("n_biclusters")]
        return some[0] if some else 0, nothing_supported(names[some[0]] if len(some) == 1 else "")
    if not scores[first].get("n_supported"):
        return first, nothing_supported(names[first])
    others = [i for i in range(len(names)) if i != first]
    total, mine = [number(row.get(EVIDENCE, math.nan)) for row in scores], scores[first]
    ties = {
        i for i in others if total[i] == total[first] and scores[i].get("n_biclusters", 0) > mine.get("n_biclusters", 0)
    }
    totals = ", ".join(f"{names[i]} {total[i]}{' from more biclusters' * (i in ties)}" for i in others)
    counts = listing([number(scores[i].get("n_supported", math.nan)) for i in others])
    holds = plural(int(mine["n_supported"]), "supported bicluster")
    ranks = f"{names[first]} ranks first by total evidence ({total[first]}; {totals})"
    return first, f"{ranks}, with {holds} ({counts})."


def as_good(curve: Sequence[AtK], measure: str = EVIDENCE) -> list[int]:
    """Return the K whose values count as equal to the best one."""
    values = {int(at.k): at.value for at in curve if not math.isnan(at.value)}
    top = (max if high_is_better(measure) else min)(values.values(), default=math.nan)
    return sorted(k for k, value in values.items() if abs(value - top) <= CLOSE * (abs(top) or 1.0))


def family(name: str, k: int) -> str:
    """Return what solutions of several K are called in common.

    >>> family("run K 4, dt 0.1", 4)
    'run K, dt 0.1'
    """
    return re.sub(rf"\bK {k}\b", "K", name)


def spans(ks: Sequence[int], tried: Collection[int]) -> str:
    """Return some of the K tried in words, neighbours as a range.

    >>> spans([6, 8, 12, 20], [2, 4, 6, 8, 12, 16, 20])
    '6 to 12 and 20'
    """
    places = {k: place for place, k in enumerate(sorted(set(tried)))}
    runs = [[k for _, k in run] for _, run in groupby(enumerate(ks), key=lambda at: places[at[1]] - at[0])]
    parts = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return listing(list(chain.from_iterable(parts)))


class AtK(NamedTuple):
    """What one K gives: the value of the measure that chooses, and how many biclusters were found and are supported."""

    k: int
    value: float
    found: float = math.nan
    supported: float = math.nan


def smallest(curve: Sequence[AtK], best: int) -> int:
    """Return where the smallest K is that is as good as the best, with no fewer supported biclusters (rounded).

    Where a smaller K has supported biclusters only, and no less evidence than that, it is this one.
    """
    top, good = curve[best], as_good(curve)
    able = [at for at in curve if at.k <= top.k and at.k in good and at.supported > top.supported - 0.5]
    first = min(able, key=lambda at: at.k, default=top)
    whole = all_supported(curve, first.k)
    return curve.index(whole if whole is not None and whole.value >= first.value else first)


def curve_of(best: Mapping[Any, Any], candidates: pd.DataFrame) -> list[AtK]:
    """Return what the best K gives, then the others of its algorithm, by the measure that chose it."""
    columns, place = ["k", "mean", "found", "n_supported"], ["measure", "dataset"]
    curve = [AtK(*(best.get(column, math.nan) for column in columns))]
    if "n_supported" not in candidates:
        return curve
    mine = candidates[place].eq([best[name] for name in place]).all(axis=1) & (candidates["k"] != best["k"])
    others = candidates[mine & (candidates["algorithm"] == str(best["algorithm"]).removesuffix(FINAL))]
    return curve + [AtK(int(k), *rest) for k, *rest in others[columns].astype(float).itertuples(index=False)]


def all_supported(curve: Sequence[AtK], best: int) -> AtK | None:
    """Return the best K if all its biclusters are supported, else the K below up to which those of every K are."""
    *below, mine = sorted(at for at in curve if at.k <= best)
    rest = dropwhile(lambda at: not _whole(at), below)
    return mine if _whole(mine) else max(takewhile(_whole, rest), default=None)


def _whole(at: AtK) -> bool:
    return 1 < at.found == at.supported


def supported_at(curve: Sequence[AtK], best: int, name: str = "K") -> str:
    """Say how many biclusters are supported, which hardly depends on which K were tried, and what to do.

    No more than 15 words with the name of an algorithm.
    """
    mine, whole, count = next(at for at in curve if at.k == best), all_supported(curve, best), _count(curve, best)
    if whole is None or (whole.k == best and count < whole.supported + 0.5):
        return counted({"n_biclusters": mine.found, "n_supported": mine.supported})
    what = f"take {name} = {best}{', where every one is' if whole.k == best else ' and keep those'}"
    if int(count) in (untried := _untried(curve, mine)):
        what = f"refit with {name} = {spans(untried, untried).replace(' and ', ' or ')}"
    elif _rises(curve, mine):
        what = f"try {name} above {best}"
    return f"About {count:.0f} biclusters are supported; {what}."


def _count(curve: Sequence[AtK], best: int) -> float:
    """Return how many biclusters are supported with the best K or, if that is more, with the K of most evidence."""
    top = max(curve, key=lambda at: float(np.nan_to_num(at.value)))
    return max(at.supported for at in curve if at.k in (best, top.k))


def about_k(curve: Sequence[AtK], best: int, measure: str = EVIDENCE, name: str = "K") -> list[str]:
    """Say up to which K every bicluster is supported, which K are as good as the best, if it is stable, what to try."""
    mine, whole, said = next(at for at in curve if at.k == best), all_supported(curve, best), []
    tried, ks = [at.k for at in curve], as_good(curve, measure)
    good = [at for at in curve if at.k in ks]
    if measure == EVIDENCE and whole is not None and whole.k != best:
        less = f", with {percent(whole.value / mine.value)} of the evidence of {name} = {best}"
        said.append(f"Up to {name} = {whole.k} every bicluster is supported{less if whole.k not in ks else ''}")
    if len(ks) > 1 and (len({at.found for at in good}) > 1 or not mine.found < best):
        counts = dict.fromkeys(number(end(at.supported for at in good)) for end in (min, max))
        some = f", with {' to '.join(counts)} supported" if any(at.supported < at.found for at in good) else ""
        said.append(f"{name} = {spans(ks, tried)} are as good ({symbol(measure)} within {100 * CLOSE:g} %){some}")
    unstable = _unstable(curve, mine, name) if measure == EVIDENCE else ""
    return [f"{text}." for text in ("; ".join(said), unstable, _to_try(curve, mine, measure, name)) if text]


def _unstable(curve: Sequence[AtK], mine: AtK, name: str) -> str:
    """Say that a K next to the best one supports fewer than half as many biclusters as it could, if one does."""
    above, below = [at for at in curve if at.k > mine.k], [at for at in curve if at.k < mine.k]
    for at in (*sorted(above)[:1], *sorted(below)[-1:]):
        if 2 * at.supported < min(at.found, mine.supported):
            few = f"only {number(at.supported)} of {number(at.found)} biclusters are supported"
            return f"The choice is not stable: with {name} = {at.k} {few}; compare other seeds, or more rows"
    return ""


def _to_try(curve: Sequence[AtK], mine: AtK, measure: str, name: str) -> str:
    """Say which K should be tried, too, if any: beyond the ends, or where all biclusters may still be supported."""
    tried = [at.k for at in curve]
    ends = {min(tried): "smallest" * (mine.k > 2), max(tried): "largest"} if len(set(tried)) > 1 else {}
    edge = "" if mine.found < mine.k else ends.get(mine.k)  # another K would find as many
    if measure == EVIDENCE and _rises(curve, mine) and int(_count(curve, mine.k)) not in _untried(curve, mine):
        return f"Evidence still rises at {name} = {mine.k}, the largest tried: try larger ones"
    if measure == EVIDENCE and ends and (untried := _untried(curve, mine)):
        return f"Try {name} = {spans(untried, untried)} to see up to where every bicluster is supported"
    if edge == "smallest" or (edge and measure != EVIDENCE):
        return f"{name} = {mine.k} is the {edge} tried: try {'larger' if edge == 'largest' else 'smaller'} ones"
    return ""


def _rises(curve: Sequence[AtK], mine: AtK) -> bool:
    """Return whether the best K is the largest tried, with more evidence and supported biclusters than the next."""
    before = max((at for at in curve if at.k < mine.k), default=mine)
    largest = mine.k == max(at.k for at in curve) and not mine.found < mine.k
    return largest and mine.supported > before.supported and mine.value - before.value > CLOSE * mine.value


def _untried(curve: Sequence[AtK], mine: AtK) -> range:
    """Return the K that were not tried, at which every bicluster may still be supported."""
    last = getattr(all_supported(curve, mine.k), "k", 1)
    after = min((at.k for at in curve if at.k > last), default=last)
    return range(last + 1, min(after, int(np.nan_to_num(_count(curve, mine.k))) + 1))


def in_order(total: NDArray[np.float64], raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers that order solutions as evidence does: by the total, where that is 0 by raw evidence.

    >>> in_order(np.array([3.0, 0.0, 0.0]), np.array([9.0, 1.0, 4.0]))
    array([ 3. , -0.5, -0.2])
    """
    return np.where(total > 0, total, -1 / (1 + np.maximum(raw, 0.0)))


def one_would_do(seeds: int, name: str) -> str:
    """Say that the seeds of a candidate make no difference."""
    return f"{all_of(seeds, 'seed')} of {name} give the same solution: one would do."


def called(algorithm: str, k: int, finds_k: Collection[str] = ()) -> str:
    """Return how sentences call a choice: with its K, unless the algorithm finds that itself and K is a bound."""
    return refined(algorithm) if algorithm in finds_k else f"{refined(algorithm)} with K = {k}"


def reached(p_value: float, surrogates: int) -> float:
    """Return a p-value, 0 where no surrogate reaches the score: few of them cannot give less than 1/(n + 1)."""
    return 0.0 if surrogates and p_value <= (1 + 1e-9) / (surrogates + 1) else p_value


def few_surrogates(p_value: float, surrogates: int, measure: str) -> str:
    """Say that too few surrogates were fitted to show anything, where none of them reaches the score."""
    lowest = 1 / (surrogates + 1)
    if lowest <= SIGNIFICANT or reached(p_value, surrogates) != 0:
        return ""
    as_good = "has as much evidence" if measure == EVIDENCE else f"is as good by {symbol(measure)}"
    shown = f"{plural(surrogates, 'surrogate')} cannot show more than p = {number(lowest)}"
    return f"{shown}; none of them {as_good}; run at least {round(1 / SIGNIFICANT) - 1}."


def verdict(
    best: pd.DataFrame,
    candidates: pd.DataFrame,
    dataset: str,
    by: str,
    finds_k: Collection[str] = (),
    surrogates: int = 0,
) -> str:
    """Say in one sentence what is there, and whether evidence, held-out cells and the measure asked for agree.

    Nothing is there where no candidate has a supported bicluster, or the one chosen is no better than what is chosen in
    surrogates, and where no candidate predicts held-out cells beyond two standard errors. Otherwise the measure asked
    for chooses; evidence and held-out cells, where the run has them, agree with it, agree on the algorithm alone, or
    choose otherwise. A choice that evidence and held-out cells share is as good as it gets; where they differ, evidence
    was right more often when both were measured.
    """
    rows = best[best["dataset"] == dataset].to_dict("records")
    chosen = {str(row["measure"]): (str(row["algorithm"]), int(row["k"])) for row in rows}
    p_values = {str(row["measure"]): reached(float(row.get("p_value", math.nan)), surrogates) for row in rows}
    asked = [key for key in PILLARS if (candidates["measure"] == key).any()]
    agreed = agreement(chosen, asked, by, p_values, finds_k)
    said = f"{dataset}: {agreed}"
    mine = next((row for row in rows if row["measure"] == by), {})
    found, supported = mine.get("found", math.nan), mine.get("n_supported", math.nan)
    known = by in chosen and math.isfinite(found)
    if not known or (asked and seeing_nothing(chosen, asked, p_values) == asked):
        return said
    algorithm, k = chosen[by]
    curve = curve_of(mine, candidates)[: 1 if algorithm in finds_k else None]
    about = about_k(curve, k, by)
    if by != EVIDENCE or math.isnan(supported):
        count = [] if math.isnan(supported) else [counted({"n_biclusters": found, "n_supported": supported})]
        return " ".join([said, *count, *about])
    lead = supported_at(curve, k)
    less = f" ({number(found)} found)" if found < k else ""
    name = f"{refined(algorithm)}{', which finds K itself' if algorithm in finds_k else f', K = {k}{less}'}"
    rest = [capital(agreed)] if len(asked) > 1 else []
    return " ".join([f"{dataset}: {name}: {lead[:1].lower()}{lead[1:]}", *about, *rest])


def seeing_nothing(
    chosen: Collection[str], asked: Sequence[str], p_values: Mapping[str, float] = MappingProxyType({})
) -> list[str]:
    """Return which of evidence and held-out cells see nothing: they choose nothing, or as much is in surrogates."""
    matched = p_values.get(EVIDENCE, math.nan) > NO_BETTER
    return [key for key in asked if key not in chosen or (key == EVIDENCE and matched)]


def agreement(
    chosen: Mapping[str, tuple[str, int]],
    asked: Sequence[str],
    by: str,
    p_values: Mapping[str, float] = MappingProxyType({}),
    finds_k: Collection[str] = (),
) -> str:
    """Say what `by` chooses, and whether evidence and held-out cells, where they were `asked`, agree."""
    nothing = seeing_nothing(chosen, asked, p_values)
    names = {by: symbol(by)} | {EVIDENCE: "evidence", PREDICTIVE: "held-out values"}
    why = {EVIDENCE: "no bicluster is supported", PREDICTIVE: "no candidate predicts held-out values"}
    if EVIDENCE in chosen:
        why[EVIDENCE] = f"surrogates have as much evidence (p = {number(p_values.get(EVIDENCE, math.nan))})"
    if nothing and len(nothing) == len(asked):
        return f"{listing([why[key] for key in nothing])}."
    if nothing == [EVIDENCE]:
        return f"doubtful: {why[EVIDENCE]}, but held-out values are predicted."
    if nothing:
        return f"doubtful: biclusters are supported, but {why[PREDICTIVE]}."
    if by not in chosen:
        return f"{symbol(by)} cannot choose."
    algorithm, k = chosen[by]
    says = f"{names[by]} choose{'' if by == PREDICTIVE else 's'} {called(algorithm, k, finds_k)}"
    if p_values.get(by, math.nan) > NO_BETTER:
        says += f", no better than what it chooses in surrogates (p = {number(p_values[by])})"
    others = [key for key in asked if key != by]
    if not others:
        return f"{says}."
    parts = []
    for key in others:
        who, ends, (its, its_k) = names[key], "s" if key == EVIDENCE else "", chosen[key]
        same = f" on {refined(algorithm)}, {'asked for at most' if algorithm in finds_k else 'with K ='} {its_k}"
        agrees = f"{who} agree{ends}{'' if chosen[key] == chosen[by] else same}"
        parts.append(agrees if its == algorithm else f"{who} choose{ends} {called(its, its_k, finds_k)}")
    return f"{says}; {'; '.join(parts)}."


def _half_width(sd: np.ndarray[Any, Any], n: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not (n > 1).any():
        return np.full(np.shape(sd), np.nan)
    from scipy.special import stdtrit

    quantile = stdtrit(np.maximum(n - 1, 1), (1 + CONFIDENCE) / 2)
    return np.where(n > 1, quantile * sd / np.sqrt(np.maximum(n, 1)), np.nan)

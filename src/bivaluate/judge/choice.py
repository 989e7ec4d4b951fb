"""Which solution is best: the one rule behind `select`, `select_k`, the report's headline and marks, and replication.

A value takes part if it is defined and its solution can be judged (status ok). Where a measure tells something from
nothing (evidence above 0), a candidate without anything cannot win; where all are like that, nothing is there. A
candidate is a data set, an algorithm and a K; its value is the mean over seeds, and at least half of its seeds must
take part. The better mean wins; among equals that with fewer biclusters, then the one named first; of the winner's K
the smallest that is as good, with as many supported biclusters, is the answer. Where all of several candidates tie in a measure that cannot tell something from nothing, nobody wins. Where nothing is supported, raw
evidence says what comes nearest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import dropwhile, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bivaluate._text import FINAL, listing, number, percent, plural, refined
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


def best(
    summary: pd.DataFrame, high: bool, above: float = -math.inf, of: Sequence[str] = CANDIDATE[:1]
) -> pd.DataFrame:
    """Return the best candidate per data set, with the runner-up; no row where nobody wins."""
    import pandas as pd

    groups: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in summary.to_dict("records"):
        if row["stands"] and enough_seeds(row["n"], row["seeds"]):
            groups.setdefault(tuple(row[name] for name in of), []).append(row)
    rows = []
    for able in groups.values():
        first = pick([row["mean"] for row in able], high, above, [row["found"] for row in able])
        if first is None:
            continue
        top = chosen = able[first]
        if math.isfinite(above) and not top["algorithm"].endswith(FINAL):  # what is refined is its supported part
            mine = [row for row in able if row["algorithm"] == top["algorithm"]]
            curve = [AtK(row["k"], row["mean"], row["found"], row["n_supported"]) for row in mine]
            chosen = mine[smallest(curve, mine.index(top))]
        # A refined solution and what it was refined from are the same, and so are K as good as the one chosen.
        family, rest, wins = top["algorithm"].removesuffix(FINAL), [], 0
        for row in able:
            if row["algorithm"].removesuffix(FINAL) == family and chosen["k"] <= row["k"] <= top["k"]:
                wins += row["wins"]
            else:
                rest.append(row)
        rest.sort(key=lambda row: (math.isnan(row["mean"]), -row["mean"] if high else row["mean"]))
        second = (f"{refined(rest[0]['algorithm'])} K={rest[0]['k']}", rest[0]["mean"]) if rest else ("", math.nan)
        rows.append({**chosen, "wins": wins, "runner_up": second[0], "runner_up_mean": second[1]})
    return pd.DataFrame(rows, columns=[*summary.columns, "runner_up", "runner_up_mean"])


def best_k(summary: pd.DataFrame, high: bool, above: float = -math.inf) -> pd.DataFrame:
    """Return the best K per data set and algorithm: the paper's table of chosen K."""
    return best(summary, high, above, CANDIDATE[:2])


def of_measure(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the candidates by a measure."""
    return candidates(results, measure, high_is_better(measure), get_metric(measure).nothing)


def winners(results: pd.DataFrame, measures: Sequence[str], known: Mapping[str, pd.DataFrame] = {}) -> pd.DataFrame:
    """Return the best candidate per measure and data set: what `select` prints and every page marks."""
    import pandas as pd

    found = []
    for measure in measures:
        high, above = high_is_better(measure), get_metric(measure).nothing
        summary = known[measure] if measure in known else of_measure(results, measure)
        found.append(best(summary, high, above).assign(measure=measure))
    filled = [frame for frame in found if len(frame)]
    table = pd.concat(filled or found[:1], ignore_index=True) if found else pd.DataFrame(columns=["measure"])
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
    totals = ", ".join(f"{names[i]} {number(scores[i].get(EVIDENCE, math.nan))}" for i in others)
    counts = listing([number(scores[i].get("n_supported", math.nan)) for i in others])
    mine, holds = scores[first], plural(int(scores[first]["n_supported"]), "supported bicluster")
    ranks = f"{names[first]} ranks first by total evidence ({number(mine[EVIDENCE])}; {totals})"
    return first, f"{ranks}, with {holds} ({counts})."


def as_good(ks: Sequence[int], values: Sequence[float], high: bool) -> tuple[int, int] | None:
    """Return the smallest and largest K around the best one whose values count as equal to it."""
    curve = sorted((int(k), float(value)) for k, value in zip(ks, values, strict=True) if not math.isnan(value))
    if not curve:
        return None
    at = max(range(len(curve)), key=lambda i: (curve[i][1] if high else -curve[i][1], -curve[i][0]))
    worse = [abs(value - curve[at][1]) / (abs(curve[at][1]) or 1.0) for _, value in curve]
    ends = []
    for side in (range(at, -1, -1), range(at, len(curve))):
        near = takewhile(lambda i: worse[i] <= 2 * CLOSE, side)
        ends.append(curve[[i for i in near if worse[i] <= CLOSE][-1]][0])
    return ends[0], ends[1]


class AtK(NamedTuple):
    """What one K gives: the value of the measure that chooses, and how many biclusters were found and are supported."""

    k: int
    value: float
    found: float = math.nan
    supported: float = math.nan


def smallest(curve: Sequence[AtK], best: int) -> int:
    """Return where the smallest K is that is as good as the best, with no fewer supported biclusters (rounded)."""
    top = curve[best]
    low, _ = as_good([at.k for at in curve], [at.value for at in curve], high=True) or (top.k, top.k)
    good = [i for i, at in enumerate(curve) if low <= at.k <= top.k and top.value - at.value <= CLOSE * top.value]
    return min((i for i in good if curve[i].supported > top.supported - 0.5), key=lambda i: curve[i].k, default=best)


def curve_of(best: Mapping[Any, Any], candidates: pd.DataFrame) -> list[AtK]:
    """Return what the best K gives, then the others of its algorithm, by the measure that chose it."""
    columns, place = ["k", "mean", "found", "n_supported"], ["measure", "dataset"]
    curve = [AtK(*(best.get(column, math.nan) for column in columns))]
    if "n_supported" not in candidates:
        return curve
    mine = candidates[place].eq([best[name] for name in place]).all(axis=1) & (candidates["k"] != best["k"])
    others = candidates[mine & (candidates["algorithm"] == str(best["algorithm"]).removesuffix(FINAL))]
    return curve + [AtK(int(k), *rest) for k, *rest in others[columns].astype(float).itertuples(index=False)]


def all_supported(curve: Sequence[AtK]) -> AtK | None:
    """Return the K up to which every bicluster is supported; unlike the best K it hardly follows the K tried."""
    rest = dropwhile(lambda at: not _whole(at), sorted(curve))
    return max(takewhile(_whole, rest), default=None)


def _whole(at: AtK) -> bool:
    return 1 < at.found == at.supported


def at_edge(curve: Sequence[AtK], best: int) -> str:
    """Return whether the best K is the smallest or largest tried, unless another would find as many."""
    tried, fewer = {at.k for at in curve}, any(at.k == best and at.found < best for at in curve)
    ends = {min(tried): "smallest", max(tried): "largest"} if len(tried) > 1 and not fewer else {}
    return ends.get(best, "")


def supported_at(curve: Sequence[AtK], best: int, name: str = "K", rises: bool = True) -> str:
    """Say how many biclusters of the best K are supported, whether evidence rises on, where all are, what is as good.

    No more than 15 words with the name of an algorithm.
    """
    mine, whole = next(at for at in curve if at.k == best), all_supported(curve)
    before = max((at for at in curve if at.k < best), default=mine)
    said = counted({"n_biclusters": mine.found, "n_supported": mine.supported}).removesuffix(".")
    short = f"{number(mine.supported)} of {number(mine.found)} are supported"
    some = 0 < mine.supported < mine.found
    _, high = as_good([at.k for at in curve], [at.value for at in curve], high=True) or (best, best)
    more = mine.supported > before.supported and mine.value - before.value > CLOSE * mine.value
    if rises and more and at_edge(curve, best) == "largest":
        said = f"Evidence still rises; {short if some else said[:1].lower() + said[1:]}"
    if some and whole is not None:
        said += f"; with {name} = {whole.k}, {'both' if whole.found == 2 else f'all {number(whole.found)}'}"
    elif rises and high > best and mine.supported > 0:
        said = f"{short if some else said}; up to {name} = {high} is as good"
    return f"{said}."


def about_k(curve: Sequence[AtK], best: int, measure: str = EVIDENCE, name: str = "K") -> list[str]:
    """Say, in one sentence if any, which K are as good as the best one, where every bicluster is supported, the edge."""
    mine, whole, said = next(at for at in curve if at.k == best), all_supported(curve), []
    low, high = as_good([at.k for at in curve], [at.value for at in curve], high_is_better(measure)) or (best, best)
    good = [at for at in curve if low <= at.k <= high]
    told = measure == EVIDENCE and low == best and mine.supported == mine.found  # by `supported_at`
    if low < high and not told and (len({at.found for at in good}) > 1 or not mine.found < best):
        span = f"{low} to {high}" if len(good) > 2 else f"{low} and {high}"
        counts = dict.fromkeys(number(end(at.supported for at in good)) for end in (min, max))
        some = f", with {' to '.join(counts)} supported" if any(at.supported < at.found for at in good) else ""
        said.append(f"{name} = {span} are as good ({symbol(measure)} within 5 %){some}")
    if measure == EVIDENCE and mine.supported < mine.found and whole is not None:
        share = percent(whole.value / mine.value)
        said.append(f"{name} = {whole.k}, with every bicluster supported, has {share} of the evidence")
    before, edge = max((at for at in curve if at.k < best), default=mine), at_edge(curve, best)
    if edge and not (edge == "largest" and measure == EVIDENCE and before.supported >= mine.supported):
        more = "larger" if edge == "largest" else "smaller"
        said.append(f"{name} = {best} is the {edge} tried: try {more} ones")
    return [f"{'; '.join(said)}."] if said else []


def in_order(total: NDArray[np.float64], raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers that order solutions as evidence does: by the total, where that is 0 by raw evidence.

    >>> in_order(np.array([3.0, 0.0, 0.0]), np.array([9.0, 1.0, 4.0]))
    array([ 3. , -0.5, -0.2])
    """
    return np.where(total > 0, total, -1 / (1 + np.maximum(raw, 0.0)))


def nearest(results: pd.DataFrame, dataset: str) -> tuple[str, int] | None:
    """Return the algorithm and K of most raw evidence, for where nothing is supported; None where that is unknown."""
    mine = results[results["dataset"] == dataset]
    if RAW not in mine or not len(mine):
        return None
    row = best(candidates(mine, RAW, high=True), high=True)
    return (str(row["algorithm"].iloc[0]), int(row["k"].iloc[0])) if len(row) else None


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
    near: str = "",
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
    agreed = agreement(chosen, asked, by, p_values, finds_k, near)
    said = f"{dataset}: {agreed}"
    mine = next((row for row in rows if row["measure"] == by), {})
    found, supported = mine.get("found", math.nan), mine.get("n_supported", math.nan)
    known = by in chosen and math.isfinite(found)
    if not known or (asked and seeing_nothing(chosen, asked, p_values) == asked):
        return said
    algorithm, k = chosen[by]
    curve = curve_of(mine, candidates)[: 1 if algorithm in finds_k else None]
    lead, about = supported_at(curve, k, rises=by == EVIDENCE), about_k(curve, k, by)
    if by != EVIDENCE or math.isnan(supported):
        return " ".join([said, *([] if math.isnan(supported) else [lead]), *about])
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
    near: str = "",
) -> str:
    """Say what `by` chooses, and whether evidence and held-out cells, where they were `asked`, agree."""
    nothing = seeing_nothing(chosen, asked, p_values)
    names = {by: symbol(by)} | {EVIDENCE: "evidence", PREDICTIVE: "held-out cells"}
    comes = f" ({near} comes nearest)" if near else ""
    why = {EVIDENCE: f"no bicluster is supported{comes}", PREDICTIVE: "no candidate predicts held-out cells"}
    if EVIDENCE in chosen:
        why[EVIDENCE] = f"surrogates have as much evidence (p = {number(p_values.get(EVIDENCE, math.nan))})"
    if nothing and len(nothing) == len(asked):
        return f"{listing([why[key] for key in nothing])}."
    if nothing == [EVIDENCE]:
        return f"doubtful: {why[EVIDENCE]}, but held-out cells are predicted."
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
    quantile = np.vectorize(t_quantile, otypes=[float])(np.maximum(n - 1, 1), CONFIDENCE)
    return np.where(n > 1, quantile * sd / np.sqrt(np.maximum(n, 1)), np.nan)


@cache
def t_quantile(freedom: int, inside: float) -> float:
    """Return the value below which Student's t stays, whatever its sign, with probability `inside`."""
    low, high, odd = 0.0, math.pi / 2, freedom % 2
    for _ in range(60):
        angle = (low + high) / 2
        term = total = math.cos(angle) ** odd if freedom > 1 else 0.0
        for k in range(2 + odd, freedom - 1, 2):
            term *= math.cos(angle) ** 2 * (k - 1) / k
            total += term
        total *= math.sin(angle)
        found = 2 / math.pi * (angle + total) if odd else total
        low, high = (angle, high) if found < inside else (low, angle)
    return math.sqrt(freedom) * math.tan(low)

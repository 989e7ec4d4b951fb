"""Does a better score mean a better solution? Every measure against the truth, within each data set."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from bivaluate._types import Floats
from bivaluate.algorithms.registry import algorithm_label, is_command
from bivaluate.benchmark.fits import CELL, Benchmark, bicluster_measures, solution_measures
from bivaluate.benchmark.truth import AGREEMENTS
from bivaluate.judge.choice import EVIDENCE, RAW, in_order
from bivaluate.registry import METRICS

DIFFERENT = 0.1  # two truths this far apart make a question worth asking
AS_GOOD = 0.02  # a pick this near to the best truth counts as the best
ENOUGH = 0.5  # of the data sets must have an answer before a measure is ranked
FEWEST = 4  # solutions or biclusters in a rank correlation
BOOTSTRAP = 1000
ALWAYS = "always the best on average"
LAST = f"What is known on fewer than {100 * ENOUGH:.0f} % of the data sets comes last."
FEWER = "n: on so many data sets only, fewer than the other measures; where it is undefined it has no part."
ALL = f"Algorithms with a result on every data set come first, those with fewer than {100 * ENOUGH:.0f} % of them last."


def answer(benchmark: Benchmark) -> dict[str, pd.DataFrame]:
    """Return how well each measure agrees with the truth, and how good each algorithm is: means over data sets.

    Parameters
    ----------
    benchmark : Benchmark
        The tables of :func:`bivaluate.benchmark.run_benchmark`.

    Returns
    -------
    dict of str to DataFrame
        ``measures``: rank correlation with the truth, with intervals, how often a measure picks the best algorithm and
        K, its truth over the best (``share``), how often it refuses noise and prefers a solution to worse copies;
        ``biclusters``, ``domains``, ``classes``: the same of parts; ``algorithms``, ``algorithms_by_case``,
        ``algorithms_by_class``: truth.

    See Also
    --------
    run_benchmark, write_page

    Examples
    --------
    >>> answer(run_benchmark("RUN"))["measures"]  # doctest: +SKIP
    """
    table, blocks = benchmark.solutions, benchmark.biclusters
    real, noise = table[table["domain"] != "noise"], table[table["domain"] == "noise"]
    classes = table[table["class_f1"].notna()] if "class_f1" in table.columns else table.iloc[:0]
    keys = [key for key in solution_measures(_own(table)) if key in table.columns]
    of_blocks = [key for key in bicluster_measures(_own(blocks)) if key in blocks.columns]
    domains = list(dict.fromkeys(real["domain"]))
    questions = {
        "solutions": partial(_by_case, real, ["seed"], _correlation),
        "algorithms": partial(_by_case, real, ["seed", "k"], _correlation),
        "k": partial(_by_case, real, ["seed", "algorithm"], _correlation),
        "right_algorithm": partial(_by_case, real, ["seed"], partial(_picks, what="algorithm")),
        "right_k": partial(_by_case, real, ["seed", "algorithm"], partial(_picks, what="k")),
        "share": partial(_by_case, real, ["seed"], _share_of_best),
        "noise": partial(_by_case, noise, ["seed"], _refuses),
        "corrupted": partial(_beats, benchmark.copies, "corrupted"),
        "random": partial(_beats, benchmark.copies, "random"),
    }
    constant = pd.DataFrame([{"measure": ALWAYS, **_summary("right_algorithm", _constant_answer(real))}])
    of_each = {"biclusters": partial(_by_case, blocks, ["seed", "algorithm", "k"], _correlation)}
    by_domain = {name: partial(_by_case, real[real["domain"] == name], ["seed"], _correlation) for name in domains}
    truths = {name: partial(_correlation, truth=f"class_{name}") for name in (*AGREEMENTS, "recall")}
    by_class = {name: partial(_by_case, classes, ["seed"], ask) for name, ask in truths.items()}
    each_domain = _asked(keys, by_domain)[["measure", *domains]]
    asked_domains = each_domain[domains].dropna(axis=1, how="all")
    return {
        "measures": ranked(pd.concat([_asked(keys, questions), constant], ignore_index=True), "solutions"),
        "biclusters": _sorted(_asked(of_blocks, of_each), "biclusters"),
        "domains": _sorted(each_domain.assign(mean=asked_domains.mean(axis=1, skipna=False)), "mean"),
        "classes": _sorted(_asked(keys, by_class), next(iter(AGREEMENTS))),
        "algorithms": _leaderboard(real),
        "algorithms_by_case": _leaderboard_by_case(real),
        "algorithms_by_class": _leaderboard_by_class(classes),
    }


Question = Callable[[str], dict[str, list[float]]]


def _asked(keys: Sequence[str], questions: Mapping[str, Question]) -> pd.DataFrame:
    """Return one row per measure: what each question gives, with its interval and how many data sets answer it."""
    columns = ["measure", *(column for name in questions for column in _summary(name, {}))]
    asked = {key: [_summary(name, ask(key)) for name, ask in questions.items()] for key in keys}
    rows = [[key, *(value for one in found for value in one.values())] for key, found in asked.items()]
    return pd.DataFrame(rows, columns=columns)


def _sorted(table: pd.DataFrame, by: str) -> pd.DataFrame:
    return table.sort_values(by, ascending=False, na_position="last")


def _own(table: pd.DataFrame) -> list[str]:
    """Return the user's own measures of a table."""
    return [key for key in table.columns if ":" in key and key in METRICS]


def ranked(table: pd.DataFrame, by: str, shares: Sequence[float] = (ENOUGH,)) -> pd.DataFrame:
    """Return measures or algorithms, the best first, those that are known on too few data sets last."""
    known = table[f"{by}_n"].fillna(0)
    enough = sum((known >= share * known.max()).astype(int) for share in shares)
    order = table.assign(enough=enough).sort_values(["enough", by], ascending=False, na_position="last")
    return order.drop(columns="enough")


def _by_case(table: pd.DataFrame, by: list[str], ask: Callable[..., float], key: str) -> dict[str, list[float]]:
    """Ask a question about a measure of every part of every data set; what cannot be answered is left out."""
    found: dict[str, list[float]] = {}
    for names, part in table.groupby(["case", *by], sort=False) if len(table) else ():
        value = ask(part, key)
        if not math.isnan(value):
            found.setdefault(str(names[0]), []).append(value)
    return found


def _oriented(part: pd.DataFrame, key: str) -> Floats:
    """Return the values of a measure so that high is better, undefined ones last."""
    sign = -1.0 if METRICS[key].direction == "low" else 1.0
    values = sign * part[key].to_numpy(dtype=np.float64)
    return in_order(values, part[RAW].to_numpy(dtype=np.float64)) if key == EVIDENCE and RAW in part else values


def _correlation(part: pd.DataFrame, key: str, truth: str = "truth") -> float:
    """Return Spearman's rank correlation of a measure with the truth, where both differ."""
    sides = np.stack([_oriented(part, key), part[truth].to_numpy(dtype=np.float64)])
    ranks = rankdata(sides[:, np.isfinite(sides).all(axis=0)], axis=1)
    differ = ranks.shape[1] >= FEWEST and np.ptp(ranks, axis=1).min() > 0
    return float(np.corrcoef(ranks)[0, 1]) if differ else math.nan


def _picks(part: pd.DataFrame, key: str, what: str) -> float:
    """Return whether the best value belongs to the best algorithm or K; NaN if undefined or all truths are alike."""
    best = part.groupby(what)["truth"].max()
    if len(best) < 2 or not best.max() - best.min() >= DIFFERENT:
        return math.nan
    chosen = _chosen(part, key)
    return math.nan if chosen is None else float(best[chosen[what]] >= best.max() - AS_GOOD)


def _share_of_best(part: pd.DataFrame, key: str) -> float:
    """Return the truth of what a measure picks over that of the best; NaN if undefined or all truths are alike."""
    best = part["truth"].max()
    if not best - part["truth"].min() >= DIFFERENT:
        return math.nan
    chosen = _chosen(part, key)
    return math.nan if chosen is None else max(float(chosen["truth"]), 0.0) / best


def _chosen(part: pd.DataFrame, key: str) -> pd.Series | None:
    """Return the solution with the best value of a measure, the first of several; None if it is undefined for all."""
    values = _oriented(part, key)
    known = np.where(np.isfinite(values), values, -math.inf)
    return part.iloc[int(np.argmax(known))] if np.isfinite(values).any() else None


def _refuses(part: pd.DataFrame, key: str) -> float:
    """Return whether no solution of pure noise is better than nothing by this measure; NaN if it is undefined."""
    nothing = METRICS[key].nothing
    values = part[key].to_numpy(dtype=np.float64)
    known = values[np.isfinite(values)]
    return float(math.isfinite(nothing) and not (known > nothing).any()) if len(known) else math.nan


def _beats(copies: pd.DataFrame, copy: str, key: str) -> dict[str, list[float]]:
    """Return how often a solution is better than its copy; a tie is half a win."""
    if key not in copies.columns:
        return {}
    wide = copies[copies["domain"] != "noise"].pivot_table(key, list(CELL), "copy", sort=False, dropna=False)
    sign, wins = -1.0 if METRICS[key].direction == "low" else 1.0, dict[str, list[float]]()
    for case, part in wide.groupby("case", sort=False) if "as found" in wide else ():
        mine, other = (sign * part.get(name, math.nan) for name in ("as found", copy))
        known = np.isfinite(mine)
        won = np.where(np.isfinite(other), (mine > other) + 0.5 * (mine == other), 1.0)[known]
        wins |= {str(case): won.tolist()} if known.any() else {}
    return wins


def _constant_answer(table: pd.DataFrame) -> dict[str, list[float]]:
    """Return how often the algorithm that is best on average is the best one."""
    best = table.groupby(["case", "seed", "algorithm"], sort=False)["truth"].max().unstack("algorithm")
    if best.empty:
        return {}
    leader, top = best.mean().idxmax(), best.max(axis=1)
    asked = (best.count(axis=1) > 1) & (top - best.min(axis=1) >= DIFFERENT)
    right = (best[leader] >= top - AS_GOOD)[asked].astype(float)
    return {str(case): part.tolist() for case, part in right.groupby("case", sort=False)}


def _summary(name: str, values: dict[str, list[float]]) -> dict[str, float]:
    """Return the mean over data sets, its interval (of one there is none), and how many data sets could answer."""
    means = np.array([np.mean(found) for found in values.values()])
    if not len(means):
        return {name: math.nan, f"{name}_low": math.nan, f"{name}_high": math.nan, f"{name}_n": 0}
    drawn = means[np.random.default_rng(0).integers(len(means), size=(BOOTSTRAP, len(means)))].mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5]) if len(means) > 1 else (math.nan, math.nan)
    return {name: float(means.mean()), f"{name}_low": float(low), f"{name}_high": float(high), f"{name}_n": len(means)}


def _leaderboard(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean truth of each algorithm by domain and over data sets, at the K at which each is best."""
    best = table.groupby(["domain", "case", "seed", "algorithm"], sort=False)["truth"].max().reset_index()
    means = best.groupby(["algorithm", "domain"])["truth"].mean().unstack()
    known = best.dropna().groupby(["algorithm", "case"], sort=False)["truth"].agg(list)
    over_all = [_summary("mean", known[key].to_dict() if key in known else {}) for key in means.index]
    found = means.join(pd.DataFrame(over_all, means.index, [*_summary("mean", {})])).reset_index()
    return ranked(found, "mean", (ENOUGH, 1.0))


def _leaderboard_by_case(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation over seeds of the truth of each algorithm, at its best K, by data set."""
    best = table.groupby(["case", "seed", "algorithm"], sort=False)["truth"].max()
    return best.groupby(["algorithm", "case"], sort=False).agg(["mean", "std", "count"]).reset_index()


def _leaderboard_by_class(known: pd.DataFrame) -> pd.DataFrame:
    """Return F1, NMI and CARI of each algorithm at the K at which its F1 is best, and what permuted labels give."""
    columns = [*(f"class_{name}{kind}" for name in AGREEMENTS for kind in ("_found", "_chance")), "class_recall"]
    if not len(known):
        return pd.DataFrame(columns=["algorithm", *(c.removeprefix("class_") for c in columns)])
    best = known.loc[known.groupby(["case", "seed", "algorithm"], sort=False)["class_f1"].idxmax()]
    means = best.groupby("algorithm")[columns].mean().rename(columns=lambda name: name.removeprefix("class_"))
    return means.sort_values("f1_found", ascending=False).reset_index()


def algorithm_names(keys: Iterable[str]) -> list[str]:
    """Return algorithms as tables show them: the key, or the short name of a command."""
    return [algorithm_label(key) if is_command(key) else key for key in keys]

"""Does a better score mean a better solution? Every measure against the truth, within each data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms.registry import algorithm_label, is_command
from bivaluate.benchmark.judging import bicluster_measures, solution_measures
from bivaluate.benchmark.truth import AGREEMENTS
from bivaluate.judge.choice import EVIDENCE, RAW, in_order
from bivaluate.registry import METRICS

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.benchmark.fits import Benchmark

DIFFERENT = 0.1  # two truths this far apart make a question worth asking
AS_GOOD = 0.02  # a pick this near to the best truth counts as the best
ENOUGH = 0.5  # of the data sets must have an answer before a measure is ranked
FEWEST = 4  # solutions or biclusters in a rank correlation
BOOTSTRAP = 1000
ALWAYS = "always the best on average"


def answer(benchmark: Benchmark) -> dict[str, pd.DataFrame]:
    """Return how well each measure agrees with the truth, and how good each algorithm is.

    Every number is a mean over data sets, with the interval that 95 % of resampled collections of data sets give.

    Parameters
    ----------
    benchmark : Benchmark
        The tables of :func:`bivaluate.benchmark.run_benchmark`.

    Returns
    -------
    dict of str to DataFrame
        ``measures``: one row per measure: rank correlation with the truth over all solutions of a data set
        (``solutions``), over algorithms at one K (``algorithms``) and over K of one algorithm (``k``), how often it
        picks the best algorithm (``right_algorithm``) and K (``right_k``), says that noise holds nothing (``noise``),
        prefers a solution to its copy with a tenth of the rows replaced (``corrupted``) and to random biclusters of its
        sizes (``random``). ``biclusters``: rank correlation over the biclusters of a solution. ``domains``: rank
        correlation over all solutions, by domain. ``classes``: where classes are known, rank correlation with F1, NMI
        and CARI of the best-matching class. ``algorithms``: mean truth by domain. ``algorithms_by_class``: F1, NMI and
        CARI of each algorithm where classes are known, with what permuted labels give.

    See Also
    --------
    run_benchmark, write_page

    Examples
    --------
    >>> answer(run_benchmark("RUN"))["measures"]  # doctest: +SKIP
    """
    import pandas as pd

    table = benchmark.solutions
    real = table[table["domain"] != "noise"]
    noise = table[table["domain"] == "noise"]
    rows = []
    for key in (key for key in solution_measures(_own(table)) if key in table.columns):
        row: dict[str, Any] = {"measure": key}
        questions: dict[str, dict[str, list[float]]] = {
            "solutions": _by_case(real, ["seed"], partial(_correlation, key=key)),
            "algorithms": _by_case(real, ["seed", "k"], partial(_correlation, key=key)),
            "k": _by_case(real, ["seed", "algorithm"], partial(_correlation, key=key)),
            "right_algorithm": _by_case(real, ["seed"], partial(_picks, key=key, what="algorithm")),
            "right_k": _by_case(real, ["seed", "algorithm"], partial(_picks, key=key, what="k")),
            "noise": _by_case(noise, ["seed"], partial(_refuses, key=key)),
            "corrupted": _beats(benchmark.copies, key, "corrupted"),
            "random": _beats(benchmark.copies, key, "random"),
        }
        for name, values in questions.items():
            row |= _summary(name, values)
        rows.append(row)
    constant = _constant_answer(real)
    rows.append({"measure": ALWAYS, **_summary("right_algorithm", constant)})
    blocks = benchmark.biclusters
    of_blocks = [
        {
            "measure": key,
            **_summary("biclusters", _by_case(blocks, ["seed", "algorithm", "k"], partial(_correlation, key=key))),
        }
        for key in bicluster_measures(_own(blocks))
        if key in blocks.columns
    ]
    return {
        "measures": ranked(pd.DataFrame(rows)),
        "biclusters": pd.DataFrame(of_blocks, columns=["measure", *_summary("biclusters", {})]).sort_values(
            "biclusters", ascending=False, na_position="last"
        ),
        "domains": _by_domain(real),
        "classes": _by_class(real),
        "algorithms": _leaderboard(real),
        "algorithms_by_class": _leaderboard_by_class(real),
    }


def _own(table: pd.DataFrame) -> list[str]:
    """Return the user's own measures of a table."""
    return [key for key in table.columns if ":" in key and key in METRICS]


def ranked(measures: pd.DataFrame) -> pd.DataFrame:
    """Return the measures by rank correlation, those that are defined on too few data sets last."""
    enough = measures["solutions_n"].fillna(0) >= ENOUGH * measures["solutions_n"].max()
    order = measures.assign(enough=enough).sort_values(["enough", "solutions"], ascending=False, na_position="last")
    return order.drop(columns="enough")


def _by_case(table: pd.DataFrame, by: list[str], ask: Callable[[pd.DataFrame], float]) -> dict[str, list[float]]:
    """Ask a question of every part of every data set; what cannot be answered is left out."""
    found: dict[str, list[float]] = {}
    if not len(table):
        return found
    for names, part in table.groupby(["case", *by], sort=False):
        value = ask(part)
        if not math.isnan(value):
            found.setdefault(str(names[0]), []).append(value)
    return found


def _oriented(part: pd.DataFrame, key: str) -> NDArray[np.float64]:
    """Return the values of a measure so that high is better, undefined ones last."""
    sign = -1.0 if METRICS[key].direction == "low" else 1.0
    values = sign * part[key].to_numpy(dtype=np.float64)
    return in_order(values, part[RAW].to_numpy(dtype=np.float64)) if key == EVIDENCE and RAW in part else values


def _correlation(part: pd.DataFrame, key: str, truth_key: str = "truth") -> float:
    """Return Spearman's rank correlation of a measure with the truth, where both differ."""
    from scipy.stats import rankdata

    values, truth = _oriented(part, key), part[truth_key].to_numpy(dtype=np.float64)
    known = np.isfinite(values) & np.isfinite(truth)
    if known.sum() < FEWEST:
        return math.nan
    ranks = [rankdata(side[known]) for side in (values, truth)]
    if min(np.ptp(side) for side in ranks) == 0:
        return math.nan
    return float(np.corrcoef(*ranks)[0, 1])


def _picks(part: pd.DataFrame, key: str, what: str) -> float:
    """Return whether the best value belongs to the best algorithm, or K; NaN where the truth hardly differs."""
    best = part.groupby(what)["truth"].max()
    if len(best) < 2 or not best.max() - best.min() >= DIFFERENT:
        return math.nan
    values = _oriented(part, key)
    if not np.isfinite(values).any():
        return 0.0
    chosen = part.iloc[int(np.nanargmax(np.where(np.isfinite(values), values, np.nan)))]
    return float(best[chosen[what]] >= best.max() - AS_GOOD)


def _refuses(part: pd.DataFrame, key: str) -> float:
    """Return whether no solution of pure noise is better than nothing by this measure."""
    nothing = METRICS[key].nothing
    values = part[key].to_numpy(dtype=np.float64)
    if not math.isfinite(nothing):
        return 0.0
    return float(not (values[np.isfinite(values)] > nothing).any())


def _beats(copies: pd.DataFrame, key: str, copy: str) -> dict[str, list[float]]:
    """Return how often a solution is better than its copy; a tie is half a win."""
    if key not in copies.columns:
        return {}
    by = ["case", "domain", "seed", "algorithm", "k"]
    found = copies[copies["copy"] == "as found"].set_index(by)[key]
    other = copies[copies["copy"] == copy].set_index(by)[key].reindex(found.index)
    sign = -1.0 if METRICS[key].direction == "low" else 1.0
    wins: dict[str, list[float]] = {}
    for names, a, b in zip(found.index, sign * found.to_numpy(float), sign * other.to_numpy(float), strict=True):
        if names[1] != "noise" and math.isfinite(a):
            wins.setdefault(str(names[0]), []).append(1.0 if not math.isfinite(b) or a > b else 0.5 if a == b else 0.0)
    return wins


def _constant_answer(table: pd.DataFrame) -> dict[str, list[float]]:
    """Return how often the algorithm that is best on average is the best one."""
    if not len(table):
        return {}
    best = table.groupby(["case", "seed", "algorithm"], sort=False)["truth"].max().reset_index()
    leader = best.groupby("algorithm")["truth"].mean().idxmax()
    found: dict[str, list[float]] = {}
    for (case, _), part in best.groupby(["case", "seed"], sort=False):
        top = part["truth"].max()
        if len(part) > 1 and top - part["truth"].min() >= DIFFERENT:
            mine = part.loc[part["algorithm"] == leader, "truth"]
            found.setdefault(str(case), []).append(float(len(mine) and mine.iloc[0] >= top - AS_GOOD))
    return found


def _summary(name: str, values: dict[str, list[float]]) -> dict[str, float]:
    """Return the mean over data sets, its interval, and how many data sets could answer."""
    means = np.array([np.mean(found) for found in values.values()])
    if not len(means):
        return {name: math.nan, f"{name}_low": math.nan, f"{name}_high": math.nan, f"{name}_n": 0}
    rng = np.random.default_rng(0)
    drawn = means[rng.integers(len(means), size=(BOOTSTRAP, len(means)))].mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return {name: float(means.mean()), f"{name}_low": float(low), f"{name}_high": float(high), f"{name}_n": len(means)}


def _leaderboard(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean truth of each algorithm by domain, at the K at which each is best."""
    best = table.groupby(["domain", "case", "seed", "algorithm"], sort=False)["truth"].max().reset_index()
    means = best.groupby(["algorithm", "domain"])["truth"].mean().unstack()
    return means.assign(mean=means.mean(axis=1)).sort_values("mean", ascending=False).reset_index()


def _by_domain(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rank correlation of each measure with the truth in each domain."""
    import pandas as pd

    domains = list(dict.fromkeys(table["domain"]))
    rows = []
    for key in (key for key in solution_measures(_own(table)) if key in table.columns):
        row: dict[str, Any] = {"measure": key}
        for domain in domains:
            values = _by_case(table[table["domain"] == domain], ["seed"], partial(_correlation, key=key))
            row |= {domain: _summary(domain, values)[domain]}
        rows.append({**row, "mean": _mean([row[domain] for domain in domains])})
    found = pd.DataFrame(rows, columns=["measure", *domains, "mean"])
    return found.sort_values("mean", ascending=False, na_position="last")


def _by_class(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rank correlation of each measure with each agreement of biclusters with known classes."""
    import pandas as pd

    rows = []
    known = _with_classes(table)
    for key in (key for key in solution_measures(_own(table)) if key in table.columns):
        row: dict[str, Any] = {"measure": key}
        for name in AGREEMENTS:
            row |= _summary(name, _by_case(known, ["seed"], partial(_correlation, key=key, truth_key=f"class_{name}")))
        rows.append(row)
    found = pd.DataFrame(rows, columns=["measure", *(k for name in AGREEMENTS for k in _summary(name, {}))])
    return found.sort_values(next(iter(AGREEMENTS)), ascending=False, na_position="last")


def _leaderboard_by_class(table: pd.DataFrame) -> pd.DataFrame:
    """Return F1, NMI and CARI of each algorithm at the K at which its F1 is best, and what permuted labels give."""
    import pandas as pd

    columns = [f"class_{name}{kind}" for name in AGREEMENTS for kind in ("_found", "_chance")]
    known = _with_classes(table)
    if not len(known):
        return pd.DataFrame(columns=["algorithm", *(c.removeprefix("class_") for c in columns)])
    best = known.loc[known.groupby(["case", "seed", "algorithm"], sort=False)["class_f1"].idxmax()]
    means = best.groupby("algorithm")[columns].mean().rename(columns=lambda name: name.removeprefix("class_"))
    return means.sort_values("f1_found", ascending=False).reset_index()


def _with_classes(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["class_f1"].notna()] if "class_f1" in table.columns else table.iloc[:0]


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def names_of(rows: Iterable[str]) -> list[str]:
    """Return measures as tables show them."""
    return [METRICS[key].symbol if key in METRICS else key for key in rows]


def algorithm_names(keys: Iterable[str]) -> list[str]:
    """Return algorithms as tables show them: the key, or the short name of a command."""
    return [algorithm_label(key) if is_command(key) else key for key in keys]

"""Who wins in each seed: the algorithm, or the algorithm and K, that :mod:`bivaluate.judge.choice` picks."""

from __future__ import annotations

import math

import pandas as pd

from bivaluate.datasets.scenarios import SCENARIOS
from bivaluate.judge.choice import high_is_better, pick
from bivaluate.replicate.profile import ALGORITHMS


def picked(results: pd.DataFrame, measure: str, contest: list[str]) -> pd.DataFrame:
    """Return the best row of each contest, in the order of the table; no row where nobody wins."""
    high = high_is_better(measure)
    best = []
    for _, group in results.groupby(contest, sort=False):
        place = pick(group[measure].to_numpy(float), high)
        if place is not None:
            best.append(group.index[place])
    return results.loc[best]


def scenario_winners(matched: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the winning algorithm per seed (rows) and scenario (columns); None where nobody wins."""
    best = picked(matched, measure, ["seed", "scenario"]).pivot(index="seed", columns="scenario", values="algorithm")
    names = [name for name in SCENARIOS if name in set(matched["scenario"])]
    winners = best.reindex(index=sorted(matched["seed"].unique()), columns=names).astype(object)
    return winners.where(winners.notna(), None)


def win_counts(matched: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the number of scenarios each algorithm (columns) wins in each seed (rows)."""
    winners = scenario_winners(matched, measure)
    return pd.DataFrame({key: (winners == key).sum(axis=1) for key in ALGORITHMS})


def best_k_by_seed(yeast: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the best K per data set and algorithm (rows) and seed (columns); NaN where no K wins."""
    best = picked(yeast, measure, ["dataset", "algorithm", "seed"])
    wide = best.pivot(index=["dataset", "algorithm"], columns="seed", values="k")
    pairs = yeast[["dataset", "algorithm"]].drop_duplicates()
    rows = sorted(zip(pairs["dataset"], pairs["algorithm"], strict=True))
    return wide.reindex(index=rows, columns=sorted(yeast["seed"].unique())).astype(float)


def best_pick(yeast: pd.DataFrame, dataset: str, measure: str) -> pd.DataFrame:
    """Return the best algorithm and K per seed on one data set."""
    best = picked(yeast[yeast["dataset"] == dataset], measure, ["seed"])
    return best.set_index("seed")[["algorithm", "k"]].sort_index()


def favourites(yeast: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return on how many data sets each algorithm (columns) has the best solution, per seed (rows)."""
    best = picked(yeast, measure, ["dataset", "seed"])
    counts = best.groupby(["seed", "algorithm"]).size().unstack("algorithm", fill_value=0)
    return counts.reindex(index=sorted(yeast["seed"].unique()), columns=list(ALGORITHMS), fill_value=0)


def margins(rows: pd.DataFrame, measure: str, mine: pd.Series[bool]) -> pd.Series[float]:
    """Return, per seed, by what share the better of the best of some rows and the best of the others is ahead."""
    own, other = (rows[which].groupby("seed")[measure].min() for which in (mine, ~mine))
    seeds = sorted(rows["seed"].unique())
    found = [_margin(own.get(seed, math.nan), other.get(seed, math.nan)) for seed in seeds]
    return pd.Series(found, index=seeds, dtype=float)


def _margin(own: float, other: float) -> float:
    if math.isnan(own) or math.isnan(other):
        return math.nan if own != own and other != other else math.inf if own != own else -math.inf
    if own == other:
        return 0.0
    low, high = min(own, other), max(own, other)
    return math.copysign(high / low - 1 if low > 0 else math.inf, own - other)


def differing_share(yeast: pd.DataFrame, measure: str) -> pd.Series[float]:
    """Return, per seed, the share of data set–algorithm pairs where NVE_cov and `measure` choose different K."""
    ours, theirs = best_k_by_seed(yeast, "nve_cov"), best_k_by_seed(yeast, measure)
    both = ours.notna() & theirs.notna()
    return ((ours != theirs) & both).sum() / both.sum()

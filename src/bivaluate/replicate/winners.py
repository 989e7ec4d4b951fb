"""Who wins: the algorithm, or the algorithm and K, with the lowest score in each seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bivaluate.datasets.scenarios import SCENARIOS

if TYPE_CHECKING:
    import pandas as pd

ALGORITHMS = ("cca", "las", "spectral")


def scenario_winners(matched: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the winning algorithm per seed (rows) and scenario (columns); an undefined score cannot win."""
    wide = matched.set_index(["seed", "scenario", "algorithm"])[measure].unstack("algorithm")
    winners = _lowest(wide).unstack("scenario")
    return winners[[name for name in SCENARIOS if name in winners.columns]]


def win_counts(matched: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the number of scenarios each algorithm (columns) wins in each seed (rows)."""
    winners = scenario_winners(matched, measure)
    return _concat({key: (winners == key).sum(axis=1) for key in ALGORITHMS})


def best_k(yeast: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the K with the lowest score per dataset, algorithm and seed; the smallest K among equals.

    Rows are (dataset, algorithm), columns seeds; NaN where no K has a defined score.
    """
    wide = yeast.pivot(index=["dataset", "algorithm", "seed"], columns="k", values=measure).sort_index(axis=1)
    return _lowest(wide).astype(float).unstack("seed")


def best_pick(yeast: pd.DataFrame, dataset: str, measure: str) -> pd.DataFrame:
    """Return the best algorithm and K per seed on one data set; the smallest K among equals."""
    rows = yeast[yeast["dataset"] == dataset].sort_values(["k", "algorithm"], kind="stable")
    rows = rows[rows[measure].notna()]
    best = rows.loc[rows.groupby("seed")[measure].idxmin()]
    return best.set_index("seed")[["algorithm", "k"]]


def favourites(yeast: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return on how many data sets each algorithm (columns) has the best score, per seed (rows)."""
    lowest = yeast.groupby(["dataset", "seed", "algorithm"])[measure].min().unstack("algorithm")
    winners = _lowest(lowest)
    counts = {key: (winners == key).groupby(level="seed").sum() for key in ALGORITHMS}
    return _concat(counts)


def _lowest(wide: pd.DataFrame) -> pd.Series[Any]:
    """Return the column with the lowest value in each row, the first among equals; None where all are undefined."""
    some = wide.notna().any(axis=1)
    found = wide[some].idxmin(axis=1)
    return found.astype(object).reindex(wide.index, fill_value=None)


def _concat(parts: dict[str, pd.Series[Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(parts)

"""Which (algorithm, K) is best by a measure: means over seeds, intervals, and how often each one wins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bivaluate.measures.registry import get_metric

if TYPE_CHECKING:
    import pandas as pd

CANDIDATE = ["dataset", "algorithm", "k"]
CONFIDENCE = 0.95


def high_is_better(measure: str) -> bool:
    """Whether larger values of a measure are better."""
    return get_metric(measure).direction == "high"


def candidates(results: pd.DataFrame, value: str, high: bool) -> pd.DataFrame:
    """Return one row per (data set, algorithm, K): mean over seeds, interval, defined seeds and wins.

    Parameters
    ----------
    results
        Table with one row per cell.
    value
        Column to choose by.
    high
        Whether larger values are better.

    Notes
    -----
    Only cells with status ok count. The interval is mean ± t · sd / √n over the seeds; a candidate takes part
    in the contest if at least half of its seeds are ok. Ties go to the candidate named first in the plan,
    but where all candidates tie nobody wins.
    """
    import pandas as pd

    results = results.reset_index(drop=True)
    table = results[[*CANDIDATE, "seed", "status"]].copy()
    table["value"] = results[value].where(results["status"] == "ok")
    table["coverage"] = results.get("coverage", np.nan)
    table["won"] = _winners(table, high)
    grouped = table.groupby(CANDIDATE, sort=False)
    summary = pd.DataFrame(
        {
            "mean": grouped["value"].mean(),
            "sd": grouped["value"].std(),
            "n": grouped["value"].count(),
            "seeds": grouped.size(),
            "degenerate": grouped["status"].agg(lambda status: int((status == "degenerate").sum())),
            "failed": grouped["status"].agg(lambda status: int(status.isin(["failed", "timed out"]).sum())),
            "coverage": grouped["coverage"].mean(),
            "wins": grouped["won"].sum(),
        }
    ).reset_index()
    half = _half_width(summary["sd"].to_numpy(), summary["n"].to_numpy())
    summary["low"], summary["high"] = summary["mean"] - half, summary["mean"] + half
    summary["contests"] = summary.groupby("dataset")["wins"].transform("sum")
    return summary[
        [
            *CANDIDATE,
            *("mean", "low", "high", "sd", "n", "seeds", "degenerate", "failed", "coverage", "wins", "contests"),
        ]
    ]


def best(summary: pd.DataFrame, high: bool) -> pd.DataFrame:
    """Return the best candidate per data set, with the runner-up."""
    rows = []
    for _, group in summary.groupby("dataset", sort=False):
        able = group[(group["n"] > 0) & (2 * group["n"] >= group["seeds"])]
        if not len(able) or (len(able) > 1 and able["mean"].nunique() == 1):
            continue
        order = (-able["mean"] if high else able["mean"]).sort_values(kind="stable").index
        row = able.loc[order[0]].to_dict()
        second = able.loc[order[1]] if len(order) > 1 else None
        row["runner_up"] = "" if second is None else f"{second['algorithm']} K={second['k']}"
        row["runner_up_mean"] = math.nan if second is None else float(second["mean"])
        rows.append(row)
    import pandas as pd

    return pd.DataFrame(rows, columns=[*summary.columns, "runner_up", "runner_up_mean"])


def best_k(summary: pd.DataFrame, high: bool) -> pd.DataFrame:
    """Return the best K per data set and algorithm: the paper's table of chosen K."""
    import pandas as pd

    groups = [group for _, group in summary.groupby(["dataset", "algorithm"], sort=False)]
    found = [best(group, high) for group in groups]
    return pd.concat(found, ignore_index=True) if found else best(summary, high)


def _winners(table: pd.DataFrame, high: bool) -> pd.Series[bool]:
    """Mark the best defined cell of every (data set, seed)."""
    import pandas as pd

    won = pd.Series(False, index=table.index)
    defined = table[table["value"].notna()]
    contests = [defined["dataset"], defined["seed"]]
    spread = defined["value"].groupby(contests).transform("nunique")
    alone = defined["value"].groupby(contests).transform("size") == 1
    defined = defined[(spread > 1) | alone]
    if len(defined):
        order = (
            (-defined["value"] if high else defined["value"]).groupby([defined["dataset"], defined["seed"]]).idxmin()
        )
        won[order.to_numpy()] = True
    return won


def _half_width(sd: np.ndarray, n: np.ndarray) -> np.ndarray:
    from scipy.special import stdtrit

    freedom = np.maximum(n - 1, 1)
    return np.where(n > 1, stdtrit(freedom, 0.5 + CONFIDENCE / 2) * sd / np.sqrt(np.maximum(n, 1)), np.nan)

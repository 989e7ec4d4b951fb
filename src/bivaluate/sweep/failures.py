"""Fits that failed or ran out of time, counted by algorithm, with the last thing each said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bivaluate._text import plural
from bivaluate.algorithms.registry import algorithm_label, is_command
from bivaluate.sweep.cells import FAILED, TIMED_OUT

if TYPE_CHECKING:
    import pandas as pd


def failed_fits(results: pd.DataFrame | None) -> pd.DataFrame:
    """Return one row per algorithm of which a fit failed."""
    import pandas as pd

    rows = []
    for key, group in [] if results is None else results.groupby("algorithm", sort=False):
        bad = group[group["status"].isin([FAILED, TIMED_OUT])]
        if len(bad):
            late = int((bad["status"] == TIMED_OUT).sum())
            rows.append((key, len(bad) - late, late, len(group), bad["reason"].iloc[0]))
    return pd.DataFrame(rows, columns=["algorithm", "failed", "timed_out", "fits", "reason"])


def failure_sentences(failed: pd.DataFrame) -> list[str]:
    """Return the failures of each algorithm in words.

    >>> rows = [("mine", 2, 1, 3, "it ended with code 1.")]
    >>> failure_sentences(pd.DataFrame(rows, columns=["algorithm", "failed", "timed_out", "fits", "reason"]))
    ['mine: 2 failed and 1 timed out of 3 fits. For example: it ended with code 1.']
    """
    said = []
    for row in failed.to_dict("records"):
        name = algorithm_label(row["algorithm"]) if is_command(row["algorithm"]) else row["algorithm"]
        counts = [f"{row[key]} {word}" for key, word in (("failed", FAILED), ("timed_out", TIMED_OUT)) if row[key]]
        said.append(f"{name}: {' and '.join(counts)} of {plural(row['fits'], 'fit')}. For example: {row['reason']}")
    return said

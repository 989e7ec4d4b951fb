"""Conventions the paper leaves unsaid, as named profiles, so that results can be shown under each of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from bivaluate._check import check_choice
from bivaluate._errors import DegenerateWarning
from bivaluate.datasets.published import PLANTED_MEASURES, WINNERS
from bivaluate.evaluation import evaluate
from bivaluate.registry import METRICS
from bivaluate.sweep import Cell, Run

#: The paper's own choices: the measures it computes, those that rank solutions, the four it compares algorithms by,
#: and the algorithms.
MEASURES = PLANTED_MEASURES
RANKING = tuple(key for key in MEASURES if not METRICS[key].of_memberships)
FOUR = tuple(WINNERS)
ALGORITHMS = tuple(sorted({winner.algorithm for winner in WINNERS.values()}))
PAPER_SEED = 42


@dataclass(frozen=True)
class Profile:
    """How algorithms are run and how solutions with degenerate biclusters are scored."""

    name: str
    words: str
    score: Mapping[str, Any] = field(default_factory=dict)
    zero_numerator: bool = False
    single_is_zero: bool = False
    algorithm_seed: int | None = None
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    largest_k: Mapping[str, int] = field(default_factory=dict)


_FORMULA = {"degenerate": "formula", "epsilon": 1e-12}
_AS_IN_PAPER: dict[str, Any] = {"algorithm_seed": PAPER_SEED, "parameters": {"spectral": {"selection": "first"}}}
_WORDS = {
    "printed": "VE standardises rows; one row or one column counts MSR = VE = 0; NVE = NSR = 0 when all numerators are 0; "
    "one bicluster with a positive numerator is undefined and leaves the contest; epsilon 1e-12",
    "zero": "as printed, and NVE = NSR = 0 for every solution of one bicluster",
    "default": "our default: what is undefined stays undefined and leaves the contest",
    "filtered": "our default after dropping biclusters of fewer than 2 rows or 3 columns",
    "columns": "as printed, but VE standardises columns, and Spectral is offered K up to 5; a second reading, on yeast and S7",
}
_HOW: dict[str, dict[str, Any]] = {
    "printed": {"score": _FORMULA, "zero_numerator": True, **_AS_IN_PAPER},
    "zero": {"score": _FORMULA, "zero_numerator": True, "single_is_zero": True},
    "filtered": {"score": {"min_rows": 2, "min_cols": 3, "small": "drop"}},
    "columns": {"score": _FORMULA | {"ve_axis": "columns"}, "zero_numerator": True, "largest_k": {"spectral": 5}},
}
PROFILES = {name: Profile(name, words, **_HOW.get(name, {})) for name, words in _WORDS.items()}
#: The profiles under which solutions of the scenarios, which were calibrated under the printed formula, are scored.
CONVENTIONS = tuple(name for name in PROFILES if name != "columns")


def get_profile(name: str) -> Profile:
    """Return a profile by name.

    Parameters
    ----------
    name : {"printed", "zero", "default", "filtered", "columns"}

    Returns
    -------
    Profile
        Its conventions.

    Raises
    ------
    ParameterError
        If there is no such profile.

    See Also
    --------
    replicate

    Examples
    --------
    >>> get_profile("printed").score["degenerate"]
    'formula'
    """
    return PROFILES[check_choice("profile", name, PROFILES)]


def scored_under(run: Run, profile: Profile) -> pd.DataFrame:
    """Return a run's results table under a profile; only cells it can change are scored again."""
    table = run.results
    offered = table["k"] <= table["algorithm"].map(lambda key: profile.largest_k.get(key, np.inf))
    table = table[offered].copy() if profile.largest_k else table.copy()
    for label in table.index[_touched(table, profile)]:
        for key, value in _score_again(run, table.loc[label], profile).items():
            table.loc[label, key] = value
    if profile.zero_numerator:
        single = table["n_biclusters"].eq(1) if profile.single_is_zero else False
        for ratio, mean in (("nsr", "asr"), ("nve", "avg_ve"), ("nve_cov", "avg_ve")):
            table.loc[table[mean].eq(0) | single, ratio] = 0.0
    return table


def _touched(table: pd.DataFrame, profile: Profile) -> Any:
    score, touched = profile.score, pd.Series(data=False, index=table.index)
    if "ve_axis" in score:
        touched = table["n_biclusters"].gt(0)
    elif score.get("small") == "drop":
        touched = (table["rows_min"] < score["min_rows"]) | (table["cols_min"] < score["min_cols"])
    elif score.get("degenerate") == "formula":
        touched = table["n_undefined"].gt(0)
    return touched.fillna(False).to_numpy(dtype=bool)


def _score_again(run: Run, row: pd.Series[Any], profile: Profile) -> dict[str, float]:
    cell = Cell(row["dataset"], row["algorithm"], int(row["k"]), int(row["seed"]))
    matrix = run.matrix(cell.dataset, cell.seed)
    with warnings.catch_warnings(action="ignore", category=DegenerateWarning):
        result = evaluate(matrix, run.solution(cell), metrics=[*MEASURES, "n_biclusters"], **profile.score)
    return result.scores

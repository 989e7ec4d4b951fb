"""Surrogates of a matrix: how they are made, and every score beside those of the surrogates."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.surrogates import chosen_p_value, null_gap, surrogate
from bivaluate.matrix import Matrix
from bivaluate.registry import METRICS, get_metric

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.float64]
COLUMNS = ["dataset", "algorithm", "k", "seed", "measure", "value"]
BAND = ["null_mean", "null_sd", "null_low", "null_high", "null_n", "null_runs", "gap", "p_value"]


def make_variant(matrix: Matrix, variant: str, copy: int, matrix_seed: int | None) -> Matrix:
    """Return one surrogate; it is the same for every algorithm and K."""
    rng = np.random.default_rng([zlib.crc32(variant.encode()), copy, 0 if matrix_seed is None else matrix_seed + 1])
    return Matrix(surrogate(matrix.values, variant, rng), matrix.row_labels, matrix.col_labels, matrix.name)


def null_table(results: pd.DataFrame, variants: pd.DataFrame, null: str, per_seed: Collection[str]) -> pd.DataFrame:
    """Return one row per finished cell and measure that has a better direction.

    A surrogate in which an algorithm finds nothing to score has no value: it is in ``null_runs``, not in ``null_n``.
    """
    import pandas as pd

    measures = [key for key in results if key in METRICS and METRICS[key].direction != "none"]
    surrogates = variants[variants["variant"] == null]
    by_matrix = dict(list(surrogates.groupby(["dataset", "algorithm", "k", "seed"])))
    by_dataset = dict(list(surrogates.groupby(["dataset", "algorithm", "k"])))
    rows: list[list[Any]] = []
    for record in results.to_dict("records"):
        cell = [record[name] for name in ("dataset", "algorithm", "k", "seed")]
        found = by_matrix.get(tuple(cell)) if cell[0] in per_seed else by_dataset.get(tuple(cell[:3]))
        if found is None:
            continue
        for key in measures:
            value = float(record[key])
            if value != value:
                continue
            gap = null_gap(value, found[key].to_numpy(float), METRICS[key].direction)
            band = [gap.mean, gap.sd, gap.low, gap.high, gap.n, len(found), gap.gap, gap.p_value]
            rows.append([*cell, key, value, *band])
    return pd.DataFrame(rows, columns=COLUMNS + BAND)


def band(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return one row per (data set, algorithm, K): the null band and the gap, mean over seeds, the p-value median."""
    grouped = table[table["measure"] == measure].groupby(["dataset", "algorithm", "k"], sort=False)
    means = ["null_mean", "null_low", "null_high", "gap"]
    return grouped.agg({**dict.fromkeys(means, "mean"), "p_value": "median"}).reset_index()


def choice_p_values(summary: pd.DataFrame, variants: pd.DataFrame, null: str, measure: str) -> dict[str, float]:
    """Return the p-value of the choice per data set: every surrogate makes the same choice among all candidates."""
    surrogates = variants[variants["variant"] == null]
    found = {}
    for dataset, group in summary.groupby("dataset", sort=False):
        mine = surrogates[surrogates["dataset"] == dataset]
        found[str(dataset)] = float("nan")
        if len(mine) and measure in mine:
            wide = mine.pivot_table(index="run", columns=["algorithm", "k"], values=measure, dropna=False)
            scores = wide.reindex(columns=list(zip(group["algorithm"], group["k"], strict=True))).to_numpy(float)
            chosen = chosen_p_value(group["mean"].to_numpy(float), scores, get_metric(measure).direction)
            found[str(dataset)] = chosen.p_value
    return found

"""Scores from a random sample of rows, and how far off they may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bivaluate._check import check_real
from bivaluate._errors import ParameterError
from bivaluate._text import percent
from bivaluate._types import Floats, Ints
from bivaluate.matrix import Matrix
from bivaluate.measures._blocks import standardise
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

# Measures that are means over rows, or made of such means alone.
MEANS_OVER_ROWS = frozenset(
    {"ve", "msr", "avg_ve", "asr", "nve", "nsr", "nve_k", "nsr_k", "nve_numerator", "nve_denominator", "nve_cov"}
)
# Rows every bicluster keeps at least.
FEWEST_ROWS = 20


@dataclass(frozen=True)
class Sampled:
    """Rows drawn from those in biclusters: each for all biclusters that hold it, so that mergers are sampled too."""

    workspace: Workspace
    all_rows: Ints
    n_used: int
    seed: int | None

    @property
    def described(self) -> str:
        """What was done, in words."""
        drawn = len(np.unique(np.concatenate([b.rows for b in self.workspace.solution])))
        return (
            f"Scores are those of {drawn:,} rows drawn at random from the {self.n_used:,} in biclusters "
            f"({percent(drawn / self.n_used)}, seed {self.seed}), with standard errors; findings need every row."
        )

    def standard_errors(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the standard errors of those of these measures that are plain means over rows."""
        work = self.workspace
        ve, msr = np.full(len(work.r), np.nan), np.full(len(work.r), np.nan)
        for k, b in enumerate(work.solution):
            r, kept = len(b.rows), math.sqrt(1 - len(b.rows) / self.all_rows[k])
            shares = row_shares(work.matrix, b.rows, b.cols) if work.defined[k] else None
            if shares is not None:
                ve[k], msr[k] = (share.std(ddof=1) * kept / math.sqrt(r) for share in shares)
        found = {"ve": ve, "msr": msr, "avg_ve": _of_mean(ve[work.defined]), "asr": _of_mean(msr[work.defined])}
        return {key: found[key] for key in found if key in set(keys)}


def row_shares(matrix: Matrix, rows: Ints, cols: Ints) -> tuple[Floats, Floats] | None:
    """Return what each row of a block adds to VE and to MSR, from some rows at a time; None with missing cells."""
    n_cols = len(cols)
    parts = list(matrix.map_rows(partial(_column_sums, matrix.without_cells(), cols), rows, n_cols))
    means = np.asarray(sum(parts)) / len(rows)
    if np.isnan(means).any():
        return None
    pattern = standardise(means) if np.ptp(means) > 0 else np.zeros(n_cols)
    centred = means - means.mean()
    found = matrix.map_rows(partial(_shares, matrix.without_cells(), cols, centred, pattern), rows, n_cols)
    ve, msr = zip(*found, strict=True)
    return np.concatenate(ve), np.concatenate(msr)


def _column_sums(matrix: Matrix, cols: Ints, at: int, numbers: Any, cells: Any) -> Floats:
    return np.asarray(matrix.dense(cells[:, cols]).sum(axis=0))


def _shares(
    matrix: Matrix, cols: Ints, centred: Floats, pattern: Floats, at: int, numbers: Any, cells: Any
) -> tuple[Floats, Floats]:
    A = matrix.dense(cells[:, cols])
    residue = A - A.mean(axis=1, keepdims=True) - centred
    return np.abs(standardise(A) - pattern).mean(axis=1), (residue**2).mean(axis=1)


def _of_mean(errors: Floats) -> float:
    return float(np.sqrt((errors**2).sum()) / len(errors)) if len(errors) else math.nan


def draw_rows(workspace: Workspace, share: float, seed: int | None) -> Sampled:
    """Draw a share of the rows in biclusters; one that would keep fewer than 20 rows keeps 20, or all it has."""
    if not 0 < check_real("sample", share) < 1:
        raise ParameterError(f"sample is {share}; it is a share of the rows, between 0 and 1.")
    solution = workspace.solution
    used = np.zeros(workspace.shape[0], dtype=np.bool_)
    for b in solution:
        used[b.rows] = True
    numbers = np.flatnonzero(used)
    rng = np.random.default_rng(seed)
    drawn = np.zeros(workspace.shape[0], dtype=np.bool_)
    drawn[rng.choice(numbers, max(1, round(share * len(numbers))), replace=False) if len(numbers) else numbers] = True
    for b in solution:
        lacking = min(FEWEST_ROWS, len(b.rows)) - int(drawn[b.rows].sum())
        if lacking > 0:
            drawn[rng.choice(b.rows[~drawn[b.rows]], lacking, replace=False)] = True
    pairs = [(b.rows[drawn[b.rows]], b.cols) for b in solution]
    smaller = Workspace(workspace.matrix, Biclustering(pairs, solution.shape), workspace.options)
    vars(smaller)["cover"] = workspace.cover  # the coverage is that of all rows
    return Sampled(smaller, workspace.r, len(numbers), seed)

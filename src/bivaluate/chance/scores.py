"""Chance-corrected scores of all biclusters of a solution at once, and how well each stands apart from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._check import check_choice
from bivaluate.chance.moments import null_mean, null_sd, search_reference
from bivaluate.measures._blocks import constant_row_counts
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_CHUNK_CELLS = 1 << 24


@dataclass(frozen=True)
class ChanceScores:
    """One value per bicluster.

    Attributes
    ----------
    rows, cols
        Rows that are not constant, and columns.
    usable
        Whether there are two of each.
    expected
        E0, the mean VE of noise of that shape.
    reference
        V*, the VE a search through noise of the whole matrix's shape would reach.
    ratio
        R = VE / E0.
    z
        (E0 − VE) / sd0.
    adjusted
        aVE = 1 − (V* − VE)/E0; 1 where not usable.
    merged_ratio
        R of all mergers, K × K.
    separation
        sep_k = max(0, 1 − R(B_k) / min over l of R(B_kl)); 1 for the only usable bicluster.
    """

    rows: Counts
    cols: Counts
    usable: NDArray[np.bool_]
    expected: Floats
    reference: Floats
    ratio: Floats
    z: Floats
    adjusted: Floats
    merged_ratio: Floats
    separation: Floats

    @property
    def evidence(self) -> Floats:
        """e_k = max(0, 1 − aVE_k): coherence beyond what a search through noise finds."""
        return np.maximum(0.0, 1.0 - self.adjusted)

    @property
    def weight(self) -> Floats:
        """e_k · sep_k."""
        return self.evidence * self.separation


def chance_scores(workspace: Workspace) -> ChanceScores:
    """Return the chance-corrected scores of a workspace, computed once."""
    return workspace.once(_score)


def _score(workspace: Workspace) -> ChanceScores:
    constant = constant_row_counts(workspace.X, workspace.solution)
    rows, cols = workspace.r - np.diagonal(constant), workspace.observed[1]
    merged_rows, merged_cols = workspace.cover.merged_shapes
    merged_ratio = workspace.merged_ve / _expected_of_pairs(merged_rows - constant, merged_cols)
    block = score_blocks(workspace.ve, rows, cols, workspace.shape)
    separation = _separation(block["ratio"], merged_ratio, block["usable"])
    return ChanceScores(**block, merged_ratio=merged_ratio, separation=separation)


def score_blocks(ve: Floats, rows: Counts, cols: Counts, shape: tuple[int, int]) -> dict[str, Any]:
    """Correct the VE of blocks of a matrix of this shape; `rows` without the constant ones."""
    usable = (rows >= 2) & (cols >= 2)
    expected = null_mean(rows, cols)
    reference = search_reference(rows, cols, shape)
    ratio = np.where(usable, ve, np.nan) / expected
    adjusted = np.where(usable, 1 - reference / expected + ratio, 1.0)
    return {
        "rows": rows,
        "cols": cols,
        "usable": usable,
        "expected": expected,
        "reference": reference,
        "ratio": ratio,
        "z": (expected - ve) / null_sd(rows, cols),
        "adjusted": adjusted,
    }


def _expected_of_pairs(rows: Counts, cols: Counts) -> Floats:
    """E0 of a matrix of shapes, each distinct shape looked up once."""
    base = int(cols.max(initial=0)) + 1
    distinct, where = np.unique(np.maximum(rows, 0) * base + cols, return_inverse=True)
    return np.asarray(null_mean(distinct // base, distinct % base)[where].reshape(rows.shape))


def _separation(ratio: Floats, merged_ratio: Floats, usable: NDArray[np.bool_]) -> Floats:
    separation = np.where(usable, 1.0, 0.0)
    if usable.sum() > 1:
        others = np.where(usable[None, :], merged_ratio, np.inf)
        np.fill_diagonal(others, np.inf)
        nearest = others.min(axis=1)
        apart = 1 - np.divide(ratio, nearest, out=np.ones_like(ratio), where=nearest > 0)
        separation = np.where(usable, np.maximum(0.0, apart), 0.0)
    return separation


def largest_weight_sum(solution: Biclustering, weights: Floats) -> float:
    """Sum over the cells of the matrix of the largest weight among the biclusters that cover the cell."""
    n, m = solution.shape
    heaviest_first = [int(k) for k in np.argsort(-weights, kind="stable") if weights[k] > 0]
    total = 0.0
    step = max(1, _CHUNK_CELLS // m)
    for start in range(0, n if heaviest_first else 0, step):
        covered = np.zeros((min(step, n - start), m), dtype=np.bool_)
        for k in heaviest_first:
            first, last = np.searchsorted(solution[k].rows, (start, start + step))
            cells = (solution[k].rows[first:last, None] - start, solution[k].cols)
            total += weights[k] * ((last - first) * len(solution[k].cols) - np.count_nonzero(covered[cells]))
            covered[cells] = True
    return float(total)


def check_search(search: str) -> str:
    """Return `search` if it is allowed."""
    return check_choice("search", search, ("exhaustive", "none"))

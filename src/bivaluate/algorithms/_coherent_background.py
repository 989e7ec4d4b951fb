"""What is not a bicluster: what columns share in every row, and patterns common to half of all rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms._coherent_field import copy_field, fit_pattern, make_field
from bivaluate.algorithms._coherent_prepare import column_covariance, median, standardise, without_effects
from bivaluate.algorithms._coherent_search import Search
from bivaluate.algorithms._estimator import Pair, Values

# Patterns common to half of all rows that are taken out at most.
MOST_PATTERNS = 8
# Parts of the rows, each predicted from the others; how often columns are centred anew without the blocks found.
PARTS, MOST_ROUNDS = 5, 3
# Blocks looked for at most, and rounds in which missing cells are filled from each other.
MOST_BLOCKS, SWEEPS = 100, 20


@dataclass(frozen=True)
class Background:
    """A prepared matrix (NaN where missing), whether its columns count as correlated, and the field to search."""

    Z: Values
    correlated: bool
    field: Any

    @classmethod
    def of(cls, Z: Values, covariance: Values | None = None, blocks: Iterable[Pair] = ()) -> Background:
        """Return the background of Z with columns of this covariance, independent ones if it is None.

        Missing cells hold what the others lead one to expect, in rows that follow the pattern of a known block this.
        """
        precision = None if covariance is None else np.asarray(np.linalg.inv(covariance), dtype=np.float64)
        gap = np.isnan(Z)
        filled = np.where(gap, 0.0, Z)
        if precision is not None:
            precision = 0.5 * (precision + precision.T)
            filled = fill(Z, precision)
        field = make_field(filled, precision)
        if gap.any():
            for rows, cols in blocks:
                fill_by_pattern(filled, gap, cols, fit_pattern(field, rows, cols).pattern)
            field = make_field(filled, precision)
        return cls(Z, covariance is not None, field)


def find_background(Z: Values, search: Search, rng: np.random.RandomState) -> tuple[Background, list[Pair]]:
    """Return the background of Z, and the blocks that were met on the way.

    Correlation of columns looks like blocks, and blocks with many rows like correlation: whichever explains more is
    taken. Blocks on most of the columns, or with as many rows as a bicluster may have, do not count here: that is what
    a factor of all rows looks like. Where blocks explain more, columns are centred without their cells, and the
    question is asked again of what the blocks do not explain.
    """
    background = Background.of(Z)
    blocks: list[Pair] = []
    gain = covariance_evidence(Z)
    for _ in range(MOST_ROUNDS):
        if gain <= search.threshold:
            return background, blocks
        known, blocks, total = blocks, [], 0.0
        for score, pair in search.peel(copy_field(background.field), rng, MOST_BLOCKS, known):
            if len(pair[0]) == search.most_rows or 2 * len(pair[1]) > Z.shape[1]:
                break
            blocks.append(pair)
            total += score
        if total <= gain:
            return Background.of(Z, column_covariance(Z)), blocks
        Z = standardise(Z - median(without_cells(Z, blocks), 0))
        background = Background.of(Z)
        gain = covariance_evidence(explained(Z, blocks))
    return background_beside(Z, search, blocks), blocks


def background_beside(Z: Values, search: Search, blocks: Iterable[Pair]) -> Background:
    """Return the background of Z where blocks are known: its covariance, if it has one, is that of the other cells.

    Blocks with more rows than a bicluster may have are part of the background: without them little would be left of it.
    """
    kept = [(rows, cols) for rows, cols in blocks if len(rows) <= search.most_rows]
    correlated = covariance_evidence(explained(Z, kept)) > search.threshold
    return Background.of(Z, column_covariance(without_cells(Z, kept)) if correlated else None, kept)


def covariance_evidence(Z: Values) -> float:
    """Return how many nats are saved if every row is predicted with the covariance of columns in other rows.

    The rows are split into parts, and each part is predicted from the others: parameters need no further price.
    """
    from bivaluate.algorithms._kernels_coherent import ROW_WHOLE

    part = np.arange(len(Z)) % PARTS
    saved = 0.0
    for k in range(PARTS):
        covariance, rows = column_covariance(Z[part != k]), Z[part == k]
        scale = np.diag(covariance)
        correlated, alone = Background.of(rows, covariance).field, Background.of(rows, np.diag(scale)).field
        log_det = np.linalg.slogdet(covariance)[1] - np.log(scale).sum()
        saved += float((correlated.lines[ROW_WHOLE] - alone.lines[ROW_WHOLE] - 0.5 * log_det).sum())
    return saved


def without_cells(Z: Values, blocks: Iterable[Pair]) -> Values:
    """Return Z with the cells of blocks missing."""
    seen = Z.copy()
    for rows, cols in blocks:
        seen[np.ix_(rows, cols)] = np.nan
    return seen


def explained(Z: Values, blocks: Iterable[Pair]) -> Values:
    """Return Z with the blocks turned into background: what their patterns leave, at the scale of their rows."""
    field = Background.of(Z).field
    out = Z.copy()
    for rows, cols in blocks:
        model = fit_pattern(field, rows, cols)
        gap = np.isnan(Z[np.ix_(rows, cols)])
        out[np.ix_(rows, cols)] = np.where(gap, np.nan, model.centre[:, np.newaxis] + model.residuals())
    return out


def fill(Z: Values, precision: Values) -> Values:
    """Return Z with missing cells at what the other cells of their row lead one to expect."""
    gap = np.isnan(Z)
    filled = np.where(gap, 0.0, Z)
    rows_of = {int(j): np.flatnonzero(gap[:, j]) for j in np.flatnonzero(gap.any(axis=0))}
    for _ in range(SWEEPS):
        for j, rows in rows_of.items():
            filled[rows, j] -= filled[rows] @ precision[:, j] / precision[j, j]
    return filled


def fill_by_pattern(filled: Values, gap: NDArray[np.bool_], cols: NDArray[np.int64], pattern: Values) -> None:
    """Fill missing cells by a level and a slope along the pattern, in rows that these explain half of at least."""
    there = ~gap[:, cols]
    x = np.where(there, filled[:, cols], 0.0)
    n, p1, p2 = np.maximum(there.sum(axis=1), 1), there @ pattern, there @ pattern**2
    slope = (n * (x @ pattern) - p1 * x.sum(axis=1)) / np.maximum(n * p2 - p1**2, 1e-9)
    level = (x.sum(axis=1) - slope * p1) / n
    fitted = level[:, np.newaxis] + slope[:, np.newaxis] * pattern
    follows = 2 * (there * (x - fitted) ** 2).sum(axis=1) < (x**2).sum(axis=1)
    filled[:, cols] = np.where(~there & follows[:, np.newaxis], fitted, filled[:, cols])


def take_out(background: Background, block: Pair) -> Values:
    """Return Z without the pattern of a block that is common to half of all rows."""
    rows, cols = block
    pattern = np.zeros(background.Z.shape[1])
    pattern[cols] = fit_pattern(background.field, rows, cols).pattern
    loading = np.where(np.isnan(background.Z), 0.0, background.Z) @ pattern
    return without_effects(background.Z - loading[:, np.newaxis] * pattern)

"""What is not a bicluster: what columns have in common in every row, and what the search finds where there is nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate.algorithms._coherent_field import copy_field, fit, make_field, refresh, remove
from bivaluate.algorithms._coherent_prepare import column_covariance, without_effects
from bivaluate.algorithms._coherent_refine import Scored
from bivaluate.algorithms._coherent_search import Search
from bivaluate.algorithms._estimator import Pair, Values

FEW_COPIES, MORE_COPIES = 3, 9
COPIES = 19


@dataclass(frozen=True)
class Background:
    """A prepared matrix (NaN where missing), the covariance of its columns if that matters, and the field to search."""

    Z: Values
    covariance: Values | None
    field: Any

    @classmethod
    def of(cls, Z: Values, covariance: Values | None) -> Background:
        """Return the background of Z with columns of this covariance, independent ones if it is None."""
        return cls(Z, covariance, background_field(Z, covariance))

    @property
    def correlated(self) -> bool:
        """Whether the columns are taken as correlated."""
        return self.covariance is not None

    def copy(self) -> Any:
        """Return a copy of the field from which blocks may be removed."""
        return copy_field(self.field)


def find_background(Z: Values, search: Search, rng: np.random.RandomState, blocks: Iterable[Pair] = ()) -> Background:
    """Return the background of Z; its covariance is estimated without the cells of `blocks`."""
    seen = Z.copy()
    for rows, cols in blocks:
        seen[np.ix_(rows, cols)] = np.nan
    covariance = column_covariance(seen)
    return Background.of(Z, covariance if looks_like_blocks(covariance, len(Z), search, rng) else None)


def looks_like_blocks(covariance: Values, n: int, search: Search, rng: np.random.RandomState) -> bool:
    """Return whether normal rows with this covariance would hold blocks if their columns were taken as independent."""
    root = np.linalg.cholesky(covariance)
    noise = rng.standard_normal((n, len(root))) @ root.T
    return len(search.from_starts(make_field(noise), max(search.n_starts // 4, 75), rng)) > 0


def fill(Z: Values, precision: Values) -> Values:
    """Return Z with missing cells at what the other cells of their row lead one to expect."""
    gap = np.isnan(Z)
    filled = np.where(gap, 0.0, Z)
    for _ in range(20):
        step = filled @ precision / np.diag(precision)
        filled[gap] -= 0.5 * step[gap]
    return filled


def background_field(Z: Values, covariance: Values | None) -> Any:
    """Return the field to search, with columns of this covariance, or independent ones if it is None."""
    if covariance is None:
        return make_field(Z)
    precision: Values = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    field = make_field(fill(Z, precision), 0.5 * (precision + precision.T))
    gap = np.isnan(Z)
    if gap.any():
        field = field._replace(
            seen=np.ascontiguousarray((~gap).T.astype(np.uint8)), size=(~gap).sum(axis=1).astype(np.float64)
        )
        refresh(field, np.arange(len(Z)))
    return field


def take_out(Z: Values, field: Any, block: Pair) -> Values:
    """Return Z without the pattern of a block that is common to half of all rows."""
    rows, cols = block
    pattern = np.zeros(Z.shape[1])
    pattern[cols] = fit(field, rows, cols).pattern
    loading = np.where(np.isnan(Z), 0.0, Z) @ pattern
    return without_effects(Z - loading[:, np.newaxis] * pattern)


@dataclass(frozen=True)
class Calibration:
    """The blocks that stand out, their p-values, and whether surrogates had to set the threshold."""

    blocks: list[Scored]
    p_values: Values
    by_surrogates: bool


def permuted(Z: Values, rng: np.random.RandomState) -> Values:
    """Return Z with the observed cells of every row in random order: the rows keep their values, nothing else."""
    order = np.argsort(np.where(np.isnan(Z), np.inf, rng.random_sample(Z.shape)), axis=1)
    out = np.full_like(Z, np.nan)
    count = (~np.isnan(Z)).sum(axis=1)
    there = np.arange(Z.shape[1]) < count[:, np.newaxis]
    out[~np.isnan(Z)] = np.take_along_axis(Z, order, axis=1)[there]
    return out


def flipped(Z: Values, rng: np.random.RandomState) -> Values:
    """Return Z with random signs of every row's coordinates along the principal axes of the columns.

    The covariance of the columns stays, and so does how much of each axis every row holds; which rows go together does
    not. For an ordered series this is what drawing random phases does.
    """
    axes = np.linalg.eigh(Z.T @ Z)[1]
    along = Z @ axes
    return np.asarray((along * rng.choice([-1.0, 1.0], along.shape)) @ axes.T)


def best_of_copies(
    search: Search, background: Background, Z: Values, rng: np.random.RandomState, copies: int
) -> Values:
    """Return the best S in each of several surrogates of Z, 0 where nothing exceeds the threshold."""
    best = np.zeros(copies)
    for k in range(copies):
        if background.correlated:
            copy = without_effects(flipped(np.where(np.isnan(Z), 0.0, Z), rng))
            field = background_field(copy, column_covariance(copy))
        else:
            field = make_field(permuted(Z, rng))
        found = search.from_starts(field, max(search.n_starts // 4, 75), rng)
        if len(found):
            best[k] = found.scores[0]
    return best


def calibrate(
    search: Search, background: Background, blocks: list[Scored], rng: np.random.RandomState, doubtful: bool
) -> Calibration:
    """Keep the blocks that exceed the best of what the search finds in surrogates.

    If a few surrogates hold nothing, the score is what it claims to be and p = e^-S. Otherwise 19 of them set the threshold,
    first for the data as a whole and then for what is left without the blocks that passed. `doubtful` data, which were
    transformed or have few or correlated columns, are checked on more surrogates, made with the blocks in place.
    """
    if not blocks:
        return Calibration([], np.zeros(0), False)
    plain = np.array([min(1.0, float(np.exp(-score))) for score, _ in blocks])
    Z = background.Z if doubtful else without_blocks(background, blocks)
    if best_of_copies(search, background, Z, rng, MORE_COPIES if doubtful else FEW_COPIES).max() <= search.threshold:
        return Calibration(blocks, plain, False)
    best = best_of_copies(search, background, background.Z, rng, COPIES)
    kept = [block for block in blocks if block[0] > best.max()]
    if kept and len(kept) < len(blocks):
        best = best_of_copies(search, background, without_blocks(background, kept), rng, COPIES)
        kept = [block for block in blocks if block in kept or block[0] > best.max()]
    p_values = np.full(len(kept), 1.0 / (COPIES + 1.0))
    return Calibration(kept, p_values, True)


def without_blocks(background: Background, blocks: list[Scored]) -> Values:
    """Return the prepared matrix with the blocks explained away (correlated columns) or their cells missing."""
    if not background.correlated:
        Z = background.Z.copy()
        for _, (rows, cols) in blocks:
            Z[np.ix_(rows, cols)] = np.nan
        return Z
    field = background.copy()
    for _, (rows, cols) in blocks:
        remove(field, rows, cols)
    return np.ascontiguousarray(field.Zt.T)

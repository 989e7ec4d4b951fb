"""What the columns of a prepared matrix have in common in every row: it is background, not a bicluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate.algorithms._coherent_field import copy_field, fit, make_field, refresh
from bivaluate.algorithms._coherent_prepare import column_covariance, without_effects
from bivaluate.algorithms._coherent_search import Search
from bivaluate.algorithms._estimator import Pair, Values


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

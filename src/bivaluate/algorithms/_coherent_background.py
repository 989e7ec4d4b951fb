"""What the columns of a prepared matrix have in common in every row: it is background, not a bicluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate.algorithms._coherent_field import fit, make_field, refresh
from bivaluate.algorithms._coherent_prepare import without_effects
from bivaluate.algorithms._coherent_search import Search
from bivaluate.algorithms._estimator import Pair, Values

CLIP = 1.0
NORMAL_MAD = 1.4826


def column_covariance(Z: Values) -> Values:
    """Return the covariance of the columns within rows, from clipped cells so that rows with blocks hardly move it.

    Correlations are shrunk towards 0 by as much as sampling error makes up of them.
    """
    n, m = Z.shape
    centred = Z - np.nanmean(Z, axis=1, keepdims=True)
    centred = centred - np.nanmedian(centred, axis=0)
    scale = NORMAL_MAD * np.nanmedian(np.abs(centred), axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    clipped = np.clip(centred / scale, -CLIP, CLIP)
    there = ~np.isnan(clipped)
    clipped = np.where(there, clipped - np.nanmean(clipped, axis=0), 0.0)
    seen = there.astype(np.float64)
    covariance = clipped.T @ clipped / np.maximum(seen.T @ seen, 1.0)
    # Centring the rows has taken 1 / m off every entry.
    covariance += np.diag(covariance).mean() / (m - 1.0)
    spread = np.sqrt(np.diag(covariance))
    R = covariance / np.where(spread > 0, spread, 1.0) / np.where(spread > 0, spread, 1.0)[:, np.newaxis]
    np.fill_diagonal(R, 1.0)
    off = R[np.triu_indices(m, 1)]
    error = ((1.0 - off**2) ** 2).sum() / n
    shrink = min(1.0, error / max(float((off**2).sum()), 1e-300))
    R = (1.0 - shrink) * R + shrink * np.eye(m)
    values, vectors = np.linalg.eigh(R)
    R = (vectors * np.maximum(values, 1e-3)) @ vectors.T
    return np.asarray(R * scale * scale[:, np.newaxis])


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
    precision = np.linalg.inv(covariance)
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

"""Preparation for the coherent submatrix search: rows in units of their own background, no column effects, normal tails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bivaluate.algorithms._estimator import Values

SIMULATED_ROWS = 2000
PROFILE_ROWS = 3000
SEED = 20_091
SMALL_SKEW = 0.22
SMALL_TAIL = 0.04
FARTHEST = 8.0


@dataclass(frozen=True)
class Prepared:
    """The prepared matrix (NaN where missing), the fitted skew and tail weight, and what was done about them."""

    Z: Values
    skew: float
    tail: float
    transformed: bool


def shorth(X: Values, unit: bool = True) -> tuple[Values, Values]:
    """Return centre and scale of every row: mean and length of the shortest half of its values.

    Rows whose shortest half is (nearly) constant get their standard deviation as scale, constant rows 0.
    """
    ordered = np.sort(X, axis=1)
    count = (~np.isnan(X)).sum(axis=1)
    centre, scale = np.zeros(len(X)), np.zeros(len(X))
    for m in np.unique(count):
        at = np.flatnonzero(count == m)
        if m < 2:
            continue
        values = ordered[at, :m]
        h = m // 2
        length = values[:, h:] - values[:, : m - h]
        first = length.argmin(axis=1)
        window = values[np.arange(len(at))[:, np.newaxis], first[:, np.newaxis] + np.arange(h + 1)]
        centre[at] = window.mean(axis=1)
        scale[at] = window[:, -1] - window[:, 0]
        if unit:
            scale[at] /= _normal_length(int(m))
        spread = values.std(axis=1)
        scale[at] = np.where(scale[at] <= 1e-3 * spread, spread, scale[at])
    return centre, scale


@lru_cache(maxsize=1024)
def _normal_length(m: int) -> float:
    """Return the mean length of the shortest half of m normal values."""
    rng = np.random.default_rng(SEED)
    rows = rng.standard_normal((max(200, min(SIMULATED_ROWS, 400_000 // m)), m))
    return float(shorth(rows, unit=False)[1].mean())


def standardise(X: Values) -> Values:
    """Return `X` with rows centred and scaled by their own background; constant rows become 0."""
    centre, scale = shorth(X)
    return np.asarray((X - centre[:, np.newaxis]) / np.where(scale > 0, scale, 1.0)[:, np.newaxis])


def without_effects(X: Values) -> Values:
    """Return `X` without row and column effects, rows in units of their own background.

    Column effects are taken out before or after the rows are scaled, whichever leaves the smaller background.
    """
    before = X - _median(X, 1)[:, np.newaxis]
    before = before - _median(before, 0)
    centre, scale = shorth(X)
    after = (X - centre[:, np.newaxis]) / np.where(scale > 0, scale, 1.0)[:, np.newaxis]
    after = after - _median(after, 0)
    first, second = shorth(before)[1], scale * shorth(after)[1]
    usable = (first > 0) & (second > 0)
    return standardise(before if np.log(first[usable]).mean() <= np.log(second[usable]).mean() else after)


def _median(X: Values, axis: int) -> Values:
    """Return medians over the observed cells, 0 where there are none."""
    if not np.isnan(X).any():
        return np.asarray(np.median(X, axis=axis))
    ordered = np.sort(X, axis=axis)
    count = (~np.isnan(X)).sum(axis=axis)
    if axis == 0:
        ordered = ordered.T
    at = np.arange(len(ordered))
    low, high = ordered[at, np.maximum(count - 1, 0) // 2], ordered[at, np.minimum(count // 2, ordered.shape[1] - 1)]
    return np.where(count > 0, 0.5 * (low + high), 0.0)


def order_profile(Z: Values) -> Values:
    """Return a typical sorted row: at every place the less extreme quartile over rows, which blocks hardly move."""
    complete = np.sort(Z[~np.isnan(Z).any(axis=1)], axis=1)
    low, high = np.quantile(complete, [0.25, 0.75], axis=0)
    m = Z.shape[1]
    return np.where(np.arange(m) < m / 2, high, low)


@lru_cache(maxsize=32)
def _normal_profile(m: int) -> Values:
    rng = np.random.default_rng(SEED + 1)
    return order_profile(without_effects(rng.standard_normal((PROFILE_ROWS, m))))


def curve(z: Values, g: float, h: float) -> Values:
    """Return the g-and-h curve of z: skewed for g other than 0, with heavier tails for larger h."""
    bent = np.expm1(g * z) / g if g else z
    return np.asarray(bent * np.exp(h * z * z / 2))


def fit_tails(Z: Values) -> tuple[float, float, float, float]:
    """Return g, h, A and B of the curve A + B curve(z, g, h) that turns normal rows into rows like those of Z."""
    z, Q = _normal_profile(Z.shape[1]), order_profile(Z)
    best = (np.inf, 0.0, 0.0, 0.0, 1.0)
    centred = Q - Q.mean()
    for g in np.round(np.arange(-1.2, 1.2001, 0.05), 2):
        for h in np.arange(0.0, 0.5001, 0.025):
            x = curve(z, float(g), float(h))
            mean = x.mean()
            x = x - mean
            B = float(x @ centred / (x @ x))
            loss = float(((centred - B * x) ** 2).sum())
            if B > 0 and loss < best[0]:
                best = (loss, float(g), float(h), float(Q.mean() - B * mean), B)
    return best[1:]


def prepare(X: Values) -> Prepared:
    """Return the matrix as the search needs it; `X` has NaN where cells are missing."""
    Z = without_effects(X)
    g, h, A, B = fit_tails(Z)
    if abs(g) < SMALL_SKEW and h < SMALL_TAIL:
        return Prepared(Z, g, h, False)
    grid = np.arange(-FARTHEST, FARTHEST + 0.005, 0.01)
    bent = np.interp(Z, A + B * curve(grid, g, h), grid)
    bent[np.isnan(Z)] = np.nan
    Z = without_effects(bent)
    return Prepared(Z, g, h, True)

"""Matrices made ready for the coherent submatrix search: rows in units of their background, column effects removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bivaluate._text import plural
from bivaluate.algorithms._estimator import Values
from bivaluate.chance.assumptions import normal_scores

FEWEST_COLUMNS = 4
FEWEST_LEVELS = 5
SIMULATED_ROWS = 2000
PROFILE_ROWS, PROFILE_CELLS = 3000, 1_500_000
SEED = 20_091
SMALL_SKEW = 0.22
SMALL_TAIL = 0.04
# What is left after bending may be this far from normal; otherwise the rows stay as they are.
LARGEST_SKEW = 0.28
LARGEST_TAIL = 0.2
# Rows more skewed than this, or with heavier tails (Cauchy), are not bent: their ends would turn into blocks.
BENDABLE_SKEW = 0.5
BENDABLE_TAIL = 0.475
# Fewer columns say too little about the tails of a row: it is taken as it is.
COLUMNS_FOR_TAILS = 12
# Correlation is taken out of so many columns at most: more would say the same about tails, and take long.
MOST_WHITENED = 500
FARTHEST = 4.0
CLIP = 1.0
SMALLEST_EIGENVALUE = 1e-3
NORMAL_MAD = 1.4826
POWERS: dict[str, Callable[[Values], Values]] = {"square root": np.sqrt, "cube root": np.cbrt, "log": np.log}


class Unsearchable(Exception):
    """The search cannot work on a matrix, and why."""


@dataclass(frozen=True)
class Prepared:
    """The rows and columns that vary, their prepared cells (NaN where missing), how values were transformed, notes."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    Z: Values
    transform: str
    notes: list[str]


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
    before = X - median(X, 1)[:, np.newaxis]
    before = before - median(before, 0)
    centre, scale = shorth(X)
    after = (X - centre[:, np.newaxis]) / np.where(scale > 0, scale, 1.0)[:, np.newaxis]
    after = after - median(after, 0)
    first, second = shorth(before)[1], scale * shorth(after)[1]
    usable = (first > 0) & (second > 0)
    return standardise(before if np.log(first[usable]).mean() <= np.log(second[usable]).mean() else after)


def median(X: Values, axis: int) -> Values:
    """Return medians over the observed cells, 0 where there are none."""
    if not np.isnan(X).any():
        return np.asarray(np.median(X, axis=axis))
    ordered = np.sort(X, axis=axis)
    count = (~np.isnan(X)).sum(axis=axis)
    if axis == 0:
        ordered = ordered.T
    at = np.arange(len(ordered))
    low, high = (ordered[at, np.maximum(count - 1, 0) // 2], ordered[at, np.minimum(count // 2, ordered.shape[1] - 1)])
    return np.where(count > 0, 0.5 * (low + high), 0.0)


def _mean(X: Values, axis: int) -> Values:
    """Return means over the observed cells, 0 where there are none."""
    there = ~np.isnan(X)
    return np.asarray(np.where(there, X, 0.0).sum(axis=axis) / np.maximum(there.sum(axis=axis), 1))


def column_covariance(Z: Values) -> Values:
    """Return the covariance of the columns within rows, from clipped cells so that rows with blocks hardly move it.

    Correlations are shrunk towards 0 by as much as sampling error makes up of them.
    """
    n, m = Z.shape
    centred = Z - _mean(Z, 1)[:, np.newaxis]
    centred = centred - median(centred, 0)
    scale = NORMAL_MAD * median(np.abs(centred), 0)
    scale = np.where(scale > 0, scale, 1.0)
    clipped = np.clip(centred / scale, -CLIP, CLIP)
    there = ~np.isnan(clipped)
    clipped = np.where(there, clipped - _mean(clipped, 0), 0.0)
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
    return np.asarray(_well_conditioned(R) * scale * scale[:, np.newaxis])


def _well_conditioned(R: Values) -> Values:
    """Return a correlation matrix with eigenvalues of at least `SMALLEST_EIGENVALUE`; most have no smaller ones."""
    try:
        np.linalg.cholesky(R - SMALLEST_EIGENVALUE * np.eye(len(R)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(R)
        return np.asarray((vectors * np.maximum(values, SMALLEST_EIGENVALUE)) @ vectors.T)
    return R


def order_profile(Z: Values) -> Values:
    """Return a typical sorted row: at every place the less extreme quartile over rows, which blocks hardly move.

    Rows with missing cells are stretched to the full length.
    """
    m = Z.shape[1]
    count = (~np.isnan(Z)).sum(axis=1)
    ordered = np.sort(Z, axis=1)
    place = (np.arange(m) + 0.5) / m
    for i in np.flatnonzero((count < m) & (2 * count >= m)):
        ordered[i] = np.interp(place, (np.arange(count[i]) + 0.5) / count[i], ordered[i, : count[i]])
    low, middle, high = np.quantile(ordered[2 * count >= m], [0.25, 0.5, 0.75], axis=0)
    side = np.sign(2 * np.arange(m) - (m - 1))
    return np.asarray(np.where(side < 0, high, np.where(side > 0, low, middle)), dtype=np.float64)


@lru_cache(maxsize=32)
def _normal_profile(m: int) -> Values:
    rng = np.random.default_rng(SEED + 1)
    n = min(PROFILE_ROWS, max(PROFILE_CELLS // m, 100))
    return order_profile(without_effects(rng.standard_normal((n, m))))


def curve(z: Values, g: float, h: float) -> Values:
    """Return the g-and-h curve of z: skewed for g other than 0, with heavier tails for larger h."""
    bent = np.expm1(g * z) / g if g else z
    return np.asarray(bent * np.exp(h * z * z / 2))


def fit_tails(Z: Values) -> tuple[float, float, float, float]:
    """Return g, h, A and B of the curve A + B curve(z, g, h) that turns normal rows into rows like those of Z."""
    Q = order_profile(Z)
    curves, gs, hs = _curves(Z.shape[1])
    means = curves.mean(axis=1)
    centred, target = curves - means[:, np.newaxis], Q - Q.mean()
    power = (centred * centred).sum(axis=1)
    B = centred @ target / power
    loss = np.where(B > 0, float(target @ target) - B * B * power, np.inf)
    best = int(loss.argmin())
    return float(gs[best]), float(hs[best]), float(Q.mean() - B[best] * means[best]), float(B[best])


@lru_cache(maxsize=32)
def _curves(m: int) -> tuple[Values, Values, Values]:
    """Return the normal profile of m columns bent by every curve of a grid, with its g and h."""
    z = _normal_profile(m)
    gs, hs = np.meshgrid(np.round(np.arange(-1.2, 1.2001, 0.05), 2), np.arange(0.0, 0.5001, 0.025), indexing="ij")
    gs, hs = gs.ravel(), hs.ravel()
    return np.array([curve(z, float(g), float(h)) for g, h in zip(gs, hs, strict=True)]), gs, hs


def tails(Z: Values) -> tuple[float, float]:
    """Return skew g and tail weight h of the rows, or of the rows with the correlation of the columns taken out.

    Correlated columns make rows unlike independent normal values even if they are normal: either will do.
    """
    g, h = fit_tails(Z)[:2]
    if is_normal(g, h):
        return g, h
    some = Z[:, :: -(-Z.shape[1] // MOST_WHITENED)]
    values, vectors = np.linalg.eigh(column_covariance(some))
    gap = np.isnan(some)
    white = np.where(gap, 0.0, some) @ ((vectors / np.sqrt(values)) @ vectors.T)
    white[gap] = np.nan
    skew, tail = fit_tails(standardise(white))[:2]
    return (skew, tail) if is_normal(skew, tail) else (g, h)


def is_normal(g: float, h: float) -> bool:
    """Return whether rows of this skew and tail weight may be taken as normal."""
    return abs(g) < SMALL_SKEW and h < SMALL_TAIL


def is_near_normal(g: float, h: float) -> bool:
    """Return whether bending has made rows nearly normal."""
    return abs(g) < LARGEST_SKEW and h < LARGEST_TAIL


def transformed(X: Values) -> tuple[Values, float, float, str, bool]:
    """Return the matrix as the search needs it, the skew and tails left, the name of a power taken, whether bent.

    Of skewed values that are not negative, the square root, cube root or logarithm is taken if it is less skewed; what
    is then still a little skewed or has heavy tails is bent to normal by a g-and-h curve.
    """
    Z = without_effects(X)
    g, h = tails(Z)
    transform = ""
    if abs(g) >= SMALL_SKEW and np.nanmin(X) >= 0:
        for name, function in POWERS.items():
            if name == "log" and np.nanmin(X) <= 0:
                continue
            other = without_effects(function(X))
            skew, tail = tails(other)
            if abs(skew) < abs(g):
                Z, g, h, transform = other, skew, tail, name
    Z, g, h, bent = bend(Z, g, h)
    return Z, g, h, transform, bent


def bend(Z: Values, g: float, h: float) -> tuple[Values, float, float, bool]:
    """Return Z with rows bent to normal by a g-and-h curve if needed and possible, what is left, and whether bent.

    `g` and `h` are its `tails`.
    """
    if Z.shape[1] < COLUMNS_FOR_TAILS:
        return Z, 0.0, 0.0, False
    if is_normal(g, h) or abs(g) >= BENDABLE_SKEW or h >= BENDABLE_TAIL:
        return Z, g, h, False
    skew, tail, A, B = fit_tails(Z)
    grid = np.arange(-FARTHEST, FARTHEST + 0.005, 0.01)
    bent = np.interp(Z, A + B * curve(grid, skew, tail), grid)
    bent[np.isnan(Z)] = np.nan
    straight = without_effects(bent)
    left = tails(straight)
    return (straight, *left, True) if is_near_normal(*left) else (Z, g, h, False)


def prepare(X: Values, min_rows: int) -> Prepared:
    """Return the part of `X` (NaN where missing) that can be searched, prepared, or raise why there is none."""
    rows, cols = _varying(X)
    n, m = len(rows), len(cols)
    if m < FEWEST_COLUMNS:
        needed = f"at least {FEWEST_COLUMNS} are needed to tell a block from the background of its rows"
        raise Unsearchable(f"X has {plural(m, 'varying column')}; {needed}.")
    if n < 2 * min_rows:
        why = f"because a bicluster has at least min_rows = {min_rows} and at most half of the rows"
        raise Unsearchable(f"X has {plural(n, 'varying row')}; at least {2 * min_rows} are needed, {why}.")
    part = X[np.ix_(rows, cols)]
    half_full = int((2 * np.isnan(part).sum(axis=1) <= m).sum())
    if half_full < 2 * min_rows:
        raise Unsearchable(
            f"Of the {n} varying rows of X, {half_full} have at least half of their values; at least {2 * min_rows} are needed to "
            "see what rows look like. Take the rows and columns with the fewest missing values."
        )
    levels = _median_levels(part)
    if levels < min(FEWEST_LEVELS, m):
        why = f"{FEWEST_LEVELS} are needed, because the search expects measurements, not a few levels"
        raise Unsearchable(f"Half of the rows of X have at most {levels:g} different values; {why}.")
    notes = []
    if 2 * levels < m:
        part = spread_ties(part)
        notes.append("Rows have many equal values: each was spread at random over the step to the next larger one.")
    Z, skew, tail, transform, bent = transformed(part)
    if abs(skew) >= BENDABLE_SKEW:
        found = f"The rows of X are too skewed (g = {skew:.2f}, less than {BENDABLE_SKEW} is needed)"
        advice = _advice_on_ranks(part, bool(notes))
        raise Unsearchable(f"{found}, and neither a root nor the logarithm helps. {advice}")
    if tail >= BENDABLE_TAIL:
        found = f"The tails of the rows of X are too heavy (h = {tail:.2f}, less than {BENDABLE_TAIL} is needed)"
        raise Unsearchable(f"{found}. {_advice_on_ranks(part, bool(notes))}")
    if transform or bent:
        done = ", then ".join(filter(None, (transform, "g-and-h curve" if bent else "")))
        notes.append(f"Values were transformed to be near normal within rows: {done}.")
    return Prepared(rows, cols, Z, transform, notes)


def _advice_on_ranks(X: Values, equal: bool) -> str:
    """Say whether normal scores within rows could be searched where the values themselves cannot."""
    if equal:
        return (
            "Many values of a row are equal (zeros?), so ranks would not help either: take the rows with the fewest such "
            "cells, or an algorithm for counts (bivaluate algorithms)."
        )
    _, skew, tail, _, _ = transformed(normal_scores(X))
    if abs(skew) < BENDABLE_SKEW and tail < BENDABLE_TAIL:
        return "Take ranks or normal scores within rows first."
    return (
        "Ranks or normal scores within rows do not help either (scaled counts that are mostly 0 are like that): take "
        "the columns with the fewest zeros, or an algorithm for counts (bivaluate algorithms)."
    )


def spread_ties(X: Values) -> Values:
    """Return counts and other values in steps, spread evenly over the smallest step: equal values are not a pattern."""
    values = np.unique(X[~np.isnan(X)])
    step = float(np.diff(values).min())
    return np.asarray(X + step * np.random.default_rng(SEED).random(X.shape))


def _varying(X: Values) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns that vary over each other."""
    rows, cols = np.arange(X.shape[0]), np.arange(X.shape[1])
    while True:
        before = len(rows), len(cols)
        cols = cols[_varies(X[np.ix_(rows, cols)], 0)]
        rows = rows[_varies(X[np.ix_(rows, cols)], 1)]
        if before == (len(rows), len(cols)):
            return rows, cols


def _varies(X: Values, axis: int) -> NDArray[np.bool_]:
    """Return which rows (axis 1) or columns (axis 0) have at least two different values."""
    high = np.where(np.isnan(X), -np.inf, X).max(axis=axis, initial=-np.inf)
    low = np.where(np.isnan(X), np.inf, X).min(axis=axis, initial=np.inf)
    return np.asarray(high > low)


def _median_levels(X: Values) -> float:
    """Return the median number of different values in a row."""
    ordered = np.sort(X, axis=1)
    return float(np.median((np.diff(ordered, axis=1) > 0).sum(axis=1) + 1))

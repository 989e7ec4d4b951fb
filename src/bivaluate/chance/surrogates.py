"""Matrices without biclusters that resemble the data, and how far an observed score is from theirs."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bivaluate._check import check_choice, check_values
from bivaluate._errors import ParameterError
from bivaluate._types import Flags, Floats

SURROGATES = {
    "permute": "each row permuted on its own: keeps the values of every row, breaks everything between rows",
    "phase": "each row phase-randomised on its own: keeps the smoothness of ordered columns as well",
}


def permute_rows(X: Any, rng: np.random.Generator) -> Floats:
    """Permute each row of `X` independently; missing cells travel with the values.

    >>> permute_rows([[1, 2, 3], [4, 5, 6]], np.random.default_rng(0)).sum(axis=1)
    array([ 6., 15.])
    """
    return rng.permuted(check_values(X, "omit"), axis=1)


def randomise_phases(X: Any, rng: np.random.Generator) -> Floats:
    """Give each row of `X` random Fourier phases, each row its own: mean and autocorrelation of the row stay.

    For ordered columns (time, dose): permuted rows would lose their smoothness, and smooth rows look coherent by
    themselves. Missing cells are bridged by straight lines before, and missing again after.

    >>> X = np.cumsum(np.random.default_rng(0).normal(size=(3, 16)), axis=1)
    >>> Y = randomise_phases(X, np.random.default_rng(1))
    >>> bool(np.allclose(X.mean(axis=1), Y.mean(axis=1)) and np.allclose(X.var(axis=1), Y.var(axis=1)))
    True
    """
    values = check_values(X, "omit")
    seen = np.isfinite(values)
    filled = values if seen.all() else _bridge(values, seen)
    m = filled.shape[1]
    spectrum = np.fft.rfft(filled, axis=1)
    turn = np.exp(2j * np.pi * rng.random(spectrum.shape))
    turn[:, 0] = 1
    if m % 2 == 0:
        turn[:, -1] = rng.choice([-1.0, 1.0], size=len(turn))
    return np.where(seen, np.fft.irfft(spectrum * turn, n=m, axis=1), np.nan)


def surrogate(X: Any, kind: str, rng: np.random.Generator) -> Floats:
    """Return a surrogate of `X`: ``"permute"`` (:func:`permute_rows`) or ``"phase"`` (:func:`randomise_phases`)."""
    check_choice("null", kind, SURROGATES)
    return permute_rows(X, rng) if kind == "permute" else randomise_phases(X, rng)


def _bridge(values: Floats, seen: Flags) -> Floats:
    at = np.arange(values.shape[1])
    filled = np.zeros(values.shape)
    for line, row, known in zip(filled, values, seen, strict=True):
        if known.any():
            line[:] = np.interp(at, at[known], row[known])
    return filled


@dataclass(frozen=True)
class NullGap:
    """An observed score beside the same score on surrogates."""

    gap: float
    p_value: float
    mean: float
    sd: float
    low: float
    high: float
    n: int


def null_gap(observed: float, null: ArrayLike, direction: str) -> NullGap:
    """Compare an observed score with its null values."""
    values = _defined(null)
    p = p_value(observed, values, direction)
    if not len(values):
        return NullGap(**dict.fromkeys(("gap", "p_value", "mean", "sd", "low", "high"), float("nan")), n=0)
    mean = float(values.mean())
    gap = mean - observed if direction == "low" else observed - mean
    low, high = (float(q) for q in np.quantile(values, (0.05, 0.95)))
    return NullGap(float(gap), p, mean, float(values.std()), low, high, len(values))


def p_value(observed: float, null: ArrayLike, direction: str) -> float:
    """(1 + number of null values as good as `observed` or better)/(B + 1); NaN without either.

    >>> p_value(3.0, [1.0, 2.0, 3.0], "high")
    0.5
    """
    if direction not in ("low", "high"):
        raise ParameterError(f"direction is {direction!r}; it must be 'low' or 'high'. This measure has neither.")
    values = _defined(null)
    if np.isnan(observed) or not len(values):
        return float("nan")
    hits = int((values <= observed).sum() if direction == "low" else (values >= observed).sum())
    return (1 + hits) / (len(values) + 1)


def _defined(null: ArrayLike) -> Floats:
    values = np.asarray(null, dtype=np.float64).ravel()
    return np.asarray(values[~np.isnan(values)])


@dataclass(frozen=True)
class ChosenScore:
    """The best of several candidates beside the best of the same candidates in surrogates."""

    position: int | None
    score: float
    p_value: float
    adjusted: Floats
    n: int


def chosen_p_value(observed: ArrayLike, surrogates: ArrayLike, direction: str) -> ChosenScore:
    """Choose the best candidate and say how often surrogates, choosing in the same way, reach as much.

    A p-value of one candidate alone is too small once that candidate was chosen for its score: every surrogate must be
    allowed the same choice (the max statistic). Where surrogates reach exactly the score of a candidate, which is
    common in measures that say "nothing" in only a few ways, its place among them is drawn at random, so that p is
    uniform in noise rather than too large; the draw follows from the scores, so the same scores always give the same p.

    References
    ----------
    Westfall PH, Young SS (1993). Resampling-based multiple testing. Wiley, New York.
    """
    sign = -1.0 if check_choice("direction", direction, ("low", "high")) == "low" else 1.0
    scores = sign * np.asarray(observed, dtype=np.float64)
    null = sign * np.asarray(surrogates, dtype=np.float64)
    best = np.where(np.isnan(null), -np.inf, null).max(axis=1)
    draw = np.random.default_rng(zlib.crc32(null.tobytes() + scores.tobytes()))
    reached = (best[:, None] > scores).sum(axis=0) + draw.integers(0, 1 + (best[:, None] == scores).sum(axis=0))
    adjusted = np.where(np.isnan(scores), np.nan, (1 + reached) / (len(null) + 1))
    if np.isnan(scores).all():
        return ChosenScore(None, float("nan"), float("nan"), adjusted, len(null))
    position = int(np.nanargmax(scores))
    return ChosenScore(position, float(sign * scores[position]), float(adjusted[position]), adjusted, len(null))

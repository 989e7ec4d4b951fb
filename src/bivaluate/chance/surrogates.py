"""Matrices without biclusters that resemble the data, and how far an observed score is from theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bivaluate._check import check_choice, check_values
from bivaluate._errors import ParameterError

Floats = NDArray[np.float64]

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


def _bridge(values: Floats, seen: NDArray[np.bool_]) -> Floats:
    at = np.arange(values.shape[1])
    filled = np.zeros(values.shape)
    for line, row, known in zip(filled, values, seen, strict=True):
        if known.any():
            line[:] = np.interp(at, at[known], row[known])
    return filled


@dataclass(frozen=True)
class NullGap:
    """An observed score beside the same score on surrogates.

    Attributes
    ----------
    gap
        How much better the observed score is than the mean of the null; positive is better, whichever the
        direction of the measure.
    p_value
        (1 + number of null values as good or better)/(B + 1).
    mean, sd, low, high
        Mean, standard deviation and central 90 % of the null values.
    n
        B, the number of null values that are defined.
    """

    gap: float
    p_value: float
    mean: float
    sd: float
    low: float
    high: float
    n: int


def null_gap(observed: float, null: ArrayLike, direction: str) -> NullGap:
    """Compare an observed score with its null values.

    Parameters
    ----------
    observed
        Score on the data.
    null
        Scores on surrogates; undefined ones (NaN) are left out.
    direction
        ``"low"`` or ``"high"``: which values are better.

    Examples
    --------
    >>> result = null_gap(0.4, [0.8, 0.9, 1.0, 0.9], "low")
    >>> round(result.gap, 3), result.p_value
    (0.5, 0.2)
    """
    values = _defined(null)
    p = p_value(observed, values, direction)
    if not len(values):
        nothing = float("nan")
        return NullGap(nothing, nothing, nothing, nothing, nothing, nothing, 0)
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

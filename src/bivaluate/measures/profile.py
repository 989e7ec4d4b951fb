"""A bicluster as the virtual error sees it: its standardised rows and the standardised virtual pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CONSTANT = 32 * np.finfo(np.float64).eps


def standardised_profile(A: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of a bicluster and their virtual pattern, each standardised over the columns.

    The virtual pattern is the mean row. A constant row becomes zeros; missing cells stay missing. The mean absolute
    distance between the two is the virtual error.

    Parameters
    ----------
    A : array-like of shape (rows, columns)
        The values of the bicluster, NaN where missing.

    Returns
    -------
    rows : ndarray of shape (rows, columns)
        The standardised rows.
    pattern : ndarray of shape (columns,)
        The standardised pattern.

    Examples
    --------
    >>> rows, pattern = standardised_profile([[1, 2, 3], [10, 20, 30]])
    >>> bool(np.allclose(rows, pattern))
    True
    """
    values = np.asarray(A, dtype=np.float64)
    observed = np.isfinite(values)
    count = np.maximum(observed.sum(axis=0), 1)
    pattern = np.where(observed.any(axis=0), np.where(observed, values, 0.0).sum(axis=0) / count, np.nan)
    largest = float(np.abs(values[observed]).max(initial=0.0))
    return _standardise(values), _standardise(pattern[np.newaxis, :], largest)[0]


def _standardise(values: NDArray[np.float64], largest: float | None = None) -> NDArray[np.float64]:
    observed = np.isfinite(values)
    count = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    filled = np.where(observed, values, 0.0)
    centred = np.where(observed, values - filled.sum(axis=1, keepdims=True) / count, 0.0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
    size = np.abs(filled).max(axis=1, keepdims=True) if largest is None else np.array([[largest]])
    high = np.where(observed, values, -np.inf).max(axis=1, keepdims=True)
    low = np.where(observed, values, np.inf).min(axis=1, keepdims=True)
    flat = high - low <= _CONSTANT * size
    scaled = np.where(flat, 0.0, centred / np.where(flat | (spread == 0.0), 1.0, spread))
    return np.where(observed, scaled, np.nan)

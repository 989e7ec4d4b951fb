"""A bicluster as the virtual error sees it: its standardised rows against the virtual pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_FLAT = 32 * np.finfo(np.float64).eps


def standardised_profiles(A: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of `A` and their virtual pattern (the mean row), each standardised over the columns.

    A constant row becomes zeros. Missing cells stay missing.

    Examples
    --------
    >>> rows, pattern = standardised_profiles([[1, 2, 3], [10, 20, 30]])
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
    reach = np.where(observed, values, -np.inf).max(axis=1, keepdims=True) - np.where(observed, values, np.inf).min(
        axis=1, keepdims=True
    )
    flat = reach <= _FLAT * size
    scaled = np.where(flat, 0.0, centred / np.where(flat | (spread == 0.0), 1.0, spread))
    return np.where(observed, scaled, np.nan)


def spaced(n: int, most: int) -> NDArray[np.int64]:
    """Return at most `most` of ``0 … n-1``, evenly spaced, first and last included."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


@style.styled
def plot_profile(A: Any, ax: Axes | None = None, *, name: str = "B1", max_rows: int = 60) -> Axes:
    """Draw the standardised rows of a bicluster (thin) and its virtual pattern (bold).

    Parameters
    ----------
    A
        The values of the bicluster, rows by columns.
    ax
        Where to draw; a new figure if not given.
    name
        Title of the panel.
    max_rows
        Draw at most this many rows, evenly spaced.

    Examples
    --------
    >>> ax = plot_profile([[1, 2, 4], [2, 3, 5.5]], name="B2")
    >>> len(ax.lines)
    3
    """
    ax = style.new_axes(ax, 3.2, 2.2)
    rows, pattern = standardised_profiles(A)
    for i in spaced(len(rows), max_rows):
        ax.plot(rows[i], color=style.MUTED, lw=0.7, alpha=0.55)
    ax.plot(pattern, color=style.ACCENT, lw=2.2)
    ax.set_title(f"{name}: {rows.shape[0]} rows × {rows.shape[1]} columns", loc="left", fontsize=9)
    ax.set(xlabel="columns", ylabel="standardised value", xticks=[])
    return ax

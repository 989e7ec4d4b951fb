"""Copies of a matrix: surrogates (what chance gives) and perturbations (does the choice hold?)."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from bivaluate.matrix import Matrix
from bivaluate.sweep.plan import NULLS, parse_perturbation

Values = NDArray[np.float64]


def make_variant(matrix: Matrix, variant: str, copy: int, matrix_seed: int | None) -> Matrix:
    """Return one surrogate or perturbation; it is the same for every algorithm and K.

    Parameters
    ----------
    matrix : Matrix
        The matrix of the data set.
    variant : str
        ``"permute"``, ``"phase"``, ``"noise:0.1"`` or ``"mask:0.05"``.
    copy : int
        Number of the copy, from 0.
    matrix_seed : int or None
        Seed that drew a scenario's matrix; None for other data sets.

    Returns
    -------
    Matrix
        The copy, with the labels of `matrix`.
    """
    rng = np.random.default_rng([zlib.crc32(variant.encode()), copy, 0 if matrix_seed is None else matrix_seed + 1])
    if variant in NULLS:
        from bivaluate.chance.surrogates import surrogate

        values = surrogate(matrix.values, variant, rng)
    else:
        values = perturb(matrix.values, variant, rng)
    return Matrix(values, matrix.row_labels, matrix.col_labels, matrix.name)


def perturb(X: Values, spec: str, rng: np.random.Generator) -> Values:
    """Return `X` with noise added, or with cells hidden and filled from their row and column.

    ``"noise:s"`` adds normal noise of s standard deviations of the matrix. ``"mask:p"`` hides a share p of the
    cells and fills them with row mean + column mean - overall mean of the others, because none of the algorithms
    accepts missing cells.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(3, 4)
    >>> changed = perturb(X, "mask:0.25", np.random.default_rng(0)) != X
    >>> int(changed.sum()) <= 3
    True
    """
    kind, amount = parse_perturbation(spec)
    if kind == "noise":
        return X + rng.normal(0.0, amount * float(np.nanstd(X)), X.shape)
    hidden = hide(X, amount, rng)
    overall = float(np.nanmean(hidden))
    rows, cols = _means(hidden, 1, overall), _means(hidden, 0, overall)
    gaps = np.isnan(hidden) & ~np.isnan(X)
    return np.where(gaps, rows[:, None] + cols[None, :] - overall, X)


def hide(X: Values, share: float, rng: np.random.Generator) -> Values:
    """Return a copy of `X` with this share of its cells missing."""
    hidden = X.copy()
    chosen = rng.choice(X.size, size=round(share * X.size), replace=False)
    hidden.flat[chosen] = np.nan
    return hidden


def _means(hidden: Values, axis: int, default: float) -> Values:
    """Return means over what is observed; a line with nothing observed gets the overall mean."""
    count = (~np.isnan(hidden)).sum(axis=axis)
    return np.where(count > 0, np.nansum(hidden, axis=axis) / np.maximum(count, 1), default)

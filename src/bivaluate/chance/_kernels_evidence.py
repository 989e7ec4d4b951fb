"""Compiled kernel of the evidence: what a large block of deviations from the background adds up to, in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bivaluate._jit import kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@kernel
def block_of(X: Floats, rows: Indices, cols: Indices, row_effect: Floats, col_effect: Floats) -> Floats:
    """Return the deviations of a block from the background.

    In two loops, so that no compiler adds the two effects to each other first, which costs digits.
    """
    # X[np.ix_(rows, cols)] - row_effect[rows, None] - col_effect[cols]
    c = len(cols)
    A = np.empty((len(rows), c))
    for i in range(len(rows)):
        row = rows[i]
        level = row_effect[row]
        line = A[i]
        for j in range(c):
            line[j] = X[row, cols[j]] - level
        for j in range(c):
            line[j] -= col_effect[cols[j]]
    return A


@kernel
def block_sums(
    A: Floats, alternations: int, largest_factor: float
) -> tuple[float, Floats, Floats, Floats, Floats, float]:
    """Return what :func:`bivaluate.chance._patterns.sums` makes of a block, and the shape its rows share."""
    r, c = A.shape
    row_means, col_means = np.zeros(r), np.zeros(c)
    total = 0.0
    # row_means = A.mean(axis=1); col_means = A.mean(axis=0); total = (A * A).sum()
    for i in range(r):
        line = A[i]
        added = 0.0
        for j in range(c):
            added += line[j]
            total += line[j] * line[j]
            col_means[j] += line[j]
        row_means[i] = added / c
    col_means /= r
    shape = col_means - row_means.mean()
    factors, products = np.zeros(r), np.empty(r)
    explained = 0.0
    for step in range(alternations + 1):
        # length = shape @ shape; products = A @ shape
        length = 0.0
        for j in range(c):
            length += shape[j] * shape[j]
        for i in range(r):
            line = A[i]
            added = 0.0
            for j in range(c):
                added += line[j] * shape[j]
            products[i] = added
        largest = largest_factor * np.median(products)
        if not (largest > 0 and length > 0):
            return total, row_means, col_means, np.zeros(r), shape, 0.0
        # factors = np.clip(products, 0, largest) / length; weight = factors @ factors; level = factors @ row_means
        weight, level = 0.0, 0.0
        for i in range(r):
            factors[i] = min(max(products[i], 0.0), largest) / length
            weight += factors[i] * factors[i]
            level += factors[i] * row_means[i]
        if step == alternations:
            # explained = 2 * factors @ products - (factors @ factors) * length
            explained = -weight * length
            for i in range(r):
                explained += 2 * factors[i] * products[i]
            break
        # shape = (factors @ A - level) / weight
        shape[:] = -level
        for i in range(r):
            line = A[i]
            factor = factors[i]
            for j in range(c):
                shape[j] += factor * line[j]
        shape /= weight
    return total, row_means, col_means, factors, shape, explained

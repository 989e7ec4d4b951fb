"""Kernels of the coherent submatrix search: where climbs start from.

Promise of the caller: `C` (rows x columns) is float64, C-contiguous and finite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import kernel


@kernel
def keep_largest(value: float, index: int, values: Any, indices: Any) -> None:
    """Insert into lists of the largest values, in falling order; among equals the earlier stays ahead."""
    k = len(values) - 1
    if not value > values[k]:
        return
    while k > 0 and value > values[k - 1]:
        values[k] = values[k - 1]
        indices[k] = indices[k - 1]
        k -= 1
    values[k] = value
    indices[k] = index


@kernel
def starts_by_correlation(C: Any, rows: Any, n_near: Any, n_cols: Any, row_sets: Any, col_sets: Any) -> None:
    """For each row: it and the rows most correlated with it, on the columns where these are largest together.

    Lines of `C` have mean 0 and length 1.
    """
    n, m = C.shape
    total = np.empty(m)
    for s in range(len(rows)):
        i = rows[s]
        near = np.full(n_near[s], -1.0)
        who = np.zeros(n_near[s], np.int64)
        sign = np.empty(n)
        for k in range(n):
            r = 0.0
            for j in range(m):
                r += C[i, j] * C[k, j]
            sign[k] = 1.0 if r > 0.0 else -1.0
            if k != i:
                keep_largest(abs(r), k, near, who)
        for j in range(m):
            total[j] = C[i, j]
        row_sets[s, i] = 1
        for k in who:
            row_sets[s, k] = 1
            for j in range(m):
                total[j] += sign[k] * C[k, j]
        order = np.argsort(-np.abs(total), kind="mergesort")
        for a in range(n_cols[s]):
            col_sets[s, order[a]] = 1


@kernel
def starts_by_columns(Z: Any, rows: Any, n_near: Any, cols: Any, n_cols: Any, row_sets: Any, col_sets: Any) -> None:
    """For each row: it and the rows that vary most in line with it over its first few of the columns `cols`."""
    n = Z.shape[0]
    for s in range(len(rows)):
        c = n_cols[s]
        x = np.empty(c)
        mean = 0.0
        for a in range(c):
            x[a] = Z[rows[s], cols[s, a]]
            mean += x[a] / c
        for a in range(c):
            x[a] -= mean
        near = np.full(n_near[s], -1.0)
        who = np.zeros(n_near[s], np.int64)
        for k in range(n):
            product = 0.0
            total = 0.0
            power = 0.0
            for a in range(c):
                v = Z[k, cols[s, a]]
                product += x[a] * v
                total += v
                power += v * v
            power -= total * total / c
            if k != rows[s]:
                keep_largest(abs(product) / math.sqrt(max(power, 0.0) + 0.25 * c), k, near, who)
        row_sets[s, rows[s]] = 1
        for k in who:
            row_sets[s, k] = 1
        for a in range(c):
            col_sets[s, cols[s, a]] = 1

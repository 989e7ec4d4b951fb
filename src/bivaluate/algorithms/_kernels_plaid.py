"""Kernels of the plaid model: two groups of rows to start a layer from, and the rounds in which it grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import kernel


@kernel
def two_means(points: Any, first: Any, second: Any, rounds: int) -> Any:
    """Return the two centres of the tightest of some runs of 2-means, each from a pair of `points`."""
    size, d = points.shape
    total = np.zeros(d)
    for i in range(size):
        for j in range(d):
            total[j] += points[i, j]  # total = points.sum(axis=0)
    best, most = np.zeros((2, d)), -np.inf
    a, b, sums, towards_a = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    in_a, before = np.empty(size, np.bool_), np.empty(size, np.bool_)
    for start in range(len(first)):
        a[:], b[:], before[:] = points[first[start]], points[second[start]], False
        n_a = 0
        for _ in range(rounds):
            halfway = 0.0
            for j in range(d):
                towards_a[j] = a[j] - b[j]
                halfway += a[j] * a[j] - b[j] * b[j]
            changed = False
            n_a, sums[:] = 0, 0.0
            for i in range(size):
                along = 0.0
                for j in range(d):
                    along += towards_a[j] * points[i, j]
                in_a[i] = 2.0 * along > halfway  # |z - a|**2 < |z - b|**2
                changed |= in_a[i] != before[i]
                if in_a[i]:
                    n_a += 1
                    for j in range(d):
                        sums[j] += points[i, j]
            if not changed:
                break
            before[:] = in_a
            for j in range(d):
                a[j], b[j] = sums[j] / max(n_a, 1), (total[j] - sums[j]) / max(size - n_a, 1)
        between = 0.0  # the squares between the groups: the more, the tighter the groups
        for j in range(d):
            between += n_a * a[j] * a[j] + (size - n_a) * b[j] * b[j]
        if between > most:
            most = between
            best[0], best[1] = a, b
    return best


@kernel
def grow(Z: Any, rows: Any, cols: Any, row_release: float, col_release: float, n_iterations: int) -> bool:
    """Let a layer take up and release rows and columns, in place; return whether any are left.

    In the first half of the rounds nothing is released that the layer explains at all.
    """
    n, m = Z.shape
    along_rows, along_cols = np.empty(n), np.empty(m)
    sums, along, squares = np.empty(m), np.empty(m), np.empty(m)
    settled = -1
    for iteration in range(n_iterations):
        phase = int(iteration >= n_iterations // 2)
        if phase == settled:
            continue
        # Rows: gain_i = level_i (2 s_i - c level_i) + 2 Z_i. b - b. b, of which `release` times the squares is needed.
        n_rows, n_cols = 0, 0
        along_cols[:] = 0.0
        for i in range(n):
            if rows[i]:
                n_rows += 1
                for j in range(m):
                    along_cols[j] += Z[i, j]
        mean = 0.0
        for j in range(m):
            if cols[j]:
                n_cols += 1
                mean += along_cols[j] / n_rows
        mean /= n_cols
        effects = 0.0
        for j in range(m):
            along_cols[j] = along_cols[j] / n_rows - mean if cols[j] else 0.0  # b_j
            effects += along_cols[j] * along_cols[j]
        share, changed, left = row_release if phase else 0.0, False, False
        for i in range(n):
            s, b, q = 0.0, 0.0, 0.0
            for j in range(m):
                value = Z[i, j] if cols[j] else 0.0
                s += value
                b += along_cols[j] * value
                q += value * value
            level = s / n_cols if rows[i] else mean
            member = level * (2.0 * s - n_cols * level) + 2.0 * b - effects > share * q
            changed |= member != rows[i]
            left |= member
            rows[i] = member
        if not left:
            return False
        # Columns likewise.
        mean, n_rows = 0.0, 0
        for i in range(n):
            if rows[i]:
                s = 0.0
                for j in range(m):
                    if cols[j]:
                        s += Z[i, j]
                n_rows += 1
                along_rows[i] = s / n_cols
                mean += along_rows[i]
        mean /= n_rows
        effects = 0.0
        sums[:], along[:], squares[:] = 0.0, 0.0, 0.0
        for i in range(n):
            if rows[i]:
                a = along_rows[i] - mean
                effects += a * a
                for j in range(m):
                    sums[j] += Z[i, j]
                    along[j] += a * Z[i, j]
                    squares[j] += Z[i, j] * Z[i, j]
        share, left = col_release if phase else 0.0, False
        for j in range(m):
            level = sums[j] / n_rows if cols[j] else mean
            member = level * (2.0 * sums[j] - n_rows * level) + 2.0 * along[j] - effects > share * squares[j]
            changed |= member != cols[j]
            left |= member
            cols[j] = member
        if not left:
            return False
        if not changed:
            settled = phase
    return True

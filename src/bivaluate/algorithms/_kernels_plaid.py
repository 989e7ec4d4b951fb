"""Kernels of the plaid model: two groups of rows to start a layer from, the rounds in which it grows, its effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import copy_cells, kernel


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
    in_a = np.empty(size, np.bool_)
    for start in range(len(first)):
        copy_cells(points[first[start]], a)
        copy_cells(points[second[start]], b)
        in_a[:], sums[:] = False, 0.0
        n_a = 0
        for _ in range(rounds):
            halfway = 0.0
            for j in range(d):
                towards_a[j] = a[j] - b[j]
                halfway += a[j] * a[j] - b[j] * b[j]
            changed = False
            for i in range(size):
                along = 0.0
                for j in range(d):
                    along += towards_a[j] * points[i, j]
                belongs = 2.0 * along > halfway  # |z - a|**2 < |z - b|**2
                if belongs != in_a[i]:  # sums = points[in_a].sum(axis=0)
                    changed, in_a[i] = True, belongs
                    sign = 1.0 if belongs else -1.0
                    n_a += 1 if belongs else -1
                    for j in range(d):
                        sums[j] += sign * points[i, j]
            if not changed:
                break
            for j in range(d):
                a[j], b[j] = sums[j] / max(n_a, 1), (total[j] - sums[j]) / max(size - n_a, 1)
        between = 0.0  # the squares between the groups: the more, the tighter the groups
        for j in range(d):
            between += n_a * a[j] * a[j] + (size - n_a) * b[j] * b[j]
        if between > most:
            most = between
            copy_cells(a, best[0])
            copy_cells(b, best[1])
    return best


@kernel
def nearer_to_first(points: Any, centres: Any) -> Any:
    """Return a mask of the points that are nearer to the first of two centres."""
    size, d = points.shape
    towards_a, halfway = np.empty(d), 0.0
    for j in range(d):
        towards_a[j] = centres[0, j] - centres[1, j]
        halfway += centres[0, j] * centres[0, j] - centres[1, j] * centres[1, j]
    group = np.empty(size, np.bool_)
    for i in range(size):
        along = 0.0
        for j in range(d):
            along += towards_a[j] * points[i, j]
        group[i] = 2.0 * along > halfway  # points @ (a - b) > (a @ a - b @ b) / 2
    return group


@kernel
def fit_effects(Z: Any, rows: Any, cols: Any) -> Any:
    """Return the mean of a block, and what the means of its rows and of its columns add to that."""
    r, c = len(rows), len(cols)
    row_effects, col_effects, mean = np.empty(r), np.zeros(c), 0.0
    whole = c == Z.shape[1]
    for i in range(r):
        line, s = Z[rows[i]], 0.0
        if whole:
            for j in range(c):
                s += line[j]
                col_effects[j] += line[j]
        else:
            for j in range(c):
                value = line[cols[j]]
                s += value
                col_effects[j] += value
        row_effects[i] = s / c  # block.mean(axis=1)
        mean += row_effects[i]
    mean /= r
    for i in range(r):
        row_effects[i] -= mean
    for j in range(c):
        col_effects[j] = col_effects[j] / r - mean  # block.mean(axis=0) - mean
    return mean, row_effects, col_effects


@kernel
def take_away(Z: Any, rows: Any, cols: Any, mean: float, row_effects: Any, col_effects: Any) -> None:
    """Take the values of a layer away from its cells."""
    c, whole = len(cols), len(cols) == Z.shape[1]
    for i in range(len(rows)):
        line, level = Z[rows[i]], mean + row_effects[i]
        if whole:
            for j in range(c):
                line[j] -= level + col_effects[j]  # Z[np.ix_(rows, cols)] -= mean + row_effects[:, None] + col_effects
        else:
            for j in range(c):
                line[cols[j]] -= level + col_effects[j]


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

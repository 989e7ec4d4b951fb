"""Kernels of the plaid model: two groups of rows to start a layer from, the rounds in which it grows, its effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, kernel


@kernel
def two_means(points: Any, total: Any, starts: Any, rounds: int) -> Any:
    """Return the two centres of the tightest of some runs of 2-means on `points`, of which `total` is the sum."""
    size, d = points.shape
    best, most = 0, -np.inf
    for start in range(len(starts)):
        a, b, towards_a, sums = starts[start, 0], starts[start, 1], np.empty(d), np.zeros(d)
        in_a, n_a = np.zeros(size, np.int64), 0
        for _ in range(rounds):
            halfway, changed = 0.0, False
            for j in range(d):
                towards_a[j] = a[j] - b[j]
                halfway += a[j] * a[j] - b[j] * b[j]
            for i in range(size):
                along = 0.0
                for j in range(d):
                    along += towards_a[j] * points[i, j]
                belongs = int(2.0 * along > halfway)  # |z - a|**2 < |z - b|**2
                if belongs != in_a[i]:  # sums = in_a @ points
                    changed, in_a[i] = True, belongs
                    n_a += 2 * belongs - 1
                    for j in range(d):
                        sums[j] += (2 * belongs - 1) * points[i, j]
            if not changed:
                break
            for j in range(d):
                a[j], b[j] = sums[j] / max(n_a, 1), (total[j] - sums[j]) / max(size - n_a, 1)
        between = 0.0  # the squares between the groups: the more, the tighter the groups
        for j in range(d):
            between += n_a * a[j] * a[j] + (size - n_a) * b[j] * b[j]
        if between > most:
            best, most = start, between
    return starts[best]


@kernel
def fit_effects(Z: Any, rows: Any, cols: Any) -> Any:
    """Return the mean of a block, and what the means of its rows and of its columns add to that."""
    # mean, block.mean(axis=1) - mean, block.mean(axis=0) - mean
    inside, sums, mean, row_means = np.zeros(Z.shape[1]), np.zeros(Z.shape[1]), 0.0, np.empty(len(rows))
    inside[cols] = 1.0
    for i in range(len(rows)):
        line, total = Z[rows[i]], 0.0
        for j in range(len(line)):
            total += inside[j] * line[j]
            sums[j] += line[j]
        row_means[i] = total / len(cols)
        mean += row_means[i] / len(rows)
    return mean, row_means - mean, sums[cols] / len(rows) - mean


@kernel
def take_away(Z: Any, rows: Any, cols: Any, mean: float, row_effects: Any, col_effects: Any) -> None:
    """Take the values of a layer away from its cells."""
    # Z[np.ix_(rows, cols)] -= mean + row_effects[:, np.newaxis] + col_effects
    inside, level = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for j in range(len(cols)):
        inside[cols[j]], level[cols[j]] = 1.0, mean + col_effects[j]
    for i in range(len(rows)):
        line = Z[rows[i]]
        for j in range(len(line)):
            line[j] -= inside[j] * row_effects[i] + level[j]


@inner_kernel
def effects(sums: Any, members: Any, n_others: int, out: Any) -> Any:
    """Fill what the means of member lines add to the mean of the layer, 0 for others; return it and their squares."""
    mean, square, count = 0.0, 0.0, 0
    for k in range(len(out)):
        out[k] = sums[k] / n_others if members[k] else 0.0
        mean += out[k]
        count += members[k]
    mean /= count
    for k in range(len(out)):
        out[k] -= mean if members[k] else 0.0
        square += out[k] * out[k]
    return mean, square


@inner_kernel
def take_up(products: Any, n_others: int, mean: float, square: float, release: float, members: Any) -> Any:
    """Let lines in of whose squares the layer explains more than a share; return if any changed, and how many are in.

    Of a line z with level a (the mean of the layer for lines outside) and effects b of the others, it explains
    a (2 sum(z) - n a) + 2 z.b - b.b; `products` are sum(z), z.b and z.z over the others in the layer.
    """
    changed, count = False, 0
    for k in range(len(members)):
        total = products[0, k]
        level = total / n_others if members[k] else mean
        gain = level * (2.0 * total - n_others * level) + 2.0 * products[1, k] - square
        is_member = gain > release * products[2, k]
        changed |= is_member != members[k]
        members[k] = is_member
        count += is_member
    return changed, count


@inner_kernel
def over_rows(Z: Any, rows: Any, effects: Any, products: Any) -> None:
    """Fill the sum, the product with the effects and the squares of each column over the rows of the layer."""
    # products[:] = rows @ Z, (rows * effects) @ Z, rows @ Z**2
    products[:] = 0.0
    for i in range(len(Z)):
        if rows[i]:
            for j in range(Z.shape[1]):
                products[0, j] += Z[i, j]
                products[1, j] += effects[i] * Z[i, j]
                products[2, j] += Z[i, j] * Z[i, j]


@kernel
def grow(Z: Any, rows: Any, cols: Any, row_release: float, col_release: float, n_iterations: int) -> bool:
    """Let a layer take up and release rows and columns, in place; return whether any are left.

    In the first half of the rounds nothing is released that the layer explains at all.
    """
    n, m = Z.shape
    of_rows, of_cols, row_effects, col_effects = np.empty((3, n)), np.zeros((3, m)), np.zeros(n), np.empty(m)
    n_rows, n_cols = rows.sum(), cols.sum()
    over_rows(Z, rows, row_effects, of_cols)
    for phase in range(2):
        for _ in range((n_iterations + phase) // 2):
            mean, square = effects(of_cols[0], cols, n_rows, col_effects)
            for i in range(n):
                total, along, squares = 0.0, 0.0, 0.0
                for j in range(m):
                    value = Z[i, j] if cols[j] else 0.0
                    total += value
                    along += col_effects[j] * value
                    squares += value * value
                of_rows[0, i], of_rows[1, i], of_rows[2, i] = total, along, squares
            rows_changed, n_rows = take_up(of_rows, n_cols, mean, square, phase * row_release, rows)
            if n_rows == 0:
                return False
            mean, square = effects(of_rows[0], rows, n_cols, row_effects)
            over_rows(Z, rows, row_effects, of_cols)
            cols_changed, n_cols = take_up(of_cols, n_rows, mean, square, phase * col_release, cols)
            if n_cols == 0:
                return False
            if not (rows_changed or cols_changed):
                break
    return True

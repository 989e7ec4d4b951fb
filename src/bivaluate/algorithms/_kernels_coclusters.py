"""Kernels of co-clustering: rows and columns take turns, each line going to the label that costs least.

The lines of a matrix (its rows, or its columns) come as a tuple: a dense table, and the data, indices and bounds of a
sparse one; the bounds are empty where the table is dense. A label of the other side has a row in a table of sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel

# What blocks are judged by.
KINDS = ("squared", "i-divergence", "information", "modularity")
SQUARED, I_DIVERGENCE, INFORMATION, MODULARITY = range(4)
SMALLEST = 1e-300


@inner_kernel
def log(value: float) -> float:
    """Return the logarithm, and that of the smallest number for 0: a cell in a block of zeros costs much, never ∞."""
    return math.log(max(value, SMALLEST))


@inner_kernel
def follow(lines: Any, labels: Any, before: Any, sums: Any, sizes: Any) -> int:
    """Bring sums and sizes of labels up to date from the lines whose label changed, or anew; return how many did."""
    # sums[k], sizes[k] = X[labels == k].sum(axis=0), (labels == k).sum()
    keep_apart()
    table, data, indices, bounds = lines
    changed = 0
    for i in range(len(labels)):
        changed += labels[i] != before[i]
    if 2 * changed > len(labels):
        sums[:], sizes[:], before[:] = 0.0, 0.0, -1
    for i in range(len(labels)):
        if labels[i] != before[i]:
            for label, sign in ((before[i], -1.0), (labels[i], 1.0)):
                if label >= 0:
                    sizes[label] += sign
                    for j in range(table.shape[1]):
                        sums[label, j] += sign * table[i, j]
                    for e in range(bounds[i], bounds[i + 1]) if len(bounds) else range(0):
                        sums[label, indices[e]] += sign * data[e]
            before[i] = labels[i]
    return changed


@inner_kernel
def add_up(table: Any, labels: Any, sums: Any) -> None:
    """Fill in the sums of blocks from those of lines."""
    # sums[k] = table[:, labels == k].sum(axis=1)
    sums[:] = 0.0
    for i in range(len(labels)):
        for c in range(len(table)):
            sums[labels[i], c] += table[c, i]


@kernel
def relabel(kind: int, table: Any, sums: Any, n_own: Any, n_other: Any, labels: Any) -> float:
    """Fill in the label of lowest cost for every line, the first among equals; return what all cost together.

    A line with sums P over the labels of the other side costs Σ_c (fixed_c + P_c · weight_c). Empty labels stay empty.
    """
    K, L, n = len(n_own), len(n_other), len(labels)
    cost, lowest, lines, others, total, whole = np.empty(n), np.full(n, np.inf), np.zeros(n), np.zeros(L), SMALLEST, 0.0
    for c in range(L):
        other = 0.0
        for r in range(K):
            other += sums[r, c]
        for i in range(n if kind == MODULARITY else 0):
            lines[i] += table[c, i]
            other += table[c, i]
        others[c] = other
        total += other
    labels[:] = 0
    for r in range(K):
        if n_own[r] == 0.0 and kind != MODULARITY:
            continue
        own = 0.0
        for c in range(L):
            own += sums[r, c]
        cost[:] = 0.0
        for c in range(L):
            if kind == MODULARITY and c != r:
                continue
            average, fixed = sums[r, c] / max(n_own[r] * n_other[c], 1.0), 0.0
            if kind == SQUARED:
                fixed, weight = average * average * n_other[c], -2.0 * average
            elif kind == I_DIVERGENCE:
                fixed, weight = average * n_other[c], -log(average)
            elif kind == INFORMATION:
                weight = log(own) + log(others[c]) - log(sums[r, c]) - log(total)
            else:
                weight = -1.0
                for i in range(n):
                    cost[i] = lines[i] * (others[r] / total)
            for i in range(n):
                cost[i] += fixed + weight * table[c, i]
        for i in range(n):
            labels[i] = r if cost[i] < lowest[i] else labels[i]
            lowest[i] = min(cost[i], lowest[i])
    for i in range(n):
        whole += lowest[i]
    return whole


@kernel
def alternate(rows: Any, cols: Any, starts: Any, kind: int, blocks: Any, max_iter: int) -> Any:
    """Let the labels of rows and columns take turns from each start, in place, until none changes; return the costs.

    `blocks` is filled with the sums of blocks at the end of each start.
    """
    K, L = blocks.shape[1:]
    n, m = starts[0].shape[1], starts[1].shape[1]
    over_rows, over_cols, n_rows, n_cols = np.zeros((K, m)), np.zeros((L, n)), np.zeros(K), np.zeros(L)
    old_z, old_w, sums, turned = np.full(n, -1), np.full(m, -1), np.zeros((K, L)), np.zeros((L, K))
    costs = np.zeros(len(starts[0]))
    for s in range(len(costs)):
        z, w = starts[0][s], starts[1][s]
        if kind != MODULARITY:  # where only the labels of columns matter to those of rows
            follow(rows, z, old_z, over_rows, n_rows)
        follow(cols, w, old_w, over_cols, n_cols)
        for _ in range(max_iter):
            if kind != MODULARITY:
                add_up(over_cols, z, sums)
            relabel(kind, over_cols, sums, n_rows, n_cols, z)
            changed = follow(rows, z, old_z, over_rows, n_rows)
            if kind != MODULARITY:
                add_up(over_rows, w, turned)
            costs[s] = relabel(kind, over_rows, turned, n_cols, n_rows, w)
            changed += follow(cols, w, old_w, over_cols, n_cols)
            if changed == 0:
                break
        add_up(over_cols, z, blocks[s])
    return costs

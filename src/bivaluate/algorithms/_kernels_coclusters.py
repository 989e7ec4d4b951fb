"""Kernels of co-clustering: what blocks keep, rows and columns that take turns, first labels and moves; modularity.

The lines of a matrix (its rows, or its columns) come as a tuple: a dense table, and the data, indices and bounds of a
sparse one; the bounds are empty where the table is dense. A label of the other side has a row in a table of sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inner_kernel, keep_apart, kernel

# What blocks are judged by.
SQUARED, I_DIVERGENCE, INFORMATION = 0, 1, 2
# A start ends when a round adds less than this share to what the blocks keep.
TOLERANCE = 1e-10
# A table is brought up to date from the lines that changed while they are at most this share.
FEW = 0.5
SMALLEST = 1e-300


@inner_kernel
def copy(source: Any, target: Any) -> None:
    """Copy numbers one by one: with ``target[:] = source`` three times as much is compiled."""
    for i in range(len(source)):
        target[i] = source[i]


@inner_kernel
def log(value: float) -> float:
    """Return the logarithm, and that of the smallest number for 0: a cell in a block of zeros costs much, never ∞."""
    return math.log(max(value, SMALLEST))


@inner_kernel
def keep_line(
    kind: int, sums: Any, size: float, n_other: Any, others: Any, total: float, mean: float, kept: Any
) -> Any:
    """Fill in what the blocks of one label keep; return the sum.

    Of the squares: size (average - mean)**2. Of the I-divergence: sum log(average / mean) - sum + size mean. Of the
    information, times the total: S_rc log(S_rc S / (S_r. S_.c)).
    """
    keep_apart()
    whole, own = 0.0, 0.0
    for c in range(len(sums)):
        own += sums[c]
    for c in range(len(sums)):
        cells = size * n_other[c]
        average = sums[c] / max(cells, 1.0)
        if kind == SQUARED:
            kept[c] = cells * (average - mean) * (average - mean)
        elif kind == I_DIVERGENCE:
            kept[c] = sums[c] * (log(average) - log(mean)) - sums[c] + cells * mean
        else:
            kept[c] = sums[c] * (log(sums[c]) + log(total) - log(own) - log(others[c]))
        whole += kept[c]
    return whole


@inner_kernel
def keep(kind: int, sums: Any, n_own: Any, n_other: Any, kept: Any, others: Any) -> Any:
    """Fill in what each block keeps of the matrix, and sums over labels; return what all keep, the sum and the mean."""
    # others = sums.sum(axis=0); total = sums.sum(); mean = total / (n_own.sum() * n_other.sum()); whole = kept.sum()
    K, L = sums.shape
    total, n, m, whole = 0.0, 0.0, 0.0, 0.0
    others[:] = 0.0
    for r in range(K):
        n += n_own[r]
        for c in range(L):
            others[c] += sums[r, c]
            total += sums[r, c]
    for c in range(L):
        m += n_other[c]
    mean = total / (n * m)
    for r in range(K):
        whole += keep_line(kind, sums[r], n_own[r], n_other, others, total, mean, kept[r])
    return whole, total, mean


@inner_kernel
def price(kind: int, sums: Any, n_own: Any, n_other: Any, fixed: Any, weights: Any) -> None:
    """Fill in what a label costs a line with sums P over the labels of the other side: fixed[r] + P · weights[r]."""
    for r in range(len(n_own)):
        fixed[r], own = 0.0, 0.0
        for c in range(len(n_other)):
            own += sums[r, c]
        for c in range(len(n_other)):
            average = sums[r, c] / max(n_own[r] * n_other[c], 1.0)
            if kind == SQUARED:
                fixed[r] += average * average * n_other[c]
                weights[r, c] = -2.0 * average
            elif kind == I_DIVERGENCE:
                fixed[r] += average * n_other[c]
                weights[r, c] = -log(average)
            else:
                weights[r, c] = log(own) - log(sums[r, c])  # -log q(y-hat | x-hat)


@inner_kernel
def relabel(kind: int, table: Any, sums: Any, n_own: Any, n_other: Any, labels: Any, room: Any) -> None:
    """Fill in the label of lowest cost for every line, the first among equals; empty labels stay empty."""
    keep_apart()
    K, L, n = len(n_own), len(n_other), table.shape[1]
    fixed, weights, cost, lowest = room
    price(kind, sums, n_own, n_other, fixed, weights)
    lowest[:n] = np.inf
    labels[:] = 0
    for r in range(K):
        if n_own[r] > 0.0:
            cost[:n] = fixed[r]
            for c in range(L):
                weight = weights[r, c]
                for i in range(n):
                    cost[i] += weight * table[c, i]
            for i in range(n):  # labels = (fixed + table.T @ weights.T).argmin(axis=1)
                labels[i] = r if cost[i] < lowest[i] else labels[i]
                lowest[i] = min(cost[i], lowest[i])


@inner_kernel
def room_for(K: int, L: int, n: int) -> Any:
    """Return the arrays that `relabel` works in, for n lines of either side."""
    most = max(K, L)
    return np.empty(most), np.empty((most, most)), np.empty(n), np.empty(n)


@inner_kernel
def add_lines(lines: Any, labels: Any, before: Any, anew: bool, factor: float, sums: Any) -> None:
    """Add lines of the matrix, times a factor, to the sums of their labels: all, or those whose label changed."""
    # np.add.at(sums, labels[chosen], factor * X[chosen]), with chosen = anew or labels != before
    keep_apart()
    table, data, indices, bounds = lines
    if len(bounds):
        for i in range(len(labels)):
            if anew or labels[i] != before[i]:
                for e in range(bounds[i], bounds[i + 1]):
                    sums[labels[i], indices[e]] += factor * data[e]
        return
    for i in range(len(labels)):
        if anew or labels[i] != before[i]:
            label = labels[i]
            for j in range(table.shape[1]):
                sums[label, j] += factor * table[i, j]


@inner_kernel
def follow(lines: Any, labels: Any, before: Any, sums: Any) -> None:
    """Bring the sums of lines over their labels up to date: from the lines that changed, where they are few."""
    keep_apart()
    changed = 0
    for i in range(len(labels)):
        changed += labels[i] != before[i]
    anew = changed > FEW * len(labels)
    if anew:
        sums[:] = 0.0  # sums[k] = X[labels == k].sum(axis=0)
    elif changed:
        add_lines(lines, before, labels, False, -1.0, sums)
    if changed:
        add_lines(lines, labels, before, anew, 1.0, sums)
        copy(labels, before)


@inner_kernel
def count(labels: Any, sizes: Any) -> None:
    """Fill in how many lines have each label."""
    sizes[:] = 0.0
    for label in labels:
        sizes[label] += 1.0


@inner_kernel
def add_up(table: Any, labels: Any, turned: bool, sums: Any) -> None:
    """Fill in the sums of blocks from those of lines; `turned` where the labels are those of the columns of blocks."""
    sums[:] = 0.0
    for i in range(len(labels)):
        for c in range(len(table)):
            if turned:
                sums[c, labels[i]] += table[c, i]
            else:
                sums[labels[i], c] += table[c, i]


@kernel
def place(kind: int, some: Any, known: Any, sums: Any, n_own: Any, n_other: Any, labels: Any) -> None:
    """Fill in the labels of lines from some of their cells: dense lines of the other side, whose labels are known."""
    table = np.zeros((len(n_other), some.shape[1]))
    for i in range(len(known)):
        for j in range(some.shape[1]):
            table[known[i], j] += some[i, j]
    relabel(kind, table, sums, n_own, n_other, labels, room_for(len(n_own), len(n_other), some.shape[1]))


@kernel
def alternate(by_rows: Any, by_cols: Any, rows: Any, cols: Any, kind: int, K: int, L: int, max_iter: int) -> Any:
    """Return the labels that keep most, how many lines have each, sums and what each block keeps; lines take turns.

    `rows` and `cols` have a line for each start; each ends when it no longer improves.
    """
    n, m = rows.shape[1], cols.shape[1]
    over_rows, over_cols = np.empty((K, m)), np.empty((L, n))
    old_rows, old_cols, kept, others = np.empty(n, np.int64), np.empty(m, np.int64), np.empty((K, L)), np.empty(L)
    n_rows, n_cols, sums, turned = np.empty(K), np.empty(L), np.empty((K, L)), np.empty((L, K))
    best_rows, best_cols, best_sums, best_kept = rows[0].copy(), cols[0].copy(), sums.copy(), sums.copy()
    best_n_rows, best_n_cols = n_rows.copy(), n_cols.copy()
    room = room_for(K, L, max(n, m))
    z, w, most = rows[0].copy(), cols[0].copy(), -np.inf
    old_rows[:], old_cols[:] = -1, -1
    for s in range(len(rows)):
        copy(rows[s], z)
        copy(cols[s], w)
        follow(by_cols, w, old_cols, over_cols)
        count(z, n_rows)
        count(w, n_cols)
        add_up(over_cols, z, False, sums)
        before = -np.inf
        for _ in range(max_iter):
            relabel(kind, over_cols, sums, n_rows, n_cols, z, room)
            count(z, n_rows)
            follow(by_rows, z, old_rows, over_rows)
            add_up(over_rows, w, True, sums)
            for r in range(K):
                for c in range(L):
                    turned[c, r] = sums[r, c]
            relabel(kind, over_rows, turned, n_cols, n_rows, w, room)
            count(w, n_cols)
            follow(by_cols, w, old_cols, over_cols)
            add_up(over_cols, z, False, sums)
            now = keep(kind, sums, n_rows, n_cols, kept, others)[0]
            # Of starts that end alike, but for rounding, the first is taken.
            if now - most > TOLERANCE * abs(now):
                most = now
                copy(z, best_rows)
                copy(w, best_cols)
                copy(n_rows, best_n_rows)
                copy(n_cols, best_n_cols)
                for r in range(K):
                    copy(sums[r], best_sums[r])
                    copy(kept[r], best_kept[r])
            if not now - before > TOLERANCE * abs(now):
                break
            before = now
    return best_rows, best_cols, best_n_rows, best_n_cols, best_sums, best_kept


@inner_kernel
def copy_line(lines: Any, number: int, factor: float, line: Any) -> None:
    """Fill in a line of the matrix, times a factor."""
    # line[:] = factor * X[number]
    table, data, indices, bounds = lines
    if len(bounds):
        line[:] = 0.0
        for e in range(bounds[number], bounds[number + 1]):
            line[indices[e]] = factor * data[e]
    else:
        for j in range(table.shape[1]):
            line[j] = factor * table[number, j]


@inner_kernel
def multiply(lines: Any, direction: Any, products: Any) -> None:
    """Fill in the scalar products of the lines of the matrix and a direction."""
    # products[:] = X @ direction
    table, data, indices, bounds = lines
    if len(bounds):
        for i in range(len(products)):
            product = 0.0
            for e in range(bounds[i], bounds[i + 1]):
                product += data[e] * direction[indices[e]]
            products[i] = product
        return
    for i in range(len(products)):
        product = 0.0
        for j in range(table.shape[1]):
            product += table[i, j] * direction[j]
        products[i] = product


@inner_kernel
def squares_of(lines: Any, squares: Any) -> None:
    """Fill in the sums of squares of the lines of the matrix."""
    # squares[:] = (X**2).sum(axis=1)
    table, data, _, bounds = lines
    for i in range(len(squares)):
        total = 0.0
        if len(bounds):
            for e in range(bounds[i], bounds[i + 1]):
                total += data[e] * data[e]
        else:
            for j in range(table.shape[1]):
                total += table[i, j] * table[i, j]
        squares[i] = total


@kernel
def first_labels(lines: Any, width: int, K: int, n_near: int, profiles: bool, numbers: Any) -> Any:
    """Return labels of lines for every start: that of the nearest of K random lines, or random ones in equal numbers.

    Nearest by the sum of squared differences; with `profiles` of lines scaled to length 1. As in k-means++, a line is
    drawn with a chance in proportion to its squared distance from those drawn before. `numbers`, uniform on [0, 1), has
    a line for each start, with as many as there are lines and labels at least.
    """
    n_starts, n = len(numbers), len(lines[3]) - 1 if len(lines[3]) else len(lines[0])
    labels = np.zeros((n_starts, n), np.int64)
    squares, scale, centre = np.empty(n), np.ones(n), np.empty(width)
    squares_of(lines, squares)
    largest = 0.0
    for i in range(n):
        if profiles and squares[i] > 0.0:
            scale[i], squares[i] = 1.0 / math.sqrt(squares[i]), 1.0
        largest = max(largest, squares[i])
    least, products = np.empty(n), np.empty(n)
    for s in range(n_near):
        least[:] = np.inf
        drawn = int(numbers[s, 0] * n)
        for k in range(K):
            copy_line(lines, drawn, scale[drawn], centre)
            multiply(lines, centre, products)
            whole = 0.0
            for i in range(n):
                # ((scale[i] * X[i] - centre)**2).sum()
                distance = squares[i] + squares[drawn] - 2.0 * scale[i] * products[i]
                if distance < 1e-12 * (largest + SMALLEST):
                    distance = 0.0
                if distance < least[i]:
                    least[i], labels[s, i] = distance, k
                whole += least[i]
            if k + 1 < K:
                left, drawn = numbers[s, k + 1] * (whole if whole > 0.0 else n), -1
                while left >= 0.0 and drawn < n - 1:
                    drawn += 1
                    left -= least[drawn] if whole > 0.0 else 1.0
    for s in range(n_near, n_starts):
        line = labels[s]
        for i in range(n):
            line[i] = i % K
        for i in range(n - 1, 0, -1):
            j = int(numbers[s, i] * (i + 1))
            line[i], line[j] = line[j], line[i]
    return labels


@kernel
def losses_of_mergers(kind: int, sums: Any, n_own: Any, n_other: Any) -> Any:
    """Return what is no longer kept when two labels of one side become one, for all pairs."""
    # losses[a, b] = kept[a].sum() + kept[b].sum() - what the block of sums[a] + sums[b] keeps
    K, L = sums.shape
    kept, others, losses, merged, unused = np.empty((K, L)), np.empty(L), np.zeros((K, K)), np.empty(L), np.empty(L)
    _, total, mean = keep(kind, sums, n_own, n_other, kept, others)
    for a in range(K):
        for b in range(a + 1, K):
            apart = 0.0
            for c in range(L):
                merged[c] = sums[a, c] + sums[b, c]
                apart += kept[a, c] + kept[b, c]
            now = keep_line(kind, merged, n_own[a] + n_own[b], n_other, others, total, mean, unused)
            losses[a, b] = apart - now
    return losses


@inner_kernel
def split_and_merge(own: Any, sizes: Any, losses: Any, numbers: Any, moved: Any) -> int:
    """Fill in labels near `own`, one line for each move; return how many.

    No merger is needed where a label is empty. `numbers`, uniform on [0, 1), say which half of a cluster leaves it.
    """
    K, found, free = len(sizes), 0, -1
    for k in range(K - 1, -1, -1):
        if sizes[k] == 0.0:
            free = k
    for cluster in range(K):
        kept, new, least = -1, free, np.inf
        if free < 0:
            for a in range(K):
                for b in range(a + 1, K):
                    if a != cluster and b != cluster and losses[a, b] < least:
                        kept, new, least = a, b, losses[a, b]
        if new < 0 or sizes[cluster] < 2.0:
            continue
        left, leave = sizes[cluster], sizes[cluster] // 2
        for i in range(len(own)):
            label = own[i]
            if label == cluster:
                if numbers[i] * left < leave:
                    label, leave = new, leave - 1
                left -= 1
            elif free < 0 and label == new:
                label = kept
            moved[found, i] = label
        found += 1
    return found


@kernel
def moves(kind: int, rows: Any, cols: Any, n_rows: Any, n_cols: Any, sums: Any, numbers: Any) -> Any:
    """Return starts near these: each cluster in turn is split at random, and the two others that cost least merge."""
    n, m, K, L = len(rows), len(cols), sums.shape[0], sums.shape[1]
    new_rows, new_cols = np.empty((K + L, n), np.int64), np.empty((K + L, m), np.int64)
    losses = losses_of_mergers(kind, sums, n_rows, n_cols)
    of_rows = split_and_merge(rows, n_rows, losses, numbers[:n], new_rows)
    turned = np.empty((L, K))
    for r in range(K):
        for c in range(L):
            turned[c, r] = sums[r, c]
    losses = losses_of_mergers(kind, turned, n_cols, n_rows)
    of_cols = split_and_merge(cols, n_cols, losses, numbers[n:], new_cols[of_rows:])
    for s in range(of_rows):
        copy(cols, new_cols[s])
    for s in range(of_rows, of_rows + of_cols):
        copy(rows, new_rows[s])
    return new_rows[: of_rows + of_cols], new_cols[: of_rows + of_cols]


@inner_kernel
def best_labels(
    table: Any, sums: Any, other_labels: Any, other_sums: Any, total: float, labels: Any, room: Any
) -> float:
    """Fill in the label of highest modularity for every line, the first among equals; return what all add together.

    Sums of counts are exact, and divided by their total only at the end: equals stay equal.
    """
    share, highest = room
    n = len(labels)
    share[:] = 0.0
    for j in range(len(other_labels)):
        share[other_labels[j]] += other_sums[j]
    for k in range(len(share)):
        share[k] /= total
    labels[:], highest[:n] = 0, -np.inf
    for k in range(len(table)):
        for i in range(n):  # BW = table.T - outer(sums, share); labels = BW.argmax(axis=1); BW.max(axis=1).sum()
            gain = table[k, i] - sums[i] * share[k]
            labels[i] = k if gain > highest[i] else labels[i]
            highest[i] = max(gain, highest[i])
    whole = 0.0
    for i in range(n):
        whole += highest[i]
    return whole


@kernel
def maximise(
    by_rows: Any, by_cols: Any, row_sums: Any, col_sums: Any, starts: Any, K: int, max_iter: int, tolerance: float
) -> Any:
    """Return the row and column labels of the largest modularity from any start, and what each label adds to it."""
    n, m = len(row_sums), len(col_sums)
    total = SMALLEST
    for i in range(n):
        total += row_sums[i]
    over_rows, over_cols = np.empty((K, m)), np.empty((K, n))
    z, w, old_rows, old_cols = np.empty(n, np.int64), np.empty(m, np.int64), np.full(n, -1), np.full(m, -1)
    best_rows, best_cols, gains, most = z.copy(), w.copy(), np.empty(K), -np.inf
    room = np.empty(K), np.empty(max(n, m))
    for s in range(len(starts)):
        copy(starts[s], w)
        before = -np.inf
        for _ in range(max_iter):
            follow(by_cols, w, old_cols, over_cols)
            best_labels(over_cols, row_sums, w, col_sums, total, z, room)
            follow(by_rows, z, old_rows, over_rows)
            Q = best_labels(over_rows, col_sums, z, row_sums, total, w, room)
            gain, before = Q - before, Q
            if not gain > tolerance * total:
                break
        if before > most:
            most = before
            copy(z, best_rows)
            copy(w, best_cols)
    of_rows, of_cols = np.zeros(K), np.zeros(K)
    follow(by_rows, best_rows, old_rows, over_rows)
    gains[:] = 0.0
    for i in range(n):
        of_rows[best_rows[i]] += row_sums[i]
    for j in range(m):
        of_cols[best_cols[j]] += col_sums[j]
        gains[best_cols[j]] += over_rows[best_cols[j], j]
    for k in range(K):
        gains[k] = (gains[k] - of_rows[k] * of_cols[k] / total) / total
    return best_rows, best_cols, gains

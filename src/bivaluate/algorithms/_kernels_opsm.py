"""Kernels of the order-preserving submatrix search: partial models grown from both ends, the best kept.

Promise of the caller: `ranks` holds for each row how many of its cells are smaller, so that equal cells are tied;
`gains[r, g]` is the likelihood ratio minus 1 of a row with a gap of g when r columns are still to come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._jit import copy_cells, kernel, strict_kernel

# Estimates nearer to each other than this are tied.
STEPS = 1e9


@strict_kernel
def share_of_rows(gaps: Any, gains: Any, n: int) -> Any:
    """Return the share p of rows that support a model, by maximum likelihood from how many rows have each gap.

    The log-likelihood Σ log(1 + p · gain) is concave; rows that cannot support the model have a gain of −1. The share
    comes as a whole number of billionths, so that rounding decides no tie.
    """
    low, high = 0.0, 1.0
    possible = 0
    slope = 0.0
    for g in range(len(gaps)):
        possible += gaps[g]
        slope += gaps[g] * gains[g]
    if slope - (n - possible) <= 0.0:
        return 0.0
    share = 0.5
    for _ in range(60):
        # slope = (count * gain / (1 + share * gain)).sum()
        slope = -(n - possible) / (1.0 - share)
        bend = -(n - possible) / (1.0 - share) ** 2
        for g in range(len(gaps)):
            if gaps[g]:
                term = gains[g] / (1.0 + share * gains[g])
                slope += gaps[g] * term
                bend -= gaps[g] * term * term
        if slope > 0.0:
            low = share
        else:
            high = share
        before = share
        share -= slope / bend
        if not low < share < high:
            share = 0.5 * (low + high)
        if abs(share - before) < 1e-12:
            break
    return np.floor(share * STEPS + 0.5)


@kernel
def insert_best(score: float, model: int, column: int, scores: Any, models: Any, columns: Any, held: int) -> int:
    """Insert a candidate into the sorted list of the best, after its equals; return how many the list holds."""
    if held == len(scores):
        if score <= scores[held - 1]:
            return held
        held -= 1
    at = held
    while at > 0 and scores[at - 1] < score:
        scores[at], models[at], columns[at] = scores[at - 1], models[at - 1], columns[at - 1]
        at -= 1
    scores[at], models[at], columns[at] = score, model, column
    return held + 1


@kernel
def grow_models(ranks: Any, size: int, n_models: int, gains: Any, sequence: Any, rows: Any) -> Any:
    """Fill columns (in their order) and rows of the best model of `size` columns; return its number of rows.

    Partial models of order (1, 1), (2, 1), (2, 2), … are extended by every column; the best `n_models` go on.
    """
    n, m = ranks.shape
    gaps = np.zeros((m, m), np.int64)
    scores = np.zeros(n_models)
    models = np.zeros(n_models, np.int64)
    columns = np.zeros(n_models, np.int64)
    remaining = size - 2
    held = 0
    for x in range(m):
        gaps[:] = 0
        for i in range(n):
            low = ranks[i, x]
            for y in range(m):
                gap = ranks[i, y] - low - 1
                if gap >= remaining:
                    gaps[y, gap] += 1
        for y in range(m):
            if y != x:
                held = insert_best(share_of_rows(gaps[y], gains[remaining], n), x, y, scores, models, columns, held)
    # A model: its columns in order, the ends filled in; for each row that may support it the ranks of both ends.
    order, new_order = np.full((n_models, size), -1), np.full((n_models, size), -1)
    low, new_low = np.empty((n_models, n), np.int32), np.empty((n_models, n), np.int32)
    high, new_high = np.empty((n_models, n), np.int32), np.empty((n_models, n), np.int32)
    member, new_member = np.empty((n_models, n), np.int32), np.empty((n_models, n), np.int32)
    count, new_count = np.zeros(n_models, np.int64), np.zeros(n_models, np.int64)
    for q in range(held):
        order[q, 0], order[q, size - 1] = models[q], columns[q]
        for i in range(n):
            a, b = ranks[i, models[q]], ranks[i, columns[q]]
            if b - a - 1 >= remaining:
                at = count[q]
                member[q, at], low[q, at], high[q, at] = i, a, b
                count[q] += 1
    front, back = 1, 1
    used = np.zeros(m, np.uint8)
    while remaining > 0:
        remaining -= 1
        at_front = front == back
        n_now, held = held, 0
        for q in range(n_now):
            gaps[:] = 0
            used[:] = 0
            for at in range(size):
                if order[q, at] >= 0:
                    used[order[q, at]] = 1
            for at in range(count[q]):
                line, a, b = ranks[member[q, at]], low[q, at], high[q, at]
                for column in range(m):
                    rank = line[column]
                    gap = b - rank - 1 if at_front else rank - a - 1
                    if a < rank < b and gap >= remaining:
                        gaps[column, gap] += 1
            for column in range(m):
                if not used[column]:
                    score = share_of_rows(gaps[column], gains[remaining], n)
                    held = insert_best(score, q, column, scores, models, columns, held)
        for q in range(held):
            old, column = models[q], columns[q]
            copy_cells(order[old], new_order[q])
            new_order[q, front if at_front else size - 1 - back] = column
            new_count[q] = 0
            for at in range(count[old]):
                i, a, b = member[old, at], low[old, at], high[old, at]
                rank = ranks[i, column]
                if a < rank < b:
                    if at_front:
                        a = rank
                    else:
                        b = rank
                    if b - a - 1 >= remaining:
                        to = new_count[q]
                        new_member[q, to], new_low[q, to], new_high[q, to] = i, a, b
                        new_count[q] += 1
        order, new_order = new_order, order
        low, new_low = new_low, low
        high, new_high = new_high, high
        member, new_member = new_member, member
        count, new_count = new_count, count
        if at_front:
            front += 1
        else:
            back += 1
    copy_cells(order[0], sequence[:size])
    copy_cells(member[0], rows[: count[0]])
    return count[0]

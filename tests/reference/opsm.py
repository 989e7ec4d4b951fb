"""Naive twin of the order-preserving submatrix search: every partial model row by row, no histograms."""

import itertools
import math

import numpy as np


def gaps(ranks, front, back):
    """For each row the number of columns between the ends; None where the ends are not in order."""
    out = []
    for row in ranks:
        line = [row[c] for c in front] + [row[c] for c in back]
        rising = all(a < b for a, b in itertools.pairwise(line))
        out.append(row[back[0]] - row[front[-1]] - 1 if rising else None)
    return out


def estimate(ranks, front, back, size):
    """The share of rows that support the completed model, to nine digits, by bisection."""
    m = ranks.shape[1]
    named = len(front) + len(back)
    background = math.factorial(m - named) / math.factorial(m)
    ratios = [
        0.0 if g is None else math.comb(g, size - named) / math.comb(m, size) / background
        for g in gaps(ranks, front, back)
    ]

    def slope(p):
        return sum((r - 1) / (1 + p * (r - 1)) for r in ratios)

    if slope(0.0) <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if 0 < middle < 1 and slope(middle) > 0:
            low = middle
        else:
            high = middle
    return round((low + high) / 2 * 1e9)


def best_model(X, size, n_models):
    """Rows and ordered columns of the best model of `size` columns."""
    ranks = np.array([[int((row < value).sum()) for value in row] for row in X])
    m = X.shape[1]
    models = [([x], [y]) for x in range(m) for y in range(m) if x != y]
    while True:
        scores = [estimate(ranks, front, back, size) for front, back in models]
        keep = sorted(range(len(models)), key=lambda q: -scores[q])[:n_models]
        models = [models[q] for q in keep]
        front, back = models[0]
        if len(front) + len(back) == size:
            break
        grown = []
        for front, back in models:
            for c in range(m):
                if c not in front and c not in back:
                    at_front = len(front) == len(back)
                    grown.append(([*front, c], back) if at_front else (front, [c, *back]))
        models = grown
    order = models[0][0] + models[0][1]
    rows = [i for i, row in enumerate(X) if all(row[a] < row[b] for a, b in itertools.pairwise(order))]
    return rows, order

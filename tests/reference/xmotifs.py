"""Naive twin of xMOTIFs: states by trying every interval, motifs by comparing every cell."""

import math

import numpy as np


def crowding(inside, m, width):
    """Chernoff's bound on the log-probability of so many uniform cells in an interval."""
    share = inside / m
    if share <= width:
        return 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - width)) if share < 1 else 0.0
    return -m * (share * math.log(share / width) + rest)


def intervals(row, limit):
    """Disjoint crowded intervals as (first, last) places of the sorted row, the most crowded first."""
    values, m = np.sort(row), len(row)
    if values[0] == values[-1]:
        return [(0, m - 1)]
    candidates = []
    for a in range(m):
        for b in range(a + 1, m):
            width = max((values[b] - values[a]) / (values[-1] - values[0]), 0.5 / m)
            candidates.append((crowding(b - a + 1, m, width), a - b, a, b))
    chosen = []
    for bound, _, a, b in sorted(candidates):
        if bound < limit and all(b < low or a > high for low, high in chosen):
            chosen.append((a, b))
    return chosen


def interval_sets(row, limit):
    """The columns of each state, as a set of sets."""
    places = np.argsort(row, kind="stable")
    return {frozenset(places[a : b + 1].tolist()) for a, b in intervals(row, limit)}


def find_motif(states, left, n_seeds, n_sets, size, least, rng):
    """(rows, columns) of the motif with the most rows, drawn like the estimator's."""
    best = ([], [])
    for seed in rng.randint(0, len(left), n_seeds):
        c = left[seed]
        draws = rng.randint(0, 2**31 - 1, (n_sets, size))
        for line in draws:
            others = [x for x in left if x != c]
            for at, draw in enumerate(line):
                pick = at + draw % (len(others) - at)
                others[at], others[pick] = others[pick], others[at]
            chosen = others[:size]
            rows = [g for g, s in enumerate(states) if s[c] != 0 and all(s[d] == s[c] for d in chosen)]
            cols = [x for x in left if all(states[g][x] == states[g][c] for g in rows)]
            if rows and len(cols) >= least and (len(rows), len(cols)) > (len(best[0]), len(best[1])):
                best = (rows, cols)
    return best

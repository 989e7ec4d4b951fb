"""Naive twin of QUBIC: pairs of rows as sets, blocks grown and widened one comparison at a time."""

import itertools

import numpy as np


def symbols(X, q, r):
    """1 … r for high cells, −1 … −r for low ones, 0 for the others."""
    out = np.zeros(X.shape, int)
    for i, row in enumerate(X):
        low, middle, high = np.quantile(row, q), np.median(row), np.quantile(row, 1 - q)
        d = min(middle - low, high - middle)
        for sign, chosen in ((1, np.flatnonzero(row > middle + d)), (-1, np.flatnonzero(row < middle - d))):
            by_distance = sorted(chosen, key=lambda c: sign * row[c])
            for place, c in enumerate(by_distance):
                out[i, c] = sign * (place * r // len(chosen) + 1)
    return out


def common(S, rows):
    """Columns in which all rows have the same symbol, not 0."""
    return [c for c in range(S.shape[1]) if S[rows[0], c] != 0 and len({S[i, c] for i in rows}) == 1]


def core(S, pair, min_columns):
    """Rows added greedily while min(rows, columns) does not fall."""
    rows = list(pair)
    best = min(2, len(common(S, rows)))
    while len(rows) < len(S):
        widths = {k: len(common(S, [*rows, k])) for k in range(len(S)) if k not in rows}
        k = max(widths, key=lambda i: (widths[i], -i))
        if widths[k] < max(best, min_columns):
            break
        rows.append(k)
        best = max(best, min(len(rows), widths[k]))
    return sorted(rows)


def agreed_columns(S, rows, c):
    """Columns in which a share c of the rows has the same symbol, with the symbol."""
    found = {}
    for j in range(S.shape[1]):
        values = [v for v in S[rows, j] if v != 0]
        if values:
            value = max(sorted(set(values)), key=values.count)
            if values.count(value) >= c * len(rows) - 1e-9:
                found[j] = value
    return list(found), list(found.values())


def widened(S, rows, c):
    """Columns in which a share c of the rows agrees, then rows that agree in a share c of the columns."""
    core = rows
    while True:
        cols, agreed = agreed_columns(S, rows, c)
        kept = [i for i in rows if sum(S[i, cols] == agreed) >= c * len(cols) - 1e-9]
        if kept == rows:
            break
        rows = kept
        if len(rows) < 2:
            rows = core
            cols, agreed = agreed_columns(S, rows, 1.0)
            break
    hits = [[S[i, j] == v for j, v in zip(cols, agreed, strict=True)] for i in rows]
    inside = list(rows)
    for sign in (1, -1):
        lines = {i: [S[i, j] == sign * v for j, v in zip(cols, agreed, strict=True)] for i in range(len(S))}
        outside = [i for i in range(len(S)) if i not in inside]
        for i in sorted(outside, key=lambda i: (-sum(lines[i]), i)):
            if sum(lines[i]) >= c * len(cols) - 1e-9:
                shares = np.mean([*hits, lines[i]], axis=0)
                if (shares >= c - 1e-9).all():
                    inside.append(i)
                    hits.append(lines[i])
    return sorted(inside), cols


def qubic(X, q, r, c, min_columns, n_candidates):
    """The candidates in the order found."""
    S = symbols(X, q, r)
    n = len(X)
    weights = {pair: len(common(S, list(pair))) for pair in itertools.combinations(range(n), 2)}
    blocks = []
    for pair in sorted(weights, key=lambda p: -weights[p]):
        if weights[pair] < min_columns or len(blocks) == n_candidates:
            break
        one = [set(rows) for rows, _ in blocks if pair[0] in rows]
        two = [set(rows) for rows, _ in blocks if pair[1] in rows]
        if not any(a & b for a in one for b in two):
            blocks.append(widened(S, core(S, pair, min_columns), c))
    return blocks

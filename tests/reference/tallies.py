"""Naive twin of the tallies: what the values of a block tell, cell by cell and value by value."""

import math

import numpy as np


def told(X, rows, cols, values, sampled, taken=()):
    """Most nats by level, row levels, column levels, both and cells; nats of a raised block.

    `values` are tallied one by one, all others together; NaN cells, and cells of the blocks `taken`, do not count.
    """
    n, m = X.shape
    rows, cols = list(rows), list(cols)
    counted = [(i, j) for i in range(n) for j in range(m) if not math.isnan(X[i, j])]
    name = {(i, j): X[i, j] if X[i, j] in values else "other" for i, j in counted}
    kinds = [v for v in [*values, "other"] if v in name.values()]
    inside = [(i, j) for i, j in counted if i in rows and j in cols and not any(i in r and j in c for r, c in taken)]
    others = [(i, j) for i, j in counted if not (i in rows and j in cols)]
    beside = [(i, j) for i, j in others if i in rows]
    below = [(i, j) for i, j in others if j in cols]

    def tally(cells):
        return {v: sum(name[cell] == v for cell in cells) for v in kinds}

    def shares(counts):
        return {v: (counts[v] + 0.5) / (sum(counts.values()) + 0.5 * len(kinds)) for v in kinds}

    a, b, o, t = tally(beside), tally(below), tally(others), tally(inside)
    e = {v: o[v] - a[v] - b[v] for v in kinds}
    nulls = [(shares(o), sum(o.values()))]
    comparable = min(sum(a.values()), sum(b.values()), sum(e.values())) >= 1
    if comparable:
        product = {v: shares(a)[v] * shares(b)[v] / shares(e)[v] for v in kinds}
        cells = 1 / (1 / sum(a.values()) + 1 / sum(b.values()) + 1 / sum(e.values()))
        nulls.append(({v: product[v] / sum(product.values()) for v in kinds}, cells))
    found = []
    for f, known in nulls:

        def divergence(groups, f=f):
            total = 0.0
            for group in groups:
                for v, count in tally(group).items():
                    if count:
                        total += count * math.log(count / len(group) / f[v])
            return total

        level = divergence([inside])
        by_rows = divergence([[cell for cell in inside if cell[0] == i] for i in rows])
        by_cols = divergence([[cell for cell in inside if cell[1] == j] for j in cols])
        each = -sum(math.log(f[name[cell]]) for cell in inside)
        N = len(inside)
        pooled = {v: (t[v] + known * f[v]) / (N + known) for v in kinds}
        gain = {v: math.log(t[v] / N / pooled[v]) if t[v] else 0.0 for v in kinds}
        ratio = sum(t[v] * gain[v] for v in kinds) + known * sum(f[v] * math.log(f[v] / pooled[v]) for v in kinds)
        backing = []
        for side, members in ((0, rows), (1, cols)):
            lines = [sum(gain[name[cell]] for cell in inside if cell[side] == k) for k in members]
            middle = float(np.median(lines))
            backing.append(
                sum(min(x, 9 * middle) for x in lines) / sum(lines) if middle > 0 and sum(lines) > 0 else 0.0
            )
        found.append((level, by_rows, by_cols, min(each, by_rows + by_cols - level), each, ratio * min(1.0, *backing)))
    level, by_rows, by_cols, both, each, ratio = (min(several) for several in zip(*found, strict=True))
    beyond = t.get("other", 0) * math.log(sampled)
    chance = (len(kinds) - 1) / 2
    raised = ratio - chance - chance * math.log(ratio / chance) if comparable and ratio > chance else 0.0
    return level, by_rows + beyond, by_cols + beyond, both + beyond, each + beyond, raised

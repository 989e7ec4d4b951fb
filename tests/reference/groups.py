"""Naive twins of the measures of levels and of groups of rows and columns, cell by cell."""

import math
from itertools import combinations, pairwise, product

import numpy as np


def las_score(X, rows, cols):
    from statistics import NormalDist

    n, m = X.shape
    Z = np.array([[(X[i, j] - np.mean(X[:, j])) / np.std(X[:, j]) for j in range(m)] for i in range(n)])
    tau = np.mean([Z[i, j] for i in rows for j in cols])
    tail = NormalDist().cdf(-tau * math.sqrt(len(rows) * len(cols)))
    return -math.log(math.comb(n, len(rows)) * math.comb(m, len(cols)) * tail)


def bicluster_significance(X, rows, cols, tolerance=0.5):
    n = len(X)
    chance = 1.0
    for j in cols:
        pattern = np.mean([X[i, j] for i in rows])
        band = tolerance * (max(X[:, j]) - min(X[:, j])) / 2
        chance *= sum(abs(x - pattern) <= band for x in X[:, j]) / n
    return sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(len(rows), n + 1))


def maximal_standard_area(A):
    rows = [[(x - np.mean(row)) / np.std(row) for x in row] for row in A]
    width = [max(column) - min(column) for column in zip(*rows, strict=True)]
    return sum((a + b) / 2 for a, b in pairwise(width))


def bisilhouette(X, blocks):
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    scores = []
    for rows, cols in blocks:

        def distance(i, j, cols=cols):
            return math.sqrt(sum((Z[i, c] - Z[j, c]) ** 2 for c in cols))

        others = [list(other) for other, _ in blocks if sorted(other) != sorted(rows)]
        if not others:
            others = [[i for i in range(len(X)) if i not in set(rows)]]
        if not others[0]:
            scores.append(0.0)
            continue
        nearest = min(others, key=lambda other: np.mean([distance(i, j) for i in rows for j in other]))
        values = []
        for i in rows:
            a = sum(distance(i, j) for j in rows if j != i) / max(1, len(rows) - 1)
            b = np.mean([distance(i, j) for j in nearest])
            values.append((b - a) / max(a, b))
        scores.append(np.mean(values))
    return np.mean(scores)


def bipartite_modularity(X, blocks):
    T = X.sum()
    cells = {cell for rows, cols in blocks for cell in product(map(int, rows), map(int, cols))}
    return sum(X[i, j] / T - X[i].sum() * X[:, j].sum() / T**2 for i, j in cells)


def classes(blocks, size, side):
    return [tuple(i in set(map(int, b[side])) for b in blocks) for i in range(size)]


def mutual_information_kept(X, blocks):
    def information(table):
        p = {key: value / sum(table.values()) for key, value in table.items()}
        rows, cols = {}, {}
        for (i, j), value in p.items():
            rows[i], cols[j] = rows.get(i, 0) + value, cols.get(j, 0) + value
        return sum(v * math.log(v / rows[i] / cols[j]) for (i, j), v in p.items() if v > 0)

    n, m = X.shape
    r, c = classes(blocks, n, 0), classes(blocks, m, 1)
    coarse = {}
    for i, j in product(range(n), range(m)):
        coarse[r[i], c[j]] = coarse.get((r[i], c[j]), 0) + X[i, j]
    return information(coarse) / information({(i, j): X[i, j] for i, j in product(range(n), range(m))})


def block_r_squared(X, blocks):
    n, m = X.shape
    r, c = classes(blocks, n, 0), classes(blocks, m, 1)
    groups = {}
    for i, j in product(range(n), range(m)):
        groups.setdefault((r[i], c[j]), []).append(X[i, j])
    within = sum(sum((x - np.mean(g)) ** 2 for x in g) for g in groups.values())
    return 1 - within / sum((X.ravel() - X.mean()) ** 2)


def cells(block):
    return set(product(map(int, block[0]), map(int, block[1])))


def jaccard(a, b):
    return len(a & b) / len(a | b)


def cell_jaccard(P, R):
    return np.mean([max(jaccard(cells(p), cells(r)) for r in R) for p in P])


def cari(P, R, shape):
    labels = []
    for S in (P, R):
        rows, cols = classes(S, shape[0], 0), classes(S, shape[1], 1)
        labels.append([(rows[i], cols[j]) for i, j in product(range(shape[0]), range(shape[1]))])
    a, b = labels
    pairs = list(combinations(range(len(a)), 2))
    both = sum(a[i] == a[j] and b[i] == b[j] for i, j in pairs)
    one, other = (sum(x[i] == x[j] for i, j in pairs) for x in labels)
    expected = one * other / len(pairs)
    most = (one + other) / 2
    return (both - expected) / (most - expected) if most != expected else 1.0


def mocice(P, R, shape):
    found, truth = [cells(p) for p in P], [cells(r) for r in R]
    objects = list(product(range(shape[0]), range(shape[1])))

    def average(side):
        outer = []
        for o in objects:
            if not any(o in c for c in side):
                continue
            inner = []
            for other in objects:
                C = [c for c in found if o in c and other in c]
                L = [c for c in truth if o in c and other in c]
                mine = C if side is found else L
                if not mine:
                    continue
                phi = np.mean([max((jaccard(c, t) for t in L), default=0.0) for c in C]) if C else 0.0
                inner.append(min(len(C), len(L)) * phi / len(mine))
            outer.append(np.mean(inner))
        return np.mean(outer)

    precision, recall = average(found), average(truth)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

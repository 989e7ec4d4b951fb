"""Naive twins of the external measures: sets of cells, and all pairs of cells one by one."""

import math
from itertools import combinations, permutations, product


def cells(bicluster):
    rows, cols = bicluster
    return set(product(map(int, rows), map(int, cols)))


def _jaccard(a, b):
    return len(a & b) / len(a | b)


def prelic(P, R):
    parts = []
    for side in (0, 1):
        parts.append(sum(max(_jaccard(set(p[side]), set(r[side])) for r in R) for p in P) / len(P))
    return math.sqrt(parts[0] * parts[1])


def liu_wang(P, R):
    def score(p, r):
        shared = sum(len(set(p[s]) & set(r[s])) for s in (0, 1))
        return shared / sum(len(set(p[s]) | set(r[s])) for s in (0, 1))

    return sum(max(score(p, r) for r in R) for p in P) / len(P)


def _best_matching(weight, n, m):
    if n > m:
        return _best_matching(lambda a, b: weight(b, a), m, n)
    return max(sum(weight(i, j) for i, j in enumerate(chosen)) for chosen in permutations(range(m), n))


def consensus(P, R):
    return _best_matching(lambda i, j: _jaccard(cells(P[i]), cells(R[j])), len(P), len(R)) / max(len(P), len(R))


def _counts(S):
    count = {}
    for b in S:
        for cell in cells(b):
            count[cell] = count.get(cell, 0) + 1
    return count


def ce(P, R):
    p, r = _counts(P), _counts(R)
    most = sum(max(p.get(x, 0), r.get(x, 0)) for x in p.keys() | r.keys())
    return _best_matching(lambda i, j: len(cells(P[i]) & cells(R[j])), len(P), len(R)) / most


def rnia(P, R):
    p, r = _counts(P), _counts(R)
    every = p.keys() | r.keys()
    return sum(min(p.get(x, 0), r.get(x, 0)) for x in every) / sum(max(p.get(x, 0), r.get(x, 0)) for x in every)


def e4sc(P, R):
    def f1(a, b):
        return 2 * len(cells(a) & cells(b)) / (len(cells(a)) + len(cells(b)))

    one = sum(max(f1(p, r) for r in R) for p in P) / len(P)
    other = sum(max(f1(p, r) for p in P) for r in R) / len(R)
    return 2 * one * other / (one + other) if one + other else 0.0


def _clusters(S, shape):
    clusters = [cells(b) for b in S]
    covered = set().union(*clusters)
    return clusters + [{x} for x in product(range(shape[0]), range(shape[1])) if x not in covered]


def csi(P, R, shape):
    objects = list(product(range(shape[0]), range(shape[1])))
    sides = [_clusters(S, shape) for S in (P, R)]
    agree = disagree = 0
    for a, b in combinations(objects, 2):
        p, r = (sum(a in c and b in c for c in side) for side in sides)
        agree += min(p, r)
        disagree += abs(p - r)
    for a in objects:
        p, r = (sum(a in c for c in side) - 1 for side in sides)
        agree += (len(objects) - 1) * min(p, r)
        disagree += (len(objects) - 1) * abs(p - r)
    return agree / (agree + disagree)


def agri(P, R, shape):
    objects = list(product(range(shape[0]), range(shape[1])))
    together, apart, total = [[], []], [[], []], [0, 0]
    for i, S in enumerate((P, R)):
        clusters = _clusters(S, shape)
        for a, b in combinations(objects, 2):
            J = sum(a in c and b in c for c in clusters)
            T = sum(a in c for c in clusters) * sum(b in c for c in clusters)
            together[i].append(J)
            apart[i].append(T - J)
            total[i] += T
    most = max(total)
    gri = sum(min(a, b) for side in (together, apart) for a, b in zip(*side, strict=True)) / most
    expected = sum(min(a, b) for side in (together, apart) for a in side[0] for b in side[1]) / len(together[0]) / most
    return gri, (gri - expected) / (1 - expected)


def corrected(P, R, shape):
    N = shape[0] * shape[1]
    p, r = set(_counts(P)), set(_counts(R))
    precision, recall = len(p & r) / len(p), len(p & r) / len(r)
    return (precision - len(r) / N) / (1 - len(r) / N), (recall - len(p) / N) / (1 - len(p) / N)

"""Naive twins of the published measures: loops over the formulas, nothing shared with the package."""

import math
from itertools import combinations

import numpy as np


def _is_constant(values):
    return max(values) - min(values) <= 32 * np.finfo(float).eps * max(abs(v) for v in values)


def _residues(A):
    r, c = A.shape
    rows = [sum(A[i]) / c for i in range(r)]
    cols = [sum(A[:, j]) / r for j in range(c)]
    grand = sum(rows) / r
    return [[A[i, j] - rows[i] - cols[j] + grand for j in range(c)] for i in range(r)]


def var(A):
    mean = A.sum() / A.size
    return sum((x - mean) ** 2 for x in A.flat)


def mar(A):
    return sum(abs(x) for line in _residues(A) for x in line) / A.size


def msr_u(A):
    r, c = A.shape
    return sum(x * x for line in _residues(A) for x in line) / ((r - 1) * (c - 1))


def smsr(A):
    r, c = A.shape
    rows, cols, grand = A.mean(axis=1), A.mean(axis=0), A.mean()
    total = sum(
        (rows[i] * cols[j] - A[i, j] * grand) ** 2 / (rows[i] ** 2 * cols[j] ** 2) for i in range(r) for j in range(c)
    )
    return total / (r * c)


def mmse(A):
    D = np.array([row - row.mean() for row in A])
    top = np.linalg.eigvalsh(D @ D.T)[-1]
    return ((D**2).sum() - top) / A.size


def _standardise(row):
    if _is_constant(row):
        return [0.0] * len(row)
    mean = sum(row) / len(row)
    sd = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row))
    return [(x - mean) / sd for x in row]


def _ve(rows, pattern):
    return sum(abs(x - p) for row in rows for x, p in zip(row, pattern, strict=True)) / (len(rows) * len(pattern))


def vet(A):
    rows = [_standardise(list(column)) for column in A.T]
    return _ve(rows, _standardise(list(A.T.mean(axis=0))))


def ve_standardised(A):
    rows = [_standardise(list(row)) for row in A]
    return _ve(rows, _standardise([sum(column) / len(rows) for column in zip(*rows, strict=True)]))


def _correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def _pairs(A):
    rows = [row for row in A if not _is_constant(row)]
    return {(i, k): _correlation(rows[i], rows[k]) for i, k in combinations(range(len(rows)), 2)}, len(rows)


def _mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def ac(A):
    return _mean(_pairs(A)[0].values())


def acv(A):
    return np.nanmax([_mean(abs(x) for x in _pairs(side)[0].values()) for side in (A, A.T)])


def ranks(row):
    return np.array([1 + sum(y < x for y in row) + (sum(y == x for y in row) - 1) / 2 for x in row])


def spearman_asr(A):
    return np.nanmax([ac(np.array([ranks(row) for row in side])) for side in (A, A.T)])


def scs(A):
    sides = []
    for side in (A, A.T):
        pairs, n = _pairs(side)
        for i in range(n if n > 1 else 0):
            sides.append(1 - sum(abs(x) for pair, x in pairs.items() if i in pair) / (n - 1))
    return min(sides)


def sbm(A, m):
    parts = [_mean(abs(x) for x in _pairs(np.array([ranks(row) for row in side]))[0].values()) for side in (A, A.T)]
    return (A.shape[1] / m if A.shape[1] <= 9 else 1.0) * parts[0] * parts[1]


def ri(X, rows, cols):
    return sum(1 - np.var([X[i, j] for i in rows]) / np.var(X[:, j]) for j in cols)


def chia_karuturi(X, rows, cols):
    strength = []
    for side in (list(cols), [j for j in range(X.shape[1]) if j not in set(cols)]):
        A = X[np.ix_(rows, side)]
        error = msr_u(A)
        T = _mean(row.mean() ** 2 for row in A) - error / A.shape[1]
        B = _mean(column.mean() ** 2 for column in A.T) - error / A.shape[0]
        strength.append(max(max(T, 0) + 0.01, max(B, 0) + 0.01))
    return math.log(strength[0] / strength[1])


def _r_variance(A, step):
    total = []
    for M in (A, A.T):
        lines = [[step(row[j], row[j + 1]) for j in range(len(row) - 1)] if step else list(row) for row in M]
        n = len(lines)
        total.append(n * sum(math.dist(a, b) for a, b in combinations(lines, 2)) / (n * (n - 1)))
    return sum(total) / sum(A.shape)


def constant_variance(A):
    return _r_variance(A, None)


def additive_variance(A):
    return _r_variance(A, lambda a, b: b - a)


def multiplicative_variance(A):
    return _r_variance(A, lambda a, b: b / a)


def sign_variance(A):
    return _r_variance(A, lambda a, b: float(np.sign(b - a)))

"""Naive twins of the internal measures, written from the formulas; nothing here imports bivaluate."""

from __future__ import annotations

import itertools

import numpy as np
from mpmath import mp

EPS = np.finfo(float).eps


def msr(A):
    residue = A - A.mean(axis=1, keepdims=True) - A.mean(axis=0) + A.mean()
    return np.mean(residue**2)


def ve(A):
    p = A.mean(axis=0)
    constant = A.max(axis=1) - A.min(axis=1) <= 32 * EPS * np.abs(A).max(axis=1)
    sd = A.std(axis=1)
    sd[constant] = 1.0
    b = (A - A.mean(axis=1, keepdims=True)) / sd[:, None]
    b[constant] = 0.0
    q = np.zeros_like(p)
    if p.max() - p.min() > 32 * EPS * np.abs(A).max():
        q = (p - p.mean()) / p.std()
    return np.mean(np.abs(b - q))


def mergers(X, pairs):
    """K x K matrices of VE and MSR, one merger after the other."""
    K = len(pairs)
    V, M = np.zeros((K, K)), np.zeros((K, K))
    for k in range(K):
        for other in range(k, K):
            rows = np.union1d(pairs[k][0], pairs[other][0])
            cols = np.union1d(pairs[k][1], pairs[other][1])
            A = X[np.ix_(rows, cols)]
            V[k, other] = V[other, k] = ve(A)
            M[k, other] = M[other, k] = msr(A)
    return V, M


def normalised(matrix):
    """Ratio of sums, ratio per bicluster and nearest partner from a K x K matrix of mergers."""
    K = len(matrix)
    own, merged, partner = np.zeros(K), np.zeros(K), np.zeros(K, dtype=int)
    for k in range(K):
        others = [j for j in range(K) if j != k]
        partner[k] = min(others, key=lambda j: matrix[k, j])
        own[k], merged[k] = matrix[k, k], matrix[k, partner[k]]
    return own.sum() / merged.sum(), own / merged, partner


def nve(X, pairs):
    return normalised(mergers(X, pairs)[0])[0]


def nsr(X, pairs):
    return normalised(mergers(X, pairs)[1])[0]


def cells(pair):
    return {(int(i), int(j)) for i in pair[0] for j in pair[1]}


def coverage(pairs, shape):
    return len(set().union(*(cells(p) for p in pairs))) / (shape[0] * shape[1])


def row_coverage(pairs, shape):
    return len({int(i) for rows, _ in pairs for i in rows}) / shape[0]


def col_coverage(pairs, shape):
    return len({int(j) for _, cols in pairs for j in cols}) / shape[1]


def nve_cov(X, pairs, exponent=0.5, epsilon=1e-12):
    return nve(X, pairs) / (coverage(pairs, X.shape) + epsilon) ** exponent


def multiplicity(pairs):
    return sum(len(cells(p)) for p in pairs) / len(set().union(*(cells(p) for p in pairs)))


def overlap_fraction(pairs):
    union, twice = set(), set()
    for p in pairs:
        twice |= union & cells(p)
        union |= cells(p)
    return len(twice) / len(union)


def mean_jaccard(pairs):
    values = [len(cells(a) & cells(b)) / len(cells(a) | cells(b)) for a, b in itertools.combinations(pairs, 2)]
    return sum(values) / len(values)


def ve_missing(A):
    return _missing(A)[0]


def msr_missing(A):
    return _missing(A)[1]


def _missing(A):
    """Cell by cell: rows with < 2 observed cells go, then empty columns; the rest by means over observed cells."""
    A = np.array([row for row in A if np.sum(~np.isnan(row)) >= 2])
    if A.size == 0:
        return np.nan, np.nan
    A = A[:, [j for j in range(A.shape[1]) if np.sum(~np.isnan(A[:, j])) >= 1]]
    p = np.nanmean(A, axis=0)
    q = np.zeros_like(p)
    if np.ptp(p) > 32 * EPS * np.nanmax(np.abs(A)):
        q = (p - p.mean()) / p.std()
    errors, residues = [], []
    for row in A:
        seen = row[~np.isnan(row)]
        flat = np.ptp(seen) <= 32 * EPS * np.abs(seen).max()
        for j, x in enumerate(row):
            if not np.isnan(x):
                errors.append(abs((0.0 if flat else (x - seen.mean()) / seen.std()) - q[j]))
                residues.append((x - seen.mean() - p[j] + np.nanmean(A)) ** 2)
    return np.mean(errors), np.mean(residues)


def exact(A, digits=60):
    """VE and MSR of one block in `digits` decimal digits, with the same rule for constant rows."""
    with mp.workdps(digits):
        B = [[mp.mpf(float(x)) for x in row] for row in A]
        r, c = len(B), len(B[0])
        tolerance = 32 * mp.mpf(float(EPS))
        p = [mp.fsum(B[i][j] for i in range(r)) / r for j in range(c)]
        top = max(abs(x) for row in B for x in row)
        q = _standardised(p, tolerance * top)
        total = mp.fsum(p) / c
        error = residue = mp.mpf(0)
        for row in B:
            mean = mp.fsum(row) / c
            b = _standardised(row, tolerance * max(abs(x) for x in row))
            error += mp.fsum(abs(b[j] - q[j]) for j in range(c))
            residue += mp.fsum((row[j] - mean - p[j] + total) ** 2 for j in range(c))
        return float(error / (r * c)), float(residue / (r * c))


def _standardised(v, tolerance):
    if max(v) - min(v) <= tolerance:
        return [mp.mpf(0)] * len(v)
    mean = mp.fsum(v) / len(v)
    sd = mp.sqrt(mp.fsum((x - mean) ** 2 for x in v) / len(v))
    return [(x - mean) / sd for x in v]


def exact_mergers(X, pairs):
    """K x K matrices of VE and MSR in high precision."""
    K = len(pairs)
    V, M = np.zeros((K, K)), np.zeros((K, K))
    for k in range(K):
        for other in range(k, K):
            rows = np.union1d(pairs[k][0], pairs[other][0])
            cols = np.union1d(pairs[k][1], pairs[other][1])
            V[k, other], M[k, other] = exact(X[np.ix_(rows, cols)])
            V[other, k], M[other, k] = V[k, other], M[k, other]
    return V, M

"""Naive twins of the chance correction: numerical integration of the definitions, one block at a time."""

import math
from functools import cache

import mpmath
import numpy as np
from scipy import integrate, special


def amplitude(c):
    return math.sqrt(2 * (c - 1) / math.pi) * math.exp(math.lgamma((c - 1) / 2) - math.lgamma(c / 2))


@cache
def null_mean(r, c):
    """E0 by adaptive integration of Hotelling's density of the correlation, in multiple precision."""
    if c == 2:
        return 2 / math.pi * math.acos(1 / math.sqrt(r))
    rho = mpmath.sqrt(mpmath.mpf(1) / r)
    front = (c - 2) * mpmath.gamma(c - 1) / (mpmath.sqrt(2 * mpmath.pi) * mpmath.gamma(c - mpmath.mpf(1) / 2))

    def integrand(angle):
        R = mpmath.cos(angle)
        density = (
            front
            * (1 - rho**2) ** (mpmath.mpf(c - 1) / 2)
            * mpmath.sin(angle) ** (c - 3)
            * (1 - rho * R) ** (mpmath.mpf(3) / 2 - c)
            * mpmath.hyp2f1(0.5, 0.5, c - 0.5, (1 + rho * R) / 2)
        )
        return density * mpmath.sqrt(1 - R)

    middle = mpmath.acos(rho)
    return amplitude(c) * float(mpmath.quad(integrand, [0, middle / 2, middle, (middle + mpmath.pi) / 2, mpmath.pi]))


def search_reference(r, c, n, m):
    """V* by the definition, with an inverse incomplete beta function at each of the 128 nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(128)
    u, weights = (nodes + 1) / 2, weights / 2

    def log_choose(a, b):
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    share = math.exp(-(log_choose(n, r) + log_choose(m, c)) / (r - 1))
    if c == 2:
        kappa = [1.0 if x * share <= 0.5 else -1.0 for x in u]
    else:
        kappa = [1 - 2 * special.betaincinv((c - 2) / 2, (c - 2) / 2, x * share) for x in u]
    mean = sum(w * k for w, k in zip(weights, kappa, strict=True))
    rho = [(k * mean + (1 - k * k) / r) / math.sqrt(mean**2 + (1 - mean**2) / r) for k in kappa]
    # a rho of 1 up to rounding is 1: the root of what rounding leaves would be 1e-8
    value = amplitude(c) * sum(w * math.sqrt(1 - x) for w, x in zip(weights, rho, strict=True) if 1 - x > 1e-15)
    return min(null_mean(r, c), value)


def search_reference_exact(r, c, n, m):
    """V* with adaptive integration over u in place of the fixed nodes."""
    nodes_free = {}

    def log_choose(a, b):
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    share = math.exp(-(log_choose(n, r) + log_choose(m, c)) / (r - 1))
    a = (c - 2) / 2

    def kappa(u):
        if u not in nodes_free:
            nodes_free[u] = 1 - 2 * special.betaincinv(a, a, u * share)
        return nodes_free[u]

    mean = integrate.quad(kappa, 0, 1, limit=200)[0]

    def integrand(u):
        k = kappa(u)
        return math.sqrt(max(0, 1 - (k * mean + (1 - k * k) / r) / math.sqrt(mean**2 + (1 - mean**2) / r)))

    return min(null_mean(r, c), amplitude(c) * integrate.quad(integrand, 0, 1, limit=200)[0])


def virtual_error(A):
    def standard(row):
        row = np.asarray(row, dtype=float)
        if row.max() - row.min() <= 32 * np.finfo(float).eps * abs(row).max():
            return np.zeros(len(row))
        return (row - row.mean()) / row.std()

    pattern = standard(A.mean(axis=0))
    return float(np.mean([abs(standard(row) - pattern) for row in A]))


def varying_rows(A):
    return sum(max(row) - min(row) > 32 * np.finfo(float).eps * max(abs(row)) for row in A)


def solution_scores(X, pairs):
    """aVE of each block, aNVE and CC by the definitions, one cell at a time."""
    n, m = X.shape
    K = len(pairs)

    def ratio(rows, cols):
        A = X[np.ix_(sorted(rows), sorted(cols))]
        r = varying_rows(A)
        return (virtual_error(A) / null_mean(r, len(cols)), r) if r >= 2 and len(cols) >= 2 else (None, r)

    R = [ratio(set(rows), set(cols)) for rows, cols in pairs]
    aVE = []
    for (value, r), (_, cols) in zip(R, pairs, strict=True):
        if value is None:
            aVE.append(1.0)
        else:
            aVE.append(value + 1 - search_reference(r, len(cols), n, m) / null_mean(r, len(cols)))
    weight = []
    for k in range(K):
        others = [
            ratio(set(pairs[k][0]) | set(pairs[j][0]), set(pairs[k][1]) | set(pairs[j][1]))[0]
            for j in range(K)
            if j != k and R[j][0] is not None
        ]
        if R[k][0] is None:
            separation = 0.0
        elif not others:
            separation = 1.0
        else:
            separation = max(0.0, 1 - R[k][0] / min(others)) if min(others) > 0 else 0.0
        weight.append(max(0.0, 1 - aVE[k]) * separation)
    covered = 0.0
    for i in range(n):
        for j in range(m):
            covered += max(
                [w for w, (rows, cols) in zip(weight, pairs, strict=True) if i in rows and j in cols], default=0
            )
    return aVE, 1 - sum(weight) / K, covered / (n * m)

"""Kernels of the coherent submatrix search: the evidence of rows and of blocks under a fitted model.

Promise of the caller: as in `_kernels_coherent`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bivaluate._jit import inlined_kernel, inner_kernel, keep_apart, kernel
from bivaluate.algorithms._kernels_coherent import (
    CHOOSE_COLS,
    CHOOSE_ROWS,
    HALF_GAMMA,
    LEVEL,
    LEVEL_VARIANCE,
    LOG_PI,
    NOISE,
    NU0,
    PATTERN,
    PATTERN_VARIANCE,
    POSITIVE,
    POWER,
    POWER_WITHOUT_LEVEL,
    ROW_KAPPA,
    ROW_Q,
    ROW_S,
    ROW_SIZE,
    ROW_WHOLE,
    add_correlated,
    factorise,
    fit_block,
    marginal,
    seen_inside,
)


@inner_kernel
def log_mixture(theta: Any, v: float, base: float, nu: float, dimension: float) -> Any:
    """Return log[w k(v - g) + (1 - w) k(v + g)], k(d) = (1 + (base + d^2 / V2) / nu)^(-(nu + dimension) / 2)."""
    w = theta[POSITIVE]
    near = (v - theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    far = (v + theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    half = 0.5 * (nu + dimension)
    one = math.log(w) - half * math.log(1.0 + (base + near) / nu)
    two = math.log(1.0 - w) - half * math.log(1.0 + (base + far) / nu)
    top = max(one, two)
    gap = abs(one - two)
    return top + math.log(1.0 + math.exp(-gap)) if gap < 40.0 else top


@inlined_kernel
def density(field: Any, theta: Any, c: int, nu: float, log_spread: float, u: float, v: float, power: float) -> Any:
    """Return the log density of a row's c cells in J under the block model; u, v and power = |z|^2 describe z."""
    V1, V2, tau2 = theta[LEVEL_VARIANCE], theta[PATTERN_VARIANCE], theta[NOISE]
    base = (u - math.sqrt(c) * theta[LEVEL]) ** 2 / V1 + max(power - u * u - v * v, 0.0) / tau2
    return (
        field.tables[HALF_GAMMA, int(nu) + c]
        - field.tables[HALF_GAMMA, int(nu)]
        - 0.5 * c * (math.log(nu) + LOG_PI)
        - 0.5 * (math.log(V1) + math.log(V2) + (c - 2) * math.log(tau2))
        - c * log_spread
        + log_mixture(theta, v, base, nu, c)
    )


@inlined_kernel
def density_in_part(field: Any, theta: Any, c: int, n_seen: int, nu: float, log_spread: float, sums: Any) -> Any:
    """Return the log density of the `n_seen` observed of c cells: the normal with the missing ones integrated out.

    `sums` holds the sums of z, z^2, zp, p and p^2 over the observed cells.
    """
    z1, z2, zp, p1, p2 = sums
    level, g, tau2 = theta[LEVEL], theta[PATTERN], theta[NOISE]
    d1 = theta[LEVEL_VARIANCE] - tau2
    d2 = theta[PATTERN_VARIANCE] - tau2
    root_c = math.sqrt(c)
    # Covariance tau2 I + A diag(d1, d2) A', A = [1 / sqrt(c), p] on the observed cells; G = A'A.
    g11, g12, g22 = n_seen / c, p1 / root_c, p2
    m11, m12, m21, m22 = tau2 + d1 * g11, d1 * g12, d2 * g12, tau2 + d2 * g22
    det = m11 * m22 - m12 * m21
    half = 0.5 * (nu + n_seen)
    top = -np.inf
    other = -np.inf
    for k in range(2):
        b = g if k == 0 else -g
        e1 = (z1 - n_seen * level - b * p1) / root_c
        e2 = zp - level * p1 - b * p2
        power = z2 + n_seen * level**2 + b * b * p2 - 2.0 * level * z1 - 2.0 * b * zp + 2.0 * level * b * p1
        # (tau2 I + D G)^-1 D A'd
        x1, x2 = d1 * e1, d2 * e2
        y1 = (m22 * x1 - m12 * x2) / det
        y2 = (m11 * x2 - m21 * x1) / det
        form = max(power - e1 * y1 - e2 * y2, 0.0) / tau2
        prior = theta[POSITIVE] if k == 0 else 1.0 - theta[POSITIVE]
        value = math.log(prior) - half * math.log(1.0 + form / nu)
        if k == 0:
            top = value
        else:
            other = value
    if other > top:
        top, other = other, top
    return (
        field.tables[HALF_GAMMA, int(nu) + n_seen]
        - field.tables[HALF_GAMMA, int(nu)]
        - 0.5 * n_seen * (math.log(nu) + LOG_PI)
        - 0.5 * ((n_seen - 2) * math.log(tau2) + math.log(det))
        - n_seen * log_spread
        + top
        + math.log(1.0 + math.exp(other - top))
    )


@inner_kernel
def row_evidence(
    field: Any,
    rows: Any,
    cols: Any,
    root: Any,
    weight: Any,
    log_det: float,
    pattern: Any,
    theta: Any,
    sums: Any,
    evidence: Any,
) -> None:
    """Fill the log-likelihood ratio (block against background) of the given rows; `sums` is scratch of 9 x n."""
    keep_apart()
    c = len(cols)
    n = len(rows)
    every = n == field.Zt.shape[1]
    z1, z2, zp, s_in, q_in = sums[0], sums[1], sums[2], sums[3], sums[4]
    seen, p1, p2, unseen = sums[5], sums[6], sums[7], sums[8]
    gaps = len(field.seen) > 0
    correlated = len(field.precision) > 0
    for a in range(len(sums)):
        for k in range(n):
            sums[a, k] = 0.0
    for a in range(c):
        p = pattern[a]
        column = field.Zt[cols[a]]
        if every:
            for i in range(n):
                v = column[i]
                z1[i] += v
                z2[i] += v * v
                zp[i] += v * p
        else:
            for k in range(n):
                v = column[rows[k]]
                z1[k] += v
                z2[k] += v * v
                zp[k] += v * p
        if gaps:
            there = field.seen[cols[a]]
            for k in range(n):
                o = there[rows[k]]
                seen[k] += o
                p1[k] += o * p
                p2[k] += o * p * p
    kappa_in = float(c)
    if correlated:
        kappa_in = add_correlated(field, rows, cols, root, weight, s_in, q_in)
        for a in range(c):
            if gaps:
                # A missing cell holds its expectation: it must count neither for the block nor against it.
                there = field.seen[cols[a]]
                column = field.Zt[cols[a]]
                p = pattern[a]
                log_precision = math.log(field.precision[cols[a], cols[a]])
                for k in range(n):
                    if there[rows[k]] == 0:
                        v = column[rows[k]]
                        z1[k] -= v
                        z2[k] -= v * v
                        zp[k] -= v * p
                        unseen[k] += 0.5 * (log_precision - LOG_PI - math.log(2.0))
    root_c = math.sqrt(c)
    for k in range(n):
        i = rows[k]
        inside = int(seen[k]) if gaps else c
        s = field.lines[ROW_S, i] - (s_in[k] if correlated else z1[k])
        q = field.lines[ROW_Q, i] - (q_in[k] if correlated else z2[k])
        kappa = field.lines[ROW_KAPPA, i] - (kappa_in if correlated else inside)
        size = field.lines[ROW_SIZE, i] - inside
        rest = NU0 + q - s * s / kappa
        nu = NU0 + size
        log_spread = 0.5 * math.log(rest / nu)
        centre = s / kappa
        scale = 1.0 / math.sqrt(rest / nu)
        ratio = marginal(field.tables, size, kappa, rest) - 0.5 * log_det - field.lines[ROW_WHOLE, i]
        level = (z1[k] - inside * centre) * scale
        power = (z2[k] - 2.0 * centre * z1[k] + inside * centre * centre) * scale * scale
        if inside == c:
            ratio += density(field, theta, c, nu, log_spread, level / root_c, zp[k] * scale, power)
        elif inside > 0:
            along = (zp[k] - centre * p1[k]) * scale
            part = (level, power, along, p1[k], p2[k])
            ratio += density_in_part(field, theta, c, inside, nu, log_spread, part)
        if correlated and inside < c:
            ratio += unseen[k] - (c - inside) * log_spread
        evidence[k] = ratio


@inlined_kernel
def structure(field: Any, rows: Any, cols: Any, pattern: Any, theta: Any, z: Any) -> Any:
    """Return how much better the block model fits than cells of one variance around the background.

    The level is left out on both sides if J has more than half of the columns. `z` has its missing cells filled.
    """
    c = len(cols)
    without_level = 2 * c > field.Zt.shape[0]
    total = 0.0
    for k in range(len(rows)):
        nu = NU0 + field.lines[ROW_SIZE, rows[k]] - seen_inside(field, rows[k], cols)
        level = 0.0
        power = 0.0
        v = 0.0
        for a in range(c):
            level += z[k, a]
            power += z[k, a] ** 2
            v += z[k, a] * pattern[a]
        u = level / math.sqrt(c)
        if without_level:
            d = c - 1
            power -= u * u
            base = max(power - v * v, 0.0) / theta[NOISE]
            variance = theta[POWER_WITHOUT_LEVEL]
            one = -0.5 * (math.log(theta[PATTERN_VARIANCE]) + (c - 2) * math.log(theta[NOISE]))
        else:
            d = c
            base = (u - math.sqrt(c) * theta[LEVEL]) ** 2 / theta[LEVEL_VARIANCE]
            base += max(power - u * u - v * v, 0.0) / theta[NOISE]
            variance = theta[POWER]
            one = -0.5 * (
                math.log(theta[LEVEL_VARIANCE]) + math.log(theta[PATTERN_VARIANCE]) + (c - 2) * math.log(theta[NOISE])
            )
        one += log_mixture(theta, v, base, nu, d)
        two = -0.5 * d * math.log(variance) - 0.5 * (nu + d) * math.log(1.0 + power / (variance * nu))
        total += one - two
    return total


@inlined_kernel
def cost_of_fit(theta: Any, r: int, c: int) -> Any:
    """Return D, the evidence a free pattern and six fitted parameters cost."""
    signal = r * (theta[PATTERN] ** 2 + theta[PATTERN_VARIANCE]) / ((c - 1) * theta[NOISE])
    return 0.5 * (c - 1) * (1.0 + math.log(max(1.0, signal))) + 3.0 * math.log(r + 1.0)


@inner_kernel
def score_block(
    field: Any,
    rows: Any,
    cols: Any,
    root: Any,
    weight: Any,
    log_det: float,
    pattern: Any,
    theta: Any,
    z: Any,
    sums: Any,
    evidence: Any,
) -> Any:
    """Return S, the evidence of the fitted block after the cost of choosing its rows, columns and parameters."""
    keep_apart()
    r, c = len(rows), len(cols)
    m, n = field.Zt.shape
    row_evidence(field, rows, cols, root, weight, log_det, pattern, theta, sums, evidence)
    D = cost_of_fit(theta, r, c)
    S = -field.tables[CHOOSE_ROWS, r] - field.tables[CHOOSE_COLS, c] - math.log(n) - math.log(m) - D
    for k in range(r):
        S += evidence[k]
    if S > 0.0:
        coherent = structure(field, rows, cols, pattern, theta, z) - D
        if coherent <= 0.0 or (2 * c > m and coherent < S):
            S = coherent
    return S


@kernel
def judge(field: Any, rows: Any, cols: Any, which: Any, model: Any, cells: Any, evidence: Any) -> Any:
    """Fit the block (rows, cols), return S and fill `evidence` of the rows `which`.

    `model` holds arrays to fill: parameters, pattern, and shift, slope, centre and spread of the rows; `cells` the
    cells of the block in units of their rows' background.
    """
    theta, pattern, shift, slope, centre, spread = model
    m = field.Zt.shape[0]
    correlated = len(field.precision) > 0
    root = np.zeros((m, m)) if correlated else np.zeros((0, 0))
    weight = np.empty(m)
    log_det = factorise(field, cols, root, weight) if correlated else 0.0
    fit_block(field, rows, cols, root, weight, centre, spread, cells, pattern, theta, shift, slope)
    sums = np.empty((9, max(len(rows), len(which))))
    S = score_block(field, rows, cols, root, weight, log_det, pattern, theta, cells, sums, np.empty(len(rows)))
    row_evidence(field, which, cols, root, weight, log_det, pattern, theta, sums, evidence)
    return S

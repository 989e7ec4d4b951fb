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
    KAPPA0,
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
    has_gaps,
    kappa_inside,
    marginal,
    seen_inside,
)

# Lines of sums over the cells of a row in J: z, z^2, zp, what J takes from s and from q, cells seen, p, p^2, unseen.
SUM_Z, SUM_Z2, SUM_ZP, S_IN, Q_IN, SEEN, SUM_P, SUM_P2, UNSEEN = range(9)
N_SUMS = 9


@inner_kernel
def log_mixture(theta: Any, log_w: float, log_1_w: float, v: float, base: float, nu: float, dimension: float) -> Any:
    """Return log[w k(v - g) + (1 - w) k(v + g)], k(d) = (1 + (base + d^2 / V2) / nu)^(-(nu + dimension) / 2)."""
    near = (v - theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    far = (v + theta[PATTERN]) ** 2 / theta[PATTERN_VARIANCE]
    half = 0.5 * (nu + dimension)
    one = log_w - half * math.log(1.0 + (base + near) / nu)
    two = log_1_w - half * math.log(1.0 + (base + far) / nu)
    top = max(one, two)
    gap = abs(one - two)
    return top + math.log(1.0 + math.exp(-gap)) if gap < 40.0 else top


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
def rows_with_gaps(field: Any, rows: Any) -> Any:
    """Return the places in `rows` of those with missing cells."""
    places = np.empty(len(rows), np.int64)
    count = 0
    for k in range(len(rows)):
        if has_gaps(field, rows[k]):
            places[count] = k
            count += 1
    return places[:count]


@inner_kernel
def sum_cells(field: Any, rows: Any, cols: Any, root: Any, weight: Any, sums: Any) -> None:
    """Fill the sums over the observed cells of the rows in J that no model is needed for."""
    keep_apart()
    n = len(rows)
    every = n == field.Zt.shape[1]
    z1, z2, seen, unseen = sums[SUM_Z], sums[SUM_Z2], sums[SEEN], sums[UNSEEN]
    correlated = len(field.precision) > 0
    for line in (SUM_Z, SUM_Z2, S_IN, Q_IN, SEEN, UNSEEN):
        for k in range(n):
            sums[line, k] = 0.0
    gapped = rows_with_gaps(field, rows)
    for a in range(len(cols)):
        column = field.Zt[cols[a]]
        if every:
            for i in range(n):
                v = column[i]
                z1[i] += v
                z2[i] += v * v
        else:
            for k in range(n):
                v = column[rows[k]]
                z1[k] += v
                z2[k] += v * v
        if len(gapped) == 0:
            continue
        there = field.seen[cols[a]]
        log_precision = math.log(field.precision[cols[a], cols[a]]) if correlated else 0.0
        for k in gapped:
            if there[rows[k]]:
                seen[k] += 1.0
            elif correlated:
                # A missing cell holds its expectation: it must count neither for the block nor against it.
                v = column[rows[k]]
                z1[k] -= v
                z2[k] -= v * v
                unseen[k] += 0.5 * (log_precision - LOG_PI - math.log(2.0))
    if correlated:
        add_correlated(field, rows, cols, root, weight, sums[S_IN], sums[Q_IN])


@inner_kernel
def sum_along(field: Any, rows: Any, cols: Any, pattern: Any, sums: Any) -> None:
    """Fill the sums of zp over the observed cells of the rows in J and, where cells are missing, of p and p^2."""
    keep_apart()
    n = len(rows)
    every = n == field.Zt.shape[1]
    zp, p1, p2 = sums[SUM_ZP], sums[SUM_P], sums[SUM_P2]
    for line in (SUM_ZP, SUM_P, SUM_P2):
        for k in range(n):
            sums[line, k] = 0.0
    gapped = rows_with_gaps(field, rows)
    for a in range(len(cols)):
        p = pattern[a]
        column = field.Zt[cols[a]]
        if every:
            for i in range(n):
                zp[i] += column[i] * p
        else:
            for k in range(n):
                zp[k] += column[rows[k]] * p
        if len(gapped) == 0:
            continue
        there = field.seen[cols[a]]
        for k in gapped:
            if there[rows[k]]:
                p1[k] += p
                p2[k] += p * p
            else:
                zp[k] -= column[rows[k]] * p


@inner_kernel
def row_evidence(
    field: Any, rows: Any, cols: Any, weight: Any, log_det: float, pattern: Any, theta: Any, sums: Any, evidence: Any
) -> None:
    """Fill the log-likelihood ratio (block against background) of rows whose sums `sum_cells` has filled."""
    keep_apart()
    c = len(cols)
    sum_along(field, rows, cols, pattern, sums)
    correlated = len(field.precision) > 0
    kappa_in = kappa_inside(field, cols, weight) if correlated else 0.0
    V1, V2, tau2 = theta[LEVEL_VARIANCE], theta[PATTERN_VARIANCE], theta[NOISE]
    log_w, log_1_w = math.log(theta[POSITIVE]), math.log(1.0 - theta[POSITIVE])
    # What the density of all c cells owes to their number and variances: the same in every row.
    same = -0.5 * (c * LOG_PI + math.log(V1) + math.log(V2) + (c - 2) * math.log(tau2))
    root_c = math.sqrt(c)
    of_level = root_c * theta[LEVEL]
    last_kappa = KAPPA0
    log_kappa = 0.0
    for k in range(len(rows)):
        i = rows[k]
        z1, z2, zp = sums[SUM_Z, k], sums[SUM_Z2, k], sums[SUM_ZP, k]
        inside = int(sums[SEEN, k]) if has_gaps(field, i) else c
        s = field.lines[ROW_S, i] - (sums[S_IN, k] if correlated else z1)
        q = field.lines[ROW_Q, i] - (sums[Q_IN, k] if correlated else z2)
        kappa = field.lines[ROW_KAPPA, i] - (kappa_in if correlated else inside)
        if kappa != last_kappa:
            last_kappa, log_kappa = kappa, math.log(kappa / KAPPA0)
        size = field.lines[ROW_SIZE, i] - inside
        rest = NU0 + q - s * s / kappa
        log_rest = math.log(rest)
        nu = NU0 + size
        centre = s / kappa
        scale = math.sqrt(nu / rest)
        ratio = marginal(field.tables, size, log_kappa, log_rest) - 0.5 * log_det - field.lines[ROW_WHOLE, i]
        level = (z1 - inside * centre) * scale
        power = (z2 - 2.0 * centre * z1 + inside * centre * centre) * scale * scale
        if inside == c:
            u, v = level / root_c, zp * scale
            base = (u - of_level) ** 2 / V1 + max(power - u * u - v * v, 0.0) / tau2
            ratio += field.tables[HALF_GAMMA, int(nu) + c] - field.tables[HALF_GAMMA, int(nu)]
            ratio += same - 0.5 * c * log_rest + log_mixture(theta, log_w, log_1_w, v, base, nu, c)
        else:
            log_spread = 0.5 * (log_rest - math.log(nu))
            if inside > 0:
                p1, p2 = sums[SUM_P, k], sums[SUM_P2, k]
                part = (level, power, (zp - centre * p1) * scale, p1, p2)
                ratio += density_in_part(field, theta, c, inside, nu, log_spread, part)
            if correlated:
                ratio += sums[UNSEEN, k] - (c - inside) * log_spread
        evidence[k] = ratio


@inlined_kernel
def structure(field: Any, rows: Any, cols: Any, pattern: Any, theta: Any, z: Any) -> Any:
    """Return how much better the block model fits than cells of one variance around the background.

    The level is left out on both sides if J has more than half of the columns. `z` has its missing cells filled.
    """
    c = len(cols)
    without_level = 2 * c > field.Zt.shape[0]
    log_w, log_1_w = math.log(theta[POSITIVE]), math.log(1.0 - theta[POSITIVE])
    of_model = -0.5 * (math.log(theta[PATTERN_VARIANCE]) + (c - 2) * math.log(theta[NOISE]))
    d, variance = c - 1, theta[POWER_WITHOUT_LEVEL]
    if not without_level:
        d, variance = c, theta[POWER]
        of_model -= 0.5 * math.log(theta[LEVEL_VARIANCE])
    of_one_variance = -0.5 * d * math.log(variance)
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
        base = 0.0
        if without_level:
            power -= u * u
            base = max(power - v * v, 0.0) / theta[NOISE]
        else:
            base = (u - math.sqrt(c) * theta[LEVEL]) ** 2 / theta[LEVEL_VARIANCE]
            base += max(power - u * u - v * v, 0.0) / theta[NOISE]
        total += of_model + log_mixture(theta, log_w, log_1_w, v, base, nu, d)
        total -= of_one_variance - 0.5 * (nu + d) * math.log(1.0 + power / (variance * nu))
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
    sum_cells(field, rows, cols, root, weight, sums)
    row_evidence(field, rows, cols, weight, log_det, pattern, theta, sums, evidence)
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
    sums = np.empty((N_SUMS, max(len(rows), len(which))))
    S = score_block(field, rows, cols, root, weight, log_det, pattern, theta, cells, sums, np.empty(len(rows)))
    sum_cells(field, which, cols, root, weight, sums)
    row_evidence(field, which, cols, weight, log_det, pattern, theta, sums, evidence)
    return S
